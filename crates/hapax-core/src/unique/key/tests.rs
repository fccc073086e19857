//! The vectors of the key, and what it must not depend on.

use super::*;
use crate::json::{Limits, read};
use crate::unique::Dimensions;
use proptest::prelude::*;

/// The canonical text and key of `args` and `meta` under a policy on `email.send` in `notifications`.
fn keyed(policy: &UniquePolicy, args: &str, meta: &str) -> Result<Keyed, KeyError> {
    of_kind("email.send", policy, args, meta)
}

fn of_kind(kind: &str, policy: &UniquePolicy, args: &str, meta: &str) -> Result<Keyed, KeyError> {
    let args = read(args, Limits::DEFAULT).unwrap();
    let meta = read(meta, Limits::DEFAULT).unwrap();
    let kind = JobType::parse(kind).unwrap();
    let queue = QueueName::parse("notifications").unwrap();
    key_of(policy, &kind, &queue, &args, Some(&meta))
}

fn names(list: &[&str]) -> Vec<Box<str>> {
    list.iter().map(|name| (*name).into()).collect()
}

fn by(queue: bool, args: bool, meta: bool) -> UniquePolicy {
    UniquePolicy { dimensions: Dimensions { queue, args, meta }, ..UniquePolicy::default() }
}

fn by_args(args_keys: &[&str]) -> UniquePolicy {
    UniquePolicy { args_keys: Some(names(args_keys)), ..by(false, true, false) }
}

#[track_caller]
fn check(found: Result<Keyed, KeyError>, text: &str, key: &str) {
    let found = found.unwrap();
    assert_eq!(found.text, text);
    assert_eq!(found.key.to_string(), key);
    assert_eq!(key.parse(), Ok(found.key));
}

