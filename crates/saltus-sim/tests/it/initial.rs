//! Initial values: Newton, limits, homotopy, linear blocks of any rank, mixed blocks.

use crate::common::{Memory, options, run, try_run};
use saltus_model::{Model, Slot};
use saltus_sim::{NoteRecord, Phase, RunFailure, RunSummary, SimError, SolverName};
use saltus_solve::{LinearReason, NewtonReason, Noted, SolveError};
use saltus_testkit::blocks::{
    SCALAR_UNKNOWN, assertion, complementarity, linear_system, scalar_equation,
};

const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

fn initialise<M: Model>(model: &M) -> (Result<RunSummary, RunFailure>, Memory) {
    try_run(model, &options(0.0, 1e-6, SolverName::Auto))
}

#[test]
fn newton_solves_to_round_off() {
    let (result, memory) = initialise(&scalar_equation(3.0, false, FREE, |u, _| Ok(u * u - 2.0)));
    result.expect("solvable");
    assert!((memory.last(SCALAR_UNKNOWN) - 2.0f64.sqrt()).abs() < 4e-16);
}

#[test]
fn damping_reaches_a_root_that_plain_newton_overshoots() {
    let (result, memory) = initialise(&scalar_equation(
        20.0,
        false,
        FREE,
        |u: f64, _| Ok(u.atan()),
    ));
    result.expect("solvable");
    assert!(memory.last(SCALAR_UNKNOWN).abs() < 1e-12);
}

#[test]
fn limits_choose_between_two_roots_and_yield_when_there_is_none_inside() {
    let roots = |limits| {
        let (result, memory) = initialise(&scalar_equation(1.0, false, limits, |u: f64, _| {
            Ok((u - 10.0) * (u + 0.5))
        }));
        result.expect("solvable");
        memory.last(SCALAR_UNKNOWN)
    };
    assert!(
        (roots((0.0, f64::INFINITY)) - 10.0).abs() < 1e-12
            || (roots((0.0, f64::INFINITY)) + 0.5).abs() < 1e-12
    );
    assert!((roots((0.9, 1.1)) - 10.0).abs() < 1e-12 || (roots((0.9, 1.1)) + 0.5).abs() < 1e-12);
}

#[test]
fn a_domain_error_on_the_way_is_damped_away() {
    let model = scalar_equation(5.0, false, FREE, |u: f64, _| {
        if u > 0.0 {
            Ok(u.ln() + 3.0)
        } else {
            Err(assertion("u > 0"))
        }
    });
    let (result, memory) = initialise(&model);
    result.expect("solvable");
    assert!((memory.last(SCALAR_UNKNOWN) - (-3.0f64).exp()).abs() < 1e-12);
}

#[test]
fn newton_failure_tells_block_unknowns_residuals_and_iterations() {
    let (result, _) = initialise(&scalar_equation(3.0, false, FREE, |u, _| Ok(u * u + 1.0)));
    let failure = result.expect_err("no real root");
    let SimError::Evaluation {
        time,
        phase: Phase::Initial,
        error: SolveError::Newton(newton),
    } = failure.error
    else {
        panic!("{:?}", failure.error)
    };
    assert_eq!(time, 0.0);
    assert_eq!(newton.unknowns[0].0, SCALAR_UNKNOWN);
    assert!(newton.residuals[0].1 >= 1.0);
    assert!(matches!(
        newton.reason,
        NewtonReason::Damping | NewtonReason::Iterations | NewtonReason::Singular { .. }
    ));
}

#[test]
fn homotopy_leads_from_the_simplified_to_the_actual_equations() {
    // The actual equation is not defined where the iteration starts.
    let actual = |u: f64| {
        if u < 0.0 {
            Ok(u * u * u + 8.0)
        } else {
            Err(assertion("u < 0"))
        }
    };
    let model = scalar_equation(2.0, true, FREE, move |u, l| {
        Ok(if l > 0.0 { l * actual(u)? } else { 0.0 } + (1.0 - l) * 5.0 * (u + 2.5))
    });
    let (result, memory) = initialise(&model);
    result.expect("homotopy leads there");
    assert!((memory.last(SCALAR_UNKNOWN) + 2.0).abs() < 1e-12);
    assert_eq!(memory.notes, []);
}

/// Roots of size one with slopes of at least one, solved to round-off with a factor in reserve.
const SOLVED: f64 = 1e-12;

#[test]
fn homotopy_says_which_of_several_solutions_is_meant() {
    // u³ = u from 0.1: Newton stays at 0; the simplified equation leads to one of the others.
    for side in [1.0, -1.0] {
        let model = scalar_equation(0.1, true, FREE, move |u, l| {
            Ok(l * (u * u * u - u) + (1.0 - l) * (u - side))
        });
        let (result, memory) = initialise(&model);
        result.expect("solvable");
        assert!((memory.last(SCALAR_UNKNOWN) - side).abs() < SOLVED);
    }
}

