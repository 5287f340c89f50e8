//! A mixed block as a linear complementarity problem, and the sets around one that does not determine the Reals.
//!
//! Comes in: a block that is linear for each set of its discrete values, and a set. Goes out: the set that the complementarity problem gives,
//! or nothing if the block has not this form. The form, found by probing: the functions r_k of the block's relations are affine in the
//! unknowns, and where one relation changes, the residual changes by c_k r_k, which is zero where r_k is (continuous branches, as those of an ideal
//! diode on its curve parameter). Relations with the same unknown part (`s > f`, `s < -f` of dry friction) cut a line into pieces; the change at each
//! border is found between the pieces on both sides of it, from that of the base on.
//!
//! With the set as base, R(u) = J u + b and r_k = g_k u + h_k; σ_k r_k ≥ 0 is what the base says. Written r_k = σ_k (w_k - z_k) with
//! w_k, z_k ≥ 0, one of them zero, the equations are J u + b = Σ σ_k c_k z_k, and without u
//!
//! w = q + M z,  q_k = σ_k (h_k - g_k J⁻¹ b),  M_kj = δ_kj + σ_k σ_j g_k J⁻¹ c_j.
//!
//! That changes of several relations add up is not tested here: the caller solves the block for the set and tests it.

use crate::driver::MixedSolve;
use crate::error::SolveError;
use crate::lemke::lemke;
use crate::linear::{DenseLu, min_norm};
use crate::newton::Solved;
use crate::scale::CONSISTENT_REL;
use saltus_model::System;

/// Larger blocks are left to other methods: the matrices here are dense.
const UNKNOWNS_MAX: usize = 200;

/// Sets that are tried as base until what depends on the relations agrees with them.
const BASES_MAX: usize = 3;

/// A unit vector has a part in the kernel if that is at least this long.
const KERNEL_PART_MIN: f64 = 1e-6;
/// How far beyond the change of a relation its other side is taken.
const BEYOND_REL: f64 = 1e-6;

/// A relation of the block.
struct Relation {
    /// Its place among the discrete values.
    discrete: usize,
    /// Its crossing function.
    crossing: usize,
    /// Sign of the function on the side of the base.
    side: f64,
}

/// Residual and relation functions at one point.
struct Probe {
    residual: Vec<f64>,
    r: Vec<f64>,
}

/// J, b, g and h of the module's text; matrices by columns.
struct LinearPart {
    jacobian: Vec<f64>,
    gradients: Vec<f64>,
    at_origin: Probe,
}

impl LinearPart {
    /// The unknowns that solve the complementarity problem, with σ_j c_j of all relations.
    fn solution(&self, relations: &[Relation], changes: &[Vec<f64>]) -> Option<Vec<f64>> {
        let (n, k) = (self.at_origin.residual.len(), relations.len());
        let mut lu = DenseLu::new(n);
        if !lu.factor(&self.jacobian) {
            return None;
        }
        let times_gradient =
            |i: usize, u: &[f64]| -> f64 { (0..n).map(|j| self.gradients[j * k + i] * u[j]).sum() };
        let mut u_base: Vec<f64> = self.at_origin.residual.iter().map(|b| -b).collect();
        lu.solve(&mut u_base);
        let q: Vec<f64> = (0..k)
            .map(|i| relations[i].side * (self.at_origin.r[i] + times_gradient(i, &u_base)))
            .collect();
        let mut m = vec![0.0; k * k];
        // J⁻¹ σ_j c_j
        let mut moves = changes.to_vec();
        for (j, c) in moves.iter_mut().enumerate() {
            lu.solve(c);
            for i in 0..k {
                let product = relations[i].side * times_gradient(i, c);
                m[j * k + i] = product + if i == j { 1.0 } else { 0.0 };
            }
        }
        let z = lemke(&m, &q).ok()?;
        let moved = |i: usize| -> f64 { (0..k).map(|j| moves[j][i] * z[j]).sum() };
        Some((0..n).map(|i| u_base[i] + moved(i)).collect())
    }
}

