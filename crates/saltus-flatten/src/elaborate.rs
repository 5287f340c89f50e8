//! Elements of a class in an instance: own declarations, inheritance, redeclaring elements.
//!
//! After [`Flattener::elaborate`] an instance has all elements in declaration order (inherited ones at the place of their extends
//! clause), the scopes of all texts that make it up, and, for types, the builtin base with the modifiers along the way.
//! A base-class name sees the local and enclosing names of the class, never names inherited by it (specification 7.1).

use crate::core::*;
use crate::tree::NodeId;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use saltus_ir::types::EnumType;
use saltus_syntax::ast::{self, ClassBody};
use saltus_syntax::{Diagnostic, Name, Span};
use std::rc::Rc;

/// Longest chain of extends clauses; more means that a class inherits from itself through modified copies.
const EXTENDS_DEPTH_MAX: usize = 100;

type Collected<'a> = Vec<(Name, Element<'a>)>;

impl<'a> Flattener<'a> {
    /// Fills the elements of an instance. Does nothing if that is done or under way.
    pub fn elaborate(&mut self, inst: InstId) -> Res<()> {
        if self.insts[inst].progress != Progress::NotStarted {
            return Ok(());
        }
        self.insts[inst].progress = Progress::InProgress;
        let class = self.insts[inst].class.clone();
        let lex = self.insts[inst].lex;
        let collected =
            self.collect_class(inst, &class, Rc::from([]), Some(lex), &mut Vec::new())?;
        let mut elements: IndexMap<Name, Element<'a>> = IndexMap::with_capacity(collected.len());
        let mut twice = Vec::new();
        let is_package = self.class_kind(&class)? == ast::Restriction::Package;
        for (name, element) in collected {
            match elements.entry(name) {
                indexmap::map::Entry::Vacant(place) => {
                    place.insert(element);
                }
                indexmap::map::Entry::Occupied(mut first) => {
                    twice.push((name, first.get().clone(), element.clone()));
                    // The default of a replaceable class is the own one; and what a package has itself hides what its base has.
                    let of_class = matches!(element.kind, ElementKind::Class(_));
                    if of_class && (element.replaceable || is_package) && element.lex == lex {
                        first.insert(element);
                    }
                }
            }
        }
        let node = &mut self.insts[inst];
        node.elements = elements;
        node.progress = Progress::Done;
        for (name, first, second) in &twice {
            self.check_identical(inst, *name, first, second)?;
        }
        Ok(())
    }

    /// Elements of the same name that come together by inheritance are identical (specification 7.1): components in type,
    /// prefixes and value. Attributes are let differ, as libraries have it; those of the first declaration hold. Replaceable
    /// classes are identical if a redeclaration from outside concerns both; where they only have different defaults, a warning
    /// says so, and where the class of a package hides one of its base: packages of icons have the names of those they adorn.
    fn check_identical(
        &mut self,
        inst: InstId,
        name: Name,
        first: &Element<'a>,
        second: &Element<'a>,
    ) -> Res<()> {
        let same = match (&first.kind, &second.kind) {
            (ElementKind::Component(a), ElementKind::Component(b)) => {
                std::ptr::eq(*a, *b)
                    || a.type_prefixes == b.type_prefixes
                        && a.dims.len() == b.dims.len()
                        && self.same_text(value_span(a), value_span(b))
                        && self.same_class(first.lex, &a.ty, second.lex, &b.ty)?
            }
            (ElementKind::Class(a), ElementKind::Class(b)) => {
                match (self.source_def(a), self.source_def(b)) {
                    (Some(a), Some(b)) if std::ptr::eq(a, b) => true,
                    (Some(a), Some(b)) => match (&a.body, &b.body) {
                        // Of short classes the texts behind, annotations and all, do not matter.
                        (ClassBody::Short { base: x, .. }, ClassBody::Short { base: y, .. }) => {
                            self.same_class(first.lex, x, second.lex, y)?
                        }
                        _ => self.same_text(Some(a.span), Some(b.span)),
                    },
                    _ => true,
                }
            }
            _ => false,
        };
        let both_replaceable = first.replaceable && second.replaceable;
        if same || both_replaceable && is_redeclared(&self.insts[inst].layers, name) {
            return Ok(());
        }
        let lenient = match (&first.kind, &second.kind) {
            (ElementKind::Class(_), ElementKind::Class(_)) => {
                let class = self.insts[inst].class.clone();
                both_replaceable || self.class_kind(&class)? == ast::Restriction::Package
            }
            (ElementKind::Component(a), ElementKind::Component(b)) => {
                a.type_prefixes == b.type_prefixes
                    && a.dims.len() == b.dims.len()
                    && self.same_text(value_span(a), value_span(b))
                    && self.same_predefined(first.lex, &a.ty, second.lex, &b.ty)?
            }
            _ => false,
        };
        let report = if lenient {
            Diagnostic::warning
        } else {
            Diagnostic::error
        };
        let diagnostic = Box::new(
            report(
                "duplicate-name",
                second.span,
                format!("`{name}` is inherited or declared twice, differently"),
            )
            .secondary(first.span, "the other declaration")
            .help("make both declarations identical, or rename one"),
        );
        if lenient {
            self.report(diagnostic);
            return Ok(());
        }
        Err(diagnostic)
    }

