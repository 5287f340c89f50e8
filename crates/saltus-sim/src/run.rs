//! The run as a sequence of continuous segments and events.
//!
//! ```text
//! Initialising ─→ Continuous ⇄ AtEvent ─→ Finished
//!                     Bound ⇄
//! ```
//! *Bound* is Continuous with a motion along surfaces or at rest (`run/bind.rs`).
//! *Continuous*: take a step that does not pass the next time event; find the first change of a relation on its interpolant; write
//! the grid points before it. *AtEvent*: left limits from the interpolant, row, event step, consistent restart, right limits, row;
//! the integrator restarts only if the motion has changed, otherwise the rest of the step's interpolant is searched on.
//!
//! A run can stop at any time, between two events or inside a step: rows and events up to there have been, later ones have not, and the step that the
//! integrator has taken stays. So a run that stops often is the same run, bit by bit.

mod bind;
mod contacts;
mod outside;
mod saved;

pub use outside::Progressed;
pub use saved::RunState;

use crate::calendar::Grid;
use crate::constrained::Constrained;
use crate::creep::Creep;
use crate::error::{Phase, RunFailure, SimError};
use crate::event_step::{TimeFlags, event_step};
use crate::guard::{Inside, beyond};
use crate::init::initialise;
use crate::inline::Inline;
use crate::options::{OptionError, Options, StartPoint};
use crate::point::{
    Mode, ModelProblem, Relations, StepCrossings, continuous_slots, evaluate_all, gather, scatter,
};
use crate::record::{
    Cause, ChangedValue, EventKind, EventRecord, NoteRecord, Recorder, RowKind, RunSummary,
    StepRecord,
};
use crate::resolve::size_to_show;
use crate::restart::{Side, after_event, motion_change, settle};
use crate::work::{Room, Work};
use saltus_control::{Control, Stage, Stop};
use saltus_model::{
    CrossingClass, CrossingInfo, Fault, Instance, ScheduleKind, Site, Slot, StepPoint, System,
    Values,
};
use saltus_solve::roots::Change;
use saltus_solve::scale::{
    DENSE_EVENTS_ULPS, RELATION_BAND_REL, REST_BAND_REL, RESTART_ULPS, nominal_magnitude,
    time_resolution,
};
use saltus_solve::{
    Accuracy, Branch, CrossingFunctions, Discontinuity, Guess, Located, NewtonFailure, SolveError,
    Start, StepError, StepLimits, Tolerances, first_crossing,
};
use std::ops::DerefMut;

/// Without a limit of the user a step covers at most this part of the span.
const STEP_OF_SPAN_MAX: f64 = 0.1;

/// Degree of the polynomials in which a model keeps its past: that of the interpolants of high order.
const PAST_DEGREE: u32 = 7;

/// The round-off of a function that an event has located, in units of its value after it.
const LOCATED_BAND: f64 = 4.0;
/// The round-off of a function is at most this part of its size over the step.
const ROUND_OFF_PART: f64 = 1e-3;
/// A function above this part of its nominal value is not zero, however coarse time is.
const NEAR_ZERO_REL: f64 = 1e-6;
/// A step that does not show the motion up to an event is taken again so many times in a row.
const REPEATS_MAX: u32 = 16;

/// Defect of a step at a row, in tolerances over the whole step, up to which the row is written. Linear motions have 0.3 to 1 with DOPRI5, pendulums some
/// tens in single steps. The two heated gates of the standard library are off by 0.011 K after 39 K at a tolerance of 1e-6 instead
/// of 0.23 K; a double pendulum takes 173 trial steps instead of 160.
const ROW_DEFECT_MAX: f64 = 10.0;

/// Distance over which the end of a branch of solutions is told from the branch, in units of time resolution.
const FOLD_ULPS: f64 = 64.0;

/// Simulates a model. On failure the rows up to the last accepted step have been recorded.
#[expect(clippy::result_large_err, reason = "made once per run")]
pub fn simulate<I: Instance>(
    instance: &mut I,
    options: &Options,
    control: &Control,
    recorder: &mut dyn Recorder,
) -> Result<RunSummary, RunFailure> {
    simulate_in(&mut None, instance, options, control, recorder)
}

/// One instance for many runs: each is what [`simulate`] gives, and the memory of one serves the next.
///
/// ```
/// use saltus_model::Model;
/// use saltus_model::ode::OdeProblem;
/// use saltus_sim::{Control, Options, Silent, Simulation};
///
/// let decay = OdeProblem::new("decay", &[("x", 1.0)], |at, dx| dx[0] = -at.x[0]).build();
/// let mut simulation = Simulation::new(decay.instantiate());
/// for stop_time in [1.0, 2.0, 3.0] {
///     let options = Options { stop_time, ..Options::default() };
///     let summary = simulation.run(&options, &Control::default(), &mut Silent).unwrap();
///     assert_eq!(summary.time_reached, stop_time);
/// }
/// ```
#[derive(Debug)]
pub struct Simulation<I> {
    instance: I,
    room: Option<Room>,
}

impl<I: Instance> Simulation<I> {
    pub fn new(instance: I) -> Simulation<I> {
        Simulation {
            instance,
            room: None,
        }
    }

    pub fn instance(&self) -> &I {
        &self.instance
    }

    #[expect(clippy::result_large_err, reason = "made once per run")]
    pub fn run(
        &mut self,
        options: &Options,
        control: &Control,
        recorder: &mut dyn Recorder,
    ) -> Result<RunSummary, RunFailure> {
        let (room, instance) = (&mut self.room, &mut self.instance);
        simulate_in(room, instance, options, control, recorder)
    }
}

#[expect(clippy::result_large_err, reason = "made once per run")]
fn simulate_in<I: Instance>(
    room: &mut Option<Room>,
    instance: &mut I,
    options: &Options,
    control: &Control,
    recorder: &mut dyn Recorder,
) -> Result<RunSummary, RunFailure> {
    let mut run = match begin(room, instance, options, control, recorder) {
        Ok(run) => run,
        Err(unbegun) => return Err(unbegun.failure),
    };
    let result = run.run();
    let Ended { summary, left, .. } = run.finish();
    *room = Some(left);
    match result {
        Ok(()) => Ok(summary),
        Err(error) => Err(RunFailure { error, summary }),
    }
}

/// A run that is over.
pub(crate) struct Ended<P, R> {
    pub(crate) summary: RunSummary,
    pub(crate) left: Room,
    pub(crate) instance: P,
    pub(crate) recorder: R,
}

/// What is left of a run that could not begin.
pub(crate) struct Unbegun<P, R> {
    pub(crate) instance: P,
    pub(crate) recorder: R,
    pub(crate) failure: RunFailure,
}

/// Solves the initial system; the run then stands before the event iteration at the start time.
pub(crate) fn begin<I: Instance, P: DerefMut<Target = I>, R: Recorder>(
    room: &mut Option<Room>,
    mut instance: P,
    options: &Options,
    control: &Control,
    mut recorder: R,
) -> Result<Run<P, R>, Box<Unbegun<P, R>>> {
    let mut summary = RunSummary {
        time_reached: options.start_time,
        ..RunSummary::default()
    };
    let checked = options
        .check()
        .and_then(|()| Inline::new(instance.info(), options));
    let inline = match checked {
        Ok(inline) => inline,
        Err(error) => {
            let error = SimError::Options(error);
            return Err(Box::new(Unbegun {
                instance,
                recorder,
                failure: RunFailure { error, summary },
            }));
        }
    };
    let tolerances = Tolerances::new(options.tolerance);
    let seconds_start = control.seconds();
    // The number of a mode means another one in the next run.
    let room = room.take().filter(|_| !instance.has_modes());
    let (used, work) = match room.and_then(|room| room.reset(options)) {
        Some(Room { mode, values, work }) => (Some((mode, values)), Some(work)),
        None => (None, None),
    };
    let begun = inline.as_ref();
    control.report(Stage::Initialise, None);
    let initial = saltus_control::within(control, || {
        initialise(
            &mut *instance,
            options,
            tolerances,
            &mut recorder,
            begun,
            used,
        )
    });
    let time = options.start_time;
    let initial = initial.unwrap_or_else(|stop| match stop {
        Stop::Cancelled => Err(SimError::Cancelled { time }),
        Stop::Deadline { seconds } => Err(SimError::WallClock { time, seconds }),
    });
    let (mode, values) = match initial {
        Ok(initial) => initial,
        Err(error) => {
            summary.statistics.seconds_initialize = elapsed(control, seconds_start);
            return Err(Box::new(Unbegun {
                instance,
                recorder,
                failure: RunFailure { error, summary },
            }));
        }
    };
    summary.statistics.modes_structured = instance.modes_structured();
    if instance.has_modes() {
        recorder.grown(&instance.shared_info());
    }
    let mut work = match work {
        Some(work) if work.serves(mode.number) => work,
        _ => Work::new(&*instance, options, tolerances, &mode, &values),
    };
    work.step.span = options.span();
    Ok(Run {
        tolerances,
        grid: Grid::new(options),
        cursor: options.start_time,
        truth_time: options.start_time,
        repeats: 0,
        unrecorded: false,
        rejected_seen: 0,
        completed: options.start_time,
        next_time_event: f64::INFINITY,
        last_event: f64::NEG_INFINITY,
        last_fold: f64::NEG_INFINITY,
        branch_ended: None,
        fold_noted: false,
        held_noted: false,
        warned: Vec::new(),
        evaluations_seen: 0,
        stiff_noted: false,
        creep: Creep::default(),
        constrained: None,
        left: None,
        inline,
        instance,
        options: options.clone(),
        control: control.clone(),
        recorder,
        entered: mode.number,
        mode,
        values,
        work,
        last_row: None,
        summary,
        seconds_start,
        seconds_initialised: None,
        wall_checks: 0,
        state: State::Initialising,
        pause: f64::INFINITY,
        now: options.start_time,
    })
}

