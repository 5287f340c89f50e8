//! Time and work of a few problems: `cargo run --release -p saltus-sim --example speed`.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use saltus_model::Model;
use saltus_sim::{Control, Options, OutputGrid, Silent, SolverName, simulate};
use saltus_testkit::problems;
use std::time::Instant;

fn measure<M: Model>(name: &str, model: &M, stop: f64, tolerance: f64, repeat: u32) {
    let options = Options {
        stop_time: stop,
        tolerance,
        output: OutputGrid::Intervals(1),
        solver: SolverName::Auto,
        ..Options::default()
    };
    let start = Instant::now();
    for _ in 1..repeat {
        let _ = simulate(
            &mut model.instantiate(),
            &options,
            &Control::default(),
            &mut Silent,
        );
    }
    match simulate(
        &mut model.instantiate(),
        &options,
        &Control::default(),
        &mut Silent,
    ) {
        Ok(summary) => {
            let s = summary.statistics;
            let micros = start.elapsed().as_secs_f64() / f64::from(repeat) * 1e6;
            println!(
                "{name:20} {micros:10.1} us  {} steps, {} rhs, {} events, {}",
                s.steps, s.rhs_evaluations, s.events_state, s.solver
            );
        }
        Err(failure) => println!("{name:20} {:?}", failure.error),
    }
}

fn main() {
    measure(
        "restitution ball",
        &problems::restitution_ball(),
        5.5,
        1e-6,
        2000,
    );
    measure(
        "spring ball 100 s",
        &problems::spring_ball(),
        100.0,
        1e-8,
        200,
    );
    measure(
        "oscillator 1000 s",
        &problems::oscillator(),
        1000.0,
        1e-6,
        50,
    );
    measure("van der Pol", &problems::van_der_pol(), 2.0, 1e-6, 20);
    measure(
        "hysteresis",
        &problems::hysteresis_limiter(),
        1000.0,
        1e-6,
        20,
    );
}
