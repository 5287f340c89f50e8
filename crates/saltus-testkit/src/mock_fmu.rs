//! A component behind an FMI-like interface, and its adapter to the contract: what an imported FMU will need.
//!
//! The component is a black box with state of its own: set time and states, ask for derivatives and event indicators, enter event mode and
//! ask for new discrete states. The adapter holds it behind a `RefCell`, sets time and states before every question, maps each
//! indicator to a relation `z > 0`, and turns changed states into `reinit`s.

use saltus_model::hand::{Code, HandModel, Layout};
use saltus_model::{
    CodeId, CrossingClass, Model, ScheduleKind, Section, Slot, StateSlots, Status, StepPoint,
    Values,
};
use std::cell::RefCell;

/// The interface of a model-exchange component, as far as the tests need it.
pub trait Component {
    fn n_states(&self) -> usize;
    fn n_indicators(&self) -> usize;
    fn set_time(&mut self, t: f64);
    fn set_states(&mut self, x: &[f64]);
    fn states(&self, x: &mut [f64]);
    fn derivatives(&mut self, dx: &mut [f64]);
    fn indicators(&mut self, z: &mut [f64]);
    /// One event iteration: true if another one is needed.
    fn new_discrete_states(&mut self) -> bool;
    fn next_event_time(&self) -> f64;
    fn completed_step(&mut self);
}

/// A bouncing ball with restitution 0.85 whose contact logic is inside the component, and a lamp that toggles every second.
#[derive(Clone, Debug)]
pub struct BallComponent {
    t: f64,
    x: [f64; 2],
    pub lamp: bool,
    next_toggle: f64,
    pub steps: u32,
}

impl Default for BallComponent {
    fn default() -> BallComponent {
        BallComponent {
            t: 0.0,
            x: [1.0, 0.0],
            lamp: false,
            next_toggle: 1.0,
            steps: 0,
        }
    }
}

impl Component for BallComponent {
    fn n_states(&self) -> usize {
        2
    }

    fn n_indicators(&self) -> usize {
        1
    }

    fn set_time(&mut self, t: f64) {
        self.t = t;
    }

    fn set_states(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
    }

    fn states(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.x);
    }

    fn derivatives(&mut self, dx: &mut [f64]) {
        dx[0] = self.x[1];
        dx[1] = -9.81;
    }

    fn indicators(&mut self, z: &mut [f64]) {
        z[0] = self.x[0];
    }

    fn new_discrete_states(&mut self) -> bool {
        let mut changed = false;
        if self.x[0] <= 0.0 && self.x[1] < 0.0 {
            self.x[1] *= -0.85;
            changed = true;
        }
        if self.t >= self.next_toggle {
            self.lamp = !self.lamp;
            self.next_toggle += 1.0;
            changed = true;
        }
        changed
    }

    fn next_event_time(&self) -> f64 {
        self.next_toggle
    }

    fn completed_step(&mut self) {
        self.steps += 1;
    }
}

const DERIVATIVES: CodeId = CodeId(0);
const EVENT: CodeId = CodeId(1);
/// Iterations of `new_discrete_states`.
const ITERATIONS_MAX: usize = 100;

#[derive(Clone, Debug)]
struct FmuCode<K> {
    component: RefCell<K>,
    states: Vec<StateSlots>,
    relations: Vec<Slot>,
}

impl<K: Component> FmuCode<K> {
    fn set(&self, component: &mut K, values: &Values) {
        let x: Vec<f64> = self
            .states
            .iter()
            .map(|state| values.get(state.value))
            .collect();
        component.set_time(values.time());
        component.set_states(&x);
    }

    fn read_derivatives(&self, component: &mut K, values: &mut Values) {
        let mut dx = vec![0.0; self.states.len()];
        component.derivatives(&mut dx);
        for (state, dx) in self.states.iter().zip(dx) {
            values.set(state.derivative, dx);
        }
    }
}

impl<K: Component> Code for FmuCode<K> {
    fn run(&self, code: CodeId, values: &mut Values) -> Status {
        let component = &mut *self.component.borrow_mut();
        self.set(component, values);
        if code == EVENT {
            let mut iterations = 0;
            while component.new_discrete_states() && iterations < ITERATIONS_MAX {
                iterations += 1;
            }
            let mut x = vec![0.0; self.states.len()];
            component.states(&mut x);
            for (state, x) in self.states.iter().zip(x) {
                if values.get(state.value) != x {
                    values.actions.reinits.push((state.value, x));
                }
            }
            let mut z = vec![0.0; self.relations.len()];
            component.indicators(&mut z);
            for (relation, z) in self.relations.iter().zip(z) {
                values.set(*relation, f64::from(u8::from(z > 0.0)));
            }
        }
        self.read_derivatives(component, values);
        Ok(())
    }

    fn crossings(&self, values: &mut Values, out: &mut [f64]) -> Status {
        let component = &mut *self.component.borrow_mut();
        self.set(component, values);
        component.indicators(out);
        Ok(())
    }

    fn next_time_event(&self, _values: &Values) -> f64 {
        self.component.borrow().next_event_time()
    }

    fn completed_step(&mut self, _values: &Values, _point: StepPoint) {
        self.component.get_mut().completed_step();
    }
}

/// The component as a model.
pub fn adapt<K: Component + Clone>(component: K) -> impl Model {
    let mut layout = Layout::new("MockFmu");
    let mut start = vec![0.0; component.n_states()];
    component.states(&mut start);
    let states: Vec<StateSlots> = start
        .iter()
        .enumerate()
        .map(|(i, start)| layout.state(&format!("x[{}]", i + 1), *start))
        .collect();
    let relations = (0..component.n_indicators())
        .map(|i| {
            layout.relation(
                &format!("z[{}] > 0", i + 1),
                true,
                false,
                CrossingClass::General,
            )
        })
        .collect();
    layout.schedule(ScheduleKind::Derivatives, &[Section::Explicit(DERIVATIVES)]);
    layout.schedule(ScheduleKind::Event, &[Section::Explicit(EVENT)]);
    layout.schedule(ScheduleKind::Initial, &[Section::Explicit(EVENT)]);
    HandModel::new(
        layout,
        FmuCode {
            component: RefCell::new(component),
            states,
            relations,
        },
    )
}
