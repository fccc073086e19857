//! Operations: load, let core decide, store.

use std::cmp::Reverse;

use hapax_core::unique::{Key, Uniqueness};
use hapax_core::{
    Admission, Event, Incoming, Job, JobId, QueueName, Refusal, State, StateSet, Timestamp, Transition,
    decide, let_go, lets_successors_go, record_reentry, reentry_key,
};

use super::contents::{Contents, Queue};
use super::memos::Recalled;
use crate::{Action, Answer, Change, Done, Growth, Memo, Op};

impl Contents {
    pub(crate) fn apply(&mut self, op: Op) -> Answer {
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
            Action::Pause(name) => Ok(self.change_queue(&name, now, |queue| queue.paused = true)),
            Action::Resume(name) => Ok(self.change_queue(&name, now, |queue| queue.paused = false)),
        }
    }

    /// Lets something happen to a job.
    pub(super) fn step(&mut self, id: JobId, event: Event, now: Timestamp) -> Result<Change, Refusal> {
        let job = self.get(id).ok_or(Refusal::NotFound(id))?;
        let before = job.state();
        match decide(job, event, now, &self.rules)? {
            Transition::To(mut next) => {
                if let Some(key) = reentry_key(before, &next) {
                    let holders = self.holders(key);
                    record_reentry(&mut next, &holders, now);
                }
                self.put(next.clone(), now);
                let successors = self.let_successors_go(before, &next, now);
                Ok(Change::To { before, job: next, successors })
            }
            Transition::Removed => {
                let job = job.clone();
                self.remove(id);
                Ok(Change::Removed { job })
            }
        }
    }

    /// Who waited for the job that changed goes on, if the change is what they waited for.
    fn let_successors_go(&mut self, before: State, after: &Job, now: Timestamp) -> Vec<Job> {
        if !lets_successors_go(before, after) {
            return Vec::new();
        }
        let gone: Vec<Job> = self.successors(after.id).iter().filter_map(|job| let_go(job, now)).collect();
        for job in &gone {
            self.put(job.clone(), now);
        }
        gone
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

    fn enqueue(&mut self, incoming: Incoming, now: Timestamp) -> Result<Admission, Refusal> {
        if let Some(other) = self.get(incoming.id) {
            return Err(Refusal::IdTaken { id: other.id, state: other.state() });
        }
        let watched = incoming.key.zip(incoming.spec.unique.as_ref().map(Uniqueness::watch));
        let holders = watched.map(|(key, watch)| self.covered(&key, watch, now)).unwrap_or_default();
        let mut admission = incoming.admit(holders, now, &self.rules)?;
        for (_, holder) in &admission.changed {
            self.put(holder.clone(), now);
        }
        // After all of them are stored: one that was called off with its predecessor waits for nothing.
        for (before, holder) in std::mem::take(&mut admission.changed) {
            let successors = self.let_successors_go(before, &holder, now);
            admission.changed.push((before, holder));
            admission.changed.extend(successors.into_iter().map(|job| (State::Pending, job)));
        }
        if admission.verdict.is_new() {
            self.put(admission.job.clone(), now);
        }
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
                self.memos.keep(memo, &answer, now);
                answer
            }
        }
    }

    fn change_queue(&mut self, name: &QueueName, now: Timestamp, change: impl FnOnce(&mut Queue)) -> Done {
        let queue = self.queue_for(name, now);
        change(queue);
        Done::Queue(queue.facts(name))
    }
}
