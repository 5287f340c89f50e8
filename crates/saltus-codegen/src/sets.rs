//! State sets at run time: which candidates are states, from the Jacobian of the constraints.
//!
//! With G the Jacobian of m constraints with respect to n candidates, D the dummies and S the states, the dummies move with the states as
//! T = -G_D⁻¹ G_S. A large entry T_ij says that dummy i is badly determined by state j; to exchange the two multiplies |det G_D|
//! by |T_ij|. So exchanges go on while an entry is large, and end (Goreinov and Tyrtyshnikov 2001, "The maximal-volume concept"). Entries are
//! relative to the magnitude of their variables. Nothing is exchanged until an entry exceeds [`EXCHANGE_ABOVE`], so that
//! choices that are about as good do not alternate.

use crate::code::Code;
use saltus_model::{SelectionChange, Slot, Values};

/// A choice is kept while no dummy moves more than this many times as far as a state, relative to their magnitudes.
const EXCHANGE_ABOVE: f64 = 1.5;

/// Once a choice is given up, exchanges go on to this bound.
const EXCHANGED_TO: f64 = 1.1;

/// Magnitudes below this part of the set's largest are not believed.
const MAGNITUDE_MIN_REL: f64 = 1e-8;

/// Pivots below this part of the largest entry are taken for zero.
const PIVOT_MIN_REL: f64 = 1e-12;

/// The code of a set.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct SetCode {
    pub(crate) n_states: usize,
    /// n × n, row by row.
    pub(crate) selectors: Vec<Slot>,
    /// Candidates, and what holds them in the order of choice; the lowest order of derivative last.
    pub(crate) levels: Vec<(Vec<Slot>, Vec<Slot>)>,
    pub(crate) n_between: usize,
    pub(crate) n_constraints: usize,
    /// The residuals of `n_between` links and then the constraints; unknowns are the variables between, then the candidates.
    pub(crate) constraints: Code,
    /// A nominal value was declared.
    pub(crate) nominal: Vec<bool>,
}

impl SetCode {
    pub(crate) fn candidates(&self) -> &[Slot] {
        self.levels.last().map_or(&[], |level| &level.0)
    }

    pub(crate) fn n(&self) -> usize {
        self.candidates().len()
    }

    /// Columns of the Jacobian.
    pub(crate) fn n_columns(&self) -> usize {
        self.n_between + self.n()
    }

    /// Writes a choice, and the values of the candidates where it puts them.
    pub(crate) fn write(&self, order: &[usize], values: &mut Values) -> Vec<SelectionChange> {
        let n = self.n();
        let mut changes = Vec::new();
        for (k, &chosen) in order.iter().enumerate() {
            for j in 0..n {
                let slot = self.selectors[k * n + j];
                let after = f64::from(u8::from(j == chosen));
                let before = values.get(slot);
                if before != after && k < self.n_states {
                    changes.push(SelectionChange {
                        slot,
                        before,
                        after,
                    });
                }
                values.v[slot.index()] = after;
                values.pre[slot.index()] = after;
            }
        }
        for (candidates, held) in &self.levels {
            for (slot, &chosen) in held.iter().zip(order) {
                let value = values.get(candidates[chosen]);
                values.v[slot.index()] = value;
                values.pre[slot.index()] = value;
            }
        }
        changes
    }
}

/// The present choice of a set.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Choice {
    /// Candidates: states first, then dummies.
    pub(crate) order: Vec<usize>,
    /// Largest magnitude of each candidate so far.
    magnitude: Vec<f64>,
    /// Work space: the Jacobian, column-major with as many rows as columns.
    pub(crate) jacobian: Vec<f64>,
    /// Work space: the constraints in terms of the candidates, m × n.
    reduced: Vec<f64>,
    /// Work space: dummies' columns eliminated, then how they move with the states.
    eliminated: Vec<f64>,
    before: Vec<usize>,
}

impl Choice {
    pub(crate) fn new(set: &SetCode) -> Choice {
        let n = set.n();
        Choice {
            order: (0..n).collect(),
            magnitude: vec![0.0; n],
            jacobian: vec![0.0; set.n_columns() * set.n_columns()],
            reduced: Vec::with_capacity(set.n_constraints * n),
            eliminated: Vec::with_capacity(set.n_constraints * n),
            before: Vec::with_capacity(n),
        }
    }

    /// Takes the magnitudes of the candidates at an accepted point.
    pub(crate) fn see(&mut self, set: &SetCode, values: &Values, nominal: impl Fn(Slot) -> f64) {
        for (j, &slot) in set.candidates().iter().enumerate() {
            let seen = &mut self.magnitude[j];
            *seen = if set.nominal[j] {
                nominal(slot)
            } else {
                seen.max(values.get(slot).abs())
            };
        }
    }

