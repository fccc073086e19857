//! How far jobs have come, and what became of them.

use axum::http::Method;
use hapax_wire::error::Code;

use crate::from_wire::bounds::{LIMIT_DEFAULT, RESULT_WAIT_DEFAULT, RESULT_WAIT_MAX};
use crate::openapi::operation::{Operation, delete, get, post, put};
use crate::openapi::parameter::{cursor, limit, query, wait};
use crate::openapi::shape::{count, named};

pub(super) fn operations() -> Vec<Operation> {
    let seconds = count().most(RESULT_WAIT_MAX).default(RESULT_WAIT_DEFAULT);
    vec![
        put("/ojs/v1/jobs/{id}/progress", "Report how far a job has come")
            .takes(named("ProgressReport"))
            .gives(200, "What is known of it.", "Progress")
            .fails([Code::NotFound, Code::LeaseLost]),
        post("/ojs/v1/workers/progress", "Report how far a job has come, with its id in the body")
            .takes(named("ProgressOfJob"))
            .gives(200, "What is known of it.", "Progress")
            .fails([Code::NotFound, Code::LeaseLost]),
        get("/ojs/v1/jobs/{id}/progress", "Ask how far a job has come")
            .gives(200, "What is known of it.", "Progress")
            .fails([Code::NotFound]),
        put("/ojs/v1/jobs/{id}/checkpoint", "Save a checkpoint")
            .details("The next attempt gets it with the job, and can go on from there.")
            .also(Method::POST, "/ojs/v1/jobs/{id}/checkpoint")
            .also(Method::POST, "/ojs/v1/checkpoints/{id}")
            .also(Method::POST, "/ojs/v1/ojs/v1/checkpoints/{id}")
            .takes(named("CheckpointWish"))
            .gives(200, "Which checkpoint it is.", "SavedCheckpoint")
            .fails([Code::NotFound, Code::Conflict, Code::LeaseLost]),
        get("/ojs/v1/jobs/{id}/checkpoint", "Look at the checkpoint of a job")
            .gives(200, "The checkpoint.", "ShownCheckpoint")
            .fails([Code::NotFound]),
        get("/ojs/v1/checkpoints/{id}/resume", "Look at the checkpoint of a job, if it has one")
            .also(Method::GET, "/ojs/v1/ojs/v1/checkpoints/{id}/resume")
            .gives(200, "The checkpoint, or null.", "Resumption")
            .fails([Code::NotFound]),
        delete("/ojs/v1/jobs/{id}/checkpoint", "Drop the checkpoint of a job")
            .also(Method::DELETE, "/ojs/v1/checkpoints/{id}")
            .also(Method::DELETE, "/ojs/v1/ojs/v1/checkpoints/{id}")
            .gives(200, "There is none, whether or not there was one.", "DeletedJob")
            .fails([Code::NotFound]),
        get("/ojs/v1/jobs/{id}/result", "Ask for the result of a job, or wait for it")
            .with([
                wait("Wait until the job has ended."),
                query("timeout", "How many seconds to wait.", seconds),
            ])
            .gives(200, "The result of a job that was done, the error of one that was not.", "Result")
            .fails([Code::NotFound, Code::ResultPending]),
        get("/ojs/v1/jobs/{id}/history", "Ask what is known of a job's past")
            .details(
                "Nothing is written down for this: it is what the stored job says of itself. `omitted` names what it does not keep.",
            )
            .with([limit(LIMIT_DEFAULT), cursor()])
            .gives(200, "What happened, the oldest first.", "JobHistory")
            .fails([Code::NotFound]),
        get("/ojs/v1/jobs/{id}/lineage", "Ask from whom a job comes and who comes from it")
            .gives(200, "Its relatives, as far as they are stored.", "JobLineage")
            .fails([Code::NotFound]),
        post("/ojs/v1/jobs/results", "Ask for the results of many jobs").takes(named("ResultsWish")).gives(
            200,
            "What became of each, by its id.",
            "Results",
        ),
    ]
}
