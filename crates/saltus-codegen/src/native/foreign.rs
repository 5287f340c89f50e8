//! Calls of C functions whose signature is known only now.
//!
//! Comes in: the address of a function and a [`ForeignCall`]. Goes out: its result and outputs. Types map as in specification
//! 12.9.1: Real is `double`; Integer, Boolean and enumerations are `int`; String is `const char *`; an external object is its
//! address; arrays, records and outputs are passed by address, arrays row by row, records as structures.
//!
//! Per shape of signature a small machine function is made that loads the arguments from memory and calls. Integers travel as
//! 64 bits with sign, of which an `int` parameter takes the lower half and a `size_t` parameter all.

use super::Engine;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, MemFlagsData, Signature, Type};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::Module;
use rustc_hash::FxHashMap;
use saltus_ir::external::{ForeignCall, ForeignResult};
use saltus_ir::{Base, Value};
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::Mutex;

/// Calls the function at the first address with the arguments in the second array; the result goes into the third.
pub type Bridge = unsafe extern "C" fn(*const c_void, *const u64, *mut u64);

/// Carries out a bridge; another number than 0 says that the function gave up.
pub type Guard = unsafe extern "C" fn(Bridge, *const c_void, *const u64, *mut u64) -> i32;

/// Where an argument or a result travels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Lane {
    Double,
    Word,
}

