//! Documents: edits, diagnostics, outline, folds, selection, colours, layout.

use crate::Client;
use serde_json::{Value, json};

const URI: &str = "file:///models/M.mo";

#[test]
fn syntax_is_reported_at_once_and_classes_a_little_later() {
    let mut client = Client::new(None, &[]);
    client.open(URI, "model M\n  Real x;\nequation\n  x = y;\nend M;\n");
    let found = client.wait_for(URI, |list| !list.is_empty());
    assert_eq!(found[0]["code"], "unknown-name");
    assert_eq!(
        found[0]["range"],
        json!({ "start": { "line": 3, "character": 6 }, "end": { "line": 3, "character": 7 } })
    );

    let range =
        json!({ "start": { "line": 3, "character": 6 }, "end": { "line": 3, "character": 7 } });
    client.change(URI, json!([{ "range": range, "text": "2*" }]));
    let found = client.wait_for(URI, |list| list.iter().any(|d| d["code"] == "syntax-error"));
    assert_eq!(found.len(), 1);

    client.change(URI, json!([{ "text": "model M\n  Real x = 1;\nend M;\n" }]));
    client.wait_for(URI, <[Value]>::is_empty);
}

#[test]
fn columns_are_utf16() {
    let mut client = Client::new(None, &[]);
    client.open(URI, "model M \"\u{1f600} \u{e4}\" Real x = y; end M;");
    let found = client.wait_for(URI, |list| !list.is_empty());
    let column = "model M \"\u{1f600} \u{e4}\" Real x = "
        .encode_utf16()
        .count();
    assert_eq!(
        found[0]["range"]["start"],
        json!({ "line": 0, "character": column })
    );
}

#[test]
fn partial_classes_and_open_components_are_no_errors() {
    let mut client = Client::new(None, &[]);
    let text = "package P\n  connector Pin Real v; flow Real i; end Pin;\n  partial model Two Pin p; Pin n; Real v; equation v = p.v - n.v; 0 = p.i + n.i; end Two;\n  model R extends Two; parameter Real R; equation v = R*p.i; end R;\n  function f input Real u; output Real y; algorithm y := u; end f;\n  model Bad extends Nothing; end Bad;\nend P;\n";
    client.open(URI, text);
    let found = client.wait_for(URI, |list| !list.is_empty());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (
            found[0]["code"].as_str(),
            &found[0]["range"]["start"]["line"]
        ),
        (Some("unknown-class"), &json!(5))
    );
}

