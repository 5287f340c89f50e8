//! Function classes to IR functions (specification chapter 12), types of function and record elements, and statements (chapter 11).
//!
//! Comes in: a class instance. Goes out: a [`Function`] with its locals, memoised on the instance; it is registered before its body
//! is lowered so that recursive functions find themselves. Constants of a function are no locals: they are replaced by their values.

use crate::core::*;
use crate::elaborate::descend_all;
use crate::instantiate::{annotation_flag, annotation_value};
use crate::lookup::Effective;
use crate::tree::ROOT;
use crate::typing::{Cx, Target, error, error_help, find_use, unsupported, use_in_ref};
use saltus_ir::func::{
    self, Access, AssertLevel, DerivativeRule, External, ExternalArg, ForeignCode, Function,
    FunctionBody, Inline, Local, Place, StatementKind,
};
use saltus_ir::types::ObjectType;
use saltus_ir::{Base, Dim, Expr, ExprId, FuncId, LocalId, ObjectId, RecordId, Sub, Type, VarId};
use saltus_syntax::ast::{self, CallArgs, ExprKind};
use saltus_syntax::{Diagnostic, Name, Span};
use std::sync::Arc;

/// Most passes of a loop in a model's algorithm that is unrolled.
const UNROLL_MAX: usize = 10_000;

/// What the declaration of a component says, before its sizes are known.
struct Declared<'a> {
    effective: Effective<'a>,
    decl: &'a ast::ComponentDecl,
    class: InstId,
    base: Base,
}

/// A local with the syntax of its sizes and value.
struct Pending<'a> {
    local: LocalId,
    declared: Declared<'a>,
}

impl<'a> Flattener<'a> {
    /// The function of a class, lowered on first use.
    pub fn function(&mut self, class: &ClassRef<'a>) -> Res<FuncId> {
        let inst = self.class_inst(class)?;
        self.elaborate(inst)?;
        if !self.is_function_class(inst) {
            let span = class.span.unwrap_or(self.insts[inst].span);
            return Err(error(
                "type-mismatch",
                span,
                format!("`{}` is not a function", class.name),
            ));
        }
        self.function_of_inst(inst)
    }

    pub(crate) fn is_function_class(&self, inst: InstId) -> bool {
        matches!(
            self.insts[inst].restriction,
            ast::Restriction::Function | ast::Restriction::OperatorFunction
        )
    }

