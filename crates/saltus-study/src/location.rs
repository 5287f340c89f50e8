//! How a single crossing is located (figures 9.15 to 9.17): Newton's method, the cubic, the inverse cubic, on one function, with their first iterates computed by hand.

use saltus_plot::{Line, LineStyle};
use saltus_solve::SolveError;
use saltus_solve::roots::location::{Curve, LocationMethod, trace};

use crate::report::{Check, Report, Table};

const LEFT: f64 = 1.0;
const RIGHT: f64 = 4.0;

/// f(t) = -0.8 + 0.1 s + 0.05 s⁴ with s = t - 1: flat at the left end, where Newton's step leaves the interval.
struct Flat;

fn value(t: f64) -> f64 {
    let s = t - LEFT;
    -0.8 + 0.1 * s + 0.05 * s.powi(4)
}

fn rate(t: f64) -> f64 {
    0.1 + 0.2 * (t - LEFT).powi(3)
}

impl Curve for Flat {
    fn value(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(value(t))
    }

    fn rate(&mut self, t: f64) -> Result<f64, SolveError> {
        Ok(rate(t))
    }

    fn polynomial(&mut self, left: f64, right: f64) -> Result<Vec<f64>, SolveError> {
        // s = a + w σ.
        let (a, w) = (left - LEFT, right - left);
        Ok(vec![
            value(left),
            rate(left) * w,
            0.3 * a * a * w * w,
            0.2 * a * w.powi(3),
            0.05 * w.powi(4),
        ])
    }
}

/// Hermite's basis (9.22).
fn basis(p: f64) -> [f64; 4] {
    let (p2, p3) = (p * p, p * p * p);
    [
        2.0 * p3 - 3.0 * p2 + 1.0,
        3.0 * p2 - 2.0 * p3,
        p3 - 2.0 * p2 + p,
        p3 - p2,
    ]
}

fn hermite(share: f64, ends: [f64; 2], slopes: [f64; 2]) -> f64 {
    let [a, b, c, d] = basis(share);
    ends[0] * a + ends[1] * b + slopes[0] * c + slopes[1] * d
}

/// The cubic through values and rates at both ends (9.9).
fn cubic(t: f64) -> f64 {
    let h = RIGHT - LEFT;
    hermite(
        (t - LEFT) / h,
        [value(LEFT), value(RIGHT)],
        [h * rate(LEFT), h * rate(RIGHT)],
    )
}

/// The time at which the inverse cubic has a value (9.24).
fn inverse(f: f64) -> f64 {
    let (low, high) = (value(LEFT), value(RIGHT));
    let slope = |t: f64| (high - low) / rate(t);
    hermite(
        (f - low) / (high - low),
        [LEFT, RIGHT],
        [slope(LEFT), slope(RIGHT)],
    )
}

