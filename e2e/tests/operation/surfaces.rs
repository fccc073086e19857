//! What the server shows of itself: health, manifest, metrics, request ids and logs.

use e2e::clock::SOON;
use e2e::{Launch, Request, Server, job};
use serde_json::Value;

#[test]
fn health_says_ok() {
    let server = Server::start();
    let mut client = server.client();
    let health = client.get("/ojs/v1/health");
    assert_eq!(health.is(200)["status"], "ok");
    assert!(health["version"].is_string());
    assert!(health["uptime_seconds"].is_u64());
    assert_eq!(health["backend"]["status"], "ok");
    for path in ["/health", "/healthz", "/ready", "/readyz"] {
        client.get(path).is(200);
    }
}

#[test]
fn the_manifest_names_the_server_and_what_it_can_do() {
    let server = Server::start();
    let manifest = server.client().get("/ojs/manifest");
    manifest.is(200);
    assert_eq!(manifest["specversion"], "1.0");
    assert_eq!(manifest["ojs_version"], "1.0");
    assert_eq!(manifest["implementation"]["language"], "rust");
    assert_eq!(manifest["unique_job_strength"], "strong");
    assert_eq!(manifest["capabilities"]["unique_jobs"]["strength"], "strong");
    assert!(manifest["capabilities"]["unique_jobs"]["mechanism"].is_string());
    assert!(manifest["protocols"].as_array().is_some_and(|list| list.contains(&"http".into())));
    assert!(manifest["conformance_level"].is_u64());
}

#[test]
fn metrics_count_what_happened() {
    let server = Server::start();
    let mut client = server.client();
    for _ in 0..3 {
        client.create(&job("a.b"));
    }
    let unique = job("a.c").on_conflict("reject");
    client.create(&unique);
    client.enqueue(&unique).is(409);
    let delivery = client.fetch_one("default");
    client.ack(&delivery).is(200);

    let metrics = client.get("/metrics");
    assert!(metrics.is(200).header("content-type").is_some_and(|kind| kind.starts_with("text/plain")));
    let samples: Vec<&str> = metrics.body.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!samples.is_empty());
    for sample in &samples {
        assert!(sample.starts_with("ojs_"), "{sample}");
        let value = sample.rsplit(' ').next().and_then(|value| value.parse::<f64>().ok());
        assert!(value.is_some(), "{sample}");
    }
    let help = metrics.body.lines().filter(|line| line.starts_with("# HELP")).count();
    assert!(help > 0, "{}", metrics.body);
    let has = |words: &[&str], value: &str| {
        samples.iter().any(|line| words.iter().all(|word| line.contains(word)) && line.ends_with(value))
    };
    assert!(metrics.body.contains("# TYPE ojs_jobs_enqueued_total counter\n"), "{}", metrics.body);
    assert!(has(&["ojs_jobs_enqueued_total"], " 4"), "{}", metrics.body);
    assert!(has(&["ojs_jobs_completed_total"], " 1"));
    assert!(has(&["ojs_jobs{", "\"available\""], " 3"));
    assert!(has(&["ojs_unique_conflicts_total", "\"reject\""], " 1"));
    assert!(has(&["ojs_http_requests_total", "\"POST\"", "\"/ojs/v1/jobs\"", "\"4xx\""], " 1"));
}

#[test]
fn a_request_id_is_echoed_or_made() {
    let server = Server::start();
    let mut client = server.client();
    let answer = client.send(&Request::new("GET", "/ojs/v1/health").header("X-Request-Id", "mine-1"));
    assert_eq!(answer.header("x-request-id"), Some("mine-1"));
    let refused = client.send(&Request::post("/ojs/v1/jobs", "{nope").header("X-Request-Id", "mine-2"));
    refused.is_refusal(400, "invalid_payload");
    assert_eq!(refused["error"]["request_id"], "mine-2");
    let (one, two) = (client.get("/ojs/v1/health"), client.get("/ojs/v1/health"));
    let made = [&one, &two].map(|answer| answer.header("x-request-id").unwrap_or_default().to_owned());
    assert!(!made[0].is_empty() && made[0] != made[1], "{made:?}");
}

