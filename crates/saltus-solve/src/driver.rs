//! Walks a schedule: the only place where sections are carried out.
//!
//! Comes in: a system, a schedule kind, the value array at a point (time, states, discrete values). Goes out: the variables the
//! schedule computes, in the value array. Explicit sections run; linear and nonlinear blocks go to [`crate::newton`]; mixed blocks are
//! solved by flip-and-detect: keep the discrete values, solve the Reals, recompute the discrete values, repeat; when a set
//! of values comes back, as a linear complementarity problem where the block has this form ([`crate::complementarity`]), else with a change of only
//! the first violated value per pass (Murty's least-index rule), then by a systematic search with a bound.
//!
//! When a set comes back because relations are zero but for round-off in each of the sets (a diode at the knee of its
//! characteristic), such a set is taken: after a located event the one in which the located relation has flipped, else the one the search
//! started from.
//!
//! Where no set agrees with its own solution, an equation may have to remember what has happened: a clutch that leaves its peak of friction slides with a smaller
//! parameter than the one at which it began to (`start = s > peak or pre(start) and s > sliding`). After a located event the set that follows from the old one, in which the located relations
//! have flipped, is then taken for this pass of the event iteration; the next pass, with `pre` as this one has left it, has to agree with itself.
//!
//! At the initial point the first sets are those that start values make true.
//!
//! At the initial point, and where an event has changed the set, [`crate::several`] looks for another solution and a note says so.
//!
//! Guesses come from the last accepted point (`accept`), so a result does not depend on rejected trials. Unknowns whose derivative is known there
//! (positions that constraints determine) are taken further along it: where two branches of solutions cross (a parallelogram of bars that is
//! stretched), the point itself is as near to the other branch.

use crate::error::{MixedFailure, SolveError};
pub use crate::newton::{Accuracy, Counters, Effort};
use crate::newton::{BlockSolve, BlockWork, Solved};
use crate::scale::{RELATION_BAND_REL, Tolerances};
use crate::several::{BUDGET, SeveralSolutions, neighbours};
use crate::sides::Sides;
use saltus_model::{BlockId, BlockInfo, ModelInfo, ScheduleKind, Section, Slot, System, Values};

/// Passes of a mixed block with all violated values changed at once.
const PASSES_MAX: usize = 30;
/// Passes with one change each.
const SINGLE_CHANGES_MAX: usize = 200;
/// Passes in which discrete values follow start values, which stay.
const FOLLOW_PASSES_MAX: usize = 4;
/// Starting sets of the systematic search: all subsets of so many literals, or all single and double changes of more …
const SEARCH_ALL_MAX: usize = 12;
/// … and not more than these.
const SEARCH_MAX: usize = 4096;
/// Passes from each starting set of the search.
const SEARCH_PASSES_MAX: usize = 4;

const ALL_KINDS: [ScheduleKind; 5] = [
    ScheduleKind::Derivatives,
    ScheduleKind::Crossings,
    ScheduleKind::Outputs,
    ScheduleKind::Event,
    ScheduleKind::Initial,
];

/// How nonlinear blocks stand to the branch of solutions that they have followed to the accepted point.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Branch {
    Follow,
    /// Their unknowns stay at the accepted point: the branch has ended there.
    Hold,
    /// Where it has ended another solution is taken.
    Leave,
}

/// Where the iteration of a block starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guess {
    /// At the last accepted point.
    Accepted,
    /// At the values in the array.
    Current,
}

/// A block that had to be solved in a way the user should know about; reported once per block, mode and kind of note.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct BlockNote {
    pub schedule: ScheduleKind,
    pub block: BlockId,
    pub what: Noted,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Noted {
    /// Rank-deficient: the solution of smallest norm was taken.
    MinimumNorm {
        rank: usize,
        unknowns: usize,
    },
    Several(SeveralSolutions),
}

