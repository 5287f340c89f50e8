//! External functions and external objects of the Modelica Standard Library, in Rust; the way to those of others.
//!
//! Comes in: the name of an external function and its arguments in the order of the call (those that the function writes
//! with their present value). Goes out: the result and what was written, or a sentence that says what is missing. Objects
//! live in the table [`Objects`], one per run; [`crate::Value::Object`] is a number in it. Files are reached through
//! [`Host`] only.

pub mod files;
mod foreign;
pub mod fourier;
mod host;
mod inflate;
mod lapack;
pub mod random;
pub mod strings;
mod system;
pub mod tables;
#[cfg(test)]
mod tests;
mod user_tables;

use crate::eval::{ExternalCall, ExternalError, ExternalReply, Externals};
use crate::{Base, Value};
use files::{MatVersion, Reading};
pub use foreign::{ForeignCall, ForeignReply, ForeignResult};
pub use host::{Change, Clock, FileKind, Host, NoHost, Order};
pub use lapack::{eigenvalues, pencil_eigenvalues};
use std::sync::Arc;
use tables::{Curve, Extrapolation, Matrix, Smoothness, Surface, TimeEvents, TimeTable};

#[derive(Clone, Debug)]
enum Object {
    TimeTable(TimeTable),
    Table1D(Curve),
    Table2D(Surface),
    /// Address of an object of foreign code.
    Foreign(usize),
}

/// The external objects of one run, and what else external functions remember.
pub struct Objects {
    host: Arc<dyn Host>,
    items: Vec<Object>,
    /// Printed text that nobody has fetched yet.
    messages: Vec<String>,
    /// State of the impure random number generator, with the number it was made with.
    random: Option<(i64, Vec<i64>)>,
    /// Objects of foreign code that must be taken away at the end.
    owned: Vec<foreign::Owned>,
    surroundings: system::Surroundings,
}

/// What [`Objects::save`] gives.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct ObjectState {
    random: Option<(i64, Vec<i64>)>,
    surroundings: system::Surroundings,
}

/// What an external function gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub result: Option<Value>,
    /// Position of the argument and its new value.
    pub written: Vec<(usize, Value)>,
}

impl Reply {
    fn result(value: Value) -> Reply {
        Reply {
            result: Some(value),
            written: Vec::new(),
        }
    }

    fn real(x: f64) -> Reply {
        Reply::result(Value::Real(x))
    }

    fn integer(i: i64) -> Reply {
        Reply::result(Value::Integer(i))
    }

    fn string(s: impl Into<Arc<str>>) -> Reply {
        Reply::result(Value::String(s.into()))
    }

    fn written(written: Vec<(usize, Value)>) -> Reply {
        Reply {
            result: None,
            written,
        }
    }
}

/// Whether a function is of the C interface of the Modelica Standard Library, which is built in.
pub fn is_of_standard_library(name: &str) -> bool {
    const FAMILIES: [&str; 7] = [
        "ModelicaStandardTables_",
        "ModelicaStrings_",
        "ModelicaInternal_",
        "ModelicaStreams_",
        "ModelicaRandom_",
        "ModelicaIO_",
        "ModelicaFFT_",
    ];
    FAMILIES.iter().any(|family| name.starts_with(family))
}

/// Table functions on numbers, for callers that need no [`Value`]. Arguments in the order of the C interface, the object first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum TableFunction {
    TimeValue,
    TimeDerivative,
    TimeSecond,
    TimeMinimum,
    TimeMaximum,
    TimeNextEvent,
    Value1,
    Derivative1,
    Second1,
    Minimum1,
    Maximum1,
    Value2,
    Derivative2,
    Second2,
}

impl TableFunction {
    pub fn by_name(name: &str) -> Option<TableFunction> {
        use TableFunction::*;
        Some(match name.strip_prefix("ModelicaStandardTables_")? {
            "CombiTimeTable_getValue" => TimeValue,
            "CombiTimeTable_getDerValue" => TimeDerivative,
            "CombiTimeTable_getDer2Value" => TimeSecond,
            "CombiTimeTable_minimumTime" => TimeMinimum,
            "CombiTimeTable_maximumTime" => TimeMaximum,
            "CombiTimeTable_nextTimeEvent" => TimeNextEvent,
            "CombiTable1D_getValue" => Value1,
            "CombiTable1D_getDerValue" => Derivative1,
            "CombiTable1D_getDer2Value" => Second1,
            "CombiTable1D_minimumAbscissa" => Minimum1,
            "CombiTable1D_maximumAbscissa" => Maximum1,
            "CombiTable2D_getValue" => Value2,
            "CombiTable2D_getDerValue" => Derivative2,
            "CombiTable2D_getDer2Value" => Second2,
            _ => return None,
        })
    }

