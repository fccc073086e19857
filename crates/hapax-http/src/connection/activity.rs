//! What a connection does, as its watch sees it.

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::Version;
use axum::response::Response;
use bytes::Bytes;
use hyper::body::{Frame, SizeHint};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::answer::{Lasting, Session, Speaking};

/// What a connection does, as its watch sees it.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// Requests so far.
    requests: AtomicUsize,
    /// Requests in progress, those with answers that last among them.
    in_progress: AtomicUsize,
    /// Answers that last.
    lasting: AtomicUsize,
    /// Whether there was one that had the connection for itself: all that is left to write is the end of it.
    has_lasted: AtomicBool,
    /// Whether the client has to read before more can be written.
    is_write_blocked: AtomicBool,
    /// The connection's place among those of all. Answers that last are counted on their own: many may wait for events
    /// and keep nobody out.
    place: Mutex<Option<OwnedSemaphorePermit>>,
    /// What is spoken on the connection after HTTP.
    session: Mutex<Option<Session>>,
}

impl Activity {
    pub(super) fn new(place: Option<OwnedSemaphorePermit>) -> Activity {
        Activity { place: Mutex::new(place), ..Activity::default() }
    }

    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn in_progress(&self) -> usize {
        self.in_progress.load(Ordering::Relaxed)
    }

    /// Whether all that keeps the connection are answers that last, or the end of one that the client does not take.
    pub(super) fn only_lasts(&self) -> bool {
        let (lasting, in_progress) = (self.lasting.load(Ordering::Relaxed), self.in_progress());
        let is_left = self.has_lasted.load(Ordering::Relaxed) && self.is_write_blocked();
        lasting == in_progress && (lasting > 0 || is_left)
    }

    pub(super) fn is_write_blocked(&self) -> bool {
        self.is_write_blocked.load(Ordering::Relaxed)
    }

    /// Says whether the client took bytes.
    pub(super) fn mark_written(&self, is_written: bool) {
        self.is_write_blocked.store(!is_written, Ordering::Relaxed);
    }

    /// What is to be spoken after HTTP.
    pub(super) fn session(&self) -> Option<Speaking> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).take()?.take()
    }

    fn give_place_up(&self) {
        drop(self.place.lock().unwrap_or_else(PoisonError::into_inner).take());
    }

    #[cfg(test)]
    pub(super) fn of(requests: usize, in_progress: usize) -> Activity {
        Activity { requests: requests.into(), in_progress: in_progress.into(), ..Activity::default() }
    }
}

/// Counts a request for as long as it is in progress, however it ends.
pub(super) struct InProgress {
    activity: Arc<Activity>,
    lasts: bool,
    /// The server waits in the end until nobody listens to it any more: a request of HTTP/2 may outlive its connection.
    _seen_by_server: Option<watch::Receiver<bool>>,
}

impl InProgress {
    pub(super) fn new(
        activity: &Arc<Activity>,
        seen_by_server: &watch::Receiver<bool>,
        version: Version,
    ) -> InProgress {
        activity.requests.fetch_add(1, Ordering::Relaxed);
        activity.in_progress.fetch_add(1, Ordering::Relaxed);
        let seen = (version == Version::HTTP_2).then(|| seen_by_server.clone());
        InProgress { activity: Arc::clone(activity), lasts: false, _seen_by_server: seen }
    }

    /// The request was answered; it is over unless the answer lasts.
    pub(super) fn answered(mut self, mut answer: Response, version: Version) -> Response {
        match answer.extensions_mut().remove::<Lasting>() {
            None => answer,
            Some(Lasting::Stream) => {
                if version != Version::HTTP_2 {
                    self.activity.give_place_up();
                    self.activity.has_lasted.store(true, Ordering::Relaxed);
                }
                self.lasts = true;
                self.activity.lasting.fetch_add(1, Ordering::Relaxed);
                answer.map(|body| Body::new(Counted { body, _in_progress: self }))
            }
            Some(Lasting::Upgrade(session)) => {
                self.activity.give_place_up();
                *self.activity.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
                answer
            }
        }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        if self.lasts {
            self.activity.lasting.fetch_sub(1, Ordering::Relaxed);
        }
        self.activity.in_progress.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body that counts as a request in progress.
struct Counted {
    body: Body,
    _in_progress: InProgress,
}

impl hyper::body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
