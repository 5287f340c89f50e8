//! Tables from a C function `usertab` that an external function of the model brings in its annotation `Include` (C interface of the tables of the Modelica Standard
//! Library).
//!
//! The function is part of no call: in the library's way it is found because all C code of a model is one program. Here the code of each external function is
//! compiled together with two functions that ask `usertab` for size and values; the first that has one answers.

use super::tables::Matrix;
use super::{ForeignCall, Objects};
use crate::Value;
use crate::eval::ExternalError;
use crate::func::ForeignCode;
use std::sync::Arc;

/// What the table is for, in the numbers of `usertab`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Time = 0,
    OneInput = 1,
    TwoInputs = 2,
}

/// Most elements a table may have (1 GiB).
const ELEMENTS_MAX: i64 = 1 << 27;

/// Columns stored one after the other come with their number first.
const QUESTIONS: &str = r#"
static double *saltus_usertab(const char *name, int kind, int *rows, int *columns, int *by_columns) {
    int dim[2] = {0, 0};
    double *table = 0;
    *by_columns = 0;
    if (usertab((char *)name, kind, dim, by_columns, &table) != 0 || !table)
        ModelicaFormatError("the function usertab has no table \"%s\"", name);
    *rows = dim[*by_columns ? 1 : 0];
    *columns = dim[*by_columns ? 0 : 1];
    return table;
}
void saltus_usertab_size(const char *name, int kind, int *size) {
    int by_columns;
    saltus_usertab(name, kind, &size[0], &size[1], &by_columns);
}
void saltus_usertab_values(const char *name, int kind, double *values, int n) {
    int rows, columns, by_columns, i, j;
    double *table = saltus_usertab(name, kind, &rows, &columns, &by_columns);
    if (rows * columns != n) ModelicaError("the function usertab changes the size of a table");
    for (i = 0; i < rows; i++)
        for (j = 0; j < columns; j++)
            values[i * columns + j] = by_columns ? table[j * rows + i] : table[i * columns + j];
}
"#;

impl Objects {
    /// The table of this name from `usertab`.
    pub(super) fn user_table(&mut self, name: &str, kind: Kind) -> Result<Matrix, String> {
        let host = self.host.clone();
        let mut why = None;
        for brought in host.brought().iter().filter(|c| !c.include.is_empty()) {
            let mut code = brought.clone();
            code.include.push(Arc::from(QUESTIONS));
            let size = match self.ask(&code, "saltus_usertab_size", name, kind, integers_of(2)) {
                Ok(size) => size,
                // No `usertab` here, or no compiler.
                Err(ExternalError::Missing(reason)) => {
                    why.get_or_insert(reason);
                    continue;
                }
                Err(ExternalError::Failed(reason) | ExternalError::Forbidden(reason)) => {
                    return Err(reason);
                }
            };
            let [rows, columns] = size[..] else {
                return Err("the function usertab gave no size".into());
            };
            let (rows, columns) = (rows as i64, columns as i64);
            if rows < 0 || columns < 0 || rows.saturating_mul(columns) > ELEMENTS_MAX {
                return Err(format!(
                    "the function usertab says that table `{name}` has {rows} rows and {columns} columns"
                ));
            }
            let (rows, columns) = (rows as usize, columns as usize);
            let room = Value::array(vec![rows * columns], vec![Value::Real(0.0); rows * columns]);
            let data = (self.ask(&code, "saltus_usertab_values", name, kind, room)).map_err(
                |e| match e {
                    ExternalError::Missing(reason)
                    | ExternalError::Forbidden(reason)
                    | ExternalError::Failed(reason) => reason,
                },
            )?;
            return Ok(Matrix {
                rows,
                columns,
                data,
            });
        }
        let wanted = format!("table `{name}` is to come from a C function `usertab`");
        Err(match why {
            Some(why) => format!(
                "{wanted}, and what the external functions of the model include gives none: {why}"
            ),
            None => format!(
                "{wanted}, and no external function of the model includes C code; give `tableName` together with `fileName`, or bring `usertab` in an annotation `Include`"
            ),
        })
    }

    /// Calls one of [`QUESTIONS`]; its last output as numbers.
    fn ask(
        &mut self,
        code: &ForeignCode,
        function: &str,
        table: &str,
        kind: Kind,
        room: Value,
    ) -> Result<Vec<f64>, ExternalError> {
        let n = match &room {
            Value::Array(array) => array.elems.len(),
            _ => 0,
        };
        let mut args = vec![
            Value::String(table.into()),
            Value::Integer(kind as i64),
            room,
        ];
        let mut is_output = vec![false, false, true];
        if function == "saltus_usertab_values" {
            args.push(Value::Integer(n as i64));
            is_output.push(false);
        }
        let reply = self.host.foreign(&ForeignCall {
            name: function,
            language: "C",
            args: &args,
            is_output: &is_output,
            result: None,
            code,
            addresses: &[],
        })?;
        self.messages.extend(reply.messages);
        match reply.outputs.first() {
            Some(Value::Array(array)) => Ok(array.elems.iter().filter_map(Value::as_f64).collect()),
            _ => Err(ExternalError::Failed(
                "the function usertab gave nothing".into(),
            )),
        }
    }
}

fn integers_of(n: usize) -> Value {
    Value::array(vec![n], vec![Value::Integer(0); n])
}
