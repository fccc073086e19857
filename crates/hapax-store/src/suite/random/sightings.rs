//! What a run must have seen at least once: a generator that never gets there tests nothing.

use std::collections::BTreeMap;

macro_rules! sights {
    ($($sight:ident),* $(,)?) => {
        /// Something worth seeing.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Sight { $($sight),* }

        const ALL: &[Sight] = &[$(Sight::$sight),*];
    };
}

sights![
    Rejected,
    AnsweredByHolder,
    Replaced,
    ReplacedSeveral,
    ReplacedActive,
    Updated,
    UpdatedAndMoved,
    CreatedBesideHolder,
    IdTaken,
    BatchWithDuplicates,
    BatchRefusedMidway,
    MemoReplayed,
    MemoMismatch,
    RefusalReplayed,
    Delivered,
    DeliveredAtMostOnce,
    PausedQueueHeldBack,
    ExpiredInClaim,
    Acknowledged,
    LateAckAccepted,
    StaleAckRefused,
    StaleFailureRefused,
    Requeued,
    Retried,
    DeadLettered,
    HeartbeatTaken,
    ProgressTaken,
    ProgressPassedOver,
    CheckpointSaved,
    CheckpointPrepared,
    CheckpointDropped,
    Lapsed,
    LapsedAtLast,
    TimedOut,
    Stalled,
    OutwaitedItsQueue,
    ExceededTotal,
    Promoted,
    RetryPromoted,
    Expired,
    Activated,
    AgentPaused,
    AgentResumed,
    ToolTriedAgain,
    Revived,
    Forgotten,
    RetriedEarly,
    RetriedAnew,
    Deleted,
    Reprioritized,
    Abandoned,
    Moved,
    LostItsQueue,
    QueueRemoved,
    QueueKeptForWhatEnded,
    QueueInUse,
    DoneToWhatWasMeant,
    NotMeant,
    Removed,
    ReenteredBeside,
    AdvanceCutShort,
    ClockSetBack,
    Reopened,
    JobKeyUpdated,
    JobKeyDeduped,
    JobKeySuperseded,
    JobKeyRevived,
    PayloadJoined,
    PayloadFull,
    Debounced,
    DebounceCapped,
    DebouncedBesideRunning,
    Queued,
    QueueUpdated,
    SuccessorLetGo,
    SuccessorLetGoByReplacement,
    SuccessorStartsLater,
    SuccessorReplacedWithPredecessor,
    Released,
    ReleasedEnded,
    ReleaseLetSuccessorGo,
    RemovedByKey,
    KeyRemovedWhileRunning,
    KeyNotHeld,
    EachMixed,
    HoldersCovered,
];

/// How often each was seen.
#[derive(Debug, Default)]
pub(super) struct Sightings(BTreeMap<Sight, u64>);

impl Sightings {
    pub(super) fn note(&mut self, sight: Sight) {
        *self.0.entry(sight).or_default() += 1;
    }

    pub(super) fn check(&self) {
        let missing: Vec<_> = ALL.iter().filter(|sight| !self.0.contains_key(sight)).collect();
        assert!(missing.is_empty(), "never seen: {missing:?}; seen: {:?}", self.0);
    }
}
