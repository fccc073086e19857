//! The bench on which a case works: a store, a clock that stands until it is moved, and names that repeat.

mod keys;
mod workflows;

use std::sync::Arc;
use std::time::Duration;

use hapax_core::{
    Admission, Chance, Claimant, Directive, Event, Handback, Job, JobId, LeaseToken, Phase, Refusal, Rules,
    Said, State, Timestamp, Verdict, WorkerError,
};

pub(super) use self::keys::{job_key_of, release, successors_of, waits_for};
use super::chances::Chances;
use super::draft::{Draft, queue};
use super::picture::Picture;
use super::{Effort, Harness, Open, wait};
use crate::{Action, Advance, Answer, Change, Claim, Done, Op, QueueFacts, Store, Totals};

/// The shortest time that the server knows.
pub(super) const INSTANT: Duration = Duration::from_millis(1);
pub(super) const SECOND: Duration = Duration::from_secs(1);
pub(super) const MINUTE: Duration = Duration::from_mins(1);
pub(super) const HOUR: Duration = Duration::from_hours(1);
pub(super) const DAY: Duration = Duration::from_hours(24);

/// More than any case has jobs.
pub(super) const ALL: usize = 1_000_000;

/// A store under test.
pub(super) struct Bench {
    open: Open,
    harness: Box<dyn Harness>,
    rules: Rules,
    /// Nothing only while the store is being reopened.
    store: Option<Arc<dyn Store>>,
    pub(super) now: Timestamp,
    chances: Chances,
    ids: Vec<JobId>,
    closed: bool,
}

impl Bench {
    /// A new store with the default rules.
    pub(super) fn new(open: Open) -> Bench {
        Bench::new_with_rules(open, Rules::default())
    }

    /// Starts over on another new store, with other rules.
    pub(super) fn restart(&mut self, rules: Rules) {
        *self = Bench::new_with_rules(self.open, rules);
    }

    /// Starts over on another new store, once all is in order on this one.
    pub(super) fn renew(&mut self) {
        self.check();
        self.restart(self.rules.clone());
    }

    pub(super) fn new_with_rules(open: Open, rules: Rules) -> Bench {
        let harness = open();
        let store = Some(harness.open(rules.clone()));
        let now = Timestamp::parse("2026-03-01T09:30:00Z").unwrap();
        Bench { open, harness, rules, store, now, chances: Chances::new(1), ids: Vec::new(), closed: false }
    }

    pub(super) fn effort(&self) -> Effort {
        self.harness.effort().from_environment()
    }

    pub(super) fn opener(&self) -> Open {
        self.open
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        self.store.as_ref().expect("the store is open")
    }

    pub(super) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(super) fn reopen(&mut self) {
        let store = self.store.take().expect("the store is open");
        self.store = Some(self.harness.reopen(store, self.rules.clone()));
    }

    /// Closes the store for good.
    pub(super) fn close(&mut self) {
        wait(self.store().close()).unwrap();
        self.closed = true;
    }

    /// What must hold at the end of every case: counts are right, and the store comes back as it was.
    pub(super) fn check(&mut self) {
        if !self.closed {
            let before = Picture::of(self);
            before.check_counts();
            self.reopen();
            assert_eq!(Picture::of(self), before, "what is there after the store was opened again");
        }
    }

    pub(super) fn pass(&mut self, span: Duration) {
        self.now = self.now + span;
    }

    /// Goes to the last moment before that much has passed.
    pub(super) fn pass_almost(&mut self, span: Duration) {
        self.now = self.now + span - INSTANT;
    }

    pub(super) fn set_back(&mut self, span: Duration) {
        self.now = self.now - span;
    }

    /// All jobs that the case made, gone ones included.
    pub(super) fn ids(&self) -> &[JobId] {
        &self.ids
    }

    pub(super) fn new_id(&mut self) -> JobId {
        let id = self.chances.id(self.now);
        self.ids.push(id);
        id
    }

    /// Takes note of jobs that were made without the bench.
    pub(super) fn add_ids(&mut self, ids: impl IntoIterator<Item = JobId>) {
        self.ids.extend(ids);
    }

