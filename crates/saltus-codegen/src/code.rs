//! A tape with the two ways to run it: interpreted, and as machine code.
//!
//! Both give the same bits, so that a run may change from one to the other at any time. Machine code is made when a tape
//! has run often enough to pay for its compilation ([`RUNS_TO_COMPILE`]); what runs once is interpreted. Code and
//! counts belong to the model and are shared by its runs.

use crate::light::{self, Extent};
use crate::native::{self, Engine, Entry, NativeCode};
use crate::num::Dual;
use crate::tape::Tape;
use crate::work::{Columns, Context, Work};
use saltus_model::{Fault, Values};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// How the code of a model is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Execution {
    /// Interpreted first, compiled when it has run often.
    #[default]
    Adaptive,
    /// Never compiled.
    Interpreted,
    /// Compiled before it runs for the first time.
    Native,
}

/// A tape of n operations is compiled after `RUNS_TO_COMPILE + WORK_TO_COMPILE/n` runs. By then interpreting it has cost about as
/// much more than running machine code as compiling it costs (per operation, and once per tape), so that a run takes at
/// most twice as long as with the better choice from the start, and a short one pays nothing. Where a tape cannot be cut into pieces of the usual
/// length, because a jump passes over a long stretch, the time to compile an operation grows with that stretch; it is taken as
/// proportional to it, and that many more runs come first.
const RUNS_TO_COMPILE: u32 = 2000;
/// Operations to interpret that take as long as to begin compiling a tape.
const WORK_TO_COMPILE: u32 = 40_000;

/// The engine of a model, made when the first tape is compiled.
#[derive(Default)]
pub(crate) struct SharedEngine(Mutex<EngineState>);

#[derive(Default)]
enum EngineState {
    #[default]
    NotNeeded,
    Ready(Box<Engine>),
    /// This machine has no code generator.
    Absent,
}

impl SharedEngine {
    fn compile(&self, tape: &Tape, lanes: usize) -> Option<NativeCode> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let EngineState::NotNeeded = *state {
            *state = match Engine::new() {
                Some(engine) => EngineState::Ready(Box::new(engine)),
                None => EngineState::Absent,
            };
        }
        match &mut *state {
            EngineState::Ready(engine) => engine.compile(tape, lanes),
            EngineState::NotNeeded | EngineState::Absent => None,
        }
    }
}

impl std::fmt::Debug for SharedEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedEngine")
    }
}

/// Counts runs and keeps the machine code once there is some.
#[derive(Debug, Default)]
pub(crate) struct Tier {
    runs: AtomicU32,
    /// The longest stretch of the tape that is one machine function, in usual lengths; known when it matters.
    stretch: OnceLock<u32>,
    /// `None` inside: there can be none.
    code: OnceLock<Option<NativeCode>>,
}

impl Tier {
    #[inline]
    pub(crate) fn code(&self, how: &How, tape: &Tape, lanes: usize) -> Option<&NativeCode> {
        match (how.execution, self.code.get()) {
            (Execution::Interpreted, _) => None,
            (Execution::Adaptive | Execution::Native, Some(code)) => code.as_ref(),
            (execution, None) => self.not_yet(execution, how, tape, lanes),
        }
    }

    /// Counts a run, and compiles the tape if that pays now.
    fn not_yet(
        &self,
        execution: Execution,
        how: &How,
        tape: &Tape,
        lanes: usize,
    ) -> Option<&NativeCode> {
        if execution == Execution::Adaptive {
            // Runs that count at once may count as one: no result depends on it.
            let runs = self.runs.load(Ordering::Relaxed);
            self.runs.store(runs.saturating_add(1), Ordering::Relaxed);
            let n = (tape.ops.len() as u32).max(1);
            let by_length = WORK_TO_COMPILE / n;
            if runs < RUNS_TO_COMPILE + by_length {
                return None;
            }
            let stretch = *(self.stretch).get_or_init(|| native::stretch(tape, lanes));
            if runs < RUNS_TO_COMPILE.saturating_mul(stretch) + by_length {
                return None;
            }
        }
        self.code
            .get_or_init(|| how.engine.compile(tape, lanes))
            .as_ref()
    }
}

/// Where a run without context has not gone on.
enum Failed {
    /// It has not begun.
    Begin,
    /// At this operation; everything before it is done.
    Interpreted(usize),
    Native(usize),
}

/// How one run carries code out.
#[derive(Clone, Copy)]
pub(crate) struct How<'a> {
    pub(crate) execution: Execution,
    pub(crate) engine: &'a SharedEngine,
}

/// A tape that may run often.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) tape: Tape,
    /// For a tape that needs nothing but numbers.
    light: Option<Extent>,
    plain: Tier,
    columns: Tier,
}

/// Written as its tape: machine code is made anew where it pays.
impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.tape.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Code, D::Error> {
        Tape::deserialize(deserializer).map(Code::from)
    }
}

impl From<Tape> for Code {
    fn from(tape: Tape) -> Code {
        Code {
            light: Extent::of(&tape),
            tape,
            ..Code::default()
        }
    }
}

impl Code {
    /// How long its arrays are, if it needs nothing but numbers.
    pub(crate) fn light(&self) -> Option<Extent> {
        self.light
    }

    /// Its machine functions on plain numbers, if it has them and they are to be used.
    pub(crate) fn native_entries(&self, how: &How) -> Option<&[Entry]> {
        let code = self.plain.code.get()?.as_ref()?;
        (how.execution != Execution::Interpreted).then_some(code.entries())
    }

