//! A compiled model: immutable, shared by threads, with the values that its parameters are set to.

mod settings;
mod stored;
mod text;
mod variables;

use crate::carried::Source;
use crate::error::{Diagnostics, Error};
use crate::experiment::Experiment;
use crate::session::{Overrides, Session, StageTimes, Surroundings};
use crate::simulator::Simulator;
use crate::value::Value;
use rustc_hash::FxHashMap;
use saltus_codegen::{CompiledModel, Execution};
use saltus_model::{Instance as _, Model as _, ModelInfo, Slot, Values, VariableInfo};
use saltus_syntax::SourceMap;
use settings::Settings;
pub(crate) use settings::{Constant, elements_of, scalars};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
pub use variables::Variable;
pub(crate) use variables::{signed, typed};

/// Compilations with other values of structural parameters that a model keeps.
const KEPT_MAX: usize = 64;

/// A compiled model. It does not change, can be shared by threads, and a clone costs nothing.
///
/// ```
/// let mut session = saltus::Session::new();
/// session.set_text("Cooling.mo", "
///   model Cooling
///     parameter Real k(min = 0, unit = \"1/s\") = 1 \"Rate\";
///     parameter Integer n = 2 \"Bodies\";
///     Real T[n](each start = 1, each fixed = true);
///   equation
///     der(T) = -k*T;
///   end Cooling;");
/// let model = session.compile("Cooling")?;
/// let warm = model.with([("k", 0.5.into()), ("n", 3.into()), ("T", [1.0, 2.0, 4.0].into())])?;
/// let run = warm.experiment().stop_time(2.0).simulate()?;
/// assert!((run.last("T[3]")? - 4.0 * (-1.0f64).exp()).abs() < 1e-4);
///
/// let parameters = model.parameters();
/// let named = |name: &str| parameters.iter().find(|p| p.name == name).expect("a parameter");
/// assert_eq!((named("k").unit.as_str(), named("k").min), ("1/s", 0.0));
/// assert!(named("n").structural.is_some(), "the number of equations depends on it");
/// assert!(model.with([("k", (-1.0).into())]).is_err(), "less than its `min`");
/// # Ok::<(), saltus::Error>(())
/// ```
#[derive(Clone)]
pub struct Model {
    inside: Arc<Inside>,
}

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Model>();
};

struct Inside {
    base: Arc<Base>,
    /// What other values of structural parameters are compiled from; `None`: the source is not known.
    origin: Option<Arc<Origin>>,
    settings: Settings,
    /// The code, with the texts of the settings.
    compiled: CompiledModel,
    bound: OnceLock<Option<Bound>>,
}

/// What compiling gives, for one choice of structural parameters.
pub(crate) struct Base {
    pub(crate) compiled: CompiledModel,
    pub(crate) sources: Arc<SourceMap>,
    pub(crate) warnings: Diagnostics,
    pub(crate) times: StageTimes,
    pub(crate) blocks: saltus_results::Blocks,
    /// Parameters that the initial system computes.
    pub(crate) computed: Vec<String>,
    pub(crate) around: Surroundings,
    /// Variables by name.
    pub(crate) names: OnceLock<FxHashMap<Box<str>, u32>>,
    pub(crate) fingerprint: OnceLock<u64>,
}

struct Origin {
    source: Source,
    class: String,
    /// Compiled with the values of the text; of a model that was read, when it is needed.
    first: OnceLock<Arc<Base>>,
    /// With others; those used last at the end.
    known: Mutex<Vec<(Overrides, Arc<Base>)>>,
}

impl Origin {
    fn new(source: Source, class: &str, first: Option<Arc<Base>>) -> Arc<Origin> {
        Arc::new(Origin {
            source,
            class: class.to_owned(),
            first: first.map_or_else(OnceLock::new, OnceLock::from),
            known: Mutex::default(),
        })
    }

    fn first(&self) -> Result<Arc<Base>, Error> {
        if let Some(first) = self.first.get() {
            return Ok(first.clone());
        }
        let base = (self.source.session()?).compile_with(&self.class, &Overrides::new())?;
        Ok(self.first.get_or_init(|| Arc::new(base)).clone())
    }

    fn compile(&self, overrides: Overrides) -> Result<Arc<Base>, Error> {
        if overrides.is_empty() {
            return self.first();
        }
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut known = known();
            if let Some(k) = known.iter().position(|(key, _)| *key == overrides) {
                known[k..].rotate_left(1);
                return Ok(known[known.len() - 1].1.clone());
            }
        }
        let base = Arc::new(
            self.source
                .session()?
                .compile_with(&self.class, &overrides)?,
        );
        let mut known = known();
        known.push((overrides, base.clone()));
        if known.len() > KEPT_MAX {
            known.remove(0);
        }
        Ok(base)
    }
}

/// Parameters, start values and attributes, evaluated.
struct Bound {
    values: Values,
    info: Arc<ModelInfo>,
    /// Texts of String variables, by slot.
    texts: FxHashMap<Slot, Arc<str>>,
}

impl Model {
    pub(crate) fn new(session: Session, class: &str, base: Base) -> Model {
        let base = Arc::new(base);
        let origin = Origin::new(Source::Session(session), class, Some(base.clone()));
        Model::assemble(
            base,
            Some(origin),
            Settings::default(),
            Execution::default(),
        )
    }

    fn assemble(
        base: Arc<Base>,
        origin: Option<Arc<Origin>>,
        settings: Settings,
        execution: Execution,
    ) -> Model {
        let compiled = base.compiled.clone().with_texts(settings.texts());
        let compiled = compiled.with_execution(execution);
        Model {
            inside: Arc::new(Inside {
                base,
                origin,
                settings,
                compiled,
                bound: OnceLock::new(),
            }),
        }
    }

