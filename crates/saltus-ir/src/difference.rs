//! Derivatives by difference quotients, where symbols cannot go (paper 001, section 2.2).
//!
//! Comes in: a function that has neither a derivative annotation that applies nor a body that could be differentiated (an external function, an iteration
//! that ends when it is good enough). Goes out: another function, of the same arguments a and of their rates w, which calls the first one beside a,
//! on the line that the motion follows in first order:
//!
//! f'(a)[w] = (f(a - 2hw) - 8 f(a - hw) + 8 f(a + hw) - f(a + 2hw)) / (12 h) + O(h⁴),
//! f''(a)[w, w] = (-f(a - 2hw) + 16 f(a - hw) - 30 f(a) + 16 f(a + hw) - f(a + 2hw)) / (12 h²) + O(h⁴),
//!
//! with h = η / max_k(|w_k| / max(|a_k|, 1)), so that no argument moves by more than 2η of its size. Where w is zero, h = η, and f'(a)[w] is the central difference, which can be differentiated along w. η balances the error of the formula against that of the
//! values, about ε: η⁵ = ε for the first, η⁶ = ε for the second. The derivative of f'(a)[w] is f''(a)[w, a'] + f'(a)[w'],
//! where f''(a)[w, u] = (f''(a)[w + u, w + u] - f''(a)[w - u, w - u]) / 4 unless w = u, as it is along a motion. There are no third derivatives:
//! with twice differentiated equations three is the highest index, as in the paper.

use crate::func::{
    DerivativeRule, Function, FunctionBody, Inline, Local, Place, Statement, StatementKind, Target,
};
use crate::{Base, BinaryOp, Builtin, Expr, ExprId, FuncId, Ir, LocalId, Type};
use saltus_syntax::Name;

/// Begins the names of functions made here; no name of a model does.
const PREFIX: &str = "$difference";

/// η⁵ = ε.
const STEP_FIRST: f64 = 7.4e-4;
/// η⁶ = ε.
const STEP_SECOND: f64 = 2.5e-3;

/// Weights at -2, -1, 0, 1, 2 steps, over 12 times the step, or its square.
const FIRST: [f64; 5] = [1.0, -8.0, 0.0, 8.0, -1.0];
const SECOND: [f64; 5] = [-1.0, 16.0, -30.0, 16.0, -1.0];

impl Function {
    /// Its values are difference quotients.
    pub fn is_difference(&self) -> bool {
        self.name.as_str().starts_with(PREFIX)
    }
}

/// The rule by which an output of a function, a Real number or an array of them, is differentiated by differences; `None` if it has no Real arguments, an
/// effect, or is a quotient itself. Records must be constant.
pub(crate) fn difference_rule(
    ir: &mut Ir,
    function: FuncId,
    output: usize,
) -> Option<DerivativeRule> {
    let f = &ir.functions[function];
    let real = |ir: &Ir, local: LocalId| ir.type_of_id(ir.locals[local].ty).base == Base::Real;
    let result = *f.outputs.get(output)?;
    let callable = matches!(
        f.body,
        FunctionBody::Algorithm(_) | FunctionBody::External(_)
    );
    if !callable || f.impure || f.is_difference() || !real(ir, result) {
        return None;
    }
    let varied: Vec<usize> = (0..f.inputs.len())
        .filter(|&k| real(ir, f.inputs[k]))
        .collect();
    if varied.is_empty() {
        return None;
    }
    let constant: Vec<u32> = (0..f.inputs.len())
        .filter(|&k| {
            let base = ir.type_of_id(ir.locals[f.inputs[k]].ty).base;
            matches!(base, Base::Record(_))
        })
        .map(|k| k as u32)
        .collect();
    let rule = |function: FuncId| DerivativeRule {
        function,
        order: 1,
        no_derivative: Vec::new(),
        zero_derivative: constant.clone(),
    };
    let name = Name::new(&format!("{PREFIX}({}, {output})", f.name));
    if let Some((known, _)) = ir.functions.iter().find(|(_, f)| f.name == name) {
        return Some(rule(known));
    }
    let original = Original {
        function,
        output,
        varied,
    };
    let first = original.quotient(ir, name, 1);
    let name = Name::new(&format!(
        "{PREFIX}2({}, {output})",
        ir.functions[function].name
    ));
    let second = original.quotient(ir, name, 2);
    let derivative = original.derivative_of_first(ir, first, second);
    // Of its inputs those of the original that must be constant stay so.
    let along = rule(derivative);
    ir.functions[first].derivatives.push(along);
    Some(rule(first))
}

