use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use saltus::journal::Journal;
use saltus_regression::{
    self, Case, Limits, References, ReportFormat, Setup, Target, add_scripts, find_cases,
    find_library, find_references,
};
use saltus_results::Glob;

use crate::args::TestArgs;
use crate::exit::{Exit, Failure, Outcome, message, print};
use crate::outputs::{Outputs, check_folder};
use crate::{files, interrupt};

/// `saltus test`: exit code 0 if all models pass; with an earlier report, if none came less far than there.
pub(crate) fn test(args: TestArgs) -> Outcome {
    for path in &args.reports {
        ReportFormat::of(path).map_err(Failure::command_line)?;
        files::check_writable(path)?;
    }
    let mut outputs = Outputs::default();
    outputs.add("--report", &args.reports);
    outputs.check_distinct()?;
    if let Some(folder) = &args.keep {
        check_folder("--keep", folder)?;
    }
    let baseline = match &args.baseline {
        Some(path) => Some(saltus_regression::read_report(path).map_err(Failure::command_line)?),
        None => None,
    };
    let Subject { cases, libraries } = subject(&args)?;
    let sources = cases.iter().filter_map(|case| match &case.target {
        Target::File(path) => Some(path.clone()),
        Target::Class => None,
    });
    outputs.check_not_read(&sources.collect::<Vec<_>>())?;
    let binary = std::env::current_exe()
        .map_err(|e| Failure::command_line(format!("the program does not find itself: {e}")))?;
    // The journal is beside the first report.
    let journal = args.reports.first().map(|path| Journal::beside(path));
    if let Some(path) = &journal
        && args.fresh
    {
        // One that is not there need not be removed.
        let _ = std::fs::remove_file(path);
    }
    let setup = Setup {
        binary: &binary,
        libraries: &libraries,
        allow_write: &args.access.allow_write,
        allow_system: args.access.allow_system,
        allow_foreign: args.access.allow_foreign,
        jobs: args.jobs.unwrap_or_else(saltus_regression::cores),
        limits: Limits {
            seconds: args.timeout,
            memory_mb: args.memory,
        },
        keep: args.keep.as_deref(),
        journal: journal.as_deref(),
        pictures: (args.reports.iter())
            .any(|path| ReportFormat::of(path) == Ok(ReportFormat::Html)),
        cancel: Some(interrupt::requested()),
    };
    interrupt::listen();
    let n = cases.len();
    let outcome = saltus_regression::run_cases(&cases, &setup, &|done, model| {
        if !args.quiet {
            message(&format!("[{done}/{n}] {}", model.line()));
        }
    })
    .map_err(Failure::command_line)?;
    if outcome.resumed > 0 && !args.quiet {
        message(&format!(
            "{} of {n} models were run before",
            outcome.resumed
        ));
    }
    if interrupt::requested().load(Ordering::Relaxed) || !outcome.complete {
        let done = outcome.report.models.len();
        let again = if journal.is_some() {
            "; the same command goes on from there"
        } else {
            ""
        };
        message(&format!("interrupted after {done} of {n} models{again}"));
        return Ok(Exit::Incomplete);
    }
    let title = args.target.trim_end_matches('/');
    let title = title.rsplit('/').next().unwrap_or(title);
    for path in &args.reports {
        outcome
            .write(path, title, baseline.as_ref())
            .map_err(Failure::command_line)?;
    }
    if let Some(path) = &journal {
        // The report has it all.
        let _ = std::fs::remove_file(path);
    }
    let report = &outcome.report;
    let mut text = String::new();
    for model in report.models.iter().filter(|m| !m.passed()) {
        text.push_str(&model.line());
        text.push('\n');
    }
    text.push_str(&report.summary());
    text.push('\n');
    if let Some(old) = &baseline {
        text.push_str(&report.moves_since(old));
        text.push('\n');
    }
    print(&text)?;
    let good = match &baseline {
        Some(old) => report.n_down_since(old) == 0,
        None => report.models.iter().all(|m| m.passed()),
    };
    Ok(if good { Exit::Done } else { Exit::Model })
}

/// Where a library keeps the references of its regression test.
const OWN_REFERENCES: &str = "Resources/ReferenceResults/Dymola";

/// What is to be run.
struct Subject {
    cases: Vec<Case>,
    libraries: Vec<PathBuf>,
}

fn subject(args: &TestArgs) -> Result<Subject, Failure> {
    let mut libraries = args.libraries.clone();
    let path = PathBuf::from(&args.target);
    let (root, part) = if path.exists() {
        (path, None)
    } else {
        let mut folders = libraries.clone();
        if let Some(path) = std::env::var_os("MODELICAPATH") {
            folders.extend(std::env::split_paths(&path));
        }
        let library = args.target.split('.').next().unwrap_or(&args.target);
        let root = find_library(library, &folders).ok_or_else(|| {
            Failure::command_line(format!(
                "there is no library `{library}` and no folder `{}`\n\
                 help: name the folder that contains it with --library or MODELICAPATH",
                args.target
            ))
        })?;
        (root, Some(args.target.clone()))
    };
    // What is in the folder of a library, or beside a file, can be used by its models.
    let around = if root.join("package.mo").is_file() || root.is_file() {
        root.parent().map(Path::to_owned)
    } else {
        Some(root.clone())
    };
    libraries.extend(around.map(|folder| {
        if folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            folder
        }
    }));
    let mut cases = find_cases(&root);
    add_scripts(&root, &mut cases);
    if let Some(part) = &part {
        let inside = format!("{part}.");
        cases.retain(|case| case.name == *part || case.name.starts_with(&inside));
    }
    if !args.filters.is_empty() {
        let globs: Vec<Glob> = args.filters.iter().map(|g| Glob::new(g)).collect();
        cases.retain(|case| globs.iter().any(|glob| glob.matches(&case.name)));
    }
    // Many libraries carry their references.
    let own = root.join(OWN_REFERENCES);
    let folder = args.reference.clone().or(own.is_dir().then_some(own));
    if args.referenced_only && folder.is_none() {
        return Err(Failure::command_line(format!(
            "`{}` has no folder {OWN_REFERENCES}: say with --reference where the references are",
            args.target
        )));
    }
    if let Some(folder) = &folder {
        let references = references(folder, &cases)?;
        for case in &mut cases {
            case.reference = references.get(&case.name).cloned();
        }
        if args.referenced_only {
            cases.retain(|case| case.reference.is_some());
        }
    }
    if cases.is_empty() {
        return Err(Failure::command_line(format!(
            "`{}` has no model with an experiment annotation that is asked for",
            args.target
        )));
    }
    Ok(Subject { cases, libraries })
}

/// The folder may be that of all references, or that of the library itself.
fn references(folder: &Path, cases: &[Case]) -> Result<References, Failure> {
    let library = cases
        .first()
        .and_then(|case| case.name.split('.').next())
        .unwrap_or("");
    let own = folder.join(library);
    let found = if !library.is_empty() && own.is_dir() {
        find_references(&own, Some(library))
    } else if folder.file_name().is_some_and(|name| name == library) {
        find_references(folder, Some(library))
    } else {
        find_references(folder, None)
    };
    found.map_err(Failure::command_line)
}
