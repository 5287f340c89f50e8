//! `cargo xtask msl`: the stage table over the reference models of the Modelica Standard Library.
//!
//! Comes in: a folder with the library, a folder with reference results (one folder per model with a CSV file and
//! `comparisonSignals.txt`), the release binary. Goes out: a text table and a JSON report; who moved since an
//! earlier report.
//!
//! Each model runs in a process of its own with a time limit and a memory limit. The binary appends a line to the
//! file named by `SALTUS_STAGE_FILE` when it has finished a stage; the last line is how far the model got.

mod models;
mod report;
mod run;

use std::collections::VecDeque;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use clap::Args;

use models::ReferenceModel;
use report::{ModelReport, Report};

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
    let found = models::find(&options.reference, &options.package)?;
    let n_usable = found.usable.len();
    let chosen = choose(found.usable, options)?;
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => build_binary()?,
    };
    say(&format!(
        "{n_usable} usable reference models of {} ({} without reference CSV); running {}",
        n_usable + found.without_csv,
        found.without_csv,
        chosen.len()
    ));

    let models = run_all(&binary, chosen, options)?;
    let report = Report {
        saltus: run::version(&binary),
        usable: n_usable,
        timeout_seconds: options.timeout,
        models,
    };
    say(&report.table());
    if let Some(old) = &baseline {
        say(&report.moves_since(old));
    }
    if let Some(path) = &options.json {
        let json = serde_json::to_string_pretty(&report).map_err(|e| e.to_string())?;
        fs::write(path, json + "\n").map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Text of the report; a closed pipe ends it silently.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn read_report(path: &Path) -> Result<Report, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}

fn choose(all: Vec<ReferenceModel>, options: &Options) -> Result<Vec<ReferenceModel>, String> {
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

/// Runs the models on worker threads; the reports keep the order of the models.
fn run_all(
    binary: &Path,
    models: Vec<ReferenceModel>,
    options: &Options,
) -> Result<Vec<ModelReport>, String> {
    let work = std::env::temp_dir().join(format!("saltus-msl-{}", std::process::id()));
    let folder = options.keep.as_deref().unwrap_or(&work);
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let jobs = options
        .jobs
        .or_else(|| std::thread::available_parallelism().ok().map(usize::from))
        .unwrap_or(1)
        .max(1);
    let n = models.len();
    let queue: Mutex<VecDeque<(usize, ReferenceModel)>> =
        Mutex::new(models.into_iter().enumerate().collect());
    let reports: Mutex<Vec<Option<ModelReport>>> = Mutex::new(vec![None; n]);
    let limits = run::Limits {
        seconds: options.timeout,
        memory_mb: options.memory,
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().expect("no worker panics").pop_front();
                    let Some((index, model)) = next else { break };
                    let keep = options.keep.is_some();
                    let report = run::run_model(
                        binary,
                        &model,
                        options.msl.as_deref(),
                        folder,
                        limits,
                        keep,
                    );
                    eprintln!("[{}/{n}] {}", index + 1, report.line());
                    reports.lock().expect("no worker panics")[index] = Some(report);
                }
            });
        }
    });
    if options.keep.is_none() {
        // Only the folder made above, and only if it is empty by now.
        let _ = fs::remove_dir(&work);
    }
    let reports = reports.into_inner().expect("no worker panics");
    Ok(reports.into_iter().flatten().collect())
}
