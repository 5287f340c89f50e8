//! The state of a run, as data.

use crate::error::Error;
use crate::file::{self, Kind};
use crate::model::Model;
use saltus_sim::RunState;

/// A run at an instant ([`Simulator::save`](crate::Simulator::save)): plain data that can be kept, sent and written to a file. A run that goes on from it
/// ([`Simulator::restore`](crate::Simulator::restore)) is the run that was saved, bit by bit.
///
/// ```
/// let mut session = saltus::Session::new();
/// session.set_text("Ball.mo", "
///   model Ball
///     Real h(start = 1, fixed = true), v(start = 0, fixed = true);
///   equation
///     der(h) = v;
///     der(v) = -9.81;
///     when h < 0 then reinit(v, -0.8*pre(v)); end when;
///   end Ball;");
/// let model = session.compile("Ball")?;
/// let mut ball = model.simulator()?;
/// ball.advance_to(0.7)?;
/// let bytes = ball.save()?.to_bytes();
/// ball.advance_to(1.5)?;
///
/// let mut other = model.simulator()?;
/// other.restore(&saltus::State::from_bytes(&bytes)?)?;
/// other.advance_to(1.5)?;
/// assert_eq!(other.get("h")?.to_bits(), ball.get("h")?.to_bits());
/// # Ok::<(), saltus::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct State {
    /// Of the model.
    fingerprint: u64,
    run: Box<RunState>,
}

impl State {
    pub(crate) fn new(model: &Model, run: RunState) -> State {
        State {
            fingerprint: model.fingerprint(),
            run: Box::new(run),
        }
    }

    /// The run, if it is one of this model.
    pub(crate) fn of(&self, model: &Model) -> Result<&RunState, Error> {
        if self.fingerprint != model.fingerprint() {
            return Err(Error::Usage(format!(
                "the state is not one of this `{}`: the model, or what its structure depends on, is another",
                model.name()
            )));
        }
        Ok(&self.run)
    }

    /// Where the run stands.
    pub fn time(&self) -> f64 {
        self.run.time()
    }

    /// The state as bytes, with a version and a checksum.
    pub fn to_bytes(&self) -> Vec<u8> {
        file::write(Kind::State, &(self.fingerprint, &*self.run))
    }

    /// The state that [`State::to_bytes`] has written.
    pub fn from_bytes(bytes: &[u8]) -> Result<State, Error> {
        let (fingerprint, run) = file::read(Kind::State, bytes)?;
        Ok(State { fingerprint, run })
    }
}
