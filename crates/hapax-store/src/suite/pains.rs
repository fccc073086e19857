//! What other systems got wrong, class by class. Each case is named after the pain and shows that it cannot be had here.

use std::time::Duration;

use hapax_core::unique::{Anchor, Field, FieldSet, JobKeyMode, Replacement, Strategy};
use hapax_core::{Admission, Event, Job, JobId, Refusal, SpecPatch, State, StateSet, Verdict};

use super::bench::{Bench, DAY, HOUR, INSTANT, MINUTE, SECOND, waits_for};
use super::draft::{Draft, job_key, unique};

fn revive() -> Event {
    Event::Revive { patch: SpecPatch::default() }
}

/// A policy that lets go of its key while the job runs or waits for a retry.
fn holey(key: &str) -> Draft {
    unique(key).states(StateSet::of(&[State::Available, State::Scheduled]))
}

/// What an answer shows is what is stored.
#[track_caller]
fn is_stored(bench: &Bench, answer: &Admission) {
    assert_eq!(bench.get(answer.job.id).as_ref(), Some(&answer.job), "{:?}", answer.verdict);
}

/// A job whose attempt failed for good, as a dead letter.
fn dead(bench: &mut Bench, draft: Draft) -> JobId {
    let id = bench.create(draft.dies_at_once());
    let running = bench.fetch_one();
    assert_eq!(running.id, id);
    bench.fail(&running).unwrap();
    id
}

pub(super) fn reentry_by_retry_finds_its_key_taken_and_goes_on(bench: &mut Bench) {
    let first = bench.create(holey("k"));
    let running = bench.fetch_one();
    bench.fail(&running).unwrap();
    let second = bench.create(holey("k"));
    bench.pass_and_advance(SECOND);
    assert_eq!([first, second].map(|id| bench.state(id)), [State::Available; 2]);
    assert_eq!(bench.job(first).reentered_beside, Some(second), "and says so");
    assert_eq!(bench.fetch_ids(9), [second, first]);
}

pub(super) fn reentry_by_rescue_finds_its_key_taken_and_goes_on(bench: &mut Bench) {
    let first = bench.create(holey("k"));
    bench.fetch_one();
    let second = bench.create(holey("k"));
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.job(first).reentered_beside, Some(second));
    assert_eq!(bench.fetch_ids(9), [second, first]);
}

pub(super) fn reentry_by_promotion_finds_its_key_taken_and_goes_on(bench: &mut Bench) {
    let in_line = || unique("k").states(StateSet::of(&[State::Available]));
    let scheduled = bench.create(in_line().scheduled_at(bench.now + MINUTE));
    let pending = bench.create(in_line().pending());
    let live = bench.create(in_line());
    bench.pass_and_advance(MINUTE);
    bench.step(pending, Event::Activate).unwrap();
    assert_eq!(bench.job(scheduled).reentered_beside, Some(live));
    assert!(bench.job(pending).reentered_beside.is_some());
    assert_eq!(bench.fetch_ids(9), [live, scheduled, pending]);
}

pub(super) fn reentry_by_an_operators_retry_finds_its_key_taken_and_goes_on(bench: &mut Bench) {
    let letter = dead(bench, unique("k"));
    let live = bench.create(unique("k"));
    bench.step(letter, revive()).unwrap();
    assert_eq!(bench.job(letter).reentered_beside, Some(live));
    assert_eq!(bench.fetch_ids(9), [live, letter]);
}

pub(super) fn reentry_of_a_successor_finds_its_key_taken_and_goes_on(bench: &mut Bench) {
    let in_line = StateSet::of(&[State::Active, State::Pending, State::Available]);
    let latest = || unique("k").queue_latest().states(in_line);
    bench.create(latest());
    let running = bench.fetch_one();
    let waiting = bench.create(latest());
    bench.fail(&running).unwrap();
    bench.step(waiting, Event::Activate).unwrap();
    bench.pass_and_advance(SECOND);
    assert_eq!(bench.job(running.id).reentered_beside, Some(waiting), "both live, and it says so");
    assert_eq!(bench.fetch_ids(9), [waiting, running.id]);
}

