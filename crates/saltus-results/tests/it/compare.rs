use std::io::Cursor;

use saltus_results::{
    Comparison, ResultReader, ResultTable, SignalComparison, SignalVerdict, TubeOptions, Verdict,
    compare, compare_all, compare_files, write_mat,
};

fn table(time: Vec<f64>, y: Vec<f64>) -> ResultTable {
    let mut table = ResultTable::new(time);
    table.push_column("y", y).unwrap();
    table
}

fn sampled(n: usize, t_end: f64, f: impl Fn(f64) -> f64) -> ResultTable {
    let time: Vec<f64> = (0..=n).map(|i| t_end * i as f64 / n as f64).collect();
    let y = time.iter().map(|&t| f(t)).collect();
    table(time, y)
}

fn compared(result: &ResultTable, reference: &ResultTable) -> Comparison {
    compare_all(result, reference, &TubeOptions::default())
}

fn only(comparison: &Comparison) -> &SignalComparison {
    assert_eq!(comparison.signals.len(), 1);
    &comparison.signals[0]
}

#[test]
fn the_same_curve_matches_on_other_rows() {
    let reference = sampled(1000, 1.0, |t| (10.0 * t).sin());
    let result = sampled(777, 1.0, |t| (10.0 * t).sin());
    let comparison = compared(&result, &reference);
    assert!(comparison.is_match());
    assert_eq!(only(&comparison).first_outside, None);
    assert!(only(&comparison).max_deviation < 1e-4);
}

#[test]
fn an_offset_inside_the_tube_matches_and_outside_does_not() {
    let reference = sampled(100, 1.0, |t| 5.0 * t);
    let inside = sampled(100, 1.0, |t| 5.0 * t + 0.0099); // 0.2 % of 5 is 0.01
    assert!(compared(&inside, &reference).is_match());
    let outside = sampled(100, 1.0, |t| 5.0 * t + 0.03);
    let comparison = compared(&outside, &reference);
    assert_eq!(comparison.verdict, Verdict::FarOff);
    assert!(only(&comparison).share_outside > 0.99);
    assert!(only(&comparison).first_outside.unwrap() < 0.01);
}

#[test]
fn what_the_reference_does_not_resolve_is_not_compared() {
    // A temperature that rises by 2e-3 K, computed with a tolerance of 1e-6.
    let options = TubeOptions {
        resolution: 1e-5,
        ..TubeOptions::default()
    };
    let reference = sampled(100, 1.0, |t| 293.15 + 2e-3 * t);
    let at = |offset: f64| {
        let result = sampled(100, 1.0, |t| 293.15 + 2e-3 * t + offset);
        compare_all(&result, &reference, &options)
    };
    assert!(at(2.9e-3).is_match() && only(&at(0.0)).unresolved);
    assert!(!at(3.1e-3).is_match());
    let wide = sampled(100, 1.0, |t| 293.15 + 20.0 * t);
    assert!(!only(&compare_all(&wide, &wide, &options)).unresolved);
}

#[test]
fn without_a_time_band_the_tube_is_exactly_as_high_as_asked() {
    let options = TubeOptions {
        relative_time: 0.0,
        ..TubeOptions::default()
    };
    let reference = sampled(100, 1.0, |t| 5.0 * t);
    let at = |offset: f64| {
        let result = sampled(100, 1.0, |t| 5.0 * t + offset);
        compare_all(&result, &reference, &options).is_match()
    };
    assert!(at(0.0099) && at(-0.0099));
    assert!(!at(0.0101) && !at(-0.0101));
}

#[test]
fn an_event_that_comes_slightly_late_does_not_count() {
    let step_at = |t: f64| table(vec![0.0, t, t, 1.0], vec![0.0, 0.0, 1.0, 1.0]);
    let mut reference_time: Vec<f64> = (0..=500).map(|i| f64::from(i) / 1000.0).collect();
    let mut reference_y = vec![0.0; 501];
    reference_time.extend((500..=1000).map(|i| f64::from(i) / 1000.0));
    reference_y.extend(vec![1.0; 501]);
    let reference = table(reference_time, reference_y);
    assert!(compared(&step_at(0.5), &reference).is_match());
    assert!(compared(&step_at(0.5019), &reference).is_match());
    assert!(compared(&step_at(0.4981), &reference).is_match());
    let comparison = compared(&step_at(0.55), &reference);
    assert_eq!(comparison.verdict, Verdict::Different);
    let signal = only(&comparison);
    assert_eq!(signal.verdict, SignalVerdict::Outside);
    assert!((signal.share_outside - 0.048).abs() < 1e-9);
    assert!((signal.share_outside_strict - 0.05).abs() < 1e-9);
    assert!((signal.first_outside.unwrap() - 0.502).abs() < 1e-9);
    assert_eq!(signal.max_deviation, 1.0);
}

