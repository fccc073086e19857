//! Class 10, the key: equal values are one key however they are written, and different ones never are.

use std::collections::BTreeMap;

use e2e::{Client, Request, Server};

/// The key of a job with these arguments, unique by them.
#[track_caller]
fn key(client: &mut Client, args: &str) -> String {
    let body = format!(r#"{{"type":"a.b","args":{args},"unique":{{"keys":["args"]}}}}"#);
    let answer = client.send(&Request::post("/ojs/v1/unique/explain", body));
    assert_eq!(answer.status, 200, "{args}: {}", answer.body);
    answer.text("/key").to_owned()
}

#[test]
fn class_10_equal_values_are_one_key_however_they_are_written() {
    let groups: [&[&str]; 9] = [
        &["[1]", "[1.0]", "[1e0]", "[10e-1]", "[0.1e1]", "[1E+0]", "[ 1 ]", "[\n1\t]"],
        &["[0]", "[-0]", "[0.0]", "[-0.0]", "[0e5]", "[-0e-5]"],
        &["[100]", "[1e2]", "[1.00E2]"],
        &["[1e-7]", "[0.0000001]"],
        &["[1e21]", "[1e+21]", "[10e20]"],
        &[r#"{"a":1,"b":{"c":[1,{"d":2,"e":3}],"f":4}}"#, r#"{"b":{"f":4.0,"c":[1,{"e":3,"d":2}]},"a":1e0}"#],
        &["[\"caf\u{e9}\"]", "[\"cafe\u{301}\"]", r#"["caf\u00e9"]"#, r#"["cafe\u0301"]"#],
        &["{\"caf\u{e9}\":{\"\u{e9}\":1}}", "{\"cafe\u{301}\":{\"e\u{301}\":1}}"],
        &["[\"\u{1f600}/\"]", r#"["\ud83d\ude00\/"]"#, r#"["\uD83D\uDE00\u002f"]"#],
    ];
    let server = Server::start();
    let mut client = server.client();
    for group in groups {
        let first = key(&mut client, group[0]);
        for args in &group[1..] {
            assert_eq!(key(&mut client, args), first, "{args} and {}", group[0]);
        }
    }
}

#[test]
fn class_10_different_values_are_different_keys() {
    let different = [
        "[9007199254740991]",
        "[9007199254740992]",
        "[9007199254740993]",
        "[12345678901234567890]",
        "[12345678901234567891]",
        "[-12345678901234567890]",
        "[123456789012345678901234567890]",
        "[123456789012345678901234567891]",
        "[1]",
        "[-1]",
        "[0]",
        "[0.1]",
        "[0.10000000000000002]",
        r#"["1"]"#,
        "[true]",
        r#"["true"]"#,
        "[null]",
        r#"["null"]"#,
        r#"[""]"#,
        "[]",
        "[[]]",
        "[{}]",
        "{}",
        "[1,2]",
        "[2,1]",
        "[[1],2]",
        "[[1,2]]",
        r#"["a"]"#,
        r#"["A"]"#,
        r#"["a "]"#,
        r#"{"a":{"b":1}}"#,
        r#"{"a":{"b":1},"c":null}"#,
        r#"{"a.b":1}"#,
        r#"{"b":{"a":1}}"#,
        "[\"\u{fb01}\"]",
        r#"["fi"]"#,
    ];
    let server = Server::start();
    let mut client = server.client();
    let mut seen = BTreeMap::new();
    for args in different {
        if let Some(other) = seen.insert(key(&mut client, args), args) {
            panic!("{args} and {other} are one key");
        }
    }
}

#[test]
fn class_10_numbers_beyond_all_numbers_are_refused_or_told_apart() {
    let server = Server::start();
    let mut client = server.client();
    let mut keys = Vec::new();
    for args in ["[1e400]", "[1e401]", "[-1e400]"] {
        let body = format!(r#"{{"type":"a.b","args":{args},"unique":{{"keys":["args"]}}}}"#);
        let answer = client.send(&Request::post("/ojs/v1/unique/explain", body));
        match answer.status {
            200 => keys.push(answer.text("/key").to_owned()),
            _ => assert_eq!(answer.is_refusal(400, "invalid_request").status, 400),
        }
    }
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count, "different numbers with one key");
}

#[test]
fn class_10_what_the_policy_leaves_out_does_not_count() {
    let server = Server::start();
    let mut client = server.client();
    let mut key = |trace: &str| {
        let body = format!(
            r#"{{"type":"a.b","queue":"q-{trace}","priority":{},"args":[{{"user":1,"trace":"{trace}"}}],
                "meta":{{"trace":"{trace}"}},"tags":["{trace}"],"x_trace":"{trace}",
                "unique":{{"keys":["type","args"],"args_keys":["user"]}}}}"#,
            trace.len()
        );
        client.send(&Request::post("/ojs/v1/unique/explain", body)).is(200).text("/key").to_owned()
    };
    assert_eq!(key("a"), key("bcd"));
}
