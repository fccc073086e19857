//! Reads about rate limits.

use hapax_core::limit::{LimitKey, Memory};
use hapax_store::record::limit as record;
use hapax_store::sharers::merged;
use hapax_store::{
    EntryQuery, LimitFacts, LimitPage, LimitQuery, Register, WAITING_COUNTED_MAX, Written, limit,
};
use tokio_postgres::types::ToSql;

use super::{View, number};
use crate::Fault;

impl View<'_> {
    /// A rate limit, if somebody has it or something is remembered of it.
    pub(crate) async fn limit(&self, key: &LimitKey) -> Result<Option<LimitFacts>, Fault> {
        let statements = &self.engine.statements;
        let newest = self.jobs(&statements.limit_newest, &[&key.as_str()]).await?.pop();
        let entry = self.entry(&limit::key(key)).await?;
        if newest.is_none() && entry.is_none() {
            return Ok(None);
        }
        let memory = match entry.map(|entry| entry.written) {
            Some(Written { body, .. }) => {
                record::read(&body).map_err(|_| Fault::Unreadable("a rate limit"))?
            }
            None => Memory::default(),
        };
        let most = i64::try_from(WAITING_COUNTED_MAX).unwrap_or(i64::MAX);
        let params: [&(dyn ToSql + Sync); 2] = [&key.as_str(), &most];
        let rows = self.query(&statements.limit_facts, &params).await?;
        let counted = |column| -> Result<u64, Fault> {
            let number: Option<i64> =
                rows.first().map(|row| row.try_get(column)).transpose().map_err(Fault::of("count jobs"))?;
            Ok(number.unwrap_or(0).unsigned_abs())
        };
        let active = match key.limited_queue() {
            Some(queue) => self.count(&statements.queue_active, &[&queue.as_str()]).await?,
            None => counted(0)?,
        };
        let newest = newest.and_then(|job| job.spec.rate_limit.as_deref().cloned());
        Ok(Some(LimitFacts { key: key.clone(), active, available: counted(1)?, newest, memory }))
    }

    pub(crate) async fn limits(&self, query: &LimitQuery) -> Result<LimitPage, Fault> {
        let LimitQuery { after, limit } = query;
        let from = after.as_ref().map_or("", LimitKey::as_str);
        let params: [&(dyn ToSql + Sync); 2] = [&from, &number(limit.saturating_add(1))];
        let rows = self.query(&self.engine.statements.limit_keys, &params).await?;
        let key = |row: &tokio_postgres::Row| {
            let text: &str = row.try_get(0).map_err(Fault::of("read rate limits"))?;
            LimitKey::parse_any(text).map_err(|_| Fault::Unreadable("the key of a rate limit"))
        };
        let jobs = rows.iter().map(key).collect::<Result<Vec<_>, _>>()?;
        let remembered = EntryQuery {
            register: Register::Limit,
            prefix: "".into(),
            after: after.as_ref().map(|after| after.as_str().into()),
            limit: limit.saturating_add(1),
        };
        let entries = self.entries(&remembered).await?.entries;
        let entries = entries.iter().filter_map(|entry| LimitKey::parse_any(&entry.key.name).ok());
        let (keys, has_more) = merged(jobs.into_iter(), entries, *limit);
        let mut limits = Vec::with_capacity(keys.len());
        for key in keys {
            limits.extend(self.limit(&key).await?);
        }
        Ok(LimitPage { limits, has_more })
    }
}
