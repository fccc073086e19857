//! What may be wrong with job keys, with questions about keys, and with what is done to them.

use e2e::{Request, job};

use crate::{nothing_was_stored, start};

const KEY: &str = "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95";

/// A member of a job and values that it must not have; the refusal names it.
const WRONG: &[(&str, &[&str])] = &[
    ("job_key", &["5", "true", "[]", "{}", "\"\"", "[\"a\"]", "1.5"]),
    ("job_key_mode", &["5", "true", "[]", "{}", "\"\"", "\"Replace\"", "\"append\"", "\"unsafe-dedupe\""]),
];

fn with(member: &str, value: &str) -> String {
    let name = if member == "job_key" { "" } else { "\"job_key\":\"name\"," };
    format!(r#"{name}"{member}":{value}"#)
}

#[test]
fn job_keys_of_the_wrong_form_are_refused_by_name() {
    let (_server, mut client) = start();
    for (member, values) in WRONG {
        for value in *values {
            let members = with(member, value);
            let flat = format!(r#"{{"type":"a.b","args":[],{members}}}"#);
            let nested = format!(r#"{{"type":"a.b","args":[],"options":{{{members}}}}}"#);
            for body in [flat, nested] {
                for path in ["/ojs/v1/jobs", "/ojs/v1/unique/explain"] {
                    let answer = client.send(&Request::post(path, body.as_str()));
                    assert_eq!(answer.status, 400, "{body}: {}", answer.body);
                    answer.is_refusal(400, "invalid_request");
                    assert!(answer.message().contains(member), "{body}: {:?}", answer.message());
                }
            }
        }
    }
    nothing_was_stored(&mut client);
}

#[test]
fn a_null_job_key_is_none() {
    let (_server, mut client) = start();
    let body = r#"{"type":"a.b","args":[],"job_key":null,"job_key_mode":null}"#;
    let answer = client.send(&Request::post("/ojs/v1/jobs", body));
    assert!(answer.is(201)["job"]["job_key"].is_null(), "{}", answer.body);
    let beside = r#"{"type":"a.b","args":[],"job_key":null,"unique":{"keys":["type"]}}"#;
    client.send(&Request::post("/ojs/v1/jobs", beside)).is(201);
    let mode = r#"{"type":"a.b","args":[],"job_key":null,"job_key_mode":"replace"}"#;
    client.send(&Request::post("/ojs/v1/jobs", mode)).is_refusal(400, "invalid_request");
}

#[test]
fn what_the_server_shows_is_no_policy() {
    let (_server, mut client) = start();
    // Facts alone stand beside a job key without harm; anything else beside it is a second wish.
    let shown = r#"{"type":"a.b","args":[],"job_key":"a","unique":{"uniqueness_key":"x","duplicates":{}}}"#;
    client.send(&Request::post("/ojs/v1/jobs", shown)).is(201);
    let both = r#"{"type":"a.b","args":[],"job_key":"b","unique":{"uniqueness_key":"x","keys":["type"]}}"#;
    client.send(&Request::post("/ojs/v1/jobs", both)).is_refusal(400, "invalid_request");
    client.remove_job_key("a").is(200);
    nothing_was_stored(&mut client);
}

#[test]
fn a_name_in_a_path_that_is_no_name_is_refused() {
    let (_server, mut client) = start();
    client.delete("/ojs/v1/job-keys/").is_error(400);
    for name in ["%FF", "%C3", "%C3%28"] {
        let answer = client.delete(&format!("/ojs/v1/job-keys/{name}"));
        assert_eq!(answer.status, 400, "{name}: {}", answer.body);
        answer.is_error(400);
    }
    client.remove_job_key(&"x".repeat(513)).is_refusal(400, "invalid_request");
    for method in ["GET", "POST", "PUT"] {
        client.send(&Request::new(method, "/ojs/v1/job-keys/name")).is_refusal(405, "method_not_allowed");
    }
    nothing_was_stored(&mut client);
}

#[test]
fn a_list_of_keys_takes_no_bad_query() {
    let (_server, mut client) = start();
    client.create(&job("a.b").on_conflict("reject").on("elsewhere"));
    let queries = [
        ("limit=0", "limit"),
        ("limit=-1", "limit"),
        ("limit=x", "limit"),
        ("limit=1e3", "limit"),
        ("cursor=x", "cursor"),
        ("cursor=1.2", "cursor"),
        ("queue=UPPER", "queue"),
        ("type=A%20B", "type"),
        ("older_than=-1", "older_than"),
        ("older_than=soon", "older_than"),
        ("older_than=P", "older_than"),
        ("older_than=infinity", "older_than"),
        ("older_than=1.5", "older_than"),
        ("older_than=99999999999999999999999", "older_than"),
        ("colour=blue", "colour"),
        ("lmit=1", "limit"),
        ("limit=1&limit=2", "limit"),
    ];
    for (query, word) in queries {
        let answer = client.held_keys(query);
        assert_eq!(answer.status, 400, "{query}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
        assert!(answer.message().contains(word), "{query}: {:?}", answer.message());
    }
    for query in ["", "limit=99999", "_=17", "type=&queue=&limit=", "older_than=0", "older_than=PT0S"] {
        assert_eq!(client.held_keys(query).is(200)["keys"].as_array().map(Vec::len), Some(1), "{query}");
    }
    nothing_was_stored(&mut client);
}

#[test]
fn a_page_of_holders_takes_no_bad_limit() {
    let (_server, mut client) = start();
    let id = client.create(&job("a.b").on_conflict("reject").on("elsewhere"));
    let key = client.key_of(&id);
    for limit in ["0", "-1", "x", "1.5"] {
        client.key(&format!("{key}?limit={limit}")).is_refusal(400, "invalid_request");
    }
    client.key(&format!("{key}?limit=1")).is(200);
}

#[test]
fn keys_take_no_other_methods() {
    let (_server, mut client) = start();
    let paths = [
        ("POST", "/ojs/v1/unique/keys".to_owned()),
        ("DELETE", format!("/ojs/v1/unique/keys/{KEY}")),
        ("GET", format!("/ojs/v1/unique/keys/{KEY}/release")),
        ("GET", "/ojs/v1/unique/explain".to_owned()),
        ("GET", "/ojs/v1/jobs/bulk".to_owned()),
    ];
    for (method, path) in paths {
        let answer = client.send(&Request::new(method, &path));
        assert!(matches!(answer.status, 404 | 405), "{method} {path}: {}", answer.body);
        answer.is_error(answer.status);
    }
    nothing_was_stored(&mut client);
}
