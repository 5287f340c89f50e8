//! Maximum matching of rows and columns of a sparse pattern.
//!
//! [`maximum_matching`] is Hopcroft and Karp's algorithm (1973), O(edges · √rows), after a cheap assignment.
//! [`Matcher`] adds rows one by one (augmenting paths by breadth-first search): a row that was matched stays matched,
//! so that rows added first have priority.

use saltus_control::checkpoint;
use std::collections::VecDeque;

/// Marks an unmatched row or column.
pub const FREE: u32 = u32::MAX;

/// A matching: partner of each row and of each column, `None` where there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matching {
    pub col_of_row: Vec<Option<u32>>,
    pub row_of_col: Vec<Option<u32>>,
}

impl Matching {
    pub fn size(&self) -> usize {
        self.col_of_row.iter().flatten().count()
    }

    /// Every row has a column.
    pub fn covers_rows(&self) -> bool {
        self.col_of_row.iter().all(Option::is_some)
    }
}

/// A largest matching of the pattern `rows[r] = columns of row r`, columns below `n_cols`.
pub fn maximum_matching(rows: &[Vec<u32>], n_cols: usize) -> Matching {
    let n_rows = rows.len();
    let mut col_of_row = vec![FREE; n_rows];
    let mut row_of_col = vec![FREE; n_cols];
    for (r, cols) in rows.iter().enumerate() {
        if let Some(&c) = cols.iter().find(|&&c| row_of_col[c as usize] == FREE) {
            col_of_row[r] = c;
            row_of_col[c as usize] = r as u32;
        }
    }
    let mut level = vec![u32::MAX; n_rows];
    let mut next_edge = vec![0usize; n_rows];
    let mut queue = VecDeque::new();
    // Each phase lengthens the shortest augmenting path, so there are at most n_rows phases (and 2·√n_rows by theory).
    loop {
        level.fill(u32::MAX);
        queue.clear();
        for r in 0..n_rows {
            if col_of_row[r] == FREE {
                level[r] = 0;
                queue.push_back(r);
            }
        }
        let mut reached_free = false;
        while let Some(r) = queue.pop_front() {
            checkpoint();
            for &c in &rows[r] {
                let owner = row_of_col[c as usize];
                if owner == FREE {
                    reached_free = true;
                } else if level[owner as usize] == u32::MAX {
                    level[owner as usize] = level[r] + 1;
                    queue.push_back(owner as usize);
                }
            }
        }
        if !reached_free {
            break;
        }
        next_edge.fill(0);
        let mut augmented = false;
        let mut path: Vec<usize> = Vec::new();
        for root in 0..n_rows {
            if col_of_row[root] != FREE {
                continue;
            }
            path.clear();
            path.push(root);
            while let Some(&r) = path.last() {
                checkpoint();
                let Some(&c) = rows[r].get(next_edge[r]) else {
                    level[r] = u32::MAX;
                    path.pop();
                    continue;
                };
                next_edge[r] += 1;
                let owner = row_of_col[c as usize];
                if owner == FREE {
                    for &p in path.iter().rev() {
                        let edge = rows[p][next_edge[p] - 1];
                        col_of_row[p] = edge;
                        row_of_col[edge as usize] = p as u32;
                    }
                    augmented = true;
                    break;
                }
                let owner = owner as usize;
                if level[owner] == level[r] + 1 && level[r] != u32::MAX {
                    path.push(owner);
                }
            }
        }
        if !augmented {
            break;
        }
    }
    Matching {
        col_of_row: to_options(&col_of_row),
        row_of_col: to_options(&row_of_col),
    }
}

fn to_options(partners: &[u32]) -> Vec<Option<u32>> {
    partners.iter().map(|&p| (p != FREE).then_some(p)).collect()
}

/// A matching that grows row by row.
#[derive(Clone, Debug)]
pub struct Matcher {
    rows: Vec<Vec<u32>>,
    col_of_row: Vec<u32>,
    row_of_col: Vec<u32>,
    /// Search number in which a column was last reached, and from which row.
    stamp: Vec<u32>,
    parent: Vec<u32>,
    search: u32,
    /// Columns from which no free column can be reached any more: found by a search that failed. Its columns are matched
    /// among rows that see no others, and no later augmentation changes that.
    closed: Vec<bool>,
    queue: Vec<u32>,
}

impl Matcher {
    pub fn new(n_cols: usize) -> Matcher {
        Matcher {
            rows: Vec::new(),
            col_of_row: Vec::new(),
            row_of_col: vec![FREE; n_cols],
            stamp: vec![0; n_cols],
            parent: vec![FREE; n_cols],
            search: 0,
            closed: vec![false; n_cols],
            queue: Vec::new(),
        }
    }

    /// Takes over a matching of all of `rows`.
    pub fn with_matching(rows: Vec<Vec<u32>>, n_cols: usize, matching: &Matching) -> Matcher {
        let mut matcher = Matcher::new(n_cols);
        matcher.col_of_row = matching
            .col_of_row
            .iter()
            .map(|c| c.unwrap_or(FREE))
            .collect();
        matcher.row_of_col = matching
            .row_of_col
            .iter()
            .map(|r| r.unwrap_or(FREE))
            .collect();
        matcher.rows = rows;
        matcher
    }

    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    pub fn col_of_row(&self, row: usize) -> Option<u32> {
        (self.col_of_row[row] != FREE).then_some(self.col_of_row[row])
    }

    pub fn row_of_col(&self, col: usize) -> Option<u32> {
        (self.row_of_col[col] != FREE).then_some(self.row_of_col[col])
    }

