//! Expressions, calls, functions and statements (specification chapters 3, 10, 11, 12, 14).

use crate::support::{check, check_error, variables};

#[test]
fn products_follow_the_dimensions() {
    check(
        "model M Real v[2] = {1, time}; Real m[2, 2] = [v, {3, 4}]; Real s = v*v; Real w[2] = m*v; Real u[2] = v*m; Real d[2] = v/2 .+ 1; end M;",
        "v[1] = 1.0
         v[2] = time
         m[1,1] = v[1]
         m[1,2] = 3.0
         m[2,1] = v[2]
         m[2,2] = 4.0
         s = ((v[1] * v[1]) + (v[2] * v[2]))
         w[1] = ((m[1,1] * v[1]) + (m[1,2] * v[2]))
         w[2] = ((m[2,1] * v[1]) + (m[2,2] * v[2]))
         u[1] = ((v[1] * m[1,1]) + (v[2] * m[2,1]))
         u[2] = ((v[1] * m[1,2]) + (v[2] * m[2,2]))
         d[1] = ((v[1] / 2) + 1)
         d[2] = ((v[2] / 2) + 1)",
    );
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    check_error(
        "model M Real x = {1, 2} + {1, 2, 3}; end M;",
        "array-size-mismatch",
    );
    check_error("model M Real x[2] = {1, 2} + 1; end M;", "type-mismatch");
    check_error("model M Boolean b = 1 and true; end M;", "type-mismatch");
    check_error(
        "model M Real x = if 1 then 2 else 3; end M;",
        "type-mismatch",
    );
    check_error("model M Real x = {1, \"a\"}[1]; end M;", "");
    check_error(
        "model M Real v[3]; equation v = {1, 2, 3}; v[4] = 1; end M;",
        "index-out-of-range",
    );
    check_error("model M Real x = y; end M;", "unknown-name");
    check_error("model M Real x = sinus(1); end M;", "unknown-name");
}

#[test]
fn references_go_through_arrays_of_components() {
    check(
        "model S parameter Integer k = 1; Real x = k*time; Real z[2] = {x, 1}; end S;
         model M S s[3](k = 1:3); Real a[3] = s.x; Real b[2] = s[2:end].z[1]; Real c = s[end].z[end]; end M;",
        "s[1].x = (s[1].k * time)
         s[2].x = (s[2].k * time)
         s[3].x = (s[3].k * time)
         s[1].z[1] = s[1].x
         s[1].z[2] = 1.0
         s[2].z[1] = s[2].x
         s[2].z[2] = 1.0
         s[3].z[1] = s[3].x
         s[3].z[2] = 1.0
         a[1] = s[1].x
         a[2] = s[2].x
         a[3] = s[3].x
         b[1] = s[2].z[1]
         b[2] = s[3].z[1]
         c = s[3].z[2]",
    );
}

#[test]
fn enumerations_are_subscripts_and_ranges() {
    check(
        "type E = enumeration(a, b); model M Real v[E] = {1, time}; Real x = v[E.b]; Real s = sum(v[e] for e in E); Integer i = Integer(E(2)); end M;",
        "v[1] = 1.0
         v[2] = time
         x = v[2]
         s = (v[1] + v[2])
         i = 2",
    );
}

#[test]
fn the_last_iterator_is_the_outermost() {
    check(
        "model M Real c[2, 3] = {10.0*i + j for j in 1:3, i in 1:2}; Real s = sum(i*j for i in 1:2, j in 1:2); Real m = max(i^2 for i in 1:3); end M;",
        "c[1,1] = 11.0
         c[1,2] = 12.0
         c[1,3] = 13.0
         c[2,1] = 21.0
         c[2,2] = 22.0
         c[2,3] = 23.0
         s = 9
         m = 9.0",
    );
}

#[test]
fn defaults_depend_on_other_inputs_also_in_vectorised_calls() {
    check(
        "function f input Real u; input Real k = 2*u; output Real y; algorithm y := u*k; end f;
         model M Real v[2] = {1, time}; Real w[2] = f(v); Real x = f(k = 3, u = time); end M;",
        "v[1] = 1.0
         v[2] = time
         w[1] = (v[1] * (2 * v[1]))
         w[2] = (v[2] * (2 * v[2]))
         x = (time * 3.0)",
    );
}

