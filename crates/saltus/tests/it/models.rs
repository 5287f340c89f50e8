//! The whole-model cases of `models/`: each folder has `model.mo`, `expect.toml` and the event log `events.txt` ([`crate::event_snapshot`]), and the model is simulated.
//!
//! `expect.toml` (all keys but `stop_time` and `tolerance` may be left out):
//!
//! ```toml
//! start_time = 0
//! stop_time = 10
//! tolerance = 1e-10          # of the run
//! states = 2                 # number of continuous states
//! modes = 2                  # number of modes structured
//! events = 6                 # number of time, state and sliding events
//! event_times = [1.0, 2.5]   # of the time, state and sliding events, all of them, in order
//! sliding_segments = 1       # motions along surfaces
//! zeno_times = [5.6]         # where bounces come to their limit, and where a rest ends
//! event_tolerance = 1e-9     # seconds, for all times of events
//! ends_at = 2.5              # the model ends the run
//! fails = "assertion-failed" # the run fails with this code
//! fails_at = 2               # at this time
//! value_tolerance = 1e-8     # relative to the larger of the value and 1
//! fixme = "why"              # something of this is not so today; the test fails as soon as all of it is
//!
//! [values]                   # variable = [[time, value], …]
//! x = [[1, 0.5]]
//!
//! [impulses]                 # variable = [[time, weight], …], all of them, to value_tolerance
//! F = [[0.5, 2.0]]
//!
//! [changes]                  # variable = times at which it jumps, all of them
//! v = [0.45, 1.22]
//! ```

use crate::mdtest::{class_of, root};
use saltus::results::EventKind;
use saltus::{Error, Execution, Run, Session};
use std::fmt::Write as _;
use std::path::Path;

macro_rules! models {
    ($($name:ident: $folder:literal),* $(,)?) => {
        $(#[test]
        fn $name() {
            check(&root().join("models").join($folder));
        })*

        pub(crate) const FOLDERS: &[&str] = &[$($folder),*];
    };
}

