//! Relations of a mixed block that are zero but for round-off: which side counts.
//!
//! A relation that a set holds at zero is what its operator says of zero: `u <= 0` holds, `i > 0` does not. In floats its function is 1e-17 instead, of either sign, and
//! round-off must not decide. Where the branch that depends on the relation is continuous (an ideal diode on its curve parameter) both sides have the same
//! Reals, and either serves. Where it is not (`open = u <= 0 and not i > 0`: a closed diode has u = 0 and any i) only the side of zero itself is a solution.
//!
//! Comes in: a set of discrete values, the Reals that solve the block with it, and the discrete values that these give. Goes out: the discrete values with relations
//! at zero taken exactly ([`Sides`]).
//!
//! The round-off of a function r(u) is found by moving the unknowns by a relative δ with different signs:
//!
//! ```text
//! ρ = max |r(u + δ s∘u) - r(u)| / δ · ROUND_OFF_ULPS ε
//! ```

use crate::driver::MixedSolve;
use crate::scale::{CONSISTENT_REL, EPS};
use saltus_model::System;

/// Relative change of the unknowns that shows the terms of a function.
const MOVED_REL: f64 = 1e-6;
/// Round-off of a function that comes out of a system of equations, in units of the round-off of its terms.
const ROUND_OFF_ULPS: f64 = 1e4;
/// By how much everything else is changed to see what stays at zero.
const ELSEWHERE_REL: f64 = 1e-3;
/// Patterns of signs with which the unknowns are moved.
const PATTERNS: u32 = 3;

/// What the Reals of a set say of it.
pub(crate) enum Sides {
    /// They give the set.
    Same,
    /// They give the set if relations at zero are left as it has them, and another one, now in `discrete_next`, if these are taken exactly; both have the same
    /// Reals.
    SameReals,
    /// They give another one, in `discrete_next`.
    Other,
}

