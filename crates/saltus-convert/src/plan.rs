//! Which scripts lead from one version of a library to another, by the annotation `conversion` of the newer one (specification 18.8.2).

use saltus_syntax::ast::{Annotation, Argument, ArgumentKind, ClassDef, Expr, ExprKind};

/// A step to another version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The script, as the library names it: `modelica://Modelica/Resources/…`.
    pub script: String,
}

/// The way from one version to another.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    pub steps: Vec<Step>,
}

/// More steps go in a circle.
const STEPS_MAX: usize = 32;

/// The scripts that lead from version `from` to `library`; none if the texts fit as they are. `Err`: the versions that the library leads from.
pub fn plan(library: &ClassDef, from: &str) -> Result<Plan, Vec<String>> {
    let annotation = library.annotation.as_ref();
    let version = version(library);
    let conversion = annotation.map_or(&[][..], |a| arguments(&a.args, "conversion"));
    let unconverted: Vec<String> = values(conversion, "noneFromVersion");
    let mut plan = Plan::default();
    let mut at = from.to_owned();
    for _ in 0..STEPS_MAX {
        if version.as_deref().is_some_and(|v| plain(v) == plain(&at))
            || unconverted.iter().any(|v| plain(v) == plain(&at))
        {
            return Ok(plan);
        }
        let Some((script, to)) = conversion.iter().find_map(|arg| step(arg, &at)) else {
            break;
        };
        plan.steps.push(Step { script });
        match to {
            Some(to) => at = to,
            None => return Ok(plan),
        }
    }
    let mut known = unconverted;
    known.extend(
        conversion
            .iter()
            .filter(|a| name(a) == "from")
            .flat_map(|a| {
                let inner = inner(a);
                value(inner, "version").map_or(Vec::new(), texts)
            }),
    );
    Err(known)
}

/// The version that a library says it is.
pub fn version(library: &ClassDef) -> Option<String> {
    let annotation = library.annotation.as_ref()?;
    value(&annotation.args, "version").and_then(text)
}

/// The versions of libraries that a class says it is written for.
pub fn used_versions(class: &ClassDef) -> Vec<(String, String)> {
    let uses = class
        .annotation
        .as_ref()
        .map_or(&[][..], |a: &Annotation| arguments(&a.args, "uses"));
    (uses.iter())
        .filter_map(|arg| Some((name(arg).to_owned(), text(value(inner(arg), "version")?)?)))
        .collect()
}

/// `from(version = …, to = …, script = …)`, if it begins at `at`.
fn step(arg: &Argument, at: &str) -> Option<(String, Option<String>)> {
    if name(arg) != "from" {
        return None;
    }
    let inner = inner(arg);
    let versions = texts(value(inner, "version")?);
    let begins = versions.iter().any(|v| plain(v) == plain(at));
    let script = value(inner, "script").and_then(text)?;
    begins.then(|| (script, value(inner, "to").and_then(text)))
}

/// Without the number of the build.
fn plain(version: &str) -> &str {
    version.split('+').next().unwrap_or(version)
}

fn name(arg: &Argument) -> &str {
    match &arg.kind {
        ArgumentKind::Modify { path, .. } => path.parts[0].name.as_str(),
        _ => "",
    }
}

fn inner(arg: &Argument) -> &[Argument] {
    match &arg.kind {
        ArgumentKind::Modify {
            modification: Some(m),
            ..
        } => &m.args,
        _ => &[],
    }
}

fn arguments<'e>(args: &'e [Argument], wanted: &str) -> &'e [Argument] {
    args.iter()
        .find(|arg| name(arg) == wanted)
        .map_or(&[], inner)
}

fn value<'e>(args: &'e [Argument], wanted: &str) -> Option<&'e Expr> {
    args.iter()
        .find(|arg| name(arg) == wanted)
        .and_then(|arg| match &arg.kind {
            ArgumentKind::Modify {
                modification: Some(m),
                ..
            } => m.value.as_ref(),
            _ => None,
        })
}

fn values(args: &[Argument], wanted: &str) -> Vec<String> {
    (args.iter().filter(|arg| name(arg) == wanted))
        .filter_map(|arg| value(std::slice::from_ref(arg), wanted))
        .flat_map(texts)
        .collect()
}

fn text(e: &Expr) -> Option<String> {
    match &e.kind {
        ExprKind::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn texts(e: &Expr) -> Vec<String> {
    match &e.kind {
        ExprKind::Array(elements) => elements.iter().filter_map(text).collect(),
        _ => text(e).into_iter().collect(),
    }
}
