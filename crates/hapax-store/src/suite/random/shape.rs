//! Shapes of jobs, with times that count from the moment of their enqueue.

use std::time::Duration;

use hapax_core::{Delivery, Exhaustion, TimeLimits, Timestamp};

use super::super::draft::{Draft, plain};
use super::wish::Wish;

/// The names of the queues. Few, so that jobs meet.
const QUEUES: [&str; 3] = ["alpha", "beta", "default"];

/// The queue of that number, counted round.
pub(super) fn queue_name(number: u8) -> &'static str {
    QUEUES[usize::from(number) % QUEUES.len()]
}

/// A job as the generator imagines it.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub(super) queue: u8,
    pub(super) priority: i64,
    pub(super) args: u8,
    pub(super) wish: Option<Wish>,
    pub(super) when: When,
    pub(super) end: End,
    pub(super) request: Option<u8>,
}

/// When a job may start.
#[derive(Debug, Clone, Copy)]
pub(super) struct When {
    pub(super) pending: bool,
    /// Milliseconds from now.
    pub(super) scheduled_in: Option<i64>,
    /// Milliseconds from now.
    pub(super) expires_in: Option<i64>,
}

/// How an attempt and a job may end.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    pub(super) attempts: u32,
    pub(super) on_exhaustion: Exhaustion,
    pub(super) delivery: Delivery,
    pub(super) timeout: Option<Duration>,
    pub(super) visibility_timeout: Option<Duration>,
    pub(super) limits: TimeLimits,
}

impl Shape {
    /// The job, enqueued now.
    pub(super) fn draft(&self, now: Timestamp) -> Draft {
        let Shape { queue, priority, args, wish, when, end, request } = self;
        let draft = wish.as_ref().map_or_else(plain, Wish::draft);
        let mut draft = draft.queue(queue_name(*queue)).priority(*priority).args(&args_text(*args));
        draft.request_id = request.map(|number| format!("request-{number}").into());
        let draft = end.write(when.write(draft, now));
        match wish {
            Some(wish) => wish.corrected(draft),
            None => draft,
        }
    }
}

/// Arguments of every kind: arrays that can be joined, one of them long, and others that cannot.
fn args_text(number: u8) -> String {
    match number {
        0..2 => format!("[{number}]"),
        2..6 => format!("[[{number},{number}.0]]"),
        6..8 => format!("[[\"{}\"]]", "x".repeat(70)),
        8 => format!("{{\"n\":{number}}}"),
        _ => format!("[{{\"n\":{number}}}]"),
    }
}

impl When {
    fn write(self, mut draft: Draft, now: Timestamp) -> Draft {
        let When { pending, scheduled_in, expires_in } = self;
        let from_now = |millis: i64| Timestamp::from_millis(now.millis() + millis);
        draft.pending = pending;
        if let Some(millis) = scheduled_in {
            draft = draft.scheduled_at(from_now(millis));
        }
        match expires_in {
            Some(millis) => draft.expires_at(from_now(millis)),
            None => draft,
        }
    }
}

impl End {
    fn write(self, mut draft: Draft) -> Draft {
        let End { attempts, on_exhaustion, delivery, timeout, visibility_timeout, limits } = self;
        draft.spec.retry.on_exhaustion = on_exhaustion;
        draft.spec.retry.jitter = true;
        draft.spec.delivery = delivery;
        draft.spec.visibility_timeout = visibility_timeout;
        draft.spec.limits = limits;
        draft = draft.attempts(attempts);
        match timeout {
            Some(span) => draft.timeout(span),
            None => draft,
        }
    }
}
