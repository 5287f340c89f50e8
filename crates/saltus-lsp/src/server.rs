//! The loop: messages of the client, results of checks, and the clock.

use crate::checks::{Checked, Checks};
use crate::context::Document;
use crate::text::{Text, path_of, uri_of};
use crate::{Broken, STACK_BYTES, diagnostics, features};
use crossbeam_channel::{RecvTimeoutError, Select};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response, ResponseError};
use lsp_types::notification::{
    DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit, Notification as _, PublishDiagnostics,
};
use lsp_types::{InitializeParams, PublishDiagnosticsParams, Uri};
use saltus::Session;
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

/// After the last key so much time passes before classes are checked.
const CHECK_DELAY: Duration = Duration::from_millis(200);
/// Without anything to wait for, the loop looks around this often.
const IDLE: Duration = Duration::from_secs(60);

/// Serves one client until it says goodbye. The session's texts and libraries are the beginning; the client adds its own.
pub fn serve(connection: Connection, session: Session) -> Result<(), Broken> {
    let worker = std::thread::Builder::new()
        .name("saltus-lsp".into())
        .stack_size(STACK_BYTES)
        .spawn(move || run(&connection, session))?;
    worker
        .join()
        .unwrap_or_else(|_| Err("the language server ended by a bug".into()))
}

fn run(connection: &Connection, session: Session) -> Result<(), Broken> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let answer = serde_json::json!({
        "capabilities": features::capabilities(),
        "serverInfo": { "name": "saltus", "version": saltus::VERSION },
    });
    connection.initialize_finish(id, answer)?;
    let mut server = Server {
        connection,
        session,
        documents: BTreeMap::new(),
        checks: Checks::new(),
        due: BTreeMap::new(),
        folders: Vec::new(),
    };
    server.configure(params.initialization_options.as_ref());
    #[expect(deprecated, reason = "older clients give nothing else")]
    let root = params.root_uri.clone();
    let folders = params.workspace_folders.unwrap_or_default();
    for uri in folders.into_iter().map(|folder| folder.uri).chain(root) {
        server.add_folder(&path_of(&uri));
    }
    server.serve()
}

/// All that is known of the client's work.
pub(crate) struct Server<'c> {
    connection: &'c Connection,
    pub(crate) session: Session,
    /// Open documents by path.
    pub(crate) documents: BTreeMap<String, Document>,
    checks: Checks,
    /// Documents whose classes are to be checked, with the time.
    due: BTreeMap<String, Instant>,
    /// The client's folders.
    pub(crate) folders: Vec<String>,
}

