//! How the server is set up, without anything secret.

use hapax_core::{Retention, Rules, State, format_iso8601};
use hapax_wire::writer;

use crate::Limits;
use crate::shared::Shared;

/// The answer to who asks how the server is set up.
pub(crate) fn config(shared: &Shared) -> Vec<u8> {
    let Rules { visibility_timeout, retention, joined_bytes_max } = shared.broker.rules();
    let Retention { completed, cancelled, discarded } = retention;
    let Limits { job_bytes, request_bytes, connections, body_time, drain_time, .. } = &shared.limits;
    let mut out = Vec::with_capacity(768);
    writer::object(&mut out, |o| {
        o.text("version", shared.version);
        o.text("backend", shared.backend);
        o.flag("durable", shared.durable);
        o.flag("authentication", shared.auth.wants_keys());
        o.flag("conformance_hooks", shared.conformance);
        o.flag("maintenance", shared.broker.maintenance().is_some());
        o.text("visibility_timeout", &format_iso8601(*visibility_timeout));
        o.object("retention", |o| {
            o.text(State::Completed.name(), &format_iso8601(*completed));
            o.text(State::Cancelled.name(), &format_iso8601(*cancelled));
            o.text(State::Discarded.name(), &format_iso8601(*discarded));
        });
        o.object("limits", |o| {
            o.number("job_bytes", job_bytes);
            o.number("request_bytes", request_bytes);
            o.number("joined_bytes", joined_bytes_max);
            o.number("batch_jobs", hapax_broker::BATCH_MAX);
            o.number("bulk_jobs", hapax_broker::BULK_MAX);
            o.number("connections", connections);
            o.text("body_time", &format_iso8601(*body_time));
            o.text("drain_time", &format_iso8601(*drain_time));
        });
    });
    out
}
