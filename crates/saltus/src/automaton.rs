//! Hybrid automata written in Rust: locations with their own states, guards, resets, composition, synchronising events.
//!
//! A mass on a filament: angle and angular velocity while it is taut, position and velocity in free flight.
//!
//! ```
//! use saltus::automaton::HybridSystem;
//! use saltus::ode::Simulate;
//!
//! let (m, g, length) = (0.75, 9.80665, 1.0);
//! let mut pendulum = HybridSystem::new("pendulum");
//! let [phi, omega] = [("phi", 2.0), ("omega", 8.0)].map(|(name, start)| pendulum.continuous(name, start));
//! let [x, y, vx, vy] = ["x", "y", "vx", "vy"].map(|name| pendulum.continuous(name, 0.0));
//! let filament = pendulum.automaton("filament");
//! let taut = pendulum.location(filament, "taut", &[phi, omega], move |at, dx| {
//!     dx[0] = at[omega];
//!     dx[1] = g / length * at[phi].sin() - 0.97 * at[omega] / (m * length * length);
//! });
//! pendulum.output(taut, &[x, y, vx, vy], move |at, out| {
//!     let (sin, cos) = at[phi].sin_cos();
//!     out.copy_from_slice(&[length * sin, length * cos, length * at[omega] * cos, -length * at[omega] * sin]);
//! });
//! let free = pendulum.location(filament, "free", &[x, y, vx, vy], move |at, dx| {
//!     dx.copy_from_slice(&[at[vx], at[vy], -0.95 * at[vx] / m, -0.95 * at[vy] / m - g]);
//! });
//! pendulum
//!     .transition(taut, free)
//!     .guard("force < 0", move |at| m * g * at[phi].cos() - m * length * at[omega].powi(2));
//! pendulum
//!     .transition(free, taut)
//!     .guard("r > length", move |at| at[x].hypot(at[y]) - length)
//!     .at_edge()
//!     .reset(move |reset| {
//!         let at = reset.before();
//!         let angle = std::f64::consts::PI + (at[x] / at[y]).atan();
//!         let rate = (at[y] * at[vx] - at[x] * at[vy]) / (at[x].powi(2) + at[y].powi(2));
//!         reset.set(phi, angle);
//!         reset.set(omega, rate);
//!     });
//! let run = pendulum.build()?.experiment().stop_time(3.0).tolerance(1e-9).simulate()?;
//! assert_eq!(run.statistics.states, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Automata side by side share variables (ports for continuous and discrete signals) and events; [`HybridSystem::automaton_within`] puts one inside a location of
//! another. The same in Modelica is `Saltus.HybridAutomata`.

pub use saltus_model::automaton::{
    AutomatonError, AutomatonId, AutomatonModel, Continuous, Discrete, Event, HybridSystem,
    LocationId, Point, Reset, TransitionOf,
};
