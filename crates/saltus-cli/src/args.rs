//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Compiles Modelica models and simulates them, jumps included.
#[derive(Parser, Debug)]
#[command(name = "saltus", version, about, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Parse, flatten, count and verify a model
    Check(CheckArgs),
    /// Compile a model into a file that runs on any machine, without the source
    Compile(CompileArgs),
    /// Run a model
    Simulate(Box<SimulateArgs>),
    /// Print a stage of a model's translation
    Show(ShowArgs),
    /// Draw variables of a result as SVG
    Plot(PlotArgs),
    /// Compare a result with a reference inside a tube; exit code 0 equal, 1 different
    Compare(CompareArgs),
    /// Cut results of runs that were killed behind their last whole row, for readers that need that
    Recover(RecoverArgs),
    /// Run all models of a library that have an experiment annotation; exit code 0 if all pass
    Test(Box<TestArgs>),
    /// Run a model with all combinations of values, on all cores, into one table
    Sweep(Box<SweepArgs>),
    /// Run studies of methods and models: tables, checks, pictures; exit code 0 if all numbers are right
    Study(StudyArgs),
    /// Explain an error code
    Explain(ExplainArgs),
}

/// Which model, and where the libraries are.
#[derive(Args, Debug)]
pub(crate) struct TargetArgs {
    /// A Modelica file, the qualified name of a class in a library, or a file of `saltus compile`
    #[arg(value_name = "FILE.mo | qualified.Name | FILE.saltus")]
    pub(crate) target: String,
    /// Which class of the file; default: its last top-level model
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// A folder with libraries, searched before MODELICAPATH (repeatable)
    #[arg(long = "library", value_name = "DIR")]
    pub(crate) libraries: Vec<PathBuf>,
    /// Write the formula of an integrator into the equations of a state (`*`: of all): backward-euler, trapezoidal, radau3 or radau5 (repeatable)
    #[arg(long = "inline", value_name = "STATE=METHOD")]
    pub(crate) inlined: Vec<Setting>,
}

/// What functions of a model may do besides reading files, and changing those in the working folder.
#[derive(Args, Debug)]
pub(crate) struct AccessArgs {
    /// Let functions of the model change files in this folder, not only in the working folder (repeatable)
    #[arg(long = "allow-write", value_name = "DIR")]
    pub(crate) allow_write: Vec<PathBuf>,
    /// Let functions of the model run commands of the operating system
    #[arg(long)]
    pub(crate) allow_system: bool,
    /// Let the model call C functions of its annotations; they run with your rights (per library: `[foreign] allow` in saltus.toml)
    #[arg(long)]
    pub(crate) allow_foreign: bool,
}

/// What a command that only compiles may take.
#[derive(Args, Debug)]
pub(crate) struct LimitArgs {
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "600", value_parser = positive)]
    pub(crate) max_wall: f64,
    /// Give up beyond so many megabytes of address space; default: nine tenths of the machine's memory (Linux only)
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_memory: Option<u64>,
}

