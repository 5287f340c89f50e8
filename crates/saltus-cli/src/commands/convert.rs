use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use saltus::Diagnostic;
use saltus::replace::replace_file;
use saltus_convert::{
    Converted, Rules, Step, Text, Version, convert as convert_texts, plan, used_versions,
};
use saltus_regression::find_library;
use saltus_syntax::ast::StoredDefinition;
use saltus_syntax::{FileId, SourceMap, parse, render};

use crate::args::ConvertArgs;
use crate::exit::{Exit, Failure, Outcome, print};
use crate::files;

/// Deeper folders than this are no package.
const DEPTH_MAX: usize = 32;

/// `saltus convert`: rewrites texts for another version of a library by the scripts that it brings.
pub(crate) fn convert(args: &ConvertArgs) -> Outcome {
    let folders = folders(&args.libraries);
    let root = root(&args.target, &folders)?;
    let (library, definition) = new_version(args, &folders)?;
    let texts = texts(&root)?;
    if texts.is_empty() {
        return Err(Failure::command_line(format!(
            "`{}` has no Modelica file",
            root.display()
        )));
    }
    let from = match &args.from {
        Some(from) => from.clone(),
        None => used(&texts, &args.of).ok_or_else(|| {
            Failure::command_line(format!(
                "`{}` does not say for which version of {} it is written\nhelp: name it with --from",
                args.target, args.of
            ))
        })?,
    };
    let plan = (definition.classes.first())
        .map_or_else(|| Ok(Default::default()), |class| plan(class, &from))
        .map_err(|known| no_way(args, &from, &known))?;
    let to = Version {
        library: &args.of,
        number: &args.to,
    };
    let mut now = texts.clone();
    let mut all = Converted::default();
    for rules in std::iter::once(Ok(Rules::default()))
        .chain(plan.steps.iter().map(|step| rules(&library, step)))
    {
        let done = convert_texts(&now, &rules?, &to).map_err(|wrong| unreadable(*wrong))?;
        for (text, n) in done.changed {
            if let Some(place) = now.iter_mut().find(|old| old.name == text.name) {
                place.text.clone_from(&text.text);
            }
            match all
                .changed
                .iter_mut()
                .find(|(old, _)| old.name == text.name)
            {
                Some(old) => *old = (text, old.1 + n),
                None => all.changed.push((text, n)),
            }
        }
        all.notes.extend(done.notes);
    }
    if !args.dry_run {
        write(args, &root, &all)?;
    }
    print(&report(args, &from, &all, texts.len()))?;
    Ok(Exit::Done)
}

fn folders(libraries: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders = libraries.to_vec();
    if let Some(path) = std::env::var_os("MODELICAPATH") {
        folders.extend(std::env::split_paths(&path));
    }
    folders
}

fn root(target: &str, folders: &[PathBuf]) -> Result<PathBuf, Failure> {
    let path = PathBuf::from(target);
    if path.exists() {
        return Ok(path);
    }
    find_library(target, folders).ok_or_else(|| {
        Failure::command_line(format!(
            "there is no library `{target}`, and no folder or file of that name\nhelp: name the folder that contains it with --library or MODELICAPATH"
        ))
    })
}

/// The folder or file of the new version of the library, with its top class.
fn new_version(
    args: &ConvertArgs,
    folders: &[PathBuf],
) -> Result<(PathBuf, StoredDefinition), Failure> {
    let mut found = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let stem = match path.is_dir() {
                true => path.file_name(),
                false => path.file_stem(),
            };
            let stem = stem.and_then(OsStr::to_str).unwrap_or_default();
            let is_named = stem.split(' ').next() == Some(args.of.as_str());
            let file = match path.is_dir() {
                true => path.join("package.mo"),
                false => path.clone(),
            };
            if !is_named || file.extension() != Some(OsStr::new("mo")) || !file.is_file() {
                continue;
            }
            let definition = parse(FileId(0), &files::read_text(&file)?).definition;
            let version = definition
                .classes
                .first()
                .and_then(|c| saltus_convert::version(c));
            if version.as_deref() == Some(args.to.as_str()) {
                return Ok((path, definition));
            }
            found.extend(version);
        }
    }
    let others = match found.is_empty() {
        true => String::new(),
        false => format!(" (only {})", found.join(", ")),
    };
    Err(Failure::command_line(format!(
        "{} {} was not found{others}\nhelp: name the folder that contains it with --library or MODELICAPATH",
        args.of, args.to
    )))
}

