//! Workflows, with every name under which one of the documents or SDKs looks for a member.

mod failures;

use axum::http::{HeaderValue, StatusCode, header};
use hapax_broker::{WorkflowPage, WorkflowView};
use hapax_core::workflow::{Mark, Workflow};
use hapax_core::{Job, State};
use hapax_store::{Answer, Done, Followed};
use hapax_wire::writer::{self, Object};

use super::admission::another_question;
use super::pagination;
use crate::compat::Dialect;
use crate::from_wire::Listing;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request_id::RequestId;

/// A workflow, in a wrapper and flat: the suite reads the one, the JavaScript and Rust SDKs and the official admin UI the
/// other.
pub(crate) fn one(view: &WorkflowView, dialect: Dialect) -> Vec<u8> {
    let mut out = Vec::with_capacity(512 + 320 * view.steps.len());
    writer::object(&mut out, |o| {
        o.object("workflow", |o| members(o, view, Dialect::Negotiated));
        members(o, view, dialect);
    });
    out
}

/// The answer to a start.
pub(crate) fn started(view: &WorkflowView, dialect: Dialect) -> Reply {
    let reply = Reply::json(StatusCode::CREATED, one(view, dialect));
    match HeaderValue::from_str(&format!("/ojs/v1/workflows/{}", view.workflow.id)) {
        Ok(address) => reply.with(header::LOCATION, address),
        Err(_) => reply,
    }
}

/// The answer to a start as it is remembered: what the store knows of it.
pub(crate) fn remembered(answer: &Answer, id: &RequestId, dialect: Dialect) -> Reply {
    match answer {
        Ok(Done::WorkflowStarted(start)) => started(&WorkflowView::started(start), dialect),
        Ok(_) => another_question().reply(id),
        Err(refusal) => Problem::from(refusal.clone()).reply(id),
    }
}

/// The answer to a cancellation.
pub(crate) fn cancelled(followed: &Followed) -> Vec<u8> {
    let Followed { workflow, followers } = followed;
    let cancelled = followers.iter().filter(|(_, job)| job.state() == State::Cancelled).count();
    let members = |o: &mut Object<'_>| {
        head(o, workflow, Dialect::Negotiated);
        o.moment_if("cancelled_at", workflow.ended_at);
        o.number("steps_cancelled", cancelled);
        // One name from the HTTP binding, one from the Rust SDK.
        o.number("steps_already_completed", workflow.count(Mark::Completed));
        o.number("steps_already_complete", workflow.count(Mark::Completed));
        o.raw("steps", "[]");
    };
    let mut out = Vec::with_capacity(1024);
    writer::object(&mut out, |o| {
        o.object("workflow", members);
        members(o);
    });
    out
}

/// A page of workflows, without their steps; under `items` as the official admin UI reads it.
pub(crate) fn list(page: &WorkflowPage, listing: Listing) -> Vec<u8> {
    let WorkflowPage { workflows, next, total } = page;
    let mut out = Vec::with_capacity(256 + 1280 * workflows.len());
    writer::object(&mut out, |o| {
        for (name, dialect) in [("workflows", Dialect::Negotiated), ("items", Dialect::OpenApi)] {
            o.array(name, workflows, |workflow, out| writer::object(out, |o| head(o, workflow, dialect)));
        }
        pagination::listed(o, listing, *total, next.as_deref());
    });
    out
}

fn members(o: &mut Object<'_>, view: &WorkflowView, dialect: Dialect) {
    head(o, &view.workflow, dialect);
    let steps: Vec<u32> = (0..).take(view.workflow.marks.len()).collect();
    o.array("steps", &steps, |index, out| writer::object(out, |o| step(o, view, *index)));
    failures::members(o, view);
    if !view.replaced.is_empty() {
        o.array("replaced", &view.replaced, |id, out| writer::plain(out, id));
    }
}

fn head(o: &mut Object<'_>, workflow: &Workflow, dialect: Dialect) {
    let Workflow { id, form, name, state, runs: _, marks: _, created_at, started_at, ended_at } = workflow;
    let (total, completed, failed) =
        (workflow.jobs(), workflow.count(Mark::Completed), workflow.count(Mark::Failed));
    o.plain("id", id);
    o.word("type", form.name());
    match name {
        Some(name) => o.text("name", name),
        // The Python SDK wants the member.
        None => o.raw("name", "null"),
    }
    o.word("state", dialect.state_of_workflow(*state));
    for (name, number) in [
        ("steps_total", total),
        ("steps_completed", completed),
        ("jobs_total", total),
        ("jobs_completed", completed),
    ] {
        o.number(name, number);
    }
    o.moment("created_at", *created_at);
    o.moment_if("started_at", *started_at);
    o.moment_if("completed_at", *ended_at);
    o.object("metadata", |o| {
        o.moment("created_at", *created_at);
        o.moment_if("started_at", *started_at);
        o.moment_if("completed_at", *ended_at);
        o.number("job_count", total);
        o.number("completed_count", completed);
        o.number("failed_count", failed);
    });
}

fn step(o: &mut Object<'_>, view: &WorkflowView, index: u32) {
    let WorkflowView { workflow, steps, jobs, replaced: _ } = view;
    let name = |step: u32| steps.get(step as usize).map_or("", |(name, _)| name);
    let mark = workflow.marks.get(index as usize).copied().unwrap_or(Mark::Waiting);
    let job = jobs.get(&index);
    o.text("id", name(index));
    o.number("index", index);
    o.text("type", steps.get(index as usize).map_or("", |(_, kind)| kind));
    o.word("state", state(mark, job));
    o.plain("job_id", workflow.id.job(index));
    // The official admin UI knows steps of many jobs.
    o.array("job_ids", [workflow.id.job(index)], |id, out| writer::plain(out, id));
    let needs: Vec<u32> = workflow.run_of(index).map(|run| run.needs.of(index).collect()).unwrap_or_default();
    // Names of ten thousand others for each of three callbacks would be most of the answer.
    let needs = if needs.len() > NEEDS_SHOWN_MAX { &needs[..0] } else { &needs };
    o.array("depends_on", needs, |step, out| writer::text(out, name(*step)));
    if workflow.is_callback(index) {
        o.flag("callback", true);
    }
    if let Some(job) = job {
        o.moment_if("started_at", job.started_at);
        o.moment_if("completed_at", job.phase.finished_at());
        if let Some(result) = job.result() {
            o.raw("result", result.as_str());
        }
    }
}

/// A step that waits for more others than this does not name them.
const NEEDS_SHOWN_MAX: usize = 100;

/// Where a step stands: in the words of the workflow document, and for a job that was let go in its own.
pub(super) fn state(mark: Mark, job: Option<&Job>) -> &'static str {
    match (mark, job) {
        (Mark::Waiting, _) => "waiting",
        (Mark::Completed, _) => State::Completed.name(),
        (Mark::Failed, _) => "failed",
        (Mark::Cancelled, _) => State::Cancelled.name(),
        (Mark::Skipped, _) => "skipped",
        (Mark::Released, Some(job)) if job.state() == State::Active => State::Active.name(),
        (Mark::Released, _) => State::Pending.name(),
    }
}
