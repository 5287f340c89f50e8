//! All tolerances and thresholds that are not a method's own constants, each relative to a stated scale.

/// Distance from 1 to the next float.
pub const EPS: f64 = f64::EPSILON;

/// Inner blocks converge to this fraction of the integrator's weights, so that their error is invisible to step control.
pub const BLOCK_FRACTION: f64 = 1e-2;

/// Relative accuracy of blocks at events, at initialisation, for Jacobians and while locating crossings.
pub const TIGHT_REL: f64 = 1e-13;

/// A Newton iteration that stagnates is accepted if its correction is below this fraction of (|u| + nominal): round-off of
/// an ill-conditioned block, not divergence.
pub const STAGNATION_REL: f64 = 1e-9;

/// A rank-deficient linear block is consistent if each residual is below this fraction of the terms it sums.
pub const CONSISTENT_REL: f64 = 1e-8;

/// Round-off that the elimination inside a linear block has brought above this fraction of (|v| + nominal) is an error: the run would
/// go on with digits that mean nothing.
pub const AMPLIFIED_REL: f64 = 1e-5;

/// A pivot of an equilibrated matrix below `RANK_ULPS * n * EPS` counts as zero.
pub const RANK_ULPS: f64 = 8.0;

/// A pivot of an equilibrated matrix of central difference quotients below this part of the largest counts as zero: the quotients have errors of about
/// `EPS^(2/3)`, 4e-11.
pub const RANK_DIFFERENCES_REL: f64 = 1e-7;

/// Redundant initial conditions, which people round to some digits, must hold to this part of 1 + |value|.
pub const REDUNDANT_REL: f64 = 1e-4;

/// A crossing function whose motion changes its relation within this many units of time resolution after an event changes
/// it at the event's own instant (DESIGN 5.3): this is the band, in terms of time.
pub const RESTART_ULPS: f64 = 16.0;

/// The side taken in the band must still hold after this many units of time resolution.
pub const CONFIRM_ULPS: f64 = 64.0;

/// Events closer than this many units of time resolution are at its limit: nothing is gathered or moved there, so that a
/// sequence that shrinks comes to its end.
pub const DENSE_EVENTS_ULPS: f64 = 256.0;

/// A dip of a crossing function through zero that is no deeper than `TOUCH_ULPS * EPS` of its size is a touch.
pub const TOUCH_ULPS: f64 = 4.0;

/// A relation of a mixed block is zero but for round-off if its function is at most this fraction of the largest quantity of
/// the block: a linear solve with conductances from 1e-5 to 1e5 loses ten digits.
pub const RELATION_BAND_REL: f64 = 1e-9;

/// A crossing function that is below this fraction of its nominal value when an event ends is zero but for round-off, and rests until
/// it is not.
pub const REST_BAND_REL: f64 = 1e-12;

/// A range below this fraction of a quantity's size is its round-off: the quantity is constant.
pub const CONSTANT_REL: f64 = 1e-12;

/// Steps below this many units of time resolution are not taken.
pub const STEP_ULPS: f64 = 16.0;

/// Nor below this share of the largest step, ε².
pub const STEP_SHARE_MIN: f64 = EPS * EPS;

/// The resolution of time near `t` when steps of size `h` are taken.
#[inline]
pub fn time_resolution(t: f64, h: f64) -> f64 {
    EPS * t.abs().max(h.abs()).max(f64::MIN_POSITIVE / EPS)
}

/// The user's tolerance, passed down everywhere: the weight of a quantity is `rel * |x| + abs * nominal`.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Tolerances {
    pub rel: f64,
    /// In units of the nominal value.
    pub abs: f64,
}

impl Tolerances {
    /// The same number for both parts, as Modelica's `Tolerance` annotation means it.
    pub fn new(tolerance: f64) -> Tolerances {
        Tolerances {
            rel: tolerance,
            abs: tolerance,
        }
    }

    /// Both parts say something: positive and finite.
    #[inline]
    pub fn usable(&self) -> bool {
        let meaningful = |v: f64| v > 0.0 && v.is_finite();
        meaningful(self.rel) && meaningful(self.abs)
    }

    /// … is what a quantity held at zero may be off by: a current that was located at zero, a function that is slid upon.
    pub fn negligible(&self) -> f64 {
        (NEGLIGIBLE_OF_TOLERANCE * self.abs).max(NEGLIGIBLE_ULPS * EPS)
    }

    #[inline]
    pub fn weight(&self, x: f64, nominal: f64) -> f64 {
        self.rel * x.abs() + self.abs * nominal
    }
}

/// The magnitude that a nominal value stands for. A nominal of zero or one that is not finite says nothing about the
/// magnitude; 1 is the language's default for variables without one.
pub fn nominal_magnitude(nominal: f64) -> f64 {
    let magnitude = nominal.abs();
    if magnitude > 0.0 && magnitude.is_finite() {
        magnitude
    } else {
        1.0
    }
}

/// Root mean square of `v[i] / weight[i]`; 0 for an empty vector.
#[inline]
pub fn rms(v: &[f64], weight: &[f64]) -> f64 {
    mean_square(v, weight).sqrt()
}

#[inline]
pub(crate) fn mean_square(v: &[f64], weight: &[f64]) -> f64 {
    if v.is_empty() {
        return 0.0;
    }
    let sum: f64 = v.iter().zip(weight).map(|(v, w)| (v / w) * (v / w)).sum();
    sum / v.len() as f64
}

/// A constraint of a mode that is entered holds if its residual is at most this part of the magnitudes of its terms: located events leave round-off,
/// integrated quantities that happen to meet differ by more.
pub const CONSTRAINT_BAND_REL: f64 = 1e-9;

/// This part of the absolute tolerance …
const NEGLIGIBLE_OF_TOLERANCE: f64 = 1e-3;
/// … but at least so many units of round-off of 1 …
const NEGLIGIBLE_ULPS: f64 = 64.0;

/// A switch at zero in a mode that is tried takes the side to which the motion takes it within this many units of time resolution: a force that
/// has just reached its limit moves a mass from rest by less than round-off within 1e-8 s. Where that shows for no mode the longer one is
/// taken: the length of a string that goes slack grows with the third power of time.
pub const ONWARD_ULPS: [f64; 2] = [1e9, 1e12];
