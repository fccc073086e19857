//! Everything that can be read of a store, for comparison.

use std::collections::{BTreeMap, BTreeSet};

use hapax_core::unique::Key;
use hapax_core::{Job, JobId, QueueName};

use super::bench::{ALL, Bench};
use super::wait;
use crate::{
    Counts, DeadLetterQuery, Entry, EntryQuery, HeldQuery, HolderQuery, Holders, Page, QueueFacts,
    QueueQuery, Register, Totals,
};

/// How many carriers of a key are looked at, the living and the ended.
const KEPT_PER_KEY: usize = 3;

/// Everything that can be read.
#[derive(Debug, PartialEq)]
pub(super) struct Picture {
    /// The jobs that the bench knows of and that are there.
    jobs: Vec<Job>,
    dead_letters: Page<Job>,
    queues: Page<QueueFacts>,
    totals: Totals,
    /// All entries, by register.
    entries: Vec<Entry>,
    /// The jobs that hold a key.
    held: Vec<Job>,
    /// The carriers of each key.
    holders: BTreeMap<Key, Holders>,
}

impl Picture {
    pub(super) fn of(bench: &Bench) -> Picture {
        let dead_letters = DeadLetterQuery { limit: ALL, ..DeadLetterQuery::default() };
        let queues = QueueQuery { limit: ALL, ..QueueQuery::default() };
        let jobs: Vec<Job> = bench.ids().iter().filter_map(|id| bench.get(*id)).collect();
        let keys: BTreeSet<Key> = jobs.iter().filter_map(|job| job.key).collect();
        let carriers = |key| bench.holders(HolderQuery { key, covered_by: None, limit: KEPT_PER_KEY });
        let entries = |register| {
            let query = EntryQuery { register, prefix: "".into(), after: None, limit: ALL };
            wait(bench.store().entries(query)).unwrap().entries
        };
        Picture {
            entries: Register::ALL.into_iter().flat_map(entries).collect(),
            jobs,
            held: bench.held(&HeldQuery { limit: ALL, ..HeldQuery::default() }),
            holders: keys.into_iter().map(|key| (key, carriers(key))).collect(),
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
        self.check_keys();
    }

    /// Who is said to hold a key is who does.
    fn check_keys(&self) {
        let ids = |jobs: &[Job]| jobs.iter().map(|job| job.id).collect::<BTreeSet<JobId>>();
        let holds = |job: &&Job| job.key.is_some() && !job.state().is_terminal();
        let holding: Vec<Job> = self.jobs.iter().filter(holds).cloned().collect();
        assert_eq!(ids(&self.held), ids(&holding));
        assert_eq!(self.held.len(), holding.len(), "each once");
        for (key, holders) in &self.holders {
            let carriers = self.jobs.iter().filter(|job| job.key.as_ref() == Some(key)).cloned();
            let (ended, live): (Vec<Job>, Vec<Job>) = carriers.partition(|job| job.state().is_terminal());
            assert_eq!((holders.live, holders.ended), (live.len() as u64, ended.len() as u64));
            let shown = live.len().min(KEPT_PER_KEY) + ended.len().min(KEPT_PER_KEY);
            assert_eq!(holders.jobs.len(), shown);
        }
    }
}
