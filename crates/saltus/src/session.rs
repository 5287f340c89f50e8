//! Sources and libraries, and the way from a class name to a compiled model.

mod hosts;
mod inputs;
mod stages;

use crate::error::{Diagnostics, Error};
use crate::permissions::Permissions;
use crate::structure_view::{JacobianView, StructureView, structure_picture, structure_view};
use crate::texts::{Given, Texts};
use crate::world::{Disk, World};
pub(crate) use hosts::Surroundings;
pub(crate) use inputs::BoundInputs;
use saltus_flatten::{FileArena, Files};
use saltus_ir::FlatModel;
use saltus_ir::flat::{Inline, InlineMethod};
use saltus_model::{Instance, Model, Values};
use saltus_plot::StructurePicture;
use saltus_syntax::{Diagnostic, Name, SourceMap, Span};
pub(crate) use stages::{Overrides, diagnostics_of, under};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `file:line`, or nothing for what has no place.
fn place_text(sources: &SourceMap, span: Span) -> String {
    if (span.file.0 as usize) >= sources.len() {
        return String::new();
    }
    let line = sources.line_col(span.file, span.start).line;
    format!("{}:{line}", sources.file(span.file).name)
}

/// A stage on the way from text to result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Parse,
    Flatten,
    Balanced,
    Structure,
    Codegen,
    Initialise,
    Simulate,
}

impl Stage {
    pub fn name(self) -> &'static str {
        match self {
            Stage::Parse => "parse",
            Stage::Flatten => "flatten",
            Stage::Balanced => "balanced",
            Stage::Structure => "structure",
            Stage::Codegen => "codegen",
            Stage::Initialise => "initialise",
            Stage::Simulate => "simulate",
        }
    }
}

/// Wall-clock seconds of the compile stages.
#[derive(Clone, Copy, Default, Debug)]
pub struct StageTimes {
    pub parse: f64,
    pub flatten: f64,
    pub structure: f64,
    pub codegen: f64,
    pub n_files: usize,
}

type Observer = Arc<dyn Fn(Stage, f64) + Send + Sync>;

/// Model texts and library folders, and the way from the name of a class to a compiled model.
///
/// Texts and libraries may change between two compilations; files that did not change are not read or parsed again. Compiling takes `&self`, so several
/// threads can compile at once.
///
/// ```
/// let mut session = saltus::Session::new();
/// session.set_text("Tank.mo", "model Tank Real h(start = 1, fixed = true); equation der(h) = -h; end Tank;");
/// assert_eq!(session.compile("Tank")?.info().n_equations, 1);
/// session.set_text("Tank.mo", "model Tank Real h(start = 1, fixed = true); equation der(h) = -g; end Tank;");
/// let found = session.check("Tank");
/// assert_eq!(found.error_codes(), ["unknown-name"]);
/// assert_eq!(found.line_of(&found.list[0]), Some(1));
/// # Ok::<(), saltus::Error>(())
/// ```
///
/// A clone is the session as it is now: changes of one do not reach the other.
#[derive(Clone)]
pub struct Session {
    given: Arc<Inside>,
}

/// What a session knows. Models hold on to it for settings that need another compilation.
#[derive(Clone)]
struct Inside {
    texts: Texts,
    libraries: Vec<PathBuf>,
    inlined: Vec<(String, InlineMethod)>,
    inputs: BoundInputs,
    observer: Option<Observer>,
    permissions: Permissions,
}

impl Default for Session {
    fn default() -> Session {
        Session::new()
    }
}

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Session>();
    shared_between_threads::<Error>();
};

/// What flattening gives.
pub struct Flat {
    pub model: FlatModel,
    pub warnings: Diagnostics,
    pub times: StageTimes,
}

impl Session {
    /// A session on the files of the computer.
    pub fn new() -> Session {
        Session::with_world(Disk)
    }

    /// A session on other files.
    pub fn with_world(world: impl World + 'static) -> Session {
        Session {
            given: Arc::new(Inside {
                texts: Texts::new(Arc::new(world)),
                libraries: Vec::new(),
                inlined: Vec::new(),
                inputs: BoundInputs::default(),
                observer: None,
                permissions: Permissions::default(),
            }),
        }
    }

    /// To be changed: what models hold on to stays as it is.
    fn inside(&mut self) -> &mut Inside {
        Arc::make_mut(&mut self.given)
    }

    /// Adds a folder that contains libraries (searched in the order added). The folder of a library itself stands for the one around it.
    pub fn add_library_path(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        let mut dir = dir.into();
        if self.is_file(&dir.join("package.mo")) {
            dir.push("..");
        }
        self.inside().libraries.push(dir);
        self
    }

    /// Lets functions of the model change files in a folder, not only in the working folder.
    pub fn allow_write(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        self.inside().permissions.write.push(dir.into());
        self
    }

