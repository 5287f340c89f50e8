//! An interpreter of [`Program`]s that shares nothing with the compiler: it walks the tree at every instant.
//!
//! At an instant (specification 8.6 and appendix B), with known states x:
//! ```text
//! repeat
//!   values of all variables, in order, from pre and x     sample is true in the first pass only
//!   reinit what the branches that fired say
//!   stop if values = pre and no condition has changed; pre := values
//! ```
//! A branch fires where its condition is true and was false in the pass before. At the start only `initial()` fires.
//! Between instants each state moves with constant slope, so the next crossing is a division.

use crate::program::{Action, Expr, Number, Op, Part, Program, Statement, Type};

/// Passes of one instant. A program that needs more oscillates.
const PASSES_MAX: usize = 60;
/// Instants of one run.
const INSTANTS_MAX: usize = 2_000;
/// Instants that are nearer to each other than this are not told apart by everyone alike: the case is left out.
const APART: Number = 1e-6;
/// Integers beyond this are left out: another test is about overflow.
const LARGE: Number = 1e12;

/// Why there is no answer to compare with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unclear {
    /// The values of an instant never settle.
    Oscillates,
    /// A state is at a level without crossing it, or two instants are too near to each other.
    Tie,
    /// Too many instants, or numbers too large.
    Large,
}

/// Values of all variables, then of all states, at the times asked for.
pub type Rows = Vec<Vec<Number>>;

/// Runs the program and gives the values at `times`, which rise. A row is empty where an instant is too near to its time.
pub fn run(program: &Program, times: &[Number]) -> Result<Rows, Unclear> {
    let mut machine = Machine::new(program);
    machine.instant(true, &[])?;
    let mut rows = Vec::with_capacity(times.len());
    let mut last = 0.0;
    for &wanted in times {
        for _ in 0..INSTANTS_MAX {
            let (next, crossed) = machine.next_instant()?;
            if next > wanted {
                break;
            }
            machine.move_to(next);
            machine.instant(false, &crossed)?;
            if machine.instants > INSTANTS_MAX {
                return Err(Unclear::Large);
            }
            last = next;
        }
        let (next, _) = machine.next_instant()?;
        let near = (wanted - last).abs() < APART || (next - wanted).abs() < APART;
        rows.push(if near {
            Vec::new()
        } else {
            machine.row(wanted)?
        });
    }
    Ok(rows)
}

struct Machine<'a> {
    program: &'a Program,
    time: Number,
    values: Vec<Number>,
    pre: Vec<Number>,
    states: Vec<Number>,
    slopes: Vec<Number>,
    /// Values of the relations `x > c`, in the order in which the parts mention them; they change only at instants.
    crossings: Vec<(usize, bool, Number)>,
    holds: Vec<bool>,
    /// Conditions of when-clauses in the pass before, by place.
    before: Vec<bool>,
    first_pass: bool,
    initial: bool,
    /// Instants of `time >= c` and `sample`.
    after: Vec<Number>,
    samples: Vec<(Number, Number)>,
    instants: usize,
}

