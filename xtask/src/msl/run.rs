//! One model: the process, its limits, how far it got, and the comparison.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use saltus_results::{
    ResultTable, SignalVerdict, Statistics, TubeOptions, Verdict, compare,
    parse_comparison_signals, read_csv,
};

use super::models::ReferenceModel;
use super::report::{ErrorReport, MatchReport, ModelReport, Stage};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) seconds: f64,
    pub(crate) memory_mb: u64,
}

/// Share of the time limit that a run may take before it gives up by itself.
const WALL_SHARE: f64 = 0.9;

const POLL: Duration = Duration::from_millis(10);

/// Files of one run, removed when it is over.
struct Scratch {
    output: PathBuf,
    stats: PathBuf,
    stages: PathBuf,
    stderr: PathBuf,
    keep: bool,
}

impl Scratch {
    fn new(folder: &Path, name: &str, keep: bool) -> Scratch {
        let file = |ending: &str| folder.join(format!("{name}.{ending}"));
        let scratch = Scratch {
            output: file("csv"),
            stats: file("json"),
            stages: file("stages"),
            stderr: file("log"),
            keep,
        };
        scratch.remove();
        scratch
    }

    fn remove(&self) {
        for path in [&self.output, &self.stats, &self.stages, &self.stderr] {
            // A file that is not there need not be removed.
            let _ = fs::remove_file(path);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.keep {
            self.remove();
        }
    }
}

/// `saltus 0.1.0`, or what went wrong.
pub(crate) fn version(binary: &Path) -> String {
    match Command::new(binary).arg("--version").output() {
        Ok(out) => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        Err(e) => format!("{}: {e}", binary.display()),
    }
}

pub(crate) fn run_model(
    binary: &Path,
    model: &ReferenceModel,
    msl: Option<&Path>,
    folder: &Path,
    limits: Limits,
    keep: bool,
) -> ModelReport {
    let scratch = Scratch::new(folder, &model.name, keep);
    let mut report = ModelReport::new(&model.name);
    let names = match fs::read_to_string(&model.signals) {
        Ok(text) => parse_comparison_signals(&text),
        Err(e) => return report.with_error("", format!("{}: {e}", model.signals.display())),
    };
    let reference = match read_table(&model.csv) {
        Ok(reference) => reference,
        Err(e) => return report.with_error("", e),
    };
    let begin = Instant::now();
    let stop_time = reference.time().last().copied();
    let ended = simulate(binary, model, msl, &names, stop_time, &scratch, limits);
    report.seconds = begin.elapsed().as_secs_f64();
    report.reached = last_stage(&scratch.stages);
    let is_complete = matches!(&ended, Ok(Some(status)) if status.success());
    if !is_complete {
        report.reached = report.reached.min(Some(Stage::Initialise));
    }
    report.statistics = fs::read_to_string(&scratch.stats)
        .ok()
        .and_then(|text| serde_json::from_str::<Statistics>(&text).ok());
    let stderr = fs::read_to_string(&scratch.stderr).unwrap_or_else(|e| e.to_string());
    match ended {
        Err(e) => return report.with_error("", e),
        Ok(None) => {
            let what = format!("no end after {} s", limits.seconds);
            return report.with_error("timeout", what);
        }
        Ok(Some(status)) => report.exit = status.code(),
    }
    if report.exit != Some(0) {
        report.error = Some(first_error(&stderr, report.exit));
        return report;
    }
    match comparison(&reference, &names, &scratch.output) {
        Ok(result) => {
            if result.verdict == Verdict::Match {
                report.reached = Some(Stage::Match);
            }
            report.comparison = Some(result);
            report
        }
        Err(e) => report.with_error("", e),
    }
}

/// Starts the binary and waits; `None` if the time was over.
fn simulate(
    binary: &Path,
    model: &ReferenceModel,
    msl: Option<&Path>,
    names: &[String],
    stop_time: Option<f64>,
    scratch: &Scratch,
    limits: Limits,
) -> Result<Option<ExitStatus>, String> {
    let mut args: Vec<OsString> = vec!["simulate".into(), model.name.clone().into()];
    if let Some(folder) = msl {
        args.extend(["--library".into(), folder.into()]);
    }
    args.extend(["--output".into(), scratch.output.clone().into()]);
    args.extend(["--stats".into(), scratch.stats.clone().into()]);
    args.push("--quiet".into());
    // Some references go on beyond the model's experiment annotation, or end before.
    if let Some(time) = stop_time {
        args.extend(["--stop-time".into(), time.to_string().into()]);
    }
    // The program ends by itself before it is killed, and so can say how far it got.
    let seconds = WALL_SHARE * limits.seconds;
    args.extend(["--max-wall".into(), seconds.to_string().into()]);
    for name in names {
        // The reference writes `a[1, 2]`, results `a[1,2]`.
        args.extend(["--variables".into(), name.replace(", ", ",").into()]);
    }
    let stderr = fs::File::create(&scratch.stderr).map_err(|e| e.to_string())?;
    let mut command = limited(binary, limits.memory_mb);
    let child = command
        .args(args)
        .env("SALTUS_STAGE_FILE", &scratch.stages)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|e| format!("{}: {e}", binary.display()))?;
    wait(child, Duration::from_secs_f64(limits.seconds)).map_err(|e| e.to_string())
}

