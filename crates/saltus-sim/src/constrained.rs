//! A motion bound to surfaces: those along which it slides and those on which it rests.
//!
//! Comes in: what [`crate::sliding`] or [`crate::zeno`] decided at an event. Goes out: the motion as an initial value problem, all variables at a point, and
//! crossing functions in which those of the surfaces are quiet and what ends the binding has functions of its own:
//!
//! ```text
//! 0 … n-1      the functions of the model; of a surface: a constant on the side that its relation holds
//! n …          for each surface slid upon α and 1 - α, for each rest its push λ: below zero the motion leaves
//! ```

use crate::field::Field;
use crate::point::Mode;
use crate::sliding::{Setting, Sliding};
use crate::zeno::Rests;
use saltus_model::{CrossingClass, ScheduleKind, Slot};
use saltus_solve::{CrossingFunctions, Integrator, Isolation, SignRule, SolveError, Tolerances};

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Constrained {
    pub(crate) sliding: Option<Sliding>,
    pub(crate) rests: Rests,
    /// The states, by which a binding is known in another mode, and their nominal values.
    pub(crate) states: Vec<Slot>,
    pub(crate) nominal: Vec<f64>,
    pub(crate) longest: f64,
    /// Functions beside those of the model in the lists of the run.
    pub(crate) listed: usize,
}

/// What ends a binding.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Release {
    /// The motion leaves the surface of this number to this side.
    Surface { number: usize, side: f64 },
    /// The free motion points away.
    Rest { number: usize },
}

impl Constrained {
    pub(crate) fn is_empty(&self) -> bool {
        self.sliding.is_none() && self.rests.all.is_empty()
    }

    fn n_slid(&self) -> usize {
        self.sliding.as_ref().map_or(0, |s| s.surfaces().len())
    }

    /// Functions beside those of the model.
    pub(crate) fn n_more(&self) -> usize {
        2 * self.n_slid() + self.rests.all.len()
    }

    pub(crate) fn release(&self, more: usize) -> Release {
        let n = 2 * self.n_slid();
        if more < n {
            Release::Surface {
                number: more / 2,
                side: if more.is_multiple_of(2) { -1.0 } else { 1.0 },
            }
        } else {
            Release::Rest { number: more - n }
        }
    }

    /// The functions of the model that belong to a surface.
    pub(crate) fn bound(&self) -> impl Iterator<Item = usize> {
        let slid = self.sliding.iter().flat_map(|s| s.surfaces());
        slid.flat_map(|s| s.members().collect::<Vec<_>>())
            .chain(self.rests.functions())
    }

    /// All that these schedules compute at the point in the values.
    pub(crate) fn point(
        &mut self,
        field: &mut Field<'_>,
        kinds: &[ScheduleKind],
    ) -> Result<(), SolveError> {
        if !self.rests.all.is_empty() {
            return (self.rests).point(field, &mut self.sliding, kinds, &self.nominal);
        }
        match &mut self.sliding {
            Some(sliding) => sliding.point(field, kinds),
            None => field.run(kinds),
        }
    }

    /// Crossing functions from the values that [`Constrained::point`] left, and what ends the binding.
    pub(crate) fn functions(
        &self,
        field: &mut Field<'_>,
        rules: &[SignRule],
        truth: &[bool],
        out: &mut [f64],
    ) -> Result<(), SolveError> {
        let n = field.system.crossings().len();
        field.system.eval_crossings(field.values, &mut out[..n])?;
        self.quiet(rules, truth, out);
        self.releases(&mut out[n..]);
        Ok(())
    }

    fn releases(&self, out: &mut [f64]) {
        let weights = self.sliding.iter().flat_map(|s| s.weights());
        let pushes = self.rests.all.iter().map(|rest| rest.push());
        let all = weights.flat_map(|w| [*w, 1.0 - w]).chain(pushes);
        for (out, value) in out.iter_mut().zip(all) {
            *out = value;
        }
    }

