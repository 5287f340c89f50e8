//! Function calls (specification 12.4): arguments by position and name, defaults, vectorised calls, record constructors, external
//! objects, functions as arguments; comprehensions and reductions (10.3.4, 10.4.1).

use super::{Cx, dims_fit, error, error_help, ref_text, unsupported};
use crate::core::*;
use crate::instantiate::ARRAY_SIZE_MAX;
use crate::lookup::suggest;
use rustc_hash::FxHashMap;
use saltus_ir::func::{FunctionBody, Local};
use saltus_ir::{
    Base, Builtin, Dim, Expr, ExprId, FuncId, LocalId, Reduction, Type, TypeId, Value,
};
use saltus_syntax::ast::{self, CallArgs, ExprKind};
use saltus_syntax::{Diagnostic, Name, Span};

/// Most elements of a comprehension that is expanded.
const COMPREHENSION_MAX: usize = 1_000_000;
/// Substitution of protected variables in the size of an output, one inside the other.
const SIZE_DEPTH_MAX: usize = 20;

/// Functions that turn a URI into a file name. They stand for themselves: who opens the file resolves `modelica://`, so that no path of
/// this machine gets into a compiled model.
const LOAD_RESOURCE: [&str; 2] = [
    "Modelica.Utilities.Files.loadResource",
    "ModelicaServices.ExternalReferences.loadResource",
];

/// What a call calls.
enum Callee<'a> {
    Builtin(Name),
    Class(ClassRef<'a>),
    Function(FuncId),
}

/// A place where an iterator is a subscript: reference, part and subscript number.
pub(crate) struct Use<'a> {
    reference: &'a ast::ComponentRef,
    part: usize,
    sub: usize,
}

/// What the locals of a function stand for in one call.
struct Arguments {
    given: FxHashMap<LocalId, ExprId>,
    /// Values that protected variables begin with, in terms of other locals.
    own: FxHashMap<LocalId, ExprId>,
}

impl Arguments {
    fn of(f: &Flattener<'_>, function: FuncId, args: &[ExprId]) -> Arguments {
        let function = &f.ir.functions[function];
        let default = |&l: &LocalId| Some((l, f.ir.locals[l].default?));
        Arguments {
            given: (function.inputs.iter().copied())
                .zip(args.iter().copied())
                .collect(),
            own: function.protected.iter().filter_map(default).collect(),
        }
    }
}

