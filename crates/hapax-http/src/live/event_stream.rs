//! A stream of server-sent events, as the body of an answer.

use std::convert::Infallible;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hapax_broker::{Bell, Broker, EventId};
use hyper::body::{Body, Frame};
use tokio::task::yield_now;
use tokio::time::{Instant, timeout_at};

use super::{Feed, StreamPlace};
use crate::limits::STREAM_HEARTBEAT;
use crate::to_wire::live;

/// A stream of server-sent events. It makes the next piece when the connection asks for it, and so never more than the
/// client takes.
pub(crate) struct EventStream {
    next: Option<NextPiece>,
}

/// Who makes the pieces of a stream.
pub(crate) trait Tell: Sized + Send + 'static {
    /// The next piece, and who makes the one after it; nothing after the last.
    fn piece(self) -> impl Future<Output = Option<(Bytes, Self)>> + Send;
}

/// A piece on its way, and how the one after it is made.
type NextPiece = Pin<Box<dyn Future<Output = Option<(Bytes, Then)>> + Send>>;
struct Then(Box<dyn FnOnce() -> NextPiece + Send>);

fn next_piece<T: Tell>(teller: T) -> NextPiece {
    Box::pin(async move {
        let (bytes, teller) = teller.piece().await?;
        Some((bytes, Then(Box::new(move || next_piece(teller)))))
    })
}

/// Who tells what happens on a channel.
struct Teller {
    broker: Broker,
    feed: Feed,
    bell: Bell,
    place: StreamPlace,
    /// The newest name that the client knows.
    last: EventId,
    silent_since: Instant,
    is_open: bool,
    /// Whether there may be something to tell, and the turn of this stream is to be waited for.
    is_called: bool,
    is_over: bool,
}

impl EventStream {
    pub(crate) fn new(broker: Broker, feed: Feed, bell: Bell, place: StreamPlace) -> EventStream {
        let (last, silent_since) = (feed.start(), Instant::now());
        let teller = Teller {
            broker,
            feed,
            bell,
            place,
            last,
            silent_since,
            is_open: false,
            is_called: false,
            is_over: false,
        };
        EventStream::of(teller)
    }

    /// The pieces that somebody makes.
    pub(crate) fn of(teller: impl Tell) -> EventStream {
        EventStream { next: Some(next_piece(teller)) }
    }
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(next) = &mut self.next else { return Poll::Ready(None) };
        let piece = ready!(next.as_mut().poll(context));
        self.next = None;
        Poll::Ready(piece.map(|(bytes, Then(then))| {
            self.next = Some(then());
            Ok(Frame::data(bytes))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.next.is_none()
    }
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").finish_non_exhaustive()
    }
}

/// Why a wait ended.
enum Woken {
    ToRead,
    ByTime,
}

impl Tell for Teller {
    async fn piece(mut self) -> Option<(Bytes, Teller)> {
        let mut out = Vec::new();
        if !self.is_open {
            self.is_open = true;
            live::opening(&mut out, self.feed.safe_start());
        }
        while out.is_empty() && !self.is_over {
            self.go_on(&mut out).await;
        }
        self.place.told(out.len());
        self.silent_since = Instant::now();
        (!out.is_empty()).then(|| (out.into(), self))
    }
}

impl Teller {
    /// Writes what there is, or waits until there may be something.
    async fn go_on(&mut self, out: &mut Vec<u8>) {
        if mem::take(&mut self.is_called) {
            self.place.turn().await;
        }
        if self.place.is_closing() {
            live::shutdown(out, self.last);
            self.is_over = true;
            return;
        }
        let (told, has_more) = self.feed.read();
        for told in &told {
            self.last = live::frame(out, told, self.feed.channel(), self.last, self.broker.now());
        }
        self.is_over = self.feed.has_ended();
        self.is_called = has_more;
        if !told.is_empty() || self.is_over {
            return;
        }
        if has_more {
            yield_now().await;
        } else if self.feed.is_doubtful() {
            self.feed.look().await;
        } else if let Woken::ByTime = self.wait().await
            && !self.feed.look().await
        {
            self.last = self.feed.cursor();
            live::heartbeat(out, self.last);
        }
    }

    async fn wait(&mut self) -> Woken {
        let Teller { place, bell, .. } = self;
        let called = async {
            tokio::select! {
                () = place.closed() => {}
                () = bell.rung() => {}
            }
        };
        match timeout_at(self.silent_since + STREAM_HEARTBEAT, called).await {
            Ok(()) => {
                self.is_called = true;
                Woken::ToRead
            }
            Err(_) => Woken::ByTime,
        }
    }
}
