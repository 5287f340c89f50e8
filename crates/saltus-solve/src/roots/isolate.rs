//! Which of several crossing functions is zero first in a step: Cellier and Kofman, Continuous System Simulation, 9.5.1.
//!
//! Comes in: functions on an interval, several of which change their sign. Goes out: an interval at the beginning of which all functions are as they were at the
//! start, and in which exactly one changes its sign, for a method of `location`; or neighbouring floats between which several change. A function that changes twice
//! between two points looked at is not seen (9.5.4, `short_lived`).
//!
//! Regula falsi: the earliest zero of the chords (9.7) is looked at; nothing has changed before it: the interval begins there; more than one has: it
//! ends there; one has: done. Golden section: the interval is divided at (1 - x) h and x h, x = (1 - x)/x (9.8); nothing has changed in the first part: it is
//! thrown away; more than one has: the last part is; one has: the first part is what is looked for.

use super::location::GOLDEN_SECTION;
use crate::error::SolveError;

/// Points looked at; a bracket of doubles is halved less often.
const POINTS_MAX: u32 = 4000;

/// A method of isolation, by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum IsolationRule {
    RegulaFalsi,
    GoldenSection,
}

impl IsolationRule {
    pub const ALL: [IsolationRule; 2] = [IsolationRule::RegulaFalsi, IsolationRule::GoldenSection];

    pub fn as_str(self) -> &'static str {
        match self {
            IsolationRule::RegulaFalsi => "regula-falsi",
            IsolationRule::GoldenSection => "golden-section",
        }
    }

    pub fn from_name(name: &str) -> Option<IsolationRule> {
        (IsolationRule::ALL.into_iter()).find(|rule| rule.as_str() == name)
    }
}

/// The first crossing, alone in its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Isolated {
    pub left: f64,
    pub right: f64,
    /// The function that changes, or those that change between neighbouring floats.
    pub functions: Vec<usize>,
    /// The points looked at, in their order.
    pub points: Vec<f64>,
    /// Chords were not followed because the interval had not halved over three points.
    pub halvings: u32,
}

/// Values of all functions at a time.
type Sample = (f64, Vec<f64>);

struct Looker<F> {
    evaluate: F,
    n: usize,
    points: Vec<f64>,
}

impl<F: FnMut(f64, &mut [f64]) -> Result<(), SolveError>> Looker<F> {
    fn at(&mut self, t: f64) -> Result<Sample, SolveError> {
        let mut values = vec![0.0; self.n];
        (self.evaluate)(t, &mut values)?;
        Ok((t, values))
    }

    fn look(&mut self, t: f64) -> Result<Sample, SolveError> {
        self.points.push(t);
        self.at(t)
    }
}

/// The functions that have different signs at two times; zero counts as positive.
fn changed(from: &Sample, to: &Sample) -> Vec<usize> {
    (0..from.1.len())
        .filter(|&i| (from.1[i] >= 0.0) != (to.1[i] >= 0.0))
        .collect()
}

/// The first change of sign of `n` functions in [left, right], isolated. `None` if none has different signs at the ends.
pub fn isolate(
    rule: IsolationRule,
    evaluate: impl FnMut(f64, &mut [f64]) -> Result<(), SolveError>,
    n: usize,
    left: f64,
    right: f64,
) -> Result<Option<Isolated>, SolveError> {
    let mut looker = Looker {
        evaluate,
        n,
        points: Vec::new(),
    };
    let (a, b) = (looker.at(left)?, looker.at(right)?);
    if changed(&a, &b).is_empty() {
        return Ok(None);
    }
    let (a, b, halvings) = match rule {
        IsolationRule::RegulaFalsi => by_chords(&mut looker, a, b)?,
        IsolationRule::GoldenSection => by_golden_section(&mut looker, a, b)?,
    };
    Ok(Some(Isolated {
        left: a.0,
        right: b.0,
        functions: changed(&a, &b),
        points: looker.points,
        halvings,
    }))
}

/// (9.7): t_next is the smallest zero of the chords of the functions that change.
fn by_chords<F: FnMut(f64, &mut [f64]) -> Result<(), SolveError>>(
    looker: &mut Looker<F>,
    mut a: Sample,
    mut b: Sample,
) -> Result<(Sample, Sample, u32), SolveError> {
    let mut halvings = 0;
    let mut widths = [f64::INFINITY; 3];
    for _ in 0..POINTS_MAX {
        let candidates = changed(&a, &b);
        let middle = a.0 + 0.5 * (b.0 - a.0);
        if candidates.len() <= 1 || middle <= a.0 || middle >= b.0 {
            break;
        }
        let zero = |&i: &usize| (b.1[i] * a.0 - a.1[i] * b.0) / (b.1[i] - a.1[i]);
        let chord = candidates.iter().map(zero).fold(f64::INFINITY, f64::min);
        widths = [widths[1], widths[2], b.0 - a.0];
        let slow = widths[2] > 0.5 * widths[0];
        let next = if slow || !(chord > a.0 && chord < b.0) {
            halvings += 1;
            middle
        } else {
            chord
        };
        let sample = looker.look(next)?;
        if changed(&a, &sample).is_empty() {
            a = sample;
        } else {
            b = sample;
        }
    }
    Ok((a, b, halvings))
}

fn by_golden_section<F: FnMut(f64, &mut [f64]) -> Result<(), SolveError>>(
    looker: &mut Looker<F>,
    mut a: Sample,
    mut b: Sample,
) -> Result<(Sample, Sample, u32), SolveError> {
    if changed(&a, &b).len() == 1 {
        return Ok((a, b, 0));
    }
    let first = |a: &Sample, b: &Sample| a.0 + (1.0 - GOLDEN_SECTION) * (b.0 - a.0);
    let second = |a: &Sample, b: &Sample| a.0 + GOLDEN_SECTION * (b.0 - a.0);
    let mut inner = (looker.look(first(&a, &b))?, looker.look(second(&a, &b))?);
    for _ in 0..POINTS_MAX {
        match changed(&a, &inner.0).len() {
            0 => {
                a = inner.0;
                if changed(&a, &b).len() == 1 {
                    break;
                }
                let t = second(&a, &b);
                inner = (inner.1, looker.look(t)?);
            }
            1 => {
                b = inner.0;
                break;
            }
            _ => {
                b = inner.1;
                let t = first(&a, &b);
                inner = (looker.look(t)?, inner.0);
            }
        }
        // Rounding has used up the interval: what is left changes at once.
        if !(a.0 < inner.0.0 && inner.0.0 < inner.1.0 && inner.1.0 < b.0) {
            return by_chords(looker, a, b);
        }
    }
    Ok((a, b, 0))
}
