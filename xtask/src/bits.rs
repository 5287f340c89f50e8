//! `cargo xtask bits`: interpreter and machine code give the same results, bit by bit.
//!
//! Comes in: a list of models of a library. Each is simulated twice, interpreted and with everything compiled, over all
//! variables. Goes out: one line per model with the seconds of both; an error if a result file differs in any byte.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use clap::Args;

use crate::msl::{build_binary, say};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Folder that contains the library's folder `Modelica`; default: MODELICAPATH
    #[arg(long, value_name = "DIR")]
    msl: Option<PathBuf>,
    /// The models, one per line
    #[arg(long, value_name = "FILE")]
    list: PathBuf,
    /// The program; default: built from this repository
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), String> {
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => build_binary()?,
    };
    let text = fs::read_to_string(&options.list)
        .map_err(|e| format!("{}: {e}", options.list.display()))?;
    let models: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect();
    let mut different = Vec::new();
    for model in &models {
        let interpreted = simulate(&binary, model, options.msl.as_deref(), "--interpret")?;
        let native = simulate(&binary, model, options.msl.as_deref(), "--native")?;
        let same = interpreted.result == native.result;
        say(&format!(
            "{} {model}: {} bytes, {:.2} s interpreted, {:.2} s compiled",
            if same { "same     " } else { "different" },
            interpreted.result.len(),
            interpreted.seconds,
            native.seconds
        ));
        if !same {
            different.push(*model);
        }
    }
    say(&format!(
        "{} of {} models give the same bytes",
        models.len() - different.len(),
        models.len()
    ));
    if different.is_empty() {
        Ok(())
    } else {
        Err(format!("different: {}", different.join(", ")))
    }
}

struct Simulated {
    result: Vec<u8>,
    seconds: f64,
}

/// The result file of one run; of one that fails, the part that was computed.
fn simulate(
    binary: &Path,
    model: &str,
    msl: Option<&Path>,
    how: &str,
) -> Result<Simulated, String> {
    let output = std::env::temp_dir().join(format!("saltus-bits-{}.mat", std::process::id()));
    let mut command = Command::new(binary);
    command.args(["simulate", model, "--quiet", how]);
    command.arg("--output").arg(&output).stderr(Stdio::null());
    if let Some(msl) = msl {
        command.arg("--library").arg(msl);
    }
    let begin = Instant::now();
    let status = command
        .status()
        .map_err(|e| format!("{}: {e}", binary.display()))?;
    let seconds = begin.elapsed().as_secs_f64();
    let result = fs::read(&output)
        .map_err(|e| format!("{model}: no result ({e}; exit code {:?})", status.code()))?;
    fs::remove_file(&output).map_err(|e| format!("{}: {e}", output.display()))?;
    Ok(Simulated { result, seconds })
}
