//! The key: which jobs are the same, down to the published digests.

use e2e::{Client, Request, Server, job};
use serde_json::json;

/// The key of a job, learnt by enqueuing it twice.
#[track_caller]
fn key_of(client: &mut Client, body: &str) -> String {
    client.send(&Request::post("/ojs/v1/jobs", body)).is(201);
    let again = client.send(&Request::post("/ojs/v1/jobs", body));
    again.is_refusal(409, "duplicate");
    again.text("/error/details/uniqueness_key").to_owned()
}

#[test]
fn the_published_vectors_hold() {
    let vectors = [
        (
            r#"{"type":"email.send","queue":"notifications","args":{"user_id":42,"template":"welcome"},
               "unique":{"keys":["type","queue","args"],"args_keys":["user_id"]}}"#,
            "71f9344b82e66297a49775bbe27752297922842b675330641ebe3ff4fea46c1f",
        ),
        (
            r#"{"type":"report.daily","args":[1],"unique":{}}"#,
            "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95",
        ),
        (
            r#"{"type":"cache.warm","args":{"resource":"products"},"meta":{"tenant_id":"acme","trace":"x"},
               "unique":{"keys":["type","args","meta"],"meta_keys":["tenant_id"]}}"#,
            "dc19075d0e4dde8bcd3952c4f9789b50e959792aa308daaa8eae0daa9f1985b0",
        ),
        (
            r#"{"type":"a.b","args":{"name":"café"},"unique":{"keys":["args"]}}"#,
            "283ca41021cbdcd493e0dceccfff56299892eefd1fac47899dd8938faab9b7d1",
        ),
        (
            r#"{"type":"a.b","args":{"x":1e21,"n":1.0},"unique":{"keys":["type","args"]}}"#,
            "45849a2b20ccc4d4ce86aa6de767c8c9e84cecb2cf91e1573c19575a625af66c",
        ),
    ];
    let server = Server::start();
    let mut client = server.client();
    for (body, key) in vectors {
        assert_eq!(key_of(&mut client, body), key, "{body}");
    }
}

#[test]
fn the_job_shows_its_key() {
    let server = Server::start();
    let mut client = server.client();
    let answer = client.enqueue(&job("report.daily").on_conflict("reject"));
    let key = "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95";
    assert_eq!(answer.is(201)["job"]["unique"]["uniqueness_key"], key);
}

#[test]
fn args_as_an_object_and_as_an_array_give_the_same_key() {
    let server = Server::start();
    let mut client = server.client();
    let policy = json!({"keys": ["type", "args"], "args_keys": ["user_id"]});
    let send = job("email.send").unique(policy);
    client.create(&send.clone().args(json!({"user_id": 42, "locale": "en"})));
    client.enqueue(&send.clone().args(json!([{"user_id": 42}]))).is_refusal(409, "duplicate");
    client.enqueue(&send.clone().args(json!(["x", {"user_id": 42}]))).is_refusal(409, "duplicate");
    client.enqueue(&send.args(json!([{"user_id": 43}]))).is(201);
}

#[test]
fn a_position_addresses_an_argument() {
    let server = Server::start();
    let mut client = server.client();
    let policy = json!({"keys": ["args"], "args_keys": ["0"]});
    let send = job("email.send").unique(policy);
    client.create(&send.clone().args(json!([42, "welcome"])));
    client.enqueue(&send.clone().args(json!([42, "goodbye"]))).is_refusal(409, "duplicate");
    client.create(&send.args(json!([43, "welcome"])));
}

