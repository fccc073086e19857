//! The published vectors, and the rules behind them.

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::*;
use crate::json::tests::documents::{documents, spell, styles};
use crate::json::{Limits, read};

fn canonical(text: &str) -> Result<String, CanonicalError> {
    let mut out = String::new();
    write(&read(text, Limits::DEFAULT).unwrap(), &mut out).map(|()| out)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(canonical(text).unwrap(), expected);
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

#[test]
fn the_published_keys_come_out() {
    for (spelling, text, key) in [
        (
            r#"{ "type": "email.send", "queue": "notifications", "args": { "user_id": 42 } }"#,
            r#"{"args":{"user_id":42},"queue":"notifications","type":"email.send"}"#,
            "71f9344b82e66297a49775bbe27752297922842b675330641ebe3ff4fea46c1f",
        ),
        (
            r#"{"type":"report.daily"}"#,
            r#"{"type":"report.daily"}"#,
            "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95",
        ),
        (
            r#"{"type":"cache.warm","meta":{"tenant_id":"acme"},"args":{"resource":"products"}}"#,
            r#"{"args":{"resource":"products"},"meta":{"tenant_id":"acme"},"type":"cache.warm"}"#,
            "dc19075d0e4dde8bcd3952c4f9789b50e959792aa308daaa8eae0daa9f1985b0",
        ),
        (
            "{\"type\":\"a.b\",\"args\":{\"name\":\"cafe\u{301}\"}}",
            "{\"args\":{\"name\":\"caf\u{e9}\"},\"type\":\"a.b\"}",
            "283ca41021cbdcd493e0dceccfff56299892eefd1fac47899dd8938faab9b7d1",
        ),
        (
            r#"{"type":"a.b","args":{"x":1e21,"n":1.0}}"#,
            r#"{"args":{"n":1,"x":1e+21},"type":"a.b"}"#,
            "45849a2b20ccc4d4ce86aa6de767c8c9e84cecb2cf91e1573c19575a625af66c",
        ),
    ] {
        check(spelling, text);
        assert_eq!(sha256(text), key);
    }
}

#[test]
fn numbers_take_their_ecmascript_form() {
    for (text, expected) in [
        ("1", "1"),
        ("1.0", "1"),
        ("1e0", "1"),
        ("10E-1", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("0e9", "0"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1e+21"),
        ("4.50", "4.5"),
        ("2e-3", "0.002"),
        ("1e-7", "1e-7"),
        ("333333333.33333329", "333333333.3333333"),
        ("5e-324", "5e-324"),
        ("1e-400", "0"),
        ("-1.7976931348623157e308", "-1.7976931348623157e+308"),
    ] {
        check(text, expected);
    }
}

#[test]
fn long_integers_keep_their_digits() {
    for text in [
        "9007199254740991",
        "-9007199254740993",
        "18446744073709551617",
        "100000000000000000000",
        "123456789012345678901234567890",
    ] {
        check(text, text);
    }
    check("9007199254740993.0", "9007199254740992");
}

#[test]
fn a_number_beyond_the_doubles_has_no_canonical_text() {
    for text in ["1e400", "-1e400", "1.0e309"] {
        assert_eq!(canonical(text), Err(CanonicalError::NumberOutOfRange { text: text.into() }));
    }
    let error = canonical("[1e400]").unwrap_err();
    assert_eq!(error.to_string(), "number \"1e400\" is beyond the range of a double");
}

#[test]
fn strings_are_escaped_no_more_than_needed() {
    check(
        r#""\u0000\u0008\u0009\u000a\u000b\u000c\u000d\u001F\u0022\u005c\/\u007f\u00e9\u2028\ud83d\ude00""#,
        "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\\\"\\\\/\u{7f}é\u{2028}😀\"",
    );
}

#[test]
fn combining_and_precomposed_letters_are_equal() {
    check("\"cafe\u{301}\"", "\"caf\u{e9}\"");
    check(r#"{"e\u0301":"\u1100\u1161"}"#, "{\"é\":\"가\"}");
    // Normalisation is canonical, not compatible: a ligature is not its letters.
    check("\"\u{fb01}\"", "\"\u{fb01}\"");
}

#[test]
fn members_are_sorted_by_utf16_code_units() {
    // As UTF-8, and as code points, U+FF21 comes before U+10000.
    check("{\"\u{ff21}\":1,\"\u{10000}\":2,\"z\":3}", "{\"z\":3,\"\u{10000}\":2,\"\u{ff21}\":1}");
    check(
        r#"{"b":1,"":2,"aa":3,"a":4,"B":5,"10":6,"9":7}"#,
        r#"{"":2,"10":6,"9":7,"B":5,"a":4,"aa":3,"b":1}"#,
    );
}

#[test]
fn members_are_sorted_as_they_read_after_normalisation() {
    // U+212B becomes U+00C5, which comes before U+0100; U+FB33 comes apart into U+05D3 U+05BC.
    check("{\"\u{100}\":1,\"\u{212b}\":2}", "{\"\u{c5}\":2,\"\u{100}\":1}");
    check(
        "{\"\u{ffff}\":1,\"\u{20ac}\":2,\"\u{fb33}\":3}",
        "{\"\u{5d3}\u{5bc}\":3,\"\u{20ac}\":2,\"\u{ffff}\":1}",
    );
}

#[test]
fn names_that_become_equal_are_refused() {
    let error = canonical("{\"x\":{\"e\u{301}\":1,\"f\":0,\"\u{e9}\":2}}").unwrap_err();
    assert_eq!(error, CanonicalError::NamesCollide { name: "é".into() });
    assert_eq!(error.to_string(), "two members of one object are both named \"é\" once normalised to NFC");
}

#[test]
fn an_object_is_put_together_from_parts() {
    let args = read(r#"{"user_id":42.0,"name":"x","list":[{"b":1,"a":2}]}"#, Limits::DEFAULT).unwrap();
    let picked = ["user_id", "list"].map(|name| (name, args.get(name).unwrap()));
    let text = object(vec![
        ("type", Part::Text("cafe\u{301}\n")),
        ("meta", Part::Picked(vec![])),
        ("args", Part::Picked(picked.to_vec())),
        ("key", Part::Whole(args.get("list").unwrap())),
    ]);
    assert_eq!(
        text.unwrap(),
        "{\"args\":{\"list\":[{\"a\":2,\"b\":1}],\"user_id\":42},\"key\":[{\"a\":2,\"b\":1}],\"meta\":{},\
         \"type\":\"café\\n\"}"
    );
    assert_eq!(object(vec![]).unwrap(), "{}");
}

#[test]
fn picked_names_that_become_equal_are_refused() {
    let value = read("1", Limits::DEFAULT).unwrap();
    let picked = Part::Picked(vec![("\u{e9}", &value), ("e\u{301}", &value)]);
    assert_eq!(object(vec![("args", picked)]), Err(CanonicalError::NamesCollide { name: "é".into() }));
    let twice = vec![("key", Part::Text("a")), ("key", Part::Text("b"))];
    assert_eq!(object(twice), Err(CanonicalError::NamesCollide { name: "key".into() }));
}

/// The document with every string in NFC and without the integers that an ECMAScript number cannot hold.
fn within_rfc_8785(document: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match document {
        Value::Number(number) if !number.is_f64() => {
            let is_safe = number.as_i64().is_some_and(|number| number.unsigned_abs() < 1 << 53);
            if is_safe { Value::Number(number) } else { Value::Null }
        }
        Value::String(text) => Value::String(text.nfc().collect()),
        Value::Array(items) => items.into_iter().map(within_rfc_8785).collect(),
        Value::Object(members) => {
            let normalised =
                |(name, value): (String, _)| (name.nfc().collect::<String>(), within_rfc_8785(value));
            members.into_iter().map(normalised).collect()
        }
        other => other,
    }
}

proptest! {
    #[test]
    fn names_are_ordered_as_their_utf16_code_units_are(
        prefix in any::<String>(),
        a in "[a\u{7ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,3}",
        b in "[a\u{7ff}\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}]{0,3}",
    ) {
        let (a, b) = (prefix.clone() + &a, prefix + &b);
        prop_assert_eq!(utf16_order(&a, &b), a.encode_utf16().cmp(b.encode_utf16()));
    }

    #[test]
    fn within_its_range_rfc_8785_is_followed(document in documents(), style in styles()) {
        let document = within_rfc_8785(document);
        let theirs = serde_json_canonicalizer::to_string(&document).unwrap();
        prop_assert_eq!(canonical(&spell(&document, &style)).unwrap(), theirs);
    }

    #[test]
    fn white_space_escapes_and_member_order_do_not_matter(
        document in documents(),
        styles in (styles(), styles()),
    ) {
        prop_assert_eq!(canonical(&spell(&document, &styles.0)), canonical(&spell(&document, &styles.1)));
    }

    #[test]
    fn a_canonical_text_is_its_own_canonical_text(document in documents(), style in styles()) {
        if let Ok(text) = canonical(&spell(&document, &style)) {
            prop_assert_eq!(canonical(&text).unwrap(), text);
        }
    }
}
