//! What is for operators and dashboards.

use hapax_broker::Period;
use hapax_wire::error::Code;

use crate::openapi::operation::{Operation, delete, get, post};
use crate::openapi::parameter::{Parameter, job_filter, numbered, order, query};
use crate::openapi::shape::{Shape, choice, either, flag, list, moment, named, needs, object, span, text};

pub(super) fn operations() -> Vec<Operation> {
    let past = || either([moment(), span()]);
    vec![
        get("/ojs/v1/admin/jobs", "Find jobs")
            .with(finding_jobs())
            .gives_shape(200, "A page of jobs in short.", jobs())
            .fails([Code::Unsupported]),
        get("/ojs/v1/admin/jobs/{id}", "Look at a job (operators)")
            .gives(200, "The job, with its moments in one place.", "OperatedJob")
            .fails([Code::NotFound]),
        get("/ojs/v1/admin/workers", "List the workers that this server has heard of")
            .with(numbered())
            .gives(200, "A page of workers.", "Workers"),
        get("/ojs/v1/admin/workers/{id}", "Look at a worker and the jobs that it holds")
            .gives(200, "The worker.", "WorkerWithJobs")
            .fails([Code::NotFound]),
        post("/ojs/v1/admin/workers/{id}/quiet", "Tell a worker to take no new jobs")
            .details("It hears of it with its next heartbeat.")
            .gives(200, "The worker.", "Worker")
            .fails([Code::NotFound]),
        post("/ojs/v1/admin/workers/{id}/terminate", "Tell a worker to stop")
            .details("It hears of it with its next heartbeat.")
            .gives(200, "The worker.", "Worker")
            .fails([Code::NotFound]),
        delete("/ojs/v1/admin/workers/{id}", "Forget a worker that is silent, and give its jobs to others")
            .gives(200, "How many jobs.", "RemovedWorker")
            .fails([Code::NotFound, Code::Conflict]),
        get("/ojs/v1/admin/stats", "Ask for sums over everything")
            .with([query("queue", "Of this queue alone: its counts and figures.", text())])
            .gives(200, "Counts and figures.", "Stats")
            .fails([Code::NotFound]),
        get("/ojs/v1/admin/stats/history", "Ask what happened in each period")
            .with([
                query("period", "How long a period is.", choice(Period::ALL.map(Period::name))),
                query("since", "From this time on, or so long ago.", past()),
                query("until", "To this time, or so long ago.", past()),
                query("queue", "In this queue alone.", text()),
            ])
            .gives(200, "A point for each period.", "History"),
        get("/ojs/v1/middleware", "Ask what a job passes on its way in and out").gives(
            200,
            "The stations of an enqueue and of a fetch, in order.",
            "Middleware",
        ),
        get("/ojs/v1/admin/system/config", "Ask how the server is set up").gives(
            200,
            "Its settings, without anything secret.",
            "SystemConfig",
        ),
        get("/ojs/v1/admin/system/maintenance", "Ask whether the server is under maintenance").gives(
            200,
            "Whether, and why.",
            "Maintenance",
        ),
        post("/ojs/v1/admin/system/maintenance", "Begin or end a maintenance")
            .details("In the meantime the server takes in no jobs, and gives out those that it has.")
            .takes(named("MaintenanceWish"))
            .gives(200, "Whether, and why.", "Maintenance"),
        post("/ojs/v1/admin/reset", "Wipe everything").details("Only on servers for tests.").gives(
            200,
            "Nothing is left.",
            "Reset",
        ),
    ]
}

/// What an operator says of the jobs that are wanted.
pub(super) fn finding_jobs() -> Vec<Parameter> {
    let open = query("exclude_terminal", "Without those that have ended.", flag().default(false));
    job_filter().into_iter().chain(numbered()).chain(order()).chain([open]).collect()
}

pub(super) fn jobs() -> Shape {
    object([needs("items", list(named("JobSummary"))), needs("pagination", named("NumberedPagination"))])
}
