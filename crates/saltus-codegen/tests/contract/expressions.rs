//! Expressions: lazy branches, faults, subscripts, calls, tables, texts.

use crate::builder::{Builder, Run, origin, span};
use saltus_ir::func::{
    Access, AssertLevel, External, ExternalArg, Function, FunctionBody, Inline, Local, Place,
    Statement, StatementKind, Target,
};
use saltus_ir::types::ObjectType;
use saltus_ir::{Base, BinaryOp, Builtin, Dim, Expr, ExprId, FuncId, LocalId, Sub, Type, VarId};
use saltus_model::{BlockId, FaultKind, Instance, ScheduleKind, System};
use saltus_structure::{Block, Coefficients, Role, Step};
use saltus_syntax::Name;

fn outputs(b: Builder) -> Run {
    b.compile()
}

#[test]
fn a_branch_that_is_not_taken_is_not_evaluated() {
    let mut b = Builder::new();
    let x = b.real("x", Role::Algebraic);
    let y = b.real("y", Role::Algebraic);
    let z = b.real("z", Role::Algebraic);
    let (xe, zero, one) = (b.get(x), b.number(0.0), b.number(1.0));
    let is_zero = b.binary(BinaryOp::Eq, xe, zero);
    let quotient = b.binary(BinaryOp::Div, zero, xe);
    let value = b.cond(is_zero, one, quotient);
    b.output(y, value);
    // `x <> 0 and sqrt(-1/x) > 0` stops at the left operand.
    let nonzero = b.not(is_zero);
    let minus = b.minus(one);
    let inverse = b.binary(BinaryOp::Div, minus, xe);
    let root = b.fun(Builtin::Sqrt, &[inverse]);
    let positive = b.binary(BinaryOp::Gt, root, zero);
    let both = b.binary(BinaryOp::And, nonzero, positive);
    let value = b.cond(both, one, zero);
    b.output(z, value);
    let mut run = outputs(b);
    run.run(ScheduleKind::Outputs).unwrap();
    assert_eq!((run.get("y"), run.get("z")), (1.0, 0.0));
    run.set("x", -4.0);
    run.run(ScheduleKind::Outputs).unwrap();
    assert_eq!((run.get("y"), run.get("z")), (0.0, 1.0));
    run.set("x", 4.0);
    let fault = run.run(ScheduleKind::Outputs).unwrap_err();
    assert!(fault.recoverable);
    assert_eq!(
        fault.kind,
        FaultKind::Domain {
            function: "sqrt",
            argument: -0.25
        }
    );
}

#[test]
fn what_a_branch_computed_is_computed_again_outside() {
    // y = if c then 1/x else 0; z = 1/x: the quotient of the branch must not be reused where the branch was skipped.
    let mut b = Builder::new();
    let (x, y, z) = (
        b.real("x", Role::Algebraic),
        b.real("y", Role::Algebraic),
        b.real("z", Role::Algebraic),
    );
    let c = b.var("c", Base::Boolean, Role::Discrete);
    let (xe, ce, zero, one) = (b.get(x), b.get(c), b.number(0.0), b.number(1.0));
    let inverse = b.binary(BinaryOp::Div, one, xe);
    let value = b.cond(ce, inverse, zero);
    b.output(y, value);
    b.output(z, inverse);
    let mut run = outputs(b);
    for (c, x) in [(1.0, 4.0), (0.0, 8.0), (1.0, 16.0)] {
        run.set("c", c);
        run.set("x", x);
        run.run(ScheduleKind::Outputs).unwrap();
        assert_eq!((run.get("y"), run.get("z")), (c / x, 1.0 / x));
    }
}

#[test]
fn division_by_zero_and_overflow_name_the_equation() {
    let mut b = Builder::new();
    let (x, y) = (b.real("x", Role::Algebraic), b.real("y", Role::Algebraic));
    let xe = b.get(x);
    let exponential = b.fun(Builtin::Exp, &[xe]);
    b.output(y, exponential);
    let mut run = outputs(b);
    run.set("x", 1000.0);
    let fault = run.run(ScheduleKind::Outputs).unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::NonFinite {
            slot: run.slot("y")
        }
    );
    assert!(
        run.instance.info().sites[fault.site.0 as usize]
            .text
            .starts_with("y = ")
    );
}

