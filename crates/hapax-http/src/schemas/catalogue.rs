//! All registered schemas, by name and by type.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use hapax_core::Spec;
use hapax_core::json::{self, Limits};
use hapax_store::Entry;

use super::schema::version_text;
use super::{Checker, Finding, Mode, Schema, Version};

/// How many bytes patterns may be tried on by a thread that serves others.
const PATTERNED_BYTES: usize = 4 * 1024;
/// How many steps such a thread may take for one body: its bytes times the values of the largest schema.
const SERVED_STEPS: usize = 4 * 1024 * 1024;

/// The schemas at one moment.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    by_uri: BTreeMap<Arc<str>, Kept>,
    /// Those of a type, latest version first.
    by_kind: HashMap<Box<str>, Vec<Arc<Schema>>>,
    /// Whether any of them may have patterns, which can take long.
    has_patterns: bool,
    /// How many values the largest of them has, its references followed.
    values_max: usize,
}

/// A schema with the text from which it was read.
#[derive(Debug, Clone)]
struct Kept {
    text: Arc<str>,
    schema: Arc<Schema>,
    /// How many values it has, its references followed.
    values: usize,
}

/// Why the arguments of a job are not as they should be.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// By which schema.
    pub(crate) schema: Arc<Schema>,
    /// What is to be done about it: [`Mode::Strict`] or [`Mode::Warn`].
    pub(crate) mode: Mode,
    /// What is wrong.
    pub(crate) findings: Vec<Finding>,
}

impl Kept {
    fn read(uri: Arc<str>, text: &Arc<str>) -> Option<Kept> {
        let schema = Schema::read(uri, text)?;
        let values = Checker::values_of(schema.document.as_str());
        Some(Kept { text: Arc::clone(text), schema: Arc::new(schema), values })
    }
}

impl Catalogue {
    /// What the entries say. Those that did not change are taken over, with what was made of them.
    pub(super) fn of(entries: Vec<Entry>, before: &Catalogue) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for Entry { key, written } in entries {
            let known = before.by_uri.get(&key.name).filter(|kept| kept.text == written.body);
            let kept = known.cloned().or_else(|| Kept::read(Arc::clone(&key.name), &written.body));
            let Some(kept) = kept else {
                tracing::error!(
                    uri = &*key.name,
                    "the entry of a schema is damaged, and nothing is checked by it"
                );
                continue;
            };
            catalogue.has_patterns |= kept.schema.document.as_str().contains("pattern");
            catalogue.values_max = catalogue.values_max.max(kept.values);
            let of_kind = catalogue.by_kind.entry(kept.schema.kind.as_str().into()).or_default();
            of_kind.push(Arc::clone(&kept.schema));
            catalogue.by_uri.insert(key.name, kept);
        }
        for schemas in catalogue.by_kind.values_mut() {
            schemas.sort_by_key(|schema| std::cmp::Reverse(schema.order()));
        }
        catalogue
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_uri.is_empty()
    }

    /// Whether a check of so many bytes may take long.
    pub(crate) fn may_take_long(&self, bytes: usize) -> bool {
        (self.has_patterns && bytes > PATTERNED_BYTES) || bytes.saturating_mul(self.values_max) > SERVED_STEPS
    }

    pub(crate) fn len(&self) -> usize {
        self.by_uri.len()
    }

    /// All of them, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.by_uri.values().map(|kept| &kept.schema)
    }

    /// The schema of that name.
    pub(crate) fn named(&self, uri: &str) -> Option<&Arc<Schema>> {
        self.by_uri.get(uri).map(|kept| &kept.schema)
    }

    /// The schemas of a type, latest version first.
    pub(crate) fn of_kind(&self, kind: &str) -> &[Arc<Schema>] {
        self.by_kind.get(kind).map_or(&[], Vec::as_slice)
    }

    /// The schema of that type and version.
    pub(crate) fn of_version(&self, kind: &str, version: &str) -> Option<&Arc<Schema>> {
        let version = Version::parse(version);
        self.of_kind(kind).iter().find(|schema| schema.order() == version)
    }

    /// What is wrong with the arguments of a job, by the schema that it names or else by the one of its type and
    /// version. Whoever names a schema wants it held to; whoever does not may not know of it, and is only warned unless the
    /// registration says otherwise.
    pub(crate) fn verdict(&self, spec: &Spec) -> Option<Verdict> {
        let named = spec.schema.as_deref().and_then(|uri| self.named(uri));
        let (schema, usual) = match named {
            Some(schema) => (schema, Mode::Strict),
            None => (self.of_job(spec)?, Mode::Warn),
        };
        let mode = schema.mode.unwrap_or(usual);
        if mode == Mode::Off {
            return None;
        }
        let findings = schema.findings(&spec.args);
        (!findings.is_empty()).then(|| Verdict { schema: Arc::clone(schema), mode, findings })
    }

    fn of_job(&self, spec: &Spec) -> Option<&Arc<Schema>> {
        let latest = self.of_kind(spec.kind.as_str()).first()?;
        let extra = json::read(spec.extra.as_str(), Limits::DEFAULT).ok()?;
        match extra.get("version") {
            Some(version) => self.of_version(spec.kind.as_str(), &version_text(&version.to_json())),
            None => Some(latest),
        }
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{JobType, Json, Timestamp};
    use hapax_store::{EntryKey, Register, Written};

    use super::*;

    fn catalogue(schema: &str) -> Catalogue {
        let kind = JobType::parse("a.b").unwrap();
        let (version, document) = (Json::from_trusted("1"), Json::from_trusted(schema));
        let schema = Schema::new("urn:a", kind, version, None, document, Timestamp::from_millis(1));
        let key = EntryKey { register: Register::Schema, name: "urn:a".into() };
        let written = Written { body: schema.written().into(), due_at: None };
        Catalogue::of(vec![Entry { key, written }], &Catalogue::default())
    }

    #[test]
    fn a_large_check_is_not_for_a_thread_that_serves() {
        let small = catalogue(r#"{"items":{"type":"string"}}"#);
        assert!(!small.may_take_long(100_000));
        // Small as it is written, and large with its references followed.
        let refs = r##"{"$ref":"#/$defs/many"},"##.repeat(20);
        let many = "true,".repeat(500);
        let large =
            catalogue(&format!(r#"{{"allOf":[{refs}true],"$defs":{{"many":{{"allOf":[{many}true]}}}}}}"#));
        assert!(large.may_take_long(100_000));
        assert!(!large.may_take_long(100));
        assert!(catalogue(r#"{"items":{"pattern":"x"}}"#).may_take_long(PATTERNED_BYTES + 1));
    }
}
