//! What is set in each run: combinations of the axes, samples of distributions, rows of a file.

use std::path::Path;

use saltus::sampling::{Sampling, samples};
use saltus::{Model, Sweep, Value};

use crate::args::{AxisValues, SamplingArg, SweepArgs};
use crate::engine::setting_failure;
use crate::exit::Failure;
use crate::files;

/// A sweep has at most so many runs.
const RUNS_MAX: usize = 10_000_000;

/// What is set: names, and for each run a value for each of them.
pub(super) struct Cases {
    pub(super) names: Vec<String>,
    /// Rows of the file, or samples, or one empty row.
    listed: Vec<Vec<Value>>,
    /// Values of the axes, which are combined with each row; the last one moves fastest.
    axes: Vec<Vec<Value>>,
}

impl Cases {
    /// The values of a run.
    pub(super) fn values(&self, run: usize) -> Vec<Value> {
        let mut rest = run;
        let mut combined: Vec<Value> = Vec::with_capacity(self.axes.len());
        for values in self.axes.iter().rev() {
            combined.push(values[rest % values.len()].clone());
            rest /= values.len();
        }
        combined.reverse();
        let mut all = self.listed[rest].clone();
        all.extend(combined);
        all
    }

    /// The same for the facade, without combining them here.
    pub(super) fn given_to<'m>(&self, mut sweep: Sweep<'m>) -> Sweep<'m> {
        let n_axes = self.axes.len();
        let (listed, combined) = self.names.split_at(self.names.len() - n_axes);
        if !listed.is_empty() {
            let row = |row: &Vec<Value>| -> Vec<(String, Value)> {
                listed.iter().cloned().zip(row.iter().cloned()).collect()
            };
            sweep = sweep.cases(self.listed.iter().map(row));
        }
        for (name, values) in combined.iter().zip(&self.axes) {
            sweep = sweep.grid(name, values.iter().cloned());
        }
        sweep
    }
}

/// All that the command line asks for. Values are understood by the types of the variables; the first of each name must fit the model.
pub(super) fn cases(model: &Model, args: &SweepArgs) -> Result<Cases, Failure> {
    let mut cases = Cases {
        names: Vec::new(),
        listed: vec![Vec::new()],
        axes: Vec::new(),
    };
    if let Some(path) = &args.cases {
        (cases.names, cases.listed) = of_file(model, path)?;
    }
    draw(args, &mut cases)?;
    let mut n: usize = cases.listed.len();
    for axis in &args.axes {
        let values: Vec<Value> = match &axis.values {
            AxisValues::Drawn(_) => continue,
            AxisValues::Numbers(numbers) => (numbers.iter())
                .map(|x| {
                    let name = model.setting_name(&axis.path)?;
                    model.value_of_number(name, *x)
                })
                .collect::<Result<_, _>>(),
            AxisValues::Texts(texts) => (texts.iter())
                .map(|text| model.value_of_text(model.setting_name(&axis.path)?, text))
                .collect::<Result<_, _>>(),
        }
        .map_err(setting_failure)?;
        n = n.saturating_mul(values.len());
        if n > RUNS_MAX {
            return Err(Failure::command_line(format!("more than {RUNS_MAX} runs")));
        }
        cases.names.push(axis.path.clone());
        cases.axes.push(values);
    }
    if let Some(twice) = twice(&cases.names) {
        return Err(Failure::command_line(format!("`{twice}` is set twice")));
    }
    check_each_axis(model, &cases)?;
    Ok(cases)
}

