//! Bodies that ask for something to be done about many jobs.

use hapax_broker::{BULK_MAX, Deed, LetterPlace};
use hapax_core::json::Node;
use hapax_core::{JobFilter, JobId, QueueName, State, StateSet, TimeRange, Timestamp};
use hapax_wire::error::Code;
use hapax_wire::writer;

use super::job_filter::{Age, job_filter, past};
use super::page::letter_place;
use super::states::states;
use super::{Fault, Given, Place};

/// Jobs that a filter describes.
#[derive(Debug)]
pub(crate) struct Described<P> {
    /// Which.
    pub(crate) filter: JobFilter,
    /// Behind which place to go on.
    pub(crate) after: Option<P>,
    /// Whether they are only to be counted.
    pub(crate) dry_run: bool,
}

/// Jobs that a client names, or describes.
#[derive(Debug)]
pub(crate) enum Targets {
    /// By their ids, as texts: one that no job can have is not found.
    Named(Vec<Box<str>>),
    /// By what they are.
    Described(Described<JobId>),
}

/// In which states an operator means jobs that the filter does not say more about: all to which it can happen.
fn usual_for_operators(deed: Deed) -> StateSet {
    match deed {
        Deed::Cancel => StateSet::INCOMPLETE,
        Deed::Retry | Deed::Revive | Deed::Forget => StateSet::of(&[State::Discarded]),
        Deed::Delete => StateSet::ENDED,
    }
}

/// The same for clients: to call off what a worker has begun, they have to say so (Bulk Operations 6.1).
fn usual_for_clients(deed: Deed) -> StateSet {
    match deed {
        Deed::Cancel => StateSet::of(&[State::Available, State::Scheduled]),
        Deed::Retry | Deed::Revive | Deed::Forget | Deed::Delete => usual_for_operators(deed),
    }
}

/// Reads the body of an operator's deed: `{filter, confirm, dry_run, cursor}`.
pub(crate) fn operators_deed(body: &Node<'_>, deed: Deed, now: Timestamp) -> Result<Described<JobId>, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["filter", "confirm", "dry_run", "cursor"])?;
    let dry_run = confirmed(&body)?;
    let filter = body.required("filter", "which jobs are meant, such as {\"state\": \"discarded\"}")?;
    let filter = job_filter(filter, usual_for_operators(deed), Age::Created, now)?;
    Ok(Described { filter, after: cursor(&body, |text| text.parse().ok())?, dry_run })
}

/// Reads the body of a client's deed: `{job_ids}` or `{filter, dry_run, cursor}`.
pub(crate) fn clients_deed(body: &Node<'_>, deed: Deed, now: Timestamp) -> Result<Targets, Fault> {
    let body = Given::body(body)?;
    if let Some(given) = body.member("idempotency_key") {
        return Err(Fault::unsupported(
            given.place,
            "remembered answers to this: doing it twice is doing it once",
        ));
    }
    body.expect_only(&["job_ids", "filter", "atomicity", "dry_run", "cursor"])?;
    partial(&body)?;
    match (body.member("job_ids"), body.member("filter")) {
        (Some(given), None) => {
            for name in ["dry_run", "cursor"] {
                if let Some(other) = body.member(name) {
                    return Err(Fault::new(other.place, "goes with a filter, not with job_ids"));
                }
            }
            names(given).map(Targets::Named)
        }
        (None, Some(given)) => {
            let filter = job_filter(given, usual_for_clients(deed), Age::Created, now)?;
            if given.node.as_object().is_none_or(<[_]>::is_empty) {
                return Err(Fault::new(given.place, "must say something about the jobs that are meant"));
            }
            let dry_run = body.member("dry_run").map_or(Ok(false), |given| given.flag())?;
            let after = cursor(&body, |text| text.parse().ok())?;
            Ok(Targets::Described(Described { filter, after, dry_run }))
        }
        (Some(_), Some(given)) => Err(Fault::new(given.place, "contradicts job_ids; send one of the two")),
        (None, None) => {
            Err(Fault::missing(Place::Member(&Place::Body, "job_ids"), "the ids of the jobs, or a filter"))
        }
    }
}

/// Each job is decided for itself; nothing else can be promised about many.
fn partial(body: &Given<'_, '_>) -> Result<(), Fault> {
    let Some(given) = body.member("atomicity") else { return Ok(()) };
    match given.text("\"partial\"")? {
        "partial" => Ok(()),
        "atomic" => {
            Err(Fault::unsupported(given.place, "all or nothing here; each job is decided for itself"))
        }
        other => Err(Fault::unknown(given.place, "atomicity", other, &["partial", "atomic"])),
    }
}

