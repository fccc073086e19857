//! Operations: load, let core decide, store.

use std::sync::Arc;

use hapax_core::unique::Uniqueness;
use hapax_core::{
    Admission, Bound, Event, Incoming, JobId, QueueName, Refusal, Timestamp, Transition, decide, joins_line,
    record_reentry, reentry_key,
};
use hapax_store::{
    Action, Answer, Change, Departure, Departures, Done, Followed, Growth, Memo, Op, QueueFacts, cron, limit,
    room, succession, workflow,
};

use crate::Fault;
use crate::index::KnownMemo;
use crate::memo::{self, KeptMemo};
use crate::row::Stored;
use crate::tables::Tables;

/// The outer error stops the engine, the inner one is an answer.
pub(crate) type Outcome<T> = Result<Result<T, Refusal>, Fault>;

impl Tables<'_> {
    pub(crate) fn apply(&mut self, op: Op) -> Result<Answer, Fault> {
        let answer = self.act(op)?;
        self.share()?;
        Ok(answer)
    }

    fn act(&mut self, op: Op) -> Result<Answer, Fault> {
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
            Action::Edit { key, edit } => hapax_store::edit(self, key, &edit),
            Action::EditTogether { keys, edit } => hapax_store::edit_together(self, keys, &edit),
            Action::StartWorkflow { workflow, memo } => self.remembering(memo, now, |tables| {
                let outcome = tables.atomically(|tables| workflow::start(tables, *workflow, now))?;
                Ok(outcome.map(|started| Done::WorkflowStarted(Box::new(started))))
            }),
            Action::CancelWorkflow(id) => {
                let outcome = workflow::cancel(self, id, now)?;
                Ok(outcome.map(|followed| Done::WorkflowCancelled(Box::new(followed))))
            }
            Action::RunCron { key, id, memo } => self.remembering(memo, now, |tables| {
                let outcome = cron::run_now(tables, &key, id, now)?;
                Ok(outcome.map(|tick| Done::CronRan(Box::new(tick))))
            }),
            Action::Pause(name) => Ok(Ok(Done::Queue(self.let_pause(&name, true, now)))),
            Action::Resume(name) => Ok(Ok(Done::Queue(self.let_pause(&name, false, now)))),
            Action::RemoveQueue(name) => Ok(self.remove_queue(name, now)),
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
        let closes_until = limit::closes_until(&event);
        let mut outcome = self.take_step_alone(stored, event, now)?;
        if let (Some(until), Ok(change)) = (closes_until, &outcome) {
            let job = change.job().clone();
            limit::close(self, &job, until, now)?;
        }
        if let Ok(Change::To { before, job, followers, workflow, said: _ }) = &mut outcome
            && let Some(followed) = self.follow(*before, job, now)?
        {
            followers.extend(followed.followers);
            *workflow = Some(Box::new(followed.workflow));
        }
        Ok(outcome)
    }

    /// The same, without what follows from it for its workflow.
    pub(crate) fn take_step_alone(
        &mut self,
        stored: Arc<Stored>,
        event: Event,
        now: Timestamp,
    ) -> Outcome<Change> {
        let (before, said) = (stored.job.state(), event.said());
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
                let departure = Departure::of(&stored.job, &next);
                if succession::enters_line(&stored.job, &next)
                    && let Err(refusal) = succession::enter(self, &stored.job, &mut next)?
                {
                    return Ok(Err(refusal));
                }
                self.put_over(Some(stored), next.clone(), now);
                let followers = Departures::default().see_off(self, departure, now)?;
                Ok(Ok(Change::To { before, job: next, said, followers, workflow: None }))
            }
            Transition::Removed => {
                let job = stored.job.clone();
                let departure = Departure::of_removed(&job);
                self.remove(stored);
                let followers = Departures::default().see_off(self, departure, now)?;
                Ok(Ok(Change::Removed { job, followers }))
            }
        }
    }

    pub(crate) fn enqueue(&mut self, incoming: Incoming, now: Timestamp) -> Outcome<Admission> {
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
        if let Some(refusal) = incoming.barred {
            return Ok(Err(*refusal));
        }
        let holders = match (watched, counting) {
            (Some((key, watch)), Some(counting)) => self.load_counting(counting, &key, watch, now)?,
            _ => Vec::new(),
        };
        let bound = incoming.bound;
        match (incoming.admit(holders, now, &self.rules), bound) {
            (Ok(admission), None) => self.carry_out(admission, now).map(Ok),
            (Ok(admission), Some(_)) => self.carry_out_if_room(admission, bound, now),
            (Err(refusal), _) => Ok(Err(refusal)),
        }
    }

    fn carry_out_if_room(
        &mut self,
        mut admission: Admission,
        bound: Option<Bound>,
        now: Timestamp,
    ) -> Outcome<Admission> {
        let displaced = match room::make(self, &mut admission, bound, now)? {
            Ok(displaced) => displaced,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let mut admission = self.carry_out(admission, now)?;
        room::tell(&mut admission, displaced);
        Ok(Ok(admission))
    }

    fn carry_out(&mut self, mut admission: Admission, now: Timestamp) -> Result<Admission, Fault> {
        if !admission.changed.is_empty() {
            self.change_holders(&mut admission, now)?;
        }
        if admission.verdict.is_new() {
            succession::join(self, &mut admission.job)?;
            self.put_over(None, admission.job.clone(), now);
        }
        Ok(admission)
    }

    /// Stores the holders that changed, and what follows from that for others.
    fn change_holders(&mut self, admission: &mut Admission, now: Timestamp) -> Result<(), Fault> {
        let mut departures = Departures::default();
        for (before, holder) in &mut admission.changed {
            let stood = self.find(holder.id)?;
            departures.add(stood.as_ref().and_then(|stood| Departure::of(&stood.job, holder)));
            if joins_line(*before, holder) {
                succession::join(self, holder)?;
                admission.job = holder.clone();
            }
            self.put_over(stood, holder.clone(), now);
        }
        for (before, holder) in std::mem::take(&mut admission.changed) {
            let successors = departures.see_off(self, departures.of(holder.id), now)?;
            let followed = self.follow(before, &holder, now)?;
            admission.changed.push((before, holder));
            admission.changed.extend(successors);
            if let Some(Followed { workflow, followers }) = followed {
                admission.changed.extend(followers);
                admission.workflows.push(workflow);
            }
        }
        Ok(())
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
                // What may be accepted a moment later is not to be refused for a day.
                if !answer.as_ref().is_err_and(Refusal::is_passing) {
                    self.remember(memo, &answer, now);
                }
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

    fn remove_queue(&mut self, name: QueueName, now: Timestamp) -> Answer {
        if let Some(facts) = self.index.queue_facts(&name) {
            if let Some(refusal) = facts.bars_removal() {
                return Err(refusal);
            }
            if facts.counts.is_empty() {
                self.index.forget_queue(&name);
            } else {
                self.index.set_paused(&name, false, now);
            }
            self.rows.group.queues.insert(name.clone());
        }
        Ok(Done::QueueRemoved(name))
    }

    fn let_pause(&mut self, name: &QueueName, paused: bool, now: Timestamp) -> QueueFacts {
        self.make_queue(name, now);
        self.rows.group.queues.insert(name.clone());
        self.index.set_paused(name, paused, now)
    }
}
