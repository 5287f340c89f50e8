//! Machine code against the interpreter: random systems at random points, compared bit by bit, faults included.

use crate::builder::{Builder, Run, origin};
use saltus_codegen::Execution;
use saltus_ir::{BinaryOp, Builtin, ExprId, VarId};
use saltus_model::{BlockId, Fault, Instance, ScheduleKind, Section, System, Values};
use saltus_structure::{Block, Coefficients, Role, Step};

/// Random systems; `SALTUS_CASES` asks for more.
const CASES: u64 = 2000;
/// Points at which each is evaluated.
const POINTS: usize = 7;

/// SplitMix64 (Steele, Lea, Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Mostly ordinary numbers, some that are special to a function or to the arithmetic.
    pub(crate) fn number(&mut self) -> f64 {
        const SPECIAL: [f64; 10] = [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -2.0, 0.5, 1e200, -1e-200];
        match self.below(4) {
            0 => SPECIAL[self.below(SPECIAL.len())],
            _ => (self.next() >> 11) as f64 / (1u64 << 53) as f64 * 4.0 - 1.0,
        }
    }
}

pub(crate) const FUNCTIONS: [Builtin; 18] = [
    Builtin::Abs,
    Builtin::Sign,
    Builtin::Sqrt,
    Builtin::Sin,
    Builtin::Cos,
    Builtin::Tan,
    Builtin::Asin,
    Builtin::Acos,
    Builtin::Atan,
    Builtin::Sinh,
    Builtin::Cosh,
    Builtin::Tanh,
    Builtin::Exp,
    Builtin::Log,
    Builtin::Log10,
    Builtin::Ceil,
    Builtin::Floor,
    Builtin::Integer,
];
const FUNCTIONS_OF_TWO: [Builtin; 6] = [
    Builtin::Atan2,
    Builtin::Min,
    Builtin::Max,
    Builtin::Div,
    Builtin::Mod,
    Builtin::Rem,
];

fn expression(b: &mut Builder, r: &mut Random, known: &[VarId], depth: usize) -> ExprId {
    if depth == 0 || r.below(8) == 0 {
        return match r.below(4) {
            0 => {
                let x = r.number();
                b.number(x)
            }
            _ => b.get(known[r.below(known.len())]),
        };
    }
    match r.below(12) {
        0..=5 => {
            let op = [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div][r.below(4)];
            let left = expression(b, r, known, depth - 1);
            let right = expression(b, r, known, depth - 1);
            b.binary(op, left, right)
        }
        6 => {
            let a = expression(b, r, known, depth - 1);
            b.minus(a)
        }
        7 => {
            let a = expression(b, r, known, depth - 1);
            b.fun(FUNCTIONS[r.below(FUNCTIONS.len())], &[a])
        }
        8 => {
            let left = expression(b, r, known, depth - 1);
            let right = expression(b, r, known, depth - 1);
            let f = FUNCTIONS_OF_TWO[r.below(FUNCTIONS_OF_TWO.len())];
            b.fun(f, &[left, right])
        }
        9 => {
            let base = expression(b, r, known, depth - 1);
            let exponent = match r.below(3) {
                0 => expression(b, r, known, depth - 1),
                _ => {
                    let x = r.number();
                    b.number(x)
                }
            };
            b.binary(BinaryOp::Pow, base, exponent)
        }
        _ => {
            let c = condition(b, r, known, depth - 1);
            let then = expression(b, r, known, depth - 1);
            let other = expression(b, r, known, depth - 1);
            b.cond(c, then, other)
        }
    }
}

fn condition(b: &mut Builder, r: &mut Random, known: &[VarId], depth: usize) -> ExprId {
    use BinaryOp::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
    if depth == 0 || r.below(3) > 0 {
        let left = expression(b, r, known, depth.saturating_sub(1));
        let right = expression(b, r, known, depth.saturating_sub(1));
        return b.binary([Lt, Le, Gt, Ge, Eq, Ne][r.below(6)], left, right);
    }
    let left = condition(b, r, known, depth - 1);
    if r.below(3) == 0 {
        return b.not(left);
    }
    let right = condition(b, r, known, depth - 1);
    b.binary([And, Or][r.below(2)], left, right)
}

