//! Values of parameters, start values and inputs, with their types.

use std::fmt;

/// A value with its type: what a parameter is set to ([`Model::with`](crate::Model::with)), and what a variable has.
///
/// ```
/// use saltus::Value;
///
/// assert_eq!(Value::from(2.5), Value::Real(2.5));
/// assert_eq!(Value::from([1, 2]), Value::Array(vec![Value::Integer(1), Value::Integer(2)]));
/// assert_eq!("{1, 2}".parse(), Ok(Value::from([1, 2])));
/// assert_eq!(Value::from("Linear").to_string(), "\"Linear\"");
/// ```
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Value {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    /// A String, or the name of a literal of an enumeration.
    String(String),
    /// The elements of the first dimension; those of a matrix are its rows.
    Array(Vec<Value>),
}

impl Value {
    /// The number: of a Boolean 0 or 1.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Real(x) => Some(*x),
            Value::Integer(i) => Some(*i as f64),
            Value::Boolean(b) => Some(f64::from(u8::from(*b))),
            Value::String(_) | Value::Array(_) => None,
        }
    }

    /// What kind of value it is, for messages: `a Real`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Real(_) => "a Real",
            Value::Integer(_) => "an Integer",
            Value::Boolean(_) => "a Boolean",
            Value::String(_) => "a String",
            Value::Array(_) => "an array",
        }
    }

    /// The scalars of an array with their subscripts (from 1), row by row; of a scalar itself, without subscripts.
    pub(crate) fn scalars(&self) -> Vec<(Vec<usize>, &Value)> {
        fn collect<'v>(
            value: &'v Value,
            at: &mut Vec<usize>,
            out: &mut Vec<(Vec<usize>, &'v Value)>,
        ) {
            match value {
                Value::Array(elements) => {
                    for (k, element) in elements.iter().enumerate() {
                        at.push(k + 1);
                        collect(element, at, out);
                        at.pop();
                    }
                }
                scalar => out.push((at.clone(), scalar)),
            }
        }
        let mut out = Vec::new();
        collect(self, &mut Vec::new(), &mut out);
        out
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Real(x) => write!(f, "{x:?}"),
            Value::Integer(i) => write!(f, "{i}"),
            Value::Boolean(b) => write!(f, "{b}"),
            Value::String(text) => write!(f, "{text:?}"),
            Value::Array(elements) => {
                f.write_str("{")?;
                for (k, element) in elements.iter().enumerate() {
                    if k > 0 {
                        f.write_str(", ")?;
                    }
                    element.fmt(f)?;
                }
                f.write_str("}")
            }
        }
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Real(x)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Value {
        Value::Integer(i)
    }
}

impl From<i32> for Value {
    fn from(i: i32) -> Value {
        Value::Integer(i64::from(i))
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Boolean(b)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Value {
        Value::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Value>, const N: usize> From<[T; N]> for Value {
    fn from(elements: [T; N]) -> Value {
        Value::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl<T: Clone + Into<Value>> From<&[T]> for Value {
    fn from(elements: &[T]) -> Value {
        Value::Array(elements.iter().cloned().map(Into::into).collect())
    }
}

/// Nested braces of a value that is written as text.
const NESTING_MAX: usize = 16;

/// A value as it is written in Modelica: `2`, `2.5`, `true`, `"text"`, `{1, 2}`. Everything else is a text: `Linear`, `data.mat`.
impl std::str::FromStr for Value {
    type Err = String;

    fn from_str(text: &str) -> Result<Value, String> {
        let mut rest = text.trim();
        if !rest.starts_with(['{', '"']) {
            return Ok(scalar(rest));
        }
        let value = parse(&mut rest, 0)?;
        match rest.trim() {
            "" => Ok(value),
            more => Err(format!("`{more}` follows the value")),
        }
    }
}

/// Of a word that is neither in quotes nor an array.
fn scalar(word: &str) -> Value {
    if let Ok(i) = word.parse() {
        return Value::Integer(i);
    }
    // What Rust reads as a number and Modelica does not: `inf`, `nan`.
    let is_number = word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match (word, word.parse()) {
        ("true", _) => Value::Boolean(true),
        ("false", _) => Value::Boolean(false),
        (_, Ok(x)) if is_number => Value::Real(x),
        _ => Value::String(word.to_owned()),
    }
}

fn parse(rest: &mut &str, depth: usize) -> Result<Value, String> {
    *rest = rest.trim_start();
    if let Some(inner) = rest.strip_prefix('"') {
        let Some(end) = inner.find('"') else {
            return Err("the text does not end: a `\"` is missing".to_owned());
        };
        let text = inner[..end].to_owned();
        *rest = &inner[end + 1..];
        return Ok(Value::String(text));
    }
    if let Some(inner) = rest.strip_prefix('{') {
        if depth == NESTING_MAX {
            return Err(format!("more than {NESTING_MAX} dimensions"));
        }
        *rest = inner;
        return elements(rest, depth + 1);
    }
    let end = rest.find([',', '}']).unwrap_or(rest.len());
    let word = rest[..end].trim();
    *rest = &rest[end..];
    match word {
        "" => Err("an element of the array is missing".to_owned()),
        word => Ok(scalar(word)),
    }
}

fn elements(rest: &mut &str, depth: usize) -> Result<Value, String> {
    let mut elements = Vec::new();
    *rest = rest.trim_start();
    if let Some(after) = rest.strip_prefix('}') {
        *rest = after;
        return Ok(Value::Array(elements));
    }
    loop {
        elements.push(parse(rest, depth)?);
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix(',') {
            *rest = after;
        } else if let Some(after) = rest.strip_prefix('}') {
            *rest = after;
            return Ok(Value::Array(elements));
        } else {
            return Err("the array does not end: a `}` is missing".to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_modelica_writes_them() {
        for (text, expected) in [
            ("2", Value::Integer(2)),
            ("-2.5e3", Value::Real(-2500.0)),
            ("2.", Value::Real(2.0)),
            ("true", Value::Boolean(true)),
            ("Linear", Value::from("Linear")),
            ("inf", Value::from("inf")),
            ("\"2\"", Value::from("2")),
            ("{1, 2.5}", vec![Value::Integer(1), Value::Real(2.5)].into()),
            ("{{1,2},{3,4}}", [[1, 2], [3, 4]].into()),
            ("{}", Value::Array(Vec::new())),
            ("{\"a, b\", c}", ["a, b", "c"].into()),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for text in ["{1, 2", "{1,,2}", "\"open", "{1} 2"] {
            assert!(text.parse::<Value>().is_err(), "{text}");
        }
    }

    #[test]
    fn scalars_of_a_matrix_come_row_by_row() {
        let matrix = Value::from([[1, 2], [3, 4]]);
        let scalars = matrix.scalars();
        assert_eq!(scalars[1], (vec![1, 2], &Value::Integer(2)));
        assert_eq!(scalars[2], (vec![2, 1], &Value::Integer(3)));
    }
}
