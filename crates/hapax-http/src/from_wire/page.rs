//! The queries of lists.

use std::time::Duration;

use axum::extract::Query;
use axum::http::Uri;
use hapax_broker::{EventFilter, EventQuery, LETTERS_LOOKED_AT_MAX, LetterPlace};
use hapax_core::workflow::WorkflowId;
use hapax_core::{JobFilter, JobType, QueueName, Timestamp, parse_iso8601};
use hapax_store::{DeadLetterQuery, HeldQuery, QueueQuery};
use hapax_wire::error::Code;

use super::job_filter::{Age, of_query};
use super::near_miss::near_miss;
use super::{Fault, Place};

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
/// The same for recurring jobs, whose list is short: what is left out of it is read.
pub(crate) const CRON_OFFSET_MAX: usize = 10_000;
/// Seconds that somebody waits for the end of a job unless the query says (Results 8.2).
pub(crate) const RESULT_WAIT_DEFAULT: usize = 30;
/// Most seconds of that.
pub(crate) const RESULT_WAIT_MAX: usize = 60;
/// Most values of one filter.
const FILTER_VALUES_MAX: usize = 100;

/// Where a page begins and how long it is, as the reply repeats it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listing {
    /// At most so many items.
    pub(crate) limit: usize,
    /// So many left out before.
    pub(crate) offset: usize,
}

/// The parameters of a query, in the order of the request.
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(super) fn of(uri: &Uri) -> Result<Parameters, Fault> {
        let wrong = |_| Fault::new(Place::Member(&Place::Body, "query"), "is not made of name=value pairs");
        Query::try_from_uri(uri).map(|Query(pairs)| Parameters(pairs)).map_err(wrong)
    }

    /// The last value of that name; an empty one counts as absent.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn number(
        &self,
        name: &str,
        default: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, Fault> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let (least, most) = (*range.start(), *range.end());
        text.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| match most {
            usize::MAX => fault(name, format_args!("must be an integer of at least {least}")),
            _ => fault(name, format_args!("must be an integer from {least} to {most}")),
        })
    }

    /// How long a page is to be. A wish for a longer one than there are gets the longest.
    pub(super) fn size(&self, name: &str, default: usize) -> Result<usize, Fault> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let size = text.parse().ok().filter(|size: &usize| *size > 0);
        let wrong = || fault(name, format_args!("must be an integer from 1 to {LIMIT_MAX}"));
        size.map(|size| size.min(LIMIT_MAX)).ok_or_else(wrong)
    }

    /// Refuses names that mean nothing here: what a misspelt filter leaves out would be shown.
    fn expect_only(&self, known: &[&str]) -> Result<(), Fault> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => {
                Err(Fault::unknown(Place::Member(&Place::Body, "query"), "parameter", name, known))
            }
            None => Ok(()),
        }
    }

    fn listing(&self) -> Result<Listing, Fault> {
        let limit = self.size("limit", LIMIT_DEFAULT)?;
        Ok(Listing { limit, offset: self.number("offset", 0, 0..=OFFSET_MAX)? })
    }

    /// How long a page of a list is to be in which nobody can say how many stand before a place.
    fn uncounted_limit(&self) -> Result<usize, Fault> {
        self.expect_uncounted()?;
        self.size("limit", LIMIT_DEFAULT)
    }

    fn expect_uncounted(&self) -> Result<(), Fault> {
        if self.number("offset", 0, 0..=usize::MAX)? > 0 {
            return Err(fault("offset", "this list is not counted; go on with cursor = next_cursor"));
        }
        Ok(())
    }

    /// Refuses what looks like a misspelt name: what a filter was to leave out would be shown. Other names are passed over, since
    /// those who listen in a browser put into the address what they cannot put into headers.
    pub(super) fn expect_near(&self, known: &[&'static str]) -> Result<(), Fault> {
        for (name, _) in &self.0 {
            if !known.contains(&name.as_str())
                && let Some(meant) = near_miss(name, known.iter().copied())
            {
                return Err(fault(name, format_args!("is not known here; did you mean {meant:?}?")));
            }
        }
        Ok(())
    }

    pub(super) fn queue(&self) -> Result<Option<QueueName>, Fault> {
        self.get("queue").map(QueueName::parse).transpose().map_err(|error| fault("queue", error))
    }

    /// A span in whole seconds or as an ISO 8601 duration.
    pub(super) fn span(&self, name: &str) -> Result<Option<Duration>, Fault> {
        let read = |text: &str| match text.parse() {
            Ok(seconds) => Ok(Duration::from_secs(seconds)),
            Err(_) => parse_iso8601(text).map_err(|error| fault(name, error)),
        };
        self.get(name).map(read).transpose()
    }

    /// The values of a filter: separated by commas, or the parameter given several times.
    pub(super) fn values(&self, name: &str) -> Result<Vec<String>, Fault> {
        let given = self.0.iter().filter(|(known, _)| known == name);
        let values: Vec<String> = given
            .flat_map(|(_, values)| values.split(','))
            .map(str::trim)
            .filter(|value| !value.is_empty())
            .take(FILTER_VALUES_MAX + 1)
            .map(str::to_owned)
            .collect();
        if values.len() > FILTER_VALUES_MAX {
            return Err(fault(name, format_args!("must have at most {FILTER_VALUES_MAX} values")));
        }
        Ok(values)
    }

    /// Which events are wanted. Events 6.4 says `types`, Real-Time 5.6 says `event_types`.
    pub(super) fn event_filter(&self) -> Result<EventFilter, Fault> {
        let mut types = self.values("types")?;
        types.extend(self.values("event_types")?);
        Ok(EventFilter { types, queues: self.values("queues")?, job_types: self.values("job_types")? })
    }
}

