//! Fail: a worker could not do a job, or hands it back untouched.

use hapax_core::{Claimant, Event, Handback, Job, JobId, WorkerError};

use crate::{Broker, Error};

impl Broker {
    /// Ends an attempt of a job that the claimant holds: the retry policy decides what comes next, or the job
    /// goes back to its queue at once.
    pub async fn fail(
        &self,
        id: JobId,
        claimant: Claimant,
        error: WorkerError,
        handback: Handback,
    ) -> Result<Job, Error> {
        let chance = self.shared.entropy.chance();
        self.step(id, Event::Fail { claimant, error, handback, chance }).await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hapax_core::{Directive, Phase};

    use super::*;
    use crate::testing::{at, draft, error, pass, rig};

    #[tokio::test(start_paused = true)]
    async fn a_failed_job_is_tried_again_after_its_pause() {
        let rig = rig();
        let _chores = rig.chores();
        let job = rig.enqueue(draft()).await;
        rig.take("default").await.unwrap();
        let failed =
            rig.broker.fail(job.id, Claimant::UNNAMED, error(Directive::Policy), Handback::Failed).await;
        assert_eq!(failed.unwrap().phase, Phase::Retryable { at: at(1000) });
        assert_eq!(rig.take("default").await, None);
        pass(Duration::from_millis(1005)).await;
        assert_eq!(rig.take("default").await.unwrap().attempt, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn jitter_differs_from_failure_to_failure() {
        let rig = rig();
        let mut pauses = Vec::new();
        for _ in 0..5 {
            let mut jittered = draft();
            jittered.spec.retry.jitter = true;
            let job = rig.enqueue(jittered).await;
            rig.take("default").await.unwrap();
            let failed =
                rig.broker.fail(job.id, Claimant::UNNAMED, error(Directive::Policy), Handback::Failed).await;
            pauses.push(failed.unwrap().retry_delay);
        }
        pauses.dedup();
        assert_eq!(pauses.len(), 5);
    }
}
