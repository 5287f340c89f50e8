//! The driver: from a class name to a flat model.
//!
//! Order (DESIGN section 8): instantiate everything; collect equations and connects; expandable connectors; the virtual connection
//! graph; equations that asked about it; connection equations and streams; attributes and bindings; clocks.

use crate::core::*;
use crate::elaborate::{check_modified_once, descend_all};
use crate::instantiate::{annotation_value, inline_method, nested_annotation, subscripts_of};
use crate::lookup::protected_access;
use crate::tree::ClassTree;
use crate::versions::MISFIT;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use saltus_ir::flat::{self, Causality, FlatModel, Origin, StateSelect, Variability};
use saltus_ir::ids::IdVec;
use saltus_ir::types::EnumType;
use saltus_ir::{Base, Expr, ExprId, Ir, Value, VarId};
use saltus_syntax::ast::{self, ExprKind};
use saltus_syntax::{Diagnostic, Name, Span};
use std::rc::Rc;

/// A flattened model, or what is wrong with it.
pub struct Flattened<'a> {
    pub model: Option<FlatModel>,
    pub diagnostics: Vec<Diagnostic>,
    pub tree: ClassTree<'a>,
}

/// Flattens the class with the given qualified name.
pub fn flatten<'a>(tree: ClassTree<'a>, class: &str, options: FlattenOptions) -> Flattened<'a> {
    let mut f = Flattener::new(tree, options);
    let model = match f.run(class) {
        Ok(model) => Some(model),
        Err(e) => {
            f.report(e);
            None
        }
    };
    let mut diagnostics = std::mem::take(&mut f.tree.diagnostics);
    // What else is wrong with a text that is for another version of a library follows from that; what ended the run may be among those of the tree.
    let misfits = diagnostics.iter().any(|d| d.code == MISFIT);
    let follows = |d: &Diagnostic| (misfits && d.is_error()) || diagnostics.contains(d);
    (f.diagnostics).retain(|d| !follows(d));
    diagnostics.append(&mut f.diagnostics);
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    let model = model.filter(|_| !failed);
    Flattened {
        model,
        diagnostics,
        tree: f.tree,
    }
}

impl<'a> Flattener<'a> {
    pub(crate) fn new(tree: ClassTree<'a>, options: FlattenOptions) -> Self {
        let mut ir = Ir::default();
        let literals = |names: &[&str]| names.iter().map(|n| Name::new(n)).collect();
        ir.enums.push(EnumType {
            name: Name::new("StateSelect"),
            literals: literals(&["never", "avoid", "default", "prefer", "always"]),
        });
        ir.enums.push(EnumType {
            name: Name::new("AssertionLevel"),
            literals: literals(&["warning", "error"]),
        });
        let mut f = Flattener {
            tree,
            ir,
            insts: IdVec::default(),
            lexes: IdVec::default(),
            imports: FxHashMap::default(),
            variables: IdVec::default(),
            var_inst: IdVec::default(),
            root: InstId(0),
            diagnostics: Vec::new(),
            inners_added: Vec::new(),
            values: FxHashMap::default(),
            function_locals: FxHashMap::default(),
            enum_ids: FxHashMap::default(),
            checked_texts: Default::default(),
            checked_constraints: Default::default(),
            deriving: Vec::new(),
            record_types: FxHashMap::default(),
            sections: Sections::default(),
            structural: FxHashMap::default(),
            operator_classes: FxHashMap::default(),
            binding_sources: FxHashMap::default(),
            speculative: false,
            nested_in_own_class: 0,
            own_calls: FxHashMap::default(),
            field_sizes: FxHashMap::default(),
            graph: Default::default(),
            graph_solved: false,
            options,
        };
        let name = Name::new("");
        let class = ClassRef {
            source: ClassSource::Node(crate::tree::ROOT),
            enclosing: LexId(0),
            layers: Rc::from([]),
            found_in: None,
            name,
            span: None,
        };
        let root = f.new_inst(NewInst {
            purpose: Purpose::Package,
            name,
            path: name,
            parent: None,
            class,
            layers: Rc::from([]),
            n_outer_layers: 0,
            depth: 0,
        });
        f.root = root;
        let lex = f.insts[root].lex;
        f.lexes[lex].enclosing = None;
        f.insts[root].progress = Progress::Done;
        f
    }