pub(super) fn fault(name: &str, problem: impl std::fmt::Display) -> Fault {
    Fault::coded(Code::InvalidRequest, Place::Member(&Place::Member(&Place::Body, "query"), name), problem)
}

/// What a query about deliveries says.
pub(super) struct DeliveryQuery {
    pub(super) subscription: Option<Box<str>>,
    pub(super) status: Option<Box<str>>,
    pub(super) cursor: Option<Box<str>>,
    pub(super) limit: usize,
}

/// Reads a query about deliveries.
pub(super) fn delivery_page(uri: &Uri) -> Result<DeliveryQuery, Fault> {
    let parameters = Parameters::of(uri)?;
    parameters.expect_only(&["subscription_id", "status", "cursor", "limit", "offset"])?;
    let text = |name| parameters.get(name).map(Box::from);
    Ok(DeliveryQuery {
        subscription: text("subscription_id"),
        status: text("status"),
        cursor: text("cursor"),
        limit: parameters.uncounted_limit()?,
    })
}

/// After which name to go on, and how many to list. Some clients count pages.
pub(crate) fn named_page(uri: &Uri) -> Result<(Option<Box<str>>, usize), Fault> {
    let parameters = Parameters::of(uri)?;
    let limit = match parameters.get("per_page") {
        Some(_) => parameters.size("per_page", LIMIT_DEFAULT)?,
        None => parameters.listing()?.limit,
    };
    if parameters.number("page", 1, 1..=usize::MAX)? > 1 {
        return Err(fault("page", "only the first page has a number; go on with cursor = next_cursor"));
    }
    parameters.expect_uncounted()?;
    Ok((parameters.get("cursor").map(Box::from), limit))
}

/// Which part of the recurring jobs to show: after a name, or after so many.
pub(crate) fn cron_page(uri: &Uri) -> Result<(Option<Box<str>>, Listing), Fault> {
    let listing = numbered_page(uri)?;
    let parameters = Parameters::of(uri)?;
    let name = if parameters.get("page").is_some() { "page" } else { "offset" };
    let cursor = parameters.get("cursor");
    if cursor.is_some() && listing.offset > 0 {
        return Err(fault(name, "says where to begin, and so does cursor; send only one of them"));
    }
    if listing.offset > CRON_OFFSET_MAX {
        let problem = format_args!("may leave out at most {CRON_OFFSET_MAX} items; go on by cursor");
        return Err(fault(name, problem));
    }
    Ok((cursor.map(Box::from), listing))
}

/// Which part of a short list to show. Some clients count items, others pages.
pub(crate) fn numbered_page(uri: &Uri) -> Result<Listing, Fault> {
    let parameters = Parameters::of(uri)?;
    let Listing { limit, offset } = parameters.listing()?;
    let limit = parameters.size("per_page", limit)?;
    let page = parameters.number("page", 1, 1..=OFFSET_MAX)?;
    Ok(Listing { limit, offset: if page > 1 { (page - 1).saturating_mul(limit) } else { offset } })
}

/// Which part of the history of a job to show.
pub(crate) fn job_history(uri: &Uri) -> Result<Listing, Fault> {
    let parameters = Parameters::of(uri)?;
    let limit = parameters.size("limit", LIMIT_DEFAULT)?;
    let no_cursor = || fault("cursor", "must be the next_cursor of an earlier page");
    let offset = parameters.get("cursor").map(|text| text.parse().map_err(|_| no_cursor())).transpose()?;
    Ok(Listing { limit, offset: offset.unwrap_or(0) })
}

