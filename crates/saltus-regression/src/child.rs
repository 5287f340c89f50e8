//! One model: the process, its limits, how far it got, and the comparison.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use saltus::journal::{Fingerprint, Fingerprints};
use saltus_plot::{PlotOptions, plot_lines};
use saltus_results::{
    Comparison, ResultReader, ResultTable, SignalComparison, SignalVerdict, Statistics,
    TubeOptions, Unresolved, Verdict, compare_files, compare_sampled, median_spacing,
    parse_comparison_signals, read_sampled,
};

use crate::cases::{Case, Target};
use crate::references::Reference;
use crate::report::{ErrorReport, MatchReport, ModelReport, Reached};
use crate::{Finished, READ_FILE, Setup};

/// What a model may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub seconds: f64,
    /// Address space (Unix only).
    pub memory_mb: u64,
}

/// Share of the time limit that a run may take before it gives up by itself.
const WALL_SHARE: f64 = 0.9;

const POLL: Duration = Duration::from_millis(10);

/// Files of one run, removed when it is over.
struct Scratch {
    output: PathBuf,
    stats: PathBuf,
    stages: PathBuf,
    /// Names of the files that the program has looked at.
    reads: PathBuf,
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
            reads: file("reads"),
            stderr: file("log"),
            keep,
        };
        scratch.remove();
        scratch
    }

    fn remove(&self) {
        for path in [
            &self.output,
            &self.stats,
            &self.stages,
            &self.reads,
            &self.stderr,
        ] {
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
pub(super) fn version(binary: &Path) -> String {
    match Command::new(binary).arg("--version").output() {
        Ok(out) => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        Err(e) => format!("{}: {e}", binary.display()),
    }
}

/// A reference that was read.
struct Expected {
    file: PathBuf,
    table: ResultTable,
    names: Vec<String>,
    is_sampled: bool,
}

fn read_reference(reference: &Reference) -> Result<Expected, String> {
    let table = if reference.is_sampled() {
        let shown = reference.file.display();
        let text = fs::read_to_string(&reference.file).map_err(|e| format!("{shown}: {e}"))?;
        read_sampled(&text).map_err(|e| format!("{shown}: {e}"))?
    } else {
        read_table(&reference.file)?
    };
    let names = match &reference.signals {
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
            parse_comparison_signals(&text)
        }
        None => table.variables().map(|(name, _)| name.to_owned()).collect(),
    };
    Ok(Expected {
        file: reference.file.clone(),
        table,
        names,
        is_sampled: reference.is_sampled(),
    })
}

impl Expected {
    /// Some signal that is to be compared is there to compare with.
    fn has_signals(&self) -> bool {
        !self.table.time().is_empty() && self.names.iter().any(|n| self.table.signal(n).is_some())
    }
}

/// Runs a model and compares; `None` if the run was cancelled from outside.
pub(super) fn run_case(case: &Case, setup: &Setup<'_>, folder: &Path) -> Option<Finished> {
    let scratch = Scratch::new(folder, &file_stem(&case.name), setup.keep.is_some());
    let mut report = ModelReport::new(&case.name);
    report.has_reference = case.reference.is_some();
    let finished = |report, pictures| {
        Some(Finished {
            report,
            pictures,
            case: String::new(),
            files: files_read(&scratch.reads, case.reference.as_ref()),
        })
    };
    let plain = |report| finished(report, Vec::new());
    let expected = match case.reference.as_ref().map(read_reference).transpose() {
        Ok(expected) => expected,
        Err(e) => return plain(report.with_error("", e)),
    };
    if expected.as_ref().is_some_and(|e| !e.has_signals()) {
        report.has_reference = false;
        report.nothing_to_compare = true;
    }
    let begin = Instant::now();
    let ended = simulate(case, setup, expected.as_ref(), &scratch);
    report.seconds = begin.elapsed().as_secs_f64();
    report.reached = last_stage(&scratch.stages);
    let is_complete = matches!(&ended, Ok(End::Exited(status)) if status.success());
    if !is_complete {
        report.reached = report.reached.min(Some(Reached::Initialise));
    }
    report.statistics = fs::read_to_string(&scratch.stats)
        .ok()
        .and_then(|text| serde_json::from_str::<Statistics>(&text).ok());
    let stderr = fs::read_to_string(&scratch.stderr).unwrap_or_else(|e| e.to_string());
    match ended {
        Err(e) => return plain(report.with_error("", e)),
        Ok(End::Cancelled) => return None,
        Ok(End::OutOfTime) => {
            let what = format!("no end after {} s", setup.limits.seconds);
            return plain(report.with_error("timeout", what));
        }
        Ok(End::Exited(status)) => report.exit = status.code(),
    }
    if report.exit != Some(0) {
        let mut error = first_error(&stderr, report.exit);
        error.place = error.place.map(|place| in_library(place, setup.libraries));
        report.error = Some(error);
        return plain(report);
    }
    let Some(expected) = expected.filter(Expected::has_signals) else {
        return plain(report);
    };
    let comparison = match compare_with(&scratch.output, &expected) {
        Ok(comparison) => comparison,
        Err(e) => return plain(report.with_error("", e)),
    };
    if comparison.verdict == Verdict::Match {
        report.reached = Some(Reached::Match);
    }
    let unresolved = (report.statistics.as_ref()).map_or(&[][..], |s| &s.unresolved);
    report.comparison = Some(match_report(&comparison, unresolved));
    let pictures = if setup.pictures {
        draw(&comparison, &scratch.output, &expected.table)
    } else {
        Vec::new()
    };
    finished(report, pictures)
}

/// Everything that the program has looked at, and the reference; `None` if the program did not say.
fn files_read(list: &Path, reference: Option<&Reference>) -> Option<Vec<Fingerprint>> {
    let text = fs::read_to_string(list).ok()?;
    let signals = reference.and_then(|r| r.signals.as_deref());
    let compared = reference
        .map(|r| r.file.as_path())
        .into_iter()
        .chain(signals);
    let mut fingerprints = Fingerprints::default();
    let paths = text.lines().map(Path::new).chain(compared);
    Some(paths.map(|path| fingerprints.of(path)).collect())
}

/// A name as that of a file.
fn file_stem(name: &str) -> String {
    let keep = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    let stem = name.chars().map(|c| if keep(c) { c } else { '_' });
    stem.collect::<String>().trim_start_matches('.').to_owned()
}

/// How a process ended.
enum End {
    Exited(ExitStatus),
    OutOfTime,
    Cancelled,
}

/// Starts the program and waits.
fn simulate(
    case: &Case,
    setup: &Setup<'_>,
    expected: Option<&Expected>,
    scratch: &Scratch,
) -> Result<End, String> {
    let mut args: Vec<OsString> = vec!["simulate".into()];
    match &case.target {
        Target::Class => args.push(case.name.clone().into()),
        Target::File(path) => {
            args.push(absolute(path).into());
            // A file that could not be parsed is its own name.
            if Path::new(&case.name) != path {
                args.extend(["--model".into(), case.name.clone().into()]);
            }
        }
    }
    for folder in setup.libraries {
        args.extend(["--library".into(), absolute(folder).into()]);
    }
    for folder in setup.allow_write {
        args.extend(["--allow-write".into(), absolute(folder).into()]);
    }
    if setup.allow_system {
        args.push("--allow-system".into());
    }
    if setup.allow_foreign {
        args.push("--allow-foreign".into());
    }
    args.extend(["--output".into(), absolute(&scratch.output).into()]);
    args.extend(["--stats".into(), absolute(&scratch.stats).into()]);
    args.push("--quiet".into());
    // The program ends by itself before it is killed, and so can say how far it got.
    let seconds = WALL_SHARE * setup.limits.seconds;
    args.extend(["--max-wall".into(), seconds.to_string().into()]);
    let settings = &case.settings;
    // The samples of a reference begin and end with the run that they are of.
    let sampled = expected.filter(|e| e.is_sampled && e.has_signals());
    let begin = sampled.and_then(|e| e.table.time().first().copied());
    if let Some(time) = begin.or(settings.start_time) {
        args.extend(["--start-time".into(), time.to_string().into()]);
    }
    if let Some(tolerance) = settings.tolerance {
        args.extend(["--tolerance".into(), tolerance.to_string().into()]);
    }
    // Some references go on beyond the model's experiment annotation, or end before.
    let end = expected.and_then(|e| e.table.time().last().copied());
    if let Some(time) = end.or(settings.stop_time) {
        args.extend(["--stop-time".into(), time.to_string().into()]);
    }
    match expected {
        Some(expected) => {
            if let Some(interval) = row_spacing(expected.table.time()) {
                args.extend(["--interval".into(), interval.to_string().into()]);
            }
            if !expected.has_signals() {
                args.extend(["--variables".into(), "time".into()]);
            }
            for name in &expected.names {
                // The reference writes `a[1, 2]`, results `a[1,2]`.
                args.extend(["--variables".into(), name.replace(", ", ",").into()]);
            }
        }
        // Nothing is compared: no variable is needed.
        None => args.extend(["--variables".into(), "time".into()]),
    }
    let stderr = fs::File::create(&scratch.stderr).map_err(|e| e.to_string())?;
    let mut command = limited(&absolute(setup.binary), setup.limits.memory_mb);
    let child = command
        .args(args)
        .env("SALTUS_STAGE_FILE", absolute(&scratch.stages))
        .env(READ_FILE, absolute(&scratch.reads))
        .current_dir(scratch.output.parent().unwrap_or(Path::new(".")))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr)
        .spawn()
        .map_err(|e| format!("{}: {e}", setup.binary.display()))?;
    let limit = Duration::from_secs_f64(setup.limits.seconds);
    wait(child, limit, setup.cancel).map_err(|e| e.to_string())
}

