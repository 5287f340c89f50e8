//! Sliding: the motion along surfaces to which the motions on both sides lead (A. F. Filippov, *Differential Equations with Discontinuous Righthand
//! Sides*, 1988).
//!
//! On one surface r = 0 with the motions f⁻ (relations as where r < 0) and f⁺ the run goes on with
//!
//! ```text
//! f = (1 - α) f⁻ + α f⁺,   α from r' = 0:   α = r'⁻ / (r'⁻ - r'⁺),   r'± the rate of r along f±
//! ```
//! as long as 0 < α < 1. It is decided by these rates and never by counting: r'⁻ > 0 > r'⁺. On m surfaces the combination is hierarchical, each level
//! the convex combination of the level below,
//!
//! ```text
//! f = (1 - α₂) [(1 - α₁) f⁻⁻ + α₁ f⁺⁻] + α₂ [(1 - α₁) f⁻⁺ + α₁ f⁺⁺]
//! ```
//! with one weight per surface and all rates zero (J. C. Alexander, T. I. Seidman, *Sliding modes in intersecting switching surfaces*, 1998). Where
//! the surfaces do not interact, f = f⁻⁻ + α₁ (f⁺⁻ - f⁻⁻) + α₂ (f⁻⁺ - f⁻⁻), this is linear in the weights and needs m + 1 motions instead of 2^m.
//!
//! All continuous variables are the same combination of their values on the sides: `sign(x)` in a result is the equivalent control.
//!
//! Which surfaces take part ([`decide`]): those already slid upon do, others are on the side that the event gave them; a weight that leaves [0, 1]
//! lets its surface go to that side, a surface to which the motion leads from its side takes part, one change at a time. A choice seen before
//! ends the search: then nothing slides. The solution is stable if the rates answer to the weights like a restoring force: -∂r'/∂α has positive
//! pivots (for one surface r'⁺ < r'⁻).

use crate::field::{Field, along, time_scale};
use crate::point::gather;
use crate::surface::{RateRoom, Surface, difference_step, rates};
use saltus_model::{CrossingClass, ScheduleKind, Slot, Values};
use saltus_solve::linear::DenseLu;
use saltus_solve::scale::EPS;
use saltus_solve::{SignRule, SolveError, Tolerances};

/// Surfaces that interact need 2^m motions: not more of them than this.
const INTERACTING_MAX: usize = 5;
/// Motions add up if the rest is below this part of their changes.
const ADDITIVE_REL: f64 = 1e-9;
/// Newton iterations for the weights of surfaces that interact, and the change of a weight that ends them.
const WEIGHT_ITERATIONS: u32 = 30;
const WEIGHT_CHANGE: f64 = 1e-13;
/// Corrections of a point.
const CORRECTIONS: u32 = 3;
/// A function whose values on both sides differ by more than this part of its terms is not continuous across the switch.
const CONTINUOUS_REL: f64 = 1e-9;

/// Changes of a decision, for each surface.
const CHANGES_MAX: usize = 8;

/// One of the motions that are combined.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Corner {
    /// The side of each surface.
    sides: Vec<f64>,
    v: Vec<f64>,
    dx: Vec<f64>,
    rates: Vec<f64>,
    weight: f64,
    /// ∂weight/∂α of each surface.
    slopes: Vec<f64>,
}

/// What a run along surfaces needs beside the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting<'a> {
    pub(crate) rules: &'a [SignRule],
    /// Of the states.
    pub(crate) nominal: &'a [f64],
    /// The longest time that difference quotients may look ahead.
    pub(crate) longest: f64,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Sliding {
    surfaces: Vec<Surface>,
    rules: Vec<SignRule>,
    corners: Vec<Corner>,
    /// α of each surface.
    weights: Vec<f64>,
    /// ∂r'/∂α, column by column, and its factors.
    matrix: Vec<f64>,
    lu: DenseLu,
    /// What the relations hold outside of evaluations.
    held: Vec<(Slot, f64)>,
    delta: f64,
    x: Vec<f64>,
    room: RateRoom,
    work: Vec<f64>,
}

