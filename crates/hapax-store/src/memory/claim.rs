//! Handing out jobs, and letting time pass.

use std::collections::BTreeSet;

use hapax_core::{Chance, Event, Job, QueueName, Timestamp};

use super::contents::{Contents, Place, Seq};
use super::ground::readable;
use crate::limit::{self, Room};
use crate::{Advance, Claim, Claimed, TENANT_LOOK_MAX, Tray, fall_due, may_take, workflow};

impl Contents {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Claimed {
        let mut claimed = Claimed::default();
        let mut tray = Tray::default();
        for queue in &claim.queues {
            // For a tenant the line is looked at before the first is taken; for all it is as it is after the last.
            let mut ahead = claim.tenant.as_ref().map(|_| self.first_in_line(queue).into_iter());
            // Limits that have no room for the tenant's first job behind them.
            let mut full = BTreeSet::new();
            while tray.has_room(claim) {
                let next = match &mut ahead {
                    Some(ahead) => ahead.next(),
                    None => self.next_in_line(queue),
                };
                let Some((place, job)) = next.and_then(|place| Some((place, self.at(place.2)?.clone())))
                else {
                    break;
                };
                if claim.tenant.as_ref().is_some_and(|tenant| !may_take(tenant, &job, &full)) {
                    continue;
                }
                let (id, fence) = (job.id, job.fence);
                let mut event = Event::Claim {
                    worker: claim.worker.clone(),
                    token: claim.token,
                    visibility_timeout: claim.visibility_timeout,
                };
                match readable(limit::room(self, &job, claim.now, &mut claimed.held)) {
                    Room::There => {}
                    Room::NotForIt(key) if claim.tenant.is_some() => {
                        self.lines.turn_away(queue, &key, place);
                        full.insert(key);
                        continue;
                    }
                    Room::NotForIt(key) => {
                        self.lines.set_aside(queue, &key);
                        continue;
                    }
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

    fn next_in_line(&self, queue: &QueueName) -> Option<Place> {
        self.queues.get(queue).filter(|queue| !queue.paused)?;
        if self.not_to_claim.is_empty() {
            return self.lines.first(queue);
        }
        let few = self.lines.first_few(queue, self.not_to_claim.len() + 1).into_iter();
        few.into_iter().find(|(_, _, seq)| !self.not_to_claim.contains(seq))
    }

    /// Where a tenant looks for its jobs.
    fn first_in_line(&self, queue: &QueueName) -> Vec<Place> {
        if self.queues.get(queue).is_none_or(|queue| queue.paused) {
            return Vec::new();
        }
        let mut first = self.lines.first_of_all(queue, TENANT_LOOK_MAX);
        first.retain(|(_, _, seq)| !self.not_to_claim.contains(seq));
        first
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
