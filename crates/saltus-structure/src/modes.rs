//! Modes: the model structured again with branches chosen (DESIGN section 4).
//!
//! A *switch* is what selects between branches of a Real equation (the condition of an `if`), or multiplies unknowns and may be zero, and
//! changes at events only. With all branches taken together the sorted system may be structurally regular and yet have a singular block in some
//! branch: `0 = if open then i else u` determines the voltage of an open diode from nothing if the current is a state. Such
//! switches are *live*. For each choice of the live ones that a run meets, the model is structured with the chosen branches alone: own index reduction, own states,
//! own blocks; zero terms are not there.
//!
//! Comes in: the equations in representatives, which are common to all modes, so that a variable has one place in all of them. Goes out: which
//! switches are live, and a [`StructuredSystem`] for a choice.

use crate::alias::Aliases;
use crate::balance::solvable_unknowns;
use crate::changes::Changes;
use crate::numeric::known_nonzero;
use crate::restart::{Hinge, Jump, Restart};
use crate::system::StructuredSystem;
use crate::text::expr_text;
use crate::work::{Class, Kind, Work};
use crate::zeros::factors;
use crate::{Parts, check, finish, reclassify, reduced_parts, unknowns};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{maximum_matching, strongly_connected_components};
use saltus_ir::flat::Variable;
use saltus_ir::{BinaryOp, Builtin, Expr, ExprId, Id, UnaryOp, VarId};
use saltus_syntax::Diagnostic;

/// A block with at most so many switches is examined for every choice of them …
const ENUMERATED_MAX: usize = 10;
/// … one with more for so many choices.
const SAMPLES: u64 = 256;

/// What selects between branches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Literal {
    /// The condition of an `if`.
    Condition(ExprId),
    /// Multiplies unknowns: they are not in the equation where it is zero.
    Factor(ExprId),
}

impl Literal {
    pub fn expr(self) -> ExprId {
        match self {
            Literal::Condition(e) | Literal::Factor(e) => e,
        }
    }
}

/// The model for a choice of branches.
pub enum Specialised {
    System(Box<StructuredSystem>),
    /// In this choice these switches make a difference too: the choice must be made again with them.
    MoreLive(Vec<u32>),
    /// The equations of this choice do not determine their unknowns, whichever of them are states.
    Singular,
}

/// What the modes of a model have in common.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Modes {
    trunk: Work,
    aliases: Aliases,
    n_parameters: usize,
    switches: Switches,
    /// In the structure that all modes have in common.
    live: Vec<u32>,
    /// Variables that this structure has beside those of the trunk. Modes take them up by name; what a mode adds itself it adds behind them.
    common: Vec<Variable>,
}

impl std::fmt::Debug for Modes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Modes({} live)", self.live.len())
    }
}

impl Modes {
    /// The common part, if the equations have switches at all.
    pub(crate) fn trunk(work: &mut Work, aliases: &Aliases, n_parameters: usize) -> Option<Modes> {
        let switches = Switches::find(work);
        if switches.literals.is_empty() && work.impacts.is_empty() {
            return None;
        }
        Some(Modes {
            trunk: work.clone(),
            aliases: aliases.clone(),
            n_parameters,
            switches,
            live: Vec::new(),
            common: Vec::new(),
        })
    }

    /// With the switches that are live in the common structure; `None` if there are none.
    pub(crate) fn with_live(mut self, work: &mut Work, parts: &Parts) -> Option<Box<Modes>> {
        let whole = Whole::new(&self.trunk, &self.aliases);
        self.live = live_switches(work, parts, &self.switches, &self.aliases, &whole);
        if self.live.is_empty() && self.trunk.impacts.is_empty() {
            return None;
        }
        let n = self.trunk.flat.variables.len();
        self.common = (n..work.flat.variables.len())
            .map(|i| work.flat.variables[VarId::from_index(i)].clone())
            .collect();
        Some(Box::new(self))
    }

    /// All switches, as expressions of the model's arena.
    pub fn literals(&self) -> &[Literal] {
        &self.switches.literals
    }

    /// Those whose values choose the mode at first, as indices.
    pub fn live(&self) -> &[u32] {
        &self.live
    }

    /// The flags of the laws of restitution.
    pub fn impact_flags(&self) -> impl Iterator<Item = VarId> {
        self.trunk.impacts.iter().map(|impact| impact.flag)
    }

