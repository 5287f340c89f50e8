//! Hybrid automata written in Rust, against closed forms.

use saltus::automaton::{AutomatonError, HybridSystem};
use saltus::ode::Simulate;
use saltus::{Error, Run};

fn simulate(system: HybridSystem, stop: f64) -> Run {
    let model = system.build().expect("the description is a model");
    let run = model
        .experiment()
        .stop_time(stop)
        .tolerance(1e-11)
        .simulate();
    run.unwrap_or_else(|e| panic!("{e}"))
}

/// Times of the events that changed a variable.
fn changes(run: &Run, name: &str) -> Vec<f64> {
    let changed = (run.events().iter()).filter(|e| e.changed.iter().any(|c| c.variable == name));
    changed.map(|e| e.time).collect()
}

#[track_caller]
fn near(got: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(got.len(), expected.len(), "{got:?}, expected {expected:?}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() < tolerance, "{got:?}, expected {expected:?}");
    }
}

#[test]
fn a_thermostat_switches_at_the_logarithms() {
    let mut room = HybridSystem::new("room");
    let t = room.continuous("T", 20.0);
    let heater = room.automaton("heater");
    let off = room.location(heater, "off", &[t], move |at, dx| {
        dx[0] = -0.1 * (at[t] - 5.0)
    });
    let on = room.location(heater, "on", &[t], move |at, dx| {
        dx[0] = 3.0 - 0.1 * (at[t] - 5.0)
    });
    room.transition(off, on)
        .guard("T < 18", move |at| 18.0 - at[t]);
    room.transition(on, off)
        .guard("T > 22", move |at| at[t] - 22.0);
    let run = simulate(room, 10.0);
    let (first, then) = (10.0 * (15.0f64 / 13.0).ln(), 10.0 * (17.0f64 / 13.0).ln());
    let expected: Vec<f64> = (0..4).map(|k| first + f64::from(k) * then).collect();
    near(&changes(&run, "heater"), &expected, 1e-8);
}

#[test]
fn a_transition_to_the_same_location_resets_a_state_and_a_parameter() {
    let mut ball = HybridSystem::new("ball");
    let x = ball.continuous("x", 1.0);
    let v = ball.continuous("v", 0.0);
    let c = ball.discrete("c", 0.8);
    let motion = ball.automaton("motion");
    let flight = ball.location(motion, "flight", &[x, v], move |at, dx| {
        dx.copy_from_slice(&[at[v], -9.81]);
    });
    ball.transition(flight, flight)
        .guard("x < 0", move |at| -at[x])
        .reset(move |reset| {
            let at = reset.before();
            let (speed, factor) = (-at[c] * at[v], 0.95 * at[c]);
            reset.set(v, speed);
            reset.set_discrete(c, factor);
        });
    let run = simulate(ball, 1.8);
    let mut expected = vec![(2.0f64 / 9.81).sqrt()];
    let (mut speed, mut factor) = (9.81 * expected[0], 0.8);
    while let Some(last) = expected.last().copied().filter(|t| *t < 1.8) {
        speed *= factor;
        factor *= 0.95;
        expected.push(last + 2.0 * speed / 9.81);
    }
    expected.pop();
    near(&changes(&run, "v"), &expected, 1e-9);
    let impacts = expected.len() as i32;
    near(
        &[run.last("c").unwrap()],
        &[0.8 * 0.95f64.powi(impacts)],
        1e-15,
    );
}

