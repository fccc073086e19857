//! `hapax keys`: the uniqueness keys that jobs hold, and how to set one free.

mod consent;
mod list;
mod release;
mod remove;
mod show;

use crate::cli::{Keys, KeysAction};
use crate::client::ApiPath;
use crate::failure::Failure;
use crate::session::Session;

/// Lists the keys, or does what the action says.
pub(crate) fn run(keys: &Keys) -> Result<(), Failure> {
    let Keys { action, filter, remote } = keys;
    if let (Some(action), Some(flag)) = (action, filter.given()) {
        let name = name(action);
        let sentence = format!("{flag} before `{name}` is about the list of keys");
        return Err(Failure::misuse(sentence).hint(format!("see `hapax keys {name} --help`")));
    }
    let session = Session::open(remote)?;
    match action {
        None => list::run(&session, filter),
        Some(KeysAction::Show(show)) => show::run(&session, show),
        Some(KeysAction::Release(release)) => release::run(&session, release),
        Some(KeysAction::Remove(remove)) => remove::run(&session, remove),
    }
}

const fn name(action: &KeysAction) -> &'static str {
    match action {
        KeysAction::Show(_) => "show",
        KeysAction::Release(_) => "release",
        KeysAction::Remove(_) => "remove",
    }
}

fn keys() -> ApiPath {
    ApiPath::new("/ojs/v1/unique/keys")
}
