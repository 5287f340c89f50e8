//! The initial system with start values released: more unknowns than equations, or more equations than unknowns (paper 001, sections 4 to 6).
//!
//! Comes in: start values for which the schedule of the initial system found no solution, or one that leaves conditions unmet; the blocks that were
//! not solved or that do not determine their unknowns; the start values to release. Goes out: values that fulfil the whole schedule and all
//! conditions, or a [`Contradiction`].
//!
//! Unknowns z are the released start values and the unknowns of the open blocks; equations F(z) = 0 are the residuals of these blocks and the left minus
//! the right sides of the conditions that the structure has left over. Everything else follows by running the schedule, so F' is a
//! matrix of central difference quotients, and so is D, the derivative of all variables with start values. Each step solves
//!
//! min ‖D s‖ over the s that minimise ‖F' s + F‖,
//!
//! which changes the variables with start values as little as possible; damped by the natural monotonicity test
//! ‖F'⁺F(z + λs)‖ ≤ (1 - λ/4)‖F'⁺F(z)‖ (Deuflhard, 4.4). Limits `min`, `max` (section 6): if a step would take a variable out of its limits, one parallel to
//! the border is taken, D_i s = 0, where the kernel of F' allows it; else the step is shortened to 1 - `BORDER_SHARE` of the way to the border.

use crate::driver::{Accuracy, Driver, Guess, Noted};
use crate::error::{Contradiction, SolveError, Violated};
use crate::linear::min_norm_in_metric;
use crate::scale::{
    CONSISTENT_REL, EPS, RANK_DIFFERENCES_REL, REDUNDANT_REL, STAGNATION_REL, TIGHT_REL,
    nominal_magnitude,
};
use saltus_model::{
    BlockId, InitialConditions, ModelInfo, ScheduleKind, Section, Site, Slot, System, Values,
};

/// Larger systems are left alone: each step runs the schedule twice for each unknown, and works on full matrices.
const UNKNOWNS_MAX: usize = 100;
const ITERATIONS_MAX: u32 = 60;
/// Smallest fraction of a step.
const DAMPING_MIN: f64 = 1e-6;
/// λ of section 6: what is left of the distance to a border that a step would cross.
const BORDER_SHARE: f64 = 0.1;
/// Weight of unknowns without a start value, relative to those with one.
const WEAK: f64 = 1e-4;
/// Shifts of a point at which the schedule cannot be carried out, in units of the nominal values.
const SHIFTS: [f64; 4] = [1e-6, 1e-3, 1.0, -1e-3];

