//! Modifiers of classes of the library: renamed, replaced, removed, added.

use crate::edits::Edit;
use crate::pass::Pass;
use crate::rules::Modifiers;
use crate::symbols::{Class, Found};
use saltus_syntax::Span;
use saltus_syntax::ast::{
    Argument, ArgumentKind, ClassBody, ComponentDecl, Expr, ExprKind, Modification, Path,
};

impl<'a> Pass<'a> {
    /// The modifiers of a component, base class or short class. `end`: where they begin if there are none yet.
    pub(crate) fn modified(
        &mut self,
        class: Option<Class>,
        modification: Option<&'a Modification>,
        end: usize,
        span: Span,
    ) {
        let classes = class
            .as_ref()
            .map_or(Vec::new(), |class| self.symbols.of_library(class));
        let user = match &class {
            Some(Class::User(user)) => Some(user.as_str()),
            _ => None,
        };
        let args = modification.map_or(&[][..], |m| &m.args);
        // What every use of a class gets is stated where a class of the library is named, not where one of the user inherits from it.
        let own = match &class {
            Some(Class::Library(class)) => std::slice::from_ref(class),
            _ => &[],
        };
        let added = self.added(own, args);
        let replaced = self.replaced(&classes, args);
        for (i, arg) in args.iter().enumerate() {
            match &replaced[i] {
                None => self.argument(arg, &classes, user),
                Some(new) if !new.is_empty() => {
                    self.edits.push(Edit::replace(arg.span, new.join(", ")));
                }
                Some(_) => self.remove(args, i, &replaced),
            }
        }
        if let Some(value) = modification.and_then(|m| m.value.as_ref()) {
            self.expr(value);
        }
        if added.is_empty() {
            return;
        }
        match args.last() {
            Some(last) => {
                let text = format!(", {}", added.join(", "));
                self.edits.push(Edit::insert(last.span.end as usize, text));
            }
            None if modification.is_some_and(|m| m.value.is_none()) => {
                self.note(span, format!("add the modifiers `{}`", added.join(", ")));
            }
            None => self
                .edits
                .push(Edit::insert(end, format!("({})", added.join(", ")))),
        }
    }

    /// A modification inside of another, or one whose class is not known.
    pub(crate) fn modification(
        &mut self,
        modification: &'a Modification,
        classes: &[String],
        user: Option<&str>,
    ) {
        modification
            .args
            .iter()
            .for_each(|arg| self.argument(arg, classes, user));
        modification.value.iter().for_each(|e| self.expr(e));
    }

    /// One modifier of something that is or inherits from `classes` of the library and, if it is the user's, is the class `user`.
    pub(crate) fn argument(&mut self, arg: &'a Argument, classes: &[String], user: Option<&str>) {
        match &arg.kind {
            ArgumentKind::Modify {
                path, modification, ..
            } => {
                self.rename_path(path, classes);
                let Some(modification) = modification else {
                    return;
                };
                let element = user.and_then(|user| self.class_of_element(user, path));
                let inner = element
                    .as_ref()
                    .map_or(Vec::new(), |c| self.symbols.of_library(c));
                let inner_user = match &element {
                    Some(Class::User(user)) => Some(user.clone()),
                    _ => None,
                };
                self.modification(modification, &inner, inner_user.as_deref());
            }
            ArgumentKind::Class { def, constraint } => {
                if let ClassBody::Short {
                    base, modification, ..
                } = &def.body
                {
                    let class = self.class_path(base);
                    let end = base.span.end as usize;
                    self.modified(class, modification.as_ref(), end, base.span);
                }
                self.rename_element(classes, &def.name);
                constraint.iter().for_each(|c| self.constraint(c));
            }
            ArgumentKind::Component(decl) => {
                self.rename_element(classes, &decl.name);
                self.component(decl);
            }
            ArgumentKind::Break(_) => {}
        }
    }

