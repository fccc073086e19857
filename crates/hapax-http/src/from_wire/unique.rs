//! The unique policy. A typo here would silently switch protection off, so nothing unknown passes.

use hapax_core::unique::{Anchor, Dimensions, Field, FieldSet, Replacement, UniquePolicy};
use hapax_core::{State, StateSet};

use super::retry::choice;
use super::{Fault, Given, Place, span};
use crate::compat;

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
];

/// What the server adds when it shows a policy: a job that is sent back as it was read may have them.
const SHOWN: &[&str] = &["uniqueness_key", "duplicates", "reentered_beside"];

const DIMENSIONS: &[&str] = &["type", "queue", "args", "meta"];

/// The word for a period without end.
const ENDLESS: &str = "infinity";

/// Reads a policy; what it leaves out has its default.
pub(super) fn policy(given: Given<'_, '_>) -> Result<UniquePolicy, Fault> {
    given.expect_object("an object")?;
    refuse_unknown_members(given)?;
    let mut policy = UniquePolicy::default();
    if let Some(given) = given.member("keys") {
        policy.dimensions = dimensions(&given.names()?, given)?;
    }
    policy.args_keys = members(given.member("args_keys"), policy.dimensions.args)?;
    policy.meta_keys = members(given.member("meta_keys"), policy.dimensions.meta)?;
    if let Some(given) = given.member("key") {
        read_key(&mut policy, given)?;
    }
    if let Some(given) = given.member("period") {
        policy.period = period(given)?;
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
    if let Some(given) = given.member("states") {
        policy.states = states(given)?;
    }
    if let Some(given) = given.member("on_conflict") {
        policy.on_conflict = compat::strategy(given)?;
    }
    if let Some(given) = given.member("replace") {
        policy.replace = Some(replacement(given)?);
    }
    policy.validate().map_err(|error| Fault::new(given.place, error))?;
    Ok(policy)
}

fn refuse_unknown_members(given: Given<'_, '_>) -> Result<(), Fault> {
    for member in given.node.as_object().unwrap_or_default() {
        let name = member.name.as_ref();
        if !MEMBERS.contains(&name) && !SHOWN.contains(&name) {
            return Err(Fault::unknown(Place::Member(&given.place, name), "member", name, MEMBERS));
        }
    }
    Ok(())
}

/// The dimensions that a list names.
pub(crate) fn dimensions(names: &[Box<str>], given: Given<'_, '_>) -> Result<Dimensions, Fault> {
    let mut dimensions = Dimensions::default();
    for (index, name) in names.iter().enumerate() {
        match &**name {
            // Always part of the key.
            "type" => {}
            "queue" => dimensions.queue = true,
            "args" => dimensions.args = true,
            "meta" => dimensions.meta = true,
            unknown => {
                return Err(Fault::unknown(
                    Place::Item(&given.place, index),
                    "dimension",
                    unknown,
                    DIMENSIONS,
                ));
            }
        }
    }
    Ok(dimensions)
}

/// The members of a dimension that count; none at all is the same as no list if the dimension is not asked for.
fn members(given: Option<Given<'_, '_>>, is_asked_for: bool) -> Result<Option<Vec<Box<str>>>, Fault> {
    let names = given.map(|given| given.names()).transpose()?;
    Ok(names.filter(|names| is_asked_for || !names.is_empty()))
}

/// Whether the name is one of a dimension.
pub(crate) fn is_dimension(name: &str) -> bool {
    DIMENSIONS.contains(&name)
}

/// A text is the client's own key; a list is what two SDKs send.
fn read_key(policy: &mut UniquePolicy, given: Given<'_, '_>) -> Result<(), Fault> {
    if given.node.as_array().is_some() {
        return compat::key_list(policy, given);
    }
    policy.key = Some(given.text("a string")?.into());
    Ok(())
}

fn period(given: Given<'_, '_>) -> Result<Option<std::time::Duration>, Fault> {
    match given.node.as_str() {
        Some(ENDLESS) => Ok(None),
        Some(_) => span::iso(given).map(Some),
        None if given.node.as_f64().is_some() => span::seconds(given, 1).map(Some),
        None => Err(given.wrong("an ISO 8601 duration such as PT1H, whole seconds, or \"infinity\"")),
    }
}

/// Oban calls the member `timestamp` and the first moment `inserted_at`; both names take both.
fn anchor(given: Given<'_, '_>) -> Result<Anchor, Fault> {
    match given.node.as_str() {
        Some("inserted_at") => Ok(Anchor::CreatedAt),
        _ => choice(given, "moment", &Anchor::ALL, Anchor::name),
    }
}

/// A list of states, or the name of a group.
fn states(given: Given<'_, '_>) -> Result<StateSet, Fault> {
    let groups = [
        ("all", StateSet::ALL),
        ("incomplete", StateSet::INCOMPLETE),
        (State::Scheduled.name(), StateSet::of(&[State::Scheduled])),
        ("successful", StateSet::SUCCESSFUL),
    ];
    if let Some(text) = given.node.as_str() {
        return groups.iter().find(|(name, _)| *name == text).map(|(_, set)| *set).ok_or_else(|| {
            Fault::unknown(given.place, "group of states", text, &groups.map(|(name, _)| name))
        });
    }
    let names = given.names()?;
    let names = names.iter().enumerate();
    names.map(|(index, name)| state(name, Place::Item(&given.place, index))).collect()
}

fn state(name: &str, place: Place<'_>) -> Result<State, Fault> {
    name.parse().map_err(|_| Fault::unknown(place, "state", name, &State::ALL.map(State::name)))
}

/// Fields for every state, or by state.
fn replacement(given: Given<'_, '_>) -> Result<Replacement, Fault> {
    let Some(members) = given.node.as_object() else {
        let wanted = "an array of fields, or an object from states to such arrays";
        given.node.as_array().ok_or_else(|| given.wrong(wanted))?;
        return Ok(Replacement::everywhere(fields(given)?));
    };
    let mut replacement = Replacement::default();
    for member in members {
        let given = Given { node: &member.node, place: Place::Member(&given.place, &member.name) };
        replacement = replacement.with(state(&member.name, given.place)?, fields(given)?);
    }
    if members.is_empty() {
        return Err(Fault::new(given.place, "must name at least one state"));
    }
    Ok(replacement)
}

fn fields(given: Given<'_, '_>) -> Result<FieldSet, Fault> {
    let fields: FieldSet = given
        .items("an array of fields")?
        .map(|item| choice(item, "field", &Field::ALL, Field::name))
        .collect::<Result<_, _>>()?;
    if fields.is_empty() { Err(Fault::new(given.place, "must name at least one field")) } else { Ok(fields) }
}
