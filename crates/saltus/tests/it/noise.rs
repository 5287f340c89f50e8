//! Noise from the random number generators of the standard library: a sequence of samples that no setting of the integrator changes.

use saltus::Session;
use std::f64::consts::TAU;

/// A sampled noise, as in `Modelica.Blocks.Noise`, that drives a stiff filter.
const NOISE: &str = r#"
model Noise
  function next
    input Integer before[4];
    output Real r;
    output Integer after[4];
    external "C" ModelicaRandom_xorshift128plus(before, after, r);
  end next;
  Real r(start = 0, fixed = true) "Noise";
  Integer state[4](start = {126247697, 19846461, 1578364, 98764}, each fixed = true);
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  when sample(0, 0.01) then
    (r, state) = next(pre(state));
  end when;
  der(x) = 1000*(r - 0.5 - x);
  der(y) = x - y;
  annotation(experiment(StopTime = 2.56));
end Noise;
"#;

/// The noise at its 256 samples.
fn samples(tolerance: f64) -> Vec<f64> {
    let mut session = Session::new();
    session.set_text("noise.mo", NOISE);
    let compiled = session.compile("Noise").expect("the model is correct");
    let run = compiled
        .experiment()
        .tolerance(tolerance)
        .simulate()
        .expect("the run comes to its end");
    let table = &run.table;
    let r = table.signal("r").expect("the noise is recorded").to_vec();
    let time = table.time();
    (0..256)
        .map(|k| {
            let middle = 0.01 * f64::from(k) + 0.005;
            r[time.partition_point(|t| *t <= middle) - 1]
        })
        .collect()
}

/// |Σ r_k e^{-2πi jk/n}|² for each j up to n/2.
fn spectrum(r: &[f64]) -> Vec<f64> {
    let n = r.len() as f64;
    (0..r.len() / 2)
        .map(|j| {
            let terms = r.iter().enumerate().map(|(k, r)| {
                let (sin, cos) = (TAU * (j * k) as f64 / n).sin_cos();
                [r * cos, r * sin]
            });
            let [re, im] = terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]]);
            re * re + im * im
        })
        .collect()
}

#[test]
fn the_spectrum_of_noise_does_not_depend_on_the_tolerance() {
    let (coarse, fine) = (samples(1e-3), samples(1e-8));
    assert_eq!(coarse, fine, "the same samples, to the last bit");
    assert_eq!(spectrum(&coarse), spectrum(&fine));
    // Uniform on [0, 1]: mean 1/2 and variance 1/12 within four standard errors, and no two samples alike.
    let n = fine.len() as f64;
    let mean = fine.iter().sum::<f64>() / n;
    let variance = fine.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / n;
    assert!((mean - 0.5).abs() < 4.0 * (1.0 / 12.0 / n).sqrt(), "{mean}");
    assert!(
        (variance - 1.0 / 12.0).abs() < 4.0 * (1.0 / 180.0 / n).sqrt(),
        "{variance}"
    );
    let mut sorted = fine.clone();
    sorted.sort_by(f64::total_cmp);
    assert!(sorted.windows(2).all(|w| w[0] < w[1]));
}
