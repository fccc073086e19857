//! The queries of operators' lists, which count pages.

use std::time::Duration;

use axum::http::Uri;
use hapax_broker::{LetterPlace, Period};
use hapax_core::{JobFilter, JobId, QueueName, Timestamp};
use hapax_store::ListOrder;

use super::job_filter::{Age, of_query};
use super::page::{Parameters, fault, letter_place};
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

    fn of(parameters: &Parameters) -> Result<Numbered, Fault> {
        let size = if parameters.get("per_page").is_some() { "per_page" } else { "limit" };
        let per_page = parameters.size(size, PER_PAGE_DEFAULT)?;
        let page = parameters.number("page", 1, 1..=usize::MAX)?;
        if page > 1 && parameters.get("cursor").is_some() {
            return Err(fault("page", "contradicts cursor; send one of the two"));
        }
        if page.saturating_mul(per_page) > COUNTED_MAX.max(per_page) {
            let problem = format_args!("lies beyond item {COUNTED_MAX}; go on with cursor = next_cursor");
            return Err(fault("page", problem));
        }
        Ok(Numbered { page, per_page })
    }
}

/// A page of a list without filters.
pub(crate) fn numbered(uri: &Uri) -> Result<Numbered, Fault> {
    Numbered::of(&Parameters::of(uri)?)
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
    let parameters = Parameters::of(uri)?;
    let order = match parameters.get("order") {
        None | Some("desc") => ListOrder::NewestFirst,
        Some("asc") => ListOrder::OldestFirst,
        Some(_) => return Err(fault("order", "must be desc, the newest first, or asc")),
    };
    match parameters.get("sort") {
        None | Some("created_at") => {}
        Some("scheduled_at" | "priority") => {
            return Err(unsupported("sort", "lists in any order but that of created_at"));
        }
        Some(_) => return Err(fault("sort", "must be created_at")),
    }
    let no_cursor = || fault("cursor", "is not a cursor of this list");
    let after = parameters.get("cursor").map(|text| read(text).ok_or_else(no_cursor)).transpose()?;
    let filter = of_query(&parameters, age, now)?;
    Ok(Wanted { filter, order, after, numbered: Numbered::of(&parameters)? })
}

fn unsupported(name: &str, feature: &str) -> Fault {
    Fault::unsupported(Place::Member(&Place::Member(&Place::Body, "query"), name), feature)
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
    let parameters = Parameters::of(uri)?;
    let period = match parameters.get("period") {
        None => Period::FiveMinutes,
        Some(text) => Period::ALL
            .into_iter()
            .find(|period| period.name() == text)
            .ok_or_else(|| fault("period", "must be 1m, 5m, 1h or 1d"))?,
    };
    let JobFilter { queue, created, .. } = of_query(&parameters, Age::Created, now)?;
    let until = created.until.unwrap_or(now);
    Ok(HistoryWish { queue, period, since: created.since.unwrap_or(now - HISTORY_DEFAULT), until })
}