models! {
    aliases_start_apart: "aliases-start-apart",
    assert_fails: "assert-fails",
    automaton_ball: "automaton-ball",
    automaton_pendulum: "automaton-pendulum",
    automaton_rendezvous: "automaton-rendezvous",
    automaton_schedule: "automaton-schedule",
    automaton_thermostat: "automaton-thermostat",
    automaton_train_gate: "automaton-train-gate",
    automaton_two_tanks: "automaton-two-tanks",
    ball_low_restitution: "ball-low-restitution",
    ball_on_moving_table: "ball-on-moving-table",
    ball_on_table: "ball-on-table",
    balls_in_array: "balls-in-array",
    balls_two: "balls-two",
    boolean_counter: "boolean-counter",
    bridge_floating_source: "bridge-floating-source",
    bridge_six_pulse: "bridge-six-pulse",
    bridge_twelve_pulse: "bridge-twelve-pulse",
    capacitors_connected: "capacitors-connected",
    clocked_inverse: "clocked-inverse",
    clutch_leaves_peak: "clutch-leaves-peak",
    clutch_locks: "clutch-locks",
    constraint_of_time: "constraint-of-time",
    cradle: "cradle",
    cubic_hysteresis: "cubic-hysteresis",
    cup_and_ball: "cup-and-ball",
    delay_equation: "delay-equation",
    delay_of_state: "delay-of-state",
    delay_ramp: "delay-ramp",
    delay_reflections: "delay-reflections",
    diode_rectifier: "diode-rectifier",
    discrete_starts_at_signal: "discrete-starts-at-signal",
    double_crossing: "double-crossing",
    double_crossing_periodic: "double-crossing-periodic",
    dummy_acceleration: "dummy-acceleration",
    end_stop_rests: "end-stop-rests",
    event_chain: "event-chain",
    external_constraint: "external-constraint",
    external_guide: "external-guide",
    feasible_damped: "feasible-damped",
    feasible_kernel: "feasible-kernel",
    feasible_solution: "feasible-solution",
    filament_pendulum: "filament-pendulum",
    floating_inductors: "floating-inductors",
    flow_begins: "flow-begins",
    flow_direction_initially: "flow-direction-initially",
    flow_rests: "flow-rests",
    four_bar: "four-bar",
    free_parameter: "free-parameter",
    free_parameter_final: "free-parameter-final",
    free_parameter_passed: "free-parameter-passed",
    free_parameter_product: "free-parameter-product",
    free_potentials: "free-potentials",
    freewheeling_diode: "freewheeling-diode",
    friction_above_limit_at_start: "friction-above-limit-at-start",
    friction_bounces_off_stop: "friction-bounces-off-stop",
    friction_curve: "friction-curve",
    friction_curve_sticks: "friction-curve-sticks",
    friction_two_masses: "friction-two-masses",
    friction_velocity: "friction-velocity",
    function_of_motion: "function-of-motion",
    generator_bridge: "generator-bridge",
    guarded_logarithm: "guarded-logarithm",
    harmonic_oscillator: "harmonic-oscillator",
    homotopy: "homotopy",
    hysteresis_boolean: "hysteresis-boolean",
    hysteresis_elsewhen: "hysteresis-elsewhen",
    hysteresis_integer: "hysteresis-integer",
    hysteresis_or: "hysteresis-or",
    hysteresis_vector_when: "hysteresis-vector-when",
    impact_on_stuck_mass: "impact-on-stuck-mass",
    index_switch: "index-switch",
    index_switch_back: "index-switch-back",
    initial_pre_selects_mode: "initial-pre-selects-mode",
    iterated_constraint: "iterated-constraint",
    iterated_guide: "iterated-guide",
    limiter: "limiter",
    limiter_of_time: "limiter-of-time",
    limiter_without_windup: "limiter-without-windup",
    linear_loop: "linear-loop",
    mass_stays: "mass-stays",
    mass_with_stop: "mass-with-stop",
    masses_in_row: "masses-in-row",
    masses_stick: "masses-stick",
    masses_stick_velocity: "masses-stick-velocity",
    masses_with_product: "masses-with-product",
    motion_by_rule: "motion-by-rule",
    multivibrator: "multivibrator",
    nearest_start: "nearest-start",
    node_saturated: "node-saturated",
    nonlinear_loop: "nonlinear-loop",
    output_never_reached: "output-never-reached",
    parallelogram_stretched: "parallelogram-stretched",
    peak_rectifier: "peak-rectifier",
    pendulum_angle: "pendulum-angle",
    pendulum_cartesian: "pendulum-cartesian",
    pendulum_cartesian_over: "pendulum-cartesian-over",
    pendulum_over_the_top: "pendulum-over-the-top",
    pi_controller: "pi-controller",
    plate_pendulum: "plate-pendulum",
    pre_in_derivative: "pre-in-derivative",
    pre_of_constant: "pre-of-constant",
    pre_of_folded: "pre-of-folded",
    pre_of_input: "pre-of-input",
    preferred_states: "preferred-states",
    pulse_modulator: "pulse-modulator",
    pulse_parameters: "pulse-parameters",
    quaternion_top: "quaternion-top",
    rc_circuit: "rc-circuit",
    records_and_functions: "records-and-functions",
    rectifier_curve: "rectifier-curve",
    rectifier_inductance: "rectifier-inductance",
    rectifier_inductance_inlined: "rectifier-inductance-inlined",
    rectifier_inductance_mixed: "rectifier-inductance-mixed",
    rectifier_inductance_products: "rectifier-inductance-products",
    rectifier_inductance_switch: "rectifier-inductance-switch",
    rectifier_products: "rectifier-products",
    rectifier_switch: "rectifier-switch",
    redundant_conditions: "redundant-conditions",
    reinit_initially: "reinit-initially",
    restitution_ball: "restitution-ball",
    restitution_ball_rests: "restitution-ball-rests",
    rigid_masses: "rigid-masses",
    rotating_frame: "rotating-frame",
    rotor_stator: "rotor-stator",
    sample_beside_floor: "sample-beside-floor",
    sample_once: "sample-once",
    sampled_controller: "sampled-controller",
    sampled_integrator: "sampled-integrator",
    sliding_friction: "sliding-friction",
    sliding_line: "sliding-line",
    sliding_relay: "sliding-relay",
    sliding_relay_leaves: "sliding-relay-leaves",
    smooth_release: "smooth-release",
    soft_collision: "soft-collision",
    sparse_block: "sparse-block",
    spring_ball: "spring-ball",
    stack_of_four_frictions: "stack-of-four-frictions",
    star_point: "star-point",
    star_point_windings: "star-point-windings",
    start_confidence: "start-confidence",
    start_released: "start-released",
    state_by_pivot: "state-by-pivot",
    steady_start: "steady-start",
    stiff_decay: "stiff-decay",
    string_pendulum: "string-pendulum",
    subscript_outside: "subscript-outside",
    subscript_outside_inlined: "subscript-outside-inlined",
    sum_that_others_are_divided_by: "sum-that-others-are-divided-by",
    switch_divider: "switch-divider",
    switch_opens_inductor: "switch-opens-inductor",
    table_lookup: "table-lookup",
    tangent_almost: "tangent-almost",
    tangent_touch: "tangent-touch",
    terminate: "terminate",
    third_derivative: "third-derivative",
    three_masses: "three-masses",
    three_masses_sequence: "three-masses-sequence",
    thyristor_load: "thyristor-load",
    thyristors_in_series: "thyristors-in-series",
    time_events: "time-events",
    transport_profile: "transport-profile",
    transport_reflections: "transport-reflections",
    transport_reversal: "transport-reversal",
    tunnel_diode: "tunnel-diode",
    turned_if: "turned-if",
    twelve_pulse_ideal: "twelve-pulse-ideal",
    two_balls: "two-balls",
    valve_closes: "valve-closes",
    vector_constraint: "vector-constraint",
    vehicle_glides: "vehicle-glides",
    vehicle_sticks: "vehicle-sticks",
    windings_at_right_angles: "windings-at-right-angles",
    zero_capacitance: "zero-capacitance",
    zero_gain: "zero-gain",
    zero_resistance: "zero-resistance",
}

