//! The queries of lists.

use std::time::Duration;

use axum::extract::Query;
use axum::http::Uri;
use hapax_broker::EventQuery;
use hapax_core::{JobId, JobType, QueueName, Timestamp, parse_iso8601};
use hapax_store::{DeadLetterQuery, HeldQuery, QueueQuery};
use hapax_wire::error::Code;

use super::{Fault, Place};

/// Items of a page unless the query says.
const LIMIT_DEFAULT: usize = 50;
/// Most items of a page.
const LIMIT_MAX: usize = 1000;
/// Events of a page unless the query says (Events 6.4).
const EVENTS_DEFAULT: usize = 100;
/// Jobs with one key that are shown unless the query says.
const HOLDERS_DEFAULT: usize = 100;
/// Furthest place at which a page may start: pages beyond are reached by cursor.
const OFFSET_MAX: usize = 1_000_000;
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
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn of(uri: &Uri) -> Result<Parameters, Fault> {
        let wrong = |_| Fault::new(Place::Member(&Place::Body, "query"), "is not made of name=value pairs");
        Query::try_from_uri(uri).map(|Query(pairs)| Parameters(pairs)).map_err(wrong)
    }

    /// The last value of that name; an empty one counts as absent.
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    fn number(
        &self,
        name: &str,
        default: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, Fault> {
        let Some(text) = self.get(name) else { return Ok(default) };
        let (least, most) = (*range.start(), *range.end());
        text.parse()
            .ok()
            .filter(|number| range.contains(number))
            .ok_or_else(|| fault(name, format_args!("must be an integer from {least} to {most}")))
    }

    fn listing(&self) -> Result<Listing, Fault> {
        let limit = self.number("limit", LIMIT_DEFAULT, 1..=usize::MAX)?.min(LIMIT_MAX);
        Ok(Listing { limit, offset: self.number("offset", 0, 0..=OFFSET_MAX)? })
    }

    fn queue(&self) -> Result<Option<QueueName>, Fault> {
        self.get("queue").map(QueueName::parse).transpose().map_err(|error| fault("queue", error))
    }

    /// A span in whole seconds or as an ISO 8601 duration.
    fn span(&self, name: &str) -> Result<Option<Duration>, Fault> {
        let read = |text: &str| match text.parse() {
            Ok(seconds) => Ok(Duration::from_secs(seconds)),
            Err(_) => parse_iso8601(text).map_err(|error| fault(name, error)),
        };
        self.get(name).map(read).transpose()
    }

    /// The values of a filter: separated by commas, or the parameter given several times.
    fn values(&self, name: &str) -> Result<Vec<String>, Fault> {
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
}

fn fault(name: &str, problem: impl std::fmt::Display) -> Fault {
    Fault::coded(Code::InvalidRequest, Place::Member(&Place::Member(&Place::Body, "query"), name), problem)
}

/// Which dead letters to list.
pub(crate) fn dead_letters(uri: &Uri) -> Result<(DeadLetterQuery, Listing), Fault> {
    let parameters = Parameters::of(uri)?;
    let listing = parameters.listing()?;
    let queue = parameters.queue()?;
    let after = parameters.get("cursor").map(|text| {
        let place = text.split_once('.').and_then(|(millis, id)| {
            Some((Timestamp::from_millis(millis.parse().ok()?), id.parse::<JobId>().ok()?))
        });
        place.ok_or_else(|| fault("cursor", "is not a cursor of this list"))
    });
    let query =
        DeadLetterQuery { queue, after: after.transpose()?, offset: listing.offset, limit: listing.limit };
    Ok((query, listing))
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
    let after = parameters.get("cursor").map(str::parse).transpose();
    Ok(HeldQuery {
        after: after.map_err(|_| fault("cursor", "is not a cursor of this list"))?,
        kind: parameters.get("type").map(JobType::parse).transpose().map_err(|error| fault("type", error))?,
        queue: parameters.queue()?,
        created_before: parameters.span("older_than")?.map(|span| now - span),
        limit: parameters.listing()?.limit,
    })
}

/// How many of the jobs with one key to show.
pub(crate) fn holders(uri: &Uri) -> Result<usize, Fault> {
    Ok(Parameters::of(uri)?.number("limit", HOLDERS_DEFAULT, 1..=usize::MAX)?.min(LIMIT_MAX))
}

/// Which events to list.
pub(crate) fn events(uri: &Uri) -> Result<EventQuery, Fault> {
    let parameters = Parameters::of(uri)?;
    Ok(EventQuery {
        after: parameters.get("after").or(parameters.get("cursor")).map(str::to_owned),
        types: parameters.values("types")?,
        queues: parameters.values("queues")?,
        job_types: parameters.values("job_types")?,
        limit: parameters.number("limit", EVENTS_DEFAULT, 1..=usize::MAX)?.min(LIMIT_MAX),
    })
}
