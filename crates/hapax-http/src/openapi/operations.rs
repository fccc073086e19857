//! Every route described, in the order in which people read about them.
//!
//! A route that is added to `router/table.rs` is described here, in the file of its group: where it is, what it does in a
//! few words, what it takes and gives (a name of `shapes`), and the errors that belong to it. What every route has, such as
//! the parts of its path, its key and the errors of a bad body, is added by itself. The test says which route has no
//! description, and which description has no route.

mod agents;
mod bulk;
mod cron;
mod dead_letters;
mod events;
mod jobs;
mod keys;
mod operators;
mod pools;
mod progress;
mod queues;
mod rate_limits;
mod schemas;
mod server;
mod webhooks;
mod workers;
mod workflows;

use super::operation::Operation;

/// Routes that belong together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) operations: fn() -> Vec<Operation>,
}

/// All of them.
pub(super) const GROUPS: &[Group] = &[
    Group { name: "Jobs", about: "Enqueue, look at, call off.", operations: jobs::operations },
    Group { name: "Many jobs", about: "In one request.", operations: bulk::operations },
    Group { name: "Keys", about: "Unique jobs, and jobs with a name.", operations: keys::operations },
    Group { name: "Workers", about: "Fetch, report, stay alive.", operations: workers::operations },
    Group {
        name: "Progress and results",
        about: "On the way, and at the end.",
        operations: progress::operations,
    },
    Group { name: "Queues", about: "Counts and settings.", operations: queues::operations },
    Group { name: "Rate limits", about: "How many run or start.", operations: rate_limits::operations },
    Group { name: "Dead letters", about: "Jobs that failed for good.", operations: dead_letters::operations },
    Group { name: "Recurring jobs", about: "Jobs by the clock.", operations: cron::operations },
    Group { name: "Workflows", about: "Jobs that wait for each other.", operations: workflows::operations },
    Group {
        name: "Events",
        about: "What has happened, and what happens now.",
        operations: events::operations,
    },
    Group { name: "Webhooks", about: "Events, sent to you.", operations: webhooks::operations },
    Group { name: "Agents", about: "Jobs that people watch over.", operations: agents::operations },
    Group { name: "Schemas", about: "What arguments have to look like.", operations: schemas::operations },
    Group {
        name: "Pools and tenants",
        about: "Shares of queues, and of customers.",
        operations: pools::operations,
    },
    Group {
        name: "Operators",
        about: "For dashboards and people on call.",
        operations: operators::operations,
    },
    Group { name: "Server", about: "What it is, and how it is.", operations: server::operations },
];
