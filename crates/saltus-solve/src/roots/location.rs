//! Bracketing methods: where to look next for the change of sign between two times.
//!
//! Comes in: a bracket with the function's values at its ends, of different sign (zero counts for the side it is found on). Goes
//! out: the next point to evaluate, until no float lies between the ends. A [`Locator`] proposes, the caller evaluates and tells
//! on which side the point is; so the caller may bracket "some relation has changed" with the values of one function.
//!
//! Guarded methods, those of the source documents, have two safeguards, both counted: a proposal outside of the bracket is replaced by its middle, and from the
//! fourth evaluation on the bracket halves at least every three evaluations. A proposal at an end of the bracket is moved inwards by as little as can be, so that
//! a method that has arrived on one side closes the bracket from the other; this is counted apart.
//!
//! Sources: Cellier and Kofman, chapter 9 (equations in `interpolation.rs` here); Dekker 1969; Dowell and Jarratt 1971 (Illinois) and 1972 (Pegasus); Anderson and Björck 1973; Ganchovski and Traykov 2023 (ModAB);
//! Brent, Algorithms for Minimization without Derivatives, 4; Chandrupatla, Advances in Engineering Software 28, 1997; Oliveira and
//! Takahashi, ACM TOMS 47, 2021 (ITP); Alefeld, Potra and Shi, ACM TOMS 21, 1995 (algorithm 748).

use super::interpolation;
use crate::error::SolveError;

/// Proposals are followed for this many evaluations, then the bracket is halved.
const PROPOSALS_MAX: u32 = 160;
/// Evaluations of one location. Halving alone needs 53 on a bracket of one exponent, and some thousand from 1 to the smallest float.
const EVALUATIONS_MAX: u32 = 1400;
/// Evaluations that a guarded method has before its bracket must halve.
const FREE_EVALUATIONS: u32 = 3;
/// A proposal this close to an end has arrived there, be it outside by round-off.
const NEAR_ULPS: f64 = 4.0;
/// (√5 - 1)/2, the solution of x = (1 - x)/x (9.8); written out because `sqrt` is not a constant function.
pub(super) const GOLDEN_SECTION: f64 = 0.618_033_988_749_894_8;
/// ITP: share of the bracket, power and slack of its authors' recommendation.
const ITP_KAPPA_1: f64 = 0.2;
const ITP_SLACK: f64 = 1.0;
/// ModAB: a function is straight enough for secants if its middle is this close to the chord, relative to both.
const MODAB_STRAIGHT: f64 = 0.25;
/// ModAB: secants that do not keep up with halving after four steps are given up.
const MODAB_PATIENCE: f64 = 16.0;
/// Algorithm 748: a round of three interpolations must halve the bracket, else it is halved.
const TOMS_SHRINK: f64 = 0.5;

/// A method of location, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub enum LocationMethod {
    Bisection,
    /// The bracket is divided by the golden section (9.8).
    GoldenSection,
    /// f = f_k + (t - t_k) Φ(t) solved for the t in front of the slope: t_next = t_k - f_k/Φ(t). Needs no derivative and always looks from the start of
    /// the step.
    FixedPoint,
    RegulaFalsi,
    Illinois,
    Pegasus,
    /// Through the two newest points, whatever their signs.
    Secant,
    Dekker,
    ModAb,
    Brent,
    #[default]
    Chandrupatla,
    Itp,
    Toms748,
    /// From the end of the step on.
    Newton,
    /// A cubic through values and rates at both ends by the 4x4 system (9.12) …
    Cubic,
    /// … and by Hermite's basis (H9.4).
    CubicHermite,
    /// The same for t as a function of the value, by the 4x4 system (9.17) …
    InverseCubic,
    /// … and by Hermite's basis (9.18 to 9.25).
    InverseHermite,
    /// Newton's iteration on the Taylor polynomial at the end of the step (9.26 to 9.29).
    Nordsieck,
    /// The root of the step's interpolation polynomial (P9.1).
    Dense,
}