#[test]
fn every_model_folder_is_tested() {
    let mut folders: Vec<String> = std::fs::read_dir(root().join("models"))
        .expect("the folder exists")
        .map(|entry| entry.expect("the folder can be read"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    assert_eq!(folders, FOLDERS);
}

fn check(folder: &Path) {
    let read = |name: &str| {
        let file = folder.join(name);
        std::fs::read_to_string(&file)
            .unwrap_or_else(|e| panic!("cannot read {}: {e}", file.display()))
    };
    let text = read("model.mo");
    let mut session = Session::new();
    session.add_library_path(root().join("library"));
    session.set_text("model.mo", text.clone());
    let class = class_of(&text);
    check_class(
        &mut session,
        &class,
        &read("expect.toml"),
        |run, problem| {
            crate::event_snapshot::compare(folder, run, problem);
        },
    );
}

/// Simulates a class and compares with the text of an `expect.toml`, and with what `more` wants.
pub(crate) fn check_class(
    session: &mut Session,
    class: &str,
    expect: &str,
    more: impl FnOnce(&Run, &mut String),
) {
    let expect = Expect::parse(expect);
    let compiled = session.compile(class).unwrap_or_else(|e| panic!("{e}"));
    let times = expect
        .values
        .iter()
        .flat_map(|(_, points)| points.iter().map(|[time, _]| *time));
    let intervals = intervals_that_hit(expect.start_time, expect.stop_time, times);
    let simulate = |execution| {
        let compiled = compiled.with_execution(execution);
        compiled
            .experiment()
            .start_time(expect.start_time)
            .stop_time(expect.stop_time)
            .tolerance(expect.tolerance)
            .intervals(intervals)
            .simulate()
    };
    let interpreted = simulate(Execution::Interpreted);
    same_bits(&interpreted, &simulate(Execution::Native));
    let mut problem = String::new();
    let run = match (interpreted, &expect.fails) {
        (Ok(run), None) => run,
        (Ok(run), Some((code, _))) => panic!(
            "expected [{code}], but the run came to {}",
            run.time_reached
        ),
        (Err(Error::Run(diagnostics, run)), Some((code, time))) => {
            if diagnostics.error_codes() != [code.as_str()] {
                let _ = writeln!(problem, "expected [{code}], got\n{diagnostics}");
            }
            if (run.time_reached - time).abs() > expect.event_tolerance {
                let _ = writeln!(
                    problem,
                    "expected to fail at {time}, the result ends at {}",
                    run.time_reached
                );
            }
            *run
        }
        (Err(error), _) => panic!("{error}"),
    };
    compare(&expect, &run, &mut problem);
    more(&run, &mut problem);
    match expect.fixme {
        Some(_) => assert!(
            !problem.is_empty(),
            "{class}: all is as expected now, remove `fixme`"
        ),
        None => assert!(problem.is_empty(), "{class}\n{problem}"),
    }
}

/// Interpreter and machine code give the same run, bit by bit.
fn same_bits(interpreted: &Result<Run, Error>, native: &Result<Run, Error>) {
    let (a, b) = match (interpreted, native) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(Error::Run(why, a)), Err(Error::Run(why_native, b))) => {
            assert_eq!(why.to_string(), why_native.to_string());
            (&**a, &**b)
        }
        (Err(error), _) | (_, Err(error)) => panic!("{error}"),
    };
    let bits = |x: &[f64]| -> Vec<u64> { x.iter().map(|x| x.to_bits()).collect() };
    assert_eq!(bits(a.table.time()), bits(b.table.time()), "rows differ");
    for ((name, x), (_, y)) in a.table.variables().zip(b.table.variables()) {
        let x = a.table.signal_of(x.source).to_vec();
        let y = b.table.signal_of(y.source).to_vec();
        assert_eq!(
            bits(&x),
            bits(&y),
            "`{name}`: machine code gives other bits"
        );
    }
    assert_eq!(a.event_log.len(), b.event_log.len(), "events differ");
    assert_eq!(a.statistics.rhs_evaluations, b.statistics.rhs_evaluations);
}