/// A root by halving, to the last bit.
fn halved(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

pub(crate) fn study() -> Report {
    let mut report = Report::new(
        "location",
        "Location of one crossing",
        "One crossing function on a step from 1 to 4 (Cellier and Kofman, Continuous System Simulation, figures 9.15 to 9.17): f(t) = -0.8 + 0.1 (t - 1) + 0.05 (t - 1)⁴. It is flat at the left \
         end, so that Newton's method from there and the inverse cubic leave the interval, as in the textbook's pictures.",
    );
    let root = halved(value, LEFT, RIGHT);
    let mut table = Table::new(
        "All methods on this function",
        &[
            "method",
            "points",
            "rates",
            "safeguards",
            "first iterates",
            "ulp from the root",
        ],
    );
    for method in LocationMethod::ALL {
        let found = trace(method, &mut Flat, LEFT, RIGHT);
        let Ok(Some(found)) = found else {
            report
                .checks
                .push(Check::new(method.as_str(), f64::NAN, root, 0.0));
            continue;
        };
        let ulps = (found.found.right - root) / (root.next_up() - root);
        let guards = found.safeguards;
        let first = found.iterates.iter().take(3).map(|t| format!("{t:.6}"));
        table.row([
            method.as_str().to_owned(),
            found.found.evaluations.to_string(),
            found.rates.to_string(),
            (guards.outside + guards.slow + guards.closing).to_string(),
            first.collect::<Vec<_>>().join(", "),
            format!("{ulps:.0}"),
        ]);
        report.checks.push(Check::new(
            format!("{}: ulp from the root", method.as_str()),
            ulps,
            0.0,
            4.0,
        ));
    }
    report.tables.push(table);
    newton(&mut report, root);
    cubics(&mut report, root);
    report
}

fn curve(f: impl Fn(f64) -> f64, from: f64, to: f64) -> Vec<(f64, f64)> {
    (0..=120)
        .map(|k| from + (to - from) * f64::from(k) / 120.0)
        .map(|t| (t, f(t)))
        .collect()
}

/// Figure 9.15: from the right end the tangents lead to the root, from the left end the first one leaves the interval.
fn newton(report: &mut Report, root: f64) {
    let step = |t: f64| t - value(t) / rate(t);
    let mut t = RIGHT;
    let mut tangents = Vec::new();
    let mut points = Vec::new();
    for _ in 0..5 {
        let next = step(t);
        points.push((t, value(t)));
        // A break between the tangents.
        tangents.extend([(t, value(t)), (next, 0.0), (f64::NAN, f64::NAN)]);
        t = next;
    }
    report.checks.push(Check::new(
        "Newton from the right end, five steps",
        t,
        root,
        1e-6,
    ));
    let outside = step(LEFT);
    report.checks.push(Check::new(
        "Newton from the left end leaves the interval",
        outside,
        9.0,
        1e-12,
    ));
    report.remarks.push(format!(
        "Newton's method from the left end goes to t = {outside:.1}, far outside; from the right end five steps come to {:.0e} of the root {root:.12}.",
        (t - root).abs().max(f64::EPSILON)
    ));
    report.draw(
        "newton",
        "Newton's method from the right end of the step (figure 9.15)",
        "time [s]",
        &[
            Line::new("f", "", curve(value, LEFT, RIGHT)),
            Line::new("tangents", "", tangents),
            Line::new("iterates", "", points).style(LineStyle::Points),
        ],
        vec![root],
    );
}

/// Figures 9.16 and 9.17: the cubic's root is inside, that of the inverse cubic is not.
fn cubics(report: &mut Report, root: f64) {
    let next = halved(cubic, LEFT, RIGHT);
    for method in [LocationMethod::Cubic, LocationMethod::CubicHermite] {
        let found = trace(method, &mut Flat, LEFT, RIGHT).ok().flatten();
        let first = found.and_then(|found| found.iterates.first().copied());
        report.checks.push(Check::new(
            format!(
                "{}: first iterate is the root of the cubic",
                method.as_str()
            ),
            first.unwrap_or(f64::NAN),
            next,
            1e-12,
        ));
    }
    let outside = inverse(0.0);
    report.checks.push(Check::new(
        "the inverse cubic leaves the interval",
        f64::from(u8::from(outside > RIGHT)),
        1.0,
        0.0,
    ));
    report.remarks.push(format!(
        "The cubic through values and rates has its root at {next:.6}, {:.2} from that of f; the inverse cubic gives {outside:.3}, outside the step: without a safeguard it does not converge.",
        (next - root).abs()
    ));
    report.draw(
        "cubic",
        "The cubic through values and rates at both ends (figure 9.16)",
        "time [s]",
        &[
            Line::new("f", "", curve(value, LEFT, RIGHT)),
            Line::new("cubic", "", curve(cubic, LEFT, RIGHT)).style(LineStyle::Dashed),
            Line::new("its root", "", vec![(next, 0.0)]).style(LineStyle::Points),
        ],
        vec![root],
    );
    let turned = curve(inverse, value(LEFT), value(RIGHT));
    let turned = turned.into_iter().map(|(f, t)| (t, f)).collect();
    report.draw(
        "inverse-cubic",
        "The inverse cubic, time over f (figure 9.17): its zero lies outside the step",
        "time [s]",
        &[
            Line::new("f", "", curve(value, LEFT, RIGHT)),
            Line::new("inverse cubic", "", turned).style(LineStyle::Dashed),
            Line::new("its zero", "", vec![(outside, 0.0)]).style(LineStyle::Points),
        ],
        vec![root],
    );
}
