//! `saltus sweep`

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use saltus::Measure;
use saltus::sampling::Distribution;

use super::values::{finite, positive};
use super::{AccessArgs, GivenArgs, Setting, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    #[command(flatten)]
    pub(crate) given: GivenArgs,
    /// Tables of `--shard` that `saltus sweep merge` puts together
    #[arg(value_name = "PART.csv")]
    pub(crate) parts: Vec<PathBuf>,
    /// Values of a parameter or start value: first:last:count, a list v,v,v, one, or a distribution, uniform(a,b), loguniform(a,b) or normal(mean,deviation); all combinations
    /// are run (repeatable)
    #[arg(long = "set", value_name = "PATH=A:B:N")]
    pub(crate) axes: Vec<Axis>,
    /// Cases, one a row, with names of parameters and start values as heads of the columns
    #[arg(long, value_name = "FILE.csv")]
    pub(crate) cases: Option<PathBuf>,
    /// How many samples are drawn from the distributions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) samples: Option<u32>,
    /// How they are drawn
    #[arg(long, value_enum, default_value_t = SamplingArg::Random)]
    pub(crate) sampling: SamplingArg,
    /// The same seed gives the same samples
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub(crate) seed: u64,
    /// A number of each run as a column, with a name if one is given: max(x), min(x), mean(x), integral(x), rms(x), final(x), first(x), at(x, time), time_of(x > 3), events
    /// (repeatable)
    #[arg(long = "measure", value_name = "[NAME=]MEASURE")]
    pub(crate) measures: Vec<NamedMeasure>,
    /// Curves of all runs: one .parquet with a column `run`, or a folder with a .csv for each run
    #[arg(long, value_name = "FILE.parquet | DIR")]
    pub(crate) trajectories: Option<PathBuf>,
    /// Only every n-th run, for several machines: 3/16 is the third share of sixteen; `saltus sweep merge` puts the tables together
    #[arg(long, value_name = "K/N")]
    pub(crate) shard: Option<Shard>,
    /// Points at which measures look at a run, and rows of trajectories; default: experiment annotation, else 500 intervals
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) intervals: Option<u32>,
    /// Default: experiment annotation, else 0
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) start_time: Option<f64>,
    /// Default: experiment annotation, else 1
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) stop_time: Option<f64>,
    /// Relative tolerance; default: experiment annotation, else 1e-6
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// The integrator
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<String>,
    /// Variables whose last values are columns, and whose curves are kept by --trajectories; default: all that move, and none beside --measure (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) variables: Vec<String>,
    /// The table, .csv or .parquet; default: <Model>_sweep.csv
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Runs at the same time; default: number of cores
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Seconds per run
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) max_wall: Option<f64>,
    /// Make all runs again, also those of a sweep that was ended
    #[arg(long)]
    pub(crate) fresh: bool,
    /// No text but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum SamplingArg {
    /// Independent samples
    Random,
    /// Latin hypercube: one sample in each stratum of each distribution
    Lhs,
}

/// `peak=max(x)` of `--measure`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct NamedMeasure {
    pub(crate) name: String,
    pub(crate) measure: Measure,
}

impl FromStr for NamedMeasure {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedMeasure, String> {
        let is_name = |name: &str| {
            let mut letters = name.trim().chars();
            letters
                .next()
                .is_some_and(|c| c.is_alphabetic() || c == '_')
                && letters.all(|c| c.is_alphanumeric() || "_ -".contains(c))
        };
        let named = text.split_once('=').filter(|(name, _)| is_name(name));
        let (name, measure) = match named {
            Some((name, measure)) => (Some(name.trim().to_owned()), measure),
            None => (None, text),
        };
        let measure: Measure = measure.parse()?;
        Ok(NamedMeasure {
            name: name.unwrap_or_else(|| match &measure {
                // Beside an axis of the same name it is told apart.
                Measure::Last(variable) => format!("final({variable})"),
                other => other.to_string(),
            }),
            measure,
        })
    }
}

/// `3/16` of `--shard`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shard {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text
            .split_once('/')
            .and_then(|(number, of)| Some((number.trim().parse().ok()?, of.trim().parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err("expected k/n with k from 1 to n, as in 3/16".into()),
        }
    }
}

/// One argument of `sweep --set`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Axis {
    pub(crate) path: String,
    pub(crate) values: AxisValues,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum AxisValues {
    Numbers(Vec<f64>),
    /// To be understood by the type of the variable.
    Texts(Vec<String>),
    Drawn(Distribution),
}

