//! Regression runs of a library: every model with an experiment annotation, or that a script of the library runs, or every model with a reference result.
//!
//! Comes in: the cases ([`find_cases`], [`find_references`]), the program, limits. Goes out: a [`Report`], which says how far each model came, why it
//! ended there, and how its result compares with the reference; as text, JSON, JUnit XML, HTML with pictures, or Markdown.
//!
//! Each model runs in a process of its own with a time limit and a memory limit, so that nothing it does can hurt the others. The program appends a
//! line to the file named by `SALTUS_STAGE_FILE` when it has finished a stage; the last line is how far the model got.
//!
//! A run that is ended goes on where it was: each finished model is a line in a journal, which is removed when the report is complete. The journal of
//! another program or of other limits is not used.

mod cases;
mod child;
mod html;
mod junit;
mod references;
mod report;
mod scripts;
mod status;

pub use cases::{Case, Target, find_cases, find_library};
pub use child::Limits;
pub use references::{Reference, References, find_references};
pub use report::{ErrorReport, MatchReport, ModelReport, Reached, Report};
pub use scripts::{RunSettings, add_scripts};

use saltus::journal::{Fingerprint, Fingerprints, Journal, ProgramMark};
use saltus::private_folder::PrivateFolder;
use saltus::replace::replace_file;
use std::collections::VecDeque;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// How a regression run is made.
pub struct Setup<'a> {
    /// The program `saltus`.
    pub binary: &'a Path,
    /// Folders with libraries, before those of MODELICAPATH.
    pub libraries: &'a [PathBuf],
    /// Folders in which functions of the models may change files, besides that of the results.
    pub allow_write: &'a [PathBuf],
    /// Functions of the models may run commands of the operating system.
    pub allow_system: bool,
    /// Models may call C functions of their annotations.
    pub allow_foreign: bool,
    /// Models that run at the same time.
    pub jobs: usize,
    pub limits: Limits,
    /// Result files stay here.
    pub keep: Option<&'a Path>,
    /// Finished models are noted here, and not run again.
    pub journal: Option<&'a Path>,
    /// Pictures of results against references are made.
    pub pictures: bool,
    /// Set from outside: no further model is begun, those that run are ended.
    pub cancel: Option<&'a AtomicBool>,
}

/// A finished model with its pictures (SVG), which only the HTML report shows.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Finished {
    pub report: ModelReport,
    pub pictures: Vec<String>,
    /// What was run and compared.
    pub case: String,
    /// All files that it depends on; `None` if they are not known.
    pub files: Option<Vec<Fingerprint>>,
}

/// Names a file to which the program adds a line per file that it looks at.
pub const READ_FILE: &str = "SALTUS_READ_FILE";

/// What a case is, in the words of the journal.
fn case_text(case: &Case) -> String {
    format!("{:?} {:?} {:?}", case.target, case.reference, case.settings)
}

/// What results depend on besides the files that are read.
#[derive(PartialEq, serde::Serialize, serde::Deserialize)]
struct Conditions {
    saltus: String,
    program: ProgramMark,
    /// Where names of files begin.
    folder: PathBuf,
    libraries: Vec<PathBuf>,
    modelicapath: Option<String>,
    timeout_seconds: f64,
    memory_mb: u64,
    pictures: bool,
    allow_write: Vec<PathBuf>,
    allow_system: bool,
    allow_foreign: bool,
}

/// What a regression run has found.
pub struct Outcome {
    pub report: Report,
    /// Pictures of each model, in the order of the report.
    pub pictures: Vec<Vec<String>>,
    /// Models that a journal already held.
    pub resumed: usize,
    /// All models have been run.
    pub complete: bool,
}

