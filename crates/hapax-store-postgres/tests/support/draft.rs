//! A plain job for tests.

use hapax_core::unique::{Key, Uniqueness};
use hapax_core::{
    Delivery, Incoming, JobId, JobType, Json, KeptFor, Priority, QueueName, RetryPolicy, Spec, TimeLimits,
    Timestamp,
};
use hapax_store::{Action, Op};

/// A job that nobody else has, unique if it is given a key and a policy.
pub(crate) fn incoming(now: Timestamp, n: u8, unique: Option<(Key, Uniqueness)>) -> Incoming {
    let spec = Spec {
        kind: JobType::parse("email.send").unwrap(),
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
        retry: RetryPolicy::default(),
        unique: unique.as_ref().map(|(_, uniqueness)| uniqueness.clone()),
        delivery: Delivery::AtLeastOnce,
        kept_for: KeptFor::default(),
        rate_limit: None,
        ordering_key: None,
        workflow: None,
        extra: Json::empty_object(),
    };
    let key = unique.map(|(key, _)| key);
    Incoming {
        id: JobId::new(now, [n; 10]),
        spec: Box::new(spec),
        key,
        pending: false,
        after: None,
        bound: None,
        barred: None,
        request_id: None,
    }
}

pub(crate) fn enqueue(now: Timestamp, incoming: Incoming) -> Op {
    Op { now, action: Action::Enqueue { incoming: Box::new(incoming), memo: None } }
}
