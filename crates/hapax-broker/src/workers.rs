//! The workers that this server has heard of, kept in memory: other servers on the same database know their own.

use std::collections::HashMap;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hapax_core::{
    Claimant, Event, Job, JobFilter, Phase, QueueName, Refusal, State, StateSet, Timestamp, WorkerId,
};
use hapax_store::{Action, JobQuery};

use crate::events::Unnumbered;
use crate::{Broker, Error, Order, Report, Standing, Worker, WorkerFact};

/// Most workers that are known; the one that was silent for the longest time gives way.
pub const WORKERS_MAX: usize = 10_000;
/// Who has been silent for so long is forgotten.
pub const WORKER_FORGOTTEN_AFTER: Duration = Duration::from_hours(1);
/// How often to look who has fallen silent.
const SILENCE_NOTED_AFTER: Duration = Duration::from_secs(5);
/// Most jobs of one worker that are shown, or taken from it in one request.
pub const WORKER_JOBS_MAX: usize = 1000;

/// The workers, by name.
#[derive(Debug, Default)]
pub(crate) struct Workers {
    known: Mutex<HashMap<WorkerId, Worker>>,
    /// Whether anybody was ever to have no jobs: as long as nobody was, a fetch need not look.
    any_quiet: AtomicBool,
}

/// What became of a worker that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deregistered {
    /// How many jobs it held that went back to their queues, or ended because that was their last attempt.
    pub released: usize,
    /// Whether it may hold others, which go back when their leases run out.
    pub has_more: bool,
}

impl Workers {
    fn lock(&self) -> MutexGuard<'_, HashMap<WorkerId, Worker>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets everybody.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// Notes that a worker is there, and what changes with that; what is to be told of it.
    fn heard<T>(
        &self,
        id: &WorkerId,
        now: Timestamp,
        note: impl FnOnce(&mut Worker) -> T,
    ) -> (T, Vec<WorkerFact>) {
        let mut workers = self.lock();
        let (worker, is_new) = match workers.get_mut(id) {
            Some(worker) => {
                let was_gone = mem::take(&mut worker.is_gone);
                (worker, was_gone)
            }
            None => (begin(&mut workers, id, now), true),
        };
        let was_running = worker.told() == Order::Running;
        worker.last_seen_at = now;
        let noted = note(worker);
        self.see(worker);
        let mut facts = Vec::new();
        if is_new {
            facts.push(worker.started());
        }
        if (was_running || is_new) && worker.told() != Order::Running {
            facts.push(worker.became_quiet());
        }
        (noted, facts)
    }

    /// Looks whether a worker is to have no jobs from here on.
    fn see(&self, worker: &Worker) {
        if worker.told() != Order::Running {
            self.any_quiet.store(true, Ordering::Release);
        }
    }

    /// A worker asks for jobs.
    fn asks(&self, id: &WorkerId, queues: &[QueueName], now: Timestamp) -> Vec<WorkerFact> {
        let note = |worker: &mut Worker| {
            if worker.report.queues.as_deref() != Some(queues) {
                worker.report.queues = Some(queues.to_vec());
            }
        };
        self.heard(id, now, note).1
    }

    /// Gives up those who have been silent for too long; what is to be told of them.
    fn give_up_silent(&self, now: Timestamp) -> Vec<Unnumbered> {
        let mut workers = self.lock();
        let silent = |worker: &&mut Worker| !worker.is_gone && worker.standing(now) == Standing::Stale;
        let mut events: Vec<Unnumbered> = Vec::new();
        for worker in workers.values_mut().filter(silent) {
            worker.is_gone = true;
            events.push(worker.stopped().at(&worker.id, now));
        }
        events
    }

    /// Whether a worker shall have no jobs.
    pub(crate) fn is_quiet(&self, id: &WorkerId) -> bool {
        self.any_quiet.load(Ordering::Acquire)
            && self.lock().get(id).is_some_and(|worker| worker.told() != Order::Running)
    }
}

/// Notes a worker that was not known.
fn begin<'w>(workers: &'w mut HashMap<WorkerId, Worker>, id: &WorkerId, now: Timestamp) -> &'w mut Worker {
    if workers.len() >= WORKERS_MAX {
        make_room(workers, now);
    }
    workers.entry(id.clone()).or_insert_with(|| Worker::new(id.clone(), now))
}

/// Lets go of everybody who is to be forgotten, or else of the one who was silent for the longest time.
fn make_room(workers: &mut HashMap<WorkerId, Worker>, now: Timestamp) {
    workers.retain(|_, worker| !is_forgotten(worker, now));
    if workers.len() >= WORKERS_MAX {
        let silent =
            workers.values().min_by_key(|worker| worker.last_seen_at).map(|worker| worker.id.clone());
        silent.map(|id| workers.remove(&id));
    }
}

fn is_forgotten(worker: &Worker, now: Timestamp) -> bool {
    now.since(worker.last_seen_at) >= WORKER_FORGOTTEN_AFTER
}