#[test]
fn locations_of_two_and_four_states_follow_the_filament() {
    let (m, g) = (0.75, 9.80665);
    let mut pendulum = HybridSystem::new("pendulum");
    let phi = pendulum.continuous("phi", 2.0165086394235323);
    let omega = pendulum.continuous("omega", 8.0);
    let [x, y, vx, vy] = ["x", "y", "vx", "vy"].map(|name| pendulum.continuous(name, 0.0));
    let filament = pendulum.automaton("filament");
    let taut = pendulum.location(filament, "taut", &[phi, omega], move |at, dx| {
        dx[0] = at[omega];
        dx[1] = g * at[phi].sin() - 0.97 * at[omega] / m;
    });
    pendulum.output(taut, &[x, y, vx, vy], move |at, out| {
        let (sin, cos) = at[phi].sin_cos();
        out.copy_from_slice(&[sin, cos, at[omega] * cos, -at[omega] * sin]);
    });
    let free = pendulum.location(filament, "free", &[x, y, vx, vy], move |at, dx| {
        dx.copy_from_slice(&[at[vx], at[vy], -0.95 * at[vx] / m, -0.95 * at[vy] / m - g]);
    });
    pendulum.transition(taut, free).guard("F < 0", move |at| {
        m * g * at[phi].cos() - m * at[omega].powi(2)
    });
    pendulum
        .transition(free, taut)
        .guard("r > L", move |at| at[x].hypot(at[y]) - 1.0)
        .at_edge()
        .reset(move |reset| {
            let at = reset.before();
            let angle = std::f64::consts::PI + (at[x] / at[y]).atan();
            let rate = (at[y] * at[vx] - at[x] * at[vy]) / (at[x].powi(2) + at[y].powi(2));
            reset.set(phi, angle);
            reset.set(omega, rate);
        });
    let run = simulate(pendulum, 10.0);
    let times = changes(&run, "filament");
    near(&times, &[0.56002162850512, 1.226505521082], 1e-8);
    near(&[run.last("phi").unwrap()], &[3.1388520903817], 1e-7);
    // In flight the angle is no state.
    assert_eq!(run.at("der(phi)", 0.9).unwrap(), 0.0);
    assert!((run.at("der(x)", 0.9).unwrap() - run.at("vx", 0.9).unwrap()).abs() < 1e-6);
    assert_eq!(run.statistics.states, 2);
}

/// A train on a circle and a gate, which waits for the events of the train, if that emits them.
fn crossing(emits: bool) -> HybridSystem {
    let mut system = HybridSystem::new("crossing");
    let [comes, goes] = ["comes", "goes"].map(|name| system.event(name));
    // Of events that nobody waits for.
    let [comes_too, goes_too] = if emits { [comes, goes] } else { [goes, comes] };
    let s = system.continuous("s", 0.0);
    let angle = system.continuous("angle", 90.0);
    // The gate is made first: it takes its transitions together with the train's all the same.
    let gate = system.automaton("gate");
    let up = system.location(gate, "up", &[], |_, _| {});
    let lowering = system.location(gate, "lowering", &[angle], |_, dx| dx[0] = -9.0);
    let down = system.location(gate, "down", &[], |_, _| {});
    let raising = system.location(gate, "raising", &[angle], |_, dx| dx[0] = 9.0);
    system.transition(up, lowering).on(comes);
    system
        .transition(lowering, down)
        .guard("angle < 0", move |at| -at[angle]);
    system.transition(down, raising).on(goes);
    system
        .transition(raising, up)
        .guard("angle > 90", move |at| at[angle] - 90.0);
    let train = system.automaton("train");
    let far = system.location(train, "far", &[s], |_, dx| dx[0] = 20.0);
    let near = system.location(train, "near", &[s], |_, dx| dx[0] = 10.0);
    let past = system.location(train, "past", &[s], |_, dx| dx[0] = 20.0);
    system
        .transition(far, near)
        .guard("s > 1000", move |at| at[s] - 1000.0)
        .emits(comes_too);
    system
        .transition(near, past)
        .guard("s > 1400", move |at| at[s] - 1400.0);
    system
        .transition(past, far)
        .guard("s > 1500", move |at| at[s] - 1500.0)
        .emits(goes_too)
        .reset(move |reset| {
            let begin = reset.before()[s] - 2000.0;
            reset.set(s, begin);
        });
    system
}

#[test]
fn parallel_automata_are_synchronised_in_one_instant() {
    let run = simulate(crossing(true), 200.0);
    near(&changes(&run, "train"), &[50.0, 90.0, 95.0, 170.0], 1e-8);
    near(
        &changes(&run, "gate"),
        &[50.0, 60.0, 95.0, 105.0, 170.0, 180.0],
        1e-8,
    );
    near(&[run.at("angle", 100.0).unwrap()], &[45.0], 1e-7);
    near(&[run.at("angle", 150.0).unwrap()], &[90.0], 1e-7);
}

#[test]
fn a_transition_that_waits_for_another_event_is_not_taken() {
    let run = simulate(crossing(false), 80.0);
    near(&changes(&run, "train"), &[50.0], 1e-8);
    near(&changes(&run, "gate"), &[], 1e-8);
}