#[test]
fn a_fast_oscillation_in_a_long_run_is_compared_sharply() {
    // 0.2 % of the duration is two periods: only the bound by the rows makes the phase count.
    let reference = sampled(100_000, 1.0, |t| {
        (2.0 * std::f64::consts::PI * 1000.0 * t).sin()
    });
    let shifted = sampled(100_000, 1.0, |t| {
        (2.0 * std::f64::consts::PI * 1000.0 * t + 0.5).sin()
    });
    assert!(compared(&reference, &reference).is_match());
    assert_eq!(compared(&shifted, &reference).verdict, Verdict::FarOff);
}

#[test]
fn constants_are_measured_by_their_size_and_zero_by_a_floor() {
    let constant = |value: f64| sampled(10, 1.0, |_| value);
    assert!(compared(&constant(100.19), &constant(100.0)).is_match());
    assert!(!compared(&constant(100.21), &constant(100.0)).is_match());
    // A range that is only rounding does not make the tube thin.
    let noisy = sampled(10, 1.0, |t| 100.0 + 1e-13 * t);
    assert!(compared(&constant(100.1), &noisy).is_match());
    assert!(compared(&constant(1e-6), &constant(0.0)).is_match());
    assert!(!compared(&constant(1e-5), &constant(0.0)).is_match());
    // Small is not zero.
    let small = sampled(10, 1.0, |t| 1e-9 * t);
    assert!(!compared(&constant(0.0), &small).is_match());
}

#[test]
fn a_result_that_ends_early_is_outside_for_the_rest() {
    let reference = sampled(100, 1.0, |t| t);
    let comparison = compared(&sampled(80, 0.8, |t| t), &reference);
    let signal = only(&comparison);
    assert_eq!(signal.verdict, SignalVerdict::FarOff);
    assert!((signal.share_outside - 0.2).abs() < 1e-9);
    assert_eq!(signal.first_outside, Some(0.8));
    assert_eq!(
        compared(&ResultTable::new(Vec::new()), &reference).verdict,
        Verdict::Different,
        "the signal is missing"
    );
    let empty = table(Vec::new(), Vec::new());
    assert_eq!(compared(&empty, &reference).verdict, Verdict::FarOff);
    assert_eq!(compared(&reference, &empty).verdict, Verdict::Nothing);
}

#[test]
fn values_that_are_not_finite_are_outside() {
    let reference = sampled(100, 1.0, |t| t);
    let result = sampled(100, 1.0, |t| if t > 0.945 { f64::NAN } else { t });
    let comparison = compared(&result, &reference);
    assert_eq!(only(&comparison).verdict, SignalVerdict::Outside);
    assert!((only(&comparison).share_outside - 0.06).abs() < 1e-9);
}

#[test]
fn a_spike_between_the_rows_of_the_reference_is_seen() {
    let reference = sampled(100, 1.0, |t| t);
    let mut time: Vec<f64> = vec![0.0, 0.5, 0.505, 0.51, 1.0];
    let result = table(std::mem::take(&mut time), vec![0.0, 0.5, 0.8, 0.51, 1.0]);
    let comparison = compared(&result, &reference);
    assert_eq!(comparison.verdict, Verdict::Different);
    assert!(only(&comparison).max_deviation > 0.28);
}

