//! One runs, one waits: what becomes of duplicates that come while a holder runs.

use hapax_core::unique::Strategy;
use hapax_core::{Admission, Event, Job, JobId, Phase, Rules, State, StateSet, Verdict};

use super::bench::{Bench, MINUTE, SECOND, release, waits_for};
use super::draft::{Draft, unique};

fn latest() -> Draft {
    unique("k").queue_latest()
}

/// A holder that runs.
fn running(bench: &mut Bench) -> Job {
    let id = bench.create_in(State::Active, latest());
    bench.pass(SECOND);
    bench.job(id)
}

/// A holder that runs, and one that waits for its end.
fn running_and_waiting(bench: &mut Bench) -> (Job, JobId) {
    let running = running(bench);
    let answer = bench.enqueue(latest().args("[2]"));
    assert_eq!(answer.verdict, Verdict::Created);
    assert_eq!(answer.job.phase, Phase::Pending { after: Some(running.id) });
    (running, answer.job.id)
}

pub(super) fn a_duplicate_of_a_running_job_waits_for_its_end(bench: &mut Bench) {
    let running = running(bench);
    let Admission { verdict, job, changed, .. } = bench.enqueue(latest().args("[2]"));
    assert_eq!((verdict, changed), (Verdict::Created, Vec::new()));
    assert_eq!(job.phase, Phase::Pending { after: Some(running.id) });
    assert_eq!((job.enqueued_at, job.activated_at, job.spec.args.as_str()), (None, None, "[2]"));
    assert_eq!(bench.job(running.id), running, "what runs is not touched, not even its ledger");
    assert_eq!((bench.fetch_ids(9), bench.totals().keys_held), (vec![], 2));
    bench.reopen();
    assert_eq!(bench.job(job.id), job);
}

pub(super) fn further_duplicates_are_taken_over_by_the_one_that_waits(bench: &mut Bench) {
    let (running, waiting) = running_and_waiting(bench);
    for number in 3..20 {
        bench.pass(SECOND);
        let job = bench.update(waiting, latest().args(&format!("[{number}]")).priority(number.into()));
        assert_eq!((waits_for(&job), job.spec.priority.get()), (Some(running.id), number));
        assert_eq!(job.spec.args.as_str(), format!("[{number}]"), "the newest wins");
    }
    assert_eq!((bench.job(waiting).ledger.count(), bench.job(running.id).ledger.count()), (17, 0));
    assert_eq!(bench.totals().counts.of(State::Pending), 1);
}

pub(super) fn arrays_are_replaced_and_not_joined(bench: &mut Bench) {
    bench.restart(Rules { joined_bytes_max: 10, ..bench.rules().clone() });
    running(bench);
    let waiting = bench.create(latest().args("[[1]]"));
    let job = bench.update(waiting, latest().args("[[2,3,4,5,6]]"));
    assert_eq!(job.spec.args.as_str(), "[[2,3,4,5,6]]");
}

pub(super) fn while_one_runs_on_conflict_is_not_asked(bench: &mut Bench) {
    for strategy in Strategy::ALL {
        bench.renew();
        let running = running(bench);
        let answer = bench.enqueue(latest().on_conflict(strategy));
        assert_eq!(
            (answer.verdict, waits_for(&answer.job)),
            (Verdict::Created, Some(running.id)),
            "{strategy}"
        );
        bench.update(answer.job.id, latest().on_conflict(strategy));
        assert_eq!(bench.job(running.id), running, "{strategy}");
    }
}

pub(super) fn while_none_runs_on_conflict_decides(bench: &mut Bench) {
    for state in StateSet::INCOMPLETE.iter().filter(|state| state.is_waiting()) {
        bench.renew();
        let holder = bench.create_in(state, latest());
        assert_eq!(bench.enqueue(latest()).verdict, Verdict::Rejected, "{state}");
        let ignored = bench.enqueue(latest().on_conflict(Strategy::Ignore));
        assert_eq!((ignored.verdict, ignored.job.id), (Verdict::Existing, holder), "{state}");
        let replacing = bench.enqueue(latest().on_conflict(Strategy::Replace));
        assert_eq!(replacing.verdict, Verdict::Replaced(vec![holder]), "{state}");
    }
}

pub(super) fn after_the_end_the_key_is_free(bench: &mut Bench) {
    for state in State::ALL.into_iter().filter(|state| state.is_terminal()) {
        bench.renew();
        bench.create_in(state, latest());
        let next = bench.create(latest());
        assert_eq!(bench.state(next), State::Available, "{state}");
    }
}

pub(super) fn a_duplicate_without_the_wish_is_decided_as_ever(bench: &mut Bench) {
    let (_, waiting) = running_and_waiting(bench);
    let answer = bench.enqueue(unique("k"));
    assert_eq!((answer.verdict, answer.job.id), (Verdict::Rejected, waiting), "the newest holder");
}

pub(super) fn a_job_that_waits_beside_a_running_one_is_left_alone(bench: &mut Bench) {
    for state in StateSet::INCOMPLETE.iter().filter(|state| state.is_waiting()) {
        bench.renew();
        let beside = bench.create_in(state, unique("k").priority(-9));
        let runner = unique("k").states(StateSet::of(&[State::Completed]));
        let running = bench.create_in(State::Active, runner);
        bench.pass(SECOND);
        let before = bench.job(beside);
        let queued = bench.create(latest().args("[2]"));
        assert_eq!(waits_for(&bench.job(queued)), Some(running), "{state}");
        assert_eq!(bench.job(beside), before, "{state}");
        bench.update(queued, latest().args("[3]"));
    }
}

