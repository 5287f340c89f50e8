//! What a model is given from outside: settings of the command line, of files and scenarios, and inputs.
//!
//! Settings go over each other in this order: the scenario, the files as they are named, `--set`.

use std::path::{Path, PathBuf};

use saltus::{Experiment, Input, Model, Session, Value};

use crate::args::{GivenArgs, InputRequest, Setting, TargetArgs};
use crate::engine::{self, setting_failure};
use crate::exit::{Failure, message};
use crate::files;

/// The file with scenarios, in the working folder.
const SCENARIOS: &str = "saltus.toml";

/// A compiled model with its settings, and what its inputs get.
pub(crate) struct Prepared {
    pub(crate) model: Model,
    pub(crate) inputs: Vec<(String, Input)>,
}

impl Prepared {
    /// A run of the model with its inputs.
    pub(crate) fn experiment(&self) -> Experiment<'_> {
        with_inputs(self.model.experiment(), &self.inputs)
    }
}

/// The same run with these inputs.
pub(crate) fn with_inputs<'m>(
    experiment: Experiment<'m>,
    inputs: &[(String, Input)],
) -> Experiment<'m> {
    (inputs.iter()).fold(experiment, |experiment, (name, input)| {
        experiment.input(name, input.clone())
    })
}

/// Compiles a model and gives it what the command line says.
pub(crate) fn prepare(
    session: &mut Session,
    target: &TargetArgs,
    class: &str,
    given: &GivenArgs,
    settings: &[Setting],
) -> Result<Prepared, Failure> {
    let mut inputs = Vec::new();
    for request in &given.inputs {
        let InputRequest::Expression(Setting { path, value }) = request else {
            continue;
        };
        match value.parse() {
            Ok(constant) if !matches!(constant, Value::String(_)) => {
                inputs.push((path.clone(), Input::from(constant)));
            }
            _ if engine::is_compiled(Path::new(&target.target)) => {
                return Err(Failure::command_line(format!(
                    "--input {path}: `{}` is compiled: an expression needs the source of the model; a number or a file does not",
                    target.target
                )));
            }
            _ => {
                (session.bind_input(path, value))
                    .map_err(|e| Failure::command_line(format!("--input: {e}")))?;
            }
        }
    }
    let model = engine::compile(session, target, class)?;
    let model = with_given_settings(model, given, settings)?;
    for request in &given.inputs {
        if let InputRequest::File(path) = request {
            inputs.extend(inputs_of_file(&model, path, given)?);
        }
    }
    Ok(Prepared { model, inputs })
}

/// The model with all its settings.
fn with_given_settings(
    model: Model,
    given: &GivenArgs,
    settings: &[Setting],
) -> Result<Model, Failure> {
    let mut all: Vec<(String, Written)> = Vec::new();
    if let Some(name) = &given.scenario {
        all.extend(scenario(name)?);
    }
    for path in &given.settings_files {
        all.extend(settings_of_file(path)?);
    }
    all.extend(settings.iter().map(written));
    with_written(model, &all)
}

/// The model with the settings of `--set`.
pub(crate) fn with_settings(model: Model, settings: &[Setting]) -> Result<Model, Failure> {
    let all: Vec<(String, Written)> = settings.iter().map(written).collect();
    with_written(model, &all)
}

fn written(setting: &Setting) -> (String, Written) {
    (setting.path.clone(), Written::Text(setting.value.clone()))
}

fn with_written(model: Model, all: &[(String, Written)]) -> Result<Model, Failure> {
    if all.is_empty() {
        return Ok(model);
    }
    let mut values: Vec<(&str, Value)> = Vec::new();
    for (name, written) in all {
        let known = model.setting_name(name).map_err(setting_failure)?;
        let value = match written {
            Written::Text(text) => model.value_of_text(known, text).map_err(setting_failure)?,
            Written::Value(value) => value.clone(),
        };
        values.push((name, value));
    }
    model.with(values).map_err(setting_failure)
}

/// A value as a file has it.
enum Written {
    /// To be understood by the type of the variable.
    Text(String),
    Value(Value),
}

/// The settings of a file, by its ending.
fn settings_of_file(path: &Path) -> Result<Vec<(String, Written)>, Failure> {
    let text = files::read_text(path)?;
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::command_line(format!("--settings `{}`: {why}", path.display()))
    };
    let ending = path.extension().map(|e| e.to_ascii_lowercase());
    let mut found = Vec::new();
    match ending.as_ref().and_then(|e| e.to_str()) {
        Some("toml") => {
            let table: serde_json::Value = toml::from_str(&text).map_err(|e| wrong(&e))?;
            collect("", &table, &mut found).map_err(|e| wrong(&e))?;
        }
        Some("json") => {
            let table = serde_json::from_str(&text).map_err(|e| wrong(&e))?;
            collect("", &table, &mut found).map_err(|e| wrong(&e))?;
        }
        Some("csv") => {
            for (k, line) in text.lines().enumerate() {
                let line = line.trim();
                let is_head = k == 0 && line.replace([' ', '"'], "").starts_with("name,");
                if line.is_empty() || line.starts_with('#') || is_head {
                    continue;
                }
                let (name, value) = name_and_value(line)
                    .ok_or_else(|| wrong(&format!("line {}: expected name,value", k + 1)))?;
                found.push((name, Written::Text(value)));
            }
        }
        _ => return Err(wrong(&"a file of settings ends with .toml, .json or .csv")),
    }
    Ok(found)
}

