//! State sets: where no choice of dummy derivatives is good for a whole run, the choice is made during the run (Mattsson, Olsson and
//! Elmqvist 2000, "Dynamic selection of states in Dymola").
//!
//! Comes in: the dummies chosen for the start values. The Jacobian of the differentiated equations with respect to them is put in
//! block triangular form. Blocks with entries that move may become singular: torn, their equations are the *constraints* of a set,
//! their dummies and the states that occur in the constraints its *candidates*. Equations that lie between and always
//! determine their dummies are kept as *links*. Goes out, for n candidates v and m constraints, at each order of derivative that is chosen alike:
//!
//! ```text
//! v_j = Σ_k P_kj z_k          z: n - m states, then m dummies; P: a permutation, written by the instance
//! der(z_k) = Σ_j P_kj der(v_j)                 for the states
//! ```
//!
//! A change of states is then a change of P and z, without new code. A state that is wanted more than every dummy of
//! a set stays a state for the whole run.

use crate::index::Chains;
use crate::select::{Entry, Selection, components, wish_rank};
use crate::system::StateSet;
use crate::work::{Class, Eq, Kind, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use saltus_graph::{TearProblem, maximum_matching, strongly_connected_components, tear};
use saltus_ir::flat::Origin;
use saltus_ir::{Base, ExprId, VarId};
use saltus_syntax::Name;

/// Larger sets are not made: their sums of n² terms would cost more than they help.
const CANDIDATES_MAX: usize = 64;

/// Rank of a variable that nobody wants as a state.
const NO_WISH: u8 = 2;

/// A set as integers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// Rows whose Jacobian may lose rank with some choice of dummies.
    constraints: Vec<usize>,
    /// Rows that determine `between`, with a Jacobian that is always regular.
    links: Vec<usize>,
    between: Vec<u32>,
    /// Chains: those that are states at first, then those that are dummies.
    candidates: Vec<u32>,
    /// How often the candidates are differentiated less than at most, plus one: states are the derivatives of order d - 1 - level.
    levels: Vec<u32>,
}

impl Plan {
    fn same_choice(&self, other: &Plan) -> bool {
        let ends = |p: &Plan| (p.constraints.clone(), p.links.clone(), p.candidates.clone());
        ends(self) == ends(other)
    }

    /// The (chain, level) that take part in the choice.
    pub(crate) fn chosen_among(&self) -> impl Iterator<Item = (u32, u32)> {
        (self.levels.iter())
            .flat_map(|&level| self.candidates.iter().map(move |&chain| (chain, level)))
    }
}

/// Finds the sets. `rows`, `c`, `d` as in `select_dummies`.
pub(crate) fn plan_sets(
    work: &Work,
    chains: &Chains,
    rows: &[Vec<(u32, u32)>],
    c: &[u32],
    d: &[u32],
    selection: &Selection,
) -> Vec<Plan> {
    let mut plans: Vec<Plan> = Vec::new();
    let reinit: FxHashSet<VarId> = work.reinit_vars.iter().copied().collect();
    for component in components(rows, c, d) {
        let times_max = component.iter().map(|&row| c[row]).max().unwrap_or(0);
        let of_component = plans.len();
        for level in 0..times_max {
            // Only a wish for a state is a reason against a choice.
            let wish = |chain: u32| {
                let order = (d[chain as usize] - level) as usize;
                let var = chains.vars[chain as usize][order - 1];
                wish_rank(work, var, &reinit).max(NO_WISH)
            };
            let is_dummy = |chain: u32| {
                let order = (d[chain as usize] - level) as usize;
                let var = chains.vars[chain as usize][order];
                selection.dummies.contains(&var)
            };
            let matrix = Matrix::new(&component, rows, c, d, level, selection, is_dummy, wish);
            for plan in matrix.map_or_else(Vec::new, |m| m.plans(level, wish)) {
                match (plans[of_component..].iter_mut()).find(|known| known.same_choice(&plan)) {
                    Some(known) => known.levels.extend(plan.levels),
                    None => plans.push(plan),
                }
            }
        }
    }
    plans
}