    /// A switch with its value, for messages.
    pub fn text(&self, literal: usize, value: bool) -> String {
        let text = expr_text(&self.trunk, self.switches.literals[literal].expr());
        match (self.switches.literals[literal], value) {
            (Literal::Condition(_), value) => format!("`{text}` is {value}"),
            (Literal::Factor(_), true) => format!("`{text}` is not zero"),
            (Literal::Factor(_), false) => format!("`{text}` is zero"),
        }
    }

    /// Structures the model for the values of its switches (not zero counts as true), of which those that are live are chosen. The result depends on nothing
    /// else, in particular not on other modes.
    pub fn specialise(
        &self,
        live: &[u32],
        values: &[bool],
    ) -> Result<Specialised, Vec<Diagnostic>> {
        let mut work = self.trunk.clone();
        work.is_mode = true;
        for variable in &self.common {
            let id = work.flat.variables.push(variable.clone());
            work.class.push(Class::Unused);
            work.spare.insert(variable.name, id);
        }
        let chosen: FxHashMap<u32, bool> =
            (live.iter()).map(|&i| (i, values[i as usize])).collect();
        let hinges = self.switches.hinges(&mut work, &chosen);
        self.switches.choose(&mut work, &chosen);
        reclassify(&mut work);
        let aliases = &self.aliases;
        let all = unknowns(&work, |v| aliases.representative(v) == v);
        let whole = Whole::new(&work, aliases);
        check(&mut work, &all);
        if !work.errors.is_empty() {
            return Ok(Specialised::Singular);
        }
        let parts = reduced_parts(&mut work, self.aliases.clone(), self.n_parameters);
        let Some(parts) = parts.filter(|_| work.errors.is_empty()) else {
            let notes = (live.iter()).map(|&i| self.text(i as usize, values[i as usize]));
            let note = format!(
                "in the mode in which {}",
                notes.collect::<Vec<_>>().join(", ")
            );
            let errors = std::mem::take(&mut work.errors).into_iter();
            return Err(errors.map(|error| error.note(note.clone())).collect());
        };
        let remaining = Switches::find(&mut work);
        let more: Vec<u32> = live_switches(&mut work, &parts, &remaining, &self.aliases, &whole)
            .into_iter()
            .filter_map(|i| self.switches.index_of(remaining.literals[i as usize]))
            .filter(|i| !live.contains(i))
            .collect();
        if !more.is_empty() {
            return Ok(Specialised::MoreLive(more));
        }
        let restart = Restart::new(&mut work, hinges);
        let mut system = finish(work, parts);
        system.restart = Some(Box::new(restart));
        Ok(Specialised::System(Box::new(system)))
    }

    /// Equations for the jump into a mode whose constraints with these indices the values do not meet, with these impacts.
    pub fn jump(
        &self,
        system: StructuredSystem,
        violated: &[usize],
        impacts: &[usize],
    ) -> Result<Jump, Box<Diagnostic>> {
        let Some(restart) = system.restart.clone() else {
            unreachable!("every mode has a restart");
        };
        restart.jump(system, violated, impacts)
    }
}

#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
struct Switches {
    literals: Vec<Literal>,
    /// Conditions as they stand in the equations: which literal, and whether negated.
    #[serde(with = "saltus_ir::stored::map")]
    conditions: FxHashMap<ExprId, (u32, bool)>,
    #[serde(with = "saltus_ir::stored::map")]
    factors: FxHashMap<ExprId, u32>,
}

impl Switches {
    /// In the continuous equations.
    fn find(work: &mut Work) -> Switches {
        let mut switches = Switches::default();
        let sides: Vec<ExprId> = continuous_sides(work);
        let nodes = work.flat.ir.reachable(&sides);
        let changes = Changes::of_all(work, &nodes);
        for id in nodes {
            let ir = &work.flat.ir;
            if changes[&id] != Changes::Continuously || !ir.ty(id).is_scalar() {
                continue;
            }
            let expr = ir.expr(id).clone();
            match expr {
                Expr::If(condition, a, b)
                    if changes[&condition] == Changes::AtEvents
                        && !have_same_unknowns(work, &[a, b]) =>
                {
                    let (plain, negated) = without_not(work, condition);
                    let literal = switches.index(Literal::Condition(plain));
                    switches.conditions.insert(condition, (literal, negated));
                }
                Expr::Binary(BinaryOp::Mul, a, b) => {
                    for (factor, other) in [(a, b), (b, a)] {
                        if changes[&factor] == Changes::AtEvents
                            && !known_nonzero(work, factor)
                            && !unknowns_in(work, other).is_empty()
                        {
                            let literal = switches.index(Literal::Factor(factor));
                            switches.factors.insert(factor, literal);
                        }
                    }
                }
                _ => {}
            }
        }
        switches
    }

