//! One block of equations: r(u) = 0 for its unknowns u, linear or not.
//!
//! Comes in: a block of a system with a guess in the value array. Goes out: the unknowns and everything the block determines in
//! the value array, or a [`SolveError`] with the last iterate and its residuals.
//!
//! Nonlinear blocks: damped Newton with the natural monotonicity test of Deuflhard (Newton Methods for Nonlinear Problems,
//! 3.3): a step λΔ is taken if ‖J⁻¹ r(u + λΔ)‖ ≤ (1 - λ/4) ‖J⁻¹ r(u)‖, so neither the scaling of the residuals nor that of
//! the unknowns matters; norms are maxima over Δ/(tolerance·(|u| + nominal)). Limits `min`, `max` hold the iterates inside if
//! the guess is; if no solution is found inside, the iteration is repeated without them (they are assertions, not
//! equations). Linear blocks: one solve and refinement; where the matrix is singular, the minimum-norm solution if consistent.

mod growth;

use crate::error::{LinearFailure, LinearReason, NewtonFailure, NewtonReason, SolveError};
use crate::jacobian::Groups;
use crate::linear::{Lu, MinNorm, Pattern, min_norm};
use crate::scale::{
    BLOCK_FRACTION, CONSISTENT_REL, EPS, RANK_ULPS, STAGNATION_REL, TIGHT_REL, Tolerances,
    nominal_magnitude,
};
use saltus_model::{BlockId, BlockInfo, ModelInfo, ScheduleKind, Slot, SlotInfo, System, Values};

/// Iterations of one Newton attempt.
const ITERATIONS_MAX: u32 = 60;
/// Smallest fraction of a Newton step, …
const DAMPING_MIN: f64 = 1e-6;
/// … or, where that is less, the fraction that moves some unknown by this part of (|u| + nominal). Where the matrix is nearly singular (a node
/// between transistors that do not conduct, with 1e-12 S to ground) the step is 1e8 times as long as the way to the solution.
const DAMPED_STEP_MIN: f64 = 1e-3;
/// A kept factorisation is used as long as each correction is at most this fraction of the one before.
const REUSE_RATE_MAX: f64 = 0.1;
/// Corrections with a kept factorisation.
const REUSE_ITERATIONS_MAX: u32 = 5;
/// Shifts of a guess at which the equations cannot be evaluated, in units of the nominal values.
const GUESS_SHIFTS: [f64; 4] = [1e-6, 1e-3, 1.0, -1e-3];
/// A guess below this says nothing about the size of its unknown: it may be the round-off of an earlier solution.
const GUESS_SIZE_MIN: f64 = 1e-12;
/// A correction this far below the tolerance of a trial point ends the iteration. A larger one has to be below the tolerance with the Jacobian of the
/// new iterate as well: at a kink the one before may be steep and see no distance.
const SURE: f64 = 1e-6;
/// Distances at which another solution is looked for, in units of (|u| + nominal): from 2^-10 to 2^20.
const SEARCH_EXPONENTS: std::ops::RangeInclusive<i32> = -10..=20;
/// A solution closer than this to the end of a branch is the end itself.
const OTHER_REL: f64 = 1e-6;
/// Parts of a Newton step at which round-off of the residuals is measured.
const MEASURED_PARTS: [f64; 3] = [1.0, 0.5, 0.25];
/// A residual is round-off if it is at most so many times what floating-point numbers add to it.
const ROUND_OFF_FACTOR: f64 = 4.0;
/// Refinements of a linear solve.
const REFINEMENTS_MAX: u32 = 3;
/// Above this size a singular block is an error: the dense orthogonal decomposition behind the minimum-norm solution takes n³ time.
const MIN_NORM_MAX: usize = 1000;

/// How accurately a block is solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accuracy {
    /// To a fraction of the integrator's weights.
    Trial,
    /// To round-off, as far as the block allows.
    Tight,
}

/// How much is tried before a nonlinear block counts as one without a solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Effort {
    /// Guesses along the Newton step and beside the first one as well; of mixed blocks a systematic search, and whether there is another solution.
    Full,
    /// From the guess and from nowhere else: for points that are tried and given up for others (steps of a homotopy, sets of discrete values one of
    /// many).
    Once,
}

/// Work done in blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Counters {
    pub residuals: u64,
    pub jacobians: u64,
    pub factorizations: u64,
    pub newton_iterations: u64,
}