    /// The text that makes up the function: the class itself, or what a short class stands for.
    fn main_def(&self, inst: InstId) -> Option<&'a ast::ClassDef> {
        let text = self.insts[inst].texts.last().copied();
        text.and_then(|t| self.lexes[t].def)
            .or(self.insts[inst].def)
    }

    pub(crate) fn function_of_inst(&mut self, inst: InstId) -> Res<FuncId> {
        if let Some(f) = self.insts[inst].function {
            return Ok(f);
        }
        self.elaborate(inst)?;
        let name = self.insts[inst].path;
        let def = self.main_def(inst);
        let span = def.map_or(self.insts[inst].span, |d| d.name.span);
        if let Some(def) = self.insts[inst].def.or(def)
            && let ast::ClassBody::Derivative { base, variables } = &def.body
        {
            let id = self.partial_derivative(inst, def, base, variables)?;
            self.insts[inst].function = Some(id);
            return Ok(id);
        }
        let impure = [self.insts[inst].def, def]
            .into_iter()
            .flatten()
            .any(|d| d.purity == ast::Purity::Impure);
        let id = self.ir.functions.push(Function {
            name,
            span,
            inputs: Vec::new(),
            outputs: Vec::new(),
            protected: Vec::new(),
            body: FunctionBody::Missing,
            inline: self.inline_annotation(inst),
            impure,
            derivatives: Vec::new(),
        });
        self.insts[inst].function = Some(id);
        let saved = self.function_locals.remove(&inst);
        let result = self.lower_function(inst, id);
        match saved {
            Some(locals) => self.function_locals.insert(inst, locals),
            None => self.function_locals.remove(&inst),
        };
        if let Err(e) = result {
            // The next user gets the same message, not a function without body.
            self.insts[inst].function = None;
            return Err(e);
        }
        Ok(id)
    }

    /// `function f_x = der(f, x)` (specification 12.7.2): the inputs of `f`, and as output the partial derivative of its output
    /// with respect to the named inputs, one after the other. The call of `f` is differentiated with variables as
    /// arguments, which the inputs replace then.
    fn partial_derivative(
        &mut self,
        inst: InstId,
        def: &'a ast::ClassDef,
        base: &'a ast::Path,
        variables: &'a [ast::Ident],
    ) -> Res<FuncId> {
        let class = self.find_class(self.insts[inst].class.enclosing, base)?;
        if self.deriving.contains(&inst) {
            return Err(error(
                "recursive-instance",
                base.span,
                format!("`{}` is the derivative of itself", self.insts[inst].path),
            ));
        }
        self.deriving.push(inst);
        let f = self.function(&class);
        self.deriving.pop();
        let f = f?;
        let inputs = self.ir.functions[f].inputs.clone();
        let ty = |this: &Self, l: LocalId| this.ir.type_of_id(this.ir.locals[l].ty).clone();
        let output = match self.ir.functions[f].outputs[..] {
            [only] if ty(self, only) == Type::scalar(Base::Real) => only,
            _ => {
                let what = "a partial derivative of a function without exactly one Real output";
                return Err(unsupported(base.span, what));
            }
        };
        if inputs.iter().any(|&l| !ty(self, l).is_scalar()) {
            let what = "a partial derivative of a function with inputs that are no scalars";
            return Err(unsupported(base.span, what));
        }
        // Numbers that no variable of the model has.
        let stand_in = |k: usize| VarId(u32::MAX - k as u32);
        let args: Vec<ExprId> = (inputs.iter().enumerate())
            .map(|(k, &l)| {
                let base = ty(self, l).base;
                self.ir.var(stand_in(k), base)
            })
            .collect();
        let call = Expr::Call {
            function: f,
            args: args.into(),
        };
        let mut value = self.ir.add_scalar(call, Base::Real);
        for variable in variables {
            let position = (inputs.iter()).position(|&l| {
                self.ir.locals[l].name == variable.name && ty(self, l).base == Base::Real
            });
            let Some(k) = position else {
                return Err(error_help(
                    "unknown-name",
                    variable.span,
                    format!("`{}` is no Real input of `{}`", variable.name, class.name),
                    "differentiate with respect to inputs",
                ));
            };
            value = saltus_ir::diff::partial(&mut self.ir, value, stand_in(k)).map_err(|why| {
                error_help(
                    "not-differentiable",
                    variable.span,
                    format!("`{}` cannot be differentiated: {why}", class.name),
                    "write the derivative as a function of its own",
                )
            })?;
        }
        let copies: Vec<LocalId> = (inputs.iter().chain([&output]))
            .map(|&l| {
                let local = func::Local {
                    default: None,
                    ..self.ir.locals[l].clone()
                };
                self.ir.locals.push(local)
            })
            .collect();
        let (result, copies) = copies.split_last().expect("the output was copied");
        let replacements: Vec<ExprId> = (copies.iter())
            .map(|&l| self.ir.add(Expr::Local(l), self.ir.locals[l].ty))
            .collect();
        let value = self.ir.substitute(value, &mut |v| {
            replacements.get((u32::MAX - v.0) as usize).copied()
        });
        let span = def.name.span;
        let statement = func::Statement {
            kind: func::StatementKind::Assign {
                target: func::Target {
                    place: Place::Local(*result),
                    access: Vec::new(),
                },
                value,
            },
            span,
        };
        Ok(self.ir.functions.push(Function {
            name: self.insts[inst].path,
            span,
            inputs: copies.to_vec(),
            outputs: vec![*result],
            protected: Vec::new(),
            body: FunctionBody::Algorithm(vec![statement]),
            inline: func::Inline::Unstated,
            impure: false,
            derivatives: Vec::new(),
        }))
    }

    fn lower_function(&mut self, inst: InstId, id: FuncId) -> Res<()> {
        self.function_locals.insert(inst, Default::default());
        let names = self.component_names(inst);
        let mut pending: Vec<Pending<'a>> = Vec::new();
        for name in names {
            let declared = self.declared(inst, name)?;
            if declared.decl.type_prefixes.variability == Some(ast::Variability::Constant) {
                continue;
            }
            let causality = declared
                .effective
                .element
                .type_prefixes()
                .causality
                .or(self.insts[declared.class].type_prefixes.causality);
            if causality.is_none() && !declared.effective.element.protected {
                return Err(error_help(
                    "misplaced-prefix",
                    declared.decl.name.span,
                    format!("public variable `{name}` of a function is neither input nor output"),
                    "declare it `input`, `output` or in a `protected` section",
                ));
            }
            let local = self.new_local(name, &declared);
            let f = &mut self.ir.functions[id];
            match causality {
                Some(ast::Causality::Input) => f.inputs.push(local),
                Some(ast::Causality::Output) => f.outputs.push(local),
                None => f.protected.push(local),
            }
            self.function_locals
                .entry(inst)
                .or_default()
                .insert(name, local);
            if declared.base == Base::Function {
                self.argument_stub(local, declared.class)?;
            }
            pending.push(Pending { local, declared });
        }
        for p in &pending {
            self.lower_dims(p)?;
        }
        let mut prologue = Vec::new();
        for p in &pending {
            let is_input = self.ir.functions[id].inputs.contains(&p.local);
            self.lower_default(p, is_input, &mut prologue)?;
        }
        let body = self.function_body(inst, id, prologue)?;
        self.ir.functions[id].body = body;
        self.derivative_rules(inst, id)
    }

    /// The declaration of a component with redeclarations applied, and its class.
    fn declared(&mut self, inst: InstId, name: Name) -> Res<Declared<'a>> {
        let effective = self.effective(inst, name);
        let ElementKind::Component(decl) = effective.element.kind else {
            unreachable!("a component element")
        };
        let class = self.find_class(effective.element.lex, &decl.ty)?;
        let class = self.class_inst(&class)?;
        self.elaborate(class)?;
        let base = self.base_of_class(class, decl.ty.span)?;
        Ok(Declared {
            effective,
            decl,
            class,
            base,
        })
    }

    fn new_local(&mut self, name: Name, declared: &Declared<'a>) -> LocalId {
        let rank = self.declared_subscripts(declared).len();
        let unit = self.declared_unit(declared);
        let ty = self.ir.intern_type(Type {
            base: declared.base,
            dims: vec![Dim::Unknown; rank],
        });
        self.ir.locals.push(Local {
            name,
            ty,
            dims: vec![None; rank],
            default: None,
            span: declared.decl.name.span,
            unit,
        })
    }

    /// The unit of an input, output or local variable of a function: its own, or that of its type.
    fn declared_unit(&mut self, declared: &Declared<'a>) -> Option<Name> {
        let args = declared.decl.modification.iter().flat_map(|m| &m.args);
        let mut own = args.filter_map(|argument| match &argument.kind {
            ast::ArgumentKind::Modify {
                path,
                modification: Some(modification),
                ..
            } if path.parts.iter().map(|p| p.name).eq([Name::new("unit")]) => {
                modification.value.as_ref()
            }
            _ => None,
        });
        if let Some(ExprKind::String(text)) = own.next_back().map(|value| &value.kind) {
            return Some(Name::new(text));
        }
        let layer = self.attribute_layer(declared.class, Name::new("unit"))?;
        let value = self.layer_value(&layer).ok()??;
        match *self.ir.expr(value) {
            Expr::String(text) => Some(text),
            _ => None,
        }
    }

    /// A function that stands for the function-typed input `local`.
    fn argument_stub(&mut self, local: LocalId, class: InstId) -> Res<()> {
        let declared = self.function_of_inst(class)?;
        let mut stub = self.ir.functions[declared].clone();
        stub.body = FunctionBody::Argument(local);
        stub.derivatives.clear();
        stub.inline = Inline::Never;
        self.ir.functions.push(stub);
        Ok(())
    }

    fn lower_dims(&mut self, p: &Pending<'a>) -> Res<()> {
        let dims = self.declared_dims(&p.declared)?;
        let known = dims
            .iter()
            .map(|d| match d.map(|e| self.ir.expr(e)) {
                Some(Expr::Integer(n)) => u32::try_from(*n).map_or(Dim::Unknown, Dim::Known),
                _ => Dim::Unknown,
            })
            .collect();
        let ty = self.ir.intern_type(Type {
            base: p.declared.base,
            dims: known,
        });
        let local = &mut self.ir.locals[p.local];
        local.ty = ty;
        local.dims = dims;
        Ok(())
    }

    fn declared_subscripts(&self, declared: &Declared<'a>) -> Vec<(&'a ast::Subscript, LexId)> {
        let of_type = &self.insts[declared.class].type_dims;
        let mut all = declared.effective.element.dims(!of_type.is_empty());
        all.extend(of_type.iter().copied());
        all
    }

    fn declared_dims(&mut self, declared: &Declared<'a>) -> Res<Vec<Option<ExprId>>> {
        let all = self.declared_subscripts(declared);
        let mut dims = Vec::with_capacity(all.len());
        for (sub, lex) in all {
            dims.push(self.dim_expr(
                Scope {
                    lex,
                    iterators: None,
                },
                sub,
            )?);
        }
        Ok(dims)
    }

    /// The size that a dimension of a declaration asks for; `None` for `:`. Enumeration types and Boolean are sizes too.
    pub fn dim_expr(&mut self, scope: Scope<'_>, sub: &'a ast::Subscript) -> Res<Option<ExprId>> {
        let ast::Subscript::Expr(e) = sub else {
            return Ok(None);
        };
        if let ExprKind::Ref(r) = &e.kind
            && let Target::Class(class) = self.cref(scope, r)?
        {
            let inst = self.class_inst(&class)?;
            self.elaborate(inst)?;
            let n = match self.insts[inst].builtin {
                Some(BuiltinClass::Boolean) => 2,
                Some(BuiltinClass::Enum(id)) => self.ir.enums[id].literals.len() as i64,
                _ => {
                    return Err(error(
                        "type-mismatch",
                        e.span,
                        format!("`{}` is no array size", class.name),
                    ));
                }
            };
            return Ok(Some(self.ir.integer(n)));
        }
        let size = self.expr(scope, e)?;
        self.expect_scalar(size, Base::Integer, "an array size", e.span)?;
        Ok(Some(size))
    }

    /// The value of the outermost modifier that gives one, and its scope.
    fn value_syntax(layers: &[Layer<'a>]) -> Option<(&'a ast::Expr, LexId)> {
        layers.iter().find_map(|layer| match layer.kind {
            LayerKind::Modification(m) => m.value.as_ref().map(|v| (v, layer.lex)),
            LayerKind::Value(e) => Some((e, layer.lex)),
            LayerKind::Path(..) | LayerKind::Redeclare(_) => None,
        })
    }

    /// Default of an input, initial value of others. A record that is no input begins with the values of its declaration and of its
    /// class (specification 12.4.4); where not every field has one, they become assignments at the start of the body.
    fn lower_default(
        &mut self,
        p: &Pending<'a>,
        is_input: bool,
        prologue: &mut Vec<func::Statement>,
    ) -> Res<()> {
        let layers = &p.declared.effective.layers;
        if let Some((e, lex)) = Self::value_syntax(layers) {
            if matches!(e.kind, ExprKind::Break) {
                return Ok(());
            }
            let value = self.expr(
                Scope {
                    lex,
                    iterators: None,
                },
                e,
            )?;
            self.check_assignable(self.ir.locals[p.local].ty, value, e.span)?;
            let value = self.adapt(value, p.declared.base);
            self.ir.locals[p.local].default = Some(value);
            return Ok(());
        }
        let ty = self.ir.type_of_id(self.ir.locals[p.local].ty).clone();
        let Base::Record(record) = ty.base else {
            return Ok(());
        };
        if !ty.is_scalar() {
            return Ok(());
        }
        let fields: Vec<Name> = self.ir.records[record]
            .fields
            .iter()
            .map(|f| f.name)
            .collect();
        let mut values = vec![None; fields.len()];
        for (k, field) in fields.iter().enumerate() {
            let of_field = descend_all(layers, *field);
            if let Some((e, lex)) = Self::value_syntax(&of_field) {
                let value = self.expr(
                    Scope {
                        lex,
                        iterators: None,
                    },
                    e,
                )?;
                let field_ty = self.ir.records[record].fields[k].ty;
                self.check_assignable(field_ty, value, e.span)?;
                let value = self.adapt(value, self.ir.type_of_id(field_ty).base);
                values[k] = Some(value);
            }
        }
        if !is_input {
            let constructor = self.record_constructor(p.declared.class)?;
            values = self.known_defaults(constructor, values);
            if self.ir.leaf_count(self.ir.locals[p.local].ty).is_none() {
                let sizes = self.sizes_of_fields(layers, constructor, &values)?;
                let span = p.declared.decl.name.span;
                for (k, value) in values.iter_mut().enumerate() {
                    if value.is_none() {
                        let field = self.ir.records[record].fields[k].ty;
                        *value = self.first_value(field, &sizes[k], span)?;
                    }
                }
                self.field_sizes.insert(p.local, sizes);
            }
        }
        if let Some(all) = values.iter().copied().collect::<Option<Vec<ExprId>>>()
            && !fields.is_empty()
        {
            let value = self.node(
                Expr::Record {
                    record,
                    fields: all.into(),
                },
                ty.base,
                Vec::new(),
            );
            self.ir.locals[p.local].default = Some(value);
            return Ok(());
        }
        if is_input {
            return Ok(());
        }
        let span = p.declared.decl.name.span;
        for (k, value) in values.into_iter().enumerate() {
            let Some(value) = value else { continue };
            let target = func::Target {
                place: Place::Local(p.local),
                access: vec![Access::Field(k as u32)],
            };
            prologue.push(func::Statement {
                kind: StatementKind::Assign { target, value },
                span,
            });
        }
        Ok(())
    }

    /// What a field of a record without value begins with: zero, or zeros where its sizes are known, as an array of its own does. Bindings
    /// of other variables may ask for these sizes, and elements are assigned one by one. `None` for a record in the record, and for sizes that the first
    /// assignment gives.
    fn first_value(
        &mut self,
        field: saltus_ir::TypeId,
        sizes: &[Option<ExprId>],
        span: Span,
    ) -> Res<Option<ExprId>> {
        let ty = self.ir.type_of_id(field).clone();
        let zero = match ty.base {
            Base::Real => self.ir.real(0.0),
            Base::Integer => self.ir.integer(0),
            Base::Boolean => self.ir.boolean(false),
            Base::String => self.ir.string(""),
            _ => return Ok(None),
        };
        let mut dims = Vec::with_capacity(ty.dims.len());
        for (k, dim) in ty.dims.iter().enumerate() {
            dims.push(match (dim, sizes.get(k)) {
                (Dim::Known(n), _) => self.ir.integer(i64::from(*n)),
                (Dim::Unknown, Some(Some(size))) => *size,
                (Dim::Unknown, _) => return Ok(None),
            });
        }
        match dims.is_empty() {
            true => Ok(Some(zero)),
            false => self.filled(zero, &dims, span).map(Some),
        }
    }

    /// Sizes of the fields of a record: of a redeclaration in its modifiers, of the value that a field begins with, or as the record
    /// class declares them in terms of such values (specification 12.4.4).
    fn sizes_of_fields(
        &mut self,
        layers: &[Layer<'a>],
        constructor: FuncId,
        values: &[Option<ExprId>],
    ) -> Res<Vec<Vec<Option<ExprId>>>> {
        let fields = self.ir.functions[constructor].inputs.clone();
        let known: rustc_hash::FxHashMap<LocalId, ExprId> = (fields.iter().zip(values))
            .filter_map(|(&l, value)| Some((l, (*value)?)))
            .collect();
        let mut sizes = Vec::with_capacity(fields.len());
        for (&field, value) in fields.iter().zip(values) {
            let of_field = descend_all(layers, self.ir.locals[field].name);
            let redeclared = of_field.iter().find_map(|layer| match layer.kind {
                LayerKind::Redeclare(ast::Argument {
                    kind: ast::ArgumentKind::Component(decl),
                    ..
                }) if !decl.dims.is_empty() => Some((&decl.dims, layer.lex)),
                _ => None,
            });
            let mut dims = Vec::new();
            if let Some((subscripts, lex)) = redeclared {
                for sub in subscripts {
                    let iterators = None;
                    dims.push(self.dim_expr(Scope { lex, iterators }, sub)?);
                }
            } else if let Some(value) = *value {
                let n = self.ir.ty(value).dims.len();
                dims.extend((0..n).map(|k| Some(self.size_node(value, k))));
            } else {
                for size in self.ir.locals[field].dims.clone() {
                    let size = size.map(|e| self.substitute_locals(e, &known));
                    dims.push(size.filter(|e| !self.reads_one_of(*e, &fields)));
                }
            }
            sizes.push(dims);
        }
        Ok(sizes)
    }

    fn reads_one_of(&self, e: ExprId, locals: &[LocalId]) -> bool {
        let is_one =
            |id: &ExprId| matches!(self.ir.expr(*id), Expr::Local(l) if locals.contains(l));
        self.ir.reachable(&[e]).iter().any(is_one)
    }

    fn function_body(
        &mut self,
        inst: InstId,
        id: FuncId,
        prologue: Vec<func::Statement>,
    ) -> Res<FunctionBody> {
        let texts = self.insts[inst].texts.clone();
        let mut statements = prologue;
        let mut has_algorithm = false;
        let mut external = None;
        for lex in texts {
            let Some(def) = self.lexes[lex].def else {
                continue;
            };
            let ast::ClassBody::Composition { parts, .. } = &def.body else {
                continue;
            };
            let mut n_sections = 0;
            for section in &parts.sections {
                if let ast::SectionKind::Algorithm(list) = &section.kind {
                    n_sections += 1;
                    if n_sections > 1 || section.initial {
                        let what = if section.initial {
                            "an initial algorithm"
                        } else {
                            "more than one algorithm section"
                        };
                        return Err(error(
                            "type-mismatch",
                            section.span,
                            format!("function `{}` has {what}", def.name.name),
                        ));
                    }
                    has_algorithm = true;
                    statements.extend(self.statements(
                        Scope {
                            lex,
                            iterators: None,
                        },
                        list,
                    )?);
                } else if let ast::SectionKind::Equations(list) = &section.kind
                    && !list.is_empty()
                {
                    return Err(error_help(
                        "type-mismatch",
                        section.span,
                        format!("function `{}` has equations", def.name.name),
                        "use an algorithm section",
                    ));
                }
            }
            if let Some(e) = &parts.external {
                external = Some((e, lex, def));
            }
        }
        if let Some((e, lex, def)) = external {
            return self.external(id, e, lex, def).map(FunctionBody::External);
        }
        let partial = self.main_def(inst).is_some_and(|d| d.partial);
        if !has_algorithm && partial {
            return Ok(FunctionBody::Missing);
        }
        Ok(FunctionBody::Algorithm(statements))
    }

    /// `external "C" y = f(x)`; without a call the arguments are all inputs and outputs, arrays followed by their sizes
    /// (specification 12.9.1).
    fn external(
        &mut self,
        id: FuncId,
        e: &'a ast::External,
        lex: LexId,
        def: &'a ast::ClassDef,
    ) -> Res<External> {
        let language = Name::new(e.language.as_deref().unwrap_or("C"));
        let code = self.foreign_code(e.annotation.as_ref(), def.annotation.as_ref(), lex)?;
        let scope = Scope {
            lex,
            iterators: None,
        };
        let Some(name) = &e.function else {
            let f = self.ir.functions[id].clone();
            let result = match f.outputs[..] {
                [only] if self.is_plain_scalar(only) => Some(only),
                _ => None,
            };
            let mut args = Vec::new();
            for &l in f
                .inputs
                .iter()
                .chain(f.outputs.iter().filter(|l| Some(**l) != result))
            {
                let ty = self.ir.locals[l].ty;
                let node = self.ir.add(Expr::Local(l), ty);
                args.push(if f.outputs.contains(&l) {
                    ExternalArg::Output(l)
                } else {
                    ExternalArg::Value(node)
                });
                for k in 0..self.ir.type_of_id(ty).dims.len() {
                    args.push(ExternalArg::Value(self.size_node(node, k)));
                }
            }
            return Ok(External {
                language,
                name: def.name.name,
                args,
                result,
                code,
            });
        };
        let result = match &e.result {
            None => None,
            Some(r) => match self.cref(scope, r)? {
                Target::Local { local, access, .. } if access.is_empty() => Some(local),
                _ => {
                    return Err(error(
                        "type-mismatch",
                        r.span,
                        "the result of an external function must be an output",
                    ));
                }
            },
        };
        let mut args = Vec::with_capacity(e.args.len());
        for a in &e.args {
            if let ExprKind::Ref(r) = &a.kind
                && let Target::Local { local, access, .. } = self.cref(scope, r)?
                && access.is_empty()
                && self.is_written_by_external(id, local)
            {
                args.push(ExternalArg::Output(local));
                continue;
            }
            args.push(ExternalArg::Value(self.expr(scope, a)?));
        }
        Ok(External {
            language,
            name: name.name,
            args,
            result,
            code,
        })
    }

    /// `Include`, `Library` and their folders, of the external clause or, as older libraries write it, of the function
    /// (specification 12.9.4). Folders that are not stated are `Resources/…` of the top-level package.
    fn foreign_code(
        &mut self,
        clause: Option<&'a ast::Annotation>,
        class: Option<&'a ast::Annotation>,
        lex: LexId,
    ) -> Res<ForeignCode> {
        let find = |name: &str| annotation_value(clause, name).or(annotation_value(class, name));
        let texts = |name: &str| match find(name) {
            Some(value) => string_literals(value),
            None => Ok(Vec::new()),
        };
        let (include, libraries) = (texts("Include")?, texts("Library")?);
        if include.is_empty() && libraries.is_empty() {
            return Ok(ForeignCode::default());
        }
        let package = self.top_level_package(lex);
        let folders = |name: &str, usual: &str| {
            let stated = texts(name)?;
            Ok::<_, Box<Diagnostic>>(match package {
                Some(package) if stated.is_empty() => {
                    vec![Arc::from(format!("modelica://{package}/Resources/{usual}"))]
                }
                _ => stated,
            })
        };
        Ok(ForeignCode {
            include_directories: folders("IncludeDirectory", "Include")?,
            library_directories: folders("LibraryDirectory", "Library")?,
            include,
            libraries,
        })
    }

    fn top_level_package(&self, lex: LexId) -> Option<Name> {
        let mut at = Some(lex);
        while let Some(lex) = at {
            if let Some(mut node) = self.lexes[lex].node {
                while let Some(parent) = self.tree.parent(node).filter(|p| *p != ROOT) {
                    node = parent;
                }
                return Some(self.tree.name(node));
            }
            at = self.lexes[lex].enclosing;
        }
        None
    }

    fn is_plain_scalar(&self, local: LocalId) -> bool {
        let ty = self.ir.type_of_id(self.ir.locals[local].ty);
        ty.is_scalar() && !matches!(ty.base, Base::Record(_))
    }

    /// Outputs, and protected variables that are work space: arrays, or scalars without value.
    fn is_written_by_external(&self, id: FuncId, local: LocalId) -> bool {
        let f = &self.ir.functions[id];
        if f.outputs.contains(&local) {
            return true;
        }
        f.protected.contains(&local)
            && (!self.is_plain_scalar(local) || self.ir.locals[local].default.is_none())
    }

    // ---- annotations ----

    /// Class texts that may carry the annotation, most specific first.
    fn annotated(&self, inst: InstId) -> Vec<(&'a ast::ClassDef, LexId)> {
        let node = &self.insts[inst];
        let own = node.def.map(|d| (d, node.lex));
        let texts = node
            .texts
            .iter()
            .rev()
            .filter_map(|&t| self.lexes[t].def.map(|d| (d, t)));
        own.into_iter().chain(texts).collect()
    }

    fn inline_annotation(&self, inst: InstId) -> Inline {
        for (def, _) in self.annotated(inst) {
            let flag = |name| annotation_flag(def.annotation.as_ref(), name);
            if flag("LateInline") == Some(true) || flag("InlineAfterIndexReduction") == Some(true) {
                return Inline::Late;
            }
            match flag("Inline") {
                Some(true) => return Inline::Always,
                Some(false) => return Inline::Never,
                None => {}
            }
        }
        Inline::Unstated
    }

    /// `annotation(derivative(order = …, noDerivative = …, zeroDerivative = …) = f)` (specification 12.7.1).
    fn derivative_rules(&mut self, inst: InstId, id: FuncId) -> Res<()> {
        let Some((annotation, lex)) = self.annotated(inst).into_iter().find_map(|(def, lex)| {
            let annotation = def.annotation.as_ref()?;
            annotation
                .args
                .iter()
                .any(is_derivative)
                .then_some((annotation, lex))
        }) else {
            return Ok(());
        };
        for arg in annotation.args.iter().filter(|a| is_derivative(a)) {
            let ast::ArgumentKind::Modify {
                modification: Some(m),
                ..
            } = &arg.kind
            else {
                continue;
            };
            let Some(ast::Expr {
                kind: ExprKind::Ref(r),
                ..
            }) = &m.value
            else {
                continue;
            };
            match self.derivative_rule(id, lex, m, r) {
                Ok(rule) => self.ir.functions[id].derivatives.push(rule),
                // The function itself is sound; what is missing is one way to differentiate it.
                Err(e) => {
                    let mut warning = *e;
                    warning.severity = saltus_syntax::Severity::Warning;
                    warning.notes.push(format!(
                        "the derivative of function `{}` is not used",
                        self.ir.functions[id].name
                    ));
                    self.diagnostics.push(warning);
                }
            }
        }
        Ok(())
    }

    fn derivative_rule(
        &mut self,
        id: FuncId,
        lex: LexId,
        m: &'a ast::Modification,
        r: &'a ast::ComponentRef,
    ) -> Res<DerivativeRule> {
        let Target::Class(class) = self.cref(
            Scope {
                lex,
                iterators: None,
            },
            r,
        )?
        else {
            return Err(error(
                "type-mismatch",
                r.span,
                "the derivative of a function must be a function",
            ));
        };
        let function = self.function(&class)?;
        let mut rule = DerivativeRule {
            function,
            order: 1,
            no_derivative: Vec::new(),
            zero_derivative: Vec::new(),
        };
        for arg in &m.args {
            let ast::ArgumentKind::Modify {
                path,
                modification: Some(value),
                ..
            } = &arg.kind
            else {
                continue;
            };
            let Some(value) = &value.value else { continue };
            match (path.parts[0].name.as_str(), &value.kind) {
                ("order", ExprKind::Integer(n)) => {
                    rule.order = u32::try_from(*n).map_err(|_| {
                        error("type-mismatch", value.span, "the order must be positive")
                    })?;
                }
                (what @ ("noDerivative" | "zeroDerivative"), ExprKind::Ref(input)) => {
                    let name = input.parts[0].name.name;
                    let inputs = &self.ir.functions[id].inputs;
                    let Some(k) = inputs.iter().position(|l| self.ir.locals[*l].name == name)
                    else {
                        return Err(error(
                            "unknown-name",
                            value.span,
                            format!("`{name}` is no input of the function"),
                        ));
                    };
                    if what == "noDerivative" {
                        rule.no_derivative.push(k as u32);
                    } else {
                        rule.zero_derivative.push(k as u32);
                    }
                }
                _ => {}
            }
        }
        Ok(rule)
    }

    // ---- types ----

    /// The base type of a class used as a type.
    pub(crate) fn base_of_class(&mut self, class: InstId, span: Span) -> Res<Base> {
        Ok(match self.insts[class].builtin {
            Some(BuiltinClass::Real) => Base::Real,
            Some(BuiltinClass::Integer) => Base::Integer,
            Some(BuiltinClass::Boolean) => Base::Boolean,
            Some(BuiltinClass::String) => Base::String,
            Some(BuiltinClass::Clock) => Base::Clock,
            Some(BuiltinClass::Enum(id)) => Base::Enum(id),
            Some(BuiltinClass::ExternalObject) => Base::Object(self.object_of_class(class)),
            None if self.is_function_class(class) => Base::Function,
            None => Base::Record(self.record_type(class, span)?),
        })
    }

    pub(crate) fn object_of_class(&mut self, class: InstId) -> ObjectId {
        let name = self.insts[class].class.name;
        if let Some((id, _)) = self.ir.objects.iter().find(|(_, o)| o.name == name) {
            return id;
        }
        self.ir.objects.push(ObjectType {
            name,
            destructor: None,
        })
    }

    /// The record type of a class or component instance.
    pub fn record_type(&mut self, inst: InstId, span: Span) -> Res<RecordId> {
        if let Some(id) = self.insts[inst].record {
            return Ok(id);
        }
        self.elaborate(inst)?;
        if self.insts[inst].parent.is_some() {
            let e = self.record_expr(inst, span)?;
            let Base::Record(id) = self.ir.base(e) else {
                unreachable!("a record expression has record type")
            };
            return Ok(id);
        }
        use ast::Restriction as R;
        if !matches!(
            self.insts[inst].restriction,
            R::Record
                | R::OperatorRecord
                | R::Connector
                | R::ExpandableConnector
                | R::Class
                | R::Type
        ) {
            let kind = format!("{:?}", self.insts[inst].restriction).to_lowercase();
            return Err(error(
                "type-mismatch",
                span,
                format!(
                    "`{}` is a {kind}, which is no type of values",
                    self.insts[inst].path
                ),
            ));
        }
        let constructor = self.record_constructor(inst)?;
        let FunctionBody::Constructor(id) = self.ir.functions[constructor].body else {
            return Err(error(
                "recursive-instance",
                span,
                format!("record `{}` contains itself", self.insts[inst].path),
            ));
        };
        Ok(id)
    }

    /// The implicit constructor of a record class (specification 12.6): all fields are inputs in order; those that cannot be given
    /// (constant, final, protected) are also in `protected`.
    pub(crate) fn record_constructor(&mut self, inst: InstId) -> Res<FuncId> {
        if let Some(f) = self.insts[inst].function {
            return Ok(f);
        }
        self.elaborate(inst)?;
        let (name, span) = (self.insts[inst].class.name, self.insts[inst].span);
        let id = self.ir.functions.push(Function {
            name,
            span,
            inputs: Vec::new(),
            outputs: Vec::new(),
            protected: Vec::new(),
            body: FunctionBody::Missing,
            inline: Inline::Always,
            impure: false,
            derivatives: Vec::new(),
        });
        self.insts[inst].function = Some(id);
        let saved = self.function_locals.remove(&inst);
        let result = self.lower_record(inst, id);
        match saved {
            Some(locals) => self.function_locals.insert(inst, locals),
            None => self.function_locals.remove(&inst),
        };
        if let Err(e) = result {
            self.insts[inst].function = None;
            return Err(e);
        }
        Ok(id)
    }

    fn lower_record(&mut self, inst: InstId, id: FuncId) -> Res<()> {
        self.function_locals.insert(inst, Default::default());
        let mut pending: Vec<Pending<'a>> = Vec::new();
        for name in self.component_names(inst) {
            let declared = self.declared(inst, name)?;
            let local = self.new_local(name, &declared);
            let fixed = declared.decl.prefixes.is_final
                || declared.effective.element.protected
                || declared.decl.type_prefixes.variability == Some(ast::Variability::Constant)
                    && Self::value_syntax(&declared.effective.layers).is_some()
                || declared.effective.layers.iter().any(|l| {
                    l.is_final && matches!(l.kind, LayerKind::Modification(m) if m.value.is_some())
                });
            self.ir.functions[id].inputs.push(local);
            if fixed {
                self.ir.functions[id].protected.push(local);
            }
            self.function_locals
                .entry(inst)
                .or_default()
                .insert(name, local);
            pending.push(Pending { local, declared });
        }
        for p in &pending {
            self.lower_dims(p)?;
            self.refine_dims(p.local, &pending)?;
        }
        let fields: Vec<_> = pending
            .iter()
            .map(|p| (self.ir.locals[p.local].name, self.ir.locals[p.local].ty))
            .collect();
        let (name, span) = (self.insts[inst].class.name, self.insts[inst].span);
        let record = self.record_id(name, fields, span);
        self.insts[inst].record = Some(record);
        let output = self.ir.intern_type(Type::scalar(Base::Record(record)));
        let output = self.ir.locals.push(Local {
            name,
            ty: output,
            dims: Vec::new(),
            default: None,
            span,
            unit: None,
        });
        self.ir.functions[id].outputs.push(output);
        self.ir.functions[id].body = FunctionBody::Constructor(record);
        for p in &pending {
            // A default that cannot be typed matters only to who relies on it.
            if let Err(e) = self.record_default(p) {
                let _ = e;
            }
        }
        Ok(())
    }

    fn record_default(&mut self, p: &Pending<'a>) -> Res<()> {
        let Some((e, lex)) = Self::value_syntax(&p.declared.effective.layers) else {
            return Ok(());
        };
        let value = self.expr(
            Scope {
                lex,
                iterators: None,
            },
            e,
        )?;
        self.check_assignable(self.ir.locals[p.local].ty, value, e.span)?;
        let value = self.adapt(value, p.declared.base);
        self.ir.locals[p.local].default = Some(value);
        Ok(())
    }

    /// Sizes of a record field that depend on other fields with a value: known if that value is a constant.
    fn refine_dims(&mut self, local: LocalId, pending: &[Pending<'a>]) -> Res<()> {
        let ty = self.ir.type_of_id(self.ir.locals[local].ty).clone();
        if !ty.dims.contains(&Dim::Unknown) {
            return Ok(());
        }
        let mut map = rustc_hash::FxHashMap::default();
        for p in pending {
            let node = self.ir.type_of_id(self.ir.locals[p.local].ty);
            if node.base == Base::Integer
                && node.is_scalar()
                && (self.ir.locals[p.local].default.is_some() || self.record_default(p).is_ok())
                && let Some(default) = self.ir.locals[p.local].default
                && self.is_fixed_size(p)
            {
                map.insert(p.local, default);
            }
        }
        let dims = self.ir.locals[local].dims.clone();
        let mut full = ty;
        for (k, d) in dims.into_iter().enumerate() {
            if let (Some(e), Dim::Unknown) = (d, full.dims[k]) {
                let e = self.substitute_locals(e, &map);
                let e = self.substitute_locals(e, &map);
                full.dims[k] = self.dim_of(e, self.ir.locals[local].span)?;
            }
        }
        let ty = self.ir.intern_type(full);
        self.ir.locals[local].ty = ty;
        Ok(())
    }

    fn is_fixed_size(&self, p: &Pending<'a>) -> bool {
        let decl = p.declared.decl;
        decl.prefixes.is_final
            || decl.type_prefixes.variability == Some(ast::Variability::Constant)
            || p.declared.effective.layers.iter().any(|l| l.is_final)
    }

    /// Whether `value` may be assigned to a place of type `ty`.
    pub(crate) fn check_assignable(
        &self,
        ty: saltus_ir::TypeId,
        value: ExprId,
        span: Span,
    ) -> Res<()> {
        let (to, from) = (self.ir.type_of_id(ty), self.ir.ty(value));
        if !self.base_fits(to.base, from.base) || to.dims.len() != from.dims.len() {
            return Err(error(
                "type-mismatch",
                span,
                format!(
                    "a value of type `{}` is expected, found `{}`",
                    self.text_of_type(to),
                    self.text_of_type(from)
                ),
            ));
        }
        if !crate::typing::dims_fit(&to.dims, &from.dims) {
            return Err(error(
                "array-size-mismatch",
                span,
                format!(
                    "a value of type `{}` is expected, found `{}`",
                    self.text_of_type(to),
                    self.text_of_type(from)
                ),
            ));
        }
        Ok(())
    }

    // ---- statements ----

    /// Statements of a function or of an algorithm section of a model.
    pub fn statements(
        &mut self,
        scope: Scope<'_>,
        list: &'a [ast::Statement],
    ) -> Res<Vec<func::Statement>> {
        check_places(
            list,
            Around {
                function: self.in_function(scope),
                in_loop: false,
                when: false,
                nested: false,
            },
        )?;
        self.statement_list(scope, list)
    }

    fn statement_list(
        &mut self,
        scope: Scope<'_>,
        list: &'a [ast::Statement],
    ) -> Res<Vec<func::Statement>> {
        let mut out = Vec::with_capacity(list.len());
        for statement in list {
            self.statement(scope, statement, &mut out)?;
        }
        Ok(out)
    }

    /// Statements that may never be reached. A subscript that is outside of its array is an error where it is evaluated
    /// (specification 10.5.1), so such a statement is an assertion that fails.
    fn guarded_list(
        &mut self,
        scope: Scope<'_>,
        list: &'a [ast::Statement],
    ) -> Res<Vec<func::Statement>> {
        let mut out = Vec::with_capacity(list.len());
        for statement in list {
            let before = out.len();
            if let Err(e) = self.statement(scope, statement, &mut out) {
                out.truncate(before);
                out.push(self.fails_when_reached(e, statement.span)?);
            }
        }
        Ok(out)
    }

    fn fails_when_reached(&mut self, e: Box<Diagnostic>, span: Span) -> Res<func::Statement> {
        if e.code != "index-out-of-range" {
            return Err(e);
        }
        let kind = StatementKind::Assert {
            condition: self.ir.boolean(false),
            message: self.ir.string(&e.message),
            level: AssertLevel::Error,
        };
        Ok(func::Statement { kind, span })
    }

    fn statement(
        &mut self,
        scope: Scope<'_>,
        s: &'a ast::Statement,
        out: &mut Vec<func::Statement>,
    ) -> Res<()> {
        let span = s.span;
        let mut push = |kind| out.push(func::Statement { kind, span });
        match &s.kind {
            ast::StatementKind::Assign { target, value } => {
                let value = self.expr(scope, value)?;
                let place = self.cref(scope, target)?;
                self.assign(place, value, target.span, span, out)?;
            }
            ast::StatementKind::MultiAssign { targets, call } => {
                self.multi_assign(scope, targets, call, span, out)?
            }
            ast::StatementKind::Call(call) => self.call_statement(scope, call, span, out)?,
            ast::StatementKind::If {
                branches,
                otherwise,
            } => {
                let mut list = Vec::new();
                let mut rest: Res<&'a [ast::Statement]> = Ok(otherwise);
                for (condition, body) in branches {
                    let c = match self.if_condition(scope, condition) {
                        Ok(c) => c,
                        // Evaluated only where no earlier condition holds.
                        Err(e) if !list.is_empty() => {
                            rest = Err(e);
                            break;
                        }
                        Err(e) => return Err(e),
                    };
                    match self.literal_bool(c) {
                        Some(true) => {
                            rest = Ok(body);
                            break;
                        }
                        Some(false) => {}
                        None => list.push((c, self.guarded_list(scope, body)?)),
                    }
                }
                let otherwise = match rest {
                    Ok(rest) if list.is_empty() => self.statement_list(scope, rest)?,
                    Ok(rest) => self.guarded_list(scope, rest)?,
                    Err(e) => vec![self.fails_when_reached(e, span)?],
                };
                if list.is_empty() {
                    out.extend(otherwise);
                } else {
                    out.push(func::Statement {
                        kind: StatementKind::If {
                            branches: list,
                            otherwise,
                        },
                        span,
                    });
                }
            }
            ast::StatementKind::For { iterators, body } => {
                self.for_statement(scope, iterators, body, span, out)?
            }
            ast::StatementKind::While { condition, body } => {
                let c = self.expr(scope, condition)?;
                self.expect_scalar(
                    c,
                    Base::Boolean,
                    "the condition of a while-statement",
                    condition.span,
                )?;
                let body = self.guarded_list(scope, body)?;
                push(StatementKind::While { condition: c, body });
            }
            ast::StatementKind::When { branches } => {
                let mut list = Vec::new();
                for (condition, body) in branches {
                    let conditions = self.when_condition_list(scope, condition)?;
                    list.push((conditions, self.statement_list(scope, body)?));
                }
                push(StatementKind::When { branches: list });
            }
            ast::StatementKind::Break => push(StatementKind::Break),
            ast::StatementKind::Return => push(StatementKind::Return),
        }
        Ok(())
    }

    fn if_condition(&mut self, scope: Scope<'_>, condition: &'a ast::Expr) -> Res<ExprId> {
        let c = self.expr(scope, condition)?;
        self.expect_scalar(
            c,
            Base::Boolean,
            "the condition of an if-statement",
            condition.span,
        )?;
        Ok(c)
    }

    /// The conditions of a when-clause: one, or the elements of a vector.
    pub fn when_condition_list(
        &mut self,
        scope: Scope<'_>,
        condition: &'a ast::Expr,
    ) -> Res<Vec<ExprId>> {
        let c = self.expr(scope, condition)?;
        let ty = self.ir.ty(c).clone();
        match (ty.base, ty.known_dims().as_deref()) {
            (Base::Boolean | Base::Clock, Some([])) => Ok(vec![c]),
            (Base::Boolean, Some([n])) => (0..*n)
                .map(|k| self.element(c, &[k], condition.span))
                .collect(),
            _ => Err(error(
                "type-mismatch",
                condition.span,
                format!(
                    "the condition of `when` must be a Boolean or a vector of Booleans, found `{}`",
                    self.text_of_type(&ty)
                ),
            )),
        }
    }

    /// Assigns to a place; records of a model and scattered variables one by one.
    fn assign(
        &mut self,
        target: Target<'a>,
        value: ExprId,
        at: Span,
        span: Span,
        out: &mut Vec<func::Statement>,
    ) -> Res<()> {
        if let Some((place, ty)) = self.simple_place(&target) {
            self.check_writable(&place, at)?;
            self.check_assignable(ty, value, span)?;
            let value = self.adapt(value, self.ir.type_of_id(ty).base);
            out.push(func::Statement {
                kind: StatementKind::Assign {
                    target: place,
                    value,
                },
                span,
            });
            return Ok(());
        }
        match target {
            Target::Vars(selection) => {
                if selection.vars.is_empty() {
                    return self.assign_to_none(&selection, at, span, out);
                }
                if !selection.subs.is_empty() {
                    return Err(unsupported(
                        at,
                        "assigning to elements of different components by a subscript that is not constant",
                    ));
                }
                let ty = self
                    .ir
                    .intern_type(Type::array(selection.base, &selection.dims));
                self.check_assignable(ty, value, span)?;
                for (k, &v) in selection.vars.iter().enumerate() {
                    let subs: Vec<usize> = crate::instantiate::subscripts_of(k, &selection.dims)
                        .iter()
                        .map(|s| *s as usize - 1)
                        .collect();
                    let element = self.element(value, &subs, span)?;
                    out.push(self.assign_var(v, selection.base, element, span));
                }
                Ok(())
            }
            Target::Insts {
                dims, elems, subs, ..
            } => {
                if !subs.is_empty() {
                    return Err(unsupported(
                        at,
                        "assigning to a record in an array by a subscript that is not constant",
                    ));
                }
                for (k, inst) in elems.into_iter().enumerate() {
                    let at_k: Vec<usize> = crate::instantiate::subscripts_of(k, &dims)
                        .iter()
                        .map(|s| *s as usize - 1)
                        .collect();
                    let element = if dims.is_empty() {
                        value
                    } else {
                        self.element(value, &at_k, span)?
                    };
                    self.assign_record(inst, element, at, span, out)?;
                }
                Ok(())
            }
            Target::Value(_) => Err(error_help(
                "type-mismatch",
                at,
                "this cannot be assigned to",
                "constants, iterators and inputs keep their value",
            )),
            Target::Class(class) => Err(error(
                "type-mismatch",
                at,
                format!("`{}` is a class and cannot be assigned to", class.name),
            )),
            Target::Absent => Err(error(
                "absent-component",
                at,
                "this component does not exist, because its condition is false",
            )),
            Target::Local { .. } => unreachable!("locals are simple places"),
        }
    }

    /// Inputs and iterators keep their value.
    fn check_writable(&self, target: &func::Target, at: Span) -> Res<()> {
        let Place::Local(local) = target.place else {
            return Ok(());
        };
        let is_variable = self
            .ir
            .functions
            .iter()
            .any(|(_, f)| f.outputs.contains(&local) || f.protected.contains(&local));
        if is_variable {
            return Ok(());
        }
        Err(error_help(
            "variability-violation",
            at,
            format!(
                "`{}` is an input or iterator and cannot be assigned to",
                self.ir.locals[local].name
            ),
            "assign to a protected variable instead",
        ))
    }

    fn assign_var(&mut self, var: VarId, base: Base, value: ExprId, span: Span) -> func::Statement {
        let ty = self.ir.scalar_type(base);
        let value = self.adapt(value, base);
        let target = func::Target {
            place: Place::Var { first: var, ty },
            access: Vec::new(),
        };
        func::Statement {
            kind: StatementKind::Assign { target, value },
            span,
        }
    }

    fn assign_record(
        &mut self,
        inst: InstId,
        value: ExprId,
        at: Span,
        span: Span,
        out: &mut Vec<func::Statement>,
    ) -> Res<()> {
        let record = self.record_type(inst, at)?;
        let ty = self.ir.intern_type(Type::scalar(Base::Record(record)));
        self.check_assignable(ty, value, span)?;
        let value = self.adapt(value, Base::Record(record));
        let names: Vec<Name> = self.ir.records[record]
            .fields
            .iter()
            .map(|f| f.name)
            .collect();
        for (k, name) in names.into_iter().enumerate() {
            let field = self.field(value, k as u32);
            let (dims, elems) = match self.child(inst, name, at)? {
                Child::One(i) | Child::Outer(i) => (vec![], vec![i]),
                Child::Array { dims, elems } | Child::OuterArray { dims, elems } => {
                    (dims.to_vec(), elems.to_vec())
                }
                Child::Absent | Child::Class(_) | Child::InProgress => continue,
            };
            if elems
                .first()
                .is_some_and(|&i| self.insts[i].builtin.is_some())
            {
                if self.is_constant_inst(elems[0]) {
                    continue;
                }
                let range = self.var(elems[0])?;
                let n: usize = range.dims.iter().product();
                let vars = (0..n as u32).map(|k| VarId(range.first.0 + k)).collect();
                let selection = crate::typing::VarSelection {
                    base: range.base,
                    dims: range.dims.to_vec(),
                    vars,
                    subs: vec![],
                };
                self.assign(Target::Vars(selection), field, at, span, out)?;
            } else {
                self.assign(
                    Target::Insts {
                        dims,
                        elems,
                        subs: vec![],
                        pattern: None,
                    },
                    field,
                    at,
                    span,
                    out,
                )?;
            }
        }
        Ok(())
    }

    /// A place that one assignment can write, with its type.
    /// An array without elements has no element to assign, and slices of it must be empty.
    fn assign_to_none(
        &mut self,
        selection: &crate::typing::VarSelection,
        at: Span,
        span: Span,
        out: &mut Vec<func::Statement>,
    ) -> Res<()> {
        const MESSAGE: &str = "an element is assigned of an array that has none";
        for (sub, n) in selection.subs.iter().zip(&selection.dims) {
            let (Sub::At(sub), 0) = (*sub, *n) else {
                continue;
            };
            if self.ir.ty(sub).is_scalar() {
                return Err(error("index-out-of-range", at, MESSAGE));
            }
            let (size, zero) = (self.size_node(sub, 0), self.ir.integer(0));
            let kind = StatementKind::Assert {
                condition: self.ir.binary(saltus_ir::BinaryOp::Eq, size, zero),
                message: self.ir.string(MESSAGE),
                level: AssertLevel::Error,
            };
            out.push(func::Statement { kind, span });
        }
        Ok(())
    }

    fn simple_place(&mut self, target: &Target<'a>) -> Option<(func::Target, saltus_ir::TypeId)> {
        match target {
            Target::Local { local, access, ty } => Some((
                func::Target {
                    place: Place::Local(*local),
                    access: access.clone(),
                },
                *ty,
            )),
            Target::Vars(s) if !s.vars.is_empty() && s.is_contiguous() => {
                let whole = self.ir.intern_type(Type::array(s.base, &s.dims));
                let place = Place::Var {
                    first: s.vars[0],
                    ty: whole,
                };
                if s.subs.is_empty() {
                    return Some((
                        func::Target {
                            place,
                            access: Vec::new(),
                        },
                        whole,
                    ));
                }
                let mut dims = Vec::new();
                for (sub, &n) in s.subs.iter().zip(&s.dims) {
                    match sub {
                        Sub::All => dims.push(Dim::Known(n as u32)),
                        Sub::At(e) => dims.extend_from_slice(&self.ir.ty(*e).dims),
                    }
                }
                let ty = self.ir.intern_type(Type { base: s.base, dims });
                Some((
                    func::Target {
                        place,
                        access: vec![Access::Index(s.subs.clone().into())],
                    },
                    ty,
                ))
            }
            _ => None,
        }
    }

    fn multi_assign(
        &mut self,
        scope: Scope<'_>,
        targets: &'a [Option<ast::ComponentRef>],
        call: &'a ast::Expr,
        span: Span,
        out: &mut Vec<func::Statement>,
    ) -> Res<()> {
        let outputs = self.call_outputs(scope, call)?;
        if targets.len() > outputs.len() {
            return Err(error(
                "wrong-argument",
                span,
                format!(
                    "{} outputs are asked for, the function has {}",
                    targets.len(),
                    outputs.len()
                ),
            ));
        }
        let mut places = Vec::with_capacity(targets.len());
        let mut simple = matches!(self.ir.expr(outputs[0]), Expr::Call { .. });
        for (t, &output) in targets.iter().zip(&outputs) {
            let Some(r) = t else {
                places.push(None);
                continue;
            };
            let target = self.cref(scope, r)?;
            match self.simple_place(&target) {
                Some((place, ty)) => {
                    self.check_writable(&place, r.span)?;
                    self.check_assignable(ty, output, r.span)?;
                }
                None => simple = false,
            }
            places.push(Some((target, r.span)));
        }
        if simple {
            let targets = places
                .iter()
                .map(|p| {
                    p.as_ref()
                        .and_then(|(t, _)| self.simple_place(t))
                        .map(|(t, _)| t)
                })
                .collect();
            out.push(func::Statement {
                kind: StatementKind::MultiAssign {
                    targets,
                    call: outputs[0],
                },
                span,
            });
            return Ok(());
        }
        for (place, output) in places.into_iter().zip(outputs) {
            if let Some((target, at)) = place {
                self.assign(target, output, at, span, out)?;
            }
        }
        Ok(())
    }

    fn call_statement(
        &mut self,
        scope: Scope<'_>,
        call: &'a ast::Expr,
        span: Span,
        out: &mut Vec<func::Statement>,
    ) -> Res<()> {
        let ExprKind::Call { function, args } = &call.kind else {
            return Err(error(
                "type-mismatch",
                span,
                "only a call may stand as a statement",
            ));
        };
        let single = (function.parts.len() == 1 && !function.global)
            .then(|| function.parts[0].name.name.as_str());
        match single {
            Some("assert") => {
                let (condition, message, level) = self.assert_arguments(scope, args, span)?;
                if self.literal_bool(condition) == Some(true) {
                    return Ok(());
                }
                out.push(func::Statement {
                    kind: StatementKind::Assert {
                        condition,
                        message,
                        level,
                    },
                    span,
                });
            }
            Some("terminate") => {
                let message = self.single_argument(scope, args, "terminate", span)?;
                self.expect_scalar(message, Base::String, "the message of `terminate`", span)?;
                out.push(func::Statement {
                    kind: StatementKind::Terminate { message },
                    span,
                });
            }
            Some("reinit") => {
                let [
                    ast::Expr {
                        kind: ExprKind::Ref(r),
                        ..
                    },
                    value,
                ] = args.positional.as_slice()
                else {
                    return Err(error(
                        "wrong-argument",
                        span,
                        "`reinit` takes a variable and a value",
                    ));
                };
                let Target::Vars(selection) = self.cref(scope, r)? else {
                    return Err(error("wrong-argument", r.span, "`reinit` takes a variable"));
                };
                let value = self.expr(scope, value)?;
                for (k, &var) in selection.vars.iter().enumerate() {
                    let value = if selection.dims.is_empty() {
                        value
                    } else {
                        let at: Vec<usize> = crate::instantiate::subscripts_of(k, &selection.dims)
                            .iter()
                            .map(|s| *s as usize - 1)
                            .collect();
                        self.element(value, &at, span)?
                    };
                    self.expect_scalar(value, Base::Real, "the value of `reinit`", span)?;
                    out.push(func::Statement {
                        kind: StatementKind::Reinit { var, value },
                        span,
                    });
                }
            }
            _ => {
                let outputs = self.call_outputs(scope, call)?;
                let Some(&e) = outputs.first() else {
                    return Err(error("type-mismatch", span, "this call has no effect"));
                };
                out.push(func::Statement {
                    kind: StatementKind::Call(e),
                    span,
                });
            }
        }
        Ok(())
    }

    fn single_argument(
        &mut self,
        scope: Scope<'_>,
        args: &'a CallArgs,
        name: &str,
        span: Span,
    ) -> Res<ExprId> {
        match (args.positional.as_slice(), args.named.as_slice()) {
            ([e], []) | ([], [(_, e)]) => self.expr(scope, e),
            _ => Err(error(
                "wrong-argument",
                span,
                format!("`{name}` takes one argument"),
            )),
        }
    }

    /// Condition, message and level of `assert`.
    pub fn assert_arguments(
        &mut self,
        scope: Scope<'_>,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<(ExprId, ExprId, AssertLevel)> {
        let find = |k: usize, name: &str| {
            args.positional.get(k).or_else(|| {
                args.named
                    .iter()
                    .find(|(n, _)| n.name.as_str() == name)
                    .map(|(_, e)| e)
            })
        };
        let (Some(condition), Some(message)) = (find(0, "condition"), find(1, "message")) else {
            return Err(error(
                "wrong-argument",
                span,
                "`assert` takes a condition and a message",
            ));
        };
        let level = find(2, "level");
        let c = self.expr(scope, condition)?;
        self.expect_scalar(
            c,
            Base::Boolean,
            "the condition of `assert`",
            condition.span,
        )?;
        let m = self.expr(scope, message)?;
        self.expect_scalar(m, Base::String, "the message of `assert`", message.span)?;
        let level = match level {
            None => AssertLevel::Error,
            Some(e) => {
                let l = self.expr(scope, e)?;
                self.expect_scalar(
                    l,
                    Base::Enum(ASSERTION_LEVEL),
                    "the level of `assert`",
                    e.span,
                )?;
                // Literals in the order of the specification: warning, error.
                match self.const_eval(l, e.span)? {
                    saltus_ir::Value::Enum(id, k)
                        if self.ir.enums[id].literals[k as usize - 1].as_str() == "warning" =>
                    {
                        AssertLevel::Warning
                    }
                    _ => AssertLevel::Error,
                }
            }
        };
        Ok((c, m, level))
    }

    fn for_statement(
        &mut self,
        scope: Scope<'_>,
        iterators: &'a [ast::Iterator],
        body: &'a [ast::Statement],
        span: Span,
        out: &mut Vec<func::Statement>,
    ) -> Res<()> {
        let Some((iterator, rest)) = iterators.split_first() else {
            let unrolled = |it: &IteratorScope<'_>| matches!(it.value, IteratorValue::Constant(_));
            out.extend(if scope.iterators.is_some_and(unrolled) {
                self.statement_list(scope, body)?
            } else {
                self.guarded_list(scope, body)?
            });
            return Ok(());
        };
        let name = iterator.name.name;
        let range = match &iterator.range {
            Some(range) => self.iterator_range(Cx::new(scope), range)?,
            None => {
                let found = find_statement_use(body, name);
                self.deduced_range(Cx::new(scope), &iterator.name, found)?
            }
        };
        if !self.in_function(scope)
            && !leaves_loop(body)
            && let Some(values) = self.range_values(range, span)?
            && values.len() <= UNROLL_MAX
        {
            for value in values {
                let inner = IteratorScope {
                    name,
                    value: IteratorValue::Constant(value),
                    outer: scope.iterators,
                };
                self.for_statement(
                    Scope {
                        lex: scope.lex,
                        iterators: Some(&inner),
                    },
                    rest,
                    body,
                    span,
                    out,
                )?;
            }
            return Ok(());
        }
        let iter = self.new_iterator(name, self.ir.base(range), iterator.name.span);
        let inner = IteratorScope {
            name,
            value: IteratorValue::Local(iter),
            outer: scope.iterators,
        };
        let mut statements = Vec::new();
        self.for_statement(
            Scope {
                lex: scope.lex,
                iterators: Some(&inner),
            },
            rest,
            body,
            span,
            &mut statements,
        )?;
        out.push(func::Statement {
            kind: StatementKind::For {
                iter,
                range,
                body: statements,
            },
            span,
        });
        Ok(())
    }
}

/// What is around a statement.
#[derive(Clone, Copy)]
struct Around {
    function: bool,
    in_loop: bool,
    when: bool,
    /// Inside a statement where `when` may not stand (specification 11.2.7).
    nested: bool,
}

/// `break` only in loops, `return` only in functions, `when` neither in another nor in a loop.
fn check_places(list: &[ast::Statement], around: Around) -> Res<()> {
    for s in list {
        match &s.kind {
            ast::StatementKind::Break if !around.in_loop => {
                return Err(error(
                    "syntax-error",
                    s.span,
                    "`break` may only stand in a for- or while-loop",
                ));
            }
            ast::StatementKind::Return if !around.function => {
                return Err(error(
                    "syntax-error",
                    s.span,
                    "`return` may only stand in a function",
                ));
            }
            ast::StatementKind::When { branches } => {
                if around.function || around.when || around.nested {
                    let place = if around.function {
                        "a function"
                    } else {
                        "another statement"
                    };
                    return Err(error(
                        "syntax-error",
                        s.span,
                        format!("a when-statement may not stand in {place}"),
                    ));
                }
                for (_, body) in branches {
                    check_places(
                        body,
                        Around {
                            when: true,
                            ..around
                        },
                    )?;
                }
            }
            ast::StatementKind::If {
                branches,
                otherwise,
            } => {
                let inner = Around {
                    nested: true,
                    ..around
                };
                for (_, body) in branches {
                    check_places(body, inner)?;
                }
                check_places(otherwise, inner)?;
            }
            ast::StatementKind::For { body, .. } | ast::StatementKind::While { body, .. } => {
                check_places(
                    body,
                    Around {
                        in_loop: true,
                        nested: true,
                        ..around
                    },
                )?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// A String literal, or an array of them.
fn string_literals(value: &ast::Expr) -> Res<Vec<Arc<str>>> {
    match &value.kind {
        ExprKind::String(text) => Ok(vec![text.clone()]),
        ExprKind::Array(items) => {
            let texts: Vec<Vec<Arc<str>>> =
                items.iter().map(string_literals).collect::<Res<_>>()?;
            Ok(texts.concat())
        }
        _ => Err(error(
            "type-mismatch",
            value.span,
            "this annotation must be a String literal, or an array of them",
        )),
    }
}

fn is_derivative(arg: &ast::Argument) -> bool {
    matches!(&arg.kind, ast::ArgumentKind::Modify { path, .. } if path.parts.len() == 1 && path.parts[0].name.as_str() == "derivative")
}

/// Whether `break` or `return` in these statements would leave the loop around them.
fn leaves_loop(body: &[ast::Statement]) -> bool {
    body.iter().any(|s| match &s.kind {
        ast::StatementKind::Break | ast::StatementKind::Return => true,
        ast::StatementKind::If {
            branches,
            otherwise,
        } => branches.iter().any(|(_, b)| leaves_loop(b)) || leaves_loop(otherwise),
        ast::StatementKind::For { body, .. } | ast::StatementKind::While { body, .. } => {
            leaves_loop(body)
        }
        ast::StatementKind::When { branches } => branches.iter().any(|(_, b)| leaves_loop(b)),
        _ => false,
    })
}

/// The first place in statements where `name` alone is a subscript.
fn find_statement_use<'a>(
    body: &'a [ast::Statement],
    name: Name,
) -> Option<crate::typing::Use<'a>> {
    let in_expr = |e: &'a ast::Expr| find_use(e, name);
    let in_ref = |r: &'a ast::ComponentRef| {
        let mut stack = Vec::new();
        use_in_ref(r, name, &mut stack)
            .or_else(|| stack.into_iter().find_map(|e| find_use(e, name)))
    };
    for s in body {
        let found = match &s.kind {
            ast::StatementKind::Assign { target, value } => {
                in_ref(target).or_else(|| in_expr(value))
            }
            ast::StatementKind::MultiAssign { targets, call } => targets
                .iter()
                .flatten()
                .find_map(in_ref)
                .or_else(|| in_expr(call)),
            ast::StatementKind::Call(e) => in_expr(e),
            ast::StatementKind::If {
                branches,
                otherwise,
            } => branches
                .iter()
                .find_map(|(c, b)| in_expr(c).or_else(|| find_statement_use(b, name)))
                .or_else(|| find_statement_use(otherwise, name)),
            ast::StatementKind::For { body, .. } => find_statement_use(body, name),
            ast::StatementKind::While { condition, body } => {
                in_expr(condition).or_else(|| find_statement_use(body, name))
            }
            ast::StatementKind::When { branches } => branches
                .iter()
                .find_map(|(c, b)| in_expr(c).or_else(|| find_statement_use(b, name))),
            ast::StatementKind::Break | ast::StatementKind::Return => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}
