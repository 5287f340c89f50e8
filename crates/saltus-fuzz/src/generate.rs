//! Random [`Program`]s: discrete ones with several when-clauses, algorithms, functions, arrays and records; hybrid ones with states whose
//! slopes are piecewise constant.
//!
//! All instants of time are multiples of 1/16 s, so that no tool rounds them. Integers are kept small by `mod`.

use crate::program::{
    Action, Expr, Function, Number, Op, Part, Program, State, Statement, Type, Variable,
};
use crate::random::Random;

/// Which programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Discrete,
    Hybrid,
}

/// A program from a seed.
pub fn program(family: Family, seed: u64) -> Program {
    let mut generator = Generator {
        random: Random::new(seed),
        program: Program::default(),
        readable: 0,
        family,
    };
    generator.declare();
    generator.parts();
    generator.program
}

struct Generator {
    random: Random,
    program: Program,
    /// Variables before this one are computed already.
    readable: usize,
    family: Family,
}

impl Generator {
    fn declare(&mut self) {
        let n = 2 + self.random.below(6);
        for k in 0..n {
            let ty = *self.random.pick(&[
                Type::Integer,
                Type::Integer,
                Type::Boolean,
                Type::Boolean,
                Type::Real,
            ]);
            self.variable(format!("{}{k}", letter(ty)), ty);
        }
        if self.random.one_in(3) {
            let ty = *self
                .random
                .pick(&[Type::Integer, Type::Boolean, Type::Real]);
            for k in 1..=2 + self.random.below(2) {
                self.variable(format!("a[{k}]"), ty);
            }
        }
        if self.random.one_in(3) {
            for (k, ty) in [Type::Integer, Type::Boolean].into_iter().enumerate() {
                self.variable(format!("rec.m{k}"), ty);
            }
        }
        for _ in 0..self.random.below(3) {
            let function = Function {
                passes: self.random.between(0, 4),
                factor: self.random.between(-3, 5),
                modulus: self.random.between(2, 13),
                leave_at: self.random.between(0, 5),
            };
            self.program.functions.push(function);
        }
        let n = 2 + self.random.below(4);
        self.program.table = (0..n).map(|_| self.random.between(-4, 4)).collect();
        if self.family == Family::Hybrid {
            for k in 0..1 + self.random.below(2) {
                let start = self.eighths(-8, 8) + 1.0 / 64.0;
                let slope = Expr::Constant(Type::Real, 0.0);
                self.program.states.push(State {
                    name: format!("x{k}"),
                    start,
                    slope,
                });
            }
        }
    }

    fn variable(&mut self, name: String, ty: Type) {
        let start = self.constant(ty);
        self.program.variables.push(Variable { name, ty, start });
    }

    fn parts(&mut self) {
        let n = self.program.variables.len();
        let mut resets: Vec<usize> = (0..self.program.states.len()).collect();
        while self.readable < n {
            let first = self.readable;
            let size = 1 + self.random.below(3.min(n - first));
            let group: Vec<usize> = (first..first + size).collect();
            let part = match self.random.below(8) {
                0..=3 => self.when(&group, &mut resets),
                4..=5 => self.algorithm(&group),
                _ => {
                    self.readable = first + 1;
                    let v = first;
                    self.readable = first;
                    let e = self.expr(self.program.variables[v].ty, 3, false);
                    self.readable = first + 1;
                    self.program.parts.push(Part::Equation(v, e));
                    continue;
                }
            };
            self.readable = first + size;
            self.program.parts.push(part);
        }
        for x in resets {
            if self.random.one_in(2) {
                let mut condition = self.condition();
                condition.retain(|c| *c != Expr::Initial);
                if condition.is_empty() {
                    condition.push(self.after());
                }
                let value = self.real_in_when(x);
                self.program.parts.push(Part::When(vec![(
                    condition,
                    vec![Action::Reinit(x, value)],
                )]));
            }
        }
        for x in 0..self.program.states.len() {
            self.program.states[x].slope = self.slope();
        }
        let mut written: Vec<usize> = (0..self.program.parts.len()).collect();
        self.random.shuffle(&mut written);
        self.program.written = written;
    }

    fn when(&mut self, group: &[usize], resets: &mut Vec<usize>) -> Part {
        let reset = if self.random.one_in(3) {
            resets.pop()
        } else {
            None
        };
        let mut branches = Vec::new();
        let first = self.readable;
        for _ in 0..1 + self.random.below(3) {
            self.readable = first;
            let condition = self.condition();
            let mut actions = Vec::new();
            for &v in group {
                // Every branch of a when-equation assigns the same variables (specification 8.3.5.2).
                let e = self.in_when(self.program.variables[v].ty);
                actions.push(Action::Assign(v, e));
                self.readable = v + 1;
            }
            // At the start it would contradict the fixed start value.
            if let Some(x) = reset
                && !condition.contains(&Expr::Initial)
                && self.random.one_in(2)
            {
                let value = self.real_in_when(x);
                actions.push(Action::Reinit(x, value));
            }
            branches.push((condition, actions));
        }
        self.readable = first;
        Part::When(branches)
    }

