//! What a client sent comes back byte for byte.

use e2e::{Request, Server};

const ARGS: &str =
    r#"[1.0,1e3,-0,51E25,12345678901234567890,0.1000,{"b":1,"a":{"z":[],"y":"\u00e9\/"}},null,true]"#;
const META: &str = r#"{"zeta":1.50,"alpha":"caf\u00e9","big":340282366920938463463374607431768211456}"#;
const RESULT: &str = r#"{"took":0.10,"rows":98765432109876543210,"b":"\t","a":1E+2}"#;

#[test]
fn args_meta_and_result_come_back_as_they_were_sent() {
    let mut server = Server::start();
    let mut client = server.client();
    let body = format!(r#"{{"type":"echo","args":{ARGS},"meta":{META}}}"#);
    let created = client.send(&Request::post("/ojs/v1/jobs", body));
    created.is(201);
    assert_eq!(created.raw(&["job", "args"]), ARGS);
    assert_eq!(created.raw(&["job", "meta"]), META);

    let fetch = Request::post("/ojs/v1/workers/fetch", r#"{"queues":["default"]}"#);
    let fetched = client.send(&fetch);
    assert_eq!(fetched.raw(&["job", "args"]), ARGS);
    assert_eq!(fetched.raw(&["job", "meta"]), META);

    let ack = format!(r#"{{"job_id":"{}","result":{RESULT}}}"#, created.id());
    client.send(&Request::post("/ojs/v1/workers/ack", ack)).is(200);
    server.crash_and_restart();
    let read = server.client().get(&format!("/ojs/v1/jobs/{}", created.id()));
    assert_eq!(read.is(200).raw(&["job", "args"]), ARGS);
    assert_eq!(read.raw(&["job", "meta"]), META);
    assert_eq!(read.raw(&["job", "result"]), RESULT);
}

#[test]
fn args_as_an_object_come_back_as_an_object() {
    const ARGS: &str = r#"{"user_id":42.0,"b":1,"a":2}"#;
    let server = Server::start();
    let mut client = server.client();
    let created = client.send(&Request::post("/ojs/v1/jobs", format!(r#"{{"type":"echo","args":{ARGS}}}"#)));
    assert_eq!(created.is(201).raw(&["job", "args"]), ARGS);
    assert_eq!(client.fetch_one("default").job["args"]["user_id"], 42.0);
}

#[test]
fn only_an_array_will_do_under_the_specs_own_content_type() {
    let server = Server::start();
    let mut client = server.client();
    let send = |args: &str| {
        Request::post("/ojs/v1/jobs", format!(r#"{{"type":"echo","args":{args}}}"#))
            .header("Content-Type", "application/openjobspec+json")
    };
    client.send(&send(r#"{"user_id":42}"#)).is_refusal(400, "invalid_request");
    client.send(&send(r#"[{"user_id":42}]"#)).is(201);
}

#[test]
fn unknown_attributes_are_kept_and_returned() {
    const BODY: &str = r#"{"type":"echo","args":[],"x_trace":{"b":1.0,"a":[1e2]},"colour":"blue"}"#;
    let server = Server::start();
    let mut client = server.client();
    let created = client.send(&Request::post("/ojs/v1/jobs", BODY));
    created.is(201);
    let read = client.get(&format!("/ojs/v1/jobs/{}", created.id()));
    assert_eq!(read.raw(&["job", "x_trace"]), r#"{"b":1.0,"a":[1e2]}"#);
    assert_eq!(read["job"]["colour"], "blue");
    assert_eq!(client.fetch_one("default").job["colour"], "blue");
}

#[test]
fn payload_stands_for_a_single_argument() {
    let server = Server::start();
    let mut client = server.client();
    let payload = Request::post("/ojs/v1/jobs", r#"{"type":"echo","payload":{"n":1.0}}"#);
    assert_eq!(client.send(&payload).is(201).raw(&["job", "args"]), r#"[{"n":1.0}]"#);
    let both = Request::post("/ojs/v1/jobs", r#"{"type":"echo","payload":1,"args":[1]}"#);
    client.send(&both).is_refusal(400, "invalid_request");
}

#[test]
fn attributes_stand_flat_or_under_options_but_not_differently_in_both() {
    let server = Server::start();
    let mut client = server.client();
    let send = |body: &str| Request::post("/ojs/v1/jobs", body);
    let nested = client.send(&send(r#"{"type":"echo","args":[],"options":{"queue":"a","priority":5}}"#));
    assert_eq!(nested.is(201)["job"]["queue"], "a");
    assert_eq!(nested["job"]["priority"], 5);
    assert!(nested["job"]["options"].is_null());
    let same = r#"{"type":"echo","args":[],"queue":"a","options":{"queue":"a"}}"#;
    client.send(&send(same)).is(201);
    let split = r#"{"type":"echo","args":[],"queue":"a","options":{"queue":"b"}}"#;
    let refused = client.send(&send(split));
    refused.is_refusal(400, "invalid_request");
    assert!(refused.message().contains("queue"), "{}", refused.body);
}
