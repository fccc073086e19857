//! What the index knows of one holder: its place among the others, and what else a policy asks.

use hapax_core::unique::Holder;
use hapax_core::{JobId, State, Timestamp};

/// Sorted as core sorts holders: by age, of equally old ones by id. So the newest is one job, and only that one has
/// to be read, even if thousands came in one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) created_at: Timestamp,
    pub(crate) id: JobId,
}

/// What else a policy asks of a holder, in two words: there is one of these for every unique job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    scheduled_at: i64,
    /// The upper seven bytes of a moment that is shifted up by one.
    finished_at: [u8; 7],
    state: State,
}

/// A moment that no timestamp can be, and that can be shifted.
const NEVER: i64 = i64::MIN >> 8;

impl Mark {
    pub(super) fn of(holder: Holder) -> Mark {
        let Holder { state, created_at: _, scheduled_at, finished_at } = holder;
        let millis = |at: Option<Timestamp>| at.map_or(NEVER, Timestamp::millis);
        let [finished_at @ .., _] = (millis(finished_at) << 8).to_be_bytes();
        Mark { scheduled_at: millis(scheduled_at), finished_at, state }
    }

    pub(super) fn state(self) -> State {
        self.state
    }

    pub(super) fn holder(self, place: Place) -> Holder {
        let moment = |millis: i64| (millis != NEVER).then(|| Timestamp::from_millis(millis));
        let mut shifted = [0; 8];
        shifted[..7].copy_from_slice(&self.finished_at);
        Holder {
            state: self.state,
            created_at: place.created_at,
            scheduled_at: moment(self.scheduled_at),
            finished_at: moment(i64::from_be_bytes(shifted) >> 8),
        }
    }
}
