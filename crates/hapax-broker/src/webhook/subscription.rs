//! Subscribing: making, looking at, changing, removing, trying out.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::webhook::{
    Delivery, DeliveryId, Endpoint, Pattern, Reach, Response, Secret, Sequence, Step, Subscription,
    SubscriptionId,
};
use hapax_core::{JobType, Json, QueueName, Timestamp};
use hapax_store::record::courier::{self, Courier};
use hapax_store::record::webhook as record;
use hapax_store::webhook::{Shelf, courier_key, key, on_shelf, read_delivery, written};
use hapax_store::{Action, Edit, Entry, EntryQuery, Register, Written};

use super::OUTBOX_MAX;
use super::carrier::Letter;
use crate::events::WebhookFact;
use crate::{Broker, Error};

/// How many may subscribe.
pub const SUBSCRIPTIONS_MAX: usize = 64;
/// How many entries one look fetches.
const PAGE: usize = 500;

/// A subscription as a request described it, checked in form.
#[derive(Debug, Clone)]
pub struct SubscriptionDraft {
    /// Where to.
    pub endpoint: Endpoint,
    /// Of which kinds of event.
    pub events: Vec<Pattern>,
    /// Only of events in these queues.
    pub queues: Vec<QueueName>,
    /// Only of events about jobs of these types.
    pub job_types: Vec<JobType>,
    /// Whether it is to be told from now on.
    pub active: bool,
    /// The secret that the client chose; one is made if it chose none.
    pub secret: Option<Secret>,
    /// For people.
    pub metadata: Option<Json>,
}

/// What is to change; what is not there stays.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the members of a subscription")]
pub struct SubscriptionPatch {
    pub endpoint: Option<Endpoint>,
    pub events: Option<Vec<Pattern>>,
    pub queues: Option<Vec<QueueName>>,
    pub job_types: Option<Vec<JobType>>,
    pub active: Option<bool>,
    pub metadata: Option<Json>,
}

/// A subscription, and how its deliveries go.
#[derive(Debug, Clone)]
pub struct SubscriptionView {
    /// The subscription.
    pub subscription: Subscription,
    /// How its deliveries go.
    pub courier: Courier,
    /// How many deliveries wait.
    pub pending: u64,
    /// When the first of them may be sent.
    pub first_at: Option<Timestamp>,
}

impl SubscriptionView {
    /// When a subscription is tried again that is left in peace: not before the first delivery may be sent.
    pub fn next_probe_at(&self, now: Timestamp) -> Option<Timestamp> {
        let probe_at = self.courier.circuit.probe_at?;
        Some(probe_at.max(self.first_at.unwrap_or(probe_at))).filter(|at| *at > now)
    }
}

/// Subscriptions in the order in which they were made.
#[derive(Debug, Clone)]
pub struct SubscriptionPage {
    /// The subscriptions, and how their deliveries go.
    pub subscriptions: Vec<(Subscription, Courier)>,
    /// Whether there are more after these.
    pub has_more: bool,
    /// How many there are.
    pub total: u64,
}

/// How an endpoint answered to a test.
#[derive(Debug, Clone)]
pub struct Probe {
    /// What came back.
    pub response: Response,
    /// How long it took.
    pub took: Duration,
}

impl Broker {
    /// How far deliveries may go.
    pub fn webhook_reach(&self) -> Reach {
        self.shared.outbox.reach()
    }

    /// Reads who has subscribed. To be called before the first request is served: what happens before it, nobody is told.
    pub async fn load_outbox(&self) -> Result<(), Error> {
        let _turn = self.shared.outbox.loading.lock().await;
        self.load_outbox_in_turn().await
    }

