//! Job keys and the line: where a job stands after it was updated in place.

use hapax_core::State;
use hapax_core::unique::JobKeyMode;

use super::bench::{Bench, HOUR};
use super::draft::{job_key, plain};
use super::place::Place;

pub(super) fn an_update_keeps_a_jobs_place_in_line(bench: &mut Bench) {
    let first = bench.create(job_key("k"));
    let second = bench.create(plain());
    let since = bench.job(first).enqueued_at;
    bench.pass(HOUR);
    let job = bench.update(first, job_key("k").args("[2]"));
    assert_eq!(job.enqueued_at, since);
    bench.update(first, job_key("k").args("[3]").mode(JobKeyMode::PreserveRunAt));
    assert_eq!(bench.fetch_ids(2), [first, second]);
}

pub(super) fn an_update_moves_a_job_to_its_place_in_another_queue(bench: &mut Bench) {
    let earlier = bench.create(plain().queue("other"));
    let moved = bench.create(job_key("k"));
    let later = bench.create(plain().queue("other"));
    bench.update(moved, job_key("k").queue("other"));
    let counts = |bench: &Bench, name: &str| bench.queue(name).unwrap().counts.of(State::Available);
    assert_eq!((counts(bench, "default"), counts(bench, "other")), (0, 3));
    assert_eq!(bench.fetch_ids(1), []);
    let order: Vec<_> = bench.fetch(&["other"], 9).iter().map(|job| job.id).collect();
    assert_eq!(order, [earlier, moved, later], "by the moment each became available");
}

pub(super) fn an_update_raises_a_job_in_its_line(bench: &mut Bench) {
    let first = bench.create(plain());
    let raised = bench.create(job_key("k"));
    bench.update(raised, job_key("k").priority(9));
    assert_eq!(bench.fetch_ids(2), [raised, first]);
}

pub(super) fn an_update_that_makes_a_job_available_puts_it_at_the_end_of_the_line(bench: &mut Bench) {
    for place in [Place::Scheduled, Place::Pending, Place::Retryable, Place::GivenUp, Place::Expired] {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let other = bench.create(plain());
        bench.update(holder, job_key("k"));
        assert_eq!(bench.job(holder).enqueued_at, Some(bench.now));
        assert_eq!(bench.fetch_ids(2), [other, holder], "{place:?}");
    }
}

pub(super) fn an_update_of_a_job_in_line_that_failed_before_keeps_its_place(bench: &mut Bench) {
    for place in [Place::Lapsed, Place::HandedBack] {
        bench.renew();
        let holder = bench.create_at(place, job_key("k"));
        let other = bench.create(plain());
        bench.update(holder, job_key("k"));
        assert_eq!(bench.fetch_ids(2), [holder, other], "{place:?}");
    }
}

pub(super) fn an_update_makes_the_queue_that_it_names(bench: &mut Bench) {
    let holder = bench.create(job_key("k"));
    assert_eq!(bench.queue("made"), None);
    bench.update(holder, job_key("k").queue("made"));
    assert_eq!(bench.queue("made").unwrap().created_at, bench.now);
}

pub(super) fn an_update_into_a_paused_queue_waits_there(bench: &mut Bench) {
    let holder = bench.create(job_key("k"));
    bench.pause("quiet");
    bench.update(holder, job_key("k").queue("quiet"));
    assert!(bench.fetch(&["default", "quiet"], 9).is_empty());
    bench.resume("quiet");
    assert_eq!(bench.fetch(&["quiet"], 9).len(), 1);
}
