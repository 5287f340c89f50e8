use saltus_model::{Causality, ModelInfo, Settable, Site, Slot, SlotInfo, SlotRole, VariableInfo};
use saltus_results::{Recorder, Selection, ValueType, VariableKind};

fn slot(role: SlotRole) -> SlotInfo {
    SlotInfo {
        name: String::new(),
        role,
        min: f64::NEG_INFINITY,
        max: f64::INFINITY,
        nominal: 1.0,
        site: Site(0),
        equation: None,
    }
}

fn variable(name: &str, slot: u32, negated: bool, hidden: bool, ty: ValueType) -> VariableInfo {
    VariableInfo {
        name: name.into(),
        description: format!("the {name}"),
        unit: "m".into(),
        display_unit: String::new(),
        ty,
        kind: VariableKind::Continuous,
        slot: Slot(slot),
        negated,
        hidden,
        settable: Settable::No,
        causality: Causality::Local,
        enumeration: None,
        has_value: true,
        start: saltus_model::Start::Computed,
        site: Site(0),
    }
}

fn info() -> ModelInfo {
    ModelInfo {
        slots: vec![
            slot(SlotRole::Time),
            slot(SlotRole::State),
            slot(SlotRole::Parameter),
        ],
        variables: vec![
            variable("x", 1, false, false, ValueType::Real),
            variable("minus_x", 1, true, false, ValueType::Real),
            variable("p", 2, false, false, ValueType::Real),
            variable("secret", 1, false, true, ValueType::Real),
            variable("text", 2, false, false, ValueType::String),
        ],
        ..ModelInfo::default()
    }
}

#[test]
fn variables_that_share_a_slot_share_a_trajectory() {
    let mut recorder = Recorder::new(&info(), &Selection::Visible);
    recorder.record(&[0.0, 1.0, 5.0]);
    recorder.record(&[1.0, 2.0, 5.0]);
    assert_eq!(recorder.n_rows(), 2);
    let table = recorder.finish();
    assert_eq!(table.n_series(), 1);
    assert_eq!(table.time(), [0.0, 1.0]);
    assert_eq!(table.signal("minus_x").unwrap().to_vec(), [-1.0, -2.0]);
    assert_eq!(table.signal("p").unwrap().to_vec(), [5.0, 5.0]);
    let names: Vec<&str> = table.variables().map(|(name, _)| name).collect();
    assert_eq!(names, ["x", "minus_x", "p"]);
    assert_eq!(table.variable("x").unwrap().description, "the x");
}

#[test]
fn a_pattern_selects_hidden_variables_too() {
    let selection = Selection::from_patterns(&["sec*".to_owned(), "p".to_owned()]);
    let mut recorder = Recorder::new(&info(), &selection);
    recorder.record(&[0.0, 1.0, 5.0]);
    let table = recorder.finish();
    let names: Vec<&str> = table.variables().map(|(name, _)| name).collect();
    assert_eq!(names, ["p", "secret"]);
}

#[test]
fn a_run_without_rows_has_a_table_without_rows() {
    let table = Recorder::new(&info(), &Selection::Visible).finish();
    assert_eq!(table.n_rows(), 0);
    let names: Vec<&str> = table.variables().map(|(name, _)| name).collect();
    assert_eq!(names, ["x", "minus_x"]);
}
