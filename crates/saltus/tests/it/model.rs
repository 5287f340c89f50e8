//! Compiled models: what they say about themselves, and settings of every type.

use saltus::{Causality, Model, Session, Value, ValueType, VariableKind};

const TEXT: &str = r#"
package P
  type Law = enumeration(Linear "x", Square "x^2");
  function lookup
    input String name;
    output Real y;
  algorithm
    y := if name == "large" then 100 else 1;
  end lookup;
  model Tank "A tank"
    parameter Real A(min = 0.5, max = 10, unit = "m2", displayUnit = "cm2") = 2 "Area";
    parameter Real limit(min = A) = 20;
    parameter Integer n(min = 1) = 2 "Outlets";
    parameter Boolean open = true;
    parameter Law law = Law.Linear;
    parameter String size = "small";
    parameter Real k[2, 2] = {{1, 2}, {3, 4}};
    final parameter Real fixedOne = 1;
    parameter Real derived = 2*A;
    constant Real c = 3;
    input Real u(start = 0.25);
    output Real y = h + c;
    Real h(start = 4, fixed = true);
    Real minus = -h;
    Real out[n];
    Real scale = lookup(size);
    Integer count(start = 0, fixed = true);
  equation
    A*der(h) = u - sum(out) + k[2, 1]*fixedOne;
    for i in 1:n loop
      out[i] = if not open then 0 elseif law == Law.Linear then h else h^2;
    end for;
    when sample(0.5, 0.5) then
      count = pre(count) + 1;
    end when;
  end Tank;
end P;
"#;

fn tank() -> Model {
    let mut session = Session::new();
    session.set_text("tank.mo", TEXT);
    session.compile("P.Tank").unwrap_or_else(|e| panic!("{e}"))
}

