//! Retry policies as clients see them: complete, in the spec's own words, whatever words they came in.

use hapax_core::{Backoff, Exhaustion, RetryPolicy, format_iso8601};

use crate::writer::Object;

/// The `retry` member.
pub(crate) fn policy(o: &mut Object<'_>, policy: &RetryPolicy) {
    o.object("retry", |o| members(o, policy));
}

/// The members of a policy.
pub fn members(o: &mut Object<'_>, policy: &RetryPolicy) {
    let RetryPolicy {
        max_attempts,
        initial_interval,
        backoff_coefficient,
        max_interval,
        jitter,
        non_retryable_errors,
        on_exhaustion,
        backoff,
    } = policy;
    o.number("max_attempts", max_attempts);
    o.plain("initial_interval", format_iso8601(*initial_interval));
    // Debug writes 2.0 where Display writes 2, and strict readers want to see a fraction.
    o.raw("backoff_coefficient", &format!("{backoff_coefficient:?}"));
    o.plain("max_interval", format_iso8601(*max_interval));
    o.flag("jitter", *jitter);
    o.texts("non_retryable_errors", non_retryable_errors.iter().map(|name| &**name));
    o.word("on_exhaustion", exhaustion_name(*on_exhaustion));
    o.word("backoff_strategy", backoff_name(*backoff));
}

/// The name on the wire.
pub const fn exhaustion_name(exhaustion: Exhaustion) -> &'static str {
    match exhaustion {
        Exhaustion::Discard => "discard",
        Exhaustion::DeadLetter => "dead_letter",
    }
}

/// The name on the wire.
pub const fn backoff_name(backoff: Backoff) -> &'static str {
    match backoff {
        Backoff::Constant => "constant",
        Backoff::Linear => "linear",
        Backoff::Exponential => "exponential",
        Backoff::Polynomial => "polynomial",
    }
}
