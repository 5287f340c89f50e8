//! Names: declarations, hover, references, renaming, calls, links.

use crate::Client;
use crate::client::marked;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const URI: &str = "file:///models/M.mo";

const TEXT: &str = "package P
  type Resistance = Real(unit = \"Ohm\");
  connector Pin \"a pin\"
    Real v;
    flow Real i;
  end Pin;
  model R \"a resistor\"
    parameter Resistance r = 1 \"resistance\";
    Pin p;
    Pin n;
  equation
    p.v - n.v = r*p.i;
    p.i + n.i = 0;
  end R;
  function square
    input Real u \"what is squared\";
    output Real y;
  algorithm
    y := u*u;
  end square;
  model M
    import Alias = P.R;
    Alias a(r = 5);
    replaceable R b(p(v(start = 3)));
    Real z = square(u = a.r);
    Real w[2] = {k*z for k in 1:2};
  end M;
end P;
";

/// The line (from 1) and the text that the definition of what stands at the nth `word` is.
fn definition(word: &str, nth: usize) -> (u64, String) {
    let mut client = Client::new(None, &[]);
    client.open(URI, TEXT);
    let at = TEXT.match_indices(word).nth(nth).expect("the word").0;
    let text = format!("{}<|>{}", &TEXT[..at], &TEXT[at..]);
    let (_, position) = marked(&text);
    let found = client.ask_at("textDocument/definition", URI, &position);
    let start = &found["range"]["start"];
    let line = start["line"].as_u64().unwrap_or(9_999) as usize;
    let column = start["character"].as_u64().unwrap_or(0) as usize;
    let rest = TEXT.lines().nth(line).map_or("", |l| &l[column..]);
    let name = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    (line as u64 + 1, name)
}

#[test]
fn definitions_follow_types_members_modifiers_arguments_and_iterators() {
    for (word, nth, line, name) in [
        ("Resistance r", 0, 2, "Resistance"),
        ("Pin p;", 0, 3, "Pin"),
        ("v - n.v", 0, 4, "v"),
        ("r*p", 0, 8, "r"),
        ("Alias a", 0, 7, "R"),
        ("r = 5", 0, 8, "r"),
        ("v(start", 0, 4, "v"),
        ("square(", 0, 15, "square"),
        ("u = a", 0, 16, "u"),
        ("r);", 0, 8, "r"),
        ("k*z", 0, 26, "k"),
        ("z for", 0, 25, "z"),
        ("square;", 0, 15, "square"),
        ("R;\n    Alias", 0, 7, "R"),
    ] {
        assert_eq!(definition(word, nth), (line, name.to_owned()), "{word}");
    }
}

#[test]
fn hover_gives_type_value_after_modifiers_and_unit() {
    let mut client = Client::new(None, &[]);
    client.open(URI, TEXT);
    let (_, position) = marked(&TEXT.replace("a.r)", "a.<|>r)"));
    let hover = client.ask_at("textDocument/hover", URI, &position);
    let text = hover["contents"]["value"].as_str().expect("markdown");
    assert!(text.contains("parameter P.Resistance r = 5"), "{text}");
    assert!(text.contains("resistance [Ohm]"), "{text}");
    let (_, position) = marked(&TEXT.replace("Alias a", "<|>Alias a"));
    let hover = client.ask_at("textDocument/hover", URI, &position);
    assert!(
        hover["contents"]["value"]
            .as_str()
            .is_some_and(|t| t.contains("model P.R") && t.contains("a resistor")),
        "{hover}"
    );
}

#[test]
fn the_type_of_a_component_is_found() {
    let mut client = Client::new(None, &[]);
    client.open(URI, TEXT);
    let (_, position) = marked(&TEXT.replace("p.v - n", "<|>p.v - n"));
    let found = client.ask_at("textDocument/typeDefinition", URI, &position);
    assert_eq!(
        found["range"]["start"],
        json!({ "line": 2, "character": 12 })
    );
}

#[test]
fn references_are_those_that_mean_the_same() {
    let mut client = Client::new(None, &[]);
    client.open(URI, TEXT);
    let (_, position) = marked(&TEXT.replace("Resistance r", "Resistance <|>r"));
    let found = client.ask_at("textDocument/references", URI, &position);
    let lines: Vec<u64> = found
        .as_array()
        .expect("places")
        .iter()
        .filter_map(|p| p["range"]["start"]["line"].as_u64())
        .collect();
    assert_eq!(lines, [7, 11, 22, 24]);
    let (_, position) = marked(&TEXT.replace("model R", "model <|>R"));
    let found = client.ask_at("textDocument/documentHighlight", URI, &position);
    let lines: Vec<u64> = found
        .as_array()
        .expect("places")
        .iter()
        .filter_map(|p| p["range"]["start"]["line"].as_u64())
        .collect();
    assert_eq!(lines, [6, 13, 21, 23]);
}

#[test]
fn calls_go_both_ways() {
    let mut client = Client::new(None, &[]);
    let text = "package P\n  function f\n    input Real u;\n    output Real y;\n  algorithm\n    y := g(u);\n  end f;\n  function g\n    input Real u;\n    output Real y;\n  algorithm\n    y := u;\n  end g;\nend P;\n";
    client.open(URI, text);
    let (_, position) = marked(&text.replace("g(u)", "<|>g(u)"));
    let items = client.ask_at("textDocument/prepareCallHierarchy", URI, &position);
    assert_eq!(items[0]["name"], "g");
    let incoming = client.ask("callHierarchy/incomingCalls", json!({ "item": items[0] }));
    assert_eq!(incoming[0]["from"]["name"], "f", "{incoming}");
    let outgoing = client.ask(
        "callHierarchy/outgoingCalls",
        json!({ "item": incoming[0]["from"] }),
    );
    assert_eq!(outgoing[0]["to"]["name"], "g", "{outgoing}");
}

#[test]
fn hints_show_units() {
    let mut client = Client::new(None, &[]);
    client.open(URI, TEXT);
    let range =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = client.ask(
        "textDocument/inlayHint",
        json!({ "textDocument": { "uri": URI }, "range": range }),
    );
    assert_eq!(hints.as_array().map(Vec::len), Some(1), "{hints}");
    assert_eq!(
        (&hints[0]["label"], &hints[0]["position"]["line"]),
        (&json!("[Ohm]"), &json!(7))
    );
}

#[test]
fn lenses_stand_above_models_that_can_be_run() {
    let mut client = Client::new(None, &[]);
    client.open(URI, "package P model A annotation(experiment(StopTime=2)); end A; partial model B end B; end P;");
    let lenses = client.ask(
        "textDocument/codeLens",
        json!({ "textDocument": { "uri": URI } }),
    );
    let titles: Vec<&str> = lenses
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|l| l["command"]["title"].as_str())
        .collect();
    assert_eq!(titles, ["Run", "Plot", "Structure", "Test"]);
    assert_eq!(lenses[0]["command"]["arguments"][0], "P.A");
}

