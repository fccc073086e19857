//! Jobs, one at a time.

use axum::http::Method;
use hapax_core::Priority;
use hapax_wire::error::Code;

use crate::openapi::operation::{Operation, delete, get, patch, post};
use crate::openapi::parameter::{block_timeout, enqueue_headers};
use crate::openapi::shape::{integer, named, needs, object};

/// What may come of a job that is sent.
pub(super) const ADMISSION_ERRORS: [Code; 12] = [
    Code::Duplicate,
    Code::Conflict,
    Code::IdempotencyMismatch,
    Code::ValidationError,
    Code::SchemaValidation,
    Code::Refused,
    Code::Unsupported,
    Code::QueueDraining,
    Code::JobTypeNotAllowed,
    Code::QueueFull,
    Code::OutcomeUnknown,
    Code::BackendUnavailable,
];

pub(super) fn operations() -> Vec<Operation> {
    let priority = object([needs("priority", integer().least(Priority::MIN).most(Priority::MAX))]).only();
    vec![
        post("/ojs/v1/jobs", "Enqueue a job")
            .details("It is on disk when this is answered. `outcome` says what became of a unique job.")
            .with(enqueue_headers())
            .with([block_timeout()])
            .takes(named("Envelope"))
            .gives(201, "It was created; its address is in `Location`.", "Admission")
            .gives(200, "An earlier job stands for it.", "Admission")
            .fails(ADMISSION_ERRORS),
        get("/ojs/v1/jobs/{id}", "Look at a job").gives(200, "The job.", "ShownJob").fails([Code::NotFound]),
        patch("/ojs/v1/jobs/{id}", "Give a waiting job another priority")
            .also(Method::PATCH, "/ojs/v1/admin/jobs/{id}")
            .takes(priority)
            .gives(200, "The job as it is.", "ReprioritizedJob")
            .fails([Code::NotFound, Code::Conflict]),
        post("/ojs/v1/jobs/{id}/cancel", "Call a job off")
            .details("A running job is called off too: its worker hears of it with the next heartbeat.")
            .also(Method::DELETE, "/ojs/v1/jobs/{id}")
            .also(Method::POST, "/ojs/v1/admin/jobs/{id}/cancel")
            .gives(200, "The job as it is.", "ShownJob")
            .fails([Code::NotFound, Code::Conflict]),
        post("/ojs/v1/jobs/{id}/activate", "Let a pending job go")
            .gives(200, "The job as it is.", "ShownJob")
            .fails([Code::NotFound, Code::Conflict]),
        post("/ojs/v1/admin/jobs/{id}/retry", "Try a job again that has ended without success")
            .gives(200, "The job as it is.", "ShownJob")
            .fails([Code::NotFound, Code::Conflict, Code::Duplicate]),
        delete("/ojs/v1/admin/jobs/{id}", "Remove what is left of a job that has ended")
            .gives(200, "It is gone.", "DeletedJob")
            .fails([Code::NotFound, Code::Conflict]),
    ]
}
