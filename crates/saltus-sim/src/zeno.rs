//! Zeno points: infinitely many events before a finite time, and the rest that follows.
//!
//! **Recognised** by the ratio of successive intervals of one relation in one direction, never by counting alone: intervals that shrink by a
//! steady ratio q < 1 end after the geometric sum t∞ = t + Δ q / (1 - q). The limit is entered when what is left is not felt any more: the time
//! t∞ - t, or the excursions of the function compared with its round-off.
//!
//! **The limit mode.** The events reset states (a velocity: `reinit(v, -e*pre(v))`) so that the function stays on its free side. In the limit the
//! function and its rate are zero, and the resets have become a push along the direction d in which they changed the states,
//!
//! ```text
//! x' = f(t, x) + λ d,   λ from r'' = 0,   λ ≥ 0
//! ```
//! The lecture's ball has no unknown for a force; the run holds height and velocity by λ = 9.81. Several rests share one linear system for their λ.
//! λ < 0 would pull: the free motion points away, and the rest ends. `r = 0` and `r' = 0` are kept by correction, not by the integrator.

use crate::field::{DIFFERENCE_REL, Field, PLACES, along, time_scale};
use crate::point::gather;
use crate::sliding::{Setting, Sliding};
use crate::surface::{RateRoom, Surface, difference_step, rates};
use saltus_model::{ScheduleKind, Slot};
use saltus_solve::linear::DenseLu;
use saltus_solve::scale::{EPS, REST_BAND_REL};
use saltus_solve::{SignRule, SolveError, Tolerances};

/// Corrections of a point, of a function and its rate.
const CORRECTIONS: u32 = 4;
/// A derivative that the push leaves of the free one is round-off below this part of both.
const BALANCE_REL: f64 = 1e-12;
/// Neighbouring floats that are tried to put a function on its free side.
const NUDGES: u32 = 64;

/// Excursions that are less than so many times the round-off of their function are not felt.
pub(crate) const EXCURSION_ULPS: f64 = 1e4;
/// Nor are those of a few times the band in which a function rests after an event.
pub(crate) const EXCURSION_BANDS: f64 = 4.0;

/// A Zeno point that has been recognised.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ZenoPoint {
    pub(crate) crossing: usize,
    /// The sign of the function on its free side.
    pub(crate) side: f64,
    pub(crate) limit: f64,
    /// By which the function changes between neighbouring times at the event.
    pub(crate) round_off: f64,
    /// The time left is negligible.
    pub(crate) unfelt: bool,
}

/// A rest at a Zeno point.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Rest {
    surface: Surface,
    side: f64,
    /// In which the resets pushed the states, towards the free side; the largest component is one.
    direction: Vec<f64>,
    /// λ at the last point.
    push: f64,
    relation: Slot,
}

impl Rest {
    pub(crate) fn crossing(&self) -> usize {
        self.surface.lead()
    }

    pub(crate) fn push(&self) -> f64 {
        self.push
    }

    pub(crate) fn direction(&self) -> &[f64] {
        &self.direction
    }

    /// Below this the function is round-off.
    pub(crate) fn band(&self) -> f64 {
        REST_BAND_REL * self.surface.size(&[])
    }
}