/// A library of three files in a new folder.
fn library(name: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("Lib/Resources")).expect("a folder");
    for (file, text) in [
        (
            "Lib/package.mo",
            "package Lib annotation(version=\"1.0\"); end Lib;\n",
        ),
        (
            "Lib/Part.mo",
            "within Lib;\nmodel Part \"a part\"\n  parameter Real gain = 2;\n  Real y = gain*time;\nend Part;\n",
        ),
        (
            "Lib/Whole.mo",
            "within Lib;\nmodel Whole \"see modelica://Lib.Part and modelica://Lib/Resources/a.txt\"\n  Part a(gain = 3);\n  extends Base;\n  Real z = a.gain;\nend Whole;\n",
        ),
        (
            "Lib/Base.mo",
            "within Lib;\npartial model Base\n  Part b(gain = 4);\nend Base;\n",
        ),
        ("Lib/Resources/a.txt", "data"),
    ] {
        fs::write(folder.join(file), text).expect("a file");
    }
    folder
        .canonicalize()
        .expect("a folder")
        .to_string_lossy()
        .into_owned()
}

#[test]
fn renaming_reaches_all_files_and_results_stay() {
    let folder = library("rename");
    let before = saltus::Session::new()
        .add_library_path(&folder)
        .compile("Lib.Whole")
        .expect("it compiles")
        .experiment()
        .simulate()
        .expect("it runs");
    let mut client = Client::new(Some(&folder), &[]);
    let uri = format!("file://{folder}/Lib/Part.mo");
    client.open(
        &uri,
        &fs::read_to_string(format!("{folder}/Lib/Part.mo")).expect("a file"),
    );
    let position = json!({ "line": 2, "character": 17 });
    let prepared = client.ask_at("textDocument/prepareRename", &uri, &position);
    assert_eq!(prepared["placeholder"], "gain");
    let rename = |client: &mut Client, name: &str| {
        client.try_ask(
            "textDocument/rename",
            json!({ "textDocument": { "uri": uri }, "position": position, "newName": name }),
        )
    };
    assert!(rename(&mut client, "y").is_err_and(|e| e.contains("something else")));
    assert!(rename(&mut client, "end").is_err_and(|e| e.contains("identifier")));
    let edit = rename(&mut client, "k").expect("a rename");
    let changes = edit["changes"].as_object().expect("changes");
    assert_eq!(changes.len(), 3, "{edit}");
    for (uri, edits) in changes {
        let path = uri.trim_start_matches("file://");
        let mut lines: Vec<String> = fs::read_to_string(path)
            .expect("a file")
            .lines()
            .map(str::to_owned)
            .collect();
        for edit in edits.as_array().expect("edits").iter().rev() {
            let (start, end) = (&edit["range"]["start"], &edit["range"]["end"]);
            let column = |p: &Value| p["character"].as_u64().expect("a column") as usize;
            let line = start["line"].as_u64().expect("a line") as usize;
            lines[line].replace_range(column(start)..column(end), "k");
        }
        fs::write(path, lines.join("\n") + "\n").expect("a file");
    }
    let after = saltus::Session::new()
        .add_library_path(&folder)
        .compile("Lib.Whole")
        .expect("it compiles")
        .experiment()
        .simulate()
        .expect("it runs");
    for name in ["a.y", "b.y", "z"] {
        assert_eq!(
            before.last(name).expect("a variable"),
            after.last(name).expect("a variable"),
            "{name}"
        );
    }
    assert!(after.last("a.k").is_ok());
}