impl Command {
    /// The limits of commands that only compile.
    pub(crate) fn limits(&self) -> Option<&LimitArgs> {
        match self {
            Command::Check(args) => Some(&args.limits),
            Command::Compile(args) => Some(&args.limits),
            Command::Show(args) => Some(&args.limits),
            _ => None,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Args, Debug)]
pub(crate) struct CompileArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Value of a parameter or start value (repeatable); it can be set again when the model is run
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) settings: Vec<Setting>,
    /// The compiled model; default: <Model>.saltus
    #[arg(long, short, value_name = "FILE.saltus")]
    pub(crate) output: Option<PathBuf>,
    /// Leave the source out: what the structure depends on can then no longer be set
    #[arg(long)]
    pub(crate) without_source: bool,
    /// No text but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Default: experiment annotation, else 0
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) start_time: Option<f64>,
    /// Default: experiment annotation, else 1
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) stop_time: Option<f64>,
    /// Relative tolerance; default: experiment annotation, else 1e-6
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    pub(crate) tolerance: Option<f64>,
    /// Distance of output points; default: experiment annotation, else 500 intervals
    #[arg(long, value_name = "SECONDS", value_parser = positive, conflicts_with = "intervals")]
    pub(crate) interval: Option<f64>,
    /// Number of output intervals
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(crate) intervals: Option<u32>,
    /// The integrator: auto, dopri5, dop853, radau, esdirk or bdf; for study euler, rk4, runge-kutta-simpson, rkf45, backward-euler, trapezoidal or
    /// lobatto
    #[arg(long, value_name = "NAME")]
    pub(crate) solver: Option<String>,
    /// How events are located in their brackets; `saltus study event-methods` compares the methods
    #[arg(long, value_name = "NAME")]
    pub(crate) event_method: Option<String>,
    /// How events are noticed within a step: all (every root of the interpolant), or the textbook's sign-change, derivative or sturm, which may miss some
    #[arg(long, value_name = "NAME")]
    pub(crate) event_detection: Option<String>,
    /// How the first of several events in a step is told apart: together, or the textbook's regula-falsi or golden-section
    #[arg(long, value_name = "NAME")]
    pub(crate) event_isolation: Option<String>,
    /// Where infinitely many events come to a limit: continue (at rest) or stop
    #[arg(long, value_name = "WHAT")]
    pub(crate) zeno: Option<String>,
    /// Step of the integrators of --inline; default: annotation of the model, else the distance of output points
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) inline_step: Option<f64>,
    /// Value of a parameter or start value (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) settings: Vec<Setting>,
    /// Result file, .csv, .mat or .parquet by its ending; `-` is CSV on standard output; default: <Model>_res.mat
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only variables that match, hidden ones too; `*` and `?` stand for any text and one character (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) variables: Vec<String>,
    /// Event log, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Statistics as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) stats: Option<PathBuf>,
    /// Sizes of the accepted steps, CSV
    #[arg(long, value_name = "FILE")]
    pub(crate) steps: Option<PathBuf>,
    /// A picture of variables over time (repeatable)
    #[arg(long = "plot", value_name = "VAR,VAR=FILE.svg")]
    pub(crate) plots: Vec<PlotRequest>,
    /// Begin where an earlier run has been, at its end or at a time inside it; the initial equations are not used
    #[arg(long, value_name = "RESULT[@TIME]")]
    pub(crate) start_from: Option<StartFrom>,
    /// Integrate across discontinuities without locating them
    #[arg(long)]
    pub(crate) no_events: bool,
    /// Interpret the model, never compile it to machine code; the result is the same
    #[arg(long)]
    pub(crate) interpret: bool,
    /// Compile all of the model to machine code at once, not only what runs often; the result is the same
    #[arg(long, conflicts_with = "interpret")]
    pub(crate) native: bool,
    /// Give up after so many seconds, compiling included; what was computed is kept
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    pub(crate) max_wall: Option<f64>,
    /// No text but errors
    #[arg(long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// What to print
    #[arg(long, value_enum)]
    pub(crate) stage: Stage,
    /// How: text, and for structure, mode and jacobian also json and svg
    #[arg(long, value_enum, default_value_t = ShowFormat::Text)]
    pub(crate) format: ShowFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum ShowFormat {
    Text,
    Json,
    /// Incidence as written and sorted, digraph with causal, torn and residual edges
    Svg,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Stage {
    /// The syntax tree
    Ast,
    /// The flat model: variables and scalar equations
    Flat,
    /// States, blocks in order, torn variables, events
    Structure,
    /// Modes that a run enters: what selects them, their states, index and systems of equations
    Mode,
    /// Which derivatives depend on which states, and the same for the unknowns of blocks
    Jacobian,
}

#[derive(Args, Debug)]
pub(crate) struct PlotArgs {
    /// A result file, .csv or .mat
    #[arg(required_unless_present_any = ["steps", "timeline"])]
    pub(crate) result: Option<PathBuf>,
    /// Names of variables
    #[arg(required_unless_present_any = ["steps", "timeline"])]
    pub(crate) variables: Vec<String>,
    /// Draw the step sizes of a run instead, from the file of `simulate --steps`
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["result", "over", "timeline"])]
    pub(crate) steps: Option<PathBuf>,
    /// Draw what happened when instead, a row for each kind and cause, from the event log of `simulate --events`
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["result", "over", "events"])]
    pub(crate) timeline: Option<PathBuf>,
    /// The picture; .png too if the program was built with the feature `png`
    #[arg(long, short, value_name = "FILE.svg")]
    pub(crate) output: PathBuf,
    /// Event log of the run; its times are drawn as faint lines
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Draw over this variable instead of time: a phase plot
    #[arg(long, value_name = "NAME", conflicts_with = "events")]
    pub(crate) over: Option<String>,
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Width in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = saltus_plot::WIDTH_DEFAULT)]
    pub(crate) width: u32,
    /// Height in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = saltus_plot::HEIGHT_DEFAULT)]
    pub(crate) height: u32,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    /// A result file, .csv or .mat
    pub(crate) result: PathBuf,
    /// The reference, .csv or .mat
    pub(crate) reference: PathBuf,
    /// Names to compare, one per line; default: all variables of the reference
    #[arg(long, value_name = "FILE")]
    pub(crate) signals: Option<PathBuf>,
    /// Half-height of the tube as a share of the signal's range
    #[arg(long, value_name = "SHARE", default_value = "0.002", value_parser = not_negative)]
    pub(crate) tolerance: f64,
    /// Smallest half-height of the tube as a share of the signal's size: what the reference resolves
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = not_negative)]
    pub(crate) resolution: f64,
    /// Half-width of the tube as a share of the duration, and at most two rows of the reference
    #[arg(long, value_name = "SHARE", default_value = "0.002", value_parser = not_negative)]
    pub(crate) time_tolerance: f64,
    /// Share of the time that a signal may be outside
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = not_negative)]
    pub(crate) allow_outside: f64,
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    /// Result files, .csv or .mat
    #[arg(required = true, value_name = "RESULT")]
    pub(crate) results: Vec<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct TestArgs {
    /// A library by name or folder, a package of one, or a folder of files
    #[arg(value_name = "LIBRARY | FOLDER")]
    pub(crate) target: String,
    /// A folder with libraries, searched before MODELICAPATH (repeatable)
    #[arg(long = "library", value_name = "DIR")]
    pub(crate) libraries: Vec<PathBuf>,
    /// Reference results: the layout of the Modelica Association, files Qualified.Name.csv, or samples Qualified_Name.txt; default: the library's own, in
    /// Resources/ReferenceResults/Dymola
    #[arg(long, value_name = "DIR")]
    pub(crate) reference: Option<PathBuf>,
    /// Only models with a reference
    #[arg(long)]
    pub(crate) referenced_only: bool,
    /// Only models whose name matches; `*` and `?` stand for any text and one character (repeatable)
    #[arg(long = "filter", value_name = "GLOB")]
    pub(crate) filters: Vec<String>,
    /// Models that run at the same time; default: number of cores
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<usize>,
    /// Seconds per model, compiling included
    #[arg(long, value_name = "SECONDS", default_value_t = 120.0, value_parser = positive)]
    pub(crate) timeout: f64,
    /// Megabytes of address space per model (Unix only)
    #[arg(long, value_name = "MB", default_value_t = 6000)]
    pub(crate) memory: u64,
    /// Write a report: .json, .xml (JUnit), .html with pictures or .md by its ending (repeatable); a run that was ended goes on
    /// from the journal beside the first
    #[arg(long = "report", value_name = "FILE")]
    pub(crate) reports: Vec<PathBuf>,
    /// An earlier JSON report: say who moved, and fail only if a model came less far
    #[arg(long, value_name = "OLD.json")]
    pub(crate) baseline: Option<PathBuf>,
    /// Keep the result files in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Run all models again, also those of a run that was ended
    #[arg(long)]
    pub(crate) fresh: bool,
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// No line per model
    #[arg(long)]
    pub(crate) quiet: bool,
}

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

