//! Clocked partitions (specification 16): their equations hold at the ticks of one clock, between ticks values are kept.

use crate::events::{Context, Extractor};
use crate::rewrite::Forms;
use crate::system::TimeEvent;
use crate::work::{Class, ClockedStep, Eq, Kind, Work};
use saltus_ir::flat::{ClockKind, ClockedPartition};
use saltus_ir::{Base, ExprId};

/// Makes the variables of partitions discrete.
pub(crate) fn declare_clocked_variables(work: &mut Work, partitions: &[ClockedPartition]) {
    for (k, partition) in partitions.iter().enumerate() {
        for &var in &partition.variables {
            if work.class(var).is_unknown() {
                work.class[var.0 as usize] = Class::Discrete;
                work.partition.insert(var, k as u32);
                work.clocked_vars.push((var, partition.origin));
            }
        }
    }
}

/// Adds the time event and the equations of a partition.
pub(crate) fn add_partition(
    extractor: &mut Extractor<'_>,
    forms: &mut Forms,
    index: usize,
    partition: &ClockedPartition,
) {
    let active = tick(extractor, forms, index, partition);
    let first = extractor.work.equations.len();
    (extractor.work.clocked_steps).extend(partition.steps.iter().map(|step| ClockedStep {
        partition: index as u32,
        state: step.state,
        derivative: step.derivative,
        equation: first + step.equation,
    }));
    for equation in &partition.equations {
        let lhs = extractor.extract(equation.lhs, Context::When, equation.origin);
        let rhs = extractor.extract(equation.rhs, Context::When, equation.origin);
        let (lhs, rhs) = (
            forms.event(extractor.work, lhs),
            forms.event(extractor.work, rhs),
        );
        extractor.work.equations.push(Eq {
            lhs,
            rhs,
            initial: None,
            late: None,
            kind: Kind::Clocked {
                active,
                partition: index as u32,
            },
            origin: equation.origin,
        });
    }
}

/// The Boolean expression that is true in the one iteration of an event in which the clock ticks.
fn tick(
    extractor: &mut Extractor<'_>,
    forms: &mut Forms,
    index: usize,
    partition: &ClockedPartition,
) -> ExprId {
    let span = partition.origin.span;
    if let ClockKind::Event { condition } = partition.clock {
        let condition = extractor.extract(condition, Context::Events, partition.origin);
        let condition = forms.event(extractor.work, condition);
        return extractor.edge(condition);
    }
    let work = &mut *extractor.work;
    let flag = work.new_var(
        &format!("$tick[{}]", index + 1),
        Base::Boolean,
        Class::Flag,
        span,
    );
    match partition.clock {
        ClockKind::Periodic { period, shift } => work.time_events.push(TimeEvent::Tick {
            flag,
            period: (period.num, period.den),
            shift: (shift.num, shift.den),
        }),
        ClockKind::PeriodicReal {
            interval,
            factor,
            shift,
        } => {
            let time_start = work.flat.experiment.start_time.unwrap_or(0.0);
            let ir = &mut work.flat.ir;
            let time_start = ir.real(time_start);
            let shift = ir.real(shift.num as f64 / shift.den as f64);
            let factor = ir.real(factor.num as f64 / factor.den as f64);
            let delay = ir.mul(shift, interval);
            let start = ir.add_(time_start, delay);
            let interval = ir.mul(factor, interval);
            work.time_events.push(TimeEvent::Sample {
                flag,
                start,
                interval,
            });
        }
        ClockKind::Event { .. } => unreachable!("returned above"),
    }
    let node = work.var(flag);
    extractor.edge(node)
}