impl<'a> Flattener<'a> {
    /// All outputs of a call; the first is the call itself.
    pub(crate) fn call(
        &mut self,
        cx: Cx<'_>,
        function: &'a ast::ComponentRef,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        match self.callee(cx, function)? {
            Callee::Builtin(name) => self.builtin_call(cx, name, args, span),
            Callee::Function(f) => self.call_function(cx, f, args, span),
            Callee::Class(class) => self.call_class(cx, &class, args, span),
        }
    }

    fn callee(&mut self, cx: Cx<'_>, r: &'a ast::ComponentRef) -> Res<Callee<'a>> {
        let first = r.parts[0].name;
        let single = r.parts.len() == 1;
        if single && matches!(first.name.as_str(), "der" | "initial" | "pure") {
            return Ok(Callee::Builtin(first.name));
        }
        let builtin = |this: &Self| single && this.is_builtin_function(first.name);
        let found = if r.global {
            self.lookup_top(first.name, first.span)?
        } else {
            self.lookup(cx.scope, &first)?
        };
        if found.is_none() {
            if builtin(self) {
                return Ok(Callee::Builtin(first.name));
            }
            let text = ref_text(r);
            let text = text.trim_start_matches('.');
            if matches!(text, "Connections.isRoot" | "Connections.rooted") {
                return Ok(Callee::Builtin(Name::new(text)));
            }
            if text.starts_with("Subtask.") {
                return Err(unsupported(r.span, format!("`{text}`")));
            }
            return Err(self.unknown_function(cx.scope, r));
        }
        match self.walk(cx, r, r.parts.len(), true)? {
            Target::Class(class) => {
                if matches!(found, Some(Found::Component { .. })) {
                    self.check_called_path(cx, r, &class)?;
                }
                Ok(Callee::Class(class))
            }
            Target::Local { local, access, .. }
                if access.is_empty()
                    && self.ir.type_of_id(self.ir.locals[local].ty).base == Base::Function =>
            {
                match self
                    .ir
                    .functions
                    .iter()
                    .find(|(_, f)| f.body == FunctionBody::Argument(local))
                {
                    Some((id, _)) => Ok(Callee::Function(id)),
                    None => Err(unsupported(r.span, "calling this function argument")),
                }
            }
            _ if builtin(self) => Ok(Callee::Builtin(first.name)),
            _ => Err(error(
                "type-mismatch",
                r.span,
                format!("`{}` is not a function", ref_text(r)),
            )),
        }
    }

    /// A function reached through a component: scalar components, then classes, and the function is no operator
    /// (specification 5.3.2).
    fn check_called_path(
        &mut self,
        cx: Cx<'_>,
        r: &'a ast::ComponentRef,
        function: &ClassRef<'a>,
    ) -> Res<()> {
        let refuse = |why: &str| {
            Err(error_help(
                "unknown-name",
                r.span,
                format!("`{}` cannot be called: {why}", ref_text(r)),
                "call the function by the name of its class",
            ))
        };
        let mut in_class = false;
        for n in 1..r.parts.len() {
            match self.walk(cx, r, n, true)? {
                Target::Insts { dims, .. } if dims.is_empty() && !in_class => {}
                Target::Insts { .. } if in_class => {
                    return refuse("a component stands behind a class");
                }
                Target::Insts { .. } => return refuse("an array of components has no functions"),
                Target::Class(class) => {
                    in_class = true;
                    if self.class_kind(&class)? == ast::Restriction::Operator {
                        return refuse("operators are not found through components");
                    }
                }
                _ => {}
            }
        }
        if self.class_kind(function)? == ast::Restriction::OperatorFunction {
            return refuse("operators are not found through components");
        }
        Ok(())
    }

    fn unknown_function(&self, scope: Scope<'_>, r: &ast::ComponentRef) -> Box<Diagnostic> {
        let ident = &r.parts[0].name;
        let mut candidates = self.visible_names(scope.lex);
        candidates.extend(super::builtins::NAMES.iter().map(|n| Name::new(n)));
        let what = if r.parts.len() == 1 {
            "function"
        } else {
            "name"
        };
        let e = Diagnostic::error(
            "unknown-name",
            ident.span,
            format!("{what} `{}` is not known here", ident.name),
        );
        Box::new(match suggest(ident.name, &candidates) {
            Some(name) => e.help(format!("did you mean `{name}`?")),
            None => e.help("check the spelling, or add an `import`"),
        })
    }

    fn call_class(
        &mut self,
        cx: Cx<'_>,
        class: &ClassRef<'a>,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        let inst = self.class_inst(class)?;
        self.elaborate(inst)?;
        match self.insts[inst].builtin {
            Some(BuiltinClass::String) => return self.string_call(cx, args, span).map(|e| vec![e]),
            Some(BuiltinClass::Integer) => {
                return self.builtin_call(cx, Name::new("Integer"), args, span);
            }
            Some(BuiltinClass::Clock) => {
                return self.builtin_call(cx, Name::new("Clock"), args, span);
            }
            Some(BuiltinClass::Enum(id)) => {
                let i = self.one_argument(cx, args, class.name, span)?;
                self.expect_scalar(
                    i,
                    Base::Integer,
                    "the argument of an enumeration conversion",
                    span,
                )?;
                return Ok(vec![self.builtin_node(
                    Builtin::EnumOf,
                    &[i],
                    Base::Enum(id),
                    Vec::new(),
                )]);
            }
            Some(BuiltinClass::ExternalObject) => {
                return self.object_call(cx, inst, class, args, span);
            }
            Some(BuiltinClass::Real | BuiltinClass::Boolean) => {
                return Err(error(
                    "type-mismatch",
                    span,
                    format!("`{}` is a type, not a function", class.name),
                ));
            }
            None => {}
        }
        if self.is_function_class(inst) {
            self.check_callable(inst, class, span)?;
            let f = self.function_of_inst(inst)?;
            return self.call_function(cx, f, args, span);
        }
        use ast::Restriction as R;
        match self.insts[inst].restriction {
            R::Record | R::OperatorRecord | R::Class => self
                .record_call(cx, inst, class, args, span)
                .map(|e| vec![e]),
            other => {
                let kind = format!("{other:?}").to_lowercase();
                Err(error(
                    "type-mismatch",
                    span,
                    format!("`{}` is a {kind}, not a function", class.name),
                ))
            }
        }
    }

    fn check_callable(&mut self, inst: InstId, class: &ClassRef<'a>, span: Span) -> Res<()> {
        let text = self.insts[inst].texts.last().copied();
        let def = text
            .and_then(|t| self.lexes[t].def)
            .or(self.insts[inst].def);
        if let Some(def) = def
            && def.partial
        {
            return Err(Box::new(
                Diagnostic::error(
                    "partial-class",
                    span,
                    format!("function `{}` is partial and cannot be called", class.name),
                )
                .secondary(def.name.span, "declared partial here")
                .help("redeclare it with a complete function"),
            ));
        }
        Ok(())
    }

    /// `ExternalObjectClass(args)`: its constructor.
    fn object_call(
        &mut self,
        cx: Cx<'_>,
        inst: InstId,
        class: &ClassRef<'a>,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        let Some(Found::Class(constructor)) =
            self.inst_member(inst, Name::new("constructor"), span)?
        else {
            return Err(error(
                "type-mismatch",
                span,
                format!(
                    "external object class `{}` has no function `constructor`",
                    class.name
                ),
            ));
        };
        let f = self.function(&constructor)?;
        let object = self.object_of_class(inst);
        if self.ir.objects[object].destructor.is_none()
            && let Some(Found::Class(destructor)) =
                self.inst_member(inst, Name::new("destructor"), span)?
        {
            self.ir.objects[object].destructor = Some(self.function(&destructor)?);
        }
        self.call_function(cx, f, args, span)
    }

    pub(crate) fn call_function(
        &mut self,
        cx: Cx<'_>,
        f: FuncId,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        let given = self.bind_arguments(cx, f, args, span)?;
        self.call_bound(f, given, span)
    }

    /// Arguments in the order of the inputs.
    fn bind_arguments(
        &mut self,
        cx: Cx<'_>,
        f: FuncId,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<Vec<Option<ExprId>>> {
        let inputs = self.ir.functions[f].inputs.clone();
        let fixed: Vec<LocalId> = match self.ir.functions[f].body {
            FunctionBody::Constructor(_) => self.ir.functions[f].protected.clone(),
            _ => Vec::new(),
        };
        let open: Vec<usize> = (0..inputs.len())
            .filter(|&i| !fixed.contains(&inputs[i]))
            .collect();
        let mut given = vec![None; inputs.len()];
        if args.positional.len() > open.len() {
            let e = &args.positional[open.len()];
            let name = self.ir.functions[f].name;
            return Err(Box::new(
                Diagnostic::error(
                    "wrong-argument",
                    e.span,
                    format!(
                        "`{name}` takes {} arguments, {} are given",
                        open.len(),
                        args.positional.len()
                    ),
                )
                .secondary(self.ir.functions[f].span, "declared here"),
            ));
        }
        for (e, &i) in args.positional.iter().zip(&open) {
            given[i] = Some(self.ex(cx, e)?);
        }
        for (ident, e) in &args.named {
            let position = open
                .iter()
                .copied()
                .find(|&i| self.ir.locals[inputs[i]].name == ident.name);
            let Some(i) = position else {
                let names: Vec<Name> = open
                    .iter()
                    .map(|&i| self.ir.locals[inputs[i]].name)
                    .collect();
                let name = self.ir.functions[f].name;
                let d = Diagnostic::error(
                    "wrong-argument",
                    ident.span,
                    format!("`{name}` has no input `{}`", ident.name),
                )
                .secondary(self.ir.functions[f].span, "declared here");
                return Err(Box::new(match suggest(ident.name, &names) {
                    Some(s) => d.help(format!("did you mean `{s}`?")),
                    None => d,
                }));
            };
            if given[i].is_some() {
                return Err(error(
                    "wrong-argument",
                    ident.span,
                    format!("input `{}` is given twice", ident.name),
                ));
            }
            given[i] = Some(self.ex(cx, e)?);
        }
        let _ = span;
        Ok(given)
    }

    /// Fills in defaults, which may depend on other inputs.
    fn fill_defaults(
        &mut self,
        f: FuncId,
        given: Vec<Option<ExprId>>,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        let filled = self.known_defaults(f, given);
        let inputs = self.ir.functions[f].inputs.clone();
        let open = || (inputs.iter().zip(&filled)).filter(|(_, v)| v.is_none());
        let name = self.ir.functions[f].name;
        for (&l, _) in open() {
            let local = &self.ir.locals[l];
            if local.default.is_none() {
                return Err(Box::new(
                    Diagnostic::error(
                        "wrong-argument",
                        span,
                        format!("input `{}` of `{name}` is not given", local.name),
                    )
                    .secondary(local.span, "declared here, without default"),
                ));
            }
        }
        if let Some((&l, _)) = open().next() {
            let name = self.ir.locals[l].name;
            return Err(error(
                "cyclic-parameters",
                span,
                format!("the default of input `{name}` depends on itself"),
            ));
        }
        Ok(filled.into_iter().flatten().collect())
    }

    /// Inputs with the defaults that follow from what is given; `None` stays where there is no default, and where one depends on such
    /// an input or on itself.
    pub(crate) fn known_defaults(
        &mut self,
        f: FuncId,
        given: Vec<Option<ExprId>>,
    ) -> Vec<Option<ExprId>> {
        if given.iter().all(Option::is_some) {
            return given;
        }
        let inputs = self.ir.functions[f].inputs.clone();
        let mut map: FxHashMap<LocalId, ExprId> = FxHashMap::default();
        for (l, g) in inputs.iter().zip(&given) {
            if let Some(e) = g {
                map.insert(*l, *e);
            }
        }
        let mut missing: Vec<(LocalId, ExprId)> = inputs
            .iter()
            .filter(|l| !map.contains_key(l))
            .filter_map(|&l| Some((l, self.ir.locals[l].default?)))
            .collect();
        loop {
            let before = missing.len();
            let mut still = Vec::new();
            for (l, default) in missing {
                let waits = self.ir.reachable(&[default]).iter().any(|&id| {
                    matches!(self.ir.expr(id), Expr::Local(other) if inputs.contains(other) && !map.contains_key(other))
                });
                if waits {
                    still.push((l, default));
                } else {
                    let value = self.substitute_locals(default, &map);
                    map.insert(l, value);
                }
            }
            if still.len() == before {
                return inputs.iter().map(|l| map.get(l).copied()).collect();
            }
            missing = still;
        }
    }

    /// A call with arguments in the order of the inputs; elementwise where arrays are given for scalars (specification 12.4.6).
    pub(crate) fn call_bound(
        &mut self,
        f: FuncId,
        given: Vec<Option<ExprId>>,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        let inputs = self.ir.functions[f].inputs.clone();
        let mut extra: Vec<Dim> = Vec::new();
        let mut extras = vec![0; inputs.len()];
        let mut adapted: Vec<Option<ExprId>> = vec![None; inputs.len()];
        for (k, &l) in inputs.iter().enumerate() {
            let Some(a) = given.get(k).copied().flatten() else {
                continue;
            };
            let formal = self.ir.type_of_id(self.ir.locals[l].ty).clone();
            let actual = self.ir.ty(a).clone();
            let wrong = |this: &Self, code| {
                Box::new(
                    Diagnostic::error(
                        code,
                        span,
                        format!(
                            "input `{}` of `{}` must have type `{}`, found `{}`",
                            this.ir.locals[l].name,
                            this.ir.functions[f].name,
                            this.text_of_type(&formal),
                            this.text_of_type(&actual)
                        ),
                    )
                    .secondary(this.ir.locals[l].span, "declared here"),
                )
            };
            if !self.base_fits(formal.base, actual.base) {
                return Err(wrong(self, "wrong-argument"));
            }
            let Some(n_extra) = actual.dims.len().checked_sub(formal.dims.len()) else {
                return Err(wrong(self, "wrong-argument"));
            };
            if !dims_fit(&formal.dims, &actual.dims[n_extra..]) {
                return Err(wrong(self, "array-size-mismatch"));
            }
            if n_extra > 0 {
                let dims = &actual.dims[..n_extra];
                if extra.is_empty() {
                    extra = dims.to_vec();
                } else if !dims_fit(&extra, dims) {
                    return Err(wrong(self, "array-size-mismatch"));
                } else {
                    extra = super::nodes::merge_dims(&extra, dims);
                }
            }
            extras[k] = n_extra;
            adapted[k] = Some(self.adapt(a, formal.base));
        }
        if extra.is_empty() {
            let args = self.fill_defaults(f, adapted, span)?;
            return self.call_node(f, &args, span);
        }
        if matches!(self.ir.functions[f].body, FunctionBody::Constructor(_)) {
            return Err(error(
                "wrong-argument",
                span,
                format!("fields of `{}` are given arrays", self.ir.functions[f].name),
            ));
        }
        self.vectorised_call(f, &adapted, &extras, &extra, span)
    }

    fn vectorised_call(
        &mut self,
        f: FuncId,
        args: &[Option<ExprId>],
        extras: &[usize],
        dims: &[Dim],
        span: Span,
    ) -> Res<Vec<ExprId>> {
        // Only functions with one output may be vectorised (specification 12.4.6); of others the first is used.
        let n_outputs = self.ir.functions[f].outputs.len().min(1);
        if let Some(known) = (Type {
            base: Base::Real,
            dims: dims.to_vec(),
        })
        .known_dims()
        {
            let n: usize = known.iter().product();
            let mut columns: Vec<Vec<ExprId>> = vec![Vec::with_capacity(n); n_outputs];
            for k in 0..n {
                let at: Vec<usize> = crate::instantiate::subscripts_of(k, &known)
                    .iter()
                    .map(|s| *s as usize - 1)
                    .collect();
                let mut element_args = Vec::with_capacity(args.len());
                for (&a, &e) in args.iter().zip(extras) {
                    element_args.push(match a {
                        Some(a) if e > 0 => Some(self.element(a, &at, span)?),
                        other => other,
                    });
                }
                let element_args = self.fill_defaults(f, element_args, span)?;
                for (column, output) in
                    columns
                        .iter_mut()
                        .zip(self.call_node(f, &element_args, span)?)
                {
                    column.push(output);
                }
            }
            let mut outputs = Vec::with_capacity(n_outputs);
            for (k, column) in columns.into_iter().enumerate() {
                let element = match column.first() {
                    Some(&first) => self.ir.ty(first).clone(),
                    None => self
                        .ir
                        .type_of_id(self.ir.locals[self.ir.functions[f].outputs[k]].ty)
                        .clone(),
                };
                outputs.push(self.nest(&known, &element, &column));
            }
            return Ok(outputs);
        }
        // Sizes only known at run time: a comprehension over the first dimension, one inside the other.
        let (&dim, inner) = dims.split_first().expect("there are extra dimensions");
        let iter = self.new_iterator(Name::new("i"), Base::Integer, span);
        let iter_node = {
            let ty = self.ir.locals[iter].ty;
            self.ir.add(Expr::Local(iter), ty)
        };
        let over = args
            .iter()
            .zip(extras)
            .find(|(_, e)| **e > 0)
            .and_then(|(a, _)| *a)
            .expect("one argument is an array");
        let mut element_args = Vec::with_capacity(args.len());
        let mut rest = Vec::with_capacity(args.len());
        for (&a, &e) in args.iter().zip(extras) {
            element_args.push(match a {
                Some(a) if e > 0 => {
                    Some(self.index(a, vec![saltus_ir::Sub::At(iter_node)], span)?)
                }
                other => other,
            });
            rest.push(e.saturating_sub(1));
        }
        let bodies = if inner.is_empty() {
            let element_args = self.fill_defaults(f, element_args, span)?;
            self.call_node(f, &element_args, span)?
        } else {
            self.vectorised_call(f, &element_args, &rest, inner, span)?
        };
        let one = self.ir.integer(1);
        let stop = self.size_node(over, 0);
        let range = self.node(
            Expr::Range {
                start: one,
                step: None,
                stop,
            },
            Base::Integer,
            vec![dim],
        );
        let mut outputs = Vec::with_capacity(bodies.len());
        for body in bodies {
            let ty = self.ir.ty(body).clone();
            let dims = std::iter::once(dim).chain(ty.dims).collect();
            outputs.push(self.node(Expr::Comprehension { body, iter, range }, ty.base, dims));
        }
        Ok(outputs)
    }

    /// The node of a call whose arguments fit, and its outputs.
    pub(crate) fn call_node(&mut self, f: FuncId, args: &[ExprId], span: Span) -> Res<Vec<ExprId>> {
        if let FunctionBody::Constructor(_) = self.ir.functions[f].body {
            return self.constructed(f, args).map(|e| vec![e]);
        }
        if let Some(e) = self.external_builtin(f, args, span)? {
            return Ok(vec![e]);
        }
        if LOAD_RESOURCE.contains(&self.ir.functions[f].name.as_str()) {
            return Ok(vec![args[0]]);
        }
        let fixed = self.with_known_sizes(f, args, span)?;
        let args = fixed.as_slice();
        let n_outputs = self.ir.functions[f].outputs.len();
        let mut types = Vec::with_capacity(n_outputs);
        for k in 0..n_outputs {
            types.push(self.output_type(f, k, args, span)?);
        }
        // A function without output is called for its effect; its node has a type that nothing uses.
        let first = types
            .first()
            .copied()
            .unwrap_or_else(|| self.ir.scalar_type(Base::Boolean));
        let call = self.ir.add(
            Expr::Call {
                function: f,
                args: args.into(),
            },
            first,
        );
        let mut outputs = vec![call];
        for (k, ty) in types.into_iter().enumerate().skip(1) {
            outputs.push(self.ir.add(
                Expr::Output {
                    call,
                    index: k as u32,
                },
                ty,
            ));
        }
        // A size that only running the function tells: possible where the arguments are constants and parameters.
        for output in &mut outputs {
            let ty = self.ir.ty(*output).clone();
            if self.ir.leaf_count(self.ir.type_id(*output)).is_none()
                && let Some(value) = self.try_const(*output)
            {
                *output = self.value_node(&value, ty.base, span)?;
            }
        }
        Ok(outputs)
    }

    /// Arguments whose value is a size of an output, as literals: the size must be known anyway.
    fn with_known_sizes(&mut self, f: FuncId, args: &[ExprId], span: Span) -> Res<Vec<ExprId>> {
        let mut args = args.to_vec();
        let function = &self.ir.functions[f];
        let sizes: Vec<ExprId> = function
            .outputs
            .iter()
            .flat_map(|l| {
                let of_fields = self.field_sizes.get(l).into_iter().flatten().flatten();
                (self.ir.locals[*l].dims.iter())
                    .chain(of_fields)
                    .flatten()
                    .copied()
            })
            .collect();
        if sizes.iter().all(|&e| self.ir.is_literal(e)) {
            return Ok(args);
        }
        let locals: Vec<LocalId> = self
            .ir
            .reachable(&sizes)
            .into_iter()
            .filter_map(|id| match self.ir.expr(id) {
                Expr::Local(l) if self.ir.ty(id).is_scalar() => Some(*l),
                _ => None,
            })
            .collect();
        let inputs = function.inputs.clone();
        for (k, l) in inputs.iter().enumerate() {
            if locals.contains(l)
                && !self.ir.is_literal(args[k])
                && matches!(
                    self.ir.base(args[k]),
                    Base::Integer | Base::Boolean | Base::Enum(_)
                )
                && let Some(value) = self.try_const(args[k])
            {
                let base = self.ir.base(args[k]);
                args[k] = self.value_node(&value, base, span)?;
            }
        }
        Ok(args)
    }

    /// The type of an output, with sizes that follow from the arguments.
    fn output_type(&mut self, f: FuncId, k: usize, args: &[ExprId], span: Span) -> Res<TypeId> {
        let output = self.ir.functions[f].outputs[k];
        let ty = self.ir.locals[output].ty;
        if self.ir.leaf_count(ty).is_some() {
            return Ok(ty);
        }
        let mut full = self.ir.type_of_id(ty).clone();
        let arguments = Arguments::of(self, f, args);
        let sizes = self.ir.locals[output].dims.clone();
        self.fill_sizes(&mut full.dims, &sizes, &arguments, span)?;
        if let Base::Record(record) = full.base
            && let Some(sizes) = self.field_sizes.get(&output).cloned()
        {
            let fields = self.ir.records[record].fields.clone();
            let mut types = Vec::with_capacity(fields.len());
            for (field, sizes) in fields.iter().zip(&sizes) {
                let mut ty = self.ir.type_of_id(field.ty).clone();
                self.fill_sizes(&mut ty.dims, sizes, &arguments, span)?;
                types.push((field.name, self.ir.intern_type(ty)));
            }
            let (name, at) = (self.ir.records[record].name, self.ir.records[record].span);
            full.base = Base::Record(self.record_id(name, types, at));
        }
        Ok(self.ir.intern_type(full))
    }

    /// The unknown ones of `dims`, where the size expressions of a local have a value for these arguments.
    fn fill_sizes(
        &mut self,
        dims: &mut [Dim],
        sizes: &[Option<ExprId>],
        arguments: &Arguments,
        span: Span,
    ) -> Res<()> {
        for (dim, size) in dims.iter_mut().zip(sizes) {
            let (Some(mut size), Dim::Unknown) = (*size, *dim) else {
                continue;
            };
            for _ in 0..SIZE_DEPTH_MAX {
                let next = self.substitute_locals(size, &arguments.own);
                if next == size {
                    break;
                }
                size = next;
            }
            let size = self.substitute_locals(size, &arguments.given);
            *dim = self.dim_of(size, span)?;
        }
        Ok(())
    }

    /// `external "builtin"`: the operator of the language itself.
    fn external_builtin(&mut self, f: FuncId, args: &[ExprId], span: Span) -> Res<Option<ExprId>> {
        let FunctionBody::External(external) = &self.ir.functions[f].body else {
            return Ok(None);
        };
        // What has no result says something to a later stage.
        if external.language.as_str() != "builtin" || self.ir.functions[f].outputs.is_empty() {
            return Ok(None);
        }
        let name = external.name;
        let external_args = external.args.clone();
        let inputs = self.ir.functions[f].inputs.clone();
        let map: FxHashMap<LocalId, ExprId> =
            inputs.into_iter().zip(args.iter().copied()).collect();
        let mut values = Vec::with_capacity(external_args.len());
        for a in external_args {
            match a {
                saltus_ir::func::ExternalArg::Value(e) => {
                    values.push(self.substitute_locals(e, &map))
                }
                saltus_ir::func::ExternalArg::Output(_) => return Ok(None),
            }
        }
        if !self.is_builtin_function(name) {
            return Err(unsupported(span, format!("the built-in function `{name}`")));
        }
        self.builtin_values(name, &values, span).map(Some)
    }

    // ---- records ----

    fn record_call(
        &mut self,
        cx: Cx<'_>,
        inst: InstId,
        class: &ClassRef<'a>,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<ExprId> {
        if self.insts[inst].restriction == ast::Restriction::OperatorRecord {
            let constructors = self.operator_functions(inst, "'constructor'", span)?;
            for &f in &constructors {
                let n = self.ir.functions[f].outputs.len();
                if n != 1 {
                    return Err(error_help(
                        "class-restriction",
                        self.ir.functions[f].span,
                        format!("a constructor has one output, this one {n}"),
                        "give it the record as its only output",
                    ));
                }
            }
            self.check_ambiguous(&constructors, args, span)?;
            if let [only] = constructors[..] {
                let outputs = self.call_function(cx, only, args, span)?;
                return outputs
                    .first()
                    .copied()
                    .ok_or_else(|| error("type-mismatch", span, "the constructor has no output"));
            }
            for f in constructors {
                if let Ok(given) = self.bind_arguments(cx, f, args, span)
                    && let Ok(outputs) = self.call_bound(f, given, span)
                    && let Some(&first) = outputs.first()
                {
                    return Ok(first);
                }
            }
        }
        let _ = class;
        let f = self.record_constructor(inst)?;
        let given = self.bind_arguments(cx, f, args, span)?;
        let outputs = self.call_bound(f, given, span)?;
        Ok(outputs[0])
    }

    /// No two constructors take the same positional arguments (specification 14.3).
    fn check_ambiguous(&self, constructors: &[FuncId], args: &CallArgs, span: Span) -> Res<()> {
        let n = args.positional.len();
        let types = |f: FuncId| -> Option<Vec<TypeId>> {
            let inputs = &self.ir.functions[f].inputs;
            let taken = inputs.get(..n)?;
            Some(taken.iter().map(|&l| self.ir.locals[l].ty).collect())
        };
        let complete = |f: FuncId| self.ir.functions[f].inputs.len() == n;
        for (k, &f) in constructors.iter().enumerate() {
            let same = |g: &&FuncId| complete(f) && complete(**g) && types(**g) == types(f);
            if let Some(&g) = constructors[..k].iter().find(same) {
                return Err(Box::new(
                    Diagnostic::error(
                        "wrong-argument",
                        span,
                        "two constructors of the record take these arguments",
                    )
                    .secondary(self.ir.functions[g].span, "one")
                    .secondary(self.ir.functions[f].span, "the other")
                    .help("remove one of the constructors, or change its inputs"),
                ));
            }
        }
        Ok(())
    }

    /// A record of the constructor's type with these fields; unknown sizes are those of the values.
    fn constructed(&mut self, f: FuncId, values: &[ExprId]) -> Res<ExprId> {
        let inputs = self.ir.functions[f].inputs.clone();
        let (name, span) = (self.ir.functions[f].name, self.ir.functions[f].span);
        let mut types = Vec::with_capacity(inputs.len());
        for (l, v) in inputs.iter().zip(values) {
            let local = &self.ir.locals[*l];
            let field = local.name;
            let declared = self.ir.type_of_id(local.ty).clone();
            let actual = self.ir.ty(*v);
            let dims = super::nodes::merge_dims(&declared.dims, &actual.dims);
            let base = match (declared.base, actual.base) {
                (Base::Record(_), base @ Base::Record(_)) => base,
                (base, _) => base,
            };
            let ty = self.ir.intern_type(Type { base, dims });
            types.push((field, ty));
        }
        let record = self.record_id(name, types, span);
        Ok(self.node(
            Expr::Record {
                record,
                fields: values.into(),
            },
            Base::Record(record),
            Vec::new(),
        ))
    }

    // ---- functions as values ----

    pub(crate) fn partial_function(
        &mut self,
        cx: Cx<'_>,
        function: &'a ast::ComponentRef,
        named: &'a [(ast::Ident, ast::Expr)],
        span: Span,
    ) -> Res<ExprId> {
        let f = match self.callee(cx, function)? {
            Callee::Class(class) => {
                let inst = self.class_inst(&class)?;
                self.elaborate(inst)?;
                if !self.is_function_class(inst) {
                    return Err(error(
                        "type-mismatch",
                        span,
                        format!("`{}` is not a function", class.name),
                    ));
                }
                self.check_callable(inst, &class, span)?;
                self.function_of_inst(inst)?
            }
            Callee::Function(f) => f,
            Callee::Builtin(name) => {
                return Err(unsupported(
                    span,
                    format!("passing the built-in function `{name}` as an argument"),
                ));
            }
        };
        let inputs = self.ir.functions[f].inputs.clone();
        let mut bound = Vec::with_capacity(named.len());
        for (ident, e) in named {
            let Some(k) = inputs
                .iter()
                .position(|l| self.ir.locals[*l].name == ident.name)
            else {
                let name = self.ir.functions[f].name;
                return Err(error(
                    "wrong-argument",
                    ident.span,
                    format!("`{name}` has no input `{}`", ident.name),
                ));
            };
            let value = self.ex(cx, e)?;
            let formal = self.ir.type_of_id(self.ir.locals[inputs[k]].ty).clone();
            let actual = self.ir.ty(value).clone();
            if !self.base_fits(formal.base, actual.base) || !dims_fit(&formal.dims, &actual.dims) {
                return Err(error(
                    "wrong-argument",
                    e.span,
                    format!(
                        "input `{}` must have type `{}`, found `{}`",
                        ident.name,
                        self.text_of_type(&formal),
                        self.text_of_type(&actual)
                    ),
                ));
            }
            bound.push((k as u32, self.adapt(value, formal.base)));
        }
        bound.sort_unstable_by_key(|(k, _)| *k);
        Ok(self.node(
            Expr::Function {
                function: f,
                bound: bound.into(),
            },
            Base::Function,
            Vec::new(),
        ))
    }

    // ---- comprehensions and reductions ----

    pub(crate) fn new_iterator(&mut self, name: Name, base: Base, span: Span) -> LocalId {
        let ty = self.ir.scalar_type(base);
        self.ir.locals.push(Local {
            name,
            ty,
            dims: Vec::new(),
            default: None,
            span,
            unit: None,
        })
    }

    pub(crate) fn comprehension(
        &mut self,
        cx: Cx<'_>,
        function: Option<&'a ast::ComponentRef>,
        body: &'a ast::Expr,
        iterators: &'a [ast::Iterator],
        span: Span,
    ) -> Res<ExprId> {
        let op = match function {
            None => None,
            Some(f) => match ref_text(f).as_str() {
                "array" => None,
                "sum" => Some(Reduction::Sum),
                "product" => Some(Reduction::Product),
                "min" => Some(Reduction::Min),
                "max" => Some(Reduction::Max),
                other => {
                    return Err(error_help(
                        "wrong-argument",
                        f.span,
                        format!("`{other}` cannot be used with iterators"),
                        "only `array`, `sum`, `product`, `min` and `max` can",
                    ));
                }
            },
        };
        self.iterate(cx, op, body, iterators, span)
    }

    /// The last written iterator is the outermost: `{e for i in a, j in b}` is `{{e for i in a} for j in b}`.
    fn iterate(
        &mut self,
        cx: Cx<'_>,
        op: Option<Reduction>,
        body: &'a ast::Expr,
        iterators: &'a [ast::Iterator],
        span: Span,
    ) -> Res<ExprId> {
        let Some((iterator, rest)) = iterators.split_last() else {
            return self.ex(cx, body);
        };
        let range = match &iterator.range {
            Some(range) => self.iterator_range(cx, range)?,
            None => {
                let found = find_use(body, iterator.name.name);
                self.deduced_range(cx, &iterator.name, found)?
            }
        };
        let name = iterator.name.name;
        let values = if self.in_function(cx.scope) {
            None
        } else {
            self.range_values(range, span)?
        };
        if let Some(values) = values {
            if values.len() > COMPREHENSION_MAX {
                return Err(error(
                    "array-size-mismatch",
                    span,
                    format!("this comprehension has {} elements", values.len()),
                ));
            }
            let mut items = Vec::with_capacity(values.len());
            for value in values {
                let scope = IteratorScope {
                    name,
                    value: IteratorValue::Constant(value),
                    outer: cx.scope.iterators,
                };
                let inner = Cx {
                    scope: Scope {
                        lex: cx.scope.lex,
                        iterators: Some(&scope),
                    },
                    ..cx
                };
                items.push(self.iterate(inner, op, body, rest, span)?);
            }
            if !items.is_empty() {
                return match op {
                    None => self.array_constructor(&items, span),
                    Some(op) => self.reduce_items(op, &items, span),
                };
            }
        }
        let base = self.ir.base(range);
        let iter = self.new_iterator(name, base, iterator.name.span);
        let scope = IteratorScope {
            name,
            value: IteratorValue::Local(iter),
            outer: cx.scope.iterators,
        };
        let inner = Cx {
            scope: Scope {
                lex: cx.scope.lex,
                iterators: Some(&scope),
            },
            ..cx
        };
        let dim = self.ir.ty(range).dims[0];
        let body = match self.iterate(inner, op, body, rest, span) {
            Ok(body) => body,
            // An empty range: the body may make no sense (a subscript of an empty array), its type is not known then.
            Err(_) if dim == Dim::Known(0) => self.ir.real(0.0),
            Err(e) => return Err(e),
        };
        let ty = self.ir.ty(body).clone();
        Ok(match op {
            None => {
                let dims = std::iter::once(dim).chain(ty.dims).collect();
                if dim == Dim::Known(0) {
                    return Ok(self.node(Expr::Array(Box::new([])), ty.base, dims));
                }
                self.node(Expr::Comprehension { body, iter, range }, ty.base, dims)
            }
            Some(op) => {
                if matches!(ty.base, Base::Record(_)) {
                    return if dim == Dim::Known(0) {
                        self.record_zero(body, span)
                    } else {
                        Err(unsupported(
                            span,
                            "a reduction of records over a range that is not constant",
                        ))
                    };
                }
                self.check_reducible(op, &ty, span)?;
                if dim == Dim::Known(0) {
                    return Ok(self.empty_reduction(op, ty.base));
                }
                self.node(
                    Expr::Reduce {
                        op,
                        body,
                        iter,
                        range,
                    },
                    ty.base,
                    ty.dims,
                )
            }
        })
    }

    fn check_reducible(&self, op: Reduction, ty: &Type, span: Span) -> Res<()> {
        let fits = match op {
            Reduction::Sum => ty.base.is_numeric(),
            Reduction::Product => ty.base.is_numeric() && ty.is_scalar(),
            Reduction::Min | Reduction::Max => {
                ty.is_scalar()
                    && matches!(
                        ty.base,
                        Base::Real | Base::Integer | Base::Boolean | Base::Enum(_)
                    )
            }
        };
        if fits {
            return Ok(());
        }
        let name = format!("{op:?}").to_lowercase();
        Err(error(
            "type-mismatch",
            span,
            format!(
                "`{name}` is not defined for elements of type `{}`",
                self.text_of_type(ty)
            ),
        ))
    }

    pub(crate) fn empty_reduction(&mut self, op: Reduction, base: Base) -> ExprId {
        match (op, base) {
            (Reduction::Sum, Base::Integer) => self.ir.integer(0),
            (Reduction::Sum, _) => self.ir.real(0.0),
            (Reduction::Product, Base::Integer) => self.ir.integer(1),
            (Reduction::Product, _) => self.ir.real(1.0),
            (Reduction::Min, _) => self.ir.real(f64::MAX),
            (Reduction::Max, _) => self.ir.real(-f64::MAX),
        }
    }

    fn reduce_items(&mut self, op: Reduction, items: &[ExprId], span: Span) -> Res<ExprId> {
        let ty = self.ir.ty(items[0]).clone();
        if let Base::Record(_) = ty.base {
            let operator = match op {
                Reduction::Sum => ast::BinaryOp::Add,
                Reduction::Product => ast::BinaryOp::Mul,
                _ => {
                    return Err(error(
                        "type-mismatch",
                        span,
                        "records have no smallest or largest element",
                    ));
                }
            };
            let mut sum = items[0];
            for &i in &items[1..] {
                sum = self.binary(operator, sum, i, span)?;
            }
            return Ok(sum);
        }
        self.check_reducible(op, &ty, span)?;
        let all = self.array_constructor(items, span)?;
        let ty = self.ir.ty(all).clone();
        if ty.dims.len() > 1 {
            // A sum of arrays, element by element.
            let mut sum = items[0];
            for &i in &items[1..] {
                sum = self.binary(ast::BinaryOp::Add, sum, i, span)?;
            }
            return Ok(sum);
        }
        let builtin = match op {
            Reduction::Sum => Builtin::Sum,
            Reduction::Product => Builtin::Product,
            Reduction::Min => Builtin::Min,
            Reduction::Max => Builtin::Max,
        };
        Ok(self.builtin_node(builtin, &[all], ty.base, Vec::new()))
    }

    /// The vector an iterator runs over; a type name stands for all its values (specification 10.4.1, 11.2.2.2).
    pub(crate) fn iterator_range(&mut self, cx: Cx<'_>, range: &'a ast::Expr) -> Res<ExprId> {
        if let ExprKind::Ref(r) = &range.kind
            && let Target::Class(class) = self.cref_in(cx, r)?
        {
            return self.values_of_type(&class, range.span);
        }
        let e = self.ex(cx, range)?;
        if self.ir.ty(e).dims.len() != 1 {
            return Err(error(
                "type-mismatch",
                range.span,
                format!(
                    "an iterator runs over a vector, found `{}`",
                    self.type_text_of(e)
                ),
            ));
        }
        Ok(e)
    }

    /// The vector that an iterator of a for-equation runs over, deduced from the body if it is not written.
    pub(crate) fn equation_iterator_range(
        &mut self,
        cx: Cx<'_>,
        iterator: &'a ast::Iterator,
        body: &'a [ast::Equation],
    ) -> Res<ExprId> {
        match &iterator.range {
            Some(range) => self.iterator_range(cx, range),
            None => {
                let found = find_equation_use(body, iterator.name.name);
                self.deduced_range(cx, &iterator.name, found)
            }
        }
    }

    /// All values of Boolean or an enumeration as a vector.
    fn values_of_type(&mut self, class: &ClassRef<'a>, span: Span) -> Res<ExprId> {
        let inst = self.class_inst(class)?;
        self.elaborate(inst)?;
        match self.insts[inst].builtin {
            Some(BuiltinClass::Boolean) => {
                let items = [self.ir.boolean(false), self.ir.boolean(true)];
                Ok(self.stack(&items, &Type::scalar(Base::Boolean)))
            }
            Some(BuiltinClass::Enum(id)) => {
                let n = self.ir.enums[id].literals.len() as u32;
                let items: Vec<ExprId> = (1..=n)
                    .map(|k| self.ir.add_scalar(Expr::Enum(id, k), Base::Enum(id)))
                    .collect();
                Ok(self.stack(&items, &Type::scalar(Base::Enum(id))))
            }
            _ => Err(error(
                "type-mismatch",
                span,
                format!("type `{}` has no finite list of values", class.name),
            )),
        }
    }

    /// Literal values of a range if they can be known at compile time.
    pub(crate) fn range_values(&mut self, range: ExprId, span: Span) -> Res<Option<Vec<ExprId>>> {
        let base = self.ir.base(range);
        let length = self
            .ir
            .ty(range)
            .known_dims()
            .and_then(|d| d.first().copied());
        if length.is_some_and(|n| n > ARRAY_SIZE_MAX) {
            return Ok(None);
        }
        if let Some(items) = self.unstack(range)
            && items.iter().all(|&i| self.ir.is_literal(i))
        {
            return Ok(Some(items));
        }
        match self.try_const(range) {
            Some(Value::Array(a)) => a
                .elems
                .iter()
                .map(|v| self.value_node(v, base, span))
                .collect::<Res<Vec<_>>>()
                .map(Some),
            _ => Ok(None),
        }
    }

    /// All values of the type that a dimension is declared with: `Real x[Boolean]`.
    fn declared_index_type(
        &mut self,
        cx: Cx<'_>,
        r: &'a ast::ComponentRef,
        part: usize,
        sub: usize,
    ) -> Res<Option<ExprId>> {
        if part != 0 || r.global {
            return Ok(None);
        }
        let name = r.parts[0].name;
        let owner = match self.lookup(cx.scope, &name)? {
            Some(Found::Component { owner, .. }) => owner,
            Some(Found::Local(_)) => self.lexes[cx.scope.lex].owner,
            _ => return Ok(None),
        };
        if !self.insts[owner].elements.contains_key(&name.name) {
            return Ok(None);
        }
        let element = self.effective(owner, name.name).element;
        if let Some((
            ast::Subscript::Expr(ast::Expr {
                kind: ExprKind::Ref(index),
                span,
            }),
            lex,
        )) = element.dims(false).get(sub)
            && let Target::Class(class) = self.cref(
                Scope {
                    lex: *lex,
                    iterators: None,
                },
                index,
            )?
        {
            return self.values_of_type(&class, *span).map(Some);
        }
        Ok(None)
    }

    /// The range of an iterator that is written without one: the size of the array it is a subscript of.
    pub(crate) fn deduced_range(
        &mut self,
        cx: Cx<'_>,
        ident: &ast::Ident,
        found: Option<Use<'a>>,
    ) -> Res<ExprId> {
        let Some(Use {
            reference,
            part,
            sub,
        }) = found
        else {
            return Err(error_help(
                "not-constant",
                ident.span,
                format!(
                    "the range of iterator `{}` is not given and it is no subscript",
                    ident.name
                ),
                "write `in` and a range",
            ));
        };
        let span = reference.span;
        if let Some(values) = self.declared_index_type(cx, reference, part, sub)? {
            return Ok(values);
        }
        let target = self.walk(cx, reference, part + 1, false)?;
        let one = self.ir.integer(1);
        let n_outer = match part {
            0 => 0,
            _ => {
                let outer = self.walk(cx, reference, part, true)?;
                match outer {
                    Target::Class(_) => 0,
                    other => self.target_dims(&other, span)?.len(),
                }
            }
        };
        let dims = self.target_dims(&target, span)?;
        let stop = match dims.get(n_outer + sub) {
            Some(Dim::Known(n)) => {
                let n = i64::from(*n);
                self.ir.integer(n)
            }
            Some(Dim::Unknown) => {
                let e = self.target_expr(target, span)?;
                self.size_node(e, n_outer + sub)
            }
            None => {
                return Err(error(
                    "array-size-mismatch",
                    span,
                    format!("`{}` has too many subscripts", ref_text(reference)),
                ));
            }
        };
        self.range(one, None, stop, span)
    }
}

