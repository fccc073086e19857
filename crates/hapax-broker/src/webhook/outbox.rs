//! The outbox: turns what a store has done into deliveries, inside the commit of the store.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use hapax_core::webhook::{
    Delivery, DeliveryId, Reach, Response, Sequence, Step, Subscription, SubscriptionId,
};
use hapax_core::{Rules, Timestamp};
use hapax_store::webhook::{Shelf, delivery_key, delivery_written};
use hapax_store::{Happened, Letter};
use tokio::sync::{Notify, Semaphore};

use super::Carrier;
use crate::consequences::{Consequences, Outcome};
use crate::events::{EventId, Unnumbered};
use crate::{Aspect, EventKind, JobEvent, News, Notice};

/// The text of an event, as it is sent.
pub type Render = Arc<dyn Fn(&Notice) -> String + Send + Sync>;

/// How many tests of endpoints run at a time.
pub(super) const TESTS_MAX: usize = 8;

/// What an outbox needs to know.
pub struct OutboxSettings {
    /// The operator's settings.
    pub rules: Rules,
    /// How far deliveries may go.
    pub reach: Reach,
    /// Random bits that tell this run of the server from others.
    pub mark: [u8; 4],
    /// How an event is written.
    pub render: Render,
    /// Who sends.
    pub carrier: Arc<dyn Carrier>,
}

/// Knows who is to be told of what. Given to the store, which asks it at every call, and to the broker.
pub struct Outbox {
    settings: OutboxSettings,
    mark: u32,
    /// Whether anybody has subscribed.
    is_open: AtomicBool,
    subscriptions: RwLock<Arc<[Arc<Subscription>]>>,
    /// The number given out last. It never goes back, whatever the clock does.
    last: AtomicU64,
    /// Subscriptions for which something was stored, or should be looked at whatever their schedule says.
    mail: Mutex<Mail>,
    pub(super) wake: Notify,
    /// One at a time reads the list of subscriptions, so that an old list does not replace a newer one.
    pub(super) loading: tokio::sync::Mutex<()>,
    pub(super) tests: Semaphore,
}

/// Who has got mail.
#[derive(Debug, Default)]
struct Mail {
    arrived: BTreeSet<SubscriptionId>,
    urgent: BTreeSet<SubscriptionId>,
}

impl Outbox {
    /// An outbox without subscriptions; they are read by [`Broker::load_outbox`](crate::Broker::load_outbox).
    pub fn new(settings: OutboxSettings) -> Outbox {
        Outbox {
            mark: u32::from_be_bytes(settings.mark),
            settings,
            is_open: AtomicBool::new(false),
            subscriptions: RwLock::new(Arc::new([])),
            last: AtomicU64::new(0),
            mail: Mutex::default(),
            wake: Notify::new(),
            loading: tokio::sync::Mutex::new(()),
            tests: Semaphore::new(TESTS_MAX),
        }
    }

    /// One for a broker whose store keeps nothing for it: nothing is sent.
    pub(crate) fn closed(rules: Rules) -> Outbox {
        Outbox::new(OutboxSettings {
            rules,
            reach: Reach::Public,
            mark: [0; 4],
            render: Arc::new(|_| "{}".into()),
            carrier: Arc::new(Nobody),
        })
    }

    /// How far deliveries may go.
    pub fn reach(&self) -> Reach {
        self.settings.reach
    }

    pub(super) fn carrier(&self) -> &dyn Carrier {
        &*self.settings.carrier
    }

    pub(super) fn mark(&self) -> u32 {
        self.mark
    }

    /// Who has subscribed.
    pub(super) fn subscriptions(&self) -> Arc<[Arc<Subscription>]> {
        Arc::clone(&self.subscriptions.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn subscription(&self, id: SubscriptionId) -> Option<Arc<Subscription>> {
        self.subscriptions().iter().find(|subscription| subscription.id == id).cloned()
    }

    /// From here on, these have subscribed.
    pub(super) fn set(&self, subscriptions: Vec<Arc<Subscription>>) {
        let is_open = subscriptions.iter().any(|subscription| subscription.active);
        *self.subscriptions.write().unwrap_or_else(PoisonError::into_inner) = subscriptions.into();
        self.is_open.store(is_open, Ordering::Release);
        self.wake.notify_one();
    }

    /// Gives out no number up to this one.
    pub(super) fn start_after(&self, number: u64) {
        self.last.fetch_max(number, Ordering::AcqRel);
    }

    /// The next place in the order.
    fn place(&self, now: Timestamp) -> Sequence {
        let next = |last: u64| last.saturating_add(1).max(Sequence::first_number(now));
        let last = self.last.fetch_update(Ordering::AcqRel, Ordering::Acquire, |last| Some(next(last)));
        Sequence { number: next(last.unwrap_or_else(|last| last)), mark: self.mark }
    }

    /// An event as it is sent, that stands in no log.
    fn event(&self, event: Unnumbered) -> JobEvent {
        let Unnumbered { at, queue, news, traced } = event;
        let sequence = self.place(at);
        JobEvent { seq: sequence.number, id: EventId::of_place(at, sequence), at, queue, news, traced }
    }

    /// The delivery of something to one subscription, new.
    pub(super) fn delivery(&self, event: Unnumbered, subscription: SubscriptionId) -> Delivery {
        let notice = Notice { event: Arc::new(self.event(event)), aspect: Aspect::Fact };
        let id = DeliveryId { subscription, sequence: self.place(notice.event.at) };
        first_step(id, &notice, (self.settings.render)(&notice).into())
    }

    /// What is to be stored to tell of events that no change in the store brings about.
    pub(crate) fn letters_about(&self, events: &[Unnumbered]) -> Vec<Letter> {
        let mut letters = Vec::new();
        if self.is_open.load(Ordering::Acquire) {
            let sent = events.iter().filter(|event| event.news.kind().goes_to_webhooks());
            sent.for_each(|event| self.address(event, &mut letters));
        }
        letters
    }

    /// Says that events became durable, so that whoever waits for one of them is served.
    pub(crate) fn expect_mail(&self, events: &[Unnumbered]) {
        if events.is_empty() || !self.is_open.load(Ordering::Acquire) {
            return;
        }
        let subscriptions = self.subscriptions();
        let wanting = subscriptions.iter().filter(|subscription| {
            events.iter().any(|event| BOTH.into_iter().any(|aspect| wants(subscription, event, aspect)))
        });
        let mut mail = self.mail.lock().unwrap_or_else(PoisonError::into_inner);
        let before = mail.arrived.len();
        mail.arrived.extend(wanting.map(|subscription| subscription.id));
        if mail.arrived.len() > before {
            drop(mail);
            self.wake.notify_one();
        }
    }

    /// Has a subscription looked at now, whatever its schedule says.
    pub(super) fn hurry(&self, id: SubscriptionId) {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).urgent.insert(id);
        self.wake.notify_one();
    }

    /// The same, as soon as the look at it that is under way is over: the end of that wakes the courier.
    pub(super) fn hurry_after(&self, id: SubscriptionId) {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).urgent.insert(id);
    }

