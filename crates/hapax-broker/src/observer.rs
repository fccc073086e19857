//! Who counts what happens.

use std::fmt::Debug;

use crate::JobEvent;

/// Is told of everything that happens, on the thread where it happens: it must be quick.
pub trait Observer: Send + Sync + Debug {
    /// Something happened, and is durable.
    fn event(&self, event: &JobEvent);

    /// An incoming job met a holder of its key: the strategy that decided is `reject`, `ignore`, `replace`,
    /// `replace_except_schedule` or `update`.
    fn conflict(&self, strategy: &'static str);
}

/// Nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn event(&self, _event: &JobEvent) {}

    fn conflict(&self, _strategy: &'static str) {}
}
