//! Settings as people write them: `2*pi`, `linspace(0, 1, 3)`, `Linear`, `x.start=3`.
//!
//! Comes in: the name of a variable and a text. Goes out: a value of its type. A text that is a value is taken as it is; any other is a constant expression, and the compiler
//! evaluates it: as the binding of a parameter of the same type and size, in a model of its own.

use super::{Model, elements_of};
use crate::error::Error;
use crate::session::Session;
use crate::value::Value;
use crate::world::Memory;
use saltus_model::{ValueType, VariableInfo, VariableKind};

/// The attribute that is set together with the name of a variable.
const START: &str = ".start";
/// Attributes that are no values.
const ATTRIBUTES: [&str; 8] = [
    "fixed",
    "min",
    "max",
    "nominal",
    "unit",
    "displayUnit",
    "quantity",
    "stateSelect",
];

impl Model {
    /// The name under which a variable is set: that of the variable for its start value, written `x` or `x.start`.
    pub fn setting_name<'n>(&self, name: &'n str) -> Result<&'n str, Error> {
        let is_known = |name: &str| {
            self.find_variable(name).is_ok() || !elements_of(self.info(), name).is_empty()
        };
        if is_known(name) {
            return Ok(name);
        }
        if let Some(variable) = name.strip_suffix(START).filter(|name| is_known(name)) {
            let kind = self.example_of(variable).map(|v| v.kind);
            return match kind {
                Some(VariableKind::Parameter | VariableKind::Constant) => Err(Error::Usage(
                    format!("`{variable}` is a parameter: set it itself, not its start value"),
                )),
                _ => Ok(variable),
            };
        }
        if let Some((variable, attribute)) = name.rsplit_once('.')
            && ATTRIBUTES.contains(&attribute)
            && is_known(variable)
        {
            return Err(Error::Usage(format!(
                "`{name}` cannot be set: of the attributes only `start` can be given from outside"
            )));
        }
        // Other settings may bring it into the model.
        Ok(name)
    }

    /// A scalar variable of this name, or the first element of an array.
    fn example_of(&self, name: &str) -> Option<&VariableInfo> {
        let scalar = self.find_variable(name).ok();
        scalar.or_else(|| elements_of(self.info(), name).into_iter().next())
    }

    /// The value that a text means for a variable: a value as Modelica writes it, a word for a String or a literal of an enumeration, or an expression of constants.
    ///
    /// ```
    /// use saltus::Value;
    ///
    /// let mut session = saltus::Session::new();
    /// session.set_text("M.mo", "
    ///   model M
    ///     parameter Real k = 1, v[3] = {1, 2, 3};
    ///     parameter Integer n = 1;
    ///     parameter String s = \"\";
    ///   end M;");
    /// let model = session.compile("M")?;
    /// assert_eq!(model.value_of_text("k", "2*3")?, Value::Real(6.0));
    /// assert_eq!(model.value_of_text("n", "2^3 - 1").is_err(), true, "a power is a Real");
    /// assert_eq!(model.value_of_text("v", "linspace(0, 1, 3)")?, Value::from([0.0, 0.5, 1.0]));
    /// assert_eq!(model.value_of_text("s", "2*3")?, Value::from("2*3"));
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn value_of_text(&self, name: &str, text: &str) -> Result<Value, Error> {
        let value: Value = text.parse().map_err(Error::Usage)?;
        let Some(variable) = self.example_of(name) else {
            return Ok(value);
        };
        if matches!(variable.ty, ValueType::String | ValueType::Enumeration) {
            return Ok(match value {
                // A text of digits is a text.
                Value::Array(_) | Value::String(_) => value,
                Value::Integer(_) if variable.ty == ValueType::Enumeration => value,
                _ => Value::String(text.trim().to_owned()),
            });
        }
        let is_quoted = text.trim().starts_with('"');
        if is_quoted
            || value
                .scalars()
                .iter()
                .all(|(_, v)| !matches!(v, Value::String(_)))
        {
            return Ok(value);
        }
        self.evaluate(name, variable.ty, text)
            .or_else(|why| match value {
                // Of a word that is no expression the type says more.
                Value::String(word) if word.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                    Ok(Value::String(word))
                }
                _ => Err(why),
            })
    }

    /// The value of an expression of constants, in the type and with the size of a variable.
    fn evaluate(&self, name: &str, ty: ValueType, text: &str) -> Result<Value, Error> {
        let wrong = |why: &str| Error::Usage(format!("`{name}` cannot be set to `{text}`: {why}"));
        if text.contains(';') {
            return Err(wrong("that is no expression"));
        }
        let elements = elements_of(self.info(), name);
        let is_array = self.find_variable(name).is_err();
        let sizes = match elements.iter().rfind(|_| is_array) {
            Some(last) => last.name[name.len()..].to_owned(),
            None => String::new(),
        };
        let ty = match ty {
            ValueType::Integer => "Integer",
            ValueType::Boolean => "Boolean",
            _ => "Real",
        };
        let mut session = Session::with_world(Memory::default());
        session.set_text(
            "--set",
            format!("model Setting\n  parameter {ty} value{sizes} =\n{text};\nend Setting;\n"),
        );
        let model = session.compile("Setting").map_err(|error| match &error {
            Error::Model(found) => wrong(
                &found
                    .list
                    .first()
                    .map_or(String::new(), |d| d.message.clone()),
            ),
            other => wrong(&other.to_string()),
        })?;
        let values: Option<Vec<Value>> = model.parameters().into_iter().map(|p| p.value).collect();
        let values = values.ok_or_else(|| wrong("it has no value that is known before the run"))?;
        match (sizes.as_str(), &values[..]) {
            ("", [value]) => Ok(value.clone()),
            (sizes, values) => {
                let inside = sizes.trim_matches(['[', ']']);
                let dims: Vec<usize> = inside.split(',').filter_map(|n| n.parse().ok()).collect();
                Ok(nested(values, &dims))
            }
        }
    }
}

/// Elements in row-major order as arrays of arrays.
fn nested(values: &[Value], dims: &[usize]) -> Value {
    match dims {
        [] | [_] => Value::Array(values.to_vec()),
        [_, inner @ ..] => {
            let length = inner.iter().product::<usize>().max(1);
            Value::Array(
                values
                    .chunks(length)
                    .map(|row| nested(row, inner))
                    .collect(),
            )
        }
    }
}