#[test]
fn assertions_are_recoverable_and_warnings_come_once() {
    let mut b = Builder::new();
    let x = b.real("x", Role::Algebraic);
    let name = b.var("name", Base::String, Role::Parameter);
    let text = b.ir().string("tank");
    let assignment = b.assignment(name, text);
    b.system.parameters.push(assignment);
    let (xe, five, ten) = (b.get(x), b.number(5.0), b.number(10.0));
    let low = b.binary(BinaryOp::Lt, xe, five);
    let very_low = b.binary(BinaryOp::Lt, xe, ten);
    let (ne, note) = (b.get(name), b.ir().string(": x is high"));
    let message = b
        .ir()
        .add_scalar(Expr::Binary(BinaryOp::Add, ne, note), Base::String);
    b.assert(low, message, AssertLevel::Warning);
    b.assert(very_low, message, AssertLevel::Error);
    let mut run = outputs(b);
    run.set("x", 6.0);
    run.run(ScheduleKind::Outputs).unwrap();
    run.run(ScheduleKind::Outputs).unwrap();
    let texts: Vec<&str> = run
        .values
        .actions
        .messages
        .iter()
        .map(|m| m.1.as_str())
        .collect();
    assert_eq!(texts, ["tank: x is high"]);
    run.set("x", 11.0);
    let fault = run.run(ScheduleKind::Outputs).unwrap_err();
    assert!(fault.recoverable);
    assert_eq!(
        fault.kind,
        FaultKind::Assertion {
            message: "tank: x is high".into(),
            values: vec!["x = 11".into()],
            function: None,
        }
    );
}

#[test]
fn texts_are_compared_by_content() {
    let mut b = Builder::new();
    let name = b.var("name", Base::String, Role::Parameter);
    let same = b.var("same", Base::Boolean, Role::Parameter);
    let text = b.ir().string("abc");
    let assignment = b.assignment(name, text);
    b.system.parameters.push(assignment);
    let ne = b.get(name);
    let equal = b.binary(BinaryOp::Eq, ne, text);
    let assignment = b.assignment(same, equal);
    b.system.parameters.push(assignment);
    let run = outputs(b);
    assert_eq!(run.get("same"), 1.0);
    assert_eq!(&*run.instance.text(run.get("name")), "abc");
}

#[test]
fn subscripts_can_be_computed() {
    let mut b = Builder::new();
    let first = b.real("a[1]", Role::Algebraic);
    for k in 2..=3 {
        b.real(&format!("a[{k}]"), Role::Algebraic);
    }
    let i = b.var("i", Base::Integer, Role::Discrete);
    let y = b.real("y", Role::Algebraic);
    let array = b
        .ir()
        .add_typed(Expr::VarArray(first), Type::array(Base::Real, &[3]));
    let ie = b.get(i);
    let element = b.ir().add_scalar(
        Expr::Index {
            base: array,
            subs: Box::new([Sub::At(ie)]),
        },
        Base::Real,
    );
    b.output(y, element);
    let mut run = outputs(b);
    for k in 1..=3 {
        run.set(&format!("a[{k}]"), f64::from(10 * k));
    }
    for k in 1..=3 {
        run.set("i", f64::from(k));
        run.run(ScheduleKind::Outputs).unwrap();
        assert_eq!(run.get("y"), f64::from(10 * k));
    }
    run.set("i", 4.0);
    let fault = run.run(ScheduleKind::Outputs).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Range(_)));
}

#[test]
fn discrete_real_start_outside_its_bounds_moves_to_the_nearest() {
    let mut b = Builder::new();
    let x = b.real("x", Role::Algebraic);
    let bound = b.number(2.0);
    b.system.flat.variables[x].min = Some(bound);
    let nominal = b.number(1e5);
    b.system.flat.variables[x].nominal = Some(nominal);
    let run = outputs(b);
    assert_eq!(run.get("x"), 2.0);
    let slot = &run.instance.info().slots[run.slot("x").index()];
    assert_eq!(
        (slot.min, slot.max, slot.nominal),
        (2.0, f64::INFINITY, 1e5)
    );
}

fn local(b: &mut Builder, name: &str, base: Base, dims: &[Dim]) -> LocalId {
    let ty = b.ir().intern_type(Type {
        base,
        dims: dims.to_vec(),
    });
    b.ir().locals.push(Local {
        name: Name::new(name),
        ty,
        dims: Vec::new(),
        default: None,
        span: span(),
        unit: None,
    })
}

fn function(
    b: &mut Builder,
    name: &str,
    inputs: Vec<LocalId>,
    outputs: Vec<LocalId>,
    body: FunctionBody,
) -> FuncId {
    b.ir().functions.push(Function {
        name: Name::new(name),
        span: span(),
        inputs,
        outputs,
        protected: Vec::new(),
        body,
        inline: Inline::Never,
        impure: false,
        derivatives: Vec::new(),
    })
}

