//! Slots, and what the model says about itself.
//!
//! One slot per representative variable, slot 0 is time; an alias shares the slot of its representative, with a sign.
//! A String variable's slot holds the number of its text in the instance's table of texts, an external object's slot the
//! object's number.

use crate::tape::Sign;
use rustc_hash::FxHashMap;
use saltus_ir::flat::{self, FlatModel, InlineMethod, Origin, Variability};
use saltus_ir::{Base, Expr, ExprId, Id, VarId};
use saltus_model::{
    Causality, EnumerationInfo, Experiment, InlineInfo, InlineSlots, ModelInfo, Settable,
    SignedSlot, Site, SiteInfo, Slot, SlotInfo, SlotRole, Start, ValueType, VariableInfo,
    VariableKind,
};
use saltus_structure::{Inlined, Role, StructuredSystem};
use saltus_syntax::{FileId, Name, SourceMap, Span};
use std::sync::Arc;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Layout {
    /// Indexed by `VarId`.
    places: Vec<(Slot, Sign)>,
    pub(crate) n_slots: usize,
    /// The representative variable of each slot but 0.
    pub(crate) representative: Vec<Option<VarId>>,
}

impl Layout {
    pub(crate) fn new(system: &StructuredSystem) -> Layout {
        let n = system.flat.variables.len();
        let mut places = vec![(Slot::TIME, Sign::Plain); n];
        let mut representative = vec![None];
        for (var, _) in system.flat.variables.iter() {
            if resolve(system, var).0 == var {
                places[var.index()].0 = Slot(representative.len() as u32);
                representative.push(Some(var));
            }
        }
        for (var, variable) in system.flat.variables.iter() {
            let (of, negated) = resolve(system, var);
            if of != var {
                let sign = match (negated, variable.base) {
                    (false, _) => Sign::Plain,
                    (true, Base::Boolean) => Sign::Complement,
                    (true, _) => Sign::Negated,
                };
                places[var.index()] = (places[of.index()].0, sign);
            }
        }
        Layout {
            places,
            n_slots: representative.len(),
            representative,
        }
    }

    /// Of a mode: variables of the common system keep their slots, others have those that the table has for their names.
    pub(crate) fn within(system: &StructuredSystem, table: &mut SlotTable) -> Layout {
        let common = table.common.clone();
        let mut places = common.places.clone();
        let mut of_slot = FxHashMap::default();
        for (var, variable) in system.flat.variables.iter().skip(common.places.len()) {
            let slot = table.slot_of(variable.name);
            places.push((slot, Sign::Plain));
            of_slot.insert(slot, var);
        }
        let n_slots = table.n_slots();
        let mut representative = common.representative.clone();
        representative
            .extend((common.n_slots..n_slots).map(|i| of_slot.get(&Slot(i as u32)).copied()));
        Layout {
            places,
            n_slots,
            representative,
        }
    }

    pub(crate) fn place(&self, var: VarId) -> (Slot, Sign) {
        self.places[var.index()]
    }

    pub(crate) fn slot(&self, var: VarId) -> Slot {
        self.places[var.index()].0
    }
}

/// The slots and places that the modes of a model have together. They only ever get more.
#[derive(Clone, Debug)]
pub(crate) struct SlotTable {
    common: Arc<Layout>,
    numbers: FxHashMap<Name, Slot>,
    /// Of the slots beside those of the common system, by number. Those that a mode has just added follow when its code is made.
    pub(crate) added: Vec<SlotInfo>,
    pub(crate) sites: Vec<SiteInfo>,
}

impl SlotTable {
    pub(crate) fn new(common: Arc<Layout>, sites: Vec<SiteInfo>) -> SlotTable {
        SlotTable {
            common,
            numbers: FxHashMap::default(),
            added: Vec::new(),
            sites,
        }
    }

    /// With slots that are known from elsewhere.
    pub(crate) fn with_added(mut self, added: Vec<SlotInfo>) -> SlotTable {
        for info in &added {
            self.slot_of(Name::new(&info.name));
        }
        self.added = added;
        self
    }

    pub(crate) fn n_common(&self) -> usize {
        self.common.n_slots
    }

    fn n_slots(&self) -> usize {
        self.common.n_slots + self.numbers.len()
    }

