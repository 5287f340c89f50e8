//! Time events and delays.

use crate::builder::{Builder, Run};
use saltus_ir::{Base, BinaryOp, Builtin, Expr};
use saltus_model::{Instance, ScheduleKind, StepPoint};
use saltus_structure::{Delay, Role, TimeEvent};

/// `when sample(0.1, 0.3) then n = pre(n) + 1; end when`
fn counter() -> Run {
    let mut b = Builder::new();
    let flag = b.var("$sample", Base::Boolean, Role::Auxiliary);
    let n = b.var("n", Base::Integer, Role::Discrete);
    let guard = b.edge(flag);
    let before = b.pre(n);
    let one = b.ir().integer(1);
    let more = b
        .ir()
        .add_scalar(Expr::Binary(BinaryOp::Add, before, one), Base::Integer);
    let value = b.cond(guard, more, before);
    b.assign(n, value, true);
    let (start, interval) = (b.number(0.1), b.number(0.3));
    b.system.time_events.push(TimeEvent::Sample {
        flag,
        start,
        interval,
    });
    b.compile()
}

#[test]
fn samples_tick_by_multiplication() {
    let mut run = counter();
    let mut times = Vec::new();
    for _ in 0..5 {
        let t = run.instance.next_time_event(&run.values).unwrap();
        times.push(t);
        run.values.v[0] = t;
        assert!(run.instance.set_time_flags(&mut run.values));
        run.run(ScheduleKind::Event).unwrap();
        run.values.pre = run.values.v.clone();
        run.run(ScheduleKind::Event).unwrap();
        run.instance.clear_time_flags(&mut run.values);
        run.values.pre = run.values.v.clone();
    }
    let expected: Vec<f64> = (0..5).map(|k| 0.1 + f64::from(k) * 0.3).collect();
    assert_eq!(times, expected);
    assert_eq!(run.get("n"), 5.0);
    run.values.v[0] = 0.5;
    assert!(!run.instance.set_time_flags(&mut run.values));
}

#[test]
fn events_that_differ_by_rounding_are_one_instant() {
    // 3·0.1 is one unit in the last place above 0.3.
    let mut b = Builder::new();
    let tenth = b.var("$tenth", Base::Boolean, Role::Auxiliary);
    let third = b.var("$third", Base::Boolean, Role::Auxiliary);
    let late = b.var("late", Base::Boolean, Role::Relation);
    let (zero, a, c) = (b.number(0.0), b.number(0.1), b.number(0.3));
    b.system.time_events.push(TimeEvent::Sample {
        flag: tenth,
        start: zero,
        interval: a,
    });
    b.system.time_events.push(TimeEvent::Sample {
        flag: third,
        start: zero,
        interval: c,
    });
    b.system.time_events.push(TimeEvent::Threshold {
        relation: late,
        at: c,
        after: true,
    });
    let mut run = b.compile();
    run.values.v[0] = 0.2;
    let t = run.instance.next_time_event(&run.values).unwrap();
    assert_eq!(t, 0.3_f64.next_up());
    run.values.v[0] = t;
    run.instance.set_time_flags(&mut run.values);
    assert_eq!((run.get("$tenth"), run.get("$third")), (1.0, 1.0));
    let next = run.instance.next_time_event(&run.values).unwrap();
    assert_eq!(next, 0.4);
}

#[test]
fn clock_ticks_are_exact_rationals() {
    let mut b = Builder::new();
    let flag = b.var("$tick", Base::Boolean, Role::Auxiliary);
    b.system.time_events.push(TimeEvent::Tick {
        flag,
        period: (1, 3),
        shift: (1, 6),
    });
    let mut run = b.compile();
    let mut t = 0.0;
    for k in 0..100_000_u32 {
        run.values.v[0] = t;
        t = run.instance.next_time_event(&run.values).unwrap();
        assert_eq!(t, f64::from(1 + 2 * k) / 6.0);
    }
}

#[test]
fn an_interval_must_be_positive() {
    let mut b = Builder::new();
    let flag = b.var("$sample", Base::Boolean, Role::Auxiliary);
    let zero = b.number(0.0);
    b.system.time_events.push(TimeEvent::Sample {
        flag,
        start: zero,
        interval: zero,
    });
    let run = b.compile();
    let fault = run.instance.next_time_event(&run.values).unwrap_err();
    assert!(!fault.recoverable);
}

#[test]
fn delays_return_the_past_and_jump_when_it_jumped() {
    let mut b = Builder::new();
    let x = b.real("x", Role::Input);
    let y = b.real("y", Role::Auxiliary);
    let xe = b.get(x);
    let stretch = b.real("stretch", Role::Auxiliary);
    let count = b.get(stretch);
    let (zero, d) = (b.ir().integer(0), b.number(0.5));
    let delay = b.fun(Builtin::Delay, &[zero, xe, d, d, count]);
    b.output(y, delay);
    b.system.delays.push(Delay {
        result: y,
        expr: xe,
        delay_time: d,
        delay_max: d,
        stretch,
        range: None,
        profile: None,
    });
    let mut run = b.compile();
    assert_eq!(run.instance.step_size_max(&run.values), 0.5);
    assert!(run.instance.keeps_past());
    let cubic = |t: f64| 1.0 + t * t * t;
    let tell = |run: &mut Run, t: f64, x: f64, point: StepPoint| {
        run.values.v[0] = t;
        run.set("x", x);
        run.instance.completed_step(&mut run.values, point);
    };
    let at = |run: &mut Run, t: f64| {
        run.values.v[0] = t;
        run.run(ScheduleKind::Outputs).unwrap();
        run.get("y")
    };
    tell(&mut run, 0.0, 1.0, StepPoint::AfterEvent);
    for k in 1..=10 {
        let t = 0.1 * f64::from(k);
        for inside in [t - 0.08, t - 0.03] {
            tell(&mut run, inside, cubic(inside), StepPoint::Inside);
        }
        tell(&mut run, t, cubic(t), StepPoint::End);
    }
    // A jump at t = 1.
    tell(&mut run, 1.0, 10.0, StepPoint::AfterEvent);
    run.values.v[0] = 0.2;
    assert_eq!(run.instance.next_time_event(&run.values).unwrap(), 0.5);
    // Until the event has happened, what comes out is the constant of before the start.
    assert_eq!(at(&mut run, 0.4), 1.0);
    assert_eq!(at(&mut run, 0.95), 1.0);
    run.values.v[0] = 0.5;
    assert!(run.instance.set_time_flags(&mut run.values));
    assert_eq!(run.get("stretch"), 1.0);
    assert!((at(&mut run, 0.95) - cubic(0.45)).abs() < 1e-15);
    run.values.v[0] = 1.2;
    assert_eq!(run.instance.next_time_event(&run.values).unwrap(), 1.5);
    // At the jump itself still the left limit, then the right one.
    assert_eq!(at(&mut run, 1.5), cubic(1.0));
    assert!(run.instance.set_time_flags(&mut run.values));
    assert_eq!(at(&mut run, 1.5), 10.0);
}
