//! Elimination of aliases and of variables that never change.
//!
//! `a = b`, `a = -b`, `a + b = 0` make one class of variables (union-find with sign); an equation that fixes a variable
//! by parameters alone makes it a parameter. A literal value is written into all equations, which may make further aliases.
//! `v = der(x)` makes `v` the derivative of `x`; a class contains at most one derivative, and chains of derivatives are short
//! and without cycle (`der(x) = x` stays an equation). Each equation is looked at again only when one of its variables has
//! changed, so the pass is linear but for the merging of occurrence lists (small into large).

use crate::derivative::der_operator;
use crate::late::inline_derivative;
use crate::numeric::known_nonzero;
use crate::parameters::is_fixed;
use crate::rewrite::substitute;
use crate::system::Assignment;
use crate::text::expr_text;
use crate::work::{Class, Eq, Kind, Work};
use rustc_hash::FxHashMap;
use saltus_ir::flat::{Origin, StateSelect, Variable};
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Id, Ir, UnaryOp, VarId};
use saltus_syntax::{Diagnostic, Name};
use std::collections::VecDeque;

/// Chains x, der(x), der(der(x)), … are joined up to this length.
const CHAIN_MAX: usize = 4;

/// Longer equations are not examined again each time one of their variables changes.
const EXAMINED_MAX: usize = 40;

/// Result: every variable's representative.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Aliases {
    /// `v = ±representative`, by variable; a representative is its own.
    pub(crate) of: Vec<(VarId, bool)>,
}

impl Aliases {
    pub(crate) fn representative(&self, v: VarId) -> VarId {
        self.of.get(v.index()).map_or(v, |&(r, _)| r)
    }

    /// Those of a second pass after these.
    pub(crate) fn then(self, next: &Aliases) -> Aliases {
        let of = (0..next.of.len()).map(|i| {
            let (first, negated) = (self.of.get(i).copied()).unwrap_or((VarId(i as u32), false));
            let (last, flipped) = next.of[first.index()];
            (last, negated != flipped)
        });
        Aliases { of: of.collect() }
    }
}

/// Removes alias and constant equations and rewrites everything in representatives.
pub(crate) fn eliminate_aliases(work: &mut Work) -> Aliases {
    let mut pass = Pass::new(work);
    pass.run();
    let consumed = std::mem::take(&mut pass.consumed);
    let invariants = std::mem::take(&mut pass.invariants);
    let aliases = pass.choose_representatives();
    let mut keep = consumed.iter().map(|&c| !c);
    work.equations.retain(|_| keep.next().unwrap_or(true));
    rewrite_all(work, &aliases, &invariants);
    aliases
}

#[derive(Clone, Copy, Default)]
struct Info {
    /// Has a value from elsewhere: parameter, input, flag, when-clause, relation. It will be the representative.
    assigned: Option<VarId>,
    /// root = value
    value: Option<ExprId>,
    /// der(root) = ±this
    der: Option<(VarId, bool)>,
    /// root = ±der(this)
    int: Option<(VarId, bool)>,
    /// An equation reads `pre(root)`, which at the start is a fixed value that may be another than that of the root.
    remembers: bool,
    /// An initial equation says what `pre` of it is. In the initial system `pre(a)` and `pre(b)` are two unknowns, also where a = b (specification 8.6).
    pre_stated: bool,
    /// Something reads `pre` of a member.
    pre_read: bool,
    /// A discrete member with a fixed start value, and whether it is the negative of the root: `pre` of it starts there.
    fixed: Option<(VarId, bool)>,
}

struct Pass<'a> {
    work: &'a mut Work,
    parent: Vec<VarId>,
    negated: Vec<bool>,
    info: Vec<Info>,
    occurrences: Vec<Vec<u32>>,
    incidence: Vec<Vec<VarId>>,
    consumed: Vec<bool>,
    queue: VecDeque<u32>,
    queued: Vec<bool>,
    /// The equation has a literal to be written in.
    literal: Vec<bool>,
    /// Classes (by a member) with their values, in the order found.
    invariants: Vec<(VarId, ExprId, u32)>,
}

