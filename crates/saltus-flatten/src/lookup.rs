//! Names to elements (specification 5.3): iterators, elements of the text, imports, enclosing scopes, the top level.

use crate::core::*;
use crate::elaborate::{check_redeclared, descend_all};
use crate::tree::ROOT;
use saltus_ir::{Base, Expr};
use saltus_syntax::ast::{self, ImportKind};
use saltus_syntax::{Diagnostic, Name, Span};
use std::rc::Rc;

/// A declared element with redeclarations applied and all its modifiers.
pub struct Effective<'a> {
    pub element: Element<'a>,
    /// Modifiers on the element, outermost first, its own declaration's last.
    pub layers: Vec<Layer<'a>>,
    /// How many of them come from outside the instance.
    pub n_outer: usize,
}

impl<'a> Flattener<'a> {
    /// Looks up the first part of a name.
    pub fn lookup(&mut self, scope: Scope<'_>, ident: &ast::Ident) -> Res<Option<Found<'a>>> {
        let mut iterators = scope.iterators;
        while let Some(it) = iterators {
            if it.name == ident.name {
                return Ok(Some(Found::Iterator(it.value)));
            }
            iterators = it.outer;
        }
        self.lookup_from(scope.lex, ident.name, ident.span)
    }

    fn lookup_from(&mut self, from: LexId, name: Name, span: Span) -> Res<Option<Found<'a>>> {
        let mut at = Some(from);
        let mut encapsulated = false;
        while let Some(lex) = at {
            let owner = self.lexes[lex].owner;
            self.elaborate(owner)?;
            let visible = match &self.lexes[lex].names {
                LexNames::All => true,
                LexNames::Some(names) => names.contains_key(&name),
            };
            if visible && self.insts[owner].elements.contains_key(&name) {
                if lex != from {
                    self.check_enclosing(from, owner, name, span)?;
                }
                return self.found(owner, name, span).map(Some);
            }
            if let Some(found) = self.lookup_import(lex, name, span)? {
                return Ok(Some(found));
            }
            encapsulated |= self.lexes[lex].encapsulated;
            if encapsulated {
                break;
            }
            at = self.lexes[lex].enclosing;
        }
        if let Some(class) = builtin_class(name) {
            return Ok(Some(Found::Class(self.builtin_ref(class, name))));
        }
        if encapsulated && !matches!(name.as_str(), "StateSelect" | "AssertionLevel") {
            // Only the class around an encapsulated one at the top may still be meant by its own full name.
            return Ok(None);
        }
        self.lookup_top(name, span)
    }