    /// Lets functions of the model run commands of the operating system.
    pub fn allow_system(&mut self) -> &mut Self {
        self.inside().permissions.system = true;
        self
    }

    /// Lets models call C functions of every annotation. Such code can do whatever the process can do.
    pub fn allow_foreign(&mut self) -> &mut Self {
        self.inside().permissions.foreign.all = true;
        self
    }

    /// Lets models call C functions that are declared in files of this folder.
    pub fn allow_foreign_in(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        (self.inside().permissions.foreign.folders).push(dir.into());
        self
    }

    /// Adds the folders of the environment variable MODELICAPATH.
    pub fn add_modelicapath(&mut self) -> &mut Self {
        if let Some(path) = self.given.texts.world.variable("MODELICAPATH") {
            (self.inside().libraries).extend(std::env::split_paths(&path));
        }
        self
    }

    /// Makes sure that a library of this name and version can be found on MODELICAPATH.
    pub fn add_library(&mut self, name: &str, version: &str) -> Result<&mut Self, Error> {
        if self.given.libraries.is_empty() {
            self.add_modelicapath();
        }
        for dir in &self.given.libraries {
            for folder in [format!("{name} {version}"), name.to_owned()] {
                if self.is_file(&dir.join(&folder).join("package.mo"))
                    || self.is_file(&dir.join(format!("{folder}.mo")))
                {
                    return Ok(self);
                }
            }
        }
        Err(Error::Usage(format!(
            "library `{name}` {version} was not found: set MODELICAPATH to the folder that contains it"
        )))
    }

    pub(crate) fn world(&self) -> &Arc<dyn World> {
        &self.given.texts.world
    }

    pub(crate) fn files(&self) -> &Texts {
        &self.given.texts
    }

    /// The folders that are searched for libraries, in their order.
    pub fn library_paths(&self) -> &[PathBuf] {
        &self.given.libraries
    }

    pub(crate) fn given_texts(&self) -> impl Iterator<Item = &Given> {
        self.given.texts.given()
    }

    pub(crate) fn bound_inputs(&self) -> &BoundInputs {
        &self.given.inputs
    }

    pub(crate) fn inlined(&self) -> &[(String, InlineMethod)] {
        &self.given.inlined
    }

    /// The same permissions, with texts, libraries and files of a compiled model in place of its own.
    pub(crate) fn on_carried(
        &self,
        world: Arc<dyn World>,
        texts: Vec<Given>,
        libraries: Vec<PathBuf>,
        inlined: Vec<(String, InlineMethod)>,
        inputs: BoundInputs,
    ) -> Session {
        let mut all = Texts::new(world);
        for given in texts {
            all.set(given);
        }
        Session {
            given: Arc::new(Inside {
                texts: all,
                libraries,
                inlined,
                inputs,
                ..(*self.given).clone()
            }),
        }
    }

    /// The bytes of a file of the session's world.
    pub fn read_file(&self, path: &str) -> Result<Vec<u8>, String> {
        self.given.texts.world.read(path)
    }

    /// The model that [`Model::to_bytes`](crate::Model::to_bytes) has written, on the files and with the permissions of this session.
    pub fn read_model(&self, bytes: &[u8]) -> Result<crate::Model, Error> {
        crate::Model::read(self, bytes)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.given.texts.is_file(&path.to_string_lossy())
    }

    /// Gives a text. At the path of a file of a library it takes the place of the file, or adds it to the package around it; anywhere else its classes are
    /// top-level classes, and the path is a name for messages.
    pub fn set_text(&mut self, path: impl AsRef<Path>, text: impl Into<String>) -> &mut Self {
        self.inside().texts.set(Given {
            name: path.as_ref().display().to_string(),
            text: text.into().into(),
            is_top_level: false,
        });
        self
    }

    /// Takes a text away again. A file of the same path is what it was before. True if there was such a text.
    pub fn remove(&mut self, path: impl AsRef<Path>) -> bool {
        (self.inside().texts).remove(&path.as_ref().display().to_string())
    }