fn no_way(args: &ConvertArgs, from: &str, known: &[String]) -> Failure {
    let known = match known.is_empty() {
        true => "it does not say from which version".to_owned(),
        false => format!("it says how for {}", known.join(", ")),
    };
    Failure::command_line(format!(
        "{} {} does not say how texts for {from} are converted; {known}",
        args.of, args.to
    ))
}

/// All Modelica files of a library, or of a folder.
fn texts(root: &Path) -> Result<Vec<Text>, Failure> {
    let mut paths = Vec::new();
    collect(root, 0, &mut paths);
    paths.sort();
    let text = |path: &PathBuf| {
        Ok(Text {
            name: path.display().to_string(),
            text: files::read_text(path)?,
        })
    };
    paths.iter().map(text).collect()
}

fn collect(path: &Path, depth: usize, paths: &mut Vec<PathBuf>) {
    if path.is_file() {
        if path.extension() == Some(OsStr::new("mo")) {
            paths.push(path.to_owned());
        }
    } else if depth < DEPTH_MAX {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries {
            // Links may lead out of the library, or in a circle.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                collect(&entry.path(), depth + 1, paths);
            }
        }
    }
}

/// The version of the library that the texts say they use.
fn used(texts: &[Text], library: &str) -> Option<String> {
    texts
        .iter()
        .filter(|text| text.text.contains("uses"))
        .find_map(|text| {
            let parsed = parse(FileId(0), &text.text);
            (parsed.definition.classes.iter())
                .flat_map(|class| used_versions(class))
                .find_map(|(name, version)| (name == library).then_some(version))
        })
}

/// The rules of a script; `modelica://Library/path` is in the folder of the library.
fn rules(library: &Path, step: &Step) -> Result<Rules, Failure> {
    let inside = step
        .script
        .strip_prefix("modelica://")
        .map_or(step.script.as_str(), |rest| {
            rest.split_once('/').map_or(rest, |(_, path)| path)
        });
    let path = library.join(inside);
    let wrong = |error: Box<Diagnostic>| {
        Failure::command_line(format!("{}: {}", path.display(), error.message))
    };
    Rules::read(&files::read_text(&path)?).map_err(wrong)
}

fn unreadable((error, sources): (Diagnostic, SourceMap)) -> Failure {
    Failure {
        exit: Exit::Model,
        text: render(&error, &sources).trim_end().to_owned(),
    }
}

fn write(args: &ConvertArgs, root: &Path, converted: &Converted) -> Result<(), Failure> {
    for (text, _) in &converted.changed {
        let old = Path::new(&text.name);
        let path = match &args.output {
            None => old.to_owned(),
            Some(folder) => {
                let around = root.parent().unwrap_or(Path::new(""));
                folder.join(old.strip_prefix(around).unwrap_or(old))
            }
        };
        let failed = |e: std::io::Error| Failure::command_line(format!("{}: {e}", path.display()));
        if let Some(folder) = path.parent().filter(|_| args.output.is_some()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        replace_file(&path, |out| out.write_all(text.text.as_bytes())).map_err(failed)?;
    }
    Ok(())
}

fn report(args: &ConvertArgs, from: &str, converted: &Converted, n_files: usize) -> String {
    let mut text = String::new();
    for (file, n) in &converted.changed {
        text.push_str(&format!("{}: {n} places\n", file.name));
    }
    if !converted.notes.is_empty() {
        text.push_str("needs a hand:\n");
    }
    for note in &converted.notes {
        text.push_str(&format!(
            "{}:{}:{}: {}\n",
            note.file, note.line, note.column, note.text
        ));
    }
    let places: usize = converted.changed.iter().map(|(_, n)| n).sum();
    let done = match args.dry_run {
        true => "would change",
        false => "changed",
    };
    text.push_str(&format!(
        "{} {from} to {}: {places} places in {} of {n_files} files {done}, {} to be looked at\n",
        args.of,
        args.to,
        converted.changed.len(),
        converted.notes.len()
    ));
    text
}
