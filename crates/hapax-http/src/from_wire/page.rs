//! The queries of lists.

use std::time::Duration;

use axum::http::Uri;
use hapax_broker::{EventFilter, EventQuery, LETTERS_LOOKED_AT_MAX, LetterPlace};
use hapax_core::{JobFilter, JobType, QueueName, Timestamp};
use hapax_store::{DeadLetterQuery, HeldQuery, QueueQuery};

use super::Fault;
use super::job_filter::{Age, moment, of_query};
use super::operator_page::Numbered;
use super::query::{Query, fault, read_query};
use crate::compat::kind_of_event;

/// Items of a page unless the query says.
pub(crate) const LIMIT_DEFAULT: usize = 50;
/// Most items of a page.
pub(crate) const LIMIT_MAX: usize = 1000;
/// Events of a page unless the query says (Events 6.4).
pub(crate) const EVENTS_DEFAULT: usize = 100;
/// Jobs with one key that are shown unless the query says.
pub(crate) const HOLDERS_DEFAULT: usize = 100;
/// Furthest place at which a page may start: pages beyond are reached by cursor.
pub(crate) const OFFSET_MAX: usize = 1_000_000;
/// The same for rate limits: each that is left out is looked at like those that are shown.
pub(crate) const LIMITS_OFFSET_MAX: usize = 1000;
/// Seconds that somebody waits for the end of a job unless the query says (Results 8.2).
pub(crate) const RESULT_WAIT_DEFAULT: usize = 30;
/// Most seconds of that.
pub(crate) const RESULT_WAIT_MAX: usize = 60;

/// Where a page begins and how long it is, as the reply repeats it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listing {
    /// At most so many items.
    pub(crate) limit: usize,
    /// So many left out before.
    pub(crate) offset: usize,
}

/// Which part of a list that is counted. Some clients count items, others pages.
pub(super) fn listing(query: &Query) -> Result<Listing, Fault> {
    let limit = query.limit_or_per_page(LIMIT_DEFAULT)?;
    let offset = query.number("offset", 0, 0..=OFFSET_MAX)?;
    let page = query.number("page", 1, 1..=OFFSET_MAX)?;
    let before = (page - 1).saturating_mul(limit);
    if before > 0 && offset > 0 {
        return Err(fault("page", "says where to begin, and so does offset; send one of the two"));
    }
    if before > OFFSET_MAX {
        return Err(fault("page", format_args!("may leave out at most {OFFSET_MAX} items; go on by cursor")));
    }
    Ok(Listing { limit, offset: offset.max(before) })
}

/// How long a page of a list is to be in which nobody can say how many stand before a place.
pub(super) fn uncounted_limit(query: &Query, default: usize) -> Result<usize, Fault> {
    let onwards = "go on with cursor = next_cursor";
    if query.number("offset", 0, 0..=usize::MAX)? > 0 {
        return Err(fault("offset", format_args!("this list is not counted; {onwards}")));
    }
    if query.number("page", 1, 1..=usize::MAX)? > 1 {
        return Err(fault("page", format_args!("only the first page has a number; {onwards}")));
    }
    query.limit_or_per_page(default)
}

/// Which events are wanted. Events 6.4 says `types`, Real-Time 5.6 says `event_types`.
pub(super) fn event_filter(query: &Query) -> Result<EventFilter, Fault> {
    let mut types = query.values("types")?;
    types.extend(query.values("event_types")?);
    Ok(EventFilter { types, queues: query.values("queues")?, job_types: query.values("job_types")? })
}

/// After which name to go on, and how many to list.
pub(crate) fn named_page(uri: &Uri) -> Result<(Option<Box<str>>, usize), Fault> {
    read_query(uri, |query| {
        let limit = uncounted_limit(query, LIMIT_DEFAULT)?;
        Ok((query.get("cursor").map(Box::from), limit))
    })
}

/// Which part of the rate limits to show: after a key, or after so many.
pub(crate) fn limits_page(uri: &Uri) -> Result<(Option<Box<str>>, Listing), Fault> {
    read_query(uri, |query| {
        let listing = listing(query)?;
        let cursor = expect_one_beginning(query, listing)?;
        if listing.offset > LIMITS_OFFSET_MAX {
            let problem = format_args!("may leave out at most {LIMITS_OFFSET_MAX} items; go on by cursor");
            return Err(fault(beginning(query), problem));
        }
        Ok((cursor.map(Box::from), listing))
    })
}

/// The cursor, beside which nothing else may say where to begin.
pub(super) fn expect_one_beginning(query: &Query, listing: Listing) -> Result<Option<&str>, Fault> {
    let cursor = query.get("cursor");
    if cursor.is_some() && listing.offset > 0 {
        let problem = "says where to begin, and so does cursor; send only one of them";
        return Err(fault(beginning(query), problem));
    }
    Ok(cursor)
}

/// The name of what says how much to leave out.
pub(super) fn beginning(query: &Query) -> &'static str {
    if query.get("page").is_some() { "page" } else { "offset" }
}

