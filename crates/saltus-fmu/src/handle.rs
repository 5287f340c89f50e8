//! The border to C: pointers become references here, panics and errors a status, messages calls of the caller's function.
//!
//! A caller promises by the standard: an instance is used by one thread at a time and not after it was freed; arrays are as long as the count beside them;
//! strings end with a zero byte. What these functions do with pointers relies on that and on nothing else.

use crate::component::{Answer, Component, Refused};
use saltus_fmi::abi::{Fmi2Logger, Fmi3LogMessage, Status};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What an `fmi2Component` or `fmi3Instance` points to.
pub(crate) struct Handle {
    pub(crate) component: Component,
    log: Log,
    /// Texts that the caller was given; they live until the next call.
    texts: Vec<CString>,
}

/// Where messages go.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) sink: Sink,
    pub(crate) environment: *mut c_void,
    pub(crate) instance: CString,
    pub(crate) is_on: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Sink {
    None,
    Fmi2(Fmi2Logger),
    Fmi3(Fmi3LogMessage),
}

impl Log {
    fn send(&self, status: Status, category: &CStr, message: &str) {
        let Ok(message) = CString::new(message.replace('\0', " ")) else {
            return;
        };
        let (status, message) = (status as c_int, message.as_ptr());
        // SAFETY: the caller has given the function and its environment for the life of the instance; all texts end with a zero byte. The format `%s` keeps
        // percent signs of the message from being read as a format.
        unsafe {
            match self.sink {
                Sink::None => {}
                Sink::Fmi2(logger) => logger(
                    self.environment,
                    self.instance.as_ptr(),
                    status,
                    category.as_ptr(),
                    c"%s".as_ptr(),
                    message,
                ),
                Sink::Fmi3(log) => log(self.environment, status, category.as_ptr(), message),
            }
        }
    }

    pub(crate) fn error(&self, status: Status, message: &str) {
        let category = match status {
            Status::Discard => c"logStatusDiscard",
            _ => c"logStatusError",
        };
        self.send(status, category, message);
    }

    fn warning(&self, message: &str) {
        if self.is_on {
            self.send(Status::Warning, c"logStatusWarning", message);
        }
    }
}

impl Handle {
    pub(crate) fn hand_out(component: Component, log: Log) -> *mut c_void {
        Box::into_raw(Box::new(Handle {
            component,
            log,
            texts: Vec::new(),
        }))
        .cast()
    }

    /// The instance is gone.
    pub(crate) fn free(instance: *mut c_void) {
        if instance.is_null() {
            return;
        }
        // SAFETY: it comes from `hand_out`, and is freed once.
        let handle = unsafe { Box::from_raw(instance.cast::<Handle>()) };
        // A panic of a destructor must not reach the caller.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }

    pub(crate) fn set_logging(&mut self, on: bool) {
        self.log.is_on = on;
    }

    /// A text that lives until the next text is asked for.
    pub(crate) fn keep_text(&mut self, text: &str) -> *const c_char {
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        let pointer = text.as_ptr();
        self.texts.push(text);
        pointer
    }

    pub(crate) fn drop_texts(&mut self) {
        self.texts.clear();
    }
}

/// Does something with an instance: errors and panics become a status and a message.
pub(crate) fn with(instance: *mut c_void, act: impl FnOnce(&mut Handle) -> Answer<()>) -> c_int {
    if instance.is_null() {
        return Status::Error as c_int;
    }
    // SAFETY: it comes from `Handle::hand_out`, and nobody else uses it during this call.
    let handle = unsafe { &mut *instance.cast::<Handle>() };
    let done = catch_unwind(AssertUnwindSafe(|| {
        let done = act(handle);
        (done, handle.component.messages())
    }));
    let log = handle.log.clone();
    let (status, message) = match done {
        Ok((done, messages)) => {
            for message in messages {
                log.warning(&message);
            }
            match done {
                Ok(()) => return Status::Ok as c_int,
                Err(Refused { status, message }) => (status, message),
            }
        }
        Err(panic) => (Status::Fatal, panic_text(&*panic)),
    };
    // The borrow of the instance has ended: the function may call back.
    log.error(status, &message);
    status as c_int
}

/// The text of a panic: a bug of Saltus.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = (panic.downcast_ref::<&str>().copied())
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "a bug in Saltus {}: {}",
        saltus::VERSION,
        text.unwrap_or("a panic")
    )
}

/// The array of a caller.
///
/// # Safety
/// It has `n` elements, if it has any.
pub(crate) unsafe fn array<'a, T>(pointer: *const T, n: usize) -> &'a [T] {
    match n == 0 || pointer.is_null() {
        true => &[],
        // SAFETY: as promised.
        false => unsafe { std::slice::from_raw_parts(pointer, n) },
    }
}

/// The same, to be written.
///
/// # Safety
/// It has `n` elements, if it has any.
pub(crate) unsafe fn array_mut<'a, T>(pointer: *mut T, n: usize) -> &'a mut [T] {
    match n == 0 || pointer.is_null() {
        true => &mut [],
        // SAFETY: as promised.
        false => unsafe { std::slice::from_raw_parts_mut(pointer, n) },
    }
}

/// Writes a result of a function, if the caller wants it.
///
/// # Safety
/// The pointer is null or valid.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        // SAFETY: as promised.
        unsafe { pointer.write(value) }
    }
}

/// A text of a caller.
///
/// # Safety
/// The pointer is null or a text that ends with a zero byte.
pub(crate) unsafe fn text(pointer: *const c_char) -> String {
    match pointer.is_null() {
        true => String::new(),
        // SAFETY: as promised.
        false => unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned(),
    }
}
