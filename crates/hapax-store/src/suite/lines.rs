//! Ordering keys: jobs that share one run one after the other.

use hapax_core::unique::Strategy;
use hapax_core::{
    Bound, Directive, Event, Handback, JobId, Overflow, Refusal, SpecPatch, State, StateSet, Verdict,
};

use super::bench::{Bench, HOUR, MINUTE, SECOND, release, successors_of, waits_for};
use super::draft::{Draft, job_key, plain, unique};
use crate::Change;

fn ordered() -> Draft {
    plain().ordered("k")
}

fn line(bench: &mut Bench, count: usize) -> Vec<JobId> {
    (0..count).map(|_| bench.create(ordered())).collect()
}

/// For whom each of them waits.
fn waiting(bench: &Bench, ids: &[JobId]) -> Vec<Option<JobId>> {
    ids.iter().map(|id| waits_for(&bench.job(*id))).collect()
}

/// They run in this order, and never two of them at once.
#[track_caller]
fn run_in_order(bench: &mut Bench, ids: &[JobId]) {
    for id in ids {
        let job = bench.fetch_one();
        assert_eq!(job.id, *id);
        assert_eq!(bench.fetch_ids(9), [], "no other runs beside it");
        bench.acknowledge(&job).unwrap();
    }
    assert_eq!(bench.fetch_ids(9), []);
}

pub(super) fn jobs_of_one_key_run_one_after_the_other(bench: &mut Bench) {
    let ids = line(bench, 4);
    assert_eq!(waiting(bench, &ids), [None, Some(ids[0]), Some(ids[1]), Some(ids[2])]);
    run_in_order(bench, &ids);
    let later = line(bench, 2);
    run_in_order(bench, &later);
}

pub(super) fn other_keys_queues_and_jobs_do_not_wait(bench: &mut Bench) {
    let mut ids =
        vec![bench.create(ordered()), bench.create(plain().ordered("other")), bench.create(plain())];
    ids.push(bench.create(ordered().queue("b")));
    assert_eq!(waiting(bench, &ids), [None; 4]);
    assert_eq!(bench.fetch(&["default", "b"], 9).len(), 4);
}

pub(super) fn priority_does_not_overtake_in_a_line(bench: &mut Bench) {
    let ids = [bench.create(ordered()), bench.create(ordered().priority(50))];
    run_in_order(bench, &ids);
}

pub(super) fn the_jobs_of_one_batch_stand_in_its_order(bench: &mut Bench) {
    let batch = bench.try_enqueue_all(vec![ordered(), ordered().priority(9), ordered()]).unwrap();
    let ids: Vec<JobId> = batch.iter().map(|admission| admission.job.id).collect();
    run_in_order(bench, &ids);
}

pub(super) fn a_refused_batch_leaves_the_line_as_it_was(bench: &mut Bench) {
    bench.create(unique("taken"));
    let first = bench.create(ordered());
    bench.try_enqueue_all(vec![ordered(), ordered(), unique("taken")]).unwrap_err();
    let second = bench.create(ordered());
    assert_eq!(waiting(bench, &[second]), [Some(first)]);
}

pub(super) fn whoever_waits_for_its_time_holds_the_others_back(bench: &mut Bench) {
    let ids = [bench.create(ordered().scheduled_at(bench.now + HOUR)), bench.create(ordered())];
    assert_eq!(bench.fetch_ids(9), []);
    bench.pass_and_advance(HOUR);
    let first = bench.fetch_one();
    bench.fail(&first).unwrap();
    assert_eq!(bench.state(ids[0]), State::Retryable);
    assert_eq!(bench.fetch_ids(9), [], "a retry holds the others back");
    bench.pass_and_advance(MINUTE);
    run_in_order(bench, &ids);
}

pub(super) fn one_that_is_let_go_still_waits_for_its_time(bench: &mut Bench) {
    let ids = [bench.create(ordered()), bench.create(ordered().scheduled_at(bench.now + HOUR))];
    bench.complete_one();
    assert_eq!(bench.state(ids[1]), State::Scheduled);
    bench.pass_and_advance(HOUR);
    run_in_order(bench, &ids[1..]);
}

