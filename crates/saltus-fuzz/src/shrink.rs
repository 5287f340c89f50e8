//! The smallest program that still shows a fault, by leaving out and by constants in the place of expressions.

use crate::program::{Action, Expr, Part, Program, Statement, Type};

/// Leaves out as much as `fails` allows, in at most `tries_max` tries.
pub fn shrink(program: &Program, tries_max: usize, fails: impl Fn(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut tries = 0;
    loop {
        let mut smaller = None;
        for candidate in candidates(&best) {
            tries += 1;
            if tries > tries_max {
                return best;
            }
            if fails(&candidate) {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(program) => best = program,
            None => return best,
        }
    }
}

/// Programs that are a little smaller.
fn candidates(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    if let Some(k) = last_unused(program) {
        let mut smaller = program.clone();
        smaller.variables.truncate(k);
        smaller
            .parts
            .retain(|part| !matches!(part, Part::Equation(v, _) if *v == k));
        smaller.written = (0..smaller.parts.len()).collect();
        found.push(smaller);
    }
    for (k, part) in program.parts.iter().enumerate() {
        let constants: Vec<Part> = (assigned(part).into_iter())
            .map(|v| {
                let variable = &program.variables[v];
                Part::Equation(v, Expr::Constant(variable.ty, variable.start))
            })
            .collect();
        if !matches!(part, Part::Equation(_, Expr::Constant(..))) {
            found.push(with_part(program, k, constants));
        }
        for smaller in smaller_parts(program, part) {
            found.push(with_part(program, k, vec![smaller]));
        }
    }
    for x in 0..program.states.len() {
        for slope in smaller_expr(program, &program.states[x].slope) {
            let mut smaller = program.clone();
            smaller.states[x].slope = slope;
            found.push(smaller);
        }
    }
    found
}

/// The last variable, if nothing reads it and an equation of its own sets it.
fn last_unused(program: &Program) -> Option<usize> {
    let k = program.variables.len().checked_sub(1)?;
    let read = crate::interpret::expressions(program).into_iter().any(
        |e| matches!(e, Expr::Var(v) | Expr::Pre(v) | Expr::Edge(v) | Expr::Change(v) if *v == k),
    );
    let alone = (program.parts.iter()).any(|part| matches!(part, Part::Equation(v, _) if *v == k));
    let single = !program.variables[k].name.contains(['[', '.']);
    (!read && alone && single && k > 0).then_some(k)
}

fn with_part(program: &Program, k: usize, by: Vec<Part>) -> Program {
    let mut smaller = program.clone();
    smaller.parts.splice(k..=k, by);
    smaller.written = (0..smaller.parts.len()).collect();
    smaller
}

fn assigned(part: &Part) -> Vec<usize> {
    match part {
        Part::Equation(v, _) => vec![*v],
        Part::When(branches) => {
            let actions = branches.iter().flat_map(|(_, actions)| actions);
            let mut found: Vec<usize> = actions
                .filter_map(|a| match a {
                    Action::Assign(v, _) => Some(*v),
                    Action::Reinit(..) => None,
                })
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        }
        Part::Algorithm(statements) => crate::interpret::assigned(statements),
    }
}

fn smaller_parts(program: &Program, part: &Part) -> Vec<Part> {
    match part {
        Part::Equation(v, e) => {
            let smaller = smaller_expr(program, e).into_iter();
            smaller.map(|e| Part::Equation(*v, e)).collect()
        }
        Part::When(branches) => {
            let mut found = Vec::new();
            for k in 0..branches.len() {
                if branches.len() > 1 {
                    let mut fewer = branches.clone();
                    fewer.remove(k);
                    found.push(fewer);
                }
                let (conditions, actions) = &branches[k];
                for conditions in smaller_conditions(program, conditions) {
                    let mut other = branches.clone();
                    other[k].0 = conditions;
                    found.push(other);
                }
                for (j, action) in actions.iter().enumerate() {
                    let (Action::Assign(_, e) | Action::Reinit(_, e)) = action;
                    for e in smaller_expr(program, e) {
                        let mut other = branches.clone();
                        let (Action::Assign(_, old) | Action::Reinit(_, old)) = &mut other[k].1[j];
                        *old = e;
                        found.push(other);
                    }
                    if matches!(action, Action::Reinit(..)) && actions.len() > 1 {
                        let mut other = branches.clone();
                        other[k].1.remove(j);
                        found.push(other);
                    }
                }
            }
            found.into_iter().map(Part::When).collect()
        }
        Part::Algorithm(statements) => {
            let all = assigned(part);
            (smaller_statements(program, statements).into_iter())
                .filter(|list| crate::interpret::assigned(list) == all)
                .map(Part::Algorithm)
                .collect()
        }
    }
}

fn smaller_conditions(program: &Program, conditions: &[Expr]) -> Vec<Vec<Expr>> {
    let mut found = Vec::new();
    for k in 0..conditions.len() {
        if conditions.len() > 1 {
            let mut fewer = conditions.to_vec();
            fewer.remove(k);
            found.push(fewer);
        }
        for e in smaller_expr(program, &conditions[k]) {
            if !matches!(e, Expr::Constant(..)) {
                let mut other = conditions.to_vec();
                other[k] = e;
                found.push(other);
            }
        }
    }
    found
}

fn smaller_statements(program: &Program, list: &[Statement]) -> Vec<Vec<Statement>> {
    let mut found = Vec::new();
    for k in 0..list.len() {
        let mut fewer = list.to_vec();
        let statement = fewer.remove(k);
        found.push(fewer);
        let replaced = |by: Vec<Statement>| {
            let mut other = list.to_vec();
            other.splice(k..=k, by);
            other
        };
        match statement {
            Statement::Assign(v, e) => {
                found.extend(
                    smaller_expr(program, &e)
                        .into_iter()
                        .map(|e| replaced(vec![Statement::Assign(v, e)])),
                );
            }
            Statement::If(branches, otherwise) => {
                found.extend(branches.iter().map(|(_, body)| replaced(body.clone())));
                found.push(replaced(otherwise));
            }
            Statement::Repeat(_, body) => found.push(replaced(body)),
            Statement::When(branches) => {
                for b in 0..branches.len() {
                    let mut change = |new: Option<(Vec<Expr>, Vec<Statement>)>| {
                        let mut other = branches.clone();
                        match new {
                            Some(new) => other[b] = new,
                            None => drop(other.remove(b)),
                        }
                        if !other.is_empty() {
                            found.push(replaced(vec![Statement::When(other)]));
                        }
                    };
                    change(None);
                    let (conditions, body) = &branches[b];
                    for conditions in smaller_conditions(program, conditions) {
                        change(Some((conditions, body.clone())));
                    }
                    for body in smaller_statements(program, body) {
                        change(Some((conditions.clone(), body)));
                    }
                }
            }
        }
    }
    found
}

/// Operands of the same type, and constants.
fn smaller_expr(program: &Program, e: &Expr) -> Vec<Expr> {
    let ty = type_of(program, e);
    let mut found = Vec::new();
    match e {
        Expr::Constant(..)
        | Expr::Var(_)
        | Expr::Pre(_)
        | Expr::Initial
        | Expr::Sample(..)
        | Expr::After(_) => return found,
        _ => {}
    }
    if ty == Type::Boolean {
        found.push(Expr::Constant(ty, 1.0));
    }
    found.push(Expr::Constant(ty, 0.0));
    for (k, part) in operands(e).into_iter().enumerate() {
        if type_of(program, part) == ty && !matches!(part, Expr::Sample(..)) {
            found.push(part.clone());
        }
        for smaller in smaller_expr(program, part) {
            let mut other = e.clone();
            let place = match &mut other {
                Expr::Not(a) | Expr::Negative(a) | Expr::Table(a) => &mut **a,
                Expr::Binary(_, a, b) => &mut **if k == 0 { a } else { b },
                Expr::If(a, b, c) => {
                    &mut **[a, b, c].into_iter().nth(k).expect("an if has three parts")
                }
                Expr::Call(_, args) => &mut args[k],
                _ => continue,
            };
            *place = smaller;
            found.push(other);
        }
    }
    found
}

fn operands(e: &Expr) -> Vec<&Expr> {
    match e {
        Expr::Not(a) | Expr::Negative(a) | Expr::Table(a) => vec![a],
        Expr::Binary(_, a, b) => vec![a, b],
        Expr::If(a, b, c) => vec![a, b, c],
        Expr::Call(_, args) => args.iter().collect(),
        _ => Vec::new(),
    }
}

fn type_of(program: &Program, e: &Expr) -> Type {
    use crate::program::Op;
    match e {
        Expr::Constant(ty, _) => *ty,
        Expr::Var(v) | Expr::Pre(v) => program.variables[*v].ty,
        Expr::Time | Expr::Continuous(_) => Type::Real,
        Expr::Negative(a) => type_of(program, a),
        Expr::If(_, a, _) => type_of(program, a),
        Expr::Call(..) | Expr::Table(_) => Type::Integer,
        Expr::Binary(Op::Add | Op::Sub | Op::Mul | Op::Min | Op::Max | Op::Mod | Op::Div, a, b) => {
            match (type_of(program, a), type_of(program, b)) {
                (Type::Integer, Type::Integer) => Type::Integer,
                _ => Type::Real,
            }
        }
        _ => Type::Boolean,
    }
}
