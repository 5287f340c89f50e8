//! Outline of a document; classes of the client's folders by name.

use super::{Answer, Asked};
use crate::context::all_classes;
use crate::server::Server;
use crate::text::Text;
use lsp_types::{
    DocumentSymbol, DocumentSymbolParams, DocumentSymbolResponse, Location, OneOf, SymbolKind,
    WorkspaceSymbol, WorkspaceSymbolParams, WorkspaceSymbolResponse,
};
use saltus::language::syntax::{
    ClassBody, ClassDef, ComponentDecl, ElementKind, Restriction, Variability,
};

/// Answers beyond so many tell nobody anything.
const SYMBOLS_MAX: usize = 500;
/// Folders of a workspace below which classes are looked for.
const DEPTH_MAX: usize = 16;

pub(super) fn of_document(
    server: &mut Server<'_>,
    params: DocumentSymbolParams,
) -> Answer<Option<DocumentSymbolResponse>> {
    let asked = Asked::new(server, &params.text_document.uri)?;
    let symbols = asked
        .parsed
        .definition
        .classes
        .iter()
        .map(|class| of_class(class, &asked.text))
        .collect();
    Ok(Some(DocumentSymbolResponse::Nested(symbols)))
}

fn of_class(class: &ClassDef, text: &Text) -> DocumentSymbol {
    let mut children = Vec::new();
    match &class.body {
        ClassBody::Composition { parts, .. } => {
            for element in &parts.elements {
                match &element.kind {
                    ElementKind::Class { def, .. } => children.push(of_class(def, text)),
                    ElementKind::Component(decl) => children.push(of_component(decl, text)),
                    ElementKind::Import(_) | ElementKind::Extends(_) => {}
                }
            }
        }
        ClassBody::Enumeration(Some(literals)) => {
            for literal in literals {
                let range = text.range_of(literal.name.span);
                let detail = literal.description.as_deref().map(str::to_owned);
                children.push(symbol(
                    literal.name.name.to_string(),
                    detail,
                    SymbolKind::ENUM_MEMBER,
                    range,
                    range,
                    Vec::new(),
                ));
            }
        }
        _ => {}
    }
    let (range, name) = (text.range_of(class.span), text.range_of(class.name.span));
    let detail = class.description.as_deref().map(str::to_owned);
    symbol(
        class.name.name.to_string(),
        detail,
        kind_of(class),
        range,
        name,
        children,
    )
}

fn of_component(decl: &ComponentDecl, text: &Text) -> DocumentSymbol {
    let kind = match decl.type_prefixes.variability {
        Some(Variability::Constant | Variability::Parameter) => SymbolKind::CONSTANT,
        _ => SymbolKind::VARIABLE,
    };
    let detail: Vec<&str> = decl
        .ty
        .parts
        .iter()
        .map(|part| part.name.as_str())
        .collect();
    // Several components of one declaration share its begin; the range must hold the name.
    let (range, name) = (text.range_of(decl.span), text.range_of(decl.name.span));
    let range = lsp_types::Range::new(range.start.min(name.start), range.end.max(name.end));
    symbol(
        decl.name.name.to_string(),
        Some(detail.join(".")),
        kind,
        range,
        name,
        Vec::new(),
    )
}

fn symbol(
    name: String,
    detail: Option<String>,
    kind: SymbolKind,
    range: lsp_types::Range,
    selection_range: lsp_types::Range,
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    #[expect(deprecated, reason = "the field has to be given")]
    DocumentSymbol {
        name,
        detail,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children: (!children.is_empty()).then_some(children),
    }
}

fn kind_of(class: &ClassDef) -> SymbolKind {
    match class.restriction {
        _ if matches!(class.body, ClassBody::Enumeration(_)) => SymbolKind::ENUM,
        Restriction::Package => SymbolKind::PACKAGE,
        Restriction::Function | Restriction::OperatorFunction => SymbolKind::FUNCTION,
        Restriction::Record | Restriction::OperatorRecord => SymbolKind::STRUCT,
        Restriction::Connector | Restriction::ExpandableConnector => SymbolKind::INTERFACE,
        Restriction::Operator => SymbolKind::OPERATOR,
        Restriction::Type => SymbolKind::TYPE_PARAMETER,
        _ => SymbolKind::CLASS,
    }
}

/// Classes of the client's folders whose names contain the letters of the query in their order.
pub(super) fn of_workspace(
    server: &mut Server<'_>,
    params: WorkspaceSymbolParams,
) -> Answer<Option<WorkspaceSymbolResponse>> {
    let mut files: Vec<String> = server.documents.keys().cloned().collect();
    for folder in &server.folders {
        files_below(server, folder, 0, &mut files);
    }
    files.sort();
    files.dedup();
    let mut found = Vec::new();
    for path in files {
        let Ok(parsed) = server.session.parsed(&path) else {
            continue;
        };
        let Some(uri) = server.uri(&path) else {
            continue;
        };
        let text = std::cell::OnceCell::new();
        for (name, class) in all_classes(&parsed.definition) {
            let Some(rank) = rank(class.name.name.as_str(), &params.query) else {
                continue;
            };
            let text = text.get_or_init(|| Text::new(parsed.source.text.clone()));
            let symbol = WorkspaceSymbol {
                name: class.name.name.to_string(),
                kind: kind_of(class),
                tags: None,
                container_name: name.rsplit_once('.').map(|(around, _)| around.to_owned()),
                location: OneOf::Left(Location::new(uri.clone(), text.range_of(class.name.span))),
                data: None,
            };
            found.push((rank, symbol));
        }
    }
    found.sort_by(|a, b| (a.0, &a.1.name).cmp(&(b.0, &b.1.name)));
    found.truncate(SYMBOLS_MAX);
    Ok(Some(WorkspaceSymbolResponse::Nested(
        found.into_iter().map(|(_, symbol)| symbol).collect(),
    )))
}

/// Modelica files of a folder.
pub(super) fn files_below(
    server: &Server<'_>,
    folder: &str,
    depth: usize,
    files: &mut Vec<String>,
) {
    if depth > DEPTH_MAX {
        return;
    }
    for (entry, is_folder) in server.session.entries(folder) {
        let path = format!("{folder}/{entry}");
        if is_folder && !entry.starts_with('.') {
            files_below(server, &path, depth + 1, files);
        } else if entry.ends_with(".mo") {
            files.push(path);
        }
    }
}

/// How well a name fits a query, the best first; `None`: not at all.
pub(super) fn rank(name: &str, query: &str) -> Option<u32> {
    let (lower, query) = (name.to_lowercase(), query.to_lowercase());
    if lower == query {
        return Some(0);
    }
    if lower.starts_with(&query) {
        return Some(1);
    }
    if lower.contains(&query) {
        return Some(2);
    }
    let mut letters = lower.chars();
    query.chars().all(|c| letters.any(|l| l == c)).then_some(3)
}
