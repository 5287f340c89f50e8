//! What the equations of a model cost: operations of one evaluation, by equation, line and block.
//!
//! Comes in: the sorted system. Goes out: estimates from the expressions, the same on every machine: an addition is one operation, a division and a function of the hardware are
//! more; a block of equations is evaluated with its Jacobian and solved in as many iterations as are usual. How often an evaluation takes place is known from a run.

use crate::error::Error;
use crate::session::Session;
use rustc_hash::FxHashSet;
use saltus_ir::flat::Origin;
use saltus_ir::{BinaryOp, Builtin, Expr, ExprId, Ir};
use saltus_structure::{Assignment, Block, Step};
use saltus_syntax::SourceMap;
use serde::Serialize;

/// Operations of a division, of a function such as `sin`, and of a call of a function in the model beside its arguments.
const DIVISION: f64 = 4.0;
const FUNCTION: f64 = 20.0;
const CALL: f64 = 60.0;
/// Iterations of a nonlinear block from a good guess.
const ITERATIONS: f64 = 3.0;

/// Where the operations of one evaluation of the model go.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CostView {
    /// Operations of all equations together.
    pub operations: f64,
    /// Lines of the text, the most expensive first.
    pub lines: Vec<LineCost>,
    /// Systems of equations with more than one unknown, or solved by iteration; the most expensive first.
    pub blocks: Vec<BlockCost>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LineCost {
    pub file: String,
    pub line: u32,
    /// Equations that come from the line: several components may have it.
    pub equations: usize,
    /// A variable that one of them determines.
    pub determines: String,
    pub share: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct BlockCost {
    /// `linear`, `nonlinear`, `mixed linear`, `mixed nonlinear`.
    pub kind: &'static str,
    /// Unknowns that are solved for, and all that are determined.
    pub unknowns: usize,
    pub equations: usize,
    /// One of the unknowns.
    pub example: String,
    pub file: String,
    pub line: u32,
    pub share: f64,
}

impl Session {
    /// What the equations of a class cost.
    pub fn cost_view(&self, class: &str) -> Result<CostView, Error> {
        let (system, warnings, _) = self.structure(class)?;
        let flat = &system.flat;
        let mut costs = Costs {
            ir: &flat.ir,
            sources: &warnings.sources,
            lines: Vec::new(),
        };
        let name = |v: saltus_ir::VarId| flat.variables[v].name.to_string();
        let mut blocks = Vec::new();
        for step in &system.event {
            match step {
                Step::Assign { assignment, .. } => {
                    let cost = costs.of(assignment.value);
                    costs.add(assignment.origin, cost, name(assignment.var));
                }
                Step::Block(block) => {
                    let (cost, kind) = costs.block(block, &name);
                    let first = block.unknowns.first().copied();
                    let first = first.or_else(|| block.inner.first().map(|a| a.var));
                    let origin = block.residuals.first().map(|(_, origin)| *origin);
                    let origin = origin.or_else(|| block.inner.first().map(|a| a.origin));
                    let (file, line) = origin.map_or((String::new(), 0), |o| costs.place(o));
                    blocks.push(BlockCost {
                        kind,
                        unknowns: block.unknowns.len(),
                        equations: block.unknowns.len() + block.inner.len() + block.discrete.len(),
                        example: first.map_or_else(String::new, name),
                        file,
                        line,
                        share: cost,
                    });
                }
                Step::Action { .. } => {}
            }
        }
        let operations: f64 = costs.lines.iter().map(|line| line.share).sum();
        let whole = operations.max(1.0);
        costs.lines.iter_mut().for_each(|line| line.share /= whole);
        blocks.iter_mut().for_each(|block| block.share /= whole);
        costs.lines.sort_by(|a, b| b.share.total_cmp(&a.share));
        blocks.sort_by(|a, b| b.share.total_cmp(&a.share));
        Ok(CostView {
            operations,
            lines: costs.lines,
            blocks,
        })
    }
}

struct Costs<'a> {
    ir: &'a Ir,
    sources: &'a SourceMap,
    lines: Vec<LineCost>,
}

impl Costs<'_> {
    fn place(&self, origin: Origin) -> (String, u32) {
        let span = origin.span;
        if (span.file.0 as usize) >= self.sources.len() {
            return (String::new(), 0);
        }
        let line = self.sources.line_col(span.file, span.start).line;
        (self.sources.file(span.file).name.clone(), line)
    }

    fn add(&mut self, origin: Origin, cost: f64, determines: String) {
        let (file, line) = self.place(origin);
        let known = self
            .lines
            .iter_mut()
            .find(|l| l.line == line && l.file == file);
        match known {
            Some(known) => {
                known.equations += 1;
                known.share += cost;
            }
            None => self.lines.push(LineCost {
                file,
                line,
                equations: 1,
                determines,
                share: cost,
            }),
        }
    }

    /// Operations of an expression; what occurs in it twice is computed once.
    fn of(&self, e: ExprId) -> f64 {
        let mut seen = FxHashSet::default();
        let mut open = vec![e];
        let mut sum = 0.0;
        while let Some(e) = open.pop() {
            if seen.insert(e) {
                sum += weight(self.ir.expr(e));
                self.ir.for_each_child(e, |child| open.push(child));
            }
        }
        sum.max(1.0)
    }

    /// The operations of a block, its equations among the lines, and its kind.
    fn block(
        &mut self,
        block: &Block,
        name: &dyn Fn(saltus_ir::VarId) -> String,
    ) -> (f64, &'static str) {
        let n = block.unknowns.len() as f64;
        let iterations = if block.linear { 1.0 } else { ITERATIONS };
        // Residuals, and their derivatives for all unknowns that occur.
        let evaluations = 2.0 * iterations;
        let solve = iterations * n * n * n / 3.0;
        let rows: Vec<(Origin, f64, String)> = (block.inner.iter().chain(&block.discrete))
            .map(|Assignment { var, value, origin }| (*origin, self.of(*value), name(*var)))
            .chain(
                (block.residuals.iter().zip(&block.unknowns))
                    .map(|((value, origin), unknown)| (*origin, self.of(*value), name(*unknown))),
            )
            .collect();
        let share = solve / rows.len().max(1) as f64;
        let mut sum = 0.0;
        for (origin, cost, determines) in rows {
            let cost = evaluations * cost + share;
            sum += cost;
            self.add(origin, cost, determines);
        }
        let kind = match (block.discrete.is_empty(), block.linear) {
            (true, true) => "linear",
            (true, false) => "nonlinear",
            (false, true) => "mixed linear",
            (false, false) => "mixed nonlinear",
        };
        (sum, kind)
    }
}

fn weight(node: &Expr) -> f64 {
    match node {
        Expr::Binary(BinaryOp::Div, ..) => DIVISION,
        Expr::Binary(BinaryOp::Pow, ..) => FUNCTION,
        Expr::Binary(..) | Expr::Unary(..) | Expr::If(..) => 1.0,
        Expr::Builtin(
            Builtin::Sin
            | Builtin::Cos
            | Builtin::Tan
            | Builtin::Asin
            | Builtin::Acos
            | Builtin::Atan
            | Builtin::Atan2
            | Builtin::Sinh
            | Builtin::Cosh
            | Builtin::Tanh
            | Builtin::Exp
            | Builtin::Log
            | Builtin::Log10
            | Builtin::Sqrt
            | Builtin::Delay
            | Builtin::SpatialDistribution,
            _,
        ) => FUNCTION,
        Expr::Builtin(..) => 1.0,
        Expr::Call { .. } => CALL,
        _ => 0.0,
    }
}
