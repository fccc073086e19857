//! Rules of the operator about jobs that are not taken, as they stand in the file.

use std::collections::BTreeMap;

use hapax_core::{JobType, Json};
use hapax_http::RefuseRule;
use serde::{Deserialize, Deserializer, de};

/// One `[[refuse]]` table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refuse(pub(crate) RefuseRule);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    r#type: Option<String>,
    #[serde(default)]
    meta: BTreeMap<String, Value>,
    message: String,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a string, a number, true or false")]
enum Value {
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
}

impl Value {
    fn json(self) -> Json {
        match self {
            Value::Bool(flag) => Json::from_trusted(if flag { "true" } else { "false" }),
            Value::Integer(number) => Json::from_trusted(&number.to_string()),
            Value::Float(number) => Json::from_trusted(&number.to_string()),
            Value::Text(text) => Json::string(&text),
        }
    }
}

impl<'de> Deserialize<'de> for Refuse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Refuse, D::Error> {
        let Written { r#type: kind, meta, message } = Written::deserialize(deserializer)?;
        if kind.is_none() && meta.is_empty() {
            return Err(de::Error::custom("a rule needs a type or meta, or it would refuse every job"));
        }
        if let Some(kind) = &kind {
            JobType::parse(kind).map_err(de::Error::custom)?;
        }
        if meta.values().any(|value| matches!(value, Value::Float(number) if !number.is_finite())) {
            return Err(de::Error::custom("a number in meta has to be one that JSON can write"));
        }
        let meta = meta.into_iter().map(|(name, value)| (name.into(), value.json())).collect();
        Ok(Refuse(RefuseRule { kind: kind.map(Into::into), meta, message: message.into() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct File {
        refuse: Vec<Refuse>,
    }

    fn read(text: &str) -> Result<RefuseRule, String> {
        let file: Result<File, _> = toml::from_str(text);
        file.map(|mut file| file.refuse.remove(0).0).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_rule_is_read_with_all_its_parts() {
        let text = "[[refuse]]\ntype = 'a.b'\nmeta = { b = true, n = 1, t = 'x' }\nmessage = 'no'";
        let RefuseRule { kind, meta, message } = read(text).unwrap();
        assert_eq!((kind.as_deref(), &*message), (Some("a.b"), "no"));
        let meta: Vec<(&str, &str)> = meta.iter().map(|(name, value)| (&**name, value.as_str())).collect();
        assert_eq!(meta, [("b", "true"), ("n", "1"), ("t", "\"x\"")]);
    }

    #[test]
    fn a_rule_that_would_refuse_everything_or_is_misspelt_is_a_mistake() {
        assert!(read("[[refuse]]\nmessage = 'no'").unwrap_err().contains("would refuse every job"));
        assert!(read("[[refuse]]\ntype = 'A!'\nmessage = 'no'").unwrap_err().contains("is not a job type"));
        assert!(read("[[refuse]]\ntyp = 'a'\nmessage = 'no'").unwrap_err().contains("unknown field"));
        assert!(read("[[refuse]]\ntype = 'a'").unwrap_err().contains("message"));
    }
}
