//! Bodies on a line with dry friction between them and against the ground, and stops: an exact event-driven reference.
//!
//! In a mode (each friction sticks or slides one way, each stop is open or closed) the accelerations are affine in the forces, which are sums of sines and steps: positions and
//! velocities are formulas. Conditions are watched on a fine grid and bisected. The mode after an instant is found by trying all of those that the velocities allow, with the forces just
//! after it; if several agree whose motions differ, the case has no single answer and is not counted.

/// A force on a body: a sine and a step.
#[derive(Clone, Debug)]
pub(crate) struct Force {
    pub(crate) body: usize,
    pub(crate) constant: f64,
    pub(crate) amplitude: f64,
    pub(crate) omega: f64,
    pub(crate) step_time: f64,
    pub(crate) step: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Friction {
    /// The body below; none is the ground.
    pub(crate) below: Option<usize>,
    pub(crate) body: usize,
    /// Largest force that sticks, and the one that slides.
    pub(crate) limits: (f64, f64),
}

#[derive(Clone, Debug)]
pub(crate) struct Stop {
    pub(crate) body: usize,
    /// The body stays on the left of it if the side is 1, on the right if it is -1.
    pub(crate) wall: f64,
    pub(crate) side: f64,
    pub(crate) restitution: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    pub(crate) masses: Vec<f64>,
    pub(crate) velocities: Vec<f64>,
    pub(crate) frictions: Vec<Friction>,
    pub(crate) forces: Vec<Force>,
    pub(crate) stops: Vec<Stop>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mode {
    /// 0 sticks, else the direction.
    pub(crate) slides: Vec<i8>,
    pub(crate) closed: Vec<bool>,
}

/// What is affine in the forces on the bodies: accelerations, then forces of frictions, then of stops.
struct Motion {
    n: usize,
    /// By rows: coefficients of the forces and a constant.
    rows: Vec<Vec<f64>>,
}

#[derive(Debug)]
pub(crate) enum NoAnswer {
    Ambiguous,
    NoMode,
    TooManyEvents,
    /// Infinitely many impacts end in rest; that is a matter of contacts, not of friction.
    Rests,
}

/// Grid on which conditions are watched.
const GRID: f64 = 5e-4;
/// Velocities and gaps below are zero.
const ZERO: f64 = 1e-9;
/// How far after an instant the forces are taken.
const AFTER: f64 = 1e-6;
/// An impact with less is one of the last before rest.
const SLOW: f64 = 1e-3;
const EVENTS_MAX: usize = 400;
const IMPACTS_MAX: usize = 25;

impl Bodies {
    fn forces(&self, t: f64) -> Vec<f64> {
        self.sum(|f| {
            f.constant
                + f.amplitude * (f.omega * t).sin()
                + if t > f.step_time { f.step } else { 0.0 }
        })
    }

    /// First and second integral of the forces from 0.
    fn impulses(&self, t: f64) -> Vec<f64> {
        self.sum(|f| {
            f.constant * t
                + f.amplitude / f.omega * (1.0 - (f.omega * t).cos())
                + f.step * (t - f.step_time).max(0.0)
        })
    }

    fn second_impulses(&self, t: f64) -> Vec<f64> {
        self.sum(|f| {
            let wt = f.omega * t;
            let after = (t - f.step_time).max(0.0);
            0.5 * f.constant * t * t
                + f.amplitude / (f.omega * f.omega) * (wt - wt.sin())
                + 0.5 * f.step * after * after
        })
    }

    fn sum(&self, value: impl Fn(&Force) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.masses.len()];
        for f in &self.forces {
            sums[f.body] += value(f);
        }
        sums
    }

    fn relative(&self, k: usize, v: &[f64]) -> f64 {
        let f = &self.frictions[k];
        v[f.body] - f.below.map_or(0.0, |b| v[b])
    }

