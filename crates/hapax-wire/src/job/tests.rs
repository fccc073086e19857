//! The shapes of jobs in every place of their life.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::unique::{
    Anchor, Debounce, Dimensions, Field, FieldSet, JobKey, JobKeyMode, Key, Ledger, LedgerEntry, Release,
    Releaser, Replacement, UniquePolicy, Uniqueness, WhileActive,
};
use hapax_core::{
    Backoff, Exhaustion, Failure, History, JobId, JobType, Json, KeptFor, Lease, LeaseToken, Priority,
    QueueName, State, TimeLimits, Timeout, WorkerId,
};

use super::*;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_760_000_000_000 + seconds * 1000)
}

fn job(phase: Phase) -> Job {
    let spec = Spec {
        kind: JobType::parse("email.send").unwrap(),
        queue: QueueName::default_queue(),
        priority: Priority::default(),
        args: Json::from_trusted(r#"[ {"n": 1.0, "big": 12345678901234567890} ]"#),
        meta: Json::empty_object(),
        tags: Vec::new(),
        schema: None,
        scheduled_at: None,
        expires_at: None,
        timeout: None,
        visibility_timeout: None,
        limits: TimeLimits::default(),
        retry: RetryPolicy::default(),
        unique: None,
        delivery: Delivery::AtLeastOnce,
        kept_for: KeptFor::default(),
        rate_limit: None,
        ordering_key: None,
        workflow: None,
        extra: Json::empty_object(),
    };
    Job {
        id: JobId::new(at(0), [7; 10]),
        spec: Arc::new(spec),
        key: None,
        created_at: at(0),
        enqueued_at: Some(at(0)),
        activated_at: None,
        started_at: None,
        attempt: 0,
        fence: 0,
        phase,
        history: History::default(),
        retry_delay: None,
        ledger: Ledger::default(),
        reentered_beside: None,
        released: None,
        first_start: None,
        progress: None,
        checkpoint: None,
        begun_at: None,
    }
}

fn written(job: &Job) -> String {
    let mut out = Vec::with_capacity(length_estimate(job));
    write(&mut out, job);
    let text = String::from_utf8(out).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).expect("a job is valid JSON");
    text
}

/// The members behind `max_attempts` and before `retry`, which is where phases differ.
fn middle(job: &Job) -> String {
    let text = written(job);
    let start = text.find("\"max_attempts\"").unwrap();
    let end = text.find(",\"retry\":").unwrap();
    format!("{} … {}", &text[text.find("\"state\"").unwrap()..start], &text[start..end])
}

#[test]
fn a_plain_job_shows_its_arguments_as_they_were_sent() {
    insta::assert_snapshot!(written(&job(Phase::Available { lapsed: None })));
}

#[test]
fn the_default_policy_is_what_the_constant_says() {
    let mut out = Vec::new();
    object(&mut out, |o| retry::policy(o, &RetryPolicy::default()));
    assert_eq!(String::from_utf8(out).unwrap(), format!("{{\"retry\":{DEFAULT_RETRY}}}"));
}

#[test]
fn every_place_of_its_life_has_its_own_members() {
    let lease = Lease {
        token: LeaseToken::new([1; 16]),
        worker: WorkerId::parse("w-1"),
        deadline: at(60),
        length: Duration::from_mins(1),
    };
    let result = Some(Json::from_trusted("{\"ok\" : true}"));
    let phases = [
        Phase::Scheduled { at: at(60) },
        Phase::Available { lapsed: Some(lease.clone()) },
        Phase::Pending { after: None },
        Phase::Active { lease: lease.clone(), times_out_at: None },
        Phase::Retryable { at: at(9) },
        Phase::Completed { at: at(9), result },
        Phase::Completed { at: at(9), result: None },
        Phase::Cancelled { at: at(9), from: State::Active },
        Phase::Discarded { at: at(9), cause: Cause::Failed, dead_letter: true },
        Phase::Discarded { at: at(9), cause: Cause::LeaseExpired(lease), dead_letter: false },
        Phase::Discarded { at: at(9), cause: Cause::Expired, dead_letter: false },
    ];
    let lines: Vec<String> = phases.into_iter().map(|phase| middle(&job(phase))).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_fetched_job_carries_the_lease_and_nobody_else_sees_it() {
    let lease = Lease {
        token: LeaseToken::new([1; 16]),
        worker: None,
        deadline: at(60),
        length: Duration::from_mins(1),
    };
    let mut job = job(Phase::Active { lease, times_out_at: None });
    job.fence = 3;
    let mut out = Vec::new();
    write_fetched(&mut out, &job);
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with(
        r#","lease":"01010101010101010101010101010101","lease_expires_at":"2025-10-09T08:54:20.000Z","fence":3}"#
    ), "{text}");
    assert!(!written(&job).contains("lease"));
}

