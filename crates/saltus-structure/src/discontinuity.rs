//! `sign`, `abs`, `min`, `max` make no events in the language (specification 3.7.2), but the motion has a jump or a kink where they change
//! branches, and the integrator must not step across it.
//!
//! Comes in: the sorted event system. Goes out: the same, in which such operators in explicit steps that the derivatives need are branches of relations
//! `$rel[k]` with crossing functions; nothing but these steps reads the relations, so the motion may slide along their surfaces. Operators that
//! the user has put into `noEvent`, those in systems of equations, where a branch would be one more unknown, those that no derivative needs, and those
//! that keep an operation inside its domain (`sqrt(abs(x))`, `log(max(eps, x))`: a branch that is held beyond its end would lead out of it) stay as
//! they are.

use crate::schedule::derivative_steps;
use crate::system::{Assignment, Crossing, CrossingClass, Step};
use crate::text::expr_text;
use crate::work::{Class, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::Origin;
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, VarId};
use saltus_syntax::Name;

/// Gives the branches of such operators relations of their own.
pub(crate) fn locate_discontinuities(
    work: &mut Work,
    event: &mut Vec<Step>,
    states: &[(VarId, VarId)],
) {
    let needed = derivative_steps(work, event, states);
    let mut branches = Branches {
        work,
        known: FxHashMap::default(),
        new: Vec::new(),
    };
    let mut result = Vec::with_capacity(event.len());
    for (mut step, needed) in event.drain(..).zip(needed) {
        if needed
            && let Step::Assign {
                assignment,
                discrete: false,
            } = &mut step
        {
            assignment.value = branches.rewrite(assignment.value, assignment.origin);
            result.append(&mut branches.new);
        }
        result.push(step);
    }
    *event = result;
}

struct Branches<'a> {
    work: &'a mut Work,
    known: FxHashMap<(ExprId, ExprId, BinaryOp), VarId>,
    /// The steps of relations made for the present one.
    new: Vec<Step>,
}

impl Branches<'_> {
    fn rewrite(&mut self, value: ExprId, origin: Origin) -> ExprId {
        let located = self.located(value);
        if !located.iter().any(|&id| self.operator(id).is_some()) {
            return value;
        }
        let mut memo: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        for id in self.work.flat.ir.reachable(&[value]) {
            let new = if located.contains(&id) {
                let rebuilt = self.work.flat.ir.rebuild_folded(id, &memo);
                self.branch(rebuilt, origin).unwrap_or(rebuilt)
            } else {
                id
            };
            memo.insert(id, new);
        }
        memo[&value]
    }

    /// The nodes that are inside neither `noEvent` nor an argument of limited domain.
    fn located(&self, value: ExprId) -> FxHashSet<ExprId> {
        let ir = &self.work.flat.ir;
        let mut seen = FxHashSet::default();
        let mut stack = vec![value];
        while let Some(id) = stack.pop() {
            if matches!(ir.expr(id), Expr::Builtin(Builtin::NoEvent, _)) || !seen.insert(id) {
                continue;
            }
            match ir.expr(id) {
                Expr::Builtin(
                    Builtin::Sqrt | Builtin::Log | Builtin::Log10 | Builtin::Asin | Builtin::Acos,
                    _,
                ) => {}
                Expr::Binary(BinaryOp::Pow, base, exponent) => {
                    stack.push(*exponent);
                    let whole = (ir.as_number(*exponent)).is_some_and(|p| p.fract() == 0.0);
                    if whole {
                        stack.push(*base);
                    }
                }
                _ => ir.for_each_child(id, |child| stack.push(child)),
            }
        }
        seen
    }

    /// The operator and its arguments, of a node with branches that changes between events.
    fn operator(&self, id: ExprId) -> Option<(Builtin, [ExprId; 2])> {
        let ir = &self.work.flat.ir;
        let Expr::Builtin(op, args) = ir.expr(id) else {
            return None;
        };
        let (a, b) = match (op, &args[..]) {
            (Builtin::Sign | Builtin::Abs, [a]) => (*a, *a),
            (Builtin::Min | Builtin::Max, [a, b]) => (*a, *b),
            _ => return None,
        };
        let real = |e: ExprId| ir.ty(e).is_scalar() && ir.base(e) == Base::Real;
        (real(a) && real(b) && (self.changes(a) || self.changes(b))).then_some((*op, [a, b]))
    }

    fn changes(&self, e: ExprId) -> bool {
        let ir = &self.work.flat.ir;
        ir.reachable(&[e]).iter().any(|&id| match ir.expr(id) {
            Expr::Time => true,
            Expr::Var(v) => matches!(
                self.work.class(*v),
                Class::Continuous | Class::Delayed | Class::Input
            ),
            _ => false,
        })
    }

    fn branch(&mut self, id: ExprId, origin: Origin) -> Option<ExprId> {
        let (op, [a, b]) = self.operator(id)?;
        let zero = self.work.flat.ir.real(0.0);
        Some(match op {
            Builtin::Sign => {
                let positive = self.relation(BinaryOp::Gt, a, zero, origin);
                let negative = self.relation(BinaryOp::Lt, a, zero, origin);
                let ir = &mut self.work.flat.ir;
                let [plus, minus, none] = [1, -1, 0].map(|k| ir.integer(k));
                let rest = ir.if_(negative, minus, none);
                ir.if_(positive, plus, rest)
            }
            Builtin::Abs => {
                let positive = self.relation(BinaryOp::Ge, a, zero, origin);
                let ir = &mut self.work.flat.ir;
                let minus = ir.neg(a);
                ir.if_(positive, a, minus)
            }
            _ => {
                let op = if op == Builtin::Min {
                    BinaryOp::Lt
                } else {
                    BinaryOp::Gt
                };
                let first = self.relation(op, a, b, origin);
                self.work.flat.ir.if_(first, a, b)
            }
        })
    }

    fn relation(&mut self, op: BinaryOp, a: ExprId, b: ExprId, origin: Origin) -> ExprId {
        if let Some(&known) = self.known.get(&(a, b, op)) {
            return self.work.var(known);
        }
        let name = format!("$rel[{}]", self.work.relations.len() + 1);
        let relation = (self.work).new_var(&name, Base::Boolean, Class::Discrete, origin.span);
        self.work.relations.push(relation);
        self.known.insert((a, b, op), relation);
        let literal = self.work.flat.ir.binary(op, a, b);
        let text = expr_text(self.work, literal);
        self.work.flat.variables[relation].description = Name::new(&text);
        let function = self.work.flat.ir.sub(a, b);
        self.work.crossings.push(Crossing {
            relation,
            function,
            rising: matches!(op, BinaryOp::Gt | BinaryOp::Ge),
            closed: matches!(op, BinaryOp::Ge | BinaryOp::Le),
            class: CrossingClass::General,
            slides: false,
            origin,
            text,
        });
        self.new.push(Step::Assign {
            assignment: Assignment {
                var: relation,
                value: literal,
                origin,
            },
            discrete: true,
        });
        self.work.var(relation)
    }
}
