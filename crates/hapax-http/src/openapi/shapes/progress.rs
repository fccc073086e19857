//! How far jobs have come, and what became of them.

use hapax_core::{Checkpoint, Progress};

use super::Named;
use crate::from_wire::bounds::{RESULT_BYTES_MAX, RESULTS_MAX};
use crate::openapi::shape::{
    Member, Shape, all, any, count, flag, map, may, moment, named, needs, number, object, text, texts, twice,
};

pub(super) fn shapes() -> Vec<Named> {
    let of_job = || object([needs("job_id", text())]);
    let saved = object([needs("job_id", text())].into_iter().chain(checkpoint_facts()));
    vec![
        ("Checkpoint", checkpoint()),
        ("CheckpointWish", checkpoint_wish()),
        ("SavedCheckpoint", twice("checkpoint", &saved)),
        ("ShownCheckpoint", twice("checkpoint", &all([of_job(), named("Checkpoint")]))),
        ("Resumption", resumption()),
        (
            "ProgressReport",
            object(report())
                .about("At least one of `progress`, `percentage`, `message`, `data` and `checkpoint`."),
        ),
        ("ProgressOfJob", all([named("ProgressReport"), object([needs("job_id", text())])])),
        ("Progress", progress()),
        ("Acknowledgement", object(acknowledgement(may))),
        ("AcknowledgementOfJob", object(acknowledgement(needs))),
        ("Result", all([of_job(), named("Outcome")])),
        ("Outcome", outcome()),
        ("ResultsWish", object([needs("ids", texts().items_max(RESULTS_MAX))]).only()),
        (
            "Results",
            object([needs("results", map(&named("Outcome")))]).about("What became of each job, by its id."),
        ),
    ]
}

/// What shows that the job is the worker's.
pub(super) fn claimant() -> [Member; 2] {
    [may("lease", text().about("The lease of the fetched job.")), may("worker_id", text())]
}

fn checkpoint_facts() -> [Member; 2] {
    [needs("sequence", count()), needs("created_at", moment())]
}

fn checkpoint() -> Shape {
    let state = needs("state", any().about("What the next attempt needs; comes back byte for byte."));
    object([state].into_iter().chain(checkpoint_facts()))
        .about("Further members are those that the worker sent.")
}

fn checkpoint_wish() -> Shape {
    let state = any()
        .about(format!("Any JSON value. All of the checkpoint has at most {} bytes.", Checkpoint::BYTES_MAX));
    let own = [needs("state", state), may("job_id", text())];
    object(own.into_iter().chain(claimant())).others(&any()).about("Further members are kept and returned.")
}

fn resumption() -> Shape {
    let checkpoint = all([object([needs("job_id", text())]), named("Checkpoint")]);
    object([
        needs("job_id", text()),
        needs("has_checkpoint", flag()),
        needs("checkpoint", checkpoint.or_null()),
    ])
}

fn report() -> Vec<Member> {
    let message = format!("{} bytes at most.", Progress::MESSAGE_BYTES_MAX);
    let data = format!("Any JSON value, {} bytes at most.", Progress::DATA_BYTES_MAX);
    let own = [
        may("job_id", text()),
        may("progress", number().about("From 0 to 1; beyond that it counts as 0 or 1.")),
        may("percentage", number().about("The same from 0 to 100.")),
        may("message", text().about(message)),
        may("data", any().about(data)),
        may("checkpoint", any().about("The state of a checkpoint to save with it.")),
    ];
    own.into_iter().chain(claimant()).collect()
}

fn progress() -> Shape {
    object([
        needs("job_id", text()),
        needs("state", named("State")),
        needs("attempt", count()),
        needs("progress", number().or_null()),
        needs("data", any()),
        needs("message", text().or_null()),
        needs("updated_at", moment().or_null()),
    ])
}

fn acknowledgement(job_id: fn(&'static str, Shape) -> Member) -> Vec<Member> {
    let result = any().about(format!("What the job leaves, {RESULT_BYTES_MAX} bytes at most."));
    [job_id("job_id", text()), may("result", result)].into_iter().chain(claimant()).collect()
}

fn outcome() -> Shape {
    object([
        needs("state", named("State").or_null().about("Null if there is no such job.")),
        may("result", any()),
        may("error", named("Failure")),
        may("result_stored_at", moment()),
        may("result_size_bytes", count()),
        may("completed_at", moment().about("The same as `result_stored_at`, in the answer about one job.")),
        may("abridged", flag().about("There was no room for the result: ask for it alone.")),
    ])
}
