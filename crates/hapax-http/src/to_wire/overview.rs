//! Figures and events for a dashboard, over server-sent events, with the names that the official admin UI reads: nobody else
//! listens to this stream.

use hapax_broker::{EventId, JobFact, LastHour, News, Notice, Standing, Worker};
use hapax_core::{State, Timestamp};
use hapax_store::{Page, QueueFacts};
use hapax_wire::writer::{self, Object};

use super::figures::Rounded;
use super::live;
use crate::limits::FIGURES_WORKERS_MAX;

const SECONDS: f64 = 60.0;

/// How everything stands: rates are those of the last minute.
pub(crate) fn figures(
    page: &Page<QueueFacts>,
    workers: &[Worker],
    hour: &LastHour,
    now: Timestamp,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(512 + 128 * page.items.len());
    live::event_frame(&mut out, None, "metrics", |o| {
        o.array("queues", &page.items, |facts, out| writer::object(out, |o| of_queue(o, facts)));
        o.number("queues_total", page.total);
        o.object("throughput", |o| {
            o.number("processed_per_second", Rounded(hour.processed_per_minute / SECONDS));
            o.number("failed_per_second", Rounded(hour.failed_per_minute / SECONDS));
            o.number("enqueued_per_second", Rounded(hour.enqueued_per_minute / SECONDS));
        });
        let heard: Vec<_> = workers.iter().filter(|worker| worker.standing(now) != Standing::Stale).collect();
        o.object("workers", |o| {
            o.number("total", heard.len());
            let shown = heard.iter().take(FIGURES_WORKERS_MAX);
            o.array(State::Active.name(), shown, |worker, out| {
                writer::object(out, |o| of_worker(o, worker, now));
            });
        });
        // Of a hundred attempts.
        o.number("error_rate", Rounded(share_of_failures(hour) * 100.0));
        o.moment("timestamp", now);
    });
    out
}

/// Something that happened to a job; its name.
pub(crate) fn frame(out: &mut Vec<u8>, notice: &Notice) -> EventId {
    let id = notice.id();
    live::event_frame(out, Some(&id), notice.kind().name(), |o| {
        let News::Job { id, job_type, fact, .. } = &notice.event.news else { return };
        o.plain("job_id", id);
        o.plain("type", job_type);
        o.plain_if("queue", notice.event.queue.as_ref());
        o.moment("timestamp", notice.event.at);
        what_happened(o, fact);
    });
    id
}

fn what_happened(o: &mut Object<'_>, fact: &JobFact) {
    match fact {
        JobFact::Completed { attempt, duration, .. } => {
            o.number("attempt", attempt);
            o.number("duration", duration.as_millis());
        }
        JobFact::Failed { attempt, duration, error } => {
            o.number("attempt", attempt);
            o.number_if("duration", duration.map(|duration| duration.as_millis()));
            // A text: what it shows must be none of its objects.
            o.text("error", &error.message);
        }
        _ => {}
    }
}

fn of_queue(o: &mut Object<'_>, facts: &QueueFacts) {
    o.plain("queue", &facts.name);
    for state in [State::Available, State::Active, State::Scheduled, State::Retryable] {
        o.number(state.name(), facts.counts.of(state));
    }
}

fn of_worker(o: &mut Object<'_>, worker: &Worker, now: Timestamp) {
    o.text("id", worker.id.as_str());
    let state = match worker.standing(now) {
        Standing::Running => "running",
        Standing::Quiet => "quiet",
        Standing::Stale => "stale",
    };
    o.text("state", state);
    o.number("activeJobs", worker.report.active_jobs.unwrap_or_default());
    o.moment("lastHeartbeatAt", worker.last_heartbeat_at.unwrap_or(worker.last_seen_at));
}

fn share_of_failures(hour: &LastHour) -> f64 {
    if hour.processed_per_minute > 0.0 { hour.failed_per_minute / hour.processed_per_minute } else { 0.0 }
}