    /// The model with other values: of parameters, and start values of variables. Whether a value is one of the run, or the model has to be compiled again
    /// because its structure depends on it, is decided here; compilations are kept. Later settings of the same variable take the place of earlier
    /// ones.
    ///
    /// A value must have the type of the variable (an Integer may be given for a Real) and the size of an array, and must be inside `min` and `max`. A literal of an enumeration is
    /// given by its name or number.
    pub fn with<N: AsRef<str>>(
        &self,
        settings: impl IntoIterator<Item = (N, Value)>,
    ) -> Result<Model, Error> {
        let mut wanted = self.inside.settings.clone();
        for (name, value) in settings {
            wanted.add(self.setting_name(name.as_ref())?, value);
        }
        let origin = self.inside.origin.as_ref();
        let (mut base, mut compiled) = match origin.and_then(|origin| origin.first.get()) {
            Some(first) => (first.clone(), Overrides::new()),
            None => (self.inside.base.clone(), wanted.compiled.clone()),
        };
        let needed = wanted.structural(&base, &compiled);
        if needed != compiled {
            let Some(origin) = origin else {
                return Err(self.no_source(&needed));
            };
            (base, compiled) = (origin.first()?, Overrides::new());
            // Each compilation may take more settings into the structure.
            for _ in 0..=wanted.len() {
                let needed = wanted.structural(&base, &compiled);
                if needed == compiled {
                    break;
                }
                base = origin.compile(needed.clone())?;
                compiled = needed;
            }
        }
        let numbers = wanted.locate(base.compiled.info(), compiled)?;
        let execution = self.inside.compiled.execution();
        let model = Model::assemble(base, self.inside.origin.clone(), wanted, execution);
        model.check_ranges(&numbers)?;
        Ok(model)
    }

    /// An experiment with the settings of the model's annotation.
    pub fn experiment(&self) -> Experiment<'_> {
        Experiment::new(self)
    }

    /// A run of the model, to be stepped as long as it is asked to.
    pub fn simulator(&self) -> Result<Simulator, Error> {
        self.experiment().without_end().simulator()
    }

    /// Names, places and counts of everything in the model.
    pub fn info(&self) -> &ModelInfo {
        self.inside.compiled.info()
    }

    /// The qualified name of its class.
    pub fn name(&self) -> &str {
        &self.info().name
    }

    /// Warnings of the compilation.
    pub fn warnings(&self) -> &Diagnostics {
        &self.inside.base.warnings
    }

    /// How long the stages of the compilation took.
    pub fn times(&self) -> StageTimes {
        self.inside.base.times
    }

    /// The same model, interpreted, compiled to machine code, or compiled when it pays (the default). Results do not depend on it.
    pub fn with_execution(&self, execution: Execution) -> Model {
        let Inside {
            base,
            origin,
            settings,
            ..
        } = &*self.inside;
        Model::assemble(base.clone(), origin.clone(), settings.clone(), execution)
    }

    /// The model behind the contract of `saltus-model`, for a simulator of one's own. It does not know the settings, but for their texts.
    pub fn compiled(&self) -> &CompiledModel {
        &self.inside.compiled
    }

    pub(crate) fn base(&self) -> &Base {
        &self.inside.base
    }

    /// Values of the settings, by slot.
    pub(crate) fn overrides(&self) -> Vec<(Slot, f64)> {
        self.inside.settings.overrides()
    }

    /// What became of the functions that the model calls.
    pub(crate) fn functions(&self) -> saltus_results::Functions {
        let report = self.inside.compiled.functions();
        saltus_results::Functions {
            coded: report.coded,
            evaluated: report.evaluated.iter().map(|(f, _)| f.clone()).collect(),
        }
    }

    /// A variable by its name.
    pub fn find_variable(&self, name: &str) -> Result<&VariableInfo, Error> {
        let variables = &self.info().variables;
        let index = || {
            variables
                .iter()
                .zip(0..)
                .map(|(v, k)| (v.name.as_str().into(), k))
        };
        let names = self.inside.base.names.get_or_init(|| index().collect());
        match names.get(name) {
            Some(&k) => Ok(&variables[k as usize]),
            None => crate::experiment::find_variable(self.info(), name),
        }
    }

    /// Every pattern (`*` and `?`) selects a variable, or an error that names those nearest to it.
    pub fn check_patterns(&self, patterns: &[String]) -> Result<(), Error> {
        crate::experiment::check_patterns(self.info(), patterns)
    }

    /// Tells the states of one model from those of another: slots by name and role.
    pub(crate) fn fingerprint(&self) -> u64 {
        let base = &self.inside.base;
        *base.fingerprint.get_or_init(|| {
            let info = base.compiled.info();
            let mut text = info.name.clone();
            for slot in &info.slots {
                text.push_str(&format!("\n{} {:?}", slot.name, slot.role));
            }
            crate::file::checksum(text.as_bytes())
        })
    }

    /// Parameters and start values with the settings; `None` if they cannot be evaluated, which a run then says.
    fn bound(&self) -> Option<&Bound> {
        let bind = || {
            let mut instance = self.inside.compiled.instantiate();
            let start = self.info().experiment.start_time;
            let values = instance.bind(start, &self.overrides()).ok()?;
            let texts = (self.info().variables.iter())
                .filter(|v| v.ty == saltus_model::ValueType::String)
                .map(|v| (v.slot, instance.text(values.get(v.slot))))
                .collect();
            Some(Bound {
                info: instance.shared_info(),
                values,
                texts,
            })
        };
        self.inside.bound.get_or_init(bind).as_ref()
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Model({}", self.name())?;
        for setting in self.inside.settings.lines() {
            write!(f, ", {setting}")?;
        }
        f.write_str(")")
    }
}