    fn quiet(&self, rules: &[SignRule], truth: &[bool], out: &mut [f64]) {
        for i in self.bound() {
            out[i] = if rules[i].rising == truth[i] {
                1.0
            } else {
                -1.0
            };
        }
    }

    /// Brings surfaces that have drifted back to zero; true if states moved.
    pub(crate) fn correct(
        &mut self,
        field: &mut Field<'_>,
        rules: &[SignRule],
        tolerances: Tolerances,
    ) -> Result<bool, SolveError> {
        let mut moved = match &mut self.sliding {
            Some(sliding) => sliding.correct(field, tolerances)?,
            None => false,
        };
        if !self.rests.all.is_empty() {
            let setting = Setting {
                rules,
                nominal: &self.nominal,
                longest: self.longest,
            };
            moved |= (self.rests).correct(field, &mut self.sliding, setting, tolerances)?;
        }
        Ok(moved)
    }
}

/// The crossing functions of a bound motion along the interpolant of the last step.
pub(crate) struct ConstrainedCrossings<'a> {
    pub(crate) field: Field<'a>,
    pub(crate) constrained: &'a mut Constrained,
    pub(crate) integrator: &'a Integrator,
    pub(crate) x: &'a mut [f64],
    pub(crate) rules: &'a [SignRule],
    pub(crate) truth: &'a [bool],
}

impl CrossingFunctions for ConstrainedCrossings<'_> {
    fn n_functions(&self) -> usize {
        self.field.system.crossings().len() + self.constrained.n_more()
    }

    fn evaluate(&mut self, t: f64, out: &mut [f64]) -> Result<(), SolveError> {
        self.integrator.interpolate(t, self.x);
        self.field.go_to(t, self.x);
        let kinds = [ScheduleKind::Derivatives, ScheduleKind::Crossings];
        self.constrained.point(&mut self.field, &kinds)?;
        (self.constrained).functions(&mut self.field, self.rules, self.truth, out)?;
        match out.iter().position(|r| r.is_nan()) {
            None => Ok(()),
            Some(i) => {
                let crossings = self.field.system.crossings();
                let bound = || self.constrained.bound().next().unwrap_or(0);
                let i = if i < crossings.len() { i } else { bound() };
                Err(SolveError::NonFinite {
                    slot: crossings[i].relation,
                })
            }
        }
    }

    fn evaluate_affine(&mut self, t: f64, out: &mut [f64]) -> Result<(), SolveError> {
        self.integrator.interpolate(t, self.x);
        self.field.go_to(t, self.x);
        let n = self.field.system.crossings().len();
        (self.field).crossings(CrossingClass::Affine, &mut out[..n])?;
        self.constrained.quiet(self.rules, self.truth, out);
        Ok(())
    }

    fn is_affine(&self, index: usize) -> bool {
        let crossings = self.field.system.crossings();
        (crossings.get(index)).is_some_and(|c| c.class == CrossingClass::Affine)
    }

    fn degree(&self) -> usize {
        self.integrator.dense_degree()
    }
}

/// The rule of what ends a binding: it holds as long as the function is not below zero.
pub(crate) const STAYS: SignRule = SignRule {
    rising: true,
    closed: true,
};

/// The lists of a run with functions for what ends a binding behind those of the model.
pub(crate) fn with_more(
    n: usize,
    more: usize,
    mode: &mut Mode,
    isolation: &mut Isolation,
    truth: &mut Vec<bool>,
    lists: [&mut Vec<f64>; 2],
) {
    mode.rules.truncate(n);
    mode.rules.resize(n + more, STAYS);
    truth.truncate(n);
    truth.resize(n + more, true);
    for list in lists {
        list.truncate(n);
        list.resize(n + more, 0.0);
    }
    let mut new = Isolation::new(n + more)
        .with_method(isolation.method())
        .with_search(isolation.search());
    new.band[..n].copy_from_slice(&isolation.band[..n]);
    new.scale[..n].copy_from_slice(&isolation.scale[..n]);
    new.evaluations = isolation.evaluations;
    *isolation = new;
}
