//! What gives the inputs of a model their values between events.

use crate::{Slot, Values};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// An input over time, from when it was given until another one is.
#[derive(Clone)]
pub enum Signal {
    Constant(f64),
    /// `value + rate·(t - since)`
    Linear {
        since: f64,
        value: f64,
        rate: f64,
    },
    /// Any function of time that has no jumps: where it has one, the input has to be given anew.
    Function(Arc<dyn Fn(f64) -> f64 + Send + Sync>),
    /// A function that a file could not hold: it has to be given anew.
    Missing,
}

impl Signal {
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Signal::Constant(value) => *value,
            Signal::Linear { since, value, rate } => value + rate * (t - since),
            Signal::Function(f) => f(t),
            Signal::Missing => f64::NAN,
        }
    }
}

impl PartialEq for Signal {
    fn eq(&self, other: &Signal) -> bool {
        match (self, other) {
            (Signal::Constant(a), Signal::Constant(b)) => a == b,
            (
                Signal::Linear { since, value, rate },
                Signal::Linear {
                    since: s,
                    value: v,
                    rate: r,
                },
            ) => (since, value, rate) == (s, v, r),
            (Signal::Function(f), Signal::Function(g)) => Arc::ptr_eq(f, g),
            (Signal::Missing, Signal::Missing) => true,
            _ => false,
        }
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signal::Constant(value) => write!(f, "{value:?}"),
            Signal::Linear { since, value, rate } => {
                write!(f, "{value:?} + {rate:?}*(time - {since:?})")
            }
            Signal::Function(_) | Signal::Missing => f.write_str("a function of time"),
        }
    }
}

/// What a file holds of a signal: value, and rate with the time since when; nothing of a function.
type Written = Option<(f64, Option<(f64, f64)>)>;

impl Serialize for Signal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written: Written = match self {
            Signal::Constant(value) => Some((*value, None)),
            Signal::Linear { since, value, rate } => Some((*value, Some((*since, *rate)))),
            Signal::Function(_) | Signal::Missing => None,
        };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Signal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Signal, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Some((value, None)) => Signal::Constant(value),
            Some((value, Some((since, rate)))) => Signal::Linear { since, value, rate },
            None => Signal::Missing,
        })
    }
}

/// The inputs that change between events.
#[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Inputs {
    moving: Vec<(Slot, Signal)>,
}

impl Inputs {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.moving.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Slot, Signal)> {
        self.moving.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (Slot, Signal)> {
        self.moving.iter_mut()
    }

    /// From now on. What is constant is the value of its slot alone.
    pub fn set(&mut self, slot: Slot, signal: Signal) {
        self.moving.retain(|(known, _)| *known != slot);
        if !matches!(signal, Signal::Constant(_)) {
            self.moving.push((slot, signal));
        }
    }
}

impl Values {
    /// The inputs that move have their values of this time.
    #[inline(never)]
    pub fn move_inputs(&mut self, t: f64) {
        for (slot, signal) in &self.inputs.moving {
            self.v[slot.index()] = signal.at(t);
        }
    }
}
