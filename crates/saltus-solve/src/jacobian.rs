//! dF/dx of the form F(t, x, x') = x' - f(t, x) by differences.
//!
//! Comes in: a [`Problem`], a point, the direction of motion there, nominal values. Goes out: the matrix -df/dx, column-major.
//! Columns that share no row are perturbed together (Curtis, Powell, Reid 1974), each by √ε of its size in the direction of
//! motion, and the other way if the model cannot be evaluated there.

use crate::error::SolveError;
use crate::integrator::{IntegratorStatistics, Problem};
use crate::scale::EPS;

/// A state below this fraction of its nominal value is perturbed as if it were that large.
const PERTURBATION_FLOOR: f64 = 1e-2;

#[derive(Debug)]
pub(crate) struct DifferenceJacobian {
    /// dF/dx, column-major.
    values: Vec<f64>,
    /// Made at the first use: the pattern of a problem does not change.
    groups: Option<Vec<Vec<u32>>>,
    base: Vec<f64>,
    point: Vec<f64>,
    slopes: Vec<f64>,
}

impl DifferenceJacobian {
    pub(crate) fn new(n: usize) -> DifferenceJacobian {
        DifferenceJacobian {
            values: vec![0.0; n * n],
            groups: None,
            base: vec![0.0; n],
            point: vec![0.0; n],
            slopes: vec![0.0; n],
        }
    }

    /// The matrix of the last update, column-major.
    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Evaluates at (t, x); `dx` gives the direction of motion.
    pub(crate) fn update<P: Problem>(
        &mut self,
        problem: &mut P,
        t: f64,
        x: &[f64],
        dx: &[f64],
        nominal: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        let n = x.len();
        statistics.jacobians += 1;
        let groups = self
            .groups
            .get_or_insert_with(|| column_groups(problem.pattern(), n));
        problem.derivatives_precise(t, x, &mut self.base)?;
        statistics.rhs_evaluations += 1 + groups.len() as u64;
        self.values.fill(0.0);
        for group in groups {
            let mut sign = 1.0;
            loop {
                self.point.copy_from_slice(x);
                for &column in group.iter() {
                    let j = column as usize;
                    let delta = EPS.sqrt() * x[j].abs().max(PERTURBATION_FLOOR * nominal[j]);
                    let towards = if dx[j] < 0.0 { -sign } else { sign };
                    self.point[j] += towards * delta;
                }
                match problem.derivatives_precise(t, &self.point, &mut self.slopes) {
                    Ok(()) => break,
                    Err(error) if error.recoverable() && sign > 0.0 => sign = -1.0,
                    Err(error) => return Err(error),
                }
            }
            for &column in group.iter() {
                let j = column as usize;
                let delta = self.point[j] - x[j];
                let mut entry =
                    |i: usize| self.values[j * n + i] = -(self.slopes[i] - self.base[i]) / delta;
                match problem.pattern() {
                    Some(pattern) => pattern[j].iter().for_each(|&row| entry(row as usize)),
                    None => (0..n).for_each(&mut entry),
                }
            }
        }
        Ok(())
    }
}

/// Columns that share no row, greedily in order (Curtis, Powell, Reid 1974); one group per column if the pattern is unknown.
fn column_groups(pattern: Option<&[Vec<u32>]>, n: usize) -> Vec<Vec<u32>> {
    let Some(pattern) = pattern else {
        return (0..n as u32).map(|column| vec![column]).collect();
    };
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut used: Vec<Vec<bool>> = Vec::new();
    for (column, rows) in pattern.iter().enumerate() {
        let fits = used
            .iter()
            .position(|used| rows.iter().all(|&row| !used[row as usize]));
        let group = fits.unwrap_or_else(|| {
            groups.push(Vec::new());
            used.push(vec![false; n]);
            groups.len() - 1
        });
        groups[group].push(column as u32);
        for &row in rows {
            used[group][row as usize] = true;
        }
    }
    groups
}