#[test]
fn wrong_arguments_are_errors() {
    let with = |call: &str| {
        format!(
            "function f input Real u; input Integer k = 1; output Real y; algorithm y := u*k; end f; model M Real x = {call}; end M;"
        )
    };
    check_error(&with("f()"), "wrong-argument");
    check_error(&with("f(1, 2, 3)"), "wrong-argument");
    check_error(&with("f(1, u = 2)"), "wrong-argument");
    check_error(&with("f(1, kk = 2)"), "wrong-argument");
    check_error(&with("f(1, 2.5)"), "wrong-argument");
    check_error(&with("f(\"a\")"), "wrong-argument");
}

#[test]
fn sizes_of_outputs_follow_from_arguments() {
    let text = "function g input Real u[:]; input Integer n; output Real y[size(u, 1) + n];
                algorithm y := cat(1, u, fill(1.0, n)); annotation(Inline = false); end g;
                model M parameter Integer n = 1; Real y[:] = g({time, 2}, n); end M;";
    assert_eq!(variables(text), ["n", "y[1]", "y[2]", "y[3]"]);
}

#[test]
fn recursive_functions_are_evaluated() {
    check(
        "function fact input Integer n; output Integer m; algorithm m := if n <= 1 then 1 else n*fact(n - 1); end fact; model M Real x = fact(5); end M;",
        "x = 120",
    );
}

#[test]
fn short_classes_bind_inputs_of_functions() {
    check(
        "function f input Real u; input Real k = 1; output Real y; algorithm y := k*u; end f; function g = f(k = 2); model M Real x = g(time); end M;",
        "x = (2.0 * time)",
    );
}

#[test]
fn several_outputs_and_records() {
    check(
        "record R Real a; Real b[2]; end R;
         function f input Real u; output R r; output Real z; algorithm r.a := u; r.b := {u, 2*u}; z := 3; end f;
         model M R r; R q = R(1, {2, time}); Real z; equation (r, z) = f(time); end M;",
        "r.a = time
         r.b[1] = time
         r.b[2] = (2 * time)
         z = 3.0
         q.a = 1.0
         q.b[1] = 2.0
         q.b[2] = time",
    );
}

#[test]
fn operators_of_records_are_overloaded() {
    check(
        "operator record C Real re; Real im;
           encapsulated operator 'constructor' function fromReal import C; input Real re; input Real im = 0; output C c(re = re, im = im); algorithm end fromReal; end 'constructor';
           encapsulated operator function '+' import C; input C a; input C b; output C c; algorithm c := C(a.re + b.re, a.im + b.im); annotation(Inline = true); end '+';
         end C;
         model M C x(re = time, im = 1); C y = x + 2; C z[2] = {x, y} + {y, y}; end M;",
        "x.re = time
         x.im = 1
         y.re = (x.re + 2.0)
         y.im = x.im
         z[1].re = (x.re + y.re)
         z[1].im = (x.im + y.im)
         z[2].re = (y.re + y.re)
         z[2].im = (y.im + y.im)",
    );
    check_error(
        "record R Real a; end R; model M R x(a = 1); R y = x + x; end M;",
        "type-mismatch",
    );
}

#[test]
fn a_condition_on_parameters_chooses_between_sizes() {
    check(
        "model M parameter Boolean b = true; Real v[:] = if b then {1, time} else {2}; Real w[0]; Real x = if size(w, 1) > 0 then w[1] else 7; end M;",
        "v[1] = 1.0
         v[2] = time
         x = 7",
    );
    check_error(
        "model M Real v[2] = if time > 1 then {1, 2} else {1}; end M;",
        "type-mismatch",
    );
}

#[test]
fn a_size_may_ask_for_another_size_of_the_same_array() {
    check(
        "model M parameter Real a[:, size(a, 1)] = [1, 2; 3, 4]; Real x = a[2, 1]*time; end M;",
        "x = (a[2,1] * time)",
    );
    check_error(
        "model M Real a[size(b, 1)]; Real b[size(a, 1)]; end M;",
        "cyclic-parameters",
    );
}

#[test]
fn functions_are_arguments() {
    check(
        "partial function F input Real u; output Real y; end F;
         function sq extends F; input Real k = 1; algorithm y := k*u^2; end sq;
         function twice input F f; input Real x; output Real y; algorithm y := f(x) + f(2*x); end twice;
         model M Real x = twice(function sq(k = 3), 2); end M;",
        "x = 60.0",
    );
}

#[test]
fn names_of_the_language_may_be_global() {
    check(
        "package P function sin input Real u; output Real y; algorithm y := 2*.sin(u); end sin; end P; model M Real x = P.sin(time); end M;",
        "x = (2 * sin(time))",
    );
}

#[test]
fn partial_functions_cannot_be_called() {
    check_error(
        "partial function F input Real u; output Real y; end F; model M Real x = F(1); end M;",
        "partial-class",
    );
}
