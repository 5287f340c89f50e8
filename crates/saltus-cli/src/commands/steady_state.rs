use std::fmt::Write as _;

use saltus::{Error, Linearization, Simulator};
use saltus_results::Selection;
use serde_json::json;

use super::linearize::{complex_list, short, stepped};
use crate::args::{Format, SteadyStateArgs};
use crate::engine::{self, failure};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::given::{self, Prepared};

/// `saltus steady-state`
pub(crate) fn steady_state(args: &SteadyStateArgs) -> Outcome {
    let (mut session, class) = engine::open(&args.target)?;
    engine::permit(&mut session, &args.access)?;
    let set = &args.set;
    let prepared = given::prepare(
        &mut session,
        &args.target,
        &class,
        &set.given,
        &set.settings,
    )?;
    prepared
        .model
        .check_patterns(&args.variables)
        .map_err(failure)?;
    let mut run = stepped(&prepared, args.tolerance, args.solver.as_deref())?;
    run.settle().map_err(no_rest)?;
    let linear = run.linearize().map_err(failure)?;
    let rest = Rest {
        shown: shown(&prepared, args, &linear, &run)?,
        linear,
    };
    print(&match args.format {
        Format::Text => rest.text(prepared.model.name()),
        Format::Json => format!("{:#}\n", rest.value(prepared.model.name())),
    })?;
    Ok(Exit::Done)
}

/// That nothing comes to rest is a matter of the run, not of the command line.
pub(super) fn no_rest(error: Error) -> Failure {
    match error {
        Error::Usage(text) => Failure {
            exit: Exit::Incomplete,
            text: format!("error: {text}"),
        },
        other => failure(other),
    }
}

/// Where nothing moves.
struct Rest {
    /// Variables and their values.
    shown: Vec<(String, f64)>,
    linear: Linearization,
}

/// The states, the outputs, and what was asked for.
fn shown(
    prepared: &Prepared,
    args: &SteadyStateArgs,
    linear: &Linearization,
    run: &Simulator,
) -> Result<Vec<(String, f64)>, Failure> {
    let selection = Selection::from_patterns(&args.variables);
    let wanted = (prepared.model.info().variables.iter())
        .filter(|v| !args.variables.is_empty() && selection.selects(&v.name, v.hidden))
        .map(|v| v.name.clone());
    let mut names: Vec<String> = linear
        .states
        .iter()
        .chain(&linear.outputs)
        .cloned()
        .collect();
    for name in wanted {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
        .into_iter()
        .map(|name| {
            let value = run.get(&name).map_err(failure)?;
            Ok((name, value))
        })
        .collect()
}

impl Rest {
    fn verdict(&self) -> &'static str {
        let poles = self.linear.poles();
        match poles.iter().map(|pole| pole.0).reduce(f64::max) {
            None => "the model has no states",
            Some(largest) if largest < 0.0 => "stable: what disturbs it fades",
            Some(0.0) => "not asymptotically stable: some deviations stay",
            Some(_) => "unstable: some deviations grow",
        }
    }

    fn text(&self, model: &str) -> String {
        let mut out = format!("{model}: nothing moves at\n");
        let width = self
            .shown
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        for (name, value) in &self.shown {
            let _ = writeln!(out, "  {name:width$}  {}", short(*value));
        }
        let _ = writeln!(out, "poles: {}", complex_list(&self.linear.poles()));
        let _ = writeln!(out, "{}", self.verdict());
        out
    }

    fn value(&self, model: &str) -> serde_json::Value {
        let values: serde_json::Map<String, serde_json::Value> = (self.shown.iter())
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        let poles: Vec<[f64; 2]> = self
            .linear
            .poles()
            .into_iter()
            .map(|(re, im)| [re, im])
            .collect();
        json!({
            "model": model,
            "time": self.linear.time,
            "states": self.linear.states,
            "values": values,
            "rates": self.linear.dx,
            "poles": poles,
            "stable": self.linear.is_stable(),
        })
    }
}