pub(super) fn reentry_with_a_job_key_finds_its_name_still_its_own(bench: &mut Bench) {
    let retried = bench.create(job_key("a"));
    let running = bench.fetch_one();
    bench.fail(&running).unwrap();
    let letter = dead(bench, job_key("b"));
    for (name, holder) in [("a", retried), ("b", letter)] {
        let answer = bench.enqueue(job_key(name).mode(JobKeyMode::UnsafeDedupe));
        assert_eq!(
            (answer.verdict, answer.job.id),
            (Verdict::Existing, holder),
            "nobody can take it meanwhile"
        );
    }
    bench.pass_and_advance(SECOND);
    bench.step(letter, revive()).unwrap();
    assert_eq!([retried, letter].map(|id| bench.job(id).reentered_beside), [None; 2]);
    bench.update(letter, job_key("b").args("[2]"));
    assert_eq!(bench.fetch_ids(9), [retried, letter]);
}

pub(super) fn reentry_by_a_rescue_of_a_superseded_job_does_not_take_its_name_back(bench: &mut Bench) {
    bench.create(job_key("k"));
    let lost = bench.fetch_one();
    let newer = bench.create(job_key("k"));
    bench.pass_and_advance(HOUR);
    assert_eq!(bench.state(lost.id), State::Discarded);
    let answer = bench.enqueue(job_key("k").mode(JobKeyMode::UnsafeDedupe));
    assert_eq!(answer.job.id, newer);
    bench.acknowledge(&lost).unwrap();
    assert_eq!(bench.state(newer), State::Available, "the zombie ends its own job only");
}

pub(super) fn a_success_is_never_told_without_a_job_that_can_be_read(bench: &mut Bench) {
    let fields = Replacement::everywhere(FieldSet::default().with(Field::Args));
    for state in State::ALL {
        let all = || unique("k").states(StateSet::ALL).args("[[2]]");
        let mut drafts: Vec<Draft> = Strategy::ALL.map(|strategy| all().on_conflict(strategy)).to_vec();
        drafts.extend([all().replacing(fields), all().queue_latest()]);
        drafts.extend([
            unique("k").debounced(MINUTE, None),
            unique("k").debounced(MINUTE, None).queue_latest(),
        ]);
        for draft in drafts {
            bench.renew();
            bench.create_in(state, unique("k").args("[[1]]"));
            let answer = bench.enqueue(draft);
            is_stored(bench, &answer);
        }
        for mode in JobKeyMode::ALL {
            bench.renew();
            bench.create_in(state, job_key("k").args("[[1]]"));
            let answer = bench.enqueue(job_key("k").mode(mode).args("[[2]]"));
            is_stored(bench, &answer);
        }
    }
}

pub(super) fn a_list_with_duplicates_of_itself_tells_of_no_job_that_is_not_there(bench: &mut Bench) {
    let drafts = vec![
        unique("a"),
        unique("a").on_conflict(Strategy::Replace),
        unique("a").on_conflict(Strategy::Ignore),
        job_key("b"),
        job_key("b"),
        unique("a"),
    ];
    for answer in bench.enqueue_each(drafts) {
        let answer = answer.unwrap();
        assert!(bench.get(answer.job.id).is_some(), "{:?}", answer.verdict);
        for (_, job) in &answer.changed {
            assert!(bench.get(job.id).is_some());
        }
    }
}

pub(super) fn an_ended_holder_holds_only_whom_it_was_asked_to_hold(bench: &mut Bench) {
    for state in State::ALL.into_iter().filter(|state| state.is_terminal()) {
        bench.renew();
        bench.create_in(state, unique("k"));
        assert_eq!(bench.enqueue(unique("k").states(StateSet::of(&[state]))).verdict, Verdict::Rejected);
        for draft in [unique("k"), unique("k").queue_latest(), unique("k").debounced(MINUTE, None)] {
            let id = bench.create(draft);
            bench.step(id, Event::Cancel).unwrap();
        }
    }
}

/// A worker that comes back to a job after something was decided without it.
#[track_caller]
fn is_a_zombie(bench: &Bench, lost: &Job) {
    let before = bench.job(lost.id);
    let refused = Refusal::LeaseLost { id: lost.id, state: before.state() };
    for answer in [bench.acknowledge(lost), bench.fail(lost), bench.heartbeat(lost)] {
        assert_eq!(answer, Err(refused.clone()));
    }
    assert_eq!(bench.job(lost.id), before, "and changes nothing");
}

pub(super) fn a_zombie_of_a_replaced_or_cancelled_job_changes_nothing(bench: &mut Bench) {
    bench.create(unique("k"));
    let replaced = bench.fetch_one();
    bench.enqueue(unique("k").on_conflict(Strategy::Replace));
    let cancelled = bench.fetch_one();
    bench.step(cancelled.id, Event::Cancel).unwrap();
    is_a_zombie(bench, &replaced);
    is_a_zombie(bench, &cancelled);
    bench.create(unique("k"));
}

