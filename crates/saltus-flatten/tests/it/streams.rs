//! Stream connectors (specification chapter 15).

use crate::support::check;

const FLUID: &str = "
connector Port Real p; flow Real m_flow; stream Real h; end Port;
connector SourceOnly Real p; flow Real m_flow(min = 0); stream Real h; end SourceOnly;
model Volume Port port; Real h; equation port.h = 1; port.p = 2; h = inStream(port.h); end Volume;
model Sink SourceOnly port; Real h; equation port.h = 3; port.p = 4; h = inStream(port.h); end Sink;
";

#[test]
fn an_unconnected_port_gets_its_own_value() {
    check(
        &format!("{FLUID} model M Volume a; end M;"),
        "a.port.h = 1.0
         a.port.p = 2.0
         a.h = a.port.h
         a.port.m_flow = 0.0",
    );
}

#[test]
fn two_ports_exchange_values_without_division() {
    check(
        &format!("{FLUID} model M Volume a, b; equation connect(a.port, b.port); end M;"),
        "a.port.h = 1.0
         a.port.p = 2.0
         a.h = b.port.h
         b.port.h = 1.0
         b.port.p = 2.0
         b.h = a.port.h
         a.port.p = b.port.p
         (a.port.m_flow + b.port.m_flow) = 0.0",
    );
}

#[test]
fn a_port_that_never_gives_is_left_out_of_the_mixing() {
    check(
        &format!(
            "{FLUID} model M Volume a; Sink b, c; equation connect(a.port, b.port); connect(a.port, c.port); end M;"
        ),
        "a.port.h = 1.0
         a.port.p = 2.0
         a.h = a.port.h
         b.port.h = 3.0
         b.port.p = 4.0
         b.h = a.port.h
         c.port.h = 3.0
         c.port.p = 4.0
         c.h = a.port.h
         a.port.p = b.port.p
         a.port.p = c.port.p
         ((a.port.m_flow + b.port.m_flow) + c.port.m_flow) = 0.0",
    );
}

#[test]
fn three_ports_mix_by_regularised_flows() {
    // w(v) = alpha*max(v, 0) + (1 - alpha)*eps with the sum of both outflows in alpha.
    let weight = |port: &str, s: &str| {
        let alpha = format!(
            "if ({s} > 1e-6) then 1.0 else if ({s} > 0.0) then ((({s} / 1e-6) * ({s} / 1e-6)) * (3.0 - (2.0 * ({s} / 1e-6)))) else 0.0"
        );
        format!("noEvent((({alpha} * max(-{port}.port.m_flow, 0.0)) + ((1.0 - {alpha}) * 1e-6)))")
    };
    let mixed = |x: &str, y: &str| {
        let s = format!("(max(-{x}.port.m_flow, 0.0) + max(-{y}.port.m_flow, 0.0))");
        let (wx, wy) = (weight(x, &s), weight(y, &s));
        format!("((({wx} * {x}.port.h) + ({wy} * {y}.port.h)) / ({wx} + {wy}))")
    };
    let mut expected: Vec<String> = ["a", "b", "c"]
        .iter()
        .flat_map(|v| [format!("{v}.port.h = 1.0"), format!("{v}.port.p = 2.0")])
        .collect();
    expected.push(format!("a.h = {}", mixed("b", "c")));
    expected.push(format!("b.h = {}", mixed("a", "c")));
    expected.push(format!("c.h = {}", mixed("a", "b")));
    expected.push("a.port.p = b.port.p".into());
    expected.push("a.port.p = c.port.p".into());
    expected.push("((a.port.m_flow + b.port.m_flow) + c.port.m_flow) = 0.0".into());
    check(
        &format!(
            "{FLUID} model M Volume a, b, c; equation connect(a.port, b.port); connect(a.port, c.port); end M;"
        ),
        &expected.join("\n"),
    );
}

#[test]
fn an_outside_port_passes_values_both_ways() {
    check(
        &format!(
            "{FLUID} model Wrapped Port port; Volume v; equation connect(port, v.port); end Wrapped;
             model M Wrapped w; Volume a; equation connect(w.port, a.port); end M;"
        ),
        "a.port.h = 1.0
         a.port.p = 2.0
         a.h = w.port.h
         w.v.port.h = 1.0
         w.v.port.p = 2.0
         w.v.h = a.port.h
         w.port.h = w.v.port.h
         w.port.p = w.v.port.p
         w.port.p = a.port.p
         (w.port.m_flow - w.v.port.m_flow) = 0.0
         (w.port.m_flow + a.port.m_flow) = 0.0",
    );
}

#[test]
fn flow_times_actual_stream_makes_no_event() {
    check(
        &format!(
            "{FLUID} model Tank Port port; Real H; Real h; equation port.p = 0; port.h = 5;
               H = port.m_flow*actualStream(port.h); h = actualStream(port.h); end Tank;
             model M Tank a; Volume b; equation connect(a.port, b.port); end M;"
        ),
        "a.port.p = 0.0
         a.port.h = 5.0
         a.H = (a.port.m_flow * noEvent(if (a.port.m_flow > 0.0) then b.port.h else a.port.h))
         a.h = if (a.port.m_flow > 0.0) then b.port.h else a.port.h
         b.port.h = 1.0
         b.port.p = 2.0
         b.h = a.port.h
         a.port.p = b.port.p
         (a.port.m_flow + b.port.m_flow) = 0.0",
    );
}
