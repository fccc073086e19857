//! What an event says.
//!
//! Events hold what their `data` members need and nothing more: a job's arguments would make a full log weigh
//! as much as the store. Names are shared, not copied, and texts that a client chose are cut.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::limit::{Closed, LimitKey, Strategy};
use hapax_core::unique::Key;
use hapax_core::webhook::SubscriptionId;
use hapax_core::workflow::WorkflowId;
use hapax_core::{Fraction, JobId, JobType, Json, Overrun, Priority, QueueName, State, Timestamp, WorkerId};

use super::{Aspect, BulkFact, CronFact, EventId, EventKind, Traced, WebhookFact, WorkerFact, WorkflowFact};

/// A longer result is left out of its event; whoever wants it asks for the job.
pub const EVENT_RESULT_BYTES_MAX: usize = 1024;

/// Something that happened and is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct JobEvent {
    /// Its place in the log, from 1.
    pub seq: u64,
    /// The name of its fact, which is also a cursor.
    pub id: EventId,
    /// When it happened.
    pub at: Timestamp,
    /// The queue it happened in, or to.
    pub queue: Option<QueueName>,
    /// What happened.
    pub news: News,
    /// The trace of its job, if somebody follows traces ([`crate::Broker::follow_traces`]).
    pub traced: Option<Arc<Traced>>,
}

/// An event without its place in the log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Unnumbered {
    pub(crate) at: Timestamp,
    pub(crate) queue: Option<QueueName>,
    pub(crate) news: News,
    pub(crate) traced: Option<Arc<Traced>>,
}

impl Unnumbered {
    /// The same moment in the life of the same job, with another fact.
    pub(crate) fn with_fact(&self, fact: JobFact) -> Unnumbered {
        let mut event = self.clone();
        if let News::Job { step, fact: other, .. } = &mut event.news {
            (*step, *other) = (None, fact);
        }
        event
    }

    /// The job that has ended, if that is what happened.
    pub(crate) fn ended_job(&self) -> Option<JobId> {
        match &self.news {
            News::Job { id, state, .. } if state.is_terminal() => Some(*id),
            _ => None,
        }
    }
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
        /// From where to where it went with this, if it went anywhere.
        step: Option<Step>,
        /// What happened to it.
        fact: JobFact,
    },
    /// A recurring job was due.
    Cron {
        /// Its name.
        name: Box<str>,
        /// What came of it.
        fact: CronFact,
    },
    /// Something happened to a workflow.
    Workflow {
        /// Which.
        id: WorkflowId,
        /// What its client calls it.
        name: Option<Box<str>>,
        /// What happened to it.
        fact: WorkflowFact,
    },
    /// Something happened to a subscription, or on the way to its endpoint.
    Webhook {
        /// Which.
        subscription: SubscriptionId,
        /// What happened.
        fact: WebhookFact,
    },
    /// Something happened to a worker.
    Worker {
        /// Which.
        id: WorkerId,
        /// What happened to it.
        fact: WorkerFact,
    },
    /// A request about many jobs was seen through.
    Bulk(BulkFact),
    /// A job was turned away because its queue was full.
    TurnedAway {
        /// Its type.
        job_type: JobType,
        /// How many jobs waited in the queue.
        depth: u64,
        /// How many may.
        max: u64,
    },
    /// Dead letters of the queue were removed because they were old.
    LettersPruned {
        /// How many.
        count: u64,
    },
    /// The queue gives out no jobs any more.
    QueuePaused,
    /// The queue gives out jobs again.
    QueueResumed,
    /// The queue is gone.
    QueueDeleted,
}

/// A job's way from one state to another (Real-Time 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Where it stood; nowhere if it came to be.
    pub from: Option<State>,
    /// Where it went.
    pub to: State,
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
    /// Its worker told how far it has come.
    Progress {
        /// Who, if it said.
        worker: Option<WorkerId>,
        /// The attempt.
        attempt: u32,
        /// How far, if it ever said so in a number.
        value: Option<Fraction>,
        /// In words, cut if long.
        message: Option<Box<str>>,
    },
    /// Its worker left behind from where another could go on.
    Checkpointed {
        /// Who, if it said.
        worker: Option<WorkerId>,
        /// The attempt.
        attempt: u32,
        /// The how-manieth checkpoint it is.
        sequence: u64,
    },
    /// It waits for its start time.
    Scheduled {
        /// That time.
        scheduled_at: Timestamp,
    },
    /// It, or an attempt at it, took longer than it may.
    OutOfTime {
        /// The attempt.
        attempt: u32,
        /// The type of the error that its history has for that.
        error: Box<str>,
        /// Which limit, and how long it was.
        overrun: Overrun,
    },
    /// Nobody started it in time.
    Expired {
        /// When it was accepted.
        created_at: Timestamp,
        /// How long it had.
        ttl: Duration,
    },
    /// A rate limit left no room for it.
    RateExceeded {
        /// The limit.
        key: LimitKey,
        /// What is in the way.
        closed: Closed,
    },
    /// It started after a rate limit had left no room for it.
    RateReleased {
        /// The limit.
        key: LimitKey,
        /// What was in the way.
        strategy: Strategy,
    },
    /// A rate limit left no room for it, and it was not to wait.
    RateDropped {
        /// The limit.
        key: LimitKey,
    },
    /// Its worker closed its rate limit.
    RateAdjusted {
        /// The limit.
        key: LimitKey,
        /// Until when.
        until: Timestamp,
        /// Why.
        reason: Box<str>,
    },
    /// It was given another priority.
    Reprioritized {
        /// What it was before.
        before: Priority,
        /// What it is.
        after: Priority,
    },
    /// It became a dead letter.
    LetterAdded {
        /// Why the last attempt failed.
        error: Arc<EventError>,
    },
    /// Somebody tries it again, though it was a dead letter.
    LetterRetried,
    /// Somebody threw it away, a dead letter.
    LetterDeleted,
    /// It gave way to a newer one in a full queue.
    Displaced,
    /// It made a step for which there is no other word, such as that it waits to be activated.
    Moved,
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

