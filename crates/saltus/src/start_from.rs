//! The start of a run at a point of an earlier one.
//!
//! Comes in: a result and a time. Goes out: the values there (right limits) for all that a run carries along: states, discrete
//! variables, algebraic variables as guesses, and parameters that an initial system has computed. Other parameters are those of the model and
//! of [`Experiment::set`](crate::Experiment::set).

use crate::error::Error;
use rustc_hash::FxHashSet;
use saltus_model::{ModelInfo, Slot, SlotRole, ValueType};
use saltus_results::{ResultTable, Side};

/// Variables that a message names.
const SHOWN: usize = 3;

/// Where a run goes on.
pub(crate) struct GoOn {
    pub(crate) time: f64,
    pub(crate) values: Vec<(Slot, f64)>,
    /// Discrete variables that the result does not hold.
    pub(crate) unknown: Vec<String>,
}

/// `computed`: names of parameters that the initial system computes.
pub(crate) fn go_on(
    info: &ModelInfo,
    computed: &[String],
    table: &ResultTable,
    time: Option<f64>,
) -> Result<GoOn, Error> {
    let usage = |what: String| Error::Usage(format!("--start-from: {what}"));
    let (Some(first), Some(last)) = (table.time().first(), table.time().last()) else {
        return Err(usage("the result has no rows".into()));
    };
    let time = time.unwrap_or(*last);
    if !(*first..=*last).contains(&time) {
        return Err(usage(format!(
            "the result goes from {first} to {last} s, time {time} is outside"
        )));
    }
    let mut values = Vec::new();
    let mut told: FxHashSet<Slot> = FxHashSet::default();
    for variable in &info.variables {
        let is_moving = match info.slots[variable.slot.index()].role {
            SlotRole::State
            | SlotRole::Derivative
            | SlotRole::Algebraic
            | SlotRole::Discrete
            | SlotRole::Relation => true,
            SlotRole::Parameter => computed.contains(&variable.name),
            SlotRole::Time | SlotRole::Constant | SlotRole::Input | SlotRole::Auxiliary => false,
        };
        if !is_moving || variable.ty == ValueType::String || told.contains(&variable.slot) {
            continue;
        }
        let value = table
            .signal(&variable.name)
            .and_then(|signal| signal.at(time, Side::Right));
        if let Some(value) = value
            && value.is_finite()
        {
            told.insert(variable.slot);
            values.push((variable.slot, if variable.negated { -value } else { value }));
        }
    }
    let missing = |role: SlotRole| -> Vec<String> {
        (info.slots.iter().enumerate())
            .filter(|(i, slot)| {
                slot.role == role && !slot.name.contains('$') && !told.contains(&Slot(*i as u32))
            })
            .map(|(_, slot)| slot.name.clone())
            .collect()
    };
    let states = missing(SlotRole::State);
    if !states.is_empty() {
        return Err(usage(format!(
            "the result does not hold {}; a result without `--variables` does",
            names(&states, "state")
        )));
    }
    Ok(GoOn {
        time,
        values,
        unknown: missing(SlotRole::Discrete),
    })
}

/// `the state `x``, `the states `a`, `b`, `c` and 4 others`
pub(crate) fn names(list: &[String], what: &str) -> String {
    let plural = if list.len() == 1 { "" } else { "s" };
    let shown: Vec<String> = list.iter().take(SHOWN).map(|n| format!("`{n}`")).collect();
    let rest = match list.len().saturating_sub(SHOWN) {
        0 => String::new(),
        n => format!(" and {n} others"),
    };
    format!("the {what}{plural} {}{rest}", shown.join(", "))
}
