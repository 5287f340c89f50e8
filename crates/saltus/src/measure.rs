//! Numbers that are taken from a finished run: the columns of a sweep.

use crate::run::Run;
use saltus_results::{Side, Signal};
use std::fmt;

/// A number that is taken from a finished run. All but [`Measure::At`] and [`Measure::Events`] look at the rows of the result: both sides of each event, and the points of the grid
/// ([`crate::Sweep::experiment`] sets it).
#[derive(Clone, PartialEq, Debug)]
pub enum Measure {
    /// The value of a variable at the end.
    Last(String),
    /// Its value after initialisation.
    First(String),
    Min(String),
    Max(String),
    /// The mean over time, by the trapezoidal rule.
    Mean(String),
    /// The integral over time, by the trapezoidal rule.
    Integral(String),
    /// The root of the mean square, the square being integrated exactly for lines between rows.
    Rms(String),
    /// The value at a time, linear between rows, the right limit at an event.
    At(String, f64),
    /// When a variable is first above or below a bound, linear between rows.
    TimeOf(String, Crossing, f64),
    /// How many events there were.
    Events(EventClass),
}

/// What a variable does at the bound of [`Measure::TimeOf`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Crossing {
    Above,
    Below,
}

/// Events that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventClass {
    All,
    Time,
    State,
}

const KNOWN: &str = "last (or final), first, min, max, mean, integral, rms, at(x, time), time_of(x > bound), events, events(state), events(time)";

impl Measure {
    pub fn last(variable: impl Into<String>) -> Measure {
        Measure::Last(variable.into())
    }

    /// The variable that is measured.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Measure::Last(name)
            | Measure::First(name)
            | Measure::Min(name)
            | Measure::Max(name)
            | Measure::Mean(name)
            | Measure::Integral(name)
            | Measure::Rms(name)
            | Measure::TimeOf(name, ..)
            | Measure::At(name, _) => Some(name),
            Measure::Events(_) => None,
        }
    }

    /// It needs no row between the first and the last.
    pub(crate) fn is_of_ends(&self) -> bool {
        matches!(
            self,
            Measure::Last(_) | Measure::First(_) | Measure::Events(_)
        )
    }

    /// The number; `None` if the run has none.
    pub fn of(&self, run: &Run) -> Option<f64> {
        if let Measure::Events(class) = self {
            let counts = &run.statistics.events;
            return Some(match class {
                EventClass::All => (counts.time + counts.state + counts.step) as f64,
                EventClass::Time => counts.time as f64,
                EventClass::State => counts.state as f64,
            });
        }
        let signal = run.table.signal(self.variable()?)?;
        let time = run.table.time();
        let values = || (0..time.len()).map(|row| signal.row(row));
        match self {
            Measure::Last(_) => signal.last(),
            Measure::First(_) => values().next(),
            Measure::Min(_) => values().reduce(f64::min),
            Measure::Max(_) => values().reduce(f64::max),
            Measure::Mean(_) => mean(time, &signal),
            Measure::Integral(_) => Some(summed(time, &signal, |a, b| 0.5 * (a + b))),
            Measure::Rms(_) => rms(time, &signal),
            Measure::At(_, at) => signal.at(*at, Side::Right),
            Measure::TimeOf(_, crossing, bound) => time_of(time, &signal, *crossing, *bound),
            Measure::Events(_) => None,
        }
        .filter(|value| value.is_finite())
    }
}