    async fn load_outbox_in_turn(&self) -> Result<(), Error> {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let query = EntryQuery { register: Register::Webhook, prefix: "".into(), after, limit: PAGE };
            let page = self.shared.store.entries(query).await?;
            for entry in &page.entries {
                match record::read(&entry.key.name, &entry.written.body) {
                    Ok(subscription) => found.push(Arc::new(subscription)),
                    Err(_) => {
                        tracing::error!(name = %entry.key.name, "the entry of a subscription is damaged");
                    }
                }
            }
            after = page.entries.last().map(|entry| Arc::clone(&entry.key.name)).filter(|_| page.has_more);
            if after.is_none() {
                break;
            }
        }
        self.shared.outbox.set(found);
        Ok(())
    }

    /// As [`Broker::load_outbox`], at the start of a server: sees to it that what is stored from now on comes after what
    /// is stored already, also if the clock was set back.
    pub async fn open_outbox(&self) -> Result<(), Error> {
        self.load_outbox().await?;
        let outbox = &self.shared.outbox;
        for subscription in outbox.subscriptions().iter() {
            let number = Sequence::first_number(self.now());
            let mut after = Sequence { number, mark: 0 };
            loop {
                let query = on_shelf(subscription.id, Shelf::Pending, Some(after), PAGE);
                let page = self.shared.store.entries(query).await?;
                let last = page
                    .entries
                    .last()
                    .and_then(|entry| hapax_store::webhook::parse_delivery(&entry.key.name));
                let Some((DeliveryId { sequence, .. }, _)) = last else { break };
                outbox.start_after(sequence.number);
                after = sequence;
            }
        }
        Ok(())
    }

    /// Makes a subscription. Whatever becomes durable on this server after the answer is told.
    pub async fn add_subscription(&self, draft: SubscriptionDraft) -> Result<Subscription, Error> {
        // Held until the list has been read anew, so that those who come together count each other.
        let _turn = self.shared.outbox.loading.lock().await;
        self.expect_room(Register::Webhook, SUBSCRIPTIONS_MAX).await?;
        let now = self.now();
        let SubscriptionDraft { endpoint, events, queues, job_types, active, secret, metadata } = draft;
        let subscription = Subscription {
            id: SubscriptionId::new(now, self.shared.entropy.draw()),
            endpoint,
            events,
            queues,
            job_types,
            active,
            secret: secret.unwrap_or_else(|| Secret::new(self.shared.entropy.draw())),
            previous_secret: None,
            metadata,
            created_at: now,
            updated_at: now,
        };
        let text = written(&subscription);
        self.edit(now, key(subscription.id), Edit::new(move |_| Ok(Some(text.clone())))).await?;
        self.load_outbox_in_turn().await?;
        self.tell(WebhookFact::Subscribed, subscription.id);
        Ok(subscription)
    }

    /// A subscription, and how its deliveries go.
    pub async fn subscription(&self, id: SubscriptionId) -> Result<SubscriptionView, Error> {
        let store = &self.shared.store;
        let entry = store.entry(key(id)).await?.ok_or_else(|| key(id).missing())?;
        let subscription = readable(&entry)?;
        let courier = self.courier(id).await?;
        let waiting = store.entries(on_shelf(id, Shelf::Pending, None, 1)).await?;
        let first_at = waiting.entries.first().and_then(read_delivery).and_then(|first| match first.step {
            Step::Pending { next_at } => Some(next_at),
            Step::Delivered { .. } | Step::Dead { .. } => None,
        });
        Ok(SubscriptionView { subscription, courier, pending: waiting.total, first_at })
    }

    /// Subscriptions in the order in which they were made, without the first few.
    pub async fn subscriptions(
        &self,
        after: Option<&str>,
        skipped: usize,
        limit: usize,
    ) -> Result<SubscriptionPage, Error> {
        let after = after.map(Arc::from);
        let page = self.entries(Register::Webhook, after, SUBSCRIPTIONS_MAX).await?;
        let end = skipped.saturating_add(limit);
        let has_more = page.has_more || page.entries.len() > end;
        let mut subscriptions = Vec::new();
        for entry in page.entries.iter().take(end).skip(skipped) {
            let subscription = readable(entry)?;
            let courier = self.courier(subscription.id).await?;
            subscriptions.push((subscription, courier));
        }
        Ok(SubscriptionPage { subscriptions, has_more, total: page.total })
    }

    /// Changes a subscription. One that is switched on again, or leads elsewhere, is tried at once.
    pub async fn change_subscription(
        &self,
        id: SubscriptionId,
        patch: SubscriptionPatch,
    ) -> Result<Subscription, Error> {
        let now = self.now();
        let is_other = patch.endpoint.is_some() || patch.active == Some(true);
        let changed = self.revise(id, now, move |subscription| patched(subscription, &patch, now)).await?;
        if is_other {
            self.begin_anew(id, now).await?;
        }
        Ok(changed)
    }

    /// Gives a subscription another secret. For a day deliveries are signed with the one before as well.
    pub async fn rotate_secret(
        &self,
        id: SubscriptionId,
        secret: Option<Secret>,
    ) -> Result<Subscription, Error> {
        let now = self.now();
        let secret = secret.unwrap_or_else(|| Secret::new(self.shared.entropy.draw()));
        self.revise(id, now, move |subscription| subscription.rotated(secret.clone(), now)).await
    }

    /// Removes a subscription, with what was to be sent to it; shows what it was.
    pub async fn remove_subscription(&self, id: SubscriptionId) -> Result<Subscription, Error> {
        let entry = self.shared.store.entry(key(id)).await?.ok_or_else(|| key(id).missing())?;
        let subscription = readable(&entry)?;
        let now = self.now();
        let must_be_there =
            Edit::new(move |before| if before.is_some() { Ok(None) } else { Err(key(id).missing()) });
        let actions = vec![
            Action::Edit { key: key(id), edit: must_be_there },
            Action::Edit { key: courier_key(id), edit: Edit::new(|_| Ok(None)) },
        ];
        self.commit(now, actions).await?.into_iter().next().transpose()?;
        self.load_outbox().await?;
        self.forget_deliveries(id).await?;
        self.tell(WebhookFact::Unsubscribed, id);
        Ok(subscription)
    }

    /// Sends an event that tells of nothing, at once and once.
    pub async fn test_subscription(&self, id: SubscriptionId) -> Result<Probe, Error> {
        let entry = self.shared.store.entry(key(id)).await?.ok_or_else(|| key(id).missing())?;
        let subscription = readable(&entry)?;
        let outbox = &self.shared.outbox;
        // Each takes as long as an endpoint may; whoever had to wait for them would wait longer than anybody does.
        let _place = outbox.tests.try_acquire().map_err(|_| Error::Busy)?;
        let now = self.now();
        let delivery = outbox.delivery(WebhookFact::Test.at(id, now), id);
        let response = outbox.carrier().carry(letter(&subscription, &delivery, now)).await;
        Ok(Probe { response, took: self.now().since(now) })
    }

    async fn revise(
        &self,
        id: SubscriptionId,
        now: Timestamp,
        change: impl Fn(&Subscription) -> Subscription + Send + Sync + 'static,
    ) -> Result<Subscription, Error> {
        let name = id.to_string();
        let edit = Edit::new(move |before: Option<&Written>| {
            let before = before.ok_or_else(|| key(id).missing())?;
            // One that cannot be read stays as it is, and the caller hears of it.
            let Ok(subscription) = record::read(&name, &before.body) else { return Ok(Some(before.clone())) };
            Ok(Some(written(&change(&subscription))))
        });
        let (entry, _) = self.edit(now, key(id), edit).await?;
        let changed = entry.as_ref().map(readable).transpose()?.ok_or_else(|| key(id).missing())?;
        self.load_outbox().await?;
        Ok(changed)
    }

    /// How the deliveries of a subscription go.
    pub(super) async fn courier(&self, id: SubscriptionId) -> Result<Courier, Error> {
        let entry = self.shared.store.entry(courier_key(id)).await?;
        Ok(entry.and_then(|entry| courier::read(&entry.written.body).ok()).unwrap_or_default())
    }

    pub(super) fn tell(&self, fact: WebhookFact, id: SubscriptionId) {
        let (ticket, ()) = self.shared.events.in_turn(|| ());
        ticket.publish(vec![fact.at(id, self.now())]);
    }
}

