//! What happened lately, for whoever asks: a bounded log in memory of everything that became durable.

mod derive;
mod event;
mod id;
mod log;
mod query;
mod ring;

pub(crate) use derive::{claimed, created, queue_changed, removed, stepped, taken_over};
pub(crate) use event::Unnumbered;
pub use event::{CancelledBy, EVENT_RESULT_BYTES_MAX, EventError, EventKind, JobEvent, JobFact, News};
pub use id::EventId;
pub(crate) use log::{EventLog, Ticket};
pub use query::{EventPage, EventQuery};
pub use ring::EVENTS_KEPT;

use crate::Broker;

impl Broker {
    /// Events, oldest first.
    pub fn events(&self, query: &EventQuery) -> EventPage {
        self.shared.events.page(query)
    }
}
