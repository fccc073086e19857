//! What operators do to single jobs.

use hapax_core::{Event, Job, JobId};

use crate::{Broker, Error};

impl Broker {
    /// Tries a job again that failed or was given up, at once.
    pub async fn retry(&self, id: JobId) -> Result<Job, Error> {
        self.step(id, Event::Retry).await
    }

    /// Removes what is left of a job that has ended.
    pub async fn delete(&self, id: JobId) -> Result<(), Error> {
        self.step(id, Event::Delete).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{Claimant, Directive, Handback, State};

    use crate::testing::{draft, error, rig};

    #[tokio::test(start_paused = true)]
    async fn a_job_that_was_given_up_is_tried_again_and_then_deleted() {
        let rig = rig();
        let job = rig.enqueue(draft()).await;
        assert!(rig.broker.retry(job.id).await.is_err() && rig.broker.delete(job.id).await.is_err());
        rig.take("default").await.unwrap();
        let error = error(Directive::Discard);
        rig.broker.fail(job.id, Claimant::UNNAMED, error, Handback::Failed).await.unwrap();
        assert_eq!(rig.broker.retry(job.id).await.unwrap().state(), State::Available);
        assert_eq!(rig.take("default").await.unwrap().id, job.id);
        rig.broker.acknowledge(job.id, Claimant::UNNAMED, None).await.unwrap();
        rig.broker.delete(job.id).await.unwrap();
        assert!(rig.broker.job(job.id).await.is_err());
    }
}
