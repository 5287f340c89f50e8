//! What is to be said of a name: its declaration, its type with what modifiers make of it, its members.

use super::{Queries, Target};
use crate::core::*;
use crate::elaborate::descend_all;
use saltus_syntax::ast;
use saltus_syntax::{Name, Span};
use std::sync::Arc;

/// A name with its declaration.
#[derive(Clone, Debug, Default)]
pub struct Described {
    /// The name in its declaration; `None` for what is predefined.
    pub place: Option<Span>,
    /// The whole declaration.
    pub whole: Option<Span>,
    /// As in a declaration, with the full name of the type.
    pub signature: String,
    /// The text of the value after all modifiers.
    pub value: Option<String>,
    pub unit: Option<String>,
    pub description: Option<Arc<str>>,
    /// Text of the annotation `Documentation(info)`.
    pub documentation: Option<Arc<str>>,
    /// Full name of the class, for components of their type.
    pub class: Option<Name>,
    pub kind: MemberKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemberKind {
    #[default]
    Variable,
    Parameter,
    Constant,
    Connector,
    /// A component of a model or block.
    Component,
    Package,
    Function,
    Type,
    Enumeration,
    Literal,
    Record,
    Model,
    Iterator,
    Predefined,
}

/// An element as it is offered for completion.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: Name,
    pub kind: MemberKind,
    /// The type, as written; the kind of a class.
    pub detail: String,
    pub description: Option<Arc<str>>,
    pub protected: bool,
    pub is_input: bool,
    pub is_output: bool,
    pub partial: bool,
}

const ATTRIBUTES: &[&str] = &[
    "start",
    "fixed",
    "unit",
    "displayUnit",
    "quantity",
    "min",
    "max",
    "nominal",
    "stateSelect",
    "unbounded",
];

/// Functions and types of the language.
const PREDEFINED: &[&str] = &[
    "Real",
    "Integer",
    "Boolean",
    "String",
    "Clock",
    "ExternalObject",
    "StateSelect",
    "AssertionLevel",
    "time",
    "der",
    "pre",
    "edge",
    "change",
    "initial",
    "terminal",
    "sample",
    "reinit",
    "assert",
    "terminate",
    "smooth",
    "noEvent",
    "delay",
    "cardinality",
    "homotopy",
    "semiLinear",
    "inStream",
    "actualStream",
    "spatialDistribution",
    "getInstanceName",
    "Connections",
    "abs",
    "sign",
    "sqrt",
    "div",
    "mod",
    "rem",
    "ceil",
    "floor",
    "integer",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "log10",
    "min",
    "max",
    "sum",
    "product",
    "size",
    "ndims",
    "zeros",
    "ones",
    "fill",
    "identity",
    "diagonal",
    "linspace",
    "transpose",
    "outerProduct",
    "symmetric",
    "cross",
    "skew",
    "scalar",
    "vector",
    "matrix",
    "cat",
    "array",
    "promote",
    "end",
    "previous",
    "hold",
    "subSample",
    "superSample",
    "shiftSample",
    "backSample",
    "noClock",
    "interval",
    "firstTick",
];

pub(super) fn is_attribute(name: Name) -> bool {
    ATTRIBUTES.contains(&name.as_str())
}

pub(super) fn is_predefined(name: Name) -> bool {
    PREDEFINED.contains(&name.as_str()) || is_attribute(name)
}