/// `name,value`, the name in quotes if it holds a comma.
fn name_and_value(line: &str) -> Option<(String, String)> {
    let (name, rest) = match line.strip_prefix('"') {
        Some(inside) => {
            let (name, rest) = inside.split_once('"')?;
            (name, rest.trim_start().strip_prefix(',')?)
        }
        None => line.split_once(',')?,
    };
    let value = rest.trim();
    let is_quoted = value.len() > 1 && value.starts_with('"') && value.ends_with('"');
    let value = match is_quoted {
        true => &value[1..value.len() - 1],
        false => value,
    };
    Some((name.trim().to_owned(), value.to_owned()))
}

/// Values of nested tables, with the names of the tables before theirs.
fn collect(
    path: &str,
    value: &serde_json::Value,
    found: &mut Vec<(String, Written)>,
) -> Result<(), String> {
    if let serde_json::Value::Object(table) = value {
        for (name, inner) in table {
            let path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            collect(&path, inner, found)?;
        }
        return Ok(());
    }
    if path.is_empty() {
        return Err("expected a table of names and values".to_owned());
    }
    let written = match value {
        serde_json::Value::String(text) => Written::Text(text.clone()),
        other => Written::Value(plain(other).ok_or_else(|| format!("`{path}` has no value"))?),
    };
    found.push((path.to_owned(), written));
    Ok(())
}

fn plain(value: &serde_json::Value) -> Option<Value> {
    Some(match value {
        serde_json::Value::Bool(b) => Value::Boolean(*b),
        serde_json::Value::Number(n) => match n.as_i64() {
            Some(i) => Value::Integer(i),
            None => Value::Real(n.as_f64()?),
        },
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(elements) => {
            Value::Array(elements.iter().map(plain).collect::<Option<_>>()?)
        }
        serde_json::Value::Null | serde_json::Value::Object(_) => return None,
    })
}

/// The settings of `[scenario.NAME]`.
fn scenario(name: &str) -> Result<Vec<(String, Written)>, Failure> {
    let text = files::read_text(&PathBuf::from(SCENARIOS))?;
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::command_line(format!("--scenario {name}: `{SCENARIOS}`: {why}"))
    };
    let all: serde_json::Value = toml::from_str(&text).map_err(|e| wrong(&e))?;
    let tables = all.get("scenario").and_then(|tables| tables.as_object());
    let known = || {
        let names = tables.into_iter().flat_map(|tables| tables.keys().cloned());
        names.collect::<Vec<_>>().join(", ")
    };
    let Some(table) = tables.and_then(|tables| tables.get(name)) else {
        return Err(wrong(&match known() {
            names if names.is_empty() => "it has no table `[scenario.…]`".to_owned(),
            names => format!("there is no such scenario; known are {names}"),
        }));
    };
    let mut found = Vec::new();
    collect("", table, &mut found).map_err(|e| wrong(&e))?;
    Ok(found)
}

/// Columns of a file that are inputs of the model.
fn inputs_of_file(
    model: &Model,
    path: &Path,
    given: &GivenArgs,
) -> Result<Vec<(String, Input)>, Failure> {
    let mut file = files::open_result(path)?;
    let columns: Vec<String> = (file.outline().variables())
        .map(|(name, _)| name.to_owned())
        .collect();
    let inputs = model.inputs();
    let (wanted, others): (Vec<String>, Vec<String>) =
        (columns.into_iter()).partition(|column| inputs.iter().any(|input| input.name == *column));
    if wanted.is_empty() {
        let list = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
        return Err(Failure::command_line(format!(
            "--input `{}`: no column has the name of an input; the inputs of the model: {}; the columns: {}",
            path.display(),
            list(&mut inputs.iter().map(|i| i.name.as_str())),
            list(&mut others.iter().map(String::as_str)),
        )));
    }
    let unknown: Vec<&str> = (others.iter())
        .filter(|name| model.find_variable(name).is_err())
        .map(String::as_str)
        .collect();
    if !unknown.is_empty() {
        message(&format!(
            "note: --input `{}`: the model has no variable {}",
            path.display(),
            unknown.join(", ")
        ));
    }
    let table = (file.read(&wanted)).map_err(|e| files::unreadable(path, &e))?;
    let course = |name: &String| {
        let values = table
            .signal(name)
            .map_or(Vec::new(), |signal| signal.to_vec());
        let points = table.time().iter().copied().zip(values);
        let input = Input::table(points).map_err(|e| {
            Failure::command_line(format!("--input `{}`: `{name}`: {e}", path.display()))
        })?;
        Ok((name.clone(), input.interpolated(given.interpolation)))
    };
    wanted.iter().map(course).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_hold_a_name_and_a_value() {
        let both = |line: &str| name_and_value(line).map(|(n, v)| format!("{n}|{v}"));
        assert_eq!(both("motor.J, 2"), Some("motor.J|2".into()));
        assert_eq!(both("\"a[1,2]\",\"{1, 2}\""), Some("a[1,2]|{1, 2}".into()));
        assert_eq!(both("motor.J"), None);
    }

    #[test]
    fn tables_in_tables_are_paths() {
        let table = serde_json::json!({"motor": {"J": 2.5, "n": [1, 2]}, "mode": "Linear"});
        let mut found = Vec::new();
        collect("", &table, &mut found).unwrap();
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["mode", "motor.J", "motor.n"]);
    }
}
