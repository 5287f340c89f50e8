//! Restart: entering a mode whose constraints the left limits do not meet (paper 001, section 3).
//!
//! The *impulse order* of a quantity is -1 where it jumps, 0 where it is a Dirac impulse; a derivative has one more than what it is the derivative of. A
//! constraint F of which the k-th derivative does not hold at the left limits has order -1-k. Each equation passes its order on to the variable
//! that it is matched with, each variable to the equations that it stands in (001, section 3.2, without a flag: the sources are the violated constraints):
//!
//! ```text
//! R_i = max_j (J_j + σ_ij)        J_a(i) = R_i - σ_i,a(i)
//! ```
//! An equation of order 0 is integrated over the instant. It is affine in the impulses, whose coefficients are taken at the mean of left and right
//! limits (eq. 8): Σ_j ∂F/∂x_j^(σ) · w_j = 0, where the weight w_j of an impulse is the jump of what it is the derivative of, or an unknown of its own. An
//! equation of order -1-m has its m-th derivative hold at the right limits. These equations determine all jumps and weights; conserved
//! quantities are kept because the integrated equations say so.
//!
//! Comes in: the signature of a mode (Σ, offsets, matching, differentiated equations). Goes out: its constraints, and for a set of violated
//! ones a system with a single block.

use crate::system::{Block, Coefficients, Role, Step, StructuredSystem};
use crate::work::Work;
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_ir::flat::{FlatModel, Origin, Variability, Variable};
use saltus_ir::{Base, BinaryOp, Builtin, Expr, ExprId, Ir, UnaryOp, VarId, diff};
use saltus_syntax::{Diagnostic, Name};

/// Nothing happens to a quantity of this impulse order, nor to its derivatives.
const SMOOTH: i32 = i32::MIN / 2;

/// Σ-matrix of the continuous equations with the result of index reduction.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub(crate) struct Signature {
    /// x, der(x), … of each chain.
    pub(crate) chains: Vec<Vec<VarId>>,
    /// The highest order of each chain in each equation.
    pub(crate) rows: Vec<Vec<(u32, u32)>>,
    /// Each equation with its derivatives, as indices.
    pub(crate) equations: Vec<Vec<usize>>,
    pub(crate) differentiations: Vec<u32>,
    pub(crate) orders: Vec<u32>,
    /// The chain that each equation is matched with.
    pub(crate) assigned: Vec<u32>,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Equation {
    lhs: ExprId,
    rhs: ExprId,
    origin: Origin,
}

/// An equation, or derivative of one, between quantities that a mode takes over from the one before.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Constraint {
    pub lhs: ExprId,
    pub rhs: ExprId,
    /// lhs - rhs
    pub residual: ExprId,
    /// The sum of the magnitudes of its terms.
    pub magnitude: ExprId,
    pub origin: Origin,
    row: u32,
    level: u32,
}

/// An equation of a mode with the other branch of one of its switches. Where it holds throughout the mode, the mode is the limit of both branches.
#[derive(Clone, Copy, Debug)]
pub struct Hinge {
    pub literal: u32,
    /// lhs - rhs
    pub residual: ExprId,
    /// The sum of the magnitudes of its terms.
    pub magnitude: ExprId,
}

impl Hinge {
    pub(crate) fn new(ir: &mut Ir, literal: u32, lhs: ExprId, rhs: ExprId) -> Hinge {
        Hinge {
            literal,
            residual: ir.sub(lhs, rhs),
            magnitude: magnitude(ir, lhs, rhs),
        }
    }
}

/// A law of restitution: where `flag` is true, `approach⁺ = -coefficient·approach⁻` holds, and `carrier` is an impulse.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Impact {
    pub flag: VarId,
    pub(crate) approach: ExprId,
    pub(crate) coefficient: ExprId,
    pub(crate) carrier: ExprId,
    pub(crate) origin: Origin,
}

/// What is needed to enter a mode.
#[derive(Clone)]
pub struct Restart {
    pub impacts: Vec<Impact>,
    signature: Signature,
    equations: Vec<Vec<Equation>>,
    pub constraints: Vec<Constraint>,
    pub hinges: Vec<Hinge>,
}

impl std::fmt::Debug for Restart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Restart({} constraints)", self.constraints.len())
    }
}

/// The equations of a jump, as a system whose event schedule is one block.
#[derive(Debug)]
pub struct Jump {
    pub system: StructuredSystem,
    /// What jumps.
    pub moved: Vec<VarId>,
    /// What is an impulse, with the variable that holds its weight.
    pub impulses: Vec<(VarId, VarId)>,
}

