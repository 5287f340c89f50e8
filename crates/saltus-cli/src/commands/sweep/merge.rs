//! `saltus sweep merge`: the tables of several shares become one.

use std::collections::BTreeMap;
use std::io::Write as _;

use super::cases::cells;
use crate::args::SweepArgs;
use crate::exit::{Exit, Failure, Outcome, message};
use crate::files;
use crate::outputs::Outputs;

/// The column with why runs have failed, which only tables with such runs have.
const REASON: &str = "\"reason\"";

/// Tables with the same columns, in the order of the numbers of their runs. A run that two of them have, or that none has, is said.
pub(super) fn merge(args: &SweepArgs) -> Outcome {
    let Some(output) = &args.output else {
        return Err(Failure::command_line(
            "merge: name the table with `--output FILE.csv`",
        ));
    };
    if args.parts.is_empty() {
        return Err(Failure::command_line(
            "merge: name the tables of the shares: `saltus sweep merge part1.csv part2.csv --output all.csv`",
        ));
    }
    let is_csv = |path: &std::path::PathBuf| path.extension().is_some_and(|e| e == "csv");
    if let Some(path) = args.parts.iter().chain([output]).find(|path| !is_csv(path)) {
        return Err(Failure::command_line(format!(
            "merge: `{}`: tables that are merged end with .csv",
            path.display()
        )));
    }
    files::check_writable(output)?;
    let mut outputs = Outputs::default();
    outputs.add("--output", [output]);
    outputs.check_not_read(&args.parts)?;
    let mut head: Option<String> = None;
    let mut with_reason = false;
    let mut rows: BTreeMap<u64, (String, bool)> = BTreeMap::new();
    for path in &args.parts {
        let wrong =
            |why: String| Failure::command_line(format!("merge: `{}`: {why}", path.display()));
        let text = files::read_text(path)?;
        let mut lines = text.lines();
        let own = lines.next().unwrap_or_default();
        let plain = own.strip_suffix(&format!(",{REASON}"));
        let has_reason = plain.is_some();
        with_reason |= has_reason;
        let columns = plain.unwrap_or(own).to_owned();
        if !columns.starts_with("\"run\",") {
            return Err(wrong("it is no table of a sweep".to_owned()));
        }
        if head.as_ref().is_some_and(|head| *head != columns) {
            return Err(wrong(
                "it has other columns than the tables before it".to_owned(),
            ));
        }
        head = Some(columns);
        for line in lines.filter(|line| !line.is_empty()) {
            let number = cells(line).first().and_then(|run| run.parse().ok());
            let run: u64 = number.ok_or_else(|| wrong(format!("no run begins with `{line}`")))?;
            if rows.insert(run, (line.to_owned(), has_reason)).is_some() {
                return Err(wrong(format!("run {run} is in two tables")));
            }
        }
    }
    files::write_file(output, |out| {
        let head = head.unwrap_or_default();
        let reason = if with_reason {
            format!(",{REASON}")
        } else {
            String::new()
        };
        writeln!(out, "{head}{reason}")?;
        for (line, has_reason) in rows.values() {
            let empty = if with_reason && !has_reason {
                ",\"\""
            } else {
                ""
            };
            writeln!(out, "{line}{empty}")?;
        }
        Ok(())
    })?;
    let last = rows.keys().next_back().copied().unwrap_or(0);
    let missing = last - rows.len() as u64;
    if missing > 0 {
        message(&format!(
            "error: {missing} of {last} runs are in no table: is a share missing? `{}` has the others",
            output.display()
        ));
        return Ok(Exit::Incomplete);
    }
    if !args.quiet {
        message(&format!(
            "{last} runs of {} tables; {}",
            args.parts.len(),
            output.display()
        ));
    }
    Ok(Exit::Done)
}
