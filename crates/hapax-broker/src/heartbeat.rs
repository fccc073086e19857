//! Heartbeat: a worker is still at its jobs.

use std::time::Duration;

use hapax_core::{Claimant, Event, Job, JobId, Refusal, State, TenantId, WorkerId};
use hapax_store::{Action, Answer, Change};

use crate::{Broker, Error, answer};

/// What a worker says it is at.
#[derive(Debug, Clone)]
pub struct Heartbeat {
    /// Who.
    pub worker: Option<WorkerId>,
    /// The jobs, each with the text of its lease if the worker shows it.
    pub jobs: Vec<(JobId, Option<String>)>,
    /// How long the leases shall last from here, if not as long as before.
    pub visibility_timeout: Option<Duration>,
    /// The tenant whose jobs they have to be.
    pub tenant: Option<TenantId>,
}

/// What the worker learns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pulse {
    /// The jobs it holds, with their new deadlines.
    pub extended: Vec<Job>,
    /// The jobs it does not hold, or not any longer.
    pub lost: Vec<JobId>,
    /// Those of the lost ones that were called off.
    pub cancelled: Vec<JobId>,
}

impl Broker {
    /// Extends the leases that the worker holds, each for itself.
    pub async fn heartbeat(&self, beat: Heartbeat) -> Result<Pulse, Error> {
        let Heartbeat { worker, jobs, visibility_timeout, tenant } = beat;
        if jobs.is_empty() {
            return Ok(Pulse::default());
        }
        let ids: Vec<JobId> = jobs.iter().map(|(id, _)| *id).collect();
        let actions = jobs.into_iter().map(|(id, lease)| {
            let claimant = Claimant::showing(lease.as_deref(), worker.clone());
            let event = Event::Heartbeat { claimant, visibility_timeout };
            Action::Step { id, event: event.only_of(tenant.as_ref()) }
        });
        let answers = self.commit(self.now(), actions.collect()).await?;
        let mut pulse = Pulse::default();
        for (id, answer) in ids.into_iter().zip(answers) {
            pulse.hear(id, answer)?;
        }
        Ok(pulse)
    }
}

impl Pulse {
    fn hear(&mut self, id: JobId, answer: Answer) -> Result<(), Error> {
        match answer {
            Ok(done) => match answer::stepped(done)? {
                Change::To { job, .. } => self.extended.push(job),
                Change::Removed { .. } => self.lost.push(id),
            },
            Err(refusal) => {
                self.lost.push(id);
                if is_cancelled(&refusal) {
                    self.cancelled.push(id);
                }
            }
        }
        Ok(())
    }
}

fn is_cancelled(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::LeaseLost { state: State::Cancelled, .. }
            | Refusal::WrongState { state: State::Cancelled, .. }
    )
}

#[cfg(test)]
mod tests {
    use hapax_core::Phase;

    use super::*;
    use crate::testing::{at, draft, rig};

    #[tokio::test(start_paused = true)]
    async fn a_worker_learns_which_jobs_it_holds_and_which_it_lost() {
        let rig = rig();
        let mut ids = Vec::new();
        for _ in 0..3 {
            rig.enqueue(draft()).await;
            ids.push(rig.take("default").await.unwrap().id);
        }
        rig.broker.cancel(ids[1]).await.unwrap();
        tokio::time::advance(Duration::from_mins(1)).await;
        let leases = [None, None, Some("not a lease".to_owned())];
        let jobs = ids.iter().copied().zip(leases).collect();
        let beat =
            Heartbeat { worker: WorkerId::parse("worker-1"), jobs, visibility_timeout: None, tenant: None };
        let pulse = rig.broker.heartbeat(beat).await.unwrap();
        assert_eq!((&*pulse.lost, &*pulse.cancelled), (&ids[1..], &ids[1..2]));
        let [Job { id, phase: Phase::Active { lease, .. }, .. }] = &pulse.extended[..] else {
            panic!("{pulse:?}")
        };
        let deadline = at(60_000) + rig.broker.rules().visibility_timeout;
        assert_eq!((*id, lease.deadline), (ids[0], deadline));
    }

    #[tokio::test(start_paused = true)]
    async fn a_worker_without_jobs_costs_nothing() {
        let rig = rig();
        rig.store.hold();
        let beat = Heartbeat { worker: None, jobs: Vec::new(), visibility_timeout: None, tenant: None };
        assert_eq!(rig.broker.heartbeat(beat).await.unwrap(), Pulse::default());
    }
}
