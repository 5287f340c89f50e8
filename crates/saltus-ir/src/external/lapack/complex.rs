//! Complex numbers, as far as eigenvalues and their vectors need them.

use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Complex {
    pub(super) re: f64,
    pub(super) im: f64,
}

pub(super) fn real(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

impl Complex {
    pub(super) fn conj(self) -> Complex {
        Complex {
            re: self.re,
            im: -self.im,
        }
    }

    pub(super) fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// |re| + |im|, the size that LAPACK compares by.
    pub(super) fn size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }

    pub(super) fn scaled(self, factor: f64) -> Complex {
        Complex {
            re: self.re * factor,
            im: self.im * factor,
        }
    }
}

impl Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex {
            re: self.re + other.re,
            im: self.im + other.im,
        }
    }
}

impl Sub for Complex {
    type Output = Complex;

    fn sub(self, other: Complex) -> Complex {
        self + -other
    }
}

impl Neg for Complex {
    type Output = Complex;

    fn neg(self) -> Complex {
        self.scaled(-1.0)
    }
}

impl Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

impl Div for Complex {
    type Output = Complex;

    /// R. L. Smith, Algorithm 116 (1962): the larger part of the divisor is divided by first.
    fn div(self, other: Complex) -> Complex {
        let Complex { re: c, im: d } = other;
        if c.abs() >= d.abs() {
            let ratio = d / c;
            let size = c + d * ratio;
            Complex {
                re: (self.re + self.im * ratio) / size,
                im: (self.im - self.re * ratio) / size,
            }
        } else {
            let ratio = c / d;
            let size = c * ratio + d;
            Complex {
                re: (self.re * ratio + self.im) / size,
                im: (self.im * ratio - self.re) / size,
            }
        }
    }
}