    /// Both types are the same predefined one, whatever attributes their definitions add.
    fn same_predefined(
        &mut self,
        lex: LexId,
        a: &ast::Path,
        other: LexId,
        b: &ast::Path,
    ) -> Res<bool> {
        let mut predefined = |lex, path| -> Res<Option<BuiltinClass>> {
            let class = self.find_class(lex, path)?;
            let inst = self.class_inst(&class)?;
            self.elaborate(inst)?;
            Ok(self.insts[inst].builtin)
        };
        let (a, b) = (predefined(lex, a)?, predefined(other, b)?);
        Ok(a.is_some() && a == b)
    }

    pub(crate) fn same_class(
        &mut self,
        lex: LexId,
        a: &ast::Path,
        other: LexId,
        b: &ast::Path,
    ) -> Res<bool> {
        let (a, b) = (self.find_class(lex, a)?, self.find_class(other, b)?);
        Ok(
            match (self.source_def(&a.source), self.source_def(&b.source)) {
                (Some(a), Some(b)) => std::ptr::eq(a, b),
                (None, None) => a.name == b.name,
                _ => false,
            },
        )
    }

    /// The same text up to white space.
    fn same_text(&self, a: Option<Span>, b: Option<Span>) -> bool {
        let text = |span: Span| {
            let file = &self.tree.sources.file(span.file).text;
            let part = &file[span.start as usize..span.end as usize];
            part.split_whitespace().collect::<String>()
        };
        match (a, b) {
            (Some(a), Some(b)) => text(a) == text(b),
            (a, b) => a == b,
        }
    }

    /// The text of a class source.
    pub fn source_def(&mut self, source: &ClassSource<'a>) -> Option<&'a ast::ClassDef> {
        match source {
            ClassSource::Node(node) => self.tree.def(*node),
            ClassSource::Ast(def) | ClassSource::Extends(def, _) => Some(def),
            ClassSource::Builtin(_) => None,
        }
    }

    /// Collects the elements of one class text and its bases. `main`: the scope already made for the instance's own text.
    fn collect_class(
        &mut self,
        inst: InstId,
        class: &ClassRef<'a>,
        chain: Layers<'a>,
        main: Option<LexId>,
        stack: &mut Vec<*const ast::ClassDef>,
    ) -> Res<Collected<'a>> {
        if let ClassSource::Builtin(builtin) = class.source {
            self.insts[inst].builtin = Some(builtin);
            let mut layers: Vec<Layer<'a>> = chain.to_vec();
            layers.extend(class.layers.iter().cloned());
            self.insts[inst].type_layers = layers;
            return Ok(Vec::new());
        }
        let Some(def) = self.source_def(&class.source) else {
            return Err(self.unreadable(class));
        };
        if stack.contains(&std::ptr::from_ref(def))
            && !matches!(class.source, ClassSource::Extends(..))
            || stack.len() > EXTENDS_DEPTH_MAX
        {
            return Err(Box::new(
                Diagnostic::error(
                    "recursive-extends",
                    def.name.span,
                    format!("class `{}` inherits from itself", def.name.name),
                )
                .help("break the circle of `extends` clauses"),
            ));
        }
        self.check_text(def)?;
        stack.push(def);
        let node = match class.source {
            ClassSource::Node(node) => Some(node),
            _ => None,
        };
        let lex = match main {
            Some(lex) => lex,
            None => self.lexes.push(Lex {
                owner: inst,
                def: Some(def),
                node,
                enclosing: Some(class.enclosing),
                names: LexNames::Some(FxHashMap::default()),
                encapsulated: def.encapsulated,
            }),
        };
        let result = match &def.body {
            ClassBody::Short {
                base_prefixes,
                base,
                dims,
                modification,
            } => self.collect_short(
                inst,
                class,
                &chain,
                *base_prefixes,
                base,
                dims,
                modification.as_ref(),
                stack,
            ),
            ClassBody::Enumeration(literals) => {
                self.collect_enumeration(inst, def, literals.as_deref(), &chain, class);
                Ok(Vec::new())
            }
            ClassBody::Derivative { .. } => Ok(Vec::new()),
            ClassBody::Composition {
                parts,
                class_extends,
                ..
            } => self.collect_composition(
                inst,
                class,
                def,
                node,
                lex,
                parts,
                class_extends.as_ref(),
                &chain,
                stack,
            ),
        };
        stack.pop();
        result
    }

