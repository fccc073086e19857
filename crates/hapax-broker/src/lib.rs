//! The operations on jobs (enqueue, fetch, acknowledge …) and the chores that let time pass.
//!
//! The broker gives the store whole operations, and after each answer sees to what follows from it: events for
//! whoever watches, a call for the workers that wait, an alarm for the chores. It knows no rule of a job's life:
//! those stand in `hapax-core`, and the store applies them to the rows it owns.
#![warn(missing_docs)]

mod broker;
mod clock;
mod entropy;
mod error;
mod observer;

mod acknowledge;
mod activate;
mod cancel;
mod dead_letter;
mod enqueue;
mod explain;
mod fail;
mod fetch;
mod heartbeat;
mod job;
mod job_key;
mod key;
mod queue;
mod reset;

mod alarm;
mod answer;
mod chores;
mod conflict;
mod consequences;
mod events;
mod settle;
mod wakeup;

#[cfg(test)]
mod testing;

pub use broker::Broker;
pub use clock::Clock;
pub use enqueue::{BATCH_MAX, Draft, Receipt};
pub use entropy::Entropy;
pub use error::Error;
pub use events::{
    CancelledBy, EVENT_RESULT_BYTES_MAX, EVENTS_KEPT, EventError, EventId, EventKind, EventPage, EventQuery,
    JobEvent, JobFact, News,
};
pub use explain::{EXPLAINED_MAX, Explained};
pub use fetch::{FETCH_COUNT_MAX, FETCH_WAIT_MAX, Fetch};
pub use heartbeat::{Heartbeat, Pulse};
pub use job_key::Removal;
pub use key::{RELEASED_MAX, Released};
pub use observer::{NoObserver, Observer};