    fn run(&mut self, class: &str) -> Res<FlatModel> {
        let top = self.instantiate_top(class)?;
        let order = self.instantiate_all(top);
        self.stop_if_failed()?;
        for inst in &order {
            self.check_class_constraints(*inst);
        }
        self.stop_if_failed()?;
        for inst in &order {
            self.instance_sections(*inst);
        }
        self.stop_if_failed()?;
        self.expand_expandable()?;
        self.solve_graph()?;
        self.graph_solved = true;
        self.deferred_equations();
        self.stop_if_failed()?;
        // Members that connecting added are components too. Bindings become equations before streams are replaced in all of them.
        let order = self.instantiate_all(top);
        self.finish_variables(top, &order);
        self.stop_if_failed()?;
        self.connection_equations()?;
        self.stop_if_failed()?;
        self.trace_start_values();
        self.apply_overrides();
        self.fold_parameters();
        let mut model = self.build(top);
        if let Err(errors) = crate::clocks::partition_clocks(&mut model) {
            self.diagnostics.extend(errors);
        }
        self.diagnostics
            .extend(crate::discrete::check_discrete(&model));
        Ok(model)
    }

    /// Ends the run if errors were reported; the last one stands for all.
    fn stop_if_failed(&mut self) -> Res<()> {
        match self.diagnostics.iter().position(Diagnostic::is_error) {
            Some(k) => Err(Box::new(self.diagnostics[k].clone())),
            None => match self.tree.diagnostics.iter().find(|d| d.is_error()) {
                Some(d) => Err(Box::new(d.clone())),
                None => Ok(()),
            },
        }
    }

    fn instantiate_top(&mut self, class: &str) -> Res<InstId> {
        let span = self.root_span();
        let mut found: Option<ClassRef<'a>> = None;
        for part in class.split('.') {
            let name = Name::new(part);
            let next = match &found {
                None => self.lookup_top(name, span)?,
                Some(class) => {
                    let class = class.clone();
                    self.class_member(&class, name, span)?
                }
            };
            found = match next {
                Some(Found::Class(c)) => Some(c),
                _ => {
                    let candidates = match &found {
                        None => self.tree.top_level_names(),
                        Some(c) => {
                            let inst = self.class_inst(&c.clone())?;
                            self.insts[inst].elements.keys().copied().collect()
                        }
                    };
                    let diagnostic = Diagnostic::placeless(
                        "unknown-class",
                        format!("there is no class `{class}`"),
                    );
                    return Err(Box::new(match crate::lookup::suggest(name, &candidates) {
                        Some(s) => diagnostic.help(format!("did you mean `{s}` instead of `{part}`?")),
                        None => diagnostic.help("check the name, and name the library folder with `--library` or MODELICAPATH"),
                    }));
                }
            };
        }
        let class = found.expect("a name has a part");
        let Some(def) = self.source_def(&class.source) else {
            return Err(Box::new(Diagnostic::placeless(
                "partial-class",
                format!(
                    "`{}` is a predefined type and cannot be simulated",
                    class.name
                ),
            )));
        };
        if def.partial {
            return Err(Box::new(
                Diagnostic::error(
                    "partial-class",
                    def.name.span,
                    format!("`{}` is partial and cannot be simulated", class.name),
                )
                .help("simulate a class that extends it"),
            ));
        }
        if matches!(
            def.restriction,
            ast::Restriction::Function
                | ast::Restriction::Package
                | ast::Restriction::OperatorFunction
                | ast::Restriction::Operator
        ) {
            let kind = format!("{:?}", def.restriction).to_lowercase();
            return Err(Box::new(
                Diagnostic::error(
                    "partial-class",
                    def.name.span,
                    format!("`{}` is a {kind} and cannot be simulated", class.name),
                )
                .help("name a model or block"),
            ));
        }
        let name = class.name;
        let layers = class.layers.clone();
        let top = self.new_inst(NewInst {
            purpose: Purpose::Component,
            name,
            path: Name::new(""),
            parent: None,
            class,
            layers,
            n_outer_layers: 0,
            depth: 0,
        });
        self.elaborate(top)?;
        Ok(top)
    }

