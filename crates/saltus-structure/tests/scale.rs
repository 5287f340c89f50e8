//! Every pass on generated models: time grows in proportion to the number of equations.
//!
//! The default is small; `SALTUS_SCALE=100000` measures a model of that many equations and prints to the test's output.

use saltus_ir::flat::*;
use saltus_ir::{Base, Builtin, Expr, ExprId, FlatModel, Ir, VarId};
use saltus_structure::structure;
use saltus_syntax::{FileId, Name, Span};
use std::time::Instant;

struct Builder {
    flat: FlatModel,
}

impl Builder {
    fn new() -> Builder {
        let span = Span::new(FileId(0), 0, 0);
        Builder {
            flat: FlatModel {
                name: Name::new("Generated"),
                description: String::new(),
                span,
                ir: Ir::default(),
                variables: Default::default(),
                equations: Vec::new(),
                initial_equations: Vec::new(),
                whens: Vec::new(),
                algorithms: Vec::new(),
                initial_algorithms: Vec::new(),
                asserts: Vec::new(),
                partitions: Vec::new(),
                experiment: Experiment::default(),
            },
        }
    }

    fn real(&mut self, name: String) -> (VarId, ExprId) {
        let id = self.flat.variables.push(Variable::new(
            Name::new(&name),
            Base::Real,
            Variability::Continuous,
            self.flat.span,
        ));
        (id, self.flat.ir.var(id, Base::Real))
    }

    fn equation(&mut self, lhs: ExprId, rhs: ExprId) {
        let origin = Origin {
            span: self.flat.span,
            component: Name::new(""),
        };
        self.flat.equations.push(Equation { lhs, rhs, origin });
    }

    fn der(&mut self, x: ExprId) -> ExprId {
        self.flat
            .ir
            .add_scalar(Expr::Builtin(Builtin::Der, Box::new([x])), Base::Real)
    }
}

/// R-L-C ladder with pins: about 13 equations per rung.
fn ladder(rungs: usize) -> FlatModel {
    let mut b = Builder::new();
    let (_, mut before_v) = b.real("u".into());
    let time = b.flat.ir.time();
    b.equation(before_v, time);
    let mut before_i: Option<ExprId> = None;
    let zero = b.flat.ir.real(0.0);
    for k in 0..rungs {
        let var = |b: &mut Builder, name: &str| b.real(format!("{name}[{k}]")).1;
        let (rpv, rnv, rpi, rni) = (
            var(&mut b, "r.p.v"),
            var(&mut b, "r.n.v"),
            var(&mut b, "r.p.i"),
            var(&mut b, "r.n.i"),
        );
        let (cpv, cnv, cpi, cni) = (
            var(&mut b, "c.p.v"),
            var(&mut b, "c.n.v"),
            var(&mut b, "c.p.i"),
            var(&mut b, "c.n.i"),
        );
        let (rv, cv) = (var(&mut b, "r.v"), var(&mut b, "c.v"));
        b.equation(rpv, before_v);
        if let Some(i) = before_i {
            // Current leaving the node before.
            let sum = b.flat.ir.add_(i, rpi);
            b.equation(sum, zero);
        }
        let drop = b.flat.ir.sub(rpv, rnv);
        b.equation(rv, drop);
        let sum = b.flat.ir.add_(rpi, rni);
        b.equation(sum, zero);
        let ten = b.flat.ir.real(10.0);
        let ri = b.flat.ir.mul(ten, rpi);
        b.equation(rv, ri);
        let drop = b.flat.ir.sub(cpv, cnv);
        b.equation(cv, drop);
        let sum = b.flat.ir.add_(cpi, cni);
        b.equation(sum, zero);
        let d = b.der(cv);
        b.equation(d, cpi);
        b.equation(cnv, zero);
        b.equation(rnv, cpv);
        let (_, rest) = b.real(format!("rest[{k}]"));
        let sum = b.flat.ir.add_(rni, cpi);
        let sum = b.flat.ir.add_(sum, rest);
        b.equation(sum, zero);
        before_v = cpv;
        before_i = Some(b.flat.ir.neg(rest));
        if k + 1 == rungs {
            b.equation(rest, zero);
        }
    }
    b.flat
}

/// A resistor network without states: one large linear block.
fn network(n: usize) -> FlatModel {
    let mut b = Builder::new();
    let (_, first) = b.real("v[0]".into());
    let time = b.flat.ir.time();
    b.equation(first, time);
    let mut nodes = vec![first];
    for k in 1..n {
        nodes.push(b.real(format!("v[{k}]")).1);
    }
    for k in 1..n {
        let left = b.flat.ir.sub(nodes[k - 1], nodes[k]);
        let right = if k + 1 < n {
            b.flat.ir.sub(nodes[k], nodes[k + 1])
        } else {
            nodes[k]
        };
        b.equation(left, right);
    }
    b.flat
}

/// One sum of all currents.
fn star(n: usize) -> FlatModel {
    let mut b = Builder::new();
    let (_, v) = b.real("v".into());
    let mut sum = b.flat.ir.real(0.0);
    for k in 0..n {
        let (_, i) = b.real(format!("i[{k}]"));
        let (_, x) = b.real(format!("x[{k}]"));
        let drop = b.flat.ir.sub(v, x);
        b.equation(i, drop);
        let d = b.der(x);
        b.equation(d, i);
        sum = b.flat.ir.add_(sum, i);
    }
    let zero = b.flat.ir.real(0.0);
    b.equation(sum, zero);
    b.flat
}

fn n_equations() -> usize {
    std::env::var("SALTUS_SCALE")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(2_000)
}

fn measure(name: &str, flat: FlatModel) {
    let n = flat.equations.len();
    let start = Instant::now();
    let system = structure(flat).expect("structured");
    eprintln!(
        "{name}: {n} equations, {} states, {:.3} s",
        system.states.len(),
        start.elapsed().as_secs_f64()
    );
    assert_eq!(system.n_equations, n);
}

#[test]
fn ladders_take_time_in_proportion() {
    measure("ladder", ladder(n_equations() / 11));
}

#[test]
fn a_chain_of_equations_is_one_block() {
    measure("network", network(n_equations()));
}

#[test]
fn a_long_sum_is_handled() {
    measure("star", star(n_equations() / 2));
}