impl Restart {
    pub(crate) fn new(work: &mut Work, hinges: Vec<Hinge>) -> Restart {
        let signature = work.signature.take().expect("a mode keeps its signature");
        let equations: Vec<Vec<Equation>> = (signature.equations.iter())
            .map(|derivatives| {
                let each = derivatives.iter().map(|&k| &work.equations[k]);
                each.map(|eq| Equation {
                    lhs: eq.lhs,
                    rhs: eq.rhs,
                    origin: eq.origin,
                })
                .collect()
            })
            .collect();
        let mut constraints = Vec::new();
        for (row, derivatives) in equations.iter().enumerate() {
            for (level, eq) in derivatives.iter().enumerate() {
                if level as u32 == signature.differentiations[row] {
                    break;
                }
                constraints.push(Constraint {
                    lhs: eq.lhs,
                    rhs: eq.rhs,
                    residual: work.flat.ir.sub(eq.lhs, eq.rhs),
                    magnitude: magnitude(&mut work.flat.ir, eq.lhs, eq.rhs),
                    origin: eq.origin,
                    row: row as u32,
                    level: level as u32,
                });
            }
        }
        Restart {
            impacts: work.impacts.clone(),
            signature,
            equations,
            constraints,
            hinges,
        }
    }

    /// The structural index: how often an equation is differentiated at most, and once more for its algebraic unknowns.
    pub fn index(&self) -> u32 {
        1 + self
            .signature
            .differentiations
            .iter()
            .copied()
            .max()
            .unwrap_or(0)
    }