impl Sliding {
    /// For the point in the values, at which all surfaces are zero. `None`: too many of them interact.
    fn new(
        field: &mut Field<'_>,
        surfaces: Vec<Surface>,
        setting: Setting<'_>,
    ) -> Result<Option<Sliding>, SolveError> {
        let m = surfaces.len();
        let (n, n_slots) = (field.system.states().len(), field.values.v.len());
        let crossings = field.system.crossings();
        let held = (surfaces.iter().flat_map(Surface::members))
            .map(|i| crossings[i].relation)
            .map(|slot| (slot, field.values.get(slot)))
            .collect();
        let mut sliding = Sliding {
            rules: setting.rules.to_vec(),
            corners: Vec::new(),
            weights: vec![0.5; m],
            matrix: vec![0.0; m * m],
            lu: DenseLu::new(m),
            held,
            delta: 0.0,
            x: vec![0.0; n],
            room: RateRoom::default(),
            work: vec![0.0; m.max(n)],
            surfaces,
        };
        gather(field.system.states(), field.values, &mut sliding.x);
        let base = vec![-1.0; m];
        let mut sides = vec![base.clone()];
        sides.extend((0..m).map(|j| flipped(&base, &[j])));
        sliding.set_corners(sides, n, n_slots);
        sliding.evaluate_corners(field, &[ScheduleKind::Derivatives])?;
        let longest = (sliding.corners.iter())
            .map(|corner| time_scale(&sliding.x, &corner.dx, setting.nominal, setting.longest))
            .fold(setting.longest, f64::min);
        let (t, dx) = (field.values.time(), sliding.corners[0].dx.clone());
        let x = sliding.x.clone();
        sliding.delta = difference_step(field, &sliding.surfaces, (t, &x, &dx), longest)?;
        if m > 1 && !sliding.motions_add_up(field)? {
            if m > INTERACTING_MAX {
                return Ok(None);
            }
            let all = (0..1usize << m).map(|bits| {
                let side = |j: usize| if bits >> j & 1 == 1 { 1.0 } else { -1.0 };
                (0..m).map(side).collect()
            });
            sliding.set_corners(all.collect(), n, n_slots);
        }
        Ok(Some(sliding))
    }

    fn set_corners(&mut self, sides: Vec<Vec<f64>>, n: usize, n_slots: usize) {
        let m = self.surfaces.len();
        let corner = |sides| Corner {
            sides,
            v: vec![0.0; n_slots],
            dx: vec![0.0; n],
            rates: vec![0.0; m],
            weight: 0.0,
            slopes: vec![0.0; m],
        };
        self.corners = sides.into_iter().map(corner).collect();
    }

