//! What becomes of a duplicate.

use hapax_core::nearest;
use hapax_core::unique::{Debounce, Field, FieldSet, Replacement, UniquePolicy, WhileActive};

use super::ENDLESS;
use crate::compat;
use crate::from_wire::retry::choice;
use crate::from_wire::states::state;
use crate::from_wire::{Fault, Given, Place, span};

/// Reads the members that say so.
pub(super) fn read(policy: &mut UniquePolicy, given: Given<'_, '_>) -> Result<(), Fault> {
    let on_conflict = given.member("on_conflict");
    if let Some(given) = on_conflict {
        policy.on_conflict = compat::strategy(given)?;
    }
    if let Some(given) = given.member("replace") {
        policy.replace = Some(replacement(given)?);
    }
    if let Some(given) = given.member("debounce") {
        policy.debounce = Some(debounce(given)?);
    }
    if let Some(given) = given.member("while_active") {
        policy.while_active = Some(choice(given, "choice", &WhileActive::ALL, WhileActive::name)?);
    }
    match (policy.debounce, on_conflict) {
        (Some(_), Some(given)) => {
            let problem =
                "stands beside debounce, which says what becomes of a duplicate; send one of the two";
            Err(Fault::new(given.place, problem))
        }
        _ => Ok(()),
    }
}

fn debounce(given: Given<'_, '_>) -> Result<Debounce, Fault> {
    given.expect_object("an object such as {\"wait\": \"PT10S\"}")?;
    given.expect_only(&["wait", "max_wait"])?;
    let span = |given| span::seconds_or_iso(given, "an ISO 8601 duration such as PT10S, or whole seconds");
    let wait = given.required("wait", "how long after the newest duplicate the job starts, such as PT10S")?;
    let wait = span(wait)?;
    let Some(given) = given.member("max_wait") else { return Ok(Debounce { wait, max_wait: None }) };
    if given.node.as_str().is_some_and(|text| nearest(text, &[ENDLESS]).is_some()) {
        return Err(Fault::new(given.place, "has no word for ever; leave it out for no limit"));
    }
    Ok(Debounce { wait, max_wait: Some(span(given)?) })
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
