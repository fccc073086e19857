//! Every route in its usual shape.

mod admin_ui;
mod agents;
mod bulk;
mod job_keys;
mod jobs;
mod keys;
mod letters;
mod live;
mod misspelt;
mod official_ui;
mod on_the_way;
mod operators;
mod origins;
mod plans;
mod pools;
mod queries;
mod recurring;
mod requests;
mod schemas;
mod settings;
mod tenancy;
mod webhooks;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use axum::body::Body;
use axum::http::StatusCode;

use crate::openapi::tests::{Contract, Question};
use crate::testing::{Answer, Rig, request};

use super::*;

/// A play in which every route has its part; what is said is written down.
struct Play {
    rig: Rig,
    said: Vec<(Question, Answer)>,
    seen: BTreeSet<(String, &'static str)>,
    transcript: String,
}

impl Play {
    fn new() -> Play {
        Play { rig: Rig::new(), said: Vec::new(), seen: BTreeSet::new(), transcript: String::new() }
    }

    async fn act(&mut self, method: &str, template: &'static str, part: &str, body: &str) -> Answer {
        let (path, query) = template.split_once('?').unwrap_or((template, ""));
        self.seen.insert((method.to_owned(), path));
        let mut uri = path
            .replace("{id}", part)
            .replace("{name}", part)
            .replace("{key}", part)
            .replace("{version}", "1");
        if !query.is_empty() {
            let _infallible = write!(uri, "?{query}");
        }
        let answer =
            self.rig.send(request(method, &uri, body).body(Body::from(body.to_owned())).unwrap()).await;
        self.said.push((Question::new(method, template, body), answer.clone()));
        let _infallible = writeln!(self.transcript, "{method} {uri} {body}\n{}\n", answer.shown());
        answer
    }
}

#[tokio::test]
async fn every_route_answers_in_its_shape() {
    let mut play = Play::new();
    the_life_of_a_job(&mut play).await;
    calling_off_and_letting_go(&mut play).await;
    failure_and_dead_letters(&mut play).await;
    keys_and_what_holds_them(&mut play).await;
    workflows(&mut play).await;
    recurring_jobs(&mut play).await;
    settings_of_queues(&mut play).await;
    rate_limits(&mut play).await;
    webhooks(&mut play).await;
    agents(&mut play).await;
    schemas_of_arguments(&mut play).await;
    pools_and_tenants(&mut play).await;
    queues_and_the_rest(&mut play).await;
    insta::assert_snapshot!(play.transcript);
    on_the_way::told_on_the_way(&mut play).await;
    play.transcript.clear();
    play.rig = Rig::new();
    operators::perform(&mut play).await;
    insta::assert_snapshot!("what_operators_ask_for", play.transcript);

    for path in [
        "/health",
        "/healthz",
        "/ojs/v1/health",
        "/ready",
        "/readyz",
        "/metrics",
        "/ojs/manifest",
        "/openapi.json",
        "/docs",
        "/docs/errors",
    ] {
        assert_eq!(play.act("GET", path, "", "").await.status, StatusCode::OK, "{path}");
    }
    // At the end: it takes a while, and the play tells how long the server is up.
    Contract::of(&play.rig).assert_kept(&play.said);
    let listed = table::routes(&play.rig.shared).listed.into_iter();
    let listed: BTreeSet<_> = listed.map(|route| (route.method.to_string(), route.template)).collect();
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
    play.act("GET", "/ojs/v1/events?types=job.state_changed&limit=1", "", "").await;
    play.act("GET", "/ojs/v1/events?type=job.enqueued&since=PT1H&page=1&per_page=1", "", "").await;
    play.act("GET", "/ojs/v1/jobs/{id}/events", &created, "").await;
    play.act("GET", "/ojs/v1/jobs/{id}/history", &created, "").await;
    play.act("GET", "/ojs/v1/jobs/{id}/history?limit=1&cursor=1", &created, "").await;
    play.act("GET", "/ojs/v1/jobs/{id}/lineage", &created, "").await;
    play.act("GET", "/ojs/v1/jobs/{id}/progress/stream", &created, "").await;
    play.act("GET", "/ojs/v1/jobs/{id}/result/stream", &created, "").await;
    play.act("GET", "/ojs/v1/events/stream?last_event_id=long-ago&types=job.started", "", "").await;
    play.act("GET", "/ojs/v1/queues/{name}/events", "unused", "").await;
    play.act("GET", "/ojs/v1/ws", "", "").await;
}

async fn rate_limits(play: &mut Play) {
    let limit = r#"{"key":"api","concurrency":1,"rate":{"limit":9,"period":"PT1M"},"throttle":{"limit":5,"period":"PT1S"}}"#;
    let job = format!(r#"{{"type":"a","args":[],"queue":"limited","rate_limit":{limit}}}"#);
    play.act("POST", "/ojs/v1/jobs", "", &job).await;
    play.act("POST", "/ojs/v1/workers/fetch", "", r#"{"queues":["limited"],"count":2}"#).await;
    play.act("GET", "/ojs/v1/rate-limits/{key}", "api", "").await;
    let ruling = r#"{"concurrency":0,"expires_at":"+PT1H"}"#;
    play.act("PUT", "/ojs/v1/rate-limits/{key}", "api", ruling).await;
    play.act("GET", "/ojs/v1/rate-limits?page=1&per_page=25", "", "").await;
    play.act("PUT", "/ojs/v1/rate-limits/{key}", "api", r#"{"limit":3,"period":"1m"}"#).await;
    play.act("DELETE", "/ojs/v1/rate-limits/{key}/override", "api", "").await;
    play.act("PUT", "/ojs/v1/rate-limits/{key}", "api", r#"{"limit":3}"#).await;
    play.act("DELETE", "/ojs/v1/rate-limits/{key}", "api", "").await;
    play.act("GET", "/ojs/v1/rate-limits/{key}", "nobody", "").await;
    let queue = "/ojs/v1/admin/queues/{name}/rate-limit";
    play.act("PUT", queue, "limited", r#"{"rate":{"limit":9,"period":"PT1H"}}"#).await;
    play.act("GET", queue, "limited", "").await;
    play.act("DELETE", queue, "limited", "").await;
    play.act("GET", queue, "limited", "").await;
}

async fn agents(play: &mut Play) {
    let extension = r#"{"tool_retry":{"max_attempts":1,"alternate_provider":"other"}}"#;
    let body = format!(r#"{{"type":"a","args":[],"queue":"agents","ext_agent_v2":{extension}}}"#);
    let id = play.act("POST", "/ojs/v1/jobs", "", &body).await.text_at("/job/id");
    play.act("POST", "/ojs/v1/agents/{id}/pause", &id, r#"{"reason":"a look"}"#).await;
    play.act("POST", "/ojs/v1/agents/{id}/pause", &id, "").await;
    play.act("POST", "/ojs/v1/agents/{id}/resume", &id, r#"{"comment":"?"}"#).await;
    play.act(
        "POST",
        "/ojs/v1/agents/{id}/resume",
        &id,
        r#"{"approved":true,"comment":"go on","metadata":{"by":"ana"}}"#,
    )
    .await;
    let retry = r#"{"tool_call_id":"t","error":"late","use_alternate":true}"#;
    play.act("POST", "/ojs/v1/agents/{id}/tool-retry", &id, retry).await;
    play.act("POST", "/ojs/v1/agents/{id}/tool-retry", &id, retry).await;
    let fork = r#"{"at_turn":2,"branch_name":"b"}"#;
    let branch = play.act("POST", "/ojs/v1/agents/{id}/fork", &id, fork).await.text_at("/branch_id");
    let merge = |strategy| format!(r#"{{"branch_a":"{id}","branch_b":"{branch}","strategy":"{strategy}"}}"#);
    play.act("POST", "/ojs/v1/agents/{id}/merge", &id, &merge("union")).await;
    play.act("POST", "/ojs/v1/agents/{id}/merge", &id, &merge("both")).await;
    play.act("POST", "/ojs/v1/agents/{id}/merge", &branch, &merge("ours")).await;
    play.act("POST", "/ojs/v1/jobs/fetch", "", r#"{"queues":["agents"]}"#).await;
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
    play.act("GET", "/ojs/v1/unique-jobs?per_page=1", "", "").await;
    play.act("GET", "/ojs/v1/unique/keys/{key}", &key, "").await;
    play.act("GET", "/ojs/v1/unique/keys/{key}", "ABC", "").await;
    play.act("POST", "/ojs/v1/unique/keys/{key}/release", &key, r#"{"reason":"its worker is gone"}"#).await;
    play.act("POST", "/ojs/v1/unique/keys/{key}/release", &key, "").await;
    play.rig.enqueue(r#"{"type":"a","args":[],"job_key":"a b/c"}"#).await;
    play.act("DELETE", "/ojs/v1/job-keys/{key}", "a%20b%2Fc", "").await;
    play.act("DELETE", "/ojs/v1/job-keys/{key}", "a%20b%2Fc", "").await;
    play.act("DELETE", "/ojs/v1/job-keys/", "", "").await;
}

async fn workflows(play: &mut Play) {
    let chain = r#"{"type":"chain","name":"c","steps":[{"type":"a","args":[]},{"type":"b","args":[]}]}"#;
    let id = play.act("POST", "/ojs/v1/workflows", "", chain).await.text_at("/workflow/id");
    play.act("GET", "/ojs/v1/workflows/{id}", &id, "").await;
    play.act("GET", "/ojs/v1/workflows?state=active&limit=1", "", "").await;
    play.act("DELETE", "/ojs/v1/workflows/{id}", &id, "").await;
    let built = r#"{"type":"batch","tasks":[{"type":"a","args":[]}],"on_complete":{"type":"b","args":[]}}"#;
    let built = play.act("POST", "/ojs/v1/workflows", "", built).await.text_at("/id");
    play.act("POST", "/ojs/v1/workflows/{id}/cancel", &built, "").await;
    play.act("DELETE", "/ojs/v1/workflows/{id}", &id, "").await;
    play.act("GET", "/ojs/v1/workflows/{id}", "no-such-workflow", "").await;
    let circle = r#"{"steps":[{"id":"a","type":"a","args":[],"depends_on":["b"]},{"id":"b","type":"b","args":[],"depends_on":["a"]}]}"#;
    play.act("POST", "/ojs/v1/workflows", "", circle).await;
}

async fn recurring_jobs(play: &mut Play) {
    let nightly = r#"{"name":"nightly","expression":"0 3 29 2 *","timezone":"Europe/Berlin","job_template":{"type":"a","args":[1.0],"options":{"queue":"nights","expires_at":"+PT1H"}}}"#;
    play.act("POST", "/ojs/v1/cron", "", nightly).await;
    play.act("POST", "/ojs/v1/cron", "", nightly).await;
    play.act("GET", "/ojs/v1/cron", "", "").await;
    play.act("POST", "/ojs/v1/cron/{name}/run", "nightly", "").await;
    play.act("PATCH", "/ojs/v1/cron/{name}", "nightly", r#"{"enabled":false}"#).await;
    play.act("GET", "/ojs/v1/cron/{name}?next=2", "nightly", "").await;
    play.act("GET", "/ojs/v1/crons?per_page=1", "", "").await;
    play.act("GET", "/ojs/v1/crons/{id}", "nightly", "").await;
    play.act("PATCH", "/ojs/v1/crons/{id}", "nightly", r#"{"enabled":true}"#).await;
    play.act("DELETE", "/ojs/v1/cron/{name}", "nightly", "").await;
    play.act("DELETE", "/ojs/v1/crons/{id}", "nightly", "").await;
    let wish =
        r#"{"expression":"30 2 * * *","timezone":"Europe/Berlin","count":3,"from":"2027-03-26T12:00:00Z"}"#;
    play.act("POST", "/ojs/v1/cron/preview", "", wish).await;
    play.act("POST", "/ojs/v1/cron/preview", "", r#"{"expression":"30 2 * * *","count":0}"#).await;
    play.act("GET", "/ojs/v1/cron/{name}", "nightly", "").await;
    play.act("POST", "/ojs/v1/cron", "", r#"{"name":"n","cron":"61 * * * *","type":"a","args":[]}"#).await;
}

async fn settings_of_queues(play: &mut Play) {
    const ONE: &str = "/ojs/v1/queues/{name}";
    play.act("POST", "/ojs/v1/queues", "", r#"{"name":"small","config":{"max_size":1}}"#).await;
    play.act("PUT", "/ojs/v1/admin/queues/{name}/config", "small", r#"{"backpressure":{"max_depth":1}}"#)
        .await;
    let small = r#"{"type":"a","args":[],"queue":"small"}"#;
    play.act("POST", "/ojs/v1/jobs", "", small).await;
    play.act("POST", "/ojs/v1/jobs", "", small).await;
    play.act("POST", "/ojs/v1/queues/{name}/drain", "small", "").await;
    play.act("POST", "/ojs/v1/jobs", "", small).await;
    play.act("GET", "/ojs/v1/queues/{name}/config", "small", "").await;
    let from_page = r#"{"concurrency":2,"rate_limit":{"limit":9,"period":"5m"},"retention":{"completed":"24h","discarded":"7d"}}"#;
    play.act("PUT", "/ojs/v1/admin/queues/{name}/config", "small", from_page).await;
    play.act("GET", "/ojs/v1/admin/queues/{name}", "small", "").await;
    play.act("PUT", "/ojs/v1/queues/{name}/config", "small", r#"{"max_sise":1}"#).await;
    play.act("DELETE", ONE, "small", r#"{"strategy":"reject"}"#).await;
    play.act("DELETE", ONE, "small", r#"{"strategy":"move","target_queue":"small"}"#).await;
    play.act("DELETE", ONE, "small", r#"{"strategy":"discard"}"#).await;
    play.act("DELETE", ONE, "nobody", r#"{"strategy":"discard"}"#).await;
}

async fn webhooks(play: &mut Play) {
    const ALL: &str = "/ojs/v1/webhooks/subscriptions";
    const ONE: &str = "/ojs/v1/webhooks/subscriptions/{id}";
    let wish = r#"{"url":"https://example.com/hook","events":["job.completed","queue.*"],"filter":{"queues":["q"]},"metadata":{"n": 1.0}}"#;
    let id = play.act("POST", ALL, "", wish).await.text_at("/subscription/id");
    play.act("GET", "/ojs/v1/webhooks/subscriptions?limit=1", "", "").await;
    play.act("GET", ONE, &id, "").await;
    play.act("PATCH", ONE, &id, r#"{"events":["*"],"active":false}"#).await;
    play.act("PUT", ONE, &id, r#"{"active":true}"#).await;
    play.act("POST", "/ojs/v1/webhooks/subscriptions/{id}/rotate-secret", &id, "").await;
    play.act("POST", "/ojs/v1/webhooks/subscriptions/{id}/test", &id, "").await;
    play.act("GET", "/ojs/v1/webhooks/deliveries", "", "").await;
    let delivery = format!("{}_0123456789abcdef01234567", id.replace("sub_", "del_"));
    play.act("GET", "/ojs/v1/webhooks/deliveries/{id}", &delivery, "").await;
    play.act("POST", "/ojs/v1/webhooks/deliveries/{id}/retry", &delivery, "").await;
    play.act("DELETE", ONE, &id, "").await;
    play.act("GET", ONE, &id, "").await;
}

async fn schemas_of_arguments(play: &mut Play) {
    let schema = r#"{"schema":{"type":"array","items":[{"type":"string"}]},"mode":"strict"}"#;
    play.act("PUT", "/ojs/v1/admin/schemas/{name}/{version}", "s.one", schema).await;
    play.act("PUT", "/ojs/v1/admin/schemas/{name}/{version}", "s.one", schema).await;
    play.act("GET", "/ojs/v1/admin/schemas/{name}", "s.one", "").await;
    play.act("GET", "/ojs/v1/admin/schemas/{name}/versions", "s.one", "").await;
    play.act("GET", "/ojs/v1/schemas/{name}/versions", "s.none", "").await;
    play.act("GET", "/ojs/v1/admin/schemas/{name}/{version}", "s.one", "").await;
    play.act("POST", "/ojs/v1/jobs", "", r#"{"type":"s.one","args":[1]}"#).await;
    play.act("DELETE", "/ojs/v1/admin/schemas/{name}/{version}", "s.one", "").await;
    let schema = r#"{"uri":"urn:a:b","type":"s.two","version":"1","schema":{"minItems":1.0}}"#;
    play.act("POST", "/ojs/v1/schemas", "", schema).await;
    play.act("GET", "/ojs/v1/schemas?limit=1", "", "").await;
    play.act("GET", "/ojs/v1/admin/schemas", "", "").await;
    play.act("GET", "/ojs/v1/schemas/{name}", "urn%3Aa%3Ab", "").await;
    play.act("POST", "/ojs/v1/jobs", "", r#"{"type":"s.two","args":[]}"#).await;
    play.act("DELETE", "/ojs/v1/schemas/{name}", "urn%3Aa%3Ab", "").await;
    play.act("DELETE", "/ojs/v1/schemas/{name}/{version}", "s.two", "").await;
}

async fn pools_and_tenants(play: &mut Play) {
    let pool = r#"{"strategy":"weighted","queues":{"q-1":{"weight":70},"q-2":{"weight":30}}}"#;
    play.act("PUT", "/ojs/v1/admin/pools/{name}", "p-1", pool).await;
    play.act("PUT", "/ojs/v1/admin/pools/{name}", "p-1", pool).await;
    play.act("GET", "/ojs/v1/admin/pools/{name}", "p-1", "").await;
    play.act("GET", "/ojs/v1/admin/pools", "", "").await;
    play.rig.enqueue(r#"{"type":"a","args":[],"queue":"q-2","meta":{"tenant_id":"t-1"}}"#).await;
    play.act("POST", "/ojs/v1/workers/fetch", "", r#"{"pool":"p-1"}"#).await;
    play.act("POST", "/ojs/v1/workers/fetch", "", r#"{"pool":"p-2"}"#).await;
    play.act("GET", "/ojs/v1/admin/scheduling/stats", "", "").await;
    play.act("GET", "/ojs/v1/admin/tenants?page=1&per_page=25", "", "").await;
    play.act("GET", "/ojs/v1/admin/tenants/{id}", "t-1", "").await;
    play.act("GET", "/ojs/v1/admin/tenants/{id}", "t-2", "").await;
    play.act("GET", "/ojs/v1/admin/tenants/{id}/jobs?per_page=10&state=active", "t-1", "").await;
    play.act("DELETE", "/ojs/v1/admin/pools/{name}", "p-1", "").await;
    play.act("DELETE", "/ojs/v1/admin/pools/{name}", "p-1", "").await;
    play.act("GET", "/ojs/v1/admin/tenants/{id}/stats", "t-1", "").await;
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
