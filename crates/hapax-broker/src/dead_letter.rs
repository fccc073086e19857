//! Dead letters: jobs that were given up and kept, to be looked at, tried again or thrown away.

use hapax_core::{Event, Job, JobId, SpecPatch};
use hapax_store::{DeadLetterQuery, Page};

use crate::{Broker, Error};

impl Broker {
    /// A part of the list, newest first.
    pub async fn dead_letters(&self, query: DeadLetterQuery) -> Result<Page<Job>, Error> {
        Ok(self.shared.store.dead_letters(query).await?)
    }

    /// Tries a dead letter again, with new values if somebody gives them.
    pub async fn revive(&self, id: JobId, patch: SpecPatch) -> Result<Job, Error> {
        self.step(id, Event::Revive { patch }).await
    }

    /// Throws a dead letter away.
    pub async fn forget(&self, id: JobId) -> Result<(), Error> {
        self.step(id, Event::Forget).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{Claimant, Directive, Handback, QueueName, Refusal};

    use super::*;
    use crate::testing::{Rig, draft, error, queue, rig};

    async fn dead(rig: &Rig) -> JobId {
        let job = rig.enqueue(draft()).await;
        rig.take("default").await.unwrap();
        let error = error(Directive::DeadLetter);
        rig.broker.fail(job.id, Claimant::UNNAMED, error, Handback::Failed).await.unwrap().id
    }

    async fn listed(rig: &Rig, queue: Option<QueueName>) -> Vec<JobId> {
        let query = DeadLetterQuery { queue, limit: 10, ..DeadLetterQuery::default() };
        rig.broker.dead_letters(query).await.unwrap().items.iter().map(|job| job.id).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_letter_is_listed_until_it_is_revived_with_new_values() {
        let rig = rig();
        let id = dead(&rig).await;
        assert_eq!(listed(&rig, None).await, [id]);
        assert_eq!(listed(&rig, Some(queue("other"))).await, []);
        let patch = SpecPatch { queue: Some(queue("other")), ..SpecPatch::default() };
        rig.broker.revive(id, patch).await.unwrap();
        assert_eq!(listed(&rig, None).await, []);
        assert_eq!(rig.take("other").await.unwrap().id, id);
    }

    #[tokio::test(start_paused = true)]
    async fn a_dead_letter_that_is_thrown_away_is_gone_and_a_living_job_cannot_be() {
        let rig = rig();
        let id = dead(&rig).await;
        rig.broker.forget(id).await.unwrap();
        assert!(rig.broker.job(id).await.is_err());
        let alive = rig.enqueue(draft()).await;
        let refused = rig.broker.forget(alive.id).await;
        assert!(matches!(refused, Err(Error::Refused(Refusal::NoDeadLetter { .. }))), "{refused:?}");
    }
}
