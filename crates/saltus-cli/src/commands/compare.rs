use std::fmt::Write;

use saltus_results::{
    Comparison, SignalComparison, SignalVerdict, TubeOptions, Verdict, compare as compare_tables,
    compare_all, parse_comparison_signals,
};

use crate::args::{CompareArgs, Format};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::files;

/// `saltus compare`
pub(crate) fn compare(args: CompareArgs) -> Outcome {
    let result = files::read_table(&args.result)?;
    let reference = files::read_table(&args.reference)?;
    let options = TubeOptions {
        relative: args.tolerance,
        resolution: args.resolution,
        relative_time: args.time_tolerance,
        allowed_outside: args.allow_outside,
        ..TubeOptions::default()
    };
    let comparison = match &args.signals {
        Some(path) => {
            let names = parse_comparison_signals(&files::read_text(path)?);
            compare_tables(&result, &reference, &names, &options)
        }
        None => compare_all(&result, &reference, &options),
    };
    if comparison.verdict == Verdict::Nothing {
        return Err(Failure::command_line(
            "there is nothing to compare: no signals, or a reference without rows",
        ));
    }
    match args.format {
        Format::Text => print(&text(&comparison))?,
        Format::Json => {
            let json =
                serde_json::to_string_pretty(&comparison).expect("plain data has a JSON form");
            print(&format!("{json}\n"))?;
        }
    }
    Ok(if comparison.is_match() {
        Exit::Done
    } else {
        Exit::Model
    })
}

/// A line per signal that differs, and a last line with the verdict.
fn text(comparison: &Comparison) -> String {
    let mut out = String::new();
    let different: Vec<&SignalComparison> = comparison
        .signals
        .iter()
        .filter(|s| s.verdict != SignalVerdict::Match)
        .collect();
    let width = different.iter().map(|s| s.name.chars().count()).max();
    let width = width.unwrap_or(0);
    for signal in &different {
        let line = match signal.verdict {
            SignalVerdict::MissingInResult => "not in the result".to_owned(),
            SignalVerdict::MissingInReference => "not in the reference".to_owned(),
            _ => outside_text(signal),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{:width$}  {line}", signal.name);
    }
    let n = comparison.signals.len();
    let _ = match different.len() {
        0 => writeln!(out, "equal: {n} of {n} signals inside the tube"),
        k => writeln!(
            out,
            "different: {k} of {n} signals leave the tube or are missing"
        ),
    };
    out
}

fn outside_text(signal: &SignalComparison) -> String {
    let mut line = format!("outside {:.3} % of the time", 100.0 * signal.share_outside);
    if let Some(t) = signal.first_outside {
        let _ = write!(line, ", first at {t}");
    }
    let _ = write!(
        line,
        ", up to {:.3} % of its range",
        100.0 * signal.max_deviation / signal.scale
    );
    if signal.verdict == SignalVerdict::FarOff {
        line.push_str(", far off");
    }
    line
}
