use std::fmt::Write;

use saltus_results::{
    Comparison, Coverage, SignalComparison, SignalVerdict, TubeOptions, Verdict, compare_files,
    compare_sampled, parse_comparison_signals, read_sampled,
};

use crate::args::{CompareArgs, Format};
use crate::exit::{Exit, Failure, Outcome, print};
use crate::files;

/// Files that need more memory are compared in slices of time.
const MEMORY_BYTES: usize = 512 << 20;

/// `saltus compare`
pub(crate) fn compare(args: CompareArgs) -> Outcome {
    let mut result = files::open_result(&args.result)?;
    let options = TubeOptions {
        relative: args.tolerance,
        resolution: args.resolution,
        relative_time: args.time_tolerance,
        allowed_outside: args.allow_outside,
        ..TubeOptions::default()
    };
    let names = match &args.signals {
        Some(path) => Some(parse_comparison_signals(&files::read_text(path)?)),
        None => None,
    };
    let unreadable = |e| {
        Failure::command_line(format!(
            "`{}` or `{}` cannot be read: {e}",
            args.result.display(),
            args.reference.display()
        ))
    };
    let is_sampled = (args.reference.extension()).is_some_and(|e| e.eq_ignore_ascii_case("txt"));
    let comparison = if is_sampled {
        let reference = read_sampled(&files::read_text(&args.reference)?).map_err(unreadable)?;
        let all = reference.variables().map(|(name, _)| name.to_owned());
        let names = names.unwrap_or_else(|| all.collect());
        let result = result.read(&names).map_err(unreadable)?;
        compare_sampled(&result, &reference, &names, &options)
    } else {
        let mut reference = files::open_result(&args.reference)?;
        let names = names.as_deref();
        compare_files(&mut result, &mut reference, names, &options, MEMORY_BYTES)
            .map_err(unreadable)?
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

/// A line per signal that differs, and a last line with the verdict and the part of the reference that was compared.
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
    let coverage = &comparison.coverage;
    let (n, n_reference) = (comparison.signals.len(), coverage.reference_signals);
    let times = covered_text(coverage);
    let of_reference = match n_reference {
        all if all == n => String::new(),
        all => format!(" ({all} are in the reference)"),
    };
    let _ = match different.len() {
        0 if comparison.is_match() && n >= n_reference => {
            writeln!(out, "equal: {n} of {n} signals inside the tube; {times}")
        }
        0 if comparison.is_match() => writeln!(
            out,
            "inside the tube: {n} of {n} signals that were asked for{of_reference}; {times}"
        ),
        0 => writeln!(
            out,
            "different: the result does not cover the reference; {n} of {n} signals inside the tube{of_reference}; {times}"
        ),
        k => writeln!(
            out,
            "different: {k} of {n} signals leave the tube or are missing{of_reference}; {times}"
        ),
    };
    out
}

/// `time 0 to 8 of 0 to 10 (80 %)`
fn covered_text(coverage: &Coverage) -> String {
    let (first, last) = coverage.reference;
    match coverage.covered {
        _ if coverage.is_whole() => format!("time {first} to {last}, all of it"),
        Some((from, to)) => format!(
            "time {from} to {to} of {first} to {last} ({:.3} %)",
            100.0 * coverage.share
        ),
        None => format!("none of the time {first} to {last}"),
    }
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
