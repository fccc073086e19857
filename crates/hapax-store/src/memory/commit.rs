//! Operations: load, let core decide, store.

use std::cmp::Reverse;

use hapax_core::unique::{Key, Uniqueness};
use hapax_core::{
    Admission, Event, Incoming, JobId, QueueName, Refusal, StateSet, Timestamp, Transition, decide,
    joins_line, record_reentry, reentry_key,
};

use super::contents::{Contents, Queue};
use super::ground::readable;
use super::memos::Recalled;
use crate::limit::{self, closes_until};
use crate::{
    Action, Answer, Change, Departure, Departures, Done, Followed, Growth, Memo, Op, cron, succession,
    workflow,
};

impl Contents {
    pub(crate) fn apply(&mut self, op: Op) -> Answer {
        let answer = self.carry_out(op);
        self.share();
        answer
    }

    fn carry_out(&mut self, op: Op) -> Answer {
        let Op { now, action } = op;
        match action {
            Action::Enqueue { incoming, memo } => self.remembering(memo, now, |contents| {
                contents.enqueue(*incoming, now).map(|admission| Done::Enqueued(Box::new(admission)))
            }),
            Action::EnqueueAll { incoming, memo } => self.remembering(memo, now, |contents| {
                contents.atomically(|contents| contents.enqueue_all(incoming, now)).map(Done::EnqueuedAll)
            }),
            Action::EnqueueEach { incoming, memo } => self.remembering(memo, now, |contents| {
                let mut growth = Growth::default();
                let each = |incoming| Ok(growth.with(contents.enqueue(incoming, now)?));
                Ok(Done::EnqueuedEach(incoming.into_iter().map(each).collect()))
            }),
            Action::StepHolders { key, states, event, limit } => {
                self.step_holders(&key, states, &event, limit, now).map(Done::SteppedHolders)
            }
            Action::Step { id, event } => {
                self.step(id, event, now).map(|change| Done::Stepped(Box::new(change)))
            }
            Action::Edit { key, edit } => readable(crate::edit(self, key, &edit)),
            Action::EditTogether { keys, edit } => readable(crate::edit_together(self, keys, &edit)),
            Action::StartWorkflow { workflow, memo } => self.remembering(memo, now, |contents| {
                let start = |contents: &mut Contents| readable(workflow::start(contents, *workflow, now));
                contents.atomically(start).map(|started| Done::WorkflowStarted(Box::new(started)))
            }),
            Action::CancelWorkflow(id) => {
                let cancelled = readable(workflow::cancel(self, id, now));
                cancelled.map(|followed| Done::WorkflowCancelled(Box::new(followed)))
            }
            Action::RunCron { key, id, memo } => self.remembering(memo, now, |contents| {
                let ran = readable(cron::run_now(contents, &key, id, now));
                ran.map(|tick| Done::CronRan(Box::new(tick)))
            }),
            Action::Pause(name) => Ok(self.change_queue(&name, now, |queue| queue.paused = true)),
            Action::Resume(name) => Ok(self.change_queue(&name, now, |queue| queue.paused = false)),
            Action::RemoveQueue(name) => self.remove_queue(name),
        }
    }

    /// Lets something happen to a job.
    pub(super) fn step(&mut self, id: JobId, event: Event, now: Timestamp) -> Result<Change, Refusal> {
        let closes_until = closes_until(&event);
        let mut change = self.step_alone(id, event, now)?;
        if let Some(until) = closes_until {
            readable(limit::close(self, change.job(), until, now));
        }
        if let Change::To { before, job, followers, workflow, said: _ } = &mut change
            && let Some(followed) = self.follow(*before, job, now)
        {
            followers.extend(followed.followers);
            *workflow = Some(Box::new(followed.workflow));
        }
        Ok(change)
    }

    /// The same, without what follows from it for its workflow.
    pub(super) fn step_alone(&mut self, id: JobId, event: Event, now: Timestamp) -> Result<Change, Refusal> {
        let stood = self.get(id).ok_or(Refusal::NotFound(id))?;
        let (before, said) = (stood.state(), event.said());
        match decide(stood, event, now, &self.rules)? {
            Transition::To(mut next) => {
                if let Some(key) = reentry_key(before, &next) {
                    let holders = self.holders(key);
                    record_reentry(&mut next, &holders, now);
                }
                let departure = Departure::of(stood, &next);
                if succession::enters_line(stood, &next) {
                    let stood = stood.clone();
                    readable(succession::enter(self, &stood, &mut next))?;
                }
                self.put(next.clone(), now);
                let followers = readable(Departures::default().see_off(self, departure, now));
                Ok(Change::To { before, job: next, said, followers, workflow: None })
            }
            Transition::Removed => {
                let job = stood.clone();
                let departure = Departure::of_removed(&job);
                self.remove(id);
                let followers = readable(Departures::default().see_off(self, departure, now));
                Ok(Change::Removed { job, followers })
            }
        }
    }

