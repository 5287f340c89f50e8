//! A plane arm of four links with dry friction in every joint, where joints stick, break loose and reverse.

use super::*;

const N: usize = 4;

const TEXT: &str = "
block Friction \"Dry friction with equal forces at rest and in motion, on the acceleration\"
  parameter Real f0, w0 \"Relative velocity at the start\";
  input Real w \"Relative velocity\";
  output Real a \"Its derivative\";
  output Real f \"Friction\";
  Integer mode(start = if w0 > 0 then 1 elseif w0 < 0 then -1 else 0, fixed = true) \"-1, 0 or 1: the direction of the motion\";
  Boolean forward(start = false, fixed = true), backward(start = false, fixed = true), stuck;
  Real s \"Parameter of the curve: the torque of a joint that sticks\";
equation
  forward = pre(mode) == 0 and s > f0;
  backward = pre(mode) == 0 and s < -f0;
  stuck = pre(mode) == 0 and not forward and not backward;
  a = if stuck then 0 else if pre(mode) == 1 or forward then s - f0 else s + f0;
  f = if stuck then s else if pre(mode) == 1 or forward then f0 else -f0;
  mode = if (pre(mode) == 1 or forward) and w > 0 then 1 else if (pre(mode) == -1 or backward) and w < 0 then -1 else 0;
end Friction;

model Arm
  parameter Integer n = 4;
  parameter Real mass[n] = ones(n), f0[n] = ones(n), amplitude[n] = ones(n), frequency[n] = ones(n), q0[n] = ones(n), w0[n] = ones(n);
  Real q[n](start = q0, each fixed = true) \"Angles of the links from the vertical\";
  Real v[n];
  Real w[n](start = w0, each fixed = true) \"Velocities of the joints\";
  Real tail[n] \"Mass beyond each joint\";
  Real torque[n] \"Of the motors\";
  Friction joint[n](f0 = f0, w0 = w0);
equation
  der(q) = v;
  for k in 1:n loop
    tail[k] = sum(mass[j] for j in k:n);
    w[k] = if k == 1 then v[1] else v[k] - v[k - 1];
    torque[k] = amplitude[k]*sin(frequency[k]*time + k);
    joint[k].w = w[k];
    joint[k].a = der(w[k]);
    sum(tail[max(k, j)]*(cos(q[k] - q[j])*der(v[j]) + sin(q[k] - q[j])*v[j]^2) for j in 1:n) + tail[k]*sin(q[k])
      = torque[k] - joint[k].f - (if k == n then 0 else torque[k + 1] - joint[k + 1].f);
  end for;
end Arm;
";

/// What a joint does, as brute force tries it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Joint {
    Sticks,
    Slides(f64),
}

struct Arm {
    mass: Vec<f64>,
    f0: Vec<f64>,
    amplitude: Vec<f64>,
    frequency: Vec<f64>,
}

impl Arm {
    fn random(random: &mut Random) -> Arm {
        let mut values = |size: f64, decades: f64| -> Vec<f64> {
            (0..N).map(|_| size * random.decades(decades)).collect()
        };
        Arm {
            mass: values(0.5, 0.5),
            f0: values(1.0, 0.7),
            amplitude: values(2.0, 0.5),
            frequency: values(3.0, 0.5),
        }
    }

    /// Accelerations of the joints and frictions for given modes, from the same equations of motion as the text.
    fn motion(&self, time: f64, q: &[f64], v: &[f64], joints: &[Joint]) -> (Vec<f64>, Vec<f64>) {
        let tail: Vec<f64> = (0..N).map(|k| self.mass[k..].iter().sum()).collect();
        let torque =
            |k: usize| self.amplitude[k] * (self.frequency[k] * time + (k + 1) as f64).sin();
        // Unknown of joint k: its acceleration where it slides, its friction where it sticks. der(v[j]) is the sum of the first j.
        let mut a = vec![vec![0.0; N]; N];
        let mut b = vec![0.0; N];
        for k in 0..N {
            b[k] = torque(k) - if k + 1 < N { torque(k + 1) } else { 0.0 };
            b[k] -= tail[k] * q[k].sin();
            for j in 0..N {
                let beyond = tail[k.max(j)];
                b[k] -= beyond * (q[k] - q[j]).sin() * v[j] * v[j];
                for (l, joint) in joints.iter().enumerate().take(j + 1) {
                    if *joint != Joint::Sticks {
                        a[k][l] += beyond * (q[k] - q[j]).cos();
                    }
                }
            }
            for (l, sign) in [(k, 1.0), (k + 1, -1.0)] {
                match joints.get(l) {
                    Some(Joint::Sticks) => a[k][l] += sign,
                    Some(Joint::Slides(way)) => b[k] -= sign * way * self.f0[l],
                    None => {}
                }
            }
        }
        let x = solve(a, b).expect("the mass matrix is regular");
        let pick = |stuck: bool, k: usize| match joints[k] {
            Joint::Sticks => [0.0, x[k]][usize::from(stuck)],
            Joint::Slides(way) => [x[k], way * self.f0[k]][usize::from(stuck)],
        };
        (
            (0..N).map(|k| pick(false, k)).collect(),
            (0..N).map(|k| pick(true, k)).collect(),
        )
    }