    /// Instantiates all components below `top`; returns all class-typed instances, parents before children.
    fn instantiate_all(&mut self, top: InstId) -> Vec<InstId> {
        let mut order = Vec::new();
        let mut todo = vec![top];
        while let Some(inst) = todo.pop().or_else(|| self.inners_added.pop()) {
            order.push(inst);
            if let Err(e) = self.elaborate(inst) {
                self.report(e);
                continue;
            }
            if self.insts[inst].builtin.is_some() {
                continue;
            }
            if inst == top {
                self.check_modifiers_of_children(inst);
            }
            let mut names: Vec<(Name, Span)> = self.insts[inst]
                .elements
                .iter()
                .filter(|(_, e)| matches!(e.kind, ElementKind::Component(_)))
                .map(|(n, e)| (*n, e.span))
                .collect();
            let span = self.insts[inst].span;
            names.extend(self.insts[inst].expandable_added.iter().map(|n| (*n, span)));
            let mut children = Vec::new();
            for (name, span) in names {
                let both = matches!(self.insts[inst].elements.get(&name).map(|e| &e.kind), Some(ElementKind::Component(d)) if d.prefixes.inner && d.prefixes.outer);
                let child = if both {
                    self.inner_child(inst, name)
                } else {
                    self.child(inst, name, span)
                };
                match child {
                    Ok(Child::One(c)) => children.push(c),
                    Ok(Child::Array { elems, .. }) => children.extend(elems.iter().copied()),
                    Ok(
                        Child::Absent
                        | Child::Class(_)
                        | Child::Outer(_)
                        | Child::OuterArray { .. }
                        | Child::InProgress,
                    ) => {}
                    Err(e) => self.report(e),
                }
            }
            for c in &children {
                if self.insts[*c].builtin.is_none() {
                    self.check_modifiers_of_children(*c);
                }
            }
            todo.extend(children.into_iter().rev());
        }
        order
    }

    /// Modifiers that name an element which the class does not have.
    fn check_modifiers_of_children(&mut self, inst: InstId) {
        if self.elaborate(inst).is_err() {
            return;
        }
        let layers = self.insts[inst].layers.clone();
        for layer in layers.iter() {
            let mut named: Vec<&'a ast::Ident> = Vec::new();
            match layer.kind {
                LayerKind::Modification(m) => {
                    if let Err(e) = check_modified_once(m) {
                        self.report(e);
                    }
                    for arg in &m.args {
                        match &arg.kind {
                            ast::ArgumentKind::Modify { path, .. } => named.push(&path.parts[0]),
                            ast::ArgumentKind::Component(d) => named.push(&d.name),
                            ast::ArgumentKind::Class { def, .. } => named.push(&def.name),
                            ast::ArgumentKind::Break(_) => {}
                        }
                    }
                }
                LayerKind::Path(rest, _) => named.push(&rest[0]),
                LayerKind::Redeclare(_) | LayerKind::Value(_) => {}
            }
            for ident in named {
                let element = self.insts[inst].elements.get(&ident.name);
                if element.is_some_and(|e| e.protected) {
                    let class = self.insts[inst].class.name;
                    self.report(protected_access(ident, class));
                }
                if !self.insts[inst].elements.contains_key(&ident.name) {
                    let class = self.insts[inst].class.name;
                    let candidates: Vec<Name> = self.insts[inst].elements.keys().copied().collect();
                    let diagnostic = Diagnostic::error(
                        "modifier-unknown",
                        ident.span,
                        format!("`{class}` has no element `{}` to modify", ident.name),
                    );
                    self.report(Box::new(
                        match crate::lookup::suggest(ident.name, &candidates) {
                            Some(s) => diagnostic.help(format!("did you mean `{s}`?")),
                            None => diagnostic
                                .help("remove the modifier, or declare the element in the class"),
                        },
                    ));
                }
            }
        }
    }

    /// Attributes and bindings of all variables.
    fn finish_variables(&mut self, top: InstId, order: &[InstId]) {
        for inst in order {
            if self.insts[*inst].builtin.is_none() {
                continue;
            }
            if let Err(e) = self.finish_component(top, *inst) {
                self.report(e);
            }
        }
        // Constants of packages that were referred to as variables.
        let packages: Vec<InstId> = self
            .insts
            .iter()
            .filter(|(_, n)| n.purpose == Purpose::Package && n.var.is_some())
            .map(|(i, _)| i)
            .collect();
        for inst in packages {
            let Some(range) = self.insts[inst].var.clone() else {
                continue;
            };
            let n: usize = range.dims.iter().product();
            let value = self.values.get(&inst).cloned().flatten();
            for k in 0..n {
                let id = VarId(range.first.0 + k as u32);
                self.variables[id].hide_result = true;
                self.variables[id].variability = Variability::Constant;
                if let Some(value) = &value
                    && let Ok(e) = self.value_literal(value, k, &range.dims)
                {
                    self.variables[id].binding = Some(e);
                }
            }
        }
    }

