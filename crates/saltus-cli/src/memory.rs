//! What happens when the memory of the machine does not suffice.
//!
//! Operating systems promise more memory than there is and kill the program that asks for the last page, without a word. So the address space is
//! limited to what the machine has, before anything is read, and an allocation that fails then ends the program with a message and the
//! exit code of a run that could not be completed. Result files are written row by row: what was computed can be read.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with a message for its failure.
pub struct Allocator;

// SAFETY: all calls go to the system's allocator as they are; where it fails the program ends.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        checked(unsafe { System.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`.
        checked(unsafe { System.realloc(at, layout, size) })
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(at, layout) }
    }
}

#[inline]
fn checked(at: *mut u8) -> *mut u8 {
    if at.is_null() {
        exhausted();
    }
    at
}

/// Ends the program without asking for memory.
#[cold]
fn exhausted() -> ! {
    const MESSAGE: &str = "error[out-of-memory]: the memory of this machine does not suffice for this model\n\
         help: arrays or the number of components may be larger than meant; look at their sizes with `saltus check`, write fewer variables with `--variables`, or raise the limit (`--max-memory`, `ulimit -v`, `--memory` of `saltus test`)\n";
    #[cfg(unix)]
    // SAFETY: `write` and `_exit` are called with a text that lives for ever and allocate nothing.
    unsafe {
        libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
        libc::_exit(crate::exit::Exit::Incomplete as i32);
    }
    #[cfg(not(unix))]
    {
        let _ = MESSAGE;
        std::process::abort()
    }
}

/// Share of the memory that a command which only compiles may take: the machine stays usable.
const COMPILING_SHARE: f64 = 0.9;

/// Limits the address space to memory and swap of the machine, unless a smaller limit is there already.
pub(crate) fn limit() {
    if let Some(machine) = machine() {
        lower_to(machine.memory + machine.swap);
    }
}

/// Limits the address space to so many megabytes, or to a large share of the machine's memory.
pub(crate) fn limit_to(megabytes: Option<u64>) {
    match (megabytes, machine()) {
        (Some(megabytes), _) => lower_to(megabytes.saturating_mul(1 << 20)),
        (None, Some(machine)) => lower_to((COMPILING_SHARE * machine.memory as f64) as u64),
        (None, None) => {}
    }
}

/// What the machine has, in bytes.
struct Machine {
    memory: u64,
    swap: u64,
}

#[cfg(target_os = "linux")]
fn machine() -> Option<Machine> {
    // SAFETY: the structure is plain numbers, filled by the call.
    let info = unsafe {
        let mut info: libc::sysinfo = std::mem::zeroed();
        (libc::sysinfo(&mut info) == 0).then_some(info)
    }?;
    let unit = u64::from(info.mem_unit);
    Some(Machine {
        memory: info.totalram as u64 * unit,
        swap: info.totalswap as u64 * unit,
    })
}

#[cfg(target_os = "linux")]
fn lower_to(bytes: u64) {
    // SAFETY: the structure is plain numbers, filled by the call that gets it.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_AS, &mut limit) == 0 && limit.rlim_cur > bytes {
            limit.rlim_cur = bytes;
            libc::setrlimit(libc::RLIMIT_AS, &limit);
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn machine() -> Option<Machine> {
    None
}

#[cfg(not(target_os = "linux"))]
fn lower_to(_bytes: u64) {}