/// The interval that gives a run as many rows as its reference has, so that the curves are compared and not the straight lines
/// between rows that are far apart.
fn row_spacing(reference: &[f64]) -> Option<f64> {
    let duration = reference.last()? - reference.first()?;
    // Rows that crowd at events say nothing about the rest.
    let spacing = median_spacing(reference).max(duration / reference.len() as f64);
    (spacing > 0.0).then_some(spacing)
}

/// A place inside the folder of a library, the same on every machine.
fn in_library(place: String, libraries: &[PathBuf]) -> String {
    let path = std::env::var_os("MODELICAPATH").unwrap_or_default();
    let folders = (libraries.iter().cloned()).chain(std::env::split_paths(&path));
    let inside = folders.into_iter().find_map(|folder| {
        let own = Path::new(&place).strip_prefix(absolute(&folder)).ok()?;
        Some(own.display().to_string())
    });
    inside.unwrap_or(place)
}

/// Models that write files do so in the folder of the run: paths must not depend on it.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
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

fn wait(mut child: Child, limit: Duration, cancel: Option<&AtomicBool>) -> std::io::Result<End> {
    let begin = Instant::now();
    loop {
        let ended = child.try_wait()?;
        // Ctrl-C reaches the model too, which then ends as if it had failed.
        if cancel.is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            if ended.is_none() {
                child.kill()?;
                child.wait()?;
            }
            return Ok(End::Cancelled);
        }
        if let Some(status) = ended {
            return Ok(End::Exited(status));
        }
        if begin.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(End::OutOfTime);
        }
        std::thread::sleep(POLL);
    }
}

