//! What can happen to a stored job.

use std::sync::Arc;
use std::time::Duration;

use crate::{
    AgentDeed, Chance, JobFilter, Json, LeaseToken, Priority, QueueName, Report, SpecPatch, TenantId,
    Timestamp, WorkerError, WorkerId,
};

/// Something that happens to a stored job.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A worker takes it.
    Claim {
        /// Who.
        worker: Option<WorkerId>,
        /// The proof that the worker will show.
        token: LeaseToken,
        /// How long the lease shall last, if the worker says.
        visibility_timeout: Option<Duration>,
    },
    /// A worker has done it.
    Acknowledge {
        /// Who says so.
        claimant: Claimant,
        /// What came of it.
        result: Option<Json>,
    },
    /// A worker could not do it.
    Fail {
        /// Who says so.
        claimant: Claimant,
        /// What went wrong.
        error: WorkerError,
        /// Whether it counts as a failure.
        handback: Handback,
        /// For the pause before the next attempt.
        chance: Chance,
    },
    /// A worker is still at it.
    Heartbeat {
        /// Who says so.
        claimant: Claimant,
        /// How long the lease shall last from here, if not as long as before.
        visibility_timeout: Option<Duration>,
    },
    /// A worker says how far it has come, which is a heartbeat too.
    Progress {
        /// Who says so.
        claimant: Claimant,
        /// How far.
        report: Report,
    },
    /// A worker leaves behind from where another could go on, which is a heartbeat too.
    SaveCheckpoint {
        /// Who says so.
        claimant: Claimant,
        /// What is needed for that.
        state: Json,
        /// What was written beside it, as one object.
        notes: Json,
    },
    /// Somebody wants the next attempt to start from nothing.
    DropCheckpoint,
    /// Somebody calls it off.
    Cancel,
    /// Somebody lets a pending job go.
    Activate,
    /// A person or a tool has to do with the agent that it is.
    Agent(AgentDeed),
    /// Its workflow lets it go.
    LetGo {
        /// What those before it left for it.
        parent_results: Option<ParentResults>,
    },
    /// Its workflow does not need it.
    Withdraw,
    /// A newer job takes its place in a full queue.
    Displace,
    /// An operator deletes its queue, and it with it.
    LoseQueue,
    /// An operator lets it wait in another queue.
    MoveTo {
        /// In which.
        queue: QueueName,
    },
    /// Its rate limit leaves no room for it, and it shall come back at that moment.
    Postpone {
        /// When.
        until: Timestamp,
    },
    /// Its rate limit leaves no room for it, and it shall not wait for any.
    Drop,
    /// Somebody wants a dead letter tried again.
    Revive {
        /// With these new values.
        patch: SpecPatch,
    },
    /// Somebody throws a dead letter away.
    Forget,
    /// An operator wants a job that failed tried again at once, dead letter or not.
    Retry,
    /// An operator removes what is left of a job that has ended.
    Delete,
    /// Somebody lets a waiting job go earlier or later.
    Reprioritize {
        /// Its new priority.
        priority: Priority,
    },
    /// An operator says that the worker is gone: its lease ends now.
    Abandon {
        /// Who held it.
        claimant: Claimant,
    },
    /// Another event, but only to a job that is still what was meant. Between a list and what is done about it a job may
    /// change.
    OnlyIf {
        /// Which jobs are meant.
        filter: Arc<JobFilter>,
        /// What happens to them.
        event: Box<Event>,
    },
    /// An operator takes its key away.
    Release {
        /// Why.
        reason: Option<Box<str>>,
    },
    /// Somebody removes the job key that it holds.
    RemoveByKey,
    /// Time went by: something that was due may happen.
    TimePassed {
        /// For the pause before the next attempt.
        chance: Chance,
    },
}

/// What the steps before one left for it.
#[derive(Debug, Clone, PartialEq)]
pub struct ParentResults {
    /// Their results, as a list.
    pub list: Json,
    /// How many are left out for their size: those are null in the list.
    pub omitted: usize,
}

impl Event {
    /// What happens, whatever it depends on.
    pub fn bare(&self) -> &Event {
        if let Event::OnlyIf { filter: _, event } = self { event.bare() } else { self }
    }

    /// The same, but to jobs of the tenant only, if there is one.
    #[must_use]
    pub fn only_of(self, tenant: Option<&TenantId>) -> Event {
        let Some(tenant) = tenant else { return self };
        let filter = JobFilter::default().kept_to(tenant);
        Event::OnlyIf { filter: Arc::new(filter), event: Box::new(self) }
    }
}

/// Whether a worker hands a job back as failed or merely unprocessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handback {
    /// The attempt failed: the retry policy decides.
    Failed,
    /// Somebody else shall do it: back to the queue at once, no failure counted.
    Requeue,
}

/// How a worker identifies itself when it speaks of a job it holds. SDKs send neither part; then
/// being spoken of is enough.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Claimant {
    /// The proof; `Some(Err)` is a text that is no token of ours.
    pub token: Option<Result<LeaseToken, ForeignToken>>,
    /// The name.
    pub worker: Option<WorkerId>,
}

/// A lease text that this server never gave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignToken;

impl Claimant {
    /// Nothing known about who speaks.
    pub const UNNAMED: Claimant = Claimant { token: None, worker: None };

    /// Somebody who shows a lease text, which may be anything.
    pub fn showing(lease: Option<&str>, worker: Option<WorkerId>) -> Claimant {
        Claimant { token: lease.map(|text| text.parse().map_err(|()| ForeignToken)), worker }
    }
}
