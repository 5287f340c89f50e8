//! The discrete Fourier transform of real samples, for `Modelica.Math.FastFourierTransform`.
//!
//! X_k = Σ_j u_j·exp(-2πi·jk/n), by splitting n into its prime factors (Cooley and Tukey 1965); a prime factor p costs n·p operations. The amplitude of
//! every frequency is |X_k|/(n/2 + 1), as the library's own routine has it: a pure tone of amplitude A comes out as A·n/(n + 2).

use std::f64::consts::TAU;

type Complex = (f64, f64);

/// Amplitudes and phases of the first n/2 + 1 frequencies; `None` if the number of samples is odd.
pub fn real_spectrum(u: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = u.len();
    if n == 0 || n % 2 == 1 {
        return None;
    }
    let samples: Vec<Complex> = u.iter().map(|x| (*x, 0.0)).collect();
    let spectrum = transform(&samples);
    let half = n / 2;
    let amplitudes: Vec<f64> = (spectrum[..=half].iter())
        .map(|(re, im)| re.hypot(*im) / (half + 1) as f64)
        .collect();
    let phases = (spectrum[..=half].iter())
        .map(|(re, im)| im.atan2(*re))
        .collect();
    Some((amplitudes, phases))
}

fn transform(x: &[Complex]) -> Vec<Complex> {
    let n = x.len();
    if n <= 1 {
        return x.to_vec();
    }
    let p = (2..)
        .take_while(|p| p * p <= n)
        .find(|p| n.is_multiple_of(*p))
        .unwrap_or(n);
    let m = n / p;
    let parts: Vec<Vec<Complex>> = (0..p)
        .map(|r| {
            let part: Vec<Complex> = x.iter().skip(r).step_by(p).copied().collect();
            if m == 1 { part } else { transform(&part) }
        })
        .collect();
    (0..n)
        .map(|k| {
            parts
                .iter()
                .enumerate()
                .fold((0.0, 0.0), |sum: Complex, (r, part)| {
                    // The exponent modulo n keeps the angle exact.
                    let (s, c) = (-TAU * ((r * k) % n) as f64 / n as f64).sin_cos();
                    let (re, im) = part[k % m];
                    (sum.0 + re * c - im * s, sum.1 + re * s + im * c)
                })
        })
        .collect()
}
