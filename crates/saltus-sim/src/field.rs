//! The motion of the model at points of one's own choice: values, rates along a direction, and difference quotients for them.
//!
//! Everything here runs the schedules of the contract; nothing is known of where relations come from. Values are left at the last point evaluated.

use crate::point::{gather_derivatives, scatter};
use saltus_model::{CrossingClass, ScheduleKind, System, Values};
use saltus_solve::{Accuracy, Driver, Guess, SolveError};

/// Steps of difference quotients of functions that are not affine, in units of the time (or size) over which the states change by their own size. The
/// formula is of order 4: its error is of the order of the round-off of blocks divided by this.
pub(crate) const DIFFERENCE_REL: f64 = 1e-3;
/// Places of the five-point formula f' = (8 (f₁ - f₋₁) - (f₂ - f₋₂)) / 12h, with their factors.
pub(crate) const PLACES: [(f64, f64); 4] = [
    (-2.0, 1.0 / 12.0),
    (-1.0, -8.0 / 12.0),
    (1.0, 8.0 / 12.0),
    (2.0, -1.0 / 12.0),
];

/// The model with its values.
pub(crate) struct Field<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) driver: &'a mut Driver,
    pub(crate) values: &'a mut Values,
    pub(crate) accuracy: Accuracy,
    pub(crate) guess: Guess,
}

impl Field<'_> {
    pub(crate) fn go_to(&mut self, t: f64, x: &[f64]) {
        scatter(self.system.states(), t, x, self.values);
    }

    pub(crate) fn run(&mut self, kinds: &[ScheduleKind]) -> Result<(), SolveError> {
        for &kind in kinds {
            (self.driver).run(&self.system, kind, self.values, self.accuracy, self.guess)?;
        }
        Ok(())
    }

    pub(crate) fn gather_derivatives(&self, dx: &mut [f64]) -> Result<(), SolveError> {
        gather_derivatives(self.system.states(), self.values, dx)
    }

    /// All crossing functions at the point in the values; only the affine ones if no other is wanted.
    pub(crate) fn crossings(
        &mut self,
        class: CrossingClass,
        r: &mut [f64],
    ) -> Result<(), SolveError> {
        match class {
            CrossingClass::Affine => Ok(self.system.eval_affine_crossings(self.values, r)?),
            CrossingClass::General => {
                let accuracy = std::mem::replace(&mut self.accuracy, Accuracy::Tight);
                let done = self.run(&[ScheduleKind::Derivatives, ScheduleKind::Crossings]);
                self.accuracy = accuracy;
                done?;
                Ok(self.system.eval_crossings(self.values, r)?)
            }
        }
    }
}

/// `to = x + h·dx`
pub(crate) fn along(to: &mut [f64], x: &[f64], h: f64, dx: &[f64]) {
    for ((to, x), dx) in to.iter_mut().zip(x).zip(dx) {
        *to = x + h * dx;
    }
}

/// The time over which a state changes by its own size or nominal value, at most `longest`.
pub(crate) fn time_scale(x: &[f64], dx: &[f64], nominal: &[f64], longest: f64) -> f64 {
    let times =
        (x.iter().zip(dx).zip(nominal)).map(|((x, dx), nominal)| (x.abs() + nominal) / dx.abs());
    times.fold(longest, f64::min)
}
