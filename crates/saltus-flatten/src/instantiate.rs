//! Components: conditional, arrays, inner/outer, their variables, dimensions, bindings and values.
//!
//! A component is instantiated when something first asks for it ([`Flattener::child`]); the driver asks for all in the end. Arrays of
//! class-typed components are expanded to one instance an element; arrays of builtin type are one instance with dimensions.

use crate::core::*;
use rustc_hash::FxHashMap;
use saltus_ir::flat::{self, Causality, StateSelect};
use saltus_ir::{Base, Expr, ExprId, Sub, Value, VarId};
use saltus_syntax::ast::{self, Subscript};
use saltus_syntax::{Diagnostic, Name, Span};
use std::rc::Rc;

/// Most elements an array of components may have, and most passes of a loop that is written out.
pub(crate) const ARRAY_SIZE_MAX: usize = 10_000_000;
/// Deepest nesting of components; more means that a class contains itself.
const DEPTH_MAX: u32 = 200;
/// How often a class may stand among the components around one of its own components. Components of the own class are possible only
/// where a condition ends them; such models are not deep.
const SELF_NESTING_MAX: usize = 10;
/// How many components of a model may stand inside a component of their own class. An array of such components multiplies at each level, so
/// that the bound on the levels alone does not bound the work.
const SELF_NESTED_MAX: usize = 100_000;

/// Longest chain of short class definitions that is followed.
const SHORT_CLASSES_MAX: usize = 100;

impl<'a> Flattener<'a> {
    pub fn new_inst(&mut self, new: NewInst<'a>) -> InstId {
        let def = self.source_def(&new.class.source);
        let node = match new.class.source {
            ClassSource::Node(node) => Some(node),
            _ => None,
        };
        let builtin = match new.class.source {
            ClassSource::Builtin(b) => Some(b),
            _ => None,
        };
        let inst = InstId(self.insts.len() as u32);
        let lex = self.lexes.push(Lex {
            owner: inst,
            def,
            node,
            enclosing: Some(new.class.enclosing),
            names: LexNames::All,
            encapsulated: def.is_some_and(|d| d.encapsulated),
        });
        let span = new
            .class
            .span
            .or(def.map(|d| d.name.span))
            .unwrap_or(self.root_span());
        self.insts.push(Inst {
            purpose: new.purpose,
            name: new.name,
            subs: Rc::from([]),
            parent: new.parent,
            path: new.path,
            depth: new.depth,
            restriction: def.map_or(ast::Restriction::Type, |d| d.restriction),
            class: new.class,
            def,
            builtin,
            layers: new.layers,
            n_outer_layers: new.n_outer_layers,
            type_layers: Vec::new(),
            type_dims: Vec::new(),
            type_prefixes: ast::TypePrefixes::default(),
            lex,
            texts: Vec::new(),
            progress: Progress::NotStarted,
            elements: indexmap::IndexMap::new(),
            children: FxHashMap::default(),
            patterns: FxHashMap::default(),
            prefixes: Prefixes {
                variability: flat::Variability::Continuous,
                causality: None,
                connection: ast::ConnectionPrefix::None,
                protected: false,
                is_final: false,
                inner: false,
                outer: false,
                hide: false,
                inline: None,
            },
            var: None,
            dims: None,
            dim_types: Vec::new(),
            decl: None,
            decl_lex: None,
            decl_dims: Vec::new(),
            span,
            evaluate: false,
            function: None,
            record: None,
            object: None,
            expandable_added: Vec::new(),
        })
    }

    /// A place for things that have none: the start of the first file.
    pub fn root_span(&self) -> Span {
        Span::new(saltus_syntax::FileId(0), 0, 0)
    }

    /// A component member of an instance, instantiated on demand.
    pub fn child(&mut self, inst: InstId, name: Name, span: Span) -> Res<Child> {
        if let Some(child) = self.insts[inst].children.get(&name) {
            if matches!(child, Child::InProgress) {
                return Err(Box::new(
                    Diagnostic::error(
                        "cyclic-parameters",
                        span,
                        format!("the size or existence of `{name}` depends on itself"),
                    )
                    .help(
                        "break the circle between array sizes, conditions and the values they use",
                    ),
                ));
            }
            return Ok(child.clone());
        }
        self.elaborate(inst)?;
        if !self.insts[inst].elements.contains_key(&name) {
            let candidates: Vec<Name> = self.insts[inst].elements.keys().copied().collect();
            let path = self.insts[inst].path;
            let message = if path.as_str().is_empty() {
                format!("unknown name `{name}`")
            } else {
                format!("`{path}` has no element `{name}`")
            };
            let diagnostic = Diagnostic::error("unknown-name", span, message);
            return Err(Box::new(match crate::lookup::suggest(name, &candidates) {
                Some(s) => diagnostic.help(format!("did you mean `{s}`?")),
                None => diagnostic,
            }));
        }
        self.insts[inst].children.insert(name, Child::InProgress);
        match self.make_child(inst, name) {
            Ok(child) => {
                self.insts[inst].children.insert(name, child.clone());
                Ok(child)
            }
            Err(e) => {
                self.insts[inst].children.remove(&name);
                Err(e)
            }
        }
    }

    /// The inner component of an `inner outer` declaration: what `outer` declarations further in refer to. In the class that declares it
    /// the name itself means the outer one.
    pub fn inner_child(&mut self, owner: InstId, name: Name) -> Res<Child> {
        let key = Name::new(&format!("{name} (inner)"));
        if let Some(child) = self.insts[owner].children.get(&key) {
            return Ok(child.clone());
        }
        self.insts[owner].children.insert(key, Child::InProgress);
        let child = self.make_component(owner, name);
        match &child {
            Ok(child) => self.insts[owner].children.insert(key, child.clone()),
            Err(_) => self.insts[owner].children.remove(&key),
        };
        child
    }

    fn make_child(&mut self, owner: InstId, name: Name) -> Res<Child> {
        if let ElementKind::Component(decl) = self.insts[owner].elements[&name].kind
            && decl.prefixes.outer
        {
            if self.insts[owner].purpose == Purpose::Component {
                return self.find_inner(owner, name, decl);
            }
            if let Some(inner) = self.inner_around(owner, name, decl)? {
                return Ok(inner);
            }
        }
        self.make_component(owner, name)
    }

