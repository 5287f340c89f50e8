//! Contacts that come to rest: random balls against a reference of their own, event by event in closed form. The number of cases is 200, or that in `SALTUS_CASES`.

use saltus::Session;
use std::fmt::Write as _;

const CASES: u32 = 200;
const G: f64 = 9.81;
/// Rates below this part of the first impact's are rest in the reference.
const REST_REL: f64 = 1e-9;
/// Steps in which the reference looks for the next impact on a moving table.
const LOOK: f64 = 1e-3;
/// Relative to the height of the table and to one metre.
const TOLERANCE: f64 = 1e-6;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn real(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * ((self.next() >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn below(&mut self, n: u64) -> usize {
        (self.next() % n) as usize
    }
}

#[derive(Clone, Copy, Debug)]
struct Ball {
    drop: f64,
    restitution: f64,
    table: f64,
    /// Of the table's motion a·sin(ωt), gentle enough that a ball at rest stays.
    amplitude: f64,
    frequency: f64,
    spelling: usize,
}

const SPELLINGS: usize = 8;

impl Ball {
    fn random(rng: &mut Rng) -> Ball {
        let restitution = match rng.below(6) {
            0 => 0.0,
            1 => 0.01,
            2 => rng.real(0.0, 0.2),
            3 => rng.real(0.9, 0.99),
            _ => rng.real(0.2, 0.9),
        };
        let table = match rng.below(5) {
            0 => 0.0,
            1 => 1.0,
            2 => 1e4,
            3 => -rng.real(0.0, 10.0),
            _ => rng.real(0.0, 1e3),
        };
        let moves = rng.below(4) == 0;
        let frequency = rng.real(0.5, 4.0);
        Ball {
            drop: rng.real(0.05, 2.0),
            restitution: if moves {
                restitution.min(0.6)
            } else {
                restitution
            },
            table,
            amplitude: if moves {
                rng.real(0.0, 0.3) * G / frequency.powi(2) * 0.2
            } else {
                0.0
            },
            frequency,
            spelling: rng.below(SPELLINGS as u64),
        }
    }

    fn s(&self, t: f64) -> (f64, f64) {
        let phase = self.frequency * t;
        (
            self.table + self.amplitude * phase.sin(),
            self.amplitude * self.frequency * phase.cos(),
        )
    }

    /// Height at the given times, ascending.
    fn reference(&self, times: &[f64]) -> Vec<f64> {
        let (mut t0, mut x0, mut v0) = (0.0, self.table + self.drop, 0.0);
        let at =
            |t: f64, t0: f64, x0: f64, v0: f64| x0 + v0 * (t - t0) - 0.5 * G * (t - t0).powi(2);
        let mut first: Option<f64> = None;
        let (mut out, mut rests) = (Vec::new(), false);
        for &t in times {
            while !rests {
                let gap = |at_t: f64| at(at_t, t0, x0, v0) - self.s(at_t).0;
                // The next impact up to t.
                let hit = if self.amplitude == 0.0 {
                    let h = x0 - self.table;
                    let hit = t0 + (v0 + (v0 * v0 + 2.0 * G * h.max(0.0)).sqrt()) / G;
                    (hit <= t).then_some(hit)
                } else {
                    let hop = (v0 - self.s(t0).1).max(0.0) / G;
                    let mut left = t0 + (0.25 * hop).max(1e-12);
                    let step = LOOK.min((0.1 * hop).max(1e-9)).max(if first.is_none() {
                        LOOK
                    } else {
                        0.0
                    });
                    loop {
                        if left >= t {
                            break None;
                        }
                        let right = (left + step).min(t);
                        if gap(right) < 0.0 {
                            let (mut a, mut b) = (left, right);
                            for _ in 0..80 {
                                let middle = 0.5 * (a + b);
                                if gap(middle) < 0.0 {
                                    b = middle
                                } else {
                                    a = middle
                                }
                            }
                            break Some(b);
                        }
                        left = right;
                    }
                };
                let Some(hit) = hit else { break };
                let (s, w) = self.s(hit);
                let approach = w - (v0 - G * (hit - t0));
                let scale = *first.get_or_insert(approach);
                (t0, x0, v0) = (hit, s, w + self.restitution * approach);
                rests = self.restitution * approach <= REST_REL * scale.max(1e-3)
                    || self.amplitude != 0.0 && self.restitution * approach <= 1e-7;
            }
            out.push(if rests {
                self.s(t).0
            } else {
                at(t, t0, x0, v0)
            });
        }
        out
    }

    fn text(&self, k: usize, model: &mut String) {
        let (x, v, s, w) = (
            format!("x{k}"),
            format!("v{k}"),
            format!("s{k}"),
            format!("w{k}"),
        );
        let (guard, before, value) = match self.spelling {
            0 => (format!("{x} < {s}"), String::new(), format!("pre({v})")),
            1 => (format!("{x} <= {s}"), String::new(), v.clone()),
            2 => (format!("{s} > {x}"), String::new(), format!("pre({v})")),
            3 => (
                format!("{{{x} < {s}, time > 1e9}}"),
                String::new(),
                v.clone(),
            ),
            4 => (format!("{x} < {s} and {v} < {w}"), String::new(), v.clone()),
            5 => (format!("hit{k}"), format!("hit{k} = {x} < {s};"), v.clone()),
            6 => (format!("not {x} > {s}"), String::new(), v.clone()),
            _ => (
                format!("{s} - {x} >= 0 and {v} <= {w}"),
                String::new(),
                v.clone(),
            ),
        };
        let _ = write!(
            model,
            "  der({x}) = {v};\n  der({v}) = -{G};\n  {s} = {:?} + {:?}*sin({:?}*time);\n  {w} = {:?}*cos({:?}*time);\n  {before}\n  \
             when {guard} then\n    reinit({v}, {w} - {:?}*({value} - {w}));\n  end when;\n",
            self.table,
            self.amplitude,
            self.frequency,
            self.amplitude * self.frequency,
            self.frequency,
            self.restitution
        );
    }
}

fn model(balls: &[Ball], beside: usize) -> String {
    let (mut declared, mut equations) = (String::new(), String::new());
    for (k, ball) in balls.iter().enumerate() {
        let _ = writeln!(
            declared,
            "  Real x{k}(start = {:?}, fixed = true), v{k}(start = 0, fixed = true), s{k}, w{k};",
            ball.table + ball.drop
        );
        if ball.spelling == 5 {
            let _ = writeln!(declared, "  Boolean hit{k};");
        }
        ball.text(k, &mut equations);
    }
    match beside {
        1 => {
            declared.push_str("  discrete Real held(start = 0, fixed = true);\n");
            equations.push_str("  when sample(0, 1e-2) then\n    held = x0;\n  end when;\n");
        }
        2 => {
            declared.push_str(
                "  Real T(start = 20, fixed = true);\n  Boolean on(start = true, fixed = true);\n",
            );
            equations.push_str(
                "  on = T < 20 or pre(on) and T < 21;\n  der(T) = (if on then 5 else 0) - 0.1*T;\n",
            );
        }
        3 => {
            declared.push_str("  Boolean unused;\n");
            equations.push_str("  unused = sin(20*time) > 0;\n");
        }
        _ => {}
    }
    format!("model Balls\n{declared}equation\n{equations}end Balls;\n")
}

#[test]
#[ignore = "FIXME: of the first eight cases one ends with contact-lost and one takes too long"]
fn random_balls_bounce_and_rest_as_their_closed_forms_do() {
    let cases = std::env::var("SALTUS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    let seed = std::env::var("SALTUS_SEED").map_or(0x5eed, |n| n.parse().expect("a number"));
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15 ^ seed);
    let mut problems = String::new();
    for case in 0..cases {
        let n = 1 + rng.below(8);
        let balls: Vec<Ball> = (0..n).map(|_| Ball::random(&mut rng)).collect();
        let text = model(&balls, rng.below(5));
        let stop = rng.real(2.0, 12.0);
        let mut session = Session::new();
        session.set_text("balls.mo", text.clone());
        let compiled = session
            .compile("Balls")
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        let run = compiled
            .experiment()
            .stop_time(stop)
            .tolerance(1e-9)
            .intervals(40)
            .simulate();
        let run = match run {
            Ok(run) => run,
            Err(error) => {
                let _ = writeln!(problems, "case {case}: {error}\n{text}");
                continue;
            }
        };
        let times = run.table.time().to_vec();
        for (k, ball) in balls.iter().enumerate() {
            let x = run
                .table
                .signal(&format!("x{k}"))
                .expect("a variable")
                .to_vec();
            let expected = ball.reference(&times);
            let scale = 1.0 + ball.table.abs();
            let off = (x.iter().zip(&expected))
                .map(|(a, b)| (a - b).abs())
                .fold(0.0, f64::max);
            if off.is_nan() || off > TOLERANCE * scale {
                let _ = writeln!(
                    problems,
                    "case {case}: x{k} is off by {off:e}, {ball:?}, stop {stop}\n{text}"
                );
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
}