    pub fn n_args(self) -> usize {
        use TableFunction::*;
        match self {
            TimeMinimum | TimeMaximum | Minimum1 | Maximum1 => 1,
            TimeNextEvent => 2,
            Value1 | Value2 => 3,
            Derivative1 => 4,
            TimeValue | Second1 | Derivative2 => 5,
            TimeDerivative => 6,
            TimeSecond | Second2 => 7,
        }
    }
}

impl Objects {
    pub fn new(host: Arc<dyn Host>) -> Objects {
        Objects {
            host,
            items: Vec::new(),
            messages: Vec::new(),
            random: None,
            owned: Vec::new(),
            surroundings: system::Surroundings::default(),
        }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// What is remembered beside the objects, of which the run began with `n_bound`. An error says what has a past that cannot be written down.
    pub fn save(&self, n_bound: usize) -> Result<ObjectState, String> {
        let is_foreign = |object: &Object| matches!(object, Object::Foreign(_));
        if self.items.iter().any(is_foreign) || !self.owned.is_empty() {
            return Err("an external object of C code cannot be saved".to_owned());
        }
        if self.items.len() != n_bound {
            return Err(
                "an external object that was made during the run cannot be saved".to_owned(),
            );
        }
        Ok(ObjectState {
            random: self.random.clone(),
            surroundings: self.surroundings.clone(),
        })
    }

    pub fn restore(&mut self, state: ObjectState) {
        self.random = state.random;
        self.surroundings = state.surroundings;
    }

    /// Text printed by the model since the last call.
    pub fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    pub fn has_messages(&self) -> bool {
        !self.messages.is_empty()
    }

    fn add(&mut self, object: Object) -> Reply {
        self.items.push(object);
        Reply::result(Value::Object(self.items.len() as u32 - 1))
    }

    fn object(&self, number: f64) -> Result<&Object, String> {
        self.items
            .get(number as usize)
            .ok_or_else(|| "an external object is used before it exists".to_string())
    }

    fn time_table(&self, number: f64) -> Result<&TimeTable, String> {
        match self.object(number)? {
            Object::TimeTable(t) => Ok(t),
            _ => Err("a time table function was given another external object".into()),
        }
    }

    fn curve(&self, number: f64) -> Result<&Curve, String> {
        match self.object(number)? {
            Object::Table1D(t) => Ok(t),
            _ => Err("a 1D table function was given another external object".into()),
        }
    }

    fn surface(&self, number: f64) -> Result<&Surface, String> {
        match self.object(number)? {
            Object::Table2D(t) => Ok(t),
            _ => Err("a 2D table function was given another external object".into()),
        }
    }

    /// A table function on numbers; `a` has [`TableFunction::n_args`] elements.
    pub fn table(&self, function: TableFunction, a: &[f64]) -> Result<f64, String> {
        use TableFunction::*;
        if a.len() != function.n_args() {
            return Err(format!(
                "a table function was given {} arguments instead of {}",
                a.len(),
                function.n_args()
            ));
        }
        let id = a[0];
        Ok(match function {
            TimeValue => self.time_table(id)?.value(a[1] as i64, a[2], a[3], a[4])?.y,
            TimeDerivative => self
                .time_table(id)?
                .value(a[1] as i64, a[2], a[3], a[4])?
                .rate(a[5]),
            TimeSecond => self
                .time_table(id)?
                .value(a[1] as i64, a[2], a[3], a[4])?
                .second_rate(a[5], a[6]),
            TimeMinimum => self.time_table(id)?.minimum(),
            TimeMaximum => self.time_table(id)?.maximum(),
            TimeNextEvent => self.time_table(id)?.next_event(a[1]),
            Value1 => self.curve(id)?.value(a[1] as i64, a[2])?.y,
            Derivative1 => self.curve(id)?.value(a[1] as i64, a[2])?.rate(a[3]),
            Second1 => self
                .curve(id)?
                .value(a[1] as i64, a[2])?
                .second_rate(a[3], a[4]),
            Minimum1 => self.curve(id)?.minimum(),
            Maximum1 => self.curve(id)?.maximum(),
            Value2 => self.surface(id)?.value(a[1], a[2])?.z,
            Derivative2 => self.surface(id)?.value(a[1], a[2])?.rate([a[3], a[4]]),
            Second2 => self
                .surface(id)?
                .value(a[1], a[2])?
                .second_rate([a[3], a[4]], [a[5], a[6]]),
        })
    }

    /// Directional derivative of a table function with respect to its Real arguments; `d` is the direction.
    pub fn table_derivative(
        &self,
        function: TableFunction,
        a: &[f64],
        d: &[f64],
    ) -> Result<f64, String> {
        use TableFunction::*;
        if a.len() != function.n_args() || d.len() != a.len() {
            return Err("a table function was given a wrong number of arguments".into());
        }
        let id = a[0];
        Ok(match function {
            TimeValue => self
                .time_table(id)?
                .value(a[1] as i64, a[2], a[3], a[4])?
                .rate(d[2]),
            TimeDerivative => {
                let jet = self.time_table(id)?.value(a[1] as i64, a[2], a[3], a[4])?;
                jet.d2 * d[2] * a[5] + jet.d1 * d[5]
            }
            Value1 => self.curve(id)?.value(a[1] as i64, a[2])?.rate(d[2]),
            Derivative1 => {
                let jet = self.curve(id)?.value(a[1] as i64, a[2])?;
                jet.d2 * d[2] * a[3] + jet.d1 * d[3]
            }
            Value2 => self.surface(id)?.value(a[1], a[2])?.rate([d[1], d[2]]),
            Derivative2 => {
                let jet = self.surface(id)?.value(a[1], a[2])?;
                let [xx, xy, yy] = jet.second;
                (xx * d[1] + xy * d[2]) * a[3]
                    + (xy * d[1] + yy * d[2]) * a[4]
                    + jet.rate([d[3], d[4]])
            }
            // Third derivatives of cubics times squares of rates: the part along the last rates is exact, the rest constant.
            TimeSecond => self
                .time_table(id)?
                .value(a[1] as i64, a[2], a[3], a[4])?
                .rate(d[6]),
            Second1 => self.curve(id)?.value(a[1] as i64, a[2])?.rate(d[4]),
            Second2 => self.surface(id)?.value(a[1], a[2])?.rate([d[5], d[6]]),
            TimeMinimum | TimeMaximum | TimeNextEvent | Minimum1 | Maximum1 => 0.0,
        })
    }

    /// Calls the external function `name` if it is one of those written here.
    fn built_in(&mut self, name: &str, args: &[Value]) -> Result<Option<Reply>, String> {
        let a = Args { name, values: args };
        if let Some(function) = TableFunction::by_name(name) {
            let numbers: Vec<f64> = (0..args.len())
                .map(|i| a.real(i))
                .collect::<Result<_, _>>()?;
            return self.table(function, &numbers).map(Reply::real).map(Some);
        }
        if let Some(rest) = name.strip_prefix("ModelicaStandardTables_") {
            return self.make_table(rest, &a).map(Some);
        }
        if let Some(rest) = name.strip_prefix("ModelicaStrings_") {
            return text_function(rest, &a).map(Some);
        }
        if let Some(rest) = name.strip_prefix("ModelicaInternal_") {
            return self.internal(rest, &a).map(Some);
        }
        if let Some(rest) = name.strip_prefix("ModelicaRandom_") {
            return self.random(rest, &a).map(Some);
        }
        match name {
            "exit" => return Err(system::left(a.integer(0)?)),
            "system" => return self.command(a.text(0)?).map(Some),
            "ModelicaIO_readMatrixSizes" => {
                let (path, matrix) = (a.text(0)?, a.text(1)?);
                let bytes = self.read(path)?;
                let (rows, columns) = files::matrix_size(path, &bytes, matrix)?;
                let size = integers(&[rows as i64, columns as i64]);
                return Ok(Some(Reply::written(vec![(2, size)])));
            }
            "ModelicaIO_readRealMatrix" => {
                let (path, matrix) = (a.text(0)?, a.text(1)?);
                let bytes = self.read(path)?;
                let reading = Reading {
                    name: matrix,
                    delimiter: ',',
                    header_lines: 0,
                };
                let found = files::read_matrix(path, &bytes, &reading)?;
                let (rows, columns) = (a.integer(3)?, a.integer(4)?);
                if (found.rows as i64, found.columns as i64) != (rows, columns) {
                    return Err(format!(
                        "matrix `{matrix}` of `{path}` has {} rows and {} columns, not {rows} and {columns}",
                        found.rows, found.columns
                    ));
                }
                return Ok(Some(Reply::written(vec![(2, matrix_value(&found))])));
            }
            "ModelicaIO_writeRealMatrix" => {
                let (path, matrix, version) = (a.text(0)?, a.text(1)?, a.text(6)?);
                let version = MatVersion::from_name(version).ok_or_else(|| {
                    format!(
                        "`{path}`: there is no version {version} of MAT files; 4, 6 and 7 are known"
                    )
                })?;
                let place = self.place(path);
                let append = a.boolean(5)? && self.host.kind(&place) == FileKind::Regular;
                let bytes = files::mat_bytes(version, matrix, &a.matrix(2)?, append)?;
                self.host.write(&place, &bytes, append)?;
                return Ok(Some(Reply::integer(1)));
            }
            // Every access opens and closes by itself.
            "ModelicaStreams_closeFile" => return Ok(Some(Reply::default())),
            // u, nu, work, nwork, amplitudes, phases
            "ModelicaFFT_kiss_fftr" => {
                let u = a.matrix(0)?.data;
                return Ok(Some(match fourier::real_spectrum(&u) {
                    Some((amplitudes, phases)) => Reply {
                        result: Some(Value::Integer(0)),
                        written: vec![(4, reals(&amplitudes)), (5, reals(&phases))],
                    },
                    // The number of samples is odd.
                    None => Reply::integer(1),
                }));
            }
            _ => {}
        }
        if let Some(reply) = math(name, &a)? {
            return Ok(Some(reply));
        }
        lapack::call(name.trim_end_matches('_'), &a)
    }

    fn make_table(&mut self, what: &str, a: &Args) -> Result<Reply, String> {
        match what {
            "CombiTimeTable_init" | "CombiTimeTable_init2" | "CombiTimeTable_init3" => {
                let newer = what != "CombiTimeTable_init";
                let table = self.table_data(
                    a,
                    0,
                    1,
                    2,
                    if newer { Some(13) } else { None },
                    user_tables::Kind::Time,
                )?;
                let columns = a.integers(6)?;
                let smoothness = Smoothness::from_ordinal(a.integer(8)?)?;
                let extrapolation = Extrapolation::from_ordinal(a.integer(9)?)?;
                let (shift, events) = if newer {
                    (a.real(10)?, TimeEvents::from_ordinal(a.integer(11)?)?)
                } else {
                    (a.real(5)?, TimeEvents::Always)
                };
                let start = a.real(5)?;
                let curve = Curve::new(&table, &columns, smoothness, extrapolation, true)?;
                Ok(self.add(Object::TimeTable(TimeTable::new(
                    curve, start, shift, events,
                ))))
            }
            "CombiTable1D_init" | "CombiTable1D_init2" | "CombiTable1D_init3" => {
                let newer = what != "CombiTable1D_init";
                let table = self.table_data(
                    a,
                    0,
                    1,
                    2,
                    if newer { Some(10) } else { None },
                    user_tables::Kind::OneInput,
                )?;
                let columns = a.integers(5)?;
                let smoothness = Smoothness::from_ordinal(a.integer(7)?)?;
                let extrapolation = if newer {
                    Extrapolation::from_ordinal(a.integer(8)?)?
                } else {
                    Extrapolation::LastTwoPoints
                };
                let curve = Curve::new(&table, &columns, smoothness, extrapolation, false)?;
                Ok(self.add(Object::Table1D(curve)))
            }
            "CombiTable2D_init" | "CombiTable2D_init2" | "CombiTable2D_init3" => {
                let newer = what != "CombiTable2D_init";
                let table = self.table_data(
                    a,
                    0,
                    1,
                    2,
                    if newer { Some(8) } else { None },
                    user_tables::Kind::TwoInputs,
                )?;
                let smoothness = Smoothness::from_ordinal(a.integer(5)?)?;
                let extrapolation = if newer {
                    Extrapolation::from_ordinal(a.integer(6)?)?
                } else {
                    Extrapolation::LastTwoPoints
                };
                Ok(self.add(Object::Table2D(Surface::new(
                    &table,
                    smoothness,
                    extrapolation,
                )?)))
            }
            "CombiTable2D_minimumAbscissa" => {
                let minimum = self.surface(a.real(0)?)?.minimum();
                Ok(Reply::written(vec![(1, reals(&minimum))]))
            }
            "CombiTable2D_maximumAbscissa" => {
                let maximum = self.surface(a.real(0)?)?.maximum();
                Ok(Reply::written(vec![(1, reals(&maximum))]))
            }
            // Objects live as long as the run; old read functions return that the table is there.
            "CombiTimeTable_close" | "CombiTable1D_close" | "CombiTable2D_close" => {
                Ok(Reply::default())
            }
            "CombiTimeTable_read" | "CombiTable1D_read" | "CombiTable2D_read" => {
                Ok(Reply::real(1.0))
            }
            _ => Err(format!(
                "the external function `{}` is not available in Saltus",
                a.name
            )),
        }
    }

    /// The matrix of a table, from the argument or from a file. `csv`: position of the delimiter, if the call has one.
    fn table_data(
        &mut self,
        a: &Args,
        file: usize,
        name: usize,
        table: usize,
        csv: Option<usize>,
        kind: user_tables::Kind,
    ) -> Result<Matrix, String> {
        let (file, name) = (a.text(file)?, a.text(name)?);
        let given = |s: &str| s != "NoName" && !s.trim().is_empty();
        if !given(name) {
            if given(file) {
                return Err(format!(
                    "table file `{file}` is given without the name of a table"
                ));
            }
            return a.matrix(table);
        }
        if !given(file) {
            return self.user_table(name, kind);
        }
        let delimiter = match csv.and_then(|i| a.values.get(i)) {
            Some(Value::String(s)) => s.chars().next().unwrap_or(','),
            _ => ',',
        };
        let header_lines = match csv.and_then(|i| a.values.get(i + 1)) {
            Some(Value::Integer(n)) => (*n).max(0) as usize,
            _ => 0,
        };
        let bytes = self.read(file)?;
        files::read_matrix(
            file,
            &bytes,
            &Reading {
                name,
                delimiter,
                header_lines,
            },
        )
    }

    fn random(&mut self, what: &str, a: &Args) -> Result<Reply, String> {
        let step = match what {
            "xorshift64star" => random::xorshift64star(&a.integers(0)?)?,
            "xorshift128plus" => random::xorshift128plus(&a.integers(0)?)?,
            "xorshift1024star" => random::xorshift1024star(&a.integers(0)?)?,
            "setInternalState_xorshift1024star" => {
                self.random = Some((a.integer(2)?, a.integers(0)?));
                return Ok(Reply::default());
            }
            "impureRandom_xorshift1024star" => {
                let id = a.integer(0)?;
                let Some((known, state)) = &mut self.random else {
                    return Err("`impureRandom` is called before `initializeImpureRandom`".into());
                };
                if *known != id {
                    return Err(
                        "`impureRandom` is called with the number of another initialisation".into(),
                    );
                }
                let (next, number) = random::xorshift1024star(state)?;
                *state = next;
                return Ok(Reply::real(number));
            }
            // Runs repeat exactly: the seed that others take from the clock is fixed.
            "automaticGlobalSeed" => {
                return Ok(Reply::integer(strings::hash("saltus") & 0x7fff_ffff));
            }
            "convertRealToIntegers" => {
                let bits = a.real(0)?.to_bits();
                let halves = [
                    i64::from(bits as u32 as i32),
                    i64::from((bits >> 32) as u32 as i32),
                ];
                return Ok(Reply::written(vec![(1, integers(&halves))]));
            }
            _ => {
                return Err(format!(
                    "the external function `{}` is not available in Saltus",
                    a.name
                ));
            }
        };
        Ok(Reply::written(vec![
            (1, integers(&step.0)),
            (2, Value::Real(step.1)),
        ]))
    }
}

impl Externals for Objects {
    fn call(&mut self, call: &ExternalCall<'_>) -> Result<ExternalReply, ExternalError> {
        let Some(mut reply) = self.built_in(call.name, call.args)? else {
            return self.foreign(call);
        };
        let result = match (call.result, reply.result) {
            (None, _) => None,
            (Some(ty), Some(Value::Integer(k))) => Some(match ty.base {
                Base::Enum(id) => Value::Enum(
                    id,
                    u32::try_from(k).map_err(|_| "an enumeration value below 0".to_string())?,
                ),
                Base::Boolean => Value::Boolean(k != 0),
                Base::Real => Value::Real(k as f64),
                _ => Value::Integer(k),
            }),
            (Some(_), Some(value)) => Some(value),
            (Some(_), None) => {
                let why = "it returns nothing where a value is expected".to_string();
                return Err(why.into());
            }
        };
        // Outputs that were not written keep their value.
        let mut outputs = Vec::new();
        for (i, _) in call.is_output.iter().enumerate().filter(|(_, out)| **out) {
            let written = reply.written.iter().position(|(at, _)| *at == i);
            outputs.push(match written {
                Some(k) => reply.written.swap_remove(k).1,
                None => call.args[i].clone(),
            });
        }
        Ok(ExternalReply { result, outputs })
    }

