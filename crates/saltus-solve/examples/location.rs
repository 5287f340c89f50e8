//! Evaluations that each bracketing method needs to bring a crossing to neighbouring floats, as a table in Markdown:
//! `cargo run --release -p saltus-solve --example location > docs/benchmarks/location.md`

#![expect(clippy::print_stdout, reason = "a program that prints a table")]

use saltus_solve::LocationMethod;
use saltus_solve::roots::location::locate;

/// Brackets of one family.
const CASES: usize = 2_000;

struct Numbers(u64);

impl Numbers {
    /// In [0, 1).
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

type Function = Box<dyn Fn(f64) -> f64>;

/// A function with a bracket.
type Case = (Function, f64, f64);

fn quartic(numbers: &mut Numbers) -> Case {
    // The interpolant of DOPRI5 with coefficients that fall off as they do for a resolved step.
    let t0 = 10.0 * numbers.next();
    let root = numbers.next();
    let c: Vec<f64> = (0..4)
        .map(|k| (2.0 * numbers.next() - 1.0) * 0.3f64.powi(k))
        .collect();
    let f = move |t: f64| {
        let s = t - t0;
        let p = |s: f64| s * (1.2 + s * (c[1] + s * (c[2] + s * c[3])));
        p(s) - p(root)
    };
    (Box::new(f), t0, t0 + 1.0)
}

fn sine(numbers: &mut Numbers) -> Case {
    let (w, phase) = (0.5 + 2.0 * numbers.next(), numbers.next() - 0.5);
    let root = 0.05 + 0.9 * numbers.next();
    let level = (w * root + phase).sin();
    (
        Box::new(move |t| (w * t + phase).sin() - level),
        root - 0.3 * numbers.next() - 1e-3,
        root + 0.3 * numbers.next() + 1e-3,
    )
}

fn exponential(numbers: &mut Numbers) -> Case {
    // A diode current, a decay: large on one side.
    let rate = 5.0 + 30.0 * numbers.next();
    let root = 0.1 + 0.8 * numbers.next();
    (Box::new(move |t| (rate * (t - root)).exp_m1()), 0.0, 1.0)
}

fn steep(numbers: &mut Numbers) -> Case {
    let rate = 10.0 + 1000.0 * numbers.next();
    let root = 0.1 + 0.8 * numbers.next();
    (Box::new(move |t| (rate * (t - root)).tanh()), 0.0, 1.0)
}

fn grazing(numbers: &mut Numbers) -> Case {
    // From the bottom of a narrow dip to the end of the step.
    let centre = 0.5 * numbers.next();
    let half = 10f64.powf(-1.0 - 3.0 * numbers.next());
    (
        Box::new(move |t| (t - centre - half) * (t - centre + half)),
        centre,
        1.0,
    )
}

fn restart(numbers: &mut Numbers) -> Case {
    // A bounce: round-off at the left end, then up and down.
    let root = 0.2 + 0.7 * numbers.next();
    (Box::new(move |t| t * (root - t) + 1e-17), 0.0, 1.0)
}

fn main() {
    let families: [(&str, fn(&mut Numbers) -> Case); 6] = [
        ("interpolant of degree 4", quartic),
        ("sine", sine),
        ("exponential", exponential),
        ("steep", steep),
        ("grazing", grazing),
        ("after a bounce", restart),
    ];
    println!("# Location: evaluations to neighbouring floats\n");
    println!(
        "Mean and largest number of evaluations for {CASES} brackets of each family, both ends included, until no float lies between the ends.\n\
         Made by `cargo run --release -p saltus-solve --example location`.\n"
    );
    print!("| method |");
    for (name, _) in &families {
        print!(" {name} |");
    }
    println!(" all |");
    println!("|---|{}", "---|".repeat(families.len() + 1));
    for method in LocationMethod::ALL {
        print!("| {} |", method.as_str());
        let (mut sum_all, mut most_all) = (0u64, 0);
        for (_, family) in &families {
            let mut numbers = Numbers(7);
            let (mut sum, mut most, mut cases) = (0u64, 0, 0);
            while cases < CASES {
                let (f, left, right) = family(&mut numbers);
                // Of a sine's brackets some have no change of sign.
                if let Some(found) = locate(method, f, left, right) {
                    sum += u64::from(found.evaluations);
                    most = most.max(found.evaluations);
                    cases += 1;
                }
            }
            sum_all += sum;
            most_all = most_all.max(most);
            print!(" {:.1}, {most} |", sum as f64 / CASES as f64);
        }
        let mean = sum_all as f64 / (families.len() * CASES) as f64;
        println!(" {mean:.1}, {most_all} |");
    }
    println!("\nThe default is `{}`.", LocationMethod::default().as_str());
}
