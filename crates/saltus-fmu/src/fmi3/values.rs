//! Reading and writing variables in FMI 3.0. Integers are served in every width: a value that does not fit is an error.

use super::{Instance, References};
use crate::component::{Answer, Refused};
use crate::fmi2::{not_provided, set_all};
use crate::handle::{array, array_mut, text, with};
use saltus::{Value, ValueType};
use saltus_fmi::interface::is_integer;
use std::ffi::{c_char, c_int};

fn is_real(ty: ValueType) -> bool {
    ty == ValueType::Real
}

/// Each variable is a scalar.
fn require_as_many(n: usize, n_values: usize) -> Answer<()> {
    match n == n_values {
        true => Ok(()),
        false => Err(Refused::from(format!(
            "{n} variables have {n} values, not {n_values}"
        ))),
    }
}

macro_rules! floats {
    ($($get:ident, $set:ident, $ty:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(c: Instance, vr: References, n: usize, out: *mut $ty, n_out: usize) -> c_int {
            // SAFETY: arrays as the standard promises.
            let (vr, out) = unsafe { (array(vr, n), array_mut(out, n_out)) };
            with(c, |handle| {
                require_as_many(n, n_out)?;
                for (vr, out) in vr.iter().zip(out) {
                    *out = handle.component.number(*vr, is_real)? as $ty;
                }
                Ok(())
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(c: Instance, vr: References, n: usize, values: *const $ty, n_values: usize) -> c_int {
            // SAFETY: arrays as the standard promises.
            let (vr, values) = unsafe { (array(vr, n), array(values, n_values)) };
            with(c, |handle| {
                require_as_many(n, n_values)?;
                set_all(handle, vr, values, |x| Value::Real(f64::from(*x)), is_real)
            })
        }
    )*};
}

floats! {
    fmi3GetFloat64, fmi3SetFloat64, f64;
    fmi3GetFloat32, fmi3SetFloat32, f32;
}

macro_rules! integers {
    ($($get:ident, $set:ident, $ty:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(c: Instance, vr: References, n: usize, out: *mut $ty, n_out: usize) -> c_int {
            // SAFETY: arrays as the standard promises.
            let (vr, out) = unsafe { (array(vr, n), array_mut(out, n_out)) };
            with(c, |handle| {
                require_as_many(n, n_out)?;
                for (vr, out) in vr.iter().zip(out) {
                    let number = handle.component.number(*vr, is_integer)?;
                    *out = <$ty>::try_from(number as i64).map_err(|_| {
                        Refused::from(format!("{number} does not fit into {}", stringify!($ty)))
                    })?;
                }
                Ok(())
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(c: Instance, vr: References, n: usize, values: *const $ty, n_values: usize) -> c_int {
            // SAFETY: arrays as the standard promises.
            let (vr, values) = unsafe { (array(vr, n), array(values, n_values)) };
            with(c, |handle| {
                require_as_many(n, n_values)?;
                let fits = |i: &$ty| i64::try_from(*i).is_ok();
                if let Some(value) = values.iter().find(|i| !fits(i)) {
                    return Err(Refused::from(format!("{value} is beyond the Integers of Modelica")));
                }
                set_all(handle, vr, values, |i| Value::Integer(i64::try_from(*i).unwrap_or_default()), is_integer)
            })
        }
    )*};
}

integers! {
    fmi3GetInt8, fmi3SetInt8, i8;
    fmi3GetUInt8, fmi3SetUInt8, u8;
    fmi3GetInt16, fmi3SetInt16, i16;
    fmi3GetUInt16, fmi3SetUInt16, u16;
    fmi3GetInt32, fmi3SetInt32, i32;
    fmi3GetUInt32, fmi3SetUInt32, u32;
    fmi3GetInt64, fmi3SetInt64, i64;
    fmi3GetUInt64, fmi3SetUInt64, u64;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetBoolean(
    c: Instance,
    vr: References,
    n: usize,
    out: *mut bool,
    n_out: usize,
) -> c_int {
    // SAFETY: arrays as the standard promises, here and below.
    let (vr, out) = unsafe { (array(vr, n), array_mut(out, n_out)) };
    with(c, |handle| {
        require_as_many(n, n_out)?;
        for (vr, out) in vr.iter().zip(out) {
            let number = handle
                .component
                .number(*vr, |ty| ty == ValueType::Boolean)?;
            *out = number != 0.0;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetBoolean(
    c: Instance,
    vr: References,
    n: usize,
    values: *const u8,
    n_values: usize,
) -> c_int {
    // SAFETY: see above. A Boolean of C is read as a byte: any that is not zero is true.
    let (vr, values) = unsafe { (array(vr, n), array(values, n_values)) };
    with(c, |handle| {
        require_as_many(n, n_values)?;
        let of = |b: &u8| Value::Boolean(*b != 0);
        set_all(handle, vr, values, of, |ty| ty == ValueType::Boolean)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetString(
    c: Instance,
    vr: References,
    n: usize,
    out: *mut *const c_char,
    n_out: usize,
) -> c_int {
    // SAFETY: see above.
    let (vr, out) = unsafe { (array(vr, n), array_mut(out, n_out)) };
    with(c, |handle| {
        require_as_many(n, n_out)?;
        handle.drop_texts();
        for (vr, out) in vr.iter().zip(out) {
            let text = handle.component.text(*vr)?;
            *out = handle.keep_text(&text);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetString(
    c: Instance,
    vr: References,
    n: usize,
    values: *const *const c_char,
    n_values: usize,
) -> c_int {
    // SAFETY: see above; each value is a text.
    let (vr, values) = unsafe { (array(vr, n), array(values, n_values)) };
    with(c, |handle| {
        require_as_many(n, n_values)?;
        // SAFETY: the same.
        let of = |value: &*const c_char| Value::String(unsafe { text(*value) });
        set_all(handle, vr, values, of, |ty| ty == ValueType::String)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetBinary(
    c: Instance,
    _vr: References,
    _n: usize,
    _sizes: *mut usize,
    _out: *mut *const u8,
    _n_out: usize,
) -> c_int {
    with(c, |_| Err(not_provided("binary variables")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetBinary(
    c: Instance,
    _vr: References,
    _n: usize,
    _sizes: *const usize,
    _values: *const *const u8,
    _n_values: usize,
) -> c_int {
    with(c, |_| Err(not_provided("binary variables")))
}