impl<'a> Queries<'a> {
    /// Names of the language: functions and types, and the attributes of predefined types.
    pub fn predefined() -> (&'static [&'static str], &'static [&'static str]) {
        (PREDEFINED, ATTRIBUTES)
    }

    /// What is known of a name.
    pub fn describe(&mut self, target: &Target<'a>) -> Described {
        match target {
            Target::Class(class) => self.describe_class(class),
            Target::Component(owner, name) => self.describe_component(*owner, *name),
            Target::Iterator(ident) => Described {
                place: Some(ident.span),
                whole: Some(ident.span),
                signature: format!("for {}", ident.name),
                kind: MemberKind::Iterator,
                ..Described::default()
            },
            Target::Literal(class, name) => {
                let literal = self.literals(class).iter().find(|l| l.name.name == *name);
                Described {
                    place: literal.map(|l| l.name.span),
                    whole: literal.map(|l| l.name.span),
                    signature: format!("{}.{name}", class.name),
                    description: literal.and_then(|l| l.description.clone()),
                    class: Some(class.name),
                    kind: MemberKind::Literal,
                    ..Described::default()
                }
            }
            Target::Predefined(name) => Described {
                signature: name.to_string(),
                kind: MemberKind::Predefined,
                ..Described::default()
            },
        }
    }

    fn describe_class(&mut self, class: &ClassRef<'a>) -> Described {
        let Some(def) = self.f.source_def(&class.source) else {
            return Described {
                signature: class.name.to_string(),
                class: Some(class.name),
                kind: MemberKind::Type,
                ..Described::default()
            };
        };
        let partial = if def.partial { "partial " } else { "" };
        let behind = match &def.body {
            ast::ClassBody::Short { base, .. } => format!(" = {}", self.text(base.span)),
            _ => String::new(),
        };
        let documentation =
            crate::instantiate::nested_annotation(def.annotation.as_ref(), "Documentation");
        let info = crate::instantiate::annotation_value(documentation.as_ref(), "info");
        let (kind, word) = class_kind(def);
        Described {
            place: Some(def.name.span),
            whole: Some(def.span),
            signature: format!("{partial}{word} {}{behind}", class.name),
            description: def.description.clone(),
            documentation: info.and_then(string_of),
            class: Some(class.name),
            kind,
            unit: self.unit_of_class(class),
            ..Described::default()
        }
    }

    fn unit_of_class(&mut self, class: &ClassRef<'a>) -> Option<String> {
        let inst = self.f.class_inst(class).ok()?;
        self.elaborate(inst);
        self.attribute(inst, "unit")
    }

    fn describe_component(&mut self, owner: InstId, name: Name) -> Described {
        let element = self.f.effective(owner, name).element;
        let ElementKind::Component(decl) = element.kind else {
            return Described::default();
        };
        let inst = self.component(owner, name);
        let class = inst.map(|inst| self.f.insts[inst].class.clone());
        let type_name = match &class {
            Some(class) => class.name.to_string(),
            None => self.text(decl.ty.span),
        };
        let dims: Vec<String> = decl.dims.iter().map(|dim| self.subscript(dim)).collect();
        let dims = match dims.is_empty() {
            true => String::new(),
            false => format!("[{}]", dims.join(", ")),
        };
        let prefixes = prefixes_of(decl, element.type_prefixes());
        Described {
            place: Some(decl.name.span),
            whole: Some(decl.span),
            signature: format!("{prefixes}{type_name} {name}{dims}"),
            value: inst.and_then(|inst| self.value_text(inst)),
            unit: inst.and_then(|inst| self.attribute(inst, "unit")),
            description: decl.description.clone(),
            documentation: None,
            class: class.map(|class| class.name),
            kind: self.component_kind(inst, element.type_prefixes()),
        }
    }

    fn component_kind(&self, inst: Option<InstId>, prefixes: ast::TypePrefixes) -> MemberKind {
        match prefixes.variability {
            Some(ast::Variability::Constant) => return MemberKind::Constant,
            Some(ast::Variability::Parameter) => return MemberKind::Parameter,
            _ => {}
        }
        let Some(inst) = inst.map(|inst| &self.f.insts[inst]) else {
            return MemberKind::Variable;
        };
        match inst.restriction {
            ast::Restriction::Connector | ast::Restriction::ExpandableConnector => {
                MemberKind::Connector
            }
            _ if inst.builtin.is_some() => MemberKind::Variable,
            ast::Restriction::Model | ast::Restriction::Block | ast::Restriction::Class => {
                MemberKind::Component
            }
            _ => MemberKind::Variable,
        }
    }

    /// The class of a component.
    pub fn type_of(&mut self, target: &Target<'a>) -> Option<Target<'a>> {
        match target {
            Target::Component(owner, name) => {
                let inst = self.component(*owner, *name)?;
                Some(Target::Class(self.f.insts[inst].class.clone()))
            }
            Target::Literal(class, _) => Some(Target::Class(class.clone())),
            _ => None,
        }
    }

    fn subscript(&self, subscript: &ast::Subscript) -> String {
        match subscript {
            ast::Subscript::All(_) => ":".to_owned(),
            ast::Subscript::Expr(e) => self.text(e.span),
        }
    }

    /// The text of a place.
    pub fn text(&self, span: Span) -> String {
        let file = self.f.tree.sources.file(span.file);
        let text = file.text.get(span.start as usize..span.end as usize);
        text.unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The value that wins over all others, as written.
    fn value_text(&self, inst: InstId) -> Option<String> {
        self.f.insts[inst]
            .layers
            .iter()
            .find_map(|layer| self.layer_value(layer))
    }

    fn layer_value(&self, layer: &Layer<'a>) -> Option<String> {
        let value = match layer.kind {
            LayerKind::Modification(m) => m.value.as_ref()?,
            LayerKind::Value(e) => e,
            LayerKind::Path(..) | LayerKind::Redeclare(_) => return None,
        };
        Some(self.text(value.span))
    }

    /// An attribute of a predefined type after all modifiers; of a text without its quotes.
    pub fn attribute(&self, inst: InstId, name: &str) -> Option<String> {
        let node = &self.f.insts[inst];
        let name = Name::new(name);
        let layers = descend_all(&node.layers, name)
            .into_iter()
            .chain(descend_all(&node.type_layers, name));
        let text = layers
            .into_iter()
            .find_map(|layer| self.layer_value(&layer))?;
        Some(text.trim_matches('"').to_owned())
    }

    /// The name with which a class can be named from anywhere.
    pub fn class_of(&self, inst: InstId) -> Name {
        self.f.insts[inst].class.name
    }

    /// The elements of an instance in the order of their declarations; literals of an enumeration.
    pub fn members(&mut self, inst: InstId) -> Vec<Member> {
        self.elaborate(inst);
        if let Some(BuiltinClass::Enum(_)) = self.f.insts[inst].builtin
            && let Some(class) = self.enumeration(inst)
        {
            return self.literals(&class).iter().map(literal).collect();
        }
        let elements: Vec<(Name, Element<'a>)> = self.f.insts[inst]
            .elements
            .iter()
            .map(|(n, e)| (*n, e.clone()))
            .collect();
        elements
            .iter()
            .map(|(name, element)| self.member_of(*name, element))
            .collect()
    }

    fn member_of(&mut self, name: Name, element: &Element<'a>) -> Member {
        let mut member = Member {
            name,
            kind: MemberKind::Type,
            detail: String::new(),
            description: None,
            protected: element.protected,
            is_input: false,
            is_output: false,
            partial: false,
        };
        match &element.kind {
            ElementKind::Component(decl) => {
                let prefixes = element.type_prefixes();
                member.kind = self.component_kind(None, prefixes);
                member.detail = self.text(decl.ty.span);
                member.description = decl.description.clone();
                member.is_input = prefixes.causality == Some(ast::Causality::Input);
                member.is_output = prefixes.causality == Some(ast::Causality::Output);
            }
            // Files of classes that nobody asked about stay unread.
            ElementKind::Class(ClassSource::Node(node)) if !self.f.tree.is_read(*node) => {
                member.kind = MemberKind::Model;
            }
            ElementKind::Class(source) => {
                if let Some(def) = self.f.source_def(&source.clone()) {
                    let (kind, word) = class_kind(def);
                    member.kind = kind;
                    member.detail = word.to_owned();
                    member.description = def.description.clone();
                    member.partial = def.partial;
                }
            }
        }
        member
    }

    /// The text of the class of an instance.
    pub fn definition(&self, inst: InstId) -> Option<&'a ast::ClassDef> {
        self.f.insts[inst].def
    }

    /// The element is a component that others connect to.
    pub fn is_connector(&mut self, inst: InstId, name: Name) -> bool {
        let is_component = (self.f.insts[inst].elements.get(&name))
            .is_some_and(|e| matches!(e.kind, ElementKind::Component(_)));
        is_component
            && self.component(inst, name).is_some_and(|inside| {
                matches!(
                    self.f.insts[inside].restriction,
                    ast::Restriction::Connector | ast::Restriction::ExpandableConnector
                )
            })
    }

    /// A component of the class, its own or inherited, is `outer`.
    pub fn has_outer(&self, inst: InstId) -> bool {
        self.f.insts[inst].elements.values().any(|e| match e.kind {
            ElementKind::Component(decl) => decl.prefixes.outer && !decl.prefixes.inner,
            ElementKind::Class(_) => false,
        })
    }

    /// The scopes around one, nearest first.
    pub fn enclosing(&self, inst: InstId) -> Vec<InstId> {
        let mut all = Vec::new();
        let mut at = Some(self.f.insts[inst].lex);
        while let Some(lex) = at {
            all.push(self.f.lexes[lex].owner);
            at = self.f.lexes[lex].enclosing;
        }
        all
    }

    /// The import clauses of the text of a class.
    pub fn imports(&self, inst: InstId) -> Vec<&'a ast::Import> {
        let Some(ast::ClassBody::Composition { parts, .. }) =
            self.f.insts[inst].def.map(|def| &def.body)
        else {
            return Vec::new();
        };
        (parts.elements.iter())
            .filter_map(|element| match &element.kind {
                ast::ElementKind::Import(import) => Some(import),
                _ => None,
            })
            .collect()
    }
}

