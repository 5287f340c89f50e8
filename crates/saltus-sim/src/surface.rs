//! Surfaces r = 0 on which relations change.
//!
//! Several crossing functions may be zero on one surface: `x > 0` and `x < 0` of one `sign`, `x > 0` and `-2*x < 0`. Functions whose gradients
//! are parallel where both are zero are one surface.

use crate::field::{DIFFERENCE_REL, Field, PLACES, along};
use saltus_model::{CrossingClass, System, Values};
use saltus_solve::scale::{EPS, nominal_magnitude};
use saltus_solve::{SignRule, SolveError};

/// Gradients, each in units of its length, that differ by less are parallel.
const PARALLEL: f64 = 1e-6;
/// A part of a gradient by differences that is below this part of the largest, both times the size of their states, is round-off.
const INDEPENDENT: f64 = 1e-10;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Surface {
    /// The functions that are zero on it, each with its sign relative to the first.
    members: Vec<(usize, f64)>,
    class: CrossingClass,
    /// dr/dx and dr/dt of the first; constant for an affine one, otherwise as they were when they were found.
    gradient: Vec<f64>,
    time_slope: f64,
    nominal: f64,
}

impl Surface {
    /// The index of the first function.
    pub(crate) fn lead(&self) -> usize {
        self.members[0].0
    }

    pub(crate) fn class(&self) -> CrossingClass {
        self.class
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = usize> {
        self.members.iter().map(|member| member.0)
    }

    /// The first function changes with this state.
    pub(crate) fn depends_on(&self, state: usize) -> bool {
        self.gradient[state] != 0.0
    }

    /// The round-off of the first function at these states.
    pub(crate) fn round_off(&self, x: &[f64], t: f64) -> f64 {
        let terms = (self.gradient.iter().zip(x)).map(|(slope, x)| (slope * x).abs());
        EPS * terms.fold((self.time_slope * t).abs(), f64::max)
    }

    /// The sign of a member relative to the first.
    pub(crate) fn sign_of(&self, function: usize) -> f64 {
        (self.members.iter().find(|member| member.0 == function)).map_or(1.0, |member| member.1)
    }

    /// Lets the relations hold what they hold on this side.
    pub(crate) fn take_side(
        &self,
        side: f64,
        system: &dyn System,
        rules: &[SignRule],
        values: &mut Values,
    ) {
        for &(i, sign) in &self.members {
            let holds = f64::from(u8::from(rules[i].holds(sign * side)));
            values.set(system.crossings()[i].relation, holds);
        }
    }

    /// The side on which all relations hold what they hold now.
    pub(crate) fn side(
        &self,
        system: &dyn System,
        rules: &[SignRule],
        values: &Values,
    ) -> Option<f64> {
        [1.0, -1.0].into_iter().find(|side| {
            let holds = |i: usize| values.get(system.crossings()[i].relation) != 0.0;
            (self.members.iter()).all(|&(i, sign)| holds(i) == rules[i].holds(sign * side))
        })
    }

    /// The size of its function's terms: what is far below is round-off.
    pub(crate) fn size(&self, x: &[f64]) -> f64 {
        let terms = (self.gradient.iter().zip(x)).map(|(slope, x)| (slope * x).abs());
        terms.fold(self.nominal, f64::max)
    }
}

/// The surfaces of these functions, all of which are zero at the point in the values.
pub(crate) fn surfaces(
    field: &mut Field<'_>,
    functions: &[usize],
    x: &[f64],
    nominal: &[f64],
) -> Result<Vec<Surface>, SolveError> {
    let t = field.values.time();
    let mut found: Vec<Surface> = Vec::new();
    for &i in functions {
        let info = &field.system.crossings()[i];
        let surface = Surface {
            members: vec![(i, 1.0)],
            class: info.class,
            gradient: vec![0.0; x.len()],
            time_slope: 0.0,
            nominal: nominal_magnitude(info.nominal),
        };
        found.push(surface);
    }
    gradients(field, &mut found, t, x, nominal)?;
    let mut merged: Vec<Surface> = Vec::new();
    for surface in found {
        match (merged.iter_mut())
            .find_map(|m| parallel(m, &surface, t, x, nominal).map(|sign| (m, sign)))
        {
            Some((same, sign)) => same.members.push((surface.lead(), sign)),
            None => merged.push(surface),
        }
    }
    Ok(merged)
}

/// The sign of one surface relative to another, if they are one.
fn parallel(a: &Surface, b: &Surface, t: f64, x: &[f64], nominal: &[f64]) -> Option<f64> {
    let scaled = |s: &Surface| -> Vec<f64> {
        let mut g: Vec<f64> = (s.gradient.iter().zip(x).zip(nominal))
            .map(|((g, x), nominal)| g * (x.abs() + nominal))
            .collect();
        g.push(s.time_slope * t.abs().max(1.0));
        let length = g.iter().map(|g| g * g).sum::<f64>().sqrt();
        g.iter_mut().for_each(|g| *g /= length);
        g
    };
    let (a, b) = (scaled(a), scaled(b));
    [1.0, -1.0].into_iter().find(|sign| {
        a.iter()
            .zip(&b)
            .all(|(a, b)| (a - sign * b).abs() < PARALLEL)
    })
}

/// Gradients by differences, exact but for round-off for affine functions.
fn gradients(
    field: &mut Field<'_>,
    surfaces: &mut [Surface],
    t: f64,
    x: &[f64],
    nominal: &[f64],
) -> Result<(), SolveError> {
    let n = field.system.crossings().len();
    let class = joint_class(surfaces.iter());
    let (mut r, mut moved, mut to) = (vec![0.0; n], vec![0.0; n], x.to_vec());
    field.go_to(t, x);
    field.crossings(CrossingClass::Affine, &mut r)?;
    for k in 0..=x.len() {
        let (at, size) = match x.get(k) {
            Some(&x) => (x, x.abs() + nominal[k]),
            None => (t, t.abs().max(1.0)),
        };
        let mut go = |field: &mut Field<'_>, value: f64| match x.get(k) {
            Some(_) => {
                to[k] = value;
                field.go_to(t, &to);
                to[k] = at;
            }
            None => field.go_to(value, x),
        };
        let far = at + size;
        go(field, far);
        field.crossings(CrossingClass::Affine, &mut moved)?;
        let mut slopes: Vec<f64> = (surfaces.iter())
            .map(|s| (moved[s.lead()] - r[s.lead()]) / (far - at))
            .collect();
        if class == CrossingClass::General {
            let h = DIFFERENCE_REL * size;
            let mut sums = vec![0.0; surfaces.len()];
            for (place, factor) in PLACES {
                go(field, at + place * h);
                field.crossings(class, &mut moved)?;
                for (sum, s) in sums.iter_mut().zip(surfaces.iter()) {
                    *sum += factor / h * moved[s.lead()];
                }
            }
            for ((slope, sum), s) in slopes.iter_mut().zip(sums).zip(surfaces.iter()) {
                if s.class == CrossingClass::General {
                    *slope = sum;
                }
            }
        }
        for (s, slope) in surfaces.iter_mut().zip(slopes) {
            match s.gradient.get_mut(k) {
                Some(g) => *g = slope,
                None => s.time_slope = slope,
            }
        }
    }
    // Of difference quotients that are not exact a small one is round-off: the function does not depend on that state.
    for s in (surfaces.iter_mut()).filter(|s| s.class == CrossingClass::General) {
        let part = |(g, k): (f64, usize)| g.abs() * (x[k].abs() + nominal[k]);
        let parts = (s.gradient.iter().copied().zip(0..)).map(part);
        let least = INDEPENDENT * parts.fold((s.time_slope * t.abs().max(1.0)).abs(), f64::max);
        for (k, g) in s.gradient.iter_mut().enumerate() {
            if part((*g, k)) <= least {
                *g = 0.0;
            }
        }
    }
    field.go_to(t, x);
    Ok(())
}