/// Storage of one block, allocated at mode entry.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct BlockWork {
    /// Unknowns at the last accepted point.
    pub(crate) accepted: Vec<f64>,
    /// Its time, and how fast the unknowns move there: 0 where that is not known.
    pub(crate) accepted_time: f64,
    pub(crate) accepted_rates: Vec<f64>,
    pub(crate) start: Vec<f64>,
    u: Vec<f64>,
    trial: Vec<f64>,
    residual: Vec<f64>,
    residual_trial: Vec<f64>,
    step: Vec<f64>,
    correction: Vec<f64>,
    pattern: Pattern,
    groups: Groups,
    /// On the pattern.
    jacobian: Vec<f64>,
    /// The matrix of the current factors, to skip a factorisation when nothing changed.
    factored: Vec<f64>,
    lu: Lu<f64>,
    factors: Factors,
    nominal: Vec<f64>,
    /// Nominal values of all that a mixed block determines.
    pub(crate) nominal_determined: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
    pub(crate) discrete: Vec<f64>,
    pub(crate) discrete_next: Vec<f64>,
    pub(crate) visited: Vec<f64>,
    watched: growth::Watched,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
enum Factors {
    None,
    Regular,
    Singular,
}

impl BlockWork {
    pub(crate) fn new(block: &BlockInfo, info: &ModelInfo) -> BlockWork {
        let n = block.unknowns.len();
        let of_all = |slots: &[Slot], of: fn(&SlotInfo) -> f64| -> Vec<f64> {
            (slots.iter().map(|slot| of(&info.slots[slot.index()]))).collect()
        };
        let attribute = |of: fn(&SlotInfo) -> f64| of_all(&block.unknowns, of);
        let nominal = |slot: &SlotInfo| nominal_magnitude(slot.nominal);
        let is_mixed = !block.discrete.is_empty();
        let determined = if is_mixed { &block.determines[..] } else { &[] };
        let pattern = match &block.pattern {
            Some(columns) => Pattern::from_columns(columns),
            None => Pattern::full(n),
        };
        BlockWork {
            accepted: vec![0.0; n],
            accepted_time: 0.0,
            accepted_rates: vec![0.0; n],
            start: vec![0.0; n],
            u: vec![0.0; n],
            trial: vec![0.0; n],
            residual: vec![0.0; n],
            residual_trial: vec![0.0; n],
            step: vec![0.0; n],
            correction: vec![0.0; n],
            jacobian: vec![0.0; pattern.len()],
            factored: vec![0.0; pattern.len()],
            lu: Lu::new(&pattern),
            groups: Groups::new(&pattern),
            pattern,
            factors: Factors::None,
            nominal: attribute(nominal),
            nominal_determined: of_all(determined, nominal),
            min: attribute(|s| s.min),
            max: attribute(|s| s.max),
            discrete: vec![0.0; block.discrete.len()],
            discrete_next: vec![0.0; block.discrete.len()],
            visited: Vec::new(),
            watched: growth::Watched::new(block, info, nominal_magnitude),
        }
    }

    /// Σ_j |a_ij| size(j) for every row of the Jacobian.
    fn row_sums(&self, size: impl Fn(usize) -> f64) -> Vec<f64> {
        let n = self.u.len();
        let mut sums = vec![0.0; n];
        for j in 0..n {
            let size = size(j);
            for (row, place) in self.pattern.rows(j).iter().zip(self.pattern.column(j)) {
                sums[*row as usize] += (self.jacobian[place] * size).abs();
            }
        }
        sums
    }

    /// Minimum-norm solution with the Jacobian; `None` if it is not finite or too large.
    fn min_norm(&self, b: &[f64]) -> Option<MinNorm> {
        let n = self.u.len();
        if self.pattern.is_full() {
            return min_norm(&self.jacobian, n, n, b, &self.nominal);
        }
        if n > MIN_NORM_MAX {
            return None;
        }
        let mut dense = vec![0.0; n * n];
        for j in 0..n {
            for (row, place) in self.pattern.rows(j).iter().zip(self.pattern.column(j)) {
                dense[j * n + *row as usize] = self.jacobian[place];
            }
        }
        min_norm(&dense, n, n, b, &self.nominal)
    }

    /// The part of a unit vector, one nominal value long, in the kernel of the Jacobian.
    pub(crate) fn kernel_part(&self, unit: usize) -> Option<Vec<f64>> {
        let mut image = vec![0.0; self.u.len()];
        for (row, place) in (self.pattern.rows(unit).iter()).zip(self.pattern.column(unit)) {
            image[*row as usize] = self.jacobian[place] * self.nominal[unit];
        }
        let mut part: Vec<f64> = self.min_norm(&image)?.x.iter().map(|x| -x).collect();
        part[unit] += self.nominal[unit];
        Some(part)
    }

    /// The unknowns as the block was solved last.
    pub(crate) fn solution(&self) -> &[f64] {
        &self.u
    }

