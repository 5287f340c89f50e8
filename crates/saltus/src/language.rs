//! What products for writing models ask of a session: trees of files, names at places, members of classes, diagnostics of classes as they are written.
//!
//! Nothing here needs a model that could be simulated. Names are looked up as flattening does it ([`Queries`]).

use crate::error::Diagnostics;
use crate::session::{Session, under};
use crate::{Control, Error};
pub use saltus_flatten::compare_versions;
pub use saltus_flatten::query::{
    Described, InstId, Member, MemberKind, Occurrence, Queries, Role, Target, occurrences,
};
use saltus_flatten::{FileArena, Files};
use saltus_syntax::ast;
pub use saltus_syntax::{
    Diagnostic, Label, Name, ParsedFile, Severity, SourceFile, SourceMap, Span, ast as syntax,
    format, lexer, lossless,
};
use std::sync::Arc;

impl Session {
    /// The tree of a file, or of a text that was given for it.
    pub fn parsed(&self, path: &str) -> Result<Arc<ParsedFile>, Box<Diagnostic>> {
        self.files().parsed(path)
    }

    /// The entries of a folder, given texts among them: name, and whether it is a folder.
    pub fn entries(&self, folder: &str) -> Vec<(String, bool)> {
        self.files().list(folder).unwrap_or_default()
    }

    /// Asks about names. What is looked up is kept until the end of the call.
    pub fn queries<R>(&self, ask: impl for<'a> FnOnce(&mut Queries<'a>) -> R) -> R {
        let arena = FileArena::new();
        let clock = || 0.0;
        let tree = self.tree(&arena, &clock);
        ask(&mut Queries::new(tree))
    }

    /// What is wrong with a class as it is being written. A model that stands for itself is structured; one with connectors or inputs, which others connect, is
    /// flattened; of partial classes, packages and functions the elements are collected. What only a whole model has (an `inner` for each `outer`, clocks, values of all
    /// parameters) is not asked for.
    pub fn diagnose_under(&self, control: &Control, class: &str) -> Diagnostics {
        let work = || {
            let kind = self.queries(|q| Kind::of(q, class));
            let outcome = match kind {
                Kind::Whole => self.structure(class).map(|(_, warnings, _)| warnings),
                Kind::Open => self.flatten(class).map(|flat| flat.warnings),
                Kind::Declared => return Ok(self.declarations(class)),
            };
            Ok(match outcome {
                Ok(found) => found,
                Err(error) => crate::session::diagnostics_of(error),
            })
        };
        let mut found = match under(control, work) {
            Ok(found) => found,
            Err(Error::Stopped(found)) => found,
            Err(error) => crate::session::diagnostics_of(error),
        };
        // A component may get its clock, its `inner` and values from where it is used.
        let of_whole = |code| {
            matches!(
                code,
                "missing-inner" | "parameter-without-value" | "no-clock"
            )
        };
        found.list.retain(|d| !of_whole(d.code));
        found
    }

    fn declarations(&self, class: &str) -> Diagnostics {
        self.queries(|q| {
            let names: Vec<Name> = class.split('.').map(Name::new).collect();
            let mut found = Vec::new();
            let around = names.len().saturating_sub(1);
            q.scope(&names[..around], &mut Vec::new());
            q.scope(&names, &mut found);
            found.dedup();
            Diagnostics {
                list: found,
                sources: Arc::new(q.tree().sources.clone()),
            }
        })
    }
}

/// What a library says of itself.
pub struct LibraryInfo {
    pub name: String,
    pub version: Option<String>,
    /// Names and versions of the libraries that it is written for.
    pub uses: Vec<(String, String)>,
}

/// Reads the annotations of the `package.mo` of a library.
pub fn library_info(path: &str) -> Result<LibraryInfo, String> {
    let session = Session::new();
    let parsed = session.parsed(path).map_err(|d| d.message)?;
    let class = parsed.definition.classes.first();
    let class = class.ok_or_else(|| "it contains no package".to_owned())?;
    Ok(LibraryInfo {
        name: class.name.name.to_string(),
        version: saltus_flatten::library_version(class),
        uses: saltus_flatten::library_uses(class),
    })
}

/// How far a class can be checked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Open,
    Declared,
}

impl Kind {
    fn of(q: &mut Queries<'_>, class: &str) -> Kind {
        let names: Vec<Name> = class.split('.').map(Name::new).collect();
        let Some(inst) = q.scope(&names, &mut Vec::new()) else {
            return Kind::Declared;
        };
        let Some(def) = q.definition(inst) else {
            return Kind::Declared;
        };
        let is_model = matches!(
            def.restriction,
            ast::Restriction::Model | ast::Restriction::Block | ast::Restriction::Class
        );
        if def.partial || !is_model {
            return Kind::Declared;
        }
        let members = q.members(inst);
        let is_open = members.iter().any(|m| m.is_input || m.is_output)
            || members
                .iter()
                .any(|m| !m.protected && q.is_connector(inst, m.name));
        if is_open || q.has_outer(inst) {
            Kind::Open
        } else {
            Kind::Whole
        }
    }
}
