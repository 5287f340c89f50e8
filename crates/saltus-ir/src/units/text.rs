//! Whether the text of an equation has no other quantities than its flat form.

use crate::{Expr, ExprId, FlatModel};
use rustc_hash::FxHashSet;
use saltus_syntax::{SourceMap, Span};

/// Longer texts are not looked through.
const TEXT_MAX: usize = 4000;

/// Words that are no quantity: keywords, operators and functions of the language that keep what is in their parentheses.
const WORDS: [&str; 48] = [
    "if", "then", "else", "elseif", "end", "and", "or", "not", "true", "false", "time", "der",
    "pre", "noEvent", "smooth", "abs", "sign", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan",
    "atan2", "sinh", "cosh", "tanh", "exp", "log", "log10", "max", "min", "mod", "rem", "div",
    "floor", "ceil", "integer", "homotopy", "delay", "initial", "edge", "change", "reinit", "when",
    "for", "equation",
];

/// True if every name in the text is the last part of the name of a variable in these expressions, or a function that they call. Otherwise something has become a number, with the
/// unit that it had. Connections have no such names.
pub(super) fn names_fit(
    model: &FlatModel,
    sources: &SourceMap,
    span: Span,
    sides: &[ExprId],
) -> bool {
    let Some(text) = text_of(sources, span) else {
        return false;
    };
    if text.trim_start().starts_with("connect") {
        return true;
    }
    let known = names_in(model, sides);
    let Some(names) = names_of(text) else {
        return false;
    };
    names.iter().all(|name| known.contains(*name))
}

/// The text of an equation, or what follows the `=` of a declaration.
fn text_of(sources: &SourceMap, span: Span) -> Option<&str> {
    if (span.file.0 as usize) >= sources.len() {
        return None;
    }
    let whole = &sources.file(span.file).text;
    let own = whole.get(span.start as usize..span.end as usize)?;
    if own.len() > TEXT_MAX {
        return None;
    }
    if own.contains('=') || own.contains('(') {
        return Some(own);
    }
    let rest = whole.get(span.start as usize..)?;
    let declaration = &rest[..rest.find(';')?];
    let (_, value) = declaration.rsplit_once('=')?;
    (value.len() <= TEXT_MAX).then_some(value)
}

/// Last parts of the names of variables, without subscripts, and names of functions.
fn names_in(model: &FlatModel, sides: &[ExprId]) -> FxHashSet<String> {
    let last = |name: &str| -> String {
        let last = name.rsplit('.').next().unwrap_or(name);
        last.split('[').next().unwrap_or(last).to_owned()
    };
    let mut names = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut open: Vec<ExprId> = sides.to_vec();
    while let Some(e) = open.pop() {
        if !seen.insert(e) {
            continue;
        }
        match model.ir.expr(e) {
            Expr::Var(v) | Expr::VarArray(v) => {
                names.insert(last(model.variables[*v].name.as_str()));
            }
            Expr::Call { function, .. } => {
                names.insert(last(model.ir.functions[*function].name.as_str()));
            }
            _ => {}
        }
        model.ir.for_each_child(e, |child| open.push(child));
    }
    names
}

/// The last parts of the names in a text that are no words of the language; `None` if it cannot be told.
fn names_of(text: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let is_start = c.is_ascii_alphabetic() || c == '_';
        if c == '"' {
            // A description behind a value.
            let inside = &rest[1..];
            rest = &inside[inside.find('"')? + 1..];
        } else if c == '\'' || rest.starts_with("/*") {
            return None;
        } else if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if c.is_ascii_digit() {
            let is_number = |c: char| c.is_ascii_alphanumeric() || c == '.';
            rest = &rest[rest.find(|c| !is_number(c)).unwrap_or(rest.len())..];
        } else if is_start {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let name = &rest[..end];
            rest = &rest[end..];
            // Subscripts of a part in the middle: `a[2].b`.
            let behind = match rest.strip_prefix('[') {
                Some(inside) => inside.split_once(']').map_or("", |(_, after)| after),
                None => rest,
            };
            let is_last = !behind.starts_with('.');
            if is_last && !WORDS.contains(&name) {
                names.push(name);
            }
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::names_of;

    #[test]
    fn last_parts_of_names_are_found() {
        let names =
            names_of("a.b[2].c*2e3 = if x.y > 0 then -Modelica.Constants.pi else der(z) // no");
        assert_eq!(names, Some(vec!["c", "y", "pi", "z"]));
        assert_eq!(names_of("2*k \"rate\" + 1"), Some(vec!["k"]));
        assert_eq!(names_of("'odd name' + 1"), None);
    }
}
