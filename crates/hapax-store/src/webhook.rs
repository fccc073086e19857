//! Webhooks in a store: how their entries are named.

use std::sync::Arc;

use hapax_core::webhook::{Delivery, DeliveryId, Sequence, Step, Subscription, SubscriptionId};

use crate::record::{delivery, webhook};
use crate::{Entry, EntryKey, EntryQuery, Register, Written};

/// The parts of the register of deliveries, in their order there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shelf {
    /// Those that arrived.
    Delivered,
    /// Those that were given up.
    Dead,
    /// Those that are to be sent.
    Pending,
}

impl Shelf {
    /// All of them.
    pub const ALL: [Shelf; 3] = [Shelf::Delivered, Shelf::Dead, Shelf::Pending];

    /// Where a delivery stands that is at this step.
    pub const fn of(step: Step) -> Shelf {
        match step {
            Step::Pending { .. } => Shelf::Pending,
            Step::Delivered { .. } => Shelf::Delivered,
            Step::Dead { .. } => Shelf::Dead,
        }
    }

    const fn letter(self) -> char {
        match self {
            Shelf::Delivered => 'd',
            Shelf::Dead => 'f',
            Shelf::Pending => 'p',
        }
    }
}

/// The entry of a subscription.
pub fn key(id: SubscriptionId) -> EntryKey {
    EntryKey::new(Register::Webhook, id.to_string())
}

/// What the entry of a subscription says.
pub fn written(subscription: &Subscription) -> Written {
    Written { body: webhook::write(subscription).into(), due_at: None }
}

/// The entry that says how the deliveries of a subscription go.
pub fn courier_key(id: SubscriptionId) -> EntryKey {
    EntryKey::new(Register::Courier, id.to_string())
}

/// The entry of a delivery on that shelf.
pub fn delivery_key(id: DeliveryId, shelf: Shelf) -> EntryKey {
    let DeliveryId { subscription, sequence } = id;
    EntryKey::new(Register::Delivery, format!("{subscription}/{}/{sequence}", shelf.letter()))
}

/// What the entry of a delivery says.
pub fn delivery_written(delivery: &Delivery) -> Written {
    Written { body: delivery::write(delivery).into(), due_at: None }
}

/// The delivery of which an entry tells; nothing if it cannot be read.
pub fn read_delivery(entry: &Entry) -> Option<Delivery> {
    let (id, _) = parse_delivery(&entry.key.name)?;
    delivery::read(id, &entry.written.body).ok()
}

/// Which delivery an entry is about, and where it stands.
pub fn parse_delivery(name: &str) -> Option<(DeliveryId, Shelf)> {
    let mut parts = name.split('/');
    let (subscription, letter, sequence) = (parts.next()?, parts.next()?, parts.next()?);
    let shelf = Shelf::ALL.into_iter().find(|shelf| letter.chars().eq([shelf.letter()]))?;
    let id = DeliveryId { subscription: subscription.parse().ok()?, sequence: sequence.parse().ok()? };
    parts.next().is_none().then_some((id, shelf))
}

/// The deliveries of a subscription on a shelf, in their order; after that place, if one is given.
pub fn on_shelf(
    subscription: SubscriptionId,
    shelf: Shelf,
    after: Option<Sequence>,
    limit: usize,
) -> EntryQuery {
    let name = |sequence| delivery_key(DeliveryId { subscription, sequence }, shelf).name;
    let prefix = format!("{subscription}/{}/", shelf.letter());
    EntryQuery { register: Register::Delivery, prefix: prefix.into(), after: after.map(name), limit }
}

/// All deliveries of a subscription.
pub fn of_subscription(subscription: SubscriptionId, limit: usize) -> EntryQuery {
    let prefix = format!("{subscription}/").into();
    EntryQuery { register: Register::Delivery, prefix, after: None, limit }
}

/// The first delivery of a subscription after this one, whatever it is called: to find who has any at all.
pub fn after_subscription(name: Option<&str>) -> EntryQuery {
    // A slash stands before every zero.
    let after = name.and_then(|name| name.split('/').next()).map(|id| Arc::from(format!("{id}0")));
    EntryQuery { register: Register::Delivery, prefix: "".into(), after, limit: 1 }
}

#[cfg(test)]
mod tests {
    use hapax_core::Timestamp;

    use super::*;

    #[test]
    fn names_of_deliveries_keep_what_they_say_and_sort_by_place() {
        let subscription = SubscriptionId::new(Timestamp::from_millis(5), [3; 10]);
        let id = |number| DeliveryId { subscription, sequence: Sequence { number, mark: 7 } };
        let name = |number| delivery_key(id(number), Shelf::Pending).name;
        assert_eq!(parse_delivery(&name(9)), Some((id(9), Shelf::Pending)));
        assert!([name(1), name(2), name(16), name(u64::MAX)].is_sorted());
        assert!(name(1).starts_with(&*on_shelf(subscription, Shelf::Pending, None, 1).prefix));
        let next = after_subscription(Some(&name(1))).after.unwrap();
        assert!(*next > *name(u64::MAX));
        for text in ["", "a/b/c", &format!("{}/x", name(1)), &name(1).replace("/p/", "/q/")] {
            assert_eq!(parse_delivery(text), None, "{text}");
        }
    }
}
