//! Job keys while a worker holds the job: it gives up its name and its retries, and a new job has the name.

use hapax_core::unique::{JobKeyMode, Release, Releaser};
use hapax_core::{Directive, Event, Handback, Job, JobId, Refusal, State, Verdict};

use super::bench::{Bench, HOUR, MINUTE, SECOND, holder_of, job_key_of, went};
use super::draft::{Draft, job_key};

/// A running job, and the one that came for its name.
fn superseded_by(bench: &mut Bench, draft: Draft, newer: Draft) -> (Job, JobId) {
    bench.create(draft);
    let running = bench.fetch_one();
    bench.pass(SECOND);
    let answer = bench.enqueue(newer);
    assert_eq!(answer.verdict, Verdict::Created);
    assert_ne!(answer.job.id, running.id);
    (running, answer.job.id)
}

fn superseded(bench: &mut Bench) -> (Job, JobId) {
    superseded_by(bench, job_key("k"), job_key("k").args("[2]"))
}

pub(super) fn a_running_job_gives_up_its_name_to_a_newer_one(bench: &mut Bench) {
    for mode in [JobKeyMode::Replace, JobKeyMode::PreserveRunAt] {
        bench.renew();
        bench.create(job_key("k").attempts(5));
        let running = bench.fetch_one();
        bench.pass(SECOND);
        let answer = bench.enqueue(job_key("k").args("[2]").attempts(5).mode(mode));
        assert_eq!(answer.verdict, Verdict::Created, "{mode:?}");
        let old = bench.job(running.id);
        assert_eq!(answer.changed, [(State::Active, old.clone())]);
        let key = job_key_of("k");
        let release = Release { at: bench.now, key, by: Releaser::NewerJob, reason: None };
        assert_eq!((old.key, old.released), (None, Some(release)));
        assert_eq!((old.spec.retry.max_attempts, old.attempt), (1, 1), "it has no attempt left");
        assert_eq!((old.phase, old.fence), (running.phase, running.fence), "its lease goes on");
        assert_eq!((old.spec.args.as_str(), old.ledger.count()), ("[]", 0));
        let new = bench.job(answer.job.id);
        assert_eq!((new.state(), new.attempt, new.key), (State::Available, 0, Some(key)));
        assert_eq!(new.spec.retry.max_attempts, 5);
    }
}

pub(super) fn a_superseded_job_that_fails_is_not_tried_again(bench: &mut Bench) {
    let (running, newer) = superseded(bench);
    let change = bench.fail(&running).unwrap();
    assert_eq!(change, went(State::Active, bench.job(running.id)));
    assert_eq!(bench.state(running.id), State::Discarded);
    assert_eq!(bench.fetch_ids(9), [newer]);
}

pub(super) fn a_superseded_job_may_still_succeed(bench: &mut Bench) {
    let (running, newer) = superseded(bench);
    bench.heartbeat(&running).unwrap();
    bench.acknowledge(&running).unwrap();
    assert_eq!([running.id, newer].map(|id| bench.state(id)), [State::Completed, State::Available]);
    bench.update(newer, job_key("k"));
}

pub(super) fn a_superseded_job_whose_lease_runs_out_is_not_tried_again(bench: &mut Bench) {
    let (running, newer) = superseded(bench);
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.state(running.id), State::Discarded);
    assert_eq!(bench.fetch_ids(9), [newer]);
}

pub(super) fn a_superseded_job_that_runs_too_long_is_not_tried_again(bench: &mut Bench) {
    let (running, newer) = superseded_by(bench, job_key("k").timeout(MINUTE), job_key("k"));
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.state(running.id), State::Discarded);
    assert_eq!(bench.fetch_ids(9), [newer]);
}

