//! The virtual connection graph (specification 9.4).

use crate::support::{check, check_error};

const ANGLE: &str = "
record Orientation Real phi; Real w;
  function equalityConstraint input Orientation a; input Orientation b; output Real residue[1];
  algorithm residue := {a.phi - b.phi}; end equalityConstraint;
end Orientation;
connector Frame Orientation R; flow Real f; end Frame;
model World Frame b; equation Connections.root(b.R); b.R.phi = 0; b.R.w = 0; end World;
model Rod Frame a; Frame b; equation Connections.branch(a.R, b.R); a.f + b.f = 0;
  if Connections.rooted(a.R) then b.R.phi = a.R.phi; b.R.w = 1; else a.R.phi = b.R.phi; a.R.w = 2; end if; end Rod;
";

fn rod(name: &str, forwards: bool) -> String {
    let state = if forwards {
        format!("{name}.b.R.phi = {name}.a.R.phi\n{name}.b.R.w = 1.0")
    } else {
        format!("{name}.a.R.phi = {name}.b.R.phi\n{name}.a.R.w = 2.0")
    };
    format!("{state}\n({name}.a.f + {name}.b.f) = 0.0")
}

#[test]
fn a_loop_is_broken_at_one_connect() {
    let expected = [
        "w.b.R.phi = 0.0",
        "w.b.R.w = 0.0",
        &rod("p", true),
        &rod("q", true),
        "w.b.R.phi = p.a.R.phi",
        "w.b.R.w = p.a.R.w",
        "p.b.R.phi = q.a.R.phi",
        "p.b.R.w = q.a.R.w",
        "((w.b.f + p.a.f) + q.b.f) = 0.0",
        "(p.b.f + q.a.f) = 0.0",
        "(q.b.R.phi - w.b.R.phi) = 0.0",
    ];
    check(
        &format!(
            "{ANGLE} model M World w; Rod p, q; equation connect(w.b, p.a); connect(p.b, q.a); connect(q.b, w.b); end M;"
        ),
        &expected.join("\n"),
    );
}

#[test]
fn the_potential_root_of_lowest_priority_is_chosen() {
    let text = format!(
        "{ANGLE} model Body parameter Integer priority = 0; Frame a; Real r; equation
           Connections.potentialRoot(a.R, priority);
           if Connections.isRoot(a.R) then a.R.phi = 5; a.R.w = 6; r = 1; else r = 0; end if; end Body;
         model M Body x(priority = 2), y(priority = 1); Rod p; equation connect(x.a, p.a); connect(p.b, y.a); end M;"
    );
    let expected = [
        "x.r = 0.0",
        "y.a.R.phi = 5.0",
        "y.a.R.w = 6.0",
        "y.r = 1.0",
        &rod("p", false),
        "x.a.R.phi = p.a.R.phi",
        "x.a.R.w = p.a.R.w",
        "p.b.R.phi = y.a.R.phi",
        "p.b.R.w = y.a.R.w",
        "(x.a.f + p.a.f) = 0.0",
        "(p.b.f + y.a.f) = 0.0",
    ];
    check(&text, &expected.join("\n"));
}

#[test]
fn two_roots_joined_by_branches_are_an_error() {
    check_error(
        &format!(
            "{ANGLE} model M Frame a; Frame b; equation Connections.root(a.R); Connections.root(b.R); Connections.branch(a.R, b.R); end M;"
        ),
        "overconstrained-branches",
    );
}
