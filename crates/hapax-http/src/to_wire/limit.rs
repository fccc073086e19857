//! Rate limits and how they stand (Rate Limiting 10.1).

use hapax_core::limit::{Limits, Memory, Ruling};
use hapax_core::{State, Timestamp};
use hapax_store::{LimitFacts, LimitPage};
use hapax_wire::rate_limit;
use hapax_wire::writer::{self, Object};

/// One limit.
pub(crate) fn one(facts: &LimitFacts, now: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| members(o, facts, now));
    out
}

/// Limits by key.
pub(crate) fn list(page: &LimitPage, limit: usize, now: Timestamp) -> Vec<u8> {
    let LimitPage { limits, has_more } = page;
    let mut out = Vec::with_capacity(128 + 384 * limits.len());
    writer::object(&mut out, |o| {
        o.array("items", limits, |facts, out| writer::object(out, |o| members(o, facts, now)));
        o.object("pagination", |o| {
            o.number("per_page", limit);
            o.number("limit", limit);
            o.flag("has_more", *has_more);
            let last = limits.last().filter(|_| *has_more);
            o.text_if("next_cursor", last.map(|facts| facts.key.as_str()));
        });
    });
    out
}

/// What was decided about a queue.
pub(crate) fn of_queue(name: &str, ruling: Option<&Ruling>) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.text("name", name);
        o.text("queue", name);
        if let Some(Ruling { limits, expires_at }) = ruling {
            rate_limit::figures(o, *limits);
            o.moment_if("expires_at", *expires_at);
        }
    });
    out
}

fn members(o: &mut Object<'_>, facts: &LimitFacts, now: Timestamp) {
    let LimitFacts { key, active, available, newest, memory } = facts;
    let own = newest.as_ref().map(|newest| newest.limits).unwrap_or_default();
    o.text("key", key.as_str());
    figures(o, memory, memory.in_force(own, now), *active, now);
    o.number("active_count", active);
    o.number("waiting_count", available);
    o.moment_if("closed_until", memory.closed_until.filter(|until| *until > now));
    if let Some(Ruling { limits, expires_at }) = memory.decided(now) {
        o.object("override", |o| {
            rate_limit::figures(o, limits);
            o.moment_if("expires_at", expires_at);
        });
    }
    if let Some(newest) = newest {
        o.word("on_limit", newest.on_limit.name());
    }
    let closed = memory.admits(own, *active, now).err();
    o.flag("open", closed.is_none());
    if let Some(closed) = closed {
        o.text("closed_by", closed.strategy.name());
        o.moment_if("opens_at", closed.until);
    }
}

/// The figures that count, and how far they are used up.
fn figures(o: &mut Object<'_>, memory: &Memory, limits: Limits, active: u64, now: Timestamp) {
    if let Some(limit) = limits.concurrency {
        o.object("concurrency", |o| {
            o.number("limit", limit);
            o.number(State::Active.name(), active);
            o.number(State::Available.name(), u64::from(limit).saturating_sub(active));
        });
    }
    if let Some(pace) = limits.rate {
        o.object("rate", |o| {
            rate_limit::pace_members(o, pace);
            o.number("current_count", memory.starts.in_window(pace.period(), now));
            let first = memory.starts.spans.iter().map(|span| span.last + pace.period());
            o.moment_if("window_resets_at", first.filter(|at| *at > now).min());
        });
    }
    if let Some(pace) = limits.throttle {
        o.object("throttle", |o| {
            rate_limit::pace_members(o, pace);
            o.moment_if("next_allowed_at", memory.starts.apart_until(pace, now).filter(|at| *at > now));
        });
    }
}
