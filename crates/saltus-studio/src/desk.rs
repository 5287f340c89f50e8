//! What one page has open: its texts, its compiled models, its work under way.
//!
//! Comes in: requests, in their order. Texts change at once; everything else is done by a thread of the pool on the texts as they are then, and answered from there.

use crate::requests::{Message, Outbox, Refusal, Request, RunRequest};
use crate::runs::{self, Shared};
use crate::server::State;
use crate::start;
use crate::workspace::Opened;
use saltus::{ClassView, Control, Error, Model, Session};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Compiled models that a page keeps.
const MODELS_MAX: usize = 8;
/// The checking of a text: a later one ends it.
const CHECK: &str = "check";

pub(crate) struct Desk {
    state: State,
    session: Session,
    outbox: Outbox,
    /// Counts changes of texts.
    revision: u64,
    work: Arc<Work>,
}

/// Shared with the threads that work for the page.
#[derive(Default)]
pub(crate) struct Work {
    jobs: Mutex<BTreeMap<String, Control>>,
    models: Mutex<Vec<Compiled>>,
}

#[derive(Clone)]
pub(crate) struct Compiled {
    class: String,
    revision: u64,
    /// Unique among all pages.
    pub(crate) number: u32,
    pub(crate) model: Model,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Work {
    /// A control for work of this name; earlier work of the name ends.
    fn begin(&self, job: &str) -> Control {
        let control = Control::new();
        if let Some(earlier) = lock(&self.jobs).insert(job.to_owned(), control.clone()) {
            earlier.cancel();
        }
        control
    }

    fn cancel(&self, job: &str) {
        if let Some(control) = lock(&self.jobs).get(job) {
            control.cancel();
        }
    }

    /// The compiled class, made now if its texts have changed.
    pub(crate) fn model(
        &self,
        session: &Session,
        class: &str,
        revision: u64,
        control: &Control,
    ) -> Result<Compiled, Error> {
        static NUMBER: AtomicU32 = AtomicU32::new(1);
        let is_known = |m: &Compiled| m.class == class && m.revision == revision;
        if let Some(known) = lock(&self.models).iter().find(|m| is_known(m)) {
            return Ok(known.clone());
        }
        let compiled = Compiled {
            class: class.to_owned(),
            revision,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            model: session.compile_under(control, class)?,
        };
        let mut models = lock(&self.models);
        models.retain(|m| m.class != class);
        models.push(compiled.clone());
        if models.len() > MODELS_MAX {
            models.remove(0);
        }
        Ok(compiled)
    }
}

type Answer = Result<Json, Refusal>;

impl Desk {
    pub(crate) fn new(state: State, outbox: Outbox) -> Desk {
        Desk {
            session: state.session.clone(),
            state,
            outbox,
            revision: 0,
            work: Arc::default(),
        }
    }

    /// The page is gone.
    pub(crate) fn close(self) {
        lock(&self.work.jobs).values().for_each(Control::cancel);
    }

    /// A message that is none.
    pub(crate) fn refuse(&self, text: &str, why: &str) {
        let id = serde_json::from_str::<Json>(text)
            .ok()
            .and_then(|message| message.get("id")?.as_u64());
        let refusal = Refusal::new(format!("the request is not understood: {why}"));
        let outbox = self.outbox.clone();
        tokio::task::spawn_blocking(move || outbox.fail(id.unwrap_or(0), &refusal));
    }

    pub(crate) fn take(&mut self, Message { id, request }: Message) {
        match request {
            Request::Text { path, text, class } => {
                self.session.set_text(&path, text);
                self.revision += 1;
                self.check(path, class);
            }
            Request::Close { path } => {
                self.session.remove(&path);
                self.revision += 1;
            }
            Request::Cancel { job } => self.work.cancel(&job),
            Request::Run(request) => self.run(id, *request),
            Request::Modes { class } => self.spawn_under("modes", id, move |session| {
                let view = session.modes_view(&class)?;
                Ok(json!({ "view": view, "svg": saltus::plot::draw_modes(&view.picture()) }))
            }),
            Request::Structure { class } => self.spawn_under("structure", id, move |session| {
                let picture = session.structure_picture(&class)?;
                Ok(json!({
                    "view": session.structure_view(&class)?,
                    "svg": saltus::plot::draw_structure(&picture),
                }))
            }),
            Request::Flat { class } => self.spawn_under("flat", id, move |session| {
                Ok(Json::from(session.print_flat(&class)?))
            }),
            Request::Columns { run, names } => {
                let bench = self.bench();
                tokio::task::spawn_blocking(move || {
                    guarded(&bench.outbox, id, || bench.columns(id, run, &names));
                });
            }
            other => self.spawn(id, move |desk| desk.quick(other)),
        }
    }

