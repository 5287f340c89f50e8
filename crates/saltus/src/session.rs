//! Sources and libraries, and the way from a class name to a compiled model.

use crate::disk::{CompileFiles, RunFiles};
use crate::error::{Diagnostics, Error};
use crate::permissions::{Permissions, declared_foreign};
use crate::run::Experiment;
use crate::structure_view::{JacobianView, StructureView, structure_picture, structure_view};
use crate::texts::{Given, Texts};
use crate::world::{Disk, World};
use crate::world_files::WorldFiles;
use saltus_codegen::{CompiledModel, Execution};
use saltus_flatten::{ClassTree, FileArena, Files, FlattenOptions};
use saltus_ir::external::Host;
use saltus_ir::flat::{Inline, InlineMethod};
use saltus_ir::func::{ForeignCode, FunctionBody};
use saltus_ir::{FlatModel, Value};
use saltus_model::{Instance, Model, ModelInfo, Values, VariableInfo, VariableKind};
use saltus_plot::StructurePicture;
use saltus_structure::StructuredSystem;
use saltus_syntax::{Diagnostic, Name, SourceMap, Span};
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

type Observer = Box<dyn Fn(Stage, f64) + Send + Sync>;

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
pub struct Session {
    texts: Texts,
    libraries: Vec<PathBuf>,
    overrides: Vec<(String, f64)>,
    inlined: Vec<(String, InlineMethod)>,
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
    shared_between_threads::<Compiled>();
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
            texts: Texts::new(Arc::new(world)),
            libraries: Vec::new(),
            overrides: Vec::new(),
            inlined: Vec::new(),
            observer: None,
            permissions: Permissions::default(),
        }
    }

    /// Adds a folder that contains libraries (searched in the order added). The folder of a library itself stands for the one around it.
    pub fn add_library_path(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        let mut dir = dir.into();
        if self.is_file(&dir.join("package.mo")) {
            dir.push("..");
        }
        self.libraries.push(dir);
        self
    }

    /// Lets functions of the model change files in a folder, not only in the working folder.
    pub fn allow_write(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        self.permissions.write.push(dir.into());
        self
    }

    /// Lets functions of the model run commands of the operating system.
    pub fn allow_system(&mut self) -> &mut Self {
        self.permissions.system = true;
        self
    }

    /// Lets models call C functions of every annotation. Such code can do whatever the process can do.
    pub fn allow_foreign(&mut self) -> &mut Self {
        self.permissions.foreign.all = true;
        self
    }

    /// Lets models call C functions that are declared in files of this folder.
    pub fn allow_foreign_in(&mut self, dir: impl Into<PathBuf>) -> &mut Self {
        self.permissions.foreign.folders.push(dir.into());
        self
    }

    /// Adds the folders of the environment variable MODELICAPATH.
    pub fn add_modelicapath(&mut self) -> &mut Self {
        if let Some(path) = self.texts.world.variable("MODELICAPATH") {
            self.libraries.extend(std::env::split_paths(&path));
        }
        self
    }

    /// Makes sure that a library of this name and version can be found on MODELICAPATH.
    pub fn add_library(&mut self, name: &str, version: &str) -> Result<&mut Self, Error> {
        if self.libraries.is_empty() {
            self.add_modelicapath();
        }
        for dir in &self.libraries {
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

    fn is_file(&self, path: &Path) -> bool {
        self.texts.is_file(&path.to_string_lossy())
    }

    /// Gives a text. At the path of a file of a library it takes the place of the file, or adds it to the package around it; anywhere else its classes are
    /// top-level classes, and the path is a name for messages.
    pub fn set_text(&mut self, path: impl AsRef<Path>, text: impl Into<String>) -> &mut Self {
        self.texts.set(Given {
            name: path.as_ref().display().to_string(),
            text: text.into(),
            is_top_level: false,
        });
        self
    }

    /// Takes a text away again. A file of the same path is what it was before. True if there was such a text.
    pub fn remove(&mut self, path: impl AsRef<Path>) -> bool {
        self.texts.remove(&path.as_ref().display().to_string())
    }

    /// The texts that were given, with their paths, in the order in which they were first given.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        (self.texts.given()).map(|given| (given.name.as_str(), given.text.as_str()))
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
        let bytes = self.texts.world.read(&name).map_err(|why| {
            model_error(
                Diagnostic::placeless("file-not-found", format!("cannot read `{name}`: {why}"))
                    .help("check the path; the name of a class of a library is written with dots and needs no file"),
            )
        })?;
        let text = saltus_syntax::source::decode(&name, bytes).map_err(|d| model_error(*d))?;
        self.texts.set(Given {
            name: name.clone(),
            text,
            is_top_level: true,
        });
        let parsed = self.texts.parsed(&name).map_err(|d| model_error(*d))?;
        if let Some(class) = parsed.last_class() {
            return Ok(class);
        }
        self.texts.remove(&name);
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

    /// Values for parameters that the structure depends on, by component path; others are set on the [`Experiment`].
    pub fn set_structural(&mut self, path: impl Into<String>, value: f64) -> &mut Self {
        self.overrides.push((path.into(), value));
        self
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
        self.inlined.push((state.into(), known));
        Ok(self)
    }

    /// Notes in the flat model what is to be inlined.
    fn request_inline(&self, model: &mut FlatModel) -> Result<(), Error> {
        for (state, method) in &self.inlined {
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
        self.observer = Some(Box::new(observer));
        self
    }

    pub(crate) fn report(&self, stage: Stage, seconds: f64) {
        if let Some(observer) = &self.observer {
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
        let instance = compiled.model().instantiate();
        let system = instance.system(&Values::default());
        Ok(JacobianView::new(compiled.info(), system))
    }

    fn tree<'t>(&'t self, arena: &'t FileArena, clock: &'t dyn Fn() -> f64) -> ClassTree<'t> {
        let libraries: Vec<String> = (self.libraries.iter())
            .map(|library| library.display().to_string())
            .collect();
        let mut tree = ClassTree::new(arena, &self.texts, libraries.clone(), clock);
        for given in self.texts.given() {
            if self.texts.is_in_library(given, &libraries) {
                continue;
            }
            let start = clock();
            match self.texts.parsed(&given.name) {
                Ok(parsed) => {
                    tree.seconds_parsing += clock() - start;
                    tree.add_parsed(&parsed);
                }
                Err(diagnostic) => tree.diagnostics.push(*diagnostic),
            }
        }
        tree
    }

    /// Folders of the libraries from which texts were read.
    fn used_packages(&self, sources: &SourceMap) -> Vec<PathBuf> {
        let files = sources.files().map(|file| Path::new(&file.name));
        let is_library = |folder: &&Path| {
            let around = folder.parent();
            self.libraries
                .iter()
                .any(|library| Some(library.as_path()) == around)
        };
        files
            .filter(|file| file.file_name().is_some_and(|name| name == "package.mo"))
            .filter_map(Path::parent)
            .filter(is_library)
            .map(Path::to_path_buf)
            .collect()
    }

    /// Files of a world that is not the computer.
    fn world_files(&self, packages: Vec<PathBuf>) -> WorldFiles {
        WorldFiles {
            world: self.texts.world.clone(),
            libraries: self.libraries.clone(),
            packages,
        }
    }

    /// What functions may read while the model is compiled.
    fn compile_host(&self) -> Arc<dyn Host> {
        if self.texts.world.is_computer() {
            Arc::new(CompileFiles(self.run_files()))
        } else {
            Arc::new(self.world_files(Vec::new()))
        }
    }

    /// What functions of the model may reach when it runs.
    fn run_host(&self, system: &StructuredSystem, sources: &SourceMap) -> Arc<dyn Host> {
        let packages = self.used_packages(sources);
        if !self.texts.world.is_computer() {
            return Arc::new(self.world_files(packages));
        }
        Arc::new(RunFiles {
            packages,
            sources: files_of(sources),
            declared: declared_foreign(system, sources),
            brought: foreign_code(system),
            ..self.run_files()
        })
    }

    fn run_files(&self) -> RunFiles {
        RunFiles {
            world: self.texts.world.clone(),
            libraries: self.libraries.clone(),
            beside: self.folders_of_sources(),
            packages: Vec::new(),
            permissions: self.permissions.clone(),
            sources: Vec::new(),
            declared: Vec::new(),
            brought: Vec::new(),
            #[cfg(unix)]
            foreign: Default::default(),
        }
    }

    /// Seconds since an instant of the world's clock.
    fn seconds_since(&self, start: f64) -> f64 {
        self.texts.world.seconds() - start
    }

    /// All that is found wrong or worth a warning in a class, by every stage that can be reached, without running it.
    pub fn check(&self, class: &str) -> Diagnostics {
        match self.compile(class) {
            Ok(compiled) => compiled.warnings,
            Err(Error::Model(diagnostics) | Error::Run(diagnostics, _)) => diagnostics,
            Err(Error::Usage(message)) => Diagnostics {
                list: vec![Diagnostic::placeless("usage", message)],
                sources: Arc::default(),
            },
        }
    }

    /// Parses what is needed and flattens a class.
    pub fn flatten(&self, class: &str) -> Result<Flat, Error> {
        let arena = FileArena::new();
        let start = self.texts.world.seconds();
        let clock = move || self.seconds_since(start);
        let mut tree = self.tree(&arena, &clock);
        let failed = tree.diagnostics.iter().any(Diagnostic::is_error);
        if failed {
            let list = std::mem::take(&mut tree.diagnostics);
            return Err(Error::Model(Diagnostics {
                list,
                sources: Arc::new(tree.sources),
            }));
        }
        let options = FlattenOptions {
            overrides: self
                .overrides
                .iter()
                .map(|(p, v)| (Name::new(p), Value::Real(*v)))
                .collect(),
            files: Some(self.compile_host()),
        };
        let flattened = saltus_flatten::flatten(tree, class, options);
        let parse = flattened.tree.seconds_parsing;
        let times = StageTimes {
            parse,
            flatten: clock() - parse,
            n_files: flattened.tree.n_files,
            ..StageTimes::default()
        };
        let parse_failed = flattened
            .diagnostics
            .iter()
            .any(|d| d.code == "syntax-error");
        if !parse_failed {
            self.report(Stage::Parse, times.parse);
        }
        let diagnostics = Diagnostics {
            list: flattened.diagnostics,
            sources: Arc::new(flattened.tree.sources),
        };
        match flattened.model {
            Some(model) => {
                self.report(Stage::Flatten, times.flatten);
                Ok(Flat {
                    model,
                    warnings: diagnostics,
                    times,
                })
            }
            None => Err(Error::Model(diagnostics)),
        }
    }

    /// The structured system of a class.
    pub fn structure(
        &self,
        class: &str,
    ) -> Result<(StructuredSystem, Diagnostics, StageTimes), Error> {
        let Flat {
            mut model,
            mut warnings,
            mut times,
        } = self.flatten(class)?;
        self.request_inline(&mut model)?;
        let start = self.texts.world.seconds();
        let sources = warnings.sources.clone();
        let structured = saltus_structure::structure(model);
        times.structure = self.seconds_since(start);
        match structured {
            Ok(mut system) => {
                self.report(Stage::Balanced, 0.0);
                self.report(Stage::Structure, times.structure);
                warnings.list.append(&mut system.warnings);
                Ok((system, warnings, times))
            }
            Err(list) => {
                if !list.iter().any(|d| d.code == "unbalanced-model") {
                    self.report(Stage::Balanced, 0.0);
                }
                Err(Error::Model(Diagnostics { list, sources }))
            }
        }
    }

    /// Compiles a class to something that can be simulated.
    pub fn compile(&self, class: &str) -> Result<Compiled, Error> {
        let (system, warnings, mut times) = self.structure(class)?;
        let start = self.texts.world.seconds();
        let sources = warnings.sources.clone();
        let blocks = block_counts(&system);
        let structural = structural_parameters(&system);
        let computed = computed_parameters(&system);
        let host = self.run_host(&system, &sources);
        let model = saltus_codegen::compile(system, &sources)
            .map_err(|list| {
                Error::Model(Diagnostics {
                    list,
                    sources: sources.clone(),
                })
            })?
            .with_host(host);
        times.codegen = self.seconds_since(start);
        self.report(Stage::Codegen, times.codegen);
        Ok(Compiled {
            model,
            sources,
            warnings,
            times,
            blocks,
            structural,
            computed,
        })
    }

    /// Where the texts given by file lie; other texts have no place.
    fn folders_of_sources(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for given in self.texts.given() {
            let path = Path::new(&given.name);
            if path.is_file()
                && let Some(folder) = path.parent()
                && !folders.iter().any(|known| known == folder)
            {
                folders.push(folder.to_owned());
            }
        }
        folders
    }
}

/// Names of the files that texts were read from; texts that were given without a file have none.
fn files_of(sources: &SourceMap) -> Vec<PathBuf> {
    (sources.files())
        .map(|file| PathBuf::from(&file.name))
        .filter(|path| path.is_file())
        .collect()
}

fn block_counts(system: &StructuredSystem) -> saltus_results::Blocks {
    let mut blocks = saltus_results::Blocks::default();
    for step in &system.event {
        if let saltus_structure::Step::Block(block) = step {
            if block.linear {
                blocks.linear += 1;
            } else {
                blocks.nonlinear += 1;
            }
            blocks.largest = blocks.largest.max(block.unknowns.len() + block.inner.len());
        }
    }
    blocks
}

/// The C code that external functions of the model bring, but for those that are built in; each once, plain source before what needs libraries.
fn foreign_code(system: &StructuredSystem) -> Vec<ForeignCode> {
    let mut codes: Vec<ForeignCode> = Vec::new();
    for (_, function) in system.flat.ir.functions.iter() {
        let FunctionBody::External(external) = &function.body else {
            continue;
        };
        let is_own = !saltus_ir::external::is_of_standard_library(external.name.as_str());
        if is_own && !external.code.include.is_empty() && !codes.contains(&external.code) {
            codes.push(external.code.clone());
        }
    }
    codes.sort_by_key(|code| !code.libraries.is_empty());
    codes
}

/// Names of the parameters that the initial system computes.
fn computed_parameters(system: &StructuredSystem) -> Vec<String> {
    use saltus_ir::Id as _;
    let mut computed = Vec::new();
    for step in &system.initial {
        match step {
            saltus_structure::Step::Assign { assignment, .. } => computed.push(assignment.var),
            saltus_structure::Step::Block(block) => {
                computed.extend(&block.unknowns);
                computed.extend(block.inner.iter().map(|a| a.var));
            }
            saltus_structure::Step::Action { .. } => {}
        }
    }
    computed
        .into_iter()
        .filter(|v| system.roles[v.index()] == saltus_structure::Role::Parameter)
        .map(|v| system.flat.variables[v].name.as_str().to_owned())
        .collect()
}

fn structural_parameters(system: &StructuredSystem) -> Vec<(String, &'static str)> {
    system
        .flat
        .variables
        .iter()
        .filter_map(|(_, v)| v.structural.map(|why| (v.name.as_str().to_owned(), why)))
        .collect()
}

/// A compiled model.
pub struct Compiled {
    pub(crate) model: CompiledModel,
    pub(crate) sources: Arc<SourceMap>,
    /// Warnings of compilation.
    pub warnings: Diagnostics,
    pub times: StageTimes,
    pub(crate) blocks: saltus_results::Blocks,
    /// Parameters that were evaluated at compile time, and why.
    pub structural: Vec<(String, &'static str)>,
    /// Parameters that the initial system computes.
    pub(crate) computed: Vec<String>,
}

impl Compiled {
    pub fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    /// Interpreted, compiled to machine code, or compiled when it pays (the default). Results do not depend on it.
    pub fn set_execution(&mut self, execution: Execution) {
        self.model = self.model.clone().with_execution(execution);
    }

    /// What became of the functions that the model calls.
    pub(crate) fn functions(&self) -> saltus_results::Functions {
        let report = self.model.functions();
        saltus_results::Functions {
            coded: report.coded,
            evaluated: report.evaluated.iter().map(|(f, _)| f.clone()).collect(),
        }
    }

    /// The model behind the contract of `saltus-model`, for a simulator of one's own.
    pub fn model(&self) -> &CompiledModel {
        &self.model
    }

    /// Whether a value for `name` has to be given before compiling ([`Session::set_structural`]): the structure depends on it, or
    /// it is zero and may take a term away.
    pub fn must_be_compiled_with(&self, name: &str, value: f64) -> bool {
        let is_parameter =
            |v: &VariableInfo| v.name == name && v.kind == VariableKind::Parameter && v.settable;
        self.structural.iter().any(|(n, _)| n == name)
            || (value == 0.0 && self.info().variables.iter().any(is_parameter))
    }

    /// A variable of the model by its name.
    pub fn find_variable(&self, name: &str) -> Result<&VariableInfo, Error> {
        crate::run::find_variable(self.info(), name)
    }

    /// An experiment with the settings of the model's annotation.
    pub fn experiment(&self) -> Experiment<'_> {
        Experiment::new(self)
    }
}