    fn motion(&self, mode: &Mode) -> Option<Motion> {
        let (n, nf, ns) = (self.masses.len(), self.frictions.len(), self.stops.len());
        let size = n + nf + ns;
        // Unknowns: a, f, c; right-hand sides: forces, constant.
        let mut m = vec![vec![0.0; size + n + 1]; size];
        for i in 0..n {
            m[i][i] = self.masses[i];
            m[i][size + i] = 1.0;
        }
        for (k, f) in self.frictions.iter().enumerate() {
            let (row, col) = (n + k, n + k);
            m[f.body][col] += 1.0;
            if let Some(b) = f.below {
                m[b][col] -= 1.0;
            }
            if mode.slides[k] == 0 {
                m[row][f.body] += 1.0;
                if let Some(b) = f.below {
                    m[row][b] -= 1.0;
                }
            } else {
                m[row][col] = 1.0;
                m[row][size + n] = f64::from(mode.slides[k]) * f.limits.1;
            }
        }
        for (j, s) in self.stops.iter().enumerate() {
            let (row, col) = (n + nf + j, n + nf + j);
            m[s.body][col] += s.side;
            m[row][if mode.closed[j] { s.body } else { col }] = 1.0;
        }
        for p in 0..size {
            let best = (p..size).max_by(|a, b| m[*a][p].abs().total_cmp(&m[*b][p].abs()))?;
            if m[best][p].abs() < 1e-12 {
                return None;
            }
            m.swap(p, best);
            let pivot = m[p].clone();
            for (i, row) in m.iter_mut().enumerate() {
                if i != p && row[p] != 0.0 {
                    let q = row[p] / pivot[p];
                    for (x, y) in row.iter_mut().zip(&pivot) {
                        *x -= q * y;
                    }
                }
            }
        }
        let rows = (0..size)
            .map(|p| m[p][size..].iter().map(|x| x / m[p][p]).collect())
            .collect();
        Some(Motion { n, rows })
    }

    /// The mode just after `t`.
    fn mode_after(&self, t: f64, s: &[f64], v: &[f64]) -> Result<Mode, NoAnswer> {
        let (nf, ns) = (self.frictions.len(), self.stops.len());
        let moving: Vec<Option<i8>> = (0..nf)
            .map(|k| {
                let v = self.relative(k, v);
                (v.abs() > ZERO).then_some(if v > 0.0 { 1 } else { -1 })
            })
            .collect();
        let touching: Vec<bool> = (self.stops.iter())
            .map(|stop| {
                stop.side * (stop.wall - s[stop.body]) < ZERO
                    && (stop.side * v[stop.body]).abs() < ZERO
            })
            .collect();
        let forces = self.forces(t + AFTER);
        let mut found: Vec<(Mode, Vec<f64>)> = Vec::new();
        for number in 0..3usize.pow(nf as u32) << ns {
            let mut rest = number;
            let closed: Vec<bool> = (0..ns)
                .map(|_| {
                    let bit = rest & 1 == 1;
                    rest >>= 1;
                    bit
                })
                .collect();
            let slides: Vec<i8> = (0..nf)
                .map(|_| {
                    let way = (rest % 3) as i8 - 1;
                    rest /= 3;
                    way
                })
                .collect();
            let allowed = (slides.iter().zip(&moving)).all(|(a, b)| b.is_none_or(|b| b == *a))
                && closed.iter().zip(&touching).all(|(c, t)| *t || !*c);
            if !allowed {
                continue;
            }
            let mode = Mode { slides, closed };
            let Some(motion) = self.motion(&mode) else {
                continue;
            };
            let x = motion.at(&forces);
            let n = self.masses.len();
            let good_friction = |k: usize| match (mode.slides[k], moving[k]) {
                (0, _) => x[n + k].abs() <= self.frictions[k].limits.0 * (1.0 + 1e-13),
                (_, Some(_)) => true,
                (way, None) => f64::from(way) * self.relative(k, &x[..n]) >= -1e-13,
            };
            let good_stop = |j: usize| {
                if mode.closed[j] {
                    x[n + nf + j] >= 0.0
                } else {
                    !touching[j] || self.stops[j].side * x[self.stops[j].body] <= 1e-13
                }
            };
            if (0..nf).all(good_friction) && (0..ns).all(good_stop) {
                found.push((mode, x[..n].to_vec()));
            }
        }
        let Some((mode, a)) = found.first() else {
            return Err(NoAnswer::NoMode);
        };
        let same = |b: &Vec<f64>| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
        if found.iter().all(|(_, b)| same(b)) {
            Ok(mode.clone())
        } else {
            Err(NoAnswer::Ambiguous)
        }
    }