    /// Values from outside for parameters that were not evaluated.
    fn apply_overrides(&mut self) {
        for (path, value) in self.options.overrides.clone() {
            let found = self.variables.iter().find(|(_, v)| v.name == path);
            let Some((id, variable)) = found.filter(|(_, v)| v.structural.is_none()) else {
                continue;
            };
            let base = variable.base;
            if let (Base::String, Value::String(text)) = (base, &value) {
                self.variables[id].binding = Some(self.ir.string(text));
                continue;
            }
            let literal = match (base, value.as_f64()) {
                (Base::Real, Some(x)) => self.ir.real(x),
                (Base::Integer, Some(x)) => self.ir.integer(x.round() as i64),
                (Base::Boolean, Some(x)) => self.ir.boolean(x != 0.0),
                (Base::Enum(e), Some(x)) => {
                    let expr = Expr::Enum(e, x.round() as u32);
                    self.ir.add_scalar(expr, base)
                }
                _ => continue,
            };
            self.variables[id].binding = Some(literal);
        }
    }

    pub(crate) fn value_literal(&mut self, value: &Value, k: usize, dims: &[usize]) -> Res<ExprId> {
        let scalar = match value {
            Value::Array(a) => match a.elems.get(k) {
                Some(v) => v.clone(),
                None => {
                    return Err(Box::new(Diagnostic::error(
                        "array-size-mismatch",
                        self.root_span(),
                        format!("no element {:?}", subscripts_of(k, dims)),
                    )));
                }
            },
            v => v.clone(),
        };
        Ok(match scalar {
            Value::Real(x) => self.ir.real(x),
            Value::Integer(i) => self.ir.integer(i),
            Value::Boolean(b) => self.ir.boolean(b),
            Value::String(s) => self.ir.string(&s),
            Value::Enum(id, k) => self.ir.add_scalar(Expr::Enum(id, k), Base::Enum(id)),
            Value::Array(_) | Value::Record(_) | Value::Object(_) | Value::Function(..) => {
                return Err(Box::new(Diagnostic::error(
                    "type-mismatch",
                    self.root_span(),
                    "a scalar value is expected",
                )));
            }
        })
    }

    fn finish_component(&mut self, top: InstId, inst: InstId) -> Res<()> {
        let range = self.var(inst)?;
        let n: usize = range.dims.iter().product();
        let ids: Vec<VarId> = (0..n).map(|k| VarId(range.first.0 + k as u32)).collect();
        if self.insts[inst].parent == Some(top) {
            let causality = match self.insts[inst].prefixes.causality {
                Some(ast::Causality::Input) => Causality::Input,
                Some(ast::Causality::Output) => Causality::Output,
                None => Causality::Local,
            };
            for id in &ids {
                self.variables[*id].causality = causality;
            }
        } else if self.insts[inst].prefixes.causality == Some(ast::Causality::Input) {
            for id in &ids {
                self.variables[*id].component_input = true;
            }
        }
        self.check_attribute_names(inst);
        self.attributes(inst, &range, &ids)?;
        self.component_binding(inst, &range, &ids)
    }

    fn check_attribute_names(&mut self, inst: InstId) {
        const ATTRIBUTES: [&str; 11] = [
            "start",
            "fixed",
            "min",
            "max",
            "nominal",
            "unit",
            "displayUnit",
            "quantity",
            "stateSelect",
            "unbounded",
            "value",
        ];
        for layer in self.insts[inst].layers.clone().iter() {
            let LayerKind::Modification(m) = layer.kind else {
                continue;
            };
            for arg in &m.args {
                if let ast::ArgumentKind::Modify { path, .. } = &arg.kind
                    && !ATTRIBUTES.contains(&path.parts[0].name.as_str())
                {
                    let candidates: Vec<Name> = ATTRIBUTES.iter().map(|a| Name::new(a)).collect();
                    let ident = &path.parts[0];
                    let diagnostic = Diagnostic::error(
                        "modifier-unknown",
                        ident.span,
                        format!("`{}` is not an attribute of this type", ident.name),
                    );
                    self.report(Box::new(match crate::lookup::suggest(ident.name, &candidates) {
                        Some(s) => diagnostic.help(format!("did you mean `{s}`?")),
                        None => diagnostic.help("attributes are start, fixed, min, max, nominal, unit, displayUnit, quantity, stateSelect"),
                    }));
                }
            }
        }
    }