    fn index_of(&self, literal: Literal) -> Option<u32> {
        (self.literals.iter().position(|&l| l == literal)).map(|i| i as u32)
    }

    fn index(&mut self, literal: Literal) -> u32 {
        self.index_of(literal).unwrap_or_else(|| {
            self.literals.push(literal);
            self.literals.len() as u32 - 1
        })
    }

    /// Replaces conditional expressions by the chosen branches and takes zero terms out, in the continuous equations.
    fn choose(&self, work: &mut Work, chosen: &FxHashMap<u32, bool>) {
        let sides = continuous_sides(work);
        let memo = self.chosen(work, &sides, chosen);
        for eq in work
            .equations
            .iter_mut()
            .filter(|eq| eq.kind == Kind::Continuous)
        {
            eq.lhs = memo[&eq.lhs];
            eq.rhs = memo[&eq.rhs];
            for (lhs, rhs) in eq.initial.iter_mut().chain(eq.late.iter_mut()) {
                *lhs = memo[lhs];
                *rhs = memo[rhs];
            }
        }
    }

    /// The expressions with the chosen branches alone.
    fn chosen(
        &self,
        work: &mut Work,
        sides: &[ExprId],
        chosen: &FxHashMap<u32, bool>,
    ) -> FxHashMap<ExprId, ExprId> {
        let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in work.flat.ir.reachable(sides) {
            let new = match *work.flat.ir.expr(id) {
                Expr::If(condition, a, b) => match self.condition(condition, chosen) {
                    Some(true) => memo[&a],
                    Some(false) => memo[&b],
                    None => work.flat.ir.rebuild_folded(id, &memo),
                },
                Expr::Binary(BinaryOp::Mul, a, b)
                    if self.is_zero(a, chosen) || self.is_zero(b, chosen) =>
                {
                    work.flat.ir.real(0.0)
                }
                _ => work.flat.ir.rebuild_folded(id, &memo),
            };
            memo.insert(id, new);
        }
        memo
    }

    /// The equations in which a chosen condition stands, with its other branch.
    fn hinges(&self, work: &mut Work, chosen: &FxHashMap<u32, bool>) -> Vec<Hinge> {
        let nothing = FxHashMap::default();
        let continuous = (work.equations.iter()).filter(|eq| eq.kind == Kind::Continuous);
        let equations: Vec<[ExprId; 2]> = continuous.map(|eq| [eq.lhs, eq.rhs]).collect();
        let mut hinges = Vec::new();
        for sides in equations {
            let mut seen = FxHashSet::default();
            self.incidence(work, sides, &nothing, &mut seen);
            let mut seen: Vec<u32> = seen.into_iter().collect();
            seen.sort_unstable();
            for literal in seen {
                let is_condition = matches!(self.literals[literal as usize], Literal::Condition(_));
                let Some(&value) = chosen.get(&literal).filter(|_| is_condition) else {
                    continue;
                };
                let mut other = chosen.clone();
                other.insert(literal, !value);
                let memo = self.chosen(work, &sides, &other);
                let ir = &mut work.flat.ir;
                hinges.push(Hinge::new(ir, literal, memo[&sides[0]], memo[&sides[1]]));
            }
        }
        hinges
    }

    fn condition(&self, condition: ExprId, chosen: &FxHashMap<u32, bool>) -> Option<bool> {
        let (literal, negated) = self.conditions.get(&condition)?;
        Some(*chosen.get(literal)? != *negated)
    }

    fn is_zero(&self, factor: ExprId, chosen: &FxHashMap<u32, bool>) -> bool {
        let literal = self.factors.get(&factor);
        literal.is_some_and(|literal| chosen.get(literal) == Some(&false))
    }

