//! The result of a run in memory.
//!
//! A table has one time column, a set of trajectories without duplicates, and the variables of the model, each of
//! which is a constant or a trajectory with a sign. Aliases therefore cost a name, not a column.

use std::fmt;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use saltus_model::{ValueType, VariableKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A trajectory of a [`ResultTable`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct SeriesId(pub(crate) u32);

impl SeriesId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a variable's values are.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Source {
    /// The same value in every row: a constant or a parameter.
    Constant(f64),
    /// A trajectory, or its negative.
    Series { id: SeriesId, negated: bool },
}

impl Source {
    /// The value in a row of all trajectories.
    pub(crate) fn value(self, series: &[f64]) -> f64 {
        match self {
            Source::Constant(value) => value,
            Source::Series { id, negated: false } => series[id.index()],
            Source::Series { id, negated: true } => -series[id.index()],
        }
    }
}

/// A variable of the result and what the model says about it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Variable {
    pub description: String,
    pub unit: String,
    pub display_unit: String,
    pub ty: ValueType,
    pub kind: VariableKind,
    pub source: Source,
}

impl Variable {
    /// A Real variable without description or unit, constant or continuous by its source.
    pub fn plain(source: Source) -> Variable {
        Variable {
            description: String::new(),
            unit: String::new(),
            display_unit: String::new(),
            ty: ValueType::Real,
            kind: match source {
                Source::Constant(_) => VariableKind::Parameter,
                Source::Series { .. } => VariableKind::Continuous,
            },
            source,
        }
    }
}

/// Which limit is meant at a time with two rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Left,
    Right,
}

/// Why a table could not be put together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TableError {
    /// A trajectory does not have as many values as there are times.
    Length { expected: usize, found: usize },
    /// Two variables have one name.
    DuplicateName(String),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Length { expected, found } => {
                write!(
                    f,
                    "a trajectory has {found} values, but there are {expected} times"
                )
            }
            TableError::DuplicateName(name) => write!(f, "the name `{name}` appears twice"),
        }
    }
}

impl std::error::Error for TableError {}

/// Why a result file could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReadError {
    /// Text formats: what is wrong in which line (from 1).
    Line { line: usize, what: String },
    /// Binary formats: what is wrong with the file.
    Format(String),
}

impl ReadError {
    pub(crate) fn format(what: impl Into<String>) -> ReadError {
        ReadError::Format(what.into())
    }

    pub(crate) fn line(line: usize, what: impl Into<String>) -> ReadError {
        ReadError::Line {
            line,
            what: what.into(),
        }
    }

    pub(crate) fn io(error: &std::io::Error) -> ReadError {
        ReadError::Format(error.to_string())
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Line { line, what } => write!(f, "line {line}: {what}"),
            ReadError::Format(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for ReadError {}

/// The result of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ResultTable {
    time: Vec<f64>,
    series: Vec<Vec<f64>>,
    #[serde(
        serialize_with = "write_variables",
        deserialize_with = "read_variables"
    )]
    variables: IndexMap<String, Variable, FxBuildHasher>,
}

impl ResultTable {
    /// A table with these times (not decreasing) and no variables yet.
    pub fn new(time: Vec<f64>) -> ResultTable {
        ResultTable {
            time,
            ..ResultTable::default()
        }
    }

    /// Adds a trajectory; variables refer to it by the id.
    pub fn push_series(&mut self, values: Vec<f64>) -> Result<SeriesId, TableError> {
        if values.len() != self.time.len() {
            return Err(TableError::Length {
                expected: self.time.len(),
                found: values.len(),
            });
        }
        self.series.push(values);
        Ok(SeriesId(self.series.len() as u32 - 1))
    }

    /// Adds a trajectory to a table without rows.
    pub(crate) fn push_empty_series(&mut self) -> SeriesId {
        self.series.push(Vec::new());
        SeriesId(self.series.len() as u32 - 1)
    }

    /// Fills a table without rows.
    pub(crate) fn with_rows(mut self, time: Vec<f64>, series: Vec<Vec<f64>>) -> ResultTable {
        debug_assert!(series.len() == self.series.len());
        debug_assert!(series.iter().all(|values| values.len() == time.len()));
        self.time = time;
        self.series = series;
        self
    }

    /// Appends a row: a time, not before that of the row above, and the values of the trajectories in their order.
    pub fn push_row(&mut self, time: f64, series: &[f64]) -> Result<(), TableError> {
        if series.len() != self.series.len() {
            return Err(TableError::Length {
                expected: self.series.len(),
                found: series.len(),
            });
        }
        self.time.push(time);
        for (column, value) in self.series.iter_mut().zip(series) {
            column.push(*value);
        }
        Ok(())
    }

    /// The same without rows and with some variables only; the trajectories that they need, in their order.
    pub(crate) fn outline_of(&self, names: &[String]) -> (ResultTable, Vec<SeriesId>) {
        let mut wanted: Vec<SeriesId> = (names.iter())
            .filter_map(|name| match self.find(name)?.1.source {
                Source::Series { id, .. } => Some(id),
                Source::Constant(_) => None,
            })
            .collect();
        wanted.sort_by_key(|id| id.index());
        wanted.dedup();
        let mut outline = ResultTable::default();
        wanted.iter().for_each(|_| {
            outline.push_empty_series();
        });
        for name in names {
            let Some((name, variable)) = self.find(name) else {
                continue;
            };
            let mut variable = variable.clone();
            if let Source::Series { id, .. } = &mut variable.source {
                let place = wanted.binary_search_by_key(&id.index(), |id| id.index());
                *id = SeriesId(place.expect("it was collected above") as u32);
            }
            // A name that is asked for twice is there once.
            outline.variables.insert(name.to_owned(), variable);
        }
        (outline, wanted)
    }