impl<S: System> MixedSolve<'_, S> {
    /// The set that solves the block, if it is a complementarity problem and has a solution.
    pub(crate) fn by_complementarity(&mut self, start: &[f64]) -> Option<Vec<f64>> {
        let n = self.solve.info.unknowns.len();
        if !self.solve.info.linear || n == 0 || n > UNKNOWNS_MAX {
            return None;
        }
        let nominal = self.solve.work.nominals().to_vec();
        let mut base = start.to_vec();
        for _ in 0..BASES_MAX {
            let relations = self.relations(&base);
            let linear = self.linear_part(&base, &relations, &nominal)?;
            let lines = Lines::new(&linear.gradients, &linear.at_origin.r, &nominal)?;
            let home = lines.home(&relations);
            let u = match &home {
                Some(home) => {
                    let at: Vec<f64> = home.iter().map(|h| h.1).collect();
                    lines.point(&at)?
                }
                None => vec![0.0; n],
            };
            // What depends on the relations must be as they say.
            let agreeing = self.set_at(&base, &u)?;
            if agreeing != base {
                base = agreeing;
                continue;
            }
            let changes = self.changes(&base, &relations, &lines, &home?)?;
            let u = linear.solution(&relations, &changes)?;
            return self.set_at(&base, &u);
        }
        None
    }

    /// Residual and relations as affine functions of the unknowns.
    fn linear_part(
        &mut self,
        base: &[f64],
        relations: &[Relation],
        nominal: &[f64],
    ) -> Option<LinearPart> {
        let n = nominal.len();
        if relations.is_empty() {
            return None;
        }
        let at_origin = self.probe(base, &vec![0.0; n], relations)?;
        let (mut jacobian, mut gradients) = (Vec::new(), Vec::new());
        let mut u = vec![0.0; n];
        for j in 0..n {
            u[j] = nominal[j];
            let beside = self.probe(base, &u, relations)?;
            u[j] = 0.0;
            let columns = [
                (&mut jacobian, &beside.residual, &at_origin.residual),
                (&mut gradients, &beside.r, &at_origin.r),
            ];
            for (matrix, at, from) in columns {
                matrix.extend(at.iter().zip(from).map(|(a, b)| (a - b) / nominal[j]));
            }
        }
        Some(LinearPart {
            jacobian,
            gradients,
            at_origin,
        })
    }

    fn relations(&self, base: &[f64]) -> Vec<Relation> {
        let crossings = self.solve.system.crossings();
        (self.solve.info.discrete.iter().enumerate())
            .filter_map(|(discrete, slot)| {
                let crossing = self.crossing_of.get(slot.index()).copied().flatten()? as usize;
                let holds = base[discrete] != 0.0;
                let side = if crossings[crossing].rising == holds {
                    1.0
                } else {
                    -1.0
                };
                Some(Relation {
                    discrete,
                    crossing,
                    side,
                })
            })
            .collect()
    }

    /// The residual at this set and these unknowns, which stay in the array; `None` if it cannot be evaluated.
    pub(crate) fn set_point(&mut self, set: &[f64], u: &[f64]) -> Option<Vec<f64>> {
        let solve = &mut self.solve;
        let slots = (solve.info.discrete.iter().zip(set)).chain(solve.info.unknowns.iter().zip(u));
        for (slot, value) in slots {
            solve.values.v[slot.index()] = *value;
        }
        let mut residual = vec![0.0; u.len()];
        solve.counters.residuals += 1;
        let evaluated = solve
            .system
            .residual(solve.block, solve.values, &mut residual);
        (evaluated.is_ok() && residual.iter().all(|r| r.is_finite())).then_some(residual)
    }

    fn probe(&mut self, set: &[f64], u: &[f64], relations: &[Relation]) -> Option<Probe> {
        let residual = self.set_point(set, u)?;
        let solve = &mut self.solve;
        self.r.resize(solve.system.crossings().len(), 0.0);
        (solve.system.eval_crossings(solve.values, self.r)).ok()?;
        let r: Vec<f64> = relations.iter().map(|k| self.r[k.crossing]).collect();
        r.iter()
            .all(|r| r.is_finite())
            .then_some(Probe { residual, r })
    }

    /// The discrete values that the unknowns give.
    fn set_at(&mut self, base: &[f64], u: &[f64]) -> Option<Vec<f64>> {
        self.set_point(base, u)?;
        let solve = &mut self.solve;
        (solve.system.update_discrete(solve.block, solve.values)).ok()?;
        let values = (solve.info.discrete.iter()).map(|slot| solve.values.v[slot.index()]);
        Some(values.collect())
    }

    /// A set that determines the Reals, instead of the one in `discrete`, which is consistent and does not: two ideal diodes in parallel at the instant at which
    /// the current goes over from one to the other. After a located event it is the one beyond; when the event has been carried out, the one that is there.
    pub(crate) fn instead_of_undetermined(
        &mut self,
        start: &[f64],
        rank: usize,
    ) -> Result<Option<Solved>, SolveError> {
        let found = self.solve.work.discrete.clone();
        let solved = if self.flipping.contains(&true) {
            self.regular_beside(start, &found, rank)?
        } else {
            self.take_if_near(start)?
        };
        if let Some(Solved::Regular) = solved {
            return Ok(solved);
        }
        // As it was.
        self.take_if_near(&found)
    }

    /// Along the kernel of the equations the solution of a set may move until a relation changes; the two ends are the sets before and
    /// after an event. Gives the one in which the relations that a located event has flipped are flipped.
    fn regular_beside(
        &mut self,
        start: &[f64],
        found: &[f64],
        rank: usize,
    ) -> Result<Option<Solved>, SolveError> {
        let solution = self.solve.work.solution().to_vec();
        let relations = self.relations(found);
        let size: Vec<f64> = self.solve.work.nominals().to_vec();
        let is_part = |kernel: &Vec<f64>| {
            (kernel.iter().zip(&size)).any(|(v, n)| v.abs() >= KERNEL_PART_MIN * n)
        };
        let kernels: Vec<Vec<f64>> = (0..solution.len())
            .filter_map(|j| self.solve.work.kernel_part(j))
            .filter(is_part)
            .take(solution.len().saturating_sub(rank))
            .collect();
        for kernel in kernels {
            for way in [1.0, -1.0] {
                let Some(set) = self.end_of_kernel(found, &solution, &kernel, way, &relations)
                else {
                    continue;
                };
                let has_flipped = |i: usize| !self.flipping[i] || set[i] != start[i];
                if (0..set.len()).all(has_flipped)
                    && let Some(solved @ Solved::Regular) = self.take_if_near(&set)?
                {
                    return Ok(Some(solved));
                }
            }
        }
        Ok(None)
    }

    /// The set where a solution that moves along the kernel first changes a relation.
    fn end_of_kernel(
        &mut self,
        found: &[f64],
        solution: &[f64],
        kernel: &[f64],
        way: f64,
        relations: &[Relation],
    ) -> Option<Vec<f64>> {
        let along = |far: f64| -> Vec<f64> {
            (solution.iter().zip(kernel))
                .map(|(u, v)| u + way * far * v)
                .collect()
        };
        let here = self.probe(found, solution, relations)?;
        let there = self.probe(found, &along(1.0), relations)?;
        let nearest = (relations.iter().zip(here.r.iter().zip(&there.r)))
            .filter_map(|(relation, (a, b))| {
                let (value, rate) = (relation.side * a, relation.side * (b - a));
                (rate < 0.0 && value > 0.0).then_some(-value / rate)
            })
            .min_by(f64::total_cmp)?;
        self.set_at(found, &along((1.0 + BEYOND_REL) * nearest))
    }

    /// σ_j c_j of all relations: the change of the residual at the border where this relation changes, over its function.
    fn changes(
        &mut self,
        base: &[f64],
        relations: &[Relation],
        lines: &Lines<'_>,
        home: &[(usize, f64)],
    ) -> Option<Vec<Vec<f64>>> {
        let n = self.solve.info.unknowns.len();
        let mut changes = vec![vec![0.0; n]; relations.len()];
        for (g, line) in lines.lines.iter().enumerate() {
            let up = home[g].0..line.borders.len();
            let down = (0..home[g].0).rev();
            let ways: [Vec<usize>; 2] = [up.collect(), down.collect()];
            for (way, borders) in ways.iter().enumerate() {
                let mut before = base.to_vec();
                for &border in borders {
                    // The piece beyond the border.
                    let piece = if way == 0 { border + 1 } else { border };
                    let (set, change) =
                        self.change_at(&before, relations, lines, home, (g, border, piece))?;
                    changes[line.borders[border].relation] = change;
                    before = set;
                }
            }
        }
        Some(changes)
    }

    /// The set beyond a border of a line, all others at home, and the change of the residual over the function of the border's relation.
    fn change_at(
        &mut self,
        before: &[f64],
        relations: &[Relation],
        lines: &Lines<'_>,
        home: &[(usize, f64)],
        (g, border, piece): (usize, usize, usize),
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let line = &lines.lines[g];
        let relation = &relations[line.borders[border].relation];
        let mut found: Option<(Vec<f64>, Vec<f64>)> = None;
        for share in [1.0 / 3.0, 2.0 / 3.0] {
            let at: Vec<f64> = (home.iter().enumerate())
                .map(|(i, h)| {
                    if i == g {
                        line.inside(piece, share, lines.size)
                    } else {
                        h.1
                    }
                })
                .collect();
            let u = lines.point(&at)?;
            let set = match &found {
                Some((set, _)) => set.clone(),
                None => self.set_at(before, &u)?,
            };
            // This border's relations change, and no others.
            let as_meant = (relations.iter().enumerate()).all(|(i, other)| {
                let changed = set[other.discrete] != before[other.discrete];
                changed == line.is_at(border, i)
            });
            if !as_meant {
                return None;
            }
            let residual = self.set_point(before, &u)?;
            let after = self.set_point(&set, &u)?;
            let r = line.borders[border].value(at[g]);
            let scale = (residual.iter().chain(&after)).fold(0.0, |s: f64, v| s.max(v.abs()));
            let change: Vec<f64> = (after.iter().zip(&residual))
                .map(|(a, b)| relation.side * (a - b) / r)
                .collect();
            if let Some((set, first)) = found {
                let same = (first.iter().zip(&change))
                    .all(|(a, b)| (a - b).abs() * r.abs() <= CONSISTENT_REL * scale);
                return same.then_some((set, change));
            }
            found = Some((set, change));
        }
        None
    }
}

