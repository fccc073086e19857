//! Figures over time: of all queues together, or of one.

use std::time::Duration;

use hapax_core::Timestamp;

use super::LastHour;
use super::bucket::Bucket;
use super::buckets::Buckets;

/// The shortest stretch.
pub(super) const MINUTE: Duration = Duration::from_mins(1);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// How many minutes, hours and days are kept of all queues together: a day, thirty days, a year.
const ALL_KEPT: [u32; 3] = [24 * 60, 30 * 24, 366];
/// How many of each queue: an hour and the one before, a week, thirty days.
const QUEUE_KEPT: [u32; 3] = [120, 7 * 24, 30];

/// How long one point of a history is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// A minute.
    Minute,
    /// Five minutes.
    FiveMinutes,
    /// An hour.
    Hour,
    /// A day, by UTC.
    Day,
}

impl Period {
    /// All of them.
    pub const ALL: [Period; 4] = [Period::Minute, Period::FiveMinutes, Period::Hour, Period::Day];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Period::Minute => "1m",
            Period::FiveMinutes => "5m",
            Period::Hour => "1h",
            Period::Day => "1d",
        }
    }

    /// How many buckets make one point.
    const fn buckets(self) -> i64 {
        match self {
            Period::Minute | Period::Hour | Period::Day => 1,
            Period::FiveMinutes => 5,
        }
    }
}

/// What happened in one period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// Its first moment.
    pub start: Timestamp,
    /// Attempts that ended, failed ones included.
    pub processed: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Jobs that became available.
    pub enqueued: u64,
    /// How long a job waited for a worker, in milliseconds: half of those that were started not longer than this,
    pub wait_p50: Option<u64>,
    /// 99 of 100.
    pub wait_p99: Option<u64>,
}

/// Minutes, hours and days.
#[derive(Debug)]
pub(super) struct Series {
    minutes: Buckets,
    hours: Buckets,
    days: Buckets,
}

impl Series {
    pub(super) fn of_all_queues() -> Series {
        Series::kept(ALL_KEPT)
    }

    pub(super) fn of_one_queue() -> Series {
        Series::kept(QUEUE_KEPT)
    }

    fn kept([minutes, hours, days]: [u32; 3]) -> Series {
        Series {
            minutes: Buckets::new(MINUTE, minutes),
            hours: Buckets::new(HOUR, hours),
            days: Buckets::new(DAY, days),
        }
    }

    /// Adds what happened at that moment.
    pub(super) fn add(&mut self, at: Timestamp, more: &Bucket) {
        for buckets in [&mut self.minutes, &mut self.hours, &mut self.days] {
            if let Some(bucket) = buckets.at(at) {
                bucket.merge(more);
            }
        }
    }

    /// It is that moment, by a clock that may have been ahead before.
    pub(super) fn arrive_at(&mut self, moment: Timestamp) {
        for buckets in [&mut self.minutes, &mut self.hours, &mut self.days] {
            buckets.arrive_at(moment);
        }
    }

    pub(super) fn last_hour(&self, now: Timestamp) -> LastHour {
        let minute = self.minutes.number(now);
        let hour = self.minutes.sum(minute - 59..minute + 1);
        let per_minute = |count: fn(&Bucket) -> u64| self.per_minute(now, count);
        LastHour {
            processed_per_minute: per_minute(Bucket::processed),
            failed_per_minute: per_minute(|bucket| bucket.failed),
            enqueued_per_minute: per_minute(|bucket| bucket.enqueued),
            completed: hour.completions(),
            failed: hour.failed,
            wait_p50: hour.waited.percentile(50),
            wait_p95: hour.waited.percentile(95),
            wait_p99: hour.waited.percentile(99),
            wait_average: hour.waited.average(),
            run_average: hour.run_average(),
        }
    }

    /// As many as the last sixty seconds saw, if those of the minute before came evenly.
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more digits than a double has")]
    fn per_minute(&self, now: Timestamp, count: impl Fn(&Bucket) -> u64) -> f64 {
        let minute = self.minutes.number(now);
        let passed = now.since(self.minutes.start(minute)).as_secs_f64() / MINUTE.as_secs_f64();
        let [before, current] =
            [minute - 1, minute].map(|number| count(&self.minutes.sum(number..number + 1)) as f64);
        current + before * (1.0 - passed)
    }

    pub(super) fn history(&self, period: Period, since: Timestamp, until: Timestamp) -> Vec<Point> {
        let buckets = match period {
            Period::Minute | Period::FiveMinutes => &self.minutes,
            Period::Hour => &self.hours,
            Period::Day => &self.days,
        };
        let step = period.buckets();
        // The last one has begun before the end; the first may begin before the start.
        let end = buckets.number(until - Duration::from_millis(1)) + 1;
        let start = buckets.number(since).max(end - buckets.kept());
        let first = start.div_euclid(step) * step;
        let mut points = Vec::new();
        let mut number = first;
        while number < end {
            let sum = buckets.sum(number..number + step);
            points.push(Point {
                start: buckets.start(number),
                processed: sum.processed(),
                failed: sum.failed,
                enqueued: sum.enqueued,
                wait_p50: sum.waited.percentile(50),
                wait_p99: sum.waited.percentile(99),
            });
            number += step;
        }
        points
    }
}
