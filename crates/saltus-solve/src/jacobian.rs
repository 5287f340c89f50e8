//! The matrix of implicit methods, F_x + α F_x', of F(t, x, x') = 0.
//!
//! Comes in: a [`Problem`], a point, the direction of motion there, nominal values. Goes out: F_x and F_x' on one pattern, which
//! holds the diagonal, and the factors of their combination. The explicit form F = x' - f(t, x) has F_x' = I. A problem may
//! give the matrices; else they are made by differences: columns that share no row are perturbed together (Curtis, Powell, Reid,
//! J. Inst. Math. Appl. 13 (1974) 117; coloured greedily in the order of the columns), each by √ε of its size in the
//! direction of motion, and the other way if the model cannot be evaluated there.
//!
//! Where the derivatives depend on algebraic unknowns y by g(t, x, y) = 0 that couple all states, F_x is full. A problem may then give the
//! sparse matrices of f(t, x, y) and g instead. (αI - f_x, -f_y; g_x, g_y) (δ, η) = (r, 0) has the same δ as the matrix of the
//! states alone, its Schur complement: y is an unknown of the linear systems only.

use crate::control::all_finite;
use crate::error::SolveError;
use crate::integrator::{Form, IntegratorStatistics, Problem};
use crate::linear::{Lu, Pattern, Scalar};
use crate::scale::EPS;
use saltus_model::colour_columns;

