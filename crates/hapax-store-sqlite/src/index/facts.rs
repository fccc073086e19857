//! What the indexes know of one job.

use hapax_core::limit::LimitKey;
use hapax_core::unique::{Holder, Key};
use hapax_core::{JobId, OrderingKey, QueueName, Rules, State, Timestamp, next_due};
use hapax_store::lines::Stand;

use super::lines::{Place, Rank};
use crate::row::{Seq, Stored, Turn};

/// The facts of a stored job that indexes keep. A job without change here costs no index anything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Facts<'j> {
    pub(super) seq: Seq,
    pub(super) id: JobId,
    pub(super) queue: &'j QueueName,
    pub(super) state: State,
    /// Its place in the line of its queue, if it is available.
    pub(super) rank: Option<Rank>,
    /// When something happens to it by itself.
    pub(super) due: Option<Timestamp>,
    /// Since when it is a dead letter.
    pub(super) dead_since: Option<Timestamp>,
    /// The key it carries, with what a policy asks of a holder.
    pub(super) held: Option<(&'j Key, Holder)>,
    /// The job whose end it waits for.
    pub(super) waits_for: Option<JobId>,
    /// The rate limit that it shares.
    pub(super) limit: Option<&'j LimitKey>,
    /// Its ordering key and its place among those who came, if it has one and has not ended.
    pub(super) ordered: Option<(&'j OrderingKey, Turn)>,
}

impl<'j> Facts<'j> {
    pub(crate) fn of(stored: &'j Stored, rules: &Rules) -> Facts<'j> {
        let Stored { seq, turn, job } = stored;
        let state = job.state();
        Facts {
            seq: *seq,
            id: job.id,
            queue: &job.spec.queue,
            state,
            rank: (state == State::Available).then(|| Rank::new(job.spec.priority, *turn)),
            due: next_due(job, rules),
            dead_since: job.phase.finished_at().filter(|_| job.phase.is_dead_letter()),
            held: job.key.as_ref().map(|key| (key, Holder::from(job))),
            waits_for: job.waits_for(),
            limit: job.spec.rate_limit.as_deref().map(|limit| &limit.key),
            ordered: job.spec.ordering_key.as_ref().filter(|_| !state.is_terminal()).map(|key| (key, *turn)),
        }
    }

    /// Where it stands in line.
    pub(crate) fn stand(&self) -> Stand<'j, Place> {
        Stand {
            queue: self.queue,
            key: self.limit,
            place: self.rank.map(|rank| Place(rank, self.seq)),
            is_active: self.state == State::Active,
        }
    }

    /// What it shares with others as long as it has not ended.
    pub(super) fn sharer(&self) -> Option<(&'j LimitKey, Seq, State)> {
        self.limit.filter(|_| !self.state.is_terminal()).map(|key| (key, self.seq, self.state))
    }
}
