//! What an operator does while a delivery is on its way.

use std::sync::atomic::Ordering;
use std::time::Duration;

use hapax_core::Refusal;
use hapax_core::webhook::{Delivery, Endpoint, Reach, Subscription};
use hapax_store::webhook::Shelf;

use super::{Rig, rig};
use crate::testing::{pass, settle};
use crate::webhook::outbox::TESTS_MAX;
use crate::webhook::{DeliveryFilter, SUBSCRIPTIONS_MAX, SubscriptionPatch};
use crate::{Broker, Error};

const SECOND: Duration = Duration::from_secs(1);

impl Rig {
    /// A subscription to which one delivery is on its way since a moment.
    async fn with_one_on_its_way(&self) -> (Subscription, Delivery) {
        let subscription = self.subscribe(&["job.*"]).await;
        self.courier();
        self.enqueue(1).await;
        pass(Duration::from_millis(10)).await;
        let delivery = self.only_delivery(&subscription).await;
        (subscription, delivery)
    }

    async fn only_delivery(&self, subscription: &Subscription) -> Delivery {
        let filter = DeliveryFilter { subscription: Some(subscription.id), shelf: None };
        let mut page = self.broker.deliveries(filter, None, 10).await.unwrap();
        assert_eq!(page.total, 1);
        page.deliveries.pop().unwrap()
    }

    /// From here on a look at an entry is answered late, by what was there when it was asked.
    fn answer_late(&self, span: Duration) {
        self.store.late_ms.store(u64::try_from(span.as_millis()).unwrap(), Ordering::Relaxed);
    }
}

fn elsewhere() -> SubscriptionPatch {
    let endpoint = Endpoint::parse("https://example.com/other", Reach::Public).unwrap();
    SubscriptionPatch { endpoint: Some(endpoint), ..SubscriptionPatch::default() }
}

fn switched(active: bool) -> SubscriptionPatch {
    SubscriptionPatch { active: Some(active), ..SubscriptionPatch::default() }
}

