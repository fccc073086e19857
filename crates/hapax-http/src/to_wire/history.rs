//! What is known of the life of a job, as a list of events (Execution History 7.1), and its relatives (7.2).
//!
//! Nothing is written down for this: it is what the stored job says of its own past. What it does not keep is named.

use hapax_broker::{Lineage, Relatives};
use hapax_core::{FAILURES_KEPT, Failure, Job, JobId, Phase, State, Timestamp};
use hapax_wire::failure;
use hapax_wire::writer::{self, Object};

use crate::from_wire::Listing;

/// One thing that happened.
struct Happened<'j> {
    at: Timestamp,
    fact: Fact<'j>,
}

enum Fact<'j> {
    Created,
    Activated,
    Available,
    Started,
    Failed(&'j Failure),
    Progressed,
    CheckpointSaved,
    Completed,
    Cancelled(State),
    Discarded,
}

impl Fact<'_> {
    const fn name(&self) -> &'static str {
        match self {
            Fact::Created => "job.created",
            Fact::Activated | Fact::Available => "job.state_changed",
            Fact::Started => "job.attempt_started",
            Fact::Failed(_) => "job.attempt_failed",
            Fact::Progressed => "job.progress",
            Fact::CheckpointSaved => "job.checkpoint_saved",
            Fact::Completed => "job.attempt_completed",
            Fact::Cancelled(_) => "job.cancelled",
            Fact::Discarded => "job.discarded",
        }
    }

    /// Tells it from others of that moment.
    const fn label(&self) -> &'static str {
        match self {
            Fact::Activated => "job.activated",
            Fact::Available => "job.available",
            _ => self.name(),
        }
    }

    /// Who did it: a worker, a client or the server.
    fn actor(&self, job: &Job) -> &'static str {
        match self {
            // The end of another job let it go.
            Fact::Activated if job.spec.ordering_key.is_some() || job.spec.workflow.is_some() => "system",
            Fact::Created | Fact::Activated | Fact::Cancelled(_) => "client",
            Fact::Started | Fact::Failed(_) | Fact::Progressed | Fact::CheckpointSaved | Fact::Completed => {
                "worker"
            }
            Fact::Available | Fact::Discarded => "system",
        }
    }
}

/// A part of the history of a job.
pub(crate) fn page(job: &Job, listing: Listing) -> Vec<u8> {
    let all = happened(job);
    let Listing { limit, offset } = listing;
    let shown: Vec<&Happened<'_>> = all.iter().skip(offset).take(limit).collect();
    let next = offset + shown.len();
    let mut out = Vec::with_capacity(256 + 256 * shown.len());
    writer::object(&mut out, |o| {
        o.plain("job_id", job.id);
        o.array("events", &shown, |happened, out| writer::object(out, |o| event(o, job, happened)));
        o.number("total", all.len());
        if next < all.len() {
            o.plain("next_cursor", next);
        }
        o.texts("omitted", omitted(job));
    });
    out
}

/// What the job says of its past, the oldest first.
fn happened(job: &Job) -> Vec<Happened<'_>> {
    let mut all = vec![Happened { at: job.created_at, fact: Fact::Created }];
    let mut add = |at: Option<Timestamp>, fact| all.extend(at.map(|at| Happened { at, fact }));
    add(job.activated_at, Fact::Activated);
    add(job.enqueued_at, Fact::Available);
    add(job.started_at, Fact::Started);
    for failure in job.failed_attempts() {
        add(Some(failure.occurred_at), Fact::Failed(failure));
    }
    // The end of a job completes its progress, which is no report.
    let is_completed = job.state() == State::Completed;
    add(
        job.progress.as_ref().filter(|_| !is_completed).map(|progress| progress.updated_at),
        Fact::Progressed,
    );
    add(job.checkpoint.as_ref().map(|checkpoint| checkpoint.saved_at), Fact::CheckpointSaved);
    match &job.phase {
        Phase::Completed { at, .. } => add(Some(*at), Fact::Completed),
        Phase::Cancelled { at, from } => add(Some(*at), Fact::Cancelled(*from)),
        Phase::Discarded { at, .. } => add(Some(*at), Fact::Discarded),
        Phase::Scheduled { .. }
        | Phase::Available { .. }
        | Phase::Pending { .. }
        | Phase::Active { .. }
        | Phase::Retryable { .. } => {}
    }
    // Stable: what happened in one moment stays in the order of a life.
    all.sort_by_key(|happened| happened.at);
    all
}