    fn make_component(&mut self, owner: InstId, name: Name) -> Res<Child> {
        let effective = self.effective(owner, name);
        let ElementKind::Component(decl) = effective.element.kind else {
            return Err(Box::new(Diagnostic::error(
                "unknown-name",
                effective.element.span,
                format!("`{name}` is a class, a component is expected"),
            )));
        };
        // The original declaration says whether it is conditional, inner or outer, also when redeclared.
        let original = match self.insts[owner].elements[&name].kind {
            ElementKind::Component(d) => d,
            ElementKind::Class(_) => decl,
        };
        let lex = effective.element.lex;
        let condition = decl.condition.as_ref().map(|c| (c, lex)).or(original
            .condition
            .as_ref()
            .map(|c| (c, self.insts[owner].elements[&name].lex)));
        if let Some((condition, lex)) = condition {
            let e = self.expr(
                Scope {
                    lex,
                    iterators: None,
                },
                condition,
            )?;
            if !self.const_bool(e, condition.span)? {
                return Ok(Child::Absent);
            }
        }
        let class = self.find_class(lex, &decl.ty)?;
        self.check_instantiable(&class, decl)?;
        if original.prefixes.replaceable && self.insts[owner].purpose == Purpose::Component {
            self.check_constraint(owner, name, original)?;
        }
        let mut layers = effective.layers;
        let n_outer = effective.n_outer;
        check_final(&layers, original)?;
        layers.extend(class.layers.iter().cloned());
        let depth = self.insts[owner].depth + 1;
        let nesting = self.self_nesting(owner, &class);
        if depth > DEPTH_MAX || nesting > SELF_NESTING_MAX {
            return Err(Box::new(contains_itself(decl)));
        }
        let path = self.child_path(owner, name);
        let first = self.new_inst(NewInst {
            purpose: if self.insts[owner].purpose == Purpose::Package {
                Purpose::Package
            } else {
                Purpose::Component
            },
            name,
            path,
            parent: Some(owner),
            class: class.clone(),
            layers: layers.clone().into(),
            n_outer_layers: n_outer,
            depth,
        });
        self.elaborate(first)?;
        self.check_prefixes(first, owner, decl)?;
        self.set_prefixes(first, owner, decl, &effective.element, lex);
        self.check_block_connector(first, owner, decl)?;
        let builtin = self.insts[first].builtin.is_some();
        let is_object = self.insts[first].builtin == Some(BuiltinClass::ExternalObject);
        if builtin && !is_object {
            // Dimensions are found when the variables are asked for.
            return Ok(Child::One(first));
        }
        if self.insts[first].decl_dims.is_empty() && self.insts[first].type_dims.is_empty() {
            return Ok(Child::One(first));
        }
        let dims = self.component_dims(first)?;
        if nesting > 0 {
            self.nested_in_own_class = dims
                .iter()
                .fold(1, |n: usize, &d| n.saturating_mul(d))
                .saturating_add(self.nested_in_own_class);
            if self.nested_in_own_class > SELF_NESTED_MAX {
                return Err(Box::new(contains_itself(decl)));
            }
        }
        self.expand_array(
            owner,
            name,
            first,
            &class,
            &layers,
            n_outer,
            decl,
            &effective.element,
            lex,
            &dims,
        )
    }