    fn attributes(&mut self, inst: InstId, range: &VarRange, ids: &[VarId]) -> Res<()> {
        if ids.is_empty() {
            return Ok(());
        }
        if let Some((values, level)) = self.attribute(inst, "start", range, ids.len())? {
            for (id, v) in ids.iter().zip(values) {
                self.variables[*id].start = Some(v);
                self.variables[*id].start_confidence = flat::Confidence::at(level);
            }
        }
        if let Some((values, _)) = self.attribute(inst, "fixed", range, ids.len())? {
            for (id, v) in ids.iter().zip(values) {
                // It decides about unknowns: parameters in it are structural.
                let known = self.const_eval(v, self.insts[inst].span).ok();
                let fixed = known.and_then(|value| value.as_bool());
                self.variables[*id].fixed = Some(match fixed {
                    Some(fixed) => self.ir.boolean(fixed),
                    None => v,
                });
            }
        }
        if range.base == Base::Real
            || range.base == Base::Integer
            || matches!(range.base, Base::Enum(_))
        {
            if let Some((values, _)) = self.attribute(inst, "min", range, ids.len())? {
                for (id, v) in ids.iter().zip(values) {
                    self.variables[*id].min = Some(v);
                }
            }
            if let Some((values, _)) = self.attribute(inst, "max", range, ids.len())? {
                for (id, v) in ids.iter().zip(values) {
                    self.variables[*id].max = Some(v);
                }
            }
        }
        if range.base == Base::Real {
            if let Some((values, _)) = self.attribute(inst, "nominal", range, ids.len())? {
                for (id, v) in ids.iter().zip(values) {
                    self.variables[*id].nominal = Some(v);
                }
            }
            if let Some((values, _)) = self.attribute(inst, "stateSelect", range, ids.len())? {
                for (id, v) in ids.iter().zip(values) {
                    let span = self.insts[inst].span;
                    self.variables[*id].state_select = match self.const_eval(v, span)? {
                        Value::Enum(_, 1) => StateSelect::Never,
                        Value::Enum(_, 2) => StateSelect::Avoid,
                        Value::Enum(_, 4) => StateSelect::Prefer,
                        Value::Enum(_, 5) => StateSelect::Always,
                        _ => StateSelect::Default,
                    };
                }
            }
        }
        for attribute in ["unit", "displayUnit", "quantity"] {
            let Some((values, _)) = self.attribute(inst, attribute, range, ids.len())? else {
                continue;
            };
            for (id, v) in ids.iter().zip(values) {
                let Expr::String(text) = *self.ir.expr(v) else {
                    continue;
                };
                let variable = &mut self.variables[*id];
                match attribute {
                    "unit" => variable.unit = Some(text),
                    "displayUnit" => variable.display_unit = Some(text),
                    _ => variable.quantity = Some(text),
                }
            }
        }
        Ok(())
    }

    /// The value of an attribute for each element, and the level of its modifier.
    fn attribute(
        &mut self,
        inst: InstId,
        name: &str,
        range: &VarRange,
        n: usize,
    ) -> Res<Option<(Vec<ExprId>, u32)>> {
        let Some(layer) = self.attribute_layer(inst, Name::new(name)) else {
            return Ok(None);
        };
        self.check_final_attribute(inst, name, &layer)?;
        let Some(e) = self.layer_value(&layer)? else {
            return Ok(None);
        };
        let wanted = match name {
            "fixed" => Base::Boolean,
            "unit" | "displayUnit" | "quantity" => Base::String,
            "stateSelect" => Base::Enum(STATE_SELECT),
            _ => range.base,
        };
        let found = self.ir.base(e);
        if found != wanted && !(wanted == Base::Real && found == Base::Integer) {
            return Err(Box::new(
                Diagnostic::error(
                    "type-mismatch",
                    layer.span,
                    format!(
                        "attribute `{name}` of `{}` has type `{}`, its value type `{}`",
                        self.insts[inst].path,
                        self.text_of_type(&saltus_ir::Type::scalar(wanted)),
                        self.type_text_of(e)
                    ),
                )
                .help("give a value of the attribute's type"),
            ));
        }
        let leaves = self.leaves(e, layer.span)?;
        if leaves.len() == n && (!self.ir.ty(e).is_scalar() || range.dims.is_empty()) {
            return Ok(Some((leaves, layer.level)));
        }
        if leaves.len() == 1 && self.ir.ty(e).is_scalar() {
            // A scalar in the definition of the type, with `each`, or on an array variable is the value of every element.
            return Ok(Some((vec![leaves[0]; n], layer.level)));
        }
        Err(Box::new(Diagnostic::error(
            "array-size-mismatch",
            layer.span,
            format!(
                "attribute `{name}` of `{}` has {} values, the variable {n} elements",
                self.insts[inst].path,
                leaves.len()
            ),
        )))
    }

