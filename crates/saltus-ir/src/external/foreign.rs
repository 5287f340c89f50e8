//! The way to functions that are not written here: `external "C"` of users (specification 12.9).
//!
//! Comes in: the call of a function that is not built in. Goes out: what it returns. The call itself is the matter of the
//! [`Host`](super::Host); here external objects are turned into addresses and back, and taken away at the end of the run in
//! the opposite order of their making.

use super::{Object, Objects};
use crate::eval::{ExternalCall, ExternalError, ExternalReply};
use crate::func::ForeignCode;
use crate::{Type, Value};

/// A call of foreign code.
#[derive(Clone, Copy, Debug)]
pub struct ForeignCall<'a> {
    pub name: &'a str,
    pub language: &'a str,
    /// As in [`ExternalCall`], but an external object is the number of an address in `addresses`.
    pub args: &'a [Value],
    pub is_output: &'a [bool],
    pub result: Option<&'a Type>,
    pub code: &'a ForeignCode,
    pub addresses: &'a [usize],
}

#[derive(Clone, Debug, PartialEq)]
pub enum ForeignResult {
    Nothing,
    Value(Value),
    /// Address of a new external object.
    Address(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ForeignReply {
    pub result: ForeignResult,
    /// The new values of the output arguments, in order.
    pub outputs: Vec<Value>,
    /// What the function has printed by the means of the language.
    pub messages: Vec<String>,
}

/// An external object and how it ends.
#[derive(Clone, Debug)]
pub(super) struct Owned {
    address: usize,
    destructor: String,
    code: ForeignCode,
}

impl Objects {
    pub(super) fn foreign(
        &mut self,
        call: &ExternalCall<'_>,
    ) -> Result<ExternalReply, ExternalError> {
        let mut addresses = Vec::new();
        let mut args = Vec::with_capacity(call.args.len());
        for arg in call.args {
            args.push(match arg {
                Value::Object(number) => {
                    let Object::Foreign(address) = self.object(f64::from(*number))? else {
                        let why = "a foreign function was given an object that is built in";
                        return Err(why.to_string().into());
                    };
                    addresses.push(*address);
                    Value::Object(addresses.len() as u32 - 1)
                }
                other => other.clone(),
            });
        }
        let reply = self.host.foreign(&ForeignCall {
            name: call.name,
            language: call.language,
            args: &args,
            is_output: call.is_output,
            result: call.result,
            code: call.code,
            addresses: &addresses,
        })?;
        self.messages.extend(reply.messages);
        let result = match reply.result {
            ForeignResult::Nothing => None,
            ForeignResult::Value(value) => Some(value),
            ForeignResult::Address(0) => {
                let why = "the constructor of an external object returned a null pointer";
                return Err(why.to_string().into());
            }
            ForeignResult::Address(address) => {
                if let Some((destructor, code)) = call.destructor {
                    self.owned.push(Owned {
                        address,
                        destructor: destructor.to_string(),
                        code: code.clone(),
                    });
                }
                self.add(Object::Foreign(address)).result
            }
        };
        Ok(ExternalReply {
            result,
            outputs: reply.outputs,
        })
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        for object in self.owned.iter().rev() {
            // A run that is over has nobody to tell that its object could not be taken away.
            let _ = self.host.foreign(&ForeignCall {
                name: &object.destructor,
                language: "C",
                args: &[Value::Object(0)],
                is_output: &[false],
                result: None,
                code: &object.code,
                addresses: &[object.address],
            });
        }
    }
}
