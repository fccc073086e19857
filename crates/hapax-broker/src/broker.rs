//! The broker: what it holds and how it talks to the store.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hapax_core::{Rules, Timestamp};
use hapax_store::{Action, Answer, Done, Op, Store};

use crate::alarm::Alarm;
use crate::answer;
use crate::events::EventLog;
use crate::figures::{Figures, Keeper};
use crate::held_back::HeldBacks;
use crate::maintenance::Sign;
use crate::outcome::Endings;
use crate::queue_deletion::Deletions;
use crate::queue_settings::KnownSettings;
use crate::room::Room;
use crate::settle::{Orphans, Settling};
use crate::wakeup::Wakeups;
use crate::workers::Workers;
use crate::{Clock, Entropy, Error, Observer, Outbox};

/// The operations on jobs. Cheap to clone: all clones are one broker.
#[derive(Clone, Debug)]
pub struct Broker {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) rules: Rules,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) events: Arc<EventLog>,
    /// Whether events say to which trace their job belongs.
    pub(crate) follows_traces: AtomicBool,
    pub(crate) figures: Arc<Figures>,
    pub(crate) workers: Workers,
    pub(crate) sign: Sign,
    pub(crate) wakeups: Wakeups,
    pub(crate) alarm: Alarm,
    pub(crate) orphans: Orphans,
    pub(crate) endings: Endings,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) settings: KnownSettings,
    pub(crate) deletions: Deletions,
    pub(crate) room: Room,
    pub(crate) held_back: HeldBacks,
    /// Held by whoever makes an entry of which there may be only so many.
    pub(crate) making: tokio::sync::Mutex<()>,
}

impl Broker {
    /// A broker over this store. `rules` must be those that the store applies.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        rules: Rules,
        observer: Arc<dyn Observer>,
    ) -> Broker {
        let outbox = Arc::new(Outbox::closed(rules.clone()));
        Broker::with_outbox(store, clock, entropy, rules, observer, outbox)
    }

    /// A broker over a store that keeps what this outbox says is to be told.
    pub fn with_outbox(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        rules: Rules,
        observer: Arc<dyn Observer>,
        outbox: Arc<Outbox>,
    ) -> Broker {
        let figures = Arc::new(Figures::default());
        let keeper = Keeper { figures: Arc::clone(&figures), other: Arc::clone(&observer) };
        let events = Arc::new(EventLog::new(entropy.draw(), Arc::new(keeper)));
        let shared = Shared {
            store,
            clock,
            entropy,
            rules,
            observer,
            events,
            follows_traces: AtomicBool::new(false),
            figures,
            workers: Workers::default(),
            sign: Sign::default(),
            wakeups: Wakeups::default(),
            alarm: Alarm::default(),
            orphans: Orphans::default(),
            endings: Endings::default(),
            outbox,
            settings: KnownSettings::default(),
            deletions: Deletions::default(),
            room: Room::default(),
            held_back: HeldBacks::default(),
            making: tokio::sync::Mutex::default(),
        };
        let shared = Arc::new(shared);
        let elsewhere = Arc::downgrade(&shared);
        shared.store.listen(Arc::new(move |queue, jobs| {
            if let Some(shared) = elsewhere.upgrade() {
                shared.wakeups.call(queue, jobs);
            }
        }));
        Broker { shared }
    }

    /// The moment, by the broker's clock.
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// The operator's settings.
    pub fn rules(&self) -> &Rules {
        &self.shared.rules
    }

    /// Ends waiting fetches with an empty answer at once, and lets those go who wait for the end of a job or for room in a
    /// queue; from here on nobody waits.
    pub fn begin_shutdown(&self) {
        self.shared.wakeups.close();
        self.shared.endings.close();
        self.shared.room.close();
    }

    /// Has the store carry out the actions, as of now; the answers stand in the same order.
    pub(crate) async fn commit(&self, now: Timestamp, actions: Vec<Action>) -> Result<Vec<Answer>, Error> {
        let ops: Vec<Op> = actions.into_iter().map(|action| Op { now, action }).collect();
        let asked = ops.len();
        let answers = Settling::new(&self.shared, now, |store: &dyn Store| store.commit(ops)).await?;
        answer::all(answers, asked)
    }

    /// As [`Broker::commit`], for one action.
    pub(crate) async fn commit_one(&self, now: Timestamp, action: Action) -> Result<Done, Error> {
        answer::only(self.commit(now, vec![action]).await?)
    }
}