/// A border on a line: where one relation changes.
struct Border {
    relation: usize,
    /// The relation's function is slope·(t - at).
    slope: f64,
    at: f64,
    /// Relations that change at the same place.
    others: Vec<usize>,
}

impl Border {
    fn value(&self, t: f64) -> f64 {
        self.slope * (t - self.at)
    }
}

/// Relations whose functions depend on the unknowns in the same way, but for a factor and a constant; t is the function of the first.
struct Line {
    first: usize,
    /// In ascending order, all different.
    borders: Vec<Border>,
}

impl Line {
    /// A place in a piece; piece k lies below border k.
    fn inside(&self, piece: usize, share: f64, size: f64) -> f64 {
        let below = piece.checked_sub(1).map(|k| self.borders[k].at);
        let above = self.borders.get(piece).map(|border| border.at);
        match (below, above) {
            (Some(a), Some(b)) => a + share * (b - a),
            (Some(a), None) => a + 3.0 * share * size,
            (None, Some(b)) => b - 3.0 * share * size,
            (None, None) => 0.0,
        }
    }

    fn is_at(&self, border: usize, relation: usize) -> bool {
        let border = &self.borders[border];
        border.relation == relation || border.others.contains(&relation)
    }
}

/// The lines of a block's relations.
struct Lines<'a> {
    gradients: &'a [f64],
    at_origin: &'a [f64],
    nominal: &'a [f64],
    lines: Vec<Line>,
    /// How far a place in a piece without end is from its border.
    size: f64,
}