    fn slot_of(&mut self, name: Name) -> Slot {
        let next = Slot(self.n_slots() as u32);
        *self.numbers.entry(name).or_insert(next)
    }

    /// The code of a mode could not be made: what it has added is not there.
    pub(crate) fn forget(&mut self) {
        let known = self.common.n_slots + self.added.len();
        self.numbers.retain(|_, slot| slot.index() < known);
    }

    /// The code of a mode was made with what it has added.
    pub(crate) fn note(&mut self, info: &ModelInfo) {
        let known = self.common.n_slots + self.added.len();
        self.added.extend_from_slice(&info.slots[known..]);
        self.sites.clone_from(&info.sites);
    }
}

/// Where the slots of a system come from.
pub(crate) enum Slots<'a> {
    /// It has those that it needs.
    Own,
    /// It is a mode, or a way into one.
    Of(&'a mut SlotTable),
}

/// The representative of a variable and whether the sign changes on the way.
fn resolve(system: &StructuredSystem, var: VarId) -> (VarId, bool) {
    let (mut at, mut sign) = (var, false);
    // A chain visits each variable at most once.
    for _ in 0..system.roles.len() {
        match system.roles[at.index()] {
            Role::Alias { of, negated } if of != at => {
                at = of;
                sign ^= negated;
            }
            _ => break,
        }
    }
    (at, sign)
}

/// Places in the source, collected while code is made.
pub(crate) struct Sites<'a> {
    sources: &'a SourceMap,
    /// Names of the files, by number; of what has no place, the empty one at the end.
    files: Vec<Arc<str>>,
    pub(crate) infos: Vec<SiteInfo>,
    /// Places that other modes have, which keep their numbers.
    known: FxHashMap<SiteInfo, Site>,
}

