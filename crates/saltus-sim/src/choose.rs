//! Which mode follows, where flipping the switches that disagree leads round in a circle or into a mode that cannot be: candidates are
//! entered from the left limits, one after the other, and the first is taken whose switches agree with what follows from it, there or just after: a
//! function that is zero takes the side of its first non-zero derivative.
//!
//! The order of candidates: those that a trial asks for, all switches that disagree flipped, just after the instant and at it (where all is at rest, only
//! what follows tells); then those with one of them flipped; then the switches of the start with one flipped, two flipped, and so on.

use crate::jump::hinged;
use crate::point::{Displaced, Mode};
use saltus_model::{Fault, FaultKind, Instance, Slot, System, Values};
use saltus_solve::SolveError;
use saltus_solve::scale::RESTART_ULPS;
use std::collections::{HashSet, VecDeque};

/// Candidates that are tried where none but a singular one is known …
const REGULAR_MAX: usize = 64;
/// … and where the known ones lead round in a circle.
const CANDIDATES_MAX: usize = 600;

/// Where functions that are zero throughout a mode are looked at: far enough for those that only time moves, in units of time resolution.
const LATER_ULPS: f64 = 1e6;

/// Which candidates are good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Among {
    /// Modes whose equations determine their unknowns.
    Regular,
    All,
}

/// What became of a candidate.
pub(crate) enum Tried<T> {
    /// It is good if its switches agree with its values, now or just after.
    Entered(Mode, T),
    /// It is good.
    Good(Mode, T),
    /// It leads elsewhere; what the values select may be better.
    Elsewhere,
}

/// Tries candidates, beginning with the switches of `start`. `attempt` gets values with the mode selected, and brings them to the right limits. The
/// values of the mode found, or `None`. `onward` goes on from there by some units of time resolution, at most `ulps_max`.
pub(crate) fn choose<I: Instance, T>(
    instance: &mut I,
    start: &Values,
    first: &[bool],
    (among, ulps_max): (Among, f64),
    attempt: &mut dyn FnMut(&mut I, &mut Values) -> Result<Tried<T>, SolveError>,
    onward: &mut dyn FnMut(&I, &mut Mode, &mut Values, f64) -> Result<(), SolveError>,
) -> Result<Option<(Mode, Values, T)>, Fault> {
    let mut tried: HashSet<Vec<bool>> = HashSet::new();
    let mut asked: VecDeque<Vec<bool>> = VecDeque::from([first.to_vec()]);
    let mut single: VecDeque<Vec<bool>> = VecDeque::new();
    let mut near = Near::new(first.to_vec());
    // Agrees at the instant and not after it; the events that follow may know better.
    let mut for_an_instant = None;
    let n_max = match among {
        Among::Regular => REGULAR_MAX,
        Among::All => CANDIDATES_MAX,
    };
    'candidates: for _ in 0..n_max {
        let (_, live) = instance.switches(start)?;
        let key = |switches: &[bool]| -> Vec<bool> {
            live.iter().map(|&i| switches[i as usize]).collect()
        };
        let next = loop {
            let candidate = asked.pop_front().or_else(|| single.pop_front());
            let Some(candidate) = candidate.or_else(|| near.next(&live)) else {
                break 'candidates;
            };
            if tried.insert(key(&candidate)) {
                break candidate;
            }
        };
        let mut values = start.clone();
        match instance.force_mode(&next, &mut values) {
            Err(Fault {
                kind: FaultKind::Mode { .. },
                ..
            }) => continue,
            other => other?,
        }
        if among == Among::Regular && instance.is_singular() {
            continue;
        }
        let (mut mode, more) = match attempt(instance, &mut values) {
            Ok(Tried::Entered(mode, more)) => (mode, more),
            Ok(Tried::Good(mode, more)) => return Ok(Some((mode, values, more))),
            Ok(Tried::Elsewhere) => {
                asked.push_back(instance.switches(&values)?.0);
                continue;
            }
            Err(_) => continue,
        };
        let agrees = |instance: &I, values: &Values| -> Result<bool, Fault> {
            let (now, live) = instance.switches(values)?;
            Ok(live.iter().all(|&i| now[i as usize] == next[i as usize]))
        };
        // What it asks for at the instant, and just after.
        let (now, live) = instance.switches(&values)?;
        let mut soon = now.clone();
        let mut ulps = 1.0;
        if agrees(instance, &values)? {
            // Of functions that are zero only what follows tells the side.
            let mut after = values.clone();
            if onward(instance, &mut mode, &mut after, ulps).is_err() || agrees(instance, &after)? {
                return Ok(Some((mode, values, more)));
            }
            (soon, _) = instance.switches(&after)?;
            for_an_instant.get_or_insert((next.clone(), (mode, values, more)));
        } else {
            // What is zero throughout has no side; both are as good where the one that it asks for leaves unknowns free.
            let mut later = values.clone();
            let free = match onward(instance, &mut mode, &mut later, LATER_ULPS) {
                Ok(()) => hinged(instance, &mut mode, &later, &live),
                Err(_) => Vec::new(),
            };
            while ulps <= ulps_max {
                let mut after = values.clone();
                if onward(instance, &mut mode, &mut after, ulps).is_err() {
                    break;
                }
                if agrees(instance, &after)? {
                    let after = shown(instance, &mut mode, &values, after, ulps);
                    return Ok(Some((mode, after, more)));
                }
                (soon, _) = instance.switches(&after)?;
                let differ: Vec<u32> = (live.iter().copied())
                    .filter(|&i| soon[i as usize] != next[i as usize])
                    .collect();
                if differ.iter().all(|i| free.contains(i)) {
                    let is_free = is_singular(instance, &soon, &values)?;
                    instance.force_mode(&next, &mut values)?;
                    if is_free {
                        instance.hold_switches(&differ);
                        if now != soon {
                            values = shown(instance, &mut mode, &values, after, ulps);
                        }
                        return Ok(Some((mode, values, more)));
                    }
                }
                ulps *= 2.0;
            }
        }
        for &i in &live {
            if soon[i as usize] != next[i as usize] {
                let mut flipped = next.clone();
                flipped[i as usize] = soon[i as usize];
                single.push_back(flipped);
            }
        }
        asked.extend([soon, now]);
    }
    let Some((switches, mut found)) = for_an_instant else {
        return Ok(None);
    };
    instance.force_mode(&switches, &mut found.1)?;
    Ok(Some(found))
}

