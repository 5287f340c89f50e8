//! Columns of a sparse Jacobian that can be computed together (Curtis, Powell and Reid 1974).

/// A colour for each of `n` columns so that columns of equal colour share no row, and the number of colours. Every column gets the
/// first colour that no column with a common row has. `rows_of` gives the rows of a column, below `n_rows`. Work: for
/// every entry the length of its row.
pub fn colour_columns<'a>(
    n: usize,
    n_rows: usize,
    rows_of: impl Fn(usize) -> &'a [u32],
) -> (Vec<u32>, usize) {
    // The columns of each row seen so far.
    let mut columns_of: Vec<Vec<u32>> = vec![Vec::new(); n_rows];
    let mut colour = vec![0u32; n];
    // The last column that could not take a colour.
    let mut taken: Vec<u32> = Vec::new();
    for j in 0..n {
        for row in rows_of(j) {
            for &other in &columns_of[*row as usize] {
                taken[colour[other as usize] as usize] = j as u32;
            }
        }
        let free = taken.iter().position(|last| *last != j as u32);
        let chosen = free.unwrap_or(taken.len());
        if chosen == taken.len() {
            taken.push(u32::MAX);
        }
        colour[j] = chosen as u32;
        for row in rows_of(j) {
            columns_of[*row as usize].push(j as u32);
        }
    }
    (colour, taken.len())
}
