//! Workers.

use axum::http::Method;
use hapax_wire::error::Code;

use crate::openapi::operation::{Operation, get, post};
use crate::openapi::shape::named;

pub(super) fn operations() -> Vec<Operation> {
    let report = [Code::NotFound, Code::Conflict, Code::LeaseLost];
    vec![
        post("/ojs/v1/workers/fetch", "Fetch jobs to work on")
            .also(Method::POST, "/ojs/v1/jobs/fetch")
            .details("Each comes with a `lease`: send it with every report on the job.")
            .takes(named("FetchWish"))
            .gives(200, "The jobs, or none.", "Fetched")
            .fails([Code::NotFound]),
        post("/ojs/v1/workers/ack", "Say that a job is done")
            .takes(named("AcknowledgementOfJob"))
            .gives(200, "Where the job stands.", "Standing")
            .fails(report)
            .fails([Code::ResultTooLarge]),
        post("/ojs/v1/jobs/{id}/ack", "Say that a job is done, by its path")
            .may_take(named("Acknowledgement"))
            .gives(200, "Where the job stands.", "Standing")
            .fails(report)
            .fails([Code::ResultTooLarge]),
        post("/ojs/v1/workers/nack", "Say that a job failed")
            .takes(named("RejectionOfJob"))
            .gives(200, "Where the job stands.", "Standing")
            .fails(report),
        post("/ojs/v1/jobs/{id}/nack", "Say that a job failed, by its path")
            .may_take(named("Rejection"))
            .gives(200, "Where the job stands.", "Standing")
            .fails(report),
        post("/ojs/v1/workers/heartbeat", "Stay alive, and keep jobs")
            .details("Extends the leases of the jobs that it names, and tells the worker what it is to do.")
            .also(Method::POST, "/ojs/v1/workers/beat")
            .takes(named("Heartbeat"))
            .gives(200, "What became of the leases, and an order.", "Pulse"),
        post("/ojs/v1/workers/register", "Introduce a worker").takes(named("Registration")).gives(
            200,
            "What it should know.",
            "Registered",
        ),
        get("/ojs/v1/workers/{id}/health", "Ask whether a worker takes jobs")
            .gives(200, "It does.", "WorkerHealth")
            .gives(503, "It is quiet, or nobody has heard of it for a while.", "WorkerHealth")
            .fails([Code::NotFound]),
    ]
}
