//! What each event does in each state: the whole table, then the facts behind its cells.

mod attempts;
mod operator;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::testing::{at, claimed, job, job_in, rules, steady_retry};
use crate::unique::{JobKey, JobKeyMode, Key};
use crate::{Backoff, Fraction, GivenTime, Retention, RetryPolicy, Timeout};

const SECOND: Duration = Duration::from_secs(1);

fn worker(name: &str) -> Option<WorkerId> {
    WorkerId::parse(name)
}

fn error(kind: &str) -> WorkerError {
    WorkerError::of_server(kind, "it broke".into())
}

fn acknowledge_by(claimant: Claimant) -> Event {
    Event::Acknowledge { claimant, result: Some(Json::from_trusted("{\"n\":1}")) }
}

fn fail_with(error: WorkerError) -> Event {
    Event::Fail { claimant: Claimant::UNNAMED, error, handback: Handback::Failed, chance: Chance(0) }
}

fn report(value: f64) -> Event {
    let report = Report { value: Some(Fraction::clamped(value)), ..Report::default() };
    Event::Progress { claimant: Claimant::UNNAMED, report }
}

fn checkpoint(state: &str) -> Event {
    let (claimant, state) = (Claimant::UNNAMED, Json::from_trusted(state));
    Event::SaveCheckpoint { claimant, state, notes: Json::empty_object() }
}

fn token(byte: u8) -> LeaseToken {
    LeaseToken::new([byte; 16])
}

fn showing(token: LeaseToken) -> Claimant {
    Claimant { token: Some(Ok(token)), worker: None }
}

fn pass(job: &Job, now: Timestamp) -> Result<Transition, Refusal> {
    decide(job, Event::TimePassed { chance: Chance(0) }, now, &rules())
}

#[track_caller]
fn next(job: &Job, event: Event, now: Timestamp) -> Job {
    match decide(job, event, now, &rules()) {
        Ok(Transition::To(next)) => next,
        other => panic!("expected a change, got {other:?}"),
    }
}

#[track_caller]
fn after_time(job: &Job, now: Timestamp) -> Job {
    next(job, Event::TimePassed { chance: Chance(0) }, now)
}

fn events() -> Vec<(&'static str, Event)> {
    let claim = Event::Claim { worker: worker("w"), token: token(9), visibility_timeout: None };
    let requeue = Event::Fail {
        claimant: Claimant::UNNAMED,
        error: error("x"),
        handback: Handback::Requeue,
        chance: Chance(0),
    };
    let fatal = WorkerError { retryable: Some(false), ..error("x") };
    vec![
        ("claim", claim),
        ("acknowledge", acknowledge_by(Claimant::UNNAMED)),
        ("fail", fail_with(error("x"))),
        ("fail for good", fail_with(fatal)),
        ("requeue", requeue),
        ("heartbeat", Event::Heartbeat { claimant: Claimant::UNNAMED, visibility_timeout: None }),
        ("progress", report(0.5)),
        ("save a checkpoint", checkpoint("{}")),
        ("drop the checkpoint", Event::DropCheckpoint),
        ("cancel", Event::Cancel),
        ("no room, later", Event::Postpone { until: at(90_000) }),
        ("no room, drop", Event::Drop),
        ("queue deleted", Event::LoseQueue),
        ("move to a queue", Event::MoveTo { queue: QueueName::parse("other").unwrap() }),
        ("activate", Event::Activate),
        ("pause the agent", Event::Agent(AgentDeed::Pause { reason: None })),
        ("revive", Event::Revive { patch: SpecPatch::default() }),
        ("forget", Event::Forget),
        ("retry", Event::Retry),
        ("delete", Event::Delete),
        ("change of priority", Event::Reprioritize { priority: Priority::MAX }),
        ("abandon", Event::Abandon { claimant: Claimant::UNNAMED }),
        ("release the key", Event::Release { reason: None }),
        ("remove by job key", Event::RemoveByKey),
        ("time passes", Event::TimePassed { chance: Chance(0) }),
    ]
}

/// A job with a job key.
fn named(state: State) -> Job {
    let job = job_in(state);
    let unique = Uniqueness::JobKey(JobKey { name: "abc".into(), mode: JobKeyMode::Replace });
    let spec = Arc::new(Spec { unique: Some(unique), ..(*job.spec).clone() });
    Job { key: Some(Key::of_text("k")), spec, ..job }
}

