//! Deliveries as a whole: order, retries, circuits, restarts, with time paused.

mod gone;
mod kinds;
mod meeting;

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hapax_core::webhook::{Endpoint, Pattern, Reach, Response, Subscription};
use hapax_core::{Rules, Timestamp};
use hapax_store::webhook::{Shelf, on_shelf};
use hapax_store::{MemoryStore, Store};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{
    Carrier, DELIVERIES_KEPT, DeliveryFilter, Letter, OUTBOX_MAX, Outbox, OutboxSettings, SubscriptionDraft,
    SubscriptionPatch,
};
use crate::testing::{FakeStore, START, draft, fetch, pass};
use crate::{Broker, Clock, Draft, Entropy, Error, EventFilter, EventQuery, NoObserver, Receipt};

/// Answers as it was told, and remembers what it was given.
#[derive(Debug)]
struct Script {
    start: Instant,
    /// What is answered; 200 after the last.
    answers: Mutex<VecDeque<u16>>,
    takes: Duration,
    sent: Mutex<Vec<(u64, Letter)>>,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
}

impl Carrier for Script {
    fn carry(&self, letter: Letter) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        Box::pin(async move {
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_under_way.fetch_max(now, Ordering::SeqCst);
            self.sent.lock().unwrap().push((self.start.elapsed().as_secs(), letter));
            pass(self.takes).await;
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            let status = self.answers.lock().unwrap().pop_front().unwrap_or(200);
            Response::Answered { status, retry_after: None }
        })
    }
}

#[derive(Debug)]
struct TestClock(Instant, AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        let millis = i64::try_from(self.0.elapsed().as_millis()).unwrap();
        Timestamp::from_millis(START + millis + self.1.load(Ordering::SeqCst))
    }
}

#[derive(Debug)]
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            let count = self.0.fetch_add(1, Ordering::SeqCst).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            // Mixed twice, so that no stretch of the row comes again.
            let mixed = (count ^ count >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            *byte = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb).to_be_bytes()[0];
        }
    }
}

struct Rig {
    broker: Broker,
    store: Arc<FakeStore>,
    script: Arc<Script>,
    clock: Arc<TestClock>,
}

fn settings(carrier: Arc<dyn Carrier>, mark: u8) -> OutboxSettings {
    OutboxSettings {
        rules: Rules::default(),
        reach: Reach::Public,
        mark: [mark; 4],
        render: Arc::new(|notice| format!("{} {}", notice.kind().name(), notice.event.at.millis() - START)),
        carrier,
    }
}

fn rig(answers: &[u16], takes: Duration) -> Rig {
    let start = Instant::now();
    let script = Arc::new(Script {
        start,
        answers: Mutex::new(answers.iter().copied().collect()),
        takes,
        sent: Mutex::default(),
        under_way: AtomicUsize::new(0),
        most_under_way: AtomicUsize::new(0),
    });
    let outbox = Arc::new(Outbox::new(settings(Arc::clone(&script) as _, 1)));
    let memory = MemoryStore::with_outbox(Rules::default(), Arc::clone(&outbox) as _);
    let store = Arc::new(FakeStore::over(memory));
    let clock = Arc::new(TestClock(start, AtomicI64::new(0)));
    let broker = broker(&store, &clock, outbox);
    Rig { broker, store, script, clock }
}

fn broker(store: &Arc<FakeStore>, clock: &Arc<TestClock>, outbox: Arc<Outbox>) -> Broker {
    Broker::with_outbox(
        Arc::clone(store) as Arc<dyn Store>,
        Arc::clone(clock) as _,
        Arc::new(Counting(AtomicU64::new(7))),
        Rules::default(),
        Arc::new(NoObserver),
        outbox,
    )
}

fn subscription_draft(events: &[&str]) -> SubscriptionDraft {
    SubscriptionDraft {
        endpoint: Endpoint::parse("https://example.com/hook", Reach::Public).unwrap(),
        events: events.iter().map(|text| Pattern::parse(text).unwrap()).collect(),
        queues: Vec::new(),
        job_types: Vec::new(),
        active: true,
        secret: None,
        metadata: None,
    }
}

impl Rig {
    async fn subscribe(&self, events: &[&str]) -> Subscription {
        self.broker.add_subscription(subscription_draft(events)).await.unwrap()
    }

    async fn enqueue(&self, count: usize) {
        for _ in 0..count {
            enqueue(&self.broker, draft()).await;
        }
    }

    fn courier(&self) -> JoinHandle<()> {
        let broker = self.broker.clone();
        tokio::spawn(async move { broker.run_webhooks(std::future::pending()).await })
    }

