//! Random models with switches against brute force over all of their positions: networks of diodes with storage, whose energy never grows, and an arm
//! with dry friction in every joint. `SALTUS_CASES` asks for more of them.

use saltus::{Experiment, Model, Run, Session};

/// Cases of each property.
const CASES: usize = 2000;

fn n_cases() -> usize {
    std::env::var("SALTUS_CASES").map_or(CASES, |n| n.parse().expect("a number"))
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Between -1 and 1.
    fn sign(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Spread evenly over decades around 1.
    fn decades(&mut self, decades: f64) -> f64 {
        10f64.powf(decades * self.sign())
    }
}

/// Solves A x = b by elimination with pivots; `None` if a pivot vanishes.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Option<Vec<f64>> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, p);
        b.swap(k, p);
        if a[k][k] == 0.0 {
            return None;
        }
        let (done, rest) = a.split_at_mut(k + 1);
        for (row, i) in rest.iter_mut().zip(k + 1..) {
            let factor = row[k] / done[k][k];
            for (entry, pivot) in row.iter_mut().zip(&done[k]).skip(k) {
                *entry -= factor * pivot;
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k][k];
    }
    Some(b)
}

/// All values of an array of the result in one row.
fn row(run: &Run, name: &str, n: usize, row: usize) -> Vec<f64> {
    let value = |k: usize| {
        let name = format!("{name}[{k}]");
        let signal = run.table.signal(&name);
        signal.unwrap_or_else(|| panic!("no {name}")).row(row)
    };
    (1..=n).map(value).collect()
}

fn set_all<'m>(experiment: Experiment<'m>, name: &str, values: &[f64]) -> Experiment<'m> {
    let mut experiment = experiment;
    for (k, value) in values.iter().enumerate() {
        experiment = experiment.set(format!("{name}[{}]", k + 1), *value);
    }
    experiment
}

pub(crate) fn compile(text: &str, class: &str) -> Model {
    let mut session = Session::new();
    session.set_text("switches.mo", text);
    (session.compile(class)).unwrap_or_else(|error| panic!("{error}"))
}

mod energy;
mod ideal;
mod robot;
