//! What an operator decides about one queue. What is left open is decided by the default settings, and then by the server.

use std::time::Duration;

use crate::limit::Share;
use crate::{Bound, Deletion, JobType, Overflow, QueueName, Refusal, RetryPolicy, Spec, State, Timeout};

/// The settings of a queue; each may be left open.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct QueueSettings {
    /// How many jobs may wait.
    pub max_depth: Option<u64>,
    /// What happens to one more.
    pub overflow: Option<Overflow>,
    /// From how full on clients are told, in thousandths.
    pub warning_permille: Option<u16>,
    /// Whether no jobs are accepted.
    pub draining: Option<bool>,
    /// How long a lease lasts if neither the fetch nor the job says.
    pub visibility_timeout: Option<Duration>,
    /// How long an attempt may run if the job does not say.
    pub timeout: Option<Duration>,
    /// How failures are retried if the job does not say.
    pub retry: Option<RetryPolicy>,
    /// How long its jobs are kept after they ended.
    pub retention: KeptFor,
    /// Types of jobs that are accepted, exact or with a `*` at the end; all if there are none.
    pub allowed_types: Vec<Box<str>>,
    /// How its jobs with a rate limit share it if they do not say.
    pub share: Option<Share>,
    /// What becomes of its jobs, if it is being deleted.
    pub deletion: Option<Deletion>,
}

/// How long jobs are kept after they ended, as far as that is not what the server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeptFor {
    /// Completed jobs.
    pub completed: Option<Duration>,
    /// Cancelled jobs.
    pub cancelled: Option<Duration>,
    /// Discarded jobs.
    pub discarded: Option<Duration>,
}

/// What a client left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unsaid {
    /// What of how failures are retried.
    pub retry: UnsaidRetry,
    /// How long an attempt may run.
    pub timeout: bool,
    /// How long a lease lasts.
    pub visibility_timeout: bool,
    /// How it shares its queue, though it has a rate limit.
    pub share: bool,
}

/// What of a retry policy a client left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnsaidRetry {
    /// It sent a policy that says everything it has to.
    #[default]
    Nothing,
    /// It sent one that does not say what becomes of the job in the end. Two SDKs have no word for it.
    Exhaustion,
    /// It sent none.
    Policy,
}

impl QueueSettings {
    /// The default from which on clients are told that a queue fills up.
    const WARNING_PERMILLE: u16 = 800;

    /// These settings, and where they are open those.
    #[must_use]
    pub fn or(&self, defaults: &QueueSettings) -> QueueSettings {
        let one = |own: &[Box<str>], other: &[Box<str>]| if own.is_empty() { other } else { own }.to_vec();
        QueueSettings {
            max_depth: self.max_depth.or(defaults.max_depth),
            overflow: self.overflow.or(defaults.overflow),
            warning_permille: self.warning_permille.or(defaults.warning_permille),
            draining: self.draining.or(defaults.draining),
            visibility_timeout: self.visibility_timeout.or(defaults.visibility_timeout),
            timeout: self.timeout.or(defaults.timeout),
            retry: self.retry.clone().or_else(|| defaults.retry.clone()),
            retention: self.retention.or(defaults.retention),
            allowed_types: one(&self.allowed_types, &defaults.allowed_types),
            share: self.share.or(defaults.share),
            deletion: self.deletion.clone(),
        }
    }

    /// How many jobs may wait. None at all may not: that would be draining, and 0 is said for no bound.
    pub fn bound(&self) -> Option<Bound> {
        let max = self.max_depth.filter(|max| *max > 0)?;
        Some(Bound { max, overflow: self.overflow.unwrap_or(Overflow::Reject) })
    }

    /// Whether a queue with so many jobs is nearly full.
    pub fn is_pressed(&self, depth: u64) -> bool {
        let warning = u64::from(self.warning_permille.unwrap_or(Self::WARNING_PERMILLE));
        self.bound().is_some_and(|bound| depth.saturating_mul(1000) >= bound.max.saturating_mul(warning))
    }

    /// Whether no jobs are accepted; they are if nobody decided otherwise.
    pub fn is_draining(&self) -> bool {
        self.deletion.is_some() || self.draining.unwrap_or(false)
    }

    /// Why a job is not accepted, if it is not.
    pub fn bars(&self, queue: &QueueName, kind: &JobType) -> Option<Refusal> {
        if self.is_draining() {
            return Some(Refusal::QueueDraining(queue.clone()));
        }
        let fits = |pattern: &str| match pattern.strip_suffix('*') {
            Some(start) => kind.as_str().starts_with(start),
            None => kind.as_str() == pattern,
        };
        let is_allowed =
            self.allowed_types.is_empty() || self.allowed_types.iter().any(|pattern| fits(pattern));
        (!is_allowed).then(|| Refusal::TypeNotAllowed { queue: queue.clone(), kind: kind.clone() })
    }

