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
    Table(Arc<[(f64, f64)]>, Interpolation),
}

/// The course of a table between its points.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Interpolation {
    /// Each value holds until the next time: every point is an event.
    Held,
    /// Straight lines: every kink is an event.
    #[default]
    Linear,
    /// Cubics with a continuous derivative that do not overshoot; only jumps are events.
    Smooth,
}

impl Interpolation {
    pub const ALL: [(&'static str, Interpolation); 3] = [
        ("held", Interpolation::Held),
        ("linear", Interpolation::Linear),
        ("smooth", Interpolation::Smooth),
    ];
}

/// What an input gets from now on, and at which times it gets something else.
pub(crate) struct Given {
    pub(crate) slot: Slot,
    pub(crate) signal: Signal,
    /// In the order of time.
    pub(crate) later: Vec<(f64, Signal)>,
}

impl Given {
    fn unchanging(slot: Slot, signal: Signal) -> Given {
        Given {
            slot,
            signal,
            later: Vec::new(),
        }
    }
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

    /// Values at times that do not decrease. A Real input is linear in between, and two values of one time are a jump; an input of another type keeps each value until
    /// the next time. Before the first time and after the last one the input is constant. Each kink is an event, so that none is stepped over. The state of a simulator holds
    /// the piece of the moment, not the table.
    ///
    /// ```
    /// use saltus::{Input, Session};
    ///
    /// let mut session = Session::new();
    /// session.set_text("Sum.mo", "model Sum input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end Sum;");
    /// let sum = session.compile("Sum")?;
    /// // A pulse of the area 1, up and down within a hundredth of a second.
    /// let pulse = Input::table([(0.0, 0.0), (50.0, 0.0), (50.01, 200.0), (50.01, 0.0)])?;
    /// let run = sum.experiment().input("u", pulse).stop_time(100.0).simulate()?;
    /// assert!((run.last("x")? - 1.0).abs() < 1e-6);
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn table(points: impl IntoIterator<Item = (f64, f64)>) -> Result<Input, Error> {
        let points: Arc<[(f64, f64)]> = points.into_iter().collect();
        let wrong = |text: String| Err(Error::Usage(text));
        if points.is_empty() {
            return wrong("the table of an input has no point".to_owned());
        }
        if let Some((t, u)) = points
            .iter()
            .find(|(t, u)| !t.is_finite() || !u.is_finite())
        {
            return wrong(format!(
                "the table of an input has the point ({t}, {u}), which is not finite"
            ));
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[1].0 < pair[0].0) {
            return wrong(format!(
                "the times of the table of an input decrease from {} to {}",
                pair[0].0, pair[1].0
            ));
        }
        Ok(Input {
            course: Course::Table(points, Interpolation::Linear),
        })
    }

    /// A table with another course between its points. Inputs that are not Real keep each value in any case.
    ///
    /// ```
    /// use saltus::{Input, Interpolation, Session};
    ///
    /// let mut session = Session::new();
    /// session.set_text("Sum.mo", "model Sum input Real u; Real x(start = 0, fixed = true); equation der(x) = u; end Sum;");
    /// let sum = session.compile("Sum")?;
    /// let steps = Input::table([(0.0, 1.0), (0.25, 3.0), (1.0, 0.0)])?;
    /// let area = |steps: &Input| -> Result<f64, saltus::Error> {
    ///     sum.experiment().input("u", steps.clone()).simulate()?.last("x")
    /// };
    /// assert!((area(&steps)? - 1.625).abs() < 1e-9);
    /// assert!((area(&steps.clone().interpolated(Interpolation::Held))? - 2.5).abs() < 1e-9);
    /// let smooth = area(&steps.interpolated(Interpolation::Smooth))?;
    /// assert!((1.6..2.1).contains(&smooth));
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn interpolated(mut self, by: Interpolation) -> Input {
        if let Course::Table(_, interpolation) = &mut self.course {
            *interpolation = by;
        }
        self
    }

    /// What each slot of the input gets from `now` on.
    pub(crate) fn signals(
        &self,
        info: &ModelInfo,
        name: &str,
        now: f64,
    ) -> Result<Vec<Given>, Error> {
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
                    signals.push(Given::unchanging(scalar.variable.slot, value));
                }
                return Ok(signals);
            }
            Course::Ramp { value, rate } => Signal::Linear {
                since: now,
                value: *value,
                rate: *rate,
            },
            Course::Function(signal) => signal.clone(),
            Course::Table(points, by) => return in_pieces(info, name, points, *by, now),
        };
        let variable = crate::experiment::find_variable(info, name)?;
        match (variable.causality, variable.ty) {
            (Causality::Input, ValueType::Real) if !variable.negated => {
                Ok(vec![Given::unchanging(variable.slot, signal)])
            }
            (Causality::Input, _) => wrong(format!(
                "`{name}` is not Real: it can be given values, not a course over time"
            )),
            _ => wrong(format!("`{name}` is no input of the model")),
        }
    }
}

