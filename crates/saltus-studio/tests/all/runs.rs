//! Texts, messages and runs over the socket.

use crate::client::Server;
use serde_json::{Value as Json, json};
use std::time::{Duration, Instant};

const BALL: &str = include_str!("../../start/BouncingBall.mo");

#[test]
fn a_mistake_is_shown_at_its_place_and_gone_when_it_is_cured() {
    let mut client = Server::start(None).connect();
    let wrong = client.text(
        "/untitled/M.mo",
        "model M\n  Real x;\nequation\n  der(x) = -y;\nend M;\n",
    );
    let message = &wrong["messages"][0];
    assert_eq!(message["code"], "unknown-name", "{wrong}");
    assert_eq!(message["place"]["file"], "/untitled/M.mo");
    assert_eq!(message["place"]["from"], json!([4, 13]));
    assert_eq!(message["place"]["to"], json!([4, 14]));
    assert_eq!(wrong["classes"][0]["qualified"], "M");
    let inner = "model Outer model Inner Real z = w; end Inner; Real x = y; end Outer;";
    let outer = client.text("/untitled/Outer.mo", inner);
    assert_eq!(outer["class"], "Outer", "{outer}");
    let syntax = client.text("/untitled/M.mo", "model M Real x end M;");
    assert_eq!(syntax["messages"][0]["code"], "syntax-error", "{syntax}");
    let right = client.text(
        "/untitled/M.mo",
        "model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;",
    );
    assert_eq!(right["messages"], json!([]), "{right}");
}

#[test]
fn a_run_sends_columns_events_and_variables_once() {
    let mut client = Server::start(None).connect();
    client.text("/untitled/BouncingBall.mo", BALL);
    let run = |settings: Json, known: Json| json!({ "job": "run", "class": "BouncingBall", "columns": ["h", "g", "none"], "settings": settings, "known": known });
    let first = client.call("run", run(json!([]), json!(null)));
    let result = &first.head["result"];
    assert_eq!(result["names"], json!(["h"]), "{result}");
    assert_eq!(result["constants"]["g"], 9.81);
    assert_eq!(first.columns.len(), 2);
    let (time, h) = (&first.columns[0], &first.columns[1]);
    assert_eq!((time[0], h[0]), (0.0, 1.0));
    let event = (result["events"].as_array().expect("events").iter())
        .find(|event| event["kind"] == "state")
        .expect("a bounce");
    assert!((event["time"].as_f64().expect("a time") - (2.0f64 / 9.81).sqrt()).abs() < 1e-6);
    assert_eq!(event["cause"][0]["file"], "/untitled/BouncingBall.mo");
    assert_eq!(event["cause"][0]["line"], 9);
    let twice = time.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!(twice > 3, "both sides of events are there");
    assert!(
        result["variables"]
            .as_array()
            .is_some_and(|all| all.len() >= 4)
    );

    let known = result["model"].clone();
    let second = client.call("run", run(json!([["g", 1.62], ["h", 2]]), known));
    assert!(second.head["result"]["variables"].is_null());
    assert_eq!(second.head["result"]["constants"]["g"], 1.62);
    assert_eq!(second.columns[1][0], 2.0);
    let refused = client.call("run", run(json!([["g", -1]]), json!(null)));
    let why = refused.head["error"]["message"]
        .as_str()
        .expect("an error")
        .to_owned();
    assert!(why.contains("min"), "{why}");

    let number = result["run"].as_u64().expect("a number");
    let more = client.call("columns", json!({ "run": number, "names": ["v"] }));
    assert_eq!(more.head["result"]["names"], json!(["v"]));
    assert_eq!(more.columns[1].len(), time.len());
    let why = client
        .call(
            "why",
            json!({ "run": number, "variable": "v", "time": 0.1 }),
        )
        .head;
    assert_eq!(why["result"]["derivative"], "der(v)", "{why}");
    let steps = client.call("steps", json!({ "run": number })).head;
    assert!(
        steps["result"]["size"]
            .as_array()
            .is_some_and(|sizes| !sizes.is_empty())
    );
    let gone = client
        .call("columns", json!({ "run": 4_000_000, "names": ["v"] }))
        .head;
    assert!(gone["error"]["message"].is_string());
}

#[test]
fn runs_outlive_the_connection_and_texts_do_not() {
    let server = Server::start(None);
    let mut client = server.connect();
    client.text("/untitled/BouncingBall.mo", BALL);
    let ran = client.call(
        "run",
        json!({ "job": "run", "class": "BouncingBall", "columns": ["h"] }),
    );
    drop(client);
    let mut again = server.connect();
    let columns = again.call(
        "columns",
        json!({ "run": ran.head["result"]["run"], "names": ["h"] }),
    );
    assert_eq!(columns.columns, ran.columns);
    let lost = again
        .call("run", json!({ "job": "run", "class": "BouncingBall" }))
        .head;
    assert_eq!(
        lost["error"]["diagnostics"][0]["code"], "unknown-class",
        "{lost}"
    );
}

#[test]
fn a_long_run_streams_and_can_be_cancelled() {
    let mut client = Server::start(None).connect();
    client.text(
        "/untitled/Long.mo",
        "model Long Real x(start = 0, fixed = true); equation der(x) = cos(1000*time); end Long;",
    );
    let id = client.send("run", json!({ "job": "run", "class": "Long", "columns": ["x"], "options": { "stop": 1e7, "intervals": 1_000_000, "stream": true } }));
    let rows = client.wait(|head| head["event"] == "rows");
    assert_eq!(rows.head["job"], "run");
    assert_eq!(rows.columns.len(), 2);
    let next = client.wait(|head| head["event"] == "rows").head;
    assert_eq!(next["from"], rows.head["rows"]);
    let asked = Instant::now();
    client.send("cancel", json!({ "job": "run" }));
    let ended = client.wait(|head| head["id"] == id);
    assert!(asked.elapsed() < Duration::from_secs(20));
    assert!(
        !ended.head["result"]["failure"].is_null(),
        "what was computed stays"
    );
    assert!(ended.columns[0].len() as u64 >= next["from"].as_u64().expect("a number"));
}

#[test]
fn stages_of_a_class_can_be_asked_for() {
    let mut client = Server::start(None).connect();
    client.text(
        "/untitled/CupAndBall.mo",
        include_str!("../../start/CupAndBall.mo"),
    );
    let class = json!({ "class": "CupAndBall" });
    let flat = client.call("flat", class.clone()).head;
    assert!(
        flat["result"]
            .as_str()
            .is_some_and(|text| text.contains("taut"))
    );
    let structure = client.call("structure", class.clone()).head;
    assert!(
        structure["result"]["svg"]
            .as_str()
            .is_some_and(|svg| svg.starts_with("<svg")),
        "{structure}"
    );
    let modes = client.call("modes", class).head;
    assert!(
        modes["result"]["view"]["modes"]
            .as_array()
            .is_some_and(|modes| modes.len() >= 2)
    );
    let none = client.call("flat", json!({ "class": "Nothing" })).head;
    assert_eq!(none["error"]["diagnostics"][0]["code"], "unknown-class");
}

#[test]
fn what_is_not_understood_is_said() {
    let mut client = Server::start(None).connect();
    client.raw("{\"id\": 7, \"method\": \"dance\"}");
    let reply = client.wait(|head| head["id"] == 7).head;
    assert!(
        reply["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("dance")),
        "{reply}"
    );
    client.raw("nothing");
    let reply = client.wait(|head| head["id"] == 0).head;
    assert!(reply["error"]["message"].is_string());
}
