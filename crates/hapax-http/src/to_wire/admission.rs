//! What became of incoming jobs.

use axum::http::{HeaderName, HeaderValue, StatusCode};
use hapax_core::{Admission, QueueSettings, Verdict};
use hapax_store::{Answer, Done};
use hapax_wire::error::Code;
use hapax_wire::job;
use hapax_wire::writer::{self, Object};

use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_id::RequestId;

/// How many jobs wait in a queue that takes only so many.
pub(crate) const QUEUE_DEPTH: HeaderName = HeaderName::from_static("x-ojs-queue-depth");
/// How many may.
pub(crate) const QUEUE_BOUND: HeaderName = HeaderName::from_static("x-ojs-queue-bound");
/// How full it is.
const QUEUE_PRESSURE: HeaderName = HeaderName::from_static("x-ojs-queue-pressure");

/// The answer to one job.
pub(crate) fn one(admission: &Admission) -> Reply {
    let mut out = Vec::with_capacity(job::length_estimate(&admission.job));
    writer::object(&mut out, |o| {
        o.object("job", |o| job::members(o, &admission.job));
        outcome(o, &admission.verdict);
    });
    Reply::json(status(admission.verdict.is_new()), out).at_job(admission.job.id)
}

/// How many like it may start in a window (Rate Limiting 10.4).
const RATE_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");

/// With how many like the job may start in a window, if that is limited.
pub(crate) fn with_rate(reply: Reply, admission: &Admission) -> Reply {
    match admission.job.spec.rate_limit.as_deref().and_then(|limit| limit.limits.rate) {
        Some(pace) => reply.with(RATE_LIMIT, pace.limit().into()),
        None => reply,
    }
}

/// With a warning that the queue fills up, if it does.
pub(crate) fn under_pressure(reply: Reply, admission: &Admission, settings: Option<&QueueSettings>) -> Reply {
    let pressed = settings.zip(admission.depth).filter(|(settings, depth)| settings.is_pressed(*depth));
    let Some((depth, bound)) = pressed.and_then(|(settings, depth)| Some((depth, settings.bound()?))) else {
        return reply;
    };
    #[expect(clippy::cast_precision_loss, reason = "two digits are shown")]
    let pressure = depth as f64 / bound.max as f64;
    reply.with(QUEUE_DEPTH, depth.into()).with(QUEUE_BOUND, bound.max.into()).with(
        QUEUE_PRESSURE,
        HeaderValue::try_from(format!("{pressure:.2}")).unwrap_or(HeaderValue::from_static("1")),
    )
}

/// The answer to a batch.
pub(crate) fn many(admissions: &[Admission]) -> Reply {
    let length = admissions.iter().map(|admission| job::length_estimate(&admission.job) + 32).sum();
    let mut out = Vec::with_capacity(length);
    writer::object(&mut out, |o| {
        o.array("jobs", admissions, |admission, out| writer::object(out, |o| shown(o, admission)));
        o.number("count", admissions.len());
        o.array("outcomes", admissions, |admission, out| {
            writer::object(out, |o| outcome(o, &admission.verdict));
        });
    });
    Reply::json(status(admissions.iter().any(|admission| admission.verdict.is_new())), out)
}

/// The job as far as there is room for it.
pub(super) fn shown(o: &mut Object<'_>, admission: &Admission) {
    if admission.is_abridged { job::abridged(o, &admission.job) } else { job::members(o, &admission.job) }
}

fn status(is_new: bool) -> StatusCode {
    if is_new { StatusCode::CREATED } else { StatusCode::OK }
}

/// What became of the job, in all that says it.
pub(super) fn outcome(o: &mut Object<'_>, verdict: &Verdict) {
    o.word("outcome", verdict.name());
    match verdict {
        Verdict::Created | Verdict::Rejected => {}
        Verdict::Replaced(ids) => o.array("replaced", ids, |id, out| writer::plain(out, id)),
        Verdict::Existing => o.flag("deduplicated", true),
        Verdict::Updated(fields) => {
            o.flag("deduplicated", true);
            o.words("updated", fields.iter().copied());
        }
    }
}

/// The answer of a store to a single job or a batch, as the client gets it.
pub(crate) fn reply(answer: &Answer, id: &RequestId) -> Reply {
    match answer {
        Ok(Done::Enqueued(admission)) => match admission.refusal() {
            Some(refusal) => Problem::from(refusal).reply(id),
            None => one(admission),
        },
        Ok(Done::EnqueuedAll(admissions)) => many(admissions),
        Err(refusal) => Problem::from(refusal.clone()).reply(id),
        Ok(
            Done::EnqueuedEach(_)
            | Done::Remembered(_)
            | Done::Stepped(_)
            | Done::SteppedHolders(_)
            | Done::Edited { .. }
            | Done::EditedTogether(_)
            | Done::CronRan(_)
            | Done::WorkflowStarted(_)
            | Done::WorkflowCancelled(_)
            | Done::Queue(_)
            | Done::QueueRemoved(_),
        ) => another_question().reply(id),
    }
}

/// A store that answers something else than was asked has a defect.
pub(super) fn another_question() -> Problem {
    Problem::new(Code::Internal, "the server has a defect: the store answered another question")
}