/// The program with a bound on its memory, set by the shell.
fn limited(binary: &Path, memory_mb: u64) -> Command {
    if cfg!(unix) {
        let mut command = Command::new("sh");
        let script = format!("ulimit -v {}; exec \"$@\"", memory_mb * 1024);
        command.arg("-c").arg(script).arg("sh").arg(binary);
        command
    } else {
        Command::new(binary)
    }
}

fn wait(mut child: Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begin.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

/// The furthest stage that the binary says it has finished.
fn last_stage(path: &Path) -> Option<Stage> {
    let text = fs::read_to_string(path).ok()?;
    text.lines()
        .filter_map(|line| Stage::from_word(line.split_whitespace().next()?))
        .max()
}

/// Code and message of the first error on standard error, or its last line.
fn first_error(stderr: &str, exit: Option<i32>) -> ErrorReport {
    for line in stderr.lines() {
        if let Some(rest) = line.strip_prefix("error[") {
            if let Some((code, message)) = rest.split_once("]: ") {
                return ErrorReport {
                    code: code.to_owned(),
                    message: message.to_owned(),
                };
            }
        } else if line.starts_with("error: ") || line.starts_with("this is a bug") {
            return ErrorReport {
                code: if line.starts_with("this") { "bug" } else { "" }.into(),
                message: line.to_owned(),
            };
        }
    }
    let last = stderr.lines().rfind(|line| !line.trim().is_empty());
    let ended = exit.map_or("killed by a signal".to_owned(), |code| {
        format!("exit code {code}")
    });
    ErrorReport {
        code: if exit.is_none() { "crash" } else { "" }.into(),
        message: last.map_or(ended.clone(), |line| format!("{ended}: {line}")),
    }
}

fn read_table(path: &Path) -> Result<ResultTable, String> {
    let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    read_csv(&bytes).map_err(|e| format!("{}: {e}", path.display()))
}

fn comparison(
    reference: &ResultTable,
    names: &[String],
    output: &Path,
) -> Result<MatchReport, String> {
    let result = read_table(output)?;
    let comparison = compare(&result, reference, names, &TubeOptions::default());
    let missing = |verdict| {
        matches!(
            verdict,
            SignalVerdict::MissingInResult | SignalVerdict::MissingInReference
        )
    };
    let worst = comparison.worst();
    Ok(MatchReport {
        verdict: comparison.verdict,
        signals: comparison.signals.len(),
        missing: comparison
            .signals
            .iter()
            .filter(|s| missing(s.verdict))
            .count(),
        worst: worst.map(|s| s.name.clone()),
        share_outside: worst.map_or(0.0, |s| s.share_outside),
        share_outside_strict: comparison
            .signals
            .iter()
            .map(|s| s.share_outside_strict)
            .fold(0.0, f64::max),
        first_outside: worst.and_then(|s| s.first_outside),
    })
}
