//! Compiled models as bytes: written, read, and run as if they had just been compiled.

use crate::mdtest::{class_of, root};
use crate::models::{Expect, FOLDERS};
use crate::simulator::Seen;
use saltus::{Memory, Model, Session, State};

fn compile(text: &str) -> Model {
    let mut session = Session::new();
    session.set_text("model.mo", text);
    let class = class_of(text);
    session.compile(&class).unwrap_or_else(|e| panic!("{e}"))
}

fn again(model: &Model) -> Model {
    Model::from_bytes(&model.to_bytes()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_model_read_from_bytes_gives_the_same_run() {
    let only = std::env::var("SALTUS_MODEL").ok();
    for folder in FOLDERS {
        if only.as_deref().is_some_and(|only| only != *folder) {
            continue;
        }
        let path = root().join("models").join(folder);
        let read = |name: &str| {
            let file = path.join(name);
            std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
        };
        let (text, expect) = (read("model.mo"), Expect::parse(&read("expect.toml")));
        let mut session = Session::new();
        session.add_library_path(root().join("library"));
        session.set_text("model.mo", text.clone());
        let model = session.compile(&class_of(&text));
        let model = model.unwrap_or_else(|e| panic!("{folder}: {e}"));
        let simulate = |model: &Model| {
            let experiment = (model.experiment())
                .start_time(expect.start_time)
                .stop_time(expect.stop_time)
                .tolerance(expect.tolerance)
                .intervals(40);
            Seen::of(experiment.simulate())
        };
        let bytes = model.to_bytes();
        let whole = simulate(&model);
        let stored = Model::from_bytes(&bytes).unwrap_or_else(|e| panic!("{folder}: {e}"));
        simulate(&stored).compare(&whole, folder);
        // Modes that the model has met meanwhile are no part of it, and reading changes nothing.
        assert!(
            model.to_bytes() == bytes,
            "{folder}: a run changes the bytes"
        );
        assert!(
            stored.to_bytes() == bytes,
            "{folder}: reading changes the bytes"
        );
        assert_eq!(
            stored.warnings().to_string(),
            model.warnings().to_string(),
            "{folder}"
        );
    }
}

const TANKS: &str = "
model Tanks
  type Law = enumeration(Linear, Root);
  parameter Integer n = 2 \"Tanks\";
  parameter Real k(min = 0, max = 10, unit = \"1/s\") = 1;
  parameter Law law = Law.Linear;
  parameter String label = \"plain\";
  parameter Boolean drained = true;
  Real h[n](each start = 1, each fixed = true);
equation
  for i in 1:n loop
    der(h[i]) = if law == Law.Linear then -k*h[i] else -k*sqrt(max(h[i], 0));
  end for;
  assert(h[1] > 0.05, \"tank of \" + label + \" is empty\");
end Tanks;
";

#[test]
fn settings_of_a_stored_model_are_those_of_a_compiled_one() {
    let model = compile(TANKS);
    let settings = [
        ("k", 0.5.into()),
        ("n", 4.into()),
        ("law", "Root".into()),
        ("label", "tests".into()),
        ("h[1]", 2.0.into()),
    ];
    let outcome = |model: &Model| Seen::of(model.experiment().stop_time(5.0).simulate());
    let expected = outcome(
        &model
            .with(settings.clone())
            .unwrap_or_else(|e| panic!("{e}")),
    );
    let stored = again(&model);
    let set = stored.with(settings.clone());
    outcome(&set.unwrap_or_else(|e| panic!("{e}"))).compare(&expected, "set after reading");
    let set = model.with(settings).unwrap_or_else(|e| panic!("{e}"));
    outcome(&again(&set)).compare(&expected, "set before writing");
    // What was set can be set again, also what the structure depends on.
    let back = again(&set).with([("n", 2.into()), ("k", 1.into())]);
    let back = back.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(back.info().n_equations, 2);
    assert_eq!(again(&back).parameters(), back.parameters());
    let refused = stored.with([("k", 11.into())]).unwrap_err().to_string();
    assert!(refused.contains("more than its `max` of 10"), "{refused}");
}

#[test]
fn without_its_source_a_model_runs_and_keeps_its_structure() {
    let model = compile(TANKS).without_source();
    let bytes = model.to_bytes();
    let stored = Model::from_bytes(&bytes).unwrap_or_else(|e| panic!("{e}"));
    assert!(stored.with([("k", 0.5.into())]).is_ok());
    let refused = stored.with([("n", 3.into())]).unwrap_err().to_string();
    assert!(
        refused.contains("`n` cannot be set") && refused.contains("compile the model again"),
        "{refused}"
    );
    let holds = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(!holds("for i in 1:n loop"));
}

/// The libraries are carried, so that they can be away when the structure changes; what they do not carry is an error.
#[test]
fn a_model_of_a_library_is_compiled_again_without_the_library() {
    let mut world = Memory::default();
    world.add(
        "/lib/Tanks/package.mo",
        "package Tanks constant Real g = 2; end Tanks;",
    );
    world.add(
        "/lib/Tanks/Row.mo",
        "within Tanks; model Row parameter Integer n = 1; Tank t[n]; Deep deep if n > 9; end Row;",
    );
    world.add(
        "/lib/Tanks/Tank.mo",
        "within Tanks; model Tank Real h(start = 1, fixed = true); equation der(h) = -g*h; end Tank;",
    );
    world.add("/lib/Tanks/Deep.mo", "within Tanks; model Deep end Deep;");
    let mut session = Session::with_world(world);
    session.add_library_path("/lib");
    let model = session.compile("Tanks.Row");
    let model = model.unwrap_or_else(|e| panic!("{e}"));
    let stored = again(&model);
    let three = stored.with([("n", 3.into())]);
    let three = three.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(three.info().n_equations, 3);
    let expected = model.with([("n", 3.into())]);
    let expected = Seen::of(
        expected
            .unwrap_or_else(|e| panic!("{e}"))
            .experiment()
            .simulate(),
    );
    Seen::of(three.experiment().simulate()).compare(&expected, "three");
}

#[test]
fn damaged_bytes_are_refused() {
    let bytes = compile(TANKS).to_bytes();
    for k in (0..bytes.len()).step_by(7).chain(0..32) {
        let mut damaged = bytes.clone();
        damaged[k] ^= 0x10;
        let refused = Model::from_bytes(&damaged)
            .expect_err("damaged")
            .to_string();
        let expected = match k {
            0..8 => "they do not begin as one does",
            8..16 => {
                "another version of Saltus, which this one cannot read: compile the model again from its source"
            }
            _ => "they are damaged",
        };
        assert!(refused.contains(expected), "byte {k}: {refused}");
    }
    for n in [0, 7, 23, 24, bytes.len() - 1] {
        assert!(Model::from_bytes(&bytes[..n]).is_err(), "{n} bytes");
    }
    let state = compile(TANKS).simulator().unwrap().save();
    if let Ok(state) = state {
        assert!(Model::from_bytes(&state.to_bytes()).is_err());
        assert!(State::from_bytes(&bytes).is_err());
    }
}

/// A run goes on elsewhere: model and state went through files.
#[test]
fn a_state_goes_with_a_stored_model() {
    let model = compile(TANKS);
    let mut here = model.simulator().unwrap();
    here.advance_to(0.5).unwrap();
    let state = here.save().unwrap().to_bytes();
    here.advance_to(1.0).unwrap();
    let mut there = again(&model).simulator().unwrap();
    there.restore(&State::from_bytes(&state).unwrap()).unwrap();
    there.advance_to(1.0).unwrap();
    assert_eq!(
        there.get("h[2]").unwrap().to_bits(),
        here.get("h[2]").unwrap().to_bits()
    );
}