fn literal(literal: &ast::EnumLiteral) -> Member {
    Member {
        name: literal.name.name,
        kind: MemberKind::Literal,
        detail: String::new(),
        description: literal.description.clone(),
        protected: false,
        is_input: false,
        is_output: false,
        partial: false,
    }
}

/// The kind of a class and the words before its name.
pub(super) fn class_kind(def: &ast::ClassDef) -> (MemberKind, &'static str) {
    if matches!(def.body, ast::ClassBody::Enumeration(_)) {
        return (MemberKind::Enumeration, "type");
    }
    match def.restriction {
        ast::Restriction::Class => (MemberKind::Model, "class"),
        ast::Restriction::Model => (MemberKind::Model, "model"),
        ast::Restriction::Block => (MemberKind::Model, "block"),
        ast::Restriction::Record => (MemberKind::Record, "record"),
        ast::Restriction::OperatorRecord => (MemberKind::Record, "operator record"),
        ast::Restriction::Connector => (MemberKind::Connector, "connector"),
        ast::Restriction::ExpandableConnector => (MemberKind::Connector, "expandable connector"),
        ast::Restriction::Type => (MemberKind::Type, "type"),
        ast::Restriction::Package => (MemberKind::Package, "package"),
        ast::Restriction::Function => (MemberKind::Function, "function"),
        ast::Restriction::OperatorFunction => (MemberKind::Function, "operator function"),
        ast::Restriction::Operator => (MemberKind::Function, "operator"),
    }
}

