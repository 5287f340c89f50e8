//! `cargo run --release -p saltus-bench -- [NAME…]`: speed of the simulator against programs written by hand and against CVODE.
//!
//! Every number that matters is a ratio of times measured in the same run (see `docs/benchmarks/README.md`).

mod dopri5;
mod events;
mod hand;
mod measure;
mod native;

use events::{Comparison, Sweep};
use native::RightHandSide;

const NAMES: [&str; 6] = ["spring", "bounces", "hysteresis", "sweep", "rotor", "chain"];

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let Some(unknown) = asked.iter().find(|name| !NAMES.contains(&name.as_str())) {
        eprintln!("no benchmark `{unknown}`; there are: {}", NAMES.join(" "));
        std::process::exit(2);
    }
    for name in NAMES {
        if !asked.is_empty() && !asked.iter().any(|a| a == name) {
            continue;
        }
        match name {
            "spring" => print_comparison(&events::spring()),
            "bounces" => print_comparison(&events::bounces()),
            "hysteresis" => print_comparison(&events::hysteresis()),
            "sweep" => print_sweep(&events::sweep()),
            "rotor" => print_right_hand_side(&native::rotor()),
            "chain" => print_right_hand_side(&native::chain()),
            _ => unreachable!("every name has its benchmark"),
        }
    }
}

#[expect(clippy::print_stdout, reason = "the program's output")]
fn print_comparison(c: &Comparison) {
    println!(
        "{}: {:.2} times hand-written ({:.3e} s against {:.3e} s; {} events, {:.0} ns each; error {:.1e} against {:.1e})",
        c.name,
        c.seconds / c.seconds_hand,
        c.seconds,
        c.seconds_hand,
        c.events,
        1e9 * c.seconds / c.events as f64,
        c.error,
        c.error_hand,
    );
}

#[expect(clippy::print_stdout, reason = "the program's output")]
fn print_sweep(s: &Sweep) {
    println!(
        "sweep of the restitution ball, {} runs with {:.1} events each: {:.0} runs a second (hand-written {:.0}, ratio {:.2})",
        s.runs,
        s.events as f64 / s.runs as f64,
        s.runs_a_second,
        s.runs_a_second_hand,
        s.runs_a_second_hand / s.runs_a_second,
    );
}

#[expect(clippy::print_stdout, reason = "the program's output")]
fn print_right_hand_side(r: &RightHandSide) {
    println!(
        "right-hand side of the {}: {:.2} times hand-written ({:.0} ns against {:.0} ns, interpreted {:.0} ns; derivatives differ by {:.1e})",
        r.name,
        r.native / r.hand,
        1e9 * r.native,
        1e9 * r.hand,
        1e9 * r.interpreted,
        r.difference,
    );
}
