//! Writing back what changed on a desk, and committing it.

use std::collections::BTreeSet;
use std::sync::Arc;

use hapax_core::limit::{LimitKey, turn_of};
use hapax_core::{QueueName, Rules, Timestamp};
use hapax_store::desk::{Desk, Moved, Numbered, PROVISIONAL};
use hapax_store::{EntryKey, MemoKey, Revision, StoreError};
use tokio_postgres::Statement;
use uuid::Uuid;

use crate::entry::{self, EntryWriters};
use crate::limits::LetIn;
use crate::memo;
use crate::row::{Part, Sheet, uuid};
use crate::share::Shares;
use crate::statements::Statements;
use crate::tally::Tally;
use crate::transaction::Transaction;
use crate::{Fault, SchemaName};

/// The statements that write, ready on one connection.
pub(crate) struct Writers {
    /// Where they write.
    schema: SchemaName,
    delete: Statement,
    tally: Statement,
    memos: Statement,
    entries: EntryWriters,
    let_in: LetIn,
}

impl Writers {
    pub(crate) async fn prepare(
        transaction: &Transaction<'_>,
        statements: &Statements,
    ) -> Result<Writers, Fault> {
        Ok(Writers {
            schema: statements.schema.clone(),
            delete: transaction.prepare(&statements.delete).await?,
            tally: transaction.prepare(&statements.tally).await?,
            memos: transaction.prepare(&statements.keep_memos).await?,
            entries: EntryWriters::prepare(transaction, statements).await?,
            let_in: LetIn::prepare(transaction, statements).await?,
        })
    }
}

impl Writers {
    /// Writes entries without anything else.
    pub(crate) async fn put_entries(
        &self,
        transaction: &Transaction<'_>,
        moved: &[(EntryKey, Revision)],
    ) -> Result<(), Fault> {
        entry::put(transaction, &self.entries, moved).await
    }
}

/// Places that the database handed out to a transaction, in their order.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Vec<u64>);

impl Numbers {
    /// Asks for so many more.
    pub(crate) async fn draw(
        &mut self,
        transaction: &Transaction<'_>,
        statement: &Statement,
        count: usize,
    ) -> Result<(), Fault> {
        if count == 0 {
            return Ok(());
        }
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let rows = transaction.query(statement, &[&count], "draw numbers").await?;
        for row in rows {
            let number: i64 = row.try_get(0).map_err(Fault::of("draw numbers"))?;
            self.0.push(number.unsigned_abs());
        }
        Ok(())
    }

    /// Replaces the desk's own numbers, in their order: new jobs take places in the order of acceptance, and those
    /// that became available take turns. One number may serve as both. Those who share fairly will get other turns.
    pub(crate) async fn give(
        &mut self,
        moved: &mut [Moved],
        transaction: &Transaction<'_>,
        statement: &Statement,
    ) -> Result<Shares, Fault> {
        let (places, turns) = (wanting(moved, |stored| stored.seq), wanting(moved, |stored| stored.turn));
        let more = places.len().max(turns.len()).saturating_sub(self.0.len());
        self.draw(transaction, statement, more).await?;
        for (index, number) in places.into_iter().zip(&self.0) {
            moved[index].after.iter_mut().for_each(|stored| stored.seq = *number);
        }
        let mut shares = Shares::default();
        for (index, number) in turns.into_iter().zip(&self.0) {
            if let Some(stored) = &mut moved[index].after {
                stored.turn = turn_of(*number);
                shares.note(stored);
            }
        }
        Ok(shares)
    }
}

/// Those that have a number of the desk's own, in the order of these numbers.
fn wanting(moved: &[Moved], number: impl Fn(&Numbered) -> u64) -> Vec<usize> {
    let mut wanting: Vec<(u64, usize)> = Vec::new();
    for (index, moved) in moved.iter().enumerate() {
        let number = moved.after.as_ref().map(&number);
        wanting.extend(number.filter(|number| *number >= PROVISIONAL).map(|number| (number, index)));
    }
    wanting.sort_unstable();
    wanting.into_iter().map(|(_, index)| index).collect()
}

/// Everything that a transaction leaves behind, besides rows of jobs.
pub(crate) struct Rest<'d> {
    pub(crate) now: Timestamp,
    pub(crate) desk: &'d Desk,
    pub(crate) memos: &'d [MemoKey],
    /// What entries say by now.
    pub(crate) entries: &'d [(EntryKey, Revision)],
    /// Rate limits for which there may be room.
    pub(crate) opened: &'d BTreeSet<LimitKey>,
    /// Who is to share fairly.
    pub(crate) shares: &'d Shares,
}

/// Whether the transaction ends with what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Commit,
    GoOn,
}

