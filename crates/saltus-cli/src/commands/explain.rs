use std::fmt::Write;

use crate::args::ExplainArgs;
use crate::exit::{Exit, Failure, Outcome, print};

include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// `saltus explain`
pub(crate) fn explain(args: ExplainArgs) -> Outcome {
    match args.code {
        Some(code) => print(page(&code)?)?,
        None => print(&list())?,
    }
    Ok(Exit::Done)
}

fn page(code: &str) -> Result<&'static str, Failure> {
    // The code may be given as the message shows it: `error[unknown-name]`.
    let bare = code.split_once('[').map_or(code, |(_, rest)| rest);
    let bare = bare.trim_end_matches([']', ':']);
    match PAGES.iter().find(|(name, _)| *name == bare) {
        Some((_, text)) => Ok(text),
        None => {
            let mut what = format!("there is no error code `{bare}`");
            let close: Vec<&str> = PAGES
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| shares_a_word(name, bare))
                .collect();
            if !close.is_empty() {
                let _ = write!(what, "; there is {}", close.join(", "));
            }
            what.push_str("\nhelp: `saltus explain` lists all codes");
            Err(Failure::command_line(what))
        }
    }
}

fn shares_a_word(a: &str, b: &str) -> bool {
    a.split('-')
        .any(|word| word.len() > 3 && b.split('-').any(|other| other == word))
}

/// Each code with the title of its page.
fn list() -> String {
    let width = PAGES.iter().map(|(code, _)| code.len()).max().unwrap_or(0);
    let mut out = String::new();
    for (code, text) in PAGES {
        let title = text
            .lines()
            .next()
            .map_or("", |line| line.trim_start_matches("# "));
        let title = title
            .strip_prefix(code)
            .map_or(title, |t| t.trim_start_matches(": "));
        let _ = writeln!(out, "{code:width$}  {title}");
    }
    out
}
