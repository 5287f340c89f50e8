//! Whole systems: a ball, a diode, a nonlinear block.

use crate::builder::{Builder, Run, origin, slot_of};
use saltus_ir::{Base, BinaryOp, Builtin};
use saltus_model::{
    BlockId, Instance, Model, ScheduleKind, Section, Settable, SlotRole, StateSlots, System,
};
use saltus_structure::{Action, Block, Coefficients, Crossing, CrossingClass, Role, Step};

fn ball() -> Run {
    let mut b = Builder::new();
    let g = b.parameter("g", 9.81);
    let e = b.parameter("e", 0.7);
    let (h, dh) = b.state("h", 1.0);
    let (v, dv) = b.state("v", 0.0);
    let low = b.var("$low", Base::Boolean, Role::Relation);
    let alias = b.real(
        "minus_v",
        Role::Alias {
            of: v,
            negated: true,
        },
    );
    let (ve, ge, he) = (b.get(v), b.get(g), b.get(h));
    b.derivative(dh, ve);
    let falling = b.minus(ge);
    b.derivative(dv, falling);
    let zero = b.number(0.0);
    let hit = b.binary(BinaryOp::Lt, he, zero);
    b.assign(low, hit, true);
    let guard = b.edge(low);
    let ee = b.get(e);
    let rebound = b.binary(BinaryOp::Mul, ee, ve);
    let rebound = b.minus(rebound);
    b.action(
        Some(guard),
        Action::Reinit {
            var: v,
            value: rebound,
        },
    );
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
    let _ = alias;
    b.compile()
}

#[test]
fn a_ball_falls_and_asks_for_a_rebound() {
    let mut run = ball();
    assert_eq!(run.get("h"), 1.0);
    assert_eq!(run.get("g"), 9.81);
    let (h, v) = (run.slot("h"), run.slot("v"));
    let system = run.instance.system(&run.values);
    assert_eq!(
        system.states(),
        &[
            StateSlots {
                value: h,
                derivative: run.slot("der(h)")
            },
            StateSlots {
                value: v,
                derivative: run.slot("der(v)")
            }
        ]
    );
    assert_eq!(system.schedule(ScheduleKind::Derivatives).len(), 1);
    assert_eq!(system.state_pattern(), Some(&[vec![], vec![0]][..]));
    assert_eq!(system.discrete_slots(), &[run.slot("$low")]);
    assert!(system.feeds_derivatives(v) && !system.feeds_derivatives(run.slot("$low")));

    run.set("v", -3.0);
    run.run(ScheduleKind::Derivatives).unwrap();
    assert_eq!(
        (run.get("der(h)"), run.get("der(v)"), run.get("minus_v")),
        (-3.0, -9.81, 3.0)
    );

    run.set("h", -1e-9);
    let mut crossing = [0.0];
    run.instance
        .system(&run.values)
        .eval_crossings(&mut run.values, &mut crossing)
        .unwrap();
    assert_eq!(crossing, [-1e-9]);
    run.run(ScheduleKind::Event).unwrap();
    assert_eq!(run.get("$low"), 1.0);
    assert_eq!(run.values.actions.reinits, vec![(v, 0.7 * 3.0)]);
    // The second pass of the iteration sees no edge.
    run.values.actions.reinits.clear();
    run.values.pre = run.values.v.clone();
    run.run(ScheduleKind::Event).unwrap();
    assert!(run.values.actions.reinits.is_empty());
}

#[test]
fn the_model_tells_names_roles_and_places() {
    let run = ball();
    let info = run.model.info();
    assert_eq!(info.slots[0].role, SlotRole::Time);
    let by_name = |name: &str| info.variables.iter().find(|v| v.name == name).unwrap();
    assert!(by_name("minus_v").negated && by_name("minus_v").slot == slot_of(info, "v"));
    assert!(by_name("$low").hidden && !by_name("h").hidden);
    assert_eq!(by_name("g").settable, Settable::Value);
    let site = &info.sites[info.variables[0].site.0 as usize];
    assert_eq!((&*site.file, site.line), ("test.mo", 1));
}

#[test]
fn overrides_replace_parameters_and_start_values() {
    let run = ball();
    let again = Run::new(
        run.model.clone(),
        &[(run.slot("g"), 1.62), (run.slot("h"), 5.0)],
    );
    assert_eq!(
        (again.get("g"), again.get("h"), again.get("e")),
        (1.62, 5.0, 0.7)
    );
    assert_eq!(again.values.pre, again.values.v);
}

