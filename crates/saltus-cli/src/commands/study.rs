use std::io::Write;

use saltus_study::{Report, Study, Table};

use crate::args::StudyArgs;
use crate::exit::{Exit, Failure, Outcome, message, print};
use crate::files;
use crate::outputs::check_folder;

/// `saltus study`
pub(crate) fn study(args: &StudyArgs) -> Outcome {
    let studies = match args.name.as_deref() {
        None => Study::ALL.to_vec(),
        Some("list") => {
            for study in Study::ALL {
                print(&format!("{}\n", study.as_str()))?;
            }
            return Ok(Exit::Done);
        }
        Some(name) => vec![Study::from_name(name).ok_or_else(|| unknown(name))?],
    };
    check_folder("--output", &args.output)?;
    std::fs::create_dir_all(&args.output).map_err(|e| {
        Failure::command_line(format!("`{}` cannot be made: {e}", args.output.display()))
    })?;
    let mut wrong = 0;
    let mut overview = Table::new("Studies", &["study", "what", "numbers right", "pictures"]);
    for study in studies {
        let report = study.run();
        write(args, &report)?;
        let (all, failed) = (report.checks.len(), report.failed().count());
        overview.row([
            format!("[{0}]({0}.md)", report.name),
            report.title.to_owned(),
            format!("{} of {all}", all - failed),
            report.pictures.len().to_string(),
        ]);
        print(&text(&report))?;
        for check in report.failed() {
            wrong += 1;
            message(&format!(
                "error: {}: {} is {:e}, not {:e} ± {:e}",
                report.name, check.what, check.found, check.expected, check.tolerance
            ));
        }
    }
    if args.name.is_none() {
        let page = args.output.join("README.md");
        files::write_file(&page, |out| out.write_all(overview.markdown().as_bytes()))?;
    }
    // Numbers of ours that are wrong on this machine are our fault.
    Ok(if wrong == 0 { Exit::Done } else { Exit::Bug })
}

fn unknown(name: &str) -> Failure {
    let known: Vec<&str> = Study::ALL.iter().map(|study| study.as_str()).collect();
    Failure::command_line(format!(
        "there is no study `{name}`; known are {}",
        known.join(", ")
    ))
}

/// The page and the pictures.
fn write(args: &StudyArgs, report: &Report) -> Result<(), Failure> {
    let page = args.output.join(format!("{}.md", report.name));
    files::write_file(&page, |out| out.write_all(report.markdown().as_bytes()))?;
    for picture in &report.pictures {
        let path = args.output.join(&picture.file);
        files::write_file(&path, |out| out.write_all(picture.svg.as_bytes()))?;
    }
    Ok(())
}

/// The tables and how the checks went.
fn text(report: &Report) -> String {
    let mut text = format!("# {}\n\n", report.title);
    for table in &report.tables {
        text.push_str(&table.markdown());
        text.push('\n');
    }
    let (all, failed) = (report.checks.len(), report.failed().count());
    text.push_str(&format!(
        "{} of {all} numbers checked are right\n\n",
        all - failed
    ));
    text
}
