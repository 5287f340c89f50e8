//! Exact solutions of piecewise linear systems: z' = M z with the matrix exponential. Sine, cosine and one are states, so that a circuit on a sinusoidal source is
//! such a system.
//!
//! This is how studies know switching times without the run that they check.

/// A constant system between two switchings.
#[derive(Clone, Copy)]
pub(crate) struct Flow<const N: usize>(pub(crate) [[f64; N]; N]);

/// Terms of the series, for norms up to [`NORM`]: 0.5^18/18! is below the round-off.
const TERMS: u32 = 18;
const NORM: f64 = 0.5;
/// Halvings of an interval of doubles.
const HALVINGS: u32 = 80;

impl<const N: usize> Flow<N> {
    /// exp(M h) by its series, scaled and squared.
    fn transition(&self, h: f64) -> [[f64; N]; N] {
        let norm = (self.0.iter())
            .map(|row| row.iter().map(|entry| (entry * h).abs()).sum())
            .fold(0.0, f64::max);
        let squarings = (norm / NORM).log2().ceil().max(0.0) as i32;
        let scale = h / 2f64.powi(squarings);
        let mut power = identity();
        let mut sum = identity();
        for term in 1..=TERMS {
            power = product(&power, &self.0);
            for row in &mut power {
                for entry in row {
                    *entry *= scale / f64::from(term);
                }
            }
            for (sum, power) in sum.iter_mut().flatten().zip(power.iter().flatten()) {
                *sum += power;
            }
        }
        for _ in 0..squarings {
            sum = product(&sum, &sum);
        }
        sum
    }

    /// The state after a time.
    pub(crate) fn after(&self, z: &[f64; N], h: f64) -> [f64; N] {
        let matrix = self.transition(h);
        std::array::from_fn(|row| (0..N).map(|k| matrix[row][k] * z[k]).sum())
    }

    /// The first instant, looked for in pieces of `scan`, from which on a function is negative that is not so behind the start; and the state there.
    pub(crate) fn first_negative(
        &self,
        (t, z): (f64, &[f64; N]),
        until: f64,
        scan: f64,
        function: impl Fn(f64, &[f64; N]) -> f64,
    ) -> Option<(f64, [f64; N])> {
        let pieces = ((until - t) / scan).ceil() as u32;
        let at = |h: f64| function(t + h, &self.after(z, h));
        let mut low = 0.0;
        for piece in 1..=pieces {
            let high = (f64::from(piece) * scan).min(until - t);
            if at(high) < 0.0 {
                let (mut low, mut high) = (low, high);
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (low + high);
                    if at(middle) < 0.0 {
                        high = middle;
                    } else {
                        low = middle;
                    }
                }
                return Some((t + high, self.after(z, high)));
            }
            low = high;
        }
        None
    }
}

/// A system that switches between two flows.
pub(crate) struct Switched<'a, const N: usize> {
    pub(crate) flows: [Flow<N>; 2],
    /// Each flow lasts until its function is negative.
    pub(crate) stays: [&'a dyn Fn(f64, &[f64; N]) -> f64; 2],
    /// Two switchings are further apart than this.
    pub(crate) scan: f64,
}

/// An exact solution: for each piece its start, the state there and its flow.
pub(crate) struct Solution<const N: usize> {
    flows: [Flow<N>; 2],
    pieces: Vec<(f64, [f64; N], usize)>,
}

impl<const N: usize> Switched<'_, N> {
    pub(crate) fn solve(&self, z: [f64; N], flow: usize, until: f64) -> Solution<N> {
        let mut pieces = vec![(0.0, z, flow)];
        while let Some((t, z, flow)) = pieces.last() {
            let found =
                self.flows[*flow].first_negative((*t, z), until, self.scan, self.stays[*flow]);
            match found {
                Some((time, state)) => pieces.push((time, state, 1 - flow)),
                None => break,
            }
        }
        Solution {
            flows: self.flows,
            pieces,
        }
    }
}

impl<const N: usize> Solution<N> {
    pub(crate) fn switchings(&self) -> Vec<f64> {
        self.pieces.iter().skip(1).map(|piece| piece.0).collect()
    }

    /// The state at a time, behind a switching of that time.
    pub(crate) fn at(&self, t: f64) -> [f64; N] {
        let number = self.pieces.partition_point(|piece| piece.0 <= t);
        let (start, z, flow) = &self.pieces[number.max(1) - 1];
        self.flows[*flow].after(z, t - start)
    }
}

fn identity<const N: usize>() -> [[f64; N]; N] {
    std::array::from_fn(|row| std::array::from_fn(|k| if row == k { 1.0 } else { 0.0 }))
}

fn product<const N: usize>(a: &[[f64; N]; N], b: &[[f64; N]; N]) -> [[f64; N]; N] {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| (0..N).map(|k| a[row][k] * b[k][column]).sum())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oscillator_is_followed_and_its_zero_found() {
        let flow = Flow([[0.0, 1.0], [-1.0, 0.0]]);
        let z = flow.after(&[1.0, 0.0], 20.0);
        assert!((z[0] - 20f64.cos()).abs() < 1e-13 && (z[1] + 20f64.sin()).abs() < 1e-13);
        let (t, _) = flow
            .first_negative((0.0, &[1.0, 0.0]), 5.0, 0.1, |_, z| z[0])
            .expect("a quarter turn");
        assert!((t - std::f64::consts::FRAC_PI_2).abs() < 1e-14);
    }
}