    /// Adds a row and tries to match it. The row is kept in any case; `false` if it stays unmatched.
    pub fn add_row(&mut self, cols: Vec<u32>) -> bool {
        self.rows.push(cols);
        self.col_of_row.push(FREE);
        self.augment(self.rows.len() - 1)
    }

    /// Adds a row only if it can be matched.
    pub fn try_row(&mut self, cols: Vec<u32>) -> bool {
        if self.add_row(cols) {
            return true;
        }
        self.rows.pop();
        self.col_of_row.pop();
        false
    }

    /// For a row that [`Matcher::try_row`] did not take: the matched rows that stand in its way, ascending. Together they and the row have one
    /// column less than rows (a Hall violator), and each of them is needed for that where columns are not shared further.
    pub fn in_the_way(&self, cols: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; self.row_of_col.len()];
        let mut stack: Vec<u32> = cols.to_vec();
        let mut rows = Vec::new();
        while let Some(c) = stack.pop() {
            checkpoint();
            if std::mem::replace(&mut seen[c as usize], true) {
                continue;
            }
            if let Some(row) = self.row_of_col(c as usize) {
                rows.push(row);
                stack.extend(&self.rows[row as usize]);
            }
        }
        rows.sort_unstable();
        rows
    }

    pub fn matching(&self) -> Matching {
        Matching {
            col_of_row: to_options(&self.col_of_row),
            row_of_col: to_options(&self.row_of_col),
        }
    }

    /// Looks for an augmenting path from an unmatched row.
    fn augment(&mut self, row: usize) -> bool {
        self.search += 1;
        self.queue.clear();
        self.queue.push(row as u32);
        let mut seen: Vec<u32> = Vec::new();
        let mut head = 0;
        while head < self.queue.len() {
            let r = self.queue[head];
            head += 1;
            checkpoint();
            for i in 0..self.rows[r as usize].len() {
                let c = self.rows[r as usize][i] as usize;
                if self.stamp[c] == self.search || self.closed[c] {
                    continue;
                }
                self.stamp[c] = self.search;
                self.parent[c] = r;
                let owner = self.row_of_col[c];
                if owner == FREE {
                    self.flip(c);
                    return true;
                }
                seen.push(c as u32);
                self.queue.push(owner);
            }
        }
        seen.iter().for_each(|&c| self.closed[c as usize] = true);
        false
    }

    fn flip(&mut self, mut col: usize) {
        loop {
            let row = self.parent[col];
            let before = self.col_of_row[row as usize];
            self.col_of_row[row as usize] = col as u32;
            self.row_of_col[col] = row;
            if before == FREE {
                return;
            }
            col = before as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scc::tests::cases;
    use proptest::prelude::*;

    /// Largest matching by trying every choice.
    fn brute_force(rows: &[Vec<u32>], used: u32) -> usize {
        let Some((first, rest)) = rows.split_first() else {
            return 0;
        };
        let mut best = brute_force(rest, used);
        for &c in first {
            if used & (1 << c) == 0 {
                best = best.max(1 + brute_force(rest, used | (1 << c)));
            }
        }
        best
    }

    fn check_valid(rows: &[Vec<u32>], matching: &Matching) {
        for (r, c) in matching.col_of_row.iter().enumerate() {
            if let Some(c) = c {
                assert!(rows[r].contains(c));
                assert_eq!(matching.row_of_col[*c as usize], Some(r as u32));
            }
        }
        assert_eq!(
            matching.size(),
            matching.row_of_col.iter().flatten().count()
        );
    }

    #[test]
    fn a_chain_is_matched_along_its_only_way() {
        let rows = vec![vec![0, 1], vec![0], vec![1, 2]];
        let matching = maximum_matching(&rows, 3);
        assert_eq!(matching.col_of_row, [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn the_rows_in_the_way_are_those_that_need_the_columns() {
        let mut matcher = Matcher::new(4);
        for row in [vec![0, 1], vec![2, 3], vec![0], vec![3]] {
            assert!(matcher.try_row(row));
        }
        assert!(!matcher.try_row(vec![1]));
        assert_eq!(matcher.in_the_way(&[1]), [0, 2]);
    }

    #[test]
    fn a_matcher_keeps_early_rows_matched() {
        let mut matcher = Matcher::new(2);
        assert!(matcher.add_row(vec![0]));
        assert!(matcher.add_row(vec![0, 1]));
        assert!(!matcher.try_row(vec![0, 1]));
        assert_eq!(matcher.n_rows(), 2);
        assert_eq!(matcher.col_of_row(0), Some(0));
    }

    #[test]
    fn a_long_path_needs_no_stack() {
        // Row i sees columns i and i + 1, the last row only column 0: everything has to shift.
        let n = 100_000u32;
        let mut rows: Vec<Vec<u32>> = (0..n - 1).map(|i| vec![i, i + 1]).collect();
        rows.push(vec![0]);
        assert!(maximum_matching(&rows, n as usize).covers_rows());
    }

    proptest! {
        #![proptest_config(cases())]
        #[test]
        fn matchings_are_as_large_as_by_brute_force(
            rows in prop::collection::vec(prop::collection::vec(0u32..7, 0..4), 0..8)
        ) {
            let best = brute_force(&rows, 0);
            let matching = maximum_matching(&rows, 7);
            check_valid(&rows, &matching);
            prop_assert_eq!(matching.size(), best);
            let mut matcher = Matcher::new(7);
            for row in &rows {
                matcher.add_row(row.clone());
            }
            check_valid(&rows, &matcher.matching());
            prop_assert_eq!(matcher.matching().size(), best);
        }
    }
}
