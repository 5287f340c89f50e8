//! `modelDescription.xml` of FMI 2.0 and 3.0, as far as a run needs it.

use super::Kind;
use crate::FmiVersion;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Elements inside of elements; more is no description.
const DEPTH_MAX: usize = 64;
/// Elements of all arrays together.
const ELEMENTS_MAX: usize = 10_000_000;

#[derive(Clone, Debug)]
pub struct Description {
    pub version: FmiVersion,
    pub model_name: String,
    pub text: String,
    pub tool: String,
    pub token: String,
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub tolerance: Option<f64>,
    pub step_size: Option<f64>,
    pub variables: Vec<FmuVariable>,
    /// Of FMI 2.0; in 3.0 the instance says.
    pub n_event_indicators: usize,
    /// Indices of the variables that are derivatives of states, in the order of the states.
    pub derivatives: Vec<usize>,
    co_simulation: Option<Interface>,
    model_exchange: Option<Interface>,
}

#[derive(Clone, Debug)]
struct Interface {
    identifier: String,
    needs_tool: bool,
    needs_completed_step: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FmuType {
    Float64,
    Float32,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Boolean,
    Enumeration,
    String,
    Binary,
    Clock,
}

impl FmuType {
    fn from_name(name: &[u8]) -> Option<FmuType> {
        Some(match name {
            b"Real" | b"Float64" => FmuType::Float64,
            b"Float32" => FmuType::Float32,
            b"Int8" => FmuType::Int8,
            b"UInt8" => FmuType::UInt8,
            b"Int16" => FmuType::Int16,
            b"UInt16" => FmuType::UInt16,
            b"Integer" | b"Int32" => FmuType::Int32,
            b"UInt32" => FmuType::UInt32,
            b"Int64" => FmuType::Int64,
            b"UInt64" => FmuType::UInt64,
            b"Boolean" => FmuType::Boolean,
            b"Enumeration" => FmuType::Enumeration,
            b"String" => FmuType::String,
            b"Binary" => FmuType::Binary,
            b"Clock" => FmuType::Clock,
            _ => return None,
        })
    }

    /// Its values are numbers that a result can hold.
    pub fn is_number(self) -> bool {
        !matches!(self, FmuType::String | FmuType::Binary | FmuType::Clock)
    }

    pub fn is_real(self) -> bool {
        matches!(self, FmuType::Float64 | FmuType::Float32)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Causality {
    Parameter,
    StructuralParameter,
    CalculatedParameter,
    Input,
    Output,
    Local,
    Independent,
}

#[derive(Clone, Debug)]
pub struct FmuVariable {
    pub name: String,
    pub reference: u32,
    pub ty: FmuType,
    pub text: String,
    pub causality: Causality,
    pub is_continuous: bool,
    pub is_constant: bool,
    pub can_be_set: bool,
    pub unit: String,
    pub start: Option<String>,
    pub nominal: Option<f64>,
    /// Sizes of an array.
    pub dimensions: Vec<usize>,
    /// Other names.
    pub aliases: Vec<String>,
    /// In 2.0 the number of the state, counted from 1, in 3.0 its value reference.
    derivative: Option<u32>,
    /// Parameters that give sizes.
    sizes: Vec<Size>,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Number(usize),
    Parameter(u32),
}

impl FmuVariable {
    /// Number of its values.
    pub fn count(&self) -> usize {
        self.dimensions.iter().product()
    }

    /// The state whose derivative it is.
    pub fn state_of<'d>(&self, description: &'d Description) -> Option<&'d FmuVariable> {
        let state = self.derivative?;
        match description.version {
            FmiVersion::V2 => description.variables.get((state as usize).checked_sub(1)?),
            FmiVersion::V3 => description.variables.iter().find(|v| v.reference == state),
        }
    }
}

impl Description {
    pub fn identifier(&self, kind: Kind) -> Option<&str> {
        self.interface(kind).map(|i| i.identifier.as_str())
    }

    pub fn needs_tool(&self, kind: Kind) -> bool {
        self.interface(kind).is_some_and(|i| i.needs_tool)
    }

    pub fn needs_completed_step(&self) -> bool {
        (self.model_exchange.as_ref()).is_some_and(|i| i.needs_completed_step)
    }

    fn interface(&self, kind: Kind) -> Option<&Interface> {
        match kind {
            Kind::CoSimulation => self.co_simulation.as_ref(),
            Kind::ModelExchange => self.model_exchange.as_ref(),
        }
    }