impl JobEvent {
    /// The bare kind of its fact.
    pub fn kind(&self) -> EventKind {
        self.news.kind()
    }

    /// The type of the job it happened to, if it happened to a job.
    pub fn job_type(&self) -> Option<&JobType> {
        self.news.job_type()
    }

    /// The job it happened to, if it happened to a job.
    pub fn job_id(&self) -> Option<JobId> {
        match &self.news {
            News::Job { id, .. } => Some(*id),
            News::Cron { .. }
            | News::Workflow { .. }
            | News::Webhook { .. }
            | News::Worker { .. }
            | News::Bulk(_)
            | News::TurnedAway { .. }
            | News::LettersPruned { .. }
            | News::QueuePaused
            | News::QueueResumed
            | News::QueueDeleted => None,
        }
    }

    /// From where to where a job went with it.
    pub fn step(&self) -> Option<Step> {
        match &self.news {
            News::Job { step, .. } => *step,
            News::Cron { .. }
            | News::Workflow { .. }
            | News::Webhook { .. }
            | News::Worker { .. }
            | News::Bulk(_)
            | News::TurnedAway { .. }
            | News::LettersPruned { .. }
            | News::QueuePaused
            | News::QueueResumed
            | News::QueueDeleted => None,
        }
    }

    /// What readers are told of it, in order.
    pub(super) fn aspects(&self) -> impl Iterator<Item = Aspect> {
        let step = self.step().map(|_| Aspect::Step);
        // A bare step has said it all.
        let fact = (self.kind() != EventKind::JobStateChanged).then_some(Aspect::Fact);
        step.into_iter().chain(fact)
    }
}

impl News {
    /// The bare kind.
    pub fn kind(&self) -> EventKind {
        match self {
            News::Job { fact, .. } => fact.kind(),
            News::Workflow { fact, .. } => fact.kind(),
            News::Cron { fact, .. } => fact.kind(),
            News::Webhook { fact, .. } => fact.kind(),
            News::Worker { fact, .. } => fact.kind(),
            News::Bulk(fact) => fact.kind(),
            News::TurnedAway { .. } => EventKind::BackpressureRejected,
            News::LettersPruned { .. } => EventKind::DeadLetterPruned,
            News::QueuePaused => EventKind::QueuePaused,
            News::QueueResumed => EventKind::QueueResumed,
            News::QueueDeleted => EventKind::QueueDeleted,
        }
    }

    /// The type of the job it happened to, if it happened to a job.
    pub fn job_type(&self) -> Option<&JobType> {
        match self {
            News::Job { job_type, .. } | News::TurnedAway { job_type, .. } => Some(job_type),
            News::Cron { fact, .. } => Some(&fact.job_type),
            News::Workflow { .. }
            | News::Webhook { .. }
            | News::Worker { .. }
            | News::Bulk(_)
            | News::LettersPruned { .. }
            | News::QueuePaused
            | News::QueueResumed
            | News::QueueDeleted => None,
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
            JobFact::Progress { .. } => EventKind::JobProgress,
            JobFact::Checkpointed { .. } => EventKind::JobCheckpointed,
            JobFact::Scheduled { .. } => EventKind::JobScheduled,
            JobFact::Expired { .. } => EventKind::JobExpired,
            JobFact::OutOfTime { error, .. } => match &**error {
                "stalled" => EventKind::JobStalled,
                "enqueue_ttl_expired" => EventKind::JobTtlExpired,
                "total_timeout" => EventKind::JobTotalTimeout,
                _ => EventKind::JobTimeout,
            },
            JobFact::RateExceeded { .. } => EventKind::RateLimitExceeded,
            JobFact::RateReleased { .. } => EventKind::RateLimitReleased,
            JobFact::RateDropped { .. } => EventKind::RateLimitDropped,
            JobFact::RateAdjusted { .. } => EventKind::RateLimitAdjusted,
            JobFact::Reprioritized { .. } => EventKind::PriorityChanged,
            JobFact::LetterAdded { .. } => EventKind::DeadLetterAdded,
            JobFact::LetterRetried => EventKind::DeadLetterRetried,
            JobFact::LetterDeleted => EventKind::DeadLetterDeleted,
            JobFact::Displaced => EventKind::BackpressureDropped,
            JobFact::Moved => EventKind::JobStateChanged,
        }
    }
}
