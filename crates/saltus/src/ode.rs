//! Event-correct trajectories of problems written in Rust, without Modelica.
//!
//! A right-hand side, crossing functions, what happens at them:
//!
//! ```
//! use saltus::ode::{Crossing, OdeProblem, Simulate};
//!
//! let ball = OdeProblem::new("ball", &[("x", 1.0), ("v", 0.0)], |at, dx| {
//!     dx[0] = at.x[1];
//!     dx[1] = -9.81;
//! })
//! .crossings(&[Crossing::below("x < 0").affine()], |at, r| r[0] = at.x[0])
//! .on_event(|jump| if jump.became_true(0) { jump.x[1] *= -0.85 })
//! .build();
//! let run = ball.experiment().stop_time(2.0).tolerance(1e-9).simulate()?;
//! let bounces: Vec<f64> = run.events().iter().filter(|e| !e.cause.is_empty()).map(|e| e.time).collect();
//! assert_eq!(bounces.len(), 3);
//! assert!((bounces[0] - (2.0f64 / 9.81).sqrt()).abs() < 1e-12);
//! # Ok::<(), saltus::Error>(())
//! ```
//!
//! The experiment is that of a compiled model: solver by name, output grid, limits, results that can be written and plotted. What
//! the closures compute is inlined into the integrators; no dynamic call is made in the inner loop.
//!
//! An implicit problem F(t, x, x', y) = 0 with algebraic unknowns y is [`OdeProblem::implicit`]; a model with blocks, modes or a past of its
//! own implements [`Code`] for a [`HandModel`]. Times that are known beforehand or found on the way go to the calendar:
//!
//! ```
//! use saltus::ode::{OdeProblem, Simulate};
//!
//! // A charge that is topped up at 1 s, and from then on every 0.5 s more than the time before.
//! let charge = OdeProblem::new("charge", &[("q", 1.0)], |at, dx| dx[0] = -at.x[0])
//!     .discrete(&[("interval", 0.5)])
//!     .schedule(1.0, 7)
//!     .on_event(|jump| {
//!         if jump.due().contains(&7) {
//!             jump.x[0] += 1.0;
//!             jump.schedule(jump.t + jump.d[0], 0, 7);
//!             jump.d[0] += 0.5;
//!         }
//!     })
//!     .build();
//! let run = charge.experiment().stop_time(4.0).simulate()?;
//! let times: Vec<f64> = run.events()[1..].iter().map(|e| e.time).collect();
//! assert_eq!(times, [1.0, 1.5, 2.5, 4.0]);
//! # Ok::<(), saltus::Error>(())
//! ```
//!
//! A crossing that guards what may not be evaluated beyond it is marked; steps then come near it from inside only:
//!
//! ```
//! use saltus::ode::{Crossing, OdeProblem, Simulate};
//!
//! fn outflow(level: f64) -> f64 {
//!     assert!(level > 0.0, "no level below the bottom");
//!     0.5 + level.sqrt()
//! }
//! let tank = OdeProblem::new("tank", &[("level", 1.0)], |at, dx| {
//!     dx[0] = if at.holds[0] > 0.0 { -outflow(at.x[0]) } else { 0.0 };
//! })
//! .crossings(&[Crossing::above("level > 0").affine().guard()], |at, r| r[0] = at.x[0])
//! .build();
//! let run = tank.experiment().stop_time(2.0).tolerance(1e-9).simulate()?;
//! let empty = run.events().iter().find(|e| !e.cause.is_empty()).expect("it runs empty").time;
//! assert!((empty - (2.0 - 3f64.ln())).abs() < 1e-7);
//! # Ok::<(), saltus::Error>(())
//! ```

use crate::experiment::Experiment;
use saltus_model::Model as Contract;

pub use saltus_model::calendar::Calendar;
pub use saltus_model::hand::{Code, HandModel, Layout};
pub use saltus_model::ode::{At, Crossing, Jump, OdeProblem};

/// Runs of anything behind the contract of `saltus-model`.
pub trait Simulate: Contract + Sized {
    /// An experiment with the model's own settings.
    fn experiment(&self) -> Experiment<'_, Self> {
        Experiment::of(self)
    }
}

impl<M: Contract> Simulate for M {}
