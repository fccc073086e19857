//! The unique policy. A typo here would silently switch protection off, so nothing unknown passes.

mod conflict;
mod key_parts;

use std::time::Duration;

use hapax_core::nearest;
use hapax_core::unique::{Anchor, PolicyError, UniquePolicy};
use hapax_wire::unique::FACTS;

use super::retry::choice;
use super::states::states;
use super::{Fault, Given, Place, span};
use crate::compat;

pub(crate) use key_parts::{DIMENSIONS, dimensions, is_dimension};

const MEMBERS: &[&str] = &[
    "keys",
    "args_keys",
    "meta_keys",
    "key",
    "period",
    "period_from",
    "timestamp",
    "states",
    "on_conflict",
    "replace",
    "debounce",
    "while_active",
];

/// The word for a period without end.
const ENDLESS: &str = "infinity";

/// Reads a policy; what it leaves out has its default.
pub(super) fn policy(given: Given<'_, '_>) -> Result<UniquePolicy, Fault> {
    given.expect_object("an object")?;
    refuse_unknown_members(given)?;
    let mut policy = UniquePolicy::default();
    key_parts::read(&mut policy, given)?;
    read_window(&mut policy, given)?;
    if let Some(given) = given.member("states") {
        policy.states = states(given)?;
    }
    conflict::read(&mut policy, given)?;
    policy.validate().map_err(|error| contradiction(given.place, &error))?;
    Ok(policy)
}

/// Whether the server adds this member when it shows a policy: a job that is sent back as it was read may have it.
pub(super) fn is_shown(name: &str) -> bool {
    FACTS.contains(&name)
}

fn refuse_unknown_members(given: Given<'_, '_>) -> Result<(), Fault> {
    for member in given.node.as_object().unwrap_or_default() {
        let name = member.name.as_ref();
        if !MEMBERS.contains(&name) && name != compat::PERIOD_MS && !is_shown(name) {
            return Err(Fault::unknown(Place::Member(&given.place, name), "member", name, MEMBERS));
        }
    }
    Ok(())
}

/// How long a holder counts.
fn read_window(policy: &mut UniquePolicy, given: Given<'_, '_>) -> Result<(), Fault> {
    if let Some(given) = given.member("period") {
        policy.period = period(given)?;
    }
    if let Some(millis) = given.member(compat::PERIOD_MS) {
        if given.member("period").is_some() {
            return Err(Fault::new(millis.place, "is period in milliseconds; send only one of them"));
        }
        policy.period = Some(span::millis(millis, 1)?);
    }
    let given_moment = given.member("period_from");
    if let Some(moment) = given_moment {
        policy.period_from = anchor(moment)?;
    }
    if let Some(moment) = given.member("timestamp") {
        let other = anchor(moment)?;
        if given_moment.is_some() && other != policy.period_from {
            return Err(moment.wrong("the moment that period_from names, since it is another name of it"));
        }
        policy.period_from = other;
    }
    Ok(())
}

/// Parts that make no sense together, with the member that would have to change.
fn contradiction(place: Place<'_>, error: &PolicyError) -> Fault {
    let member = match error {
        PolicyError::NoStates
        | PolicyError::DebounceWithoutScheduled
        | PolicyError::DebounceEnded(_)
        | PolicyError::WhileActiveWithout(_) => "states",
        PolicyError::NoArgsKeys => "args_keys",
        PolicyError::NoMetaKeys => "meta_keys",
        PolicyError::NoPeriod => "period",
        PolicyError::EmptyKey => "key",
        PolicyError::WhileActiveFromSchedule => "period_from",
        PolicyError::ReplaceAndDebounce => "debounce",
        PolicyError::ReplaceAndWhileActive => "while_active",
        PolicyError::NoWait => return in_debounce(place, "wait", error),
        PolicyError::NoMaxWait => return in_debounce(place, "max_wait", error),
    };
    Fault::new(Place::Member(&place, member), error)
}

fn in_debounce(place: Place<'_>, member: &str, error: &PolicyError) -> Fault {
    Fault::new(Place::Member(&Place::Member(&place, "debounce"), member), error)
}

fn period(given: Given<'_, '_>) -> Result<Option<Duration>, Fault> {
    match given.node.as_str() {
        Some(ENDLESS) => Ok(None),
        Some(text) if nearest(text, &[ENDLESS]).is_some() => {
            let text: String = text.chars().take(60).collect();
            let problem = format_args!("{text:?} is not an ISO 8601 duration; did you mean {ENDLESS:?}?");
            Err(Fault::new(given.place, problem))
        }
        _ => span::seconds_or_iso(given, "an ISO 8601 duration such as PT1H, whole seconds, or \"infinity\"")
            .map(Some),
    }
}

/// Oban calls the member `timestamp` and the first moment `inserted_at`; both names take both.
fn anchor(given: Given<'_, '_>) -> Result<Anchor, Fault> {
    match given.node.as_str() {
        Some("inserted_at") => Ok(Anchor::CreatedAt),
        _ => choice(given, "moment", &Anchor::ALL, Anchor::name),
    }
}
