//! Ctrl-C, and the polite request to end (SIGTERM): the run ends at its next step and what was computed stays. The second one ends the
//! program at once.

use std::sync::atomic::AtomicBool;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Whether the end was asked for.
pub(crate) fn requested() -> &'static AtomicBool {
    &REQUESTED
}

/// Ends work when the end was asked for.
pub(crate) fn control() -> saltus::Control {
    saltus::Control::watching(&REQUESTED)
}

/// From now on requests are noted. Before, they end the program, which has nothing to lose yet.
#[cfg(unix)]
pub(crate) fn listen() {
    use std::sync::atomic::Ordering;

    extern "C" fn note(signal: libc::c_int) {
        REQUESTED.store(true, Ordering::Relaxed);
        // SAFETY: `signal` may be called in a signal handler (POSIX 2.4.3), and SIG_DFL is a valid action.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }

    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic and calls `signal`, both of which a handler may do.
        unsafe { libc::signal(signal, note as *const () as libc::sighandler_t) };
    }
    // A limit on the size of files is an error of the write, not the end of the program.
    // SAFETY: SIG_IGN is a valid action.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

#[cfg(not(unix))]
pub(crate) fn listen() {}
