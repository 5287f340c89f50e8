//! The report as one HTML page that needs no other file: totals, a row per model, pictures of results against references.

use std::fmt::Write;

use crate::report::{NO_SIGNALS, Reached, Report};

/// Text for HTML and XML, in elements and in quoted attributes.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Neither XML nor HTML knows control characters; others change the direction of writing.
            c if c.is_control() => out.push(' '),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}');
            }
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = "body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;color:#1b1b1b;background:#fff}\
table{border-collapse:collapse}td,th{padding:.15em .7em;text-align:left;border-bottom:1px solid #ddd;vertical-align:top}\
td.n{text-align:right;font-variant-numeric:tabular-nums}summary{cursor:pointer;padding:.15em 0}\
.ok::before{content:'\\2713 ';color:#1a7f37}.bad::before{content:'\\2717 ';color:#b3261e}.off::before{content:'\\2260 ';color:#9a6700}\
details>div{margin:.3em 0 1em 1.5em}pre{white-space:pre-wrap}svg{max-width:100%;height:auto}\
@media(prefers-color-scheme:dark){body{background:#16181c;color:#e6e6e6}td,th{border-color:#333}svg{background:#fff}}";

pub(super) fn html(
    report: &Report,
    pictures: &[Vec<String>],
    title: &str,
    baseline: Option<&Report>,
) -> String {
    let n = report.models.len();
    let n_passed = report.models.iter().filter(|m| m.passed()).count();
    let title = escaped(title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}: {n_passed} of {n}</title>\
         <style>{STYLE}</style></head><body>\n<h1>{title}</h1>\n<p>{}: {n_passed} of {n} models pass.</p>\n<table>\n",
        escaped(&report.saltus)
    );
    for stage in Reached::ALL {
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td></tr>",
            stage.word(),
            report.count(stage)
        );
    }
    let _ = writeln!(
        out,
        "<tr><td>far off</td><td class=\"n\">{}</td></tr></table>",
        report.n_far_off()
    );
    if let Some(old) = baseline {
        let _ = writeln!(out, "<pre>{}</pre>", escaped(&report.moves_since(old)));
    }
    for passing in [false, true] {
        let _ = writeln!(
            out,
            "<h2>{}</h2>",
            if passing {
                "Models that pass"
            } else {
                "Models that fail"
            }
        );
        for (i, model) in report.models.iter().enumerate() {
            if model.passed() != passing {
                continue;
            }
            let mark = match (passing, model.reached) {
                (true, _) => "ok",
                (false, Some(Reached::Simulate)) => "off",
                (false, _) => "bad",
            };
            let _ = write!(
                out,
                "<details><summary class=\"{mark}\">{} &mdash; {}, {:.2} s</summary><div>",
                escaped(&model.name),
                model.reached.map_or("nothing", Reached::word),
                model.seconds
            );
            if !passing {
                let place = model.error.as_ref().and_then(|e| e.place.as_deref());
                let _ = write!(
                    out,
                    "<p>{}<br>{}<br>{}</p>",
                    escaped(&model.reason()),
                    escaped(place.unwrap_or("")),
                    escaped(&model.advice())
                );
            }
            if passing && model.nothing_to_compare {
                let _ = write!(out, "<p>{NO_SIGNALS}</p>");
            }
            for picture in pictures.get(i).into_iter().flatten() {
                out.push_str(picture);
            }
            out.push_str("</div></details>\n");
        }
    }
    out.push_str("</body></html>\n");
    out
}
