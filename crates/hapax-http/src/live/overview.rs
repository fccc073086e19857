//! Figures about everything, again every few seconds, and what happens to jobs meanwhile: one stream for a dashboard.

use std::sync::Arc;

use bytes::Bytes;
use hapax_broker::{Bell, Channel, EventFilter, EventId, EventKind};
use hapax_store::QueueQuery;
use tokio::sync::Mutex;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout, timeout_at};

use super::ear::{Called, Ear};
use super::event_stream::Tell;
use super::pace::Turn;
use super::{Feed, StreamPlace, Told};
use crate::from_wire::Listening;
use crate::limits::{FIGURES_INTERVAL, FIGURES_QUEUES_MAX, STORE_PROBE_TIME, STREAM_HEARTBEAT};
use crate::problem::Problem;
use crate::shared::Shared;
use crate::to_wire::{live, overview};

/// What is told of jobs.
const KINDS: [EventKind; 4] =
    [EventKind::JobEnqueued, EventKind::JobCompleted, EventKind::JobFailed, EventKind::JobCancelled];

/// The newest figures, as they are told: they are collected once for all who listen.
#[derive(Debug, Default)]
pub(crate) struct Figures(Mutex<Option<(Instant, Bytes)>>);

impl Figures {
    /// The figures as they were a moment ago; nothing if the store does not tell them soon.
    async fn newest(&self, shared: &Shared) -> Option<Bytes> {
        // Nobody waits long behind somebody who waits for the store.
        let mut kept = timeout(STORE_PROBE_TIME, self.0.lock()).await.ok()?;
        let is_fresh = |at: &Instant| at.elapsed() < FIGURES_INTERVAL / 2;
        if let Some((_, figures)) = kept.as_ref().filter(|(at, _)| is_fresh(at)) {
            return Some(figures.clone());
        }
        let broker = &shared.broker;
        let query = QueueQuery { after: None, offset: 0, limit: FIGURES_QUEUES_MAX };
        let page = timeout(STORE_PROBE_TIME, broker.queues(query)).await.ok()?.ok()?;
        let told = overview::figures(&page, &broker.workers(), &broker.last_hour(None), broker.now());
        let figures = Bytes::from(told);
        *kept = Some((Instant::now(), figures.clone()));
        Some(figures)
    }
}

/// Who tells of everything.
pub(crate) struct Overview {
    shared: Arc<Shared>,
    feed: Feed,
    ear: Ear,
    /// The newest name that the client knows.
    last: EventId,
    /// When figures are told again.
    figures_at: Instant,
    silent_since: Instant,
    is_open: bool,
    is_over: bool,
}

impl Overview {
    /// Listens to everything, from that event on or from now.
    pub(crate) async fn open(
        shared: &Arc<Shared>,
        after: Option<String>,
        place: StreamPlace,
    ) -> Result<Overview, Problem> {
        let types = KINDS.map(|kind| kind.name().to_owned()).to_vec();
        let filter = EventFilter { types, ..EventFilter::default() };
        let bell = Bell::default();
        let feed =
            Feed::open(&shared.broker, Listening { channel: Channel::All, filter, after }, &bell).await?;
        let mut ear = Ear::new(place, bell);
        // What happened before it came has no ring of its own.
        ear.read_on();
        let (last, now) = (feed.start(), Instant::now());
        let shared = Arc::clone(shared);
        Ok(Overview {
            shared,
            feed,
            ear,
            last,
            figures_at: now,
            silent_since: now,
            is_open: false,
            is_over: false,
        })
    }

    async fn go_on(&mut self, out: &mut Vec<u8>) {
        // However much happens: whoever is called all the time tells figures all the same.
        if Instant::now() >= self.figures_at && !self.ear.is_closing() {
            return self.tell_figures(out).await;
        }
        match timeout_at(self.figures_at, self.ear.called()).await {
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
            Err(_) => {}
        }
    }

    async fn tell_figures(&mut self, out: &mut Vec<u8>) {
        if let Some(figures) = self.shared.figures.newest(&self.shared).await {
            out.extend_from_slice(&figures);
        } else if self.silent_since.elapsed() >= STREAM_HEARTBEAT {
            self.last = self.feed.cursor();
            live::heartbeat(out, self.last);
        }
        self.ear.pace().told(out.len());
        self.figures_at = Instant::now() + FIGURES_INTERVAL;
    }

    fn tell(&mut self, out: &mut Vec<u8>, mut turn: Turn) {
        let (told, has_more) = self.feed.read(turn.company());
        for told in &told {
            if let Told::Dropped(_) = told {
                turn.dropped();
            }
            self.last = match told {
                Told::Notice(notice) => overview::frame(out, notice),
                other => live::frame(out, other, self.feed.channel(), self.last, self.shared.broker.now()),
            };
        }
        turn.told(out.len());
        if has_more {
            self.ear.read_on();
        }
    }
}

impl Tell for Overview {
    async fn piece(mut self) -> Option<(Bytes, Overview)> {
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
