//! Queues, as operators see them.

use hapax_broker::{LastHour, Openness};
use hapax_core::limit::Limits;
use hapax_core::{KeptFor, QueueSettings, Retention, Timestamp};
use hapax_store::QueueFacts;
use hapax_wire::writer::{self, Object};

use super::queue::counts;
use super::{figures, limit, queue_settings};

/// One queue of a list.
pub(crate) fn item(out: &mut Vec<u8>, facts: &QueueFacts, openness: Openness, hour: &LastHour) {
    writer::object(out, |o| members(o, facts, openness, hour));
}

/// What was decided about a queue: about it alone, and what is in force.
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) openness: Openness,
    pub(crate) own: QueueSettings,
    pub(crate) in_force: QueueSettings,
    pub(crate) limits: Limits,
}

/// One queue alone, with its settings; those that nobody decided about are the server's.
pub(crate) fn one(facts: &QueueFacts, hour: &LastHour, decided: Decided, usual: &Retention) -> Vec<u8> {
    let Decided { openness, own: settings, in_force, limits } = decided;
    let KeptFor { completed, cancelled, discarded } = settings.retention;
    let retention = KeptFor {
        completed: completed.or(Some(usual.completed)),
        cancelled: cancelled.or(Some(usual.cancelled)),
        discarded: discarded.or(Some(usual.discarded)),
    };
    let settings = QueueSettings { retention, ..settings };
    let mut out = Vec::with_capacity(1024);
    writer::object(&mut out, |o| {
        members(o, facts, openness, hour);
        o.object("configuration", |o| {
            limit::of_settings(o, limits);
            o.object("backpressure", |o| pressure(o, facts, &settings, &in_force));
            queue_settings::others(o, &settings);
        });
    });
    out
}

/// How far the queue is filled up. The members behind those of the settings are what the official admin UI shows.
fn pressure(o: &mut Object<'_>, facts: &QueueFacts, own: &QueueSettings, in_force: &QueueSettings) {
    let (bound, depth) = (in_force.bound(), facts.counts.waiting());
    queue_settings::pressure(
        o,
        &QueueSettings { overflow: bound.map(|bound| bound.overflow), ..own.clone() },
    );
    o.flag("enabled", bound.is_some());
    o.number_if("threshold", bound.map(|bound| bound.max));
    o.number("current_depth", depth);
    let state = match bound {
        Some(bound) if depth >= bound.max => "critical",
        _ if in_force.is_pressed(depth) => "warning",
        _ => "normal",
    };
    o.text("state", state);
}

/// The answer to pausing and resuming.
pub(crate) fn switched(facts: &QueueFacts, openness: Openness, now: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    writer::object(&mut out, |o| {
        o.plain("name", &facts.name);
        o.flag("paused", facts.paused);
        o.word("state", openness.name());
        o.moment(if facts.paused { "paused_at" } else { "resumed_at" }, now);
    });
    out
}

fn members(o: &mut Object<'_>, facts: &QueueFacts, openness: Openness, hour: &LastHour) {
    o.plain("name", &facts.name);
    o.word("state", openness.name());
    o.object("counts", |o| counts(o, &facts.counts));
    figures::throughput(o, hour);
    o.flag("paused", facts.paused);
    o.moment("created_at", facts.created_at);
}
