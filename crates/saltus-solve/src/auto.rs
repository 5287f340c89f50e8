//! Which method `auto` uses next.
//!
//! Comes in: what each accepted step cost and whether a discontinuity came. Goes out: the method for the next step.
//!
//! ```text
//! explicit:  DOPRI5, or DOP853 at tight tolerances; stability limits the step (StiffnessDetector), or many trials fail → implicit
//!            after many steps without that → implicit for a window, to compare
//! implicit:  BDF for large sparse systems without many restarts, else Radau IIA
//!            over a window of steps an explicit method would have been cheaper → explicit
//!            large sparse systems: after many steps → the other one for a window, and the one that covers more time for its cost
//! ```
//! Both ways are decided by cost. An explicit step of size h at a problem with the Lipschitz bound L of the Jacobian costs
//! s·max(1, h L/β) evaluations (s evaluations a step, β the stability boundary); the implicit steps are counted. Each return to the
//! implicit method soon after it was left doubles the window, so that a problem on the edge does not go back and forth.
//!
//! ESDIRK is not chosen: where a restart comes after few steps it is no cheaper. Two synchronous machines behind bridges of ideal diodes at tolerance 1e-6 take
//! 2225 and 1470 trial steps with Radau IIA, 2026 and 1528 with ESDIRK, in 0.15 and 0.28 s against 0.17 and 0.36 s, with errors of 1e-5 of 34 rad.

use crate::integrator::SolverName;
use crate::scale::Tolerances;

/// At and below this tolerance DOP853 needs fewer evaluations than DOPRI5 (`cargo xtask work-precision`).
const TIGHT_TOLERANCE: f64 = 1e-9;
/// Implicit steps over which the cost of both ways is compared.
const WINDOW_MIN: u32 = 20;
const WINDOW_MAX: u32 = 10_000;
/// An explicit method must be cheaper by this factor: its estimate is of evaluations only, and a change restarts the control.
const GAIN: f64 = 0.7;
/// Part of the stability boundary at which explicit steps are taken.
const BOUNDARY_SHARE: f64 = 0.8;
/// Explicit steps over which failed trials are counted, and the part of the steps that may have needed several: where steps are limited by the
/// error, few fail. A stability boundary that bends with the state makes every other one fail, and those that pass are inside.
const TRIALS_WINDOW: u32 = 40;
const REPEATED_SHARE_MAX: f64 = 0.4;
/// A step with at least this many times the evaluations of one trial had several.
const REPEATED_RATIO: f64 = 1.75;
/// Explicit steps after which the implicit method is tried, for as long as one window. Where flows are roots of pressure differences, steps stay short although
/// no estimate of an eigenvalue is at the boundary: the solution trembles within the tolerance, and eigenvalues change with every zero of a difference. Only the comparison
/// shows it. Each trial in vain makes the next one come later by `TRIAL_GROWTH`, so that all together cost little.
const TRIAL_STEPS: u64 = 1000;
const TRIAL_GROWTH: u64 = 4;
/// Steps of one of the two implicit methods for large systems after which the other one is tried for `WINDOW_MIN` steps. A multistep method creeps where
/// eigenvalues lie at the imaginary axis: a line of 640 sections takes 15 000 steps of BDF and 224 of Radau IIA. The next trial comes later by `TRIAL_GROWTH`.
const RIVAL_STEPS: u64 = 400;
/// Cost of an evaluation with its part of the solution of linear systems, if both cost alike: Radau IIA solves a real and a complex system for three
/// evaluations, which is the work of five real ones; a multistep method one for each.
const RADAU_WEIGHT: f64 = 5.0 / 3.0;
/// Coming back to the implicit method within so many steps was too early.
const EARLY: u64 = 100;
/// Steps per restart below which a multistep method is not used, and from which on it is taken again.
const FEW_STEPS: f64 = 4.0;
const MANY_STEPS: f64 = 8.0;
/// Share of the last segment in the mean number of steps per segment.
const SEGMENT_SHARE: f64 = 0.2;
/// From this number of states on, and below this share of entries, a sparse multistep method is used.
const LARGE: usize = 100;
const SPARSE_SHARE: f64 = 0.1;

/// Evaluations of a step and the boundary of stability on the negative real axis (Solving ODEs II, IV.2).
const DOPRI5_STAGES_AND_BOUNDARY: (f64, f64) = (6.0, 3.25);
const DOP853_STAGES_AND_BOUNDARY: (f64, f64) = (12.0, 6.1);