impl<S: System> MixedSolve<'_, S> {
    /// For the set in `discrete`, its Reals in the array, and what these give by value in `discrete_next`.
    pub(crate) fn sides(&mut self) -> Sides {
        let by_value = |same: bool| if same { Sides::Same } else { Sides::Other };
        let same = self.solve.work.discrete == self.solve.work.discrete_next;
        let Some(at_zero) = self.relations_at_zero() else {
            return by_value(same);
        };
        if !at_zero.contains(&true) {
            return by_value(same);
        }
        let crossings = self.solve.system.crossings();
        let mut exact = self.solve.work.discrete_next.clone();
        let mut kept = exact.clone();
        for (i, slot) in self.solve.info.discrete.iter().enumerate() {
            if at_zero[i]
                && let Some(crossing) = self.crossing_of[slot.index()]
            {
                exact[i] = f64::from(u8::from(crossings[crossing as usize].closed));
                kept[i] = self.solve.work.discrete[i];
            }
        }
        let (Some(exact), Some(kept)) = (self.with_dependent(&exact), self.with_dependent(&kept))
        else {
            return by_value(same);
        };
        // What is not at zero comes first.
        if kept != self.solve.work.discrete {
            self.solve.work.discrete_next.copy_from_slice(&kept);
            return Sides::Other;
        }
        self.solve.work.discrete_next.copy_from_slice(&exact);
        if exact == self.solve.work.discrete {
            Sides::Same
        } else if self.solves_too(&exact) {
            Sides::SameReals
        } else {
            Sides::Other
        }
    }

    /// By discrete value: a relation whose function the set holds at zero but for round-off, and which no located event has flipped. `None` if they cannot be evaluated.
    fn relations_at_zero(&mut self) -> Option<Vec<bool>> {
        if !self.evaluate_relations() {
            return None;
        }
        let band = self.relation_band();
        let r: Vec<Option<f64>> = (self.solve.info.discrete.iter())
            .map(|slot| self.relation(*slot))
            .collect();
        let may_be_zero = |i: usize| !self.flipping[i] && r[i].is_some_and(|r| r.abs() <= band);
        let mut at_zero: Vec<bool> = (0..r.len()).map(may_be_zero).collect();
        if at_zero.contains(&true) {
            let round_off = self.round_off(&r)?;
            for (i, at_zero) in at_zero.iter_mut().enumerate() {
                *at_zero &= r[i].is_some_and(|r| r.abs() <= round_off[i]);
            }
        }
        if at_zero.contains(&true) {
            self.held_at_zero(&mut at_zero);
        }
        Some(at_zero)
    }

    /// ρ of the module's text for each discrete value that is a relation.
    fn round_off(&mut self, r: &[Option<f64>]) -> Option<Vec<f64>> {
        let unknowns = &self.solve.info.unknowns;
        let u: Vec<f64> = unknowns.iter().map(|s| self.solve.values.get(*s)).collect();
        let size = self.relation_size();
        let set = self.solve.work.discrete.clone();
        let mut round_off = vec![0.0f64; r.len()];
        for pattern in 0..PATTERNS {
            let moved: Vec<f64> = (u.iter().enumerate())
                .map(|(j, u)| {
                    let way = if (j as u32 >> pattern) & 1 == 0 {
                        1.0
                    } else {
                        -1.0
                    };
                    u + way * MOVED_REL * u.abs().max(EPS * size)
                })
                .collect();
            self.set_point(&set, &moved)?;
            if !self.evaluate_relations() {
                return None;
            }
            for (i, slot) in self.solve.info.discrete.iter().enumerate() {
                if let (Some(r), Some(moved)) = (r[i], self.relation(*slot)) {
                    let change = (moved - r).abs() / MOVED_REL;
                    round_off[i] = round_off[i].max(ROUND_OFF_ULPS * EPS * change);
                }
            }
        }
        // As it was.
        self.set_point(&set, &u)?;
        Some(round_off)
    }

    /// Of the relations that are `at_zero`, those that the set itself has brought there, wherever all other quantities are (the voltage of a diode that conducts), and
    /// that do not just pass zero now. Everything else is changed by some parts of a thousand.
    fn held_at_zero(&mut self, at_zero: &mut [bool]) {
        let discrete = self.solve.system.discrete_slots();
        let kept = (self.solve.values.v.clone(), self.solve.values.pre.clone());
        for (i, v) in self.solve.values.v.iter_mut().enumerate().skip(1) {
            *v *= 1.0 + ELSEWHERE_REL * (1.0 + (i % 7) as f64);
        }
        for slot in discrete {
            self.solve.values.v[slot.index()] = kept.0[slot.index()];
        }
        self.solve.work.forget_factors();
        let solved = self.solve.solve().is_ok() && self.evaluate_relations();
        let band = self.relation_band();
        for (at_zero, slot) in at_zero.iter_mut().zip(&self.solve.info.discrete) {
            *at_zero &= solved && self.relation(*slot).is_some_and(|r| r.abs() <= band);
        }
        (self.solve.values.v, self.solve.values.pre) = kept;
        self.solve.work.forget_factors();
    }

    /// A set with the discrete values recomputed that depend on its relations. The array keeps the set in `discrete`.
    fn with_dependent(&mut self, set: &[f64]) -> Option<Vec<f64>> {
        self.put_set(set);
        let solve = &mut self.solve;
        let updated = solve.system.update_dependent(solve.block, solve.values);
        let slots = solve.info.discrete.iter();
        let found = slots.map(|slot| solve.values.get(*slot)).collect();
        let kept = solve.work.discrete.clone();
        self.put_set(&kept);
        updated.ok().map(|()| found)
    }

    /// Whether the Reals in the array solve the block with another set as well, but for round-off of its terms.
    pub(crate) fn solves_too(&mut self, set: &[f64]) -> bool {
        let unknowns = &self.solve.info.unknowns;
        let u: Vec<f64> = unknowns.iter().map(|s| self.solve.values.get(*s)).collect();
        let size = self.relation_size();
        // Every unknown moved by the size of the block, each by another part: what the terms of a residual amount to.
        let moved: Vec<f64> = (u.iter().enumerate())
            .map(|(j, u)| u + size * (1.0 + 0.37 * ((7 * j) % 5) as f64))
            .collect();
        let kept = self.solve.work.discrete.clone();
        let terms = self.set_point(set, &moved);
        let terms_before = self.set_point(&kept, &moved);
        let residual = self.set_point(set, &u);
        // As it was.
        let before = self.set_point(&kept, &u);
        let (Some(terms), Some(terms_before), Some(residual), Some(before)) =
            (terms, terms_before, residual, before)
        else {
            return false;
        };
        (0..residual.len()).all(|i| {
            let scale = terms[i].abs().max(terms_before[i].abs());
            (residual[i] - before[i]).abs() <= CONSISTENT_REL * scale
        })
    }
}