    pub fn parse(text: &str) -> Result<Description, String> {
        let mut reader = Reader::from_str(text);
        let mut parser = Parser::default();
        let wrong = |e: &dyn std::fmt::Display| format!("modelDescription.xml cannot be read: {e}");
        loop {
            match reader.read_event().map_err(|e| wrong(&e))? {
                Event::Start(element) => {
                    parser.element(&element).map_err(|e| wrong(&e))?;
                    parser.path.push(element.name().as_ref().to_vec());
                    if parser.path.len() > DEPTH_MAX {
                        return Err(wrong(&"its elements are nested too deeply"));
                    }
                }
                Event::Empty(element) => {
                    parser.element(&element).map_err(|e| wrong(&e))?;
                }
                Event::End(_) => {
                    parser.path.pop();
                }
                Event::DocType(_) => {
                    return Err(wrong(&"it has a document type, which FMI does not know"));
                }
                Event::Eof => break,
                _ => {}
            }
        }
        parser.finish()
    }
}

#[derive(Default)]
struct Parser {
    path: Vec<Vec<u8>>,
    description: Option<Description>,
    /// Of FMI 2.0: variable numbers, counted from 1; of 3.0: value references.
    derivatives: Vec<u32>,
}

impl Parser {
    fn element(&mut self, element: &BytesStart<'_>) -> Result<(), String> {
        let name = element.name();
        let name = name.as_ref();
        let attributes = Attributes::of(element)?;
        if self.path.is_empty() {
            return self.root(name, &attributes);
        }
        let Some(description) = &mut self.description else {
            return Ok(());
        };
        let parent = self.path.last().map_or(&b""[..], Vec::as_slice);
        let depth = self.path.len();
        match (depth, parent, name) {
            (1, _, b"CoSimulation") => description.co_simulation = Some(attributes.interface()),
            (1, _, b"ModelExchange") => description.model_exchange = Some(attributes.interface()),
            (1, _, b"DefaultExperiment") => {
                description.start_time = attributes.number("startTime");
                description.stop_time = attributes.number("stopTime");
                description.tolerance = attributes.number("tolerance");
                description.step_size = attributes.number("stepSize");
            }
            (2, b"ModelVariables", b"ScalarVariable") => {
                (description.variables).push(attributes.variable(FmuType::Float64)?);
            }
            (2, b"ModelVariables", name) => {
                if let Some(ty) = FmuType::from_name(name) {
                    description.variables.push(attributes.variable(ty)?);
                }
            }
            (3, _, name) if is_variable(&self.path) => {
                let Some(last) = description.variables.last_mut() else {
                    return Ok(());
                };
                match (name, FmuType::from_name(name)) {
                    (_, Some(ty)) if description.version == FmiVersion::V2 => {
                        last.ty = ty;
                        last.take_type(&attributes);
                    }
                    (b"Dimension", _) => last.sizes.push(attributes.size()?),
                    (b"Start", _) => last.start = attributes.get("value").map(str::to_owned),
                    (b"Alias", _) => last
                        .aliases
                        .extend(attributes.get("name").map(str::to_owned)),
                    _ => {}
                }
            }
            (2, b"ModelStructure", b"ContinuousStateDerivative") => {
                self.derivatives.extend(attributes.whole("valueReference"));
            }
            (3, b"Derivatives", b"Unknown") => self.derivatives.extend(attributes.whole("index")),
            _ => {}
        }
        Ok(())
    }

    fn root(&mut self, name: &[u8], attributes: &Attributes) -> Result<(), String> {
        if name != b"fmiModelDescription" {
            return Err("its root is not fmiModelDescription".to_owned());
        }
        let version = attributes.get("fmiVersion").unwrap_or_default();
        let version = match version.split('.').next() {
            Some("2") => FmiVersion::V2,
            Some("3") => FmiVersion::V3,
            _ => return Err(format!("FMI {version:?} is not known; 2.0 and 3.0 are")),
        };
        let text = |name: &str| attributes.get(name).unwrap_or_default().to_owned();
        self.description = Some(Description {
            version,
            model_name: text("modelName"),
            text: text("description"),
            tool: text("generationTool"),
            token: match version {
                FmiVersion::V2 => text("guid"),
                FmiVersion::V3 => text("instantiationToken"),
            },
            start_time: None,
            stop_time: None,
            tolerance: None,
            step_size: None,
            variables: Vec::new(),
            n_event_indicators: attributes.whole("numberOfEventIndicators").unwrap_or(0) as usize,
            derivatives: Vec::new(),
            co_simulation: None,
            model_exchange: None,
        });
        Ok(())
    }

