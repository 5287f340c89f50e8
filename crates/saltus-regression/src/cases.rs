//! Which models of a library or folder are to be run: those with an experiment annotation.

use std::fs;
use std::path::{Path, PathBuf};

use saltus::{Disk, World as _};
use saltus_syntax::ast::{ArgumentKind, ClassBody, ClassDef, ElementKind, Restriction};
use saltus_syntax::{Diagnostic, SourceMap};

use crate::references::Reference;
use crate::scripts::RunSettings;

/// How the program finds a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// By its name, in a library.
    Class,
    /// In this file.
    File(PathBuf),
}

/// A model to be run.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// Qualified name.
    pub name: String,
    pub target: Target,
    pub reference: Option<Reference>,
    /// What a script of the library says of the run; the rest is that of the experiment annotation.
    pub settings: RunSettings,
}

/// Deeper folders than this are no package.
const DEPTH_MAX: usize = 32;

/// All models with an experiment annotation in a library (a folder with `package.mo`, or a file) or in a plain folder of files and libraries. Sorted
/// by name. A file or folder that cannot be read, and a file that cannot be parsed, is a case of its own: the report then says why.
pub fn find_cases(root: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    let is_library = root.join("package.mo").is_file();
    walk(root, is_library, &mut Vec::new(), &mut cases);
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases.dedup_by(|a, b| a.name == b.name && a.target == b.target);
    cases
}

/// The folder or file of a library: the first of `folders` that has it, of any version.
pub fn find_library(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    for folder in folders {
        let file = folder.join(format!("{name}.mo"));
        let plain = folder.join(name);
        if plain.join("package.mo").is_file() {
            return Some(plain);
        }
        if file.is_file() {
            return Some(file);
        }
        // `Name 1.2.3`, the newest first.
        let mut versions: Vec<PathBuf> = (fs::read_dir(folder).into_iter().flatten())
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                let own = path.file_name().and_then(|n| n.to_str());
                own.and_then(|n| n.strip_prefix(name))
                    .is_some_and(|rest| rest.starts_with(' '))
                    && path.join("package.mo").is_file()
            })
            .collect();
        versions.sort();
        if let Some(last) = versions.pop() {
            return Some(last);
        }
    }
    None
}

/// `around`: the folders that lead here, without links.
fn walk(path: &Path, in_library: bool, around: &mut Vec<PathBuf>, cases: &mut Vec<Case>) {
    if !path.is_dir() {
        // Also pipes, and links that lead nowhere: the report says that they cannot be read.
        if path.extension().is_some_and(|e| e == "mo") {
            file_cases(path, in_library, cases);
        }
        return;
    }
    let Ok(real) = path.canonicalize() else {
        return cases.push(broken(path));
    };
    // A link back to where it came from.
    if around.contains(&real) {
        return;
    }
    let entries = match fs::read_dir(path) {
        Ok(entries) if around.len() < DEPTH_MAX => entries,
        _ => return cases.push(broken(path)),
    };
    around.push(real);
    for entry in entries {
        match entry {
            Ok(entry) => {
                let path = entry.path();
                let is_package = path.join("package.mo").is_file();
                // A folder in a library is a package of it only with such a file (specification 13.4.1).
                if is_package || !in_library || !path.is_dir() {
                    walk(&path, in_library || is_package, around, cases);
                }
            }
            Err(_) => cases.push(broken(path)),
        }
    }
    around.pop();
}

/// What cannot be read is a case of its own.
fn broken(path: &Path) -> Case {
    Case {
        name: path.display().to_string(),
        target: Target::File(path.to_owned()),
        reference: None,
        settings: RunSettings::default(),
    }
}

fn file_cases(path: &Path, in_library: bool, cases: &mut Vec<Case>) {
    let target = if in_library {
        Target::Class
    } else {
        Target::File(path.to_owned())
    };
    let shown = path.display().to_string();
    let Some(text) = (Disk.read(&shown).ok())
        .and_then(|bytes| saltus_syntax::source::decode(&shown, bytes).ok())
    else {
        cases.push(broken(path));
        return;
    };
    // Most files of a library hold no such model.
    if !text.contains("experiment") {
        return;
    }
    let mut sources = SourceMap::default();
    let file = sources.add(shown, text.clone());
    let parsed = saltus_syntax::parse(file, &text);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        cases.push(broken(path));
        return;
    }
    let within = match &parsed.definition.within {
        Some(Some(path)) => path.parts.iter().map(|p| format!("{}.", p.name)).collect(),
        _ => String::new(),
    };
    for class in &parsed.definition.classes {
        class_cases(class, &within, &target, 0, cases);
    }
}

fn class_cases(
    class: &ClassDef,
    within: &str,
    target: &Target,
    depth: usize,
    cases: &mut Vec<Case>,
) {
    if depth > DEPTH_MAX {
        return;
    }
    let name = format!("{within}{}", class.name.name);
    let can_run = matches!(
        class.restriction,
        Restriction::Model | Restriction::Block | Restriction::Class
    );
    if can_run && !class.partial && has_experiment(class) {
        cases.push(Case {
            name: name.clone(),
            target: target.clone(),
            reference: None,
            settings: RunSettings::default(),
        });
    }
    if let ClassBody::Composition { parts, .. } = &class.body {
        let inner = format!("{name}.");
        for element in &parts.elements {
            if let ElementKind::Class { def, .. } = &element.kind {
                class_cases(def, &inner, target, depth + 1, cases);
            }
        }
    }
}

fn has_experiment(class: &ClassDef) -> bool {
    let args = class.annotation.iter().flat_map(|a| &a.args);
    args.into_iter().any(|arg| match &arg.kind {
        ArgumentKind::Modify { path, .. } => path.parts[0].name.as_str() == "experiment",
        _ => false,
    })
}