fn elapsed(control: &Control, since: Option<f64>) -> f64 {
    match (control.seconds(), since) {
        (Some(now), Some(since)) => now - since,
        _ => 0.0,
    }
}

/// Where the run stands.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum State {
    /// The initial system is solved; the event iteration at the start time is next.
    Initialising,
    Continuous,
    /// A step has been searched for events; its rows are next.
    Stepped(Stepped),
    AtEvent(Occasion),
    Finished,
}

/// A step whose rows are being written.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Stepped {
    /// It is looked at up to here: its end, or the next time event.
    target: f64,
    /// The event in it that ends it.
    located: Option<Located>,
    /// Rows are written up to here.
    clear: f64,
    /// The largest defect that they show.
    worst: f64,
}

impl Stepped {
    /// Rows are written up to here.
    fn rows_end(&self) -> f64 {
        (self.located.as_ref()).map_or(self.target, |located| located.t_left)
    }
}

/// What became of the motion at an event.
struct Settled {
    /// A function at zero has taken its side.
    moved: bool,
    /// The motion is bound to other surfaces than before.
    rebound: bool,
    /// It begins to slide.
    slides: bool,
}

/// How far the rows of a step have been written.
enum Written {
    All,
    /// The next row is beyond the time at which the run stops.
    Paused,
    UntilEvent(Located),
    /// The step does not hold at the next row; `defect` is more than 1.
    Contradicted {
        holds_until: f64,
        defect: f64,
    },
}

/// Why an event happens.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Occasion {
    Time {
        time: f64,
    },
    State {
        located: Located,
    },
    /// The solution of a block exists at the first time and not at the second.
    Fold {
        t_left: f64,
        t: f64,
    },
    /// The motion is not bound any more to what it was bound to.
    Release {
        located: Located,
    },
    /// Inputs were given other values.
    Input {
        time: f64,
    },
    Terminal,
}

impl Occasion {
    /// When it is; the end of the run is at `stop`.
    fn time(&self, stop: f64) -> f64 {
        match self {
            Occasion::Time { time } | Occasion::Input { time } => *time,
            Occasion::State { located } | Occasion::Release { located } => located.t_right,
            Occasion::Fold { t, .. } => *t,
            Occasion::Terminal => stop,
        }
    }
}

/// A run with all that it needs. `P` points to its instance, and `R` receives rows and events: a run that owns both can be kept and moved, one that
/// borrows them ends with the call that began it.
pub(crate) struct Run<P, R> {
    pub(crate) instance: P,
    pub(crate) options: Options,
    control: Control,
    pub(crate) recorder: R,
    tolerances: Tolerances,
    mode: Mode,
    /// The mode for which the work space was made.
    entered: u32,
    values: Values,
    work: Work,
    grid: Grid,
    /// Events up to here have been handled.
    cursor: f64,
    /// Time at which relations were read last, and how often the present step was taken again.
    truth_time: f64,
    repeats: u32,
    /// The last step is not in the log yet; rejections up to the one before.
    unrecorded: bool,
    rejected_seen: u64,
    /// The model was told of the points up to here.
    completed: f64,
    next_time_event: f64,
    last_event: f64,
    /// The last end of a branch of solutions, and the failure beyond it.
    last_fold: f64,
    branch_ended: Option<Box<NewtonFailure>>,
    fold_noted: bool,
    held_noted: bool,
    last_row: Option<(f64, RowKind)>,
    warned: Vec<Site>,
    evaluations_seen: u64,
    stiff_noted: bool,
    creep: Creep,
    /// What the motion is bound to.
    constrained: Option<Box<Constrained>>,
    /// … and what it was bound to in the mode that the present event leaves.
    left: Option<Box<Constrained>>,
    /// The steps of integrators that are equations of the model.
    inline: Option<Inline>,
    summary: RunSummary,
    seconds_start: Option<f64>,
    seconds_initialised: Option<f64>,
    wall_checks: u32,
    state: State,
    /// Nothing after this time is to happen.
    pause: f64,
    /// Where the run stands for somebody outside.
    now: f64,
}

impl<I: Instance, P: DerefMut<Target = I>, R: Recorder> Run<P, R> {
    /// Goes on until nothing is left to do up to the time at which the run is to stop. A run that has failed is finished.
    fn run(&mut self) -> Result<(), SimError> {
        let _entered = saltus_control::enter(&self.control);
        while !self.is_paused() {
            self.go_on()?;
        }
        Ok(())
    }

    fn go_on(&mut self) -> Result<(), SimError> {
        self.state = match std::mem::replace(&mut self.state, State::Finished) {
            State::Initialising => self.start()?,
            State::Continuous => self.advance()?,
            State::Stepped(step) => self.rows(step)?,
            State::AtEvent(occasion) => self.event(occasion)?,
            State::Finished => State::Finished,
        };
        Ok(())
    }

    /// Nothing is left to do up to the time at which the run is to stop.
    fn is_paused(&self) -> bool {
        match &self.state {
            State::Initialising => false,
            State::Continuous => self.cursor >= self.pause,
            State::Stepped(step) => {
                let row = self.grid.peek().unwrap_or(f64::INFINITY);
                self.pause < row.min(step.rows_end())
            }
            State::AtEvent(occasion) => self.pause < occasion.time(self.options.stop_time),
            State::Finished => true,
        }
    }

    // --- Initialising -----------------------------------------------------------------------------------------------

    fn start(&mut self) -> Result<State, SimError> {
        let t = self.options.start_time;
        // The first choice was made for start values, which the initial system may have left far behind.
        self.reselect_states()?;
        self.begin_inline()?;
        self.work.before.clone_from(&self.values.v);
        self.work.step.clear();
        if matches!(self.options.start, StartPoint::InitialSystem) {
            self.instance
                .completed_step(&mut self.values, StepPoint::Initial);
        }
        let flags = match self.options.start {
            StartPoint::InitialSystem => TimeFlags::Due,
            // Events of this instant have been in the run that goes on.
            StartPoint::Values(_) => TimeFlags::Spent,
        };
        self.event_step(flags)?;
        self.bind_at_start()?;
        self.right_limits()?;
        self.end_inline_event()?;
        self.row(RowKind::Initial);
        self.record_event(t, EventKind::Initial, false);
        self.note_held(t);
        if self.constrained.is_some() {
            self.record_bound(t, EventKind::Sliding, "initial");
        }
        let terminate = self.work.step.terminate.take();
        self.seconds_initialised = self.control.seconds();
        self.enter_mode_if_changed();
        self.read_truth()?;
        self.schedule_time_event()?;
        if terminate.is_some() {
            self.summary.terminated = terminate;
            return Ok(State::Finished);
        }
        if t >= self.options.stop_time {
            return Ok(State::AtEvent(Occasion::Terminal));
        }
        self.reselect_states()?;
        self.begin_segment(Discontinuity::Dynamics)?;
        Ok(State::Continuous)
    }

    // --- Continuous -------------------------------------------------------------------------------------------------

    fn advance(&mut self) -> Result<State, SimError> {
        self.check_outside()?;
        if self.cursor >= self.work.integrator.time()
            && let Err(error) = self.take_step()
        {
            return match self.beyond_guard(&error)? {
                Some(located) => Ok(State::AtEvent(Occasion::State { located })),
                None => self.fold(error),
            };
        }
        let end = self.work.integrator.time();
        let target = end.min(self.next_time_event);
        let mut located = match self.find_event(self.cursor, target) {
            Ok(located) => located,
            Err(error) => return self.fold(error),
        };
        if let Some(located) = &mut located {
            if self.instance.has_modes() {
                self.gather(located, target)?;
            }
            // A time event within the resolution of time is at the same instant.
            let apart = target - located.t_right;
            if target == self.next_time_event
                && apart <= RESTART_ULPS * time_resolution(target, 0.0)
            {
                located.t_right = target;
            }
            if self.constrained.is_none()
                && self.cursor == self.work.integrator.time_old()
                && self.takes_back_step(located)?
            {
                return Ok(State::Continuous);
            }
        }
        self.rows(Stepped {
            target,
            located,
            clear: self.cursor,
            worst: 0.0,
        })
    }

