//! What callers can see without the writer: memory, and the tables through the readers.

use std::sync::{Arc, RwLock};

use hapax_store::{HeldPage, HeldQuery, HolderQuery, Holders, JobPage, JobQuery, StoreError};
use tokio::sync::oneshot;

use crate::Fault;
use crate::inbox::Inbox;
use crate::index::{self, Visible};
use crate::progress::{Progress, Stopped};
use crate::read::{Found, Read, View};
use crate::request::Request;

/// How often the holders of a key are looked up before an answer is given that may be of two moments.
const LOOKS_MAX: usize = 3;

/// The way to all that is read. It shows only what no power cut can take back.
#[derive(Clone)]
pub(crate) struct Sight {
    pub(crate) inbox: Arc<Inbox<Request>>,
    pub(crate) reads: Arc<Inbox<Read>>,
    pub(crate) visible: Arc<RwLock<Visible>>,
    pub(crate) progress: Arc<Progress>,
}

impl Sight {
    /// Reads the tables.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut View<'_>, &RwLock<Visible>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (caller, answer) = oneshot::channel();
        let (visible, seen_by) = (Arc::clone(&self.visible), Arc::clone(&self.progress));
        let read: Read = Box::new(move |view| {
            let result = work(view, &visible);
            // After the look, so that it covers all that can have been seen.
            drop(caller.send((result, seen_by.seen())));
        });
        self.reads.send(read).await.map_err(|_| StoreError::Closed)?;
        let (result, seen) = answer.await.map_err(|_| StoreError::Failed(Arc::new(Stopped)))?;
        self.progress.durable(seen).await?;
        result.map_err(|fault| StoreError::Failed(Arc::new(fault)))
    }

    /// Reads what memory knows. When the answer is there, so are the rows that it speaks of.
    pub(crate) async fn look<T>(&self, work: impl FnOnce(&Visible) -> T) -> Result<T, StoreError> {
        if self.inbox.is_closed() {
            return Err(StoreError::Closed);
        }
        let found = work(&index::read(&self.visible));
        self.progress.durable(self.progress.seen()).await?;
        Ok(found)
    }

    /// A key may pass from one job to another between the look at the index and the one at the tables, and then
    /// neither seems to hold it. So the index is asked first and the tables when they have caught up, again if the
    /// key went on meanwhile.
    pub(crate) async fn holders(&self, query: HolderQuery) -> Result<Holders, StoreError> {
        let query = Arc::new(query);
        let mut looks = 1;
        loop {
            let wanted = self.look(|visible| visible.wanted(&query)).await?;
            let asked = Arc::clone(&query);
            let Found { holders, is_of_one_moment } =
                self.read(move |view, _| view.holders(&asked, &wanted)).await?;
            if is_of_one_moment || looks == LOOKS_MAX {
                return Ok(holders);
            }
            looks += 1;
        }
    }

    pub(crate) async fn held_keys(&self, query: HeldQuery) -> Result<HeldPage, StoreError> {
        let part = self.look(|visible| visible.held(&query)).await?;
        self.read(move |view, _| view.held_keys(&query, &part)).await
    }

    pub(crate) async fn jobs(&self, query: JobQuery) -> Result<JobPage, StoreError> {
        let places = self.look(|visible| visible.places(&query)).await?;
        self.read(move |view, _| view.jobs(&query, &places)).await
    }
}