    /// Positions and velocities at the end.
    pub(crate) fn run(&self, t_end: f64) -> Result<(Vec<f64>, Vec<f64>), NoAnswer> {
        let n = self.masses.len();
        let (mut t, mut s, mut v) = (0.0, vec![0.0; n], self.velocities.clone());
        let (mut events, mut impacts) = (0, 0);
        let mut steps: Vec<f64> = self.forces.iter().map(|f| f.step_time).collect();
        steps.push(t_end);
        steps.sort_by(f64::total_cmp);
        loop {
            let mode = self.mode_after(t, &s, &v)?;
            let motion = self.motion(&mode).ok_or(NoAnswer::NoMode)?;
            let (i0, ii0) = (self.impulses(t), self.second_impulses(t));
            let at = |tau: f64| {
                let dt = tau - t;
                let (i1, ii1) = (self.impulses(tau), self.second_impulses(tau));
                let first: Vec<f64> = (0..n).map(|i| i1[i] - i0[i]).collect();
                let second: Vec<f64> = (0..n).map(|i| ii1[i] - ii0[i] - i0[i] * dt).collect();
                let vs: Vec<f64> = (0..n).map(|i| v[i] + motion.row(i, &first, dt)).collect();
                let ss: Vec<f64> = (0..n)
                    .map(|i| s[i] + v[i] * dt + motion.row(i, &second, 0.5 * dt * dt))
                    .collect();
                (ss, vs)
            };
            let holds = |tau: f64| {
                let (ss, vs) = at(tau);
                let x = motion.at(&self.forces(tau));
                let frictions = (0..self.frictions.len()).all(|k| match mode.slides[k] {
                    0 => x[n + k].abs() <= self.frictions[k].limits.0 * (1.0 + 1e-12),
                    way => f64::from(way) * self.relative(k, &vs) >= -1e-11,
                });
                let stops = (self.stops.iter().enumerate()).all(|(j, stop)| {
                    if mode.closed[j] {
                        x[n + self.frictions.len() + j] >= 0.0
                    } else {
                        stop.side * (stop.wall - ss[stop.body]) >= 0.0
                            || stop.side * vs[stop.body] <= 1e-11
                    }
                });
                frictions && stops
            };
            let until = *steps.iter().find(|u| **u > t).expect("the end is later");
            let (mut left, mut right) = (t, until);
            let mut hit = false;
            // What is only just fulfilled at the instant itself has the mode's own side.
            let mut k = 1.0;
            while !hit && left < until {
                right = (t + k * GRID).min(until);
                hit = !holds(right);
                if !hit {
                    left = right;
                }
                k += 1.0;
            }
            if hit {
                for _ in 0..100 {
                    let middle = 0.5 * (left + right);
                    if middle <= left || middle >= right {
                        break;
                    }
                    if holds(middle) {
                        left = middle;
                    } else {
                        right = middle;
                    }
                }
            }
            (s, v) = at(right);
            t = right;
            if !hit && t >= t_end {
                return Ok((s, v));
            }
            events += 1;
            for stop in &self.stops {
                let speed = stop.side * v[stop.body];
                if stop.side * (stop.wall - s[stop.body]) < ZERO && speed > 0.0 {
                    impacts += 1;
                    v[stop.body] *= -stop.restitution;
                    if stop.restitution > 0.0 && speed < SLOW {
                        return Err(NoAnswer::Rests);
                    }
                }
            }
            // Zero is zero.
            for k in 0..self.frictions.len() {
                let off = self.relative(k, &v);
                if off.abs() < ZERO {
                    v[self.frictions[k].body] -= off;
                }
            }
            if events > EVENTS_MAX || impacts > IMPACTS_MAX {
                return Err(NoAnswer::TooManyEvents);
            }
        }
    }
}

impl Motion {
    fn row(&self, i: usize, forces: &[f64], constant: f64) -> f64 {
        let row = &self.rows[i];
        (0..self.n).map(|j| row[j] * forces[j]).sum::<f64>() + row[self.n] * constant
    }

    fn at(&self, forces: &[f64]) -> Vec<f64> {
        (0..self.rows.len())
            .map(|i| self.row(i, forces, 1.0))
            .collect()
    }
}
