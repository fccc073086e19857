//! A job that is made again and again.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::{Schedule, Skip, Zone};
use crate::unique::Key;
use crate::{GivenTime, Incoming, JobId, Json, Refusal, Spec, State, Timestamp, Unsaid, Verdict};

/// Most jumps of the clocks that one look tells of.
const SKIPS_TOLD_MAX: usize = 10;

/// A recurring job: what to make, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Cron {
    /// Its name.
    pub name: Box<str>,
    /// The schedule as its client wrote it.
    pub expression: Box<str>,
    /// The schedule.
    pub schedule: Schedule,
    /// The zone in which the schedule is meant.
    pub zone: Zone,
    /// What happens if the job before it has not ended.
    pub overlap: Overlap,
    /// Whether it makes jobs.
    pub enabled: bool,
    /// For people.
    pub description: Option<Box<str>>,
    /// The job.
    pub template: Template,
    /// When it was registered.
    pub created_at: Timestamp,
    /// The moment from which `@every` counts.
    pub anchor: Timestamp,
    /// For which moment it made a job last.
    pub last_run_at: Option<Timestamp>,
    /// The job that it made last.
    pub last_job: Option<JobId>,
    /// When it is due next.
    pub next_run_at: Option<Timestamp>,
    /// How many jobs it has made.
    pub run_count: u64,
    /// Up to which moment it was told what clocks jumped over.
    pub told_until: Timestamp,
}

/// What each job of a recurring one is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// What to do, without times.
    pub spec: Spec,
    /// Its key, if it is to be unique.
    pub key: Option<Key>,
    /// How long after its moment, or after it was made if that is later, it may start.
    pub starts_after: Option<Duration>,
    /// How long after the same it is too late to start it.
    pub expires_after: Option<Duration>,
    /// What its client left open: the settings of the queue decide it at each run.
    pub unsaid: Unsaid,
}

/// What happens if the job before has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// No job is made.
    Skip,
    /// Another job is made.
    Allow,
    /// The job before is called off, and another is made.
    CancelPrevious,
    /// Another job is made, which waits for the end of the one before.
    Enqueue,
}

impl Overlap {
    /// All of them.
    pub const ALL: [Overlap; 4] = [Overlap::Skip, Overlap::Allow, Overlap::CancelPrevious, Overlap::Enqueue];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Overlap::Skip => "skip",
            Overlap::Allow => "allow",
            Overlap::CancelPrevious => "cancel_previous",
            Overlap::Enqueue => "enqueue",
        }
    }
}

/// What is to be done when a recurring job is due.
#[derive(Debug, Clone, PartialEq)]
pub enum Run {
    /// Nothing: the job before has not ended.
    Overlaps(JobId),
    /// A job is made.
    Make {
        /// The job.
        incoming: Box<Incoming>,
        /// The job before, if that is to be called off first.
        cancel: Option<JobId>,
    },
}

/// What became of a moment at which a recurring job was due.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A job was made for it.
    Made(JobId),
    /// The job before had not ended.
    Overlapped(JobId),
    /// A stored job with the same key stands for it.
    Duplicate(JobId),
    /// The job was not accepted.
    Refused(Box<Refusal>),
}