    fn warn(&mut self, message: &str) {
        self.messages.push(message.to_string());
    }
}

fn reals(x: &[f64]) -> Value {
    Value::array(vec![x.len()], x.iter().map(|x| Value::Real(*x)).collect())
}

fn integers(x: &[i64]) -> Value {
    Value::array(
        vec![x.len()],
        x.iter().map(|x| Value::Integer(*x)).collect(),
    )
}

fn matrix_value(m: &Matrix) -> Value {
    Value::array(
        vec![m.rows, m.columns],
        m.data.iter().map(|x| Value::Real(*x)).collect(),
    )
}

/// Arguments with checks.
struct Args<'a> {
    name: &'a str,
    values: &'a [Value],
}

impl<'a> Args<'a> {
    fn get(&self, i: usize) -> Result<&'a Value, String> {
        self.values
            .get(i)
            .ok_or_else(|| format!("`{}` needs an argument number {}", self.name, i + 1))
    }

    fn wrong(&self, i: usize, wanted: &str) -> String {
        format!("argument {} of `{}` must be {wanted}", i + 1, self.name)
    }

    fn real(&self, i: usize) -> Result<f64, String> {
        self.get(i)?
            .as_f64()
            .ok_or_else(|| self.wrong(i, "a number"))
    }

    fn integer(&self, i: usize) -> Result<i64, String> {
        let value = self.get(i)?;
        let whole = value
            .as_f64()
            .filter(|x| x.fract() == 0.0)
            .map(|x| x as i64);
        value
            .as_i64()
            .or(whole)
            .ok_or_else(|| self.wrong(i, "an Integer"))
    }

    /// A number of elements.
    fn size(&self, i: usize) -> Result<usize, String> {
        usize::try_from(self.integer(i)?).map_err(|_| self.wrong(i, "0 or above"))
    }

    fn booleans(&self, i: usize) -> Result<Vec<bool>, String> {
        match self.get(i)? {
            Value::Array(array) => array
                .elems
                .iter()
                .map(|v| v.as_bool().or(v.as_i64().map(|k| k != 0)))
                .collect::<Option<_>>()
                .ok_or_else(|| self.wrong(i, "an array of Booleans")),
            _ => Err(self.wrong(i, "an array of Booleans")),
        }
    }

    fn boolean(&self, i: usize) -> Result<bool, String> {
        let value = self.get(i)?;
        value
            .as_bool()
            .or(value.as_i64().map(|k| k != 0))
            .ok_or_else(|| self.wrong(i, "a Boolean"))
    }

    fn text(&self, i: usize) -> Result<&'a str, String> {
        self.get(i)?
            .as_str()
            .ok_or_else(|| self.wrong(i, "a String"))
    }

    fn integers(&self, i: usize) -> Result<Vec<i64>, String> {
        match self.get(i)? {
            Value::Array(array) => array
                .elems
                .iter()
                .map(|v| v.as_i64().or(v.as_f64().map(|x| x as i64)))
                .collect::<Option<_>>()
                .ok_or_else(|| self.wrong(i, "an array of Integers")),
            _ => Err(self.wrong(i, "an array of Integers")),
        }
    }

    /// A matrix; a vector is one column.
    fn matrix(&self, i: usize) -> Result<Matrix, String> {
        let Value::Array(array) = self.get(i)? else {
            return Err(self.wrong(i, "a matrix"));
        };
        let (rows, columns) = match array.dims.as_slice() {
            [n] => (*n, 1),
            [n, m] => (*n, *m),
            _ => return Err(self.wrong(i, "a matrix")),
        };
        let data: Option<Vec<f64>> = array.elems.iter().map(Value::as_f64).collect();
        Ok(Matrix {
            rows,
            columns,
            data: data.ok_or_else(|| self.wrong(i, "a matrix of numbers"))?,
        })
    }

    /// A matrix back in the shape of the argument.
    fn shaped(&self, i: usize, m: &Matrix) -> Value {
        match self.values.get(i) {
            Some(Value::Array(a)) if a.dims.len() == 1 => reals(&m.data),
            _ => matrix_value(m),
        }
    }
}