impl<'a> Lines<'a> {
    fn new(gradients: &'a [f64], at_origin: &'a [f64], nominal: &'a [f64]) -> Option<Lines<'a>> {
        let (k, n) = (at_origin.len(), nominal.len());
        let size = at_origin.iter().fold(1.0, |size: f64, r| size.max(r.abs()));
        let row = |i: usize| move |j: usize| gradients[j * k + i] * nominal[j];
        let dot = |a: usize, b: usize| -> f64 { (0..n).map(|j| row(a)(j) * row(b)(j)).sum() };
        let mut lines: Vec<Line> = Vec::new();
        for i in 0..k {
            let square = dot(i, i);
            if square == 0.0 {
                // Its side does not depend on the unknowns.
                return None;
            }
            let slope_on = |line: &Line| {
                let slope = dot(i, line.first) / dot(line.first, line.first);
                let off: f64 = (0..n)
                    .map(|j| (row(i)(j) - slope * row(line.first)(j)).powi(2))
                    .sum();
                (off <= CONSISTENT_REL * CONSISTENT_REL * square).then_some(slope)
            };
            let known = (lines.iter_mut()).find_map(|line| slope_on(line).map(|s| (line, s)));
            let Some((line, slope)) = known else {
                let borders = vec![Border {
                    relation: i,
                    slope: 1.0,
                    at: 0.0,
                    others: Vec::new(),
                }];
                lines.push(Line { first: i, borders });
                continue;
            };
            let at = at_origin[line.first] - at_origin[i] / slope;
            let near = |border: &&mut Border| (border.at - at).abs() <= CONSISTENT_REL * size;
            match line.borders.iter_mut().find(near) {
                Some(border) => border.others.push(i),
                None => line.borders.push(Border {
                    relation: i,
                    slope,
                    at,
                    others: Vec::new(),
                }),
            }
        }
        for line in &mut lines {
            line.borders.sort_by(|a, b| a.at.total_cmp(&b.at));
        }
        Some(Lines {
            gradients,
            at_origin,
            nominal,
            lines,
            size,
        })
    }

    /// The piece of each line that the base means, and a place in it; `None` if there is none.
    fn home(&self, relations: &[Relation]) -> Option<Vec<(usize, f64)>> {
        let home_on = |line: &Line| {
            (0..=line.borders.len()).find_map(|piece| {
                let t = line.inside(piece, 0.5, self.size);
                let agrees = |b: &Border| b.value(t) * relations[b.relation].side > 0.0;
                line.borders.iter().all(agrees).then_some((piece, t))
            })
        };
        self.lines.iter().map(home_on).collect()
    }

    /// Unknowns of smallest norm at these places of the lines.
    fn point(&self, at: &[f64]) -> Option<Vec<f64>> {
        let (k, n, m) = (self.at_origin.len(), self.nominal.len(), self.lines.len());
        let mut rows = Vec::with_capacity(m * n);
        for j in 0..n {
            rows.extend((self.lines.iter()).map(|line| self.gradients[j * k + line.first]));
        }
        let rhs: Vec<f64> = (self.lines.iter().zip(at))
            .map(|(line, t)| t - self.at_origin[line.first])
            .collect();
        Some(min_norm(&rows, m, n, &rhs, self.nominal)?.x)
    }
}