#[derive(Args, Debug)]
pub(crate) struct StudyArgs {
    /// Which one (`saltus study list` names them); default: all
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Where pages and pictures are written; made if it is not there
    #[arg(long, value_name = "DIR", default_value = "study")]
    pub(crate) output: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The word in brackets after `error`; without it, all codes are listed
    #[arg(value_name = "error-code")]
    pub(crate) code: Option<String>,
}

/// `path=value` of `--set`. The value is interpreted when the type of the variable is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    pub(crate) path: String,
    pub(crate) value: String,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Setting {
                    path: path.trim().to_owned(),
                    value: value.trim().to_owned(),
                })
            }
            _ => Err("expected path=value".into()),
        }
    }
}

/// `RESULT[@TIME]` of `--start-from`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StartFrom {
    pub(crate) file: PathBuf,
    /// `None`: the end of the result.
    pub(crate) time: Option<f64>,
}

impl FromStr for StartFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<StartFrom, String> {
        // A name may hold the sign itself; a time it is only if it is a number.
        let split = text.rsplit_once('@').and_then(|(file, time)| {
            let time = finite(time).ok()?;
            (!file.is_empty()).then(|| (file.to_owned(), time))
        });
        Ok(match split {
            Some((file, time)) => StartFrom {
                file: file.into(),
                time: Some(time),
            },
            None => StartFrom {
                file: text.into(),
                time: None,
            },
        })
    }
}

