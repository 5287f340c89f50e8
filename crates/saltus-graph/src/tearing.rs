//! Tearing of a square system: few iteration unknowns, the others by explicit assignments.
//!
//! Greedy, in the manner of Cellier's textbook heuristics: as long as a row has a single open column that it may be
//! solved for, do that; a column that is left in a single row only is computed last, from that row; when neither is possible
//! a column becomes an iteration unknown: first those that no row may be solved for, then the one that stands in most open
//! rows. O(edges · log rows).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A block. `rows[r]` lists (column, may row r be solved for it explicitly).
#[derive(Clone, Debug, Default)]
pub struct TearProblem {
    pub rows: Vec<Vec<(u32, bool)>>,
    pub n_cols: usize,
    /// Columns with a larger value are taken as iteration unknowns before others that stand in as many rows, those with a negative one after all others.
    /// One per column, or empty.
    pub preference: Vec<i32>,
}

/// `torn` columns are chosen, then `inner` (row, column) assignments are carried out in order, `residual` rows remain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tearing {
    pub torn: Vec<u32>,
    pub inner: Vec<(u32, u32)>,
    pub residual: Vec<u32>,
}

/// Tears a square block. Each column comes out exactly once, in `torn` or in `inner`, and so does each row.
pub fn tear(problem: &TearProblem) -> Tearing {
    let n_rows = problem.rows.len();
    let n_cols = problem.n_cols;
    let mut rows_of_col: Vec<Vec<(u32, bool)>> = vec![Vec::new(); n_cols];
    for (r, row) in problem.rows.iter().enumerate() {
        for &(c, solvable) in row {
            rows_of_col[c as usize].push((r as u32, solvable));
        }
    }
    let mut state = State {
        open_row: vec![true; n_rows],
        open_col: vec![true; n_cols],
        cols_left: problem.rows.iter().map(|row| row.len() as u32).collect(),
        rows_left: rows_of_col.iter().map(|rows| rows.len() as u32).collect(),
        heap: BinaryHeap::new(),
        single_rows: Vec::new(),
        single_cols: Vec::new(),
        solvable: rows_of_col
            .iter()
            .map(|rows| rows.iter().any(|r| r.1))
            .collect(),
        unsolvable: rows_of_col
            .iter()
            .map(|rows| rows.iter().filter(|r| !r.1).count() as u32)
            .collect(),
    };
    for c in 0..n_cols {
        state.push(c, problem);
        if state.rows_left[c] == 1 {
            state.single_cols.push(c as u32);
        }
    }
    for r in 0..n_rows {
        if state.cols_left[r] == 1 {
            state.single_rows.push(r as u32);
        }
    }
    let mut tearing = Tearing::default();
    let mut last: Vec<(u32, u32)> = Vec::new();
    loop {
        saltus_control::checkpoint();
        if let Some(r) = state.single_rows.pop() {
            let row = &problem.rows[r as usize];
            if state.open_row[r as usize] && state.cols_left[r as usize] == 1 {
                let found = row.iter().find(|&&(c, _)| state.open_col[c as usize]);
                if let Some(&(c, true)) = found {
                    tearing.inner.push((r, c));
                    state.close_row(r, problem);
                    state.close_col(c, &rows_of_col, problem);
                }
            }
        } else if let Some(c) = state.single_cols.pop() {
            if state.open_col[c as usize] && state.rows_left[c as usize] == 1 {
                let found = rows_of_col[c as usize]
                    .iter()
                    .find(|&&(r, _)| state.open_row[r as usize]);
                if let Some(&(r, true)) = found {
                    last.push((r, c));
                    state.close_row(r, problem);
                    state.close_col(c, &rows_of_col, problem);
                }
            }
        } else if let Some((_, _, count, _, _, Reverse(c))) = state.heap.pop() {
            if state.open_col[c as usize] && state.rows_left[c as usize] == count {
                tearing.torn.push(c);
                state.close_col(c, &rows_of_col, problem);
            }
        } else {
            break;
        }
    }
    tearing.inner.extend(last.into_iter().rev());
    tearing.residual = (0..n_rows as u32)
        .filter(|&r| state.open_row[r as usize])
        .collect();
    tearing
}

