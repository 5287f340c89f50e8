//! A client that waits for each answer.

use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::time::Duration;

/// No answer takes longer, but by a hang.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Client {
    connection: Connection,
    server: Option<std::thread::JoinHandle<()>>,
    n_requests: i32,
    n_versions: i32,
    /// Diagnostics by URI, the latest.
    pub(crate) diagnostics: Vec<(String, Value)>,
}

/// A text and the place of its cursor, as line and UTF-16 column.
pub(crate) fn marked(text: &str) -> (String, Value) {
    let at = text.find("<|>").expect("a cursor");
    let before = &text[..at];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[start..].encode_utf16().count();
    (
        text.replacen("<|>", "", 1),
        json!({ "line": line, "character": column }),
    )
}

impl Client {
    pub(crate) fn new(folder: Option<&str>, libraries: &[&str]) -> Client {
        let (server, connection) = Connection::memory();
        let mut session = saltus::Session::new();
        for library in libraries {
            session.add_library_path(library);
        }
        let server = std::thread::spawn(move || {
            saltus_lsp::serve(server, session).expect("the server ends well")
        });
        let mut client = Client {
            connection,
            server: Some(server),
            n_requests: 0,
            n_versions: 0,
            diagnostics: Vec::new(),
        };
        let folders =
            folder.map(|folder| json!([{ "uri": format!("file://{folder}"), "name": "test" }]));
        let answer = client.ask(
            "initialize",
            json!({ "capabilities": {}, "workspaceFolders": folders }),
        );
        assert_eq!(answer["serverInfo"]["name"], "saltus");
        client.tell("initialized", json!({}));
        client
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        let note = Notification {
            method: method.to_owned(),
            params,
        };
        self.connection
            .sender
            .send(Message::Notification(note))
            .expect("the server listens");
    }

    /// The result, or the error.
    pub(crate) fn try_ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.n_requests += 1;
        let id = RequestId::from(self.n_requests);
        let request = Request {
            id: id.clone(),
            method: method.to_owned(),
            params,
        };
        self.connection
            .sender
            .send(Message::Request(request))
            .expect("the server listens");
        loop {
            match self.receive() {
                Some(Message::Response(response)) if response.id == id => {
                    return match response.error {
                        Some(error) => Err(error.message),
                        None => Ok(response.result.unwrap_or(Value::Null)),
                    };
                }
                Some(_) => {}
                None => panic!("no answer to {method}"),
            }
        }
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.try_ask(method, params)
            .unwrap_or_else(|e| panic!("{method}: {e}"))
    }

    /// A question about a place.
    pub(crate) fn ask_at(&mut self, method: &str, uri: &str, position: &Value) -> Value {
        self.ask(method, json!({ "textDocument": { "uri": uri }, "position": position, "context": { "includeDeclaration": true, "triggerKind": 1, "isRetrigger": false } }))
    }

    fn receive(&mut self) -> Option<Message> {
        let message = self.connection.receiver.recv_timeout(PATIENCE).ok()?;
        if let Message::Notification(note) = &message
            && note.method == "textDocument/publishDiagnostics"
        {
            let uri = note.params["uri"].as_str().expect("a URI").to_owned();
            self.diagnostics.retain(|(known, _)| *known != uri);
            self.diagnostics.push((uri, note.params.clone()));
        }
        Some(message)
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        self.n_versions += 1;
        let document = json!({ "uri": uri, "languageId": "modelica", "version": self.n_versions, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    pub(crate) fn change(&mut self, uri: &str, changes: Value) {
        self.n_versions += 1;
        let document = json!({ "uri": uri, "version": self.n_versions });
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": changes }),
        );
    }

    /// Waits for diagnostics of a document that fulfil a condition.
    pub(crate) fn wait_for(&mut self, uri: &str, what: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        loop {
            let known = self.diagnostics.iter().find(|(known, _)| known == uri);
            if let Some(list) = known.and_then(|(_, params)| params["diagnostics"].as_array())
                && what(list)
            {
                return list.clone();
            }
            self.receive()
                .unwrap_or_else(|| panic!("no such diagnostics of {uri}: {:?}", self.diagnostics));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.ask("shutdown", Value::Null);
        self.tell("exit", Value::Null);
        if let Some(server) = self.server.take() {
            server.join().expect("the server ends");
        }
    }
}
