//! What the rules about several jobs may touch here.

use hapax_core::limit::LimitKey;
use hapax_core::unique::Uniqueness;
use hapax_core::{
    Admission, Event, Incoming, Job, JobId, Order, QueueName, Refusal, Rules, State, Timestamp,
};

use super::contents::Contents;
use crate::lines::Place as _;
use crate::record::Unreadable;
use crate::{Change, Entry, EntryKey, Followed, Ground, Revision, workflow};

impl Ground for Contents {
    type Trouble = Unreadable;

    fn rules(&self) -> &Rules {
        &self.rules
    }

    fn job(&mut self, id: JobId) -> Result<Option<Job>, Unreadable> {
        let job = self.get(id).cloned();
        if job.is_none() && self.is_partial() && !self.gaps.absent_jobs.contains(&id) {
            self.gaps.jobs.insert(id);
        }
        Ok(job)
    }

    fn entry(&mut self, key: &EntryKey) -> Result<Option<Entry>, Unreadable> {
        let written = self.entries.get(key).cloned();
        if written.is_none() && self.is_partial() && !self.gaps.absent_entries.contains(key) {
            self.gaps.entries.insert(key.clone());
        }
        Ok(written.map(|written| Entry { key: key.clone(), written }))
    }

    fn put_entry(&mut self, key: EntryKey, revision: Revision) -> Result<(), Unreadable> {
        // What was removed is known not to be elsewhere.
        self.gaps.absent_entries.insert(key.clone());
        Contents::put_entry(self, key, revision);
        Ok(())
    }

    fn holders(&mut self, incoming: &Incoming, now: Timestamp) -> Result<Vec<Job>, Unreadable> {
        let watched = incoming.key.zip(incoming.spec.unique.as_ref().map(Uniqueness::watch));
        let Some((key, watch)) = watched else { return Ok(Vec::new()) };
        if self.is_partial() && !self.gaps.known_keys.contains(&key) {
            self.gaps.keys.push((key, watch, now));
        }
        Ok(self.covered(&key, watch, now))
    }

    fn admit(
        &mut self,
        incoming: Incoming,
        now: Timestamp,
    ) -> Result<Result<Admission, Refusal>, Unreadable> {
        self.job(incoming.id)?;
        Ground::holders(self, &incoming, now)?;
        Ok(self.enqueue(incoming, now))
    }

    fn step_alone(
        &mut self,
        id: JobId,
        event: Event,
        now: Timestamp,
    ) -> Result<Result<Change, Refusal>, Unreadable> {
        if self.job(id)?.is_none() {
            return Ok(Err(Refusal::NotFound(id)));
        }
        Ok(Contents::step_alone(self, id, event, now))
    }

    fn put(&mut self, job: Job, now: Timestamp) -> Result<(), Unreadable> {
        Contents::put(self, job, now);
        Ok(())
    }

    fn successors(&mut self, of: JobId) -> Result<Vec<Job>, Unreadable> {
        Ok(Contents::successors(self, of))
    }

    fn last_of(&mut self, order: &Order) -> Result<Option<JobId>, Unreadable> {
        if self.is_partial() && !self.gaps.known_orders.contains(order) {
            self.gaps.orders.insert(order.clone());
        }
        Ok(Contents::last_of(self, order))
    }

    fn depth(&mut self, queue: &QueueName) -> Result<u64, Unreadable> {
        if self.is_partial() && !self.elsewhere.contains_key(queue) {
            self.gaps.queues.insert(queue.clone());
        }
        let here = self.queues.get(queue).map_or(0, |queue| queue.counts.waiting());
        let elsewhere = self.elsewhere.get(queue).copied().unwrap_or(0);
        Ok(u64::try_from(i128::from(here) + i128::from(elsewhere)).unwrap_or(0))
    }

    fn oldest_in_line(&mut self, queue: &QueueName, except: &[JobId]) -> Result<Option<JobId>, Unreadable> {
        let Some(last) = self.lines.last(queue) else { return Ok(None) };
        let mut from = last.at(0);
        while let Some((priority, turn, seq)) = self.lines.first_from(queue, from) {
            match self.at(seq) {
                Some(job) if !except.contains(&job.id) => return Ok(Some(job.id)),
                _ => from = (priority, turn, seq + 1),
            }
        }
        Ok(None)
    }

    fn is_limited(&self, queue: &QueueName) -> bool {
        self.lines.is_limited(queue)
    }

    fn active_in(&mut self, queue: &QueueName) -> Result<u64, Unreadable> {
        Ok(self.active_of_queue(queue))
    }

    fn active(&mut self, key: &LimitKey) -> Result<u64, Unreadable> {
        Ok(self.active_of(key))
    }

    fn open(&mut self, key: &LimitKey) -> Result<(), Unreadable> {
        self.opened.insert(key.clone());
        self.lines.open(key);
        key.limited_queue().into_iter().for_each(|queue| self.lines.call_all(queue));
        Ok(())
    }

    fn unreadable(&self, _key: &EntryKey) -> Unreadable {
        Unreadable
    }
}

impl Contents {
    /// What follows from a change of a job for its workflow.
    pub(super) fn follow(&mut self, before: State, job: &Job, now: Timestamp) -> Option<Followed> {
        job.spec.workflow?;
        readable(workflow::follow(self, before, job, now))
    }
}

impl Contents {
    /// What follows from the end of a job that ended elsewhere.
    pub(crate) fn catch_up(&mut self, id: JobId, now: Timestamp) -> Option<Followed> {
        let job = readable(self.job(id))?;
        self.opened.extend(job.spec.rate_limit.as_deref().map(|limit| limit.key.clone()));
        self.follow(State::Active, &job, now)
    }
}

/// Entries are written by this program, and looked over by whoever brings them from elsewhere.
#[expect(clippy::expect_used, reason = "going on without an entry would lose what it says")]
pub(super) fn readable<T>(result: Result<T, Unreadable>) -> T {
    result.expect("an entry says what was written into it")
}