impl<'a> Pass<'a> {
    fn new(work: &'a mut Work) -> Pass<'a> {
        let n = work.flat.variables.len();
        let mut info = vec![Info::default(); n];
        for v in work.flat.variables.ids() {
            if !matches!(work.class(v), Class::Continuous | Class::Discrete)
                || work.partition.contains_key(&v)
            {
                info[v.index()].assigned = Some(v);
            }
        }
        for eq in &work.equations {
            if let Kind::Assign { var, .. } = eq.kind {
                info[var.index()].assigned = Some(var);
            }
        }
        let roots: Vec<ExprId> = (work.equations.iter())
            .flat_map(|eq| [eq.lhs, eq.rhs])
            .collect();
        for v in work.pre_incidence(&roots) {
            info[v.index()].remembers = is_fixed(work, v) == Some(true);
            info[v.index()].pre_read = true;
        }
        let guards: Vec<ExprId> = (work.actions.iter())
            .flat_map(|guarded| [guarded.event, guarded.initial])
            .collect();
        for v in work.pre_incidence(&guards) {
            info[v.index()].pre_read = true;
        }
        let initial: Vec<ExprId> = (work.initial_equations.iter())
            .flat_map(|eq| [eq.lhs, eq.rhs])
            .collect();
        for v in work.pre_incidence(&initial) {
            info[v.index()].remembers |= work.class(v) == Class::Discrete;
            info[v.index()].pre_read = true;
        }
        for v in work.flat.variables.ids() {
            if work.class(v) == Class::Discrete && is_fixed(work, v) == Some(true) {
                info[v.index()].fixed = Some((v, false));
            }
        }
        let roots: Vec<ExprId> = (work.initial_equations.iter())
            .flat_map(|eq| [eq.lhs, eq.rhs])
            .collect();
        for v in work.pre_incidence(&roots) {
            info[v.index()].pre_stated = work.class(v) == Class::Discrete;
        }
        for v in work.flat.variables.ids() {
            if let Some(&der) = work.der.get(&v) {
                info[v.index()].der = Some((der, false));
                info[der.index()].int = Some((v, false));
            }
        }
        let n_equations = work.equations.len();
        let mut pass = Pass {
            work,
            parent: (0..n as u32).map(VarId).collect(),
            negated: vec![false; n],
            info,
            occurrences: vec![Vec::new(); n],
            incidence: Vec::with_capacity(n_equations),
            consumed: vec![false; n_equations],
            queue: VecDeque::new(),
            queued: vec![false; n_equations],
            literal: vec![false; n_equations],
            invariants: Vec::new(),
        };
        for k in 0..n_equations {
            let eq = &pass.work.equations[k];
            if !matches!(eq.kind, Kind::Continuous | Kind::Discrete) || eq.initial.is_some() {
                pass.incidence.push(Vec::new());
                continue;
            }
            let (lhs, rhs) = (eq.lhs, eq.rhs);
            let vars = pass.work.incidence(&[lhs, rhs]);
            for &v in &vars {
                pass.occurrences[v.index()].push(k as u32);
            }
            pass.incidence.push(vars);
            pass.queued[k] = true;
            pass.queue.push_back(k as u32);
        }
        pass
    }

    fn run(&mut self) {
        while let Some(k) = self.queue.pop_front() {
            let k = k as usize;
            self.queued[k] = false;
            if !self.consumed[k] {
                self.examine(k);
            }
        }
    }

    /// Root of the class of `v`, and whether `v` is its negative. Compresses the path.
    fn find(&mut self, v: VarId) -> (VarId, bool) {
        let mut root = v;
        let mut sign = false;
        while self.parent[root.index()] != root {
            sign ^= self.negated[root.index()];
            root = self.parent[root.index()];
        }
        let (mut node, mut left) = (v, sign);
        while self.parent[node.index()] != root {
            if node == root {
                break;
            }
            let next = self.parent[node.index()];
            let own = self.negated[node.index()];
            self.parent[node.index()] = root;
            self.negated[node.index()] = left;
            left ^= own;
            node = next;
        }
        (root, sign)
    }

    /// Not a parameter and without a value.
    fn is_atom(&mut self, v: VarId) -> bool {
        let (root, _) = self.find(v);
        self.info[root.index()].value.is_none() && self.work.class(v) != Class::Known
    }

    /// Looks whether equation `k` is an alias or fixes a variable.
    fn examine(&mut self, k: usize) {
        let literal = std::mem::take(&mut self.literal[k]);
        if self.incidence[k].len() > EXAMINED_MAX && !literal {
            return;
        }
        let mut atoms = self.atoms(k);
        if atoms.len() > 2 && !literal {
            return;
        }
        let (lhs, rhs) = (self.work.equations[k].lhs, self.work.equations[k].rhs);
        let lhs = self.current(lhs);
        let rhs = self.current(rhs);
        self.work.equations[k].lhs = lhs;
        self.work.equations[k].rhs = rhs;
        self.incidence[k] = self.work.incidence(&[lhs, rhs]);
        atoms = self.atoms(k);
        if matches!(atoms.len(), 1 | 2) && self.has_derivative_of_its_own(k) {
            return;
        }
        match atoms.as_slice() {
            [x] => self.fix(k, *x),
            [x, y] => self.alias(k, *x, *y),
            _ => {}
        }
    }

    /// Whether the derivative of equation `k` is another than that of its inlined form, because a function in it says so: `phi = u[1]`,
    /// where a rule gives `der(phi) = u[2]`, makes no alias.
    fn has_derivative_of_its_own(&mut self, k: usize) -> bool {
        let Some((lhs, rhs)) = self.work.equations[k].late else {
            return false;
        };
        let (inlined_lhs, inlined_rhs) = (self.work.equations[k].lhs, self.work.equations[k].rhs);
        [(lhs, inlined_lhs), (rhs, inlined_rhs)]
            .into_iter()
            .any(|(called, inlined)| self.derivatives_differ(called, inlined))
    }

    /// Whether the first derivatives of an expression with calls and of its inlined form differ.
    fn derivatives_differ(&mut self, called: ExprId, inlined: ExprId) -> bool {
        let mut called = self.current(called);
        let mut inlined = inlined;
        for _ in 0..CHAIN_MAX {
            // What has no derivative by its rule has none that differs.
            let Ok(by_rule) = der_operator(self.work, called) else {
                return false;
            };
            let by_rule_inlined = inline_derivative(&mut self.work.flat.ir, by_rule);
            match der_operator(self.work, inlined) {
                Ok(derivative) if derivative == by_rule_inlined => inlined = derivative,
                _ => return true,
            }
            called = by_rule;
        }
        false
    }

    /// Roots of the unknowns in equation `k`.
    fn atoms(&mut self, k: usize) -> Vec<VarId> {
        let vars = std::mem::take(&mut self.incidence[k]);
        let mut atoms = Vec::new();
        for &v in &vars {
            if self.is_atom(v) {
                let root = self.find(v).0;
                if !atoms.contains(&root) {
                    atoms.push(root);
                }
            }
        }
        self.incidence[k] = vars;
        atoms
    }

    /// The expression in roots and literal values.
    fn current(&mut self, e: ExprId) -> ExprId {
        let mut news: FxHashMap<VarId, ExprId> = FxHashMap::default();
        for v in self.work.flat.ir.variables_of(e) {
            let (root, negated) = self.find(v);
            let value = self.info[root.index()]
                .value
                .filter(|&value| self.work.flat.ir.is_literal(value));
            let node = match value {
                Some(value) => value,
                None if root == v => continue,
                None => self.work.var(root),
            };
            let node = if negated {
                self.work.flat.ir.neg(node)
            } else {
                node
            };
            news.insert(v, node);
        }
        if news.is_empty() {
            return e;
        }
        let mut memo = FxHashMap::default();
        substitute(
            &mut self.work.flat.ir,
            e,
            &mut |_, v| news.get(&v).copied(),
            &mut memo,
        )
    }

    /// The equation contains the unknown class `x` only, besides parameters.
    fn fix(&mut self, k: usize, x: VarId) {
        let info = self.info[x.index()];
        if info.assigned.is_some()
            || info.int.is_some()
            || info.remembers
            || self.carries_impulse(x)
        {
            return;
        }
        let (lhs, rhs) = (self.work.equations[k].lhs, self.work.equations[k].rhs);
        let value = if self.work.equations[k].kind == Kind::Discrete {
            let ir = &self.work.flat.ir;
            let (left, right) = (*ir.expr(lhs) == Expr::Var(x), *ir.expr(rhs) == Expr::Var(x));
            match (left, right) {
                (true, false) => rhs,
                (false, true) => lhs,
                _ => return,
            }
        } else {
            let Some(solution) = crate::sort::solve_linear(self.work, lhs, rhs, x) else {
                return;
            };
            if !known_nonzero(self.work, solution.divisor) {
                return;
            }
            solution.value
        };
        // `b = not b` says nothing about a value of `b`.
        if !is_invariant(&self.work.flat.ir, value) || self.work.flat.ir.depends_on(value, x) {
            return;
        }
        self.consumed[k] = true;
        self.set_value(x, value, k as u32);
    }

    /// At some instants it is an impulse, whatever its value otherwise.
    fn carries_impulse(&mut self, x: VarId) -> bool {
        let carriers: Vec<VarId> = (self.work.impacts.iter())
            .flat_map(|impact| self.work.flat.ir.variables_of(impact.carrier))
            .collect();
        carriers.into_iter().any(|v| self.find(v).0 == x)
    }

    fn set_value(&mut self, x: VarId, value: ExprId, equation: u32) {
        // A Real must not turn into an Integer literal in array arguments.
        let value = match *self.work.flat.ir.expr(value) {
            Expr::Integer(i) if self.work.flat.variables[x].base == Base::Real => {
                self.work.flat.ir.real(i as f64)
            }
            _ => value,
        };
        self.info[x.index()].value = Some(value);
        self.invariants.push((x, value, equation));
        let literal = self.work.flat.ir.is_literal(value);
        let occurrences = std::mem::take(&mut self.occurrences[x.index()]);
        for &eq in &occurrences {
            self.literal[eq as usize] |= literal;
            self.enqueue(eq);
        }
        self.occurrences[x.index()] = occurrences;
        if let Some((der, _)) = self.info[x.index()].der {
            let (der, _) = self.find(der);
            if self.info[der.index()].value.is_none() {
                let zero = self.work.flat.ir.real(0.0);
                self.info[der.index()].int = None;
                self.set_value(der, zero, equation);
            }
        }
    }

    fn enqueue(&mut self, eq: u32) {
        if !self.queued[eq as usize] && !self.consumed[eq as usize] {
            self.queued[eq as usize] = true;
            self.queue.push_back(eq);
        }
    }

    /// The equation contains two classes.
    fn alias(&mut self, k: usize, x: VarId, y: VarId) {
        let (lhs, rhs) = (self.work.equations[k].lhs, self.work.equations[k].rhs);
        let negated = if self.work.equations[k].kind == Kind::Discrete
            && self.work.flat.ir.base(lhs) != Base::Real
        {
            let ir = &self.work.flat.ir;
            if ![lhs, rhs]
                .iter()
                .all(|&e| matches!(ir.expr(e), Expr::Var(_)))
                || ir.ty(lhs) != ir.ty(rhs)
            {
                return;
            }
            false
        } else {
            match two_terms(&self.work.flat.ir, lhs, rhs) {
                Some([(a, sa), (b, sb)]) if (a, b) == (x, y) || (a, b) == (y, x) => sa == sb,
                _ => return,
            }
        };
        if self.work.flat.variables[x].base != self.work.flat.variables[y].base {
            return;
        }
        if self.union(x, y, negated) {
            self.consumed[k] = true;
        }
    }

    /// Joins the classes of the roots x = ±y; false if that is not allowed.
    fn union(&mut self, x: VarId, y: VarId, negated: bool) -> bool {
        if !self.may_join(x, y) || self.start_apart(x, y, negated) {
            return false;
        }
        // A join of variables joins their derivatives too.
        let mut joins = vec![(x, y, negated)];
        while let Some((x, y, negated)) = joins.pop() {
            let ((x, sx), (y, sy)) = (self.find(x), self.find(y));
            let negated = negated ^ sx ^ sy;
            if x == y {
                continue;
            }
            let (root, child) =
                if self.occurrences[x.index()].len() >= self.occurrences[y.index()].len() {
                    (x, y)
                } else {
                    (y, x)
                };
            self.parent[child.index()] = root;
            self.negated[child.index()] = negated;
            let moved = std::mem::take(&mut self.occurrences[child.index()]);
            for &eq in &moved {
                self.enqueue(eq);
            }
            self.occurrences[root.index()].extend(moved);
            let (own, other) = (self.info[root.index()], self.info[child.index()]);
            let info = &mut self.info[root.index()];
            info.assigned = own.assigned.or(other.assigned);
            info.remembers |= other.remembers;
            info.pre_read |= other.pre_read;
            info.fixed = own.fixed.or(other.fixed.map(|(v, s)| (v, s ^ negated)));
            info.der = own.der.or(other.der.map(|(d, s)| (d, s ^ negated)));
            info.int = own.int.or(other.int.map(|(i, s)| (i, s ^ negated)));
            if let (Some((d1, s1)), Some((d2, s2))) = (own.der, other.der) {
                joins.push((d1, d2, s1 ^ s2 ^ negated));
            }
        }
        true
    }

    /// Discrete variables that are equal but whose `pre` starts at two values (specification 8.6: `pre(v) = start`): each keeps its own.
    fn start_apart(&mut self, x: VarId, y: VarId, negated: bool) -> bool {
        let (a, b) = (self.info[x.index()], self.info[y.index()]);
        if !a.pre_read && !b.pre_read {
            return false;
        }
        let (a, b) = (a.fixed, b.fixed);
        let (Some((a, sign_a)), Some((b, sign_b))) = (a, b) else {
            return false;
        };
        start_of(self.work, a, sign_a) != start_of(self.work, b, sign_b ^ negated)
    }

    fn may_join(&mut self, x: VarId, y: VarId) -> bool {
        let (a, b) = (self.info[x.index()], self.info[y.index()]);
        if a.pre_stated || b.pre_stated {
            return false;
        }
        match (a.assigned, b.assigned) {
            (Some(_), Some(_)) => return false,
            (Some(_), None) if b.der.is_some() || b.int.is_some() => return false,
            (None, Some(_)) if a.der.is_some() || a.int.is_some() => return false,
            _ => {}
        }
        if a.int.is_some() && b.int.is_some() {
            return false;
        }
        if a.der.is_none() && b.der.is_none() && a.int.is_none() && b.int.is_none() {
            return true;
        }
        // Derivatives that would be joined too must not be assigned or belong to different chains.
        if let (Some((da, _)), Some((db, _))) = (a.der, b.der) {
            let (da, db) = (self.find(da).0, self.find(db).0);
            let (ia, ib) = (self.info[da.index()], self.info[db.index()]);
            if da != db
                && (ia.value.is_some() != ib.value.is_some()
                    || ia.assigned.is_some()
                    || ib.assigned.is_some())
            {
                return false;
            }
        }
        let below = |pass: &mut Self, v: VarId| pass.walk(v, |info| info.int);
        let above = |pass: &mut Self, v: VarId| pass.walk(v, |info| info.der);
        let (Some(bx), Some(ax), Some(by), Some(ay)) = (
            below(self, x),
            above(self, x),
            below(self, y),
            above(self, y),
        ) else {
            return false;
        };
        let crossed = |a: &[VarId], b: &[VarId]| a.iter().any(|r| b.contains(r));
        if bx.contains(&y) || ax.contains(&y) || crossed(&bx, &ay) || crossed(&by, &ax) {
            return false;
        }
        if ax
            .iter()
            .enumerate()
            .any(|(i, r)| ay.iter().position(|s| s == r).is_some_and(|j| i != j))
        {
            return false;
        }
        bx.len().max(by.len()) + ax.len().max(ay.len()) <= CHAIN_MAX
    }

    /// Roots along the chain from `v` (without it), `None` if longer than allowed.
    fn walk(
        &mut self,
        v: VarId,
        next: impl Fn(&Info) -> Option<(VarId, bool)>,
    ) -> Option<Vec<VarId>> {
        let mut roots = Vec::new();
        let mut at = v;
        while let Some((to, _)) = next(&self.info[at.index()]) {
            at = self.find(to).0;
            if roots.len() >= CHAIN_MAX {
                return None;
            }
            roots.push(at);
        }
        Some(roots)
    }

    /// Chooses the representative of each class, with positive sign along chains of derivatives, and merges attributes.
    fn choose_representatives(mut self) -> Aliases {
        let n = self.work.flat.variables.len();
        let mut members: Vec<Vec<(VarId, bool)>> = vec![Vec::new(); n];
        for v in (0..n as u32).map(VarId) {
            let (root, negated) = self.find(v);
            members[root.index()].push((v, negated));
        }
        // Representative of each root: root = ±representative.
        let mut chosen: Vec<Option<(VarId, bool)>> = vec![None; n];
        let mut der: Vec<(VarId, VarId)> = Vec::new();
        for start in (0..n as u32).map(VarId) {
            if self.parent[start.index()] != start || self.info[start.index()].int.is_some() {
                continue;
            }
            // Along the chain, from the variable that is no derivative upwards.
            let mut root = start;
            let mut wanted_sign: Option<(bool, VarId)> = None;
            for _ in 0..=2 * CHAIN_MAX {
                let (rep, negated) = match wanted_sign {
                    None => self.best(&members[root.index()], None),
                    Some((sign, below)) => {
                        let (rep, negated) = self.best(&members[root.index()], Some(sign));
                        if negated == sign {
                            (rep, negated)
                        } else {
                            // No member is the derivative itself: add one.
                            let fresh = self.work.der_of(below);
                            self.parent.push(root);
                            self.negated.push(sign);
                            self.info.push(Info::default());
                            members[root.index()].push((fresh, sign));
                            (fresh, sign)
                        }
                    }
                };
                chosen[root.index()] = Some((rep, negated));
                if let Some((_, below)) = wanted_sign {
                    der.push((below, rep));
                }
                let info = self.info[root.index()];
                let Some((d, s)) = info.der else { break };
                if info.value.is_some() {
                    // The derivative of a constant is a class of its own with the value zero.
                    let (d, _) = self.find(d);
                    if chosen[d.index()].is_none() {
                        chosen[d.index()] = Some(self.best(&members[d.index()], None));
                    }
                    break;
                }
                let (d_root, d_sign) = self.find(d);
                // der(rep) = der(±root) = ±(±d) must equal the representative of the derivative's class.
                wanted_sign = Some((negated ^ s ^ d_sign, rep));
                root = d_root;
            }
        }
        let total = self.work.flat.variables.len();
        let mut of: Vec<(VarId, bool)> = (0..total as u32).map(|v| (VarId(v), false)).collect();
        for (root, members) in members.iter().enumerate() {
            let Some((rep, rep_negated)) = chosen[root] else {
                continue;
            };
            for &(v, negated) in members {
                of[v.index()] = (rep, negated ^ rep_negated);
            }
        }
        for (root, members) in members.iter().enumerate() {
            if let (Some((rep, rep_negated)), true) = (chosen[root], members.len() > 1) {
                merge_attributes(self.work, rep, rep_negated, members);
            }
        }
        self.work.der = der.into_iter().collect();
        Aliases { of }
    }

    /// The member that stands for the class, of the given sign relative to the root if there is one.
    fn best(&self, members: &[(VarId, bool)], sign: Option<bool>) -> (VarId, bool) {
        let key = |&(v, negated): &(VarId, bool)| {
            let variable = &self.work.flat.variables[v];
            let generated =
                self.work.der_name.contains_key(&v) || variable.name.as_str().starts_with('$');
            (
                sign.is_some_and(|s| s != negated),
                self.info[v.index()].assigned != Some(v),
                generated,
                std::cmp::Reverse(variable.state_select),
                crate::parameters::is_fixed(self.work, v) != Some(true),
                variable.start_confidence,
                variable.name.as_str().len(),
                v,
            )
        };
        members
            .iter()
            .copied()
            .min_by_key(key)
            .expect("a class has a member")
    }
}

/// The start value of a variable, or of its negative; that of its type where none is given (specification 4.9).
fn start_of(work: &mut Work, v: VarId, negated: bool) -> ExprId {
    let Variable { start, base, .. } = work.flat.variables[v];
    let ir = &mut work.flat.ir;
    let start = match (start, base) {
        (Some(start), Base::Real) => match *ir.expr(start) {
            Expr::Integer(i) => ir.real(i as f64),
            _ => start,
        },
        (Some(start), _) => start,
        (None, Base::Integer) => ir.integer(0),
        (None, Base::Boolean) => ir.boolean(false),
        (None, Base::String) => ir.string(""),
        (None, Base::Enum(id)) => ir.add_scalar(Expr::Enum(id, 1), base),
        (None, _) => ir.real(0.0),
    };
    if negated { ir.neg(start) } else { start }
}

/// Depends on parameters only, and gives the same value each time.
fn is_invariant(ir: &Ir, e: ExprId) -> bool {
    ir.reachable(&[e]).into_iter().all(|id| match ir.expr(id) {
        Expr::Time => false,
        Expr::Builtin(op, _) => !matches!(op, Builtin::Pre | Builtin::Delay),
        Expr::Call { function, .. } => !ir.functions[*function].impure,
        _ => true,
    })
}

/// The sides as ±a ± b with nothing else: variables and whether they are negative in lhs - rhs.
fn two_terms(ir: &Ir, lhs: ExprId, rhs: ExprId) -> Option<[(VarId, bool); 2]> {
    let mut stack = vec![(lhs, false), (rhs, true)];
    let mut terms: Vec<(VarId, bool)> = Vec::new();
    while let Some((e, negative)) = stack.pop() {
        match *ir.expr(e) {
            Expr::Var(v) => terms.push((v, negative)),
            Expr::Unary(UnaryOp::Neg, a) => stack.push((a, !negative)),
            Expr::Binary(BinaryOp::Add, a, b) => stack.extend([(a, negative), (b, negative)]),
            Expr::Binary(BinaryOp::Sub, a, b) => stack.extend([(a, negative), (b, !negative)]),
            _ if ir.is_zero(e) => {}
            _ => return None,
        }
        if terms.len() > 2 || stack.len() > 8 {
            return None;
        }
    }
    match terms.as_slice() {
        &[a, b] if a.0 != b.0 => Some([a, b]),
        _ => None,
    }
}

/// The representative takes the best start value, the tightest bounds, the strongest wish to be a state.
fn merge_attributes(work: &mut Work, rep: VarId, rep_negated: bool, members: &[(VarId, bool)]) {
    let mut merged: Variable = work.flat.variables[rep].clone();
    let mut fixed = crate::parameters::is_fixed(work, rep) == Some(true);
    let parameter = matches!(work.class(rep), Class::Known | Class::FreeParameter);
    for &(v, negated) in members {
        if v == rep || parameter {
            continue;
        }
        let other = work.flat.variables[v].clone();
        let flip = negated != rep_negated;
        let other_fixed = crate::parameters::is_fixed(work, v) == Some(true);
        let better = match (fixed, other_fixed) {
            (true, false) => false,
            (false, true) => other.start.is_some() || merged.start.is_none(),
            _ => {
                other.start.is_some()
                    && (merged.start.is_none() || other.start_confidence < merged.start_confidence)
            }
        };
        if fixed && other_fixed {
            report_conflict(work, rep, v, flip);
        }
        let ir = &mut work.flat.ir;
        let mut signed = |e: Option<ExprId>| e.map(|e| if flip { ir.neg(e) } else { e });
        if better {
            merged.start = signed(other.start);
            merged.start_confidence = other.start_confidence;
        }
        if other_fixed && !fixed {
            merged.fixed = other.fixed;
            fixed = true;
        }
        let (min, max) = if flip {
            (signed(other.max), signed(other.min))
        } else {
            (other.min, other.max)
        };
        merged.min = merged.min.or(min);
        merged.max = merged.max.or(max);
        merged.nominal = merged.nominal.or(other.nominal);
        merged.state_select = match (merged.state_select, other.state_select) {
            (StateSelect::Default, s) | (s, StateSelect::Default) => s,
            (a, b) if a.max(b) >= StateSelect::Prefer => a.max(b),
            (a, b) => a.min(b),
        };
        if merged.unit.is_none() {
            merged.unit = other.unit;
        }
        if merged.quantity.is_none() {
            merged.quantity = other.quantity;
        }
    }
    work.flat.variables[rep] = merged;
}

/// Continuous variables that are equal, with fixed start values that are not. Values that only a run knows are compared at its start.
fn report_conflict(work: &mut Work, rep: VarId, other: VarId, flip: bool) {
    let (a, b) = (start_of(work, rep, false), start_of(work, other, flip));
    if a == b || work.class(rep) != Class::Continuous {
        return;
    }
    let origin = Origin {
        span: work.span(other),
        component: Name::new(""),
    };
    if !work.flat.ir.is_literal(a) || !work.flat.ir.is_literal(b) {
        work.initial_equations.push(Eq {
            lhs: a,
            rhs: b,
            initial: None,
            late: None,
            kind: Kind::Continuous,
            origin,
        });
        return;
    }
    let (name, other_name) = (work.name(rep), work.name(other));
    let sign = if flip { "-" } else { "" };
    let (a, b) = (expr_text(work, a), expr_text(work, b));
    let declared = work.span(rep);
    work.error(
        Diagnostic::error(
            "conflicting-starts",
            origin.span,
            format!("`{name}` and `{sign}{other_name}` are equal, but start at {a} and {b}"),
        )
        .secondary(declared, format!("`{name}` is declared here"))
        .help("remove `fixed = true` from one of them, or give both the same start value"),
    );
}

/// Writes representatives (and literal values) everywhere; variables with a value become parameters.
fn rewrite_all(work: &mut Work, aliases: &Aliases, invariants: &[(VarId, ExprId, u32)]) {
    let mut values: FxHashMap<VarId, ExprId> = FxHashMap::default();
    let mut known = Vec::new();
    for &(member, value, _) in invariants {
        let (rep, negated) = aliases.of[member.index()];
        let value = if negated {
            work.flat.ir.neg(value)
        } else {
            value
        };
        if work.flat.ir.is_literal(value) {
            values.insert(rep, value);
        }
        known.push((rep, value));
    }
    let bases: Vec<Base> = work.flat.variables.iter().map(|(_, v)| v.base).collect();
    let mut map = |ir: &mut Ir, v: VarId| -> Option<ExprId> {
        let &(rep, negated) = aliases.of.get(v.index())?;
        let node = match values.get(&rep) {
            Some(&value) => value,
            None if rep == v => return None,
            None => ir.var(rep, bases[rep.index()]),
        };
        Some(if negated { ir.neg(node) } else { node })
    };
    let mut memo = FxHashMap::default();
    let mut new = |ir: &mut Ir, e: ExprId| substitute(ir, e, &mut map, &mut memo);
    let Work {
        flat,
        equations,
        initial_equations,
        actions,
        crossings,
        delays,
        time_events,
        impacts,
        ..
    } = work;
    let ir = &mut flat.ir;
    for eq in equations.iter_mut().chain(initial_equations.iter_mut()) {
        if !matches!(eq.kind, Kind::Assign { .. }) {
            eq.lhs = new(ir, eq.lhs);
        }
        eq.rhs = new(ir, eq.rhs);
        for (lhs, rhs) in eq.initial.iter_mut().chain(eq.late.iter_mut()) {
            *lhs = new(ir, *lhs);
            *rhs = new(ir, *rhs);
        }
        if let Kind::Clocked { active, .. } = &mut eq.kind {
            *active = new(ir, *active);
        }
    }
    for guarded in actions.iter_mut() {
        guarded.event = new(ir, guarded.event);
        guarded.initial = new(ir, guarded.initial);
        crate::collect::map_action(&mut guarded.action, |e| new(ir, e));
        if let crate::system::Action::Reinit { var, value } = &mut guarded.action {
            let (rep, negated) = aliases.of[var.index()];
            *var = rep;
            if negated {
                *value = ir.neg(*value);
            }
        }
    }
    for impact in impacts.iter_mut() {
        for e in [
            &mut impact.approach,
            &mut impact.coefficient,
            &mut impact.carrier,
        ] {
            *e = new(ir, *e);
        }
    }
    for crossing in crossings.iter_mut() {
        crossing.function = new(ir, crossing.function);
    }
    for delay in delays.iter_mut() {
        delay.expr = new(ir, delay.expr);
        delay.delay_time = new(ir, delay.delay_time);
        delay.delay_max = new(ir, delay.delay_max);
        if let Some((points, values)) = &mut delay.profile {
            for e in points.iter_mut().chain(values) {
                *e = new(ir, *e);
            }
        }
    }
    for event in time_events.iter_mut() {
        if let crate::system::TimeEvent::Threshold { at, .. } = event {
            *at = new(ir, *at);
        }
    }
    let known: Vec<(VarId, ExprId)> = known
        .into_iter()
        .map(|(rep, value)| (rep, new(ir, value)))
        .collect();
    for var in &mut work.reinit_vars {
        *var = aliases.representative(*var);
    }
    for (var, value) in known {
        work.class[var.index()] = Class::Known;
        let origin = saltus_ir::flat::Origin {
            span: work.span(var),
            component: saltus_syntax::Name::new(""),
        };
        work.parameters.push(Assignment { var, value, origin });
    }
}
