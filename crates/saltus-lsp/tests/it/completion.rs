//! What is offered at a cursor, and the inputs of functions.

use crate::Client;
use crate::client::marked;
use serde_json::Value;

const URI: &str = "file:///models/M.mo";

/// A package with a model whose element or equation is put in.
fn text(element: &str, equation: &str) -> String {
    format!(
        "package P
  type Kind = enumeration(soft, hard);
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model R
    parameter Real resistance(unit = \"Ohm\") = 1;
    parameter Kind kind = Kind.soft;
    Pin plus;
    Pin minus;
  protected
    Real hidden;
  end R;
  function mean
    input Real first;
    input Real second = 0;
    output Real y;
  algorithm
    y := (first + second)/2;
  end mean;
  model M
    R r1;
    Real level;
    {element}
  equation
    level = 1;
    {equation}
  end M;
end P;
"
    )
}

fn offers(text: &str) -> Vec<String> {
    let (text, position) = marked(text);
    let mut client = Client::new(None, &[]);
    client.open(URI, &text);
    let found = client.ask_at("textDocument/completion", URI, &position);
    let items = found["items"].as_array().cloned().unwrap_or_default();
    items
        .iter()
        .filter_map(|item| item["label"].as_str().map(str::to_owned))
        .collect()
}

fn has(text: &str, expected: &[&str], forbidden: &[&str]) {
    let offers = offers(text);
    for name in expected {
        assert!(offers.iter().any(|o| o == name), "no {name} in {offers:?}");
    }
    for name in forbidden {
        assert!(!offers.iter().any(|o| o == name), "{name} in {offers:?}");
    }
}

#[test]
fn members_behind_a_dot() {
    has(
        &text("", "level = r1.<|>;"),
        &["resistance", "plus", "minus"],
        &["hidden", "level"],
    );
    has(&text("", "level = r1.plus.<|>;"), &["v", "i"], &["plus"]);
    has(
        &text("", "connect(r1.pl<|>, r1.minus);"),
        &["plus"],
        &["minus"],
    );
    has(
        &text("parameter Kind k = Kind.<|>;", ""),
        &["soft", "hard"],
        &[],
    );
    has(&text("P.<|>", ""), &["R", "Pin", "M", "mean"], &[]);
    has(&text("import P.<|>;", ""), &["R", "Pin"], &[]);
}

#[test]
fn modifiers_and_attributes() {
    has(
        &text("R r2(<|>);", ""),
        &["resistance", "kind", "plus"],
        &["hidden"],
    );
    has(
        &text("R r2(resistance = 1, k<|>);", ""),
        &["kind"],
        &["resistance"],
    );
    has(&text("R r2(plus(<|>));", ""), &["v", "i"], &["resistance"]);
    has(
        &text("Real x(<|>);", ""),
        &["start", "unit", "min", "fixed"],
        &[],
    );
    has(
        &text("R r2(resistance(<|>));", ""),
        &["start", "unit"],
        &["kind"],
    );
    has(&text("extends R(<|>);", ""), &["resistance"], &[]);
    has(&text("model R2 = R(<|>);", ""), &["resistance"], &[]);
}

#[test]
fn values_of_enumerations_units_and_annotations() {
    has(
        &text("R r2(kind = <|>);", ""),
        &["P.Kind.soft", "P.Kind.hard"],
        &[],
    );
    has(&text("Real x(unit = \"<|>\");", ""), &["m", "rad/s"], &[]);
    has(
        &text("Real x annotation(<|>);", ""),
        &["Dialog", "Placement"],
        &["resistance"],
    );
    has(
        &text("Real x annotation(Dialog(<|>));", ""),
        &["tab", "group"],
        &["Placement"],
    );
}

#[test]
fn names_of_the_scope() {
    has(
        &text("<|>", ""),
        &["R", "Pin", "Real", "parameter", "P"],
        &[],
    );
    has(&text("parameter <|>", ""), &["Kind", "Real"], &[]);
    has(&text("", "lev<|>"), &["level"], &[]);
    has(
        &text("", "level = <|>;"),
        &["r1", "mean", "sin", "time"],
        &[],
    );
    assert_eq!(offers(&text("", "lev<|>"))[0], "level");
    assert!(offers(&text("// <|>", "")).is_empty());
}

#[test]
fn arguments_of_functions() {
    has(
        &text("", "level = mean(<|>);"),
        &["first", "second", "level"],
        &[],
    );
    let (text, position) = marked(&text("", "level = mean(1, <|>);"));
    let mut client = Client::new(None, &[]);
    client.open(URI, &text);
    let help = client.ask_at("textDocument/signatureHelp", URI, &position);
    assert_eq!(help["activeParameter"], 1, "{help}");
    assert_eq!(
        help["signatures"][0]["label"],
        "P.mean(Real first, Real second) → Real y"
    );
    assert_eq!(
        help["signatures"][0]["parameters"].as_array().map(Vec::len),
        Some(2)
    );
    let _: &Value = &help;
}
