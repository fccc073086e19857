//! Subscriptions: what is taken, what is refused, and what is never shown.

use axum::http::StatusCode;

use crate::testing::Rig;

const PATH: &str = "/ojs/v1/webhooks/subscriptions";

async fn refused(body: &str) -> String {
    Rig::new().post(PATH, body).await.error()
}

#[tokio::test]
async fn a_secret_is_shown_when_it_is_made_and_never_again() {
    let rig = Rig::new();
    let wish = r#"{"url":"https://example.com/","events":["job.*"],"secret":"whk_test_secret_001"}"#;
    let made = rig.post(PATH, wish).await;
    assert_eq!(made.status, StatusCode::CREATED);
    assert_eq!(made.text_at("/secret"), "whk_test_secret_001");
    assert_eq!(made.text_at("/subscription/secret"), "whk_test_secret_001");
    let one = format!("{PATH}/{}", made.text_at("/id"));
    for path in [one.as_str(), PATH] {
        let shown = rig.get(path).await;
        assert_eq!(shown.status, StatusCode::OK, "{path}");
        assert!(!shown.text.contains("secret"), "{}", shown.text);
    }
    let rotated = rig.post(&format!("{one}/rotate-secret"), "").await;
    assert!(rotated.text_at("/secret").starts_with("whsec_"), "{}", rotated.text);
    let given = rig.post(&format!("{one}/rotate-secret"), r#"{"secret":"another-good-secret"}"#).await;
    assert_eq!(given.text_at("/secret"), "another-good-secret");
}

#[tokio::test]
async fn what_is_wrong_is_named_with_what_would_be_right() {
    for (body, expected) in [
        (r#"{"events":["*"]}"#, "400 invalid_request: url: is required: where to send events"),
        (
            r#"{"url":"https://example.com/"}"#,
            "400 invalid_request: events: is required: an array of names of events, such as \"job.completed\"",
        ),
        (
            r#"{"url":"https://example.com/","events":[]}"#,
            "400 invalid_request: events: must name at least one event; \"*\" means all",
        ),
        (
            r#"{"url":"http://127.0.0.1:6379/","events":["*"]}"#,
            "400 invalid_request: url: leads to 127.0.0.1, which is not on the open internet; a server takes it \
             with --webhook-allow-private",
        ),
        (
            r#"{"url":"https://me:hunter2@example.com/","events":["*"]}"#,
            "400 invalid_request: url: must not carry a user or a password; the signature says who sends",
        ),
        (
            r#"{"url":"https://example.com/","events":["*"],"secret":"short"}"#,
            "400 invalid_request: secret: must have 16 to 256 visible ASCII characters",
        ),
        (
            r#"{"url":"https://example.com/","events":["*"],"metadata":"x"}"#,
            "400 invalid_request: metadata: must be an object, not a string",
        ),
        (
            r#"{"url":"https://example.com/","events":["*"],"filter":{"queues":["q"]},"queues":["q"]}"#,
            "400 invalid_request: queues: stands beside filter; put it there, or leave filter out",
        ),
    ] {
        assert_eq!(refused(body).await, expected);
    }
    let misspelt = refused(r#"{"url":"https://example.com/","events":["job.complete"]}"#).await;
    assert!(misspelt.contains("events[0]: unknown event \"job.complete\"; did you mean \"job.completed\"?"));
    let endless = refused(r#"{"url":"https://example.com/","events":["webhook.*"]}"#).await;
    assert!(endless.contains("unknown event"), "{endless}");
    for never in ["rate_limit.exceeded", "rate_limit.released", "backpressure.rejected", "worker.heartbeat"] {
        let body = format!(r#"{{"url":"https://example.com/","events":["{never}"]}}"#);
        let vain = refused(&body).await;
        assert!(vain.contains(&format!("unknown event \"{never}\"")), "{vain}");
    }
    let odd = refused(r#"{"url":"https://example.com/","events":["*"],"event":["*"]}"#).await;
    assert!(odd.contains("unknown member \"event\"; did you mean \"events\"?"), "{odd}");
}

#[tokio::test]
async fn names_of_the_official_form_mean_the_events_that_they_are_about() {
    let rig = Rig::new();
    let names = r#"["job.retried","worker.registered","worker.deregistered","worker.stale","queue.paused"]"#;
    let body = format!(r#"{{"url":"https://example.com/","events":{names}}}"#);
    let made = rig.post(PATH, &body).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let own = ["job.retrying", "worker.started", "worker.stopped", "queue.paused"];
    assert_eq!(made.json()["events"], serde_json::json!(own));
}

#[tokio::test]
async fn only_so_many_may_subscribe() {
    let rig = Rig::new();
    for _ in 0..hapax_broker::SUBSCRIPTIONS_MAX {
        let made = rig.post(PATH, r#"{"url":"https://example.com/","events":["*"],"active":false}"#).await;
        assert_eq!(made.status, StatusCode::CREATED);
    }
    let more = rig.post(PATH, r#"{"url":"https://example.com/","events":["*"]}"#).await;
    assert_eq!(more.error(), "409 conflict: there are 64 webhooks already, which is the most");
}

#[tokio::test]
async fn deliveries_are_asked_for_by_subscription_and_step() {
    let rig = Rig::new();
    let wrong = rig.get("/ojs/v1/webhooks/deliveries?status=dead").await;
    assert_eq!(wrong.error(), "400 invalid_request: query.status: needs subscription_id beside it");
    let wrong = rig.get("/ojs/v1/webhooks/deliveries?subscription_id=x").await;
    assert_eq!(wrong.error(), "400 invalid_request: query.subscription_id: must be the id of a subscription");
    let misspelt = rig.get("/ojs/v1/webhooks/deliveries?subscription=x").await.error();
    let expected = "400 invalid_request: query.subscription: unknown parameter \"subscription\"; did you mean \"subscription_id\"?";
    assert!(misspelt.starts_with(expected), "{misspelt}");
    let nothing = rig.get("/ojs/v1/webhooks/deliveries?limit=0").await;
    assert_eq!(nothing.error(), "400 invalid_request: query.limit: must be an integer from 1 to 1000");
    for path in ["/ojs/v1/webhooks/deliveries/x", "/ojs/v1/webhooks/subscriptions/x"] {
        assert_eq!(rig.get(path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}
