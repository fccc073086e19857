//! Words to listeners, over server-sent events.
//!
//! Lines end with LF alone and data is one line: the SDKs split at LF and know nothing else.

use hapax_broker::{Channel, Dropped, EventId, Gap};
use hapax_core::{Job, Phase, Timestamp};
use hapax_wire::writer::{self, Object};

use super::event;
use crate::limits::{STREAM_GRACE, STREAM_RETRY};
use crate::live::Told;

/// The first words: when to come back, and to where.
pub(crate) fn opening(out: &mut Vec<u8>, cursor: Option<EventId>) {
    line(out, "retry: ", STREAM_RETRY.as_millis());
    if let Some(cursor) = cursor {
        line(out, "id: ", cursor);
    }
    out.push(b'\n');
}

/// A sign of life. The name lets a client come back to here that heard nothing for long.
pub(crate) fn heartbeat(out: &mut Vec<u8>, cursor: EventId) {
    line(out, ":heartbeat", "");
    line(out, "id: ", cursor);
    out.push(b'\n');
}

/// The last words.
pub(crate) fn shutdown(out: &mut Vec<u8>, last: EventId) {
    event_frame(out, Some(&last), SHUTDOWN, farewell);
}

/// The event that comes before the end.
pub(crate) const SHUTDOWN: &str = "server.shutdown";

/// Its payload.
pub(crate) fn farewell(o: &mut Object<'_>) {
    o.text("reason", "shutdown");
    o.number("grace_period_ms", STREAM_GRACE.as_millis());
}

/// Something to tell; its name, or the last one if it has none.
pub(crate) fn frame(
    out: &mut Vec<u8>,
    told: &Told,
    channel: &Channel,
    last: EventId,
    now: Timestamp,
) -> EventId {
    if let Told::Dropped(Dropped { count, .. }) = told {
        // Real-Time 5.4 wants a comment as well.
        line(out, ":events-dropped ", count);
    }
    let id = id(told).unwrap_or(last);
    event_frame(out, Some(&id), name(told), |o| data(o, told, channel, now));
    id
}

/// The kind of event.
pub(crate) fn name(told: &Told) -> &'static str {
    match told {
        Told::Gap(_) => "system.gap",
        Told::Dropped(_) => "system.events_dropped",
        Told::Notice(notice) => notice.kind().name(),
        Told::Stands(_) => hapax_broker::EventKind::JobStateChanged.name(),
    }
}

/// The name by which a client can come back to it.
pub(crate) fn id(told: &Told) -> Option<EventId> {
    match told {
        Told::Notice(notice) => Some(notice.id()),
        Told::Dropped(dropped) => dropped.newest,
        Told::Gap(_) | Told::Stands(_) => None,
    }
}

/// When it happened.
pub(crate) fn at(told: &Told, now: Timestamp) -> Timestamp {
    match told {
        Told::Notice(notice) => notice.event.at,
        Told::Stands(job) => since(job).unwrap_or(now),
        Told::Gap(_) | Told::Dropped(_) => now,
    }
}

/// The payload of Real-Time 4.
pub(crate) fn data(o: &mut Object<'_>, told: &Told, channel: &Channel, now: Timestamp) {
    match told {
        Told::Notice(notice) => event::payload(o, notice),
        Told::Gap(Gap { since, until, missed }) => {
            o.plain("channel", channel);
            o.moment("gap_start", since.or(*until).unwrap_or(now));
            o.moment("gap_end", until.unwrap_or(now));
            o.number_if("estimated_missed_count", *missed);
        }
        Told::Dropped(Dropped { count, oldest, newest }) => {
            o.plain("channel", channel);
            o.number("dropped_count", count);
            o.plain_if("oldest_dropped_id", *oldest);
            o.plain_if("newest_dropped_id", *newest);
            o.moment("timestamp", now);
        }
        Told::Stands(job) => {
            o.plain("job_id", job.id);
            o.plain("queue", &job.spec.queue);
            o.plain("type", &job.spec.kind);
            // What it came from was told when it happened, and only then.
            o.raw("from", "null");
            o.text("to", job.state().name());
            o.moment("timestamp", since(job).unwrap_or(now));
        }
    }
}

/// Since when a job stands where it ended.
pub(crate) fn since(job: &Job) -> Option<Timestamp> {
    match &job.phase {
        Phase::Completed { at, .. } | Phase::Cancelled { at, .. } | Phase::Discarded { at, .. } => Some(*at),
        Phase::Scheduled { .. }
        | Phase::Available { .. }
        | Phase::Pending { .. }
        | Phase::Active { .. }
        | Phase::Retryable { .. } => None,
    }
}

/// An event, and the name by which a client can come back to it, if it has one.
pub(super) fn event_frame(
    out: &mut Vec<u8>,
    id: Option<&dyn std::fmt::Display>,
    name: &str,
    fill: impl FnOnce(&mut Object<'_>),
) {
    if let Some(id) = id {
        line(out, "id: ", id);
    }
    line(out, "event: ", name);
    out.extend_from_slice(b"data: ");
    let start = out.len();
    writer::object(out, fill);
    // Results come as workers sent them, perhaps on several lines. In JSON a bare line break is only ever a space.
    out[start..].iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    out.extend_from_slice(b"\n\n");
}

pub(super) fn line(out: &mut Vec<u8>, name: &str, value: impl std::fmt::Display) {
    use std::io::Write as _;

    let written = writeln!(out, "{name}{value}");
    debug_assert!(written.is_ok(), "memory takes every write");
}