/// A delivery, signed for its way.
pub(super) fn letter(subscription: &Subscription, delivery: &Delivery, now: Timestamp) -> Letter {
    let timestamp = now.millis().div_euclid(1000);
    Letter {
        endpoint: subscription.endpoint.clone(),
        event_type: delivery.event_type.clone(),
        delivery: delivery.id.to_string().into(),
        subscription: subscription.id.to_string().into(),
        timestamp,
        signature: subscription.signatures(now, timestamp, delivery.event.as_bytes()).into(),
        body: Arc::clone(&delivery.event),
    }
}

fn patched(subscription: &Subscription, patch: &SubscriptionPatch, now: Timestamp) -> Subscription {
    let SubscriptionPatch { endpoint, events, queues, job_types, active, metadata } = patch.clone();
    let before = subscription.clone();
    Subscription {
        endpoint: endpoint.unwrap_or(before.endpoint),
        events: events.unwrap_or(before.events),
        queues: queues.unwrap_or(before.queues),
        job_types: job_types.unwrap_or(before.job_types),
        active: active.unwrap_or(before.active),
        metadata: metadata.or(before.metadata),
        updated_at: now,
        ..subscription.clone()
    }
}

fn readable(entry: &Entry) -> Result<Subscription, Error> {
    record::read(&entry.key.name, &entry.written.body).map_err(|_| entry.key.damaged().into())
}

const _: () = assert!(OUTBOX_MAX > PAGE, "one page is thrown away at a time");
