//! Where a square matrix may have entries.

/// The places of the entries of an n × n matrix, column by column with ascending rows. Values on a pattern are a slice with one
/// number per place in this order; for a full pattern that is the dense column-major form.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Pattern {
    n: usize,
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Pattern {
    /// All n² places.
    pub fn full(n: usize) -> Pattern {
        Pattern {
            n,
            starts: (0..=n).map(|j| (j * n) as u32).collect(),
            rows: (0..n).flat_map(|_| 0..n as u32).collect(),
        }
    }

    /// From the rows of each column, in any order; rows beyond the matrix and repetitions are an error of the caller.
    pub fn from_columns(columns: &[Vec<u32>]) -> Pattern {
        Pattern::from_sorted(columns.len(), |j, rows| rows.extend_from_slice(&columns[j]))
    }

    /// The same with the diagonal.
    pub fn with_diagonal(columns: &[Vec<u32>]) -> Pattern {
        Pattern::from_sorted(columns.len(), |j, rows| {
            rows.extend_from_slice(&columns[j]);
            rows.push(j as u32);
        })
    }

    fn from_sorted(n: usize, mut column: impl FnMut(usize, &mut Vec<u32>)) -> Pattern {
        let mut starts = vec![0];
        let mut rows: Vec<u32> = Vec::new();
        let mut buffer = Vec::new();
        for j in 0..n {
            buffer.clear();
            column(j, &mut buffer);
            buffer.sort_unstable();
            buffer.dedup();
            assert!(
                buffer.last().is_none_or(|&row| (row as usize) < n),
                "a row of column {j} is outside of the matrix"
            );
            rows.extend_from_slice(&buffer);
            starts.push(rows.len() as u32);
        }
        Pattern { n, starts, rows }
    }

    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.rows.len() == self.n * self.n
    }

    /// Places of the entries of column j.
    pub fn column(&self, j: usize) -> std::ops::Range<usize> {
        self.starts[j] as usize..self.starts[j + 1] as usize
    }

    /// Rows of the entries of column j, ascending.
    pub fn rows(&self, j: usize) -> &[u32] {
        &self.rows[self.column(j)]
    }

    /// The place of entry (row, j).
    pub fn place(&self, row: u32, j: usize) -> Option<usize> {
        let found = self.rows(j).binary_search(&row).ok()?;
        Some(self.starts[j] as usize + found)
    }

    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    pub(super) fn all_rows(&self) -> &[u32] {
        &self.rows
    }
}
