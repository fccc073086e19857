//! Fidelity: every part of a job comes back as it was, also after a restart.

use std::time::Duration;

use hapax_core::unique::{
    Anchor, Debounce, Dimensions, Field, FieldSet, JobKeyMode, Releaser, Replacement, Strategy, UniquePolicy,
    WhileActive,
};
use hapax_core::{
    Backoff, Chance, Claimant, Delivery, Directive, Event, Exhaustion, FAILURES_KEPT, GivenTime, Handback,
    Job, JobId, Json, Phase, RetryPolicy, State, StateSet, Timestamp, WorkerError, WorkerId,
};

use super::bench::{Bench, DAY, HOUR, INSTANT, MINUTE, SECOND, error, holder_of};
use super::draft::{Draft, job_key, plain, unique};
use crate::Claim;

/// Text that breaks what is careless: quotes, an escape, a NUL, letters beyond one byte and beyond two.
const ODD: &str = "it's \"odd\"\\u0000\0\n\u{e9}\u{301}\u{1f980}";

/// The longest time that a client can ask for.
const LONGEST: Duration = Duration::from_hours(10_000 * 365 * 24);

/// A job with every attribute set to something that no default is.
fn loaded(bench: &Bench) -> Draft {
    let mut draft = unique("k")
        .kind("email.send")
        .queue("mail.out-1")
        .priority(-100)
        .args(r#"{"n": 1.0,  "big":12345678901234567890, "t":"é\u00e9"}"#)
        .meta(r#"{"tenant":"acme"}"#)
        .tags(&["a", "", ODD])
        .timeout(Duration::from_millis(1500))
        .visibility_timeout(Duration::from_millis(90_001))
        .request(ODD)
        .at_most_once();
    let text = "2026-03-01T12:30:00.0000001+01:00".into();
    draft.spec.scheduled_at = Some(GivenTime { at: bench.now + HOUR * 2, text });
    draft.spec.expires_at = Some(GivenTime { at: bench.now + DAY, text: "2026-03-02T09:30:00Z".into() });
    draft.spec.schema = Some("urn:schema".into());
    draft.spec.extra = Json::from_trusted(r#"{"custom":[1, {}]}"#);
    draft.spec.retry = RetryPolicy {
        max_attempts: u32::MAX,
        initial_interval: Duration::from_millis(1),
        backoff_coefficient: 1.1,
        max_interval: LONGEST,
        jitter: true,
        non_retryable_errors: vec!["Auth.*".into(), ODD.into()],
        on_exhaustion: Exhaustion::DeadLetter,
        backoff: Backoff::Polynomial,
    };
    draft
}

/// The job is what was sent, now and after a restart.
#[track_caller]
fn comes_back(bench: &mut Bench, draft: &Draft) -> JobId {
    let id = bench.create(draft.clone());
    for _ in 0..2 {
        let job = bench.job(id);
        assert_eq!(*job.spec, draft.spec);
        assert_eq!(job.key, draft.key);
        bench.reopen();
    }
    id
}

#[track_caller]
fn kept(bench: &mut Bench, job: &Job) {
    assert_eq!(bench.job(job.id), *job);
    bench.reopen();
    assert_eq!(bench.job(job.id), *job);
}

pub(super) fn a_job_with_everything_comes_back_as_it_was_sent(bench: &mut Bench) {
    let draft = loaded(bench);
    let id = comes_back(bench, &draft);
    let job = bench.job(id);
    assert_eq!((job.created_at, job.enqueued_at), (bench.now, None));
    assert_eq!(job.phase, Phase::Scheduled { at: bench.now + HOUR * 2 });
}

pub(super) fn a_job_with_nothing_comes_back_as_it_was_sent(bench: &mut Bench) {
    let id = comes_back(bench, &plain());
    assert_eq!(bench.job(id).enqueued_at, Some(bench.now));
}

pub(super) fn every_kind_of_json_comes_back_byte_for_byte(bench: &mut Bench) {
    let big = format!("[\"{}\"]", "x".repeat(1 << 20));
    for text in ["[]", "{}", "[1.0,1e3,-0,12345678901234567890]", r#"{ "b":1, "a":[null , true] }"#, &big] {
        comes_back(bench, &plain().args(text).meta(text));
    }
}

pub(super) fn every_policy_comes_back_as_it_was_sent(bench: &mut Bench) {
    let base = UniquePolicy::default;
    let fields = |fields: &[Field]| fields.iter().copied().collect::<FieldSet>();
    let per_state = Replacement::everywhere(fields(&[Field::Tags]))
        .with(State::Scheduled, fields(&Field::ALL))
        .with(State::Active, FieldSet::default());
    let mut policies = vec![
        UniquePolicy { dimensions: Dimensions { queue: true, args: true, meta: true }, ..base() },
        UniquePolicy { args_keys: Some(vec!["a".into(), ODD.into()]), meta_keys: Some(vec![]), ..base() },
        UniquePolicy { key: Some(ODD.into()), ..base() },
        UniquePolicy { replace: Some(per_state), ..base() },
        UniquePolicy { replace: Some(Replacement::default()), ..base() },
        UniquePolicy { while_active: Some(WhileActive::QueueLatest), ..base() },
        UniquePolicy { debounce: Some(Debounce { wait: INSTANT, max_wait: None }), ..base() },
        UniquePolicy {
            debounce: Some(Debounce { wait: DAY * 300, max_wait: Some(INSTANT) }),
            while_active: Some(WhileActive::QueueLatest),
            ..base()
        },
    ];
    for (on_conflict, period_from) in Strategy::ALL.into_iter().zip(Anchor::ALL.into_iter().cycle()) {
        let period = Some(Duration::from_millis(1));
        policies.push(UniquePolicy { on_conflict, period, period_from, ..base() });
    }
    policies.extend(State::ALL.map(|state| UniquePolicy { states: StateSet::of(&[state]), ..base() }));
    for (number, policy) in policies.into_iter().enumerate() {
        // With a start of its own, for a debounced job is given one otherwise.
        let mut draft = unique(&number.to_string()).scheduled_at(bench.now + HOUR);
        draft.spec.unique = Some(policy.into());
        comes_back(bench, &draft);
    }
}

pub(super) fn every_job_key_comes_back_as_it_was_sent(bench: &mut Bench) {
    for (mode, name) in JobKeyMode::ALL.into_iter().zip(["k", ODD, &"x".repeat(4096)]) {
        let id = comes_back(bench, &job_key(name).mode(mode));
        assert_eq!(bench.enqueue(job_key(name)).job.id, id, "it is found by its name");
    }
}

pub(super) fn a_release_comes_back_with_its_facts(bench: &mut Bench) {
    for reason in [None, Some(""), Some(ODD)] {
        let id = bench.create(unique("k"));
        bench.step(id, Event::Release { reason: reason.map(Into::into) }).unwrap();
        let job = bench.job(id);
        let release = job.released.as_ref().unwrap();
        assert_eq!(
            (release.at, release.by, release.reason.as_deref()),
            (bench.now, Releaser::Operator, reason)
        );
        kept(bench, &job);
        bench.fetch_one();
    }
    for by in [Releaser::NewerJob, Releaser::Removal] {
        let id = bench.create(job_key(by.name()).priority(9));
        bench.fetch_one();
        match by {
            Releaser::NewerJob => drop(bench.create(job_key(by.name()))),
            _ => drop(bench.remove_job_key(by.name()).unwrap()),
        }
        let job = bench.job(id);
        assert_eq!(job.released.as_ref().map(|release| (release.by, &release.reason)), Some((by, &None)));
        kept(bench, &job);
    }
}

pub(super) fn every_retry_policy_and_delivery_comes_back_as_it_was_sent(bench: &mut Bench) {
    let backoffs = [Backoff::Constant, Backoff::Linear, Backoff::Exponential, Backoff::Polynomial];
    for (backoff, coefficient) in
        backoffs.into_iter().zip([1.0, 1.000_000_000_000_000_2, 0.1 + 1.2, f64::MAX])
    {
        let mut draft = plain();
        draft.spec.retry =
            RetryPolicy { backoff, backoff_coefficient: coefficient, ..RetryPolicy::default() };
        draft.spec.delivery = Delivery::AtLeastOnce;
        comes_back(bench, &draft);
        draft.spec.delivery = Delivery::AtMostOnce;
        comes_back(bench, &draft);
    }
}

pub(super) fn the_ends_of_every_range_come_back(bench: &mut Bench) {
    let earliest = Timestamp::from_millis(i64::MIN);
    let far = comes_back(bench, &plain().scheduled_at(Timestamp::MAX).timeout(LONGEST).attempts(0));
    assert_eq!(bench.advance().next_due, Some(Timestamp::MAX));
    let gone = comes_back(bench, &plain().priority(100).scheduled_at(earliest).expires_at(earliest));
    bench.now = Timestamp::from_millis(-1);
    let early = comes_back(bench, &plain().visibility_timeout(LONGEST));
    assert_eq!(bench.fetch_ids(9), [early]);
    assert_eq!([far, gone].map(|id| bench.state(id)), [State::Scheduled, State::Discarded]);
    assert_eq!(bench.advance().next_due, Some(bench.job(gone).phase.finished_at().unwrap() + DAY * 30));
}

pub(super) fn a_failure_comes_back_as_it_was_reported(bench: &mut Bench) {
    let id = bench.create(plain());
    let running = bench.fetch_one();
    let error = WorkerError {
        kind: ODD.into(),
        code: "".into(),
        message: ODD.into(),
        retryable: Some(true),
        details: Some(Json::from_trusted(r#"{"status": 5.0e2}"#)),
        backtrace: vec!["a.rb:1".into(), ODD.into()],
        aliases: vec!["Alias".into()],
        directive: Directive::Policy,
        rate_limit_until: None,
    };
    let claimant = holder_of(&running);
    let event =
        Event::Fail { claimant, error: error.clone(), handback: Handback::Failed, chance: Chance(u64::MAX) };
    bench.step(id, event).unwrap();
    let job = bench.job(id);
    let failure = job.history.current().unwrap();
    assert_eq!((&failure.kind, &failure.code, &failure.message), (&error.kind, &error.code, &error.message));
    assert_eq!((&failure.details, &failure.backtrace), (&error.details, &error.backtrace));
    assert_eq!((failure.retryable, failure.attempt, failure.occurred_at), (Some(true), 1, bench.now));
    assert_eq!(job.retry_delay, Some(SECOND));
    kept(bench, &job);
}

pub(super) fn a_long_history_keeps_the_newest_failures(bench: &mut Bench) {
    let id = bench.create(plain().attempts(100));
    for _ in 0..FAILURES_KEPT + 5 {
        let job = bench.fetch_one();
        bench.fail(&job).unwrap();
        bench.pass(HOUR);
        bench.advance();
    }
    let job = bench.job(id);
    let attempts: Vec<usize> = job.history.entries().iter().map(|failure| failure.attempt as usize).collect();
    assert_eq!(attempts, (6..=FAILURES_KEPT + 5).collect::<Vec<_>>());
    kept(bench, &job);
}

pub(super) fn a_success_clears_the_error_and_keeps_the_history(bench: &mut Bench) {
    bench.create(plain());
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    bench.pass(MINUTE);
    bench.advance();
    let id = bench.complete_one();
    let job = bench.job(id);
    assert_eq!((job.history.current(), job.history.entries().len(), job.retry_delay), (None, 1, None));
    kept(bench, &job);
}

pub(super) fn every_phase_comes_back_with_its_facts(bench: &mut Bench) {
    for state in State::ALL {
        let id = bench.create_in(state, unique(state.name()));
        let job = bench.job(id);
        kept(bench, &job);
        bench.fetch(&["default"], 9);
    }
    for from in StateSet::INCOMPLETE.iter() {
        let id = bench.create_in(from, plain());
        bench.step(id, Event::Cancel).unwrap();
        let job = bench.job(id);
        assert_eq!(job.phase, Phase::Cancelled { at: bench.now, from });
        kept(bench, &job);
    }
}

pub(super) fn a_lease_comes_back_with_its_worker_also_when_it_ran_out(bench: &mut Bench) {
    for draft in [plain().timeout(HOUR), plain().timeout(HOUR).dies_at_once()] {
        let id = bench.create(draft);
        let worker = WorkerId::parse("w\u{e9}'1");
        let wish =
            Claim { worker: worker.clone(), visibility_timeout: Some(MINUTE), ..bench.wish(&["default"], 1) };
        bench.claim(wish);
        let job = bench.job(id);
        kept(bench, &job);
        bench.pass(MINUTE);
        bench.advance();
        let job = bench.job(id);
        kept(bench, &job);
        let other = Claimant { token: None, worker: WorkerId::parse("w2") };
        bench.step(id, Event::Acknowledge { claimant: other, result: None }).unwrap_err();
        bench
            .step(id, Event::Acknowledge { claimant: Claimant { token: None, worker }, result: None })
            .unwrap();
    }
}

pub(super) fn an_activated_job_remembers_when(bench: &mut Bench) {
    let id = bench.create(plain().pending().scheduled_at(bench.now + DAY));
    bench.pass(HOUR);
    bench.step(id, Event::Activate).unwrap();
    let job = bench.job(id);
    assert_eq!((job.activated_at, job.state()), (Some(bench.now), State::Scheduled));
    kept(bench, &job);
}

pub(super) fn the_same_error_every_way_is_kept(bench: &mut Bench) {
    for directive in [Directive::Policy, Directive::Discard, Directive::DeadLetter] {
        let id = bench.create(plain());
        let running = bench.fetch_one();
        let error = WorkerError { retryable: Some(false), ..error(directive) };
        let claimant = holder_of(&running);
        bench
            .step(id, Event::Fail { claimant, error, handback: Handback::Failed, chance: Chance(0) })
            .unwrap();
        let job = bench.job(id);
        assert_eq!(job.state(), State::Discarded);
        kept(bench, &job);
    }
}
