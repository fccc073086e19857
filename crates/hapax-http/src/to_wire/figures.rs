//! Figures about the work of this server.

use hapax_broker::{LastHour, Period, Point};
use hapax_core::Timestamp;
use hapax_wire::writer::{self, Object};

/// Digits behind the point: a rate is not known more exactly.
pub(super) struct Rounded(pub(super) f64);

impl std::fmt::Display for Rounded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", (self.0 * 1000.0).round() / 1000.0)
    }
}

/// `throughput` and `latency_ms`. Nothing is said about times of which nothing is known.
pub(crate) fn throughput(o: &mut Object<'_>, hour: &LastHour) {
    o.object("throughput", |o| {
        o.number("processed_per_minute", Rounded(hour.processed_per_minute));
        o.number("failed_per_minute", Rounded(hour.failed_per_minute));
    });
    o.object("latency_ms", |o| {
        o.number_if("p50", hour.wait_p50);
        o.number_if("p95", hour.wait_p95);
        o.number_if("p99", hour.wait_p99);
    });
}

/// What the statistics of a queue say about the last hour. The Rust SDK wants all of them.
pub(crate) fn last_hour(o: &mut Object<'_>, hour: &LastHour) {
    o.number("completed_last_hour", hour.completed);
    o.number("failed_last_hour", hour.failed);
    o.number("avg_duration_ms", Rounded(hour.run_average.unwrap_or(0.0)));
    o.number("avg_wait_ms", Rounded(hour.wait_average.unwrap_or(0.0)));
    o.number("throughput_per_second", Rounded(hour.processed_per_minute / 60.0));
}

/// The answer to a question for the history.
pub(crate) fn history(period: Period, points: &[Point], since: Timestamp, until: Timestamp) -> Vec<u8> {
    let mut out = Vec::with_capacity(128 + 128 * points.len());
    writer::object(&mut out, |o| {
        o.text("period", period.name());
        o.moment("since", points.first().map_or(since, |point| point.start));
        o.moment("until", until);
        o.array("data", points, |point, out| writer::object(out, |o| members(o, point)));
    });
    out
}

fn members(o: &mut Object<'_>, point: &Point) {
    let Point { start, processed, failed, enqueued, wait_p50, wait_p99 } = point;
    o.moment("timestamp", *start);
    o.number("processed", processed);
    o.number("failed", failed);
    o.number("enqueued", enqueued);
    o.number_if("latency_p50_ms", *wait_p50);
    o.number_if("latency_p99_ms", *wait_p99);
}
