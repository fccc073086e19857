//! A job in short, for lists of many: what it is and where it stands, without its arguments.

use hapax_core::{Job, Phase};

use crate::job::moments;
use crate::writer::{Object, object};

/// About how many bytes one takes.
pub const LENGTH_ESTIMATE: usize = 512;

/// Longest text of an error that a list shows, in characters.
const MESSAGE_CHARS_MAX: usize = 200;

/// Appends the job in short.
pub fn write(out: &mut Vec<u8>, job: &Job) {
    object(out, |o| members(o, job));
}

fn members(o: &mut Object<'_>, job: &Job) {
    let spec = &job.spec;
    o.plain("id", job.id);
    o.word("type", spec.kind.as_str());
    o.word("queue", spec.queue.as_str());
    o.word("state", job.state().name());
    o.number("priority", spec.priority);
    o.number("attempt", job.attempt);
    o.number("max_attempts", spec.retry.max_attempts);
    o.moment("created_at", job.created_at);
    o.moment_if("enqueued_at", job.enqueued_at);
    o.moment_if("started_at", job.started_at);
    o.text_if("scheduled_at", spec.scheduled_at.as_ref().map(|given| &*given.text));
    moments(o, &job.phase);
    match &job.phase {
        Phase::Active { lease, .. } => {
            o.text_if("worker_id", lease.worker.as_ref().map(hapax_core::WorkerId::as_str));
            o.moment("lease_expires_at", lease.deadline);
        }
        Phase::Discarded { dead_letter, .. } => o.flag("dead_letter", *dead_letter),
        Phase::Scheduled { .. }
        | Phase::Available { .. }
        | Phase::Pending { .. }
        | Phase::Retryable { .. }
        | Phase::Completed { .. }
        | Phase::Cancelled { .. } => {}
    }
    if !spec.tags.is_empty() {
        o.texts("tags", spec.tags.iter().map(|tag| &**tag));
    }
    if let Some(failure) = job.history.current() {
        o.object("error", |o| {
            o.text("type", &failure.kind);
            let message: String = failure.message.chars().take(MESSAGE_CHARS_MAX).collect();
            o.text("message", &message);
        });
    }
}