    /// Of the components of an enclosing class only constants are visible (specification 5.3.1). Functions have a message of
    /// their own.
    fn check_enclosing(&self, from: LexId, owner: InstId, name: Name, span: Span) -> Res<()> {
        let element = &self.insts[owner].elements[&name];
        let ElementKind::Component(decl) = element.kind else {
            return Ok(());
        };
        let constant = decl.type_prefixes.variability == Some(ast::Variability::Constant);
        let from_function = self.insts[self.lexes[from].owner].purpose == Purpose::Function;
        if constant || from_function || self.insts[owner].purpose == Purpose::Function {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error(
                "variability-violation",
                span,
                format!("`{name}` belongs to an enclosing class and is no constant"),
            )
            .secondary(element.span, "declared here")
            .help("pass it in by a modifier, or declare it `constant`"),
        ))
    }

    /// A class at the top level.
    pub fn lookup_top(&mut self, name: Name, span: Span) -> Res<Option<Found<'a>>> {
        let root = self.root;
        if !self.insts[root].elements.contains_key(&name) {
            let Some(node) = self.tree.child(ROOT, name) else {
                return Ok(None);
            };
            let lex = self.insts[root].lex;
            let element = Element {
                kind: ElementKind::Class(ClassSource::Node(node)),
                lex,
                chain: Rc::from([]),
                protected: false,
                span,
                constraint: None,
                replaceable: false,
                is_final: false,
                inner_class: false,
                outer_class: false,
                passed_on: Rc::from([]),
                original: None,
            };
            self.insts[root].elements.insert(name, element);
        }
        self.found(root, name, span).map(Some)
    }

    fn imports_of(&mut self, lex: LexId) -> Rc<[&'a ast::Import]> {
        if let Some(known) = self.imports.get(&lex) {
            return known.clone();
        }
        let body = self.lexes[lex].def.map(|def| &def.body);
        let elements = match body {
            Some(ast::ClassBody::Composition { parts, .. }) => parts.elements.as_slice(),
            _ => &[],
        };
        let imports = elements.iter().filter_map(|element| match &element.kind {
            ast::ElementKind::Import(import) => Some(import),
            _ => None,
        });
        let imports: Rc<[&'a ast::Import]> = imports.collect();
        self.check_imports(&imports);
        self.imports.insert(lex, imports.clone());
        imports
    }

    /// Two imports of the same name are an error (specification 13.2.1.2).
    fn check_imports(&mut self, imports: &[&'a ast::Import]) {
        let mut named: Vec<&ast::Ident> = Vec::new();
        for import in imports {
            let own: &[ast::Ident] = match &import.kind {
                ImportKind::Qualified(path) => path.parts.last().map_or(&[], std::slice::from_ref),
                ImportKind::Renamed(alias, _) => std::slice::from_ref(alias),
                ImportKind::Group(_, names) => names,
                ImportKind::Wildcard(_) => &[],
            };
            for ident in own {
                if let Some(first) = named.iter().find(|n| n.name == ident.name) {
                    self.report(Box::new(
                        Diagnostic::error(
                            "duplicate-name",
                            ident.span,
                            format!("`{}` is imported twice", ident.name),
                        )
                        .secondary(first.span, "first imported here")
                        .help("rename or remove one of them"),
                    ));
                }
                named.push(ident);
            }
        }
    }

    fn lookup_import(&mut self, lex: LexId, name: Name, span: Span) -> Res<Option<Found<'a>>> {
        let imports = self.imports_of(lex);
        for import in imports.iter() {
            let path: (&'a [ast::Ident], Option<ast::Ident>) = match &import.kind {
                ImportKind::Qualified(path)
                    if path.parts.last().is_some_and(|p| p.name == name) =>
                {
                    (&path.parts, None)
                }
                ImportKind::Renamed(alias, path) if alias.name == name => (&path.parts, None),
                ImportKind::Group(path, names) => match names.iter().find(|n| n.name == name) {
                    Some(ident) => (&path.parts, Some(*ident)),
                    None => continue,
                },
                _ => continue,
            };
            return self.import_path(path.0, path.1.as_ref()).map(Some);
        }
        let mut only = None;
        for import in imports.iter() {
            let ImportKind::Wildcard(path) = &import.kind else {
                continue;
            };
            let Found::Class(package) = self.import_path(&path.parts, None)? else {
                continue;
            };
            if self.class_kind(&package)? != ast::Restriction::Package {
                return Err(Box::new(
                    Diagnostic::error(
                        "unknown-class",
                        path.span,
                        format!(
                            "the elements of `{}` cannot be imported: it is no package",
                            package.name
                        ),
                    )
                    .help("name what is to be imported, or make it a package"),
                ));
            }
            let inst = self.class_inst(&package)?;
            self.elaborate(inst)?;
            if self.insts[inst]
                .elements
                .get(&name)
                .is_some_and(|e| !e.protected)
            {
                match only {
                    Some(other) if other != inst => {
                        return Err(Box::new(
                            Diagnostic::error(
                                "duplicate-name",
                                span,
                                format!("`{name}` is imported from two packages"),
                            )
                            .note(format!(
                                "`{}` and `{}`",
                                self.insts[other].path, self.insts[inst].path
                            ))
                            .help("import the one that is meant by its name"),
                        ));
                    }
                    _ => only = Some(inst),
                }
            }
        }
        match only {
            Some(inst) => self.found(inst, name, span).map(Some),
            None => Ok(None),
        }
    }

    fn import_path(&mut self, parts: &[ast::Ident], last: Option<&ast::Ident>) -> Res<Found<'a>> {
        let first = &parts[0];
        let Some(mut found) = self.lookup_top(first.name, first.span)? else {
            return Err(self.unknown_class(first, &self.tree.top_level_names()));
        };
        let mut container = None;
        for part in parts[1..].iter().chain(last) {
            let Found::Class(class) = &found else {
                return Err(not_a_class(part));
            };
            let class = class.clone();
            container = Some(class.clone());
            found = match self.class_member(&class, part.name, part.span)? {
                Some(next) => {
                    self.refuse_protected(&class, part)?;
                    next
                }
                None => match self.literal_of(&class, part.name)? {
                    Some(literal) => literal,
                    None => return Err(self.unknown_member(&class, part)),
                },
            };
        }
        // A package, or an element of one (specification 13.2.1).
        if let (Some(container), Found::Class(class)) = (container, &found)
            && self.class_kind(&container)? != ast::Restriction::Package
            // Operators import the record they belong to, wherever it stands.
            && !matches!(
                self.class_kind(class)?,
                ast::Restriction::Package | ast::Restriction::OperatorRecord
            )
        {
            let ident = last.unwrap_or(&parts[parts.len() - 1]);
            return Err(Box::new(
                Diagnostic::error(
                    "unknown-class",
                    ident.span,
                    format!(
                        "`{}` cannot be imported: `{}` is no package",
                        ident.name, container.name
                    ),
                )
                .help("import packages, or elements of packages"),
            ));
        }
        Ok(found)
    }

    /// A literal of an enumeration. Texts import them by name (`import Package.Choice.First`).
    fn literal_of(&mut self, class: &ClassRef<'a>, name: Name) -> Res<Option<Found<'a>>> {
        let inst = self.class_inst(class)?;
        self.elaborate(inst)?;
        let Some(BuiltinClass::Enum(id)) = self.insts[inst].builtin else {
            return Ok(None);
        };
        let at = self.ir.enums[id].literals.iter().position(|l| *l == name);
        Ok(at.map(|k| {
            let literal = Expr::Enum(id, k as u32 + 1);
            let literal = self.ir.add_scalar(literal, Base::Enum(id));
            // A name with a value and without a place, as that of an unrolled iterator.
            Found::Iterator(IteratorValue::Constant(literal))
        }))
    }

    /// Protected elements cannot be reached with a dot (specification 4.1).
    fn refuse_protected(&mut self, class: &ClassRef<'a>, part: &ast::Ident) -> Res<()> {
        let inst = self.class_inst(class)?;
        let element = self.insts[inst].elements.get(&part.name);
        if element.is_some_and(|e| e.protected) {
            return Err(protected_access(part, class.name));
        }
        Ok(())
    }

    /// What an element of `owner` is, with redeclarations applied.
    pub fn found(&mut self, owner: InstId, name: Name, span: Span) -> Res<Found<'a>> {
        let element = &self.insts[owner].elements[&name];
        match element.kind {
            ElementKind::Component(_) => {
                if let Some(local) = self.function_locals.get(&owner).and_then(|l| l.get(&name)) {
                    return Ok(Found::Local(*local));
                }
                Ok(Found::Component { owner, name })
            }
            ElementKind::Class(_) => Ok(Found::Class(self.class_element(owner, name, span))),
        }
    }

    /// The class that a class element of `owner` stands for.
    fn class_element(&mut self, owner: InstId, name: Name, span: Span) -> ClassRef<'a> {
        if self.insts[owner].elements[&name].outer_class
            && let Some(around) = self.inner_class(owner, name)
        {
            return self.class_element(around, name, span);
        }
        let effective = self.effective(owner, name);
        let ElementKind::Class(source) = effective.element.kind else {
            unreachable!("a class element")
        };
        ClassRef {
            source,
            enclosing: effective.element.lex,
            layers: effective.layers.into(),
            found_in: Some((owner, name)),
            name: self.qualified(owner, name),
            span: Some(span),
        }
    }

    /// The instance around `owner` that declares the `inner` class of this name (specification 5.4).
    fn inner_class(&mut self, owner: InstId, name: Name) -> Option<InstId> {
        let mut at = self.instance_around(owner);
        while let Some(up) = at {
            self.elaborate(up).ok()?;
            if (self.insts[up].elements.get(&name)).is_some_and(|e| e.inner_class) {
                return Some(up);
            }
            at = self.instance_around(up);
        }
        None
    }

    /// What an instance is a part of: for a component its parent, for a class what it was found in.
    pub(crate) fn instance_around(&self, inst: InstId) -> Option<InstId> {
        let node = &self.insts[inst];
        node.parent.or(node.class.found_in.map(|(owner, _)| owner))
    }

    fn qualified(&self, owner: InstId, name: Name) -> Name {
        let path = self.insts[owner].path.as_str();
        if path.is_empty() {
            name
        } else {
            Name::new(&format!("{path}.{name}"))
        }
    }

    /// Of two redeclarations of an element: they are of a class, or give a component one and the same type.
    fn is_same_again(
        &mut self,
        lex: LexId,
        first: &ast::Argument,
        other: LexId,
        second: &ast::Argument,
    ) -> bool {
        match (&first.kind, &second.kind) {
            (ast::ArgumentKind::Component(a), ast::ArgumentKind::Component(b)) => {
                // A predefined type says nothing but its value, which then changes.
                let is_predefined =
                    |class: &ClassRef<'a>| matches!(class.source, ClassSource::Builtin(_));
                match self.find_class(lex, &a.ty) {
                    Ok(class) if !is_predefined(&class) => {
                        (self.same_class(lex, &a.ty, other, &b.ty)).unwrap_or(false)
                    }
                    _ => false,
                }
            }
            _ => true,
        }
    }

    /// The element with redeclarations applied, and its modifiers.
    ///
    /// Outermost first: modifiers from outside and of extends clauses, at the place of the redeclaration its own and those of
    /// its `constrainedby`; then what the replaced declaration passes on (specification 7.3.2): the modifiers of its
    /// `constrainedby`, or its own if it has none.
    pub fn effective(&mut self, owner: InstId, name: Name) -> Effective<'a> {
        let mut element = self.insts[owner].elements[&name].clone();
        let outer = descend_all(&self.insts[owner].layers, name);
        let n_from_outside = outer.len();
        let inner = descend_all(&element.chain, name);
        let passed_on = self.passed_on(&element);
        let mut layers = Vec::new();
        let mut n_outer = 0;
        let mut replaced: Option<&ast::Argument> = None;
        for (i, layer) in outer.into_iter().chain(inner).enumerate() {
            let LayerKind::Redeclare(arg) = layer.kind else {
                layers.push(layer);
                if i < n_from_outside {
                    n_outer = layers.len();
                }
                continue;
            };
            let own = |this: &Self, modification: &'a ast::Modification| {
                let kind = LayerKind::Modification(modification);
                Layer {
                    subs: layer.subs.clone(),
                    each: layer.each,
                    ..this.layer(kind, layer.lex, modification.span)
                }
            };
            if let Some(first) = replaced {
                // The same text may come twice, as modifier of a class and as modifier of what the class stands for.
                if std::ptr::eq(first, arg) {
                    continue;
                }
                // What was redeclared without `replaceable` inside cannot be redeclared again (specification 7.3). Libraries rely on
                // tools that let it pass for classes, and for components that get the same type again.
                if !is_replaceable(arg) && !layer.by_constraint {
                    let report = match self.is_same_again(element.lex, first, layer.lex, arg) {
                        true => Diagnostic::warning,
                        false => Diagnostic::error,
                    };
                    self.report(Box::new(
                        report(
                            "redeclare-nonreplaceable",
                            layer.span,
                            format!("`{name}` is redeclared here without `replaceable`, and again from outside"),
                        )
                        .help("write `redeclare replaceable`, or remove the outer redeclaration"),
                    ));
                }
            } else if let Some(what) = other_kind(&element.kind, arg) {
                let declared = element.span;
                self.report(Box::new(
                    Diagnostic::error("type-mismatch", layer.span, format!("`{name}` is {what}"))
                        .secondary(declared, "declared here")
                        .help("redeclare a class as a class and a component as a component"),
                ));
                continue;
            } else {
                self.check_replaced(&element, name, arg, layer.span);
                match &arg.kind {
                    ast::ArgumentKind::Class { def, .. } => {
                        element.kind = ElementKind::Class(ClassSource::Ast(def));
                        element.span = arg.span;
                        if let Some(modification) = short_modification(def)
                            && (stated_constraint(arg).is_some() || !passed_on.is_empty())
                        {
                            layers.push(own(self, modification));
                        }
                    }
                    ast::ArgumentKind::Component(decl) => {
                        element.original = element.first_declaration();
                        element.kind = ElementKind::Component(decl);
                        element.span = arg.span;
                        if let Some(modification) = &decl.modification {
                            layers.push(own(self, modification));
                        }
                    }
                    _ => {}
                }
                element.lex = layer.lex;
                replaced = Some(arg);
            }
            if let Some(modification) = stated_constraint(arg).and_then(|c| c.modification.as_ref())
            {
                layers.push(Layer {
                    by_constraint: true,
                    ..own(self, modification)
                });
            }
            if i < n_from_outside {
                n_outer = layers.len();
            }
        }
        if replaced.is_none() {
            let own = match &element.kind {
                ElementKind::Component(decl) => decl.modification.as_ref(),
                ElementKind::Class(source) if !passed_on.is_empty() => {
                    let source = source.clone();
                    self.source_def(&source).and_then(short_modification)
                }
                ElementKind::Class(_) => None,
            };
            if let Some(modification) = own {
                layers.push(self.layer(
                    LayerKind::Modification(modification),
                    element.lex,
                    modification.span,
                ));
            }
        }
        let is_default = |layer: &Layer<'a>| match (&element.kind, layer.kind) {
            (ElementKind::Component(decl), LayerKind::Modification(m)) => decl
                .modification
                .as_ref()
                .is_some_and(|own| std::ptr::eq(own, m)),
            _ => false,
        };
        layers.extend(passed_on.into_iter().filter(|l| !is_default(l)));
        Effective {
            element,
            layers,
            n_outer,
        }
    }

    /// The element may be redeclared.
    fn check_replaced(
        &mut self,
        element: &Element<'a>,
        name: Name,
        arg: &ast::Argument,
        span: Span,
    ) {
        if let Err(e) = check_redeclared(element, name, span) {
            self.report(e);
        }
        // Tools differ, and libraries rely on those that let it pass.
        if !element.replaceable && !changes_sizes_only(element, arg) {
            self.report(Box::new(
                Diagnostic::warning(
                    "redeclare-nonreplaceable",
                    span,
                    format!("`{name}` is redeclared but not declared replaceable"),
                )
                .secondary(element.span, "declared here")
                .help("write `replaceable` before the declaration, or remove `redeclare`"),
            ));
        }
    }

    /// The modifiers that an element passes on to its redeclarations: of its `constrainedby`, or for a component without one
    /// those of its declaration; then what it was passed itself.
    pub(crate) fn passed_on(&self, element: &Element<'a>) -> Vec<Layer<'a>> {
        let modification = match (&element.kind, element.constraint) {
            (_, Some(constraint)) => constraint.modification.as_ref(),
            (ElementKind::Component(decl), None) => decl.modification.as_ref(),
            (ElementKind::Class(_), None) => None,
        };
        let own = modification.map(|modification| Layer {
            by_constraint: element.constraint.is_some(),
            ..self.layer(
                LayerKind::Modification(modification),
                element.lex,
                modification.span,
            )
        });
        own.into_iter()
            .chain(element.passed_on.iter().cloned())
            .collect()
    }

    /// A class by its path.
    pub fn find_class(&mut self, lex: LexId, path: &ast::Path) -> Res<ClassRef<'a>> {
        let first = &path.parts[0];
        let found = if path.global {
            self.lookup_top(first.name, first.span)?
        } else {
            self.lookup_from(lex, first.name, first.span)?
        };
        let Some(found) = found else {
            let candidates = self.visible_names(lex);
            return Err(self.unknown_class(first, &candidates));
        };
        self.find_class_rest(found, &path.parts)
    }

    fn find_class_rest(&mut self, mut found: Found<'a>, parts: &[ast::Ident]) -> Res<ClassRef<'a>> {
        for part in &parts[1..] {
            found = match found {
                Found::Class(class) => match self.class_member(&class, part.name, part.span)? {
                    Some(next) => {
                        self.refuse_protected(&class, part)?;
                        self.check_looked_into(&class, part)?;
                        next
                    }
                    None => return Err(self.unknown_member(&class, part)),
                },
                _ => return Err(not_a_class(part)),
            };
        }
        match found {
            Found::Class(class) => Ok(class),
            _ => Err(not_a_class(parts.last().expect("a path has parts"))),
        }
    }

    /// Only packages, and what has the form of one, are looked into, except for encapsulated elements, and partial classes not at
    /// all (specification 5.3.2).
    pub(crate) fn check_looked_into(
        &mut self,
        class: &ClassRef<'a>,
        ident: &ast::Ident,
    ) -> Res<()> {
        let inst = self.class_inst(class)?;
        // That there is no such name is said by the look-up itself.
        let Some(element) = self.insts[inst].elements.get(&ident.name) else {
            return Ok(());
        };
        let element = element.kind.clone();
        let def = self.insts[inst].def;
        let kind = self.insts[inst].restriction;
        let is_package = matches!(kind, ast::Restriction::Package | ast::Restriction::Operator)
            || self.insts[inst].elements.values().all(|e| match e.kind {
                ElementKind::Class(_) => true,
                ElementKind::Component(d) => {
                    d.type_prefixes.variability == Some(ast::Variability::Constant)
                }
            });
        if !is_package {
            let encapsulated = match &element {
                ElementKind::Class(source) => {
                    self.source_def(source).is_some_and(|d| d.encapsulated)
                }
                ElementKind::Component(_) => false,
            };
            // The text of a class that names its own classes in full: the simple name would do.
            let is_own = matches!(element, ElementKind::Class(_))
                && def.is_some_and(|def| is_in(ident.span, def.span));
            let report = match is_own {
                true => Diagnostic::warning,
                false => Diagnostic::error,
            };
            let diagnostic = || {
                report(
                    "class-restriction",
                    ident.span,
                    format!(
                        "`{}` cannot be used from outside: `{}` is no package",
                        ident.name, class.name
                    ),
                )
                .help("make the class around it a package, or the class itself `encapsulated`")
            };
            if !encapsulated && !is_own {
                return Err(Box::new(diagnostic()));
            }
            if !encapsulated {
                self.report(Box::new(diagnostic()));
            }
        }
        if let Some(def) = def
            && def.partial
            // Libraries extend classes that they find in partial packages.
            && matches!(element, ElementKind::Component(_))
        {
            return Err(Box::new(
                Diagnostic::error(
                    "partial-class",
                    ident.span,
                    format!(
                        "`{}` is partial: its values cannot be used before it is completed",
                        class.name
                    ),
                )
                .secondary(def.name.span, "declared partial here")
                .help("use a class that extends it, or redeclare it"),
            ));
        }
        Ok(())
    }

    /// Looks for `name` inside a class.
    pub fn class_member(
        &mut self,
        class: &ClassRef<'a>,
        name: Name,
        span: Span,
    ) -> Res<Option<Found<'a>>> {
        let inst = self.class_inst(class)?;
        self.inst_member(inst, name, span)
    }

    /// Looks for `name` among the elements of an instance.
    pub fn inst_member(&mut self, inst: InstId, name: Name, span: Span) -> Res<Option<Found<'a>>> {
        self.elaborate(inst)?;
        if self.insts[inst].elements.contains_key(&name) {
            return self.found(inst, name, span).map(Some);
        }
        Ok(None)
    }

    /// The class as a scope: made once for each place it is found in.
    pub fn class_inst(&mut self, class: &ClassRef<'a>) -> Res<InstId> {
        if let Some((owner, name)) = class.found_in
            && let Some(Child::Class(inst)) = self.insts[owner].children.get(&name)
        {
            return Ok(*inst);
        }
        let def = self.source_def(&class.source);
        let purpose = match def.map(|d| d.restriction) {
            Some(ast::Restriction::Function | ast::Restriction::OperatorFunction) => {
                Purpose::Function
            }
            _ => Purpose::Package,
        };
        let inst = self.new_inst(NewInst {
            purpose,
            name: class.name,
            path: class.name,
            parent: None,
            class: class.clone(),
            layers: class.layers.clone(),
            n_outer_layers: 0,
            depth: 0,
        });
        if let Some((owner, name)) = class.found_in {
            self.insts[owner].children.insert(name, Child::Class(inst));
        }
        Ok(inst)
    }

    /// The restriction of a class (of the text itself).
    pub fn class_kind(&mut self, class: &ClassRef<'a>) -> Res<ast::Restriction> {
        match self.source_def(&class.source) {
            Some(def) => Ok(def.restriction),
            None => Ok(ast::Restriction::Type),
        }
    }

    pub fn builtin_ref(&self, class: BuiltinClass, name: Name) -> ClassRef<'a> {
        let enclosing = self.insts[self.root].lex;
        ClassRef {
            source: ClassSource::Builtin(class),
            enclosing,
            layers: Rc::from([]),
            found_in: Some((self.root, name)),
            name,
            span: None,
        }
    }

    /// Names visible from a scope, nearest first, for suggestions.
    pub fn visible_names(&self, lex: LexId) -> Vec<Name> {
        let mut names = Vec::new();
        let mut at = Some(lex);
        while let Some(lex) = at {
            names.extend(self.insts[self.lexes[lex].owner].elements.keys().copied());
            at = self.lexes[lex].enclosing;
        }
        names.extend(self.tree.top_level_names());
        names
    }

    pub fn unknown_class(&self, ident: &ast::Ident, candidates: &[Name]) -> Box<Diagnostic> {
        let diagnostic = Diagnostic::error(
            "unknown-class",
            ident.span,
            format!("class `{}` is not known here", ident.name),
        );
        let predefined = ["Real", "Integer", "Boolean", "String"].map(Name::new);
        let candidates: Vec<Name> = candidates.iter().copied().chain(predefined).collect();
        let diagnostic = match suggest(ident.name, &candidates) {
            Some(name) => diagnostic.help(format!("did you mean `{name}`?")),
            None => diagnostic.help("check the spelling, add an `import`, or name the library folder with `--library` or MODELICAPATH"),
        };
        Box::new(diagnostic)
    }

    pub fn unknown_member(&mut self, class: &ClassRef<'a>, ident: &ast::Ident) -> Box<Diagnostic> {
        let candidates: Vec<Name> = match self.class_inst(class) {
            Ok(inst) => self.insts[inst].elements.keys().copied().collect(),
            Err(_) => Vec::new(),
        };
        let message = format!("`{}` has no element `{}`", class.name, ident.name);
        let diagnostic = Diagnostic::error("unknown-name", ident.span, message);
        Box::new(match suggest(ident.name, &candidates) {
            Some(name) => diagnostic.help(format!("did you mean `{name}`?")),
            None => diagnostic,
        })
    }
}

