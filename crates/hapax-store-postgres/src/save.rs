//! Writing back what changed on a desk, and committing it.

use std::sync::Arc;

use hapax_core::{Rules, Timestamp};
use hapax_store::desk::{Desk, Moved, Numbered, PROVISIONAL};
use hapax_store::{MemoKey, StoreError};
use tokio_postgres::Statement;
use uuid::Uuid;

use crate::memo;
use crate::row::{Part, Sheet, uuid};
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
        })
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
    /// that became available take turns. One number may serve as both.
    pub(crate) async fn give(
        &mut self,
        moved: &mut [Moved],
        transaction: &Transaction<'_>,
        statement: &Statement,
    ) -> Result<(), Fault> {
        for number in [place as Number, turn as Number] {
            let wanting = wanting(moved, number);
            self.draw(transaction, statement, wanting.len().saturating_sub(self.0.len())).await?;
            for (index, given) in wanting.into_iter().zip(&self.0) {
                if let Some(stored) = &mut moved[index].after {
                    *number(stored) = *given;
                }
            }
        }
        Ok(())
    }
}

/// One of the two numbers of a job.
type Number = fn(&mut Numbered) -> &mut u64;

fn place(stored: &mut Numbered) -> &mut u64 {
    &mut stored.seq
}

fn turn(stored: &mut Numbered) -> &mut u64 {
    &mut stored.turn
}

/// Those that have a number of the desk's own, in the order of these numbers.
fn wanting(moved: &mut [Moved], number: Number) -> Vec<usize> {
    let mut wanting: Vec<(u64, usize)> = Vec::new();
    for (index, moved) in moved.iter_mut().enumerate() {
        let number = moved.after.as_mut().map(|stored| *number(stored));
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
}

/// Whether the transaction ends with what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    Commit,
    GoOn,
}

/// Writes and commits, in one go.
pub(crate) async fn save(
    transaction: &Transaction<'_>,
    writers: &Writers,
    rules: &Rules,
    moved: &[Moved],
    rest: Rest<'_>,
    then: Then,
) -> Result<(), StoreError> {
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
    let tally = Tally::of(moved, rest.now);
    let Writers { schema, delete, tally: count, memos } = writers;
    let insert = prepare(transaction, schema, &inserted).await.map_err(Fault::failed)?;
    let rewrite = prepare(transaction, schema, &rewritten).await.map_err(Fault::failed)?;
    let update = prepare(transaction, schema, &updated).await.map_err(Fault::failed)?;
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
            end(transaction, then),
        }
    };
    let (inserted, rewritten, updated, removed, counted, remembered, ended) = written.await;
    let parts = [inserted, rewritten, updated, removed, counted, remembered, ended];
    let failure = parts.into_iter().find_map(Result::err);
    match (failure, then) {
        (None, _) => Ok(()),
        (Some(fault), Then::GoOn) => Err(fault.failed()),
        (Some(fault), Then::Commit) => Err(fault.at_commit()),
    }
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