impl LocationMethod {
    pub const ALL: [LocationMethod; 20] = [
        LocationMethod::Bisection,
        LocationMethod::GoldenSection,
        LocationMethod::FixedPoint,
        LocationMethod::RegulaFalsi,
        LocationMethod::Illinois,
        LocationMethod::Pegasus,
        LocationMethod::Secant,
        LocationMethod::Dekker,
        LocationMethod::ModAb,
        LocationMethod::Brent,
        LocationMethod::Chandrupatla,
        LocationMethod::Itp,
        LocationMethod::Toms748,
        LocationMethod::Newton,
        LocationMethod::Cubic,
        LocationMethod::CubicHermite,
        LocationMethod::InverseCubic,
        LocationMethod::InverseHermite,
        LocationMethod::Nordsieck,
        LocationMethod::Dense,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            LocationMethod::Bisection => "bisection",
            LocationMethod::GoldenSection => "golden-section",
            LocationMethod::FixedPoint => "fixed-point",
            LocationMethod::RegulaFalsi => "regula-falsi",
            LocationMethod::Illinois => "illinois",
            LocationMethod::Pegasus => "pegasus",
            LocationMethod::Secant => "secant",
            LocationMethod::Dekker => "dekker",
            LocationMethod::ModAb => "modab",
            LocationMethod::Brent => "brent",
            LocationMethod::Chandrupatla => "chandrupatla",
            LocationMethod::Itp => "itp",
            LocationMethod::Toms748 => "toms748",
            LocationMethod::Newton => "newton",
            LocationMethod::Cubic => "cubic",
            LocationMethod::CubicHermite => "cubic-hermite",
            LocationMethod::InverseCubic => "inverse-cubic",
            LocationMethod::InverseHermite => "inverse-hermite",
            LocationMethod::Nordsieck => "nordsieck",
            LocationMethod::Dense => "dense",
        }
    }

    /// What a method uses beside the values of the function.
    pub fn needs(self) -> Needs {
        match self {
            LocationMethod::Newton
            | LocationMethod::Cubic
            | LocationMethod::CubicHermite
            | LocationMethod::InverseCubic
            | LocationMethod::InverseHermite => Needs::Rates,
            LocationMethod::Nordsieck | LocationMethod::Dense => Needs::Polynomial,
            LocationMethod::Bisection
            | LocationMethod::GoldenSection
            | LocationMethod::FixedPoint
            | LocationMethod::RegulaFalsi
            | LocationMethod::Illinois
            | LocationMethod::Pegasus
            | LocationMethod::Secant
            | LocationMethod::Dekker
            | LocationMethod::ModAb
            | LocationMethod::Brent
            | LocationMethod::Chandrupatla
            | LocationMethod::Itp
            | LocationMethod::Toms748 => Needs::Values,
        }
    }

    /// The general safeguards apply; the others have their own.
    fn is_guarded(self) -> bool {
        !matches!(
            self,
            LocationMethod::ModAb
                | LocationMethod::Brent
                | LocationMethod::Chandrupatla
                | LocationMethod::Itp
                | LocationMethod::Toms748
        )
    }

    pub fn from_name(name: &str) -> Option<LocationMethod> {
        LocationMethod::ALL
            .into_iter()
            .find(|method| method.as_str() == name)
    }
}

/// What a method of location uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs {
    Values,
    /// The rate of the function too.
    Rates,
    /// A polynomial over the bracket.
    Polynomial,
}

/// How often a method was not followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Safeguards {
    /// The proposal was outside of the bracket, or no number.
    pub outside: u32,
    /// The bracket had to be halved.
    pub slow: u32,
    /// The proposal was as good as an end of the bracket, which was closed from there.
    pub closing: u32,
}

/// A function of time with what the methods of [`LocationMethod`] need of it.
pub trait Curve {
    fn value(&mut self, t: f64) -> Result<f64, SolveError>;

    fn rate(&mut self, t: f64) -> Result<f64, SolveError>;

    /// Coefficients, the constant one first, of the polynomial in (t - left)/(right - left) that is or stands for the function between two times.
    fn polynomial(&mut self, left: f64, right: f64) -> Result<Vec<f64>, SolveError>;
}

/// A location with all that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    pub found: Bracketed,
    /// The points evaluated after the ends of the bracket.
    pub iterates: Vec<f64>,
    /// Iterates on the polynomial of the step, which cost no evaluation.
    pub inner: Vec<f64>,
    pub safeguards: Safeguards,
    /// Evaluations of the rate.
    pub rates: u32,
}