/// Whether these switches leave the equations singular. Selects that mode.
fn is_singular<I: Instance>(
    instance: &mut I,
    switches: &[bool],
    values: &Values,
) -> Result<bool, Fault> {
    match instance.force_mode(switches, &mut values.clone()) {
        Err(Fault {
            kind: FaultKind::Mode { .. },
            ..
        }) => Ok(false),
        other => other.map(|()| instance.is_singular()),
    }
}

/// The values after a motion that shows the side only: states and time are put back when the event ends. What moves within the resolution of an event stays, on the
/// side that it shows: a current that begins with its second derivative would be at zero again, and the mode be asked for anew.
fn shown<I: Instance>(
    instance: &I,
    mode: &mut Mode,
    values: &Values,
    after: Values,
    ulps: f64,
) -> Values {
    if ulps > RESTART_ULPS {
        mode.displaced = displaced(instance, values, &after);
    }
    mode.displaced.push(Displaced {
        slot: Slot(0),
        from: values.time(),
        to: after.time(),
    });
    after
}

/// States that the motion has moved, so that they can be put back when the event ends.
fn displaced<I: Instance>(instance: &I, values: &Values, after: &Values) -> Vec<Displaced> {
    let slots = instance.system(after).states().iter().map(|s| s.value);
    let both = slots.map(|slot| Displaced {
        slot,
        to: after.get(slot),
        from: values.get(slot),
    });
    both.filter(|d| d.from != d.to).collect()
}

/// The neighbours of a choice, nearest first.
struct Near {
    from: Vec<bool>,
    /// Indices of the flipped ones among the live.
    flipped: Vec<usize>,
}

impl Near {
    fn new(from: Vec<bool>) -> Near {
        Near {
            from,
            flipped: Vec::new(),
        }
    }

    fn next(&mut self, live: &[u32]) -> Option<Vec<bool>> {
        let n = live.len();
        // The next combination of as many, else the first of one more.
        let k = self.flipped.len();
        match (0..k).rev().find(|&i| self.flipped[i] + (k - i) < n) {
            Some(i) => {
                let from = self.flipped[i] + 1;
                for (offset, place) in self.flipped[i..].iter_mut().enumerate() {
                    *place = from + offset;
                }
            }
            None if k < n => self.flipped = (0..=k).collect(),
            None => return None,
        }
        let mut next = self.from.clone();
        for &i in &self.flipped {
            let switch = &mut next[live[i] as usize];
            *switch = !*switch;
        }
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::Near;

    #[test]
    fn neighbours_come_nearest_first_and_each_once() {
        let mut near = Near::new(vec![false; 4]);
        let live = [0, 1, 3];
        let mut seen: Vec<Vec<bool>> = Vec::new();
        while let Some(next) = near.next(&live) {
            assert!(!next[2]);
            assert!(!seen.contains(&next));
            seen.push(next);
        }
        let counts: Vec<usize> = seen
            .iter()
            .map(|s| s.iter().filter(|b| **b).count())
            .collect();
        assert_eq!(counts, [1, 1, 1, 2, 2, 2, 3]);
    }
}
