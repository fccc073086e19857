//! The body that begins or ends a maintenance.

use std::time::Duration;

use hapax_core::json::Node;

use super::span::iso_or_brief;
use super::{Fault, Given};

/// Longest reason, in characters.
pub(crate) const REASON_CHARS_MAX: usize = 1000;

/// What an operator wants.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MaintenanceWish {
    /// It begins.
    On {
        /// Why.
        reason: Option<Box<str>>,
        /// How long it will take.
        estimate: Option<Duration>,
    },
    /// It ends.
    Off,
}

/// Reads `{enabled, reason, estimated_duration}`. The official admin UI says `duration` in place of the last.
pub(crate) fn maintenance(body: &Node<'_>) -> Result<MaintenanceWish, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["enabled", "reason", "estimated_duration", "duration"])?;
    let reason = body.member("reason").map(reason).transpose()?;
    let estimated = body.member("estimated_duration").map(iso_or_brief).transpose()?;
    let duration = body.member("duration").map(iso_or_brief).transpose()?;
    if let (Some(given), Some(estimated)) = (body.member("duration"), estimated)
        && duration != Some(estimated)
    {
        return Err(Fault::new(given.place, "contradicts estimated_duration; send one of the two"));
    }
    let estimate = estimated.or(duration);
    if body.required("enabled", "true or false")?.flag()? {
        return Ok(MaintenanceWish::On { reason, estimate });
    }
    for name in ["reason", "estimated_duration", "duration"] {
        if let Some(given) = body.member(name) {
            return Err(Fault::new(given.place, "goes with enabled: true"));
        }
    }
    Ok(MaintenanceWish::Off)
}

fn reason(given: Given<'_, '_>) -> Result<Box<str>, Fault> {
    let text = given.text("a string")?;
    if text.chars().count() > REASON_CHARS_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {REASON_CHARS_MAX} characters")));
    }
    Ok(text.into())
}