/// Locates the change of sign of a curve between two times. `None` if there is none.
pub fn trace(
    method: LocationMethod,
    curve: &mut (impl Curve + ?Sized),
    left: f64,
    right: f64,
) -> Result<Option<Trace>, SolveError> {
    let (at_left, at_right) = (curve.value(left)?, curve.value(right)?);
    let side = at_left >= 0.0;
    if (at_right >= 0.0) == side || left >= right {
        return Ok(None);
    }
    let mut locator = Locator::new(method, (left, at_left), (right, at_right), 0.0);
    let mut rates = 0;
    match method.needs() {
        Needs::Values => {}
        Needs::Rates => {
            locator.set_rates(curve.rate(left)?, curve.rate(right)?);
            rates = 2;
        }
        Needs::Polynomial => locator.set_polynomial(curve.polynomial(left, right)?),
    }
    let mut iterates = Vec::new();
    while let Some(t) = locator.propose() {
        iterates.push(t);
        let value = curve.value(t)?;
        locator.update(t, value, (value >= 0.0) != side);
        if method.needs() == Needs::Rates {
            rates += 1;
            locator.update_rate(curve.rate(t)?);
        }
    }
    Ok(Some(Trace {
        found: Bracketed {
            left: locator.left.0,
            right: locator.right.0,
            evaluations: locator.evaluations + 2,
        },
        iterates,
        inner: locator.inner,
        safeguards: locator.safeguards,
        rates,
    }))
}

/// Neighbouring floats (or times as close as the resolution asked for) between which a function changes sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracketed {
    pub left: f64,
    pub right: f64,
    pub evaluations: u32,
}

/// Locates the change of sign of `f` in [left, right]. `None` if there is none. Rates and polynomials, where the method needs them, are made from values,
/// which are not counted.
pub fn locate(
    method: LocationMethod,
    f: impl FnMut(f64) -> f64,
    left: f64,
    right: f64,
) -> Option<Bracketed> {
    let mut curve = Values { f, left, right };
    match trace(method, &mut curve, left, right) {
        Ok(found) => found.map(|trace| trace.found),
        Err(_) => unreachable!("a plain function has no errors"),
    }
}

/// A plain function on an interval.
pub(super) struct Values<F> {
    pub(super) f: F,
    pub(super) left: f64,
    pub(super) right: f64,
}

impl<F: FnMut(f64) -> f64> Curve for Values<F> {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok((self.f)(t))
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        let (low, high) = interpolation::difference_points(t, self.left, self.right);
        Ok(((self.f)(high) - (self.f)(low)) / (high - low))
    }

    fn polynomial(&mut self, left: f64, right: f64) -> Result<Vec<f64>, SolveError> {
        let node = |k: usize| left + interpolation::node(k, interpolation::FITTED) * (right - left);
        let values: Vec<f64> = (0..=interpolation::FITTED)
            .map(|k| (self.f)(node(k)))
            .collect();
        Ok(interpolation::polynomial_through(&values))
    }
}

type Point = (f64, f64);

/// Where a polynomial close to the function has its root, and its slope there.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Guess {
    pub(super) at: f64,
    pub(super) slope: f64,
}

/// One location in progress.
#[derive(Clone, Debug)]
pub(super) struct Locator {
    method: LocationMethod,
    pub(super) left: Point,
    pub(super) right: Point,
    /// Below this width the bracket is not refined.
    resolution: f64,
    pub(super) evaluations: u32,
    /// The newest point, and whether it is the right end.
    newest: Point,
    newest_is_right: bool,
    /// The points given up last and before.
    older: Point,
    oldest: Point,
    /// Values at the ends as the methods of the regula falsi family weigh them.
    weights: (f64, f64),
    /// The last point replaced the same end as the one before.
    same_side: bool,
    /// Proposals keep this distance from the ends: it grows as long as the function stays on one side for round-off.
    distance: f64,
    clamped: bool,
    own: Own,
    /// The point before the newest, and the left end at the beginning.
    before: Point,
    origin: Point,
    /// Rates at the ends and at the newest point.
    rates: (f64, f64),
    newest_rate: f64,
    polynomial: Vec<f64>,
    inner: Vec<f64>,
    pub(super) safeguards: Safeguards,
    /// The last proposal was not the method's.
    overruled: bool,
    /// Widths of the bracket two evaluations ago, one ago, and now: after the next one it is half of the first.
    widths: [f64; 3],
}

