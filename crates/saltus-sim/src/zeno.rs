//! Rest at contacts: what follows after infinitely many impacts.
//!
//! **The limit mode.** The impacts of a contact (`crate::contact`) reset states (a velocity: `reinit(v, -e*pre(v))`) so that its gap r stays on its free side. In the
//! limit the gap and its rate are zero, and the resets have become a push along the direction d in which they changed the states,
//!
//! ```text
//! x' = f(t, x) + Σ λ_i d_i,   r_i'' = b_i + Σ A_ij λ_j ≥ 0,   λ_i ≥ 0,   λ_i r_i'' = 0
//! ```
//! with b the second derivatives along the free motion and A the answers of the rates to the pushes. Which contacts stay closed at an instant is this linear
//! complementarity problem (Lemke); between instants those that are closed have r'' = 0, and λ is a crossing function: below zero it would pull, the free motion points away, and the
//! contact opens. `r = 0` and `r' = 0` are kept by correction, not by the integrator. Functions that are zero because of the rest (`v < 0` in a guard) are quiet with it.

use crate::field::{DIFFERENCE_REL, Field, PLACES, along, time_scale};
use crate::point::gather;
use crate::sliding::{Setting, Sliding};
use crate::surface::{RateRoom, Surface, difference_step, rates};
use saltus_model::{CrossingClass, ScheduleKind, Slot};
use saltus_solve::lemke::lemke;
use saltus_solve::linear::DenseLu;
use saltus_solve::scale::{EPS, nominal_magnitude};
use saltus_solve::{SignRule, SolveError, Tolerances};

/// Corrections of a point, of functions and their rates.
const CORRECTIONS: u32 = 4;
/// A derivative that the pushes leave of the free one is round-off below this part of both.
const BALANCE_REL: f64 = 1e-12;
/// Doublings of a displacement that puts a function on its free side; the first is ε² of a nominal value or ε of a value.
const NUDGES: u32 = 120;
/// A push, or a rate, that is below this part of what it comes from is round-off of difference quotients.
const ANSWER_REL: f64 = 1e-9;

/// Units of round-off of the functions in a quotient of quotients.
const NOISE_ULPS: f64 = 16.0;
/// Units of round-off of a state within which a rate is zero.
const RATE_ULPS: f64 = 64.0;
/// Second derivatives that differ by less show the same; the step of their quotients is made shorter by this factor, so many times.
const SAME_REL: f64 = 1e-6;
const SHORTER: f64 = 0.25;
const SHORTER_MAX: u32 = 12;

/// A contact at rest.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Rest {
    pub(crate) surface: Surface,
    /// The sign of the function on its free side.
    pub(crate) side: f64,
    /// In which the resets push the states, towards the free side; the largest component is one.
    pub(crate) direction: Vec<f64>,
    /// λ at the last point.
    push: f64,
    pub(crate) relation: Slot,
}

impl Rest {
    /// `direction` is the change of the states by a reset; `None` if there is none.
    pub(crate) fn new(
        surface: Surface,
        relation: Slot,
        side: f64,
        mut direction: Vec<f64>,
    ) -> Option<Rest> {
        // What the function itself depends on is not what its rate is changed by.
        for (k, d) in direction.iter_mut().enumerate() {
            if surface.depends_on(k) {
                *d = 0.0;
            }
        }
        let size = direction.iter().fold(0.0f64, |a, d| a.max(d.abs()));
        if size == 0.0 || !size.is_finite() {
            return None;
        }
        direction.iter_mut().for_each(|d| *d /= size);
        Some(Rest {
            surface,
            side,
            direction,
            push: 0.0,
            relation,
        })
    }

    pub(crate) fn crossing(&self) -> usize {
        self.surface.lead()
    }

    pub(crate) fn push(&self) -> f64 {
        self.push
    }

    /// The round-off of the rate, in terms of what the resets change.
    pub(crate) fn rate_round_off(&self, x: &[f64], nominal: &[f64]) -> f64 {
        RATE_ULPS * EPS * extent_largest(&self.direction, x, nominal)
    }
}

