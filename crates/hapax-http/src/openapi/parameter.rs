//! What may stand in the path, in the query and in headers.

use std::borrow::Cow;

use hapax_broker::ROOM_WAIT_MAX;

use super::shape::{Shape, choice, count, either, flag, integer, list, moment, named, span, text};
use crate::from_wire::bounds::{LIMIT_DEFAULT, LIMIT_MAX, PER_PAGE_DEFAULT};
use crate::limits::IDEMPOTENCY_KEY_BYTES_MAX;

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) about: Cow<'static, str>,
    pub(super) shape: Shape,
}

/// Where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Path,
    Query,
    /// A list in the query, with commas between its items.
    QueryList,
    Header,
}

impl Place {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Place::Path => "path",
            Place::Query | Place::QueryList => "query",
            Place::Header => "header",
        }
    }
}

pub(super) fn query(name: &'static str, about: impl Into<Cow<'static, str>>, shape: Shape) -> Parameter {
    Parameter { name, place: Place::Query, about: about.into(), shape }
}

/// A list of names in the query.
pub(super) fn query_list(name: &'static str, about: &'static str, shape: Shape) -> Parameter {
    Parameter { name, place: Place::QueryList, about: about.into(), shape }
}

fn header(name: &'static str, about: impl Into<Cow<'static, str>>, shape: Shape) -> Parameter {
    Parameter { name, place: Place::Header, about: about.into(), shape }
}

/// What a variable part of a path is, by the part before it and its name. A part that is missing here makes the test of
/// the document fail.
const PATH: &[(&str, &str, &str)] = &[
    ("jobs", "id", "The id of the job."),
    ("checkpoints", "id", "The id of the job."),
    ("dead-letter", "id", "The id of the job."),
    ("agents", "id", "The id of the job."),
    ("keys", "key", "The uniqueness key: 64 lower-case hexadecimal digits."),
    ("job-keys", "key", "The job key, percent-encoded."),
    ("rate-limits", "key", "The key of the rate limit."),
    ("workers", "id", "The name that the worker gave itself."),
    ("queues", "name", "The name of the queue."),
    ("cron", "name", "The name of the recurring job."),
    ("crons", "id", "The name of the recurring job."),
    ("workflows", "id", "The id of the workflow."),
    ("subscriptions", "id", "The id of the subscription."),
    ("deliveries", "id", "The id of the delivery."),
    ("schemas", "name", "The type of the jobs; without a version also the URI of a schema, percent-encoded."),
    ("*", "version", "The version of the schema, such as `2` or `2.0.0`."),
    ("pools", "name", "The name of the pool."),
    ("tenants", "id", "The tenant."),
];