    /// Writes the rows of a step, and goes on with what ends it.
    fn rows(&mut self, mut step: Stepped) -> Result<State, SimError> {
        let written = self.write_grid(&mut step);
        if let Ok(Written::Contradicted {
            holds_until,
            defect,
        }) = written
        {
            self.cut_step(holds_until, defect)?;
            return Ok(State::Continuous);
        }
        let ends_later = self.pause < step.rows_end();
        if matches!(written, Ok(Written::Paused)) || written.is_ok() && ends_later {
            return Ok(State::Stepped(step));
        }
        let written = match written {
            Ok(written) => written,
            Err(error) => return self.fold(error),
        };
        self.keep_step();
        match (written, step.located) {
            (Written::UntilEvent(located), _) => Ok(State::AtEvent(Occasion::State { located })),
            (_, Some(located)) => Ok(State::AtEvent(self.occasion(located))),
            (_, None) => self.end_step(step.target),
        }
    }

    /// The event that was located in a step.
    fn occasion(&self, located: Located) -> Occasion {
        match self.constrained {
            Some(_) => self.bound_occasion(located),
            None => Occasion::State { located },
        }
    }

    /// A step without an event has come to its end.
    fn end_step(&mut self, target: f64) -> Result<State, SimError> {
        self.cursor = target;
        if target >= self.next_time_event {
            return Ok(State::AtEvent(Occasion::Time { time: target }));
        }
        if let Err(error) = self.complete_step(target) {
            return self.fold(error);
        }
        if target >= self.options.stop_time {
            return Ok(State::AtEvent(Occasion::Terminal));
        }
        if let Some(inline) = &mut self.inline
            && target >= inline.end
        {
            inline.take_along(&mut self.values);
            self.work.isolation.forget();
            self.work.rows.forget();
            self.begin_segment(Discontinuity::States)?;
        }
        if !self.options.events
            && let Some(located) = self.changed_at_step_end(target)?
        {
            return Ok(State::AtEvent(Occasion::State { located }));
        }
        if self.constrained.is_some() {
            self.keep_bound()?;
        } else if self.reselect_states()? {
            self.begin_segment(Discontinuity::Dynamics)?;
        }
        Ok(State::Continuous)
    }

    /// Lets state sets choose their states at the present point. True if the integrator must start again.
    fn reselect_states(&mut self) -> Result<bool, SimError> {
        let time = self.values.time();
        let changes = self
            .instance
            .reselect_states(&mut self.values)
            .map_err(|fault| {
                SimError::evaluation(time, Phase::Continuous, SolveError::Fault(fault))
            })?;
        if changes.is_empty() {
            return Ok(false);
        }
        self.work.rows.forget();
        // The derivatives of the new states, from which the integrator starts.
        self.mode.driver.forget_factors();
        self.evaluate_point(Accuracy::Tight, Guess::Current, Phase::Continuous)?;
        self.accept_point();
        self.summary.statistics.events_step += 1;
        if self.recorder.wants_events() {
            let changed = changes.into_iter().map(|change| ChangedValue {
                slot: change.slot,
                before: change.before,
                after: change.after,
            });
            self.recorder.event(&EventRecord {
                time,
                kind: EventKind::Selection,
                method: "pivot",
                causes: Vec::new(),
                changed: changed.collect(),
                impulses: Vec::new(),
                iterations: 0,
                evaluations: 0,
                restarted: true,
                mode: self.mode.number,
            });
        }
        Ok(true)
    }

    /// After an event was found: true if the step does not show the motion up to it and has been taken back.
    fn takes_back_step(&mut self, located: &Located) -> Result<bool, SimError> {
        if self.work.integrator.interpolates_derivatives() || self.repeats == REPEATS_MAX {
            return Ok(false);
        }
        let begins_segment = self.work.integrator.time_old() == self.truth_time;
        let system = self.instance.system(&self.values);
        let (mode, values, work) = (&mut self.mode, &mut self.values, &mut self.work);
        // What cannot be evaluated on the way decides nothing.
        let Ok(Some(step_size)) = size_to_show(system, mode, values, work, located, begins_segment)
        else {
            return Ok(false);
        };
        self.take_back_step(step_size).map(|()| true)
    }

    /// Goes back to the start of the last step; the next one has this size.
    fn take_back_step(&mut self, step_size: f64) -> Result<(), SimError> {
        self.repeats += 1;
        if self.work.integrator.time_old() == self.truth_time {
            self.work.isolation.restart_again();
        } else {
            self.work.isolation.forget();
        }
        let limits = self.limits();
        let mut problem = ModelProblem {
            system: self.instance.system(&self.values),
            driver: &mut self.mode.driver,
            values: &mut self.values,
            relations: Relations::Held,
        };
        let result = (self.work.integrator).begin_again(&mut problem, step_size, limits);
        result.map_err(|error| self.step_error(error))
    }

    /// Ends the last step at `t`, up to which it holds, because a row after it shows a defect of this size (1 is the limit).
    fn cut_step(&mut self, t: f64, defect: f64) -> Result<(), SimError> {
        let step_size = self.work.integrator.step_size_for(defect);
        if t <= self.work.integrator.time_old() {
            return self.take_back_step(step_size);
        }
        self.keep_step_until(t);
        self.past_points(t)?;
        self.left_limits(t, Accuracy::Tight)?;
        self.deliver_warnings();
        self.instance
            .completed_step(&mut self.values, StepPoint::End);
        self.deliver_notes(t);
        self.cursor = t;
        self.work.isolation.forget();
        self.work.rows.forget();
        let change = match self.reselect_states()? {
            true => Discontinuity::Dynamics,
            false => Discontinuity::States,
        };
        self.begin_segment(change)?;
        self.work.integrator.limit_step_size(step_size);
        Ok(())
    }

    /// Cancel flag and wall clock; the clock is asked at every 16th call.
    fn check_outside(&mut self) -> Result<(), SimError> {
        let time = self.cursor;
        if self.control.is_cancelled() || self.recorder.is_closed() {
            return Err(SimError::Cancelled { time });
        }
        self.wall_checks = self.wall_checks.wrapping_add(1);
        if !self.wall_checks.is_multiple_of(16) {
            return Ok(());
        }
        let share = (time - self.options.start_time) / self.options.span();
        self.control.report(Stage::Run, Some(share.clamp(0.0, 1.0)));
        match self.control.stop() {
            Some(Stop::Cancelled) => return Err(SimError::Cancelled { time }),
            Some(Stop::Deadline { seconds }) => return Err(SimError::WallClock { time, seconds }),
            None => {}
        }
        if let Some(limit) = self.options.wall_seconds_max {
            let seconds = elapsed(&self.control, self.seconds_start);
            if seconds > limit {
                return Err(SimError::WallClock { time, seconds });
            }
        }
        Ok(())
    }

    fn limits(&self) -> StepLimits {
        let span = self.options.span();
        let by_user = self
            .options
            .step_size_max
            .unwrap_or(STEP_OF_SPAN_MAX * span);
        let by_model = self.instance.step_size_max(&self.values);
        // Without states nothing but the grid says how fast anything changes.
        let by_grid = if self.work.x.is_empty() {
            self.grid.interval()
        } else {
            f64::INFINITY
        };
        let inline_end = self.inline.as_ref().map_or(f64::INFINITY, |i| i.end);
        StepLimits {
            time_end: (self.next_time_event.min(self.options.stop_time)).min(inline_end),
            step_size_max: by_user.min(by_model).min(by_grid),
        }
    }

    fn take_step(&mut self) -> Result<(), SimError> {
        let limits = self.limits();
        let keeps_past = self.instance.keeps_past();
        let system = self.instance.system(&self.values);
        let relations = match (self.options.events, &mut self.constrained) {
            (true, None) => Relations::Held,
            (_, Some(constrained)) => Relations::Bound(constrained),
            (false, None) => Relations::Following {
                rules: &self.mode.rules,
                r: &mut self.work.r,
            },
        };
        let mut problem = ModelProblem {
            system,
            driver: &mut self.mode.driver,
            values: &mut self.values,
            relations,
        };
        // Without crossing functions and delays only a row inside the step needs its interpolant.
        let result = if self.work.truth.is_empty() && !keeps_past {
            let result = self.work.integrator.step_bare(&mut problem, limits);
            let end = self.work.integrator.time();
            result.and_then(|()| match self.grid.peek() {
                Some(row) if row < end => self
                    .work
                    .integrator
                    .complete_interpolant(&mut problem)
                    .map_err(|error| StepError::Fatal {
                        time: end,
                        error: Box::new(error),
                    }),
                Some(_) | None => Ok(()),
            })
        } else {
            self.work.integrator.step(&mut problem, limits)
        };
        self.unrecorded = result.is_ok();
        if !self.stiff_noted && self.work.integrator.stiff_switches() > 0 {
            self.stiff_noted = true;
            self.recorder.note(&NoteRecord::Stiff {
                time: self.work.integrator.time_old(),
            });
        }
        result.map_err(|error| self.step_error(error))
    }

