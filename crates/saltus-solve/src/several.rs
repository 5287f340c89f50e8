//! Whether a mixed block has another solution than the one that was taken.
//!
//! Comes in: a block just solved, with the set of discrete values found. Goes out: another set that is consistent with Reals that differ by more than
//! the tolerance, or nothing. Searched from neighbours of the set, nearest first, each by a few passes of flip-and-detect; all subsets of few
//! literals, single and double changes of more. The search ends with the block's budget of evaluations, so that neither a long run nor a large block
//! pays for it: that none was found says nothing about blocks with many literals.

use crate::driver::MixedSolve;
use crate::error::SolveError;
use crate::newton::{Effort, Solved};
use saltus_model::{Slot, System};

/// Evaluations of its equations that a block may spend in a run on looking for others, a Jacobian of n unknowns counted as n: some 500 solutions of a
/// linear block with 20 unknowns, some 140 iterations of one with 70.
pub(crate) const BUDGET: u64 = 10_000;
/// Passes from each neighbour.
const PASSES_MAX: usize = 3;
/// All subsets of so many literals are tried.
const ALL_MAX: usize = 8;

/// Two solutions of the same equations and relations.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct SeveralSolutions {
    /// Discrete values that differ: in the one taken, in the other.
    pub discrete: Vec<(Slot, f64, f64)>,
    /// Reals that differ, the most different first.
    pub reals: Vec<(Slot, f64, f64)>,
}

impl<S: System> MixedSolve<'_, S> {
    /// Another solution than the one in the value array, which stays. `budget` counts down.
    pub(crate) fn another(
        &mut self,
        budget: &mut u64,
    ) -> Result<Option<SeveralSolutions>, SolveError> {
        let values = self.solve.values.v.clone();
        let slots = self.solve.info.discrete.iter();
        let taken: Vec<f64> = slots.map(|slot| values[slot.index()]).collect();
        let undecided = self.undecided();
        let mut other = None;
        self.solve.effort = Effort::Once;
        for candidate in neighbours(&taken, ALL_MAX) {
            let before = self.evaluations();
            let solved = self.iterate(&candidate, PASSES_MAX);
            let spent = self.evaluations() - before;
            let found = match solved {
                Ok(Some(Solved::Regular)) => self.difference(&values, &undecided),
                // What cannot be solved from there is no solution.
                Ok(_) => None,
                Err(error) if error.recoverable() => None,
                Err(error) => {
                    self.solve.values.v.copy_from_slice(&values);
                    self.solve.effort = Effort::Full;
                    return Err(error);
                }
            };
            self.solve.values.v.copy_from_slice(&values);
            *budget = budget.saturating_sub(spent);
            if found.is_some() || *budget == 0 {
                other = found;
                break;
            }
        }
        self.solve.effort = Effort::Full;
        self.solve.work.discrete.copy_from_slice(&taken);
        self.solve.work.forget_factors();
        Ok(other)
    }

    /// Work in blocks until now, as evaluations of the equations.
    fn evaluations(&self) -> u64 {
        let (counters, n) = (&self.solve.counters, self.solve.info.unknowns.len());
        counters.residuals + counters.jacobians * n as u64
    }

    /// Relations at zero but for round-off: at an event located there both sides may hold for this instant.
    fn undecided(&mut self) -> Vec<Slot> {
        let evaluated = self.evaluate_relations();
        let band = self.relation_band();
        let at_zero = |slot: &Slot| self.relation(*slot).is_some_and(|r| r.abs() <= band);
        let slots = self.solve.info.discrete.iter().copied();
        slots.filter(|slot| !evaluated || at_zero(slot)).collect()
    }

    /// What differs between the values in the array and those taken, if Reals do by more than the tolerance and with
    /// them a relation that is decided in both.
    fn difference(&mut self, taken: &[f64], undecided: &[Slot]) -> Option<SeveralSolutions> {
        let undecided_there = self.undecided();
        let solve = &self.solve;
        let both = |slot: Slot| (slot, taken[slot.index()], solve.values.get(slot));
        let mut reals: Vec<(f64, (Slot, f64, f64))> = (solve.info.determines.iter())
            .zip(&solve.work.nominal_determined)
            .filter(|(slot, _)| !solve.info.discrete.contains(slot))
            .map(|(slot, nominal)| {
                let pair = both(*slot);
                let weight = (solve.tolerances).weight(pair.1.abs().max(pair.2.abs()), *nominal);
                ((pair.1 - pair.2).abs() / weight, pair)
            })
            .filter(|(distance, _)| *distance > 1.0)
            .collect();
        reals.sort_by(|a, b| b.0.total_cmp(&a.0));
        let discrete: Vec<_> = (solve.info.discrete.iter().map(|slot| both(*slot)))
            .filter(|(_, a, b)| a != b)
            .collect();
        let decided = |(slot, ..): &(Slot, f64, f64)| {
            let is_relation = self.relation(*slot).is_some();
            is_relation && !undecided.contains(slot) && !undecided_there.contains(slot)
        };
        (!reals.is_empty() && discrete.iter().any(decided)).then(|| SeveralSolutions {
            discrete,
            reals: reals.into_iter().map(|(_, pair)| pair).collect(),
        })
    }
}

/// Sets that differ from this one, nearest first: in one literal, in two, and, of up to `all_max` literals, in any number.
pub(crate) fn neighbours(set: &[f64], all_max: usize) -> impl Iterator<Item = Vec<f64>> {
    let literals: Vec<usize> = (0..set.len())
        .filter(|&i| set[i] == 0.0 || set[i] == 1.0)
        .collect();
    let n = literals.len();
    let single = (0..n).map(|a| vec![a]);
    let double = (0..n).flat_map(move |a| (a + 1..n).map(move |b| vec![a, b]));
    let all = if n <= all_max { 1u32 << n } else { 0 };
    let more = (0..all).filter(|subset| subset.count_ones() > 2);
    let more = more.map(move |subset| (0..n).filter(|bit| subset >> bit & 1 == 1).collect());
    let set = set.to_vec();
    single
        .chain(double)
        .chain(more)
        .map(move |changed: Vec<usize>| {
            let mut next = set.clone();
            for place in changed {
                let value = &mut next[literals[place]];
                *value = 1.0 - *value;
            }
            next
        })
}

#[cfg(test)]
mod tests {
    use super::neighbours;

    #[test]
    fn neighbours_come_once_nearest_first_and_keep_what_is_no_literal() {
        let sets: Vec<Vec<f64>> = neighbours(&[1.0, 7.0, 0.0, 0.0], 3).collect();
        assert_eq!(sets.len(), 7);
        assert_eq!(sets[0], [0.0, 7.0, 0.0, 0.0]);
        assert_eq!(sets[6], [0.0, 7.0, 1.0, 1.0]);
        assert!(sets.iter().all(|set| set[1] == 7.0));
        assert_eq!(neighbours(&[0.0; 9], 8).count(), 9 + 36);
    }
}
