//! Questions about a text that need no top model: what a name at a place is, what a class contains, what type and value a component has.
//!
//! Comes in: a [`ClassTree`] and identifiers of its files ([`occurrences`]). Goes out: [`Target`]s with places. Lookup, inheritance and redeclaration are
//! those of flattening ([`crate::lookup`], [`crate::elaborate`]), so that an editor and the compiler agree. A class with errors answers with what is right in it: where
//! its elements cannot be collected, its own declarations stand for them.

mod describe;
mod occurrences;

use crate::core::*;
use crate::tree::{ClassTree, ROOT};
use rustc_hash::FxHashMap;
use saltus_syntax::ast;
use saltus_syntax::{Diagnostic, Name, Span};
use std::rc::Rc;

pub use crate::core::{ClassRef, Element, ElementKind, InstId};
pub use describe::{Described, Member, MemberKind};
pub use occurrences::{Occurrence, Role, occurrences};

/// Components in components, at most: a class may contain itself by mistake.
const DEPTH_MAX: u32 = 40;

/// What a name stands for.
#[derive(Clone)]
pub enum Target<'a> {
    Class(ClassRef<'a>),
    /// An element of an instance; a class looked into is one.
    Component(InstId, Name),
    Iterator(ast::Ident),
    /// A literal of the enumeration.
    Literal(ClassRef<'a>, Name),
    /// A predefined function, type or attribute.
    Predefined(Name),
}

/// Answers questions; keeps what it has looked up.
pub struct Queries<'a> {
    f: Flattener<'a>,
    components: FxHashMap<(InstId, Name), Option<InstId>>,
}

impl<'a> Queries<'a> {
    pub fn new(tree: ClassTree<'a>) -> Queries<'a> {
        Queries {
            f: Flattener::new(tree, FlattenOptions::default()),
            components: FxHashMap::default(),
        }
    }

    pub fn tree(&mut self) -> &mut ClassTree<'a> {
        &mut self.f.tree
    }

    /// The elements of an instance, own ones only if the inherited cannot be had.
    fn elaborate(&mut self, inst: InstId) -> Option<Box<Diagnostic>> {
        if self.f.insts[inst].progress == Progress::Done {
            return None;
        }
        self.f.insts[inst].progress = Progress::NotStarted;
        let failed = self.f.elaborate(inst).err();
        if failed.is_some() {
            self.own_elements(inst);
        }
        self.f.insts[inst].progress = Progress::Done;
        failed
    }

    fn own_elements(&mut self, inst: InstId) {
        let Some(def) = self.f.insts[inst].def else {
            return;
        };
        let lex = self.f.insts[inst].lex;
        let ast::ClassBody::Composition { parts, .. } = &def.body else {
            return;
        };
        for element in &parts.elements {
            let (name, kind) = match &element.kind {
                ast::ElementKind::Component(decl) => (decl.name.name, ElementKind::Component(decl)),
                ast::ElementKind::Class { def, .. } => {
                    let node = match self.f.insts[inst].class.source {
                        ClassSource::Node(node) => self.f.tree.child(node, def.name.name),
                        _ => None,
                    };
                    let source = node.map_or(ClassSource::Ast(def), ClassSource::Node);
                    (def.name.name, ElementKind::Class(source))
                }
                _ => continue,
            };
            let element = Element {
                kind,
                lex,
                chain: Rc::from([]),
                protected: element.visibility == ast::Visibility::Protected,
                span: element.span,
                constraint: None,
                replaceable: false,
                is_final: false,
                inner_class: false,
                outer_class: false,
                passed_on: Rc::from([]),
                original: None,
            };
            self.f.insts[inst].elements.entry(name).or_insert(element);
        }
    }

    /// The class of this name as a scope. What is wrong with its elements goes to `found`.
    pub fn scope(&mut self, names: &[Name], found: &mut Vec<Diagnostic>) -> Option<InstId> {
        let mut inst = self.f.root;
        let none = Span::new(saltus_syntax::FileId(0), 0, 0);
        for name in names {
            let class = if inst == self.f.root {
                match self.f.lookup_top(*name, none).ok()?? {
                    Found::Class(class) => class,
                    _ => return None,
                }
            } else {
                if !matches!(
                    self.f.insts[inst].elements.get(name)?.kind,
                    ElementKind::Class(_)
                ) {
                    return None;
                }
                match self.f.found(inst, *name, none).ok()? {
                    Found::Class(class) => class,
                    _ => return None,
                }
            };
            inst = self.f.class_inst(&class).ok()?;
            found.extend(self.elaborate(inst).map(|d| *d));
            found.append(&mut self.f.diagnostics);
        }
        Some(inst)
    }