    #[expect(clippy::too_many_arguments, reason = "context of one declaration")]
    fn expand_array(
        &mut self,
        owner: InstId,
        name: Name,
        first: InstId,
        class: &ClassRef<'a>,
        layers: &[Layer<'a>],
        n_outer: usize,
        decl: &'a ast::ComponentDecl,
        element: &Element<'a>,
        lex: LexId,
        dims: &[usize],
    ) -> Res<Child> {
        let n: usize = dims.iter().product();
        if n > ARRAY_SIZE_MAX {
            return Err(Box::new(Diagnostic::error(
                "array-size-mismatch",
                decl.span,
                format!("`{name}` has {n} elements, more than {ARRAY_SIZE_MAX}"),
            )));
        }
        if n == 0 {
            self.insts[owner].patterns.insert(name, first);
        }
        let mut elems = Vec::with_capacity(n);
        // Modifiers of the class are those of each element.
        let (of_array, of_class) = layers.split_at(layers.len() - class.layers.len());
        for k in 0..n {
            let subs = subscripts_of(k, dims);
            let indexed: Vec<Layer<'a>> = of_array
                .iter()
                .map(|layer| {
                    let mut layer = layer.clone();
                    if !layer.each {
                        layer.subs = layer
                            .subs
                            .iter()
                            .copied()
                            .chain(subs.iter().copied())
                            .collect();
                    }
                    layer.each = false;
                    layer
                })
                .chain(of_class.iter().cloned())
                .collect();
            let path = Name::new(&format!(
                "{}{}",
                self.child_path(owner, name),
                subscript_text(&subs)
            ));
            let inst = self.new_inst(NewInst {
                purpose: self.insts[first].purpose,
                name,
                path,
                parent: Some(owner),
                class: class.clone(),
                layers: indexed.into(),
                n_outer_layers: n_outer,
                depth: self.insts[first].depth,
            });
            self.insts[inst].subs = subs.into();
            self.elaborate(inst)?;
            self.set_prefixes(inst, owner, decl, element, lex);
            elems.push(inst);
        }
        Ok(Child::Array {
            dims: dims.into(),
            elems: elems.into(),
        })
    }

    /// How many of the components around (and including) `owner` have the text of `class`.
    fn self_nesting(&mut self, owner: InstId, class: &ClassRef<'a>) -> usize {
        let Some(def) = self.source_def(&class.source) else {
            return 0;
        };
        let mut at = Some(owner);
        let mut n = 0;
        while let Some(inst) = at {
            n += usize::from(self.insts[inst].def.is_some_and(|d| std::ptr::eq(d, def)));
            at = self.insts[inst].parent;
        }
        n
    }

    pub fn child_path(&self, owner: InstId, name: Name) -> Name {
        let path = self.insts[owner].path.as_str();
        if path.is_empty() {
            name
        } else {
            Name::new(&format!("{path}.{name}"))
        }
    }

    fn check_instantiable(
        &mut self,
        class: &ClassRef<'a>,
        decl: &'a ast::ComponentDecl,
    ) -> Res<()> {
        let Some(mut def) = self.source_def(&class.source) else {
            return Ok(());
        };
        // A short class is partial if the class that it stands for is.
        let mut at = class.clone();
        for _ in 0..SHORT_CLASSES_MAX {
            let ast::ClassBody::Short { base, .. } = &def.body else {
                break;
            };
            if def.partial {
                break;
            }
            at = self.find_class(at.enclosing, base)?;
            match self.source_def(&at.source) {
                Some(next) => def = next,
                None => return Ok(()),
            }
        }
        if def.partial && !decl.prefixes.outer {
            return Err(Box::new(
                Diagnostic::error(
                    "partial-class",
                    decl.name.span,
                    format!(
                        "component `{}` has the partial class `{}`",
                        decl.name.name, def.name.name
                    ),
                )
                .secondary(def.name.span, "declared partial here")
                .help("extend the class, or redeclare the component with a complete one"),
            ));
        }
        match def.restriction {
            ast::Restriction::Package
            | ast::Restriction::Function
            | ast::Restriction::OperatorFunction => Err(Box::new(Diagnostic::error(
                "type-mismatch",
                decl.name.span,
                format!(
                    "`{}` is a {:?}, which cannot be the type of a component",
                    def.name.name, def.restriction
                )
                .to_lowercase(),
            ))),
            _ => Ok(()),
        }
    }

    /// Which types may have variability, causality, `flow` and `stream` (specification 4.4.2.2).
    fn check_prefixes(&self, inst: InstId, owner: InstId, decl: &'a ast::ComponentDecl) -> Res<()> {
        let node = &self.insts[inst];
        let prefixes = decl.type_prefixes;
        let refuse = |what: String| -> Res<()> {
            Err(Box::new(
                Diagnostic::error("misplaced-prefix", decl.name.span, what)
                    .help("remove the prefix"),
            ))
        };
        let name = decl.name.name;
        let prefixed = prefixes.variability.is_some()
            || prefixes.causality.is_some()
            || prefixes.connection != ast::ConnectionPrefix::None;
        let is_model = matches!(
            node.restriction,
            ast::Restriction::Model | ast::Restriction::Block
        );
        if prefixed && is_model && node.builtin.is_none() {
            let class = node.class.name;
            return refuse(format!(
                "`{name}` has a prefix that only variables, records and connectors may have, and `{class}` is none"
            ));
        }
        if prefixes.connection == ast::ConnectionPrefix::None {
            return Ok(());
        }
        let is_real = matches!(node.builtin, None | Some(BuiltinClass::Real));
        if !is_real {
            return refuse(format!(
                "`{name}` is a flow or stream variable, but not Real"
            ));
        }
        let outside = self.insts[owner].decl.map(|d| d.type_prefixes.connection);
        if outside.is_some_and(|c| c != ast::ConnectionPrefix::None) {
            return refuse(format!(
                "`{name}` is a flow or stream variable inside of a component with such a prefix"
            ));
        }
        Ok(())
    }

    /// The public connectors of a block are inputs or outputs (specification 4.7).
    fn check_block_connector(
        &self,
        inst: InstId,
        owner: InstId,
        decl: &'a ast::ComponentDecl,
    ) -> Res<()> {
        let node = &self.insts[inst];
        let is_block = self.insts[owner].restriction == ast::Restriction::Block;
        let is_connector = node.restriction == ast::Restriction::Connector;
        if !is_block || !is_connector || node.prefixes.protected {
            return Ok(());
        }
        let has_flow = (node.elements.values()).any(|e| {
            matches!(e.kind, ElementKind::Component(d)
                if d.type_prefixes.connection == ast::ConnectionPrefix::Flow)
        });
        let undirected = node.builtin.is_some() && node.prefixes.causality.is_none();
        if !has_flow && !undirected {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error(
                "class-restriction",
                decl.name.span,
                format!(
                    "connector `{}` of block `{}` is neither input nor output",
                    decl.name.name, self.insts[owner].class.name
                ),
            )
            .help("give the connector a direction, or make the block a `model`"),
        ))
    }

    fn set_prefixes(
        &mut self,
        inst: InstId,
        owner: InstId,
        decl: &'a ast::ComponentDecl,
        element: &Element<'a>,
        lex: LexId,
    ) {
        let up = self.insts[owner].prefixes;
        let owner_is_package = self.insts[owner].purpose == Purpose::Package;
        let type_prefixes = self.insts[inst].type_prefixes;
        let stated = element.type_prefixes();
        let own = stated.variability.or(type_prefixes.variability);
        let is_discrete_type = matches!(
            self.insts[inst].builtin,
            Some(
                BuiltinClass::Integer
                    | BuiltinClass::Boolean
                    | BuiltinClass::String
                    | BuiltinClass::Enum(_)
            )
        );
        let own = match own {
            Some(ast::Variability::Constant) => flat::Variability::Constant,
            Some(ast::Variability::Parameter) => flat::Variability::Parameter,
            Some(ast::Variability::Discrete) => flat::Variability::Discrete,
            _ if is_discrete_type => flat::Variability::Discrete,
            _ => flat::Variability::Continuous,
        };
        let is_object = self.insts[inst].builtin == Some(BuiltinClass::ExternalObject);
        let own = if is_object {
            flat::Variability::Parameter
        } else {
            own
        };
        let up_variability = if owner_is_package && self.insts[owner].parent.is_none() {
            flat::Variability::Continuous
        } else {
            up.variability
        };
        let connection = match (stated.connection, type_prefixes.connection) {
            (ast::ConnectionPrefix::None, ast::ConnectionPrefix::None) => {
                if self.insts[owner].restriction == ast::Restriction::Record
                    || self.insts[owner].restriction == ast::Restriction::OperatorRecord
                {
                    up.connection
                } else {
                    ast::ConnectionPrefix::None
                }
            }
            (ast::ConnectionPrefix::None, of_type) => of_type,
            (own, _) => own,
        };
        let causality = stated
            .causality
            .or(type_prefixes.causality)
            .or(up.causality);
        let evaluate = annotation_flag(decl.annotation.as_ref(), "Evaluate") == Some(true)
            || decl.prefixes.is_final;
        let hide = up.hide || annotation_flag(decl.annotation.as_ref(), "HideResult") == Some(true);
        // What a component says holds for all inside it.
        let inline = self.inlined_integrator(decl).or(up.inline.map(|inline| {
            let named = false;
            flat::Inline { named, ..inline }
        }));
        let node = &mut self.insts[inst];
        node.prefixes = Prefixes {
            variability: own.min(up_variability),
            causality,
            connection,
            protected: up.protected || element.protected,
            is_final: up.is_final || decl.prefixes.is_final,
            inner: decl.prefixes.inner,
            outer: decl.prefixes.outer,
            hide,
            inline,
        };
        node.evaluate = evaluate;
        node.decl = Some(decl);
        node.decl_lex = Some(lex);
        node.decl_dims = element.dims(!node.type_dims.is_empty());
        node.span = decl.name.span;
    }