/// `(p, q) = f(a, b)` with p = a·b², q = a + b.
fn two_outputs(b: &mut Builder) -> FuncId {
    let [a, c, p, q] = ["a", "b", "p", "q"].map(|n| local(b, n, Base::Real, &[]));
    let [ae, ce] = [a, c].map(|l| b.ir().add_scalar(Expr::Local(l), Base::Real));
    let square = b.binary(BinaryOp::Mul, ce, ce);
    let product = b.binary(BinaryOp::Mul, ae, square);
    let sum = b.binary(BinaryOp::Add, ae, ce);
    let set = |l: LocalId, value: ExprId| Statement {
        kind: StatementKind::Assign {
            target: Target {
                place: Place::Local(l),
                access: Vec::<Access>::new(),
            },
            value,
        },
        span: span(),
    };
    let body = FunctionBody::Algorithm(vec![set(p, product), set(q, sum)]);
    function(b, "f", vec![a, c], vec![p, q], body)
}

#[test]
fn a_call_is_evaluated_once_and_has_a_derivative() {
    let mut b = Builder::new();
    let (x, y) = (b.real("x", Role::Algebraic), b.real("y", Role::Algebraic));
    let f = two_outputs(&mut b);
    let (xe, ye) = (b.get(x), b.get(y));
    let call = b.ir().add_scalar(
        Expr::Call {
            function: f,
            args: Box::new([xe, ye]),
        },
        Base::Real,
    );
    let second = b
        .ir()
        .add_scalar(Expr::Output { call, index: 1 }, Base::Real);
    let block = Block {
        unknowns: vec![x, y],
        inner: Vec::new(),
        residuals: vec![(call, origin()), (second, origin())],
        discrete: Vec::new(),
        linear: false,
        coefficients: Coefficients::Varying,
        direct: None,
    };
    b.system.event.push(Step::Block(block));
    let mut run = b.compile();
    run.set("x", 3.0);
    run.set("y", 2.0);
    let (mut residual, mut jacobian) = ([0.0; 2], [0.0; 4]);
    let system = run.instance.system(&run.values);
    system
        .residual(BlockId(0), &mut run.values, &mut residual)
        .unwrap();
    assert_eq!(residual, [12.0, 5.0]);
    assert_eq!(
        system.jacobian(BlockId(0), &mut run.values, &mut jacobian),
        Ok(true)
    );
    for (found, expected) in jacobian.iter().zip([4.0, 1.0, 12.0, 1.0]) {
        assert!((found - expected).abs() < 1e-8, "{jacobian:?}");
    }
}

/// A table object with its constructor, and the look-up function.
fn table(b: &mut Builder, rows: &[[f64; 2]]) -> (VarId, FuncId) {
    let object = b.ir().objects.push(ObjectType {
        name: Name::new("Table"),
        destructor: None,
    });
    let unknown = [Dim::Unknown, Dim::Unknown];
    let matrix = local(b, "table", Base::Real, &unknown);
    let result = local(b, "result", Base::Object(object), &[]);
    let me = b.ir().add_typed(
        Expr::Local(matrix),
        Type {
            base: Base::Real,
            dims: unknown.to_vec(),
        },
    );
    let none = b.ir().string("NoName");
    let (two, one) = (b.ir().integer(2), b.ir().integer(1));
    let columns = b.ir().add_typed(
        Expr::Array(Box::new([two])),
        Type::array(Base::Integer, &[1]),
    );
    let verbose = b.ir().boolean(false);
    let comma = b.ir().string(",");
    let zero = b.ir().integer(0);
    let args = [
        none, none, me, two, two, columns, one, one, one, verbose, comma, zero,
    ]
    .map(ExternalArg::Value);
    let constructor = function(
        b,
        "Table.constructor",
        vec![matrix],
        vec![result],
        FunctionBody::External(External {
            language: Name::new("C"),
            name: Name::new("ModelicaStandardTables_CombiTable1D_init3"),
            args: args.to_vec(),
            code: Default::default(),
            result: Some(result),
        }),
    );
    let items: Vec<ExprId> = rows
        .iter()
        .map(|row| {
            let row = row.map(|x| b.number(x));
            b.ir()
                .add_typed(Expr::Array(row.into()), Type::array(Base::Real, &[2]))
        })
        .collect();
    let data = b.ir().add_typed(
        Expr::Array(items.into()),
        Type::array(Base::Real, &[rows.len(), 2]),
    );
    let call = b.ir().add_scalar(
        Expr::Call {
            function: constructor,
            args: Box::new([data]),
        },
        Base::Object(object),
    );
    let id = b.var("tableID", Base::Object(object), Role::Parameter);
    let assignment = b.assignment(id, call);
    b.system.parameters.push(assignment);

    let l = [
        local(b, "id", Base::Object(object), &[]),
        local(b, "i", Base::Integer, &[]),
        local(b, "u", Base::Real, &[]),
    ];
    let y = local(b, "y", Base::Real, &[]);
    let args = [Base::Object(object), Base::Integer, Base::Real]
        .into_iter()
        .zip(l)
        .map(|(base, l)| ExternalArg::Value(b.ir().add_scalar(Expr::Local(l), base)))
        .collect();
    let get = function(
        b,
        "Table.get",
        l.to_vec(),
        vec![y],
        FunctionBody::External(External {
            language: Name::new("C"),
            name: Name::new("ModelicaStandardTables_CombiTable1D_getValue"),
            args,
            code: Default::default(),
            result: Some(y),
        }),
    );
    (id, get)
}

