//! What the kinds of specialised classes may contain and inherit from (specification 4.7, 7.1.3), and names that are taken.
//!
//! Comes in: the text of a class when it is first used, or an extends clause. Goes out: the first violation, with its place.
//! Libraries are checked as far as a model uses them.

use crate::core::*;
use saltus_syntax::ast::Ident;
use saltus_syntax::ast::{self, ClassBody, ElementKind, Restriction, SectionKind};
use saltus_syntax::{Diagnostic, Span};

/// Names of the predefined types: no class or component may have them (specification 4.8).
const PREDEFINED: [&str; 4] = ["Real", "Integer", "Boolean", "String"];

/// Attributes of enumerations: no literal may have their name (specification 4.8.5).
const ENUMERATION_ATTRIBUTES: [&str; 5] = ["quantity", "min", "max", "start", "fixed"];

impl<'a> Flattener<'a> {
    /// Checks a class text, once.
    pub(crate) fn check_text(&mut self, def: &'a ast::ClassDef) -> Res<()> {
        if !self.checked_texts.insert(def) {
            return Ok(());
        }
        check_name(&def.name)?;
        match &def.body {
            ClassBody::Composition { parts, .. } => check_parts(def, parts),
            ClassBody::Enumeration(Some(literals)) => check_literals(literals),
            _ => Ok(()),
        }
    }

    /// Checks that the class of a component has all that another class promises: the same predefined type, or all of its
    /// public components (specification 6.4, as far as names go).
    pub(crate) fn check_subtype(
        &mut self,
        class: &ClassRef<'a>,
        constraint: &ClassRef<'a>,
        ident: &Ident,
    ) -> Res<()> {
        let (new, old) = (self.class_inst(class)?, self.class_inst(constraint)?);
        self.elaborate(new)?;
        self.elaborate(old)?;
        let missing = match (self.insts[new].builtin, self.insts[old].builtin) {
            (None, None) => {
                let is_there = |name| self.insts[new].elements.contains_key(name);
                let mut promised = (self.insts[old].elements.iter()).filter(|(_, e)| {
                    !e.protected && matches!(e.kind, crate::core::ElementKind::Component(_))
                });
                match promised.find(|(name, _)| !is_there(*name)) {
                    Some((name, _)) => format!("has no `{name}`"),
                    None => return Ok(()),
                }
            }
            (a, b) if a == b => return Ok(()),
            _ => "is of another type".to_owned(),
        };
        Err(Box::new(
            Diagnostic::error(
                "type-mismatch",
                ident.span,
                format!(
                    "`{}` cannot be a `{}` where a `{}` is expected: it {missing}",
                    ident.name, class.name, constraint.name
                ),
            )
            .help("take a class that has all public components of the other"),
        ))
    }

    /// Checks that a class of one kind may inherit from one of another.
    pub(crate) fn check_base(
        &mut self,
        derived: &ast::ClassDef,
        base: &ClassRef<'a>,
        span: Span,
    ) -> Res<()> {
        self.check_shaped_base(derived, base, span)?;
        let kind = match base.source {
            ClassSource::Builtin(BuiltinClass::ExternalObject) => Restriction::Class,
            _ => self.class_kind(base)?,
        };
        self.check_operator_record_base(derived, base, kind, span)?;
        if may_inherit(derived.restriction, kind) {
            return Ok(());
        }
        let has_nothing = self
            .source_def(&base.source)
            .is_some_and(is_without_content);
        let report = match has_nothing {
            true => Diagnostic::warning,
            false => Diagnostic::error,
        };
        let diagnostic = Box::new(
            report(
                "class-restriction",
                span,
                format!(
                    "{} `{}` cannot inherit from {} `{}`",
                    described(derived.restriction),
                    derived.name.name,
                    described(kind),
                    base.name
                ),
            )
            .help("make both classes of the same kind, or the base class a `class`"),
        );
        if !has_nothing {
            return Err(diagnostic);
        }
        self.report(diagnostic);
        Ok(())
    }
}

