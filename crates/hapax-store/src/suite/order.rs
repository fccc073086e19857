//! Order: queues as asked, priority first, then first in, first out by the moment a job became available.

use hapax_core::{Directive, Event, Handback, JobId, SpecPatch, State};

use super::bench::{Bench, HOUR, MINUTE, SECOND};
use super::draft::plain;
use crate::{CLAIM_BYTES_MAX, Claim, EXPIRED_PER_CLAIM_MAX};

fn create_three(bench: &mut Bench) -> [JobId; 3] {
    [(); 3].map(|()| bench.create(plain()))
}

pub(super) fn first_in_first_out(bench: &mut Bench) {
    let ids = create_three(bench);
    assert_eq!(bench.fetch_ids(2), ids[..2]);
    assert_eq!(bench.fetch_ids(2), ids[2..]);
    assert_eq!(bench.fetch_ids(2), []);
}

pub(super) fn higher_priority_goes_first(bench: &mut Bench) {
    let [low, usual, high, high_too] =
        [-100, 0, 100, 100].map(|priority| bench.create(plain().priority(priority)));
    assert_eq!(bench.fetch_ids(4), [high, high_too, usual, low]);
}

pub(super) fn queues_are_asked_in_the_order_of_the_request(bench: &mut Bench) {
    let a = bench.create(plain().queue("a").priority(100));
    let b = bench.create(plain().queue("b"));
    let c = bench.create(plain().queue("c").priority(50));
    let ids = |jobs: Vec<hapax_core::Job>| jobs.iter().map(|job| job.id).collect::<Vec<_>>();
    assert_eq!(ids(bench.fetch(&["b", "nothing", "c", "b"], 5)), [b, c]);
    assert_eq!(ids(bench.fetch(&["b", "c"], 5)), []);
    assert_eq!(ids(bench.fetch(&["b", "a"], 1)), [a]);
}

pub(super) fn a_claim_of_nothing_gives_nothing(bench: &mut Bench) {
    let id = bench.create(plain());
    assert_eq!(bench.fetch(&["default"], 0), []);
    assert_eq!(bench.fetch(&[], 5), []);
    assert_eq!(bench.fetch(&["unknown"], 5), []);
    assert_eq!(bench.state(id), State::Available);
    assert_eq!(bench.queue("unknown"), None, "asking makes no queue");
}

pub(super) fn a_retried_job_joins_the_end_of_the_line(bench: &mut Bench) {
    let [first, second, third] = create_three(bench);
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    bench.pass(SECOND);
    bench.advance();
    let fourth = bench.create(plain());
    assert_eq!(bench.fetch_ids(5), [second, third, first, fourth]);
}

pub(super) fn a_job_whose_lease_ran_out_joins_the_end_of_the_line(bench: &mut Bench) {
    let [first, second, third] = create_three(bench);
    bench.fetch_one();
    bench.pass(HOUR);
    bench.advance();
    assert_eq!(bench.fetch_ids(5), [second, third, first]);
}

pub(super) fn a_job_that_is_handed_back_joins_the_end_of_the_line(bench: &mut Bench) {
    let [first, second, third] = create_three(bench);
    let job = bench.fetch_one();
    bench.fail_with(&job, Directive::Policy, Handback::Requeue).unwrap();
    assert_eq!(bench.fetch_ids(5), [second, third, first]);
}

pub(super) fn revived_and_activated_jobs_join_the_end_of_the_line(bench: &mut Bench) {
    let dead = bench.create(plain().dies_at_once());
    let job = bench.fetch_one();
    bench.fail(&job).unwrap();
    let pending = bench.create(plain().pending());
    let [first, ..] = create_three(bench);
    bench.step(pending, Event::Activate).unwrap();
    bench.step(dead, Event::Revive { patch: SpecPatch::default() }).unwrap();
    let order = bench.fetch_ids(5);
    assert_eq!((order[0], order[3], order[4]), (first, pending, dead));
}

pub(super) fn scheduled_jobs_join_the_line_in_the_order_of_their_start_times(bench: &mut Bench) {
    let [late, early, same] =
        [3, 1, 3].map(|minutes| bench.create(plain().scheduled_at(bench.now + MINUTE * minutes)));
    bench.pass(HOUR);
    let last = bench.create(plain());
    bench.advance();
    assert_eq!(bench.fetch_ids(5), [last, early, late, same], "the line is joined when the chores run");
}

