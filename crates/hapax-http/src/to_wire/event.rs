//! Events, with every name under which one of the documents looks for a member.

mod bulk;
mod worker;

use hapax_broker::{
    Aspect, Attempted, CancelledBy, CronFact, CronOutcome, EventError, EventPage, JobEvent, JobFact,
    NewestEvents, News, Notice, Step, WebhookFact, WorkflowFact,
};
use hapax_core::{Fraction, Overrun, State, WorkerId, webhook};
use hapax_wire::error::RETRYABLE;
use hapax_wire::failure::timeout_kind;
use hapax_wire::writer::{self, Object};

use crate::from_wire::Numbered;

/// A page of events.
pub(crate) fn page(page: &EventPage) -> Vec<u8> {
    let EventPage { events, cursor, has_more, gap } = page;
    let mut out = Vec::with_capacity(64 + 640 * events.len());
    writer::object(&mut out, |o| {
        o.array("events", events, |notice, out| writer::object(out, |o| members(o, notice)));
        o.plain("cursor", cursor);
        o.flag("has_more", *has_more);
        o.flag("gap", *gap);
    });
    out
}

/// A page that is counted from the newest event: under `items` as the official admin UI reads it, the newest first.
pub(crate) fn newest(page: &NewestEvents, numbered: Numbered) -> Vec<u8> {
    let NewestEvents { events, total, cursor } = page;
    let write = |notice: &Notice, out: &mut Vec<u8>| writer::object(out, |o| members(o, notice));
    let mut out = Vec::with_capacity(128 + 1280 * events.len());
    writer::object(&mut out, |o| {
        o.array("items", events, write);
        o.array("events", events.iter().rev(), write);
        o.text("cursor", cursor);
        o.flag("has_more", false);
        o.flag("gap", false);
        o.object("pagination", |o| {
            o.number("total", total);
            o.number("page", numbered.page);
            o.number("per_page", numbered.per_page);
            o.number("limit", numbered.per_page);
            o.number("offset", numbered.skipped());
        });
    });
    out
}

/// One event, as webhooks send it.
pub fn text(notice: &Notice) -> String {
    let mut out = Vec::with_capacity(640);
    writer::object(&mut out, |o| members(o, notice));
    // Everything above writes texts.
    String::from_utf8(out).unwrap_or_default()
}

/// The members of the envelope of Events 2.
pub(crate) fn members(o: &mut Object<'_>, notice: &Notice) {
    let JobEvent { seq: _, id: _, at, queue, news, traced: _ } = &*notice.event;
    let kind = notice.kind().name();
    o.text("specversion", "1.0");
    o.plain("id", notice.id());
    o.text("type", kind);
    o.text("source", "ojs://hapax");
    o.moment("time", *at);
    // The Python SDK reads these two names for the type and the time.
    o.text("event", kind);
    o.moment("timestamp", *at);
    o.plain_if("queue", queue.as_ref());
    match news {
        News::Job { id, job_type, state, step, fact } => {
            o.plain("subject", id);
            o.plain("job_id", id);
            o.text("state", state.name());
            o.object("data", |o| {
                o.plain("job_id", id);
                o.plain("job_type", job_type);
                o.plain_if("queue", queue.as_ref());
                match notice.aspect {
                    Aspect::Step => way(o, *step),
                    Aspect::Fact => data(o, fact, &notice.event),
                }
            });
        }
        News::Cron { name, fact } => {
            o.text("subject", name);
            o.object("data", |o| {
                o.text("cron_name", name);
                cron_data(o, fact);
            });
        }
        News::Workflow { id, name, fact } => {
            o.plain("subject", id);
            o.plain("workflow_id", id);
            o.object("data", |o| {
                o.plain("workflow_id", id);
                o.text("workflow_name", name.as_deref().unwrap_or_default());
                workflow_data(o, fact);
            });
        }
        News::Webhook { subscription, fact } => {
            o.plain("subject", subscription);
            o.object("data", |o| {
                o.plain("subscription_id", subscription);
                webhook_data(o, fact);
            });
        }
        News::Worker { id, fact } => {
            o.text("subject", id.as_str());
            o.object("data", |o| {
                o.text("worker_id", id.as_str());
                worker::data(o, fact);
            });
        }
        News::Bulk(fact) => o.object("data", |o| bulk::data(o, fact)),
        News::TurnedAway { .. }
        | News::LettersPruned { .. }
        | News::QueuePaused
        | News::QueueResumed
        | News::QueueDeleted => {
            o.plain_if("subject", queue.as_ref());
            o.object("data", |o| {
                o.plain_if("queue", queue.as_ref());
                queue_data(o, news);
            });
        }
    }
}

