//! Reading a request's body: bounded in size and time, and without copying in the usual case of one piece.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use tokio::time::timeout;

use crate::limits::DISCARD_TIME;

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is larger than it may be.
    TooLarge,
    /// It did not come in time.
    TooSlow,
    /// The client went away, or broke the rules of HTTP.
    Broken,
}

/// The whole body.
pub(crate) async fn read(body: &mut Body, bytes_max: usize, time: Duration) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(Unread::TooLarge);
    }
    // A body that is there already is read without a timer being set.
    timeout(time, collect(body, bytes_max)).await.unwrap_or(Err(Unread::TooSlow))
}

async fn collect(body: &mut Body, bytes_max: usize) -> Result<Bytes, Unread> {
    let Some(first) = next(body).await? else { return Ok(Bytes::new()) };
    if first.len() > bytes_max {
        return Err(Unread::TooLarge);
    }
    if body.is_end_stream() {
        return Ok(first);
    }
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
