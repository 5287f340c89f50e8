//! Takes rows during a run.
//!
//! Comes in: the value array of the run, once per output point and once per side of every event. Goes out: a
//! [`ResultTable`] that is kept in memory ([`Recorder`]), or rows to a file as they come ([`Streamer`]). Variables that
//! share a slot share a trajectory.

use std::io;

use rustc_hash::FxHashMap;
use saltus_model::{ModelInfo, Slot, SlotRole, ValueType};

use crate::table::without_index_spaces;
use crate::{Glob, ResultTable, RowSink, SeriesId, Source, Variable};

/// Which variables a result holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Selection {
    /// All but the hidden ones.
    Visible,
    /// Those that match a pattern, hidden ones too.
    Matching(Vec<Glob>),
    /// Those of these names; spaces after commas do not count.
    Named(Vec<String>),
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

    /// Whether a variable of this name is chosen.
    pub fn selects(&self, name: &str, hidden: bool) -> bool {
        match self {
            Selection::Visible => !hidden,
            Selection::Matching(globs) => globs.iter().any(|glob| glob.matches(name)),
            Selection::Named(names) => (names.iter())
                .any(|n| n == name || without_index_spaces(n) == without_index_spaces(name)),
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

/// What a row holds: which slots are trajectories, and what the variables are to them.
#[derive(Clone, Debug)]
struct Plan {
    /// Slot of each trajectory.
    slots: Vec<Slot>,
    variables: Vec<(String, Variable, Origin)>,
}

impl Plan {
    /// Strings have no numeric column and are left out.
    fn new(info: &ModelInfo, selection: &Selection) -> Plan {
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
                source: Source::Constant(f64::NAN), // replaced by `fill`
            };
            variables.push((v.name.clone(), variable, origin));
        }
        Plan { slots, variables }
    }

    /// Adds trajectories and variables to a table that has times only. `first` are the values of the first row, from which
    /// parameters are taken; without a row nothing is known of them, and they are left out. Two variables of one name would
    /// be a bug of the model's provider; the first stays.
    fn fill(self, mut table: ResultTable, columns: Vec<Vec<f64>>, first: &[f64]) -> ResultTable {
        let ids: Vec<SeriesId> = columns
            .into_iter()
            .map(|column| {
                table
                    .push_series(column)
                    .expect("every row filled every column")
            })
            .collect();
        for (name, mut variable, origin) in self.variables {
            variable.source = match origin {
                Origin::Constant { slot, negated } => match first.get(slot.index()) {
                    Some(&value) => Source::Constant(if negated { -value } else { value }),
                    None => continue,
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

/// Rows of a run in the making, kept in memory.
#[derive(Clone, Debug)]
pub struct Recorder {
    plan: Plan,
    time: Vec<f64>,
    columns: Vec<Vec<f64>>,
    /// Values of the first row, for the constants.
    first: Vec<f64>,
}

impl Recorder {
    /// Prepares columns for the selected variables.
    pub fn new(info: &ModelInfo, selection: &Selection) -> Recorder {
        let plan = Plan::new(info, selection);
        Recorder {
            columns: vec![Vec::new(); plan.slots.len()],
            plan,
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
        for (column, slot) in self.columns.iter_mut().zip(&self.plan.slots) {
            column.push(values[slot.index()]);
        }
    }

    pub fn n_rows(&self) -> usize {
        self.time.len()
    }

    /// The table of what was recorded.
    pub fn finish(self) -> ResultTable {
        let table = ResultTable::new(self.time);
        self.plan.fill(table, self.columns, &self.first)
    }
}

/// Rows of a run in the making, each handed on and not kept.
pub struct Streamer<'s> {
    /// `None` once the head was written.
    plan: Option<Plan>,
    slots: Vec<Slot>,
    sink: &'s mut (dyn RowSink + Send),
    row: Vec<f64>,
}

impl<'s> Streamer<'s> {
    pub fn new(
        info: &ModelInfo,
        selection: &Selection,
        sink: &'s mut (dyn RowSink + Send),
    ) -> Streamer<'s> {
        let plan = Plan::new(info, selection);
        Streamer {
            slots: plan.slots.clone(),
            plan: Some(plan),
            sink,
            row: Vec::new(),
        }
    }

    /// Hands a row on; `values` as for [`Recorder::record`].
    pub fn record(&mut self, values: &[f64]) -> io::Result<()> {
        let time = values[Slot::TIME.index()];
        self.begin(time, values)?;
        self.row.clear();
        let series = self.slots.iter().map(|slot| values[slot.index()]);
        self.row.extend(series);
        self.sink.row(time, &self.row)
    }

    fn begin(&mut self, time: f64, first: &[f64]) -> io::Result<()> {
        let Some(plan) = self.plan.take() else {
            return Ok(());
        };
        let columns = vec![Vec::new(); plan.slots.len()];
        let outline = plan.fill(ResultTable::default(), columns, first);
        self.sink.begin(&outline, time)
    }

    /// What was recorded can be read from now on.
    pub fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }

    /// The time of the last row that the file has, if that is known.
    pub fn time_written(&self) -> Option<f64> {
        self.sink.time_written()
    }

    /// Ends the result. Without a row there is none.
    pub fn finish(&mut self) -> io::Result<()> {
        match self.plan {
            Some(_) => Ok(()),
            None => self.sink.finish(),
        }
    }
}
