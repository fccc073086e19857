//! What a listener wants to hear.

use axum::http::{HeaderMap, HeaderName, Uri};
use hapax_broker::{Channel, EventFilter};
use hapax_core::QueueName;

use super::page::event_filter;
use super::query::{QUERY, Query, fault, read_open_query};
use super::{Fault, Place};
use crate::call::job_id;
use crate::problem::Problem;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What a listener wants to hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listening {
    /// Of what.
    pub(crate) channel: Channel,
    /// What of it.
    pub(crate) filter: EventFilter,
    /// From where on, as text: a cursor that nobody knows is answered with a gap, not refused.
    pub(crate) after: Option<String>,
}

/// Reads what a stream is to carry. The channel is that of the path, or that of the query, or everything.
pub(crate) fn listening(
    channel: Option<Channel>,
    uri: &Uri,
    headers: Option<&HeaderMap>,
) -> Result<Listening, Problem> {
    read_open_query(uri, |query| {
        let channel = match (channel, query.get("channel")) {
            (Some(channel), Some(text)) if text != channel.to_string() => {
                return Err(fault("channel", "contradicts the path, which says what is listened to").into());
            }
            (Some(channel), _) => channel,
            (None, Some(text)) => read_channel(text, Place::Member(&QUERY, "channel"))?,
            (None, None) => Channel::All,
        };
        // A browser that comes back sends the header, and the address it was first given: the header is newer.
        let first = query.get("last_event_id");
        let after = last_event_id(query, headers).or(first);
        Ok(Listening { channel, filter: event_filter(query)?, after: after.map(str::to_owned) })
    })
}

/// What chooses among the events of a stream.
const CHOICES: [&str; 5] = ["channel", "types", "event_types", "queues", "job_types"];

/// Reads what comes with the wish to watch a job, of which nothing can be chosen: the name of the last event that the
/// client heard.
pub(crate) fn watching(uri: &Uri, headers: Option<&HeaderMap>) -> Result<Option<String>, Fault> {
    read_open_query(uri, |query| {
        expect_no_choice(query, "chooses nothing here; GET /ojs/v1/jobs/{id}/events has such a filter")?;
        Ok(last_event_id(query, headers).map(str::to_owned))
    })
}

/// Reads what comes with the wish to be told of everything that a dashboard shows; the same name.
pub(crate) fn overview(uri: &Uri, headers: Option<&HeaderMap>) -> Result<Option<String>, Fault> {
    read_open_query(uri, |query| {
        expect_no_choice(query, "chooses nothing here; GET /ojs/v1/events/stream has such a filter")?;
        let first = query.get("last_event_id");
        Ok(last_event_id(query, headers).or(first).map(str::to_owned))
    })
}

/// Refuses what a client would have to say in a message.
pub(crate) fn no_choice_yet(uri: &Uri) -> Result<(), Fault> {
    const INSTEAD: &str = "does nothing here; say it in a message with the action subscribe";
    read_open_query(uri, |query| {
        expect_no_choice(query, INSTEAD)?;
        query.get("last_event_id").map_or(Ok(()), |_| Err(fault("last_event_id", INSTEAD)))
    })
}

fn expect_no_choice(query: &Query, instead: &str) -> Result<(), Fault> {
    // All of them are looked for, so that near misses of all are known.
    let given = CHOICES.map(|name| query.get(name).map(|_| name));
    given.into_iter().flatten().next().map_or(Ok(()), |name| Err(fault(name, instead)))
}

/// The name of the last event that a client heard.
fn last_event_id<'q>(query: &'q Query, headers: Option<&'q HeaderMap>) -> Option<&'q str> {
    // What stands in for EventSource in older browsers can send no header, and adds this to the address.
    let added = query.get("lastEventId");
    let header = headers.and_then(|headers| headers.get(LAST_EVENT_ID)?.to_str().ok()).map(str::trim);
    header.filter(|text| !text.is_empty()).or(added)
}

/// Reads the name of a channel. One of a job that cannot be is that of a missing job.
pub(crate) fn read_channel(text: &str, place: Place<'_>) -> Result<Channel, Problem> {
    match text.split_once(':') {
        None if text == "all" => Ok(Channel::All),
        Some(("job", id)) => Ok(Channel::Job(job_id(id)?)),
        Some(("queue", name)) => {
            Ok(Channel::Queue(QueueName::parse(name).map_err(|error| Fault::new(place, error))?))
        }
        _ => Err(Fault::new(place, "must be job:{id}, queue:{name} or all").into()),
    }
}
