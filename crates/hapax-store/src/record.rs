//! The texts in which engines with tables keep what has no column of its own, and the columns of a job's phase.
//!
//! Every function takes its value apart by name, so that a new field cannot be forgotten.

pub mod courier;
pub mod cron;
pub mod delivery;
pub mod failures;
pub mod ledger;
pub mod limit;
pub mod options;
pub mod phase;
pub mod policy;
mod progress;
pub mod queue;
pub mod webhook;
pub mod workflow;

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;

/// A text that nobody here wrote.
#[derive(Debug)]
pub struct Unreadable;

impl From<serde_json::Error> for Unreadable {
    fn from(_: serde_json::Error) -> Unreadable {
        Unreadable
    }
}

/// A span as tables keep it. Milliseconds are the precision of everything the server says about time;
/// what is finer rounds up, so that no span becomes zero.
pub fn millis(span: Duration) -> i64 {
    i64::try_from(span.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX)
}

/// A span that a table kept.
pub fn span(millis: i64) -> Result<Duration, Unreadable> {
    u64::try_from(millis).map(Duration::from_millis).map_err(|_| Unreadable)
}

/// The value of that name, among all there are.
fn named<T: Copy>(
    name: Option<Cow<'_, str>>,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<Option<T>, Unreadable> {
    let find =
        |name: Cow<'_, str>| all.iter().copied().find(|value| name_of(*value) == name).ok_or(Unreadable);
    name.map(find).transpose()
}

/// The JSON text of a record of ours.
#[expect(clippy::expect_used, reason = "records hold texts and integers only, and their keys are texts")]
fn json(record: &impl Serialize) -> String {
    serde_json::to_string(record).expect("a record has a JSON form")
}
