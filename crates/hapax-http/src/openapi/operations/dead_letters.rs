//! Dead letters.

use axum::http::Method;
use hapax_broker::BULK_MAX;
use hapax_wire::error::Code;

use crate::from_wire::bounds::OFFSET_MAX;
use crate::openapi::operation::{Operation, delete, get, post};
use crate::openapi::parameter::{counted, cursor, job_filter, numbered, one_order};
use crate::openapi::shape::named;

pub(super) fn operations() -> Vec<Operation> {
    let many = format!("{BULK_MAX} at a time; `confirm: true` or `dry_run: true` is needed.");
    vec![
        get("/ojs/v1/dead-letter", "List dead letters, newest first")
            .with(job_filter())
            .with(counted(OFFSET_MAX))
            .with([cursor()])
            .gives(200, "A page of jobs.", "DeadLetters"),
        get("/ojs/v1/admin/dead-letter", "List dead letters by pages, newest first")
            .with(job_filter())
            .with(numbered())
            .with(one_order())
            .gives(200, "A page of jobs.", "OperatedDeadLetters")
            .fails([Code::Unsupported]),
        get("/ojs/v1/dead-letter/stats", "Ask what dead letters are together")
            .also(Method::GET, "/ojs/v1/admin/dead-letter/stats")
            .gives(200, "Counts by queue and by error.", "DeadLetterStats"),
        get("/ojs/v1/dead-letter/{id}", "Look at a dead letter")
            .also(Method::GET, "/ojs/v1/admin/dead-letter/{id}")
            .gives(200, "The job.", "ShownJob")
            .fails([Code::NotFound]),
        post("/ojs/v1/dead-letter/{id}/retry", "Try a dead letter again")
            .also(Method::POST, "/ojs/v1/admin/dead-letter/{id}/retry")
            .may_take(named("RevivalWish"))
            .gives(200, "The job as it is.", "ShownJob")
            .fails([Code::NotFound, Code::Duplicate, Code::ValidationError]),
        delete("/ojs/v1/dead-letter/{id}", "Throw a dead letter away")
            .gives(200, "It is gone.", "DeletedJob")
            .fails([Code::NotFound]),
        delete("/ojs/v1/admin/dead-letter/{id}", "Throw a dead letter away (operators)")
            .gives_nothing(204, "It is gone.")
            .fails([Code::NotFound]),
        post("/ojs/v1/dead-letter/retry", "Try dead letters again that fit")
            .details(many.clone())
            .also(Method::POST, "/ojs/v1/admin/dead-letter/retry")
            .takes(named("LetterDeed"))
            .gives(200, "How many.", "DeedSummary"),
        delete("/ojs/v1/dead-letter", "Throw dead letters away that fit")
            .details(many)
            .also(Method::DELETE, "/ojs/v1/admin/dead-letter")
            .takes(named("LetterDeed"))
            .gives(200, "How many.", "DeedSummary"),
    ]
}