/// Workspaces of one mode.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Driver {
    blocks: Vec<Option<BlockWork>>,
    noted: Vec<bool>,
    /// By block: evaluations that may be spent on looking for other solutions; nothing after one was found.
    budgets: Vec<u64>,
    notes: Vec<BlockNote>,
    tolerances: Tolerances,
    /// For each slot that is a relation its crossing function.
    crossing_of: Vec<Option<u32>>,
    /// Work space for their values.
    r: Vec<f64>,
    /// Relations that a located event says have flipped, until the next event schedule has run.
    flipping: Vec<Slot>,
    branch: Branch,
    effort: Effort,
    pub counters: Counters,
    /// Number of linear and nonlinear blocks in the continuous schedules, and the largest number of unknowns.
    pub n_linear: usize,
    pub n_nonlinear: usize,
    pub n_largest: usize,
}

impl Driver {
    pub fn new<S: System>(system: &S, info: &ModelInfo, tolerances: Tolerances) -> Driver {
        let mut driver = Driver {
            blocks: Vec::new(),
            noted: Vec::new(),
            budgets: Vec::new(),
            notes: Vec::new(),
            tolerances,
            crossing_of: Vec::new(),
            r: Vec::new(),
            flipping: Vec::new(),
            branch: Branch::Follow,
            effort: Effort::Full,
            counters: Counters::default(),
            n_linear: 0,
            n_nonlinear: 0,
            n_largest: 0,
        };
        for (k, crossing) in system.crossings().iter().enumerate() {
            let index = crossing.relation.index();
            if driver.crossing_of.len() <= index {
                driver.crossing_of.resize(index + 1, None);
            }
            driver.crossing_of[index].get_or_insert(k as u32);
        }
        for kind in ALL_KINDS {
            for section in system.schedule(kind) {
                let (Section::Linear(id) | Section::Nonlinear(id) | Section::Mixed(id)) = *section
                else {
                    continue;
                };
                let index = id.0 as usize;
                if driver.blocks.len() <= index {
                    driver.blocks.resize_with(index + 1, || None);
                    driver.noted.resize(index + 1, false);
                    driver.budgets.resize(index + 1, BUDGET);
                }
                if driver.blocks[index].is_some() {
                    continue;
                }
                let block = system.block(id);
                driver.blocks[index] = Some(BlockWork::new(block, info));
                if !matches!(kind, ScheduleKind::Event | ScheduleKind::Initial) {
                    *(if block.linear {
                        &mut driver.n_linear
                    } else {
                        &mut driver.n_nonlinear
                    }) += 1;
                    driver.n_largest = driver.n_largest.max(block.unknowns.len());
                }
            }
        }
        driver
    }

    /// As new, where it has no systems of equations to solve and so nothing to remember of a run before.
    pub fn reset(&mut self) {
        debug_assert!(!self.has_blocks());
        self.notes.clear();
        self.flipping.clear();
        self.counters = Counters::default();
    }

