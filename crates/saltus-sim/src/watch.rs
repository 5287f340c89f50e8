//! Events that accumulate: too many without time advancing, and Zeno points that the model does not pass by itself.
//!
//! A Zeno point is suspected from the ratio of successive intervals of one relation, never from counting: eight in a row
//! shorter than the one before, the last one at the resolution of time, or its reset too weak to bring the function back. The suspicion becomes an error only if the function then
//! leaves zero on the side from which the events had kept it (a ball that falls through the table).

use crate::error::SimError;
use saltus_model::{Site, Slot};
use saltus_solve::scale::time_resolution;

/// More events than this within a negligible time end the run.
const ACCUMULATION_MAX: u32 = 10_000;
/// Negligible time, relative to the span and to the present time.
const NEGLIGIBLE_REL: f64 = 1e-9;
/// Shrinking intervals in a row that make a Zeno point.
const ZENO_STREAK: u32 = 8;
/// The last interval of a suspected Zeno point, in units of time resolution.
const ZENO_ULPS: f64 = 4096.0;
/// A ratio of intervals is steady if it differs from the one before by less than this part of its distance from one.
const STEADY_PART: f64 = 0.1;
/// What is left before the limit is not felt, relative to the span and to the present time.
const LEFT_REL: f64 = 1e-9;
/// Depth of falling through, relative to the function's size when the intervals began to shrink.
const FALL_THROUGH_REL: f64 = 1e-9;

/// A Zeno point as intervals show it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ZenoPoint {
    pub(crate) crossing: usize,
    pub(crate) limit: f64,
}

#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct History {
    time: Option<f64>,
    interval: f64,
    streak: u32,
    /// Largest |r| since the intervals shrink.
    size: f64,
    /// The last interval divided by the one before, and how many in a row were the same.
    ratio: f64,
    steady: u32,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Suspect {
    crossing: usize,
    limit: f64,
    size: f64,
    /// Sign of the function on the far side of its events.
    side: f64,
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Watch {
    span: f64,
    since: f64,
    count: u32,
    /// For each crossing one for each direction.
    histories: Vec<[History; 2]>,
    /// At most one for each crossing: several may take turns.
    suspects: Vec<Suspect>,
}

impl Watch {
    pub(crate) fn new(span: f64, n_crossings: usize) -> Watch {
        Watch {
            span,
            since: f64::NEG_INFINITY,
            count: 0,
            histories: vec![[History::default(); 2]; n_crossings],
            suspects: Vec::new(),
        }
    }

    /// An event at `time` caused by these crossings, each with the sign of its far side; `size[i]` is |r_i| over the step before.
    /// `stays` tells that a relation holds after the event what it holds on the far side. A Zeno point if their intervals show one nearby.
    pub(crate) fn event(
        &mut self,
        time: f64,
        crossings: &[(usize, f64)],
        size: &[f64],
        stays: impl Fn(usize) -> bool,
        relations: impl FnOnce() -> Vec<(Slot, Site)>,
    ) -> Result<Option<ZenoPoint>, SimError> {
        let mut point = None;
        if time - self.since > NEGLIGIBLE_REL * self.span.max(time.abs()) {
            self.since = time;
            self.count = 0;
        }
        self.count += 1;
        if self.count > ACCUMULATION_MAX {
            return Err(SimError::Accumulation {
                time,
                since: self.since,
                count: self.count,
                relations: relations(),
            });
        }
        for &(i, side) in crossings {
            let tiny = ZENO_ULPS * time_resolution(time, 0.0);
            (self.suspects).retain(|suspect| suspect.crossing != i || time - suspect.limit <= tiny);
            let history = &mut self.histories[i][usize::from(side > 0.0)];
            let Some(last) = history.time.replace(time) else {
                continue;
            };
            let interval = time - last;
            if interval < history.interval || interval <= tiny {
                history.streak += 1;
                history.size = history.size.max(size[i]);
            } else {
                history.streak = 0;
                history.size = size[i];
            }
            let ratio = interval / history.interval;
            let steady = (ratio - history.ratio).abs() <= STEADY_PART * (1.0 - ratio);
            history.steady = if steady { history.steady + 1 } else { 0 };
            history.ratio = ratio;
            history.interval = interval;
            if history.steady >= ZENO_STREAK {
                let left = interval * ratio / (1.0 - ratio);
                let span = self.span.max(time.abs());
                if left <= LEFT_REL * span {
                    point = Some(ZenoPoint {
                        crossing: i,
                        limit: time + left,
                    });
                }
            }
            if history.streak >= ZENO_STREAK && (interval <= tiny || stays(i)) {
                self.suspects.retain(|suspect| suspect.crossing != i);
                self.suspects.push(Suspect {
                    crossing: i,
                    limit: time,
                    size: history.size,
                    side,
                });
                point.get_or_insert(ZenoPoint {
                    crossing: i,
                    limit: time,
                });
            }
        }
        Ok(point)
    }

    /// A contact has closed: what was suspected of its function has been dealt with.
    pub(crate) fn rested(&mut self, crossing: usize) {
        self.histories[crossing] = [History::default(); 2];
        (self.suspects).retain(|suspect| suspect.crossing != crossing);
    }

    /// After an accepted step without event, with the crossing functions at its end: the crossing through which the model falls.
    pub(crate) fn fallen_through(&self, r: &[f64]) -> Option<usize> {
        let fell = |suspect: &&Suspect| {
            suspect.side * r[suspect.crossing] > FALL_THROUGH_REL * suspect.size
        };
        let suspect = self.suspects.iter().find(fell)?;
        Some(suspect.crossing)
    }

    pub(crate) fn has_suspect(&self) -> bool {
        !self.suspects.is_empty()
    }

    /// As new, for another run with the same crossings.
    pub(crate) fn reset(&mut self, span: f64) {
        self.span = span;
        self.since = f64::NEG_INFINITY;
        self.count = 0;
        self.histories.fill([History::default(); 2]);
        self.suspects.clear();
    }

    /// A new mode has other crossings.
    pub(crate) fn reset_crossings(&mut self, n_crossings: usize) {
        self.histories = vec![[History::default(); 2]; n_crossings];
        self.suspects.clear();
    }
}