    /// `annotation(__Saltus(inline = "method"))` of a declaration.
    fn inlined_integrator(&mut self, decl: &ast::ComponentDecl) -> Option<flat::Inline> {
        let saltus = nested_annotation(decl.annotation.as_ref(), "__Saltus")?;
        let value = annotation_value(Some(&saltus), "inline")?;
        let method = inline_method(value, &mut self.diagnostics)?;
        Some(flat::Inline {
            method,
            named: true,
        })
    }

    /// The `inner` component that an `outer` declaration in `owner` refers to.
    fn find_inner(
        &mut self,
        owner: InstId,
        name: Name,
        decl: &'a ast::ComponentDecl,
    ) -> Res<Child> {
        if !decl.prefixes.inner
            && let Some(layer) = self.effective(owner, name).layers.first()
        {
            return Err(Box::new(
                Diagnostic::error(
                    "class-restriction",
                    layer.span,
                    format!("`outer` component `{name}` cannot be modified"),
                )
                .secondary(decl.name.span, "declared `outer` here")
                .help("modify the `inner` component"),
            ));
        }
        if let Some(inner) = self.inner_around(owner, name, decl)? {
            return Ok(inner);
        }
        if let Some(inner) = self.add_inner(owner, name, decl)? {
            return Ok(inner);
        }
        let class = decl.ty.parts.last().expect("a path has parts").name;
        Err(Box::new(
            Diagnostic::error(
                "missing-inner",
                decl.name.span,
                format!("`outer {class} {name}` has no matching `inner` component"),
            )
            .label(format!("in `{}`", self.insts[owner].path))
            .help(format!(
                "declare `inner {class} {name};` in the model or in a component around this one"
            )),
        ))
    }

    /// The nearest `inner` component of this name around an instance.
    fn inner_around(
        &mut self,
        owner: InstId,
        name: Name,
        decl: &'a ast::ComponentDecl,
    ) -> Res<Option<Child>> {
        let mut at = self.instance_around(owner);
        while let Some(up) = at {
            self.elaborate(up)?;
            if let Some(element) = self.insts[up].elements.get(&name)
                && let ElementKind::Component(d) = element.kind
                && d.prefixes.inner
            {
                let both = d.prefixes.outer;
                let child = if both {
                    self.inner_child(up, name)?
                } else {
                    self.child(up, name, decl.name.span)?
                };
                self.check_inner(owner, name, decl, &child)?;
                return Ok(Some(match child {
                    Child::One(inst) | Child::Outer(inst) => Child::Outer(inst),
                    Child::Array { dims, elems } | Child::OuterArray { dims, elems } => {
                        Child::OuterArray { dims, elems }
                    }
                    other => other,
                }));
            }
            at = self.instance_around(up);
        }
        Ok(None)
    }

    /// Declares the missing `inner` component at the top of the model (specification 5.4), with a warning. `None` where that determines nothing: for a partial
    /// class, a predefined type or a connector.
    fn add_inner(
        &mut self,
        owner: InstId,
        name: Name,
        decl: &'a ast::ComponentDecl,
    ) -> Res<Option<Child>> {
        let mut top = owner;
        while let Some(up) = self.insts[top].parent {
            top = up;
        }
        let lex = self.insts[owner].elements[&name].lex;
        let class = self.find_class(lex, &decl.ty)?;
        let is_complete = (self.source_def(&class.source)).is_some_and(|def| {
            let restriction = def.restriction;
            !def.partial
                && matches!(
                    restriction,
                    ast::Restriction::Model | ast::Restriction::Block | ast::Restriction::Class
                )
        });
        let is_free = top != owner && !self.insts[top].elements.contains_key(&name);
        if !is_complete || !is_free || self.insts[top].purpose != Purpose::Component {
            return Ok(None);
        }
        let inner = self.tree.keep_declaration(ast::ComponentDecl {
            prefixes: ast::ElementPrefixes {
                inner: true,
                ..Default::default()
            },
            modification: None,
            condition: None,
            annotation: None,
            constraint: None,
            ..decl.clone()
        });
        let element = Element {
            kind: ElementKind::Component(inner),
            lex,
            chain: Rc::from([]),
            protected: false,
            span: decl.name.span,
            constraint: None,
            replaceable: false,
            is_final: false,
            inner_class: false,
            outer_class: false,
            passed_on: Rc::from([]),
            original: None,
        };
        self.insts[top].elements.insert(name, element);
        let child = self.child(top, name, decl.name.span)?;
        let Child::One(inst) = child else {
            return Ok(None);
        };
        self.inners_added.push(inst);
        let def = self.source_def(&class.source);
        let stated = annotation_value(
            def.and_then(|def| def.annotation.as_ref()),
            "missingInnerMessage",
        );
        let stated = match stated.map(|e| &e.kind) {
            Some(ast::ExprKind::String(text)) => Some(text.to_string()),
            _ => None,
        };
        let mut d = Diagnostic::error(
            "missing-inner",
            decl.name.span,
            format!(
                "`outer {} {name}` has no matching `inner` component: one with default values was added to the model",
                class.name
            ),
        )
        .label(format!("in `{}`", self.insts[owner].path));
        d.severity = saltus_syntax::Severity::Warning;
        if let Some(text) = stated {
            d = d.note(text);
        }
        self.diagnostics.push(d.help(format!(
            "declare `inner {} {name};` in the model to set its parameters",
            class.name
        )));
        Ok(Some(Child::Outer(inst)))
    }

