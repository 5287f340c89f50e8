//! The table: number of the run, what was set, status, time that was reached, measures, and why runs failed if any did.

use saltus::Value;
use saltus_results::{ParquetColumn, push_csv_name, push_csv_number};

use super::cases::Cases;
use super::{DONE, Row};
use crate::args::NamedMeasure;
use crate::exit::Failure;

const RUN: &str = "run";
const STATUS: &str = "status";
const TIME: &str = "time";
const REASON: &str = "reason";

/// No two columns have one name.
pub(super) fn check_columns(names: &[String], measures: &[NamedMeasure]) -> Result<(), Failure> {
    let own = [RUN, STATUS, TIME, REASON].map(str::to_owned);
    let measured = measures.iter().map(|m| &m.name);
    let mut seen: Vec<&String> = own.iter().collect();
    for name in names.iter().chain(measured) {
        if seen.contains(&name) {
            return Err(Failure::command_line(format!(
                "two columns of the table would be named `{name}`: give the measure another name, as in `--measure peak=max(x)`"
            )));
        }
        seen.push(name);
    }
    Ok(())
}

pub(super) fn table(
    cases: &Cases,
    measures: &[NamedMeasure],
    rows: &[Row],
) -> Vec<(String, ParquetColumn)> {
    let numbers =
        |value: &dyn Fn(&Row) -> f64| ParquetColumn::Numbers(rows.iter().map(value).collect());
    let texts =
        |value: &dyn Fn(&Row) -> String| ParquetColumn::Texts(rows.iter().map(value).collect());
    let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
    let mut table = vec![(RUN.to_owned(), numbers(&|row| row.run as f64 + 1.0))];
    let values: Vec<Vec<Value>> = rows.iter().map(|row| cases.values(row.run)).collect();
    for (k, name) in cases.names.iter().enumerate() {
        let column: Option<Vec<f64>> = values.iter().map(|row| row[k].as_f64()).collect();
        let column = match column {
            Some(numbers) => ParquetColumn::Numbers(numbers),
            None => ParquetColumn::Texts(values.iter().map(|row| plain(&row[k])).collect()),
        };
        table.push((name.clone(), column));
    }
    table.push((STATUS.to_owned(), texts(&|row| row.status.clone())));
    table.push((TIME.to_owned(), numbers(&|row| number(row.time))));
    for (k, measure) in measures.iter().enumerate() {
        let last = numbers(&|row| number(row.last.get(k).copied().flatten()));
        table.push((measure.name.clone(), last));
    }
    if rows.iter().any(|row| row.status != DONE) {
        table.push((REASON.to_owned(), texts(&|row| row.reason.clone())));
    }
    table
}

/// A text without its quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(super) fn csv(table: &[(String, ParquetColumn)]) -> String {
    let mut out = String::new();
    for (k, (name, _)) in table.iter().enumerate() {
        if k > 0 {
            out.push(',');
        }
        push_csv_name(&mut out, name);
    }
    out.push('\n');
    let n_rows = table.first().map_or(0, |(_, column)| column.len());
    for row in 0..n_rows {
        for (k, (_, column)) in table.iter().enumerate() {
            if k > 0 {
                out.push(',');
            }
            match column {
                ParquetColumn::Numbers(values) => push_csv_number(&mut out, values[row]),
                ParquetColumn::Texts(values) => {
                    push_csv_name(&mut out, &values[row].replace('\n', " "))
                }
            }
        }
        out.push('\n');
    }
    out
}