/// The initial values that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Released {
    /// Start values that were not kept: slot, start value, initial value.
    pub moved: Vec<(Slot, f64, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NotReleased {
    /// No point was found, or the system is too large to look for one.
    Unsolved,
    /// The nearest point does not meet all conditions.
    Contradiction(Box<Contradiction>),
}

impl Driver {
    /// Blocks of the initial schedule that do not determine their unknowns.
    pub fn undetermined_initially(&self) -> Vec<BlockId> {
        (self.notes().iter())
            .filter(|note| {
                note.schedule == ScheduleKind::Initial
                    && matches!(note.what, Noted::MinimumNorm { .. })
            })
            .map(|note| note.block)
            .collect()
    }

    /// Solves the initial system from the start values in `values` with `open` blocks solved together and `released` start values changed.
    pub fn solve_released<S: System>(
        &mut self,
        system: &S,
        info: &ModelInfo,
        values: &mut Values,
        open: &[BlockId],
        released: &[Slot],
    ) -> Result<Released, NotReleased> {
        let conditions = system.initial_conditions();
        let mut problem = Problem {
            driver: self,
            system,
            info,
            conditions,
            open: Vec::new(),
            n_released: 0,
            slots: Vec::new(),
            start: values.clone(),
            values: values.clone(),
            with_checks: true,
        };
        for &block in open {
            if !problem.open(block) {
                return Err(NotReleased::Unsolved);
            }
        }
        let found = problem.find(released)?;
        let moved = (found.released.iter())
            .map(|&slot| (slot, values.get(slot), problem.values.get(slot)))
            .filter(|(_, before, after)| before != after)
            .collect();
        *values = problem.values;
        Ok(Released { moved })
    }
}

/// Whether the conditions that the structure has left over hold after the schedule has run.
pub fn checks_hold(conditions: &InitialConditions, values: &Values) -> bool {
    (conditions.checks.iter()).all(|check| holds(values.get(check.left), values.get(check.right)))
}

/// The message about conditions that do not hold although nothing could be changed.
pub fn unmet(conditions: &InitialConditions, values: &Values) -> Contradiction {
    let mut contradiction = Contradiction {
        violated: Vec::new(),
        others: Vec::new(),
        released: Vec::new(),
        unknowns: Vec::new(),
    };
    add_unmet(conditions, values, &mut contradiction);
    contradiction
}

fn add_unmet(conditions: &InitialConditions, values: &Values, into: &mut Contradiction) {
    for check in &conditions.checks {
        let (left, right) = (values.get(check.left), values.get(check.right));
        if holds(left, right) {
            continue;
        }
        into.violated.push(Violated {
            site: check.site,
            sides: Some((left, right)),
            residual: left - right,
        });
        for site in &check.others {
            if !into.others.contains(site) {
                into.others.push(*site);
            }
        }
    }
}

fn holds(left: f64, right: f64) -> bool {
    (left - right).abs() <= REDUNDANT_REL * (1.0 + right.abs())
}

struct Problem<'a, S> {
    driver: &'a mut Driver,
    system: &'a S,
    info: &'a ModelInfo,
    conditions: &'a InitialConditions,
    open: Vec<BlockId>,
    /// The first of the unknowns are released start values.
    n_released: usize,
    slots: Vec<Slot>,
    start: Values,
    /// As the last evaluation left them.
    values: Values,
    /// The conditions left over are among the equations.
    with_checks: bool,
}

/// F and what the steps need at a point.
struct Linearised {
    f: Vec<f64>,
    /// F', column-major.
    jacobian: Vec<f64>,
    /// D without weights, column-major; the first rows are the unknowns themselves.
    sensitivity: Vec<f64>,
    weights: Vec<f64>,
    /// DᵀD with the weights.
    metric: Vec<f64>,
}

impl Linearised {
    /// Row i of the n rows of D.
    fn sensitivity_of(&self, i: usize, n: usize) -> Vec<f64> {
        self.sensitivity
            .iter()
            .skip(i)
            .step_by(n)
            .copied()
            .collect()
    }
}

struct Found {
    released: Vec<Slot>,
}

