//! Queues and their counts.

use hapax_broker::{LastHour, Openness};
use hapax_core::{QueueName, State, Timestamp};
use hapax_store::{Counts, QueueFacts};
use hapax_wire::writer::{self, Object};

use super::figures;
use crate::compat::Dialect;

/// One queue of a list.
pub(crate) fn item(out: &mut Vec<u8>, facts: &QueueFacts, openness: Openness) {
    writer::object(out, |o| {
        identity(o, facts, openness);
        o.moment("created_at", facts.created_at);
    });
}

/// The answer to a look at one queue.
pub(crate) fn one(facts: &QueueFacts, openness: Openness) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.twice("queue", |o| {
            identity(o, facts, openness);
            o.moment("created_at", facts.created_at);
            counts(o, &facts.counts);
        });
    });
    out
}

/// The answer to pausing and resuming.
pub(crate) fn switched(facts: &QueueFacts, openness: Openness, now: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(160);
    writer::object(&mut out, |o| {
        o.object("queue", |o| identity(o, facts, openness));
        o.word("status", openness.name());
        o.moment(if facts.paused { "paused_at" } else { "resumed_at" }, now);
    });
    out
}

/// The answer to a question for statistics; a queue that was never used has zeros.
pub(crate) fn stats(
    name: &QueueName,
    facts: Option<&QueueFacts>,
    openness: Openness,
    hour: &LastHour,
    dialect: Dialect,
    now: Timestamp,
) -> Vec<u8> {
    let paused = facts.is_some_and(|facts| facts.paused);
    let all = facts.map(|facts| facts.counts).unwrap_or_default();
    let mut out = Vec::with_capacity(768);
    writer::object(&mut out, |o| {
        if dialect.queue_is_a_name() {
            o.plain("queue", name);
        } else {
            o.object("queue", |o| {
                o.plain("name", name);
                o.flag("paused", paused);
                counts(o, &all);
            });
        }
        o.plain("name", name);
        o.word("status", openness.name());
        o.flag("paused", paused);
        counts(o, &all);
        o.object("stats", |o| {
            o.plain("queue", name);
            o.number("depth", all.of(State::Available));
            counts(o, &all);
            figures::last_hour(o, hour);
        });
        o.moment("computed_at", now);
    });
    out
}

fn identity(o: &mut Object<'_>, facts: &QueueFacts, openness: Openness) {
    o.plain("name", &facts.name);
    o.word("status", openness.name());
    o.flag("paused", facts.paused);
}

pub(crate) fn counts(o: &mut Object<'_>, counts: &Counts) {
    for state in State::ALL {
        o.number(state.name(), counts.of(state));
    }
}
