//! What an explanation contains.

use e2e::clock::{self, SOON};
use e2e::{FAR_FUTURE, Holder, Request, Server, ids, job};
use serde_json::{Value, json};

#[test]
fn canonical_text_and_key_are_the_published_ones() {
    let vectors = [
        (
            r#"{"type":"email.send","queue":"notifications","args":[{"user_id":42,"template":"welcome"}],
               "unique":{"keys":["type","queue","args"],"args_keys":["user_id"]}}"#,
            r#"{"args":{"user_id":42},"queue":"notifications","type":"email.send"}"#,
            "71f9344b82e66297a49775bbe27752297922842b675330641ebe3ff4fea46c1f",
        ),
        (
            r#"{"type":"report.daily","args":[1],"unique":{}}"#,
            r#"{"type":"report.daily"}"#,
            "be66720bd0f961a37ab755101a985ca3f8563bd89ed8d412c41fa5791f3e4d95",
        ),
        (
            r#"{"type":"cache.warm","args":{"resource":"products"},"meta":{"tenant_id":"acme","trace":"x"},
               "unique":{"keys":["type","args","meta"],"meta_keys":["tenant_id"]}}"#,
            r#"{"args":{"resource":"products"},"meta":{"tenant_id":"acme"},"type":"cache.warm"}"#,
            "dc19075d0e4dde8bcd3952c4f9789b50e959792aa308daaa8eae0daa9f1985b0",
        ),
        (
            "{\"type\":\"a.b\",\"args\":{\"name\":\"cafe\u{301}\"},\"unique\":{\"keys\":[\"args\"]}}",
            "{\"args\":{\"name\":\"caf\u{e9}\"},\"type\":\"a.b\"}",
            "283ca41021cbdcd493e0dceccfff56299892eefd1fac47899dd8938faab9b7d1",
        ),
        (
            r#"{"type":"a.b","args":{"x":1e21,"n":1.0},"unique":{"keys":["type","args"]}}"#,
            r#"{"args":{"n":1,"x":1e+21},"type":"a.b"}"#,
            "45849a2b20ccc4d4ce86aa6de767c8c9e84cecb2cf91e1573c19575a625af66c",
        ),
        (
            r#"{"type":"a.b","args":[],"job_key":"abc"}"#,
            r#"{"job_key":"abc"}"#,
            "43404870a9378cb12b452eb762dca3c5cdd24dfa7f5e2f4fc7c25bef39ba77c2",
        ),
    ];
    let server = Server::start();
    let mut client = server.client();
    for (body, canonical, key) in vectors {
        let answer = client.send(&Request::post("/ojs/v1/unique/explain", body));
        assert_eq!(answer.is(200)["canonical"], canonical);
        assert_eq!(answer["key"], key, "{canonical}");
    }
}

