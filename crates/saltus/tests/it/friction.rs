//! Random bodies on a line with dry friction and stops against an exact event-driven reference that tries all modes ([`reference`]), in each formulation of
//! `library/Saltus` and in spellings of its equations. `SALTUS_CASES` asks for more of them.

mod reference;

use crate::mdtest::root;
use reference::{Bodies, Force, Friction, NoAnswer, Stop};
use saltus::Session;
use std::fmt::Write as _;

/// Cases of all kinds together.
const CASES: usize = 200;
const T_END: f64 = 5.0;
const TOLERANCE: f64 = 1e-9;
/// Largest deviation, relative to 1 or the value.
const DEVIATION_MAX: f64 = 1e-6;

/// How the model states dry friction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Spelling {
    /// Classes of the library.
    Constraint,
    Curve,
    Dfsm,
    Net,
    /// Each of them in turn.
    Mixed,
    /// The constraint with the mode as coefficient.
    Coefficient,
    /// The constraint with two branches of an equation.
    IfEquation,
}

impl Spelling {
    /// These have the relative velocity as a state, so that there can be no more of them than bodies.
    const OF_STATES: [Spelling; 4] = [
        Spelling::Curve,
        Spelling::Dfsm,
        Spelling::Net,
        Spelling::Mixed,
    ];
    const ANYWHERE: [Spelling; 3] = [
        Spelling::Constraint,
        Spelling::Coefficient,
        Spelling::IfEquation,
    ];

    fn class(self, k: usize) -> &'static str {
        match self {
            Spelling::Constraint => "FrictionConstraint",
            Spelling::Curve => "FrictionCurve",
            Spelling::Dfsm => "FrictionDFSM",
            Spelling::Net => "FrictionNet",
            Spelling::Mixed => [
                "FrictionConstraint",
                "FrictionCurve",
                "FrictionDFSM",
                "FrictionNet",
            ][k % 4],
            Spelling::Coefficient | Spelling::IfEquation => "Own",
        }
    }

    /// The equations of the class `Own`.
    fn own(self) -> Option<String> {
        let machine = "mode = if pre(mode) == 1 then (if v < 0 then 0 else 1) elseif pre(mode) == -1 then (if v > 0 then 0 else -1)
          elseif f > Fs then 1 elseif f < -Fs then -1 else 0;";
        let start = "pre(mode) = if v > 0 then 1 elseif v < 0 then -1 else 0;";
        let text = match self {
            Spelling::Coefficient => format!(
                "Integer mode(start = 0); Integer slides; initial equation {start} equation {machine}
                slides = if mode == 0 then 0 else 1; 0 = (1 - slides)*v + slides*(f - mode*Fd);"
            ),
            Spelling::IfEquation => format!(
                "Integer mode(start = 0); initial equation {start} equation {machine}
                if mode == 0 then v = 0; else f = mode*Fd; end if;"
            ),
            _ => return None,
        };
        Some(format!(
            " model Own extends Saltus.Mechanics.Interfaces.Friction; {text} end Own;\n"
        ))
    }
}

/// Whether a run may end with an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Refusal {
    No,
    /// The formulation has no solution in some cases; none may be wrong without an error.
    Allowed,
}

/// What the bodies of a case have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) peak: bool,
    pub(crate) stops: bool,
    /// Friction against the ground and against each other.
    pub(crate) loops: bool,
}

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    fn one_of(&mut self, values: &[f64]) -> f64 {
        values[self.below(values.len())]
    }

    /// With two digits after the point.
    fn between(&mut self, a: f64, b: f64) -> f64 {
        ((a + (b - a) * self.unit()) * 100.0).round() / 100.0
    }

    fn or_zero(&mut self, a: f64, b: f64) -> f64 {
        let value = self.between(a, b);
        if self.below(2) == 0 { 0.0 } else { value }
    }
}