#[test]
fn selected_args_with_the_queue_give_the_published_key() {
    let policy = UniquePolicy { args_keys: Some(names(&["user_id"])), ..by(true, true, false) };
    let text = r#"{"args":{"user_id":42},"queue":"notifications","type":"email.send"}"#;
    let key = "71f9344b82e66297a49775bbe27752297922842b675330641ebe3ff4fea46c1f";
    check(keyed(&policy, r#"{"user_id":42,"template":"welcome"}"#, "{}"), text, key);
    check(keyed(&policy, r#"[{"template":"x"},{"user_id":42}]"#, "{}"), text, key);
}

#[test]
fn the_type_alone_gives_the_published_key() {
    let found = of_kind("report.daily", &by(false, false, false), r#"{"date":1}"#, "{}");
    let key = "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95";
    check(found, r#"{"type":"report.daily"}"#, key);
}

#[test]
fn selected_metadata_gives_the_published_key() {
    let policy = UniquePolicy { meta_keys: Some(names(&["tenant_id"])), ..by(false, true, true) };
    let found = of_kind(
        "cache.warm",
        &policy,
        r#"{"resource":"products"}"#,
        r#"{"region":"us-east-1","tenant_id":"acme"}"#,
    );
    let text = r#"{"args":{"resource":"products"},"meta":{"tenant_id":"acme"},"type":"cache.warm"}"#;
    check(found, text, "dc19075d0e4dde8bcd3952c4f9789b50e959792aa308daaa8eae0daa9f1985b0");
}

#[test]
fn composed_and_combining_letters_give_the_published_key() {
    let key = "283ca41021cbdcd493e0dceccfff56299892eefd1fac47899dd8938faab9b7d1";
    let text = "{\"args\":{\"name\":\"caf\u{e9}\"},\"type\":\"a.b\"}";
    let policy = by(false, true, false);
    for name in ["caf\u{e9}", "cafe\u{301}", "caf\\u00e9"] {
        check(of_kind("a.b", &policy, &format!(r#"{{"name":"{name}"}}"#), "{}"), text, key);
    }
}

#[test]
fn numbers_give_the_published_key_however_they_are_written() {
    let key = "45849a2b20ccc4d4ce86aa6de767c8c9e84cecb2cf91e1573c19575a625af66c";
    for args in [r#"{"n":1,"x":1e21}"#, r#"{"x":1E+21,"n":1.0}"#, r#"{"n":1e0,"x":1000e18}"#] {
        check(
            of_kind("a.b", &by(false, true, false), args, "{}"),
            r#"{"args":{"n":1,"x":1e+21},"type":"a.b"}"#,
            key,
        );
    }
}

#[test]
fn large_integers_that_are_equal_as_doubles_stay_apart() {
    let of = |n: &str| keyed(&by(false, true, false), &format!("[{n}]"), "{}").unwrap();
    assert_eq!(of("9007199254740993").text, r#"{"args":[9007199254740993],"type":"email.send"}"#);
    assert_ne!(of("9007199254740993").key, of("9007199254740992").key);
    assert_ne!(of("12345678901234567890").key, of("12345678901234567891").key);
}

#[test]
fn a_client_s_own_key_replaces_args_and_meta() {
    let own = UniquePolicy { key: Some("order-7".into()), ..by(false, true, false) };
    assert_eq!(keyed(&own, "[1]", "{}").unwrap().text, r#"{"key":"order-7","type":"email.send"}"#);
    let with_queue = UniquePolicy { dimensions: Dimensions { queue: true, ..own.dimensions }, ..own };
    let text = r#"{"key":"order-7","queue":"notifications","type":"email.send"}"#;
    assert_eq!(keyed(&with_queue, "[1]", "{}").unwrap().text, text);
}

#[test]
fn an_argument_is_found_by_member_then_by_position() {
    let text = |args: &str, name: &str| keyed(&by_args(&[name]), args, "{}").map(|k| k.text);
    assert_eq!(text(r#"["a","b"]"#, "1").unwrap(), r#"{"args":{"1":"b"},"type":"email.send"}"#);
    assert_eq!(text(r#"["a",{"1":"m"}]"#, "1").unwrap(), r#"{"args":{"1":"m"},"type":"email.send"}"#);
    for (args, name) in
        [(r#"["a"]"#, "1"), (r#"["a"]"#, "00"), (r#"["a"]"#, "-0"), ("[]", "x"), (r#"{"a":1}"#, "0")]
    {
        assert_eq!(text(args, name), Err(KeyError::ArgsKeyMissing(name.into())), "{args} {name}");
    }
}

#[test]
fn a_listed_member_is_found_however_its_accents_are_written() {
    let (composed, combining) = ("caf\u{e9}", "cafe\u{301}");
    let of = |name: &str, listed: &str| keyed(&by_args(&[listed]), &format!(r#"{{"{name}":1}}"#), "{}");
    let expected = of(composed, composed).unwrap();
    for (name, listed) in [(composed, combining), (combining, composed), (combining, combining)] {
        assert_eq!(of(name, listed).as_ref(), Ok(&expected));
    }
}

#[test]
fn a_listed_member_that_is_missing_is_an_error() {
    let policy = UniquePolicy { meta_keys: Some(names(&["tenant"])), ..by(false, false, true) };
    assert_eq!(keyed(&policy, "[]", r#"{"other":1}"#), Err(KeyError::MetaKeyMissing("tenant".into())));
}

#[test]
fn names_that_become_one_are_an_error() {
    let twins = "{\"caf\u{e9}\":1,\"cafe\u{301}\":2}";
    assert!(matches!(keyed(&by(false, true, false), twins, "{}"), Err(KeyError::Canonical(_))));
    let policy = by_args(&["caf\u{e9}", "cafe\u{301}"]);
    assert!(matches!(keyed(&policy, twins, "{}"), Err(KeyError::Canonical(_))));
}

#[test]
fn keys_stay_out_of_debug_output() {
    assert_eq!(format!("{:?}", Key::of_text("x")), "Key(…)");
}

proptest! {
    #[test]
    fn wrapping_an_object_in_an_array_does_not_change_the_key(user in any::<i64>(), name in "[a-z0-9é]{1,8}") {
        let object = format!(r#"{{"{name}":{user},"other":[1,2]}}"#);
        let policy = by_args(&[&name]);
        let plain = keyed(&policy, &object, "{}").unwrap();
        prop_assert_eq!(keyed(&policy, &format!("[{object}]"), "{}").unwrap(), plain);
    }

    #[test]
    fn only_the_selected_members_count(a in any::<i32>(), b in any::<i32>(), c in any::<i32>()) {
        let of = |x: i32, y: i32| keyed(&by_args(&["x"]), &format!(r#"{{"x":{x},"y":{y}}}"#), "{}").unwrap().key;
        prop_assert_eq!(of(a, b), of(a, c));
        prop_assert_eq!(of(a, b) == of(c, b), a == c);
    }
}
