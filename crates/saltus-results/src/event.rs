//! The event log: what happened, when and why, one JSON object per line (`--events`). The field names are a promise
//! to users.

use std::io::{self, Write};

use serde::{Deserialize, Deserializer, Serialize};

use crate::ReadError;

/// JSON has no NaN: it is written as `null`, and read back as NaN.
pub(crate) fn null_as_nan<'de, D: Deserializer<'de>>(source: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(source)?.map_or(f64::NAN, |value| value))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    Time,
    State,
    /// Inputs were given other values.
    Input,
    Initial,
    Terminal,
    Sliding,
    Zeno,
    /// A crossing function reached zero and turned back: nothing flips.
    Touch,
    /// After a step other variables became the states; no variable changed its value.
    Step,
    /// The solution of a system of equations came to its end, and another one was taken.
    Fold,
}

impl EventKind {
    /// As in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            EventKind::Time => "time",
            EventKind::State => "state",
            EventKind::Input => "input",
            EventKind::Initial => "initial",
            EventKind::Terminal => "terminal",
            EventKind::Sliding => "sliding",
            EventKind::Zeno => "zeno",
            EventKind::Touch => "touch",
            EventKind::Step => "step",
            EventKind::Fold => "fold",
        }
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EventRecord {
    pub time: f64,
    pub kind: EventKind,
    /// How the time was found, e.g. `calendar`, `dense-output`.
    pub method: String,
    pub cause: Vec<Cause>,
    pub changed: Vec<Change>,
    pub impulses: Vec<Impulse>,
    /// Passes of the event iteration.
    pub iterations: u32,
    /// Evaluations of crossing functions spent on locating it.
    pub evaluations: u32,
    /// The mode after the event.
    pub mode: u32,
}

/// A relation that flipped, or a time event that came due.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cause {
    pub expression: String,
    pub file: String,
    pub line: u32,
    #[serde(deserialize_with = "null_as_nan")]
    pub value_left: f64,
    #[serde(deserialize_with = "null_as_nan")]
    pub value_right: f64,
}

/// A variable that jumped.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Change {
    pub variable: String,
    #[serde(deserialize_with = "null_as_nan")]
    pub before: f64,
    #[serde(deserialize_with = "null_as_nan")]
    pub after: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Impulse {
    pub variable: String,
    pub value: f64,
}

/// Writes one line per event.
pub fn write_events(events: &[EventRecord], mut out: impl Write) -> io::Result<()> {
    for event in events {
        write_event(event, &mut out)?;
    }
    out.flush()
}

/// Writes the line of an event.
pub fn write_event(event: &EventRecord, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")
}

/// Reads an event log back; blank lines are skipped, and a last line that was cut off when the run was killed is no event.
pub fn read_events(text: &str) -> Result<Vec<EventRecord>, ReadError> {
    let whole = match text.rfind('\n') {
        Some(end) if serde_json::from_str::<EventRecord>(&text[end + 1..]).is_err() => {
            &text[..=end]
        }
        None if serde_json::from_str::<EventRecord>(text).is_err_and(|e| e.is_eof()) => "",
        _ => text,
    };
    whole
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(i, line)| {
            serde_json::from_str(line).map_err(|e| ReadError::Line {
                line: i + 1,
                what: e.to_string(),
            })
        })
        .collect()
}