    fn unreadable(&mut self, class: &ClassRef<'a>) -> Box<Diagnostic> {
        if let Some(diagnostic) = self.tree.diagnostics.iter().find(|d| d.is_error()) {
            return Box::new(diagnostic.clone());
        }
        let message = format!("class `{}` has no text", class.name);
        Box::new(match class.span {
            Some(span) => Diagnostic::error("unknown-class", span, message),
            None => Diagnostic::placeless("unknown-class", message),
        })
    }

    fn collect_short(
        &mut self,
        inst: InstId,
        class: &ClassRef<'a>,
        chain: &Layers<'a>,
        prefixes: ast::TypePrefixes,
        base: &'a ast::Path,
        dims: &'a [ast::Subscript],
        modification: Option<&'a ast::Modification>,
        stack: &mut Vec<*const ast::ClassDef>,
    ) -> Res<Collected<'a>> {
        {
            let node = &mut self.insts[inst];
            if prefixes.causality.is_some() && node.type_prefixes.causality.is_none() {
                node.type_prefixes.causality = prefixes.causality;
            }
            if prefixes.connection != ast::ConnectionPrefix::None {
                node.type_prefixes.connection = prefixes.connection;
            }
            if prefixes.variability.is_some() && node.type_prefixes.variability.is_none() {
                node.type_prefixes.variability = prefixes.variability;
            }
            node.type_dims
                .extend(dims.iter().map(|d| (d, class.enclosing)));
        }
        let mut base_class = self.find_class(class.enclosing, base)?;
        let mut layers: Vec<Layer<'a>> = chain.to_vec();
        if let Some(modification) = modification {
            check_modified_once(modification)?;
            layers.push(self.layer(
                LayerKind::Modification(modification),
                class.enclosing,
                modification.span,
            ));
        }
        layers.extend(base_class.layers.iter().cloned());
        base_class.layers = Rc::from([]);
        self.collect_class(inst, &base_class, layers.into(), None, stack)
    }

    fn collect_enumeration(
        &mut self,
        inst: InstId,
        def: &'a ast::ClassDef,
        literals: Option<&'a [ast::EnumLiteral]>,
        chain: &Layers<'a>,
        class: &ClassRef<'a>,
    ) {
        let id = match self.enum_ids.get(&std::ptr::from_ref(def)) {
            Some(&id) => id,
            None => {
                let name = class.name;
                let literals: Vec<Name> = (literals.unwrap_or(&[]).iter())
                    .map(|l| l.name.name)
                    .collect();
                // Enumerations with the same literals in the same order are one type (specification 6.4).
                let same = (self.ir.enums.iter())
                    .find(|(_, e)| e.literals == literals && !literals.is_empty())
                    .map(|(id, _)| id);
                let id = match same {
                    Some(id) => id,
                    None => self.ir.enums.push(EnumType { name, literals }),
                };
                self.enum_ids.insert(def, id);
                id
            }
        };
        self.insts[inst].builtin = Some(BuiltinClass::Enum(id));
        self.insts[inst].type_layers = chain.to_vec();
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a class definition")]
    fn collect_composition(
        &mut self,
        inst: InstId,
        class: &ClassRef<'a>,
        def: &'a ast::ClassDef,
        node: Option<NodeId>,
        lex: LexId,
        parts: &'a ast::Composition,
        class_extends: Option<&'a ast::Modification>,
        chain: &Layers<'a>,
        stack: &mut Vec<*const ast::ClassDef>,
    ) -> Res<Collected<'a>> {
        // Own names first: base-class names may refer to them.
        let mut own: IndexMap<Name, Element<'a>> = IndexMap::new();
        let mut redeclared: Vec<(Name, Element<'a>)> = Vec::new();
        for element in &parts.elements {
            let (name, kind, redeclare, constraint, prefixes) = match &element.kind {
                ast::ElementKind::Component(decl) => (
                    decl.name.name,
                    ElementKind::Component(decl),
                    decl.prefixes.redeclare,
                    decl.constraint.as_ref(),
                    decl.prefixes,
                ),
                ast::ElementKind::Class {
                    prefixes,
                    def: inner,
                    constraint,
                } => {
                    let is_class_extends = matches!(
                        inner.body,
                        ClassBody::Composition {
                            is_class_extends: true,
                            ..
                        }
                    );
                    let redeclare = prefixes.redeclare || is_class_extends;
                    let child = if redeclare {
                        None
                    } else {
                        node.and_then(|n| self.tree.child(n, inner.name.name))
                    };
                    let source = match child {
                        Some(child)
                            if self
                                .tree
                                .def(child)
                                .is_some_and(|d| std::ptr::eq(d, &**inner)) =>
                        {
                            ClassSource::Node(child)
                        }
                        _ => ClassSource::Ast(inner),
                    };
                    (
                        inner.name.name,
                        ElementKind::Class(source),
                        redeclare,
                        constraint.as_ref(),
                        *prefixes,
                    )
                }
                ast::ElementKind::Import(_) | ast::ElementKind::Extends(_) => continue,
            };
            let protected = element.visibility == ast::Visibility::Protected;
            let made = Element {
                kind,
                lex,
                chain: chain.clone(),
                protected,
                span: element.span,
                constraint,
                replaceable: prefixes.replaceable,
                is_final: prefixes.is_final,
                inner_class: prefixes.inner,
                outer_class: prefixes.outer,
                passed_on: Rc::from([]),
                original: None,
            };
            if redeclare {
                redeclared.push((name, made));
                continue;
            }
            if let Some(first) = own.get(&name) {
                return Err(Box::new(
                    Diagnostic::error(
                        "duplicate-name",
                        element.span,
                        format!("`{name}` is declared twice in `{}`", def.name.name),
                    )
                    .secondary(first.span, "first declared here")
                    .help("rename or remove one of them"),
                ));
            }
            own.insert(name, made);
        }
        if let Some(node) = node {
            for (name, child) in self.tree.children(node) {
                if redeclared.iter().any(|(n, _)| *n == name) {
                    continue;
                }
                own.entry(name).or_insert_with(|| Element {
                    constraint: None,
                    replaceable: false,
                    is_final: false,
                    inner_class: false,
                    outer_class: false,
                    passed_on: Rc::from([]),
                    original: None,
                    kind: ElementKind::Class(ClassSource::Node(child)),
                    lex,
                    chain: chain.clone(),
                    protected: false,
                    span: def.name.span,
                });
            }
        }
        for (name, element) in &own {
            self.insts[inst]
                .elements
                .entry(*name)
                .or_insert_with(|| element.clone());
            self.note_name(lex, *name);
        }

        // Bases, in order; `redeclare class extends` starts with the class it replaces.
        let mut result: Collected<'a> = Vec::new();
        if let ClassSource::Extends(_, original) = &class.source {
            let ElementKind::Class(source) = &original.kind else {
                unreachable!("class extends of a class element")
            };
            let base = ClassRef {
                source: source.clone(),
                enclosing: original.lex,
                layers: Rc::from([]),
                found_in: None,
                name: class.name,
                span: class.span,
            };
            let mut layers = chain.to_vec();
            if let Some(modification) = class_extends {
                layers.push(self.layer(
                    LayerKind::Modification(modification),
                    lex,
                    modification.span,
                ));
            }
            layers.extend(descend_all(&original.chain, def.name.name));
            let inherited = self.collect_class(inst, &base, layers.into(), None, stack)?;
            for (name, _) in &inherited {
                self.note_name(lex, *name);
            }
            result.extend(inherited);
        }
        let mut own_done = 0;
        for element in &parts.elements {
            match &element.kind {
                ast::ElementKind::Extends(extends) => {
                    let first = &extends.base.parts[0];
                    if !extends.base.global && result.iter().any(|(n, _)| *n == first.name) {
                        self.refuse_inherited_base(&own, first)?;
                    }
                    let inherited =
                        self.collect_extends(inst, lex, extends, element, chain, stack)?;
                    for (name, _) in &inherited {
                        self.note_name(lex, *name);
                    }
                    result.extend(inherited);
                }
                ast::ElementKind::Component(decl) if !decl.prefixes.redeclare => {
                    if let Some(e) = own.get(&decl.name.name) {
                        result.push((decl.name.name, e.clone()));
                        own_done += 1;
                    }
                }
                _ => {}
            }
        }
        debug_assert!(own_done <= own.len(), "own components are own elements");
        for (name, element) in &own {
            if matches!(element.kind, ElementKind::Class(_)) {
                result.push((*name, element.clone()));
            }
        }
        for (name, element) in redeclared {
            self.note_name(lex, name);
            apply_redeclaring_element(&mut result, name, element, |e| self.passed_on(e))?;
        }
        self.insts[inst].texts.push(lex);
        // Later bases of a derived class see these names.
        for (name, element) in &result {
            self.insts[inst]
                .elements
                .entry(*name)
                .or_insert_with(|| element.clone());
        }
        Ok(result)
    }

    /// The name of a base class is not itself inherited (specification 5.6.1.4).
    fn refuse_inherited_base(
        &self,
        own: &IndexMap<Name, Element<'a>>,
        ident: &ast::Ident,
    ) -> Res<()> {
        if own.contains_key(&ident.name) {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error(
                "unknown-class",
                ident.span,
                format!(
                    "`{}` is inherited, and a base class cannot be found by an inherited name",
                    ident.name
                ),
            )
            .help("name the class by its full path"),
        ))
    }

    fn collect_extends(
        &mut self,
        inst: InstId,
        lex: LexId,
        extends: &'a ast::Extends,
        element: &'a ast::Element,
        chain: &Layers<'a>,
        stack: &mut Vec<*const ast::ClassDef>,
    ) -> Res<Collected<'a>> {
        let mut base = self.find_class(lex, &extends.base)?;
        if let Some(derived) = self.lexes[lex].def {
            self.check_base(derived, &base, extends.base.span)?;
        }
        if let Some((owner, name)) = base.found_in
            && let Some(element) = self.insts[owner].elements.get(&name)
            && element.replaceable
            && !is_redeclared(&self.insts[owner].layers, name)
            && !is_redeclared(&element.chain, name)
        {
            return Err(Box::new(
                Diagnostic::error(
                    "class-restriction",
                    extends.base.span,
                    format!("`{name}` is replaceable and cannot be a base class"),
                )
                .secondary(element.span, "declared here")
                .help("extend a class that is not replaceable, or write `redeclare … extends`"),
            ));
        }
        let mut layers = chain.to_vec();
        if let Some(modification) = &extends.modification {
            layers.push(self.layer(
                LayerKind::Modification(modification),
                lex,
                modification.span,
            ));
        }
        layers.extend(base.layers.iter().cloned());
        base.layers = Rc::from([]);
        let mut inherited = self.collect_class(inst, &base, layers.into(), None, stack)?;
        if let Some(modification) = &extends.modification
            && self.insts[inst].builtin.is_none()
        {
            self.check_extends_modifiers(modification, &inherited, &base)?;
        }
        if element.visibility == ast::Visibility::Protected {
            for (_, e) in &mut inherited {
                e.protected = true;
            }
        }
        Ok(inherited)
    }

    /// The modifiers of an extends clause name elements of the base class, each once.
    fn check_extends_modifiers(
        &mut self,
        modification: &'a ast::Modification,
        inherited: &Collected<'a>,
        base: &ClassRef<'a>,
    ) -> Res<()> {
        check_modified_once(modification)?;
        for arg in &modification.args {
            let ident = match &arg.kind {
                ast::ArgumentKind::Modify { path, .. } => &path.parts[0],
                ast::ArgumentKind::Component(decl) => &decl.name,
                ast::ArgumentKind::Class { def, .. } => &def.name,
                ast::ArgumentKind::Break(_) => {
                    return Err(Box::new(Diagnostic::error(
                        "unsupported-feature",
                        arg.span,
                        "removing inherited elements with `break` is not supported",
                    )));
                }
            };
            if inherited.iter().any(|(name, _)| *name == ident.name) {
                continue;
            }
            let candidates: Vec<Name> = inherited.iter().map(|(name, _)| *name).collect();
            let diagnostic = Diagnostic::error(
                "modifier-unknown",
                ident.span,
                format!("`{}` has no element `{}` to modify", base.name, ident.name),
            );
            return Err(Box::new(
                match crate::lookup::suggest(ident.name, &candidates) {
                    Some(name) => diagnostic.help(format!("did you mean `{name}`?")),
                    None => {
                        diagnostic.help("remove the modifier, or declare the element in the class")
                    }
                },
            ));
        }
        Ok(())
    }

    fn note_name(&mut self, lex: LexId, name: Name) {
        if let LexNames::Some(names) = &mut self.lexes[lex].names {
            names.insert(name, ());
        }
    }

    /// A fresh layer written in scope `lex`.
    pub fn layer(&self, kind: LayerKind<'a>, lex: LexId, span: Span) -> Layer<'a> {
        let level = self.insts[self.lexes[lex].owner].depth;
        Layer {
            kind,
            lex,
            subs: Rc::from([]),
            each: false,
            is_final: false,
            by_constraint: false,
            level,
            span,
        }
    }
}

