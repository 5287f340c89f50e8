//! Classes and texts to be looked through: what editors and browsers list, open and document.
//!
//! Comes in: a [`Session`]. Goes out: plain data. Files are parsed when something in them is asked for; nothing is flattened.

use crate::session::Session;
use saltus_flatten::tree::{NodeId, ROOT};
use saltus_flatten::{ClassTree, FileArena};
use saltus_syntax::ast::{
    Annotation, Argument, ArgumentKind, ClassBody, ClassDef, ElementKind, ExprKind, Restriction,
};
use saltus_syntax::{Diagnostic, Name, SourceMap};
use serde::Serialize;

/// A class, as a list of classes shows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClassView {
    pub name: String,
    /// With the packages around it.
    pub qualified: String,
    /// `model`, `package`, `block`, …
    pub restriction: &'static str,
    pub description: String,
    pub partial: bool,
    /// There are classes inside.
    pub has_classes: bool,
    /// It can be run: a model, block or class that is not partial.
    pub is_model: bool,
    /// It says how it is to be run.
    pub has_experiment: bool,
    /// The path of its text.
    pub file: String,
    /// From and to, from 1.
    pub lines: (u32, u32),
}

/// The text of a class.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClassSource {
    pub path: String,
    pub text: String,
    /// Of the class, from 1.
    pub line: u32,
}

/// What a class says about itself in its `Documentation` annotation, as HTML.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Documentation {
    pub info: String,
    pub revisions: String,
}

impl Session {
    /// The classes directly inside a class; without one those of the given texts and of the library folders, which are read for that.
    ///
    /// ```
    /// let mut session = saltus::Session::new();
    /// session.set_text("P.mo", "package P \"Two\" model A end A; partial model B end B; end P;");
    /// let inside = session.classes_in(Some("P"));
    /// assert_eq!(inside.iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["A", "B"]);
    /// assert!(inside[0].is_model && !inside[1].is_model);
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn classes_in(&self, class: Option<&str>) -> Vec<ClassView> {
        let mut found = self.browse(|tree| {
            let at = match class {
                Some(class) => find(tree, class)?,
                None => ROOT,
            };
            let mut children = tree.children(at);
            if class.is_none() {
                for name in self.installed() {
                    if let Some(node) = tree.child(ROOT, Name::new(&name))
                        && !children.iter().any(|(known, _)| known.as_str() == name)
                    {
                        children.push((Name::new(&name), node));
                    }
                }
            }
            let views = children
                .into_iter()
                .filter_map(|(_, node)| view(tree, node));
            Some(views.collect::<Vec<_>>())
        });
        found.take().unwrap_or_default()
    }

    /// The classes of a given text, inner ones behind the one around them, and what is wrong with its syntax.
    pub fn outline(&self, path: &str) -> (Vec<ClassView>, crate::Diagnostics) {
        let mut out = Vec::new();
        let mut sources = SourceMap::default();
        let list = match self.parsed(path) {
            Ok(parsed) => {
                sources.insert(parsed.file, parsed.source.clone());
                let within = match &parsed.definition.within {
                    Some(Some(path)) => path.parts.iter().map(|p| format!("{}.", p.name)).collect(),
                    _ => String::new(),
                };
                for class in &parsed.definition.classes {
                    outline(class, &within, &sources, &mut out);
                }
                parsed.diagnostics.clone()
            }
            Err(diagnostic) => vec![*diagnostic],
        };
        let sources = std::sync::Arc::new(sources);
        (out, crate::Diagnostics { list, sources })
    }

    /// The text in which a class is written.
    pub fn source_of(&self, class: &str) -> Option<ClassSource> {
        self.browse(|tree| {
            let node = find(tree, class)?;
            let def = tree.def(node)?;
            let file = tree.sources.shared(def.span.file);
            let line = tree.sources.line_col(def.span.file, def.span.start).line;
            Some(ClassSource {
                path: file.name.clone(),
                text: file.text.clone(),
                line,
            })
        })
    }

    /// The documentation of a class.
    pub fn documentation(&self, class: &str) -> Option<Documentation> {
        self.browse(|tree| {
            let node = find(tree, class)?;
            let def = tree.def(node)?;
            let arguments = inside(own_annotation(def)?, "Documentation")?;
            Some(Documentation {
                info: text_of(arguments, "info"),
                revisions: text_of(arguments, "revisions"),
            })
        })
    }