/// A function that is zero because of a rest, and the displacement that puts it on its side.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Quiet {
    function: usize,
    side: f64,
    rest: usize,
    /// It is displaced with the rate of the contact, not with its gap.
    by_rate: bool,
}

/// All rests of a motion.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Rests {
    pub(crate) all: Vec<Rest>,
    quiet: Vec<Quiet>,
    /// The step of difference quotients, and the round-off of second derivatives with it.
    delta: f64,
    noise: f64,
    room: Room,
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Room {
    rates: RateRoom,
    rate: Vec<f64>,
    x: Vec<f64>,
    dx: Vec<f64>,
    to: Vec<f64>,
    dx_to: Vec<f64>,
}

/// How the contacts move if nothing pushes, and what pushes do: both positive towards the free sides.
pub(crate) struct Answers {
    /// r'' along the free motion.
    pub(crate) free: Vec<f64>,
    /// ∂r'/∂λ by columns: of each function (row) to each push (column).
    pub(crate) matrix: Vec<f64>,
}

impl Answers {
    /// λ with r'' = 0 for all.
    fn holding(&self) -> Option<Vec<f64>> {
        let mut push: Vec<f64> = self.free.iter().map(|b| -b).collect();
        let mut lu = DenseLu::new(push.len());
        if !lu.factor(&self.matrix) {
            return None;
        }
        lu.solve(&mut push);
        Some(push)
    }

    /// r'' of the last function while all others are held.
    pub(crate) fn of_last(&self) -> Option<f64> {
        let m = self.free.len();
        let n = m - 1;
        let others = Answers {
            free: self.free[..n].to_vec(),
            matrix: (0..n * n).map(|k| self.matrix[k / n * m + k % n]).collect(),
        };
        let held = if n == 0 {
            Vec::new()
        } else {
            others.holding()?
        };
        let by_others = (held.iter().enumerate()).map(|(j, push)| self.matrix[j * m + n] * push);
        Some(self.free[n] + by_others.sum::<f64>())
    }

    /// The functions that leave zero although others are held.
    fn opening(&self) -> Option<Vec<usize>> {
        let push = lemke(&self.matrix, &self.free).ok()?;
        let m = push.len();
        let opens = |&i: &usize| {
            let terms = (0..m).map(|j| self.matrix[j * m + i] * push[j]);
            let size = (terms.clone()).fold(self.free[i].abs(), |a, t| a.max(t.abs()));
            push[i] == 0.0 && self.free[i] + terms.sum::<f64>() > ANSWER_REL * size
        };
        Some((0..m).filter(opens).collect())
    }
}

/// The free motion at a point: that of the model, or along the surfaces on which it slides.
fn free(
    field: &mut Field<'_>,
    sliding: &mut Option<Sliding>,
    t: f64,
    x: &[f64],
    dx: &mut [f64],
) -> Result<(), SolveError> {
    field.go_to(t, x);
    match sliding {
        Some(sliding) => sliding.point(field, &[ScheduleKind::Derivatives])?,
        None => field.run(&[ScheduleKind::Derivatives])?,
    }
    field.gather_derivatives(dx)
}

impl Rests {
    /// With one more; `None` if its push does not move its rate, or if those that are there hold it already.
    pub(crate) fn with(
        &self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        rest: Rest,
        setting: Setting<'_>,
    ) -> Result<Option<(Rests, Answers)>, SolveError> {
        let mut rests = Rests {
            all: self.all.clone(),
            ..Rests::default()
        };
        rests.all.push(rest);
        rests.begin(field, sliding, setting)?;
        let (t, x) = (field.values.time(), rests.room.x.clone());
        let mut answers = rests.answers(field, sliding, t, setting.nominal)?;
        field.go_to(t, &x);
        let (m, last) = (rests.all.len(), rests.all.len() - 1);
        let effect = answers.matrix[last * m + last];
        if effect == 0.0 || !effect.is_finite() {
            return Ok(None);
        }
        if effect < 0.0 {
            rests.all[last].direction.iter_mut().for_each(|d| *d = -*d);
            for k in 0..m {
                answers.matrix[last * m + k] *= -1.0;
            }
        }
        if answers.holding().is_none() {
            return Ok(None);
        }
        Ok(Some((rests, answers)))
    }

