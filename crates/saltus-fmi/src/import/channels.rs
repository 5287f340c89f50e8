//! The variables of an FMU as slots of the contract, and their values between both.

use super::description::{Causality, Description, FmuType, FmuVariable};
use super::instance::{Answer, Instance};
use saltus::Value;
use saltus_model::hand::Layout;
use saltus_model::{Causality as Outside, Slot, SlotRole, ValueType, VariableKind};

/// The elements of a variable, in consecutive slots.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// Index of the variable in the description.
    pub(super) variable: usize,
    pub(super) first: Slot,
    pub(super) count: usize,
    /// It changes between events.
    pub(super) is_continuous: bool,
}

impl Channel {
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + use<> {
        (self.first.0..).take(self.count).map(Slot)
    }
}

/// Adds all variables with numbers; `role` says what they are for the simulator.
pub(super) fn add_channels(
    layout: &mut Layout,
    description: &Description,
    role: impl Fn(usize) -> SlotRole,
) -> Vec<Channel> {
    let mut channels = Vec::new();
    for (variable, v) in description.variables.iter().enumerate() {
        if !v.ty.is_number() || v.causality == Causality::Independent {
            continue;
        }
        let count = v.count();
        let first = Slot(layout.n_slots() as u32);
        let starts = start_numbers(v);
        for k in 0..count {
            let start = starts.get(k).or(starts.last()).copied().unwrap_or(0.0);
            layout.slot(
                &element_name(&v.name, &v.dimensions, k),
                role(variable),
                start,
            );
            describe(layout, v);
            for alias in &v.aliases {
                let variables = &mut layout.info_mut().variables;
                if let Some(mut other) = variables.last().cloned() {
                    other.name = element_name(alias, &v.dimensions, k);
                    variables.push(other);
                }
            }
        }
        channels.push(Channel {
            variable,
            first,
            count,
            is_continuous: v.is_continuous && !v.is_constant,
        });
    }
    channels
}

/// What the description says of the variable that was added last.
fn describe(layout: &mut Layout, v: &FmuVariable) {
    let info = layout.info_mut();
    if let (Some(slot), Some(nominal)) = (info.slots.last_mut(), v.nominal) {
        slot.nominal = nominal.abs();
    }
    let Some(variable) = info.variables.last_mut() else {
        return;
    };
    variable.description.clone_from(&v.text);
    variable.unit.clone_from(&v.unit);
    variable.ty = match v.ty {
        FmuType::Boolean => ValueType::Boolean,
        ty if ty.is_real() => ValueType::Real,
        _ => ValueType::Integer,
    };
    variable.kind = match (v.is_constant, v.is_continuous) {
        (true, _) => VariableKind::Parameter,
        (false, true) => VariableKind::Continuous,
        (false, false) => VariableKind::Discrete,
    };
    variable.causality = match v.causality {
        Causality::Output => Outside::Output,
        // Inputs have their start values.
        _ => Outside::Local,
    };
}

/// `a[1,2]`; elements count row by row.
fn element_name(name: &str, dimensions: &[usize], element: usize) -> String {
    if dimensions.is_empty() {
        return name.to_owned();
    }
    let mut rest = element;
    let mut subscripts: Vec<String> = (dimensions.iter().rev())
        .map(|size| {
            let subscript = rest % size + 1;
            rest /= size;
            subscript.to_string()
        })
        .collect();
    subscripts.reverse();
    format!("{name}[{}]", subscripts.join(","))
}

/// The numbers of a start attribute.
pub(super) fn start_numbers(v: &FmuVariable) -> Vec<f64> {
    let words = v.start.iter().flat_map(|text| text.split_whitespace());
    let number = |word: &str| match word {
        "true" => Some(1.0),
        "false" => Some(0.0),
        word => word.parse().ok(),
    };
    words.map_while(number).collect()
}

/// Reads the values of channels.
pub(super) fn read(
    instance: &mut Instance,
    description: &Description,
    channels: &[Channel],
    wanted: impl Fn(&Channel) -> bool,
    values: &mut [f64],
) -> Answer<()> {
    for channel in channels.iter().filter(|channel| wanted(channel)) {
        let first = channel.first.index();
        let out = &mut values[first..first + channel.count];
        instance.get(&description.variables[channel.variable], out)?;
    }
    Ok(())
}

/// A variable with the values that it is set to.
#[derive(Clone, Debug)]
pub(super) enum Setting {
    Numbers(usize, Vec<f64>),
    Text(usize, String),
}

impl Setting {
    /// Of a name as in results.
    pub(super) fn new(
        description: &Description,
        name: &str,
        value: &Value,
    ) -> Result<Setting, String> {
        let found = |known: &str| {
            let is_named =
                |v: &FmuVariable| v.name == known || v.aliases.iter().any(|a| a == known);
            description.variables.iter().position(is_named)
        };
        let index = found(name).ok_or_else(|| format!("the FMU has no variable `{name}`"))?;
        let v = &description.variables[index];
        if !v.can_be_set {
            return Err(format!("`{name}` of the FMU cannot be set"));
        }
        if v.causality == Causality::StructuralParameter {
            return Err(format!(
                "`{name}` decides on sizes of arrays, which keep those of the description"
            ));
        }
        if let (FmuType::String, Value::String(text)) = (v.ty, value) {
            return Ok(Setting::Text(index, text.clone()));
        }
        let numbers =
            numbers(value).filter(|numbers| numbers.len() == v.count() && v.ty.is_number());
        match numbers {
            Some(numbers) => Ok(Setting::Numbers(index, numbers)),
            None => Err(format!(
                "`{name}` of the FMU is {:?} with {} value(s), which {value} is not",
                v.ty,
                v.count()
            )),
        }
    }

    pub(super) fn apply(&self, instance: &mut Instance, description: &Description) -> Answer<()> {
        match self {
            Setting::Numbers(index, numbers) => {
                instance.set(&description.variables[*index], numbers)
            }
            Setting::Text(index, text) => instance.set_text(&description.variables[*index], text),
        }
    }
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    match value {
        Value::Array(elements) => {
            let nested: Option<Vec<Vec<f64>>> = elements.iter().map(numbers).collect();
            nested.map(|rows| rows.concat())
        }
        scalar => scalar.as_f64().map(|number| vec![number]),
    }
}
