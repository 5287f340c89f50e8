//! `String(…)`: numbers as text, like C's `printf` (specification 3.7.1.1).

use super::{EvalErrorKind, Result, fail};
use crate::Ir;
use crate::value::Value;

/// Significant digits of a Real if none are given.
const SIGNIFICANT_DIGITS: usize = 6;
/// Widths and precisions above this are refused.
const WIDTH_MAX: usize = 1000;

/// `String(value, minimumLength, leftJustified, significantDigits)` or `String(value, format)`.
pub(super) fn to_string(ir: &Ir, args: &[Value]) -> Result<String> {
    match args {
        [value, Value::String(format)] => with_format(value, format),
        [value, rest @ ..] => {
            let natural = |k: usize, default: usize| match rest.get(k) {
                None => Ok(default),
                Some(Value::Integer(n)) if *n >= 0 && *n as usize <= WIDTH_MAX => Ok(*n as usize),
                Some(_) => fail(EvalErrorKind::Type("an option of `String`")),
            };
            let width = natural(0, 0)?;
            let left = match rest.get(1) {
                None => true,
                Some(Value::Boolean(left)) => *left,
                Some(_) => return fail(EvalErrorKind::Type("an option of `String`")),
            };
            let text = match value {
                Value::Real(x) => format_general(*x, natural(2, SIGNIFICANT_DIGITS)?),
                other => format_value(ir, other),
            };
            Ok(if left {
                format!("{text:<width$}")
            } else {
                format!("{text:>width$}")
            })
        }
        [] => fail(EvalErrorKind::Type("`String`")),
    }
}

/// A scalar as Modelica's `String` shows it; arrays and records in braces.
pub fn format_value(ir: &Ir, value: &Value) -> String {
    match value {
        Value::Real(x) => format_general(*x, SIGNIFICANT_DIGITS),
        Value::Integer(i) => i.to_string(),
        Value::Boolean(b) => b.to_string(),
        Value::String(s) => s.to_string(),
        Value::Enum(id, k) => {
            let literals = &ir.enums[*id].literals;
            literals
                .get((*k as usize).wrapping_sub(1))
                .map_or_else(|| k.to_string(), ToString::to_string)
        }
        Value::Array(array) => braces(ir, &array.elems),
        Value::Record(fields) => braces(ir, fields),
        Value::Object(k) => format!("object {k}"),
        Value::Function(id, _) => format!("function {}", ir.functions[*id].name),
    }
}

fn braces(ir: &Ir, values: &[Value]) -> String {
    let list: Vec<String> = values.iter().map(|x| format_value(ir, x)).collect();
    format!("{{{}}}", list.join(", "))
}

/// C's `%.{digits}g`.
pub fn format_general(x: f64, digits: usize) -> String {
    general(x, digits, false)
}

fn general(x: f64, digits: usize, keep_zeros: bool) -> String {
    if !x.is_finite() {
        return not_finite(x);
    }
    let digits = digits.max(1);
    if x == 0.0 && !keep_zeros {
        return if x.is_sign_negative() {
            "-0".into()
        } else {
            "0".into()
        };
    }
    // The exponent after rounding to the wanted digits decides the style.
    let scientific = format!("{:.*e}", digits - 1, x);
    let exponent: i32 = scientific
        .split_once('e')
        .and_then(|(_, e)| e.parse().ok())
        .unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        let (mantissa, _) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let mantissa = if keep_zeros {
            mantissa
        } else {
            trim_zeros(mantissa)
        };
        format!("{mantissa}{}", exponent_text(exponent))
    } else {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        let fixed = format!("{x:.decimals$}");
        if keep_zeros {
            fixed
        } else {
            trim_zeros(&fixed).to_owned()
        }
    }
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

fn exponent_text(exponent: i32) -> String {
    format!(
        "e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.abs()
    )
}

fn not_finite(x: f64) -> String {
    if x.is_nan() {
        "nan".into()
    } else if x > 0.0 {
        "inf".into()
    } else {
        "-inf".into()
    }
}