    /// What was sent so far: when, in seconds, and which event.
    fn sent(&self) -> Vec<(u64, String)> {
        let sent = self.script.sent.lock().unwrap();
        sent.iter().map(|(at, letter)| (*at, letter.body.to_string())).collect()
    }

    /// When something was sent.
    fn times(&self) -> Vec<u64> {
        self.sent().into_iter().map(|(at, _)| at).collect()
    }

    async fn pending(&self, subscription: &Subscription) -> u64 {
        self.broker.subscription(subscription.id).await.unwrap().pending
    }
}

async fn enqueue(broker: &Broker, draft: Draft) {
    let Receipt::Fresh(_) = broker.enqueue(draft, "request", None).await.unwrap() else {
        panic!("no memo was given")
    };
}

#[tokio::test(start_paused = true)]
async fn events_arrive_in_their_order_one_at_a_time() {
    let rig = rig(&[], Duration::from_secs(1));
    rig.subscribe(&["job.*"]).await;
    rig.courier();
    enqueue(&rig.broker, draft().on("a")).await;
    let job = rig.broker.fetch(fetch(&["a"], Duration::ZERO)).await.unwrap().pop().unwrap();
    pass(Duration::from_millis(10)).await;
    rig.broker.cancel(job.id).await.unwrap();
    enqueue(&rig.broker, draft().on("b")).await;
    pass(Duration::from_secs(10)).await;
    let sent: Vec<String> = rig.sent().into_iter().map(|(_, body)| body).collect();
    assert_eq!(sent, ["job.enqueued 0", "job.started 0", "job.cancelled 10", "job.enqueued 10"]);
    assert_eq!(rig.script.most_under_way.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_is_stored_with_its_change_and_nothing_is_stored_for_nobody() {
    let rig = rig(&[], Duration::ZERO);
    rig.enqueue(3).await;
    let all = || rig.broker.deliveries(DeliveryFilter::default(), None, 10);
    assert_eq!(all().await.unwrap().total, 0);
    let first = rig.subscribe(&["job.enqueued"]).await;
    let second = rig.subscribe(&["queue.*"]).await;
    // No courier runs: what is there was stored by the commit itself.
    rig.enqueue(2).await;
    assert_eq!((rig.pending(&first).await, rig.pending(&second).await), (2, 0));
    rig.broker.pause(crate::testing::queue("default")).await.unwrap();
    assert_eq!((rig.pending(&first).await, rig.pending(&second).await), (2, 1));
    rig.broker.remove_subscription(first.id).await.unwrap();
    assert_eq!(all().await.unwrap().total, 1, "what waits for one that is gone goes with it");
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_fails_is_sent_again_and_holds_up_those_behind_it() {
    let rig = rig(&[503, 500], Duration::ZERO);
    let subscription = rig.subscribe(&["*"]).await;
    rig.courier();
    rig.enqueue(1).await;
    pass(Duration::from_secs(10)).await;
    rig.enqueue(1).await;
    pass(Duration::from_mins(5)).await;
    let body = |at: u64| format!("job.enqueued {at}");
    assert_eq!(rig.sent(), [(0, body(0)), (30, body(0)), (150, body(0)), (150, body(10_000))]);
    let names: Vec<Box<str>> =
        rig.script.sent.lock().unwrap().iter().map(|(_, letter)| letter.delivery.clone()).collect();
    assert!(names[0] == names[1] && names[1] == names[2] && names[2] != names[3], "{names:?}");
    let view = rig.broker.subscription(subscription.id).await.unwrap();
    assert_eq!((view.pending, view.courier.circuit.failures), (0, 0));
    let kinds = ["webhook.failed", "webhook.failed", "webhook.delivered", "webhook.delivered"];
    let filter = EventFilter { types: vec!["webhook.*".into()], ..EventFilter::default() };
    let query = EventQuery { filter, limit: 9, ..EventQuery::default() };
    let told: Vec<&str> = rig.broker.events(&query).events.iter().map(|event| event.kind().name()).collect();
    assert_eq!(told[1..], kinds);
}

#[tokio::test(start_paused = true)]
async fn a_list_tells_of_each_subscription_how_the_newest_attempt_went() {
    let rig = rig(&[503, 200], Duration::ZERO);
    let first = rig.subscribe(&["job.*"]).await;
    pass(Duration::from_secs(1)).await;
    let second = rig.subscribe(&["queue.*"]).await;
    rig.courier();
    rig.enqueue(1).await;
    for (seconds, failures, status) in [(10, 1, 503), (30, 0, 200)] {
        pass(Duration::from_secs(seconds)).await;
        let page = rig.broker.subscriptions(None, 0, 9).await.unwrap();
        let (shown, courier) = &page.subscriptions[0];
        assert_eq!((shown.id, courier.circuit.failures), (first.id, failures));
        assert_eq!(courier.last.and_then(|(_, answered)| answered), Some(status));
    }
    let page = rig.broker.subscriptions(None, 1, 1).await.unwrap();
    assert_eq!((page.subscriptions[0].0.id, page.has_more, page.total), (second.id, false, 2));
    assert_eq!(page.subscriptions[0].1.last, None);
}

#[tokio::test(start_paused = true)]
async fn after_eight_attempts_it_is_given_up_and_the_next_one_gets_its_turn() {
    let rig = rig(&[500; 8], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(2).await;
    pass(Duration::from_hours(48)).await;
    let hour = 3600;
    let mut expected = vec![0, 30, 150, 750, 750 + hour, 750 + 5 * hour, 750 + 17 * hour, 750 + 41 * hour];
    // After so many failures the next one waits for the circuit.
    expected.push(750 + 41 * hour + 8 * 60);
    assert_eq!(rig.times(), expected);
    let filter = DeliveryFilter { subscription: Some(subscription.id), shelf: Some(Shelf::Dead) };
    let dead = rig.broker.deliveries(filter, None, 10).await.unwrap().deliveries;
    assert_eq!((dead.len(), dead[0].attempts), (1, 8));
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_wants_nothing_is_left_in_peace_after_five_and_tried_now_and_then() {
    let rig = rig(&[404; 7], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(10).await;
    pass(Duration::from_secs(50)).await;
    assert_eq!((rig.times(), rig.pending(&subscription).await), (vec![0; 5], 5));
    pass(Duration::from_hours(1)).await;
    assert_eq!(rig.times(), [0, 0, 0, 0, 0, 60, 180, 420, 420, 420], "probes after 1, 2 and 4 minutes");
    assert_eq!(rig.pending(&subscription).await, 0);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_left_in_peace_says_when_it_is_tried_again_also_if_its_first_delivery_waits_longer() {
    let rig = rig(&[500; 8], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(1).await;
    let fifth = 750 + 3600;
    pass(Duration::from_secs(fifth + 1)).await;
    let view = rig.broker.subscription(subscription.id).await.unwrap();
    let sixth = Timestamp::from_millis(START) + Duration::from_secs(fifth + 4 * 3600);
    assert_eq!((rig.times().len(), view.next_probe_at(rig.broker.now())), (5, Some(sixth)));
    pass(Duration::from_mins(10)).await;
    let view = rig.broker.subscription(subscription.id).await.unwrap();
    assert_eq!((rig.times().len(), view.next_probe_at(rig.broker.now())), (5, Some(sixth)));
    pass(Duration::from_hours(4)).await;
    assert_eq!(rig.times().last(), Some(&(fifth + 4 * 3600)));
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_delivery_that_is_thrown_away_goes_on_with_the_next_one() {
    let rig = rig(&[503; 3], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(1).await;
    // Three attempts, and ten minutes until the fourth.
    pass(Duration::from_secs(160)).await;
    rig.broker.enqueue_all(vec![draft(); OUTBOX_MAX], "request", None).await.unwrap();
    pass(Duration::from_mins(2)).await;
    assert_eq!(rig.broker.subscription(subscription.id).await.unwrap().courier.dropped, 1);
    assert_eq!(rig.sent().len(), 3 + OUTBOX_MAX);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_delivery_that_another_server_has_sent_goes_on_with_the_next_one() {
    let rig = rig(&[503; 3], Duration::ZERO);
    rig.store.shared.store(true, Ordering::Relaxed);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(1).await;
    pass(Duration::from_secs(160)).await;
    // Nobody tells this server of it.
    rig.broker.forget_deliveries(subscription.id).await.unwrap();
    rig.enqueue(1).await;
    pass(Duration::from_mins(1)).await;
    assert_eq!((rig.times().len(), rig.pending(&subscription).await), (4, 0));
}

#[tokio::test(start_paused = true)]
async fn what_several_servers_throw_away_at_once_is_counted_once() {
    let rig = rig(&[], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.enqueue(4).await;
    let seen = rig.store.entries(on_shelf(subscription.id, Shelf::Pending, None, 3)).await.unwrap().entries;
    rig.broker.throw_away(subscription.id, &seen[..2]).await.unwrap();
    rig.broker.throw_away(subscription.id, &seen).await.unwrap();
    let view = rig.broker.subscription(subscription.id).await.unwrap();
    assert_eq!((view.courier.dropped, view.pending), (3, 1));
}

#[tokio::test(start_paused = true)]
async fn what_was_given_up_can_be_sent_again_at_once_but_not_what_arrived() {
    let rig = rig(&[410], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(1).await;
    pass(Duration::from_secs(1)).await;
    let filter = DeliveryFilter { subscription: Some(subscription.id), shelf: None };
    let dead = rig.broker.deliveries(filter, None, 10).await.unwrap().deliveries.pop().unwrap();
    assert_eq!(dead.step.name(), "dead");
    rig.broker.retry_delivery(dead.id).await.unwrap();
    pass(Duration::from_secs(1)).await;
    let arrived = rig.broker.delivery(dead.id).await.unwrap();
    assert_eq!((arrived.step.name(), rig.times()), ("delivered", vec![0, 1]));
    let again = rig.broker.retry_delivery(dead.id).await;
    assert!(matches!(again, Err(Error::Refused(hapax_core::Refusal::DeliveryArrived(_)))), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_sent_by_the_next_server_also_if_the_clock_went_back() {
    let rig = rig(&[], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.enqueue(2).await;
    rig.clock.1.store(-3_600_000, Ordering::SeqCst);
    let outbox = Arc::new(Outbox::new(settings(Arc::clone(&rig.script) as _, 2)));
    // The store goes on with its old outbox, which is enough to show the order of the new one.
    let next = broker(&rig.store, &rig.clock, Arc::clone(&outbox));
    next.open_outbox().await.unwrap();
    let test = crate::WebhookFact::Test.at(subscription.id, next.now());
    let place = outbox.delivery(test, subscription.id).id.sequence;
    let filter = DeliveryFilter { subscription: Some(subscription.id), shelf: None };
    let waiting = next.deliveries(filter, None, 10).await.unwrap().deliveries;
    assert!(waiting.iter().all(|delivery| delivery.id.sequence < place), "what comes now comes after them");
    let sender = next.clone();
    tokio::spawn(async move { sender.run_webhooks(std::future::pending()).await });
    rig.clock.1.store(0, Ordering::SeqCst);
    pass(Duration::from_mins(1)).await;
    assert_eq!(rig.sent().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn one_that_is_switched_off_gets_nothing_and_keeps_what_waits() {
    let rig = rig(&[503], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(1).await;
    pass(Duration::from_secs(1)).await;
    let switch = |active| SubscriptionPatch { active: Some(active), ..SubscriptionPatch::default() };
    rig.broker.change_subscription(subscription.id, switch(false)).await.unwrap();
    rig.enqueue(1).await;
    pass(Duration::from_hours(1)).await;
    assert_eq!((rig.times(), rig.pending(&subscription).await), (vec![0], 1));
    rig.broker.change_subscription(subscription.id, switch(true)).await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!((rig.times(), rig.pending(&subscription).await), (vec![0, 3601], 0));
}

#[tokio::test(start_paused = true)]
async fn beyond_the_limit_the_oldest_are_thrown_away_and_counted() {
    let rig = rig(&[503], Duration::ZERO);
    let subscription = rig.subscribe(&["job.*"]).await;
    rig.courier();
    rig.enqueue(1).await;
    pass(Duration::from_millis(100)).await;
    let drafts = vec![draft(); OUTBOX_MAX + 9];
    rig.broker.enqueue_all(drafts, "request", None).await.unwrap();
    pass(Duration::from_millis(100)).await;
    assert_eq!(rig.pending(&subscription).await, OUTBOX_MAX as u64 + 10);
    pass(Duration::from_secs(29)).await;
    pass(Duration::from_secs(2)).await;
    let view = rig.broker.subscription(subscription.id).await.unwrap();
    assert_eq!(view.courier.dropped, 10);
    assert_eq!(rig.sent().len(), OUTBOX_MAX + 1, "the rest arrived");
    let filter = DeliveryFilter { subscription: Some(subscription.id), shelf: Some(Shelf::Delivered) };
    let kept = rig.broker.deliveries(filter, None, 1).await.unwrap().total;
    assert!((DELIVERIES_KEPT as u64..1000).contains(&kept), "{kept} are kept");
}

#[tokio::test(start_paused = true)]
async fn a_test_is_sent_at_once_and_signed() {
    let rig = rig(&[204], Duration::from_millis(40));
    let subscription = rig.subscribe(&["job.*"]).await;
    let probe = rig.broker.test_subscription(subscription.id).await.unwrap();
    assert_eq!((probe.response.status(), probe.took.as_millis()), (Some(204), 40));
    let sent = rig.script.sent.lock().unwrap();
    let letter = &sent[0].1;
    assert_eq!(&*letter.event_type, "webhook.test");
    let signature = subscription.secret.sign(letter.timestamp, letter.body.as_bytes());
    assert_eq!(*letter.signature, *signature);
}
