//! What happens to subscriptions, and on the way to their endpoints (Webhooks 11.1).

use std::time::Duration;

use hapax_core::Timestamp;
use hapax_core::webhook::{Delivery, Step, SubscriptionId};

use super::EventKind;
use super::event::{News, Unnumbered};

/// What happened to a subscription, or on the way to its endpoint.
#[derive(Debug, Clone, PartialEq)]
pub enum WebhookFact {
    /// It was made.
    Subscribed,
    /// It was removed.
    Unsubscribed,
    /// An event arrived, or did not.
    Attempted(Box<Attempted>),
    /// Somebody wants to see whether the endpoint answers.
    Test,
}

/// An attempt to deliver an event.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempted {
    /// The name of the delivery.
    pub delivery: Box<str>,
    /// The kind of the event on its way.
    pub event_type: Box<str>,
    /// Where the delivery stands since.
    pub step: Step,
    /// The attempt.
    pub attempt: u32,
    /// The status of the answer.
    pub status: Option<u16>,
    /// What went wrong, if there was no answer.
    pub error: Option<Box<str>>,
    /// How long it took.
    pub took: Duration,
}

impl WebhookFact {
    pub(super) const fn kind(&self) -> EventKind {
        match self {
            WebhookFact::Subscribed => EventKind::WebhookSubscribed,
            WebhookFact::Unsubscribed => EventKind::WebhookUnsubscribed,
            WebhookFact::Attempted(attempted) => match attempted.step {
                Step::Pending { .. } => EventKind::WebhookFailed,
                Step::Delivered { .. } => EventKind::WebhookDelivered,
                Step::Dead { .. } => EventKind::WebhookDead,
            },
            WebhookFact::Test => EventKind::WebhookTest,
        }
    }

    /// How a delivery went that was just tried.
    pub(crate) fn attempted(delivery: &Delivery) -> WebhookFact {
        let last = delivery.last.as_ref();
        WebhookFact::Attempted(Box::new(Attempted {
            delivery: delivery.id.to_string().into(),
            event_type: delivery.event_type.clone(),
            step: delivery.step,
            attempt: delivery.attempts,
            status: last.and_then(|last| last.status),
            error: last.and_then(|last| last.error.clone()),
            took: last.map_or(Duration::ZERO, |last| last.took),
        }))
    }

    pub(crate) fn at(self, subscription: SubscriptionId, at: Timestamp) -> Unnumbered {
        Unnumbered { at, queue: None, news: News::Webhook { subscription, fact: self }, traced: None }
    }
}