#[test]
fn a_key_of_the_clients_own_has_a_canonical_text_too() {
    let server = Server::start();
    let mut client = server.client();
    let own = |keys: Value| job("import").on("files").unique(json!({"key": "file-1", "keys": keys}));
    let canonical = client.explain(&own(json!([]))).is(200)["canonical"].clone();
    assert_eq!(canonical, r#"{"key":"file-1","type":"import"}"#);
    let canonical = client.explain(&own(json!(["queue"]))).is(200)["canonical"].clone();
    assert_eq!(canonical, r#"{"key":"file-1","queue":"files","type":"import"}"#);
}

#[test]
fn a_job_that_is_not_unique_has_no_key() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b"));
    let answer = client.explain(&job("a.b"));
    assert_eq!(answer.is(200)["unique"], false);
    assert_eq!(answer["outcome"], "created");
    assert_eq!(answer["rule"]["name"], "none");
    for absent in ["key", "canonical", "states", "period", "period_from", "job_id"] {
        assert!(answer[absent].is_null(), "{absent} in {}", answer.body);
    }
}

#[test]
fn the_policy_is_repeated_as_it_is_understood() {
    let server = Server::start();
    let mut client = server.client();
    let policy = json!({"period": 3600, "timestamp": "finished_at", "states": "successful"});
    let answer = client.explain(&job("a.b").unique(policy));
    assert_eq!(answer.is(200)["period"], "PT1H");
    assert_eq!(answer["period_from"], "finished_at");
    let states = answer.list("/states");
    assert!(states.len() == 6 && !states.contains(&json!("discarded")), "{states:?}");
    let named = client.explain(&job("a.b").job_key("name"));
    let states = named.is(200)["states"].as_array().expect("states").clone();
    assert!(states.len() == 6 && states.contains(&json!("discarded")), "{states:?}");
}

#[test]
fn every_holder_says_what_it_is_to_the_job() {
    let server = Server::start();
    let mut client = server.client();
    let old = client.create(&job("sync").unique(json!({"states": ["completed"]})));
    let incoming = json!({"period": "PT0.2S", "period_from": "scheduled_at", "on_conflict": "ignore"});
    clock::until("the old one's window is over", SOON, || {
        client.explain(&job("sync").unique(incoming.clone())).is(200)["free"]["now"] == true
    });
    let done =
        Holder::bring(&mut client, &job("sync").unique(json!({"states": ["completed"]})), "q", "cancelled");
    let new =
        client.create(&job("sync").unique(json!({"states": ["scheduled"]})).with("scheduled_at", FAR_FUTURE));
    let answer = client.explain(&job("sync").unique(incoming));
    assert_eq!((&answer.is(200)["outcome"], &answer["job_id"]), (&json!("existing"), &json!(new)));
    assert_eq!((&answer["holders_live"], &answer["holders_ended"]), (&json!(2), &json!(1)));
    let holders = answer.list("/holders");
    let ids: Vec<&Value> = holders.iter().map(|holder| &holder["job_id"]).collect();
    assert_eq!(ids, [&json!(new), &json!(done.id), &json!(old)], "newest first");
    for (holder, (state, counts)) in
        holders.iter().zip([("scheduled", true), ("cancelled", false), ("available", false)])
    {
        assert_eq!((&holder["state"], &holder["counts"]), (&json!(state), &json!(counts)), "{holder}");
        assert_eq!(holder["type"], "sync");
        for text in ["why", "queue", "created_at"] {
            assert!(holder[text].as_str().is_some_and(|text| !text.is_empty()), "{text} in {holder}");
        }
    }
    assert!(holders[2]["window_over_since"].is_string(), "{}", holders[2]);
    assert!(holders[0]["window_over_since"].is_null(), "{}", holders[0]);
    assert!(holders[1]["window_over_since"].is_null(), "{}", holders[1]);
}

#[test]
fn a_holder_shows_its_ledger_and_its_job_key() {
    let server = Server::start();
    let mut client = server.client();
    client.create(&job("a.b").job_key("name"));
    client.enqueue(&job("a.b").keyed("name", "unsafe_dedupe")).is(200);
    let answer = client.explain(&job("a.b").job_key("name"));
    let holder = &answer.is(200)["holders"][0];
    assert_eq!(holder["duplicates"]["count"], 1, "{holder}");
    assert_eq!(holder["job_key"], "name", "{holder}");
}

#[test]
fn of_very_many_holders_the_newest_hundred_are_shown_and_all_are_counted() {
    const HOLDERS: usize = 130;
    let server = Server::start();
    let mut client = server.client();
    let once = job("sync").unique(json!({"states": ["completed"]}));
    client.bulk(&vec![once.clone(); HOLDERS - 1]).is(201);
    let newest = clock::eventually("a later millisecond", SOON, || {
        let id = client.create(&once);
        let told = client.explain(&job("sync").on_conflict("ignore"));
        if told["job_id"] == id.as_str() {
            return Some(id);
        }
        client.cancel(&id).is(200);
        None
    });
    let told = client.explain(&job("sync").on_conflict("ignore"));
    assert_eq!(told.is(200)["holders_live"], HOLDERS);
    let holders = told.list("/holders");
    assert_eq!((holders.len(), &holders[0]["job_id"]), (100, &json!(newest)));
    let replacing = client.explain(&job("sync").on_conflict("replace"));
    assert_eq!(replacing["replaced"].as_array().map(Vec::len), Some(HOLDERS), "every one of them");
}

#[test]
fn an_id_that_is_taken_is_told() {
    let server = Server::start();
    let mut client = server.client();
    let id = ids::fresh(&mut e2e::Random::new(7));
    client.create(&job("a.b").with("id", id.as_str()));
    for job in [job("a.b"), job("a.b").on_conflict("ignore"), job("a.b").job_key("name")] {
        let answer = client.explain(&job.with("id", id.as_str()));
        assert_eq!(answer.is(200)["outcome"], "rejected", "{}", answer.body);
        assert_eq!(answer["error"]["code"], "duplicate", "{}", answer.body);
    }
}

#[test]
fn a_payload_that_would_grow_too_large_is_told() {
    let server = Server::start();
    let mut client = server.client();
    let large = job("a.b").payload(json!(["x".repeat(600 * 1024)])).job_key("name");
    let id = client.create(&large);
    let answer = client.explain(&large);
    assert_eq!(answer.is(200)["outcome"], "rejected");
    assert_eq!(answer["error"]["code"], "payload_too_large");
    assert_eq!(answer["error"]["details"]["job_id"], id.as_str());
}

#[test]
fn a_body_that_an_enqueue_would_refuse_is_refused_alike() {
    let bodies = [
        "",
        "{",
        "[]",
        "5",
        r#"{"args":[]}"#,
        r#"{"type":"a.b"}"#,
        r#"{"type":"A B","args":[]}"#,
        r#"{"type":"a.b","args":[],"unique":{"keys":["argz"]}}"#,
        r#"{"type":"a.b","args":[],"unique":{"perod":5}}"#,
        r#"{"type":"a.b","args":[],"unique":{"keys":["args"],"args_keys":["absent"]}}"#,
        r#"{"type":"a.b","args":[],"unique":{"debounce":{"wait":"PT1S"},"on_conflict":"ignore"}}"#,
        r#"{"type":"a.b","args":[],"unique":{},"job_key":"name"}"#,
        r#"{"type":"a.b","args":[],"job_key_mode":"replace"}"#,
        r#"{"type":"a.b","args":[],"job_key":""}"#,
        r#"{"type":"a.b","args":[],"retry":{"max_attempts":-1}}"#,
        r#"{"type":"a.b","args":[],"rate_limit":{}}"#,
        r#"{"type":"a.b","args":[{"a":1,"a":2}]}"#,
    ];
    let server = Server::start();
    let mut client = server.client();
    for body in bodies {
        let enqueued = client.send(&Request::post("/ojs/v1/jobs", body));
        let explained = client.send(&Request::post("/ojs/v1/unique/explain", body));
        assert_eq!(explained.status, enqueued.status, "{body}: {}", explained.body);
        explained.is_error(enqueued.status);
        for member in ["code", "message", "details", "hint"] {
            assert_eq!(explained["error"][member], enqueued["error"][member], "{body}: {member}");
        }
    }
}

#[test]
fn explaining_a_thousand_times_commits_nothing() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b").on_conflict("reject"));
    let before = client.job(&id);
    let commits = client.metric("ojs_commit_operations_count");
    for _ in 0..1_000 {
        client.explain(&job("a.b").on_conflict("reject")).is(200);
    }
    assert_eq!(client.job(&id), before);
    // The server's own chores may have had a few.
    assert!(client.metric("ojs_commit_operations_count") < commits + 100);
}
