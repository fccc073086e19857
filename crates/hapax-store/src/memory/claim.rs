//! Handing out jobs, and letting time pass.

use hapax_core::{Chance, Event, JobId, QueueName, Timestamp};

use super::contents::{Contents, Seq};
use crate::{Advance, Change, Claim, Tray};

impl Contents {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut tray = Tray::default();
        for queue in &claim.queues {
            while tray.has_room(claim) {
                let Some((id, fence)) = self.next_in_line(queue) else { break };
                let event = Event::Claim {
                    worker: claim.worker.clone(),
                    token: claim.token,
                    visibility_timeout: claim.visibility_timeout,
                };
                let Ok(change) = self.step(id, event, claim.now) else { break };
                tray.count(fence, change.job());
                changes.push(change);
            }
        }
        changes
    }

    fn next_in_line(&self, queue: &QueueName) -> Option<(JobId, u64)> {
        let queue = self.queues.get(queue).filter(|queue| !queue.paused)?;
        let (_, _, seq) = queue.line.first()?;
        self.at(*seq).map(|job| (job.id, job.fence))
    }

    /// Each due job takes one step, so nothing can go round in circles here: a job that is due again at once
    /// waits for the next call.
    pub(crate) fn advance(&mut self, now: Timestamp, limit: usize, chance: Chance) -> Advance {
        let due = self.timers.range(..=(now, Seq::MAX)).take(limit);
        let due: Vec<JobId> = due.filter_map(|(_, seq)| self.at(*seq)).map(|job| job.id).collect();
        let step = |id| self.step(id, Event::TimePassed { chance }, now).ok();
        let changes = due.into_iter().filter_map(step).collect();
        self.memos.forget(now);
        Advance { changes, next_due: self.timers.first().map(|(at, _)| *at) }
    }
}
