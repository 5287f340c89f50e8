//! Linear complementarity: w = q + M z, w ≥ 0, z ≥ 0, wᵀz = 0.
//!
//! Comes in: M and q. Goes out: z, or why none was found. Method: Lemke's complementary pivoting (Cottle, Pang, Stone, The Linear
//! Complementarity Problem, algorithm 4.4.1). An artificial z₀ ≥ 0 with the covering vector 1 makes w = q + M z + 1·z₀ feasible; from there one
//! variable of the basis leaves and its complement enters, until z₀ leaves. The leaving row is the lexicographic minimum of
//! (rhs, rows of the inverse basis)/column, so that no basis comes back (degenerate problems included) and the pivots are finite. If a column has
//! no positive entry the method ends on a ray: for P-matrices this cannot happen, for copositive-plus ones (passive networks) there is then no solution.

use crate::scale::{EPS, RANK_ULPS};

/// Bound on the pivots, in units of n + 1; random problems need about n.
const PIVOTS_MAX: usize = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LcpFailure {
    /// The method ended on a ray; for copositive-plus matrices there is no solution.
    Ray,
    /// The bound on pivots was reached.
    Pivots,
}

/// Solves the problem of n = `q.len()` pairs; `m` by columns. The solution is z.
pub fn lemke(m: &[f64], q: &[f64]) -> Result<Vec<f64>, LcpFailure> {
    let n = q.len();
    assert_eq!(m.len(), n * n, "a square matrix");
    if q.iter().all(|q| *q >= 0.0) {
        return Ok(vec![0.0; n]);
    }
    let mut tableau = Tableau::new(m, q);
    let mut entering = Column::Artificial;
    let mut row = tableau.first_row();
    for _ in 0..PIVOTS_MAX * (n + 1) {
        let leaving = tableau.pivot(row, entering);
        entering = match leaving {
            Column::Artificial => return Ok(tableau.solution()),
            Column::W(k) => Column::Z(k),
            Column::Z(k) => Column::W(k),
        };
        row = tableau.leaving_row(entering).ok_or(LcpFailure::Ray)?;
    }
    Err(LcpFailure::Pivots)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    W(usize),
    Z(usize),
    Artificial,
}

/// I w - M z - 1 z₀ = q, scaled, by rows: w (whose columns are the inverse basis), z, z₀, right side.
struct Tableau {
    n: usize,
    rows: Vec<Vec<f64>>,
    basis: Vec<Column>,
    /// z = factor · scaled z.
    scale: Vec<f64>,
}

impl Tableau {
    /// Rows are scaled to a largest entry of 1, then columns: signs, and so complementarity, stay.
    fn new(m: &[f64], q: &[f64]) -> Tableau {
        let n = q.len();
        let largest = |entries: &mut dyn Iterator<Item = f64>| {
            let size = entries.fold(0.0, |size: f64, v| size.max(v.abs()));
            if size > 0.0 { size } else { 1.0 }
        };
        let row_size: Vec<f64> = (0..n)
            .map(|i| largest(&mut (0..n).map(|j| m[j * n + i])))
            .collect();
        let scale: Vec<f64> = (0..n)
            .map(|j| 1.0 / largest(&mut (0..n).map(|i| m[j * n + i] / row_size[i])))
            .collect();
        let rhs_size = largest(&mut (0..n).map(|i| q[i] / row_size[i]));
        let rows = (0..n)
            .map(|i| {
                let mut row = vec![0.0; 2 * n + 2];
                row[i] = 1.0;
                for j in 0..n {
                    row[n + j] = -m[j * n + i] / row_size[i] * scale[j];
                }
                row[2 * n] = -1.0;
                row[2 * n + 1] = q[i] / row_size[i] / rhs_size;
                row
            })
            .collect();
        Tableau {
            n,
            rows,
            basis: (0..n).map(Column::W).collect(),
            scale: scale.iter().map(|s| s * rhs_size).collect(),
        }
    }

    fn place(&self, column: Column) -> usize {
        match column {
            Column::W(k) => k,
            Column::Z(k) => self.n + k,
            Column::Artificial => 2 * self.n,
        }
    }

    /// -1 where row a, divided by `by_a`, is lexicographically before row b, divided by `by_b`.
    fn is_before(&self, a: usize, by_a: f64, b: usize, by_b: f64) -> bool {
        let order = std::iter::once(2 * self.n + 1).chain(0..self.n);
        for place in order {
            let (x, y) = (self.rows[a][place] / by_a, self.rows[b][place] / by_b);
            let round_off = RANK_ULPS * self.n as f64 * EPS * x.abs().max(y.abs());
            if (x - y).abs() > round_off {
                return x < y;
            }
        }
        false
    }

    /// Where z₀ enters: the lexicographically smallest row.
    fn first_row(&self) -> usize {
        (1..self.n).fold(0, |best, i| {
            if self.is_before(i, 1.0, best, 1.0) {
                i
            } else {
                best
            }
        })
    }

    /// The row that an entering column drives to zero first; z₀ where it ties.
    fn leaving_row(&self, entering: Column) -> Option<usize> {
        let place = self.place(entering);
        let size = (self.rows.iter()).fold(0.0, |size: f64, row| size.max(row[place].abs()));
        let threshold = RANK_ULPS * self.n as f64 * EPS * size;
        let mut best: Option<usize> = None;
        for i in (0..self.n).filter(|&i| self.rows[i][place] > threshold) {
            best = match best {
                Some(b) if !self.is_before(i, self.rows[i][place], b, self.rows[b][place]) => {
                    Some(b)
                }
                _ => Some(i),
            };
        }
        let best = best?;
        let ratio = |i: usize| self.rows[i][2 * self.n + 1] / self.rows[i][place];
        let artificial = self.basis.iter().position(|c| *c == Column::Artificial)?;
        let ties = self.rows[artificial][place] > threshold
            && ratio(artificial) - ratio(best) <= RANK_ULPS * EPS * ratio(best).abs();
        Some(if ties { artificial } else { best })
    }

    /// The column enters at the row; what was there leaves.
    fn pivot(&mut self, row: usize, entering: Column) -> Column {
        let place = self.place(entering);
        let by = self.rows[row][place];
        for v in &mut self.rows[row] {
            *v /= by;
        }
        let pivot_row = std::mem::take(&mut self.rows[row]);
        for other in self.rows.iter_mut().filter(|other| !other.is_empty()) {
            let factor = other[place];
            if factor == 0.0 {
                continue;
            }
            for (v, p) in other.iter_mut().zip(&pivot_row) {
                *v -= factor * p;
            }
            other[place] = 0.0;
        }
        self.rows[row] = pivot_row;
        std::mem::replace(&mut self.basis[row], entering)
    }

    fn solution(&self) -> Vec<f64> {
        let mut z = vec![0.0; self.n];
        for (row, column) in self.rows.iter().zip(&self.basis) {
            if let Column::Z(k) = column {
                z[*k] = row[2 * self.n + 1].max(0.0) * self.scale[*k];
            }
        }
        z
    }
}
