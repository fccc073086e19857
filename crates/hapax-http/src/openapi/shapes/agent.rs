//! Jobs that are agents.

use hapax_core::MergeStrategy;

use super::Named;
use crate::from_wire::bounds::{AGENT_NAME_BYTES_MAX, AGENT_TEXT_BYTES_MAX};
use crate::openapi::shape::{choice, count, flag, list, may, named, needs, object, text};

pub(super) fn shapes() -> Vec<Named> {
    let said = || text().chars_max(AGENT_TEXT_BYTES_MAX);
    let name = || text().chars_max(AGENT_NAME_BYTES_MAX);
    let states = choice(["paused", "running", "stopped"]);
    let resume = [
        needs("approved", flag().about("False calls the job off.")),
        may("comment", said()),
        may("metadata", object([]).about("What else the agent is to know of the decision.")),
    ];
    let retry = [
        needs("tool_call_id", name()),
        may("error", said()),
        may("use_alternate", flag().about("Whether another provider is to do it.")),
    ];
    let agent = [
        needs("state", states.about("That of the agent; the job has its own.")),
        needs("job_id", text()),
        needs("job", named("Job")),
    ];
    let retried = [
        needs("job_id", text()),
        needs("tool_call_id", text()),
        may("retried", flag().about("Whether to try again.")),
        may("provider", text()),
        may("attempt", count()),
        may("max_attempts", count()),
    ];
    let content = text().about("A hash of what the branch goes on from.");
    let strategy = choice(MergeStrategy::ALL.map(MergeStrategy::name));
    let merge = [
        needs("branch_a", text().about("A branch of this agent, or the agent itself.")),
        needs("branch_b", text().about("Another.")),
        needs(
            "strategy",
            strategy.about("Go on with what the first has left, or the second, or with members of both."),
        ),
    ];
    let merged = [
        needs("merged_id", text()),
        needs("conflicts", list(text().about("A JSON pointer into what the branches have left."))),
        needs("job", named("Job")),
    ];
    vec![
        ("AgentMerge", object(merge).only()),
        ("MergedBranches", object(merged)),
        ("AgentPause", object([may("reason", said())]).only()),
        ("AgentResume", object(resume).only()),
        ("AgentFork", object([needs("at_turn", count()), may("branch_name", name())]).only()),
        ("ToolRetryWish", object(retry).only()),
        ("Agent", object(agent)),
        ("ToolRetry", object(retried)),
        (
            "Branch",
            object([needs("branch_id", text()), needs("content_id", content), needs("job", named("Job"))]),
        ),
    ]
}
