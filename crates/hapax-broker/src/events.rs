//! What happened lately, for whoever asks or listens: a bounded log in memory of everything that became durable.

mod bell;
mod bulk;
mod channel;
mod cron;
mod derive;
mod event;
mod filter;
mod id;
mod kind;
mod line;
mod log;
mod newest;
mod notice;
mod place;
mod query;
mod ring;
mod subscription;
mod switchboard;
mod traced;
mod webhook;
mod worker;
mod workflow;

pub use bell::Bell;
pub use bulk::{BulkFact, BulkWish};
pub use channel::Channel;
pub(crate) use cron::ticked;
pub use cron::{CronFact, CronOutcome};
pub(crate) use derive::{
    claimed, created, forgotten, pruned, queue_changed, queue_deleted, removed, stepped, taken_over,
};
pub(crate) use event::Unnumbered;
pub use event::{CancelledBy, EVENT_RESULT_BYTES_MAX, EventError, JobEvent, JobFact, News, Step};
pub use filter::EventFilter;
pub use id::EventId;
pub use kind::EventKind;
pub(crate) use log::{EventLog, Ticket};
pub use newest::NewestEvents;
pub use notice::{Aspect, Notice};
pub use query::{EventPage, EventQuery, EventTail};
pub use ring::EVENTS_KEPT;
pub use subscription::{Batch, Company, Dropped, Gap, Subscription};
pub use traced::Traced;
pub use webhook::{Attempted, WebhookFact};
pub use worker::WorkerFact;
pub use workflow::WorkflowFact;
pub(crate) use workflow::{progressed, workflow_started};

use std::sync::atomic::Ordering;

use crate::Broker;

impl Broker {
    /// Waits until the events of every request that is answered are in the log, or a slower request has held them up for too
    /// long.
    pub async fn catch_up_with_events(&self) {
        self.shared.events.catch_up().await;
    }

    /// Events, oldest first.
    pub fn events(&self, query: &EventQuery) -> EventPage {
        self.shared.events.page(query)
    }

    /// Events, newest first, without the first few of those that pass.
    pub fn newest_events(&self, query: &EventQuery, skipped: usize) -> NewestEvents {
        self.shared.events.newest(query, skipped)
    }

    /// The events after the one of that number (0 for all), oldest first, at most so many and never more than a thousand:
    /// for one who reads all of them at a pace of its own.
    pub fn events_after(&self, seq: u64, max: usize) -> EventTail {
        self.shared.events.tail(seq, max)
    }

    /// Listens to a channel: from the cursor on, if there is one, else from now on. Nothing is heard unless
    /// [`Broker::run_herald`] runs.
    pub fn subscribe(&self, channel: Channel, after: Option<&str>, bell: &Bell) -> Subscription {
        Subscription::new(&self.shared.events, channel, after, bell)
    }

    /// Whether this text names an event, or a cursor, of this run of the server.
    pub fn knows_event(&self, cursor: &str) -> bool {
        EventId::parse(cursor).is_some_and(|id| self.shared.events.ring().knows(id))
    }

    /// Whether everything that happens to jobs is in this server's log. On a store that servers share, each tells
    /// what was done through it.
    pub fn hears_everything(&self) -> bool {
        !self.shared.store.is_shared()
    }

    /// From here on every event of a job says to which trace the job belongs. Nobody pays for it before.
    pub fn follow_traces(&self) {
        self.shared.follows_traces.store(true, Ordering::Relaxed);
    }

    /// Brings events to those who listen, until told to stop. The caller owns the task.
    pub async fn run_herald(&self, stop: impl Future<Output = ()>) {
        let events = &self.shared.events;
        tokio::select! {
            biased;
            () = stop => {}
            () = events.switchboard.run(&events.ring) => {}
        }
    }
}
