//! Rate limits and how they stand (Rate Limiting 10.1).

use hapax_core::limit::{Limits, Memory, Ruling};
use hapax_core::{State, Timestamp};
use hapax_store::{LimitFacts, LimitPage};
use hapax_wire::rate_limit;
use hapax_wire::writer::{self, Object};

use crate::brief;
use crate::from_wire::Listing;

/// One limit.
pub(crate) fn one(facts: &LimitFacts, now: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| members(o, facts, now));
    out
}

/// Limits by key, of which those before the page are left out. How many there are is known where the list ends, unless it
/// began at a cursor.
pub(crate) fn list(page: &LimitPage, listing: Listing, is_whole: bool, now: Timestamp) -> Vec<u8> {
    let LimitPage { limits, has_more } = page;
    let Listing { limit, offset } = listing;
    let shown = limits.get(offset..).unwrap_or_default();
    let mut out = Vec::with_capacity(128 + 384 * shown.len());
    writer::object(&mut out, |o| {
        o.array("items", shown, |facts, out| writer::object(out, |o| members(o, facts, now)));
        o.object("pagination", |o| {
            o.number_if("total", (is_whole && !has_more).then_some(limits.len()));
            o.number("page", offset / limit + 1);
            o.number("per_page", limit);
            o.number("limit", limit);
            o.flag("has_more", *has_more);
            let last = limits.last().filter(|_| *has_more);
            o.text_if("next_cursor", last.map(|facts| facts.key.as_str()));
        });
    });
    out
}

/// The figures of a queue among its settings. How they are written is for the official admin UI, which offers some periods for
/// choice; sent back, they mean the same.
pub(crate) fn of_settings(o: &mut Object<'_>, limits: Limits) {
    o.number_if("concurrency", limits.concurrency);
    if let Some(pace) = limits.rate {
        o.object("rate_limit", |o| flat(o, Limits { rate: Some(pace), ..Limits::default() }));
    }
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
    flat(o, memory.in_force(own, now));
    o.number(State::Active.name(), active);
    o.number("waiting", available);
    o.number("active_count", active);
    o.number("waiting_count", available);
    o.moment_if("closed_until", memory.closed_until.filter(|until| *until > now));
    if let Some(Ruling { limits, expires_at }) = memory.decided(now) {
        o.object("override", |o| {
            flat(o, limits);
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

/// The first figure that there is, flat: the official admin UI knows one for each limit, and sends it back in this form. One
/// without a period is how many may run at a time.
fn flat(o: &mut Object<'_>, limits: Limits) {
    let Limits { concurrency, rate, throttle } = limits;
    match rate.or(throttle) {
        Some(pace) => {
            o.number("limit", pace.limit());
            o.plain("period", brief::written(pace.period()));
        }
        None => o.number_if("limit", concurrency),
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
