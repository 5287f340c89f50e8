//! The hand-written peer: DOPRI5 with dense output for a fixed number of states, as one writes it for one problem.
//!
//! Method and coefficients: Hairer, Nørsett, Wanner, Solving ODEs I, II.4 to II.6 (PI controller, β = 0.04). Arrays on the stack, the
//! right-hand side inlined, no checks of the model. Events are the caller's: it looks at the step's end, locates on the interpolant
//! ([`Dopri5::locate`]) and restarts.

const SAFETY: f64 = 0.9;
const BETA: f64 = 0.04;
const ERROR_MIN: f64 = 1e-4;

/// An integration with `N` states.
pub(crate) struct Dopri5<const N: usize> {
    pub(crate) t: f64,
    pub(crate) x: [f64; N],
    pub(crate) h: f64,
    pub(crate) t_old: f64,
    pub(crate) steps: u64,
    k1: [f64; N],
    dense: [[f64; N]; 5],
    error_old: f64,
    tolerance: f64,
}

impl<const N: usize> Dopri5<N> {
    pub(crate) fn new(
        f: impl Fn(f64, &[f64; N]) -> [f64; N],
        t: f64,
        x: [f64; N],
        h: f64,
        tolerance: f64,
    ) -> Self {
        Dopri5 {
            t,
            x,
            h,
            t_old: t,
            steps: 0,
            k1: f(t, &x),
            dense: [[0.0; N]; 5],
            error_old: ERROR_MIN,
            tolerance,
        }
    }

    /// Goes on from another point, with the step size kept.
    #[inline]
    pub(crate) fn restart(&mut self, f: impl Fn(f64, &[f64; N]) -> [f64; N], t: f64, x: [f64; N]) {
        self.t = t;
        self.x = x;
        self.k1 = f(t, &x);
        self.error_old = ERROR_MIN;
    }

    /// One accepted step, not beyond `t_end` and not longer than `h_max`.
    #[inline]
    pub(crate) fn step(&mut self, f: impl Fn(f64, &[f64; N]) -> [f64; N], t_end: f64, h_max: f64) {
        loop {
            let wanted = self.h.min(h_max);
            let landing = wanted * 1.1 >= t_end - self.t;
            let h = if landing { t_end - self.t } else { wanted };
            let (t, x) = (self.t, &self.x);
            let k1 = self.k1;
            let at = |a: &[(f64, &[f64; N])]| -> [f64; N] {
                std::array::from_fn(|i| x[i] + h * a.iter().map(|(a, k)| a * k[i]).sum::<f64>())
            };
            let k2 = f(t + 0.2 * h, &at(&[(0.2, &k1)]));
            let k3 = f(t + 0.3 * h, &at(&[(3.0 / 40.0, &k1), (9.0 / 40.0, &k2)]));
            let k4 = f(
                t + 0.8 * h,
                &at(&[(44.0 / 45.0, &k1), (-56.0 / 15.0, &k2), (32.0 / 9.0, &k3)]),
            );
            let k5 = f(
                t + 8.0 / 9.0 * h,
                &at(&[
                    (19372.0 / 6561.0, &k1),
                    (-25360.0 / 2187.0, &k2),
                    (64448.0 / 6561.0, &k3),
                    (-212.0 / 729.0, &k4),
                ]),
            );
            let k6 = f(
                t + h,
                &at(&[
                    (9017.0 / 3168.0, &k1),
                    (-355.0 / 33.0, &k2),
                    (46732.0 / 5247.0, &k3),
                    (49.0 / 176.0, &k4),
                    (-5103.0 / 18656.0, &k5),
                ]),
            );
            let x_new = at(&[
                (35.0 / 384.0, &k1),
                (500.0 / 1113.0, &k3),
                (125.0 / 192.0, &k4),
                (-2187.0 / 6784.0, &k5),
                (11.0 / 84.0, &k6),
            ]);
            let t_new = if landing { t_end } else { t + h };
            let k7 = f(t_new, &x_new);
            let mut sum = 0.0;
            for i in 0..N {
                let e = h
                    * (71.0 / 57600.0 * k1[i] - 71.0 / 16695.0 * k3[i] + 71.0 / 1920.0 * k4[i]
                        - 17253.0 / 339200.0 * k5[i]
                        + 22.0 / 525.0 * k6[i]
                        - 1.0 / 40.0 * k7[i]);
                let weight = self.tolerance * (1.0 + x[i].abs().max(x_new[i].abs()));
                sum += (e / weight) * (e / weight);
            }
            let error = (sum / N as f64).sqrt();
            let raw = error.powf(0.2 - 0.75 * BETA);
            if error > 1.0 {
                self.h = h / (raw / SAFETY).min(5.0);
                continue;
            }
            let factor = (raw / self.error_old.powf(BETA) / SAFETY).clamp(0.1, 5.0);
            self.error_old = error.max(ERROR_MIN);
            self.h = (h / factor).max(if landing { wanted } else { 0.0 });
            for i in 0..N {
                let difference = x_new[i] - x[i];
                let bspl = h * k1[i] - difference;
                self.dense[0][i] = x[i];
                self.dense[1][i] = difference;
                self.dense[2][i] = bspl;
                self.dense[3][i] = difference - h * k7[i] - bspl;
                self.dense[4][i] = h
                    * (-12715105075.0 / 11282082432.0 * k1[i]
                        + 87487479700.0 / 32700410799.0 * k3[i]
                        - 10690763975.0 / 1880347072.0 * k4[i]
                        + 701980252875.0 / 199316789632.0 * k5[i]
                        - 1453857185.0 / 822651844.0 * k6[i]
                        + 69997945.0 / 29380423.0 * k7[i]);
            }
            self.t_old = t;
            self.t = t_new;
            self.x = x_new;
            self.k1 = k7;
            self.steps += 1;
            return;
        }
    }

    #[inline]
    pub(crate) fn at(&self, t: f64) -> [f64; N] {
        let theta = (t - self.t_old) / (self.t - self.t_old);
        let theta1 = 1.0 - theta;
        let d = &self.dense;
        std::array::from_fn(|i| {
            d[0][i] + theta * (d[1][i] + theta1 * (d[2][i] + theta * (d[3][i] + theta1 * d[4][i])))
        })
    }

    /// The far side of the sign change of `g` in the last step: regula falsi with the Illinois rule, to neighbouring floats. `g` is
    /// positive at the start of the step and negative at its end.
    #[inline]
    pub(crate) fn locate(&self, g: impl Fn(f64, &[f64; N]) -> f64) -> f64 {
        let (mut a, mut b) = (self.t_old, self.t);
        let (mut ga, mut gb) = (g(a, &self.at(a)), g(b, &self.x));
        let mut side = 0;
        for _ in 0..100 {
            let width = b - a;
            let middle = a + 0.5 * width;
            if middle <= a || middle >= b || width <= f64::EPSILON * b.abs() {
                break;
            }
            let mut t = a + width * (ga / (ga - gb));
            if !(t > a && t < b) {
                t = middle;
            }
            let gt = g(t, &self.at(t));
            if gt < 0.0 {
                (b, gb) = (t, gt);
                if side == -1 {
                    ga *= 0.5;
                }
                side = -1;
            } else {
                (a, ga) = (t, gt);
                if side == 1 {
                    gb *= 0.5;
                }
                side = 1;
            }
        }
        b
    }
}
