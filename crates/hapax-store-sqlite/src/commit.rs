//! Operations: load, let core decide, store.

use std::sync::Arc;

use hapax_core::unique::Uniqueness;
use hapax_core::{
    Admission, Event, Incoming, Job, JobId, QueueName, Refusal, State, Timestamp, Transition, decide, let_go,
    lets_successors_go, record_reentry, reentry_key,
};
use hapax_store::{Action, Answer, Change, Done, Growth, Memo, Op, QueueFacts};

use crate::Fault;
use crate::index::KnownMemo;
use crate::memo::{self, KeptMemo};
use crate::row::Stored;
use crate::tables::Tables;

/// The outer error stops the engine, the inner one is an answer.
pub(crate) type Outcome<T> = Result<Result<T, Refusal>, Fault>;

impl Tables<'_> {
    pub(crate) fn apply(&mut self, op: Op) -> Result<Answer, Fault> {
        let Op { now, action } = op;
        match action {
            Action::Enqueue { incoming, memo } => self.remembering(memo, now, |tables| {
                let outcome = tables.enqueue(*incoming, now)?;
                Ok(outcome.map(|admission| Done::Enqueued(Box::new(admission))))
            }),
            Action::EnqueueAll { incoming, memo } => self.remembering(memo, now, |tables| {
                let outcome = tables.atomically(|tables| tables.enqueue_all(incoming, now))?;
                Ok(outcome.map(Done::EnqueuedAll))
            }),
            Action::EnqueueEach { incoming, memo } => self.remembering(memo, now, |tables| {
                let mut growth = Growth::default();
                let each = incoming.into_iter().map(|incoming| {
                    let outcome = tables.enqueue(incoming, now)?;
                    Ok(outcome.map(|admission| growth.with(admission)))
                });
                Ok(Ok(Done::EnqueuedEach(each.collect::<Result<_, Fault>>()?)))
            }),
            Action::StepHolders { key, states, event, limit } => {
                Ok(self.step_holders(&key, states, &event, limit, now)?.map(Done::SteppedHolders))
            }
            Action::Step { id, event } => {
                let outcome = self.step(id, event, now)?;
                Ok(outcome.map(|change| Done::Stepped(Box::new(change))))
            }
            Action::Pause(name) => Ok(Ok(Done::Queue(self.let_pause(&name, true, now)))),
            Action::Resume(name) => Ok(Ok(Done::Queue(self.let_pause(&name, false, now)))),
        }
    }

    fn step(&mut self, id: JobId, event: Event, now: Timestamp) -> Outcome<Change> {
        match self.find(id)? {
            Some(stored) => self.take_step(stored, event, now),
            None => Ok(Err(Refusal::NotFound(id))),
        }
    }

    /// Lets something happen to a job.
    pub(crate) fn take_step(&mut self, stored: Arc<Stored>, event: Event, now: Timestamp) -> Outcome<Change> {
        let before = stored.job.state();
        let transition = match decide(&stored.job, event, now, &self.rules) {
            Ok(transition) => transition,
            Err(refusal) => return Ok(Err(refusal)),
        };
        match transition {
            Transition::To(mut next) => {
                if let (Some(key), Some(uniqueness)) = (reentry_key(before, &next), &next.spec.unique) {
                    let holders = self.holders(key, uniqueness.watch(), now)?;
                    record_reentry(&mut next, &holders, now);
                }
                self.put_over(Some(stored), next.clone(), now);
                let successors = self.let_successors_go(before, &next, now)?;
                Ok(Ok(Change::To { before, job: next, successors }))
            }
            Transition::Removed => {
                let job = stored.job.clone();
                self.remove(stored);
                Ok(Ok(Change::Removed { job }))
            }
        }
    }

    /// Who waited for the job that changed goes on, if the change is what they waited for.
    fn let_successors_go(&mut self, before: State, after: &Job, now: Timestamp) -> Result<Vec<Job>, Fault> {
        let mut gone = Vec::new();
        if !lets_successors_go(before, after) {
            return Ok(gone);
        }
        for seq in self.index.successors.of(after.id) {
            let stored = self.rows.load(seq)?;
            if let Some(next) = let_go(&stored.job, now) {
                self.put_over(Some(stored), next.clone(), now);
                gone.push(next);
            }
        }
        Ok(gone)
    }

    fn enqueue(&mut self, incoming: Incoming, now: Timestamp) -> Outcome<Admission> {
        let watched = incoming.key.zip(incoming.spec.unique.as_ref().map(Uniqueness::watch));
        let (taken, counting) = {
            let look = self.index.look();
            let counting = watched.map(|(key, watch)| look.counting(&key, watch, now));
            (look.seq_of(incoming.id), counting)
        };
        if let Some(seq) = taken {
            let other = self.rows.load(seq)?;
            return Ok(Err(Refusal::IdTaken { id: other.job.id, state: other.job.state() }));
        }
        let holders = match (watched, counting) {
            (Some((key, watch)), Some(counting)) => self.load_counting(counting, &key, watch, now)?,
            _ => Vec::new(),
        };
        match incoming.admit(holders, now, &self.rules) {
            Ok(admission) => self.carry_out(admission, now).map(Ok),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    fn carry_out(&mut self, mut admission: Admission, now: Timestamp) -> Result<Admission, Fault> {
        for (_, holder) in &admission.changed {
            self.put(holder.clone(), now)?;
        }
        // After all of them are stored: one that was called off with its predecessor waits for nothing.
        for (before, holder) in std::mem::take(&mut admission.changed) {
            let successors = self.let_successors_go(before, &holder, now)?;
            admission.changed.push((before, holder));
            admission.changed.extend(successors.into_iter().map(|job| (State::Pending, job)));
        }
        if admission.verdict.is_new() {
            self.put_over(None, admission.job.clone(), now);
        }
        Ok(admission)
    }

    fn enqueue_all(&mut self, batch: Vec<Incoming>, now: Timestamp) -> Outcome<Vec<Admission>> {
        let (mut admissions, mut growth) = (Vec::with_capacity(batch.len()), Growth::default());
        for (index, incoming) in batch.into_iter().enumerate() {
            let admitted = self.enqueue(incoming, now)?;
            let refused = match &admitted {
                Ok(admission) => admission.refusal(),
                Err(refusal) => Some(refusal.clone()),
            };
            if let Some(refusal) = refused {
                return Ok(Err(refusal.in_batch(index, &admissions)));
            }
            admissions.extend(admitted.map(|admission| growth.with(admission)));
        }
        Ok(Ok(admissions))
    }

    /// Answers from memory if the same request was answered before, else does it and remembers the answer.
    fn remembering(
        &mut self,
        memo: Option<Memo>,
        now: Timestamp,
        work: impl FnOnce(&mut Self) -> Result<Answer, Fault>,
    ) -> Result<Answer, Fault> {
        let Some(memo) = memo else { return work(self) };
        match self.index.memos.get(&memo.key, now) {
            Some(known) if known.fingerprint == memo.fingerprint => self.recall(known).map(Ok),
            Some(_) => Ok(Err(Refusal::IdempotencyMismatch)),
            None => {
                let answer = work(self)?;
                self.remember(memo, &answer, now);
                Ok(answer)
            }
        }
    }

    fn recall(&mut self, known: KnownMemo) -> Result<Done, Fault> {
        let reply = match self.rows.group.memos.get(&known.seq) {
            Some(kept) => kept.reply.clone(),
            None => memo::load(self.rows.reading()?, known.seq)?,
        };
        Ok(Done::Remembered(reply))
    }

    fn remember(&mut self, memo: Memo, answer: &Answer, now: Timestamp) {
        let Memo { key: name, fingerprint, render } = memo;
        self.last.memo += 1;
        let seq = self.last.memo;
        let replaced = self.index.memos.insert(name.clone(), KnownMemo { seq, since: now, fingerprint });
        if let Some(old) = replaced {
            self.forget_memo(old);
        }
        self.rows.group.memos.insert(seq, KeptMemo { name, fingerprint, since: now, reply: render(answer) });
    }

    /// Lets go of an answer, whether the tables have it already or not.
    pub(crate) fn forget_memo(&mut self, seq: i64) {
        let group = &mut self.rows.group;
        if group.memos.remove(&seq).is_none() {
            group.forgotten_memos.push(seq);
        }
    }

    fn let_pause(&mut self, name: &QueueName, paused: bool, now: Timestamp) -> QueueFacts {
        self.make_queue(name, now);
        self.rows.group.queues.insert(name.clone());
        self.index.set_paused(name, paused, now)
    }
}
