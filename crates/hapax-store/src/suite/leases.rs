//! Leases: who holds a job, for how long, and what a former holder may still do.

use hapax_core::{
    Cause, Claimant, Event, Job, JobId, Lease, Phase, Refusal, SpecPatch, State, StateSet, WorkerId,
};

use super::bench::{Bench, HOUR, INSTANT, MINUTE, SECOND, holder_of, went};
use super::draft::plain;
use crate::Claim;

fn lost(id: JobId, state: State) -> Refusal {
    Refusal::LeaseLost { id, state }
}

fn deadline(job: &Job) -> hapax_core::Timestamp {
    match &job.phase {
        Phase::Active { lease, .. } => lease.deadline,
        other => panic!("no lease on {other:?}"),
    }
}

/// A job whose lease ran out, as its former holder knows it.
fn lapsed(bench: &mut Bench) -> Job {
    bench.create(plain());
    let job = bench.fetch_one();
    bench.pass(MINUTE * 30);
    bench.advance();
    assert_eq!(bench.state(job.id), State::Available);
    job
}

pub(super) fn a_fetched_job_is_active_under_a_lease(bench: &mut Bench) {
    let id = bench.create(plain());
    bench.pass(SECOND);
    let worker = WorkerId::parse("w1").unwrap();
    let wish = Claim { worker: Some(worker.clone()), ..bench.wish(&["default"], 5) };
    let token = wish.token;
    let changes = bench.claim(wish);
    let job = bench.job(id);
    assert_eq!(changes, [went(State::Available, job.clone())]);
    let (length, deadline) = (MINUTE * 30, bench.now + MINUTE * 30);
    let lease = Lease { token, worker: Some(worker), deadline, length };
    assert_eq!(job.phase, Phase::Active { lease, times_out_at: None });
    assert_eq!((job.attempt, job.fence, job.started_at), (1, 1, Some(bench.now)));
    assert_eq!(bench.fetch_ids(5), [], "nobody else gets it");
}

pub(super) fn a_lease_lasts_as_the_fetch_says_else_the_job_else_the_server(bench: &mut Bench) {
    for (of_fetch, of_job, length) in [
        (Some(SECOND), Some(MINUTE), SECOND),
        (None, Some(MINUTE), MINUTE),
        (None, None, bench.rules().visibility_timeout),
    ] {
        bench.create(match of_job {
            Some(span) => plain().visibility_timeout(span),
            None => plain(),
        });
        let wish = Claim { visibility_timeout: of_fetch, ..bench.wish(&["default"], 1) };
        let changes = bench.claim(wish);
        assert_eq!(deadline(changes[0].job()), bench.now + length);
    }
}

pub(super) fn a_heartbeat_extends_the_lease_by_its_length(bench: &mut Bench) {
    bench.create(plain().visibility_timeout(MINUTE));
    let job = bench.fetch_one();
    for _ in 0..5 {
        bench.pass_almost(MINUTE);
        assert_eq!(bench.advance().changes, []);
        let change = bench.heartbeat(&job).unwrap();
        assert_eq!(deadline(change.job()), bench.now + MINUTE);
    }
    bench.pass(MINUTE);
    assert_eq!(bench.advance().changes.len(), 1);
}

pub(super) fn a_heartbeat_may_say_how_long(bench: &mut Bench) {
    bench.create(plain().visibility_timeout(MINUTE));
    let job = bench.fetch_one();
    let event = Event::Heartbeat { claimant: holder_of(&job), visibility_timeout: Some(HOUR) };
    bench.step(job.id, event).unwrap();
    assert_eq!(deadline(&bench.job(job.id)), bench.now + HOUR);
    assert_eq!(bench.advance().next_due, Some(bench.now + HOUR));
}

pub(super) fn a_lease_runs_out_at_its_deadline_and_not_before(bench: &mut Bench) {
    let id = bench.create(plain().visibility_timeout(MINUTE));
    let job = bench.fetch_one();
    bench.pass_almost(MINUTE);
    assert_eq!(bench.advance().changes, []);
    assert_eq!(bench.advance().next_due, Some(bench.now + INSTANT));
    bench.pass(INSTANT);
    let changes = bench.advance().changes;
    assert_eq!(changes, [went(State::Active, bench.job(id))]);
    let Phase::Active { lease, .. } = job.phase else { panic!("it was active") };
    assert_eq!(bench.job(id).phase, Phase::Available { lapsed: Some(lease) });
    assert_eq!(bench.job(id).history.entries().len(), 1);
    assert_eq!(bench.fetch_ids(1), [id]);
}

pub(super) fn a_lease_that_runs_out_on_the_last_attempt_ends_the_job(bench: &mut Bench) {
    let id = bench.create(plain().dies_at_once());
    let job = bench.fetch_one();
    bench.pass(HOUR);
    bench.advance();
    let Phase::Active { lease, .. } = job.phase else { panic!("it was active") };
    let cause = Cause::LeaseExpired(lease);
    assert_eq!(bench.job(id).phase, Phase::Discarded { at: bench.now, cause, dead_letter: true });
    assert_eq!(bench.fetch_ids(1), []);
}

