//! What inputs are given from outside.

use crate::error::Error;
use crate::model::{Constant, scalars, signed};
use crate::value::Value;
use saltus_model::{Causality, ModelInfo, Signal, Slot, ValueType};
use std::sync::Arc;

/// What an input of a model is given: a value that it keeps until another one is given, a ramp, or a function of time.
///
/// ```
/// use saltus::{Input, Session};
///
/// let mut session = Session::new();
/// session.set_text("Lag.mo", "model Lag input Real u; Real x(start = 0, fixed = true); equation der(x) = u - x; end Lag;");
/// let model = session.compile("Lag")?;
/// let step = model.experiment().input("u", 1.0).simulate()?;
/// assert!((step.last("x")? - (1.0 - (-1.0f64).exp())).abs() < 1e-5);
/// let ramp = model.experiment().input("u", Input::ramp(0.0, 1.0)).simulate()?;
/// assert!((ramp.last("x")? - (-1.0f64).exp()).abs() < 1e-5);
/// let wave = model.experiment().input("u", Input::function(|t| t.sin() + t.cos())).simulate()?;
/// assert!((wave.last("x")? - 1f64.sin()).abs() < 1e-5);
/// assert!(model.experiment().simulate().is_err(), "the input has no value");
/// # Ok::<(), saltus::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Input {
    course: Course,
}

#[derive(Clone, Debug)]
enum Course {
    Value(Value),
    Ramp { value: f64, rate: f64 },
    Function(Signal),
}

impl Input {
    /// `value` now, and `rate` more with every second.
    pub fn ramp(value: f64, rate: f64) -> Input {
        Input {
            course: Course::Ramp { value, rate },
        }
    }

    /// A function of time without jumps: where it jumps, another input has to be given. The state of a simulator does not hold it.
    pub fn function(f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Input {
        Input {
            course: Course::Function(Signal::Function(Arc::new(f))),
        }
    }

    /// What each slot of the input gets from `now` on.
    pub(crate) fn signals(
        &self,
        info: &ModelInfo,
        name: &str,
        now: f64,
    ) -> Result<Vec<(Slot, Signal)>, Error> {
        let wrong = |text: String| Err(Error::Usage(text));
        let signal = match &self.course {
            Course::Value(value) => {
                let scalars = scalars(info, name, value)?;
                let mut signals = Vec::new();
                for scalar in scalars {
                    if scalar.variable.causality != Causality::Input {
                        return wrong(format!("`{name}` is no input of the model"));
                    }
                    let number = match scalar.value {
                        Constant::Text(_) => {
                            return wrong(format!(
                                "`{name}` is a String: it is set before the run (`Model::with`)"
                            ));
                        }
                        other => other.number().unwrap_or(f64::NAN),
                    };
                    let value = Signal::Constant(signed(scalar.variable, number));
                    signals.push((scalar.variable.slot, value));
                }
                return Ok(signals);
            }
            Course::Ramp { value, rate } => Signal::Linear {
                since: now,
                value: *value,
                rate: *rate,
            },
            Course::Function(signal) => signal.clone(),
        };
        let variable = crate::experiment::find_variable(info, name)?;
        match (variable.causality, variable.ty) {
            (Causality::Input, ValueType::Real) if !variable.negated => {
                Ok(vec![(variable.slot, signal)])
            }
            (Causality::Input, _) => wrong(format!(
                "`{name}` is not Real: it can be given values, not a course over time"
            )),
            _ => wrong(format!("`{name}` is no input of the model")),
        }
    }
}

impl<V: Into<Value>> From<V> for Input {
    fn from(value: V) -> Input {
        Input {
            course: Course::Value(value.into()),
        }
    }
}
