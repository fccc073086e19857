//! From a request's JSON to what the broker understands. All refusals of form are made here, each with the
//! place of the member, what was wrong with it and what would be right.

mod agent;
mod batch;
mod beat;
pub(crate) mod bounds;
mod command;
mod cron;
mod cron_preview;
mod deed;
mod draft;
mod entry_page;
mod envelope;
mod fault;
mod given;
mod intake;
mod job_filter;
mod job_key;
mod listening;
mod maintenance;
mod near_miss;
mod operator_page;
mod ordering;
mod page;
mod payload;
mod place;
mod pool;
mod progress;
mod query;
mod queue_deletion;
mod queue_settings;
mod rate_limit;
mod release;
mod report;
mod result;
mod retry;
mod revival;
mod schema;
mod span;
mod states;
mod unique;
mod uniqueness;
mod update;
mod webhook;
mod wish;
mod worker_error;
mod worker_facts;
mod workflow;

use hapax_core::json::{self, JsonError, Limits, Node};

pub(crate) use agent::{
    fork as agent_fork, merge as agent_merge, pause as agent_pause, resume as agent_resume,
    tool_retry as agent_tool_retry,
};
pub(crate) use batch::{Bulk, BulkJobs, batch, bulk};
pub(crate) use beat::beat;
pub(crate) use command::{Command, EventForm, Subject, Topic, command};
pub(crate) use cron::{cron, cron_switch};
pub(crate) use cron_preview::{Preview, cron_preview, cron_runs};
pub(crate) use deed::{Described, Targets, clients_deed, letters_deed, operators_deed, purge};
pub(crate) use draft::{Drafted, job};
pub(crate) use entry_page::{CronList, RUNNING_ALIAS, WorkflowList, crons, named_or_counted, workflows};
pub(crate) use fault::Fault;
pub(crate) use given::Given;
pub(crate) use intake::Intake;
pub(crate) use job_key::job_key;
pub(crate) use listening::{Listening, listening, no_choice_yet, overview, watching};
pub(crate) use maintenance::{MaintenanceWish, maintenance};
pub(crate) use operator_page::{
    HistoryWish, Numbered, Sort, Wanted, history, numbered, operators_jobs, operators_letters, queue_meant,
    too_many_to_sort,
};
pub(crate) use page::{
    EventList, LetterWish, Listing, dead_letters, events, held_keys, holders, job_history, limits_page,
    named_page, patience, queues,
};
pub(crate) use place::Place;
pub(crate) use pool::pool;
pub(crate) use progress::{Reported, Saved, checkpoint, progress};
pub(crate) use query::no_query;
pub(crate) use queue_deletion::{Strategy as DeletionStrategy, queue_deletion};
pub(crate) use queue_settings::{SettingsChange, new_queue, queue_settings};
pub(crate) use rate_limit::ruling as limit_ruling;
pub(crate) use release::release;
pub(crate) use report::{Acknowledgement, Rejection, acknowledgement, rejection};
pub(crate) use result::result_ids;
pub(crate) use revival::revival;
pub(crate) use schema::{schema, schema_at};
pub(crate) use unique::{dimensions, is_dimension};
pub(crate) use update::update;
pub(crate) use webhook::{deliveries, rotation, subscription, subscription_patch};
pub(crate) use wish::wish;
pub(crate) use worker_facts::registration;
pub(crate) use workflow::workflow;

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

/// Reads a body that has nothing to say.
pub(crate) fn no_members(body: &[u8]) -> Result<(), Fault> {
    if body.is_empty() {
        return Ok(());
    }
    let node = read(body)?;
    let body = Given::body(&node)?;
    match body.node.as_object().unwrap_or_default().first() {
        Some(member) => {
            let problem = "would be passed over: this request takes no members";
            Err(Fault::new(Place::Member(&body.place, &member.name), problem))
        }
        None => Ok(()),
    }
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
