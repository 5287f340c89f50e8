//! One instance of a foreign FMU, of either version, as a safe value.
//!
//! What the library returns is checked; what it does inside cannot be. All memory that it is given outlives the call.

use super::binary::{self, Fmi2, Fmi3, Pointer};
use super::description::{Description, FmuType, FmuVariable};
use crate::FmiVersion;
use crate::abi::{FMI2_CO_SIMULATION, FMI2_MODEL_EXCHANGE, Fmi2Callbacks, Fmi2EventInfo, Status};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    CoSimulation,
    ModelExchange,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::CoSimulation => "co-simulation",
            Kind::ModelExchange => "model-exchange",
        })
    }
}

/// A call that the FMU has refused.
#[derive(Clone, Debug)]
pub(super) struct Refused {
    pub(super) status: Status,
    pub(super) function: &'static str,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the FMU answers {} with {:?}",
            self.function, self.status
        )
    }
}

pub(super) type Answer<T> = Result<T, Refused>;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventInfo {
    pub(super) again: bool,
    pub(super) terminate: bool,
    pub(super) next_time: Option<f64>,
}

pub(super) struct Instance {
    table: Table,
    pointer: Pointer,
    /// The callbacks of FMI 2.0 live as long as the instance.
    _callbacks: Option<Box<Fmi2Callbacks>>,
    said: Box<Said>,
}

enum Table {
    V2(Fmi2),
    V3(Box<Fmi3>),
}

// SAFETY: the standard lets an instance be used by any thread, one at a time; the value is not `Sync`.
unsafe impl Send for Instance {}

/// A step of co-simulation.
pub(super) struct Stepped {
    pub(super) time: f64,
    pub(super) terminated: bool,
}

/// Memory of the caller, which FMI 2.0 lets an FMU use.
unsafe extern "C" fn allocate(count: usize, size: usize) -> *mut c_void {
    // SAFETY: any numbers are allowed.
    unsafe { libc::calloc(count, size) }
}

unsafe extern "C" fn free(memory: *mut c_void) {
    // SAFETY: it comes from `allocate`, or is null.
    unsafe { libc::free(memory) }
}

/// What an FMU has said. Its address is the environment that the FMU gives back with each message.
type Said = Mutex<Vec<String>>;

/// Notes a message that says that something went wrong.
///
/// # Safety
/// `environment` is that of an instance, `message` null or a text that ends with a zero byte.
unsafe fn note(environment: *mut c_void, code: c_int, message: *const c_char) {
    if Status::from_number(code) < Status::Error || message.is_null() {
        return;
    }
    // SAFETY: as promised.
    let (said, text) = unsafe { (environment.cast::<Said>().as_ref(), CStr::from_ptr(message)) };
    if let Some(said) = said {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() < MESSAGES_MAX {
            said.push(text.to_string_lossy().into_owned());
        }
    }
}

/// Messages that are kept.
const MESSAGES_MAX: usize = 20;

fn status(code: c_int, function: &'static str) -> Answer<Status> {
    match Status::from_number(code) {
        status @ (Status::Ok | Status::Warning) => Ok(status),
        status => Err(Refused { status, function }),
    }
}

fn missing(function: &'static str) -> Refused {
    Refused {
        status: Status::Fatal,
        function,
    }
}

/// Calls a function of the table of either version.
macro_rules! call {
    ($self:ident, $field:ident ($($two:expr),*) ($($three:expr),*)) => {{
        let pointer = $self.pointer;
        let name = stringify!($field);
        // SAFETY: the instance is alive, and all pointers are to memory of this call.
        let code = unsafe {
            match &$self.table {
                Table::V2(table) => table.$field.ok_or_else(|| missing(name))?(pointer $(, $two)*),
                Table::V3(table) => table.$field.ok_or_else(|| missing(name))?(pointer $(, $three)*),
            }
        };
        status(code, name).map(drop)
    }};
    ($self:ident, $field:ident ($($argument:expr),*)) => { call!($self, $field ($($argument),*) ($($argument),*)) };
}

