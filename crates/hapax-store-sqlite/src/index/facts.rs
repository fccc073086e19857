//! What the indexes know of one job.

use hapax_core::unique::{Holder, Key};
use hapax_core::{JobId, QueueName, Rules, State, Timestamp, next_due};

use super::lines::Rank;
use crate::row::{Seq, Stored};

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
        }
    }
}