    fn rename_path(&mut self, path: &Path, classes: &[String]) {
        let names: Vec<&str> = path.parts.iter().map(|p| p.name.as_str()).collect();
        match path.parts.as_slice() {
            [name] => self.rename_element(classes, name),
            [first, .., last] => {
                let rules = self.rules;
                let new = classes
                    .iter()
                    .find_map(|c| rules.renamed_elements(c, &names));
                if let Some(new) = new {
                    let span = first.span.to(last.span);
                    self.edits.push(Edit::replace(span, new.join(".")));
                }
            }
            [] => {}
        }
    }

    /// The class of an element of a class of the user.
    fn class_of_element(&self, user: &str, path: &Path) -> Option<Class> {
        match self.symbols.member(user, path.parts[0].name.as_str())? {
            Found::Component(decl, owner) => {
                let ty: Vec<&str> = decl.ty.parts.iter().map(|p| p.name.as_str()).collect();
                Some(self.symbols.lead(&owner, &ty)?.class)
            }
            Found::Class(class) => Some(class),
        }
    }

    /// `convertClassIf`: the class that a modifier of a component asks for. The modifier goes with [`Pass::replaced`].
    pub(crate) fn chosen_class(&mut self, decl: &'a ComponentDecl) -> Option<Class> {
        let names: Vec<&str> = decl.ty.parts.iter().map(|p| p.name.as_str()).collect();
        let led = self.symbols.lead(&self.scope, &names)?;
        let Class::Library(old) = &led.class else {
            return None;
        };
        let args = &decl.modification.as_ref()?.args;
        let rules = self.rules.class_ifs.get(old)?;
        let rule = rules.iter().find(|rule| {
            (args.iter())
                .any(|arg| value_of(arg, &rule.element).is_some_and(|v| is_literal(v, &rule.value)))
        })?;
        let (first, last) = (decl.ty.parts.first()?, decl.ty.parts.last()?);
        self.replace(first.span.to(last.span), rule.new.clone());
        Some(led.class)
    }

    /// Modifiers that every use of a class gets.
    fn added(&self, classes: &[String], args: &[Argument]) -> Vec<String> {
        let rules = classes
            .iter()
            .filter_map(|class| self.rules.modifiers.get(class))
            .flatten();
        (rules.filter(|rule| rule.old.is_empty()))
            .flat_map(|rule| &rule.new)
            .filter(|new| !is_stated(args, new))
            .cloned()
            .collect()
    }

    /// What takes the place of each modifier: nothing, if it goes; the new ones at the first of those that go together.
    fn replaced(&mut self, classes: &[String], args: &'a [Argument]) -> Vec<Option<Vec<String>>> {
        let mut replaced = vec![None; args.len()];
        let all = self.rules;
        for class in classes {
            for rule in all.class_ifs.get(class).into_iter().flatten() {
                for (i, arg) in args.iter().enumerate() {
                    if value_of(arg, &rule.element).is_some_and(|v| is_literal(v, &rule.value)) {
                        replaced[i] = Some(Vec::new());
                    }
                }
            }
            for rule in all.modifiers.get(class).into_iter().flatten() {
                self.replace_by(rule, args, &mut replaced);
            }
        }
        replaced
    }

    fn replace_by(
        &mut self,
        rule: &Modifiers,
        args: &'a [Argument],
        replaced: &mut [Option<Vec<String>>],
    ) {
        let old = |arg: &Argument| rule.old.iter().any(|(name, _)| is_named(arg, name));
        let places: Vec<usize> = (0..args.len())
            .filter(|&i| replaced[i].is_none() && old(&args[i]))
            .collect();
        let Some(&first) = places.first() else {
            if let Some((name, _)) = rule
                .old
                .iter()
                .find(|(name, _)| name.starts_with("cardinality("))
            {
                let text = format!(
                    "the rule for `{name}` is not applied: look whether the connector is connected"
                );
                if let Some(arg) = args.first() {
                    self.note(arg.span, text);
                }
            }
            return;
        };
        let mut values: Vec<(&str, String)> = Vec::new();
        for (name, default) in &rule.old {
            let given = args.iter().find_map(|arg| value_of(arg, name));
            let value = match (given, default) {
                (Some(e), _) => Some(in_parentheses(self.converted(e), e)),
                (None, default) => default.clone(),
            };
            match value {
                Some(value) => values.push((name, value)),
                None if rule
                    .new
                    .iter()
                    .any(|new| new.contains(&format!("%{name}%"))) =>
                {
                    let text = format!("`{name}` has no value here, which the rule for it needs");
                    return self.note(args[first].span, text);
                }
                None => {}
            }
        }
        let kept: Vec<&Argument> = (0..args.len())
            .filter(|i| !places.contains(i))
            .map(|i| &args[i])
            .collect();
        let mut news = Vec::new();
        for new in &rule.new {
            let filled = (values.iter()).fold(new.clone(), |text, (name, value)| {
                text.replace(&format!("%{name}%"), value)
            });
            if kept
                .iter()
                .any(|arg| is_stated(std::slice::from_ref(*arg), new))
            {
                let text = format!("`{filled}` is left out: the text states another value");
                self.note(args[first].span, text);
            } else {
                news.push(without_outer_parentheses(&filled));
            }
        }
        for place in places {
            replaced[place] = Some(Vec::new());
        }
        replaced[first] = Some(news);
    }