    /// Lends the tree of classes.
    pub(crate) fn browse<T>(
        &self,
        look: impl FnOnce(&mut ClassTree<'_>) -> Option<T>,
    ) -> Option<T> {
        let arena = FileArena::new();
        let clock = || 0.0;
        let mut tree = self.tree(&arena, &clock);
        look(&mut tree)
    }

    /// Names of what the library folders hold.
    fn installed(&self) -> Vec<String> {
        let mut names = Vec::new();
        for folder in self.library_paths() {
            let folder = folder.display().to_string();
            for (entry, is_folder) in self.world().list(&folder).unwrap_or_default() {
                let name = match (is_folder, entry.strip_suffix(".mo")) {
                    (false, Some(stem)) => stem,
                    (true, _)
                        if self
                            .world()
                            .is_file(&format!("{folder}/{entry}/package.mo")) =>
                    {
                        &entry
                    }
                    _ => continue,
                };
                // A version may follow.
                let name = name.split(' ').next().unwrap_or(name).to_owned();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}

pub(crate) fn find(tree: &mut ClassTree<'_>, class: &str) -> Option<NodeId> {
    let mut node = ROOT;
    for part in class.trim_start_matches('.').split('.') {
        node = tree.child(node, Name::new(part))?;
    }
    Some(node)
}

fn view(tree: &mut ClassTree<'_>, node: NodeId) -> Option<ClassView> {
    let def = tree.def(node)?;
    let qualified = tree.qualified_name(node).to_string();
    let has_classes = !tree.children(node).is_empty();
    Some(class_view(def, qualified, has_classes, &tree.sources))
}

fn class_view(
    def: &ClassDef,
    qualified: String,
    has_classes: bool,
    sources: &SourceMap,
) -> ClassView {
    let line = |at: u32| sources.line_col(def.span.file, at).line;
    let runs = matches!(
        def.restriction,
        Restriction::Model | Restriction::Block | Restriction::Class
    );
    ClassView {
        name: def.name.name.to_string(),
        qualified,
        restriction: restriction_name(def.restriction),
        description: def.description.as_deref().unwrap_or_default().to_owned(),
        partial: def.partial,
        has_classes,
        is_model: runs && !def.partial,
        has_experiment: own_annotation(def).is_some_and(|a| inside(a, "experiment").is_some()),
        file: sources.file(def.span.file).name.clone(),
        lines: (line(def.span.start), line(def.span.end)),
    }
}

fn outline(def: &ClassDef, within: &str, sources: &SourceMap, out: &mut Vec<ClassView>) {
    let qualified = format!("{within}{}", def.name.name);
    let inner: Vec<_> = match &def.body {
        ClassBody::Composition { parts, .. } => (parts.elements.iter())
            .filter_map(|element| match &element.kind {
                ElementKind::Class { def, .. } => Some(def),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    out.push(class_view(
        def,
        qualified.clone(),
        !inner.is_empty(),
        sources,
    ));
    let within = format!("{qualified}.");
    for def in inner {
        outline(def, &within, sources, out);
    }
}

fn restriction_name(restriction: Restriction) -> &'static str {
    match restriction {
        Restriction::Class => "class",
        Restriction::Model => "model",
        Restriction::Record => "record",
        Restriction::OperatorRecord => "operator record",
        Restriction::Block => "block",
        Restriction::Connector => "connector",
        Restriction::ExpandableConnector => "expandable connector",
        Restriction::Type => "type",
        Restriction::Package => "package",
        Restriction::Function => "function",
        Restriction::OperatorFunction => "operator function",
        Restriction::Operator => "operator",
    }
}

/// The annotation of the class itself.
pub(crate) fn own_annotation(def: &ClassDef) -> Option<&[Argument]> {
    def.annotation
        .as_ref()
        .map(|Annotation { args, .. }| &args[..])
}

/// The arguments of `name(…)` among others.
pub(crate) fn inside<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a [Argument]> {
    arguments.iter().find_map(|argument| match &argument.kind {
        ArgumentKind::Modify {
            path, modification, ..
        } if path.parts.len() == 1 && path.parts[0].name.as_str() == name => {
            Some(modification.as_ref().map_or(&[][..], |m| &m.args[..]))
        }
        _ => None,
    })
}

/// The text `name = "…"`, parts of a sum joined.
fn text_of(arguments: &[Argument], name: &str) -> String {
    let value = arguments.iter().find_map(|argument| match &argument.kind {
        ArgumentKind::Modify {
            path, modification, ..
        } if path.parts.len() == 1 && path.parts[0].name.as_str() == name => {
            modification.as_ref()?.value.as_ref()
        }
        _ => None,
    });
    let mut out = String::new();
    let mut todo: Vec<_> = value.into_iter().collect();
    while let Some(expr) = todo.pop() {
        match &expr.kind {
            ExprKind::String(text) => out.push_str(text),
            ExprKind::Binary(_, left, right) => todo.extend([&**right, &**left]),
            _ => {}
        }
    }
    out
}

/// Line and column (from 1, in characters) of the start and end of a place, with its file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PlaceView {
    pub file: String,
    pub from: (u32, u32),
    pub to: (u32, u32),
    pub label: String,
}

/// A message as plain data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct DiagnosticView {
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    pub message: String,
    pub place: Option<PlaceView>,
    pub others: Vec<PlaceView>,
    pub notes: Vec<String>,
    pub help: Option<String>,
}

impl crate::Diagnostics {
    /// The messages as plain data, for programs that show them in their own way.
    pub fn views(&self) -> Vec<DiagnosticView> {
        self.list.iter().map(|d| self.view(d)).collect()
    }

    fn view(&self, d: &Diagnostic) -> DiagnosticView {
        let place = |label: &saltus_syntax::Label| {
            let span = label.span;
            if span.file.0 as usize >= self.sources.len() {
                return None;
            }
            let at = |offset| {
                let at = self.sources.line_col(span.file, offset);
                (at.line, at.col)
            };
            Some(PlaceView {
                file: self.sources.file(span.file).name.clone(),
                from: at(span.start),
                to: at(span.end),
                label: label.text.clone(),
            })
        };
        DiagnosticView {
            code: d.code.to_string(),
            severity: match d.severity {
                saltus_syntax::Severity::Error => "error",
                saltus_syntax::Severity::Warning => "warning",
                saltus_syntax::Severity::Note => "note",
            },
            message: d.message.clone(),
            place: d.primary.as_ref().and_then(place),
            others: d.secondary.iter().filter_map(place).collect(),
            notes: d.notes.clone(),
            help: d.help.clone(),
        }
    }
}
