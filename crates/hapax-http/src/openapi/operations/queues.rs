//! Queues.

use axum::http::Method;
use hapax_broker::{BULK_MAX, DEFAULT_SETTINGS};
use hapax_wire::error::Code;

use crate::from_wire::bounds::OFFSET_MAX;
use crate::openapi::operation::{Operation, delete, get, post, put};
use crate::openapi::parameter::{counted, cursor, numbered};
use crate::openapi::shape::named;

pub(super) fn operations() -> Vec<Operation> {
    for_clients().into_iter().chain(for_operators()).collect()
}

fn for_clients() -> Vec<Operation> {
    vec![
        get("/ojs/v1/queues", "List queues by name").with(counted(OFFSET_MAX)).with([cursor()]).gives(
            200,
            "A page of queues.",
            "Queues",
        ),
        post("/ojs/v1/queues", "Make a queue before its first job")
            .takes(named("QueueWish"))
            .gives(201, "Its settings.", "ShownQueueConfig")
            .fails([Code::ValidationError, Code::Unsupported]),
        get("/ojs/v1/queues/{name}", "Look at a queue")
            .gives(200, "The queue.", "ShownQueue")
            .fails([Code::NotFound]),
        delete("/ojs/v1/queues/{name}", "Delete a queue")
            .details(
                "`reject` deletes it if none of its jobs waits or runs; `discard` and `move` say what becomes of those that \
                 wait, some at a time. It takes no jobs meanwhile; those that run end where they are.",
            )
            .takes(named("QueueDeletionWish"))
            .gives(202, "It is gone, or going.", "DeletedQueue")
            .fails([Code::NotFound, Code::Conflict, Code::QueueDraining, Code::QueueFull]),
        get("/ojs/v1/queues/{name}/stats", "Ask how many jobs of a queue stand where")
            .details("A queue that was never used has zeros.")
            .gives(200, "Counts, and the last hour of this server.", "QueueStats"),
        get("/ojs/v1/queues/{name}/priority-stats", "Ask how many jobs of each priority wait").gives(
            200,
            "Counts by priority.",
            "PriorityStats",
        ),
        post("/ojs/v1/queues/{name}/pause", "Let a queue give out no jobs").gives(
            200,
            "It is paused.",
            "SwitchedQueue",
        ),
        post("/ojs/v1/queues/{name}/resume", "Let a queue give out jobs again").gives(
            200,
            "It is not paused.",
            "SwitchedQueue",
        ),
        post("/ojs/v1/queues/{name}/drain", "Let a queue take no more jobs")
            .details(
                "Those that it has are given out. `{\"draining\": false}` in its settings opens it again.",
            )
            .gives(200, "Its settings.", "ShownQueueConfig"),
        get("/ojs/v1/queues/{name}/config", "Look at the settings of a queue")
            .details(format!(
                "The name `{DEFAULT_SETTINGS}` stands for all queues without a decision of their own."
            ))
            .gives(200, "What was decided about it.", "ShownQueueConfig"),
        put("/ojs/v1/queues/{name}/config", "Change settings of a queue")
            .details(format!(
                "The name `{DEFAULT_SETTINGS}` stands for all queues without a decision of their own."
            ))
            .also(Method::PUT, "/ojs/v1/admin/queues/{name}/config")
            .takes(named("QueueConfigChange"))
            .gives(200, "What is decided about it.", "ShownQueueConfig")
            .fails([Code::ValidationError, Code::Unsupported]),
    ]
}

/// The same for operators.
fn for_operators() -> Vec<Operation> {
    vec![
        get("/ojs/v1/admin/queues", "List queues with their counts and figures").with(numbered()).gives(
            200,
            "A page of queues.",
            "OperatedQueues",
        ),
        get("/ojs/v1/admin/queues/{name}", "Look at a queue with its figures and settings")
            .gives(200, "The queue.", "ConfiguredQueue")
            .fails([Code::NotFound]),
        post("/ojs/v1/admin/queues/{name}/pause", "Let a queue give out no jobs (operators)").gives(
            200,
            "It is paused.",
            "SwitchedOperatedQueue",
        ),
        post("/ojs/v1/admin/queues/{name}/resume", "Let a queue give out jobs again (operators)").gives(
            200,
            "It is not paused.",
            "SwitchedOperatedQueue",
        ),
        delete("/ojs/v1/admin/queues/{name}/jobs", "Remove jobs of a queue that have ended")
            .details(format!("{BULK_MAX} at a time; `confirm: true` or `dry_run: true` is needed."))
            .takes(named("PurgeWish"))
            .gives(200, "How many.", "Purged"),
    ]
}