    /// The inner component has the type and number of dimensions of the outer declaration (specification 5.4).
    fn check_inner(
        &mut self,
        owner: InstId,
        name: Name,
        decl: &'a ast::ComponentDecl,
        inner: &Child,
    ) -> Res<()> {
        let lex = self.insts[owner].elements[&name].lex;
        let class = self.find_class(lex, &decl.ty)?;
        let (found, n_expanded) = match inner {
            Child::One(inst) | Child::Outer(inst) => (*inst, 0),
            Child::Array { dims, elems } | Child::OuterArray { dims, elems } => match elems.first()
            {
                Some(first) => (*first, dims.len()),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        let inner_class = self.insts[found].class.clone();
        self.check_subtype(&inner_class, &class, &decl.name)?;
        let outer = self.class_inst(&class)?;
        if self.insts[found].builtin.is_none() {
            return Ok(());
        }
        let wanted = decl.dims.len() + self.insts[outer].type_dims.len();
        let dims = self.component_dims(found)?;
        let n = dims.len() + n_expanded;
        let sizes_agree = decl
            .dims
            .iter()
            .zip(&dims)
            .all(|(stated, size)| match stated {
                Subscript::Expr(e) => match e.kind {
                    ast::ExprKind::Integer(k) => usize::try_from(k) == Ok(*size),
                    _ => true,
                },
                Subscript::All(_) => true,
            });
        if n == wanted && sizes_agree {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error(
                "array-size-mismatch",
                decl.name.span,
                format!("`outer` and `inner` component `{name}` have different sizes"),
            )
            .secondary(self.insts[found].span, "the `inner` component"),
        ))
    }

    /// Array dimensions of a component: those of its declaration, then those of its type.
    pub fn component_dims(&mut self, inst: InstId) -> Res<Vec<usize>> {
        if let Some(dims) = &self.insts[inst].dims {
            return Ok(dims.to_vec());
        }
        let mut subscripts = self.insts[inst].decl_dims.clone();
        subscripts.extend(self.insts[inst].type_dims.iter().copied());
        // An element of an expanded array has lost the dimensions of the array.
        let n_gone = self.insts[inst].subs.len();
        let subscripts = &subscripts[n_gone.min(subscripts.len())..];
        let mut dims = Vec::with_capacity(subscripts.len());
        let mut types = vec![None; subscripts.len()];
        let mut inferred: Option<Vec<usize>> = None;
        for (i, (subscript, lex)) in subscripts.iter().enumerate() {
            match subscript {
                Subscript::All(span) => {
                    if inferred.is_none() {
                        inferred = Some(self.dims_of_binding(inst, *span)?);
                    }
                    let found = inferred.as_ref().expect("just set");
                    match found.get(i) {
                        Some(d) => dims.push(*d),
                        None => {
                            return Err(Box::new(Diagnostic::error(
                                "array-size-mismatch",
                                *span,
                                format!(
                                    "the value of `{}` has {} dimensions, the declaration more",
                                    self.insts[inst].path,
                                    found.len()
                                ),
                            )));
                        }
                    }
                }
                Subscript::Expr(e) => {
                    let (size, of_type) = self.dimension(*lex, e)?;
                    dims.push(size);
                    types[i] = of_type;
                }
            }
        }
        let size = dims.iter().try_fold(1usize, |n, d| n.checked_mul(*d));
        if size.is_none_or(|n| n > ARRAY_SIZE_MAX) {
            let text: Vec<String> = dims.iter().map(usize::to_string).collect();
            return Err(Box::new(Diagnostic::error(
                "array-size-mismatch",
                self.insts[inst].span,
                format!(
                    "`{}` has size [{}], more than {ARRAY_SIZE_MAX} elements",
                    self.insts[inst].path,
                    text.join(", ")
                ),
            )));
        }
        self.insts[inst].dims = Some(dims.clone().into());
        self.insts[inst].dim_types = types;
        Ok(dims)
    }

    /// The size that one declared dimension stands for: an Integer expression, `Boolean` or an enumeration type, which is then
    /// the type of its subscripts.
    fn dimension(&mut self, lex: LexId, e: &'a ast::Expr) -> Res<(usize, Option<Base>)> {
        if let ast::ExprKind::Ref(r) = &e.kind
            && r.parts.iter().all(|p| p.subscripts.is_empty())
        {
            let path = ast::Path {
                global: r.global,
                parts: r.parts.iter().map(|p| p.name).collect(),
                span: r.span,
            };
            if let Ok(class) = self.find_class(lex, &path) {
                let inst = self.class_inst(&class)?;
                self.elaborate(inst)?;
                match self.insts[inst].builtin {
                    Some(BuiltinClass::Enum(id)) => {
                        return Ok((self.ir.enums[id].literals.len(), Some(Base::Enum(id))));
                    }
                    Some(BuiltinClass::Boolean) => return Ok((2, Some(Base::Boolean))),
                    _ => {}
                }
            }
        }
        let value = self.expr(
            Scope {
                lex,
                iterators: None,
            },
            e,
        )?;
        let n = self.const_int(value, e.span)?;
        match usize::try_from(n) {
            Ok(n) => Ok((n, None)),
            Err(_) => Err(Box::new(Diagnostic::error(
                "array-size-mismatch",
                e.span,
                format!("an array size must not be negative, found {n}"),
            ))),
        }
    }

    fn dims_of_binding(&mut self, inst: InstId, span: Span) -> Res<Vec<usize>> {
        let Some(binding) = self.binding(inst)? else {
            // A start value may give the size of a variable without binding.
            if let Some(layer) = self.attribute_layer(inst, Name::new("start"))
                && let Some(e) = self.layer_value(&layer)?
                && let Some(dims) = self.ir.ty(e).known_dims()
            {
                return Ok(dims);
            }
            return Err(Box::new(
                Diagnostic::error(
                    "not-constant",
                    span,
                    format!(
                        "the size of `{}` is not given and there is no value to take it from",
                        self.insts[inst].path
                    ),
                )
                .help("write the size, or give the component a value"),
            ));
        };
        match self.ir.ty(binding).known_dims() {
            Some(dims) => Ok(dims),
            None => {
                let value = self.binding_value(binding, span)?;
                let dims = match &value {
                    Value::Array(a) => a.dims.clone(),
                    _ => Vec::new(),
                };
                // The size and the value come from one call.
                if self.calls_impure(binding) {
                    self.values.insert(inst, Some(value));
                    self.structural
                        .insert(inst, "its value was needed at compile time");
                }
                Ok(dims)
            }
        }
    }

    /// The value expression of a layer, with the indices of its array element applied.
    pub fn layer_value(&mut self, layer: &Layer<'a>) -> Res<Option<ExprId>> {
        let value = match layer.kind {
            LayerKind::Modification(m) => m.value.as_ref(),
            LayerKind::Value(e) => Some(e),
            LayerKind::Path(..) | LayerKind::Redeclare(_) => None,
        };
        let Some(value) = value else { return Ok(None) };
        let e = self.expr(
            Scope {
                lex: layer.lex,
                iterators: None,
            },
            value,
        )?;
        self.apply_subs(e, layer, value.span).map(Some)
    }

    fn apply_subs(&mut self, e: ExprId, layer: &Layer<'a>, span: Span) -> Res<ExprId> {
        if layer.subs.is_empty() {
            return Ok(e);
        }
        let ty = self.ir.ty(e).clone();
        // Without `each` (specification 7.2.5) a value of fewer dimensions is that of every element of the outer arrays.
        let n_missing = layer.subs.len().saturating_sub(ty.dims.len());
        let given = &layer.subs[n_missing..];
        if n_missing > 0 {
            self.warn_missing_each(span);
        }
        if given.is_empty() {
            return Ok(e);
        }
        let subs: Box<[Sub]> = given
            .iter()
            .map(|s| Sub::At(self.ir.integer(i64::from(*s))))
            .collect();
        for (k, (sub, dim)) in given.iter().zip(&ty.dims).enumerate() {
            if let saltus_ir::Dim::Known(n) = dim
                && *sub > *n
            {
                return Err(Box::new(Diagnostic::error(
                    "array-size-mismatch",
                    span,
                    format!(
                        "the value has size {n} in dimension {}, the array of components is larger",
                        k + 1
                    ),
                )));
            }
        }
        let element = saltus_ir::Type {
            base: ty.base,
            dims: ty.dims[given.len()..].to_vec(),
        };
        Ok(self.ir.add_typed(Expr::Index { base: e, subs }, element))
    }

    pub(crate) fn warn_missing_each(&mut self, span: Span) {
        self.report(Box::new(
            Diagnostic::warning(
                "missing-each",
                span,
                "a scalar value is given to an array of components",
            )
            .help("write `each` before the modifier, or give an array of values"),
        ));
    }

    /// The binding `= value` of a component: the outermost modifier, the field of a surrounding record's value, or its declaration.
    pub fn binding(&mut self, inst: InstId) -> Res<Option<ExprId>> {
        let layers = self.insts[inst].layers.clone();
        let n_outer = self.insts[inst].n_outer_layers;
        let n_outer = n_outer.min(self.n_layers_before_whole(inst));
        for layer in &layers[..n_outer] {
            if let Some(e) = self.layer_value(layer)? {
                return Ok(Some(e));
            }
        }
        if let Some(parent) = self.insts[inst].parent
            && is_value_as_whole(self.insts[parent].restriction)
            && let Some(whole) = self.binding(parent)?
        {
            return self.field_of(whole, parent, inst).map(Some);
        }
        for layer in &layers[n_outer..] {
            if let Some(e) = self.layer_value(layer)? {
                return Ok(Some(e));
            }
        }
        Ok(None)
    }

    /// How many modifiers of a record's component stand outside of, or beside, the value given to the whole record or to a record around
    /// it: that value wins over modifiers further in.
    fn n_layers_before_whole(&self, inst: InstId) -> usize {
        let mut n = usize::MAX;
        let mut names = vec![self.insts[inst].name];
        let mut at = inst;
        while let Some(parent) = self.insts[at].parent
            && is_value_as_whole(self.insts[parent].restriction)
        {
            let record = &self.insts[parent];
            let whole = (record.layers.iter())
                .position(|l| matches!(l.kind, LayerKind::Modification(m) if m.value.is_some()));
            if let Some(k) = whole {
                let mut before = record.layers[..=k].to_vec();
                for name in names.iter().rev() {
                    before = crate::elaborate::descend_all(&before, *name);
                }
                n = n.min(before.len());
            }
            names.push(record.name);
            at = parent;
        }
        n
    }

    fn field_of(&mut self, whole: ExprId, parent: InstId, inst: InstId) -> Res<ExprId> {
        let span = self.insts[inst].span;
        let name = self.insts[inst].name;
        let Base::Record(record) = self.ir.base(whole) else {
            return Err(Box::new(Diagnostic::error(
                "type-mismatch",
                span,
                format!(
                    "the value of record `{}` is not a record",
                    self.insts[parent].path
                ),
            )));
        };
        let Some(index) = self.ir.records[record]
            .fields
            .iter()
            .position(|f| f.name == name)
        else {
            return Err(Box::new(Diagnostic::error(
                "type-mismatch",
                span,
                format!(
                    "the value of record `{}` has no field `{name}`",
                    self.insts[parent].path
                ),
            )));
        };
        let field = self.ir.records[record].fields[index].ty;
        // Constructed records give their field at once.
        let e = match self.ir.expr(whole) {
            Expr::Record { fields, .. } => fields[index],
            _ => self.ir.add(
                Expr::Field {
                    base: whole,
                    index: index as u32,
                },
                field,
            ),
        };
        let subs = self.insts[inst].subs.clone();
        if subs.is_empty() {
            return Ok(e);
        }
        let ty = self.ir.ty(e).clone();
        let at: Box<[Sub]> = subs
            .iter()
            .map(|s| Sub::At(self.ir.integer(i64::from(*s))))
            .collect();
        let element = saltus_ir::Type {
            base: ty.base,
            dims: ty.dims[subs.len().min(ty.dims.len())..].to_vec(),
        };
        Ok(self
            .ir
            .add_typed(Expr::Index { base: e, subs: at }, element))
    }

    /// The modifier of an attribute (`start`, `min`, …) of a builtin-typed component: outermost first, then along its type definitions,
    /// whose start values are trusted least.
    pub fn attribute_layer(&self, inst: InstId, attribute: Name) -> Option<Layer<'a>> {
        let node = &self.insts[inst];
        let own = crate::elaborate::descend_all(&node.layers, attribute);
        own.into_iter().next().or_else(|| {
            let of_type = crate::elaborate::descend_all(&node.type_layers, attribute);
            of_type.into_iter().next().map(|layer| Layer {
                level: crate::confidence::TYPE_LEVEL + node.depth,
                ..layer
            })
        })
    }

