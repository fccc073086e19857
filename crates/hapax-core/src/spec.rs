//! What the client asked for: the part of a job that running it does not change.

use std::time::Duration;

use crate::limit::{LimitKey, RateLimit, Share};
use crate::unique::Uniqueness;
use crate::workflow::WorkflowId;
use crate::{JobType, Json, KeptFor, OrderingKey, Priority, QueueName, RetryPolicy, TimeLimits, Timestamp};

/// A job as its client declared it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The kind of work; `type` on the wire.
    pub kind: JobType,
    /// Where it waits.
    pub queue: QueueName,
    /// Higher goes first.
    pub priority: Priority,
    /// The arguments, as sent.
    pub args: Json,
    /// The metadata object, as sent.
    pub meta: Json,
    /// Labels.
    pub tags: Vec<Box<str>>,
    /// The URI of the schema of `args`; kept, not checked.
    pub schema: Option<Box<str>>,
    /// When it may start, if not at once.
    pub scheduled_at: Option<GivenTime>,
    /// When it is too late to start.
    pub expires_at: Option<GivenTime>,
    /// How long one attempt may run.
    pub timeout: Option<Timeout>,
    /// How long a lease lasts without heartbeats.
    pub visibility_timeout: Option<Duration>,
    /// Further limits on time.
    pub limits: TimeLimits,
    /// How failures are retried.
    pub retry: RetryPolicy,
    /// How duplicates are recognised and treated.
    pub unique: Option<Uniqueness>,
    /// How many like it may run or start.
    pub rate_limit: Option<Box<RateLimit>>,
    /// What a crash of the worker means for the job.
    pub delivery: Delivery,
    /// With which others of its queue it must not run at the same time.
    pub ordering_key: Option<OrderingKey>,
    /// How long it is kept after it ended, if not as long as others.
    pub kept_for: KeptFor,
    /// The workflow of which it is a step.
    pub workflow: Option<WorkflowId>,
    /// Attributes that the server does not know, as one JSON object; kept and returned.
    pub extra: Json,
}

/// A moment that a client gave, and the words in which it gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenTime {
    /// The moment.
    pub at: Timestamp,
    /// What the client gets back: its own text, unless few could read that.
    pub text: Box<str>,
}

impl GivenTime {
    /// A moment as a client wrote it. RFC 3339 lets it write small letters and leap seconds, which strict readers do not
    /// take: a worker could not read its jobs for one of them. Such a moment is written anew.
    pub fn written(at: Timestamp, text: &str) -> GivenTime {
        let is_plain =
            text.get(10..11) == Some("T") && text.get(17..19) != Some("60") && !text.ends_with('z');
        if is_plain { GivenTime { at, text: text.into() } } else { GivenTime::computed(at) }
    }

    /// A moment that the server worked out.
    pub fn computed(at: Timestamp) -> GivenTime {
        GivenTime { at, text: at.to_string().into() }
    }
}

/// A limit on the running time of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeout {
    /// How long.
    pub span: Duration,
    /// Whether the client wrote it as `timeout` in seconds, and so gets that member back.
    pub in_seconds: bool,
}

/// What a crash of the worker means for the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It is delivered again.
    AtLeastOnce,
    /// It is over: the job was completed in the moment it was fetched.
    AtMostOnce,
}

/// New values for some attributes of a stored job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SpecPatch {
    /// A new queue.
    pub queue: Option<QueueName>,
    /// New arguments.
    pub args: Option<Json>,
    /// New metadata.
    pub meta: Option<Json>,
    /// A new retry policy.
    pub retry: Option<RetryPolicy>,
}

impl Spec {
    /// The key that takes turns with others in its queue, if it does.
    pub fn fair_key(&self) -> Option<&LimitKey> {
        self.rate_limit.as_deref().filter(|limit| limit.share == Share::Fair).map(|limit| &limit.key)
    }

    /// The job goes to another queue, and limits itself there if it did so here.
    pub(crate) fn move_to(&mut self, queue: QueueName) {
        self.rate_limit = self.rate_limit.take().map(|limit| Box::new(limit.moved_to(&queue)));
        self.queue = queue;
    }

    /// The same job with the new values.
    pub(crate) fn patched(&self, patch: SpecPatch) -> Spec {
        let SpecPatch { queue, args, meta, retry } = patch;
        let mut spec = self.clone();
        if let Some(queue) = queue {
            spec.move_to(queue);
        }
        spec.args = args.unwrap_or(spec.args);
        spec.meta = meta.unwrap_or(spec.meta);
        spec.retry = retry.unwrap_or(spec.retry);
        spec
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_comes_back_as_it_was_written_if_strict_readers_take_it() {
        for (given, shown) in [
            ("2026-03-01T09:30:00Z", "2026-03-01T09:30:00Z"),
            ("2026-03-01T09:30:00.5+01:00", "2026-03-01T09:30:00.5+01:00"),
            ("2026-03-01t09:30:00Z", "2026-03-01T09:30:00.000Z"),
            ("2026-03-01T09:30:00z", "2026-03-01T09:30:00.000Z"),
            ("2026-03-01 09:30:00Z", "2026-03-01T09:30:00.000Z"),
        ] {
            let at = Timestamp::parse("2026-03-01T09:30:00Z").unwrap();
            assert_eq!(&*GivenTime::written(at, given).text, shown);
        }
        let leap = Timestamp::parse("2016-12-31T23:59:60Z").unwrap();
        assert_eq!(*GivenTime::written(leap, "2016-12-31T23:59:60Z").text, leap.to_string());
    }
}
