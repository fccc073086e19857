//! Bodies that are not JSON, or not the JSON that was asked for.

use e2e::Request;

use crate::{nothing_was_stored, start};

const NOT_JSON: &[&[u8]] = &[
    b"",
    b" ",
    b"nope",
    b"{",
    b"{\"type\"",
    b"{\"type\":\"a.b\",\"args\":[",
    b"{\"type\":\"a.b\",\"args\":[]",
    b"{\"type\":\"a.b\",\"args\":[],}",
    b"{\"type\":\"a.b\",\"args\":[1,]}",
    b"{\"type\":\"a.b\" \"args\":[]}",
    b"{type:\"a.b\",\"args\":[]}",
    b"{'type':'a.b','args':[]}",
    b"{\"type\":\"a.b\",\"args\":[01]}",
    b"{\"type\":\"a.b\",\"args\":[1.]}",
    b"{\"type\":\"a.b\",\"args\":[.5]}",
    b"{\"type\":\"a.b\",\"args\":[+1]}",
    b"{\"type\":\"a.b\",\"args\":[NaN]}",
    b"{\"type\":\"a.b\",\"args\":[Infinity]}",
    b"{\"type\":\"a.b\",\"args\":[\"\\x\"]}",
    b"{\"type\":\"a.b\",\"args\":[\"\\ud800\"]}",
    b"{\"type\":\"a.b\",\"args\":[\"tab\there\"]}",
    b"{\"type\":\"a.b\",\"args\":[\"\xff\xfe\"]}",
    b"{\"type\":\"a.b\",\"args\":[]} extra",
    b"{\"type\":\"a.b\",\"args\":[]}{}",
    b"{\"type\":\"a.b\",\"args\":[]}\0",
    b"\xef\xbb\xbf{\"type\":\"a.b\",\"args\":[]}",
    b"// hello\n{\"type\":\"a.b\",\"args\":[]}",
];

#[test]
fn text_that_is_not_json_is_refused() {
    let (_server, mut client) = start();
    for body in NOT_JSON {
        let answer = client.send(&Request::post("/ojs/v1/jobs", *body));
        let shown = String::from_utf8_lossy(body);
        assert_eq!(answer.status, 400, "{shown}: {}", answer.body);
        answer.is_refusal(400, "invalid_payload");
        assert!(client.is_open(), "the connection was closed after {shown}");
    }
    nothing_was_stored(&mut client);
}

#[test]
fn json_that_is_no_object_is_refused() {
    let (_server, mut client) = start();
    let paths = [
        "jobs",
        "jobs/batch",
        "jobs/bulk",
        "unique/explain",
        "workers/fetch",
        "workers/ack",
        "workers/nack",
        "workers/heartbeat",
    ];
    for path in paths {
        for body in ["[]", "null", "true", "5", "\"text\"", "[{}]"] {
            let answer = client.send(&Request::post(&format!("/ojs/v1/{path}"), body));
            assert_eq!(answer.status, 400, "{path} {body}: {}", answer.body);
            answer.is_error(400);
        }
    }
    nothing_was_stored(&mut client);
}

#[test]
fn a_member_named_twice_is_refused_wherever_it_stands() {
    let (_server, mut client) = start();
    let bodies = [
        r#"{"type":"a.b","type":"a.b","args":[]}"#,
        r#"{"type":"a.b","args":[{"a":1,"a":2}]}"#,
        r#"{"type":"a.b","args":[[[{"a":1,"b":{"c":1,"c":1}}]]]}"#,
        r#"{"type":"a.b","args":[],"meta":{"x":1,"\u0078":2}}"#,
        r#"{"type":"a.b","args":[],"unique":{"keys":["type"],"keys":["type"]}}"#,
        r#"{"type":"a.b","args":[],"options":{"queue":"a","queue":"a"}}"#,
        r#"{"type":"a.b","args":[],"x_other":{"y":1,"y":1}}"#,
    ];
    for body in bodies {
        let answer = client.send(&Request::post("/ojs/v1/jobs", body));
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        answer.is_error(400);
    }
    nothing_was_stored(&mut client);
}

#[test]
fn nesting_has_a_limit() {
    let (_server, mut client) = start();
    for depth in [65, 200, 5_000, 400_000] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let body = format!(r#"{{"type":"a.b","args":[{deep}]}}"#);
            let answer = client.send(&Request::post("/ojs/v1/jobs", body));
            answer.is_error(answer.status);
            assert!(matches!(answer.status, 400 | 413), "{depth}: {}", answer.body);
        }
        // A text that never closes what it opens.
        let answer = client.send(&Request::post("/ojs/v1/jobs", "[".repeat(depth)));
        answer.is_refusal(400, "invalid_payload");
    }
    nothing_was_stored(&mut client);
    let fits = format!(r#"{{"type":"a.b","args":{}{}}}"#, "[".repeat(50), "]".repeat(50));
    client.send(&Request::post("/ojs/v1/jobs", fits)).is(201);
}

#[test]
fn other_content_types_are_refused() {
    let (_server, mut client) = start();
    let good = r#"{"type":"a.b","args":[]}"#;
    let types =
        ["text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data", "json"];
    for kind in types {
        let request = Request::post("/ojs/v1/jobs", good).header("Content-Type", kind);
        client.send(&request).is_refusal(400, "invalid_request");
    }
    nothing_was_stored(&mut client);
    let types = [
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/openjobspec+json",
        "application/openjobspec+json;charset=UTF-8",
    ];
    for kind in types {
        client.send(&Request::post("/ojs/v1/jobs", good).header("Content-Type", kind)).is(201);
    }
}

#[test]
fn a_bad_job_anywhere_in_a_batch_stores_none_of_it() {
    let (_server, mut client) = start();
    let good = r#"{"type":"a.b","args":[]}"#;
    let bodies = [
        "{}".to_owned(),
        r#"{"jobs":[]}"#.to_owned(),
        r#"{"jobs":{}}"#.to_owned(),
        format!(r#"{{"jobs":[{good},5]}}"#),
        format!(r#"{{"jobs":[{good},{{"type":"a.b"}}]}}"#),
        format!(r#"{{"jobs":[{good},{{"type":"A B","args":[]}},{good}]}}"#),
        format!(r#"{{"jobs":[{good},{{"type":"a.b","args":[],"priority":"high"}}]}}"#),
        format!(r#"{{"jobs":[{good},{good}"#),
    ];
    for body in bodies {
        let answer = client.send(&Request::post("/ojs/v1/jobs/batch", body.as_str()));
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        answer.is_error(400);
    }
    nothing_was_stored(&mut client);
}
