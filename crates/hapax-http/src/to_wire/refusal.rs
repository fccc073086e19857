//! What the rules do not allow, as clients hear of it.

use hapax_core::{Refusal, Verdict};
use hapax_wire::error::Code;
use hapax_wire::writer::{self, Object};

use crate::problem::Problem;

/// The problem that a refusal is.
pub(crate) fn problem(refusal: &Refusal) -> Problem {
    let mut details = Vec::new();
    writer::object(&mut details, |o| members(o, refusal));
    Problem { details: Some(details), ..Problem::new(code(refusal), refusal.to_string()) }
}

fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::NotFound(_) | Refusal::NoDeadLetter(_) => Code::NotFound,
        Refusal::WrongState { .. } | Refusal::NotDue(_) => Code::Conflict,
        Refusal::LeaseLost { .. } => Code::LeaseLost,
        Refusal::IdTaken { .. } | Refusal::Duplicate { .. } | Refusal::Twin { .. } => Code::Duplicate,
        Refusal::IdempotencyMismatch => Code::IdempotencyMismatch,
        Refusal::KeyImpossible { .. } => Code::InvalidRequest,
        Refusal::InBatch { refusal, .. } => code(refusal),
    }
}

fn members(o: &mut Object<'_>, refusal: &Refusal) {
    match refusal {
        Refusal::NotFound(id) => resource(o, "job", id),
        Refusal::NoDeadLetter(id) => resource(o, "dead_letter", id),
        Refusal::WrongState { id, state, expected } => {
            o.plain("job_id", id);
            o.text("current_state", state.name());
            o.plain("expected_state", expected);
        }
        Refusal::LeaseLost { id, state } => {
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
        Refusal::IdempotencyMismatch => {}
        Refusal::InBatch { index, refusal } => {
            members(o, refusal);
            o.number("index", index);
        }
        Refusal::NotDue(id) => o.plain("job_id", id),
    }
}

fn resource(o: &mut Object<'_>, kind: &str, id: impl std::fmt::Display) {
    o.text("resource_type", kind);
    o.plain("resource_id", id);
}

fn existing(o: &mut Object<'_>, id: impl std::fmt::Display, state: &str) {
    o.text("outcome", Verdict::Rejected.name());
    o.plain("existing_job_id", id);
    o.text("existing_job_state", state);
    o.text("existing_state", state);
}