fn text_function(what: &str, a: &Args) -> Result<Reply, String> {
    Ok(match what {
        "length" => Reply::integer(a.text(0)?.chars().count() as i64),
        "substring" => Reply::string(strings::substring(
            a.text(0)?,
            a.integer(1)?,
            a.integer(2)?,
        )?),
        "compare" => Reply::integer(strings::compare(a.text(0)?, a.text(1)?, a.boolean(2)?)),
        "hashString" => Reply::integer(strings::hash(a.text(0)?)),
        "skipWhiteSpace" => Reply::integer(strings::skip_white_space(a.text(0)?, a.integer(1)?)),
        "scanInteger" => {
            let (next, number) = strings::scan_integer(a.text(0)?, a.integer(1)?, a.boolean(2)?);
            Reply::written(vec![(3, Value::Integer(next)), (4, Value::Integer(number))])
        }
        "scanReal" => {
            let (next, number) = strings::scan_real(a.text(0)?, a.integer(1)?, a.boolean(2)?);
            Reply::written(vec![(3, Value::Integer(next)), (4, Value::Real(number))])
        }
        "scanString" => {
            let (next, text) = strings::scan_string(a.text(0)?, a.integer(1)?);
            Reply::written(vec![
                (2, Value::Integer(next)),
                (3, Value::String(text.into())),
            ])
        }
        "scanIdentifier" => {
            let (next, text) = strings::scan_identifier(a.text(0)?, a.integer(1)?);
            Reply::written(vec![
                (2, Value::Integer(next)),
                (3, Value::String(text.into())),
            ])
        }
        _ => {
            return Err(format!(
                "the external function `{}` is not available in Saltus",
                a.name
            ));
        }
    })
}