impl Instance {
    pub(super) fn new(
        description: &Description,
        binary: &Path,
        resources: &Path,
        kind: Kind,
    ) -> Result<Instance, String> {
        let library = binary::open(binary)?;
        let c_text =
            |text: &str| CString::new(text).map_err(|_| "a text has a zero byte".to_owned());
        let path = resources
            .to_str()
            .ok_or("the folder for temporary files is not UTF-8")?;
        let name = c_text(&description.model_name)?;
        let token = c_text(&description.token)?;
        let lacks =
            || "the library of the FMU lacks the function that makes an instance".to_owned();
        let said = Box::<Said>::default();
        let environment = (&raw const *said).cast_mut().cast::<c_void>();
        let (table, pointer, callbacks) = match description.version {
            FmiVersion::V2 => {
                let table = Fmi2::new(library);
                let callbacks = Box::new(Fmi2Callbacks {
                    logger: Some(logger()),
                    allocate_memory: Some(allocate),
                    free_memory: Some(free),
                    step_finished: None,
                    environment,
                });
                let uri = c_text(&format!(
                    "file://{}",
                    path.replace('%', "%25").replace(' ', "%20")
                ))?;
                let number = match kind {
                    Kind::CoSimulation => FMI2_CO_SIMULATION,
                    Kind::ModelExchange => FMI2_MODEL_EXCHANGE,
                };
                let make = table.instantiate.ok_or_else(lacks)?;
                // SAFETY: texts and callbacks as the standard asks.
                let pointer = unsafe {
                    make(
                        name.as_ptr(),
                        number,
                        token.as_ptr(),
                        uri.as_ptr(),
                        &*callbacks,
                        0,
                        0,
                    )
                };
                (Table::V2(table), pointer, Some(callbacks))
            }
            FmiVersion::V3 => {
                let table = Fmi3::new(library);
                // The standard wants a separator at the end.
                let folder = c_text(&format!("{path}/"))?;
                // SAFETY: as above.
                let pointer = unsafe {
                    match kind {
                        Kind::CoSimulation => table.instantiate_cs.ok_or_else(lacks)?(
                            name.as_ptr(),
                            token.as_ptr(),
                            folder.as_ptr(),
                            false,
                            false,
                            false,
                            false,
                            std::ptr::null(),
                            0,
                            environment,
                            Some(log3),
                            None,
                        ),
                        Kind::ModelExchange => table.instantiate_me.ok_or_else(lacks)?(
                            name.as_ptr(),
                            token.as_ptr(),
                            folder.as_ptr(),
                            false,
                            false,
                            environment,
                            Some(log3),
                        ),
                    }
                };
                (Table::V3(Box::new(table)), pointer, None)
            }
        };
        if pointer.is_null() {
            let said = said
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .join("; ");
            return Err(format!(
                "`{}` makes no instance: {said}",
                description.model_name
            ));
        }
        Ok(Instance {
            table,
            pointer,
            _callbacks: callbacks,
            said,
        })
    }

