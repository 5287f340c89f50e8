//! References that are samples of a run, in the text form of BuildingsPy.
//!
//! Comes in: a text with a line `name=[v, v, …]` for each variable and one for `time`. Goes out: a [`ResultTable`], and the comparison of a result with it.
//!
//! All variables are samples at equal distances of time, mostly 101 of them; `time` has only its two ends, and so has a variable that does not move. Between two samples nothing
//! is known: the straight line between them is no curve of the model. A result is therefore compared at the samples only ([`compare_sampled`]).

use crate::{Comparison, ReadError, ResultTable, Signal, TubeOptions, Variable, compare};

/// The word of a text that begins every file of this form.
const MARK: &str = "last-generated=";

/// What samples resolve, as a share of a signal's size: the tools that make them keep results in single precision (6e-8), and interpolate.
const RESOLUTION: f64 = 1e-6;

/// The text begins like a reference of this form.
pub fn is_sampled(text: &str) -> bool {
    text.starts_with(MARK) || text.starts_with("time=[")
}

/// Reads the text form of BuildingsPy.
pub fn read_sampled(text: &str) -> Result<ResultTable, ReadError> {
    let mut columns: Vec<(usize, &str, Vec<f64>)> = Vec::new();
    let mut ends: Option<Vec<f64>> = None;
    for (i, line) in text.lines().enumerate() {
        let Some((name, values)) =
            (line.trim_end().strip_suffix(']')).and_then(|l| l.split_once("=["))
        else {
            // Statistics of the run that made the reference.
            continue;
        };
        let values = numbers(values).ok_or_else(|| {
            ReadError::line(i + 1, format!("the values of `{name}` are not numbers"))
        })?;
        match name.trim() {
            "time" => ends = Some(values),
            name => columns.push((i + 1, name, values)),
        }
    }
    let ends = ends.ok_or_else(|| ReadError::format("there is no line `time=[…]`"))?;
    let n = columns.iter().map(|(_, _, values)| values.len()).max();
    let mut table = ResultTable::new(grid(&ends, n.unwrap_or(0))?);
    for (line, name, values) in columns {
        let wrong = |e: &dyn std::fmt::Display| ReadError::line(line, e.to_string());
        match *values.as_slice() {
            // What does not move has a value at both ends.
            [value] => table
                .push_variable(name, constant(value))
                .map_err(|e| wrong(&e))?,
            [first, last] if first == last => table
                .push_variable(name, constant(first))
                .map_err(|e| wrong(&e))?,
            [first, last] => {
                let column = spaced(first, last, table.n_rows());
                table.push_column(name, column).map_err(|e| wrong(&e))?;
            }
            _ => table.push_column(name, values).map_err(|e| wrong(&e))?,
        }
    }
    Ok(table)
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split(',').map(|v| v.trim().parse().ok()).collect()
}

fn constant(value: f64) -> Variable {
    Variable::plain(crate::Source::Constant(value))
}

/// The times of all samples, from their ends or as they are.
fn grid(times: &[f64], n: usize) -> Result<Vec<f64>, ReadError> {
    let increasing = times.windows(2).all(|t| t[0] <= t[1]) && times.iter().all(|t| t.is_finite());
    match *times {
        _ if !increasing => Err(ReadError::format("time goes back or is not a number")),
        [first, last] => Ok(spaced(first, last, n.max(2))),
        _ if times.len() == n => Ok(times.to_vec()),
        _ => Err(ReadError::format(format!(
            "there are {} times, but {n} values of a variable",
            times.len()
        ))),
    }
}

fn spaced(first: f64, last: f64, n: usize) -> Vec<f64> {
    let span = (n.max(2) - 1) as f64;
    let at = |k: usize| first + (last - first) * (k as f64 / span);
    (0..n).map(at).collect()
}

/// Compares a result with the samples of a reference.
///
/// At a sample r at time t the result has the value nearest to r of those that it takes from t - δt to t + δt, δt being `relative_time` of the duration: a sample at an event may be
/// of either side. These values are a curve on the times of the samples, which [`compare`] measures.
pub fn compare_sampled(
    result: &ResultTable,
    reference: &ResultTable,
    names: &[String],
    options: &TubeOptions,
) -> Comparison {
    let (Some(first), Some(last)) = (reference.time().first(), reference.time().last()) else {
        return compare(result, reference, names, options);
    };
    let options = &TubeOptions {
        resolution: options.resolution.max(RESOLUTION),
        ..*options
    };
    let dt = options.relative_time * (last - first);
    let (Some(&begin), Some(&end)) = (result.time().first(), result.time().last()) else {
        return compare(result, reference, names, options);
    };
    let times: Vec<f64> = (reference.time().iter().copied())
        .filter(|t| *t >= begin - dt && *t <= end + dt)
        .collect();
    let mut sampled = ResultTable::new(times.clone());
    for name in names {
        let (Some(y), Some(r)) = (result.signal(name), reference.signal(name)) else {
            continue;
        };
        let offset = reference.time().partition_point(|t| *t < begin - dt);
        let values = (times.iter().enumerate()).map(|(k, &t)| {
            let (low, high) = range(&y, result.time(), (t - dt).max(begin), (t + dt).min(end));
            nearest(r.row(offset + k), low, high)
        });
        let column = values.collect();
        // Names of a list may come twice: the first has been compared.
        let _ = sampled.push_column(name.as_str(), column);
    }
    compare(&sampled, reference, names, options)
}

