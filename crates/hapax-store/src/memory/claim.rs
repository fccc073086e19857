//! Handing out jobs, and letting time pass.

use hapax_core::{Chance, Event, Job, QueueName, TenantId, Timestamp};

use super::contents::{Contents, Seq};
use super::ground::readable;
use crate::limit::{self, Room};
use crate::{Advance, Claim, Claimed, TENANT_LOOK_MAX, Tray, fall_due, workflow};

impl Contents {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Claimed {
        let mut claimed = Claimed::default();
        let mut tray = Tray::default();
        for queue in &claim.queues {
            // Those of a tenant are looked up before the first is taken; the line of all is as it is after the last.
            let mut own = claim.tenant.as_ref().map(|tenant| self.own_in_line(queue, tenant).into_iter());
            while tray.has_room(claim) {
                let next = match &mut own {
                    Some(own) => own.next(),
                    None => self.next_in_line(queue).cloned(),
                };
                let Some(job) = next else { break };
                let (id, fence) = (job.id, job.fence);
                let mut event = Event::Claim {
                    worker: claim.worker.clone(),
                    token: claim.token,
                    visibility_timeout: claim.visibility_timeout,
                };
                match readable(limit::room(self, &job, claim.now, &mut claimed.held)) {
                    Room::There => {}
                    Room::NotForIt => continue,
                    Room::NotForAny => break,
                    Room::Never(instead) => event = *instead,
                }
                let Ok(change) = self.step(id, event, claim.now) else { break };
                if change.job().fence > fence {
                    readable(limit::started(self, change.job(), claim.now));
                }
                tray.count(fence, change.job());
                claimed.changes.push(change);
            }
        }
        self.share();
        claimed
    }

    fn next_in_line(&self, queue: &QueueName) -> Option<&Job> {
        self.queues.get(queue).filter(|queue| !queue.paused)?;
        if self.not_to_claim.is_empty() {
            let (_, _, seq) = self.lines.first(queue)?;
            return self.at(seq);
        }
        let few = self.lines.first_few(queue, self.not_to_claim.len() + 1).into_iter();
        let (_, _, seq) = few.into_iter().find(|(_, _, seq)| !self.not_to_claim.contains(seq))?;
        self.at(seq)
    }

    fn own_in_line(&self, queue: &QueueName, tenant: &TenantId) -> Vec<Job> {
        if self.queues.get(queue).is_none_or(|queue| queue.paused) {
            return Vec::new();
        }
        let first = self.lines.first_few(queue, TENANT_LOOK_MAX);
        let first = first.into_iter().filter_map(|(_, _, seq)| self.at(seq));
        first.filter(|job| tenant.owns(&job.spec.meta)).cloned().collect()
    }

    /// Each due job takes one step, so nothing can go round in circles here: a job that is due again at once
    /// waits for the next call.
    pub(crate) fn advance(&mut self, now: Timestamp, limit: usize, chance: Chance) -> Advance {
        let due = self.timers.range(..=(now, Seq::MAX)).take(limit);
        let due: Vec<Job> = due.filter_map(|(_, seq)| self.at(*seq)).cloned().collect();
        let mut kept = 0;
        let step = |job: Job| {
            if readable(workflow::keep(self, &job, now)) {
                kept += 1;
                return None;
            }
            self.step(job.id, Event::TimePassed { chance }, now).ok()
        };
        let changes = due.into_iter().filter_map(step).collect();
        let due = self.entries.due(now, limit);
        let ticks = due.iter().filter_map(|key| readable(fall_due(self, key, now))).collect();
        self.share();
        self.memos.forget(now);
        let next_job = self.timers.first().map(|(at, _)| *at);
        Advance {
            changes,
            ticks,
            entries: due.len(),
            kept,
            next_due: next_job.into_iter().chain(self.entries.next_due()).min(),
        }
    }
}
