//! Every route of the server.

use std::sync::Arc;

use hapax_wire::error::ERRORS_PATH;

use super::Routes;
use crate::routes::{
    admin, agents, cron, crons, dead_letter, events, health, job_keys, jobs, manifest, metrics, middleware,
    pools, queues, rate_limits, reference, scheduling, schemas, socket, tenants, unique, webhooks, workers,
    workflows,
};
use crate::shared::{BodyRule, Shared};
use crate::tenancy::Tenancy;

use BodyRule::{Batch, Job, Unused};
use Tenancy::{All, Own, OwnCron, OwnDrafts, OwnIfSaid, OwnJob, OwnWorkflow};

/// All of them.
pub(super) fn routes(shared: &Arc<Shared>) -> Routes {
    let groups =
        [server, jobs, unique, workers, queues, limits, plans, events, hooks, agents, registries, operators];
    let routes = groups.into_iter().fold(Routes::new(shared), |routes, group| group(routes));
    if shared.conformance { routes.post("/ojs/v1/admin/reset", Unused, All, admin::reset) } else { routes }
}

/// What the server says of itself.
#[rustfmt::skip]
fn server(routes: Routes) -> Routes {
    routes
        .open("/health", health::show)
        .open("/healthz", health::show)
        .open("/ojs/v1/health", health::show)
        .open("/ready", health::ready)
        .open("/readyz", health::ready)
        .open("/metrics", metrics::show)
        .get("/ojs/manifest", All, manifest::show)
        .get("/openapi.json", All, reference::document)
        .open("/docs", reference::page)
        .open(ERRORS_PATH, reference::errors)
}

/// Jobs, and what is told of them.
#[rustfmt::skip]
fn jobs(routes: Routes) -> Routes {
    routes
        .post("/ojs/v1/jobs", Job, OwnDrafts, jobs::create::run)
        .post("/ojs/v1/jobs/batch", Batch, OwnDrafts, jobs::batch::run)
        .post("/ojs/v1/jobs/bulk", Batch, OwnDrafts, jobs::bulk::run)
        .post("/ojs/v1/jobs/bulk/cancel", Job, Own, jobs::deed::cancel)
        .post("/ojs/v1/jobs/bulk/retry", Job, Own, jobs::deed::retry)
        .post("/ojs/v1/jobs/bulk/delete", Job, Own, jobs::deed::delete)
        .get("/ojs/v1/jobs/{id}", OwnJob, jobs::show::run)
        .delete("/ojs/v1/jobs/{id}", OwnJob, jobs::cancel::run)
        .patch("/ojs/v1/jobs/{id}", Job, OwnJob, jobs::update::run)
        .post("/ojs/v1/jobs/{id}/cancel", Unused, OwnJob, jobs::cancel::run)
        .post("/ojs/v1/jobs/{id}/activate", Unused, OwnJob, jobs::activate::run)
        .post("/ojs/v1/jobs/{id}/ack", Batch, Own, workers::ack::of_path)
        .post("/ojs/v1/jobs/{id}/nack", Job, Own, workers::nack::of_path)
        .get_with("/ojs/v1/jobs/{id}/history", OwnJob, jobs::history::show)
        .get("/ojs/v1/jobs/{id}/lineage", OwnJob, jobs::history::lineage)
        .get_with("/ojs/v1/jobs/{id}/result", OwnJob, jobs::result::show)
        .post("/ojs/v1/jobs/results", Job, Own, jobs::result::list)
        .put("/ojs/v1/jobs/{id}/progress", Job, Own, jobs::progress::report)
        .get("/ojs/v1/jobs/{id}/progress", OwnJob, jobs::progress::show)
        .put("/ojs/v1/jobs/{id}/checkpoint", Batch, OwnJob, jobs::checkpoint::save)
        .post("/ojs/v1/jobs/{id}/checkpoint", Batch, OwnJob, jobs::checkpoint::save)
        .get("/ojs/v1/jobs/{id}/checkpoint", OwnJob, jobs::checkpoint::show)
        .delete("/ojs/v1/jobs/{id}/checkpoint", OwnJob, jobs::checkpoint::delete)
        .post("/ojs/v1/checkpoints/{id}", Batch, OwnJob, jobs::checkpoint::save)
        .delete("/ojs/v1/checkpoints/{id}", OwnJob, jobs::checkpoint::delete)
        .get("/ojs/v1/checkpoints/{id}/resume", OwnJob, jobs::checkpoint::resume)
        .post("/ojs/v1/ojs/v1/checkpoints/{id}", Batch, OwnJob, jobs::checkpoint::save)
        .delete("/ojs/v1/ojs/v1/checkpoints/{id}", OwnJob, jobs::checkpoint::delete)
        .get("/ojs/v1/ojs/v1/checkpoints/{id}/resume", OwnJob, jobs::checkpoint::resume)
}

