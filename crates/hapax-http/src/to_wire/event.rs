//! Events, with every name under which one of the documents looks for a member.

use hapax_broker::{CancelledBy, EventError, EventPage, JobEvent, JobFact, News};
use hapax_core::WorkerId;
use hapax_wire::error::RETRYABLE;
use hapax_wire::writer::{self, Object};

/// A page of events.
pub(crate) fn page(page: &EventPage) -> Vec<u8> {
    let EventPage { events, cursor, has_more, gap } = page;
    let mut out = Vec::with_capacity(64 + 640 * events.len());
    writer::object(&mut out, |o| {
        o.array("events", events, |event, out| writer::object(out, |o| members(o, event)));
        o.plain("cursor", cursor);
        o.flag("has_more", *has_more);
        o.flag("gap", *gap);
    });
    out
}

fn members(o: &mut Object<'_>, event: &JobEvent) {
    let JobEvent { seq: _, id, at, queue, news } = event;
    let kind = event.kind().name();
    o.text("specversion", "1.0");
    o.plain("id", id);
    o.text("type", kind);
    o.text("source", "ojs://hapax");
    o.moment("time", *at);
    // The Python SDK reads these two names for the type and the time.
    o.text("event", kind);
    o.moment("timestamp", *at);
    o.plain("queue", queue);
    match news {
        News::Job { id, job_type, state, fact } => {
            o.plain("subject", id);
            o.plain("job_id", id);
            o.text("state", state.name());
            o.object("data", |o| {
                o.plain("job_id", id);
                o.plain("job_type", job_type);
                o.plain("queue", queue);
                data(o, fact, event);
            });
        }
        News::QueuePaused | News::QueueResumed => {
            o.plain("subject", queue);
            o.object("data", |o| o.plain("queue", queue));
        }
    }
}

/// The members of `data` that belong to the kind of event (Events 4.1).
fn data(o: &mut Object<'_>, fact: &JobFact, event: &JobEvent) {
    match fact {
        JobFact::Enqueued { priority, scheduled_at, key } => {
            o.number("priority", priority);
            o.moment_if("scheduled_at", *scheduled_at);
            o.plain_if("unique_key", *key);
        }
        JobFact::Started { worker, attempt, waited } => {
            o.text_if("worker_id", worker.as_ref().map(WorkerId::as_str));
            o.number("attempt", attempt);
            o.number("wait_ms", waited.as_millis());
        }
        JobFact::Completed { attempt, duration, result } => {
            o.number("duration_ms", duration.as_millis());
            o.number("attempt", attempt);
            if let Some(result) = result {
                o.raw("result", result.as_str());
            }
        }
        JobFact::Failed { attempt, duration, error } => {
            o.number("attempt", attempt);
            o.number_if("duration_ms", duration.map(|duration| duration.as_millis()));
            o.object("error", |o| cause(o, error));
        }
        JobFact::Retrying { attempt, max_attempts, next_retry_at, error } => {
            o.number("attempt", attempt);
            o.number("max_attempts", max_attempts);
            o.moment("next_retry_at", *next_retry_at);
            o.object("error", |o| cause(o, error));
        }
        JobFact::Discarded { total_attempts, last_error } => {
            o.number("total_attempts", total_attempts);
            o.object("last_error", |o| cause(o, last_error));
        }
        JobFact::Cancelled { from, by } => {
            o.text("previous_state", from.name());
            o.text("cancelled_by", by_whom(*by));
        }
        JobFact::Heartbeat { worker, attempt, visible_until } => {
            o.text_if("worker_id", worker.as_ref().map(WorkerId::as_str));
            o.number("attempt", attempt);
            o.moment("visible_until", *visible_until);
        }
        JobFact::Scheduled { scheduled_at } => o.moment("scheduled_at", *scheduled_at),
        JobFact::Expired { created_at, ttl } => {
            o.moment("created_at", *created_at);
            o.moment("expired_at", event.at);
            o.number("ttl_ms", ttl.as_millis());
        }
    }
}

fn cause(o: &mut Object<'_>, error: &EventError) {
    let EventError { code, message, retryable } = error;
    o.text("code", code);
    o.text("message", message);
    o.flag(RETRYABLE, *retryable);
}

const fn by_whom(by: CancelledBy) -> &'static str {
    match by {
        CancelledBy::Request => "request",
        CancelledBy::Replacement => "replacement",
    }
}
