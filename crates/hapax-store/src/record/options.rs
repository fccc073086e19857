//! The `options` column: what few jobs set, as JSON; NULL when all of it is default.

use std::borrow::Cow;
use std::time::Duration;

use hapax_core::limit::RateLimit;
use hapax_core::unique::Uniqueness;
use hapax_core::workflow::WorkflowId;
use hapax_core::{
    Backoff, Delivery, Exhaustion, GivenTime, JobType, Json, KeptFor, OrderingKey, Priority, QueueName,
    RetryPolicy, Spec, TimeLimits, Timeout, Timestamp,
};
use serde::{Deserialize, Serialize};

use super::limit::{LimitRecord, read_policy, write_policy};
use super::{Unreadable, json, millis, span};

/// The parts of a job that have columns of their own.
#[derive(Debug)]
pub struct Columns {
    /// `type`.
    pub kind: JobType,
    /// `queue`.
    pub queue: QueueName,
    /// `priority`.
    pub priority: Priority,
    /// `policy`.
    pub unique: Option<Uniqueness>,
    /// `args`.
    pub args: Json,
    /// `meta`.
    pub meta: Json,
    /// `extra`.
    pub extra: Json,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<RetryRecord<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheduled_at: Option<Moment<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Moment<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<i64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    timeout_in_seconds: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility_timeout_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_timeout_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enqueue_ttl_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heartbeat_timeout_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_period_ms: Option<i64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_most_once: bool,
    /// Completed, cancelled, discarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_ms: Option<[Option<i64>; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_limit: Option<LimitRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ordering_key: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RetryRecord<'a> {
    max_attempts: u32,
    initial_interval_ms: i64,
    /// As text: `serde_json` reads some doubles back with another last digit.
    backoff_coefficient: Cow<'a, str>,
    max_interval_ms: i64,
    jitter: bool,
    non_retryable_errors: Vec<Cow<'a, str>>,
    dead_letter: bool,
    backoff: BackoffName,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Moment<'a> {
    at: i64,
    text: Cow<'a, str>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BackoffName {
    Constant,
    Linear,
    Exponential,
    Polynomial,
}

/// The text for the column.
pub fn write(spec: &Spec) -> Option<String> {
    let Spec {
        kind: _,
        queue: _,
        priority: _,
        args: _,
        meta: _,
        unique: _,
        extra: _,
        tags,
        schema,
        scheduled_at,
        expires_at,
        timeout,
        visibility_timeout,
        limits,
        retry,
        rate_limit,
        delivery,
        ordering_key,
        kept_for,
        workflow,
    } = spec;
    let TimeLimits { total, enqueue, heartbeat, grace } = *limits;
    let retry = Some(retry).filter(|retry| **retry != RetryPolicy::default());
    let usual = retry.is_none()
        && tags.is_empty()
        && schema.is_none()
        && scheduled_at.is_none()
        && expires_at.is_none()
        && timeout.is_none()
        && visibility_timeout.is_none()
        && *limits == TimeLimits::default()
        && *delivery == Delivery::AtLeastOnce
        && *kept_for == KeptFor::default()
        && workflow.is_none()
        && rate_limit.is_none()
        && ordering_key.is_none();
    if usual {
        return None;
    }
    let moment = |given: &'_ Option<GivenTime>| given.clone().map(moment);
    Some(json(&Options {
        retry: retry.map(write_retry),
        tags: tags.iter().map(|tag| Cow::Borrowed(&**tag)).collect(),
        schema: schema.as_deref().map(Cow::Borrowed),
        scheduled_at: moment(scheduled_at),
        expires_at: moment(expires_at),
        timeout_ms: timeout.map(|timeout| millis(timeout.span)),
        timeout_in_seconds: timeout.is_some_and(|timeout| timeout.in_seconds),
        visibility_timeout_ms: visibility_timeout.map(millis),
        total_timeout_ms: total.map(millis),
        enqueue_ttl_ms: enqueue.map(millis),
        heartbeat_timeout_ms: heartbeat.map(millis),
        grace_period_ms: grace.map(millis),
        at_most_once: *delivery == Delivery::AtMostOnce,
        kept_ms: Some(*kept_for).filter(|kept| *kept != KeptFor::default()).map(write_kept),
        workflow: workflow.map(|id| id.to_string().into()),
        rate_limit: rate_limit.as_deref().map(write_policy),
        ordering_key: ordering_key.as_ref().map(|key| Cow::Borrowed(key.as_str())),
    }))
}

fn moment(given: GivenTime) -> Moment<'static> {
    let GivenTime { at, text } = given;
    Moment { at: at.millis(), text: Cow::Owned(text.into()) }
}

pub(super) fn write_retry(retry: &RetryPolicy) -> RetryRecord<'_> {
    let RetryPolicy {
        max_attempts,
        initial_interval,
        backoff_coefficient,
        max_interval,
        jitter,
        non_retryable_errors,
        on_exhaustion,
        backoff,
    } = retry;
    RetryRecord {
        max_attempts: *max_attempts,
        initial_interval_ms: millis(*initial_interval),
        backoff_coefficient: Cow::Owned(backoff_coefficient.to_string()),
        max_interval_ms: millis(*max_interval),
        jitter: *jitter,
        non_retryable_errors: non_retryable_errors.iter().map(|name| Cow::Borrowed(&**name)).collect(),
        dead_letter: *on_exhaustion == Exhaustion::DeadLetter,
        backoff: match backoff {
            Backoff::Constant => BackoffName::Constant,
            Backoff::Linear => BackoffName::Linear,
            Backoff::Exponential => BackoffName::Exponential,
            Backoff::Polynomial => BackoffName::Polynomial,
        },
    }
}