    /// Continuous unknowns in the chosen branches of an equation; literals met on the way go to `seen`.
    fn incidence(
        &self,
        work: &Work,
        roots: [ExprId; 2],
        chosen: &FxHashMap<u32, bool>,
        seen: &mut FxHashSet<u32>,
    ) -> Vec<VarId> {
        let ir = &work.flat.ir;
        let mut vars = Vec::new();
        let mut visited: FxHashSet<ExprId> = FxHashSet::default();
        let mut stack = roots.to_vec();
        while let Some(id) = stack.pop() {
            if !visited.insert(id) {
                continue;
            }
            let zero = factors(ir, id).into_iter().flatten().any(|factor| {
                seen.extend(self.factors.get(&factor));
                work.zero_factors.contains(&factor) || self.is_zero(factor, chosen)
            });
            if zero {
                continue;
            }
            match ir.expr(id) {
                Expr::Var(v) => vars.push(*v),
                Expr::VarArray(first) => {
                    let n = ir.leaf_count(ir.type_id(id)).unwrap_or(0) as u32;
                    vars.extend((0..n).map(|k| VarId(first.0 + k)));
                }
                Expr::Builtin(Builtin::Pre, _) => {}
                Expr::Builtin(Builtin::Delay, args) => {
                    stack.extend(args.iter().enumerate().filter(|a| a.0 != 1).map(|a| *a.1));
                }
                Expr::If(condition, a, b) => {
                    seen.extend(self.conditions.get(condition).map(|c| c.0));
                    match self.condition(*condition, chosen) {
                        Some(true) => stack.push(*a),
                        Some(false) => stack.push(*b),
                        None => stack.extend([*a, *b]),
                    }
                }
                _ => ir.for_each_child(id, |child| stack.push(child)),
            }
        }
        vars.retain(|&v| work.class(v) == Class::Continuous);
        vars
    }
}

fn continuous_sides(work: &Work) -> Vec<ExprId> {
    let equations = (work.equations.iter()).filter(|eq| eq.kind == Kind::Continuous);
    equations
        .flat_map(|eq| {
            let others = eq.initial.iter().chain(&eq.late).flat_map(|&(l, r)| [l, r]);
            [eq.lhs, eq.rhs].into_iter().chain(others)
        })
        .collect()
}

fn without_not(work: &Work, mut condition: ExprId) -> (ExprId, bool) {
    let mut negated = false;
    while let Expr::Unary(UnaryOp::Not, inner) = *work.flat.ir.expr(condition) {
        condition = inner;
        negated = !negated;
    }
    (condition, negated)
}

/// Whether the same unknowns stand in all these branches, and in each branch of those that have branches themselves: `if s < 0 then s elseif s < 1 then 2*s else 1` selects
/// by both conditions whether `s` is there.
fn have_same_unknowns(work: &mut Work, branches: &[ExprId]) -> bool {
    let mut stack = branches.to_vec();
    let mut visited: FxHashSet<ExprId> = FxHashSet::default();
    let mut first: Option<Vec<VarId>> = None;
    while let Some(e) = stack.pop() {
        if !visited.insert(e) {
            continue;
        }
        if let Expr::If(_, a, b) = *work.flat.ir.expr(e) {
            stack.extend([a, b]);
            continue;
        }
        let here = unknowns_in(work, e);
        if *first.get_or_insert_with(|| here.clone()) != here {
            return false;
        }
    }
    true
}

fn unknowns_in(work: &mut Work, e: ExprId) -> Vec<VarId> {
    let mut vars = work.nonzero_incidence(&[e]);
    vars.retain(|&v| work.class(v) == Class::Continuous);
    vars.sort_unstable();
    vars
}