    /// Sizes of the work space and the step of difference quotients, for the point in the values.
    fn begin(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
    ) -> Result<(), SolveError> {
        let (n, t) = (field.system.states().len(), field.values.time());
        self.fit(n);
        gather(field.system.states(), field.values, &mut self.room.x);
        let (x, mut dx) = (self.room.x.clone(), vec![0.0; n]);
        free(field, sliding, t, &x, &mut dx)?;
        let longest = time_scale(&x, &dx, setting.nominal, setting.longest);
        let surfaces: Vec<Surface> = self.all.iter().map(|r| r.surface.clone()).collect();
        self.delta = difference_step(field, &surfaces, (t, &x, &dx), longest)?;
        // Forces may change faster than any state: a step of which the quarter gives the same second derivatives. Below some step their round-off, that of the
        // gaps over the square of the step, only grows; where no two agree, those that are nearest to each other show most.
        let gap_size = (self.all.iter())
            .filter(|rest| rest.surface.class() == CrossingClass::General)
            .fold(0.0f64, |m, rest| m.max(rest.surface.size(&x)));
        let largest = |a: &[f64]| a.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        let mut second = self.second(field, sliding, t, &x)?;
        let (mut longer, mut nearest) = (self.delta, (f64::INFINITY, self.delta));
        for _ in 0..SHORTER_MAX {
            self.delta = SHORTER * longer;
            let finer = self.second(field, sliding, t, &x)?;
            let differ: Vec<f64> = second.iter().zip(&finer).map(|(a, b)| a - b).collect();
            let round_off = EPS * (1.0 + gap_size / self.delta) / self.delta;
            let differ = largest(&differ);
            if differ < nearest.0 {
                nearest = (differ, longer);
            }
            if differ <= SAME_REL * largest(&finer) + round_off {
                break;
            }
            (second, longer) = (finer, self.delta);
        }
        self.delta = nearest.1;
        self.noise = NOISE_ULPS * EPS * (1.0 + gap_size / self.delta) / self.delta;
        field.go_to(t, &x);
        Ok(())
    }

    /// r'' of each function along the free motion, positive towards its free side.
    fn second(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        x: &[f64],
    ) -> Result<Vec<f64>, SolveError> {
        let mut dx = std::mem::take(&mut self.room.dx);
        let mut to = std::mem::take(&mut self.room.to);
        free(field, sliding, t, x, &mut dx)?;
        let mut second = vec![0.0; self.all.len()];
        for (place, factor) in PLACES {
            along(&mut to, x, place * self.delta, &dx);
            self.rates(field, sliding, t + place * self.delta, &to)?;
            for (second, rate) in second.iter_mut().zip(&self.room.rate) {
                *second += factor / self.delta * rate;
            }
        }
        (self.room.dx, self.room.to) = (dx, to);
        Ok(second)
    }

    fn fit(&mut self, n: usize) {
        let room = &mut self.room;
        for v in [&mut room.x, &mut room.dx, &mut room.to, &mut room.dx_to] {
            v.resize(n, 0.0);
        }
        room.rate.resize(self.all.len(), 0.0);
    }

    /// r' of each function along the free motion, positive towards its free side.
    fn rates(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        x: &[f64],
    ) -> Result<(), SolveError> {
        let Rests {
            all, delta, room, ..
        } = self;
        room.rate.resize(all.len(), 0.0);
        free(field, sliding, t, x, &mut room.dx_to)?;
        for (rest, out) in all.iter().zip(&mut room.rate) {
            let surface = std::slice::from_ref(&rest.surface);
            let point = (t, x, &room.dx_to[..]);
            rates(
                field,
                surface,
                point,
                *delta,
                &mut room.rates,
                std::slice::from_mut(out),
            )?;
            *out *= rest.side;
        }
        Ok(())
    }