    /// There are systems of equations to solve.
    pub fn has_blocks(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// An event was located where these relations change: the next event schedule prefers sets in which they have.
    #[inline]
    pub fn expect_flips(&mut self, relations: impl IntoIterator<Item = Slot>) {
        self.flipping.clear();
        self.flipping.extend(relations);
    }

    /// What nonlinear blocks do from now on.
    pub fn set_branch(&mut self, branch: Branch) {
        self.branch = branch;
    }

    /// How much is tried from now on before a block counts as one without a solution.
    pub fn set_effort(&mut self, effort: Effort) {
        self.effort = effort;
    }

    /// The unknowns of all blocks.
    pub fn unknowns<S: System>(&self, system: &S) -> Vec<Slot> {
        let ids = (0..self.blocks.len()).filter(|&i| self.blocks[i].is_some());
        let mut slots: Vec<Slot> = ids
            .flat_map(|i| &system.block(BlockId(i as u32)).unknowns)
            .copied()
            .collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    #[inline]
    pub fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    /// Notes since they were taken last.
    pub(crate) fn notes(&self) -> &[BlockNote] {
        &self.notes
    }

    /// Notes since the last call.
    pub fn take_notes(&mut self) -> Vec<BlockNote> {
        std::mem::take(&mut self.notes)
    }

    /// The values are those of an accepted point: later iterations start from them.
    #[inline]
    pub fn accept<S: System>(&mut self, system: &S, values: &Values) {
        for (index, work) in self.blocks.iter_mut().enumerate() {
            let Some(work) = work else { continue };
            let block = system.block(BlockId(index as u32));
            for (guess, slot) in work.accepted.iter_mut().zip(&block.unknowns) {
                *guess = values.get(*slot);
            }
            work.accepted_time = values.time();
            for (rate, slot) in work.accepted_rates.iter_mut().zip(&block.rates) {
                let known = slot.map(|slot| values.get(slot));
                *rate = known.filter(|rate| rate.is_finite()).unwrap_or(0.0);
            }
        }
    }

    /// Factors kept for reuse belong to equations that an event has changed.
    #[inline]
    pub fn forget_factors(&mut self) {
        for work in self.blocks.iter_mut().flatten() {
            work.forget_factors();
        }
    }

    /// Carries out all sections of a schedule.
    #[inline(always)]
    pub fn run<S: System>(
        &mut self,
        system: &S,
        kind: ScheduleKind,
        values: &mut Values,
        accuracy: Accuracy,
        guess: Guess,
    ) -> Result<(), SolveError> {
        match system.run_schedule(kind, values) {
            Some(status) => status?,
            None => {
                for section in system.schedule(kind) {
                    match *section {
                        Section::Explicit(code) => system.run(code, values)?,
                        other => self.equations(system, kind, other, values, accuracy, guess)?,
                    }
                }
            }
        }
        if kind == ScheduleKind::Event {
            self.flipping.clear();
        }
        Ok(())
    }

    /// Everything but explicit code, apart from the short way that it takes.
    #[inline(never)]
    pub(crate) fn equations<S: System>(
        &mut self,
        system: &S,
        kind: ScheduleKind,
        section: Section,
        values: &mut Values,
        accuracy: Accuracy,
        guess: Guess,
    ) -> Result<(), SolveError> {
        match section {
            Section::Explicit(code) => Ok(system.run(code, values)?),
            Section::Linear(id) | Section::Nonlinear(id) => {
                self.block(system, kind, id, values, accuracy, guess)
            }
            Section::Mixed(id) => self.mixed(system, kind, id, values, accuracy),
        }
    }

    fn block<S: System>(
        &mut self,
        system: &S,
        schedule: ScheduleKind,
        id: BlockId,
        values: &mut Values,
        accuracy: Accuracy,
        guess: Guess,
    ) -> Result<(), SolveError> {
        let index = id.0 as usize;
        let info = system.block(id);
        let work = self.blocks[index]
            .as_mut()
            .expect("every block of a schedule has a workspace");
        // Unknowns whose speed is known have moved on.
        let passed = values.time() - work.accepted_time;
        let moving = guess == Guess::Accepted
            && !info.linear
            && passed != 0.0
            && work.accepted_rates.iter().any(|&rate| rate != 0.0);
        if moving {
            let accepted = work.accepted.iter().zip(&work.accepted_rates);
            for (slot, (u, rate)) in info.unknowns.iter().zip(accepted) {
                values.v[slot.index()] = u + passed * rate;
            }
        } else if guess == Guess::Accepted {
            for (slot, u) in info.unknowns.iter().zip(&work.accepted) {
                values.v[slot.index()] = *u;
            }
        }
        let mut solve = BlockSolve {
            system,
            schedule,
            block: id,
            info,
            work,
            values,
            counters: &mut self.counters,
            accuracy,
            effort: self.effort,
            tolerances: self.tolerances,
        };
        if self.branch == Branch::Hold && !info.linear {
            return solve.hold();
        }
        if self.branch == Branch::Leave && !info.linear {
            // By the measure of the steps, which found no solution here: round-off at the end of a branch may pass for one.
            solve.accuracy = Accuracy::Trial;
            solve.work.forget_factors();
            let tried = solve.solve();
            solve.accuracy = accuracy;
            // What follows solves again from the other solution.
            if let Err(SolveError::Newton(failure)) = tried
                && !solve.elsewhere()
            {
                return Err(SolveError::Newton(failure));
            }
        }
        let mut solved = solve.solve();
        if (guess == Guess::Current || moving)
            && solved.as_ref().is_err_and(SolveError::recoverable)
            && !info.linear
        {
            // A jump may have moved the values far away, or a long step; the last accepted point is the other natural guess.
            for (slot, u) in info.unknowns.iter().zip(&solve.work.accepted) {
                solve.values.v[slot.index()] = *u;
            }
            solved = solve.solve().or(solved);
        }
        if solved.is_ok() {
            solve.watch_growth()?;
        }
        if let Solved::MinimumNorm { rank } = solved? {
            self.note(schedule, id, rank, info);
        }
        Ok(())
    }

    fn note(&mut self, schedule: ScheduleKind, block: BlockId, rank: usize, info: &BlockInfo) {
        let noted = &mut self.noted[block.0 as usize];
        if !*noted {
            *noted = true;
            self.notes.push(BlockNote {
                schedule,
                block,
                what: Noted::MinimumNorm {
                    rank,
                    unknowns: info.unknowns.len(),
                },
            });
        }
    }

    fn mixed<S: System>(
        &mut self,
        system: &S,
        schedule: ScheduleKind,
        id: BlockId,
        values: &mut Values,
        accuracy: Accuracy,
    ) -> Result<(), SolveError> {
        let info = system.block(id);
        let work = self.blocks[id.0 as usize]
            .as_mut()
            .expect("every block of a schedule has a workspace");
        let solve = BlockSolve {
            system,
            schedule,
            block: id,
            info,
            work,
            values,
            counters: &mut self.counters,
            accuracy,
            effort: self.effort,
            tolerances: self.tolerances,
        };
        let flipping = (info.discrete.iter())
            .map(|slot| self.flipping.contains(slot))
            .collect();
        let mut mixed = MixedSolve {
            solve,
            crossing_of: &self.crossing_of,
            flipping,
            r: &mut self.r,
            near: Vec::new(),
            tried: 0,
            cause: None,
        };
        let start = mixed.set();
        let searched = match mixed.begin_at_start_values(&start)? {
            Some(solved) => Ok(solved),
            None => mixed.search(&start),
        };
        let found = match searched {
            Err(error @ SolveError::Mixed(_)) if schedule == ScheduleKind::Event => {
                let solved = match mixed.flipped(&start)? {
                    Some(solved) => solved,
                    None => mixed.remembered(&start)?.ok_or(error)?,
                };
                // Once in an event.
                self.flipping.clear();
                return match solved {
                    Solved::MinimumNorm { rank } => {
                        self.note(schedule, id, rank, info);
                        Ok(())
                    }
                    Solved::Regular => Ok(()),
                };
            }
            found => found?,
        };
        match found {
            Solved::MinimumNorm { rank } => self.note(schedule, id, rank, info),
            Solved::Regular => {
                let budget = &mut self.budgets[id.0 as usize];
                let chosen = schedule == ScheduleKind::Initial || mixed.differs_from(&start);
                if *budget > 0
                    && chosen
                    && self.effort == Effort::Full
                    && let Some(several) = mixed.another(budget)?
                {
                    *budget = 0;
                    self.notes.push(BlockNote {
                        schedule,
                        block: id,
                        what: Noted::Several(several),
                    });
                }
            }
        }
        Ok(())
    }
}

/// One mixed block being solved.
pub(crate) struct MixedSolve<'a, S> {
    pub(crate) solve: BlockSolve<'a, S>,
    /// By slot; see [`Driver`].
    pub(crate) crossing_of: &'a [Option<u32>],
    /// Whether a located event says that it has flipped.
    pub(crate) flipping: Vec<bool>,
    pub(crate) r: &'a mut Vec<f64>,
    /// For each visited set: whether round-off alone speaks against it.
    near: Vec<Near>,
    /// Sets of discrete values for which the Reals were solved.
    pub(crate) tried: u32,
    cause: Option<SolveError>,
}

/// From which Reals discrete values follow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Follow {
    /// From all in the array as they are.
    StartValues,
    /// From the unknowns, and from what the equations make of them.
    Unknowns,
}