/// The furthest stage that the binary says it has finished.
fn last_stage(path: &Path) -> Option<Reached> {
    let text = fs::read_to_string(path).ok()?;
    text.lines()
        .filter_map(|line| Reached::from_word(line.split_whitespace().next()?))
        .max()
}

/// The first error on standard error, with its place and help, or the last line.
fn first_error(stderr: &str, exit: Option<i32>) -> ErrorReport {
    let is_error = |line: &str| {
        line.starts_with("error[")
            || line.starts_with("error: ")
            || line.starts_with("this is a bug")
    };
    let mut lines = stderr.lines();
    if let Some(line) = lines.by_ref().find(|line| is_error(line)) {
        let coded = (line.strip_prefix("error[")).and_then(|rest| rest.split_once("]: "));
        let (code, message) = match coded {
            Some(coded) => coded,
            None if line.starts_with("this") => ("bug", line),
            None => ("", line.trim_start_matches("error: ")),
        };
        // What belongs to it ends where the next message begins.
        let own: Vec<&str> = lines
            .take_while(|line| !is_error(line) && !line.starts_with("warning"))
            .collect();
        let after = |mark: &str| {
            let found = own.iter().find_map(|line| line.trim().strip_prefix(mark));
            found.map(|text| text.trim().to_owned())
        };
        return ErrorReport {
            code: code.to_owned(),
            message: message.to_owned(),
            place: after("--> "),
            help: after("help: "),
        };
    }
    let last = stderr.lines().rfind(|line| !line.trim().is_empty());
    let ended = exit.map_or("killed by a signal".to_owned(), |code| {
        format!("exit code {code}")
    });
    ErrorReport {
        code: if exit.is_none() { "crash" } else { "" }.into(),
        message: last.map_or(ended.clone(), |line| format!("{ended}: {line}")),
        place: None,
        help: None,
    }
}

