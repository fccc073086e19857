//! Dead letters, as lists and together.

use std::collections::BTreeMap;

use hapax_broker::{LetterPlace, LetterStats};
use hapax_core::{Job, Retention, format_iso8601};
use hapax_wire::job;
use hapax_wire::writer::{self, Object};

use super::pagination;
use crate::from_wire::Numbered;
use crate::limits::PAGE_BYTES_MAX;

/// How many of the letters fit into one answer.
pub(crate) fn fitting(jobs: &[Job]) -> usize {
    let mut bytes = 0;
    let fits = jobs.iter().take_while(|job| {
        bytes += job::length_estimate(job);
        bytes <= PAGE_BYTES_MAX
    });
    fits.count().max(1).min(jobs.len())
}

/// The place of a letter, as a cursor.
pub(crate) fn cursor((since, id): &LetterPlace) -> String {
    format!("{}.{id}", since.millis())
}

/// The answer to an operator.
pub(crate) fn list(
    jobs: &[Job],
    numbered: Numbered,
    total: Option<u64>,
    next: Option<LetterPlace>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + jobs.iter().map(job::length_estimate).sum::<usize>());
    writer::object(&mut out, |o| {
        o.array("items", jobs, |job, out| job::write(out, job));
        pagination::numbered(o, numbered, total, next.is_some(), next.as_ref().map(cursor));
    });
    out
}

/// The answer to a question for statistics.
pub(crate) fn stats(stats: &LetterStats, retention: &Retention) -> Vec<u8> {
    let LetterStats { total, looked_at, by_queue, by_error_type, newest_at, oldest_at } = stats;
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.number("total", total);
        o.number("counted", looked_at);
        o.object("by_queue", |o| {
            for (queue, count) in by_queue {
                o.number(queue.as_str(), count);
            }
        });
        o.object("by_error_type", |o| error_types(o, by_error_type));
        o.moment_if("oldest_at", *oldest_at);
        o.moment_if("newest_at", *newest_at);
        o.object("retention", |o| o.text("max_age", &format_iso8601(retention.discarded)));
    });
    out
}

/// Types are texts of the workers: one may be called as those are that have none.
fn error_types(o: &mut Object<'_>, by_error_type: &BTreeMap<Option<Box<str>>, u64>) {
    let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
    for (kind, count) in by_error_type {
        *by_name.entry(kind.as_deref().unwrap_or("Unknown")).or_default() += count;
    }
    for (name, count) in by_name {
        o.member_of_text(name).extend_from_slice(count.to_string().as_bytes());
    }
}