    /// What is needed by a thread.
    fn bench(&self) -> Bench {
        Bench {
            state: self.state.clone(),
            session: self.session.clone(),
            outbox: self.outbox.clone(),
            revision: self.revision,
            work: self.work.clone(),
        }
    }

    fn spawn(&self, id: u64, work: impl FnOnce(&Bench) -> Answer + Send + 'static) {
        let bench = self.bench();
        tokio::task::spawn_blocking(move || {
            guarded(&bench.outbox, id, || bench.answer(id, work(&bench)));
        });
    }

    /// The same, under a control: later work of the same name ends it.
    fn spawn_under(
        &self,
        job: &str,
        id: u64,
        work: impl FnOnce(&Session) -> Result<Json, Error> + Send + 'static,
    ) {
        let control = self.work.begin(job);
        self.spawn(id, move |bench| {
            Ok(bench.session.work_under(&control, work)?)
        });
    }

    fn check(&self, path: String, class: Option<String>) {
        let control = self.work.begin(CHECK);
        let bench = self.bench();
        tokio::task::spawn_blocking(move || bench.check(&path, class.as_deref(), &control));
    }

    fn run(&self, id: u64, request: RunRequest) {
        let control = self.work.begin(&request.job);
        let bench = self.bench();
        tokio::task::spawn_blocking(move || {
            guarded(&bench.outbox, id, || bench.run(id, &request, &control));
        });
    }
}

/// Does work that owes an answer: if a bug of ours ends it, the page is told.
fn guarded(outbox: &Outbox, id: u64, work: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(work)).is_err() {
        outbox.fail(
            id,
            &Refusal::new("this is a bug in Saltus: its report is where the studio was started"),
        );
    }
}

/// The desk as it was when work was asked for.
struct Bench {
    state: State,
    session: Session,
    outbox: Outbox,
    revision: u64,
    work: Arc<Work>,
}

impl Bench {
    fn answer(&self, id: u64, answer: Answer) {
        match answer {
            Ok(result) => self.outbox.answer(id, &result),
            Err(refusal) => self.outbox.fail(id, &refusal),
        }
    }

    fn run(&self, id: u64, request: &RunRequest, control: &Control) {
        let compiled = (self.work).model(&self.session, &request.class, self.revision, control);
        let shared = Shared {
            outbox: &self.outbox,
            runs: &self.state.runs,
        };
        let ran = match compiled {
            Ok(compiled) => runs::run(&shared, id, &compiled, request, control),
            Err(error) => Err(error.into()),
        };
        if let Err(refusal) = ran {
            self.outbox.fail(id, &refusal);
        }
    }

    fn columns(&self, id: u64, run: u32, names: &[String]) {
        let sent = (self.state.runs).send_columns(&self.outbox, id, run, names);
        if let Err(refusal) = sent {
            self.outbox.fail(id, &refusal);
        }
    }

    fn quick(&self, request: Request) -> Answer {
        match request {
            Request::Hello => Ok(self.hello()),
            Request::Open { path, class } => self.open(path.as_deref(), class.as_deref()),
            Request::Save { path, text } => self.save(&path, &text),
            Request::Classes { class } => Ok(serde_json::to_value(
                self.session.classes_in(class.as_deref()),
            )
            .unwrap_or_default()),
            Request::Documentation { class } => Ok(json!(self.session.documentation(&class))),
            Request::Diagram { class } => Ok(json!(self.session.diagram(&class))),
            Request::Icon { class } => Ok(json!(self.session.icon(&class))),
            Request::Steps { run } => Ok(self.state.runs.find(run)?.steps_as_json()),
            Request::Why {
                run,
                variable,
                time,
            } => self.why(run, &variable, time),
            // Taken by the desk itself.
            other => Err(Refusal::new(format!("not a request of its own: {other:?}"))),
        }
    }

    fn hello(&self) -> Json {
        let workspace = &self.state.workspace;
        let class = match &workspace.opened {
            Some(Opened::Class(class)) => Some(class),
            _ => None,
        };
        let has = |name: &str| self.session.source_of(name).is_some();
        json!({
            "version": saltus::VERSION,
            "folder": workspace.folder().map(|p| p.display().to_string()),
            "file": workspace.file().map(|p| p.display().to_string()),
            "class": class,
            "files": workspace.files(),
            "start": start::models(&has),
        })
    }

