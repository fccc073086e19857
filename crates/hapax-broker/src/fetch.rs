//! Fetch: a worker takes jobs, or waits for some.

use std::pin::pin;
use std::time::Duration;

use hapax_core::{
    Chance, Claimant, Directive, Event, Handback, Job, Phase, QueueName, State, WorkerError, WorkerId,
};
use hapax_store::{Action, Change, Claim, Store};

use crate::settle::Settling;
use crate::wakeup::{Called, Waiting};
use crate::{Broker, Error};

/// Longest wait of one fetch.
pub const FETCH_WAIT_MAX: Duration = Duration::from_secs(30);
/// Most jobs of one fetch.
pub const FETCH_COUNT_MAX: usize = 1000;

/// A worker asks for jobs.
#[derive(Debug, Clone)]
pub struct Fetch {
    /// From these queues, in this order.
    pub queues: Vec<QueueName>,
    /// At most so many, and never more than [`FETCH_COUNT_MAX`].
    pub count: usize,
    /// Who asks.
    pub worker: Option<WorkerId>,
    /// How long the leases shall last.
    pub visibility_timeout: Option<Duration>,
    /// How long to wait if there is none, at most [`FETCH_WAIT_MAX`].
    pub wait: Duration,
}

impl Broker {
    /// Gives jobs to a worker; none if none came within the wait.
    ///
    /// If the caller gives up while jobs are on their way to it, they go back to their queues.
    pub async fn fetch(&self, fetch: Fetch) -> Result<Vec<Job>, Error> {
        let fetch = Fetch { count: fetch.count.min(FETCH_COUNT_MAX), ..fetch };
        if fetch.count == 0 {
            return Ok(Vec::new());
        }
        let may_wait = !fetch.wait.is_zero();
        match may_wait.then(|| self.shared.wakeups.register(&fetch.queues, fetch.count)).flatten() {
            Some(waiting) => self.fetch_waiting(&fetch, waiting).await,
            None => self.fetch_now(&fetch).await,
        }
    }

    async fn fetch_now(&self, fetch: &Fetch) -> Result<Vec<Job>, Error> {
        loop {
            let haul = self.claim(fetch).await?;
            if haul.complete || !haul.jobs.is_empty() {
                return Ok(haul.jobs);
            }
        }
    }

    async fn fetch_waiting(&self, fetch: &Fetch, mut waiting: Waiting<'_>) -> Result<Vec<Job>, Error> {
        #[expect(clippy::disallowed_methods, reason = "the client said how long it waits")]
        let mut patience = pin!(tokio::time::sleep(fetch.wait.min(FETCH_WAIT_MAX)));
        loop {
            // On the lists before the look into the store: a job that comes after the look then finds us.
            waiting.enlist();
            let haul = self.claim(fetch).await?;
            if haul.complete {
                waiting.nothing_left();
            }
            if !haul.jobs.is_empty() {
                waiting.took(&haul.jobs);
                return Ok(haul.jobs);
            }
            if !haul.complete {
                continue;
            }
            tokio::select! {
                called = waiting.called() => match called {
                    Called::ToWork => {}
                    Called::Off => return Ok(Vec::new()),
                },
                () = &mut patience => return Ok(Vec::new()),
            }
        }
    }

    async fn claim(&self, fetch: &Fetch) -> Result<Haul, Error> {
        let now = self.now();
        let claim = Claim {
            now,
            queues: fetch.queues.clone(),
            count: fetch.count,
            worker: fetch.worker.clone(),
            token: self.shared.entropy.lease_token(),
            visibility_timeout: fetch.visibility_timeout,
        };
        let changes = Settling::new(&self.shared, now, |store: &dyn Store| store.claim(claim)).await?;
        Ok(Haul::sorted(changes, fetch.count))
    }
}

/// What a look into the store brought.
struct Haul {
    /// The jobs that the worker gets.
    jobs: Vec<Job>,
    /// Whether the queues had nothing more to give.
    complete: bool,
}

impl Haul {
    /// Jobs that turned out to have expired are not delivered, and a claim gives up after a number of them; one
    /// that is delivered at most once was completed by the claim.
    fn sorted(changes: Vec<Change>, count: usize) -> Haul {
        let all = changes.len();
        let jobs = changes.into_iter().filter_map(|change| match change {
            Change::To { job, .. } => Some(job),
            Change::Removed { .. } => None,
        });
        let jobs: Vec<Job> =
            jobs.filter(|job| matches!(job.state(), State::Active | State::Completed)).collect();
        let complete = jobs.len() < count && jobs.len() == all;
        Haul { jobs, complete }
    }
}

/// Jobs that were claimed for a worker that has gone need not wait until their leases run out.
pub(crate) fn hand_back(changes: &[Change]) -> Vec<Action> {
    let leases = changes.iter().filter_map(|change| match &change.job().phase {
        Phase::Active { lease, .. } => Some((change.job().id, lease.token)),
        _ => None,
    });
    let hand_back = |(id, token)| {
        let claimant = Claimant { token: Some(Ok(token)), worker: None };
        let (error, handback, chance) = (undelivered(), Handback::Requeue, Chance(0));
        Action::Step { id, event: Event::Fail { claimant, error, handback, chance } }
    };
    leases.map(hand_back).collect()
}

fn undelivered() -> WorkerError {
    WorkerError {
        kind: "undelivered".into(),
        code: "undelivered".into(),
        message: "the worker hung up before it was given the job".into(),
        retryable: None,
        details: None,
        backtrace: Vec::new(),
        aliases: Vec::new(),
        directive: Directive::Policy,
    }
}

#[cfg(test)]
mod tests;
