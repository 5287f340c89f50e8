//! The library of a foreign FMU: its functions, found by name.

use crate::abi::{Fmi2Callbacks, Fmi2EventInfo, Fmi3IntermediateUpdate, Fmi3LogMessage};
use libloading::Library;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

pub(super) type Pointer = *mut c_void;
type Text = *const c_char;
type References = *const u32;

/// Opens a library. Its initialisers run now.
pub(super) fn open(path: &Path) -> Result<Library, String> {
    // SAFETY: foreign code runs; the user has permitted it.
    unsafe { Library::new(path) }
        .map_err(|e| format!("the library of the FMU cannot be loaded: {e}"))
}

/// A table of functions; those that the library does not have are `None`.
macro_rules! table {
    ($table:ident: $($field:ident = $symbol:literal: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        pub(super) struct $table {
            $(pub(super) $field: Option<unsafe extern "C" fn($($argument),*) $(-> $result)?>,)*
            /// Functions live as long as it.
            _library: Library,
        }

        impl $table {
            pub(super) fn new(library: Library) -> $table {
                // SAFETY: the types are those of the standard for these names.
                unsafe {
                    $(let $field = library.get(concat!($symbol, "\0").as_bytes()).ok().map(|f| *f);)*
                    $table { $($field,)* _library: library }
                }
            }
        }
    };
}

table! { Fmi2:
    instantiate = "fmi2Instantiate": fn(Text, c_int, Text, Text, *const Fmi2Callbacks, c_int, c_int) -> Pointer;
    free = "fmi2FreeInstance": fn(Pointer);
    set_up = "fmi2SetupExperiment": fn(Pointer, c_int, f64, f64, c_int, f64) -> c_int;
    enter_initialisation = "fmi2EnterInitializationMode": fn(Pointer) -> c_int;
    exit_initialisation = "fmi2ExitInitializationMode": fn(Pointer) -> c_int;
    terminate = "fmi2Terminate": fn(Pointer) -> c_int;
    get_real = "fmi2GetReal": fn(Pointer, References, usize, *mut f64) -> c_int;
    get_integer = "fmi2GetInteger": fn(Pointer, References, usize, *mut c_int) -> c_int;
    get_boolean = "fmi2GetBoolean": fn(Pointer, References, usize, *mut c_int) -> c_int;
    set_real = "fmi2SetReal": fn(Pointer, References, usize, *const f64) -> c_int;
    set_integer = "fmi2SetInteger": fn(Pointer, References, usize, *const c_int) -> c_int;
    set_boolean = "fmi2SetBoolean": fn(Pointer, References, usize, *const c_int) -> c_int;
    set_string = "fmi2SetString": fn(Pointer, References, usize, *const Text) -> c_int;
    step = "fmi2DoStep": fn(Pointer, f64, f64, c_int) -> c_int;
    boolean_status = "fmi2GetBooleanStatus": fn(Pointer, c_int, *mut c_int) -> c_int;
    real_status = "fmi2GetRealStatus": fn(Pointer, c_int, *mut f64) -> c_int;
    enter_event = "fmi2EnterEventMode": fn(Pointer) -> c_int;
    new_discrete_states = "fmi2NewDiscreteStates": fn(Pointer, *mut Fmi2EventInfo) -> c_int;
    enter_continuous = "fmi2EnterContinuousTimeMode": fn(Pointer) -> c_int;
    completed_step = "fmi2CompletedIntegratorStep": fn(Pointer, c_int, *mut c_int, *mut c_int) -> c_int;
    set_time = "fmi2SetTime": fn(Pointer, f64) -> c_int;
    set_states = "fmi2SetContinuousStates": fn(Pointer, *const f64, usize) -> c_int;
    get_states = "fmi2GetContinuousStates": fn(Pointer, *mut f64, usize) -> c_int;
    derivatives = "fmi2GetDerivatives": fn(Pointer, *mut f64, usize) -> c_int;
    indicators = "fmi2GetEventIndicators": fn(Pointer, *mut f64, usize) -> c_int;
}

table! { Fmi3:
    instantiate_cs = "fmi3InstantiateCoSimulation": fn(Text, Text, Text, bool, bool, bool, bool, References, usize, Pointer, Option<Fmi3LogMessage>, Option<Fmi3IntermediateUpdate>) -> Pointer;
    instantiate_me = "fmi3InstantiateModelExchange": fn(Text, Text, Text, bool, bool, Pointer, Option<Fmi3LogMessage>) -> Pointer;
    free = "fmi3FreeInstance": fn(Pointer);
    enter_initialisation = "fmi3EnterInitializationMode": fn(Pointer, bool, f64, f64, bool, f64) -> c_int;
    exit_initialisation = "fmi3ExitInitializationMode": fn(Pointer) -> c_int;
    terminate = "fmi3Terminate": fn(Pointer) -> c_int;
    get_f64 = "fmi3GetFloat64": fn(Pointer, References, usize, *mut f64, usize) -> c_int;
    get_f32 = "fmi3GetFloat32": fn(Pointer, References, usize, *mut f32, usize) -> c_int;
    get_i8 = "fmi3GetInt8": fn(Pointer, References, usize, *mut i8, usize) -> c_int;
    get_u8 = "fmi3GetUInt8": fn(Pointer, References, usize, *mut u8, usize) -> c_int;
    get_i16 = "fmi3GetInt16": fn(Pointer, References, usize, *mut i16, usize) -> c_int;
    get_u16 = "fmi3GetUInt16": fn(Pointer, References, usize, *mut u16, usize) -> c_int;
    get_i32 = "fmi3GetInt32": fn(Pointer, References, usize, *mut i32, usize) -> c_int;
    get_u32 = "fmi3GetUInt32": fn(Pointer, References, usize, *mut u32, usize) -> c_int;
    get_i64 = "fmi3GetInt64": fn(Pointer, References, usize, *mut i64, usize) -> c_int;
    get_u64 = "fmi3GetUInt64": fn(Pointer, References, usize, *mut u64, usize) -> c_int;
    get_boolean = "fmi3GetBoolean": fn(Pointer, References, usize, *mut u8, usize) -> c_int;
    set_f64 = "fmi3SetFloat64": fn(Pointer, References, usize, *const f64, usize) -> c_int;
    set_f32 = "fmi3SetFloat32": fn(Pointer, References, usize, *const f32, usize) -> c_int;
    set_i8 = "fmi3SetInt8": fn(Pointer, References, usize, *const i8, usize) -> c_int;
    set_u8 = "fmi3SetUInt8": fn(Pointer, References, usize, *const u8, usize) -> c_int;
    set_i16 = "fmi3SetInt16": fn(Pointer, References, usize, *const i16, usize) -> c_int;
    set_u16 = "fmi3SetUInt16": fn(Pointer, References, usize, *const u16, usize) -> c_int;
    set_i32 = "fmi3SetInt32": fn(Pointer, References, usize, *const i32, usize) -> c_int;
    set_u32 = "fmi3SetUInt32": fn(Pointer, References, usize, *const u32, usize) -> c_int;
    set_i64 = "fmi3SetInt64": fn(Pointer, References, usize, *const i64, usize) -> c_int;
    set_u64 = "fmi3SetUInt64": fn(Pointer, References, usize, *const u64, usize) -> c_int;
    set_boolean = "fmi3SetBoolean": fn(Pointer, References, usize, *const bool, usize) -> c_int;
    set_string = "fmi3SetString": fn(Pointer, References, usize, *const Text, usize) -> c_int;
    step = "fmi3DoStep": fn(Pointer, f64, f64, bool, *mut bool, *mut bool, *mut bool, *mut f64) -> c_int;
    enter_event = "fmi3EnterEventMode": fn(Pointer) -> c_int;
    update_discrete = "fmi3UpdateDiscreteStates": fn(Pointer, *mut bool, *mut bool, *mut bool, *mut bool, *mut bool, *mut f64) -> c_int;
    enter_continuous = "fmi3EnterContinuousTimeMode": fn(Pointer) -> c_int;
    completed_step = "fmi3CompletedIntegratorStep": fn(Pointer, bool, *mut bool, *mut bool) -> c_int;
    set_time = "fmi3SetTime": fn(Pointer, f64) -> c_int;
    set_states = "fmi3SetContinuousStates": fn(Pointer, *const f64, usize) -> c_int;
    get_states = "fmi3GetContinuousStates": fn(Pointer, *mut f64, usize) -> c_int;
    derivatives = "fmi3GetContinuousStateDerivatives": fn(Pointer, *mut f64, usize) -> c_int;
    indicators = "fmi3GetEventIndicators": fn(Pointer, *mut f64, usize) -> c_int;
    n_states = "fmi3GetNumberOfContinuousStates": fn(Pointer, *mut usize) -> c_int;
    n_indicators = "fmi3GetNumberOfEventIndicators": fn(Pointer, *mut usize) -> c_int;
}