fn open_result(path: &Path) -> Result<ResultReader<fs::File>, String> {
    let file = fs::File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    ResultReader::open(&path.to_string_lossy(), file)
        .map_err(|e| format!("{}: {e}", path.display()))
}

fn read_table(path: &Path) -> Result<ResultTable, String> {
    (open_result(path)?.read_all()).map_err(|e| format!("{}: {e}", path.display()))
}

/// A result that needs more memory is compared in slices of time.
const COMPARED_BYTES: usize = 256 << 20;

fn compare_with(result: &Path, expected: &Expected) -> Result<Comparison, String> {
    let mut result = open_result(result)?;
    let options = TubeOptions::default();
    if expected.is_sampled {
        let result = result.read(&expected.names).map_err(|e| e.to_string())?;
        let (table, names) = (&expected.table, &expected.names);
        return Ok(compare_sampled(&result, table, names, &options));
    }
    let mut reference = open_result(&expected.file)?;
    let names = Some(&expected.names[..]);
    compare_files(&mut result, &mut reference, names, &options, COMPARED_BYTES)
        .map_err(|e| e.to_string())
}

/// Missing signals that are named; the rest is counted.
const MISSING_NAMES_MAX: usize = 10;

fn match_report(comparison: &Comparison, unresolved: &[Unresolved]) -> MatchReport {
    // References write `a[1, 2]`, statistics `a[1,2]`.
    let is_named = |name: &str| {
        let name = name.replace(", ", ",");
        unresolved.iter().any(|u| u.variable == name)
    };
    let warned = (comparison.signals.iter())
        .filter(|s| s.verdict == SignalVerdict::FarOff)
        .all(|s| is_named(&s.name));
    let missing: Vec<&SignalComparison> = (comparison.signals.iter())
        .filter(|s| {
            matches!(
                s.verdict,
                SignalVerdict::MissingInResult | SignalVerdict::MissingInReference
            )
        })
        .collect();
    let worst = comparison.worst();
    MatchReport {
        verdict: comparison.verdict,
        signals: comparison.signals.len(),
        missing: missing.len(),
        missing_names: (missing.iter())
            .take(MISSING_NAMES_MAX)
            .map(|s| s.name.clone())
            .collect(),
        worst: worst.map(|s| s.name.clone()),
        share_outside: worst.map_or(0.0, |s| s.share_outside),
        share_outside_strict: comparison
            .signals
            .iter()
            .map(|s| s.share_outside_strict)
            .fold(0.0, f64::max),
        first_outside: worst.and_then(|s| s.first_outside),
        warned,
    }
}