/// Enqueues a job with these arguments, unique by them, and says whether it was a duplicate.
#[track_caller]
fn is_duplicate(client: &mut Client, args: &str) -> bool {
    let body = format!(r#"{{"type":"a.b","args":{args},"unique":{{"keys":["args"]}}}}"#);
    match client.send(&Request::post("/ojs/v1/jobs", body)) {
        answer if answer.status == 201 => false,
        answer => answer.is_refusal(409, "duplicate").status == 409,
    }
}

#[test]
fn equal_values_written_differently_are_duplicates() {
    let groups: [&[&str]; 5] = [
        &["[1]", "[1.0]", "[1e0]", "[10e-1]", "[ 1 ]"],
        &["[0]", "[-0]", "[0.0]", "[-0.0]"],
        &[r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#],
        &["[\"caf\u{e9}\"]", "[\"cafe\u{301}\"]", r#"["caf\u00e9"]"#, r#"["cafe\u0301"]"#],
        &["[\"\u{1f600}\"]", r#"["\ud83d\ude00"]"#],
    ];
    let server = Server::start();
    let mut client = server.client();
    for group in groups {
        assert!(!is_duplicate(&mut client, group[0]), "{}", group[0]);
        for args in &group[1..] {
            assert!(is_duplicate(&mut client, args), "{args} and {}", group[0]);
        }
    }
}

#[test]
fn different_values_are_no_duplicates() {
    let different = [
        "[9007199254740992]",
        "[9007199254740993]",
        "[12345678901234567890]",
        "[12345678901234567891]",
        "[1]",
        r#"["1"]"#,
        "[true]",
        "[null]",
        "[]",
        "[[]]",
        "[{}]",
        "{}",
        "[1,2]",
        "[2,1]",
        r#"["A"]"#,
        r#"["a"]"#,
    ];
    let server = Server::start();
    let mut client = server.client();
    for args in different {
        assert!(!is_duplicate(&mut client, args), "{args}");
    }
}

#[test]
fn the_type_always_counts() {
    let server = Server::start();
    let mut client = server.client();
    let policy = json!({"keys": ["args"]});
    client.create(&job("email.send").unique(policy.clone()));
    client.create(&job("sms.send").unique(policy));
    client.create(&job("push.send").unique(json!({"keys": []})));
    client.enqueue(&job("push.send").args(json!([1])).unique(json!({}))).is_refusal(409, "duplicate");
}

#[test]
fn a_key_of_the_clients_own_stands_for_the_arguments() {
    let server = Server::start();
    let mut client = server.client();
    let own = |key: &str| job("import").unique(json!({"key": key}));
    client.create(&own("file-1").args(json!([1])));
    client.enqueue(&own("file-1").args(json!([2])).on("other")).is_refusal(409, "duplicate");
    client.create(&own("file-2").args(json!([1])));
    client.create(&job("export").unique(json!({"key": "file-1"})));
}

#[test]
fn a_key_of_the_clients_own_counts_per_queue_if_it_says_so() {
    let server = Server::start();
    let mut client = server.client();
    let own = job("import").unique(json!({"key": "file-1", "keys": ["queue"]}));
    client.create(&own.clone().on("a"));
    client.create(&own.clone().on("b"));
    client.enqueue(&own.on("a")).is_refusal(409, "duplicate");
}

#[test]
fn only_the_named_members_of_meta_count() {
    let server = Server::start();
    let mut client = server.client();
    let warm = |meta: serde_json::Value| {
        job("cache.warm")
            .with("meta", meta)
            .unique(json!({"keys": ["meta"], "meta_keys": ["tenant", "region"]}))
    };
    client.create(&warm(json!({"tenant": "acme", "region": "eu", "trace": "a"})));
    let same = warm(json!({"trace": "b", "region": "eu", "tenant": "acme"}));
    client.enqueue(&same).is_refusal(409, "duplicate");
    client.create(&warm(json!({"tenant": "acme", "region": "us", "trace": "a"})));
    client.enqueue(&warm(json!({"tenant": "acme"}))).is_refusal(400, "invalid_request");
}

#[test]
fn names_of_members_may_be_chosen_in_any_order() {
    let server = Server::start();
    let mut client = server.client();
    let by = |names: serde_json::Value| {
        let policy = json!({"keys": ["args", "type"], "args_keys": names});
        job("a.b").args(json!([{"a": 1, "b": 2}])).unique(policy)
    };
    client.create(&by(json!(["a", "b"])));
    client.enqueue(&by(json!(["b", "a"]))).is_refusal(409, "duplicate");
    client.enqueue(&by(json!(["b", "a", "b"]))).is_refusal(400, "invalid_request");
}
