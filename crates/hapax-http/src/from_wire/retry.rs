//! The retry policy: every fault in it is a `validation_error` that names the member.

use hapax_core::{Backoff, Exhaustion, RetryError, RetryPolicy};
use hapax_wire::error::Code;
use hapax_wire::{backoff_name, exhaustion_name};

use super::{Fault, Given, Place, span};
use crate::compat;

/// The members of a policy.
const MEMBERS: &[&str] = &[
    "max_attempts",
    "initial_interval",
    "backoff_coefficient",
    "max_interval",
    "jitter",
    "non_retryable_errors",
    "on_exhaustion",
    "backoff_strategy",
];
/// The first pause in milliseconds: one name is that of the HTTP binding and of the Go SDK, one that of the conformance
/// suite, one that of the document about workflows.
const FIRST_PAUSES: &[&str] = &["initial_interval_ms", "initial_delay_ms", "base_delay_ms"];
const LONGEST_PAUSES: &[&str] = &["max_interval_ms"];
/// Four documents, four names.
const SHAPES: &[&str] = &["backoff_strategy", "backoff_type", "strategy", "backoff"];

/// Reads a policy; what it leaves out has its default.
pub(super) fn policy(given: Given<'_, '_>) -> Result<RetryPolicy, Fault> {
    let change = change(given)?;
    change.of(None).map_err(|error| Fault::coded(Code::ValidationError, given.place, error))
}

/// Reads a change of a policy.
pub(super) fn change(given: Given<'_, '_>) -> Result<RetryChange, Fault> {
    read(given).map_err(|fault| fault.with_code(Code::ValidationError))
}

/// A change of a policy: what is not mentioned stays, and null brings the default back.
#[derive(Debug, Clone)]
pub(crate) struct RetryChange {
    given: RetryPolicy,
    mentioned: Vec<&'static str>,
    /// Whether it says how long a pause may be at most.
    caps: bool,
}

impl RetryChange {
    /// The policy after the change.
    pub(super) fn of(&self, before: Option<&RetryPolicy>) -> Result<RetryPolicy, RetryError> {
        let given = &self.given;
        let mut after = before.cloned().unwrap_or_default();
        for name in &self.mentioned {
            match *name {
                "max_attempts" => after.max_attempts = given.max_attempts,
                "initial_interval" => after.initial_interval = given.initial_interval,
                "backoff_coefficient" => after.backoff_coefficient = given.backoff_coefficient,
                "max_interval" => after.max_interval = given.max_interval,
                "jitter" => after.jitter = given.jitter,
                "non_retryable_errors" => after.non_retryable_errors.clone_from(&given.non_retryable_errors),
                "on_exhaustion" => after.on_exhaustion = given.on_exhaustion,
                _ => after.backoff = given.backoff,
            }
        }
        if !self.caps {
            // A cap that nobody spoke of must not refuse a long first pause that the client did ask for.
            after.max_interval = after.max_interval.max(after.initial_interval);
        }
        after.validate()?;
        Ok(after)
    }
}

/// Whether a policy does not say what becomes of the job in the end.
pub(super) fn is_open_ended(given: Given<'_, '_>) -> bool {
    Spellings(given).member("on_exhaustion").is_none()
}

/// The number of attempts, which may also stand beside the policy.
pub(super) fn max_attempts(given: Given<'_, '_>) -> Result<u32, Fault> {
    let number = given.integer(0, u32::MAX.into()).map_err(|fault| fault.with_code(Code::ValidationError))?;
    Ok(u32::try_from(number).unwrap_or(u32::MAX))
}

fn read(policy: Given<'_, '_>) -> Result<RetryChange, Fault> {
    policy.expect_object("an object")?;
    let mentioned = mentioned(&policy)?;
    let given = Spellings(policy);
    let mut policy = RetryPolicy::default();
    if let Some(given) = given.member("max_attempts") {
        policy.max_attempts = max_attempts(given)?;
    }
    if let Some(given) = given.member("initial_interval") {
        policy.initial_interval = span::iso(given)?;
    } else if let Some(given) = given.first(FIRST_PAUSES) {
        policy.initial_interval = span::millis(given, 1)?;
    }
    if let Some(given) = given.member("backoff_coefficient") {
        policy.backoff_coefficient = given.node.as_f64().ok_or_else(|| given.wrong("a number"))?;
    }
    let cap = match (given.member("max_interval"), given.first(LONGEST_PAUSES)) {
        (Some(given), _) => Some(span::iso(given)?),
        (None, Some(given)) => Some(span::millis(given, 1)?),
        (None, None) => None,
    };
    policy.max_interval = cap.unwrap_or(policy.max_interval);
    if let Some(given) = given.member("jitter") {
        policy.jitter = given.flag()?;
    }
    if let Some(given) = given.member("non_retryable_errors") {
        policy.non_retryable_errors = given.texts()?;
    }
    if let Some(given) = given.member("on_exhaustion") {
        policy.on_exhaustion = choice(given, "outcome", EXHAUSTIONS, exhaustion_name)?;
    }
    if let Some(given) = given.first(SHAPES) {
        policy.backoff = backoff(given)?;
    }
    Ok(RetryChange { given: policy, mentioned, caps: cap.is_some() })
}

/// What the policy speaks of, in the spec's own words. Nothing else passes: a misspelt limit would be none.
fn mentioned(policy: &Given<'_, '_>) -> Result<Vec<&'static str>, Fault> {
    let members = policy.node.as_object().unwrap_or_default();
    let mut mentioned = Vec::with_capacity(members.len());
    for member in members {
        let name = member.name.as_ref();
        let is = |known: &&&str| **known == name || compat::is_camel_case_of(name, known);
        let meant = match MEMBERS.iter().find(is) {
            Some(known) => *known,
            None if FIRST_PAUSES.iter().any(|known| is(&known)) => "initial_interval",
            None if LONGEST_PAUSES.iter().any(|known| is(&known)) => "max_interval",
            None if SHAPES.iter().any(|known| is(&known)) => "backoff_strategy",
            None => return Err(Fault::unknown(Place::Member(&policy.place, name), "member", name, MEMBERS)),
        };
        mentioned.push(meant);
    }
    Ok(mentioned)
}

/// The JavaScript SDK writes the members of policies inside workflows in camel case.
struct Spellings<'n, 'a>(Given<'n, 'a>);

impl<'a> Spellings<'_, 'a> {
    /// The first that is there of several names for the same.
    fn first<'m>(&'m self, names: &'m [&'m str]) -> Option<Given<'m, 'a>> {
        names.iter().find_map(|name| self.member(name))
    }

    fn member<'m>(&'m self, name: &'m str) -> Option<Given<'m, 'a>> {
        self.0.member(name).or_else(|| {
            let members = self.0.node.as_object().unwrap_or_default();
            let same = |member: &&hapax_core::json::Member<'_>| compat::is_camel_case_of(&member.name, name);
            let member = members.iter().find(same).filter(|member| !member.node.is_null())?;
            Some(Given { node: &member.node, place: Place::Member(&self.0.place, &member.name) })
        })
    }
}

pub(crate) const EXHAUSTIONS: &[Exhaustion] = &[Exhaustion::Discard, Exhaustion::DeadLetter];
pub(crate) const BACKOFFS: &[Backoff] =
    &[Backoff::Constant, Backoff::Linear, Backoff::Exponential, Backoff::Polynomial];

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