pub(super) fn every_end_of_the_first_lets_the_second_go(bench: &mut Bench) {
    type End = fn(&mut Bench, JobId) -> Change;
    let ends: [(Draft, End); 5] = [
        (ordered(), |bench, _| {
            let job = bench.fetch_one();
            bench.acknowledge(&job).unwrap()
        }),
        (ordered(), |bench, id| bench.step(id, Event::Cancel).unwrap()),
        (ordered(), |bench, _| {
            let job = bench.fetch_one();
            bench.fail_with(&job, Directive::Discard, Handback::Failed).unwrap()
        }),
        (ordered().attempts(1), |bench, _| {
            bench.fetch_one();
            bench.pass(HOUR);
            bench.advance().changes.remove(0)
        }),
        (ordered().expires_at(bench.now + MINUTE), |bench, _| {
            bench.pass(MINUTE);
            bench.advance().changes.remove(0)
        }),
    ];
    for (draft, end) in ends {
        bench.renew();
        let first = bench.create(draft);
        let second = bench.create(ordered());
        let change = end(bench, first);
        assert!(bench.state(first).is_terminal());
        let gone: Vec<JobId> = successors_of(&change).iter().map(|job| job.id).collect();
        assert_eq!((gone, bench.state(second)), (vec![second], State::Available));
        run_in_order(bench, &[second]);
    }
}

pub(super) fn at_most_once_goes_on_at_the_fetch(bench: &mut Bench) {
    let ids: Vec<JobId> = (0..4).map(|_| bench.create(ordered().at_most_once())).collect();
    let mut fetched = Vec::new();
    for _ in 0..4 {
        fetched.extend(bench.fetch_ids(2));
    }
    assert_eq!(fetched, ids);
    assert!(ids.iter().all(|id| bench.state(*id) == State::Completed));
}

pub(super) fn jobs_that_expired_meanwhile_do_not_hold_a_fetch_up(bench: &mut Bench) {
    let soon = bench.now + MINUTE;
    let mut ids: Vec<JobId> = (0..3).map(|_| bench.create(ordered().expires_at(soon))).collect();
    ids.push(bench.create(ordered()));
    bench.pass(MINUTE);
    let fetched: Vec<JobId> = (0..4).flat_map(|_| bench.fetch_ids(1)).collect();
    bench.advance();
    let fetched = fetched.into_iter().chain(bench.fetch_ids(1)).collect::<Vec<_>>();
    assert_eq!(fetched, [ids[3]]);
    assert!(ids[..3].iter().all(|id| bench.state(*id) == State::Discarded));
}

pub(super) fn one_that_leaves_while_it_waits_hands_its_place_on(bench: &mut Bench) {
    let ids = line(bench, 4);
    let change = bench.step(ids[1], Event::Cancel).unwrap();
    assert_eq!(successors_of(&change), []);
    assert_eq!(waiting(bench, &ids[2..]), [Some(ids[0]), Some(ids[2])]);
    let running = bench.fetch_one();
    bench.step(ids[2], Event::Cancel).unwrap();
    assert_eq!(waiting(bench, &ids[3..]), [Some(ids[0])]);
    assert_eq!(bench.fetch_ids(9), [], "nobody runs beside the first");
    bench.acknowledge(&running).unwrap();
    run_in_order(bench, &ids[3..]);
}

pub(super) fn the_last_may_leave_and_the_next_stands_behind_the_one_before(bench: &mut Bench) {
    let mut ids = line(bench, 3);
    bench.step(ids[2], Event::Cancel).unwrap();
    ids[2] = bench.create(ordered());
    assert_eq!(waiting(bench, &ids), [None, Some(ids[0]), Some(ids[1])]);
    run_in_order(bench, &ids);
}

pub(super) fn one_that_expires_while_it_waits_hands_its_place_on(bench: &mut Bench) {
    let first = bench.create(ordered());
    let soon = bench.create(ordered().expires_at(bench.now + MINUTE));
    let third = bench.create(ordered());
    bench.fetch_one();
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.state(soon), State::Discarded);
    assert_eq!(waiting(bench, &[third]), [Some(first)]);
}

pub(super) fn one_that_is_replaced_while_it_waits_hands_its_place_on(bench: &mut Bench) {
    let first = bench.create(ordered());
    let replacing = || unique("u").on_conflict(Strategy::Replace).ordered("k");
    let second = bench.create(replacing());
    let third = bench.create(ordered());
    let answer = bench.enqueue(replacing());
    assert_eq!(answer.verdict, Verdict::Replaced(vec![second]));
    run_in_order(bench, &[first, third, answer.job.id]);
}

pub(super) fn many_that_leave_at_once_leave_no_gap(bench: &mut Bench) {
    for leads in [false, true] {
        bench.renew();
        let mut ids = if leads { Vec::new() } else { line(bench, 1) };
        let pair = || unique("u").states(StateSet::of(&[State::Completed])).ordered("k");
        let gone: Vec<JobId> = (0..3).map(|_| bench.create(pair())).collect();
        let plain = bench.create(ordered());
        let late = bench.create(pair());
        ids.push(plain);
        ids.push(bench.create(ordered()));
        let answer = bench.enqueue(unique("u").on_conflict(Strategy::Replace).ordered("k"));
        let Verdict::Replaced(mut replaced) = answer.verdict else { panic!("{:?}", answer.verdict) };
        replaced.sort_unstable();
        let mut expected: Vec<JobId> = gone.into_iter().chain([late]).collect();
        expected.sort_unstable();
        assert_eq!(replaced, expected);
        ids.push(answer.job.id);
        run_in_order(bench, &ids);
    }
}

