//! What the rules do not allow, as clients hear of it.

use hapax_core::workflow::WorkflowId;
use hapax_core::{JobId, Refusal, Verdict};
use hapax_wire::error::Code;
use hapax_wire::writer::{self, Object};

use crate::problem::Problem;

/// The problem that a refusal is.
pub(crate) fn problem(refusal: &Refusal) -> Problem {
    let mut details = Vec::new();
    writer::object(&mut details, |o| members(o, refusal));
    Problem {
        details: Some(details),
        hint: hint(refusal),
        full: full(refusal),
        ..Problem::new(code(refusal), refusal.to_string())
    }
}

fn full(refusal: &Refusal) -> Option<(u64, u64)> {
    match refusal {
        Refusal::QueueFull { depth, max, .. } => Some((*depth, *max)),
        Refusal::InBatch { refusal, .. } | Refusal::InWorkflow { refusal, .. } => full(refusal),
        _ => None,
    }
}

/// What to do, where the table does not know it.
fn hint(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::KeyNotHeld => Some("GET /ojs/v1/unique/keys lists the keys that are held."),
        Refusal::NoDeadLetter { .. } => Some(
            "GET /ojs/v1/jobs/{id} shows the job; a dead letter is a discarded job whose retry policy says \
             on_exhaustion dead_letter, or whose worker said so.",
        ),
        Refusal::PayloadFull { .. } => Some(
            "Let the waiting job run before more is added to it, or send references instead of the data.",
        ),
        Refusal::TooManyHolders { .. } => {
            Some("Take the key away from them first: POST /ojs/v1/unique/keys/{key}/release.")
        }
        Refusal::NotItsTurn { .. } => {
            Some("It goes on when all before it have ended; cancel those that it shall not wait for.")
        }
        Refusal::NotPaused { .. } => Some(
            "Pause it first, or activate a job that was enqueued as pending: POST /ojs/v1/jobs/{id}/activate.",
        ),
        Refusal::NoBranch { .. } => Some("Branches are made by POST /ojs/v1/agents/{id}/fork of that agent."),
        Refusal::AgentFull { .. } => {
            Some("Leave large things elsewhere, and references to them in the checkpoints.")
        }
        Refusal::OtherOrder { .. } => {
            Some("Send the same queue and ordering_key, or wait for its end, or cancel it first.")
        }
        Refusal::RegisterFull { .. } => Some("Remove one that is not needed any more."),
        Refusal::QueueInUse { .. } => Some("The strategies discard and move say what becomes of them."),
        Refusal::StepWaits { .. } => {
            Some("It goes on by itself when the steps have ended that it waits for.")
        }
        Refusal::InBatch { refusal, .. } | Refusal::InWorkflow { refusal, .. } => hint(refusal),
        Refusal::NotFound(_)
        | Refusal::WrongState { .. }
        | Refusal::LeaseLost { .. }
        | Refusal::NotMeant(_)
        | Refusal::IdTaken { .. }
        | Refusal::Duplicate { .. }
        | Refusal::IdempotencyMismatch
        | Refusal::KeyImpossible { .. }
        | Refusal::Twin { .. }
        | Refusal::QueueFull { .. }
        | Refusal::QueueDraining(_)
        | Refusal::TypeNotAllowed { .. }
        | Refusal::NoEntry { .. }
        | Refusal::EntryTaken { .. }
        | Refusal::DeliveryArrived(_)
        | Refusal::WorkflowEnded { .. }
        | Refusal::NotDue(_) => None,
    }
}

fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::NotFound(_)
        | Refusal::NoDeadLetter { .. }
        | Refusal::KeyNotHeld
        | Refusal::NoEntry { .. } => Code::NotFound,
        Refusal::WrongState { .. }
        | Refusal::NotMeant(_)
        | Refusal::NotDue(_)
        | Refusal::TooManyHolders { .. }
        | Refusal::NotItsTurn { .. }
        | Refusal::StepWaits { .. }
        | Refusal::NotPaused { .. }
        | Refusal::NoBranch { .. }
        | Refusal::OtherOrder { .. }
        | Refusal::QueueInUse { .. }
        | Refusal::RegisterFull { .. }
        | Refusal::DeliveryArrived(_)
        | Refusal::WorkflowEnded { .. } => Code::Conflict,
        Refusal::QueueFull { .. } => Code::QueueFull,
        Refusal::QueueDraining(_) => Code::QueueDraining,
        Refusal::TypeNotAllowed { .. } => Code::JobTypeNotAllowed,
        Refusal::LeaseLost { .. } => Code::LeaseLost,
        Refusal::IdTaken { .. }
        | Refusal::Duplicate { .. }
        | Refusal::Twin { .. }
        | Refusal::EntryTaken { .. } => Code::Duplicate,
        Refusal::IdempotencyMismatch => Code::IdempotencyMismatch,
        Refusal::KeyImpossible { .. } => Code::InvalidRequest,
        Refusal::PayloadFull { .. } | Refusal::AgentFull { .. } => Code::PayloadTooLarge,
        Refusal::InBatch { refusal, .. } | Refusal::InWorkflow { refusal, .. } => code(refusal),
    }
}

