//! Component references (specification 3.6.6, 10.5): names through instances, arrays of components, locals and classes, with
//! subscripts, slices and `end`.
//!
//! A reference through arrays of components gives all selected elements in row-major order with their shape. Subscripts whose
//! value is known at compile time select at once; others stay as subscripts of the result.

use super::{Conditional, Cx, error, error_help, ref_text};
use crate::core::*;
use crate::lookup::suggest;
use saltus_ir::func::Access;
use saltus_ir::{Base, Dim, Expr, ExprId, LocalId, Sub, Type, TypeId, Value, VarId};
use saltus_syntax::ast::{self, RefPart, Subscript};
use saltus_syntax::{Diagnostic, Name, Span};

/// What a component reference stands for.
#[derive(Clone)]
pub enum Target<'a> {
    /// Class-typed components (models, connectors, records) in row-major order. `subs` is empty, or has one subscript for each of
    /// `dims` where some are only known at run time. `pattern` says what the elements would be where there are none.
    Insts {
        dims: Vec<usize>,
        elems: Vec<InstId>,
        subs: Vec<Sub>,
        pattern: Option<InstId>,
    },
    /// Variables of builtin type.
    Vars(VarSelection),
    /// A local of a function or an iterator, with subscripts and fields from the outside in; `ty` is the type of the result.
    Local {
        local: LocalId,
        access: Vec<Access>,
        ty: TypeId,
    },
    /// A value without place: a constant, an enumeration literal, an unrolled iterator, `time`.
    Value(ExprId),
    Class(ClassRef<'a>),
    /// A conditional component whose condition is false.
    Absent,
}

/// Scalar variables in row-major order over `dims`; `subs` as at [`Target::Insts`].
#[derive(Clone, Debug)]
pub struct VarSelection {
    pub base: Base,
    pub dims: Vec<usize>,
    pub vars: Vec<VarId>,
    pub subs: Vec<Sub>,
}

impl VarSelection {
    /// Whether the variables follow each other without gap.
    pub fn is_contiguous(&self) -> bool {
        self.vars.windows(2).all(|w| w[1].0 == w[0].0 + 1)
    }
}

/// One subscript of a selection, from 0.
enum Axis {
    All,
    One(usize),
    Many(Vec<usize>),
    Dynamic(ExprId),
}

/// Shape, subscripts and elements after a selection.
struct Selected<T> {
    dims: Vec<usize>,
    subs: Vec<Sub>,
    items: Vec<T>,
}

