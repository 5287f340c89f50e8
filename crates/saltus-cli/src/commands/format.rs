use std::io::{Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::args::FormatArgs;
use crate::exit::{Exit, Failure, Outcome, message, print};
use crate::files::{read_text, unreadable, write_file};

/// `saltus format`
pub(crate) fn format(args: &FormatArgs) -> Outcome {
    if args.stdin {
        return standard_input(args);
    }
    let mut files = Vec::new();
    for path in &args.paths {
        collect(path, true, &mut files)?;
    }
    let mut exit = Exit::Done;
    let (mut n_changed, mut n_refused) = (0, 0);
    for file in &files {
        match format_file(file, args) {
            Ok(false) => {}
            Ok(true) => {
                n_changed += 1;
                if args.check {
                    exit = Exit::Model;
                    print(&format!("{}\n", file.display()))?;
                }
            }
            // One file that cannot be formatted is no reason to leave the others.
            Err(failure) if failure.exit == Exit::Model => {
                exit = Exit::Model;
                n_refused += 1;
                message(failure.text.trim_end());
            }
            Err(failure) => return Err(failure),
        }
    }
    let what = if args.check {
        "would change"
    } else {
        "changed"
    };
    let refused = match n_refused {
        0 => String::new(),
        n => format!(", {n} with errors were left as they are"),
    };
    let n_files = match files.len() {
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    message(&format!("{n_files}, {n_changed} {what}{refused}"));
    Ok(exit)
}

fn standard_input(args: &FormatArgs) -> Outcome {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|e| Failure::command_line(format!("standard input: {e}")))?;
    let formatted = formatted("standard input", &text, args.lines.clone())?;
    if args.check {
        return Ok(if formatted == text {
            Exit::Done
        } else {
            Exit::Model
        });
    }
    // As it is: control characters of the text belong to the text.
    let mut out = std::io::stdout().lock();
    match out
        .write_all(formatted.as_bytes())
        .and_then(|()| out.flush())
    {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::command_line(format!("standard output: {e}")))
        }
        _ => Ok(Exit::Done),
    }
}

/// True if the file is, or would be, changed.
fn format_file(file: &Path, args: &FormatArgs) -> Result<bool, Failure> {
    let text = read_text(file)?;
    let formatted = formatted(&file.display().to_string(), &text, args.lines.clone())?;
    if formatted == text {
        return Ok(false);
    }
    if !args.check {
        write_file(file, |out| out.write_all(formatted.as_bytes()))?;
    }
    Ok(true)
}

fn formatted(
    name: &str,
    text: &str,
    lines: Option<RangeInclusive<u32>>,
) -> Result<String, Failure> {
    saltus::format(name, text, lines).map_err(|error| Failure {
        exit: Exit::Model,
        text: error.to_string(),
    })
}

/// The Modelica files of a folder, in the order of their names; links to folders are not followed.
fn collect(path: &Path, given: bool, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        if given || path.extension().is_some_and(|e| e == "mo") {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    let entries = std::fs::read_dir(path).and_then(|entries| {
        entries
            .map(|entry| entry.and_then(|e| Ok((e.path(), e.file_type()?))))
            .collect::<std::io::Result<Vec<_>>>()
    });
    let mut entries = entries.map_err(|e| unreadable(path, &e))?;
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    for (entry, kind) in entries {
        if !(kind.is_symlink() && entry.is_dir()) {
            collect(&entry, false, files)?;
        }
    }
    Ok(())
}
