//! Every study checks itself; its pictures are SVG with the curves that they should have.

use saltus_study::{Report, Study};

fn passes(study: Study) -> Report {
    let report = study.run();
    assert_eq!(report.name, study.as_str());
    let failed: Vec<_> = report.failed().collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert!(!report.tables.is_empty() && !report.checks.is_empty());
    for picture in &report.pictures {
        assert!(picture.svg.starts_with("<svg"), "{}", picture.file);
        assert!(
            picture.svg.trim_end().ends_with("</svg>"),
            "{}",
            picture.file
        );
        let drawn = ["<polyline", "<path", "<circle"];
        assert!(
            drawn.iter().any(|what| picture.svg.contains(what)),
            "{}",
            picture.file
        );
        assert!(!picture.svg.contains("NaN"), "{}", picture.file);
    }
    let page = report.markdown();
    assert!(!page.contains("FAILS"));
    report
}

#[test]
fn event_methods() {
    let report = passes(Study::EventMethods);
    assert_eq!(report.pictures.len(), 4);
}

#[test]
fn bouncing_ball() {
    let report = passes(Study::BouncingBall);
    assert_eq!(report.tables.len(), 3);
}

#[test]
fn filament_pendulum() {
    passes(Study::FilamentPendulum);
}

#[test]
fn rotor_stator() {
    passes(Study::RotorStator);
}

#[test]
fn train_engine() {
    let report = passes(Study::TrainEngine);
    assert_eq!(report.pictures.len(), 4);
}

#[test]
fn step_size() {
    passes(Study::StepSize);
}

#[test]
fn location() {
    let report = passes(Study::Location);
    assert_eq!(report.pictures.len(), 3);
}

#[test]
fn piecewise() {
    passes(Study::Piecewise);
}

#[test]
fn four_quadrant() {
    let report = passes(Study::FourQuadrant);
    assert_eq!(report.pictures.len(), 4);
}

#[test]
fn robot() {
    passes(Study::Robot);
}

#[test]
fn hysteresis() {
    passes(Study::Hysteresis);
}

#[test]
fn rectifiers() {
    let report = passes(Study::Rectifiers);
    assert_eq!(report.pictures.len(), 5);
}

#[test]
fn diodes() {
    passes(Study::Diodes);
}

#[test]
fn friction() {
    let report = passes(Study::Friction);
    assert_eq!(report.pictures.len(), 5);
}

#[test]
fn impacts() {
    passes(Study::Impacts);
}

#[test]
fn delays() {
    passes(Study::Delays);
}

#[test]
fn lecture() {
    passes(Study::Lecture);
}

#[test]
fn names_are_unique_and_found() {
    for &study in Study::ALL {
        assert_eq!(Study::from_name(study.as_str()), Some(study));
    }
    assert_eq!(Study::from_name("nothing"), None);
}