/// From where to where a job went (Real-Time 4.1).
fn way(o: &mut Object<'_>, step: Option<Step>) {
    let Some(Step { from, to }) = step else { return };
    match from.map(State::name) {
        Some(from) => o.text("from", from),
        None => o.raw("from", "null"),
    }
    o.text("to", to.name());
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
        JobFact::Progress { worker, attempt, value, message } => {
            o.text_if("worker_id", worker.as_ref().map(WorkerId::as_str));
            o.number("attempt", attempt);
            // One document counts to 100, the other to 1.
            o.number_if("progress_percent", value.map(percent));
            o.number_if("progress", value.map(Fraction::get));
            o.text_if("progress_message", message.as_deref());
        }
        JobFact::Checkpointed { worker, attempt, sequence } => {
            o.text_if("worker_id", worker.as_ref().map(WorkerId::as_str));
            o.number("attempt", attempt);
            o.number("sequence", sequence);
        }
        JobFact::Scheduled { scheduled_at } => o.moment("scheduled_at", *scheduled_at),
        JobFact::OutOfTime { attempt, error, overrun } => {
            o.number("attempt", attempt);
            out_of_time(o, error, overrun);
        }
        JobFact::Expired { created_at, ttl } => {
            o.moment("created_at", *created_at);
            o.moment("expired_at", event.at);
            o.number("ttl_ms", ttl.as_millis());
        }
        other => {
            limit_data(o, other);
            operator_data(o, other);
        }
    }
}

/// Which limit on time was passed, and by how much (Timeouts 8).
fn out_of_time(o: &mut Object<'_>, error: &str, overrun: &Overrun) {
    o.text("timeout_kind", timeout_kind(error));
    o.number("limit_seconds", overrun.limit.as_secs_f64());
    o.number("elapsed_seconds", overrun.elapsed.as_secs_f64());
}

/// The same for rate limits (Rate Limiting 11.1).
fn limit_data(o: &mut Object<'_>, fact: &JobFact) {
    match fact {
        JobFact::RateExceeded { key, closed } => {
            o.text("key", key.as_str());
            o.text("strategy", closed.strategy.name());
            o.number("limit", closed.limit);
            o.number("current", closed.current);
            o.moment_if("until", closed.until);
        }
        JobFact::RateReleased { key, strategy } => {
            o.text("key", key.as_str());
            o.text("strategy", strategy.name());
        }
        JobFact::RateDropped { key } => o.text("key", key.as_str()),
        JobFact::RateAdjusted { key, until, reason } => {
            o.text("key", key.as_str());
            o.moment("until", *until);
            o.text("reason", reason);
        }
        _ => {}
    }
}

/// The same for what operators change and look after (Priority 11.1, Dead Letter 11.1).
fn operator_data(o: &mut Object<'_>, fact: &JobFact) {
    match fact {
        JobFact::Reprioritized { before, after } => {
            o.number("previous_priority", before);
            o.number("new_priority", after);
        }
        JobFact::LetterAdded { error } => o.object("error", |o| cause(o, error)),
        // Of the rest the name of the event says it, or its step does.
        _ => {}
    }
}

