//! The numbers a tape computes with: plain `f64`, or dual numbers that carry directional derivatives.
//!
//! A dual number with `L` lanes is x + Σ εᵢ·dᵢ with εᵢ·εⱼ = 0 (forward mode). One pass over a tape with `L` lanes gives
//! `L` columns of a Jacobian, exactly. Where the slope of a function does not exist (|x| at 0) the right-hand one is
//! taken; where it is infinite (sqrt at 0) the derivative becomes infinite and the caller sees it.
//!
//! A direction that cannot reach a number is +0 in it, whatever was computed with it: `0·∞` and `-0` do not arise from
//! it. Native code relies on that: it leaves such lanes out and gets the same bits.

/// A number of the interpreter.
pub(crate) trait Num: Copy {
    /// Number of directional derivatives.
    const LANES: usize;
    fn constant(x: f64) -> Self;
    /// The unknown number `index` of a block, seeded if it falls into the window of lanes that starts at `first`.
    fn seed(x: f64, index: usize, first: usize) -> Self;
    fn value(self) -> f64;
    fn neg(self) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// f(self), with its value and slope.
    fn chain(self, value: f64, slope: impl FnOnce() -> f64) -> Self;
    /// f(a, b), with its value and both partial derivatives.
    fn chain2(a: Self, b: Self, value: f64, slopes: impl FnOnce() -> (f64, f64)) -> Self;
    /// Lanes, empty for plain numbers.
    fn lanes(&self) -> &[f64];
    fn set_lane(&mut self, lane: usize, derivative: f64);
}

impl Num for f64 {
    const LANES: usize = 0;
    #[inline(always)]
    fn constant(x: f64) -> f64 {
        x
    }
    #[inline(always)]
    fn seed(x: f64, _: usize, _: usize) -> f64 {
        x
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    #[inline(always)]
    fn neg(self) -> f64 {
        -self
    }
    #[inline(always)]
    fn add(self, other: f64) -> f64 {
        self + other
    }
    #[inline(always)]
    fn sub(self, other: f64) -> f64 {
        self - other
    }
    #[inline(always)]
    fn mul(self, other: f64) -> f64 {
        self * other
    }
    #[inline(always)]
    fn chain(self, value: f64, _: impl FnOnce() -> f64) -> f64 {
        value
    }
    #[inline(always)]
    fn chain2(_: f64, _: f64, value: f64, _: impl FnOnce() -> (f64, f64)) -> f64 {
        value
    }
    #[inline(always)]
    fn lanes(&self) -> &[f64] {
        &[]
    }
    fn set_lane(&mut self, _: usize, _: f64) {}
}

/// A number with `L` directional derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub(crate) struct Dual<const L: usize> {
    pub(crate) x: f64,
    pub(crate) d: [f64; L],
}

impl<const L: usize> Dual<L> {
    pub(crate) const ZERO: Dual<L> = Dual {
        x: 0.0,
        d: [0.0; L],
    };

    fn is_passive(&self) -> bool {
        self.d.iter().all(|&d| d == 0.0)
    }
}

impl<const L: usize> Num for Dual<L> {
    const LANES: usize = L;
    fn constant(x: f64) -> Self {
        Dual { x, d: [0.0; L] }
    }
    fn seed(x: f64, index: usize, first: usize) -> Self {
        let mut d = [0.0; L];
        if let Some(lane) = index.checked_sub(first)
            && lane < L
        {
            d[lane] = 1.0;
        }
        Dual { x, d }
    }
    fn value(self) -> f64 {
        self.x
    }
    fn neg(self) -> Self {
        Dual {
            x: -self.x,
            d: self.d.map(|d| 0.0 - d),
        }
    }
    fn add(self, o: Self) -> Self {
        Dual {
            x: self.x + o.x,
            d: std::array::from_fn(|i| self.d[i] + o.d[i]),
        }
    }
    fn sub(self, o: Self) -> Self {
        Dual {
            x: self.x - o.x,
            d: std::array::from_fn(|i| self.d[i] - o.d[i]),
        }
    }
    fn mul(self, o: Self) -> Self {
        Dual {
            x: self.x * o.x,
            d: std::array::from_fn(|i| times(self.d[i], o.x) + times(o.d[i], self.x)),
        }
    }
    fn chain(self, value: f64, slope: impl FnOnce() -> f64) -> Self {
        if self.is_passive() {
            return Dual::constant(value);
        }
        let slope = slope();
        Dual {
            x: value,
            d: self.d.map(|d| times(d, slope)),
        }
    }
    fn chain2(a: Self, b: Self, value: f64, slopes: impl FnOnce() -> (f64, f64)) -> Self {
        if a.is_passive() && b.is_passive() {
            return Dual::constant(value);
        }
        let (p, q) = slopes();
        Dual {
            x: value,
            d: std::array::from_fn(|i| times(a.d[i], p) + times(b.d[i], q)),
        }
    }
    fn lanes(&self) -> &[f64] {
        &self.d
    }
    fn set_lane(&mut self, lane: usize, derivative: f64) {
        self.d[lane] = derivative;
    }
}

/// A zero direction stays +0 even where the slope is infinite or negative.
#[inline(always)]
fn times(d: f64, slope: f64) -> f64 {
    if d == 0.0 { 0.0 } else { d * slope }
}
