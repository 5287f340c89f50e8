//! What may stand at the cursor: members behind a dot, modifiers and arguments in brackets, names of the scope, units and addresses in texts.
//!
//! The place is read from the tokens before the cursor ([`cursor`]), because the tree of a text that is being typed lacks just this place.

mod cursor;
mod words;

use super::{Answer, Asked, place};
use crate::context::{classes_at, within};
use crate::server::Server;
pub(super) use cursor::{Cursor, Head, Place};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionItemLabelDetails, CompletionList,
    CompletionParams, CompletionResponse, CompletionTextEdit, Documentation, TextEdit,
};
use rustc_hash::FxHashSet;
use saltus::language::syntax::{Ident, ImportKind};
use saltus::language::{InstId, Member, MemberKind, Name, Queries, Span, Target};

/// Offers beyond so many are cut; the client asks again when more letters are known.
const ITEMS_MAX: usize = 400;

pub(super) fn complete(
    server: &mut Server<'_>,
    params: CompletionParams,
) -> Answer<Option<CompletionResponse>> {
    let (uri, position) = place(&params.text_document_position);
    let asked = Asked::new(server, uri)?;
    let offset = asked.offset(position);
    let Some(cursor) = Cursor::new(&asked.text.text, offset) else {
        return Ok(None);
    };
    let mut offers = server.session.queries(|q| {
        let mut offers = Offers {
            list: Vec::new(),
            seen: FxHashSet::default(),
            prefix: cursor.prefix.clone(),
        };
        let names = within(&asked.parsed.definition);
        let scope = q.scope_of(&names, &classes_at(&asked.parsed.definition, offset));
        offers.collect(q, scope, &cursor);
        offers.list
    });
    offers.sort_by_key(|offer| (offer.rank, !offer.exact, offer.order));
    let is_incomplete = offers.len() > ITEMS_MAX;
    offers.truncate(ITEMS_MAX);
    let range = asked.text.range(cursor.start as usize, offset as usize);
    let items = offers
        .into_iter()
        .enumerate()
        .map(|(i, offer)| offer.item(i, range))
        .collect();
    Ok(Some(CompletionResponse::List(CompletionList {
        is_incomplete,
        items,
    })))
}

/// One thing that may stand at the cursor.
struct Offer {
    label: String,
    insert: Option<String>,
    kind: CompletionItemKind,
    detail: String,
    description: Option<String>,
    /// Lower is offered first.
    rank: u32,
    exact: bool,
    order: usize,
}

impl Offer {
    fn item(self, index: usize, range: lsp_types::Range) -> CompletionItem {
        let text = self.insert.unwrap_or_else(|| self.label.clone());
        CompletionItem {
            label_details: Some(CompletionItemLabelDetails {
                detail: None,
                description: self.description.clone(),
            }),
            label: self.label,
            kind: Some(self.kind),
            detail: (!self.detail.is_empty()).then_some(self.detail),
            documentation: self.description.map(Documentation::String),
            sort_text: Some(format!("{index:04}")),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(range, text))),
            ..CompletionItem::default()
        }
    }
}

struct Offers {
    list: Vec<Offer>,
    seen: FxHashSet<String>,
    prefix: String,
}

/// What kind of name is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Type,
    Value,
}

impl Offers {
    fn collect(&mut self, q: &mut Queries<'_>, scope: InstId, cursor: &Cursor) {
        match &cursor.place {
            Place::Nothing => {}
            Place::Text { address: true, .. } => {}
            Place::Text { heads, .. } => {
                if heads.last().is_some_and(|head| {
                    matches!(head.argument.as_deref(), Some("unit" | "displayUnit"))
                }) {
                    self.words(words::UNITS, CompletionItemKind::UNIT, 0);
                }
            }
            Place::Member {
                path,
                global,
                import,
            } => {
                let target = q
                    .path(scope, *global || *import, path)
                    .or_else(|| q.path(scope, true, path));
                if let Some(inst) = target.and_then(|target| q.inside(&target)) {
                    self.members(q, inst, 0, |m| !m.protected);
                }
            }
            Place::Import => self.top_level(q, 0),
            Place::Type => {
                self.scope(q, scope, Wanted::Type);
                self.words(words::DECLARATION, CompletionItemKind::KEYWORD, 5);
            }
            Place::Declaration => {
                self.scope(q, scope, Wanted::Type);
                self.words(words::DECLARATION, CompletionItemKind::KEYWORD, 3);
            }
            Place::Annotation { path } => {
                let last = path.last().map_or("", String::as_str);
                self.words(words::annotation(last), CompletionItemKind::PROPERTY, 0);
            }
            Place::Argument { heads, base } => self.arguments(q, scope, heads, base.as_deref()),
            Place::Value { heads, base } => {
                self.value_of(q, scope, heads, base.as_deref());
                self.scope(q, scope, Wanted::Value);
                self.words(words::EXPRESSION, CompletionItemKind::KEYWORD, 6);
            }
            Place::Equation => {
                self.scope(q, scope, Wanted::Value);
                self.words(words::EQUATION, CompletionItemKind::KEYWORD, 5);
            }
        }
    }