    /// Impulse orders of the chains and of the equations.
    fn orders(&self, violated: &[usize], carriers: &[u32]) -> (Vec<i32>, Vec<i32>) {
        let Signature { rows, assigned, .. } = &self.signature;
        let mut of_chain = vec![SMOOTH; self.signature.chains.len()];
        let mut of_row = vec![SMOOTH; rows.len()];
        for &k in violated {
            let constraint = &self.constraints[k];
            let order = &mut of_row[constraint.row as usize];
            *order = (*order).max(-1 - constraint.level as i32);
        }
        for &chain in carriers {
            of_chain[chain as usize] = -(self.signature.orders[chain as usize] as i32);
        }
        // Orders grow, and along a path of the matching no chain is met twice with a larger one.
        for _ in 0..=rows.len() {
            let mut changed = false;
            for (row, entries) in rows.iter().enumerate() {
                // A law of restitution stands in for what otherwise determines its impulse.
                if carriers.contains(&assigned[row]) {
                    continue;
                }
                let reached = (entries.iter())
                    .map(|&(chain, order)| of_chain[chain as usize] + order as i32)
                    .fold(of_row[row], i32::max);
                of_row[row] = reached;
                if reached <= SMOOTH / 2 {
                    continue;
                }
                let (chain, order) = (entries.iter().copied())
                    .find(|entry| entry.0 == assigned[row])
                    .expect("an equation contains what it is matched with");
                let passed = reached - order as i32;
                if of_chain[chain as usize] < passed {
                    of_chain[chain as usize] = passed;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        (of_chain, of_row)
    }

    /// Builds the equations of a jump. `system` is that of the mode.
    pub(crate) fn jump(
        &self,
        mut system: StructuredSystem,
        violated: &[usize],
        impacts: &[usize],
    ) -> Result<Jump, Box<Diagnostic>> {
        let Signature { chains, rows, .. } = &self.signature;
        let impacts: Vec<&Impact> = impacts.iter().map(|&k| &self.impacts[k]).collect();
        let mut carriers = Vec::new();
        for impact in &impacts {
            carriers.push(self.carrier(&system.flat, impact)?);
        }
        let (of_chain, of_row) = self.orders(violated, &carriers);
        let too_high = (of_chain.iter().zip(&self.signature.orders))
            .position(|(&order, &highest)| order + highest as i32 > 0);
        if let Some(chain) = too_high {
            let order = (1 - of_chain[chain]) as usize;
            let var = chains[chain][order.min(chains[chain].len() - 1)];
            return Err(Box::new(self.too_high(&system.flat, violated, var)));
        }
        let named_by_alias: FxHashSet<VarId> = (system.flat.variables.iter().zip(&system.roles))
            .filter_map(|((_, variable), role)| match role {
                Role::Alias { of, .. } if is_own(variable.name.as_str()) => Some(*of),
                _ => None,
            })
            .collect();
        let flat = &mut system.flat;
        // What is an impulse, with its weight as an expression.
        let mut weights: FxHashMap<VarId, ExprId> = FxHashMap::default();
        let mut unknowns: Vec<VarId> = Vec::new();
        let mut moved = Vec::new();
        let mut impulses = Vec::new();
        let mut named = Vec::new();
        for (chain, &order) in of_chain.iter().enumerate() {
            if order <= SMOOTH / 2 {
                continue;
            }
            let vars = &chains[chain];
            if order == 0 {
                let weight = weight_variable(flat, vars[0]);
                impulses.push((vars[0], weight));
                unknowns.push(weight);
                weights.insert(vars[0], flat.ir.var(weight, Base::Real));
                continue;
            }
            let jumps = (-1 - order) as usize;
            if jumps as u32 > self.signature.orders[chain] {
                continue;
            }
            moved.push(vars[jumps]);
            unknowns.push(vars[jumps]);
            if let Some(&impulse) = vars.get(jumps + 1) {
                let (now, before) = (
                    flat.ir.var(vars[jumps], Base::Real),
                    left(flat, vars[jumps]),
                );
                let jump = flat.ir.sub(now, before);
                weights.insert(impulse, jump);
                // What the model calls by a name of its own is in the log.
                let name = flat.variables[impulse].name.as_str();
                if is_own(name) || named_by_alias.contains(&impulse) {
                    let weight = weight_variable(flat, impulse);
                    impulses.push((impulse, weight));
                    unknowns.push(weight);
                    named.push((impulse, weight));
                }
            }
        }
        let middle: FxHashMap<VarId, ExprId> = (moved.iter())
            .map(|&v| {
                let (now, before) = (flat.ir.var(v, Base::Real), left(flat, v));
                let sum = flat.ir.add_(now, before);
                let half = flat.ir.real(0.5);
                (v, flat.ir.mul(half, sum))
            })
            .collect();
        let impulsive: FxHashSet<VarId> = weights.keys().copied().collect();
        let mut residuals = Vec::new();
        for impact in &impacts {
            let before = before(flat, impact.approach);
            let rebound = flat.ir.mul(impact.coefficient, before);
            residuals.push((flat.ir.add_(impact.approach, rebound), impact.origin));
        }
        for (impulse, weight) in named {
            let weight = flat.ir.var(weight, Base::Real);
            let origin = Origin {
                span: flat.variables[impulse].span,
                component: flat.name,
            };
            residuals.push((flat.ir.sub(weight, weights[&impulse]), origin));
        }
        for (row, &order) in of_row.iter().enumerate() {
            if order <= SMOOTH / 2 || carriers.contains(&self.signature.assigned[row]) {
                continue;
            }
            if order == 0 {
                let eq = self.equations[row][0];
                let mut sum = flat.ir.real(0.0);
                for &(chain, sigma) in &rows[row] {
                    let var = chains[chain as usize][sigma as usize];
                    let Some(&weight) = weights.get(&var) else {
                        continue;
                    };
                    let coefficient = coefficient(flat, eq, var, &impulsive)?;
                    let mut memo = FxHashMap::default();
                    let coefficient = crate::rewrite::substitute(
                        &mut flat.ir,
                        coefficient,
                        &mut |_, v| middle.get(&v).copied(),
                        &mut memo,
                    );
                    let term = flat.ir.mul(coefficient, weight);
                    sum = flat.ir.add_(sum, term);
                }
                residuals.push((sum, eq.origin));
                continue;
            }
            let level = (-1 - order) as usize;
            if let Some(&eq) = self.equations[row].get(level) {
                residuals.push((flat.ir.sub(eq.lhs, eq.rhs), eq.origin));
            }
        }
        system
            .roles
            .resize(system.flat.variables.len(), Role::Auxiliary);
        system
            .feeds_derivatives
            .resize(system.flat.variables.len(), false);
        // The unknowns of a jump are no motions.
        let rates = vec![None; system.flat.variables.len()];
        let block = Block {
            unknowns,
            inner: Vec::new(),
            residuals,
            discrete: Vec::new(),
            linear: false,
            coefficients: Coefficients::Varying,
            direct: None,
        };
        Ok(Jump {
            system: StructuredSystem {
                parameters: Vec::new(),
                starts: Vec::new(),
                states: Vec::new(),
                state_sets: Vec::new(),
                event: vec![Step::Block(block)],
                derivatives: Vec::new(),
                crossing_steps: Vec::new(),
                outputs: Vec::new(),
                initial: Vec::new(),
                initial_notes: Vec::new(),
                initial_conditions: Default::default(),
                crossings: Vec::new(),
                time_events: Vec::new(),
                delays: Vec::new(),
                rates,
                state_reasons: Vec::new(),
                modes: None,
                restart: None,
                ..system
            },
            moved,
            impulses,
        })
    }

    /// The chain of what carries the impulse of an impact.
    fn carrier(&self, flat: &FlatModel, impact: &Impact) -> Result<u32, Box<Diagnostic>> {
        let vars = match *flat.ir.expr(impact.carrier) {
            Expr::Var(_) | Expr::Unary(UnaryOp::Neg, _) => flat.ir.variables_of(impact.carrier),
            _ => Vec::new(),
        };
        let highest = self.signature.chains.iter().zip(&self.signature.orders);
        let chain = highest
            .map(|(chain, &order)| chain[order as usize])
            .position(|v| vars == [v]);
        match chain {
            Some(chain) => Ok(chain as u32),
            None => Err(Box::new(
                Diagnostic::error(
                    "impact-without-carrier",
                    impact.origin.span,
                    format!("`{}` cannot be an impulse", flat.message_text(impact.carrier)),
                )
                .help("name the force of the contact: an unknown of the equations that is zero or finite at other times"),
            )),
        }
    }

    fn too_high(&self, flat: &FlatModel, violated: &[usize], var: VarId) -> Diagnostic {
        let text = |lhs, rhs| format!("`{} = {}`", flat.message_text(lhs), flat.message_text(rhs));
        let variable = &flat.variables[var];
        let sources: Vec<String> = (violated.iter())
            .map(|&k| text(self.constraints[k].lhs, self.constraints[k].rhs))
            .collect();
        Diagnostic::error(
            "impulse-order-too-high",
            variable.span,
            format!("`{}` would be the derivative of an impulse", variable.name),
        )
        .note(format!(
            "because the values before do not meet {}",
            sources.join(", ")
        ))
        .help("a position cannot jump: let the mode begin where its constraint holds")
    }
}

/// The variable for the weight of an impulse in `var`; modes and jumps share it.
fn weight_variable(flat: &mut FlatModel, var: VarId) -> VarId {
    let name = Name::new(&format!("$impulse({})", flat.variables[var].name));
    let span = flat.variables[var].span;
    let known = (flat.variables.iter()).find(|(_, v)| v.name == name);
    match known {
        Some((id, _)) => id,
        None => flat.variables.push(Variable {
            protected: true,
            hide_result: true,
            ..Variable::new(name, Base::Real, Variability::Continuous, span)
        }),
    }
}

/// The left limit.
fn left(flat: &mut FlatModel, var: VarId) -> ExprId {
    let node = flat.ir.var(var, Base::Real);
    let ty = flat.ir.type_id(node);
    flat.ir
        .add(Expr::Builtin(Builtin::Pre, Box::new([node])), ty)
}

/// The left limit of an expression.
fn before(flat: &mut FlatModel, e: ExprId) -> ExprId {
    let mut vars = flat.ir.variables_of(e);
    vars.retain(|&v| flat.variables[v].variability == Variability::Continuous);
    let lefts: FxHashMap<VarId, ExprId> = vars.into_iter().map(|v| (v, left(flat, v))).collect();
    flat.ir.substitute(e, &mut |v| lefts.get(&v).copied())
}

/// ∂(lhs - rhs)/∂var, which must not contain an impulse.
fn coefficient(
    flat: &mut FlatModel,
    eq: Equation,
    var: VarId,
    impulsive: &FxHashSet<VarId>,
) -> Result<ExprId, Box<Diagnostic>> {
    let partial = |ir: &mut Ir, side| diff::partial(ir, side, var);
    let sides = partial(&mut flat.ir, eq.lhs).and_then(|l| Ok((l, partial(&mut flat.ir, eq.rhs)?)));
    let text = format!(
        "`{} = {}`",
        flat.message_text(eq.lhs),
        flat.message_text(eq.rhs)
    );
    let (lhs, rhs) = sides.map_err(|error| {
        let message = format!("{text} must be integrated over an instant");
        let error = Diagnostic::error("not-differentiable", eq.origin.span, message)
            .note(error.to_string());
        Box::new(error)
    })?;
    let coefficient = flat.ir.sub(lhs, rhs);
    if let Some(other) =
        (flat.ir.variables_of(coefficient).into_iter()).find(|v| impulsive.contains(v))
    {
        let (var, other) = (flat.variables[var].name, flat.variables[other].name);
        return Err(Box::new(Diagnostic::error(
            "impulse-enters-nonlinearly",
            eq.origin.span,
            format!("{text} is not affine in its impulses: `{var}` is multiplied by `{other}`"),
        )
        .help("an impulse has no product with another and no function of it; state the law for the instant by `reinit`")));
    }
    Ok(coefficient)
}

/// The sum of the magnitudes of the terms of both sides.
fn magnitude(ir: &mut Ir, lhs: ExprId, rhs: ExprId) -> ExprId {
    let mut stack = vec![lhs, rhs];
    let mut sum = ir.real(0.0);
    while let Some(e) = stack.pop() {
        match *ir.expr(e) {
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => stack.extend([b, a]),
            Expr::Unary(UnaryOp::Neg, a) => stack.push(a),
            _ => {
                let term = ir.call_builtin(Builtin::Abs, &[e]);
                sum = ir.add_(sum, term);
            }
        }
    }
    sum
}

/// A name that the modeller gave: not a derivative, nothing added.
fn is_own(name: &str) -> bool {
    !name.starts_with("der(") && !name.starts_with('$')
}