pub(super) fn the_line_outlives_a_restart(bench: &mut Bench) {
    let [first, second, third] = create_three(bench);
    let urgent = bench.create(plain().priority(1));
    let job = bench.fetch(&["default"], 2).pop().unwrap();
    assert_eq!(job.id, first);
    bench.fail_with(&job, Directive::Policy, Handback::Requeue).unwrap();
    bench.reopen();
    let last = bench.create(plain());
    bench.reopen();
    assert_eq!(bench.fetch_ids(5), [second, third, first, last]);
    assert_eq!(bench.state(urgent), State::Active);
}

pub(super) fn the_line_outlives_a_clock_that_is_set_back(bench: &mut Bench) {
    let first = bench.create(plain());
    bench.set_back(HOUR);
    let second = bench.create(plain());
    bench.reopen();
    bench.pass(HOUR * 2);
    let third = bench.create(plain());
    bench.set_back(HOUR * 3);
    let job = bench.fetch_one();
    assert_eq!(job.id, first);
    bench.fail_with(&job, Directive::Policy, Handback::Requeue).unwrap();
    assert_eq!(bench.fetch_ids(5), [second, third, first]);
}

pub(super) fn the_jobs_of_a_batch_keep_their_order(bench: &mut Bench) {
    let admissions = bench.try_enqueue_all((0..50).map(|_| plain()).collect()).unwrap();
    let ids: Vec<JobId> = admissions.iter().map(|admission| admission.job.id).collect();
    assert_eq!(bench.fetch_ids(100), ids);
}

pub(super) fn an_expired_job_is_ended_on_the_way_and_does_not_count(bench: &mut Bench) {
    let fresh_for =
        |bench: &mut Bench, seconds| bench.create(plain().expires_at(bench.now + SECOND * seconds));
    let [gone, good, gone_too, last] = [1, 9, 1, 9].map(|seconds| fresh_for(bench, seconds));
    bench.pass(SECOND);
    let wish = bench.wish(&["default"], 2);
    let changes = bench.claim(wish);
    let seen: Vec<_> = changes.iter().map(|change| (change.job().id, change.job().state())).collect();
    let (ended, taken) = (State::Discarded, State::Active);
    assert_eq!(seen, [(gone, ended), (good, taken), (gone_too, ended), (last, taken)]);
    assert_eq!(bench.job(gone).fence, 0);
    assert_eq!(bench.totals().dead_letters, 0);
}

pub(super) fn one_claim_ends_only_so_many_expired_jobs(bench: &mut Bench) {
    let at = bench.now;
    let drafts = vec![plain().expires_at(at + SECOND); EXPIRED_PER_CLAIM_MAX + 5];
    bench.try_enqueue_all(drafts).unwrap();
    let good = bench.create(plain());
    bench.pass(SECOND);
    let wish = bench.wish(&["default"], 1);
    assert_eq!(bench.claim(wish).len(), EXPIRED_PER_CLAIM_MAX);
    assert_eq!(bench.fetch_ids(1), [good]);
    assert_eq!(bench.totals().counts.of(State::Discarded), EXPIRED_PER_CLAIM_MAX as u64 + 5);
}

pub(super) fn one_claim_gives_out_only_so_many_bytes(bench: &mut Bench) {
    let large = format!("[\"{}\"]", "x".repeat(CLAIM_BYTES_MAX / 4));
    let drafts = vec![plain().args(&large); 6];
    bench.try_enqueue_all(drafts).unwrap();
    assert_eq!(bench.fetch_ids(6).len(), 4, "the one that passes the limit is the last");
    assert_eq!(bench.fetch_ids(6).len(), 2);
    let mut other = plain();
    other.spec.extra = hapax_core::Json::from_trusted(&format!("{{\"own\":{large}}}"));
    bench.try_enqueue_all(vec![other; 5]).unwrap();
    assert_eq!(bench.fetch_ids(5).len(), 4, "whatever attribute it is");
}

pub(super) fn a_claim_is_decided_for_the_moment_that_it_names(bench: &mut Bench) {
    let at = bench.now + MINUTE;
    let id = bench.create(plain().expires_at(at));
    let wish = Claim { now: at - SECOND, ..bench.wish(&["default"], 1) };
    assert_eq!(bench.claim(wish)[0].job().started_at, Some(at - SECOND));
    assert_eq!(bench.state(id), State::Active);
}
