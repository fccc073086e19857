//! Jobs on their way in: a case names only what it is about.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::limit::{LimitKey, Limits, OnLimit, RateLimit, Share};
use hapax_core::unique::{
    Anchor, Debounce, JobKey, JobKeyMode, Key, Replacement, Strategy, UniquePolicy, Uniqueness, WhileActive,
};
use hapax_core::{
    Bound, Delivery, Exhaustion, GivenTime, Incoming, JobId, JobType, Json, KeptFor, OrderingKey, Priority,
    QueueName, Refusal, RetryPolicy, Spec, StateSet, TimeLimits, Timeout, Timestamp,
};

/// An incoming job that has no id yet.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) spec: Spec,
    pub(super) key: Option<Key>,
    pub(super) pending: bool,
    pub(super) request_id: Option<Arc<str>>,
    pub(super) bound: Option<Bound>,
    pub(super) barred: Option<Refusal>,
}

/// A job without a policy.
pub(super) fn plain() -> Draft {
    let spec = Spec {
        kind: JobType::parse("work.do").unwrap(),
        queue: QueueName::default_queue(),
        priority: Priority::default(),
        args: Json::from_trusted("[]"),
        meta: Json::empty_object(),
        tags: Vec::new(),
        schema: None,
        scheduled_at: None,
        expires_at: None,
        timeout: None,
        visibility_timeout: None,
        limits: TimeLimits::default(),
        // Without jitter a case can say when the next attempt comes: after 1 s, 2 s, 4 s.
        retry: RetryPolicy { jitter: false, ..RetryPolicy::default() },
        unique: None,
        rate_limit: None,
        delivery: Delivery::AtLeastOnce,
        kept_for: KeptFor::default(),
        ordering_key: None,
        workflow: None,
        extra: Json::empty_object(),
    };
    Draft { spec, key: None, pending: false, request_id: None, bound: None, barred: None }
}

/// A job that shall be the only one of its key, with the default policy.
pub(super) fn unique(key: &str) -> Draft {
    let mut draft = plain();
    draft.spec.unique = Some(UniquePolicy { key: Some(key.into()), ..UniquePolicy::default() }.into());
    draft.key = Some(Key::of_text(key));
    draft
}

/// A job with a name, which a later one of that name replaces.
pub(super) fn job_key(name: &str) -> Draft {
    let mut draft = plain();
    draft.spec.unique = Some(Uniqueness::JobKey(JobKey { name: name.into(), mode: JobKeyMode::Replace }));
    draft.key = Some(JobKey::key(name).unwrap());
    draft
}

/// The queue of that name.
pub(super) fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

impl Draft {
    pub(super) fn incoming(self, id: JobId) -> Incoming {
        let Draft { spec, key, pending, request_id, bound, barred } = self;
        Incoming {
            id,
            spec: Box::new(spec),
            key,
            pending,
            after: None,
            bound,
            barred: barred.map(Box::new),
            request_id,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Spec)) -> Draft {
        change(&mut self.spec);
        self
    }

    fn policy(self, change: impl FnOnce(&mut UniquePolicy)) -> Draft {
        self.with(|spec| match &mut spec.unique {
            Some(Uniqueness::Policy(policy)) => change(policy),
            other => panic!("a draft with a policy, not with {other:?}"),
        })
    }

    pub(super) fn kind(self, kind: &str) -> Draft {
        self.with(|spec| spec.kind = JobType::parse(kind).unwrap())
    }

    pub(super) fn queue(self, name: &str) -> Draft {
        self.with(|spec| spec.queue = queue(name))
    }

    pub(super) fn priority(self, priority: i64) -> Draft {
        self.with(|spec| spec.priority = Priority::new(priority).unwrap())
    }

    pub(super) fn args(self, json: &str) -> Draft {
        self.with(|spec| spec.args = Json::from_trusted(json))
    }

    pub(super) fn meta(self, json: &str) -> Draft {
        self.with(|spec| spec.meta = Json::from_trusted(json))
    }

