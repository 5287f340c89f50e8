//! A mixed block as a linear complementarity problem, and the sets around one that does not determine the Reals.
//!
//! Comes in: a block that is linear for each set of its discrete values, and a set. Goes out: the set that the complementarity problem gives,
//! or nothing if the block has not this form. The form, found by probing: the functions r_k of the block's relations are affine in the
//! unknowns, and where one relation changes, the residual changes by c_k r_k, which is zero where r_k is (continuous branches, as those of an ideal
//! diode on its curve parameter).
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

impl<S: System> MixedSolve<'_, S> {
    /// The set that solves the block, if it is a complementarity problem and has a solution.
    pub(crate) fn by_complementarity(&mut self, base: &[f64]) -> Option<Vec<f64>> {
        let n = self.solve.info.unknowns.len();
        if !self.solve.info.linear || n == 0 || n > UNKNOWNS_MAX {
            return None;
        }
        let relations = self.relations(base);
        let k = relations.len();
        if k == 0 {
            return None;
        }
        let nominal = self.solve.work.nominals().to_vec();
        let origin = self.probe(base, &vec![0.0; n], &relations)?;
        let (mut jacobian, mut gradients) = (Vec::new(), Vec::new());
        let mut u = vec![0.0; n];
        for j in 0..n {
            u[j] = nominal[j];
            let beside = self.probe(base, &u, &relations)?;
            u[j] = 0.0;
            let columns = [
                (&mut jacobian, &beside.residual, &origin.residual),
                (&mut gradients, &beside.r, &origin.r),
            ];
            for (matrix, at, from) in columns {
                matrix.extend(at.iter().zip(from).map(|(a, b)| (a - b) / nominal[j]));
            }
        }
        let mut lu = DenseLu::new(n);
        if !lu.factor(&jacobian) {
            return None;
        }
        let times_gradient =
            |i: usize, u: &[f64]| -> f64 { (0..n).map(|j| gradients[j * k + i] * u[j]).sum() };
        let mut u_base: Vec<f64> = origin.residual.iter().map(|b| -b).collect();
        lu.solve(&mut u_base);
        let q: Vec<f64> = (0..k)
            .map(|i| relations[i].side * (origin.r[i] + times_gradient(i, &u_base)))
            .collect();
        let mut m = vec![0.0; k * k];
        // J⁻¹ σ_j c_j
        let mut moves = Vec::with_capacity(k);
        for j in 0..k {
            let mut c = self.jump(base, &relations, j, &gradients, &origin.r, &nominal)?;
            lu.solve(&mut c);
            for i in 0..k {
                let product = relations[i].side * times_gradient(i, &c);
                m[j * k + i] = product + if i == j { 1.0 } else { 0.0 };
            }
            moves.push(c);
        }
        let z = lemke(&m, &q).ok()?;
        let u: Vec<f64> = (0..n)
            .map(|i| u_base[i] + (0..k).map(|j| moves[j][i] * z[j]).sum::<f64>())
            .collect();
        self.set_at(base, &u)
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

    fn set_point(&mut self, set: &[f64], u: &[f64]) -> Option<Vec<f64>> {
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

    /// σ_j c_j of one relation: the change of the residual where this relation alone changes, over its function.
    fn jump(
        &mut self,
        base: &[f64],
        relations: &[Relation],
        j: usize,
        gradients: &[f64],
        at_origin: &[f64],
        nominal: &[f64],
    ) -> Option<Vec<f64>> {
        let (k, n) = (relations.len(), nominal.len());
        let size = at_origin.iter().fold(1.0, |size: f64, r| size.max(r.abs()));
        let mut changed: Option<Vec<f64>> = None;
        let mut found: Option<Vec<f64>> = None;
        for far in [1.0, 2.0] {
            // All functions on the side of the base, this one on the other.
            let target: Vec<f64> = (0..k)
                .map(|i| relations[i].side * if i == j { -far * size } else { size })
                .collect();
            let rhs: Vec<f64> = target.iter().zip(at_origin).map(|(t, h)| t - h).collect();
            let u = min_norm(gradients, k, n, &rhs, nominal)?.x;
            let set = match changed.take() {
                Some(set) => set,
                None => self.set_at(base, &u)?,
            };
            let alone = |i: usize| {
                let place = relations[i].discrete;
                (set[place] != base[place]) == (i == j)
            };
            if !(0..k).all(alone) {
                return None;
            }
            let before = self.set_point(base, &u)?;
            let after = self.set_point(&set, &u)?;
            let scale = (before.iter().chain(&after)).fold(0.0, |s: f64, v| s.max(v.abs()));
            // r_j = -σ_j far size
            let c: Vec<f64> = (after.iter().zip(&before))
                .map(|(a, b)| -(a - b) / (far * size))
                .collect();
            if let Some(first) = &found {
                let same = first
                    .iter()
                    .zip(&c)
                    .all(|(a, b)| (a - b).abs() * size <= CONSISTENT_REL * scale);
                return same.then_some(c);
            }
            (changed, found) = (Some(set), Some(c));
        }
        None
    }
}