/// A number in a C format without the `%`, such as `-10.3f`.
fn with_format(value: &Value, format: &str) -> Result<String> {
    let bad = || EvalErrorKind::Type("the format of `String`");
    let format = format.strip_prefix('%').unwrap_or(format);
    let spec_start = format.trim_start_matches(['-', '+', ' ', '0', '#']);
    let flags = &format[..format.len() - spec_start.len()];
    let conversion = spec_start.chars().last().ok_or_else(bad)?;
    let middle = &spec_start[..spec_start.len() - conversion.len_utf8()];
    let (width, precision) = match middle.split_once('.') {
        Some((width, precision)) => (width, Some(precision)),
        None => (middle, None),
    };
    let number = |text: &str| -> Result<usize> {
        if text.is_empty() {
            return Ok(0);
        }
        text.parse()
            .ok()
            .filter(|&n| n <= WIDTH_MAX)
            .ok_or_else(|| bad().into())
    };
    let width = number(width)?;
    let precision = precision.map(number).transpose()?;
    let body = match (conversion, value) {
        ('d' | 'i' | 'u', Value::Integer(i)) => pad_digits(i.to_string(), precision),
        ('o', Value::Integer(i)) => pad_digits(format!("{i:o}"), precision),
        ('x', Value::Integer(i)) => pad_digits(format!("{i:x}"), precision),
        ('X', Value::Integer(i)) => pad_digits(format!("{i:X}"), precision),
        ('c', Value::Integer(i)) => char::from_u32(u32::try_from(*i).map_err(|_| bad())?)
            .ok_or_else(bad)?
            .to_string(),
        ('s', Value::String(s)) => s.to_string(),
        ('e' | 'E' | 'f' | 'F' | 'g' | 'G', Value::Real(_) | Value::Integer(_)) => {
            let x = value.as_f64().ok_or_else(bad)?;
            let text = real(
                x,
                conversion.to_ascii_lowercase(),
                precision.unwrap_or(6),
                flags.contains('#'),
            );
            if conversion.is_ascii_uppercase() {
                text.to_uppercase()
            } else {
                text
            }
        }
        _ => return Err(bad().into()),
    };
    Ok(pad(body, flags, width))
}

fn real(x: f64, conversion: char, precision: usize, keep_zeros: bool) -> String {
    if !x.is_finite() {
        return not_finite(x);
    }
    match conversion {
        'f' => format!("{x:.precision$}"),
        'g' => general(x, precision, keep_zeros),
        _ => {
            let text = format!("{x:.precision$e}");
            match text.split_once('e') {
                Some((mantissa, e)) => {
                    format!("{mantissa}{}", exponent_text(e.parse().unwrap_or(0)))
                }
                None => text,
            }
        }
    }
}

fn pad_digits(text: String, precision: Option<usize>) -> String {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    format!("{sign}{digits:0>width$}", width = precision.unwrap_or(0))
}

fn pad(body: String, flags: &str, width: usize) -> String {
    let body = if body.starts_with('-') {
        body
    } else if flags.contains('+') {
        format!("+{body}")
    } else if flags.contains(' ') {
        format!(" {body}")
    } else {
        body
    };
    if flags.contains('-') {
        format!("{body:<width$}")
    } else if flags.contains('0') {
        let digits_at = body.find(|c: char| c.is_ascii_alphanumeric()).unwrap_or(0);
        let (sign, digits) = body.split_at(digits_at);
        format!(
            "{sign}{digits:0>rest$}",
            rest = width.saturating_sub(sign.len())
        )
    } else {
        format!("{body:>width$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_format_is_that_of_c() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.3"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (123456.0, "123456"),
            (1234567.0, "1.23457e+06"),
            (999999.5, "1e+06"),
            (1e100, "1e+100"),
        ];
        for (x, text) in cases {
            assert_eq!(format_general(x, 6), text);
        }
        assert_eq!(format_general(std::f64::consts::PI, 3), "3.14");
    }

    #[test]
    fn formats_with_width_precision_and_flags() {
        let check = |value: Value, format: &str, text: &str| {
            assert_eq!(with_format(&value, format).as_deref(), Ok(text), "{format}");
        };
        check(Value::Real(3.25), "8.3f", "   3.250");
        check(Value::Real(3.25), "-8.1e", "3.2e+00 ");
        check(Value::Integer(42), "05d", "00042");
        check(Value::Integer(-42), "+6d", "   -42");
        check(Value::Integer(255), "x", "ff");
        assert!(with_format(&Value::Real(1.0), "d").is_err());
        assert!(with_format(&Value::Real(1.0), "").is_err());
    }
}
