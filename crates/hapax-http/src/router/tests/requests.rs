//! What all routes have alike: keys, names, limits, media types, versions.

use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use sha2::{Digest as _, Sha256};

use crate::openapi::Route;
use crate::router::table::routes;
use crate::testing::{Rig, Setup, request};
use crate::{ApiKey, Limits};

#[tokio::test]
async fn a_client_that_negotiates_gets_the_shapes_of_the_binding() {
    let rig = Rig::new();
    let get = async |path: &str, version: &str| {
        let request = request("GET", path, "").header("ojs-version", version);
        rig.send(request.body(Body::empty()).unwrap()).await
    };
    // The last two are what the Go SDK sends, and what it would send of the final version.
    for version in ["1.0", "1.0.0-rc.1", "1.0.0"] {
        let stats = get("/ojs/v1/queues/q/stats", version).await;
        assert_eq!(stats.text_at("/queue"), "q");
        assert_eq!(
            stats.header("content-type"),
            Some("application/openjobspec+json; alias=\"application/json\"")
        );
    }
    let manifest = get("/ojs/manifest", "1.0").await.json();
    assert_eq!(manifest.pointer("/capabilities/unique_jobs"), Some(&true.into()));
    assert!(manifest["extensions"].is_array());

    let plain = rig.get("/ojs/v1/queues/q/stats").await;
    assert_eq!(plain.text_at("/queue/name"), "q");
    assert_eq!(plain.header("content-type"), Some("application/openjobspec+json"));
    assert_eq!(rig.get("/ojs/manifest").await.text_at("/capabilities/unique_jobs/strength"), "strong");

    for version in ["2.0", "1", "1.0.0-rc.2", "1.1.0", ""] {
        let answer = get("/ojs/v1/queues", version).await;
        assert_eq!(answer.error(), "422 unsupported: this server speaks OJS-Version 1.0 and no other");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_errors_like_any_other() {
    let rig = Rig::new();
    let send = async |method: &str, path: &str| {
        rig.send(request(method, path, "").body(Body::empty()).unwrap()).await
    };
    for (method, path) in
        [("ASSERT", "/"), ("push", "/"), ("get", "/"), ("GET", "/ojs/v2/jobs"), ("POST", "/%ff")]
    {
        let answer = send(method, path).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{method} {path}");
        assert_eq!(answer.text_at("/error/code"), "not_found");
        assert!(!answer.text_at("/error/hint").is_empty() && !answer.text_at("/error/docs_url").is_empty());
    }
    for (method, path, allow) in [
        ("PUT", "/ojs/v1/jobs", "POST"),
        ("get", "/ojs/v1/jobs", "POST"),
        ("ASSERT", "/health", "GET,HEAD"),
        ("POST", "/ojs/v1/jobs/x", "GET,HEAD,DELETE,PATCH"),
    ] {
        let answer = send(method, path).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED, "{method} {path}");
        assert_eq!(answer.text_at("/error/code"), "method_not_allowed");
        assert_eq!(answer.header("allow"), Some(allow), "{method} {path}");
    }
    let head = send("HEAD", "/ojs/v1/health").await;
    assert_eq!((head.status, head.text.as_str()), (StatusCode::OK, ""));
}

#[tokio::test]
async fn the_hooks_of_the_suite_are_there_only_where_they_are_wanted() {
    let directed = r#"{"type":"a","args":[],"meta":{"test_directive":"quiet"}}"#;
    for (conformance, state, status) in [(true, "quiet", 200), (false, "running", 404)] {
        let rig = Rig::with(Setup { conformance, ..Setup::default() });
        let id = rig.enqueue(directed).await;
        rig.fetch().await;
        let beat = format!(r#"{{"worker_id":"w","active_jobs":["{id}"]}}"#);
        assert_eq!(rig.post("/ojs/v1/workers/heartbeat", &beat).await.text_at("/state"), state);
        assert_eq!(rig.post("/ojs/v1/admin/reset", "").await.status.as_u16(), status);
    }
}

#[tokio::test]
async fn with_keys_only_probes_scrapers_and_browsers_need_none() {
    let key = ApiKey { name: "main".into(), digest: Sha256::digest("secret").into() };
    let rig = Rig::with(Setup { keys: vec![key], ..Setup::default() });
    let send = async |method: &str, path: &str, secret: Option<&str>| {
        let mut request = request(method, path, "");
        if let Some(secret) = secret {
            request = request.header("authorization", format!("Bearer {secret}"));
        }
        rig.send(request.body(Body::empty()).unwrap()).await
    };
    let open =
        ["/health", "/healthz", "/ojs/v1/health", "/ready", "/readyz", "/metrics", "/docs", "/docs/errors"];
    for Route { method, template, .. } in routes(&rig.shared).listed {
        let path = template.replace("{id}", "x").replace("{name}", "x").replace("{key}", "x");
        for secret in [None, Some("wrong"), Some("")] {
            let answer = send(method.as_str(), &path, secret).await;
            if open.contains(&template) {
                assert_eq!(answer.status, StatusCode::OK, "{method} {template}");
            } else {
                assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {template}");
                assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
                assert_eq!(answer.text_at("/error/code"), "unauthenticated");
            }
        }
        let answer = send(method.as_str(), &path, Some("secret")).await;
        assert_ne!(answer.status, StatusCode::UNAUTHORIZED, "{method} {template}");
    }
    assert_eq!(send("GET", "/nowhere", None).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(send("GET", "/nowhere", Some("secret")).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_request_keeps_its_name_if_that_can_be_printed() {
    let rig = Rig::new();
    let send = async |name: &[u8]| {
        let request = axum::http::Request::builder().uri("/nowhere").header("x-request-id", name);
        rig.send(request.body(Body::empty()).unwrap()).await
    };
    let answer = send(b"abc-123").await;
    assert_eq!(answer.header("x-request-id"), Some("abc-123"));
    assert_eq!(answer.text_at("/error/request_id"), "abc-123");
    for name in [b"".as_slice(), b"a b", b"\xff", &[b'x'; 129]] {
        let answer = send(name).await;
        let made = answer.header("x-request-id").unwrap();
        assert!(made.starts_with("req_"), "{made}");
        assert_eq!(answer.text_at("/error/request_id"), made);
    }
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let rig = Rig::new();
    let long = format!("/ojs/v1/jobs/{}", "x".repeat(8 * 1024));
    assert_eq!(rig.get(&long).await.text_at("/error/code"), "uri_too_long");
    let mut many = request("GET", "/ojs/v1/queues", "");
    for index in 0..64 {
        many = many.header(format!("x-{index}"), "1");
    }
    assert_eq!(rig.send(many.body(Body::empty()).unwrap()).await.status.as_u16(), 431);
    let large = request("GET", "/ojs/v1/queues", "").header("x-large", "x".repeat(16 * 1024));
    assert_eq!(
        rig.send(large.body(Body::empty()).unwrap()).await.text_at("/error/code"),
        "headers_too_large"
    );
}

#[tokio::test]
async fn bodies_may_be_as_large_as_the_limit_and_not_a_byte_larger() {
    let limits = Limits { job_bytes: 1000, request_bytes: 3000, ..Limits::default() };
    let rig = Rig::with(Setup { limits, ..Setup::default() });
    let job = |bytes: usize| {
        let empty = r#"{"type":"a","args":[""]}"#;
        empty.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - empty.len())))
    };
    assert_eq!(rig.post("/ojs/v1/jobs", &job(1000)).await.status, StatusCode::CREATED);
    let answer = rig.post("/ojs/v1/jobs", &job(1001)).await;
    assert_eq!(
        answer.error(),
        "413 payload_too_large: the body is larger than 1000 bytes, which is the limit here"
    );
    let batch = |bytes: usize| format!(r#"{{"jobs":[{},{}]}}"#, job(500), job(bytes));
    assert_eq!(rig.post("/ojs/v1/jobs/batch", &batch(1000)).await.status, StatusCode::CREATED);
    let answer = rig.post("/ojs/v1/jobs/batch", &batch(1001)).await;
    assert_eq!(answer.error(), "413 payload_too_large: jobs[1]: is larger than 1000 bytes");
    let answer = rig.post("/ojs/v1/jobs/batch", &" ".repeat(3001)).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn media_types_decide_what_arguments_may_be() {
    let rig = Rig::new();
    let send = async |media: Option<&str>, body: &str| {
        let mut request = axum::http::Request::builder().method("POST").uri("/ojs/v1/jobs");
        if let Some(media) = media {
            request = request.header("content-type", media);
        }
        rig.send(request.body(Body::from(body.to_owned())).unwrap()).await
    };
    let (list, object) = (r#"{"type":"a","args":[]}"#, r#"{"type":"a","args":{"b": 1.0}}"#);
    for media in [None, Some("application/json"), Some("Application/JSON; charset=utf-8")] {
        assert_eq!(send(media, list).await.status, StatusCode::CREATED, "{media:?}");
        let answer = send(media, object).await;
        assert!(answer.text.contains(r#""args":{"b": 1.0}"#), "{media:?} {}", answer.text);
    }
    let ojs = Some("application/openjobspec+json");
    assert_eq!(send(ojs, list).await.status, StatusCode::CREATED);
    assert_eq!(send(ojs, object).await.text_at("/error/code"), "invalid_request");
    for media in ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"] {
        let answer = send(Some(media), list).await;
        assert_eq!(
            answer.error(),
            "400 invalid_request: Content-Type: must be application/openjobspec+json or application/json"
        );
    }
    assert_eq!(send(Some("text/plain"), "").await.text_at("/error/code"), "invalid_payload");
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let rig = Rig::new();
    rig.enqueue(r#"{"type":"a","args":[],"unique":{}}"#).await;
    rig.post("/ojs/v1/jobs", r#"{"type":"a","args":[],"unique":{}}"#).await;
    rig.post("/ojs/v1/jobs", r#"{"type":"a","args":[],"unique":{"on_conflict":"ignore"}}"#).await;
    rig.enqueue(r#"{"type":"b","args":[],"job_key":"k"}"#).await;
    rig.post("/ojs/v1/jobs", r#"{"type":"b","args":[],"job_key":"k"}"#).await;
    let released = rig.enqueue(r#"{"type":"c","args":[],"unique":{}}"#).await;
    let job = rig.get(&format!("/ojs/v1/jobs/{released}")).await;
    let key = job.text_at("/unique/uniqueness_key");
    rig.post(&format!("/ojs/v1/unique/keys/{key}/release"), "").await;
    rig.shared.metrics.commit_observer()(hapax_store::CommitFacts {
        operations: 3,
        apply: Duration::from_millis(1),
        sync: Duration::from_millis(2),
    });
    let answer = rig.get("/metrics").await;
    assert_eq!(answer.header("content-type"), Some("text/plain"));
    for line in [
        "# TYPE ojs_jobs_enqueued_total counter",
        "ojs_jobs_enqueued_total 3",
        "ojs_jobs{state=\"available\"} 3",
        "ojs_jobs{state=\"discarded\"} 0",
        "ojs_unique_conflicts_total{strategy=\"reject\"} 1",
        "ojs_unique_conflicts_total{strategy=\"ignore\"} 1",
        "ojs_unique_conflicts_total{strategy=\"job_key\"} 1",
        "ojs_jobs_deduplicated_total 2",
        "ojs_unique_keys_released_total 1",
        "ojs_unique_keys_held 2",
        "ojs_commit_operations_count 1",
        "ojs_commit_apply_seconds_count 1",
        "ojs_commit_sync_seconds_count 1",
        "ojs_http_requests_total{method=\"POST\",route=\"/ojs/v1/jobs\",status=\"2xx\"} 5",
        "ojs_http_requests_total{method=\"POST\",route=\"/ojs/v1/jobs\",status=\"4xx\"} 1",
        "ojs_http_request_duration_seconds_count{method=\"POST\",route=\"/ojs/v1/jobs\"} 6",
    ] {
        assert!(answer.text.lines().any(|found| found == line), "no line {line:?} in\n{}", answer.text);
    }
}

#[tokio::test]
async fn names_in_paths_may_be_percent_encoded() {
    let rig = Rig::new();
    // The Rust SDK encodes everything but letters and digits.
    assert_eq!(rig.get("/ojs/v1/queues/my%2Dqueue/stats").await.text_at("/name"), "my-queue");
    assert_eq!(rig.get("/ojs/v1/queues/My%20Queue/stats").await.status, StatusCode::BAD_REQUEST);
    assert_eq!(rig.get("/ojs/v1/queues/%ff/stats").await.text_at("/error/code"), "invalid_request");
}
