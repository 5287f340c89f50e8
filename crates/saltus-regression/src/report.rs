//! The report: data, table, and who moved since an earlier one. The fields of its JSON form are a promise to users.

use std::fmt::Write;

use saltus_results::{Statistics, Verdict};
use serde::{Deserialize, Serialize};

/// What a model can reach, in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reached {
    Parse,
    Flatten,
    Balanced,
    Structure,
    Initialise,
    Simulate,
    Match,
}

impl Reached {
    pub const ALL: [Reached; 7] = [
        Reached::Parse,
        Reached::Flatten,
        Reached::Balanced,
        Reached::Structure,
        Reached::Initialise,
        Reached::Simulate,
        Reached::Match,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Reached::Parse => "parse",
            Reached::Flatten => "flatten",
            Reached::Balanced => "balanced",
            Reached::Structure => "structure",
            Reached::Initialise => "initialise",
            Reached::Simulate => "simulate",
            Reached::Match => "match",
        }
    }

    pub fn from_word(word: &str) -> Option<Reached> {
        Reached::ALL.into_iter().find(|stage| stage.word() == word)
    }
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    pub saltus: String,
    /// Reference models that could be used, whether chosen or not.
    pub usable: usize,
    pub timeout_seconds: f64,
    pub models: Vec<ModelReport>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ModelReport {
    pub name: String,
    /// Last stage that was finished; `None` if not even the first was.
    pub reached: Option<Reached>,
    pub seconds: f64,
    /// There is a reference to compare with.
    #[serde(default = "yes")]
    pub has_reference: bool,
    /// There is a reference file, but it names no signal that it also holds: the model passes if it runs to the end.
    #[serde(default)]
    pub nothing_to_compare: bool,
    pub exit: Option<i32>,
    pub error: Option<ErrorReport>,
    pub comparison: Option<MatchReport>,
    pub statistics: Option<Statistics>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ErrorReport {
    pub code: String,
    pub message: String,
    /// File and line.
    #[serde(default)]
    pub place: Option<String>,
    /// What to try.
    #[serde(default)]
    pub help: Option<String>,
}

/// Reports from before there were models without reference.
fn yes() -> bool {
    true
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct MatchReport {
    pub verdict: Verdict,
    pub signals: usize,
    pub missing: usize,
    /// Signals that only one of result and reference has; the first of them.
    #[serde(default)]
    pub missing_names: Vec<String>,
    pub worst: Option<String>,
    /// Of the worst signal.
    pub share_outside: f64,
    /// Largest share outside a tube without time band.
    pub share_outside_strict: f64,
    pub first_outside: Option<f64>,
    /// The run itself said of every signal that is far off that its variation is not resolved.
    #[serde(default)]
    pub warned: bool,
}

impl ModelReport {
    pub fn new(name: &str) -> ModelReport {
        ModelReport {
            name: name.to_owned(),
            reached: None,
            seconds: 0.0,
            has_reference: true,
            nothing_to_compare: false,
            exit: None,
            error: None,
            comparison: None,
            statistics: None,
        }
    }

    pub fn with_error(mut self, code: &str, message: String) -> ModelReport {
        self.error = Some(ErrorReport {
            code: code.to_owned(),
            message,
            place: None,
            help: None,
        });
        self
    }

    /// Ran to the end, and gave the result of the reference if there is one.
    pub fn passed(&self) -> bool {
        let wanted = if self.has_reference {
            Reached::Match
        } else {
            Reached::Simulate
        };
        self.reached >= Some(wanted)
    }

    /// Why it does not pass, in a line.
    pub fn reason(&self) -> String {
        if let Some(error) = &self.error {
            return if error.code.is_empty() {
                error.message.clone()
            } else {
                format!("[{}] {}", error.code, error.message)
            };
        }
        match &self.comparison {
            Some(c) if c.verdict != Verdict::Match => {
                let mut parts = Vec::new();
                // A signal that is missing is the worst, and leaves no tube.
                let worst = c
                    .worst
                    .as_deref()
                    .filter(|w| !c.missing_names.iter().any(|m| m == w));
                if let Some(worst) = worst {
                    let mut text = format!(
                        "`{worst}` outside the tube for {:.2} % of the time",
                        100.0 * c.share_outside
                    );
                    if let Some(t) = c.first_outside {
                        let _ = write!(text, ", first at {t:.6} s");
                    }
                    parts.push(text);
                }
                if c.missing > 0 {
                    let names: Vec<String> = (c.missing_names.iter())
                        .map(|name| format!("`{name}`"))
                        .collect();
                    let more = c.missing.saturating_sub(names.len());
                    let mut text = format!("{} signals missing", c.missing);
                    if !names.is_empty() {
                        let _ = write!(text, ": {}", names.join(", "));
                    }
                    if more > 0 && !names.is_empty() {
                        let _ = write!(text, " and {more} more");
                    }
                    parts.push(text);
                }
                parts.join("; ")
            }
            _ => String::new(),
        }
    }

    /// What to try, if something is known.
    pub fn advice(&self) -> String {
        if let Some(help) = self.error.as_ref().and_then(|e| e.help.clone()) {
            return help;
        }
        match &self.error {
            Some(error) if error.code == "timeout" => {
                "a longer `--timeout`, or `simulate --stats` to see what the time is spent on"
                    .to_owned()
            }
            Some(error) if !error.code.is_empty() => format!("`saltus explain {}`", error.code),
            Some(_) => String::new(),
            None => "a tighter `--tolerance`; then `saltus compare` signal by signal".to_owned(),
        }
    }

    /// Ran to the end and gave a result that is wrong for more than a tenth of the time.
    fn is_far_off(&self) -> bool {
        self.comparison
            .as_ref()
            .is_some_and(|c| c.verdict == Verdict::FarOff)
    }

    /// Far off, and the run said that it may be.
    fn is_far_off_warned(&self) -> bool {
        self.is_far_off() && self.comparison.as_ref().is_some_and(|c| c.warned)
    }

    fn reached_word(&self) -> &'static str {
        self.reached.map_or("-", Reached::word)
    }

    /// Name, stage, seconds, what stopped it or where it differs.
    pub fn line(&self) -> String {
        let mut line = format!(
            "{:10} {:7.2} s  {}",
            self.reached_word(),
            self.seconds,
            self.name
        );
        if self.error.is_some() {
            let _ = write!(line, "  {}", shortened(&self.reason()));
        }
        if self.nothing_to_compare && self.error.is_none() {
            let _ = write!(line, "  {NO_SIGNALS}");
        }
        if let Some(c) = &self.comparison {
            if c.verdict != Verdict::Match {
                if let Some(worst) = c.worst.as_deref() {
                    let _ = write!(line, "  {worst}: outside {:.2} %", 100.0 * c.share_outside);
                }
                if let Some(t) = c.first_outside {
                    let _ = write!(line, " from {t:.6}");
                }
            }
            if c.missing > 0 {
                let _ = write!(line, ", {} signals missing", c.missing);
            }
            if self.is_far_off_warned() {
                line.push_str("  far off, warned");
            } else if self.is_far_off() {
                line.push_str("  FAR OFF");
            }
        }
        line
    }
}

/// What is said of a model whose reference is one in name only.
pub(super) const NO_SIGNALS: &str = "no signals to compare";

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
    pub fn count(&self, stage: Reached) -> usize {
        self.models
            .iter()
            .filter(|m| m.reached.is_some_and(|reached| reached >= stage))
            .count()
    }

    /// Models that ran to the end with a result that is wrong for more than a tenth of the time, and did not say so.
    pub fn n_far_off(&self) -> usize {
        let is_silent = |m: &&ModelReport| m.is_far_off() && !m.is_far_off_warned();
        self.models.iter().filter(is_silent).count()
    }

    /// Those that said so.
    pub fn n_warned(&self) -> usize {
        (self.models.iter().filter(|m| m.is_far_off_warned())).count()
    }

    /// A line per model, the errors by code, and the totals.
    pub fn table(&self) -> String {
        let mut out = String::new();
        for model in &self.models {
            let _ = writeln!(out, "{}", model.line());
        }
        out + &self.summary()
    }

    /// The errors by code, and the totals.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "\nfirst errors by code:");
        for (code, count) in self.codes() {
            let _ = writeln!(out, "{count:5}  {code}");
        }
        let n = self.models.len();
        let _ = writeln!(out, "\n{}, {n} models:", self.saltus);
        for stage in Reached::ALL {
            // What has no reference cannot match one.
            let possible = match stage {
                Reached::Match => self.models.iter().filter(|m| m.has_reference).count(),
                _ => n,
            };
            if possible == 0 {
                continue;
            }
            let k = self.count(stage);
            let percent = 100.0 * k as f64 / possible as f64;
            let _ = write!(out, "{:10} {k:5}  {percent:5.1} %", stage.word());
            if possible < n {
                let _ = write!(out, " of {possible} with a reference");
            }
            out.push('\n');
        }
        let far_off = self.n_far_off();
        let warned = self.n_warned();
        let seconds: f64 = self.models.iter().map(|m| m.seconds).sum();
        let _ = write!(
            out,
            "far off    {far_off:5}\n… warned   {warned:5}\n{seconds:.0} s in all",
        );
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

    /// Models that came less far, or whose result is far off now, than in an earlier report.
    pub fn n_down_since(&self, old: &Report) -> usize {
        self.moves(old).1.len()
    }

    /// Who went up, who went down, and how many are in both.
    fn moves(&self, old: &Report) -> (Vec<String>, Vec<String>, usize) {
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
        (up, down, common)
    }

    /// Models of both reports whose stage, or far-off mark, changed.
    pub fn moves_since(&self, old: &Report) -> String {
        let (up, down, common) = self.moves(old);
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

    fn report(stages: &[(&str, Option<Reached>)]) -> Report {
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
            ("A", Some(Reached::Match)),
            ("B", Some(Reached::Flatten)),
            ("C", None),
        ]);
        assert_eq!(report.count(Reached::Parse), 2);
        assert_eq!(report.count(Reached::Balanced), 1);
        assert!(report.table().contains("match          1   33.3 %"));
    }

    #[test]
    fn moves_name_who_went_up_and_down() {
        let old = report(&[("A", Some(Reached::Match)), ("B", Some(Reached::Flatten))]);
        let new = report(&[
            ("A", Some(Reached::Simulate)),
            ("B", Some(Reached::Match)),
            ("C", None),
        ]);
        let text = new.moves_since(&old);
        assert!(text.contains("(2 models in both): 1 up, 1 down"));
        assert!(text.contains("match -> simulate  A"));
        assert!(text.contains("flatten -> match  B"));
    }

    #[test]
    fn a_reference_without_signals_is_none() {
        let mut report = report(&[
            ("P.Ran", Some(Reached::Simulate)),
            ("P.Stopped", Some(Reached::Initialise)),
            ("P.Lacks", Some(Reached::Simulate)),
        ]);
        for model in &mut report.models[..2] {
            model.has_reference = false;
            model.nothing_to_compare = true;
        }
        report.models[1].error = Some(ErrorReport {
            code: "newton-failed".into(),
            message: "no".into(),
            place: None,
            help: None,
        });
        report.models[2].comparison = Some(MatchReport {
            verdict: Verdict::Different,
            signals: 3,
            missing: 2,
            missing_names: vec!["a.b".into(), "c".into()],
            worst: Some("a.b".into()),
            share_outside: 1.0,
            share_outside_strict: 1.0,
            first_outside: None,
            warned: false,
        });
        let passed: Vec<bool> = report.models.iter().map(ModelReport::passed).collect();
        assert_eq!(passed, [true, false, false]);
        assert_eq!(report.models[2].reason(), "2 signals missing: `a.b`, `c`");
        assert!(
            report.models[0]
                .line()
                .ends_with("P.Ran  no signals to compare")
        );
        assert!(
            report.models[1]
                .line()
                .ends_with("P.Stopped  [newton-failed] no")
        );
        let page = crate::status::status(&report, "P");
        assert!(page.contains("1 of 3 pass."), "{page}");
        assert!(page.contains("no signals to compare: `P.Ran`"), "{page}");
        assert!(
            page.contains("1 models that run, with a result that leaves the tube"),
            "{page}"
        );
        assert!(
            page.contains("| `P.Lacks` | 2 signals missing: `a.b`, `c` |"),
            "{page}"
        );
        let xml = crate::junit::junit(&report, "P");
        assert!(xml.contains("failures=\"2\""), "{xml}");
        assert!(
            xml.contains("<system-out>no signals to compare</system-out>"),
            "{xml}"
        );
        let html = crate::html::html(&report, &[], "P", None);
        assert!(html.contains("<p>no signals to compare</p>"), "{html}");
        let json = serde_json::to_string(&report).unwrap();
        assert!(json.contains("\"nothing_to_compare\":true"), "{json}");
        assert!(
            report
                .summary()
                .contains("match          0    0.0 % of 1 with a reference")
        );
    }

    #[test]
    fn a_report_survives_json() {
        let report = report(&[("A", Some(Reached::Initialise))]);
        let json = serde_json::to_string(&report).unwrap();
        assert!(json.contains("\"initialise\""));
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
    }
}
