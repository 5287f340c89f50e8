//! The scalar kernel: what each operator and scalar built-in means on numbers.
//!
//! Comes in: an operator and numbers. Goes out: the number, or why there is none. Used by the evaluator, by
//! constant folding and by the tape interpreter, so that all three agree. Boolean values are 0 and 1 here. Integers have 64
//! bits: a result that does not fit is an error, never rounded or wrapped. A variable of a model is kept as a double, so it holds the
//! Integers that a double can tell apart from their neighbours ([`double_of`]).
//! Meanings: Modelica specification 3.6, sections 3.4, 3.5 (operators) and 3.7 (built-in functions).
//!
//! There are bare functions (`unary`, `binary`, `builtin1`, `builtin2`), which follow IEEE 754 outside the domain,
//! and checks (`check_binary`, `check_builtin`), which say whether the arguments are in the domain.

use crate::{BinaryOp, Builtin, UnaryOp};
use std::fmt;

/// Arguments outside the domain of an operation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DomainError {
    /// `a / 0`, `div(a, 0)`, `mod(a, 0)` or `rem(a, 0)`
    DivisionByZero { numerator: f64 },
    /// The function is not defined there, such as `sqrt(-1)`.
    Function { op: Builtin, argument: f64 },
    /// `base ^ exponent` with a negative base and a fractional exponent, or `0 ^ negative`.
    Power { base: f64, exponent: f64 },
    /// An Integer result that does not fit 64 bits.
    IntegerOverflow,
    /// An Integer that no double is equal to, in the place of a variable.
    InexactInteger { value: i64 },
}

impl fmt::Display for DomainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DomainError::DivisionByZero { numerator } => {
                write!(f, "division of {numerator} by zero")
            }
            DomainError::Function { op, argument } => {
                write!(f, "`{}` is not defined at {argument}", op.name())
            }
            DomainError::Power { base, exponent } => {
                write!(
                    f,
                    "`^` is not defined for base {base} and exponent {exponent}"
                )
            }
            DomainError::IntegerOverflow => write!(f, "the Integer result needs more than 64 bits"),
            DomainError::InexactInteger { value } => write!(
                f,
                "a variable cannot hold the Integer {value}: above 2^53 its values are multiples of powers of two"
            ),
        }
    }
}

impl std::error::Error for DomainError {}

#[inline]
pub fn unary(op: UnaryOp, a: f64) -> f64 {
    match op {
        UnaryOp::Neg => -a,
        UnaryOp::Not => truth(a == 0.0),
    }
}

/// Scalar operators; the products of arrays are those of scalars here.
#[inline]
pub fn binary(op: BinaryOp, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul | BinaryOp::MatMul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Pow | BinaryOp::MatPow => pow(a, b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Ge => truth(a >= b),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::And => truth(a != 0.0 && b != 0.0),
        BinaryOp::Or => truth(a != 0.0 || b != 0.0),
    }
}

/// `a ^ b`; squares are products, so that every caller rounds alike.
#[inline]
pub fn pow(a: f64, b: f64) -> f64 {
    if b == 2.0 { a * a } else { a.powf(b) }
}

#[inline]
fn truth(b: bool) -> f64 {
    f64::from(u8::from(b))
}

/// The mathematical functions of one number; `None` for every other built-in.
#[inline]
pub fn builtin1(op: Builtin, x: f64) -> Option<f64> {
    Some(match op {
        Builtin::Abs => x.abs(),
        Builtin::Sign => sign(x),
        Builtin::Sqrt => x.sqrt(),
        Builtin::Sin => x.sin(),
        Builtin::Cos => x.cos(),
        Builtin::Tan => x.tan(),
        Builtin::Asin => x.asin(),
        Builtin::Acos => x.acos(),
        Builtin::Atan => x.atan(),
        Builtin::Sinh => x.sinh(),
        Builtin::Cosh => x.cosh(),
        Builtin::Tanh => x.tanh(),
        Builtin::Exp => x.exp(),
        Builtin::Log => x.ln(),
        Builtin::Log10 => x.log10(),
        Builtin::Ceil => x.ceil(),
        Builtin::Floor | Builtin::Integer => x.floor(),
        _ => return None,
    })
}

/// The mathematical functions of two numbers; `None` for every other built-in.
#[inline]
pub fn builtin2(op: Builtin, x: f64, y: f64) -> Option<f64> {
    Some(match op {
        Builtin::Atan2 => x.atan2(y),
        Builtin::Min => min(x, y),
        Builtin::Max => max(x, y),
        Builtin::Div => (x / y).trunc(),
        Builtin::Mod => x - (x / y).floor() * y,
        Builtin::Rem => x - (x / y).trunc() * y,
        _ => return None,
    })
}