/// All rests of a motion.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Rests {
    pub(crate) all: Vec<Rest>,
    delta: f64,
    room: Room,
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Room {
    rates: RateRoom,
    rate: Vec<f64>,
    sum: Vec<f64>,
    matrix: Vec<f64>,
    x: Vec<f64>,
    dx: Vec<f64>,
    to: Vec<f64>,
    dx_to: Vec<f64>,
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
    /// With one more. `direction` is the change of the states by the last reset; `None` if it does not move the function's rate.
    pub(crate) fn with(
        &self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        surface: Surface,
        side: f64,
        direction: &[f64],
        setting: Setting<'_>,
    ) -> Result<Option<Rests>, SolveError> {
        let info = &field.system.crossings()[surface.lead()];
        let size = direction.iter().fold(0.0f64, |a, d| a.max(d.abs()));
        let rest = Rest {
            surface,
            side,
            direction: direction.iter().map(|d| d / size).collect(),
            push: 0.0,
            relation: info.relation,
        };
        let mut rests = Rests {
            all: self.all.clone(),
            ..Rests::default()
        };
        rests.all.push(rest);
        rests.set_delta(field, sliding, setting)?;
        let (t, x) = (field.values.time(), rests.room.x.clone());
        let newest = rests.all.len() - 1;
        let effect =
            rests.effects(field, sliding, t, &x, setting.nominal)?[newest * (newest + 1) + newest];
        if effect == 0.0 || !effect.is_finite() {
            return Ok(None);
        }
        let newest = &mut rests.all[newest];
        if effect * side < 0.0 {
            newest.direction.iter_mut().for_each(|d| *d = -*d);
        }
        field.go_to(t, &x);
        Ok(Some(rests))
    }

    /// The step of difference quotients, for the point in the values.
    fn set_delta(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
    ) -> Result<(), SolveError> {
        let (n, m, t) = (
            field.system.states().len(),
            self.all.len(),
            field.values.time(),
        );
        let room = &mut self.room;
        for v in [&mut room.x, &mut room.dx, &mut room.to, &mut room.dx_to] {
            v.resize(n, 0.0);
        }
        for v in [&mut room.rate, &mut room.sum] {
            v.resize(m, 0.0);
        }
        room.matrix.resize(m * m, 0.0);
        gather(field.system.states(), field.values, &mut room.x);
        let (x, mut dx) = (room.x.clone(), vec![0.0; n]);
        free(field, sliding, t, &x, &mut dx)?;
        let longest = time_scale(&x, &dx, setting.nominal, setting.longest);
        let surfaces: Vec<Surface> = self.all.iter().map(|r| r.surface.clone()).collect();
        self.delta = difference_step(field, &surfaces, (t, &x, &dx), longest)?;
        Ok(())
    }

    /// r' of each function along the free motion.
    fn rates(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        x: &[f64],
    ) -> Result<(), SolveError> {
        let Rests { all, delta, room } = self;
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
        }
        Ok(())
    }

    /// ∂r'/∂λ: how the rate of each function (row) answers to a push along each direction (column).
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
            let size = (direction.iter().zip(x).zip(nominal))
                .filter(|((d, _), _)| **d != 0.0)
                .map(|((d, x), nominal)| (x.abs() + nominal) / d.abs())
                .fold(f64::INFINITY, f64::min);
            let h = DIFFERENCE_REL * size;
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

    /// λ of each rest at a point.
    fn find_pushes(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        t: f64,
        nominal: &[f64],
    ) -> Result<(), SolveError> {
        let x = self.room.x.clone();
        let mut dx = std::mem::take(&mut self.room.dx);
        let mut to = std::mem::take(&mut self.room.to);
        free(field, sliding, t, &x, &mut dx)?;
        let mut second = vec![0.0; self.all.len()];
        for (place, factor) in PLACES {
            along(&mut to, &x, place * self.delta, &dx);
            self.rates(field, sliding, t + place * self.delta, &to)?;
            for (second, rate) in second.iter_mut().zip(&self.room.rate) {
                *second -= factor / self.delta * rate;
            }
        }
        (self.room.dx, self.room.to) = (dx, to);
        self.room.sum.copy_from_slice(&second);
        let matrix = self.effects(field, sliding, t, &x, nominal)?;
        let mut lu = DenseLu::new(self.all.len());
        if !lu.factor(&matrix) {
            return Err(SolveError::NonFinite {
                slot: self.all[0].relation,
            });
        }
        lu.solve(&mut second);
        for (rest, push) in self.all.iter_mut().zip(second) {
            rest.push = push;
        }
        Ok(())
    }

    /// How far the newest function gets from zero before its free motion brings it back: r'² / 2|r''|.
    pub(crate) fn excursion(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        nominal: &[f64],
    ) -> Result<f64, SolveError> {
        let t = field.values.time();
        gather(field.system.states(), field.values, &mut self.room.x);
        let x = self.room.x.clone();
        self.find_pushes(field, sliding, t, nominal)?;
        let newest = self.all.len() - 1;
        let second = self.room.sum[newest].abs();
        self.rates(field, sliding, t, &x)?;
        field.go_to(t, &x);
        Ok(0.5 * self.room.rate[newest].powi(2) / second)
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

    /// Brings functions and rates back to zero where they are off by more than this part of the tolerance. True if states were moved.
    pub(crate) fn correct(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
        tolerances: Tolerances,
    ) -> Result<bool, SolveError> {
        self.bring_back(field, sliding, setting, tolerances.negligible())
    }

    pub(crate) fn correct_fully(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
    ) -> Result<bool, SolveError> {
        self.bring_back(field, sliding, setting, EPS)
    }

    fn bring_back(
        &mut self,
        field: &mut Field<'_>,
        sliding: &mut Option<Sliding>,
        setting: Setting<'_>,
        part: f64,
    ) -> Result<bool, SolveError> {
        let (t, n) = (field.values.time(), self.room.x.len());
        let m = self.all.len();
        let mut r = vec![0.0; field.system.crossings().len()];
        let mut x = vec![0.0; n];
        gather(field.system.states(), field.values, &mut x);
        let (mut carried, mut other) = (vec![0.0; n], vec![0.0; n]);
        let mut any = false;
        for _ in 0..CORRECTIONS {
            let mut moved = false;
            for h in 0..m {
                let matrix = self.effects(field, sliding, t, &x, setting.nominal)?;
                let effect = matrix[h * m + h];
                // What the direction does to the states in time: the velocity moves the place.
                let direction = self.all[h].direction.clone();
                let step = DIFFERENCE_REL * (x.iter().fold(1.0f64, |a, x| a.max(x.abs())));
                let mut to = x.clone();
                along(&mut to, &x, step, &direction);
                free(field, sliding, t, &to, &mut carried)?;
                along(&mut to, &x, -step, &direction);
                free(field, sliding, t, &to, &mut other)?;
                for (carried, other) in carried.iter_mut().zip(&other) {
                    *carried = (*carried - other) / (2.0 * step);
                }
                let surface = &self.all[h].surface;
                let size = surface.size(&x);
                let off = self.value(field, h, t, &x, &mut r)?;
                if off.abs() > part * size {
                    let from = x.clone();
                    along(&mut x, &from, -off / effect, &carried);
                    moved = true;
                }
                self.rates(field, sliding, t, &x)?;
                let rate = self.room.rate[h];
                let rate_size = (direction.iter().zip(&x).zip(setting.nominal))
                    .filter(|((d, _), _)| **d != 0.0)
                    .map(|((_, x), nominal)| effect.abs() * (x.abs() + nominal))
                    .fold(0.0, f64::max);
                if rate.abs() > part * rate_size {
                    let from = x.clone();
                    along(&mut x, &from, -rate / effect, &direction);
                    moved = true;
                }
                moved |= self.nudge(field, h, t, &mut x, &carried, &mut r)?;
            }
            any |= moved;
            if !moved {
                break;
            }
        }
        field.go_to(t, &x);
        Ok(any)
    }

    fn value(
        &self,
        field: &mut Field<'_>,
        h: usize,
        t: f64,
        x: &[f64],
        r: &mut [f64],
    ) -> Result<f64, SolveError> {
        field.go_to(t, x);
        field.crossings(self.all[h].surface.class(), r)?;
        Ok(r[self.all[h].crossing()])
    }

    /// Round-off must not put the function on the far side, where its event would happen again.
    fn nudge(
        &self,
        field: &mut Field<'_>,
        h: usize,
        t: f64,
        x: &mut [f64],
        carried: &[f64],
        r: &mut [f64],
    ) -> Result<bool, SolveError> {
        let largest = (0..x.len()).max_by(|&a, &b| carried[a].abs().total_cmp(&carried[b].abs()));
        let Some(i) = largest else { return Ok(false) };
        let from = x[i];
        for _ in 0..NUDGES {
            if self.all[h].side * self.value(field, h, t, x, r)? >= 0.0 {
                break;
            }
            x[i] = if carried[i] > 0.0 {
                x[i].next_up()
            } else {
                x[i].next_down()
            };
        }
        Ok(x[i] != from)
    }

    /// The relation of the newest holds what it holds on the free side.
    pub(crate) fn take_free_side(&self, field: &mut Field<'_>, rules: &[SignRule]) {
        if let Some(rest) = self.all.last() {
            (rest.surface).take_side(rest.side, field.system, rules, field.values);
        }
    }

    /// At the point in the values all of them push.
    pub(crate) fn all_push(&self) -> bool {
        self.all.iter().all(|rest| rest.push > 0.0)
    }
}
