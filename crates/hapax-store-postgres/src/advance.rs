//! Letting time pass.

use hapax_core::unique::Uniqueness;
use hapax_core::{Chance, Timestamp, Transition, decide, next_due, reentry_key};
use hapax_store::desk::{Desk, Moved, Numbered};
use hapax_store::{Advance, MEMO_KEPT, StoreError};

use crate::Fault;
use crate::commit::{Ready, lay_free};
use crate::connect::Link;
use crate::load::Wanted;
use crate::row;
use crate::save::{Numbers, Rest, Then, save};
use crate::store::Engine;
use crate::transaction::{Patience, Transaction};

/// How many notes about counts are summed at a time.
const NOTES_FOLDED_MAX: i64 = 10_000;

/// Lets what is due happen, as far as nobody else is at it; forgets old answers; sums up the counts.
pub(crate) async fn advance(
    engine: &Engine,
    link: &Link,
    now: Timestamp,
    limit: usize,
    chance: Chance,
) -> Result<Advance, StoreError> {
    let failed = Fault::failed;
    let transaction = Transaction::new(link, Patience::None);
    let ready = Ready::prepare(engine, &transaction).await.map_err(failed)?;
    let mut desk = Desk::new(engine.settings.rules.clone());
    let late = lay_due(engine, &transaction, &ready, &mut desk, now, limit, chance).await.map_err(failed)?;
    let changes = desk.advance(now, limit, chance).changes;
    let mut moved = desk.take_moved();
    Numbers::default().give(&mut moved, &transaction, &ready.numbers).await.map_err(failed)?;
    moved.extend(late);
    let rest = Rest { now, desk: &desk, memos: &[] };
    save(&transaction, &ready.writers, &engine.settings.rules, &moved, rest, Then::GoOn).await?;
    // What is due and did not move is in the hands of another server.
    let after = if changes.is_empty() && limit > 0 { now.millis() } else { i64::MIN };
    let next_due = tidy_up(engine, &transaction, now, after).await.map_err(failed)?;
    transaction.commit().await.map_err(Fault::at_commit)?;
    engine.word.spread(&moved);
    Ok(Advance { changes, next_due })
}

/// Lays what is due on the desk, with whom it lets go or meets. Gives back jobs that are due later by the settings of this
/// server than by those of the one that stored them: their rows are to be written anew.
async fn lay_due(
    engine: &Engine,
    transaction: &Transaction<'_>,
    ready: &Ready,
    desk: &mut Desk,
    now: Timestamp,
    limit: usize,
    chance: Chance,
) -> Result<Vec<Moved>, Fault> {
    let rules = &engine.settings.rules;
    let due = transaction.prepare(&engine.statements.due).await?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&now.millis(), &limit];
    let (begun, rows) = tokio::join! {
        biased;
        transaction.begin(),
        transaction.query(&due, &params, "look for what is due"),
    };
    begun?;
    let due = rows?.iter().map(|row| row::read(row, 0)).collect::<Result<Vec<Numbered>, _>>()?;
    let mut wanted = Wanted::default();
    let mut late = Vec::new();
    for stored in &due {
        let job = &stored.job;
        wanted.add_id(job.id);
        if next_due(job, rules).is_none_or(|at| at > now) {
            late.push(Moved { before: Some(job.clone()), after: Some(stored.clone()) });
        }
        let event = hapax_core::Event::TimePassed { chance };
        if let Ok(Transition::To(next)) = decide(job, event, now, rules)
            && let Some(key) = reentry_key(job.state(), &next)
            && let Some(watch) = next.spec.unique.as_ref().map(Uniqueness::watch)
        {
            wanted.add_key(*key, watch, now);
        }
    }
    let others = wanted.load(transaction, &ready.load).await?;
    lay_free(desk, due, others);
    Ok(late)
}

/// When the next job is due after that moment, when everything else is done that is to be done now and then.
async fn tidy_up(
    engine: &Engine,
    transaction: &Transaction<'_>,
    now: Timestamp,
    after: i64,
) -> Result<Option<Timestamp>, Fault> {
    let statements = &engine.statements;
    let forget = transaction.prepare(&statements.forget_memos).await?;
    let fold = transaction.prepare(&statements.fold_tallies).await?;
    let next = transaction.prepare(&statements.next_due).await?;
    transaction.execute(&forget, &[&(now - MEMO_KEPT).millis()], "forget answers").await?;
    transaction.execute(&fold, &[&NOTES_FOLDED_MAX], "sum up counts").await?;
    let rows = transaction.query(&next, &[&after], "look for what is due next").await?;
    let at: Option<i64> = rows
        .first()
        .map(|row| row.try_get(0))
        .transpose()
        .map_err(Fault::of("look for what is due next"))?
        .flatten();
    Ok(at.map(Timestamp::from_millis))
}
