//! Inputs of the whole model that are given expressions: `u = sin(time)`.
//!
//! The class is compiled as the base of one that has an equation for each of these inputs. So an expression may be whatever an equation may have on its right side, with the names
//! of the class, and where it jumps there is an event.

use super::Session;
use crate::error::Error;
use crate::texts::Given;
use saltus_ir::FlatModel;
use saltus_ir::flat::Causality;
use saltus_syntax::Name;

/// The class with the equations. No other can have the name by chance.
const CLASS: &str = "'Saltus: inputs'";
/// What messages call the text of the equations.
const FILE: &str = "--input";

/// Names of inputs with their expressions.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct BoundInputs(Vec<(String, String)>);

impl Session {
    /// Gives an input of the models that are compiled from now on an expression, in place of a value from outside: `sin(time)`, `if time < 1 then 0 else 2*k`. Names are those of
    /// the model.
    ///
    /// ```
    /// let mut session = saltus::Session::new();
    /// session.set_text("Sum.mo", "model Sum input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end Sum;");
    /// session.bind_input("u", "if time < 0.25 then 4 else 0")?;
    /// let run = session.compile("Sum")?.experiment().simulate()?;
    /// assert!((run.last("x")? - 1.0).abs() < 1e-9, "the jump is an event");
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn bind_input(&mut self, name: &str, expression: &str) -> Result<&mut Self, Error> {
        if expression.contains(';') || expression.trim().is_empty() || name.contains(';') {
            return Err(Error::Usage(format!(
                "`{name} = {expression}` is no equation for an input"
            )));
        }
        let inputs = &mut self.inside().inputs.0;
        inputs.retain(|(known, _)| known != name);
        inputs.push((name.to_owned(), expression.to_owned()));
        Ok(self)
    }

    /// The class to be flattened in place of another one, with its text given; `None`: the class itself.
    pub(super) fn class_with_inputs(&self, class: &str) -> Option<(Session, &'static str)> {
        let BoundInputs(inputs) = &self.given.inputs;
        if inputs.is_empty() {
            return None;
        }
        let equations: String = (inputs.iter())
            .map(|(name, expression)| format!("  {name} = {expression};\n"))
            .collect();
        let mut session = self.clone();
        session.inside().texts.set(Given {
            name: FILE.to_owned(),
            text: format!("model {CLASS}\n  extends {class};\nequation\n{equations}end {CLASS};\n")
                .into(),
            is_top_level: true,
        });
        Some((session, CLASS))
    }

    /// The inputs are unknowns: they have equations.
    pub(super) fn release_inputs(&self, model: &mut FlatModel) -> Result<(), Error> {
        for (input, _) in &self.given.inputs.0 {
            let mut n_found = 0;
            for (_, variable) in model.variables.iter_mut() {
                let is_it = variable.name.as_str() == input || is_element(variable.name, input);
                if is_it && variable.causality == Causality::Input {
                    variable.causality = Causality::Local;
                    n_found += 1;
                }
            }
            if n_found == 0 {
                let known: Vec<String> = (model.variables.iter())
                    .filter(|(_, v)| v.causality == Causality::Input)
                    .map(|(_, v)| format!("`{}`", v.name))
                    .collect();
                let known = match known.is_empty() {
                    true => "it has none".to_owned(),
                    false => format!("its inputs are {}", known.join(", ")),
                };
                return Err(Error::Usage(format!(
                    "`{input}` is no input of the model; {known}"
                )));
            }
        }
        Ok(())
    }
}

/// `input[…]` or `input.…`
fn is_element(name: Name, input: &str) -> bool {
    let rest = name.as_str().strip_prefix(input);
    rest.is_some_and(|rest| rest.starts_with(['[', '.']))
}
