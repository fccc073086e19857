//! Reset: everything is removed, for test servers.

use crate::{Broker, Error};

impl Broker {
    /// Removes all jobs and queues, and what is known of their past.
    pub async fn reset(&self) -> Result<(), Error> {
        self.shared.store.reset().await?;
        self.shared.events.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{draft, rig};

    #[tokio::test(start_paused = true)]
    async fn nothing_is_left_of_jobs_and_events() {
        let rig = rig();
        let job = rig.enqueue(draft()).await;
        rig.broker.reset().await.unwrap();
        assert!(rig.broker.job(job.id).await.is_err());
        assert_eq!(rig.all_events(), []);
    }
}
