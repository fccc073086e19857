//! The settings of queues, at hand for every enqueue.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use hapax_core::{Deletion, QueueName, QueueSettings};
use hapax_store::record::queue as record;
use hapax_store::settings::key;
use hapax_store::{DEFAULT_SETTINGS, Edit, Entry, EntryQuery, Register, Written};

use crate::{Broker, Error};

/// How many settings are read at a time.
const PAGE: usize = 1000;

/// Settings as this server knows them. On a shared store another server may have changed them a moment ago.
#[derive(Debug, Default)]
pub(crate) struct KnownSettings {
    /// Whether there are any: most servers have none, and pay nothing for asking.
    any: AtomicBool,
    known: RwLock<Arc<Known>>,
    /// One at a time reads them, so that an old state does not replace a newer one.
    learning: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    defaults: QueueSettings,
    queues: HashMap<Box<str>, QueueSettings>,
}

impl KnownSettings {
    /// The settings of a queue; nothing if there are none for any queue.
    pub(crate) fn of(&self, queue: &QueueName) -> Option<QueueSettings> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let known = Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner));
        Some(match known.queues.get(queue.as_str()) {
            Some(own) => own.or(&known.defaults),
            None => known.defaults.clone(),
        })
    }

    /// The queues that are being deleted.
    pub(crate) fn deletions(&self) -> Vec<(QueueName, Deletion)> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let known = Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner));
        let deleted = |name: &str, settings: &QueueSettings| {
            Some((QueueName::parse(name).ok()?, settings.deletion.clone()?))
        };
        known.queues.iter().filter_map(|(name, settings)| deleted(name, settings)).collect()
    }

    fn set(&self, known: Known) {
        let is_any = known.defaults != QueueSettings::default() || !known.queues.is_empty();
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        self.any.store(is_any, Ordering::Release);
    }
}

impl Broker {
    /// Reads all settings. To be called before the first request; the chores see to it from then on.
    pub async fn learn_settings(&self) -> Result<(), Error> {
        let _turn = self.shared.settings.learning.lock().await;
        let mut known = Known::default();
        let mut after: Option<Arc<str>> = None;
        loop {
            let query = EntryQuery { register: Register::Queue, prefix: "".into(), after, limit: PAGE };
            let page = self.shared.store.entries(query).await?;
            after = page.entries.last().map(|entry| Arc::clone(&entry.key.name));
            for entry in page.entries {
                let Ok(settings) = record::read(&entry.written.body) else {
                    tracing::error!(queue = &*entry.key.name, "the settings of a queue cannot be read");
                    continue;
                };
                if &*entry.key.name == DEFAULT_SETTINGS {
                    known.defaults = settings;
                } else {
                    known.queues.insert((&*entry.key.name).into(), settings);
                }
            }
            if !page.has_more {
                break;
            }
        }
        self.shared.settings.set(known);
        Ok(())
    }

    /// What was decided about a queue, or about all others, and nothing that follows from the defaults.
    pub async fn queue_settings(&self, name: &str) -> Result<Option<QueueSettings>, Error> {
        let entry = self.shared.store.entry(key(name)).await?;
        entry.as_ref().map(readable).transpose()
    }

    /// The settings by which a queue works.
    pub fn settings_of(&self, queue: &QueueName) -> QueueSettings {
        self.shared.settings.of(queue).unwrap_or_default()
    }

    /// Decides about a queue, or about all others: `change` says how, from what was decided before.
    pub async fn set_queue(
        &self,
        name: &str,
        change: impl Fn(QueueSettings) -> QueueSettings + Send + Sync + 'static,
    ) -> Result<QueueSettings, Error> {
        let edit = Edit::new(move |before: Option<&Written>| {
            let before = read(before);
            // Only its end ends a deletion.
            let deletion = before.deletion.clone();
            let after = QueueSettings { deletion, ..change(before) };
            let body = record::write(&after).into();
            Ok(Some(Written { body, due_at: None }).filter(|_| after != QueueSettings::default()))
        });
        let (broker, key) = (self.clone(), key(name));
        self.see_through(async move {
            let (entry, _) = broker.edit(broker.now(), key, edit).await?;
            broker.learn_settings().await?;
            Ok(entry.as_ref().map(readable).transpose()?.unwrap_or_default())
        })
        .await
    }
}

fn readable(entry: &Entry) -> Result<QueueSettings, Error> {
    record::read(&entry.written.body).map_err(|_| entry.key.damaged().into())
}