/// Affine if all of them are.
pub(crate) fn joint_class<'a>(surfaces: impl IntoIterator<Item = &'a Surface>) -> CrossingClass {
    let affine = (surfaces.into_iter()).all(|s| s.class == CrossingClass::Affine);
    if affine {
        CrossingClass::Affine
    } else {
        CrossingClass::General
    }
}

/// Work space of [`rates`].
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct RateRoom {
    to: Vec<f64>,
    r: Vec<f64>,
}

/// dr/dt of each surface's function along x' = dx, the relations being what they are in the values: exact for affine ones, by differences over
/// `delta` for others. Leaves the values at another point where it needs differences.
pub(crate) fn rates(
    field: &mut Field<'_>,
    surfaces: &[Surface],
    (t, x, dx): (f64, &[f64], &[f64]),
    delta: f64,
    room: &mut RateRoom,
    out: &mut [f64],
) -> Result<(), SolveError> {
    for (out, s) in out.iter_mut().zip(surfaces) {
        let slopes = (s.gradient.iter().zip(dx)).map(|(g, dx)| g * dx);
        *out = s.time_slope + slopes.sum::<f64>();
    }
    if joint_class(surfaces) == CrossingClass::Affine {
        return Ok(());
    }
    room.to.resize(x.len(), 0.0);
    room.r.resize(field.system.crossings().len(), 0.0);
    let general = |s: &&Surface| s.class == CrossingClass::General;
    for (out, _) in out.iter_mut().zip(surfaces).filter(|(_, s)| general(s)) {
        *out = 0.0;
    }
    for (place, factor) in PLACES {
        along(&mut room.to, x, place * delta, dx);
        field.go_to(t + place * delta, &room.to);
        field.crossings(CrossingClass::General, &mut room.r)?;
        for (out, s) in out.iter_mut().zip(surfaces).filter(|(_, s)| general(s)) {
            *out += factor / delta * room.r[s.lead()];
        }
    }
    Ok(())
}

/// A step for the differences of [`rates`] that shows them: one of which the quarter gives the same.
pub(crate) fn difference_step(
    field: &mut Field<'_>,
    surfaces: &[Surface],
    (t, x, dx): (f64, &[f64], &[f64]),
    longest: f64,
) -> Result<f64, SolveError> {
    /// Relative difference of two quotients that show the same.
    const AGREE_REL: f64 = 1e-7;
    const SHORTER: f64 = 0.25;
    const TRIALS: u32 = 8;
    let mut delta = DIFFERENCE_REL * longest;
    if joint_class(surfaces) == CrossingClass::Affine {
        return Ok(delta);
    }
    let mut room = RateRoom::default();
    let (mut here, mut finer) = (vec![0.0; surfaces.len()], vec![0.0; surfaces.len()]);
    rates(field, surfaces, (t, x, dx), delta, &mut room, &mut here)?;
    for _ in 0..TRIALS {
        let shorter = SHORTER * delta;
        rates(field, surfaces, (t, x, dx), shorter, &mut room, &mut finer)?;
        let agree = |((a, b), s): ((&f64, &f64), &Surface)| {
            (a - b).abs() <= AGREE_REL * (a.abs() + s.size(x) / longest)
        };
        if here.iter().zip(&finer).zip(surfaces).all(agree) {
            break;
        }
        delta = shorter;
        std::mem::swap(&mut here, &mut finer);
    }
    field.go_to(t, x);
    Ok(delta)
}
