//! Whether the server is well (`/ojs/v1/health`, `/health`, `/healthz`) and takes work (`/ready`, `/readyz`).
//!
//! The first is 200 for as long as the process lives, whatever it says of the store: starting the process again
//! heals no disk. Both answer soon even if the store does not.

use std::time::{Duration, Instant};

use axum::http::StatusCode;
use hapax_core::State;
use hapax_store::{Page, QueueFacts, QueueQuery};
use hapax_wire::writer;
use tokio::time::timeout;

use crate::call::Call;
use crate::limits::STORE_PROBE_TIME;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::shared::Shared;

/// Most queues that are looked at to see which are paused.
const QUEUES_LOOKED_AT_MAX: usize = 1000;

/// The state of the server and of its store.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let shared = &*call.shared;
    let (latency, error) = ask_store(shared).await;
    // A store that did not answer is not asked again.
    let queues = if error.is_none() { queues(shared).await } else { None };
    let mut out = Vec::with_capacity(320);
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
        // What the official admin UI shows beside the state, from what is kept anyway.
        if let Some(page) = &queues {
            o.object("queues", |o| {
                o.number("total", page.total);
                let paused = page.items.iter().filter(|facts| facts.paused).count();
                o.number_if("paused", (!page.has_more).then_some(paused));
            });
        }
        let (fresh, stale) = (shared.broker.count_workers(), shared.broker.count_stale_workers());
        o.object("workers", |o| {
            o.number("total", fresh + stale);
            o.number(State::Active.name(), fresh);
            o.number("stale", stale);
        });
    });
    Ok(Reply::json(StatusCode::OK, out))
}

/// Whether requests would be served.
pub(crate) async fn ready(call: Call) -> Result<Reply, Problem> {
    let (_, error) = ask_store(&call.shared).await;
    let mut out = Vec::with_capacity(64);
    writer::object(&mut out, |o| {
        o.text("status", if error.is_none() { "ready" } else { "not_ready" });
        o.text_if("error", error.as_deref());
    });
    let status = if error.is_none() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    Ok(Reply::json(status, out))
}

/// The queues, if the store tells them soon.
async fn queues(shared: &Shared) -> Option<Page<QueueFacts>> {
    let query = QueueQuery { after: None, offset: 0, limit: QUEUES_LOOKED_AT_MAX };
    timeout(STORE_PROBE_TIME, shared.broker.queues(query)).await.ok()?.ok()
}

/// How long the store takes to answer, and what is wrong if it does not.
async fn ask_store(shared: &Shared) -> (Duration, Option<String>) {
    #[expect(clippy::disallowed_methods, reason = "measures the store")]
    let started = Instant::now();
    let error = match timeout(STORE_PROBE_TIME, shared.broker.totals()).await {
        Ok(answer) => answer.err().map(|error| error.to_string()),
        Err(_) => Some(format!("the store did not answer within {STORE_PROBE_TIME:?}")),
    };
    (started.elapsed(), error)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::testing::{Rig, Setup, StalledStore};

    #[tokio::test]
    async fn a_store_that_does_not_answer_holds_up_no_probe() {
        let rig = Rig::with(Setup { store: Arc::new(StalledStore), ..Setup::default() });
        let (health, ready) = tokio::join!(rig.get("/health"), rig.get("/ready"));
        assert_eq!((health.status.as_u16(), ready.status.as_u16()), (200, 503));
        assert_eq!(health.text_at("/status"), "degraded");
        assert_eq!(health.text_at("/backend/status"), "unhealthy");
        assert_eq!(health.text_at("/backend/error"), "the store did not answer within 1s");
        assert!(health.json().pointer("/backend/latency_ms").is_some_and(serde_json::Value::is_u64));
        assert_eq!(ready.text_at("/status"), "not_ready");
    }
}