impl Lane {
    fn machine(self) -> Type {
        match self {
            Lane::Double => F64,
            Lane::Word => I64,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Shape {
    args: Vec<Lane>,
    result: Option<Lane>,
}

/// The bridges made so far. One call runs at a time: C code seldom expects anything else.
pub struct Bridges {
    made: Mutex<(Engine, FxHashMap<Shape, Bridge>)>,
}

/// What a call brought.
#[derive(Debug)]
pub struct Returned {
    pub result: ForeignResult,
    pub outputs: Vec<Value>,
}

#[derive(Debug)]
pub enum CallError {
    /// The arguments cannot be passed, or the results not be taken.
    Type(String),
    /// The guard says that the function gave up.
    GaveUp,
}

impl From<String> for CallError {
    fn from(why: String) -> CallError {
        CallError::Type(why)
    }
}

impl Bridges {
    /// `None` on a machine that no code can be made for.
    pub fn new() -> Option<Bridges> {
        Some(Bridges {
            made: Mutex::new((Engine::new()?, FxHashMap::default())),
        })
    }

    /// Calls a function.
    ///
    /// # Safety
    /// `address` is a C function whose parameters are those that the call implies.
    pub unsafe fn call(
        &self,
        address: *const c_void,
        call: &ForeignCall<'_>,
        guard: Option<Guard>,
    ) -> Result<Returned, CallError> {
        let mut texts = Vec::new();
        let mut memory = Vec::new();
        let mut words = Vec::with_capacity(call.args.len());
        let mut lanes = Vec::with_capacity(call.args.len());
        for (arg, is_output) in call.args.iter().zip(call.is_output) {
            let (lane, word) = match arg {
                Value::Real(x) if !is_output => (Lane::Double, x.to_bits()),
                Value::String(text) if !is_output => (Lane::Word, keep(text, &mut texts)?),
                Value::Object(k) if !is_output => (Lane::Word, call.addresses[*k as usize] as u64),
                Value::Array(_) | Value::Record(_) => by_address(arg, &mut memory, &mut texts)?,
                _ if *is_output => by_address(arg, &mut memory, &mut texts)?,
                _ => match arg.as_i64() {
                    Some(i) => {
                        int(i)?;
                        (Lane::Word, i as u64)
                    }
                    None => return Err(format!("no C type for {arg:?}").into()),
                },
            };
            lanes.push(lane);
            words.push(word);
        }
        let shape = Shape {
            args: lanes,
            result: match call.result.map(|ty| ty.base) {
                None => None,
                Some(Base::Real) => Some(Lane::Double),
                Some(Base::Record(_) | Base::Function | Base::Clock) => {
                    return Err("a C function cannot return this type".to_string().into());
                }
                Some(_) => Some(Lane::Word),
            },
        };
        let mut result = 0_u64;
        {
            // A panic elsewhere leaves complete bridges behind.
            let made = &mut *self.made.lock().unwrap_or_else(|e| e.into_inner());
            let bridge = match made.1.get(&shape) {
                Some(bridge) => *bridge,
                None => {
                    let bridge = (made.0.bridge(&shape))
                        .ok_or_else(|| "this signature cannot be called".to_string())?;
                    made.1.insert(shape, bridge);
                    bridge
                }
            };
            // SAFETY: the function has these parameters (promised by the caller); the words and what they point to live
            // until the end of this call.
            let gave_up = unsafe {
                match guard {
                    Some(guard) => guard(bridge, address, words.as_ptr(), &mut result),
                    None => {
                        bridge(address, words.as_ptr(), &mut result);
                        0
                    }
                }
            };
            if gave_up != 0 {
                return Err(CallError::GaveUp);
            }
        }
        let mut blocks = memory.iter();
        let mut outputs = Vec::new();
        for (arg, is_output) in call.args.iter().zip(call.is_output) {
            if !is_output && !matches!(arg, Value::Array(_) | Value::Record(_)) {
                continue;
            }
            let block: &Vec<u64> = blocks.next().expect("one block per argument by address");
            if *is_output {
                let bytes: Vec<u8> = block.iter().flat_map(|w| w.to_ne_bytes()).collect();
                outputs.push(decode(arg, &bytes, &mut 0)?);
            }
        }
        let result = match call.result.map(|ty| ty.base) {
            None => ForeignResult::Nothing,
            Some(Base::Object(_)) => ForeignResult::Address(result as usize),
            Some(Base::Real) => ForeignResult::Value(Value::Real(f64::from_bits(result))),
            Some(Base::String) => ForeignResult::Value(text(result)?),
            Some(Base::Boolean) => ForeignResult::Value(Value::Boolean(result as u32 != 0)),
            Some(Base::Enum(id)) => ForeignResult::Value(Value::Enum(id, result as u32)),
            Some(_) => ForeignResult::Value(Value::Integer(i64::from(result as u32 as i32))),
        };
        Ok(Returned { result, outputs })
    }
}

impl Engine {
    fn bridge(&mut self, shape: &Shape) -> Option<Bridge> {
        let call_conv = self.module.isa().default_call_conv();
        let frontend = self.module.isa().frontend_config();
        let function = &mut self.context.func;
        function.signature.call_conv = call_conv;
        function.signature.params = vec![AbiParam::new(I64); 3];
        let mut b = FunctionBuilder::new(function, &mut self.builder);
        let mut callee = Signature::new(call_conv);
        callee.params = (shape.args.iter())
            .map(|lane| AbiParam::new(lane.machine()))
            .collect();
        callee.returns = (shape.result.iter())
            .map(|lane| AbiParam::new(lane.machine()))
            .collect();
        let callee = b.import_signature(callee);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        b.seal_block(entry);
        let params = b.block_params(entry).to_vec();
        let trusted = MemFlagsData::trusted();
        let args: Vec<_> = (shape.args.iter().enumerate())
            .map(|(k, lane)| {
                let offset = 8 * i32::try_from(k).expect("fewer than 2^28 arguments");
                b.ins().load(lane.machine(), trusted, params[1], offset)
            })
            .collect();
        let call = b.ins().call_indirect(callee, params[0], &args);
        if let Some(&value) = b.inst_results(call).first() {
            b.ins().store(trusted, value, params[2], 0);
        }
        b.ins().return_(&[]);
        b.finalize(frontend);
        let signature = &self.context.func.signature;
        let id = self.module.declare_anonymous_function(signature).ok()?;
        let defined = self.module.define_function(id, &mut self.context);
        self.module.clear_context(&mut self.context);
        defined.ok()?;
        self.module.finalize_definitions().ok()?;
        let address = self.module.get_finalized_function(id);
        // SAFETY: the function was defined above with this signature and the host's calling convention.
        Some(unsafe { std::mem::transmute::<*const u8, Bridge>(address) })
    }
}

fn int(i: i64) -> Result<i32, String> {
    i32::try_from(i).map_err(|_| format!("{i} does not fit into an `int` of C"))
}

/// Address of a text with a zero at its end.
fn keep(text: &str, texts: &mut Vec<CString>) -> Result<u64, String> {
    let text =
        CString::new(text).map_err(|_| "a text with a zero in it has no form in C".to_string())?;
    let address = text.as_ptr() as u64;
    texts.push(text);
    Ok(address)
}

/// Puts a value into memory of its own.
fn by_address(
    value: &Value,
    memory: &mut Vec<Vec<u64>>,
    texts: &mut Vec<CString>,
) -> Result<(Lane, u64), String> {
    let mut bytes = Vec::new();
    encode(value, &mut bytes, texts)?;
    // At least one word, so that the address is a good one.
    let mut block = vec![0_u64; bytes.len().div_ceil(8).max(1)];
    for (word, part) in block.iter_mut().zip(bytes.chunks(8)) {
        let mut whole = [0; 8];
        whole[..part.len()].copy_from_slice(part);
        *word = u64::from_ne_bytes(whole);
    }
    let address = block.as_ptr() as u64;
    memory.push(block);
    Ok((Lane::Word, address))
}

/// Alignment of a value as the C compilers of all supported machines have it.
fn alignment(value: &Value) -> usize {
    match value {
        Value::Integer(_) | Value::Boolean(_) | Value::Enum(..) => 4,
        Value::Array(array) => array.elems.first().map_or(1, alignment),
        Value::Record(fields) => fields.iter().map(alignment).max().unwrap_or(1),
        _ => 8,
    }
}

fn encode(value: &Value, bytes: &mut Vec<u8>, texts: &mut Vec<CString>) -> Result<(), String> {
    bytes.resize(bytes.len().next_multiple_of(alignment(value)), 0);
    match value {
        Value::Real(x) => bytes.extend(x.to_ne_bytes()),
        Value::String(text) => bytes.extend(keep(text, texts)?.to_ne_bytes()),
        Value::Array(array) => {
            for element in &array.elems {
                encode(element, bytes, texts)?;
            }
        }
        Value::Record(fields) => {
            for field in fields.iter() {
                encode(field, bytes, texts)?;
            }
            bytes.resize(bytes.len().next_multiple_of(alignment(value)), 0);
        }
        Value::Integer(_) | Value::Boolean(_) | Value::Enum(..) => {
            let i = value.as_i64().expect("these are whole numbers");
            bytes.extend(int(i)?.to_ne_bytes());
        }
        Value::Object(_) | Value::Function(..) => {
            return Err("an external object inside of an array or record".into());
        }
    }
    Ok(())
}

/// The value of the same type and size as `like` from memory.
fn decode(like: &Value, bytes: &[u8], at: &mut usize) -> Result<Value, String> {
    *at = at.next_multiple_of(alignment(like));
    fn take<const N: usize>(bytes: &[u8], at: &mut usize) -> [u8; N] {
        let part = bytes[*at..*at + N].try_into().expect("N bytes");
        *at += N;
        part
    }
    Ok(match like {
        Value::Real(_) => Value::Real(f64::from_ne_bytes(take(bytes, at))),
        Value::Integer(_) => Value::Integer(i64::from(i32::from_ne_bytes(take(bytes, at)))),
        Value::Boolean(_) => Value::Boolean(i32::from_ne_bytes(take(bytes, at)) != 0),
        Value::Enum(id, _) => Value::Enum(*id, u32::from_ne_bytes(take(bytes, at))),
        Value::String(_) => text(u64::from_ne_bytes(take(bytes, at)))?,
        Value::Array(array) => {
            let elems: Result<Vec<Value>, String> =
                array.elems.iter().map(|e| decode(e, bytes, at)).collect();
            Value::array(array.dims.clone(), elems?)
        }
        Value::Record(fields) => {
            let fields: Result<Vec<Value>, String> =
                fields.iter().map(|f| decode(f, bytes, at)).collect();
            *at = at.next_multiple_of(alignment(like));
            Value::Record(fields?.into())
        }
        Value::Object(_) | Value::Function(..) => {
            return Err("an external object as an output argument".into());
        }
    })
}

/// The text that C code returned.
fn text(address: u64) -> Result<Value, String> {
    if address == 0 {
        return Err("it returned a null pointer as a String".into());
    }
    // SAFETY: the function promises a text that ends with a zero; it is copied before anything else is called.
    let text = unsafe { CStr::from_ptr(address as *const c_char) };
    let text = text
        .to_str()
        .map_err(|_| "it returned a String that is not UTF-8".to_string())?;
    Ok(Value::String(text.into()))
}