#[test]
fn a_pulse_that_the_result_has_not_is_seen() {
    // Shorter than the time band: the result lies between the smallest and largest value of the window everywhere.
    let reference = table(
        vec![0.0, 0.5, 0.5, 0.501, 0.501, 1.0],
        vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
    );
    let result = sampled(1000, 1.0, |_| 0.0);
    let comparison = compared(&result, &reference);
    assert_eq!(comparison.verdict, Verdict::Different);
    let signal = only(&comparison);
    assert!(
        (signal.share_outside - 0.001).abs() < 1e-9,
        "{}",
        signal.share_outside
    );
    assert_eq!(signal.max_deviation, 1.0);
    assert!((signal.first_outside.unwrap() - 0.5).abs() < 1e-9);
    // A pulse that comes a little late is there, both ways.
    let late = table(
        vec![0.0, 0.5005, 0.5005, 0.5015, 0.5015, 1.0],
        vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
    );
    assert!(compared(&late, &reference).is_match());
    assert!(compared(&reference, &late).is_match());
}

#[test]
fn missing_signals_are_named_and_no_signals_is_no_match() {
    let reference = sampled(10, 1.0, |t| t);
    let names = ["y".to_owned(), "z".to_owned()];
    let comparison = compare(&reference, &reference, &names, &TubeOptions::default());
    assert_eq!(comparison.verdict, Verdict::Different);
    assert_eq!(comparison.worst().unwrap().name, "z");
    assert_eq!(
        comparison.worst().unwrap().verdict,
        SignalVerdict::MissingInResult
    );
    let comparison = compare(&reference, &reference, &[], &TubeOptions::default());
    assert_eq!(comparison.verdict, Verdict::Nothing);
}

#[test]
fn an_allowed_share_outside_is_allowed() {
    let reference = sampled(1000, 1.0, |t| t);
    let result = sampled(1000, 1.0, |t| if t > 0.9801 { t + 0.1 } else { t });
    assert!(!compared(&result, &reference).is_match());
    let options = TubeOptions {
        allowed_outside: 0.05,
        ..TubeOptions::default()
    };
    assert!(compare_all(&result, &reference, &options).is_match());
}

/// The window's extremes against a plain search, on curves with steps and many rows.
#[test]
fn the_tube_equals_a_plain_search_over_the_window() {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    for _ in 0..50 {
        let mut time = vec![0.0];
        for _ in 0..60 {
            let step = if random() < 0.2 { 0.0 } else { random() };
            time.push(time[time.len() - 1] + step);
        }
        let y: Vec<f64> = time.iter().map(|_| random()).collect();
        let end = time[time.len() - 1];
        let reference = table(time.clone(), y.clone());
        let value = random() * 2.0 - 0.5;
        let result = table(vec![0.0, end], vec![value; 2]);
        let comparison = compared(&result, &reference);
        let signal = only(&comparison);
        let (dt, dy) = (comparison.time_tolerance, 0.002 * signal.scale);
        // Distance of the constant from the reference near t, by brute force.
        let deviation = |t: f64| {
            let mut low = f64::INFINITY;
            let mut high = f64::NEG_INFINITY;
            for i in 0..time.len() - 1 {
                let (a, b) = (time[i].max(t - dt), time[i + 1].min(t + dt));
                if a <= b {
                    for x in [a, b] {
                        let s = if time[i + 1] > time[i] {
                            (x - time[i]) / (time[i + 1] - time[i])
                        } else {
                            0.0
                        };
                        let v = y[i] + (y[i + 1] - y[i]) * s;
                        low = low.min(v);
                        high = high.max(v);
                    }
                    if time[i + 1] == time[i] {
                        low = low.min(y[i + 1]);
                        high = high.max(y[i + 1]);
                    }
                }
            }
            (value - high).max(low - value).max(0.0)
        };
        let n = 20_000;
        let outside = (0..n)
            .filter(|i| deviation(end * (f64::from(*i) + 0.5) / f64::from(n)) > dy)
            .count();
        let share = outside as f64 / f64::from(n);
        assert!(
            (share - signal.share_outside).abs() < 0.02,
            "{share} {}",
            signal.share_outside
        );
    }
}