    /// The variables of a builtin-typed component.
    pub fn var(&mut self, inst: InstId) -> Res<VarRange> {
        if let Some(range) = &self.insts[inst].var {
            return Ok(range.clone());
        }
        self.elaborate(inst)?;
        let base = match self.insts[inst].builtin {
            Some(BuiltinClass::ExternalObject) => Base::Object(self.object_of_class(inst)),
            _ => self.scalar_base(inst).unwrap_or_else(|| {
                unreachable!(
                    "only builtin-typed components have variables: {}",
                    self.insts[inst].path
                )
            }),
        };
        let dims = self.component_dims(inst)?;
        let n: usize = dims.iter().product();
        let first = VarId(self.variables.len() as u32);
        let node = &self.insts[inst];
        let prefixes = node.prefixes;
        let description = node
            .decl
            .and_then(|d| d.description.as_deref())
            .unwrap_or("");
        let description = Name::new(description);
        let path = node.path;
        let span = node.span;
        for k in 0..n {
            let name = if dims.is_empty() {
                path
            } else {
                Name::new(&format!(
                    "{path}{}",
                    subscript_text(&subscripts_of(k, &dims))
                ))
            };
            self.variables.push(flat::Variable {
                name,
                base,
                variability: prefixes.variability,
                causality: Causality::Local,
                protected: prefixes.protected,
                hide_result: prefixes.hide,
                flow: prefixes.connection == ast::ConnectionPrefix::Flow,
                component_input: false,
                start: None,
                start_confidence: flat::Confidence::NONE,
                fixed: None,
                min: None,
                max: None,
                nominal: None,
                state_select: StateSelect::Default,
                inline: prefixes.inline,
                unit: None,
                display_unit: None,
                quantity: None,
                description,
                binding: None,
                structural: None,
                is_final: prefixes.is_final,
                span,
            });
            self.var_inst.push((inst, k as u32));
        }
        let range = VarRange {
            first,
            dims: dims.into(),
            base,
        };
        self.insts[inst].var = Some(range.clone());
        Ok(range)
    }

