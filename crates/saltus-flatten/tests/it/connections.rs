//! Connection sets (specification 9.2, 9.3).

use crate::support::{check, check_error, variables};

const ELECTRICAL: &str = "
connector Pin Real v; flow Real i; end Pin;
model Ground Pin p; equation p.v = 0; end Ground;
model Resistor Pin p; Pin n; equation p.i + n.i = 0; p.v - n.v = p.i; end Resistor;
model Load Pin p; Pin n; Resistor r; equation connect(p, r.p); connect(r.n, n); end Load;
";

fn with(library: &str, text: &str) -> String {
    format!("{library}\n{text}")
}

#[test]
fn the_circuit_of_the_specification() {
    check(
        &with(
            ELECTRICAL,
            "model M Ground g; Load l; Resistor r; equation connect(l.p, g.p); connect(r.p, g.p); end M;",
        ),
        "g.p.v = 0.0
         (l.r.p.i + l.r.n.i) = 0.0
         (l.r.p.v - l.r.n.v) = l.r.p.i
         (r.p.i + r.n.i) = 0.0
         (r.p.v - r.n.v) = r.p.i
         l.p.v = l.r.p.v
         l.r.n.v = l.n.v
         l.p.v = g.p.v
         l.p.v = r.p.v
         (l.p.i - l.r.p.i) = 0.0
         (l.r.n.i - l.n.i) = 0.0
         ((l.p.i + g.p.i) + r.p.i) = 0.0
         l.n.i = 0.0
         r.n.i = 0.0",
    );
}

#[test]
fn connects_to_an_outer_component_count_for_the_inner_one() {
    check(
        &with(
            ELECTRICAL,
            "model Outer Pin p; outer Resistor r; equation connect(p, r.p); end Outer;
             model M Ground g; Outer o; inner Resistor r; equation connect(o.p, g.p); connect(r.n, g.p); end M;",
        ),
        "g.p.v = 0.0
         (r.p.i + r.n.i) = 0.0
         (r.p.v - r.n.v) = r.p.i
         o.p.v = r.p.v
         o.p.v = g.p.v
         o.p.v = r.n.v
         (o.p.i - r.p.i) = 0.0
         ((o.p.i + g.p.i) + r.n.i) = 0.0",
    );
}

#[test]
fn signals_are_equal_along_the_hierarchy() {
    check(
        "connector In = input Real; connector Out = output Real;
         block Gain In u; Out y; equation y = 2*u; end Gain;
         block Two In u; Out y; Gain a, b; equation connect(u, a.u); connect(a.y, b.u); connect(b.y, y); end Two;
         model M Two t; Out y; equation connect(t.y, y); t.u = time; end M;",
        "t.a.y = (2 * t.a.u)
         t.b.y = (2 * t.b.u)
         t.u = time
         t.u = t.a.u
         t.a.y = t.b.u
         t.b.y = t.y
         t.y = y",
    );
}

#[test]
fn arrays_of_connectors_connect_element_by_element() {
    check(
        &with(
            ELECTRICAL,
            "model M Pin a[2]; Pin b[2]; equation connect(a, b); a[1].v = 1; a[2].v = 2; end M;",
        ),
        "a[1].v = 1.0
         a[2].v = 2.0
         a[1].v = b[1].v
         a[2].v = b[2].v
         (a[1].i + b[1].i) = 0.0
         (a[2].i + b[2].i) = 0.0
         a[1].i = 0.0
         a[2].i = 0.0
         b[1].i = 0.0
         b[2].i = 0.0",
    );
}

#[test]
fn a_connector_of_an_array_of_components_is_an_array() {
    check(
        "connector In = input Real; connector Out = output Real;
         block Source Out y = time; end Source;
         block Mux In u[2]; end Mux;
         model M Source s[2]; Mux m; equation connect(s.y, m.u); end M;",
        "s[1].y = time
         s[2].y = time
         s[1].y = m.u[1]
         s[2].y = m.u[2]",
    );
}