use super::Target;

/// The first place in an expression where `name` alone is a subscript.
pub(crate) fn find_use<'a>(e: &'a ast::Expr, name: Name) -> Option<Use<'a>> {
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        match &e.kind {
            ExprKind::Ref(r) => {
                if let Some(found) = use_in_ref(r, name, &mut stack) {
                    return Some(found);
                }
            }
            ExprKind::Unary(_, a) => stack.push(a),
            ExprKind::Binary(_, a, b) => stack.extend([b.as_ref(), a.as_ref()]),
            ExprKind::If {
                branches,
                otherwise,
            } => {
                stack.push(otherwise);
                stack.extend(branches.iter().rev().flat_map(|(c, v)| [v, c]));
            }
            ExprKind::Range { start, step, stop } => {
                stack.push(stop);
                stack.extend(step.as_deref());
                stack.push(start);
            }
            ExprKind::Call { function, args } => {
                stack.extend(args.named.iter().map(|(_, e)| e));
                stack.extend(args.positional.iter().rev());
                if let Some(found) = use_in_ref(function, name, &mut stack) {
                    return Some(found);
                }
            }
            ExprKind::Array(items) => stack.extend(items.iter().rev()),
            ExprKind::Comprehension {
                body, iterators, ..
            } => {
                if iterators.iter().all(|i| i.name.name != name) {
                    stack.push(body);
                }
            }
            ExprKind::Matrix(rows) => stack.extend(rows.iter().rev().flat_map(|r| r.iter().rev())),
            ExprKind::Tuple(items) => stack.extend(items.iter().rev().flatten()),
            ExprKind::PartialFunction { named, .. } => stack.extend(named.iter().map(|(_, e)| e)),
            ExprKind::Integer(_)
            | ExprKind::Real(_)
            | ExprKind::String(_)
            | ExprKind::Boolean(_)
            | ExprKind::End
            | ExprKind::Break
            | ExprKind::Error => {}
        }
    }
    None
}

