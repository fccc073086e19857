//! Cancel: somebody calls a job off.

use hapax_core::{Event, Job, JobId};

use crate::{Broker, Error};

impl Broker {
    /// Calls off a job that has not ended. A worker that holds it hears of it at its next heartbeat.
    pub async fn cancel(&self, id: JobId) -> Result<Job, Error> {
        self.step(id, Event::Cancel).await
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{Phase, Refusal, State};

    use super::*;
    use crate::testing::{draft, rig};

    #[tokio::test(start_paused = true)]
    async fn a_job_is_called_off_once_and_never_delivered() {
        let rig = rig();
        let job = rig.enqueue(draft()).await;
        let cancelled = rig.broker.cancel(job.id).await.unwrap();
        assert!(matches!(cancelled.phase, Phase::Cancelled { from: State::Available, .. }));
        let again = rig.broker.cancel(job.id).await;
        assert!(matches!(again, Err(Error::Refused(Refusal::WrongState { .. }))), "{again:?}");
        assert_eq!(rig.take("default").await, None);
    }
}