    pub(super) fn new_token(&mut self) -> LeaseToken {
        self.chances.token()
    }

    /// Carries out one operation.
    pub(super) fn act(&self, action: Action) -> Answer {
        let mut answers = wait(self.store().commit(vec![Op { now: self.now, action }])).unwrap();
        assert_eq!(answers.len(), 1, "one operation, one answer");
        answers.remove(0)
    }

    pub(super) fn try_enqueue(&mut self, draft: Draft) -> Result<Admission, Refusal> {
        let incoming = Box::new(draft.incoming(self.new_id()));
        match self.act(Action::Enqueue { incoming, memo: None })? {
            Done::Enqueued(admission) => Ok(*admission),
            other => panic!("an enqueue was answered by {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn enqueue(&mut self, draft: Draft) -> Admission {
        self.try_enqueue(draft).unwrap()
    }

    /// Enqueues a job that nothing stands against.
    #[track_caller]
    pub(super) fn create(&mut self, draft: Draft) -> JobId {
        let admission = self.enqueue(draft);
        assert_eq!(admission.verdict, Verdict::Created);
        admission.job.id
    }

    pub(super) fn try_enqueue_all(&mut self, drafts: Vec<Draft>) -> Result<Vec<Admission>, Refusal> {
        let incoming = drafts.into_iter().map(|draft| draft.incoming(self.new_id())).collect();
        match self.act(Action::EnqueueAll { incoming, memo: None })? {
            Done::EnqueuedAll(admissions) => Ok(admissions),
            other => panic!("a batch was answered by {other:?}"),
        }
    }

    pub(super) fn step(&self, id: JobId, event: Event) -> Result<Change, Refusal> {
        match self.act(Action::Step { id, event })? {
            Done::Stepped(change) => Ok(*change),
            other => panic!("a step was answered by {other:?}"),
        }
    }

    /// A claim with nothing but queues and a count.
    pub(super) fn wish(&mut self, queues: &[&str], count: usize) -> Claim {
        let queues = queues.iter().map(|name| queue(name)).collect();
        let token = self.new_token();
        Claim { now: self.now, queues, count, worker: None, token, visibility_timeout: None, tenant: None }
    }

    /// What a claim changes.
    pub(super) fn claim(&self, claim: Claim) -> Vec<Change> {
        wait(self.store().claim(claim)).unwrap().changes
    }

    /// The jobs that a claim hands out.
    pub(super) fn fetch(&mut self, queues: &[&str], count: usize) -> Vec<Job> {
        let wish = self.wish(queues, count);
        let changes = self.claim(wish);
        changes
            .iter()
            .map(|change| change.job().clone())
            .filter(|job| job.state() != State::Discarded)
            .collect()
    }

    /// The ids of the jobs that a claim on the default queue hands out.
    pub(super) fn fetch_ids(&mut self, count: usize) -> Vec<JobId> {
        self.fetch(&["default"], count).iter().map(|job| job.id).collect()
    }

    /// The next job of the default queue.
    #[track_caller]
    pub(super) fn fetch_one(&mut self) -> Job {
        self.fetch(&["default"], 1).pop().expect("the default queue has a job")
    }

    pub(super) fn acknowledge(&self, job: &Job) -> Result<Change, Refusal> {
        self.step(job.id, Event::Acknowledge { claimant: holder_of(job), result: None })
    }

    pub(super) fn fail(&self, job: &Job) -> Result<Change, Refusal> {
        self.fail_with(job, Directive::Policy, Handback::Failed)
    }

    pub(super) fn fail_with(
        &self,
        job: &Job,
        directive: Directive,
        handback: Handback,
    ) -> Result<Change, Refusal> {
        let (claimant, error) = (holder_of(job), error(directive));
        self.step(job.id, Event::Fail { claimant, error, handback, chance: Chance(0) })
    }

    pub(super) fn heartbeat(&self, job: &Job) -> Result<Change, Refusal> {
        self.step(job.id, Event::Heartbeat { claimant: holder_of(job), visibility_timeout: None })
    }

    /// Fetches the next job of the default queue and completes it.
    #[track_caller]
    pub(super) fn complete_one(&mut self) -> JobId {
        let job = self.fetch_one();
        self.acknowledge(&job).unwrap();
        job.id
    }

    /// Brings a job into the state. Nothing else may wait in its queue, which is the default one.
    #[track_caller]
    pub(super) fn create_in(&mut self, state: State, draft: Draft) -> JobId {
        let now = self.now;
        let draft = match state {
            State::Scheduled => draft.scheduled_at(now + HOUR),
            State::Pending => draft.pending(),
            _ => draft,
        };
        let id = self.create(draft);
        if matches!(state, State::Active | State::Retryable | State::Completed | State::Discarded) {
            let job = self.fetch_one();
            assert_eq!(job.id, id);
            match state {
                State::Retryable => drop(self.fail(&job).unwrap()),
                State::Completed => drop(self.acknowledge(&job).unwrap()),
                State::Discarded => drop(self.fail_with(&job, Directive::Discard, Handback::Failed).unwrap()),
                _ => {}
            }
        }
        if state == State::Cancelled {
            self.step(id, Event::Cancel).unwrap();
        }
        assert_eq!(self.state(id), state);
        id
    }

    /// Lets everything happen that is due.
    pub(super) fn advance(&self) -> Advance {
        self.advance_by(ALL)
    }

    pub(super) fn advance_by(&self, limit: usize) -> Advance {
        wait(self.store().advance(self.now, limit, Chance(0))).unwrap()
    }

    /// Lets everything happen that is due after that time.
    pub(super) fn pass_and_advance(&mut self, span: Duration) {
        self.pass(span);
        self.advance();
    }

    pub(super) fn get(&self, id: JobId) -> Option<Job> {
        wait(self.store().get(id)).unwrap()
    }

    #[track_caller]
    pub(super) fn job(&self, id: JobId) -> Job {
        self.get(id).expect("the job exists")
    }

    #[track_caller]
    pub(super) fn state(&self, id: JobId) -> State {
        self.job(id).state()
    }

    pub(super) fn queue(&self, name: &str) -> Option<QueueFacts> {
        wait(self.store().queue(queue(name))).unwrap()
    }

    pub(super) fn totals(&self) -> Totals {
        wait(self.store().totals()).unwrap()
    }

    pub(super) fn pause(&self, name: &str) -> QueueFacts {
        self.queue_answer(Action::Pause(queue(name)))
    }

    pub(super) fn resume(&self, name: &str) -> QueueFacts {
        self.queue_answer(Action::Resume(queue(name)))
    }

    fn queue_answer(&self, action: Action) -> QueueFacts {
        match self.act(action).unwrap() {
            Done::Queue(facts) => facts,
            other => panic!("a queue was answered by {other:?}"),
        }
    }
}

/// The one who holds the job's lease.
pub(super) fn holder_of(job: &Job) -> Claimant {
    match &job.phase {
        Phase::Active { lease, .. } => Claimant { token: Some(Ok(lease.token)), worker: None },
        other => panic!("nobody holds a job that is {}", other.state()),
    }
}

/// A change of one job that no other waited for.
pub(super) fn went(before: State, job: Job) -> Change {
    Change::To { before, job, said: Said::Nothing, followers: Vec::new(), workflow: None }
}

/// The same, where somebody took it out of the dead letters.
pub(super) fn revived(job: Job) -> Change {
    let (before, said) = (State::Discarded, Said::Revived);
    Change::To { before, job, said, followers: Vec::new(), workflow: None }
}

/// An error of a worker.
pub(super) fn error(directive: Directive) -> WorkerError {
    WorkerError {
        kind: "Trouble".into(),
        code: "handler_error".into(),
        message: "it did not work".into(),
        retryable: None,
        details: None,
        backtrace: Vec::new(),
        aliases: Vec::new(),
        directive,
        rate_limit_until: None,
    }
}