/// The point of an interval that is nearest to a value; not a number where the result is none.
fn nearest(value: f64, low: f64, high: f64) -> f64 {
    if low <= high {
        value.max(low).min(high)
    } else {
        f64::NAN
    }
}

/// Smallest and largest value of a signal between two times of its table; where it is not a number, the interval is empty.
fn range(signal: &Signal<'_>, times: &[f64], from: f64, to: f64) -> (f64, f64) {
    use crate::Side;
    let rows = times.partition_point(|t| *t < from)..times.partition_point(|t| *t <= to);
    let ends = [signal.at(from, Side::Left), signal.at(to, Side::Right)];
    let values = rows
        .map(|row| signal.row(row))
        .chain(ends.into_iter().flatten());
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        if value.is_nan() {
            (f64::INFINITY, f64::NEG_INFINITY)
        } else {
            (low.min(value), high.max(value))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    const TEXT: &str = "last-generated=2024-01-31\nstatistics-simulation=\n{\n  \"linear\": \" \",\n  \"numerical Jacobians\": \"0\"\n}\n\
        a[1, 2]=[0e+00, 1e+00, 1e+00, 0e+00, 0e+00]\nk=[3.5e+00, 3.5e+00]\ntime=[1e+01, 1.4e+01]\n";

    #[test]
    fn samples_are_at_equal_distances() {
        let table = read_sampled(TEXT).expect("a reference");
        assert!(is_sampled(TEXT));
        assert_eq!(table.time(), [10.0, 11.0, 12.0, 13.0, 14.0]);
        assert_eq!(
            table.signal("a[1,2]").map(|s| s.to_vec()),
            Some(vec![0.0, 1.0, 1.0, 0.0, 0.0])
        );
        assert_eq!(table.signal("k").and_then(|s| s.last()), Some(3.5));
    }

    #[test]
    fn values_that_do_not_fit_are_named() {
        let wrong = |text: &str| read_sampled(text).map_err(|e| e.to_string()).err();
        assert_eq!(
            wrong("time=[0, 1]\nx=[1, oops]\n").as_deref(),
            Some("line 2: the values of `x` are not numbers")
        );
        assert_eq!(
            wrong("x=[1, 2]\n").as_deref(),
            Some("there is no line `time=[…]`")
        );
        assert_eq!(
            wrong("time=[0, 1]\nx=[1, 2, 3]\ny=[1, 2, 3, 4]\n").as_deref(),
            Some("line 2: a trajectory has 3 values, but there are 4 times")
        );
        assert_eq!(
            wrong("time=[1, 0]\nx=[1, 2, 3]\n").as_deref(),
            Some("time goes back or is not a number")
        );
    }

    /// The result jumps at 11 and at 12.6: between samples the straight line of the reference is no curve.
    #[test]
    fn a_result_is_compared_at_the_samples() {
        let reference = read_sampled(TEXT).expect("a reference");
        let mut result = ResultTable::new(vec![10.0, 11.0, 11.0, 12.6, 12.6, 14.0]);
        let check = |result: &ResultTable| {
            let names = ["a[1, 2]".to_owned()];
            compare_sampled(result, &reference, &names, &TubeOptions::default()).verdict
        };
        result
            .push_column("a[1,2]", vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
            .expect("six values");
        assert_eq!(check(&result), Verdict::Match);
        let mut wrong = ResultTable::new(vec![10.0, 14.0]);
        wrong
            .push_column("a[1,2]", vec![0.0, 0.0])
            .expect("two values");
        assert_eq!(check(&wrong), Verdict::FarOff);
        let mut short = ResultTable::new(vec![10.0, 11.0, 11.0, 12.0]);
        short
            .push_column("a[1,2]", vec![0.0, 0.0, 1.0, 1.0])
            .expect("four values");
        assert_ne!(check(&short), Verdict::Match);
    }
}
