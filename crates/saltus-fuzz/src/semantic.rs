//! Random programs through the whole of Saltus, against the interpreter.

use crate::generate::{self, Family};
use crate::interpret::{self, Unclear, exact};
use crate::program::{Number, Program};
use saltus::{Error, Session};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// End of each run, seconds: the last point that is compared.
const STOP: Number = 1.968_75;
/// Output intervals: every second output point, the last among them, lies between the instants of time.
const INTERVALS: u32 = 63;
/// Accuracy asked of values that are not exact, relative to the larger of the value and 1.
const ACCURACY: Number = 1e-6;
/// Seconds that one case may take.
const SECONDS_MAX: Number = 20.0;

/// What became of a case.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    Agrees,
    /// There is no answer to compare with.
    Unclear(Unclear),
    /// Saltus has refused the model or could not run it.
    Refused(String),
    /// A wrong answer in silence.
    Differs(String),
    Panicked,
}

/// Runs the case of a family with this seed.
pub fn case(family: Family, seed: u64) -> (Program, Outcome) {
    let program = generate::program(family, seed);
    let outcome = check(&program);
    (program, outcome)
}

/// Runs a program and compares all variables at the middles between instants.
pub fn check(program: &Program) -> Outcome {
    let step = STOP / INTERVALS as Number;
    let times: Vec<Number> = (0..INTERVALS.div_ceil(2))
        .map(|k| (2 * k + 1) as Number * step)
        .collect();
    let rows = match interpret::run(program, &times) {
        Ok(rows) => rows,
        Err(why) => return Outcome::Unclear(why),
    };
    let text = program.text();
    let run = catch_unwind(AssertUnwindSafe(|| -> Result<saltus::Run, Error> {
        let mut session = Session::new();
        session.set_text("P.mo", text);
        let model = session.compile("P")?;
        let experiment = model
            .experiment()
            .stop_time(STOP)
            .intervals(INTERVALS)
            .tolerance(1e-9);
        experiment.max_wall(SECONDS_MAX).simulate()
    }));
    let run = match run {
        Err(_) => return Outcome::Panicked,
        Ok(Err(error)) => return Outcome::Refused(first_line(&error.to_string())),
        Ok(Ok(run)) => run,
    };
    if run.time_reached < STOP {
        return Outcome::Differs(format!("the run ends at {}", run.time_reached));
    }
    for (&time, row) in times.iter().zip(&rows) {
        if row.is_empty() {
            continue;
        }
        let discrete = program.variables.iter().map(|v| (&v.name, exact(v.ty)));
        let states = program.states.iter().map(|s| (&s.name, false));
        for ((name, exact), &expected) in discrete.chain(states).zip(row) {
            let found = match run.at(name, time) {
                Ok(found) => found,
                Err(error) => return Outcome::Refused(error.to_string()),
            };
            let bound = if exact {
                0.0
            } else {
                ACCURACY * expected.abs().max(1.0)
            };
            // Written so that NaN is a difference.
            let agrees = (found - expected).abs() <= bound;
            if !agrees {
                return Outcome::Differs(format!(
                    "{name} = {found} at {time}, expected {expected}"
                ));
            }
        }
    }
    Outcome::Agrees
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}
