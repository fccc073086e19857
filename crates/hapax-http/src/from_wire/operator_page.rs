//! The queries of operators' lists, which count pages.

use std::time::Duration;

use axum::http::Uri;
use hapax_broker::{LetterPlace, Period};
use hapax_core::{JobFilter, JobId, QueueName, TimeRange, Timestamp};
use hapax_store::ListOrder;

use super::job_filter::{Age, of_query, time_range};
use super::page::letter_place;
use super::query::{QUERY, Query, fault, read_query};
use super::{Fault, Place};

/// Items of a page unless the query says (Admin API 7.1).
pub(crate) const PER_PAGE_DEFAULT: usize = 20;
/// Furthest item that is reached by counting pages; further ones are reached by cursor.
const COUNTED_MAX: usize = 10_000;
/// How far a history goes back unless the query says.
const HISTORY_DEFAULT: Duration = Duration::from_hours(1);

/// Which page of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbered {
    /// From 1 on.
    pub(crate) page: usize,
    /// At most so many items.
    pub(crate) per_page: usize,
}

impl Numbered {
    /// How many items come before it.
    pub(crate) fn skipped(self) -> usize {
        (self.page - 1) * self.per_page
    }

    fn of(query: &Query) -> Result<Numbered, Fault> {
        let per_page = query.limit_or_per_page(PER_PAGE_DEFAULT)?;
        let page = query.number("page", 1, 1..=usize::MAX)?;
        if page.saturating_mul(per_page) > COUNTED_MAX.max(per_page) {
            let problem = format_args!("lies beyond item {COUNTED_MAX}; go on with cursor = next_cursor");
            return Err(fault("page", problem));
        }
        Ok(Numbered { page, per_page })
    }
}

/// A page of a list without filters.
pub(crate) fn numbered(uri: &Uri) -> Result<Numbered, Fault> {
    read_query(uri, Numbered::of)
}

/// The queue of which alone something is to be told.
pub(crate) fn queue_meant(uri: &Uri) -> Result<Option<QueueName>, Fault> {
    read_query(uri, Query::queue)
}

/// Jobs that an operator wants to see.
#[derive(Debug)]
pub(crate) struct Wanted<P> {
    /// Which.
    pub(crate) filter: JobFilter,
    /// From which end.
    pub(crate) order: ListOrder,
    /// Behind which place.
    pub(crate) after: Option<P>,
    /// How many.
    pub(crate) numbered: Numbered,
}

/// Which jobs to list.
pub(crate) fn operators_jobs(uri: &Uri, now: Timestamp) -> Result<Wanted<JobId>, Fault> {
    wanted(uri, Age::Created, now, |text| text.parse().ok())
}

/// Which dead letters to list: always from the newest to the oldest.
pub(crate) fn operators_letters(uri: &Uri, now: Timestamp) -> Result<Wanted<LetterPlace>, Fault> {
    let wanted = wanted(uri, Age::Ended, now, letter_place)?;
    if wanted.order == ListOrder::OldestFirst {
        return Err(unsupported("order", "dead letters with the oldest first"));
    }
    Ok(wanted)
}

fn wanted<P>(
    uri: &Uri,
    age: Age,
    now: Timestamp,
    read: impl Fn(&str) -> Option<P>,
) -> Result<Wanted<P>, Fault> {
    read_query(uri, |query| {
        let no_cursor = || fault("cursor", "is not a cursor of this list");
        let after = query.get("cursor").map(|text| read(text).ok_or_else(no_cursor)).transpose()?;
        let numbered = Numbered::of(query)?;
        if numbered.page > 1 && after.is_some() {
            return Err(fault("page", "contradicts cursor; send one of the two"));
        }
        Ok(Wanted { filter: of_query(query, age, now)?, order: order(query)?, after, numbered })
    })
}

fn order(query: &Query) -> Result<ListOrder, Fault> {
    match query.get("sort") {
        None | Some("created_at") => {}
        Some("scheduled_at" | "priority") => {
            return Err(unsupported("sort", "lists in any order but that of created_at"));
        }
        Some(_) => return Err(fault("sort", "must be created_at")),
    }
    match query.get("order") {
        None | Some("desc") => Ok(ListOrder::NewestFirst),
        Some("asc") => Ok(ListOrder::OldestFirst),
        Some(_) => Err(fault("order", "must be desc, the newest first, or asc")),
    }
}

fn unsupported(name: &str, feature: &str) -> Fault {
    Fault::unsupported(Place::Member(&QUERY, name), feature)
}

/// Which part of the history to show.
#[derive(Debug)]
pub(crate) struct HistoryWish {
    pub(crate) queue: Option<QueueName>,
    pub(crate) period: Period,
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
}

/// Reads `period`, `since`, `until` and `queue`.
pub(crate) fn history(uri: &Uri, now: Timestamp) -> Result<HistoryWish, Fault> {
    read_query(uri, |query| {
        let named = |text| Period::ALL.into_iter().find(|period| period.name() == text);
        let no_period = || fault("period", "must be 1m, 5m, 1h or 1d");
        let period = query.get("period").map(|text| named(text).ok_or_else(no_period)).transpose()?;
        let TimeRange { since, until } = time_range(query, now)?;
        Ok(HistoryWish {
            queue: query.queue()?,
            period: period.unwrap_or(Period::FiveMinutes),
            since: since.unwrap_or(now - HISTORY_DEFAULT),
            until: until.unwrap_or(now),
        })
    })
}
