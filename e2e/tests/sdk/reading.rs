//! What a reader of an answer asks of its members.

use serde_json::Value;

/// Panics unless the value has all members, each of its kind. A member is written as `name kind`; with `name? kind` it
/// may be missing or null.
#[track_caller]
pub(crate) fn reads(value: &Value, members: &[&str]) {
    for member in members {
        let (name, kind) = member.split_once(' ').unwrap_or_else(|| panic!("{member:?} has no kind"));
        let (name, may_be_missing) = match name.strip_suffix('?') {
            Some(name) => (name, true),
            None => (name, false),
        };
        let found = value.get(name).unwrap_or(&Value::Null);
        if !(may_be_missing && found.is_null()) {
            assert!(is(found, kind), "{name} is to be {kind}, and is {found} in {value}");
        }
    }
}

/// The same for every item of a list, which has at least one.
#[track_caller]
pub(crate) fn reads_each(list: &Value, members: &[&str]) {
    let items = list.as_array().unwrap_or_else(|| panic!("no list: {list}"));
    assert!(!items.is_empty(), "nothing in the list");
    for item in items {
        reads(item, members);
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "text" => value.is_string(),
        // Floats have a point, and readers of whole numbers stumble over it.
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "flag" => value.is_boolean(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        "texts" => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        "flags" => value.as_object().is_some_and(|members| members.values().all(Value::is_boolean)),
        "names" => value.as_object().is_some_and(|members| members.values().all(Value::is_string)),
        "time" => value.as_str().is_some_and(is_time),
        "state" => value.as_str().is_some_and(|state| e2e::EVERY_STATE.contains(&state)),
        other => panic!("{other:?} is no kind"),
    }
}

/// The parts of RFC 3339 that all four readers understand.
fn is_time(text: &str) -> bool {
    let shape: String = text.chars().map(|sign| if sign.is_ascii_digit() { '0' } else { sign }).collect();
    ["0000-00-00T00:00:00Z", "0000-00-00T00:00:00.000Z"].contains(&shape.as_str())
}

#[test]
fn a_reader_stumbles_over_members_of_another_kind() {
    let value = serde_json::json!({"text": "a", "integer": 1, "number": 1.5, "time": "2026-03-01T09:30:00.125Z",
        "flags": {"a": true}, "texts": ["a"], "state": "active", "null": null});
    for (member, fits) in [
        ("text text", true),
        ("text integer", false),
        ("integer integer", true),
        ("number integer", false),
        ("time time", true),
        ("text time", false),
        ("flags flags", true),
        ("flags names", false),
        ("texts texts", true),
        ("state state", true),
        ("text state", false),
        ("null? text", true),
        ("null text", false),
        ("missing? text", true),
        ("missing text", false),
        ("number? text", false),
    ] {
        let read = std::panic::catch_unwind(|| reads(&value, &[member]));
        assert_eq!(read.is_ok(), fits, "{member}");
    }
}
