//! Names of classes in annotations' neighbourhood: bases, types of components, and their declarations, without instances.
//!
//! Comes in: the tree of classes. Goes out: nodes. Redeclarations are not followed: a picture shows the class that is declared. This is less than the lookup of the
//! compiler (`saltus-flatten`), which needs a model that is right; a picture is wanted of a text that is being written, too.

use saltus_flatten::ClassTree;
use saltus_flatten::tree::{NodeId, ROOT};
use saltus_syntax::Name;
use saltus_syntax::ast::{
    Argument, ClassBody, ClassDef, ComponentDecl, ElementKind, Equation, ImportKind, Path,
    SectionKind,
};

/// Bases of bases that are followed: more is a circle.
const DEPTH_MAX: usize = 24;

/// A base class, with the annotation of the extends clause and the modifiers there.
#[derive(Clone)]
pub(crate) struct Base<'a> {
    pub(crate) class: NodeId,
    pub(crate) annotation: &'a [Argument],
    pub(crate) modifiers: &'a [Argument],
}

/// The class of a path, seen from inside a class.
pub(crate) fn resolve(tree: &mut ClassTree<'_>, scope: NodeId, path: &Path) -> Option<NodeId> {
    resolve_at(tree, scope, path, 0)
}

fn resolve_at(
    tree: &mut ClassTree<'_>,
    scope: NodeId,
    path: &Path,
    depth: usize,
) -> Option<NodeId> {
    if depth > DEPTH_MAX {
        return None;
    }
    let (first, rest) = path.parts.split_first()?;
    let mut node = match path.global {
        true => tree.child(ROOT, first.name)?,
        false => first_part(tree, scope, first.name, depth)?,
    };
    for part in rest {
        node = member(tree, node, part.name, depth + 1)?;
    }
    Some(node)
}

fn first_part(tree: &mut ClassTree<'_>, scope: NodeId, name: Name, depth: usize) -> Option<NodeId> {
    let mut at = Some(scope);
    while let Some(node) = at {
        if node == ROOT {
            break;
        }
        let found = tree.child(node, name);
        if let Some(found) = found.or_else(|| imported(tree, node, name, depth)) {
            return Some(found);
        }
        // Inherited names; the bases themselves are looked up one level further out.
        if let Some(found) = inherited(tree, node, name, depth + 1) {
            return Some(found);
        }
        at = tree.parent(node);
    }
    tree.child(ROOT, name)
}

fn imported(tree: &mut ClassTree<'_>, node: NodeId, name: Name, depth: usize) -> Option<NodeId> {
    let def = tree.def(node)?;
    for element in elements(def) {
        let ElementKind::Import(import) = &element.kind else {
            continue;
        };
        let wanted = match &import.kind {
            ImportKind::Qualified(path) => {
                if path.parts.last()?.name != name {
                    continue;
                }
                return absolute(tree, path, None, depth);
            }
            ImportKind::Renamed(short, path) if short.name == name => {
                return absolute(tree, path, None, depth);
            }
            ImportKind::Group(path, names) if names.iter().any(|n| n.name == name) => {
                absolute(tree, path, Some(name), depth)
            }
            ImportKind::Wildcard(path) => absolute(tree, path, Some(name), depth),
            ImportKind::Renamed(..) | ImportKind::Group(..) => None,
        };
        if wanted.is_some() {
            return wanted;
        }
    }
    None
}

fn absolute(
    tree: &mut ClassTree<'_>,
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
            ROOT => tree.child(ROOT, name)?,
            node => member(tree, node, name, depth + 1)?,
        };
    }
    Some(node)
}

/// A class inside a class, inherited ones too.
fn member(tree: &mut ClassTree<'_>, node: NodeId, name: Name, depth: usize) -> Option<NodeId> {
    tree.child(node, name)
        .or_else(|| inherited(tree, node, name, depth + 1))
}

fn inherited(tree: &mut ClassTree<'_>, node: NodeId, name: Name, depth: usize) -> Option<NodeId> {
    if depth > DEPTH_MAX {
        return None;
    }
    let bases = bases_at(tree, node, depth + 1);
    (bases.iter()).find_map(|base| member(tree, base.class, name, depth + 1))
}

/// The direct bases of a class.
pub(crate) fn bases<'a>(tree: &mut ClassTree<'a>, node: NodeId) -> Vec<Base<'a>> {
    bases_at(tree, node, 0)
}

fn bases_at<'a>(tree: &mut ClassTree<'a>, node: NodeId, depth: usize) -> Vec<Base<'a>> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let Some(def) = tree.def(node) else {
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
    let around = tree.parent(node).unwrap_or(ROOT);
    let found = paths
        .into_iter()
        .filter_map(|(path, annotation, modifiers)| {
            let own = match (path.global, &path.parts[..]) {
                (false, [first, rest @ ..]) => (tree
                    .child(node, first.name)
                    .or_else(|| imported(tree, node, first.name, depth + 1)))
                .and_then(|first| {
                    (rest.iter()).try_fold(first, |at, part| member(tree, at, part.name, depth + 1))
                }),
                _ => None,
            };
            let class = own.or_else(|| resolve_at(tree, around, path, depth + 1))?;
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
pub(crate) fn components<'a>(tree: &mut ClassTree<'a>, node: NodeId) -> Vec<Declared<'a>> {
    let mut out = Vec::new();
    collect(tree, node, &[], 0, &mut out);
    out
}

fn collect<'a>(
    tree: &mut ClassTree<'a>,
    node: NodeId,
    modifiers: &[&'a [Argument]],
    depth: usize,
    out: &mut Vec<Declared<'a>>,
) {
    if depth > DEPTH_MAX {
        return;
    }
    for base in bases(tree, node) {
        let mut all = modifiers.to_vec();
        all.push(base.modifiers);
        collect(tree, base.class, &all, depth + 1, out);
    }
    let Some(def) = tree.def(node) else {
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
    tree: &mut ClassTree<'a>,
    node: NodeId,
    depth: usize,
) -> Vec<&'a Equation> {
    if depth > DEPTH_MAX {
        return Vec::new();
    }
    let mut out = Vec::new();
    for base in bases(tree, node) {
        out.extend(equations(tree, base.class, depth + 1));
    }
    if let Some(def) = tree.def(node)
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
