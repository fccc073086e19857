//! Priorities of jobs that wait: changing one, and counting them.

use std::collections::BTreeMap;
use std::sync::Arc;

use hapax_core::{Event, Job, JobFilter, JobId, Priority, QueueName, State, StateSet};
use hapax_store::{JOB_SCAN_MAX, JobPage, JobQuery};

use crate::{Broker, Error};

/// How often a count looks into the store at most.
const LOOKS_MAX: usize = 2;

/// How many jobs of each priority wait for a worker.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Priorities {
    /// Those that were looked at, the newest.
    pub by_priority: BTreeMap<Priority, u64>,
    /// Whether those are all.
    pub is_complete: bool,
}

impl Broker {
    /// Gives a waiting job another priority; tells what it had before.
    ///
    /// The old one is read first and must still be there when the new one is written, so that nobody is told of a change that
    /// somebody else made.
    pub async fn reprioritize(&self, id: JobId, priority: Priority) -> Result<(Job, Priority), Error> {
        let before = self.job(id).await?.spec.priority;
        let filter = Arc::new(JobFilter { priority: Some(before), ..JobFilter::default() });
        let event = Box::new(Event::Reprioritize { priority });
        let job = self.step(id, Event::OnlyIf { filter, event }).await?;
        Ok((job, before))
    }

    /// How many jobs of each priority wait in a queue, as far as a bounded look sees.
    pub async fn count_priorities(&self, queue: QueueName) -> Result<Priorities, Error> {
        let states = StateSet::of(&[State::Available]);
        let filter = JobFilter { queue: Some(queue), states, ..JobFilter::default() };
        let mut counted = Priorities::default();
        let mut query = JobQuery::of(filter, JOB_SCAN_MAX);
        for _ in 0..LOOKS_MAX {
            let JobPage { jobs, next } = self.shared.store.jobs(query.clone()).await?;
            for job in jobs {
                *counted.by_priority.entry(job.spec.priority).or_default() += 1;
            }
            query.after = next;
            if next.is_none() {
                counted.is_complete = true;
                break;
            }
        }
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{Refusal, State};

    use super::*;
    use crate::testing::{draft, rig};

    #[tokio::test(start_paused = true)]
    async fn priorities_are_counted_by_queue() {
        let rig = rig();
        for (queue, number) in [("a", 5), ("a", 0), ("a", 5), ("b", 5)] {
            let job = rig.enqueue(draft().on(queue)).await;
            rig.broker.reprioritize(job.id, Priority::new(number).unwrap()).await.unwrap();
        }
        rig.enqueue(draft().on("a").scheduled(9_000)).await;
        let counted = rig.broker.count_priorities(crate::testing::queue("a")).await.unwrap();
        let expected = BTreeMap::from([(Priority::default(), 1), (Priority::new(5).unwrap(), 2)]);
        assert_eq!(counted, Priorities { by_priority: expected, is_complete: true });
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_job_goes_first_when_its_priority_rises() {
        let rig = rig();
        rig.enqueue(draft()).await;
        let second = rig.enqueue(draft()).await;
        let five = Priority::new(5).unwrap();
        let (raised, before) = rig.broker.reprioritize(second.id, five).await.unwrap();
        assert_eq!((raised.spec.priority, before), (five, Priority::default()));
        assert_eq!(rig.take("default").await.unwrap().id, second.id);
        let running = rig.broker.reprioritize(second.id, Priority::default()).await;
        let Err(Error::Refused(Refusal::WrongState { state, .. })) = running else { panic!("{running:?}") };
        assert_eq!(state, State::Active);
    }
}
