//! Maintenance, as operators and producers hear of it.

use hapax_broker::Maintenance;
use hapax_core::Timestamp;
use hapax_wire::error::Code;
use hapax_wire::writer::{self, Object};

use crate::problem::Problem;

/// After how many seconds to try again if nobody knows how long it takes.
const RETRY_AFTER_SECONDS: u64 = 30;
/// And at most, however long it takes: it may be over sooner.
const RETRY_AFTER_SECONDS_MAX: u64 = 300;

/// Why a job is not taken in.
pub(crate) fn problem(maintenance: &Maintenance, now: Timestamp) -> Problem {
    let mut details = Vec::new();
    writer::object(&mut details, |o| members(o, maintenance));
    let left = maintenance.estimated_end().map(|end| end.since(now).as_secs());
    let message = match &maintenance.reason {
        Some(reason) => format!("the server is under maintenance and takes in no jobs: {reason}"),
        None => "the server is under maintenance and takes in no jobs".to_owned(),
    };
    Problem {
        details: Some(details),
        retry_after: Some(left.unwrap_or(RETRY_AFTER_SECONDS).clamp(1, RETRY_AFTER_SECONDS_MAX)),
        ..Problem::new(Code::BackendUnavailable, message)
    }
}

/// The answer to whoever asks or has changed it.
pub(crate) fn state(maintenance: Option<&Maintenance>) -> Vec<u8> {
    let mut out = Vec::with_capacity(160);
    writer::object(&mut out, |o| {
        o.flag("maintenance", maintenance.is_some());
        if let Some(maintenance) = maintenance {
            members(o, maintenance);
        }
        // The words of the official admin UI for the same.
        o.flag("enabled", maintenance.is_some());
        o.moment_if("started_at", maintenance.map(|maintenance| maintenance.since));
        o.moment_if("ends_at", maintenance.and_then(Maintenance::estimated_end));
    });
    out
}

fn members(o: &mut Object<'_>, maintenance: &Maintenance) {
    let Maintenance { reason, since, estimate: _ } = maintenance;
    o.text_if("reason", reason.as_deref());
    o.moment("enabled_at", *since);
    o.moment_if("estimated_end", maintenance.estimated_end());
}
