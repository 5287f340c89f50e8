//! Bracketing methods: where to look next for the change of sign between two times.
//!
//! Comes in: a bracket with the function's values at its ends, of different sign (zero counts for the side it is found on). Goes
//! out: the next point to evaluate, until no float lies between the ends. A [`Locator`] proposes, the caller evaluates and tells
//! on which side the point is; so the caller may bracket "some relation has changed" with the values of one function.
//!
//! Sources: Dowell and Jarratt 1971 (Illinois) and 1972 (Pegasus); Anderson and Björck 1973; Ganchovski and Traykov 2023 (ModAB);
//! Brent, Algorithms for Minimization without Derivatives, 4; Chandrupatla, Advances in Engineering Software 28, 1997; Oliveira and
//! Takahashi, ACM TOMS 47, 2021 (ITP); Alefeld, Potra and Shi, ACM TOMS 21, 1995 (algorithm 748).

/// Proposals are followed for this many evaluations, then the bracket is halved.
const PROPOSALS_MAX: u32 = 160;
/// Evaluations of one location. Halving alone needs 53 on a bracket of one exponent, and some thousand from 1 to the smallest float.
const EVALUATIONS_MAX: u32 = 1400;
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LocationMethod {
    Bisection,
    RegulaFalsi,
    Illinois,
    Pegasus,
    ModAb,
    Brent,
    #[default]
    Chandrupatla,
    Itp,
    Toms748,
}

impl LocationMethod {
    pub const ALL: [LocationMethod; 9] = [
        LocationMethod::Bisection,
        LocationMethod::RegulaFalsi,
        LocationMethod::Illinois,
        LocationMethod::Pegasus,
        LocationMethod::ModAb,
        LocationMethod::Brent,
        LocationMethod::Chandrupatla,
        LocationMethod::Itp,
        LocationMethod::Toms748,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            LocationMethod::Bisection => "bisection",
            LocationMethod::RegulaFalsi => "regula-falsi",
            LocationMethod::Illinois => "illinois",
            LocationMethod::Pegasus => "pegasus",
            LocationMethod::ModAb => "modab",
            LocationMethod::Brent => "brent",
            LocationMethod::Chandrupatla => "chandrupatla",
            LocationMethod::Itp => "itp",
            LocationMethod::Toms748 => "toms748",
        }
    }

    pub fn from_name(name: &str) -> Option<LocationMethod> {
        LocationMethod::ALL
            .into_iter()
            .find(|method| method.as_str() == name)
    }
}

/// Neighbouring floats (or times as close as the resolution asked for) between which a function changes sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracketed {
    pub left: f64,
    pub right: f64,
    pub evaluations: u32,
}

/// Locates the change of sign of `f` in [left, right]. `None` if there is none.
pub fn locate(
    method: LocationMethod,
    mut f: impl FnMut(f64) -> f64,
    left: f64,
    right: f64,
) -> Option<Bracketed> {
    let (at_left, at_right) = (f(left), f(right));
    let side = at_left >= 0.0;
    if (at_right >= 0.0) == side || left >= right {
        return None;
    }
    let mut locator = Locator::new(method, (left, at_left), (right, at_right), 0.0);
    while let Some(x) = locator.propose() {
        let at_x = f(x);
        locator.update(x, at_x, (at_x >= 0.0) != side);
    }
    Some(Bracketed {
        left: locator.left.0,
        right: locator.right.0,
        evaluations: locator.evaluations + 2,
    })
}

type Point = (f64, f64);

/// Where a polynomial close to the function has its root, and its slope there.
#[derive(Clone, Copy, Debug)]
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
        let unit = self.resolution.max(ulp(a.abs().min(b.abs())));
        if self.distance < unit {
            self.distance = unit;
        }
        if self.evaluations >= PROPOSALS_MAX {
            return Some(middle);
        }
        let wanted = self.by_method(middle);
        let wanted = if wanted.is_finite() { wanted } else { middle };
        let distance = self.distance.min(0.5 * (b - a));
        let (low, high) = (a + distance, b - distance);
        self.clamped = wanted < low || wanted > high;
        let x = if wanted < low {
            low
        } else if wanted > high {
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
        if self.same_side {
            *kept *= match self.method {
                LocationMethod::Illinois => 0.5,
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
        self.newest = (x, value);
        self.newest_is_right = is_right;
        if is_right {
            self.right = self.newest;
        } else {
            self.left = self.newest;
        }
        let width = self.right.0 - self.left.0;
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

/// Distance from a magnitude to the next float above.
#[inline]
pub(super) fn ulp(magnitude: f64) -> f64 {
    f64::from_bits(magnitude.to_bits() + 1) - magnitude
}