/// The smaller number; the first of equal ones, so that every caller takes the same zero; a number before NaN.
#[inline]
pub fn min(x: f64, y: f64) -> f64 {
    if x <= y || y.is_nan() { x } else { y }
}

/// The larger number, likewise.
#[inline]
pub fn max(x: f64, y: f64) -> f64 {
    if x >= y || y.is_nan() { x } else { y }
}

/// `sign(0) = 0`, as the language defines it.
#[inline]
pub fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else {
        x * 0.0
    }
}

/// Whether the arguments of an operator are in its domain.
#[inline]
pub fn check_binary(op: BinaryOp, a: f64, b: f64) -> Result<(), DomainError> {
    match op {
        BinaryOp::Div if b == 0.0 => Err(DomainError::DivisionByZero { numerator: a }),
        BinaryOp::Pow if (a < 0.0 && b.fract() != 0.0) || (a == 0.0 && b < 0.0) => {
            Err(DomainError::Power {
                base: a,
                exponent: b,
            })
        }
        _ => Ok(()),
    }
}

/// Whether the arguments of a mathematical built-in (`y` is unused for functions of one number) are in its domain.
#[inline]
pub fn check_builtin(op: Builtin, x: f64, y: f64) -> Result<(), DomainError> {
    let defined = match op {
        Builtin::Sqrt => x >= 0.0 || x.is_nan(),
        Builtin::Asin | Builtin::Acos => x.abs() <= 1.0 || x.is_nan(),
        Builtin::Log | Builtin::Log10 => x > 0.0 || x.is_nan(),
        Builtin::Div | Builtin::Mod | Builtin::Rem if y == 0.0 => {
            return Err(DomainError::DivisionByZero { numerator: x });
        }
        _ => true,
    };
    if defined {
        Ok(())
    } else {
        Err(DomainError::Function { op, argument: x })
    }
}

/// The double that a variable of Integer type has for this value.
#[inline]
pub fn double_of(n: i64) -> Result<f64, DomainError> {
    let x = n as f64;
    // The conversion back saturates: 2^63 would come back as the largest Integer.
    if x as i64 == n && x < INTEGER_END {
        Ok(x)
    } else {
        Err(DomainError::InexactInteger { value: n })
    }
}

/// A relation between Integers; `None` for other operators.
#[inline]
pub fn integer_relation(op: BinaryOp, a: i64, b: i64) -> Option<bool> {
    Some(match op {
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        _ => return None,
    })
}

/// `+`, `-` and `*` of Integers; `None` for operators whose result is not Integer.
pub fn integer_binary(op: BinaryOp, a: i64, b: i64) -> Option<Result<i64, DomainError>> {
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        _ => return None,
    };
    Some(result.ok_or(DomainError::IntegerOverflow))
}

/// Built-ins of one Integer with an Integer result.
pub fn integer_builtin1(op: Builtin, a: i64) -> Option<Result<i64, DomainError>> {
    let result = match op {
        Builtin::Abs => a.checked_abs(),
        Builtin::Sign => Some(a.signum()),
        Builtin::Integer => Some(a),
        _ => return None,
    };
    Some(result.ok_or(DomainError::IntegerOverflow))
}

/// Built-ins of two Integers with an Integer result.
pub fn integer_builtin2(op: Builtin, a: i64, b: i64) -> Option<Result<i64, DomainError>> {
    let zero = DomainError::DivisionByZero {
        numerator: a as f64,
    };
    let quotient = |q: Option<i64>| {
        if b == 0 {
            Err(zero)
        } else {
            q.ok_or(DomainError::IntegerOverflow)
        }
    };
    Some(match op {
        Builtin::Min => Ok(a.min(b)),
        Builtin::Max => Ok(a.max(b)),
        Builtin::Div => quotient(a.checked_div(b)),
        Builtin::Rem => quotient(remainder(a, b)),
        Builtin::Mod => quotient(remainder(a, b)).map(|r| {
            if r != 0 && (r < 0) != (b < 0) {
                r + b
            } else {
                r
            }
        }),
        _ => return None,
    })
}

/// The remainder of a division by -1 is zero although the quotient may not fit.
fn remainder(a: i64, b: i64) -> Option<i64> {
    (b != 0).then(|| a.wrapping_rem(b))
}

