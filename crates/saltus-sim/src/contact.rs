//! Contacts: functions whose events reset states so that they turn back, and what is known of each.
//!
//! A contact is recognised by what its event does, whatever the spelling: its function r, the gap, comes to zero at the rate -v⁻, states are reset, and
//! its rate is v⁺ ≥ 0 just after. Its own speed, restitution e = v⁺/v⁻ and free acceleration -g then say how much the rest of its series of impacts is,
//!
//! ```text
//! duration 2 v⁺ / (g (1 - e)),    height v⁺² / 2g
//! ```
//! Nothing is known or decided from other events. Where that is less than the accuracy, or the floating-point numbers, resolve, the contact closes
//! (`crate::zeno`). A contact is known by the slot of its relation, which is the same in all modes.

use saltus_model::Slot;
use saltus_solve::Tolerances;
use saltus_solve::scale::EPS;

/// A contact closes if it leaves slower than this part of the tolerance times its speed, or the size of what is reset.
const SLOW_OF_TOLERANCE: f64 = 0.1;
/// … but not below so many units of round-off.
const SLOW_ULPS: f64 = 64.0;
/// A height is not resolved within this many times the round-off of the gap …
const HEIGHT_ULPS: f64 = 64.0;
/// … nor within so many times the band in which a function rests after an event.
const HEIGHT_BANDS: f64 = 4.0;
/// A duration is not resolved below this part of the time and the span of the run.
const DURATION_REL: f64 = 1e-13;
/// An acceleration that changes the speed by less than this part of its size within the run is zero.
const IDLE_REL: f64 = 1e-9;
/// A contact that is deeper on its far side than an event left it, by so many times that depth or its band, does not come back …
const DEEPER: f64 = 64.0;
/// … a depth of more than so many bands being one that the model has made.
const ROUND_OFF_BANDS: f64 = 1e3;

/// An impact as one contact has seen it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Impact {
    /// v⁻ and v⁺, both positive for a motion that turns back.
    pub(crate) approach: f64,
    pub(crate) leave: f64,
    /// g: how fast the free motion brings the gap back.
    pub(crate) acceleration: f64,
    /// What floating-point numbers make of the gap, and the band in which it rests.
    pub(crate) round_off: f64,
    pub(crate) band: f64,
    /// Of the quantities that are reset, in terms of the rate of the gap.
    pub(crate) speed_size: f64,
    /// The condition of its when-clause is true: it does not become active again before the gap is open.
    pub(crate) is_spent: bool,
}

impl Impact {
    /// v⁺/v⁻
    fn restitution(&self) -> f64 {
        match self.approach > 0.0 {
            true => (self.leave / self.approach).clamp(0.0, 1.0),
            false => 0.0,
        }
    }

    fn height(&self) -> f64 {
        0.5 * self.leave.max(0.0).powi(2) / self.acceleration
    }

    /// How long the rest of the series of impacts lasts.
    pub(crate) fn duration(&self) -> f64 {
        2.0 * self.leave.max(0.0) / (self.acceleration * (1.0 - self.restitution()))
    }

    /// The rest of the series is below what accuracy or floating-point numbers resolve. `speed`: the largest of this contact.
    pub(crate) fn is_unresolved(
        &self,
        speed: f64,
        tolerances: Tolerances,
        (time, span): (f64, f64),
    ) -> bool {
        let slow = slow(speed.min(self.speed_size), tolerances);
        if self.acceleration.abs() * span <= IDLE_REL * self.speed_size {
            // Nothing brings the gap back, nor does anything open it. What its when-clause cannot turn back again is held as long as nothing does.
            return self.is_spent && self.leave <= slow;
        }
        if self.acceleration < 0.0 {
            return false;
        }
        let resolved = (HEIGHT_ULPS * self.round_off).max(HEIGHT_BANDS * self.band);
        self.leave <= slow
            || self.height() <= resolved
            || self.duration() <= DURATION_REL * span.max(time.abs())
    }
}

/// A rate of the gap that is rest.
pub(crate) fn slow(speed: f64, tolerances: Tolerances) -> f64 {
    (SLOW_OF_TOLERANCE * tolerances.abs).max(SLOW_ULPS * EPS) * speed
}

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Contact {
    pub(crate) relation: Slot,
    /// The sign of the function on its free side.
    pub(crate) side: f64,
    /// By which its impacts change the states.
    pub(crate) direction: Vec<(Slot, f64)>,
    /// The largest speed of its impacts.
    pub(crate) speed: f64,
    /// Its free acceleration after the last impact that was looked at; zero if none was.
    pub(crate) acceleration: f64,
    /// Since its last impact the relation holds what it holds on the far side, where the impact left the function so deep.
    beyond: Option<f64>,
}

/// The contacts of a run, in the order in which they were met.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Contacts {
    pub(crate) all: Vec<Contact>,
}

impl Contacts {
    pub(crate) fn find(&self, relation: Slot) -> Option<&Contact> {
        self.all.iter().find(|c| c.relation == relation)
    }

    /// The one of this relation and side, known from here on.
    pub(crate) fn meet(&mut self, relation: Slot, side: f64) -> &mut Contact {
        let known = (self.all.iter()).position(|c| c.relation == relation && c.side == side);
        let k = known.unwrap_or_else(|| {
            self.all.push(Contact {
                relation,
                side,
                direction: Vec::new(),
                speed: 0.0,
                acceleration: 0.0,
                beyond: None,
            });
            self.all.len() - 1
        });
        &mut self.all[k]
    }

    pub(crate) fn has_any(&self) -> bool {
        !self.all.is_empty()
    }

    /// One of them is on its far side.
    pub(crate) fn any_beyond(&self) -> bool {
        self.all.iter().any(|c| c.beyond.is_some())
    }
}

impl Contact {
    /// The depth at which the last event left it on its far side.
    pub(crate) fn beyond(&self) -> Option<f64> {
        self.beyond
    }

    /// After an event: the relation holds what it holds on the far side, where the function is now.
    pub(crate) fn left_beyond(&mut self, r: f64) {
        let depth = (-self.side * r).max(0.0);
        self.beyond.get_or_insert(depth);
    }

    /// The relation holds what it holds on the free side.
    pub(crate) fn is_back(&mut self) {
        self.beyond = None;
    }

    /// The function went on to the far side after the last impact.
    pub(crate) fn is_lost(&self, r: f64, band: f64) -> bool {
        let depth = -self.side * r;
        self.beyond.is_some_and(|left| {
            let round_off = band.max(left.min(ROUND_OFF_BANDS * band));
            depth > left + DEEPER * round_off
        })
    }
}
