//! Policies as clients see them: complete, in the spec's own words, whatever words they came in.

use hapax_core::unique::{Anchor, Dimensions, Field, Replacement, UniquePolicy};
use hapax_core::{Backoff, Exhaustion, Job, RetryPolicy, State, format_iso8601};

use crate::writer::{self, Object};

/// The `retry` member.
pub(crate) fn retry(o: &mut Object<'_>, policy: &RetryPolicy) {
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
    o.object("retry", |o| {
        o.number("max_attempts", max_attempts);
        o.plain("initial_interval", format_iso8601(*initial_interval));
        // Debug writes 2.0 where Display writes 2, and strict readers want to see a fraction.
        o.raw("backoff_coefficient", &format!("{backoff_coefficient:?}"));
        o.plain("max_interval", format_iso8601(*max_interval));
        o.flag("jitter", *jitter);
        o.texts("non_retryable_errors", non_retryable_errors.iter().map(|name| &**name));
        o.text("on_exhaustion", exhaustion_name(*on_exhaustion));
        o.text("backoff_strategy", backoff_name(*backoff));
    });
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

/// The `unique` member: the policy, the key and what the job turned away.
pub(crate) fn unique(o: &mut Object<'_>, policy: &UniquePolicy, job: &Job) {
    let UniquePolicy {
        dimensions,
        args_keys,
        meta_keys,
        key,
        period,
        period_from,
        states,
        on_conflict,
        replace,
    } = policy;
    o.object("unique", |o| {
        o.texts("keys", dimension_names(*dimensions));
        if let Some(names) = args_keys {
            o.texts("args_keys", names.iter().map(|name| &**name));
        }
        if let Some(names) = meta_keys {
            o.texts("meta_keys", names.iter().map(|name| &**name));
        }
        o.text_if("key", key.as_deref());
        o.plain_if("period", period.map(format_iso8601));
        if *period_from != Anchor::CreatedAt {
            o.text("period_from", period_from.name());
        }
        o.texts("states", states.iter().map(State::name));
        o.text("on_conflict", on_conflict.name());
        if let Some(replacement) = replace {
            replaced_fields(o, *replacement);
        }
        holding(o, job);
    });
}

fn dimension_names(dimensions: Dimensions) -> impl Iterator<Item = &'static str> {
    let Dimensions { queue, args, meta } = dimensions;
    let named = [("type", true), ("queue", queue), ("args", args), ("meta", meta)];
    named.into_iter().filter(|(_, is_named)| *is_named).map(|(name, _)| name)
}

/// A list if it is the same for all states.
fn replaced_fields(o: &mut Object<'_>, replacement: Replacement) {
    let everywhere = replacement.fields(State::Available);
    if replacement == Replacement::everywhere(everywhere) {
        o.texts("replace", everywhere.iter().map(Field::name));
        return;
    }
    o.object("replace", |o| {
        for state in State::ALL {
            let fields = replacement.fields(state);
            if !fields.is_empty() {
                o.texts(state.name(), fields.iter().map(Field::name));
            }
        }
    });
}

/// What the job is to others with its key.
fn holding(o: &mut Object<'_>, job: &Job) {
    if let Some(key) = &job.key {
        o.hex("uniqueness_key", key.bytes());
    }
    o.plain_if("reentered_beside", job.reentered_beside);
    if job.ledger.count() > 0 {
        o.object("duplicates", |o| {
            o.number("count", job.ledger.count());
            o.moment_if("last_at", job.ledger.last_at());
            o.array("recent", job.ledger.recent(), |entry, out| {
                writer::object(out, |o| {
                    o.moment("at", entry.at);
                    o.text("outcome", entry.outcome);
                    o.text_if("request_id", entry.request_id.as_deref());
                });
            });
        });
    }
}