impl<'a> Flattener<'a> {
    /// What a reference stands for.
    pub fn cref(&mut self, scope: Scope<'_>, r: &'a ast::ComponentRef) -> Res<Target<'a>> {
        self.cref_in(Cx::new(scope), r)
    }

    pub(crate) fn cref_in(&mut self, cx: Cx<'_>, r: &'a ast::ComponentRef) -> Res<Target<'a>> {
        self.walk(cx, r, r.parts.len(), true)
    }

    /// The first `n` parts of a reference, with or without the subscripts of the last of them.
    pub(crate) fn walk(
        &mut self,
        cx: Cx<'_>,
        r: &'a ast::ComponentRef,
        n: usize,
        last_subscripts: bool,
    ) -> Res<Target<'a>> {
        let first = &r.parts[0];
        let found = if r.global {
            self.lookup_top(first.name.name, first.name.span)?
        } else {
            self.lookup(cx.scope, &first.name)?
        };
        let subs = |k: usize| {
            if k + 1 < n || last_subscripts {
                r.parts[k].subscripts.as_slice()
            } else {
                &[]
            }
        };
        let mut outer = match &found {
            Some(Found::Component { owner, name }) => Some((*owner, *name)),
            _ => None,
        };
        let mut target = match found {
            None if !r.global && first.name.name.as_str() == "time" => {
                if self.in_function(cx.scope) {
                    return Err(error_help(
                        "unknown-name",
                        r.span,
                        "`time` may not be used in a function",
                        "pass it as an input",
                    ));
                }
                let time = self.ir.time();
                self.subscript_value(cx, Target::Value(time), subs(0), 0, r.span)?
            }
            None => return Err(self.unknown_name(cx.scope, r)),
            Some(Found::Iterator(IteratorValue::Constant(e))) => {
                self.subscript_value(cx, Target::Value(e), subs(0), 0, r.span)?
            }
            Some(Found::Iterator(IteratorValue::Local(local)) | Found::Local(local)) => {
                let ty = self.ir.locals[local].ty;
                let target = Target::Local {
                    local,
                    access: Vec::new(),
                    ty,
                };
                self.subscript_value(cx, target, subs(0), 0, r.span)?
            }
            Some(Found::Component { owner, name }) => {
                self.members(cx, vec![], vec![], &[owner], name, first, subs(0))?
            }
            Some(Found::Class(class)) => Target::Class(class),
        };
        for (k, part) in r.parts.iter().enumerate().take(n).skip(1) {
            if let Some((owner, name)) = outer.take() {
                self.check_outer_member(owner, name, &part.name)?;
            }
            if let Target::Insts { elems, .. } = &target
                && let Some(&first) = elems.first()
            {
                outer = Some((first, part.name.name));
            }
            target = self.step(cx, target, part, subs(k), r)?;
        }
        Ok(target)
    }

    /// Of an `outer` component only what its declared type has can be used, whatever the `inner` one has (specification 5.4).
    fn check_outer_member(&mut self, owner: InstId, name: Name, member: &ast::Ident) -> Res<()> {
        let Some(Element {
            kind: ElementKind::Component(decl),
            lex,
            ..
        }) = self.insts[owner].elements.get(&name)
        else {
            return Ok(());
        };
        let (decl, lex) = (*decl, *lex);
        if !decl.prefixes.outer {
            return Ok(());
        }
        let class = self.find_class(lex, &decl.ty)?;
        let inst = self.class_inst(&class)?;
        self.elaborate(inst)?;
        let node = &self.insts[inst];
        if node.builtin.is_some()
            || node.restriction == ast::Restriction::ExpandableConnector
            || node.elements.contains_key(&member.name)
        {
            return Ok(());
        }
        Err(self.unknown_member(&class, member))
    }

    fn unknown_name(&self, scope: Scope<'_>, r: &ast::ComponentRef) -> Box<Diagnostic> {
        let ident = &r.parts[0].name;
        let mut candidates = Vec::new();
        let mut iterator = scope.iterators;
        while let Some(it) = iterator {
            candidates.push(it.name);
            iterator = it.outer;
        }
        candidates.extend(self.visible_names(scope.lex));
        let diagnostic = Diagnostic::error(
            "unknown-name",
            ident.span,
            format!("`{}` is not known here", ident.name),
        );
        Box::new(match suggest(ident.name, &candidates) {
            Some(name) => diagnostic.help(format!("did you mean `{name}`?")),
            None => diagnostic.help("declare it, or check the spelling"),
        })
    }

    fn step(
        &mut self,
        cx: Cx<'_>,
        target: Target<'a>,
        part: &'a RefPart,
        subs: &'a [Subscript],
        r: &'a ast::ComponentRef,
    ) -> Res<Target<'a>> {
        let (name, span) = (part.name.name, part.name.span);
        match target {
            Target::Insts {
                dims,
                elems,
                subs: pending,
                pattern,
            } => {
                if let Some(&first) = elems.first() {
                    self.check_visible(first, name, span)?;
                } else if let Some(pattern) = pattern {
                    self.check_visible(pattern, name, span)?;
                    return self.members_of_none(cx, dims, pattern, part, subs);
                }
                let cx = match cx.conditional {
                    Conditional::Refused => Cx {
                        conditional: Conditional::Warned,
                        ..cx
                    },
                    _ => cx,
                };
                self.members(cx, dims, pending, &elems, name, part, subs)
            }
            Target::Class(class) => {
                let inst = self.class_inst(&class)?;
                self.elaborate(inst)?;
                if let Some(BuiltinClass::Enum(id)) = self.insts[inst].builtin {
                    let literals = &self.ir.enums[id].literals;
                    let Some(k) = literals.iter().position(|l| *l == name) else {
                        let help = suggest(name, literals);
                        let e = Diagnostic::error(
                            "unknown-name",
                            span,
                            format!("enumeration `{}` has no literal `{name}`", class.name),
                        );
                        return Err(Box::new(match help {
                            Some(s) => e.help(format!("did you mean `{s}`?")),
                            None => e,
                        }));
                    };
                    let e = self
                        .ir
                        .add_scalar(Expr::Enum(id, k as u32 + 1), Base::Enum(id));
                    return Ok(Target::Value(e));
                }
                self.check_visible(inst, name, span)?;
                self.check_looked_into(&class, &part.name)?;
                match self.inst_member(inst, name, span)? {
                    Some(Found::Class(class)) => Ok(Target::Class(class)),
                    Some(Found::Component { owner, name }) => {
                        self.members(cx, vec![], vec![], &[owner], name, part, subs)
                    }
                    Some(Found::Local(_) | Found::Iterator(_)) => Err(error(
                        "unknown-name",
                        span,
                        format!(
                            "`{}` is a local of a function and not visible here",
                            ref_text(r)
                        ),
                    )),
                    None => Err(self.unknown_member(&class, &part.name)),
                }
            }
            Target::Local {
                local,
                mut access,
                ty,
            } => {
                let (index, field) = self.field_named(ty, name, span)?;
                access.push(Access::Field(index));
                let outer = self.ir.type_of_id(ty).dims.clone();
                let field = self.ir.type_of_id(field).clone();
                let n_outer = outer.len();
                let dims = outer.into_iter().chain(field.dims).collect();
                let ty = self.ir.intern_type(Type {
                    base: field.base,
                    dims,
                });
                self.subscript_value(
                    cx,
                    Target::Local { local, access, ty },
                    subs,
                    n_outer,
                    r.span,
                )
            }
            Target::Value(e) => {
                let n_outer = self.ir.ty(e).dims.len();
                let (index, _) = self.field_named(self.ir.type_id(e), name, span)?;
                let value = self.field(e, index);
                self.subscript_value(cx, Target::Value(value), subs, n_outer, r.span)
            }
            Target::Vars(_) => Err(error_help(
                "unknown-name",
                span,
                format!(
                    "`{name}` is asked of a variable of a predefined type, which has no elements"
                ),
                "attributes such as `start` can be set by modifiers but not read",
            )),
            Target::Absent => Ok(Target::Absent),
        }
    }

    /// Protected elements cannot be reached by a dot (specification 4.1).
    fn check_visible(&mut self, inst: InstId, name: Name, span: Span) -> Res<()> {
        self.elaborate(inst)?;
        match self.insts[inst].elements.get(&name) {
            Some(element) if element.protected => Err(Box::new(
                Diagnostic::error("unknown-name", span, format!("`{name}` is protected in `{}`", self.insts[inst].path))
                    .secondary(element.span, "declared here")
                    .help("a protected element can only be used inside its class and classes that extend it"),
            )),
            _ => Ok(()),
        }
    }

    /// Position and type of a field.
    fn field_named(&self, ty: TypeId, name: Name, span: Span) -> Res<(u32, TypeId)> {
        let Base::Record(record) = self.ir.type_of_id(ty).base else {
            return Err(error(
                "unknown-name",
                span,
                format!(
                    "a value of type `{}` has no element `{name}`",
                    self.type_text(ty)
                ),
            ));
        };
        let fields = &self.ir.records[record].fields;
        match fields.iter().position(|f| f.name == name) {
            Some(k) => Ok((k as u32, fields[k].ty)),
            None => {
                let names: Vec<Name> = fields.iter().map(|f| f.name).collect();
                let e = Diagnostic::error(
                    "unknown-name",
                    span,
                    format!("record `{}` has no field `{name}`", self.type_text(ty)),
                );
                Err(Box::new(match suggest(name, &names) {
                    Some(s) => e.help(format!("did you mean `{s}`?")),
                    None => e,
                }))
            }
        }
    }

    /// Subscripts on a local or a value; they concern the dimensions after the first `n_outer`.
    fn subscript_value(
        &mut self,
        cx: Cx<'_>,
        target: Target<'a>,
        subs: &'a [Subscript],
        n_outer: usize,
        span: Span,
    ) -> Res<Target<'a>> {
        if subs.is_empty() {
            return Ok(target);
        }
        let whole = self.value_expr_of(&target);
        let rank = self.ir.ty(whole).dims.len();
        if n_outer + subs.len() > rank {
            return Err(error(
                "array-size-mismatch",
                span,
                format!(
                    "{} subscripts are given to a value of type `{}`",
                    subs.len(),
                    self.type_text_of(whole)
                ),
            ));
        }
        let mut list = vec![Sub::All; n_outer];
        for (k, sub) in subs.iter().enumerate() {
            let end = self.size_node(whole, n_outer + k);
            list.push(self.subscript(cx, sub, end)?);
        }
        let indexed = self.index(whole, list.clone(), span)?;
        Ok(match target {
            Target::Local {
                local, mut access, ..
            } => {
                access.push(Access::Index(list.into()));
                let ty = self.ir.type_id(indexed);
                Target::Local { local, access, ty }
            }
            _ => Target::Value(indexed),
        })
    }

    /// One subscript; `end` is the size of its dimension.
    fn subscript(&mut self, cx: Cx<'_>, sub: &'a Subscript, end: ExprId) -> Res<Sub> {
        match sub {
            Subscript::All(_) => Ok(Sub::All),
            Subscript::Expr(e) => Ok(Sub::At(self.ex(
                Cx {
                    end: Some(end),
                    conditional: Conditional::Refused,
                    ..cx
                },
                e,
            )?)),
        }
    }

    fn value_expr_of(&mut self, target: &Target<'a>) -> ExprId {
        match target {
            Target::Value(e) => *e,
            Target::Local { local, access, .. } => self.local_expr(*local, access),
            _ => unreachable!("only locals and values are indexed as expressions"),
        }
    }

    /// The expression of a local with subscripts and fields.
    pub(crate) fn local_expr(&mut self, local: LocalId, access: &[Access]) -> ExprId {
        let ty = self.ir.locals[local].ty;
        let mut e = self.ir.add(Expr::Local(local), ty);
        for step in access {
            e = match step {
                Access::Field(k) => self.field(e, *k),
                Access::Index(subs) => {
                    let span = self.ir.locals[local].span;
                    self.index(e, subs.to_vec(), span)
                        .expect("checked when the access was made")
                }
            };
        }
        e
    }

    /// The member `name` of each of `owners`, which have the shape `dims`, with subscripts on the member.
    fn members(
        &mut self,
        cx: Cx<'_>,
        mut dims: Vec<usize>,
        mut pending: Vec<Sub>,
        owners: &[InstId],
        name: Name,
        part: &'a RefPart,
        subs: &'a [Subscript],
    ) -> Res<Target<'a>> {
        let span = part.name.span;
        let Some(&first) = owners.first() else {
            let ty = Type::array(Base::Real, &dims);
            return Ok(Target::Value(
                self.ir.add_typed(Expr::Array(Box::new([])), ty),
            ));
        };
        if !self.insts[first].children.contains_key(&name)
            && let Some(Found::Class(class)) = self.inst_member(first, name, span)?
        {
            return Ok(Target::Class(class));
        }
        let mut elems = Vec::with_capacity(owners.len());
        let mut own: Option<Vec<usize>> = None;
        for &owner in owners {
            let child = self.child(owner, name, span)?;
            if cx.conditional != Conditional::Allowed && !matches!(child, Child::Absent) {
                self.check_conditional(cx.conditional, owner, name, span)?;
            }
            let (shape, list): (Vec<usize>, Vec<InstId>) = match child {
                Child::One(i) | Child::Outer(i) => (vec![], vec![i]),
                Child::Array { dims, elems } | Child::OuterArray { dims, elems } => {
                    (dims.to_vec(), elems.to_vec())
                }
                Child::Class(i) => return Ok(Target::Class(self.insts[i].class.clone())),
                Child::Absent if owners.len() == 1 => return Ok(Target::Absent),
                Child::Absent => {
                    return Err(error(
                        "absent-component",
                        span,
                        format!("`{name}` does not exist in every element of the array"),
                    ));
                }
                Child::InProgress => {
                    return Err(error(
                        "cyclic-parameters",
                        span,
                        format!("the size or existence of `{name}` depends on itself"),
                    ));
                }
            };
            self.check_same_shape(&mut own, shape, name, span)?;
            elems.extend(list);
        }
        let own = own.unwrap_or_default();
        let builtin = elems
            .first()
            .is_some_and(|&i| self.insts[i].builtin.is_some());
        if builtin {
            let is_object = self.insts[elems[0]].builtin == Some(BuiltinClass::ExternalObject);
            if !is_object {
                return self.leaf(cx, dims, pending, &elems, name, part, subs);
            }
        }
        let axes = self.axes(cx, subs, &own, &[], part)?;
        let n_before: usize = dims.iter().product();
        let selected = select(n_before, &own, axes, &elems);
        if !pending.is_empty() || !selected.subs.is_empty() {
            pending.resize(dims.len(), Sub::All);
            let mut tail = selected.subs;
            tail.resize(selected.dims.len(), Sub::All);
            pending.extend(tail);
        }
        dims.extend(selected.dims);
        let elems = selected.items;
        if builtin {
            let mut vars = Vec::with_capacity(elems.len());
            let mut base = Base::Real;
            for &i in &elems {
                let range = self.var(i)?;
                base = range.base;
                vars.push(range.first);
            }
            return Ok(Target::Vars(VarSelection {
                base,
                dims,
                vars,
                subs: pending,
            }));
        }
        let pattern = match elems.first() {
            Some(_) => None,
            None => self.insts[first].patterns.get(&name).copied(),
        };
        Ok(Target::Insts {
            dims,
            elems,
            subs: pending,
            pattern,
        })
    }

    /// The member of the elements of an array that has none (`dims` has a zero): no variable, but a type and a shape.
    fn members_of_none(
        &mut self,
        cx: Cx<'_>,
        mut dims: Vec<usize>,
        pattern: InstId,
        part: &'a RefPart,
        subs: &'a [Subscript],
    ) -> Res<Target<'a>> {
        let (name, span) = (part.name.name, part.name.span);
        if !self.insts[pattern].children.contains_key(&name)
            && let Some(Found::Class(class)) = self.inst_member(pattern, name, span)?
        {
            return Ok(Target::Class(class));
        }
        let (own, member) = match self.child(pattern, name, span)? {
            Child::One(i) | Child::Outer(i) => match self.insts[i].builtin {
                Some(_) => (self.component_dims(i)?, Some(i)),
                None => (Vec::new(), Some(i)),
            },
            Child::Array { dims, elems } | Child::OuterArray { dims, elems } => {
                let inner = self.insts[pattern].patterns.get(&name).copied();
                (dims.to_vec(), elems.first().copied().or(inner))
            }
            Child::Class(i) => return Ok(Target::Class(self.insts[i].class.clone())),
            Child::Absent => return Ok(Target::Absent),
            Child::InProgress => {
                return Err(error(
                    "cyclic-parameters",
                    span,
                    format!("the size or existence of `{name}` depends on itself"),
                ));
            }
        };
        let axes = self.axes(cx, subs, &own, &[], part)?;
        dims.extend(select::<InstId>(0, &own, axes, &[]).dims);
        let Some(member) = member else {
            return Err(error(
                "type-mismatch",
                span,
                format!("`{name}` has no elements here"),
            ));
        };
        Ok(match self.scalar_base(member) {
            Some(base) => Target::Vars(VarSelection {
                base,
                dims,
                vars: Vec::new(),
                subs: Vec::new(),
            }),
            None => Target::Insts {
                dims,
                elems: Vec::new(),
                subs: Vec::new(),
                pattern: Some(member),
            },
        })
    }

    /// An array without elements of what `pattern` is.
    fn none_of(&mut self, dims: &[usize], pattern: Option<InstId>, span: Span) -> Res<ExprId> {
        let base = match pattern {
            Some(pattern) => {
                let class = self.insts[pattern].class.clone();
                let class = self.class_inst(&class)?;
                self.elaborate(class)?;
                self.base_of_class(class, span)?
            }
            None => Base::Real,
        };
        let ty = Type::array(base, dims);
        Ok(self.ir.add_typed(Expr::Array(Box::new([])), ty))
    }

    /// A conditional component may only be modified and connected (specification 4.4.5), also where it exists.
    fn check_conditional(
        &mut self,
        conditional: Conditional,
        owner: InstId,
        name: Name,
        span: Span,
    ) -> Res<()> {
        let Some(Element {
            kind: ElementKind::Component(decl),
            ..
        }) = self.insts[owner].elements.get(&name)
        else {
            return Ok(());
        };
        let Some(condition) = &decl.condition else {
            return Ok(());
        };
        // Where a parameter decides, libraries rely on their users to set it as the equations need it.
        let refused = conditional == Conditional::Refused
            && matches!(condition.kind, ast::ExprKind::Boolean(_));
        let report = match refused {
            true => Diagnostic::error,
            false => Diagnostic::warning,
        };
        let diagnostic = Box::new(
            report(
                "absent-component",
                span,
                format!("`{name}` is conditional and may only be used in `connect`"),
            )
            .secondary(decl.name.span, "declared with a condition here")
            .help("connect it to a component that always exists, and use that one"),
        );
        if refused {
            return Err(diagnostic);
        }
        self.report(diagnostic);
        Ok(())
    }

    fn check_same_shape(
        &self,
        own: &mut Option<Vec<usize>>,
        shape: Vec<usize>,
        name: Name,
        span: Span,
    ) -> Res<()> {
        match own {
            Some(first) if *first != shape => Err(error(
                "array-size-mismatch",
                span,
                format!(
                    "`{name}` has different sizes in the elements of the array: {first:?} and {shape:?}"
                ),
            )),
            Some(_) => Ok(()),
            None => {
                *own = Some(shape);
                Ok(())
            }
        }
    }

    /// Components of builtin type: their variables, or values if constant.
    fn leaf(
        &mut self,
        cx: Cx<'_>,
        mut dims: Vec<usize>,
        mut pending: Vec<Sub>,
        insts: &[InstId],
        name: Name,
        part: &'a RefPart,
        subs: &'a [Subscript],
    ) -> Res<Target<'a>> {
        let span = part.name.span;
        if self.is_constant_inst(insts[0]) {
            let mut items = Vec::with_capacity(insts.len());
            for &inst in insts {
                let value = self.value_of(inst, span)?;
                let base = self.builtin_base(inst);
                items.push(self.value_node(&value, base, span)?);
            }
            let element = self.ir.ty(items[0]).clone();
            let n_outer = dims.len();
            let all = self.nest(&dims, &element, &items);
            let target = self.subscript_value(cx, Target::Value(all), subs, n_outer, span)?;
            let Target::Value(e) = target else {
                unreachable!("a value stays a value")
            };
            if pending.iter().any(|s| *s != Sub::All) {
                return self.index(e, pending, span).map(Target::Value);
            }
            return Ok(Target::Value(e));
        }
        if self.in_function(cx.scope) {
            let path = self.insts[insts[0]].path;
            return Err(error_help(
                "not-constant",
                span,
                format!("function refers to `{path}`, which is not a constant"),
                "pass it as an input",
            ));
        }
        let mut vars = Vec::new();
        let mut own: Option<Vec<usize>> = None;
        let mut base = Base::Real;
        for &inst in insts {
            let range = self.var(inst)?;
            let n: usize = range.dims.iter().product();
            self.check_same_shape(&mut own, range.dims.to_vec(), name, span)?;
            base = range.base;
            vars.extend((0..n as u32).map(|k| VarId(range.first.0 + k)));
        }
        let own = own.unwrap_or_default();
        let types = self.insts[insts[0]].dim_types.clone();
        let axes = self.axes(cx, subs, &own, &types, part)?;
        let n_before: usize = dims.iter().product();
        let selected = select(n_before, &own, axes, &vars);
        if !pending.is_empty() || !selected.subs.is_empty() {
            pending.resize(dims.len(), Sub::All);
            let mut tail = selected.subs;
            tail.resize(selected.dims.len(), Sub::All);
            pending.extend(tail);
        }
        dims.extend(selected.dims);
        Ok(Target::Vars(VarSelection {
            base,
            dims,
            vars: selected.items,
            subs: pending,
        }))
    }

    /// Constants, and everything in packages and functions: has a value at compile time.
    pub(crate) fn is_constant_inst(&self, inst: InstId) -> bool {
        let node = &self.insts[inst];
        if node.prefixes.variability == saltus_ir::flat::Variability::Constant
            || node.purpose == Purpose::Package
        {
            return true;
        }
        let mut at = inst;
        while let Some(parent) = self.insts[at].parent {
            at = parent;
        }
        self.insts[at].purpose != Purpose::Component
    }

    fn builtin_base(&mut self, inst: InstId) -> Base {
        match self.insts[inst].builtin {
            Some(BuiltinClass::Real) => Base::Real,
            Some(BuiltinClass::Integer) => Base::Integer,
            Some(BuiltinClass::Boolean) => Base::Boolean,
            Some(BuiltinClass::String) => Base::String,
            Some(BuiltinClass::Clock) => Base::Clock,
            Some(BuiltinClass::Enum(id)) => Base::Enum(id),
            Some(BuiltinClass::ExternalObject) | None => {
                unreachable!("only values of predefined types are folded")
            }
        }
    }

    fn axes(
        &mut self,
        cx: Cx<'_>,
        subs: &'a [Subscript],
        dims: &[usize],
        types: &[Option<Base>],
        part: &'a RefPart,
    ) -> Res<Vec<Axis>> {
        if subs.len() > dims.len() {
            return Err(error(
                "array-size-mismatch",
                part.name.span,
                format!(
                    "`{}` has {} dimensions, {} subscripts are given",
                    part.name.name,
                    dims.len(),
                    subs.len()
                ),
            ));
        }
        let mut axes = Vec::with_capacity(dims.len());
        for (k, &n) in dims.iter().enumerate() {
            let Some(sub) = subs.get(k) else {
                axes.push(Axis::All);
                continue;
            };
            let end = self.ir.integer(n as i64);
            axes.push(match self.subscript(cx, sub, end)? {
                Sub::All => Axis::All,
                Sub::At(e) => {
                    let wanted = types.get(k).copied().flatten();
                    if let Some(wanted) = wanted.filter(|w| *w != self.ir.base(e)) {
                        return Err(error(
                            "type-mismatch",
                            subscript_span(sub),
                            format!(
                                "`{}` is indexed by `{}` here, found `{}`",
                                part.name.name,
                                self.text_of_type(&Type::scalar(wanted)),
                                self.type_text_of(e)
                            ),
                        ));
                    }
                    self.axis(e, n, subscript_span(sub), part)?
                }
            });
        }
        Ok(axes)
    }

    fn axis(&mut self, e: ExprId, n: usize, span: Span, part: &RefPart) -> Res<Axis> {
        let ty = self.ir.ty(e);
        if !matches!(ty.base, Base::Integer | Base::Boolean | Base::Enum(_)) || ty.dims.len() > 1 {
            return Err(error(
                "type-mismatch",
                span,
                format!(
                    "a subscript of `{}` must be an Integer or a vector of Integers, found `{}`",
                    part.name.name,
                    self.type_text_of(e)
                ),
            ));
        }
        let position = |i: i64| {
            usize::try_from(i - 1)
                .ok()
                .filter(|&k| k < n)
                .ok_or_else(|| {
                    error(
                        "index-out-of-range",
                        span,
                        format!("subscript {i} of `{}` is not in 1:{n}", part.name.name),
                    )
                })
        };
        if let Some(i) = self.ir.as_subscript(e) {
            return position(i).map(Axis::One);
        }
        match self.try_const(e) {
            Some(Value::Array(a)) => {
                let list: Option<Vec<i64>> = a.elems.iter().map(subscript_value).collect();
                match list {
                    Some(list) => Ok(Axis::Many(
                        list.into_iter().map(position).collect::<Res<_>>()?,
                    )),
                    None => Ok(Axis::Dynamic(e)),
                }
            }
            Some(v) => match subscript_value(&v) {
                Some(i) => position(i).map(Axis::One),
                None => Ok(Axis::Dynamic(e)),
            },
            None => Ok(Axis::Dynamic(e)),
        }
    }

    /// The expression of a reference.
    pub(crate) fn target_expr(&mut self, target: Target<'a>, span: Span) -> Res<ExprId> {
        match target {
            Target::Value(e) => Ok(e),
            Target::Local { local, access, .. } => Ok(self.local_expr(local, &access)),
            Target::Vars(selection) => self.vars_expr(&selection, span),
            Target::Insts {
                dims,
                elems,
                subs,
                pattern,
            } => {
                let mut items = Vec::with_capacity(elems.len());
                for &inst in &elems {
                    items.push(self.record_expr(inst, span)?);
                }
                let Some(&first) = items.first() else {
                    return self.none_of(&dims, pattern, span);
                };
                let element = self.ir.ty(first).clone();
                if items
                    .iter()
                    .any(|&i| self.ir.type_id(i) != self.ir.type_id(first))
                {
                    return Err(error(
                        "type-mismatch",
                        span,
                        "the elements of this array of records have different types",
                    ));
                }
                let e = self.nest(&dims, &element, &items);
                if subs.is_empty() {
                    Ok(e)
                } else {
                    self.index(e, subs, span)
                }
            }
            Target::Class(class) => {
                let inst = self.class_inst(&class)?;
                self.elaborate(inst)?;
                if self.is_function_class(inst) {
                    let function = self.function_of_inst(inst)?;
                    return Ok(self.node(
                        Expr::Function {
                            function,
                            bound: Box::new([]),
                        },
                        Base::Function,
                        Vec::new(),
                    ));
                }
                Err(error(
                    "type-mismatch",
                    span,
                    format!("`{}` is a class, a value is expected", class.name),
                ))
            }
            Target::Absent => Err(error_help(
                "absent-component",
                span,
                "this component does not exist, because its condition is false",
                "a conditional component may only be used in `connect`",
            )),
        }
    }

    pub(crate) fn vars_expr(&mut self, selection: &VarSelection, span: Span) -> Res<ExprId> {
        let ty = Type::array(selection.base, &selection.dims);
        let whole = if selection.dims.is_empty() {
            self.ir.var(selection.vars[0], selection.base)
        } else if !selection.vars.is_empty() && selection.is_contiguous() {
            self.ir.add_typed(Expr::VarArray(selection.vars[0]), ty)
        } else {
            let items: Vec<ExprId> = selection
                .vars
                .iter()
                .map(|&v| self.ir.var(v, selection.base))
                .collect();
            self.nest(&selection.dims, &Type::scalar(selection.base), &items)
        };
        if selection.subs.is_empty() {
            Ok(whole)
        } else {
            self.index(whole, selection.subs.clone(), span)
        }
    }

    /// A record (or connector) instance as a value.
    pub(crate) fn record_expr(&mut self, inst: InstId, span: Span) -> Res<ExprId> {
        self.elaborate(inst)?;
        let restriction = self.insts[inst].restriction;
        if !is_value_as_whole(restriction) {
            let kind = format!("{restriction:?}").to_lowercase();
            return Err(error(
                "type-mismatch",
                span,
                format!(
                    "`{}` is a {kind}, a value is expected",
                    self.insts[inst].path
                ),
            ));
        }
        let names: Vec<Name> = self.component_names(inst);
        let mut fields = Vec::with_capacity(names.len());
        for name in names {
            let target = match self.child(inst, name, span)? {
                Child::One(i) | Child::Outer(i) => self.whole_of(vec![], vec![i], span)?,
                Child::Array { dims, elems } | Child::OuterArray { dims, elems } => {
                    self.whole_of(dims.to_vec(), elems.to_vec(), span)?
                }
                Child::Absent => continue,
                Child::Class(_) | Child::InProgress => {
                    return Err(error(
                        "cyclic-parameters",
                        span,
                        format!("the record `{}` depends on itself", self.insts[inst].path),
                    ));
                }
            };
            fields.push((name, target));
        }
        let name = self.insts[inst].class.name;
        let e = self.record_node(name, &fields, span);
        if let Base::Record(id) = self.ir.base(e) {
            self.insts[inst].record = Some(id);
            if restriction == ast::Restriction::OperatorRecord
                && self.insts[inst].purpose == Purpose::Component
            {
                let class = self.insts[inst].class.clone();
                let of_class = self.class_inst(&class)?;
                if self.insts[of_class].record.is_none() {
                    self.insts[of_class].record = Some(id);
                }
            }
        }
        Ok(e)
    }

    /// The whole value of component instances.
    pub(crate) fn whole_of(
        &mut self,
        dims: Vec<usize>,
        elems: Vec<InstId>,
        span: Span,
    ) -> Res<ExprId> {
        let Some(&first) = elems.first() else {
            let ty = Type::array(Base::Real, &dims);
            return Ok(self.ir.add_typed(Expr::Array(Box::new([])), ty));
        };
        if self.insts[first].builtin.is_none() {
            return self.target_expr(
                Target::Insts {
                    dims,
                    elems,
                    subs: Vec::new(),
                    pattern: None,
                },
                span,
            );
        }
        let mut items = Vec::with_capacity(elems.len());
        for inst in elems {
            let is_object = self.insts[inst].builtin == Some(BuiltinClass::ExternalObject);
            items.push(if !is_object && self.is_constant_inst(inst) {
                let value = self.value_of(inst, span)?;
                let base = self.builtin_base(inst);
                self.value_node(&value, base, span)?
            } else {
                let range = self.var(inst)?;
                let n: usize = range.dims.iter().product();
                let vars = (0..n as u32).map(|k| VarId(range.first.0 + k)).collect();
                self.vars_expr(
                    &VarSelection {
                        base: range.base,
                        dims: range.dims.to_vec(),
                        vars,
                        subs: vec![],
                    },
                    span,
                )?
            });
        }
        let element = self.ir.ty(items[0]).clone();
        Ok(self.nest(&dims, &element, &items))
    }

    /// Names of component elements in declaration order.
    pub(crate) fn component_names(&self, inst: InstId) -> Vec<Name> {
        let elements = &self.insts[inst].elements;
        elements
            .iter()
            .filter(|(_, e)| matches!(e.kind, ElementKind::Component(_)))
            .map(|(n, _)| *n)
            .collect()
    }

    /// Sizes of what a reference stands for, for `size` and deduced ranges; `None` where a size is only known at run time.
    pub(crate) fn target_dims(&mut self, target: &Target<'a>, span: Span) -> Res<Vec<Dim>> {
        let known = |dims: &[usize]| {
            dims.iter()
                .map(|&d| Dim::Known(d as u32))
                .collect::<Vec<_>>()
        };
        match target {
            Target::Insts { dims, subs, .. } if subs.is_empty() => Ok(known(dims)),
            Target::Vars(s) if s.subs.is_empty() => Ok(known(&s.dims)),
            other => {
                let e = self.target_expr(other.clone(), span)?;
                Ok(self.ir.ty(e).dims.clone())
            }
        }
    }
}

