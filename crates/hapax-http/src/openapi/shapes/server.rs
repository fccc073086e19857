//! What the server says of itself.

use hapax_broker::Period;
use hapax_core::State;

use super::{Named, one_of};
use crate::from_wire::bounds::MAINTENANCE_REASON_CHARS_MAX;
use crate::openapi::shape::{
    Shape, all, any_object, choice, constant, count, either, flag, integer, list, may, moment, named, needs,
    number, object, span, text, texts,
};

pub(super) fn shapes() -> Vec<Named> {
    vec![
        ("Health", health()),
        ("Readiness", object([needs("status", choice(["ready", "not_ready"])), may("error", text())])),
        ("Manifest", manifest()),
        ("Stats", stats()),
        ("History", history()),
        ("SystemConfig", config()),
        ("MaintenanceWish", maintenance_wish()),
        ("Maintenance", maintenance()),
        ("Middleware", middleware()),
        ("Reset", object([needs("reset", flag())])),
    ]
}

fn health() -> Shape {
    let backend = object([
        needs("type", text()),
        needs("status", choice(["ok", "unhealthy"])),
        needs("latency_ms", count()),
        may("error", text()),
    ]);
    object([
        needs("status", choice(["ok", "degraded"])),
        needs("version", text()),
        needs("uptime_seconds", count()),
        needs("backend", backend),
        may("queues", object([needs("total", count()), may("paused", count())])),
        needs("workers", object(["total", State::Active.name(), "stale"].map(|name| needs(name, count())))),
    ])
}

fn middleware() -> Shape {
    let station = || {
        list(object([
            needs("name", text()),
            needs("phase", choice(["enqueue", "execution"])),
            needs("order", count()),
            needs("description", text()),
        ]))
    };
    object([needs("enqueue", station()), needs("execution", station())])
}

fn manifest() -> Shape {
    let implementation = object([needs("name", text()), needs("version", text()), needs("language", text())]);
    let endpoints = ["base_url", "manifest", "health", "events", "websocket", "openapi", "docs"];
    object([
        needs("specversion", constant("1.0")),
        needs("ojs_version", constant("1.0")),
        needs("implementation", implementation),
        needs("conformance_level", integer()),
        needs("conformance_tier", text()),
        needs("protocols", texts()),
        needs("backend", text()),
        needs("capabilities", any_object().about("What the server can do: names with true or false.")),
        needs("unique_job_strength", text()),
        needs("uniqueness", any_object()),
        needs("extensions", either([any_object(), texts()])),
        needs("extensions_detail", any_object()),
        needs("endpoints", object(endpoints.map(|name| needs(name, text())))),
    ])
}

fn stats() -> Shape {
    let own = object([
        may("queue", text().about("If it is about one; then only what is kept of it.")),
        may("queues", count()),
        may("workers", count()),
        needs("jobs", named("StateCounts")),
        may("dead_letters", count()),
        may("keys_held", count()),
        needs("uptime_seconds", count()),
    ]);
    all([own, named("Throughput")])
}

fn history() -> Shape {
    let point = object([
        needs("timestamp", moment()),
        needs("processed", count()),
        needs("failed", count()),
        needs("enqueued", count()),
        may("latency_p50_ms", number()),
        may("latency_p99_ms", number()),
    ]);
    object([
        needs("period", one_of(Period::ALL, Period::name)),
        needs("since", moment()),
        needs("until", moment()),
        needs("data", list(point)),
    ])
}

fn config() -> Shape {
    let kept =
        [State::Completed, State::Cancelled, State::Discarded].map(|state| needs(state.name(), span()));
    let numbers = ["job_bytes", "request_bytes", "joined_bytes", "batch_jobs", "bulk_jobs", "connections"];
    let times = ["body_time", "drain_time"].map(|name| needs(name, span()));
    object([
        needs("version", text()),
        needs("backend", text()),
        needs("durable", flag()),
        needs("authentication", flag()),
        needs("conformance_hooks", flag()),
        needs("maintenance", flag()),
        needs("visibility_timeout", span()),
        needs("retention", object(kept)),
        needs("limits", object(numbers.map(|name| needs(name, count())).into_iter().chain(times))),
    ])
}

fn maintenance_wish() -> Shape {
    object([
        needs("enabled", flag()),
        may("reason", text().chars_max(MAINTENANCE_REASON_CHARS_MAX)),
        may("estimated_duration", text().about("A duration: `PT1H`, or in short `1h`.")),
        may("duration", text().about("The same as `estimated_duration`.")),
    ])
    .only()
}

fn maintenance() -> Shape {
    object([
        needs("maintenance", flag()),
        may("reason", text()),
        may("enabled_at", moment()),
        may("estimated_end", moment()),
        needs("enabled", flag().about("The same as `maintenance`.")),
        may("started_at", moment().about("The same as `enabled_at`.")),
        may("ends_at", moment().about("The same as `estimated_end`.")),
    ])
}
