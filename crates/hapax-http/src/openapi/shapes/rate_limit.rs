//! Rate limits.

use hapax_core::State;
use hapax_core::limit::{CONCURRENCY_MAX, LimitKey, OnLimit, Pace, Share};

use super::{Named, one_of};
use crate::openapi::shape::{
    Member, Shape, any_object, count, either, flag, integer, list, may, moment, named, needs, object, text,
};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        ("RateLimitWish", wish()),
        ("RateLimitOverride", object(decided()).only()),
        ("FlatRateLimitOverride", object(decided_flat()).only()),
        ("RateLimit", standing()),
        ("RateLimits", object([needs("items", list(named("RateLimit"))), needs("pagination", any_object())])),
        (
            "QueueRateLimit",
            object([needs("name", text()), needs("queue", text())].into_iter().chain(decided())),
        ),
    ]
}

fn pace() -> Shape {
    let limit = integer().least(1).most(Pace::LIMIT_MAX);
    object([needs("limit", limit), needs("period", period())]).only()
}

fn concurrency() -> Shape {
    integer().least(0).most(CONCURRENCY_MAX).about("So many run at a time.")
}

fn wish() -> Shape {
    object([
        may("key", text().chars_max(LimitKey::LENGTH_MAX).about("What the jobs share.")),
        may("concurrency", concurrency()),
        may("rate", either([pace(), integer().least(1)]).about("So many start in any period.")),
        may("period", text().about("Beside a `rate` that is a number.")),
        may("throttle", pace().about("So many start in a period, evenly spread.")),
        may("max_per_second", integer().least(1).about("For all jobs of the queue that say so.")),
        may("on_limit", one_of(OnLimit::ALL, OnLimit::name)),
        may("share", one_of(Share::ALL, Share::name).about("Whether keys take turns in the queue.")),
    ])
    .only()
}

fn decided() -> Vec<Member> {
    vec![
        may("concurrency", concurrency()),
        may("rate", pace()),
        may("throttle", pace()),
        may("expires_at", text().about("A time, or `+PT1H` from now.")),
    ]
}

/// The same in the form of the official admin UI.
fn decided_flat() -> Vec<Member> {
    vec![
        needs(
            "limit",
            integer().least(0).about("So many start in the period; without one, so many run at a time."),
        ),
        may("period", period()),
        may("expires_at", text().about("A time, or `+PT1H` from now.")),
    ]
}

fn period() -> Shape {
    text().about("A duration: `PT1M`, or in short `1m`.")
}

fn standing() -> Shape {
    object([
        needs("key", text()),
        may("limit", count().about("The first figure: so many in `period`, or without one at a time.")),
        may("period", period()),
        needs(State::Active.name(), count().about("The same as `active_count`.")),
        needs("waiting", count().about("The same as `waiting_count`.")),
        may("concurrency", any_object()),
        may("rate", any_object()),
        may("throttle", any_object()),
        needs("active_count", count()),
        needs("waiting_count", count()),
        may("closed_until", moment()),
        may("override", any_object()),
        may("on_limit", one_of(OnLimit::ALL, OnLimit::name)),
        needs("open", flag()),
        may("closed_by", text()),
        may("opens_at", moment()),
    ])
}
