//! Blocks of few linear equations, solved by straight code: matrices of small integers, rows and columns scaled by powers of two, so
//! that determinant and right sides are known exactly.

use crate::builder::{Builder, Run, origin};
use proptest::prelude::*;
use saltus_codegen::Execution;
use saltus_ir::BinaryOp;
use saltus_model::{BlockId, Instance, System};
use saltus_structure::{Block, Coefficients, Direct, Role, Step};

/// Largest error of a solution in units of the smallest step of |x|. A regular 3 × 3 matrix of integers up to 9 has a determinant of at
/// least 1 and entries of its adjugate up to 2·81, so a condition number up to 3·9·3·162; times the largest |x| = 9 and a growth of 4 in
/// elimination (Wilkinson's bound 2ⁿ⁻¹).
const ERROR_MAX: f64 = (3.0 * 9.0) * (3.0 * 162.0) * 9.0 * 4.0 * f64::EPSILON;

/// `a[i][j]*x[j] + … = b[i]` with parameters, and `sum` of the unknowns as an inner assignment.
fn system(n: usize, execution: Execution) -> Run {
    let mut b = Builder::new();
    let matrix: Vec<_> = (0..n * n)
        .map(|k| b.parameter(&format!("a{k}"), 1.0))
        .collect();
    let rhs: Vec<_> = (0..n).map(|k| b.parameter(&format!("b{k}"), 1.0)).collect();
    let unknowns: Vec<_> = (0..n)
        .map(|k| b.real(&format!("x{k}"), Role::Algebraic))
        .collect();
    let twice = b.real("twice", Role::Algebraic);
    let (two, last) = (b.number(2.0), b.get(unknowns[n - 1]));
    let inner = b.binary(BinaryOp::Mul, two, last);
    let inner = vec![b.assignment(twice, inner)];
    let residuals = (0..n)
        .map(|i| {
            let terms: Vec<_> = (0..n)
                .map(|j| {
                    let (a, x) = (b.get(matrix[i * n + j]), b.get(unknowns[j]));
                    b.binary(BinaryOp::Mul, a, x)
                })
                .collect();
            let right = b.get(rhs[i]);
            let sum = (terms.into_iter())
                .reduce(|s, t| b.binary(BinaryOp::Add, s, t))
                .expect("a term");
            (b.binary(BinaryOp::Sub, sum, right), origin())
        })
        .collect();
    let direct = Direct {
        matrix: matrix.iter().map(|&v| b.get(v)).collect(),
        rhs: rhs.iter().map(|&v| b.get(v)).collect(),
        n_before: 0,
        divides: false,
    };
    b.system.event.push(Step::Block(Block {
        unknowns,
        inner,
        residuals,
        discrete: Vec::new(),
        linear: true,
        coefficients: Coefficients::Varying,
        direct: Some(direct),
    }));
    Run::new(b.compile().model.with_execution(execution), &[])
}

/// Of an n × n matrix, by permutations.
fn determinant(a: &[i64], n: usize) -> i64 {
    match n {
        1 => a[0],
        2 => a[0] * a[3] - a[1] * a[2],
        _ => {
            let minor = |i: usize, j: usize| a[3 + i] * a[6 + j] - a[3 + j] * a[6 + i];
            a[0] * minor(1, 2) - a[1] * minor(0, 2) + a[2] * minor(0, 1)
        }
    }
}

struct Case {
    n: usize,
    a: Vec<i64>,
    x: Vec<i64>,
    row: Vec<i32>,
    column: Vec<i32>,
}

fn case() -> impl Strategy<Value = Case> {
    (1usize..=3).prop_flat_map(|n| {
        let entry = prop_oneof![Just(0i64), -9i64..=9];
        (
            prop::collection::vec(entry, n * n),
            prop::collection::vec(-9i64..=9, n),
            prop::collection::vec(-40i32..=40, n),
            prop::collection::vec(-40i32..=40, n),
        )
            .prop_map(move |(a, x, row, column)| Case {
                n,
                a,
                x,
                row,
                column,
            })
    })
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Case { a, x, .. } = self;
        write!(
            f,
            "{a:?}·{x:?}, rows 2^{:?}, columns 2^{:?}",
            self.row, self.column
        )
    }
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("SALTUS_CASES").map_or(2000, |n| n.parse().expect("a number"));
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

#[test]
fn straight_code_solves_every_regular_system_and_no_singular_one() {
    let runs: Vec<[Run; 2]> = (1..=3)
        .map(|n| [Execution::Interpreted, Execution::Native].map(|e| system(n, e)))
        .collect();
    let mut runner = proptest::test_runner::TestRunner::new(cases());
    let outcome = runner.run(&case(), |case| {
        let n = case.n;
        let scaled = |k: i64, e: i32| k as f64 * f64::from(e).exp2();
        let mut found = Vec::new();
        for run in &runs[n - 1] {
            let mut values = run.values.clone();
            for i in 0..n {
                for j in 0..n {
                    let entry = scaled(case.a[i * n + j], case.row[i] + case.column[j]);
                    values.set(run.slot(&format!("a{}", i * n + j)), entry);
                }
                let b = (0..n).map(|j| case.a[i * n + j] * case.x[j]).sum();
                values.set(run.slot(&format!("b{i}")), scaled(b, case.row[i]));
            }
            let system = run.instance.system(&values);
            let solved = system.solve_directly(BlockId(0), &mut values);
            let regular = determinant(&case.a, n) != 0;
            prop_assert_eq!(solved, Ok(regular));
            if regular {
                for j in 0..n {
                    let x = values.get(run.slot(&format!("x{j}")));
                    let (exact, unit) = (
                        scaled(case.x[j], -case.column[j]),
                        scaled(1, -case.column[j]),
                    );
                    prop_assert!(
                        (x - exact).abs() <= ERROR_MAX * unit,
                        "x{}: {} not {}",
                        j,
                        x,
                        exact
                    );
                }
                let last = values.get(run.slot(&format!("x{}", n - 1)));
                prop_assert_eq!(values.get(run.slot("twice")), 2.0 * last);
            }
            found.push(values.v.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
        }
        prop_assert_eq!(&found[0], &found[1], "machine code and interpreter differ");
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}
