//! Networks of resistors, capacitors, inductors and up to ten leaky diodes without a source.

use super::*;

const TEXT: &str = "
model Network
  parameter Integer nc = 3 \"Nodes with a capacitor to ground\";
  parameter Integer nr = 3 \"Nodes with a resistor to ground\";
  parameter Integer nl = 2, nd = 10;
  parameter Real A[nc + nr, nl + nd] = fill(1, nc + nr, nl + nd) \"Branch k leaves node j where A[j, k] is one, and enters it where it is minus one\";
  parameter Real C[nc] = fill(1, nc), G[nr] = fill(1, nr), L[nl] = fill(1, nl), v0[nc] = fill(1, nc), i0[nl] = fill(1, nl);
  parameter Real Ron[nd] = fill(1e-2, nd), Goff[nd] = fill(1e-4, nd);
  Real v[nc + nr], u[nl + nd], i[nl + nd], s[nd];
  Boolean off[nd];
  Real energy = sum(C[k]*v[k]^2 for k in 1:nc)/2 + sum(L[k]*i[k]^2 for k in 1:nl)/2;
initial equation
  v[1:nc] = v0;
  i[1:nl] = i0;
equation
  for k in 1:nl + nd loop
    u[k] = sum(A[j, k]*v[j] for j in 1:nc + nr);
  end for;
  for k in 1:nl loop
    L[k]*der(i[k]) = u[k];
  end for;
  for k in 1:nd loop
    off[k] = s[k] < 0;
    u[nl + k] = s[k]*(if off[k] then 1 else Ron[k]);
    i[nl + k] = s[k]*(if off[k] then Goff[k] else 1);
  end for;
  for j in 1:nc loop
    C[j]*der(v[j]) + sum(A[j, k]*i[k] for k in 1:nl + nd) = 0;
  end for;
  for j in 1:nr loop
    G[j]*v[nc + j] + sum(A[nc + j, k]*i[k] for k in 1:nl + nd) = 0;
  end for;
end Network;
";

const NC: usize = 3;
const NR: usize = 3;
const NL: usize = 2;
const ND: usize = 10;
const TOLERANCE: f64 = 1e-6;

struct Network {
    /// Nodes of a branch; the last number is the ground.
    ends: Vec<(usize, usize)>,
    g: Vec<f64>,
    ron: Vec<f64>,
    goff: Vec<f64>,
}

impl Network {
    fn random(random: &mut Random) -> Network {
        let n = NC + NR + 1;
        let n_diodes = 1 + random.below(ND);
        let ends = (0..NL + ND)
            .map(|k| {
                let a = random.below(n);
                let b = (a + 1 + random.below(n - 1)) % n;
                // Diodes that are not part of this network lie between ground and ground.
                let part = k < NL + n_diodes;
                if part { (a, b) } else { (n - 1, n - 1) }
            })
            .collect();
        let mut values = |n: usize, size: f64, decades: f64| -> Vec<f64> {
            (0..n).map(|_| size * random.decades(decades)).collect()
        };
        Network {
            ends,
            g: values(NR, 1.0, 1.0),
            ron: values(ND, 1e-2, 1.0),
            goff: values(ND, 1e-4, 1.0),
        }
    }

    /// The text of this network. Who is connected with whom is part of it: it decides what the equations can be solved for.
    fn text(&self) -> String {
        let entry = |j: usize, &(a, b): &(usize, usize)| i8::from(j == a) - i8::from(j == b);
        let row = |j: usize| -> String {
            let entries: Vec<_> = self.ends.iter().map(|e| entry(j, e).to_string()).collect();
            format!("{{{}}}", entries.join(", "))
        };
        let rows: Vec<_> = (0..NC + NR).map(row).collect();
        let rows = rows.join(", ");
        format!("{TEXT} model Case extends Network(final A = {{{rows}}}); end Case;")
    }

