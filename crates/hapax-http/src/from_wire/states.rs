//! The states of a policy: a list of them, or a group by its name.

use hapax_core::{State, StateSet};

use super::{Fault, Given, Place};

/// Groups that have a name. One of them is also the name of its only state.
pub(crate) const GROUPS: [(&str, StateSet); 4] = [
    ("all", StateSet::ALL),
    ("incomplete", StateSet::INCOMPLETE),
    (State::Scheduled.name(), StateSet::of(&[State::Scheduled])),
    ("successful", StateSet::SUCCESSFUL),
];

/// A list of states, or the name of a group.
pub(super) fn states(given: Given<'_, '_>) -> Result<StateSet, Fault> {
    if let Some(text) = given.node.as_str() {
        return group(text).ok_or_else(|| no_group(text, given.place));
    }
    let names = given.names()?;
    let names = names.iter().enumerate();
    names.map(|(index, name)| in_list(name, Place::Item(&given.place, index))).collect()
}

/// One state.
pub(super) fn state(name: &str, place: Place<'_>) -> Result<State, Fault> {
    name.parse().map_err(|_| Fault::unknown(place, "state", name, &State::ALL.map(State::name)))
}

fn group(name: &str) -> Option<StateSet> {
    GROUPS.iter().find(|(known, _)| *known == name).map(|(_, states)| *states)
}

/// A state alone is a list of one.
fn no_group(text: &str, place: Place<'_>) -> Fault {
    match text.parse::<State>() {
        Ok(state) => {
            Fault::new(place, format_args!("{text:?} is one state, and a list is wanted: [\"{state}\"]"))
        }
        Err(_) => Fault::unknown(place, "group of states", text, &GROUPS.map(|(name, _)| name)),
    }
}

fn in_list(name: &str, place: Place<'_>) -> Result<State, Fault> {
    match (name.parse::<State>(), group(name)) {
        (Err(_), Some(_)) => {
            let problem =
                format_args!("{name:?} is a group, which stands alone as a text: \"states\": {name:?}");
            Err(Fault::new(place, problem))
        }
        _ => state(name, place),
    }
}
