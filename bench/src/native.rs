//! The right-hand side of compiled models against functions written by hand.
//!
//! Both compute the derivatives of all states from the states, with the same formulas; the compiled model also stores its
//! other variables and checks that they are finite.

use crate::measure::{interleaved, thread_seconds};
use crate::report::{Section, seconds};
use saltus::Execution;
use saltus_model::{Instance, Model, ScheduleKind, StateSlots, System, Values};
use std::f64::consts::PI;
use std::hint::black_box;

/// One line of the table; seconds per evaluation.
struct RightHandSide {
    name: &'static str,
    native: f64,
    interpreted: f64,
    hand: f64,
    /// Seconds to compile it.
    compiling: f64,
    /// Largest difference of a derivative, relative to the largest derivative.
    difference: f64,
}

/// Evaluations per round.
const REPEATS: usize = 2000;

/// Masses of the chain.
const LINKS: usize = 100;

/// Both models.
pub(crate) fn right_hand_sides() -> Section {
    let row = |r: RightHandSide| {
        vec![
            r.name.to_owned(),
            seconds(r.native),
            seconds(r.hand),
            format!("{:.2}", r.native / r.hand),
            seconds(r.interpreted),
            seconds(r.compiling),
            format!("{:.1e}", r.difference),
        ]
    };
    Section {
        title: "Right-hand sides as machine code".to_owned(),
        text: "One evaluation of all derivatives: compiled from Modelica, written by hand in Rust, interpreted.".to_owned(),
        header: vec!["model", "compiled", "by hand", "ratio", "interpreted", "to compile", "difference"],
        rows: vec![row(rotor()), row(chain())],
        picture: None,
    }
}

/// A rotor in contact with its stator: 8 states, five calls of the mathematical library.
fn rotor() -> RightHandSide {
    let text = include_str!("../../models/rotor-stator/model.mo");
    let rotor = Rotor::new();
    let names = ["Xr", "Vxr", "Yr", "Vyr", "Xs", "Vxs", "Ys", "Vys"].map(str::to_owned);
    compare(
        "rotor-stator",
        text,
        "RotorStator",
        "contact",
        &names,
        move |t, x, dx| rotor.derivatives(t, x, dx),
    )
}

/// Masses on a line, with a spring and a damper between neighbours and to the wall at the left end.
fn chain() -> RightHandSide {
    let text = format!(
        "model Chain
           parameter Integer n = {LINKS};
           parameter Real m = 0.1, c = 1000, d = 2;
           Real s[n](each start = 0), v[n](each start = 0), f[n + 1];
         equation
           f[1] = c*s[1] + d*v[1];
           for i in 2:n loop
             f[i] = c*(s[i] - s[i - 1]) + d*(v[i] - v[i - 1]);
           end for;
           f[n + 1] = sin(time);
           for i in 1:n loop
             der(s[i]) = v[i];
             der(v[i]) = (f[i + 1] - f[i])/m;
           end for;
         end Chain;"
    );
    let names: Vec<String> = ["s", "v"]
        .iter()
        .flat_map(|x| (1..=LINKS).map(move |i| format!("{x}[{i}]")))
        .collect();
    compare(
        "chain of 100 links",
        &text,
        "Chain",
        "",
        &names,
        |t, x, dx| {
            chain_derivatives(black_box(&[0.1, 1000.0, 2.0]), t, x, dx);
        },
    )
}

fn compare(
    name: &'static str,
    text: &str,
    class: &str,
    truth: &str,
    names: &[String],
    hand: impl Fn(f64, &[f64], &mut [f64]),
) -> RightHandSide {
    let mut session = saltus::Session::new();
    session.set_text("model.mo", text);
    let compiled = session.compile(class).unwrap_or_else(|e| panic!("{e}"));
    let instance = |execution| {
        let model = compiled.compiled().clone().with_execution(execution);
        let mut instance = model.instantiate();
        let mut values = instance.bind(0.0, &[]).expect("parameters can be computed");
        values.v[0] = 0.3;
        for (i, state) in instance
            .system(&values)
            .states()
            .to_vec()
            .iter()
            .enumerate()
        {
            values.set(state.value, (0.1 + i as f64).sin());
        }
        if let Some(v) = model.info().variables.iter().find(|v| v.name == truth) {
            values.set(v.slot, 1.0);
        }
        (instance, values)
    };
    let (native, mut values) = instance(Execution::Native);
    let (interpreted, mut values_interpreted) = instance(Execution::Interpreted);
    let system = native.system(&values);
    let info = compiled.info();
    let state = |name: &String| {
        let variable = info.variables.iter().find(|v| v.name == *name);
        let slot = variable.expect("the model has the state").slot;
        let found = system.states().iter().find(|s| s.value == slot);
        *found.expect("the variable is a state")
    };
    let states: Vec<StateSlots> = names.iter().map(state).collect();
    let x: Vec<f64> = states.iter().map(|s| values.get(s.value)).collect();
    let mut dx = vec![0.0; x.len()];
    hand(values.time(), &x, &mut dx);
    let begin = thread_seconds();
    derivatives(system, &mut values);
    let compiling = thread_seconds() - begin;
    let largest = dx.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    let difference = states
        .iter()
        .zip(&dx)
        .map(|(s, dx)| (values.get(s.derivative) - dx).abs() / largest)
        .fold(0.0, f64::max);
    let medians = interleaved(&mut [
        &mut || repeat(|| derivatives(native.system(&values), black_box(&mut values))),
        &mut || {
            repeat(|| {
                let system = interpreted.system(&values_interpreted);
                derivatives(system, black_box(&mut values_interpreted));
            });
        },
        &mut || repeat(|| hand(black_box(0.3), black_box(&x), black_box(&mut dx))),
    ]);
    let each = |i: usize| medians[i] / REPEATS as f64;
    RightHandSide {
        name,
        native: each(0),
        interpreted: each(1),
        hand: each(2),
        compiling,
        difference,
    }
}