#[test]
fn an_inner_automaton_begins_anew_with_its_location() {
    let mut house = HybridSystem::new("house");
    let t = house.continuous("T", 20.0);
    let clock = house.continuous("clock", 0.0);
    let hours = house.automaton("hours");
    let day = house.location(hours, "day", &[clock], |_, dx| dx[0] = 1.0);
    let night = house.location(hours, "night", &[clock, t], move |at, dx| {
        dx.copy_from_slice(&[1.0, -0.1 * (at[t] - 5.0)]);
    });
    house
        .transition(day, night)
        .guard("clock > 10", move |at| at[clock] - 10.0)
        .reset(move |reset| reset.set(clock, 0.0));
    house
        .transition(night, day)
        .guard("clock > 5", move |at| at[clock] - 5.0)
        .reset(move |reset| reset.set(clock, 0.0));
    let heater = house.automaton_within(day, "heater");
    let off = house.location(heater, "off", &[t], move |at, dx| {
        dx[0] = -0.1 * (at[t] - 5.0)
    });
    let on = house.location(heater, "on", &[t], move |at, dx| {
        dx[0] = 3.0 - 0.1 * (at[t] - 5.0)
    });
    house
        .transition(off, on)
        .guard("T < 18", move |at| 18.0 - at[t]);
    house
        .transition(on, off)
        .guard("T > 22", move |at| at[t] - 22.0);
    let run = simulate(house, 24.0);
    let (first, then) = (10.0 * (15.0f64 / 13.0).ln(), 10.0 * (17.0f64 / 13.0).ln());
    near(&changes(&run, "hours"), &[10.0, 15.0], 1e-9);
    let heater = changes(&run, "heater");
    let by_day: Vec<f64> = (0..4).map(|k| first + f64::from(k) * then).collect();
    near(&heater[..4], &by_day, 1e-8);
    near(&heater[4..6], &[10.0, 15.0], 1e-9);
    assert_eq!(run.at("heater", 12.0).unwrap(), 0.0);
    // It begins in off, and the room is colder than 18 by then or not.
    let evening = {
        let heats = 5.0 + 17.0 * (-0.1 * (10.0 - by_day[3])).exp();
        5.0 + (heats - 5.0) * (-0.5f64).exp()
    };
    near(&[run.at("T", 15.0).unwrap()], &[evening], 1e-7);
}

#[test]
fn two_transitions_at_once_need_priorities() {
    let system = |priority: Option<i32>| {
        let mut system = HybridSystem::new("fork");
        let x = system.continuous("x", 0.0);
        let a = system.automaton("a");
        let [one, two, three] =
            ["one", "two", "three"].map(|name| system.location(a, name, &[x], |_, dx| dx[0] = 1.0));
        system
            .transition(one, two)
            .guard("x > 1", move |at| at[x] - 1.0);
        let other = system
            .transition(one, three)
            .guard("x > 1 too", move |at| at[x] - 1.0);
        if let Some(priority) = priority {
            other.priority(priority);
        }
        system.build().expect("the description is a model")
    };
    let result = system(None).experiment().stop_time(2.0).simulate();
    let Err(Error::Run(diagnostics, run)) = result else {
        panic!("both were taken");
    };
    assert_eq!(diagnostics.error_codes(), ["assertion-failed"]);
    assert!((run.time_reached - 1.0).abs() < 1e-9);
    for (priority, location) in [(1, 3.0), (-1, 2.0)] {
        let run = system(Some(priority))
            .experiment()
            .stop_time(2.0)
            .simulate();
        assert_eq!(
            run.unwrap_or_else(|e| panic!("{e}")).last("a").unwrap(),
            location
        );
    }
}

#[test]
fn a_description_that_is_no_model_is_an_error() {
    let mut twice = HybridSystem::new("twice");
    let x = twice.continuous("x", 0.0);
    for name in ["a", "b"] {
        let automaton = twice.automaton(name);
        twice.location(automaton, "only", &[x], |_, dx| dx[0] = 1.0);
    }
    let twice = twice.build().err();
    assert!(
        matches!(twice, Some(AutomatonError::StateTwice { .. })),
        "{twice:?}"
    );
    let mut empty = HybridSystem::new("empty");
    empty.automaton("nothing");
    let empty = empty.build().err();
    assert!(
        matches!(empty, Some(AutomatonError::NoLocation { .. })),
        "{empty:?}"
    );
    let mut foreign = HybridSystem::new("foreign");
    let [a, b] = ["a", "b"].map(|name| {
        let automaton = foreign.automaton(name);
        foreign.location(automaton, "only", &[], |_, _| {})
    });
    foreign.transition(a, b);
    let foreign = foreign.build().err();
    assert!(
        matches!(foreign, Some(AutomatonError::ForeignLocation { .. })),
        "{foreign:?}"
    );
}