    /// Whether something was stored for a subscription since the last call.
    pub(super) fn take_mail(&self, id: SubscriptionId) -> bool {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).arrived.remove(&id)
    }

    pub(super) fn has_mail(&self, id: SubscriptionId) -> bool {
        self.mail.lock().unwrap_or_else(PoisonError::into_inner).arrived.contains(&id)
    }

    pub(super) fn take_urgent(&self) -> BTreeSet<SubscriptionId> {
        std::mem::take(&mut self.mail.lock().unwrap_or_else(PoisonError::into_inner).urgent)
    }

    /// The event for everybody who wants it, in each aspect that anybody wants.
    fn address(&self, event: &Unnumbered, letters: &mut Vec<Letter>) {
        let subscriptions = self.subscriptions();
        let is_wanted = |aspect| subscriptions.iter().any(|subscription| wants(subscription, event, aspect));
        if !BOTH.into_iter().any(is_wanted) {
            return;
        }
        let numbered = Arc::new(self.event(event.clone()));
        for aspect in BOTH.into_iter().filter(|aspect| is_wanted(*aspect)) {
            let notice = Notice { event: Arc::clone(&numbered), aspect };
            let text: Arc<str> = (self.settings.render)(&notice).into();
            let sequence = self.place(event.at);
            let wanting = subscriptions.iter().filter(|subscription| wants(subscription, event, aspect));
            letters.extend(wanting.map(|subscription| {
                let id = DeliveryId { subscription: subscription.id, sequence };
                let delivery = first_step(id, &notice, Arc::clone(&text));
                (delivery_key(id, Shelf::Pending), delivery_written(&delivery))
            }));
        }
    }
}

/// A delivery that was not tried yet.
fn first_step(id: DeliveryId, notice: &Notice, text: Arc<str>) -> Delivery {
    let at = notice.event.at;
    Delivery {
        id,
        event_type: notice.kind().name().into(),
        event: text,
        created_at: at,
        step: Step::Pending { next_at: at },
        attempts: 0,
        last: None,
    }
}

impl hapax_store::Outbox for Outbox {
    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    fn letters(&self, happened: Happened<'_>, now: Timestamp) -> Vec<Letter> {
        let mut consequences = Consequences::new(&self.settings.rules, now);
        match happened {
            Happened::Answered(answer) => consequences.answered(answer),
            Happened::Claimed(changes) => consequences.claimed(changes),
            Happened::Advanced(advance) => advance.follow(&mut consequences),
        }
        let mut letters = Vec::new();
        consequences.events.iter().for_each(|event| self.address(event, &mut letters));
        letters
    }
}

/// The order in which what is to be told of an event is told.
const BOTH: [Aspect; 2] = [Aspect::Step, Aspect::Fact];

/// From where to where a job went is told to those who ask for it by its very name. Nobody is told of deliveries by a
/// delivery: there would be no end of it.
fn wants(subscription: &Subscription, event: &Unnumbered, aspect: Aspect) -> bool {
    let Unnumbered { at: _, queue, news, traced: _ } = event;
    let way = EventKind::JobStateChanged;
    let kind = match (aspect, news) {
        (Aspect::Step, News::Job { step: Some(_), .. }) => way,
        (_, News::Webhook { .. }) | (Aspect::Step, _) => return false,
        // A bare step has said it all.
        (Aspect::Fact, news) if news.kind() == way => return false,
        (Aspect::Fact, news) => news.kind(),
    };
    let is_named = kind != way || subscription.events.iter().any(|pattern| pattern.as_str() == way.name());
    is_named && subscription.wants(kind.name(), queue.as_ref(), news.job_type())
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("is_open", &self.is_open).finish_non_exhaustive()
    }
}

impl fmt::Debug for OutboxSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboxSettings").field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// A carrier that goes nowhere.
#[derive(Debug)]
struct Nobody;

impl Carrier for Nobody {
    fn carry(&self, _letter: super::Letter) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        Box::pin(async { Response::Failed("this server sends no webhooks".into()) })
    }
}
