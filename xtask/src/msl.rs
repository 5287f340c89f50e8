//! `cargo xtask msl`: the stage table over the reference models of the Modelica Standard Library.
//!
//! Comes in: a folder with the library, a folder with reference results (one folder per model with a CSV file and
//! `comparisonSignals.txt`), the release binary. Goes out: a text table and a JSON report; who moved since an
//! earlier report.
//!
//! The work is done by `saltus_regression`, as for `saltus test`; here the models are chosen by their references.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;
use saltus_regression::{
    self, Case, Limits, References, Setup, Target, find_references, read_report, run_cases,
};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder that contains the library's folder `Modelica`; default: MODELICAPATH
    #[arg(long, value_name = "DIR")]
    msl: Option<PathBuf>,
    /// Folder with the reference results (the one that contains `Modelica`)
    #[arg(long, value_name = "DIR")]
    reference: PathBuf,
    /// Which top-level package of the reference folder
    #[arg(long, value_name = "NAME", default_value = "Modelica")]
    package: String,
    /// Only the models named in this file, one per line
    #[arg(long, value_name = "FILE", conflicts_with = "sample")]
    list: Option<PathBuf>,
    /// Only N models, spread evenly over all
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Models that run at the same time; default: number of cores
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Seconds per model
    #[arg(long, value_name = "S", default_value_t = 120.0)]
    timeout: f64,
    /// Megabytes of address space per model (Unix only)
    #[arg(long, value_name = "MB", default_value_t = 6000)]
    memory: u64,
    /// Write the report as JSON
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// An earlier JSON report: say who moved
    #[arg(long, value_name = "OLD.json")]
    baseline: Option<PathBuf>,
    /// Write a report as .json, .xml (JUnit), .html or .md by its ending (repeatable)
    #[arg(long = "report", value_name = "FILE")]
    reports: Vec<PathBuf>,
    /// The program; default: built from this repository
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Keep the result files in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let baseline = match &options.baseline {
        Some(path) => Some(read_report(path)?),
        None => None,
    };
    let found = references(options)?;
    let n_usable = found.usable.len();
    let chosen = choose(&found, options)?;
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => build_binary()?,
    };
    let n = chosen.len();
    say(&format!(
        "{n_usable} usable reference models of {} ({} without reference CSV); running {n}",
        n_usable + found.without_csv,
        found.without_csv,
    ));
    let libraries: Vec<PathBuf> = options.msl.iter().cloned().collect();
    let reports: Vec<&PathBuf> = options.json.iter().chain(&options.reports).collect();
    let setup = Setup {
        binary: &binary,
        libraries: &libraries,
        allow_write: &[],
        allow_system: false,
        allow_foreign: false,
        jobs: options.jobs.unwrap_or_else(saltus_regression::cores),
        limits: Limits {
            seconds: options.timeout,
            memory_mb: options.memory,
        },
        keep: options.keep.as_deref(),
        journal: None,
        pictures: reports
            .iter()
            .any(|path| path.extension().is_some_and(|e| e == "html")),
        cancel: None,
    };
    let mut outcome = run_cases(&chosen, &setup, &|done, model| {
        eprintln!("[{done}/{n}] {}", model.line());
    })?;
    outcome.report.usable = n_usable;
    say(&outcome.report.table());
    if let Some(old) = &baseline {
        say(&outcome.report.moves_since(old));
    }
    for path in reports {
        outcome.write(path, &options.package, baseline.as_ref())?;
    }
    Ok(())
}

/// The references of the package, whose folder may also be named itself.
fn references(options: &Options) -> Result<References, String> {
    let (folder, package) = (&options.reference, options.package.as_str());
    let inside = folder.join(package);
    if inside.is_dir() {
        find_references(&inside, Some(package))
    } else if folder.file_name().is_some_and(|name| name == package) {
        find_references(folder, Some(package))
    } else {
        Err(format!("{} has no folder `{package}`", folder.display()))
    }
}

/// Text of the report; a closed pipe ends it silently.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn choose(found: &References, options: &Options) -> Result<Vec<Case>, String> {
    let all: Vec<Case> = (found.usable.iter())
        .map(|(name, reference)| Case {
            name: name.clone(),
            target: Target::Class,
            reference: Some(reference.clone()),
            settings: Default::default(),
        })
        .collect();
    if let Some(path) = &options.list {
        let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        return text
            .lines()
            .map(str::trim)
            .filter(|name| !name.is_empty() && !name.starts_with('#'))
            .map(|name| {
                let model = all.iter().find(|model| model.name == name).cloned();
                model.ok_or_else(|| format!("`{name}` is not a usable reference model"))
            })
            .collect();
    }
    match options.sample {
        Some(n) if n < all.len() => {
            let total = all.len();
            Ok((0..n).map(|i| all[i * total / n].clone()).collect())
        }
        _ => Ok(all),
    }
}

/// Builds the release binary; it lies beside this program.
pub(crate) fn build_binary() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--package", "saltus-cli"])
        .status()
        .map_err(|e| format!("cargo: {e}"))?;
    if !status.success() {
        return Err("the binary could not be built".into());
    }
    let here = std::env::current_exe().map_err(|e| e.to_string())?;
    let name = format!("saltus{}", std::env::consts::EXE_SUFFIX);
    Ok(here.with_file_name(name))
}
