//! Debounce: each duplicate moves the start of the job that waits, up to a limit.

use std::time::Duration;

use hapax_core::unique::Strategy;
use hapax_core::{Event, Job, JobId, Phase, Refusal, Rules, State, Timestamp, Verdict};

use super::bench::{Bench, HOUR, INSTANT, MINUTE, SECOND};
use super::draft::{Draft, plain, unique};

/// How long a job waits for others like it here.
const WAIT: Duration = Duration::from_secs(10);

fn endless() -> Draft {
    unique("k").debounced(WAIT, None)
}

/// No later than a minute after the first start.
fn capped() -> Draft {
    unique("k").debounced(WAIT, Some(MINUTE))
}

/// The job waits for that moment, and says so everywhere.
#[track_caller]
fn starts_at(job: &Job, at: Timestamp) {
    assert_eq!(job.phase, Phase::Scheduled { at });
    assert_eq!(job.spec.scheduled_at.as_ref().map(|given| given.at), Some(at));
    assert_eq!(job.enqueued_at, None);
}

/// Sends duplicates, one each second, for that many seconds.
fn keep_busy(bench: &mut Bench, holder: JobId, seconds: u32, draft: &Draft) {
    for _ in 0..seconds {
        bench.pass(SECOND);
        bench.update(holder, draft.clone());
    }
}

pub(super) fn a_debounced_job_starts_after_its_wait(bench: &mut Bench) {
    let id = bench.create(capped());
    let job = bench.job(id);
    starts_at(&job, bench.now + WAIT);
    assert_eq!(job.first_start, Some(bench.now + WAIT));
    bench.pass_almost(WAIT);
    assert_eq!(bench.advance().changes, []);
    bench.pass_and_advance(INSTANT);
    assert_eq!(bench.fetch_ids(1), [id]);
}

pub(super) fn each_duplicate_moves_the_start_to_its_own_wait(bench: &mut Bench) {
    let id = bench.create(endless());
    let first = bench.now + WAIT;
    for pause in [SECOND, SECOND * 9, INSTANT] {
        bench.pass(pause);
        let job = bench.update(id, endless());
        starts_at(&job, bench.now + WAIT);
        assert_eq!(job.first_start, Some(first));
        assert_eq!(bench.advance().next_due, Some(bench.now + WAIT), "the timer moves with it");
    }
    assert_eq!(bench.job(id).ledger.count(), 3);
    bench.pass_and_advance(WAIT);
    assert_eq!(bench.fetch_ids(9), [id], "all of them are one job");
}

pub(super) fn without_a_limit_duplicates_hold_a_job_back_for_ever(bench: &mut Bench) {
    let id = bench.create(endless());
    keep_busy(bench, id, 200, &endless());
    starts_at(&bench.job(id), bench.now + WAIT);
    assert_eq!(bench.job(id).ledger.count(), 200);
}

pub(super) fn no_duplicate_moves_the_start_past_the_limit(bench: &mut Bench) {
    let id = bench.create(capped());
    let cap = bench.now + WAIT + MINUTE;
    keep_busy(bench, id, 60, &capped());
    starts_at(&bench.job(id), cap);
    keep_busy(bench, id, 9, &capped());
    starts_at(&bench.job(id), cap);
    assert_eq!(bench.advance().changes, [], "not before it either");
    bench.pass_and_advance(SECOND);
    assert_eq!((bench.now, bench.state(id)), (cap, State::Available));
}

pub(super) fn a_duplicate_just_before_the_limit_moves_to_it(bench: &mut Bench) {
    let id = bench.create(capped());
    let cap = bench.now + WAIT + MINUTE;
    keep_busy(bench, id, 59, &capped());
    bench.pass_almost(SECOND);
    starts_at(&bench.update(id, capped()), cap - INSTANT);
    bench.pass(INSTANT);
    starts_at(&bench.update(id, capped()), cap);
    bench.pass(INSTANT);
    starts_at(&bench.update(id, capped()), cap);
}