/// The function that is differentiated.
struct Original {
    function: FuncId,
    output: usize,
    /// Inputs that are Real numbers or arrays of them.
    varied: Vec<usize>,
}

impl Original {
    /// New inputs like those of the original.
    fn inputs(&self, ir: &mut Ir) -> Vec<LocalId> {
        let inputs = ir.functions[self.function].inputs.clone();
        inputs
            .into_iter()
            .map(|input| {
                let name = ir.locals[input].name;
                self.like(ir, input, name)
            })
            .collect()
    }

    /// A new local of the type of another; sizes are those of the arguments.
    fn like(&self, ir: &mut Ir, other: LocalId, name: Name) -> LocalId {
        let old = ir.locals[other].clone();
        let mut ty = ir.type_of_id(old.ty).clone();
        ty.dims.fill(crate::Dim::Unknown);
        let dims = vec![None; ty.dims.len()];
        let ty = ir.intern_type(ty);
        ir.locals.push(Local {
            name,
            ty,
            dims,
            default: None,
            unit: None,
            ..old
        })
    }

    /// A new result.
    fn result(&self, ir: &mut Ir) -> LocalId {
        let output = ir.functions[self.function].outputs[self.output];
        self.like(ir, output, Name::new("result"))
    }

    /// A new local for the rate of each that varies.
    fn rates(&self, ir: &mut Ir, prefix: &str) -> Vec<LocalId> {
        let inputs = ir.functions[self.function].inputs.clone();
        (self.varied.iter())
            .map(|&k| {
                let name = Name::new(&format!("{prefix}_{}", ir.locals[inputs[k]].name));
                self.like(ir, inputs[k], name)
            })
            .collect()
    }

    fn number(&self, ir: &mut Ir, name: &str) -> LocalId {
        let span = ir.functions[self.function].span;
        let ty = ir.intern_type(Type::scalar(Base::Real));
        ir.locals.push(Local {
            name: Name::new(name),
            ty,
            dims: Vec::new(),
            default: None,
            span,
            unit: None,
        })
    }

    fn add(
        &self,
        ir: &mut Ir,
        name: Name,
        inputs: Vec<LocalId>,
        outputs: Vec<LocalId>,
        protected: Vec<LocalId>,
        body: Vec<Statement>,
    ) -> FuncId {
        let span = ir.functions[self.function].span;
        ir.functions.push(Function {
            name,
            span,
            inputs,
            outputs,
            protected,
            body: FunctionBody::Algorithm(body),
            inline: Inline::Never,
            impure: false,
            derivatives: Vec::new(),
        })
    }

    fn assign(&self, ir: &Ir, local: LocalId, value: ExprId) -> Statement {
        self.statement(
            ir,
            StatementKind::Assign {
                target: Target {
                    place: Place::Local(local),
                    access: Vec::new(),
                },
                value,
            },
        )
    }

    fn statement(&self, ir: &Ir, kind: StatementKind) -> Statement {
        Statement {
            kind,
            span: ir.functions[self.function].span,
        }
    }