fn prefixes_of(decl: &ast::ComponentDecl, prefixes: ast::TypePrefixes) -> String {
    let words = [
        (decl.prefixes.is_final, "final "),
        (decl.prefixes.inner, "inner "),
        (decl.prefixes.outer, "outer "),
        (decl.prefixes.replaceable, "replaceable "),
        (prefixes.connection == ast::ConnectionPrefix::Flow, "flow "),
        (
            prefixes.connection == ast::ConnectionPrefix::Stream,
            "stream ",
        ),
        (
            prefixes.variability == Some(ast::Variability::Constant),
            "constant ",
        ),
        (
            prefixes.variability == Some(ast::Variability::Parameter),
            "parameter ",
        ),
        (
            prefixes.variability == Some(ast::Variability::Discrete),
            "discrete ",
        ),
        (prefixes.causality == Some(ast::Causality::Input), "input "),
        (
            prefixes.causality == Some(ast::Causality::Output),
            "output ",
        ),
    ];
    words
        .iter()
        .filter(|(is, _)| *is)
        .map(|(_, word)| *word)
        .collect()
}

fn string_of(e: &ast::Expr) -> Option<Arc<str>> {
    match &e.kind {
        ast::ExprKind::String(text) => Some(text.clone()),
        _ => None,
    }
}
