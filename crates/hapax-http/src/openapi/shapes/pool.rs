//! Pools of queues, and tenants.

use hapax_broker::PoolStrategy;

use super::{Named, one_of};
use crate::from_wire::bounds::{POOL_QUEUES_MAX, POOL_WEIGHT_MAX};
use crate::openapi::shape::{
    Shape, any, any_object, count, either, flag, integer, list, map, may, named, needs, object, text, texts,
    twice,
};
use crate::tenants::Deed;

pub(super) fn shapes() -> Vec<Named> {
    vec![
        ("PoolWish", wish()),
        ("Pool", pool()),
        ("ShownPool", twice("pool", &named("Pool"))),
        ("Pools", pools()),
        ("RemovedPool", object([needs("deleted", flag()), needs("name", text())])),
        ("SchedulingStats", scheduling()),
        ("TenantStats", tenant()),
    ]
}

fn pools() -> Shape {
    object([needs("items", list(named("Pool"))), needs("total", count()), needs("pagination", any_object())])
}

fn strategy() -> Shape {
    one_of(PoolStrategy::ALL, PoolStrategy::name).about("In which order a fetch looks at the queues.")
}

fn wish() -> Shape {
    let weight = || integer().least(1).most(POOL_WEIGHT_MAX);
    let weighted = || either([weight(), object([may("weight", weight())]).others(&any())]);
    let item = either([text(), object([needs("name", text()), may("weight", weight())]).only()]);
    let queues = either([list(item).items_min(1).items_max(POOL_QUEUES_MAX), map(&weighted())]);
    object([
        may("name", text().about("The name in the path.")),
        may("strategy", strategy()),
        needs("queues", queues.about("Names, names with weights, or an object from names to weights.")),
        may("weights", map(&weighted())),
    ])
    .only()
}

fn pool() -> Shape {
    object([
        needs("name", text()),
        needs("strategy", strategy()),
        needs("queues", texts()),
        needs("weights", map(&integer())),
    ])
}

fn scheduling() -> Shape {
    let queue = object([needs("name", text()), needs("dispatch_count", count())]);
    let pool = object([needs("name", text()), needs("fetches", count()), needs("queues", list(queue))]);
    let stats = object([needs("uptime_seconds", count()), needs("pools", list(pool))]);
    object([needs("stats", stats.about("What this server did since it started."))])
}

fn tenant() -> Shape {
    object([
        needs("tenant_id", text()),
        needs("total_jobs", count()),
        needs("jobs", object(Deed::ALL.map(|deed| needs(deed.name(), count())))),
        needs("uptime_seconds", count()),
    ])
    .about("What this server did with the jobs of a tenant since it started.")
}
