//! From steps to operations: which job is meant, what a worker shows.

use std::sync::Arc;

use hapax_core::unique::JobKey;
use hapax_core::{
    AgentDeed, Chance, Claimant, Event, Fraction, Incoming, JobFilter, JobId, Json, Priority, Report,
    SpecPatch, State, StateSet, WorkerError, WorkerId,
};

use super::super::bench::error;
use super::super::draft::queue;
use super::player::Player;
use super::shape::{Shape, queue_name};
use super::step::{Act, MemoWish, Name, Pick, Proof, Trouble};
use crate::{Action, Answer, Done, Memo, MemoKey, Remembered};

/// More than ever carry one key.
const REMOVED_AT_ONCE: usize = 1000;

impl Player<'_> {
    pub(super) fn action(&mut self, act: &Act) -> Action {
        match act {
            Act::Enqueue { shape, name, memo } => {
                let id = self.id(*name);
                let incoming = Box::new(self.incoming(shape, id));
                Action::Enqueue { incoming, memo: memo.map(wish) }
            }
            Act::EnqueueAll { shapes, memo } => {
                let incoming = shapes.iter().map(|shape| {
                    let id = self.id(Name::New);
                    self.incoming(shape, id)
                });
                Action::EnqueueAll { incoming: incoming.collect(), memo: memo.map(wish) }
            }
            Act::EnqueueEach { items, memo } => {
                let incoming = items.iter().map(|(shape, name)| {
                    let id = self.id(*name);
                    self.incoming(shape, id)
                });
                Action::EnqueueEach { incoming: incoming.collect(), memo: memo.map(wish) }
            }
            Act::ReleaseKey { key, limit } => {
                let reason = (limit % 2 == 1).then(|| "it has to go".into());
                let (key, event) = (key.key(), Event::Release { reason });
                Action::StepHolders { key, states: StateSet::ALL, event, limit: *limit }
            }
            Act::RemoveByKey(key) => {
                let (key, states) = (key.key(), JobKey::WATCH.states);
                Action::StepHolders { key, states, event: Event::RemoveByKey, limit: REMOVED_AT_ONCE }
            }
            Act::Pause(number) => Action::Pause(queue(queue_name(*number))),
            Act::Resume(number) => Action::Resume(queue(queue_name(*number))),
            Act::RemoveQueue(number) => Action::RemoveQueue(queue(queue_name(*number))),
            Act::Acknowledge { job, .. }
            | Act::Fail { job, .. }
            | Act::Heartbeat { job, .. }
            | Act::Progress { job, .. }
            | Act::SaveCheckpoint { job, .. }
            | Act::DropCheckpoint(job)
            | Act::Revive { job, .. }
            | Act::TimePassed { job, .. }
            | Act::Reprioritize { job, .. }
            | Act::Abandon { job, .. }
            | Act::Move { job, .. }
            | Act::LoseQueue(job)
            | Act::CancelIf { job, .. }
            | Act::RetryIf { job, .. }
            | Act::Retry(job)
            | Act::Delete(job)
            | Act::Cancel(job)
            | Act::Activate(job)
            | Act::PauseAgent(job)
            | Act::ResumeAgent { job, .. }
            | Act::RetryTool(job)
            | Act::Release(job)
            | Act::Forget(job) => {
                let id = self.pick(*job);
                Action::Step { id, event: self.event(act, id) }
            }
        }
    }

    fn event(&self, act: &Act, id: JobId) -> Event {
        match *act {
            Act::Acknowledge { job, proof } => {
                Event::Acknowledge { claimant: self.claimant(id, proof), result: result(job) }
            }
            Act::Fail { proof, error, handback, chance, .. } => Event::Fail {
                claimant: self.claimant(id, proof),
                error: trouble(error),
                handback,
                chance: Chance(chance),
            },
            Act::Heartbeat { proof, visibility_timeout, .. } => {
                Event::Heartbeat { claimant: self.claimant(id, proof), visibility_timeout }
            }
            Act::Progress { proof, percent, saves, .. } => {
                Event::Progress { claimant: self.claimant(id, proof), report: report(percent, saves) }
            }
            Act::SaveCheckpoint { job, proof } => Event::SaveCheckpoint {
                claimant: self.claimant(id, proof),
                state: Json::from_trusted(&format!("{{\"rows\": {}, \"x\":1.0}}", job.nth)),
                notes: Json::empty_object(),
            },
            Act::DropCheckpoint(_) => Event::DropCheckpoint,
            Act::Revive { queue: number, .. } => {
                let queue = number.map(|number| queue(queue_name(number)));
                Event::Revive { patch: SpecPatch { queue, ..SpecPatch::default() } }
            }
            Act::TimePassed { chance, .. } => Event::TimePassed { chance: Chance(chance) },
            Act::Activate(_) => Event::Activate,
            Act::PauseAgent(_) => Event::Agent(AgentDeed::Pause { reason: Some("a look".into()) }),
            Act::ResumeAgent { approved, .. } => {
                Event::Agent(AgentDeed::Resume { approved, comment: None, metadata: None })
            }
            Act::RetryTool(job) => Event::Agent(AgentDeed::RetryTool {
                call: format!("t-{}", job.nth).into(),
                error: None,
                alternate: false,
            }),
            Act::Forget(_) => Event::Forget,
            Act::Retry(_) => Event::Retry,
            Act::Delete(_) => Event::Delete,
            Act::Reprioritize { priority, .. } => {
                Event::Reprioritize { priority: Priority::new(priority).unwrap() }
            }
            Act::Abandon { proof, .. } => Event::Abandon { claimant: self.claimant(id, proof) },
            Act::LoseQueue(_) => Event::LoseQueue,
            Act::Move { queue: number, .. } => Event::MoveTo { queue: queue(queue_name(number)) },
            Act::CancelIf { state, .. } => only_if(state, Event::Cancel),
            Act::RetryIf { state, .. } => only_if(state, Event::Retry),
            Act::Cancel(_) => Event::Cancel,
            Act::Release(_) => Event::Release { reason: None },
            Act::Enqueue { .. }
            | Act::EnqueueAll { .. }
            | Act::EnqueueEach { .. }
            | Act::ReleaseKey { .. }
            | Act::RemoveByKey(_)
            | Act::Pause(_)
            | Act::Resume(_)
            | Act::RemoveQueue(_) => panic!("{act:?} is no event"),
        }
    }

    fn incoming(&self, shape: &Shape, id: JobId) -> Incoming {
        shape.draft(self.now).incoming(id)
    }

    fn id(&mut self, name: Name) -> JobId {
        match name {
            Name::Old(pick) if !self.ids.is_empty() => self.pick(pick),
            Name::Old(_) | Name::New => {
                let id = self.chances.id(self.now);
                self.ids.push(id);
                id
            }
        }
    }

    /// A job of the wanted state, else any that ever was, else one that never was.
    fn pick(&self, pick: Pick) -> JobId {
        let fits =
            |state| self.mirror.jobs.values().filter(move |job| job.state() == state).map(|job| job.id);
        let fitting: Vec<JobId> = pick.state.into_iter().flat_map(fits).collect();
        let choice = if fitting.is_empty() { &self.ids } else { &fitting };
        if choice.is_empty() { JobId::new(self.now, [0; 10]) } else { choice[pick.nth % choice.len()] }
    }

    fn claimant(&self, id: JobId, proof: Proof) -> Claimant {
        let showing = |back| match self.mirror.token(id, back) {
            Some(token) => Claimant { token: Some(Ok(token)), worker: None },
            None => Claimant::showing(Some("no lease"), None),
        };
        match proof {
            Proof::Newest => showing(0),
            Proof::Older => showing(1),
            Proof::Nothing => Claimant::UNNAMED,
            Proof::Foreign => Claimant::showing(Some("no lease"), None),
            Proof::Worker(number) => Claimant { token: None, worker: Some(worker_id(number)) },
        }
    }
}