/// 2^63, the first number above the range of Integers. The range begins at its negative.
pub const INTEGER_END: f64 = 9_223_372_036_854_775_808.0;

/// `x` as the nearest smaller Integer, if it fits.
#[inline]
pub fn floor_to_integer(x: f64) -> Result<i64, DomainError> {
    let floor = x.floor();
    if (-INTEGER_END..INTEGER_END).contains(&floor) {
        Ok(floor as i64)
    } else {
        Err(DomainError::IntegerOverflow)
    }
}

/// Number of elements of `start:step:stop` (specification 10.4.3); 0 for an empty range.
///
/// For Reals the quotient is enlarged by a few units in the last place, so that `0:0.1:1` has 11 elements.
pub fn range_length(start: f64, step: f64, stop: f64) -> Result<usize, DomainError> {
    /// Relative slack of the quotient, in units of the machine epsilon.
    const SLACK_ULPS: f64 = 8.0;
    if step == 0.0 || step.is_nan() {
        return Err(DomainError::DivisionByZero {
            numerator: stop - start,
        });
    }
    let quotient = (stop - start) / step;
    if quotient.is_nan() {
        return Err(DomainError::IntegerOverflow);
    }
    let n = (quotient + quotient.abs() * SLACK_ULPS * f64::EPSILON).floor() + 1.0;
    if n <= 0.0 {
        Ok(0)
    } else if n > f64::from(u32::MAX) {
        Err(DomainError::IntegerOverflow)
    } else {
        Ok(n as usize)
    }
}

