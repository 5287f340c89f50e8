//! What several verbs take.

use std::path::PathBuf;

use clap::Args;

use super::values::{InputRequest, Setting, interpolation, positive};

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

/// Values from outside beside `--set`.
#[derive(Args, Debug)]
pub(crate) struct GivenArgs {
    /// Values of parameters and start values: a table of names and values, .toml, .json or .csv (repeatable; --set goes over it)
    #[arg(long = "settings", value_name = "FILE")]
    pub(crate) settings_files: Vec<PathBuf>,
    /// A table `[scenario.NAME]` of the working folder's saltus.toml with such values
    #[arg(long, value_name = "NAME")]
    pub(crate) scenario: Option<String>,
    /// Inputs of the model: columns of a .csv, .mat or .parquet file, or an expression, as in u='sin(time)' (repeatable)
    #[arg(long = "input", value_name = "FILE | NAME=EXPRESSION")]
    pub(crate) inputs: Vec<InputRequest>,
    /// How inputs of files go from point to point: held, linear or smooth; two rows of one time are a jump
    #[arg(long, value_name = "HOW", default_value = "linear", value_parser = interpolation)]
    pub(crate) interpolation: saltus::Interpolation,
}

/// The values of one model, for verbs without axes.
#[derive(Args, Debug)]
pub(crate) struct SetArgs {
    /// Value of a parameter or start value: a number, an expression of numbers, true, a text, a literal, {1, 2, 3} (repeatable)
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) settings: Vec<Setting>,
    #[command(flatten)]
    pub(crate) given: GivenArgs,
}
