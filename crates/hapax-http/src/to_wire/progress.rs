//! How far jobs and workflows have come.

use axum::http::{HeaderName, HeaderValue, header};
use hapax_broker::WorkflowView;
use hapax_core::workflow::Mark;
use hapax_core::{Checkpoint, Fraction, Job, JobId, Json, Progress, State};
use hapax_wire::job;
use hapax_wire::writer::{self, Object};

use super::workflow::state;
use crate::reply::Reply;

/// The number alone, for who does not want to read a body (Progress 10.3).
const PROGRESS: HeaderName = HeaderName::from_static("x-ojs-progress");

/// How far a job has come. Nothing reported yet is null, for a missing job is answered otherwise.
pub(crate) fn of_job(job: &Job) -> Reply {
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| members(o, job));
    with_headers(Reply::ok(out), job.progress.as_ref().and_then(|progress| progress.value))
}

/// The same, as members of an object.
pub(crate) fn members(o: &mut Object<'_>, job: &Job) {
    let progress = job.progress.as_ref();
    o.plain("job_id", job.id);
    o.word("state", job.state().name());
    o.number("attempt", job.attempt);
    number(o, progress.and_then(|progress| progress.value));
    let data = progress.and_then(|progress| progress.data.as_ref());
    o.raw("data", data.map_or("null", Json::as_str));
    match progress.and_then(|progress| progress.message.as_deref()) {
        Some(message) => o.text("message", message),
        None => o.raw("message", "null"),
    }
    match progress {
        Some(Progress { updated_at, .. }) => o.moment("updated_at", *updated_at),
        None => o.raw("updated_at", "null"),
    }
}

/// How far a workflow has come: the mean of its steps, of which one that is done counts whole.
pub(crate) fn of_workflow(view: &WorkflowView) -> Reply {
    let WorkflowView { workflow, steps, jobs, replaced: _ } = view;
    let share = |index: u32| match workflow.marks.get(index as usize) {
        Some(Mark::Completed) => Some(Fraction::ALL),
        _ => jobs.get(&index).and_then(|job| job.progress.as_ref()).and_then(|progress| progress.value),
    };
    let counted = || (0..).take(workflow.marks.len()).filter(|index| !workflow.is_callback(*index));
    let done: f64 = counted().filter_map(share).map(Fraction::get).sum();
    let value =
        Fraction::clamped(done / f64::from(u32::try_from(counted().count().max(1)).unwrap_or(u32::MAX)));
    let mut out = Vec::with_capacity(256 + 160 * steps.len());
    writer::object(&mut out, |o| {
        o.plain("workflow_id", workflow.id);
        o.word("type", workflow.form.name());
        o.word("state", workflow.state.name());
        number(o, Some(value));
        o.number(State::Completed.name(), workflow.count(Mark::Completed));
        o.number("total", workflow.jobs());
        let indexes: Vec<u32> = (0..).take(workflow.marks.len()).collect();
        o.array("steps", &indexes, |index, out| {
            writer::object(out, |o| {
                let mark = workflow.marks.get(*index as usize).copied().unwrap_or(Mark::Waiting);
                let job = jobs.get(index);
                let (name, kind) = steps.get(*index as usize).map_or(("", ""), |(name, kind)| (name, kind));
                o.text("id", name);
                o.plain("job_id", workflow.id.job(*index));
                o.text("type", kind);
                o.word("state", state(mark, job));
                number(o, share(*index));
                let data =
                    job.and_then(|job| job.progress.as_ref()).and_then(|progress| progress.data.as_ref());
                if let Some(data) = data {
                    o.raw("data", data.as_str());
                }
            });
        });
    });
    with_headers(Reply::ok(out), Some(value))
}

/// A checkpoint, in a wrapper and flat: one document reads the one, the suite the other.
pub(crate) fn checkpoint(id: JobId, checkpoint: &Checkpoint) -> Vec<u8> {
    let mut out = Vec::with_capacity(256 + 2 * checkpoint.state.as_str().len());
    writer::object(&mut out, |o| {
        o.twice("checkpoint", |o| {
            o.plain("job_id", id);
            job::checkpoint(o, checkpoint);
        });
    });
    out
}

/// The answer to who saved one, who knows its state.
pub(crate) fn checkpoint_saved(id: JobId, checkpoint: &Checkpoint) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.twice("checkpoint", |o| {
            o.plain("job_id", id);
            job::checkpoint_facts(o, checkpoint);
        });
    });
    out
}

/// The answer to who dropped one, whether or not it was there.
pub(crate) fn checkpoint_deleted(id: JobId, was_there: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(96);
    writer::object(&mut out, |o| {
        o.flag("deleted", was_there);
        o.plain("job_id", id);
    });
    out
}

/// The answer to who wants to go on, as the JavaScript and Python SDKs read it.
pub(crate) fn resume(id: JobId, checkpoint: Option<&Checkpoint>) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.plain("job_id", id);
        o.flag("has_checkpoint", checkpoint.is_some());
        match checkpoint {
            Some(checkpoint) => o.object("checkpoint", |o| {
                o.plain("job_id", id);
                job::checkpoint(o, checkpoint);
            }),
            None => o.raw("checkpoint", "null"),
        }
    });
    out
}

fn number(o: &mut Object<'_>, value: Option<Fraction>) {
    match value {
        Some(value) => o.number("progress", value.get()),
        None => o.raw("progress", "null"),
    }
}

fn with_headers(reply: Reply, value: Option<Fraction>) -> Reply {
    let reply = reply.with(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    match value.and_then(|value| HeaderValue::from_str(&value.get().to_string()).ok()) {
        Some(value) => reply.with(PROGRESS, value),
        None => reply,
    }
}
