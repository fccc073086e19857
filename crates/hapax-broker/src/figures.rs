//! Figures about the work of this server: how much, how fast, when. Kept in memory from the events as they happen, in
//! a bounded number of buckets; nothing is ever counted by looking through jobs, and nothing survives a restart.

mod bucket;
mod buckets;
mod histogram;
mod minute;
mod series;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hapax_core::{QueueName, Timestamp};

use self::bucket::Bucket;
use self::minute::Minute;
use self::series::Series;
pub use self::series::{Period, Point};
use crate::{Broker, JobFact, News, Observer};

/// Of how many queues figures are kept, besides those of all queues together. The one in which nothing has happened for the
/// longest time gives way.
pub const QUEUES_WITH_FIGURES_MAX: usize = 256;

/// What is known of the last hour.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LastHour {
    /// Attempts that ended within a minute, failed ones included.
    pub processed_per_minute: f64,
    /// Attempts that failed within a minute.
    pub failed_per_minute: f64,
    /// Jobs that became available within a minute.
    pub enqueued_per_minute: f64,
    /// Jobs that were completed.
    pub completed: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// How long a job waited for a worker, in milliseconds: half of them not longer than this,
    pub wait_p50: Option<u64>,
    /// 95 of 100,
    pub wait_p95: Option<u64>,
    /// 99 of 100.
    pub wait_p99: Option<u64>,
    /// How long a job waited for a worker, on average.
    pub wait_average: Option<f64>,
    /// How long a completed attempt ran, on average.
    pub run_average: Option<f64>,
}

/// The figures.
#[derive(Debug, Default)]
pub(crate) struct Figures(Mutex<Kept>);

#[derive(Debug)]
struct Kept {
    all: Series,
    /// In a tree: most servers have few queues, and a look at one costs less than a hash.
    queues: BTreeMap<QueueName, Own>,
}

/// The figures of one queue.
#[derive(Debug)]
struct Own {
    series: Series,
    /// What happened in the current minute, which is in no series yet: every job of every request is noted here, and only
    /// here.
    minute: Minute,
}

impl Default for Kept {
    fn default() -> Self {
        Kept { all: Series::of_all_queues(), queues: BTreeMap::new() }
    }
}

impl Broker {
    /// What happened in the last hour, in one queue or in all.
    pub fn last_hour(&self, queue: Option<&QueueName>) -> LastHour {
        let now = self.now();
        self.shared.figures.series(queue, |series| series.last_hour(now))
    }

    /// What happened in each period from one moment until before another, as far as it is kept; the oldest first.
    pub fn history(
        &self,
        queue: Option<&QueueName>,
        period: Period,
        since: Timestamp,
        until: Timestamp,
    ) -> Vec<Point> {
        self.shared.figures.series(queue, |series| series.history(period, since, until))
    }
}

impl Figures {
    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.kept() = Kept::default();
    }

    fn series<T>(&self, queue: Option<&QueueName>, read: impl FnOnce(&Series) -> T) -> T {
        let mut kept = self.kept();
        kept.fold();
        match queue {
            None => read(&kept.all),
            Some(name) => match kept.queues.get(name) {
                Some(own) => read(&own.series),
                None => read(&Series::of_one_queue()),
            },
        }
    }

    fn note(&self, queue: &QueueName, at: Timestamp, note: impl FnOnce(&mut Bucket)) {
        let kept = &mut *self.kept();
        let own = if let Some(own) = kept.queues.get_mut(queue) {
            own
        } else {
            kept.make_room();
            kept.queues.entry(queue.clone()).or_insert_with(|| Own::beginning(at))
        };
        if !own.minute.covers(at) {
            own.fold(&mut kept.all);
            own.minute = Minute::of(at);
            own.series.arrive_at(at);
            kept.all.arrive_at(at);
        }
        note(&mut own.minute.bucket);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Makes sure that there is room for the figures of one more queue.
    fn make_room(&mut self) {
        if self.queues.len() < QUEUES_WITH_FIGURES_MAX {
            return;
        }
        let quietest = self.queues.iter().min_by_key(|(_, own)| own.minute.start());
        if let Some(mut own) =
            quietest.map(|(name, _)| name.clone()).and_then(|name| self.queues.remove(&name))
        {
            own.fold(&mut self.all);
        }
    }

    /// Brings what happened in the current minute into all series.
    fn fold(&mut self) {
        self.queues.values_mut().for_each(|own| own.fold(&mut self.all));
    }
}

impl Own {
    fn beginning(at: Timestamp) -> Own {
        Own { series: Series::of_one_queue(), minute: Minute::of(at) }
    }

    fn fold(&mut self, all: &mut Series) {
        if let Some((start, bucket)) = self.minute.take() {
            self.series.add(start, &bucket);
            all.add(start, &bucket);
        }
    }
}

/// Keeps the figures, and tells somebody else as well.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) figures: Arc<Figures>,
    pub(crate) other: Arc<dyn Observer>,
}

impl Observer for Keeper {
    fn event(&self, at: Timestamp, queue: Option<&QueueName>, news: &News) {
        if let (News::Job { fact, .. }, Some(queue)) = (news, queue) {
            self.keep(queue, at, fact);
        }
        self.other.event(at, queue, news);
    }

    fn conflict(&self, rule: &'static str) {
        self.other.conflict(rule);
    }

    fn deduplicated(&self) {
        self.other.deduplicated();
    }

    fn released(&self, jobs: usize) {
        self.other.released(jobs);
    }
}

impl Keeper {
    fn keep(&self, queue: &QueueName, at: Timestamp, fact: &JobFact) {
        let figures = &self.figures;
        match fact {
            JobFact::Enqueued { .. } => figures.note(queue, at, |bucket| bucket.enqueued += 1),
            JobFact::Started { waited, .. } => figures.note(queue, at, |bucket| bucket.waited.add(*waited)),
            JobFact::Completed { duration, .. } => {
                figures.note(queue, at, |bucket| bucket.completed(*duration));
            }
            JobFact::Failed { .. } => figures.note(queue, at, |bucket| bucket.failed += 1),
            JobFact::Retrying { .. }
            | JobFact::Discarded { .. }
            | JobFact::Cancelled { .. }
            | JobFact::Heartbeat { .. }
            | JobFact::Progress { .. }
            | JobFact::Checkpointed { .. }
            | JobFact::OutOfTime { .. }
            | JobFact::RateExceeded { .. }
            | JobFact::RateReleased { .. }
            | JobFact::RateDropped { .. }
            | JobFact::RateAdjusted { .. }
            | JobFact::Reprioritized { .. }
            | JobFact::LetterAdded { .. }
            | JobFact::LetterRetried
            | JobFact::LetterDeleted
            | JobFact::Displaced
            | JobFact::Moved
            | JobFact::Scheduled { .. }
            | JobFact::Expired { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