/// Adds columns of samples to the rows there are.
fn draw(args: &SweepArgs, cases: &mut Cases) -> Result<(), Failure> {
    let (mut names, mut distributions) = (Vec::new(), Vec::new());
    for axis in &args.axes {
        if let AxisValues::Drawn(distribution) = axis.values {
            names.push(axis.path.clone());
            distributions.push(distribution);
        }
    }
    let n = match (args.samples, names.is_empty()) {
        (None, true) => return Ok(()),
        (Some(_), true) => {
            return Err(Failure::command_line(
                "--samples: there is no distribution: write `--set path=uniform(low,high)`",
            ));
        }
        (None, false) => {
            return Err(Failure::command_line(
                "a distribution needs the number of its samples: `--samples N`",
            ));
        }
        (Some(n), false) => n as usize,
    };
    let how = match args.sampling {
        SamplingArg::Random => Sampling::Random,
        SamplingArg::Lhs => Sampling::LatinHypercube,
    };
    let drawn = samples(&distributions, n, how, args.seed);
    if n.saturating_mul(cases.listed.len()) > RUNS_MAX {
        return Err(Failure::command_line(format!("more than {RUNS_MAX} runs")));
    }
    cases.names.extend(names);
    cases.listed = (cases.listed.iter())
        .flat_map(|row| {
            drawn.iter().map(move |sample| {
                let sample = sample.iter().map(|x| Value::Real(*x));
                row.iter().cloned().chain(sample).collect()
            })
        })
        .collect();
    Ok(())
}

/// Every name and every value of every axis must be one that the model takes: what is wrong is said before the first run. Values in rows of a file may fail one by one.
fn check_each_axis(model: &Model, cases: &Cases) -> Result<(), Failure> {
    let Some(first) = cases.listed.first() else {
        return Err(Failure::command_line("there are no cases"));
    };
    let n_listed = first.len();
    for (name, value) in cases.names.iter().zip(first) {
        model
            .with([(name, value.clone())])
            .map_err(setting_failure)?;
    }
    for (name, values) in cases.names[n_listed..].iter().zip(&cases.axes) {
        // Numbers in a range are of one type; the ends say whether they are inside of `min` and `max`.
        let ends = [values.first(), values.last()];
        for value in ends.into_iter().flatten() {
            model
                .with([(name, value.clone())])
                .map_err(setting_failure)?;
        }
    }
    Ok(())
}

fn twice(names: &[String]) -> Option<&String> {
    names
        .iter()
        .enumerate()
        .find(|(k, name)| names[..*k].contains(name))
        .map(|(_, name)| name)
}

/// The names and values of a table with a row for each case.
fn of_file(model: &Model, path: &Path) -> Result<(Vec<String>, Vec<Vec<Value>>), Failure> {
    let text = files::read_text(path)?;
    let wrong = |why: String| Failure::command_line(format!("--cases `{}`: {why}", path.display()));
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let Some((_, head)) = lines.next() else {
        return Err(wrong("it is empty".to_owned()));
    };
    let names = cells(head);
    if let Some(name) = twice(&names) {
        return Err(wrong(format!("two columns are named `{name}`")));
    }
    let mut rows = Vec::new();
    for (k, line) in lines {
        let texts = cells(line);
        if texts.len() != names.len() {
            return Err(wrong(format!(
                "line {} has {} values for {} columns",
                k + 1,
                texts.len(),
                names.len()
            )));
        }
        let values: Result<Vec<Value>, saltus::Error> = (names.iter().zip(&texts))
            .map(|(name, text)| model.value_of_text(model.setting_name(name)?, text))
            .collect();
        rows.push(values.map_err(|e| wrong(format!("line {}: {e}", k + 1)))?);
    }
    match rows.is_empty() {
        true => Err(wrong("it has no case".to_owned())),
        false => Ok((names, rows)),
    }
}

/// The cells of a line, quotes removed; two quotes are one.
pub(super) fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.trim_end_matches('\r').chars().peekable();
    while let Some(c) = letters.next() {
        let Some(cell) = cells.last_mut() else { break };
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => {
                cell.push('"');
                letters.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_axis_moves_fastest() {
        let cases = Cases {
            names: vec!["a".into(), "b".into()],
            listed: vec![Vec::new()],
            axes: vec![
                [1, 2, 3].map(Value::from).to_vec(),
                [5, 7].map(Value::from).to_vec(),
            ],
        };
        assert_eq!(cases.values(0), [1.into(), 5.into()]);
        assert_eq!(cases.values(1), [1.into(), 7.into()]);
        assert_eq!(cases.values(5), [3.into(), 7.into()]);
    }

    #[test]
    fn cells_may_hold_commas_and_quotes() {
        assert_eq!(
            cells("a, \"b,c\",\"say \"\"x\"\"\""),
            ["a", "b,c", "say \"x\""]
        );
    }
}