    /// Why a call failed, as far as the FMU has said.
    pub(super) fn explain(&self, refused: &Refused) -> String {
        let said = std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner));
        match said.is_empty() {
            true => refused.to_string(),
            false => format!("{refused}: {}", said.join("; ")),
        }
    }

    /// Between these settings are made.
    pub(super) fn enter_initialisation(
        &mut self,
        start: f64,
        stop: Option<f64>,
        tolerance: Option<f64>,
    ) -> Answer<()> {
        let (has_stop, stop) = (stop.is_some(), stop.unwrap_or_default());
        let (has_tolerance, tolerance) = (tolerance.is_some(), tolerance.unwrap_or_default());
        if let Table::V2(table) = &self.table {
            let set_up = table.set_up.ok_or_else(|| missing("fmi2SetupExperiment"))?;
            // SAFETY: the instance is alive.
            let code = unsafe {
                set_up(
                    self.pointer,
                    has_tolerance.into(),
                    tolerance,
                    start,
                    has_stop.into(),
                    stop,
                )
            };
            status(code, "fmi2SetupExperiment")?;
        }
        call!(
            self,
            enter_initialisation()(has_tolerance, tolerance, start, has_stop, stop)
        )
    }

    pub(super) fn exit_initialisation(&mut self) -> Answer<()> {
        call!(self, exit_initialisation())
    }

    pub(super) fn terminate(&mut self) -> Answer<()> {
        call!(self, terminate())
    }

    /// The values of a variable.
    pub(super) fn get(&mut self, v: &FmuVariable, out: &mut [f64]) -> Answer<()> {
        let references = [v.reference];
        let (vr, pointer, n) = (references.as_ptr(), self.pointer, out.len());
        macro_rules! through {
            ($f:expr, $ty:ty, $name:literal $(, $n:expr)?) => {{
                let mut buffer = vec![<$ty>::default(); n];
                let f = $f.ok_or_else(|| missing($name))?;
                // SAFETY: the instance is alive, the buffer has `n` elements.
                status(unsafe { f(pointer, vr, 1, buffer.as_mut_ptr() $(, $n)?) }, $name)?;
                for (out, value) in out.iter_mut().zip(buffer) {
                    *out = value as f64;
                }
                Ok(())
            }};
        }
        match &self.table {
            Table::V2(t) => match v.ty {
                FmuType::Boolean => through!(t.get_boolean, c_int, "fmi2GetBoolean"),
                ty if ty.is_real() => through!(t.get_real, f64, "fmi2GetReal"),
                _ => through!(t.get_integer, c_int, "fmi2GetInteger"),
            },
            Table::V3(t) => match v.ty {
                FmuType::Float64 => through!(t.get_f64, f64, "fmi3GetFloat64", n),
                FmuType::Float32 => through!(t.get_f32, f32, "fmi3GetFloat32", n),
                FmuType::Int8 => through!(t.get_i8, i8, "fmi3GetInt8", n),
                FmuType::UInt8 => through!(t.get_u8, u8, "fmi3GetUInt8", n),
                FmuType::Int16 => through!(t.get_i16, i16, "fmi3GetInt16", n),
                FmuType::UInt16 => through!(t.get_u16, u16, "fmi3GetUInt16", n),
                FmuType::Int32 => through!(t.get_i32, i32, "fmi3GetInt32", n),
                FmuType::UInt32 => through!(t.get_u32, u32, "fmi3GetUInt32", n),
                FmuType::Int64 | FmuType::Enumeration => {
                    through!(t.get_i64, i64, "fmi3GetInt64", n)
                }
                FmuType::UInt64 => through!(t.get_u64, u64, "fmi3GetUInt64", n),
                FmuType::Boolean => through!(t.get_boolean, u8, "fmi3GetBoolean", n),
                FmuType::String | FmuType::Binary | FmuType::Clock => Err(missing("no number")),
            },
        }
    }

    /// Sets all values of a variable.
    pub(super) fn set(&mut self, v: &FmuVariable, values: &[f64]) -> Answer<()> {
        let references = [v.reference];
        let (vr, pointer, n) = (references.as_ptr(), self.pointer, values.len());
        macro_rules! through {
            ($f:expr, $ty:ty, $name:literal $(, $n:expr)?) => {{
                let buffer: Vec<$ty> = values.iter().map(|x| *x as $ty).collect();
                let f = $f.ok_or_else(|| missing($name))?;
                // SAFETY: the instance is alive, the buffer has `n` elements.
                status(unsafe { f(pointer, vr, 1, buffer.as_ptr() $(, $n)?) }, $name).map(drop)
            }};
        }
        match &self.table {
            Table::V2(t) => match v.ty {
                FmuType::Boolean => through!(t.set_boolean, c_int, "fmi2SetBoolean"),
                ty if ty.is_real() => through!(t.set_real, f64, "fmi2SetReal"),
                _ => through!(t.set_integer, c_int, "fmi2SetInteger"),
            },
            Table::V3(t) => match v.ty {
                FmuType::Float64 => through!(t.set_f64, f64, "fmi3SetFloat64", n),
                FmuType::Float32 => through!(t.set_f32, f32, "fmi3SetFloat32", n),
                FmuType::Int8 => through!(t.set_i8, i8, "fmi3SetInt8", n),
                FmuType::UInt8 => through!(t.set_u8, u8, "fmi3SetUInt8", n),
                FmuType::Int16 => through!(t.set_i16, i16, "fmi3SetInt16", n),
                FmuType::UInt16 => through!(t.set_u16, u16, "fmi3SetUInt16", n),
                FmuType::Int32 => through!(t.set_i32, i32, "fmi3SetInt32", n),
                FmuType::UInt32 => through!(t.set_u32, u32, "fmi3SetUInt32", n),
                FmuType::Int64 | FmuType::Enumeration => {
                    through!(t.set_i64, i64, "fmi3SetInt64", n)
                }
                FmuType::UInt64 => through!(t.set_u64, u64, "fmi3SetUInt64", n),
                FmuType::Boolean => {
                    let buffer: Vec<bool> = values.iter().map(|x| *x != 0.0).collect();
                    let f = t.set_boolean.ok_or_else(|| missing("fmi3SetBoolean"))?;
                    // SAFETY: as above.
                    status(
                        unsafe { f(pointer, vr, 1, buffer.as_ptr(), n) },
                        "fmi3SetBoolean",
                    )
                    .map(drop)
                }
                FmuType::String | FmuType::Binary | FmuType::Clock => Err(missing("no number")),
            },
        }
    }

    pub(super) fn set_text(&mut self, v: &FmuVariable, text: &str) -> Answer<()> {
        let text = CString::new(text).map_err(|_| missing("a text with a zero byte"))?;
        let (vr, values) = ([v.reference], [text.as_ptr()]);
        let (vr, values) = (vr.as_ptr(), values.as_ptr());
        call!(self, set_string(vr, 1, values)(vr, 1, values, 1))
    }

    pub(super) fn step(&mut self, time: f64, size: f64) -> Answer<Stepped> {
        /// `fmi2StatusKind`
        const LAST_SUCCESSFUL_TIME: c_int = 2;
        const TERMINATED: c_int = 3;
        let pointer = self.pointer;
        match &self.table {
            Table::V2(table) => {
                let step = table.step.ok_or_else(|| missing("fmi2DoStep"))?;
                // SAFETY: the instance is alive, here and below.
                match status(unsafe { step(pointer, time, size, 1) }, "fmi2DoStep") {
                    Ok(_) => Ok(Stepped {
                        time: time + size,
                        terminated: false,
                    }),
                    Err(refused) if refused.status == Status::Discard => {
                        let (mut ended, mut reached) = (0, time);
                        unsafe {
                            if let Some(ask) = table.boolean_status {
                                ask(pointer, TERMINATED, &mut ended);
                            }
                            if let Some(ask) = table.real_status {
                                ask(pointer, LAST_SUCCESSFUL_TIME, &mut reached);
                            }
                        }
                        match ended != 0 {
                            true => Ok(Stepped {
                                time: reached,
                                terminated: true,
                            }),
                            false => Err(refused),
                        }
                    }
                    Err(refused) => Err(refused),
                }
            }
            Table::V3(table) => {
                let step = table.step.ok_or_else(|| missing("fmi3DoStep"))?;
                let (mut event, mut ended, mut early, mut reached) = (false, false, false, time);
                // SAFETY: as above.
                let code = unsafe {
                    step(
                        pointer,
                        time,
                        size,
                        true,
                        &mut event,
                        &mut ended,
                        &mut early,
                        &mut reached,
                    )
                };
                status(code, "fmi3DoStep")?;
                Ok(Stepped {
                    time: if early || ended { reached } else { time + size },
                    terminated: ended,
                })
            }
        }
    }

    pub(super) fn enter_event(&mut self) -> Answer<()> {
        call!(self, enter_event())
    }

    pub(super) fn enter_continuous(&mut self) -> Answer<()> {
        call!(self, enter_continuous())
    }

    pub(super) fn new_discrete_states(&mut self) -> Answer<EventInfo> {
        match &self.table {
            Table::V2(table) => {
                let update = table
                    .new_discrete_states
                    .ok_or_else(|| missing("fmi2NewDiscreteStates"))?;
                let mut info = Fmi2EventInfo::default();
                // SAFETY: the instance is alive.
                status(
                    unsafe { update(self.pointer, &mut info) },
                    "fmi2NewDiscreteStates",
                )?;
                Ok(EventInfo {
                    again: info.new_discrete_states_needed != 0,
                    terminate: info.terminate_simulation != 0,
                    next_time: (info.next_event_time_defined != 0).then_some(info.next_event_time),
                })
            }
            Table::V3(table) => {
                let update = table
                    .update_discrete
                    .ok_or_else(|| missing("fmi3UpdateDiscreteStates"))?;
                let mut flags = [false; 5];
                let mut next = f64::INFINITY;
                let [again, terminate, nominals, values, defined] = &mut flags;
                // SAFETY: as above.
                let code = unsafe {
                    update(
                        self.pointer,
                        again,
                        terminate,
                        nominals,
                        values,
                        defined,
                        &mut next,
                    )
                };
                status(code, "fmi3UpdateDiscreteStates")?;
                Ok(EventInfo {
                    again: flags[0],
                    terminate: flags[1],
                    next_time: flags[4].then_some(next),
                })
            }
        }
    }

    /// Whether an event is wanted, and whether the run is over.
    pub(super) fn completed_step(&mut self) -> Answer<(bool, bool)> {
        match &self.table {
            Table::V2(table) => {
                let f = table
                    .completed_step
                    .ok_or_else(|| missing("fmi2CompletedIntegratorStep"))?;
                let (mut event, mut ends) = (0, 0);
                // SAFETY: the instance is alive.
                let code = unsafe { f(self.pointer, 1, &mut event, &mut ends) };
                status(code, "fmi2CompletedIntegratorStep")?;
                Ok((event != 0, ends != 0))
            }
            Table::V3(table) => {
                let f = table
                    .completed_step
                    .ok_or_else(|| missing("fmi3CompletedIntegratorStep"))?;
                let (mut event, mut ends) = (false, false);
                // SAFETY: as above.
                let code = unsafe { f(self.pointer, true, &mut event, &mut ends) };
                status(code, "fmi3CompletedIntegratorStep")?;
                Ok((event, ends))
            }
        }
    }

    pub(super) fn set_point(&mut self, t: f64, x: &[f64]) -> Answer<()> {
        call!(self, set_time(t))?;
        match x.len() {
            0 => Ok(()),
            n => call!(self, set_states(x.as_ptr(), n)),
        }
    }

    pub(super) fn states(&mut self, x: &mut [f64]) -> Answer<()> {
        match x.len() {
            0 => Ok(()),
            n => call!(self, get_states(x.as_mut_ptr(), n)),
        }
    }

    pub(super) fn derivatives(&mut self, dx: &mut [f64]) -> Answer<()> {
        match dx.len() {
            0 => Ok(()),
            n => call!(self, derivatives(dx.as_mut_ptr(), n)),
        }
    }

    pub(super) fn indicators(&mut self, z: &mut [f64]) -> Answer<()> {
        match z.len() {
            0 => Ok(()),
            n => call!(self, indicators(z.as_mut_ptr(), n)),
        }
    }

    /// Numbers of states and event indicators.
    pub(super) fn sizes(&mut self, description: &Description) -> Answer<(usize, usize)> {
        match &self.table {
            Table::V2(_) => Ok((
                description.derivatives.len(),
                description.n_event_indicators,
            )),
            Table::V3(table) => {
                let (Some(n_states), Some(n_indicators)) = (table.n_states, table.n_indicators)
                else {
                    return Err(missing("fmi3GetNumberOfContinuousStates"));
                };
                let (mut n, mut m) = (0, 0);
                // SAFETY: the instance is alive.
                unsafe {
                    status(
                        n_states(self.pointer, &mut n),
                        "fmi3GetNumberOfContinuousStates",
                    )?;
                    status(
                        n_indicators(self.pointer, &mut m),
                        "fmi3GetNumberOfEventIndicators",
                    )?;
                }
                Ok((n, m))
            }
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the instance is freed once.
        unsafe {
            match &self.table {
                Table::V2(table) => table.free.map(|free| free(self.pointer)),
                Table::V3(table) => table.free.map(|free| free(self.pointer)),
            };
        }
    }
}

/// Rust cannot define a function with `...`; one without takes its place, because callers put fixed arguments where it finds them, and the rest is left alone. Formats of messages are
/// therefore shown as they are.
fn logger() -> crate::abi::Fmi2Logger {
    unsafe extern "C" fn log2(
        environment: *mut c_void,
        _: *const c_char,
        code: c_int,
        _: *const c_char,
        message: *const c_char,
    ) {
        // SAFETY: as the standard promises.
        unsafe { note(environment, code, message) };
    }
    type Fixed =
        unsafe extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char);
    // SAFETY: the calling conventions of the platforms that we support pass fixed arguments of variadic functions as those of others.
    unsafe { std::mem::transmute::<Fixed, crate::abi::Fmi2Logger>(log2) }
}

unsafe extern "C" fn log3(
    environment: *mut c_void,
    code: c_int,
    _: *const c_char,
    message: *const c_char,
) {
    // SAFETY: as the standard promises.
    unsafe { note(environment, code, message) };
}
