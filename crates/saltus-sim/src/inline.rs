//! The steps of integrators that are equations of the model (inline integration, textbook 9.11).
//!
//! The equations hold at every time t within a step: they contain the formula for the step from t_old to t. Nothing has to be integrated, and a crossing
//! function is located on the formula itself. What is left to do is to take the ends along:
//!
//! ```text
//! at the end of a step    t_old := t,  x_old := x,  x'_old := x'
//! at an event             the same with the left limits; then by backward Euler over the shortest step h
//!     event step              x₁, x'₁ at t + h: what the new equations ask of x is met at once, as if they were integrated over the instant
//!     from x₁ once more       x'₂: the derivative after a jump
//!     x⁺ := x_old if x'₁ = x'₂ (a `reinit` may have written it), else x jumped: x⁺ := x₁
//!     from x⁺ - h x'₂         the right limits, at t
//!     x_old := x⁺
//! ```
//! Steps end at t_start + k·H; after an event the remainder of the step is taken, or the next one made longer where less than [`SLIVER`] of it is left.
//! States that are not inlined are integrated by the method of the run, whose steps do not pass the ends of these.

use crate::options::{OptionError, Options};
use saltus_model::{InlineInfo, ModelInfo, Slot, Values};
use saltus_solve::scale::time_resolution;

/// The shortest step of the formulas, in units of the step: its square is beyond the accuracy of any of them, and what round-off adds
/// to a derivative that only the formula tells is 1e-10 of the value over a step.
const STEP_MIN_PART: f64 = 1e-6;
/// The same in units of the resolution of time.
const STEP_MIN_ULPS: f64 = 1024.0;
/// A remainder of a step below this part is joined to the next one.
const SLIVER: f64 = 0.1;
/// A derivative that the shortest step changes by more than this part of it contained an impulse. A motion that changes so fast is not resolved by the step.
const SAME_REL: f64 = 1e-3;
/// A start value that differs by this part from what the equations ask for contradicts them.
const START_JUMP_REL: f64 = 1e-4;
/// Events within one step; a motion with more slides along a surface.
const EVENTS_MAX: u32 = 1000;
/// Weight of the derivative at the end of a step of the trapezoidal rule.
const TRAPEZOIDAL: f64 = 0.5;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Inline {
    info: InlineInfo,
    start: f64,
    step: f64,
    /// Where the present step ends.
    pub(crate) end: f64,
    at_event: Vec<AtEvent>,
    /// Events in the step that ends there.
    n_events: u32,
    counted_to: f64,
}

/// A variable at an event.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct AtEvent {
    /// Where the short step began: the left limit, or what a `reinit` has written.
    begun: f64,
    /// What the event step has found.
    after: f64,
    derivative: f64,
    jumps: bool,
    right: f64,
}

impl Inline {
    /// `None` for a model whose states are all integrated.
    pub(crate) fn new(info: &ModelInfo, options: &Options) -> Result<Option<Inline>, OptionError> {
        let Some(inline) = info.inline.clone() else {
            return Ok(None);
        };
        let span = options.span();
        let interval = options.output_interval();
        let step = match options.inline_step.or(inline.step) {
            Some(step) => step,
            // A run of no length has no steps.
            None if span == 0.0 => 1.0,
            None => interval,
        };
        if !(step > 0.0 && step.is_finite() && span / step <= Options::ROWS_MAX) {
            return Err(OptionError::InlineStep(step));
        }
        let at_event = vec![AtEvent::default(); inline.states.len()];
        let mut inline = Inline {
            info: inline,
            start: options.start_time,
            step,
            end: options.start_time,
            at_event,
            n_events: 0,
            counted_to: options.start_time,
        };
        inline.next_end(options.start_time);
        Ok(Some(inline))
    }

    /// Before anything is evaluated: the shortest step begins at the present time.
    pub(crate) fn prepare(&self, values: &mut Values) {
        let t = values.time();
        let step_min =
            (STEP_MIN_PART * self.step).max(STEP_MIN_ULPS * time_resolution(t, self.step));
        write(values, self.info.step_min, step_min);
        write(values, self.info.ahead, step_min);
        write(values, self.info.time_old, t);
        self.set_weights(values, 1.0);
    }

    /// The first step begins at values that are known.
    pub(crate) fn begin_at_values(&self, values: &mut Values) {
        for state in &self.info.states {
            write(values, state.value_old, state.value.get(values));
        }
    }