    pub(super) fn tags(self, tags: &[&str]) -> Draft {
        self.with(|spec| spec.tags = tags.iter().map(|tag| (*tag).into()).collect())
    }

    pub(super) fn scheduled_at(self, at: Timestamp) -> Draft {
        self.with(|spec| spec.scheduled_at = Some(GivenTime::computed(at)))
    }

    pub(super) fn expires_at(self, at: Timestamp) -> Draft {
        self.with(|spec| spec.expires_at = Some(GivenTime::computed(at)))
    }

    pub(super) fn timeout(self, span: Duration) -> Draft {
        self.with(|spec| spec.timeout = Some(Timeout { span, in_seconds: false }))
    }

    pub(super) fn visibility_timeout(self, span: Duration) -> Draft {
        self.with(|spec| spec.visibility_timeout = Some(span))
    }

    pub(super) fn attempts(self, max_attempts: u32) -> Draft {
        self.with(|spec| spec.retry.max_attempts = max_attempts)
    }

    /// Given up after one attempt, and then kept as a dead letter.
    pub(super) fn dies_at_once(self) -> Draft {
        self.with(|spec| {
            spec.retry.max_attempts = 1;
            spec.retry.on_exhaustion = Exhaustion::DeadLetter;
        })
    }

    pub(super) fn at_most_once(self) -> Draft {
        self.with(|spec| spec.delivery = Delivery::AtMostOnce)
    }

    /// Shares a rate limit.
    pub(super) fn limited(self, key: &str, limits: Limits) -> Draft {
        let (key, on_limit) = (LimitKey::parse(key).unwrap(), OnLimit::Wait);
        let limit = RateLimit { key, limits, on_limit, share: Share::Line };
        self.with(|spec| spec.rate_limit = Some(Box::new(limit)))
    }

    /// Takes turns with those of other keys.
    pub(super) fn fair(self, key: &str) -> Draft {
        self.limited(key, Limits::default()).sharing(Share::Fair)
    }

    pub(super) fn sharing(self, share: Share) -> Draft {
        self.with(|spec| spec.rate_limit.as_mut().unwrap().share = share)
    }

    pub(super) fn on_limit(self, on_limit: OnLimit) -> Draft {
        self.with(|spec| spec.rate_limit.as_mut().unwrap().on_limit = on_limit)
    }

    pub(super) fn ordered(self, key: &str) -> Draft {
        self.with(|spec| spec.ordering_key = Some(OrderingKey::parse(key).unwrap()))
    }

    pub(super) fn pending(self) -> Draft {
        Draft { pending: true, ..self }
    }

    pub(super) fn request(self, id: &str) -> Draft {
        Draft { request_id: Some(id.into()), ..self }
    }

    pub(super) fn mode(self, mode: JobKeyMode) -> Draft {
        self.with(|spec| match &mut spec.unique {
            Some(Uniqueness::JobKey(job_key)) => job_key.mode = mode,
            other => panic!("a draft with a job key, not with {other:?}"),
        })
    }

    pub(super) fn on_conflict(self, strategy: Strategy) -> Draft {
        self.policy(|policy| policy.on_conflict = strategy)
    }

    pub(super) fn states(self, states: StateSet) -> Draft {
        self.policy(|policy| policy.states = states)
    }

    pub(super) fn period(self, period: Duration, from: Anchor) -> Draft {
        self.policy(|policy| {
            policy.period = Some(period);
            policy.period_from = from;
        })
    }

    pub(super) fn replacing(self, replacement: Replacement) -> Draft {
        self.policy(|policy| policy.replace = Some(replacement))
    }

    /// Waits so long for others like it, and at most that long after its first start.
    pub(super) fn debounced(self, wait: Duration, max_wait: Option<Duration>) -> Draft {
        self.policy(|policy| policy.debounce = Some(Debounce { wait, max_wait }))
    }

    /// Waits behind a holder that runs.
    pub(super) fn queue_latest(self) -> Draft {
        self.policy(|policy| policy.while_active = Some(WhileActive::QueueLatest))
    }
}