/// What single methods remember.
#[derive(Clone, Copy, Debug)]
enum Own {
    Nothing,
    ModAb {
        halving: bool,
        allowed: f64,
    },
    /// Steps taken last and before.
    Brent {
        step: f64,
        before: f64,
    },
    /// The best point, and the best one before.
    Dekker {
        best: Point,
        last: Point,
    },
    Itp {
        width: f64,
        round: i32,
    },
    Toms {
        stage: u32,
        width: f64,
    },
}

impl Locator {
    /// `resolution` zero: down to neighbouring floats.
    #[inline]
    pub(super) fn new(
        method: LocationMethod,
        left: Point,
        right: Point,
        resolution: f64,
    ) -> Locator {
        let width = right.0 - left.0;
        let own = match method {
            LocationMethod::ModAb => Own::ModAb {
                halving: true,
                allowed: width,
            },
            LocationMethod::Brent => Own::Brent {
                step: width,
                before: width,
            },
            LocationMethod::Dekker => {
                let (best, last) = by_size(left, right);
                Own::Dekker { best, last }
            }
            LocationMethod::Itp => Own::Itp { width, round: 0 },
            LocationMethod::Toms748 => Own::Toms { stage: 0, width },
            _ => Own::Nothing,
        };
        Locator {
            method,
            left,
            right,
            resolution,
            evaluations: 0,
            newest: right,
            newest_is_right: true,
            older: left,
            oldest: left,
            weights: (left.1, right.1),
            same_side: false,
            distance: 0.0,
            clamped: false,
            own,
            before: left,
            origin: left,
            rates: (f64::NAN, f64::NAN),
            newest_rate: f64::NAN,
            polynomial: Vec::new(),
            inner: Vec::new(),
            safeguards: Safeguards::default(),
            overruled: false,
            widths: [width; 3],
        }
    }

    pub(super) fn set_rates(&mut self, left: f64, right: f64) {
        self.rates = (left, right);
        self.newest_rate = right;
    }

    pub(super) fn set_polynomial(&mut self, polynomial: Vec<f64>) {
        self.polynomial = polynomial;
    }

    /// The rate at the point of the last [`Locator::update`].
    pub(super) fn update_rate(&mut self, rate: f64) {
        self.newest_rate = rate;
        if self.newest_is_right {
            self.rates.1 = rate;
        } else {
            self.rates.0 = rate;
        }
    }

    /// The next point to evaluate, strictly inside the bracket; `None` when there is none or the bound is reached.
    #[inline]
    pub(super) fn propose(&mut self) -> Option<f64> {
        let (a, b) = (self.left.0, self.right.0);
        let middle = a + 0.5 * (b - a);
        if b - a <= self.resolution
            || middle <= a
            || middle >= b
            || self.evaluations >= EVALUATIONS_MAX
        {
            return None;
        }
        let unit_at = |end: f64| self.resolution.max(ulp(end.abs()));
        let (unit_a, unit_b) = (unit_at(a), unit_at(b));
        self.distance = self.distance.max(unit_a.min(unit_b));
        if self.evaluations >= PROPOSALS_MAX {
            return Some(middle);
        }
        let guarded = self.method.is_guarded();
        if guarded && self.evaluations >= FREE_EVALUATIONS && b - a > 0.5 * self.widths[0] {
            self.safeguards.slow += 1;
            self.overruled = true;
            self.clamped = false;
            return Some(middle);
        }
        let wanted = self.by_method(middle);
        let near =
            (wanted - a).abs() <= NEAR_ULPS * unit_a || (wanted - b).abs() <= NEAR_ULPS * unit_b;
        let outside = !wanted.is_finite() || guarded && !near && !(wanted > a && wanted < b);
        let wanted = if outside { middle } else { wanted };
        self.safeguards.outside += u32::from(outside);
        self.overruled = outside;
        let half = 0.5 * (b - a);
        let low = a + self.distance.max(unit_a).min(half);
        let high = b - self.distance.max(unit_b).min(half);
        self.clamped = wanted < low || wanted > high;
        self.safeguards.closing += u32::from(self.clamped);
        let x = if wanted < low {
            self.distance = low - a;
            low
        } else if wanted > high {
            self.distance = b - high;
            high
        } else {
            wanted
        };
        Some(if x <= a || x >= b { middle } else { x })
    }

