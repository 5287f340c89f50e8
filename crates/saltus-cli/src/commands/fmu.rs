use std::path::Path;

use saltus_fmi::FmiVersion;
use saltus_fmi::import::{Causality, Description, Fmu, FmuVariable, Kind};

use crate::args::{FmuArgs, FmuInfoArgs, FmuVerb};
use crate::exit::{Exit, Failure, Outcome, print};

/// `saltus fmu`
pub(crate) fn fmu(args: &FmuArgs) -> Outcome {
    match &args.verb {
        FmuVerb::Info(args) => info(args),
    }
}

pub(crate) fn open(path: &Path) -> Result<Fmu, Failure> {
    Fmu::open(path).map_err(|why| Failure::command_line(format!("`{}`: {why}", path.display())))
}

fn info(args: &FmuInfoArgs) -> Outcome {
    let fmu = open(&args.fmu)?;
    print(&describe(&fmu))?;
    Ok(Exit::Done)
}

fn describe(fmu: &Fmu) -> String {
    let description = &fmu.description;
    let mut text = format!("{}\n", description.model_name);
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("  {name:<12} {value}\n"));
        }
    };
    line("description", &description.text);
    let version = match description.version {
        FmiVersion::V2 => "2.0",
        FmiVersion::V3 => "3.0",
    };
    line("FMI", version);
    line("made by", &description.tool);
    for kind in [Kind::CoSimulation, Kind::ModelExchange] {
        if let Some(identifier) = description.identifier(kind) {
            let here = match fmu.binary(kind) {
                Ok(_) if description.needs_tool(kind) => "needs the tool that made it".to_owned(),
                Ok(_) => "runs here".to_owned(),
                Err(why) => why,
            };
            line(&kind.to_string(), &format!("{identifier}, {here}"));
        }
    }
    line("experiment", &experiment(description));
    if !description.derivatives.is_empty() {
        line("states", &description.derivatives.len().to_string());
    }
    for (causality, title) in [
        (Causality::Input, "Inputs"),
        (Causality::Output, "Outputs"),
        (Causality::Parameter, "Parameters"),
        (Causality::StructuralParameter, "Structural parameters"),
    ] {
        let of: Vec<&FmuVariable> = (description.variables.iter())
            .filter(|v| v.causality == causality)
            .collect();
        if of.is_empty() {
            continue;
        }
        text.push_str(&format!("{title}\n"));
        for v in of {
            text.push_str(&format!("  {}\n", variable(v)));
        }
    }
    text
}

fn experiment(description: &Description) -> String {
    let mut parts = Vec::new();
    for (name, value) in [
        ("start", description.start_time),
        ("stop", description.stop_time),
        ("tolerance", description.tolerance),
        ("step", description.step_size),
    ] {
        parts.extend(value.map(|value| format!("{name} {value}")));
    }
    parts.join(", ")
}

fn variable(v: &FmuVariable) -> String {
    let sizes: String = v.dimensions.iter().map(|n| format!("[{n}]")).collect();
    let start = v
        .start
        .as_ref()
        .map_or(String::new(), |start| format!(" = {start}"));
    let unit = if v.unit.is_empty() {
        String::new()
    } else {
        format!(" {}", v.unit)
    };
    let text = if v.text.is_empty() {
        String::new()
    } else {
        format!("  {}", v.text)
    };
    format!("{:?}{sizes} {}{start}{unit}{text}", v.ty, v.name)
}
