//! What a worker says about itself, in heartbeats and when it registers.

use hapax_broker::Report;
use hapax_core::json::Node;
use hapax_core::{Json, Timestamp, WorkerId};

use super::draft::read_queue;
use super::{Fault, Given};

/// Longest text of a fact, in characters.
const TEXT_CHARS_MAX: usize = 255;
/// Most queues of a worker that are noted.
const QUEUES_MAX: usize = 256;
/// Largest object of labels.
const LABELS_BYTES_MAX: usize = 4096;

/// What a worker may say about itself.
pub(super) const FACTS: &[&str] = &[
    "active_jobs",
    "concurrency",
    "hostname",
    "labels",
    "metadata",
    "pid",
    "queues",
    "started_at",
    "state",
    "version",
    "worker_id",
];

/// Reads a registration.
pub(crate) fn registration(body: &Node<'_>) -> Result<(WorkerId, Report), Fault> {
    let body = Given::body(body)?;
    body.refuse_near_misses(FACTS)?;
    let worker = body.required("worker_id", "the name of the worker")?.worker()?;
    Ok((worker, report(&body)?))
}

/// Reads what a worker says about itself. Members that it does not know are let pass: SDKs send facts of their own.
pub(super) fn report(body: &Given<'_, '_>) -> Result<Report, Fault> {
    let labels = match body.member("labels") {
        Some(labels) => Some(labels),
        None => body.member("metadata"),
    };
    // The JavaScript SDK sends how many jobs it works on, the others which.
    let active_jobs = body.member("active_jobs").and_then(|given| match given.node.as_array() {
        Some(items) => u64::try_from(items.len()).ok(),
        None => given.node.as_i64().and_then(|number| u64::try_from(number).ok()),
    });
    Ok(Report {
        hostname: body.member("hostname").map(text).transpose()?,
        pid: body.member("pid").map(number).transpose()?,
        queues: body.member("queues").map(queues).transpose()?,
        concurrency: body.member("concurrency").map(number).transpose()?,
        version: body.member("version").map(text).transpose()?,
        labels: labels.map(facts).transpose()?,
        started_at: body.member("started_at").map(moment).transpose()?,
        active_jobs,
        state: body.member("state").map(text).transpose()?,
    })
}

fn text(given: Given<'_, '_>) -> Result<Box<str>, Fault> {
    let text = given.text("a string")?;
    if text.chars().count() > TEXT_CHARS_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {TEXT_CHARS_MAX} characters")));
    }
    Ok(text.into())
}

/// A list of words or an object.
fn facts(given: Given<'_, '_>) -> Result<Json, Fault> {
    if given.node.raw.len() > LABELS_BYTES_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {LABELS_BYTES_MAX} bytes")));
    }
    Ok(given.node.to_json())
}

fn number(given: Given<'_, '_>) -> Result<u64, Fault> {
    given.integer(0, i64::MAX).map(i64::unsigned_abs)
}

fn queues(given: Given<'_, '_>) -> Result<Vec<hapax_core::QueueName>, Fault> {
    if given.node.as_array().is_some_and(|items| items.len() > QUEUES_MAX) {
        return Err(Fault::new(given.place, format_args!("must name at most {QUEUES_MAX} queues")));
    }
    given.items("an array of queues")?.map(read_queue).collect()
}

fn moment(given: Given<'_, '_>) -> Result<Timestamp, Fault> {
    let text = given.text("an RFC 3339 time")?;
    Timestamp::parse(text).map_err(|error| Fault::new(given.place, error))
}