    fn finish(self) -> Result<Description, String> {
        let Some(mut description) = self.description else {
            return Err("modelDescription.xml is empty".to_owned());
        };
        let size_of = |reference: u32, variables: &[FmuVariable]| {
            let sizes = variables.iter().find(|v| v.reference == reference)?;
            sizes.start.as_ref()?.trim().parse::<usize>().ok()
        };
        let mut total = 0_usize;
        for k in 0..description.variables.len() {
            let variable = &description.variables[k];
            let sizes: Option<Vec<usize>> = (variable.sizes.iter())
                .map(|size| match size {
                    Size::Number(n) => Some(*n),
                    Size::Parameter(reference) => size_of(*reference, &description.variables),
                })
                .collect();
            let count = (sizes.as_ref()).and_then(|sizes| {
                sizes
                    .iter()
                    .try_fold(1_usize, |n, size| n.checked_mul(*size))
            });
            total = total.saturating_add(count.unwrap_or(usize::MAX));
            match sizes {
                Some(sizes) if total <= ELEMENTS_MAX => description.variables[k].dimensions = sizes,
                _ => {
                    return Err(format!(
                        "modelDescription.xml cannot be read: the size of `{}` is not known, or too large",
                        variable.name
                    ));
                }
            }
        }
        for derivative in self.derivatives {
            let index = match description.version {
                FmiVersion::V2 => (derivative as usize).checked_sub(1),
                FmiVersion::V3 => {
                    (description.variables.iter()).position(|v| v.reference == derivative)
                }
            };
            let known = index.filter(|index| *index < description.variables.len());
            description.derivatives.extend(known);
        }
        Ok(description)
    }
}

/// The path leads to a variable.
fn is_variable(path: &[Vec<u8>]) -> bool {
    path.len() == 3 && path[1] == b"ModelVariables"
}

struct Attributes(Vec<(String, String)>);

impl Attributes {
    fn of(element: &BytesStart<'_>) -> Result<Attributes, String> {
        let mut all = Vec::new();
        for attribute in element.attributes() {
            let attribute = attribute.map_err(|e| e.to_string())?;
            let name = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            let value = attribute.unescape_value().map_err(|e| e.to_string())?;
            all.push((name, value.into_owned()));
        }
        Ok(Attributes(all))
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.trim().parse().ok()
    }

    fn whole(&self, name: &str) -> Option<u32> {
        self.get(name)?.trim().parse().ok()
    }

    fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Some("true" | "1"))
    }

    fn interface(&self) -> Interface {
        let needs_step = match self.get("needsCompletedIntegratorStep") {
            Some(_) => self.flag("needsCompletedIntegratorStep"),
            None => !self.flag("completedIntegratorStepNotNeeded"),
        };
        Interface {
            identifier: self.get("modelIdentifier").unwrap_or_default().to_owned(),
            needs_tool: self.flag("needsExecutionTool"),
            needs_completed_step: needs_step,
        }
    }

    fn size(&self) -> Result<Size, String> {
        match (self.whole("start"), self.whole("valueReference")) {
            (Some(n), _) => Ok(Size::Number(n as usize)),
            (None, Some(reference)) => Ok(Size::Parameter(reference)),
            (None, None) => Err("a dimension has neither a size nor a parameter".to_owned()),
        }
    }

    fn variable(&self, ty: FmuType) -> Result<FmuVariable, String> {
        let name = self.get("name").ok_or("a variable has no name")?.to_owned();
        let reference = (self.whole("valueReference"))
            .ok_or_else(|| format!("the variable `{name}` has no value reference"))?;
        let causality = match self.get("causality") {
            Some("parameter") => Causality::Parameter,
            Some("structuralParameter") => Causality::StructuralParameter,
            Some("calculatedParameter") => Causality::CalculatedParameter,
            Some("input") => Causality::Input,
            Some("output") => Causality::Output,
            Some("independent") => Causality::Independent,
            None | Some("local") => Causality::Local,
            Some(other) => {
                return Err(format!(
                    "`{name}` has the causality {other:?}, which is not known"
                ));
            }
        };
        let variability = self.get("variability");
        let starts = matches!(self.get("initial"), Some("exact" | "approx"));
        let mut variable = FmuVariable {
            name,
            reference,
            ty,
            text: self.get("description").unwrap_or_default().to_owned(),
            causality,
            is_continuous: ty.is_real() && matches!(variability, None | Some("continuous")),
            is_constant: matches!(variability, Some("constant" | "fixed")),
            can_be_set: variability != Some("constant")
                && (starts
                    || matches!(
                        causality,
                        Causality::Parameter | Causality::Input | Causality::StructuralParameter
                    )),
            unit: String::new(),
            start: None,
            nominal: None,
            dimensions: Vec::new(),
            aliases: Vec::new(),
            derivative: None,
            sizes: Vec::new(),
        };
        variable.take_type(self);
        Ok(variable)
    }
}

impl FmuVariable {
    /// What in 2.0 is in an element of its own.
    fn take_type(&mut self, attributes: &Attributes) {
        self.is_continuous &= self.ty.is_real();
        self.unit = attributes.get("unit").unwrap_or_default().to_owned();
        self.start = attributes.get("start").map(str::to_owned);
        self.nominal = attributes.number("nominal");
        self.derivative = attributes.whole("derivative");
    }
}