impl Server<'_> {
    fn serve(&mut self) -> Result<(), Broken> {
        loop {
            match self.next()? {
                Some(Message::Request(request)) => {
                    if self.connection.handle_shutdown(&request)? {
                        self.checks.cancel();
                        return Ok(());
                    }
                    self.request(request)?;
                }
                Some(Message::Notification(note)) if note.method == Exit::METHOD => return Ok(()),
                Some(Message::Notification(note)) => self.notification(note)?,
                Some(Message::Response(_)) | None => {}
            }
            self.start_checks();
        }
    }

    /// The next message; `None` if a check is due or done.
    fn next(&mut self) -> Result<Option<Message>, Broken> {
        let now = Instant::now();
        let wait = (self.due.values().min()).map_or(IDLE, |due| due.saturating_duration_since(now));
        // A check that is due waits for the one under way.
        let wait = if self.checks.is_busy() { IDLE } else { wait };
        let mut select = Select::new();
        let from_client = select.recv(&self.connection.receiver);
        let results = self.checks.results().clone();
        select.recv(&results);
        let Ok(ready) = select.ready_timeout(wait) else {
            return Ok(None);
        };
        if ready == from_client {
            return match self.connection.receiver.recv_timeout(Duration::ZERO) {
                Ok(message) => Ok(Some(message)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err("the client has gone".into()),
            };
        }
        if let Ok(checked) = results.try_recv() {
            self.checks.finished();
            self.publish_checked(checked)?;
        }
        Ok(None)
    }

    fn request(&mut self, request: Request) -> Result<(), Broken> {
        let id = request.id.clone();
        let method = request.method.clone();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            features::answer(self, &request.method, request.params)
        }));
        let response = match outcome {
            Ok(Ok(value)) => Response::new_ok(id, value),
            Ok(Err(error)) => Response {
                id,
                result: None,
                error: Some(error),
            },
            Err(_) => failure(
                id,
                ErrorCode::InternalError,
                format!("a bug in Saltus at `{method}`"),
            ),
        };
        self.connection.sender.send(Message::Response(response))?;
        Ok(())
    }

    fn notification(&mut self, note: Notification) -> Result<(), Broken> {
        match note.method.as_str() {
            DidOpenTextDocument::METHOD => {
                let params: lsp_types::DidOpenTextDocumentParams =
                    serde_json::from_value(note.params)?;
                let document = params.text_document;
                self.open(&document.uri, document.text, document.version)
            }
            DidChangeTextDocument::METHOD => {
                let params: lsp_types::DidChangeTextDocumentParams =
                    serde_json::from_value(note.params)?;
                let path = path_of(&params.text_document.uri);
                if let Some(document) = self.documents.get_mut(&path) {
                    document.version = params.text_document.version;
                    document.text.change(params.content_changes);
                    self.changed(&path)?;
                }
                Ok(())
            }
            DidCloseTextDocument::METHOD => {
                let params: lsp_types::DidCloseTextDocumentParams =
                    serde_json::from_value(note.params)?;
                self.close(&params.text_document.uri)
            }
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => {
                self.recheck_all();
                Ok(())
            }
            DidChangeConfiguration::METHOD => {
                let params: lsp_types::DidChangeConfigurationParams =
                    serde_json::from_value(note.params)?;
                let settings = params.settings;
                self.configure(settings.get("saltus").or(Some(&settings)));
                self.recheck_all();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `libraryPaths`: folders with libraries, as `--library`.
    fn configure(&mut self, settings: Option<&Value>) {
        let paths = settings
            .and_then(|s| s.get("libraryPaths"))
            .and_then(Value::as_array);
        for path in paths.into_iter().flatten().filter_map(Value::as_str) {
            self.add_library(path);
        }
    }

    fn add_library(&mut self, path: &str) {
        let known = self
            .session
            .library_paths()
            .iter()
            .any(|known| known == Path::new(path));
        if !known {
            self.session.add_library_path(path);
        }
    }

    /// A folder of the client: the libraries in it can be used.
    fn add_folder(&mut self, path: &str) {
        self.add_library(path.trim_end_matches('/'));
        self.folders.push(path.trim_end_matches('/').to_owned());
    }

    fn open(&mut self, uri: &Uri, text: String, version: i32) -> Result<(), Broken> {
        let path = path_of(uri);
        // A file of a library is seen in its library.
        if let Some(around) = folder_of_library(&path) {
            self.add_library(&around);
        }
        let document = Document {
            uri: uri.clone(),
            version,
            text: Text::new(text),
            checked: Vec::new(),
        };
        self.documents.insert(path.clone(), document);
        self.changed(&path)
    }

    fn close(&mut self, uri: &Uri) -> Result<(), Broken> {
        let path = path_of(uri);
        if self.documents.remove(&path).is_some() {
            self.session.remove(&path);
            self.due.remove(&path);
            self.checks.cancel_of(&path);
            self.send_diagnostics(uri.clone(), None, Vec::new())?;
        }
        Ok(())
    }

    /// The text of a document is new: what the parser says at once, the rest later.
    fn changed(&mut self, path: &str) -> Result<(), Broken> {
        self.checks.cancel();
        let Some(document) = self.documents.get_mut(path) else {
            return Ok(());
        };
        self.session.set_text(path, document.text.text.clone());
        document.checked.clear();
        self.publish(path)?;
        self.due
            .insert(path.to_owned(), Instant::now() + CHECK_DELAY);
        Ok(())
    }

    fn recheck_all(&mut self) {
        let due = Instant::now() + CHECK_DELAY;
        self.due
            .extend(self.documents.keys().map(|path| (path.clone(), due)));
    }

    fn publish(&self, path: &str) -> Result<(), Broken> {
        let Some(document) = self.documents.get(path) else {
            return Ok(());
        };
        let mut list = match self.session.parsed(path) {
            Ok(parsed) => diagnostics::of_parser(&parsed, document),
            Err(unreadable) => vec![diagnostics::placeless(&unreadable)],
        };
        list.extend(document.checked.iter().cloned());
        self.send_diagnostics(document.uri.clone(), Some(document.version), list)
    }

    fn publish_checked(&mut self, checked: Checked) -> Result<(), Broken> {
        let Some(document) = self.documents.get_mut(&checked.path) else {
            return Ok(());
        };
        if document.version != checked.version {
            return Ok(());
        }
        document.checked = checked.list;
        self.publish(&checked.path)
    }

    fn send_diagnostics(
        &self,
        uri: Uri,
        version: Option<i32>,
        list: Vec<lsp_types::Diagnostic>,
    ) -> Result<(), Broken> {
        let params = PublishDiagnosticsParams::new(uri, list, version);
        let note = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
        self.connection.sender.send(Message::Notification(note))?;
        Ok(())
    }

    /// Starts the check of the document that waits longest, if its time has come.
    fn start_checks(&mut self) {
        if self.checks.is_busy() {
            return;
        }
        let now = Instant::now();
        let due = self
            .due
            .iter()
            .filter(|(_, at)| **at <= now)
            .min_by_key(|(_, at)| **at);
        let Some(path) = due.map(|(path, _)| path.clone()) else {
            return;
        };
        self.due.remove(&path);
        let Some(document) = self.documents.get(&path) else {
            return;
        };
        if let Ok(parsed) = self.session.parsed(&path) {
            self.checks
                .start(self.session.clone(), path, document, &parsed);
        }
    }

    /// The URI of a path, as the client writes it for what it has opened.
    pub(crate) fn uri(&self, path: &str) -> Option<Uri> {
        match self.documents.get(path) {
            Some(document) => Some(document.uri.clone()),
            None => uri_of(path),
        }
    }
}

pub(crate) fn refusal(message: impl Into<String>) -> ResponseError {
    ResponseError {
        code: ErrorCode::RequestFailed as i32,
        message: message.into(),
        data: None,
    }
}

fn failure(id: lsp_server::RequestId, code: ErrorCode, message: String) -> Response {
    Response::new_err(id, code as i32, message)
}

/// The folder around the library that a file belongs to.
pub(crate) fn folder_of_library(path: &str) -> Option<String> {
    let mut library = None;
    for folder in Path::new(path).ancestors().skip(1) {
        if !folder.join("package.mo").is_file() {
            break;
        }
        library = folder.parent();
    }
    library.map(|folder| folder.to_string_lossy().into_owned())
}

/// The name of a request, for dispatch.
pub(crate) fn is<R: lsp_types::request::Request>(method: &str) -> bool {
    R::METHOD == method
}
