//! The broker: what it holds and how it talks to the store.

use std::sync::Arc;

use hapax_core::{Rules, Timestamp};
use hapax_store::{Action, Answer, Done, Op, Store};

use crate::alarm::Alarm;
use crate::answer;
use crate::events::EventLog;
use crate::settle::{Orphans, Settling};
use crate::wakeup::Wakeups;
use crate::{Clock, Entropy, Error, Observer};

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
    pub(crate) wakeups: Wakeups,
    pub(crate) alarm: Alarm,
    pub(crate) orphans: Orphans,
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
        let events = Arc::new(EventLog::new(entropy.draw(), Arc::clone(&observer)));
        let shared = Shared {
            store,
            clock,
            entropy,
            rules,
            observer,
            events,
            wakeups: Wakeups::default(),
            alarm: Alarm::default(),
            orphans: Orphans::default(),
        };
        let shared = Arc::new(shared);
        let elsewhere = Arc::downgrade(&shared);
        // How many there are is not known: all who wait look, and those who find nothing wait on.
        shared.store.listen(Arc::new(move |queue| {
            if let Some(shared) = elsewhere.upgrade() {
                shared.wakeups.call(queue, usize::MAX);
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

    /// Ends waiting fetches with an empty answer at once; from here on no fetch waits.
    pub fn begin_shutdown(&self) {
        self.shared.wakeups.close();
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
