//! Text of a structured system, for `saltus show --stage structure` and for tests.

use crate::system::{Action, Assignment, Block, Direct, Role, Step, StructuredSystem, TimeEvent};
use rustc_hash::FxHashMap;
use saltus_ir::{BinaryOp, Expr, ExprId, Ir, VarId};
use saltus_syntax::Span;
use std::fmt::Write;

/// Steps of the event system are marked with the schedule they belong to (`d` derivatives, `c` crossing functions, `o` outputs).
///
/// The whole system: states with the reason they were chosen, parameters, blocks, crossing functions, time events, initial system.
pub fn print_structure(system: &StructuredSystem) -> String {
    print_structure_at(system, &|_| String::new())
}

/// With the places of crossing functions in the source.
pub fn print_structure_at(system: &StructuredSystem, place: &dyn Fn(Span) -> String) -> String {
    let mut out = String::new();
    let p = Printer { system, place };
    let _ = writeln!(
        out,
        "model {}: {} equations, {} unknowns, {} states",
        system.flat.name,
        system.n_equations,
        system.n_unknowns,
        system.states.len()
    );
    p.section(&mut out, "states", &p.states());
    p.section(&mut out, "state sets", &p.state_sets());
    p.section(
        &mut out,
        "parameters",
        &system
            .parameters
            .iter()
            .map(|a| p.assignment(a))
            .collect::<Vec<_>>(),
    );
    p.section(&mut out, "event system", &p.event());
    p.section(&mut out, "crossing functions", &p.crossings());
    p.section(&mut out, "time events", &p.time_events());
    p.section(
        &mut out,
        "delays",
        &system
            .delays
            .iter()
            .map(|d| {
                format!(
                    "{} = delay({}, {})",
                    p.name(d.result),
                    p.text(d.expr),
                    p.text(d.delay_time)
                )
            })
            .collect::<Vec<_>>(),
    );
    p.section(&mut out, "aliases", &p.aliases());
    p.section(
        &mut out,
        "start values",
        &system
            .starts
            .iter()
            .map(|a| p.assignment(a))
            .collect::<Vec<_>>(),
    );
    let initial: Vec<String> = system
        .initial
        .iter()
        .flat_map(|step| p.step(step, ""))
        .collect();
    p.section(&mut out, "initial system", &initial);
    p.section(
        &mut out,
        "initial notes",
        &system
            .initial_notes
            .iter()
            .map(|n| n.1.clone())
            .collect::<Vec<_>>(),
    );
    out
}

/// Replacement equations with more nodes, written out, are not printed.
const DIRECT_PRINTED_MAX: usize = 80;

/// Nodes of an expression written out without sharing.
fn tree_size(ir: &Ir, e: ExprId) -> usize {
    let mut sizes: FxHashMap<ExprId, usize> = FxHashMap::default();
    for id in ir.reachable(&[e]) {
        let mut size = 1usize;
        ir.for_each_child(id, |child| size = size.saturating_add(sizes[&child]));
        sizes.insert(id, size);
    }
    sizes[&e]
}

struct Printer<'a> {
    system: &'a StructuredSystem,
    place: &'a dyn Fn(Span) -> String,
}