fn compare(expect: &Expect, run: &Run, problem: &mut String) {
    if let Some(n) = expect.states
        && run.statistics.states != n
    {
        let _ = writeln!(
            problem,
            "expected {n} states, got {}",
            run.statistics.states
        );
    }
    if let Some(n) = expect.modes
        && run.statistics.modes_structured != n
    {
        let _ = writeln!(
            problem,
            "expected {n} modes, got {}",
            run.statistics.modes_structured
        );
    }
    for (name, expected) in &expect.impulses {
        let got: Vec<[f64; 2]> = (run.events().iter())
            .flat_map(|e| e.impulses.iter().map(|impulse| (e.time, impulse)))
            .filter(|(_, impulse)| impulse.variable == *name)
            .map(|(time, impulse)| [time, impulse.value])
            .collect();
        let agree = got.len() == expected.len()
            && (got.iter().flatten().zip(expected.iter().flatten()))
                .all(|(g, e)| (g - e).abs() <= expect.value_tolerance * e.abs().max(1.0));
        if !agree {
            let _ = writeln!(
                problem,
                "impulses of `{name}`: expected {expected:?}, got {got:?}"
            );
        }
    }
    match (expect.ends_at, &run.terminated) {
        (Some(time), Some(_)) => {
            compare_times(
                "the end",
                &[time],
                &[run.time_reached],
                expect.event_tolerance,
                problem,
            );
        }
        (Some(time), None) => {
            let _ = writeln!(problem, "expected `terminate` at {time}");
        }
        (None, Some(message)) => {
            let _ = writeln!(problem, "ended at {}: {message}", run.time_reached);
        }
        (None, None) => {}
    }
    let happened = || {
        run.events().iter().filter(|e| {
            use EventKind::{Fold, Sliding, State, Time};
            matches!(e.kind, Time | State | Fold | Sliding)
        })
    };
    let times: Vec<f64> = happened().map(|e| e.time).collect();
    if let Some(expected) = &expect.event_times {
        compare_times("events", expected, &times, expect.event_tolerance, problem);
    }
    if let Some(expected) = &expect.zeno_times {
        let zeno = run.events().iter().filter(|e| e.kind == EventKind::Zeno);
        let zeno: Vec<f64> = zeno.map(|e| e.time).collect();
        compare_times("zeno", expected, &zeno, expect.event_tolerance, problem);
    }
    if let Some(n) = expect.sliding_segments
        && run.statistics.sliding_segments != n
    {
        let _ = writeln!(
            problem,
            "expected {n} sliding segments, got {}",
            run.statistics.sliding_segments
        );
    }
    if let Some(n) = expect.events
        && times.len() != n
    {
        let _ = writeln!(
            problem,
            "expected {n} events, got {}: {times:?}",
            times.len()
        );
    }
    for (name, expected) in &expect.changes {
        let got: Vec<f64> = happened()
            .filter(|e| e.changed.iter().any(|change| change.variable == *name))
            .map(|e| e.time)
            .collect();
        compare_times(
            &format!("jumps of `{name}`"),
            expected,
            &got,
            expect.event_tolerance,
            problem,
        );
    }
    for (name, points) in &expect.values {
        for [time, value] in points {
            match run.at(name, *time) {
                Ok(got) if (got - value).abs() <= expect.value_tolerance * value.abs().max(1.0) => {
                }
                Ok(got) => {
                    let off = (got - value).abs();
                    let _ = writeln!(
                        problem,
                        "{name} at {time}: expected {value}, got {got} ({off:.1e} off)"
                    );
                }
                Err(error) => {
                    let _ = writeln!(problem, "{name} at {time}: {error}");
                }
            }
        }
    }
}

