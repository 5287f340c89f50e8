//! Versions of libraries (specification 18.8): which one a text is written for, which one a library is, whether they fit.
//!
//! Comes in: annotations of top-level classes. Goes out: what `uses` asks for with its place, and the verdict on the library that was found:
//! the same version, one that needs no conversion (`noneFromVersion`), or another, which is an error with the way out of it.

use crate::instantiate::{annotation_value, nested_annotation};
use saltus_syntax::ast::{self, ExprKind};
use saltus_syntax::{Diagnostic, Name, Span};
use std::cmp::Ordering;

/// The code of [`misfit`].
pub(crate) const MISFIT: &str = "library-version";

/// A version that a class asks for: `annotation(uses(Modelica(version = "4.1.0")))`.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    /// The class that asks.
    pub(crate) by: Name,
    pub(crate) version: String,
    pub(crate) span: Span,
}

/// Libraries with the versions that a top-level class is written for.
pub(crate) fn wishes(class: &ast::ClassDef) -> Vec<(Name, Wish)> {
    let Some(uses) = nested_annotation(class.annotation.as_ref(), "uses") else {
        return Vec::new();
    };
    let wish = |arg: &ast::Argument| {
        let ast::ArgumentKind::Modify {
            path,
            modification: Some(m),
            ..
        } = &arg.kind
        else {
            return None;
        };
        let inner = ast::Annotation {
            args: m.args.clone(),
            span: m.span,
        };
        let version = text_of(annotation_value(Some(&inner), "version")?)?;
        Some((
            path.parts.first()?.name,
            Wish {
                by: class.name.name,
                version,
                span: arg.span,
            },
        ))
    };
    uses.args.iter().filter_map(wish).collect()
}

/// The version that a library has.
pub fn library_version(class: &ast::ClassDef) -> Option<String> {
    annotation_value(class.annotation.as_ref(), "version").and_then(text_of)
}

/// Names and versions of the libraries that a class is written for.
pub fn library_uses(class: &ast::ClassDef) -> Vec<(String, String)> {
    let pair = |(name, wish): (Name, Wish)| (name.to_string(), wish.version);
    wishes(class).into_iter().map(pair).collect()
}

/// How a library fits a text that asks for a version, the better first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Fit {
    Same,
    /// The library says that texts for that version need no conversion.
    Unconverted,
    /// The library does not say what version it is.
    Unknown,
}

/// Whether `library` can be used by a text that asks for a version; `None`: it is another version.
pub(crate) fn fit(version: &str, library: &ast::ClassDef) -> Option<Fit> {
    let annotation = library.annotation.as_ref();
    let Some(found) = annotation_value(annotation, "version").and_then(text_of) else {
        return Some(Fit::Unknown);
    };
    let unconverted = || {
        let conversion = nested_annotation(annotation, "conversion");
        let versions = values(conversion.as_ref(), "noneFromVersion");
        versions.iter().any(|v| plain(v) == plain(version))
    };
    if plain(&found) == plain(version) {
        Some(Fit::Same)
    } else {
        unconverted().then_some(Fit::Unconverted)
    }
}

/// What is wrong with `library` for someone who wishes another version; `folder` is where it was found.
pub(crate) fn misfit(wish: &Wish, library: &ast::ClassDef, folder: &str) -> Option<Diagnostic> {
    if fit(&wish.version, library).is_some() {
        return None;
    }
    let annotation = library.annotation.as_ref();
    let found = text_of(annotation_value(annotation, "version")?)?;
    let conversion = nested_annotation(annotation, "conversion");
    let (name, wanted) = (library.name.name, &wish.version);
    let diagnostic = Diagnostic::error(
        MISFIT,
        wish.span,
        format!(
            "`{}` is written for {name} {wanted}, but {name} {found} was found",
            wish.by
        ),
    )
    .note(format!("found in `{folder}`"));
    let way = format!(
        "put a folder `{name} {wanted}` beside it or on MODELICAPATH, or name the one around it with `--library`"
    );
    Some(match script(conversion.as_ref(), wanted) {
        Some(script) => diagnostic.help(format!(
            "{way}; or convert the text with `{script}` and write `{name}(version = \"{found}\")`"
        )),
        None => diagnostic.help(format!(
            "{way}; if the text fits {found} as it is, write `{name}(version = \"{found}\")`"
        )),
    })
}

/// Versions compared part by part, numbers as numbers: 4.10 is newer than 4.9.
pub fn compare(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| -> Vec<(u64, String)> {
        let part = |part: &str| match part.parse() {
            Ok(number) => (number, String::new()),
            Err(_) => (0, part.to_owned()),
        };
        version.split(['.', '-', '+']).map(part).collect()
    };
    parts(a).cmp(&parts(b))
}

/// Without the number of the build, which changes nothing for users: 3.2.3+build.4 is 3.2.3.
fn plain(version: &str) -> &str {
    version.split('+').next().unwrap_or(version)
}

fn text_of(e: &ast::Expr) -> Option<String> {
    match &e.kind {
        ExprKind::String(text) => Some(text.to_string()),
        _ => None,
    }
}

/// A text, or the texts of an array.
fn texts(e: &ast::Expr) -> Vec<String> {
    match &e.kind {
        ExprKind::Array(elements) => elements.iter().filter_map(text_of).collect(),
        _ => text_of(e).into_iter().collect(),
    }
}

/// All values of an argument that may be given several times.
fn values(annotation: Option<&ast::Annotation>, name: &str) -> Vec<String> {
    let args = annotation.map_or(&[][..], |a| &a.args);
    let value = |arg: &ast::Argument| match &arg.kind {
        ast::ArgumentKind::Modify {
            path,
            modification: Some(m),
            ..
        } if path.parts[0].name.as_str() == name => m.value.as_ref().map(texts),
        _ => None,
    };
    args.iter().filter_map(value).flatten().collect()
}

/// The file name of the script that converts from a version.
fn script(conversion: Option<&ast::Annotation>, version: &String) -> Option<String> {
    conversion?.args.iter().find_map(|arg| match &arg.kind {
        ast::ArgumentKind::Modify {
            path,
            modification: Some(m),
            ..
        } if path.parts[0].name.as_str() == "from" => {
            let inner = ast::Annotation {
                args: m.args.clone(),
                span: m.span,
            };
            let from = texts(annotation_value(Some(&inner), "version")?);
            let script = text_of(annotation_value(Some(&inner), "script")?)?;
            let file = script.rsplit('/').next().map(str::to_owned);
            file.filter(|_| from.contains(version))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::compare;
    use std::cmp::Ordering;

    #[test]
    fn versions_are_compared_by_numbers() {
        for (a, b) in [
            ("4.9.0", "4.10.0"),
            ("3.2.3", "4.0.0"),
            ("4.1", "4.1.0"),
            ("3.2.3", "3.2.3+build.4"),
        ] {
            assert_eq!(compare(a, b), Ordering::Less, "{a} {b}");
            assert_eq!(compare(b, a), Ordering::Greater, "{a} {b}");
        }
        assert_eq!(compare("4.1.0", "4.1.0"), Ordering::Equal);
    }
}