/// Pictures of a model that differs; of one that matches there is one, of its worst signal.
const PICTURES_MAX: usize = 4;
/// A curve has at most twice this many points in a picture.
const POINTS_MAX: usize = 250;
/// Rows of a result that are read for them.
const DRAWN_ROWS: usize = 100_000;
const PICTURE_SIZE: (u32, u32) = (640, 260);

/// The worst signals of a result against their references.
fn draw(comparison: &Comparison, result: &Path, reference: &ResultTable) -> Vec<String> {
    let mut signals: Vec<&SignalComparison> = comparison.signals.iter().collect();
    signals.sort_by(|a, b| {
        (b.share_outside.total_cmp(&a.share_outside))
            .then((b.max_deviation / b.scale).total_cmp(&(a.max_deviation / a.scale)))
    });
    let n = if comparison.is_match() {
        1
    } else {
        PICTURES_MAX
    };
    signals.truncate(n);
    let names: Vec<String> = signals.iter().map(|s| s.name.clone()).collect();
    let drawn = open_result(result)
        .and_then(|mut file| (file.read_thinned(&names, DRAWN_ROWS)).map_err(|e| e.to_string()));
    // What was compared before can be read again, or there is no picture.
    let Ok(result) = drawn else {
        return Vec::new();
    };
    let options = |signal: &SignalComparison| PlotOptions {
        title: Some(signal.name.clone()),
        width: PICTURE_SIZE.0,
        height: PICTURE_SIZE.1,
        ..PlotOptions::default()
    };
    signals
        .into_iter()
        .filter_map(|signal| {
            let line = |name: &str, table: &ResultTable| {
                let values = table.signal(&signal.name)?.to_vec();
                Some((name.to_owned(), thinned(table.time(), &values)))
            };
            let lines = [line("reference", reference)?, line("result", &result)?];
            // A signal without finite values has no picture.
            plot_lines(&lines, &options(signal)).ok()
        })
        .collect()
}

/// The points of a curve, or the lowest and highest of each of many stretches of it.
fn thinned(time: &[f64], values: &[f64]) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = time.iter().copied().zip(values.iter().copied()).collect();
    if points.len() <= 2 * POINTS_MAX {
        return points;
    }
    let mut out = Vec::with_capacity(2 * POINTS_MAX + 2);
    for stretch in points.chunks(points.len().div_ceil(POINTS_MAX)) {
        let by_value = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let (Some(low), Some(high)) = (
            stretch.iter().min_by(by_value),
            stretch.iter().max_by(by_value),
        ) else {
            continue;
        };
        let (first, second) = if low.0 <= high.0 {
            (low, high)
        } else {
            (high, low)
        };
        out.extend([*first, *second]);
    }
    out.extend(points.last());
    out
}

#[cfg(test)]
mod tests {
    use super::row_spacing;

    #[test]
    fn a_run_has_as_many_rows_as_its_reference() {
        assert_eq!(row_spacing(&[0.0, 0.5, 1.0, 1.0, 1.5, 2.0]), Some(0.5));
        // Most rows belong to one event.
        let mut crowded = vec![0.0, 1.0];
        crowded.extend((1..=6).map(|k| 1.0 + 1e-9 * f64::from(k)));
        crowded.extend([2.0, 3.0]);
        assert_eq!(row_spacing(&crowded), Some(0.3));
        assert_eq!(row_spacing(&[0.0, 0.0]), None);
        assert_eq!(row_spacing(&[]), None);
    }
}