    fn algorithm(&mut self, group: &[usize]) -> Part {
        // Its own variables can be read from the first statement on: they start from `pre`.
        let last = group[group.len() - 1];
        self.readable = last + 1;
        let mut list = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            if self.random.one_in(2) {
                let mut branches = Vec::new();
                for _ in 0..1 + self.random.below(3) {
                    let condition = self.condition();
                    branches.push((condition, self.statements(group, 2, true)));
                }
                list.push(Statement::When(branches));
            } else {
                list.extend(self.statements(group, 2, false));
            }
        }
        for &v in group {
            let assigned = crate::interpret::assigned(&list);
            if !assigned.contains(&v) {
                let e = self.expr(self.program.variables[v].ty, 2, false);
                list.push(Statement::Assign(v, e));
            }
        }
        Part::Algorithm(list)
    }

    fn statements(&mut self, group: &[usize], depth: usize, in_when: bool) -> Vec<Statement> {
        let mut list = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let v = *self.random.pick(group);
            let ty = self.program.variables[v].ty;
            list.push(match self.random.below(6) {
                0 if depth > 0 => {
                    let mut branches = Vec::new();
                    for _ in 0..1 + self.random.below(2) {
                        let condition = self.expr(Type::Boolean, 2, in_when);
                        branches.push((condition, self.statements(group, depth - 1, in_when)));
                    }
                    let otherwise = if self.random.one_in(2) {
                        self.statements(group, depth - 1, in_when)
                    } else {
                        Vec::new()
                    };
                    Statement::If(branches, otherwise)
                }
                1 if depth > 0 => {
                    let body = self.statements(group, depth - 1, in_when);
                    Statement::Repeat(self.random.between(0, 3), body)
                }
                _ if in_when => Statement::Assign(v, self.in_when(ty)),
                _ => Statement::Assign(v, self.expr(ty, 3, false)),
            });
        }
        list
    }

    /// The conditions of a branch.
    fn condition(&mut self) -> Vec<Expr> {
        let n = if self.random.one_in(4) { 2 } else { 1 };
        (0..n)
            .map(|_| match self.random.below(8) {
                0..=2 => self.sample(),
                3 => {
                    let sample = self.sample();
                    let also = self.expr(Type::Boolean, 1, false);
                    Expr::Binary(Op::And, Box::new(sample), Box::new(also))
                }
                4 if n == 2 => Expr::Initial,
                _ => self.event_expr(),
            })
            .collect()
    }

    fn sample(&mut self) -> Expr {
        let start = self.random.between(0, 12) as Number / 16.0;
        let interval = self.random.between(2, 12) as Number / 16.0;
        Expr::Sample(start, interval)
    }

    /// A Boolean expression that is not constant, where there is one.
    fn event_expr(&mut self) -> Expr {
        for _ in 0..8 {
            let e = self.expr(Type::Boolean, 2, false);
            if !matches!(e, Expr::Constant(..)) {
                return e;
            }
        }
        self.after()
    }

    fn after(&mut self) -> Expr {
        Expr::After(self.random.between(1, 30) as Number / 16.0)
    }

    fn crossing(&mut self) -> Expr {
        let state = self.random.below(self.program.states.len());
        Expr::Crossing {
            state,
            above: self.random.one_in(2),
            level: self.eighths(-8, 8),
        }
    }

    fn in_when(&mut self, ty: Type) -> Expr {
        self.expr(ty, 3, true)
    }

    fn real_in_when(&mut self, x: usize) -> Expr {
        let constant = Expr::Constant(Type::Real, self.eighths(-8, 8) + 1.0 / 32.0);
        if self.random.one_in(3) {
            let half = Expr::Constant(Type::Real, -0.5);
            let part = Expr::Binary(Op::Mul, Box::new(half), Box::new(Expr::Continuous(x)));
            return Expr::Binary(Op::Add, Box::new(constant), Box::new(part));
        }
        constant
    }

    /// A slope: an Integer, a choice, or a constant.
    fn slope(&mut self) -> Expr {
        self.readable = self.program.variables.len();
        if self.random.one_in(3) {
            let n = self.expr(Type::Integer, 1, false);
            let five = Expr::Constant(Type::Integer, 5.0);
            let small = Expr::Binary(Op::Mod, Box::new(n), Box::new(five));
            let two = Expr::Constant(Type::Integer, 2.0);
            return Expr::Binary(Op::Sub, Box::new(small), Box::new(two));
        }
        let condition = self.expr(Type::Boolean, 1, false);
        let (a, b) = (self.eighths(-12, 12), self.eighths(-12, 12));
        let (a, b) = (Expr::Constant(Type::Real, a), Expr::Constant(Type::Real, b));
        Expr::If(Box::new(condition), Box::new(a), Box::new(b))
    }

    fn eighths(&mut self, low: i64, high: i64) -> Number {
        self.random.between(low, high) as Number / 8.0
    }

    fn constant(&mut self, ty: Type) -> Number {
        match ty {
            Type::Integer => self.random.between(-3, 5) as Number,
            Type::Boolean => self.random.below(2) as Number,
            Type::Real => self.eighths(-16, 16),
        }
    }

    /// A variable of the type that may be read, or `pre` of any.
    fn leaf(&mut self, ty: Type, in_when: bool) -> Expr {
        let all = &self.program.variables;
        let now: Vec<usize> = (0..self.readable).filter(|&v| all[v].ty == ty).collect();
        let before: Vec<usize> = (0..all.len()).filter(|&v| all[v].ty == ty).collect();
        match self.random.below(10) {
            0..=4 if !now.is_empty() => Expr::Var(*self.random.pick(&now)),
            0..=7 if !before.is_empty() => Expr::Pre(*self.random.pick(&before)),
            8 if ty == Type::Boolean && !now.is_empty() => {
                let v = *self.random.pick(&now);
                if self.random.one_in(2) {
                    Expr::Edge(v)
                } else {
                    Expr::Change(v)
                }
            }
            8 if ty == Type::Real && in_when => Expr::Time,
            _ if ty == Type::Boolean && self.random.one_in(2) => {
                if self.family == Family::Hybrid && self.random.one_in(2) {
                    self.crossing()
                } else {
                    self.after()
                }
            }
            _ => Expr::Constant(ty, self.constant(ty)),
        }
    }

    fn expr(&mut self, ty: Type, depth: usize, in_when: bool) -> Expr {
        if depth == 0 || self.random.one_in(4) {
            return self.leaf(ty, in_when);
        }
        let depth = depth - 1;
        if self.random.one_in(6) {
            let c = self.expr(Type::Boolean, depth, in_when);
            let (a, b) = (self.expr(ty, depth, in_when), self.expr(ty, depth, in_when));
            return Expr::If(Box::new(c), Box::new(a), Box::new(b));
        }
        match ty {
            Type::Boolean => self.boolean(depth, in_when),
            Type::Integer => self.integer(depth, in_when),
            Type::Real => {
                let op = *self.random.pick(&[Op::Add, Op::Sub, Op::Min, Op::Max]);
                let a = self.expr(Type::Real, depth, in_when);
                // Integers take part in sums of Reals.
                let other = if self.random.one_in(4) {
                    Type::Integer
                } else {
                    Type::Real
                };
                let b = self.expr(other, depth, in_when);
                let sum = Expr::Binary(op, Box::new(a), Box::new(b));
                let half = Expr::Constant(Type::Real, 0.5);
                Expr::Binary(Op::Mul, Box::new(half), Box::new(sum))
            }
        }
    }

    fn boolean(&mut self, depth: usize, in_when: bool) -> Expr {
        match self.random.below(6) {
            0 => Expr::Not(Box::new(self.expr(Type::Boolean, depth, in_when))),
            1..=3 => {
                let op = *self.random.pick(&[Op::And, Op::Or, Op::Eq, Op::Ne]);
                let a = self.expr(Type::Boolean, depth, in_when);
                let b = self.expr(Type::Boolean, depth, in_when);
                Expr::Binary(op, Box::new(a), Box::new(b))
            }
            _ => {
                let op = *self
                    .random
                    .pick(&[Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq, Op::Ne]);
                let a = self.expr(Type::Integer, depth, in_when);
                let b = self.expr(Type::Integer, depth, in_when);
                Expr::Binary(op, Box::new(a), Box::new(b))
            }
        }
    }

    fn integer(&mut self, depth: usize, in_when: bool) -> Expr {
        let a = self.expr(Type::Integer, depth, in_when);
        match self.random.below(7) {
            0 if !self.program.functions.is_empty() => {
                let b = self.expr(Type::Integer, depth, in_when);
                Expr::Call(self.random.below(self.program.functions.len()), vec![a, b])
            }
            1 => Expr::Table(Box::new(a)),
            2 => {
                let by = Expr::Constant(Type::Integer, *self.random.pick(&[-3.0, 2.0, 3.0, 7.0]));
                Expr::Binary(Op::Div, Box::new(a), Box::new(by))
            }
            3 => Expr::Negative(Box::new(a)),
            _ => {
                let op = *self
                    .random
                    .pick(&[Op::Add, Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max]);
                let b = self.expr(Type::Integer, depth, in_when);
                let sum = Expr::Binary(op, Box::new(a), Box::new(b));
                let modulus = Expr::Constant(Type::Integer, self.random.between(3, 17) as Number);
                Expr::Binary(Op::Mod, Box::new(sum), Box::new(modulus))
            }
        }
    }
}

fn letter(ty: Type) -> char {
    match ty {
        Type::Integer => 'n',
        Type::Boolean => 'b',
        Type::Real => 'r',
    }
}
