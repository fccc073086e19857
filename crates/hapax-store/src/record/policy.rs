//! The `policy` column: what makes a job unique as JSON, a policy without what is default or a job key.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hapax_core::unique::{
    Anchor, Debounce, Dimensions, Field, FieldSet, JobKey, JobKeyMode, Replacement, Strategy, UniquePolicy,
    Uniqueness, WhileActive,
};
use hapax_core::{State, StateSet};
use serde::{Deserialize, Serialize};

use super::{Unreadable, json, millis, named, span};

/// Either form. Not an enum without a tag: serde would copy each text before it looked at the first member, for
/// every unique job at every start.
#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Column<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    job_key: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Cow<'a, str>>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    debounce: Option<Wait>,
    #[serde(skip_serializing_if = "Option::is_none")]
    while_active: Option<Cow<'a, str>>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wait {
    wait_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_wait_ms: Option<i64>,
}

/// The text for the column.
pub fn write(uniqueness: &Uniqueness) -> String {
    json(&match uniqueness {
        Uniqueness::Policy(policy) => write_policy(policy),
        Uniqueness::JobKey(JobKey { name, mode }) => Column {
            job_key: Some(Cow::Borrowed(name)),
            mode: Some(Cow::Borrowed(mode.name())),
            ..Column::default()
        },
    })
}

fn write_policy(policy: &UniquePolicy) -> Column<'_> {
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
        debounce,
        while_active,
    } = policy;
    let dimensions = [("queue", *queue), ("args", *args), ("meta", *meta)];
    let named = |(name, taken): (&'static str, bool)| taken.then_some(Cow::Borrowed(name));
    Column {
        job_key: None,
        mode: None,
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
        debounce: debounce.map(write_debounce),
        while_active: while_active.map(|choice| Cow::Borrowed(choice.name())),
    }
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

fn write_debounce(debounce: Debounce) -> Wait {
    let Debounce { wait, max_wait } = debounce;
    Wait { wait_ms: millis(wait), max_wait_ms: max_wait.map(millis) }
}

/// What the text says.
pub fn read(text: &str) -> Result<Uniqueness, Unreadable> {
    let mut column: Column<'_> = serde_json::from_str(text)?;
    match (column.job_key.take(), column.mode.take()) {
        (None, None) => read_policy(column).map(Uniqueness::Policy),
        (Some(name), Some(mode)) if column == Column::default() => {
            let mode = named(Some(mode), &JobKeyMode::ALL, JobKeyMode::name)?.ok_or(Unreadable)?;
            Ok(Uniqueness::JobKey(JobKey { name: name.into(), mode }))
        }
        _ => Err(Unreadable),
    }
}

fn read_policy(column: Column<'_>) -> Result<UniquePolicy, Unreadable> {
    let Column {
        job_key: _,
        mode: _,
        keys,
        args_keys,
        meta_keys,
        key,
        period_ms,
        period_from,
        states,
        on_conflict,
        replace,
        debounce,
        while_active,
    } = column;
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
    Ok(UniquePolicy {
        dimensions,
        args_keys: args_keys.map(owned),
        meta_keys: meta_keys.map(owned),
        key: key.map(Into::into),
        period: period_ms.map(span).transpose()?,
        period_from: named(period_from, &Anchor::ALL, Anchor::name)?.unwrap_or(Anchor::CreatedAt),
        states: states.as_deref().map(read_states).transpose()?.unwrap_or(StateSet::INCOMPLETE),
        on_conflict: named(on_conflict, &Strategy::ALL, Strategy::name)?.unwrap_or(Strategy::Reject),
        replace: replace.map(read_replacement).transpose()?,
        debounce: debounce.map(read_debounce).transpose()?,
        while_active: named(while_active, &WhileActive::ALL, WhileActive::name)?,
    })
}

fn read_debounce(debounce: Wait) -> Result<Debounce, Unreadable> {
    let Wait { wait_ms, max_wait_ms } = debounce;
    Ok(Debounce { wait: span(wait_ms)?, max_wait: max_wait_ms.map(span).transpose()? })
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

#[cfg(test)]
mod tests;
