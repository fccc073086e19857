//! Jobs that are agents.

use hapax_wire::error::Code;

use crate::openapi::operation::{Operation, post};
use crate::openapi::shape::named;

pub(super) fn operations() -> Vec<Operation> {
    let gone = [Code::NotFound, Code::Conflict];
    vec![
        post("/ojs/v1/agents/{id}/pause", "Stop an agent until a person has looked")
            .may_take(named("AgentPause"))
            .gives(200, "The agent waits.", "Agent")
            .fails(gone),
        post("/ojs/v1/agents/{id}/resume", "Let an agent go on, or call it off")
            .may_take(named("AgentResume"))
            .gives(200, "What was decided.", "Agent")
            .fails(gone),
        post("/ojs/v1/agents/{id}/fork", "Branch a job off that goes on from where an agent is")
            .takes(named("AgentFork"))
            .gives(200, "The branch.", "Branch")
            .fails(gone)
            .fails([Code::QueueDraining, Code::JobTypeNotAllowed, Code::QueueFull, Code::BackendUnavailable]),
        post("/ojs/v1/agents/{id}/merge", "Enqueue a job that goes on from where two branches are")
            .takes(named("AgentMerge"))
            .gives(200, "The job, and where the branches contradict each other.", "MergedBranches")
            .fails(gone)
            .fails([Code::QueueDraining, Code::JobTypeNotAllowed, Code::QueueFull, Code::BackendUnavailable])
            .fails([Code::PayloadTooLarge]),
        post("/ojs/v1/agents/{id}/tool-retry", "Ask whether a tool that failed is to be tried again")
            .may_take(named("ToolRetryWish"))
            .gives(200, "Whether, and by which provider.", "ToolRetry")
            .fails(gone),
    ]
}