/// The Jacobian at one level: which rows can be solved for which dummies, in blocks.
struct Matrix {
    /// Numbers of the rows in the whole system.
    rows: Vec<usize>,
    /// Columns with their kind, of each row.
    entries: Vec<Vec<(u32, Entry)>>,
    /// Rows of each block, and its columns.
    blocks: Vec<Vec<u32>>,
    dummies_of_block: Vec<Vec<u32>>,
    block_of_dummy: FxHashMap<u32, usize>,
    doubtful: Vec<bool>,
}

impl Matrix {
    /// `None` if the dummies do not match the rows.
    fn new(
        component: &[usize],
        rows: &[Vec<(u32, u32)>],
        c: &[u32],
        d: &[u32],
        level: u32,
        selection: &Selection,
        is_dummy: impl Fn(u32) -> bool,
        wish: impl Fn(u32) -> u8,
    ) -> Option<Matrix> {
        let members: Vec<usize> = (component.iter().copied())
            .filter(|&row| c[row] > level)
            .collect();
        let entries: Vec<Vec<(u32, Entry)>> = (members.iter())
            .map(|&row| {
                let highest = (rows[row].iter())
                    .filter(|e| c[row] + e.1 == d[e.0 as usize] && d[e.0 as usize] > level);
                highest
                    .filter_map(|&(chain, _)| {
                        let kind = selection.entries.get(&(row as u32, chain))?;
                        Some((chain, *kind))
                    })
                    .collect()
            })
            .collect();
        let mut dummies: Vec<u32> = (entries.iter().flatten())
            .map(|e| e.0)
            .filter(|&chain| is_dummy(chain))
            .collect();
        dummies.sort_unstable();
        dummies.dedup();
        let place: FxHashMap<u32, u32> = (dummies.iter().enumerate())
            .map(|(k, &chain)| (chain, k as u32))
            .collect();
        let edges: Vec<Vec<u32>> = (entries.iter())
            .map(|row| {
                row.iter()
                    .filter_map(|e| place.get(&e.0))
                    .copied()
                    .collect()
            })
            .collect();
        if dummies.len() != members.len() {
            return None;
        }
        let matching = maximum_matching(&edges, dummies.len());
        if !matching.covers_rows() {
            return None;
        }
        let needs: Vec<Vec<u32>> = (edges.iter())
            .map(|row| {
                let rows = row.iter().filter_map(|&k| matching.row_of_col[k as usize]);
                rows.collect()
            })
            .collect();
        let mut matrix = Matrix {
            rows: members,
            entries,
            blocks: Vec::new(),
            dummies_of_block: Vec::new(),
            block_of_dummy: FxHashMap::default(),
            doubtful: Vec::new(),
        };
        for block in strongly_connected_components(&needs) {
            let columns: Vec<u32> = (block.iter())
                .filter_map(|&r| matching.col_of_row[r as usize])
                .map(|k| dummies[k as usize])
                .collect();
            let harmless = |kind: Entry| match kind {
                Entry::Constant => true,
                Entry::NonZero => columns.len() == 1,
                Entry::Varying => false,
            };
            let inside = (block.iter())
                .flat_map(|&r| &matrix.entries[r as usize])
                .filter(|e| columns.contains(&e.0));
            if inside.clone().all(|e| harmless(e.1)) {
                matrix.add_block(block, columns, false);
            } else {
                matrix.add_torn(&block, &columns, &wish);
            }
        }
        Some(matrix)
    }

    fn add_block(&mut self, rows: Vec<u32>, columns: Vec<u32>, doubtful: bool) {
        for &chain in &columns {
            self.block_of_dummy.insert(chain, self.blocks.len());
        }
        self.blocks.push(rows);
        self.dummies_of_block.push(columns);
        self.doubtful.push(doubtful);
    }

    /// Adds a doubtful block as small as possible: dummies that an equation always determines from others are taken out.
    fn add_torn(&mut self, rows: &[u32], columns: &[u32], wish: &impl Fn(u32) -> u8) {
        let place = |chain: u32| columns.iter().position(|&c| c == chain);
        let problem = TearProblem {
            rows: (rows.iter())
                .map(|&r| {
                    let entries = self.entries[r as usize].iter();
                    entries
                        .filter_map(|&(chain, kind)| {
                            Some((place(chain)? as u32, kind != Entry::Varying))
                        })
                        .collect()
                })
                .collect(),
            n_cols: columns.len(),
            preference: columns.iter().map(|&c| i32::from(wish(c))).collect(),
        };
        let tearing = tear(&problem);
        for &(r, c) in &tearing.inner {
            let (row, column) = (rows[r as usize], columns[c as usize]);
            self.add_block(vec![row], vec![column], false);
        }
        let core = tearing.residual.iter().map(|&r| rows[r as usize]);
        let torn = tearing.torn.iter().map(|&c| columns[c as usize]);
        self.add_block(core.collect(), torn.collect(), true);
    }