/// What the choice is based on.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Auto {
    explicit: SolverName,
    /// The problem is large and its Jacobian sparse; known with the first step.
    large_and_sparse: Option<bool>,
    window: u32,
    seen: u32,
    evaluations_implicit: f64,
    evaluations_explicit: f64,
    /// The last window says so.
    explicit_is_cheaper: bool,
    /// Explicit steps since the last return from an implicit method.
    since_return: Option<u64>,
    /// Explicit steps of the window, those of them with several trials, and whether the last window had too many.
    explicit_steps: u32,
    repeated_steps: u32,
    struggles: bool,
    /// Explicit steps since an implicit method was used, and how many there may be before one is tried.
    explicit_run: u64,
    trial_after: u64,
    /// Evaluations of those steps, and the time that they covered.
    run_evaluations: f64,
    run_time: f64,
    /// During a trial: evaluations that the explicit method needed for a unit of time.
    trial_pace: Option<f64>,
    /// During a trial: the second one of the two implicit methods is in use.
    tried_both: bool,
    /// Time that the implicit steps of the window covered.
    window_time: f64,
    /// The method for large sparse systems.
    preferred: SolverName,
    /// Its steps since it was taken, what they cost and the time that they covered.
    turn: Turn,
    rival_after: u64,
    /// While the other one is tried: the cost of a unit of time with the one before.
    pace_before: Option<f64>,
    /// The implicit method to go on with.
    next_implicit: Option<SolverName>,
    /// Mean number of implicit steps between restarts; infinite before the first.
    steps_per_segment: f64,
    steps_in_segment: u32,
}

/// Steps of one method.
#[derive(Clone, Copy, Default, Debug, serde::Serialize, serde::Deserialize)]
struct Turn {
    steps: u64,
    cost: f64,
    time: f64,
}

/// What an accepted step of an implicit method says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImplicitStep {
    pub(crate) method: SolverName,
    pub(crate) step_size: f64,
    /// Evaluations for it, with its rejected trials and Jacobians.
    pub(crate) evaluations: u64,
    /// Bound of the Jacobian's norm.
    pub(crate) lipschitz: f64,
}

impl Auto {
    pub(crate) fn new(tolerances: Tolerances) -> Auto {
        Auto {
            explicit: if tolerances.rel <= TIGHT_TOLERANCE {
                SolverName::Dop853
            } else {
                SolverName::Dopri5
            },
            large_and_sparse: None,
            window: WINDOW_MIN,
            seen: 0,
            evaluations_implicit: 0.0,
            evaluations_explicit: 0.0,
            explicit_is_cheaper: false,
            since_return: None,
            explicit_steps: 0,
            repeated_steps: 0,
            struggles: false,
            explicit_run: 0,
            trial_after: TRIAL_STEPS,
            run_evaluations: 0.0,
            run_time: 0.0,
            trial_pace: None,
            tried_both: false,
            window_time: 0.0,
            preferred: SolverName::Bdf,
            turn: Turn::default(),
            rival_after: RIVAL_STEPS,
            pace_before: None,
            next_implicit: None,
            steps_per_segment: f64::INFINITY,
            steps_in_segment: 0,
        }
    }

    pub(crate) fn explicit(&self) -> SolverName {
        self.explicit
    }

    /// Learns the structure of the problem.
    pub(crate) fn see_pattern(&mut self, pattern: Option<&[Vec<u32>]>) {
        self.large_and_sparse.get_or_insert_with(|| {
            pattern.is_some_and(|columns| {
                let n = columns.len();
                let entries: usize = columns.iter().map(Vec::len).sum();
                n >= LARGE && (entries as f64) < SPARSE_SHARE * (n * n) as f64
            })
        });
    }

    /// An explicit step of this size was accepted, after so many evaluations.
    pub(crate) fn after_explicit(&mut self, evaluations: u64, step_size: f64) {
        if let Some(steps) = &mut self.since_return {
            *steps += 1;
        }
        self.explicit_run += 1;
        self.run_evaluations += evaluations as f64;
        self.run_time += step_size;
        let (stages, _) = self.stages_and_boundary();
        self.explicit_steps += 1;
        self.repeated_steps += u32::from(evaluations as f64 >= REPEATED_RATIO * stages);
        if self.explicit_steps >= TRIALS_WINDOW {
            self.struggles =
                f64::from(self.repeated_steps) > REPEATED_SHARE_MAX * f64::from(TRIALS_WINDOW);
            self.explicit_steps = 0;
            self.repeated_steps = 0;
        }
    }

    /// Trials of the explicit method fail too often, or it is time to compare it with an implicit one.
    pub(crate) fn wants_implicit(&self) -> bool {
        self.struggles || self.explicit_run >= self.trial_after
    }

