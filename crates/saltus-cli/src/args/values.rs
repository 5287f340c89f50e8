//! Values of options that are more than a word or a number.

use std::path::PathBuf;
use std::str::FromStr;

/// `path=value` of `--set`. The value is interpreted when the type of the variable is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    pub(crate) path: String,
    pub(crate) value: String,
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        match text.split_once('=') {
            Some((path, value)) if !path.trim().is_empty() && !value.trim().is_empty() => {
                Ok(Setting {
                    path: path.trim().to_owned(),
                    value: value.trim().to_owned(),
                })
            }
            _ => Err("expected path=value".into()),
        }
    }
}

/// What `--input` names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum InputRequest {
    File(PathBuf),
    Expression(Setting),
}

/// Endings of files with inputs.
const INPUT_ENDINGS: [&str; 3] = [".csv", ".mat", ".parquet"];

impl FromStr for InputRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<InputRequest, String> {
        let lower = text.to_ascii_lowercase();
        if INPUT_ENDINGS.iter().any(|ending| lower.ends_with(ending)) {
            return Ok(InputRequest::File(text.into()));
        }
        text.parse().map(InputRequest::Expression).map_err(|_| {
            "expected name=expression, or a file that ends with .csv, .mat or .parquet".to_owned()
        })
    }
}

pub(crate) fn interpolation(text: &str) -> Result<saltus::Interpolation, String> {
    let known = saltus::Interpolation::ALL;
    let found = known.iter().find(|(name, _)| *name == text);
    found
        .map(|(_, how)| *how)
        .ok_or_else(|| format!("known are {}", known.map(|(name, _)| name).join(", ")))
}

/// `RESULT[@TIME]` of `--start-from`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StartFrom {
    pub(crate) file: PathBuf,
    /// `None`: the end of the result.
    pub(crate) time: Option<f64>,
}

impl FromStr for StartFrom {
    type Err = String;

    fn from_str(text: &str) -> Result<StartFrom, String> {
        // A name may hold the sign itself; a time it is only if it is a number.
        let split = text.rsplit_once('@').and_then(|(file, time)| {
            let time = finite(time).ok()?;
            (!file.is_empty()).then(|| (file.to_owned(), time))
        });
        Ok(match split {
            Some((file, time)) => StartFrom {
                file: file.into(),
                time: Some(time),
            },
            None => StartFrom {
                file: text.into(),
                time: None,
            },
        })
    }
}

/// `VAR,VAR=FILE.svg` of `--plot`, or `VAR,VAR` for a plot in the terminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PlotRequest {
    pub(crate) variables: Vec<String>,
    pub(crate) file: Option<PathBuf>,
}

impl FromStr for PlotRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<PlotRequest, String> {
        let (names, file) = match text.rsplit_once('=') {
            Some((names, file)) => (names, Some(file)),
            None => (text, None),
        };
        let endings = [".svg", ".pdf", ".png"];
        let is_picture = |file: &str| {
            let lower = file.to_ascii_lowercase();
            endings.iter().any(|ending| lower.ends_with(ending))
        };
        if let Some(file) = file.filter(|file| !is_picture(file)) {
            return Err(format!(
                "pictures are SVG, PDF or PNG: `{file}` should end with .svg, .pdf or .png"
            ));
        }
        let variables = split_names(names);
        if variables.iter().any(String::is_empty) {
            return Err("expected VAR,VAR=FILE.svg, or VAR,VAR for the terminal".into());
        }
        Ok(PlotRequest {
            variables,
            file: file.map(PathBuf::from),
        })
    }
}

/// Splits at commas that are not inside brackets or parentheses: `a[1,2],b` is two names.
fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(name) = names.last_mut() {
            name.push(c);
        }
    }
    names.iter().map(|name| name.trim().to_owned()).collect()
}

pub(crate) fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err("expected a number".into()),
    }
}

pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match finite(text) {
        Ok(value) if value > 0.0 => Ok(value),
        _ => Err("expected a number above 0".into()),
    }
}

pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    match finite(text) {
        Ok(value) if value >= 0.0 => Ok(value),
        _ => Err("expected a number, 0 or above".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plot_requests_split_names_outside_brackets() {
        let request: PlotRequest = "a[1,2],der(x),b=out/x.svg".parse().unwrap();
        assert_eq!(request.variables, ["a[1,2]", "der(x)", "b"]);
        assert_eq!(request.file, Some(PathBuf::from("out/x.svg")));
        assert_eq!("x".parse::<PlotRequest>().map(|r| r.file), Ok(None));
        assert!("x=y.jpg".parse::<PlotRequest>().is_err());
        assert!("x,=y.svg".parse::<PlotRequest>().is_err());
    }

    #[test]
    fn settings_need_a_path_and_a_value() {
        let setting: Setting = "body.m = 2.5".parse().unwrap();
        assert_eq!(
            (setting.path.as_str(), setting.value.as_str()),
            ("body.m", "2.5")
        );
        assert!("m".parse::<Setting>().is_err());
        assert!("=1".parse::<Setting>().is_err());
        assert!("m=".parse::<Setting>().is_err());
    }
}
