//! Queues, as operators see them.

use hapax_broker::LastHour;
use hapax_core::{KeptFor, QueueSettings, Retention, Timestamp};
use hapax_store::QueueFacts;
use hapax_wire::writer::{self, Object};

use super::queue::{counts, status};
use super::{figures, queue_settings};

/// One queue of a list.
pub(crate) fn item(out: &mut Vec<u8>, facts: &QueueFacts, hour: &LastHour) {
    writer::object(out, |o| members(o, facts, hour));
}

/// One queue alone, with its settings; those that nobody decided about are the server's.
pub(crate) fn one(
    facts: &QueueFacts,
    hour: &LastHour,
    settings: QueueSettings,
    usual: &Retention,
) -> Vec<u8> {
    let KeptFor { completed, cancelled, discarded } = settings.retention;
    let retention = KeptFor {
        completed: completed.or(Some(usual.completed)),
        cancelled: cancelled.or(Some(usual.cancelled)),
        discarded: discarded.or(Some(usual.discarded)),
    };
    let settings = QueueSettings { retention, ..settings };
    let mut out = Vec::with_capacity(1024);
    writer::object(&mut out, |o| {
        members(o, facts, hour);
        o.object("configuration", |o| queue_settings::members(o, &settings));
    });
    out
}

/// The answer to pausing and resuming.
pub(crate) fn switched(facts: &QueueFacts, now: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    writer::object(&mut out, |o| {
        o.plain("name", &facts.name);
        o.flag("paused", facts.paused);
        o.text("state", status(facts.paused));
        o.moment(if facts.paused { "paused_at" } else { "resumed_at" }, now);
    });
    out
}

fn members(o: &mut Object<'_>, facts: &QueueFacts, hour: &LastHour) {
    o.plain("name", &facts.name);
    o.text("state", status(facts.paused));
    o.object("counts", |o| counts(o, &facts.counts));
    figures::throughput(o, hour);
    o.flag("paused", facts.paused);
    o.moment("created_at", facts.created_at);
}
