//! The reader beside `serde_json`: the same documents, the same values.

use proptest::prelude::*;
use proptest::sample::Index;

use super::documents::{documents, spell, styles};
use crate::json::{JsonError, Limits, Node, Value, read};

proptest! {
    #[test]
    fn a_document_in_any_spelling_reads_as_itself(document in documents(), style in styles()) {
        let text = spell(&document, &style);
        assert_same(&read(&text, Limits::DEFAULT).unwrap(), &document);
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
        (Ok(ours), Ok(theirs)) => assert_same(&ours, &theirs),
        (ours, theirs) => assert!(ours.is_err() && theirs.is_err(), "{text:?}: {ours:?} but {theirs:?}"),
    }
}

fn assert_same(ours: &Node<'_>, theirs: &serde_json::Value) {
    match (&ours.value, theirs) {
        (Value::Null, serde_json::Value::Null) => {}
        (Value::Bool(ours), serde_json::Value::Bool(theirs)) => assert_eq!(ours, theirs),
        (Value::String(ours), serde_json::Value::String(theirs)) => assert_eq!(ours, theirs),
        (Value::Number(text), serde_json::Value::Number(theirs)) => {
            let (a, b) = (ours.as_f64().unwrap(), theirs.as_f64().unwrap());
            // Without its feature float_roundtrip, serde_json may be off by one in the last place.
            assert!((a - b).abs() <= (a.abs() * 1e-15).max(f64::MIN_POSITIVE), "{text}: {a} but {b}");
            assert!(theirs.is_f64() || text.contains(['.', 'e', 'E']) || theirs.to_string() == *text);
            assert_eq!(*text, ours.raw);
        }
        (Value::Array(ours), serde_json::Value::Array(theirs)) => {
            assert_eq!(ours.len(), theirs.len());
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert_same(ours, theirs);
            }
        }
        (Value::Object(members), serde_json::Value::Object(theirs)) => {
            assert_eq!(members.len(), theirs.len());
            for member in members {
                assert_same(&member.node, &theirs[&*member.name]);
            }
        }
        _ => panic!("{ours:?} but {theirs:?}"),
    }
}
