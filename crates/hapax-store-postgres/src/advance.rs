//! Letting time pass.

use std::collections::BTreeSet;

use hapax_core::unique::Uniqueness;
use hapax_core::{Chance, JobId, Said, Timestamp, Transition, decide, next_due, reentry_key};
use hapax_store::desk::{Desk, Moved, Numbered};
use hapax_store::{Advance, Change, Entry, EntryKey, Followed, MEMO_KEPT, StoreError, Tick};
use uuid::Uuid;

use crate::Fault;
use crate::commit::{Ready, free, is_entangled};
use crate::connect::Link;
use crate::entangled::Laid;
use crate::entry;
use crate::limits;
use crate::load::Wanted;
use crate::locks::{self, Lock};
use crate::row::{self, uuid};
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
    let mut due = Due::look(engine, &transaction, &ready, now, limit, chance).await.map_err(failed)?;
    let (mut desk, done) = due.happen(&transaction, &ready, now, limit, chance).await.map_err(failed)?;
    let mut moved = desk.take_moved();
    let Happened { changes, ticks, kept } = done;
    let mut advance = Advance { changes, ticks, entries: due.entries, kept, next_due: None };
    let mut entries = desk.take_moved_entries();
    if engine.settings.outbox.is_open() {
        let letters = engine.settings.outbox.letters(hapax_store::Happened::Advanced(&advance), now);
        entries.extend(letters.into_iter().map(|(key, written)| (key, Some(written))));
    }
    let shares = Numbers::default().give(&mut moved, &transaction, &ready.numbers).await.map_err(failed)?;
    moved.append(&mut due.late);
    let mut opened = limits::touched(&moved);
    opened.append(&mut desk.take_opened());
    let rest = Rest { now, desk: &desk, memos: &[], entries: &entries, opened: &opened, shares: &shares };
    let queues = save(&transaction, &ready.writers, &engine.settings.rules, &moved, rest, Then::GoOn).await?;
    due.forget_ends(engine, &transaction).await.map_err(failed)?;
    // What is due and did not move is in the hands of another server.
    let after =
        if advance.changes.is_empty() && moved.is_empty() && limit > 0 { now.millis() } else { i64::MIN };
    advance.next_due = tidy_up(engine, &transaction, now, after).await.map_err(failed)?;
    transaction.commit().await.map_err(Fault::at_commit)?;
    engine.word.spread(&moved);
    engine.word.room_in(&queues, &moved);
    Ok(advance)
}

/// What is due, and locked.
struct Due {
    laid: Laid,
    /// Jobs that are due later by the settings of this server than by those of the one that stored them: their rows are
    /// to be written anew.
    late: Vec<Moved>,
    /// How many entries are due.
    entries: usize,
    /// Steps of workflows that ended in transactions of users.
    ends: Vec<JobId>,
}

/// What happened.
struct Happened {
    changes: Vec<Change>,
    ticks: Vec<Tick>,
    kept: usize,
}

impl Due {
    /// Begins the transaction and fetches what is due, with whom it lets go or meets.
    async fn look(
        engine: &Engine,
        transaction: &Transaction<'_>,
        ready: &Ready,
        now: Timestamp,
        limit: usize,
        chance: Chance,
    ) -> Result<Due, Fault> {
        let rules = &engine.settings.rules;
        let jobs = transaction.prepare(&engine.statements.due).await?;
        let entries = transaction.prepare(&engine.statements.due_entries).await?;
        let ends = transaction.prepare(&engine.statements.ends).await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let params: [&(dyn tokio_postgres::types::ToSql + Sync); 2] = [&now.millis(), &limit];
        let (begun, rows, entries, ends) = tokio::join! {
            biased;
            transaction.begin(),
            transaction.query(&jobs, &params, "look for what is due"),
            transaction.query(&entries, &params, "look for entries that are due"),
            transaction.query(&ends, &params[1..], "look for ends"),
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
        let mut laid = Laid::default();
        for stored in free(due, others) {
            laid.add(stored);
        }
        let entries = entries?.iter().map(entry::read).collect::<Result<Vec<Entry>, _>>()?;
        let entries = entries.into_iter().map(|entry| entry.key).collect();
        let entries = lay_entries(transaction, ready, &mut laid, entries).await?;
        let ends = ends?.iter().map(job_id).collect::<Result<_, _>>()?;
        Ok(Due { laid, late, entries, ends })
    }

    /// Lets it happen. If somebody is at one of the workflows or lines that are concerned, nothing happens to any of them now.
    async fn happen(
        &mut self,
        transaction: &Transaction<'_>,
        ready: &Ready,
        now: Timestamp,
        limit: usize,
        chance: Chance,
    ) -> Result<(Desk, Happened), Fault> {
        let work = |ends: &[JobId], desk: &mut Desk| {
            // Before time passes: it may be time to forget a job whose end is yet to be seen to.
            let caught_up: Vec<Change> = ends.iter().filter_map(|id| caught_up(desk, *id, now)).collect();
            let Advance { mut changes, ticks, kept, .. } = desk.advance(now, limit, chance);
            changes.extend(caught_up);
            Happened { changes, ticks, kept }
        };
        let ends = std::mem::take(&mut self.ends);
        if let Some(done) = self.laid.carry_out(transaction, ready, |desk| work(&ends, desk)).await? {
            self.ends = ends;
            return Ok(done);
        }
        self.laid.retain(|stored| !is_entangled(&stored.job));
        self.laid.forget_entries();
        let mut desk = self.laid.desk(&ready.rules);
        let done = work(&[], &mut desk);
        Ok((desk, done))
    }

    /// What was seen to need not be seen to again.
    async fn forget_ends(&self, engine: &Engine, transaction: &Transaction<'_>) -> Result<(), Fault> {
        if self.ends.is_empty() {
            return Ok(());
        }
        let forget = transaction.prepare(&engine.statements.forget_ends).await?;
        let ids: Vec<Uuid> = self.ends.iter().copied().map(uuid).collect();
        transaction.execute(&forget, &[&ids], "forget ends").await.map(drop)
    }
}

/// Locks entries that nobody else is at, and lays them as they are then. How many there are.
async fn lay_entries(
    transaction: &Transaction<'_>,
    ready: &Ready,
    laid: &mut Laid,
    mut keys: Vec<EntryKey>,
) -> Result<usize, Fault> {
    let locks: BTreeSet<Lock> = keys.iter().map(Lock::of_entry).collect();
    let refused = locks::take(transaction, &ready.lock, &locks).await?;
    keys.retain(|key| !refused.contains(&Lock::of_entry(key)));
    for entry in entry::load(transaction, &ready.entries, &keys).await? {
        laid.add_entry(entry);
    }
    Ok(keys.len())
}

fn job_id(row: &tokio_postgres::Row) -> Result<JobId, Fault> {
    let id: Uuid = row.try_get(0).map_err(Fault::of("look for ends"))?;
    JobId::from_bytes(*id.as_bytes()).ok_or(Fault::Unreadable("the id of a job that ended"))
}

/// What followed from the end of a step, told as if it had ended now.
fn caught_up(desk: &mut Desk, id: JobId, now: Timestamp) -> Option<Change> {
    let Followed { workflow, followers } = desk.catch_up(id, now)?;
    let job = desk.get(id)?.clone();
    let workflow = Some(Box::new(workflow));
    Some(Change::To { before: job.state(), job, said: Said::Nothing, followers, workflow })
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
