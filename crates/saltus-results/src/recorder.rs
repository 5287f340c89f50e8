//! Collects rows during a run.
//!
//! Comes in: the value array of the run, once per output point and once per side of every event. Goes out: a
//! [`ResultTable`]. Variables that share a slot share a trajectory.

use rustc_hash::FxHashMap;
use saltus_model::{ModelInfo, Slot, SlotRole, ValueType};

use crate::{Glob, ResultTable, SeriesId, Source, Variable};

/// Which variables a result holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selection {
    /// All but the hidden ones.
    Visible,
    /// Those that match a pattern, hidden ones too.
    Matching(Vec<Glob>),
}

impl Selection {
    /// The selection of `--variables`: no pattern means every visible variable.
    pub fn from_patterns(patterns: &[String]) -> Selection {
        if patterns.is_empty() {
            Selection::Visible
        } else {
            Selection::Matching(patterns.iter().map(|p| Glob::new(p)).collect())
        }
    }

    fn selects(&self, name: &str, hidden: bool) -> bool {
        match self {
            Selection::Visible => !hidden,
            Selection::Matching(globs) => globs.iter().any(|glob| glob.matches(name)),
        }
    }
}

/// What becomes of a selected variable.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// Read once, from the first row.
    Constant {
        slot: Slot,
        negated: bool,
    },
    Trajectory {
        series: usize,
        negated: bool,
    },
}

/// Rows of a run in the making.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Slot of each trajectory.
    slots: Vec<Slot>,
    variables: Vec<(String, Variable, Origin)>,
    time: Vec<f64>,
    columns: Vec<Vec<f64>>,
    /// Values of the first row, for the constants.
    first: Vec<f64>,
}

impl Recorder {
    /// Prepares columns for the selected variables. Strings have no numeric column and are left out.
    pub fn new(info: &ModelInfo, selection: &Selection) -> Recorder {
        let mut slots = Vec::new();
        let mut series_of_slot: FxHashMap<Slot, usize> = FxHashMap::default();
        let mut variables = Vec::new();
        for v in &info.variables {
            if v.ty == ValueType::String || !selection.selects(&v.name, v.hidden) {
                continue;
            }
            let is_constant = info
                .slots
                .get(v.slot.index())
                .is_some_and(|s| matches!(s.role, SlotRole::Constant | SlotRole::Parameter));
            let origin = if is_constant {
                Origin::Constant {
                    slot: v.slot,
                    negated: v.negated,
                }
            } else {
                let series = *series_of_slot.entry(v.slot).or_insert_with(|| {
                    slots.push(v.slot);
                    slots.len() - 1
                });
                Origin::Trajectory {
                    series,
                    negated: v.negated,
                }
            };
            let variable = Variable {
                description: v.description.clone(),
                unit: v.unit.clone(),
                display_unit: v.display_unit.clone(),
                ty: v.ty,
                kind: v.kind,
                source: Source::Constant(f64::NAN), // replaced by `finish`
            };
            variables.push((v.name.clone(), variable, origin));
        }
        Recorder {
            columns: vec![Vec::new(); slots.len()],
            slots,
            variables,
            time: Vec::new(),
            first: Vec::new(),
        }
    }

    /// Appends a row. `values` is the whole value array of the run; slot 0 is time. The first row must come after
    /// the initial values are known: parameters are taken from it.
    pub fn record(&mut self, values: &[f64]) {
        if self.time.is_empty() {
            self.first = values.to_vec();
        }
        self.time.push(values[Slot::TIME.index()]);
        for (column, slot) in self.columns.iter_mut().zip(&self.slots) {
            column.push(values[slot.index()]);
        }
    }

    pub fn n_rows(&self) -> usize {
        self.time.len()
    }

    /// The table of what was recorded. Two variables of one name would be a bug of the model's provider; the first
    /// stays.
    pub fn finish(self) -> ResultTable {
        let mut table = ResultTable::new(self.time);
        let ids: Vec<SeriesId> = self
            .columns
            .into_iter()
            .map(|column| {
                table
                    .push_series(column)
                    .expect("every row filled every column")
            })
            .collect();
        for (name, mut variable, origin) in self.variables {
            variable.source = match origin {
                Origin::Constant { slot, negated } => match self.first.get(slot.index()) {
                    Some(&value) => Source::Constant(if negated { -value } else { value }),
                    None => continue, // no row was recorded, so nothing is known
                },
                Origin::Trajectory { series, negated } => Source::Series {
                    id: ids[series],
                    negated,
                },
            };
            let duplicate = table.push_variable(name, variable).is_err();
            debug_assert!(!duplicate, "the model names two variables alike");
        }
        table
    }
}
