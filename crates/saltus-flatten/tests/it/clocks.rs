//! Clocked partitions (specification chapter 16).

use crate::support::{check, check_error, model, variables};

#[test]
fn a_sampled_integrator() {
    check(
        "model M Real x(start = 1, fixed = true); Real u; Real xd; Real yd(start = 2); Real y; equation
           der(x) = -x + u; xd = sample(x, Clock(1, 10)); yd = previous(yd) + interval(yd)*xd; u = hold(yd); y = 3*u; end M;",
        "der(x) = (u - x)
         u = yd
         y = (3 * u)
         [1/10 from 0/1] xd = pre(x)
         [1/10 from 0/1] yd = (pre(yd) + (0.1 * xd))",
    );
}

#[test]
fn clock_variables_disappear_and_clocks_are_inferred() {
    let text = "model M Clock c = Clock(0.5); Real a, b; equation a = sample(time); b = a + 1;
                when c then a = previous(b); end when; end M;";
    // One equation too many, but the clocks are what is tested.
    assert_eq!(variables(text), ["a", "b"]);
}

#[test]
fn sub_clocks_are_exact() {
    let text = |last: &str| {
        format!(
            "model M Real u, v, w, s; equation u = sample(time, Clock(3, 10)); v = subSample(u, 4); w = superSample(v, 3);
             s = shiftSample(w, 1, 2); {last} end M;"
        )
    };
    check(
        &text(""),
        "[3/10 from 0/1] u = time
         [6/5 from 0/1] v = u
         [2/5 from 0/1] w = v
         [2/5 from 1/5] s = w",
    );
}

#[test]
fn a_factor_is_inferred_from_both_clocks() {
    check(
        "model M Real u, v; equation u = sample(time, Clock(1, 10)); v = subSample(u) + sample(time, Clock(4, 10)); end M;",
        "[1/10 from 0/1] u = time
         [2/5 from 0/1] v = (u + time)",
    );
    check_error(
        "model M Real u, v; equation u = sample(time, Clock(2, 10)); v = subSample(u) + sample(time, Clock(5, 10)); end M;",
        "clock-mismatch",
    );
}

#[test]
fn first_tick_is_the_start_value_of_a_variable() {
    let model = model(
        "model M Boolean f; Real u; equation u = sample(time, Clock(1, 10)); f = firstTick(u); end M;",
        "M",
    )
    .unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(model.partitions.len(), 1);
    assert_eq!(model.partitions[0].equations.len(), 3);
    assert_eq!(model.partitions[0].variables.len(), 3);
}

#[test]
fn mixing_clocked_and_continuous_is_an_error() {
    check_error(
        "model M Real x, y; equation der(x) = 1; y = sample(x, Clock(0.1)) + x; end M;",
        "clock-conflict",
    );
}

#[test]
fn clocked_equations_without_clock_are_an_error() {
    check_error(
        "model M Real y(start = 0); equation y = previous(y) + 1; end M;",
        "no-clock",
    );
}

#[test]
fn partitions_that_read_from_each_other_are_cut_into_pieces() {
    check(
        "model M Real u, fast(start = 0), slow(start = 0), s; equation
           u = sample(time, Clock(1, 10)); fast = u + superSample(slow); s = subSample(u, 2); slow = previous(slow) + s; end M;",
        "[1/10 from 0/1] u = time
         [1/5 from 0/1] s = u
         [1/5 from 0/1] slow = (pre(slow) + s)
         [1/10 from 0/1] fast = (u + slow)",
    );
}

#[test]
fn a_sampled_expression_gets_a_variable_before_the_tick() {
    check(
        "model M Real x(start = 1, fixed = true); Real y(start = 0); equation
           der(x) = -x; y = previous(y) + sample(2*x, Clock(1, 10)); end M;",
        "der(x) = -x
         $clocked2 = (2 * x)
         [1/10 from 0/1] y = (pre(y) + pre($clocked2))",
    );
}

#[test]
fn a_sampled_hold_is_delayed_by_one_tick() {
    check(
        "model M Real x(start = 0), z; equation x = previous(x) + sample(1.0, Clock(1, 10)); z = sample(hold(x)) + sample(1.0, Clock(1, 5)); end M;",
        "$clocked2 = x
         [1/10 from 0/1] x = (pre(x) + 1.0)
         [1/5 from 0/1] z = (pre($clocked2) + 1.0)",
    );
}

#[test]
fn a_sub_clock_of_an_event_clock_counts_its_ticks() {
    check(
        "model M Real u, v; equation u = sample(time, Clock(time > 1)); v = subSample(shiftSample(u, 1), 3); end M;",
        "$condition3 = (time > 1)
         [when pre($condition3)] u = time
         [when pre($condition3)] $ticks4 = (pre($ticks4) + 1)
         [when pre($condition3)] $isTick5 = And(($ticks4 >= 1), (mod(($ticks4 - 1), 1) == 0))
         [when And(pre($condition3), $isTick5)] $clocked2 = u
         [when pre($condition3)] $ticks6 = (pre($ticks6) + 1)
         [when pre($condition3)] $isTick7 = And(($ticks6 >= 1), (mod(($ticks6 - 1), 3) == 0))
         [when And(pre($condition3), $isTick7)] v = $clocked2",
    );
}
