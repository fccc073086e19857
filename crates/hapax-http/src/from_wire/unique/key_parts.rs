//! What the key of a policy is made of.

use hapax_core::unique::{Dimensions, UniquePolicy};

use crate::compat;
use crate::from_wire::{Fault, Given, Place};

pub(crate) const DIMENSIONS: &[&str] = &["type", "queue", "args", "meta"];

/// What the key is made of.
pub(super) fn read(policy: &mut UniquePolicy, given: Given<'_, '_>) -> Result<(), Fault> {
    if let Some(given) = given.member("keys") {
        policy.dimensions = dimensions(&given.names()?, given)?;
    }
    policy.args_keys = members(given.member("args_keys"), policy.dimensions.args)?;
    policy.meta_keys = members(given.member("meta_keys"), policy.dimensions.meta)?;
    if let Some(given) = given.member("key") {
        read_key(policy, given)?;
    }
    refuse_idle_members(policy, given)
}

/// Names of members are of no use without the dimension that they belong to, or beside an own key, which stands for all of
/// args and meta; and whoever sends them means it.
fn refuse_idle_members(policy: &UniquePolicy, given: Given<'_, '_>) -> Result<(), Fault> {
    let UniquePolicy { dimensions, args_keys, meta_keys, key, .. } = policy;
    let named = [
        ("args_keys", "args", args_keys, dimensions.args),
        ("meta_keys", "meta", meta_keys, dimensions.meta),
    ];
    for (member, dimension, names, is_asked_for) in named {
        let place = Place::Member(&given.place, member);
        if names.is_some() && key.is_some() {
            return Err(Fault::new(
                place,
                format_args!("does nothing beside key, which stands in the place of {dimension}"),
            ));
        }
        if names.is_some() && !is_asked_for {
            let problem =
                format_args!("does nothing unless keys names {dimension}; add \"{dimension}\" to keys");
            return Err(Fault::new(place, problem));
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
