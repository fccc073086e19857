//! New jobs in one statement: what nobody stands in the way of is decided before the database is asked, which looks, stores
//! and commits, or does nothing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use hapax_core::Timestamp;
use hapax_store::desk::{Desk, Moved, Numbered};
use hapax_store::{Action, Answer, Op, StoreError};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::Fault;
use crate::connect::Link;
use crate::load::Wanted;
use crate::locks::{self, Lock};
use crate::request;
use crate::row::{Part, Sheet};
use crate::store::Engine;
use crate::tally::Tally;

/// Most groups that are not tried after one that met somebody.
const PAUSE_MAX: u32 = 64;

/// How often it was in vain lately: who sends duplicates shall not pay twice.
#[derive(Debug, Default)]
pub(crate) struct Hope {
    /// How many groups are not to be tried.
    pause: AtomicU32,
    /// How long the pause after the next failure is.
    next: AtomicU32,
}

impl Hope {
    fn is_there(&self) -> bool {
        let less = |pause: u32| pause.checked_sub(1);
        self.pause.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_err()
    }

    fn learn(&self, was_fulfilled: bool) {
        if was_fulfilled {
            self.next.store(0, Ordering::Relaxed);
            return;
        }
        let next = (self.next.load(Ordering::Relaxed) * 2).clamp(1, PAUSE_MAX);
        self.next.store(next, Ordering::Relaxed);
        self.pause.store(next, Ordering::Relaxed);
    }
}

/// Whether a request may be one of this kind: it brings jobs, and asks for no remembered answer.
pub(crate) fn is_hopeful(ops: &[Op]) -> bool {
    ops.iter().all(|op| {
        !request::is_entangled(op)
            && match &op.action {
                Action::Enqueue { memo, .. }
                | Action::EnqueueAll { memo, .. }
                | Action::EnqueueEach { memo, .. } => memo.is_none(),
                Action::Step { .. }
                | Action::StepHolders { .. }
                | Action::Edit { .. }
                | Action::EditTogether { .. }
                | Action::RunCron { .. }
                | Action::StartWorkflow { .. }
                | Action::CancelWorkflow(_)
                | Action::Pause(_)
                | Action::Resume(_)
                | Action::RemoveQueue(_) => false,
            }
    })
}

/// Stores what requests bring, if they are all of this kind and meet nobody. Otherwise nothing is done.
pub(crate) async fn store_new(
    engine: &Engine,
    link: &Link,
    requests: &[Vec<Op>],
) -> Result<Option<Vec<Vec<Answer>>>, StoreError> {
    if !requests.iter().all(|ops| is_hopeful(ops)) || !engine.hope.is_there() {
        return Ok(None);
    }
    let mut desk = Desk::new(engine.settings.rules.clone());
    let answers = requests.iter().map(|ops| ops.iter().map(|op| desk.apply(op.clone())).collect()).collect();
    let mut moved = desk.take_moved();
    moved.sort_unstable_by_key(|moved| moved.after.as_ref().map(|Numbered { seq, .. }| *seq));
    let ops = || requests.iter().flatten();
    let now = ops().last().map_or(Timestamp::from_millis(0), |op| op.now);
    let Some(stored) = store(engine, link, ops(), &moved, &desk, now).await? else { return Ok(None) };
    engine.hope.learn(stored);
    if stored {
        engine.word.spread(&moved);
    }
    Ok(stored.then_some(answers))
}

/// Whether they were stored; nothing if they are not of this kind after all.
async fn store(
    engine: &Engine,
    link: &Link,
    ops: impl Iterator<Item = &Op> + Clone,
    moved: &[Moved],
    desk: &Desk,
    now: Timestamp,
) -> Result<Option<bool>, StoreError> {
    let mut sheet = Sheet::new(Part::Fresh);
    for moved in moved {
        match moved {
            Moved { before: None, after: Some(stored) } => sheet.push(stored, &engine.settings.rules),
            Moved { .. } => return Ok(None),
        }
    }
    if sheet.is_empty() || !sheet.is_fresh() {
        return Ok(None);
    }
    let mut wanted = Wanted::default();
    ops.clone().for_each(|op| wanted.add(op));
    let locks: BTreeSet<Lock> = ops.flat_map(locks::of_op).collect();
    let locks: Vec<i64> = locks.into_iter().map(Lock::number).collect();
    let names: Vec<Uuid> = wanted.newcomers();
    let (keys, ended) = (wanted.keys(), wanted.ended_keys());
    let counts = Tally::of(moved, desk.new_queues(), now).arrays();
    let shape = sheet.shape();
    let sql = || engine.settings.schema.statement(&shape.statement());
    let statement = link.prepare_shape(shape, sql).await.map_err(Fault::failed)?;
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![&locks, &names, &keys, &ended];
    params.extend(sheet.params());
    params.extend(counts.params());
    let answer = link.client().query_one(&statement, &params).await;
    let answer = answer.and_then(|row| row.try_get(0)).map_err(Fault::of("store new jobs"));
    let stored: bool = match answer {
        // Who may not call the function may well write to the tables.
        Err(fault) if fault.is_of_a_right() => false,
        answer => answer.map_err(Fault::at_commit)?,
    };
    // See `Transaction::commit`.
    if link.was_warned() { Err(Fault::NotReplicated.at_commit()) } else { Ok(Some(stored)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_each_failure_in_a_row_the_pause_is_longer() {
        let hope = Hope::default();
        let tried_of_100 = |hope: &Hope| {
            let mut tried = 0;
            for _ in 0..100 {
                if hope.is_there() {
                    tried += 1;
                    hope.learn(false);
                }
            }
            tried
        };
        assert_eq!(tried_of_100(&hope), 7, "with 1, 2, 4, 8, 16 and 32 groups between them");
        hope.learn(true);
        assert_eq!(hope.next.load(Ordering::Relaxed), 0);
    }
}