    /// True if the choice is another one now. `jacobian` has been computed.
    pub(crate) fn improve(&mut self, set: &SetCode) -> bool {
        let n = set.n();
        let m = set.n_constraints;
        let g = &mut self.reduced;
        if !reduce(&mut self.jacobian, set.n_between, m, n, g) {
            return false;
        }
        // What has been zero so far, or round-off, says nothing about its magnitude.
        let largest = self.magnitude.iter().fold(0.0f64, |a, b| a.max(*b));
        let scale = |j: usize| match self.magnitude[j] {
            x if x > MAGNITUDE_MIN_REL * largest && x.is_finite() => x,
            _ => 1.0,
        };
        for (j, column) in g.chunks_mut(m).enumerate() {
            column.iter_mut().for_each(|x| *x *= scale(j));
        }
        self.before.clone_from(&self.order);
        let mut bound = EXCHANGE_ABOVE;
        // Each exchange multiplies the determinant by more than `EXCHANGED_TO`; the bound is for round-off.
        for _ in 0..4 * n * n {
            let Some(moves) = solve(g, m, &self.order, set.n_states, &mut self.eliminated) else {
                if let Some(order) = largest_pivots(g, m, n) {
                    self.order = order;
                    bound = EXCHANGED_TO;
                    if solve(g, m, &self.order, set.n_states, &mut self.eliminated).is_some() {
                        continue;
                    }
                }
                self.order.clone_from(&self.before);
                return false;
            };
            let largest = moves.iter().enumerate();
            let largest = largest.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
            match largest {
                Some((k, t)) if t.abs() > bound => {
                    bound = EXCHANGED_TO;
                    let (state, dummy) = (k / m, set.n_states + k % m);
                    self.order.swap(state, dummy);
                }
                Some(_) | None => break,
            }
        }
        if self.order == self.before {
            return false;
        }
        keep_places(&self.before, &mut self.order, set.n_states);
        self.order != self.before
    }
}

/// States that stay states keep their place, and so do dummies.
fn keep_places(before: &[usize], order: &mut [usize], n_states: usize) {
    for (from, to) in [(0, n_states), (n_states, order.len())] {
        let part = &mut order[from..to];
        for (k, chosen) in before[from..to].iter().enumerate() {
            if let Some(at) = part.iter().position(|j| j == chosen) {
                part.swap(k, at);
            }
        }
    }
}

/// The Jacobian of the constraints with respect to the candidates alone: the variables between are eliminated by their links. Column-major
/// m × n, in `g`; false if the links are singular. `a` is column-major with q + n rows, of which q + m are used.
fn reduce(a: &mut [f64], q: usize, m: usize, n: usize, g: &mut Vec<f64>) -> bool {
    let stride = q + n;
    let at = |r: usize, c: usize| c * stride + r;
    for k in 0..q {
        let by_size = |&x: &usize, &y: &usize| a[at(x, k)].abs().total_cmp(&a[at(y, k)].abs());
        let Some(pivot) = (k..q).max_by(by_size) else {
            return false;
        };
        let value = a[at(pivot, k)];
        if value == 0.0 || !value.is_finite() {
            return false;
        }
        for c in 0..q + n {
            a.swap(at(k, c), at(pivot, c));
        }
        for r in k + 1..q + m {
            let factor = a[at(r, k)] / value;
            if factor != 0.0 {
                for c in k..q + n {
                    a[at(r, c)] -= factor * a[at(k, c)];
                }
            }
        }
    }
    g.clear();
    for c in q..q + n {
        g.extend((q..q + m).map(|r| a[at(r, c)]));
    }
    g.iter().all(|x| x.is_finite())
}

/// G_D⁻¹ G_S, column-major, a column per state; `None` if G_D is singular. `a` is work space.
fn solve<'a>(
    g: &[f64],
    m: usize,
    order: &[usize],
    n_states: usize,
    a: &'a mut Vec<f64>,
) -> Option<&'a [f64]> {
    let n = order.len();
    // Columns: dummies, then states.
    a.clear();
    for &j in order[n_states..].iter().chain(&order[..n_states]) {
        a.extend_from_slice(&g[j * m..(j + 1) * m]);
    }
    let at = |r: usize, c: usize| c * m + r;
    let size = a.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    for k in 0..m {
        let by_size = |&x: &usize, &y: &usize| a[at(x, k)].abs().total_cmp(&a[at(y, k)].abs());
        let pivot = (k..m).max_by(by_size)?;
        let value = a[at(pivot, k)];
        if value.abs() <= PIVOT_MIN_REL * size {
            return None;
        }
        for c in 0..n {
            a.swap(at(k, c), at(pivot, c));
        }
        for c in k..n {
            a[at(k, c)] /= value;
        }
        for r in (0..m).filter(|&r| r != k) {
            let factor = a[at(r, k)];
            if factor != 0.0 {
                for c in k..n {
                    a[at(r, c)] -= factor * a[at(k, c)];
                }
            }
        }
    }
    Some(&a[m * m..])
}

