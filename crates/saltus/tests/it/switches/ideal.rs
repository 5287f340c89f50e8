//! Networks with up to ten ideal diodes (no resistance, no leakage), some behind inductors, against time stepping with brute force over all modes.
//!
//! A step of backward Euler with ideal diodes is a linear complementarity problem; for passive networks it has one solution, and as the step
//! goes to zero it gives the jump of the states and the mode after it (Çamlıbel, Heemels, Schumacher 2002). In a mode a diode in front of an inductor
//! takes its state away, a switch between capacitors makes one state of two.

use super::*;
use std::fmt::Write as _;

/// When the sources change and the switch closes.
const T_EVENT: f64 = 0.1;
const T_STOP: f64 = 0.3;

/// Conductance that holds the potential of a node that nothing else holds, for brute force.
const LEAKS: f64 = 1e-9;

struct Node {
    /// Capacitor to ground.
    c: Option<f64>,
    /// Resistor to a source, if there is one.
    r: Option<f64>,
    /// Voltage of the source before and after.
    e: [f64; 2],
}

struct Diode {
    from: usize,
    /// The ground has the number of nodes.
    to: usize,
    /// Of an inductor in series.
    l: Option<f64>,
}

/// How the model states that u ≤ 0, i ≥ 0 and u i = 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Spelling {
    /// A curve parameter and a Boolean.
    Curve,
    /// A curve parameter compared where it is used.
    Lecture,
    /// The standard library's, with Ron = Goff = 0.
    Library,
    /// Products of a curve parameter with an Integer.
    ProductInteger,
    ProductReal,
    /// A Boolean from two relations.
    Open,
    Closed,
    /// A curve parameter, with a Boolean that remembers itself.
    CurveRemembered,
    /// An Integer as coefficient.
    Coefficient,
    /// Two branches of an equation.
    IfEquation,
}

impl Spelling {
    const ALL: [Spelling; 10] = [
        Spelling::Curve,
        Spelling::Lecture,
        Spelling::Library,
        Spelling::ProductInteger,
        Spelling::ProductReal,
        Spelling::Open,
        Spelling::Closed,
        Spelling::CurveRemembered,
        Spelling::Coefficient,
        Spelling::IfEquation,
    ];

    /// Declarations and equations of a diode; `#` is its number.
    fn diode(self) -> (&'static str, &'static str) {
        match self {
            Spelling::Curve => (
                "Real s#; Boolean off#;",
                "off# = s# < 0; u# = if off# then s# else 0; i# = if off# then 0 else s#;",
            ),
            Spelling::Lecture => (
                "Real s#;",
                "u# = if s# > 0 then 0 else s#; i# = if s# > 0 then s# else 0;",
            ),
            Spelling::Library => (
                "Real s#; Boolean off#(start = true); parameter Real Ron# = 0, Goff# = 0;",
                "off# = s# < 0; u# = s#*(if off# then 1 else Ron#); i# = s#*(if off# then Goff# else 1);",
            ),
            Spelling::ProductInteger => (
                "Real s#; Integer m#;",
                "u# = m#*s#; i# = (1 - m#)*s#; m# = if s# < 0 then 1 else 0;",
            ),
            Spelling::ProductReal => (
                "Real s#; Real m#;",
                "u# = m#*s#; i# = (1 - m#)*s#; m# = if s# < 0 then 1 else 0;",
            ),
            Spelling::Open => (
                "Boolean open#;",
                "0 = if open# then i# else u#; open# = u# <= 0 and not i# > 0;",
            ),
            Spelling::Closed => (
                "Boolean on#;",
                "0 = if on# then u# else i#; on# = u# > 0 or i# > 0;",
            ),
            Spelling::CurveRemembered => (
                "Real s#; Boolean off#(start = true);",
                "off# = s# < 0 or pre(off#) and s# <= 0; u# = if off# then s# else 0; i# = if off# then 0 else s#;",
            ),
            Spelling::Coefficient => (
                "Integer m#;",
                "0 = m#*i# + (1 - m#)*u#; m# = if u# <= 0 and not i# > 0 then 1 else 0;",
            ),
            Spelling::IfEquation => ("", "if i# > 0 or u# > 0 then u# = 0; else i# = 0; end if;"),
        }
    }
}