pub(super) fn a_superseded_job_has_no_attempt_left_whatever_attempt_it_runs(bench: &mut Bench) {
    bench.create(job_key("k").attempts(9));
    for _ in 0..3 {
        let running = bench.fetch_one();
        bench.fail(&running).unwrap();
        bench.pass_and_advance(HOUR);
    }
    let running = bench.fetch_one();
    bench.create(job_key("k"));
    assert_eq!((running.attempt, bench.job(running.id).spec.retry.max_attempts), (4, 4));
    bench.fail(&running).unwrap();
    assert_eq!(bench.state(running.id), State::Discarded);
}

pub(super) fn a_newer_job_of_the_name_lives_by_itself(bench: &mut Bench) {
    let (running, newer) = superseded(bench);
    bench.step(running.id, Event::Cancel).unwrap();
    assert_eq!(bench.state(newer), State::Available, "it does not end with the old one");
    let second = bench.fetch_one();
    assert_eq!((second.id, second.attempt), (newer, 1));
    bench.fail(&second).unwrap();
    assert_eq!(bench.state(newer), State::Retryable, "it has its own attempts");
}

pub(super) fn the_next_of_the_name_goes_to_the_newer_job(bench: &mut Bench) {
    let (running, newer) = superseded(bench);
    let before = bench.job(running.id);
    bench.update(newer, job_key("k").args("[3]"));
    assert_eq!(bench.job(running.id), before, "the old one is out of it");
    let answer = bench.enqueue(job_key("k").mode(JobKeyMode::UnsafeDedupe));
    assert_eq!((answer.verdict, answer.job.id), (Verdict::Existing, newer));
}

pub(super) fn each_newer_job_supersedes_the_one_before(bench: &mut Bench) {
    let mut running = Vec::new();
    for _ in 0..3 {
        bench.create(job_key("k"));
        running.push(bench.fetch_one());
    }
    let keys: Vec<bool> = running.iter().map(|job| bench.job(job.id).key.is_some()).collect();
    assert_eq!(keys, [false, false, true]);
    assert_eq!(bench.totals().keys_held, 1);
    for job in &running {
        bench.acknowledge(job).unwrap();
    }
}

pub(super) fn payloads_of_a_running_job_and_a_newer_one_stay_apart(bench: &mut Bench) {
    let (running, newer) = superseded_by(bench, job_key("k").args("[[1]]"), job_key("k").args("[[2]]"));
    let args = |id| bench.job(id).spec.args.as_str().to_owned();
    assert_eq!((args(running.id), args(newer)), ("[[1]]".to_owned(), "[[2]]".to_owned()));
}

pub(super) fn a_newer_job_may_start_later_than_the_running_one_ends(bench: &mut Bench) {
    let at = bench.now + HOUR;
    let (running, newer) = superseded_by(bench, job_key("k"), job_key("k").scheduled_at(at));
    assert_eq!(bench.state(newer), State::Scheduled);
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.state(newer), State::Scheduled);
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.fetch_ids(1), [newer]);
}

pub(super) fn a_superseded_job_that_is_revived_comes_back_without_the_name(bench: &mut Bench) {
    let (running, newer) = superseded(bench);
    bench.fail_with(&running, Directive::DeadLetter, Handback::Failed).unwrap();
    bench.step(running.id, Event::Revive { patch: hapax_core::SpecPatch::default() }).unwrap();
    let old = bench.job(running.id);
    assert_eq!((old.key, old.reentered_beside), (None, None));
    bench.update(newer, job_key("k"));
    assert_eq!(bench.fetch_ids(9), [newer, running.id]);
}

pub(super) fn a_lease_on_the_old_job_is_none_on_the_newer_one(bench: &mut Bench) {
    let (running, newer) = superseded(bench);
    let before = bench.job(running.id);
    bench.reopen();
    assert_eq!(bench.job(running.id), before);
    bench.update(newer, job_key("k"));
    let lost = Refusal::LeaseLost { id: newer, state: State::Available };
    let claimant = holder_of(&running);
    assert_eq!(bench.step(newer, Event::Acknowledge { claimant, result: None }), Err(lost));
}