/// An order whose last m columns are regular, by elimination with complete pivoting; `None` if there is none.
fn largest_pivots(g: &[f64], m: usize, n: usize) -> Option<Vec<usize>> {
    let mut a = g.to_vec();
    let at = |r: usize, c: usize| c * m + r;
    let size = a.iter().fold(0.0f64, |s, x| s.max(x.abs()));
    let mut open_rows: Vec<usize> = (0..m).collect();
    let mut free: Vec<usize> = (0..n).collect();
    let mut taken = Vec::with_capacity(m);
    while let Some((row, column)) = (open_rows.iter())
        .flat_map(|&r| free.iter().map(move |&c| (r, c)))
        .max_by(|&(r, c), &(s, d)| a[at(r, c)].abs().total_cmp(&a[at(s, d)].abs()))
    {
        let value = a[at(row, column)];
        if value.abs() <= PIVOT_MIN_REL * size || size == 0.0 {
            return None;
        }
        open_rows.retain(|&r| r != row);
        free.retain(|&c| c != column);
        taken.push(column);
        for &r in &open_rows {
            let factor = a[at(r, column)] / value;
            for c in 0..n {
                a[at(r, c)] -= factor * a[at(row, c)];
            }
        }
    }
    free.extend(taken);
    Some(free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(n: usize, m: usize, n_between: usize) -> SetCode {
        let slots: Vec<Slot> = (0..n as u32).map(Slot).collect();
        SetCode {
            n_states: n - m,
            selectors: Vec::new(),
            levels: vec![(slots.clone(), slots)],
            n_between,
            n_constraints: m,
            constraints: Code::default(),
            nominal: vec![false; n],
        }
    }

    /// Chooses for constraints given row by row.
    fn choose(rows: &[&[f64]], order: &[usize], n_between: usize) -> Option<Vec<usize>> {
        let columns = rows[0].len();
        let (n, m) = (columns - n_between, rows.len() - n_between);
        let set = set(n, m, n_between);
        let mut choice = Choice::new(&set);
        choice.order = order.to_vec();
        for (r, row) in rows.iter().enumerate() {
            for (c, x) in row.iter().enumerate() {
                choice.jacobian[c * columns + r] = *x;
            }
        }
        choice.improve(&set).then_some(choice.order)
    }

    #[test]
    fn a_pendulum_changes_its_state_where_the_other_is_half_as_good_again() {
        // x² + y² = 1 with state x and dummy y: dy/dx = -x/y.
        let at = |angle: f64| choose(&[&[angle.sin(), angle.cos()]], &[0, 1], 0);
        assert_eq!(at(0.95), None);
        assert_eq!(at(1.2), Some(vec![1, 0]));
        // Back only when it is half as good again the other way.
        let back = |angle: f64| choose(&[&[angle.sin(), angle.cos()]], &[1, 0], 0);
        assert_eq!(back(0.7), None);
        assert_eq!(back(0.4), Some(vec![0, 1]));
    }

    #[test]
    fn a_singular_choice_is_given_up_and_a_singular_set_left_alone() {
        assert_eq!(choose(&[&[1.0, 0.0]], &[0, 1], 0), Some(vec![1, 0]));
        assert_eq!(choose(&[&[0.0, 0.0]], &[0, 1], 0), None);
    }

    #[test]
    fn links_are_eliminated() {
        // b = 2x; b + y/10 = …: through b, y moves 20 times as far as x.
        let rows: [&[f64]; 2] = [&[1.0, -2.0, 0.0], &[1.0, 0.0, 0.1]];
        assert_eq!(choose(&rows, &[0, 1], 1), Some(vec![1, 0]));
    }

    /// |det| of the columns, by expansion.
    fn determinant(g: &[f64], m: usize, columns: &[usize]) -> f64 {
        fn expand(g: &[f64], m: usize, row: usize, columns: &[usize]) -> f64 {
            let signs = [1.0, -1.0].into_iter().cycle();
            let terms = columns
                .iter()
                .enumerate()
                .zip(signs)
                .map(|((k, &c), sign)| {
                    let rest: Vec<usize> = [&columns[..k], &columns[k + 1..]].concat();
                    sign * g[c * m + row] * expand(g, m, row + 1, &rest)
                });
            if row == m { 1.0 } else { terms.sum() }
        }
        expand(g, m, 0, columns).abs()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(
            std::env::var("SALTUS_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
        ))]
        /// After an exchange no single further one gains more than the bound, and the determinant has grown.
        #[test]
        fn a_changed_choice_is_locally_the_best(
            m in 1usize..4,
            extra in 1usize..4,
            numbers in prop::collection::vec(-1.0f64..1.0, 18)
        ) {
            let n = m + extra;
            let g = &numbers[..(m * n).min(18)];
            prop_assume!(g.len() == m * n);
            let rows: Vec<Vec<f64>> = (0..m).map(|r| (0..n).map(|c| g[c * m + r]).collect()).collect();
            let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
            let before: Vec<usize> = (0..n).collect();
            if let Some(order) = choose(&rows, &before, 0) {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                prop_assert_eq!(&sorted, &before);
                let volume = determinant(g, m, &order[n - m..]);
                prop_assert!(volume > determinant(g, m, &before[n - m..]));
                for state in 0..n - m {
                    for dummy in n - m..n {
                        let mut other = order.clone();
                        other.swap(state, dummy);
                        prop_assert!(determinant(g, m, &other[n - m..]) <= EXCHANGED_TO * volume * (1.0 + 1e-9));
                    }
                }
            }
        }
    }
}
