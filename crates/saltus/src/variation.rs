//! Variables whose whole variation over a run is near the accuracy that was asked for.
//!
//! Comes in: the rows of a run. Goes out: the variables whose range is not zero, but less than 500 accuracies: such
//! a curve is not known to the 0.2 % of its range by which curves are compared, and with less than ten its shape may be an artefact of step sizes. The accuracy of a state is its weight in the integrator, rtol·|x| + atol·nominal with the
//! largest |x| of the run; that of what is computed from states its relative part alone, because a small quantity that is computed
//! from large ones has their digits.

use saltus_model::{ModelInfo, SlotRole, VariableKind};
use saltus_results::Unresolved;
use saltus_solve::Tolerances;
use saltus_solve::scale::{CONSTANT_REL, nominal_magnitude};
use saltus_syntax::{Diagnostic, Severity};

/// A range of fewer accuracies than this is not known to the share of its range by which curves are compared
/// ([`saltus_results::TubeOptions`]: 0.002).
const ACCURACIES_MIN: f64 = 500.0;
/// What is computed and never leaves this share of its nominal value is zero, but for the round-off of what cancels in it.
const ROUND_OFF_REL: f64 = 1e-11;
/// Variables that the message names.
const SHOWN_MAX: usize = 3;

/// Smallest and largest value of each slot so far.
pub(crate) struct Variation {
    tolerances: Tolerances,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Variation {
    pub(crate) fn new(tolerance: f64, n_slots: usize) -> Variation {
        Variation {
            tolerances: Tolerances::new(tolerance),
            low: vec![f64::INFINITY; n_slots],
            high: vec![f64::NEG_INFINITY; n_slots],
        }
    }

    pub(crate) fn row(&mut self, values: &[f64]) {
        for ((low, high), &v) in self.low.iter_mut().zip(&mut self.high).zip(values) {
            *low = low.min(v);
            *high = high.max(v);
        }
    }

    /// The variables that are not resolved, in the order of the model. Without states nothing is integrated.
    pub(crate) fn unresolved(&self, info: &ModelInfo) -> Vec<Unresolved> {
        if !(info.slots.iter()).any(|slot| slot.role == SlotRole::State) {
            return Vec::new();
        }
        (info.variables.iter())
            .filter(|v| v.kind == VariableKind::Continuous && !v.name.starts_with('$'))
            .filter_map(|variable| {
                let (low, high) = (
                    self.low[variable.slot.index()],
                    self.high[variable.slot.index()],
                );
                let slot = &info.slots[variable.slot.index()];
                let magnitude = low.abs().max(high.abs());
                let nominal = nominal_magnitude(slot.nominal);
                let is_computed = slot.role != SlotRole::State;
                if is_computed && magnitude <= ROUND_OFF_REL * nominal {
                    return None;
                }
                let (accuracy, size) = match slot.role {
                    SlotRole::State => (
                        self.tolerances.weight(magnitude, nominal),
                        magnitude + nominal,
                    ),
                    SlotRole::Derivative | SlotRole::Algebraic => {
                        (self.tolerances.rel * magnitude, magnitude)
                    }
                    _ => return None,
                };
                let range = high - low;
                let varies = range > CONSTANT_REL * size;
                let middle = 0.5 * (low + high);
                (varies && range < ACCURACIES_MIN * accuracy).then(|| Unresolved {
                    variable: variable.name.clone(),
                    range,
                    around: if variable.negated { -middle } else { middle },
                    accuracy,
                })
            })
            .collect()
    }
}

/// The message about them.
pub(crate) fn unresolved_message(unresolved: &[Unresolved]) -> Option<Diagnostic> {
    let share = |u: &Unresolved| u.accuracy / u.range;
    let worst = (unresolved.iter()).max_by(|a, b| share(a).total_cmp(&share(b)))?;
    let variables = match unresolved.len() {
        1 => "1 variable varies".to_owned(),
        n => format!("{n} variables vary"),
    };
    let known = match share(worst) {
        share if share < 1.0 => format!("{:.2} % of its range", 100.0 * share),
        _ => "more than its range".to_owned(),
    };
    let mut d = Diagnostic::placeless(
        "unresolved-variation",
        format!(
            "{variables} by less than {ACCURACIES_MIN} times the accuracy asked for: `{}` has a range of {:.1e} around {} and is known to {:.1e}, {known}",
            worst.variable, worst.range, worst.around as f32, worst.accuracy
        ),
    );
    d.severity = Severity::Warning;
    if unresolved.len() > 1 {
        let others = unresolved.iter().filter(|u| u.variable != worst.variable);
        let names: Vec<String> = (others.take(SHOWN_MAX))
            .map(|u| format!("`{}`", u.variable))
            .collect();
        let more = match unresolved.len().saturating_sub(1 + SHOWN_MAX) {
            0 => String::new(),
            k => format!(" and {k} more"),
        };
        d = d.note(format!(
            "the others: {}{more}; `--stats` lists all",
            names.join(", ")
        ));
    }
    Some(d.help("use a smaller --tolerance if it matters"))
}
