//! The description of FMI 3.0.2 (schema `fmi3ModelDescription.xsd`).

use super::shown::{Scalar, Shown};
use super::{
    Subject, default_experiment, generation_tool, log_categories, naming_convention,
    unit_definitions,
};
use crate::xml::{Element, Xml};
use saltus::ValueType;

pub(super) fn write(subject: &Subject<'_>, shown: &[Shown]) -> String {
    let mut xml = Xml::new();
    let info = subject.model.info();
    (xml.element("fmiModelDescription"))
        .text("fmiVersion", "3.0")
        .text("modelName", &info.name)
        .text("instantiationToken", subject.token)
        .text_if_any("description", &info.description)
        .text("generationTool", &generation_tool())
        .text("variableNamingConvention", naming_convention(shown))
        .open();
    if subject.kinds.co_simulation {
        (xml.element("CoSimulation"))
            .text("modelIdentifier", subject.identifier)
            .flag("canGetAndSetFMUState", subject.has_state)
            .flag("canSerializeFMUState", subject.has_state)
            .flag("canHandleVariableCommunicationStepSize", true)
            .flag("providesIntermediateUpdate", true)
            .flag("mightReturnEarlyFromDoStep", true)
            .flag("canReturnEarlyAfterIntermediateUpdate", true)
            .flag("hasEventMode", true)
            .end();
    }
    unit_definitions(&mut xml, shown);
    type_definitions(&mut xml, subject, shown);
    log_categories(&mut xml);
    default_experiment(&mut xml, subject.model);
    xml.open("ModelVariables");
    (xml.element("Float64").text("name", "time"))
        .whole("valueReference", crate::interface::TIME.into())
        .text("description", "Simulation time")
        .text("causality", "independent")
        .text("variability", "continuous")
        .end();
    for one in shown {
        variable(&mut xml, subject, one);
    }
    xml.close();
    structure(&mut xml, shown);
    xml.finish()
}

fn type_definitions(xml: &mut Xml, subject: &Subject<'_>, shown: &[Shown]) {
    if shown.iter().all(|one| one.enumeration.is_none()) {
        return;
    }
    xml.open("TypeDefinitions");
    for (k, enumeration) in (0..).zip(&subject.model.info().enumerations) {
        if shown.iter().all(|one| one.enumeration != Some(k)) {
            continue;
        }
        (xml.element("EnumerationType")
            .text("name", &enumeration.name))
        .open();
        for (value, literal) in (1..).zip(&enumeration.literals) {
            (xml.element("Item").text("name", literal))
                .whole("value", value)
                .end();
        }
        xml.close();
    }
    xml.close();
}

fn variable(xml: &mut Xml, subject: &Subject<'_>, one: &Shown) {
    let element = match one.ty {
        ValueType::Real => xml.element("Float64"),
        ValueType::Integer => xml.element("Int32"),
        ValueType::Boolean => xml.element("Boolean"),
        ValueType::String => xml.element("String"),
        ValueType::Enumeration => xml.element("Enumeration"),
    };
    let element = (element.text("name", &one.name))
        .whole("valueReference", one.reference.into())
        .text_if_any("description", &one.description)
        .text("causality", one.causality)
        .text("variability", one.variability)
        .text_if_any("initial", one.initial.unwrap_or_default());
    let element = typed(element, subject, one);
    let element = match &one.start {
        None => element,
        Some(Scalar::Real(x)) => element.number("start", *x),
        Some(Scalar::Integer(i)) => element.whole("start", *i),
        Some(Scalar::Boolean(b)) => element.flag("start", *b),
        Some(Scalar::Text(text)) => {
            element.open();
            xml.element("Start").text("value", text).end();
            xml.close();
            return;
        }
    };
    let element = match one.derivative_of {
        Some(state) => element.whole("derivative", state.into()),
        None => element,
    };
    element.end();
}

/// Attributes of the type of a variable.
fn typed<'x>(element: Element<'x>, subject: &Subject<'_>, one: &Shown) -> Element<'x> {
    match one.ty {
        ValueType::Real => (element.text_if_any("unit", &one.unit))
            .text_if_any(
                "displayUnit",
                one.display_unit.as_deref().unwrap_or_default(),
            )
            .number_unless("min", one.min, f64::NEG_INFINITY)
            .number_unless("max", one.max, f64::INFINITY)
            .number_unless("nominal", one.nominal, 1.0),
        ValueType::Integer => integer_range(element, one),
        ValueType::Enumeration => {
            let enumerations = &subject.model.info().enumerations;
            let ty = one.enumeration.and_then(|k| enumerations.get(k as usize));
            integer_range(
                element.text("declaredType", ty.map_or("", |ty| &ty.name)),
                one,
            )
        }
        ValueType::Boolean | ValueType::String => element,
    }
}

fn integer_range<'x>(element: Element<'x>, one: &Shown) -> Element<'x> {
    let (low, high) = (f64::from(i32::MIN), f64::from(i32::MAX));
    let element = match one.min > low && one.min <= high {
        true => element.whole("min", one.min as i64),
        false => element,
    };
    match one.max < high && one.max >= low {
        true => element.whole("max", one.max as i64),
        false => element,
    }
}

fn structure(xml: &mut Xml, shown: &[Shown]) {
    let is_output = |one: &&Shown| one.causality == "output";
    let is_unknown_at_start = |one: &&Shown| {
        let starts = matches!(one.initial, Some("calculated" | "approx"));
        starts && is_output(one) || one.causality == "calculatedParameter"
    };
    xml.open("ModelStructure");
    for one in shown.iter().filter(is_output) {
        (xml.element("Output")
            .whole("valueReference", one.reference.into()))
        .end();
    }
    for one in shown.iter().filter(is_unknown_at_start) {
        (xml.element("InitialUnknown")
            .whole("valueReference", one.reference.into()))
        .end();
    }
    xml.close();
}