    /// The value at a proposed point, and whether it is on the side of the right end.
    #[inline]
    pub(super) fn update(&mut self, x: f64, value: f64, is_right: bool) {
        self.evaluations += 1;
        self.same_side = self.evaluations > 1 && is_right == self.newest_is_right;
        let replaced = if is_right { self.right } else { self.left };
        let kept = if is_right {
            &mut self.weights.0
        } else {
            &mut self.weights.1
        };
        if self.overruled {
            *kept = if is_right { self.left.1 } else { self.right.1 };
        } else if self.same_side {
            *kept *= match self.method {
                LocationMethod::Illinois | LocationMethod::Nordsieck | LocationMethod::Dense => 0.5,
                LocationMethod::Pegasus => replaced.1 / (replaced.1 + value),
                LocationMethod::ModAb => {
                    let m = 1.0 - value / replaced.1;
                    if m > 0.0 { m } else { 0.5 }
                }
                _ => 1.0,
            };
        }
        if is_right {
            self.weights.1 = value;
        } else {
            self.weights.0 = value;
        }
        self.distance = if self.clamped && self.same_side {
            2.0 * self.distance
        } else {
            0.0
        };
        self.oldest = self.older;
        self.older = replaced;
        if let Own::Brent { step, before } = &mut self.own {
            *before = *step;
            *step = x - self.newest.0;
        }
        self.before = self.newest;
        self.newest = (x, value);
        self.newest_is_right = is_right;
        if is_right {
            self.right = self.newest;
        } else {
            self.left = self.newest;
        }
        let width = self.right.0 - self.left.0;
        self.widths = [self.widths[1], self.widths[2], width];
        if let Own::Dekker { best, last } = &mut self.own {
            *last = *best;
            *best = by_size(self.left, self.right).0;
        }
        match &mut self.own {
            Own::ModAb { halving, allowed } if !*halving => {
                *allowed *= 0.5;
                if width > *allowed {
                    *halving = true;
                    self.weights = (self.left.1, self.right.1);
                }
            }
            Own::Itp { round, .. } => *round += 1,
            _ => {}
        }
    }

    #[inline]
    fn by_method(&mut self, middle: f64) -> f64 {
        match self.method {
            LocationMethod::Bisection => middle,
            LocationMethod::GoldenSection => {
                self.left.0 + (1.0 - GOLDEN_SECTION) * (self.right.0 - self.left.0)
            }
            LocationMethod::FixedPoint => secant(self.origin, self.newest),
            LocationMethod::Secant => secant(self.before, self.newest),
            LocationMethod::Dekker => self.dekker(middle),
            LocationMethod::Newton => self.newton(),
            LocationMethod::Cubic
            | LocationMethod::CubicHermite
            | LocationMethod::InverseCubic
            | LocationMethod::InverseHermite => {
                let ends = interpolation::Ends {
                    t: [self.left.0, self.right.0],
                    f: [self.left.1, self.right.1],
                    rate: [self.rates.0, self.rates.1],
                };
                match self.method {
                    LocationMethod::Cubic => interpolation::cubic(&ends),
                    LocationMethod::CubicHermite => interpolation::cubic_hermite(&ends),
                    LocationMethod::InverseCubic => interpolation::inverse_cubic(&ends),
                    _ => interpolation::inverse_hermite(&ends),
                }
            }
            LocationMethod::Nordsieck | LocationMethod::Dense => self.by_polynomial(),
            LocationMethod::RegulaFalsi | LocationMethod::Illinois | LocationMethod::Pegasus => {
                self.weighted_secant()
            }
            LocationMethod::ModAb => self.modab(middle),
            LocationMethod::Brent => self.brent(middle),
            LocationMethod::Chandrupatla => self.chandrupatla(middle),
            LocationMethod::Itp => self.itp(middle),
            LocationMethod::Toms748 => self.toms748(middle),
        }
    }

    /// From the newest point, or from the better end after a proposal that was not the method's.
    fn newton(&self) -> f64 {
        let (point, rate) = if !self.overruled {
            (self.newest, self.newest_rate)
        } else if self.left.1.abs() < self.right.1.abs() {
            (self.left, self.rates.0)
        } else {
            (self.right, self.rates.1)
        };
        point.0 - point.1 / rate
    }

    /// The secant through the last two best points where it lies between the best one and the middle.
    fn dekker(&self, middle: f64) -> f64 {
        let Own::Dekker { best, last } = self.own else {
            return middle;
        };
        let wanted = secant(last, best);
        if (wanted > best.0.min(middle)) && (wanted < best.0.max(middle)) {
            wanted
        } else {
            middle
        }
    }

