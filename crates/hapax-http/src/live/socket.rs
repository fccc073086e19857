//! A client on a WebSocket: what it says is done, what it listens to is told.

use std::ops::ControlFlow;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use hapax_broker::{Bell, Broker};
use hapax_wire::error::Code;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{self, Message};

use super::ear::{Called, Ear};
use super::pace::Turn;
use super::{Audience, StreamPlace};
use crate::limits::{SOCKET_PING_INTERVAL, SOCKET_PONG_TIME, STREAM_GRACE, WRITE_STALL_TIME};
use crate::problem::Problem;
use crate::tenancy::Listener;
use crate::to_wire::socket;

type Wire = WebSocketStream<TokioIo<Upgraded>>;

/// About so many messages are made in one turn; other channels then wait for the next one.
const MESSAGES_MAX: usize = 256;

/// A client on a WebSocket.
pub(crate) struct Socket {
    broker: Broker,
    ear: Ear,
    wire: Wire,
    audience: Audience,
    /// The channel that was told last.
    told_channel: usize,
    ping_at: Instant,
    /// Until when the client has to answer the last ping.
    pong_by: Option<Instant>,
}

/// What happened next.
enum Cue {
    Called(Called),
    Heard(Option<Result<Message, tungstenite::Error>>),
    TimePassed,
}

/// Whether the conversation goes on, or why it ends.
type Going = ControlFlow<End>;

/// Why a conversation ends.
enum End {
    /// With a word.
    Said(CloseCode, &'static str),
    /// The client has said goodbye.
    Heard,
    /// The client is gone.
    Gone,
}

impl Socket {
    pub(crate) fn new(broker: Broker, listener: Listener, place: StreamPlace, wire: Wire) -> Socket {
        let bell = Bell::default();
        let audience = Audience::new(broker.clone(), listener, bell.clone());
        let ping_at = Instant::now() + SOCKET_PING_INTERVAL;
        Socket { broker, ear: Ear::new(place, bell), wire, audience, told_channel: 0, ping_at, pong_by: None }
    }

    /// Speaks until one of both has enough.
    pub(crate) async fn run(mut self) {
        let end = loop {
            let done = match self.next().await {
                Cue::Called(Called::ToEnd) => self.say_goodbye().await,
                Cue::Called(Called::ToRead(turn)) => self.tell(turn).await,
                Cue::Heard(message) => self.hear(message).await,
                Cue::TimePassed => self.mark_time().await,
            };
            if let ControlFlow::Break(end) = done {
                break end;
            }
            if self.audience.is_due() {
                self.ear.read_on();
            }
        };
        self.end(end).await;
    }

    async fn next(&mut self) -> Cue {
        let deadline = self.pong_by.map_or(self.ping_at, |pong_by| pong_by.min(self.ping_at));
        // A client that never stops talking does not stop the time.
        if deadline <= Instant::now() {
            return Cue::TimePassed;
        }
        let Socket { ear, wire, .. } = self;
        let cue = async {
            tokio::select! {
                called = ear.called() => Cue::Called(called),
                message = wire.next() => Cue::Heard(message),
            }
        };
        timeout_at(deadline, cue).await.unwrap_or(Cue::TimePassed)
    }