#[test]
fn tables_are_objects_and_their_look_up_has_an_exact_derivative() {
    let mut b = Builder::new();
    let (id, get) = table(&mut b, &[[0.0, 1.0], [2.0, 5.0], [3.0, 4.0]]);
    let x = b.real("x", Role::Algebraic);
    let (ide, one, xe) = (b.get(id), b.ir().integer(1), b.get(x));
    let call = b.ir().add_scalar(
        Expr::Call {
            function: get,
            args: Box::new([ide, one, xe]),
        },
        Base::Real,
    );
    let square = b.binary(BinaryOp::Mul, xe, call);
    let block = Block {
        unknowns: vec![x],
        inner: Vec::new(),
        residuals: vec![(square, origin())],
        discrete: Vec::new(),
        linear: false,
        coefficients: Coefficients::Varying,
        direct: None,
    };
    b.system.event.push(Step::Block(block));
    let mut run = b.compile();
    // The object is not a variable of the results.
    assert!(
        run.instance
            .info()
            .variables
            .iter()
            .all(|v| v.name != "tableID")
    );
    for (x, y, slope) in [(1.0, 3.0, 2.0), (2.5, 4.5, -1.0), (9.0, 4.0, 0.0)] {
        run.set("x", x);
        let (mut residual, mut jacobian) = ([0.0], [0.0]);
        let system = run.instance.system(&run.values);
        system
            .residual(BlockId(0), &mut run.values, &mut residual)
            .unwrap();
        assert_eq!(residual[0], x * y);
        assert_eq!(
            system.jacobian(BlockId(0), &mut run.values, &mut jacobian),
            Ok(true)
        );
        assert_eq!(jacobian[0], y + x * slope);
    }
}

#[test]
fn assignments_with_one_condition_share_its_branch() {
    // u = if c then 1/x else pre(u); w = if c then u + 1 else pre(w): the second sees the first.
    let mut b = Builder::new();
    let x = b.real("x", Role::Algebraic);
    let (u, w) = (b.real("u", Role::Discrete), b.real("w", Role::Discrete));
    let c = b.var("c", Base::Boolean, Role::Discrete);
    let (xe, ce, one) = (b.get(x), b.get(c), b.number(1.0));
    let inverse = b.binary(BinaryOp::Div, one, xe);
    let before = b.pre(u);
    let value = b.cond(ce, inverse, before);
    b.assign(u, value, true);
    let ue = b.get(u);
    let more = b.binary(BinaryOp::Add, ue, one);
    let before = b.pre(w);
    let value = b.cond(ce, more, before);
    b.assign(w, value, true);
    let mut run = outputs(b);
    run.run(ScheduleKind::Event).unwrap();
    assert_eq!((run.get("u"), run.get("w")), (0.0, 0.0));
    run.set("c", 1.0);
    run.set("x", 4.0);
    run.run(ScheduleKind::Event).unwrap();
    assert_eq!((run.get("u"), run.get("w")), (0.25, 1.25));
}

#[test]
fn a_sum_of_many_terms_needs_no_deep_stack() {
    let mut b = Builder::new();
    let (x, y) = (b.real("x", Role::Algebraic), b.real("y", Role::Algebraic));
    let xe = b.get(x);
    let mut sum = xe;
    for k in 0..100_000 {
        let term = b.number(f64::from(k % 2));
        sum = b.binary(BinaryOp::Add, sum, term);
    }
    b.output(y, sum);
    let mut run = outputs(b);
    run.set("x", 1.0);
    run.run(ScheduleKind::Outputs).unwrap();
    assert_eq!(run.get("y"), 50_001.0);
}
