//! The `policy` column: a unique policy as JSON, without what is default.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use hapax_core::unique::{Anchor, Dimensions, Field, FieldSet, Replacement, Strategy, UniquePolicy};
use hapax_core::{State, StateSet};
use serde::{Deserialize, Serialize};

use super::cells::millis;
use super::options::Unreadable;

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Policy<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args_keys: Option<Vec<Cow<'a, str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta_keys: Option<Vec<Cow<'a, str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    period_from: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    states: Option<Vec<Cow<'a, str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    on_conflict: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replace: Option<BTreeMap<Cow<'a, str>, Vec<Cow<'a, str>>>>,
}

pub(super) fn write(policy: &UniquePolicy) -> String {
    let UniquePolicy {
        dimensions: Dimensions { queue, args, meta },
        args_keys,
        meta_keys,
        key,
        period,
        period_from,
        states,
        on_conflict,
        replace,
    } = policy;
    let dimensions = [("queue", *queue), ("args", *args), ("meta", *meta)];
    let named = |(name, taken): (&'static str, bool)| taken.then_some(Cow::Borrowed(name));
    json(&Policy {
        keys: dimensions.into_iter().filter_map(named).collect(),
        args_keys: args_keys.as_deref().map(borrowed),
        meta_keys: meta_keys.as_deref().map(borrowed),
        key: key.as_deref().map(Cow::Borrowed),
        period_ms: period.map(millis),
        period_from: unless(period_from, &Anchor::CreatedAt).map(|anchor| Cow::Borrowed(anchor.name())),
        states: unless(states, &StateSet::INCOMPLETE)
            .map(|states| states.iter().map(|state| Cow::Borrowed(state.name())).collect()),
        on_conflict: unless(on_conflict, &Strategy::Reject).map(|strategy| Cow::Borrowed(strategy.name())),
        replace: replace.map(write_replacement),
    })
}

fn borrowed(names: &[Box<str>]) -> Vec<Cow<'_, str>> {
    names.iter().map(|name| Cow::Borrowed(&**name)).collect()
}

fn unless<'v, T: PartialEq>(value: &'v T, default: &T) -> Option<&'v T> {
    Some(value).filter(|value| *value != default)
}

fn write_replacement(replacement: Replacement) -> BTreeMap<Cow<'static, str>, Vec<Cow<'static, str>>> {
    let fields = |state| replacement.fields(state).iter().map(|field| Cow::Borrowed(field.name())).collect();
    let listed = State::ALL.into_iter().filter(|state| !replacement.fields(*state).is_empty());
    listed.map(|state| (Cow::Borrowed(state.name()), fields(state))).collect()
}

pub(super) fn read(text: &str) -> Result<UniquePolicy, Unreadable> {
    let Policy { keys, args_keys, meta_keys, key, period_ms, period_from, states, on_conflict, replace } =
        serde_json::from_str(text)?;
    let mut dimensions = Dimensions::default();
    for name in keys {
        match &*name {
            "queue" => dimensions.queue = true,
            "args" => dimensions.args = true,
            "meta" => dimensions.meta = true,
            _ => return Err(Unreadable),
        }
    }
    let owned = |names: Vec<Cow<'_, str>>| names.into_iter().map(Into::into).collect();
    let period = period_ms.map(u64::try_from).transpose().map_err(|_| Unreadable)?;
    Ok(UniquePolicy {
        dimensions,
        args_keys: args_keys.map(owned),
        meta_keys: meta_keys.map(owned),
        key: key.map(Into::into),
        period: period.map(Duration::from_millis),
        period_from: named(period_from, &Anchor::ALL, Anchor::name)?.unwrap_or(Anchor::CreatedAt),
        states: states.as_deref().map(read_states).transpose()?.unwrap_or(StateSet::INCOMPLETE),
        on_conflict: named(on_conflict, &Strategy::ALL, Strategy::name)?.unwrap_or(Strategy::Reject),
        replace: replace.map(read_replacement).transpose()?,
    })
}

/// The value of that name, among all there are.
fn named<T: Copy>(
    name: Option<Cow<'_, str>>,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<Option<T>, Unreadable> {
    let find =
        |name: Cow<'_, str>| all.iter().copied().find(|value| name_of(*value) == name).ok_or(Unreadable);
    name.map(find).transpose()
}

fn read_states(names: &[Cow<'_, str>]) -> Result<StateSet, Unreadable> {
    names.iter().map(|name| name.parse::<State>().map_err(|_| Unreadable)).collect()
}

fn read_replacement(listed: BTreeMap<Cow<'_, str>, Vec<Cow<'_, str>>>) -> Result<Replacement, Unreadable> {
    let field = |name: Cow<'_, str>| named(Some(name), &Field::ALL, Field::name)?.ok_or(Unreadable);
    let mut replacement = Replacement::default();
    for (state, fields) in listed {
        let state = state.parse().map_err(|_| Unreadable)?;
        let fields = fields.into_iter().map(field).collect::<Result<FieldSet, _>>()?;
        replacement = replacement.with(state, fields);
    }
    Ok(replacement)
}

/// The JSON text of a record of ours.
#[expect(clippy::expect_used, reason = "records hold texts and integers only, and their keys are texts")]
pub(super) fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("a record has a JSON form")
}
