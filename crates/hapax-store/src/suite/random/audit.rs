//! Reads everything and compares it: with the reference store, and with what the answers amount to.

use std::collections::BTreeMap;

use hapax_core::{Job, JobId, QueueName};
use proptest::{prop_assert, prop_assert_eq};

use super::super::draft::queue;
use super::super::wait;
use super::mirror::Check;
use super::player::Player;
use super::shape::queue_name;
use crate::{Counts, DeadLetterQuery, Page, QueueQuery, Store, Totals};

/// The length of a page in an audit: short, so that a list has several.
pub(super) const PAGE: usize = 3;

impl Player<'_> {
    pub(super) fn audit(&self) -> Check {
        self.audit_jobs()?;
        self.audit_counts()?;
        self.audit_queues()?;
        self.audit_keys()?;
        self.audit_held()?;
        self.audit_lists()?;
        self.mirror.check_successors()?;
        for number in 0..3 {
            self.audit_dead_letters(Some(&queue(queue_name(number))))?;
        }
        self.audit_dead_letters(None)
    }

    fn audit_jobs(&self) -> Check {
        for id in &self.ids {
            let found = wait(self.bench.store().get(*id)).unwrap();
            prop_assert_eq!(found.as_ref(), self.mirror.jobs.get(id), "job {}", id);
            prop_assert_eq!(&found, &wait(self.judge.get(*id)).unwrap(), "job {} of the reference", id);
        }
        Ok(())
    }

    /// Counts are kept, never counted; so they are counted here.
    fn audit_counts(&self) -> Check {
        let mut queues: BTreeMap<&QueueName, Counts> = BTreeMap::new();
        let mut totals = Totals::default();
        for job in self.mirror.jobs.values() {
            queues.entry(&job.spec.queue).or_default().add(job.state());
            totals.counts.add(job.state());
            totals.keys_held += u64::from(job.key.is_some() && !job.state().is_terminal());
            totals.dead_letters += u64::from(job.phase.is_dead_letter());
        }
        prop_assert_eq!(wait(self.bench.store().totals()).unwrap(), totals);
        for (name, counts) in queues {
            let facts = wait(self.bench.store().queue(name.clone())).unwrap();
            prop_assert_eq!(facts.map(|facts| facts.counts), Some(counts), "the counts of {}", name);
        }
        Ok(())
    }

    fn audit_queues(&self) -> Check {
        let read = |store: &dyn Store, query: &QueueQuery| wait(store.queues(query.clone())).unwrap();
        for query in [
            QueueQuery { limit: 100, ..QueueQuery::default() },
            QueueQuery { limit: 1, offset: 1, ..QueueQuery::default() },
            QueueQuery { limit: 1, after: Some(queue("b")), offset: 0 },
        ] {
            let page = read(&**self.bench.store(), &query);
            prop_assert_eq!(&page, &read(&self.judge, &query), "{:?}", query);
            prop_assert_eq!(page.total, self.mirror.queues.len() as u64, "the queues that were ever used");
            for facts in &page.items {
                prop_assert_eq!(Some(&facts.created_at), self.mirror.queues.get(&facts.name));
                prop_assert_eq!(facts.paused, self.mirror.paused.contains(&facts.name));
            }
        }
        Ok(())
    }

    /// Walks through the list by cursor; what comes together must be the list.
    fn audit_dead_letters(&self, of: Option<&QueueName>) -> Check {
        let wanted = |job: &&Job| job.phase.is_dead_letter() && of.is_none_or(|name| job.spec.queue == *name);
        let mut expected: Vec<_> =
            self.mirror.jobs.values().filter(wanted).map(|job| (job.phase.finished_at(), job.id)).collect();
        expected.sort_by(|a, b| b.cmp(a));
        let mut found: Vec<JobId> = Vec::new();
        let mut query = DeadLetterQuery { queue: of.cloned(), after: None, offset: 0, limit: PAGE };
        loop {
            let page: Page<Job> = wait(self.bench.store().dead_letters(query.clone())).unwrap();
            prop_assert_eq!(&page, &wait(self.judge.dead_letters(query.clone())).unwrap(), "{:?}", query);
            prop_assert_eq!(page.total, expected.len() as u64, "the total of {:?}", query);
            prop_assert!(page.has_more == (found.len() + page.items.len() < expected.len()), "{query:?}");
            found.extend(page.items.iter().map(|job| job.id));
            query.after = page.items.last().and_then(|job| Some((job.phase.finished_at()?, job.id)));
            if !page.has_more {
                break;
            }
        }
        prop_assert_eq!(found, expected.into_iter().map(|(_, id)| id).collect::<Vec<_>>());
        Ok(())
    }
}
