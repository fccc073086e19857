//! Claims of tenants: only jobs of their own.

use hapax_core::{JobId, TenantId};

use super::bench::Bench;
use super::draft::{Draft, plain};
use crate::{Claim, TENANT_LOOK_MAX};

fn of(tenant: &str) -> Draft {
    plain().meta(&format!(r#"{{"a":1, "tenant_id" : "{tenant}"}}"#))
}

fn fetch(bench: &mut Bench, tenant: &str, count: usize) -> Vec<JobId> {
    let wish = Claim { tenant: TenantId::parse(tenant), ..bench.wish(&["default"], count) };
    bench.claim(wish).iter().map(|change| change.job().id).collect()
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