fn repeat(mut f: impl FnMut()) {
    for _ in 0..REPEATS {
        f();
    }
}

fn derivatives(system: &impl System, values: &mut Values) {
    for section in system.schedule(ScheduleKind::Derivatives) {
        match section {
            saltus_model::Section::Explicit(code) => {
                system.run(*code, values).expect("it can be evaluated")
            }
            _ => panic!("these models have no systems of equations"),
        }
    }
}

fn chain_derivatives(parameters: &[f64; 3], time: f64, x: &[f64], dx: &mut [f64]) {
    let [m, c, d] = *parameters;
    let (s, v) = x.split_at(LINKS);
    let (ds, dv) = dx.split_at_mut(LINKS);
    let mut left = c * s[0] + d * v[0];
    for i in 0..LINKS {
        let right = if i + 1 < LINKS {
            c * (s[i + 1] - s[i]) + d * (v[i + 1] - v[i])
        } else {
            time.sin()
        };
        ds[i] = v[i];
        dv[i] = (right - left) / m;
        left = right;
    }
}

/// What does not change during a run; see `models/rotor-stator`.
struct Rotor {
    x0: f64,
    y0: f64,
    e: f64,
    mu: f64,
    a_r: f64,
    a_s: f64,
    a_h: f64,
    zeta_r: f64,
    zeta_s: f64,
    zeta_h: f64,
}

impl Rotor {
    fn new() -> Rotor {
        let (m_r, m_s, clearance, omega) = (8.0, 20.0, 0.024, 101.0);
        let m_h = m_r * m_s / (m_r + m_s);
        let speed = |k: f64, m: f64| (k / m).sqrt() * 2.0 * PI / omega;
        let damping = |c: f64, k: f64, m: f64| c / (2.0 * (k * m).sqrt());
        black_box(Rotor {
            x0: 0.0239 / clearance,
            y0: 1e-6 / clearance,
            e: 0.00999 / clearance,
            mu: 0.002,
            a_r: speed(8e5, m_r),
            a_s: speed(7e5, m_s),
            a_h: speed(1e5, m_h),
            zeta_r: damping(150.0, 8e5, m_r),
            zeta_s: damping(2e4, 7e5, m_s),
            zeta_h: damping(7.0, 1e5, m_h),
        })
    }

    /// States: positions and velocities in turn, of the rotor in x and y, of the stator in x and y. In contact.
    fn derivatives(&self, time: f64, x: &[f64], dx: &mut [f64]) {
        let [xr, vxr, yr, vyr, xs, vxs, ys, vys] = *x else {
            panic!("8 states");
        };
        let (rx, ry) = (xr - (xs + self.x0), yr - (ys + self.y0));
        let depth = (rx * rx + ry * ry).sqrt() - 1.0;
        let (sin, cos) = ry.atan2(rx).sin_cos();
        let rate = (vxr - vxs) * cos + (vyr - vys) * sin;
        let force = self.a_h * self.a_h * depth + 2.0 * self.zeta_h * self.a_h * rate;
        let (px, py) = (-cos + self.mu * sin, -sin - self.mu * cos);
        let (rotor_d, rotor_k) = (2.0 * self.zeta_r * self.a_r, self.a_r * self.a_r);
        let (stator_d, stator_k) = (2.0 * self.zeta_s * self.a_s, self.a_s * self.a_s);
        let (turn_sin, turn_cos) = (2.0 * PI * time).sin_cos();
        let drive = (2.0 * PI) * (2.0 * PI) * self.e;
        dx[0] = vxr;
        dx[1] = -(rotor_d * vxr + rotor_k * xr) + drive * turn_cos + force * px;
        dx[2] = vyr;
        dx[3] = -(rotor_d * vyr + rotor_k * yr) + drive * turn_sin + force * py;
        dx[4] = vxs;
        dx[5] = -(stator_d * vxs + stator_k * xs) - force * px;
        dx[6] = vys;
        dx[7] = -(stator_d * vys + stator_k * ys) - force * py;
    }
}
