//! What workers, readers and operators may get wrong.

use e2e::{Request, job};

use crate::{nothing_was_stored, start};

const ID: &str = "01912345-6789-7abc-8def-0123456789ab";

#[test]
fn a_fetch_without_good_queues_is_refused() {
    let (_server, mut client) = start();
    let bodies = [
        "{}",
        r#"{"queues":[]}"#,
        r#"{"queues":"default"}"#,
        r#"{"queues":[5]}"#,
        r#"{"queues":["UPPER"]}"#,
        r#"{"queues":null}"#,
        r#"{"queues":["default"],"count":0}"#,
        r#"{"queues":["default"],"count":-1}"#,
        r#"{"queues":["default"],"count":1.5}"#,
        r#"{"queues":["default"],"count":"many"}"#,
        r#"{"queues":["default"],"worker_id":5}"#,
        r#"{"queues":["default"],"worker_id":""}"#,
        r#"{"queues":["default"],"wait_ms":-1}"#,
        r#"{"queues":["default"],"wait_ms":"long"}"#,
        r#"{"queues":["default"],"visibility_timeout_ms":-5}"#,
        r#"{"queues":["default"],"visibility_timeout_ms":"x"}"#,
    ];
    let id = client.create(&job("a.b"));
    for body in bodies {
        let answer = client.send(&Request::post("/ojs/v1/workers/fetch", body));
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
    }
    assert_eq!(client.state(&id), "available", "a refused fetch takes nothing");
}

#[test]
fn reports_without_a_good_job_are_refused() {
    let (_server, mut client) = start();
    for path in ["/ojs/v1/workers/ack", "/ojs/v1/workers/nack"] {
        for body in ["{}", r#"{"job_id":5}"#, r#"{"job_id":null}"#, r#"{"job_id":[]}"#] {
            client.send(&Request::post(path, body)).is_refusal(400, "invalid_request");
        }
        let unknown = format!(r#"{{"job_id":"{ID}"}}"#);
        client.send(&Request::post(path, unknown)).is_refusal(404, "not_found");
        let foreign = client.send(&Request::post(path, r#"{"job_id":"not-an-id"}"#));
        foreign.is_error(foreign.status);
        assert!(matches!(foreign.status, 400 | 404), "{}", foreign.body);
    }
    nothing_was_stored(&mut client);
}

#[test]
fn a_bad_report_leaves_the_job_with_its_worker() {
    let (_server, mut client) = start();
    client.create(&job("a.b"));
    let delivery = client.fetch_one("default");
    let bodies = [
        format!(r#"{{"job_id":"{}","error":5}}"#, delivery.id),
        format!(r#"{{"job_id":"{}","error":[]}}"#, delivery.id),
        format!(r#"{{"job_id":"{}","error":{{"retryable":"no"}}}}"#, delivery.id),
        format!(r#"{{"job_id":"{}","requeue":"yes"}}"#, delivery.id),
        format!(r#"{{"job_id":"{}","lease":5}}"#, delivery.id),
    ];
    for body in bodies {
        let answer = client.send(&Request::post("/ojs/v1/workers/nack", body.as_str()));
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        answer.is_refusal(400, "invalid_request");
    }
    assert_eq!(client.state(&delivery.id), "active");
    client.ack(&delivery).is(200);
}

#[test]
fn a_heartbeat_needs_a_worker() {
    let (_server, mut client) = start();
    for body in ["{}", r#"{"worker_id":5}"#, r#"{"worker_id":"w","active_jobs":"x"}"#] {
        client.send(&Request::post("/ojs/v1/workers/heartbeat", body)).is_refusal(400, "invalid_request");
    }
    let strange = r#"{"worker_id":"w","active_jobs":["no-id"]}"#;
    let answer = client.send(&Request::post("/ojs/v1/workers/heartbeat", strange));
    assert_eq!(answer.is(200)["lost_jobs"][0], "no-id");
}

#[test]
fn a_job_that_does_not_exist_is_not_found() {
    let (_server, mut client) = start();
    for id in [ID, "x", "%20", "..%2f..%2fetc%2fpasswd", "%C3%A9"] {
        let read = client.get(&format!("/ojs/v1/jobs/{id}"));
        read.is_error(read.status);
        assert!(matches!(read.status, 400 | 404), "{id}: {}", read.body);
    }
    let read = client.get(&format!("/ojs/v1/jobs/{ID}"));
    read.is_refusal(404, "not_found");
    assert_eq!(read["error"]["details"]["resource_id"], ID);
    assert!(read["error"]["hint"].is_string() && read["error"]["docs_url"].is_string());
    client.cancel(ID).is_refusal(404, "not_found");
    client
        .send(&Request::new("POST", &format!("/ojs/v1/dead-letter/{ID}/retry")))
        .is_refusal(404, "not_found");
}

#[test]
fn numbers_in_a_query_are_bounded() {
    let (_server, mut client) = start();
    for path in ["/ojs/v1/queues", "/ojs/v1/dead-letter", "/ojs/v1/events", "/ojs/v1/unique/keys"] {
        for query in ["limit=-1", "limit=x", "limit=1e9", "limit=99999999999999999999"] {
            let answer = client.get(&format!("{path}?{query}"));
            assert!(answer.status < 500, "{path}?{query}: {}", answer.body);
            if answer.status != 200 {
                answer.is_refusal(400, "invalid_request");
            }
        }
        client.get(&format!("{path}?limit=5")).is(200);
    }
    nothing_was_stored(&mut client);
}