impl<'a> Machine<'a> {
    fn new(program: &'a Program) -> Machine<'a> {
        let mut machine = Machine {
            program,
            time: 0.0,
            values: program.variables.iter().map(|v| v.start).collect(),
            pre: program.variables.iter().map(|v| v.start).collect(),
            states: program.states.iter().map(|s| s.start).collect(),
            slopes: vec![0.0; program.states.len()],
            crossings: Vec::new(),
            holds: Vec::new(),
            before: Vec::new(),
            first_pass: true,
            initial: true,
            after: Vec::new(),
            samples: Vec::new(),
            instants: 0,
        };
        for e in expressions(program) {
            match *e {
                Expr::Crossing {
                    state,
                    above,
                    level,
                } if !machine.crossings.contains(&(state, above, level)) => {
                    machine.crossings.push((state, above, level));
                }
                Expr::After(c) => machine.after.push(c),
                Expr::Sample(start, interval) => machine.samples.push((start, interval)),
                _ => {}
            }
        }
        machine.holds = (machine.crossings.iter())
            .map(|&(x, above, c)| {
                if above {
                    machine.states[x] > c
                } else {
                    machine.states[x] < c
                }
            })
            .collect();
        machine
    }

    /// All passes of one instant. `crossed`: the relations that change because a state has reached their level.
    fn instant(&mut self, initial: bool, crossed: &[usize]) -> Result<(), Unclear> {
        self.instants += 1;
        for &k in crossed {
            self.holds[k] = !self.holds[k];
        }
        for pass in 0..PASSES_MAX {
            // What ticks at the start does so in the first pass after the initial values.
            self.first_pass = pass == usize::from(initial);
            self.initial = initial && pass == 0;
            let mut reset = vec![None; self.states.len()];
            let mut conditions = Vec::new();
            for part in &self.program.parts {
                self.part(part, &mut conditions, &mut reset);
            }
            let settled = self.values == self.pre
                && conditions == self.before
                && reset.iter().all(Option::is_none);
            self.before = conditions;
            for (x, value) in reset.iter().enumerate() {
                if let Some(value) = value {
                    self.states[x] = *value;
                }
            }
            for (k, &(x, above, c)) in self.crossings.iter().enumerate() {
                let jumped = reset[x].is_some();
                if jumped && (self.states[x] - c).abs() < APART {
                    return Err(Unclear::Tie);
                }
                if jumped {
                    self.holds[k] = if above {
                        self.states[x] > c
                    } else {
                        self.states[x] < c
                    };
                }
            }
            if self.values.iter().any(|v| v.abs() > LARGE) {
                return Err(Unclear::Large);
            }
            self.pre.clone_from(&self.values);
            if settled && pass > 1 {
                for (x, state) in self.program.states.iter().enumerate() {
                    self.slopes[x] = self.eval(&state.slope);
                }
                return Ok(());
            }
        }
        Err(Unclear::Oscillates)
    }

    fn part(&mut self, part: &'a Part, conditions: &mut Vec<bool>, reset: &mut [Option<Number>]) {
        match part {
            Part::Equation(v, e) => self.values[*v] = self.eval(e),
            Part::When(branches) => {
                for (_, actions) in branches {
                    for action in actions {
                        if let Action::Assign(v, _) = action {
                            self.values[*v] = self.pre[*v];
                        }
                    }
                }
                let fired = self.fired(branches.iter().map(|b| &b.0), conditions);
                for action in fired.map_or(&[][..], |k| &branches[k].1) {
                    match action {
                        Action::Assign(v, e) => self.values[*v] = self.eval(e),
                        Action::Reinit(x, e) => reset[*x] = Some(self.eval(e)),
                    }
                }
            }
            Part::Algorithm(statements) => {
                for v in assigned(statements) {
                    self.values[v] = self.pre[v];
                }
                self.statements(statements, conditions);
            }
        }
    }

    /// The first branch with a condition that has risen. All conditions are noted in `now`.
    fn fired(
        &self,
        branches: impl Iterator<Item = &'a Vec<Expr>>,
        now: &mut Vec<bool>,
    ) -> Option<usize> {
        let mut fired = None;
        for (k, list) in branches.enumerate() {
            for condition in list {
                let holds = self.eval(condition) != 0.0;
                let before = self.before.get(now.len()).copied().unwrap_or(false);
                now.push(holds);
                let rises = if self.initial {
                    *condition == Expr::Initial
                } else {
                    holds && !before
                };
                if rises && fired.is_none() {
                    fired = Some(k);
                }
            }
        }
        fired
    }

    fn statements(&mut self, list: &'a [Statement], conditions: &mut Vec<bool>) {
        for statement in list {
            match statement {
                Statement::Assign(v, e) => self.values[*v] = self.eval(e),
                Statement::If(branches, otherwise) => {
                    let taken = branches.iter().find(|(c, _)| self.eval(c) != 0.0);
                    let body = taken.map_or(otherwise, |(_, body)| body);
                    self.statements(body, conditions);
                }
                Statement::Repeat(n, body) => {
                    for _ in 0..*n {
                        self.statements(body, conditions);
                    }
                }
                Statement::When(branches) => {
                    let fired = self.fired(branches.iter().map(|b| &b.0), conditions);
                    if let Some(k) = fired {
                        self.statements(&branches[k].1, conditions);
                    }
                }
            }
        }
    }

    /// The next instant, and the relations that change there.
    fn next_instant(&self) -> Result<(Number, Vec<usize>), Unclear> {
        let mut next = Number::INFINITY;
        for &c in &self.after {
            if c > self.time {
                next = next.min(c);
            }
        }
        for &(start, interval) in &self.samples {
            let mut k = ((self.time - start) / interval).floor() + 1.0;
            k = k.max(0.0);
            next = next.min(start + k * interval);
        }
        let timed = next;
        let mut crossed: Vec<(usize, Number)> = Vec::new();
        for (k, &(x, above, c)) in self.crossings.iter().enumerate() {
            let (value, slope) = (self.states[x], self.slopes[x]);
            let holds = self.holds[k];
            // It rises through the level, or falls.
            let changes = if above != holds {
                slope > 0.0
            } else {
                slope < 0.0
            };
            let at_level = (value - c).abs() < APART;
            if at_level && !changes && slope != 0.0 {
                continue;
            }
            if at_level && slope == 0.0 {
                return Err(Unclear::Tie);
            }
            if changes {
                let at = self.time + (c - value) / slope;
                if at <= self.time + APART {
                    return Err(Unclear::Tie);
                }
                crossed.push((k, at));
                next = next.min(at);
            }
        }
        if timed != next && timed - next < APART {
            return Err(Unclear::Tie);
        }
        let mut now = Vec::new();
        for (k, at) in crossed {
            if at == next {
                now.push(k);
            } else if at - next < APART {
                return Err(Unclear::Tie);
            }
        }
        if !now.is_empty() && timed == next {
            return Err(Unclear::Tie);
        }
        Ok((next, now))
    }

    fn move_to(&mut self, time: Number) {
        // Between instants no sample is true: conditions that were are not any more.
        self.first_pass = false;
        self.initial = false;
        self.before = self.quiet_conditions();
        for (x, slope) in self.slopes.iter().enumerate() {
            self.states[x] += slope * (time - self.time);
        }
        self.time = time;
    }

    /// The conditions of when-clauses as they stand between instants.
    fn quiet_conditions(&mut self) -> Vec<bool> {
        let mut conditions = Vec::new();
        let (values, before) = (self.values.clone(), std::mem::take(&mut self.before));
        self.before = vec![true; before.len()];
        let mut reset = vec![None; self.states.len()];
        for part in &self.program.parts {
            self.part(part, &mut conditions, &mut reset);
        }
        self.values = values;
        conditions
    }

    fn row(&self, time: Number) -> Result<Vec<Number>, Unclear> {
        let ahead = time - self.time;
        let moved = self
            .states
            .iter()
            .zip(&self.slopes)
            .map(|(x, slope)| x + slope * ahead);
        let row: Vec<Number> = self.values.iter().copied().chain(moved).collect();
        if row.iter().any(|v| v.abs() > LARGE) {
            return Err(Unclear::Large);
        }
        Ok(row)
    }

    fn eval(&self, e: &Expr) -> Number {
        let truth = |b: bool| if b { 1.0 } else { 0.0 };
        match e {
            Expr::Constant(_, value) => *value,
            Expr::Var(v) => self.values[*v],
            Expr::Pre(v) => self.pre[*v],
            Expr::Edge(v) => truth(self.values[*v] != 0.0 && self.pre[*v] == 0.0),
            Expr::Change(v) => truth(self.values[*v] != self.pre[*v]),
            Expr::Time => self.time,
            Expr::Initial => truth(self.initial),
            Expr::Continuous(x) => self.states[*x],
            Expr::Crossing {
                state,
                above,
                level,
            } => {
                let found = self
                    .crossings
                    .iter()
                    .position(|c| *c == (*state, *above, *level));
                truth(found.is_some_and(|k| self.holds[k]))
            }
            Expr::After(c) => truth(self.time >= *c),
            Expr::Sample(start, interval) => {
                let k = ((self.time - start) / interval).round();
                let tick = k >= 0.0 && start + k * interval == self.time;
                truth(self.first_pass && !self.initial && tick)
            }
            Expr::Not(a) => truth(self.eval(a) == 0.0),
            Expr::Negative(a) => -self.eval(a),
            Expr::If(c, a, b) => self.eval(if self.eval(c) != 0.0 { a } else { b }),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.eval(a), self.eval(b));
                match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a * b,
                    Op::Mod => a - (a / b).floor() * b,
                    Op::Div => (a / b).trunc(),
                    Op::Min => a.min(b),
                    Op::Max => a.max(b),
                    Op::And => truth(a != 0.0 && b != 0.0),
                    Op::Or => truth(a != 0.0 || b != 0.0),
                    Op::Lt => truth(a < b),
                    Op::Le => truth(a <= b),
                    Op::Gt => truth(a > b),
                    Op::Ge => truth(a >= b),
                    Op::Eq => truth(a == b),
                    Op::Ne => truth(a != b),
                }
            }
            Expr::Call(f, args) => {
                let f = &self.program.functions[*f];
                let (mut y, b) = (self.eval(&args[0]), self.eval(&args[1]));
                for i in 1..=f.passes {
                    let next = f.factor as Number * y + b * i as Number;
                    y = next - (next / f.modulus as Number).floor() * f.modulus as Number;
                    if y == f.leave_at as Number {
                        break;
                    }
                }
                y
            }
            Expr::Table(index) => {
                let n = self.program.table.len() as Number;
                let at = self.eval(index);
                self.program.table[(at - (at / n).floor() * n) as usize] as Number
            }
        }
    }
}

