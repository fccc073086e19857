//! Which jobs are meant: a filter in a body or in a query.

use hapax_core::{
    JobFilter, KindPattern, MetaMember, StateSet, TimeRange, Timestamp, WorkerId, parse_iso8601,
};

use super::draft::{read_priority, read_queue};
use super::query::{QUERY, Query, fault};
use super::states::{state, states};
use super::{Fault, Given, Place};

/// Members of a filter.
const MEMBERS: &[&str] = &[
    "queue",
    "state",
    "states",
    "type",
    "since",
    "until",
    "enqueued_after",
    "enqueued_before",
    "older_than",
    "priority",
    "error_type",
    "worker_id",
    "meta",
];

/// Most members of metadata that a filter names.
pub(crate) const META_MEMBERS_MAX: usize = 16;

/// What `since` and `until` speak of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Age {
    /// When a job was accepted.
    Created,
    /// When it died.
    Ended,
}

/// Reads a filter. One that names no states means these.
pub(super) fn job_filter(
    given: Given<'_, '_>,
    usual: StateSet,
    age: Age,
    now: Timestamp,
) -> Result<JobFilter, Fault> {
    given.expect_object("an object")?;
    given.expect_only(MEMBERS)?;
    let moment = |name| given.member(name).map(|given| past(given, now)).transpose();
    let range = TimeRange { since: moment("since")?, until: moment("until")? };
    let older = TimeRange { since: None, until: moment("older_than")? };
    let kind = given.member("type").map(|given| kind(given.text("a job type")?, given.place)).transpose()?;
    let mut filter = JobFilter {
        queue: given.member("queue").map(read_queue).transpose()?,
        states: read_states(given)?.unwrap_or(usual),
        kind,
        priority: given.member("priority").map(read_priority).transpose()?,
        enqueued: TimeRange { since: moment("enqueued_after")?, until: moment("enqueued_before")? },
        ended: older,
        worker: given.member("worker_id").map(|given| given.worker()).transpose()?,
        error_type: given
            .member("error_type")
            .map(|given| given.text("the type of an error").map(Box::from))
            .transpose()?,
        meta: given.member("meta").map(meta).transpose()?.unwrap_or_default(),
        ..JobFilter::default()
    };
    match (age, given.member("older_than")) {
        (Age::Created, _) => filter.created = range,
        (Age::Ended, Some(older)) if range.until.is_some() => {
            return Err(Fault::new(older.place, "says the same as until; send one of the two"));
        }
        (Age::Ended, _) => filter.ended = TimeRange { until: range.until.or(older.until), ..range },
    }
    Ok(filter)
}

/// `state` as one name or several, or `states`.
fn read_states(filter: Given<'_, '_>) -> Result<Option<StateSet>, Fault> {
    let given = match (filter.member("state"), filter.member("states")) {
        (Some(_), Some(several)) => {
            return Err(Fault::new(several.place, "says the same as state; send one of the two"));
        }
        (one, several) => one.or(several),
    };
    let Some(given) = given else { return Ok(None) };
    let read = match given.node.as_str() {
        Some(name) => StateSet::of(&[state(name, given.place)?]),
        None => states(given)?,
    };
    if read.is_empty() {
        Err(Fault::new(given.place, "must name at least one state"))
    } else {
        Ok(Some(read))
    }
}

fn kind(text: &str, place: Place<'_>) -> Result<KindPattern, Fault> {
    KindPattern::parse(text).map_err(|error| {
        Fault::new(place, format_args!("{error}; a star at the end stands for everything that may follow"))
    })
}

fn meta(given: Given<'_, '_>) -> Result<Vec<MetaMember>, Fault> {
    given.expect_object("an object")?;
    let members = given.node.as_object().unwrap_or_default();
    if members.len() > META_MEMBERS_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {META_MEMBERS_MAX} members")));
    }
    let member = |member: &hapax_core::json::Member<'_>| {
        MetaMember::new(&member.name, &member.node)
            .map_err(|error| Fault::new(Place::Member(&given.place, &member.name), error))
    };
    members.iter().map(member).collect()
}

/// A moment that may be given by how long ago it is.
pub(super) fn past(given: Given<'_, '_>, now: Timestamp) -> Result<Timestamp, Fault> {
    past_text(given.text(PAST)?, now, given.place)
}

/// Every form in which a moment may be given.
const PAST: &str =
    "a time of RFC 3339 such as 2026-03-01T09:30:00Z, or how long ago it is, such as PT1H or P7D";
/// Most characters of a text that is none of them that the message repeats.
const SHOWN_CHARS_MAX: usize = 40;

fn past_text(text: &str, now: Timestamp, place: Place<'_>) -> Result<Timestamp, Fault> {
    if let Ok(span) = parse_iso8601(text) {
        return Ok(now - span);
    }
    Timestamp::parse(text).map_err(|_| {
        let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
        Fault::new(place, format_args!("must be {PAST}, not {shown:?}"))
    })
}

/// Reads `since` and `until` from a query.
pub(super) fn time_range(query: &Query, now: Timestamp) -> Result<TimeRange, Fault> {
    Ok(TimeRange { since: moment(query, "since", now)?, until: moment(query, "until", now)? })
}

/// Reads a moment from a query, which may be given by how long ago it is.
pub(super) fn moment(query: &Query, name: &'static str, now: Timestamp) -> Result<Option<Timestamp>, Fault> {
    let read = |text| past_text(text, now, Place::Member(&QUERY, name));
    query.get(name).map(read).transpose()
}

/// Reads a filter from a query.
pub(super) fn of_query(query: &Query, age: Age, now: Timestamp) -> Result<JobFilter, Fault> {
    let kind = |text| kind(text, Place::Member(&QUERY, "type"));
    let worker =
        |text| WorkerId::parse(text).ok_or_else(|| fault("worker_id", "is not the name of a worker"));
    let names = query.values("state")?;
    let states: Result<StateSet, Fault> =
        names.iter().map(|name| state(name, Place::Member(&QUERY, "state"))).collect();
    let states = states?;
    let filter = JobFilter {
        queue: query.queue()?,
        states: if states.is_empty() { StateSet::ALL } else { states },
        kind: query.get("type").map(kind).transpose()?,
        worker: query.get("worker_id").map(worker).transpose()?,
        error_type: query.get("error_type").map(Box::from),
        ..JobFilter::default()
    };
    let range = time_range(query, now)?;
    Ok(match age {
        Age::Created => JobFilter { created: range, ..filter },
        Age::Ended => JobFilter { ended: range, ..filter },
    })
}
