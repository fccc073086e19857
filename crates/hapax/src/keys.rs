//! API keys: a file with a secret per line, of which only the hashes stay.

use std::collections::HashSet;
use std::path::Path;

use hapax_http::ApiKey;
use sha2::{Digest as _, Sha256};

use crate::failure::Failure;
use crate::secret::{self, Entry, Secret};

/// Shortest secret that cannot be guessed over the network.
const SECRET_MIN: usize = 16;
/// Longest name of a key.
const NAME_MAX: usize = 64;
/// The name of the key from the environment.
const DEFAULT_NAME: &str = "default";

/// The keys of the file and of the environment.
pub(crate) fn load(file: Option<&Path>, alone: Option<Secret>) -> Result<Vec<ApiKey>, Failure> {
    let mut keys = Vec::new();
    if let Some(secret) = alone {
        let too_short =
            |_| Failure::new(format!("OJS_API_KEY is shorter than {SECRET_MIN} characters")).hint(RECIPE);
        keys.push(key(DEFAULT_NAME, secret.reveal()).map_err(too_short)?);
    }
    if let Some(path) = file {
        let text = secret::read(path)?;
        let fault = |fault: String| Failure::new(format!("{}: {fault}", path.display())).hint(RECIPE);
        keys.extend(parse(text.reveal()).map_err(fault)?);
    }
    let mut names = HashSet::new();
    match keys.iter().find(|key| !names.insert(&key.name)) {
        Some(twice) => Err(Failure::new(format!("two API keys are called {}", twice.name))),
        None => Ok(keys),
    }
}

const RECIPE: &str =
    "a key per line, as name:secret; to make one: echo \"worker:$(openssl rand -hex 32)\" >> FILE";

/// Faults name the line, never what stands in it.
fn parse(text: &str) -> Result<Vec<ApiKey>, String> {
    let mut keys: Vec<ApiKey> = Vec::new();
    for Entry { line: number, name, secret } in secret::entries(text) {
        let Some(name) = name else {
            // A name alone would be taken for a secret, and names can be guessed.
            return Err(format!("line {number}: there is no colon between a name and a secret"));
        };
        if !is_name(name) {
            return Err(format!(
                "line {number}: a name is 1 to {NAME_MAX} letters, digits, dots, dashes and underscores"
            ));
        }
        let key = key(name, secret).map_err(|TooShort| {
            format!("line {number}: the secret is shorter than {SECRET_MIN} characters")
        })?;
        if keys.iter().any(|other| other.digest == key.digest) {
            return Err(format!("line {number}: the secret stands there twice"));
        }
        keys.push(key);
    }
    if keys.is_empty() { Err("there is no key in it".into()) } else { Ok(keys) }
}

fn is_name(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

struct TooShort;

fn key(name: &str, secret: &str) -> Result<ApiKey, TooShort> {
    if secret.chars().count() < SECRET_MIN {
        return Err(TooShort);
    }
    Ok(ApiKey { name: name.into(), digest: Sha256::digest(secret.as_bytes()).into() })
}

#[cfg(test)]
mod tests;