/// The `constrainedby` of a redeclaration.
pub(crate) fn stated_constraint(arg: &ast::Argument) -> Option<&ast::Constraint> {
    match &arg.kind {
        ast::ArgumentKind::Class { constraint, .. } => constraint.as_ref(),
        ast::ArgumentKind::Component(decl) => decl.constraint.as_ref(),
        _ => None,
    }
}

/// The modifiers of a class that stands for another.
fn short_modification(def: &ast::ClassDef) -> Option<&ast::Modification> {
    match &def.body {
        ast::ClassBody::Short { modification, .. } => modification.as_ref(),
        _ => None,
    }
}

/// A redeclaration with the same type that states sizes: allowed for what is not replaceable (specification 7.3.3).
fn changes_sizes_only(element: &Element<'_>, arg: &ast::Argument) -> bool {
    let names = |path: &ast::Path| path.parts.iter().map(|p| p.name).collect::<Vec<_>>();
    matches!((&element.kind, &arg.kind),
        (ElementKind::Component(old), ast::ArgumentKind::Component(new))
            if names(&old.ty) == names(&new.ty) && !old.dims.is_empty() && old.dims.len() == new.dims.len())
}

/// Whether a redeclaration may be redeclared again.
/// A redeclaration replaces a class by a class and a component by a component (specification 7.3): which rule it breaks.
fn other_kind(kind: &ElementKind<'_>, arg: &ast::Argument) -> Option<&'static str> {
    match (kind, &arg.kind) {
        (ElementKind::Class(_), ast::ArgumentKind::Component(_)) => {
            Some("a class, and is redeclared as a component")
        }
        (ElementKind::Component(_), ast::ArgumentKind::Class { .. }) => {
            Some("a component, and is redeclared as a class")
        }
        _ => None,
    }
}

fn is_replaceable(arg: &ast::Argument) -> bool {
    let inside = match &arg.kind {
        ast::ArgumentKind::Component(decl) => decl.prefixes.replaceable,
        _ => false,
    };
    arg.prefixes.replaceable || inside
}

/// The element is protected in its class.
pub(crate) fn protected_access(ident: &ast::Ident, class: Name) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(
            "protected-access",
            ident.span,
            format!("`{}` is protected in `{class}`", ident.name),
        )
        .help("use a public element, or make this one public"),
    )
}