/// The switches of the blocks that are singular for some choice.
fn live_switches(
    work: &mut Work,
    parts: &Parts,
    switches: &Switches,
    aliases: &Aliases,
    whole: &Whole,
) -> Vec<u32> {
    if switches.literals.is_empty() {
        return Vec::new();
    }
    let states: FxHashSet<VarId> = parts.states.iter().map(|s| s.0).collect();
    let columns = unknowns(work, |v| {
        v.index() < parts.n_event_variables
            && aliases.representative(v) == v
            && !states.contains(&v)
    });
    let mut column = vec![u32::MAX; work.flat.variables.len()];
    for (k, v) in columns.iter().enumerate() {
        column[v.index()] = k as u32;
    }
    let equations = work.equations.clone();
    let in_columns = |vars: Vec<VarId>| -> Vec<u32> {
        let all = vars.into_iter().map(|v| column[v.index()]);
        all.filter(|&c| c != u32::MAX).collect()
    };
    let rows: Vec<Vec<u32>> = equations
        .iter()
        .map(|eq| in_columns(solvable_unknowns(work, eq)))
        .collect();
    let matching = maximum_matching(&rows, columns.len());
    if matching.size() < columns.len() || matching.size() < rows.len() {
        return Vec::new();
    }
    let needs: Vec<Vec<u32>> = equations
        .iter()
        .map(|eq| {
            let read = match eq.kind {
                Kind::Assign { .. } => work.incidence(&[eq.rhs]),
                _ => work.incidence(&[eq.lhs, eq.rhs]),
            };
            in_columns(read)
                .into_iter()
                .filter_map(|c| matching.row_of_col[c as usize])
                .collect()
        })
        .collect();
    let nothing = FxHashMap::default();
    let mut live = Vec::new();
    for component in strongly_connected_components(&needs) {
        let members: Vec<usize> = (component.iter().map(|&row| row as usize))
            .filter(|&row| equations[row].kind == Kind::Continuous)
            .collect();
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        for &row in &members {
            let eq = &equations[row];
            switches.incidence(work, [eq.lhs, eq.rhs], &nothing, &mut seen);
        }
        if seen.is_empty() {
            continue;
        }
        let mut literals: Vec<u32> = seen.into_iter().collect();
        literals.sort_unstable();
        let own: FxHashMap<u32, u32> = (members.iter())
            .filter_map(|&row| matching.col_of_row[row])
            .enumerate()
            .map(|(k, c)| (c, k as u32))
            .collect();
        let is_regular = |chosen: &FxHashMap<u32, bool>| {
            let pattern: Vec<Vec<u32>> = (members.iter())
                .map(|&row| {
                    let eq = &equations[row];
                    let sides = [eq.lhs, eq.rhs];
                    let vars = switches.incidence(work, sides, chosen, &mut FxHashSet::default());
                    let vars = vars.into_iter().map(|v| column[v.index()]);
                    vars.filter_map(|c| own.get(&c).copied()).collect()
                })
                .collect();
            maximum_matching(&pattern, own.len()).covers_rows()
        };
        // Where the equations of a choice are singular whatever the states, a structure of its own is of no use.
        let improves = |chosen: &FxHashMap<u32, bool>| {
            !is_regular(chosen) && whole.is_regular(work, switches, chosen)
        };
        if choices(&literals).any(|chosen| improves(&chosen)) {
            live.extend(literals);
        }
    }
    live.sort_unstable();
    live.dedup();
    live
}

/// All continuous equations as the trunk has them, with their unknowns in any order of derivative.
struct Whole {
    equations: Vec<[ExprId; 2]>,
    /// Chain of a variable.
    chain: Vec<u32>,
    n_chains: usize,
}

impl Whole {
    fn new(trunk: &Work, aliases: &Aliases) -> Whole {
        let mut chain = vec![u32::MAX; trunk.flat.variables.len()];
        let continuous = unknowns(trunk, |v| {
            trunk.class(v) == Class::Continuous && aliases.representative(v) == v
        });
        let chains = crate::index::chains(trunk, &continuous);
        for (number, vars) in chains.vars.iter().enumerate() {
            for v in vars {
                chain[v.index()] = number as u32;
            }
        }
        Whole {
            equations: (trunk.equations.iter())
                .filter(|eq| eq.kind == Kind::Continuous)
                .map(|eq| [eq.lhs, eq.rhs])
                .collect(),
            chain,
            n_chains: chains.vars.len(),
        }
    }

    fn is_regular(&self, work: &Work, switches: &Switches, chosen: &FxHashMap<u32, bool>) -> bool {
        let rows: Vec<Vec<u32>> = (self.equations.iter())
            .map(|&sides| {
                let vars = switches.incidence(work, sides, chosen, &mut FxHashSet::default());
                let chains = vars
                    .into_iter()
                    .filter_map(|v| self.chain.get(v.index()).copied());
                chains.filter(|&c| c != u32::MAX).collect()
            })
            .collect();
        maximum_matching(&rows, self.n_chains).covers_rows()
    }
}

/// Choices of the literals: all, or as many as are worth looking at.
fn choices(literals: &[u32]) -> impl Iterator<Item = FxHashMap<u32, bool>> {
    let n = literals.len();
    let all = n <= ENUMERATED_MAX;
    let count = if all { 1 << n } else { SAMPLES };
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    (0..count).map(move |k| {
        let pick = |i: usize, random: &mut u64| match (all, k) {
            (true, _) => k >> i & 1 == 1,
            (false, 0) => false,
            (false, 1) => true,
            (false, _) => {
                // Marsaglia's xorshift.
                *random ^= *random << 13;
                *random ^= *random >> 7;
                *random ^= *random << 17;
                *random & 1 == 1
            }
        };
        (literals.iter().enumerate())
            .map(|(i, &literal)| (literal, pick(i, &mut random)))
            .collect()
    })
}
