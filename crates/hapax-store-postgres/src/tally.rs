//! Counts that are kept: what a transaction adds to each queue.

use std::collections::BTreeMap;

use hapax_core::{Job, QueueName, State, Timestamp};
use hapax_store::desk::Moved;
use tokio_postgres::Statement;
use tokio_postgres::types::ToSql;

use crate::Fault;
use crate::transaction::Transaction;

/// What a transaction adds to the counts.
#[derive(Debug, Default)]
pub(crate) struct Tally<'j> {
    queues: BTreeMap<&'j str, Change>,
}

#[derive(Debug, Default)]
struct Change {
    /// When it was done, for a queue that is used for the first time.
    at: i64,
    states: [i64; State::ALL.len()],
    keys_held: i64,
    dead_letters: i64,
}

impl<'j> Tally<'j> {
    /// What these changes, made at this moment, add; and that these queues were used.
    pub(crate) fn of(
        moved: &'j [Moved],
        used: impl Iterator<Item = &'j QueueName>,
        now: Timestamp,
    ) -> Tally<'j> {
        let mut tally = Tally::default();
        for Moved { before, after } in moved {
            // A job that stays where it is in every respect leaves nothing to count.
            tally.count(before.as_ref(), -1, now);
            tally.count(after.as_ref().map(|stored| &stored.job), 1, now);
        }
        tally.queues.retain(|_, change| change.is_something());
        for name in used {
            let change = tally.queues.entry(name.as_str()).or_default();
            change.at = now.millis();
        }
        tally
    }

    fn count(&mut self, job: Option<&'j Job>, number: i64, now: Timestamp) {
        let Some(job) = job else { return };
        let change = self.queues.entry(job.spec.queue.as_str()).or_default();
        change.at = now.millis();
        change.states[job.state() as usize] += number;
        change.keys_held += if job.holds_key() { number } else { 0 };
        change.dead_letters += if job.phase.is_dead_letter() { number } else { 0 };
    }

    /// A queue that is used, whether or not a job is in it.
    pub(crate) fn of_queue(name: &'j str, now: Timestamp) -> Tally<'j> {
        Tally { queues: [(name, Change { at: now.millis(), ..Change::default() })].into() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    pub(crate) async fn write(
        &self,
        transaction: &Transaction<'_>,
        statement: &Statement,
    ) -> Result<(), Fault> {
        if self.is_empty() {
            return Ok(());
        }
        transaction.execute(statement, &self.arrays().params(), "count jobs").await.map(drop)
    }

    /// One array per column.
    pub(crate) fn arrays(&self) -> Arrays<'j> {
        let column = |number: &dyn Fn(&Change) -> i64| self.queues.values().map(number).collect::<Vec<i64>>();
        Arrays {
            names: self.queues.keys().copied().collect(),
            at: column(&|change| change.at),
            states: State::ALL.map(|state| column(&|change| change.states[state as usize])),
            keys_held: column(&|change| change.keys_held),
            dead_letters: column(&|change| change.dead_letters),
        }
    }
}

/// A tally, column by column.
#[derive(Debug)]
pub(crate) struct Arrays<'j> {
    names: Vec<&'j str>,
    at: Vec<i64>,
    states: [Vec<i64>; State::ALL.len()],
    keys_held: Vec<i64>,
    dead_letters: Vec<i64>,
}

impl Arrays<'_> {
    /// In the order of the table.
    pub(crate) fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        let Arrays { names, at, states, keys_held, dead_letters } = self;
        let mut params: Vec<&(dyn ToSql + Sync)> = vec![names, at];
        params.extend(states.iter().map(|column| column as &(dyn ToSql + Sync)));
        params.extend([keys_held as &(dyn ToSql + Sync), dead_letters]);
        params
    }
}

impl Change {
    fn is_something(&self) -> bool {
        self.states.iter().chain([&self.keys_held, &self.dead_letters]).any(|number| *number != 0)
    }
}
