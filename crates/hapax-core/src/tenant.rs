//! Tenants: to whom a job belongs, if it says so.

use std::fmt;
use std::sync::Arc;

use crate::Json;
use crate::json::{self, Limits};

/// The member of `meta` that says it.
pub const TENANT_MEMBER: &str = "tenant_id";

/// Somebody to whom jobs belong.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// Longest id, in bytes.
    pub const LENGTH_MAX: usize = 255;

    /// Reads an id: letters, digits, `.`, `_`, `:` and `-`, beginning with a letter or digit.
    pub fn parse(text: &str) -> Option<TenantId> {
        let is_fine = text.len() <= Self::LENGTH_MAX
            && text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte));
        is_fine.then(|| TenantId(text.into()))
    }

    /// To whom a job with this metadata belongs.
    pub fn of(meta: &Json) -> Option<TenantId> {
        // Most jobs belong to nobody, and reading all of the metadata to find that out would cost more.
        if !meta.as_str().contains(TENANT_MEMBER) {
            return None;
        }
        let node = json::read(meta.as_str(), Limits { depth_max: Limits::DEPTH_CEILING }).ok()?;
        TenantId::parse(node.get(TENANT_MEMBER)?.as_str()?)
    }

    /// Whether a job with this metadata belongs to it.
    pub fn owns(&self, meta: &Json) -> bool {
        TenantId::of(meta).is_some_and(|owner| owner == *self)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_letters_digits_and_four_signs() {
        for fine in ["a", "9", "Acme.Corp_1:eu-2"] {
            assert_eq!(TenantId::parse(fine).unwrap().as_str(), fine);
        }
        for wrong in ["", "-a", ".a", "a b", "ä", "a/b", &"a".repeat(256)] {
            assert_eq!(TenantId::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_job_belongs_to_whom_its_own_metadata_names() {
        let owner = |meta| TenantId::of(&Json::from_trusted(meta));
        assert_eq!(owner(r#"{"tenant_id" : "a"}"#), TenantId::parse("a"));
        assert_eq!(owner(r#"{"x":{"tenant_id":"a"}}"#), None);
        assert_eq!(owner(r#"{"x":"\"tenant_id\":\"a\""}"#), None);
        assert_eq!(owner(r#"{"tenant_id":7}"#), None);
        let a = TenantId::parse("a").unwrap();
        assert!(a.owns(&Json::from_trusted(r#"{"tenant_id":"a"}"#)));
        assert!(!a.owns(&Json::from_trusted(r#"{"tenant_id":"ab"}"#)));
        assert!(!a.owns(&Json::empty_object()));
    }
}