#[test]
fn what_does_not_cover_the_reference_is_not_equal() {
    let reference = sampled(1000, 10.0, |t| t.sin());
    let generous = TubeOptions {
        allowed_outside: 0.5,
        ..TubeOptions::default()
    };
    let of = |t_end: f64| {
        let result = sampled(1000, t_end, |t| t.sin());
        compare_all(&result, &reference, &generous)
    };
    let whole = of(10.0);
    assert_eq!(whole.verdict, Verdict::Match);
    assert!(whole.coverage.is_whole());
    assert_eq!(
        (whole.coverage.share, whole.coverage.reference_signals),
        (1.0, 1)
    );
    // Every signal is inside for as long as was asked for, but the rest is not there.
    for (t_end, share) in [(9.99, 0.999), (8.0, 0.8)] {
        let part = of(t_end);
        assert_eq!(part.verdict, Verdict::Different, "{t_end}");
        assert_eq!(only(&part).verdict, SignalVerdict::Match);
        assert_eq!(part.coverage.covered, Some((0.0, t_end)));
        assert!((part.coverage.share - share).abs() < 1e-12);
    }
    // Rounding of times in a text.
    assert_eq!(of(9.999_999).verdict, Verdict::Match);
    // The beginning is missing, or all.
    let late = |from: f64| {
        let shifted = sampled(100, 1.0, |_| 0.0);
        let mut result = ResultTable::new(shifted.time().iter().map(|t| from + t).collect());
        let y = result.time().iter().map(|t| t.sin()).collect();
        result.push_column("y", y).unwrap();
        compare_all(&result, &reference, &generous)
    };
    assert_eq!(late(4.0).coverage.covered, Some((4.0, 5.0)));
    assert_eq!(late(20.0).coverage.covered, None);
    assert_eq!(late(-5.0).coverage.covered, None);
    assert!(!late(20.0).is_match() && !late(-5.0).is_match());
}

/// Curves with steps, different rows in both files, some outside of the tube.
fn curves(seed: u64, n: usize, error: f64) -> ResultTable {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut time = vec![0.0];
    while *time.last().unwrap() < 10.0 {
        let last = *time.last().unwrap();
        let next = last + 20.0 * random() / n as f64;
        // Both sides of an event at each quarter.
        let event = (4.0 * last).floor() / 4.0 + 0.25;
        if next >= event {
            time.extend([event, event]);
        } else {
            time.push(next);
        }
    }
    let mut table = ResultTable::new(time);
    for k in 0..5 {
        let f = |i: usize| {
            let t = table.time()[i];
            let is_right = i > 0 && table.time()[i - 1] == t;
            let step = ((4.0 * t).floor()
                - f64::from(u8::from(!is_right && (4.0 * t).fract() == 0.0)))
                % 3.0;
            let wrong = if (3.0..3.0 + f64::from(k) * 0.4).contains(&t) {
                error
            } else {
                0.0
            };
            (t * f64::from(k + 1)).sin() + 0.3 * step + wrong
        };
        let y = (0..table.n_rows()).map(f).collect();
        table.push_column(format!("y{k}"), y).unwrap();
    }
    table
}

#[test]
fn files_larger_than_memory_compare_like_tables() {
    let file = |table: &ResultTable| {
        let mut bytes = Vec::new();
        write_mat(table, &mut bytes).unwrap();
        ResultReader::open("r.mat", Cursor::new(bytes)).unwrap()
    };
    for (seed, error, n, m) in [
        (1, 0.0, 9000, 30_000),
        (2, 0.1, 30_000, 9000),
        (3, 1.0, 12_000, 11_000),
    ] {
        let (result, reference) = (curves(seed, n, error), curves(seed + 10, m, 0.0));
        let options = TubeOptions::default();
        let whole = compare_all(&result, &reference, &options);
        // Slices of the smallest size: 1000 rows.
        let parts =
            compare_files(&mut file(&result), &mut file(&reference), None, &options, 1).unwrap();
        assert_eq!(parts.verdict, whole.verdict);
        assert_eq!(parts.coverage, whole.coverage);
        assert_eq!(parts.time_tolerance, whole.time_tolerance);
        for (a, b) in parts.signals.iter().zip(&whole.signals) {
            assert_eq!((&a.name, a.verdict, a.scale), (&b.name, b.verdict, b.scale));
            assert!(
                (a.share_outside - b.share_outside).abs() < 1e-6,
                "{a:?} {b:?}"
            );
            assert!(
                (a.max_deviation - b.max_deviation).abs() < 1e-9,
                "{a:?} {b:?}"
            );
            assert_eq!(a.first_outside.is_some(), b.first_outside.is_some());
        }
        let enough = compare_files(
            &mut file(&result),
            &mut file(&reference),
            None,
            &options,
            1 << 30,
        );
        assert_eq!(enough.unwrap(), whole);
    }
}