/// An axis has at most so many values.
const AXIS_MAX: usize = 1_000_000;

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Axis, String> {
        let Setting { path, value } = text.parse()?;
        let is_drawn = ["uniform", "loguniform", "normal"]
            .iter()
            .any(|name| value.starts_with(&format!("{name}(")));
        if is_drawn {
            let values = AxisValues::Drawn(value.parse()?);
            return Ok(Axis { path, values });
        }
        let parts: Vec<&str> = value.split(':').collect();
        let is_plain = !value.contains(['"', '{', '(']);
        let values = match parts[..] {
            [first, last, count] if is_plain => AxisValues::Numbers(range(first, last, count)?),
            [_, _] if is_plain && parts.iter().all(|part| finite(part.trim()).is_ok()) => {
                return Err("expected first:last:count, a list v,v,v, or one value".into());
            }
            _ => AxisValues::Texts(split_list(&value)),
        };
        match &values {
            AxisValues::Texts(texts) if texts.iter().any(String::is_empty) => {
                Err("expected first:last:count, a list v,v,v, or one value".into())
            }
            _ => Ok(Axis { path, values }),
        }
    }
}

fn range(first: &str, last: &str, count: &str) -> Result<Vec<f64>, String> {
    let one =
        |text: &str| finite(text.trim()).map_err(|_| format!("`{}` is not a number", text.trim()));
    let (first, last) = (one(first)?, one(last)?);
    let count = (count.trim().parse::<usize>().ok())
        .filter(|n| (1..=AXIS_MAX).contains(n))
        .ok_or_else(|| format!("`{count}` is not a number of values"))?;
    // Both ends are exact.
    let at = |i: usize| match i {
        0 => first,
        i if i + 1 == count => last,
        i => first + (last - first) * (i as f64 / (count - 1) as f64),
    };
    Ok((0..count).map(at).collect())
}

/// Splits at commas that are not inside braces, parentheses or quotes.
fn split_list(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut quoted) = (0_usize, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '{' | '(' | '[' if !quoted => depth += 1,
            '}' | ')' | ']' if !quoted => depth = depth.saturating_sub(1),
            ',' if depth == 0 && !quoted => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_ranges_lists_values_or_distributions() {
        let values = |text: &str| text.parse::<Axis>().map(|axis| axis.values);
        let numbers = |n: &[f64]| Ok(AxisValues::Numbers(n.to_vec()));
        let texts = |t: &[&str]| {
            Ok(AxisValues::Texts(
                t.iter().map(|t| (*t).to_owned()).collect(),
            ))
        };
        assert_eq!(values("p=0:1:3"), numbers(&[0.0, 0.5, 1.0]));
        assert_eq!(values("p=0.1:0.3:2"), numbers(&[0.1, 0.3]));
        assert_eq!(values("p=5:9:1"), numbers(&[5.0]));
        assert_eq!(values("p=true,false"), texts(&["true", "false"]));
        assert_eq!(values("p=-2"), texts(&["-2"]));
        assert_eq!(values("v={1,2},{3,4}"), texts(&["{1,2}", "{3,4}"]));
        assert_eq!(values("s=\"a,b\",c"), texts(&["\"a,b\"", "c"]));
        let drawn = Ok(AxisValues::Drawn(Distribution::Uniform(0.0, 1.0)));
        assert_eq!(values("p=uniform(0, 1)"), drawn);
        for wrong in [
            "p=",
            "p=1:2",
            "p=1:2:0",
            "p=1:2:x",
            "1:2:3",
            "p=1,,2",
            "p=uniform(1)",
        ] {
            assert!(values(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn measures_may_have_names() {
        let named = |text: &str| {
            text.parse::<NamedMeasure>()
                .map(|m| (m.name, m.measure.to_string()))
        };
        assert_eq!(named("peak=max(x)"), Ok(("peak".into(), "max(x)".into())));
        assert_eq!(named("max(x)"), Ok(("max(x)".into(), "max(x)".into())));
        assert_eq!(named("final(x)"), Ok(("final(x)".into(), "x".into())));
        let time_of = named("t=time_of(x >= 3)");
        assert_eq!(time_of, Ok(("t".into(), "time_of(x > 3)".into())));
        assert!(named("peak=median(x)").is_err());
        assert_eq!("3/16".parse(), Ok(Shard { number: 3, of: 16 }));
        assert!("0/16".parse::<Shard>().is_err() && "17/16".parse::<Shard>().is_err());
    }
}
