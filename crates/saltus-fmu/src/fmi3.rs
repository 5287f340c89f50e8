//! The functions of FMI 3.0.2 (`fmi3Functions.h`). What this FMU does not have (clocks, binary variables, scheduled execution) is there and refuses.
//!
//! # Safety
//! All of them: see [`crate::handle`].
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "names and contracts are those of the standard"
)]

pub mod step;
pub mod values;

pub(crate) use step::Manners;

use crate::component::{Component, Phase, Refused, Setup};
use crate::fmi2::not_provided;
use crate::handle::{Handle, Log, Sink, array, array_mut, panic_text, put, text, with};
use crate::loaded;
use crate::snapshot::Snapshot;
use saltus_fmi::abi::{Fmi3IntermediateUpdate, Fmi3LogMessage, Status};
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::catch_unwind;
use std::path::PathBuf;

pub(crate) type Instance = *mut c_void;
pub(crate) type References = *const u32;

#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(
    c: Instance,
    on: bool,
    _n_categories: usize,
    _categories: *const *const c_char,
) -> c_int {
    with(c, |handle| {
        handle.set_logging(on);
        Ok(())
    })
}

/// What all kinds of instances are given.
struct Given {
    name: String,
    token: String,
    resources: String,
    log: Log,
}

impl Given {
    /// # Safety
    /// Texts are texts or null.
    unsafe fn new(
        texts: [*const c_char; 3],
        logging: bool,
        environment: *mut c_void,
        log: Option<Fmi3LogMessage>,
    ) -> Given {
        // SAFETY: as promised.
        let [name, token, resources] = texts.map(|t| unsafe { text(t) });
        Given {
            log: Log {
                sink: log.map_or(Sink::None, Sink::Fmi3),
                environment,
                instance: CString::new(name.clone()).unwrap_or_default(),
                is_on: logging,
            },
            name,
            token,
            resources,
        }
    }

    fn instantiate(self, manners: Manners) -> Instance {
        let Given {
            name,
            token,
            resources,
            log,
        } = self;
        let made = catch_unwind(|| {
            let loaded = loaded::load(&PathBuf::from(resources))?;
            match token == loaded.token {
                true => {
                    let mut component = Component::new(loaded);
                    component.manners = manners;
                    Ok(component)
                }
                false => Err(format!(
                    "the instantiation token {token} is not the one of this FMU, {}: description and model are not of the same export",
                    loaded.token
                )),
            }
        });
        let why = match made {
            Ok(Ok(component)) => return Handle::hand_out(component, log),
            Ok(Err(why)) => why,
            Err(panic) => panic_text(&*panic),
        };
        log.error(Status::Error, &format!("{name}: {why}"));
        std::ptr::null_mut()
    }

