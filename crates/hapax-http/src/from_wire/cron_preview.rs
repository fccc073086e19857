//! A schedule that somebody wants to see before it is registered, on its way in.

use axum::http::Uri;
use hapax_core::Timestamp;
use hapax_core::cron::{Schedule, Zone};
use hapax_core::json::Node;

use super::cron::{expression, read_zone};
use super::query::read_query;
use super::{Fault, Given, span};

/// How many moments to come are shown if nobody says.
pub(crate) const NEXT_RUNS_DEFAULT: usize = 5;
/// Most moments to come that are shown.
pub(crate) const NEXT_RUNS_MAX: usize = 100;

/// A schedule, and what to see of it.
#[derive(Debug)]
pub(crate) struct Preview {
    /// As its client wrote it.
    pub(crate) expression: Box<str>,
    /// The schedule.
    pub(crate) schedule: Schedule,
    /// The zone in which it is meant.
    pub(crate) zone: Zone,
    /// The moment after which it is looked at, and from which `@every` counts.
    pub(crate) from: Timestamp,
    /// How many moments.
    pub(crate) count: usize,
}

/// How many moments to come a look at a recurring job shows.
pub(crate) fn cron_runs(uri: &Uri) -> Result<usize, Fault> {
    read_query(uri, |query| query.number("next", NEXT_RUNS_DEFAULT, 1..=NEXT_RUNS_MAX))
}

/// Reads the body of `POST /cron/preview`.
pub(crate) fn cron_preview(body: &Node<'_>, now: Timestamp) -> Result<Preview, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["expression", "cron", "schedule", "timezone", "count", "from"])?;
    let zone = body.member("timezone").map(|given| read_zone(&given)).transpose()?.unwrap_or_default();
    let given = expression(&body)?;
    let text = given.text("a cron expression")?;
    let schedule = Schedule::parse(text).map_err(|error| Fault::new(given.place, error))?;
    let most = i64::try_from(NEXT_RUNS_MAX).unwrap_or(i64::MAX);
    let count = body.member("count").map(|given| given.integer(1, most)).transpose()?;
    let from = body.member("from").map(|given| span::moment(given, now)).transpose()?;
    let preview = Preview {
        expression: text.into(),
        schedule,
        zone,
        from: from.map_or(now, |given| given.at),
        count: count.and_then(|count| usize::try_from(count).ok()).unwrap_or(NEXT_RUNS_DEFAULT),
    };
    if preview.runs().is_empty() {
        let problem = format_args!("is never due in {} after {}", preview.zone, preview.from);
        return Err(Fault::new(given.place, problem));
    }
    Ok(preview)
}

impl Preview {
    /// The next moments at which it is due.
    pub(crate) fn runs(&self) -> Vec<Timestamp> {
        self.schedule.upcoming(self.from, &self.zone, self.from).take(self.count).collect()
    }
}