#[test]
fn a_job_with_every_wish_shows_them_all_normalised() {
    let mut job = job(Phase::Available { lapsed: None });
    let spec = Arc::make_mut(&mut job.spec);
    spec.tags = vec!["a".into(), "b\"".into()];
    spec.schema = Some("urn:x".into());
    spec.scheduled_at = Some(GivenTime { at: at(0), text: "2025-10-09T10:53:20+02:00".into() });
    spec.expires_at = Some(GivenTime::computed(at(100)));
    spec.timeout = Some(Timeout { span: Duration::from_secs(90), in_seconds: true });
    spec.visibility_timeout = Some(Duration::from_secs(30));
    spec.delivery = Delivery::AtMostOnce;
    spec.extra = Json::from_trusted(r#"{"x_custom":[1]}"#);
    spec.retry = RetryPolicy {
        max_attempts: 5,
        jitter: false,
        non_retryable_errors: vec!["Auth.*".into()],
        on_exhaustion: Exhaustion::DeadLetter,
        backoff: Backoff::Linear,
        ..RetryPolicy::default()
    };
    insta::assert_snapshot!(written(&job));
}

#[test]
fn a_holder_shows_its_policy_its_key_and_its_ledger() {
    let mut job = job(Phase::Available { lapsed: None });
    job.key = Some(Key::from_bytes([0xab; 32]));
    job.reentered_beside = Some(JobId::new(at(1), [8; 10]));
    let entry = LedgerEntry { at: at(2), outcome: "existing", request_id: Some("req_1".into()) };
    job.ledger = Ledger::restored(12, vec![entry]);
    let fields: FieldSet = [Field::Args, Field::Priority].into_iter().collect();
    Arc::make_mut(&mut job.spec).unique = Some(Uniqueness::Policy(UniquePolicy {
        dimensions: Dimensions { queue: true, args: true, meta: true },
        args_keys: Some(vec!["user_id".into()]),
        meta_keys: Some(vec!["tenant".into()]),
        period: Some(Duration::from_hours(1)),
        replace: Some(Replacement::default().with(State::Scheduled, fields)),
        ..UniquePolicy::default()
    }));
    insta::assert_snapshot!(recognition(&job));
}

/// The members behind `retry`, which is where jobs say how they are recognised.
fn recognition(job: &Job) -> String {
    let text = written(job);
    text[text.find("\"backoff_strategy\"").unwrap()..].split_once(',').unwrap_or_default().1.to_owned()
}

fn entry() -> LedgerEntry {
    LedgerEntry { at: at(2), outcome: "updated", request_id: Some("req_1".into()) }
}

#[test]
fn a_debounced_successor_shows_what_it_waits_for() {
    let mut job = job(Phase::Pending { after: Some(JobId::new(at(1), [8; 10])) });
    job.key = Some(Key::from_bytes([0xab; 32]));
    job.first_start = Some(at(10));
    let mut policy = UniquePolicy {
        period: Some(Duration::from_secs(90)),
        period_from: Anchor::ScheduledAt,
        debounce: Some(Debounce { wait: Duration::from_secs(10), max_wait: Some(Duration::from_mins(1)) }),
        while_active: Some(WhileActive::QueueLatest),
        ..UniquePolicy::default()
    };
    let mut shown = |policy: &UniquePolicy| {
        Arc::make_mut(&mut job.spec).unique = Some(policy.clone().into());
        recognition(&job)
    };
    insta::assert_snapshot!(shown(&policy));
    policy.debounce = Some(Debounce { wait: Duration::from_millis(500), max_wait: None });
    assert!(shown(&policy).contains(r#""debounce":{"wait":"PT0.5S"}"#));
    policy.debounce = None;
    assert!(shown(&policy).contains(r#""on_conflict":"reject","while_active":"queue_latest""#));
}

#[test]
fn a_job_key_is_shown_as_long_as_the_job_holds_it() {
    let mut job = job(Phase::Available { lapsed: None });
    let key = Key::from_bytes([0xab; 32]);
    let job_key = JobKey { name: "a \"b\"".into(), mode: JobKeyMode::PreserveRunAt };
    Arc::make_mut(&mut job.spec).unique = Some(Uniqueness::JobKey(job_key));
    assert!(!recognition(&job).contains("unique"), "no facts, no member");
    job.key = Some(key);
    job.ledger = Ledger::restored(1, vec![entry()]);
    let holds = recognition(&job);
    assert_eq!(unique::job_key_name(&job), Some("a \"b\""));
    job.key = None;
    job.released =
        Some(Release { at: at(3), key, by: Releaser::Operator, reason: Some("it \"hung\"".into()) });
    let lost = recognition(&job);
    job.released = Some(Release { at: at(3), key, by: Releaser::NewerJob, reason: None });
    job.ledger = Ledger::default();
    assert_eq!(unique::job_key_name(&job), None);
    insta::assert_snapshot!([holds, lost, recognition(&job)].join("\n"));
}

#[test]
fn every_fact_is_listed_as_one() {
    let mut job = job(Phase::Pending { after: Some(JobId::new(at(1), [8; 10])) });
    let key = Key::from_bytes([0xab; 32]);
    job.key = Some(key);
    job.first_start = Some(at(10));
    job.reentered_beside = Some(job.id);
    job.released = Some(Release { at: at(3), key, by: Releaser::Removal, reason: None });
    job.ledger = Ledger::restored(1, vec![entry()]);
    Arc::make_mut(&mut job.spec).unique = Some(UniquePolicy::default().into());
    let shown: serde_json::Value = serde_json::from_str(&written(&job)).unwrap();
    let shown = shown["unique"].as_object().unwrap();
    let policy = ["keys", "states", "on_conflict"];
    let mut facts: Vec<&str> =
        shown.keys().map(String::as_str).filter(|name| !policy.contains(name)).collect();
    let mut listed = unique::FACTS.to_vec();
    facts.sort_unstable();
    listed.sort_unstable();
    assert_eq!(facts, listed);
}

#[test]
fn failures_stand_in_the_history_and_the_newest_as_the_error() {
    let failure = |attempt, details: Option<&str>| Failure {
        attempt,
        kind: "Timeout".into(),
        code: "handler_error".into(),
        message: "no \"answer\"".into(),
        occurred_at: at(5),
        retryable: details.is_some().then_some(false),
        details: details.map(Json::from_trusted),
        backtrace: if details.is_some() { vec!["a.rs:1".into()] } else { Vec::new() },
        overrun: None,
    };
    let mut job = job(Phase::Retryable { at: at(9) });
    job.retry_delay = Some(Duration::from_millis(1500));
    job.history = History::restored(vec![failure(1, None), failure(2, Some("{\"a\": 1}"))], true);
    let text = written(&job);
    insta::assert_snapshot!(&text[text.find("\"error\"").unwrap()..]);
    assert!(text.contains("\"retry_delay_ms\":1500"));
    job.history = History::restored(vec![failure(1, None)], false);
    assert!(!written(&job).contains("\"error\":"));
}

#[test]
fn the_names_that_the_server_writes_are_reserved_and_sorted() {
    assert!(SYSTEM_MEMBERS.is_sorted());
}
