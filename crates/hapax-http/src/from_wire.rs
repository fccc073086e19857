//! From a request's JSON to what the broker understands. All refusals of form are made here, each with the
//! place of the member, what was wrong with it and what would be right.

mod batch;
mod beat;
mod draft;
mod envelope;
mod fault;
mod given;
mod job_key;
mod nearest;
mod page;
mod payload;
mod place;
mod release;
mod report;
mod retry;
mod revival;
mod span;
mod states;
mod unique;
mod uniqueness;
mod wish;
mod worker_error;

use hapax_core::json::{self, JsonError, Limits, Node};

pub(crate) use batch::{Bulk, BulkJobs, batch, bulk};
pub(crate) use beat::beat;
pub(crate) use draft::{Drafted, job};
pub(crate) use fault::Fault;
pub(crate) use given::Given;
pub(crate) use job_key::job_key;
pub(crate) use page::{Listing, dead_letters, events, held_keys, holders, queues};
pub(crate) use place::Place;
pub(crate) use release::release;
pub(crate) use report::{Acknowledgement, Rejection, acknowledgement, rejection};
pub(crate) use revival::revival;
pub(crate) use unique::{dimensions, is_dimension};
pub(crate) use wish::wish;

use hapax_wire::error::Code;

/// Which of the two media types a body was sent as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Media {
    /// `application/json`: `args` may be an object.
    Json,
    /// `application/openjobspec+json`: `args` is an array.
    OpenJobSpec,
}

/// The body as one JSON value.
pub(crate) fn read(body: &[u8]) -> Result<Node<'_>, Fault> {
    json::read_bytes(body, Limits::DEFAULT).map_err(|error| invalid_payload(body, &error))
}

fn invalid_payload(body: &[u8], error: &JsonError) -> Fault {
    let mut details = Vec::new();
    hapax_wire::writer::object(&mut details, |o| match error {
        JsonError::Syntax { offset, line, column, .. }
        | JsonError::DuplicateMember { offset, line, column, .. } => {
            o.number("line", line);
            o.number("column", column);
            o.number("offset", offset);
        }
        JsonError::TooDeep { limit, offset } => {
            o.number("limit", limit);
            o.number("offset", offset);
        }
        JsonError::InvalidUtf8 { offset } => o.number("offset", offset),
    });
    let message = if body.is_empty() {
        "the body is empty".to_owned()
    } else {
        format!("the body is not JSON: {error}")
    };
    Fault::of_body(Code::InvalidPayload, message, details)
}

#[cfg(test)]
mod tests;
