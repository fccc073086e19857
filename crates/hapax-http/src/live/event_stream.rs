//! A stream of server-sent events, as the body of an answer.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hapax_broker::{Bell, Broker, EventId};
use hyper::body::{Body, Frame};
use tokio::task::yield_now;
use tokio::time::{Instant, timeout_at};

use super::ear::{Called, Ear};
use super::pace::Turn;
use super::{Feed, StreamPlace, Told};
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
    ear: Ear,
    /// The newest name that the client knows.
    last: EventId,
    silent_since: Instant,
    is_open: bool,
    is_over: bool,
}

impl EventStream {
    pub(crate) fn new(broker: Broker, feed: Feed, bell: Bell, place: StreamPlace) -> EventStream {
        let (last, silent_since) = (feed.start(), Instant::now());
        let mut ear = Ear::new(place, bell);
        // What happened before it came has no ring of its own.
        ear.read_on();
        let teller = Teller { broker, feed, ear, last, silent_since, is_open: false, is_over: false };
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
        self.silent_since = Instant::now();
        (!out.is_empty()).then(|| (out.into(), self))
    }
}

impl Teller {
    /// Writes what there is, when it is called to; a sign of life if that takes long.
    async fn go_on(&mut self, out: &mut Vec<u8>) {
        if self.feed.is_doubtful() {
            self.look().await;
        }
        match timeout_at(self.silent_since + STREAM_HEARTBEAT, self.ear.called()).await {
            Ok(Called::ToRead(turn)) => {
                self.tell(out, turn);
                if out.is_empty() {
                    // Who looks through much and finds nothing lets others go first.
                    yield_now().await;
                }
            }
            Ok(Called::ToEnd) => {
                live::shutdown(out, self.last);
                self.is_over = true;
            }
            Err(_) => {
                if !self.look().await {
                    self.last = self.feed.cursor();
                    live::heartbeat(out, self.last);
                }
            }
        }
    }

    fn tell(&mut self, out: &mut Vec<u8>, mut turn: Turn) {
        let (told, has_more) = self.feed.read(turn.company());
        for told in &told {
            if let Told::Dropped(_) = told {
                turn.dropped();
            }
            self.last = live::frame(out, told, self.feed.channel(), self.last, self.broker.now());
        }
        turn.told(out.len());
        self.is_over = self.feed.has_ended();
        if has_more {
            self.ear.read_on();
        }
    }

    /// Looks whether the job has ended unheard; whether there is something to tell now.
    async fn look(&mut self) -> bool {
        let has_found = self.feed.look().await;
        if has_found {
            self.ear.read_on();
        }
        has_found
    }
}
