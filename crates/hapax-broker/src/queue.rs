//! Queues: looking at them, pausing and resuming them.

use hapax_core::{QueueName, State};
use hapax_store::{Action, Page, QueueFacts, QueueQuery, Totals};

use crate::{Broker, Error, answer};

/// Whether a queue takes and gives jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Openness {
    /// Both.
    Active,
    /// It gives none.
    Paused,
    /// It takes none.
    Draining,
}

impl Openness {
    /// The name on the wire. A queue is as active as a job can be; the word is the same.
    pub const fn name(self) -> &'static str {
        match self {
            Openness::Active => State::Active.name(),
            Openness::Paused => "paused",
            Openness::Draining => "draining",
        }
    }
}

impl Broker {
    /// Whether a queue takes and gives jobs, whoever decided it. One that does neither counts as paused: that is for everybody
    /// who waits there.
    pub fn openness(&self, name: &QueueName, facts: Option<&QueueFacts>) -> Openness {
        match facts {
            Some(facts) if facts.paused => Openness::Paused,
            _ if self.settings_of(name).is_draining() => Openness::Draining,
            _ => Openness::Active,
        }
    }

    /// A part of the list, by name.
    pub async fn queues(&self, query: QueueQuery) -> Result<Page<QueueFacts>, Error> {
        Ok(self.shared.store.queues(query).await?)
    }

    /// One queue; nothing if it was never used.
    pub async fn queue(&self, name: QueueName) -> Result<Option<QueueFacts>, Error> {
        Ok(self.shared.store.queue(name).await?)
    }

    /// Sums over all queues.
    pub async fn totals(&self) -> Result<Totals, Error> {
        Ok(self.shared.store.totals().await?)
    }

    /// Lets a queue give out no jobs.
    pub async fn pause(&self, name: QueueName) -> Result<QueueFacts, Error> {
        self.change_queue(Action::Pause(name)).await
    }

    /// Lets a queue give out jobs again.
    pub async fn resume(&self, name: QueueName) -> Result<QueueFacts, Error> {
        self.change_queue(Action::Resume(name)).await
    }

    async fn change_queue(&self, action: Action) -> Result<QueueFacts, Error> {
        answer::queue(self.commit_one(self.now(), action).await?)
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::QueueSettings;

    use super::*;
    use crate::testing::{draft, queue, rig};

    #[tokio::test(start_paused = true)]
    async fn a_paused_queue_takes_jobs_and_gives_none() {
        let rig = rig();
        assert!(rig.broker.pause(queue("mail")).await.unwrap().paused);
        rig.enqueue(draft().on("mail")).await;
        assert_eq!(rig.take("mail").await, None);
        assert!(!rig.broker.resume(queue("mail")).await.unwrap().paused);
        assert!(rig.take("mail").await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_queue_stands_as_it_takes_and_gives_jobs() {
        let rig = rig();
        let openness = |facts: Option<&QueueFacts>| rig.broker.openness(&queue("mail"), facts);
        assert_eq!(openness(None), Openness::Active);
        let draining = |before| QueueSettings { draining: Some(true), ..before };
        rig.broker.set_queue("mail", draining).await.unwrap();
        assert_eq!(openness(None), Openness::Draining);
        assert_eq!(openness(Some(&rig.broker.resume(queue("mail")).await.unwrap())), Openness::Draining);
        assert_eq!(openness(Some(&rig.broker.pause(queue("mail")).await.unwrap())), Openness::Paused);
    }

    #[tokio::test(start_paused = true)]
    async fn queues_are_known_from_their_first_job_on() {
        let rig = rig();
        assert_eq!(rig.broker.queue(queue("mail")).await.unwrap(), None);
        rig.enqueue(draft().on("mail")).await;
        let facts = rig.broker.queue(queue("mail")).await.unwrap().unwrap();
        assert_eq!(facts.counts.of(State::Available), 1);
        let listed = rig.broker.queues(QueueQuery { limit: 10, ..QueueQuery::default() }).await.unwrap();
        assert_eq!(listed.items, [facts]);
        assert_eq!(rig.broker.totals().await.unwrap().counts.of(State::Available), 1);
    }
}
