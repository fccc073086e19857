//! Progress: a worker tells how far it has come, and leaves behind from where another could go on.

use hapax_core::{Checkpoint, Claimant, Event, Job, JobId, Json, Report};

use crate::{Broker, Error};

impl Broker {
    /// Takes a report down. One about a job that nobody holds is passed over; the job comes back either way.
    pub async fn report_progress(&self, id: JobId, claimant: Claimant, report: Report) -> Result<Job, Error> {
        self.step(id, Event::Progress { claimant, report }).await
    }

    /// Saves a checkpoint in the place of the one before.
    pub async fn save_checkpoint(
        &self,
        id: JobId,
        claimant: Claimant,
        state: Json,
        notes: Json,
    ) -> Result<Job, Error> {
        self.step(id, Event::SaveCheckpoint { claimant, state, notes }).await
    }

    /// Drops the checkpoint, if there is one.
    pub async fn drop_checkpoint(&self, id: JobId) -> Result<(), Error> {
        self.step(id, Event::DropCheckpoint).await.map(drop)
    }

    /// The checkpoint of a job, if it has one.
    pub async fn checkpoint(&self, id: JobId) -> Result<Option<Checkpoint>, Error> {
        self.job(id).await.map(|job| job.checkpoint)
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::Fraction;

    use super::*;
    use crate::testing::{draft, rig};
    use crate::{Aspect, EventQuery, JobFact, News};

    fn half() -> Report {
        Report { value: Some(Fraction::clamped(0.5)), message: Some("half".into()), ..Report::default() }
    }

    fn facts(broker: &Broker) -> Vec<JobFact> {
        let page = broker.events(&EventQuery { limit: 100, ..EventQuery::default() });
        let fact = |news: &News| match news {
            News::Job { fact, .. } => Some(fact.clone()),
            _ => None,
        };
        let facts = page.events.iter().filter(|notice| notice.aspect == Aspect::Fact);
        facts.filter_map(|notice| fact(&notice.event.news)).skip(2).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_report_is_told_to_those_who_listen() {
        let rig = rig();
        let id = rig.enqueue(draft()).await.id;
        rig.take("default").await.unwrap();
        rig.broker.report_progress(id, Claimant::UNNAMED, half()).await.unwrap();
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        let state = Json::from_trusted("{}");
        rig.broker.save_checkpoint(id, Claimant::UNNAMED, state, Json::empty_object()).await.unwrap();
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        rig.broker.drop_checkpoint(id).await.unwrap();
        let facts = facts(&rig.broker);
        assert!(
            matches!(
                &facts[..],
                [
                    JobFact::Progress { attempt: 1, value: Some(_), .. },
                    JobFact::Checkpointed { sequence: 1, .. }
                ]
            ),
            "{facts:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_hears_of_a_report_that_is_passed_over() {
        let rig = rig();
        let id = rig.enqueue(draft()).await.id;
        rig.take("default").await.unwrap();
        rig.broker.acknowledge(id, Claimant::UNNAMED, None).await.unwrap();
        let job = rig.broker.report_progress(id, Claimant::UNNAMED, half()).await.unwrap();
        assert_eq!(job.progress, None);
        assert!(matches!(&facts(&rig.broker)[..], [JobFact::Completed { .. }]));
    }
}
