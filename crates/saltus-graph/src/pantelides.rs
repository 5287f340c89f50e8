//! Pantelides' algorithm (1988) on the signature matrix (Pryce 2001): how often each equation must be differentiated.
//!
//! `rows[i]` lists (variable j, σ_ij), σ_ij the highest derivative of variable j in equation i. The result are the
//! smallest offsets c_i ≥ 0, d_j ≥ 0 with d_j - c_i ≥ σ_ij and equality on a matching of all equations: equation i is
//! differentiated c_i times, variable j then occurs with derivative d_j at most.

use crate::matching::{FREE, Matching, maximum_matching};

/// Offsets and the matching of equations (rows) with variables (columns) in their highest derivatives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Differentiation {
    pub equation: Vec<u32>,
    pub variable: Vec<u32>,
    pub matching: Matching,
}

/// `orders_min` (one per variable) are derivatives that must be determined though no row contains them.
///
/// `Err` carries a maximum matching of the whole pattern that leaves rows unmatched: the system is structurally singular.
pub fn pantelides(
    rows: &[Vec<(u32, u32)>],
    orders_min: &[u32],
) -> Result<Differentiation, Matching> {
    let n_variables = orders_min.len();
    let all: Vec<Vec<u32>> = rows
        .iter()
        .map(|row| row.iter().map(|&(v, _)| v).collect())
        .collect();
    let whole = maximum_matching(&all, n_variables);
    if !whole.covers_rows() {
        return Err(whole);
    }
    let mut c = vec![0u32; rows.len()];
    let mut d = orders_min.to_vec();
    for &(v, order) in rows.iter().flatten() {
        d[v as usize] = d[v as usize].max(order);
    }
    // Start from a largest matching on the edges that are active without differentiation.
    let active: Vec<Vec<u32>> = rows
        .iter()
        .map(|row| {
            row.iter()
                .filter(|&&(v, order)| d[v as usize] == order)
                .map(|&(v, _)| v)
                .collect()
        })
        .collect();
    let first = maximum_matching(&active, n_variables);
    let mut col_of_row: Vec<u32> = first.col_of_row.iter().map(|x| x.unwrap_or(FREE)).collect();
    let mut row_of_col: Vec<u32> = first.row_of_col.iter().map(|x| x.unwrap_or(FREE)).collect();
    let mut stamp = vec![0u32; n_variables];
    let mut parent = vec![FREE; n_variables];
    let mut search = 0u32;
    let mut queue: Vec<u32> = Vec::new();
    let mut seen_cols: Vec<u32> = Vec::new();
    for root in 0..rows.len() {
        // Ends because the whole pattern has a matching of all rows (Pantelides, theorem 4.1).
        while col_of_row[root] == FREE {
            search += 1;
            queue.clear();
            seen_cols.clear();
            queue.push(root as u32);
            let mut head = 0;
            let mut end = None;
            'search: while head < queue.len() {
                saltus_control::checkpoint();
                let r = queue[head];
                head += 1;
                for &(v, order) in &rows[r as usize] {
                    let v = v as usize;
                    if stamp[v] == search || c[r as usize] + order != d[v] {
                        continue;
                    }
                    stamp[v] = search;
                    parent[v] = r;
                    if row_of_col[v] == FREE {
                        end = Some(v);
                        break 'search;
                    }
                    seen_cols.push(v as u32);
                    queue.push(row_of_col[v]);
                }
            }
            match end {
                Some(mut col) => loop {
                    let row = parent[col];
                    let before = col_of_row[row as usize];
                    col_of_row[row as usize] = col as u32;
                    row_of_col[col] = row;
                    if before == FREE {
                        break;
                    }
                    col = before as usize;
                },
                None => {
                    queue.iter().for_each(|&r| c[r as usize] += 1);
                    seen_cols.iter().for_each(|&v| d[v as usize] += 1);
                    // A reached column's row is reached too, so matched edges stay active; edges from reached rows to
                    // columns that were not reached had slack and keep c + σ ≤ d.
                }
            }
        }
    }
    let option = |x: &u32| (*x != FREE).then_some(*x);
    Ok(Differentiation {
        equation: c,
        variable: d,
        matching: Matching {
            col_of_row: col_of_row.iter().map(option).collect(),
            row_of_col: row_of_col.iter().map(option).collect(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scc::tests::cases;
    use proptest::prelude::*;

    #[test]
    fn the_cartesian_pendulum_differentiates_its_constraint_twice() {
        // x'' = -F x; y'' = -F y - g; x² + y² = L²; variables x, y, F.
        let rows = [
            vec![(0, 2), (2, 0)],
            vec![(1, 2), (2, 0)],
            vec![(0, 0), (1, 0)],
        ];
        let found = pantelides(&rows, &[0; 3]).expect("not singular");
        assert_eq!(found.equation, [0, 0, 2]);
        assert_eq!(found.variable, [2, 2, 0]);
    }

    #[test]
    fn a_wanted_derivative_makes_its_equation_differentiated() {
        // a = der(der(x)) has been taken away as an alias; x = sin(time).
        let found = pantelides(&[vec![(0, 0)]], &[2]).expect("not singular");
        assert_eq!(found.equation, [2]);
        assert_eq!(found.variable, [2]);
    }

    #[test]
    fn a_singular_pattern_is_reported_with_its_matching() {
        let rows = [vec![(0, 1)], vec![(0, 0)]];
        let matching = pantelides(&rows, &[0; 2]).expect_err("one variable for two equations");
        assert_eq!(matching.size(), 1);
    }

    /// Best transversal of a square matrix by trying all permutations.
    fn best_transversal(
        rows: &[Vec<(u32, u32)>],
        row: usize,
        used: u32,
    ) -> Option<(u32, Vec<u32>)> {
        if row == rows.len() {
            return Some((0, Vec::new()));
        }
        let mut best: Option<(u32, Vec<u32>)> = None;
        for &(v, order) in &rows[row] {
            if used & (1 << v) != 0 {
                continue;
            }
            if let Some((sum, mut cols)) = best_transversal(rows, row + 1, used | (1 << v))
                && best.as_ref().is_none_or(|b| sum + order > b.0)
            {
                cols.insert(0, v);
                best = Some((sum + order, cols));
            }
        }
        best
    }

    /// Smallest dual solution by Pryce's fixed point iteration.
    fn smallest_offsets(rows: &[Vec<(u32, u32)>], transversal: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let n = rows.len();
        let mut c = vec![0u32; n];
        loop {
            let mut d = vec![0u32; n];
            for (i, row) in rows.iter().enumerate() {
                for &(v, order) in row {
                    d[v as usize] = d[v as usize].max(c[i] + order);
                }
            }
            let next: Vec<u32> = (0..n)
                .map(|i| {
                    let v = transversal[i];
                    let order = rows[i]
                        .iter()
                        .filter(|e| e.0 == v)
                        .map(|e| e.1)
                        .max()
                        .expect("on the transversal");
                    d[v as usize] - order
                })
                .collect();
            if next == c {
                return (c, d);
            }
            c = next;
        }
    }

    proptest! {
        #![proptest_config(cases())]
        #[test]
        fn offsets_are_the_smallest_dual_solution(
            entries in prop::collection::vec(prop::collection::btree_map(0u32..5, 0u32..3, 1..4), 5)
        ) {
            let rows: Vec<Vec<(u32, u32)>> = entries.iter().map(|m| m.iter().map(|(&v, &o)| (v, o)).collect()).collect();
            match (pantelides(&rows, &[0; 5]), best_transversal(&rows, 0, 0)) {
                (Ok(found), Some((_, transversal))) => {
                    let (c, d) = smallest_offsets(&rows, &transversal);
                    prop_assert_eq!(&found.equation, &c);
                    prop_assert_eq!(&found.variable, &d);
                    for (i, row) in rows.iter().enumerate() {
                        let v = found.matching.col_of_row[i].expect("all rows");
                        let order = row.iter().find(|e| e.0 == v).expect("an edge").1;
                        prop_assert_eq!(c[i] + order, d[v as usize]);
                    }
                }
                (Err(_), None) => {}
                (found, transversal) => prop_assert!(false, "{found:?} {transversal:?}"),
            }
        }
    }
}