impl<'a> Sites<'a> {
    pub(crate) fn new(sources: &'a SourceMap) -> Sites<'a> {
        Sites::extending(sources, &[])
    }

    /// For a further mode of a model with these places.
    pub(crate) fn extending(sources: &'a SourceMap, infos: &[SiteInfo]) -> Sites<'a> {
        let names = (0..sources.len()).map(|k| sources.file(FileId(k as u32)).name.as_str());
        Sites {
            sources,
            files: names.chain([""]).map(Arc::from).collect(),
            infos: infos.to_vec(),
            known: (infos.iter().cloned().zip(0..))
                .map(|(info, k)| (info, Site(k)))
                .collect(),
        }
    }

    pub(crate) fn sources(&self) -> &'a SourceMap {
        self.sources
    }

    pub(crate) fn add(&mut self, span: Span, text: String) -> Site {
        let known = (span.file.0 as usize).min(self.sources.len());
        let (line, column) = if known < self.sources.len() {
            let at = self.sources.line_col(span.file, span.start);
            (at.line, at.col)
        } else {
            (0, 0)
        };
        let info = SiteInfo {
            file: self.files[known].clone(),
            line,
            column,
            text,
        };
        if let Some(&site) = self.known.get(&info) {
            return site;
        }
        self.infos.push(info);
        Site(self.infos.len() as u32 - 1)
    }

    pub(crate) fn equation(
        &mut self,
        flat: &FlatModel,
        var: VarId,
        value: ExprId,
        origin: Origin,
    ) -> Site {
        let text = format!(
            "{} = {}",
            flat.variables[var].name.as_str(),
            expr_text(flat, value)
        );
        self.add(origin.span, text)
    }

    pub(crate) fn expression(&mut self, flat: &FlatModel, value: ExprId, origin: Origin) -> Site {
        self.add(origin.span, expr_text(flat, value))
    }
}

/// Longest text of an equation in a message.
const TEXT_MAX: usize = 240;

/// The expression in model terms, cut where it gets too long for a message.
pub(crate) fn expr_text(flat: &FlatModel, expr: ExprId) -> String {
    let mut out = crate::text::expr(flat, expr);
    if out.len() > TEXT_MAX {
        let cut = (0..=TEXT_MAX)
            .rev()
            .find(|&i| out.is_char_boundary(i))
            .unwrap_or(0);
        out.truncate(cut);
        out.push('…');
    }
    out
}

/// Whether the value at the start is what the declaration gives, a guess, or follows from something else.
fn start_of(flat: &FlatModel, v: &flat::Variable) -> Start {
    let is_fixed = |by_default: bool| match v.fixed {
        None => Some(by_default),
        Some(fixed) => flat.ir.as_boolean(fixed),
    };
    let is_parameter = v.variability <= Variability::Parameter;
    let given = match is_parameter {
        true => v.binding.or(v.start),
        false => v.start,
    };
    match (given, is_fixed(is_parameter)) {
        (Some(value), Some(true)) if stands_alone(flat, value) => Start::Exact,
        (Some(value), Some(false)) if !is_parameter && stands_alone(flat, value) => Start::Guess,
        _ => Start::Computed,
    }
}

/// The value depends on constants only. Functions may read files, and count as depending on more.
fn stands_alone(flat: &FlatModel, value: ExprId) -> bool {
    let is_constant = |var: VarId| flat.variables[var].variability == Variability::Constant;
    flat.ir
        .reachable(&[value])
        .into_iter()
        .all(|node| match flat.ir.expr(node) {
            Expr::Var(var) => is_constant(*var),
            Expr::VarArray(_) | Expr::Call { .. } | Expr::Time => false,
            _ => true,
        })
}

/// `others`: what is known of the slots of other modes, and the number of the first one.
pub(crate) fn model_info(
    system: &StructuredSystem,
    layout: &Layout,
    sites: &mut Sites,
    others: (usize, &[SlotInfo]),
) -> ModelInfo {
    let flat = &system.flat;
    let declared: Vec<Site> = flat
        .variables
        .iter()
        .map(|(_, v)| {
            // What stands for a relation is called by it.
            let text = match v.description.as_str() {
                text if is_internal(v.name.as_str()) && !text.is_empty() => text,
                _ => v.name.as_str(),
            };
            sites.add(v.span, text.to_string())
        })
        .collect();
    let mut slots = Vec::with_capacity(layout.n_slots);
    for (number, representative) in layout.representative.iter().enumerate() {
        slots.push(match representative {
            None if number > 0 => others.1[number - others.0].clone(),
            None => SlotInfo {
                name: "time".into(),
                role: SlotRole::Time,
                min: f64::NEG_INFINITY,
                max: f64::INFINITY,
                nominal: 1.0,
                site: sites.add(flat.span, "time".into()),
                equation: None,
            },
            Some(var) => SlotInfo {
                name: flat.variables[*var].name.as_str().to_string(),
                role: slot_role(system.roles[var.index()]),
                min: f64::NEG_INFINITY,
                max: f64::INFINITY,
                nominal: 1.0,
                site: declared[var.index()],
                equation: None,
            },
        });
    }
    let mut variables = Vec::with_capacity(flat.variables.len());
    for (var, v) in flat.variables.iter() {
        let Some(ty) = value_type(v.base) else {
            continue;
        };
        let (slot, sign) = layout.place(var);
        let name = v.name.as_str();
        let role = slots[slot.index()].role;
        let kind = match (v.variability, role) {
            (Variability::Constant, _) => VariableKind::Constant,
            (Variability::Parameter, _) => VariableKind::Parameter,
            (_, SlotRole::Constant) => VariableKind::Constant,
            (_, SlotRole::Parameter) => VariableKind::Parameter,
            (_, SlotRole::State | SlotRole::Derivative | SlotRole::Algebraic) => {
                VariableKind::Continuous
            }
            (_, SlotRole::Discrete | SlotRole::Relation) => VariableKind::Discrete,
            (Variability::Discrete, _) => VariableKind::Discrete,
            (Variability::Continuous, _) => VariableKind::Continuous,
        };
        let has_value = v.binding.is_some() || v.start.is_some();
        let settable = match (v.variability, v.structural) {
            (Variability::Constant, _) => Settable::No,
            _ if is_internal(name) => Settable::No,
            _ if v.is_final => Settable::Final,
            (Variability::Parameter, Some(why)) => Settable::Structural(why),
            (Variability::Parameter, None) => Settable::Value,
            _ if v.causality == flat::Causality::Input || v.start.is_some() => Settable::Value,
            _ => Settable::No,
        };
        variables.push(VariableInfo {
            name: name.to_string(),
            description: v.description.as_str().to_string(),
            unit: v.unit.map_or(String::new(), |u| u.as_str().to_string()),
            display_unit: v
                .display_unit
                .map_or(String::new(), |u| u.as_str().to_string()),
            ty,
            kind,
            slot,
            negated: sign != Sign::Plain,
            hidden: v.hide_result || is_internal(name),
            settable,
            causality: match v.causality {
                flat::Causality::Local => Causality::Local,
                flat::Causality::Input => Causality::Input,
                flat::Causality::Output => Causality::Output,
            },
            enumeration: match v.base {
                Base::Enum(id) => Some(id.0),
                _ => None,
            },
            has_value,
            start: start_of(flat, v),
            site: declared[var.index()],
        });
    }
    let e = &flat.experiment;
    let default = Experiment::default();
    let start_time = e.start_time.unwrap_or(default.start_time);
    ModelInfo {
        name: flat.name.as_str().to_string(),
        description: flat.description.clone(),
        slots,
        variables,
        sites: Vec::new(),
        enumerations: (flat.ir.enums.iter())
            .map(|(_, e)| EnumerationInfo {
                name: e.name.as_str().to_owned(),
                literals: e.literals.iter().map(|l| l.as_str().to_owned()).collect(),
            })
            .collect(),
        experiment: Experiment {
            start_time,
            stop_time: e.stop_time.unwrap_or(start_time + default.stop_time),
            tolerance: e.tolerance.unwrap_or(default.tolerance),
            interval: e.interval,
        },
        n_equations: system.n_equations,
        n_unknowns: system.n_unknowns,
        homotopy: system.homotopy.map(|v| layout.slot(v)),
        initial: system.initial_flag.map(|v| layout.slot(v)),
        terminal: system.terminal_flag.map(|v| layout.slot(v)),
        inline: system.inlined.as_ref().map(|i| inline_info(i, layout)),
    }
}

fn inline_info(inlined: &Inlined, layout: &Layout) -> InlineInfo {
    let signed = |var: VarId| {
        let (slot, sign) = layout.place(var);
        let negated = sign != Sign::Plain;
        SignedSlot { slot, negated }
    };
    let states = (inlined.states.iter()).map(|state| InlineSlots {
        value: signed(state.value),
        derivative: signed(state.derivative),
        value_old: layout.slot(state.value_old),
        memory: (state.memory).map(|(old, weight)| (layout.slot(old), layout.slot(weight))),
        order: match state.method {
            InlineMethod::BackwardEuler => 1,
            InlineMethod::Trapezoidal => 2,
            InlineMethod::Radau3 => 3,
            InlineMethod::Radau5 => 5,
        },
        method: state.method.as_str(),
    });
    InlineInfo {
        time_old: layout.slot(inlined.time_old),
        step_min: layout.slot(inlined.step_min),
        ahead: layout.slot(inlined.ahead),
        states: states.collect(),
        step: inlined.step,
    }
}

/// Names that structuring made begin with `$`, at the top or in a component; derivatives of such variables are meant too.
fn is_internal(name: &str) -> bool {
    let name = name.trim_start_matches("der(");
    name.starts_with('$') || name.contains(".$")
}

fn slot_role(role: Role) -> SlotRole {
    match role {
        Role::Constant => SlotRole::Constant,
        Role::Parameter => SlotRole::Parameter,
        Role::Input => SlotRole::Input,
        Role::State => SlotRole::State,
        Role::Derivative => SlotRole::Derivative,
        Role::Algebraic => SlotRole::Algebraic,
        Role::Discrete => SlotRole::Discrete,
        Role::Relation => SlotRole::Relation,
        Role::Auxiliary | Role::Alias { .. } => SlotRole::Auxiliary,
    }
}

fn value_type(base: Base) -> Option<ValueType> {
    Some(match base {
        Base::Real => ValueType::Real,
        Base::Integer => ValueType::Integer,
        Base::Boolean => ValueType::Boolean,
        Base::String => ValueType::String,
        Base::Enum(_) => ValueType::Enumeration,
        Base::Clock | Base::Record(_) | Base::Object(_) | Base::Function => return None,
    })
}
