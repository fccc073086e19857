//! Release: an operator takes a key away, and the job goes on without it.

use hapax_core::unique::{Anchor, JobKeyMode, Release, Releaser, Strategy};
use hapax_core::{Event, Job, JobId, Refusal, State, StateSet, Verdict};

use super::bench::{ALL, Bench, DAY, HOUR, SECOND, job_key_of, release, successors_of, waits_for, went};
use super::draft::{Draft, job_key, plain, unique};
use crate::Change;

/// The key of such a draft.
fn key_of(draft: &Draft) -> hapax_core::unique::Key {
    draft.key.expect("a draft with a key")
}

fn ids(changes: &[Change]) -> Vec<JobId> {
    changes.iter().map(|change| change.job().id).collect()
}

/// Two jobs that carry `k` side by side, the older first.
fn two_holders(bench: &mut Bench) -> [JobId; 2] {
    let draft = || unique("k").states(StateSet::of(&[State::Completed]));
    let older = bench.create(draft());
    bench.pass(SECOND);
    [older, bench.create(draft())]
}

pub(super) fn a_holder_in_any_state_gives_up_its_key_and_nothing_else(bench: &mut Bench) {
    for state in State::ALL {
        bench.renew();
        let holder = bench.create_in(state, unique("k"));
        let before = bench.job(holder);
        bench.pass(SECOND);
        let changes = bench.release(key_of(&unique("k"))).unwrap();
        let job = bench.job(holder);
        let expected = went(state, job.clone());
        assert_eq!(changes, [expected], "{state}");
        let reason = Some("the host is gone".into());
        let key = key_of(&unique("k"));
        let released = Some(Release { at: bench.now, key, by: Releaser::Operator, reason });
        assert_eq!(job, Job { key: None, released, ..before }, "{state}");
        assert_eq!(bench.totals().keys_held, 0);
        bench.reopen();
        assert_eq!(bench.job(holder), job);
    }
}

pub(super) fn a_released_key_is_free_for_the_next(bench: &mut Bench) {
    for state in State::ALL {
        bench.renew();
        bench.create_in(state, unique("k"));
        bench.release(key_of(&unique("k"))).unwrap();
        let next = bench.create(unique("k").states(StateSet::ALL));
        let answer = bench.enqueue(unique("k").states(StateSet::ALL).on_conflict(Strategy::Ignore));
        assert_eq!((answer.verdict, answer.job.id), (Verdict::Existing, next), "{state}");
    }
}

pub(super) fn a_released_job_key_is_free_for_the_next(bench: &mut Bench) {
    let holder = bench.create_in(State::Discarded, job_key("k"));
    bench.release(job_key_of("k")).unwrap();
    let next = bench.create(job_key("k").mode(JobKeyMode::UnsafeDedupe));
    assert_ne!(next, holder);
    assert_eq!(bench.state(holder), State::Discarded);
}

pub(super) fn a_released_job_goes_on_with_all_its_attempts(bench: &mut Bench) {
    bench.create(unique("k"));
    let running = bench.fetch_one();
    bench.release(key_of(&unique("k"))).unwrap();
    let next = bench.create(unique("k"));
    bench.heartbeat(&running).unwrap();
    bench.fail(&running).unwrap();
    bench.pass_and_advance(SECOND);
    assert_eq!(bench.job(running.id).reentered_beside, None, "it has no key to come back to");
    let jobs = bench.fetch(&["default"], 9);
    assert_eq!(jobs.iter().map(|job| job.id).collect::<Vec<_>>(), [next, running.id]);
    bench.acknowledge(&jobs[1]).unwrap();
    assert_eq!(bench.state(running.id), State::Completed);
}

pub(super) fn a_key_that_nobody_carries_cannot_be_released(bench: &mut Bench) {
    bench.create(plain());
    bench.create(unique("other"));
    assert_eq!(bench.release(key_of(&unique("k"))), Err(Refusal::KeyNotHeld));
    bench.create(unique("k"));
    bench.release(key_of(&unique("k"))).unwrap();
    assert_eq!(bench.release(key_of(&unique("k"))), Err(Refusal::KeyNotHeld), "once");
}

pub(super) fn a_job_without_a_key_refuses_its_release(bench: &mut Bench) {
    let id = bench.create(plain());
    assert_eq!(bench.step(id, release()), Err(Refusal::KeyNotHeld));
    let holder = bench.create(unique("k"));
    bench.step(holder, release()).unwrap();
    let first = bench.job(holder).released;
    assert_eq!(bench.step(holder, Event::Release { reason: None }), Err(Refusal::KeyNotHeld));
    assert_eq!(bench.job(holder).released, first);
}