/// The payload of a notice that is told as it happens: that of Real-Time 4, and beside it what Events 4.1 has to say.
pub(crate) fn payload(o: &mut Object<'_>, notice: &Notice) {
    let JobEvent { seq: _, id: _, at, queue, news, traced: _ } = &*notice.event;
    match news {
        News::Job { id, job_type, state, step, fact } => {
            o.plain("job_id", id);
            o.plain_if("queue", queue.as_ref());
            o.plain("type", job_type);
            way(o, *step);
            o.moment("timestamp", *at);
            if notice.aspect == Aspect::Fact {
                o.plain("job_type", job_type);
                o.text("state", state.name());
                data(o, fact, &notice.event);
            }
        }
        News::Cron { name, fact } => {
            o.text("cron_name", name);
            o.plain_if("queue", queue.as_ref());
            cron_data(o, fact);
            o.moment("timestamp", *at);
        }
        News::Workflow { id, name, fact } => {
            o.plain("workflow_id", id);
            o.text("workflow_name", name.as_deref().unwrap_or_default());
            workflow_data(o, fact);
            o.moment("timestamp", *at);
        }
        News::Webhook { subscription, fact } => {
            o.plain("subscription_id", subscription);
            webhook_data(o, fact);
            o.moment("timestamp", *at);
        }
        News::Worker { id, fact } => {
            o.text("worker_id", id.as_str());
            worker::data(o, fact);
            o.moment("timestamp", *at);
        }
        News::Bulk(fact) => {
            bulk::data(o, fact);
            o.moment("timestamp", *at);
        }
        News::TurnedAway { .. }
        | News::LettersPruned { .. }
        | News::QueuePaused
        | News::QueueResumed
        | News::QueueDeleted => {
            o.plain_if("queue", queue.as_ref());
            queue_data(o, news);
            o.moment("timestamp", *at);
        }
    }
}

/// A whole number: what is nearly done is not done.
fn percent(value: Fraction) -> f64 {
    (value.get() * 100.0).floor()
}

/// The same for recurring jobs, under the names of two documents.
fn cron_data(o: &mut Object<'_>, fact: &CronFact) {
    let CronFact { expression, job_type, scheduled_at, outcome } = fact;
    o.text("cron_expr", expression);
    o.text("cron_expression", expression);
    o.plain("job_type", job_type);
    o.moment("scheduled_at", *scheduled_at);
    match outcome {
        CronOutcome::Triggered(id) => o.plain("job_id", id),
        CronOutcome::Skipped { reason, existing } => {
            o.text("reason", reason);
            o.plain_if("existing_job_id", *existing);
        }
    }
}

/// The same for workflows (Events 4.4).
fn workflow_data(o: &mut Object<'_>, fact: &WorkflowFact) {
    match fact {
        WorkflowFact::Started { total_steps } => o.number("total_steps", total_steps),
        WorkflowFact::StepCompleted { job, job_type, duration, steps_remaining } => {
            o.plain("step_id", job);
            o.plain("job_id", job);
            o.plain("step_type", job_type);
            o.number("duration_ms", duration.as_millis());
            o.number("steps_remaining", steps_remaining);
        }
        WorkflowFact::Completed { total_steps, duration } => {
            o.number("total_steps", total_steps);
            o.number("duration_ms", duration.as_millis());
        }
        WorkflowFact::Failed { job, error } => {
            if let Some((id, kind)) = job {
                o.plain("failed_step_id", id);
                o.plain("job_id", id);
                o.plain("failed_step_type", kind);
            }
            if let Some(error) = error {
                o.object("error", |o| cause(o, error));
            }
        }
        WorkflowFact::Cancelled => {}
    }
}

/// The same for queues: what there is to say beside which it is (Backpressure 10.1, Dead Letter 8.1).
fn queue_data(o: &mut Object<'_>, news: &News) {
    match news {
        News::TurnedAway { job_type, depth, max } => {
            o.number("depth", depth);
            o.number("bound", max);
            o.plain("job_type", job_type);
        }
        News::LettersPruned { count } => o.number("count", count),
        _ => {}
    }
}

/// The same for webhooks (Webhooks 11.1).
fn webhook_data(o: &mut Object<'_>, fact: &WebhookFact) {
    match fact {
        WebhookFact::Attempted(attempted) => {
            let Attempted { delivery, event_type, step, attempt, status, error, took } = &**attempted;
            o.text("delivery_id", delivery);
            o.text("event_type", event_type);
            o.number("attempt", attempt);
            o.number_if("status_code", *status);
            o.text_if("error", error.as_deref());
            o.number("duration_ms", took.as_millis());
            if let webhook::Step::Pending { next_at } = step {
                o.moment("next_attempt_at", *next_at);
            }
        }
        WebhookFact::Subscribed | WebhookFact::Unsubscribed | WebhookFact::Test => {}
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
