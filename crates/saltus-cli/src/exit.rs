//! Exit codes, failures and text for people.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::ColorChoice;

/// Messages have colours.
static COLOURED: AtomicBool = AtomicBool::new(false);

/// Decides for the rest of the program.
pub(crate) fn set_colours(choice: ColorChoice) {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let on = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => std::io::stderr().is_terminal() && !is_set("NO_COLOR"),
    };
    COLOURED.store(on, Ordering::Relaxed);
}

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const GREEN: &str = "\x1b[1;32m";
const CYAN: &str = "\x1b[1;36m";
const PLAIN: &str = "\x1b[0m";

/// The first word of a message in its colour, and marks and line numbers of the source.
fn coloured(text: &str) -> String {
    let heads = [
        ("error", RED),
        ("warning", YELLOW),
        ("note", CYAN),
        ("help", GREEN),
    ];
    let mut marks = BLUE;
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let head = heads.iter().find(|(word, _)| {
            line.strip_prefix(word)
                .is_some_and(|rest| rest.starts_with([':', '[']))
        });
        if let Some((_, colour)) = head {
            let end = line.find(':').unwrap_or(line.len());
            marks = colour;
            lines.push(format!("{colour}{}{PLAIN}{}", &line[..end], &line[end..]));
            continue;
        }
        let gutter = line
            .find(" | ")
            .or_else(|| line.find(" |").filter(|at| at + 2 == line.len()));
        let number = gutter.map_or("", |end| &line[..end]).trim();
        lines.push(match gutter {
            Some(end) if number.chars().all(|c| c.is_ascii_digit()) => {
                let rest = &line[end + 2..];
                let is_mark = number.is_empty() && rest.trim_start().starts_with(['^', '-']);
                match is_mark {
                    true => format!("{BLUE}{}{PLAIN}{marks}{rest}{PLAIN}", &line[..end + 2]),
                    false => format!("{BLUE}{}{PLAIN}{rest}", &line[..end + 2]),
                }
            }
            _ => match line.trim_start().starts_with("--> ")
                || line.trim_start().starts_with("::: ")
            {
                true => format!("{BLUE}{line}{PLAIN}"),
                false => line.to_owned(),
            },
        });
    }
    lines.join("\n")
}

/// How the program ends. The numbers are a promise to users.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    Done = 0,
    /// The model is wrong; for `compare`: the results differ.
    Model = 1,
    /// The command line is wrong: an option, a file that is not there or cannot be read or written.
    CommandLine = 2,
    /// The run could not be completed; what was computed is in the result file.
    Incomplete = 3,
    /// A bug in Saltus.
    Bug = 4,
}

/// Why a command ended early, as text for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn command_line(what: impl std::fmt::Display) -> Failure {
        Failure {
            exit: Exit::CommandLine,
            text: format!("error: {what}"),
        }
    }
}

pub(crate) type Outcome = Result<Exit, Failure>;

/// A text in which control characters can be seen and do nothing: those that terminals obey, and those that change the direction of writing. They come from texts of models and names
/// of files. In JSON the replacement is the same character.
fn harmless(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if obeyed(c) {
            out.push_str(&format!("\\u{:04x}", c as u32));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Writes a line for people to standard error. If nobody listens, so be it.
pub(crate) fn message(text: &str) {
    let text = harmless(text);
    let text = match COLOURED.load(Ordering::Relaxed) {
        true => Cow::Owned(coloured(&text)),
        false => text,
    };
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Writes what was asked for to standard output. A reader that has seen enough (`| head`) is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out
        .write_all(harmless(text).as_bytes())
        .and_then(|()| out.flush())
    {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::command_line(format!("standard output: {e}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::coloured;

    #[test]
    fn heads_and_marks_have_colours() {
        let text = "error[unknown-name]: `y` is not known\n --> M.mo:2:3\n 2 |   y = 1;\n   |   ^\nhelp: declare it";
        let shown = coloured(text);
        assert!(
            shown.starts_with("\x1b[1;31merror[unknown-name]\x1b[0m: `y`"),
            "{shown}"
        );
        assert!(
            shown.contains("\x1b[1;31m   ^\x1b[0m") || shown.contains("\x1b[1;31m  ^\x1b[0m"),
            "{shown}"
        );
        assert!(shown.ends_with("\x1b[1;32mhelp\x1b[0m: declare it"));
        assert_eq!(coloured("a | b"), "a | b");
    }
}