pub(super) fn worker_id(number: u8) -> WorkerId {
    WorkerId::parse(&format!("worker-{number}")).unwrap()
}

fn only_if(state: State, event: Event) -> Event {
    let filter = JobFilter { states: StateSet::of(&[state]), ..JobFilter::default() };
    Event::OnlyIf { filter: Arc::new(filter), event: Box::new(event) }
}

/// What a worker brings back: something or nothing, by the accident of its choice.
fn result(pick: Pick) -> Option<Json> {
    (pick.nth % 2 == 1).then(|| Json::from_trusted(&format!("[{}.0]", pick.nth)))
}

fn trouble(trouble: Trouble) -> WorkerError {
    WorkerError { retryable: trouble.retryable, ..error(trouble.directive) }
}

fn wish(wish: MemoWish) -> Memo {
    let key = MemoKey(format!("memo-{}", wish.key).into());
    Memo { key, fingerprint: [wish.request; 32], render: Arc::new(rendered) }
}

fn rendered(answer: &Answer) -> Remembered {
    let (status, text) = match answer {
        Ok(Done::Enqueued(admission)) => (200, format!("{} {}", admission.verdict.name(), admission.job.id)),
        Ok(done) => (200, format!("{done:?}")),
        Err(refusal) => (409, refusal.to_string()),
    };
    Remembered { status, body: text.into_bytes().into() }
}

fn report(percent: u8, saves: bool) -> Report {
    let facts = Json::from_trusted(&format!("{{\"rows\": {percent}, \"of\":1e2}}"));
    Report {
        value: Some(Fraction::clamped(f64::from(percent) / 100.0)),
        message: percent.is_multiple_of(2).then(|| format!("{percent} rows").into()),
        data: percent.is_multiple_of(3).then(|| facts.clone()),
        checkpoint: saves.then_some(facts),
    }
}