    /// What failed before says nothing about what comes: after a discontinuity the first trial often fails.
    pub(crate) fn forget_trials(&mut self) {
        self.explicit_steps = 0;
        self.repeated_steps = 0;
        self.struggles = false;
    }

    /// Evaluations of a step of the explicit method and its stability boundary.
    fn stages_and_boundary(&self) -> (f64, f64) {
        match self.explicit {
            SolverName::Dop853 => DOP853_STAGES_AND_BOUNDARY,
            _ => DOPRI5_STAGES_AND_BOUNDARY,
        }
    }

    /// The explicit method is left: the implicit one to use.
    pub(crate) fn leave_explicit(&mut self) -> SolverName {
        self.window = match self.since_return.take() {
            Some(steps) if steps < EARLY => (2 * self.window).min(WINDOW_MAX),
            Some(_) | None => WINDOW_MIN,
        };
        let is_trial = self.explicit_run >= self.trial_after;
        if is_trial {
            self.trial_after = self.trial_after.saturating_mul(TRIAL_GROWTH);
        }
        self.trial_pace = is_trial.then_some(self.run_evaluations / self.run_time);
        self.explicit_run = 0;
        self.run_evaluations = 0.0;
        self.run_time = 0.0;
        self.tried_both = false;
        self.clear_window();
        self.begin_turn();
        self.forget_trials();
        self.steps_in_segment = 0;
        self.implicit(None)
    }

    /// An implicit step was accepted.
    pub(crate) fn after_implicit(&mut self, step: ImplicitStep) {
        self.steps_in_segment += 1;
        let (stages, boundary) = self.stages_and_boundary();
        let stretch = step.step_size * step.lipschitz / (BOUNDARY_SHARE * boundary);
        self.evaluations_explicit += stages * stretch.max(1.0);
        self.evaluations_implicit += step.evaluations as f64;
        self.window_time += step.step_size;
        self.seen += 1;
        if self.seen >= self.window {
            self.explicit_is_cheaper = match self.trial_pace.take() {
                // What the explicit method needed before is known: the implicit one has to be the cheaper one clearly, because its steps also solve systems.
                Some(pace) => {
                    let is_in_vain = self.evaluations_implicit >= GAIN * pace * self.window_time;
                    if is_in_vain && step.method == SolverName::Bdf && !self.tried_both {
                        self.tried_both = true;
                        self.trial_pace = Some(pace);
                        self.next_implicit = Some(SolverName::Radau);
                    } else if !is_in_vain && self.tried_both {
                        self.preferred = step.method;
                    }
                    is_in_vain && self.trial_pace.is_none()
                }
                None => self.evaluations_explicit < GAIN * self.evaluations_implicit,
            };
            self.clear_window();
        }
        self.compare_implicit(step);
    }

    /// For large sparse systems: lets the other implicit method have its turn, and decides between them.
    fn compare_implicit(&mut self, step: ImplicitStep) {
        let (rival, weight) = match step.method {
            SolverName::Bdf => (SolverName::Radau, 1.0),
            _ => (SolverName::Bdf, RADAU_WEIGHT),
        };
        if self.large_and_sparse != Some(true) || self.trial_pace.is_some() {
            return;
        }
        self.turn.steps += 1;
        self.turn.cost += weight * step.evaluations as f64;
        self.turn.time += step.step_size;
        let pace = self.turn.cost / self.turn.time;
        match self.pace_before {
            Some(before) if self.turn.steps >= u64::from(WINDOW_MIN) => {
                if pace < GAIN * before {
                    self.preferred = step.method;
                } else {
                    self.next_implicit = Some(rival);
                }
                self.begin_turn();
            }
            None if self.turn.steps >= self.rival_after && self.steps_per_segment >= MANY_STEPS => {
                self.rival_after = self.rival_after.saturating_mul(TRIAL_GROWTH);
                self.begin_turn();
                self.pace_before = Some(pace);
                self.next_implicit = Some(rival);
            }
            Some(_) | None => {}
        }
    }

    fn begin_turn(&mut self) {
        self.turn = Turn::default();
        self.pace_before = None;
    }

    /// Once: the implicit method to go on with.
    pub(crate) fn next_implicit(&mut self) -> Option<SolverName> {
        self.next_implicit.take()
    }

    /// True once if the implicit method in use is to be left.
    pub(crate) fn leaves_implicit(&mut self) -> bool {
        let leaves = std::mem::take(&mut self.explicit_is_cheaper);
        if leaves {
            self.since_return = Some(0);
            self.next_implicit = None;
            self.begin_turn();
        }
        leaves
    }