fn compare_times(what: &str, expected: &[f64], got: &[f64], tolerance: f64, problem: &mut String) {
    if expected.len() != got.len() {
        let _ = writeln!(
            problem,
            "{what}: expected {} times {expected:?}\n  got {} {got:?}",
            expected.len(),
            got.len()
        );
        return;
    }
    for (n, (e, g)) in expected.iter().zip(got).enumerate() {
        if (e - g).abs() > tolerance {
            let _ = writeln!(
                problem,
                "{what}: number {} expected at {e}, got {g} ({:.1e} off)",
                n + 1,
                (e - g).abs()
            );
        }
    }
}

/// The smallest number of intervals, from 100 on, of a grid that holds all the times: between rows a result is linear.
pub(crate) fn intervals_that_hit(start: f64, stop: f64, times: impl Iterator<Item = f64>) -> u32 {
    /// Of an interval.
    const GRID_TOLERANCE: f64 = 1e-7;
    const INTERVALS_MAX: u32 = 100_000;
    let places: Vec<f64> = times.map(|time| (time - start) / (stop - start)).collect();
    let hits = |n: &u32| {
        places.iter().all(|place| {
            let row = place * f64::from(*n);
            (row - row.round()).abs() < GRID_TOLERANCE
        })
    };
    (100..INTERVALS_MAX)
        .find(hits)
        .expect("the times of a test lie on a common grid")
}

