//! Conversion of texts to another version of a library (specification 18.8.2): rules of a script in, changed texts out.
//!
//! Comes in: the texts of a user's library and the rules that the new version of a used library brings. Goes out: the same texts with the names and
//! modifiers of the new version, and notes on what needs a hand. Only the places that a rule concerns are touched: layout, comments and the way names
//! are written (imports, short names) stay. The old version of the used library is not needed: names are looked up among the user's classes and what
//! leads out of them is compared with the rules, as the specification has it.
//!
//! [`plan`] says which scripts lead from one version to another, [`Rules`] reads them, [`convert`] applies them. Nothing here touches the disk.

mod edits;
mod modifiers;
mod names;
mod pass;
mod plan;
mod rules;
mod symbols;
mod uri;

pub use plan::{Plan, Step, plan, used_versions, version};
pub use rules::Rules;

use edits::apply;
use pass::Pass;
use saltus_syntax::{Diagnostic, SourceMap};
use symbols::Symbols;

/// A file of the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    pub name: String,
    pub text: String,
}

/// The new version of a used library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Version<'a> {
    /// The library, as `Modelica`.
    pub library: &'a str,
    pub number: &'a str,
}

/// What a conversion leaves to the user, or tells him.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub text: String,
}

/// Converted texts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Converted {
    /// Files that have changed, with the number of places.
    pub changed: Vec<(Text, usize)>,
    pub notes: Vec<Note>,
}

/// Applies `rules` to `texts`. The version in their annotations `uses` becomes that of `to`. A text that cannot be parsed is an error: nothing of it could
/// be trusted.
pub fn convert(
    texts: &[Text],
    rules: &Rules,
    to: &Version<'_>,
) -> Result<Converted, Box<(Diagnostic, SourceMap)>> {
    let mut sources = SourceMap::default();
    let mut definitions = Vec::with_capacity(texts.len());
    for text in texts {
        let file = sources.add(text.name.clone(), text.text.clone());
        let parsed = saltus_syntax::parse(file, &text.text);
        if let Some(error) = parsed.diagnostics.into_iter().find(Diagnostic::is_error) {
            return Err(Box::new((error, sources)));
        }
        definitions.push((file, parsed.definition));
    }
    let symbols = Symbols::new(definitions.iter().map(|(_, d)| d), to.library);
    let mut converted = Converted::default();
    for (text, (_, definition)) in texts.iter().zip(&definitions) {
        let mut pass = Pass::new(&symbols, rules, to, &text.text);
        pass.definition(definition);
        let (mut edits, notes) = pass.finish();
        edits.extend(uri::edits(&text.text, rules, to.library));
        converted
            .notes
            .extend(notes.into_iter().map(|(span, note)| {
                let at = sources.line_col(span.file, span.start);
                Note {
                    file: text.name.clone(),
                    line: at.line,
                    column: at.col,
                    text: note,
                }
            }));
        let (new, n) = apply(&text.text, edits);
        if n > 0 {
            let name = text.name.clone();
            converted.changed.push((Text { name, text: new }, n));
        }
    }
    Ok(converted)
}
