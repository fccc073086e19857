//! Maintenance: a time in which this server takes in no jobs and gives out none. Kept in memory: a restart ends it, and other
//! servers on the same database have their own.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hapax_core::Timestamp;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::{Broker, Error};

/// Why and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintenance {
    /// Why, in the operator's words.
    pub reason: Option<Box<str>>,
    /// Since when.
    pub since: Timestamp,
    /// How long it will take, as far as anybody knows.
    pub estimate: Option<Duration>,
}

impl Maintenance {
    /// When it will be over, as far as anybody knows.
    pub fn estimated_end(&self) -> Option<Timestamp> {
        self.estimate.map(|estimate| self.since + estimate)
    }
}

/// Whether it is on.
#[derive(Debug, Default)]
pub(crate) struct Sign {
    /// Whether it says anything. Every request asks, and a lock would be handed from core to core for it.
    is_up: AtomicBool,
    says: Mutex<Option<Maintenance>>,
    taken_down: Notify,
}

impl Sign {
    fn read(&self) -> Option<Maintenance> {
        if !self.is_up.load(Ordering::Acquire) {
            return None;
        }
        self.says.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self, maintenance: Option<Maintenance>) {
        let mut says = self.says.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_up.store(maintenance.is_some(), Ordering::Release);
        *says = maintenance;
    }

    /// The moment at which it is taken down.
    pub(crate) fn taken_down(&self) -> Notified<'_> {
        self.taken_down.notified()
    }

    /// Takes it down.
    pub(crate) fn clear(&self) {
        self.write(None);
        self.taken_down.notify_waiters();
    }
}

impl Broker {
    /// Takes in no jobs and gives out none from here on. Workers go on with what they hold.
    pub fn begin_maintenance(&self, reason: Option<Box<str>>, estimate: Option<Duration>) -> Maintenance {
        let maintenance = Maintenance { reason, since: self.now(), estimate };
        self.shared.sign.write(Some(maintenance.clone()));
        maintenance
    }

    /// Takes in and gives out jobs again. Fetches that waited for that are answered with nothing, so that they come again.
    pub fn end_maintenance(&self) {
        self.shared.sign.clear();
    }

    /// Whether there is maintenance, and why.
    pub fn maintenance(&self) -> Option<Maintenance> {
        self.shared.sign.read()
    }

    /// Refuses what would bring new jobs while there is maintenance.
    pub(crate) fn admit_new_jobs(&self) -> Result<(), Error> {
        match self.maintenance() {
            Some(maintenance) => Err(Error::Maintenance { maintenance, now: self.now() }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::TenantId;

    use super::*;
    use crate::Fetch;
    use crate::testing::{draft, fetch, rig, settle};

    #[tokio::test(start_paused = true)]
    async fn during_maintenance_no_job_comes_in_and_none_goes_out() {
        let rig = rig();
        let held = rig.enqueue(draft()).await;
        rig.take("default").await.unwrap();
        rig.enqueue(draft()).await;
        let begun = rig.broker.begin_maintenance(Some("moving".into()), Some(Duration::from_mins(30)));
        assert_eq!(begun.estimated_end(), Some(rig.broker.now() + Duration::from_mins(30)));
        let refused = rig.broker.enqueue(draft(), "request", None).await;
        assert!(
            matches!(&refused, Err(Error::Maintenance { maintenance, .. }) if *maintenance == begun),
            "{refused:?}"
        );
        assert!(rig.broker.enqueue_all(vec![draft()], "request", None).await.is_err());
        assert!(rig.broker.enqueue_each(vec![draft()], "request", None).await.is_err());
        assert_eq!(rig.take("default").await, None);
        rig.broker.acknowledge(held.id, hapax_core::Claimant::UNNAMED, None).await.unwrap();
        rig.broker.end_maintenance();
        assert!(rig.take("default").await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_fetch_that_waits_during_maintenance_is_let_go_by_its_end() {
        for tenant in tenants() {
            let rig = rig();
            rig.broker.begin_maintenance(None, None);
            let wait = fetch(&["default"], Duration::from_secs(20));
            let waiting = rig.start_fetch(Fetch { tenant, ..wait });
            settle().await;
            assert!(!waiting.is_finished());
            rig.broker.end_maintenance();
            settle().await;
            assert!(waiting.is_finished(), "it comes again at once, and finds what there is");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_fetch_that_waited_before_gets_nothing_during_maintenance() {
        for tenant in tenants() {
            let rig = rig();
            let wait = fetch(&["default"], Duration::from_secs(20));
            let waiting = rig.start_fetch(Fetch { tenant, ..wait });
            settle().await;
            rig.enqueue(draft().of_tenant("acme").scheduled(5_000)).await;
            rig.broker.begin_maintenance(None, None);
            let chores = rig.chores();
            assert_eq!(waiting.await.unwrap(), []);
            chores.abort();
            rig.broker.end_maintenance();
            assert!(rig.take("default").await.is_some(), "it became available all the same");
        }
    }

    /// Those who ask for one tenant's jobs wait in another way.
    fn tenants() -> [Option<TenantId>; 2] {
        [None, Some(TenantId::parse("acme").unwrap())]
    }
}
