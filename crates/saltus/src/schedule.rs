//! Inputs whose course is known beforehand in pieces: what comes next, and when.

use crate::input::Given;
use saltus_model::{Signal, Slot};
use std::sync::Arc;

/// The changes of inputs that are still to come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    courses: Vec<Course>,
}

#[derive(Clone, Debug)]
struct Course {
    slot: Slot,
    /// In the order of time.
    changes: Arc<[(f64, Signal)]>,
    next: usize,
}

impl Course {
    fn time(&self) -> Option<f64> {
        self.changes.get(self.next).map(|change| change.0)
    }
}

impl Schedule {
    /// An input has another course from now on.
    pub(crate) fn give(&mut self, given: Given) {
        self.courses.retain(|course| course.slot != given.slot);
        if !given.later.is_empty() {
            self.courses.push(Course {
                slot: given.slot,
                changes: given.later.into(),
                next: 0,
            });
        }
    }

    /// When the next change is.
    pub(crate) fn time(&self) -> Option<f64> {
        let times = self.courses.iter().filter_map(Course::time);
        times.min_by(f64::total_cmp)
    }

    /// The changes up to this time; they do not come again.
    pub(crate) fn take(&mut self, time: f64) -> Vec<(Slot, Signal)> {
        let mut due = Vec::new();
        for course in &mut self.courses {
            while course.time().is_some_and(|t| t <= time) {
                due.retain(|(slot, _)| *slot != course.slot);
                due.push((course.slot, course.changes[course.next].1.clone()));
                course.next += 1;
            }
        }
        due
    }

    /// The run stands at this time, wherever it has been before.
    pub(crate) fn rewind(&mut self, time: f64) {
        for course in &mut self.courses {
            course.next = course.changes.partition_point(|change| change.0 < time);
        }
    }
}
