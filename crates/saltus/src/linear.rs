//! A model near a point: the linear system there, and the point at which nothing moves.
//!
//! Comes in: a run that stands somewhere. Relations and discrete variables are held: what is linearised is the motion of the mode in use. Columns are five-point differences of
//! fourth order (Abramowitz and Stegun, 25.3.6) of the solved equations, with every block solved to round-off; their error is about 1e-12 of the scale for smooth equations.
//! The point of rest is found by damped Newton iteration with that matrix, in one mode after the other.

mod poles;

use crate::error::Error;
use crate::model::{Model, signed};
use crate::simulator::Simulator;
use saltus_model::{Causality, Slot, ValueType, Values, VariableInfo};

/// Half the width of the five-point stencil's inner points, relative to the magnitude of what is varied: the error of the formula, its fourth power, is near round-off.
const STENCIL: f64 = 1e-3;

/// Steps of the Newton iteration in one mode.
const ITERATIONS_MAX: usize = 60;
/// Halvings of a Newton step that does not make the rates smaller.
const HALVINGS_MAX: usize = 12;
/// Modes, and stretches of time in between, that are tried.
const ROUNDS_MAX: usize = 16;
/// Stretches of time among them, each this much longer than the one before.
const WAITS_MAX: usize = 5;
const WAIT_GROWTH: f64 = 3.0;
/// A Newton step below this, relative to the magnitude of the states, is none.
const STEP_TOLERANCE: f64 = 1e-10;
/// A pivot below this, relative to the largest element of its column, is zero.
const PIVOT_TOLERANCE: f64 = 1e-12;

/// x' = A x + B u, y = C x + D u for small deviations from a point; matrices are row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct Linearization {
    pub time: f64,
    pub states: Vec<String>,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub a: Vec<Vec<f64>>,
    pub b: Vec<Vec<f64>>,
    pub c: Vec<Vec<f64>>,
    pub d: Vec<Vec<f64>>,
    /// The point: states, inputs and outputs, and the derivatives of the states.
    pub x: Vec<f64>,
    pub u: Vec<f64>,
    pub y: Vec<f64>,
    pub dx: Vec<f64>,
}

impl Model {
    /// The model linearised at a time of its run.
    ///
    /// ```
    /// let mut session = saltus::Session::new();
    /// session.set_text("Pendulum.mo", "
    ///   model Pendulum
    ///     input Real torque(start = 0);
    ///     Real phi(start = 0.5, fixed = true), w(start = 0, fixed = true);
    ///     output Real height = -cos(phi);
    ///   equation
    ///     der(phi) = w;
    ///     der(w) = -9.81*sin(phi) - 0.1*w + torque;
    ///   end Pendulum;");
    /// let model = session.compile("Pendulum")?;
    /// let linear = model.linearize(0.0)?;
    /// assert!((linear.a[1][0] + 9.81 * 0.5f64.cos()).abs() < 1e-9);
    /// assert!((linear.b[1][0] - 1.0).abs() < 1e-9);
    /// assert!((linear.c[0][0] - 0.5f64.sin()).abs() < 1e-9);
    ///
    /// let rest = model.steady_state()?;
    /// assert!(rest.get("phi")?.abs() < 1e-9);
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn linearize(&self, time: f64) -> Result<Linearization, Error> {
        let mut run = self.simulator()?;
        if time > run.time() {
            run.advance_to(time)?;
        }
        run.linearize()
    }

    /// A run that stands where nothing moves.
    pub fn steady_state(&self) -> Result<Simulator, Error> {
        let mut run = self.simulator()?;
        run.settle()?;
        Ok(run)
    }
}

/// What can be varied, and by how much.
struct Knob {
    name: String,
    slot: Slot,
    scale: f64,
}

/// States, and the slots of their derivatives.
struct Motion {
    states: Vec<Knob>,
    derivatives: Vec<Slot>,
}

impl Motion {
    fn rates(&self, values: &Values) -> Vec<f64> {
        self.derivatives
            .iter()
            .map(|slot| values.get(*slot))
            .collect()
    }

    /// The largest rate, in magnitudes of the states per second.
    fn speed(&self, values: &Values) -> f64 {
        let rates = self.rates(values).into_iter().zip(&self.states);
        rates
            .map(|(rate, state)| (rate / state.scale).abs())
            .fold(0.0, f64::max)
    }
}