    async fn hear(&mut self, message: Option<Result<Message, tungstenite::Error>>) -> Going {
        match message {
            Some(Ok(Message::Text(text))) => {
                let answer = self.audience.obey(&text).await;
                // What it listens to now may have something to tell from before.
                self.ear.read_on();
                self.ear.pace().told(answer.len());
                self.send([answer]).await
            }
            Some(Ok(Message::Pong(_))) => {
                self.pong_by = None;
                Going::Continue(())
            }
            // The library answers pings by itself. Nothing more is read before the answer is on its way: whoever sends
            // pings and takes no answers would have them pile up here.
            Some(Ok(Message::Ping(_) | Message::Frame(_))) => {
                within(WRITE_STALL_TIME, self.wire.flush()).await
            }
            Some(Ok(Message::Binary(_))) => {
                let problem = Problem::new(Code::InvalidPayload, "a message is text, and one JSON object");
                self.send([socket::refused(&problem)]).await
            }
            Some(Err(tungstenite::Error::Capacity(_))) => {
                Going::Break(End::Said(CloseCode::Size, "the message is too long"))
            }
            Some(Err(tungstenite::Error::Utf8(_))) => {
                Going::Break(End::Said(CloseCode::Invalid, "the message is not UTF-8"))
            }
            Some(Err(tungstenite::Error::Protocol(_))) => {
                Going::Break(End::Said(CloseCode::Protocol, "that is not the protocol of WebSockets"))
            }
            Some(Ok(Message::Close(_))) => Going::Break(End::Heard),
            Some(Err(_)) | None => Going::Break(End::Gone),
        }
    }

    /// Tells what there is, channel after channel in turns. The turn ends before anything is sent: a client that is slow to
    /// take it holds up nobody else.
    async fn tell(&mut self, mut turn: Turn) -> Going {
        let mut messages = Vec::new();
        let channels = self.audience.len();
        for _ in 0..channels {
            self.told_channel = (self.told_channel + 1) % channels;
            let has_more = self.audience.read(self.told_channel, &mut turn, &mut messages);
            let is_full = messages.len() >= MESSAGES_MAX;
            if has_more || is_full {
                self.ear.read_on();
            }
            if is_full {
                break;
            }
        }
        drop(turn);
        self.send(messages).await?;
        self.audience.settle_doubts().await;
        Going::Continue(())
    }

    async fn mark_time(&mut self) -> Going {
        let now = Instant::now();
        if self.pong_by.is_some_and(|pong_by| pong_by <= now) {
            return Going::Break(End::Gone);
        }
        if self.ping_at <= now {
            self.ping_at = now + SOCKET_PING_INTERVAL;
            self.pong_by = Some(now + SOCKET_PONG_TIME);
            let sent = self.wire.send(Message::Ping(tungstenite::Bytes::new()));
            within(WRITE_STALL_TIME, sent).await?;
            self.audience.look().await;
        }
        Going::Continue(())
    }

    async fn say_goodbye(&mut self) -> Going {
        let words = socket::shutdown(self.broker.now());
        let sent = self.wire.send(Message::text(words));
        within(STREAM_GRACE, sent).await?;
        Going::Break(End::Said(CloseCode::Away, "the server is stopping"))
    }

    /// All messages in one go. Whoever takes none of them for too long is gone.
    async fn send(&mut self, messages: impl IntoIterator<Item = String>) -> Going {
        let wire = &mut self.wire;
        let mut is_empty = true;
        for message in messages {
            is_empty = false;
            within(WRITE_STALL_TIME, wire.feed(Message::text(message))).await?;
        }
        if is_empty { Going::Continue(()) } else { within(WRITE_STALL_TIME, wire.flush()).await }
    }

    /// Says goodbye, and lets the client say it.
    async fn end(mut self, end: End) {
        let frame = match end {
            End::Said(code, reason) => Some(CloseFrame { code, reason: reason.into() }),
            End::Heard => None,
            End::Gone => return,
        };
        let goodbye = async {
            let said = match frame {
                Some(frame) => self.wire.close(Some(frame)).await,
                None => Ok(()),
            };
            // Reading on also sends the library's answer to a goodbye.
            while let (true, Some(Ok(_))) = (said.is_ok(), self.wire.next().await) {}
        };
        // Whether the client has heard it makes no difference.
        let _in_time = timeout(STREAM_GRACE, goodbye).await;
    }
}

async fn within(time: Duration, sent: impl Future<Output = Result<(), tungstenite::Error>>) -> Going {
    match timeout(time, sent).await {
        Ok(Ok(())) => Going::Continue(()),
        Ok(Err(_)) | Err(_) => Going::Break(End::Gone),
    }
}
