//! Creeping: an integrator that runs into a discontinuity it was not told of.
//!
//! Without events (`--no-events`) the error estimate fails where the right-hand side jumps; the step size is reduced again and again
//! until a step across the jump is small enough to pass (textbook, figure 9.1). Comes in: the accepted steps with the number
//! of rejected ones before each. Goes out: the stretches of small steps and what they cost.

use crate::record::CreepRecord;

/// A step creeps if it is shorter than this part of the longest of the steps before...
const CREEP_RATIO: f64 = 0.1;
/// ... and the stretch is over when steps have grown to this part of it again.
const RECOVERED_RATIO: f64 = 0.3;
/// So many steps back are looked at.
const MEMORY: usize = 16;

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Creep {
    sizes: [f64; MEMORY],
    n: usize,
    /// The stretch that has not ended, and the usual step size before it.
    open: Option<(CreepRecord, f64)>,
}

impl Creep {
    /// Takes notice of an accepted step; returns a stretch that has ended.
    pub(crate) fn step(&mut self, from: f64, to: f64, rejected: u64) -> Option<CreepRecord> {
        let size = to - from;
        if let Some((record, usual)) = &mut self.open {
            record.steps_rejected += rejected;
            if size < RECOVERED_RATIO * *usual {
                record.steps += 1;
                record.time_end = to;
                record.step_size_min = record.step_size_min.min(size);
                return None;
            }
            return self.open.take().map(|(record, _)| record);
        }
        let usual = self.sizes.iter().copied().fold(0.0, f64::max);
        if rejected > 0 && size < CREEP_RATIO * usual {
            let record = CreepRecord {
                time_start: from,
                time_end: to,
                steps: 1,
                steps_rejected: rejected,
                step_size_min: size,
                step_size_before: usual,
            };
            self.open = Some((record, usual));
        } else {
            self.sizes[self.n % MEMORY] = size;
            self.n += 1;
        }
        None
    }

    /// The stretch in which the run ended.
    pub(crate) fn finish(&mut self) -> Option<CreepRecord> {
        self.open.take().map(|(record, _)| record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(sizes: &[(f64, u64)]) -> Vec<CreepRecord> {
        let (mut creep, mut t) = (Creep::default(), 0.0);
        let mut found: Vec<CreepRecord> = Vec::new();
        for &(size, rejected) in sizes {
            found.extend(creep.step(t, t + size, rejected));
            t += size;
        }
        found.extend(creep.finish());
        found
    }

    #[test]
    fn a_dip_of_the_step_size_is_one_stretch() {
        let found = run(&[
            (0.5, 0),
            (0.25, 0),
            (0.0078125, 4),
            (0.015625, 0),
            (0.25, 0),
            (0.5, 0),
        ]);
        assert_eq!(
            found,
            [CreepRecord {
                time_start: 0.75,
                time_end: 0.7734375,
                steps: 2,
                steps_rejected: 4,
                step_size_min: 0.0078125,
                step_size_before: 0.5,
            }]
        );
    }

    #[test]
    fn a_run_that_ends_creeping_is_reported() {
        let found = run(&[(0.5, 0), (0.001, 3), (0.001, 1), (0.001, 1)]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].steps, found[0].steps_rejected), (3, 5));
    }

    #[test]
    fn short_steps_without_rejections_are_none() {
        assert!(run(&[(0.5, 0), (0.001, 0), (0.002, 0), (0.5, 1)]).is_empty());
    }
}