pub(super) fn a_duplicate_at_the_limit_or_after_it_lets_the_job_go(bench: &mut Bench) {
    for late in [Duration::ZERO, INSTANT, HOUR] {
        bench.renew();
        let id = bench.create(capped());
        let cap = bench.now + WAIT + MINUTE;
        bench.now = cap + late;
        let job = bench.update(id, capped().args("[2]"));
        assert_eq!(job.phase, Phase::Available { lapsed: None }, "{late:?} after it");
        assert_eq!((job.enqueued_at, job.spec.args.as_str()), (Some(bench.now), "[2]"));
        assert_eq!(bench.fetch_ids(1), [id]);
    }
}

pub(super) fn a_job_in_line_goes_back_to_wait_for_one_more(bench: &mut Bench) {
    let id = bench.create(capped());
    bench.pass_and_advance(WAIT);
    assert_eq!(bench.state(id), State::Available);
    let job = bench.update(id, capped().args("[2]"));
    starts_at(&job, bench.now + WAIT);
    assert_eq!(bench.fetch_ids(1), []);
    bench.pass_and_advance(WAIT);
    assert_eq!(bench.fetch_ids(1), [id]);
}

pub(super) fn a_job_in_line_that_has_waited_long_enough_stays_there(bench: &mut Bench) {
    let id = bench.create(capped());
    bench.pass_and_advance(WAIT + MINUTE);
    let (since, other) = (bench.job(id).enqueued_at, bench.create(plain()));
    bench.pass(SECOND);
    let job = bench.update(id, capped().args("[2]"));
    assert_eq!((job.state(), job.enqueued_at), (State::Available, since));
    assert_eq!(bench.fetch_ids(2), [id, other], "it keeps its turn");
}

/// The pause after a first failure is a second.
pub(super) fn a_job_that_failed_waits_out_its_pause(bench: &mut Bench) {
    for (wait, longer) in [(INSTANT, SECOND), (WAIT, WAIT)] {
        bench.renew();
        let draft = || unique("k").debounced(wait, None);
        let id = bench.create(draft());
        bench.pass_and_advance(wait);
        let running = bench.fetch_one();
        bench.fail(&running).unwrap();
        let job = bench.update(id, draft().args("[2]"));
        assert_eq!((job.phase, job.spec.args.as_str()), (Phase::Retryable { at: bench.now + longer }, "[2]"));
        bench.pass_and_advance(longer);
        assert_eq!(bench.fetch_ids(1), [id]);
    }
}

pub(super) fn what_comes_new_has_all_its_attempts_before_it(bench: &mut Bench) {
    let draft = || unique("k").debounced(SECOND, None).attempts(2);
    bench.create(draft());
    bench.pass_and_advance(SECOND);
    let running = bench.fetch_one();
    bench.fail(&running).unwrap();
    let renewed = bench.update(running.id, draft().args("[2]"));
    assert_eq!((renewed.attempt, renewed.history.current()), (0, None));
    assert_eq!(renewed.history.entries().len(), 1, "what failed is not forgotten");
    for expected in [State::Retryable, State::Discarded] {
        bench.pass_and_advance(HOUR);
        let again = bench.fetch_one();
        bench.fail(&again).unwrap();
        assert_eq!(bench.state(again.id), expected);
    }
}

pub(super) fn a_job_that_waits_for_activation_goes_on_waiting(bench: &mut Bench) {
    let id = bench.create_in(State::Pending, unique("k"));
    let job = bench.update(id, endless().args("[2]"));
    assert_eq!((&job.phase, job.spec.args.as_str()), (&Phase::Pending { after: None }, "[2]"));
    bench.step(id, Event::Activate).unwrap();
    starts_at(&Job { enqueued_at: None, ..bench.job(id) }, bench.now + WAIT);
}

pub(super) fn what_runs_is_let_run_and_another_job_waits(bench: &mut Bench) {
    let first = bench.create(endless());
    bench.pass_and_advance(WAIT);
    let running = bench.fetch_one();
    let answer = bench.enqueue(endless().args("[2]"));
    assert_eq!((&answer.verdict, &answer.changed), (&Verdict::Created, &Vec::new()));
    starts_at(&answer.job, bench.now + WAIT);
    assert_eq!(bench.job(first), running, "what runs is not touched");
    bench.pass(SECOND);
    let second = answer.job.id;
    let job = bench.update(second, endless().args("[3]"));
    starts_at(&job, bench.now + WAIT);
    assert_eq!((bench.job(first).ledger.count(), job.ledger.count()), (0, 1));
    bench.acknowledge(&running).unwrap();
    bench.update(second, endless());
}

