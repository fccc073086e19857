//! The settings of a queue.

use hapax_broker::Deleting;
use hapax_core::limit::{Limits, Share};
use hapax_core::{Deletion, KeptFor, QueueName, QueueSettings, State, format_iso8601};
use hapax_wire::retry;
use hapax_wire::writer::{self, Object};

use super::limit;
use crate::from_wire::DeletionStrategy;

/// The answer to a question about settings, in a wrapper and flat.
pub(crate) fn one(name: &str, settings: &QueueSettings, limits: Limits) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.text("name", name);
        o.text("queue", name);
        o.word("state", if settings.is_draining() { "draining" } else { State::Active.name() });
        o.object("config", |o| {
            limit::of_settings(o, limits);
            members(o, settings);
        });
        limit::of_settings(o, limits);
        members(o, settings);
    });
    out
}

/// The members of settings that are decided.
fn members(o: &mut Object<'_>, settings: &QueueSettings) {
    let QueueSettings { max_depth, overflow, warning_permille, .. } = settings;
    if max_depth.is_some() || overflow.is_some() || warning_permille.is_some() {
        o.object("backpressure", |o| pressure(o, settings));
    }
    others(o, settings);
}

/// What is decided about a queue that fills up.
pub(crate) fn pressure(o: &mut Object<'_>, settings: &QueueSettings) {
    o.number_if("max_depth", settings.max_depth);
    o.text_if("strategy", settings.overflow.map(hapax_core::Overflow::name));
    let warning = settings.warning_permille.map(|permille| f64::from(permille) / 1000.0);
    o.number_if("warning_threshold", warning);
}

/// The members of settings that are decided, but for those about a queue that fills up.
pub(crate) fn others(o: &mut Object<'_>, settings: &QueueSettings) {
    let QueueSettings {
        max_depth,
        overflow: _,
        warning_permille: _,
        draining: _,
        visibility_timeout,
        timeout,
        retry: policy,
        retention: KeptFor { completed, cancelled, discarded },
        allowed_types,
        share,
        deletion,
    } = settings;
    o.number_if("max_size", *max_depth);
    o.flag("draining", settings.is_draining());
    o.number_if("visibility_timeout_ms", visibility_timeout.map(|span| span.as_millis()));
    o.number_if("default_timeout_ms", timeout.map(|span| span.as_millis()));
    if let Some(policy) = policy {
        o.object("default_retry", |o| retry::members(o, policy));
    }
    if completed.is_some() || cancelled.is_some() || discarded.is_some() {
        o.object("retention", |o| {
            let kept = |span: std::time::Duration| format_iso8601(span);
            o.plain_if(State::Completed.name(), completed.map(kept));
            o.plain_if(State::Cancelled.name(), cancelled.map(kept));
            o.plain_if(State::Discarded.name(), discarded.map(kept));
        });
    }
    if !allowed_types.is_empty() {
        o.texts("allowed_job_types", allowed_types.iter().map(|name| &**name));
    }
    o.text_if("share", share.map(Share::name));
    if let Some(deletion) = deletion {
        o.object("deletion", |o| way_out(o, deletion));
    }
}

/// The answer to the deletion of a queue, with what becomes of its jobs if it may have had any.
pub(crate) fn deleted(name: &QueueName, deletion: Option<&Deletion>, deleting: Deleting) -> Vec<u8> {
    let Deleting { jobs, is_done } = deleting;
    let mut out = Vec::with_capacity(160);
    writer::object(&mut out, |o| {
        o.plain("queue", name);
        match deletion {
            Some(deletion) => way_out(o, deletion),
            None => o.word("strategy", DeletionStrategy::Reject.name()),
        }
        o.number("jobs_affected", jobs);
        o.word("state", if is_done { "deleted" } else { "draining" });
    });
    out
}

fn way_out(o: &mut Object<'_>, deletion: &Deletion) {
    o.word("strategy", DeletionStrategy::of(deletion).name());
    o.plain_if("target_queue", deletion.target());
}