fn members(o: &mut Object<'_>, refusal: &Refusal) {
    match refusal {
        Refusal::NotFound(id) => resource(o, "job", id),
        Refusal::NoDeadLetter { id, state } => no_letter(o, id, state.name()),
        Refusal::WrongState { id, state, expected } => {
            o.plain("job_id", id);
            o.text("current_state", state.name());
            o.plain("expected_state", expected);
        }
        Refusal::LeaseLost { id, state } | Refusal::NotPaused { id, state } => {
            o.plain("job_id", id);
            o.text("current_state", state.name());
        }
        Refusal::IdTaken { id, state } => existing(o, id, state.name()),
        Refusal::Duplicate { existing: id, state, key } => {
            existing(o, id, state.name());
            // One name from the unique-jobs document, one from the HTTP binding.
            o.plain("uniqueness_key", key);
            o.plain("unique_key", key);
        }
        Refusal::Twin { of } => {
            o.text("outcome", Verdict::Rejected.name());
            o.number("duplicate_of_index", of);
        }
        Refusal::KeyImpossible { id, error } => {
            o.plain("job_id", id);
            o.text("field", "override");
            o.text("validation", &error.to_string());
        }
        Refusal::KeyNotHeld => o.text("resource_type", "key"),
        Refusal::NoBranch { id, of } => no_branch(o, *id, *of),
        Refusal::AgentFull { id, bytes, max } => too_large(o, Some(*id), *bytes, *max),
        Refusal::PayloadFull { id, bytes, max } => too_large(o, *id, *bytes, *max),
        Refusal::TooManyHolders { count, max } => too_many(o, "holders", *count, *max),
        Refusal::NoEntry { register, name } | Refusal::EntryTaken { register, name } => {
            o.text("resource_type", register);
            o.text("resource_id", name);
        }
        Refusal::RegisterFull { register, max } => {
            o.text("resource_type", register);
            o.number("limit", max);
        }
        Refusal::DeliveryArrived(id) => {
            o.plain("delivery_id", id);
            o.text("current_state", "delivered");
        }
        Refusal::QueueFull { queue, depth, max } => {
            o.plain("queue", queue);
            o.number("depth", depth);
            o.number("bound", max);
        }
        Refusal::QueueDraining(queue) => o.plain("queue", queue),
        Refusal::QueueInUse { queue, jobs } => {
            o.plain("queue", queue);
            o.number("jobs", jobs);
        }
        Refusal::TypeNotAllowed { queue, kind } => {
            o.plain("queue", queue);
            o.plain("type", kind);
        }
        Refusal::WorkflowEnded { id, state } => workflow_ended(o, *id, state.name()),
        Refusal::IdempotencyMismatch => {}
        Refusal::InBatch { index, refusal } | Refusal::InWorkflow { index, refusal } => {
            members(o, refusal);
            o.number("index", index);
        }
        Refusal::NotMeant(id) | Refusal::NotDue(id) | Refusal::OtherOrder { id } => o.plain("job_id", id),
        Refusal::NotItsTurn { id, after } => waiting(o, id, after),
        Refusal::StepWaits { id, workflow } => step_waiting(o, id, *workflow),
    }
}

fn step_waiting(o: &mut Object<'_>, id: &JobId, workflow: WorkflowId) {
    o.plain("job_id", id);
    o.plain("workflow_id", workflow);
}

fn no_branch(o: &mut Object<'_>, id: JobId, of: JobId) {
    o.plain("job_id", id);
    o.plain("branch_of", of);
}

fn too_large(o: &mut Object<'_>, id: Option<JobId>, bytes: usize, max: usize) {
    o.plain_if("job_id", id);
    o.number("bytes", bytes);
    o.number("limit", max);
}

fn too_many(o: &mut Object<'_>, what: &'static str, count: usize, max: usize) {
    o.number(what, count);
    o.number("limit", max);
}

fn waiting(o: &mut Object<'_>, id: &JobId, after: &JobId) {
    o.plain("job_id", id);
    o.plain("waits_for", after);
}

fn workflow_ended(o: &mut Object<'_>, id: WorkflowId, state: &str) {
    o.plain("workflow_id", id);
    o.text("current_state", state);
    o.text("expected_state", "running");
}

fn resource(o: &mut Object<'_>, kind: &str, id: impl std::fmt::Display) {
    o.text("resource_type", kind);
    o.plain("resource_id", id);
}

fn no_letter(o: &mut Object<'_>, id: &JobId, state: &str) {
    resource(o, "dead_letter", id);
    o.text("current_state", state);
}

fn existing(o: &mut Object<'_>, id: impl std::fmt::Display, state: &str) {
    o.text("outcome", Verdict::Rejected.name());
    o.plain("existing_job_id", id);
    o.text("existing_job_state", state);
    o.text("existing_state", state);
}
