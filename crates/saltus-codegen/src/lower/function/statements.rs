//! Statements: assignments, branches, loops.

use super::shapes::{coerced, dims_of, elements, is_numbers, opened};
use super::{Binding, Carried, ELEMENTS_MAX, INNER_PASSES, Loop, OPS_MAX, PASSES_MAX, UNROLL_MAX};
use crate::calls::Arg;
use crate::lower::{Lower, LowerError};
use crate::tape::{Op, Reg};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::eval::zero_value;
use saltus_ir::func::{Access, Place, Statement, StatementKind, Target};
use saltus_ir::{Base, BinaryOp, Expr, ExprId, LocalId, Value};

/// Whether a variable has a value at a place.
#[derive(Clone, Copy)]
pub(super) enum Has {
    Yes,
    No,
    /// Where the register holds.
    If(Reg),
}

impl Lower<'_> {
    /// Whether the end of the list is reached.
    pub(super) fn statements(&mut self, list: &[Statement]) -> Result<bool, LowerError> {
        for statement in list {
            if self.tape.ops.len() > OPS_MAX {
                return Err("a function with very long code".into());
            }
            if !self.statement(statement)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn statement(&mut self, statement: &Statement) -> Result<bool, LowerError> {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                if self.is_text(target) {
                    self.assign_text(target, *value);
                } else {
                    let value = self.value(*value)?;
                    self.assign_local(target, value)?;
                }
            }
            StatementKind::MultiAssign { targets, call } => {
                let mut values = Vec::new();
                for (k, target) in targets.iter().enumerate() {
                    if let Some(target) = target {
                        values.push((target, self.output(*call, k)?));
                    }
                }
                for (target, value) in values {
                    self.assign_local(target, value)?;
                }
            }
            StatementKind::If {
                branches,
                otherwise,
            } => return self.if_statement(branches, otherwise),
            StatementKind::For { iter, range, body } => {
                return self.for_statement(*iter, *range, body);
            }
            StatementKind::While { condition, body } => {
                return self.while_statement(*condition, body);
            }
            StatementKind::Break => {
                let carried = match self.locals_mut().loops.last() {
                    Some(inner) => inner.carried.clone(),
                    None => return Err("`break` outside a loop".into()),
                };
                self.carry(&carried)?;
                let jump = self.jump(Op::Jump { to: 0 });
                if let Some(inner) = self.locals_mut().loops.last_mut() {
                    inner.breaks.push(jump);
                }
                return Ok(false);
            }
            StatementKind::Return => {
                self.give_outputs()?;
                let jump = self.jump(Op::Jump { to: 0 });
                self.locals_mut().returns.push(jump);
                return Ok(false);
            }
            StatementKind::Assert { condition, .. } => match self.known_truth(*condition) {
                Some(true) => {}
                Some(false) => {
                    self.give_up();
                    return Ok(false);
                }
                None => {
                    let c = self.lower(*condition)?;
                    self.emit(Op::Check { c });
                }
            },
            StatementKind::Terminate { .. } => {
                self.give_up();
                return Ok(false);
            }
            // An effect belongs to the evaluator.
            StatementKind::Call(_) => {
                self.give_up();
                return Ok(false);
            }
            StatementKind::When { .. } | StatementKind::Reinit { .. } => {
                return Err("an event in a function".into());
            }
        }
        Ok(true)
    }

    /// Copies the results to the registers of the outputs.
    pub(super) fn give_outputs(&mut self) -> Result<(), LowerError> {
        for (k, local) in self.locals_mut().results.clone().into_iter().enumerate() {
            let value = self.local(local)?;
            let value = self.on_registers(value)?;
            let place = self.locals_mut().outputs[k].clone();
            let place = match place {
                Some(place) if place.same_shape(&value) => place,
                Some(_) => return Err("an output of several sizes".into()),
                None => {
                    let place = self.fresh(&value)?;
                    self.locals_mut().outputs[k] = Some(place.clone());
                    place
                }
            };
            self.copy(&value, &place);
        }
        Ok(())
    }

    /// All numbers in registers.
    pub(super) fn on_registers(&mut self, arg: Arg) -> Result<Arg, LowerError> {
        self.unfold_constants(arg)
            .filter(is_numbers)
            .ok_or_else(|| "a variable that is not a number, array or record".into())
    }

    /// New registers of this shape, one after the other.
    pub(super) fn fresh(&mut self, shape: &Arg) -> Result<Arg, LowerError> {
        let mut leaves = Vec::new();
        shape.leaves(&mut leaves);
        let base = self.alloc_many(leaves.len());
        shape
            .with_registers(&mut (base..))
            .ok_or_else(|| "a variable that is not a number, array or record".into())
    }

    pub(super) fn copy(&mut self, from: &Arg, to: &Arg) {
        let (mut sources, mut places) = (Vec::new(), Vec::new());
        from.leaves(&mut sources);
        to.leaves(&mut places);
        for (src, dst) in sources.into_iter().zip(places) {
            self.emit(Op::Copy { dst, src });
        }
    }

    pub(super) fn is_text(&self, target: &Target) -> bool {
        matches!(target.place, Place::Local(local) if self.holds_text(local))
    }

    pub(super) fn holds_text(&self, local: LocalId) -> bool {
        self.ir().type_of_id(self.ir().locals[local].ty).base == Base::String
    }

    /// Texts that are not constant are made by the evaluator: to read such a variable is to give up.
    pub(super) fn assign_text(&mut self, target: &Target, value: ExprId) {
        let Place::Local(local) = target.place else {
            return;
        };
        let binding = match self.known_value(value) {
            Some(value) if target.access.is_empty() => Binding::Known(Arg::Constant(value)),
            _ => Binding::Unassigned,
        };
        self.bind(local, binding);
    }

    /// Takes the texts out of a list of variables.
    pub(super) fn without_texts(&self, list: &mut Vec<LocalId>) -> Vec<LocalId> {
        let texts = list.iter().copied().filter(|l| self.holds_text(*l));
        let texts = texts.filter(|l| self.has(*l)).collect();
        list.retain(|l| !self.holds_text(*l));
        texts
    }

    pub(super) fn forget(&mut self, texts: &[LocalId]) {
        for text in texts {
            self.bind(*text, Binding::Unassigned);
        }
    }

    pub(super) fn assign_local(&mut self, target: &Target, value: Arg) -> Result<(), LowerError> {
        let Place::Local(local) = target.place else {
            return Err("an assignment to a variable of the model".into());
        };
        let ir = self.ir();
        let declaration = &ir.locals[local];
        let ty = ir.type_of_id(declaration.ty);
        if target.access.is_empty() {
            let value = coerced(value, ty.base);
            self.check_size(ty, &value)?;
            // Sizes that were declared stay.
            if let Some(Binding::Known(old)) = self.locals_mut().bindings.get(&local) {
                let (old, new) = (dims_of(old), dims_of(&value));
                let declared = declaration.dims.len() == ty.dims.len()
                    && old.len() == new.len()
                    && (declaration.dims.iter().zip(old.iter().zip(new)))
                        .any(|(d, (old, new))| d.is_some() && old != new);
                if declared {
                    return Err("an array of another size than declared".into());
                }
            }
            self.bind(local, Binding::Known(value));
            return Ok(());
        }
        let mut base = ty.base;
        for access in &target.access {
            if let (Access::Field(index), Base::Record(record)) = (access, base)
                && let Some(field) = ir.records[record].fields.get(*index as usize)
            {
                base = ir.type_of_id(field.ty).base;
            }
        }
        let current = match self.locals_mut().bindings.get(&local) {
            Some(Binding::Known(arg)) => arg.clone(),
            _ => return Err("a part of a variable that has no value".into()),
        };
        let stored = self.stored(current, &target.access, coerced(value, base))?;
        self.bind(local, Binding::Known(stored));
        Ok(())
    }

    /// `whole` with the part that `access` selects replaced by `value`.
    pub(super) fn stored(
        &mut self,
        whole: Arg,
        access: &[Access],
        value: Arg,
    ) -> Result<Arg, LowerError> {
        let Some((first, rest)) = access.split_first() else {
            let (old, new) = (dims_of(&whole), dims_of(&value));
            if old != new && !old.contains(&0) {
                return Err("an array of another size than before".into());
            }
            return Ok(value);
        };
        match (first, opened(whole)) {
            (Access::Field(index), Arg::Record(mut fields)) => {
                let field = fields
                    .get_mut(*index as usize)
                    .ok_or("a field that a record does not have")?;
                let old = std::mem::replace(field, Arg::Record(Vec::new()));
                let new = self.stored(old, rest, value)?;
                fields[*index as usize] = new;
                Ok(Arg::Record(fields))
            }
            (Access::Index(subs), Arg::Array { dims, mut elems }) => {
                let subs = self.indices(subs, &dims)?;
                let (selected, sizes, dynamic) = self.selection(&subs, &dims);
                if let Some(dynamic) = dynamic {
                    let values = elements(value);
                    if !rest.is_empty() || values.len() != selected.len() {
                        return Err("an assignment to a part that is not known".into());
                    }
                    let old = self.on_registers(Arg::Array { dims, elems })?;
                    let values = values
                        .into_iter()
                        .map(|v| self.on_registers(v))
                        .collect::<Result<Vec<_>, _>>()?;
                    let new = self.fresh(&old)?;
                    self.copy(&old, &new);
                    let mut places = Vec::new();
                    new.leaves(&mut places);
                    self.tape.gathers.push(places);
                    let list = self.tape.gathers.len() as u32 - 1;
                    for (at, value) in selected.into_iter().zip(values) {
                        let Arg::Scalar { reg: src, .. } = value else {
                            return Err("an array of records with an unknown subscript".into());
                        };
                        let index = self.shifted(dynamic, at);
                        self.emit(Op::Scatter { list, index, src });
                    }
                    return Ok(new);
                }
                if sizes.is_empty() {
                    let at = selected[0];
                    let old = std::mem::replace(&mut elems[at], Arg::Record(Vec::new()));
                    elems[at] = self.stored(old, rest, value)?;
                    return Ok(Arg::Array { dims, elems });
                }
                if !dims_of(&value).starts_with(&sizes) || dims_of(&value).len() != sizes.len() {
                    return Err("an assignment of another size".into());
                }
                for (at, part) in selected.into_iter().zip(elements(value)) {
                    let old = std::mem::replace(&mut elems[at], Arg::Record(Vec::new()));
                    elems[at] = self.stored(old, rest, part)?;
                }
                Ok(Arg::Array { dims, elems })
            }
            _ => Err("an assignment to a part of something else".into()),
        }
    }

    pub(super) fn if_statement(
        &mut self,
        branches: &[(ExprId, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Result<bool, LowerError> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.statements(otherwise);
        };
        match self.known_truth(*condition) {
            Some(true) => return self.statements(body),
            Some(false) => return self.if_statement(rest, otherwise),
            None => {}
        }
        let mut assigned = Vec::new();
        assigned_in(body, &mut assigned);
        for (_, body) in rest {
            assigned_in(body, &mut assigned);
        }
        assigned_in(otherwise, &mut assigned);
        let texts = self.without_texts(&mut assigned);
        let flags: Vec<bool> = assigned
            .iter()
            .map(|l| {
                let known = matches!(
                    self.locals_mut().bindings.get(l),
                    Some(Binding::Known(_)) | None
                );
                !known && !if_assigns(branches, otherwise, *l)
            })
            .collect();
        let c = self.lower(*condition)?;
        let before = self.locals_mut().bindings.clone();
        let mut join: Vec<Option<Carried>> = vec![None; assigned.len()];
        let skip = self.jump(Op::JumpIfNot { c, to: 0 });
        let scope = self.enter();
        let first = self.statements(body)?;
        if first {
            self.join(&assigned, &flags, &mut join)?;
        }
        self.leave(scope);
        let end = first.then(|| self.jump(Op::Jump { to: 0 }));
        self.land(skip);
        self.restore(before);
        let scope = self.enter();
        let second = self.if_statement(rest, otherwise)?;
        if second {
            self.join(&assigned, &flags, &mut join)?;
        }
        self.leave(scope);
        if let Some(end) = end {
            self.land(end);
        }
        self.forget(&texts);
        for (local, carried) in assigned.iter().zip(join) {
            let binding = carried.map_or(Binding::Unassigned, |c| c.binding());
            self.bind(*local, binding);
        }
        Ok(first || second)
    }

    pub(super) fn restore(&mut self, bindings: FxHashMap<LocalId, Binding>) {
        self.memo.clear();
        self.integers.clear();
        self.calls.clear();
        let state = self.locals_mut();
        state.constant.clear();
        state.bindings = bindings;
    }

    /// Writes the variables of a branch to the registers that all branches write.
    pub(super) fn join(
        &mut self,
        assigned: &[LocalId],
        flags: &[bool],
        join: &mut [Option<Carried>],
    ) -> Result<(), LowerError> {
        for ((&local, &flagged), place) in assigned.iter().zip(flags).zip(join) {
            let (has, value) = self.flagged(local)?;
            let value = self.on_registers(value)?;
            if place.is_none() {
                let flag = flagged.then(|| self.alloc());
                let arg = self.fresh(&value)?;
                *place = Some(Carried { local, flag, arg });
            }
            let Some(carried) = place else {
                unreachable!("just made")
            };
            if !carried.arg.same_shape(&value) {
                return Err("a variable of several sizes".into());
            }
            let arg = carried.arg.clone();
            self.copy(&value, &arg);
            // Without a flag, every branch assigns it.
            if let Some(dst) = carried.flag {
                let src = self.flag(has);
                self.emit(Op::Copy { dst, src });
            }
        }
        Ok(())
    }

    /// Whether a variable has a value, and the value; zero where there is none.
    pub(super) fn flagged(&mut self, local: LocalId) -> Result<(Has, Arg), LowerError> {
        let ir = self.ir();
        match self.locals_mut().bindings.get(&local).cloned() {
            Some(Binding::Known(arg)) => Ok((Has::Yes, arg)),
            Some(Binding::Maybe(flag, arg)) => Ok((Has::If(flag), arg)),
            Some(Binding::Unassigned) => {
                let ty = ir.type_of_id(ir.locals[local].ty);
                let zero = zero_value(ir, ty.base, &[])
                    .filter(|_| ty.is_scalar())
                    .ok_or("a variable without a value")?;
                Ok((Has::No, Arg::Constant(zero)))
            }
            None => Err("a variable of another function".into()),
        }
    }

    pub(super) fn flag(&mut self, has: Has) -> Reg {
        match has {
            Has::Yes => self.constant(1.0),
            Has::No => self.constant(0.0),
            Has::If(flag) => flag,
        }
    }

    pub(super) fn for_statement(
        &mut self,
        iter: LocalId,
        range: ExprId,
        body: &[Statement],
    ) -> Result<bool, LowerError> {
        let breaks = has_break(body);
        if !breaks && let Some(values) = self.range_constants(range) {
            let size = nodes_in(self, body);
            if values.len().saturating_mul(size) <= UNROLL_MAX || values.len() <= 1 {
                let outer = self.locals_mut().bindings.get(&iter).cloned();
                let mut falls = true;
                for value in values {
                    self.bind(iter, Binding::Known(Arg::Constant(value)));
                    if !self.statements(body)? {
                        falls = false;
                        break;
                    }
                }
                self.rebind(iter, outer);
                return Ok(falls);
            }
        }
        let Expr::Range { start, step, stop } = *self.ir().expr(range) else {
            return Err("a loop over an array that is not known".into());
        };
        let step = match step {
            None => 1.0,
            Some(step) => match self.known_value(step) {
                Some(Value::Integer(i)) if i != 0 => i as f64,
                _ => return Err("a loop with a step that is not known".into()),
            },
        };
        if self.ir().base(start) != Base::Integer || self.ir().base(stop) != Base::Integer {
            return Err("a loop over Real numbers".into());
        }
        let first = self.lower(start)?;
        let stop = self.lower(stop)?;
        let step_reg = self.constant(step);
        let counter = self.alloc();
        self.emit(Op::Copy {
            dst: counter,
            src: first,
        });
        let outer = self.locals_mut().bindings.get(&iter).cloned();
        if breaks || has_return(body) {
            self.note_iteration(None, body);
        }
        let relation = if step > 0.0 {
            BinaryOp::Le
        } else {
            BinaryOp::Ge
        };
        self.run_time_loop(
            body,
            |lower| {
                let c = lower.binary(relation, counter, stop);
                lower.bind(
                    iter,
                    Binding::Known(Arg::Scalar {
                        reg: counter,
                        base: Base::Integer,
                    }),
                );
                Ok(c)
            },
            |lower| {
                lower.emit(Op::Add {
                    dst: counter,
                    a: counter,
                    b: step_reg,
                });
            },
        )?;
        self.rebind(iter, outer);
        Ok(true)
    }

    pub(super) fn while_statement(
        &mut self,
        condition: ExprId,
        body: &[Statement],
    ) -> Result<bool, LowerError> {
        if self.known_truth(condition) == Some(false) {
            return Ok(true);
        }
        self.note_iteration(Some(condition), body);
        let passes = self.constant(0.0);
        let counter = self.alloc();
        self.emit(Op::Copy {
            dst: counter,
            src: passes,
        });
        self.run_time_loop(
            body,
            |lower| lower.lower(condition),
            |lower| {
                let (one, most) = (lower.constant(1.0), lower.constant(PASSES_MAX));
                lower.emit(Op::Add {
                    dst: counter,
                    a: counter,
                    b: one,
                });
                let c = lower.binary(BinaryOp::Le, counter, most);
                lower.emit(Op::Check { c });
            },
        )?;
        Ok(true)
    }

    pub(super) fn rebind(&mut self, local: LocalId, outer: Option<Binding>) {
        self.bind(local, outer.unwrap_or(Binding::Unassigned));
    }

    /// A loop with its passes made at run time. `head` gives the condition at the start of a pass, `tail` ends a pass.
    pub(super) fn run_time_loop(
        &mut self,
        body: &[Statement],
        head: impl FnOnce(&mut Self) -> Result<Reg, LowerError>,
        tail: impl FnOnce(&mut Self),
    ) -> Result<(), LowerError> {
        let mut assigned = Vec::new();
        assigned_in(body, &mut assigned);
        let texts = self.without_texts(&mut assigned);
        self.forget(&texts);
        let mut carried = Vec::new();
        for local in assigned {
            if !self.has(local) {
                // The iterator of a loop inside this one.
                continue;
            }
            let known = matches!(
                self.locals_mut().bindings.get(&local),
                Some(Binding::Known(_))
            );
            let (now, value) = self.flagged(local)?;
            let value = self.on_registers(value)?;
            let arg = self.fresh(&value)?;
            self.copy(&value, &arg);
            let flag = (!known).then(|| {
                let src = self.flag(now);
                let dst = self.alloc();
                self.emit(Op::Copy { dst, src });
                dst
            });
            carried.push(Carried { local, flag, arg });
        }
        for c in &carried {
            self.bind(c.local, c.binding());
        }
        let start = self.tape.ops.len() as u32;
        let scope = self.enter();
        let c = head(self)?;
        let exit = self.jump(Op::JumpIfNot { c, to: 0 });
        self.locals_mut().loops.push(Loop {
            carried: carried.clone(),
            breaks: Vec::new(),
        });
        if self.statements(body)? {
            self.carry(&carried)?;
            tail(self);
            self.emit(Op::Jump { to: start });
        }
        self.leave(scope);
        self.land(exit);
        let Some(done) = self.locals_mut().loops.pop() else {
            unreachable!("pushed above")
        };
        for jump in done.breaks {
            self.land(jump);
        }
        self.forget(&texts);
        for c in &carried {
            self.bind(c.local, c.binding());
        }
        Ok(())
    }

    /// Writes the present values to the registers of a loop.
    pub(super) fn carry(&mut self, carried: &[Carried]) -> Result<(), LowerError> {
        let mut moves = Vec::new();
        for c in carried {
            let (has, value) = self.flagged(c.local)?;
            let value = self.on_registers(value)?;
            if !value.same_shape(&c.arg) {
                return Err("a variable of several sizes".into());
            }
            let (mut sources, mut places) = (Vec::new(), Vec::new());
            value.leaves(&mut sources);
            c.arg.leaves(&mut places);
            moves.extend(places.into_iter().zip(sources));
            if let Some(place) = c.flag {
                moves.push((place, self.flag(has)));
            }
        }
        moves.retain(|(dst, src)| dst != src);
        let written: FxHashSet<Reg> = moves.iter().map(|(dst, _)| *dst).collect();
        // A register that is both read and written is read first.
        for (_, src) in &mut moves {
            if written.contains(src) {
                let dst = self.alloc();
                self.emit(Op::Copy { dst, src: *src });
                *src = dst;
            }
        }
        for (dst, src) in moves {
            self.emit(Op::Copy { dst, src });
        }
        Ok(())
    }

    /// The values of a constant range.
    pub(super) fn range_constants(&mut self, range: ExprId) -> Option<Vec<Value>> {
        match self.known_value(range)? {
            Value::Array(a) if a.dims.len() == 1 && a.elems.len() <= ELEMENTS_MAX => {
                Some(a.elems.clone())
            }
            _ => None,
        }
    }
}