    /// A final attribute cannot be set again from further out (specification 7.2.6).
    fn check_final_attribute(&self, inst: InstId, name: &str, winner: &Layer<'a>) -> Res<()> {
        let node = &self.insts[inst];
        let attribute = Name::new(name);
        let all = descend_all(&node.layers, attribute)
            .into_iter()
            .chain(descend_all(&node.type_layers, attribute));
        match all.skip(1).find(|l| l.is_final && l.span != winner.span) {
            Some(beaten) => Err(Box::new(
                Diagnostic::error(
                    "final-override",
                    winner.span,
                    format!(
                        "attribute `{name}` of `{}` is final and cannot be modified",
                        node.path
                    ),
                )
                .secondary(beaten.span, "final here")
                .help("remove the modifier, or the `final`"),
            )),
            None => Ok(()),
        }
    }

    /// The value of a component must have its type; an Integer may stand for a Real.
    pub(crate) fn check_binding_type(&self, inst: InstId, base: Base, binding: ExprId) -> Res<()> {
        let bound = self.ir.base(binding);
        let span = self.insts[inst].span;
        let fits = match (base, bound) {
            (Base::Real, Base::Integer) => true,
            (a, b) => a == b,
        };
        if !fits {
            return Err(Box::new(
                Diagnostic::error(
                    "type-mismatch",
                    span,
                    format!(
                        "`{}` has type `{}`, its value type `{}`",
                        self.insts[inst].path,
                        self.text_of_type(&saltus_ir::Type::scalar(base)),
                        self.type_text_of(binding)
                    ),
                )
                .help("give a value of the declared type"),
            ));
        }
        Ok(())
    }

    /// The value of a constant depends on constants only (specification 3.8.4).
    fn check_constant_value(&self, inst: InstId, binding: ExprId) -> Res<()> {
        let is_constant = self.insts[inst].prefixes.variability == Variability::Constant;
        // A constant of a record has the value that the record brings.
        let in_record = (self.insts[inst].parent)
            .is_some_and(|p| crate::core::is_value_as_whole(self.insts[p].restriction));
        if !is_constant || in_record || self.expr_variability(binding) < Variability::Parameter {
            return Ok(());
        }
        Err(Box::new(
            Diagnostic::error(
                "variability-violation",
                self.insts[inst].span,
                format!(
                    "the value of constant `{}` depends on what is no constant",
                    self.insts[inst].path
                ),
            )
            .help("constants may depend only on constants; declare it `final parameter`"),
        ))
    }