impl<S: System> Problem<'_, S> {
    fn find(&mut self, released: &[Slot]) -> Result<Found, NotReleased> {
        let mut z = self.first_point(released)?;
        if self.n_rows() == 0 || self.slots.is_empty() && self.conditions.checks.is_empty() {
            return Err(NotReleased::Unsolved);
        }
        self.draw_to_starts(&mut z, true);
        let inside = self.newton(&mut z, true);
        if !inside {
            z = self.guesses();
            self.draw_to_starts(&mut z, false);
            if !self.newton(&mut z, false) {
                return Err(NotReleased::Unsolved);
            }
        }
        if !self.conditions.checks.is_empty() && !self.open.is_empty() {
            // Conditions are met to the digits they were written with; the equations of the model to round-off.
            let all_met = self.contradiction(&z)?.is_none();
            if all_met {
                self.with_checks = false;
                if !self.newton(&mut z, inside) {
                    return Err(NotReleased::Unsolved);
                }
            }
        }
        match self.contradiction(&z)? {
            Some(contradiction) => Err(NotReleased::Contradiction(Box::new(contradiction))),
            None => Ok(Found {
                released: self.slots[..self.n_released].to_vec(),
            }),
        }
    }

    fn open(&mut self, block: BlockId) -> bool {
        let schedule = self.system.schedule(ScheduleKind::Initial);
        let mixed = schedule.contains(&Section::Mixed(block));
        if mixed || self.open.contains(&block) {
            return false;
        }
        self.open.push(block);
        let unknowns = &self.system.block(block).unknowns;
        self.slots.extend(unknowns);
        true
    }

    fn guesses(&self) -> Vec<f64> {
        self.slots.iter().map(|s| self.start.get(*s)).collect()
    }

    fn n_rows(&self) -> usize {
        let open = (self.open.iter()).map(|b| self.system.block(*b).residual_sites.len());
        open.sum::<usize>() + self.conditions.checks.len()
    }

    /// Opens blocks until the schedule can be carried out from the start values, then takes those of the released that matter as unknowns.
    fn first_point(&mut self, released: &[Slot]) -> Result<Vec<f64>, NotReleased> {
        let n_blocks = self.system.schedule(ScheduleKind::Initial).len();
        let mut shifts = SHIFTS.iter();
        for _ in 0..=n_blocks + SHIFTS.len() {
            let z = self.guesses();
            let Err(error) = self.evaluate(&z) else {
                break;
            };
            let block = match &error {
                SolveError::Newton(failure) => Some(failure.block),
                SolveError::Linear(failure) => Some(failure.block),
                _ => None,
            };
            if block.is_some_and(|block| self.open(block)) {
                continue;
            }
            // Perhaps it can beside them.
            let Some(share) = shifts.next() else {
                return Err(NotReleased::Unsolved);
            };
            for slot in released.iter().chain(&self.slots) {
                let moved = self.start.get(*slot) + share * self.nominal(*slot);
                self.start.set(*slot, moved);
            }
        }
        let z = self.guesses();
        let before = self.evaluate(&z).map_err(|_| NotReleased::Unsolved)?;
        let mut unknowns = Vec::new();
        for &slot in released {
            let kept = self.start.get(slot);
            self.start.set(slot, kept + self.increment(slot, kept));
            let after = self.evaluate(&z);
            self.start.set(slot, kept);
            if !after.is_ok_and(|after| after == before) {
                unknowns.push(slot);
            }
        }
        self.n_released = unknowns.len();
        unknowns.append(&mut self.slots);
        self.slots = unknowns;
        if self.slots.len() > UNKNOWNS_MAX || self.n_rows() > 2 * UNKNOWNS_MAX {
            return Err(NotReleased::Unsolved);
        }
        Ok(self.guesses())
    }

    fn nominal(&self, slot: Slot) -> f64 {
        nominal_magnitude(self.info.slots[slot.index()].nominal)
    }

    fn increment(&self, slot: Slot, value: f64) -> f64 {
        EPS.cbrt() * value.abs().max(self.nominal(slot))
    }

    /// F at z; all variables are then in `values`.
    fn evaluate(&mut self, z: &[f64]) -> Result<Vec<f64>, SolveError> {
        self.values.clone_from(&self.start);
        for (slot, z) in self.slots.iter().zip(z) {
            self.values.set(*slot, *z);
        }
        let mut f = Vec::with_capacity(self.n_rows());
        for section in self.system.schedule(ScheduleKind::Initial) {
            match *section {
                Section::Explicit(code) => self.system.run(code, &mut self.values)?,
                Section::Linear(id) | Section::Nonlinear(id) if self.open.contains(&id) => {
                    let from = f.len();
                    f.resize(from + self.system.block(id).residual_sites.len(), 0.0);
                    (self.system).residual(id, &mut self.values, &mut f[from..])?;
                }
                section => self.driver.equations(
                    self.system,
                    ScheduleKind::Initial,
                    section,
                    &mut self.values,
                    Accuracy::Tight,
                    Guess::Current,
                )?,
            }
        }
        if self.with_checks {
            let checks = self.conditions.checks.iter();
            f.extend(checks.map(|c| self.values.get(c.left) - self.values.get(c.right)));
        }
        match f.iter().all(|f| f.is_finite()) {
            true => Ok(f),
            false => Err(SolveError::NonFinite {
                slot: self.slots.first().copied().unwrap_or(Slot::TIME),
            }),
        }
    }

    /// Variables that steps look at: the unknowns, then those with start values.
    fn watched(&self) -> Vec<Slot> {
        let started = self.conditions.started.iter();
        let others = started.filter(|slot| !self.slots.contains(slot));
        self.slots.iter().chain(others).copied().collect()
    }

    fn linearise(&mut self, z: &[f64]) -> Option<Linearised> {
        let f = self.evaluate(z).ok()?;
        let (rows, cols) = (f.len(), z.len());
        let watched = self.watched();
        let weights: Vec<f64> = (watched.iter().enumerate())
            .map(|(k, &slot)| {
                let size = self.start.get(slot).abs().max(self.nominal(slot));
                let started = k >= cols || self.conditions.started.binary_search(&slot).is_ok();
                if started { 1.0 / size } else { WEAK / size }
            })
            .collect();
        let mut jacobian = vec![0.0; rows * cols];
        let mut sensitivity = vec![0.0; watched.len() * cols];
        let mut at = z.to_vec();
        for j in 0..cols {
            let step = self.increment(self.slots[j], z[j]);
            // One-sided where the other side cannot be evaluated.
            let mut ends = [z[j] - step, z[j] + step];
            let mut sides: [Option<(Vec<f64>, Vec<f64>)>; 2] = [None, None];
            for (end, side) in ends.iter_mut().zip(&mut sides) {
                at[j] = *end;
                if let Ok(f) = self.evaluate(&at) {
                    let v = watched.iter().map(|s| self.values.get(*s)).collect();
                    *side = Some((f, v));
                }
            }
            at[j] = z[j];
            for (end, side) in ends.iter_mut().zip(&mut sides) {
                if side.is_none() {
                    let f = self.evaluate(&at).ok()?;
                    let v = watched.iter().map(|s| self.values.get(*s)).collect();
                    (*end, *side) = (z[j], Some((f, v)));
                }
            }
            let [Some((f_left, v_left)), Some((f_right, v_right))] = sides else {
                return None;
            };
            let width = ends[1] - ends[0];
            if width == 0.0 {
                return None;
            }
            for i in 0..rows {
                jacobian[j * rows + i] = (f_right[i] - f_left[i]) / width;
            }
            for i in 0..watched.len() {
                sensitivity[j * watched.len() + i] = (v_right[i] - v_left[i]) / width;
            }
        }
        self.evaluate(z).ok()?;
        let n = watched.len();
        let mut metric = vec![0.0; cols * cols];
        for j in 0..cols {
            for k in 0..cols {
                metric[j * cols + k] = (0..n)
                    .map(|i| {
                        let of = |column: usize| weights[i] * sensitivity[column * n + i];
                        of(j) * of(k)
                    })
                    .sum();
            }
        }
        Some(Linearised {
            f,
            jacobian,
            sensitivity,
            weights,
            metric,
        })
    }

    /// Variables that follow from the unknowns may be far from their start values already. Moves z in the kernel of F' to where the sum of squares
    /// ‖v + D s - v_start‖² is smallest: with s_u = -M⁻¹ Dᵀ(v - v_start) that is the s next to s_u, in the norm of M = DᵀD, with F' s = 0. Variables that
    /// would be outside of their limits then are held near the border.
    fn draw_to_starts(&mut self, z: &mut Vec<f64>, limited: bool) {
        let Some(at) = self.linearise(z) else {
            return;
        };
        let (rows, cols) = (at.f.len(), z.len());
        let watched = self.watched();
        let n = watched.len();
        let values: Vec<f64> = watched.iter().map(|s| self.values.get(*s)).collect();
        let gradient: Vec<f64> = (0..cols)
            .map(|j| {
                let of = |i: usize| {
                    let off = values[i] - self.start.get(watched[i]);
                    -at.weights[i].powi(2) * at.sensitivity[j * n + i] * off
                };
                (0..n).map(of).sum()
            })
            .collect();
        let unit: Vec<f64> = (0..cols * cols)
            .map(|k| if k % (cols + 1) == 0 { 1.0 } else { 0.0 })
            .collect();
        let Some(free) = min_norm_in_metric(&at.metric, cols, cols, &gradient, &unit, EPS) else {
            return;
        };
        let free = free.x;
        let along = |matrix: &[f64], rows: usize, i: usize| -> f64 {
            (0..cols).map(|j| matrix[j * rows + i] * free[j]).sum()
        };
        let image: Vec<f64> = (0..rows).map(|i| along(&at.jacobian, rows, i)).collect();
        let mut held: Vec<(usize, f64)> = Vec::new();
        for _ in 0..=n {
            let back = (held.iter())
                .map(|&(i, target)| {
                    let change = target - values[i] - along(&at.sensitivity, n, i);
                    (at.sensitivity_of(i, n), change)
                })
                .collect::<Vec<_>>();
            let Some(back) = correction(&at, &image, &back) else {
                return;
            };
            let drawn: Vec<f64> = (0..cols).map(|j| z[j] + free[j] + back[j]).collect();
            if self.evaluate(&drawn).is_err() {
                return;
            }
            let outside = (0..n).find_map(|i| {
                let target = self.target_inside(watched[i])?;
                (!held.iter().any(|h| h.0 == i)).then_some((i, target))
            });
            match outside {
                Some(found) if limited => held.push(found),
                _ => {
                    *z = drawn;
                    return;
                }
            }
        }
    }

    /// For a variable outside of its limits whose start value is inside: a value near the border that it has crossed.
    fn target_inside(&self, slot: Slot) -> Option<f64> {
        let info = &self.info.slots[slot.index()];
        let (v, start) = (self.values.get(slot), self.start.get(slot));
        let border = if v < info.min {
            info.min
        } else if v > info.max {
            info.max
        } else {
            return None;
        };
        let inside = start >= info.min && start <= info.max;
        inside.then_some(border + BORDER_SHARE * (start - border))
    }

    /// Newton's iteration from z; true if it came to rest. The equations need not hold there.
    fn newton(&mut self, z: &mut Vec<f64>, limited: bool) -> bool {
        if z.is_empty() {
            return self.evaluate(z).is_ok();
        }
        let mut size_last = f64::INFINITY;
        for _ in 0..ITERATIONS_MAX {
            let Some(at) = self.linearise(z) else {
                return false;
            };
            let Some(plain) = correction(&at, &at.f, &[]) else {
                return false;
            };
            let size = self.size(z, &plain);
            if size <= TIGHT_REL || size <= STAGNATION_REL && size > 0.5 * size_last {
                return true;
            }
            size_last = size;
            let (step, mut lambda) = if limited {
                self.within_limits(&at, &plain)
            } else {
                (plain, 1.0)
            };
            let smallest = DAMPING_MIN * lambda;
            loop {
                let trial: Vec<f64> = z.iter().zip(&step).map(|(z, s)| z + lambda * s).collect();
                let next = (self.evaluate(&trial).ok())
                    .and_then(|f| correction(&at, &f, &[]))
                    .map(|next| self.size(z, &next));
                let accepted =
                    |next: f64| next <= (1.0 - 0.25 * lambda) * size || size <= STAGNATION_REL;
                if next.is_some_and(accepted) {
                    *z = trial;
                    break;
                }
                lambda *= 0.5;
                if lambda < smallest {
                    return false;
                }
            }
        }
        false
    }

    /// Largest component relative to its unknown.
    fn size(&self, z: &[f64], step: &[f64]) -> f64 {
        let relative = |j: usize| step[j].abs() / (z[j].abs() + self.nominal(self.slots[j]));
        (0..z.len()).map(relative).fold(0.0, f64::max)
    }

    /// A step that stays inside the limits, and the fraction of it to try first. `values` are those of the point.
    fn within_limits(&self, at: &Linearised, plain: &[f64]) -> (Vec<f64>, f64) {
        let watched = self.watched();
        let n = watched.len();
        let change = |step: &[f64], i: usize| -> f64 {
            (step.iter().enumerate())
                .map(|(j, s)| at.sensitivity[j * n + i] * s)
                .sum()
        };
        // How far the step may go before variable i has come near its border.
        let way = |step: &[f64], i: usize| -> f64 {
            let slot = &self.info.slots[watched[i].index()];
            let v = self.values.get(watched[i]);
            let d = change(step, i);
            let border = if d < 0.0 { slot.min } else { slot.max };
            let outside = v < slot.min || v > slot.max;
            if outside || !border.is_finite() || (v + d - border) * d <= 0.0 {
                return 1.0;
            }
            (1.0 - BORDER_SHARE) * (border - v) / d
        };
        let mut step = plain.to_vec();
        let mut held: Vec<usize> = Vec::new();
        for _ in 0..n {
            let crossing = (0..n).find(|i| !held.contains(i) && way(&step, *i) < 1.0);
            let Some(i) = crossing else {
                return (step, 1.0);
            };
            held.push(i);
            let rows: Vec<(Vec<f64>, f64)> = (held.iter())
                .map(|&i| (at.sensitivity_of(i, n), 0.0))
                .collect();
            match correction(at, &at.f, &rows) {
                Some(parallel) if serves(at, &parallel, plain) => step = parallel,
                _ => break,
            }
        }
        let fraction = (0..n).map(|i| way(plain, i)).fold(1.0, f64::min);
        (plain.to_vec(), fraction)
    }

    /// What does not hold at a point where the iteration has come to rest.
    fn contradiction(&mut self, z: &[f64]) -> Result<Option<Contradiction>, NotReleased> {
        let f = self.evaluate(z).map_err(|_| NotReleased::Unsolved)?;
        let sizes = self.row_sizes(z, &f);
        let f = self.evaluate(z).map_err(|_| NotReleased::Unsolved)?;
        let mut contradiction = Contradiction {
            violated: Vec::new(),
            others: Vec::new(),
            released: self.slots[..self.n_released].to_vec(),
            unknowns: self.slots.iter().copied().zip(z.iter().copied()).collect(),
        };
        let sites: Vec<Site> = (self.open_in_order().iter())
            .flat_map(|b| &self.system.block(*b).residual_sites)
            .copied()
            .collect();
        for (i, site) in sites.into_iter().enumerate() {
            if f[i].abs() > CONSISTENT_REL * sizes[i] {
                contradiction.violated.push(Violated {
                    site,
                    sides: None,
                    residual: f[i],
                });
            }
        }
        add_unmet(self.conditions, &self.values, &mut contradiction);
        let inner = (self.open.iter()).flat_map(|b| &self.system.block(*b).inner_sites);
        if !contradiction.violated.is_empty() {
            contradiction.others.extend(inner);
            return Ok(Some(contradiction));
        }
        Ok(None)
    }

    /// Open blocks in the order of their equations.
    fn open_in_order(&self) -> Vec<BlockId> {
        (self.system.schedule(ScheduleKind::Initial).iter())
            .filter_map(|section| match section {
                Section::Linear(id) | Section::Nonlinear(id) if self.open.contains(id) => Some(*id),
                _ => None,
            })
            .collect()
    }

    /// Σ_j |∂F_i/∂z_j| (|z_j| + nominal), what F_i is measured by.
    fn row_sizes(&mut self, z: &[f64], f: &[f64]) -> Vec<f64> {
        let rows = f.len();
        let mut sizes = vec![0.0; rows];
        let Some(at) = self.linearise(z) else {
            return sizes;
        };
        for (j, z) in z.iter().enumerate() {
            let size = z.abs() + self.nominal(self.slots[j]);
            for (i, sum) in sizes.iter_mut().enumerate() {
                *sum += at.jacobian[j * rows + i].abs() * size;
            }
        }
        sizes
    }
}

