//! The report as JUnit XML, which build servers show.

use std::fmt::Write;

use crate::html::escaped;
use crate::report::{NO_SIGNALS, Reached, Report};

pub(super) fn junit(report: &Report, title: &str) -> String {
    let n_failed = report.models.iter().filter(|m| !m.passed()).count();
    let seconds: f64 = report.models.iter().map(|m| m.seconds).sum();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{n_failed}\" time=\"{seconds:.3}\">",
        escaped(title),
        report.models.len()
    );
    for model in &report.models {
        let (package, name) = model.name.rsplit_once('.').unwrap_or(("", &model.name));
        let _ = write!(
            out,
            "  <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escaped(package),
            escaped(name),
            model.seconds
        );
        if model.passed() && model.nothing_to_compare {
            let _ = writeln!(
                out,
                ">\n    <system-out>{NO_SIGNALS}</system-out>\n  </testcase>"
            );
        } else if model.passed() {
            out.push_str("/>\n");
        } else {
            let _ = writeln!(
                out,
                ">\n    <failure type=\"{}\" message=\"{}\"/>\n  </testcase>",
                escaped(model.error.as_ref().map_or("comparison", |e| &e.code)),
                escaped(&format!(
                    "reached {}: {}",
                    model.reached.map_or("nothing", Reached::word),
                    model.reason()
                ))
            );
        }
    }
    out.push_str("</testsuite>\n");
    out
}