pub(super) fn a_job_that_has_ended_begins_nothing(bench: &mut Bench) {
    for state in [State::Completed, State::Cancelled, State::Discarded] {
        bench.renew();
        let over = bench.create_in(state, unique("k"));
        let id = bench.create(endless());
        assert_ne!(id, over);
        assert_eq!(bench.job(id).first_start, Some(bench.now + WAIT), "{state}");
    }
}

pub(super) fn a_debounced_duplicate_decides_whatever_on_conflict_says(bench: &mut Bench) {
    let id = bench.create(endless());
    for strategy in Strategy::ALL {
        bench.pass(SECOND);
        starts_at(&bench.update(id, endless().on_conflict(strategy)), bench.now + WAIT);
    }
    let plainly = bench.enqueue(unique("k"));
    assert_eq!((plainly.verdict, plainly.job.id), (Verdict::Rejected, id), "the incoming policy decides");
    starts_at(&bench.job(id), bench.now + WAIT);
}

pub(super) fn the_first_start_of_another_job_counts_from_its_own(bench: &mut Bench) {
    let at = bench.now + MINUTE;
    let id = bench.create(unique("k").scheduled_at(at));
    let job = bench.update(id, capped());
    starts_at(&job, bench.now + WAIT);
    assert_eq!(job.first_start, Some(at), "it was to start then");
    keep_busy(bench, id, 119, &capped());
    starts_at(&bench.job(id), at + MINUTE);
}

pub(super) fn the_newest_limit_holds(bench: &mut Bench) {
    let id = bench.create(endless());
    let first = bench.now + WAIT;
    keep_busy(bench, id, 100, &endless());
    let job = bench.update(id, unique("k").debounced(MINUTE, Some(MINUTE * 2)));
    starts_at(&job, first + MINUTE * 2);
    let job = bench.update(id, unique("k").debounced(MINUTE, None));
    starts_at(&job, bench.now + MINUTE);
}

pub(super) fn arrays_grow_and_other_payloads_are_replaced(bench: &mut Bench) {
    let id = bench.create(endless().args("[[1]]").tags(&["old"]));
    let args = |job: Job| job.spec.args.as_str().to_owned();
    assert_eq!(args(bench.update(id, endless().args("[[2,3]]"))), "[[1,2,3]]");
    assert_eq!(bench.job(id).spec.tags.len(), 0, "every attribute is the newest one's");
    assert_eq!(args(bench.update(id, endless().args(r#"[{"a":1}]"#))), r#"[{"a":1}]"#);
    assert_eq!(args(bench.update(id, endless().args(r#"[{"b":2}]"#))), r#"[{"b":2}]"#);
}

pub(super) fn a_payload_that_is_full_takes_no_more(bench: &mut Bench) {
    bench.restart(Rules { joined_bytes_max: 10, ..bench.rules().clone() });
    let id = bench.create(endless().args("[[1,2]]"));
    let before = bench.job(id);
    bench.pass(SECOND);
    let full = Refusal::PayloadFull { id: Some(id), bytes: 11, max: 10 };
    assert_eq!(bench.try_enqueue(endless().args("[[3,4]]")), Err(full));
    assert_eq!(bench.job(id), before, "its start does not move either");
}

pub(super) fn a_clock_that_is_set_back_brings_the_start_with_it(bench: &mut Bench) {
    let id = bench.create(capped());
    let cap = bench.now + WAIT + MINUTE;
    bench.set_back(HOUR);
    starts_at(&bench.update(id, capped()), bench.now + WAIT);
    bench.pass(HOUR + MINUTE + WAIT);
    assert_eq!(bench.update(id, capped()).state(), State::Available);
    assert_eq!(bench.job(id).first_start, Some(cap - MINUTE), "the first start stays what it was");
}

pub(super) fn a_debounced_job_is_kept_over_a_restart(bench: &mut Bench) {
    let id = bench.create(capped());
    let first = bench.job(id).first_start;
    keep_busy(bench, id, 55, &capped());
    bench.reopen();
    assert_eq!(bench.job(id).first_start, first);
    keep_busy(bench, id, 10, &capped());
    starts_at(&bench.job(id), first.unwrap() + MINUTE);
}
