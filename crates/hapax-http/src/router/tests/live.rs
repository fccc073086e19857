//! Streams of events: what they tell, to whom, from where on, and how they end.

use std::time::Duration;

use axum::http::StatusCode;
use hapax_broker::EVENTS_KEPT;

use crate::limits::{END_TOLD_AGAIN_TIME, STREAM_HEARTBEAT};
use crate::testing::{Heard, Listener, Rig, Setup, StallingStore, request};
use crate::{ApiKey, Limits};

use super::*;

const JOB: &str = r#"{"type":"a.b","args":[]}"#;

fn rig() -> Rig {
    let rig = Rig::new();
    rig.herald();
    rig
}

async fn ack(rig: &Rig, id: &str, result: &str) {
    let body = format!(r#"{{"job_id":"{id}","result":{result}}}"#);
    assert_eq!(rig.post("/ojs/v1/workers/ack", &body).await.status, StatusCode::OK);
}

/// A job from its enqueueing to its end.
async fn life(rig: &Rig) -> String {
    let id = rig.enqueue(JOB).await;
    assert_eq!(rig.fetch().await, id);
    ack(rig, &id, "null").await;
    id
}

#[tokio::test]
async fn a_job_is_told_of_to_its_end() {
    let rig = rig();
    let id = rig.enqueue(JOB).await;
    let mut stream = rig.listen(&format!("/ojs/v1/jobs/{id}/events")).await;
    let mut other = rig.listen(&format!("/ojs/v1/events/stream?channel=job%3A{id}")).await;
    rig.enqueue(JOB).await;
    assert_eq!(rig.fetch().await, id);
    ack(&rig, &id, "{\n  \"sum\": 1.50\r\n}").await;
    let told = stream.shown_up_to("job.completed").await;
    let expected = [
        "job.state_changed available → active",
        "job.started available → active",
        "job.state_changed active → completed",
        "job.completed active → completed",
    ];
    assert_eq!(told, expected);
    assert_eq!(stream.next().await, None, "the end of the job is the end of the stream");
    let mut last = Heard::default();
    while let Some(heard) = other.next().await {
        last = heard;
    }
    // One line, and otherwise as the worker sent it.
    assert!(last.data.ends_with(r#""attempt":1,"result":{   "sum": 1.50  }}"#), "{last:?}");
    let data = last.json();
    let members = ["job_id", "queue", "type", "job_type", "from", "to", "state", "timestamp"];
    let texts = members.map(|name| data[name].as_str().unwrap().to_owned());
    let at = "2027-01-15T08:00:00.000Z";
    assert_eq!(texts, [&id, "default", "a.b", "a.b", "active", "completed", "completed", at]);
}

#[tokio::test]
async fn a_job_that_has_ended_is_told_of_once() {
    let rig = rig();
    let id = life(&rig).await;
    for path in [format!("/ojs/v1/jobs/{id}/events"), format!("/ojs/v1/events/stream?channel=job:{id}")] {
        let mut stream = rig.listen(&path).await;
        let heard = stream.next().await.unwrap();
        assert_eq!(heard.shown(), "job.state_changed – → completed");
        assert_eq!(heard.json()["job_id"], id);
        assert_eq!(stream.next().await, None);
    }
    let mut stream = rig.listen(&format!("/ojs/v1/jobs/{id}/events?event_types=job.started")).await;
    assert_eq!(stream.next().await, None, "who wants other things is told nothing");
}

#[tokio::test]
async fn the_end_of_a_job_ends_the_stream_of_those_who_want_other_things() {
    let rig = rig();
    let id = rig.enqueue(JOB).await;
    let mut stream = rig.listen(&format!("/ojs/v1/jobs/{id}/events?types=job.started")).await;
    rig.fetch().await;
    ack(&rig, &id, "null").await;
    assert_eq!(stream.event().await.event, "job.started");
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn a_queue_is_told_of_with_filters() {
    let rig = rig();
    rig.enqueue(r#"{"type":"a.b","args":[],"queue":"mail"}"#).await;
    let mut all = rig.listen("/ojs/v1/queues/mail/events").await;
    let mut some = rig
        .listen("/ojs/v1/events/stream?channel=queue:mail&event_types=job.enqueued,queue.*&job_types=a.c")
        .await;
    let mut elsewhere = rig.listen("/ojs/v1/events/stream?queues=default&types=job.*").await;
    for job in ["a.b", "a.c"] {
        rig.enqueue(&format!(r#"{{"type":"{job}","args":[],"queue":"mail"}}"#)).await;
    }
    rig.post("/ojs/v1/queues/mail/pause", "").await;
    rig.enqueue(JOB).await;
    let told = all.shown_up_to("queue.paused").await;
    let enqueued = ["job.state_changed – → available", "job.enqueued – → available"];
    assert_eq!(
        told,
        [enqueued, enqueued].concat().into_iter().chain(["queue.paused – → –"]).collect::<Vec<_>>()
    );
    let heard = some.event().await;
    assert_eq!((heard.event.as_str(), &heard.json()["type"]), ("job.enqueued", &"a.c".into()));
    assert_eq!(elsewhere.event().await.json()["queue"], "default");
}

#[tokio::test]
async fn who_comes_back_goes_on_where_it_was() {
    let rig = rig();
    let mut first = rig.listen("/ojs/v1/events/stream").await;
    let one = rig.enqueue(JOB).await;
    let [step, fact] = [first.event().await, first.event().await];
    drop(first);
    let two = rig.enqueue(JOB).await;
    // The header is newer than what the address says.
    for (path, header, expected) in [
        ("/ojs/v1/events/stream".to_owned(), step.id.as_str(), [(&fact.event, &one), (&step.event, &two)]),
        (
            format!("/ojs/v1/events/stream?last_event_id={}", step.id),
            "",
            [(&fact.event, &one), (&step.event, &two)],
        ),
        (
            format!("/ojs/v1/queues/default/events?last_event_id={}", step.id),
            fact.id.as_str(),
            [(&step.event, &two), (&fact.event, &two)],
        ),
    ] {
        let mut back = rig.listen_after(&path, header).await;
        for (event, id) in expected {
            let heard = back.event().await;
            assert_eq!((&heard.event, heard.json()["job_id"].as_str()), (event, Some(id.as_str())), "{path}");
        }
    }
}

#[tokio::test]
async fn the_first_words_of_a_stream_are_a_place_to_come_back_to() {
    let rig = rig();
    let answer = rig.get("/ojs/v1/events/stream").await;
    let cursor = answer.text.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    let id = rig.enqueue(JOB).await;
    let mut back = rig.listen_after("/ojs/v1/events/stream", &cursor).await;
    assert_eq!(back.event().await.json()["job_id"], id);
}

#[tokio::test]
async fn a_place_that_nobody_remembers_is_a_gap() {
    let rig = rig();
    let id = rig.enqueue(JOB).await;
    let mut back = rig.listen_after("/ojs/v1/queues/default/events", "evt_of_another_server").await;
    let gap = back.event().await;
    assert_eq!((gap.event.as_str(), &gap.json()["channel"]), ("system.gap", &"queue:default".into()));
    assert!(gap.json()["gap_start"].is_string() && gap.json()["gap_end"].is_string(), "{gap:?}");
    assert_eq!(back.event().await.json()["job_id"], id, "then comes what is remembered");
}

/// The first words of a stream to somebody who comes back.
async fn opening(rig: &Rig, path: &str, last: &str) -> Heard {
    let request = request("GET", path, "").header("last-event-id", last);
    let response = rig.front.answer(request.body(Body::empty()).unwrap()).await;
    Listener::new(response.into_body()).next().await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_first_words_name_no_place_behind_what_is_still_to_be_told() {
    let rig = rig();
    let id = rig.enqueue(JOB).await;
    let path = format!("/ojs/v1/jobs/{id}/events");
    let forgotten = opening(&rig, &path, "evt_of_another_server").await;
    assert_eq!(forgotten.id, "", "whoever came back to a place would not hear of the gap");
    let known = opening(&rig, &path, "").await.id;
    assert_eq!(rig.fetch().await, id);
    ack(&rig, &id, "null").await;
    rig.pass(END_TOLD_AGAIN_TIME + Duration::from_millis(1)).await;
    for _ in 0..2 {
        let again = opening(&rig, &path, &known).await.id;
        let mut back = rig.listen_after(&path, &again).await;
        assert_eq!(back.event().await.shown(), "job.state_changed available → active");
    }
}

#[tokio::test]
async fn a_misspelt_filter_of_events_is_refused() {
    let rig = rig();
    for (path, meant) in [
        ("/ojs/v1/events?tpyes=job.failed", "types"),
        ("/ojs/v1/events?queue=mail", "queues"),
        ("/ojs/v1/events/stream?jobTypes=a.b", "job_types"),
        ("/ojs/v1/events/stream?event_type=job.failed", "event_types"),
    ] {
        let refused = rig.get(path).await.error();
        assert!(refused.starts_with("400 invalid_request: query."), "{refused}");
        assert!(refused.contains(&format!("did you mean \"{meant}\"?")), "{refused}");
    }
    // What cannot stand in a header has to stand in the address.
    assert_eq!(rig.get("/ojs/v1/events?access_token=x&_=17&limit=1").await.status, StatusCode::OK);
    let id = rig.enqueue(JOB).await;
    let path = format!("/ojs/v1/jobs/{id}/events");
    let other = rig.get(&format!("{path}?channel=queue:mail")).await.error();
    assert!(other.starts_with("400 invalid_request: query.channel: contradicts the path"), "{other}");
    assert_eq!(rig.get(&format!("{path}?channel=job:{id}")).await.status, StatusCode::OK);
}

#[tokio::test]
async fn lists_that_are_not_counted_take_no_offset() {
    let rig = rig();
    for path in ["webhooks/deliveries", "unique/keys"] {
        let refused = rig.get(&format!("/ojs/v1/{path}?limit=50&offset=50")).await.error();
        assert!(
            refused.starts_with("400 invalid_request: query.offset: this list is not counted"),
            "{refused}"
        );
        assert_eq!(rig.get(&format!("/ojs/v1/{path}?limit=50&offset=0")).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn a_slow_client_is_told_what_it_missed_and_goes_on() {
    let rig = rig();
    rig.post("/ojs/v1/queues/q/pause", "").await;
    let mut slow = rig.listen("/ojs/v1/queues/q/events").await;
    let mut attentive = rig.listen("/ojs/v1/events/stream").await;
    for _ in 0..EVENTS_KEPT / 5000 + 3 {
        for _ in 0..5000 {
            rig.post("/ojs/v1/queues/q/pause", "").await;
        }
        for _ in 0..5000 {
            assert_eq!(attentive.event().await.event, "queue.paused");
        }
    }
    let dropped = slow.next().await.unwrap();
    assert_eq!(dropped.event, "system.events_dropped");
    let data = dropped.json();
    let count = data["dropped_count"].as_u64().unwrap();
    assert!((5000..=15_000).contains(&count), "{data}");
    assert_eq!(dropped.comments, [format!("events-dropped {count}")]);
    assert_eq!(data["newest_dropped_id"], dropped.id);
    assert!(data["oldest_dropped_id"].as_str() < data["newest_dropped_id"].as_str(), "{data}");
    assert_eq!(slow.event().await.event, "queue.paused");
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_gives_signs_of_life() {
    let rig = rig();
    let mut stream = rig.listen("/ojs/v1/events/stream?types=queue.paused").await;
    for _ in 0..3 {
        let before = tokio::time::Instant::now();
        let heard = stream.next().await.unwrap();
        assert_eq!((heard.comments, heard.event.as_str()), (vec!["heartbeat".to_owned()], ""));
        assert_eq!(before.elapsed(), STREAM_HEARTBEAT);
    }
    // The place moves on, though nothing was told.
    rig.enqueue(JOB).await;
    let heard = stream.next().await.unwrap();
    let mut back = rig.listen_after("/ojs/v1/events/stream", &heard.id).await;
    assert_eq!(back.text_at_once().await, "", "what was before the heartbeat is not told again");
}

#[tokio::test]
async fn a_browser_that_knows_the_end_is_not_asked_to_come_back() {
    let rig = rig();
    let id = rig.enqueue(JOB).await;
    let path = format!("/ojs/v1/jobs/{id}/events");
    let mut stream = rig.listen(&path).await;
    rig.fetch().await;
    ack(&rig, &id, "null").await;
    let mut before_end = String::new();
    let mut last = String::new();
    while let Some(heard) = stream.next().await {
        before_end = std::mem::replace(&mut last, heard.id);
    }
    let mut back = rig.listen_after(&path, &last).await;
    assert_eq!(
        back.event().await.shown(),
        "job.state_changed – → completed",
        "it may not have heard of it yet"
    );
    rig.pass(END_TOLD_AGAIN_TIME + Duration::from_millis(1)).await;
    let request = request("GET", &path, "").header("last-event-id", &last);
    let answer = rig.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status, answer.text.as_str()), (StatusCode::NO_CONTENT, ""));
    let mut back = rig.listen_after(&path, &before_end).await;
    assert_eq!(back.event().await.event, "job.completed");
    assert_eq!(back.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_ends_on_another_server_ends_its_stream_at_the_next_sign_of_life() {
    let store = Arc::new(StallingStore::shared());
    let [here, elsewhere] =
        [(); 2].map(|()| Rig::with(Setup { store: Arc::clone(&store) as _, ..Setup::default() }));
    here.herald();
    let id = here.enqueue(JOB).await;
    let mut stream = here.listen(&format!("/ojs/v1/jobs/{id}/events")).await;
    assert_eq!(stream.next().await.unwrap().comments, ["heartbeat"]);
    assert_eq!(elsewhere.fetch().await, id);
    ack(&elsewhere, &id, "null").await;
    let heard = stream.next().await.unwrap();
    assert_eq!(
        (heard.shown().as_str(), &heard.json()["job_id"]),
        ("job.state_changed – → completed", &id.into())
    );
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn what_is_not_there_cannot_be_listened_to() {
    let rig = rig();
    let missing = "01900000-0000-7000-8000-000000000000";
    for (path, expected) in [
        (format!("/ojs/v1/jobs/{missing}/events"), "404 not_found"),
        ("/ojs/v1/jobs/nonsense/events".to_owned(), "404 not_found"),
        ("/ojs/v1/queues/never/events".to_owned(), "404 not_found"),
        ("/ojs/v1/queues/NEVER!/events".to_owned(), "400 invalid_request"),
        (format!("/ojs/v1/events/stream?channel=job:{missing}"), "404 not_found"),
        ("/ojs/v1/events/stream?channel=everything".to_owned(), "400 invalid_request"),
        ("/ojs/v1/events/stream?channel=job".to_owned(), "400 invalid_request"),
    ] {
        let error = rig.get(&path).await.error();
        assert!(error.starts_with(expected), "{path}: {error}");
    }
    assert_eq!(rig.shared.streams.taken(), 0);
}

#[tokio::test]
async fn a_queue_that_is_not_there_yet_can_be_listened_to_by_its_channel() {
    let rig = rig();
    let mut stream = rig.listen("/ojs/v1/events/stream?channel=queue%3Asoon&types=job.enqueued").await;
    let id = rig.enqueue(r#"{"type":"a","args":[],"queue":"soon"}"#).await;
    let heard = stream.next().await.unwrap();
    assert_eq!(heard.json()["job_id"], id);
}

#[tokio::test]
async fn streams_are_counted_and_refused_beyond_their_number() {
    let limits = Limits { streams: 2, ..Limits::default() };
    let rig = Rig::with(Setup { limits, ..Setup::default() });
    let streams: Vec<Listener> =
        vec![rig.listen("/ojs/v1/events/stream").await, rig.listen("/ojs/v1/events/stream").await];
    let refused = rig.get("/ojs/v1/events/stream").await;
    assert_eq!(refused.error(), "503 backend_unavailable: 2 clients listen already, and no more are taken");
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(rig.get("/metrics").await.text.contains("\nojs_streams 2\n"));
    drop(streams);
    assert_eq!(rig.shared.streams.taken(), 0);
    rig.listen("/ojs/v1/events/stream").await;
}

#[tokio::test]
async fn a_server_that_stops_says_so_and_takes_no_more_listeners() {
    let rig = rig();
    let mut stream = rig.listen("/ojs/v1/events/stream").await;
    rig.enqueue(JOB).await;
    let last = [stream.event().await, stream.event().await][1].id.clone();
    rig.shared.streams.close();
    let heard = stream.next().await.unwrap();
    assert_eq!((heard.event.as_str(), heard.id), ("server.shutdown", last));
    assert_eq!(heard.data, r#"{"reason":"shutdown","grace_period_ms":5000}"#);
    assert_eq!(stream.next().await, None);
    let refused = rig.get("/ojs/v1/events/stream").await;
    assert_eq!(refused.error(), "503 backend_unavailable: the server is stopping");
}

#[tokio::test]
async fn who_asks_for_the_head_of_a_stream_gets_just_that() {
    let rig = rig();
    let answer = rig.send(request("HEAD", "/ojs/v1/events/stream", "").body(Body::empty()).unwrap()).await;
    assert_eq!((answer.status, answer.text.as_str()), (StatusCode::OK, ""));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    assert_eq!(rig.shared.streams.taken(), 0);
}

#[tokio::test]
async fn a_stream_wants_the_key_that_everything_wants() {
    use sha2::{Digest as _, Sha256};

    let key = ApiKey { name: "main".into(), digest: Sha256::digest("secret").into() };
    let rig = Rig::with(Setup { keys: vec![key], ..Setup::default() });
    for path in ["/ojs/v1/events/stream", "/ojs/v1/jobs/x/events", "/ojs/v1/queues/x/events", "/ojs/v1/ws"] {
        assert_eq!(rig.get(path).await.status, StatusCode::UNAUTHORIZED, "{path}");
    }
}

#[tokio::test]
async fn a_watched_job_is_told_where_it_stands_and_how_it_ends() {
    let rig = rig();
    let id = rig.enqueue(JOB).await;
    let mut progress = rig.listen(&format!("/ojs/v1/jobs/{id}/progress/stream")).await;
    let mut result = rig.listen(&format!("/ojs/v1/jobs/{id}/result/stream")).await;
    assert_eq!(progress.event().await.json()["state"], "available");
    assert_eq!(result.event().await.json()["progress"], serde_json::Value::Null);
    rig.fetch().await;
    assert_eq!(progress.event().await.json()["state"], "active", "a new attempt is worth a word");
    let report = request("PUT", &format!("/ojs/v1/jobs/{id}/progress"), "x");
    rig.send(report.body(Body::from(r#"{"progress":0.5,"data":{"rows":7}}"#)).unwrap()).await;
    for stream in [&mut progress, &mut result] {
        let heard = stream.event().await;
        assert_eq!((heard.event.as_str(), &heard.json()["data"]["rows"]), ("progress", &7.into()));
    }
    ack(&rig, &id, r#"{"sum":3}"#).await;
    let (last, value) = (progress.event().await, result.event().await);
    assert_eq!((last.event.as_str(), &last.json()["progress"]), ("completed", &1.into()));
    assert_eq!((value.event.as_str(), &value.json()["value"]["sum"]), ("result", &3.into()));
    assert_eq!((progress.next().await, result.next().await), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_shows_signs_of_life_and_ends_with_the_job() {
    let rig = rig();
    let id = rig.enqueue(JOB).await;
    let mut stream = rig.listen(&format!("/ojs/v1/jobs/{id}/progress/stream")).await;
    assert_eq!(stream.event().await.event, "progress");
    let silence = tokio::time::Instant::now();
    assert_eq!(stream.next().await.unwrap().event, "", "a comment");
    assert!(silence.elapsed() >= STREAM_HEARTBEAT);
    rig.post(&format!("/ojs/v1/jobs/{id}/cancel"), "").await;
    assert_eq!(stream.event().await.event, "cancelled");
    let known =
        request("GET", &format!("/ojs/v1/jobs/{id}/progress/stream"), "").header("Last-Event-ID", "end");
    assert_eq!(rig.send(known.body(Body::empty()).unwrap()).await.status, StatusCode::NO_CONTENT);
    let missing = rig.get(&format!("/ojs/v1/jobs/{}/result/stream", id.replace('1', "2"))).await;
    assert_eq!(missing.status, StatusCode::NOT_FOUND);
}
