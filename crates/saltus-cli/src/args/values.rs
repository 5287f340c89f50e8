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

/// `VAR,VAR=FILE.svg` of `--plot`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PlotRequest {
    pub(crate) variables: Vec<String>,
    pub(crate) file: PathBuf,
}

impl FromStr for PlotRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<PlotRequest, String> {
        let (names, file) = text
            .rsplit_once('=')
            .ok_or("expected VAR,VAR=FILE.svg".to_owned())?;
        if !file.to_ascii_lowercase().ends_with(".svg") {
            return Err(format!("pictures are SVG: `{file}` should end with .svg"));
        }
        let variables = split_names(names);
        if variables.iter().any(String::is_empty) {
            return Err("expected VAR,VAR=FILE.svg".into());
        }
        Ok(PlotRequest {
            variables,
            file: file.into(),
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
        assert_eq!(request.file, PathBuf::from("out/x.svg"));
        assert!("x.svg".parse::<PlotRequest>().is_err());
        assert!("x=y.png".parse::<PlotRequest>().is_err());
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
