//! What is said with a step of a job, where the states before and after it do not tell.

use crate::{Event, Timestamp};

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
            | Event::Revive { .. }
            | Event::Forget
            | Event::Retry
            | Event::Delete
            | Event::Reprioritize { .. }
            | Event::Abandon { .. }
            | Event::OnlyIf { .. }
            | Event::Release { .. }
            | Event::RemoveByKey
            | Event::TimePassed { .. } => Said::Nothing,
        }
    }
}