#[test]
fn without_a_path_the_actual_equations_are_solved_directly() {
    let model = scalar_equation(3.0, true, FREE, |u, l| {
        Ok(if l == 1.0 { u * u - 4.0 } else { u * u + 1.0 })
    });
    let (result, memory) = initialise(&model);
    result.expect("solvable");
    assert!((memory.last(SCALAR_UNKNOWN) - 2.0).abs() < SOLVED);
    assert_eq!(memory.notes, [NoteRecord::NoHomotopy]);
}

#[test]
fn linear_blocks_are_solved_whatever_their_scaling() {
    let model = linear_system(&[&[1e-9, 2e-9], &[1e12, -1e12]], &[5e-9, -1e12]);
    let (_, memory) = run(&model, &options(0.0, 1e-6, SolverName::Auto));
    assert!(
        (memory.last(Slot(1)) - 1.0).abs() < 1e-14 && (memory.last(Slot(2)) - 2.0).abs() < 1e-14
    );
}

#[test]
fn a_singular_consistent_block_gets_the_minimum_norm_and_a_note() {
    // Two closed switches in parallel: only the sum of the currents is determined.
    let model = linear_system(
        &[&[1.0, 1.0, 0.0], &[2.0, 2.0, 0.0], &[0.0, 0.0, 4.0]],
        &[6.0, 12.0, 8.0],
    );
    let (_, memory) = run(&model, &options(0.0, 1e-6, SolverName::Auto));
    for (slot, expected) in [(1, 3.0), (2, 3.0), (3, 2.0)] {
        assert!((memory.last(Slot(slot)) - expected).abs() < 1e-13);
    }
    let NoteRecord::Block { note, .. } = &memory.notes[0] else {
        panic!("{:?}", memory.notes)
    };
    let (rank, unknowns) = (2, 3);
    assert_eq!(note.what, Noted::MinimumNorm { rank, unknowns });
    assert_eq!(memory.notes.len(), 1, "said once");
}

#[test]
fn a_singular_inconsistent_block_is_an_error() {
    let (result, _) = initialise(&linear_system(&[&[1.0, 1.0], &[1.0, 1.0]], &[1.0, 2.0]));
    let error = result.expect_err("no solution").error;
    let SimError::Evaluation {
        error: SolveError::Linear(linear),
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(
        (linear.reason, linear.unknowns.len()),
        (LinearReason::Rank(1), 2)
    );
}

/// Brute force over all sets is the oracle.
fn complementarity_by_brute_force(matrix: &[&[f64]], q: &[f64]) -> Vec<f64> {
    let n = q.len();
    for subset in 0u32..1 << n {
        let mut a = vec![0.0; n * n];
        let mut b = vec![0.0; n];
        for k in 0..n {
            // w_k = q_k + Σ M z; unknowns z of conducting, w of blocking.
            for j in 0..n {
                if subset >> j & 1 == 1 {
                    a[j * n + k] = matrix[k][j];
                }
            }
            if subset >> k & 1 == 0 {
                a[k * n + k] = -1.0;
            }
            b[k] = -q[k];
        }
        let mut lu = saltus_solve::linear::DenseLu::new(n);
        if !lu.factor(&a) {
            continue;
        }
        lu.solve(&mut b);
        if b.iter().all(|v| *v >= -1e-12) {
            return (0..n)
                .map(|k| if subset >> k & 1 == 1 { b[k] } else { -b[k] })
                .collect();
        }
    }
    panic!("a P-matrix has a solution");
}

#[test]
fn mixed_blocks_agree_with_brute_force_even_where_simultaneous_changes_cycle() {
    // Murty's example: block pivoting cycles.
    let cyclic: [&[f64]; 3] = [&[1.0, 2.0, 0.0], &[0.0, 1.0, 2.0], &[2.0, 0.0, 1.0]];
    let plain: [&[f64]; 3] = [&[4.0, -1.0, 0.0], &[-1.0, 4.0, -1.0], &[0.0, -1.0, 4.0]];
    for matrix in [&cyclic[..], &plain[..]] {
        for q in [
            [-1.0, -1.0, -1.0],
            [1.0, -2.0, 0.5],
            [-1.0, 3.0, -2.0],
            [2.0, 1.0, 4.0],
            [-3.0, 0.1, 0.2],
        ] {
            let (result, memory) = initialise(&complementarity(matrix, &q));
            result.expect("a P-matrix has a solution");
            let expected = complementarity_by_brute_force(matrix, &q);
            for (k, expected) in expected.iter().enumerate() {
                let found = memory.last(Slot(1 + k as u32));
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{q:?}: s[{k}] = {found} instead of {expected}"
                );
            }
        }
    }
}

#[test]
fn a_mixed_block_without_solution_lists_what_oscillates() {
    // z = 1 where blocking, -1 where conducting: no consistent set.
    let (result, _) = initialise(&complementarity(&[&[-1.0]], &[-1.0]));
    let error = result.expect_err("no solution").error;
    let SimError::Evaluation {
        error: SolveError::Mixed(mixed),
        ..
    } = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(mixed.oscillating.len(), 1);
    assert!(mixed.tried > 1);
}