    /// The rates at the point in the values.
    pub(crate) fn rates_here(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
    ) -> Result<&[f64], SolveError> {
        self.begin(field, sliding, setting)?;
        let (t, x) = (field.values.time(), self.room.x.clone());
        self.rates(field, sliding, t, &x)?;
        field.go_to(t, &x);
        Ok(&self.room.rate)
    }

    fn effects(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        x: &[f64],
        nominal: &[f64],
    ) -> Result<Vec<f64>, SolveError> {
        let m = self.all.len();
        let mut matrix = vec![0.0; m * m];
        let mut to = x.to_vec();
        for j in 0..m {
            let direction = self.all[j].direction.clone();
            let h = DIFFERENCE_REL * extent(&direction, x, nominal);
            for (place, factor) in PLACES {
                along(&mut to, x, place * h, &direction);
                self.rates(field, sliding, t, &to)?;
                for (k, rate) in self.room.rate.iter().enumerate() {
                    matrix[j * m + k] += factor / h * rate;
                }
            }
        }
        Ok(matrix)
    }

    fn answers(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        nominal: &[f64],
    ) -> Result<Answers, SolveError> {
        let x = self.room.x.clone();
        let second = self.second(field, sliding, t, &x)?;
        Ok(Answers {
            matrix: self.effects(field, sliding, t, &x, nominal)?,
            free: second,
        })
    }

    /// λ of each rest at a point.
    fn find_pushes(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        nominal: &[f64],
    ) -> Result<(), SolveError> {
        let answers = self.answers(field, sliding, t, nominal)?;
        let Some(pushes) = answers.holding() else {
            return Err(SolveError::NonFinite {
                slot: self.all[0].relation,
            });
        };
        for (rest, push) in self.all.iter_mut().zip(pushes) {
            rest.push = push;
        }
        Ok(())
    }

    /// Lets the contacts go that open at the point in the values.
    pub(crate) fn let_go(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
    ) -> Result<(), SolveError> {
        while !self.all.is_empty() {
            self.begin(field, sliding, setting)?;
            let t = field.values.time();
            let answers = self.answers(field, sliding, t, setting.nominal)?;
            field.go_to(t, &self.room.x);
            // Where pushes that only push cannot hold all of them, those that would pull go one by one.
            let opening = match answers.opening() {
                Some(opening) => opening,
                None => match answers.holding() {
                    Some(pushes) => (0..pushes.len())
                        .min_by(|&a, &b| pushes[a].total_cmp(&pushes[b]))
                        .into_iter()
                        .collect(),
                    None => (0..self.all.len()).collect(),
                },
            };
            if opening.is_empty() {
                break;
            }
            for &k in opening.iter().rev() {
                self.all.remove(k);
            }
        }
        Ok(())
    }

    /// All that these schedules compute at the point in the values, with the pushes added to the derivatives.
    pub(crate) fn point(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        kinds: &[ScheduleKind],
        nominal: &[f64],
    ) -> Result<(), SolveError> {
        let t = field.values.time();
        let states = field.system.states();
        self.fit(states.len());
        gather(states, field.values, &mut self.room.x);
        self.find_pushes(field, sliding, t, nominal)?;
        field.go_to(t, &self.room.x);
        match sliding {
            Some(sliding) => sliding.point(field, kinds)?,
            None => field.run(kinds)?,
        }
        for (i, state) in states.iter().enumerate() {
            let free = field.values.get(state.derivative);
            let pushed: f64 = self.all.iter().map(|r| r.push * r.direction[i]).sum();
            if pushed != 0.0 {
                let rest = free + pushed;
                let balanced = rest.abs() <= BALANCE_REL * (free.abs() + pushed.abs());
                field
                    .values
                    .set(state.derivative, if balanced { 0.0 } else { rest });
            }
        }
        Ok(())
    }

