//! Operators (specification 3.4 to 3.6, 10.6), overloaded operators of operator records (chapter 14), if-expressions, array
//! constructors, concatenation and ranges.

use super::nodes::{merge_dims, size_error};
use super::{Cx, dims_fit, error, error_help};
use crate::core::*;
use saltus_ir::{Base, BinaryOp, Builtin, Dim, Expr, ExprId, FuncId, RecordId, Type};
use saltus_syntax::ast;
use saltus_syntax::{Name, Span};

/// Longest chain of `a + b + c …` that is followed without recursion in the syntax tree; the parser bounds the rest.
const CHAIN_MAX: usize = 100_000;

impl<'a> Flattener<'a> {
    pub(crate) fn unary(&mut self, op: ast::UnaryOp, a: ExprId, span: Span) -> Res<ExprId> {
        let ty = self.ir.ty(a).clone();
        if let Base::Record(record) = ty.base {
            return match op {
                ast::UnaryOp::Minus | ast::UnaryOp::ElemMinus => {
                    self.overloaded_unary(record, "'-'", a, span)
                }
                ast::UnaryOp::Not => self.overloaded_unary(record, "'not'", a, span),
                ast::UnaryOp::Plus | ast::UnaryOp::ElemPlus => Ok(a),
            };
        }
        let (fits, expected) = match op {
            ast::UnaryOp::Not => (ty.base == Base::Boolean, "Boolean"),
            _ => (ty.base.is_numeric(), "Real or Integer"),
        };
        if !fits {
            let found = self.text_of_type(&ty);
            return Err(error(
                "type-mismatch",
                span,
                format!(
                    "operand of `{}` must be {expected}, found `{found}`",
                    unary_text(op)
                ),
            ));
        }
        Ok(match op {
            ast::UnaryOp::Not => self.ir.not(a),
            ast::UnaryOp::Minus | ast::UnaryOp::ElemMinus => self.ir.neg(a),
            ast::UnaryOp::Plus | ast::UnaryOp::ElemPlus => a,
        })
    }