    /// The scope around an identifier of a file with this within clause: the innermost class that can be found.
    pub fn scope_of(&mut self, within: &[Name], classes: &[&ast::ClassDef]) -> InstId {
        let names: Vec<Name> = (within.iter().copied())
            .chain(classes.iter().map(|class| class.name.name))
            .collect();
        let mut n = names.len();
        loop {
            if let Some(inst) = self.scope(&names[..n], &mut Vec::new()) {
                return inst;
            }
            n -= 1;
        }
    }

    /// What the identifier stands for.
    pub fn resolve(&mut self, within: &[Name], at: &Occurrence<'_, '_>) -> Option<Target<'a>> {
        let target = match at.role {
            Role::Within(path, part) => self.global(&path.parts[..=part]),
            Role::Import(path, part) => self.global(&path.parts[..=part]),
            Role::ImportedFrom(path) => {
                let target = self.global(&path.parts)?;
                self.member(&target, at.ident)
            }
            Role::Alias(path) => self.global(&path.parts),
            Role::Iterator => Some(Target::Iterator(at.ident)),
            _ => {
                let scope = self.scope_of(within, at.classes);
                self.resolve_in(scope, at)
            }
        };
        self.f.diagnostics.clear();
        target
    }

    fn resolve_in(&mut self, scope: InstId, at: &Occurrence<'_, '_>) -> Option<Target<'a>> {
        match at.role {
            Role::Class(def) => self.declared(scope, def.name),
            Role::Component(decl) => self.declared(scope, decl.name),
            Role::Literal(literal) => {
                // The enumeration is no scope of its own: its literal is found by its place.
                let inst = self.f.insts[scope]
                    .elements
                    .keys()
                    .copied()
                    .collect::<Vec<_>>();
                inst.into_iter().find_map(|name| {
                    let Some(Found::Class(class)) = self.found(scope, name) else {
                        return None;
                    };
                    let span = self.literal_span(&class, literal.name.name)?;
                    (span == literal.name.span).then_some(Target::Literal(class, literal.name.name))
                })
            }
            Role::Type(path, part) => self.path(scope, path.global, &path.parts[..=part]),
            Role::Reference(reference, part) => {
                let parts: Vec<ast::Ident> =
                    reference.parts[..=part].iter().map(|p| p.name).collect();
                if let Some(iterator) = at.iterators.iter().rev().find(|i| i.name == parts[0].name)
                    && !reference.global
                {
                    return (part == 0).then_some(Target::Iterator(*iterator));
                }
                self.path(scope, reference.global, &parts)
            }
            Role::Modifier(base, names) => {
                let mut target = self.path(scope, base.global, &base.parts)?;
                for (i, &name) in names.iter().enumerate() {
                    let span = if i + 1 == names.len() {
                        at.ident.span
                    } else {
                        base.span
                    };
                    target = self.member(&target, ast::Ident { name, span })?;
                }
                Some(target)
            }
            Role::Argument(function) => {
                let parts: Vec<ast::Ident> = function.parts.iter().map(|p| p.name).collect();
                let target = self.path(scope, function.global, &parts)?;
                self.member(&target, at.ident)
            }
            Role::Within(..)
            | Role::Import(..)
            | Role::ImportedFrom(_)
            | Role::Alias(_)
            | Role::Iterator => None,
        }
    }

    /// An element of a class by its name.
    fn declared(&mut self, scope: InstId, ident: ast::Ident) -> Option<Target<'a>> {
        if scope == self.f.root {
            return self.global(&[ident]);
        }
        self.elaborate(scope);
        self.f.insts[scope].elements.get(&ident.name)?;
        self.target_in(scope, ident.name)
    }

    fn found(&mut self, inst: InstId, name: Name) -> Option<Found<'a>> {
        let span = self.f.insts[inst].span;
        self.f.found(inst, name, span).ok()
    }

    fn target_in(&mut self, inst: InstId, name: Name) -> Option<Target<'a>> {
        match self.found(inst, name)? {
            Found::Component { owner, name } => Some(Target::Component(owner, name)),
            Found::Class(class) => Some(Target::Class(class)),
            Found::Local(_) | Found::Iterator(_) => None,
        }
    }

    /// A name from the top.
    pub fn global(&mut self, parts: &[ast::Ident]) -> Option<Target<'a>> {
        let root = self.f.root;
        self.path(root, true, parts)
    }

    /// A dotted name seen from a scope.
    pub fn path(
        &mut self,
        scope: InstId,
        global: bool,
        parts: &[ast::Ident],
    ) -> Option<Target<'a>> {
        let first = parts.first()?;
        let mut target = if global || scope == self.f.root {
            match self.f.lookup_top(first.name, first.span).ok()? {
                Some(Found::Class(class)) => Target::Class(class),
                _ => Target::Predefined(first.name),
            }
        } else {
            self.elaborate(scope);
            let lex = self.f.insts[scope].lex;
            let scope = Scope {
                lex,
                iterators: None,
            };
            match self.f.lookup(scope, first).ok()? {
                Some(Found::Component { owner, name }) => Target::Component(owner, name),
                Some(Found::Class(class)) => Target::Class(class),
                _ => Target::Predefined(first.name),
            }
        };
        for part in &parts[1..] {
            target = self.member(&target, *part)?;
        }
        if let Target::Predefined(name) = target
            && !describe::is_predefined(name)
        {
            return None;
        }
        Some(target)
    }

    /// The instance whose elements are the members of what a name stands for.
    pub fn inside(&mut self, target: &Target<'a>) -> Option<InstId> {
        match target {
            Target::Class(class) => {
                let inst = self.f.class_inst(class).ok()?;
                self.elaborate(inst);
                Some(inst)
            }
            Target::Component(owner, name) => self.component(*owner, *name),
            _ => None,
        }
    }

    fn member(&mut self, target: &Target<'a>, ident: ast::Ident) -> Option<Target<'a>> {
        let inst = self.inside(target)?;
        if self.f.insts[inst].elements.contains_key(&ident.name) {
            return self.target_in(inst, ident.name);
        }
        match self.f.insts[inst].builtin? {
            BuiltinClass::Enum(_) if matches!(target, Target::Class(_)) => {
                let class = self.enumeration(inst)?;
                self.literal_span(&class, ident.name)?;
                Some(Target::Literal(class, ident.name))
            }
            _ => describe::is_attribute(ident.name).then_some(Target::Predefined(ident.name)),
        }
    }

    /// An element of an instance by its name.
    pub fn member_named(&mut self, inst: InstId, name: &str) -> Option<Target<'a>> {
        let name = Name::new(name);
        self.elaborate(inst);
        self.f.insts[inst].elements.get(&name)?;
        self.target_in(inst, name)
    }

    /// The instance is of a predefined type, or of one derived from it.
    pub fn is_predefined_type(&self, inst: InstId) -> bool {
        self.f.insts[inst].builtin.is_some()
    }

    /// The class that lists the literals of an enumeration.
    fn enumeration(&mut self, inst: InstId) -> Option<ClassRef<'a>> {
        let mut class = self.f.insts[inst].class.clone();
        for _ in 0..DEPTH_MAX {
            let def = self.f.source_def(&class.source)?;
            match &def.body {
                ast::ClassBody::Short { base, .. } => {
                    class = self.f.find_class(class.enclosing, base).ok()?;
                }
                _ => return Some(class),
            }
        }
        None
    }

    fn literals(&mut self, class: &ClassRef<'a>) -> &'a [ast::EnumLiteral] {
        match self.f.source_def(&class.source).map(|def| &def.body) {
            Some(ast::ClassBody::Enumeration(Some(literals))) => literals,
            _ => &[],
        }
    }

    fn literal_span(&mut self, class: &ClassRef<'a>, name: Name) -> Option<Span> {
        let literals = self.literals(class);
        literals
            .iter()
            .find(|l| l.name.name == name)
            .map(|l| l.name.span)
    }

    /// The component as an instance: its class with all modifiers.
    fn component(&mut self, owner: InstId, name: Name) -> Option<InstId> {
        if let Some(known) = self.components.get(&(owner, name)) {
            return *known;
        }
        self.components.insert((owner, name), None);
        let made = self.make_component(owner, name);
        self.components.insert((owner, name), made);
        made
    }

    fn make_component(&mut self, owner: InstId, name: Name) -> Option<InstId> {
        let depth = self.f.insts[owner].depth + 1;
        if depth > DEPTH_MAX {
            return None;
        }
        let effective = self.f.effective(owner, name);
        let ElementKind::Component(decl) = effective.element.kind else {
            return None;
        };
        let class = self.f.find_class(effective.element.lex, &decl.ty).ok()?;
        let mut layers = effective.layers;
        layers.extend(class.layers.iter().cloned());
        let inst = self.f.new_inst(NewInst {
            purpose: Purpose::Component,
            name,
            path: name,
            parent: Some(owner),
            class,
            layers: layers.into(),
            n_outer_layers: effective.n_outer,
            depth,
        });
        self.elaborate(inst);
        Some(inst)
    }

    /// Top-level names that are known, and those of libraries that are installed.
    pub fn top_level(&self) -> Vec<Name> {
        let mut names = self.f.tree.top_level_names();
        names.extend(self.f.tree.installed_names());
        names.sort_by_key(|name| name.as_str());
        names.dedup();
        names
    }

    /// The root of all names.
    pub fn root(&self) -> InstId {
        self.f.root
    }

    /// Classes directly inside the one of this name, without what is inherited: for trees of classes.
    pub fn children(&mut self, class: &str) -> Vec<Name> {
        let mut node = ROOT;
        for part in class.split('.').filter(|part| !part.is_empty()) {
            match self.f.tree.child(node, Name::new(part)) {
                Some(child) => node = child,
                None => return Vec::new(),
            }
        }
        self.f
            .tree
            .children(node)
            .into_iter()
            .map(|(name, _)| name)
            .collect()
    }
}
