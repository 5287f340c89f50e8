//! Values given from outside: checked against the declarations, then sorted into those of the run and those that the model is compiled with.

use super::{Base, Model};
use crate::collector::Subject;
use crate::error::Error;
use crate::experiment::find_variable;
use crate::model::variables::signed;
use crate::session::Overrides;
use crate::value::Value;
use saltus_model::{Model as _, ModelInfo, Settable, Slot, ValueType, VariableInfo, VariableKind};
use saltus_syntax::{Diagnostic, Name, Severity};
use std::sync::Arc;

/// The text number of a String that is not set: the code knows it before any other.
const EMPTY_TEXT: usize = 0;

/// All settings of a model.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Settings {
    /// As they were given, in order; a later one of the same name has taken the place of the one before.
    given: Vec<(String, Value)>,
    /// Those that the code was compiled with.
    pub(super) compiled: Overrides,
    /// The others, by slot.
    values: Vec<(Slot, f64)>,
    /// What the numbers of String parameters mean.
    texts: Arc<[Arc<str>]>,
}

impl Settings {
    /// With one more.
    pub(super) fn add(&mut self, name: &str, value: Value) {
        self.given.retain(|(known, _)| known != name);
        self.given.push((name.to_owned(), value));
    }

    pub(super) fn overrides(&self) -> Vec<(Slot, f64)> {
        self.values.clone()
    }

    pub(super) fn texts(&self) -> Arc<[Arc<str>]> {
        self.texts.clone()
    }

    /// `name = value` of each.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        (self.given.iter()).map(|(name, value)| format!("{name} = {value}"))
    }

    pub(super) fn len(&self) -> usize {
        self.given.len()
    }

    /// What has to be compiled in, beside what was already: parameters that decide the structure of the model, and coefficients that are zero and may take
    /// a term away. A setting that does not fit this compilation may fit a later one.
    pub(super) fn structural(&self, base: &Base, already: &Overrides) -> Overrides {
        let info = base.compiled.info();
        let mut overrides = Overrides::new();
        for (name, value) in &self.given {
            let Ok(scalars) = scalars(info, name, value) else {
                let kept = already.iter().filter(|(path, _)| is_within(path, name));
                overrides.extend(kept.cloned());
                continue;
            };
            for Scalar { variable, value } in scalars {
                let path = Name::new(&variable.name);
                let is_structural = matches!(variable.settable, Settable::Structural(_))
                    || already.iter().any(|(known, _)| *known == path)
                    || value.is_zero() && variable.kind == VariableKind::Parameter;
                if is_structural {
                    overrides.retain(|(known, _)| *known != path);
                    overrides.push((path, value.as_constant()));
                }
            }
        }
        overrides
    }

    /// The values of the run, for the code that was compiled with the rest.
    pub(super) fn locate(
        &mut self,
        info: &ModelInfo,
        compiled: Overrides,
    ) -> Result<Vec<(String, f64)>, Error> {
        let mut texts: Vec<Arc<str>> = vec!["".into()];
        let mut values: Vec<(Slot, f64)> = Vec::new();
        let mut numbers = Vec::new();
        for (name, value) in &self.given {
            for Scalar { variable, value } in scalars(info, name, value)? {
                let path = Name::new(&variable.name);
                if let Some(number) = value.number() {
                    numbers.push((variable.name.clone(), number));
                }
                if compiled.iter().any(|(known, _)| *known == path) {
                    continue;
                }
                let number = match &value {
                    Constant::Text(text) => number_of(text, &mut texts),
                    other => signed(variable, other.number().unwrap_or(f64::NAN)),
                };
                values.retain(|(slot, _)| *slot != variable.slot);
                values.push((variable.slot, number));
            }
        }
        self.values = values;
        self.compiled = compiled;
        texts.remove(EMPTY_TEXT);
        self.texts = texts.into();
        Ok(numbers)
    }
}

/// An element of `name`, or itself.
fn is_within(path: &Name, name: &str) -> bool {
    let rest = path.as_str().strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

fn number_of(text: &Arc<str>, texts: &mut Vec<Arc<str>>) -> f64 {
    let known = texts.iter().position(|t| t == text);
    let number = known.unwrap_or_else(|| {
        texts.push(text.clone());
        texts.len() - 1
    });
    number as f64
}

/// A scalar variable with a value of its type.
pub(crate) struct Scalar<'i> {
    pub(crate) variable: &'i VariableInfo,
    pub(crate) value: Constant,
}

