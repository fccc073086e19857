//! Deliveries as operators see them: looking at them, and sending one again.

use std::sync::Arc;

use hapax_core::webhook::{Circuit, Delivery, DeliveryId, Step, SubscriptionId};
use hapax_core::{Refusal, Timestamp};
use hapax_store::record::courier::{self, Courier};
use hapax_store::record::delivery;
use hapax_store::webhook::{
    Shelf, courier_key, delivery_key, delivery_written, of_subscription, on_shelf, parse_delivery,
    read_delivery,
};
use hapax_store::{Action, Done, Edit, Entry, EntryKey, EntryQuery, JointEdit, Register, Written};

use crate::{Broker, Error, answer};

/// How many entries one look fetches.
const PAGE: usize = 500;

/// Which deliveries are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeliveryFilter {
    /// Only those of this subscription.
    pub subscription: Option<SubscriptionId>,
    /// Only those that stand there; needs a subscription.
    pub shelf: Option<Shelf>,
}

/// Deliveries by subscription: those that arrived, then those that were given up, then those that wait; each in the order
/// of the events.
#[derive(Debug, Clone)]
pub struct DeliveryPage {
    /// The deliveries.
    pub deliveries: Vec<Delivery>,
    /// Where to go on, if there are more after these.
    pub next: Option<Arc<str>>,
    /// How many there are.
    pub total: u64,
}

impl Broker {
    /// Deliveries.
    pub async fn deliveries(
        &self,
        filter: DeliveryFilter,
        after: Option<&str>,
        limit: usize,
    ) -> Result<DeliveryPage, Error> {
        let query = match (filter.subscription, filter.shelf) {
            (Some(id), Some(place)) => on_shelf(id, place, None, limit),
            (Some(id), None) => of_subscription(id, limit),
            (None, _) => EntryQuery { register: Register::Delivery, prefix: "".into(), after: None, limit },
        };
        let page = self.shared.store.entries(EntryQuery { after: after.map(Arc::from), ..query }).await?;
        let next = page.entries.last().map(|entry| Arc::clone(&entry.key.name)).filter(|_| page.has_more);
        let deliveries = page.entries.iter().filter_map(read_delivery).collect();
        Ok(DeliveryPage { deliveries, next, total: page.total })
    }

    /// One delivery, wherever it stands.
    pub async fn delivery(&self, id: DeliveryId) -> Result<Delivery, Error> {
        for shelf in Shelf::ALL {
            let entry = self.shared.store.entry(delivery_key(id, shelf)).await?;
            if let Some(delivery) = entry.as_ref().and_then(read_delivery) {
                return Ok(delivery);
            }
        }
        // It may have gone from a shelf that was still to be looked at to one that was not: all of them at once.
        let keys = Shelf::ALL.map(|shelf| delivery_key(id, shelf)).to_vec();
        let edit = JointEdit::new(|before: [_; Shelf::ALL.len()]| Ok(before.map(Option::<&Written>::cloned)));
        let found = self.edit_together(self.now(), keys, edit).await?;
        let found = found.iter().flatten().find_map(read_delivery);
        found.ok_or_else(|| missing(id).into())
    }

    /// Sends a delivery again that was given up, or that waits for its next attempt: it is as if it had never been tried.
    pub async fn retry_delivery(&self, id: DeliveryId) -> Result<Delivery, Error> {
        let now = self.now();
        let shelves = [Shelf::Pending, Shelf::Dead, Shelf::Delivered];
        let keys =
            shelves.map(|shelf| delivery_key(id, shelf)).into_iter().chain([courier_key(id.subscription)]);
        let edit = JointEdit::new(move |[pending, dead, delivered, courier]| {
            if pending.or(dead).is_none() && delivered.is_some() {
                return Err(Refusal::DeliveryArrived(id));
            }
            let stands = pending.or(dead).and_then(|written| delivery::read(id, &written.body).ok());
            let revived = stands.ok_or_else(|| missing(id))?.revived(now);
            let courier = courier_edit(|courier| courier.circuit = Circuit::CLOSED).apply(courier)?;
            Ok([Some(delivery_written(&revived)), None, delivered.cloned(), courier])
        });
        let entries = self.edit_together(now, keys.collect(), edit).await?;
        let revived = entries.iter().flatten().find_map(read_delivery).ok_or_else(|| missing(id))?;
        self.shared.outbox.hurry(id.subscription);
        Ok(revived)
    }

    /// Forgets how the last attempts went, and has everything that waits for a subscription sent now: the first, which may
    /// be on its way, and those behind it that were tried before.
    pub(super) async fn begin_anew(&self, id: SubscriptionId, now: Timestamp) -> Result<(), Error> {
        let closed = courier_edit(|courier| courier.circuit = Circuit::CLOSED);
        let mut actions = vec![Action::Edit { key: courier_key(id), edit: closed }];
        let (mut after, mut is_first) = (None, true);
        loop {
            let page = self.shared.store.entries(on_shelf(id, Shelf::Pending, after, PAGE)).await?;
            for delivery in page.entries.iter().filter_map(read_delivery) {
                let waits = matches!(delivery.step, Step::Pending { next_at } if next_at > now);
                if waits || is_first {
                    actions.push(revival(delivery.id, now));
                }
                is_first = false;
            }
            self.commit(now, std::mem::take(&mut actions)).await?;
            let last = page.entries.last().filter(|_| page.has_more);
            after = last.and_then(|entry| parse_delivery(&entry.key.name)).map(|(id, _)| id.sequence);
            if after.is_none() {
                break;
            }
        }
        self.shared.outbox.hurry(id);
        Ok(())
    }

    /// Changes several entries together. What each says by now.
    pub(super) async fn edit_together(
        &self,
        now: Timestamp,
        keys: Vec<EntryKey>,
        edit: JointEdit,
    ) -> Result<Vec<Option<Entry>>, Error> {
        match self.commit_one(now, Action::EditTogether { keys, edit }).await? {
            Done::EditedTogether(entries) => Ok(entries),
            _ => Err(answer::another_question()),
        }
    }
}

/// Has a delivery sent now, if it still waits.
fn revival(id: DeliveryId, now: Timestamp) -> Action {
    let edit = Edit::new(move |before: Option<&Written>| {
        let revived = |written: &Written| match delivery::read(id, &written.body) {
            Ok(delivery) => delivery_written(&delivery.revived(now)),
            Err(_) => written.clone(),
        };
        Ok(before.map(revived))
    });
    Action::Edit { key: delivery_key(id, Shelf::Pending), edit }
}

pub(super) fn remove(key: EntryKey) -> Action {
    Action::Edit { key, edit: Edit::new(|_| Ok(None)) }
}

/// Changes what is known of how the deliveries of a subscription go. What cannot be read begins anew.
pub(super) fn courier_edit(change: impl Fn(&mut Courier) + Send + Sync + 'static) -> Edit {
    Edit::new(move |before: Option<&Written>| {
        let known = before.and_then(|written| courier::read(&written.body).ok());
        let mut courier = known.clone().unwrap_or_default();
        change(&mut courier);
        if known.is_none() && courier == Courier::default() {
            return Ok(before.cloned());
        }
        Ok(Some(Written { body: courier::write(&courier).into(), due_at: None }))
    })
}

fn missing(id: DeliveryId) -> Refusal {
    Refusal::NoEntry { register: Register::Delivery.name(), name: id.to_string().into() }
}
