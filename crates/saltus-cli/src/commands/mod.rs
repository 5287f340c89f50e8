//! One file per verb: arguments in, exit code out.

mod check;
mod compare;
mod compile;
mod explain;
mod export;
mod fmu;
mod format;
mod plot;
mod recover;
mod show;
mod simulate;
mod study;
mod sweep;
mod test;

pub(crate) use check::check;
pub(crate) use compare::compare;
pub(crate) use compile::compile;
pub(crate) use explain::explain;
pub(crate) use export::export;
pub(crate) use fmu::{fmu, open as open_fmu};
pub(crate) use format::format;
pub(crate) use plot::plot;
pub(crate) use recover::recover;
pub(crate) use show::show;
pub(crate) use simulate::{outputs as simulate_outputs, simulate};
pub(crate) use study::study;
pub(crate) use sweep::sweep;
pub(crate) use test::test;