/// The pieces of a table: constant, or linear.
fn in_pieces(
    info: &ModelInfo,
    name: &str,
    points: &[(f64, f64)],
    by: Interpolation,
    now: f64,
) -> Result<Vec<Given>, Error> {
    let variable = crate::experiment::find_variable(info, name)?;
    if variable.causality != Causality::Input {
        return Err(Error::Usage(format!("`{name}` is no input of the model")));
    }
    let value = |number: f64| -> Result<f64, Error> {
        let is_of_type = match variable.ty {
            ValueType::Real => true,
            ValueType::Integer | ValueType::Enumeration => number.fract() == 0.0,
            ValueType::Boolean => number == 0.0 || number == 1.0,
            ValueType::String => false,
        };
        match is_of_type {
            true => Ok(signed(variable, number)),
            false => Err(Error::Usage(format!(
                "`{name}` is {:?}, and {number} of its table is not",
                variable.ty
            ))),
        }
    };
    let is_real = variable.ty == ValueType::Real;
    if by == Interpolation::Smooth && is_real {
        let points: Vec<(f64, f64)> = (points.iter())
            .map(|&(t, u)| (t, signed(variable, u)))
            .collect();
        return Ok(vec![smooth(variable.slot, &points, now)]);
    }
    let is_linear = by == Interpolation::Linear && is_real;
    let mut signal = Signal::Constant(value(points[0].1)?);
    let mut later: Vec<(f64, Signal)> = Vec::new();
    for (k, &(time, number)) in points.iter().enumerate() {
        let begins = value(number)?;
        let rate = match points.get(k + 1) {
            Some(&(next, ends)) if is_linear && next > time => {
                (value(ends)? - begins) / (next - time)
            }
            _ => 0.0,
        };
        let piece = match rate {
            0.0 => Signal::Constant(begins),
            rate => Signal::Linear {
                since: time,
                value: begins,
                rate,
            },
        };
        match later.last_mut() {
            _ if time <= now => signal = piece,
            // Of several values of one time the last one counts from there on.
            Some((before, known)) if *before == time => *known = piece,
            Some((_, before)) if goes_on(before, &piece, time) => {}
            None if goes_on(&signal, &piece, time) => {}
            _ => later.push((time, piece)),
        }
    }
    Ok(vec![Given {
        slot: variable.slot,
        signal,
        later,
    }])
}

/// One function between two jumps, constant before the first point and after the last.
fn smooth(slot: Slot, points: &[(f64, f64)], now: f64) -> Given {
    let mut pieces = vec![(f64::NEG_INFINITY, Signal::Constant(points[0].1))];
    for section in points.chunk_by(|before, after| before.0 < after.0) {
        let (Some(&(begin, first)), Some(&(end, last))) = (section.first(), section.last()) else {
            continue;
        };
        if begin < end {
            let curve = Cubics::through(section);
            let course = Signal::Function(Arc::new(move |t| curve.at(t)));
            pieces.push((begin, course));
            pieces.push((end, Signal::Constant(last)));
        } else {
            pieces.push((begin, Signal::Constant(first)));
        }
    }
    let n_past = pieces.partition_point(|piece| piece.0 <= now).max(1);
    let later = pieces.split_off(n_past);
    let signal = pieces.pop().map_or(Signal::Missing, |piece| piece.1);
    Given {
        slot,
        signal,
        later,
    }
}

/// Cubic pieces with slopes by the weighted harmonic mean (F. N. Fritsch and J. Butland, SIAM J. Sci. Stat. Comput. 5, 1984): where the points rise, so does the curve.
struct Cubics {
    points: Vec<(f64, f64)>,
    slopes: Vec<f64>,
}

impl Cubics {
    /// At least two points, with times that grow.
    fn through(points: &[(f64, f64)]) -> Cubics {
        let width = |k: usize| points[k + 1].0 - points[k].0;
        let rise = |k: usize| (points[k + 1].1 - points[k].1) / width(k);
        let last = points.len() - 1;
        let slopes = (0..=last).map(|k| match k {
            0 => rise(0),
            k if k == last => rise(k - 1),
            k => {
                let (before, after) = (rise(k - 1), rise(k));
                if before * after <= 0.0 {
                    return 0.0;
                }
                let (a, b) = (width(k - 1) + 2.0 * width(k), 2.0 * width(k - 1) + width(k));
                (a + b) / (b / before + a / after)
            }
        });
        Cubics {
            slopes: slopes.collect(),
            points: points.to_vec(),
        }
    }

    /// Hermite's form.
    fn at(&self, t: f64) -> f64 {
        let n = self.points.len();
        let k = (self.points.partition_point(|p| p.0 <= t)).clamp(1, n - 1) - 1;
        let ((t0, y0), (t1, y1)) = (self.points[k], self.points[k + 1]);
        let h = t1 - t0;
        let s = (t - t0) / h;
        let r = 1.0 - s;
        let ends = y0 * (1.0 + 2.0 * s) * r * r + y1 * (3.0 - 2.0 * s) * s * s;
        ends + h * s * r * (self.slopes[k] * r - self.slopes[k + 1] * s)
    }
}

/// The piece is the one before, continued.
fn goes_on(before: &Signal, piece: &Signal, time: f64) -> bool {
    let rate = |signal: &Signal| match signal {
        Signal::Linear { rate, .. } => *rate,
        Signal::Constant(_) | Signal::Function(_) | Signal::Missing => 0.0,
    };
    rate(before) == rate(piece) && before.at(time) == piece.at(time)
}

impl<V: Into<Value>> From<V> for Input {
    fn from(value: V) -> Input {
        Input {
            course: Course::Value(value.into()),
        }
    }
}