/// The class of an icon: an annotation and nothing that could be inherited.
fn is_without_content(class: &ast::ClassDef) -> bool {
    match &class.body {
        ast::ClassBody::Composition { parts, .. } => {
            parts.elements.is_empty() && parts.sections.is_empty() && parts.external.is_none()
        }
        _ => false,
    }
}

impl<'a> Flattener<'a> {
    /// Operators are found in the record's own class and the package around it: neither may be a base class
    /// (specification 14.1); a short class may stand for an operator record.
    fn check_operator_record_base(
        &mut self,
        derived: &ast::ClassDef,
        base: &ClassRef<'a>,
        kind: Restriction,
        span: Span,
    ) -> Res<()> {
        let what = if kind == Restriction::OperatorRecord
            && derived.restriction == Restriction::OperatorRecord
        {
            "is an operator record"
        } else if self.contains_operator_record(base) {
            "contains an operator record"
        } else {
            return Ok(());
        };
        Err(Box::new(
            Diagnostic::error(
                "class-restriction",
                span,
                format!(
                    "`{}` cannot inherit from `{}`, which {what}",
                    derived.name.name, base.name
                ),
            )
            .help("write `operator record New = Old(modifiers)`, or use the class by its name"),
        ))
    }

    fn contains_operator_record(&mut self, class: &ClassRef<'a>) -> bool {
        let Some(def) = self.source_def(&class.source) else {
            return false;
        };
        let ClassBody::Composition { parts, .. } = &def.body else {
            return false;
        };
        (parts.elements.iter()).any(|e| {
            matches!(&e.kind, ElementKind::Class { def, .. }
                if def.restriction == Restriction::OperatorRecord
                    && matches!(def.body, ClassBody::Composition { .. }))
        })
    }

    /// What inherits from an array class or a class with prefixes has nothing else (specification 4.6.1).
    fn check_shaped_base(
        &mut self,
        derived: &ast::ClassDef,
        base: &ClassRef<'a>,
        span: Span,
    ) -> Res<()> {
        let Some(ast::ClassDef {
            body:
                ClassBody::Short {
                    dims,
                    base_prefixes,
                    ..
                },
            ..
        }) = self.source_def(&base.source)
        else {
            return Ok(());
        };
        let shaped = !dims.is_empty() || *base_prefixes != ast::TypePrefixes::default();
        let ClassBody::Composition { parts, .. } = &derived.body else {
            return Ok(());
        };
        let elements = (parts.elements.iter())
            .filter(|e| matches!(e.kind, ElementKind::Component(_) | ElementKind::Extends(_)));
        if !shaped || elements.count() < 2 {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error(
                "class-restriction",
                span,
                format!(
                    "`{}` is an array or has prefixes: a class that inherits from it may have no other elements",
                    base.name
                ),
            )
            .help("use a component instead of `extends`"),
        ))
    }
}

/// The table of specification 7.1.3.
fn may_inherit(derived: Restriction, base: Restriction) -> bool {
    use Restriction as R;
    if derived == base || base == R::Class {
        return true;
    }
    match derived {
        R::OperatorFunction => base == R::Function,
        R::Connector => matches!(base, R::Type | R::Record | R::OperatorRecord),
        R::Block => base == R::Record,
        R::Model => matches!(base, R::Record | R::Block),
        // Anything but classes and extends clauses in a `class` is deprecated, but found in old libraries.
        R::Class => true,
        _ => false,
    }
}

