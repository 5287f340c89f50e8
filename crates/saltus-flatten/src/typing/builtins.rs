//! Operators and functions of the language with function syntax (specification 3.7, 10.3, 15.2, 16).

use super::nodes::merge_dims;
use super::{Cx, Target, dims_fit, error, error_help, unsupported};
use crate::core::*;
use crate::lookup::suggest;
use saltus_ir::flat::Variability;
use saltus_ir::{Base, Builtin, Dim, Expr, ExprId, Reduction, Sub, Type};
use saltus_syntax::ast::{self, CallArgs, ExprKind};
use saltus_syntax::{Diagnostic, Name, Span};

/// Every predefined function.
pub(crate) const NAMES: &[&str] = &[
    "abs",
    "sign",
    "sqrt",
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
    "div",
    "mod",
    "rem",
    "ceil",
    "floor",
    "integer",
    "Integer",
    "String",
    "der",
    "pre",
    "edge",
    "change",
    "initial",
    "terminal",
    "sample",
    "noEvent",
    "smooth",
    "delay",
    "homotopy",
    "semiLinear",
    "spatialDistribution",
    "inStream",
    "actualStream",
    "cardinality",
    "rooted",
    "size",
    "ndims",
    "fill",
    "zeros",
    "ones",
    "transpose",
    "cross",
    "skew",
    "identity",
    "diagonal",
    "outerProduct",
    "symmetric",
    "linspace",
    "cat",
    "sum",
    "product",
    "scalar",
    "vector",
    "matrix",
    "promote",
    "array",
    "previous",
    "hold",
    "subSample",
    "superSample",
    "shiftSample",
    "backSample",
    "noClock",
    "interval",
    "firstTick",
    "Clock",
    "pure",
    "getInstanceName",
    "assert",
    "terminate",
    "reinit",
    "activeState",
    "ticksInState",
    "timeInState",
    "transition",
    "initialState",
];

impl<'a> Flattener<'a> {
    pub(crate) fn is_builtin_function(&self, name: Name) -> bool {
        NAMES.contains(&name.as_str())
    }

    /// A call of a predefined function: all its outputs.
    pub(crate) fn builtin_call(
        &mut self,
        cx: Cx<'_>,
        name: Name,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        let one = |e: ExprId| Ok(vec![e]);
        match name.as_str() {
            "size" | "ndims" => self.size_call(cx, name, args, span).and_then(one),
            "String" => self.string_call(cx, args, span).and_then(one),
            "pure" => match (args.positional.as_slice(), args.named.is_empty()) {
                ([e], true) => self.call_outputs(cx.scope, e),
                _ => Err(error(
                    "wrong-argument",
                    span,
                    "`pure` takes one function call",
                )),
            },
            "cardinality" => self
                .connector_call(cx, Builtin::Cardinality, Base::Integer, args, span)
                .and_then(one),
            "rooted" | "Connections.rooted" => self
                .connector_call(cx, Builtin::Rooted, Base::Boolean, args, span)
                .and_then(one),
            "Connections.isRoot" => self
                .connector_call(cx, Builtin::IsRoot, Base::Boolean, args, span)
                .and_then(one),
            "getInstanceName" => {
                let path = self.instance_name(cx.scope);
                one(self.ir.string(&path))
            }
            "assert" | "terminate" | "reinit" => Err(error(
                "type-mismatch",
                span,
                format!("`{name}` is no value; it may only stand as an equation or statement"),
            )),
            "activeState" | "ticksInState" | "timeInState" | "transition" | "initialState" => {
                Err(unsupported(span, format!("`{name}` (state machines)")))
            }
            "spatialDistribution" => self.spatial_distribution(cx, args, span),
            _ => {
                let values = self.builtin_arguments(cx, name, args, span)?;
                self.builtin_values(name, &values, span).and_then(one)
            }
        }
    }

    /// Arguments by position and name, in order; missing ones only at the end.
    fn builtin_arguments(
        &mut self,
        cx: Cx<'_>,
        name: Name,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        let mut values: Vec<Option<ExprId>> = Vec::new();
        for e in &args.positional {
            values.push(Some(self.ex(cx, e)?));
        }
        let names = parameter_names(name.as_str());
        for (ident, e) in &args.named {
            let Some(k) = names
                .iter()
                .position(|alternatives| alternatives.split('|').any(|n| n == ident.name.as_str()))
            else {
                let candidates: Vec<Name> = names
                    .iter()
                    .flat_map(|n| n.split('|'))
                    .map(Name::new)
                    .collect();
                let d = Diagnostic::error(
                    "wrong-argument",
                    ident.span,
                    format!("`{name}` has no argument `{}`", ident.name),
                );
                return Err(Box::new(match suggest(ident.name, &candidates) {
                    Some(s) => d.help(format!("did you mean `{s}`?")),
                    None => d,
                }));
            };
            if values.len() <= k {
                values.resize(k + 1, None);
            }
            if values[k].is_some() {
                return Err(error(
                    "wrong-argument",
                    ident.span,
                    format!("argument `{}` is given twice", ident.name),
                ));
            }
            values[k] = Some(self.ex(cx, e)?);
        }
        let n = values.len();
        let list: Vec<ExprId> = values.into_iter().flatten().collect();
        if list.len() != n {
            return Err(error(
                "wrong-argument",
                span,
                format!("an argument of `{name}` is missing"),
            ));
        }
        Ok(list)
    }

    pub(crate) fn one_argument(
        &mut self,
        cx: Cx<'_>,
        args: &'a CallArgs,
        name: Name,
        span: Span,
    ) -> Res<ExprId> {
        match (args.positional.as_slice(), args.named.is_empty()) {
            ([e], true) => self.ex(cx, e),
            _ => Err(error(
                "wrong-argument",
                span,
                format!("`{name}` takes one argument"),
            )),
        }
    }