    /// The last step stays: for the log, once.
    #[inline]
    fn keep_step(&mut self) {
        self.keep_step_until(self.work.integrator.time());
    }

    fn keep_step_until(&mut self, to: f64) {
        if !std::mem::take(&mut self.unrecorded) {
            return;
        }
        self.repeats = 0;
        let from = self.work.integrator.time_old();
        let total = self.work.integrator.steps_rejected();
        let rejected = total - std::mem::replace(&mut self.rejected_seen, total);
        self.recorder.step(&StepRecord {
            time: to,
            step_size: to - from,
            rejected,
            method: self.work.integrator.method_name(),
        });
        if !self.options.events
            && let Some(record) = self.creep.step(from, to, rejected)
        {
            self.recorder.note(&NoteRecord::Creeping(record));
        }
    }

    /// A step that ends where the model cannot be evaluated further may end at a relation that guards it.
    fn beyond_guard(&mut self, error: &SimError) -> Result<Option<Located>, SimError> {
        let SimError::StepTooSmall {
            step_size,
            cause: Some(_),
            ..
        } = *error
        else {
            return Ok(None);
        };
        if !self.options.events || self.work.truth.is_empty() || self.constrained.is_some() {
            return Ok(None);
        }
        let t = self.work.integrator.time();
        match self.left_limits(t, Accuracy::Tight) {
            // The step has gone beyond the end of a branch of solutions.
            Err(SimError::Evaluation { error, .. }) if error.recoverable() => return Ok(None),
            other => other?,
        }
        let system = self.instance.system(&self.values);
        system
            .eval_crossings(&mut self.values, &mut self.work.r)
            .map_err(|fault| output_fault(t, fault))?;
        let dx: Vec<f64> = (system.states().iter())
            .map(|state| self.values.get(state.derivative))
            .collect();
        let inside = Inside {
            t,
            x: &self.work.x,
            dx: &dx,
            r: &self.work.r,
            step_size,
        };
        Ok(beyond(
            system,
            &mut self.mode,
            &self.values,
            &self.work.truth,
            &inside,
        ))
    }

    /// Where a block that was solved a moment ago has no solution nearby, its branch of solutions ends: a Schmitt trigger tips over. A regular
    /// solution goes on over a few units of time resolution, so the failure there is the end of the branch and not one of the iteration.
    fn fold(&mut self, error: SimError) -> Result<State, SimError> {
        let end = self.work.integrator.time();
        // The last accepted point is where the step began, or the last event in it.
        let from = self.work.integrator.time_old().max(self.last_event);
        let (mut t_left, mut t, failure) = match &error {
            SimError::StepTooSmall {
                cause: Some(cause), ..
            } => match &**cause {
                SolveError::Newton(failure) => {
                    (end, end + FOLD_ULPS * time_resolution(end, 0.0), failure)
                }
                _ => return Err(error),
            },
            SimError::Evaluation {
                time,
                phase: Phase::Output | Phase::Continuous,
                error: SolveError::Newton(failure),
            } => (from, *time, failure),
            _ => return Err(error),
        };
        let failure = failure.clone();
        let is_beyond = t > end;
        if !is_beyond && !self.complete_interpolant()? {
            if self.repeats == REPEATS_MAX {
                return Err(error);
            }
            let step_size = 0.5 * (end - self.work.integrator.time_old());
            self.take_back_step(step_size)?;
            return Ok(State::Continuous);
        }
        self.keep_step();
        while !is_beyond && t - t_left > FOLD_ULPS * time_resolution(t, 0.0) {
            let middle = 0.5 * (t_left + t);
            match self.left_limits(middle, Accuracy::Trial) {
                Ok(()) => t_left = middle,
                Err(SimError::Evaluation { error, .. }) if error.recoverable() => t = middle,
                Err(other) => return Err(other),
            }
        }
        if !self.options.events {
            return Err(error);
        }
        let resolution = time_resolution(t, 0.0);
        if t - self.last_fold <= DENSE_EVENTS_ULPS * resolution {
            let failure = self.branch_ended.take().unwrap_or(failure);
            return Err(SimError::NoOtherSolution { time: t, failure });
        }
        self.last_fold = t;
        self.branch_ended = Some(failure);
        Ok(State::AtEvent(Occasion::Fold { t_left, t }))
    }

    /// Makes the interpolant of the last step ready. False if the model cannot be evaluated at a point that it needs.
    fn complete_interpolant(&mut self) -> Result<bool, SimError> {
        let time = self.work.integrator.time();
        match self.interpolant_of_step() {
            Ok(()) => Ok(true),
            Err(error) if error.recoverable() => Ok(false),
            Err(error) => Err(SimError::evaluation(time, Phase::Continuous, error)),
        }
    }

    fn interpolant_of_step(&mut self) -> Result<(), SolveError> {
        let relations = match &mut self.constrained {
            None => Relations::Held,
            Some(constrained) => Relations::Bound(constrained),
        };
        let mut problem = ModelProblem {
            system: self.instance.system(&self.values),
            driver: &mut self.mode.driver,
            values: &mut self.values,
            relations,
        };
        self.work.integrator.complete_interpolant(&mut problem)
    }

    /// Left limits of an event. Where the model cannot be evaluated at the event's time with the relations that held before, they are those of the last
    /// point inside, with the states of the event.
    fn event_limits(&mut self, t_left: f64, t: f64) -> Result<(), SimError> {
        if t <= self.work.integrator.time() {
            match self.left_limits(t, Accuracy::Tight) {
                Err(SimError::Evaluation { error, .. }) if error.recoverable() && t_left < t => {}
                other => return other,
            }
        }
        self.left_limits(t_left, Accuracy::Tight)?;
        let states = self.instance.system(&self.values).states();
        if t <= self.work.integrator.time() {
            self.work.integrator.interpolate(t, &mut self.work.x);
        } else {
            for (x, state) in self.work.x.iter_mut().zip(states) {
                *x += (t - t_left) * self.values.get(state.derivative);
            }
        }
        scatter(states, t, &self.work.x, &mut self.values);
        Ok(())
    }

    fn step_error(&self, error: StepError) -> SimError {
        let states = self.instance.system(&self.values).states();
        let named = |error: SolveError| match error {
            SolveError::NonFiniteDerivative { state } => SolveError::NonFinite {
                slot: states[state].derivative,
            },
            other => other,
        };
        match error {
            StepError::Tolerances(tolerances) => {
                SimError::Options(OptionError::Tolerance(tolerances.rel))
            }
            StepError::Fatal { time, error } => SimError::Evaluation {
                time,
                phase: Phase::Continuous,
                error: named(*error),
            },
            StepError::TooSmall {
                time,
                step_size,
                state,
                cause,
            } => SimError::StepTooSmall {
                time,
                step_size,
                state: state.map(|index| states[index].value),
                cause: cause.map(|error| Box::new(named(*error))),
            },
        }
    }

    /// Takes functions that change within the resolution of time after a located event into it: laws of several contacts at an instant hold
    /// together.
    fn gather(&mut self, located: &mut Located, to: f64) -> Result<(), SimError> {
        let resolution = time_resolution(located.t_right, self.work.integrator.step_size());
        let t = (located.t_right + RESTART_ULPS * resolution).min(to);
        // What cannot be evaluated beyond the event is not gathered.
        if self.functions_at(t).is_err() {
            return Ok(());
        }
        let n_located = located.changed.len();
        let crossings = self.instance.system(&self.values).crossings();
        for (index, &r) in self.work.r[..crossings.len()].iter().enumerate() {
            // A function that was zero over the whole step changes sides by round-off only.
            let rests = self.work.isolation.scale[index]
                <= REST_BAND_REL * nominal_magnitude(crossings[index].nominal);
            let changes = self.mode.rules[index].holds(r) != self.work.truth[index] && !rests;
            if changes && !located.changed.iter().any(|change| change.index == index) {
                located.changed.push(Change {
                    index,
                    value_left: r,
                    value_right: r,
                });
            }
        }
        if located.changed.len() > n_located {
            located.t_right = t;
        }
        Ok(())
    }

    /// The crossing functions on the interpolant of the last step.
    fn functions_at(&mut self, t: f64) -> Result<(), SolveError> {
        if self.constrained.is_some() {
            return self.bound_functions_at(t);
        }
        let mut functions = StepCrossings {
            system: self.instance.system(&self.values),
            driver: &mut self.mode.driver,
            values: &mut self.values,
            integrator: &self.work.integrator,
            x: &mut self.work.x,
            affine_only: self.mode.affine_only,
            rows: &mut self.work.rows,
        };
        functions.evaluate(t, &mut self.work.r)
    }