/// Whether round-off alone speaks against a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Near {
    No,
    /// The relations that change are zero within their band.
    InBand,
    /// … and the Reals are the same on both sides.
    SameReals,
}

/// What one pass showed.
enum Pass {
    Consistent(Solved),
    /// They differ by relations at zero only (in `discrete_next`), and have the same Reals.
    SameReals(Solved),
    /// The recomputed discrete values (in `discrete_next`) differ.
    Changed(Solved),
    /// The Reals cannot be solved for this set.
    Unsolvable,
}

impl<S: System> MixedSolve<'_, S> {
    /// The discrete values in the array.
    fn set(&self) -> Vec<f64> {
        let slots = self.solve.info.discrete.iter();
        slots.map(|slot| self.solve.values.get(*slot)).collect()
    }

    fn differs_from(&self, set: &[f64]) -> bool {
        let slots = self.solve.info.discrete.iter();
        (slots.zip(set)).any(|(slot, value)| self.solve.values.get(*slot) != *value)
    }

    /// At the initial point nothing has decided the relations yet: their values in the array are no more than a beginning. Start values say more
    /// (which way a fluid flows), so the sets that they make true come first: those of all variables, then those that follow from the unknowns.
    /// `None` if they lead nowhere; the array is then what it was.
    fn begin_at_start_values(&mut self, start: &[f64]) -> Result<Option<Solved>, SolveError> {
        if self.solve.schedule != ScheduleKind::Initial {
            return Ok(None);
        }
        let values = self.solve.values.v.clone();
        let mut tried = vec![start.to_vec()];
        for follow in [Follow::StartValues, Follow::Unknowns] {
            let set = self.set_that_follows(follow);
            self.solve.values.v.copy_from_slice(&values);
            let Some(set) = set.filter(|set| !tried.contains(set)) else {
                continue;
            };
            let solved = self.iterate(&set, PASSES_MAX)?;
            if let Some(Solved::Regular) = solved {
                return Ok(solved);
            }
            self.solve.values.v.copy_from_slice(&values);
            tried.push(set);
        }
        Ok(None)
    }

    /// The discrete values that the Reals in the array make true; `None` if they cannot be evaluated.
    fn set_that_follows(&mut self, follow: Follow) -> Option<Vec<f64>> {
        for _ in 0..FOLLOW_PASSES_MAX {
            let before = self.set();
            let solve = &mut self.solve;
            if follow == Follow::Unknowns {
                let mut residual = vec![0.0; solve.info.residual_sites.len()];
                solve.counters.residuals += 1;
                (solve
                    .system
                    .residual(solve.block, solve.values, &mut residual))
                .ok()?;
            }
            (solve.system.update_discrete(solve.block, solve.values)).ok()?;
            if !self.differs_from(&before) {
                break;
            }
        }
        Some(self.set())
    }

    fn search(&mut self, start: &[f64]) -> Result<Solved, SolveError> {
        if let Some(solved) = self.iterate(start, PASSES_MAX)? {
            let Solved::MinimumNorm { rank } = solved else {
                return Ok(solved);
            };
            if let Some(solved) = self.instead_of_undetermined(start, rank)? {
                return Ok(solved);
            }
        }
        if let Some(solved) = self.take_near(start)? {
            return Ok(solved);
        }
        if self.solve.effort == Effort::Once {
            return Err(self.failure(Vec::new()));
        }
        if let Some(set) = self.by_complementarity(start)
            && let Some(solved) = self.iterate(&set, SEARCH_PASSES_MAX)?
        {
            return Ok(solved);
        }
        if let Some(solved) = self.least_index(start)? {
            return Ok(solved);
        }
        let oscillating: Vec<_> = (self
            .solve
            .info
            .discrete
            .iter()
            .zip(&self.solve.work.discrete))
        .zip(&self.solve.work.discrete_next)
        .filter(|((_, now), next)| now != next)
        .map(|((slot, now), next)| (*slot, *now, *next))
        .collect();
        if let Some(solved) = self.enumerate(start)? {
            return Ok(solved);
        }
        Err(self.failure(oscillating))
    }

    fn failure(&mut self, oscillating: Vec<(Slot, f64, f64)>) -> SolveError {
        SolveError::Mixed(Box::new(MixedFailure {
            schedule: self.solve.schedule,
            block: self.solve.block,
            tried: self.tried,
            oscillating,
            cause: self.cause.take(),
        }))
    }

    /// One pass: solve the Reals for the set in `discrete`, recompute the set into `discrete_next`.
    fn pass(&mut self) -> Result<Pass, SolveError> {
        self.tried += 1;
        let solve = &mut self.solve;
        let discrete = &solve.info.discrete;
        for (slot, value) in discrete.iter().zip(&solve.work.discrete) {
            solve.values.v[slot.index()] = *value;
        }
        solve.work.forget_factors();
        let solved = match solve.solve() {
            Ok(solved) => solved,
            Err(error) if error.recoverable() => {
                self.cause = Some(error);
                return Ok(Pass::Unsolvable);
            }
            Err(error) => return Err(error),
        };
        match solve.system.update_discrete(solve.block, solve.values) {
            Ok(()) => {}
            Err(fault) if fault.recoverable => {
                self.cause = Some(fault.into());
                return Ok(Pass::Unsolvable);
            }
            Err(fault) => return Err(fault.into()),
        }
        for (next, slot) in solve.work.discrete_next.iter_mut().zip(discrete) {
            *next = solve.values.v[slot.index()];
        }
        let set = solve.work.discrete.clone();
        self.put_set(&set);
        let sides = self.sides();
        if !matches!(sides, Sides::Other) {
            self.solve.watch_growth()?;
        }
        Ok(match sides {
            Sides::Same => Pass::Consistent(solved),
            Sides::SameReals => Pass::SameReals(solved),
            Sides::Other => Pass::Changed(solved),
        })
    }

    /// Repeats passes from a set until it is consistent, until a set comes back, or the bound is hit.
    pub(crate) fn iterate(
        &mut self,
        start: &[f64],
        passes_max: usize,
    ) -> Result<Option<Solved>, SolveError> {
        let n = start.len();
        self.solve.work.discrete.copy_from_slice(start);
        self.solve.work.visited.clear();
        self.near.clear();
        let located = self.flipping.contains(&true);
        for _ in 0..passes_max {
            let near = match self.pass()? {
                Pass::Consistent(solved) => return Ok(Some(solved)),
                Pass::SameReals(solved) if !located || self.has_effect(start) => {
                    return Ok(Some(solved));
                }
                Pass::SameReals(_) => Near::SameReals,
                Pass::Unsolvable => return Ok(None),
                Pass::Changed(_) => self.near_by(),
            };
            self.near.push(near);
            let work = &mut *self.solve.work;
            work.visited.extend_from_slice(&work.discrete);
            if work
                .visited
                .chunks_exact(n.max(1))
                .any(|seen| seen == work.discrete_next)
            {
                return Ok(None);
            }
            work.discrete.copy_from_slice(&work.discrete_next);
        }
        Ok(None)
    }

    /// A discrete value that is no relation differs between the set in `discrete` and `start`.
    fn has_effect(&self, start: &[f64]) -> bool {
        let relation = |slot: &Slot| self.crossing_of.get(slot.index()).copied().flatten();
        let slots = self.solve.info.discrete.iter().enumerate();
        let mut others = slots.filter(|(_, slot)| relation(slot).is_none());
        others.any(|(i, _)| self.solve.work.discrete[i] != start[i])
    }

    /// Puts a set of discrete values into the array.
    pub(crate) fn put_set(&mut self, set: &[f64]) {
        for (slot, value) in self.solve.info.discrete.iter().zip(set) {
            self.solve.values.v[slot.index()] = *value;
        }
    }

    /// How near the set in `discrete` is to the one in `discrete_next`.
    fn near_by(&mut self) -> Near {
        if !self.is_in_band() {
            return Near::No;
        }
        let next = self.solve.work.discrete_next.clone();
        match self.solves_too(&next) {
            true => Near::SameReals,
            false => Near::InBand,
        }
    }

    /// Whether the relations that the last pass changed are all zero within their band.
    fn is_in_band(&mut self) -> bool {
        if !self.evaluate_relations() {
            return false;
        }
        let band = self.relation_band();
        let work = &*self.solve.work;
        let mut any = false;
        for (i, slot) in self.solve.info.discrete.iter().enumerate() {
            if work.discrete[i] == work.discrete_next[i] {
                continue;
            }
            // Other discrete values change only because a relation does.
            let Some(r) = self.relation(*slot) else {
                continue;
            };
            any = true;
            if r.is_nan() || r.abs() > band {
                return false;
            }
        }
        any
    }

    /// The functions of all relations at the values in the array; false if they cannot be evaluated there.
    pub(crate) fn evaluate_relations(&mut self) -> bool {
        let solve = &mut self.solve;
        self.r.resize(solve.system.crossings().len(), 0.0);
        (solve.system.eval_crossings(solve.values, self.r)).is_ok()
    }

    /// The function of a slot that is a relation, as evaluated last.
    pub(crate) fn relation(&self, slot: Slot) -> Option<f64> {
        let crossing = self.crossing_of.get(slot.index()).copied().flatten()?;
        Some(self.r[crossing as usize])
    }

    /// Functions below it are zero but for round-off.
    pub(crate) fn relation_band(&self) -> f64 {
        RELATION_BAND_REL * self.relation_size()
    }

    /// The largest quantity of the block.
    pub(crate) fn relation_size(&self) -> f64 {
        let solve = &self.solve;
        (solve.info.determines.iter().chain(&solve.info.unknowns))
            .map(|slot| solve.values.get(*slot).abs())
            .chain(solve.work.nominals().iter().copied())
            .fold(0.0, f64::max)
    }

    /// After the sets came back to one seen before: one of them that only round-off violates, if there is one.
    fn take_near(&mut self, start: &[f64]) -> Result<Option<Solved>, SolveError> {
        let n = start.len().max(1);
        let Some(best) = self
            .near
            .iter()
            .copied()
            .max()
            .filter(|near| *near > Near::No)
        else {
            return Ok(None);
        };
        let sets: Vec<&[f64]> = (self.solve.work.visited.chunks_exact(n))
            .zip(&self.near)
            .filter(|(_, near)| **near == best)
            .map(|(set, _)| set)
            .collect();
        let flipped = |set: &&&[f64]| {
            (0..n).any(|i| self.flipping.get(i) == Some(&true) && set[i] != start[i])
        };
        let Some(set) = sets.iter().find(flipped).or(sets.first()) else {
            return Ok(None);
        };
        let set = set.to_vec();
        self.take_if_near(&set)
    }

    /// Solves for a set and takes it if it is consistent, or if only round-off violates it.
    pub(crate) fn take_if_near(&mut self, set: &[f64]) -> Result<Option<Solved>, SolveError> {
        self.solve.work.discrete.copy_from_slice(set);
        match self.pass()? {
            Pass::Consistent(solved) | Pass::SameReals(solved) => Ok(Some(solved)),
            Pass::Changed(solved) if self.is_in_band() => {
                self.put_set(set);
                Ok(Some(solved))
            }
            Pass::Changed(_) | Pass::Unsolvable => Ok(None),
        }
    }

    /// The set that follows from the one before the event because the located relations have flipped, and no others; its Reals are solved for.
    fn flipped(&mut self, start: &[f64]) -> Result<Option<Solved>, SolveError> {
        self.solve.work.discrete.copy_from_slice(start);
        let Pass::Changed(_) = self.pass()? else {
            return Ok(None);
        };
        let set = self.solve.work.discrete_next.clone();
        let is_relation = |slot: &Slot| {
            let crossing = self.crossing_of.get(slot.index());
            crossing.copied().flatten().is_some()
        };
        let mut relations = (self.solve.info.discrete.iter().enumerate())
            .filter(|(_, slot)| is_relation(slot))
            .map(|(i, _)| i);
        let only_located = relations.all(|i| (set[i] != start[i]) == self.flipping[i]);
        if !only_located || !self.flipping.contains(&true) {
            return Ok(None);
        }
        self.solve.work.discrete.copy_from_slice(&set);
        let (Pass::Consistent(solved) | Pass::SameReals(solved) | Pass::Changed(solved)) =
            self.pass()?
        else {
            return Ok(None);
        };
        self.put_set(&set);
        Ok(Some(solved))
    }

    /// The set to which passes of the event iteration lead, each with `pre` as the one before has left it: `open = if pre(open) then u < 0 else i < 0` needs to know that
    /// the diode has opened. `pre` of the rest stays.
    fn remembered(&mut self, start: &[f64]) -> Result<Option<Solved>, SolveError> {
        let slots = self.solve.info.discrete.clone();
        let before: Vec<f64> = (slots.iter())
            .map(|s| self.solve.values.pre[s.index()])
            .collect();
        let put = |values: &mut Values, pre: &[f64]| {
            for (slot, value) in slots.iter().zip(pre) {
                values.pre[slot.index()] = *value;
            }
        };
        let mut visited: Vec<Vec<f64>> = Vec::new();
        let mut set = start.to_vec();
        let mut found = None;
        while visited.len() < PASSES_MAX && !visited.contains(&set) {
            self.solve.work.discrete.copy_from_slice(&set);
            match self.pass() {
                Ok(Pass::Consistent(solved) | Pass::SameReals(solved)) if !visited.is_empty() => {
                    found = Some(solved);
                    self.put_set(&set);
                    break;
                }
                Ok(Pass::Consistent(_) | Pass::SameReals(_) | Pass::Unsolvable) => break,
                Ok(Pass::Changed(_)) => {}
                Err(error) => {
                    put(self.solve.values, &before);
                    return Err(error);
                }
            }
            visited.push(set);
            set = self.solve.work.discrete_next.clone();
            put(self.solve.values, &set);
        }
        put(self.solve.values, &before);
        Ok(found)
    }

    /// Changes only the first violated value per pass.
    fn least_index(&mut self, start: &[f64]) -> Result<Option<Solved>, SolveError> {
        self.solve.work.discrete.copy_from_slice(start);
        for change in 0..=SINGLE_CHANGES_MAX {
            match self.pass()? {
                Pass::Consistent(solved) | Pass::SameReals(solved) => return Ok(Some(solved)),
                Pass::Unsolvable => return Ok(None),
                Pass::Changed(_) if change == SINGLE_CHANGES_MAX => return Ok(None),
                Pass::Changed(_) => {}
            }
            let work = &mut *self.solve.work;
            if let Some(first) =
                (0..start.len()).find(|&i| work.discrete[i] != work.discrete_next[i])
            {
                work.discrete[first] = work.discrete_next[first];
            }
        }
        Ok(None)
    }

    /// From neighbours of the start, as far as the bound reaches.
    fn enumerate(&mut self, start: &[f64]) -> Result<Option<Solved>, SolveError> {
        self.solve.effort = Effort::Once;
        let mut found = Ok(None);
        for candidate in neighbours(start, SEARCH_ALL_MAX).take(SEARCH_MAX) {
            found = self.iterate(&candidate, SEARCH_PASSES_MAX);
            if !matches!(found, Ok(None)) {
                break;
            }
        }
        self.solve.effort = Effort::Full;
        found
    }
}