/// `VAR,VAR=FILE.svg` of `--plot`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PlotRequest {
    pub(crate) variables: Vec<String>,
    pub(crate) file: PathBuf,
}

impl FromStr for PlotRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<PlotRequest, String> {
        let (names, file) = text
            .rsplit_once('=')
            .ok_or("expected VAR,VAR=FILE.svg".to_owned())?;
        if !file.to_ascii_lowercase().ends_with(".svg") {
            return Err(format!("pictures are SVG: `{file}` should end with .svg"));
        }
        let variables = split_names(names);
        if variables.iter().any(String::is_empty) {
            return Err("expected VAR,VAR=FILE.svg".into());
        }
        Ok(PlotRequest {
            variables,
            file: file.into(),
        })
    }
}

/// Splits at commas that are not inside brackets or parentheses: `a[1,2],b` is two names.
fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(name) = names.last_mut() {
            name.push(c);
        }
    }
    names.iter().map(|name| name.trim().to_owned()).collect()
}

fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("expected a number".into()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match finite(text) {
        Ok(value) if value > 0.0 => Ok(value),
        _ => Err("expected a number above 0".into()),
    }
}

fn not_negative(text: &str) -> Result<f64, String> {
    match finite(text) {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("expected a number, 0 or above".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn plot_requests_split_names_outside_brackets() {
        let request: PlotRequest = "a[1,2],der(x),b=out/x.svg".parse().unwrap();
        assert_eq!(request.variables, ["a[1,2]", "der(x)", "b"]);
        assert_eq!(request.file, PathBuf::from("out/x.svg"));
        assert!("x.svg".parse::<PlotRequest>().is_err());
        assert!("x=y.png".parse::<PlotRequest>().is_err());
        assert!("x,=y.svg".parse::<PlotRequest>().is_err());
    }

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

    #[test]
    fn settings_need_a_path_and_a_value() {
        let setting: Setting = "body.m = 2.5".parse().unwrap();
        assert_eq!(
            (setting.path.as_str(), setting.value.as_str()),
            ("body.m", "2.5")
        );
        assert!("m".parse::<Setting>().is_err());
        assert!("=1".parse::<Setting>().is_err());
        assert!("m=".parse::<Setting>().is_err());
    }
}