    fn component_binding(&mut self, inst: InstId, range: &VarRange, ids: &[VarId]) -> Res<()> {
        let span = self.insts[inst].span;
        let variability = self.insts[inst].prefixes.variability;
        let decide = variability == Variability::Constant
            || variability == Variability::Parameter
                && self.insts[inst].evaluate
                && range.base != Base::String
                && !matches!(range.base, Base::Object(_));
        if decide && !self.values.contains_key(&inst) && !ids.is_empty() {
            // Final and Evaluate parameters are folded where possible; otherwise they stay parameters.
            let _ = self.speculative_value(inst, span);
        }
        if let Some(Some(value)) = self.values.get(&inst).cloned()
            && !matches!(range.base, Base::Object(_))
        {
            if let Some(binding) = self.binding(inst)? {
                self.check_binding_type(inst, range.base, binding)?;
                self.check_constant_value(inst, binding)?;
                let leaves = self.leaves(binding, span).unwrap_or_default();
                self.note_binding(inst, ids, &leaves);
            }
            for (k, id) in ids.iter().enumerate() {
                let literal = self.value_literal(&value, k, &range.dims)?;
                self.variables[*id].binding = Some(self.real_literal(literal, range.base));
                self.variables[*id].structural = Some(
                    self.structural
                        .get(&inst)
                        .copied()
                        .unwrap_or("it is a constant"),
                );
            }
            return Ok(());
        }
        let Some(binding) = self.binding(inst)? else {
            return Ok(());
        };
        self.check_binding_type(inst, range.base, binding)?;
        let binding = if variability == Variability::Parameter && self.calls_impure(binding) {
            self.own_impure_calls(inst, binding)?
        } else {
            binding
        };
        let bound = self.ir.ty(binding).clone();
        let leaves = self.leaves(binding, span)?;
        let leaves = if leaves.len() == ids.len() && (!bound.is_scalar() || range.dims.is_empty()) {
            leaves
        } else if bound.is_scalar() && self.broadcast_allowed(inst) {
            vec![leaves[0]; ids.len()]
        } else {
            let declared: Vec<String> = range.dims.iter().map(usize::to_string).collect();
            return Err(Box::new(
                Diagnostic::error(
                    "array-size-mismatch",
                    span,
                    format!("`{}` has size [{}], its value type `{}`", self.insts[inst].path, declared.join(", "), self.type_text_of(binding)),
                )
                .help("give as many values as the declaration has elements, or write `each` in the modifier"),
            ));
        };
        self.check_constant_value(inst, binding)?;
        if variability <= Variability::Parameter {
            if self.binding_variability(&leaves) > Variability::Parameter {
                return Err(Box::new(
                    Diagnostic::error("variability-violation", span, format!("the value of parameter `{}` depends on a variable", self.insts[inst].path))
                        .help("parameters may depend only on parameters and constants; remove `parameter`, or use `fixed = false` with an initial equation"),
                ));
            }
            self.note_binding(inst, ids, &leaves);
            for (id, e) in ids.iter().zip(leaves) {
                self.variables[*id].binding = Some(e);
            }
            return Ok(());
        }
        let origin = Origin {
            span,
            component: self.insts[inst]
                .parent
                .map_or(Name::new(""), |p| self.insts[p].path),
        };
        for (id, e) in ids.iter().zip(leaves) {
            let lhs = self.var_expr(*id);
            self.sections.equations.push(flat::Equation {
                lhs,
                rhs: e,
                origin,
            });
        }
        Ok(())
    }

    pub(crate) fn real_literal(&mut self, literal: ExprId, base: Base) -> ExprId {
        match (base, self.ir.expr(literal)) {
            (Base::Real, Expr::Integer(i)) => {
                let x = *i as f64;
                self.ir.real(x)
            }
            _ => literal,
        }
    }

    /// Variability of the binding of a parameter: impure functions are called once, at the start (specification 12.3).
    fn binding_variability(&self, leaves: &[ExprId]) -> Variability {
        leaves
            .iter()
            .map(|e| self.variability_with(*e, Variability::Parameter))
            .max()
            .unwrap_or(Variability::Constant)
    }

    /// A binding in which calls of impure functions are not those of other components: each component has its own value. Equal calls
    /// are one expression, so the functions are copies. The fields of a record share the calls in the value of the record.
    fn own_impure_calls(&mut self, inst: InstId, binding: ExprId) -> Res<ExprId> {
        let mut owner = inst;
        while let Some(parent) = self.insts[owner].parent
            && crate::core::is_value_as_whole(self.insts[parent].restriction)
            && self.binding(parent)?.is_some()
        {
            owner = parent;
        }
        let mut new: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for node in self.ir.reachable(&[binding]) {
            let rebuilt = (self.ir).map_children(node, |_, c| new.get(&c).copied().unwrap_or(c));
            let own = match self.ir.expr(rebuilt).clone() {
                Expr::Call { function, args } if self.ir.functions[function].impure => {
                    match self.own_calls.get(&(owner, rebuilt)) {
                        Some(&own) => own,
                        None => {
                            let copy = self.ir.functions[function].clone();
                            let function = self.ir.functions.push(copy);
                            let ty = self.ir.type_id(rebuilt);
                            let own = self.ir.add(Expr::Call { function, args }, ty);
                            self.own_calls.insert((owner, rebuilt), own);
                            own
                        }
                    }
                }
                _ => rebuilt,
            };
            new.insert(node, own);
        }
        Ok(new[&binding])
    }