impl Simulator {
    /// The linear system near where the run stands. Inputs are the Real inputs of the model; outputs its outputs.
    pub fn linearize(&self) -> Result<Linearization, Error> {
        let values = self.values_now()?;
        let motion = self.motion(&values)?;
        let variables = || self.model().info().variables.iter();
        let inputs: Vec<Knob> = variables()
            .filter(|v| v.causality == Causality::Input && v.ty == ValueType::Real && !v.negated)
            .map(|v| self.knob(&v.name, v.slot, &values))
            .collect();
        let outputs: Vec<&VariableInfo> = variables()
            .filter(|v| v.causality == Causality::Output && v.ty != ValueType::String)
            .collect();
        let read = |values: &Values| {
            let mut column = motion.rates(values);
            column.extend(outputs.iter().map(|v| signed(v, values.get(v.slot))));
            column
        };
        let n = motion.states.len();
        let rows = n + outputs.len();
        let columns = (motion.states.iter().chain(&inputs))
            .map(|knob| self.column(&values, knob, &read))
            .collect::<Result<Vec<_>, Error>>()?;
        let block = |rows: std::ops::Range<usize>, columns: &[Vec<f64>]| -> Vec<Vec<f64>> {
            rows.map(|row| columns.iter().map(|column| column[row]).collect())
                .collect()
        };
        let (of_states, of_inputs) = columns.split_at(n);
        let here = read(&values);
        let at = |knobs: &[Knob]| knobs.iter().map(|knob| values.get(knob.slot)).collect();
        let names = |knobs: &[Knob]| knobs.iter().map(|knob| knob.name.clone()).collect();
        Ok(Linearization {
            time: self.time(),
            a: block(0..n, of_states),
            b: block(0..n, of_inputs),
            c: block(n..rows, of_states),
            d: block(n..rows, of_inputs),
            x: at(&motion.states),
            u: at(&inputs),
            y: here[n..].to_vec(),
            dx: here[..n].to_vec(),
            states: names(&motion.states),
            inputs: names(&inputs),
            outputs: outputs.iter().map(|v| v.name.clone()).collect(),
        })
    }

    fn motion(&self, values: &Values) -> Result<Motion, Error> {
        let slots = self.state_slots()?;
        let states = slots
            .iter()
            .map(|(name, state)| self.knob(name, state.value, values));
        Ok(Motion {
            states: states.collect(),
            derivatives: slots.iter().map(|(_, state)| state.derivative).collect(),
        })
    }

    fn knob(&self, name: &str, slot: Slot, values: &Values) -> Knob {
        let nominal = self
            .model()
            .info()
            .slots
            .get(slot.index())
            .map_or(1.0, |s| s.nominal);
        let nominal = if nominal.is_finite() && nominal > 0.0 {
            nominal
        } else {
            1.0
        };
        Knob {
            name: name.to_owned(),
            slot,
            scale: values.get(slot).abs().max(nominal),
        }
    }

    /// The derivative of what is read with respect to one of the knobs.
    fn column(
        &self,
        values: &Values,
        knob: &Knob,
        read: &impl Fn(&Values) -> Vec<f64>,
    ) -> Result<Vec<f64>, Error> {
        let x = values.get(knob.slot);
        // A step that is a number of the machine, so that the points are where they are meant to be.
        let h = (x + STENCIL * knob.scale) - x;
        let at = |steps: f64| -> Result<Vec<f64>, Error> {
            let there = self.values_with(values, &[(knob.slot, x + steps * h)])?;
            Ok(read(&there))
        };
        let (far_left, left, right, far_right) = (at(-2.0)?, at(-1.0)?, at(1.0)?, at(2.0)?);
        let rows = 0..left.len();
        Ok(rows
            .map(|k| (8.0 * (right[k] - left[k]) - (far_right[k] - far_left[k])) / (12.0 * h))
            .collect())
    }

    /// Moves the states to where nothing moves: by Newton iteration, and where that does not come to an end, after the motion of a while. Events on the way happen.
    pub fn settle(&mut self) -> Result<(), Error> {
        self.initialise()?;
        let span = self.model().info().experiment;
        let mut wait = (span.stop_time - span.start_time)
            .abs()
            .max(f64::MIN_POSITIVE);
        let mut why = String::new();
        let mut waits = 0;
        for _ in 0..ROUNDS_MAX {
            match self.newton() {
                Ok(states) => {
                    for (name, value) in states {
                        self.set(&name, value)?;
                    }
                    // The event at which they change; other relations may hold after it.
                    self.advance_to(self.time())?;
                    let values = self.values_now()?;
                    let motion = self.motion(&values)?;
                    if motion.speed(&values) * wait <= STEP_TOLERANCE.sqrt() {
                        return Ok(());
                    }
                    why = "another mode is entered at the point of rest of each".to_owned();
                }
                Err(Fail::Error(error)) => return Err(error),
                Err(Fail::Why(text)) => {
                    why = text;
                    self.advance_to(self.time() + wait)?;
                    wait *= WAIT_GROWTH;
                    waits += 1;
                    if waits == WAITS_MAX {
                        break;
                    }
                }
            }
        }
        let moving = self.moving()?;
        Err(Error::Usage(format!(
            "no point at which nothing moves was found up to time {}: {why}{moving}; start nearer to it, or hold what moves on: \
             a position without a spring, an angle that turns, a source that depends on time",
            self.time()
        )))
    }

