//! What the server says of itself.

use axum::http::Method;
use hapax_wire::error::{Code, ERRORS_PATH};

use crate::openapi::operation::{Operation, get};
use crate::openapi::shape::any_object;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get("/ojs/v1/health", "Ask whether the server and its store are well")
            .details("It is 200 for as long as the process lives: starting it again heals no disk.")
            .also(Method::GET, "/health")
            .also(Method::GET, "/healthz")
            .gives(200, "How it is.", "Health"),
        get("/ready", "Ask whether requests would be served")
            .also(Method::GET, "/readyz")
            .gives(200, "They would.", "Readiness")
            .gives(503, "They would not.", "Readiness"),
        get("/metrics", "Read the counters, for Prometheus")
            .gives_text(200, "The text format of Prometheus, version 0.0.4.", "text/plain")
            .fails([Code::BackendUnavailable]),
        get("/ojs/manifest", "Ask what the server can do").gives(
            200,
            "Its capabilities and paths.",
            "Manifest",
        ),
        get("/openapi.json", "Read this document").gives_other(
            200,
            "OpenAPI 3.1.",
            "application/json",
            any_object(),
        ),
        get("/docs", "Read this document as a page").gives_text(
            200,
            "HTML that needs nothing else.",
            "text/html",
        ),
        get(ERRORS_PATH, "Read what each error means").gives_text(
            200,
            "HTML; the links of errors lead here.",
            "text/html",
        ),
    ]
}