/// Writes and commits, in one go. The queues in which a rate limit may leave room for jobs by that.
pub(crate) async fn save(
    transaction: &Transaction<'_>,
    writers: &Writers,
    rules: &Rules,
    moved: &[Moved],
    rest: Rest<'_>,
    then: Then,
) -> Result<BTreeSet<QueueName>, StoreError> {
    let [mut inserted, mut rewritten, mut updated] = [Part::New, Part::All, Part::Status].map(Sheet::new);
    let mut removed: Vec<Uuid> = Vec::new();
    for moved in moved {
        match (&moved.before, &moved.after) {
            (None, Some(stored)) => inserted.push(stored, rules),
            (Some(before), Some(stored)) => {
                let is_same_body =
                    Arc::ptr_eq(&before.spec, &stored.job.spec) && before.key == stored.job.key;
                if is_same_body {
                    updated.push(stored, rules);
                } else {
                    rewritten.push(stored, rules);
                }
            }
            (Some(before), None) => removed.push(uuid(before.id)),
            (None, None) => {}
        }
    }
    let tally = Tally::of(moved, rest.desk.new_queues(), rest.now);
    let Writers { schema, delete, tally: count, memos, entries, let_in } = writers;
    let insert = prepare(transaction, schema, &inserted).await.map_err(Fault::failed)?;
    let rewrite = prepare(transaction, schema, &rewritten).await.map_err(Fault::failed)?;
    let update = prepare(transaction, schema, &updated).await.map_err(Fault::failed)?;
    let share = rest.shares.prepare(transaction, schema).await.map_err(Fault::failed)?;
    // Few changes make room in a rate limit: the others need not carry what that remembers meanwhile.
    let makes_room = !rest.opened.is_empty();
    if makes_room {
        Box::pin(let_in.lock(transaction, rest.opened)).await.map_err(Fault::failed)?;
    }
    // In this order, and the commit last: each future sends its message when it is first polled.
    let written = async {
        tokio::join! {
            biased;
            write(transaction, insert.as_ref(), &inserted),
            write(transaction, rewrite.as_ref(), &rewritten),
            write(transaction, update.as_ref(), &updated),
            remove(transaction, delete, &removed),
            tally.write(transaction, count),
            memo::write(transaction, memos, rest.desk, rest.memos),
            entry::put(transaction, entries, rest.entries),
            entry::remove(transaction, entries, rest.entries),
            let_in_if(makes_room, let_in, transaction, rest.opened),
            rest.shares.give(transaction, share.as_ref()),
            end(transaction, then),
        }
    };
    let (inserted, rewritten, updated, removed, counted, remembered, entered, left, opened, shared, ended) =
        written.await;
    let mut queues = BTreeSet::new();
    let opened = opened.map(|opened| queues = opened);
    let parts =
        [inserted, rewritten, updated, removed, counted, remembered, entered, left, opened, shared, ended];
    let failure = parts.into_iter().find_map(Result::err);
    match (failure, then) {
        (None, _) => Ok(queues),
        (Some(fault), Then::GoOn) => Err(fault.failed()),
        (Some(fault), Then::Commit) => Err(fault.at_commit()),
    }
}

async fn let_in_if(
    makes_room: bool,
    let_in: &LetIn,
    transaction: &Transaction<'_>,
    opened: &BTreeSet<LimitKey>,
) -> Result<BTreeSet<QueueName>, Fault> {
    if makes_room { Box::pin(let_in.run(transaction, opened)).await } else { Ok(BTreeSet::new()) }
}

/// The statement for a sheet that is not empty, ready.
async fn prepare(
    transaction: &Transaction<'_>,
    schema: &SchemaName,
    sheet: &Sheet<'_>,
) -> Result<Option<Statement>, Fault> {
    if sheet.is_empty() {
        return Ok(None);
    }
    let shape = sheet.shape();
    transaction.prepare_shape(shape, || schema.statement(&shape.statement())).await.map(Some)
}

async fn write(
    transaction: &Transaction<'_>,
    statement: Option<&Statement>,
    sheet: &Sheet<'_>,
) -> Result<(), Fault> {
    match statement {
        Some(statement) => transaction.execute(statement, &sheet.params(), "write jobs").await.map(drop),
        None => Ok(()),
    }
}

async fn remove(transaction: &Transaction<'_>, statement: &Statement, ids: &[Uuid]) -> Result<(), Fault> {
    if ids.is_empty() {
        return Ok(());
    }
    transaction.execute(statement, &[&ids], "remove jobs").await.map(drop)
}

async fn end(transaction: &Transaction<'_>, then: Then) -> Result<(), Fault> {
    match then {
        Then::Commit => transaction.commit().await,
        Then::GoOn => Ok(()),
    }
}
