//! Every route in its usual shape.

mod bulk;
mod job_keys;
mod jobs;
mod keys;
mod requests;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use axum::body::Body;
use axum::http::StatusCode;

use crate::testing::{Answer, Rig, request};

use super::*;

/// A play in which every route has its part; what is said is written down.
struct Play {
    rig: Rig,
    seen: BTreeSet<(String, &'static str)>,
    transcript: String,
}

impl Play {
    async fn act(&mut self, method: &str, template: &'static str, part: &str, body: &str) -> Answer {
        let (path, query) = template.split_once('?').unwrap_or((template, ""));
        self.seen.insert((method.to_owned(), path));
        let mut uri = path.replace("{id}", part).replace("{name}", part).replace("{key}", part);
        if !query.is_empty() {
            let _infallible = write!(uri, "?{query}");
        }
        let answer =
            self.rig.send(request(method, &uri, body).body(Body::from(body.to_owned())).unwrap()).await;
        let _infallible = writeln!(self.transcript, "{method} {uri} {body}\n{}\n", answer.shown());
        answer
    }
}

#[tokio::test]
async fn every_route_answers_in_its_shape() {
    let mut play = Play { rig: Rig::new(), seen: BTreeSet::new(), transcript: String::new() };
    the_life_of_a_job(&mut play).await;
    calling_off_and_letting_go(&mut play).await;
    failure_and_dead_letters(&mut play).await;
    keys_and_what_holds_them(&mut play).await;
    queues_and_the_rest(&mut play).await;
    insta::assert_snapshot!(play.transcript);

    for path in ["/health", "/healthz", "/ojs/v1/health", "/ready", "/readyz", "/metrics", "/ojs/manifest"] {
        play.seen.insert(("GET".to_owned(), path));
        assert_eq!(play.rig.get(path).await.status, StatusCode::OK, "{path}");
    }
    let listed = routes(&play.rig.shared).listed.into_iter();
    let listed: BTreeSet<_> = listed.map(|(method, template)| (method.to_string(), template)).collect();
    assert_eq!(play.seen, listed, "a route without a part in the play, or a part without a route");
}

async fn the_life_of_a_job(play: &mut Play) {
    let job = r#"{"type":"email.send","args":[1.0,{"b":1e3,"a":12345678901234567890}],"meta":{"k":"v"},"x_own":[1]}"#;
    let created = play.act("POST", "/ojs/v1/jobs", "", job).await.text_at("/job/id");
    play.act("GET", "/ojs/v1/jobs/{id}", &created, "").await;
    let wish = r#"{"queues":["default"],"worker_id":"w-1","visibility_timeout_ms":60000}"#;
    let fetched = play.act("POST", "/ojs/v1/workers/fetch", "", wish).await;
    let lease = fetched.text_at("/jobs/0/lease");
    let beat = format!(
        r#"{{"worker_id":"w-1","active_jobs":["{created}","x"],"leases":{{"{created}":"{lease}"}}}}"#
    );
    play.act("POST", "/ojs/v1/workers/heartbeat", "", &beat).await;
    let ack = format!(r#"{{"job_id":"{created}","lease":"{lease}","result":{{"sum":1.50}}}}"#);
    play.act("POST", "/ojs/v1/workers/ack", "", &ack).await;
    play.act("POST", "/ojs/v1/workers/ack", "", &format!(r#"{{"job_id":"{created}"}}"#)).await;
    play.act("GET", "/ojs/v1/events?types=job.completed&limit=1", "", "").await;
}

async fn calling_off_and_letting_go(play: &mut Play) {
    let pending = play.act("POST", "/ojs/v1/jobs", "", r#"{"type":"a","args":[],"pending":true}"#).await;
    let pending = pending.text_at("/job/id");
    play.act("POST", "/ojs/v1/jobs/{id}/activate", &pending, "").await;
    play.act("POST", "/ojs/v1/jobs/{id}/cancel", &pending, "").await;
    play.act("DELETE", "/ojs/v1/jobs/{id}", &pending, "").await;
    play.act("GET", "/ojs/v1/jobs/{id}", "no-such-job", "").await;
}

async fn failure_and_dead_letters(play: &mut Play) {
    let job = r#"{"type":"a","args":[],"retry":{"max_attempts":1,"on_exhaustion":"dead_letter"}}"#;
    let dead = play.act("POST", "/ojs/v1/jobs", "", job).await.text_at("/job/id");
    play.rig.fetch().await;
    let nack = format!(r#"{{"job_id":"{dead}","error":{{"code":"handler_error","message":"no"}}}}"#);
    play.act("POST", "/ojs/v1/workers/nack", "", &nack).await;
    play.act("GET", "/ojs/v1/dead-letter?limit=1", "", "").await;
    play.act("GET", "/ojs/v1/dead-letter/{id}", &dead, "").await;
    play.act("POST", "/ojs/v1/dead-letter/{id}/retry", &dead, r#"{"override":{"queue":"other"}}"#).await;
    play.act("DELETE", "/ojs/v1/dead-letter/{id}", &dead, "").await;
    let other = play.rig.post("/ojs/v1/workers/fetch", r#"{"queues":["other"]}"#).await;
    assert_eq!(other.text_at("/jobs/0/id"), dead);
    play.act("POST", "/ojs/v1/jobs/{id}/nack", &dead, r#"{"error":"gone","requeue":false}"#).await;
    play.act("DELETE", "/ojs/v1/dead-letter/{id}", &dead, "").await;
}

async fn keys_and_what_holds_them(play: &mut Play) {
    let bulk = r#"{"jobs":[{"type":"k","args":[],"unique":{"period":3600}},{"type":"k","args":[],"unique":{}},{"args":[]}]}"#;
    play.act("POST", "/ojs/v1/jobs/bulk", "", bulk).await;
    let explain = r#"{"type":"k","args":[],"unique":{"on_conflict":"ignore"}}"#;
    let key = play.act("POST", "/ojs/v1/unique/explain", "", explain).await.text_at("/key");
    play.act("POST", "/ojs/v1/unique/explain", "", r#"{"type":"k","args":[]}"#).await;
    play.act("GET", "/ojs/v1/unique/keys?limit=1", "", "").await;
    play.act("GET", "/ojs/v1/unique/keys/{key}", &key, "").await;
    play.act("GET", "/ojs/v1/unique/keys/{key}", "ABC", "").await;
    play.act("POST", "/ojs/v1/unique/keys/{key}/release", &key, r#"{"reason":"its worker is gone"}"#).await;
    play.act("POST", "/ojs/v1/unique/keys/{key}/release", &key, "").await;
    play.rig.enqueue(r#"{"type":"a","args":[],"job_key":"a b/c"}"#).await;
    play.act("DELETE", "/ojs/v1/job-keys/{key}", "a%20b%2Fc", "").await;
    play.act("DELETE", "/ojs/v1/job-keys/{key}", "a%20b%2Fc", "").await;
    play.act("DELETE", "/ojs/v1/job-keys/", "", "").await;
}

async fn queues_and_the_rest(play: &mut Play) {
    let batch =
        r#"{"jobs":[{"type":"a","args":[],"options":{"queue":"q"}},{"type":"b","args":[],"queue":"q"}]}"#;
    play.act("POST", "/ojs/v1/jobs/batch", "", batch).await;
    play.act("POST", "/ojs/v1/queues/{name}/pause", "q", "").await;
    play.act("POST", "/ojs/v1/workers/fetch", "", r#"{"queues":["q"]}"#).await;
    play.act("POST", "/ojs/v1/queues/{name}/resume", "q", "{}").await;
    play.act("GET", "/ojs/v1/queues?limit=1", "", "").await;
    play.act("GET", "/ojs/v1/queues/{name}", "q", "").await;
    play.act("GET", "/ojs/v1/queues/{name}", "unused", "").await;
    play.act("GET", "/ojs/v1/queues/{name}/stats", "q", "").await;
    let id = play.rig.post("/ojs/v1/workers/fetch", r#"{"queues":["q"]}"#).await.text_at("/jobs/0/id");
    play.act("POST", "/ojs/v1/jobs/{id}/ack", &id, "").await;
    play.act("POST", "/ojs/v1/admin/reset", "", "").await;
}

#[tokio::test]
async fn the_manifest_says_what_the_server_can_do() {
    insta::assert_snapshot!(Rig::new().get("/ojs/manifest").await.text);
}