/// A state below this fraction of its nominal value is perturbed as if it were that large.
const PERTURBATION_FLOOR: f64 = 1e-2;

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Jacobian {
    /// Made at the first use: form and pattern of a problem do not change.
    structure: Option<Structure>,
    /// F_x on the pattern.
    values: Vec<f64>,
    /// F_x' on the pattern; empty for the explicit form.
    rates: Vec<f64>,
    base: Vec<f64>,
    point: Vec<f64>,
    changed: Vec<f64>,
    /// The problem's own matrix, in the order of its pattern.
    given: Vec<f64>,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Structure {
    form: Form,
    pattern: Pattern,
    /// Places of the diagonal.
    diagonal: Vec<u32>,
    /// Place of each entry of the problem's own pattern.
    places: Vec<u32>,
    groups: Groups,
    /// Number of states if the matrix has algebraic unknowns behind them.
    states_of_dae: Option<usize>,
}

impl Structure {
    fn new<P: Problem + ?Sized>(problem: &P, n: usize) -> Structure {
        let pattern = match problem.pattern() {
            Some(columns) => Pattern::with_diagonal(columns),
            None => Pattern::full(n),
        };
        let place = |row: u32, column: usize| -> u32 {
            let place = pattern.place(row, column);
            place.expect("the pattern holds the diagonal and the problem's entries") as u32
        };
        let places = match problem.pattern() {
            Some(columns) => (columns.iter().enumerate())
                .flat_map(|(j, rows)| rows.iter().map(move |row| (*row, j)))
                .map(|(row, j)| place(row, j))
                .collect(),
            None => (0..pattern.len() as u32).collect(),
        };
        Structure {
            form: problem.form(),
            diagonal: (0..n).map(|j| place(j as u32, j)).collect(),
            places,
            groups: Groups::new(&pattern),
            pattern,
            states_of_dae: None,
        }
    }

    /// With algebraic unknowns.
    fn of_dae<P: Problem + ?Sized>(problem: &P, n: usize) -> Option<Structure> {
        let columns = problem.dae_pattern()?;
        let pattern = Pattern::with_diagonal(columns);
        let place = |row: u32, column: usize| pattern.place(row, column).map(|p| p as u32);
        let entries = (columns.iter().enumerate())
            .flat_map(|(j, rows)| rows.iter().map(move |row| (*row, j)));
        let places = entries
            .map(|(row, j)| place(row, j))
            .collect::<Option<_>>()?;
        let diagonal = (0..n).map(|j| place(j as u32, j)).collect::<Option<_>>()?;
        Some(Structure {
            form: Form::Explicit,
            diagonal,
            places,
            groups: Groups::none(),
            pattern,
            states_of_dae: Some(n),
        })
    }
}

impl Jacobian {
    /// Evaluates at (t, x, dx).
    pub(crate) fn update<P: Problem + ?Sized>(
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
        if self.by_dae(problem, t, x)? {
            return Ok(());
        }
        if self.structure.is_none() {
            let structure = Structure::new(problem, n);
            self.values = vec![0.0; structure.pattern.len()];
            if structure.form == Form::Implicit {
                self.rates = vec![0.0; structure.pattern.len()];
            }
            self.given = vec![0.0; structure.places.len()];
            self.base = vec![0.0; n];
            self.point = vec![0.0; n];
            self.changed = vec![0.0; n];
            self.structure = Some(structure);
        }
        if !self.given_by(problem, t, x, dx)? {
            self.by_differences(problem, t, x, dx, nominal, statistics)?;
        }
        Ok(())
    }

    /// Takes the matrix of the DAE form; false if the problem has none. One that is not known at this point is left as it was.
    fn by_dae<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        t: f64,
        x: &[f64],
    ) -> Result<bool, SolveError> {
        let first = self.structure.is_none();
        if first && let Some(structure) = Structure::of_dae(problem, x.len()) {
            self.values = vec![0.0; structure.pattern.len()];
            self.given = vec![0.0; structure.places.len()];
            self.structure = Some(structure);
        }
        let Some(Structure {
            states_of_dae: Some(n),
            pattern,
            places,
            ..
        }) = &self.structure
        else {
            return Ok(false);
        };
        if !problem.dae_jacobian(t, x, &mut self.given)? {
            if first {
                self.structure = None;
            }
            return Ok(!first);
        }
        self.values.fill(0.0);
        for (place, value) in places.iter().zip(&self.given) {
            self.values[*place as usize] = *value;
        }
        for j in 0..pattern.n() {
            let entries = pattern
                .rows(j)
                .iter()
                .zip(&mut self.values[pattern.column(j)]);
            let of_states = entries.filter(|(row, _)| (**row as usize) < *n);
            of_states.for_each(|(_, value)| *value = -*value);
        }
        Ok(true)
    }

    /// v := F_x' v
    pub(crate) fn times_rate(&mut self, v: &mut [f64]) {
        let Some(Structure {
            form: Form::Implicit,
            pattern,
            ..
        }) = &self.structure
        else {
            return;
        };
        self.changed.fill(0.0);
        for (j, v) in v.iter().enumerate() {
            for (row, rate) in pattern.rows(j).iter().zip(&self.rates[pattern.column(j)]) {
                self.changed[*row as usize] += rate * v;
            }
        }
        v.copy_from_slice(&self.changed);
    }

    /// max_i Σ_j |df_i/dx_j| w_j/w_i: a bound of all eigenvalues, in the norm of the weights. Infinite for the implicit form and
    /// with algebraic unknowns, where df/dx is not known.
    pub(crate) fn norm(&self, weights: &[f64], sums: &mut [f64]) -> f64 {
        let Some(Structure {
            form: Form::Explicit,
            pattern,
            states_of_dae: None,
            ..
        }) = &self.structure
        else {
            return f64::INFINITY;
        };
        sums.fill(0.0);
        for (j, weight) in weights.iter().enumerate() {
            for (row, value) in pattern.rows(j).iter().zip(&self.values[pattern.column(j)]) {
                let i = *row as usize;
                sums[i] += value.abs() * weight / weights[i];
            }
        }
        sums.iter().fold(0.0, |largest, sum| largest.max(*sum))
    }

    /// Takes the problem's own matrices; false if it has none.
    fn given_by<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        t: f64,
        x: &[f64],
        dx: &[f64],
    ) -> Result<bool, SolveError> {
        let Some(structure) = &self.structure else {
            return Ok(false);
        };
        if !problem.jacobian(t, x, dx, &mut self.given)? {
            return Ok(false);
        }
        self.values.fill(0.0);
        for (place, value) in structure.places.iter().zip(&self.given) {
            self.values[*place as usize] = *value;
        }
        if structure.form == Form::Implicit {
            if !problem.jacobian_rate(t, x, dx, &mut self.given)? {
                return Ok(false);
            }
            self.rates.fill(0.0);
            for (place, value) in structure.places.iter().zip(&self.given) {
                self.rates[*place as usize] = *value;
            }
        }
        Ok(true)
    }

    fn by_differences<P: Problem + ?Sized>(
        &mut self,
        problem: &mut P,
        t: f64,
        x: &[f64],
        dx: &[f64],
        nominal: &[f64],
        statistics: &mut IntegratorStatistics,
    ) -> Result<(), SolveError> {
        let Some(structure) = &self.structure else {
            return Ok(());
        };
        let (pattern, groups) = (&structure.pattern, &structure.groups);
        let delta_of = |j: usize| EPS.sqrt() * x[j].abs().max(PERTURBATION_FLOOR * nominal[j]);
        match structure.form {
            Form::Explicit => {
                problem.derivatives_precise(t, x, &mut self.base)?;
                all_finite(&self.base)?;
                statistics.rhs_evaluations += 1 + groups.len() as u64;
                difference(
                    pattern,
                    groups,
                    x,
                    |j| {
                        if dx[j] < 0.0 {
                            -delta_of(j)
                        } else {
                            delta_of(j)
                        }
                    },
                    -1.0,
                    &self.base,
                    &mut self.point,
                    &mut self.changed,
                    &mut self.values,
                    |point, out| problem.derivatives_precise(t, point, out),
                )
            }
            Form::Implicit => {
                problem.residual(t, x, dx, &mut self.base)?;
                statistics.rhs_evaluations += 1 + 2 * groups.len() as u64;
                difference(
                    pattern,
                    groups,
                    x,
                    |j| {
                        if dx[j] < 0.0 {
                            -delta_of(j)
                        } else {
                            delta_of(j)
                        }
                    },
                    1.0,
                    &self.base,
                    &mut self.point,
                    &mut self.changed,
                    &mut self.values,
                    |point, out| problem.residual(t, point, dx, out),
                )?;
                difference(
                    pattern,
                    groups,
                    dx,
                    |j| EPS.sqrt() * dx[j].abs().max(nominal[j]),
                    1.0,
                    &self.base,
                    &mut self.point,
                    &mut self.changed,
                    &mut self.rates,
                    |point, out| problem.residual(t, x, point, out),
                )
            }
        }
    }
}

