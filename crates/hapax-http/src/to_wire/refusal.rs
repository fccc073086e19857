//! What the rules do not allow, as clients hear of it.

use hapax_core::{Refusal, Verdict};
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
        ..Problem::new(code(refusal), refusal.to_string())
    }
}

/// What to do, where the table does not know it.
fn hint(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::KeyNotHeld => Some("GET /ojs/v1/unique/keys lists the keys that are held."),
        Refusal::PayloadFull { .. } => Some(
            "Let the waiting job run before more is added to it, or send references instead of the data.",
        ),
        Refusal::TooManyHolders { .. } => {
            Some("Take the key away from them first: POST /ojs/v1/unique/keys/{key}/release.")
        }
        Refusal::InBatch { refusal, .. } => hint(refusal),
        Refusal::NotFound(_)
        | Refusal::NoDeadLetter(_)
        | Refusal::WrongState { .. }
        | Refusal::LeaseLost { .. }
        | Refusal::IdTaken { .. }
        | Refusal::Duplicate { .. }
        | Refusal::IdempotencyMismatch
        | Refusal::KeyImpossible { .. }
        | Refusal::Twin { .. }
        | Refusal::NotDue(_) => None,
    }
}

fn code(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::NotFound(_) | Refusal::NoDeadLetter(_) | Refusal::KeyNotHeld => Code::NotFound,
        Refusal::WrongState { .. } | Refusal::NotDue(_) | Refusal::TooManyHolders { .. } => Code::Conflict,
        Refusal::LeaseLost { .. } => Code::LeaseLost,
        Refusal::IdTaken { .. } | Refusal::Duplicate { .. } | Refusal::Twin { .. } => Code::Duplicate,
        Refusal::IdempotencyMismatch => Code::IdempotencyMismatch,
        Refusal::KeyImpossible { .. } => Code::InvalidRequest,
        Refusal::PayloadFull { .. } => Code::PayloadTooLarge,
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
        Refusal::KeyNotHeld => o.text("resource_type", "key"),
        Refusal::PayloadFull { id, bytes, max } => {
            o.plain_if("job_id", *id);
            o.number("bytes", bytes);
            o.number("limit", max);
        }
        Refusal::TooManyHolders { count, max } => {
            o.number("holders", count);
            o.number("limit", max);
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