#[test]
fn outline_has_classes_with_their_components() {
    let mut client = Client::new(None, &[]);
    client.open(URI, "package P\n  model M \"a model\"\n    Real x, y;\n  end M;\n  type E = enumeration(a, b);\nend P;\n");
    let symbols = client.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": URI } }),
    );
    let names = |of: &Value| -> Vec<String> {
        let list = of["children"].as_array().cloned().unwrap_or_default();
        list.iter()
            .map(|s| s["name"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(symbols[0]["name"], "P");
    assert_eq!(names(&symbols[0]), ["M", "E"]);
    assert_eq!(names(&symbols[0]["children"][0]), ["x", "y"]);
    assert_eq!(names(&symbols[0]["children"][1]), ["a", "b"]);
    assert_eq!(symbols[0]["children"][0]["detail"], "a model");
}

#[test]
fn classes_sections_and_structures_fold() {
    let mut client = Client::new(None, &[]);
    client.open(URI, "model M\n  import A.B;\n  import A.C;\n  // one\n  // two\n  Real x;\nequation\n  if x > 0 then\n    x = 1;\n  end if;\nend M;\n");
    let folds = client.ask(
        "textDocument/foldingRange",
        json!({ "textDocument": { "uri": URI } }),
    );
    let lines: Vec<(u64, u64)> = folds
        .as_array()
        .expect("a list")
        .iter()
        .map(|f| {
            (
                f["startLine"].as_u64().unwrap_or(99),
                f["endLine"].as_u64().unwrap_or(99),
            )
        })
        .collect();
    for expected in [(0, 10), (1, 2), (3, 4), (7, 9)] {
        assert!(lines.contains(&expected), "{expected:?} in {lines:?}");
    }
}

#[test]
fn selection_grows_from_token_to_file() {
    let mut client = Client::new(None, &[]);
    client.open(URI, "model M\n  Real x(start = 1);\nend M;\n");
    let params =
        json!({ "textDocument": { "uri": URI }, "positions": [{ "line": 1, "character": 10 }] });
    let ranges = client.ask("textDocument/selectionRange", params);
    let mut widths = Vec::new();
    let mut at = &ranges[0];
    while at.is_object() {
        widths.push((at["range"]["start"].clone(), at["range"]["end"].clone()));
        at = &at["parent"];
    }
    assert_eq!(
        widths[0],
        (
            json!({ "line": 1, "character": 9 }),
            json!({ "line": 1, "character": 14 })
        )
    );
    assert_eq!(
        widths.last().map(|w| w.0.clone()),
        Some(json!({ "line": 0, "character": 0 }))
    );
    assert!(widths.len() >= 5, "{widths:?}");
}

#[test]
fn colours_tell_types_from_values() {
    let mut client = Client::new(None, &[]);
    client.open(URI, "model M // c\n  parameter Real p = sin(2);\nend M;\n");
    let tokens = client.ask(
        "textDocument/semanticTokens/full",
        json!({ "textDocument": { "uri": URI } }),
    );
    let data: Vec<u64> = tokens["data"]
        .as_array()
        .expect("numbers")
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    let kinds: Vec<u64> = data.chunks(5).map(|token| token[3]).collect();
    // model M comment parameter Real p sin 2 end; the name behind `end` has no colour of its own.
    assert_eq!(kinds, [8, 2, 11, 8, 1, 5, 3, 10, 8]);
}

#[test]
fn formatting_moves_white_space_only() {
    let mut client = Client::new(None, &[]);
    let text = "model M\nReal x=1 ;\nReal y=2 ;\nend M;\n";
    client.open(URI, text);
    let options = json!({ "tabSize": 2, "insertSpaces": true });
    let edits = client.ask(
        "textDocument/formatting",
        json!({ "textDocument": { "uri": URI }, "options": options }),
    );
    assert_eq!(edits.as_array().map(Vec::len), Some(4), "{edits}");
    let range =
        json!({ "start": { "line": 2, "character": 0 }, "end": { "line": 2, "character": 5 } });
    let edits = client.ask(
        "textDocument/rangeFormatting",
        json!({ "textDocument": { "uri": URI }, "range": range, "options": options }),
    );
    assert_eq!(edits.as_array().map(Vec::len), Some(2), "{edits}");
    client.open("file:///models/N.mo", "model N Real x(; end N;");
    let refused = client.ask(
        "textDocument/formatting",
        json!({ "textDocument": { "uri": "file:///models/N.mo" }, "options": options }),
    );
    assert_eq!(refused, Value::Null);
}

#[test]
fn random_edits_give_the_text_that_is_meant() {
    let mut client = Client::new(None, &[]);
    let mut text =
        "model M \"\u{e4}\u{1f600}\"\n  Real x;\nequation\n  x = 1;\nend M;\n".to_owned();
    client.open(URI, &text);
    let mut seed = 12_345_u64;
    let mut random = |n: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let pieces = [
        "x",
        " ",
        "\n",
        "Real y;",
        "\u{1f600}",
        "(",
        "\"",
        "end",
        "\r\n",
        "",
    ];
    for round in 0..10_000 {
        let chars: Vec<usize> = text
            .char_indices()
            .map(|(at, _)| at)
            .chain([text.len()])
            .collect();
        let first = random(chars.len());
        let last = (first + random(4)).min(chars.len() - 1);
        let (start, end) = (chars[first], chars[last]);
        let piece = if text.len() > 400 {
            ""
        } else {
            pieces[random(pieces.len())]
        };
        // A place between the two bytes of a line end means the place before them.
        let in_line_end = |at: usize| text[..at].ends_with('\r') && text[at..].starts_with('\n');
        if in_line_end(start) || in_line_end(end) {
            continue;
        }
        let place = |at: usize| {
            let line = text[..at].matches('\n').count();
            let begin = text[..at].rfind('\n').map_or(0, |n| n + 1);
            json!({ "line": line, "character": text[begin..at].encode_utf16().count() })
        };
        // A carriage return by itself ends no line for the server's columns.
        if text[..end].ends_with('\r') || text[..start].ends_with('\r') {
            continue;
        }
        let range = json!({ "start": place(start), "end": place(end) });
        text.replace_range(start..end, piece);
        client.change(URI, json!([{ "range": range, "text": piece }]));
        if round % 500 == 0 {
            client.ask(
                "textDocument/documentSymbol",
                json!({ "textDocument": { "uri": URI } }),
            );
        }
    }
    // The server's text is seen through an edit: what it removes is what is there.
    client.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": URI } }),
    );
    let fresh = "file:///models/Fresh.mo";
    client.open(fresh, &text);
    let of = |client: &mut Client, uri: &str| {
        client.ask(
            "textDocument/semanticTokens/full",
            json!({ "textDocument": { "uri": uri } }),
        )
    };
    let (edited, opened) = (of(&mut client, URI), of(&mut client, fresh));
    assert_eq!(edited["data"], opened["data"]);
}
