//! Fetch: a worker takes jobs, or waits for some.

use std::pin::{Pin, pin};
use std::time::Duration;

use hapax_core::{
    Chance, Claimant, Directive, Event, Handback, Job, Phase, QueueName, State, TenantId, WorkerError,
    WorkerId,
};
use hapax_store::{Action, Change, Claim, Store};
use tokio::time::Sleep;

use crate::settle::Settling;
use crate::wakeup::{Called, Waiting, Watching};
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
    /// Only jobs of this tenant.
    pub tenant: Option<TenantId>,
    /// How long to wait if there is none, at most [`FETCH_WAIT_MAX`].
    pub wait: Duration,
}

impl Broker {
    /// Gives jobs to a worker; none if none came within the wait.
    ///
    /// If the caller gives up while jobs are on their way to it, they go back to their queues.
    pub async fn fetch(&self, fetch: Fetch) -> Result<Vec<Job>, Error> {
        let fetch = Fetch { count: fetch.count.min(FETCH_COUNT_MAX), ..fetch };
        if let Some(worker) = &fetch.worker {
            self.worker_asks(worker, &fetch.queues);
        }
        if fetch.count == 0 {
            return Ok(Vec::new());
        }
        let may_wait = !fetch.wait.is_zero();
        if fetch.tenant.is_some() {
            return match may_wait.then(|| self.shared.wakeups.watch(&fetch.queues)).flatten() {
                Some(watching) => self.fetch_watching(&fetch, watching).await,
                None => self.fetch_now(&fetch).await,
            };
        }
        match may_wait.then(|| self.shared.wakeups.register(&fetch.queues, fetch.count)).flatten() {
            Some(waiting) => self.fetch_waiting(&fetch, waiting).await,
            None => self.fetch_now(&fetch).await,
        }
    }

    /// Whether there is nothing for whoever asks, whatever waits in the queues.
    fn is_barred(&self, fetch: &Fetch) -> bool {
        let is_quiet = |worker| self.shared.workers.is_quiet(worker);
        self.maintenance().is_some() || fetch.worker.as_ref().is_some_and(is_quiet)
    }

    async fn fetch_now(&self, fetch: &Fetch) -> Result<Vec<Job>, Error> {
        loop {
            if self.is_barred(fetch) {
                return Ok(Vec::new());
            }
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
            if self.is_barred(fetch) {
                // Calls for it go to others.
                drop(waiting);
                self.sit_out(fetch, patience).await;
                return Ok(Vec::new());
            }
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

    /// Waits as long as the client wants to, for nothing: it would only ask again at once. Ends with a maintenance.
    async fn sit_out(&self, fetch: &Fetch, patience: Pin<&mut Sleep>) {
        let Some(mut waiting) = self.shared.wakeups.register(&[], 1) else { return };
        let mut reopened = pin!(self.shared.sign.taken_down());
        reopened.as_mut().enable();
        // It may have been taken down since somebody looked.
        if !self.is_barred(fetch) {
            return;
        }
        tokio::select! {
            _ = waiting.called() => {}
            () = reopened => {}
            () = patience => {}
        }
    }

    async fn fetch_watching(&self, fetch: &Fetch, watching: Watching<'_>) -> Result<Vec<Job>, Error> {
        #[expect(clippy::disallowed_methods, reason = "the client said how long it waits")]
        let mut patience = pin!(tokio::time::sleep(fetch.wait.min(FETCH_WAIT_MAX)));
        loop {
            if self.is_barred(fetch) {
                drop(watching);
                self.sit_out(fetch, patience).await;
                return Ok(Vec::new());
            }
            let haul = self.claim(fetch).await?;
            if !haul.jobs.is_empty() {
                return Ok(haul.jobs);
            }
            if !haul.complete {
                continue;
            }
            tokio::select! {
                rung = watching.rung() => match rung {
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
            tenant: fetch.tenant.clone(),
        };
        let claimed = Settling::new(&self.shared, now, |store: &dyn Store| store.claim(claim)).await?;
        Ok(Haul::sorted(claimed.changes, fetch.count))
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
        rate_limit_until: None,
        aliases: Vec::new(),
        directive: Directive::Policy,
    }
}

#[cfg(test)]
mod tests;
