//! Cancelling, deadlines and progress of long work, in one value that all stages look at.
//!
//! Comes in: a [`Control`], from whoever asked for the work. A run over time asks it at every step ([`Control::stop`]). The compiler has no loop over time: its
//! passes call [`checkpoint`] where they may be long, which looks at the control of the thread and, when the work is to end, unwinds the stack up to [`within`].
//! Nothing is left half done that somebody else could see: the compiler's passes own what they work on.
//!
//! The clock is that of the computer, unless another one is given.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Why work ends before it is done.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stop {
    /// Somebody asked for it.
    Cancelled,
    /// The time that it was given is over; how long it was, in seconds.
    Deadline { seconds: f64 },
}

/// Seconds from any fixed instant; they only ever grow.
pub type Clock = Arc<dyn Fn() -> f64 + Send + Sync>;

/// Ends work from outside: from another thread, or when its time is over. A clone is the same control.
///
/// ```
/// use saltus_control::{Control, Stop};
///
/// let control = Control::new();
/// let for_the_work = control.clone();
/// assert_eq!(for_the_work.stop(), None);
/// control.cancel();
/// assert_eq!(for_the_work.stop(), Some(Stop::Cancelled));
/// ```
#[derive(Clone, Default)]
pub struct Control {
    /// `None`: the work is never ended from outside.
    shared: Option<Arc<Shared>>,
}

struct Shared {
    cancelled: AtomicBool,
    /// Set by somebody who cannot reach `cancelled`: the handler of a signal.
    watched: Option<&'static AtomicBool>,
    asked: Option<Asked>,
    clock: Option<Clock>,
    /// Bits of the clock's seconds when time is over, and of the seconds that were given; not a number: no deadline.
    deadline: AtomicU64,
    allowed: AtomicU64,
    stage: AtomicUsize,
    /// Bits of the share of the stage that is done; not a number: unknown.
    share: AtomicU64,
}

/// A stage of the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Texts are read and parsed when names are looked up, so that this one and the next go together.
    Flatten,
    Structure,
    Code,
    Initialise,
    Run,
}

impl Stage {
    const ALL: [Stage; 5] = [
        Stage::Flatten,
        Stage::Structure,
        Stage::Code,
        Stage::Initialise,
        Stage::Run,
    ];
}

/// How far work has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    pub stage: Stage,
    /// From 0 to 1; `None` where nobody knows.
    pub share: Option<f64>,
}

/// Somebody who is asked by the thread that works whether the work is to end.
struct Asked {
    ask: Box<dyn Fn() -> bool + Send + Sync>,
    /// Bits of the clock's seconds of the next question.
    next: AtomicU64,
}

/// Seconds between two questions: many in the half second in which a person expects an answer.
const ASK_SECONDS: f64 = 0.05;

impl Control {
    /// With the clock of the computer, where it has one.
    pub fn new() -> Control {
        Control::made(computer_clock(), None, None)
    }

    /// With another clock.
    pub fn with_clock(clock: Clock) -> Control {
        Control::made(Some(clock), None, None)
    }

    /// The work also ends when this is true.
    pub fn watching(flag: &'static AtomicBool) -> Control {
        Control::made(computer_clock(), Some(flag), None)
    }

    /// The work also ends when `ask` says so. The thread that works asks, about twenty times a second, so that interpreters can look at their signals there.
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Control {
        let asked = Asked {
            ask: Box::new(ask),
            next: AtomicU64::new(ASK_SECONDS.to_bits()),
        };
        Control::made(computer_clock(), None, Some(asked))
    }

    fn made(
        clock: Option<Clock>,
        watched: Option<&'static AtomicBool>,
        asked: Option<Asked>,
    ) -> Control {
        Control {
            shared: Some(Arc::new(Shared {
                cancelled: AtomicBool::new(false),
                watched,
                asked,
                clock,
                deadline: AtomicU64::new(f64::NAN.to_bits()),
                allowed: AtomicU64::new(f64::NAN.to_bits()),
                stage: AtomicUsize::new(Stage::ALL.len()),
                share: AtomicU64::new(f64::NAN.to_bits()),
            })),
        }
    }

    /// Ends the work as soon as it looks.
    pub fn cancel(&self) {
        if let Some(shared) = &self.shared {
            shared.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// The work has so many seconds from now on. Without a clock nothing happens.
    pub fn limit(&self, seconds: f64) {
        if let (Some(shared), Some(now)) = (&self.shared, self.seconds()) {
            (shared.allowed).store(seconds.to_bits(), Ordering::Relaxed);
            (shared.deadline).store((now + seconds).to_bits(), Ordering::Relaxed);
        }
    }

    /// Called by the work: which stage it is in, and what share of it is done. Where several threads work, the last one counts.
    #[inline]
    pub fn report(&self, stage: Stage, share: Option<f64>) {
        if let Some(shared) = &self.shared {
            let share = share.unwrap_or(f64::NAN);
            (shared.stage).store(stage as usize, Ordering::Relaxed);
            (shared.share).store(share.to_bits(), Ordering::Relaxed);
        }
    }

    /// How far the work has come; `None` before it begins.
    pub fn progress(&self) -> Option<Progress> {
        let shared = self.shared.as_ref()?;
        let stage = *Stage::ALL.get(shared.stage.load(Ordering::Relaxed))?;
        let share = f64::from_bits(shared.share.load(Ordering::Relaxed));
        Some(Progress {
            stage,
            share: (!share.is_nan()).then_some(share),
        })
    }

    /// Seconds on the clock, if there is one.
    pub fn seconds(&self) -> Option<f64> {
        let clock = self.shared.as_ref()?.clock.as_ref()?;
        Some(clock())
    }

    /// Whether somebody has asked for the end. Costs no look at the clock.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| {
            shared.cancelled.load(Ordering::Relaxed)
                || (shared.watched).is_some_and(|flag| flag.load(Ordering::Relaxed))
        })
    }

    /// Why the work is to end, if it is.
    pub fn stop(&self) -> Option<Stop> {
        if self.is_cancelled() {
            return Some(Stop::Cancelled);
        }
        let shared = self.shared.as_ref()?;
        if let (Some(asked), Some(now)) = (&shared.asked, self.seconds())
            && now >= f64::from_bits(asked.next.load(Ordering::Relaxed))
        {
            (asked.next).store((now + ASK_SECONDS).to_bits(), Ordering::Relaxed);
            if (asked.ask)() {
                self.cancel();
                return Some(Stop::Cancelled);
            }
        }
        let deadline = f64::from_bits(shared.deadline.load(Ordering::Relaxed));
        if deadline.is_nan() || self.seconds()? <= deadline {
            return None;
        }
        Some(Stop::Deadline {
            seconds: f64::from_bits(shared.allowed.load(Ordering::Relaxed)),
        })
    }
}

