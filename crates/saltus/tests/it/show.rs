//! The structure of models as data and as pictures.

use crate::mdtest::root;
use saltus::Session;

fn open(model: &str) -> (Session, String) {
    let mut session = Session::new();
    let file = root().join("models").join(model).join("model.mo");
    let class = session.load_file(file).expect("the model");
    (session, class)
}

#[test]
fn the_structure_of_a_diode_circuit_as_data() {
    let (session, class) = open("diode-rectifier");
    let view = session.structure_view(&class).expect("structured");
    let kinds: Vec<&str> = view.blocks.iter().map(|b| b.kind).collect();
    assert_eq!(kinds, ["explicit", "mixed linear"]);
    let mixed = &view.blocks[1];
    assert_eq!(mixed.torn, ["s"]);
    let determined: Vec<Option<&str>> = (mixed.equations.iter())
        .map(|e| e.determines.as_deref())
        .collect();
    assert_eq!(
        determined,
        [Some("i"), Some("v"), Some("s"), Some("$rel[1]")]
    );
    assert!(mixed.equations[2].residual);
    assert!(mixed.equations[1].reads.contains(&"i".to_owned()));
    assert_eq!(view.crossings[0].relation, "s < 0");
    assert_eq!(view.crossings[0].line, 9);
    let parsed: serde_json::Value = serde_json::from_str(&view.to_json()).expect("valid JSON");
    assert_eq!(parsed["blocks"][1]["equations"][0]["line"], 12);
}

#[test]
fn state_sets_are_part_of_the_structure() {
    let (session, class) = open("four-bar");
    let view = session.structure_view(&class).expect("structured");
    assert_eq!(view.state_sets.len(), 1);
    let set = &view.state_sets[0];
    assert_eq!((set.chosen, set.candidates.len()), (1, 2));
    assert_eq!(set.candidates[1], ["ya", "xa", "xb", "yb"]);
    assert_eq!(set.constraints.len(), 3);
    assert!(view.states[0].reason.starts_with("state set 1: 1 of"));
}

#[test]
fn pictures_have_a_mark_for_every_entry() {
    let (session, class) = open("four-bar");
    let picture = session.structure_picture(&class).expect("structured");
    assert_eq!(picture.blocks, [(0, 6), (7, 13), (14, 20)]);
    let entries: usize = picture.equations.iter().map(|e| e.reads.len()).sum();
    let svg = saltus::plot::draw_structure(&picture);
    // Squares of both matrices.
    assert_eq!(svg.matches("h12.0v12.0h-12.0z").count(), 2 * entries);
}

#[test]
fn jacobians_have_patterns_and_colours() {
    let (session, class) = open("sparse-block");
    let view = session.jacobian_view(&class).expect("compiled");
    assert!(view.states.columns.is_empty());
    let (session, class) = open("quaternion-top");
    let view = session.jacobian_view(&class).expect("compiled");
    assert_eq!(view.states.columns.len(), 6);
    assert!(
        view.print()
            .starts_with("QuaternionTop: state Jacobian 6 x 6")
    );
    assert!(view.blocks.iter().any(|block| !block.linear));
}

#[test]
fn modes_of_a_rectifier_behind_an_inductance() {
    let text = std::fs::read_to_string(root().join("models/rectifier-inductance/model.mo"))
        .expect("the model exists");
    let mut session = Session::new();
    session.set_text("model.mo", text);
    let view = session.modes_view("RectifierInductance").expect("it runs");
    assert_eq!(view.structured, 2);
    let told: Vec<(u32, &str, usize, u32)> = (view.modes.iter())
        .map(|m| (m.number, m.switches[0].as_str(), m.states.len(), m.index))
        .collect();
    assert_eq!(
        told,
        [(1, "`s < 0` is false", 2, 1), (2, "`s < 0` is true", 1, 2)]
    );
    // 50 periods: it starts conducting, and ends blocking.
    assert_eq!(view.modes[0].entered, 50);
    assert_eq!(view.modes[1].entered, 50);
    let taken: Vec<(u32, u32, u64, &str)> = (view.transitions.iter())
        .map(|t| (t.from, t.to, t.count, t.cause.as_str()))
        .collect();
    assert_eq!(taken, [(1, 2, 50, "s < 0"), (2, 1, 49, "s < 0")]);
    let shares: f64 = view.modes.iter().map(|m| m.share).sum();
    assert!((shares - 1.0).abs() < 1e-12, "{shares}");
    let svg = saltus::plot::draw_modes(&view.picture());
    for text in ["1: i0, u2", "2: u2", "50× s &lt; 0"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(
        view.print().contains("mode 2, entered 50 times, index 2"),
        "{}",
        view.print()
    );
}
