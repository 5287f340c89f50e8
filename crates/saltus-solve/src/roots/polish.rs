//! From the root of a polynomial close to a function to the change of the function itself.
//!
//! Comes in: a bracket and a guess with the slope there, right but for round-off. Goes out: the bracket, closed to neighbouring floats in most
//! cases. From a point with the value f the guessed slope f' says how many floats away the change is, q = |f/f'|; the next point is the first float
//! beyond it, ⌊q⌋ + 1 floats away. If that is on the other side, the change is between it and the float before, which is the next point. A guess that
//! does not help leaves the bracket to a method of `location`.

use super::location::{Guess, ulp};
use super::{CrossingFunctions, Ended, Led, Search, Shown};
use crate::error::SolveError;

/// Evaluations around a guess.
const POLISH_MAX: u32 = 8;
/// After a point that should have been on the other side and is not, the next one is so many floats further, and this factor more each time.
const FURTHER: f64 = 4.0;

impl<F: CrossingFunctions + ?Sized> Search<'_, F> {
    #[inline]
    pub(super) fn polish(&mut self, led: &mut Led<'_>, guess: Guess) -> Result<Ended, SolveError> {
        let resolution = self.resolution();
        let unit = resolution.max(ulp(guess.at.abs()));
        let per_float = 1.0 / (guess.slope * unit);
        let (mut t, mut further) = (guess.at, 1.0);
        let mut last = None;
        for _ in 0..POLISH_MAX {
            let (left, right) = (led.bracket.left, led.bracket.right);
            let middle = left + 0.5 * (right - left);
            if right - left <= resolution || middle <= left || middle >= right {
                return Ok(Ended::Closed);
            }
            if !(t > left && t < right) {
                return Ok(Ended::Open);
            }
            let seen = self.look(led, t)?;
            // Floats that do not fit an integer are too many anyway.
            let mut floats = ((seen.level * per_float).abs() as i64) as f64 + 1.0;
            if last == Some(seen.shown) {
                further *= FURTHER;
                floats += further;
            }
            last = Some(seen.shown);
            t = match seen.shown {
                Shown::Left => t + floats * unit,
                Shown::Right => t - floats * unit,
                Shown::Overtaken => return Ok(Ended::Overtaken),
            };
        }
        Ok(Ended::Open)
    }
}