    /// The base type of a component of builtin type; `None` for classes and external objects.
    pub(crate) fn scalar_base(&self, inst: InstId) -> Option<Base> {
        Some(match self.insts[inst].builtin? {
            BuiltinClass::Real => Base::Real,
            BuiltinClass::Integer => Base::Integer,
            BuiltinClass::Boolean => Base::Boolean,
            BuiltinClass::String => Base::String,
            BuiltinClass::Clock => Base::Clock,
            BuiltinClass::Enum(id) => Base::Enum(id),
            BuiltinClass::ExternalObject => return None,
        })
    }

    /// The value if it can be known without calling impure functions, which nothing asks for.
    pub(crate) fn speculative_value(&mut self, inst: InstId, span: Span) -> Option<Value> {
        let before = std::mem::replace(&mut self.speculative, true);
        let value = self.value_of(inst, span);
        self.speculative = before;
        value.ok()
    }

    /// The compile-time value of a constant or parameter.
    pub fn value_of(&mut self, inst: InstId, span: Span) -> Res<Value> {
        if let Some(known) = self.values.get(&inst) {
            return known.clone().ok_or_else(|| {
                Box::new(
                    Diagnostic::error(
                        "cyclic-parameters",
                        span,
                        format!("the value of `{}` depends on itself", self.insts[inst].path),
                    )
                    .secondary(self.insts[inst].span, "declared here")
                    .help("break the circle of bindings"),
                )
            });
        }
        let variability = self.insts[inst].prefixes.variability;
        if variability > flat::Variability::Parameter {
            return Err(Box::new(
                Diagnostic::error(
                    "not-constant",
                    span,
                    format!("`{}` is a variable, but its value is needed at compile time", self.insts[inst].path),
                )
                .secondary(self.insts[inst].span, "declared here")
                .help("array sizes, conditions of components and ranges may depend only on constants and parameters"),
            ));
        }
        self.values.insert(inst, None);
        let result = self.evaluate_binding(inst, span);
        match result {
            Ok(value) => {
                self.values.insert(inst, Some(value.clone()));
                if variability == flat::Variability::Parameter {
                    self.structural
                        .entry(inst)
                        .or_insert("its value was needed at compile time");
                }
                Ok(value)
            }
            Err(e) => {
                self.values.remove(&inst);
                Err(e)
            }
        }
    }

    fn evaluate_binding(&mut self, inst: InstId, span: Span) -> Res<Value> {
        let path = self.insts[inst].path;
        if let Some((_, value)) = self.options.overrides.iter().find(|(p, _)| *p == path) {
            return Ok(self.converted_override(inst, value.clone()));
        }
        if let Some(binding) = self.binding(inst)? {
            if let Some(base) = self.scalar_base(inst) {
                self.check_binding_type(inst, base, binding)?;
            }
            let value = self.binding_value(binding, span)?;
            // A scalar given to an array by a type-level or `each` modifier is spread.
            let dims = self.component_dims(inst)?;
            if !dims.is_empty() && !matches!(value, Value::Array(_)) {
                let n = dims.iter().product();
                let spread = Value::array(dims, vec![value; n]);
                return Ok(self.override_elements(inst, spread));
            }
            return Ok(self.override_elements(inst, value));
        }
        if self.is_free_parameter(inst, span)? {
            return Err(Box::new(
                Diagnostic::error(
                    "parameter-without-value",
                    self.insts[inst].span,
                    format!("`{path}` is computed when the run begins (`fixed = false`), but its value is needed at compile time"),
                )
                .secondary(span, "needed here")
                .help("give it a value, or do without it in sizes, conditions of structure and constants"),
            ));
        }
        // A parameter without value takes its start value (specification 8.6, with a warning).
        if let Some(layer) = self.attribute_layer(inst, Name::new("start"))
            && let Some(e) = self.layer_value(&layer)?
        {
            let value = self.const_eval(e, span)?;
            self.diagnostics.push(
                Diagnostic::warning(
                    "parameter-without-value",
                    self.insts[inst].span,
                    format!("parameter `{path}` has no value, its start value is used"),
                )
                .secondary(
                    span,
                    "its value is needed here when the model is translated",
                ),
            );
            return Ok(value);
        }
        Err(Box::new(
            Diagnostic::error(
                "parameter-without-value",
                self.insts[inst].span,
                format!("`{path}` has no value, but one is needed at compile time"),
            )
            .secondary(span, "needed here")
            .help("give it a value in its declaration or by a modifier"),
        ))
    }

    /// Whether the initial equations determine it: `fixed = false`.
    fn is_free_parameter(&mut self, inst: InstId, span: Span) -> Res<bool> {
        let Some(layer) = self.attribute_layer(inst, Name::new("fixed")) else {
            return Ok(false);
        };
        let Some(fixed) = self.layer_value(&layer)? else {
            return Ok(false);
        };
        Ok(self.const_eval(fixed, span)? == Value::Boolean(false))
    }