    /// Takes an argument out of its list, with the comma behind it, or before it.
    fn remove(&mut self, args: &[Argument], i: usize, replaced: &[Option<Vec<String>>]) {
        let gone = |k: usize| replaced[k].as_ref().is_some_and(Vec::is_empty);
        let (start, end) = if let Some(next) = args.get(i + 1) {
            (args[i].span.start, next.span.start)
        } else if let Some(before) = (0..i).rev().find(|&k| !gone(k)) {
            (args[before].span.end, args[i].span.end)
        } else {
            (args[i].span.start, args[i].span.end)
        };
        let (mut start, mut end) = (start as usize, end as usize);
        if (0..args.len()).all(gone) && i + 1 == args.len() {
            // Nothing is left between the parentheses.
            let before = self.text[..args[0].span.start as usize].trim_end();
            let after = &self.text[end..];
            if before.ends_with('(') && after.trim_start().starts_with(')') {
                start = before.len() - 1;
                end += after.find(')').map_or(0, |at| at + 1);
            }
        }
        self.edits.push(Edit {
            start,
            end,
            text: String::new(),
        });
    }
}

fn is_named(arg: &Argument, name: &str) -> bool {
    match &arg.kind {
        ArgumentKind::Modify { path, .. } => crate::symbols::text(path) == name,
        _ => false,
    }
}

/// A modifier like `new`, `name=value` or `name(…)`, is there.
fn is_stated(args: &[Argument], new: &str) -> bool {
    let name = new.split(['=', '(']).next().unwrap_or(new).trim();
    args.iter().any(|arg| is_named(arg, name))
}

fn value_of<'e>(arg: &'e Argument, name: &str) -> Option<&'e Expr> {
    match &arg.kind {
        ArgumentKind::Modify {
            modification: Some(m),
            ..
        } if is_named(arg, name) => m.value.as_ref(),
        _ => None,
    }
}

/// The literal has the value that a rule names; of enumerations the literal counts (18.8.2.1).
fn is_literal(e: &Expr, value: &str) -> bool {
    match &e.kind {
        ExprKind::Boolean(b) => value == b.to_string(),
        ExprKind::Integer(i) => value == i.to_string(),
        ExprKind::String(s) => value == format!("\"{s}\""),
        ExprKind::Ref(r) => {
            let last = r.parts.last().map(|p| p.name.name.as_str());
            last == value.rsplit('.').next()
        }
        _ => false,
    }
}

/// An old value inside of another expression.
fn in_parentheses(text: String, e: &Expr) -> String {
    match e.kind {
        ExprKind::Binary(..)
        | ExprKind::If { .. }
        | ExprKind::Unary(..)
        | ExprKind::Range { .. } => {
            format!("({text})")
        }
        _ => text,
    }
}

/// `name=(value)` is `name=value`.
fn without_outer_parentheses(new: &str) -> String {
    let Some((name, value)) = new.split_once('=') else {
        return new.to_owned();
    };
    let inner = value.strip_prefix('(').and_then(|v| v.strip_suffix(')'));
    match inner {
        Some(inner) if !inner.contains(['(', ')']) => format!("{name}={inner}"),
        _ => new.to_owned(),
    }
}