#[test]
fn classes_of_folders_are_found_by_name_and_addresses_are_links() {
    let folder = library("symbols");
    let mut client = Client::new(Some(&folder), &[]);
    let found = client.ask("workspace/symbol", json!({ "query": "par" }));
    assert_eq!(found[0]["name"], "Part", "{found}");
    let uri = format!("file://{folder}/Lib/Whole.mo");
    client.open(
        &uri,
        &fs::read_to_string(format!("{folder}/Lib/Whole.mo")).expect("a file"),
    );
    let links = client.ask(
        "textDocument/documentLink",
        json!({ "textDocument": { "uri": uri } }),
    );
    let targets: Vec<&str> = links
        .as_array()
        .expect("links")
        .iter()
        .filter_map(|l| l["target"].as_str())
        .collect();
    assert_eq!(
        targets,
        [
            format!("file://{folder}/Lib/Part.mo"),
            format!("file://{folder}/Lib/Resources/a.txt")
        ]
    );
}

#[test]
fn cures_are_edits() {
    let mut client = Client::new(None, &[]);
    client.open(
        URI,
        "model M\n  Real speed;\nequation\n  spee = 1;\nend M;\n",
    );
    let found = client.wait_for(URI, |list| !list.is_empty());
    let params = |d: &Value| json!({ "textDocument": { "uri": URI }, "range": d["range"], "context": { "diagnostics": [d] } });
    let actions = client.ask("textDocument/codeAction", params(&found[0]));
    assert_eq!(
        actions[0]["edit"]["changes"][URI][0]["newText"], "speed",
        "{actions}"
    );
    client.change(URI, json!([{ "text": "model M\n  import B = A.C;\n  import A.B;\n  Real x\nequation\n  x = 1;\nend M;\n" }]));
    let found = client.wait_for(URI, |list| list.iter().any(|d| d["code"] == "syntax-error"));
    let actions = client.ask("textDocument/codeAction", params(&found[0]));
    assert_eq!(
        actions[0]["edit"]["changes"][URI][0]["newText"], ";",
        "{actions}"
    );
    assert_eq!(
        actions[1]["edit"]["changes"][URI][0]["newText"], "import A.B;\n  import B = A.C",
        "{actions}"
    );
}