    /// Fills in what a client left open.
    pub fn fill(&self, spec: &mut Spec, unsaid: Unsaid) {
        if let Some(retry) = &self.retry {
            match unsaid.retry {
                UnsaidRetry::Nothing => {}
                UnsaidRetry::Exhaustion => spec.retry.on_exhaustion = retry.on_exhaustion,
                UnsaidRetry::Policy => spec.retry = retry.clone(),
            }
        }
        if unsaid.timeout {
            spec.timeout = self.timeout.map(|span| Timeout { span, in_seconds: false }).or(spec.timeout);
        }
        if unsaid.visibility_timeout {
            spec.visibility_timeout = self.visibility_timeout.or(spec.visibility_timeout);
        }
        if unsaid.share
            && let (Some(share), Some(limit)) = (self.share, &mut spec.rate_limit)
        {
            limit.share = share;
        }
        spec.kept_for = self.retention;
    }
}

impl KeptFor {
    /// How long a job that ended in this state is kept.
    pub fn of(&self, state: State) -> Option<Duration> {
        match state {
            State::Completed => self.completed,
            State::Cancelled => self.cancelled,
            State::Discarded => self.discarded,
            State::Scheduled | State::Available | State::Pending | State::Active | State::Retryable => None,
        }
    }

    fn or(self, other: KeptFor) -> KeptFor {
        KeptFor {
            completed: self.completed.or(other.completed),
            cancelled: self.cancelled.or(other.cancelled),
            discarded: self.discarded.or(other.discarded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exhaustion;
    use crate::testing::spec;

    #[test]
    fn what_is_open_is_decided_by_the_defaults() {
        let defaults =
            QueueSettings { max_depth: Some(5), timeout: Some(Duration::from_secs(1)), ..Default::default() };
        let own = QueueSettings { max_depth: Some(9), ..Default::default() }.or(&defaults);
        assert_eq!((own.max_depth, own.timeout), (Some(9), Some(Duration::from_secs(1))));
        assert_eq!(QueueSettings { max_depth: Some(0), ..Default::default() }.or(&defaults).bound(), None);
    }

    #[test]
    fn a_queue_that_takes_jobs_takes_them_whatever_holds_for_others() {
        let draining = |draining| QueueSettings { draining, ..Default::default() };
        let all = draining(Some(true));
        assert!(!draining(Some(false)).or(&all).is_draining());
        assert!(draining(None).or(&all).is_draining());
        assert!(!draining(None).or(&draining(None)).is_draining());
    }

    #[test]
    fn a_queue_that_is_being_deleted_takes_no_jobs_and_no_other_is_deleted_by_that() {
        let deleted = QueueSettings { deletion: Some(Deletion::Discard), ..Default::default() };
        let open = QueueSettings { draining: Some(false), ..deleted.clone() };
        assert!(open.is_draining());
        assert!(!QueueSettings::default().or(&deleted).is_draining());
        assert_eq!(deleted.or(&QueueSettings::default()).deletion, Some(Deletion::Discard));
    }

    #[test]
    fn only_what_a_client_left_open_is_filled_in() {
        let retry = RetryPolicy { max_attempts: 9, ..RetryPolicy::default() };
        let settings = QueueSettings {
            retry: Some(retry),
            timeout: Some(Duration::from_secs(5)),
            retention: KeptFor { completed: Some(Duration::ZERO), ..KeptFor::default() },
            ..Default::default()
        };
        let mut filled = spec();
        settings.fill(&mut filled, Unsaid { retry: UnsaidRetry::Policy, ..Unsaid::default() });
        assert_eq!((filled.retry.max_attempts, filled.timeout), (9, None));
        assert_eq!(filled.kept_for.of(State::Completed), Some(Duration::ZERO));
    }

    #[test]
    fn a_policy_that_does_not_say_its_end_has_that_of_the_queue() {
        let retry =
            RetryPolicy { max_attempts: 9, on_exhaustion: Exhaustion::DeadLetter, ..Default::default() };
        let settings = QueueSettings { retry: Some(retry), ..Default::default() };
        let (mut open, mut decided) = (spec(), spec());
        settings.fill(&mut open, Unsaid { retry: UnsaidRetry::Exhaustion, ..Unsaid::default() });
        assert_eq!((open.retry.max_attempts, open.retry.on_exhaustion), (3, Exhaustion::DeadLetter));
        settings.fill(&mut decided, Unsaid::default());
        assert_eq!(decided.retry.on_exhaustion, Exhaustion::Discard);
    }

    #[test]
    fn types_are_allowed_by_name_or_by_their_beginning() {
        let settings =
            QueueSettings { allowed_types: vec!["payment.*".into(), "refund".into()], ..Default::default() };
        let bars = |kind: &str| settings.bars(&QueueName::default_queue(), &JobType::parse(kind).unwrap());
        assert_eq!((bars("payment.charge"), bars("refund")), (None, None));
        assert!(matches!(bars("refund.late"), Some(Refusal::TypeNotAllowed { .. })));
    }

    #[test]
    fn a_queue_is_pressed_before_it_is_full() {
        let settings = QueueSettings { max_depth: Some(10), ..Default::default() };
        assert_eq!((settings.is_pressed(7), settings.is_pressed(8)), (false, true));
        assert!(!QueueSettings::default().is_pressed(1_000_000));
    }
}