    fn open(&self, path: Option<&str>, class: Option<&str>) -> Answer {
        let (path, line) = match (path, class) {
            (Some(path), _) => (path.to_owned(), 1),
            (None, Some(class)) => {
                let source = (self.session.source_of(class))
                    .ok_or_else(|| Refusal::new(format!("there is no class `{class}`")))?;
                (source.path, source.line)
            }
            (None, None) => return Err(Refusal::new("what is to be opened?")),
        };
        // A text of the editor is newer than its file.
        if let Some((path, text)) = self.session.texts().find(|(known, _)| *known == path) {
            return Ok(
                json!({ "path": path, "text": text, "line": line, "readOnly": false, "given": true }),
            );
        }
        let real = (self.state.workspace.readable(&path)).map_err(Refusal::new)?;
        let shown = real.display().to_string();
        let bytes = (self.session.read_file(&shown)).map_err(Refusal::new)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Refusal::new(format!("`{shown}` is not UTF-8")))?;
        let read_only = self.state.workspace.writable(&shown).is_err();
        Ok(json!({ "path": shown, "text": text, "line": line, "readOnly": read_only }))
    }

    fn save(&self, path: &str, text: &str) -> Answer {
        let real = (self.state.workspace.writable(path)).map_err(Refusal::new)?;
        saltus::replace::replace_file(&real, |out| {
            use std::io::Write as _;
            out.write_all(text.as_bytes())
        })
        .map_err(|e| Refusal::new(format!("`{}` cannot be written: {e}", real.display())))?;
        Ok(json!({ "path": real.display().to_string() }))
    }

    /// Classes and messages of a text, told when they are known.
    fn check(&self, path: &str, class: Option<&str>, control: &Control) {
        let (outline, syntax) = self.session.outline(path);
        let mut tell = json!({
            "event": "checked",
            "path": path,
            "classes": outline,
            "messages": syntax.views(),
        });
        let asked = (outline.iter()).find(|c| Some(c.qualified.as_str()) == class);
        let chosen = asked
            .or_else(|| last_model(&outline))
            .filter(|c| c.is_model);
        if let (false, Some(class)) = (syntax.has_errors(), chosen) {
            tell["class"] = json!(class.qualified);
            let found =
                match self
                    .work
                    .model(&self.session, &class.qualified, self.revision, control)
                {
                    Ok(compiled) => compiled.model.warnings().clone(),
                    Err(Error::Model(found)) => found,
                    // Ended by a later text, which is told about.
                    Err(_) => return,
                };
            tell["messages"] = json!(found.views());
        }
        self.outbox.text(&tell);
    }

    /// One level of the reasons for a value: the equations of its block, and what they read.
    fn why(&self, run: u32, variable: &str, time: f64) -> Answer {
        let kept = self.state.runs.find(run)?;
        let view = self.session.structure_view(&kept.class)?;
        let value = |name: &str| kept.value_at(name, time);
        let block = (view.blocks.iter()).find(|block| {
            let mut determined = block
                .equations
                .iter()
                .filter_map(|e| e.determines.as_deref());
            determined.any(|name| name == variable)
        });
        let state = view.states.iter().find(|s| s.name == variable);
        let mut note = String::new();
        if let Some(state) = state {
            let _ = write!(
                note,
                "a state ({}): it is integrated from {}",
                state.reason, state.derivative
            );
        }
        let Some(block) = block else {
            return Ok(
                json!({ "variable": variable, "value": value(variable), "note": note, "equations": [],
                "derivative": state.map(|s| &s.derivative) }),
            );
        };
        let equations: Vec<Json> = (block.equations.iter())
            .map(|equation| {
                let reads: Vec<Json> = (equation.reads.iter())
                    .map(|name| json!({ "name": name, "value": value(name) }))
                    .collect();
                json!({
                    "text": equation.text,
                    "determines": equation.determines,
                    "value": equation.determines.as_deref().map(value),
                    "reads": reads,
                    "file": equation.file,
                    "line": equation.line,
                })
            })
            .collect();
        Ok(json!({
            "variable": variable,
            "value": value(variable),
            "note": note,
            "kind": block.kind,
            "torn": block.torn,
            "equations": equations,
            "derivative": state.map(|s| &s.derivative),
        }))
    }
}

/// The model that is meant if nobody says which: the last one that is no part of another model.
fn last_model(outline: &[ClassView]) -> Option<&ClassView> {
    let is_inside = |c: &ClassView, other: &ClassView| {
        let rest = c.qualified.strip_prefix(&other.qualified);
        other.is_model && rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let is_part = |c: &ClassView| outline.iter().any(|other| is_inside(c, other));
    (outline.iter().rev()).find(|c| c.is_model && !is_part(c))
}