/// `max(x)`, `min(x)`, `mean(x)`, `integral(x)`, `rms(x)`, `first(x)`, `last(x)`, `at(x, 0.5)`, `time_of(x > 3)`, `events`, `events(state)`, or the name alone for its last value.
///
/// ```
/// use saltus::{Crossing, Measure};
///
/// assert_eq!("max(motor.w[2])".parse(), Ok(Measure::Max("motor.w[2]".into())));
/// assert_eq!("at(x, 0.5)".parse(), Ok(Measure::At("x".into(), 0.5)));
/// assert_eq!("time_of(x > 3)".parse(), Ok(Measure::TimeOf("x".into(), Crossing::Above, 3.0)));
/// assert_eq!("der(x)".parse(), Ok(Measure::last("der(x)")));
/// assert!("median(x)".parse::<Measure>().is_err());
/// ```
impl std::str::FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Measure, String> {
        let text = text.trim();
        let call = (text.split_once('(')).and_then(|(f, rest)| Some((f, rest.strip_suffix(')')?)));
        let Some((function, inside)) = call else {
            return Ok(match text {
                "events" => Measure::Events(EventClass::All),
                name => Measure::last(name),
            });
        };
        let name = inside.trim().to_owned();
        Ok(match function.trim() {
            "last" | "final" => Measure::Last(name),
            "first" => Measure::First(name),
            "min" => Measure::Min(name),
            "max" => Measure::Max(name),
            "mean" => Measure::Mean(name),
            "integral" => Measure::Integral(name),
            "rms" => Measure::Rms(name),
            "at" => {
                let at = (inside.rsplit_once(','))
                    .and_then(|(name, time)| Some((name, time.trim().parse::<f64>().ok()?)));
                let Some((name, time)) = at else {
                    return Err(format!("`{text}`: a variable and a time are expected"));
                };
                Measure::At(name.trim().to_owned(), time)
            }
            "time_of" => {
                let (name, crossing, bound) = relation(inside).ok_or_else(|| {
                    format!(
                        "`{text}`: a relation with a number is expected, as in `time_of(x > 3)`"
                    )
                })?;
                Measure::TimeOf(name, crossing, bound)
            }
            "events" => Measure::Events(match inside.trim() {
                "" => EventClass::All,
                "time" => EventClass::Time,
                "state" => EventClass::State,
                _ => {
                    return Err(format!(
                        "`{text}`: known are events, events(time), events(state)"
                    ));
                }
            }),
            // A variable.
            function if function == "der" || function.contains('.') => Measure::last(text),
            function => {
                return Err(format!("`{function}` is no measure; known are {KNOWN}"));
            }
        })
    }
}

/// `x > 3`, `3 < x`
fn relation(text: &str) -> Option<(String, Crossing, f64)> {
    let at = text.find(['<', '>'])?;
    let (left, right) = (&text[..at], text[at + 1..].trim_start_matches('='));
    let is_above = text[at..].starts_with('>');
    let (name, bound, is_above) = match right.trim().parse::<f64>() {
        Ok(bound) => (left, bound, is_above),
        Err(_) => (right, left.trim().parse().ok()?, !is_above),
    };
    let crossing = match is_above {
        true => Crossing::Above,
        false => Crossing::Below,
    };
    Some((name.trim().to_owned(), crossing, bound))
}

/// `max(x)`, and the name alone for its last value: the heading of a column.
impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Measure::Last(name) => f.write_str(name),
            Measure::First(name) => write!(f, "first({name})"),
            Measure::Min(name) => write!(f, "min({name})"),
            Measure::Max(name) => write!(f, "max({name})"),
            Measure::Mean(name) => write!(f, "mean({name})"),
            Measure::Integral(name) => write!(f, "integral({name})"),
            Measure::Rms(name) => write!(f, "rms({name})"),
            Measure::At(name, time) => write!(f, "{name}@{time}"),
            Measure::TimeOf(name, Crossing::Above, bound) => write!(f, "time_of({name} > {bound})"),
            Measure::TimeOf(name, Crossing::Below, bound) => write!(f, "time_of({name} < {bound})"),
            Measure::Events(EventClass::All) => f.write_str("events"),
            Measure::Events(EventClass::Time) => f.write_str("events(time)"),
            Measure::Events(EventClass::State) => f.write_str("events(state)"),
        }
    }
}

/// The sum over the pieces between rows: their length, times what `of` makes of the values at their ends.
fn summed(time: &[f64], signal: &Signal<'_>, of: impl Fn(f64, f64) -> f64) -> f64 {
    (1..time.len())
        .map(|k| of(signal.row(k - 1), signal.row(k)) * (time[k] - time[k - 1]))
        .sum()
}

fn mean(time: &[f64], signal: &Signal<'_>) -> Option<f64> {
    let (first, last) = (time.first()?, time.last()?);
    if first == last {
        return signal.last();
    }
    Some(summed(time, signal, |a, b| 0.5 * (a + b)) / (last - first))
}

fn rms(time: &[f64], signal: &Signal<'_>) -> Option<f64> {
    let (first, last) = (time.first()?, time.last()?);
    if first == last {
        return signal.last().map(f64::abs);
    }
    let square = summed(time, signal, |a, b| (a * a + a * b + b * b) / 3.0);
    Some((square / (last - first)).sqrt())
}

/// The first time at which the signal is beyond the bound; between two rows on the line that joins them.
fn time_of(time: &[f64], signal: &Signal<'_>, crossing: Crossing, bound: f64) -> Option<f64> {
    let beyond = |value: f64| match crossing {
        Crossing::Above => value > bound,
        Crossing::Below => value < bound,
    };
    let row = (0..time.len()).find(|&row| beyond(signal.row(row)))?;
    let Some(before) = row.checked_sub(1) else {
        return Some(time[row]);
    };
    let (from, to) = (signal.row(before), signal.row(row));
    let share = (bound - from) / (to - from);
    Some(time[before] + share * (time[row] - time[before]))
}
