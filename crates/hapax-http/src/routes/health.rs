//! Whether the server is well (`/ojs/v1/health`, `/health`, `/healthz`) and takes work (`/ready`, `/readyz`).

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use hapax_wire::writer;

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::shared::Shared;

/// The state of the server and of its store.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let shared = &*call.shared;
    let (latency, error) = ask_store(shared).await;
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.text("status", if error.is_none() { "ok" } else { "degraded" });
        o.text("version", shared.version);
        o.number("uptime_seconds", shared.started.elapsed().as_secs());
        o.object("backend", |o| {
            o.text("type", shared.backend);
            o.text("status", if error.is_none() { "ok" } else { "unhealthy" });
            o.number("latency_ms", latency.as_millis());
            o.text_if("error", error.as_deref());
        });
    });
    Ok(Reply::json(status(error.is_none()), out))
}

/// Whether requests would be served.
pub(crate) async fn ready(call: Call) -> Result<Reply, Problem> {
    let (_, error) = ask_store(&call.shared).await;
    let mut out = Vec::with_capacity(64);
    writer::object(&mut out, |o| {
        o.text("status", if error.is_none() { "ready" } else { "not_ready" });
        o.text_if("error", error.as_deref());
    });
    Ok(Reply::json(status(error.is_none()), out))
}

/// How long the store takes to answer, and what is wrong if it does not.
async fn ask_store(shared: &Shared) -> (Duration, Option<String>) {
    #[expect(clippy::disallowed_methods, reason = "measures the store")]
    let started = Instant::now();
    let error = shared.broker.totals().await.err().map(|error| error.to_string());
    (started.elapsed(), error)
}

fn status(is_well: bool) -> StatusCode {
    if is_well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}
