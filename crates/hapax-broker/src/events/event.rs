//! What an event says.
//!
//! Events hold what their `data` members need and nothing more: a job's arguments would make a full log weigh
//! as much as the store. Names are shared, not copied, and texts that a client chose are cut.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::unique::Key;
use hapax_core::{JobId, JobType, Json, Priority, QueueName, State, Timestamp, WorkerId};

use super::EventId;

/// A longer result is left out of its event; whoever wants it asks for the job.
pub const EVENT_RESULT_BYTES_MAX: usize = 1024;

/// Something that happened and is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct JobEvent {
    /// Its place in the log, from 1.
    pub seq: u64,
    /// Its name, which is also a cursor.
    pub id: EventId,
    /// When it happened.
    pub at: Timestamp,
    /// The queue it happened in, or to.
    pub queue: QueueName,
    /// What happened.
    pub news: News,
}

/// An event without its place in the log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unnumbered {
    pub(crate) at: Timestamp,
    pub(crate) queue: QueueName,
    pub(crate) news: News,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// Something happened to a job.
    Job {
        /// Which.
        id: JobId,
        /// Its type.
        job_type: JobType,
        /// Where it stands since.
        state: State,
        /// What happened to it.
        fact: JobFact,
    },
    /// The queue gives out no jobs any more.
    QueuePaused,
    /// The queue gives out jobs again.
    QueueResumed,
}

/// What happened to a job, with the `data` members of Events 4.1.
#[derive(Debug, Clone, PartialEq)]
pub enum JobFact {
    /// It became available to workers.
    Enqueued {
        /// Its priority.
        priority: Priority,
        /// The start time that its client gave.
        scheduled_at: Option<Timestamp>,
        /// Its key, if it was declared unique.
        key: Option<Key>,
    },
    /// A worker took it.
    Started {
        /// Who, if it said.
        worker: Option<WorkerId>,
        /// The attempt that began.
        attempt: u32,
        /// How long it had been available.
        waited: Duration,
    },
    /// It was done.
    Completed {
        /// The attempt that succeeded.
        attempt: u32,
        /// How long that took.
        duration: Duration,
        /// What came of it, unless longer than [`EVENT_RESULT_BYTES_MAX`].
        result: Option<Json>,
    },
    /// An attempt failed.
    Failed {
        /// Which.
        attempt: u32,
        /// How long it took, if that is known: nobody knows when a lost worker stopped.
        duration: Option<Duration>,
        /// Why.
        error: Arc<EventError>,
    },
    /// It will be tried again.
    Retrying {
        /// The attempt that failed.
        attempt: u32,
        /// How many there may be.
        max_attempts: u32,
        /// When the next one comes.
        next_retry_at: Timestamp,
        /// Why it failed.
        error: Arc<EventError>,
    },
    /// It was given up.
    Discarded {
        /// How many attempts there were.
        total_attempts: u32,
        /// Why the last one failed.
        last_error: Arc<EventError>,
    },
    /// It was called off.
    Cancelled {
        /// Where it stood before.
        from: State,
        /// By what.
        by: CancelledBy,
    },
    /// Its worker is still at it.
    Heartbeat {
        /// Who, if it said.
        worker: Option<WorkerId>,
        /// The attempt.
        attempt: u32,
        /// The new end of the lease.
        visible_until: Timestamp,
    },
    /// It waits for its start time.
    Scheduled {
        /// That time.
        scheduled_at: Timestamp,
    },
    /// Nobody started it in time.
    Expired {
        /// When it was accepted.
        created_at: Timestamp,
        /// How long it had.
        ttl: Duration,
    },
}

/// What called a job off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelledBy {
    /// A request.
    Request,
    /// A job with the same key that took its place.
    Replacement,
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventError {
    /// The code.
    pub code: Box<str>,
    /// The text, cut if long.
    pub message: Box<str>,
    /// Whether such an error allows another attempt.
    pub retryable: bool,
}

/// The kinds of event, bare of facts: for filters, metrics and the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "their names on the wire say it")]
pub enum EventKind {
    JobEnqueued,
    JobStarted,
    JobCompleted,
    JobFailed,
    JobRetrying,
    JobDiscarded,
    JobCancelled,
    JobHeartbeat,
    JobScheduled,
    JobExpired,
    QueuePaused,
    QueueResumed,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [EventKind; 12] = [
        EventKind::JobEnqueued,
        EventKind::JobStarted,
        EventKind::JobCompleted,
        EventKind::JobFailed,
        EventKind::JobRetrying,
        EventKind::JobDiscarded,
        EventKind::JobCancelled,
        EventKind::JobHeartbeat,
        EventKind::JobScheduled,
        EventKind::JobExpired,
        EventKind::QueuePaused,
        EventKind::QueueResumed,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::JobEnqueued => "job.enqueued",
            EventKind::JobStarted => "job.started",
            EventKind::JobCompleted => "job.completed",
            EventKind::JobFailed => "job.failed",
            EventKind::JobRetrying => "job.retrying",
            EventKind::JobDiscarded => "job.discarded",
            EventKind::JobCancelled => "job.cancelled",
            EventKind::JobHeartbeat => "job.heartbeat",
            EventKind::JobScheduled => "job.scheduled",
            EventKind::JobExpired => "job.expired",
            EventKind::QueuePaused => "queue.paused",
            EventKind::QueueResumed => "queue.resumed",
        }
    }
}

impl JobEvent {
    /// The bare kind.
    pub fn kind(&self) -> EventKind {
        match &self.news {
            News::Job { fact, .. } => fact.kind(),
            News::QueuePaused => EventKind::QueuePaused,
            News::QueueResumed => EventKind::QueueResumed,
        }
    }

    /// The type of the job it happened to, if it happened to a job.
    pub fn job_type(&self) -> Option<&JobType> {
        match &self.news {
            News::Job { job_type, .. } => Some(job_type),
            News::QueuePaused | News::QueueResumed => None,
        }
    }
}

impl JobFact {
    /// The bare kind.
    pub fn kind(&self) -> EventKind {
        match self {
            JobFact::Enqueued { .. } => EventKind::JobEnqueued,
            JobFact::Started { .. } => EventKind::JobStarted,
            JobFact::Completed { .. } => EventKind::JobCompleted,
            JobFact::Failed { .. } => EventKind::JobFailed,
            JobFact::Retrying { .. } => EventKind::JobRetrying,
            JobFact::Discarded { .. } => EventKind::JobDiscarded,
            JobFact::Cancelled { .. } => EventKind::JobCancelled,
            JobFact::Heartbeat { .. } => EventKind::JobHeartbeat,
            JobFact::Scheduled { .. } => EventKind::JobScheduled,
            JobFact::Expired { .. } => EventKind::JobExpired,
        }
    }
}
