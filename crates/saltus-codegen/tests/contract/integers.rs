//! Integer expressions against arithmetic on 128 bits in which every result must fit 64: interpreted and as machine code.

use crate::builder::{Builder, Run};
use crate::native::Random;
use saltus_codegen::Execution;
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, UnaryOp, VarId};
use saltus_model::{FaultKind, Instance, ScheduleKind, Section, System, Values};
use saltus_structure::Role;

/// Random expressions; `SALTUS_CASES` asks for more.
const CASES: u64 = 2000;
/// Points at which each is evaluated.
const POINTS: usize = 5;
const VARIABLES: usize = 3;

/// A random expression as it is meant.
enum Tree {
    Literal(i64),
    Variable(usize),
    Negated(Box<Tree>),
    Binary(BinaryOp, Box<Tree>, Box<Tree>),
    Function(Builtin, Vec<Tree>),
    /// Of a Real that is this many times the variable.
    Floor(f64, usize),
    If(Box<(BinaryOp, Tree, Tree)>, Box<Tree>, Box<Tree>),
}

const RELATIONS: [BinaryOp; 6] = {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
    [Lt, Le, Gt, Ge, Eq, Ne]
};

impl Tree {
    fn random(r: &mut Random, depth: usize) -> Tree {
        if depth == 0 || r.below(8) == 0 {
            return match r.below(3) {
                0 => Tree::Literal(integer(r)),
                _ => Tree::Variable(r.below(VARIABLES)),
            };
        }
        let mut next = || Tree::random(r, depth - 1);
        let (a, b) = (next(), next());
        match r.below(12) {
            0..=4 => {
                let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul][r.below(3)];
                Tree::Binary(op, Box::new(a), Box::new(b))
            }
            5 => Tree::Negated(Box::new(a)),
            6..=7 => {
                let f = [Builtin::Div, Builtin::Mod, Builtin::Rem][r.below(3)];
                Tree::Function(f, vec![a, b])
            }
            8 => Tree::Function([Builtin::Min, Builtin::Max][r.below(2)], vec![a, b]),
            9 => Tree::Function([Builtin::Abs, Builtin::Sign][r.below(2)], vec![a]),
            10 => {
                let scale = [0.5, -0.25, 1e10, 1e300][r.below(4)];
                Tree::Floor(scale, r.below(VARIABLES))
            }
            _ => {
                let op = RELATIONS[r.below(6)];
                let condition = (op, Tree::random(r, depth - 1), Tree::random(r, depth - 1));
                Tree::If(Box::new(condition), Box::new(a), Box::new(b))
            }
        }
    }

    fn build(&self, b: &mut Builder, variables: &[VarId]) -> ExprId {
        let expr = match self {
            Tree::Literal(n) => Expr::Integer(*n),
            Tree::Variable(k) => return b.get(variables[*k]),
            Tree::Negated(a) => Expr::Unary(UnaryOp::Neg, a.build(b, variables)),
            Tree::Binary(op, x, y) => {
                let (x, y) = (x.build(b, variables), y.build(b, variables));
                Expr::Binary(*op, x, y)
            }
            Tree::Function(f, args) => {
                let args: Vec<ExprId> = args.iter().map(|a| a.build(b, variables)).collect();
                Expr::Builtin(*f, args.into())
            }
            Tree::Floor(scale, k) => {
                let (scale, variable) = (b.number(*scale), b.get(variables[*k]));
                let x = b.binary(BinaryOp::Mul, scale, variable);
                Expr::Builtin(Builtin::Integer, Box::new([x]))
            }
            Tree::If(condition, t, f) => {
                let (op, x, y) = &**condition;
                let (x, y) = (x.build(b, variables), y.build(b, variables));
                let c = b.binary(*op, x, y);
                let (t, f) = (t.build(b, variables), f.build(b, variables));
                Expr::If(c, t, f)
            }
        };
        b.ir().add_scalar(expr, Base::Integer)
    }

    /// `None`: a result does not fit, or a divisor is zero.
    fn value(&self, v: &[i64]) -> Option<i128> {
        let n = match self {
            Tree::Literal(n) => i128::from(*n),
            Tree::Variable(k) => i128::from(v[*k]),
            Tree::Negated(a) => -a.value(v)?,
            Tree::Binary(op, a, b) => {
                let (a, b) = (a.value(v)?, b.value(v)?);
                match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Sub => a - b,
                    _ => a * b,
                }
            }
            Tree::Function(f, args) => {
                let a = args[0].value(v)?;
                let b = match args.get(1) {
                    Some(b) => b.value(v)?,
                    None => 1,
                };
                match f {
                    Builtin::Min => a.min(b),
                    Builtin::Max => a.max(b),
                    Builtin::Abs => a.abs(),
                    Builtin::Sign => a.signum(),
                    _ if b == 0 => return None,
                    Builtin::Div => a / b,
                    Builtin::Rem => a % b,
                    _ => a - b * (a / b - i128::from(a % b != 0 && (a % b < 0) != (b < 0))),
                }
            }
            Tree::Floor(scale, k) => {
                let x = (scale * v[*k] as f64).floor();
                // Doubles of this size are Integers of 128 bits.
                if x.abs() > 1e30 {
                    return None;
                }
                x as i128
            }
            Tree::If(condition, t, f) => {
                let (op, a, b) = &**condition;
                if holds(*op, a.value(v)?, b.value(v)?) {
                    t.value(v)?
                } else {
                    f.value(v)?
                }
            }
        };
        i64::try_from(n).ok().map(i128::from)
    }
}