    /// The texts that were given, with their paths, in the order in which they were first given.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        (self.given.texts.given()).map(|given| (given.name.as_str(), &*given.text))
    }

    /// Reads a file whose classes become top-level classes; returns the name of the last of them.
    pub fn load_file(&mut self, path: impl AsRef<Path>) -> Result<String, Error> {
        let name = path.as_ref().display().to_string();
        let model_error = |diagnostic| {
            Error::Model(Diagnostics {
                list: vec![diagnostic],
                sources: Arc::default(),
            })
        };
        let bytes = self.given.texts.world.read(&name).map_err(|why| {
            model_error(
                Diagnostic::placeless("file-not-found", format!("cannot read `{name}`: {why}"))
                    .help("check the path; the name of a class of a library is written with dots and needs no file"),
            )
        })?;
        let text = saltus_syntax::source::decode(&name, bytes).map_err(|d| model_error(*d))?;
        self.inside().texts.set(Given {
            name: name.clone(),
            text: text.into(),
            is_top_level: true,
        });
        let parsed = self
            .given
            .texts
            .parsed(&name)
            .map_err(|d| model_error(*d))?;
        if let Some(class) = parsed.last_class() {
            return Ok(class);
        }
        self.inside().texts.remove(&name);
        let mut list = parsed.diagnostics.clone();
        if list.is_empty() {
            list.push(
                Diagnostic::placeless("unknown-class", format!("`{name}` contains no class"))
                    .help("write a model into it"),
            );
        }
        let mut sources = SourceMap::default();
        sources.insert(parsed.file, parsed.source.clone());
        Err(Error::Model(Diagnostics {
            list,
            sources: Arc::new(sources),
        }))
    }

    /// Writes the formula of an integrator into the equations, in place of the integrator of a state (inline integration): `state` is its name, or `*`
    /// for all; `method` is `backward-euler`, `trapezoidal`, `radau3` or `radau5`. The step is set on the [`Experiment`].
    pub fn inline(&mut self, state: impl Into<String>, method: &str) -> Result<&mut Self, Error> {
        let Some(known) = InlineMethod::from_name(method) else {
            let names: Vec<&str> = InlineMethod::NAMES.iter().map(|n| n.0).collect();
            return Err(Error::Usage(format!(
                "`{method}` cannot be inlined; known are {}",
                names.join(", ")
            )));
        };
        self.inside().inlined.push((state.into(), known));
        Ok(self)
    }

    /// Notes in the flat model what is to be inlined.
    fn request_inline(&self, model: &mut FlatModel) -> Result<(), Error> {
        for (state, method) in &self.given.inlined {
            if state == "*" {
                model.experiment.inline = Some(*method);
                for (_, variable) in model.variables.iter_mut() {
                    variable.inline = None;
                }
                continue;
            }
            let found = model
                .variables
                .iter_mut()
                .find(|v| v.1.name.as_str() == state);
            let Some((_, variable)) = found else {
                return Err(Error::Usage(format!(
                    "the model has no variable `{state}` to be inlined"
                )));
            };
            variable.inline = Some(Inline {
                method: *method,
                named: true,
            });
        }
        Ok(())
    }

    /// Called when a stage is finished, with its seconds.
    pub fn on_stage(&mut self, observer: impl Fn(Stage, f64) + Send + Sync + 'static) -> &mut Self {
        self.inside().observer = Some(Arc::new(observer));
        self
    }

    pub(crate) fn report(&self, stage: Stage, seconds: f64) {
        if let Some(observer) = &self.given.observer {
            observer(stage, seconds);
        }
    }

    /// The syntax tree of a class of the added sources, or of a library, printed.
    pub fn print_ast(&self, class: &str) -> Result<String, Error> {
        let arena = FileArena::new();
        let clock = || 0.0;
        let mut tree = self.tree(&arena, &clock);
        let mut node = saltus_flatten::tree::ROOT;
        for part in class.split('.') {
            match tree.child(node, Name::new(part)) {
                Some(child) => node = child,
                None => return Err(Error::Usage(format!("there is no class `{class}`"))),
            }
        }
        let def = tree.def(node);
        let failed = tree.diagnostics.iter().any(Diagnostic::is_error);
        match def {
            Some(def) if !failed => Ok(saltus_syntax::print::print_class(def)),
            _ => Err(Error::Model(Diagnostics {
                list: std::mem::take(&mut tree.diagnostics),
                sources: Arc::new(tree.sources),
            })),
        }
    }

    /// The flat model of a class, printed.
    pub fn print_flat(&self, class: &str) -> Result<String, Error> {
        self.flatten(class)
            .map(|flat| saltus_ir::print::print_flat(&flat.model))
    }

    /// The structured system of a class, printed.
    pub fn print_structure(&self, class: &str) -> Result<String, Error> {
        self.structure(class).map(|(system, warnings, _)| {
            let place = |span: Span| place_text(&warnings.sources, span);
            saltus_structure::print_structure_at(&system, &place)
        })
    }

    /// The structured system of a class as plain data.
    pub fn structure_view(&self, class: &str) -> Result<StructureView, Error> {
        self.structure(class)
            .map(|(system, warnings, _)| structure_view(&system, &warnings.sources))
    }

    /// Incidence and digraph of the sorted equations of a class, to be drawn.
    pub fn structure_picture(&self, class: &str) -> Result<StructurePicture, Error> {
        self.structure(class)
            .map(|(system, warnings, _)| structure_picture(&system, &warnings.sources))
    }

    /// The sparsity of the Jacobians of a class.
    pub fn jacobian_view(&self, class: &str) -> Result<JacobianView, Error> {
        let compiled = self.compile(class)?;
        let instance = compiled.compiled().instantiate();
        let system = instance.system(&Values::default());
        Ok(JacobianView::new(compiled.info(), system))
    }
}
