//! `modelDescription.xml`: what an FMU says about itself.

mod fmi2;
mod fmi3;
mod names;
mod shown;

use crate::export::FmiVersion;
use crate::interface::Interface;
use crate::units;
use crate::xml::Xml;
use saltus::Model;
use shown::Shown;
use std::collections::{BTreeMap, BTreeSet};

/// What is described.
pub(crate) struct Subject<'m> {
    pub(crate) model: &'m Model,
    pub(crate) interface: &'m Interface,
    /// The name of the library without its ending.
    pub(crate) identifier: &'m str,
    /// Ties the description to the model inside.
    pub(crate) token: &'m str,
    pub(crate) kinds: crate::Kinds,
    /// All that decides how a run goes on can be written down.
    pub(crate) has_state: bool,
}

pub(crate) fn describe(subject: &Subject<'_>, version: FmiVersion) -> String {
    let shown = shown::shown(subject);
    match version {
        FmiVersion::V2 => fmi2::write(subject, &shown),
        FmiVersion::V3 => fmi3::write(subject, &shown),
    }
}

/// The categories of messages that the library sends.
const CATEGORIES: [(&str, &str); 4] = [
    ("logEvents", "Events: time, cause, what changed"),
    (
        "logStatusWarning",
        "Messages of the model and notes on the run",
    ),
    ("logStatusDiscard", "Why a step was not completed"),
    ("logStatusError", "Why a call failed"),
];

/// Units with the display units that can be computed from them.
fn unit_definitions(xml: &mut Xml, shown: &[Shown]) {
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for one in shown.iter().filter(|one| !one.unit.is_empty()) {
        let displays = known.entry(&one.unit).or_default();
        if let Some(display) = &one.display_unit {
            displays.insert(display);
        }
    }
    if known.is_empty() {
        return;
    }
    xml.open("UnitDefinitions");
    for (unit, displays) in known {
        let base = units::parse(unit);
        let element = xml.element("Unit").text("name", unit);
        if base.is_none() && displays.is_empty() {
            element.end();
            continue;
        }
        element.open();
        if let Some(base) = base {
            let mut element = xml.element("BaseUnit");
            for (name, power) in units::NAMES.into_iter().zip(base.powers) {
                if power != 0 {
                    element = element.whole(name, power.into());
                }
            }
            (element.number_unless("factor", base.factor, 1.0))
                .number_unless("offset", base.offset, 0.0)
                .end();
        }
        for display in displays {
            if let Some((factor, offset)) = units::display(unit, display) {
                (xml.element("DisplayUnit").text("name", display))
                    .number_unless("factor", factor, 1.0)
                    .number_unless("offset", offset, 0.0)
                    .end();
            }
        }
        xml.close();
    }
    xml.close();
}

fn log_categories(xml: &mut Xml) {
    xml.open("LogCategories");
    for (name, description) in CATEGORIES {
        (xml.element("Category").text("name", name))
            .text("description", description)
            .end();
    }
    xml.close();
}

fn default_experiment(xml: &mut Xml, model: &Model) {
    let experiment = model.info().experiment;
    let span = experiment.stop_time - experiment.start_time;
    let step = experiment.interval.unwrap_or(span / INTERVALS);
    (xml.element("DefaultExperiment"))
        .number("startTime", experiment.start_time)
        .number("stopTime", experiment.stop_time)
        .number("tolerance", experiment.tolerance)
        .number("stepSize", step)
        .end();
}

/// Output intervals of a run that names none.
const INTERVALS: f64 = 500.0;

/// What the programs are that write and read the file.
fn generation_tool() -> String {
    format!("Saltus {}", saltus::VERSION)
}

fn naming_convention(shown: &[Shown]) -> &'static str {
    match shown.iter().all(|one| names::is_structured(&one.name)) {
        true => "structured",
        false => "flat",
    }
}
