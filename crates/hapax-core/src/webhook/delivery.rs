//! A delivery: one event on its way to one subscription.

use std::sync::Arc;
use std::time::Duration;

use super::{DeliveryId, Response, Verdict};
use crate::Timestamp;

/// How long after the one before it each attempt comes (Webhooks 7.2). There are no more attempts than these.
pub const RETRY_DELAYS: [Duration; 8] = [
    Duration::ZERO,
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_hours(1),
    Duration::from_hours(4),
    Duration::from_hours(12),
    Duration::from_hours(24),
];

/// An event on its way.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// Its name.
    pub id: DeliveryId,
    /// The kind of event.
    pub event_type: Box<str>,
    /// The event, as it is sent: every attempt sends the same bytes.
    pub event: Arc<str>,
    /// When the event happened.
    pub created_at: Timestamp,
    /// Where it stands.
    pub step: Step,
    /// How often it was tried.
    pub attempts: u32,
    /// The last attempt.
    pub last: Option<Attempt>,
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It is to be sent.
    Pending {
        /// Not before.
        next_at: Timestamp,
    },
    /// It arrived.
    Delivered {
        /// When.
        at: Timestamp,
    },
    /// It was given up.
    Dead {
        /// When.
        at: Timestamp,
    },
}

/// How an attempt went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub took: Duration,
    /// The status of the answer.
    pub status: Option<u16>,
    /// What went wrong, if there was no answer.
    pub error: Option<Box<str>>,
}

impl Step {
    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Step::Pending { .. } => "pending",
            Step::Delivered { .. } => "delivered",
            Step::Dead { .. } => "dead",
        }
    }
}

impl Delivery {
    /// What it is after an attempt that began at that moment and took so long.
    #[must_use]
    pub fn after(&self, response: &Response, at: Timestamp, took: Duration) -> Delivery {
        let attempts = self.attempts.saturating_add(1);
        let ended = at + took;
        let step = match response.verdict() {
            Verdict::Delivered => Step::Delivered { at: ended },
            Verdict::Refused => Step::Dead { at: ended },
            Verdict::Retry { not_before } => {
                let delay = usize::try_from(attempts).ok().and_then(|attempts| RETRY_DELAYS.get(attempts));
                match delay {
                    Some(delay) => Step::Pending { next_at: ended + not_before.max(*delay) },
                    None => Step::Dead { at: ended },
                }
            }
        };
        let error = match response {
            Response::Answered { .. } => None,
            Response::Failed(error) => Some(error.clone()),
        };
        let last = Some(Attempt { at, took, status: response.status(), error });
        Delivery { step, attempts, last, ..self.clone() }
    }

    /// As if it had never been tried.
    #[must_use]
    pub fn revived(&self, now: Timestamp) -> Delivery {
        Delivery { step: Step::Pending { next_at: now }, attempts: 0, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sequence, SubscriptionId};
    use super::*;

    fn fresh() -> Delivery {
        let now = Timestamp::from_millis(0);
        Delivery {
            id: DeliveryId {
                subscription: SubscriptionId::new(now, [1; 10]),
                sequence: Sequence { number: 1, mark: 2 },
            },
            event_type: "job.completed".into(),
            event: "{}".into(),
            created_at: now,
            step: Step::Pending { next_at: now },
            attempts: 0,
            last: None,
        }
    }

    fn answered(status: u16) -> Response {
        Response::Answered { status, retry_after: None }
    }

    #[test]
    fn eight_attempts_are_made_at_growing_distances_and_then_it_is_given_up() {
        let mut delivery = fresh();
        let mut waits = Vec::new();
        while let Step::Pending { next_at } = delivery.step {
            let before = delivery.last.as_ref().map_or(delivery.created_at, |last| last.at);
            waits.push(next_at.since(before).as_secs());
            delivery = delivery.after(&answered(503), next_at, Duration::ZERO);
        }
        assert_eq!(waits, [0, 30, 120, 600, 3600, 4 * 3600, 12 * 3600, 24 * 3600]);
        assert_eq!(delivery.attempts, 8);
        assert_eq!(delivery.step.name(), "dead");
    }

    #[test]
    fn an_endpoint_that_asks_for_time_gets_it_if_it_is_longer() {
        let now = Timestamp::from_millis(0);
        let asks = |secs| Response::Answered { status: 429, retry_after: Some(Duration::from_secs(secs)) };
        let next = |secs| fresh().after(&asks(secs), now, Duration::ZERO).step;
        assert_eq!(next(100), Step::Pending { next_at: Timestamp::from_millis(100_000) });
        assert_eq!(next(1), Step::Pending { next_at: Timestamp::from_millis(30_000) });
    }

    #[test]
    fn what_was_refused_is_given_up_at_once_and_can_be_revived() {
        let dead = fresh().after(&answered(410), Timestamp::from_millis(5), Duration::from_millis(2));
        assert_eq!(dead.step, Step::Dead { at: Timestamp::from_millis(7) });
        assert_eq!(dead.last.as_ref().and_then(|last| last.status), Some(410));
        let again = dead.revived(Timestamp::from_millis(9));
        assert_eq!((again.attempts, again.id), (0, dead.id), "it keeps its name");
        assert_eq!(again.step, Step::Pending { next_at: Timestamp::from_millis(9) });
    }
}
