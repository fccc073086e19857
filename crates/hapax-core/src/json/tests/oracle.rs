//! The reader beside `serde_json`: the same documents, the same values.

use proptest::prelude::*;
use proptest::sample::Index;

use super::documents::{documents, spell, styles};
use crate::json::{JsonError, Limits, Node, Value, read};

proptest! {
    #[test]
    fn a_document_in_any_spelling_reads_as_serde_json_reads_it(document in documents(), style in styles()) {
        let text = spell(&document, &style);
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(to_serde(&read(&text, Limits::DEFAULT).unwrap()), theirs);
    }

    #[test]
    fn a_damaged_document_is_read_if_and_only_if_serde_json_reads_it(
        document in documents(),
        style in styles(),
        damages in prop::collection::vec((any::<Index>(), 0..3, tokens()), 1..3),
    ) {
        let mut text: Vec<char> = spell(&document, &style).chars().collect();
        for (place, kind, token) in damages {
            let at = place.index(text.len() + 1);
            let end = if kind == 0 { at } else { text.len().min(at + 1) };
            text.splice(at..end, (kind < 2).then(|| token.chars().collect::<Vec<_>>()).into_iter().flatten());
        }
        assert_agrees(&text.into_iter().collect::<String>());
    }

    #[test]
    fn token_soup_is_read_if_and_only_if_serde_json_reads_it(
        tokens in prop::collection::vec(tokens(), 0..12)
    ) {
        assert_agrees(&tokens.concat());
    }
}

fn tokens() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "{", "}", "[", "]", ":", ",", "\"", "\"a\"", "\"\":", "\\", "\\u", "d83d", "\\ude00", "0", "1", "-",
        "+", ".", "e", "E5", "null", "true", "false", "n", " ", "\n", "\u{0}", "\u{1f}", "\u{a0}",
        "\u{feff}", "é", "x",
    ])
}

fn assert_agrees(text: &str) {
    match (read(text, Limits::DEFAULT), serde_json::from_str::<serde_json::Value>(text)) {
        // serde_json keeps the last of two equal names, and has no number that is not finite.
        (Err(JsonError::DuplicateMember { .. }), _) => {}
        (Ok(_), Err(error)) if error.to_string().starts_with("number out of range") => {}
        (Ok(ours), Ok(theirs)) => assert_eq!(to_serde(&ours), theirs),
        (ours, theirs) => assert!(ours.is_err() && theirs.is_err(), "{text:?}: {ours:?} but {theirs:?}"),
    }
}

/// The node as `serde_json` would hold it. Its doubles are exact here, since `serde_json_canonicalizer` turns on
/// `float_roundtrip`.
fn to_serde(node: &Node<'_>) -> serde_json::Value {
    match &node.value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Number(text) => {
            let number: serde_json::Number = text.parse().unwrap();
            assert_eq!(node.as_f64(), number.as_f64());
            number.into()
        }
        Value::String(text) => text.as_ref().into(),
        Value::Array(items) => items.iter().map(to_serde).collect(),
        Value::Object(members) => {
            let object: serde_json::Map<_, _> =
                members.iter().map(|member| (member.name.to_string(), to_serde(&member.node))).collect();
            assert_eq!(object.len(), members.len(), "a name that occurs twice was read");
            object.into()
        }
    }
}
