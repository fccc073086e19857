//! A round: what waits for one subscription is sent, one after the other, until nothing waits or something fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hapax_core::Timestamp;
use hapax_core::webhook::{Circuit, Delivery, Step, Subscription, SubscriptionId};
use hapax_store::record::courier::{self, Courier};
use hapax_store::record::{delivery, webhook};
use hapax_store::webhook::{
    Shelf, courier_key, delivery_key, delivery_written, key, on_shelf, read_delivery,
};
use hapax_store::{Entry, JointEdit, Written};

use super::delivery::{courier_edit, remove};
use super::subscription::letter;
use crate::events::WebhookFact;
use crate::{Broker, Error};

/// How many deliveries one look fetches.
const PAGE: usize = 50;
/// How many deliveries one round makes, so that a busy endpoint gives way to stopping and to other things.
const DELIVERIES_MAX: usize = 200;
/// How long a server may send for a subscription without saying so again. With many servers on one database, the others
/// take over after this.
const LEASE: Duration = Duration::from_secs(90);
/// What is left of a lease before it is prolonged: longer than a request may take.
const LEASE_MARGIN: Duration = Duration::from_secs(45);

/// When a subscription is to be looked at again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// When something was stored for it.
    Mail,
    /// At that moment.
    At(Timestamp),
}

/// One look at a subscription.
pub(super) struct Round {
    pub(super) broker: Broker,
    pub(super) id: SubscriptionId,
    /// Set when the server is to stop.
    pub(super) stopping: Arc<AtomicBool>,
}

impl Round {
    /// Sends what waits.
    pub(super) async fn run(self) -> Result<Next, Error> {
        let store = &self.broker.shared.store;
        let waiting = store.entries(on_shelf(self.id, Shelf::Pending, None, 1)).await?.entries;
        let Some(first) = waiting.first() else { return Ok(Next::Mail) };
        // Looked at often, and written down by nobody.
        if let Some(at) = read_delivery(first).and_then(|first| due_later(&first, self.broker.now())) {
            return Ok(Next::At(at));
        }
        let Some(mut courier) = self.take_charge().await? else { return Ok(Next::Mail) };
        self.broker.trim(self.id).await?;
        let mut sent = 0;
        let next = loop {
            let page = store.entries(on_shelf(self.id, Shelf::Pending, None, PAGE)).await?;
            if page.entries.is_empty() {
                break Next::Mail;
            }
            let mut stop = None;
            for entry in &page.entries {
                let Some(delivery) = read_delivery(entry) else {
                    tracing::error!(name = %entry.key.name, "a damaged delivery is thrown away");
                    self.broker.commit(self.broker.now(), vec![remove(entry.key.clone())]).await?;
                    continue;
                };
                stop = self.send(&delivery, &mut courier).await?;
                sent += 1;
                if stop.is_some() {
                    break;
                }
            }
            if let Some(next) = stop {
                break next;
            }
            if sent >= DELIVERIES_MAX {
                break Next::At(self.broker.now());
            }
        };
        if sent > 0 {
            self.broker.prune(self.id).await?;
        }
        Ok(next)
    }

    /// Sends one, unless its time has not come. Says when to go on, if not at once.
    async fn send(&self, delivery: &Delivery, courier: &mut Courier) -> Result<Option<Next>, Error> {
        let now = self.broker.now();
        if let Some(at) = due_later(delivery, now) {
            return Ok(Some(Next::At(at)));
        }
        if let Some(at) = courier.circuit.probe_at.filter(|at| *at > now) {
            return Ok(Some(Next::At(at)));
        }
        let is_short = |(_, until): (u32, Timestamp)| until < now + LEASE_MARGIN;
        if courier.sender.is_some_and(is_short) {
            match self.take_charge().await? {
                Some(prolonged) => *courier = prolonged,
                None => return Ok(Some(Next::Mail)),
            }
        }
        let outbox = &self.broker.shared.outbox;
        let subscription = outbox.subscription(self.id).filter(|subscription| subscription.active);
        let Some(subscription) = subscription.filter(|_| !self.stopping.load(Ordering::Acquire)) else {
            return Ok(Some(Next::Mail));
        };
        let after = self.attempt(&subscription, delivery, now).await;
        let stands = self.record(&subscription, delivery, &after, courier).await?;
        self.broker.tell(WebhookFact::attempted(&after), self.id);
        let Some(stands) = stands else { return Ok(None) };
        Ok(match (stands.step, courier.circuit.probe_at) {
            (Step::Pending { next_at }, probe_at) => {
                Some(Next::At(probe_at.map_or(next_at, |probe_at| next_at.max(probe_at))))
            }
            (Step::Dead { .. }, Some(at)) => Some(Next::At(at)),
            (Step::Delivered { .. } | Step::Dead { .. }, _) => None,
        })
    }