async fn change(broker: &Broker, subscription: &Subscription, patch: SubscriptionPatch) {
    broker.change_subscription(subscription.id, patch).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_arrives_while_it_is_asked_for_again_is_not_sent_twice() {
    let rig = rig(&[], SECOND * 7 / 2);
    let (subscription, delivery) = rig.with_one_on_its_way().await;
    pass(SECOND).await;
    rig.answer_late(SECOND);
    let broker = rig.broker.clone();
    let asked = tokio::spawn(async move { broker.retry_delivery(delivery.id).await });
    pass(SECOND * 60).await;
    asked.await.unwrap().unwrap();
    rig.answer_late(Duration::ZERO);
    assert_eq!(rig.times(), [0]);
    assert_eq!(rig.only_delivery(&subscription).await.step.name(), "delivered");
}

#[tokio::test(start_paused = true)]
async fn one_that_was_given_up_and_is_asked_for_twice_is_sent_once() {
    let rig = rig(&[410], SECOND / 2);
    let (subscription, delivery) = rig.with_one_on_its_way().await;
    pass(SECOND * 2).await;
    rig.answer_late(SECOND * 10);
    let broker = rig.broker.clone();
    let early = tokio::spawn(async move { broker.retry_delivery(delivery.id).await });
    pass(SECOND * 11).await;
    rig.answer_late(Duration::ZERO);
    let late = rig.broker.retry_delivery(delivery.id).await;
    assert!(matches!(late, Err(Error::Refused(Refusal::DeliveryArrived(_)))), "{late:?}");
    pass(SECOND * 60).await;
    early.await.unwrap().unwrap();
    assert_eq!(rig.times().len(), 2, "the first time, and once more");
    assert_eq!(rig.only_delivery(&subscription).await.step.name(), "delivered");
}

#[tokio::test(start_paused = true)]
async fn one_that_fails_while_it_is_asked_for_again_is_sent_again_at_once() {
    let rig = rig(&[500], SECOND * 5);
    let (subscription, delivery) = rig.with_one_on_its_way().await;
    pass(SECOND).await;
    let revived = rig.broker.retry_delivery(delivery.id).await.unwrap();
    assert_eq!(revived.attempts, 0);
    pass(SECOND * 15).await;
    assert_eq!(rig.times(), [0, 5]);
    let arrived = rig.only_delivery(&subscription).await;
    assert_eq!((arrived.step.name(), arrived.attempts), ("delivered", 1));
}

#[tokio::test(start_paused = true)]
async fn a_delivery_is_found_also_while_it_goes_from_shelf_to_shelf() {
    let rig = rig(&[410], SECOND * 3 / 2);
    let (_, delivery) = rig.with_one_on_its_way().await;
    rig.answer_late(SECOND);
    let id = delivery.id;
    let looked = || {
        let broker = rig.broker.clone();
        tokio::spawn(async move { broker.delivery(id).await })
    };
    let while_it_is_given_up = looked();
    pass(SECOND * 10).await;
    while_it_is_given_up.await.unwrap().unwrap();
    let while_it_is_revived = looked();
    pass(SECOND / 2).await;
    rig.answer_late(Duration::ZERO);
    rig.broker.retry_delivery(id).await.unwrap();
    pass(SECOND * 10).await;
    while_it_is_revived.await.unwrap().unwrap();
    rig.broker.forget_deliveries(id.subscription).await.unwrap();
    let gone = rig.broker.delivery(id).await;
    assert!(matches!(gone, Err(Error::Refused(Refusal::NoEntry { .. }))), "{gone:?}");
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_away_during_an_attempt_does_not_come_back() {
    let rig = rig(&[], SECOND * 5);
    let (_, delivery) = rig.with_one_on_its_way().await;
    rig.broker.forget_deliveries(delivery.id.subscription).await.unwrap();
    pass(SECOND * 10).await;
    let all = rig.broker.deliveries(DeliveryFilter::default(), None, 10).await.unwrap();
    assert_eq!(all.total, 0);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_leads_elsewhere_or_is_switched_on_is_tried_at_once() {
    let rig = rig(&[500, 500], Duration::ZERO);
    let (subscription, _) = rig.with_one_on_its_way().await;
    rig.enqueue(1).await;
    pass(SECOND).await;
    change(&rig.broker, &subscription, elsewhere()).await;
    pass(SECOND).await;
    assert_eq!(rig.times(), [0, 1]);
    change(&rig.broker, &subscription, switched(false)).await;
    pass(SECOND).await;
    change(&rig.broker, &subscription, switched(true)).await;
    pass(SECOND).await;
    assert_eq!(rig.times(), [0, 1, 3, 3], "with the one behind it");
}

#[tokio::test(start_paused = true)]
async fn also_one_that_waits_behind_another_is_tried_at_once_elsewhere() {
    let rig = rig(&[410, 500, 500], Duration::ZERO);
    let (subscription, first) = rig.with_one_on_its_way().await;
    rig.enqueue(1).await;
    pass(SECOND).await;
    rig.broker.retry_delivery(first.id).await.unwrap();
    pass(SECOND).await;
    assert_eq!((rig.times(), rig.pending(&subscription).await), (vec![0, 0, 1], 2), "both have failed");
    change(&rig.broker, &subscription, elsewhere()).await;
    pass(SECOND).await;
    assert_eq!((rig.times(), rig.pending(&subscription).await), (vec![0, 0, 1, 2, 2], 0));
}

#[tokio::test(start_paused = true)]
async fn a_failure_at_the_old_endpoint_is_no_failure_of_the_new_one() {
    let rig = rig(&[500; 5], SECOND * 5);
    let (subscription, _) = rig.with_one_on_its_way().await;
    pass(SECOND).await;
    change(&rig.broker, &subscription, elsewhere()).await;
    pass(SECOND * 5).await;
    assert_eq!(rig.times(), [0, 5]);
    let endpoints: Vec<String> =
        rig.script.sent.lock().unwrap().iter().map(|(_, letter)| letter.endpoint.url().to_owned()).collect();
    assert_eq!(endpoints, ["https://example.com/hook", "https://example.com/other"]);
    let failures = rig.broker.subscription(subscription.id).await.unwrap().courier.circuit.failures;
    assert_eq!(failures, 0);
}

#[tokio::test(start_paused = true)]
async fn a_circuit_that_was_closed_during_an_attempt_is_not_opened_by_what_was_before() {
    let rig = rig(&[404; 6], SECOND * 5);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(8).await;
    // Four have failed, the fifth is on its way.
    pass(SECOND * 22).await;
    change(&rig.broker, &subscription, switched(true)).await;
    pass(SECOND * 4).await;
    let circuit = rig.broker.subscription(subscription.id).await.unwrap().courier.circuit;
    assert_eq!((circuit.failures, circuit.probe_at), (0, None));
    pass(SECOND * 60).await;
    assert_eq!(rig.pending(&subscription).await, 0);
    let filter = DeliveryFilter { subscription: Some(subscription.id), shelf: Some(Shelf::Dead) };
    assert_eq!(rig.broker.deliveries(filter, None, 10).await.unwrap().total, 5);
}

#[tokio::test(start_paused = true)]
async fn of_many_who_subscribe_at_once_no_more_are_let_in_than_there_is_room_for() {
    let rig = rig(&[], Duration::ZERO);
    rig.store.hold();
    let asking: Vec<_> = (0..SUBSCRIPTIONS_MAX + 20)
        .map(|_| {
            let (broker, draft) = (rig.broker.clone(), super::subscription_draft(&["job.*"]));
            tokio::spawn(async move { broker.add_subscription(draft).await })
        })
        .collect();
    settle().await;
    rig.store.release();
    let mut refused = 0;
    for asked in asking {
        match asked.await.unwrap() {
            Ok(_) => {}
            Err(Error::Refused(Refusal::RegisterFull { max: SUBSCRIPTIONS_MAX, .. })) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    let page = rig.broker.subscriptions(None, 0, 500).await.unwrap();
    assert_eq!((refused, page.total), (20, SUBSCRIPTIONS_MAX as u64));
}

#[tokio::test(start_paused = true)]
async fn whoever_finds_all_places_for_tests_taken_is_told_so_at_once() {
    let rig = rig(&[], SECOND * 30);
    let id = rig.subscribe(&["job.*"]).await.id;
    let test = || {
        let broker = rig.broker.clone();
        tokio::spawn(async move { broker.test_subscription(id).await })
    };
    let under_way: Vec<_> = (0..TESTS_MAX).map(|_| test()).collect();
    settle().await;
    let before = rig.broker.now();
    let one_more = test().await.unwrap();
    assert!(matches!(one_more, Err(Error::Busy)), "{one_more:?}");
    assert_eq!(rig.broker.now(), before);
    for test in under_way {
        test.await.unwrap().unwrap();
    }
    test().await.unwrap().unwrap();
}
