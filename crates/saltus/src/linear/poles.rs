//! What a linear system does: poles, zeros, frequency response.

use super::{Linearization, solve};
use saltus_ir::external::{eigenvalues, pencil_eigenvalues};

/// A Markov parameter below this share of its factors is zero.
const MARKOV_REL: f64 = 1e-11;
/// An eigenvalue α/β of a pencil of norm 1 with a smaller β is infinite.
const INFINITE_REL: f64 = 1e-6;

impl Linearization {
    /// The eigenvalues of A as real and imaginary parts, those with the largest real part first.
    pub fn poles(&self) -> Vec<(f64, f64)> {
        sorted(eigenvalues(&self.a).unwrap_or_default())
    }

    /// The invariant zeros of a system with as many inputs as outputs: where its transfer matrix loses rank. Others have none here.
    ///
    /// Of a system with one input, relative degree r and first Markov parameter m = c Aʳ⁻¹ b they are the eigenvalues of A - b c Aʳ / m but for r that are zero; of others the finite
    /// eigenvalues of the pencil (A, B; C, D) - λ (I, 0; 0, 0).
    pub fn zeros(&self) -> Vec<(f64, f64)> {
        let n = self.states.len();
        if self.inputs.len() != self.outputs.len() || self.inputs.is_empty() || n == 0 {
            return Vec::new();
        }
        sorted(match self.inputs.len() {
            1 => self.zeros_of_one(),
            _ => self.zeros_of_many(),
        })
    }

    fn zeros_of_one(&self) -> Vec<(f64, f64)> {
        let n = self.states.len();
        let b: Vec<f64> = self.b.iter().map(|row| row[0]).collect();
        let reduced = |row: &[f64], markov: f64| -> Vec<Vec<f64>> {
            (0..n)
                .map(|i| {
                    (0..n)
                        .map(|j| self.a[i][j] - b[i] * row[j] / markov)
                        .collect()
                })
                .collect()
        };
        if self.d[0][0] != 0.0 {
            return eigenvalues(&reduced(&self.c[0], self.d[0][0])).unwrap_or_default();
        }
        let size = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut row = self.c[0].clone();
        for degree in 1..=n {
            let markov: f64 = row.iter().zip(&b).map(|(c, b)| c * b).sum();
            let next: Vec<f64> = (0..n)
                .map(|j| (0..n).map(|i| row[i] * self.a[i][j]).sum())
                .collect();
            if markov.abs() > MARKOV_REL * size(&row) * size(&b) {
                let mut found = eigenvalues(&reduced(&next, markov)).unwrap_or_default();
                found.sort_by(|p, q| p.0.hypot(p.1).total_cmp(&q.0.hypot(q.1)));
                return found.split_off(degree.min(found.len()));
            }
            row = next;
        }
        Vec::new()
    }

    fn zeros_of_many(&self) -> Vec<(f64, f64)> {
        let (n, m) = (self.states.len(), self.inputs.len());
        let top = (0..n).map(|i| [&self.a[i][..], &self.b[i][..]].concat());
        let bottom = (0..m).map(|i| [&self.c[i][..], &self.d[i][..]].concat());
        let system: Vec<Vec<f64>> = top.chain(bottom).collect();
        let unit: Vec<Vec<f64>> = (0..n + m)
            .map(|i| {
                (0..n + m)
                    .map(|j| f64::from(u8::from(i == j && i < n)))
                    .collect()
            })
            .collect();
        let scale = system.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
        let found = pencil_eigenvalues(&system, &unit).unwrap_or_default();
        (found.into_iter())
            .filter(|((re, im), beta)| beta.abs() > INFINITE_REL * re.hypot(*im) / scale.max(1.0))
            .filter(|(_, beta)| *beta != 0.0)
            .map(|((re, im), beta)| (re / beta, im / beta))
            .collect()
    }

    /// All poles are left of the imaginary axis.
    pub fn is_stable(&self) -> bool {
        self.poles().iter().all(|pole| pole.0 < 0.0)
    }

    /// The transfer function from an input to an output at an angular frequency: C (jωI - A)⁻¹ B + D, as real and imaginary part.
    pub fn response(&self, input: usize, output: usize, omega: f64) -> Option<(f64, f64)> {
        let n = self.states.len();
        // (jωI - A) x = b as a real system of twice the size, column by column.
        let element = |row: usize, column: usize| -> f64 {
            let (i, j) = (row % n, column % n);
            match (row / n == column / n, i == j) {
                (true, _) => -self.a[i][j],
                (false, true) if row < n => -omega,
                (false, true) => omega,
                (false, false) => 0.0,
            }
        };
        let columns: Vec<Vec<f64>> = (0..2 * n)
            .map(|column| (0..2 * n).map(|row| element(row, column)).collect())
            .collect();
        let right: Vec<f64> = (0..2 * n)
            .map(|row| if row < n { self.b[row][input] } else { 0.0 })
            .collect();
        let x = solve(&columns, &right).ok()?;
        let part =
            |half: usize| -> f64 { (0..n).map(|j| self.c[output][j] * x[half * n + j]).sum() };
        Some((part(0) + self.d[output][input], part(1)))
    }
}

/// The fastest growing first, of a pair the one with positive imaginary part.
fn sorted(mut values: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    values.sort_by(|p, q| (q.0.total_cmp(&p.0)).then(q.1.total_cmp(&p.1)));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (s + 3) / ((s + 1)(s + 2)) in companion form, and its parts.
    fn system(c: [f64; 2], d: f64) -> Linearization {
        Linearization {
            time: 0.0,
            states: vec!["x1".into(), "x2".into()],
            inputs: vec!["u".into()],
            outputs: vec!["y".into()],
            a: vec![vec![0.0, 1.0], vec![-2.0, -3.0]],
            b: vec![vec![0.0], vec![1.0]],
            c: vec![c.to_vec()],
            d: vec![vec![d]],
            x: vec![0.0; 2],
            u: vec![0.0],
            y: vec![0.0],
            dx: vec![0.0; 2],
        }
    }

    fn near(found: &[(f64, f64)], expected: &[f64]) -> bool {
        found.len() == expected.len()
            && (found.iter().zip(expected)).all(|(z, e)| (z.0 - e).abs() < 1e-9 && z.1.abs() < 1e-9)
    }

    #[test]
    fn poles_and_zeros_of_a_transfer_function() {
        let system_of = |c, d| system(c, d);
        assert!(near(&system_of([3.0, 1.0], 0.0).poles(), &[-1.0, -2.0]));
        assert!(near(&system_of([3.0, 1.0], 0.0).zeros(), &[-3.0]));
        assert!(near(&system_of([0.0, 1.0], 0.0).zeros(), &[0.0]));
        assert!(near(&system_of([1.0, 0.0], 0.0).zeros(), &[]));
        // 1 - (3s + 2)/((s + 1)(s + 2)) = s²/((s + 1)(s + 2))
        let twice = system_of([-2.0, -3.0], 1.0).zeros();
        assert!(twice.len() == 2 && twice.iter().all(|z| z.0.hypot(z.1) < 1e-6));
    }

    #[test]
    fn the_response_is_that_of_the_formula() {
        let (re, im) = system([3.0, 1.0], 0.0)
            .response(0, 0, 2.0)
            .unwrap_or((0.0, 0.0));
        // (3 + 2j) / ((1 + 2j)(2 + 2j)) = (3 + 2j)(-2 - 6j) / 40
        assert!((re - 6.0 / 40.0).abs() < 1e-12 && (im + 22.0 / 40.0).abs() < 1e-12);
    }
}