/// What the text says.
pub fn read(text: Option<&str>) -> Result<Decoded, Unreadable> {
    let Some(text) = text else { return Ok(Decoded::default()) };
    let Options {
        retry,
        tags,
        schema,
        scheduled_at,
        expires_at,
        timeout_ms,
        timeout_in_seconds,
        visibility_timeout_ms,
        total_timeout_ms,
        enqueue_ttl_ms,
        heartbeat_timeout_ms,
        grace_period_ms,
        at_most_once,
        kept_ms,
        workflow,
        rate_limit,
        ordering_key,
    } = serde_json::from_str(text)?;
    let timeout = timeout_ms.map(span).transpose()?;
    Ok(Decoded {
        retry: retry.map(read_retry).transpose()?.unwrap_or_default(),
        tags: tags.into_iter().map(Into::into).collect(),
        schema: schema.map(Into::into),
        scheduled_at: scheduled_at.map(read_moment),
        expires_at: expires_at.map(read_moment),
        timeout: timeout.map(|span| Timeout { span, in_seconds: timeout_in_seconds }),
        visibility_timeout: visibility_timeout_ms.map(span).transpose()?,
        limits: TimeLimits {
            total: total_timeout_ms.map(span).transpose()?,
            enqueue: enqueue_ttl_ms.map(span).transpose()?,
            heartbeat: heartbeat_timeout_ms.map(span).transpose()?,
            grace: grace_period_ms.map(span).transpose()?,
        },
        delivery: if at_most_once { Delivery::AtMostOnce } else { Delivery::AtLeastOnce },
        kept_for: kept_ms.map(read_kept).transpose()?.unwrap_or_default(),
        workflow: workflow.map(|id| id.parse().map_err(|_| Unreadable)).transpose()?,
        rate_limit: rate_limit.map(read_policy).transpose()?.map(Box::new),
        ordering_key: ordering_key.map(|key| OrderingKey::parse(&key).map_err(|_| Unreadable)).transpose()?,
    })
}

/// The column, read.
#[derive(Debug)]
pub struct Decoded {
    retry: RetryPolicy,
    tags: Vec<Box<str>>,
    schema: Option<Box<str>>,
    scheduled_at: Option<GivenTime>,
    expires_at: Option<GivenTime>,
    timeout: Option<Timeout>,
    visibility_timeout: Option<Duration>,
    limits: TimeLimits,
    delivery: Delivery,
    kept_for: KeptFor,
    workflow: Option<WorkflowId>,
    rate_limit: Option<Box<RateLimit>>,
    ordering_key: Option<OrderingKey>,
}

impl Default for Decoded {
    fn default() -> Decoded {
        Decoded {
            retry: RetryPolicy::default(),
            tags: Vec::new(),
            schema: None,
            scheduled_at: None,
            expires_at: None,
            timeout: None,
            visibility_timeout: None,
            limits: TimeLimits::default(),
            delivery: Delivery::AtLeastOnce,
            kept_for: KeptFor::default(),
            workflow: None,
            rate_limit: None,
            ordering_key: None,
        }
    }
}

impl Decoded {
    /// The whole of what the client asked for.
    pub fn with(self, columns: Columns) -> Spec {
        let Columns { kind, queue, priority, unique, args, meta, extra } = columns;
        let Decoded {
            retry,
            tags,
            schema,
            scheduled_at,
            expires_at,
            timeout,
            visibility_timeout,
            limits,
            delivery,
            kept_for,
            workflow,
            rate_limit,
            ordering_key,
        } = self;
        Spec {
            kind,
            queue,
            priority,
            args,
            meta,
            tags,
            schema,
            scheduled_at,
            expires_at,
            timeout,
            visibility_timeout,
            limits,
            retry,
            unique,
            rate_limit,
            delivery,
            ordering_key,
            kept_for,
            workflow,
            extra,
        }
    }
}

fn write_kept(kept: KeptFor) -> [Option<i64>; 3] {
    let KeptFor { completed, cancelled, discarded } = kept;
    [completed, cancelled, discarded].map(|kept| kept.map(millis))
}

fn read_kept([completed, cancelled, discarded]: [Option<i64>; 3]) -> Result<KeptFor, Unreadable> {
    let read = |kept: Option<i64>| kept.map(span).transpose();
    Ok(KeptFor { completed: read(completed)?, cancelled: read(cancelled)?, discarded: read(discarded)? })
}

fn read_moment(moment: Moment<'_>) -> GivenTime {
    let Moment { at, text } = moment;
    GivenTime { at: Timestamp::from_millis(at), text: text.into() }
}

pub(super) fn read_retry(retry: RetryRecord<'_>) -> Result<RetryPolicy, Unreadable> {
    let RetryRecord {
        max_attempts,
        initial_interval_ms,
        backoff_coefficient,
        max_interval_ms,
        jitter,
        non_retryable_errors,
        dead_letter,
        backoff,
    } = retry;
    Ok(RetryPolicy {
        max_attempts,
        initial_interval: span(initial_interval_ms)?,
        backoff_coefficient: backoff_coefficient.parse().map_err(|_| Unreadable)?,
        max_interval: span(max_interval_ms)?,
        jitter,
        non_retryable_errors: non_retryable_errors.into_iter().map(Into::into).collect(),
        on_exhaustion: if dead_letter { Exhaustion::DeadLetter } else { Exhaustion::Discard },
        backoff: match backoff {
            BackoffName::Constant => Backoff::Constant,
            BackoffName::Linear => Backoff::Linear,
            BackoffName::Exponential => Backoff::Exponential,
            BackoffName::Polynomial => Backoff::Polynomial,
        },
    })
}