pub(crate) enum Constant {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    /// The number of a literal, from 1.
    Literal(u32),
    Text(Arc<str>),
}

impl Constant {
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Constant::Real(x) => Some(*x),
            Constant::Integer(i) => Some(*i as f64),
            Constant::Boolean(b) => Some(f64::from(u8::from(*b))),
            Constant::Literal(k) => Some(f64::from(*k)),
            Constant::Text(_) => None,
        }
    }

    /// A coefficient that is zero.
    fn is_zero(&self) -> bool {
        matches!(self, Constant::Real(0.0) | Constant::Integer(0))
    }

    fn as_constant(&self) -> saltus_ir::Value {
        match self {
            Constant::Real(x) => saltus_ir::Value::Real(*x),
            Constant::Integer(i) => saltus_ir::Value::Integer(*i),
            Constant::Boolean(b) => saltus_ir::Value::Boolean(*b),
            // The front end knows the type of the parameter.
            Constant::Literal(k) => saltus_ir::Value::Real(f64::from(*k)),
            Constant::Text(text) => saltus_ir::Value::String(text.clone()),
        }
    }
}

fn usage(text: String) -> Error {
    Error::Usage(text)
}

/// The scalars that a setting gives values to.
pub(crate) fn scalars<'i>(
    info: &'i ModelInfo,
    name: &str,
    value: &Value,
) -> Result<Vec<Scalar<'i>>, Error> {
    let Value::Array(_) = value else {
        let element = format!("{name}[");
        return match find_variable(info, name) {
            Ok(variable) => Ok(vec![scalar(info, variable, name, value)?]),
            Err(_) if info.variables.iter().any(|v| v.name.starts_with(&element)) => {
                let n = elements_of(info, name).len();
                Err(usage(format!(
                    "`{name}` is an array of {n} elements, and {value} is {}",
                    value.kind()
                )))
            }
            Err(unknown) => Err(unknown),
        };
    };
    let elements = elements_of(info, name);
    let given = value.scalars();
    if elements.is_empty() && !given.is_empty() {
        find_variable(info, name)?;
        return Err(usage(format!(
            "`{name}` is a scalar, and {value} is an array"
        )));
    }
    if elements.len() != given.len() {
        return Err(usage(format!(
            "`{name}` has {} elements, and {value} has {}",
            elements.len(),
            given.len()
        )));
    }
    let mut out = Vec::new();
    for (subscripts, element) in given {
        let texts: Vec<String> = subscripts.iter().map(usize::to_string).collect();
        let path = format!("{name}[{}]", texts.join(","));
        let Some(variable) = elements.iter().find(|v| v.name == path) else {
            return Err(usage(format!(
                "{value} has another size than `{name}`: there is no `{path}`"
            )));
        };
        out.push(scalar(info, variable, &path, element)?);
    }
    Ok(out)
}

/// The scalar elements `name[…]` of an array.
pub(crate) fn elements_of<'i>(info: &'i ModelInfo, name: &str) -> Vec<&'i VariableInfo> {
    let is_element = |v: &&VariableInfo| {
        let inside = (v.name.strip_prefix(name))
            .and_then(|rest| rest.strip_prefix('['))
            .and_then(|rest| rest.strip_suffix(']'));
        inside.is_some_and(|inside| inside.chars().all(|c| c.is_ascii_digit() || c == ','))
    };
    info.variables.iter().filter(is_element).collect()
}

fn scalar<'i>(
    info: &ModelInfo,
    variable: &'i VariableInfo,
    name: &str,
    value: &Value,
) -> Result<Scalar<'i>, Error> {
    let why = match variable.settable {
        Settable::Value | Settable::Structural(_) => None,
        Settable::Final => Some("it is final"),
        Settable::No if variable.kind == VariableKind::Constant => Some("it is a constant"),
        Settable::No => Some("it has no start value of its own"),
    };
    if let Some(why) = why {
        return Err(usage(format!("`{name}` cannot be set: {why}")));
    }
    Ok(Scalar {
        variable,
        value: constant(info, variable, name, value)?,
    })
}