struct Network {
    nodes: Vec<Node>,
    diodes: Vec<Diode>,
    /// Nodes that a switch connects.
    switch: Option<(usize, usize)>,
}

impl Network {
    fn random(random: &mut Random) -> Network {
        let n = 1 + random.below(4);
        let nodes: Vec<Node> = (0..n)
            .map(|_| Node {
                c: (random.below(3) > 0).then(|| 0.1 * random.decades(0.5)),
                r: Some(random.decades(0.7)),
                e: [5.0 * random.sign(), 5.0 * random.sign()],
            })
            .collect();
        let mut diodes = Vec::new();
        // Diodes without inductors form a tree: the currents of closed loops of them would not be determined.
        let mut tree: Vec<usize> = (0..=n).collect();
        for _ in 0..1 + random.below(10) {
            let from = random.below(n + 1);
            let to = (from + 1 + random.below(n)) % (n + 1);
            let (a, b) = (tree[from], tree[to]);
            let l = if a == b || random.below(2) == 0 {
                Some(0.1 * random.decades(0.5))
            } else {
                tree.iter_mut().filter(|t| **t == b).for_each(|t| *t = a);
                None
            };
            diodes.push(Diode { from, to, l });
        }
        let capacitors: Vec<usize> = (0..n).filter(|&k| nodes[k].c.is_some()).collect();
        let pair = capacitors.len() > 1 && random.below(2) == 0;
        // The switch must not close a loop of diodes without inductors.
        let switch =
            (pair.then(|| (capacitors[0], capacitors[1]))).filter(|(a, b)| tree[*a] != tree[*b]);
        Network {
            nodes,
            diodes,
            switch,
        }
    }

    /// With nodes that diodes alone connect, some behind inductors: while these block, the potential is free. A current can pass.
    fn random_floating(random: &mut Random) -> Network {
        let mut network = Network::random(random);
        let passes = |k: usize| {
            let mut diodes = network.diodes.iter();
            diodes.any(|d| d.from == k) && network.diodes.iter().any(|d| d.to == k)
        };
        let passes: Vec<bool> = (0..network.nodes.len()).map(passes).collect();
        for (node, passes) in network.nodes.iter_mut().zip(passes) {
            if passes && node.c.is_none() && random.below(3) > 0 {
                node.r = None;
            }
        }
        network
    }

    fn text(&self, spelling: Spelling) -> String {
        let n = self.nodes.len();
        let v = |k: usize| {
            if k < n {
                format!("v{k}")
            } else {
                "0".to_owned()
            }
        };
        let mut declarations = "  Boolean after = time >= 0.1;\n".to_owned();
        let mut equations = String::new();
        let mut currents = vec![String::new(); n + 1];
        for (k, diode) in self.diodes.iter().enumerate() {
            let (declared, stated) = spelling.diode();
            let numbered = |text: &str| text.replace('#', &k.to_string());
            let _ = writeln!(declarations, "  Real i{k}, u{k}; {}", numbered(declared));
            let _ = writeln!(equations, "  {}", numbered(stated));
            let drop = match diode.l {
                Some(l) => format!(" + {l:?}*der(i{k})"),
                None => String::new(),
            };
            let (from, to) = (v(diode.from), v(diode.to));
            let _ = writeln!(equations, "  {from} - {to} = u{k}{drop};");
            let _ = write!(currents[diode.from], " + i{k}");
            let _ = write!(currents[diode.to], " - i{k}");
        }
        if let Some((a, b)) = self.switch {
            let _ = writeln!(declarations, "  Real j;");
            let _ = writeln!(equations, "  0 = if after then v{a} - v{b} else j;");
            let _ = write!(currents[a], " + j");
            let _ = write!(currents[b], " - j");
        }
        for (k, node) in self.nodes.iter().enumerate() {
            let Node { c, r, e } = node;
            let fixed = if c.is_some() {
                "(start = 0, fixed = true)"
            } else {
                ""
            };
            let _ = writeln!(declarations, "  Real v{k}{fixed};");
            let charge = match c {
                Some(c) => format!("{c:?}*der(v{k}) + "),
                None => String::new(),
            };
            let source = match r {
                Some(r) => {
                    let [e0, e1] = e;
                    format!("(v{k} - (if after then {e1:?} else {e0:?}))/{r:?}")
                }
                None => "0".to_owned(),
            };
            let _ = writeln!(equations, "  {charge}{source}{} = 0;", currents[k]);
        }
        format!("model Case\n{declarations}equation\n{equations}end Case;\n")
    }