pub(super) fn stale_token_ack_rejected_and_harmless(bench: &mut Bench) {
    let stale = lapsed(bench);
    let current = bench.fetch_one();
    assert_eq!(current.id, stale.id);
    let before = bench.job(stale.id);
    assert_eq!(bench.acknowledge(&stale), Err(lost(stale.id, State::Active)));
    assert_eq!(bench.fail(&stale), Err(lost(stale.id, State::Active)));
    assert_eq!(bench.heartbeat(&stale), Err(lost(stale.id, State::Active)));
    assert_eq!(bench.job(stale.id), before, "nothing changed");
    bench.acknowledge(&current).unwrap();
    assert_eq!(bench.acknowledge(&stale), Err(lost(stale.id, State::Completed)));
}

pub(super) fn a_late_ack_completes_a_job_that_nobody_fetched_since(bench: &mut Bench) {
    let stale = lapsed(bench);
    let change = bench.acknowledge(&stale).unwrap();
    assert_eq!(change, went(State::Available, bench.job(stale.id)));
    assert_eq!(bench.state(stale.id), State::Completed);
    assert_eq!(bench.fetch_ids(1), [], "it left the line");
}

pub(super) fn a_late_ack_completes_a_job_that_was_given_up_for_its_lease(bench: &mut Bench) {
    bench.create(plain().dies_at_once());
    let job = bench.fetch_one();
    bench.pass(HOUR);
    bench.advance();
    assert_eq!(bench.totals().dead_letters, 1);
    bench.reopen();
    bench.acknowledge(&job).unwrap();
    assert_eq!(bench.state(job.id), State::Completed);
    assert_eq!(bench.totals().dead_letters, 0);
}

pub(super) fn a_late_failure_or_heartbeat_is_refused(bench: &mut Bench) {
    let stale = lapsed(bench);
    let before = bench.job(stale.id);
    assert_eq!(bench.fail(&stale), Err(lost(stale.id, State::Available)));
    assert_eq!(bench.heartbeat(&stale), Err(lost(stale.id, State::Available)));
    assert_eq!(bench.job(stale.id), before);
}

pub(super) fn whoever_shows_no_lease_is_taken_at_their_word(bench: &mut Bench) {
    let id = bench.create(plain());
    bench.fetch_one();
    bench.step(id, Event::Acknowledge { claimant: Claimant::UNNAMED, result: None }).unwrap();
    assert_eq!(bench.state(id), State::Completed);
    let again = bench.step(id, Event::Acknowledge { claimant: Claimant::UNNAMED, result: None });
    let expected = StateSet::of(&[State::Active]);
    assert_eq!(again, Err(Refusal::WrongState { id, state: State::Completed, expected }));
}

pub(super) fn another_worker_or_a_foreign_text_is_refused(bench: &mut Bench) {
    let id = bench.create(plain());
    let wish = Claim { worker: WorkerId::parse("w1"), ..bench.wish(&["default"], 1) };
    bench.claim(wish);
    for claimant in
        [Claimant::showing(None, WorkerId::parse("w2")), Claimant::showing(Some("lease-of-somebody"), None)]
    {
        let event = Event::Acknowledge { claimant, result: None };
        assert_eq!(bench.step(id, event), Err(lost(id, State::Active)));
    }
    let claimant = Claimant::showing(None, WorkerId::parse("w1"));
    bench.step(id, Event::Acknowledge { claimant, result: None }).unwrap();
}

pub(super) fn a_restart_takes_no_lease_away_and_no_fence_back(bench: &mut Bench) {
    let id = bench.create(plain().visibility_timeout(MINUTE));
    for fence in 1..=2 {
        let job = bench.fetch_one();
        assert_eq!((job.fence, job.attempt), (fence, u32::try_from(fence).unwrap()));
        bench.reopen();
        assert_eq!(bench.job(id), job);
        bench.pass(MINUTE);
        bench.advance();
        bench.reopen();
    }
    let job = bench.fetch_one();
    bench.reopen();
    bench.heartbeat(&job).unwrap();
    bench.acknowledge(&job).unwrap();
    assert_eq!(bench.job(id).fence, 3);
}

pub(super) fn the_fence_grows_when_a_dead_letter_is_tried_again(bench: &mut Bench) {
    let id = bench.create(plain().dies_at_once());
    for fence in 1..=3 {
        let job = bench.fetch_one();
        assert_eq!((job.fence, job.attempt), (fence, 1), "attempts start again, the fence does not");
        bench.fail(&job).unwrap();
        bench.reopen();
        bench.step(id, Event::Revive { patch: SpecPatch::default() }).unwrap();
    }
}
