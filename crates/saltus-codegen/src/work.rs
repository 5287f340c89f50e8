//! What one run owns: registers, external objects, texts, delay memories.

use crate::code::How;
use crate::delay::DelayBuffer;
use crate::functions::FunctionCode;
use crate::layout::Layout;
use crate::num::Dual;
use crate::transport::Transport;
use rustc_hash::FxHashMap;
use saltus_ir::external::Objects;
use saltus_ir::flat::FlatModel;
use saltus_model::Values;
use std::sync::Arc;

/// What the interpreter reads but never changes.
pub(crate) struct Context<'a> {
    pub(crate) flat: &'a FlatModel,
    pub(crate) layout: &'a Layout,
    pub(crate) functions: &'a [FunctionCode],
    pub(crate) how: How<'a>,
}

/// Texts by number: a String variable's slot holds a number of this table. Equal texts have equal numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    items: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, u32>,
}

impl Texts {
    pub(crate) fn intern(&mut self, text: &Arc<str>) -> f64 {
        if let Some(&n) = self.numbers.get(text) {
            return f64::from(n);
        }
        let n = self.items.len() as u32;
        self.items.push(text.clone());
        self.numbers.insert(text.clone(), n);
        f64::from(n)
    }

    pub(crate) fn items(&self) -> &[Arc<str>] {
        &self.items
    }

    /// Texts by number.
    pub(crate) fn set_items(&mut self, items: Vec<Arc<str>>) {
        self.numbers = items.iter().cloned().zip(0..).collect();
        self.items = items;
    }

    /// The text of a slot's value; an unset String is empty.
    pub(crate) fn get(&self, number: f64) -> Arc<str> {
        match self.items.get(number as usize) {
            Some(text) if number >= 0.0 => text.clone(),
            _ => "".into(),
        }
    }
}

/// Registers and results of a pass that computes `L` columns of a Jacobian.
#[derive(Debug, Default)]
pub(crate) struct Columns<const L: usize> {
    pub(crate) regs: Vec<Dual<L>>,
    pub(crate) out: Vec<Dual<L>>,
}

/// The past of one `delay` or `spatialDistribution`.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) enum Memory {
    Delay(DelayBuffer),
    Transport(Transport),
}

impl Memory {
    /// The value now: `delay` is the delay time or the position, `extra` the longest delay or the direction.
    pub(crate) fn value(&self, now: f64, delay: f64, extra: f64, current: f64) -> f64 {
        match self {
            Memory::Delay(buffer) => buffer.value(now, delay, current),
            Memory::Transport(transport) => transport.value(delay, extra != 0.0, current),
        }
    }

    pub(crate) fn range(&self) -> (Option<f64>, Option<f64>) {
        match self {
            Memory::Delay(buffer) => buffer.range(),
            Memory::Transport(transport) => transport.range(),
        }
    }
}

pub(crate) struct Work {
    pub(crate) regs: Vec<f64>,
    pub(crate) two: Columns<2>,
    pub(crate) four: Columns<4>,
    pub(crate) eight: Columns<8>,
    /// Directions of the unknowns for native code; see [`crate::code`].
    pub(crate) seeds: Vec<f64>,
    /// A Jacobian with columns that share no row added up.
    pub(crate) together: Vec<f64>,
    pub(crate) objects: Objects,
    pub(crate) texts: Texts,
    pub(crate) delays: Vec<Memory>,
    /// Values given from outside, by slot, while binding.
    pub(crate) overrides: FxHashMap<u32, f64>,
    /// A copy of the values for code that must not change them.
    pub(crate) scratch: Values,
    /// Results of code that computes numbers beside the slots.
    pub(crate) numbers: Vec<f64>,
    /// Registers of functions whose derivatives are difference quotients, and results on one side.
    pub(crate) frame: Vec<f64>,
    pub(crate) side: Vec<f64>,
    /// Calls of functions that have code, but were carried out by the evaluator because the code gave up.
    pub(crate) gave_up: u64,
}