    /// The original at a + factor·h·w.
    fn beside(
        &self,
        ir: &mut Ir,
        inputs: &[LocalId],
        rates: &[LocalId],
        h: ExprId,
        factor: f64,
    ) -> ExprId {
        let mut args: Vec<ExprId> = inputs.iter().map(|&l| local(ir, l)).collect();
        for (&k, &rate) in self.varied.iter().zip(rates) {
            let (factor, rate) = (ir.real(factor), local(ir, rate));
            let step = ir.mul(factor, h);
            let shift = ir.mul(step, rate);
            args[k] = ir.add_(args[k], shift);
        }
        let outputs = &ir.functions[self.function].outputs;
        let (first, wanted) = (outputs[0], outputs[self.output]);
        let (first, wanted) = (ir.locals[first].ty, ir.locals[wanted].ty);
        let call = Expr::Call {
            function: self.function,
            args: args.into(),
        };
        let call = ir.add(call, first);
        match self.output {
            0 => call,
            output => {
                let index = output as u32;
                ir.add(Expr::Output { call, index }, wanted)
            }
        }
    }

    /// (f(a + hw) - f(a - hw)) / (2h). For w = 0 this is zero without round-off, and its derivative along w is f'(a): an iteration for w that begins at
    /// zero needs it.
    fn central(&self, ir: &mut Ir, inputs: &[LocalId], rates: &[LocalId], h: ExprId) -> ExprId {
        let right = self.beside(ir, inputs, rates, h, 1.0);
        let left = self.beside(ir, inputs, rates, h, -1.0);
        let two = ir.real(2.0);
        let (difference, width) = (ir.sub(right, left), ir.mul(two, h));
        ir.div(difference, width)
    }

    /// f'(a)[w] or f''(a)[w, w].
    fn quotient(&self, ir: &mut Ir, name: Name, order: i32) -> FuncId {
        let (weights, eta) = match order {
            1 => (FIRST, STEP_FIRST),
            _ => (SECOND, STEP_SECOND),
        };
        let inputs = self.inputs(ir);
        let rates = self.rates(ir, "der");
        let (rate, step) = (self.number(ir, "rate"), self.number(ir, "step"));
        let result = self.result(ir);
        let zero = ir.real(0.0);
        let one = ir.real(1.0);
        let mut fastest = zero;
        for (&k, &w) in self.varied.iter().zip(&rates) {
            let (a, w) = (local(ir, inputs[k]), local(ir, w));
            let ty = ir.type_id(a);
            let (a, w) = (absolute(ir, a), absolute(ir, w));
            let size = ir.builtin_typed(Builtin::Max, &[a, one], ty);
            let own = ir.div(w, size);
            fastest = larger(ir, fastest, own);
        }
        let h = local(ir, step);
        let here = self.beside(ir, &inputs, &rates, h, 0.0);
        let nothing = match ir.ty(here).is_scalar() {
            true => zero,
            false => ir.mul(zero, here),
        };
        let mut sum = zero;
        for (k, weight) in weights.into_iter().enumerate() {
            if weight != 0.0 {
                let value = self.beside(ir, &inputs, &rates, h, k as f64 - 2.0);
                let weight = ir.real(weight);
                let term = ir.mul(weight, value);
                sum = ir.add_(sum, term);
            }
        }
        let twelve = ir.real(12.0);
        let mut divisor = ir.mul(twelve, h);
        if order == 2 {
            divisor = ir.mul(divisor, h);
        }
        let quotient = ir.div(sum, divisor);
        let (eta, now) = (ir.real(eta), local(ir, rate));
        let moves = ir.binary(BinaryOp::Gt, now, zero);
        let length = ir.div(eta, now);
        let moving = vec![
            self.assign(ir, step, length),
            self.assign(ir, result, quotient),
        ];
        let at_rest = match order {
            1 => {
                let central = self.central(ir, &inputs, &rates, h);
                vec![self.assign(ir, step, eta), self.assign(ir, result, central)]
            }
            _ => Vec::new(),
        };
        let body = vec![
            self.assign(ir, rate, fastest),
            self.assign(ir, result, nothing),
            self.statement(
                ir,
                StatementKind::If {
                    branches: vec![(moves, moving)],
                    otherwise: at_rest,
                },
            ),
        ];
        let all = inputs.into_iter().chain(rates).collect();
        self.add(ir, name, all, vec![result], vec![rate, step], body)
    }

