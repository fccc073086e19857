//! A store on a disk that has stalled: it takes in everything and answers nothing.

use std::future::pending;

use hapax_core::{Chance, Job, JobId, QueueName, Timestamp};
use hapax_store::{
    Advance, Answer, Change, Claim, DeadLetterQuery, HeldPage, HeldQuery, HolderQuery, Holders, Op, Page,
    QueueFacts, QueueQuery, Reply, Store, Totals,
};

#[derive(Debug)]
pub(crate) struct StalledStore;

impl Store for StalledStore {
    fn commit(&self, _ops: Vec<Op>) -> Reply<Vec<Answer>> {
        Box::pin(pending())
    }

    fn claim(&self, _claim: Claim) -> Reply<Vec<Change>> {
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

    fn dead_letters(&self, _query: DeadLetterQuery) -> Reply<Page<Job>> {
        Box::pin(pending())
    }

    fn queues(&self, _query: QueueQuery) -> Reply<Page<QueueFacts>> {
        Box::pin(pending())
    }

    fn queue(&self, _name: QueueName) -> Reply<Option<QueueFacts>> {
        Box::pin(pending())
    }

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
