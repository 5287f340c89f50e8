//! The numbers a factorisation works with: real or complex.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub, SubAssign};

/// What a factorisation needs of a number.
pub trait Scalar:
    Copy
    + Debug
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + SubAssign
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;

    fn from_real(value: f64) -> Self;

    /// Product with a real number.
    fn scaled(self, factor: f64) -> Self;

    /// A cheap norm.
    fn size(self) -> f64;
}

impl Scalar for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    fn from_real(value: f64) -> f64 {
        value
    }

    fn scaled(self, factor: f64) -> f64 {
        self * factor
    }

    fn size(self) -> f64 {
        self.abs()
    }
}

/// A complex number; only what the LU needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

impl Complex {
    pub fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }
}

impl Scalar for Complex {
    const ZERO: Complex = Complex { re: 0.0, im: 0.0 };
    const ONE: Complex = Complex { re: 1.0, im: 0.0 };

    fn from_real(value: f64) -> Complex {
        Complex::new(value, 0.0)
    }

    fn scaled(self, factor: f64) -> Complex {
        Complex::new(self.re * factor, self.im * factor)
    }

    fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
}

impl Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Complex {
    type Output = Complex;

    fn sub(self, other: Complex) -> Complex {
        Complex::new(self.re - other.re, self.im - other.im)
    }
}

impl SubAssign for Complex {
    fn sub_assign(&mut self, other: Complex) {
        self.re -= other.re;
        self.im -= other.im;
    }
}

impl Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        Complex::new(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
        )
    }
}

impl Div for Complex {
    type Output = Complex;

    fn div(self, other: Complex) -> Complex {
        let square = other.re * other.re + other.im * other.im;
        Complex::new(
            (self.re * other.re + self.im * other.im) / square,
            (self.im * other.re - self.re * other.im) / square,
        )
    }
}

impl Neg for Complex {
    type Output = Complex;

    fn neg(self) -> Complex {
        Complex::new(-self.re, -self.im)
    }
}

/// A power of two near 1/x for positive finite x, so that scaling is exact: 2^-e with 2^e ≤ x < 2^(e+1), |e| ≤ 1000.
pub(super) fn inverse_power_of_two(x: f64) -> f64 {
    const BIAS: i64 = 1023;
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i64 - BIAS;
    f64::from_bits(((BIAS - exponent.clamp(-1000, 1000)) as u64) << 52)
}
