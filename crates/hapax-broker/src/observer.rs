//! Who counts what happens.

use std::fmt::Debug;

use hapax_core::{QueueName, Timestamp};

use crate::News;

/// Is told of everything that happens, on the thread where it happens: it must be quick.
pub trait Observer: Send + Sync + Debug {
    /// Something happened in a queue, and is durable. This is told before whoever asked for it has the answer, so that who
    /// reads the counts afterwards finds it there; it may be told before what happened earlier.
    fn event(&self, at: Timestamp, queue: Option<&QueueName>, news: &News);

    /// An incoming job met a holder of its key. What decided is one of the strategies by name, `update`, `debounce`,
    /// `queue_latest` or `job_key`.
    fn conflict(&self, rule: &'static str);

    /// An incoming job was answered by a holder of its key, as it was or updated.
    fn deduplicated(&self);

    /// An operator took a key away from so many jobs.
    fn released(&self, jobs: usize);
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn event(&self, _at: Timestamp, _queue: Option<&QueueName>, _news: &News) {}

    fn conflict(&self, _rule: &'static str) {}

    fn deduplicated(&self) {}

    fn released(&self, _jobs: usize) {}
}