    fn step_holders(
        &mut self,
        key: &Key,
        states: StateSet,
        event: &Event,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Change>, Refusal> {
        let mut holders = self.holders(key);
        holders.retain(|job| states.contains(job.state()));
        holders.sort_by_key(|job| (job.state().is_terminal(), Reverse((job.created_at, job.id))));
        let mut changes = Vec::new();
        for job in holders {
            if changes.len() == limit {
                break;
            }
            changes.extend(self.step(job.id, event.clone(), now));
        }
        if changes.is_empty() { Err(Refusal::KeyNotHeld) } else { Ok(changes) }
    }

    pub(super) fn enqueue(&mut self, incoming: Incoming, now: Timestamp) -> Result<Admission, Refusal> {
        if let Some(other) = self.get(incoming.id) {
            return Err(Refusal::IdTaken { id: other.id, state: other.state() });
        }
        if let Some(refusal) = &incoming.barred {
            return Err((**refusal).clone());
        }
        let watched = incoming.key.zip(incoming.spec.unique.as_ref().map(Uniqueness::watch));
        let holders = watched.map(|(key, watch)| self.covered(&key, watch, now)).unwrap_or_default();
        let bound = incoming.bound;
        let mut admission = incoming.admit(holders, now, &self.rules)?;
        let displaced = readable(crate::room::make(self, &mut admission, bound, now))?;
        let mut departures = Departures::default();
        for (before, holder) in &mut admission.changed {
            departures.add(self.get(holder.id).and_then(|stood| Departure::of(stood, holder)));
            if joins_line(*before, holder) {
                readable(succession::join(self, holder));
                admission.job = holder.clone();
            }
            self.put(holder.clone(), now);
        }
        for (before, holder) in std::mem::take(&mut admission.changed) {
            let successors = readable(departures.see_off(self, departures.of(holder.id), now));
            let followed = self.follow(before, &holder, now);
            admission.changed.push((before, holder));
            admission.changed.extend(successors);
            if let Some(Followed { workflow, followers }) = followed {
                admission.changed.extend(followers);
                admission.workflows.push(workflow);
            }
        }
        if admission.verdict.is_new() {
            readable(succession::join(self, &mut admission.job));
            self.put(admission.job.clone(), now);
        }
        crate::room::tell(&mut admission, displaced);
        Ok(admission)
    }

    fn enqueue_all(&mut self, batch: Vec<Incoming>, now: Timestamp) -> Result<Vec<Admission>, Refusal> {
        let (mut admissions, mut growth) = (Vec::with_capacity(batch.len()), Growth::default());
        for (index, incoming) in batch.into_iter().enumerate() {
            let admission =
                self.enqueue(incoming, now).map_err(|refusal| refusal.in_batch(index, &admissions))?;
            if let Some(refusal) = admission.refusal() {
                return Err(refusal.in_batch(index, &admissions));
            }
            admissions.push(growth.with(admission));
        }
        Ok(admissions)
    }

    /// Answers from memory if the same request was answered before, else does it and remembers the answer.
    fn remembering(
        &mut self,
        memo: Option<Memo>,
        now: Timestamp,
        work: impl FnOnce(&mut Contents) -> Answer,
    ) -> Answer {
        let Some(memo) = memo else { return work(self) };
        match self.memos.recall(&memo, now) {
            Recalled::Same(reply) => Ok(Done::Remembered(reply)),
            Recalled::Other => Err(Refusal::IdempotencyMismatch),
            Recalled::Nothing => {
                let answer = work(self);
                // What may be accepted a moment later is not to be refused for a day.
                if !answer.as_ref().is_err_and(Refusal::is_passing) {
                    self.memos.keep(memo, &answer, now);
                }
                answer
            }
        }
    }

    fn remove_queue(&mut self, name: QueueName) -> Answer {
        if let Some(facts) = Contents::queue(self, &name) {
            if let Some(refusal) = facts.bars_removal() {
                return Err(refusal);
            }
            if facts.counts.is_empty() {
                self.queues.remove(&name);
            } else {
                self.queue_for(&name, facts.created_at).paused = false;
            }
        }
        Ok(Done::QueueRemoved(name))
    }

    fn change_queue(&mut self, name: &QueueName, now: Timestamp, change: impl FnOnce(&mut Queue)) -> Done {
        let queue = self.queue_for(name, now);
        change(queue);
        Done::Queue(queue.facts(name))
    }
}
