//! An FMU for model exchange behind the contract of `saltus-model`: our integrators, events located on our dense output.
//!
//! ```text
//! derivatives, crossings:  time and states go to the FMU, derivatives and event indicators come back
//! a relation per indicator z: z > 0, as the standard counts domains
//! event pass:   a relation has changed, or a time event is due:
//!                   EnterEventMode, NewDiscreteStates until settled, EnterContinuousTimeMode; changed states become `reinit`
//!               later passes of the same event: the relations follow the indicators
//! after a step: CompletedIntegratorStep; an event that it asks for comes next
//! ```

use super::Fmu;
use super::channels::{Channel, Setting, add_channels, read};
use super::description::Description;
use super::instance::{Answer, EventInfo, Instance, Kind, Refused};
use crate::abi::Status as FmiStatus;
use saltus::Value;
use saltus_model::hand::{Code, HandModel, Layout};
use saltus_model::{
    CodeId, CrossingClass, Experiment, Fault, FaultKind, ScheduleKind, Section, Site, Slot,
    SlotRole, Status, StepPoint, Values,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const DERIVATIVES: CodeId = CodeId(0);
const OUTPUTS: CodeId = CodeId(1);
const EVENT: CodeId = CodeId(2);
const INITIAL: CodeId = CodeId(3);

/// Passes of an event inside of the FMU.
const PASSES_MAX: usize = 1000;

/// An FMU for model exchange as a model of the simulator.
pub type FmuModel = HandModel<FmuCode>;

/// What computes the model: all runs share one FMU, so one run is made at a time.
#[derive(Clone)]
pub struct FmuCode {
    inside: Arc<Mutex<Inside>>,
    states: Arc<[Slot]>,
    derivatives: Arc<[Slot]>,
    relations: Arc<[Slot]>,
    channels: Arc<[Channel]>,
    /// 1 while a time event is carried out.
    flag: Slot,
    /// Counts the events of the FMU: what it changes may change the motion.
    count: Slot,
}

struct Inside {
    fmu: Arc<Fmu>,
    settings: Vec<Setting>,
    instance: Option<Instance>,
    /// When the FMU wants its next event.
    next_time: f64,
    /// The event of this instant has been carried out.
    is_handled: bool,
    stop: Option<f64>,
    tolerance: Option<f64>,
    x: Vec<f64>,
    dx: Vec<f64>,
    z: Vec<f64>,
}

impl Fmu {
    /// The FMU as a model, with these values of variables.
    pub fn model(self: &Arc<Fmu>, settings: &[(&str, Value)]) -> Result<FmuModel, String> {
        let description = &self.description;
        let settings: Result<Vec<Setting>, String> = (settings.iter())
            .map(|(name, value)| Setting::new(description, name, value))
            .collect();
        let mut instance = self.instantiate(Kind::ModelExchange)?;
        let sizes = instance.sizes(description);
        let (n, m) = sizes.map_err(|refused| instance.explain(&refused))?;
        drop(instance);
        build(self.clone(), settings?, n, m)
    }
}

fn build(fmu: Arc<Fmu>, settings: Vec<Setting>, n: usize, m: usize) -> Result<FmuModel, String> {
    let description = &fmu.description;
    let mut layout = Layout::new(&description.model_name);
    let states_of = state_variables(description)?;
    let is_derivative = |k: usize| description.derivatives.contains(&k);
    let channels = add_channels(&mut layout, description, |k| {
        let v = &description.variables[k];
        match (v.is_constant, v.is_continuous) {
            _ if states_of.contains(&k) => SlotRole::State,
            _ if is_derivative(k) => SlotRole::Derivative,
            (true, _) => SlotRole::Parameter,
            (false, true) => SlotRole::Algebraic,
            (false, false) => SlotRole::Discrete,
        }
    });
    let slots_of = |variables: &[usize]| -> Vec<Slot> {
        let of = |k: &usize| channels.iter().find(|c| c.variable == *k);
        variables
            .iter()
            .filter_map(of)
            .flat_map(Channel::slots)
            .collect()
    };
    let (states, derivatives) = (slots_of(&states_of), slots_of(&description.derivatives));
    if states.len() != n || derivatives.len() != n {
        return Err(format!(
            "the FMU has {n} states, and its description names {} of them and {} derivatives",
            states.len(),
            derivatives.len()
        ));
    }
    for (value, derivative) in states.iter().zip(&derivatives) {
        layout.add_state(*value, *derivative);
    }
    let relations: Vec<Slot> = (1..=m)
        .map(|k| {
            layout.relation(
                &format!("event indicator {k} > 0"),
                true,
                false,
                CrossingClass::General,
            )
        })
        .collect();
    let flag = layout.slot("$time event", SlotRole::Auxiliary, 0.0);
    let count = layout.slot("$events", SlotRole::Discrete, 0.0);
    for variable in &mut layout.info_mut().variables {
        variable.hidden |=
            variable.slot == flag || variable.slot == count || relations.contains(&variable.slot);
    }
    for (kind, code) in [
        (ScheduleKind::Derivatives, DERIVATIVES),
        (ScheduleKind::Outputs, OUTPUTS),
        (ScheduleKind::Event, EVENT),
        (ScheduleKind::Initial, INITIAL),
    ] {
        layout.schedule(kind, &[Section::Explicit(code)]);
    }
    layout.experiment(experiment(description));
    let inside = Inside {
        instance: None,
        settings,
        next_time: f64::INFINITY,
        is_handled: false,
        stop: description.stop_time,
        tolerance: description.tolerance,
        x: vec![0.0; n],
        dx: vec![0.0; n],
        z: vec![0.0; m],
        fmu: fmu.clone(),
    };
    let code = FmuCode {
        inside: Arc::new(Mutex::new(inside)),
        states: states.into(),
        derivatives: derivatives.into(),
        relations: relations.into(),
        channels: channels.into(),
        flag,
        count,
    };
    Ok(HandModel::new(layout, code))
}

/// Variables that are states, in the order of their derivatives.
fn state_variables(description: &Description) -> Result<Vec<usize>, String> {
    let state = |k: &usize| {
        let derivative = &description.variables[*k];
        let state = derivative.state_of(description);
        let index = state.and_then(|state| {
            description
                .variables
                .iter()
                .position(|v| std::ptr::eq(v, state))
        });
        index.ok_or_else(|| {
            format!(
                "the description does not say of which state `{}` is the derivative",
                derivative.name
            )
        })
    };
    description.derivatives.iter().map(state).collect()
}

fn experiment(description: &Description) -> Experiment {
    let usual = Experiment::default();
    let start_time = description.start_time.unwrap_or(usual.start_time);
    Experiment {
        start_time,
        stop_time: description
            .stop_time
            .unwrap_or(start_time + usual.stop_time),
        tolerance: description.tolerance.unwrap_or(usual.tolerance),
        interval: description.step_size,
    }
}

impl Inside {
    fn instance(&mut self) -> Result<&mut Instance, Fault> {
        (self.instance.as_mut())
            .ok_or_else(|| fault(false, "the FMU is not initialised".to_owned()))
    }

    /// Does something with the FMU; a refusal becomes a fault with what the FMU said.
    fn ask<T>(
        &mut self,
        act: impl FnOnce(&mut Inside, &mut Instance) -> Answer<T>,
    ) -> Result<T, Fault> {
        let Some(mut instance) = self.instance.take() else {
            return Err(fault(false, "the FMU is not initialised".to_owned()));
        };
        let done = act(self, &mut instance);
        let done = done.map_err(|refused: Refused| {
            fault(
                refused.status == FmiStatus::Discard,
                instance.explain(&refused),
            )
        });
        self.instance = Some(instance);
        done
    }

    fn initialise(&mut self, start: f64) -> Status {
        let made = self.fmu.instantiate(Kind::ModelExchange);
        self.instance = Some(made.map_err(|why| fault(false, why))?);
        self.ask(|inside, instance| {
            for setting in &inside.settings {
                setting.apply(instance, &inside.fmu.description)?;
            }
            instance.enter_initialisation(start, inside.stop, inside.tolerance)?;
            instance.exit_initialisation()
        })?;
        self.settle(start).map(drop)
    }

    /// From event mode, which initialisation ends in, to continuous time. True if the FMU ends the run.
    fn settle(&mut self, now: f64) -> Result<bool, Fault> {
        let mut ends = false;
        for _ in 0..PASSES_MAX {
            let EventInfo {
                again,
                terminate,
                next_time,
            } = self.ask(|_, instance| instance.new_discrete_states())?;
            ends |= terminate;
            if !again || terminate {
                self.next_time = next_time.filter(|t| *t > now).unwrap_or(f64::INFINITY);
                self.ask(|_, instance| instance.enter_continuous())?;
                return Ok(ends);
            }
        }
        Err(fault(
            false,
            format!("the FMU asks for another pass of its event after {PASSES_MAX}"),
        ))
    }

    fn go_to(&mut self, t: f64, x: impl IntoIterator<Item = f64>) -> Status {
        for (own, x) in self.x.iter_mut().zip(x) {
            *own = x;
        }
        self.ask(|inside, instance| instance.set_point(t, &inside.x))
    }
}

fn fault(recoverable: bool, message: String) -> Fault {
    Fault {
        recoverable,
        site: Site(0),
        kind: FaultKind::External(message),
    }
}

impl FmuCode {
    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn go_to(&self, inside: &mut Inside, values: &Values) -> Status {
        inside.go_to(
            values.time(),
            self.states.iter().map(|slot| values.get(*slot)),
        )
    }

    fn derivatives(&self, inside: &mut Inside, values: &mut Values) -> Status {
        let mut dx = std::mem::take(&mut inside.dx);
        let done = inside
            .instance()
            .map(|instance| instance.derivatives(&mut dx));
        for (slot, dx) in self.derivatives.iter().zip(&dx) {
            values.set(*slot, *dx);
        }
        inside.dx = dx;
        match done? {
            Ok(()) => Ok(()),
            Err(refused) => inside.ask(|_, _| Err(refused)),
        }
    }

    /// Lets the relations follow the indicators; whether one differs from before the event.
    fn relations(&self, inside: &mut Inside, values: &mut Values) -> Result<bool, Fault> {
        inside.ask(|inside, instance| instance.indicators(&mut inside.z))?;
        let mut changed = false;
        for (slot, z) in self.relations.iter().zip(&inside.z) {
            let holds = f64::from(u8::from(*z > 0.0));
            values.set(*slot, holds);
            changed |= holds != values.pre[slot.index()];
        }
        Ok(changed)
    }

    fn read(
        &self,
        inside: &mut Inside,
        values: &mut Values,
        wanted: impl Fn(&Channel) -> bool,
    ) -> Status {
        inside.ask(|inside, instance| {
            read(
                instance,
                &inside.fmu.description,
                &self.channels,
                wanted,
                &mut values.v,
            )
        })
    }

    /// States are the simulator's.
    fn is_read(&self, channel: &Channel) -> bool {
        !self.states.contains(&channel.first) && !self.derivatives.contains(&channel.first)
    }

    fn initial(&self, values: &mut Values) -> Status {
        let inside = &mut *self.lock();
        if inside.instance.is_none() {
            inside.initialise(values.time())?;
            inside.ask(|inside, instance| instance.states(&mut inside.x))?;
            for (slot, x) in self.states.iter().zip(&inside.x) {
                values.set(*slot, *x);
            }
        }
        self.go_to(inside, values)?;
        self.relations(inside, values)?;
        self.derivatives(inside, values)?;
        self.read(inside, values, |channel| self.is_read(channel))
    }

    fn event(&self, values: &mut Values) -> Status {
        let inside = &mut *self.lock();
        self.go_to(inside, values)?;
        let is_due = values.get(self.flag) > values.pre[self.flag.index()];
        let changed = self.relations(inside, values)?;
        if inside.is_handled || !(changed || is_due) {
            self.derivatives(inside, values)?;
            return self.read(inside, values, |channel| self.is_read(channel));
        }
        inside.is_handled = true;
        inside.ask(|_, instance| instance.enter_event())?;
        if inside.settle(values.time())? {
            let ended = "the FMU has ended the run".to_owned();
            values.actions.terminate = Some((Site(0), ended));
        }
        self.read(inside, values, |channel| self.is_read(channel))?;
        // Another pass follows, with the states as they are then.
        values.set(self.count, values.pre[self.count.index()] + 1.0);
        inside.ask(|inside, instance| instance.states(&mut inside.x))?;
        for (slot, x) in self.states.iter().zip(&inside.x) {
            if *x != values.get(*slot) {
                values.actions.reinits.push((*slot, *x));
            }
        }
        Ok(())
    }
}

impl Code for FmuCode {
    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        match code {
            INITIAL => self.initial(values),
            EVENT => self.event(values),
            OUTPUTS => {
                let inside = &mut *self.lock();
                self.go_to(inside, values)?;
                self.read(inside, values, |channel| {
                    channel.is_continuous && self.is_read(channel)
                })
            }
            _ => {
                let inside = &mut *self.lock();
                self.go_to(inside, values)?;
                self.derivatives(inside, values)
            }
        }
    }

    fn crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        let inside = &mut *self.lock();
        self.go_to(inside, values)?;
        inside.ask(|_, instance| instance.indicators(out))
    }

    fn derivatives_at(&self, t: f64, x: &[f64], _: &mut Values, dx: &mut [f64]) -> Option<Status> {
        let inside = &mut *self.lock();
        let done = inside.go_to(t, x.iter().copied());
        Some(done.and_then(|()| inside.ask(|_, instance| instance.derivatives(dx))))
    }

    fn crossings_at(&self, t: f64, x: &[f64], _: &mut Values, out: &mut [f64]) -> Option<Status> {
        let inside = &mut *self.lock();
        let done = inside.go_to(t, x.iter().copied());
        Some(done.and_then(|()| inside.ask(|_, instance| instance.indicators(out))))
    }

    fn begin(&mut self) {
        let inside = &mut *self.lock();
        inside.instance = None;
        inside.next_time = f64::INFINITY;
        inside.is_handled = false;
    }

    fn next_time_event(&self, values: &Values) -> f64 {
        match self.lock().next_time {
            next if next > values.time() => next,
            _ => f64::INFINITY,
        }
    }

    fn set_time_flags(&self, values: &mut Values) -> bool {
        let is_due = self.lock().next_time <= values.time();
        values.set(self.flag, f64::from(u8::from(is_due)));
        is_due
    }

    fn clear_time_flags(&self, values: &mut Values) {
        values.set(self.flag, 0.0);
        values.pre[self.flag.index()] = 0.0;
    }

    fn completed_step(&mut self, values: &Values, point: StepPoint) {
        let inside = &mut *self.lock();
        match point {
            StepPoint::AfterEvent => inside.is_handled = false,
            StepPoint::End if inside.fmu.description.needs_completed_step() => {
                let x = self.states.iter().map(|slot| values.get(*slot));
                // A failure shows in the next call, which can report it.
                let asked = inside
                    .go_to(values.time(), x)
                    .and_then(|()| inside.ask(|_, instance| instance.completed_step()));
                if let Ok((wants_event, ends)) = asked
                    && (wants_event || ends)
                {
                    inside.next_time = inside.next_time.min(values.time().next_up());
                }
            }
            StepPoint::Initial | StepPoint::Inside | StepPoint::End => {}
        }
    }

    fn observes_steps(&self) -> bool {
        false
    }
}