    /// The fault of the operation at which a machine function has not gone on.
    #[cold]
    pub(crate) fn native_fault(
        &self,
        how: &How,
        cx: &Context,
        work: &mut Work,
        values: &mut Values,
        out: &mut [f64],
        pc: usize,
    ) -> Box<Fault> {
        match self.run_whole(Failed::Native(pc), how, cx, work, values, out) {
            Err(fault) => fault,
            Ok(()) => unreachable!("the operation that failed has a fault"),
        }
    }

    /// Runs on plain numbers.
    #[inline]
    pub(crate) fn run(
        &self,
        how: &How,
        cx: &Context,
        work: &mut Work,
        values: &mut Values,
        out: &mut [f64],
    ) -> Result<(), Box<Fault>> {
        let failed = match self.light {
            Some(extent) => self.run_light(extent, how, &mut work.regs, values, out),
            None => Err(Failed::Begin),
        };
        match failed {
            Ok(()) => Ok(()),
            Err(failed) => self.run_whole(failed, how, cx, work, values, out),
        }
    }

    /// Runs without a context, as far as nothing fails.
    #[inline]
    fn run_light(
        &self,
        extent: Extent,
        how: &How,
        regs: &mut Vec<f64>,
        values: &mut Values,
        out: &mut [f64],
    ) -> Result<(), Failed> {
        if self.tape.ops.is_empty() {
            return Ok(());
        }
        if values.v.len().min(values.pre.len()) < extent.n_slots || out.len() < extent.n_out {
            return Err(Failed::Begin);
        }
        if regs.len() < extent.n_regs {
            regs.resize(extent.n_regs, 0.0);
        }
        match self.plain.code(how, &self.tape, 0) {
            Some(code) => code
                .run_light(extent, regs, values, out)
                .map_err(Failed::Native),
            None => {
                let (slots, pre) = (values.v.as_mut_ptr(), values.pre.as_ptr());
                // SAFETY: the arrays are as long as the extent says (checked above), and are three vectors and a slice of another.
                let ran = unsafe {
                    light::run(
                        &self.tape.ops,
                        regs.as_mut_ptr(),
                        slots,
                        pre,
                        out.as_mut_ptr(),
                    )
                };
                ran.map_err(Failed::Interpreted)
            }
        }
    }

    /// Runs with all that an operation may need.
    #[inline(never)]
    fn run_whole(
        &self,
        from: Failed,
        how: &How,
        cx: &Context,
        work: &mut Work,
        values: &mut Values,
        out: &mut [f64],
    ) -> Result<(), Box<Fault>> {
        let tape = &self.tape;
        if tape.ops.is_empty() {
            return Ok(());
        }
        let mut regs = std::mem::take(&mut work.regs);
        if regs.len() < tape.frame as usize {
            regs.resize(tape.frame as usize, 0.0);
        }
        let status = match from {
            // The operation that failed gives the fault.
            Failed::Interpreted(pc) => {
                tape.run(pc..tape.ops.len(), cx, work, &mut regs, values, out, 0)
            }
            Failed::Native(pc) => Err(native::fault(tape, cx, work, &mut regs, values, out, pc)),
            Failed::Begin => match self.plain.code(how, tape, 0) {
                Some(code) => code.run(tape, cx, work, &mut regs, values, out, 0, std::ptr::null()),
                None => tape.run(tape.whole(), cx, work, &mut regs, values, out, 0),
            },
        };
        work.regs = regs;
        status
    }

    /// Derivatives of the first `n_rows` results in `n` directions, column-major; `L` directions per pass.
    pub(crate) fn jacobian<const L: usize>(
        &self,
        how: &How,
        cx: &Context,
        work: &mut Work,
        values: &mut Values,
        jacobian: &mut [f64],
        (n_rows, n): (usize, usize),
        buffers: impl Fn(&mut Work) -> &mut Columns<L>,
    ) -> Result<(), Box<Fault>> {
        let tape = &self.tape;
        let Columns { mut regs, mut out } = std::mem::take(buffers(work));
        let mut seeds = std::mem::take(&mut work.seeds);
        regs.resize(regs.len().max(tape.frame as usize), Dual::ZERO);
        out.clear();
        out.resize(n_rows, Dual::ZERO);
        let centre = make_seeds(&mut seeds, n, L);
        let code = self.columns.code(how, tape, L);
        let mut status = Ok(());
        for first in (0..n).step_by(L) {
            status = match code {
                Some(code) => {
                    let seeds = &raw const seeds[centre + first];
                    code.run(tape, cx, work, &mut regs, values, &mut out, first, seeds)
                }
                None => tape.run(tape.whole(), cx, work, &mut regs, values, &mut out, first),
            };
            if status.is_err() {
                break;
            }
            for column in first..n.min(first + L) {
                for (row, residual) in out.iter().enumerate() {
                    jacobian[column * n_rows + row] = residual.d[column - first];
                }
            }
        }
        work.seeds = seeds;
        *buffers(work) = Columns { regs, out };
        status
    }
}

/// Zeros around a single one; returns its index c. Lane l of direction i in the window from `first` on is number
/// c + first - i + l, which is the one exactly if i = first + l.
fn make_seeds(seeds: &mut Vec<f64>, n: usize, lanes: usize) -> usize {
    seeds.clear();
    seeds.resize(2 * n + 2 * lanes, 0.0);
    seeds[n] = 1.0;
    n
}
