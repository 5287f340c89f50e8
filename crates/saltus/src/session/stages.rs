//! The stages from a class name to a compiled model: class tree, flat model, structured system, code.

use super::{Flat, Session, Stage, StageTimes};
use crate::error::{Diagnostics, Error};
use crate::model::{Base, Model};
use saltus_control::{Control, Stage as Underway, Stop};
use saltus_flatten::{ClassTree, FileArena, Files, FlattenOptions};
use saltus_ir::Value;
use saltus_structure::StructuredSystem;
use saltus_syntax::{Diagnostic, Name};
use std::sync::{Arc, OnceLock};

/// Values that parameters have instead of those in the text, by component path.
pub(crate) type Overrides = Vec<(Name, Value)>;

impl Session {
    pub(crate) fn tree<'t>(
        &'t self,
        arena: &'t FileArena,
        clock: &'t dyn Fn() -> f64,
    ) -> ClassTree<'t> {
        let libraries: Vec<String> = (self.given.libraries.iter())
            .map(|library| library.display().to_string())
            .collect();
        let mut tree = ClassTree::new(arena, &self.given.texts, libraries.clone(), clock);
        for given in self.given.texts.given() {
            if self.given.texts.is_in_library(given, &libraries) {
                continue;
            }
            let start = clock();
            match self.given.texts.parsed(&given.name) {
                Ok(parsed) => {
                    tree.seconds_parsing += clock() - start;
                    tree.add_parsed(&parsed);
                }
                Err(diagnostic) => tree.diagnostics.push(*diagnostic),
            }
        }
        tree
    }

    /// Seconds since an instant of the world's clock.
    fn seconds_since(&self, start: f64) -> f64 {
        self.given.texts.world.seconds() - start
    }

    /// As [`Session::compile`]; the control ends it from outside, within a tenth of a second in every stage, and is told how far it has come. What is
    /// ended is the error [`Error::Stopped`].
    ///
    /// ```
    /// let mut session = saltus::Session::new();
    /// session.set_text("M.mo", "model M Real x = time; end M;");
    /// let control = saltus::Control::new();
    /// control.limit(10.0);
    /// assert!(session.compile_under(&control, "M").is_ok());
    /// control.cancel();
    /// let ended = session.compile_under(&control, "M").unwrap_err();
    /// assert!(ended.to_string().contains("error[cancelled]"));
    /// # Ok::<(), saltus::Error>(())
    /// ```
    pub fn compile_under(&self, control: &Control, class: &str) -> Result<Model, Error> {
        under(control, || self.compile(class))
    }

    /// Any work on this session that is ended from outside in the same way: `session.work_under(&control, |session| session.structure_view(class))`.
    pub fn work_under<T>(
        &self,
        control: &Control,
        work: impl FnOnce(&Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        under(control, || work(self))
    }

    /// As [`Session::check`], under a control.
    pub fn check_under(&self, control: &Control, class: &str) -> Diagnostics {
        match under(control, || Ok(self.check(class))) {
            Ok(found) => found,
            Err(error) => diagnostics_of(error),
        }
    }

    /// All that is found wrong or worth a warning in a class, by every stage that can be reached, without running it.
    pub fn check(&self, class: &str) -> Diagnostics {
        match self.compile(class) {
            Ok(model) => model.warnings().clone(),
            Err(error) => diagnostics_of(error),
        }
    }

    /// Parses what is needed and flattens a class.
    pub fn flatten(&self, class: &str) -> Result<Flat, Error> {
        self.flatten_with(class, &Overrides::new())
    }

    fn flatten_with(&self, class: &str, overrides: &Overrides) -> Result<Flat, Error> {
        match self.class_with_inputs(class) {
            None => self.flatten_as(class, None, overrides),
            Some((session, with_inputs)) => {
                let mut flat = session.flatten_as(with_inputs, Some(class), overrides)?;
                self.release_inputs(&mut flat.model)?;
                Ok(flat)
            }
        }
    }

    /// `stands_for`: the class whose name and experiment the model has.
    fn flatten_as(
        &self,
        class: &str,
        stands_for: Option<&str>,
        overrides: &Overrides,
    ) -> Result<Flat, Error> {
        let arena = FileArena::new();
        let start = self.given.texts.world.seconds();
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
            overrides: overrides.clone(),
            files: Some(self.compile_host()),
            stands_for: stands_for.map(Name::new),
        };
        saltus_control::current().report(Underway::Flatten, None);
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

    /// Equations whose units do not agree: warnings `unit-mismatch`, which compiling gives, too.
    pub fn check_units(&self, class: &str) -> Result<Diagnostics, Error> {
        let Flat {
            model,
            mut warnings,
            ..
        } = self.flatten(class)?;
        warnings.list = saltus_ir::units::check(&model, &warnings.sources);
        Ok(warnings)
    }

    /// The structured system of a class.
    pub fn structure(
        &self,
        class: &str,
    ) -> Result<(StructuredSystem, Diagnostics, StageTimes), Error> {
        self.structure_with(class, &Overrides::new())
    }

    fn structure_with(
        &self,
        class: &str,
        overrides: &Overrides,
    ) -> Result<(StructuredSystem, Diagnostics, StageTimes), Error> {
        let Flat {
            mut model,
            mut warnings,
            mut times,
        } = self.flatten_with(class, overrides)?;
        let found = saltus_ir::units::check(&model, &warnings.sources);
        warnings.list.extend(found);
        self.request_inline(&mut model)?;
        let start = self.given.texts.world.seconds();
        let sources = warnings.sources.clone();
        saltus_control::current().report(Underway::Structure, None);
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
    pub fn compile(&self, class: &str) -> Result<Model, Error> {
        let base = self.compile_with(class, &Overrides::new())?;
        Ok(Model::new(self.clone(), class, base))
    }

    /// The same with values for parameters that the structure depends on.
    pub(crate) fn compile_with(&self, class: &str, overrides: &Overrides) -> Result<Base, Error> {
        let (system, warnings, mut times) = self.structure_with(class, overrides)?;
        let start = self.given.texts.world.seconds();
        let sources = warnings.sources.clone();
        let blocks = block_counts(&system);
        let computed = computed_parameters(&system);
        let around = self.surroundings(&system, &sources);
        saltus_control::current().report(Underway::Code, None);
        let compiled = saltus_codegen::compile(system, &sources)
            .map_err(|list| {
                Error::Model(Diagnostics {
                    list,
                    sources: sources.clone(),
                })
            })?
            .with_host(self.run_host(&around));
        times.codegen = self.seconds_since(start);
        self.report(Stage::Codegen, times.codegen);
        Ok(Base {
            compiled,
            sources,
            warnings,
            times,
            blocks,
            computed,
            around,
            names: OnceLock::new(),
            fingerprint: OnceLock::new(),
        })
    }
}

pub(crate) fn diagnostics_of(error: Error) -> Diagnostics {
    match error {
        Error::Model(found) | Error::Run(found, _) | Error::Stopped(found) => found,
        Error::Usage(message) => Diagnostics {
            list: vec![Diagnostic::placeless("usage", message)],
            sources: Arc::default(),
        },
    }
}

/// Does work that the control may end.
pub(crate) fn under<T>(
    control: &Control,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    saltus_control::within(control, work).unwrap_or_else(|stop| {
        let diagnostic = match stop {
            Stop::Cancelled => {
                Diagnostic::placeless("cancelled", "the compilation was interrupted")
            }
            Stop::Deadline { seconds } => Diagnostic::placeless(
                "wall-clock",
                format!("compiling took more than the {seconds} s that it was given"),
            ),
        };
        Err(Error::Stopped(Diagnostics {
            list: vec![diagnostic],
            sources: Arc::default(),
        }))
    })
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
