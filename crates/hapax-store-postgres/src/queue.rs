//! Queues: facts from the counts, and pauses.

use hapax_core::{QueueName, State, Timestamp};
use hapax_store::{Answer, Counts, Done, QueueFacts};
use tokio_postgres::Row;

use crate::Fault;
use crate::store::Engine;
use crate::tally::Tally;
use crate::transaction::Transaction;

/// Lets a queue give out jobs or not. Makes the queue if it was never used.
pub(crate) async fn pause(
    engine: &Engine,
    transaction: &Transaction<'_>,
    name: &QueueName,
    paused: bool,
    now: Timestamp,
) -> Result<Done, Fault> {
    let statements = &engine.statements;
    let (change, tally, facts) = (
        transaction.prepare(if paused { &statements.pause } else { &statements.resume }).await?,
        transaction.prepare(&statements.tally).await?,
        transaction.prepare(&statements.queue).await?,
    );
    transaction.execute(&change, &[&name.as_str()], "pause or resume a queue").await?;
    let rows = transaction.query(&facts, &[&name.as_str()], "read a queue").await?;
    if let Some(row) = rows.first() {
        return read(row).map(Done::Queue);
    }
    Tally::of_queue(name.as_str(), now).write(transaction, &tally).await?;
    Ok(Done::Queue(QueueFacts { name: name.clone(), paused, created_at: now, counts: Counts::default() }))
}

/// Forgets that a queue is paused and that it was ever used, unless ended jobs of it are kept. Refused while it has others.
///
/// Its notes go if they come to nothing, so that the counts are right whoever adds to them meanwhile. Notes that were summed up
/// in between may be missed by that: the second look sees them.
pub(crate) async fn remove(
    engine: &Engine,
    transaction: &Transaction<'_>,
    name: &QueueName,
) -> Result<Answer, Fault> {
    let statements = &engine.statements;
    let (facts, forget, resume) = (
        transaction.prepare(&statements.queue).await?,
        transaction.prepare(&statements.forget_tallies).await?,
        transaction.prepare(&statements.resume).await?,
    );
    for is_forgotten in [false, true] {
        let rows = transaction.query(&facts, &[&name.as_str()], "read a queue").await?;
        let facts = rows.first().map(read).transpose()?;
        if let Some(refusal) = facts.and_then(|facts| facts.bars_removal()) {
            return Ok(Err(refusal));
        }
        if !is_forgotten {
            transaction.execute(&forget, &[&name.as_str()], "forget a queue").await?;
        }
    }
    transaction.execute(&resume, &[&name.as_str()], "resume a queue").await?;
    Ok(Ok(Done::QueueRemoved(name.clone())))
}

/// A row of `queues.sql`.
pub(crate) fn read(row: &Row) -> Result<QueueFacts, Fault> {
    let failed = Fault::of("read a queue");
    let name: &str = row.try_get(0).map_err(&failed)?;
    Ok(QueueFacts {
        name: QueueName::parse(name).map_err(|_| Fault::Unreadable("the name of a queue"))?,
        paused: row.try_get(1).map_err(&failed)?,
        created_at: Timestamp::from_millis(row.try_get(2).map_err(&failed)?),
        counts: counts(row, 3)?,
    })
}

/// One column per state, from `first` on.
pub(crate) fn counts(row: &Row, first: usize) -> Result<Counts, Fault> {
    let mut counts = Counts::default();
    for state in State::ALL {
        let number: i64 = row.try_get(first + state as usize).map_err(Fault::of("read counts"))?;
        counts.set(state, u64::try_from(number).unwrap_or(0));
    }
    Ok(counts)
}
