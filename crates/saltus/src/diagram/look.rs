//! Names of classes in annotations' neighbourhood: bases, types of components, and their declarations, without instances.
//!
//! Comes in: the tree of classes. Goes out: nodes. Redeclarations are not followed: a picture shows the class that is declared. This is less than the lookup of the
//! compiler (`saltus-flatten`), which needs a model that is right; a picture is wanted of a text that is being written, too.

use rustc_hash::FxHashMap;
use saltus_flatten::ClassTree;
use saltus_flatten::tree::{NodeId, ROOT};
use saltus_syntax::Name;
use saltus_syntax::ast::{
    Argument, ClassBody, ClassDef, ComponentDecl, ElementKind, Equation, ImportKind, Path,
    SectionKind,
};
use std::rc::Rc;

/// Bases of bases that are followed: more is a circle.
const DEPTH_MAX: usize = 24;

/// A base class, with the annotation of the extends clause and the modifiers there.
#[derive(Clone)]
pub(crate) struct Base<'a> {
    pub(crate) class: NodeId,
    pub(crate) annotation: &'a [Argument],
    pub(crate) modifiers: &'a [Argument],
}

/// The tree of classes, with what was found out about it: names are looked up in the bases of bases again and again.
pub(crate) struct Look<'t, 'a> {
    pub(crate) tree: &'t mut ClassTree<'a>,
    /// Empty while they are looked for: a class is no base of itself.
    bases: FxHashMap<NodeId, Rc<[Base<'a>]>>,
}

impl<'t, 'a> Look<'t, 'a> {
    pub(crate) fn new(tree: &'t mut ClassTree<'a>) -> Self {
        Look {
            tree,
            bases: FxHashMap::default(),
        }
    }
}

/// The class of a path, seen from inside a class.
pub(crate) fn resolve(look: &mut Look<'_, '_>, scope: NodeId, path: &Path) -> Option<NodeId> {
    resolve_at(look, scope, path, 0)
}

fn resolve_at(look: &mut Look<'_, '_>, scope: NodeId, path: &Path, depth: usize) -> Option<NodeId> {
    if depth > DEPTH_MAX {
        return None;
    }
    let (first, rest) = path.parts.split_first()?;
    let mut node = match path.global {
        true => look.tree.child(ROOT, first.name)?,
        false => first_part(look, scope, first.name, depth)?,
    };
    for part in rest {
        node = member(look, node, part.name, depth + 1)?;
    }
    Some(node)
}

fn first_part(look: &mut Look<'_, '_>, scope: NodeId, name: Name, depth: usize) -> Option<NodeId> {
    let mut at = Some(scope);
    while let Some(node) = at {
        if node == ROOT {
            break;
        }
        let found = look.tree.child(node, name);
        if let Some(found) = found.or_else(|| imported(look, node, name, depth)) {
            return Some(found);
        }
        // Inherited names; the bases themselves are looked up one level further out.
        if let Some(found) = inherited(look, node, name, depth + 1) {
            return Some(found);
        }
        at = look.tree.parent(node);
    }
    look.tree.child(ROOT, name)
}

fn imported(look: &mut Look<'_, '_>, node: NodeId, name: Name, depth: usize) -> Option<NodeId> {
    let def = look.tree.def(node)?;
    for element in elements(def) {
        let ElementKind::Import(import) = &element.kind else {
            continue;
        };
        let wanted = match &import.kind {
            ImportKind::Qualified(path) => {
                if path.parts.last()?.name != name {
                    continue;
                }
                return absolute(look, path, None, depth);
            }
            ImportKind::Renamed(short, path) if short.name == name => {
                return absolute(look, path, None, depth);
            }
            ImportKind::Group(path, names) if names.iter().any(|n| n.name == name) => {
                absolute(look, path, Some(name), depth)
            }
            ImportKind::Wildcard(path) => absolute(look, path, Some(name), depth),
            ImportKind::Renamed(..) | ImportKind::Group(..) => None,
        };
        if wanted.is_some() {
            return wanted;
        }
    }
    None
}

fn absolute(
    look: &mut Look<'_, '_>,
    path: &Path,
    last: Option<Name>,
    depth: usize,
) -> Option<NodeId> {
    let mut node = ROOT;
    let names: Vec<Name> = path
        .parts
        .iter()
        .map(|part| part.name)
        .chain(last)
        .collect();
    for name in names {
        node = match node {
            ROOT => look.tree.child(ROOT, name)?,
            node => member(look, node, name, depth + 1)?,
        };
    }
    Some(node)
}

/// A class inside a class, inherited ones too.
fn member(look: &mut Look<'_, '_>, node: NodeId, name: Name, depth: usize) -> Option<NodeId> {
    look.tree
        .child(node, name)
        .or_else(|| inherited(look, node, name, depth + 1))
}

fn inherited(look: &mut Look<'_, '_>, node: NodeId, name: Name, depth: usize) -> Option<NodeId> {
    if depth > DEPTH_MAX {
        return None;
    }
    let bases = bases_at(look, node, depth + 1);
    (bases.iter()).find_map(|base| member(look, base.class, name, depth + 1))
}

/// The direct bases of a class.
pub(crate) fn bases<'a>(look: &mut Look<'_, 'a>, node: NodeId) -> Rc<[Base<'a>]> {
    bases_at(look, node, 0)
}