    async fn attempt(&self, subscription: &Subscription, delivery: &Delivery, now: Timestamp) -> Delivery {
        let outbox = &self.broker.shared.outbox;
        let response = outbox.carrier().carry(letter(subscription, delivery, now)).await;
        delivery.after(&response, now, self.broker.now().since(now))
    }

    /// Writes down how it went, in one commit. What was taken away meanwhile does not come back, with its subscription or
    /// without; what was asked for again, or is to go elsewhere by now, has not failed. Where it stands by now, unless it or
    /// its subscription is gone.
    async fn record(
        &self,
        subscription: &Subscription,
        sent: &Delivery,
        after: &Delivery,
        courier: &mut Courier,
    ) -> Result<Option<Delivery>, Error> {
        let now = self.broker.now();
        let id = after.id;
        let (text, place, sent) = (delivery_written(after), Shelf::of(after.step), sent.clone());
        let last = after.last.as_ref().map(|attempt| (attempt.at, attempt.status));
        let (name, endpoint) = (self.id.to_string(), subscription.endpoint.clone());
        // One that waits goes to no other place, and its own place serves for it.
        let ended = if place == Shelf::Dead { Shelf::Dead } else { Shelf::Delivered };
        let keys = vec![
            delivery_key(id, Shelf::Pending),
            delivery_key(id, ended),
            courier_key(self.id),
            key(self.id),
        ];
        let edit = JointEdit::new(move |[pending, other, courier, subscription]| {
            let as_it_was = [pending, other, courier, subscription].map(Option::<&Written>::cloned);
            let (Some(waiting), Some(_)) = (pending, subscription) else { return Ok(as_it_was) };
            let is_other = |written: &Written| {
                webhook::read(&name, &written.body).is_ok_and(|known| known.endpoint != endpoint)
            };
            let is_asked_for = delivery::read(id, &waiting.body).is_ok_and(|stands| stands != sent);
            let has_failed = place != Shelf::Delivered;
            if has_failed && (is_asked_for || subscription.is_some_and(is_other)) {
                return Ok(as_it_was);
            }
            let went = courier_edit(move |courier| {
                courier.circuit =
                    if has_failed { courier.circuit.after_failure(now) } else { Circuit::CLOSED };
                courier.last = last;
            });
            let [_, other, _, subscription] = as_it_was;
            let (pending, other) = match place {
                Shelf::Pending => (Some(text.clone()), other),
                Shelf::Delivered | Shelf::Dead => (None, Some(text.clone())),
            };
            Ok([pending, other, went.apply(courier)?, subscription])
        });
        let entries = self.broker.edit_together(now, keys, edit).await?;
        let known = |entry: &Entry| courier::read(&entry.written.body).ok();
        courier.circuit = entries.get(2).and_then(Option::as_ref).and_then(known).unwrap_or_default().circuit;
        let is_gone = entries.last().is_none_or(Option::is_none);
        if is_gone || subscription_of(&entries).is_some_and(|known| known.endpoint != subscription.endpoint) {
            // Another server has changed or removed it, and this one has not looked since.
            self.broker.load_outbox().await?;
        }
        if is_gone {
            return Ok(None);
        }
        Ok(entries.iter().take(2).flatten().find_map(read_delivery))
    }

    /// Makes this server the one that sends for the subscription; nothing if another one does, or if the subscription is
    /// gone. A store that has its data to itself needs nobody to say so.
    async fn take_charge(&self) -> Result<Option<Courier>, Error> {
        if !self.broker.shared.store.is_shared() {
            return self.broker.courier(self.id).await.map(Some);
        }
        let (now, mark) = (self.broker.now(), self.broker.shared.outbox.mark());
        let edit = courier_edit(move |courier| {
            if courier.sender.is_none_or(|(sender, until)| sender == mark || until <= now) {
                courier.sender = Some((mark, now + LEASE));
            }
        });
        let edit = JointEdit::new(move |[courier, subscription]: [Option<&Written>; 2]| {
            let taken = if subscription.is_some() { edit.apply(courier)? } else { courier.cloned() };
            Ok([taken, subscription.cloned()])
        });
        let entries = self.broker.edit_together(now, vec![courier_key(self.id), key(self.id)], edit).await?;
        let [Some(entry), Some(_)] = &entries[..] else { return Ok(None) };
        let courier = courier::read(&entry.written.body).ok();
        Ok(courier.filter(|courier| courier.sender.is_some_and(|(sender, _)| sender == mark)))
    }
}

/// When a delivery is to be sent whose time has not come.
fn due_later(delivery: &Delivery, now: Timestamp) -> Option<Timestamp> {
    match delivery.step {
        Step::Pending { next_at } => Some(next_at).filter(|at| *at > now),
        Step::Delivered { .. } | Step::Dead { .. } => None,
    }
}

/// The subscription as it stands among what was recorded.
fn subscription_of(entries: &[Option<Entry>]) -> Option<Subscription> {
    let entry = entries.last()?.as_ref()?;
    webhook::read(&entry.key.name, &entry.written.body).ok()
}