    /// One step of backward Euler from the potentials and currents, for a set of diodes that are on. `None` if the equations do not determine
    /// them. Returns potentials, charges through the diodes, and how far a diode is on the wrong side.
    fn step(&self, x: &State, h: f64, after: bool, on: &[bool]) -> Option<(State, f64)> {
        let (n, m) = (self.nodes.len(), self.diodes.len());
        let switch = self.switch.filter(|_| after);
        // Unknowns: potentials, charges q = h·i of the diodes, charge through the switch.
        let size = n + m + usize::from(switch.is_some());
        let mut a = vec![vec![0.0; size]; size];
        let mut b = vec![0.0; size];
        for (k, node) in self.nodes.iter().enumerate() {
            let c = node.c.unwrap_or(0.0);
            let g = node.r.map_or(LEAKS, |r| 1.0 / r);
            a[k][k] = c + h * g;
            b[k] = c * x.v[k] + h * g * node.e[usize::from(after)];
        }
        for (k, diode) in self.diodes.iter().enumerate() {
            let row = n + k;
            for (node, sign) in [(diode.from, 1.0), (diode.to, -1.0)] {
                if node < n {
                    a[node][row] += sign;
                    if on[k] {
                        a[row][node] += sign;
                    }
                }
            }
            if on[k] {
                if let Some(l) = diode.l {
                    a[row][row] -= l / (h * h);
                    b[row] = -l / h * x.i[k];
                }
            } else {
                a[row][row] = 1.0;
            }
        }
        if let Some((p, q)) = switch {
            let row = n + m;
            a[p][row] += 1.0;
            a[q][row] -= 1.0;
            a[row][p] = 1.0;
            a[row][q] = -1.0;
        }
        let z = solve(a, b).filter(|z| z.iter().all(|z| z.is_finite()))?;
        let next = State {
            v: z[..n].to_vec(),
            i: (0..m).map(|k| z[n + k] / h).collect(),
        };
        let potential = |node: usize| if node < n { next.v[node] } else { 0.0 };
        let mut wrong = 0.0f64;
        for (k, diode) in self.diodes.iter().enumerate() {
            if on[k] {
                wrong = wrong.max(-next.i[k]);
            } else {
                // The voltage of the diode: the inductor gives up its flux within the step.
                let flux = diode.l.map_or(0.0, |l| l * x.i[k] / h);
                wrong = wrong.max(potential(diode.from) - potential(diode.to) + flux);
            }
        }
        Some((next, wrong))
    }

    /// The step for the set that has no diode on the wrong side: the last one, else by brute force.
    fn next(&self, x: &State, h: f64, after: bool, on: &mut Vec<bool>) -> State {
        const WRONG_MAX: f64 = 1e-10;
        if let Some((next, wrong)) = self.step(x, h, after, on)
            && wrong <= WRONG_MAX
        {
            return next;
        }
        let m = self.diodes.len();
        let mut best: Option<(f64, State, Vec<bool>)> = None;
        for set in 0u32..1 << m {
            let trial: Vec<bool> = (0..m).map(|k| set >> k & 1 == 1).collect();
            let Some((next, wrong)) = self.step(x, h, after, &trial) else {
                continue;
            };
            if best.as_ref().is_none_or(|best| wrong < best.0) {
                best = Some((wrong, next, trial));
            }
        }
        let (_, next, found) = best.expect("all diodes off is regular");
        *on = found;
        next
    }

    /// Potentials at the times asked for, with n steps in each of the two phases.
    fn by_brute_force(&self, n: usize) -> [State; 2] {
        let m = self.diodes.len();
        let mut x = State {
            v: vec![0.0; self.nodes.len()],
            i: vec![0.0; m],
        };
        let mut on = vec![false; m];
        let phases = [(T_EVENT, false), (T_STOP - T_EVENT, true)];
        phases.map(|(length, after)| {
            for _ in 0..n {
                x = self.next(&x, length / n as f64, after, &mut on);
            }
            x.clone()
        })
    }
}

#[derive(Clone)]
struct State {
    v: Vec<f64>,
    i: Vec<f64>,
}

