//! The functions of FMI 2.0.4 (`fmi2Functions.h`).
//!
//! # Safety
//! All of them: see [`crate::handle`].
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    reason = "names and contracts are those of the standard"
)]

use crate::component::{Answer, Component, Phase, Refused, Setup, Stepped, Stride};
use crate::handle::{Handle, Log, Sink, array, array_mut, panic_text, put, text, with};
use crate::loaded;
use crate::snapshot::Snapshot;
use saltus::{Value, ValueType};
use saltus_fmi::abi::{
    FMI2_CO_SIMULATION, FMI2_MODEL_EXCHANGE, Fmi2Callbacks, Fmi2EventInfo, Status,
};
use saltus_fmi::interface::is_integer;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::catch_unwind;
use std::path::PathBuf;

type Instance = *mut c_void;
type References = *const u32;

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    name: *const c_char,
    kind: c_int,
    guid: *const c_char,
    resources: *const c_char,
    callbacks: *const Fmi2Callbacks,
    _visible: c_int,
    logging: c_int,
) -> Instance {
    // SAFETY: texts and callbacks as the standard promises.
    let (name, guid, resources, callbacks) = unsafe {
        let callbacks = callbacks.as_ref().copied();
        (text(name), text(guid), text(resources), callbacks)
    };
    let log = Log {
        sink: match callbacks.and_then(|c| c.logger) {
            Some(logger) => Sink::Fmi2(logger),
            None => Sink::None,
        },
        environment: callbacks.map_or(std::ptr::null_mut(), |c| c.environment),
        instance: CString::new(name).unwrap_or_default(),
        is_on: logging != 0,
    };
    let made = catch_unwind(|| {
        if kind == FMI2_MODEL_EXCHANGE {
            return Err("this FMU is for co-simulation only".to_owned());
        }
        if kind != FMI2_CO_SIMULATION {
            return Err(format!("there is no kind of FMU with the number {kind}"));
        }
        let loaded = loaded::load(&folder_of(&resources)?)?;
        if guid != loaded.token {
            return Err(format!(
                "the GUID {guid} is not the one of this FMU, {}: description and model are not of the same export",
                loaded.token
            ));
        }
        Ok(Component::new(loaded))
    });
    let why = match made {
        Ok(Ok(component)) => return Handle::hand_out(component, log),
        Ok(Err(why)) => why,
        Err(panic) => panic_text(&*panic),
    };
    log.error(Status::Error, &why);
    std::ptr::null_mut()
}