/// What happened to the job and is not kept.
fn omitted(job: &Job) -> Vec<&'static str> {
    let mut omitted = Vec::new();
    if job.fence > 1 {
        omitted.push("earlier_starts");
    }
    if job.fence > 0 && job.state() != State::Active {
        omitted.push("workers");
    }
    if job.history.entries().len() == FAILURES_KEPT {
        omitted.push("earlier_failures");
    }
    omitted
}

fn event(o: &mut Object<'_>, job: &Job, happened: &Happened<'_>) {
    let Happened { at, fact } = happened;
    let attempt = if let Fact::Failed(failure) = fact { failure.attempt } else { job.attempt };
    o.plain("id", format_args!("{}:{}:{}:{attempt}", job.id, fact.label(), at.millis()));
    o.plain("job_id", job.id);
    o.word("event_type", fact.name());
    o.moment("timestamp", *at);
    o.object("actor", |o| {
        o.word("type", fact.actor(job));
        if let (Fact::Started, Phase::Active { lease, .. }) = (fact, &job.phase) {
            o.text_if("id", lease.worker.as_ref().map(hapax_core::WorkerId::as_str));
        }
    });
    o.object("data", |o| data(o, job, fact));
}

fn data(o: &mut Object<'_>, job: &Job, fact: &Fact<'_>) {
    match fact {
        Fact::Created => {
            // Not the queue: the job may have moved since.
            o.word("type", job.spec.kind.as_str());
            o.number("args_size_bytes", job.spec.args.as_str().len());
            o.text_if("scheduled_at", job.spec.scheduled_at.as_ref().map(|given| &*given.text));
        }
        Fact::Activated => o.word("from", State::Pending.name()),
        Fact::Available => o.word("to", State::Available.name()),
        Fact::Started => o.number("attempt", job.attempt),
        Fact::Failed(entry) => {
            o.number("attempt", entry.attempt);
            o.object("error", |o| failure::members(o, entry));
        }
        Fact::Progressed => {
            let value = job.progress.as_ref().and_then(|progress| progress.value);
            o.number_if("percent", value.map(|value| value.get() * 100.0));
            o.text_if("message", job.progress.as_ref().and_then(|progress| progress.message.as_deref()));
        }
        Fact::CheckpointSaved => {
            o.number_if("sequence", job.checkpoint.as_ref().map(|checkpoint| checkpoint.sequence));
            let size = job.checkpoint.as_ref().map(|checkpoint| checkpoint.state.as_str().len());
            o.number_if("size_bytes", size);
        }
        Fact::Completed => {
            o.number("attempt", job.attempt);
            let span =
                job.started_at.zip(job.phase.finished_at()).map(|(since, at)| at.since(since).as_millis());
            o.number_if("duration_ms", span);
        }
        Fact::Cancelled(from) => o.word("from", from.name()),
        Fact::Discarded => {
            o.number("total_attempts", job.attempt);
            if let Some(last) = job.history.entries().last() {
                o.object("last_error", |o| failure::members(o, last));
            }
        }
    }
}

/// From whom a job comes and who comes from it.
pub(crate) fn lineage(lineage: &Lineage) -> Vec<u8> {
    let Lineage { job, parents, children, root, cron } = lineage;
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.plain("job_id", job.id);
        match parents.ids.first() {
            Some(parent) => o.plain("parent_id", parent),
            None => o.raw("parent_id", "null"),
        }
        o.array("parents", &parents.ids, |id, out| writer::object(out, |o| o.plain("job_id", id)));
        o.number("parents_omitted", parents.omitted);
        o.plain_if("workflow_id", job.spec.workflow);
        match root {
            Some(root) => o.plain("root_id", root),
            None => o.raw("root_id", "null"),
        }
        o.plain_if("waits_for", job.waits_for());
        o.text_if("cron_name", cron.as_deref());
        relatives(o, children);
    });
    out
}

fn relatives(o: &mut Object<'_>, children: &Relatives) {
    o.array("children", &children.ids, |id: &JobId, out| writer::object(out, |o| o.plain("job_id", id)));
    o.number("children_omitted", children.omitted);
}