/// After which workflow to go on, and how many to list.
pub(crate) fn workflows(uri: &Uri) -> Result<(Option<WorkflowId>, usize), Fault> {
    let parameters = Parameters::of(uri)?;
    parameters.expect_near(&["cursor", "limit", "offset"])?;
    if let Some(name) = ["state", "status", "name"].into_iter().find(|name| parameters.get(name).is_some()) {
        return Err(fault(name, "is no filter here: all workflows are listed, the oldest first"));
    }
    let cursor = parameters.get("cursor").map(str::parse).transpose();
    let after = cursor.map_err(|_| fault("cursor", "must be the next_cursor of an earlier page"))?;
    Ok((after, parameters.uncounted_limit()?))
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
    let parameters = Parameters::of(uri)?;
    let listing = parameters.listing()?;
    let filter = of_query(&parameters, Age::Ended, now)?;
    let no_cursor = || fault("cursor", "is not a cursor of this list");
    let after = parameters.get("cursor").map(|text| letter_place(text).ok_or_else(no_cursor));
    let queue = filter.queue.clone();
    let is_plain = filter == JobFilter { queue: queue.clone(), ..JobFilter::default() };
    if !is_plain && listing.offset > LETTERS_LOOKED_AT_MAX {
        let problem =
            format_args!("must be at most {LETTERS_LOOKED_AT_MAX} in a list with filters; go on by cursor");
        return Err(fault("offset", problem));
    }
    let query =
        DeadLetterQuery { queue, after: after.transpose()?, offset: listing.offset, limit: listing.limit };
    Ok(LetterWish { query, listing, filter: Some(filter).filter(|_| !is_plain) })
}

/// A place in the list of dead letters: the moment of death and the id.
pub(super) fn letter_place(cursor: &str) -> Option<LetterPlace> {
    let (millis, id) = cursor.split_once('.')?;
    Some((Timestamp::from_millis(millis.parse().ok()?), id.parse().ok()?))
}

/// Which queues to list.
pub(crate) fn queues(uri: &Uri) -> Result<(QueueQuery, Listing), Fault> {
    let parameters = Parameters::of(uri)?;
    let listing = parameters.listing()?;
    let after = parameters.get("cursor").map(QueueName::parse).transpose();
    let after = after.map_err(|_| fault("cursor", "is not a cursor of this list"))?;
    Ok((QueueQuery { after, offset: listing.offset, limit: listing.limit }, listing))
}

/// Which held keys to list.
pub(crate) fn held_keys(uri: &Uri, now: Timestamp) -> Result<HeldQuery, Fault> {
    let parameters = Parameters::of(uri)?;
    parameters.expect_near(&["cursor", "type", "queue", "older_than", "limit", "offset"])?;
    let after = parameters.get("cursor").map(str::parse).transpose();
    Ok(HeldQuery {
        after: after.map_err(|_| fault("cursor", "is not a cursor of this list"))?,
        kind: parameters.get("type").map(JobType::parse).transpose().map_err(|error| fault("type", error))?,
        queue: parameters.queue()?,
        created_before: parameters.span("older_than")?.map(|span| now - span),
        limit: parameters.uncounted_limit()?,
    })
}

/// How long to wait for the end of a job.
pub(crate) fn patience(uri: &Uri) -> Result<Duration, Fault> {
    let parameters = Parameters::of(uri)?;
    let seconds = parameters.number("timeout", RESULT_WAIT_DEFAULT, 0..=RESULT_WAIT_MAX)?;
    match parameters.get("wait") {
        None | Some("false") => Ok(Duration::ZERO),
        Some("true") => Ok(Duration::from_secs(u64::try_from(seconds).unwrap_or_default())),
        Some(_) => Err(fault("wait", "must be true or false")),
    }
}

/// How many of the jobs with one key to show.
pub(crate) fn holders(uri: &Uri) -> Result<usize, Fault> {
    Parameters::of(uri)?.size("limit", HOLDERS_DEFAULT)
}

/// Which events to list.
pub(crate) fn events(uri: &Uri) -> Result<EventQuery, Fault> {
    let parameters = Parameters::of(uri)?;
    parameters.expect_near(&["after", "cursor", "limit", "types", "event_types", "queues", "job_types"])?;
    Ok(EventQuery {
        after: parameters.get("after").or(parameters.get("cursor")).map(str::to_owned),
        filter: parameters.event_filter()?,
        limit: parameters.size("limit", EVENTS_DEFAULT)?,
    })
}