/// The table that stands in docs/states.md. A dash is a refusal.
fn table() -> String {
    let mut text = String::from("| event |");
    for state in State::ALL {
        write!(text, " {state} |").unwrap();
    }
    text.push_str("\n|---|---|---|---|---|---|---|---|---|\n");
    for (name, event) in events() {
        write!(text, "| {name} |").unwrap();
        for state in State::ALL {
            let holder = named(state);
            let cell = match decide(&holder, event.clone(), Timestamp::MAX, &rules()) {
                Ok(Transition::To(next)) => next.state().name(),
                Ok(Transition::Removed) => "removed",
                Err(_) => "–",
            };
            write!(text, " {cell} |").unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_table_of_states_and_events_is_the_documented_one() {
    let page = include_str!("../../../../docs/states.md");
    assert!(page.contains(&table()), "docs/states.md must hold this table:\n{}", table());
}

#[test]
fn a_claim_counts_an_attempt_and_a_delivery() {
    let first = claimed(&job(), token(1), at(10));
    assert_eq!((first.attempt, first.fence, first.started_at), (1, 1, Some(at(10))));
    let again = claimed(&after_time(&first, at(10_000)), token(2), at(10_001));
    assert_eq!((again.attempt, again.fence), (2, 2));
}

#[test]
fn a_lease_lasts_as_the_fetch_says_else_the_job_else_the_server() {
    let deadline = |job: &Job, asked| {
        let event = Event::Claim { worker: None, token: token(1), visibility_timeout: asked };
        match next(job, event, at(0)).phase {
            Phase::Active { lease, .. } => lease.deadline,
            other => panic!("{other:?}"),
        }
    };
    let mut own = job();
    own.spec = Arc::new(Spec { visibility_timeout: Some(SECOND * 7), ..(*own.spec).clone() });
    assert_eq!(deadline(&own, Some(SECOND * 3)), at(3));
    assert_eq!(deadline(&own, None), at(7));
    assert_eq!(deadline(&job(), None), at(1800));
}

#[test]
fn an_at_most_once_job_is_completed_in_the_moment_it_is_fetched() {
    let mut once = job();
    once.spec = Arc::new(Spec { delivery: Delivery::AtMostOnce, ..(*once.spec).clone() });
    let taken = next(&once, Event::Claim { worker: None, token: token(1), visibility_timeout: None }, at(5));
    assert_eq!(taken.phase, Phase::Completed { at: at(5), result: None });
    assert_eq!(taken.attempt, 1);
}

#[test]
fn a_claim_of_an_expired_job_ends_it() {
    let mut late = job();
    late.spec = Arc::new(Spec { expires_at: Some(GivenTime::computed(at(5))), ..(*late.spec).clone() });
    let taken = next(&late, Event::Claim { worker: None, token: token(1), visibility_timeout: None }, at(5));
    assert!(matches!(taken.phase, Phase::Discarded { cause: Cause::Expired, dead_letter: false, .. }));
    assert_eq!(taken.attempt, 0);
}

#[test]
fn only_who_fits_the_lease_may_speak_for_it() {
    let active = claimed(&job(), token(1), at(0));
    let lost = Err(Refusal::LeaseLost { id: active.id, state: State::Active });
    let ack = |claimant| decide(&active, acknowledge_by(claimant), at(1), &rules());
    assert!(ack(Claimant::UNNAMED).is_ok());
    assert!(ack(showing(token(1))).is_ok());
    assert!(ack(Claimant { token: None, worker: worker("w") }).is_ok());
    assert_eq!(ack(showing(token(2))), lost);
    assert_eq!(ack(Claimant { token: None, worker: worker("other") }), lost);
    assert_eq!(ack(Claimant { token: Some(Ok(token(1))), worker: worker("other") }), lost);
    assert_eq!(ack(Claimant::showing(Some("nonsense"), None)), lost);
    let beat = Event::Heartbeat { claimant: showing(token(2)), visibility_timeout: None };
    assert_eq!(decide(&active, beat, at(1), &rules()), lost);
}

#[test]
fn an_acknowledgement_clears_the_error_but_not_the_history() {
    let failed = next(&claimed(&job(), token(1), at(0)), fail_with(error("x")), at(1));
    let active = claimed(&after_time(&failed, at(60)), token(2), at(61));
    let done = next(&active, acknowledge_by(Claimant::UNNAMED), at(62));
    assert!(done.history.current().is_none());
    assert_eq!(done.history.entries().len(), 1);
    assert!(matches!(done.phase, Phase::Completed { result: Some(_), .. }));
}

#[test]
fn the_last_holder_may_acknowledge_late_until_somebody_fetches() {
    let lapsed = after_time(&claimed(&job(), token(1), at(0)), at(1800));
    assert_eq!(lapsed.state(), State::Available);
    assert_eq!(next(&lapsed, acknowledge_by(showing(token(1))), at(1801)).state(), State::Completed);
    assert_eq!(next(&lapsed, acknowledge_by(Claimant::UNNAMED), at(1801)).state(), State::Completed);
    let stranger = decide(&lapsed, acknowledge_by(showing(token(2))), at(1801), &rules());
    assert_eq!(stranger, Err(Refusal::LeaseLost { id: lapsed.id, state: State::Available }));
    let refetched = claimed(&lapsed, token(2), at(1802));
    let late = decide(&refetched, acknowledge_by(showing(token(1))), at(1803), &rules());
    assert_eq!(late, Err(Refusal::LeaseLost { id: lapsed.id, state: State::Active }));
}

#[test]
fn the_last_holder_may_acknowledge_late_even_when_attempts_were_used_up() {
    let mut last = job();
    last.spec = Arc::new(Spec {
        retry: RetryPolicy { max_attempts: 1, on_exhaustion: Exhaustion::DeadLetter, ..steady_retry() },
        ..(*last.spec).clone()
    });
    let given_up = after_time(&claimed(&last, token(1), at(0)), at(1800));
    assert!(given_up.phase.is_dead_letter());
    assert_eq!(next(&given_up, acknowledge_by(showing(token(1))), at(1801)).state(), State::Completed);
}

#[test]
fn a_fresh_job_cannot_be_acknowledged() {
    let refused = decide(&job(), acknowledge_by(Claimant::UNNAMED), at(1), &rules());
    let expected = StateSet::of(&[State::Active]);
    assert_eq!(refused, Err(Refusal::WrongState { id: job().id, state: State::Available, expected }));
}

#[test]
fn a_lapse_is_recorded_and_puts_the_job_back_at_once() {
    let lapsed = after_time(&claimed(&job(), token(1), at(0)), at(1800));
    let failure = lapsed.history.current().unwrap();
    assert_eq!((&*failure.kind, failure.attempt), ("visibility_timeout", 1));
    assert_eq!(lapsed.enqueued_at, Some(at(1800)));
    assert_eq!(lapsed.attempt, 1);
}

#[test]
fn a_heartbeat_moves_the_end_of_the_lease_from_now() {
    let active = claimed(&job(), token(1), at(0));
    let beat = |asked| Event::Heartbeat { claimant: showing(token(1)), visibility_timeout: asked };
    let beaten = next(&active, beat(None), at(1000));
    assert_eq!(next_due(&beaten, &rules()), Some(at(2800)));
    assert!(pass(&beaten, at(2799)).is_err());
    assert_eq!(next_due(&next(&active, beat(Some(SECOND)), at(1000)), &rules()), Some(at(1001)));
}

#[test]
fn failures_wait_longer_each_time_and_end_at_the_last_attempt() {
    let mut current = job();
    for (attempt, delay) in [(1, 1), (2, 2)] {
        current = next(&claimed(&current, token(attempt), at(0)), fail_with(error("x")), at(10));
        assert_eq!(current.phase, Phase::Retryable { at: at(10 + delay) });
        assert_eq!(current.retry_delay, Some(SECOND * u32::try_from(delay).unwrap()));
        current = after_time(&current, at(10 + delay));
    }
    let ended = next(&claimed(&current, token(3), at(20)), fail_with(error("x")), at(30));
    assert!(matches!(ended.phase, Phase::Discarded { cause: Cause::Failed, dead_letter: false, .. }));
    assert_eq!(ended.history.entries().iter().map(|f| f.attempt).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn the_worker_s_word_and_the_policy_decide_where_a_failure_ends() {
    let mut dead = job();
    dead.spec = Arc::new(Spec {
        retry: RetryPolicy {
            on_exhaustion: Exhaustion::DeadLetter,
            backoff: Backoff::Constant,
            ..steady_retry()
        },
        ..(*dead.spec).clone()
    });
    let ends = |job: &Job, error| {
        let failed = next(&claimed(job, token(1), at(0)), fail_with(error), at(1));
        (failed.state(), failed.phase.is_dead_letter())
    };
    let directed = |directive| WorkerError { directive, ..error("x") };
    assert_eq!(ends(&dead, error("x")), (State::Retryable, false));
    assert_eq!(ends(&dead, WorkerError { retryable: Some(false), ..error("x") }), (State::Discarded, true));
    assert_eq!(ends(&dead, directed(Directive::Discard)), (State::Discarded, false));
    assert_eq!(ends(&job(), directed(Directive::DeadLetter)), (State::Discarded, true));
}

#[test]
fn a_requeue_counts_no_failure_and_is_allowed_after_the_last_attempt() {
    let mut last = claimed(&job(), token(1), at(0));
    last.attempt = 3;
    let event = Event::Fail {
        claimant: Claimant::UNNAMED,
        error: WorkerError { retryable: Some(false), ..error("x") },
        handback: Handback::Requeue,
        chance: Chance(0),
    };
    let back = next(&last, event, at(5));
    assert_eq!((back.state(), back.enqueued_at), (State::Available, Some(at(5))));
    assert_eq!((back.attempt, back.fence), (2, 1), "it was delivered, but nobody ran it");
    assert!(back.history.entries().is_empty());
}

#[test]
fn a_time_out_fails_the_attempt_whatever_the_heartbeats_say() {
    let mut limited = job();
    limited.spec = Arc::new(Spec {
        timeout: Some(Timeout { span: SECOND * 2, in_seconds: false }),
        ..(*limited.spec).clone()
    });
    let active = claimed(&limited, token(1), at(0));
    let beat = Event::Heartbeat { claimant: Claimant::UNNAMED, visibility_timeout: None };
    let timed_out = after_time(&next(&active, beat, at(1)), at(2));
    assert_eq!(timed_out.state(), State::Retryable);
    assert_eq!(&*timed_out.history.current().unwrap().kind, "timeout");
}

#[test]
fn a_pending_job_keeps_its_schedule_when_it_is_activated() {
    let mut pending = job_in(State::Pending);
    assert_eq!(next(&pending, Event::Activate, at(5)).activated_at, Some(at(5)));
    pending.spec =
        Arc::new(Spec { scheduled_at: Some(GivenTime::computed(at(50))), ..(*pending.spec).clone() });
    assert_eq!(next(&pending, Event::Activate, at(5)).phase, Phase::Scheduled { at: at(50) });
    assert_eq!(next(&pending, Event::Activate, at(50)).state(), State::Available);
}

#[test]
fn every_waiting_job_expires() {
    for state in State::ALL.into_iter().filter(|state| state.is_waiting()) {
        let mut late = job_in(state);
        late.spec = Arc::new(Spec { expires_at: Some(GivenTime::computed(at(5))), ..(*late.spec).clone() });
        assert!(pass(&late, at(4)).is_err(), "{state}");
        let ended = after_time(&late, at(5));
        assert!(
            matches!(ended.phase, Phase::Discarded { cause: Cause::Expired, dead_letter: false, .. }),
            "{state}"
        );
    }
}

#[test]
fn a_revived_job_starts_again_but_forgets_nothing() {
    let mut dead = job_in(State::Discarded);
    dead.attempt = 3;
    dead.fence = 7;
    dead.history.push(3, error("x"), at(1));
    dead.spec = Arc::new(Spec { expires_at: Some(GivenTime::computed(at(2))), ..(*dead.spec).clone() });
    let patch = SpecPatch { args: Some(Json::from_trusted("[2]")), ..SpecPatch::default() };
    let back = next(&dead, Event::Revive { patch }, at(9));
    assert_eq!((back.state(), back.attempt, back.fence), (State::Available, 0, 7));
    assert_eq!(back.spec.args.as_str(), "[2]");
    assert!(back.history.current().is_none() && back.history.entries().len() == 1);
    assert!(back.spec.expires_at.is_none());
}

#[test]
fn a_discarded_job_without_a_dead_letter_is_neither_revived_nor_forgotten() {
    let mut gone = job_in(State::Discarded);
    gone.phase = Phase::Discarded { at: at(0), cause: Cause::Failed, dead_letter: false };
    for event in [Event::Revive { patch: SpecPatch::default() }, Event::Forget] {
        let refused = Refusal::NoDeadLetter { id: gone.id, state: State::Discarded };
        assert_eq!(decide(&gone, event, at(1), &rules()), Err(refused));
    }
}

#[test]
fn finished_jobs_are_removed_after_their_retention_and_not_before() {
    let retention = Retention { completed: SECOND, cancelled: SECOND * 2, discarded: SECOND * 3 };
    let rules = Rules { retention, ..rules() };
    for (state, seconds) in [(State::Completed, 1), (State::Cancelled, 2), (State::Discarded, 3)] {
        let ended = job_in(state);
        let end = ended.phase.finished_at().unwrap();
        let pass = |now| decide(&ended, Event::TimePassed { chance: Chance(0) }, now, &rules);
        let due = end + SECOND * seconds;
        assert_eq!(pass(due - Duration::from_millis(1)), Err(Refusal::NotDue(ended.id)));
        assert_eq!(pass(due), Ok(Transition::Removed));
    }
}

#[test]
fn a_finished_job_stays_as_long_as_its_own_policy_counts_on_it() {
    use crate::unique::{Key, UniquePolicy};
    let mut done = job_in(State::Completed);
    let policy = UniquePolicy {
        states: StateSet::ALL,
        period: Some(Duration::from_hours(24 * 30)),
        ..UniquePolicy::default()
    };
    done.spec = Arc::new(Spec { unique: Some(policy.into()), ..(*done.spec).clone() });
    done.key = Some(Key::of_text("x"));
    assert_eq!(next_due(&done, &rules()), Some(done.created_at + Duration::from_hours(24 * 30)));
}

#[test]
fn an_expired_job_says_so_and_its_last_holder_may_still_complete_it() {
    let mut late = job();
    late.spec = Arc::new(Spec { expires_at: Some(GivenTime::computed(at(5))), ..(*late.spec).clone() });
    let never_run = after_time(&late, at(5));
    assert_eq!(&*never_run.history.current().unwrap().kind, "expired");
    assert!(decide(&never_run, acknowledge_by(Claimant::UNNAMED), at(6), &rules()).is_err());
    let lapsed = after_time(&claimed(&late, token(1), at(1)), at(1801));
    let ended = after_time(&lapsed, at(1802));
    assert_eq!(ended.state(), State::Discarded);
    assert_eq!(next(&ended, acknowledge_by(showing(token(1))), at(1803)).state(), State::Completed);
}

#[test]
fn a_revived_job_has_the_key_of_its_new_values() {
    use crate::unique::{Dimensions, Key, UniquePolicy};
    let mut dead = job_in(State::Discarded);
    let policy = UniquePolicy {
        dimensions: Dimensions { args: true, ..Dimensions::default() },
        args_keys: Some(vec!["user".into()]),
        ..UniquePolicy::default()
    };
    dead.spec = Arc::new(Spec {
        unique: Some(policy.into()),
        args: Json::from_trusted("[{\"user\":1}]"),
        ..(*dead.spec).clone()
    });
    dead.key = Some(Key::of_text("{\"args\":{\"user\":1},\"type\":\"email.send\"}"));
    let revive = |args: &str| Event::Revive {
        patch: SpecPatch { args: Some(Json::from_trusted(args)), ..SpecPatch::default() },
    };
    let back = next(&dead, revive("[{\"user\":2}]"), at(9));
    assert_eq!(back.key, Some(Key::of_text("{\"args\":{\"user\":2},\"type\":\"email.send\"}")));
    assert_eq!(next(&dead, Event::Revive { patch: SpecPatch::default() }, at(9)).key, dead.key);
    let refused = decide(&dead, revive("[{\"other\":2}]"), at(9), &rules());
    assert!(matches!(refused, Err(Refusal::KeyImpossible { .. })), "{refused:?}");
}

#[test]
fn an_operator_takes_the_key_and_nothing_else() {
    use crate::unique::Releaser;
    let held = Job { key: Some(Key::of_text("k")), ..job_in(State::Active) };
    let freed = next(&held, Event::Release { reason: Some("stuck".into()) }, at(7));
    let release = freed.released.clone().unwrap();
    assert_eq!((release.at, release.key, release.by), (at(7), Key::of_text("k"), Releaser::Operator));
    assert_eq!(release.reason.as_deref(), Some("stuck"));
    assert_eq!(Job { key: held.key, released: None, ..freed.clone() }, held);
    let again = decide(&freed, Event::Release { reason: None }, at(8), &rules());
    assert_eq!(again, Err(Refusal::KeyNotHeld));
}

#[test]
fn a_running_job_whose_name_was_removed_fails_for_good() {
    let held = named(State::Active);
    let removed = next(&held, Event::RemoveByKey, at(7));
    assert_eq!((removed.key, removed.state()), (None, State::Active));
    assert_eq!(next(&removed, fail_with(error("x")), at(8)).state(), State::Discarded);
    let without_name = Job { key: held.key, ..job_in(State::Available) };
    assert_eq!(decide(&without_name, Event::RemoveByKey, at(7), &rules()), Err(Refusal::KeyNotHeld));
}