    /// A discontinuity while an implicit method is in use: the one to go on with.
    pub(crate) fn after_discontinuity(&mut self, current: SolverName) -> SolverName {
        let steps = f64::from(std::mem::take(&mut self.steps_in_segment));
        self.steps_per_segment = if self.steps_per_segment.is_finite() {
            (1.0 - SEGMENT_SHARE) * self.steps_per_segment + SEGMENT_SHARE * steps
        } else {
            steps.max(MANY_STEPS)
        };
        self.next_implicit = None;
        self.begin_turn();
        self.implicit(Some(current))
    }

    fn implicit(&self, current: Option<SolverName>) -> SolverName {
        let few = match current {
            Some(SolverName::Radau) => MANY_STEPS,
            _ => FEW_STEPS,
        };
        if self.large_and_sparse == Some(true) && self.steps_per_segment >= few {
            self.preferred
        } else {
            SolverName::Radau
        }
    }

    fn clear_window(&mut self) {
        self.window_time = 0.0;
        self.seen = 0;
        self.evaluations_implicit = 0.0;
        self.evaluations_explicit = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the explicit method is to be left after 100 steps of which each of these has `evaluations` of them.
    fn struggles(evaluations: &[u64], restarts: bool) -> bool {
        let mut auto = Auto::new(Tolerances::new(1e-6));
        for (k, &evaluations) in evaluations.iter().cycle().take(100).enumerate() {
            if restarts && k % 10 == 0 {
                auto.forget_trials();
            }
            auto.after_explicit(evaluations, 1.0);
        }
        auto.wants_implicit()
    }

    #[test]
    fn an_explicit_method_whose_trials_fail_is_left() {
        assert!(
            struggles(&[6, 12], false),
            "every other step had two trials"
        );
        assert!(!struggles(&[6, 6, 12], false), "one in three is usual");
        assert!(!struggles(&[12], true), "after discontinuities trials fail");
        let mut auto = Auto::new(Tolerances::new(1e-6));
        (0..100).for_each(|_| auto.after_explicit(12, 1.0));
        assert_eq!(auto.leave_explicit(), SolverName::Radau);
        assert!(!auto.wants_implicit(), "the implicit method is in use");
    }

    /// A large sparse system in which a step of each method covers so much time, with three evaluations a step for BDF and nine for Radau IIA: the methods after
    /// steps 399, 410 and 421 of the implicit ones.
    fn turns(bdf: f64, radau: f64) -> [SolverName; 3] {
        let mut auto = Auto::new(Tolerances::new(1e-6));
        let diagonal: Vec<Vec<u32>> = (0..200).map(|i| vec![i]).collect();
        auto.see_pattern(Some(&diagonal));
        let mut method = auto.leave_explicit();
        let mut used = Vec::new();
        for _ in 0..422 {
            auto.after_implicit(ImplicitStep {
                method,
                step_size: if method == SolverName::Bdf {
                    bdf
                } else {
                    radau
                },
                evaluations: if method == SolverName::Bdf { 3 } else { 9 },
                lipschitz: 1e9,
            });
            assert!(
                !auto.leaves_implicit(),
                "explicit steps are out of the question"
            );
            method = auto.next_implicit().unwrap_or(method);
            used.push(method);
        }
        [used[398], used[409], used[421]]
    }

    #[test]
    fn the_implicit_method_that_covers_more_time_for_its_cost_stays() {
        use SolverName::{Bdf, Radau};
        assert_eq!(turns(1.0, 20.0), [Bdf, Radau, Radau]);
        assert_eq!(turns(1.0, 4.0), [Bdf, Radau, Bdf]);
    }

    /// Steps that an explicit method makes until an implicit one is tried, three times, with an implicit window in vain between them.
    #[test]
    fn a_long_explicit_run_is_compared_with_the_implicit_method_ever_more_rarely() {
        let mut auto = Auto::new(Tolerances::new(1e-6));
        let mut tried_after = || {
            let mut steps = 0;
            while !auto.wants_implicit() {
                auto.after_explicit(6, 1.0);
                steps += 1;
            }
            assert_eq!(auto.leave_explicit(), SolverName::Radau);
            for _ in 0..auto.window {
                // As many evaluations for a unit of time, although each step looks stiff.
                auto.after_implicit(ImplicitStep {
                    method: SolverName::Radau,
                    step_size: 3.0,
                    evaluations: 18,
                    lipschitz: 100.0,
                });
            }
            assert!(auto.leaves_implicit(), "the explicit method is cheaper");
            steps
        };
        assert_eq!(
            [tried_after(), tried_after(), tried_after()],
            [1000, 4000, 16000]
        );
    }
}
