//! Explicit code that runs as one, without a driver.
//!
//! Comes in: a [`Program`]. Goes out: [`Sequences`], for each schedule of explicit code on numbers alone, and for the crossing functions with what their
//! schedules compute before. A sequence checks its arrays once. As soon as all of its tapes have machine code, it is a list of functions to call.

use super::CompiledSystem;
use crate::code::Code;
use crate::light::Extent;
use crate::native::Entry;
use crate::program::Program;
use saltus_model::{CodeId, CrossingClass, ScheduleKind, Section, Status, Values};
use std::cell::{Cell, OnceCell};

/// Runs between two looks for machine code.
const RUNS_BETWEEN_LOOKS: u32 = 256;

/// Those of one mode.
pub(super) struct Sequences {
    /// By [`ScheduleKind`].
    schedules: [Option<Sequence>; 5],
    pub(super) crossings: Option<Sequence>,
    pub(super) affine: Option<Sequence>,
    /// The event schedule leaves all continuous variables as the other schedules would.
    pub(super) event_completes: bool,
}

impl Sequences {
    pub(super) fn of(program: &Program) -> Sequences {
        use ScheduleKind::{Crossings, Derivatives, Event, Initial, Outputs};
        let of = |kinds: &[ScheduleKind], last: Option<Part>| Sequence::of(program, kinds, last);
        let mut classes = program.crossings.iter().map(|c| c.class);
        let before: &[ScheduleKind] = match classes.all(|class| class == CrossingClass::Affine) {
            true => &[],
            false => &[Derivatives, Crossings],
        };
        let schedules =
            [Derivatives, Crossings, Outputs, Event, Initial].map(|kind| of(&[kind], None));
        Sequences {
            event_completes: schedules[..3].iter().all(Option::is_some)
                && program.event_memory().is_some()
                // Flags of time events hold during passes only.
                && !program.has_calendar(),
            schedules,
            crossings: of(before, Some(Part::Crossings)),
            affine: of(&[], Some(Part::Affine)),
        }
    }

    #[inline]
    pub(super) fn schedule(&self, kind: ScheduleKind) -> Option<&Sequence> {
        let index = match kind {
            ScheduleKind::Derivatives => 0,
            ScheduleKind::Crossings => 1,
            ScheduleKind::Outputs => 2,
            ScheduleKind::Event => 3,
            ScheduleKind::Initial => 4,
        };
        self.schedules[index].as_ref()
    }
}

/// Which code of a program.
#[derive(Clone, Copy)]
enum Part {
    Section(CodeId),
    Crossings,
    Affine,
}

impl Part {
    fn code(self, program: &Program) -> &Code {
        match self {
            Part::Section(code) => &program.codes[code.0 as usize],
            Part::Crossings => &program.crossing_tape,
            Part::Affine => &program.affine_tape,
        }
    }
}

/// Tapes on numbers alone, in their order. The last one only may have results.
pub(super) struct Sequence {
    parts: Vec<Part>,
    extent: Extent,
    /// Each machine function with the part that it belongs to.
    native: OnceCell<Vec<(Entry, Part)>>,
    until_look: Cell<u32>,
}

impl Sequence {
    /// `None` if something in it is no explicit code on numbers alone.
    fn of(program: &Program, kinds: &[ScheduleKind], last: Option<Part>) -> Option<Sequence> {
        let mut parts = Vec::new();
        for section in kinds.iter().flat_map(|kind| program.schedule(*kind)) {
            match *section {
                Section::Explicit(code) => parts.push(Part::Section(code)),
                Section::Linear(_) | Section::Nonlinear(_) | Section::Mixed(_) => return None,
            }
        }
        parts.extend(last);
        let mut extent = Extent::default();
        for part in &parts {
            extent = extent.with(part.code(program).light()?);
        }
        parts.retain(|part| !part.code(program).tape.ops.is_empty());
        Some(Sequence {
            parts,
            extent,
            native: OnceCell::new(),
            until_look: Cell::new(RUNS_BETWEEN_LOOKS),
        })
    }

    #[inline]
    pub(super) fn run(
        &self,
        system: &CompiledSystem,
        values: &mut Values,
        out: &mut [f64],
    ) -> Status {
        let Some(native) = self.native.get() else {
            return self.run_codes(system, values, out);
        };
        let work = &mut *system.work.borrow_mut();
        let extent = &self.extent;
        assert!(
            values.v.len().min(values.pre.len()) >= extent.n_slots
                && out.len() >= extent.n_out
                && work.regs.len() >= extent.n_regs,
            "machine code gets the arrays its tapes were made for"
        );
        let (slots, pre) = (values.v.as_mut_ptr(), values.pre.as_ptr());
        let results = out.as_mut_ptr().cast();
        let registers = work.regs.as_mut_ptr().cast();
        let (run, seeds) = (std::ptr::null_mut(), std::ptr::null());
        for (entry, part) in native {
            // SAFETY: the engine that owns the code lives as long as the program; the arrays are long enough (checked above) and nothing else uses
            // them now; operations on numbers alone ask for no run and no directions.
            let at = unsafe { entry(slots, pre, results, registers, run, seeds) };
            if at != 0 {
                let code = part.code(&system.program);
                let (how, cx) = (system.how(), system.context());
                let fault = code.native_fault(&how, &cx, work, values, out, at as usize - 1);
                return Err(*fault);
            }
        }
        Ok(())
    }

    /// Before all tapes have machine code.
    #[inline(never)]
    fn run_codes(&self, system: &CompiledSystem, values: &mut Values, out: &mut [f64]) -> Status {
        let program = &*system.program;
        let work = &mut *system.work.borrow_mut();
        let (how, cx) = (system.how(), system.context());
        for part in &self.parts {
            let code = part.code(program);
            code.run(&how, &cx, work, values, out)
                .map_err(|fault| *fault)?;
        }
        let left = self.until_look.get() - 1;
        self.until_look.set(left);
        if left == 0 {
            self.until_look.set(RUNS_BETWEEN_LOOKS);
            let entries = |part: &Part| {
                let entries = part.code(program).native_entries(&how)?;
                Some(entries.iter().map(|entry| (*entry, *part)).collect())
            };
            let all: Option<Vec<Vec<(Entry, Part)>>> = self.parts.iter().map(entries).collect();
            if let Some(all) = all {
                work.regs
                    .resize(work.regs.len().max(self.extent.n_regs), 0.0);
                self.native.get_or_init(|| all.concat());
            }
        }
        Ok(())
    }
}