/// The quotients (function(point + δ) - base)/δ · `sign` for every group of columns.
#[expect(
    clippy::too_many_arguments,
    reason = "one formula for both matrices, with its work space"
)]
fn difference(
    pattern: &Pattern,
    groups: &Groups,
    at: &[f64],
    delta_of: impl Fn(usize) -> f64,
    sign: f64,
    base: &[f64],
    point: &mut [f64],
    changed: &mut [f64],
    values: &mut [f64],
    mut function: impl FnMut(&[f64], &mut [f64]) -> Result<(), SolveError>,
) -> Result<(), SolveError> {
    point.copy_from_slice(at);
    for group in (0..groups.len()).map(|group| groups.group(group)) {
        let mut way = 1.0;
        loop {
            for &column in group {
                let j = column as usize;
                point[j] = at[j] + way * delta_of(j);
            }
            match function(point, changed) {
                Ok(()) => break,
                Err(error) if error.recoverable() && way > 0.0 => way = -1.0,
                Err(error) => return Err(error),
            }
        }
        for &column in group {
            let j = column as usize;
            let factor = sign / (point[j] - at[j]);
            point[j] = at[j];
            for (row, value) in pattern.rows(j).iter().zip(&mut values[pattern.column(j)]) {
                let i = *row as usize;
                *value = (changed[i] - base[i]) * factor;
            }
        }
    }
    Ok(())
}

/// Columns that share no row, together.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Groups {
    starts: Vec<u32>,
    columns: Vec<u32>,
}

impl Groups {
    fn none() -> Groups {
        Groups {
            starts: vec![0],
            columns: Vec::new(),
        }
    }

    pub(crate) fn new(pattern: &Pattern) -> Groups {
        let n = pattern.n();
        if pattern.is_full() {
            return Groups {
                starts: (0..=n as u32).collect(),
                columns: (0..n as u32).collect(),
            };
        }
        let (colour, n_colours) = colour_columns(n, n, |j| pattern.rows(j));
        let mut sizes = vec![0u32; n_colours];
        colour.iter().for_each(|c| sizes[*c as usize] += 1);
        let mut starts = vec![0u32];
        for size in &sizes {
            starts.push(starts[starts.len() - 1] + size);
        }
        let mut next = starts.clone();
        let mut columns = vec![0; n];
        for (j, colour) in colour.iter().enumerate() {
            let place = &mut next[*colour as usize];
            columns[*place as usize] = j as u32;
            *place += 1;
        }
        Groups { starts, columns }
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn group(&self, group: usize) -> &[u32] {
        &self.columns[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}

/// F_x + α F_x' and its factors.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct IterationMatrix<T> {
    values: Vec<T>,
    /// Made with the first matrix.
    lu: Option<Lu<T>>,
    /// A right-hand side with the algebraic unknowns; empty if there are none.
    extended: Vec<T>,
}

impl<T: Scalar> IterationMatrix<T> {
    pub(crate) fn new() -> IterationMatrix<T> {
        IterationMatrix {
            values: Vec::new(),
            lu: None,
            extended: Vec::new(),
        }
    }

    /// Factorises for this α. False if the matrix is singular or the Jacobian was never evaluated.
    pub(crate) fn factor(&mut self, jacobian: &Jacobian, alpha: T) -> bool {
        let Some(structure) = &jacobian.structure else {
            return false;
        };
        self.values.clear();
        match structure.form {
            Form::Explicit => {
                (self.values).extend(jacobian.values.iter().map(|v| T::from_real(*v)));
                for place in &structure.diagonal {
                    let value = &mut self.values[*place as usize];
                    *value = *value + alpha;
                }
            }
            Form::Implicit => {
                let both = jacobian.values.iter().zip(&jacobian.rates);
                (self.values)
                    .extend(both.map(|(value, rate)| T::from_real(*value) + alpha.scaled(*rate)));
            }
        }
        if structure.states_of_dae.is_some() {
            self.extended
                .resize(structure.pattern.n(), T::from_real(0.0));
        }
        self.lu
            .get_or_insert_with(|| Lu::new(&structure.pattern))
            .factor(&self.values)
    }

    /// Replaces `b` by the solution with the last factors.
    pub(crate) fn solve(&mut self, b: &mut [T]) {
        let Some(lu) = &mut self.lu else { return };
        if self.extended.is_empty() {
            lu.solve(b);
            return;
        }
        let (states, unknowns) = self.extended.split_at_mut(b.len());
        states.copy_from_slice(b);
        unknowns.fill(T::from_real(0.0));
        lu.solve(&mut self.extended);
        b.copy_from_slice(&self.extended[..b.len()]);
    }
}