fn bases_at<'a>(look: &mut Look<'_, 'a>, node: NodeId, depth: usize) -> Rc<[Base<'a>]> {
    if let Some(known) = look.bases.get(&node) {
        return known.clone();
    }
    look.bases.insert(node, Rc::new([]));
    let found: Rc<[Base<'a>]> = find_bases(look, node, depth).into();
    look.bases.insert(node, found.clone());
    found
}

fn find_bases<'a>(look: &mut Look<'_, 'a>, node: NodeId, depth: usize) -> Vec<Base<'a>> {
    let Some(def) = look.tree.def(node) else {
        return Vec::new();
    };
    let mut paths: Vec<(&'a Path, &'a [Argument], &'a [Argument])> = Vec::new();
    if let ClassBody::Short {
        base, modification, ..
    } = &def.body
    {
        let modifiers = modification.as_ref().map_or(&[][..], |m| &m.args[..]);
        paths.push((base, &[], modifiers));
    }
    for element in elements(def) {
        if let ElementKind::Extends(extends) = &element.kind {
            let annotation = extends.annotation.as_ref().map_or(&[][..], |a| &a.args[..]);
            let modifiers = (extends.modification.as_ref()).map_or(&[][..], |m| &m.args[..]);
            paths.push((&extends.base, annotation, modifiers));
        }
    }
    // Names of bases are not looked up among what the bases give.
    let around = look.tree.parent(node).unwrap_or(ROOT);
    let found = paths
        .into_iter()
        .filter_map(|(path, annotation, modifiers)| {
            let own = match (path.global, &path.parts[..]) {
                (false, [first, rest @ ..]) => (look
                    .tree
                    .child(node, first.name)
                    .or_else(|| imported(look, node, first.name, depth + 1)))
                .and_then(|first| {
                    (rest.iter()).try_fold(first, |at, part| member(look, at, part.name, depth + 1))
                }),
                _ => None,
            };
            let class = own.or_else(|| resolve_at(look, around, path, depth + 1))?;
            (class != node).then_some(Base {
                class,
                annotation,
                modifiers,
            })
        });
    found.collect()
}

pub(crate) fn elements(def: &ClassDef) -> &[saltus_syntax::ast::Element] {
    match &def.body {
        ClassBody::Composition { parts, .. } => &parts.elements,
        _ => &[],
    }
}

/// A component, the class in which it is declared, and the modifiers that extends clauses give.
#[derive(Clone)]
pub(crate) struct Declared<'a> {
    pub(crate) decl: &'a ComponentDecl,
    pub(crate) owner: NodeId,
    pub(crate) is_public: bool,
    /// Outermost first.
    pub(crate) modifiers: Vec<&'a [Argument]>,
}

/// The components of a class, inherited ones first.
pub(crate) fn components<'a>(look: &mut Look<'_, 'a>, node: NodeId) -> Vec<Declared<'a>> {
    let mut out = Vec::new();
    collect(look, node, &[], 0, &mut out);
    out
}

fn collect<'a>(
    look: &mut Look<'_, 'a>,
    node: NodeId,
    modifiers: &[&'a [Argument]],
    depth: usize,
    out: &mut Vec<Declared<'a>>,
) {
    if depth > DEPTH_MAX {
        return;
    }
    for base in bases(look, node).iter() {
        let mut all = modifiers.to_vec();
        all.push(base.modifiers);
        collect(look, base.class, &all, depth + 1, out);
    }
    let Some(def) = look.tree.def(node) else {
        return;
    };
    for element in elements(def) {
        if let ElementKind::Component(decl) = &element.kind {
            // A redeclaration takes the place of the inherited one.
            out.retain(|known: &Declared<'_>| known.decl.name.name != decl.name.name);
            out.push(Declared {
                decl,
                owner: node,
                is_public: element.visibility == saltus_syntax::ast::Visibility::Public,
                modifiers: modifiers.to_vec(),
            });
        }
    }
}

/// The equations of a class and its bases, as far as they stand in no other equation.
pub(crate) fn equations<'a>(
    look: &mut Look<'_, 'a>,
    node: NodeId,
    depth: usize,
) -> Vec<&'a Equation> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let mut out = Vec::new();
    for base in bases(look, node).iter() {
        out.extend(equations(look, base.class, depth + 1));
    }
    if let Some(def) = look.tree.def(node)
        && let ClassBody::Composition { parts, .. } = &def.body
    {
        for section in &parts.sections {
            if let SectionKind::Equations(list) = &section.kind {
                out.extend(list);
            }
        }
    }
    out
}
