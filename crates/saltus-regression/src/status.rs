//! The page that lists each model that fails with its reason, in Markdown.

use std::fmt::Write;

use crate::report::{ModelReport, NO_SIGNALS, Reached, Report};

/// Columns end at this sign.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

pub(super) fn status(report: &Report, title: &str) -> String {
    let n = report.models.len();
    let mut out = format!(
        "# {title}: how far each model comes\n\n\
         Made by `saltus test` or `cargo xtask msl` with `--report FILE.md`; not to be edited by hand. {}, {n} models, {} s each at most.\n\n\
         | stage | models |\n|---|---|\n",
        report.saltus, report.timeout_seconds
    );
    for stage in Reached::ALL {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "| {} | {} |", stage.word(), report.count(stage));
    }
    let _ = writeln!(out, "| far off | {} |", report.n_far_off());
    let failing: Vec<&ModelReport> = report.models.iter().filter(|m| !m.passed()).collect();
    let _ = writeln!(out, "\n{} of {n} pass.", n - failing.len());
    let bare: Vec<String> = (report.models.iter())
        .filter(|m| m.passed() && m.nothing_to_compare)
        .map(|m| format!("`{}`", m.name))
        .collect();
    if !bare.is_empty() {
        let _ = writeln!(
            out,
            "\n{} of them run to the end and have a reference with {NO_SIGNALS}: {}.",
            bare.len(),
            bare.join(", ")
        );
    }
    for stage in [None].into_iter().chain(Reached::ALL.map(Some)) {
        let here: Vec<&&ModelReport> = failing.iter().filter(|m| m.reached == stage).collect();
        if here.is_empty() {
            continue;
        }
        let heading = match stage {
            None => "end before the first stage is done".to_owned(),
            Some(Reached::Simulate) => "run, with a result that leaves the tube".to_owned(),
            Some(stage) => format!("come no further than {}", stage.word()),
        };
        let _ = writeln!(
            out,
            "\n## {} models that {heading}\n\n| model | reason | place | what to try |\n|---|---|---|---|",
            here.len()
        );
        for model in here {
            let error = model.error.as_ref();
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} |",
                model.name,
                cell(&model.reason()),
                cell(error.and_then(|e| e.place.as_deref()).unwrap_or("")),
                cell(&model.advice()),
            );
        }
    }
    out
}