/// The folder of a URI `file:///…`; some callers give a plain path.
fn folder_of(location: &str) -> Result<PathBuf, String> {
    let Some(rest) = location.strip_prefix("file:") else {
        return match location {
            "" => Err("the location of the resources is missing".to_owned()),
            path => Ok(PathBuf::from(path)),
        };
    };
    // `file:///path`, `file://host/path`, `file:/path`
    let path = match rest.strip_prefix("//") {
        Some(with_host) => &with_host[with_host.find('/').unwrap_or(0)..],
        None => rest,
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = (byte == b'%')
            .then(|| std::str::from_utf8(after.get(..2)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    let path = String::from_utf8(bytes);
    path.map(PathBuf::from)
        .map_err(|_| format!("the location of the resources is not UTF-8: {location}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(c: Instance) {
    Handle::free(c);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    c: Instance,
    on: c_int,
    _n_categories: usize,
    _categories: *const *const c_char,
) -> c_int {
    with(c, |handle| {
        handle.set_logging(on != 0);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetupExperiment(
    c: Instance,
    tolerance_defined: c_int,
    tolerance: f64,
    start: f64,
    stop_defined: c_int,
    stop: f64,
) -> c_int {
    with(c, |handle| {
        let component = &mut handle.component;
        component.require(&[Phase::Instantiated], "fmi2SetupExperiment")?;
        component.setup = Setup {
            start: Some(start),
            stop: (stop_defined != 0).then_some(stop),
            tolerance: (tolerance_defined != 0).then_some(tolerance),
        };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterInitializationMode(c: Instance) -> c_int {
    with(c, |handle| {
        let setup = handle.component.setup;
        handle.component.enter_initialisation(setup)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2ExitInitializationMode(c: Instance) -> c_int {
    with(c, |handle| {
        handle.component.exit_initialisation(Phase::Stepping)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Terminate(c: Instance) -> c_int {
    with(c, |handle| {
        handle.component.phase = Phase::Terminated;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(c: Instance) -> c_int {
    with(c, |handle| {
        handle.component.reset();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetReal(
    c: Instance,
    vr: References,
    n: usize,
    out: *mut f64,
) -> c_int {
    // SAFETY: arrays as the standard promises, here and below.
    let (vr, out) = unsafe { (array(vr, n), array_mut(out, n)) };
    with(c, |handle| {
        for (vr, out) in vr.iter().zip(out) {
            *out = handle.component.number(*vr, |ty| ty == ValueType::Real)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetInteger(
    c: Instance,
    vr: References,
    n: usize,
    out: *mut c_int,
) -> c_int {
    // SAFETY: see `fmi2GetReal`.
    let (vr, out) = unsafe { (array(vr, n), array_mut(out, n)) };
    with(c, |handle| {
        for (vr, out) in vr.iter().zip(out) {
            let number = handle.component.number(*vr, is_integer)?;
            *out = number as c_int;
            if f64::from(*out) != number {
                return Err(Refused::from(format!(
                    "{number} is beyond the Integers of FMI 2.0"
                )));
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBoolean(
    c: Instance,
    vr: References,
    n: usize,
    out: *mut c_int,
) -> c_int {
    // SAFETY: see `fmi2GetReal`.
    let (vr, out) = unsafe { (array(vr, n), array_mut(out, n)) };
    with(c, |handle| {
        for (vr, out) in vr.iter().zip(out) {
            let number = handle
                .component
                .number(*vr, |ty| ty == ValueType::Boolean)?;
            *out = c_int::from(number != 0.0);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetString(
    c: Instance,
    vr: References,
    n: usize,
    out: *mut *const c_char,
) -> c_int {
    // SAFETY: see `fmi2GetReal`.
    let (vr, out) = unsafe { (array(vr, n), array_mut(out, n)) };
    with(c, |handle| {
        handle.drop_texts();
        for (vr, out) in vr.iter().zip(out) {
            let text = handle.component.text(*vr)?;
            *out = handle.keep_text(&text);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetReal(
    c: Instance,
    vr: References,
    n: usize,
    values: *const f64,
) -> c_int {
    // SAFETY: see `fmi2GetReal`.
    let (vr, values) = unsafe { (array(vr, n), array(values, n)) };
    with(c, |handle| {
        set_all(
            handle,
            vr,
            values,
            |x| Value::Real(*x),
            |ty| ty == ValueType::Real,
        )
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetInteger(
    c: Instance,
    vr: References,
    n: usize,
    values: *const c_int,
) -> c_int {
    // SAFETY: see `fmi2GetReal`.
    let (vr, values) = unsafe { (array(vr, n), array(values, n)) };
    with(c, |handle| {
        set_all(handle, vr, values, |i| Value::from(*i), is_integer)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetBoolean(
    c: Instance,
    vr: References,
    n: usize,
    values: *const c_int,
) -> c_int {
    // SAFETY: see `fmi2GetReal`.
    let (vr, values) = unsafe { (array(vr, n), array(values, n)) };
    with(c, |handle| {
        let of = |b: &c_int| Value::Boolean(*b != 0);
        set_all(handle, vr, values, of, |ty| ty == ValueType::Boolean)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetString(
    c: Instance,
    vr: References,
    n: usize,
    values: *const *const c_char,
) -> c_int {
    // SAFETY: see `fmi2GetReal`; each value is a text.
    let (vr, values) = unsafe { (array(vr, n), array(values, n)) };
    with(c, |handle| {
        // SAFETY: the same.
        let of = |value: &*const c_char| Value::String(unsafe { text(*value) });
        set_all(handle, vr, values, of, |ty| ty == ValueType::String)
    })
}

pub(crate) fn set_all<T>(
    handle: &mut Handle,
    references: &[u32],
    values: &[T],
    of: impl Fn(&T) -> Value,
    fits: impl Fn(ValueType) -> bool,
) -> Answer<()> {
    for (reference, value) in references.iter().zip(values) {
        handle.component.set(*reference, of(value), &fits)?;
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(c: Instance, state: *mut *mut c_void) -> c_int {
    with(c, |handle| {
        let snapshot = Box::new(Snapshot::of(&handle.component)?);
        // SAFETY: the pointer is that of the caller; an older state in it is given up.
        unsafe {
            if let Some(old) = state.as_mut()
                && !old.is_null()
            {
                drop(Box::from_raw(old.cast::<Snapshot>()));
            }
            put(state, Box::into_raw(snapshot).cast());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(c: Instance, state: *mut c_void) -> c_int {
    with(c, |handle| snapshot(state)?.restore(&mut handle.component))
}

fn snapshot<'a>(state: *mut c_void) -> Answer<&'a Snapshot> {
    // SAFETY: a state of a caller is one that `fmi2GetFMUstate` has made and that was not freed.
    unsafe { state.cast::<Snapshot>().as_ref() }
        .ok_or_else(|| Refused::from("the state is missing".to_owned()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: Instance, state: *mut *mut c_void) -> c_int {
    with(c, |_| {
        // SAFETY: see `snapshot`.
        unsafe {
            if let Some(old) = state.as_mut()
                && !old.is_null()
            {
                drop(Box::from_raw(old.cast::<Snapshot>()));
                *old = std::ptr::null_mut();
            }
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
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
pub unsafe extern "C" fn fmi2SerializeFMUstate(
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
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
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
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: Instance,
    _unknowns: References,
    _n_unknowns: usize,
    _knowns: References,
    _n_knowns: usize,
    _seed: *const f64,
    _out: *mut f64,
) -> c_int {
    with(c, |_| Err(not_provided("fmi2GetDirectionalDerivative")))
}

pub(crate) fn not_provided(function: &str) -> Refused {
    Refused::from(format!("this FMU does not provide {function}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    c: Instance,
    vr: References,
    n: usize,
    orders: *const c_int,
    values: *const f64,
) -> c_int {
    // SAFETY: see `fmi2GetReal`.
    let (vr, orders, values) = unsafe { (array(vr, n), array(orders, n), array(values, n)) };
    with(c, |handle| {
        for ((vr, order), value) in vr.iter().zip(orders).zip(values) {
            if *order != 1 {
                return Err(Refused::from(
                    "inputs move at most along straight lines: derivatives have the order 1"
                        .to_owned(),
                ));
            }
            handle.component.set_rate(*vr, *value)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    c: Instance,
    _vr: References,
    _n: usize,
    _orders: *const c_int,
    _out: *mut f64,
) -> c_int {
    with(c, |_| Err(not_provided("fmi2GetRealOutputDerivatives")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(
    c: Instance,
    time: f64,
    size: f64,
    _no_state_before: c_int,
) -> c_int {
    with(c, |handle| {
        let component = &mut handle.component;
        let end = component.step_end(time, size)?;
        let Stepped {
            time, terminated, ..
        } = component.go(end, Stride::Whole)?;
        match terminated && time < end {
            true => Err(Refused {
                status: Status::Discard,
                message: format!("the model has ended the run at time {time}"),
            }),
            false => Ok(()),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CancelStep(c: Instance) -> c_int {
    with(c, |_| {
        Err(Refused::from("steps are done when they return".to_owned()))
    })
}

/// `fmi2StatusKind`
const DO_STEP_STATUS: c_int = 0;
const LAST_SUCCESSFUL_TIME: c_int = 2;
const TERMINATED: c_int = 3;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStatus(c: Instance, kind: c_int, out: *mut c_int) -> c_int {
    with(c, |handle| {
        if kind != DO_STEP_STATUS {
            return Err(not_provided("this status"));
        }
        let status = match handle.component.phase {
            Phase::Failed => Status::Discard,
            _ => Status::Ok,
        };
        // SAFETY: the pointer is that of the caller, here and below.
        unsafe { put(out, status as c_int) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(c: Instance, kind: c_int, out: *mut f64) -> c_int {
    with(c, |handle| {
        if kind != LAST_SUCCESSFUL_TIME {
            return Err(not_provided("this status"));
        }
        // SAFETY: see above.
        unsafe { put(out, handle.component.time()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetIntegerStatus(
    c: Instance,
    _kind: c_int,
    _out: *mut c_int,
) -> c_int {
    with(c, |_| Err(not_provided("this status")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(c: Instance, kind: c_int, out: *mut c_int) -> c_int {
    with(c, |handle| {
        if kind != TERMINATED {
            return Err(not_provided("this status"));
        }
        // SAFETY: see above.
        unsafe { put(out, c_int::from(handle.component.is_over())) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetStringStatus(
    c: Instance,
    _kind: c_int,
    _out: *mut *const c_char,
) -> c_int {
    with(c, |_| Err(not_provided("this status")))
}

// Model exchange.

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterEventMode(c: Instance) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2NewDiscreteStates(c: Instance, _info: *mut Fmi2EventInfo) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterContinuousTimeMode(c: Instance) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2CompletedIntegratorStep(
    c: Instance,
    _no_state_before: c_int,
    _enter_event_mode: *mut c_int,
    _terminate: *mut c_int,
) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetTime(c: Instance, _time: f64) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetContinuousStates(c: Instance, _x: *const f64, _n: usize) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDerivatives(c: Instance, _dx: *mut f64, _n: usize) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetEventIndicators(c: Instance, _z: *mut f64, _n: usize) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetContinuousStates(c: Instance, _x: *mut f64, _n: usize) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetNominalsOfContinuousStates(
    c: Instance,
    _x: *mut f64,
    _n: usize,
) -> c_int {
    with(c, |_| Err(not_provided("model exchange")))
}

#[cfg(test)]
mod tests {
    use super::folder_of;

    #[test]
    fn locations_are_uris_or_paths() {
        let path = |text: &str| folder_of(text).map(|p| p.display().to_string());
        assert_eq!(
            path("file:///tmp/a%20b/resources"),
            Ok("/tmp/a b/resources".to_owned())
        );
        assert_eq!(path("file:/tmp/x"), Ok("/tmp/x".to_owned()));
        assert_eq!(path("file://localhost/tmp/x"), Ok("/tmp/x".to_owned()));
        assert_eq!(path("/tmp/100%"), Ok("/tmp/100%".to_owned()));
        assert!(path("").is_err());
        assert!(path("file:///%ff").is_err());
    }
}
