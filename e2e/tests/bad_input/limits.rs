//! What is too large: refused early, by name, without harm.

use e2e::{Request, job};
use serde_json::json;

use crate::{nothing_was_stored, start};

const MIB: usize = 1024 * 1024;
const BATCH_MAX: usize = 10_000;

fn job_of(bytes: usize) -> String {
    format!(r#"{{"type":"a.b","args":["{}"]}}"#, "x".repeat(bytes))
}

#[test]
fn a_job_of_more_than_a_mebibyte_is_refused() {
    let (_server, mut client) = start();
    client.send(&Request::post("/ojs/v1/jobs", job_of(MIB + 1))).is_refusal(413, "payload_too_large");
    let batch = format!(r#"{{"jobs":[{},{}]}}"#, job_of(1), job_of(MIB + 1));
    client.send(&Request::post("/ojs/v1/jobs/batch", batch)).is_refusal(413, "payload_too_large");
    nothing_was_stored(&mut client);
}

#[test]
fn a_job_of_nearly_a_mebibyte_is_accepted_and_comes_back_whole() {
    let (_server, mut client) = start();
    let body = job_of(MIB - 1024);
    let created = client.send(&Request::post("/ojs/v1/jobs", body));
    let read = client.get(&format!("/ojs/v1/jobs/{}", created.is(201).id()));
    assert_eq!(read.is(200)["job"]["args"][0].as_str().map(str::len), Some(MIB - 1024));
}

#[test]
fn a_request_of_more_than_sixteen_mebibytes_is_refused_before_it_is_read() {
    let (server, mut client) = start();
    let head = format!(
        "POST /ojs/v1/jobs/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{{\"jobs\":[",
        17 * MIB
    );
    client.write(head.as_bytes()).expect("the head is sent");
    client.read_answer().expect("an answer before the body").is_refusal(413, "payload_too_large");
    nothing_was_stored(&mut server.client());
}

#[test]
fn a_body_without_a_length_is_counted_as_it_comes() {
    let (server, mut client) = start();
    let head = "POST /ojs/v1/jobs/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    client.write(head.as_bytes()).expect("the head is sent");
    let chunk = format!("{MIB:x}\r\n{}\r\n", " ".repeat(MIB));
    for _ in 0..18 {
        // The server may close its side while we are still sending.
        if client.write(chunk.as_bytes()).is_err() {
            break;
        }
    }
    if let Ok(answer) = client.read_answer() {
        answer.is_refusal(413, "payload_too_large");
    }
    nothing_was_stored(&mut server.client());
}

#[test]
fn a_batch_of_too_many_jobs_is_refused() {
    let (_server, mut client) = start();
    let batch = |count: usize| json!({"jobs": vec![job("a.b").json(); count]});
    let answer = client.post("/ojs/v1/jobs/batch", &batch(BATCH_MAX + 1));
    answer.is_refusal(413, "BATCH_SIZE_EXCEEDED");
    assert_eq!(answer["error"]["details"]["max_batch_size"], BATCH_MAX);
    nothing_was_stored(&mut client);
    assert_eq!(client.post("/ojs/v1/jobs/batch", &batch(BATCH_MAX)).is(201)["count"], BATCH_MAX);
}

#[test]
fn a_long_type_or_queue_is_refused() {
    let (_server, mut client) = start();
    client.enqueue(&job(&"a".repeat(256))).is_refusal(400, "invalid_request");
    client.enqueue(&job("a.b").on(&"q".repeat(129))).is_refusal(400, "invalid_request");
    nothing_was_stored(&mut client);
    client.create(&job(&"a".repeat(255)).on(&"q".repeat(128)));
}

/// A request with so many headers of so many bytes.
fn headed(count: usize, bytes: usize) -> Request {
    let value = "x".repeat(bytes);
    (0..count).fold(Request::new("GET", "/ojs/v1/health"), |request, number| {
        request.header(&format!("X-Header-{number}"), &value)
    })
}

#[test]
fn heads_that_are_too_long_are_refused() {
    let (_server, mut client) = start();
    client.send(&headed(80, 1)).is_refusal(431, "headers_too_large");
    client.send(&headed(4, 5_000)).is_refusal(431, "headers_too_large");
    let long = format!("/ojs/v1/jobs/{}", "x".repeat(9 * 1024));
    client.get(&long).is_refusal(414, "uri_too_long");
    nothing_was_stored(&mut client);
}

#[test]
fn heads_beyond_all_measure_are_refused_without_being_kept() {
    let (server, _) = start();
    for request in [headed(1, 200 * 1024), headed(500, 1), Request::new("GET", &"/x".repeat(100_000))] {
        let mut client = server.client();
        // The server may hang up while we are still sending.
        if let Ok(answer) = client.try_send(&request) {
            assert!(matches!(answer.status, 400 | 414 | 431), "{}", answer.status);
        }
    }
    nothing_was_stored(&mut server.client());
}

#[test]
fn a_result_that_is_too_large_is_refused_and_the_job_stays_with_its_worker() {
    let (_server, mut client) = start();
    client.create(&job("a.b"));
    let delivery = client.fetch_one("default");
    let body = json!({"job_id": delivery.id, "result": "x".repeat(2 * MIB)});
    client.post("/ojs/v1/workers/ack", &body).is_refusal(413, "RESULT_TOO_LARGE");
    assert_eq!(client.state(&delivery.id), "active");
    client.ack(&delivery).is(200);
}