/// The number of cores.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs the cases. `observer` is called for each finished model with the number of those before it, itself included.
pub fn run_cases(
    cases: &[Case],
    setup: &Setup<'_>,
    observer: &(dyn Fn(usize, &ModelReport) + Sync),
) -> Result<Outcome, String> {
    let work;
    let folder = match setup.keep {
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
            folder
        }
        // Removed at the end, with what models have written into it.
        None => {
            work = PrivateFolder::new("test").map_err(|e| e.to_string())?;
            work.path()
        }
    };
    let version = child::version(setup.binary);
    let (journal, before) = match setup.journal {
        Some(path) => {
            let conditions = Conditions {
                saltus: version.clone(),
                program: ProgramMark::of(setup.binary),
                folder: std::env::current_dir().unwrap_or_default(),
                libraries: setup.libraries.to_vec(),
                modelicapath: std::env::var_os("MODELICAPATH")
                    .map(|path| path.to_string_lossy().into_owned()),
                timeout_seconds: setup.limits.seconds,
                memory_mb: setup.limits.memory_mb,
                pictures: setup.pictures,
                allow_write: setup.allow_write.to_vec(),
                allow_system: setup.allow_system,
                allow_foreign: setup.allow_foreign,
            };
            let mut fingerprints = Fingerprints::default();
            let (journal, before) = Journal::open(path, &conditions, |before: &Finished| {
                (before.files.as_ref()).is_some_and(|files| fingerprints.agree(files))
            })?;
            (Some(journal), before)
        }
        None => (None, Vec::<Finished>::new()),
    };

    let mut finished: Vec<Option<Finished>> = vec![None; cases.len()];
    let mut queue = VecDeque::new();
    for (i, case) in cases.iter().enumerate() {
        let text = case_text(case);
        let same = |f: &&Finished| f.report.name == case.name && f.case == text;
        match before.iter().find(same) {
            Some(known) => finished[i] = Some(known.clone()),
            None => queue.push_back(i),
        }
    }
    let resumed = cases.len() - queue.len();
    let state = Mutex::new(Progress {
        queue,
        finished,
        journal,
        done: resumed,
        failure: None,
    });
    let lock = || state.lock().expect("no worker panics");
    let cancelled = || {
        setup
            .cancel
            .is_some_and(|flag| flag.load(Ordering::Relaxed))
    };
    std::thread::scope(|scope| {
        for _ in 0..setup.jobs.max(1) {
            scope.spawn(|| {
                while !cancelled() {
                    let next = lock().queue.pop_front();
                    let Some(index) = next else { break };
                    let Some(mut done) = child::run_case(&cases[index], setup, folder) else {
                        break;
                    };
                    done.case = case_text(&cases[index]);
                    let mut state = lock();
                    state.done += 1;
                    observer(state.done, &done.report);
                    if let Some(journal) = &mut state.journal
                        && let Err(e) = journal.add(&done)
                    {
                        // What is noted stays; the rest would be run in vain.
                        state.failure.get_or_insert(e);
                        state.queue.clear();
                    }
                    state.finished[index] = Some(done);
                }
            });
        }
    });
    let state = state.into_inner().expect("no worker panics");
    if let Some(e) = state.failure {
        return Err(e);
    }
    let complete = state.finished.iter().all(Option::is_some);
    let (models, pictures): (Vec<ModelReport>, Vec<Vec<String>>) = (state.finished.into_iter())
        .flatten()
        .map(|f| (f.report, f.pictures))
        .unzip();
    Ok(Outcome {
        report: Report {
            saltus: version,
            usable: cases.len(),
            timeout_seconds: setup.limits.seconds,
            models,
        },
        pictures,
        resumed,
        complete,
    })
}

struct Progress {
    queue: VecDeque<usize>,
    finished: Vec<Option<Finished>>,
    journal: Option<Journal>,
    done: usize,
    failure: Option<String>,
}

/// The formats of a report, by the ending of its file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReportFormat {
    Json,
    Junit,
    Html,
    Markdown,
}

impl ReportFormat {
    pub fn of(path: &Path) -> Result<ReportFormat, String> {
        let ending = path.extension().and_then(|e| e.to_str());
        match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("json") => Ok(ReportFormat::Json),
            Some("xml") => Ok(ReportFormat::Junit),
            Some("html") => Ok(ReportFormat::Html),
            Some("md") => Ok(ReportFormat::Markdown),
            _ => Err(format!(
                "`{}`: a report ends with .json, .xml (JUnit), .html or .md",
                path.display()
            )),
        }
    }
}

impl Outcome {
    /// Writes a report in the format of the file's ending. `title` names the library.
    pub fn write(&self, path: &Path, title: &str, baseline: Option<&Report>) -> Result<(), String> {
        let text = match ReportFormat::of(path)? {
            ReportFormat::Json => {
                serde_json::to_string_pretty(&self.report).map_err(|e| e.to_string())? + "\n"
            }
            ReportFormat::Junit => junit::junit(&self.report, title),
            ReportFormat::Html => html::html(&self.report, &self.pictures, title, baseline),
            ReportFormat::Markdown => status::status(&self.report, title),
        };
        replace_file(path, |out| out.write_all(text.as_bytes()))
            .map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// Reads the JSON form of a report.
pub fn read_report(path: &Path) -> Result<Report, String> {
    let text = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
}
