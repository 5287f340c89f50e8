//! Exact rational numbers for clocks, with checked arithmetic.

use saltus_ir::flat::Rational;

/// A rational number in lowest terms with positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ratio {
    num: i64,
    den: i64,
}

impl Ratio {
    pub(super) const ZERO: Ratio = Ratio { num: 0, den: 1 };
    pub(super) const ONE: Ratio = Ratio { num: 1, den: 1 };

    /// `None` if the denominator is zero or the value does not fit 64 bits.
    pub(super) fn new(num: i128, den: i128) -> Option<Ratio> {
        if den == 0 {
            return None;
        }
        let divisor = gcd(num.unsigned_abs(), den.unsigned_abs());
        let divisor = i128::try_from(divisor).ok()? * den.signum();
        Some(Ratio {
            num: i64::try_from(num / divisor).ok()?,
            den: i64::try_from(den / divisor).ok()?,
        })
    }

    pub(super) fn add(self, other: Ratio) -> Option<Ratio> {
        let num = i128::from(self.num) * i128::from(other.den)
            + i128::from(other.num) * i128::from(self.den);
        Ratio::new(num, i128::from(self.den) * i128::from(other.den))
    }

    pub(super) fn sub(self, other: Ratio) -> Option<Ratio> {
        self.add(Ratio {
            num: other.num.checked_neg()?,
            den: other.den,
        })
    }

    pub(super) fn mul(self, other: Ratio) -> Option<Ratio> {
        Ratio::new(
            i128::from(self.num) * i128::from(other.num),
            i128::from(self.den) * i128::from(other.den),
        )
    }

    pub(super) fn div(self, other: Ratio) -> Option<Ratio> {
        Ratio::new(
            i128::from(self.num) * i128::from(other.den),
            i128::from(self.den) * i128::from(other.num),
        )
    }

    pub(super) fn is_integer(self) -> bool {
        self.den == 1
    }

    pub(super) fn to_integer(self) -> Option<i64> {
        self.is_integer().then_some(self.num)
    }

    pub(super) fn is_negative(self) -> bool {
        self.num < 0
    }

    pub(super) fn is_positive(self) -> bool {
        self.num > 0
    }

    pub(super) fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }
}

impl From<Ratio> for Rational {
    fn from(ratio: Ratio) -> Rational {
        Rational {
            num: ratio.num,
            den: ratio.den,
        }
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.den == 1 {
            write!(f, "{}", self.num)
        } else {
            write!(f, "{}/{}", self.num, self.den)
        }
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_keeps_lowest_terms() {
        let third = Ratio::new(2, -6)
            .and_then(|r| r.mul(Ratio::new(-1, 1)?))
            .expect("fits");
        assert_eq!(third, Ratio::new(1, 3).expect("fits"));
        assert_eq!(
            third.add(third).and_then(|r| r.add(third)),
            Some(Ratio::ONE)
        );
        assert_eq!(third.div(Ratio::ZERO), None);
        assert_eq!(
            Ratio::new(i128::from(i64::MAX), 1).and_then(|r| r.add(Ratio::ONE)),
            None
        );
    }
}
