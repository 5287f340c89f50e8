//! Evaluations allocate nothing, interpreted or compiled, once their buffers have grown.

use crate::builder::{Builder, Run, origin};
use saltus_codegen::Execution;
use saltus_ir::{BinaryOp, Builtin};
use saltus_model::{BlockId, Instance, ScheduleKind, Section, System, Values};
use saltus_structure::{Block, Coefficients, Crossing, CrossingClass, Role, StateSet, Step};
use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

/// Counts what this thread asks for.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes on to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counter any more.
        let _ = COUNT.try_with(|c| c.set(c.get() + 1));
        // SAFETY: as the caller promised.
        unsafe { Heap.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { Heap.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Derivatives, a block of `n` unknowns and a crossing function.
fn system(n: usize) -> Run {
    let mut b = Builder::new();
    let (h, dh) = b.state("h", 1.0);
    let low = b.var("$low", saltus_ir::Base::Boolean, Role::Relation);
    let he = b.get(h);
    let sine = b.fun(Builtin::Sin, &[he]);
    let passes = b.var("passes", saltus_ir::Base::Integer, Role::Discrete);
    let passes = b.get(passes);
    let sum = crate::functions::power_sum_of(&mut b, sine, passes);
    b.derivative(dh, sum);
    let zero = b.number(0.0);
    let hit = b.binary(BinaryOp::Lt, he, zero);
    b.assign(low, hit, true);
    b.system.crossings.push(Crossing {
        relation: low,
        function: he,
        rising: false,
        closed: false,
        class: CrossingClass::Affine,
        slides: false,
        origin: origin(),
        text: "h < 0".into(),
    });
    let unknowns: Vec<_> = (0..n)
        .map(|k| b.real(&format!("x{k}"), Role::Algebraic))
        .collect();
    let residuals = (0..n)
        .map(|k| {
            let (x, y) = (b.get(unknowns[k]), b.get(unknowns[(k + 1) % n]));
            let exp = b.fun(Builtin::Exp, &[x]);
            let product = b.binary(BinaryOp::Mul, exp, y);
            let sum = crate::functions::power_sum_of(&mut b, product, passes);
            (b.binary(BinaryOp::Sub, sum, he), origin())
        })
        .collect();
    b.system.event.push(Step::Block(Block {
        unknowns,
        inner: Vec::new(),
        residuals,
        discrete: Vec::new(),
        linear: false,
        coefficients: Coefficients::Varying,
        direct: None,
    }));
    b.compile()
}

fn evaluate(system: &impl System, values: &mut Values, residual: &mut [f64], jacobian: &mut [f64]) {
    for section in system.schedule(ScheduleKind::Derivatives) {
        if let Section::Explicit(code) = section {
            system.run(*code, values).expect("finite");
        }
    }
    let mut crossing = [0.0];
    system
        .eval_crossings(values, &mut crossing)
        .expect("finite");
    let block = BlockId(0);
    system.residual(block, values, residual).expect("finite");
    assert_eq!(system.jacobian(block, values, jacobian), Ok(true));
}

#[test]
fn evaluations_allocate_nothing() {
    for n in [1, 3, 11] {
        for execution in [Execution::Interpreted, Execution::Native] {
            let run = Run::new(system(n).model.with_execution(execution), &[]);
            let mut values = run.values.clone();
            values.set(run.slot("passes"), 3.0);
            let system = run.instance.system(&values);
            let (mut residual, mut jacobian) = (vec![0.0; n], vec![0.0; n * n]);
            evaluate(system, &mut values, &mut residual, &mut jacobian);
            let before = COUNT.get();
            for _ in 0..10 {
                evaluate(system, &mut values, &mut residual, &mut jacobian);
            }
            assert_eq!(COUNT.get() - before, 0, "{n} unknowns, {execution:?}");
        }
    }
}

/// x² + y² = 1, one of the two a state.
fn with_state_set() -> Run {
    let mut b = Builder::new();
    let candidates = ["x", "y"]
        .map(|name| b.real(name, Role::Algebraic))
        .to_vec();
    let (state, _) = b.state("held", 0.6);
    let held = vec![state, b.real("other", Role::Algebraic)];
    let selectors = (0..4)
        .map(|k| b.real(&format!("selector{k}"), Role::Discrete))
        .collect();
    let squares: Vec<_> = (candidates.iter())
        .map(|&v| {
            let e = b.get(v);
            b.binary(BinaryOp::Mul, e, e)
        })
        .collect();
    let sum = b.binary(BinaryOp::Add, squares[0], squares[1]);
    let one = b.number(1.0);
    let constraint = b.binary(BinaryOp::Sub, sum, one);
    b.system.state_sets.push(StateSet {
        number: 1,
        n_states: 1,
        selectors,
        levels: vec![(candidates, held)],
        constraints: vec![(constraint, origin())],
        between: Vec::new(),
    });
    b.compile()
}

#[test]
fn a_choice_of_states_that_stays_allocates_nothing() {
    for execution in [Execution::Interpreted, Execution::Native] {
        let mut run = Run::new(with_state_set().model.with_execution(execution), &[]);
        let (x, y) = (run.slot("x"), run.slot("y"));
        let mut values = run.values.clone();
        let mut choose = |angle: f64| {
            values.set(x, angle.sin());
            values.set(y, angle.cos());
            let changes = run.instance.reselect_states(&mut values).expect("finite");
            changes.len()
        };
        choose(0.5);
        let before = COUNT.get();
        for k in 0..10 {
            assert_eq!(choose(0.5 + 0.01 * f64::from(k)), 0);
        }
        assert_eq!(COUNT.get() - before, 0, "{execution:?}");
        // The other one is the better state now.
        assert_eq!(choose(1.5), 2);
    }
}