    pub(crate) fn nominals(&self) -> &[f64] {
        &self.nominal
    }

    /// Factors of an earlier point are not to be used again (after an event the equations may be others).
    pub(crate) fn forget_factors(&mut self) {
        self.factors = Factors::None;
    }
}

/// A block being solved: what every routine below needs.
pub(crate) struct BlockSolve<'a, S> {
    pub(crate) system: &'a S,
    pub(crate) schedule: ScheduleKind,
    pub(crate) block: BlockId,
    pub(crate) info: &'a BlockInfo,
    pub(crate) work: &'a mut BlockWork,
    pub(crate) values: &'a mut Values,
    pub(crate) counters: &'a mut Counters,
    pub(crate) accuracy: Accuracy,
    pub(crate) effort: Effort,
    pub(crate) tolerances: Tolerances,
}

/// How a block was solved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Solved {
    Regular,
    /// Rank-deficient and consistent: the minimum-norm solution was taken.
    MinimumNorm {
        rank: usize,
    },
}

impl<S: System> BlockSolve<'_, S> {
    /// Solves for the Real unknowns from the values in the array.
    pub(crate) fn solve(&mut self) -> Result<Solved, SolveError> {
        if self.info.unknowns.is_empty() {
            self.counters.residuals += 1;
            self.system.residual(self.block, self.values, &mut [])?;
            return Ok(Solved::Regular);
        }
        if self.info.linear && self.system.solve_directly(self.block, self.values)? {
            return Ok(Solved::Regular);
        }
        for (u, slot) in self.work.u.iter_mut().zip(&self.info.unknowns) {
            *u = self.values.get(*slot);
        }
        if self.info.linear {
            self.linear()
        } else {
            self.nonlinear()
        }
    }

    // --- linear -----------------------------------------------------------------------------------------------------

    fn linear(&mut self) -> Result<Solved, SolveError> {
        // Always from zero and always to round-off: the same matrix and right side give the same bits, whoever asks. An event
        // that was located on this solution then finds its relation flipped when the event system solves the block again.
        self.work.u.fill(0.0);
        let asked = std::mem::replace(&mut self.accuracy, Accuracy::Tight);
        let solved = self.linear_from_zero();
        self.accuracy = asked;
        solved
    }

    fn linear_from_zero(&mut self) -> Result<Solved, SolveError> {
        self.residual_at_u()?;
        let between_events = !matches!(self.schedule, ScheduleKind::Event | ScheduleKind::Initial);
        let keep = self.info.constant && between_events && self.work.factors == Factors::Regular;
        if !keep {
            self.jacobian(|nominal, _| nominal)?;
            self.factor();
        }
        if self.work.factors == Factors::Singular {
            return self.linear_singular();
        }
        let mut size_last = f64::INFINITY;
        for _ in 0..=REFINEMENTS_MAX {
            self.newton_step();
            for (u, step) in self.work.u.iter_mut().zip(&self.work.step) {
                *u += step;
            }
            self.residual_at_u()?;
            self.work.correction.copy_from_slice(&self.work.residual);
            self.work.lu.solve(&mut self.work.correction);
            let size = self.norm_of(|w| &w.correction);
            if size <= 1.0 {
                return Ok(Solved::Regular);
            }
            if size > 0.5 * size_last {
                break;
            }
            size_last = size;
        }
        if self.relative_size(|w| &w.correction) <= STAGNATION_REL.sqrt() {
            return Ok(Solved::Regular);
        }
        Err(self.linear_failure(self.info.unknowns.len()))
    }

    /// Minimum-norm solution of a rank-deficient block, from the residual at u = 0.
    fn linear_singular(&mut self) -> Result<Solved, SolveError> {
        let n = self.info.unknowns.len();
        self.work.u.fill(0.0);
        self.residual_at_u()?;
        let rhs: Vec<f64> = self.work.residual.iter().map(|r| -r).collect();
        let Some(solution) = self.work.min_norm(&rhs) else {
            return Err(self.linear_failure(0));
        };
        self.work.u.copy_from_slice(&solution.x);
        self.residual_at_u()?;
        let terms = self.work.row_sums(|j| solution.x[j]);
        let rows = self.work.row_sums(|j| self.work.nominal[j]);
        // A right side that is zero but for the round-off of what the inner assignments have added up to it. The largest quantity may have another
        // unit than the row, so it is no excuse for more than is small beside the smallest of the unknowns.
        let smallest = self
            .work
            .nominal
            .iter()
            .fold(f64::INFINITY, |a, b| a.min(*b));
        let round_off = RANK_ULPS * n as f64 * EPS * self.largest_determined();
        let of_others = round_off.min(CONSISTENT_REL * smallest);
        let consistent = (0..n).all(|i| {
            let of_terms = CONSISTENT_REL * (terms[i] + rhs[i].abs()).max(EPS * rows[i]);
            self.work.residual[i].abs() <= of_terms.max(of_others)
        });
        if consistent {
            Ok(Solved::MinimumNorm {
                rank: solution.rank,
            })
        } else {
            Err(self.linear_failure(solution.rank))
        }
    }

    /// Magnitude of the largest quantity of the block, inner ones included.
    fn largest_determined(&self) -> f64 {
        (self.info.determines.iter()).fold(0.0, |largest: f64, slot| {
            largest.max(self.values.get(*slot).abs())
        })
    }

    fn linear_failure(&self, rank: usize) -> SolveError {
        self.linear_failure_for(LinearReason::Rank(rank))
    }

    fn amplified(&self, slot: Slot) -> SolveError {
        self.linear_failure_for(LinearReason::Amplified(slot))
    }

    fn linear_failure_for(&self, reason: LinearReason) -> SolveError {
        SolveError::Linear(Box::new(LinearFailure {
            schedule: self.schedule,
            block: self.block,
            reason,
            unknowns: self.unknowns_now(),
            residuals: self.residuals_now(),
            inner: self.info.inner_sites.clone(),
        }))
    }

    // --- nonlinear --------------------------------------------------------------------------------------------------

    fn nonlinear(&mut self) -> Result<Solved, SolveError> {
        if let Some(bad) = self.work.u.iter().position(|u| !u.is_finite()) {
            return Err(SolveError::NonFinite {
                slot: self.info.unknowns[bad],
            });
        }
        self.work.start.copy_from_slice(&self.work.u);
        if self.accuracy == Accuracy::Trial
            && self.work.factors == Factors::Regular
            && self.with_kept_factors()?
        {
            return Ok(Solved::Regular);
        }
        if let Some(sizes) = self.sizes_by_guess() {
            let nominal = std::mem::replace(&mut self.work.nominal, sizes);
            let solved = self.search();
            self.work.nominal = nominal;
            if solved.is_ok() || self.effort == Effort::Once {
                return solved;
            }
        }
        self.search()
    }

    /// From the guess, within the limits and then without them.
    fn search(&mut self) -> Result<Solved, SolveError> {
        if self.effort == Effort::Once {
            let limited = self.starts_inside_limits();
            return self.damped(limited);
        }
        if self.starts_inside_limits() {
            self.work.u.copy_from_slice(&self.work.start);
            if let Ok(solved) = self.damped(true) {
                return Ok(solved);
            }
            // Of the solutions of an initial system those inside the limits are meant.
            if self.schedule == ScheduleKind::Initial
                && let Some(solved) = self.inside_limits()
            {
                return Ok(solved);
            }
        }
        self.work.u.copy_from_slice(&self.work.start);
        let failure = match self.damped(false) {
            Ok(solved) => return Ok(solved),
            Err(failure) => failure,
        };
        self.solve_beside_guess().unwrap_or(Err(failure))
    }

    /// Whether there are limits and the guess keeps them.
    fn starts_inside_limits(&self) -> bool {
        let w = &*self.work;
        let inside = (0..w.u.len()).all(|i| w.start[i] >= w.min[i] && w.start[i] <= w.max[i]);
        inside && (w.min.iter().chain(&w.max)).any(|limit| limit.is_finite())
    }

    /// Sizes of the unknowns of the initial system: a start value that is smaller than the nominal value where that is 1, as it is where none was declared. (The default of 1
    /// says nothing about a time constant of 1e-5 s: steps along it would look short, and a point without meaning like a solution.)
    fn sizes_by_guess(&self) -> Option<Vec<f64>> {
        if self.schedule != ScheduleKind::Initial {
            return None;
        }
        let (nominal, start) = (&self.work.nominal, &self.work.start);
        let is_smaller = |i: usize| {
            nominal[i] == 1.0 && start[i].abs() >= GUESS_SIZE_MIN && start[i].abs() < 1.0
        };
        let n = nominal.len();
        (0..n).any(is_smaller).then(|| {
            (0..n)
                .map(|i| {
                    if is_smaller(i) {
                        start[i].abs()
                    } else {
                        nominal[i]
                    }
                })
                .collect()
        })
    }

    /// Everything that the block determines, from the unknowns of the accepted point as they are.
    pub(crate) fn hold(&mut self) -> Result<(), SolveError> {
        self.work.u.copy_from_slice(&self.work.accepted);
        self.residual_at_u()
    }

    /// A solution away from the accepted point, at which the branch of solutions that led there has ended (a fold). The Newton step from there
    /// points over the end: the fast motion that the equations leave out goes this way. Tries guesses along it, nearest first, then the
    /// other way; the values are then those of the solution. False if there is none.
    pub(crate) fn elsewhere(&mut self) -> bool {
        let end = self.work.accepted.clone();
        let away = |w: &BlockWork| {
            (w.u.iter().zip(&w.accepted).zip(&w.nominal))
                .any(|((u, end), nominal)| (u - end).abs() > OTHER_REL * (end.abs() + nominal))
        };
        let found = self.along_newton_step(&end, [1.0, -1.0], false, away);
        if found.is_some() {
            self.set_unknowns_to_u();
        }
        found.is_some()
    }

    /// A solution inside `min` and `max`, from guesses along the Newton step at the first one: away from where it leads out, then beyond.
    fn inside_limits(&mut self) -> Option<Solved> {
        let start = self.work.start.clone();
        self.along_newton_step(&start, [-1.0, 1.0], true, |_| true)
    }

    /// Solves from guesses along the Newton step at a point, nearest first, until a solution is accepted.
    fn along_newton_step(
        &mut self,
        from: &[f64],
        ways: [f64; 2],
        limited: bool,
        accepts: impl Fn(&BlockWork) -> bool,
    ) -> Option<Solved> {
        let n = from.len();
        self.work.u.copy_from_slice(from);
        self.residual_at_u().ok()?;
        (self.jacobian(|nominal, u| EPS.sqrt() * u.abs().max(nominal))).ok()?;
        self.factor();
        self.newton_step();
        let longest = self.relative_size(|w| &w.step);
        if !(longest > 0.0 && longest.is_finite()) {
            return None;
        }
        let direction: Vec<f64> = self.work.step.iter().map(|step| step / longest).collect();
        for way in ways {
            for exponent in SEARCH_EXPONENTS {
                let far = way * 2f64.powi(exponent);
                let w = &mut *self.work;
                for i in 0..n {
                    w.u[i] = from[i] + far * direction[i];
                    if limited {
                        w.u[i] = w.u[i].max(w.min[i]).min(w.max[i]);
                    }
                }
                if let Ok(solved) = self.damped(limited)
                    && accepts(self.work)
                {
                    return Some(solved);
                }
            }
        }
        None
    }

    /// If the equations cannot be evaluated at the guess (they divide by an unknown whose guess is 0), or do not depend on an unknown there (on the square of a flow
    /// that is 0), tries guesses beside it.
    fn solve_beside_guess(&mut self) -> Option<Result<Solved, SolveError>> {
        self.work.u.copy_from_slice(&self.work.start);
        // At the initial point a homotopy may say which way the flow goes; a guess beside would choose for it.
        let may_leave = self.schedule != ScheduleKind::Initial;
        if self.residual_at_u().is_ok() && !(may_leave && self.is_flat_at_u()) {
            return None;
        }
        for share in GUESS_SHIFTS {
            for i in 0..self.work.u.len() {
                let shifted = self.work.start[i] + share * self.work.nominal[i];
                self.work.u[i] =
                    shifted.clamp(self.work.min[i], self.work.max[i].max(self.work.min[i]));
            }
            if let Ok(solved) = self.damped(false) {
                return Some(Ok(solved));
            }
        }
        None
    }

    /// No equation changes with one of the unknowns.
    fn is_flat_at_u(&mut self) -> bool {
        if self
            .jacobian(|nominal, u| EPS.sqrt() * u.abs().max(nominal))
            .is_err()
        {
            return false;
        }
        let w = &*self.work;
        (0..w.u.len()).any(|j| w.jacobian[w.pattern.column(j)].iter().all(|v| *v == 0.0))
    }

    /// Simplified Newton with the factors of an earlier point; false (and no harm) if it does not contract fast.
    fn with_kept_factors(&mut self) -> Result<bool, SolveError> {
        if self.residual_at_u().is_err() {
            return Ok(false);
        }
        self.newton_step();
        let mut size_last = self.norm_of(|w| &w.step);
        for _ in 0..REUSE_ITERATIONS_MAX {
            for i in 0..self.work.u.len() {
                self.work.u[i] += self.work.step[i];
                if self.work.u[i] < self.work.min[i] || self.work.u[i] > self.work.max[i] {
                    return Ok(false);
                }
            }
            if self.residual_at_u().is_err() {
                return Ok(false);
            }
            self.newton_step();
            self.counters.newton_iterations += 1;
            let size = self.norm_of(|w| &w.step);
            let rate = if size_last > 0.0 {
                size / size_last
            } else {
                0.0
            };
            if rate.is_nan() || rate > REUSE_RATE_MAX {
                return Ok(size <= EPS);
            }
            if rate / (1.0 - rate) * size <= 1.0 && size <= 1.0 {
                return Ok(true);
            }
            size_last = size;
        }
        Ok(false)
    }

    fn damped(&mut self, limited: bool) -> Result<Solved, SolveError> {
        let sure = match self.accuracy {
            Accuracy::Trial => SURE,
            Accuracy::Tight => 1.0,
        };
        self.residual_at_u()?;
        for iteration in 0..ITERATIONS_MAX {
            saltus_control::checkpoint();
            self.counters.newton_iterations += 1;
            self.jacobian(|nominal, u| EPS.sqrt() * u.abs().max(nominal))?;
            self.factor();
            self.newton_step();
            let size = self.norm_of(|w| &w.step);
            if !size.is_finite() {
                return Err(self.newton_failure(NewtonReason::Singular { rank: 0 }, iteration));
            }
            // A solution stays what it is when it is solved for again: the passes of an event see the same values.
            if iteration == 0 && self.accuracy == Accuracy::Tight && size <= 1.0 {
                return self.accept_iterate(iteration);
            }
            if iteration > 0 && self.accuracy == Accuracy::Trial && size <= 1.0 {
                for (u, step) in self.work.u.iter_mut().zip(&self.work.step) {
                    *u += step;
                }
                self.residual_at_u()?;
                return self.accept_iterate(iteration);
            }
            let guess_is_round_off = iteration == 0
                && self.accuracy == Accuracy::Tight
                && self.relative_size(|w| &w.step) <= STAGNATION_REL;
            let (lambda, size_next) = match self.damp(size, limited, iteration) {
                Err(failure) => {
                    return match self.is_round_off() {
                        true => self.accept_iterate(iteration),
                        false => Err(failure),
                    };
                }
                Ok(damped) => damped,
            };
            let stagnates = size_next > 0.5 * size;
            if stagnates && guess_is_round_off {
                std::mem::swap(&mut self.work.u, &mut self.work.trial);
                self.residual_at_u()?;
                return self.accept_iterate(iteration);
            }
            let converged = lambda == 1.0 && size_next <= sure;
            if converged || stagnates && self.relative_size(|w| &w.correction) <= STAGNATION_REL {
                if converged && self.accuracy == Accuracy::Tight {
                    self.polish();
                }
                return self.accept_iterate(iteration);
            }
        }
        Err(self.newton_failure(NewtonReason::Iterations, ITERATIONS_MAX))
    }

    /// Adds the simplified correction, which is known: its error is that of round-off.
    fn polish(&mut self) {
        let w = &mut *self.work;
        for ((trial, u), correction) in w.trial.iter_mut().zip(&w.u).zip(&w.correction) {
            *trial = u - correction;
        }
        if self.residual_at_trial().is_ok() {
            std::mem::swap(&mut self.work.u, &mut self.work.trial);
            std::mem::swap(&mut self.work.residual, &mut self.work.residual_trial);
        } else if self.residual_at_u().is_err() {
            unreachable!("it was evaluated at this point before");
        }
    }

    /// Takes the largest fraction of the step that passes the monotonicity test; the simplified correction at the new
    /// iterate is left in `correction`.
    fn damp(&mut self, size: f64, limited: bool, iteration: u32) -> Result<(f64, f64), SolveError> {
        let mut lambda = 1.0;
        let mut last_error = None;
        // Below round-off of 1 the test of decrease proves nothing.
        let lambda_min = DAMPING_MIN
            .min(DAMPED_STEP_MIN / self.relative_size(|w| &w.step).max(1.0))
            .max(EPS);
        while lambda >= lambda_min {
            let w = &mut *self.work;
            for i in 0..w.u.len() {
                w.trial[i] = w.u[i] + lambda * w.step[i];
                if limited {
                    w.trial[i] = w.trial[i].clamp(w.min[i], w.max[i]);
                }
            }
            match self.residual_at_trial() {
                Ok(()) => {
                    self.work
                        .correction
                        .copy_from_slice(&self.work.residual_trial);
                    self.apply_inverse();
                    let size_next = self.norm_of(|w| &w.correction);
                    let at_roundoff = self.relative_size(|w| &w.step) <= STAGNATION_REL;
                    if size_next <= (1.0 - 0.25 * lambda) * size || size <= 1.0 || at_roundoff {
                        std::mem::swap(&mut self.work.u, &mut self.work.trial);
                        std::mem::swap(&mut self.work.residual, &mut self.work.residual_trial);
                        return Ok((lambda, size_next));
                    }
                }
                Err(error) if error.recoverable() => last_error = Some(error),
                Err(error) => return Err(error),
            }
            lambda *= 0.5;
        }
        self.set_unknowns_to_u();
        let reason = match last_error {
            Some(error) => NewtonReason::Evaluation(Box::new(error)),
            None => NewtonReason::Damping,
        };
        Err(self.newton_failure(reason, iteration))
    }

    /// Whether the residuals are what floating-point numbers make of zero: small beside their terms, and steps in which the equations, as they are
    /// computed, are not seen. Sums of terms of 1e8 are steps of 1e-8, which no change of the unknowns resolves. Along the Newton step the residual
    /// should be (1 - λ) r; what is computed differs from that by round-off, and by the curvature of the equations, which is small beside a small r.
    fn is_round_off(&mut self) -> bool {
        let n = self.info.unknowns.len();
        if self.residual_at_u().is_err() {
            return false;
        }
        let rows = (self.work).row_sums(|j| self.work.u[j].abs() + self.work.nominal[j]);
        if (0..n).any(|i| self.work.residual[i].abs() > CONSISTENT_REL * rows[i]) {
            return false;
        }
        let mut round_off = vec![0.0f64; n];
        for part in MEASURED_PARTS {
            for i in 0..n {
                self.work.trial[i] = self.work.u[i] + part * self.work.step[i];
            }
            if self.residual_at_trial().is_err() {
                return false;
            }
            for (i, measured) in round_off.iter_mut().enumerate() {
                let expected = (1.0 - part) * self.work.residual[i];
                *measured = measured.max((self.work.residual_trial[i] - expected).abs());
            }
        }
        // The values of the block are those at the iterate.
        self.residual_at_u().is_ok()
            && (0..n).all(|i| self.work.residual[i].abs() <= ROUND_OFF_FACTOR * round_off[i])
    }

    /// The iterate has converged. With a singular Jacobian that alone does not mean that the residual is zero.
    fn accept_iterate(&mut self, iteration: u32) -> Result<Solved, SolveError> {
        if self.work.factors == Factors::Regular {
            return Ok(Solved::Regular);
        }
        let n = self.info.unknowns.len();
        let w = &*self.work;
        let rows = w.row_sums(|j| w.u[j].abs() + w.nominal[j]);
        let zero = (0..n).all(|i| w.residual[i].abs() <= CONSISTENT_REL * rows[i]);
        let rank = w.min_norm(&w.residual).map_or(0, |solution| solution.rank);
        if zero {
            Ok(Solved::MinimumNorm { rank })
        } else {
            Err(self.newton_failure(NewtonReason::Singular { rank }, iteration))
        }
    }

    fn newton_failure(&self, reason: NewtonReason, iterations: u32) -> SolveError {
        SolveError::Newton(Box::new(NewtonFailure {
            schedule: self.schedule,
            block: self.block,
            reason,
            iterations,
            unknowns: self.unknowns_now(),
            guesses: self.work.start.clone(),
            released: Vec::new(),
            residuals: self.residuals_now(),
            inner: self.info.inner_sites.clone(),
        }))
    }

    // --- common -----------------------------------------------------------------------------------------------------

    fn unknowns_now(&self) -> Vec<(saltus_model::Slot, f64)> {
        self.info
            .unknowns
            .iter()
            .copied()
            .zip(self.work.u.iter().copied())
            .collect()
    }

    fn residuals_now(&self) -> Vec<(saltus_model::Site, f64)> {
        self.info
            .residual_sites
            .iter()
            .copied()
            .zip(self.work.residual.iter().copied())
            .collect()
    }

    fn set_unknowns_to_u(&mut self) {
        for (slot, u) in self.info.unknowns.iter().zip(&self.work.u) {
            self.values.v[slot.index()] = *u;
        }
    }

    fn residual_at_u(&mut self) -> Result<(), SolveError> {
        self.set_unknowns_to_u();
        self.counters.residuals += 1;
        self.system
            .residual(self.block, self.values, &mut self.work.residual)?;
        self.check_finite(|w| &w.residual)
    }

    fn residual_at_trial(&mut self) -> Result<(), SolveError> {
        for (slot, u) in self.info.unknowns.iter().zip(&self.work.trial) {
            self.values.v[slot.index()] = *u;
        }
        self.counters.residuals += 1;
        self.system
            .residual(self.block, self.values, &mut self.work.residual_trial)?;
        self.check_finite(|w| &w.residual_trial)
    }

    fn check_finite(&self, vector: impl Fn(&BlockWork) -> &[f64]) -> Result<(), SolveError> {
        match vector(self.work).iter().position(|r| !r.is_finite()) {
            None => Ok(()),
            Some(row) => Err(SolveError::NonFinite {
                slot: self.info.unknowns[row],
            }),
        }
    }

    /// Exact Jacobian, or differences with the increment that `increment(nominal, u)` gives.
    fn jacobian(&mut self, increment: impl Fn(f64, f64) -> f64) -> Result<(), SolveError> {
        self.counters.jacobians += 1;
        if self
            .system
            .jacobian(self.block, self.values, &mut self.work.jacobian)?
        {
            return self.check_jacobian();
        }
        for group in 0..self.work.groups.len() {
            if self.residual_beside_u(group, 1.0, &increment).is_err() {
                self.residual_beside_u(group, -1.0, &increment)?;
            }
            let w = &mut *self.work;
            for &column in w.groups.group(group) {
                let j = column as usize;
                let slot = self.info.unknowns[j];
                let exact = self.values.get(slot) - w.u[j];
                self.values.set(slot, w.u[j]);
                for (row, place) in w.pattern.rows(j).iter().zip(w.pattern.column(j)) {
                    let i = *row as usize;
                    w.jacobian[place] = (w.residual_trial[i] - w.residual[i]) / exact;
                }
            }
        }
        self.residual_at_u()
    }

    /// Residual with the unknowns of a group shifted one way.
    fn residual_beside_u(
        &mut self,
        group: usize,
        way: f64,
        increment: &impl Fn(f64, f64) -> f64,
    ) -> Result<(), SolveError> {
        let w = &mut *self.work;
        for &column in w.groups.group(group) {
            let j = column as usize;
            let delta = way * increment(w.nominal[j], w.u[j]);
            self.values.set(self.info.unknowns[j], w.u[j] + delta);
        }
        self.counters.residuals += 1;
        self.system
            .residual(self.block, self.values, &mut w.residual_trial)?;
        self.check_finite(|w| &w.residual_trial)
    }

    /// An error that names the unknown by which a derivative is not finite.
    fn check_jacobian(&self) -> Result<(), SolveError> {
        let bad = |j: &usize| {
            let values = &self.work.jacobian[self.work.pattern.column(*j)];
            values.iter().any(|v| !v.is_finite())
        };
        match (0..self.info.unknowns.len()).find(bad) {
            None => Ok(()),
            Some(column) => Err(SolveError::NonFinite {
                slot: self.info.unknowns[column],
            }),
        }
    }

    fn factor(&mut self) {
        if self.work.factors != Factors::None && self.work.factored == self.work.jacobian {
            return;
        }
        self.counters.factorizations += 1;
        self.work.factored.copy_from_slice(&self.work.jacobian);
        let regular = self.work.lu.factor(&self.work.jacobian);
        self.work.factors = if regular {
            Factors::Regular
        } else {
            Factors::Singular
        };
    }

    /// step = -J⁻¹ r
    fn newton_step(&mut self) {
        let w = &mut *self.work;
        for (c, r) in w.correction.iter_mut().zip(&w.residual) {
            *c = -r;
        }
        self.apply_inverse();
        let w = &mut *self.work;
        w.step.copy_from_slice(&w.correction);
    }

    /// correction = J⁻¹ correction (pseudo-inverse if J is singular)
    fn apply_inverse(&mut self) {
        let w = &mut *self.work;
        if w.factors == Factors::Regular {
            w.lu.solve(&mut w.correction);
            return;
        }
        match w.min_norm(&w.correction) {
            Some(solution) => w.correction.copy_from_slice(&solution.x),
            None => w.correction.fill(f64::NAN),
        }
    }

    /// Largest component relative to the weight of its unknown.
    fn norm_of(&self, vector: impl Fn(&BlockWork) -> &[f64]) -> f64 {
        let w = &*self.work;
        vector(w).iter().enumerate().fold(0.0, |norm: f64, (i, v)| {
            let weight = match self.accuracy {
                Accuracy::Trial => BLOCK_FRACTION * self.tolerances.weight(w.u[i], w.nominal[i]),
                Accuracy::Tight => TIGHT_REL * (w.u[i].abs() + w.nominal[i]),
            };
            let size = v.abs() / weight;
            if size.is_nan() || norm.is_nan() {
                f64::NAN
            } else {
                norm.max(size)
            }
        })
    }

    fn relative_size(&self, vector: impl Fn(&BlockWork) -> &[f64]) -> f64 {
        let w = &*self.work;
        vector(w).iter().enumerate().fold(0.0, |size, (i, v)| {
            size.max(v.abs() / (w.u[i].abs() + w.nominal[i]))
        })
    }
}
