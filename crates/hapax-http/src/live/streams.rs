//! How many may listen at a time, and that nobody may when the server stops.

use std::sync::Arc;

use hapax_wire::error::Code;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::Instant;

use super::pace::Pace;
use crate::problem::Problem;

/// The places of streams.
#[derive(Debug)]
pub(crate) struct Streams {
    places: Arc<Semaphore>,
    most: usize,
    pace: Arc<Pace>,
    closing: watch::Sender<bool>,
}

/// The place of one stream, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPlace {
    _permit: OwnedSemaphorePermit,
    pace: Arc<Pace>,
    closing: watch::Receiver<bool>,
}

impl Streams {
    /// So many places; the runtime in which this is called says how many processors they share.
    pub(crate) fn new(most: usize) -> Streams {
        let most = most.min(Semaphore::MAX_PERMITS);
        // Outside of a runtime nobody can listen.
        let processors = Handle::try_current().map_or(1, |runtime| runtime.metrics().num_workers());
        let pace = Arc::new(Pace::new(processors, Instant::now()));
        let places = Arc::new(Semaphore::new(most));
        Streams { places, most, pace, closing: watch::Sender::new(false) }
    }

    /// A place, unless all are taken or the server stops.
    pub(crate) fn enter(&self) -> Result<StreamPlace, Problem> {
        // First the ear, then the look: a stream that is let in hears of the end.
        let closing = self.closing.subscribe();
        if *closing.borrow() {
            return Err(Problem::new(Code::BackendUnavailable, "the server is stopping"));
        }
        let permit = Arc::clone(&self.places).try_acquire_owned().map_err(|_| {
            let message = format!("{} clients listen already, and no more are taken", self.most);
            Problem::new(Code::BackendUnavailable, message)
        })?;
        Ok(StreamPlace { _permit: permit, pace: Arc::clone(&self.pace), closing })
    }

    /// How many are taken.
    pub(crate) fn taken(&self) -> usize {
        self.most - self.places.available_permits()
    }

    /// Ends all streams, and lets nobody in from here on.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }
}

impl StreamPlace {
    /// Whether streams have to end.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// The pace that it shares with all streams.
    pub(crate) fn pace(&self) -> &Arc<Pace> {
        &self.pace
    }

    /// Waits until streams have to end.
    pub(crate) async fn closed(&mut self) {
        // An error means that the server is gone, which is an end as well.
        let _closing = self.closing.wait_for(|closing| *closing).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn places_are_counted_and_given_back() {
        let streams = Streams::new(2);
        let first = streams.enter().unwrap();
        let _second = streams.enter().unwrap();
        let refused = streams.enter().unwrap_err();
        assert_eq!(refused.code, Code::BackendUnavailable);
        assert_eq!(refused.message, "2 clients listen already, and no more are taken");
        drop(first);
        assert_eq!(streams.taken(), 1);
        assert!(streams.enter().is_ok());
    }

    #[tokio::test]
    async fn nobody_enters_a_server_that_stops_and_those_inside_hear_of_it() {
        let streams = Streams::new(2);
        let mut inside = streams.enter().unwrap();
        assert!(!inside.is_closing());
        streams.close();
        inside.closed().await;
        assert!(inside.is_closing());
        assert_eq!(streams.enter().unwrap_err().message, "the server is stopping");
    }
}