    /// f''(a)[w, u] + f'(a)[b], the derivative of f'(a)[w] when u is that of a and b that of w.
    fn derivative_of_first(&self, ir: &mut Ir, first: FuncId, second: FuncId) -> FuncId {
        let inputs = self.inputs(ir);
        let w = self.rates(ir, "w");
        let u = self.rates(ir, "der");
        let b = self.rates(ir, "der_w");
        let (distance, result) = (self.number(ir, "distance"), self.result(ir));
        let mut largest = ir.real(0.0);
        for (&w, &u) in w.iter().zip(&u) {
            let (w, u) = (local(ir, w), local(ir, u));
            let difference = ir.sub(w, u);
            let size = absolute(ir, difference);
            largest = larger(ir, largest, size);
        }
        let real = ir.locals[result].ty;
        let call = |ir: &mut Ir, function: FuncId, rates: Vec<ExprId>| {
            let args = inputs.iter().map(|&l| local(ir, l)).collect::<Vec<_>>();
            let args = args.into_iter().chain(rates).collect();
            ir.add(Expr::Call { function, args }, real)
        };
        let rates = |ir: &mut Ir, of: &[LocalId]| -> Vec<ExprId> {
            of.iter().map(|&l| local(ir, l)).collect()
        };
        let (w_now, u_now, b_now) = (rates(ir, &w), rates(ir, &u), rates(ir, &b));
        let along = call(ir, first, b_now);
        let curvature = call(ir, second, w_now.clone());
        let equal = ir.add_(curvature, along);
        let pairs = || w_now.iter().copied().zip(u_now.iter().copied());
        let sums: Vec<ExprId> = pairs().map(|(w, u)| ir.add_(w, u)).collect();
        let differences: Vec<ExprId> = pairs().map(|(w, u)| ir.sub(w, u)).collect();
        let (plus, minus) = (call(ir, second, sums), call(ir, second, differences));
        let four = ir.real(4.0);
        let mixed = ir.sub(plus, minus);
        let mixed = ir.div(mixed, four);
        let mixed = ir.add_(mixed, along);
        let (zero, now) = (ir.real(0.0), local(ir, distance));
        let apart = ir.binary(BinaryOp::Gt, now, zero);
        let body = vec![
            self.assign(ir, distance, largest),
            self.statement(
                ir,
                StatementKind::If {
                    branches: vec![(apart, vec![self.assign(ir, result, mixed)])],
                    otherwise: vec![self.assign(ir, result, equal)],
                },
            ),
        ];
        let name = Name::new(&format!(
            "{PREFIX}1({}, {})",
            ir.functions[self.function].name, self.output
        ));
        let all = inputs.iter().copied().chain(w).chain(u).chain(b).collect();
        self.add(ir, name, all, vec![result], vec![distance], body)
    }
}

fn local(ir: &mut Ir, id: LocalId) -> ExprId {
    let ty = ir.locals[id].ty;
    ir.add(Expr::Local(id), ty)
}

/// |e|, of each element.
fn absolute(ir: &mut Ir, e: ExprId) -> ExprId {
    let ty = ir.type_id(e);
    ir.builtin_typed(Builtin::Abs, &[e], ty)
}

/// The larger of a number and the largest element of another value.
fn larger(ir: &mut Ir, number: ExprId, other: ExprId) -> ExprId {
    let own = match ir.ty(other).is_scalar() {
        true => other,
        false => ir.call_builtin(Builtin::Max, &[other]),
    };
    ir.call_builtin(Builtin::Max, &[number, own])
}