impl Printer<'_> {
    fn section(&self, out: &mut String, title: &str, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let _ = writeln!(out, "{title}");
        for line in lines {
            let _ = writeln!(out, "  {line}");
        }
    }

    fn name(&self, v: VarId) -> String {
        self.system.flat.variables[v].name.to_string()
    }

    fn text(&self, e: ExprId) -> String {
        self.system.flat.text(e)
    }

    fn assignment(&self, a: &Assignment) -> String {
        format!("{} := {}", self.name(a.var), self.text(a.value))
    }

    fn states(&self) -> Vec<String> {
        let reasons = &self.system.state_reasons;
        self.system
            .states
            .iter()
            .zip(reasons)
            .map(|(&(x, d), reason)| {
                format!("{}, derivative {} ({reason})", self.name(x), self.name(d))
            })
            .collect()
    }

    fn state_sets(&self) -> Vec<String> {
        let names = |vars: &[VarId]| -> String {
            let names: Vec<String> = vars.iter().map(|&v| self.name(v)).collect();
            names.join(", ")
        };
        let mut lines = Vec::new();
        for set in &self.system.state_sets {
            let (number, n) = (set.number, set.n_states);
            for (candidates, _) in &set.levels {
                lines.push(format!("{number}: {n} of {}", names(candidates)));
            }
            if !set.between.is_empty() {
                lines.push(format!("    through {}", names(&set.between)));
            }
            let constraints = &set.constraints[set.between.len()..];
            lines.extend((constraints.iter()).map(|(e, _)| format!("    0 = {}", self.text(*e))));
        }
        lines
    }

    fn event(&self) -> Vec<String> {
        let mut place = vec![' '; self.system.event.len()];
        self.system.derivatives.iter().for_each(|&k| place[k] = 'd');
        self.system
            .crossing_steps
            .iter()
            .for_each(|&k| place[k] = 'c');
        self.system.outputs.iter().for_each(|&k| place[k] = 'o');
        self.system
            .event
            .iter()
            .zip(place)
            .flat_map(|(step, mark)| self.step(step, &format!("{mark} ")))
            .collect()
    }

    fn step(&self, step: &Step, mark: &str) -> Vec<String> {
        match step {
            Step::Assign {
                assignment,
                discrete,
            } => {
                let kind = if *discrete { "discrete " } else { "" };
                vec![format!("{mark}{kind}{}", self.assignment(assignment))]
            }
            Step::Block(block) => {
                let kind = match (block.discrete.is_empty(), block.linear) {
                    (true, true) => "linear",
                    (true, false) => "nonlinear",
                    (false, true) => "mixed linear",
                    (false, false) => "mixed nonlinear",
                };
                let coefficients = if block.linear {
                    format!(", {} coefficients", block.coefficients.name())
                } else {
                    String::new()
                };
                let names: Vec<String> = block.unknowns.iter().map(|&v| self.name(v)).collect();
                let mut lines = vec![format!(
                    "{mark}{kind} block{coefficients}, unknowns {}",
                    names.join(", ")
                )];
                lines.extend(
                    block
                        .inner
                        .iter()
                        .map(|a| format!("    {}", self.assignment(a))),
                );
                lines.extend(
                    block
                        .residuals
                        .iter()
                        .map(|(r, _)| format!("    0 = {}", self.text(*r))),
                );
                lines.extend(
                    block
                        .discrete
                        .iter()
                        .map(|a| format!("    discrete {}", self.assignment(a))),
                );
                if let Some(direct) = &block.direct {
                    lines.extend(self.direct(block, direct));
                }
                lines
            }
            Step::Action { guard, action, .. } => {
                let guard = guard.map_or_else(String::new, |g| format!("when {} ", self.text(g)));
                let action = match action {
                    Action::Reinit { var, value } => {
                        format!("reinit({}, {})", self.name(*var), self.text(*value))
                    }
                    Action::Assert { condition, .. } => {
                        format!("assert({})", self.text(*condition))
                    }
                    Action::Terminate { message } => format!("terminate({})", self.text(*message)),
                    Action::Call { call } => self.text(*call),
                };
                vec![format!("{mark}{guard}{action}")]
            }
        }
    }

    /// The replacement equations, if they are short.
    fn direct(&self, block: &Block, direct: &Direct) -> Vec<String> {
        let ir = &self.system.flat.ir;
        let entries = direct.matrix.iter().chain(&direct.rhs);
        let size = entries.fold(0usize, |sum, &e| sum.saturating_add(tree_size(ir, e)));
        if size > DIRECT_PRINTED_MAX {
            return Vec::new();
        }
        let factor = |e: ExprId| match ir.expr(e) {
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Div, ..)
            | Expr::Unary(..)
            | Expr::If(..) => format!("({})", self.text(e)),
            _ => self.text(e),
        };
        let n = block.unknowns.len();
        (direct.matrix.chunks_exact(n).zip(&direct.rhs))
            .map(|(row, &rhs)| {
                let terms: Vec<String> = (row.iter().zip(&block.unknowns))
                    .filter(|&(&e, _)| !ir.is_zero(e))
                    .map(|(&e, &v)| format!("{}*{}", factor(e), self.name(v)))
                    .collect();
                format!("    so {} = {}", terms.join(" + "), self.text(rhs))
            })
            .collect()
    }

    fn crossings(&self) -> Vec<String> {
        self.system
            .crossings
            .iter()
            .map(|c| {
                let place = (self.place)(c.origin.span);
                let place = if place.is_empty() {
                    place
                } else {
                    format!(", {place}")
                };
                format!(
                    "{}: {} ({:?}: {}){place}",
                    self.name(c.relation),
                    c.text,
                    c.class,
                    self.text(c.function)
                )
            })
            .collect()
    }

    fn time_events(&self) -> Vec<String> {
        self.system
            .time_events
            .iter()
            .map(|event| match event {
                TimeEvent::Sample {
                    flag,
                    start,
                    interval,
                } => {
                    format!(
                        "{}: sample({}, {})",
                        self.name(*flag),
                        self.text(*start),
                        self.text(*interval)
                    )
                }
                TimeEvent::Tick {
                    flag,
                    period,
                    shift,
                } => {
                    format!(
                        "{}: every {}/{} s from {}/{} s",
                        self.name(*flag),
                        period.0,
                        period.1,
                        shift.0,
                        shift.1
                    )
                }
                TimeEvent::Threshold {
                    relation,
                    at,
                    after,
                } => {
                    let when = if *after { "just after" } else { "at" };
                    format!("{}: {when} {}", self.name(*relation), self.text(*at))
                }
            })
            .collect()
    }

    fn aliases(&self) -> Vec<String> {
        self.system
            .flat
            .variables
            .ids()
            .filter_map(|v| match self.system.roles[v.0 as usize] {
                Role::Alias { of, negated } => Some(format!(
                    "{} = {}{}",
                    self.name(v),
                    if negated { "-" } else { "" },
                    self.name(of)
                )),
                _ => None,
            })
            .collect()
    }
}