/// An ideal diode with resistances Ron and 1/Goff on a source u behind R, on the curve parameter s.
fn diode() -> Run {
    let mut b = Builder::new();
    let u = b.parameter("u", 10.0);
    let r = b.parameter("R", 2.0);
    let ron = b.parameter("Ron", 0.5);
    let goff = b.parameter("Goff", 0.25);
    let s = b.real("s", Role::Algebraic);
    let v = b.real("v", Role::Algebraic);
    let i = b.real("i", Role::Algebraic);
    let off = b.var("off", Base::Boolean, Role::Discrete);
    let (se, oe, one) = (b.get(s), b.get(off), b.number(1.0));
    let (rone, goffe) = (b.get(ron), b.get(goff));
    let k = b.cond(oe, one, rone);
    let v_value = b.binary(BinaryOp::Mul, se, k);
    let k = b.cond(oe, goffe, one);
    let i_value = b.binary(BinaryOp::Mul, se, k);
    let (ve, ie, re, ue) = (b.get(v), b.get(i), b.get(r), b.get(u));
    let drop = b.binary(BinaryOp::Mul, re, ie);
    let sum = b.binary(BinaryOp::Add, ve, drop);
    let residual = b.binary(BinaryOp::Sub, sum, ue);
    let zero = b.number(0.0);
    let is_off = b.binary(BinaryOp::Lt, se, zero);
    let block = Block {
        unknowns: vec![s],
        inner: vec![b.assignment(v, v_value), b.assignment(i, i_value)],
        residuals: vec![(residual, origin())],
        discrete: vec![b.assignment(off, is_off)],
        linear: true,
        coefficients: Coefficients::Varying,
        direct: None,
    };
    b.system.event.push(Step::Block(block));
    b.system.derivatives.push(0);
    b.compile()
}

#[test]
fn a_diode_is_a_mixed_block_at_events_and_a_linear_one_between() {
    let mut run = diode();
    let system = run.instance.system(&run.values);
    assert_eq!(
        system.schedule(ScheduleKind::Event),
        &[Section::Mixed(BlockId(0))]
    );
    assert_eq!(
        system.schedule(ScheduleKind::Derivatives),
        &[Section::Linear(BlockId(0))]
    );
    let info = system.block(BlockId(0));
    assert_eq!(info.unknowns, vec![run.slot("s")]);
    assert_eq!(
        info.determines,
        vec![run.slot("s"), run.slot("v"), run.slot("i")]
    );
    assert_eq!(info.discrete, vec![run.slot("off")]);

    let (mut residual, mut jacobian) = ([0.0], [0.0]);
    run.set("s", 3.0);
    let system = run.instance.system(&run.values);
    system
        .residual(BlockId(0), &mut run.values, &mut residual)
        .unwrap();
    assert_eq!(residual[0], 3.0 * 0.5 + 2.0 * 3.0 - 10.0);
    assert_eq!(
        system.jacobian(BlockId(0), &mut run.values, &mut jacobian),
        Ok(true)
    );
    assert_eq!(jacobian[0], 0.5 + 2.0);
    assert_eq!((run.get("v"), run.get("i")), (1.5, 3.0));

    run.set("s", -4.0);
    run.instance
        .system(&run.values)
        .update_discrete(BlockId(0), &mut run.values)
        .unwrap();
    assert_eq!(run.get("off"), 1.0);
    let system = run.instance.system(&run.values);
    assert_eq!(
        system.jacobian(BlockId(0), &mut run.values, &mut jacobian),
        Ok(true)
    );
    assert_eq!(jacobian[0], 1.0 + 2.0 * 0.25);
}

#[test]
fn jacobians_of_nonlinear_blocks_are_exact_for_any_number_of_unknowns() {
    // r_k = sin(x_k)·x_{k+1} + sqrt(x_k) - x_k^3 / x_{k+1}, k cyclic: more unknowns than one pass has lanes.
    const N: usize = 11;
    let mut b = Builder::new();
    let x: Vec<_> = (0..N)
        .map(|k| b.real(&format!("x{k}"), Role::Algebraic))
        .collect();
    let mut residuals = Vec::new();
    for k in 0..N {
        let (xk, next) = (b.get(x[k]), b.get(x[(k + 1) % N]));
        let sine = b.fun(Builtin::Sin, &[xk]);
        let product = b.binary(BinaryOp::Mul, sine, next);
        let root = b.fun(Builtin::Sqrt, &[xk]);
        let three = b.number(3.0);
        let cube = b.binary(BinaryOp::Pow, xk, three);
        let quotient = b.binary(BinaryOp::Div, cube, next);
        let sum = b.binary(BinaryOp::Add, product, root);
        residuals.push((b.binary(BinaryOp::Sub, sum, quotient), origin()));
    }
    let block = Block {
        unknowns: x,
        inner: Vec::new(),
        residuals,
        discrete: Vec::new(),
        linear: false,
        coefficients: Coefficients::Varying,
        direct: None,
    };
    b.system.event.push(Step::Block(block));
    let mut run = b.compile();
    let value = |k: usize| 0.5 + 0.1 * k as f64;
    for k in 0..N {
        run.set(&format!("x{k}"), value(k));
    }
    let mut jacobian = vec![f64::NAN; N * N];
    let system = run.instance.system(&run.values);
    assert_eq!(
        system.schedule(ScheduleKind::Event),
        &[Section::Nonlinear(BlockId(0))]
    );
    assert_eq!(
        system.jacobian(BlockId(0), &mut run.values, &mut jacobian),
        Ok(true)
    );
    for row in 0..N {
        let (x, y) = (value(row), value((row + 1) % N));
        for column in 0..N {
            let expected = if column == row {
                x.cos() * y + 0.5 / x.sqrt() - 3.0 * x * x / y
            } else if column == (row + 1) % N {
                x.sin() + x.powi(3) / (y * y)
            } else {
                0.0
            };
            let found = jacobian[column * N + row];
            assert!(
                (found - expected).abs() < 1e-14,
                "∂r{row}/∂x{column}: {found} instead of {expected}"
            );
        }
    }
}
