//! The canonical text beside `serde_json_canonicalizer`, and beside itself.

use hapax_core::canonical::{CanonicalError, write};
use hapax_core::json::{Limits, Node, Value, read, read_bytes};
use unicode_normalization::UnicodeNormalization;

pub fn run(data: &[u8]) {
    let Ok(node) = read_bytes(data, Limits::DEFAULT) else { return };
    match (canonical(&node), normalised(&node)) {
        (Ok(text), Some(document)) => {
            if !has_long_integer(&node) {
                assert_eq!(
                    text,
                    serde_json_canonicalizer::to_string(&document).expect("all numbers are finite")
                );
            }
            let again = read(&text, Limits::DEFAULT).expect("canonical text is JSON");
            assert_eq!(canonical(&again).as_ref(), Ok(&text));
        }
        (Err(error), None) => assert!(error.to_string().len() < 1000, "{error}"),
        (ours, expected) => panic!("{ours:?} but {expected:?}"),
    }
}

fn canonical(node: &Node<'_>) -> Result<String, CanonicalError> {
    let mut text = String::new();
    write(node, &mut text).map(|()| text)
}

/// The document with its strings in NFC; `None` if it must be refused.
fn normalised(node: &Node<'_>) -> Option<serde_json::Value> {
    Some(match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        // An integer of 400 digits is no double, but has a canonical text.
        Value::Number(text) if is_integer(text) => text.parse().map_or(0.into(), serde_json::Value::Number),
        Value::Number(text) => serde_json::Value::Number(text.parse().ok()?),
        Value::String(text) => nfc(text).into(),
        Value::Array(items) => items.iter().map(normalised).collect::<Option<_>>()?,
        Value::Object(members) => {
            let object: serde_json::Map<_, _> = members
                .iter()
                .map(|member| Some((nfc(&member.name), normalised(&member.node)?)))
                .collect::<Option<_>>()?;
            (object.len() == members.len()).then_some(object.into())?
        }
    })
}

fn nfc(text: &str) -> String {
    text.nfc().collect()
}

/// Whether it holds an integer that RFC 8785 would round.
fn has_long_integer(node: &Node<'_>) -> bool {
    match &node.value {
        Value::Number(text) => is_integer(text) && node.as_i64().is_none_or(|n| n.unsigned_abs() >= 1 << 53),
        Value::Array(items) => items.iter().any(has_long_integer),
        Value::Object(members) => members.iter().any(|member| has_long_integer(&member.node)),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn is_integer(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
}
