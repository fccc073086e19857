//! Acknowledge: a worker has done a job.

use hapax_core::{Claimant, Event, Job, JobId, Json};
use hapax_store::{Action, Change};

use crate::{Broker, Error, answer};

impl Broker {
    /// Completes a job that the claimant holds.
    pub async fn acknowledge(
        &self,
        id: JobId,
        claimant: Claimant,
        result: Option<Json>,
    ) -> Result<Job, Error> {
        self.step(id, Event::Acknowledge { claimant, result }).await
    }

    /// Lets something happen to a job that stays.
    pub(crate) async fn step(&self, id: JobId, event: Event) -> Result<Job, Error> {
        let done = self.commit_one(self.now(), Action::Step { id, event }).await?;
        let (Change::To { job, .. } | Change::Removed { job, .. }) = answer::stepped(done)?;
        Ok(job)
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{Refusal, State};

    use super::*;
    use crate::testing::{draft, rig};

    #[tokio::test(start_paused = true)]
    async fn the_holder_completes_the_job_and_others_do_not() {
        let rig = rig();
        let job = rig.enqueue(draft()).await;
        rig.take("default").await.unwrap();
        let stranger = Claimant::showing(Some("not a lease"), None);
        let lost = rig.broker.acknowledge(job.id, stranger, None).await;
        assert!(matches!(lost, Err(Error::Refused(Refusal::LeaseLost { .. }))), "{lost:?}");
        let done = rig.broker.acknowledge(job.id, Claimant::UNNAMED, None).await.unwrap();
        assert_eq!(done.state(), State::Completed);
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_nothing_to_acknowledge_about_an_unknown_job() {
        let rig = rig();
        let id = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f".parse().unwrap();
        let unknown = rig.broker.acknowledge(id, Claimant::UNNAMED, None).await;
        assert!(matches!(unknown, Err(Error::Refused(Refusal::NotFound(_)))), "{unknown:?}");
    }
}