pub(super) fn of_several_running_jobs_the_newest_is_waited_for(bench: &mut Bench) {
    let beside = || unique("k").states(StateSet::of(&[State::Completed]));
    bench.create_in(State::Active, beside());
    bench.pass(SECOND);
    let newer = bench.create_in(State::Active, beside());
    assert_eq!(waits_for(&bench.enqueue(latest()).job), Some(newer));
}

pub(super) fn one_that_waits_for_a_job_that_failed_goes_on_taking_over(bench: &mut Bench) {
    let (running, waiting) = running_and_waiting(bench);
    bench.fail(&running).unwrap();
    assert_eq!(bench.state(running.id), State::Retryable);
    let job = bench.update(waiting, latest().args("[3]"));
    assert_eq!(waits_for(&job), Some(running.id));
    bench.pass_and_advance(SECOND);
    assert_eq!(bench.fetch_ids(9), [running.id], "the one before is tried again first");
    bench.update(waiting, latest().args("[4]"));
}

pub(super) fn a_cancelled_successor_is_gone_and_the_next_makes_another(bench: &mut Bench) {
    let (running, waiting) = running_and_waiting(bench);
    bench.step(waiting, Event::Cancel).unwrap();
    let answer = bench.enqueue(latest().args("[3]"));
    assert_eq!((&answer.verdict, waits_for(&answer.job)), (&Verdict::Created, Some(running.id)));
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.state(waiting), State::Cancelled, "it does not come back");
    assert_eq!(bench.fetch_ids(9), [answer.job.id]);
}

pub(super) fn a_successor_that_expires_is_gone_and_the_next_makes_another(bench: &mut Bench) {
    let running = running(bench);
    let waiting = bench.create(latest().expires_at(bench.now + MINUTE));
    bench.pass_and_advance(MINUTE);
    assert_eq!(bench.state(waiting), State::Discarded);
    let next = bench.create(latest());
    assert_eq!(waits_for(&bench.job(next)), Some(running.id));
    bench.acknowledge(&running).unwrap();
    assert_eq!((bench.state(waiting), bench.fetch_ids(9)), (State::Discarded, vec![next]));
}

pub(super) fn an_activated_successor_goes_at_once(bench: &mut Bench) {
    let (running, waiting) = running_and_waiting(bench);
    bench.step(waiting, Event::Activate).unwrap();
    assert_eq!(bench.job(waiting).activated_at, Some(bench.now));
    assert_eq!(bench.fetch_ids(9), [waiting]);
    let next = bench.create(latest());
    assert_eq!(waits_for(&bench.job(next)), Some(waiting), "the newest that runs");
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.state(next), State::Pending, "it waits for the other one");
}

pub(super) fn a_successor_that_lost_its_key_still_waits_and_takes_nothing_over(bench: &mut Bench) {
    let (running, waiting) = running_and_waiting(bench);
    bench.step(waiting, release()).unwrap();
    assert_eq!(waits_for(&bench.job(waiting)), Some(running.id));
    let second = bench.create(latest().args("[3]"));
    assert_eq!(waits_for(&bench.job(second)), Some(running.id));
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.fetch_ids(9), [waiting, second]);
}

pub(super) fn a_successor_has_a_successor_of_its_own_when_it_runs(bench: &mut Bench) {
    let (first, second) = running_and_waiting(bench);
    bench.acknowledge(&first).unwrap();
    let running = bench.fetch_one();
    assert_eq!(running.id, second);
    let third = bench.create(latest().args("[3]"));
    assert_eq!(waits_for(&bench.job(third)), Some(second));
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.fetch_ids(9), [third]);
}

pub(super) fn a_debounced_successor_waits_for_both(bench: &mut Bench) {
    let wait = SECOND * 10;
    let debounced = || latest().debounced(wait, Some(MINUTE));
    let running = running(bench);
    let waiting = bench.create(debounced().args("[[1]]"));
    assert_eq!(waits_for(&bench.job(waiting)), Some(running.id));
    let first = bench.now + wait;
    for number in 2..=5 {
        bench.pass(SECOND * 5);
        let job = bench.update(waiting, debounced().args(&format!("[[{number}]]")));
        assert_eq!((waits_for(&job), job.first_start), (Some(running.id), Some(first)));
    }
    assert_eq!(bench.job(waiting).spec.args.as_str(), "[[1,2,3,4,5]]", "debounced arrays grow");
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.job(waiting).phase, Phase::Scheduled { at: bench.now + wait });
    bench.pass_and_advance(wait);
    assert_eq!(bench.fetch_ids(9), [waiting]);
}

pub(super) fn a_debounced_successor_that_waited_long_enough_goes_at_once(bench: &mut Bench) {
    let debounced = || latest().debounced(SECOND * 10, Some(MINUTE));
    let running = running(bench);
    let waiting = bench.create(debounced());
    bench.pass(MINUTE * 5);
    let job = bench.update(waiting, debounced());
    assert_eq!(waits_for(&job), Some(running.id));
    bench.acknowledge(&running).unwrap();
    assert_eq!(bench.fetch_ids(9), [waiting]);
}
