//! States of an instance that a caller keeps, takes up again, and writes down.

use crate::component::{Answer, Component, Phase, Refused, Setup};
use saltus::{State, Value};
use saltus_fmi::interface::ValueReference;
use std::collections::BTreeMap;

/// An instance at an instant.
pub(crate) struct Snapshot {
    about: About,
    /// `None`: the run has not begun.
    run: Option<State>,
}

/// All but the run.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct About {
    phase: Phase,
    setup: Setup,
    settings: BTreeMap<ValueReference, Value>,
    inputs: BTreeMap<ValueReference, (f64, f64)>,
}

impl Snapshot {
    pub(crate) fn of(component: &Component) -> Answer<Snapshot> {
        let run = component.run().map(|run| run.save()).transpose()?;
        Ok(Snapshot {
            about: About {
                phase: component.phase,
                setup: component.setup,
                settings: component.settings.clone(),
                inputs: component.inputs.clone(),
            },
            run,
        })
    }

    pub(crate) fn restore(&self, component: &mut Component) -> Answer<()> {
        let About {
            phase,
            setup,
            settings,
            inputs,
        } = self.about.clone();
        (component.phase, component.setup) = (phase, setup);
        (component.settings, component.inputs) = (settings, inputs);
        let run = match &self.run {
            None => None,
            Some(state) => {
                let mut run = component.begin()?;
                run.restore(state)?;
                Some(run)
            }
        };
        component.replace_run(run);
        Ok(())
    }

    pub(crate) fn to_bytes(&self) -> Answer<Vec<u8>> {
        let run = self.run.as_ref().map(State::to_bytes);
        postcard::to_stdvec(&(&self.about, run))
            .map_err(|e| Refused::from(format!("the state cannot be written down: {e}")))
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Answer<Snapshot> {
        let damaged =
            |e: postcard::Error| Refused::from(format!("the bytes are no state of this FMU: {e}"));
        let (about, run): (About, Option<Vec<u8>>) =
            postcard::from_bytes(bytes).map_err(damaged)?;
        let run = run.map(|bytes| State::from_bytes(&bytes)).transpose()?;
        Ok(Snapshot { about, run })
    }
}