    /// A variable and its full name. Spaces after commas do not count: `a[1, 2]` finds `a[1,2]`.
    pub fn find(&self, name: &str) -> Option<(&str, &Variable)> {
        if let Some((_, name, variable)) = self.variables.get_full(name) {
            return Some((name, variable));
        }
        let wanted = without_index_spaces(name);
        let mut variables = self.variables();
        variables.find(|(known, _)| without_index_spaces(known) == wanted)
    }

    /// Adds a variable after the others.
    pub fn push_variable(
        &mut self,
        name: impl Into<String>,
        variable: Variable,
    ) -> Result<(), TableError> {
        let name = name.into();
        if self.variables.contains_key(&name) || name == "time" {
            return Err(TableError::DuplicateName(name));
        }
        self.variables.insert(name, variable);
        Ok(())
    }

    /// Adds a trajectory under a name of its own.
    pub fn push_column(
        &mut self,
        name: impl Into<String>,
        values: Vec<f64>,
    ) -> Result<(), TableError> {
        let id = self.push_series(values)?;
        self.push_variable(name, Variable::plain(Source::Series { id, negated: false }))
    }

    pub fn time(&self) -> &[f64] {
        &self.time
    }

    pub fn n_rows(&self) -> usize {
        self.time.len()
    }

    pub fn n_series(&self) -> usize {
        self.series.len()
    }

    pub fn series(&self, id: SeriesId) -> &[f64] {
        &self.series[id.index()]
    }

    pub(crate) fn all_series(&self) -> impl Iterator<Item = &[f64]> {
        self.series.iter().map(Vec::as_slice)
    }

    /// The variables in the order of the model, without time.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = (&str, &Variable)> {
        self.variables
            .iter()
            .map(|(name, variable)| (name.as_str(), variable))
    }

    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    /// The values of a variable, or of `time`. Spaces after commas do not count: `a[1, 2]` finds `a[1,2]`.
    pub fn signal(&self, name: &str) -> Option<Signal<'_>> {
        if name == "time" {
            return Some(Signal {
                table: self,
                values: Values::Series(&self.time, false),
            });
        }
        let (_, variable) = self.find(name)?;
        Some(self.signal_of(variable.source))
    }

    /// The values behind a source of this table.
    pub fn signal_of(&self, source: Source) -> Signal<'_> {
        let values = match source {
            Source::Constant(value) => Values::Constant(value),
            Source::Series { id, negated } => Values::Series(self.series(id), negated),
        };
        Signal {
            table: self,
            values,
        }
    }

    /// The names closest to one that was not found, best first, for messages.
    pub fn similar_names(&self, wanted: &str, count: usize) -> Vec<&str> {
        let mut scored: Vec<(usize, &str)> = self
            .variables
            .keys()
            .map(|name| (edit_distance(wanted, name), name.as_str()))
            .filter(|(distance, name)| *distance <= 2 + name.len().min(wanted.len()) / 3)
            .collect();
        scored.sort_by_key(|(distance, _)| *distance);
        scored
            .into_iter()
            .take(count)
            .map(|(_, name)| name)
            .collect()
    }
}

type Variables = IndexMap<String, Variable, FxBuildHasher>;

/// In their order.
fn write_variables<S: Serializer>(variables: &Variables, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(variables.iter())
}

fn read_variables<'de, D: Deserializer<'de>>(from: D) -> Result<Variables, D::Error> {
    let variables = Vec::<(String, Variable)>::deserialize(from)?;
    Ok(variables.into_iter().collect())
}

pub(crate) fn without_index_spaces(name: &str) -> String {
    name.replace(", ", ",")
}

/// Levenshtein distance in bytes.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let cost = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The values of one variable in a table.
#[derive(Clone, Copy, Debug)]
pub struct Signal<'a> {
    table: &'a ResultTable,
    values: Values<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Values<'a> {
    Constant(f64),
    Series(&'a [f64], bool),
}

impl<'a> Signal<'a> {
    /// The value in a row; panics if there is no such row.
    pub fn row(&self, row: usize) -> f64 {
        match self.values {
            Values::Constant(value) => value,
            Values::Series(values, false) => values[row],
            Values::Series(values, true) => -values[row],
        }
    }

    /// All values, one per row.
    pub fn to_vec(&self) -> Vec<f64> {
        (0..self.table.n_rows()).map(|row| self.row(row)).collect()
    }

    /// The value at a time by linear interpolation between rows; `None` outside the table.
    pub fn at(&self, time: f64, side: Side) -> Option<f64> {
        let t = &self.table.time;
        let (first, last) = (*t.first()?, *t.last()?);
        if !(first <= time && time <= last) {
            return None;
        }
        // The segment [i - 1, i] that holds `time`, on the wanted side of equal times.
        let i = match side {
            Side::Left => t.partition_point(|&x| x < time),
            Side::Right => t.partition_point(|&x| x <= time),
        };
        if i == 0 {
            return Some(self.row(0));
        }
        if i == t.len() {
            return Some(self.row(i - 1));
        }
        let (t0, t1) = (t[i - 1], t[i]);
        let (y0, y1) = (self.row(i - 1), self.row(i));
        if time == t0 {
            Some(y0)
        } else if time == t1 {
            Some(y1)
        } else {
            Some(y0 + (y1 - y0) * ((time - t0) / (t1 - t0)))
        }
    }

    /// The value in the last row.
    pub fn last(&self) -> Option<f64> {
        let n = self.table.n_rows();
        (n > 0).then(|| self.row(n - 1))
    }
}