/// Keys: those of unique jobs, and job keys.
#[rustfmt::skip]
fn unique(routes: Routes) -> Routes {
    routes
        .delete("/ojs/v1/job-keys/", All, job_keys::remove)
        .delete("/ojs/v1/job-keys/{key}", Own, job_keys::remove)
        .post("/ojs/v1/unique/explain", Job, OwnDrafts, unique::explain::run)
        .get_with("/ojs/v1/unique/keys", All, unique::list::run)
        .get_with("/ojs/v1/unique-jobs", All, unique::locks::run)
        .get_with("/ojs/v1/unique/keys/{key}", Own, unique::show::run)
        .post("/ojs/v1/unique/keys/{key}/release", Job, Own, unique::release::run)
}

/// Workers.
#[rustfmt::skip]
fn workers(routes: Routes) -> Routes {
    routes
        .post("/ojs/v1/workers/fetch", Job, Own, workers::fetch::run)
        .post("/ojs/v1/jobs/fetch", Job, Own, workers::fetch::run)
        .post("/ojs/v1/workers/ack", Batch, Own, workers::ack::run)
        .post("/ojs/v1/workers/nack", Job, Own, workers::nack::run)
        .post("/ojs/v1/workers/heartbeat", Job, Own, workers::heartbeat::run)
        .post("/ojs/v1/workers/beat", Job, Own, workers::heartbeat::run)
        .post("/ojs/v1/workers/register", Job, All, workers::register::run)
        .get("/ojs/v1/workers/{id}/health", All, workers::health::run)
        .post("/ojs/v1/workers/progress", Job, Own, jobs::progress::of_body)
}

/// Queues and the dead letters in them.
#[rustfmt::skip]
fn queues(routes: Routes) -> Routes {
    routes
        .get_with("/ojs/v1/queues", All, queues::list::run)
        .post("/ojs/v1/queues", Job, All, queues::settings::create)
        .get("/ojs/v1/queues/{name}/config", All, queues::settings::show)
        .put("/ojs/v1/queues/{name}/config", Job, All, queues::settings::change)
        .put("/ojs/v1/admin/queues/{name}/config", Job, All, queues::settings::change)
        .post("/ojs/v1/queues/{name}/drain", Unused, All, queues::settings::drain)
        .get("/ojs/v1/queues/{name}", All, queues::show::run)
        .delete_with("/ojs/v1/queues/{name}", Job, All, queues::delete::run)
        .get("/ojs/v1/queues/{name}/stats", All, queues::stats::run)
        .get("/ojs/v1/queues/{name}/priority-stats", All, queues::priority_stats::run)
        .post("/ojs/v1/queues/{name}/pause", Unused, All, queues::pause::run)
        .post("/ojs/v1/queues/{name}/resume", Unused, All, queues::resume::run)
        .get_with("/ojs/v1/dead-letter", All, dead_letter::list::run)
        .delete_with("/ojs/v1/dead-letter", Job, OwnIfSaid, admin::dead_letter::purge)
        .get("/ojs/v1/dead-letter/stats", All, admin::dead_letter::stats)
        .post("/ojs/v1/dead-letter/retry", Job, OwnIfSaid, admin::dead_letter::retry_all)
        .get("/ojs/v1/dead-letter/{id}", OwnJob, dead_letter::show::run)
        .post("/ojs/v1/dead-letter/{id}/retry", Job, OwnJob, dead_letter::retry::run)
        .delete("/ojs/v1/dead-letter/{id}", OwnJob, dead_letter::delete::run)
}

/// Rate limits.
#[rustfmt::skip]
fn limits(routes: Routes) -> Routes {
    routes
        .get_with("/ojs/v1/rate-limits", All, rate_limits::list)
        .get("/ojs/v1/rate-limits/{key}", All, rate_limits::show)
        .put("/ojs/v1/rate-limits/{key}", Job, All, rate_limits::decide)
        .delete("/ojs/v1/rate-limits/{key}", All, rate_limits::undo)
        .delete("/ojs/v1/rate-limits/{key}/override", All, rate_limits::undo)
        .get("/ojs/v1/admin/queues/{name}/rate-limit", All, rate_limits::show_queue)
        .put("/ojs/v1/admin/queues/{name}/rate-limit", Job, All, rate_limits::decide_queue)
        .delete("/ojs/v1/admin/queues/{name}/rate-limit", All, rate_limits::undo_queue)
}