#[test]
fn a_request_id_that_could_forge_a_log_line_is_not_echoed() {
    let server = Launch::default().args(&["--log", "json"]).start();
    let mut client = server.client();
    let long = "x".repeat(5_000);
    for id in ["", "a b\tc", long.as_str()] {
        let answer = client.send(&Request::new("GET", "/ojs/v1/health").header("X-Request-Id", id));
        let echoed = answer.is(200).header("x-request-id").unwrap_or_default();
        assert!(!echoed.is_empty() && echoed.len() <= 256, "{echoed:?}");
    }
}

#[test]
fn every_answer_has_the_headers_of_the_protocol() {
    let server = Server::start();
    let mut client = server.client();
    let answers = [client.get("/ojs/v1/health"), client.get("/ojs/manifest"), client.get("/nowhere"), {
        client.enqueue(&job("a.b"))
    }];
    for answer in answers {
        assert_eq!(answer.header("ojs-version"), Some("1.0"), "{}", answer.body);
        assert_eq!(answer.header("content-type"), Some("application/openjobspec+json"), "{}", answer.body);
        assert!(answer.header("x-request-id").is_some());
    }
    let negotiated = client.send(&Request::new("GET", "/ojs/v1/health").header("OJS-Version", "1.0"));
    assert!(negotiated.header("content-type").is_some_and(|kind| kind.contains("application/json")));
}

#[test]
fn log_lines_are_json_and_hold_no_arguments() {
    let mut server = Launch::default().args(&["--log", "json"]).start();
    let mut client = server.client();
    let secret = "canary-argument-8841";
    client.create(&job("a.b").args(serde_json::json!([{"password": secret}])).on_conflict("reject"));
    let refused =
        client.enqueue(&job("a.b").args(serde_json::json!([{"password": secret}])).on_conflict("reject"));
    let key = refused.is(409).text("/error/details/uniqueness_key").to_owned();
    client.send(&Request::post("/ojs/v1/jobs", format!(r#"{{"type":"a.b","args":["{secret}"],}}"#))).is(400);
    server.signal("TERM");
    server.wait(SOON);
    let log = server.log();
    assert!(log.lines().count() > 0, "nothing was logged");
    for line in log.lines() {
        let parsed: Result<Value, _> = serde_json::from_str(line);
        assert!(parsed.is_ok_and(|entry| entry.is_object()), "not JSON: {line}");
    }
    assert!(!log.contains(secret), "an argument was logged: {log}");
    assert!(!log.contains(&key), "a uniqueness key was logged: {log}");
}

#[test]
fn the_reset_of_the_conformance_suite_is_not_there_by_default() {
    let server = Server::start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    client.send(&Request::new("POST", "/ojs/v1/admin/reset")).is_refusal(404, "not_found");
    assert_eq!(client.state(&id), "available");

    let server = Launch::default().args(&["--conformance"]).start();
    let mut client = server.client();
    let id = client.create(&job("a.b"));
    let answer = client.send(&Request::new("POST", "/ojs/v1/admin/reset"));
    assert!((200..300).contains(&answer.status), "{}", answer.body);
    client.get(&format!("/ojs/v1/jobs/{id}")).is_refusal(404, "not_found");
}

#[test]
fn queues_are_listed_as_they_come() {
    let server = Server::start();
    let mut client = server.client();
    for queue in ["beta", "alpha"] {
        client.create(&job("a.b").on(queue));
    }
    let list = client.get("/ojs/v1/queues");
    let names: Vec<&str> = list.is(200)["queues"]
        .as_array()
        .expect("queues")
        .iter()
        .filter_map(|queue| queue["name"].as_str())
        .collect();
    assert!(names.contains(&"alpha") && names.contains(&"beta"), "{names:?}");
    assert_eq!(list["pagination"]["has_more"], false);
}
