//! Everything that can be read of a store, for comparison.

use std::collections::BTreeMap;

use hapax_core::{Job, QueueName};

use super::bench::{ALL, Bench};
use super::wait;
use crate::{Counts, DeadLetterQuery, Page, QueueFacts, QueueQuery, Totals};

/// Everything that can be read.
#[derive(Debug, PartialEq)]
pub(super) struct Picture {
    /// The jobs that the bench knows of and that are there.
    jobs: Vec<Job>,
    dead_letters: Page<Job>,
    queues: Page<QueueFacts>,
    totals: Totals,
}

impl Picture {
    pub(super) fn of(bench: &Bench) -> Picture {
        let dead_letters = DeadLetterQuery { limit: ALL, ..DeadLetterQuery::default() };
        let queues = QueueQuery { limit: ALL, ..QueueQuery::default() };
        Picture {
            jobs: bench.ids().iter().filter_map(|id| bench.get(*id)).collect(),
            dead_letters: wait(bench.store().dead_letters(dead_letters)).unwrap(),
            queues: wait(bench.store().queues(queues)).unwrap(),
            totals: bench.totals(),
        }
    }

    /// Counts are kept, never counted; so they are counted here.
    pub(super) fn check_counts(&self) {
        let mut totals = Totals::default();
        let mut counts: BTreeMap<&QueueName, Counts> = BTreeMap::new();
        for job in &self.jobs {
            counts.entry(&job.spec.queue).or_default().add(job.state());
            totals.counts.add(job.state());
            totals.keys_held += u64::from(job.key.is_some() && !job.state().is_terminal());
            totals.dead_letters += u64::from(job.phase.is_dead_letter());
        }
        assert_eq!(self.totals, totals);
        for facts in &self.queues.items {
            assert_eq!(facts.counts, counts.remove(&facts.name).unwrap_or_default(), "of {}", facts.name);
        }
        assert!(counts.is_empty(), "jobs wait in queues that are not listed: {counts:?}");
    }
}