impl Builtin {
    /// The name in Modelica.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Abs => "abs",
            Builtin::Sign => "sign",
            Builtin::Sqrt => "sqrt",
            Builtin::Sin => "sin",
            Builtin::Cos => "cos",
            Builtin::Tan => "tan",
            Builtin::Asin => "asin",
            Builtin::Acos => "acos",
            Builtin::Atan => "atan",
            Builtin::Atan2 => "atan2",
            Builtin::Sinh => "sinh",
            Builtin::Cosh => "cosh",
            Builtin::Tanh => "tanh",
            Builtin::Exp => "exp",
            Builtin::Log => "log",
            Builtin::Log10 => "log10",
            Builtin::Min => "min",
            Builtin::Max => "max",
            Builtin::Div => "div",
            Builtin::Mod => "mod",
            Builtin::Rem => "rem",
            Builtin::Ceil => "ceil",
            Builtin::Floor => "floor",
            Builtin::Integer => "integer",
            Builtin::Ordinal => "Integer",
            Builtin::EnumOf => "enumeration",
            Builtin::ToString => "String",
            Builtin::Der => "der",
            Builtin::Pre => "pre",
            Builtin::Edge => "edge",
            Builtin::Change => "change",
            Builtin::Initial => "initial",
            Builtin::Terminal => "terminal",
            Builtin::Sample | Builtin::ClockSample => "sample",
            Builtin::NoEvent => "noEvent",
            Builtin::Smooth => "smooth",
            Builtin::Delay => "delay",
            Builtin::Homotopy => "homotopy",
            Builtin::SemiLinear => "semiLinear",
            Builtin::SpatialDistribution => "spatialDistribution",
            Builtin::InStream => "inStream",
            Builtin::ActualStream => "actualStream",
            Builtin::Cardinality => "cardinality",
            Builtin::IsRoot => "Connections.isRoot",
            Builtin::Rooted => "Connections.rooted",
            Builtin::Size => "size",
            Builtin::Ndims => "ndims",
            Builtin::Fill => "fill",
            Builtin::Transpose => "transpose",
            Builtin::Cross => "cross",
            Builtin::Skew => "skew",
            Builtin::Identity => "identity",
            Builtin::Diagonal => "diagonal",
            Builtin::OuterProduct => "outerProduct",
            Builtin::Symmetric => "symmetric",
            Builtin::Linspace => "linspace",
            Builtin::Cat => "cat",
            Builtin::Sum => "sum",
            Builtin::Product => "product",
            Builtin::Scalar => "scalar",
            Builtin::Vector => "vector",
            Builtin::Matrix => "matrix",
            Builtin::Promote => "promote",
            Builtin::Previous => "previous",
            Builtin::Hold => "hold",
            Builtin::SubSample => "subSample",
            Builtin::SuperSample => "superSample",
            Builtin::ShiftSample => "shiftSample",
            Builtin::BackSample => "backSample",
            Builtin::NoClock => "noClock",
            Builtin::Interval => "interval",
            Builtin::FirstTick => "firstTick",
            Builtin::Clock => "Clock",
            Builtin::Exact => "exact",
        }
    }

    /// A function of one number, applied elementwise to arrays.
    pub fn is_math1(self) -> bool {
        builtin1(self, 0.5).is_some()
    }

    /// A function of two numbers, applied elementwise to arrays (but for `min` and `max` of one array).
    pub fn is_math2(self) -> bool {
        builtin2(self, 0.5, 0.5).is_some()
    }

    /// Only a simulation can answer it: the value depends on time, events, connections or clocks.
    pub fn needs_simulation(self) -> bool {
        matches!(
            self,
            Builtin::Pre
                | Builtin::Edge
                | Builtin::Change
                | Builtin::Der
                | Builtin::Initial
                | Builtin::Terminal
                | Builtin::Sample
                | Builtin::Delay
                | Builtin::SpatialDistribution
                | Builtin::InStream
                | Builtin::ActualStream
                | Builtin::Cardinality
                | Builtin::IsRoot
                | Builtin::Rooted
                | Builtin::Previous
                | Builtin::Hold
                | Builtin::ClockSample
                | Builtin::SubSample
                | Builtin::SuperSample
                | Builtin::ShiftSample
                | Builtin::BackSample
                | Builtin::NoClock
                | Builtin::Interval
                | Builtin::FirstTick
                | Builtin::Clock
        )
    }

    /// Jumps where its argument passes certain values, and so makes an event outside `noEvent`.
    pub fn makes_events(self) -> bool {
        matches!(
            self,
            Builtin::Div
                | Builtin::Mod
                | Builtin::Rem
                | Builtin::Ceil
                | Builtin::Floor
                | Builtin::Integer
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_division_follows_the_specification_tables() {
        let all = |a, b| {
            [Builtin::Div, Builtin::Mod, Builtin::Rem].map(|op| {
                integer_builtin2(op, a, b)
                    .expect("defined")
                    .expect("in range")
            })
        };
        assert_eq!(all(7, 3), [2, 1, 1]);
        assert_eq!(all(-7, 3), [-2, 2, -1]);
        assert_eq!(all(7, -3), [-2, -2, 1]);
        assert_eq!(all(-7, -3), [2, -1, -1]);
        assert_eq!(all(-6, 3), [-2, 0, 0]);
        for (a, b) in [(7.0, 3.0), (-7.0, 3.0), (7.0, -3.0), (-7.0, -3.0)] {
            let [div, modulo, rem] = all(a as i64, b as i64).map(|i| i as f64);
            assert_eq!(builtin2(Builtin::Div, a, b), Some(div));
            assert_eq!(builtin2(Builtin::Mod, a, b), Some(modulo));
            assert_eq!(builtin2(Builtin::Rem, a, b), Some(rem));
        }
        assert_eq!(
            integer_builtin2(Builtin::Mod, 1, 0),
            Some(Err(DomainError::DivisionByZero { numerator: 1.0 }))
        );
        assert_eq!(
            integer_builtin2(Builtin::Div, i64::MIN, -1),
            Some(Err(DomainError::IntegerOverflow))
        );
    }

    #[test]
    fn domains_are_checked() {
        assert!(check_binary(BinaryOp::Pow, -8.0, 1.0 / 3.0).is_err());
        assert!(check_binary(BinaryOp::Pow, -8.0, 3.0).is_ok());
        assert!(check_binary(BinaryOp::Pow, 0.0, -1.0).is_err());
        assert!(check_builtin(Builtin::Sqrt, -1e-300, 0.0).is_err());
        assert!(check_builtin(Builtin::Log, 0.0, 0.0).is_err());
        assert!(check_builtin(Builtin::Asin, 1.0, 0.0).is_ok());
    }

    #[test]
    fn real_ranges_count_their_elements() {
        assert_eq!(range_length(0.0, 0.1, 1.0), Ok(11));
        assert_eq!(range_length(1.0, 1.0, 0.0), Ok(0));
        assert_eq!(range_length(1.0, -1.0, -1.0), Ok(3));
        assert!(range_length(1.0, 0.0, 2.0).is_err());
    }

    #[test]
    fn floor_to_integer_refuses_what_does_not_fit() {
        assert_eq!(floor_to_integer(-2.5), Ok(-3));
        assert!(floor_to_integer(1e19).is_err());
        assert!(floor_to_integer(f64::NAN).is_err());
    }
}
