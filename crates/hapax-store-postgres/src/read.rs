//! Reads. Each sees everything that was answered before, on whatever server.

mod jobs;
mod limits;

use hapax_core::unique::Watch;
use hapax_core::{Job, JobId, QueueName, State, Timestamp};
use hapax_store::desk::Desk;
use hapax_store::{
    DeadLetterQuery, Entry, EntryKey, EntryPage, EntryQuery, HELD_SCAN_MAX, HeldPage, HeldQuery, HolderQuery,
    Holders, LETTER_BYTES_MAX, Page, QueueFacts, QueueQuery, Totals,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::Fault;
use crate::connect::Link;
use crate::entry;
use crate::load::{ended, since};
use crate::queue;
use crate::row::{self, uuid};
use crate::store::Engine;

/// What a read needs.
pub(crate) struct View<'v> {
    pub(crate) engine: &'v Engine,
    pub(crate) link: &'v Link,
}

impl View<'_> {
    async fn query(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, Fault> {
        let statement = self.link.prepare(sql).await?;
        self.link.client().query(&statement, params).await.map_err(Fault::of("read"))
    }

    async fn jobs(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<Vec<Job>, Fault> {
        let rows = self.query(sql, params).await?;
        rows.iter().map(|row| row::read(row, 0).map(|stored| stored.job)).collect()
    }

    pub(crate) async fn job(&self, id: JobId) -> Result<Option<Job>, Fault> {
        Ok(self.jobs(&self.engine.statements.job, &[&uuid(id)]).await?.pop())
    }

    pub(crate) async fn holders(&self, query: &HolderQuery) -> Result<Holders, Fault> {
        let statements = &self.engine.statements;
        let key = query.key.bytes().as_slice();
        let mut desk = Desk::new(self.engine.settings.rules.clone());
        let mut rows = self.query(&statements.live_holders, &[&key]).await?;
        rows.extend(self.query(&statements.ended_holders, &[&key, &number(query.limit)]).await?);
        if let Some((watch, now)) = query.covered_by {
            let Watch { states, period_from, .. } = watch;
            let params: [&(dyn ToSql + Sync); 4] =
                [&key, &ended(states), &since(watch, now), &period_from.name()];
            rows.extend(self.query(&statements.covered_holder, &params).await?);
        }
        for row in &rows {
            let stored = row::read(row, 0)?;
            if desk.get(stored.job.id).is_none() {
                desk.lay(stored);
            }
        }
        let counts = self.query(&statements.count_holders, &[&key]).await?;
        let Holders { jobs, .. } = desk.holders(query);
        let count = |column| -> Result<u64, Fault> {
            let number = counts.first().map(|row| row.try_get::<_, i64>(column)).transpose();
            Ok(number.map_err(Fault::of("count holders"))?.map_or(0, i64::unsigned_abs))
        };
        Ok(Holders { jobs, live: count(0)?, ended: count(1)? })
    }

    pub(crate) async fn held_keys(&self, query: &HeldQuery) -> Result<HeldPage, Fault> {
        let HeldQuery { after, kind, queue, created_before, limit } = query;
        let after = i64::try_from(after.unwrap_or(0)).unwrap_or(i64::MAX);
        let kind = kind.as_ref().map(hapax_core::JobType::as_str);
        let queue = queue.as_ref().map(QueueName::as_str);
        let before = created_before.map(Timestamp::millis);
        let scanned = number(HELD_SCAN_MAX + 1);
        let params: [&(dyn ToSql + Sync); 5] = [&after, &kind, &queue, &before, &scanned];
        let rows = self.query(&self.engine.statements.held, &params).await?;
        let (ids, next) = shown(&rows, *limit, query.after)?;
        let mut jobs = self.jobs(&self.engine.statements.jobs, &[&ids]).await?;
        // It may have ended or lost its key since.
        jobs.retain(|job| job.holds_key() && query.fits(job));
        jobs.iter_mut().for_each(Job::forget_texts);
        Ok(HeldPage { jobs, next })
    }

    pub(crate) async fn dead_letters(&self, query: &DeadLetterQuery) -> Result<Page<Job>, Fault> {
        let DeadLetterQuery { queue, after, offset, limit } = query;
        let queue = queue.as_ref().map(QueueName::as_str);
        let (at, id) = (after.map(|(at, _)| at.millis()), after.map(|(_, id)| uuid(id)));
        let (offset, more) = (number(*offset), number(limit.saturating_add(1)));
        let bytes = number(LETTER_BYTES_MAX);
        let params: [&(dyn ToSql + Sync); 6] = [&queue, &at, &id, &offset, &more, &bytes];
        let rows = self.query(&self.engine.statements.dead_letters, &params).await?;
        let found: Option<i64> =
            rows.first().map(|row| row.try_get("found")).transpose().map_err(Fault::of("count letters"))?;
        let read = |row| row::read(row, 0).map(|stored| stored.job);
        let items: Vec<Job> = rows.iter().take(*limit).map(read).collect::<Result<_, _>>()?;
        let has_more = found.unwrap_or(0) > number(items.len());
        let total = self.count(&self.engine.statements.count_dead_letters, &[&queue]).await?;
        Ok(Page { items, total, has_more })
    }

    pub(crate) async fn queues(&self, query: &QueueQuery) -> Result<Page<QueueFacts>, Fault> {
        let QueueQuery { after, offset, limit } = query;
        let after = after.as_ref().map(QueueName::as_str);
        let (offset, more) = (number(*offset), number(limit.saturating_add(1)));
        let rows = self.query(&self.engine.statements.queues, &[&after, &offset, &more]).await?;
        let items = rows.iter().map(queue::read).collect::<Result<_, _>>()?;
        let total = self.count(&self.engine.statements.queue_count, &[]).await?;
        Ok(page(items, *limit, total))
    }

    pub(crate) async fn queue(&self, name: &QueueName) -> Result<Option<QueueFacts>, Fault> {
        let rows = self.query(&self.engine.statements.queue, &[&name.as_str()]).await?;
        rows.first().map(queue::read).transpose()
    }

    pub(crate) async fn entry(&self, key: &EntryKey) -> Result<Option<Entry>, Fault> {
        let rows = self.query(&self.engine.statements.entry, &[&key.register.name(), &&*key.name]).await?;
        rows.first().map(entry::read).transpose()
    }

    pub(crate) async fn entries(&self, query: &EntryQuery) -> Result<EntryPage, Fault> {
        let EntryQuery { register, prefix, after, limit } = query;
        let (register, prefix, after) = (register.name(), &**prefix, after.as_deref());
        let more = number(limit.saturating_add(1));
        let behind = behind(prefix);
        let params: [&(dyn ToSql + Sync); 5] = [&register, &prefix, &after, &more, &behind];
        let rows = self.query(&self.engine.statements.entry_page, &params).await?;
        let entries = rows.iter().map(entry::read).collect::<Result<_, _>>()?;
        let of_all: [&(dyn ToSql + Sync); 3] = [&register, &prefix, &behind];
        let total = self.count(&self.engine.statements.count_entries, &of_all).await?;
        let Page { items, total, has_more } = page(entries, *limit, total);
        Ok(EntryPage { entries: items, has_more, total })
    }

    pub(crate) async fn totals(&self) -> Result<Totals, Fault> {
        let rows = self.query(&self.engine.statements.totals, &[]).await?;
        let Some(row) = rows.first() else { return Ok(Totals::default()) };
        let states = State::ALL.len();
        let sum = |column| -> Result<u64, Fault> {
            let number: i64 = row.try_get(column).map_err(Fault::of("read counts"))?;
            Ok(u64::try_from(number).unwrap_or(0))
        };
        Ok(Totals { counts: queue::counts(row, 0)?, keys_held: sum(states)?, dead_letters: sum(states + 1)? })
    }

    async fn count(&self, sql: &str, params: &[&(dyn ToSql + Sync)]) -> Result<u64, Fault> {
        let rows = self.query(sql, params).await?;
        let number = rows.first().map(|row| row.try_get::<_, i64>(0)).transpose();
        Ok(number.map_err(Fault::of("count"))?.map_or(0, i64::unsigned_abs))
    }
}

/// Which of the rows of `held.sql` the page shows, and where the next one begins.
fn shown(rows: &[Row], limit: usize, after: Option<u64>) -> Result<(Vec<Uuid>, Option<u64>), Fault> {
    let failed = Fault::of("read held keys");
    let (mut ids, mut last) = (Vec::new(), after);
    for row in rows.iter().take(HELD_SCAN_MAX) {
        if ids.len() == limit {
            return Ok((ids, last));
        }
        last = Some(row.try_get::<_, i64>(0).map_err(&failed)?.unsigned_abs());
        if row.try_get(2).map_err(&failed)? {
            ids.push(row.try_get(1).map_err(&failed)?);
        }
    }
    Ok((ids, last.filter(|_| rows.len() > HELD_SCAN_MAX)))
}

/// A text that comes after all names with that prefix, byte by byte, so that the database stops there; nothing if none is
/// easily told.
fn behind(prefix: &str) -> Option<String> {
    let last = prefix.bytes().next_back().filter(|byte| *byte < 0x7f)?;
    let mut text = prefix[..prefix.len() - 1].to_owned();
    text.push(char::from(last + 1));
    Some(text)
}

fn page<T>(mut items: Vec<T>, limit: usize, total: u64) -> Page<T> {
    let has_more = items.len() > limit;
    items.truncate(limit);
    Page { items, total, has_more }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