impl Cron {
    /// Whether it is due.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.enabled && self.next_run_at.is_some_and(|at| at <= now)
    }

    /// When it is due for the first time after that moment.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        self.schedule.next_after(after, &self.zone, self.anchor)
    }

    /// What is to be done for a moment at which it is due. `previous` is where the job stands that it made last, as far as
    /// that is still there.
    pub fn run(&self, at: Timestamp, now: Timestamp, id: JobId, previous: Option<State>) -> Run {
        let open = self.last_job.filter(|_| previous.is_some_and(|state| !state.is_terminal()));
        let (after, cancel) = match (self.overlap, open) {
            (Overlap::Skip, Some(previous)) => return Run::Overlaps(previous),
            (Overlap::CancelPrevious, Some(previous)) => (None, Some(previous)),
            (Overlap::Enqueue, Some(previous)) => (Some(previous), None),
            (Overlap::Allow, _) | (_, None) => (None, None),
        };
        let Template { spec, key, starts_after, expires_after, unsaid: _ } = &self.template;
        let mut spec = spec.clone();
        let since = |span: &Duration| GivenTime::computed(at.max(now) + *span);
        spec.scheduled_at = starts_after.as_ref().map(since);
        spec.expires_at = expires_after.as_ref().map(since);
        let text = |text: &str| Json::string(text);
        spec.meta = spec.meta.with_member("cron_name", &text(&self.name));
        spec.meta = spec.meta.with_member("cron_triggered_at", &text(&at.to_string()));
        let incoming = Incoming {
            id,
            spec: Box::new(spec),
            key: *key,
            pending: false,
            after,
            bound: None,
            barred: None,
            request_id: None,
        };
        Run::Make { incoming: Box::new(incoming), cancel }
    }

    /// Goes on to the next moment: at most one of those that were missed is made up for.
    pub fn passed(&mut self, now: Timestamp) {
        self.next_run_at = self.next_run_at.and_then(|at| self.next_after(at.max(now)));
    }

    /// After a clock that was ahead was set back: it is due as if it had been looked at now, not when that clock would have
    /// been right. A moment for which there is a job makes no second one, for the job has its id.
    pub fn settle(&mut self, now: Timestamp) {
        self.anchor = self.anchor.min(now);
        if let Some(next) = self.next_after(now) {
            self.next_run_at = self.next_run_at.map(|at| at.min(next));
        }
    }

    /// Notes what came of a run.
    pub fn note(&mut self, at: Timestamp, outcome: &Outcome) {
        if let Outcome::Made(id) = outcome {
            self.last_run_at = Some(at);
            self.last_job = Some(*id);
            self.run_count += 1;
        }
    }

    /// The moments that clocks jumped over up to this one; they are told once.
    pub fn tell_skipped(&mut self, until: Timestamp) -> Vec<Skip> {
        let skipped = self.schedule.skipped_between(self.told_until, until, &self.zone);
        let skipped = skipped.take(SKIPS_TOLD_MAX).collect();
        self.told_until = self.told_until.max(until);
        skipped
    }

    /// The id of the job for a moment: always the same, so that no crash and no second server can make two.
    pub fn job_id(&self, at: Timestamp) -> JobId {
        let mut hash = Sha256::new();
        hash.update(self.created_at.millis().to_be_bytes());
        hash.update(at.millis().to_be_bytes());
        hash.update(self.name.as_bytes());
        let mut random = [0; 10];
        random.copy_from_slice(&hash.finalize()[..10]);
        JobId::new(at, random)
    }
}

impl Outcome {
    /// What admitting a job for a moment came to.
    pub fn of(verdict: &Verdict, id: JobId) -> Outcome {
        if verdict.is_new() { Outcome::Made(id) } else { Outcome::Duplicate(id) }
    }

    /// Why no job was made, if none was, as it is called on the wire.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Outcome::Made(_) => None,
            Outcome::Overlapped(_) => Some("overlap_prevention"),
            Outcome::Duplicate(_) => Some("unique_conflict"),
            Outcome::Refused(refusal) if matches!(**refusal, Refusal::QueueDraining(_)) => {
                Some("queue_draining")
            }
            Outcome::Refused(refusal) if matches!(**refusal, Refusal::TypeNotAllowed { .. }) => {
                Some("type_not_allowed")
            }
            Outcome::Refused(_) => Some("refused"),
        }
    }

    /// The job that was in the way.
    pub fn existing(&self) -> Option<JobId> {
        match self {
            Outcome::Overlapped(id) | Outcome::Duplicate(id) => Some(*id),
            Outcome::Made(_) | Outcome::Refused(_) => None,
        }
    }
}
