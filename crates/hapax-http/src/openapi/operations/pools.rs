//! Pools of queues, and tenants.

use hapax_wire::error::Code;

use crate::from_wire::bounds::LIMIT_DEFAULT;
use crate::openapi::operation::{Operation, delete, get, put};
use crate::openapi::parameter::{numbered, uncounted};
use crate::openapi::shape::named;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/ojs/v1/admin/pools", "List pools").with(uncounted(LIMIT_DEFAULT)).gives(
            200,
            "The pools.",
            "Pools",
        ),
        put("/ojs/v1/admin/pools/{name}", "Make a pool, or make it anew")
            .details("A fetch can name it in place of queues.")
            .takes(named("PoolWish"))
            .gives(201, "It was made.", "ShownPool")
            .gives(200, "It was made anew.", "ShownPool")
            .fails([Code::Conflict]),
        get("/ojs/v1/admin/pools/{name}", "Look at a pool")
            .gives(200, "The pool.", "ShownPool")
            .fails([Code::NotFound]),
        delete("/ojs/v1/admin/pools/{name}", "Remove a pool")
            .details("Its queues stay.")
            .gives(200, "It is gone.", "RemovedPool")
            .fails([Code::NotFound]),
        get("/ojs/v1/admin/scheduling/stats", "Ask what fetches took from pools").gives(
            200,
            "Counts of this server.",
            "SchedulingStats",
        ),
        get("/ojs/v1/admin/tenants", "List tenants")
            .details("Those of which this server has seen jobs since it started.")
            .with(numbered())
            .gives(200, "A page of tenants.", "Tenants"),
        get("/ojs/v1/admin/tenants/{id}", "Look at a tenant and how many of its jobs stand where")
            .gives(200, "The tenant.", "TenantWithJobs")
            .fails([Code::NotFound]),
        get("/ojs/v1/admin/tenants/{id}/jobs", "Find jobs of a tenant")
            .with(super::operators::finding_jobs())
            .gives_shape(200, "A page of jobs in short.", super::operators::jobs())
            .fails([Code::NotFound, Code::Unsupported]),
        get("/ojs/v1/admin/tenants/{id}/stats", "Ask what was done for a tenant")
            .gives(200, "Counts of this server.", "TenantStats")
            .fails([Code::NotFound]),
    ]
}