    fn find_event(&mut self, from: f64, to: f64) -> Result<Option<Located>, SimError> {
        if !self.options.events || self.work.truth.is_empty() {
            return Ok(None);
        }
        if self.constrained.is_some() {
            return self.find_bound_event(from, to);
        }
        let system = self.instance.system(&self.values);
        let mut functions = StepCrossings {
            system,
            driver: &mut self.mode.driver,
            values: &mut self.values,
            integrator: &self.work.integrator,
            x: &mut self.work.x,
            affine_only: self.mode.affine_only,
            rows: &mut self.work.rows,
        };
        let found = first_crossing(
            &mut functions,
            &mut self.work.isolation,
            &self.mode.rules,
            &self.work.truth,
            from,
            to,
        )
        .map_err(|error| SimError::evaluation(from, Phase::Continuous, error))?;
        self.values.actions.messages.clear();
        self.record_touches(found.as_ref().map_or(to, |located| located.t_left));
        if let Some(located) = &found {
            self.work.isolation.forget();
            debug_assert!(located.t_right > from);
        } else {
            self.check_contacts(to)?;
            let r = self.work.isolation.end_values();
            if self.work.watch.has_suspect()
                && let Some(crossing) = self.work.watch.fallen_through(r)
            {
                let info = &self.instance.system(&self.values).crossings()[crossing];
                let lost = SimError::ContactLost {
                    time: to,
                    relation: info.relation,
                    site: info.site,
                    depth: r[crossing].abs(),
                };
                if self.is_spent(info) {
                    return Err(lost);
                }
            }
        }
        Ok(found)
    }

    fn record_touches(&mut self, until: f64) {
        for i in 0..self.work.isolation.touches.len() {
            let touch = self.work.isolation.touches[i];
            if touch.t > until {
                continue;
            }
            self.summary.statistics.touches += 1;
            if !self.recorder.wants_events() {
                continue;
            }
            let crossings = self.instance.system(&self.values).crossings();
            let change = Change {
                index: touch.index,
                value_left: touch.value,
                value_right: touch.value,
            };
            self.recorder.event(&EventRecord {
                time: touch.t,
                kind: EventKind::Touch,
                method: "bernstein",
                causes: vec![cause(crossings, &change)],
                changed: Vec::new(),
                impulses: Vec::new(),
                iterations: 0,
                evaluations: 0,
                restarted: false,
                mode: self.mode.number,
            });
        }
    }

    /// Rows at the grid points in (from, to); at each the relations are checked once more, so that a crossing that five
    /// points of a step did not show is still found. A point at `to` itself is left to what happens there.
    #[inline]
    fn write_grid(&mut self, step: &mut Stepped) -> Result<Written, SimError> {
        self.grid.skip_through(self.cursor);
        match self.grid.peek() {
            Some(t) if t <= step.rows_end() => self.write_rows(step),
            Some(_) | None => Ok(Written::All),
        }
    }

    #[inline(never)]
    fn write_rows(&mut self, step: &mut Stepped) -> Result<Written, SimError> {
        let to = step.rows_end();
        while let Some(t) = self
            .grid
            .peek()
            .filter(|&t| t < to || t == to && self.is_plain_end(to))
        {
            if t > self.pause {
                return Ok(Written::Paused);
            }
            self.grid_values(t)?;
            if self.constrained.is_some() {
                // What binds the motion was searched with all else.
            } else if self.options.events && !self.work.truth.is_empty() && t < to {
                let system = self.instance.system(&self.values);
                system
                    .eval_crossings(&mut self.values, &mut self.work.r)
                    .map_err(|fault| output_fault(t, fault))?;
                // What rested when the last event ended may have left its band by the end of the step, and not yet here.
                let bands = self.work.isolation.bands_at_restart();
                let relations = self.mode.rules.iter().zip(&self.work.truth);
                let differs =
                    (relations.zip(&self.work.r).zip(bands)).any(|(((rule, truth), r), band)| {
                        rule.holds(*r) != *truth && (*band == 0.0 || r.abs() > *band)
                    });
                if differs {
                    self.work.isolation.forget();
                    if let Some(located) = self.find_event(step.clear, t)? {
                        return Ok(Written::UntilEvent(located));
                    }
                    // The search has left the values of another time.
                    self.grid_values(t)?;
                }
            }
            let defect = self.defect_of_row(t);
            if defect > 1.0 {
                // What the refused row has said is not so.
                self.values.actions.messages.clear();
                return Ok(Written::Contradicted {
                    holds_until: step.clear,
                    defect,
                });
            }
            step.worst = step.worst.max(defect);
            step.clear = t;
            self.check_finite()?;
            self.deliver_warnings();
            self.row(RowKind::Grid);
            self.grid.advance();
        }
        if step.worst > 0.0 {
            let step_size = self.work.integrator.step_size_for(step.worst);
            self.work.integrator.limit_step_size(step_size);
        }
        Ok(Written::All)
    }

    /// How far the last step is from the model in the row whose values have been computed; 1 is the most that is accepted. An error estimate knows what
    /// its stages have seen: a transistor that passes its active region between two stages of an explicit step heats its surroundings unseen, and the
    /// estimate is hundreds of times too small. The row shows it.
    fn defect_of_row(&mut self, t: f64) -> f64 {
        let integrator = &self.work.integrator;
        let is_inside = t > integrator.time_old() && t < integrator.time();
        let is_free = self.constrained.is_none() && self.inline.is_none();
        if !is_inside || !is_free || !self.options.events || self.repeats == REPEATS_MAX {
            return 0.0;
        }
        let states = self.instance.system(&self.values).states();
        for (dx, state) in self.work.dx.iter_mut().zip(states) {
            *dx = self.values.get(state.derivative);
        }
        match integrator.defect(t, &self.work.dx) {
            Some(defect) => defect / ROW_DEFECT_MAX,
            None => 0.0,
        }
    }

    /// All variables at a point of the grid, from the interpolant.
    fn grid_values(&mut self, t: f64) -> Result<(), SimError> {
        self.work.integrator.interpolate(t, &mut self.work.x);
        let system = self.instance.system(&self.values);
        scatter(system.states(), t, &self.work.x, &mut self.values);
        self.evaluate_point(Accuracy::Trial, Guess::Accepted, Phase::Output)
    }

    /// Nothing but the next step happens at `t`.
    fn is_plain_end(&self, t: f64) -> bool {
        t == self.work.integrator.time() && t < self.next_time_event && t < self.options.stop_time
    }

    /// The values of the accepted point, for guesses, delays and assertions, as far as anybody needs them.
    fn complete_step(&mut self, t: f64) -> Result<(), SimError> {
        self.past_points(t)?;
        let system = self.instance.system(&self.values);
        if self.inline.is_some() {
            self.left_limits(t, Accuracy::Tight)?;
        } else if system.observes_steps()
            || t >= self.options.stop_time
            || !self.options.events
            || self.constrained.is_some()
        {
            self.left_limits(t, Accuracy::Trial)?;
        } else {
            scatter(
                system.states(),
                t,
                self.work.integrator.state(),
                &mut self.values,
            );
            if self.mode.driver.has_blocks() {
                self.left_derivatives(t)?;
            }
        }
        self.deliver_warnings();
        self.instance
            .completed_step(&mut self.values, StepPoint::End);
        self.deliver_notes(t);
        Ok(())
    }

    /// For a model that keeps a past: points between the last completed one and `t`, at the extrema of a Chebyshev polynomial, where
    /// interpolation is well conditioned.
    fn past_points(&mut self, t: f64) -> Result<(), SimError> {
        let from = std::mem::replace(&mut self.completed, t);
        if !self.instance.keeps_past() {
            return Ok(());
        }
        for k in 1..PAST_DEGREE {
            let angle = f64::from(k) * std::f64::consts::PI / f64::from(PAST_DEGREE);
            let inside = from + (t - from) * 0.5 * (1.0 - angle.cos());
            if inside > from && inside < t {
                self.left_limits(inside, Accuracy::Trial)?;
                self.instance
                    .completed_step(&mut self.values, StepPoint::Inside);
            }
        }
        Ok(())
    }

    /// What the derivatives need, for the guesses of its blocks.
    fn left_derivatives(&mut self, t: f64) -> Result<(), SimError> {
        let system = self.instance.system(&self.values);
        let driver = &mut self.mode.driver;
        driver
            .run(
                system,
                ScheduleKind::Derivatives,
                &mut self.values,
                Accuracy::Trial,
                Guess::Accepted,
            )
            .map_err(|error| SimError::evaluation(t, Phase::Continuous, error))?;
        driver.accept(system, &self.values);
        Ok(())
    }

    /// All continuous variables at the point in the value array.
    fn evaluate_point(
        &mut self,
        accuracy: Accuracy,
        guess: Guess,
        phase: Phase,
    ) -> Result<(), SimError> {
        let system = self.instance.system(&self.values);
        let (driver, values) = (&mut self.mode.driver, &mut self.values);
        match &mut self.constrained {
            None => evaluate_all(system, driver, values, accuracy, guess),
            Some(constrained) => {
                bind::evaluate_bound(constrained, system, driver, values, accuracy, guess)
            }
        }
        .map_err(|error| SimError::evaluation(self.values.time(), phase, error))
    }

    /// Later guesses start from the point in the value array.
    fn accept_point(&mut self) {
        let system = self.instance.system(&self.values);
        self.mode.driver.accept(system, &self.values);
    }

