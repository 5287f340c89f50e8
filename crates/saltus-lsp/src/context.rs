//! A document with its tree, and the classes around a place in it.

use crate::text::Text;
use lsp_types::{Diagnostic, Uri};
use saltus::language::syntax::{ClassBody, ClassDef, ElementKind, StoredDefinition};
use saltus::language::{Name, ParsedFile, Span};

/// An open document.
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) text: Text,
    /// What the last check of its classes has found.
    pub(crate) checked: Vec<Diagnostic>,
}

/// The names of the within clause.
pub(crate) fn within(file: &StoredDefinition) -> Vec<Name> {
    match &file.within {
        Some(Some(path)) => path.parts.iter().map(|part| part.name).collect(),
        _ => Vec::new(),
    }
}

/// The classes around an offset, outermost first. Behind the last class of a broken text its end counts as open.
pub(crate) fn classes_at(file: &StoredDefinition, offset: u32) -> Vec<&ClassDef> {
    let mut found = Vec::new();
    let mut inside: Vec<&ClassDef> = file.classes.iter().map(|class| &**class).collect();
    while let Some(class) = inside
        .into_iter()
        .find(|class| contains(class.span, offset))
    {
        let ClassBody::Composition { .. } = &class.body else {
            break;
        };
        found.push(class);
        inside = nested(class);
    }
    found
}

/// The classes written directly inside a class.
pub(crate) fn nested(class: &ClassDef) -> Vec<&ClassDef> {
    let ClassBody::Composition { parts, .. } = &class.body else {
        return Vec::new();
    };
    (parts.elements.iter())
        .filter_map(|element| match &element.kind {
            ElementKind::Class { def, .. } => Some(&**def),
            _ => None,
        })
        .collect()
}

fn contains(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}

/// All classes of a file with their full names, a class before those inside it.
pub(crate) fn all_classes(file: &StoredDefinition) -> Vec<(String, &ClassDef)> {
    let prefix: String = within(file).iter().map(|name| format!("{name}.")).collect();
    let mut out = Vec::new();
    let mut todo: Vec<(String, &ClassDef)> = (file.classes.iter().rev())
        .map(|class| (format!("{prefix}{}", class.name.name), &**class))
        .collect();
    while let Some((name, class)) = todo.pop() {
        let inner = nested(class).into_iter().rev();
        todo.extend(inner.map(|class| (format!("{name}.{}", class.name.name), class)));
        out.push((name, class));
    }
    out
}

/// The full name of the innermost class around an offset.
pub(crate) fn class_name_at(parsed: &ParsedFile, offset: u32) -> Option<String> {
    let classes = classes_at(&parsed.definition, offset);
    if classes.is_empty() {
        return None;
    }
    let names = within(&parsed.definition)
        .into_iter()
        .map(|name| name.to_string());
    let names: Vec<String> = names
        .chain(classes.iter().map(|class| class.name.name.to_string()))
        .collect();
    Some(names.join("."))
}
