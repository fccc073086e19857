//! Reading a request's body: bounded in size and time, and without copying in the usual case of one piece.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::limits::DISCARD_TIME;

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is larger than it may be.
    TooLarge,
    /// It did not come in time.
    TooSlow,
    /// Others took all the memory there is for bodies, and kept it.
    NoRoom,
    /// The client went away, or broke the rules of HTTP.
    Broken,
}

/// A body in memory, and its share of what all bodies may take.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    /// The body.
    pub(crate) bytes: Bytes,
    /// Given back when the body is dropped.
    _share: Option<OwnedSemaphorePermit>,
}

/// What all bodies together may take, in pieces of a kilobyte.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Arc<Semaphore>,
    pieces_max: u32,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Budget {
        let pieces_max = u32::try_from(bytes / 1024).unwrap_or(u32::MAX);
        Budget { left: Arc::new(Semaphore::new(pieces_max as usize)), pieces_max }
    }

    async fn share(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        let pieces = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        // Whoever asked for more than there is would wait for ever. The semaphore is never closed.
        Arc::clone(&self.left).acquire_many_owned(pieces.min(self.pieces_max)).await.ok()
    }
}

/// The whole body.
pub(crate) async fn read(
    body: &mut Body,
    bytes_max: usize,
    time: Duration,
    budget: &Budget,
) -> Result<Collected, Unread> {
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(Unread::TooLarge);
    }
    // A body that is there already is read without a timer being set.
    let first = timeout(time, next(body)).await.unwrap_or(Err(Unread::TooSlow))?;
    let Some(first) = first else { return Ok(Collected::default()) };
    if first.len() > bytes_max {
        return Err(Unread::TooLarge);
    }
    if body.is_end_stream() {
        return Ok(Collected { bytes: first, _share: None });
    }
    let rest = body.size_hint().upper().unwrap_or(bytes_max as u64);
    let bytes = (first.len() as u64).saturating_add(rest).min(bytes_max as u64);
    // Of this time the client has nothing to answer for: it is not counted as its own.
    let share = timeout(time, budget.share(bytes)).await.map_err(|_| Unread::NoRoom)?;
    let whole = timeout(time, collect(body, first, bytes_max)).await.unwrap_or(Err(Unread::TooSlow))?;
    Ok(Collected { bytes: whole, _share: share })
}

/// The body from its first piece to its end.
async fn collect(body: &mut Body, first: Bytes, bytes_max: usize) -> Result<Bytes, Unread> {
    let mut whole = BytesMut::from(first);
    while let Some(piece) = next(body).await? {
        if whole.len() + piece.len() > bytes_max {
            return Err(Unread::TooLarge);
        }
        whole.extend_from_slice(&piece);
    }
    Ok(whole.freeze())
}

/// The next piece of data; trailers are passed over.
async fn next(body: &mut Body) -> Result<Option<Bytes>, Unread> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Reads what nobody wants, up to so many bytes; whether that was all of it.
pub(crate) async fn discard(mut body: Body, bytes_max: usize) -> bool {
    if body.is_end_stream() {
        return true;
    }
    let drained = async {
        let mut left = bytes_max;
        loop {
            match next(&mut body).await {
                Ok(Some(piece)) if piece.len() <= left => left -= piece.len(),
                Ok(Some(_)) | Err(_) => return false,
                Ok(None) => return true,
            }
        }
    };
    timeout(DISCARD_TIME, drained).await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use hyper::body::Frame;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use super::*;

    const SOON: Duration = Duration::from_millis(50);

    /// A body in pieces; what it does at the end is up to the test.
    fn pieces(pieces: &[&'static str], ends: bool) -> Body {
        struct Pieces(Vec<&'static str>, bool);
        impl hyper::body::Body for Pieces {
            type Data = Bytes;
            type Error = Infallible;

            fn poll_frame(
                mut self: Pin<&mut Self>,
                _context: &mut Context<'_>,
            ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
                if self.0.is_empty() {
                    return if self.1 { Poll::Ready(None) } else { Poll::Pending };
                }
                let piece = self.0.remove(0);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(piece.as_bytes())))))
            }
        }
        Body::new(Pieces(pieces.to_vec(), ends))
    }

    async fn outcome(mut body: Body, bytes_max: usize, budget: &Budget) -> Result<String, Unread> {
        let collected = read(&mut body, bytes_max, SOON, budget).await?;
        Ok(String::from_utf8(collected.bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn bodies_are_read_up_to_their_limit() {
        let budget = Budget::new(10 * 1024);
        assert_eq!(outcome(Body::empty(), 4, &budget).await, Ok(String::new()));
        assert_eq!(outcome(Body::from("abcd"), 4, &budget).await, Ok("abcd".to_owned()));
        assert_eq!(outcome(Body::from("abcde"), 4, &budget).await, Err(Unread::TooLarge));
        assert_eq!(outcome(pieces(&["ab", "cd"], true), 4, &budget).await, Ok("abcd".to_owned()));
        assert_eq!(outcome(pieces(&["ab", "cde"], true), 4, &budget).await, Err(Unread::TooLarge));
        assert_eq!(outcome(pieces(&["ab"], false), 4, &budget).await, Err(Unread::TooSlow));
    }

    #[tokio::test]
    async fn bodies_in_pieces_share_a_budget_and_give_it_back() {
        let budget = Budget::new(1024);
        let held = read(&mut pieces(&["a", "b"], true), 4, SOON, &budget).await.unwrap();
        assert_eq!(outcome(pieces(&["a", "b"], true), 4, &budget).await, Err(Unread::NoRoom));
        assert_eq!(
            outcome(Body::from("ab"), 4, &budget).await,
            Ok("ab".to_owned()),
            "one piece needs no share"
        );
        drop(held);
        assert_eq!(outcome(pieces(&["a", "b"], true), 4, &budget).await, Ok("ab".to_owned()));
        let larger_than_the_budget = outcome(pieces(&["a", "b"], true), 9000, &budget).await;
        assert_eq!(larger_than_the_budget, Ok("ab".to_owned()));
    }

    #[tokio::test]
    async fn what_nobody_wants_is_read_up_to_a_limit() {
        assert!(discard(Body::empty(), 0).await);
        assert!(discard(pieces(&["ab", "cd"], true), 4).await);
        assert!(!discard(pieces(&["ab", "cde"], true), 4).await);
    }
}