    /// Doubtful blocks that share states or depend on each other make one set.
    fn plans(&self, level: u32, wish: impl Fn(u32) -> u8) -> Vec<Plan> {
        let reached: Vec<Option<Reached>> = (0..self.blocks.len())
            .map(|b| self.doubtful[b].then(|| self.reach(b)))
            .collect();
        let mut group: Vec<usize> = (0..self.blocks.len()).collect();
        fn find(group: &[usize], mut b: usize) -> usize {
            while group[b] != b {
                b = group[b];
            }
            b
        }
        let mut owner: FxHashMap<u32, usize> = FxHashMap::default();
        for (b, reached) in reached.iter().enumerate() {
            let Some(reached) = reached else { continue };
            let shared = (reached.free.iter()).map(|&chain| *owner.entry(chain).or_insert(b));
            let mut others: Vec<usize> = shared.collect();
            others.extend(&reached.doubtful);
            for other in others {
                let (x, y) = (find(&group, b), find(&group, other));
                group[x.max(y)] = x.min(y);
            }
        }
        let mut plans = Vec::new();
        for root in (0..self.blocks.len()).filter(|&b| self.doubtful[b] && group[b] == b) {
            let members = (root..self.blocks.len()).filter(|&b| find(&group, b) == root);
            let mut links: Vec<usize> = Vec::new();
            let mut free: Vec<u32> = Vec::new();
            let (mut constraints, mut dummies) = (Vec::new(), Vec::new());
            for b in members {
                constraints.extend(&self.blocks[b]);
                dummies.extend(&self.dummies_of_block[b]);
                if let Some(reached) = &reached[b] {
                    links.extend(&reached.safe);
                    free.extend(&reached.free);
                }
            }
            links.sort_unstable();
            links.dedup();
            free.sort_unstable();
            free.dedup();
            let most = dummies.iter().map(|&chain| wish(chain)).max().unwrap_or(0);
            free.retain(|&chain| wish(chain) <= most);
            if free.is_empty() || free.len() + dummies.len() > CANDIDATES_MAX {
                continue;
            }
            dummies.sort_unstable();
            let number = |r: &u32| self.rows[*r as usize];
            plans.push(Plan {
                constraints: constraints.iter().map(number).collect(),
                between: (links.iter())
                    .flat_map(|&b| self.dummies_of_block[b].iter().copied())
                    .collect(),
                links: (links.iter())
                    .flat_map(|&b| self.blocks[b].iter().map(number))
                    .collect(),
                candidates: free.into_iter().chain(dummies).collect(),
                levels: vec![level],
            });
        }
        plans
    }

    /// What the rows of a block depend on, through blocks that are always regular.
    fn reach(&self, block: usize) -> Reached {
        let mut reached = Reached::default();
        let mut seen: FxHashSet<usize> = [block].into_iter().collect();
        let mut stack = vec![block];
        while let Some(b) = stack.pop() {
            for &(chain, _) in self.blocks[b]
                .iter()
                .flat_map(|&r| &self.entries[r as usize])
            {
                match self.block_of_dummy.get(&chain) {
                    None => reached.free.push(chain),
                    Some(&of) if !seen.insert(of) => {}
                    Some(&of) if self.doubtful[of] => reached.doubtful.push(of),
                    Some(&of) => {
                        reached.safe.push(of);
                        stack.push(of);
                    }
                }
            }
        }
        reached.free.sort_unstable();
        reached.free.dedup();
        reached
    }
}

#[derive(Default)]
struct Reached {
    safe: Vec<usize>,
    doubtful: Vec<usize>,
    free: Vec<u32>,
}

