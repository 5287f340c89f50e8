//! Steps of co-simulation in FMI 3.0: event mode, early return, intermediate update.
//!
//! ```text
//! DoStep(t, h):  no event mode, no update:  all the way to t + h
//!                update:                    one step of the integrator, call back, again
//!                event mode:                to the next event or t + h; at an event the step ends, values are those before it until event mode is entered
//! ```

use super::{Instance, References};
use crate::component::{Answer, Component, Phase, Stepped, Stride};
use crate::handle::{Handle, put, with};
use saltus_fmi::abi::{Fmi3IntermediateUpdate, Status};
use std::ffi::{c_int, c_void};

/// What the caller of an instance can deal with.
#[derive(Clone, Copy)]
pub(crate) struct Manners {
    pub(crate) event_mode: bool,
    pub(crate) early_return: bool,
    pub(crate) update: Option<Fmi3IntermediateUpdate>,
    pub(crate) environment: *mut c_void,
}

impl Default for Manners {
    fn default() -> Manners {
        Manners {
            event_mode: false,
            early_return: false,
            update: None,
            environment: std::ptr::null_mut(),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterStepMode(c: Instance) -> c_int {
    with(c, |handle| {
        let component = &mut handle.component;
        component.require(&[Phase::Event], "fmi3EnterStepMode")?;
        component.phase = Phase::Stepping;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterEventMode(c: Instance) -> c_int {
    with(c, |handle| {
        let component = &mut handle.component;
        component.require(&[Phase::Stepping], "fmi3EnterEventMode")?;
        component.phase = Phase::Event;
        component.pass_event();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3UpdateDiscreteStates(
    c: Instance,
    again: *mut bool,
    terminate: *mut bool,
    nominals_changed: *mut bool,
    values_changed: *mut bool,
    next_defined: *mut bool,
    next: *mut f64,
) -> c_int {
    with(c, |handle| {
        let component = &mut handle.component;
        component.require(&[Phase::Event], "fmi3UpdateDiscreteStates")?;
        let terminated = component.update_discrete()?;
        // SAFETY: results go where the caller wants them.
        unsafe {
            put(again, false);
            put(terminate, terminated);
            put(nominals_changed, false);
            put(values_changed, true);
            put(next_defined, false);
            put(next, f64::INFINITY);
        }
        Ok(())
    })
}

/// Where the results of a step go.
struct Out {
    event_handling_needed: *mut bool,
    terminate: *mut bool,
    early_return: *mut bool,
    last_time: *mut f64,
}

impl Out {
    fn put(&self, stepped: Stepped, is_early: bool) {
        // SAFETY: results go where the caller wants them.
        unsafe {
            put(self.event_handling_needed, stepped.at_event);
            put(self.terminate, stepped.terminated);
            put(self.early_return, is_early);
            put(self.last_time, stepped.time);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3DoStep(
    c: Instance,
    time: f64,
    size: f64,
    _no_state_before: bool,
    event_handling_needed: *mut bool,
    terminate: *mut bool,
    early_return: *mut bool,
    last_time: *mut f64,
) -> c_int {
    let out = Out {
        event_handling_needed,
        terminate,
        early_return,
        last_time,
    };
    let mut begun = None;
    let began = with(c, |handle| {
        let component = &mut handle.component;
        let end = component.step_end(time, size)?;
        begun = Some((end, component.manners));
        out.put(
            Stepped {
                time: component.time(),
                at_event: false,
                terminated: false,
            },
            false,
        );
        Ok(())
    });
    let Some((end, manners)) = begun else {
        return began;
    };
    match manners.update {
        None => with(c, |handle| {
            let stepped = stride(&mut handle.component, end, manners, false)?;
            out.put(stepped, stepped.time < end);
            Ok(())
        }),
        Some(update) => with_updates(c, end, manners, update, &out),
    }
}

/// To the end, or to the next event that the caller wants to see, or over one step of the integrator.
fn stride(
    component: &mut Component,
    end: f64,
    manners: Manners,
    is_piece: bool,
) -> Answer<Stepped> {
    let how = match (is_piece, manners.event_mode && manners.early_return) {
        (true, _) => Stride::OneStep,
        (false, true) => Stride::ToEvent,
        (false, false) => Stride::Whole,
    };
    let mut stepped = component.go(end, how)?;
    if !manners.event_mode {
        component.pass_event();
        stepped.at_event = false;
    }
    Ok(stepped)
}

/// The instance is not borrowed while the caller's function runs: it reads variables.
fn with_updates(
    c: Instance,
    end: f64,
    manners: Manners,
    update: Fmi3IntermediateUpdate,
    out: &Out,
) -> c_int {
    loop {
        let mut gone = None;
        let status = with(c, |handle: &mut Handle| {
            let stepped = stride(&mut handle.component, end, manners, true)?;
            out.put(stepped, stepped.time < end);
            gone = Some(stepped);
            Ok(())
        });
        let Some(stepped) = gone else {
            return status;
        };
        let is_last = stepped.time >= end || stepped.terminated;
        let (mut wants_return, mut return_time) = (false, stepped.time);
        let can_return = manners.early_return && !is_last;
        // SAFETY: the function and its environment are those that the caller has given for the life of the instance.
        unsafe {
            update(
                manners.environment,
                stepped.time,
                false,
                true,
                true,
                can_return,
                &mut wants_return,
                &mut return_time,
            );
        }
        let returns_here = can_return && wants_return && return_time <= stepped.time;
        let at_event = stepped.at_event && manners.early_return;
        if is_last || returns_here || at_event {
            return Status::Ok as c_int;
        }
    }
}

/// For co-simulation only inputs and outputs with clocks would need it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetClock(
    c: Instance,
    _vr: References,
    _n: usize,
    _out: *mut bool,
) -> c_int {
    with(c, |_| Err(crate::fmi2::not_provided("clocks")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetClock(
    c: Instance,
    _vr: References,
    _n: usize,
    _values: *const bool,
) -> c_int {
    with(c, |_| Err(crate::fmi2::not_provided("clocks")))
}
