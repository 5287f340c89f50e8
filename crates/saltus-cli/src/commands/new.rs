use std::fs;
use std::path::PathBuf;

use crate::args::NewArgs;
use crate::exit::{Exit, Failure, Outcome, message};

/// Words of the language that no package can be named.
const KEYWORDS: [&str; 12] = [
    "model",
    "package",
    "class",
    "block",
    "type",
    "function",
    "record",
    "connector",
    "operator",
    "end",
    "within",
    "equation",
];

/// Points of the reference.
const POINTS: u32 = 100;

/// `saltus new`: a package that can be checked, simulated and tested at once.
pub(crate) fn new(args: &NewArgs) -> Outcome {
    let name = args.name.as_str();
    let mut letters = name.chars();
    let is_name = letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !KEYWORDS.contains(&name);
    if !is_name {
        return Err(Failure::command_line(format!(
            "`{name}` is no name of a package: it has letters, digits and `_`, and begins with a letter"
        )));
    }
    let folder = args
        .path
        .clone()
        .unwrap_or_else(|| PathBuf::from("."))
        .join(name);
    if folder.exists() {
        return Err(Failure::command_line(format!(
            "`{}` is there already",
            folder.display()
        )));
    }
    let reference = format!("Resources/ReferenceResults/{name}.Examples.Step.csv");
    let files = [
        ("package.mo".to_owned(), package(name)),
        ("package.order".to_owned(), "Tank\nExamples\n".to_owned()),
        ("Tank.mo".to_owned(), tank(name)),
        ("Examples/package.mo".to_owned(), examples(name)),
        ("Examples/package.order".to_owned(), "Step\n".to_owned()),
        ("Examples/Step.mo".to_owned(), step(name)),
        (reference, reference_rows()),
        ("saltus.toml".to_owned(), SCENARIOS.to_owned()),
    ];
    for (path, text) in files {
        let path = folder.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text))
            .map_err(|e| Failure::command_line(format!("`{}`: {e}", path.display())))?;
    }
    let shown = folder.display();
    message(&format!(
        "made the package `{shown}`; go on with\n\
         \x20 cd {shown}\n\
         \x20 saltus simulate {name}.Examples.Step --library .. --plot tank.h\n\
         \x20 saltus simulate {name}.Examples.Step --library .. --scenario wide\n\
         \x20 saltus test . --reference Resources/ReferenceResults"
    ));
    Ok(Exit::Done)
}

fn package(name: &str) -> String {
    format!("package {name} \"What it is for\"\nend {name};\n")
}

fn tank(name: &str) -> String {
    format!(
        "within {name};\nmodel Tank \"A tank with an outlet\"\n  \
         parameter Real A(min = 0, unit = \"m2\") = 1 \"Cross section\";\n  \
         parameter Real k(min = 0, unit = \"m2/s\") = 1 \"Outflow per height\";\n  \
         input Real q(unit = \"m3/s\") \"Inflow\";\n  \
         Real h(start = 0, fixed = true, unit = \"m\") \"Height\";\n\
         equation\n  A*der(h) = q - k*h;\nend Tank;\n"
    )
}

fn examples(name: &str) -> String {
    format!("within {name};\npackage Examples \"Models that run\"\nend Examples;\n")
}

fn step(name: &str) -> String {
    format!(
        "within {name}.Examples;\nmodel Step \"The inflow begins after a second\"\n  \
         Tank tank(q = if time < 1 then 0 else 2);\n  \
         annotation(experiment(StopTime = 5, Tolerance = 1e-8));\nend Step;\n"
    )
}

/// h = 2(1 - exp(1 - t)) from t = 1 on.
fn reference_rows() -> String {
    let mut rows = "time,tank.h\n".to_owned();
    for k in 0..=POINTS {
        let t = 5.0 * f64::from(k) / f64::from(POINTS);
        let h = if t < 1.0 {
            0.0
        } else {
            2.0 * (1.0 - (1.0 - t).exp())
        };
        rows.push_str(&format!("{t},{h}\n"));
    }
    rows
}

const SCENARIOS: &str = "# Values of parameters and start values, for `--scenario wide`.\n[scenario.wide.tank]\nA = 4\n";
