//! The retry policy: every fault in it is a `validation_error` that names the member.

use hapax_core::{Backoff, Exhaustion, RetryPolicy};
use hapax_wire::error::Code;
use hapax_wire::{backoff_name, exhaustion_name};

use super::{Fault, Given, Place, span};

/// Reads a policy; what it leaves out has its default. Unknown members are let pass, as other documents of the
/// spec put their own there.
pub(super) fn policy(given: Given<'_, '_>) -> Result<RetryPolicy, Fault> {
    read(given).map_err(|fault| fault.with_code(Code::ValidationError))
}

/// The number of attempts, which may also stand beside the policy.
pub(super) fn max_attempts(given: Given<'_, '_>) -> Result<u32, Fault> {
    let number = given.integer(0, u32::MAX.into()).map_err(|fault| fault.with_code(Code::ValidationError))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn read(given: Given<'_, '_>) -> Result<RetryPolicy, Fault> {
    given.expect_object("an object")?;
    let mut policy = RetryPolicy::default();
    if let Some(given) = given.member("max_attempts") {
        policy.max_attempts = max_attempts(given)?;
    }
    if let Some(given) = given.member("initial_interval") {
        policy.initial_interval = span::iso(given)?;
    } else if let Some(given) = given.member("initial_interval_ms") {
        policy.initial_interval = span::millis(given, 1)?;
    }
    if let Some(given) = given.member("backoff_coefficient") {
        policy.backoff_coefficient = given.node.as_f64().ok_or_else(|| given.wrong("a number"))?;
    }
    if let Some(given) = given.member("max_interval") {
        policy.max_interval = span::iso(given)?;
    } else if let Some(given) = given.member("max_interval_ms") {
        policy.max_interval = span::millis(given, 1)?;
    } else {
        // The default cap must not refuse a long first pause that the client did ask for.
        policy.max_interval = policy.max_interval.max(policy.initial_interval);
    }
    if let Some(given) = given.member("jitter") {
        policy.jitter = given.flag()?;
    }
    if let Some(given) = given.member("non_retryable_errors") {
        policy.non_retryable_errors = given.texts()?;
    }
    if let Some(given) = given.member("on_exhaustion") {
        policy.on_exhaustion = choice(given, "outcome", EXHAUSTIONS, exhaustion_name)?;
    }
    // Three documents, three names.
    let shape =
        ["backoff_strategy", "backoff_type", "strategy"].into_iter().find_map(|name| given.node.get(name));
    if let Some(node) = shape.filter(|node| !node.is_null()) {
        let given = Given { node, place: Place::Member(&given.place, "backoff_strategy") };
        policy.backoff = backoff(given)?;
    }
    policy.validate().map_err(|error| Fault::new(given.place, error))?;
    Ok(policy)
}

const EXHAUSTIONS: &[Exhaustion] = &[Exhaustion::Discard, Exhaustion::DeadLetter];
const BACKOFFS: &[Backoff] = &[Backoff::Constant, Backoff::Linear, Backoff::Exponential, Backoff::Polynomial];

fn backoff(given: Given<'_, '_>) -> Result<Backoff, Fault> {
    match given.node.as_str() {
        // Another word for a pause that does not grow.
        Some("none") => Ok(Backoff::Constant),
        _ => choice(given, "shape", BACKOFFS, backoff_name),
    }
}

/// One of a few values by its name.
pub(super) fn choice<T: Copy>(
    given: Given<'_, '_>,
    what: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, Fault> {
    let text = given.text("a string")?;
    all.iter().copied().find(|value| name(*value) == text).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|value| name(*value)).collect();
        Fault::unknown(given.place, what, text, &known)
    })
}
