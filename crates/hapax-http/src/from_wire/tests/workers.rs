//! What workers send.

use super::*;

#[test]
fn wishes_of_the_wrong_form_are_refused() {
    let rows = [
        "{}",
        r#"{"queues":null}"#,
        r#"{"queues":"default"}"#,
        r#"{"queues":[]}"#,
        r#"{"queues":["A"]}"#,
        r#"{"queues":["a"],"count":0}"#,
        r#"{"queues":["a"],"count":"1"}"#,
        r#"{"queues":["a"],"wait_ms":30001}"#,
        r#"{"queues":["a"],"wait_ms":-1}"#,
        r#"{"queues":["a"],"worker_id":""}"#,
        r#"{"queues":["a"],"worker_id":7}"#,
        r#"{"queues":["a"],"visibility_timeout_ms":0}"#,
        r#"{"queues":["a"],"count":1000,"wait_ms":30000,"visibility_timeout":"PT1M"}"#,
    ];
    insta::assert_snapshot!(table(&rows, wish));
}

#[test]
fn more_may_be_asked_for_than_is_given_at_once() {
    for count in ["1000", "1001", "9223372036854775807"] {
        let text = format!(r#"{{"queues":["a"],"count":{count}}}"#);
        assert_eq!(wish(&read(text.as_bytes()).unwrap()).unwrap().fetch.count, 1000, "{count}");
    }
}

#[test]
fn reports_of_the_wrong_form_are_refused() {
    let acks = [
        "{}",
        r#"{"job_id":7}"#,
        r#"{"job_id":"x","lease":7}"#,
        r#"{"job_id":"x","worker_id":"a\u0000"}"#,
        r#"{"job_id":"x","result":null}"#,
    ];
    let nacks = [
        r#"{"job_id":"x"}"#,
        r#"{"job_id":"x","error":"text"}"#,
        r#"{"job_id":"x","error":7}"#,
        r#"{"job_id":"x","error":{"code":7}}"#,
        r#"{"job_id":"x","error":{"retryable":"no"}}"#,
        r#"{"job_id":"x","error":{"message":{"a":1}}}"#,
        r#"{"job_id":"x","requeue":1}"#,
    ];
    let beats = [
        "{}",
        r#"{"worker_id":"w"}"#,
        r#"{"worker_id":"w","active_jobs":"x"}"#,
        r#"{"worker_id":"w","active_jobs":[1]}"#,
        r#"{"worker_id":"w","active_jobs":[{}]}"#,
        r#"{"worker_id":"w","active_jobs":2,"active_job_ids":["x"]}"#,
        r#"{"worker_id":"w","leases":[]}"#,
        r#"{"worker_id":"w","job_id":"x"}"#,
    ];
    let revivals = [
        r#"{"override":1}"#,
        r#"{"override":{"que":"a"}}"#,
        r#"{"override":{"queue":"A"}}"#,
        r#"{"override":{"args":"x"}}"#,
        r#"{"override":{"meta":1}}"#,
        r#"{"override":{"retry":{"max_attempts":-1}}}"#,
        r#"{"override":null}"#,
    ];
    insta::assert_snapshot!(
        [
            table(&acks, |body| acknowledgement(Some(body), None)),
            table(&nacks, |body| rejection(Some(body), None)),
            table(&beats, beat),
            table(&revivals, |body| revival(Some(body), Media::Json)),
        ]
        .join("\n")
    );
    let body = super::read(br#"{"job_id":"other"}"#).unwrap();
    assert_eq!(
        outcome(acknowledgement(Some(&body), Some("x"))),
        "400 invalid_request: job_id: is not the id in the path"
    );
}

#[test]
fn errors_of_workers_take_one_form() {
    let error = |json: &str| {
        let body = format!(r#"{{"job_id":"x","error":{json}}}"#);
        rejection(Some(&super::read(body.as_bytes()).unwrap()), None).unwrap().error
    };
    let plain = error(r#""out of paper""#);
    assert_eq!(
        (&*plain.kind, &*plain.code, &*plain.message),
        ("handler_error", "handler_error", "out of paper")
    );
    let classed =
        error(r#"{"code":"E1","message":"m","details":{"error_class":"Auth.Expired","stack":"a\nb"}}"#);
    assert_eq!((&*classed.kind, &*classed.code), ("Auth.Expired", "E1"));
    assert_eq!(classed.backtrace, ["a".into(), "b".into()]);
    let both = error(r#"{"type":"T","details":{"error_class":"C"},"backtrace":["l1",2]}"#);
    assert_eq!((&*both.kind, both.aliases, both.backtrace), ("T", vec!["C".into()], vec!["l1".into()]));
    let directed = |code: &str| error(&format!(r#"{{"code":"{code}"}}"#)).directive;
    assert_eq!(directed("DISCARD"), hapax_core::Directive::Discard);
    assert_eq!(directed("FAIL"), hapax_core::Directive::Discard);
    assert_eq!(directed("DEAD_LETTER"), hapax_core::Directive::DeadLetter);
    assert_eq!(directed("RETRY"), hapax_core::Directive::Policy);
    let large = error(&format!(r#"{{"message":{{"a":1}},"details":{{"x":"{}"}}}}"#, "x".repeat(20_000)));
    assert_eq!(&*large.message, r#"{"a":1}"#);
    assert_eq!(large.details.unwrap().as_str(), r#"{"omitted_bytes":20008}"#);
    let bare = error(r#"{"message":"m","details":["a", 1.0]}"#);
    assert_eq!(bare.details.unwrap().as_str(), r#"{"value":["a", 1.0]}"#);
    let long =
        error(&format!(r#"{{"message":"{}","backtrace":"{}"}}"#, "é".repeat(20_000), "line\\n".repeat(60)));
    assert_eq!((long.message.chars().count(), long.backtrace.len()), (10_000, 50));
}