/// The value in the type of the variable.
fn constant(
    info: &ModelInfo,
    variable: &VariableInfo,
    name: &str,
    value: &Value,
) -> Result<Constant, Error> {
    let is = match (variable.ty, value) {
        (ValueType::Real, Value::Real(x)) if x.is_finite() => return Ok(Constant::Real(*x)),
        (ValueType::Real, Value::Real(x)) => {
            return Err(usage(format!("`{name}` cannot be set to {x}")));
        }
        (ValueType::Real, Value::Integer(i)) => return Ok(Constant::Real(*i as f64)),
        (ValueType::Integer, Value::Integer(i)) => return Ok(Constant::Integer(*i)),
        (ValueType::Boolean, Value::Boolean(b)) => return Ok(Constant::Boolean(*b)),
        (ValueType::String, Value::String(text)) => {
            return Ok(Constant::Text(text.as_str().into()));
        }
        (ValueType::Enumeration, value) => return literal(info, variable, name, value),
        (ValueType::Real, _) => "a Real",
        (ValueType::Integer, _) => "an Integer",
        (ValueType::Boolean, _) => "a Boolean",
        (ValueType::String, _) => "a String",
    };
    Err(usage(format!(
        "`{name}` is {is}, and {value} is {}",
        value.kind()
    )))
}

/// A literal of the enumeration, by its name (`Linear`, or with the path of the type before it) or its number.
fn literal(
    info: &ModelInfo,
    variable: &VariableInfo,
    name: &str,
    value: &Value,
) -> Result<Constant, Error> {
    let enumeration = variable.enumeration.map(|k| &info.enumerations[k as usize]);
    let literals = enumeration.map_or(&[][..], |e| &e.literals);
    let number = match value {
        Value::String(text) => {
            let last = text.rsplit('.').next().unwrap_or(text);
            literals.iter().position(|l| l == last).map(|k| k + 1)
        }
        Value::Integer(k) => usize::try_from(*k)
            .ok()
            .filter(|k| (1..=literals.len()).contains(k)),
        Value::Real(_) | Value::Boolean(_) | Value::Array(_) => None,
    };
    match number {
        Some(k) => Ok(Constant::Literal(k as u32)),
        None => Err(usage(format!(
            "`{name}` is one of {}, and {value} is not among them",
            literals.join(", ")
        ))),
    }
}

impl Model {
    /// Values that were set must be in the range of their variables.
    pub(super) fn check_ranges(&self, numbers: &[(String, f64)]) -> Result<(), Error> {
        for (name, number) in numbers {
            let variable = self.find_variable(name)?;
            if !self.inside.compiled.has_limits(variable.slot) {
                continue;
            }
            let (min, max) = self.range_of(variable);
            let limit = match *number {
                x if x < min => format!("less than its `min` of {min}"),
                x if x > max => format!("more than its `max` of {max}"),
                _ => continue,
            };
            return Err(usage(format!(
                "`{name}` cannot be set to {number}: that is {limit}"
            )));
        }
        Ok(())
    }

    /// Warnings about parameters whose values in the text are outside of their `min` and `max`.
    pub fn range_warnings(&self) -> Vec<Diagnostic> {
        let compiled = self.compiled();
        let subject = Subject {
            info: self.info(),
            sources: &self.base().sources,
        };
        let wrong = |v: &&VariableInfo| {
            v.kind == VariableKind::Parameter && compiled.has_limits(v.slot) && !v.hidden
        };
        let mut found = Vec::new();
        for variable in self.info().variables.iter().filter(wrong) {
            let (min, max) = self.range_of(variable);
            let Some(value) = self.start_of(variable).and_then(|value| value.as_f64()) else {
                continue;
            };
            let limit = match value {
                x if x < min => format!("less than its `min` of {min}"),
                x if x > max => format!("more than its `max` of {max}"),
                _ => continue,
            };
            let text = format!("`{}` is {value}: that is {limit}", variable.name);
            let mut d = match subject.span_of(variable.site) {
                Some(span) => Diagnostic::warning("out-of-range", span, text),
                None => Diagnostic::placeless("out-of-range", text),
            };
            d.severity = Severity::Warning;
            found.push(d.help("correct the value, or widen the range in the declaration"));
        }
        found
    }

    /// A setting that needs another compilation, of a model whose source is not there.
    pub(super) fn no_source(&self, needed: &Overrides) -> Error {
        let compiled = &self.inside.settings.compiled;
        let new = needed.iter().find(|setting| !compiled.contains(setting));
        let gone = compiled.iter().find(|setting| !needed.contains(setting));
        let name = new.or(gone).map_or("", |(name, _)| name.as_str());
        usage(format!(
            "`{name}` cannot be set: the structure of the model depends on it, and this compiled model is without its source; set it and compile the model again from the source"
        ))
    }
}