/// What `expect.toml` says.
#[derive(Default)]
pub(crate) struct Expect {
    pub(crate) start_time: f64,
    pub(crate) stop_time: f64,
    pub(crate) tolerance: f64,
    states: Option<usize>,
    modes: Option<usize>,
    impulses: Vec<(String, Vec<[f64; 2]>)>,
    events: Option<usize>,
    event_times: Option<Vec<f64>>,
    sliding_segments: Option<u64>,
    zeno_times: Option<Vec<f64>>,
    event_tolerance: f64,
    ends_at: Option<f64>,
    /// Code and time.
    fails: Option<(String, f64)>,
    value_tolerance: f64,
    fixme: Option<String>,
    values: Vec<(String, Vec<[f64; 2]>)>,
    changes: Vec<(String, Vec<f64>)>,
}

impl Expect {
    /// Reads the part of TOML that is used here: tables of one level, numbers, plain strings, arrays of them.
    pub(crate) fn parse(text: &str) -> Expect {
        let mut expect = Expect::default();
        let (mut fails, mut fails_at) = (None, None);
        let mut table = String::new();
        let mut lines = text
            .lines()
            .map(|line| line.split('#').next().unwrap_or_default().trim());
        while let Some(line) = lines.next() {
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|rest| rest.strip_suffix(']'))
            {
                name.clone_into(&mut table);
                continue;
            }
            let Some((key, value)) = line.split_once(" = ") else {
                panic!("expect.toml: not understood: {line}")
            };
            let key = key.trim().trim_matches('"');
            let mut value = value.trim().to_owned();
            while value.matches('[').count() > value.matches(']').count() {
                value.push_str(lines.next().expect("expect.toml: an array is not closed"));
            }
            match (table.as_str(), key) {
                ("values", name) => expect.values.push((name.to_owned(), pairs(&value))),
                ("changes", name) => expect.changes.push((name.to_owned(), numbers(&value))),
                ("", "start_time") => expect.start_time = number(&value),
                ("", "stop_time") => expect.stop_time = number(&value),
                ("", "tolerance") => expect.tolerance = number(&value),
                ("", "states") => expect.states = Some(count(&value)),
                ("", "modes") => expect.modes = Some(count(&value)),
                ("impulses", name) => expect.impulses.push((name.to_owned(), pairs(&value))),
                ("", "events") => expect.events = Some(count(&value)),
                ("", "event_times") => expect.event_times = Some(numbers(&value)),
                ("", "sliding_segments") => expect.sliding_segments = Some(count(&value) as u64),
                ("", "zeno_times") => expect.zeno_times = Some(numbers(&value)),
                ("", "event_tolerance") => expect.event_tolerance = number(&value),
                ("", "ends_at") => expect.ends_at = Some(number(&value)),
                ("", "fails") => fails = Some(value.trim_matches('"').to_owned()),
                ("", "fails_at") => fails_at = Some(number(&value)),
                ("", "fixme") => expect.fixme = Some(value.trim_matches('"').to_owned()),
                ("", "value_tolerance") => expect.value_tolerance = number(&value),
                _ => panic!("expect.toml: unknown key `{key}` in [{table}]"),
            }
        }
        expect.fails = fails.zip(fails_at);
        assert!(
            expect.stop_time > expect.start_time && expect.tolerance > 0.0,
            "expect.toml: stop_time and tolerance are needed"
        );
        expect
    }
}

fn number(text: &str) -> f64 {
    text.trim()
        .parse()
        .unwrap_or_else(|_| panic!("expect.toml: not a number: {text}"))
}

fn count(text: &str) -> usize {
    text.parse()
        .unwrap_or_else(|_| panic!("expect.toml: not a count: {text}"))
}

fn numbers(text: &str) -> Vec<f64> {
    text.replace(['[', ']'], "")
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(number)
        .collect()
}

fn pairs(text: &str) -> Vec<[f64; 2]> {
    let flat = numbers(text);
    let (pairs, rest) = flat.as_chunks::<2>();
    assert!(
        rest.is_empty(),
        "expect.toml: pairs of time and value are expected: {text}"
    );
    pairs.to_vec()
}
