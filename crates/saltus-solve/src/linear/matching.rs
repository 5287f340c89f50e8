//! A row for every column, so that a matrix gets a diagonal without structural zeros.

use super::pattern::Pattern;

const FREE: u32 = u32::MAX;

/// The row assigned to each column: the diagonal where the pattern has all of it, else a maximum matching by augmenting paths
/// (Duff, ACM TOMS 7 (1981) 315), diagonal places first. `None` if the pattern has no transversal: every matrix on it is
/// singular.
pub(super) fn transversal(pattern: &Pattern) -> Option<Vec<u32>> {
    let n = pattern.n();
    let mut row_of = vec![FREE; n];
    let mut column_of = vec![FREE; n];
    for (j, (row, column)) in row_of.iter_mut().zip(&mut column_of).enumerate() {
        if pattern.place(j as u32, j).is_some() {
            *row = j as u32;
            *column = j as u32;
        }
    }
    for (j, row_of) in row_of.iter_mut().enumerate() {
        if *row_of == FREE
            && let Some(&row) =
                (pattern.rows(j).iter()).find(|row| column_of[**row as usize] == FREE)
        {
            *row_of = row;
            column_of[row as usize] = j as u32;
        }
    }
    let mut visited = vec![FREE; n];
    let mut path: Vec<(u32, usize)> = Vec::new();
    for j in 0..n as u32 {
        if row_of[j as usize] == FREE
            && !augment(
                pattern,
                j,
                &mut row_of,
                &mut column_of,
                &mut visited,
                &mut path,
            )
        {
            return None;
        }
    }
    Some(row_of)
}

/// Depth-first search for a free row along alternating paths; `visited[column]` is the root of the last search that saw it.
fn augment(
    pattern: &Pattern,
    root: u32,
    row_of: &mut [u32],
    column_of: &mut [u32],
    visited: &mut [u32],
    path: &mut Vec<(u32, usize)>,
) -> bool {
    path.clear();
    path.push((root, 0));
    visited[root as usize] = root;
    while let Some((column, next)) = path.last_mut() {
        let rows = pattern.rows(*column as usize);
        let Some(&row) = rows.get(*next) else {
            path.pop();
            continue;
        };
        *next += 1;
        let owner = column_of[row as usize];
        if owner == FREE {
            // Every column of the path takes the row it was looking at.
            while let Some((column, next)) = path.pop() {
                let row = pattern.rows(column as usize)[next - 1];
                row_of[column as usize] = row;
                column_of[row as usize] = column;
            }
            return true;
        }
        if visited[owner as usize] != root {
            visited[owner as usize] = root;
            path.push((owner, 0));
        }
    }
    false
}
