//! Keeping the register of deliveries short: what is too much, too old or for nobody.

use std::sync::Arc;

use hapax_core::webhook::SubscriptionId;
use hapax_store::webhook::{
    Shelf, after_subscription, courier_key, key, of_subscription, on_shelf, parse_delivery,
};
use hapax_store::{Action, Entry, EntryKey, EntryPage, EntryQuery, JointEdit, Register};

use super::delivery::{courier_edit, remove};
use super::{DELIVERIES_DEAD_KEPT, DELIVERIES_KEPT, OUTBOX_MAX};
use crate::{Broker, Error};

/// How many entries are removed in one commit.
const BATCH: usize = 500;

impl Broker {
    /// Throws the oldest deliveries of a subscription away that are too many, and counts them.
    pub(super) async fn trim(&self, id: SubscriptionId) -> Result<(), Error> {
        loop {
            let page = self.shared.store.entries(on_shelf(id, Shelf::Pending, None, BATCH)).await?;
            let Some(surplus) = surplus(&page, OUTBOX_MAX) else { return Ok(()) };
            self.throw_away(id, surplus).await?;
            let count = surplus.len();
            tracing::warn!(
                subscription = %id,
                "more than {OUTBOX_MAX} deliveries wait; the {count} oldest were thrown away"
            );
        }
    }

    /// Counts in the same step those that no other server has thrown away or sent meanwhile.
    pub(super) async fn throw_away(&self, id: SubscriptionId, surplus: &[Entry]) -> Result<(), Error> {
        let keys = [courier_key(id)].into_iter().chain(surplus.iter().map(|entry| entry.key.clone()));
        let edit = JointEdit::of_all(|before| {
            let (courier, deliveries) = before.split_first().unzip();
            let there = deliveries.unwrap_or_default().iter().flatten().count() as u64;
            let counted = courier_edit(move |courier| courier.dropped += there);
            let mut after = vec![None; before.len()];
            if let Some(first) = after.first_mut() {
                *first = counted.apply(courier.and_then(Option::as_ref))?;
            }
            Ok(after)
        });
        self.edit_together(self.now(), keys.collect(), edit).await.map(drop)
    }

    /// Forgets the oldest deliveries that arrived or were given up.
    pub(super) async fn prune(&self, id: SubscriptionId) -> Result<(), Error> {
        for (shelf, kept) in [(Shelf::Delivered, DELIVERIES_KEPT), (Shelf::Dead, DELIVERIES_DEAD_KEPT)] {
            let page = self.shared.store.entries(on_shelf(id, shelf, None, BATCH)).await?;
            if let Some(surplus) = surplus(&page, kept) {
                self.commit(self.now(), removals(surplus).collect()).await?;
            }
        }
        Ok(())
    }

    /// Removes all deliveries of a subscription.
    pub(super) async fn forget_deliveries(&self, id: SubscriptionId) -> Result<(), Error> {
        loop {
            let page = self.shared.store.entries(of_subscription(id, BATCH)).await?;
            if page.entries.is_empty() {
                return Ok(());
            }
            self.commit(self.now(), removals(&page.entries).collect()).await?;
        }
    }

    /// Removes what is left of subscriptions that are gone: something may have been stored while its subscription was
    /// removed.
    pub(super) async fn sweep(&self) -> Result<(), Error> {
        self.sweep_deliveries().await?;
        self.sweep_couriers().await
    }

    async fn sweep_deliveries(&self) -> Result<(), Error> {
        let mut last: Option<Entry> = None;
        loop {
            let name = last.as_ref().map(|entry| &*entry.key.name);
            let page = self.shared.store.entries(after_subscription(name)).await?;
            let Some(entry) = page.entries.into_iter().next() else { return Ok(()) };
            match parse_delivery(&entry.key.name) {
                Some((id, _)) if self.shared.store.entry(key(id.subscription)).await?.is_none() => {
                    self.forget_deliveries(id.subscription).await?;
                }
                Some(_) => {}
                None => drop(self.commit(self.now(), vec![remove(entry.key.clone())]).await?),
            }
            last = Some(entry);
        }
    }

    async fn sweep_couriers(&self) -> Result<(), Error> {
        let mut after = None;
        loop {
            let query = EntryQuery { register: Register::Courier, prefix: "".into(), after, limit: BATCH };
            let page = self.shared.store.entries(query).await?;
            for Entry { key, .. } in &page.entries {
                let subscription = EntryKey::new(Register::Webhook, Arc::clone(&key.name));
                if self.shared.store.entry(subscription).await?.is_none() {
                    self.commit(self.now(), vec![remove(key.clone())]).await?;
                }
            }
            after = page.entries.last().map(|entry| Arc::clone(&entry.key.name)).filter(|_| page.has_more);
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

/// The oldest that are too many, as far as they are on the page.
fn surplus(page: &EntryPage, kept: usize) -> Option<&[Entry]> {
    let total = usize::try_from(page.total).unwrap_or(usize::MAX);
    let surplus = total.checked_sub(kept).filter(|surplus| *surplus > 0)?;
    Some(&page.entries[..surplus.min(page.entries.len())]).filter(|surplus| !surplus.is_empty())
}

fn removals(entries: &[Entry]) -> impl Iterator<Item = Action> {
    entries.iter().map(|entry| remove(entry.key.clone()))
}
