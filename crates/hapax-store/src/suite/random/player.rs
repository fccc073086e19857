//! Plays steps on the engine and on the reference store, and compares every answer.

use std::cell::RefCell;
use std::time::Duration;

use hapax_core::{Admission, Chance, Incoming, JobId, Refusal, Retention, Rules, Timestamp};
use proptest::{prop_assert, prop_assert_eq};

use super::super::bench::Bench;
use super::super::chances::Chances;
use super::super::draft::queue;
use super::super::{Open, wait};
use super::action::worker_id;
use super::mirror::{Check, Mirror};
use super::shape::queue_name;
use super::sightings::{Sight, Sightings};
use super::step::{Act, Step};
use crate::{Action, Answer, Claim, Done, MemoryStore, Op, QueueFacts, Store};

/// After so many steps everything is read and compared.
const STEPS_BETWEEN_AUDITS: usize = 40;

/// A sequence being played.
pub(super) struct Player<'s> {
    pub(super) bench: Bench,
    pub(super) judge: MemoryStore,
    pub(super) mirror: Mirror<'s>,
    pub(super) ids: Vec<JobId>,
    pub(super) chances: Chances,
    pub(super) now: Timestamp,
}

/// Short lives, so that a sequence sees the end of them.
fn rules() -> Rules {
    Rules {
        visibility_timeout: Duration::from_secs(20),
        retention: Retention {
            completed: Duration::from_hours(1),
            cancelled: Duration::from_mins(10),
            discarded: Duration::from_hours(2),
        },
        joined_bytes_max: 150,
    }
}