/// What makes jobs: recurring jobs and workflows.
#[rustfmt::skip]
fn plans(routes: Routes) -> Routes {
    routes
        .get_with("/ojs/v1/cron", All, cron::list)
        .post("/ojs/v1/cron", Job, OwnDrafts, cron::register)
        .post_beside("/ojs/v1/cron/preview", Job, All, cron::preview)
        .get_with("/ojs/v1/cron/{name}", OwnCron, cron::show)
        .patch("/ojs/v1/cron/{name}", Job, OwnCron, cron::switch)
        .delete("/ojs/v1/cron/{name}", OwnCron, cron::remove)
        .post("/ojs/v1/cron/{name}/run", Job, OwnCron, cron::run)
        .get_with("/ojs/v1/crons", All, crons::list)
        .get("/ojs/v1/crons/{id}", OwnCron, crons::show)
        .patch("/ojs/v1/crons/{id}", Job, OwnCron, crons::switch)
        .delete("/ojs/v1/crons/{id}", OwnCron, crons::remove)
        .get_with("/ojs/v1/workflows", All, workflows::list::run)
        .post("/ojs/v1/workflows", Batch, OwnDrafts, workflows::create::run)
        .get("/ojs/v1/workflows/{id}", OwnWorkflow, workflows::show::run)
        .delete("/ojs/v1/workflows/{id}", OwnWorkflow, workflows::cancel::run)
        .post("/ojs/v1/workflows/{id}/cancel", Unused, OwnWorkflow, workflows::cancel::run)
        .get("/ojs/v1/workflows/{id}/progress", OwnWorkflow, workflows::progress::run)
}

/// What has happened, and what happens now.
#[rustfmt::skip]
fn events(routes: Routes) -> Routes {
    routes
        .get_with("/ojs/v1/events", All, events::list)
        .lasting("/ojs/v1/events/stream", All, events::stream)
        .lasting("/ojs/v1/ws", All, socket::open)
        .lasting("/ojs/v1/admin/stats/stream", All, admin::stats::stream)
        .lasting("/ojs/v1/jobs/{id}/events", OwnJob, jobs::events::run)
        .lasting("/ojs/v1/jobs/{id}/progress/stream", OwnJob, jobs::watch::progress)
        .lasting("/ojs/v1/jobs/{id}/result/stream", OwnJob, jobs::watch::result)
        .lasting("/ojs/v1/queues/{name}/events", All, queues::events::run)
}

/// What is for operators and dashboards.
#[rustfmt::skip]
fn operators(routes: Routes) -> Routes {
    routes
        .get_with("/ojs/v1/admin/queues", All, admin::queues::list)
        .get("/ojs/v1/admin/queues/{name}", All, admin::queues::show)
        .post("/ojs/v1/admin/queues/{name}/pause", Unused, All, admin::queues::pause)
        .post("/ojs/v1/admin/queues/{name}/resume", Unused, All, admin::queues::resume)
        .delete_with("/ojs/v1/admin/queues/{name}/jobs", Job, OwnIfSaid, admin::queues::purge)
        .get_with("/ojs/v1/admin/jobs", All, admin::jobs::list)
        .get("/ojs/v1/admin/jobs/{id}", OwnJob, admin::jobs::show)
        .delete("/ojs/v1/admin/jobs/{id}", OwnJob, admin::jobs::delete)
        .patch("/ojs/v1/admin/jobs/{id}", Job, OwnJob, jobs::update::run)
        .post("/ojs/v1/admin/jobs/{id}/cancel", Unused, OwnJob, jobs::cancel::run)
        .post("/ojs/v1/admin/jobs/{id}/retry", Unused, OwnJob, admin::jobs::retry)
        .post("/ojs/v1/admin/jobs/bulk/cancel", Job, OwnIfSaid, admin::bulk::cancel)
        .post("/ojs/v1/admin/jobs/bulk/retry", Job, OwnIfSaid, admin::bulk::retry)
        .post("/ojs/v1/admin/jobs/bulk/delete", Job, OwnIfSaid, admin::bulk::delete)
        .get_with("/ojs/v1/admin/workers", All, admin::workers::list)
        .get("/ojs/v1/admin/workers/{id}", All, admin::workers::show)
        .delete("/ojs/v1/admin/workers/{id}", All, admin::workers::remove)
        .post("/ojs/v1/admin/workers/{id}/quiet", Unused, All, admin::workers::quiet)
        .post("/ojs/v1/admin/workers/{id}/terminate", Unused, All, admin::workers::terminate)
        .get_with("/ojs/v1/admin/stats", All, admin::stats::show)
        .get_with("/ojs/v1/admin/stats/history", All, admin::stats::history)
        .get_with("/ojs/v1/admin/dead-letter", All, admin::dead_letter::list)
        .delete_with("/ojs/v1/admin/dead-letter", Job, OwnIfSaid, admin::dead_letter::purge)
        .get("/ojs/v1/admin/dead-letter/stats", All, admin::dead_letter::stats)
        .post("/ojs/v1/admin/dead-letter/retry", Job, OwnIfSaid, admin::dead_letter::retry_all)
        .get("/ojs/v1/admin/dead-letter/{id}", OwnJob, dead_letter::show::run)
        .delete("/ojs/v1/admin/dead-letter/{id}", OwnJob, admin::dead_letter::delete)
        .post("/ojs/v1/admin/dead-letter/{id}/retry", Job, OwnJob, dead_letter::retry::run)
        .get("/ojs/v1/middleware", All, middleware::show)
        .get("/ojs/v1/admin/system/config", All, admin::system::config)
        .get("/ojs/v1/admin/system/maintenance", All, admin::system::show_maintenance)
        .post("/ojs/v1/admin/system/maintenance", Job, All, admin::system::set_maintenance)
}