    /// The root of the polynomial first, then secants that close the bracket around it.
    fn by_polynomial(&mut self) -> f64 {
        if self.evaluations > 0 || self.polynomial.is_empty() {
            return self.weighted_secant();
        }
        let ends = (self.left.0, self.right.0);
        self.inner = match self.method {
            LocationMethod::Nordsieck => interpolation::nordsieck(&self.polynomial, ends),
            _ => interpolation::dense(&self.polynomial, ends),
        };
        self.inner.last().copied().unwrap_or(f64::NAN)
    }

    fn weighted_secant(&self) -> f64 {
        let (a, b) = (self.left.0, self.right.0);
        let (fa, fb) = self.weights;
        a + fa / (fa - fb) * (b - a)
    }

    /// Halving until the function is straight, then Anderson-Björck secants as long as they keep up with halving.
    fn modab(&mut self, middle: f64) -> f64 {
        let Own::ModAb { halving, allowed } = &mut self.own else {
            return middle;
        };
        if *halving && self.evaluations > 0 {
            // The newest point halved the bracket before: `older` is the end it replaced.
            let kept = if self.newest_is_right {
                self.left.1
            } else {
                self.right.1
            };
            let chord = 0.5 * (kept + self.older.1);
            let value = self.newest.1;
            if (value - chord).abs() < MODAB_STRAIGHT * (value.abs() + chord.abs()) {
                *halving = false;
                *allowed = MODAB_PATIENCE * (self.right.0 - self.left.0);
                self.weights = (self.left.1, self.right.1);
            }
        }
        match self.own {
            Own::ModAb { halving: false, .. } => self.weighted_secant(),
            _ => middle,
        }
    }

    /// Inverse quadratic interpolation or a secant from the best point, halving where they do not shrink fast.
    fn brent(&mut self, middle: f64) -> f64 {
        let Own::Brent { step, before } = self.own else {
            return middle;
        };
        // b: the end with the smaller value, c: the other one, a: the point before b.
        let (b, c) = if self.left.1.abs() < self.right.1.abs() {
            (self.left, self.right)
        } else {
            (self.right, self.left)
        };
        let a = if b.0 == self.newest.0 {
            self.older
        } else {
            self.newest
        };
        let half = 0.5 * (c.0 - b.0);
        if before.abs() < self.distance || a.1.abs() <= b.1.abs() {
            return middle;
        }
        let s = b.1 / a.1;
        let (mut p, mut q) = if a.0 == c.0 {
            (2.0 * half * s, 1.0 - s)
        } else {
            let (q, r) = (a.1 / c.1, b.1 / c.1);
            (
                s * (2.0 * half * q * (q - r) - (b.0 - a.0) * (r - 1.0)),
                (q - 1.0) * (r - 1.0) * (s - 1.0),
            )
        };
        if p > 0.0 {
            q = -q;
        } else {
            p = -p;
        }
        let slow = 2.0 * p >= (before * q).abs() || step == 0.0;
        if 2.0 * p >= 3.0 * half * q - (self.distance * q).abs() || slow {
            middle
        } else {
            b.0 + p / q
        }
    }