    /// The winning binding was written with `each`.
    fn broadcast_allowed(&self, inst: InstId) -> bool {
        self.insts[inst]
            .layers
            .iter()
            .find(|l| matches!(l.kind, LayerKind::Modification(m) if m.value.is_some()))
            .is_some_and(|l| l.each)
    }

    /// The text of a class by its qualified name.
    fn definition_of(&mut self, name: Name) -> Option<&'a ast::ClassDef> {
        let mut node = crate::tree::ROOT;
        for part in name.as_str().split('.') {
            node = self.tree.child(node, Name::new(part))?;
        }
        self.tree.def(node)
    }

    fn build(&mut self, top: InstId) -> FlatModel {
        let sections = std::mem::take(&mut self.sections);
        let (name, def) = match self.options.stands_for {
            Some(name) => (name, self.definition_of(name)),
            None => (self.insts[top].name, self.insts[top].def),
        };
        let annotation = def.and_then(|d| d.annotation.as_ref());
        let experiment = experiment(annotation, &mut self.diagnostics);
        FlatModel {
            name,
            description: def
                .and_then(|d| d.description.as_deref())
                .unwrap_or("")
                .to_owned(),
            span: def.map_or(self.insts[top].span, |d| d.name.span),
            ir: std::mem::take(&mut self.ir),
            variables: std::mem::take(&mut self.variables),
            equations: sections.equations,
            initial_equations: sections.initial_equations,
            whens: sections.whens,
            algorithms: sections.algorithms,
            initial_algorithms: sections.initial_algorithms,
            asserts: sections.asserts,
            partitions: Vec::new(),
            experiment,
        }
    }
}

/// `annotation(experiment(StartTime = …, StopTime = …, Tolerance = …, Interval = …))` and
/// `annotation(__Saltus(inline = …, inlineStep = …))`
fn experiment(
    annotation: Option<&ast::Annotation>,
    diagnostics: &mut Vec<Diagnostic>,
) -> flat::Experiment {
    let mut found: IndexMap<&str, f64> = IndexMap::new();
    if let Some(inner) = nested_annotation(annotation, "experiment") {
        for key in [
            "StartTime",
            "StopTime",
            "Tolerance",
            "Interval",
            "NumberOfIntervals",
        ] {
            if let Some(x) = annotation_value(Some(&inner), key).and_then(number) {
                found.insert(key, x);
            }
        }
    }
    let get = |k: &str| found.get(k).copied();
    let interval = get("Interval").or_else(|| {
        let n = get("NumberOfIntervals")?;
        Some((get("StopTime")? - get("StartTime").unwrap_or(0.0)) / n)
    });
    let saltus = nested_annotation(annotation, "__Saltus");
    let value = |name| annotation_value(saltus.as_ref(), name);
    flat::Experiment {
        inline: value("inline").and_then(|e| inline_method(e, diagnostics)),
        inline_step: value("inlineStep").and_then(|e| {
            let step = number(e).filter(|step| *step > 0.0);
            if step.is_none() {
                let text = "the step of inlined integrators is a positive number of seconds";
                diagnostics.push(Diagnostic::error("inline-not-possible", e.span, text));
            }
            step
        }),
        start_time: get("StartTime"),
        stop_time: get("StopTime"),
        tolerance: get("Tolerance"),
        interval,
    }
}

fn number(e: &ast::Expr) -> Option<f64> {
    match &e.kind {
        ExprKind::Real(x) => Some(*x),
        ExprKind::Integer(i) => Some(*i as f64),
        ExprKind::Unary(ast::UnaryOp::Minus, a) => number(a).map(|x| -x),
        ExprKind::Unary(ast::UnaryOp::Plus, a) => number(a),
        ExprKind::Binary(op, a, b) => {
            let (x, y) = (number(a)?, number(b)?);
            match op {
                ast::BinaryOp::Add => Some(x + y),
                ast::BinaryOp::Sub => Some(x - y),
                ast::BinaryOp::Mul => Some(x * y),
                ast::BinaryOp::Div => Some(x / y),
                _ => None,
            }
        }
        _ => None,
    }
}