/// What settings say; nothing where there are none. Whoever decides anew about some that cannot be read mends them.
pub(crate) fn read(written: Option<&Written>) -> QueueSettings {
    written.and_then(|written| record::read(&written.body).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use hapax_core::{Overflow, Refusal};

    use super::*;
    use crate::testing::{draft, queue, rig, settle};
    use crate::{Draft, EventKind, EventQuery, News};

    #[tokio::test(start_paused = true)]
    async fn settings_hold_for_the_next_job() {
        let rig = rig();
        rig.broker.set_queue("mail", |before| QueueSettings { max_depth: Some(1), ..before }).await.unwrap();
        rig.enqueue(draft().on("mail")).await;
        let refused = rig.broker.enqueue(draft().on("mail"), "request", None).await.unwrap_err();
        let full = Refusal::QueueFull { queue: queue("mail"), depth: 1, max: 1 };
        assert!(matches!(refused, Error::Refused(refusal) if refusal == full));
        rig.enqueue(draft()).await;
        rig.broker.set_queue("mail", |_| QueueSettings::default()).await.unwrap();
        rig.enqueue(draft().on("mail")).await;
        assert_eq!(rig.broker.queue_settings("mail").await.unwrap(), None, "nothing is left of them");
    }

    #[tokio::test(start_paused = true)]
    async fn a_decision_holds_though_its_client_hangs_up() {
        let rig = rig();
        rig.store.hold();
        let broker = rig.broker.clone();
        let draining = |before| QueueSettings { draining: Some(true), ..before };
        let asking = tokio::spawn(async move { broker.set_queue("mail", draining).await });
        settle().await;
        asking.abort();
        rig.store.release();
        settle().await;
        assert!(rig.broker.settings_of(&queue("mail")).is_draining());
    }

    #[tokio::test(start_paused = true)]
    async fn an_older_state_does_not_replace_a_newer_one() {
        let rig = rig();
        let turn = rig.broker.shared.settings.learning.lock().await;
        let broker = rig.broker.clone();
        let slow = tokio::spawn(async move { broker.learn_settings().await });
        settle().await;
        let body = record::write(&QueueSettings { draining: Some(true), ..QueueSettings::default() });
        let edit = Edit::new(move |_| Ok(Some(Written { body: body.as_str().into(), due_at: None })));
        rig.broker.edit(rig.broker.now(), key("mail"), edit).await.unwrap();
        drop(turn);
        slow.await.unwrap().unwrap();
        assert!(rig.broker.settings_of(&queue("mail")).is_draining(), "it reads when it is its turn");
    }

    #[tokio::test(start_paused = true)]
    async fn the_default_holds_for_queues_that_do_not_say() {
        let rig = rig();
        let draining = |before| QueueSettings { draining: Some(true), ..before };
        rig.broker.set_queue(DEFAULT_SETTINGS, draining).await.unwrap();
        let refused = rig.broker.enqueue(draft(), "request", None).await.unwrap_err();
        assert!(matches!(refused, Error::Refused(Refusal::QueueDraining(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_client_left_open_is_filled_in() {
        let rig = rig();
        let attempts = hapax_core::RetryPolicy { max_attempts: 9, ..hapax_core::RetryPolicy::default() };
        let change = move |before| QueueSettings { retry: Some(attempts.clone()), ..before };
        rig.broker.set_queue("mail", change).await.unwrap();
        let unsaid = hapax_core::Unsaid { retry: hapax_core::UnsaidRetry::Policy, ..Default::default() };
        let job = rig.enqueue(Draft { unsaid, ..draft().on("mail") }).await;
        assert_eq!(job.spec.retry.max_attempts, 9);
    }

    #[tokio::test(start_paused = true)]
    async fn a_displaced_job_is_told() {
        let rig = rig();
        let change =
            |before| QueueSettings { max_depth: Some(1), overflow: Some(Overflow::DropOldest), ..before };
        rig.broker.set_queue("mail", change).await.unwrap();
        rig.enqueue(draft().on("mail")).await;
        rig.enqueue(draft().on("mail")).await;
        let page = rig.broker.events(&EventQuery { limit: 9, ..EventQuery::default() });
        let kinds: Vec<_> = page.events.iter().map(crate::Notice::kind).collect();
        let [came, dropped, gone] =
            [EventKind::JobEnqueued, EventKind::BackpressureDropped, EventKind::JobDiscarded];
        assert_eq!(kinds, [came, dropped, gone, came]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_job_that_is_turned_away_is_told_once_however_long_it_waited() {
        let rig = rig();
        let change = |before| QueueSettings { max_depth: Some(1), overflow: Some(Overflow::Block), ..before };
        rig.broker.set_queue("mail", change).await.unwrap();
        let mail = || draft().on("mail");
        rig.enqueue(mail()).await;
        let patience = std::time::Duration::from_secs(5);
        rig.broker.enqueue_when_room(mail(), "request", None, patience).await.unwrap_err();
        rig.broker.enqueue(mail(), "request", None).await.unwrap_err();
        rig.broker.enqueue_all(vec![draft(), mail()], "request", None).await.unwrap_err();
        rig.broker.enqueue_each(vec![mail(), mail()], "request", None).await.unwrap();
        let turned_away = rig.all_events().into_iter().filter(|event| match &event.news {
            News::TurnedAway { job_type, depth, max } => {
                (job_type.as_str(), *depth, *max) == ("email.send", 1, 1)
            }
            _ => false,
        });
        assert_eq!(turned_away.count(), 5);
    }
}
