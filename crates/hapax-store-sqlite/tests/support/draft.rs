//! Jobs for tests: each names only what it is about.

use std::time::Duration;

use hapax_core::unique::{Anchor, Key, Strategy, UniquePolicy};
use hapax_core::{
    Claimant, Delivery, Event, GivenTime, Incoming, JobId, JobType, Json, KeptFor, LeaseToken, Priority,
    QueueName, RetryPolicy, Spec, StateSet, TimeLimits, Timestamp,
};
use hapax_store::{Action, Claim, Op};

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + millis)
}

pub(crate) fn id(n: u64) -> JobId {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&n.to_be_bytes());
    JobId::new(at(0), random)
}

pub(crate) fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

pub(crate) fn spec() -> Spec {
    Spec {
        kind: JobType::parse("email.send").unwrap(),
        queue: queue("default"),
        priority: Priority::default(),
        args: Json::from_trusted("[1, 2.50]"),
        meta: Json::empty_object(),
        tags: Vec::new(),
        schema: None,
        scheduled_at: None,
        expires_at: None,
        timeout: None,
        visibility_timeout: None,
        limits: TimeLimits::default(),
        retry: RetryPolicy::default(),
        unique: None,
        delivery: Delivery::AtLeastOnce,
        kept_for: KeptFor::default(),
        rate_limit: None,
        ordering_key: None,
        workflow: None,
        extra: Json::empty_object(),
    }
}

pub(crate) fn given(millis: i64) -> GivenTime {
    GivenTime::computed(at(millis))
}

pub(crate) fn policy(
    states: StateSet,
    on_conflict: Strategy,
    period: Option<i64>,
    period_from: Anchor,
) -> UniquePolicy {
    let period = period.map(|millis| Duration::from_millis(millis.unsigned_abs()));
    UniquePolicy { states, on_conflict, period, period_from, ..UniquePolicy::default() }
}

pub(crate) fn incoming(n: u64, spec: Spec) -> Incoming {
    Incoming {
        id: id(n),
        spec: Box::new(spec),
        key: None,
        pending: false,
        after: None,
        bound: None,
        barred: None,
        request_id: None,
    }
}

pub(crate) fn unique(n: u64, key: &str, spec: Spec) -> Incoming {
    Incoming { key: Some(Key::of_text(key)), ..incoming(n, spec) }
}

pub(crate) fn enqueue(now: Timestamp, incoming: Incoming) -> Op {
    Op { now, action: Action::Enqueue { incoming: Box::new(incoming), memo: None } }
}

pub(crate) fn step(now: Timestamp, id: JobId, event: Event) -> Op {
    Op { now, action: Action::Step { id, event } }
}

pub(crate) fn ack(now: Timestamp, id: JobId) -> Op {
    step(now, id, Event::Acknowledge { claimant: Claimant::UNNAMED, result: None })
}

pub(crate) fn claim(now: Timestamp, queues: &[&str], count: usize, token: u8) -> Claim {
    Claim {
        now,
        queues: queues.iter().map(|name| queue(name)).collect(),
        count,
        worker: None,
        token: LeaseToken::new([token; 16]),
        visibility_timeout: None,
        tenant: None,
    }
}
