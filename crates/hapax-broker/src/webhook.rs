//! Webhooks: who subscribes to events, and how events get to them.

mod carrier;
mod courier;
mod delivery;
mod outbox;
mod round;
mod subscription;
mod sweep;
#[cfg(test)]
mod tests;

pub use carrier::{Carrier, Letter};
pub use delivery::{DeliveryFilter, DeliveryPage};
pub use outbox::{Outbox, OutboxSettings, Render};
pub use subscription::{
    Probe, SUBSCRIPTIONS_MAX, SubscriptionDraft, SubscriptionPage, SubscriptionPatch, SubscriptionView,
};

/// How many deliveries may wait for one subscription. Beyond that the oldest are thrown away and counted: an endpoint
/// that is away for days must not fill the store.
pub const OUTBOX_MAX: usize = 10_000;
/// How many deliveries that arrived are kept of one subscription, about: the oldest go first.
pub const DELIVERIES_KEPT: usize = 100;
/// How many deliveries that were given up are kept of one subscription, about: the oldest go first.
pub const DELIVERIES_DEAD_KEPT: usize = 1000;