impl<'s> Player<'s> {
    pub(super) fn new(open: Open, sightings: &'s RefCell<Sightings>) -> Player<'s> {
        let bench = Bench::new_with_rules(open, rules());
        Player {
            now: bench.now,
            bench,
            judge: MemoryStore::new(rules()),
            mirror: Mirror::new(rules(), sightings),
            ids: Vec::new(),
            chances: Chances::new(7),
        }
    }

    pub(super) fn play(&mut self, at: usize, step: &Step) -> Check {
        self.mirror.now = self.now;
        match step {
            Step::Commit(acts) => self.commit(acts)?,
            Step::Claim { .. } => self.claim(step)?,
            Step::Advance { limit, chance } => self.advance(*limit, Chance(*chance))?,
            Step::Look { key, wish, limit } => self.look(*key, wish.as_ref(), *limit)?,
            Step::Pass(span) => self.now = self.now + *span,
            Step::SetBack(span) => {
                self.now = self.now - *span;
                self.mirror.note(Sight::ClockSetBack);
            }
            Step::Reopen => {
                self.bench.reopen();
                self.mirror.note(Sight::Reopened);
                self.audit()?;
            }
        }
        if at % STEPS_BETWEEN_AUDITS == STEPS_BETWEEN_AUDITS - 1 { self.audit() } else { Ok(()) }
    }

    pub(super) fn finish(&mut self) -> Check {
        self.audit()?;
        self.bench.reopen();
        self.audit()
    }

    /// The queue is there from now on, if it was not before.
    fn queue_used(&mut self, facts: &QueueFacts) {
        self.mirror.queues.entry(facts.name.clone()).or_insert(self.now);
    }

    fn commit(&mut self, acts: &[Act]) -> Check {
        let ops: Vec<Op> = acts.iter().map(|act| Op { now: self.now, action: self.action(act) }).collect();
        let answers = wait(self.bench.store().commit(ops.clone())).unwrap();
        prop_assert_eq!(answers.len(), ops.len(), "one answer each");
        let expected = wait(self.judge.commit(ops.clone())).unwrap();
        for ((op, answer), expected) in ops.iter().zip(&answers).zip(&expected) {
            prop_assert_eq!(answer, expected, "the answer to {:?}", op.action);
            self.mirror_answer(&op.action, answer)?;
        }
        Ok(())
    }

    fn claim(&mut self, step: &Step) -> Check {
        let Step::Claim { queues, count, worker, visibility_timeout } = step else { return Ok(()) };
        let claim = Claim {
            now: self.now,
            queues: queues.iter().map(|number| queue(queue_name(*number))).collect(),
            count: *count,
            worker: worker.map(worker_id),
            token: self.chances.token(),
            visibility_timeout: *visibility_timeout,
            tenant: None,
        };
        let changes = wait(self.bench.store().claim(claim.clone())).unwrap().changes;
        let expected = wait(self.judge.claim(claim.clone())).unwrap().changes;
        prop_assert_eq!(&changes, &expected, "the answer to a claim");
        self.mirror.claimed(&claim, &changes)
    }

    fn advance(&mut self, limit: usize, chance: Chance) -> Check {
        let advance = wait(self.bench.store().advance(self.now, limit, chance)).unwrap();
        let expected = wait(self.judge.advance(self.now, limit, chance)).unwrap();
        prop_assert_eq!(&advance, &expected, "what time changed");
        self.mirror.advanced(self.now, limit, &advance)
    }

    fn mirror_each(&mut self, incoming: &[Incoming], answers: &[Result<Admission, Refusal>]) -> Check {
        prop_assert_eq!(incoming.len(), answers.len());
        let created = answers.iter().flatten().filter(|admission| admission.verdict.is_new()).count();
        self.mirror.note_if(created > 0 && created < answers.len(), Sight::EachMixed);
        for (incoming, answer) in incoming.iter().zip(answers) {
            match answer {
                Ok(admission) => self.mirror.admitted(incoming, admission, self.now)?,
                Err(refusal) => self.mirror.not_admitted(refusal),
            }
        }
        Ok(())
    }

    fn mirror_answer(&mut self, action: &Action, answer: &Answer) -> Check {
        match (action, answer) {
            (Action::Enqueue { incoming, .. }, Ok(Done::Enqueued(admission))) => {
                self.mirror.admitted(incoming, admission, self.now)
            }
            (Action::EnqueueAll { incoming, .. }, Ok(Done::EnqueuedAll(admissions))) => {
                prop_assert_eq!(incoming.len(), admissions.len());
                let mixed = admissions.iter().any(|admission| !admission.verdict.is_new());
                self.mirror.note_if(mixed, Sight::BatchWithDuplicates);
                let mut pairs = incoming.iter().zip(admissions);
                pairs
                    .try_for_each(|(incoming, admission)| self.mirror.admitted(incoming, admission, self.now))
            }
            (Action::EnqueueEach { incoming, .. }, Ok(Done::EnqueuedEach(answers))) => {
                self.mirror_each(incoming, answers)
            }
            (
                Action::Enqueue { .. } | Action::EnqueueAll { .. } | Action::EnqueueEach { .. },
                Ok(Done::Remembered(reply)),
            ) => {
                self.mirror.note(Sight::MemoReplayed);
                self.mirror.note_if(reply.status != 200, Sight::RefusalReplayed);
                Ok(())
            }
            (
                Action::Enqueue { .. } | Action::EnqueueAll { .. } | Action::EnqueueEach { .. },
                Err(refusal),
            ) => {
                self.mirror.not_admitted(refusal);
                Ok(())
            }
            (Action::Step { event, .. }, Ok(Done::Stepped(change))) => self.mirror.stepped(event, change),
            (Action::Step { event, .. }, Err(refusal)) => {
                self.mirror.not_stepped(event, refusal);
                Ok(())
            }
            (Action::StepHolders { key, event, limit, .. }, Ok(Done::SteppedHolders(changes))) => {
                prop_assert!(!changes.is_empty(), "nothing is told as done that was not");
                self.mirror.stepped_holders(key, event, *limit, changes)
            }
            (Action::StepHolders { key, event, limit, .. }, Err(refusal)) => {
                prop_assert_eq!(refusal, &Refusal::KeyNotHeld);
                self.mirror.stepped_holders(key, event, *limit, &[])
            }
            (Action::Pause(name), Ok(Done::Queue(facts))) => {
                self.queue_used(facts);
                self.mirror.paused.insert(name.clone());
                prop_assert!(facts.paused);
                Ok(())
            }
            (Action::Resume(name), Ok(Done::Queue(facts))) => {
                self.queue_used(facts);
                self.mirror.paused.remove(name);
                prop_assert!(!facts.paused);
                Ok(())
            }
            (Action::RemoveQueue(name), Ok(Done::QueueRemoved(_))) => self.mirror.queue_removed(name),
            (Action::RemoveQueue(name), Err(refusal)) => self.mirror.queue_not_removed(name, refusal),
            (action, answer) => panic!("{action:?} was answered by {answer:?}"),
        }
    }
}
