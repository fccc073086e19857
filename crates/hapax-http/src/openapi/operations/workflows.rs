//! Workflows.

use axum::http::Method;
use hapax_wire::error::Code;

use super::jobs::ADMISSION_ERRORS;
use crate::from_wire::bounds::{ENTRY_OFFSET_MAX, workflow_state_names};
use crate::openapi::operation::{Operation, delete, get, post};
use crate::openapi::parameter::{counted, cursor, enqueue_headers, query};
use crate::openapi::shape::{choice, named};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/ojs/v1/workflows", "List workflows, the oldest first")
            .with(counted(ENTRY_OFFSET_MAX))
            .with([cursor(), query("state", "In this state.", choice(workflow_state_names()))])
            .gives(200, "A page of workflows, without their steps.", "Workflows"),
        post("/ojs/v1/workflows", "Start a workflow")
            .details("A chain, a group, a batch with callbacks, or steps that name each other.")
            .with(enqueue_headers())
            .takes(named("WorkflowWish"))
            .gives(201, "It has started; its address is in `Location`.", "StartedWorkflow")
            .fails([Code::InvalidWorkflow])
            .fails(ADMISSION_ERRORS),
        get("/ojs/v1/workflows/{id}", "Look at a workflow and its steps")
            .gives(200, "The workflow.", "ShownWorkflow")
            .fails([Code::NotFound]),
        delete("/ojs/v1/workflows/{id}", "Call a workflow off")
            .also(Method::POST, "/ojs/v1/workflows/{id}/cancel")
            .gives(200, "What became of its steps.", "CancelledWorkflow")
            .fails([Code::NotFound, Code::Conflict]),
        get("/ojs/v1/workflows/{id}/progress", "Ask how far a workflow has come")
            .gives(200, "The mean of its steps, and each of them.", "WorkflowProgress")
            .fails([Code::NotFound]),
    ]
}