fn value_span(decl: &ast::ComponentDecl) -> Option<Span> {
    let value = decl.modification.as_ref()?.value.as_ref()?;
    Some(value.span)
}

/// Modifiers say what the element is, once and for all.
fn is_redeclared(layers: &[Layer<'_>], name: Name) -> bool {
    (descend_all(layers, name).iter()).any(|l| matches!(l.kind, LayerKind::Redeclare(_)))
}

/// An element may be modified only once in one list of modifiers.
pub(crate) fn check_modified_once(modification: &ast::Modification) -> Res<()> {
    let mut seen: Vec<&ast::Ident> = Vec::new();
    for arg in &modification.args {
        let ast::ArgumentKind::Modify { path, .. } = &arg.kind else {
            continue;
        };
        let [ident] = path.parts.as_slice() else {
            continue;
        };
        if let Some(first) = seen.iter().find(|s| s.name == ident.name) {
            return Err(Box::new(
                Diagnostic::error(
                    "duplicate-name",
                    ident.span,
                    format!("`{}` is modified twice", ident.name),
                )
                .secondary(first.span, "first modified here")
                .help("remove one of the modifiers"),
            ));
        }
        seen.push(ident);
    }
    Ok(())
}

/// `redeclare …` as an element replaces the inherited one and keeps what its constraint says.
fn apply_redeclaring_element<'a>(
    result: &mut Collected<'a>,
    name: Name,
    mut element: Element<'a>,
    passed_on: impl Fn(&Element<'a>) -> Vec<Layer<'a>>,
) -> Res<()> {
    let Some(at) = result.iter().position(|(n, _)| *n == name) else {
        result.push((name, element));
        return Ok(());
    };
    let original = result[at].1.clone();
    check_redeclared(&original, name, element.span)?;
    if element.protected != original.protected {
        return Err(Box::new(
            Diagnostic::error(
                "class-restriction",
                element.span,
                format!(
                    "`{name}` is redeclared as {} but was declared as {}",
                    visibility(element.protected),
                    visibility(original.protected)
                ),
            )
            .secondary(original.span, "declared here")
            .help("redeclare it in a section of the same visibility"),
        ));
    }
    if let ElementKind::Class(source) = &element.kind {
        let def = match source {
            ClassSource::Ast(def) => Some(*def),
            _ => None,
        };
        if let Some(def) = def
            && matches!(
                def.body,
                ClassBody::Composition {
                    is_class_extends: true,
                    ..
                }
            )
        {
            if !original.replaceable {
                return Err(Box::new(
                    Diagnostic::error(
                        "redeclare-nonreplaceable",
                        element.span,
                        format!("`{name}` is extended in place but not declared replaceable"),
                    )
                    .secondary(original.span, "declared here")
                    .help("write `replaceable` before the inherited class, or give the new one another name"),
                ));
            }
            element.kind = ElementKind::Class(ClassSource::Extends(def, Rc::new(original)));
            result[at].1 = element;
            return Ok(());
        }
    }
    element.original = original.first_declaration();
    let between = descend_all(&original.chain, name)
        .into_iter()
        .filter(|l| !matches!(l.kind, LayerKind::Redeclare(_)));
    element.passed_on = between.chain(passed_on(&original)).collect();
    result[at].1 = element;
    Ok(())
}

fn visibility(protected: bool) -> &'static str {
    if protected { "protected" } else { "public" }
}