    /// The step has come to its end, with these values.
    pub(crate) fn take_along(&mut self, values: &mut Values) {
        for state in &self.info.states {
            write(values, state.value_old, state.value.get(values));
            if let Some((derivative_old, _)) = state.memory {
                write(values, derivative_old, state.derivative.get(values));
            }
        }
        write(values, self.info.time_old, values.time());
        self.next_end(values.time());
    }

    /// An event begins, with the left limits in the values.
    pub(crate) fn event_begins(&mut self, values: &mut Values) {
        self.take_along(values);
        self.prepare(values);
    }

    /// The event step has ended: the next evaluation gives the derivatives after a jump.
    pub(crate) fn event_step_ended(&mut self, values: &mut Values) {
        for (at, state) in self.at_event.iter_mut().zip(&self.info.states) {
            at.begun = values.get(state.value_old);
            at.after = state.value.get(values);
            at.derivative = state.derivative.get(values);
            write(values, state.value_old, at.after);
        }
    }

    /// These are they: the next evaluation gives the right limits.
    pub(crate) fn jumps_known(&mut self, values: &mut Values) {
        let h = values.get(self.info.step_min);
        for (at, state) in self.at_event.iter_mut().zip(&self.info.states) {
            let derivative = state.derivative.get(values);
            at.jumps = !is_same(at.derivative, derivative);
            at.right = if at.jumps { at.after } else { at.begun };
            write(values, state.value_old, at.right - h * derivative);
        }
        write(values, self.info.ahead, 0.0);
    }

    /// These are the right limits.
    pub(crate) fn event_ends(&self, values: &mut Values) {
        for (at, state) in self.at_event.iter().zip(&self.info.states) {
            write(values, state.value_old, at.right);
            if let Some((derivative_old, _)) = state.memory {
                write(values, derivative_old, state.derivative.get(values));
            }
        }
        self.set_weights(values, TRAPEZOIDAL);
    }

    /// After the right limits at the start: a variable whose start value the equations do not allow, with that value and the one it jumped to.
    pub(crate) fn jump_at_start(&self) -> Option<(Slot, f64, f64)> {
        let mut states = self.at_event.iter().zip(&self.info.states);
        let moved = |at: &AtEvent| {
            let size = 1.0 + at.begun.abs().max(at.after.abs());
            at.jumps && (at.after - at.begun).abs() > START_JUMP_REL * size
        };
        let (at, state) = states.find(|(at, _)| moved(at))?;
        Some((state.value.slot, at.begun, at.after))
    }

    /// Counts the events of a step; if there are more than any motion has, how many, and since when.
    pub(crate) fn chatters(&mut self) -> Option<(u32, f64)> {
        if self.end != self.counted_to {
            self.counted_to = self.end;
            self.n_events = 0;
        }
        self.n_events += 1;
        (self.n_events > EVENTS_MAX).then_some((self.n_events, self.end - self.step))
    }

    /// The variable that a slot is the left value of.
    pub(crate) fn variable_of(&self, slot: Slot) -> Option<Slot> {
        let state = self.info.states.iter().find(|s| s.value_old == slot)?;
        Some(state.value.slot)
    }

    /// The method, if it is the same for all.
    pub(crate) fn method_name(&self) -> &'static str {
        match self.info.states.split_first() {
            Some((first, rest)) if rest.iter().all(|s| s.method == first.method) => first.method,
            _ => "inline",
        }
    }

    fn set_weights(&self, values: &mut Values, weight: f64) {
        for state in &self.info.states {
            if let Some((_, slot)) = state.memory {
                write(values, slot, weight);
            }
        }
    }

    /// The first end of a step that is not too near after `t`.
    fn next_end(&mut self, t: f64) {
        let mut k = ((t - self.start) / self.step).floor() + 1.0;
        if self.start + k * self.step <= t + SLIVER * self.step {
            k += 1.0;
        }
        self.end = self.start + k * self.step;
    }
}

/// Whether two derivatives differ by less than a jump makes them.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_REL * (a.abs() + b.abs())
}

/// On both sides: what the simulator keeps does not change at events.
fn write(values: &mut Values, slot: Slot, value: f64) {
    values.v[slot.index()] = value;
    values.pre[slot.index()] = value;
}