    fn left_limits(&mut self, t: f64, accuracy: Accuracy) -> Result<(), SimError> {
        self.work.integrator.interpolate(t, &mut self.work.x);
        let system = self.instance.system(&self.values);
        scatter(system.states(), t, &self.work.x, &mut self.values);
        self.evaluate_point(accuracy, Guess::Accepted, Phase::Continuous)?;
        self.accept_point();
        self.check_finite()
    }

    /// Without events relations are brought up to date at the ends of steps.
    fn changed_at_step_end(&mut self, t: f64) -> Result<Option<Located>, SimError> {
        let system = self.instance.system(&self.values);
        system
            .eval_crossings(&mut self.values, &mut self.work.r)
            .map_err(|fault| output_fault(t, fault))?;
        let changed: Vec<Change> = (0..self.work.r.len())
            .filter(|&i| self.mode.rules[i].holds(self.work.r[i]) != self.work.truth[i])
            .map(|index| Change {
                index,
                value_left: self.work.r[index],
                value_right: self.work.r[index],
            })
            .collect();
        Ok((!changed.is_empty()).then_some(Located {
            t_left: t,
            t_right: t,
            changed,
        }))
    }

    // --- AtEvent ----------------------------------------------------------------------------------------------------

    fn event(&mut self, occasion: Occasion) -> Result<State, SimError> {
        self.work.causes.clear();
        self.work.far_sides.clear();
        let (t_left, t, kind) = match occasion {
            Occasion::Time { time } => (time, time, EventKind::Time),
            Occasion::State { located } => {
                self.work.causes.extend_from_slice(&located.changed);
                self.collect_far_sides();
                self.log_causes();
                let times = (located.t_left, located.t_right, EventKind::State);
                self.work.isolation.recycle(located);
                times
            }
            Occasion::Fold { t_left, t } => (t_left, t, EventKind::Fold),
            Occasion::Input { time } => (time, time, EventKind::Input),
            Occasion::Release { located } => return self.release(located),
            Occasion::Terminal => return self.terminal(),
        };
        if kind == EventKind::Input {
            self.interpolant_for_event(t)?;
        }
        let is_fold = kind == EventKind::Fold;
        let is_beyond = t > self.work.integrator.time();
        let completed = self.completed;
        let reached = self
            .past_points(t.min(self.work.integrator.time()))
            .and_then(|()| {
                if is_fold {
                    self.mode.driver.set_branch(Branch::Hold);
                }
                self.event_limits(t_left, t)
            });
        if let Err(error) = reached {
            // A branch of solutions may end before the event, in the same step.
            if is_fold {
                return Err(error);
            }
            self.completed = completed;
            return self.fold(error);
        }
        self.instance
            .completed_step(&mut self.values, StepPoint::End);
        if kind == EventKind::Time {
            self.log_time_causes();
        }
        self.grid.skip_through(t);
        self.row(RowKind::BeforeEvent);
        self.work.before.clone_from(&self.values.v);
        if let Some(inline) = &mut self.inline {
            inline.event_begins(&mut self.values);
            if let Some((count, since)) = inline.chatters() {
                let crossings = self.instance.system(&self.values).crossings();
                let flips = (self.work.causes.iter()).map(|change| &crossings[change.index]);
                return Err(SimError::Accumulation {
                    time: t,
                    since,
                    count,
                    relations: flips.map(|c| (c.relation, c.site)).collect(),
                });
            }
        }

        let crossings = self.instance.system(&self.values).crossings();
        let flips = (self.work.causes.iter()).map(|change| crossings[change.index].relation);
        self.mode.driver.expect_flips(flips);
        self.work.step.clear();
        if is_fold {
            self.mode.driver.set_branch(Branch::Leave);
        }
        let settled = match self.event_values(t) {
            Ok(settled) => settled,
            Err(error) => match self.branch_ended.take().filter(|_| is_fold) {
                Some(failure) => return Err(SimError::NoOtherSolution { time: t, failure }),
                None => return Err(error),
            },
        };
        let Settled {
            moved,
            rebound,
            slides,
        } = settled;
        if is_fold {
            self.mode.driver.set_branch(Branch::Follow);
            if !std::mem::replace(&mut self.fold_noted, true) {
                self.recorder.note(&NoteRecord::Fold { time: t });
            }
        }
        self.note_held(t);
        self.end_inline_event()?;
        self.row(RowKind::AfterEvent);
        self.cursor = t;

        let mut change = match self.motion_change() {
            None if self.inline.is_some() => Some(Discontinuity::States),
            _ if is_beyond || is_fold || rebound => Some(Discontinuity::Dynamics),
            None if moved => Some(Discontinuity::States),
            other => other,
        };
        let restart = change.is_some();
        let statistics = &mut self.summary.statistics;
        statistics.restarts += u64::from(restart);
        match kind {
            EventKind::Time => statistics.events_time += 1,
            EventKind::Input => statistics.events_input += 1,
            _ => statistics.events_state += 1,
        }
        let kind = match slides && kind == EventKind::State {
            true => EventKind::Sliding,
            false => kind,
        };
        self.record_event(t, kind, restart);
        let crossings = self.instance.system(&self.values).crossings();
        let far_sides = &self.work.far_sides;
        let discrete = self.instance.system(&self.values).discrete_slots();
        let same = |slot: &Slot| self.work.before[slot.index()] == self.values.get(*slot);
        let discrete_changed = !discrete.iter().all(same);
        let reset = !self.work.step.reinitialised.is_empty();
        // An event that changed nothing is no bounce: it counts, but says nothing about intervals. The round-off of a function, of the voltage at an open diode between
        // windings, makes such events: it takes the other side, and the motion takes it back.
        let bounces: &[(usize, f64)] = if discrete_changed || reset {
            far_sides
        } else {
            &[]
        };
        let size = &self.work.isolation.scale;
        let (truth, values) = (&self.work.truth, &self.values);
        let stays = |i: usize| {
            let now = |c: &CrossingInfo| values.get(c.relation) != 0.0;
            reset && crossings.get(i).is_some_and(|c| now(c) != truth[i])
        };
        let zeno = (self.work.watch).event(t, bounces, size, stays, || {
            far_sides
                .iter()
                .filter_map(|(i, _)| crossings.get(*i))
                .map(|c| (c.relation, c.site))
                .collect()
        })?;
        if let Some(point) = zeno.filter(|_| self.inline.is_some() && !self.mode_changed()) {
            // Rest is a motion bound to states.
            let info = &self.instance.system(&self.values).crossings()[point.crossing];
            return Err(SimError::Zeno {
                time: t,
                limit: point.limit,
                relation: info.relation,
                site: info.site,
            });
        }
        if self.meet_contacts()? {
            change = Some(Discontinuity::Dynamics);
        }
        if discrete_changed {
            self.work.rows.forget();
        }
        self.enter_mode_if_changed();
        self.bind_after_mode()?;
        self.read_truth()?;
        self.schedule_time_event()?;
        if self.work.step.terminate.is_some() {
            self.summary.terminated = self.work.step.terminate.take();
            return self.terminal();
        }
        if t >= self.options.stop_time {
            return Ok(State::AtEvent(Occasion::Terminal));
        }
        if let Some(change) = change {
            let reselected = self.reselect_states()?;
            self.begin_segment(match reselected {
                true => Discontinuity::Dynamics,
                false => change,
            })?;
        }
        Ok(State::Continuous)
    }

    /// Event step, settling and right limits at the present instant. True if the event was moved beyond it.
    fn event_values(&mut self, t: f64) -> Result<Settled, SimError> {
        if self.constrained.is_some() {
            self.place_rests()?;
        }
        self.event_step(TimeFlags::Due)?;
        // Where the motion goes on as before, a function that has just changed sides moves on as well.
        let resolution = time_resolution(t, self.work.integrator.step_size());
        let alone = t - self.last_event > DENSE_EVENTS_ULPS * resolution;
        self.last_event = t;
        let slid = self.summary.statistics.sliding_segments;
        let mut rebound = self.may_bind() && self.bind()?;
        if self.constrained.is_some() {
            rebound |= self.go_on_at_rest()?;
        }
        let slides = self.summary.statistics.sliding_segments > slid;
        let is_free = self.constrained.is_none();
        let side = if alone && is_free && self.motion_change().is_some() {
            settle(
                &mut *self.instance,
                &mut self.mode,
                &mut self.values,
                self.tolerances,
                &self.work.causes,
                resolution,
                &mut self.work.settling,
                &mut self.work.step,
            )?
        } else {
            Side::NotTried
        };
        // A mode may put a state back after the event step, and leave what follows from it where it was.
        let known = is_free && side != Side::Kept && !self.instance.has_modes();
        if !known || !self.instance.system(&self.values).event_completes() {
            self.evaluate_point(Accuracy::Tight, Guess::Current, Phase::Event)?;
        }
        self.accept_right_limits()?;
        Ok(Settled {
            moved: side == Side::Changed,
            rebound,
            slides,
        })
    }

