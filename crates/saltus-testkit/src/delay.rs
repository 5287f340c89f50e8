//! x'(t) = -x(t - 1), x = 1 for t ≤ 0: a delay through `completed_step` and `step_size_max`, breaking points as time events.
//! Exact: Σ (-1)^k (t - k + 1)^k / k!, k up to floor(t) + 1.

use saltus_model::hand::{Code, HandModel, Layout};
use saltus_model::{
    CodeId, Model, ScheduleKind, Section, Slot, StateSlots, Status, StepPoint, Values,
};

/// Steps are short enough that the cubic pieces of the history do not limit the accuracy: h⁴/384 · |x''''| < 1e-12.
const STEP_SIZE_MAX: f64 = 1.0 / 256.0;

#[derive(Clone, Debug)]
struct DelayCode {
    state: StateSlots,
    /// (t, x, x') at accepted points.
    history: Vec<(f64, f64, f64)>,
}

impl DelayCode {
    fn past(&self, t: f64) -> f64 {
        if t <= 0.0 {
            return 1.0;
        }
        let next = self.history.partition_point(|point| point.0 < t);
        let Some(&(t1, x1, d1)) = self.history.get(next) else {
            // Only while the very first points are being recorded.
            return self.history.last().map_or(1.0, |point| point.1);
        };
        if next == 0 || t1 == t {
            return x1;
        }
        let (t0, x0, d0) = self.history[next - 1];
        let h = t1 - t0;
        let s = (t - t0) / h;
        let (a, b) = (s * s * (3.0 - 2.0 * s), s * s * (s - 1.0));
        x0 * (1.0 - a) + x1 * a + h * (d0 * (s * (1.0 - s) * (1.0 - s)) + d1 * b)
    }
}

impl Code for DelayCode {
    fn run(&self, _code: CodeId, values: &mut Values) -> Status {
        let derivative = -self.past(values.time() - 1.0);
        values.set(self.state.derivative, derivative);
        Ok(())
    }

    fn next_time_event(&self, values: &Values) -> f64 {
        values.time().floor() + 1.0
    }

    fn completed_step(&mut self, values: &Values, _point: StepPoint) {
        let point = (
            values.time(),
            values.get(self.state.value),
            values.get(self.state.derivative),
        );
        match self.history.last_mut() {
            Some(last) if last.0 == point.0 => *last = point,
            _ => self.history.push(point),
        }
    }

    fn step_size_max(&self, _values: &Values) -> f64 {
        STEP_SIZE_MAX
    }
}

pub fn delayed_decay() -> impl Model {
    let mut layout = Layout::new("DelayedDecay");
    let state = layout.state("x", 1.0);
    let code = [Section::Explicit(CodeId(0))];
    for kind in [
        ScheduleKind::Derivatives,
        ScheduleKind::Event,
        ScheduleKind::Initial,
    ] {
        layout.schedule(kind, &code);
    }
    HandModel::new(
        layout,
        DelayCode {
            state,
            history: Vec::new(),
        },
    )
}

/// Slot of x.
pub const DELAYED_STATE: Slot = Slot(1);

/// The exact solution.
pub fn delayed_decay_exact(t: f64) -> f64 {
    let mut sum = 0.0;
    let mut factorial = 1.0;
    for k in 0..=(t.floor() as i32 + 1) {
        if k > 0 {
            factorial *= f64::from(k);
        }
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        sum += sign * (t - f64::from(k) + 1.0).powi(k) / factorial;
    }
    sum
}