/// Variables that statements assign.
pub(crate) fn assigned(list: &[Statement]) -> Vec<usize> {
    let mut found = Vec::new();
    for statement in list {
        match statement {
            Statement::Assign(v, _) => found.push(*v),
            Statement::If(branches, otherwise) => {
                found.extend(branches.iter().flat_map(|(_, body)| assigned(body)));
                found.extend(assigned(otherwise));
            }
            Statement::Repeat(_, body) => found.extend(assigned(body)),
            Statement::When(branches) => {
                found.extend(branches.iter().flat_map(|(_, body)| assigned(body)))
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// All expressions of a program, parts included.
pub(crate) fn expressions(program: &Program) -> Vec<&Expr> {
    let mut todo: Vec<&Expr> = program.states.iter().map(|s| &s.slope).collect();
    for part in &program.parts {
        match part {
            Part::Equation(_, e) => todo.push(e),
            Part::When(branches) => {
                for (conditions, actions) in branches {
                    todo.extend(conditions);
                    todo.extend(actions.iter().map(|a| match a {
                        Action::Assign(_, e) | Action::Reinit(_, e) => e,
                    }));
                }
            }
            Part::Algorithm(statements) => in_statements(statements, &mut todo),
        }
    }
    let mut found = Vec::new();
    while let Some(e) = todo.pop() {
        found.push(e);
        match e {
            Expr::Not(a) | Expr::Negative(a) | Expr::Table(a) => todo.push(a),
            Expr::Binary(_, a, b) => todo.extend([&**a, &**b]),
            Expr::If(a, b, c) => todo.extend([&**a, &**b, &**c]),
            Expr::Call(_, args) => todo.extend(args),
            _ => {}
        }
    }
    found
}

fn in_statements<'a>(list: &'a [Statement], todo: &mut Vec<&'a Expr>) {
    for statement in list {
        match statement {
            Statement::Assign(_, e) => todo.push(e),
            Statement::If(branches, otherwise) => {
                for (c, body) in branches {
                    todo.push(c);
                    in_statements(body, todo);
                }
                in_statements(otherwise, todo);
            }
            Statement::Repeat(_, body) => in_statements(body, todo),
            Statement::When(branches) => {
                for (conditions, body) in branches {
                    todo.extend(conditions);
                    in_statements(body, todo);
                }
            }
        }
    }
}

/// Whether the values of a type are compared exactly.
pub fn exact(ty: Type) -> bool {
    ty != Type::Real
}
