//! A store on a disk that has stalled: it takes in everything and answers nothing.

use std::future::pending;

use hapax_core::limit::LimitKey;
use hapax_core::{Chance, Job, JobId, QueueName, Timestamp};
use hapax_store::{
    Advance, Answer, Claim, Claimed, DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, HeldPage,
    HeldQuery, HolderQuery, Holders, JobPage, JobQuery, LimitFacts, LimitPage, LimitQuery, Listener, Op,
    Page, QueueFacts, QueueQuery, Reply, Store, Totals,
};

#[derive(Debug)]
pub(crate) struct StalledStore;

impl Store for StalledStore {
    fn commit(&self, _ops: Vec<Op>) -> Reply<Vec<Answer>> {
        Box::pin(pending())
    }

    fn claim(&self, _claim: Claim) -> Reply<Claimed> {
        Box::pin(pending())
    }

    fn advance(&self, _now: Timestamp, _limit: usize, _chance: Chance) -> Reply<Advance> {
        Box::pin(pending())
    }

    fn get(&self, _id: JobId) -> Reply<Option<Job>> {
        Box::pin(pending())
    }

    fn holders(&self, _query: HolderQuery) -> Reply<Holders> {
        Box::pin(pending())
    }

    fn held_keys(&self, _query: HeldQuery) -> Reply<HeldPage> {
        Box::pin(pending())
    }

    fn jobs(&self, _query: JobQuery) -> Reply<JobPage> {
        Box::pin(pending())
    }

    fn dead_letters(&self, _query: DeadLetterQuery) -> Reply<Page<Job>> {
        Box::pin(pending())
    }

    fn queues(&self, _query: QueueQuery) -> Reply<Page<QueueFacts>> {
        Box::pin(pending())
    }

    fn queue(&self, _name: QueueName) -> Reply<Option<QueueFacts>> {
        Box::pin(pending())
    }

    fn entry(&self, _key: EntryKey) -> Reply<Option<Entry>> {
        Box::pin(pending())
    }

    fn entries(&self, _query: EntryQuery) -> Reply<EntryPage> {
        // Read before a job can be: a request has to come as far as the commit that is meant to hang.
        Box::pin(async { Ok(EntryPage { entries: Vec::new(), has_more: false, total: 0 }) })
    }

    fn limit(&self, _key: LimitKey) -> Reply<Option<LimitFacts>> {
        Box::pin(pending())
    }

    fn limits(&self, _query: LimitQuery) -> Reply<LimitPage> {
        Box::pin(pending())
    }

    fn listen(&self, _listener: Listener) {}

    fn totals(&self) -> Reply<Totals> {
        Box::pin(pending())
    }

    fn reset(&self) -> Reply<()> {
        Box::pin(pending())
    }

    fn close(&self) -> Reply<()> {
        Box::pin(pending())
    }
}
