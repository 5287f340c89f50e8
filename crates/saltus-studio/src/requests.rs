//! What a page can ask for, and how answers are packed.
//!
//! A request is a JSON text `{"id", "method", "params"}`. An answer is `{"id", "result"}` or `{"id", "error"}`; what nobody asked for is `{"event", …}`. Numbers of runs
//! travel as binary messages: the length of a JSON head as four bytes (little endian), the head, zeros up to a multiple of eight bytes, then columns of 64-bit numbers,
//! time first.

use axum::extract::ws::Message as Frame;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;

#[derive(Deserialize, Debug)]
pub(crate) struct Message {
    pub(crate) id: u64,
    #[serde(flatten)]
    pub(crate) request: Request,
}

#[derive(Deserialize, Debug)]
#[serde(tag = "method", content = "params", rename_all = "camelCase")]
pub(crate) enum Request {
    /// What is opened, which start models there are.
    Hello,
    /// A text as it is in the editor now; its class is checked.
    Text {
        path: String,
        text: String,
        class: Option<String>,
    },
    /// The text is no longer in the editor.
    Close {
        path: String,
    },
    /// The text of a file or class.
    Open {
        path: Option<String>,
        class: Option<String>,
    },
    Save {
        path: String,
        text: String,
    },
    /// The classes inside a class, or at the top.
    Classes {
        class: Option<String>,
    },
    Documentation {
        class: String,
    },
    Diagram {
        class: String,
    },
    Icon {
        class: String,
    },
    Run(Box<RunRequest>),
    Cancel {
        job: String,
    },
    /// More variables of a run.
    Columns {
        run: u32,
        names: Vec<String>,
    },
    /// The accepted steps of a run.
    Steps {
        run: u32,
    },
    /// The stages of a class as text or data.
    Flat {
        class: String,
    },
    Structure {
        class: String,
    },
    Modes {
        class: String,
    },
    /// The equations that determine a variable, with the values of a run at a time.
    Why {
        run: u32,
        variable: String,
        time: f64,
    },
}

#[derive(Deserialize, Debug)]
pub(crate) struct RunRequest {
    /// Names the work: a later run of the same name ends the earlier one.
    pub(crate) job: String,
    pub(crate) class: String,
    /// The number of the compiled model that the page knows: its variables are not sent again.
    pub(crate) known: Option<u32>,
    #[serde(default)]
    pub(crate) settings: Vec<(String, Json)>,
    #[serde(default)]
    pub(crate) options: RunOptions,
    /// The variables whose rows are sent at once.
    #[serde(default)]
    pub(crate) columns: Vec<String>,
}

#[derive(Deserialize, Default, Debug)]
#[serde(default)]
pub(crate) struct RunOptions {
    pub(crate) start: Option<f64>,
    pub(crate) stop: Option<f64>,
    pub(crate) tolerance: Option<f64>,
    pub(crate) intervals: Option<u32>,
    pub(crate) solver: Option<String>,
    /// Rows go out while the run goes on.
    pub(crate) stream: bool,
}

/// Where answers go. Sending waits while the page is slow, so it is done by threads that work, never by the one that listens.
#[derive(Clone)]
pub(crate) struct Outbox {
    frames: mpsc::Sender<Frame>,
}

/// The page is gone.
#[derive(Debug)]
pub(crate) struct Gone;

impl Outbox {
    pub(crate) fn new(frames: mpsc::Sender<Frame>) -> Outbox {
        Outbox { frames }
    }

    pub(crate) fn answer(&self, id: u64, result: &impl Serialize) {
        self.text(&json!({ "id": id, "result": result }));
    }

    pub(crate) fn fail(&self, id: u64, error: &Refusal) {
        self.text(&json!({ "id": id, "error": error }));
    }

    pub(crate) fn text(&self, message: &Json) {
        // Nobody is there any more: the work ends by its control.
        let _ = self.send(Frame::text(message.to_string()));
    }

    /// Columns, `rows` numbers each.
    pub(crate) fn columns<'c>(
        &self,
        head: &Json,
        columns: impl Iterator<Item = Column<'c>>,
    ) -> Result<(), Gone> {
        let mut bytes = vec![0; 4];
        let head = head.to_string();
        bytes[..4].copy_from_slice(&(head.len() as u32).to_le_bytes());
        bytes.extend(head.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        for Column { values, negated } in columns {
            bytes.reserve(8 * values.len());
            match negated {
                false => values
                    .iter()
                    .for_each(|x| bytes.extend_from_slice(&x.to_le_bytes())),
                true => values
                    .iter()
                    .for_each(|x| bytes.extend_from_slice(&(-x).to_le_bytes())),
            }
        }
        self.send(Frame::binary(bytes))
    }

    fn send(&self, frame: Frame) -> Result<(), Gone> {
        self.frames.blocking_send(frame).map_err(|_| Gone)
    }
}

pub(crate) struct Column<'c> {
    pub(crate) values: &'c [f64],
    pub(crate) negated: bool,
}

/// Why a request was not carried out.
#[derive(Serialize, Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    /// What is wrong with the model, if that is why.
    pub(crate) diagnostics: Vec<saltus::DiagnosticView>,
    /// Somebody asked for it.
    pub(crate) cancelled: bool,
}

impl Refusal {
    pub(crate) fn new(message: impl Into<String>) -> Refusal {
        Refusal {
            message: message.into(),
            diagnostics: Vec::new(),
            cancelled: false,
        }
    }
}

impl From<saltus::Error> for Refusal {
    fn from(error: saltus::Error) -> Refusal {
        match error {
            saltus::Error::Usage(message) => Refusal::new(message),
            saltus::Error::Model(found)
            | saltus::Error::Run(found, _)
            | saltus::Error::Stopped(found) => Refusal {
                message: (found.list.first()).map_or_else(String::new, |d| d.message.clone()),
                cancelled: found.list.iter().any(|d| d.code == "cancelled"),
                diagnostics: found.views(),
            },
        }
    }
}