    #[inline]
    fn chandrupatla(&self, middle: f64) -> f64 {
        // 1 the newest point, 2 the end on the other side, 3 the point before.
        let (x1, f1) = self.newest;
        let (x2, f2) = if self.newest_is_right {
            self.left
        } else {
            self.right
        };
        let (x3, f3) = self.older;
        if self.evaluations == 0 {
            return x1 + f1 / (f1 - f2) * (x2 - x1);
        }
        let xi = (x1 - x2) / (x3 - x2);
        let phi = (f1 - f2) / (f3 - f2);
        if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            let share = f1 / (f2 - f1) * (f3 / (f2 - f3))
                + (x3 - x1) / (x2 - x1) * (f1 / (f3 - f1)) * (f2 / (f3 - f2));
            x1 + share * (x2 - x1)
        } else {
            middle
        }
    }

    /// Interpolate, truncate, project: never slower than halving by more than the slack.
    fn itp(&self, middle: f64) -> f64 {
        let Own::Itp { width, round } = self.own else {
            return middle;
        };
        let (a, b) = (self.left.0, self.right.0);
        let (fa, fb) = (self.left.1, self.right.1);
        let interpolated = a + fa / (fa - fb) * (b - a);
        let toward = (middle - interpolated).signum();
        let truncation = ITP_KAPPA_1 * (b - a) * (b - a) / width;
        let truncated = if truncation <= (middle - interpolated).abs() {
            interpolated + toward * truncation
        } else {
            middle
        };
        let radius = 0.5 * width * (ITP_SLACK - f64::from(round)).exp2() - 0.5 * (b - a);
        if (truncated - middle).abs() <= radius.max(0.0) {
            truncated
        } else {
            middle - toward * radius.max(0.0)
        }
    }

    /// Rounds of two interpolations of third order and one double-length secant, then a halving if they were slow.
    fn toms748(&mut self, middle: f64) -> f64 {
        let Own::Toms { stage, width } = self.own else {
            return middle;
        };
        let (next, width, x) = match stage {
            0 => (1, width, self.weighted_secant()),
            1 => (2, width, self.quadratic(2)),
            2 => (3, self.right.0 - self.left.0, self.cubic(2)),
            3 => (4, width, self.cubic(3)),
            4 => (5, width, self.double_secant(middle)),
            _ => {
                if self.right.0 - self.left.0 > TOMS_SHRINK * width {
                    (2, width, middle)
                } else {
                    (3, self.right.0 - self.left.0, self.cubic(2))
                }
            }
        };
        self.own = Own::Toms { stage: next, width };
        x
    }

    /// Zero of the parabola through the ends and the point given up last, by `steps` Newton steps.
    fn quadratic(&self, steps: u32) -> f64 {
        let ((a, fa), (b, fb), (d, fd)) = (self.left, self.right, self.older);
        let slope = (fb - fa) / (b - a);
        let curvature = ((fd - fb) / (d - b) - slope) / (d - a);
        if curvature == 0.0 || !curvature.is_finite() {
            return a - fa / slope;
        }
        let mut x = if (curvature > 0.0) == (fa > 0.0) {
            a
        } else {
            b
        };
        for _ in 0..steps {
            let value = fa + (slope + curvature * (x - b)) * (x - a);
            let rate = slope + curvature * (2.0 * x - a - b);
            if rate == 0.0 {
                return a - fa / slope;
            }
            x -= value / rate;
        }
        x
    }

    /// Inverse cubic interpolation through the ends and the two points given up last where they differ, else a parabola.
    fn cubic(&self, steps: u32) -> f64 {
        let ((a, fa), (b, fb), (d, fd), (e, fe)) = (self.left, self.right, self.older, self.oldest);
        let values = [fa, fb, fd, fe];
        let distinct = (0..4).all(|i| (0..i).all(|j| values[i] != values[j]));
        if !distinct {
            return self.quadratic(steps);
        }
        let q11 = (d - e) * fd / (fe - fd);
        let q21 = (b - d) * fb / (fd - fb);
        let q31 = (a - b) * fa / (fb - fa);
        let d21 = (b - d) * fd / (fd - fb);
        let d31 = (a - b) * fb / (fb - fa);
        let q22 = (d21 - q11) * fb / (fe - fb);
        let q32 = (d31 - q21) * fa / (fd - fa);
        let d32 = (d31 - q21) * fd / (fd - fa);
        let q33 = (d32 - q22) * fa / (fe - fa);
        let x = a + q31 + q32 + q33;
        if x > a && x < b {
            x
        } else {
            self.quadratic(steps)
        }
    }

    fn double_secant(&self, middle: f64) -> f64 {
        let ((a, fa), (b, fb)) = (self.left, self.right);
        let (u, fu) = if fa.abs() < fb.abs() {
            (a, fa)
        } else {
            (b, fb)
        };
        let x = u - 2.0 * fu * (b - a) / (fb - fa);
        if (x - u).abs() > 0.5 * (b - a) {
            middle
        } else {
            x
        }
    }
}

/// Where the line through two points is zero.
fn secant(p: Point, q: Point) -> f64 {
    q.0 - q.1 * (q.0 - p.0) / (q.1 - p.1)
}

/// The point with the smaller value first.
fn by_size(p: Point, q: Point) -> (Point, Point) {
    if p.1.abs() < q.1.abs() {
        (p, q)
    } else {
        (q, p)
    }
}

/// Distance from a magnitude to the next float above.
#[inline]
pub(super) fn ulp(magnitude: f64) -> f64 {
    f64::from_bits(magnitude.to_bits() + 1) - magnitude
}
