//! The report: data, table, and who moved since an earlier one.

use std::fmt::Write;

use saltus_results::{Statistics, Verdict};
use serde::{Deserialize, Serialize};

/// What a model can reach, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    Parse,
    Flatten,
    Balanced,
    Structure,
    Initialise,
    Simulate,
    Match,
}

impl Stage {
    const ALL: [Stage; 7] = [
        Stage::Parse,
        Stage::Flatten,
        Stage::Balanced,
        Stage::Structure,
        Stage::Initialise,
        Stage::Simulate,
        Stage::Match,
    ];

    fn word(self) -> &'static str {
        match self {
            Stage::Parse => "parse",
            Stage::Flatten => "flatten",
            Stage::Balanced => "balanced",
            Stage::Structure => "structure",
            Stage::Initialise => "initialise",
            Stage::Simulate => "simulate",
            Stage::Match => "match",
        }
    }

    pub(crate) fn from_word(word: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.word() == word)
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) saltus: String,
    /// Reference models that could be used, whether chosen or not.
    pub(crate) usable: usize,
    pub(crate) timeout_seconds: f64,
    pub(crate) models: Vec<ModelReport>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct ModelReport {
    pub(crate) name: String,
    /// Last stage that was finished; `None` if not even the first was.
    pub(crate) reached: Option<Stage>,
    pub(crate) seconds: f64,
    pub(crate) exit: Option<i32>,
    pub(crate) error: Option<ErrorReport>,
    pub(crate) comparison: Option<MatchReport>,
    pub(crate) statistics: Option<Statistics>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ErrorReport {
    pub(crate) code: String,
    pub(crate) message: String,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct MatchReport {
    pub(crate) verdict: Verdict,
    pub(crate) signals: usize,
    pub(crate) missing: usize,
    pub(crate) worst: Option<String>,
    /// Of the worst signal.
    pub(crate) share_outside: f64,
    /// Largest share outside a tube without time band.
    pub(crate) share_outside_strict: f64,
    pub(crate) first_outside: Option<f64>,
}

impl ModelReport {
    pub(crate) fn new(name: &str) -> ModelReport {
        ModelReport {
            name: name.to_owned(),
            reached: None,
            seconds: 0.0,
            exit: None,
            error: None,
            comparison: None,
            statistics: None,
        }
    }

    pub(crate) fn with_error(mut self, code: &str, message: String) -> ModelReport {
        self.error = Some(ErrorReport {
            code: code.to_owned(),
            message,
        });
        self
    }

    /// Ran to the end and gave a result that is wrong for more than a tenth of the time.
    fn is_far_off(&self) -> bool {
        self.comparison
            .as_ref()
            .is_some_and(|c| c.verdict == Verdict::FarOff)
    }

    fn reached_word(&self) -> &'static str {
        self.reached.map_or("-", Stage::word)
    }

    /// Name, stage, seconds, what stopped it or where it differs.
    pub(crate) fn line(&self) -> String {
        let mut line = format!(
            "{:10} {:7.2} s  {}",
            self.reached_word(),
            self.seconds,
            self.name
        );
        if let Some(error) = &self.error {
            let code = if error.code.is_empty() {
                String::new()
            } else {
                format!("[{}] ", error.code)
            };
            let _ = write!(line, "  {code}{}", shortened(&error.message));
        }
        if let Some(c) = &self.comparison {
            if c.verdict != Verdict::Match {
                let worst = c.worst.as_deref().unwrap_or("no signals");
                let _ = write!(line, "  {worst}: outside {:.2} %", 100.0 * c.share_outside);
                if let Some(t) = c.first_outside {
                    let _ = write!(line, " from {t:.6}");
                }
            }
            if c.missing > 0 {
                let _ = write!(line, ", {} signals missing", c.missing);
            }
            if self.is_far_off() {
                line.push_str("  FAR OFF");
            }
        }
        line
    }
}

fn shortened(message: &str) -> String {
    const CHARS_MAX: usize = 140;
    if message.chars().count() <= CHARS_MAX {
        return message.to_owned();
    }
    let mut text: String = message.chars().take(CHARS_MAX).collect();
    text.push('…');
    text
}

impl Report {
    fn count(&self, stage: Stage) -> usize {
        self.models
            .iter()
            .filter(|m| m.reached.is_some_and(|reached| reached >= stage))
            .count()
    }

    /// A line per model, the errors by code, and the totals.
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        for model in &self.models {
            let _ = writeln!(out, "{}", model.line());
        }
        let _ = writeln!(out, "\nfirst errors by code:");
        for (code, count) in self.codes() {
            let _ = writeln!(out, "{count:5}  {code}");
        }
        let n = self.models.len();
        let _ = writeln!(out, "\n{}, {n} models:", self.saltus);
        for stage in Stage::ALL {
            let k = self.count(stage);
            let percent = if n > 0 {
                100.0 * k as f64 / n as f64
            } else {
                0.0
            };
            let _ = writeln!(out, "{:10} {k:5}  {percent:5.1} %", stage.word());
        }
        let far_off = self.models.iter().filter(|m| m.is_far_off()).count();
        let seconds: f64 = self.models.iter().map(|m| m.seconds).sum();
        let _ = write!(out, "far off    {far_off:5}\n{seconds:.0} s in all");
        out
    }

    /// How many models ended with each code, most frequent first.
    fn codes(&self) -> Vec<(&str, usize)> {
        let mut codes: Vec<(&str, usize)> = Vec::new();
        for error in self.models.iter().filter_map(|m| m.error.as_ref()) {
            let code = if error.code.is_empty() {
                "(no code)"
            } else {
                &error.code
            };
            match codes.iter_mut().find(|(known, _)| *known == code) {
                Some((_, count)) => *count += 1,
                None => codes.push((code, 1)),
            }
        }
        codes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        codes
    }

    /// Models of both reports whose stage, or far-off mark, changed.
    pub(crate) fn moves_since(&self, old: &Report) -> String {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        let mut common = 0;
        for new in &self.models {
            let Some(before) = old.models.iter().find(|m| m.name == new.name) else {
                continue;
            };
            common += 1;
            let line = format!(
                "{} -> {}  {}",
                before.reached_word(),
                new.reached_word(),
                new.name
            );
            if new.reached > before.reached {
                up.push(line);
            } else if new.reached < before.reached {
                down.push(line);
            } else if new.is_far_off() != before.is_far_off() {
                let list = if new.is_far_off() { &mut down } else { &mut up };
                list.push(format!("far off: {}  {}", new.is_far_off(), new.name));
            }
        }
        let mut out = format!(
            "\nsince {} ({common} models in both): {} up, {} down",
            old.saltus,
            up.len(),
            down.len()
        );
        for (title, list) in [("down", &down), ("up", &up)] {
            if !list.is_empty() {
                let _ = write!(out, "\n{title}:\n  {}", list.join("\n  "));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(stages: &[(&str, Option<Stage>)]) -> Report {
        Report {
            saltus: "saltus 0".into(),
            usable: stages.len(),
            timeout_seconds: 1.0,
            models: stages
                .iter()
                .map(|(name, reached)| ModelReport {
                    reached: *reached,
                    ..ModelReport::new(name)
                })
                .collect(),
        }
    }

    #[test]
    fn totals_count_every_stage_below_the_one_reached() {
        let report = report(&[
            ("A", Some(Stage::Match)),
            ("B", Some(Stage::Flatten)),
            ("C", None),
        ]);
        assert_eq!(report.count(Stage::Parse), 2);
        assert_eq!(report.count(Stage::Balanced), 1);
        assert!(report.table().contains("match          1   33.3 %"));
    }

    #[test]
    fn moves_name_who_went_up_and_down() {
        let old = report(&[("A", Some(Stage::Match)), ("B", Some(Stage::Flatten))]);
        let new = report(&[
            ("A", Some(Stage::Simulate)),
            ("B", Some(Stage::Match)),
            ("C", None),
        ]);
        let text = new.moves_since(&old);
        assert!(text.contains("(2 models in both): 1 up, 1 down"));
        assert!(text.contains("match -> simulate  A"));
        assert!(text.contains("flatten -> match  B"));
    }

    #[test]
    fn a_report_survives_json() {
        let report = report(&[("A", Some(Stage::Initialise))]);
        let json = serde_json::to_string(&report).unwrap();
        assert!(json.contains("\"initialise\""));
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}
