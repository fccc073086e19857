//! Removal by job key: what waits or was given up goes, what runs loses its name and its retries.

use hapax_core::unique::{JobKeyMode, Release, Releaser};
use hapax_core::{Event, Refusal, State};

use super::bench::{ALL, Bench, HOUR, job_key_of, successors_of};
use super::draft::{job_key, plain, unique};
use super::place::Place;
use crate::{Action, Change};

pub(super) fn a_job_that_waits_or_was_given_up_is_removed(bench: &mut Bench) {
    for place in Place::all() {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let before = bench.job(holder);
        assert_eq!(
            bench.remove_job_key("k"),
            Ok(vec![Change::Removed { job: before, followers: Vec::new() }]),
            "{place:?}"
        );
        assert_eq!(bench.get(holder), None);
        assert_eq!(bench.totals().keys_held, 0);
        assert_eq!(bench.fetch_ids(1), []);
        assert_eq!(bench.advance().next_due, None, "{place:?}: its timer went with it");
        assert_eq!(bench.remove_job_key("k"), Err(Refusal::KeyNotHeld), "once");
        bench.create(job_key("k").mode(JobKeyMode::UnsafeDedupe));
    }
}

pub(super) fn a_removed_dead_letter_leaves_the_list(bench: &mut Bench) {
    let holder = bench.create(job_key("k").dies_at_once());
    let running = bench.fetch_one();
    bench.fail(&running).unwrap();
    assert_eq!(bench.totals().dead_letters, 1);
    bench.remove_job_key("k").unwrap();
    assert_eq!((bench.totals().dead_letters, bench.get(holder)), (0, None));
}

pub(super) fn a_running_job_loses_its_name_and_its_retries(bench: &mut Bench) {
    let holder = bench.create_in(State::Active, job_key("k").attempts(5));
    let running = bench.job(holder);
    let changes = bench.remove_job_key("k").unwrap();
    let job = bench.job(holder);
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].job(), successors_of(&changes[0])), (&job, Vec::new()));
    let release = Release { at: bench.now, key: job_key_of("k"), by: Releaser::Removal, reason: None };
    assert_eq!((job.key, job.released.as_ref()), (None, Some(&release)));
    assert_eq!((job.spec.retry.max_attempts, &job.phase), (1, &running.phase));
    bench.fail(&running).unwrap();
    assert_eq!(bench.state(holder), State::Discarded);
}

pub(super) fn a_running_job_whose_name_was_removed_may_still_succeed(bench: &mut Bench) {
    let holder = bench.create_in(State::Active, job_key("k"));
    let running = bench.job(holder);
    bench.remove_job_key("k").unwrap();
    let next = bench.create(job_key("k"));
    bench.acknowledge(&running).unwrap();
    assert_eq!([holder, next].map(|id| bench.state(id)), [State::Completed, State::Available]);
}

pub(super) fn a_job_that_is_over_has_no_name_to_remove(bench: &mut Bench) {
    for state in [State::Completed, State::Cancelled] {
        bench.renew();
        let over = bench.create_in(state, job_key("k"));
        let before = bench.job(over);
        assert_eq!(bench.remove_job_key("k"), Err(Refusal::KeyNotHeld), "{state}");
        assert_eq!(bench.job(over), before);
    }
}

pub(super) fn a_name_that_nobody_has_cannot_be_removed(bench: &mut Bench) {
    bench.create(plain());
    bench.create(job_key("other"));
    assert_eq!(bench.remove_job_key("k"), Err(Refusal::KeyNotHeld));
    assert_eq!(bench.totals().counts.of(State::Available), 2);
}

pub(super) fn jobs_that_are_over_are_passed_over(bench: &mut Bench) {
    let done = bench.create_in(State::Completed, job_key("k"));
    let cancelled = bench.create_in(State::Cancelled, job_key("k"));
    bench.pass(HOUR);
    let holder = bench.create(job_key("k"));
    let changes = bench.remove_job_key("k").unwrap();
    assert_eq!(changes.iter().map(|change| change.job().id).collect::<Vec<_>>(), [holder]);
    assert_eq!([done, cancelled].map(|id| bench.state(id)), [State::Completed, State::Cancelled]);
}

pub(super) fn a_superseded_job_is_not_touched_by_a_removal(bench: &mut Bench) {
    bench.create(job_key("k"));
    let running = bench.fetch_one();
    let newer = bench.create(job_key("k"));
    let before = bench.job(running.id);
    bench.remove_job_key("k").unwrap();
    assert_eq!((bench.get(newer), bench.job(running.id)), (None, before));
    bench.acknowledge(&running).unwrap();
}

pub(super) fn a_removed_job_leaves_its_id_free(bench: &mut Bench) {
    let holder = bench.create(job_key("k"));
    bench.remove_job_key("k").unwrap();
    let incoming = Box::new(plain().incoming(holder));
    bench.act(Action::Enqueue { incoming, memo: None }).unwrap();
    assert_eq!(bench.job(holder).key, None);
}

pub(super) fn a_removed_job_refuses_what_comes_too_late(bench: &mut Bench) {
    let holder = bench.create_at(Place::Lapsed, job_key("k"));
    bench.remove_job_key("k").unwrap();
    let claimant = hapax_core::Claimant::UNNAMED;
    let late = bench.step(holder, Event::Acknowledge { claimant, result: None });
    assert_eq!(late, Err(Refusal::NotFound(holder)));
}

pub(super) fn a_job_without_a_name_refuses_its_removal(bench: &mut Bench) {
    let id = bench.create(plain());
    assert_eq!(bench.step(id, Event::RemoveByKey), Err(Refusal::KeyNotHeld));
    assert_eq!(bench.state(id), State::Available);
}

pub(super) fn a_job_with_a_policy_has_no_name_to_remove(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    let running = bench.create_in(State::Active, unique("running").priority(9));
    let before = [bench.job(holder), bench.job(running)];
    for id in [holder, running] {
        assert_eq!(bench.step(id, Event::RemoveByKey), Err(Refusal::KeyNotHeld));
        let key = bench.job(id).key.unwrap();
        assert_eq!(bench.step_holders(key, Event::RemoveByKey, ALL), Err(Refusal::KeyNotHeld));
    }
    assert_eq!([bench.job(holder), bench.job(running)], before);
}