/// Locals that statements assign.
fn assigned_in(list: &[Statement], out: &mut Vec<LocalId>) {
    let target = |t: &Target, out: &mut Vec<LocalId>| {
        if let Place::Local(local) = t.place
            && !out.contains(&local)
        {
            out.push(local);
        }
    };
    for statement in list {
        match &statement.kind {
            StatementKind::Assign { target: t, .. } => target(t, out),
            StatementKind::MultiAssign { targets, .. } => {
                targets.iter().flatten().for_each(|t| target(t, out));
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                branches.iter().for_each(|(_, body)| assigned_in(body, out));
                assigned_in(otherwise, out);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                assigned_in(body, out);
            }
            StatementKind::When { .. }
            | StatementKind::Break
            | StatementKind::Return
            | StatementKind::Assert { .. }
            | StatementKind::Terminate { .. }
            | StatementKind::Reinit { .. }
            | StatementKind::Call(_) => {}
        }
    }
}

/// Whether every way to the end of the list assigns the whole variable.
fn assigns(list: &[Statement], local: LocalId) -> bool {
    let whole = |t: &Target| t.place == Place::Local(local) && t.access.is_empty();
    list.iter().any(|statement| match &statement.kind {
        StatementKind::Assign { target, .. } => whole(target),
        StatementKind::MultiAssign { targets, .. } => targets.iter().flatten().any(whole),
        StatementKind::If {
            branches,
            otherwise,
        } => if_assigns(branches, otherwise, local),
        StatementKind::Break | StatementKind::Return | StatementKind::Terminate { .. } => true,
        _ => false,
    })
}