    /// Whether the change by two surfaces together is the sum of the changes by each, for all pairs.
    fn motions_add_up(&mut self, field: &mut Field<'_>) -> Result<bool, SolveError> {
        let m = self.surfaces.len();
        let mut dx = vec![0.0; self.x.len()];
        for a in 0..m {
            for b in a + 1..m {
                let base = self.corners[0].sides.clone();
                self.take_sides(&flipped(&base, &[a, b]), field);
                field.run(&[ScheduleKind::Derivatives])?;
                field.gather_derivatives(&mut dx)?;
                let (f0, fa, fb) = (
                    &self.corners[0].dx,
                    &self.corners[1 + a].dx,
                    &self.corners[1 + b].dx,
                );
                let size = (0..dx.len())
                    .map(|i| (fa[i] - f0[i]).abs() + (fb[i] - f0[i]).abs())
                    .fold(0.0, f64::max);
                if (0..dx.len())
                    .any(|i| (dx[i] - fa[i] - fb[i] + f0[i]).abs() > ADDITIVE_REL * size)
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn take_sides(&self, sides: &[f64], field: &mut Field<'_>) {
        for (surface, side) in self.surfaces.iter().zip(sides) {
            surface.take_side(*side, field.system, &self.rules, field.values);
        }
        // Factors kept between events may belong to the relations of another corner.
        field.driver.forget_factors();
    }

    fn evaluate_corners(
        &mut self,
        field: &mut Field<'_>,
        kinds: &[ScheduleKind],
    ) -> Result<(), SolveError> {
        for c in 0..self.corners.len() {
            self.take_sides(&self.corners[c].sides, field);
            field.run(kinds)?;
            let corner = &mut self.corners[c];
            corner.v.copy_from_slice(&field.values.v);
            field.gather_derivatives(&mut corner.dx)?;
        }
        Ok(())
    }

    /// All that these schedules compute, at the point in the values, as the combination of the motions. Where rates are zero but for round-off in all
    /// motions there is none.
    pub(crate) fn point(
        &mut self,
        field: &mut Field<'_>,
        kinds: &[ScheduleKind],
    ) -> Result<(), SolveError> {
        let t = field.values.time();
        gather(field.system.states(), field.values, &mut self.x);
        self.evaluate_corners(field, kinds)?;
        for c in 0..self.corners.len() {
            self.take_sides(&self.corners[c].sides, field);
            let Corner { dx, rates: out, .. } = &mut self.corners[c];
            rates(
                field,
                &self.surfaces,
                (t, &self.x, dx),
                self.delta,
                &mut self.room,
                out,
            )?;
        }
        self.find_weights(field)?;
        self.blend(field.values);
        Ok(())
    }

    /// The weights of the corners and how they change with those of the surfaces. If the corners are all combinations of sides they are
    /// products, otherwise the first takes what the others leave.
    fn weigh(&mut self) {
        let m = self.surfaces.len();
        let sums = self.corners.len() == m + 1;
        for (c, corner) in self.corners.iter_mut().enumerate() {
            if sums {
                let own = |j: usize| {
                    if c == 0 {
                        -1.0
                    } else {
                        f64::from(u8::from(c == j + 1))
                    }
                };
                (0..m).for_each(|j| corner.slopes[j] = own(j));
                corner.weight = match c {
                    0 => 1.0 - self.weights.iter().sum::<f64>(),
                    _ => self.weights[c - 1],
                };
                continue;
            }
            let part = |j: usize| match corner.sides[j] > 0.0 {
                true => self.weights[j],
                false => 1.0 - self.weights[j],
            };
            corner.weight = (0..m).map(part).product();
            for j in 0..m {
                let others: f64 = (0..m).filter(|&k| k != j).map(part).product();
                corner.slopes[j] = corner.sides[j] * others;
            }
        }
    }

    fn find_weights(&mut self, field: &Field<'_>) -> Result<(), SolveError> {
        let m = self.surfaces.len();
        let failed = || SolveError::NonFinite {
            slot: field.system.crossings()[self.surfaces[0].lead()].relation,
        };
        let failed = failed();
        if self.weights.iter().any(|w| !w.is_finite()) {
            self.weights.fill(0.5);
        }
        for _ in 0..WEIGHT_ITERATIONS {
            self.weigh();
            for k in 0..m {
                self.work[k] = -(self.corners.iter())
                    .map(|c| c.weight * c.rates[k])
                    .sum::<f64>();
                for j in 0..m {
                    let slope = (self.corners.iter()).map(|c| c.slopes[j] * c.rates[k]);
                    self.matrix[j * m + k] = slope.sum();
                }
            }
            if !self.lu.factor(&self.matrix) {
                return Err(failed);
            }
            self.lu.solve(&mut self.work[..m]);
            let mut change = 0.0f64;
            for (weight, step) in self.weights.iter_mut().zip(&self.work) {
                *weight += step;
                change = change.max(step.abs());
            }
            if change <= WEIGHT_CHANGE || self.corners.len() == m + 1 {
                self.weigh();
                return Ok(());
            }
        }
        Err(failed)
    }

    /// Every value as the combination of those in the corners.
    fn blend(&self, values: &mut Values) {
        let (base, others) = self.corners.split_first().expect("a surface has two sides");
        values.v.copy_from_slice(&base.v);
        for corner in others {
            for (i, v) in values.v.iter_mut().enumerate() {
                let change = corner.v[i] - base.v[i];
                if change != 0.0 {
                    *v += corner.weight * change;
                }
            }
        }
        for &(slot, value) in &self.held {
            values.set(slot, value);
        }
    }

    pub(crate) fn surfaces(&self) -> &[Surface] {
        &self.surfaces
    }

    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The relations go back to what they held before an event that does not concern them.
    pub(crate) fn hold(&self, values: &mut Values) {
        for &(slot, value) in &self.held {
            values.set(slot, value);
        }
    }

    /// The rates answer to the weights like restoring forces.
    fn is_stable(&self) -> bool {
        let m = self.surfaces.len();
        let mut a: Vec<f64> = self.matrix.iter().map(|a| -a).collect();
        for k in 0..m {
            let pivot = a[k * m + k];
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            for i in k + 1..m {
                let factor = a[k * m + i] / pivot;
                for j in k..m {
                    a[j * m + i] -= factor * a[j * m + k];
                }
            }
        }
        true
    }

    /// The functions at the point in the values, brought back to zero along the changes that the weights make if one has drifted. True if the states
    /// were moved; they are in the values, and all else belongs to the point before.
    pub(crate) fn correct(
        &mut self,
        field: &mut Field<'_>,
        tolerances: Tolerances,
    ) -> Result<bool, SolveError> {
        let part = tolerances.negligible();
        self.bring_back(field, part)
    }

    /// As near to zero as round-off allows.
    pub(crate) fn correct_fully(&mut self, field: &mut Field<'_>) -> Result<bool, SolveError> {
        self.bring_back(field, EPS)
    }

    fn bring_back(&mut self, field: &mut Field<'_>, part: f64) -> Result<bool, SolveError> {
        let m = self.surfaces.len();
        let t = field.values.time();
        let class = crate::surface::joint_class(&self.surfaces);
        let mut r = vec![0.0; field.system.crossings().len()];
        let mut moved = false;
        for _ in 0..CORRECTIONS {
            gather(field.system.states(), field.values, &mut self.x);
            self.take_sides(&self.corners[0].sides, field);
            field.crossings(class, &mut r)?;
            let off = |s: &Surface| r[s.lead()].abs() > part * s.size(&self.x);
            if !self.surfaces.iter().any(off) {
                break;
            }
            field.go_to(t, &self.x.clone());
            self.point(field, &[ScheduleKind::Derivatives])?;
            for (k, surface) in self.surfaces.iter().enumerate() {
                self.work[k] = -r[surface.lead()];
            }
            self.lu.solve(&mut self.work[..m]);
            let mut to = self.x.clone();
            for j in 0..m {
                for corner in &self.corners {
                    let step = self.work[j] * corner.slopes[j];
                    let from = to.clone();
                    along(&mut to, &from, step, &corner.dx);
                }
            }
            field.go_to(t, &to);
            moved = true;
        }
        self.hold(field.values);
        Ok(moved)
    }
}

fn flipped(sides: &[f64], which: &[usize]) -> Vec<f64> {
    let mut sides = sides.to_vec();
    for &j in which {
        sides[j] = -sides[j];
    }
    sides
}

/// Where a surface stands in a decision.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Standing {
    Slides,
    /// The motion is on this side.
    Side(f64),
    /// The motion has just left to this side, and stays there.
    Left(f64),
}

/// Decides along which of these surfaces, on all of which the point in the values lies, the motion goes on; the relations of the others are those of the
/// sides that the decision gave them. `None`: along none of them.
pub(crate) fn decide(
    field: &mut Field<'_>,
    surfaces: &[Surface],
    standings: &mut [Standing],
    setting: Setting<'_>,
) -> Result<Option<Sliding>, SolveError> {
    let mut x = vec![0.0; field.system.states().len()];
    gather(field.system.states(), field.values, &mut x);
    let t = field.values.time();
    let continuous = continuous(field, surfaces, setting.rules)?;
    let mut seen: Vec<Vec<Standing>> = Vec::new();
    let mut dx = vec![0.0; x.len()];
    let mut rate = vec![0.0; surfaces.len()];
    // Each pass has another choice than all before it.
    loop {
        field.go_to(t, &x);
        for (surface, standing) in surfaces.iter().zip(standings.iter()) {
            if let Standing::Side(side) | Standing::Left(side) = *standing {
                surface.take_side(side, field.system, setting.rules, field.values);
            }
        }
        if seen.iter().any(|before| before == standings)
            || seen.len() > CHANGES_MAX * surfaces.len()
        {
            return Ok(None);
        }
        seen.push(standings.to_vec());
        let taking: Vec<usize> = (0..surfaces.len())
            .filter(|&k| standings[k] == Standing::Slides)
            .collect();
        let mut sliding = None;
        if taking.is_empty() {
            field.driver.forget_factors();
            field.run(&[ScheduleKind::Derivatives])?;
        } else {
            if taking.iter().any(|&k| !continuous[k]) {
                return Ok(None);
            }
            let chosen = taking.iter().map(|&k| surfaces[k].clone()).collect();
            let Some(mut new) = Sliding::new(field, chosen, setting)? else {
                return Ok(None);
            };
            field.go_to(t, &x);
            // Rates that do not answer to the weights: nothing to slide upon.
            if new.point(field, &[ScheduleKind::Derivatives]).is_err() {
                return Ok(None);
            }
            let beyond = |w: f64| (-w).max(w - 1.0);
            let worst = (0..taking.len())
                .max_by(|&a, &b| beyond(new.weights[a]).total_cmp(&beyond(new.weights[b])))
                .filter(|&j| beyond(new.weights[j]) >= 0.0);
            if let Some(j) = worst {
                let side = if new.weights[j] > 0.5 { 1.0 } else { -1.0 };
                standings[taking[j]] = Standing::Side(side);
                continue;
            }
            if !new.is_stable() {
                return Ok(None);
            }
            sliding = Some(new);
        }
        field.gather_derivatives(&mut dx)?;
        let delta =
            crate::field::DIFFERENCE_REL * time_scale(&x, &dx, setting.nominal, setting.longest);
        let mut room = RateRoom::default();
        let before = field.values.v.clone();
        rates(field, surfaces, (t, &x, &dx), delta, &mut room, &mut rate)?;
        field.values.v.copy_from_slice(&before);
        let toward = (0..surfaces.len()).find(|&k| match standings[k] {
            Standing::Side(side) => side * rate[k] < 0.0,
            Standing::Slides | Standing::Left(_) => false,
        });
        match toward {
            Some(k) => standings[k] = Standing::Slides,
            None => return Ok(sliding),
        }
    }
}

/// Which functions have the same value on both sides of their surfaces. An affine one depends on no relation.
fn continuous(
    field: &mut Field<'_>,
    surfaces: &[Surface],
    rules: &[SignRule],
) -> Result<Vec<bool>, SolveError> {
    let before = field.values.v.clone();
    let mut r = vec![0.0; field.system.crossings().len()];
    let mut x = vec![0.0; field.system.states().len()];
    gather(field.system.states(), field.values, &mut x);
    let mut result = Vec::new();
    for surface in surfaces {
        if surface.class() == CrossingClass::Affine {
            result.push(true);
            continue;
        }
        let mut sides = [0.0; 2];
        for (side, value) in [-1.0, 1.0].into_iter().zip(&mut sides) {
            surface.take_side(side, field.system, rules, field.values);
            field.driver.forget_factors();
            field.crossings(CrossingClass::General, &mut r)?;
            *value = r[surface.lead()];
        }
        result.push((sides[1] - sides[0]).abs() <= CONTINUOUS_REL * surface.size(&x));
        field.values.v.copy_from_slice(&before);
    }
    Ok(result)
}
