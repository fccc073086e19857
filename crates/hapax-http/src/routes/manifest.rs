//! `GET /ojs/manifest`: what the server can do.

use hapax_wire::writer::{self, Object};

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::shared::Shared;

/// How uniqueness is enforced, in words.
const MECHANISM: &str =
    "the key is a field of the stored job; comparing and storing are one step of the store";

/// Capabilities by the names of the HTTP binding. What is false here is refused or not routed.
const CAPABILITIES: &[(&str, bool)] = &[
    ("batch_enqueue", true),
    ("bulk_enqueue", true),
    ("cron_jobs", true),
    ("dead_letter", true),
    ("delayed_jobs", true),
    ("job_ttl", true),
    ("priority_queues", true),
    ("rate_limiting", true),
    ("schema_validation", true),
    ("workflows", true),
    ("pause_resume", true),
    ("events", true),
    ("webhooks", true),
    ("realtime", true),
    ("sse", true),
    ("websocket", true),
    ("at_least_once", true),
    ("at_most_once", true),
    ("fifo", true),
    ("leases", true),
    ("fencing", true),
    ("late_ack", true),
    ("long_poll", true),
    ("idempotency_key", true),
    ("job_keys", true),
    ("debounce", true),
    ("queue_latest", true),
    ("unique_explain", true),
    ("unique_release", true),
    ("progress", true),
    ("checkpoints", true),
    ("results", true),
    ("timeouts", true),
    ("admin_api", true),
    ("bulk_operations", true),
    // The official admin UI leaves out the pages of those that it does not find under its own words: recurring jobs, pools of
    // queues, tenants, and the versions of schemas.
    ("cron", true),
    ("fair_scheduling", true),
    ("multi_tenancy", true),
    ("job_versioning", true),
];

/// What the server has beyond the levels.
const EXTENSIONS: &[&str] = &[
    "urn:ojs:ext:unique-jobs",
    "urn:ojs:ext:dead-letter",
    "urn:ojs:ext:rate-limiting",
    "urn:ojs:ext:admin-api",
    "urn:ojs:ext:disaster-recovery",
    "urn:ojs:ext:progress",
    "urn:ojs:ext:durable-execution",
    "urn:ojs:ext:timeouts",
    "urn:ojs:ext:webhooks",
];

/// The same for what the documents call experimental.
const EXPERIMENTAL: &[&str] = &["urn:ojs:ext:experimental:realtime"];

pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let shared = &*call.shared;
    let is_plain = call.dialect.manifest_is_plain();
    let mut out = Vec::with_capacity(2048);
    writer::object(&mut out, |o| {
        o.text("specversion", "1.0");
        o.text("ojs_version", "1.0");
        o.object("implementation", |o| {
            o.text("name", "hapax");
            o.text("version", shared.version);
            o.text("language", "rust");
        });
        o.number("conformance_level", 4);
        o.text("conformance_tier", "runtime");
        o.texts("protocols", ["http"]);
        o.text("backend", shared.backend);
        o.object("capabilities", |o| {
            for (name, has) in CAPABILITIES {
                o.flag(name, *has);
            }
            if is_plain {
                o.flag("unique_jobs", true);
            } else {
                o.object("unique_jobs", uniqueness);
            }
        });
        o.text("unique_job_strength", "strong");
        o.object("uniqueness", uniqueness);
        if is_plain {
            o.texts("extensions", EXTENSIONS.iter().chain(EXPERIMENTAL).copied());
        } else {
            o.object("extensions", |o| extensions(o, shared));
        }
        o.object("extensions_detail", |o| extensions(o, shared));
        o.object("endpoints", |o| {
            o.text("base_url", "/ojs/v1");
            o.text("manifest", "/ojs/manifest");
            o.text("health", "/ojs/v1/health");
            o.text("events", "/ojs/v1/events/stream");
            o.text("websocket", "/ojs/v1/ws");
            o.text("openapi", "/openapi.json");
            o.text("docs", "/docs");
        });
    });
    Ok(Reply::ok(out))
}

fn uniqueness(o: &mut Object<'_>) {
    o.text("strength", "strong");
    o.text("mechanism", MECHANISM);
}

fn extensions(o: &mut Object<'_>, shared: &Shared) {
    o.array("official", EXTENSIONS, |urn, out| writer::object(out, |o| extension(o, urn)));
    o.array("experimental", EXPERIMENTAL, |urn, out| writer::object(out, |o| extension(o, urn)));
    o.object("disaster_recovery", |o| {
        // 0 is memory, 1 the disk of one machine.
        o.number("durability_level", u8::from(shared.durable));
    });
    o.object("payload_limits", |o| {
        o.number("max_envelope_bytes", shared.limits.job_bytes);
        o.number("max_request_bytes", shared.limits.request_bytes);
        o.number("max_batch_size", hapax_broker::BATCH_MAX);
    });
}

/// An extension with its name and version, as the official admin UI reads it.
fn extension(o: &mut Object<'_>, urn: &str) {
    let name = urn.rsplit(':').next().unwrap_or(urn);
    // Its page of unique jobs is shown if an extension has the name of the capability, which has more than a truth value here.
    o.text("name", if name == "unique-jobs" { "unique_jobs" } else { name });
    o.text("uri", urn);
    o.text("version", "1.0");
}