/// Potentials that differ from those of so many steps by more than their error, which the doubled number of steps tells: they are of first order.
fn wrong(network: &Network, run: &Run, n: usize) -> String {
    let (coarse, fine) = (network.by_brute_force(n), network.by_brute_force(2 * n));
    let mut wrong = String::new();
    for (phase, time) in [T_EVENT, T_STOP].into_iter().enumerate() {
        let row = (run.table.time().iter()).position(|t| *t >= time);
        let row = row.expect("a row");
        for (k, node) in network.nodes.iter().enumerate() {
            // At the event only states are known to be continuous.
            if phase == 0 && node.c.is_none() || node.r.is_none() {
                continue;
            }
            let name = format!("v{k}");
            let found = run.table.signal(&name).expect("a variable").row(row);
            let (a, b) = (coarse[phase].v[k], fine[phase].v[k]);
            let expected = 2.0 * b - a;
            if (found - expected).abs() > 0.5 * (b - a).abs() + 0.4 / n as f64 {
                let _ = writeln!(wrong, "{name}({time}) = {found} instead of {expected}");
            }
        }
    }
    wrong
}

/// What went wrong in a case, if anything did.
fn fault(network: &Network, spelling: Spelling, events: &mut usize) -> Option<String> {
    let text = network.text(spelling);
    let compiled = compile(&text, "Case");
    let run = compiled
        .experiment()
        .stop_time(T_STOP)
        .tolerance(1e-8)
        .simulate();
    let run = match run {
        Ok(run) => run,
        Err(error) => return Some(format!("{error}\n{text}")),
    };
    *events += run.events().len();
    let mut wrong = wrong(network, &run, 200);
    // Where modes change within a step the error is not the one that two numbers of steps tell: more of them decide.
    if !wrong.is_empty() {
        wrong = self::wrong(network, &run, 10_000);
    }
    (!wrong.is_empty()).then(|| format!("{wrong}\n{text}"))
}

fn check(spelling: Spelling) {
    let n_cases = n_cases() / Spelling::ALL.len();
    check_all(spelling, n_cases, Random(23), Network::random);
}

fn check_all(
    spelling: Spelling,
    n_cases: usize,
    mut random: Random,
    network: fn(&mut Random) -> Network,
) {
    let mut events = 0;
    let (mut failures, mut failed) = (String::new(), 0);
    for case in 0..n_cases {
        let network = network(&mut random);
        if let Some(fault) = fault(&network, spelling, &mut events) {
            failed += 1;
            let _ = writeln!(failures, "case {case}: {fault}");
        }
    }
    assert!(failed == 0, "{failed} of {n_cases}\n{failures}");
    assert!(
        events > n_cases,
        "only {events} events: the cases test nothing"
    );
}

#[test]
fn diodes_on_a_curve_choose_the_modes_of_brute_force() {
    check(Spelling::Curve);
}

#[test]
fn diodes_of_the_lecture_choose_the_modes_of_brute_force() {
    check(Spelling::Lecture);
}

#[test]
fn diodes_of_the_library_choose_the_modes_of_brute_force() {
    check(Spelling::Library);
}

#[test]
fn diodes_by_integer_products_choose_the_modes_of_brute_force() {
    check(Spelling::ProductInteger);
}

#[test]
fn diodes_by_real_products_choose_the_modes_of_brute_force() {
    check(Spelling::ProductReal);
}

#[test]
fn diodes_open_by_two_relations_choose_the_modes_of_brute_force() {
    check(Spelling::Open);
}

#[test]
fn diodes_closed_by_two_relations_choose_the_modes_of_brute_force() {
    check(Spelling::Closed);
}

#[test]
fn diodes_on_a_curve_that_remember_choose_the_modes_of_brute_force() {
    check(Spelling::CurveRemembered);
}

#[test]
fn diodes_by_coefficients_choose_the_modes_of_brute_force() {
    check(Spelling::Coefficient);
}

#[test]
fn diodes_by_branches_choose_the_modes_of_brute_force() {
    check(Spelling::IfEquation);
}

#[test]
fn diodes_between_floating_nodes_choose_the_modes_of_brute_force() {
    for spelling in Spelling::ALL {
        let n_cases = n_cases() / (5 * Spelling::ALL.len());
        check_all(spelling, n_cases, Random(29), Network::random_floating);
    }
}
