//! A run of an FMU by its own integrator: communication steps of one size, a row at each.

use super::Fmu;
use super::channels::{Channel, Setting, add_channels, read};
use super::instance::{Answer, Instance, Kind};
use saltus::Value;
use saltus::ode::Layout;
use saltus::results::{Recorder, ResultTable, RowSink, Selection, Streamer};
use saltus_model::hand::HandModel;
use saltus_model::{Model as _, SlotRole};
use std::time::{Duration, Instant};

/// Steps that make no progress, one after the other.
const STANDSTILL_MAX: usize = 100;

/// A step that is a smaller share of the others than this comes from round-off.
const ROUND_OFF: f64 = 1e-9;

/// Rows wait at most this long before they can be read: the FMU may crash.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Settings of a run.
pub struct CoSimulation<'f> {
    fmu: &'f Fmu,
    pub start: f64,
    pub stop: f64,
    pub tolerance: Option<f64>,
    /// `None`: a part of the time between both.
    pub interval: Option<f64>,
    settings: Vec<Setting>,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub time: f64,
    pub n_steps: u64,
    /// The FMU has ended the run itself.
    pub terminated: bool,
    /// Why the run could not be completed.
    pub failure: Option<String>,
}

/// Output intervals of an FMU that asks for no step size.
const INTERVALS: f64 = 500.0;

impl<'f> CoSimulation<'f> {
    /// With the settings of the FMU's default experiment.
    pub fn new(fmu: &'f Fmu) -> CoSimulation<'f> {
        let description = &fmu.description;
        let start = description.start_time.unwrap_or(0.0);
        let stop = description.stop_time.unwrap_or(start + 1.0);
        CoSimulation {
            fmu,
            start,
            stop,
            tolerance: description.tolerance,
            interval: description.step_size,
            settings: Vec::new(),
        }
    }

    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
        self.settings
            .push(Setting::new(&self.fmu.description, name, value)?);
        Ok(())
    }

    /// Runs the FMU, with rows to a sink; `Err` only if nothing was run.
    pub fn run(
        &self,
        selection: &Selection,
        sink: &mut (dyn RowSink + Send),
    ) -> Result<Ended, String> {
        let (mut run, model) = self.start()?;
        let mut rows = Streamer::new(model.info(), selection, sink);
        let not_written = |e: std::io::Error| format!("the result cannot be written: {e}");
        let mut flushed = Instant::now();
        run.go(|values| {
            rows.record(values).map_err(not_written)?;
            if flushed.elapsed() > FLUSH_INTERVAL {
                flushed = Instant::now();
                rows.flush().map_err(not_written)?;
            }
            Ok(())
        })?;
        rows.finish().map_err(not_written)?;
        Ok(run.ended)
    }

    /// The same, with rows in memory.
    pub fn table(&self, selection: &Selection) -> Result<(ResultTable, Ended), String> {
        let (mut run, model) = self.start()?;
        let mut rows = Recorder::new(model.info(), selection);
        run.go(|values| {
            rows.record(values);
            Ok(())
        })?;
        Ok((rows.finish(), run.ended))
    }

    /// A run that stands at its beginning.
    fn start(&self) -> Result<(Run<'_>, HandModel<Nothing>), String> {
        let description = &self.fmu.description;
        let mut layout = Layout::new(&description.model_name);
        let channels = add_channels(&mut layout, description, |k| {
            let v = &description.variables[k];
            match (v.is_constant, v.is_continuous) {
                (true, _) => SlotRole::Parameter,
                (false, true) => SlotRole::Algebraic,
                (false, false) => SlotRole::Discrete,
            }
        });
        let mut values = vec![0.0; layout.n_slots()];
        values[0] = self.start;
        let mut instance = self.fmu.instantiate(Kind::CoSimulation)?;
        let begun = self.begin(&mut instance);
        begun.map_err(|refused| instance.explain(&refused))?;
        let run = Run {
            simulation: self,
            instance,
            channels,
            values,
            ended: Ended {
                time: self.start,
                n_steps: 0,
                terminated: false,
                failure: None,
            },
        };
        Ok((run, HandModel::new(layout, Nothing)))
    }

    fn begin(&self, instance: &mut Instance) -> Answer<()> {
        for setting in &self.settings {
            setting.apply(instance, &self.fmu.description)?;
        }
        instance.enter_initialisation(self.start, Some(self.stop), self.tolerance)?;
        instance.exit_initialisation()
    }
}

struct Run<'f> {
    simulation: &'f CoSimulation<'f>,
    instance: Instance,
    channels: Vec<Channel>,
    values: Vec<f64>,
    ended: Ended,
}

impl Run<'_> {
    /// To the stop time; `record` takes the values of a row.
    fn go(&mut self, mut record: impl FnMut(&[f64]) -> Result<(), String>) -> Result<(), String> {
        if let Err(refused) = self.read() {
            return Err(self.instance.explain(&refused));
        }
        record(&self.values)?;
        let (start, stop) = (self.simulation.start, self.simulation.stop);
        let interval = (self.simulation.interval).unwrap_or((stop - start) / INTERVALS);
        let mut k = 0.0;
        while self.ended.time < stop && !self.ended.terminated {
            k += 1.0;
            // The last step ends at the stop time, and no step is a rest that is only round-off.
            let next = start + k * interval;
            let is_last = next > stop - ROUND_OFF * interval;
            let end = if is_last { stop } else { next };
            let done = self.step_to(end).and_then(|()| self.read());
            if let Err(refused) = done {
                self.ended.failure = Some(self.instance.explain(&refused));
                break;
            }
            record(&self.values)?;
        }
        // A refusal to end has no consequence.
        let _ = self.instance.terminate();
        Ok(())
    }

    /// One step, or several if the FMU comes back early.
    fn step_to(&mut self, end: f64) -> Answer<()> {
        let mut stands = 0;
        while self.ended.time < end {
            let stepped = self.instance.step(self.ended.time, end - self.ended.time)?;
            self.ended.n_steps += 1;
            stands = if stepped.time > self.ended.time {
                0
            } else {
                stands + 1
            };
            self.ended.time = match (end - stepped.time).abs() <= f64::EPSILON * end.abs() {
                true => end,
                false => stepped.time,
            };
            if stepped.terminated {
                self.ended.terminated = true;
                break;
            }
            if stands == STANDSTILL_MAX {
                return Err(super::instance::Refused {
                    status: crate::abi::Status::Error,
                    function: "DoStep without progress",
                });
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Answer<()> {
        self.values[0] = self.ended.time;
        let description = &self.simulation.fmu.description;
        read(
            &mut self.instance,
            description,
            &self.channels,
            |_| true,
            &mut self.values,
        )
    }
}

/// The layout is only described, not run.
#[derive(Clone)]
struct Nothing;

impl saltus::ode::Code for Nothing {
    fn run(&self, _: saltus_model::CodeId, _: &mut saltus_model::Values) -> saltus_model::Status {
        Ok(())
    }
}