    /// Finds the functions that are zero because of the rests, at a point where gaps and rates are zero. Leaves the values there.
    pub(crate) fn find_quiet(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
        tolerances: Tolerances,
    ) -> Result<(), SolveError> {
        self.quiet.clear();
        let n = field.system.crossings().len();
        let held: Vec<usize> = self.all.iter().map(|r| r.crossing()).collect();
        if self.all.is_empty() || n == held.len() {
            return Ok(());
        }
        let n_states = field.system.states().len();
        let (t, mut x) = (field.values.time(), vec![0.0; n_states]);
        gather(field.system.states(), field.values, &mut x);
        let (mut r, mut free_dx, mut bound_dx) = (vec![0.0; n], x.clone(), x.clone());
        let class = saltus_model::CrossingClass::General;
        field.crossings(class, &mut r)?;
        // Rates of gaps that are not affine are zero within the round-off of their quotients.
        let rate_noise = self.noise * self.delta;
        let small: Vec<usize> = (0..n)
            .filter(|k| !held.contains(k) && !field.system.crossings()[*k].slides)
            .filter(|&k| {
                let nominal = field.system.crossings()[k].nominal;
                let zero = tolerances.negligible() * nominal_magnitude(nominal);
                r[k].abs() <= zero.max(rate_noise)
            })
            .collect();
        if small.is_empty() {
            field.go_to(t, &x);
            return Ok(());
        }
        free(field, sliding, t, &x, &mut free_dx)?;
        field.go_to(t, &x);
        self.point(
            field,
            sliding,
            &[ScheduleKind::Derivatives],
            setting.nominal,
        )?;
        field.gather_derivatives(&mut bound_dx)?;
        let mut to = x.clone();
        let mut slope = |field: &mut Field<'_>, along_time: f64, dx: &[f64], h: f64| {
            let mut sums = vec![0.0; n];
            let mut r = vec![0.0; n];
            for (place, factor) in PLACES {
                along(&mut to, &x, place * h, dx);
                field.go_to(t + along_time * place * h, &to);
                field.crossings(class, &mut r)?;
                for (sum, r) in sums.iter_mut().zip(&r) {
                    *sum += factor / h * r;
                }
            }
            Ok::<Vec<f64>, SolveError>(sums)
        };
        let by_free = slope(field, 1.0, &free_dx, self.delta)?;
        let by_bound = slope(field, 1.0, &bound_dx, self.delta)?;
        let mut quiet: Vec<Quiet> = Vec::new();
        for j in 0..self.all.len() {
            let direction = self.all[j].direction.clone();
            let h = DIFFERENCE_REL * extent(&direction, &x, setting.nominal);
            let by_rate = slope(field, 0.0, &direction, h)?;
            let carried = self.carried(field, sliding, t, &x, j, setting.nominal)?;
            let h = DIFFERENCE_REL * extent(&carried, &x, setting.nominal);
            let by_gap = slope(field, 0.0, &carried, h)?;
            for &k in &small {
                let nominal = nominal_magnitude(field.system.crossings()[k].nominal);
                let least = ANSWER_REL * nominal;
                if quiet.iter().any(|q| q.function == k) {
                    continue;
                }
                // It moves with the rate of the contact, whose motion is taken away; or it is another function of the gap.
                let still = ANSWER_REL * by_free[k].abs().max(nominal);
                let stops = by_bound[k].abs() <= still.max(by_rate[k].abs() * self.noise);
                let is_rate = by_rate[k].abs() > least && by_free[k].abs() > least && stops;
                let is_gap = by_rate[k].abs() <= least && by_gap[k].abs() > least && stops;
                if is_rate || is_gap {
                    quiet.push(Quiet {
                        function: k,
                        side: if is_rate { by_rate[k] } else { by_gap[k] }.signum(),
                        rest: j,
                        by_rate: is_rate,
                    });
                }
            }
        }
        self.quiet = quiet;
        field.go_to(t, &x);
        Ok(())
    }

    /// The functions that the rests hold.
    pub(crate) fn functions(&self) -> impl Iterator<Item = usize> {
        let quiet = self.quiet.iter().map(|q| q.function);
        self.all.iter().map(|rest| rest.crossing()).chain(quiet)
    }

    /// What a push does to the states in time: a velocity moves the place.
    fn carried(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        x: &[f64],
        j: usize,
        nominal: &[f64],
    ) -> Result<Vec<f64>, SolveError> {
        let n = x.len();
        let direction = self.all[j].direction.clone();
        let step = DIFFERENCE_REL * extent(&direction, x, nominal);
        let (mut carried, mut other, mut to) = (vec![0.0; n], vec![0.0; n], x.to_vec());
        along(&mut to, x, step, &direction);
        free(field, sliding, t, &to, &mut carried)?;
        along(&mut to, x, -step, &direction);
        free(field, sliding, t, &to, &mut other)?;
        for (carried, other) in carried.iter_mut().zip(&other) {
            *carried = (*carried - other) / (2.0 * step);
        }
        // Only what moves the gaps: a damping force answers as well.
        for (k, carried) in carried.iter_mut().enumerate() {
            if !self.all.iter().any(|rest| rest.surface.depends_on(k)) {
                *carried = 0.0;
            }
        }
        Ok(carried)
    }

    /// Brings functions and rates back to zero where they are off by more than this part of the tolerance. True if states were moved.
    pub(crate) fn correct(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
        tolerances: Tolerances,
    ) -> Result<bool, SolveError> {
        self.bring_back(field, sliding, setting, tolerances.negligible(), false)
    }

    /// … to round-off, with all functions on the sides that they have just before the contacts touch: no event happens again because of round-off.
    pub(crate) fn correct_fully(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
    ) -> Result<bool, SolveError> {
        self.bring_back(field, sliding, setting, EPS, true)
    }

    /// Only puts functions on their sides.
    pub(crate) fn put_on_free_sides(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
    ) -> Result<bool, SolveError> {
        let (t, mut x) = (field.values.time(), self.room.x.clone());
        gather(field.system.states(), field.values, &mut x);
        let moved = self.put_on_sides(field, sliding, t, &mut x, setting)?;
        field.go_to(t, &x);
        Ok(moved)
    }

    fn bring_back(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
        part: f64,
        put_on_sides: bool,
    ) -> Result<bool, SolveError> {
        let (t, n, m) = (
            field.values.time(),
            field.system.states().len(),
            self.all.len(),
        );
        self.fit(n);
        let mut x = vec![0.0; n];
        gather(field.system.states(), field.values, &mut x);
        let mut any = false;
        for _ in 0..CORRECTIONS {
            let matrix = self.effects(field, sliding, t, &x, setting.nominal)?;
            let mut lu = DenseLu::new(m);
            if !lu.factor(&matrix) {
                break;
            }
            let mut moved = false;
            let mut off = self.values_of(field, t, &x)?;
            let far = |(off, rest): (&f64, &Rest)| off.abs() > part * rest.surface.size(&x);
            if off.iter().zip(&self.all).any(far) {
                lu.solve(&mut off);
                let mut to = x.clone();
                for (j, off) in off.iter().enumerate() {
                    let carried = self.carried(field, sliding, t, &x, j, setting.nominal)?;
                    for (to, carried) in to.iter_mut().zip(&carried) {
                        *to -= off * carried;
                    }
                }
                moved |= to != x;
                x = to;
            }
            self.rates(field, sliding, t, &x)?;
            let mut rate = self.room.rate.clone();
            let fast = |(j, rate): (usize, &f64)| {
                let d = &self.all[j].direction;
                let size = matrix[j * m + j].abs() * extent_largest(d, &x, setting.nominal);
                rate.abs() > part * size
            };
            if rate.iter().enumerate().any(fast) {
                lu.solve(&mut rate);
                let from = x.clone();
                for (rate, rest) in rate.iter().zip(&self.all) {
                    for (x, d) in x.iter_mut().zip(&rest.direction) {
                        *x -= rate * d;
                    }
                }
                moved |= from != x;
            }
            any |= moved;
            if !moved {
                break;
            }
        }
        if put_on_sides {
            any |= self.put_on_sides(field, sliding, t, &mut x, setting)?;
        }
        field.go_to(t, &x);
        Ok(any)
    }

    /// The functions of the contacts, positive on their free sides.
    fn values_of(&self, field: &mut Field<'_>, t: f64, x: &[f64]) -> Result<Vec<f64>, SolveError> {
        let mut r = vec![0.0; field.system.crossings().len()];
        field.go_to(t, x);
        let class = crate::surface::joint_class(self.all.iter().map(|rest| &rest.surface));
        field.crossings(class, &mut r)?;
        Ok((self.all.iter())
            .map(|rest| rest.side * r[rest.crossing()])
            .collect())
    }

    /// Round-off must not put a function on the far side, where its event would happen again.
    fn put_on_sides(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        x: &mut [f64],
        setting: Setting<'_>,
    ) -> Result<bool, SolveError> {
        let mut r = vec![0.0; field.system.crossings().len()];
        let gaps = (self.all.iter().enumerate()).map(|(rest, contact)| Quiet {
            function: contact.crossing(),
            side: contact.side,
            rest,
            by_rate: false,
        });
        let mut wanted: Vec<Quiet> = self.quiet.clone();
        wanted.sort_by_key(|q| !q.by_rate);
        let wanted: Vec<Quiet> = wanted.into_iter().chain(gaps).collect();
        let mut moved = false;
        for quiet in wanted {
            let Some(rule) = setting.rules.get(quiet.function) else {
                continue;
            };
            let is_there = |r: &[f64]| {
                r[quiet.function].is_finite()
                    && rule.holds(r[quiet.function]) == rule.holds(quiet.side)
            };
            let class = field.system.crossings()[quiet.function].class;
            field.go_to(t, x);
            field.crossings(class, &mut r)?;
            if is_there(&r) {
                continue;
            }
            let by = match quiet.by_rate {
                true => self.all[quiet.rest].direction.clone(),
                false => self.carried(field, sliding, t, x, quiet.rest, setting.nominal)?,
            };
            let from = x.to_vec();
            let least = |((by, x), nominal): ((&f64, &f64), &f64)| {
                (EPS * x.abs()).max(EPS * EPS * nominal) / by.abs()
            };
            let sizes = by.iter().zip(&from).zip(setting.nominal);
            let mut h = (sizes.filter(|((by, _), _)| **by != 0.0))
                .map(least)
                .fold(f64::INFINITY, f64::min);
            if !h.is_finite() {
                continue;
            }
            for _ in 0..NUDGES {
                along(x, &from, h, &by);
                field.go_to(t, x);
                field.crossings(class, &mut r)?;
                if is_there(&r) {
                    break;
                }
                h *= 2.0;
            }
            if is_there(&r) {
                moved = true;
            } else {
                x.copy_from_slice(&from);
            }
        }
        Ok(moved)
    }

    /// All relations hold what they hold on the free sides.
    pub(crate) fn take_free_sides(&self, field: &mut Field<'_>, rules: &[SignRule]) {
        for rest in &self.all {
            (rest.surface).take_side(rest.side, field.system, rules, field.values);
        }
    }
}

/// By how much a direction may be followed: until a state has changed by its size.
fn extent(direction: &[f64], x: &[f64], nominal: &[f64]) -> f64 {
    let sizes = (direction.iter().zip(x).zip(nominal))
        .filter(|((d, _), _)| **d != 0.0)
        .map(|((d, x), nominal)| (x.abs() + nominal) / d.abs());
    let size = sizes.fold(f64::INFINITY, f64::min);
    if size.is_finite() { size } else { 1.0 }
}

fn extent_largest(direction: &[f64], x: &[f64], nominal: &[f64]) -> f64 {
    (direction.iter().zip(x).zip(nominal))
        .filter(|((d, _), _)| **d != 0.0)
        .map(|((_, x), nominal)| x.abs() + nominal)
        .fold(0.0, f64::max)
}
