//! `saltus sweep`

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::values::{finite, positive};
use super::{AccessArgs, Setting, TargetArgs};

#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Values of a parameter or start value: first:last:count, a list v,v,v, or one; all combinations are run (repeatable)
    #[arg(long = "set", value_name = "PATH=A:B:N", required = true)]
    pub(crate) axes: Vec<Axis>,
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
    /// Variables whose last values are columns; default: all that move (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) variables: Vec<String>,
    /// The table, .csv; default: <Model>_sweep.csv
    #[arg(long, value_name = "FILE.csv")]
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

/// `path=a:b:n` of `sweep --set`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Axis {
    pub(crate) path: String,
    pub(crate) values: Vec<f64>,
}

/// An axis has at most so many values.
const AXIS_MAX: usize = 1_000_000;

impl FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> Result<Axis, String> {
        let Setting { path, value } = text.parse()?;
        let one = |text: &str| match text.trim() {
            "true" => Ok(1.0),
            "false" => Ok(0.0),
            number => {
                finite(number).map_err(|_| format!("`{number}` is not a number, true or false"))
            }
        };
        let parts: Vec<&str> = value.split(':').collect();
        let values = match parts[..] {
            [list] => list
                .split(',')
                .map(one)
                .collect::<Result<Vec<f64>, String>>()?,
            [first, last, count] => {
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
                (0..count).map(at).collect()
            }
            _ => return Err("expected first:last:count, a list v,v,v, or one value".into()),
        };
        Ok(Axis { path, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_ranges_lists_or_values() {
        let values = |text: &str| text.parse::<Axis>().map(|axis| axis.values);
        assert_eq!(values("p=0:1:3"), Ok(vec![0.0, 0.5, 1.0]));
        assert_eq!(values("p=0.1:0.3:2"), Ok(vec![0.1, 0.3]));
        assert_eq!(values("p=5:9:1"), Ok(vec![5.0]));
        assert_eq!(values("p=true,false"), Ok(vec![1.0, 0.0]));
        assert_eq!(values("p=-2"), Ok(vec![-2.0]));
        for wrong in ["p=", "p=a", "p=1:2", "p=1:2:0", "p=1:2:x", "1:2:3"] {
            assert!(values(wrong).is_err(), "{wrong}");
        }
    }
}