/// The variable parts of a path; an error names one that nobody has described.
pub(super) fn of_path(template: &'static str) -> Result<Vec<Parameter>, &'static str> {
    let segments: Vec<&'static str> = template.split('/').collect();
    let name = |segment: &'static str| segment.strip_prefix('{')?.strip_suffix('}');
    let described = segments.windows(2).filter_map(|pair| {
        let name = name(pair[1])?;
        let is_meant = |row: &&(&str, &str, &str)| (row.0 == pair[0] || row.0 == "*") && row.1 == name;
        let parameter = |row: &(_, _, &'static str)| Parameter {
            name,
            place: Place::Path,
            about: row.2.into(),
            shape: text(),
        };
        Some(PATH.iter().find(is_meant).map(parameter).ok_or(name))
    });
    described.collect()
}

/// The size of a page.
pub(super) fn limit(default: usize) -> Parameter {
    query("limit", page_length(), integer().least(1).default(default))
}

fn page_length() -> String {
    format!("How many to show; more than {LIMIT_MAX} count as {LIMIT_MAX}.")
}

/// Where a page goes on.
pub(super) fn cursor() -> Parameter {
    query("cursor", "`next_cursor` of the page before.", text())
}

/// The size of a page in another word.
pub(super) fn per_page() -> Parameter {
    query("per_page", "The same as `limit`.", integer().least(1))
}

fn page() -> Parameter {
    query("page", "Which page, from 1.", integer().least(1).default(1))
}

/// Which part of a list that is counted.
pub(super) fn counted(offset_max: usize) -> [Parameter; 4] {
    let offset = query("offset", "How many to leave out.", count().most(offset_max).default(0));
    [limit(LIMIT_DEFAULT), per_page(), page(), offset]
}

/// Which part of a list that goes on by cursor alone.
pub(super) fn uncounted(default: usize) -> [Parameter; 5] {
    [
        limit(default),
        per_page(),
        query("page", "Only the first page has a number.", integer().least(1).most(1)),
        query("offset", "This list is not counted: 0.", count().most(0)),
        cursor(),
    ]
}

/// Pages that are counted.
pub(super) fn numbered() -> [Parameter; 5] {
    [
        page(),
        query("offset", "How many to leave out, in place of `page`.", count().default(0)),
        cursor(),
        query("per_page", page_length(), integer().least(1).default(PER_PAGE_DEFAULT)),
        query("limit", "The same as `per_page`.", integer().least(1)),
    ]
}

/// Which jobs are meant.
pub(super) fn job_filter() -> [Parameter; 7] {
    let past = || either([moment(), span()]);
    [
        query("queue", "Of this queue.", text()),
        query_list("state", "In one of these states.", named("State")),
        query("type", "Of this type; a star at its end stands for everything that may follow.", text()),
        query("since", "Not older than this time, or than so long ago.", past()),
        query("until", "Older than this time, or than so long ago.", past()),
        query("worker_id", "Held by this worker.", text()),
        query("error_type", "Whose newest error is of this type.", text()),
    ]
}

/// Which events are meant.
pub(super) fn event_filter() -> [Parameter; 4] {
    [
        query_list("types", "Only events of these kinds.", named("EventKind")),
        query_list("event_types", "The same as `types`.", named("EventKind")),
        query_list("queues", "Only events of these queues.", text()),
        query_list("job_types", "Only events of jobs of these types.", text()),
    ]
}

/// How an answer is waited for.
pub(super) fn wait(about: &'static str) -> Parameter {
    query("wait", about, flag().default(false))
}

/// In which order jobs are listed.
pub(super) fn order() -> [Parameter; 2] {
    sorted_by(&["created_at", "scheduled_at", "priority"], "By what they are put in order.")
}

/// The same of a list that has one order.
pub(super) fn one_order() -> [Parameter; 2] {
    sorted_by(&["created_at"], "This list has no other order.")
}

fn sorted_by(names: &[&'static str], about: &'static str) -> [Parameter; 2] {
    let ways = choice(["desc", "asc"]).default("\"desc\"");
    let names = choice(names.iter().copied()).default("\"created_at\"");
    [query("order", "The newest first (`desc`) or the oldest.", ways), query("sort", about, names)]
}

/// The headers of requests that bring jobs.
pub(super) fn enqueue_headers() -> [Parameter; 3] {
    let key = format!(
        "Repeats of a request with the same key get the first answer; {IDEMPOTENCY_KEY_BYTES_MAX} characters at most."
    );
    [
        header("Idempotency-Key", key, text().chars_max(IDEMPOTENCY_KEY_BYTES_MAX)),
        header(
            "traceparent",
            "The trace to which the jobs belong, of the form of W3C Trace Context.",
            text(),
        ),
        header("tracestate", "Goes with `traceparent`.", text()),
    ]
}

/// For whom a request is sent.
pub(super) fn tenant() -> Parameter {
    header("X-OJS-Tenant", "The tenant for whom the request is sent.", text())
}

/// How long an enqueue may wait for room.
pub(super) fn block_timeout() -> Parameter {
    let most = ROOM_WAIT_MAX.as_secs();
    let about = "How many seconds to wait for room in a full queue whose strategy is `block`.";
    header("OJS-Block-Timeout", about, count().most(most))
}

/// Where a stream goes on.
pub(super) fn last_event() -> [Parameter; 2] {
    [
        header(
            "Last-Event-ID",
            "The id of the last event that was received: tells what happened since.",
            text(),
        ),
        query("last_event_id", "The same, for those who cannot send headers.", text()),
    ]
}

/// The schema of a parameter, as far as it is a list.
pub(super) fn shape_of(parameter: &Parameter) -> Shape {
    match parameter.place {
        Place::QueryList => list(parameter.shape.clone()),
        Place::Path | Place::Query | Place::Header => parameter.shape.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_path_are_described_or_named() {
        let parts = of_path("/ojs/v1/schemas/{name}/{version}").unwrap();
        assert_eq!(parts.iter().map(|part| part.name).collect::<Vec<_>>(), ["name", "version"]);
        assert_eq!(of_path("/ojs/v1/planets/{id}").unwrap_err(), "id");
        assert!(of_path("/health").unwrap().is_empty());
    }
}
