//! The courier: sends what waits in the outbox. One delivery of a subscription is under way at a time, so that events
//! arrive in their order; subscriptions do not wait for each other.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hapax_core::Timestamp;
use hapax_core::webhook::SubscriptionId;
use hapax_store::webhook::courier_key;
use tokio::task::{self, JoinError, JoinSet};

use super::delivery::courier_edit;
use super::round::{Next, Round};
use crate::{Broker, Error};

/// How often servers that share a database look for what others have stored, and for who has subscribed elsewhere.
const LOOK_SHARED: Duration = Duration::from_secs(1);
/// How often a server that is alone looks, in case that it missed a word.
const LOOK_ALONE: Duration = Duration::from_secs(30);
/// How often is looked for too many deliveries of those that are not served at present, and for those of nobody.
const SWEEP: Duration = Duration::from_mins(1);
/// How long to wait after the store failed.
const AFTER_TROUBLE: Duration = Duration::from_secs(5);
/// How long requests that are under way may take when the server stops. What is cut off is sent again by the next one.
const STOP_TIME: Duration = Duration::from_secs(5);

/// How it stands with the subscriptions.
struct Courier {
    broker: Broker,
    rounds: JoinSet<Result<Next, Error>>,
    standing: HashMap<SubscriptionId, Standing>,
    /// Whose round a task is.
    of_task: HashMap<task::Id, SubscriptionId>,
    stopping: Arc<AtomicBool>,
    look_at: Timestamp,
    sweep_at: Timestamp,
}

/// How it stands with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// A round is under way.
    Busy,
    /// The next round is when something was stored for it.
    Idle,
    /// The next round is then.
    Until(Timestamp),
}

impl Broker {
    /// Sends what is to be sent until told to stop. The caller owns the task.
    pub async fn run_webhooks(&self, stop: impl Future<Output = ()>) {
        let now = self.now();
        let mut courier = Courier {
            broker: self.clone(),
            rounds: JoinSet::new(),
            standing: HashMap::new(),
            of_task: HashMap::new(),
            stopping: Arc::default(),
            look_at: now,
            sweep_at: now,
        };
        let mut stop = pin!(stop);
        loop {
            courier.begin_rounds().await;
            let nap = courier.nap();
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(ended) = courier.rounds.join_next_with_id() => courier.end_round(ended),
                () = self.shared.outbox.wake.notified() => {}
                () = sleep(nap) => {}
            }
        }
        courier.stopping.store(true, Ordering::Release);
        let ended = async { while courier.rounds.join_next().await.is_some() {} };
        // What is not over by then is aborted with the set, and sent again after the next start.
        tokio::select! {
            () = ended => {}
            () = sleep(STOP_TIME) => {}
        }
        courier.rounds.shutdown().await;
        self.let_others_send().await;
    }

    /// Says that this server sends for nobody any more, so that others need not wait for the end of its time.
    async fn let_others_send(&self) {
        if !self.shared.store.is_shared() {
            return;
        }
        let mark = self.shared.outbox.mark();
        for subscription in self.shared.outbox.subscriptions().iter() {
            let edit = courier_edit(move |courier| {
                courier.sender = courier.sender.filter(|(sender, _)| *sender != mark);
            });
            if let Err(error) = self.edit(self.now(), courier_key(subscription.id), edit).await {
                tracing::warn!(%error, "other servers take over webhooks after a while only");
                return;
            }
        }
    }
}

impl Courier {
    /// Begins a round for everybody whose time has come.
    async fn begin_rounds(&mut self) {
        let now = self.broker.now();
        let has_looked = now >= self.look_at;
        if has_looked {
            self.look(now).await;
        }
        let has_swept = now >= self.sweep_at;
        if has_swept {
            self.sweep_at = now + SWEEP;
            self.tidy(now).await;
        }
        let outbox = Arc::clone(&self.broker.shared.outbox);
        let urgent = outbox.take_urgent();
        let subscriptions = outbox.subscriptions();
        // One that is switched off must not be waited for, but a round of it that is under way is one.
        let is_served = |id| subscriptions.iter().any(|known| known.id == id && known.active);
        self.standing.retain(|id, standing| *standing == Standing::Busy || is_served(*id));
        for subscription in subscriptions.iter().filter(|subscription| subscription.active) {
            let id = subscription.id;
            // Whoever is seen for the first time may have mail from before the start.
            let standing = self.standing.entry(id).or_insert(Standing::Until(now));
            let is_due = match *standing {
                Standing::Busy => {
                    if urgent.contains(&id) {
                        outbox.hurry_after(id);
                    }
                    false
                }
                Standing::Idle => has_looked || outbox.has_mail(id) || urgent.contains(&id),
                Standing::Until(at) => at <= now || urgent.contains(&id),
            };
            if is_due {
                outbox.take_mail(id);
                *standing = Standing::Busy;
                let round = Round { broker: self.broker.clone(), id, stopping: Arc::clone(&self.stopping) };
                let task = self.rounds.spawn(round.run());
                self.of_task.insert(task.id(), id);
            }
        }
    }

    /// Looks at what others did, if there are others.
    async fn look(&mut self, now: Timestamp) {
        let is_shared = self.broker.shared.store.is_shared();
        self.look_at = now + if is_shared { LOOK_SHARED } else { LOOK_ALONE };
        if is_shared && let Err(error) = self.broker.load_outbox().await {
            tracing::warn!(%error, "the list of subscriptions could not be read");
        }
    }

    /// Throws away what is too much for those that are not served at present, and what is for nobody.
    async fn tidy(&mut self, now: Timestamp) {
        for subscription in self.broker.shared.outbox.subscriptions().iter() {
            let is_waiting = !matches!(self.standing.get(&subscription.id), Some(Standing::Busy));
            if is_waiting && let Err(error) = self.broker.trim(subscription.id).await {
                tracing::warn!(%error, "deliveries that are too many could not be thrown away");
                self.sweep_at = now + AFTER_TROUBLE;
                return;
            }
        }
        if let Err(error) = self.broker.sweep().await {
            tracing::warn!(%error, "deliveries of nobody could not be thrown away");
        }
    }

    fn end_round(&mut self, ended: Result<(task::Id, Result<Next, Error>), JoinError>) {
        let (task, next) = match ended {
            Ok((task, next)) => (task, next),
            Err(error) => {
                tracing::error!(%error, "a round of webhooks is defect");
                (error.id(), Ok(Next::At(self.broker.now() + AFTER_TROUBLE)))
            }
        };
        let Some(id) = self.of_task.remove(&task) else { return };
        let standing = match next {
            Ok(Next::Mail) => Standing::Idle,
            // What it waits for may be gone by then: thrown away, or sent by another server.
            Ok(Next::At(at)) => Standing::Until(at.min(self.broker.now() + LOOK_ALONE)),
            Err(error) => {
                tracing::warn!(subscription = %id, %error, "webhooks wait for the store");
                Standing::Until(self.broker.now() + AFTER_TROUBLE)
            }
        };
        self.standing.insert(id, standing);
    }

    /// How long until something is to be done.
    fn nap(&self) -> Duration {
        let times = self.standing.values().filter_map(|standing| match standing {
            Standing::Until(at) => Some(*at),
            Standing::Busy | Standing::Idle => None,
        });
        let soonest = times.chain([self.look_at, self.sweep_at]).min().unwrap_or(self.look_at);
        soonest.since(self.broker.now()).min(LOOK_ALONE)
    }
}

#[expect(clippy::disallowed_methods, reason = "the courier is what waits for the time of attempts")]
async fn sleep(span: Duration) {
    tokio::time::sleep(span).await;
}