    /// A binary operator; left-leaning chains are walked in a loop so that long sums need no deep recursion.
    pub(crate) fn binary_ast(
        &mut self,
        cx: Cx<'_>,
        op: ast::BinaryOp,
        a: &'a ast::Expr,
        b: &'a ast::Expr,
        span: Span,
    ) -> Res<ExprId> {
        let mut chain: Vec<(ast::BinaryOp, &'a ast::Expr, Span)> = vec![(op, b, span)];
        let mut left = a;
        while let ast::ExprKind::Binary(op, l, r) = &left.kind {
            chain.push((*op, r, left.span));
            left = l;
            if chain.len() > CHAIN_MAX {
                return Err(error(
                    "too-deep",
                    span,
                    "this expression has too many operators",
                ));
            }
        }
        let mut value = self.ex(cx, left)?;
        for (op, right, span) in chain.into_iter().rev() {
            // `false and …` and `true or …`: the rest need not make sense, e.g. a subscript out of range.
            match (op, self.ir.as_boolean(value)) {
                (ast::BinaryOp::And, Some(false)) | (ast::BinaryOp::Or, Some(true)) => continue,
                _ => {}
            }
            let right = self.ex(cx, right)?;
            value = self.binary(op, value, right, span)?;
        }
        Ok(value)
    }

    pub(crate) fn binary(
        &mut self,
        op: ast::BinaryOp,
        a: ExprId,
        b: ExprId,
        span: Span,
    ) -> Res<ExprId> {
        use ast::BinaryOp as O;
        let (ta, tb) = (self.ir.ty(a).clone(), self.ir.ty(b).clone());
        if matches!(ta.base, Base::Record(_)) || matches!(tb.base, Base::Record(_)) {
            return self.overloaded_binary(op, a, b, span);
        }
        match op {
            O::And | O::Or => {
                if ta.base != Base::Boolean || tb.base != Base::Boolean {
                    return Err(self.operand_error(op, a, b, "Boolean", span));
                }
                self.check_elementwise(op, a, b, false, span)?;
                let op = if op == O::And {
                    BinaryOp::And
                } else {
                    BinaryOp::Or
                };
                Ok(self.ir.binary(op, a, b))
            }
            O::Lt | O::Le | O::Gt | O::Ge | O::Eq | O::Ne => self.relation(op, a, b, span),
            O::Add | O::ElemAdd if ta.base == Base::String && tb.base == Base::String => {
                self.check_elementwise(op, a, b, op == O::ElemAdd, span)?;
                Ok(self.ir.binary(BinaryOp::Add, a, b))
            }
            _ if !ta.base.is_numeric() || !tb.base.is_numeric() => {
                Err(self.operand_error(op, a, b, "Real or Integer", span))
            }
            O::Add | O::Sub | O::ElemAdd | O::ElemSub => {
                self.check_elementwise(op, a, b, matches!(op, O::ElemAdd | O::ElemSub), span)?;
                let op = if matches!(op, O::Add | O::ElemAdd) {
                    BinaryOp::Add
                } else {
                    BinaryOp::Sub
                };
                Ok(self.ir.binary(op, a, b))
            }
            O::Mul => self.multiply(a, b, span),
            O::Div => {
                if !tb.dims.is_empty() {
                    return Err(error_help(
                        "type-mismatch",
                        span,
                        format!(
                            "the divisor of `/` must be a scalar, found `{}`",
                            self.text_of_type(&tb)
                        ),
                        "use `./` to divide element by element",
                    ));
                }
                Ok(self.ir.binary(BinaryOp::Div, a, b))
            }
            O::ElemMul | O::ElemDiv | O::ElemPow => {
                self.check_elementwise(op, a, b, true, span)?;
                let op = match op {
                    O::ElemMul => BinaryOp::Mul,
                    O::ElemDiv => BinaryOp::Div,
                    _ => BinaryOp::Pow,
                };
                Ok(self.ir.binary(op, a, b))
            }
            O::Pow => self.power(a, b, span),
        }
    }

    fn operand_error(
        &self,
        op: ast::BinaryOp,
        a: ExprId,
        b: ExprId,
        expected: &str,
        span: Span,
    ) -> Box<saltus_syntax::Diagnostic> {
        let (ta, tb) = (self.type_text_of(a), self.type_text_of(b));
        error(
            "type-mismatch",
            span,
            format!(
                "operands of `{}` must be {expected}, found `{ta}` and `{tb}`",
                binary_text(op)
            ),
        )
    }

    fn check_elementwise(
        &self,
        op: ast::BinaryOp,
        a: ExprId,
        b: ExprId,
        scalar_broadcast: bool,
        span: Span,
    ) -> Res<()> {
        let (x, y) = (&self.ir.ty(a).dims, &self.ir.ty(b).dims);
        if dims_fit(x, y) || scalar_broadcast && (x.is_empty() || y.is_empty()) {
            return Ok(());
        }
        let message = format!(
            "sizes of the operands of `{}` differ: `{}` and `{}`",
            binary_text(op),
            self.type_text_of(a),
            self.type_text_of(b)
        );
        let code = if x.len() == y.len() {
            "array-size-mismatch"
        } else {
            "type-mismatch"
        };
        Err(if x.is_empty() || y.is_empty() {
            error_help(
                code,
                span,
                message,
                format!(
                    "use `.{}` to combine a scalar with each element",
                    binary_text(op)
                ),
            )
        } else {
            error(code, span, message)
        })
    }

    fn relation(&mut self, op: ast::BinaryOp, a: ExprId, b: ExprId, span: Span) -> Res<ExprId> {
        use ast::BinaryOp as O;
        let (ta, tb) = (self.ir.ty(a), self.ir.ty(b));
        if !ta.is_scalar() || !tb.is_scalar() {
            return Err(error_help(
                "type-mismatch",
                span,
                format!(
                    "`{}` compares scalars, found `{}` and `{}`",
                    binary_text(op),
                    self.text_of_type(ta),
                    self.text_of_type(tb)
                ),
                "compare the elements, or use a function on vectors",
            ));
        }
        let comparable = ta.base.is_numeric() && tb.base.is_numeric()
            || ta.base == tb.base
                && matches!(ta.base, Base::Boolean | Base::String | Base::Enum(_));
        if !comparable {
            return Err(self.operand_error(op, a, b, "of the same simple type", span));
        }
        let op = match op {
            O::Lt => BinaryOp::Lt,
            O::Le => BinaryOp::Le,
            O::Gt => BinaryOp::Gt,
            O::Ge => BinaryOp::Ge,
            O::Eq => BinaryOp::Eq,
            _ => BinaryOp::Ne,
        };
        Ok(self.ir.binary(op, a, b))
    }

    fn multiply(&mut self, a: ExprId, b: ExprId, span: Span) -> Res<ExprId> {
        let (x, y) = (self.ir.ty(a).dims.clone(), self.ir.ty(b).dims.clone());
        if x.is_empty() || y.is_empty() {
            return Ok(self.ir.binary(BinaryOp::Mul, a, b));
        }
        if x.len() > 2 || y.len() > 2 {
            return Err(error(
                "type-mismatch",
                span,
                format!(
                    "`*` is not defined for `{}` and `{}`",
                    self.type_text_of(a),
                    self.type_text_of(b)
                ),
            ));
        }
        let inner_a = x[x.len() - 1];
        let inner_b = y[0];
        if !dims_fit(&[inner_a], &[inner_b]) {
            return Err(size_error("the matrix product", &x, &y, span));
        }
        Ok(self.ir.binary(BinaryOp::MatMul, a, b))
    }

    fn power(&mut self, a: ExprId, b: ExprId, span: Span) -> Res<ExprId> {
        let (ta, tb) = (self.ir.ty(a).clone(), self.ir.ty(b).clone());
        if ta.is_scalar() && tb.is_scalar() {
            return Ok(self.ir.binary(BinaryOp::Pow, a, b));
        }
        if ta.dims.len() == 2 && tb.is_scalar() && tb.base == Base::Integer {
            if !dims_fit(&ta.dims[..1], &ta.dims[1..]) {
                return Err(error(
                    "array-size-mismatch",
                    span,
                    format!(
                        "`^` needs a square matrix, found `{}`",
                        self.text_of_type(&ta)
                    ),
                ));
            }
            return Ok(self.node(Expr::Binary(BinaryOp::MatPow, a, b), Base::Real, ta.dims));
        }
        Err(error_help(
            "type-mismatch",
            span,
            format!(
                "`^` is not defined for `{}` and `{}`",
                self.text_of_type(&ta),
                self.text_of_type(&tb)
            ),
            "use `.^` to raise each element",
        ))
    }

    // ---- overloading ----

    /// The class instance of an operator record, to find its operators.
    pub(crate) fn operator_class(&mut self, record: RecordId) -> Option<InstId> {
        if let Some(&known) = self.operator_classes.get(&record) {
            return Some(known);
        }
        let class = (self.insts)
            .iter()
            .find(|(_, i)| {
                i.record == Some(record)
                    && i.purpose == Purpose::Package
                    && i.parent.is_none()
                    && i.restriction == ast::Restriction::OperatorRecord
            })
            .map(|(id, _)| id)?;
        self.operator_classes.insert(record, class);
        Some(class)
    }

    /// The functions of an operator, e.g. `'+'`: an operator function, or all functions of an operator class.
    pub(crate) fn operator_functions(
        &mut self,
        class: InstId,
        operator: &str,
        span: Span,
    ) -> Res<Vec<FuncId>> {
        let Some(Found::Class(found)) = self.inst_member(class, Name::new(operator), span)? else {
            return Ok(Vec::new());
        };
        let inst = self.class_inst(&found)?;
        self.elaborate(inst)?;
        if self.is_function_class(inst) {
            return Ok(vec![self.function_of_inst(inst)?]);
        }
        let names: Vec<Name> = self.insts[inst].elements.keys().copied().collect();
        let mut functions = Vec::new();
        for name in names {
            if let Some(Found::Class(c)) = self.inst_member(inst, name, span)? {
                let f = self.class_inst(&c)?;
                self.elaborate(f)?;
                if self.is_function_class(f) {
                    functions.push(self.function_of_inst(f)?);
                }
            }
        }
        Ok(functions)
    }

    /// Whether positional arguments fit a function without vectorisation.
    fn arguments_fit(&self, f: FuncId, args: &[ExprId]) -> bool {
        let inputs = &self.ir.functions[f].inputs;
        if args.len() > inputs.len() {
            return false;
        }
        let given = inputs.iter().zip(args).all(|(&l, &a)| {
            let (formal, actual) = (self.ir.type_of_id(self.ir.locals[l].ty), self.ir.ty(a));
            self.base_fits(formal.base, actual.base) && dims_fit(&formal.dims, &actual.dims)
        });
        given
            && inputs[args.len()..]
                .iter()
                .all(|&l| self.ir.locals[l].default.is_some())
    }

    /// Calls the first function of the operator that fits.
    fn try_operator(
        &mut self,
        class: InstId,
        operator: &str,
        args: &[ExprId],
        span: Span,
    ) -> Res<Option<ExprId>> {
        for f in self.operator_functions(class, operator, span)? {
            if self.arguments_fit(f, args) {
                let given = args.iter().map(|&a| Some(a)).collect();
                let outputs = self.call_bound(f, given, span)?;
                return Ok(outputs.first().copied());
            }
        }
        Ok(None)
    }

    fn overloaded_unary(
        &mut self,
        record: RecordId,
        operator: &str,
        a: ExprId,
        span: Span,
    ) -> Res<ExprId> {
        let dims = self.ir.ty(a).dims.clone();
        if let Some(class) = self.operator_class(record) {
            if let Some(e) = self.try_operator(class, operator, &[a], span)? {
                return Ok(e);
            }
            if !dims.is_empty() {
                return self.map_elements(&dims, span, &mut |f, at| {
                    let x = f.element(a, at, span)?;
                    f.overloaded_unary(record, operator, x, span)
                });
            }
        }
        Err(error(
            "type-mismatch",
            span,
            format!(
                "operator `{operator}` is not defined for `{}`",
                self.type_text_of(a)
            ),
        ))
    }

    fn overloaded_binary(
        &mut self,
        op: ast::BinaryOp,
        a: ExprId,
        b: ExprId,
        span: Span,
    ) -> Res<ExprId> {
        use ast::BinaryOp as O;
        let operator = operator_name(op);
        let mut classes = Vec::new();
        for e in [a, b] {
            if let Base::Record(record) = self.ir.base(e)
                && let Some(class) = self.operator_class(record)
                && !classes.contains(&class)
            {
                classes.push(class);
            }
        }
        let (x, y) = (self.ir.ty(a).dims.clone(), self.ir.ty(b).dims.clone());
        let elementwise_only = matches!(
            op,
            O::ElemAdd | O::ElemSub | O::ElemMul | O::ElemDiv | O::ElemPow
        );
        if !elementwise_only || x.is_empty() && y.is_empty() {
            for &class in &classes {
                if let Some(e) = self.try_operator(class, operator, &[a, b], span)? {
                    return Ok(e);
                }
            }
        }
        if x.is_empty() && y.is_empty() {
            // One operand converted by a constructor of the other's class (specification 14.5, 14.6).
            for &class in &classes {
                for (i, &e) in [a, b].iter().enumerate() {
                    if matches!(self.ir.base(e), Base::Record(_)) {
                        continue;
                    }
                    if let Some(converted) =
                        self.try_operator(class, "'constructor'", &[e], span)?
                    {
                        let args = if i == 0 {
                            [converted, b]
                        } else {
                            [a, converted]
                        };
                        if let Some(e) = self.try_operator(class, operator, &args, span)? {
                            return Ok(e);
                        }
                    }
                }
            }
            return Err(self.operand_error(
                op,
                a,
                b,
                "of an operator record that defines it",
                span,
            ));
        }
        let broadcast =
            elementwise_only || matches!(op, O::Mul) || matches!(op, O::Div) && y.is_empty();
        let elementwise = dims_fit(&x, &y) && !matches!(op, O::Mul | O::Div | O::Pow);
        let scalar_op = match op {
            O::ElemAdd => O::Add,
            O::ElemSub => O::Sub,
            O::ElemMul => O::Mul,
            O::ElemDiv => O::Div,
            O::ElemPow => O::Pow,
            other => other,
        };
        if elementwise || broadcast && (x.is_empty() || y.is_empty()) {
            let dims = if x.is_empty() { y.clone() } else { x.clone() };
            return self.map_elements(&dims, span, &mut |f, at| {
                let left = if x.is_empty() {
                    a
                } else {
                    f.element(a, at, span)?
                };
                let right = if y.is_empty() {
                    b
                } else {
                    f.element(b, at, span)?
                };
                f.overloaded_scalar(scalar_op, left, right, span)
            });
        }
        if op == O::Mul && x.len() <= 2 && y.len() <= 2 {
            return self.overloaded_product(a, b, &x, &y, span);
        }
        Err(self.operand_error(op, a, b, "arrays whose sizes fit", span))
    }

    fn overloaded_scalar(
        &mut self,
        op: ast::BinaryOp,
        a: ExprId,
        b: ExprId,
        span: Span,
    ) -> Res<ExprId> {
        self.binary(op, a, b, span)
    }

    /// Matrix products of records by their `'*'` and `'+'` (specification 14.5).
    fn overloaded_product(
        &mut self,
        a: ExprId,
        b: ExprId,
        x: &[Dim],
        y: &[Dim],
        span: Span,
    ) -> Res<ExprId> {
        let inner = merge_dims(&x[x.len() - 1..], &y[..1]);
        if !dims_fit(&x[x.len() - 1..], &y[..1]) {
            return Err(size_error("the matrix product", x, y, span));
        }
        let Dim::Known(n) = inner[0] else {
            return Err(super::unsupported(
                span,
                "a product of arrays of records whose sizes are not known",
            ));
        };
        let outer: Vec<Dim> = x[..x.len() - 1].iter().chain(&y[1..]).copied().collect();
        let n_left = x.len() - 1;
        self.map_elements(&outer, span, &mut |f, at| {
            let mut sum: Option<ExprId> = None;
            for k in 0..n as usize {
                let left: Vec<usize> = at[..n_left].iter().copied().chain([k]).collect();
                let right: Vec<usize> = [k]
                    .into_iter()
                    .chain(at[n_left..].iter().copied())
                    .collect();
                let (l, r) = (f.element(a, &left, span)?, f.element(b, &right, span)?);
                let product = f.binary(ast::BinaryOp::Mul, l, r, span)?;
                sum = Some(match sum {
                    None => product,
                    Some(s) => f.binary(ast::BinaryOp::Add, s, product, span)?,
                });
            }
            match sum {
                Some(s) => Ok(s),
                None => f.record_zero(a, span),
            }
        })
    }

    /// The neutral element of addition of an operator record.
    pub(crate) fn record_zero(&mut self, like: ExprId, span: Span) -> Res<ExprId> {
        if let Base::Record(record) = self.ir.base(like)
            && let Some(class) = self.operator_class(record)
            && let Some(e) = self.try_operator(class, "'0'", &[], span)?
        {
            return Ok(e);
        }
        Err(error(
            "type-mismatch",
            span,
            format!(
                "`{}` has no operator `'0'`, which an empty sum needs",
                self.type_text_of(like)
            ),
        ))
    }

    /// An array whose elements are made one by one; with unknown sizes not possible.
    pub(crate) fn map_elements(
        &mut self,
        dims: &[Dim],
        span: Span,
        f: &mut dyn FnMut(&mut Flattener<'a>, &[usize]) -> Res<ExprId>,
    ) -> Res<ExprId> {
        let Some(known) = (Type {
            base: Base::Real,
            dims: dims.to_vec(),
        })
        .known_dims() else {
            return Err(super::unsupported(
                span,
                "an elementwise operation on arrays of records whose sizes are not known",
            ));
        };
        let n: usize = known.iter().product();
        let mut items = Vec::with_capacity(n);
        for k in 0..n {
            let at: Vec<usize> = crate::instantiate::subscripts_of(k, &known)
                .iter()
                .map(|s| *s as usize - 1)
                .collect();
            items.push(f(self, &at)?);
        }
        let element = match items.first() {
            Some(&first) => self.ir.ty(first).clone(),
            None => Type::scalar(Base::Real),
        };
        Ok(self.nest(&known, &element, &items))
    }

    // ---- if, arrays, ranges ----

    pub(crate) fn if_expr(
        &mut self,
        cx: Cx<'_>,
        branches: &'a [(ast::Expr, ast::Expr)],
        otherwise: &'a ast::Expr,
        span: Span,
    ) -> Res<ExprId> {
        let Some(((condition, value), rest)) = branches.split_first() else {
            return self.ex(cx, otherwise);
        };
        let c = self.ex(cx, condition)?;
        self.expect_scalar(
            c,
            Base::Boolean,
            "the condition of an if-expression",
            condition.span,
        )?;
        match self.literal_bool(c) {
            Some(true) => return self.ex(cx, value),
            Some(false) => return self.if_expr(cx, rest, otherwise, span),
            None => {}
        }
        let then = self.ex(cx, value);
        let els = self.if_expr(cx, rest, otherwise, span);
        if let (Ok(t), Ok(e)) = (&then, &els)
            && let Some(node) = self.if_node(c, *t, *e, self.in_function(cx.scope))
        {
            return Ok(node);
        }
        // A branch makes no sense, or the sizes differ: the condition must decide at compile time.
        if let Some(chosen) = self.try_const(c).and_then(|v| v.as_bool()) {
            return if chosen { then } else { els };
        }
        let (t, e) = (then?, els?);
        Err(error_help(
            "type-mismatch",
            span,
            format!(
                "branches of the if-expression have different types: `{}` and `{}`",
                self.type_text_of(t),
                self.type_text_of(e)
            ),
            "make the types equal, or let the condition depend on constants and parameters only",
        ))
    }

    /// `if c then t else e` if the types fit.
    fn if_node(&mut self, c: ExprId, t: ExprId, e: ExprId, in_function: bool) -> Option<ExprId> {
        let base = self.common_base(self.ir.base(t), self.ir.base(e))?;
        let (x, y) = (self.ir.ty(t).dims.clone(), self.ir.ty(e).dims.clone());
        let dims = if dims_fit(&x, &y) {
            merge_dims(&x, &y)
        } else if in_function && x.len() == y.len() {
            x.iter()
                .zip(&y)
                .map(|(a, b)| if a == b { *a } else { Dim::Unknown })
                .collect()
        } else {
            return None;
        };
        let (t, e) = (self.adapt(t, base), self.adapt(e, base));
        Some(self.node(Expr::If(c, t, e), base, dims))
    }

    pub(crate) fn array_constructor(&mut self, elements: &[ExprId], span: Span) -> Res<ExprId> {
        let Some(&first) = elements.first() else {
            return Err(error_help(
                "type-mismatch",
                span,
                "an array constructor needs an element",
                "use `fill` or `zeros` with size 0",
            ));
        };
        let mut element = self.ir.ty(first).clone();
        for &e in &elements[1..] {
            let ty = self.ir.ty(e);
            let Some(base) = self.common_base(element.base, ty.base) else {
                return Err(error(
                    "type-mismatch",
                    span,
                    format!(
                        "elements of an array must have the same type, found `{}` and `{}`",
                        self.text_of_type(&element),
                        self.text_of_type(ty)
                    ),
                ));
            };
            if !dims_fit(&element.dims, &ty.dims) {
                return Err(error(
                    "array-size-mismatch",
                    span,
                    format!(
                        "elements of an array must have the same size, found `{}` and `{}`",
                        self.text_of_type(&element),
                        self.text_of_type(ty)
                    ),
                ));
            }
            element = Type {
                base,
                dims: merge_dims(&element.dims, &ty.dims),
            };
        }
        let items: Vec<ExprId> = elements
            .iter()
            .map(|&e| self.adapt(e, element.base))
            .collect();
        Ok(self.stack(&items, &element))
    }

    /// `[a, b; c, d]` (specification 10.4.2.1).
    pub(crate) fn matrix(
        &mut self,
        cx: Cx<'_>,
        rows: &'a [Vec<ast::Expr>],
        span: Span,
    ) -> Res<ExprId> {
        let mut values: Vec<Vec<ExprId>> = Vec::with_capacity(rows.len());
        let mut rank = 2;
        for row in rows {
            let mut list = Vec::with_capacity(row.len());
            for e in row {
                let v = self.ex(cx, e)?;
                rank = rank.max(self.ir.ty(v).dims.len());
                list.push(v);
            }
            values.push(list);
        }
        let mut lines = Vec::with_capacity(values.len());
        for row in values {
            let mut parts = Vec::with_capacity(row.len());
            for v in row {
                parts.push(self.promote(v, rank));
            }
            lines.push(self.cat(2, &parts, span)?);
        }
        self.cat(1, &lines, span)
    }

    /// `promote(a, n)`: dimensions of size 1 are added on the right.
    pub(crate) fn promote(&mut self, a: ExprId, rank: usize) -> ExprId {
        let ty = self.ir.ty(a).clone();
        if ty.dims.len() >= rank {
            return a;
        }
        if ty.dims.is_empty() {
            let mut e = a;
            for _ in 0..rank {
                let element = self.ir.ty(e).clone();
                e = self.stack(&[e], &element);
            }
            return e;
        }
        if let Some(items) = self.unstack(a)
            && !items.is_empty()
        {
            let parts: Vec<ExprId> = items
                .into_iter()
                .map(|i| self.promote(i, rank - 1))
                .collect();
            let element = self.ir.ty(parts[0]).clone();
            return self.stack(&parts, &element);
        }
        let mut dims = ty.dims;
        dims.resize(rank, Dim::Known(1));
        let n = self.ir.integer(rank as i64);
        self.builtin_node(Builtin::Promote, &[a, n], ty.base, dims)
    }

    /// `cat(k, parts…)`, `k` from 1.
    pub(crate) fn cat(&mut self, k: usize, parts: &[ExprId], span: Span) -> Res<ExprId> {
        let Some(&first) = parts.first() else {
            return Err(error("wrong-argument", span, "`cat` needs an array"));
        };
        if parts.len() == 1 {
            return Ok(first);
        }
        let mut ty = self.ir.ty(first).clone();
        if k == 0 || k > ty.dims.len() {
            return Err(error(
                "wrong-argument",
                span,
                format!(
                    "`cat` along dimension {k} is not possible for `{}`",
                    self.text_of_type(&ty)
                ),
            ));
        }
        for &p in &parts[1..] {
            let other = self.ir.ty(p);
            let base = self.common_base(ty.base, other.base);
            let fits = ty.dims.len() == other.dims.len()
                && (0..ty.dims.len())
                    .all(|d| d + 1 == k || dims_fit(&ty.dims[d..=d], &other.dims[d..=d]));
            let (Some(base), true) = (base, fits) else {
                return Err(error(
                    if base.is_none() {
                        "type-mismatch"
                    } else {
                        "array-size-mismatch"
                    },
                    span,
                    format!(
                        "`{}` and `{}` cannot be concatenated along dimension {k}",
                        self.text_of_type(&ty),
                        self.text_of_type(other)
                    ),
                ));
            };
            for d in 0..ty.dims.len() {
                ty.dims[d] = match (ty.dims[d], other.dims[d]) {
                    (Dim::Known(a), Dim::Known(b)) if d + 1 == k => Dim::Known(a + b),
                    _ if d + 1 == k => Dim::Unknown,
                    (Dim::Unknown, b) => b,
                    (a, _) => a,
                };
            }
            ty.base = base;
        }
        let parts: Vec<ExprId> = parts.iter().map(|&p| self.adapt(p, ty.base)).collect();
        if let Some(e) = self.cat_items(k, &parts, &ty) {
            return Ok(e);
        }
        let mut args = vec![self.ir.integer(k as i64)];
        args.extend(parts);
        Ok(self.builtin_node(Builtin::Cat, &args, ty.base, ty.dims))
    }

    /// Concatenation of arrays whose elements are at hand.
    fn cat_items(&mut self, k: usize, parts: &[ExprId], ty: &Type) -> Option<ExprId> {
        let lists: Vec<Vec<ExprId>> = parts
            .iter()
            .map(|&p| self.unstack(p))
            .collect::<Option<_>>()?;
        let element = Type {
            base: ty.base,
            dims: ty.dims[1..].to_vec(),
        };
        if k == 1 {
            return Some(self.stack(&lists.concat(), &element));
        }
        let n = lists[0].len();
        if n == 0 || lists.iter().any(|l| l.len() != n) {
            return None;
        }
        let mut rows = Vec::with_capacity(n);
        for i in 0..n {
            let row: Vec<ExprId> = lists.iter().map(|l| l[i]).collect();
            rows.push(self.cat_items(k - 1, &row, &element)?);
        }
        Some(self.stack(&rows, &element))
    }

    pub(crate) fn range(
        &mut self,
        start: ExprId,
        step: Option<ExprId>,
        stop: ExprId,
        span: Span,
    ) -> Res<ExprId> {
        let mut base = self.ir.base(start);
        for e in [step, Some(stop)].into_iter().flatten() {
            base = match self.common_base(base, self.ir.base(e)) {
                Some(b) => b,
                None => {
                    return Err(error(
                        "type-mismatch",
                        span,
                        format!(
                            "bounds of a range must have the same type, found `{}` and `{}`",
                            self.type_text_of(start),
                            self.type_text_of(e)
                        ),
                    ));
                }
            };
        }
        if [Some(start), step, Some(stop)]
            .into_iter()
            .flatten()
            .any(|e| !self.ir.ty(e).is_scalar())
        {
            return Err(error(
                "type-mismatch",
                span,
                "bounds of a range must be scalars",
            ));
        }
        if let Base::Enum(_) | Base::Boolean = base {
            return self.literal_range(start, stop, base, span);
        }
        if !base.is_numeric() {
            return Err(error(
                "type-mismatch",
                span,
                format!("a range cannot be made of `{}`", self.type_text_of(start)),
            ));
        }
        let dim = self.range_dim(start, step, stop);
        if dim == Dim::Unknown {
            return Ok(self.node(Expr::Range { start, step, stop }, base, vec![dim]));
        }
        // Bounds that decide the size are written as literals, so that nothing depends on parameters any more.
        let start = self.known_number(start, span)?;
        let step = step.map(|s| self.known_number(s, span)).transpose()?;
        let stop = self.known_number(stop, span)?;
        Ok(self.node(Expr::Range { start, step, stop }, base, vec![dim]))
    }

    /// `E.a:E.b`, `false:true`: the literals in order.
    fn literal_range(
        &mut self,
        start: ExprId,
        stop: ExprId,
        base: Base,
        span: Span,
    ) -> Res<ExprId> {
        let bounds = [start, stop].map(|e| self.try_const(e).and_then(|v| v.as_i64()));
        let [Some(a), Some(b)] = bounds else {
            return Err(super::unsupported(
                span,
                "a range of enumeration values that are not constant",
            ));
        };
        let mut items = Vec::new();
        for k in a..=b {
            items.push(match base {
                Base::Enum(id) => self.ir.add_scalar(Expr::Enum(id, k as u32), base),
                _ => self.ir.boolean(k != 0),
            });
        }
        Ok(self.stack(&items, &Type::scalar(base)))
    }

    /// A number whose value is known, as a literal.
    pub(crate) fn known_number(&mut self, e: ExprId, span: Span) -> Res<ExprId> {
        if self.ir.is_literal(e) {
            return Ok(e);
        }
        match self.try_const(e) {
            Some(value) => {
                let base = self.ir.base(e);
                self.value_node(&value, base, span)
            }
            None => Ok(e),
        }
    }

    fn range_dim(&mut self, start: ExprId, step: Option<ExprId>, stop: ExprId) -> Dim {
        let mut bound = |e: ExprId| match self.ir.as_number(e) {
            Some(x) => Some(x),
            None => self.try_const(e).and_then(|v| v.as_f64()),
        };
        // `1:n` with `n` a size of unknown value stays unknown; the order of questions avoids work in functions.
        let Some(b) = bound(stop) else {
            return Dim::Unknown;
        };
        let Some(a) = bound(start) else {
            return Dim::Unknown;
        };
        let s = match step {
            None => 1.0,
            Some(s) => match bound(s) {
                Some(s) => s,
                None => return Dim::Unknown,
            },
        };
        match saltus_ir::ops::range_length(a, s, b) {
            Ok(n) => Dim::Known(n as u32),
            Err(_) => Dim::Unknown,
        }
    }
}

pub(crate) fn binary_text(op: ast::BinaryOp) -> &'static str {
    use ast::BinaryOp as O;
    match op {
        O::Add => "+",
        O::Sub => "-",
        O::Mul => "*",
        O::Div => "/",
        O::Pow => "^",
        O::ElemAdd => ".+",
        O::ElemSub => ".-",
        O::ElemMul => ".*",
        O::ElemDiv => "./",
        O::ElemPow => ".^",
        O::Lt => "<",
        O::Le => "<=",
        O::Gt => ">",
        O::Ge => ">=",
        O::Eq => "==",
        O::Ne => "<>",
        O::And => "and",
        O::Or => "or",
    }
}

fn unary_text(op: ast::UnaryOp) -> &'static str {
    match op {
        ast::UnaryOp::Minus => "-",
        ast::UnaryOp::Plus => "+",
        ast::UnaryOp::Not => "not",
        ast::UnaryOp::ElemMinus => ".-",
        ast::UnaryOp::ElemPlus => ".+",
    }
}

/// The element of an operator record that defines the operator.
fn operator_name(op: ast::BinaryOp) -> &'static str {
    use ast::BinaryOp as O;
    match op {
        O::Add | O::ElemAdd => "'+'",
        O::Sub | O::ElemSub => "'-'",
        O::Mul | O::ElemMul => "'*'",
        O::Div | O::ElemDiv => "'/'",
        O::Pow | O::ElemPow => "'^'",
        O::Lt => "'<'",
        O::Le => "'<='",
        O::Gt => "'>'",
        O::Ge => "'>='",
        O::Eq => "'=='",
        O::Ne => "'<>'",
        O::And => "'and'",
        O::Or => "'or'",
    }
}
