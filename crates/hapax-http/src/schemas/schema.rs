//! A registered schema.

use std::sync::{Arc, OnceLock};

use hapax_core::json::{self, Limits};
use hapax_core::{JobType, Json, Timestamp};
use hapax_wire::writer;

use super::{Checker, Finding, Version};

/// What is done about arguments that are not as the schema says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The job is refused.
    Strict,
    /// The job is taken, and the answer says what is wrong with it.
    Warn,
    /// Nothing: the schema is for people.
    Off,
}

impl Mode {
    pub(crate) const ALL: [Mode; 3] = [Mode::Strict, Mode::Warn, Mode::Off];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Mode::Strict => "strict",
            Mode::Warn => "warn",
            Mode::Off => "off",
        }
    }
}

/// A registered schema.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Its name.
    pub(crate) uri: Arc<str>,
    /// Whose arguments it describes.
    pub(crate) kind: JobType,
    /// The version as the client wrote it: a number or a string.
    pub(crate) version: Json,
    /// What is done about other arguments, if the registration says so.
    pub(crate) mode: Option<Mode>,
    /// The schema itself.
    pub(crate) document: Json,
    /// When it was registered.
    pub(crate) created_at: Timestamp,
    /// Made when it is first needed; nothing if it cannot be made any more.
    checker: OnceLock<Option<Checker>>,
}

impl Schema {
    /// A schema on its way in.
    pub(crate) fn new(
        uri: &str,
        kind: JobType,
        version: Json,
        mode: Option<Mode>,
        document: Json,
        created_at: Timestamp,
    ) -> Schema {
        Schema { uri: uri.into(), kind, version, mode, document, created_at, checker: OnceLock::new() }
    }

    /// The name of a schema that was registered by type and version alone.
    pub(crate) fn uri_of(kind: &JobType, version: &str) -> String {
        format!("urn:ojs:schema:{}:{version}", kind.as_str())
    }

    /// The version without quotes.
    pub(crate) fn version_text(&self) -> String {
        version_text(&self.version)
    }

    /// The version as far as order goes.
    pub(crate) fn order(&self) -> Version {
        Version::parse(&self.version_text())
    }

    /// What is wrong with the arguments.
    pub(crate) fn findings(&self, args: &Json) -> Vec<Finding> {
        let checker = self.checker.get_or_init(|| Checker::of_stored(self.document.as_str()));
        if let Some(checker) = checker {
            return checker.findings(args.as_str());
        }
        let problem = "cannot be checked: register the schema again, this server cannot read it";
        vec![Finding { path: String::new(), problem: problem.to_owned() }]
    }

    /// The text that is stored.
    pub(crate) fn written(&self) -> String {
        let Schema { uri: _, kind, version, mode, document, created_at, checker: _ } = self;
        let mut out = Vec::with_capacity(document.as_str().len() + 128);
        writer::object(&mut out, |o| {
            o.text("type", kind.as_str());
            o.raw("version", version.as_str());
            o.text_if("mode", mode.map(Mode::name));
            o.number("created_at", created_at.millis());
            o.raw("schema", document.as_str());
        });
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The schema that was stored like this.
    pub(super) fn read(uri: Arc<str>, text: &str) -> Option<Schema> {
        let node = json::read(text, Limits::DEFAULT).ok()?;
        let mode = match node.get("mode") {
            Some(name) => Some(Mode::ALL.into_iter().find(|mode| Some(mode.name()) == name.as_str())?),
            None => None,
        };
        Some(Schema {
            uri,
            kind: JobType::parse(node.get("type")?.as_str()?).ok()?,
            version: node.get("version")?.to_json(),
            mode,
            document: node.get("schema")?.to_json(),
            created_at: Timestamp::from_millis(node.get("created_at")?.as_i64()?),
            checker: OnceLock::new(),
        })
    }
}

/// A version that is a number or a string, without quotes.
pub(super) fn version_text(version: &Json) -> String {
    let node = json::read(version.as_str(), Limits::DEFAULT);
    let text = node.ok().and_then(|node| node.as_str().map(str::to_owned));
    text.unwrap_or_else(|| version.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_read_as_it_was_written() {
        let kind = JobType::parse("email.send").unwrap();
        for (version, mode) in [("1", None), ("\"1.0.0\"", Some(Mode::Strict))] {
            let document = Json::from_trusted(r#"{ "type" :"array","minimum":1.0 }"#);
            let at = Timestamp::from_millis(17);
            let schema = Schema::new("urn:a", kind.clone(), Json::from_trusted(version), mode, document, at);
            let again = Schema::read("urn:a".into(), &schema.written()).unwrap();
            assert_eq!(format!("{again:?}"), format!("{schema:?}"));
        }
    }
}