    /// The values at the start of variables whose integrators are equations.
    fn begin_inline(&mut self) -> Result<(), SimError> {
        let Some(inline) = &mut self.inline else {
            return Ok(());
        };
        if self.options.start != StartPoint::InitialSystem {
            return Ok(());
        }
        inline.event_step_ended(&mut self.values);
        self.evaluate_point(Accuracy::Tight, Guess::Current, Phase::Initial)?;
        let Some(inline) = &mut self.inline else {
            return Ok(());
        };
        inline.jumps_known(&mut self.values);
        inline.event_ends(&mut self.values);
        inline.prepare(&mut self.values);
        match inline.jump_at_start() {
            None => Ok(()),
            Some((slot, start, value)) => Err(SimError::InlineStart {
                time: self.values.time(),
                slot,
                start,
                value,
            }),
        }
    }

    /// Right limits of variables whose integrators are equations.
    fn end_inline_event(&mut self) -> Result<(), SimError> {
        let Some(inline) = &mut self.inline else {
            return Ok(());
        };
        inline.event_step_ended(&mut self.values);
        self.evaluate_point(Accuracy::Tight, Guess::Current, Phase::Event)?;
        if let Some(inline) = &mut self.inline {
            inline.jumps_known(&mut self.values);
        }
        self.evaluate_point(Accuracy::Tight, Guess::Current, Phase::Event)?;
        self.accept_point();
        if let Some(inline) = &self.inline {
            inline.event_ends(&mut self.values);
        }
        Ok(())
    }

    fn log_causes(&mut self) {
        if self.recorder.wants_events() {
            let crossings = self.instance.system(&self.values).crossings();
            let logged = (self.work.causes.iter()).map(|change| cause(crossings, change));
            self.work.causes_logged.extend(logged);
        }
    }

    fn log_time_causes(&mut self) {
        if self.recorder.wants_events() {
            let sites = &self.instance.info().sites;
            let due = self.instance.time_causes(&self.values).into_iter();
            self.work.causes_logged.extend(due.map(|site| Cause {
                site,
                text: (sites.get(site.0 as usize)).map_or(String::new(), |s| s.text.clone()),
                value_left: 0.0,
                value_right: 0.0,
            }));
        }
    }

    /// The event step at the present instant; adds to what the event did.
    fn event_step(&mut self, flags: TimeFlags) -> Result<(), SimError> {
        let result = event_step(
            &mut *self.instance,
            &mut self.mode,
            &mut self.values,
            self.tolerances,
            flags,
            &mut self.work.step,
        );
        if self.instance.has_modes() {
            self.note_modes();
        }
        result
    }

    /// The model may have structured modes, and have more slots now.
    fn note_modes(&mut self) {
        let structured = self.instance.modes_structured();
        let before = std::mem::replace(&mut self.summary.statistics.modes_structured, structured);
        if before != structured || self.work.before.len() != self.values.v.len() {
            self.recorder.grown(&self.instance.shared_info());
            self.work.before.resize(self.values.v.len(), 0.0);
            self.work.finite = continuous_slots(self.instance.info());
        }
    }

    fn note_held(&mut self, time: f64) {
        if self.held_noted {
            return;
        }
        let switches = self.instance.held_switches();
        if !switches.is_empty() {
            self.held_noted = true;
            self.recorder.note(&NoteRecord::Held { time, switches });
        }
    }

    fn motion_change(&self) -> Option<Discontinuity> {
        if self.mode_changed() {
            return Some(Discontinuity::Dynamics);
        }
        let system = self.instance.system(&self.values);
        let inputs = &self.work.step.inputs_set;
        if !inputs.is_empty() && inputs.iter().any(|slot| system.feeds_derivatives(*slot)) {
            return Some(Discontinuity::Dynamics);
        }
        motion_change(
            system,
            &self.work.step.reinitialised,
            &self.work.before,
            &self.values,
        )
    }

    /// For each crossing the sign that its function takes by the event.
    fn collect_far_sides(&mut self) {
        let Work {
            far_sides,
            causes,
            truth,
            ..
        } = &mut self.work;
        let mode = &self.mode;
        far_sides.extend(causes.iter().map(|change| {
            let holds_after = !truth[change.index];
            let rising = mode.rules[change.index].rising;
            (change.index, if rising == holds_after { 1.0 } else { -1.0 })
        }));
    }

    /// All continuous variables after an event.
    fn right_limits(&mut self) -> Result<(), SimError> {
        self.evaluate_point(Accuracy::Tight, Guess::Current, Phase::Event)?;
        self.accept_right_limits()
    }

    fn accept_right_limits(&mut self) -> Result<(), SimError> {
        self.accept_point();
        self.check_finite()?;
        self.deliver_warnings();
        self.instance
            .completed_step(&mut self.values, StepPoint::AfterEvent);
        Ok(())
    }

    fn mode_changed(&self) -> bool {
        self.instance.mode(&self.values) != self.entered
    }

    fn enter_mode_if_changed(&mut self) {
        if !self.mode_changed() {
            if let Some(left) = self.left.take() {
                // The event has come back to the mode: its lists lose what ended the binding.
                let n = self.instance.system(&self.values).crossings().len();
                let listed = self.work.truth.len() - n;
                self.left = Some(left.clone());
                self.set_bound(Some(Box::new(Constrained { listed, ..*left })), None);
            }
            return;
        }
        if self.instance.mode(&self.values) != self.mode.number {
            (self.mode).change(&*self.instance, &self.values, self.tolerances);
        }
        self.entered = self.mode.number;
        if !self.instance.has_modes() {
            self.summary.statistics.modes_structured += 1;
        }
        self.absorb_integrator_statistics();
        let instance = &*self.instance;
        let n_crossings = instance.system(&self.values).crossings().len();
        self.mode.rules.truncate(n_crossings);
        // What was made for a bound motion does not serve the free one.
        let park = self.left.is_none();
        (self.work).enter(
            park,
            instance,
            &self.options,
            self.tolerances,
            &self.mode,
            &self.values,
        );
        self.evaluations_seen = 0;
        self.rejected_seen = 0;
    }

    /// What relations hold from here on, and which of their functions rest at zero.
    fn read_truth(&mut self) -> Result<(), SimError> {
        self.truth_time = self.values.time();
        let system = self.instance.system(&self.values);
        for (truth, crossing) in self.work.truth.iter_mut().zip(system.crossings()) {
            *truth = self.values.get(crossing.relation) != 0.0;
        }
        if self.constrained.is_some() {
            return self.read_bound_truth();
        }
        if !self.work.truth.is_empty() {
            let time = self.values.time();
            after_event(system, &mut self.values, &mut self.work.r)
                .map_err(|fault| SimError::evaluation(time, Phase::Event, fault.into()))?;
            self.work
                .isolation
                .restart(self.values.time(), &self.work.r);
            for group in &self.work.mixed {
                let size = group.size(&self.values);
                for &i in &group.crossings {
                    let band = RELATION_BAND_REL * size;
                    self.work.isolation.restart_within(i, self.work.r[i], band);
                }
            }
            self.round_off_of_time();
            for &(i, band) in &self.work.round_off {
                self.work.isolation.restart_within(i, self.work.r[i], band);
            }
            let Work {
                isolation,
                r,
                at_zero,
                causes,
                ..
            } = &mut self.work;
            at_zero.copy_from_slice(isolation.bands_at_restart());
            for change in causes.iter() {
                let (i, Some(&r)) = (change.index, r.get(change.index)) else {
                    continue;
                };
                // What a located function does between neighbouring floats is its round-off, or less than any motion counts for.
                let jump = (change.value_right - change.value_left).abs();
                // A function that jumps by a part of its size is not continuous: its events are the model's.
                if jump <= ROUND_OFF_PART * isolation.scale[i] {
                    isolation.restart_within(i, r, RESTART_ULPS * jump);
                }
                // An event is where its functions are zero, whatever their scale afterwards.
                at_zero[i] = (isolation.bands_at_restart()[i]).max(LOCATED_BAND * r.abs());
            }
        }
        Ok(())
    }