fn names(given: Given<'_, '_>) -> Result<Vec<Box<str>>, Fault> {
    let count = given.node.as_array().map_or(0, <[_]>::len);
    if count > BULK_MAX {
        let mut details = Vec::new();
        writer::object(&mut details, |o| {
            o.text("field", "job_ids");
            o.number("max_batch_size", BULK_MAX);
        });
        let message = format!("job_ids: names {count} jobs; at most {BULK_MAX} are taken at a time");
        return Err(Fault::of_body(Code::BatchTooLarge, message, details));
    }
    if count == 0 && given.node.as_array().is_some() {
        return Err(Fault::new(given.place, "must name at least one job"));
    }
    given.items("an array of job ids")?.map(|item| item.text("a job id").map(Box::from)).collect()
}

/// Reads the body of a deed on dead letters: `{filter, older_than, confirm, dry_run, cursor}`. What a filter may say may also
/// stand beside it.
pub(crate) fn letters_deed(body: Option<&Node<'_>>, now: Timestamp) -> Result<Described<LetterPlace>, Fault> {
    let Some(body) = body else { return Err(unconfirmed()) };
    let body = Given::body(body)?;
    body.expect_only(&["filter", "older_than", "confirm", "dry_run", "cursor"])?;
    let dry_run = confirmed(&body)?;
    let letters = usual_for_operators(Deed::Revive);
    let filter =
        body.member("filter").map(|given| job_filter(given, letters, Age::Ended, now)).transpose()?;
    let mut filter = filter.unwrap_or(JobFilter { states: letters, ..JobFilter::default() });
    filter.dead_letters_only = true;
    if let Some(given) = body.member("older_than") {
        if filter.ended.until.is_some() {
            return Err(Fault::new(given.place, "stands in the filter, too; send one of the two"));
        }
        filter.ended.until = Some(past(given, now)?);
    }
    Ok(Described { filter, after: cursor(&body, letter_place)?, dry_run })
}

/// Reads what to remove from a queue: `{states, older_than, confirm, dry_run, cursor}`.
pub(crate) fn purge(
    body: Option<&Node<'_>>,
    queue: QueueName,
    now: Timestamp,
) -> Result<Described<JobId>, Fault> {
    let Some(body) = body else { return Err(unconfirmed()) };
    let body = Given::body(body)?;
    body.expect_only(&["states", "older_than", "confirm", "dry_run", "cursor"])?;
    let dry_run = confirmed(&body)?;
    let given = body.required("states", "the states of the jobs to remove, such as [\"completed\"]")?;
    let states = states(given)?;
    if states.is_empty() {
        return Err(Fault::new(given.place, "must name at least one state"));
    }
    if let Some(live) = states.iter().find(|state| !state.is_terminal()) {
        let problem = format_args!("a job that is {live} has not ended; cancel such jobs first");
        return Err(Fault::new(given.place, problem));
    }
    let until = body.member("older_than").map(|given| past(given, now)).transpose()?;
    let ended = TimeRange { since: None, until };
    let filter = JobFilter { queue: Some(queue), states, ended, ..JobFilter::default() };
    Ok(Described { filter, after: cursor(&body, |text| text.parse().ok())?, dry_run })
}

/// Whether it is only a question; if not, somebody has to mean it.
fn confirmed(body: &Given<'_, '_>) -> Result<bool, Fault> {
    let dry_run = body.member("dry_run").map_or(Ok(false), |given| given.flag())?;
    let is_meant = body.member("confirm").map_or(Ok(false), |given| given.flag())?;
    if dry_run || is_meant { Ok(dry_run) } else { Err(unconfirmed()) }
}

fn unconfirmed() -> Fault {
    let place = Place::Member(&Place::Body, "confirm");
    Fault::new(place, "must be true, since this changes many jobs at once; dry_run: true only counts them")
}

fn cursor<P>(body: &Given<'_, '_>, read: impl Fn(&str) -> Option<P>) -> Result<Option<P>, Fault> {
    let Some(given) = body.member("cursor") else { return Ok(None) };
    let place = read(given.text("the next_cursor of an earlier answer")?);
    place.map(Some).ok_or_else(|| Fault::new(given.place, "is not the next_cursor of an earlier answer"))
}
