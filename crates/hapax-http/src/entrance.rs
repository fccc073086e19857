//! What the operator asks of every job beyond its form: rules that refuse some, and whether each must have a tenant.

use hapax_core::json::{self, Limits, Node, Value};
use hapax_core::{Json, Spec};

/// What the operator asks of every job.
#[derive(Debug, Clone, Default)]
pub struct Entrance {
    /// Whether every request about jobs has to say for which tenant.
    pub require_tenant: bool,
    /// Jobs that are not taken.
    pub refuse: Vec<RefuseRule>,
}

/// Which jobs are not taken, and what their senders are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefuseRule {
    /// Jobs of this type; of all types if not given.
    pub kind: Option<Box<str>>,
    /// Jobs whose `meta` has all of these members with these values.
    pub meta: Vec<(Box<str>, Json)>,
    /// Why, for the sender.
    pub message: Box<str>,
}

impl Entrance {
    /// The same with the rule that the conformance suite expects (EXT-MW-002).
    pub(crate) fn for_the_suite(mut self) -> Entrance {
        self.refuse.push(RefuseRule {
            kind: Some("test.middleware.reject".into()),
            meta: vec![("ojs_validate".into(), Json::from_trusted("true"))],
            message: "jobs of this type are refused for the conformance suite".into(),
        });
        self
    }

    /// Why the job is not taken, if a rule says so.
    pub(crate) fn refusal(&self, spec: &Spec) -> Option<&str> {
        let rule = self.refuse.iter().find(|rule| rule.is_met_by(spec))?;
        Some(&rule.message)
    }
}

impl RefuseRule {
    fn is_met_by(&self, spec: &Spec) -> bool {
        if self.kind.as_deref().is_some_and(|kind| kind != spec.kind.as_str()) {
            return false;
        }
        if self.meta.is_empty() {
            return true;
        }
        let Ok(meta) = json::read(spec.meta.as_str(), Limits { depth_max: Limits::DEPTH_CEILING }) else {
            return false;
        };
        self.meta.iter().all(|(name, wanted)| meta.get(name).is_some_and(|found| says(found, wanted)))
    }
}

fn says(found: &Node<'_>, wanted: &Json) -> bool {
    let Ok(wanted) = json::read(wanted.as_str(), Limits::DEFAULT) else { return false };
    match (&found.value, &wanted.value) {
        // 1 and 1.0 are one number.
        (Value::Number(_), Value::Number(_)) => found.as_f64() == wanted.as_f64(),
        (found, wanted) => found == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(kind: Option<&str>, meta: &[(&str, &str)]) -> Entrance {
        let meta = meta.iter().map(|(name, value)| ((*name).into(), Json::from_trusted(value))).collect();
        let rule = RefuseRule { kind: kind.map(Box::from), meta, message: "no".into() };
        Entrance { require_tenant: false, refuse: vec![rule] }
    }

    fn refused(entrance: &Entrance, kind: &str, meta: &str) -> bool {
        let body = format!(r#"{{"type":"{kind}","args":[],"meta":{meta}}}"#);
        let node = json::read(&body, Limits::DEFAULT).unwrap();
        let intake =
            crate::from_wire::Intake::new(crate::from_wire::Media::Json, hapax_core::Timestamp::EPOCH);
        let drafted = crate::from_wire::job(&node, &intake).unwrap();
        entrance.refusal(&drafted.draft.spec) == Some("no")
    }

    #[test]
    fn a_rule_is_met_if_all_of_it_is() {
        let both = rule(Some("a"), &[("x", "true"), ("y", "\"z\"")]);
        assert!(refused(&both, "a", r#"{"y":"z","x":true,"more":1}"#));
        assert!(!refused(&both, "b", r#"{"y":"z","x":true}"#));
        assert!(!refused(&both, "a", r#"{"y":"z"}"#));
        assert!(!refused(&both, "a", r#"{"y":"z","x":"true"}"#));
        assert!(refused(&rule(Some("a"), &[]), "a", "{}"));
        assert!(refused(&rule(None, &[("n", "1")]), "any", r#"{"n":1.0}"#));
        assert!(!Entrance::default().refuse.iter().any(|_| true));
    }
}