pub(super) fn one_whose_job_key_is_removed_lets_the_next_go_in_its_turn(bench: &mut Bench) {
    let (first, second) = (bench.create(job_key("a").ordered("k")), bench.create(job_key("b").ordered("k")));
    let third = bench.create(ordered());
    let removed = bench.remove_job_key("b").unwrap();
    assert!(
        matches!(&removed[..], [Change::Removed { job, followers }] if job.id == second && followers.is_empty())
    );
    assert_eq!(waiting(bench, &[third]), [Some(first)]);
    let removed = bench.remove_job_key("a").unwrap();
    assert_eq!(successors_of(&removed[0])[0].id, third, "whoever waited for it goes on");
    run_in_order(bench, &[third]);
}

pub(super) fn a_key_that_is_given_up_lets_nobody_overtake(bench: &mut Bench) {
    let first = bench.create(unique("u").ordered("k"));
    let second = bench.create(ordered());
    let job = bench.fetch_one();
    bench.step(first, release()).unwrap();
    bench.heartbeat(&job).unwrap();
    assert_eq!(waiting(bench, &[second]), [Some(first)]);
    bench.acknowledge(&job).unwrap();
    run_in_order(bench, &[second]);
}

pub(super) fn nobody_activates_one_that_waits_for_its_turn(bench: &mut Bench) {
    let ids = line(bench, 2);
    let refusal = Refusal::NotItsTurn { id: ids[1], after: ids[0] };
    assert_eq!(bench.step(ids[1], Event::Activate), Err(refusal));
    run_in_order(bench, &ids);
}

pub(super) fn a_dead_letter_that_is_revived_goes_to_the_end(bench: &mut Bench) {
    let dead = bench.create(ordered().dies_at_once());
    let mut ids = line(bench, 2);
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    let running = bench.fetch_one();
    let revive = || Event::Revive { patch: SpecPatch::default() };
    bench.step(dead, revive()).unwrap();
    assert_eq!(waiting(bench, &[dead]), [Some(ids[1])]);
    ids.extend([dead, bench.create(ordered())]);
    bench.acknowledge(&running).unwrap();
    run_in_order(bench, &ids[1..]);
    let alone = bench.create(ordered().dies_at_once());
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    bench.step(alone, revive()).unwrap();
    assert_eq!(bench.state(alone), State::Available, "nobody stands before it");
}

pub(super) fn a_dead_letter_may_be_revived_into_another_line(bench: &mut Bench) {
    let dead = bench.create(ordered().dies_at_once());
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    let other = bench.create(ordered().queue("b"));
    let patch = SpecPatch { queue: Some(super::draft::queue("b")), ..SpecPatch::default() };
    bench.step(dead, Event::Revive { patch }).unwrap();
    assert_eq!(waiting(bench, &[dead]), [Some(other)]);
}

pub(super) fn an_update_by_job_key_leaves_a_job_in_its_place(bench: &mut Bench) {
    let named = || job_key("n").ordered("k");
    let ids = [bench.create(ordered()), bench.create(named()), bench.create(ordered())];
    let job = bench.update(ids[1], named().args("[7]"));
    assert_eq!(waits_for(&job), Some(ids[0]));
    for other in [named().queue("b"), job_key("n"), job_key("n").ordered("other")] {
        assert_eq!(bench.try_enqueue(other), Err(Refusal::OtherOrder { id: ids[1] }));
    }
    run_in_order(bench, &ids);
}

pub(super) fn an_update_of_one_that_was_given_up_goes_to_the_end(bench: &mut Bench) {
    let named = || job_key("n").ordered("k").attempts(1);
    let dead = bench.create(named());
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    let mut ids = line(bench, 2);
    bench.pass(SECOND);
    let job = bench.update(dead, named());
    assert_eq!(waits_for(&job), Some(ids[1]));
    ids.push(dead);
    ids.push(bench.create(ordered()));
    run_in_order(bench, &ids);
}

pub(super) fn a_full_queue_gives_up_the_first_and_the_next_goes_on(bench: &mut Bench) {
    let bounded = || Draft { bound: Some(Bound { max: 1, overflow: Overflow::DropOldest }), ..ordered() };
    let first = bench.create(bounded());
    let second = bench.create(bounded());
    assert_eq!(bench.state(first), State::Discarded);
    run_in_order(bench, &[second]);
}

pub(super) fn a_removed_line_is_forgotten(bench: &mut Bench) {
    let ids = line(bench, 3);
    for id in ids.iter().rev() {
        bench.step(*id, Event::Cancel).unwrap();
    }
    let next = bench.create(ordered());
    assert_eq!(bench.state(next), State::Available);
}