/// The first place in equations where `name` alone is a subscript.
fn find_equation_use<'a>(body: &'a [ast::Equation], name: Name) -> Option<Use<'a>> {
    use ast::EquationKind as K;
    let in_ref = |r: &'a ast::ComponentRef| {
        let mut stack = Vec::new();
        use_in_ref(r, name, &mut stack)
            .or_else(|| stack.into_iter().find_map(|e| find_use(e, name)))
    };
    body.iter().find_map(|equation| match &equation.kind {
        K::Equal { lhs, rhs } => find_use(lhs, name).or_else(|| find_use(rhs, name)),
        K::If {
            branches,
            otherwise,
        } => branches
            .iter()
            .find_map(|(c, b)| find_use(c, name).or_else(|| find_equation_use(b, name)))
            .or_else(|| find_equation_use(otherwise, name)),
        K::When { branches } => branches
            .iter()
            .find_map(|(c, b)| find_use(c, name).or_else(|| find_equation_use(b, name))),
        K::For { body, .. } => find_equation_use(body, name),
        K::Connect { a, b } => in_ref(a).or_else(|| in_ref(b)),
        K::Call(e) => find_use(e, name),
    })
}

pub(crate) fn use_in_ref<'a>(
    r: &'a ast::ComponentRef,
    name: Name,
    stack: &mut Vec<&'a ast::Expr>,
) -> Option<Use<'a>> {
    for (part, p) in r.parts.iter().enumerate() {
        for (sub, s) in p.subscripts.iter().enumerate() {
            let ast::Subscript::Expr(e) = s else { continue };
            if let ExprKind::Ref(inner) = &e.kind
                && inner.parts.len() == 1
                && inner.parts[0].subscripts.is_empty()
                && inner.parts[0].name.name == name
            {
                return Some(Use {
                    reference: r,
                    part,
                    sub,
                });
            }
            stack.push(e);
        }
    }
    None
}