/// One block with inner assignments, then outputs; as many as `size` says.
fn system(r: &mut Random, size: usize) -> (Run, usize) {
    let mut b = Builder::new();
    let n = [1, 1, 2, 2, 3, 4, 5, 9][r.below(8)];
    let mut known: Vec<VarId> = (0..3).map(|k| b.parameter(&format!("p{k}"), 0.5)).collect();
    let unknowns: Vec<VarId> = (0..n)
        .map(|k| b.real(&format!("x{k}"), Role::Algebraic))
        .collect();
    known.extend(&unknowns);
    let mut inner = Vec::new();
    for k in 0..r.below(size) {
        let value = expression(&mut b, r, &known, 3);
        let var = b.real(&format!("i{k}"), Role::Algebraic);
        inner.push(b.assignment(var, value));
        known.push(var);
    }
    let residuals = (0..n)
        .map(|_| (expression(&mut b, r, &known, 3), origin()))
        .collect();
    b.system.event.push(Step::Block(Block {
        unknowns,
        inner,
        residuals,
        discrete: Vec::new(),
        linear: false,
        coefficients: Coefficients::Varying,
        direct: None,
    }));
    for k in 0..r.below(size) {
        let value = expression(&mut b, r, &known, 4);
        let var = b.real(&format!("y{k}"), Role::Algebraic);
        b.output(var, value);
        known.push(var);
    }
    (b.compile(), n)
}

/// Everything that came out of one evaluation, as bits.
#[derive(PartialEq, Debug)]
struct Outcome {
    residual: Result<Vec<u64>, Fault>,
    jacobian: Result<(bool, Vec<u64>), Fault>,
    outputs: Result<(), Fault>,
    slots: Vec<u64>,
}

/// NaNs are all alike: which one comes out is not defined.
pub(crate) fn bits(x: &[f64]) -> Vec<u64> {
    let one = |x: &f64| if x.is_nan() { f64::NAN } else { *x }.to_bits();
    x.iter().map(one).collect()
}

fn evaluate(system: &impl System, mut values: Values, n: usize) -> Outcome {
    let (mut residual, mut jacobian) = (vec![0.0; n], vec![0.0; n * n]);
    let block = BlockId(0);
    let status = system.residual(block, &mut values, &mut residual);
    let exact = system.jacobian(block, &mut values, &mut jacobian);
    let mut outputs = Ok(());
    for section in system.schedule(ScheduleKind::Outputs) {
        if let Section::Explicit(code) = section {
            outputs = system.run(*code, &mut values);
        }
    }
    Outcome {
        residual: status.map(|()| bits(&residual)),
        jacobian: exact.map(|exact| (exact, bits(&jacobian))),
        outputs,
        slots: bits(&values.v),
    }
}

fn compare(seed: u64, size: usize) {
    let mut r = Random(seed);
    let (run, n) = system(&mut r, size);
    let with = |execution| Run::new(run.model.clone().with_execution(execution), &[]);
    let (interpreted, native) = (with(Execution::Interpreted), with(Execution::Native));
    for point in 0..POINTS {
        let mut values = interpreted.values.clone();
        for x in &mut values.v[1..] {
            *x = r.number();
        }
        let expected = evaluate(interpreted.instance.system(&values), values.clone(), n);
        let found = evaluate(native.instance.system(&values), values, n);
        assert_eq!(found, expected, "seed {seed}, point {point}");
    }
}

#[test]
fn machine_code_gives_the_bits_of_the_interpreter() {
    let cases = std::env::var("SALTUS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    for seed in 0..cases {
        compare(seed, 4);
    }
}

#[test]
fn so_does_code_that_is_cut_into_several_functions() {
    for seed in 0..3 {
        compare(seed, 1500);
    }
}