fn if_assigns(
    branches: &[(ExprId, Vec<Statement>)],
    otherwise: &[Statement],
    local: LocalId,
) -> bool {
    branches.iter().all(|(_, body)| assigns(body, local)) && assigns(otherwise, local)
}

/// `break` out of the loop whose body this is.
fn has_break(list: &[Statement]) -> bool {
    list.iter().any(|s| match &s.kind {
        StatementKind::Break => true,
        StatementKind::If {
            branches,
            otherwise,
        } => branches.iter().any(|(_, b)| has_break(b)) || has_break(otherwise),
        _ => false,
    })
}

fn has_return(list: &[Statement]) -> bool {
    list.iter().any(|s| match &s.kind {
        StatementKind::Return => true,
        StatementKind::If {
            branches,
            otherwise,
        } => branches.iter().any(|(_, b)| has_return(b)) || has_return(otherwise),
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => has_return(body),
        _ => false,
    })
}

/// Nodes of the expressions in statements; those in loops several times.
fn nodes_in(lower: &Lower, list: &[Statement]) -> usize {
    let of = |e: ExprId| nodes_of(lower, e);
    let target = |t: &Target| 1 + t.access.len();
    list.iter()
        .map(|s| match &s.kind {
            StatementKind::Assign { target: t, value } => target(t) + of(*value),
            StatementKind::MultiAssign { targets, call } => {
                targets.iter().flatten().map(target).sum::<usize>() + of(*call)
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                let inside = branches.iter().map(|(c, b)| of(*c) + nodes_in(lower, b));
                inside.sum::<usize>() + nodes_in(lower, otherwise)
            }
            StatementKind::For { body, range, .. } => {
                of(*range) + INNER_PASSES * nodes_in(lower, body)
            }
            StatementKind::While { condition, body } => {
                of(*condition) + INNER_PASSES * nodes_in(lower, body)
            }
            StatementKind::Assert { condition, .. } => of(*condition),
            _ => 1,
        })
        .sum()
}

fn nodes_of(lower: &Lower, e: ExprId) -> usize {
    let mut seen = FxHashSet::default();
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        if seen.insert(e) {
            lower.ir().for_each_child(e, |c| stack.push(c));
        }
    }
    seen.len()
}