fn subscript_span(sub: &Subscript) -> Span {
    match sub {
        Subscript::All(span) => *span,
        Subscript::Expr(e) => e.span,
    }
}

/// A value used as subscript: `false` is 1, `true` is 2.
fn subscript_value(v: &Value) -> Option<i64> {
    match v {
        Value::Boolean(b) => Some(i64::from(*b) + 1),
        other => other.as_i64(),
    }
}

/// Selects from items that are row-major over an outer shape of `n_before` elements and the dimensions `own`.
fn select<T: Copy>(n_before: usize, own: &[usize], axes: Vec<Axis>, items: &[T]) -> Selected<T> {
    if axes.iter().all(|a| matches!(a, Axis::All)) {
        return Selected {
            dims: own.to_vec(),
            subs: Vec::new(),
            items: items.to_vec(),
        };
    }
    let mut dims = Vec::new();
    let mut subs = Vec::new();
    let mut lists: Vec<Vec<usize>> = Vec::with_capacity(own.len());
    let mut dynamic = false;
    for (axis, &n) in axes.into_iter().zip(own) {
        match axis {
            Axis::All => {
                dims.push(n);
                subs.push(Sub::All);
                lists.push((0..n).collect());
            }
            Axis::One(i) => lists.push(vec![i]),
            Axis::Many(list) => {
                dims.push(list.len());
                subs.push(Sub::All);
                lists.push(list);
            }
            Axis::Dynamic(e) => {
                dynamic = true;
                dims.push(n);
                subs.push(Sub::At(e));
                lists.push((0..n).collect());
            }
        }
    }
    if !dynamic {
        subs.clear();
    }
    let n_own: usize = own.iter().product();
    let mut offsets = vec![0usize];
    for (list, &n) in lists.iter().zip(own) {
        offsets = offsets
            .iter()
            .flat_map(|o| list.iter().map(move |i| o * n + i))
            .collect();
    }
    let mut picked = Vec::with_capacity(n_before * offsets.len());
    for k in 0..n_before {
        picked.extend(offsets.iter().map(|o| items[k * n_own + o]));
    }
    Selected {
        dims,
        subs,
        items: picked,
    }
}