    /// A predefined function of typed arguments.
    pub(crate) fn builtin_values(&mut self, name: Name, v: &[ExprId], span: Span) -> Res<ExprId> {
        let text = name.as_str();
        if let Some(op) = math1(text) {
            self.n_args(name, v, 1..=1, span)?;
            return self.math_one(op, v[0], name, span);
        }
        if let Some(op) = math2(text) {
            self.n_args(name, v, 2..=2, span)?;
            return self.math_two(op, v[0], v[1], name, span);
        }
        match text {
            "min" | "max" => self.min_max(name, v, span),
            "sum" | "product" => self.sum_product(name, v, span),
            "Integer" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.ir.ty(v[0]).clone();
                match ty.base {
                    Base::Enum(_) => {
                        Ok(self.builtin_node(Builtin::Ordinal, v, Base::Integer, ty.dims))
                    }
                    Base::Integer => Ok(v[0]),
                    _ => Err(error(
                        "wrong-argument",
                        span,
                        format!(
                            "`Integer` converts enumerations, found `{}`",
                            self.text_of_type(&ty)
                        ),
                    )),
                }
            }
            "der" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.numeric(v[0], name, span)?;
                let discrete = match self.ir.expr(v[0]) {
                    Expr::Var(var) | Expr::VarArray(var) => {
                        self.variables[*var].variability == Variability::Discrete
                    }
                    _ => false,
                };
                if ty.base != Base::Real || discrete {
                    let what = if discrete {
                        "a discrete variable"
                    } else {
                        "an Integer"
                    };
                    return Err(error_help(
                        "wrong-argument",
                        span,
                        format!("`der` takes a continuous Real, found {what}"),
                        "a discrete value has no derivative",
                    ));
                }
                Ok(self.builtin_node(Builtin::Der, v, Base::Real, ty.dims))
            }
            "pre" | "previous" | "hold" | "noClock" | "noEvent" => {
                self.n_args(name, v, 1..=1, span)?;
                let op = match text {
                    "pre" => Builtin::Pre,
                    "previous" => Builtin::Previous,
                    "hold" => Builtin::Hold,
                    "noClock" => Builtin::NoClock,
                    _ => Builtin::NoEvent,
                };
                if matches!(op, Builtin::Pre | Builtin::Previous) {
                    self.expect_variable(name, v[0], span)?;
                }
                Ok(self.same_type(op, &[], v[0], &[]))
            }
            "edge" | "change" => {
                self.n_args(name, v, 1..=1, span)?;
                self.expect_variable(name, v[0], span)?;
                let ty = self.ir.ty(v[0]).clone();
                if text == "edge" && ty.base != Base::Boolean {
                    return Err(error(
                        "wrong-argument",
                        span,
                        format!("`edge` takes a Boolean, found `{}`", self.text_of_type(&ty)),
                    ));
                }
                let op = if text == "edge" {
                    Builtin::Edge
                } else {
                    Builtin::Change
                };
                Ok(self.builtin_node(op, v, Base::Boolean, ty.dims))
            }
            "initial" | "terminal" => {
                self.n_args(name, v, 0..=0, span)?;
                let op = if text == "initial" {
                    Builtin::Initial
                } else {
                    Builtin::Terminal
                };
                Ok(self.builtin_node(op, v, Base::Boolean, Vec::new()))
            }
            "sample" => self.sample(v, span),
            "smooth" => {
                self.n_args(name, v, 2..=2, span)?;
                self.expect_scalar(v[0], Base::Integer, "the first argument of `smooth`", span)?;
                Ok(self.same_type(Builtin::Smooth, &v[..1], v[1], &[]))
            }
            "homotopy" => self.homotopy(v, span),
            "semiLinear" => {
                self.n_args(name, v, 3..=3, span)?;
                let mut dims: Vec<Dim> = Vec::new();
                for &e in v {
                    let ty = self.numeric(e, name, span)?;
                    if dims.is_empty() {
                        dims = ty.dims;
                    } else if !ty.dims.is_empty() && !dims_fit(&dims, &ty.dims) {
                        return Err(error(
                            "array-size-mismatch",
                            span,
                            "sizes of the arguments of `semiLinear` differ",
                        ));
                    }
                }
                Ok(self.builtin_node(Builtin::SemiLinear, v, Base::Real, dims))
            }
            "delay" => {
                self.n_args(name, v, 2..=3, span)?;
                let ty = self.ir.ty(v[0]).clone();
                for &e in &v[1..] {
                    self.expect_scalar(e, Base::Real, "the delay time", span)?;
                }
                self.check_delay(v, span)?;
                let base = if ty.base == Base::Integer {
                    Base::Real
                } else {
                    ty.base
                };
                Ok(self.builtin_node(Builtin::Delay, v, base, ty.dims))
            }
            "inStream" | "actualStream" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.numeric(v[0], name, span)?;
                let op = if text == "inStream" {
                    Builtin::InStream
                } else {
                    Builtin::ActualStream
                };
                Ok(self.map_scalars(v[0], &ty, &mut |f, e| {
                    f.builtin_node(op, &[e], Base::Real, Vec::new())
                }))
            }
            "subSample" | "superSample" | "shiftSample" | "backSample" => {
                let (op, least) = match text {
                    "subSample" => (Builtin::SubSample, 1),
                    "superSample" => (Builtin::SuperSample, 1),
                    "shiftSample" => (Builtin::ShiftSample, 2),
                    _ => (Builtin::BackSample, 2),
                };
                let most = if least == 1 { 2 } else { 3 };
                self.n_args(name, v, least..=most, span)?;
                for &e in &v[1..] {
                    self.expect_scalar(e, Base::Integer, "a factor or counter of a clock", span)?;
                }
                Ok(self.same_type(op, &[], v[0], &v[1..]))
            }
            "interval" => {
                self.n_args(name, v, 0..=1, span)?;
                Ok(self.builtin_node(Builtin::Interval, v, Base::Real, Vec::new()))
            }
            "firstTick" => {
                self.n_args(name, v, 0..=1, span)?;
                Ok(self.builtin_node(Builtin::FirstTick, v, Base::Boolean, Vec::new()))
            }
            "Clock" => {
                self.n_args(name, v, 0..=2, span)?;
                Ok(self.builtin_node(Builtin::Clock, v, Base::Clock, Vec::new()))
            }
            "size" => match v {
                [a] => Ok(self.sizes(*a)),
                [a, k] => self.size_in(*a, *k, span),
                _ => Err(error(
                    "wrong-argument",
                    span,
                    "`size` takes an array and optionally a dimension",
                )),
            },
            "ndims" => {
                self.n_args(name, v, 1..=1, span)?;
                let n = self.ir.ty(v[0]).dims.len() as i64;
                Ok(self.ir.integer(n))
            }
            "String" => self.string_values(v.first().copied(), &v[1.min(v.len())..], &[], span),
            _ => self.array_function(name, v, span),
        }
    }

    fn array_function(&mut self, name: Name, v: &[ExprId], span: Span) -> Res<ExprId> {
        match name.as_str() {
            "zeros" => {
                let value = self.ir.integer(0);
                self.filled(value, v, span)
            }
            "ones" => {
                let value = self.ir.integer(1);
                self.filled(value, v, span)
            }
            "fill" => match v.split_first() {
                Some((value, sizes)) => self.filled(*value, sizes, span),
                None => Err(error(
                    "wrong-argument",
                    span,
                    "`fill` takes a value and sizes",
                )),
            },
            "array" => self.array_constructor(v, span),
            "identity" => {
                self.n_args(name, v, 1..=1, span)?;
                self.expect_scalar(v[0], Base::Integer, "the size of `identity`", span)?;
                let n = self.dim_of(v[0], span)?;
                let size = self.known_number(v[0], span)?;
                Ok(self.builtin_node(Builtin::Identity, &[size], Base::Integer, vec![n, n]))
            }
            "diagonal" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.rank(v[0], 1, name, span)?;
                Ok(self.builtin_node(Builtin::Diagonal, v, ty.base, vec![ty.dims[0], ty.dims[0]]))
            }
            "linspace" => {
                self.n_args(name, v, 3..=3, span)?;
                self.expect_scalar(v[0], Base::Real, "the start of `linspace`", span)?;
                self.expect_scalar(v[1], Base::Real, "the end of `linspace`", span)?;
                self.expect_scalar(v[2], Base::Integer, "the size of `linspace`", span)?;
                let n = self.dim_of(v[2], span)?;
                if let Dim::Known(n @ 0..=1) = n {
                    return Err(error(
                        "wrong-argument",
                        span,
                        format!("`linspace` needs at least 2 points, found {n}"),
                    ));
                }
                let size = self.known_number(v[2], span)?;
                Ok(self.builtin_node(Builtin::Linspace, &[v[0], v[1], size], Base::Real, vec![n]))
            }
            "transpose" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.rank(v[0], 2, name, span)?;
                Ok(self.builtin_node(Builtin::Transpose, v, ty.base, vec![ty.dims[1], ty.dims[0]]))
            }
            "symmetric" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.rank(v[0], 2, name, span)?;
                if !dims_fit(&ty.dims[..1], &ty.dims[1..]) {
                    return Err(error(
                        "array-size-mismatch",
                        span,
                        format!(
                            "`symmetric` needs a square matrix, found `{}`",
                            self.text_of_type(&ty)
                        ),
                    ));
                }
                Ok(self.builtin_node(Builtin::Symmetric, v, ty.base, ty.dims))
            }
            "outerProduct" => {
                self.n_args(name, v, 2..=2, span)?;
                let (a, b) = (
                    self.rank(v[0], 1, name, span)?,
                    self.rank(v[1], 1, name, span)?,
                );
                let base = if a.base == Base::Integer && b.base == Base::Integer {
                    Base::Integer
                } else {
                    Base::Real
                };
                Ok(self.builtin_node(Builtin::OuterProduct, v, base, vec![a.dims[0], b.dims[0]]))
            }
            "cross" => {
                self.n_args(name, v, 2..=2, span)?;
                for &e in v {
                    self.three(e, name, span)?;
                }
                let base = if v.iter().all(|&e| self.ir.base(e) == Base::Integer) {
                    Base::Integer
                } else {
                    Base::Real
                };
                Ok(self.builtin_node(Builtin::Cross, v, base, vec![Dim::Known(3)]))
            }
            "skew" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.three(v[0], name, span)?;
                Ok(self.builtin_node(Builtin::Skew, v, ty.base, vec![Dim::Known(3); 2]))
            }
            "cat" => {
                let Some((k, parts)) = v.split_first() else {
                    return Err(error(
                        "wrong-argument",
                        span,
                        "`cat` takes a dimension and arrays",
                    ));
                };
                self.expect_scalar(*k, Base::Integer, "the dimension of `cat`", span)?;
                let k = self.const_int(*k, span)?;
                let k = usize::try_from(k).map_err(|_| {
                    error(
                        "wrong-argument",
                        span,
                        format!("`cat` along dimension {k} is not possible"),
                    )
                })?;
                self.cat(k, parts, span)
            }
            "scalar" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.ir.ty(v[0]).clone();
                if ty
                    .dims
                    .iter()
                    .any(|d| matches!(d, Dim::Known(n) if *n != 1))
                {
                    return Err(error(
                        "array-size-mismatch",
                        span,
                        format!(
                            "`scalar` needs an array of one element, found `{}`",
                            self.text_of_type(&ty)
                        ),
                    ));
                }
                if ty.dims.iter().all(|d| matches!(d, Dim::Known(1))) {
                    return self.element(v[0], &vec![0; ty.dims.len()], span);
                }
                Ok(self.builtin_node(Builtin::Scalar, v, ty.base, Vec::new()))
            }
            "vector" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.ir.ty(v[0]).clone();
                if ty.dims.len() == 1 {
                    return Ok(v[0]);
                }
                if ty
                    .dims
                    .iter()
                    .filter(|d| matches!(d, Dim::Known(n) if *n > 1))
                    .count()
                    > 1
                {
                    return Err(error(
                        "array-size-mismatch",
                        span,
                        format!(
                            "`vector` needs an array with one dimension larger than 1, found `{}`",
                            self.text_of_type(&ty)
                        ),
                    ));
                }
                let n = ty.known_dims().map_or(Dim::Unknown, |d| {
                    Dim::Known(d.iter().product::<usize>() as u32)
                });
                Ok(self.builtin_node(Builtin::Vector, v, ty.base, vec![n]))
            }
            "matrix" => {
                self.n_args(name, v, 1..=1, span)?;
                let ty = self.ir.ty(v[0]).clone();
                if ty.dims.len() <= 2 {
                    return Ok(self.promote(v[0], 2));
                }
                Ok(self.builtin_node(Builtin::Matrix, v, ty.base, ty.dims[..2].to_vec()))
            }
            "promote" => {
                self.n_args(name, v, 2..=2, span)?;
                let n = self.const_int(v[1], span)?;
                let rank = self.ir.ty(v[0]).dims.len();
                match usize::try_from(n) {
                    Ok(n) if n >= rank => Ok(self.promote(v[0], n)),
                    _ => Err(error(
                        "wrong-argument",
                        span,
                        format!("`promote` to {n} dimensions of an array with {rank}"),
                    )),
                }
            }
            other => Err(unsupported(
                span,
                format!("the built-in function `{other}`"),
            )),
        }
    }

    fn n_args(
        &self,
        name: Name,
        v: &[ExprId],
        allowed: std::ops::RangeInclusive<usize>,
        span: Span,
    ) -> Res<()> {
        if allowed.contains(&v.len()) {
            return Ok(());
        }
        let expected = if allowed.start() == allowed.end() {
            format!("{}", allowed.start())
        } else {
            format!("{} to {}", allowed.start(), allowed.end())
        };
        Err(error(
            "wrong-argument",
            span,
            format!("`{name}` takes {expected} arguments, {} are given", v.len()),
        ))
    }

    fn numeric(&self, e: ExprId, name: Name, span: Span) -> Res<Type> {
        let ty = self.ir.ty(e);
        if ty.base.is_numeric() {
            return Ok(ty.clone());
        }
        Err(error(
            "wrong-argument",
            span,
            format!(
                "`{name}` takes Real or Integer arguments, found `{}`",
                self.text_of_type(ty)
            ),
        ))
    }

    fn rank(&self, e: ExprId, rank: usize, name: Name, span: Span) -> Res<Type> {
        let ty = self.ir.ty(e);
        if ty.dims.len() == rank {
            return Ok(ty.clone());
        }
        let what = if rank == 1 { "a vector" } else { "a matrix" };
        Err(error(
            "wrong-argument",
            span,
            format!("`{name}` takes {what}, found `{}`", self.text_of_type(ty)),
        ))
    }

    fn three(&self, e: ExprId, name: Name, span: Span) -> Res<Type> {
        let ty = self.ir.ty(e);
        if ty.base.is_numeric() && dims_fit(&ty.dims, &[Dim::Known(3)]) {
            return Ok(ty.clone());
        }
        Err(error(
            "wrong-argument",
            span,
            format!(
                "`{name}` takes vectors of 3 numbers, found `{}`",
                self.text_of_type(ty)
            ),
        ))
    }

    fn math_one(&mut self, op: Builtin, a: ExprId, name: Name, span: Span) -> Res<ExprId> {
        let ty = self.numeric(a, name, span)?;
        let base = match op {
            Builtin::Abs => ty.base,
            Builtin::Sign | Builtin::Integer => Base::Integer,
            _ => Base::Real,
        };
        if op == Builtin::Integer && ty.base == Base::Integer {
            return Ok(a);
        }
        Ok(self.builtin_node(op, &[a], base, ty.dims))
    }

    fn math_two(
        &mut self,
        op: Builtin,
        a: ExprId,
        b: ExprId,
        name: Name,
        span: Span,
    ) -> Res<ExprId> {
        let (ta, tb) = (self.numeric(a, name, span)?, self.numeric(b, name, span)?);
        let dims = if ta.dims.is_empty() {
            tb.dims
        } else if tb.dims.is_empty() {
            ta.dims
        } else if dims_fit(&ta.dims, &tb.dims) {
            merge_dims(&ta.dims, &tb.dims)
        } else {
            return Err(super::nodes::size_error(
                &format!("`{name}`"),
                &ta.dims,
                &tb.dims,
                span,
            ));
        };
        let integers = ta.base == Base::Integer && tb.base == Base::Integer;
        let base = if integers && op != Builtin::Atan2 {
            Base::Integer
        } else {
            Base::Real
        };
        Ok(self.builtin_node(op, &[a, b], base, dims))
    }

    fn min_max(&mut self, name: Name, v: &[ExprId], span: Span) -> Res<ExprId> {
        let op = if name.as_str() == "min" {
            Builtin::Min
        } else {
            Builtin::Max
        };
        match v {
            [a] => {
                let ty = self.ir.ty(*a).clone();
                self.ordered(&ty, name, span)?;
                if ty.is_scalar() {
                    return Ok(*a);
                }
                if ty.dims.contains(&Dim::Known(0)) {
                    let op = if op == Builtin::Min {
                        Reduction::Min
                    } else {
                        Reduction::Max
                    };
                    return Ok(self.empty_reduction(op, ty.base));
                }
                Ok(self.builtin_node(op, v, ty.base, Vec::new()))
            }
            [a, b] => {
                let (ta, tb) = (self.ir.ty(*a).clone(), self.ir.ty(*b).clone());
                self.ordered(&ta, name, span)?;
                self.ordered(&tb, name, span)?;
                let Some(base) = self.common_base(ta.base, tb.base) else {
                    return Err(error(
                        "wrong-argument",
                        span,
                        format!(
                            "`{name}` compares values of one type, found `{}` and `{}`",
                            self.text_of_type(&ta),
                            self.text_of_type(&tb)
                        ),
                    ));
                };
                let dims = match (ta.dims.is_empty(), tb.dims.is_empty()) {
                    (true, _) => tb.dims,
                    (_, true) => ta.dims,
                    _ => self.same_dims(*a, *b, &format!("`{name}`"), span)?,
                };
                Ok(self.builtin_node(op, v, base, dims))
            }
            _ => Err(error(
                "wrong-argument",
                span,
                format!(
                    "`{name}` takes one array or two scalars, {} arguments are given",
                    v.len()
                ),
            )),
        }
    }

    fn ordered(&self, ty: &Type, name: Name, span: Span) -> Res<()> {
        if matches!(
            ty.base,
            Base::Real | Base::Integer | Base::Boolean | Base::Enum(_)
        ) {
            return Ok(());
        }
        Err(error(
            "wrong-argument",
            span,
            format!("`{name}` is not defined for `{}`", self.text_of_type(ty)),
        ))
    }

    fn sum_product(&mut self, name: Name, v: &[ExprId], span: Span) -> Res<ExprId> {
        self.n_args(name, v, 1..=1, span)?;
        let ty = self.ir.ty(v[0]).clone();
        let is_sum = name.as_str() == "sum";
        if let Base::Record(_) = ty.base {
            return self.record_sum(v[0], &ty, is_sum, span);
        }
        self.numeric(v[0], name, span)?;
        if ty.is_scalar() {
            return Ok(v[0]);
        }
        if ty.dims.contains(&Dim::Known(0)) {
            let op = if is_sum {
                Reduction::Sum
            } else {
                Reduction::Product
            };
            return Ok(self.empty_reduction(op, ty.base));
        }
        let op = if is_sum {
            Builtin::Sum
        } else {
            Builtin::Product
        };
        Ok(self.builtin_node(op, v, ty.base, Vec::new()))
    }

    fn record_sum(&mut self, e: ExprId, ty: &Type, is_sum: bool, span: Span) -> Res<ExprId> {
        let Some(dims) = ty.known_dims() else {
            return Err(unsupported(
                span,
                "a sum of records whose number is not known",
            ));
        };
        let n: usize = dims.iter().product();
        let operator = if is_sum {
            ast::BinaryOp::Add
        } else {
            ast::BinaryOp::Mul
        };
        let mut total: Option<ExprId> = None;
        for k in 0..n {
            let at: Vec<usize> = crate::instantiate::subscripts_of(k, &dims)
                .iter()
                .map(|s| *s as usize - 1)
                .collect();
            let x = self.element(e, &at, span)?;
            total = Some(match total {
                None => x,
                Some(t) => self.binary(operator, t, x, span)?,
            });
        }
        match total {
            Some(t) => Ok(t),
            None => self.record_zero(e, span),
        }
    }

    /// An operator whose result has the type of `e`; records field by field where their fields are at hand.
    /// The operators that look at the past take a variable, or elements or components of one (specification 3.7.5).
    fn expect_variable(&self, name: Name, e: ExprId, span: Span) -> Res<()> {
        let mut todo = vec![e];
        while let Some(e) = todo.pop() {
            match self.ir.expr(e) {
                Expr::Var(_) | Expr::VarArray(_) | Expr::Time => {}
                Expr::Array(_) | Expr::Record { .. } => {
                    self.ir.for_each_child(e, |c| todo.push(c));
                }
                Expr::Index { base, .. } | Expr::Field { base, .. } => todo.push(*base),
                // A constant, or a parameter that is evaluated.
                _ if self.ir.is_literal(e) => {}
                _ => {
                    return Err(error_help(
                        "wrong-argument",
                        span,
                        format!("`{name}` takes a variable, found an expression"),
                        "give the expression a variable of its own, by an equation",
                    ));
                }
            }
        }
        Ok(())
    }

    fn same_type(&mut self, op: Builtin, before: &[ExprId], e: ExprId, after: &[ExprId]) -> ExprId {
        if let Expr::Record { record, fields } = self.ir.expr(e).clone() {
            let fields = fields
                .iter()
                .map(|&f| self.same_type(op, before, f, after))
                .collect();
            let ty = self.ir.type_id(e);
            return self.ir.add(Expr::Record { record, fields }, ty);
        }
        let ty = self.ir.ty(e).clone();
        if let (Base::Record(record), true) = (ty.base, ty.is_scalar())
            && op != Builtin::NoEvent
        {
            let n = self.ir.records[record].fields.len() as u32;
            let fields = (0..n)
                .map(|k| {
                    let f = self.field(e, k);
                    self.same_type(op, before, f, after)
                })
                .collect();
            return self.node(Expr::Record { record, fields }, ty.base, Vec::new());
        }
        let args: Vec<ExprId> = before
            .iter()
            .copied()
            .chain([e])
            .chain(after.iter().copied())
            .collect();
        self.builtin_node(op, &args, ty.base, ty.dims)
    }

    fn sample(&mut self, v: &[ExprId], span: Span) -> Res<ExprId> {
        match v {
            [u] => Ok(self.same_type(Builtin::ClockSample, &[], *u, &[])),
            [u, clock] if self.ir.base(*clock) == Base::Clock => {
                Ok(self.same_type(Builtin::ClockSample, &[], *u, &[*clock]))
            }
            [start, interval] => {
                self.expect_scalar(*start, Base::Real, "the start of `sample`", span)?;
                self.expect_scalar(*interval, Base::Real, "the interval of `sample`", span)?;
                if v.iter()
                    .any(|&e| self.expr_variability(e) > Variability::Parameter)
                {
                    return Err(error(
                        "sample-not-parameter",
                        span,
                        "start and interval of `sample` must be parameter expressions",
                    ));
                }
                Ok(self.builtin_node(Builtin::Sample, v, Base::Boolean, Vec::new()))
            }
            _ => Err(error(
                "wrong-argument",
                span,
                "`sample` takes start and interval, or a value and a clock",
            )),
        }
    }

    /// Without a largest delay the delay must be a parameter expression; a known delay lies in its bounds (specification 3.7.4.1).
    fn check_delay(&self, v: &[ExprId], span: Span) -> Res<()> {
        if let Some(&bound) = v.last()
            && self.expr_variability(bound) > Variability::Parameter
        {
            let what = if v.len() == 2 {
                "delayTime"
            } else {
                "delayMax"
            };
            return Err(error_help(
                "variability-violation",
                span,
                format!("`{what}` of `delay` must be a parameter expression"),
                "give the largest delay as third argument",
            ));
        }
        let (time, longest) = (
            self.ir.as_number(v[1]),
            v.get(2).and_then(|&e| self.ir.as_number(e)),
        );
        if time.is_some_and(|t| t < 0.0 || longest.is_some_and(|m| t > m)) {
            return Err(error(
                "wrong-argument",
                span,
                "`delay` needs 0 <= delayTime <= delayMax",
            ));
        }
        Ok(())
    }

    fn homotopy(&mut self, v: &[ExprId], span: Span) -> Res<ExprId> {
        let [actual, simplified] = v else {
            return Err(error(
                "wrong-argument",
                span,
                "`homotopy` takes the arguments `actual` and `simplified`",
            ));
        };
        let (a, s) = (self.ir.ty(*actual).clone(), self.ir.ty(*simplified).clone());
        if !a.base.is_numeric() || !s.base.is_numeric() || !dims_fit(&a.dims, &s.dims) {
            return Err(error(
                "wrong-argument",
                span,
                format!(
                    "arguments of `homotopy` must be Real of the same size, found `{}` and `{}`",
                    self.text_of_type(&a),
                    self.text_of_type(&s)
                ),
            ));
        }
        Ok(self.builtin_node(
            Builtin::Homotopy,
            v,
            Base::Real,
            merge_dims(&a.dims, &s.dims),
        ))
    }

    /// Applies `f` to each scalar of an array of variables.
    fn map_scalars(
        &mut self,
        e: ExprId,
        ty: &Type,
        f: &mut dyn FnMut(&mut Flattener<'a>, ExprId) -> ExprId,
    ) -> ExprId {
        if ty.is_scalar() {
            return f(self, e);
        }
        match self.unstack(e) {
            Some(items) => {
                let inner = Type {
                    base: ty.base,
                    dims: ty.dims[1..].to_vec(),
                };
                let parts: Vec<ExprId> = items
                    .into_iter()
                    .map(|i| self.map_scalars(i, &inner, f))
                    .collect();
                let element = Type {
                    base: Base::Real,
                    dims: inner.dims,
                };
                self.stack(&parts, &element)
            }
            None => {
                let whole = f(self, e);
                let dims = ty.dims.clone();
                let expr = self.ir.expr(whole).clone();
                self.node(expr, Base::Real, dims)
            }
        }
    }

    pub(crate) fn filled(&mut self, value: ExprId, sizes: &[ExprId], span: Span) -> Res<ExprId> {
        if sizes.is_empty() {
            return Err(error_help(
                "wrong-argument",
                span,
                "an array of no dimension is asked for",
                "give at least one size",
            ));
        }
        let mut dims = Vec::with_capacity(sizes.len());
        for &n in sizes {
            self.expect_scalar(n, Base::Integer, "a size", span)?;
            dims.push(self.dim_of(n, span)?);
        }
        let ty = self.ir.ty(value).clone();
        if !ty.dims.is_empty() {
            // `fill` of an array: the array repeated.
            let mut e = value;
            for d in dims.iter().rev() {
                let Dim::Known(n) = d else {
                    return Err(unsupported(
                        span,
                        "`fill` of an array to a size that is not known",
                    ));
                };
                let element = self.ir.ty(e).clone();
                let items = vec![e; *n as usize];
                e = self.stack(&items, &element);
            }
            return Ok(e);
        }
        // Sizes that are known are written as literals, so that nothing depends on parameters any more.
        let mut args = vec![value];
        for (&n, d) in sizes.iter().zip(&dims) {
            args.push(match d {
                Dim::Known(k) => self.ir.integer(i64::from(*k)),
                Dim::Unknown => n,
            });
        }
        Ok(self.builtin_node(Builtin::Fill, &args, ty.base, dims))
    }

    // ---- sizes ----

    fn size_call(&mut self, cx: Cx<'_>, name: Name, args: &'a CallArgs, span: Span) -> Res<ExprId> {
        let [array, rest @ ..] = args.positional.as_slice() else {
            return Err(error(
                "wrong-argument",
                span,
                format!("`{name}` takes an array"),
            ));
        };
        if !args.named.is_empty() || rest.len() > 1 || name.as_str() == "ndims" && !rest.is_empty()
        {
            return Err(error(
                "wrong-argument",
                span,
                format!(
                    "`{name}` takes an array{}",
                    if name.as_str() == "size" {
                        " and optionally a dimension"
                    } else {
                        ""
                    }
                ),
            ));
        }
        // Arrays of components are no values, but have sizes.
        if let ExprKind::Ref(r) = &array.kind {
            if let Some(k) = rest.first()
                && let Some(n) = self.declared_size(cx, r, k)?
            {
                return Ok(n);
            }
            let target = self.cref_in(cx, r)?;
            if let Target::Insts { dims, subs, .. } = &target
                && subs.is_empty()
            {
                let sizes: Vec<ExprId> = dims.iter().map(|&d| self.ir.integer(d as i64)).collect();
                if name.as_str() == "ndims" {
                    return Ok(self.ir.integer(dims.len() as i64));
                }
                let Some(k) = rest.first() else {
                    return Ok(self.stack(&sizes, &Type::scalar(Base::Integer)));
                };
                let k = self.ex(cx, k)?;
                let k = self.const_int(k, span)?;
                return usize::try_from(k - 1)
                    .ok()
                    .and_then(|k| sizes.get(k).copied())
                    .ok_or_else(|| {
                        error(
                            "index-out-of-range",
                            span,
                            format!(
                                "`size` asks for dimension {k} of an array with {}",
                                dims.len()
                            ),
                        )
                    });
            }
            let e = self.target_expr(target, r.span)?;
            return self.size_of_value(cx, name, e, rest, span);
        }
        let e = self.ex(cx, array)?;
        self.size_of_value(cx, name, e, rest, span)
    }

    /// One size of a component whose variables are not made yet, found without the others: `Real A[:, size(A, 1)]`.
    fn declared_size(
        &mut self,
        cx: Cx<'_>,
        r: &'a ast::ComponentRef,
        k: &'a ast::Expr,
    ) -> Res<Option<ExprId>> {
        let ExprKind::Integer(k) = k.kind else {
            return Ok(None);
        };
        let Some(k) = usize::try_from(k - 1).ok() else {
            return Ok(None);
        };
        if r.global || r.parts.iter().any(|p| !p.subscripts.is_empty()) {
            return Ok(None);
        }
        let Some(Found::Component { owner, name }) = self.lookup(cx.scope, &r.parts[0].name)?
        else {
            return Ok(None);
        };
        let mut inst = owner;
        for (i, part) in r.parts.iter().enumerate() {
            let name = if i == 0 { name } else { part.name.name };
            match self.child(inst, name, part.name.span)? {
                Child::One(i) | Child::Outer(i) => inst = i,
                _ => return Ok(None),
            }
        }
        let node = &self.insts[inst];
        let (None, None, Some(_), true) =
            (&node.var, &node.dims, node.builtin, node.subs.is_empty())
        else {
            return Ok(None);
        };
        if node.decl.is_none() {
            return Ok(None);
        }
        let all: Vec<(&'a ast::Subscript, LexId)> = node
            .decl_dims
            .iter()
            .copied()
            .chain(node.type_dims.iter().copied())
            .collect();
        match all.get(k) {
            Some((ast::Subscript::Expr(e), lex)) => {
                let size = self.dim_expr(
                    Scope {
                        lex: *lex,
                        iterators: None,
                    },
                    all[k].0,
                )?;
                let Some(size) = size else { return Ok(None) };
                let n = self.const_int(size, e.span)?;
                Ok(Some(self.ir.integer(n)))
            }
            Some((ast::Subscript::All(span), _)) => {
                let Some(binding) = self.binding(inst)? else {
                    return Ok(None);
                };
                match self.ir.ty(binding).dims.get(k) {
                    Some(Dim::Known(n)) => {
                        let n = i64::from(*n);
                        Ok(Some(self.ir.integer(n)))
                    }
                    Some(Dim::Unknown) => match self.const_eval(binding, *span)? {
                        saltus_ir::Value::Array(a) if k < a.dims.len() => {
                            Ok(Some(self.ir.integer(a.dims[k] as i64)))
                        }
                        _ => Ok(None),
                    },
                    None => Ok(None),
                }
            }
            None => Ok(None),
        }
    }

    fn size_of_value(
        &mut self,
        cx: Cx<'_>,
        name: Name,
        e: ExprId,
        rest: &'a [ast::Expr],
        span: Span,
    ) -> Res<ExprId> {
        if name.as_str() == "ndims" {
            let n = self.ir.ty(e).dims.len() as i64;
            return Ok(self.ir.integer(n));
        }
        match rest.first() {
            None => Ok(self.sizes(e)),
            Some(k) => {
                let k = self.ex(cx, k)?;
                self.size_in(e, k, span)
            }
        }
    }

    fn sizes(&mut self, e: ExprId) -> ExprId {
        let n = self.ir.ty(e).dims.len();
        let items: Vec<ExprId> = (0..n).map(|k| self.size_node(e, k)).collect();
        self.stack(&items, &Type::scalar(Base::Integer))
    }

    fn size_in(&mut self, e: ExprId, k: ExprId, span: Span) -> Res<ExprId> {
        self.expect_scalar(k, Base::Integer, "the dimension in `size`", span)?;
        let rank = self.ir.ty(e).dims.len();
        let known = match self.ir.expr(k) {
            Expr::Integer(k) => Some(*k),
            _ => self.try_const(k).and_then(|v| v.as_i64()),
        };
        match known {
            Some(k) => match usize::try_from(k - 1).ok().filter(|&k| k < rank) {
                Some(k) => Ok(self.size_node(e, k)),
                None => Err(error(
                    "index-out-of-range",
                    span,
                    format!(
                        "`size` asks for dimension {k} of a value of type `{}`",
                        self.type_text_of(e)
                    ),
                )),
            },
            None => Ok(self.builtin_node(Builtin::Size, &[e, k], Base::Integer, Vec::new())),
        }
    }

    // ---- String ----

    pub(crate) fn string_call(
        &mut self,
        cx: Cx<'_>,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<ExprId> {
        let mut positional = Vec::with_capacity(args.positional.len());
        for e in &args.positional {
            positional.push(self.ex(cx, e)?);
        }
        let mut named = Vec::with_capacity(args.named.len());
        for (ident, e) in &args.named {
            named.push((ident.name, self.ex(cx, e)?));
        }
        let rest = &positional[1.min(positional.len())..];
        self.string_values(positional.first().copied(), rest, &named, span)
    }

    /// `String(value, …)` (specification 3.7.2).
    fn string_values(
        &mut self,
        value: Option<ExprId>,
        rest: &[ExprId],
        named: &[(Name, ExprId)],
        span: Span,
    ) -> Res<ExprId> {
        let Some(value) = value else {
            return Err(error("wrong-argument", span, "`String` takes a value"));
        };
        let ty = self.ir.ty(value).clone();
        if let Base::Record(record) = ty.base {
            return self.record_to_string(record, value, rest, span);
        }
        if !ty.is_scalar() || matches!(ty.base, Base::Clock | Base::Object(_) | Base::Function) {
            return Err(error(
                "wrong-argument",
                span,
                format!(
                    "`String` takes a scalar, found `{}`",
                    self.text_of_type(&ty)
                ),
            ));
        }
        let order: &[&str] = if ty.base == Base::Real {
            &["significantDigits", "minimumLength", "leftJustified"]
        } else {
            &["minimumLength", "leftJustified"]
        };
        let mut given: Vec<(&str, ExprId)> = Vec::new();
        let mut format = None;
        for (k, &e) in rest.iter().enumerate() {
            if k == 0 && self.ir.base(e) == Base::String {
                format = Some(e);
                continue;
            }
            let Some(n) = order.get(k) else {
                return Err(error(
                    "wrong-argument",
                    span,
                    "`String` is given too many arguments",
                ));
            };
            given.push((n, e));
        }
        for (name, e) in named {
            match name.as_str() {
                "format" => format = Some(*e),
                n @ ("significantDigits" | "minimumLength" | "leftJustified") => {
                    given.push((n, *e))
                }
                other => {
                    return Err(error(
                        "wrong-argument",
                        span,
                        format!("`String` has no argument `{other}`"),
                    ));
                }
            }
        }
        if let Some(format) = format {
            self.expect_scalar(format, Base::String, "the format of `String`", span)?;
            return Ok(self.builtin_node(
                Builtin::ToString,
                &[value, format],
                Base::String,
                Vec::new(),
            ));
        }
        let (zero, left, digits) = (
            self.ir.integer(0),
            self.ir.boolean(true),
            self.ir.integer(6),
        );
        let pick = |this: &Self, name: &str, base: Base, default: ExprId| -> Res<ExprId> {
            match given.iter().find(|(n, _)| *n == name) {
                Some((_, e)) => {
                    this.expect_scalar(*e, base, &format!("`{name}` of `String`"), span)?;
                    Ok(*e)
                }
                None => Ok(default),
            }
        };
        let mut args = vec![
            value,
            pick(self, "minimumLength", Base::Integer, zero)?,
            pick(self, "leftJustified", Base::Boolean, left)?,
        ];
        if ty.base == Base::Real {
            args.push(pick(self, "significantDigits", Base::Integer, digits)?);
        }
        Ok(self.builtin_node(Builtin::ToString, &args, Base::String, Vec::new()))
    }

    fn record_to_string(
        &mut self,
        record: saltus_ir::RecordId,
        value: ExprId,
        rest: &[ExprId],
        span: Span,
    ) -> Res<ExprId> {
        if let Some(class) = self.operator_class(record) {
            for f in self.operator_functions(class, "'String'", span)? {
                let n = self.ir.functions[f].inputs.len();
                let mut given: Vec<Option<ExprId>> = std::iter::once(value)
                    .chain(rest.iter().copied())
                    .map(Some)
                    .collect();
                if given.len() > n {
                    continue;
                }
                given.resize(n, None);
                if let Some(&e) = self.call_bound(f, given, span)?.first() {
                    return Ok(e);
                }
            }
        }
        Err(error(
            "wrong-argument",
            span,
            format!("`String` is not defined for `{}`", self.type_text_of(value)),
        ))
    }

    // ---- others ----

    /// `cardinality`, `isRoot`, `rooted`: the connector is given by its instance number.
    fn connector_call(
        &mut self,
        cx: Cx<'_>,
        op: Builtin,
        base: Base,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<ExprId> {
        if let (
            [
                ast::Expr {
                    kind: ExprKind::Ref(r),
                    ..
                },
            ],
            true,
        ) = (args.positional.as_slice(), args.named.is_empty())
        {
            if op != Builtin::Cardinality {
                let Some(node) = self.graph_node(cx.scope, r)? else {
                    return Err(error(
                        "absent-component",
                        r.span,
                        format!("`{}` takes a component that exists", op.name()),
                    ));
                };
                let id = self.ir.integer(i64::from(node.0));
                return Ok(self.builtin_node(op, &[id], base, Vec::new()));
            }
            let cx = Cx {
                conditional: super::Conditional::Allowed,
                ..cx
            };
            let inst = match self.cref_in(cx, r)? {
                Target::Insts { elems, dims, .. } if dims.is_empty() => elems[0],
                Target::Vars(selection) if selection.dims.is_empty() => {
                    self.var_inst[selection.vars[0]].0
                }
                Target::Absent => return Ok(self.ir.integer(0)),
                _ => {
                    return Err(error(
                        "wrong-argument",
                        span,
                        format!("`{}` takes one connector", op.name()),
                    ));
                }
            };
            if !matches!(
                self.insts[inst].restriction,
                ast::Restriction::Connector | ast::Restriction::ExpandableConnector
            ) {
                return Err(error(
                    "wrong-argument",
                    r.span,
                    format!(
                        "`cardinality` takes a connector, `{}` is none",
                        self.insts[inst].path
                    ),
                ));
            }
            let id = self.ir.integer(i64::from(inst.0));
            return Ok(self.builtin_node(op, &[id], base, Vec::new()));
        }
        Err(error(
            "wrong-argument",
            span,
            format!("`{}` takes the name of a connector", op.name()),
        ))
    }

    fn spatial_distribution(
        &mut self,
        cx: Cx<'_>,
        args: &'a CallArgs,
        span: Span,
    ) -> Res<Vec<ExprId>> {
        let mut v = self.builtin_arguments(cx, Name::new("spatialDistribution"), args, span)?;
        if !(4..=6).contains(&v.len()) {
            return Err(error(
                "wrong-argument",
                span,
                format!(
                    "`spatialDistribution` takes 4 to 6 arguments, {} are given",
                    v.len()
                ),
            ));
        }
        if v.len() == 4 {
            let (zero, one) = (self.ir.real(0.0), self.ir.real(1.0));
            v.push(self.stack(&[zero, one], &Type::scalar(Base::Real)));
        }
        if v.len() == 5 {
            let zero = self.ir.real(0.0);
            let n = match self.ir.ty(v[4]).dims.last() {
                Some(Dim::Known(n)) => *n as usize,
                _ => 2,
            };
            v.push(self.stack(&vec![zero; n], &Type::scalar(Base::Real)));
        }
        // Vectorised over what enters, with profiles for each element or one for all (specification 3.7.4.2).
        let n = match (&self.ir.ty(v[0]).dims[..], &self.ir.ty(v[1]).dims[..]) {
            ([Dim::Known(n)], [Dim::Known(m)]) if n == m => *n as usize,
            _ => return self.one_distribution(&v, span),
        };
        let mut ends = [Vec::with_capacity(n), Vec::with_capacity(n)];
        for k in 0..n {
            let mut of_element = v.clone();
            for i in [0, 1] {
                of_element[i] = self.element(v[i], &[k], span)?;
            }
            for i in [4, 5] {
                if self.ir.ty(v[i]).dims.len() == 2 {
                    let row = self.ir.integer(k as i64 + 1);
                    of_element[i] = self.index(v[i], vec![Sub::At(row), Sub::All], span)?;
                }
            }
            let outputs = self.one_distribution(&of_element, span)?;
            for (end, output) in ends.iter_mut().zip(outputs) {
                end.push(output);
            }
        }
        let [out0, out1] = ends;
        let real = Type::scalar(Base::Real);
        Ok(vec![self.stack(&out0, &real), self.stack(&out1, &real)])
    }

    /// `spatialDistribution` of scalars, all six arguments given.
    fn one_distribution(&mut self, v: &[ExprId], span: Span) -> Res<Vec<ExprId>> {
        for &e in &v[..3] {
            self.expect_scalar(e, Base::Real, "an argument of `spatialDistribution`", span)?;
        }
        self.expect_scalar(
            v[3],
            Base::Boolean,
            "`positiveVelocity` of `spatialDistribution`",
            span,
        )?;
        // What leaves, and at each end what leaves or enters there.
        let (in0, in1, x, positive) = (v[0], v[1], v[2], v[3]);
        let entering = self.ir.if_(positive, in0, in1);
        let mut args = vec![entering, x, positive];
        let n = self.profile_points(v[4], span)?;
        if self.profile_points(v[5], span)? != n {
            return Err(error(
                "array-size-mismatch",
                span,
                "`initialPoints` and `initialValues` of `spatialDistribution` have different sizes",
            ));
        }
        for profile in [v[4], v[5]] {
            for k in 0..n {
                args.push(self.element(profile, &[k], span)?);
            }
        }
        self.check_points(&args[3..3 + n], span)?;
        let leaving =
            self.builtin_node(Builtin::SpatialDistribution, &args, Base::Real, Vec::new());
        let out0 = self.ir.if_(positive, in0, leaving);
        let out1 = self.ir.if_(positive, leaving, in1);
        Ok(vec![out0, out1])
    }

    /// Number of points of an initial profile, at least one.
    fn profile_points(&self, profile: ExprId, span: Span) -> Res<usize> {
        match self.ir.ty(profile).dims[..] {
            [Dim::Known(n)] if n > 0 => Ok(n as usize),
            _ => Err(error(
                "array-size-mismatch",
                span,
                "the initial profile of `spatialDistribution` must be a vector of known size with at least one element",
            )),
        }
    }

    /// Points as far as they are literals: from 0 to 1, not descending.
    fn check_points(&self, points: &[ExprId], span: Span) -> Res<()> {
        let known: Vec<f64> = points
            .iter()
            .filter_map(|&p| self.ir.as_number(p))
            .collect();
        let inside = known.iter().all(|y| (0.0..=1.0).contains(y));
        if inside && known.is_sorted() {
            return Ok(());
        }
        Err(error(
            "wrong-argument",
            span,
            "`initialPoints` of `spatialDistribution` must lie between 0 and 1 and not descend",
        ))
    }

    /// `getInstanceName()`: the class of the model and the path of the instance (specification 3.7.4.3).
    fn instance_name(&self, scope: Scope<'_>) -> String {
        let inst = self.lexes[scope.lex].owner;
        let path = self.insts[inst].path.as_str();
        let mut top = inst;
        while let Some(parent) = self.insts[top].parent {
            top = parent;
        }
        let class = self.insts[top].class.name.as_str();
        let model = class.rsplit('.').next().unwrap_or(class);
        if top == inst || path.is_empty() {
            model.to_owned()
        } else {
            format!("{model}.{path}")
        }
    }
}

fn math1(name: &str) -> Option<Builtin> {
    Some(match name {
        "abs" => Builtin::Abs,
        "sign" => Builtin::Sign,
        "sqrt" => Builtin::Sqrt,
        "sin" => Builtin::Sin,
        "cos" => Builtin::Cos,
        "tan" => Builtin::Tan,
        "asin" => Builtin::Asin,
        "acos" => Builtin::Acos,
        "atan" => Builtin::Atan,
        "sinh" => Builtin::Sinh,
        "cosh" => Builtin::Cosh,
        "tanh" => Builtin::Tanh,
        "exp" => Builtin::Exp,
        "log" => Builtin::Log,
        "log10" => Builtin::Log10,
        "ceil" => Builtin::Ceil,
        "floor" => Builtin::Floor,
        "integer" => Builtin::Integer,
        _ => return None,
    })
}

fn math2(name: &str) -> Option<Builtin> {
    Some(match name {
        "atan2" => Builtin::Atan2,
        "div" => Builtin::Div,
        "mod" => Builtin::Mod,
        "rem" => Builtin::Rem,
        _ => return None,
    })
}

/// Names of arguments that may be given by name; `a|b` are alternatives for one place.
fn parameter_names(name: &str) -> &'static [&'static str] {
    match name {
        "homotopy" => &["actual", "simplified"],
        "spatialDistribution" => &[
            "in0",
            "in1",
            "x",
            "positiveVelocity",
            "initialPoints",
            "initialValues",
        ],
        "delay" => &["expr", "delayTime", "delayMax"],
        "semiLinear" => &["x", "k+|positiveSlope", "k-|negativeSlope"],
        "sample" => &["start|u", "interval|clock"],
        "subSample" | "superSample" => &["u", "factor"],
        "shiftSample" => &["u", "shiftCounter", "resolution"],
        "backSample" => &["u", "backCounter", "resolution"],
        "Clock" => &[
            "interval|intervalCounter|condition|c",
            "resolution|startInterval|solverMethod",
        ],
        "linspace" => &["x1", "x2", "n"],
        "smooth" => &["p", "expr"],
        _ => &[],
    }
}
