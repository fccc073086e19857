//! Keys of unique jobs, and job keys.

use axum::http::Method;
use hapax_wire::error::Code;

use crate::from_wire::bounds::{HOLDERS_DEFAULT, LIMIT_DEFAULT};
use crate::openapi::operation::{Operation, delete, get, post};
use crate::openapi::parameter::{limit, numbered, query, uncounted};
use crate::openapi::shape::{named, seconds_or_span, text};

pub(super) fn operations() -> Vec<Operation> {
    vec![
        post("/ojs/v1/unique/explain", "Explain what an enqueue would do")
            .details("Takes the body of an enqueue and changes nothing: the outcome, because of whom, and until when.")
            .takes(named("Envelope"))
            .gives(200, "What would happen, and why.", "Explanation")
            .fails([Code::ValidationError, Code::SchemaValidation, Code::Refused, Code::Unsupported]),
        get("/ojs/v1/unique/keys", "List the keys that are held, oldest first")
            .with([
                query("type", "Held by jobs of this type.", text()),
                query("queue", "Held by jobs of this queue.", text()),
                query("older_than", "Held for longer than this.", seconds_or_span()),
            ])
            .with(uncounted(LIMIT_DEFAULT))
            .gives(200, "A page of keys.", "HeldKeys"),
        get("/ojs/v1/unique-jobs", "List the keys that are held, by pages (admin UI)")
            .details("For the official admin UI; others use `/ojs/v1/unique/keys`.")
            .with(numbered())
            .gives(200, "A page of keys.", "Locks"),
        get("/ojs/v1/unique/keys/{key}", "Show who holds a key")
            .with([limit(HOLDERS_DEFAULT)])
            .gives(200, "The jobs that carry it.", "Holders")
            .fails([Code::NotFound]),
        post("/ojs/v1/unique/keys/{key}/release", "Take a key away from the jobs that hold it")
            .details("It is free at once. The jobs go on, and say who took their key and why.")
            .may_take(named("ReleaseWish"))
            .gives(200, "Who held it.", "Released")
            .fails([Code::NotFound]),
        delete("/ojs/v1/job-keys/{key}", "Remove the job that has a job key")
            .details("Without a key in the path it is a 400: a job key is not empty.")
            .also(Method::DELETE, "/ojs/v1/job-keys/")
            .gives(200, "Which job.", "RemovedByKey")
            .fails([Code::InvalidRequest, Code::NotFound]),
    ]
}