/// Adds the variables and equations of a set. `derivatives[row]`: the equation of a row and its derivatives, in order. Goes out with the
/// states and their derivatives in `set.states`.
pub(crate) fn add_set(
    work: &mut Work,
    chains: &Chains,
    plan: &Plan,
    derivatives: &[Vec<usize>],
    d: &[u32],
) {
    let number = work.state_sets.len() + 1;
    let (n, m) = (plan.candidates.len(), plan.constraints.len());
    let var = |chain: u32, level: u32, more: u32| {
        chains.vars[chain as usize][(d[chain as usize] - 1 - level + more) as usize]
    };
    let last = plan.levels.iter().copied().max().unwrap_or(0);
    let lowest: Vec<VarId> = plan.candidates.iter().map(|&j| var(j, last, 0)).collect();
    let span = work.span(lowest[0]);
    let mut selectors = Vec::with_capacity(n * n);
    for k in 0..n {
        for &candidate in &lowest {
            let what = if k < n - m { "state" } else { "dummy" };
            let index = if k < n - m { k + 1 } else { k + 1 - (n - m) };
            let name = format!("$set{number}.{what}[{index}]({})", work.name(candidate));
            selectors.push(work.new_var(&name, Base::Real, Class::Flag, span));
        }
    }
    let mut set = StateSet {
        number: number as u32,
        n_states: n - m,
        selectors: selectors.clone(),
        levels: Vec::new(),
        constraints: Vec::new(),
        between: plan.between.iter().map(|&j| var(j, last, 0)).collect(),
    };
    for row in plan.links.iter().chain(&plan.constraints) {
        // Differentiated c - 1 - level times, so that the candidates of the level are the highest derivatives in it.
        let list = &derivatives[*row];
        let eq = work.equations[list[list.len() - 2 - last as usize]].clone();
        let residual = work.flat.ir.sub(eq.lhs, eq.rhs);
        set.constraints.push((residual, eq.origin));
    }
    for &level in &plan.levels {
        let candidates: Vec<VarId> = plan.candidates.iter().map(|&j| var(j, level, 0)).collect();
        let rates: Vec<VarId> = plan.candidates.iter().map(|&j| var(j, level, 1)).collect();
        let order = if level == last { "" } else { "'" };
        let chosen: Vec<VarId> = (0..n)
            .map(|k| {
                let what = if k < n - m { "state" } else { "dummy" };
                let index = if k < n - m { k + 1 } else { k + 1 - (n - m) };
                let name = format!("$set{number}.{what}{order}[{index}]");
                let chosen = work.new_var(&name, Base::Real, Class::Continuous, span);
                let first = candidates[k];
                let (start, nominal) = {
                    let of = &work.flat.variables[first];
                    (of.start, of.nominal)
                };
                let variable = &mut work.flat.variables[chosen];
                (variable.start, variable.nominal) = (start, nominal);
                chosen
            })
            .collect();
        for j in 0..n {
            let lhs = work.var(candidates[j]);
            let column = |k: usize| selectors[k * n + j];
            let rhs = sum(work, (0..n).map(|k| (column(k), chosen[k])));
            let chosen_lhs = work.var(chosen[j]);
            let row = |k: usize| selectors[j * n + k];
            let chosen_rhs = sum(work, (0..n).map(|k| (row(k), candidates[k])));
            let eq = equation(
                work,
                candidates[j],
                lhs,
                rhs,
                Some((chosen_lhs, chosen_rhs)),
            );
            work.equations.push(eq);
        }
        for k in 0..n - m {
            let der = work.der_of(chosen[k]);
            let lhs = work.var(der);
            let rhs = sum(work, (0..n).map(|j| (selectors[k * n + j], rates[j])));
            let eq = equation(work, candidates[k], lhs, rhs, None);
            work.equations.push(eq);
        }
        set.levels.push((candidates, chosen));
    }
    work.state_sets.push(set);
}

fn sum(work: &mut Work, terms: impl Iterator<Item = (VarId, VarId)>) -> ExprId {
    let mut total = work.flat.ir.real(0.0);
    for (factor, var) in terms {
        let (a, b) = (work.var(factor), work.var(var));
        let product = work.flat.ir.mul(a, b);
        total = work.flat.ir.add_(total, product);
    }
    total
}

fn equation(
    work: &Work,
    of: VarId,
    lhs: ExprId,
    rhs: ExprId,
    initial: Option<(ExprId, ExprId)>,
) -> Eq {
    Eq {
        lhs,
        rhs,
        initial,
        late: None,
        kind: Kind::Continuous,
        origin: Origin {
            span: work.span(of),
            component: Name::new(""),
        },
    }
}
