//! A run as another program drives it: variables are looked up once, then read and written by what was found.
//!
//! The names of [`Simulator`] are for people. A co-simulation master reads hundreds of variables between two steps of a microsecond; it asks
//! [`Model::find_variable`](crate::Model::find_variable) once for each, and these functions afterwards.

use super::{Running, Simulator};
use crate::error::Error;
use crate::input::Given;
use crate::model::signed;
use saltus_model::{Causality, Signal, ValueType, VariableInfo};
use saltus_results::Side;
use saltus_sim::Progressed;
use std::sync::Arc;

impl Simulator {
    /// [`Simulator::get`] of a variable of this model. Of a String it is the number of its text.
    pub fn number(&self, variable: &VariableInfo) -> Result<f64, Error> {
        self.look(|_, values| signed(variable, values.get(variable.slot)))
    }

    /// The same for several variables at once.
    pub fn numbers<'v>(
        &self,
        variables: impl IntoIterator<Item = &'v VariableInfo>,
        out: &mut [f64],
    ) -> Result<(), Error> {
        self.look(|_, values| {
            for (variable, out) in variables.into_iter().zip(out) {
                *out = signed(variable, values.get(variable.slot));
            }
        })
    }

    /// The text of a String.
    pub fn text(&self, variable: &VariableInfo) -> Result<Arc<str>, Error> {
        self.look(|run, values| run.instance().text(values.get(variable.slot)))
    }

    /// [`Simulator::interpolate`] of a variable of this model.
    pub fn number_at(&self, variable: &VariableInfo, time: f64, side: Side) -> Result<f64, Error> {
        let number = self.inside.borrow_mut().at(variable.slot, time, side)?;
        Ok(signed(variable, number))
    }

    /// Gives an input a value from here on, and a rate of change.
    pub fn set_input_number(
        &mut self,
        variable: &VariableInfo,
        value: f64,
        rate: f64,
    ) -> Result<(), Error> {
        let refused = |why: &str| Err(Error::Usage(format!("`{}` {why}", variable.name)));
        if variable.causality != Causality::Input || variable.ty == ValueType::String {
            return refused("is no input that can change during a run");
        }
        let (value, rate) = match variable.negated {
            true => (signed(variable, value), -rate),
            false => (value, rate),
        };
        let since = self.time();
        let signal = match rate {
            0.0 => Signal::Constant(value),
            rate => Signal::Linear { since, value, rate },
        };
        let engine = &mut self.inside.get_mut().engine;
        if !engine.simulator.set_input(variable.slot, signal.clone()) {
            return refused("cannot change: the run is over");
        }
        let (slot, later) = (variable.slot, Vec::new());
        engine.schedule.give(Given {
            slot,
            signal,
            later,
        });
        Ok(())
    }

    /// Before the run is initialised: sets a parameter or a start value that the structure does not depend on.
    pub fn set_number(&mut self, variable: &VariableInfo, value: f64) -> Result<(), Error> {
        let number = signed(variable, value);
        match (self.inside.get_mut().engine.simulator).set(variable.slot, number) {
            true => Ok(()),
            false => Err(Error::Usage(format!(
                "`{}` cannot be set now: it is neither an input nor a state",
                variable.name
            ))),
        }
    }

    /// One step of the integrator, or one event, but nothing after this time.
    pub fn step_to(&mut self, time: f64) -> Result<Progressed, Error> {
        (self.inside.get_mut()).go_on(time, Running::step_to)
    }
}