impl Broker {
    /// A worker says that it is there, and hears what it shall do.
    pub fn worker_beat(&self, id: &WorkerId, report: Report) -> Order {
        let now = self.now();
        let ((order, beat), mut facts) = self.shared.workers.heard(id, now, |worker| {
            worker.last_heartbeat_at = Some(now);
            worker.hear(report);
            (worker.told(), worker.beat())
        });
        facts.push(beat);
        self.tell_of_worker(id, facts, now);
        order
    }

    /// A worker asks for jobs.
    pub(crate) fn worker_asks(&self, id: &WorkerId, queues: &[QueueName]) {
        let now = self.now();
        let facts = self.shared.workers.asks(id, queues, now);
        self.tell_of_worker(id, facts, now);
    }

    /// Tells of workers that have been silent for too long, again and again.
    #[expect(clippy::disallowed_methods, reason = "the chores are what waits for the time")]
    pub(crate) async fn watch_workers(&self) {
        loop {
            tokio::time::sleep(SILENCE_NOTED_AFTER).await;
            self.announce(self.shared.workers.give_up_silent(self.now()));
        }
    }

    fn tell_of_worker(&self, id: &WorkerId, facts: Vec<WorkerFact>, now: Timestamp) {
        self.announce(facts.into_iter().map(|fact| fact.at(id, now)).collect());
    }

    /// A worker has just started: nothing that was said to one of its name holds for it.
    pub fn register_worker(&self, id: &WorkerId, report: Report) {
        let now = self.now();
        self.shared.workers.lock().remove(id);
        let ((), facts) = self.shared.workers.heard(id, now, |worker| worker.hear(report));
        self.tell_of_worker(id, facts, now);
    }

    /// All workers that are not forgotten, by name.
    pub fn workers(&self) -> Vec<Worker> {
        let now = self.now();
        let mut workers: Vec<Worker> = self
            .shared
            .workers
            .lock()
            .values()
            .filter(|worker| !is_forgotten(worker, now))
            .cloned()
            .collect();
        workers.sort_by(|a, b| a.id.cmp(&b.id));
        workers
    }

    /// How many workers there are that are not stale.
    pub fn count_workers(&self) -> usize {
        let now = self.now();
        let workers = self.shared.workers.lock();
        workers.values().filter(|worker| worker.standing(now) != Standing::Stale).count()
    }

    /// How many workers there are that are stale and not forgotten.
    pub fn count_stale_workers(&self) -> usize {
        let now = self.now();
        let is_meant =
            |worker: &&Worker| !is_forgotten(worker, now) && worker.standing(now) == Standing::Stale;
        self.shared.workers.lock().values().filter(is_meant).count()
    }

    /// The worker of that name.
    pub fn worker(&self, id: &WorkerId) -> Option<Worker> {
        let now = self.now();
        self.shared.workers.lock().get(id).filter(|worker| !is_forgotten(worker, now)).cloned()
    }

    /// Tells a worker to take no new jobs, or to stop, from its next heartbeat on. It gets no jobs from here on.
    pub fn order_worker(&self, id: &WorkerId, order: Order) -> Option<Worker> {
        let now = self.now();
        let (told, was_running) = {
            let mut workers = self.shared.workers.lock();
            let worker = workers.get_mut(id).filter(|worker| !is_forgotten(worker, now))?;
            let was_running = worker.told() == Order::Running;
            worker.order = worker.order.max(order);
            self.shared.workers.see(worker);
            (worker.clone(), was_running)
        };
        if was_running && told.told() != Order::Running {
            self.tell_of_worker(id, vec![told.became_quiet()], now);
        }
        Some(told)
    }

    /// The jobs that a worker holds, and whether there may be more.
    pub async fn jobs_of_worker(&self, id: &WorkerId) -> Result<(Vec<Job>, bool), Error> {
        let filter = JobFilter {
            states: StateSet::of(&[State::Active]),
            worker: Some(id.clone()),
            ..JobFilter::default()
        };
        let page = self.jobs(JobQuery::of(filter, WORKER_JOBS_MAX)).await?;
        Ok((page.jobs, page.next.is_some()))
    }

    /// Forgets a worker, and ends the leases that it holds: each only if it is still the one that was seen.
    pub async fn deregister_worker(&self, id: &WorkerId) -> Result<Deregistered, Error> {
        let (jobs, has_more) = self.jobs_of_worker(id).await?;
        let abandon = |job: &Job| match &job.phase {
            Phase::Active { lease, .. } => {
                let claimant = Claimant { token: Some(Ok(lease.token)), worker: None };
                Some(Action::Step { id: job.id, event: Event::Abandon { claimant } })
            }
            _ => None,
        };
        let actions: Vec<Action> = jobs.iter().filter_map(abandon).collect();
        let answers = if actions.is_empty() { Vec::new() } else { self.commit(self.now(), actions).await? };
        let gone = self.shared.workers.lock().remove(id).filter(|worker| !worker.is_gone);
        let facts = gone.map(|worker| worker.stopped()).into_iter().collect();
        self.tell_of_worker(id, facts, self.now());
        let released = answers.iter().filter(|answer: &&Result<_, Refusal>| answer.is_ok()).count();
        Ok(Deregistered { released, has_more })
    }
}

#[cfg(test)]
mod tests;
