//! Many runs of one model through the facade.

use saltus::{Control, Error, Measure, Model, Session, Value};
use std::sync::atomic::{AtomicUsize, Ordering};

fn compile(text: &str, class: &str) -> Model {
    let mut session = Session::new();
    session.set_text("model.mo", text);
    session.compile(class).unwrap_or_else(|e| panic!("{e}"))
}

const DECAY: &str = "
model Decay
  parameter Real k(min = 0) = 1;
  parameter Integer n = 1;
  parameter Real limit = 0;
  Real x[n](each start = 1, each fixed = true);
equation
  der(x) = -k*x;
  assert(x[1] > limit, \"too low\");
end Decay;
";

/// The numbers do not depend on the number of threads, and failed runs are rows like others.
#[test]
fn threads_change_no_number() {
    let model = compile(DECAY, "Decay");
    let runs = |jobs: usize| {
        (model.sweep())
            .cases([
                vec![("limit", Value::from(0.0))],
                vec![("limit", 0.3.into()), ("k", 3.0.into())],
            ])
            .grid("k", [0.5, 1.0, 2.0])
            .grid("n", [1, 2, 3])
            .measure(Measure::last("x[1]"))
            .measure(Measure::Min("x[1]".into()))
            .measure(Measure::Max("der(x[1])".into()))
            .measure(Measure::Mean("x[1]".into()))
            .measure(Measure::At("x[1]".into(), 0.25))
            .experiment(|experiment| Ok(experiment.tolerance(1e-9)))
            .jobs(jobs)
            .run()
            .unwrap_or_else(|e| panic!("{e}"))
    };
    let (one, many) = (runs(1), runs(5));
    assert_eq!(one.len(), 18);
    for (k, (a, b)) in one.iter().zip(&many).enumerate() {
        assert_eq!((a.index, b.index), (k, k));
        assert_eq!(a.settings, b.settings);
        assert_eq!(a.status(), b.status());
        assert_eq!(a.measures, b.measures);
        let rate = [0.5, 1.0, 2.0][k / 3 % 3];
        assert_eq!(a.settings[a.settings.len() - 2].1, Value::Real(rate));
        let fails = k >= 9 && f64::exp(-rate) < 0.3;
        assert_eq!(a.status(), if fails { "assertion-failed" } else { "done" });
        assert_eq!(a.time.is_some_and(|time| time < 1.0), fails);
        if !fails {
            let near = |value: Option<f64>, expected: f64| {
                assert!(
                    (value.unwrap() - expected).abs() < 1e-5,
                    "{value:?} {expected}"
                );
            };
            near(a.measures[0], f64::exp(-rate));
            near(a.measures[1], f64::exp(-rate));
            near(a.measures[2], -rate * f64::exp(-rate));
            near(a.measures[3], (1.0 - f64::exp(-rate)) / rate);
            near(a.measures[4], f64::exp(-0.25 * rate));
        }
    }
}

#[test]
fn parts_of_a_sweep_are_the_sweep() {
    let model = compile(DECAY, "Decay");
    let sweep = || {
        model
            .sweep()
            .grid("k", [1, 2, 3, 4, 5])
            .measure(Measure::last("x[1]"))
    };
    let done = AtomicUsize::new(0);
    let count = |_: &saltus::SweepRun| {
        done.fetch_add(1, Ordering::Relaxed);
    };
    let odd = sweep().only(|k| k % 2 == 1).on_done(count).run().unwrap();
    let even = sweep().only(|k| k % 2 == 0).on_done(count).run().unwrap();
    assert_eq!((odd.len(), even.len(), done.into_inner()), (2, 3, 5));
    let all = sweep().run().unwrap();
    let mut both: Vec<_> = odd.iter().chain(&even).collect();
    both.sort_by_key(|run| run.index);
    for (a, b) in all.iter().zip(both) {
        assert_eq!((a.index, &a.measures), (b.index, &b.measures));
    }
}

#[test]
fn what_a_sweep_cannot_do_is_said() {
    let model = compile(DECAY, "Decay");
    let unknown = model.sweep().measure(Measure::last("y")).run();
    assert!(unknown.unwrap_err().to_string().contains("no variable `y`"));
    let runs = (model.sweep()).grid("k", [1.0, -1.0]).run().unwrap();
    assert!(runs[0].error.is_none());
    assert!(matches!(&runs[1].error, Some(Error::Usage(text)) if text.contains("`min`")));
    let many = vec![0.0; 100_000];
    let sweep = model.sweep().grid("k", many.clone()).grid("limit", many);
    assert!(sweep.n_runs().is_err());
    let control = Control::new();
    control.cancel();
    assert!(model.sweep().control(&control).run().unwrap().is_empty());
}

/// Structures of a switching model are made once for all runs.
#[test]
fn runs_of_a_sweep_share_modes() {
    let text =
        std::fs::read_to_string(crate::mdtest::root().join("models/bridge-six-pulse/model.mo"));
    let text = text.unwrap_or_else(|e| panic!("{e}"));
    let class = crate::mdtest::class_of(&text);
    let mut session = Session::new();
    session.add_library_path(crate::mdtest::root().join("library"));
    session.set_text("model.mo", text);
    let model = session.compile(&class).unwrap_or_else(|e| panic!("{e}"));
    let name = (model.parameters().into_iter())
        .find(|p| p.settable && p.structural.is_none() && matches!(p.value, Some(Value::Real(_))))
        .unwrap_or_else(|| panic!("a parameter"));
    let Some(Value::Real(value)) = name.value else {
        panic!("a Real")
    };
    let once = (model.experiment().stop_time(0.005)).simulate();
    let once = once
        .unwrap_or_else(|e| panic!("{e}"))
        .statistics
        .modes_structured;
    let values: Vec<f64> = (0..6)
        .map(|k| value * (1.0 + 0.001 * f64::from(k)))
        .collect();
    let runs = (model.sweep().grid(&name.name, values))
        .experiment(|experiment| Ok(experiment.stop_time(0.005)))
        .jobs(3)
        .run()
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(runs.iter().all(|run| run.error.is_none()));
    let structured = model.compiled().modes_structured();
    assert!(
        structured <= 2 * once as u64 + 4,
        "{structured} structures for 7 runs, {once} in one"
    );
}
