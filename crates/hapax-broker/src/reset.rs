//! Reset: everything is removed, for test servers.

use crate::{Broker, Error};

impl Broker {
    /// Removes all jobs and queues, and what is known of their past.
    pub async fn reset(&self) -> Result<(), Error> {
        self.shared.store.reset().await?;
        self.learn_settings().await?;
        self.shared.deletions.clear();
        self.shared.events.clear();
        self.shared.figures.clear();
        self.shared.workers.clear();
        self.shared.sign.clear();
        self.load_outbox().await
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::QueueSettings;

    use crate::testing::{draft, rig};

    #[tokio::test(start_paused = true)]
    async fn nothing_is_left_of_jobs_events_and_settings() {
        let rig = rig();
        let job = rig.enqueue(draft()).await;
        let draining = |before| QueueSettings { draining: Some(true), ..before };
        rig.broker.set_queue("default", draining).await.unwrap();
        rig.broker.reset().await.unwrap();
        assert!(rig.broker.job(job.id).await.is_err());
        assert_eq!(rig.all_events(), []);
        rig.enqueue(draft()).await;
    }
}