pub(crate) fn random_bodies(random: &mut Random, kind: Kind) -> Bodies {
    let n = 1 + random.below(if kind.loops { 4 } else { 6 });
    // With round numbers limits are reached together now and then.
    let round = random.below(2) == 0;
    let size = |random: &mut Random| {
        let x = random.between(0.5, 4.0);
        if round { (2.0 * x).round() / 2.0 } else { x }
    };
    let masses: Vec<f64> = (0..n).map(|_| size(random)).collect();
    let mut frictions = Vec::new();
    for body in 0..n {
        let grounded = body == 0 || kind.loops && random.below(2) == 0;
        let below = [grounded.then_some(None), body.checked_sub(1).map(Some)];
        for below in below.into_iter().flatten() {
            let slides = size(random);
            let peak = if kind.peak {
                random.one_of(&[1.0, 1.2, 1.5])
            } else {
                1.0
            };
            frictions.push(Friction {
                below,
                body,
                limits: (peak * slides, slides),
            });
        }
    }
    let mut forces = Vec::new();
    for body in 0..n {
        if body + 1 == n || random.below(3) == 0 {
            forces.push(Force {
                body,
                constant: random.or_zero(-3.0, 3.0),
                amplitude: random.or_zero(1.0, 8.0),
                omega: random.between(0.5, 4.0),
                step_time: random.between(0.5, 3.0),
                step: random.or_zero(-6.0, 6.0),
            });
        }
    }
    let velocities = (0..n).map(|_| random.or_zero(-2.0, 2.0)).collect();
    let mut stops: Vec<Stop> = Vec::new();
    for _ in 0..if kind.stops { 1 + random.below(2) } else { 0 } {
        let side = random.one_of(&[-1.0, 1.0]);
        let body = random.below(n);
        let stop = Stop {
            body,
            wall: side * random.between(0.2, 1.5),
            side,
            restitution: random.one_of(&[0.0, 0.0, 0.3, 0.5, 0.9]),
        };
        if stops.iter().all(|s| (s.body, s.side) != (body, side)) {
            stops.push(stop);
        }
    }
    Bodies {
        masses,
        velocities,
        frictions,
        forces,
        stops,
    }
}

pub(crate) fn model_text(bodies: &Bodies, spelling: Spelling) -> String {
    let mut declared = String::new();
    let mut equations = String::new();
    let (d, e) = (&mut declared, &mut equations);
    let _ = writeln!(d, "model M import Saltus.Mechanics.*; Fixed g;");
    let _ = write!(d, "{}", spelling.own().unwrap_or_default());
    for (i, (m, v)) in bodies.masses.iter().zip(&bodies.velocities).enumerate() {
        let _ = writeln!(
            d,
            " Mass b{i}(m = {m}, s(start = 0, fixed = true), v(start = {v}, fixed = true));"
        );
    }
    for (k, f) in bodies.frictions.iter().enumerate() {
        let (class, (peak, slides)) = (spelling.class(k), f.limits);
        let _ = writeln!(d, " {class} fr{k}(Fs = {peak}, Fd = {slides});");
        let below = f
            .below
            .map_or("g.flange".to_owned(), |b| format!("b{b}.flange_b"));
        let body = f.body;
        let _ = writeln!(
            e,
            " connect({below}, fr{k}.flange_a); connect(fr{k}.flange_b, b{body}.flange_a);"
        );
    }
    for (k, f) in bodies.forces.iter().enumerate() {
        let _ = writeln!(d, " Force F{k};");
        let (constant, amplitude, omega) = (f.constant, f.amplitude, f.omega);
        let step = match f.step {
            0.0 => String::new(),
            step => format!(" + (if time > {} then {step} else 0)", f.step_time),
        };
        let body = f.body;
        let _ = writeln!(
            e,
            " F{k}.f = {constant} + {amplitude}*sin({omega}*time){step}; connect(F{k}.flange, b{body}.flange_b);"
        );
    }
    for (j, s) in bodies.stops.iter().enumerate() {
        let (body, wall, restitution) = (s.body, s.wall, s.restitution);
        let _ = writeln!(
            d,
            " EndStop st{j}(gap = 0, e = {restitution}); Fixed w{j}(s0 = {wall});"
        );
        let (a, b) = (format!("b{body}.flange_b"), format!("w{j}.flange"));
        let (a, b) = if s.side > 0.0 { (a, b) } else { (b, a) };
        let _ = writeln!(
            e,
            " connect({a}, st{j}.flange_a); connect(st{j}.flange_b, {b});"
        );
    }
    format!("{declared}equation\n{equations}end M;\n")
}