#[test]
fn connectors_may_be_nested_and_hold_arrays_and_records() {
    check(
        "record C Real re; Real im; end C;
         connector Pin C v; flow C i; end Pin;
         connector Plug Pin p[2]; Real x[0]; end Plug;
         model Source Plug plug; equation for k in 1:2 loop plug.p[k].v.re = k; plug.p[k].v.im = 0; end for; end Source;
         model Sink Plug plug; end Sink;
         model M Source s; Sink t; equation connect(s.plug, t.plug); end M;",
        "s.plug.p[1].v.re = 1.0
         s.plug.p[1].v.im = 0.0
         s.plug.p[2].v.re = 2.0
         s.plug.p[2].v.im = 0.0
         s.plug.p[1].v.re = t.plug.p[1].v.re
         s.plug.p[1].v.im = t.plug.p[1].v.im
         s.plug.p[2].v.re = t.plug.p[2].v.re
         s.plug.p[2].v.im = t.plug.p[2].v.im
         (s.plug.p[1].i.re + t.plug.p[1].i.re) = 0.0
         (s.plug.p[1].i.im + t.plug.p[1].i.im) = 0.0
         (s.plug.p[2].i.re + t.plug.p[2].i.re) = 0.0
         (s.plug.p[2].i.im + t.plug.p[2].i.im) = 0.0",
    );
}

#[test]
fn connected_parameters_are_asserted_equal() {
    check(
        "connector C parameter Real p; Real v; flow Real i; end C;
         model A C c; end A;
         model M A a(c.p = 1); A b(c.p = 2); A d(c.p = 1); equation connect(a.c, b.c); connect(a.c, d.c); end M;",
        "a.c.v = b.c.v
         a.c.v = d.c.v
         ((a.c.i + b.c.i) + d.c.i) = 0.0
         assert (a.c.p == b.c.p)",
    );
}

#[test]
fn unequal_connectors_are_an_error() {
    let two = |a: &str, b: &str| {
        format!(
            "connector A {a} end A; connector B {b} end B; model X A c; end X; model Y B c; end Y;
             model M X x; Y y; equation connect(x.c, y.c); end M;"
        )
    };
    for (a, b) in [
        ("Real v; flow Real i;", "Real u; flow Real i;"),
        ("Real v; flow Real i;", "Real v;"),
        ("Real v;", "Real v; Real w;"),
        ("Real v;", "Integer v;"),
        ("Real v[2];", "Real v[3];"),
        ("flow Real v;", "Real v;"),
        ("input Real v;", "Real v;"),
        ("parameter Real v = 1;", "Real v;"),
        ("stream Real v; flow Real i;", "Real v; flow Real i;"),
    ] {
        check_error(&two(a, b), "connector-mismatch");
    }
}

#[test]
fn two_sources_of_one_signal_are_an_error() {
    let blocks = "connector In = input Real; connector Out = output Real;
                  block A Out y = 1; end A; block B In u; end B;";
    check_error(
        &with(
            blocks,
            "model M A a, b; B c; equation connect(a.y, c.u); connect(b.y, c.u); end M;",
        ),
        "connector-mismatch",
    );
    check_error(
        &with(
            blocks,
            "model M A a; In u; B c; equation connect(a.y, c.u); connect(u, c.u); end M;",
        ),
        "connector-mismatch",
    );
}

#[test]
fn cardinality_counts_connects() {
    check(
        &with(
            ELECTRICAL,
            "model A Pin p; Real n; equation n = cardinality(p); p.v = 0; end A;
             model M A a, b, c; equation connect(a.p, b.p); connect(a.p, c.p); end M;",
        ),
        "a.n = 2
         b.n = 1
         c.n = 1
         a.p.v = 0.0
         b.p.v = 0.0
         c.p.v = 0.0
         a.p.v = b.p.v
         a.p.v = c.p.v
         ((a.p.i + b.p.i) + c.p.i) = 0.0",
    );
}

#[test]
fn every_flow_variable_is_a_variable_of_the_model() {
    let found = variables(&with(ELECTRICAL, "model M Pin p; equation p.v = 1; end M;"));
    assert_eq!(found.len(), 2, "{found:?}");
}