    /// At the begin of an argument: modifiers of the class, or inputs of the function and values.
    fn arguments(
        &mut self,
        q: &mut Queries<'_>,
        scope: InstId,
        heads: &[Head],
        base: Option<&[Ident]>,
    ) {
        let Some(inst) = modified(q, scope, heads, base) else {
            self.scope(q, scope, Wanted::Value);
            return;
        };
        let is_call = heads.last().is_some_and(|head| head.is_call) || base.is_none();
        if is_call {
            self.members(q, inst, 0, |m| m.is_input);
            let is_record = !self.list.iter().any(|offer| offer.rank == 0);
            if is_record {
                self.members(q, inst, 1, |m| !m.protected && !is_class(m.kind));
            }
            self.scope(q, scope, Wanted::Value);
            self.words(words::EXPRESSION, CompletionItemKind::KEYWORD, 6);
        } else {
            self.members(q, inst, 0, |m| {
                !m.protected && m.kind != MemberKind::Literal
            });
            if q.members(inst).is_empty() || q.is_predefined_type(inst) {
                self.words(Queries::predefined().1, CompletionItemKind::PROPERTY, 0);
            }
            self.words(words::MODIFIER, CompletionItemKind::KEYWORD, 4);
        }
    }

    /// Literals, if an enumeration is wanted.
    fn value_of(
        &mut self,
        q: &mut Queries<'_>,
        scope: InstId,
        heads: &[Head],
        base: Option<&[Ident]>,
    ) {
        let Some(argument) = heads.last().and_then(|head| head.argument.clone()) else {
            return;
        };
        let Some(inst) = modified(q, scope, heads, base) else {
            return;
        };
        let Some(target) = q.member_named(inst, &argument) else {
            if argument == "stateSelect" {
                for literal in ["never", "avoid", "default", "prefer", "always"] {
                    self.add(
                        format!("StateSelect.{literal}"),
                        CompletionItemKind::ENUM_MEMBER,
                        "StateSelect".to_owned(),
                        None,
                        0,
                    );
                }
            }
            return;
        };
        let Some(inst) = q.inside(&target) else {
            return;
        };
        let class = q.class_of(inst);
        for member in q
            .members(inst)
            .iter()
            .filter(|m| m.kind == MemberKind::Literal)
        {
            self.add(
                format!("{class}.{}", member.name),
                CompletionItemKind::ENUM_MEMBER,
                class.to_string(),
                text(&member.description),
                0,
            );
        }
    }

    /// Names that can be written without a dot, the nearest first.
    fn scope(&mut self, q: &mut Queries<'_>, scope: InstId, wanted: Wanted) {
        let root = q.root();
        let first = |m: &Member| {
            if is_class(m.kind) == (wanted == Wanted::Type) {
                1
            } else {
                2
            }
        };
        for (distance, inst) in q.enclosing(scope).into_iter().enumerate() {
            if inst == root {
                continue;
            }
            for member in q.members(inst) {
                let is_visible =
                    distance == 0 || is_class(member.kind) || member.kind == MemberKind::Constant;
                if is_visible && member.kind != MemberKind::Literal {
                    let rank = first(&member) + 2 * u32::from(distance > 0);
                    self.member(&member, rank);
                }
            }
            self.imports(q, inst, if wanted == Wanted::Type { 1 } else { 2 });
        }
        self.top_level(q, if wanted == Wanted::Type { 3 } else { 4 });
        let types = ["Real", "Integer", "Boolean", "String"];
        for name in Queries::predefined().0 {
            let is_type = types.contains(name);
            let kind = if is_type {
                CompletionItemKind::CLASS
            } else {
                CompletionItemKind::FUNCTION
            };
            let rank = if is_type == (wanted == Wanted::Type) {
                3
            } else {
                6
            };
            self.add((*name).to_owned(), kind, String::new(), None, rank);
        }
    }

    fn imports(&mut self, q: &mut Queries<'_>, inst: InstId, rank: u32) {
        for import in q.imports(inst) {
            match &import.kind {
                ImportKind::Qualified(path) => {
                    if let Some(last) = path.parts.last() {
                        self.add(
                            last.name.to_string(),
                            CompletionItemKind::MODULE,
                            dotted(&path.parts),
                            None,
                            rank,
                        );
                    }
                }
                ImportKind::Renamed(alias, path) => {
                    self.add(
                        alias.name.to_string(),
                        CompletionItemKind::MODULE,
                        dotted(&path.parts),
                        None,
                        rank,
                    );
                }
                ImportKind::Group(path, names) => {
                    for name in names {
                        self.add(
                            name.name.to_string(),
                            CompletionItemKind::MODULE,
                            dotted(&path.parts),
                            None,
                            rank,
                        );
                    }
                }
                ImportKind::Wildcard(path) => {
                    if let Some(package) =
                        q.global(&path.parts).and_then(|target| q.inside(&target))
                    {
                        self.members(q, package, rank, |m| !m.protected);
                    }
                }
            }
        }
    }

