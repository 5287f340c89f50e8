//! Coarse Dulmage-Mendelsohn decomposition (1958): which part of a pattern has too many rows, which too many columns.

use crate::Matching;

/// The three parts. With equations as rows: `over` has more equations than unknowns, `under` fewer, `well` as many.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DulmageMendelsohn {
    pub over_rows: Vec<u32>,
    pub over_cols: Vec<u32>,
    pub well_rows: Vec<u32>,
    pub well_cols: Vec<u32>,
    pub under_rows: Vec<u32>,
    pub under_cols: Vec<u32>,
}

/// Splits the pattern by a maximum matching: what alternating paths from unmatched rows reach is over-determined,
/// what they reach from unmatched columns is under-determined. The parts do not depend on the matching chosen.
pub fn dulmage_mendelsohn(
    rows: &[Vec<u32>],
    n_cols: usize,
    matching: &Matching,
) -> DulmageMendelsohn {
    let n_rows = rows.len();
    let mut row_over = vec![false; n_rows];
    let mut col_over = vec![false; n_cols];
    let mut stack: Vec<u32> = (0..n_rows as u32)
        .filter(|&r| matching.col_of_row[r as usize].is_none())
        .collect();
    stack.iter().for_each(|&r| row_over[r as usize] = true);
    while let Some(r) = stack.pop() {
        for &c in &rows[r as usize] {
            if std::mem::replace(&mut col_over[c as usize], true) {
                continue;
            }
            if let Some(owner) = matching.row_of_col[c as usize]
                && !std::mem::replace(&mut row_over[owner as usize], true)
            {
                stack.push(owner);
            }
        }
    }
    let mut rows_of_col = vec![Vec::new(); n_cols];
    for (r, cols) in rows.iter().enumerate() {
        cols.iter()
            .for_each(|&c| rows_of_col[c as usize].push(r as u32));
    }
    let mut row_under = vec![false; n_rows];
    let mut col_under = vec![false; n_cols];
    let mut stack: Vec<u32> = (0..n_cols as u32)
        .filter(|&c| matching.row_of_col[c as usize].is_none())
        .collect();
    stack.iter().for_each(|&c| col_under[c as usize] = true);
    while let Some(c) = stack.pop() {
        for &r in &rows_of_col[c as usize] {
            if std::mem::replace(&mut row_under[r as usize], true) {
                continue;
            }
            if let Some(next) = matching.col_of_row[r as usize]
                && !std::mem::replace(&mut col_under[next as usize], true)
            {
                stack.push(next);
            }
        }
    }
    let mut parts = DulmageMendelsohn::default();
    for r in 0..n_rows {
        let part = match (row_over[r], row_under[r]) {
            (true, _) => &mut parts.over_rows,
            (_, true) => &mut parts.under_rows,
            _ => &mut parts.well_rows,
        };
        part.push(r as u32);
    }
    for c in 0..n_cols {
        let part = match (col_over[c], col_under[c]) {
            (true, _) => &mut parts.over_cols,
            (_, true) => &mut parts.under_cols,
            _ => &mut parts.well_cols,
        };
        part.push(c as u32);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maximum_matching;
    use crate::scc::tests::cases;
    use proptest::prelude::*;

    #[test]
    fn two_rows_on_one_column_are_over_determined() {
        let rows = vec![vec![0], vec![0], vec![1, 2]];
        let parts = dulmage_mendelsohn(&rows, 3, &maximum_matching(&rows, 3));
        assert_eq!(parts.over_rows, [0, 1]);
        assert_eq!(parts.over_cols, [0]);
        assert_eq!(parts.under_rows, [2]);
        assert_eq!(parts.under_cols, [1, 2]);
    }

    proptest! {
        #![proptest_config(cases())]
        #[test]
        fn a_row_is_over_determined_when_some_largest_matching_misses_it(
            rows in prop::collection::vec(prop::collection::vec(0u32..6, 0..4), 0..7)
        ) {
            let matching = maximum_matching(&rows, 6);
            let parts = dulmage_mendelsohn(&rows, 6, &matching);
            for r in 0..rows.len() {
                let mut without = rows.clone();
                without[r].clear();
                let missable = maximum_matching(&without, 6).size() == matching.size();
                prop_assert_eq!(parts.over_rows.contains(&(r as u32)), missable);
            }
            for c in 0..6u32 {
                let without: Vec<Vec<u32>> =
                    rows.iter().map(|cols| cols.iter().copied().filter(|&x| x != c).collect()).collect();
                let missable = maximum_matching(&without, 6).size() == matching.size();
                prop_assert_eq!(parts.under_cols.contains(&c), missable);
            }
        }
    }
}