/// Functions of the C library.
fn math(name: &str, a: &Args) -> Result<Option<Reply>, String> {
    let one: Option<fn(f64) -> f64> = match name {
        "sin" => Some(f64::sin),
        "cos" => Some(f64::cos),
        "tan" => Some(f64::tan),
        "asin" => Some(f64::asin),
        "acos" => Some(f64::acos),
        "atan" => Some(f64::atan),
        "sinh" => Some(f64::sinh),
        "cosh" => Some(f64::cosh),
        "tanh" => Some(f64::tanh),
        "asinh" => Some(f64::asinh),
        "acosh" => Some(f64::acosh),
        "atanh" => Some(f64::atanh),
        "exp" => Some(f64::exp),
        "expm1" => Some(f64::exp_m1),
        "log" => Some(f64::ln),
        "log10" => Some(f64::log10),
        "log1p" => Some(f64::ln_1p),
        "log2" => Some(f64::log2),
        "sqrt" => Some(f64::sqrt),
        "cbrt" => Some(f64::cbrt),
        "fabs" => Some(f64::abs),
        "floor" => Some(f64::floor),
        "ceil" => Some(f64::ceil),
        "trunc" => Some(f64::trunc),
        "round" => Some(f64::round),
        _ => None,
    };
    if let Some(f) = one {
        let x = a.real(0)?;
        let y = f(x);
        if y.is_nan() && !x.is_nan() {
            return Err(format!("`{name}` is not defined at {x}"));
        }
        return Ok(Some(Reply::real(y)));
    }
    let two: Option<fn(f64, f64) -> f64> = match name {
        "atan2" => Some(f64::atan2),
        "pow" => Some(f64::powf),
        "hypot" => Some(f64::hypot),
        "fmod" => Some(|x, y| x % y),
        "fmin" => Some(f64::min),
        "fmax" => Some(f64::max),
        "copysign" => Some(f64::copysign),
        _ => None,
    };
    Ok(match two {
        Some(f) => Some(Reply::real(f(a.real(0)?, a.real(1)?))),
        None => None,
    })
}