    fn refuse(&self, why: &str) -> Instance {
        self.log.error(Status::Error, why);
        std::ptr::null_mut()
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    logging: bool,
    environment: *mut c_void,
    log: Option<Fmi3LogMessage>,
) -> Instance {
    // SAFETY: texts as the standard promises, here and below.
    let given = unsafe { Given::new([name, token, resources], logging, environment, log) };
    given.refuse("this FMU is for co-simulation only")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    logging: bool,
    event_mode: bool,
    early_return: bool,
    _intermediate: References,
    _n_intermediate: usize,
    environment: *mut c_void,
    log: Option<Fmi3LogMessage>,
    update: Option<Fmi3IntermediateUpdate>,
) -> Instance {
    // SAFETY: see above.
    let given = unsafe { Given::new([name, token, resources], logging, environment, log) };
    let manners = Manners {
        event_mode,
        early_return,
        update,
        environment,
    };
    given.instantiate(manners)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    logging: bool,
    environment: *mut c_void,
    log: Option<Fmi3LogMessage>,
    _clock_update: *const c_void,
    _lock: *const c_void,
    _unlock: *const c_void,
) -> Instance {
    // SAFETY: see above.
    let given = unsafe { Given::new([name, token, resources], logging, environment, log) };
    given.refuse("this FMU is not for scheduled execution")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(c: Instance) {
    Handle::free(c);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    c: Instance,
    tolerance_defined: bool,
    tolerance: f64,
    start: f64,
    stop_defined: bool,
    stop: f64,
) -> c_int {
    with(c, |handle| {
        handle.component.enter_initialisation(Setup {
            start: Some(start),
            stop: stop_defined.then_some(stop),
            tolerance: tolerance_defined.then_some(tolerance),
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(c: Instance) -> c_int {
    with(c, |handle| {
        let next = match handle.component.manners.event_mode {
            true => Phase::Event,
            false => Phase::Stepping,
        };
        handle.component.exit_initialisation(next)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterConfigurationMode(c: Instance) -> c_int {
    with(c, |_| {
        Err(not_provided(
            "a configuration mode: it has no structural parameters",
        ))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitConfigurationMode(c: Instance) -> c_int {
    with(c, |_| {
        Err(not_provided(
            "a configuration mode: it has no structural parameters",
        ))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(c: Instance) -> c_int {
    with(c, |handle| {
        handle.component.phase = Phase::Terminated;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(c: Instance) -> c_int {
    with(c, |handle| {
        handle.component.reset();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(c: Instance, state: *mut *mut c_void) -> c_int {
    with(c, |handle| {
        let snapshot = Box::new(Snapshot::of(&handle.component)?);
        // SAFETY: the pointer is that of the caller; an older state in it is given up.
        unsafe {
            free_state(state);
            put(state, Box::into_raw(snapshot).cast());
        }
        Ok(())
    })
}

/// # Safety
/// It is null, or points to null or to a state of this library that was not freed.
unsafe fn free_state(state: *mut *mut c_void) {
    // SAFETY: as promised.
    unsafe {
        if let Some(old) = state.as_mut()
            && !old.is_null()
        {
            drop(Box::from_raw(old.cast::<Snapshot>()));
            *old = std::ptr::null_mut();
        }
    }
}

fn snapshot<'a>(state: *mut c_void) -> Result<&'a Snapshot, Refused> {
    // SAFETY: a state of a caller is one that `fmi3GetFMUState` has made and that was not freed.
    unsafe { state.cast::<Snapshot>().as_ref() }
        .ok_or_else(|| Refused::from("the state is missing".to_owned()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFMUState(c: Instance, state: *mut c_void) -> c_int {
    with(c, |handle| snapshot(state)?.restore(&mut handle.component))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(c: Instance, state: *mut *mut c_void) -> c_int {
    with(c, |_| {
        // SAFETY: see `free_state`.
        unsafe { free_state(state) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(
    c: Instance,
    state: *mut c_void,
    size: *mut usize,
) -> c_int {
    with(c, |_| {
        let bytes = snapshot(state)?.to_bytes()?;
        // SAFETY: the pointer is that of the caller.
        unsafe { put(size, bytes.len()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(
    c: Instance,
    state: *mut c_void,
    out: *mut u8,
    size: usize,
) -> c_int {
    with(c, |_| {
        let bytes = snapshot(state)?.to_bytes()?;
        if bytes.len() > size {
            return Err(Refused::from(format!(
                "the state has {} bytes, and there is room for {size}",
                bytes.len()
            )));
        }
        // SAFETY: the array has `size` elements.
        let out = unsafe { array_mut(out, size) };
        out[..bytes.len()].copy_from_slice(&bytes);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DeserializeFMUState(
    c: Instance,
    bytes: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> c_int {
    with(c, |_| {
        // SAFETY: the array has `size` elements; the pointer is that of the caller.
        unsafe {
            let snapshot = Snapshot::from_bytes(array(bytes, size))?;
            put(state, Box::into_raw(Box::new(snapshot)).cast());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfVariableDependencies(
    c: Instance,
    _reference: u32,
    _n: *mut usize,
) -> c_int {
    with(c, |_| Err(not_provided("dependencies of array elements")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetVariableDependencies(
    c: Instance,
    _dependent: u32,
    _elements: *mut usize,
    _independents: *mut u32,
    _of_independents: *mut usize,
    _kinds: *mut c_int,
    _n: usize,
) -> c_int {
    with(c, |_| Err(not_provided("dependencies of array elements")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetDirectionalDerivative(
    c: Instance,
    _unknowns: References,
    _n_unknowns: usize,
    _knowns: References,
    _n_knowns: usize,
    _seed: *const f64,
    _n_seed: usize,
    _out: *mut f64,
    _n_out: usize,
) -> c_int {
    with(c, |_| Err(not_provided("fmi3GetDirectionalDerivative")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetAdjointDerivative(
    c: Instance,
    _unknowns: References,
    _n_unknowns: usize,
    _knowns: References,
    _n_knowns: usize,
    _seed: *const f64,
    _n_seed: usize,
    _out: *mut f64,
    _n_out: usize,
) -> c_int {
    with(c, |_| Err(not_provided("fmi3GetAdjointDerivative")))
}

/// Functions that refuse: for what this FMU does not have.
macro_rules! refusing {
    ($($name:ident($($ty:ty),*): $what:literal;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: Instance $(, _: $ty)*) -> c_int {
            with(c, |_| Err(not_provided($what)))
        }
    )*};
}

refusing! {
    fmi3GetIntervalDecimal(References, usize, *mut f64, *mut c_int): "clocks";
    fmi3GetIntervalFraction(References, usize, *mut u64, *mut u64, *mut c_int): "clocks";
    fmi3GetShiftDecimal(References, usize, *mut f64): "clocks";
    fmi3GetShiftFraction(References, usize, *mut u64, *mut u64): "clocks";
    fmi3SetIntervalDecimal(References, usize, *const f64): "clocks";
    fmi3SetIntervalFraction(References, usize, *const u64, *const u64): "clocks";
    fmi3SetShiftDecimal(References, usize, *const f64): "clocks";
    fmi3SetShiftFraction(References, usize, *const u64, *const u64): "clocks";
    fmi3ActivateModelPartition(u32, f64): "clocks";
    fmi3EvaluateDiscreteStates(): "fmi3EvaluateDiscreteStates";
    fmi3EnterContinuousTimeMode(): "model exchange";
    fmi3CompletedIntegratorStep(bool, *mut bool, *mut bool): "model exchange";
    fmi3SetTime(f64): "model exchange";
    fmi3SetContinuousStates(*const f64, usize): "model exchange";
    fmi3GetContinuousStateDerivatives(*mut f64, usize): "model exchange";
    fmi3GetEventIndicators(*mut f64, usize): "model exchange";
    fmi3GetContinuousStates(*mut f64, usize): "model exchange";
    fmi3GetNominalsOfContinuousStates(*mut f64, usize): "model exchange";
    fmi3GetNumberOfEventIndicators(*mut usize): "model exchange";
    fmi3GetNumberOfContinuousStates(*mut usize): "model exchange";
    fmi3GetOutputDerivatives(References, usize, *const i32, *mut f64, usize): "fmi3GetOutputDerivatives";
}
