//! What happens when the memory of the machine does not suffice.
//!
//! Operating systems promise more memory than there is and kill the program that asks for the last page, without a word. So the address space is
//! limited to what the machine has, before anything is read, and an allocation that fails then ends the program with a message and the
//! exit code of a run that could not be completed. Result files are written row by row: what was computed can be read.

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, with a message for its failure.
pub(crate) struct Allocator;

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
         help: arrays or the number of components may be larger than meant; look at their sizes with `saltus check`, write fewer variables with `--variables`, or raise the limit (`ulimit -v`, `--memory` of `saltus test`)\n";
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

/// Limits the address space to memory and swap of the machine, unless a smaller limit is there already.
#[cfg(target_os = "linux")]
pub(crate) fn limit() {
    // SAFETY: the structures are plain numbers, filled by the calls that get them.
    unsafe {
        let mut info: libc::sysinfo = std::mem::zeroed();
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::sysinfo(&mut info) != 0 || libc::getrlimit(libc::RLIMIT_AS, &mut limit) != 0 {
            return;
        }
        let unit = u64::from(info.mem_unit);
        let there = (info.totalram as u64 + info.totalswap as u64) * unit;
        if limit.rlim_cur > there {
            limit.rlim_cur = there;
            libc::setrlimit(libc::RLIMIT_AS, &limit);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn limit() {}