fn holds(op: BinaryOp, a: i128, b: i128) -> bool {
    match op {
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        BinaryOp::Eq => a == b,
        _ => a != b,
    }
}

/// Small ones, ones around 2^31 and 2^53, and the ends of the range.
fn integer(r: &mut Random) -> i64 {
    const SPECIAL: [i64; 8] = [
        0,
        1,
        -1,
        (1 << 53) - 1,
        (1 << 53) + 1,
        1 << 62,
        i64::MAX,
        i64::MIN,
    ];
    match r.below(4) {
        0 => SPECIAL[r.below(SPECIAL.len())],
        1 => (r.next() >> 32) as i64 - (1 << 31),
        _ => r.below(40) as i64 - 10,
    }
}

/// What a variable can hold.
fn is_held(n: i128) -> bool {
    let x = n as f64;
    x as i128 == n
}

fn outputs(run: &Run, mut values: Values) -> Result<Vec<f64>, FaultKind> {
    let system = run.instance.system(&values);
    for section in system.schedule(ScheduleKind::Outputs) {
        if let Section::Explicit(code) = section {
            system.run(*code, &mut values).map_err(|fault| fault.kind)?;
        }
    }
    Ok(values.v)
}

fn check(seed: u64) {
    let mut r = Random(seed);
    let (kept, other) = (Tree::random(&mut r, 4), Tree::random(&mut r, 3));
    let op = RELATIONS[r.below(6)];
    for target in [Base::Integer, Base::Real, Base::Boolean] {
        let mut b = Builder::new();
        let variables: Vec<VarId> = (0..VARIABLES)
            .map(|k| b.var(&format!("n{k}"), Base::Integer, Role::Discrete))
            .collect();
        let result = b.var("result", target, Role::Algebraic);
        let value = kept.build(&mut b, &variables);
        let value = if target == Base::Boolean {
            let other = other.build(&mut b, &variables);
            b.binary(op, value, other)
        } else {
            value
        };
        b.output(result, value);
        let model = b.compile().model;
        let runs = [Execution::Interpreted, Execution::Native].map(|execution| {
            (
                execution,
                Run::new(model.clone().with_execution(execution), &[]),
            )
        });
        for _ in 0..POINTS {
            let mut v = [0i64; VARIABLES];
            for n in &mut v {
                *n = loop {
                    let n = integer(&mut r);
                    if is_held(i128::from(n)) {
                        break n;
                    }
                };
            }
            let expected = kept.value(&v).and_then(|n| match target {
                Base::Integer => is_held(n).then_some(n as f64),
                Base::Real => Some(n as f64),
                _ => other
                    .value(&v)
                    .map(|m| f64::from(u8::from(holds(op, n, m)))),
            });
            for (execution, run) in &runs {
                let mut values = run.values.clone();
                for (slot, n) in (1..).zip(v) {
                    values.v[slot] = n as f64;
                }
                let found = outputs(run, values).map(|v| v[1 + VARIABLES]);
                match (&found, expected) {
                    (Ok(x), Some(y)) if *x == y => {}
                    (Err(FaultKind::IntegerOverflow(_) | FaultKind::Domain { .. }), None) => {}
                    _ => panic!(
                        "seed {seed}, {execution:?}, {target:?}, {v:?}: found {found:?}, expected {expected:?}"
                    ),
                }
            }
        }
    }
}

#[test]
fn integers_are_exact_or_an_error() {
    let cases = std::env::var("SALTUS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    for seed in 0..cases {
        check(seed);
    }
}