fn described(kind: Restriction) -> &'static str {
    match kind {
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

fn check_name(ident: &Ident) -> Res<()> {
    if !PREDEFINED.contains(&ident.name.as_str()) {
        return Ok(());
    }
    Err(Box::new(
        Diagnostic::error(
            "duplicate-name",
            ident.span,
            format!("`{}` is the name of a predefined type", ident.name),
        )
        .help("choose another name"),
    ))
}

fn check_literals(literals: &[ast::EnumLiteral]) -> Res<()> {
    for (i, literal) in literals.iter().enumerate() {
        let name = literal.name.name;
        if ENUMERATION_ATTRIBUTES.contains(&name.as_str()) {
            return Err(Box::new(
                Diagnostic::error(
                    "duplicate-name",
                    literal.name.span,
                    format!("`{name}` is an attribute of enumerations and cannot be a literal"),
                )
                .help("choose another name"),
            ));
        }
        if let Some(first) = literals[..i].iter().find(|l| l.name.name == name) {
            return Err(Box::new(
                Diagnostic::error(
                    "duplicate-name",
                    literal.name.span,
                    format!("the literal `{name}` is declared twice"),
                )
                .secondary(first.name.span, "first declared here")
                .help("rename or remove one of them"),
            ));
        }
    }
    Ok(())
}

/// What a kind of class may not contain, in words; empty if it may contain everything.
fn check_parts(def: &ast::ClassDef, parts: &ast::Composition) -> Res<()> {
    let refuse = |span: Span, what: &str, cure: &str| -> Res<()> {
        Err(Box::new(
            Diagnostic::error(
                "class-restriction",
                span,
                format!(
                    "{} `{}` may not have {what}",
                    described(def.restriction),
                    def.name.name
                ),
            )
            .help(cure.to_owned()),
        ))
    };
    use Restriction as R;
    let is_record = matches!(def.restriction, R::Record | R::OperatorRecord);
    let is_connector = matches!(def.restriction, R::Connector | R::ExpandableConnector);
    if is_record || is_connector || def.restriction == R::Package {
        let filled = parts.sections.iter().find(|s| match &s.kind {
            SectionKind::Equations(list) => !list.is_empty(),
            SectionKind::Algorithm(list) => !list.is_empty(),
        });
        if let Some(section) = filled {
            let what = match section.kind {
                SectionKind::Equations(_) => "equations",
                SectionKind::Algorithm(_) => "algorithms",
            };
            return refuse(section.span, what, "move them into the models that use it");
        }
    }
    for element in &parts.elements {
        match &element.kind {
            ElementKind::Component(decl) => {
                check_name(&decl.name)?;
                let at = decl.name.span;
                if is_record || is_connector {
                    if element.visibility == ast::Visibility::Protected {
                        return refuse(at, "protected components", "make it public");
                    }
                    if decl.prefixes.inner || decl.prefixes.outer {
                        return refuse(at, "`inner` or `outer` components", "remove the prefix");
                    }
                    if uses_time(decl) {
                        let cure = "give it a value where it is used";
                        return refuse(at, "a component whose value uses `time`", cure);
                    }
                }
                if is_record && decl.type_prefixes.causality.is_some() {
                    return refuse(at, "`input` or `output` components", "remove the prefix");
                }
                if is_record && decl.type_prefixes.connection != ast::ConnectionPrefix::None {
                    return refuse(at, "`flow` or `stream` components", "remove the prefix");
                }
                let constant = decl.type_prefixes.variability == Some(ast::Variability::Constant);
                if def.restriction == R::Package && !constant {
                    let cure = "declare it `constant`, or move it into a model";
                    return refuse(at, "components that are no constants", cure);
                }
                if def.restriction == R::Operator {
                    return refuse(at, "components", "an operator contains functions only");
                }
            }
            ElementKind::Class { def: inner, .. } => {
                check_name(&inner.name)?;
                if def.restriction == R::Operator && inner.restriction != R::Function {
                    let what = "classes that are no functions";
                    return refuse(inner.name.span, what, "an operator contains functions only");
                }
            }
            ElementKind::Import(_) | ElementKind::Extends(_) => {}
        }
    }
    Ok(())
}

/// The declared value is `time` or contains it.
fn uses_time(decl: &ast::ComponentDecl) -> bool {
    let value = decl.modification.as_ref().and_then(|m| m.value.as_ref());
    value.is_some_and(|value| {
        matches!(&value.kind, ast::ExprKind::Ref(r)
            if r.parts.len() == 1 && r.parts[0].name.name.as_str() == "time")
    })
}
