//! Exit codes, failures and text for people.

use std::borrow::Cow;
use std::io::Write;

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
    let _ = writeln!(std::io::stderr(), "{}", harmless(text));
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