    /// Over all modes of the joints at rest: the one in which frictions are within their limits and what breaks loose moves against them.
    fn by_brute_force(
        &self,
        time: f64,
        q: &[f64],
        v: &[f64],
        w: &[f64],
        at_rest: &[bool],
    ) -> Vec<f64> {
        let mut best = (f64::INFINITY, Vec::new());
        for set in 0..3usize.pow(N as u32) {
            let choice = |k: usize| match set / 3usize.pow(k as u32) % 3 {
                0 => Joint::Sticks,
                1 => Joint::Slides(1.0),
                _ => Joint::Slides(-1.0),
            };
            if (0..N).any(|k| !at_rest[k] && choice(k) != Joint::Slides(w[k].signum())) {
                continue;
            }
            let joints: Vec<Joint> = (0..N).map(choice).collect();
            let (a, f) = self.motion(time, q, v, &joints);
            let wrong = (0..N)
                .filter(|&k| at_rest[k])
                .map(|k| match joints[k] {
                    Joint::Sticks => f[k].abs() - self.f0[k],
                    Joint::Slides(way) => -way * a[k],
                })
                .fold(0.0, f64::max);
            if wrong < best.0 {
                best = (wrong, a);
            }
        }
        best.1
    }
}

#[test]
fn joints_of_an_arm_stick_and_slide_as_by_brute_force() {
    let compiled = compile(TEXT, "Arm");
    let mut random = Random(11);
    let (mut breaks, mut sticks) = (0, 0);
    for case in 0..n_cases() {
        let arm = Arm::random(&mut random);
        let mut experiment = compiled
            .experiment()
            .tolerance(1e-6)
            .stop_time(2.0)
            .intervals(8);
        for (name, values) in [
            ("mass", &arm.mass),
            ("f0", &arm.f0),
            ("amplitude", &arm.amplitude),
            ("frequency", &arm.frequency),
        ] {
            experiment = set_all(experiment, name, values);
        }
        let q0: Vec<f64> = (0..N).map(|_| random.sign()).collect();
        // Some joints are at rest at the start.
        let w0: Vec<f64> = (0..N)
            .map(|_| {
                if random.below(2) == 0 {
                    0.0
                } else {
                    random.sign()
                }
            })
            .collect();
        experiment = set_all(set_all(experiment, "q0", &q0), "w0", &w0);
        let run = (experiment.simulate()).unwrap_or_else(|error| panic!("case {case}: {error}"));
        let mode = |k: usize, row: usize| {
            run.table
                .signal(&format!("joint[{}].mode", k + 1))
                .expect("a variable")
                .row(row)
        };
        for r in 0..run.table.n_rows() {
            let time = run.table.time()[r];
            let after = run.table.time().get(r + 1) != Some(&time);
            if !after {
                continue;
            }
            let (q, v, w) = (
                row(&run, "q", N, r),
                row(&run, "v", N, r),
                row(&run, "w", N, r),
            );
            let at_rest: Vec<bool> = (0..N).map(|k| mode(k, r) == 0.0).collect();
            let expected = arm.by_brute_force(time, &q, &v, &w, &at_rest);
            let size = expected.iter().fold(1.0, |size: f64, a| size.max(a.abs()));
            for k in 0..N {
                let name = format!("joint[{}].a", k + 1);
                let found = run.table.signal(&name).expect("a variable").row(r);
                assert!(
                    (found - expected[k]).abs() <= 1e-6 * size,
                    "case {case}, time {time}, joint {}: {found} instead of {}",
                    k + 1,
                    expected[k]
                );
                sticks += usize::from(at_rest[k] && found == 0.0);
                breaks += usize::from(at_rest[k] && found != 0.0);
            }
        }
    }
    assert!(
        breaks > n_cases() && sticks > n_cases(),
        "{breaks} {sticks}: the cases test nothing"
    );
}
