//! Who may ask.

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

use crate::ApiKey;

/// The keys of the server.
#[derive(Debug)]
pub(crate) struct Auth {
    keys: Vec<ApiKey>,
}

/// Who asks, as far as the server cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Anybody: the server has no keys, or the route is open.
    Anybody,
    /// The holder of the key with this index.
    Holder(usize),
}

/// The request shows no key of this server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoKey;

impl Auth {
    pub(crate) fn new(keys: Vec<ApiKey>) -> Auth {
        Auth { keys }
    }

    /// Whether anybody has to show a key.
    pub(crate) fn wants_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Who shows these headers.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<Caller, NoKey> {
        if self.keys.is_empty() {
            return Ok(Caller::Anybody);
        }
        let secret = bearer(headers).ok_or(NoKey)?;
        let digest: [u8; 32] = Sha256::digest(secret).into();
        // Every key is compared, and each in constant time: how long it takes says nothing about any of them.
        let mut found = None;
        for (index, key) in self.keys.iter().enumerate() {
            let is_equal: Choice = key.digest.ct_eq(&digest);
            if bool::from(is_equal) {
                found = Some(index);
            }
        }
        found.map(Caller::Holder).ok_or(NoKey)
    }

    /// The name of the caller's key, for the log.
    pub(crate) fn name(&self, caller: Caller) -> Option<&str> {
        match caller {
            Caller::Anybody => None,
            Caller::Holder(index) => self.keys.get(index).map(|key| &*key.name),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    const SCHEME: &[u8] = b"bearer ";

    let value = headers.get(header::AUTHORIZATION)?.as_bytes();
    let (scheme, secret) = value.split_at_checked(SCHEME.len())?;
    let secret = secret.trim_ascii();
    (scheme.eq_ignore_ascii_case(SCHEME) && !secret.is_empty()).then_some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth(secrets: &[&str]) -> Auth {
        let key = |secret: &&str| ApiKey {
            name: format!("key of {secret}").into(),
            digest: Sha256::digest(secret).into(),
        };
        Auth::new(secrets.iter().map(key).collect())
    }

    fn shown(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())])
    }

    #[test]
    fn without_keys_anybody_may_ask() {
        assert_eq!(auth(&[]).check(&HeaderMap::new()), Ok(Caller::Anybody));
    }

    #[test]
    fn every_key_opens_and_is_known_by_its_name() {
        let auth = auth(&["one", "two"]);
        for (value, name) in [("Bearer one", "key of one"), ("bearer  two ", "key of two")] {
            assert_eq!(auth.name(auth.check(&shown(value)).unwrap()), Some(name));
        }
    }

    #[test]
    fn anything_else_does_not() {
        let auth = auth(&["one"]);
        for value in
            ["", "one", "Bearer", "Bearer ", "Bearer two", "Bearer oneone", "Basic one", "Bearer\u{a0}one"]
        {
            let headers = HeaderMap::from_iter([(header::AUTHORIZATION, value.parse().unwrap())]);
            assert_eq!(auth.check(&headers), Err(NoKey), "{value}");
        }
        assert_eq!(auth.check(&HeaderMap::new()), Err(NoKey));
    }

    #[test]
    fn neither_secrets_nor_digests_are_shown_in_debug_output() {
        assert_eq!(format!("{:?}", auth(&["one"]).keys[0]), "ApiKey { name: \"key of one\", .. }");
    }
}
