//! Many jobs in one request.

use hapax_broker::{BATCH_MAX, BULK_MAX};
use hapax_wire::error::Code;

use super::jobs::ADMISSION_ERRORS;
use crate::openapi::operation::{Operation, post};
use crate::openapi::parameter::enqueue_headers;
use crate::openapi::shape::named;

pub(super) fn operations() -> Vec<Operation> {
    let mut operations = vec![
        post("/ojs/v1/jobs/batch", "Enqueue many jobs, all or none")
            .details(format!("Up to {BATCH_MAX} jobs; each sees the ones before it."))
            .with(enqueue_headers())
            .takes(named("Batch"))
            .gives(201, "They were created, or some of them.", "Admissions")
            .gives(200, "Earlier jobs stand for all of them.", "Admissions")
            .fails(ADMISSION_ERRORS)
            .fails([Code::BatchTooLarge]),
        post("/ojs/v1/jobs/bulk", "Enqueue many jobs, each for itself")
            .details(format!("Up to {BATCH_MAX} jobs in one commit; a bad one holds up no other."))
            .with(enqueue_headers())
            .takes(named("Bulk"))
            .gives(201, "None failed.", "BulkAnswer")
            .gives(207, "Some failed.", "BulkAnswer")
            .gives(422, "All failed.", "BulkAnswer")
            .fails(ADMISSION_ERRORS)
            .fails([Code::BatchTooLarge]),
    ];
    let deeds = [
        (
            ["/ojs/v1/jobs/bulk/cancel", "/ojs/v1/admin/jobs/bulk/cancel"],
            ["Call many jobs off", "Call off all jobs that fit"],
        ),
        (
            ["/ojs/v1/jobs/bulk/retry", "/ojs/v1/admin/jobs/bulk/retry"],
            ["Try many jobs again", "Try all jobs again that fit"],
        ),
        (
            ["/ojs/v1/jobs/bulk/delete", "/ojs/v1/admin/jobs/bulk/delete"],
            ["Remove what is left of many jobs", "Remove all jobs that fit and have ended"],
        ),
    ];
    operations.extend(deeds.iter().map(|(paths, summaries)| for_client(paths[0], summaries[0])));
    operations.extend(deeds.iter().map(|(paths, summaries)| for_operator(paths[1], summaries[1])));
    operations
}

fn for_client(path: &'static str, summary: &'static str) -> Operation {
    post(path, summary)
        .details(format!("By their ids, or by a filter; {BULK_MAX} at a time, each for itself."))
        .takes(named("ClientDeed"))
        .gives(200, "All went well, or it was a dry run.", "DeedItems")
        .gives(207, "Some were skipped.", "DeedItems")
        .gives(422, "All were skipped.", "DeedItems")
        .fails([Code::BatchTooLarge, Code::Unsupported])
}

fn for_operator(path: &'static str, summary: &'static str) -> Operation {
    post(path, summary)
        .details(format!("{BULK_MAX} at a time; `confirm: true` or `dry_run: true` is needed."))
        .takes(named("OperatorDeed"))
        .gives(200, "How many.", "DeedSummary")
}