    /// How much the resolution of time moves the functions that made the present event happen, where they are zero after it; in
    /// `work.round_off`.
    ///
    /// The voltage u(t) - v at a diode that has just turned off begins with a slope of zero, but u(t) and v move by u' ε t each between two floats. Within
    /// that the function has no sign. Measured by a step of time alone, with the states as they are. Functions that are affine have no
    /// such part: time enters them as the states do.
    fn round_off_of_time(&mut self) {
        let system = self.instance.system(&self.values);
        let crossings = system.crossings();
        let Work {
            causes,
            r,
            round_off,
            kept,
            r_moved,
            x,
            ..
        } = &mut self.work;
        let is_zero = |i: usize| {
            let nominal = nominal_magnitude(crossings[i].nominal);
            crossings[i].class == CrossingClass::General && r[i].abs() <= NEAR_ZERO_REL * nominal
        };
        let indices = causes.iter().map(|change| change.index);
        round_off.clear();
        round_off.extend(
            indices
                .filter(|&i| i < r.len() && is_zero(i))
                .map(|i| (i, 0.0)),
        );
        if round_off.is_empty() {
            return;
        }
        kept.clone_from(&self.values.v);
        r_moved.resize(r.len(), 0.0);
        gather(system.states(), &self.values, x);
        let t = self.values.time();
        let t = t + RESTART_ULPS * time_resolution(t, 0.0);
        let driver = &mut self.mode.driver;
        let evaluated = match system.crossings_at(t, x, &mut self.values, r_moved) {
            Some(status) => status.map_err(SolveError::from),
            None => {
                self.values.set(Slot::TIME, t);
                let mut run = |kind| {
                    let (accuracy, guess) = (Accuracy::Tight, Guess::Current);
                    driver.run(system, kind, &mut self.values, accuracy, guess)
                };
                run(ScheduleKind::Derivatives)
                    .and_then(|()| run(ScheduleKind::Crossings))
                    .and_then(|()| Ok(system.eval_crossings(&mut self.values, r_moved)?))
            }
        };
        std::mem::swap(&mut self.values.v, kept);
        // What cannot be evaluated there is left to the located values.
        match evaluated {
            Ok(()) => {
                for (i, band) in round_off {
                    *band = (r_moved[*i] - r[*i]).abs();
                }
            }
            Err(_) => round_off.clear(),
        }
    }

    fn schedule_time_event(&mut self) -> Result<(), SimError> {
        let time = self.values.time();
        let next = self
            .instance
            .next_time_event(&self.values)
            .map_err(|fault| SimError::evaluation(time, Phase::Event, fault.into()))?;
        if next.is_nan() || next <= time {
            return Err(SimError::Calendar { time, next });
        }
        self.next_time_event = next;
        Ok(())
    }

    /// Starts the integrator at the present point.
    fn begin_segment(&mut self, change: Discontinuity) -> Result<(), SimError> {
        let t = self.values.time();
        let limits = self.limits();
        let system = self.instance.system(&self.values);
        // The right limits have just been computed, unless what the model keeps of its past has changed since.
        let known = self.options.events && !self.instance.keeps_past();
        let at = self.work.x.iter_mut().zip(&mut self.work.dx);
        for ((x, dx), state) in at.zip(system.states()) {
            *x = self.values.get(state.value);
            *dx = self.values.get(state.derivative);
        }
        let relations = match (self.options.events, &mut self.constrained) {
            (true, None) => Relations::Held,
            (_, Some(constrained)) => Relations::Bound(constrained),
            (false, None) => Relations::Following {
                rules: &self.mode.rules,
                r: &mut self.work.r,
            },
        };
        let mut problem = ModelProblem {
            system,
            driver: &mut self.mode.driver,
            values: &mut self.values,
            relations,
        };
        let start = Start {
            t,
            x: &self.work.x,
            dx: known.then_some(&self.work.dx),
            change,
        };
        let result = self
            .work
            .integrator
            .begin_after(&mut problem, start, limits);
        result.map_err(|error| self.step_error(error))
    }

    fn terminal(&mut self) -> Result<State, SimError> {
        let t = self.values.time();
        if let Some(slot) = self.instance.info().terminal {
            self.work.before.clone_from(&self.values.v);
            self.work.step.clear();
            let checked = self.event_step(TimeFlags::Terminal(slot));
            // The run has come to its end also where an assertion about the end fails.
            self.row(RowKind::Final);
            checked?;
            self.record_event(t, EventKind::Terminal, false);
        } else if self.last_row != Some((t, RowKind::AfterEvent)) {
            self.row(RowKind::Final);
        }
        Ok(State::Finished)
    }

    fn row(&mut self, kind: RowKind) {
        let t = self.values.time();
        self.recorder.row(&self.values, kind);
        self.summary.time_reached = t;
        self.last_row = Some((t, kind));
    }

    // --- records ----------------------------------------------------------------------------------------------------

    fn record_event(&mut self, time: f64, kind: EventKind, restarted: bool) {
        for (site, text) in &self.work.step.messages {
            self.recorder.message(time, *site, text);
        }
        self.deliver_notes(time);
        self.summary.statistics.event_iterations += u64::from(self.work.step.iterations);
        let evaluations = self.work.isolation.evaluations - self.evaluations_seen;
        self.evaluations_seen = self.work.isolation.evaluations;
        if !self.recorder.wants_events() {
            return;
        }
        let system = self.instance.system(&self.values);
        let unknowns = match kind {
            EventKind::Fold => self.mode.driver.unknowns(system),
            _ => Vec::new(),
        };
        let slots = (system.discrete_slots().iter())
            .chain(&self.work.step.inputs_set)
            .chain(&self.work.step.reinitialised);
        let changed = slots
            .chain(&unknowns)
            .map(|&slot| {
                let inlined = self.inline.as_ref().and_then(|i| i.variable_of(slot));
                inlined.unwrap_or(slot)
            })
            .map(|slot| ChangedValue {
                slot,
                before: self.work.before[slot.index()],
                after: self.values.get(slot),
            })
            .filter(|change| change.before != change.after)
            .collect();
        self.recorder.event(&EventRecord {
            time,
            kind,
            method: match kind {
                EventKind::State | EventKind::Sliding => self.work.isolation.method().as_str(),
                EventKind::Fold => "bisection",
                EventKind::Input => "outside",
                _ => "calendar",
            },
            causes: std::mem::take(&mut self.work.causes_logged),
            changed,
            impulses: self.work.step.impulses.clone(),
            iterations: self.work.step.iterations,
            evaluations,
            restarted,
            mode: self.mode.number,
        });
    }

    #[inline]
    fn deliver_notes(&mut self, time: f64) {
        if !self.mode.driver.has_notes() {
            return;
        }
        for note in self.mode.driver.take_notes() {
            self.recorder.note(&NoteRecord::Block { time, note });
        }
    }

    fn check_finite(&self) -> Result<(), SimError> {
        match self
            .work
            .finite
            .iter()
            .find(|&&i| !self.values.v[i].is_finite())
        {
            None => Ok(()),
            Some(&i) => Err(SimError::NonFinite {
                time: self.values.time(),
                slot: Slot(i as u32),
            }),
        }
    }

    /// Warnings of continuous equations: once per place.
    #[inline]
    fn deliver_warnings(&mut self) {
        if !self.values.actions.messages.is_empty() {
            self.deliver_new_warnings();
        }
    }

    fn deliver_new_warnings(&mut self) {
        let time = self.values.time();
        for (site, text) in std::mem::take(&mut self.values.actions.messages) {
            if !self.warned.contains(&site) {
                self.warned.push(site);
                self.recorder.message(time, site, &text);
            }
        }
    }

    fn absorb_integrator_statistics(&mut self) {
        let from = self.work.integrator.statistics();
        let statistics = &mut self.summary.statistics;
        statistics.steps += from.steps;
        statistics.steps_rejected += from.steps_rejected;
        statistics.rhs_evaluations += from.rhs_evaluations;
        statistics.jacobians += from.jacobians;
        statistics.factorizations += from.factorizations;
        for (name, steps) in self.work.integrator.methods_used() {
            match statistics.methods.iter_mut().find(|m| m.0 == name) {
                Some(known) => known.1 += steps,
                None => statistics.methods.push((name, steps)),
            }
        }
    }

    /// What the run was, and what the next one can use of it.
    pub(crate) fn finish(mut self) -> Ended<P, R> {
        self.unbind();
        if let Some(record) = self.creep.finish() {
            self.recorder.note(&NoteRecord::Creeping(record));
        }
        self.absorb_integrator_statistics();
        let system = self.instance.system(&self.values);
        let statistics = &mut self.summary.statistics;
        statistics.states = system.states().len();
        statistics.crossing_functions = system.crossings().len();
        statistics.blocks_linear = self.mode.driver.n_linear;
        statistics.blocks_nonlinear = self.mode.driver.n_nonlinear;
        statistics.blocks_largest = self.mode.driver.n_largest;
        statistics.solver = match &self.inline {
            Some(inline) if statistics.states == 0 => inline.method_name(),
            _ => self.work.integrator.method_name(),
        };
        statistics.seconds_initialize = match (self.seconds_initialised, self.seconds_start) {
            (Some(end), Some(start)) => end - start,
            _ => 0.0,
        };
        statistics.seconds_simulate = elapsed(&self.control, self.seconds_initialised);
        Ended {
            summary: self.summary,
            left: Room {
                mode: self.mode,
                values: self.values,
                work: self.work,
            },
            instance: self.instance,
            recorder: self.recorder,
        }
    }
}

/// A change of a relation in the terms of the event log.
fn cause(crossings: &[CrossingInfo], change: &Change) -> Cause {
    let crossing = &crossings[change.index];
    Cause {
        site: crossing.site,
        text: crossing.text.clone(),
        value_left: change.value_left,
        value_right: change.value_right,
    }
}

fn output_fault(time: f64, fault: Fault) -> SimError {
    SimError::Evaluation {
        time,
        phase: Phase::Output,
        error: SolveError::Fault(fault),
    }
}
