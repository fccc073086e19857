//! Holders that take over a duplicate by debouncing, by name or as a successor.

use std::time::Duration;

use super::*;
use crate::unique::{Debounce, JobKey, JobKeyMode, Uniqueness, WhileActive};
use crate::{Parting, StateSet, let_go, parting};

const SECOND: Duration = Duration::from_secs(1);

fn debounced(max_wait: Option<Duration>) -> Incoming {
    let debounce = Some(Debounce { wait: SECOND * 10, max_wait });
    let states = StateSet::INCOMPLETE;
    incoming(Some(UniquePolicy { states, debounce, ..unique(Strategy::Reject) }))
}

fn named(mode: JobKeyMode, args: &str) -> Incoming {
    let mut new = incoming(Some(unique(Strategy::Reject)));
    new.spec.unique = Some(Uniqueness::JobKey(JobKey { name: "abc".into(), mode }));
    new.spec.args = Json::from_trusted(args);
    new
}

fn with_args(mut job: Job, args: &str) -> Job {
    Arc::make_mut(&mut job.spec).args = Json::from_trusted(args);
    job
}

fn at_moment(incoming: Incoming, holder: &Job, seconds: i64) -> Job {
    incoming.admit(vec![holder.clone()], at(seconds), &rules()).unwrap().job
}

#[test]
fn a_debounced_job_waits_and_each_duplicate_moves_it_up_to_the_limit() {
    let first = debounced(Some(SECOND * 25)).admit(vec![], at(0), &rules()).unwrap().job;
    assert_eq!((first.phase.clone(), first.first_start), (Phase::Scheduled { at: at(10) }, Some(at(10))));
    let second = at_moment(debounced(Some(SECOND * 25)), &first, 8);
    assert_eq!(second.phase, Phase::Scheduled { at: at(18) });
    let capped = at_moment(debounced(Some(SECOND * 25)), &second, 30);
    assert_eq!(capped.phase, Phase::Scheduled { at: at(35) });
    assert_eq!(capped.spec.scheduled_at, Some(GivenTime::computed(at(35))));
    assert_eq!((capped.first_start, capped.ledger.count()), (Some(at(10)), 2));
}

#[test]
fn past_the_limit_a_debounced_job_is_not_held_back_any_more() {
    let first = debounced(Some(SECOND)).admit(vec![], at(0), &rules()).unwrap().job;
    let late = at_moment(debounced(Some(SECOND)), &first, 20);
    assert_eq!((late.state(), late.enqueued_at), (State::Available, Some(at(20))));
    let later = at_moment(debounced(Some(SECOND)), &late, 30);
    assert_eq!((later.state(), later.enqueued_at), (State::Available, Some(at(20))), "it keeps its turn");
}

#[test]
fn a_failed_job_waits_out_its_pause_and_a_pending_one_stays_pending() {
    for state in [State::Retryable, State::Pending] {
        let moved = at_moment(debounced(None), &holder(state), 50);
        assert_eq!(moved.phase, holder(state).phase);
        assert_eq!(moved.spec.args.as_str(), "[9]");
    }
}

#[test]
fn a_job_that_failed_before_starts_again_from_nothing() {
    for state in [State::Retryable, State::Discarded] {
        let again = admit(named(JobKeyMode::PreserveRunAt, "[2]"), vec![holder(state)]);
        let job = &again.job;
        assert_eq!((job.id, job.state(), job.attempt, job.fence), (id(1), State::Available, 0, 1));
        assert_eq!((job.retry_delay, job.started_at, job.enqueued_at), (None, None, Some(at(50))));
        assert_eq!(again.changed[0].0, state);
    }
}

#[test]
fn an_untried_job_keeps_its_start_only_if_asked_to() {
    let waiting = at_moment(scheduled(named(JobKeyMode::Replace, "[1]"), 900), &holder(State::Scheduled), 50);
    assert_eq!(waiting.phase, Phase::Scheduled { at: at(900) });
    let kept = at_moment(scheduled(named(JobKeyMode::PreserveRunAt, "[1]"), 900), &waiting, 60);
    assert_eq!(
        (kept.phase, kept.spec.scheduled_at.clone()),
        (waiting.phase, waiting.spec.scheduled_at.clone())
    );
}

#[test]
fn an_update_in_line_keeps_the_place_in_line() {
    let waiting = holder(State::Available);
    let updated = at_moment(named(JobKeyMode::Replace, "[2]"), &waiting, 70);
    assert_eq!((updated.state(), updated.enqueued_at), (State::Available, waiting.enqueued_at));
}

#[test]
fn a_running_job_gives_up_its_name_and_its_retries_to_a_newer_one() {
    let admission = admit(named(JobKeyMode::Replace, "[2]"), vec![holder(State::Active)]);
    assert_eq!((&admission.verdict, admission.job.id), (&Verdict::Created, id(9)));
    let (before, old) = &admission.changed[0];
    assert_eq!((*before, old.state(), old.key), (State::Active, State::Active, None));
    assert_eq!(old.spec.retry.max_attempts, old.attempt);
    let release = old.released.as_ref().unwrap();
    assert_eq!((release.at, release.key, release.by), (at(50), Key::of_text("k"), Releaser::NewerJob));
}

#[test]
fn joined_payloads_have_a_limit() {
    let tight = Rules { joined_bytes_max: 8, ..rules() };
    let held = with_args(holder(State::Available), "[[1,2]]");
    let admitted = |args| named(JobKeyMode::Replace, args).admit(vec![held.clone()], at(50), &tight);
    assert_eq!(admitted("[[]]").unwrap().job.spec.args.as_str(), "[[1,2]]");
    let refusal = Refusal::PayloadFull { id: Some(id(1)), bytes: 9, max: 8 };
    assert_eq!(admitted("[[3]]").unwrap_err(), refusal);
    let alone = admitted(r#"["longer than the limit, but nothing is joined"]"#);
    assert!(alone.is_ok(), "one request has a limit of its own");
}

#[test]
fn a_successor_waits_for_the_end_of_the_running_job_and_is_let_go_then() {
    let while_active = Some(WhileActive::QueueLatest);
    let latest = || incoming(Some(UniquePolicy { while_active, ..unique(Strategy::Ignore) }));
    let admission = admit(latest(), vec![holder(State::Active)]);
    assert_eq!(admission.verdict, Verdict::Created);
    assert_eq!(admission.job.phase, Phase::Pending { after: Some(id(1)) });
    let gone = let_go(&admission.job, Parting::Ended, at(60)).unwrap();
    assert_eq!((gone.state(), gone.enqueued_at), (State::Available, Some(at(60))));
    let later = admit(scheduled(latest(), 100), vec![holder(State::Active)]).job;
    assert_eq!(let_go(&later, Parting::Ended, at(60)).unwrap().phase, Phase::Scheduled { at: at(100) });
    assert_eq!(let_go(&gone, Parting::Ended, at(60)), None);
}

#[test]
fn only_an_end_or_the_loss_of_the_key_lets_successors_go() {
    for state in State::ALL {
        let ended = state.is_terminal().then_some(Parting::Ended);
        assert_eq!(parting(State::Active, &holder(state)), ended, "{state}");
        assert_eq!(parting(State::Completed, &holder(state)), None, "it had ended before");
    }
    let mut keyless = holder(State::Active);
    Arc::make_mut(&mut keyless.spec).unique = Some(unique(Strategy::Ignore).into());
    assert_eq!(parting(State::Active, &keyless), None);
    keyless.key = None;
    assert_eq!(parting(State::Active, &keyless), Some(Parting::KeyGivenUp));
}