    /// The states that move fastest for their size, for a message.
    fn moving(&self) -> Result<String, Error> {
        /// So many are named.
        const NAMED: usize = 3;
        let values = self.values_now()?;
        let motion = self.motion(&values)?;
        let mut speeds: Vec<(f64, f64, &str)> = (motion.rates(&values).into_iter())
            .zip(&motion.states)
            .map(|(rate, state)| ((rate / state.scale).abs(), rate, state.name.as_str()))
            .filter(|(speed, ..)| *speed > STEP_TOLERANCE)
            .collect();
        speeds.sort_by(|a, b| b.0.total_cmp(&a.0));
        let named: Vec<String> = (speeds.iter().take(NAMED))
            .map(|(_, rate, name)| format!("`{name}` ({rate:.3e} per second)"))
            .collect();
        Ok(match named.is_empty() {
            true => String::new(),
            false => format!("; what still moves: {}", named.join(", ")),
        })
    }

    /// The states at which their derivatives are zero, in this mode.
    fn newton(&self) -> Result<Vec<(String, f64)>, Fail> {
        let mut values = self.values_now()?;
        let motion = self.motion(&values)?;
        let read = |values: &Values| motion.rates(values);
        for _ in 0..ITERATIONS_MAX {
            let columns = (motion.states.iter())
                .map(|knob| self.column(&values, knob, &read))
                .collect::<Result<Vec<_>, Error>>()?;
            let step = solve(&columns, &motion.rates(&values)).map_err(|k| {
                Fail::Why(format!(
                    "nothing brings `{}` to a rest",
                    motion.states[k].name
                ))
            })?;
            let size = (step.iter().zip(&motion.states))
                .map(|(step, state)| (step / state.scale).abs())
                .fold(0.0, f64::max);
            let before = motion.speed(&values);
            let mut share = 1.0;
            let mut next = None;
            for _ in 0..HALVINGS_MAX {
                let moved: Vec<(Slot, f64)> = (motion.states.iter().zip(&step))
                    .map(|(state, step)| (state.slot, values.get(state.slot) - share * step))
                    .collect();
                // A point at which the equations have no solution is too far.
                if let Ok(there) = self.values_with(&values, &moved)
                    && (motion.speed(&there) < before || size <= STEP_TOLERANCE)
                {
                    next = Some(there);
                    break;
                }
                share *= 0.5;
            }
            match next {
                Some(there) => values = there,
                None if size <= STEP_TOLERANCE.sqrt() => {}
                None => {
                    return Err(Fail::Why(
                        "the Newton iteration does not come nearer to one".to_owned(),
                    ));
                }
            }
            if size <= STEP_TOLERANCE || before == 0.0 {
                let states = motion.states.iter();
                return Ok(states
                    .map(|s| (s.name.clone(), values.get(s.slot)))
                    .collect());
            }
        }
        Err(Fail::Why(format!(
            "{ITERATIONS_MAX} steps of the Newton iteration were not enough"
        )))
    }
}

enum Fail {
    /// The run itself has failed.
    Error(Error),
    Why(String),
}

impl From<Error> for Fail {
    fn from(error: Error) -> Fail {
        Fail::Error(error)
    }
}

/// Solves the system with these columns by elimination with row pivots; the column without one if it is singular.
fn solve(columns: &[Vec<f64>], right: &[f64]) -> Result<Vec<f64>, usize> {
    let n = right.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            columns
                .iter()
                .map(|column| column[i])
                .chain([right[i]])
                .collect()
        })
        .collect();
    for k in 0..n {
        let largest = columns[k].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let pivot = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs()));
        let pivot = pivot
            .filter(|&i| rows[i][k].abs() > PIVOT_TOLERANCE * largest)
            .ok_or(k)?;
        rows.swap(k, pivot);
        let (above, below) = rows.split_at_mut(k + 1);
        for row in below {
            let factor = row[k] / above[k][k];
            for j in k..=n {
                row[j] -= factor * above[k][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| rows[k][j] * x[j]).sum();
        x[k] = (rows[k][n] - known) / rows[k][k];
    }
    Ok(x)
}