/// What is final or constant cannot be redeclared (specification 7.3).
pub(crate) fn check_redeclared(original: &Element<'_>, name: Name, span: Span) -> Res<()> {
    let constant = matches!(original.kind, ElementKind::Component(decl)
        if decl.type_prefixes.variability == Some(ast::Variability::Constant));
    let what = match (original.is_final, constant) {
        (true, _) => "final",
        (_, true) => "a constant",
        _ => return Ok(()),
    };
    Err(Box::new(
        Diagnostic::error(
            "final-override",
            span,
            format!("`{name}` is {what} and cannot be redeclared"),
        )
        .secondary(original.span, "declared here")
        .help("remove the redeclaration, or the prefix"),
    ))
}

/// What `layers` say about the element `name`, outermost first.
pub fn descend_all<'a>(layers: &[Layer<'a>], name: Name) -> Vec<Layer<'a>> {
    let mut out = Vec::new();
    for layer in layers {
        descend(layer, name, &mut out);
    }
    out
}

fn descend<'a>(layer: &Layer<'a>, name: Name, out: &mut Vec<Layer<'a>>) {
    match layer.kind {
        LayerKind::Modification(modification) => {
            for arg in &modification.args {
                descend_argument(layer, arg, name, out);
            }
        }
        LayerKind::Path(rest, modification) => {
            if rest[0].name == name {
                if rest.len() > 1 {
                    out.push(Layer {
                        kind: LayerKind::Path(&rest[1..], modification),
                        ..layer.clone()
                    });
                } else if let Some(modification) = modification {
                    out.push(Layer {
                        kind: LayerKind::Modification(modification),
                        ..layer.clone()
                    });
                }
            }
        }
        LayerKind::Redeclare(_) | LayerKind::Value(_) => {}
    }
}

fn descend_argument<'a>(
    layer: &Layer<'a>,
    arg: &'a ast::Argument,
    name: Name,
    out: &mut Vec<Layer<'a>>,
) {
    let with = |kind| {
        let each = arg.prefixes.each;
        Layer {
            kind,
            lex: layer.lex,
            subs: if each {
                Rc::from([])
            } else {
                layer.subs.clone()
            },
            each: layer.each || each,
            is_final: arg.prefixes.is_final,
            by_constraint: layer.by_constraint,
            level: layer.level,
            span: arg.span,
        }
    };
    match &arg.kind {
        ast::ArgumentKind::Modify {
            path, modification, ..
        } if path.parts[0].name == name => {
            if path.parts.len() > 1 {
                out.push(with(LayerKind::Path(
                    &path.parts[1..],
                    modification.as_ref(),
                )));
            } else if let Some(modification) = modification {
                out.push(with(LayerKind::Modification(modification)));
            }
        }
        ast::ArgumentKind::Class { def, .. } if def.name.name == name => {
            out.push(with(LayerKind::Redeclare(arg)))
        }
        ast::ArgumentKind::Component(decl) if decl.name.name == name => {
            out.push(with(LayerKind::Redeclare(arg)))
        }
        _ => {}
    }
}
