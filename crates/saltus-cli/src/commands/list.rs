use saltus::{Causality, Model, Value, ValueType, Variable, VariableKind};
use saltus_results::Selection;
use serde::Serialize;

use crate::args::{Format, ListArgs};
use crate::engine;
use crate::exit::{Exit, Failure, Outcome, message, print};
use crate::given::{self, Prepared};

/// `saltus parameters`
pub(crate) fn parameters(args: &ListArgs) -> Outcome {
    list(args, |v| v.kind == VariableKind::Parameter)
}

/// `saltus variables`
pub(crate) fn variables(args: &ListArgs) -> Outcome {
    list(args, |v| {
        matches!(v.kind, VariableKind::Discrete | VariableKind::Continuous)
    })
}

fn list(args: &ListArgs, wanted: impl Fn(&Variable) -> bool) -> Outcome {
    let (mut session, class) = engine::open(&args.target)?;
    engine::permit(&mut session, &args.access)?;
    let given = &args.set;
    let Prepared { model, .. } = given::prepare(
        &mut session,
        &args.target,
        &class,
        &given.given,
        &given.settings,
    )?;
    if !model.warnings().list.is_empty() {
        message(model.warnings().to_string().trim_end());
    }
    let rows = rows(&model, args, wanted)?;
    print(&match args.format {
        Format::Text => table(&rows),
        Format::Json => {
            let json = serde_json::to_string_pretty(&rows).expect("plain data has a JSON form");
            format!("{json}\n")
        }
    })?;
    Ok(Exit::Done)
}

/// A line of the list. The names of the fields are a promise to users.
#[derive(Serialize)]
struct Row {
    name: String,
    /// `null`: only a run can tell.
    value: Option<serde_json::Value>,
    unit: String,
    display_unit: String,
    min: Option<f64>,
    max: Option<f64>,
    #[serde(rename = "type")]
    ty: &'static str,
    kind: &'static str,
    causality: &'static str,
    settable: bool,
    /// Why another value needs another compilation, which is then made.
    structural: Option<&'static str>,
    literals: Vec<String>,
    description: String,
}

impl Row {
    fn new(v: Variable) -> Row {
        Row {
            value: v.value.as_ref().map(json),
            unit: v.unit,
            display_unit: v.display_unit,
            min: Some(v.min).filter(|x| x.is_finite()),
            max: Some(v.max).filter(|x| x.is_finite()),
            ty: match v.ty {
                ValueType::Real => "Real",
                ValueType::Integer => "Integer",
                ValueType::Boolean => "Boolean",
                ValueType::String => "String",
                ValueType::Enumeration => "enumeration",
            },
            kind: match v.kind {
                VariableKind::Constant => "constant",
                VariableKind::Parameter => "parameter",
                VariableKind::Discrete => "discrete",
                VariableKind::Continuous => "continuous",
            },
            causality: match v.causality {
                Causality::Input => "input",
                Causality::Output => "output",
                Causality::Local => "local",
            },
            settable: v.settable,
            structural: v.structural,
            literals: v.literals,
            description: v.description,
            name: v.name,
        }
    }

    /// `0 … 10`, an end without limit left out.
    fn range(&self) -> String {
        match (self.min, self.max) {
            (None, None) if self.literals.is_empty() => String::new(),
            (None, None) => self.literals.join("|"),
            (Some(min), None) => format!("≥ {min}"),
            (None, Some(max)) => format!("≤ {max}"),
            (Some(min), Some(max)) => format!("{min} … {max}"),
        }
    }

    fn set(&self) -> &'static str {
        match (self.settable, self.structural) {
            (false, _) => "no",
            (true, None) => "yes",
            (true, Some(_)) => "compiles",
        }
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Real(x) => (*x).into(),
        Value::Integer(i) => (*i).into(),
        Value::Boolean(b) => (*b).into(),
        Value::String(text) => text.as_str().into(),
        Value::Array(elements) => elements.iter().map(json).collect(),
    }
}

fn rows(
    model: &Model,
    args: &ListArgs,
    wanted: impl Fn(&Variable) -> bool,
) -> Result<Vec<Row>, Failure> {
    let selection = Selection::from_patterns(&args.filters);
    let is_chosen = |v: &Variable| {
        let internal = v.name.starts_with('$');
        let hidden = v.hidden && !args.all;
        !internal && wanted(v) && selection.selects(&v.name, hidden)
    };
    let rows: Vec<Row> = model
        .variables()
        .into_iter()
        .filter(is_chosen)
        .map(Row::new)
        .collect();
    if rows.is_empty() && !args.filters.is_empty() {
        model
            .check_patterns(&args.filters)
            .map_err(|e| Failure::command_line(format!("--filter: {e}")))?;
    }
    Ok(rows)
}

/// Longer values and descriptions are cut: the JSON form has all of them.
const CELL_MAX: usize = 40;

/// Columns of text. Those that are empty in all rows are left out.
fn table(rows: &[Row]) -> String {
    let head = [
        "name",
        "value",
        "unit",
        "range",
        "type",
        "set",
        "description",
    ];
    let cut = |text: String| match text.char_indices().nth(CELL_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    };
    let cells: Vec<[String; 7]> = (rows.iter())
        .map(|row| {
            [
                row.name.clone(),
                cut(row.value.as_ref().map_or_else(String::new, |v| match v {
                    serde_json::Value::String(text) if row.ty == "enumeration" => text.clone(),
                    other => other.to_string(),
                })),
                row.unit.clone(),
                cut(row.range()),
                row.ty.to_owned(),
                row.set().to_owned(),
                row.description.clone(),
            ]
        })
        .collect();
    let width = |k: usize| {
        let widths = cells.iter().map(|row| row[k].chars().count());
        widths
            .max()
            .filter(|w| *w > 0)
            .map(|w| w.max(head[k].len()))
    };
    let widths: Vec<Option<usize>> = (0..head.len()).map(width).collect();
    let line = |texts: &[String]| {
        let mut out = String::new();
        for (text, width) in texts.iter().zip(&widths) {
            if let Some(width) = width {
                out.push_str(text);
                out.extend(std::iter::repeat_n(' ', width - text.chars().count() + 2));
            }
        }
        format!("{}\n", out.trim_end())
    };
    let mut out = line(&head.map(str::to_owned));
    cells.iter().for_each(|row| out.push_str(&line(row)));
    out
}
