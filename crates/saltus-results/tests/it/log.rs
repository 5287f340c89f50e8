use saltus_results::{
    Cause, Change, EventKind, EventRecord, Impulse, Statistics, parse_comparison_signals,
    read_events, write_events,
};

#[test]
fn an_event_line_has_the_promised_fields() {
    let event = EventRecord {
        time: 0.451_523_640_985_730_9,
        kind: EventKind::State,
        method: "dense-output".into(),
        cause: vec![Cause {
            expression: "x < 0".into(),
            file: "BouncingBall.mo".into(),
            line: 12,
            value_left: 1e-12,
            value_right: -1e-12,
        }],
        changed: vec![Change {
            variable: "v".into(),
            before: -4.4,
            after: 3.7,
        }],
        impulses: vec![Impulse {
            variable: "F".into(),
            value: 2.0,
        }],
        iterations: 2,
        evaluations: 9,
        mode: 0,
    };
    let mut bytes = Vec::new();
    write_events(&[event.clone(), event.clone()], &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(
        text.lines().next().unwrap(),
        r#"{"time":0.4515236409857309,"kind":"state","method":"dense-output","cause":[{"expression":"x < 0","file":"BouncingBall.mo","line":12,"value_left":1e-12,"value_right":-1e-12}],"changed":[{"variable":"v","before":-4.4,"after":3.7}],"impulses":[{"variable":"F","value":2.0}],"iterations":2,"evaluations":9,"mode":0}"#
    );
    assert_eq!(read_events(&text).unwrap(), [event.clone(), event]);
    assert!(read_events("{}\n").is_err());
}

#[test]
fn statistics_have_the_promised_fields() {
    let json: serde_json::Value = serde_json::from_str(&Statistics::default().to_json()).unwrap();
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    assert_eq!(
        keys(&json),
        "blocks crossing_functions equations events factorizations functions jacobians methods model modes_structured peak_rss_mb \
         rhs_evaluations saltus_version seconds sliding_segments solver states steps steps_rejected unknowns unresolved zeno_points"
    );
    assert_eq!(
        keys(&json["seconds"]),
        "codegen flatten initialize parse simulate structure total"
    );
    assert_eq!(keys(&json["blocks"]), "largest linear nonlinear");
    assert_eq!(keys(&json["events"]), "iterations state step time");
}

#[test]
fn comparison_signals_skip_time_blank_lines_and_comments() {
    let text = "time\r\nclutch.phi_rel\r\n\r\n// shiftSample1.y\nR[1, 2].i\n";
    assert_eq!(
        parse_comparison_signals(text),
        ["clutch.phi_rel", "R[1, 2].i"]
    );
}