/// Which part of the history of a job to show.
pub(crate) fn job_history(uri: &Uri) -> Result<Listing, Fault> {
    read_query(uri, |query| {
        let limit = query.limit(LIMIT_DEFAULT)?;
        let offset = query.get("cursor").map(|text| text.parse().map_err(|_| no_cursor())).transpose()?;
        Ok(Listing { limit, offset: offset.unwrap_or(0) })
    })
}

pub(super) fn no_cursor() -> Fault {
    fault("cursor", "must be the next_cursor of an earlier page of this list")
}

/// Which dead letters to list.
#[derive(Debug)]
pub(crate) struct LetterWish {
    /// Without regard to the filter.
    pub(crate) query: DeadLetterQuery,
    /// How long a page is and where it begins.
    pub(crate) listing: Listing,
    /// If more counts than the queue.
    pub(crate) filter: Option<JobFilter>,
}

/// Reads which dead letters to list.
pub(crate) fn dead_letters(uri: &Uri, now: Timestamp) -> Result<LetterWish, Fault> {
    read_query(uri, |query| {
        let listing = listing(query)?;
        let filter = of_query(query, Age::Ended, now)?;
        let cursor = expect_one_beginning(query, listing)?;
        let after = cursor.map(|text| letter_place(text).ok_or_else(no_cursor)).transpose()?;
        let queue = filter.queue.clone();
        let is_plain = filter == JobFilter { queue: queue.clone(), ..JobFilter::default() };
        if !is_plain && listing.offset > LETTERS_LOOKED_AT_MAX {
            let problem = format_args!(
                "must be at most {LETTERS_LOOKED_AT_MAX} in a list with filters; go on by cursor"
            );
            return Err(fault(beginning(query), problem));
        }
        let query = DeadLetterQuery { queue, after, offset: listing.offset, limit: listing.limit };
        Ok(LetterWish { query, listing, filter: Some(filter).filter(|_| !is_plain) })
    })
}

/// A place in the list of dead letters: the moment of death and the id.
pub(super) fn letter_place(cursor: &str) -> Option<LetterPlace> {
    let (millis, id) = cursor.split_once('.')?;
    Some((Timestamp::from_millis(millis.parse().ok()?), id.parse().ok()?))
}

/// Which queues to list.
pub(crate) fn queues(uri: &Uri) -> Result<(QueueQuery, Listing), Fault> {
    read_query(uri, |query| {
        let listing = listing(query)?;
        let cursor = expect_one_beginning(query, listing)?;
        let after = cursor.map(QueueName::parse).transpose().map_err(|_| no_cursor())?;
        Ok((QueueQuery { after, offset: listing.offset, limit: listing.limit }, listing))
    })
}

/// Which held keys to list.
pub(crate) fn held_keys(uri: &Uri, now: Timestamp) -> Result<HeldQuery, Fault> {
    read_query(uri, |query| {
        let kind = query.get("type").map(JobType::parse).transpose();
        Ok(HeldQuery {
            after: query.get("cursor").map(str::parse).transpose().map_err(|_| no_cursor())?,
            kind: kind.map_err(|error| fault("type", error))?,
            queue: query.queue()?,
            created_before: query.span("older_than")?.map(|span| now - span),
            limit: uncounted_limit(query, LIMIT_DEFAULT)?,
        })
    })
}

/// How long to wait for the end of a job.
pub(crate) fn patience(uri: &Uri) -> Result<Duration, Fault> {
    read_query(uri, |query| {
        let seconds = query.number("timeout", RESULT_WAIT_DEFAULT, 0..=RESULT_WAIT_MAX)?;
        match query.get("wait") {
            None if query.get("timeout").is_some() => {
                Err(fault("timeout", "says how long to wait, and without wait=true nobody does"))
            }
            None | Some("false") => Ok(Duration::ZERO),
            Some("true") => Ok(Duration::from_secs(u64::try_from(seconds).unwrap_or_default())),
            Some(_) => Err(fault("wait", "must be true or false")),
        }
    })
}

/// How many of the jobs with one key to show.
pub(crate) fn holders(uri: &Uri) -> Result<usize, Fault> {
    read_query(uri, |query| query.limit(HOLDERS_DEFAULT))
}

/// Events that somebody wants to see.
#[derive(Debug)]
pub(crate) struct EventList {
    pub(crate) query: EventQuery,
    /// Which page, if they are to be counted from the newest.
    pub(crate) page: Option<Numbered>,
}

/// Which events to list. Who names a page counts them; who names none goes on by cursor.
pub(crate) fn events(uri: &Uri, now: Timestamp) -> Result<EventList, Fault> {
    read_query(uri, |query| {
        let after = query.either(["after", "cursor"])?.map(|(_, cursor)| cursor.to_owned());
        let is_counted = query.get("page").is_some() && after.is_none();
        let page = is_counted.then(|| Numbered::of(query, EVENTS_DEFAULT)).transpose()?;
        let limit = match page {
            Some(page) => page.per_page,
            None => uncounted_limit(query, EVENTS_DEFAULT)?,
        };
        let mut filter = event_filter(query)?;
        // The official admin UI asks for one kind, under this name.
        filter.types.extend(query.values("type")?.iter().map(|name| kind_of_event(name).to_owned()));
        let since = moment(query, "since", now)?;
        Ok(EventList { query: EventQuery { after, filter, since, limit }, page })
    })
}