/// Runs cases until so many have an answer, and lists those that are not right.
fn check(kind: Kind, spellings: &[Spelling], refusal: Refusal, share: usize, seed: u64) {
    let cases = std::env::var("SALTUS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    let n = (cases * share / 100).max(1);
    let mut session = Session::new();
    session.add_library_path(root().join("library"));
    let mut wrong = String::new();
    let mut random = Random(seed);
    let mut done = 0;
    while done < n {
        let bodies = random_bodies(&mut random, kind);
        let (s, v) = match bodies.run(T_END) {
            Ok(answer) => answer,
            Err(NoAnswer::NoMode) => panic!("the reference finds no mode for {bodies:?}"),
            Err(NoAnswer::Ambiguous | NoAnswer::TooManyEvents | NoAnswer::Rests) => continue,
        };
        let spelling = spellings[done % spellings.len()];
        done += 1;
        let text = model_text(&bodies, spelling);
        session.set_text("M.mo", text.as_str());
        let run = session.compile("M").and_then(|model| {
            let run = model.experiment().stop_time(T_END).tolerance(TOLERANCE);
            run.intervals(1).simulate()
        });
        let found = match &run {
            Ok(run) => (0..s.len())
                .map(|i| {
                    let off = |name: &str, value: f64| {
                        let found = run.last(&format!("b{i}.{name}")).expect("is a variable");
                        (found - value).abs() / value.abs().max(1.0)
                    };
                    off("s", s[i]).max(off("v", v[i]))
                })
                .fold(0.0, f64::max),
            Err(_) if refusal == Refusal::Allowed => continue,
            Err(error) => {
                let _ = writeln!(wrong, "{spelling:?}: {error}\n{text}");
                continue;
            }
        };
        if found.is_nan() || found > DEVIATION_MAX {
            let _ = writeln!(wrong, "{spelling:?}: off by {found:e}\n{text}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn stacks_of_blocks_move_as_the_reference_does_in_each_formulation() {
    let kind = Kind {
        peak: false,
        stops: false,
        loops: false,
    };
    check(kind, &Spelling::OF_STATES, Refusal::No, 20, 1);
    check(kind, &Spelling::ANYWHERE, Refusal::No, 20, 2);
}

#[test]
fn stacks_with_a_larger_limit_at_rest_move_as_the_reference_does() {
    let kind = Kind {
        peak: true,
        stops: false,
        loops: false,
    };
    check(kind, &Spelling::OF_STATES, Refusal::No, 10, 3);
    check(kind, &Spelling::ANYWHERE, Refusal::No, 10, 4);
}

#[test]
fn friction_takes_no_impulse_where_stacks_strike_stops() {
    let kind = Kind {
        peak: false,
        stops: true,
        loops: false,
    };
    check(kind, &Spelling::OF_STATES, Refusal::No, 15, 5);
    // A constraint that a stop and friction state twice may end the run.
    check(kind, &Spelling::ANYWHERE, Refusal::Allowed, 15, 6);
}

#[test]
fn chains_with_more_frictions_than_bodies_are_never_silently_wrong() {
    let kind = Kind {
        peak: false,
        stops: true,
        loops: true,
    };
    check(kind, &Spelling::ANYWHERE, Refusal::Allowed, 10, 7);
}
