//! The runtime inside of an FMU: the C functions of FMI 2.0 and 3.0 on [`saltus::Simulator`].
//!
//! Comes in: calls of any program that runs FMUs; the model from the folder `resources` of the FMU. Goes out: values.
//!
//! | file | what it owns |
//! |---|---|
//! | `component` | one instance: phases, values, steps; safe code that knows no C |
//! | `loaded` | the model of a folder, shared by its instances |
//! | `snapshot` | states that are kept, restored and written down |
//! | `handle` | the border to C: pointers, panics, messages |
//! | `fmi2`, `fmi3` | the functions of the standards, thin |

mod component;
pub mod fmi2;
pub mod fmi3;
mod handle;
mod loaded;
mod snapshot;