    fn experiment<'m>(&self, compiled: &'m Model, random: &mut Random) -> Experiment<'m> {
        let mut experiment = compiled.experiment().tolerance(TOLERANCE).stop_time(3.0);
        let mut values = |n: usize| -> Vec<f64> { (0..n).map(|_| random.decades(0.5)).collect() };
        for (name, values) in [("C", values(NC)), ("L", values(NL))] {
            experiment = set_all(experiment, name, &values);
        }
        let mut signed = |n: usize| -> Vec<f64> { (0..n).map(|_| 5.0 * random.sign()).collect() };
        for (name, values) in [("v0", signed(NC)), ("i0", signed(NL))] {
            experiment = set_all(experiment, name, &values);
        }
        experiment = set_all(experiment, "G", &self.g);
        experiment = set_all(experiment, "Ron", &self.ron);
        set_all(experiment, "Goff", &self.goff)
    }

    /// The potentials of the nodes with resistors, for the one set of positions in which no diode is on the wrong side. Passive elements: there is
    /// exactly one but for diodes at zero.
    fn by_brute_force(&self, v: &[f64], i: &[f64]) -> Vec<f64> {
        let n_diodes = (self.ends[NL..].iter()).filter(|(a, b)| a != b).count();
        let mut best = (f64::INFINITY, Vec::new());
        for set in 0u32..1 << n_diodes {
            let is_off = |k: usize| set >> k & 1 == 1;
            let g = |k: usize| {
                if is_off(k) {
                    self.goff[k]
                } else {
                    1.0 / self.ron[k]
                }
            };
            let mut a = vec![vec![0.0; NR]; NR];
            let mut b = vec![0.0; NR];
            for (j, g) in self.g.iter().enumerate() {
                a[j][j] = *g;
            }
            for (k, &(from, to)) in self.ends.iter().enumerate() {
                for (near, far, sign) in [(from, to, 1.0), (to, from, -1.0)] {
                    let Some(j) = near.checked_sub(NC).filter(|j| *j < NR) else {
                        continue;
                    };
                    if k < NL {
                        b[j] -= sign * i[k];
                        continue;
                    }
                    if k - NL >= n_diodes {
                        continue;
                    }
                    let g = g(k - NL);
                    a[j][j] += g;
                    if far < NC {
                        b[j] += g * v[far];
                    } else if far < NC + NR {
                        a[j][far - NC] -= g;
                    }
                }
            }
            let solution = solve(a, b).expect("passive and connected");
            let potential = |node: usize| {
                if node < NC {
                    v[node]
                } else {
                    solution.get(node - NC).copied().unwrap_or(0.0)
                }
            };
            let wrong = (0..n_diodes)
                .map(|k| {
                    let (from, to) = self.ends[NL + k];
                    (potential(from) - potential(to)) * if is_off(k) { 1.0 } else { -1.0 }
                })
                .fold(0.0, f64::max);
            if wrong < best.0 {
                best = (wrong, solution);
            }
        }
        best.1
    }
}

#[test]
fn networks_find_the_mode_of_brute_force_and_their_energy_never_grows() {
    let mut random = Random(5);
    let mut events = 0;
    for case in 0..n_cases() {
        let network = Network::random(&mut random);
        let compiled = compile(&network.text(), "Case");
        let experiment = network.experiment(&compiled, &mut random).intervals(6);
        let run = (experiment.simulate()).unwrap_or_else(|error| panic!("case {case}: {error}"));
        events += run.events().len();
        let energy = run.table.signal("energy").expect("a variable").to_vec();
        let size = energy[0];
        for pair in energy.windows(2) {
            // Each of the states is within the tolerance of its size.
            let error = 10.0 * TOLERANCE * size;
            assert!(pair[1] <= pair[0] + error, "case {case}: {pair:?}");
        }
        // Not at every row: 2¹⁰ systems for each.
        for k in [0, run.table.n_rows() / 2, run.table.n_rows() - 1] {
            let v = row(&run, "v", NC + NR, k);
            let i = row(&run, "i", NL, k);
            let expected = network.by_brute_force(&v, &i);
            let size = v
                .iter()
                .chain(&i)
                .fold(1e-3, |size: f64, v| size.max(v.abs()));
            for (found, expected) in v[NC..].iter().zip(&expected) {
                let time = run.table.time()[k];
                assert!(
                    (found - expected).abs() <= 1e-6 * size,
                    "case {case}, time {time}: {found} {expected}"
                );
            }
        }
    }
    assert!(
        events > n_cases(),
        "only {events} events: the cases test nothing"
    );
}
