//! Checks of the classes of a document, one document at a time, in a thread of its own that the next change ends.

use crate::context::{Document, all_classes};
use crate::text::Text;
use crate::{STACK_BYTES, diagnostics};
use crossbeam_channel::{Receiver, Sender, unbounded};
use saltus::language::ParsedFile;
use saltus::{Control, Session};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seconds for all classes of a document together: a package of many models is checked as far as that goes.
const SECONDS_MAX: f64 = 20.0;
/// Messages of one document.
const MESSAGES_MAX: usize = 200;

/// What a check has found in a document.
pub(crate) struct Checked {
    pub(crate) path: String,
    pub(crate) version: i32,
    pub(crate) list: Vec<lsp_types::Diagnostic>,
}

pub(crate) struct Checks {
    sender: Sender<Checked>,
    results: Receiver<Checked>,
    /// The check under way.
    current: Option<(String, Control)>,
}

impl Checks {
    pub(crate) fn new() -> Checks {
        let (sender, results) = unbounded();
        Checks {
            sender,
            results,
            current: None,
        }
    }

    pub(crate) fn results(&self) -> &Receiver<Checked> {
        &self.results
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.current.is_some()
    }

    /// Its result has come.
    pub(crate) fn finished(&mut self) {
        self.current = None;
    }

    pub(crate) fn cancel(&self) {
        if let Some((_, control)) = &self.current {
            control.cancel();
        }
    }

    pub(crate) fn cancel_of(&self, path: &str) {
        if let Some((current, control)) = &self.current
            && current == path
        {
            control.cancel();
        }
    }

    pub(crate) fn start(
        &mut self,
        session: Session,
        path: String,
        document: &Document,
        parsed: &ParsedFile,
    ) {
        let control = Control::new();
        control.limit(SECONDS_MAX);
        self.current = Some((path.clone(), control.clone()));
        let classes: Vec<String> = all_classes(&parsed.definition)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        let (text, version) = (document.text.clone(), document.version);
        let sender = self.sender.clone();
        let work = move || {
            let list = catch_unwind(AssertUnwindSafe(|| {
                check(&session, &control, &path, &text, &classes)
            }));
            // A server that has ended takes no result.
            let _ = sender.send(Checked {
                path,
                version,
                list: list.unwrap_or_default(),
            });
        };
        let started = std::thread::Builder::new()
            .name("saltus-check".into())
            .stack_size(STACK_BYTES)
            .spawn(work);
        if started.is_err() {
            self.current = None;
        }
    }
}

fn check(
    session: &Session,
    control: &Control,
    path: &str,
    text: &Text,
    classes: &[String],
) -> Vec<lsp_types::Diagnostic> {
    let mut list: Vec<lsp_types::Diagnostic> = Vec::new();
    // Inner classes first: an error is shown for the class that it is in.
    for class in classes.iter().rev() {
        let found = session.diagnose_under(control, class);
        if control.stop().is_some() || list.len() > MESSAGES_MAX {
            break;
        }
        for diagnostic in diagnostics::of_check(&found, path, text) {
            if !list
                .iter()
                .any(|d| d.range == diagnostic.range && d.message == diagnostic.message)
            {
                list.push(diagnostic);
            }
        }
    }
    list.truncate(MESSAGES_MAX);
    list
}
