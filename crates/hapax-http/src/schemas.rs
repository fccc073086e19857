//! The schemas of arguments that clients registered, as far as requests need them: all of them, in memory.

mod catalogue;
mod checker;
mod problem;
mod references;
mod schema;
mod version;

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use hapax_broker::{Broker, Error};
use hapax_core::Timestamp;
use hapax_store::Register;
use tokio::sync::Mutex;

pub(crate) use catalogue::{Catalogue, Verdict};
pub(crate) use checker::{Checker, Finding};
pub(crate) use schema::{Mode, Schema};
pub(crate) use version::Version;

use crate::limits::SCHEMAS_MAX;

/// How long a server that shares its store believes what it knows.
const FRESH_MS: i64 = 1000;
/// Nobody else can change what is known.
const ALWAYS: i64 = i64::MAX;
/// It has to be read first.
const NEVER: i64 = i64::MIN;
/// How many are read at a time.
const PAGE: usize = 200;

/// What is known of the registered schemas. Whoever enqueues where there are none pays for two loads.
#[derive(Debug)]
pub(crate) struct Schemas {
    catalogue: RwLock<Arc<Catalogue>>,
    /// Until when that is believed.
    fresh_until: AtomicI64,
    is_empty: AtomicBool,
    /// One reads, the others wait for it.
    reading: Mutex<()>,
}

impl Schemas {
    pub(crate) fn new() -> Schemas {
        Schemas {
            catalogue: RwLock::default(),
            fresh_until: AtomicI64::new(NEVER),
            is_empty: AtomicBool::new(true),
            reading: Mutex::new(()),
        }
    }

    /// What is registered, if anything is.
    pub(crate) async fn current(
        &self,
        broker: &Broker,
        now: Timestamp,
    ) -> Result<Option<Arc<Catalogue>>, Error> {
        if !self.is_fresh(now) {
            // In a box: few requests read, and the futures of the others need no room for it.
            Box::pin(self.catch_up(broker, now)).await?;
        }
        Ok((!self.is_empty.load(Ordering::Acquire)).then(|| self.known()))
    }

    async fn catch_up(&self, broker: &Broker, now: Timestamp) -> Result<(), Error> {
        let _turn = self.reading.lock().await;
        if self.is_fresh(now) { Ok(()) } else { self.read(broker, now).await }
    }

    /// What is registered, read now: after a change, and for whoever asks about the register itself.
    pub(crate) async fn reread(&self, broker: &Broker) -> Result<Arc<Catalogue>, Error> {
        let _turn = self.reading.lock().await;
        self.read(broker, broker.now()).await?;
        Ok(self.known())
    }

    /// Everything has to be read again.
    pub(crate) fn forget(&self) {
        self.fresh_until.store(NEVER, Ordering::Release);
    }

    fn is_fresh(&self, now: Timestamp) -> bool {
        match self.fresh_until.load(Ordering::Acquire) {
            ALWAYS => true,
            NEVER => false,
            // A clock that was set back is no reason to believe for longer.
            until => (until.saturating_sub(FRESH_MS)..until).contains(&now.millis()),
        }
    }

    fn known(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn read(&self, broker: &Broker, now: Timestamp) -> Result<(), Error> {
        let mut entries = Vec::new();
        let mut after = None;
        loop {
            let page = broker.entries(Register::Schema, after, PAGE).await?;
            after = page.entries.last().map(|entry| Arc::clone(&entry.key.name));
            entries.extend(page.entries);
            if !page.has_more || entries.len() >= SCHEMAS_MAX {
                break;
            }
        }
        let catalogue = Catalogue::of(entries, &self.known());
        self.is_empty.store(catalogue.is_empty(), Ordering::Release);
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue);
        let until = if broker.is_shared() { now.millis().saturating_add(FRESH_MS) } else { ALWAYS };
        self.fresh_until.store(until, Ordering::Release);
        Ok(())
    }
}