fn refusal(settings: &[(&str, Value)]) -> String {
    let settings = settings.iter().cloned();
    match tank().with(settings) {
        Ok(_) => panic!("the setting is wrong and was taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_model_says_what_can_be_set_and_seen() {
    let model = tank();
    let parameters = model.parameters();
    let by_name = |name: &str| {
        let found = parameters.iter().find(|p| p.name == name);
        found.unwrap_or_else(|| panic!("no parameter {name}"))
    };
    let area = by_name("A");
    assert_eq!((area.min, area.max), (0.5, 10.0));
    assert_eq!(
        (area.unit.as_str(), area.display_unit.as_str()),
        ("m2", "cm2")
    );
    assert_eq!(area.description, "Area");
    assert_eq!(area.value, Some(Value::Real(2.0)));
    assert!(area.settable && area.structural.is_none());
    assert_eq!(by_name("limit").min, 2.0);
    assert_eq!(by_name("derived").value, Some(Value::Real(4.0)));
    let n = by_name("n");
    assert_eq!(
        (n.ty, n.value.clone()),
        (ValueType::Integer, Some(Value::Integer(2)))
    );
    assert!(n.settable && n.structural.is_some());
    let law = by_name("law");
    assert_eq!(law.value, Some(Value::from("Linear")));
    assert_eq!(law.literals, ["Linear", "Square"]);
    assert_eq!(by_name("size").value, Some(Value::from("small")));
    assert_eq!(by_name("open").value, Some(Value::Boolean(true)));
    assert!(!by_name("fixedOne").settable);
    let inputs = model.inputs();
    assert_eq!(inputs.len(), 1);
    assert_eq!(
        (inputs[0].name.as_str(), inputs[0].causality),
        ("u", Causality::Input)
    );
    assert_eq!(model.outputs()[0].name, "y");
    let variables = model.variables();
    assert!(
        variables
            .iter()
            .any(|v| v.name == "c" && v.kind == VariableKind::Constant)
    );
}

#[test]
fn settings_of_every_type_are_taken() {
    let set = tank().with([
        ("A", 4.into()),
        ("n", 3.into()),
        ("open", true.into()),
        ("law", "P.Law.Square".into()),
        ("size", "large".into()),
        ("k", [[1.0, 2.0], [5.0, 4.0]].into()),
        ("h", 2.0.into()),
    ]);
    let set = set.unwrap_or_else(|e| panic!("{e}"));
    let run = (set.experiment().stop_time(0.0).simulate()).unwrap_or_else(|e| panic!("{e}"));
    // 4 h' = 0.25 - 3·2² + 5
    assert!((run.last("der(h)").unwrap() - (0.25 - 12.0 + 5.0) / 4.0).abs() < 1e-12);
    assert_eq!(run.last("scale").unwrap(), 100.0);
    assert_eq!(run.last("y").unwrap(), 5.0);
    assert_eq!(run.last("derived").unwrap(), 8.0);
    // A later setting takes the place of an earlier one, and the others stay.
    let again = set
        .with([("n", 1.into()), ("size", "small".into())])
        .unwrap();
    let run = again.experiment().stop_time(0.0).simulate().unwrap();
    assert!((run.last("der(h)").unwrap() - (0.25 - 4.0 + 5.0) / 4.0).abs() < 1e-12);
    assert_eq!(run.last("scale").unwrap(), 1.0);
    // The model that they were made from is what it was.
    let first = tank().experiment().stop_time(0.0).simulate().unwrap();
    assert!((first.last("der(h)").unwrap() - (0.25 - 8.0 + 3.0) / 2.0).abs() < 1e-12);
}

#[test]
fn an_alias_is_set_with_its_sign() {
    let mut session = Session::new();
    session.set_text(
        "alias.mo",
        "model M parameter Real p = 1; parameter Real q = -p; Real x(start = 1), y(start = 2, fixed = true); equation y = -x; der(x) = 0; end M;",
    );
    let model = session.compile("M").unwrap_or_else(|e| panic!("{e}"));
    let set = model.with([("y", 5.0.into())]).unwrap();
    let run = set.experiment().stop_time(0.0).simulate().unwrap();
    assert_eq!(
        (run.last("y").unwrap(), run.last("x").unwrap()),
        (5.0, -5.0)
    );
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    for (settings, expected) in [
        (vec![("A", Value::from(0.1))], "less than its `min` of 0.5"),
        (vec![("A", Value::from(11))], "more than its `max` of 10"),
        (
            vec![("A", 4.0.into()), ("limit", 3.0.into())],
            "less than its `min` of 4",
        ),
        (
            vec![("n", Value::from(2.5))],
            "`n` is an Integer, and 2.5 is a Real",
        ),
        (vec![("n", Value::from(0))], "less than its `min` of 1"),
        (
            vec![("open", Value::from(1))],
            "`open` is a Boolean, and 1 is an Integer",
        ),
        (
            vec![("law", Value::from("Cubic"))],
            "`law` is one of Linear, Square",
        ),
        (
            vec![("law", Value::from(3))],
            "`law` is one of Linear, Square",
        ),
        (
            vec![("size", Value::from(3))],
            "`size` is a String, and 3 is an Integer",
        ),
        (
            vec![("A", Value::from("much"))],
            "`A` is a Real, and \"much\" is a String",
        ),
        (
            vec![("A", Value::from(f64::NAN))],
            "`A` cannot be set to NaN",
        ),
        (
            vec![("k", Value::from(1.0))],
            "`k` is an array of 4 elements, and 1.0 is a Real",
        ),
        (vec![("k", Value::from([1.0, 2.0]))], "`k` has 4 elements"),
        (
            vec![("k", Value::from([1.0, 2.0, 3.0, 4.0]))],
            "has another size than `k`",
        ),
        (vec![("A", Value::from([1.0]))], "`A` is a scalar"),
        (vec![("fixedOne", Value::from(2.0))], "it is final"),
        (vec![("c", Value::from(2.0))], "it is a constant"),
        (
            vec![("y", Value::from(2.0))],
            "it has no start value of its own",
        ),
        (
            vec![("a", Value::from(2.0))],
            "the model has no variable `a`; did you mean",
        ),
        (
            vec![("n", 3.into()), ("out[4]", 1.0.into())],
            "the model has no variable `out[4]`",
        ),
    ] {
        let text = refusal(&settings);
        assert!(text.contains(expected), "{settings:?}: {text}");
    }
}

#[test]
fn structural_settings_are_compiled_once() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let compiled = Arc::new(AtomicUsize::new(0));
    let mut session = Session::new();
    session.set_text("tank.mo", TEXT);
    let count = compiled.clone();
    session.on_stage(move |stage, _| {
        if stage == saltus::Stage::Codegen {
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let model = session.compile("P.Tank").unwrap();
    for _ in 0..3 {
        for n in [1, 2, 3] {
            for a in [1.0, 2.0] {
                model.with([("n", n.into()), ("A", a.into())]).unwrap();
            }
        }
    }
    assert_eq!(compiled.load(Ordering::Relaxed), 1 + 3);
    // The text has changed; the model is still that of the old one.
    session.set_text("tank.mo", "package P end P;");
    assert!(model.with([("n", 4.into())]).is_ok());
    assert!(session.compile("P.Tank").is_err());
}