pub(super) fn all_holders_give_up_the_key_the_living_first(bench: &mut Bench) {
    let [older, newer] = two_holders(bench);
    bench.pass(SECOND);
    let done = bench.create_in(State::Cancelled, unique("k").states(StateSet::of(&[State::Completed])));
    assert_eq!(ids(&bench.release(key_of(&unique("k"))).unwrap()), [newer, older, done]);
    assert_eq!(bench.totals().keys_held, 0);
    assert_eq!([older, newer, done].map(|id| bench.job(id).key), [None; 3]);
}

pub(super) fn of_equally_new_holders_the_larger_id_is_first(bench: &mut Bench) {
    let draft = || unique("k").states(StateSet::of(&[State::Completed]));
    let mut made: Vec<JobId> = (0..5).map(|_| bench.create(draft())).collect();
    made.sort();
    made.reverse();
    assert_eq!(ids(&bench.release(key_of(&unique("k"))).unwrap()), made);
}

pub(super) fn a_release_stops_at_its_limit(bench: &mut Bench) {
    let [older, newer] = two_holders(bench);
    let key = key_of(&unique("k"));
    assert_eq!(ids(&bench.step_holders(key, release(), 1).unwrap()), [newer]);
    assert_eq!(bench.job(older).key, Some(key));
    assert_eq!(ids(&bench.step_holders(key, release(), 1).unwrap()), [older]);
    assert_eq!(bench.step_holders(key, release(), 1), Err(Refusal::KeyNotHeld));
}

pub(super) fn those_to_whom_it_cannot_happen_do_not_use_up_the_limit(bench: &mut Bench) {
    let draft = || unique("k").states(StateSet::of(&[State::Available]));
    let live = bench.create_in(State::Pending, draft());
    bench.pass(SECOND);
    bench.create_in(State::Completed, draft());
    bench.create_in(State::Cancelled, draft());
    let changes = bench.step_holders(key_of(&draft()), Event::Cancel, 1).unwrap();
    assert_eq!(ids(&changes), [live]);
    assert_eq!(bench.step_holders(key_of(&draft()), Event::Cancel, ALL), Err(Refusal::KeyNotHeld));
}

pub(super) fn a_release_lets_a_successor_go_without_its_key(bench: &mut Bench) {
    let running = bench.create_in(State::Active, unique("k"));
    bench.pass(SECOND);
    let waiting = bench.create(unique("k").queue_latest());
    let changes = bench.release(key_of(&unique("k"))).unwrap();
    assert_eq!(ids(&changes), [waiting, running]);
    assert_eq!(waits_for(changes[0].job()), Some(running), "released first, and still waiting");
    assert_eq!(successors_of(&changes[1]), [bench.job(waiting)]);
    assert_eq!((bench.state(waiting), bench.job(waiting).key), (State::Available, None));
    bench.create(unique("k"));
}

pub(super) fn a_released_job_is_not_kept_for_its_window(bench: &mut Bench) {
    let protected = || unique("k").states(StateSet::ALL).period(DAY * 60, Anchor::FinishedAt);
    let holder = bench.create_in(State::Completed, protected());
    assert_eq!(bench.advance().next_due, Some(bench.now + DAY * 60));
    bench.release(key_of(&protected())).unwrap();
    assert_eq!(bench.advance().next_due, Some(bench.now + DAY * 7), "its timer moves at once");
    bench.pass_and_advance(DAY * 7);
    assert_eq!(bench.get(holder), None);
}

pub(super) fn a_release_is_kept_through_the_rest_of_a_jobs_life(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    bench.release(key_of(&unique("k"))).unwrap();
    let told = bench.job(holder).released;
    let running = bench.fetch_one();
    bench.fail(&running).unwrap();
    bench.pass_and_advance(HOUR);
    bench.complete_one();
    assert_eq!((bench.job(holder).released, told.is_some()), (told, true));
}

pub(super) fn a_released_key_does_not_come_back_with_an_operators_retry(bench: &mut Bench) {
    let holder = bench.create(unique("k").dies_at_once());
    let running = bench.fetch_one();
    bench.fail(&running).unwrap();
    bench.release(key_of(&unique("k"))).unwrap();
    bench.create(unique("k"));
    let queue = Some(super::draft::queue("other"));
    let patch = hapax_core::SpecPatch { queue, ..hapax_core::SpecPatch::default() };
    bench.step(holder, Event::Revive { patch }).unwrap();
    assert_eq!((bench.job(holder).key, bench.job(holder).reentered_beside), (None, None));
}
