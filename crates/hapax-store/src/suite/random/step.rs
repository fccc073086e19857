//! The steps of a sequence: plain values that still mean something after others were taken away.

use std::time::Duration;

use hapax_core::{Directive, Handback, State};

use super::shape::Shape;
use super::wish::{KeyName, Wish};

/// One call of the store, or something around it.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Operations in one commit.
    Commit(Vec<Act>),
    /// A worker asks for jobs.
    Claim { queues: Vec<u8>, count: usize, worker: Option<u8>, visibility_timeout: Option<Duration> },
    /// The chores run.
    Advance { limit: usize, chance: u64 },
    /// Somebody asks who carries a key, and who of them counts for a wish.
    Look { key: KeyName, wish: Option<Wish>, limit: usize },
    /// Time goes by.
    Pass(Duration),
    /// The clock is set back.
    SetBack(Duration),
    /// The store is closed and opened again.
    Reopen,
}

/// One operation.
#[derive(Debug, Clone)]
pub(super) enum Act {
    Enqueue {
        shape: Box<Shape>,
        name: Name,
        memo: Option<MemoWish>,
    },
    EnqueueAll {
        shapes: Vec<Shape>,
        memo: Option<MemoWish>,
    },
    EnqueueEach {
        items: Vec<(Shape, Name)>,
        memo: Option<MemoWish>,
    },
    Acknowledge {
        job: Pick,
        proof: Proof,
    },
    Fail {
        job: Pick,
        proof: Proof,
        error: Trouble,
        handback: Handback,
        chance: u64,
    },
    Heartbeat {
        job: Pick,
        proof: Proof,
        visibility_timeout: Option<Duration>,
    },
    Progress {
        job: Pick,
        proof: Proof,
        percent: u8,
        saves: bool,
    },
    SaveCheckpoint {
        job: Pick,
        proof: Proof,
    },
    DropCheckpoint(Pick),
    Cancel(Pick),
    Activate(Pick),
    PauseAgent(Pick),
    ResumeAgent {
        job: Pick,
        approved: bool,
    },
    RetryTool(Pick),
    Revive {
        job: Pick,
        queue: Option<u8>,
    },
    Forget(Pick),
    Retry(Pick),
    Delete(Pick),
    Reprioritize {
        job: Pick,
        priority: i64,
    },
    Abandon {
        job: Pick,
        proof: Proof,
    },
    /// Its queue is deleted.
    LoseQueue(Pick),
    Move {
        job: Pick,
        queue: u8,
    },
    /// Cancelled or tried again, if it is in this state.
    CancelIf {
        job: Pick,
        state: State,
    },
    RetryIf {
        job: Pick,
        state: State,
    },
    Release(Pick),
    ReleaseKey {
        key: KeyName,
        limit: usize,
    },
    RemoveByKey(KeyName),
    TimePassed {
        job: Pick,
        chance: u64,
    },
    Pause(u8),
    Resume(u8),
    RemoveQueue(u8),
}

/// The id of an incoming job.
#[derive(Debug, Clone, Copy)]
pub(super) enum Name {
    /// A new one.
    New,
    /// That of a job that was there before, and may still be.
    Old(Pick),
}

/// A job among those made so far: the `nth`, counted round, of those last seen in `state`, or of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pick {
    pub(super) state: Option<State>,
    pub(super) nth: usize,
}

/// What a worker shows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Proof {
    /// The lease of the newest delivery.
    Newest,
    /// The lease of the delivery before.
    Older,
    /// Nothing.
    Nothing,
    /// A text that is no lease.
    Foreign,
    /// The name of some worker and no lease.
    Worker(u8),
}

/// What went wrong in an attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trouble {
    pub(super) directive: Directive,
    pub(super) retryable: Option<bool>,
}

/// An idempotency key and which of several requests uses it.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoWish {
    pub(super) key: u8,
    pub(super) request: u8,
}