/// The s of least ‖D s‖ among those that minimise ‖F' s + f‖, with rows of D added whose change is given.
fn correction(at: &Linearised, f: &[f64], held: &[(Vec<f64>, f64)]) -> Option<Vec<f64>> {
    let (rows, cols) = (f.len(), at.jacobian.len() / f.len().max(1));
    let all = rows + held.len();
    let mut a = vec![0.0; all * cols];
    for j in 0..cols {
        a[j * all..j * all + rows].copy_from_slice(&at.jacobian[j * rows..(j + 1) * rows]);
        for (k, (row, _)) in held.iter().enumerate() {
            a[j * all + rows + k] = row[j];
        }
    }
    let given = held.iter().map(|(_, change)| *change);
    let b: Vec<f64> = f.iter().map(|f| -f).chain(given).collect();
    let found = min_norm_in_metric(&a, all, cols, &b, &at.metric, RANK_DIFFERENCES_REL)?;
    Some(found.x)
}

/// Whether a step along borders does for the equations what the step without them does.
fn serves(at: &Linearised, parallel: &[f64], plain: &[f64]) -> bool {
    let rows = at.f.len();
    (0..rows).all(|i| {
        let along = |step: &[f64]| -> f64 {
            (step.iter().enumerate())
                .map(|(j, s)| at.jacobian[j * rows + i] * s)
                .sum()
        };
        (along(parallel) - along(plain)).abs() <= CONSISTENT_REL.sqrt() * at.f[i].abs()
    })
}
