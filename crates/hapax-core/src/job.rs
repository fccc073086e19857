//! A stored job.

use std::sync::Arc;
use std::time::Duration;

use crate::failure::Farewell;
use crate::unique::{Key, Ledger, Release};
use crate::{Checkpoint, Failure, History, JobId, Json, Phase, Progress, Spec, State, Timestamp};

/// A job: what was asked for and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its name, the same through every delivery.
    pub id: JobId,
    /// What the client asked for. Shared, since few operations change it.
    pub spec: Arc<Spec>,
    /// The key it holds, if it was declared unique and has not given the key up.
    pub key: Option<Key>,
    /// When the server accepted it.
    pub created_at: Timestamp,
    /// When it became available last.
    pub enqueued_at: Option<Timestamp>,
    /// When it was activated.
    pub activated_at: Option<Timestamp>,
    /// When its newest attempt started.
    pub started_at: Option<Timestamp>,
    /// How often it was fetched since it was created or revived, without the times it was handed back unprocessed.
    pub attempt: u32,
    /// How often it was ever delivered: the fencing token of the newest delivery. Never goes back.
    pub fence: u64,
    /// Where it stands.
    pub phase: Phase,
    /// What went wrong.
    pub history: History,
    /// The pause that the newest failure led to.
    pub retry_delay: Option<Duration>,
    /// What it turned away as the holder of its key.
    pub ledger: Ledger,
    /// The other holder that it found when it came back to a state in which its policy wanted it alone.
    pub reentered_beside: Option<JobId>,
    /// How it lost its key before its time.
    pub released: Option<Release>,
    /// When it was to start before duplicates moved its start.
    pub first_start: Option<Timestamp>,
    /// How far the newest attempt has come, if its worker said.
    pub progress: Option<Progress>,
    /// From where the next attempt can go on.
    pub checkpoint: Option<Checkpoint>,
    /// When it began anew, if it did and has limits that count from its beginning.
    pub begun_at: Option<Timestamp>,
}

impl Job {
    /// The bare state.
    pub fn state(&self) -> State {
        self.phase.state()
    }

    /// What came of it, if it was done and its worker said.
    pub fn result(&self) -> Option<&Json> {
        match &self.phase {
            Phase::Completed { result, .. } => result.as_ref(),
            Phase::Scheduled { .. }
            | Phase::Available { .. }
            | Phase::Pending { .. }
            | Phase::Active { .. }
            | Phase::Retryable { .. }
            | Phase::Cancelled { .. }
            | Phase::Discarded { .. } => None,
        }
    }

    /// Whether it is a step that its workflow has not let go yet. One that was let go and waits again, for a person, has
    /// been activated or has stood in its queue.
    pub(crate) fn waits_for_workflow(&self) -> bool {
        let was_let_go = self.activated_at.is_some() || self.enqueued_at.is_some();
        self.spec.workflow.is_some() && self.state() == State::Pending && !was_let_go
    }

    /// The job whose end lets it go, if it is a successor.
    pub fn waits_for(&self) -> Option<JobId> {
        match self.phase {
            Phase::Pending { after } => after,
            Phase::Scheduled { .. }
            | Phase::Available { .. }
            | Phase::Active { .. }
            | Phase::Retryable { .. }
            | Phase::Completed { .. }
            | Phase::Cancelled { .. }
            | Phase::Discarded { .. } => None,
        }
    }

    /// Whether the list of held keys shows it: it carries a key and has not ended.
    pub fn holds_key(&self) -> bool {
        self.key.is_some() && !self.state().is_terminal()
    }

    /// Scheduled if its start lies ahead, else available.
    pub(crate) fn wait_for_start(&mut self, now: Timestamp) {
        match self.spec.scheduled_at.as_ref().map(|given| given.at) {
            Some(at) if at > now => self.phase = Phase::Scheduled { at },
            _ => self.become_available(now),
        }
    }

    /// Lets go of the arguments, the metadata, the unknown attributes and what workers left: for whoever only wants to know what
    /// became of it.
    pub fn forget_texts(&mut self) {
        self.checkpoint = None;
        if let Some(progress) = &mut self.progress {
            progress.data = None;
        }
        if let Phase::Completed { result, .. } = &mut self.phase {
            *result = None;
        }
        let empty = Json::empty_object;
        self.spec = Arc::new(Spec { args: empty(), meta: empty(), extra: empty(), ..(*self.spec).clone() });
    }

    /// What it is now has never been tried: all attempts lie before it. Its history and its fence stay.
    pub(crate) fn forget_attempts(&mut self) {
        self.attempt = 0;
        self.started_at = None;
        self.retry_delay = None;
        self.history.clear_current();
        self.forget_lapsed_lease();
    }

    /// Its limits on time count from here: those who brought it back want it done, not timed out at once.
    pub(crate) fn begin_anew(&mut self, now: Timestamp) {
        self.begun_at = self.spec.limits.count_from_creation().then_some(now);
    }

    /// From when its limits on time count.
    pub(crate) fn limits_count_from(&self) -> Timestamp {
        self.begun_at.unwrap_or(self.created_at)
    }

    /// The remembered failures of attempts: all but those that say why the server gave it up while nobody ran it.
    pub fn failed_attempts(&self) -> impl Iterator<Item = &Failure> {
        let entries = self.history.entries();
        let before = [None].into_iter().chain(entries.iter().map(Some));
        let is_of_an_attempt = |before: Option<&Failure>, failure: &Failure| {
            // Of an attempt that ran there is one entry; what comes after it came while the job waited.
            let begun = self.limits_count_from();
            let is_of_another_life =
                |before: &Failure| before.occurred_at < begun && begun <= failure.occurred_at;
            let has_failed =
                |before: &Failure| before.attempt == failure.attempt && !is_of_another_life(before);
            let ran = failure.attempt > 0 && !before.is_some_and(has_failed);
            !failure.is_farewell() || (*failure.code == *Farewell::Total.code() && ran)
        };
        let attempts =
            before.zip(entries).filter(move |(before, failure)| is_of_an_attempt(*before, failure));
        attempts.map(|(_, failure)| failure)
    }

    /// A worker that lost its lease did other work than what the job says now, so its late ack must not end the job.
    pub(crate) fn forget_lapsed_lease(&mut self) {
        if let Phase::Available { lapsed } = &mut self.phase {
            *lapsed = None;
        }
    }

    /// Makes it wait for a worker.
    pub(crate) fn become_available(&mut self, now: Timestamp) {
        self.phase = Phase::Available { lapsed: None };
        self.enqueued_at = Some(now);
    }
}
