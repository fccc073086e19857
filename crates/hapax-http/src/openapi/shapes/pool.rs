//! Pools of queues, and tenants.

use hapax_broker::PoolStrategy;

use super::{Named, one_of};
use crate::from_wire::bounds::{POOL_QUEUES_MAX, POOL_WEIGHT_MAX};
use crate::openapi::shape::{
    Shape, all, any, any_object, count, either, flag, integer, list, map, may, moment, named, needs, object,
    text, texts, twice,
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
        ("TenantStats", tenant_stats()),
        ("Tenant", tenant()),
        (
            "Tenants",
            object([needs("items", list(named("Tenant"))), needs("pagination", named("NumberedPagination"))]),
        ),
        ("TenantWithJobs", all([named("Tenant"), object([needs("stats", tenant_jobs())])])),
    ]
}

fn pools() -> Shape {
    let crew = object([
        needs("id", text().about("The same as `name`.")),
        needs("name", text()),
        needs("strategy", strategy()),
        needs("queues", texts()),
        needs("workers", count().about("Those that take jobs from its queues.")),
        needs("concurrency", count().about("How many jobs they work on at a time, as they say.")),
        needs("active_jobs", count().about("How many jobs of its queues run.")),
    ]);
    let crews = needs("pools", list(crew).about("Who works on each."));
    object([
        crews,
        needs("items", list(named("Pool"))),
        needs("total", count()),
        needs("pagination", any_object()),
    ])
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
    let turn = object([
        needs("name", text()),
        may("weight", integer().about("In the one weighted pool that has it.")),
        needs("dispatched", count()),
        needs(
            "starved",
            flag().about("Whether it has jobs, and fetches took some of the others of its pool alone."),
        ),
    ]);
    object([
        needs("stats", stats.about("What this server did since it started.")),
        needs(
            "strategy",
            text().about("Those of the pools; that of a fetch that names queues, if there are none."),
        ),
        needs("queues", list(turn).about("The queues of all pools.")),
    ])
}

fn deeds() -> Shape {
    object(Deed::ALL.map(|deed| needs(deed.name(), count())))
}

fn tenant() -> Shape {
    object([
        needs("id", text()),
        needs("name", text().about("The same as `id`.")),
        may("created_at", moment().about("When the oldest of its jobs was made of which the server knows.")),
        needs("counted", deeds().about("What this server did with its jobs since it started.")),
    ])
}

fn tenant_jobs() -> Shape {
    object([
        needs("queues", count()),
        needs("workers", count().about("Those that hold its jobs.")),
        needs("jobs", named("StateCounts")),
        needs("complete", flag().about("Whether these are all of its jobs that are stored.")),
    ])
    .about("Of its newest jobs.")
}

fn tenant_stats() -> Shape {
    object([
        needs("tenant_id", text()),
        needs("total_jobs", count()),
        needs("jobs", deeds()),
        needs("uptime_seconds", count()),
    ])
    .about("What this server did with the jobs of a tenant since it started.")
}