fn not_a_class(ident: &ast::Ident) -> Box<Diagnostic> {
    Box::new(
        Diagnostic::error(
            "unknown-class",
            ident.span,
            format!("`{}` is not a class", ident.name),
        )
        .help("a type name is expected here"),
    )
}

pub fn builtin_class(name: Name) -> Option<BuiltinClass> {
    Some(match name.as_str() {
        "Real" => BuiltinClass::Real,
        "Integer" => BuiltinClass::Integer,
        "Boolean" => BuiltinClass::Boolean,
        "String" => BuiltinClass::String,
        "Clock" => BuiltinClass::Clock,
        "ExternalObject" => BuiltinClass::ExternalObject,
        "StateSelect" => BuiltinClass::Enum(STATE_SELECT),
        "AssertionLevel" => BuiltinClass::Enum(ASSERTION_LEVEL),
        _ => return None,
    })
}

/// The candidate nearest to `name` by edit distance, if near enough to be a slip.
pub fn suggest(name: Name, candidates: &[Name]) -> Option<Name> {
    let text = name.as_str();
    let allowed = (text.chars().count() / 3).max(1);
    candidates
        .iter()
        .filter(|c| **c != name)
        .map(|c| (edit_distance(text, c.as_str()), *c))
        .filter(|(d, _)| *d <= allowed)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Levenshtein distance, letters compared without case at half the cost rounded down.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substitution = diagonal + usize::from(!ca.eq_ignore_ascii_case(cb));
            diagonal = row[j + 1];
            row[j + 1] = substitution.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// A place lies in another one.
fn is_in(inner: Span, outer: Span) -> bool {
    inner.file == outer.file && inner.start >= outer.start && inner.end <= outer.end
}