pub(super) fn a_zombie_of_a_job_that_was_renewed_by_its_name_does_not_end_the_new_work(bench: &mut Bench) {
    for attempts in [3, 1] {
        bench.renew();
        bench.create(job_key("k").attempts(attempts));
        let lost = bench.fetch_one();
        bench.pass_and_advance(HOUR);
        bench.update(lost.id, job_key("k").args("[2]"));
        is_a_zombie(bench, &lost);
        let running = bench.fetch_one();
        is_a_zombie(bench, &lost);
        assert!(running.fence > lost.fence);
        bench.acknowledge(&running).unwrap();
    }
}

pub(super) fn a_zombie_of_a_job_that_was_put_off_does_not_end_the_new_work(bench: &mut Bench) {
    bench.create(unique("k"));
    let lost = bench.fetch_one();
    bench.pass_and_advance(HOUR);
    bench.update(lost.id, unique("k").debounced(MINUTE, None).args("[2]"));
    is_a_zombie(bench, &lost);
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.fetch_one().spec.args.as_str(), "[2]");
}

pub(super) fn a_zombie_and_its_rescuer_let_a_successor_go_once(bench: &mut Bench) {
    bench.create(unique("k"));
    let lost = bench.fetch_one();
    let waiting = bench.create(unique("k").queue_latest());
    bench.pass_and_advance(HOUR);
    let rescued = bench.fetch_one();
    assert_eq!(rescued.id, lost.id);
    is_a_zombie(bench, &lost);
    assert_eq!(waits_for(&bench.job(waiting)), Some(lost.id));
    bench.acknowledge(&rescued).unwrap();
    let running = bench.fetch_one();
    assert_eq!(running.id, waiting);
    bench.acknowledge(&rescued).unwrap_err();
    assert_eq!(bench.state(waiting), State::Active);
}

pub(super) fn a_window_leaks_at_neither_edge(bench: &mut Bench) {
    let windows = [
        (Anchor::CreatedAt, Duration::ZERO),
        (Anchor::ScheduledAt, MINUTE),
        (Anchor::FinishedAt, MINUTE * 2),
    ];
    for (anchor, offset) in windows {
        bench.renew();
        let incoming = || unique("k").states(StateSet::ALL).period(DAY, anchor);
        let begin = bench.now;
        bench.create(incoming().scheduled_at(begin + MINUTE));
        bench.pass_and_advance(MINUTE);
        let running = bench.fetch_one();
        bench.pass(MINUTE);
        bench.acknowledge(&running).unwrap();
        bench.now = begin + offset + DAY - INSTANT;
        assert_eq!(bench.enqueue(incoming()).verdict, Verdict::Rejected, "{anchor:?}: one instant before");
        bench.pass(INSTANT);
        bench.create(incoming());
    }
}

pub(super) fn a_holder_turned_away_a_thousand_and_knows_it(bench: &mut Bench) {
    let holder = bench.create(unique("k"));
    bench.enqueue_each((0..1000).map(|_| unique("k")).collect());
    assert_eq!(bench.job(holder).ledger.count(), 1000);
}

pub(super) fn a_zombie_of_a_job_whose_debouncing_is_over_does_not_end_the_new_work(bench: &mut Bench) {
    let draft = || unique("k").debounced(SECOND, Some(MINUTE));
    bench.create(draft());
    bench.pass_and_advance(SECOND);
    let lost = bench.fetch_one();
    bench.pass_and_advance(HOUR);
    bench.update(lost.id, draft().args("[2]"));
    bench.acknowledge(&lost).unwrap_err();
    assert_eq!(bench.fetch_one().spec.args.as_str(), "[2]");
}

pub(super) fn a_zombie_of_a_job_with_replaced_arguments_does_not_end_the_new_work(bench: &mut Bench) {
    let draft = |field| unique("k").replacing(Replacement::everywhere(FieldSet::default().with(field)));
    bench.create(draft(Field::Args));
    let lost = bench.fetch_one();
    bench.pass_and_advance(HOUR);
    bench.update(lost.id, draft(Field::Args).args("[2]"));
    bench.acknowledge(&lost).unwrap_err();
    let again = bench.fetch_one();
    bench.pass_and_advance(HOUR);
    bench.update(lost.id, draft(Field::Priority).priority(9));
    bench.acknowledge(&again).unwrap();
}
