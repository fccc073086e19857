//! Rate limits as clients see them.

use hapax_core::format_iso8601;
use hapax_core::limit::{Limits, Pace, RateLimit, Share};

use crate::writer::Object;

/// Writes the limit of a job.
pub fn members(o: &mut Object<'_>, limit: &RateLimit) {
    let RateLimit { key, limits, on_limit, share } = limit;
    o.text("key", key.as_str());
    figures(o, *limits);
    o.word("on_limit", on_limit.name());
    if *share != Share::default() {
        o.word("share", share.name());
    }
}

/// Writes the figures that are given.
pub fn figures(o: &mut Object<'_>, limits: Limits) {
    let Limits { concurrency, rate, throttle } = limits;
    o.number_if("concurrency", concurrency);
    if let Some(pace) = rate {
        o.object("rate", |o| pace_members(o, pace));
    }
    if let Some(pace) = throttle {
        o.object("throttle", |o| pace_members(o, pace));
    }
}

/// Writes how many in how long.
pub fn pace_members(o: &mut Object<'_>, pace: Pace) {
    o.number("limit", pace.limit());
    o.plain("period", format_iso8601(pace.period()));
}