    /// The value of an array with the elements that are given from outside.
    fn override_elements(&self, inst: InstId, value: Value) -> Value {
        let Value::Array(mut array) = value else {
            return value;
        };
        let path = self.insts[inst].path;
        for (name, value) in &self.options.overrides {
            if !name.as_str().starts_with(path.as_str()) {
                continue;
            }
            for k in 0..array.elems.len() {
                let subscripts = subscript_text(&subscripts_of(k, &array.dims));
                if name.as_str()[path.as_str().len()..] == subscripts {
                    let value = self.converted_override(inst, value.clone());
                    std::sync::Arc::make_mut(&mut array).elems[k] = value;
                }
            }
        }
        Value::Array(array)
    }

    fn converted_override(&self, inst: InstId, value: Value) -> Value {
        match (self.insts[inst].builtin, &value) {
            (Some(BuiltinClass::Integer), Value::Real(x)) => Value::Integer(x.round() as i64),
            (Some(BuiltinClass::Boolean), Value::Real(x)) => Value::Boolean(*x != 0.0),
            (Some(BuiltinClass::Enum(id)), Value::Real(x)) => Value::Enum(id, x.round() as u32),
            _ => value,
        }
    }

    /// Adds a member to an expandable connector, with the type of another connector.
    pub fn add_member_like(&mut self, bus: InstId, name: Name, like: InstId) -> Res<InstId> {
        if let Some(Child::One(inst)) = self.insts[bus].children.get(&name) {
            return Ok(*inst);
        }
        let class = self.insts[like].class.clone();
        let path = self.child_path(bus, name);
        let depth = self.insts[bus].depth + 1;
        let layers = class.layers.clone();
        let inst = self.new_inst(NewInst {
            purpose: Purpose::Component,
            name,
            path,
            parent: Some(bus),
            class,
            layers,
            n_outer_layers: 0,
            depth,
        });
        self.elaborate(inst)?;
        let dims = if self.insts[like].builtin.is_some() {
            Some(self.var(like)?.dims)
        } else {
            None
        };
        let like_prefixes = self.insts[like].prefixes;
        let like_span = self.insts[like].span;
        let node = &mut self.insts[inst];
        node.dims = dims;
        node.prefixes = Prefixes {
            causality: None,
            protected: false,
            inner: false,
            outer: false,
            is_final: false,
            ..like_prefixes
        };
        node.span = like_span;
        self.insts[bus].children.insert(name, Child::One(inst));
        self.insts[bus].expandable_added.push(name);
        Ok(inst)
    }
}

fn contains_itself(decl: &ast::ComponentDecl) -> Diagnostic {
    let class = decl.ty.parts.last().expect("a path has parts").name;
    Diagnostic::error(
        "recursive-instance",
        decl.name.span,
        format!("`{class}` contains itself without end"),
    )
    .help("a component may not contain a component of its own class")
}

/// A final modifier or declaration cannot be overridden from further out.
fn check_final(layers: &[Layer<'_>], decl: &ast::ComponentDecl) -> Res<()> {
    let gives_value =
        |l: &Layer<'_>| matches!(l.kind, LayerKind::Modification(m) if m.value.is_some());
    let Some(winner) = layers.iter().position(gives_value) else {
        return Ok(());
    };
    let beaten = layers[winner + 1..]
        .iter()
        .find(|l| l.is_final && gives_value(l) && l.span != layers[winner].span);
    let own = decl.modification.as_ref().map(|m| m.span);
    let is_own = own == Some(layers[winner].span);
    let place = match beaten {
        Some(layer) => layer.span,
        None if decl.prefixes.is_final && !is_own && decl.modification.is_some() => decl.name.span,
        None => return Ok(()),
    };
    Err(Box::new(
        Diagnostic::error(
            "final-override",
            layers[winner].span,
            format!("`{}` is final and cannot be modified", decl.name.name),
        )
        .secondary(place, "final here")
        .help("remove the modifier, or the `final`"),
    ))
}

/// Subscripts (from 1) of row-major element `k`.
pub fn subscripts_of(mut k: usize, dims: &[usize]) -> Vec<u32> {
    let mut subs = vec![0; dims.len()];
    for (s, d) in subs.iter_mut().zip(dims).rev() {
        *s = (k % d) as u32 + 1;
        k /= d;
    }
    subs
}

/// `[1,2]`
pub fn subscript_text(subs: &[u32]) -> String {
    let parts: Vec<String> = subs.iter().map(u32::to_string).collect();
    format!("[{}]", parts.join(","))
}

/// A Boolean literal in an annotation.
pub fn annotation_flag(annotation: Option<&ast::Annotation>, name: &str) -> Option<bool> {
    match annotation_value(annotation, name)?.kind {
        ast::ExprKind::Boolean(b) => Some(b),
        _ => None,
    }
}

/// `name = value` in an annotation.
pub fn annotation_value<'x>(
    annotation: Option<&'x ast::Annotation>,
    name: &str,
) -> Option<&'x ast::Expr> {
    annotation?.args.iter().find_map(|arg| match &arg.kind {
        ast::ArgumentKind::Modify {
            path,
            modification: Some(m),
            ..
        } if path.parts.len() == 1 && path.parts[0].name.as_str() == name => m.value.as_ref(),
        _ => None,
    })
}

/// The arguments of `name(…)` in an annotation.
pub fn nested_annotation(
    annotation: Option<&ast::Annotation>,
    name: &str,
) -> Option<ast::Annotation> {
    annotation?.args.iter().find_map(|arg| match &arg.kind {
        ast::ArgumentKind::Modify {
            path,
            modification: Some(m),
            ..
        } if path.parts.len() == 1 && path.parts[0].name.as_str() == name => {
            Some(ast::Annotation {
                args: m.args.clone(),
                span: m.span,
            })
        }
        _ => None,
    })
}

/// The method that an annotation names.
pub fn inline_method(
    value: &ast::Expr,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<flat::InlineMethod> {
    let method = match &value.kind {
        ast::ExprKind::String(name) => flat::InlineMethod::from_name(name),
        _ => None,
    };
    if method.is_none() {
        diagnostics.push(
            Diagnostic::error(
                "inline-not-possible",
                value.span,
                "this is not the name of a method that can be inlined",
            )
            .help("write \"backward-euler\", \"trapezoidal\", \"radau3\" or \"radau5\""),
        );
    }
    method
}
