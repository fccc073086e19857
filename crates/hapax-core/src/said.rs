//! What is said with a step of a job, where the states before and after it do not tell.

use crate::{Event, Priority, Timestamp};

/// What somebody said with a step, beyond where the job went by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    /// Nothing: where the job went tells it all.
    Nothing,
    /// A worker is still at it.
    Heartbeat,
    /// A worker told how far it has come. One about a job that is not active was passed over.
    Progress {
        /// Whether it left a checkpoint with that.
        with_checkpoint: bool,
    },
    /// Somebody left a checkpoint.
    Checkpoint,
    /// A worker closed the rate limit of its job.
    LimitClosed {
        /// Until when.
        until: Timestamp,
    },
    /// Somebody gave it another priority.
    Reprioritized {
        /// What it was before.
        before: Priority,
    },
    /// Somebody took it out of the dead letters.
    Revived,
}

impl Event {
    /// What is said with it, whatever it depends on.
    pub fn said(&self) -> Said {
        match self.bare() {
            Event::Heartbeat { .. } => Said::Heartbeat,
            Event::Progress { report, .. } => Said::Progress { with_checkpoint: report.checkpoint.is_some() },
            Event::SaveCheckpoint { .. } => Said::Checkpoint,
            Event::Fail { error, .. } => {
                error.rate_limit_until.map_or(Said::Nothing, |until| Said::LimitClosed { until })
            }
            Event::Reprioritize { .. } => {
                self.expected_priority().map_or(Said::Nothing, |before| Said::Reprioritized { before })
            }
            Event::Revive { .. } => Said::Revived,
            Event::Claim { .. }
            | Event::Acknowledge { .. }
            | Event::DropCheckpoint
            | Event::Cancel
            | Event::Activate
            | Event::Agent(_)
            | Event::LetGo { .. }
            | Event::Withdraw
            | Event::Displace
            | Event::LoseQueue
            | Event::MoveTo { .. }
            | Event::Postpone { .. }
            | Event::Drop
            | Event::Forget
            | Event::Retry
            | Event::Delete
            | Event::Abandon { .. }
            | Event::OnlyIf { .. }
            | Event::Release { .. }
            | Event::RemoveByKey
            | Event::TimePassed { .. } => Said::Nothing,
        }
    }

    /// The priority that its job has to have for it to happen.
    fn expected_priority(&self) -> Option<Priority> {
        let Event::OnlyIf { filter, event } = self else { return None };
        filter.priority.or_else(|| event.expected_priority())
    }
}
