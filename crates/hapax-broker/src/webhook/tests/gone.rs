//! Subscriptions that are removed while something is done for them leave nothing behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hapax_core::webhook::{Subscription, SubscriptionId};
use hapax_store::webhook::{courier_key, key};

use super::{Rig, rig};
use crate::testing::pass;
use crate::webhook::DeliveryFilter;
use crate::webhook::delivery::{courier_edit, remove};
use crate::webhook::round::{Next, Round};

const SECOND: Duration = Duration::from_secs(1);

impl Rig {
    /// A subscription with one delivery that waits.
    async fn with_one_that_waits(&self) -> Subscription {
        let subscription = self.subscribe(&["job.*"]).await;
        self.enqueue(1).await;
        subscription
    }

    /// As if it were removed, as far as the first commit of that.
    async fn begin_removal(&self, id: SubscriptionId) {
        let actions = vec![remove(key(id)), remove(courier_key(id))];
        self.broker.commit(self.broker.now(), actions).await.unwrap();
    }

    async fn has_courier(&self, id: SubscriptionId) -> bool {
        self.broker.shared.store.entry(courier_key(id)).await.unwrap().is_some()
    }

    fn round(&self, id: SubscriptionId) -> Round {
        Round { broker: self.broker.clone(), id, stopping: Arc::new(AtomicBool::new(false)) }
    }
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_fails_after_its_subscription_was_removed_is_not_recorded() {
    let rig = rig(&[500, 500], SECOND * 5);
    let subscription = rig.with_one_that_waits().await;
    let round = tokio::spawn(rig.round(subscription.id).run());
    pass(SECOND).await;
    rig.begin_removal(subscription.id).await;
    pass(SECOND * 20).await;
    assert_eq!(round.await.unwrap().unwrap(), Next::Mail, "there is nobody to send to");
    assert!(!rig.has_courier(subscription.id).await);
    assert_eq!(rig.times(), [0]);
    assert!(rig.broker.shared.outbox.subscription(subscription.id).is_none());
    rig.broker.sweep().await.unwrap();
    assert_eq!(rig.broker.deliveries(DeliveryFilter::default(), None, 9).await.unwrap().total, 0);
}

#[tokio::test(start_paused = true)]
async fn nobody_takes_charge_of_a_subscription_that_is_gone() {
    let rig = rig(&[], Duration::ZERO);
    rig.store.shared.store(true, Ordering::Relaxed);
    let subscription = rig.with_one_that_waits().await;
    rig.begin_removal(subscription.id).await;
    assert_eq!(rig.round(subscription.id).run().await.unwrap(), Next::Mail);
    assert!(!rig.has_courier(subscription.id).await);
    assert_eq!(rig.sent(), []);
}

#[tokio::test(start_paused = true)]
async fn what_is_known_of_deliveries_goes_when_its_subscription_is_gone() {
    let rig = rig(&[], Duration::ZERO);
    let [gone, stays] = [rig.subscribe(&["*"]).await.id, rig.subscribe(&["*"]).await.id];
    rig.begin_removal(gone).await;
    for id in [gone, stays] {
        let late = courier_edit(|courier| courier.dropped = 3);
        rig.broker.edit(rig.broker.now(), courier_key(id), late).await.unwrap();
    }
    rig.broker.sweep().await.unwrap();
    assert_eq!([rig.has_courier(gone).await, rig.has_courier(stays).await], [false, true]);
}