/// Jobs that are agents.
#[rustfmt::skip]
fn agents(routes: Routes) -> Routes {
    routes
        .post("/ojs/v1/agents/{id}/pause", Job, OwnJob, agents::pause)
        .post("/ojs/v1/agents/{id}/resume", Job, OwnJob, agents::resume)
        .post("/ojs/v1/agents/{id}/fork", Job, OwnJob, agents::fork)
        .post("/ojs/v1/agents/{id}/merge", Job, OwnJob, agents::merge)
        .post("/ojs/v1/agents/{id}/tool-retry", Job, OwnJob, agents::tool_retry)
}

/// Who is told by webhook, and what is on its way.
#[rustfmt::skip]
fn hooks(routes: Routes) -> Routes {
    routes
        .get_with("/ojs/v1/webhooks/subscriptions", All, webhooks::list)
        .post("/ojs/v1/webhooks/subscriptions", Job, All, webhooks::create)
        .get("/ojs/v1/webhooks/subscriptions/{id}", All, webhooks::show)
        .patch("/ojs/v1/webhooks/subscriptions/{id}", Job, All, webhooks::change)
        .put("/ojs/v1/webhooks/subscriptions/{id}", Job, All, webhooks::change)
        .delete("/ojs/v1/webhooks/subscriptions/{id}", All, webhooks::remove)
        .post("/ojs/v1/webhooks/subscriptions/{id}/test", Unused, All, webhooks::test)
        .post("/ojs/v1/webhooks/subscriptions/{id}/rotate-secret", Job, All, webhooks::rotate_secret)
        .get_with("/ojs/v1/webhooks/deliveries", All, webhooks::deliveries)
        .get("/ojs/v1/webhooks/deliveries/{id}", All, webhooks::delivery)
        .post("/ojs/v1/webhooks/deliveries/{id}/retry", Unused, All, webhooks::retry)
}

/// Schemas of arguments, pools of workers, tenants.
#[rustfmt::skip]
fn registries(routes: Routes) -> Routes {
    routes
        .get_with("/ojs/v1/schemas", All, schemas::list)
        .post("/ojs/v1/schemas", Job, All, schemas::register)
        .get("/ojs/v1/schemas/{name}", All, schemas::show)
        .delete("/ojs/v1/schemas/{name}", All, schemas::remove)
        .get("/ojs/v1/schemas/{name}/versions", All, schemas::versions)
        .delete("/ojs/v1/schemas/{name}/{version}", All, schemas::remove_version)
        .get_with("/ojs/v1/admin/schemas", All, schemas::list_whole)
        .put("/ojs/v1/admin/schemas/{name}/{version}", Job, All, schemas::register_version)
        .get("/ojs/v1/admin/schemas/{name}", All, schemas::latest)
        .get("/ojs/v1/admin/schemas/{name}/versions", All, schemas::versions)
        .get("/ojs/v1/admin/schemas/{name}/{version}", All, schemas::show_version)
        .delete("/ojs/v1/admin/schemas/{name}/{version}", All, schemas::remove_version)
        .get_with("/ojs/v1/admin/pools", All, pools::list)
        .put("/ojs/v1/admin/pools/{name}", Job, All, pools::put)
        .get("/ojs/v1/admin/pools/{name}", All, pools::show)
        .delete("/ojs/v1/admin/pools/{name}", All, pools::remove)
        .get("/ojs/v1/admin/scheduling/stats", All, scheduling::stats)
        .get_with("/ojs/v1/admin/tenants", All, tenants::list)
        .get("/ojs/v1/admin/tenants/{id}", All, tenants::show)
        .get_with("/ojs/v1/admin/tenants/{id}/jobs", All, tenants::jobs)
        .get("/ojs/v1/admin/tenants/{id}/stats", All, tenants::stats)
}