/// `None` in a browser.
fn computer_clock() -> Option<Clock> {
    if cfg!(target_family = "wasm") {
        return None;
    }
    let start = Instant::now();
    Some(Arc::new(move || start.elapsed().as_secs_f64()))
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Control({:?})", self.stop())
    }
}

/// The control is asked at every so many calls of [`checkpoint`].
const CALLS_BETWEEN: u32 = 64;

thread_local! {
    static CURRENT: RefCell<Control> = RefCell::default();
    /// Calls until the control is asked; none while there is no work under control.
    static CALLS: Cell<u32> = const { Cell::new(u32::MAX) };
}

/// What unwinds.
struct Stopped(Stop);

/// Does work that calls [`checkpoint`]; the reason if it was ended there.
pub fn within<T>(control: &Control, work: impl FnOnce() -> T) -> Result<T, Stop> {
    if control.shared.is_none() {
        return Ok(work());
    }
    if let Some(stop) = control.stop() {
        return Err(stop);
    }
    let outer = CURRENT.replace(control.clone());
    let calls = CALLS.replace(CALLS_BETWEEN);
    // What the work owns is dropped with it, and what it shares is behind locks that are not poisoned by readers.
    let result = catch_unwind(AssertUnwindSafe(work));
    CURRENT.set(outer);
    CALLS.set(calls);
    match result {
        Ok(done) => Ok(done),
        Err(panic) => match panic.downcast::<Stopped>() {
            Ok(stopped) => Err(stopped.0),
            Err(panic) => resume_unwind(panic),
        },
    }
}

/// Until it is dropped, the work of this thread is under a control.
pub struct Entered(Control);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(std::mem::take(&mut self.0));
    }
}

/// Work that asks the control itself, and is never unwound: parts of it may be done [`within`] the control of the thread ([`current`]).
#[must_use]
pub fn enter(control: &Control) -> Entered {
    Entered(CURRENT.replace(control.clone()))
}

/// The control of the work that this thread does, for threads that help it.
pub fn current() -> Control {
    CURRENT.with_borrow(Control::clone)
}

/// A place where long work may be ended. Costs a nanosecond.
#[inline]
pub fn checkpoint() {
    let calls = CALLS.get();
    if calls == u32::MAX {
        return;
    }
    match calls.checked_sub(1) {
        Some(left) => CALLS.set(left),
        None => ask(),
    }
}

#[cold]
fn ask() {
    CALLS.set(CALLS_BETWEEN);
    if let Some(stop) = CURRENT.with_borrow(Control::stop) {
        // Not `panic!`: nobody made a mistake, and no message is printed.
        resume_unwind(Box::new(Stopped(stop)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_work() -> u32 {
        let mut n = 0;
        for _ in 0..1000 {
            checkpoint();
            n += 1;
        }
        n
    }

    #[test]
    fn work_without_a_control_is_never_ended() {
        assert_eq!(long_work(), 1000);
        assert_eq!(within(&Control::default(), long_work), Ok(1000));
    }

    #[test]
    fn cancelled_work_ends_at_a_checkpoint_and_the_next_is_free() {
        let control = Control::new();
        let inner = control.clone();
        let result = within(&control, move || {
            inner.cancel();
            long_work()
        });
        assert_eq!(result, Err(Stop::Cancelled));
        assert_eq!(within(&Control::new(), long_work), Ok(1000));
    }

    #[test]
    fn a_deadline_ends_work_by_the_clock_that_was_given() {
        let ticks = Arc::new(AtomicU64::new(0));
        let clock = move || ticks.fetch_add(1, Ordering::Relaxed) as f64;
        let control = Control::with_clock(Arc::new(clock));
        control.limit(5.0);
        assert_eq!(
            within(&control, long_work),
            Err(Stop::Deadline { seconds: 5.0 })
        );
    }

    #[test]
    fn who_is_asked_ends_the_work_and_is_not_asked_at_every_call() {
        let asked = Arc::new(AtomicU64::new(0));
        let count = asked.clone();
        let control = Control::asking(move || count.fetch_add(1, Ordering::Relaxed) >= 2);
        let start = Instant::now();
        while control.stop().is_none() {
            assert!(start.elapsed().as_secs_f64() < 10.0, "nobody was asked");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 3);
        assert!(start.elapsed().as_secs_f64() >= 3.0 * ASK_SECONDS);
        assert!(control.is_cancelled());
    }

    #[test]
    fn a_panic_of_the_work_goes_on() {
        let control = Control::new();
        let caught = catch_unwind(AssertUnwindSafe(|| within(&control, || panic!("a bug"))));
        assert!(caught.is_err());
    }
}