    fn top_level(&mut self, q: &mut Queries<'_>, rank: u32) {
        for name in q.top_level() {
            self.add(
                name.to_string(),
                CompletionItemKind::MODULE,
                String::new(),
                None,
                rank,
            );
        }
    }

    fn members(
        &mut self,
        q: &mut Queries<'_>,
        inst: InstId,
        rank: u32,
        is_offered: impl Fn(&Member) -> bool,
    ) {
        for member in q.members(inst) {
            if is_offered(&member) {
                self.member(&member, rank);
            }
        }
    }

    fn member(&mut self, member: &Member, rank: u32) {
        self.add(
            member.name.to_string(),
            item_kind(member.kind),
            member.detail.clone(),
            text(&member.description),
            rank,
        );
    }

    fn words(&mut self, words: &[&str], kind: CompletionItemKind, rank: u32) {
        for word in words {
            self.add((*word).to_owned(), kind, String::new(), None, rank);
        }
    }

    fn add(
        &mut self,
        label: String,
        kind: CompletionItemKind,
        detail: String,
        description: Option<String>,
        rank: u32,
    ) {
        let last = label.rsplit('.').next().unwrap_or(&label);
        let fit = super::symbols::rank(last, &self.prefix)
            .or_else(|| super::symbols::rank(&label, &self.prefix));
        let Some(fit) = fit else {
            return;
        };
        if !self.seen.insert(label.clone()) {
            return;
        }
        self.list.push(Offer {
            exact: last.starts_with(&self.prefix),
            order: self.list.len(),
            // What begins with the letters comes before what only has them.
            rank: rank + if fit >= 2 { 10 } else { 0 },
            label,
            insert: None,
            kind,
            detail,
            description,
        });
    }
}

/// The instance whose elements the innermost bracket modifies or calls.
pub(super) fn modified(
    q: &mut Queries<'_>,
    scope: InstId,
    heads: &[Head],
    base: Option<&[Ident]>,
) -> Option<InstId> {
    let last = heads.last()?;
    if last.is_call || base.is_none() {
        let target = q.path(scope, last.global, &last.path)?;
        return q.inside(&target);
    }
    let mut target: Target<'_> = q.path(scope, false, base?)?;
    // The outermost bracket belongs to the class itself.
    for head in &heads[1..] {
        for part in &head.path {
            let inst = q.inside(&target)?;
            target = q.member_named(inst, part.name.as_str())?;
        }
    }
    q.inside(&target)
}

fn text(description: &Option<std::sync::Arc<str>>) -> Option<String> {
    description.as_deref().map(str::to_owned)
}

fn dotted(parts: &[Ident]) -> String {
    parts
        .iter()
        .map(|part| part.name.as_str())
        .collect::<Vec<_>>()
        .join(".")
}

fn is_class(kind: MemberKind) -> bool {
    matches!(
        kind,
        MemberKind::Package
            | MemberKind::Function
            | MemberKind::Type
            | MemberKind::Enumeration
            | MemberKind::Record
            | MemberKind::Model
            | MemberKind::Connector
    )
}

fn item_kind(kind: MemberKind) -> CompletionItemKind {
    match kind {
        MemberKind::Variable | MemberKind::Iterator => CompletionItemKind::VARIABLE,
        MemberKind::Parameter => CompletionItemKind::FIELD,
        MemberKind::Constant => CompletionItemKind::CONSTANT,
        MemberKind::Connector => CompletionItemKind::INTERFACE,
        MemberKind::Component => CompletionItemKind::FIELD,
        MemberKind::Package => CompletionItemKind::MODULE,
        MemberKind::Function => CompletionItemKind::FUNCTION,
        MemberKind::Type => CompletionItemKind::TYPE_PARAMETER,
        MemberKind::Enumeration => CompletionItemKind::ENUM,
        MemberKind::Literal => CompletionItemKind::ENUM_MEMBER,
        MemberKind::Record => CompletionItemKind::STRUCT,
        MemberKind::Model => CompletionItemKind::CLASS,
        MemberKind::Predefined => CompletionItemKind::FUNCTION,
    }
}

/// An identifier that stands in no file.
pub(super) fn ident(name: &str, at: Span) -> Ident {
    Ident {
        name: Name::new(name),
        span: at,
    }
}
