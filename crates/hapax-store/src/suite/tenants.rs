//! Claims of tenants: only jobs of their own.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use hapax_core::{Job, JobId, TenantId};

use super::bench::{Bench, MINUTE};
use super::draft::{Draft, plain};
use super::limits::{at_a_time, per};
use crate::{Claim, TENANT_LOOK_MAX};

/// How long somebody is waited for who is called at once.
const PATIENCE: Duration = Duration::from_secs(10);

fn of(tenant: &str) -> Draft {
    plain().meta(&format!(r#"{{"a":1, "tenant_id" : "{tenant}"}}"#))
}

fn fetch_jobs(bench: &mut Bench, tenant: &str, count: usize) -> Vec<Job> {
    let wish = Claim { tenant: TenantId::parse(tenant), ..bench.wish(&["default"], count) };
    bench.claim(wish).iter().map(|change| change.job().clone()).collect()
}

fn fetch(bench: &mut Bench, tenant: &str, count: usize) -> Vec<JobId> {
    fetch_jobs(bench, tenant, count).iter().map(|job| job.id).collect()
}

pub(super) fn a_claim_of_a_tenant_takes_its_own_jobs_in_order(bench: &mut Bench) {
    let low = bench.create(of("acme").priority(-1));
    let other = bench.create(of("other"));
    let first = bench.create(of("acme"));
    let nobodys = bench.create(plain());
    let second = bench.create(of("acme"));
    assert_eq!(fetch(bench, "acme", 2), [first, second]);
    assert_eq!(fetch(bench, "acme", 2), [low]);
    assert_eq!(fetch(bench, "acme", 2), []);
    assert_eq!(bench.fetch_ids(5), [other, nobodys], "without a tenant there is no difference");
}

pub(super) fn a_claim_of_a_tenant_looks_at_a_bounded_part_of_the_line(bench: &mut Bench) {
    bench.try_enqueue_all((0..TENANT_LOOK_MAX).map(|_| of("other")).collect()).unwrap();
    let own = bench.create(of("acme"));
    assert_eq!(fetch(bench, "acme", 1), []);
    bench.fetch_ids(1);
    assert_eq!(fetch(bench, "acme", 1), [own]);
}

pub(super) fn what_only_looks_like_a_tenant_is_none(bench: &mut Bench) {
    for meta in [
        r#"{"x":{"tenant_id":"a.b"}}"#,
        r#"{"x":"\"tenant_id\":\"a.b\""}"#,
        r#"{"tenant_id":"a-b"}"#,
        r#"{"tenant_id":"a.bc","x":"\u0000"}"#,
    ] {
        bench.create(plain().meta(meta));
    }
    let own = bench.create(plain().meta(r#"{"tenant_id":"a.b","x":"\u0000"}"#));
    assert_eq!(fetch(bench, "a.b", 5), [own]);
}

pub(super) fn a_claim_of_a_tenant_takes_several_jobs_behind_one_limit(bench: &mut Bench) {
    let own: Vec<JobId> = (0..5).map(|_| bench.create(of("acme").limited("acme", at_a_time(3)))).collect();
    let running = fetch_jobs(bench, "acme", 9);
    assert_eq!(running.iter().map(|job| job.id).collect::<Vec<_>>(), own[..3]);
    assert_eq!(fetch(bench, "acme", 9), []);
    for job in &running[..2] {
        bench.acknowledge(job).unwrap();
    }
    assert_eq!(fetch(bench, "acme", 9), own[3..]);
}

pub(super) fn a_claim_of_a_tenant_passes_jobs_of_others_that_share_its_limit(bench: &mut Bench) {
    let shared = |tenant: &str| of(tenant).limited("api", at_a_time(2));
    let [first, second, third, fourth, fifth] =
        ["acme", "other", "acme", "other", "other"].map(|tenant| bench.create(shared(tenant)));
    let running = fetch_jobs(bench, "other", 9);
    assert_eq!(running.iter().map(|job| job.id).collect::<Vec<_>>(), [second, fourth]);
    assert_eq!(fetch(bench, "acme", 9), [], "there is no room for more");
    assert_eq!(bench.fetch_ids(9), []);
    bench.acknowledge(&running[0]).unwrap();
    assert_eq!(fetch(bench, "other", 9), [fifth], "nor is one that was held back in the way");
    assert_eq!(fetch(bench, "acme", 9), []);
    bench.acknowledge(&running[1]).unwrap();
    assert_eq!(fetch(bench, "acme", 9), [first]);
    bench.reopen();
    assert_eq!(fetch(bench, "acme", 9), []);
    bench.step(first, hapax_core::Event::Cancel).unwrap();
    assert_eq!(fetch(bench, "acme", 9), [third]);
}

pub(super) fn who_is_turned_away_before_its_turn_does_not_close_a_limit_for_the_first(bench: &mut Bench) {
    bench.create(of("acme").limited("api", at_a_time(2)));
    assert_eq!(fetch(bench, "acme", 1).len(), 1);
    let first = bench.create(of("acme").limited("api", at_a_time(2)));
    let never = bench.create(of("other").limited("api", at_a_time(0)));
    let behind = bench.create(of("other").limited("api", at_a_time(9)));
    let free = bench.create(of("other"));
    assert_eq!(fetch(bench, "other", 9), [free], "its own order is kept");
    assert_eq!(bench.fetch_ids(1), [first]);
    assert_eq!(fetch(bench, "other", 9), []);
    bench.step(never, hapax_core::Event::Cancel).unwrap();
    assert_eq!(fetch(bench, "other", 9), [behind]);
}

pub(super) fn who_was_turned_away_before_its_turn_is_called_when_there_is_room(bench: &mut Bench) {
    let shared = |tenant: &str| of(tenant).limited("api", at_a_time(1));
    bench.create(shared("acme"));
    let running = bench.fetch_one();
    bench.create(shared("acme"));
    let own = bench.create(shared("other"));
    assert_eq!(fetch(bench, "other", 9), []);
    let (tell, called) = mpsc::channel();
    let tell = Mutex::new(tell);
    bench.store().listen(Arc::new(move |queue, _| {
        let told = tell.lock().unwrap().send(queue.clone());
        assert!(told.is_ok() || std::thread::panicking());
    }));
    bench.acknowledge(&running).unwrap();
    assert_eq!(called.recv_timeout(PATIENCE).map(|queue| queue.to_string()), Ok("default".to_owned()));
    assert_eq!(fetch(bench, "other", 9), [own]);
    bench.store().listen(Arc::new(|_, _| ()));
}

pub(super) fn limits_that_leave_no_room_are_not_in_the_way_of_a_tenant(bench: &mut Bench) {
    let closed = |tenant: &str, key: &str| of(tenant).limited(key, at_a_time(0)).priority(9);
    bench.try_enqueue_all(vec![closed("acme", "acme"); TENANT_LOOK_MAX + 1]).unwrap();
    let own = bench.create(of("other").limited("other", per(1, MINUTE)));
    assert_eq!(fetch(bench, "acme", 9), []);
    assert_eq!(fetch(bench, "acme", 9), []);
    assert_eq!(fetch(bench, "other", 9), [own]);
}
