//! The C types of FMI 2.0.4 and 3.0.2 that callers and FMUs share. Names follow the headers of the standard.

use std::ffi::{c_char, c_int, c_void};

/// `fmi2Status` and `fmi3Status`, whose first five values agree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(i32)]
pub enum Status {
    Ok = 0,
    Warning = 1,
    Discard = 2,
    Error = 3,
    Fatal = 4,
}

impl Status {
    /// Of a number that a foreign library returned. Pending steps are not asked for, and count as an error.
    pub fn from_number(number: c_int) -> Status {
        match number {
            0 => Status::Ok,
            1 => Status::Warning,
            2 => Status::Discard,
            3 => Status::Error,
            4 => Status::Fatal,
            _ => Status::Error,
        }
    }
}

/// The last argument is `...`.
pub type Fmi2Logger = unsafe extern "C" fn(
    environment: *mut c_void,
    instance: *const c_char,
    status: c_int,
    category: *const c_char,
    message: *const c_char,
    ...
);

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Fmi2Callbacks {
    pub logger: Option<Fmi2Logger>,
    pub allocate_memory: Option<unsafe extern "C" fn(usize, usize) -> *mut c_void>,
    pub free_memory: Option<unsafe extern "C" fn(*mut c_void)>,
    pub step_finished: Option<unsafe extern "C" fn(*mut c_void, c_int)>,
    pub environment: *mut c_void,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Fmi2EventInfo {
    pub new_discrete_states_needed: c_int,
    pub terminate_simulation: c_int,
    pub nominals_changed: c_int,
    pub values_changed: c_int,
    pub next_event_time_defined: c_int,
    pub next_event_time: f64,
}

pub const FMI2_MODEL_EXCHANGE: c_int = 0;
pub const FMI2_CO_SIMULATION: c_int = 1;

pub type Fmi3LogMessage = unsafe extern "C" fn(
    environment: *mut c_void,
    status: c_int,
    category: *const c_char,
    message: *const c_char,
);

/// Arguments: environment, time, may inputs be set, may variables be read, is a step finished, can the step end early; out: shall it, and when.
pub type Fmi3IntermediateUpdate =
    unsafe extern "C" fn(*mut c_void, f64, bool, bool, bool, bool, *mut bool, *mut f64);
