//! Expandable connectors (specification 9.1.3).

use crate::support::{check, check_error, variables};

const BLOCKS: &str = "
connector In = input Real; connector Out = output Real;
block Sensor Out speed = time; end Sensor;
block Actuator In speed; end Actuator;
expandable connector Bus end Bus;
";

#[test]
fn members_come_from_connects_and_spread_along_the_bus() {
    check(
        &format!(
            "{BLOCKS}
             model WithSensor Bus bus; Sensor s; equation connect(bus.speed, s.speed); end WithSensor;
             model WithActuator Bus bus; Actuator a; equation connect(bus.speed, a.speed); end WithActuator;
             model M WithActuator x; WithSensor y; Bus bus; equation connect(bus, x.bus); connect(bus, y.bus); end M;"
        ),
        "y.s.speed = time
         bus.speed = x.bus.speed
         bus.speed = y.bus.speed
         x.bus.speed = x.a.speed
         y.bus.speed = y.s.speed",
    );
}

#[test]
fn a_bus_may_be_added_to_a_bus() {
    check(
        &format!(
            "{BLOCKS}
             model Part Bus sub; Sensor s; equation connect(s.speed, sub.v); end Part;
             model User Bus sub; Actuator a; equation connect(sub.v, a.speed); end User;
             model M Part p; User u; Bus bus; equation connect(p.sub, bus.inner_bus); connect(bus.inner_bus, u.sub); end M;"
        ),
        "p.s.speed = time
         p.sub.v = p.s.speed
         u.sub.v = u.a.speed
         bus.inner_bus.v = p.sub.v
         bus.inner_bus.v = u.sub.v",
    );
}

#[test]
fn unused_declared_members_are_not_there() {
    let found = variables(&format!(
        "{BLOCKS} expandable connector Declared Real a; Real b; Bus c; end Declared;
         model M Sensor s; Declared bus; equation connect(s.speed, bus.a); end M;"
    ));
    assert_eq!(found, ["s.speed", "bus.a"]);
}

#[test]
fn elements_of_an_added_array_are_connected_one_by_one() {
    check(
        &format!(
            "{BLOCKS} model M Sensor s; Sensor t; Bus bus; equation connect(s.speed, bus.v[2]); connect(t.speed, bus.v[1]); end M;"
        ),
        "s.speed = time
         t.speed = time
         bus.v[2] = s.speed
         bus.v[1] = t.speed",
    );
}

#[test]
fn two_undeclared_ends_are_an_error() {
    check_error(
        &format!("{BLOCKS} model M Bus a; Bus b; equation connect(a.x, b.x); end M;"),
        "connector-mismatch",
    );
}

#[test]
fn a_bus_does_not_connect_to_other_connectors() {
    check_error(
        &format!(
            "{BLOCKS} connector C Real v; end C; model M Bus a; C c; equation connect(a, c); end M;"
        ),
        "connector-mismatch",
    );
}
