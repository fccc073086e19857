//! Reads about rate limits: the index says how many, the tables what is asked for and what is remembered.

use std::sync::RwLock;

use hapax_core::State;
use hapax_core::limit::{LimitKey, Memory, RateLimit};
use hapax_store::record::limit as record;
use hapax_store::sharers::{Shared, merged};
use hapax_store::{EntryPage, EntryQuery, LimitFacts, LimitPage, LimitQuery, Register, Written, limit};

use super::View;
use crate::index::{self, Visible};
use crate::row::Seq;
use crate::{Fault, entry};

/// What the index knows of a limit.
struct Known {
    active: u64,
    available: u64,
    newest: Option<Seq>,
}

impl Known {
    fn of(key: &LimitKey, visible: &Visible) -> Known {
        let shared = visible.sharers().of(key);
        let active = match key.limited_queue() {
            Some(queue) => visible.queue_facts(&queue).map_or(0, |facts| facts.counts.of(State::Active)),
            None => shared.map_or(0, |shared| shared.active),
        };
        let available = shared.map_or(0, |shared| shared.available);
        Known { active, available, newest: shared.and_then(Shared::newest) }
    }
}

impl View<'_> {
    /// A rate limit, if somebody has it or something is remembered of it.
    pub(crate) fn limit(
        &mut self,
        visible: &RwLock<Visible>,
        key: LimitKey,
    ) -> Result<Option<LimitFacts>, Fault> {
        let db = self.db;
        let Known { active, available, newest } = Known::of(&key, &index::read(visible));
        self.at_one_moment(|loader| {
            let entry = entry::load(db, &limit::key(&key))?;
            if entry.is_none() && newest.is_none() {
                return Ok(None);
            }
            let damaged =
                || Fault::Entry { register: Register::Limit.name().into(), name: key.as_str().into() };
            let memory = match entry.map(|entry| entry.written) {
                Some(Written { body, .. }) => record::read(&body).map_err(|_| damaged())?,
                None => Memory::default(),
            };
            // The index runs ahead of the tables: a job that is not there yet has nothing to say.
            let newest = newest.map(|seq| loader.load(seq)).transpose()?.flatten();
            let newest: Option<RateLimit> =
                newest.and_then(|stored| stored.job.spec.rate_limit.as_deref().cloned());
            Ok(Some(LimitFacts { key, active, available, newest, memory }))
        })
    }

    pub(crate) fn limits(
        &mut self,
        visible: &RwLock<Visible>,
        query: &LimitQuery,
    ) -> Result<LimitPage, Fault> {
        let LimitQuery { after, limit } = query;
        let remembered = EntryQuery {
            register: Register::Limit,
            prefix: "".into(),
            after: after.as_ref().map(|after| after.as_str().into()),
            limit: limit + 1,
        };
        let EntryPage { entries, .. } = entry::page(self.db, &remembered)?;
        let entries = entries.iter().filter_map(|entry| LimitKey::parse_any(&entry.key.name).ok());
        let (keys, has_more) = {
            let visible = index::read(visible);
            merged(visible.sharers().keys_after(after.as_ref()).cloned(), entries, *limit)
        };
        let mut limits = Vec::with_capacity(keys.len());
        for key in keys {
            limits.extend(self.limit(visible, key)?);
        }
        Ok(LimitPage { limits, has_more })
    }
}