struct State {
    open_row: Vec<bool>,
    open_col: Vec<bool>,
    cols_left: Vec<u32>,
    rows_left: Vec<u32>,
    /// (not solvable at all, not to be avoided, open rows, rows not solvable for it, preference, column), outdated entries are skipped.
    heap: BinaryHeap<(bool, bool, u32, u32, i32, Reverse<u32>)>,
    single_rows: Vec<u32>,
    single_cols: Vec<u32>,
    solvable: Vec<bool>,
    unsolvable: Vec<u32>,
}

impl State {
    fn push(&mut self, c: usize, problem: &TearProblem) {
        let preference = problem.preference.get(c).copied().unwrap_or_default();
        self.heap.push((
            !self.solvable[c],
            preference >= 0,
            self.rows_left[c],
            self.unsolvable[c],
            preference,
            Reverse(c as u32),
        ));
    }

    fn close_row(&mut self, r: u32, problem: &TearProblem) {
        self.open_row[r as usize] = false;
        for &(c, _) in &problem.rows[r as usize] {
            let c = c as usize;
            self.rows_left[c] -= 1;
            if self.open_col[c] {
                self.push(c, problem);
                if self.rows_left[c] == 1 {
                    self.single_cols.push(c as u32);
                }
            }
        }
    }

    fn close_col(&mut self, c: u32, rows_of_col: &[Vec<(u32, bool)>], problem: &TearProblem) {
        self.open_col[c as usize] = false;
        for &(r, _) in &rows_of_col[c as usize] {
            debug_assert!((r as usize) < problem.rows.len());
            self.cols_left[r as usize] -= 1;
            if self.open_row[r as usize] && self.cols_left[r as usize] == 1 {
                self.single_rows.push(r);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scc::tests::cases;
    use proptest::prelude::*;

    /// Every assignment uses only torn columns and earlier assignments (last ones excepted for none), all come out once.
    fn check(problem: &TearProblem, tearing: &Tearing) {
        let mut known = vec![false; problem.n_cols];
        for &c in &tearing.torn {
            assert!(!std::mem::replace(&mut known[c as usize], true));
        }
        for &(r, c) in &tearing.inner {
            assert!(!known[c as usize]);
            assert!(problem.rows[r as usize].contains(&(c, true)));
            for &(other, _) in &problem.rows[r as usize] {
                assert!(
                    other == c || known[other as usize],
                    "row {r} uses column {other} too early"
                );
            }
            known[c as usize] = true;
        }
        assert!(known.iter().all(|&k| k));
        let mut rows: Vec<u32> = tearing
            .inner
            .iter()
            .map(|&(r, _)| r)
            .chain(tearing.residual.iter().copied())
            .collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..problem.rows.len() as u32).collect::<Vec<_>>());
    }

    fn problem(rows: &[&[(u32, bool)]], n_cols: usize) -> TearProblem {
        TearProblem {
            rows: rows.iter().map(|r| r.to_vec()).collect(),
            n_cols,
            preference: Vec::new(),
        }
    }

    #[test]
    fn a_voltage_divider_needs_one_iteration_unknown() {
        // u1 = R1 i; u2 = R2 i; U = u1 + u2, unknowns u1 u2 i.
        let p = problem(
            &[
                &[(0, true), (2, true)],
                &[(1, true), (2, true)],
                &[(0, true), (1, true)],
            ],
            3,
        );
        let tearing = tear(&p);
        check(&p, &tearing);
        assert_eq!(tearing.torn.len(), 1);
        assert_eq!(tearing.residual.len(), 1);
    }

    #[test]
    fn rows_that_may_not_be_solved_become_residuals() {
        let p = problem(&[&[(0, false), (1, false)], &[(0, false), (1, true)]], 2);
        let tearing = tear(&p);
        check(&p, &tearing);
        assert_eq!(tearing.torn, [0]);
        assert_eq!(tearing.residual, [0]);
    }

    proptest! {
        #![proptest_config(cases())]
        #[test]
        fn every_tearing_can_be_carried_out(
            entries in prop::collection::vec(prop::collection::btree_map(0u32..8, any::<bool>(), 1..5), 8)
        ) {
            let p = TearProblem {
                rows: entries.iter().map(|m| m.iter().map(|(&c, &s)| (c, s)).collect()).collect(),
                n_cols: 8,
                preference: Vec::new(),
            };
            let tearing = tear(&p);
            check(&p, &tearing);
            prop_assert_eq!(tearing.torn.len(), tearing.residual.len());
        }
    }
}
