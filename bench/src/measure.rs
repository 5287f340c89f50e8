//! Interleaved timing of programs that do the same work.
//!
//! Comes in: closures. Goes out: the median seconds of each over the same number of rounds. In every round each program runs once
//! after the other, so that a slow spell of the machine hits all of them; the ratio of medians is what counts, not the seconds. Seconds
//! are those of the processor given to this thread, so that other programs on the machine do not count.

use std::time::Instant;

/// Fewest and most rounds.
const ROUNDS_MIN: usize = 7;
const ROUNDS_MAX: usize = 201;
/// Rounds go on until so many seconds are spent …
const SECONDS: f64 = 2.0;
/// … and no longer than this: what takes minutes is measured once, the first run included.
const SECONDS_MAX: f64 = 5.0;

/// Median seconds of each program.
pub(crate) fn interleaved(programs: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut round = || -> Vec<f64> { programs.iter_mut().map(|program| timed(program)).collect() };
    let begin = Instant::now();
    let first = round();
    if begin.elapsed().as_secs_f64() > SECONDS_MAX {
        return first;
    }
    // The first one filled caches and branch predictors.
    let begin = Instant::now();
    let mut rounds = vec![round()];
    while rounds.len() < ROUNDS_MAX {
        let spent = begin.elapsed().as_secs_f64();
        if spent > SECONDS_MAX || rounds.len() >= ROUNDS_MIN && spent > SECONDS {
            break;
        }
        rounds.push(round());
    }
    let of = |program: usize| median(rounds.iter().map(|round| round[program]).collect());
    (0..first.len()).map(of).collect()
}

fn timed(program: &mut dyn FnMut()) -> f64 {
    let start = thread_seconds();
    program();
    thread_seconds() - start
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Processor time of this thread.
#[cfg(unix)]
pub(crate) fn thread_seconds() -> f64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one `timespec`, which outlives it.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    assert_eq!(status, 0, "the system has a clock for threads");
    now.tv_sec as f64 + 1e-9 * now.tv_nsec as f64
}

/// Time since the first call, where the system has no clock for threads.
#[cfg(not(unix))]
pub(crate) fn thread_seconds() -> f64 {
    use std::sync::OnceLock;
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64()
}
