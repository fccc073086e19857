//! The queries of operators' lists, which count pages.

use std::time::Duration;

use axum::http::Uri;
use hapax_broker::{LetterPlace, Period};
use hapax_core::{JobFilter, JobId, QueueName, TimeRange, Timestamp};
use hapax_store::ListOrder;
use hapax_wire::error::Code;

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
    skipped: usize,
}

impl Numbered {
    /// How many items come before it.
    pub(crate) fn skipped(self) -> usize {
        self.skipped
    }

    /// How many items there are up to its end.
    pub(crate) fn end(self) -> usize {
        self.skipped + self.per_page
    }

    /// How many items a list has whose last page this is.
    pub(crate) fn total_of_last(self, shown: usize) -> Option<u64> {
        // Nobody has counted what stands before an empty page.
        let is_known = shown > 0 || self.skipped == 0;
        is_known.then_some((self.skipped + shown) as u64)
    }

    /// Some clients count pages, others items.
    pub(super) fn of(query: &Query, default: usize) -> Result<Numbered, Fault> {
        let per_page = query.limit_or_per_page(default)?;
        let page = query.number("page", 1, 1..=usize::MAX)?;
        let offset = query.number("offset", 0, 0..=usize::MAX)?;
        if page > 1 && offset > 0 {
            return Err(fault("page", "says where to begin, and so does offset; send one of the two"));
        }
        let skipped = offset.max((page - 1).saturating_mul(per_page));
        if skipped.saturating_add(per_page) > COUNTED_MAX.max(per_page) {
            let name = if offset > 0 { "offset" } else { "page" };
            let problem = format_args!("lies beyond item {COUNTED_MAX}; go on with cursor = next_cursor");
            return Err(fault(name, problem));
        }
        Ok(Numbered { page: skipped / per_page + 1, per_page, skipped })
    }

    /// Behind as many as the cursor says.
    fn behind_many(query: &Query) -> Result<Numbered, Fault> {
        let (numbered, many) = Numbered::behind(query, |text| text.parse::<usize>().ok())?;
        let skipped = many.unwrap_or(numbered.skipped);
        Ok(Numbered { page: skipped / numbered.per_page + 1, skipped, ..numbered })
    }

    /// With the place behind which to go on, beside which nothing else may say where to begin.
    fn behind<P>(query: &Query, read: impl Fn(&str) -> Option<P>) -> Result<(Numbered, Option<P>), Fault> {
        let no_cursor = || fault("cursor", "is not a cursor of this list");
        let after = query.get("cursor").map(|text| read(text).ok_or_else(no_cursor)).transpose()?;
        let numbered = Numbered::of(query, PER_PAGE_DEFAULT)?;
        if numbered.skipped > 0 && after.is_some() {
            let name = if query.get("page").is_some() { "page" } else { "offset" };
            return Err(fault(name, "contradicts cursor; send one of the two"));
        }
        Ok((numbered, after))
    }
}

/// A page of a list without filters, and behind which item it begins.
pub(crate) fn numbered<P>(
    uri: &Uri,
    read: impl Fn(&str) -> Option<P>,
) -> Result<(Numbered, Option<P>), Fault> {
    read_query(uri, |query| Numbered::behind(query, read))
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// As they came.
    Created,
    /// As they are to start: those that have no time to wait for stand last.
    Scheduled,
    /// As they are preferred.
    Priority,
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
    /// By what.
    pub(crate) sort: Sort,
    /// From which end.
    pub(crate) order: ListOrder,
    /// Behind which place.
    pub(crate) after: Option<P>,
    /// How many.
    pub(crate) numbered: Numbered,
}

/// Which jobs to list.
pub(crate) fn operators_jobs(uri: &Uri, now: Timestamp) -> Result<Wanted<JobId>, Fault> {
    read_query(uri, |query| {
        let sort = sort(query)?;
        let (numbered, after) = match sort {
            Sort::Created => Numbered::behind(query, |text| text.parse().ok())?,
            // Put in order for one page, they go on after so many.
            Sort::Scheduled | Sort::Priority => (Numbered::behind_many(query)?, None),
        };
        let mut wanted = wanted(query, Age::Created, now, (numbered, after))?;
        // The official command line says it to leave out what has ended.
        if query.flag("exclude_terminal")?.unwrap_or(false) {
            wanted.filter.states = wanted.filter.states.iter().filter(|state| !state.is_terminal()).collect();
            if wanted.filter.states.is_empty() {
                return Err(fault("exclude_terminal", "leaves out every state that the query names"));
            }
        }
        Ok(wanted)
    })
}

/// Which dead letters to list: always from the newest to the oldest.
pub(crate) fn operators_letters(uri: &Uri, now: Timestamp) -> Result<Wanted<LetterPlace>, Fault> {
    let wanted =
        read_query(uri, |query| wanted(query, Age::Ended, now, Numbered::behind(query, letter_place)?))?;
    if wanted.order == ListOrder::OldestFirst {
        return Err(unsupported("order", "dead letters with the oldest first"));
    }
    if wanted.sort != Sort::Created {
        return Err(unsupported("sort", "dead letters in any order but that in which they died"));
    }
    Ok(wanted)
}

fn wanted<P>(
    query: &Query,
    age: Age,
    now: Timestamp,
    (numbered, after): (Numbered, Option<P>),
) -> Result<Wanted<P>, Fault> {
    let order = match query.get("order") {
        None | Some("desc") => ListOrder::NewestFirst,
        Some("asc") => ListOrder::OldestFirst,
        Some(_) => return Err(fault("order", "must be desc, the newest first, or asc")),
    };
    Ok(Wanted { filter: of_query(query, age, now)?, sort: sort(query)?, order, after, numbered })
}

fn sort(query: &Query) -> Result<Sort, Fault> {
    match query.get("sort") {
        None | Some("created_at") => Ok(Sort::Created),
        Some("scheduled_at") => Ok(Sort::Scheduled),
        Some("priority") => Ok(Sort::Priority),
        Some(_) => Err(fault("sort", "must be created_at, scheduled_at or priority")),
    }
}

/// The answer to somebody who wants more jobs in order than are put in order.
pub(crate) fn too_many_to_sort() -> Fault {
    let problem = "needs a look at more jobs than are put in order; narrow the filter, or leave sort out";
    Fault::coded(Code::Unsupported, Place::Member(&QUERY, "sort"), problem)
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
