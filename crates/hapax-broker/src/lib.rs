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
mod outcome;
mod pool;
mod progress;

mod acknowledge;
mod activate;
mod agent;
mod bulk;
mod cancel;
mod cron;
mod dead_letter;
mod enqueue;
mod entry;
mod entry_list;
mod explain;
mod fail;
mod fetch;
mod heartbeat;
mod job;
mod job_key;
mod job_list;
mod key;
mod letters;
mod limit;
mod lineage;
mod maintenance;
mod operate;
mod priority;
mod queue;
mod queue_deletion;
mod queue_settings;
mod reset;
mod webhook;
mod worker;
mod workers;
mod workflow;

mod alarm;
mod answer;
mod chores;
mod conflict;
mod consequences;
mod events;
mod figures;
mod held_back;
mod room;
mod setback;
mod settle;
mod turned_away;
mod wakeup;

#[cfg(test)]
mod testing;

pub use agent::{Branch, Fork, Junction, Merge};
pub use broker::Broker;
pub use bulk::{Deed, Treated};
pub use clock::Clock;
pub use cron::{CronDraft, CronPage};
pub use enqueue::{BATCH_MAX, Draft, Receipt};
pub use entropy::Entropy;
pub use entry_list::{ENTRIES_LOOKED_AT_MAX, EntryPart};
pub use error::Error;
pub use events::{
    Aspect, Attempted, Batch, Bell, BulkFact, BulkWish, CancelledBy, Channel, Company, CronFact, CronOutcome,
    Dropped, EVENT_RESULT_BYTES_MAX, EVENTS_KEPT, EventError, EventFilter, EventId, EventKind, EventPage,
    EventQuery, EventTail, Gap, JobEvent, JobFact, NewestEvents, News, Notice, Step, Subscription, Traced,
    WebhookFact, WorkerFact, WorkflowFact,
};
pub use explain::{EXPLAINED_MAX, Explained};
pub use fetch::{FETCH_COUNT_MAX, FETCH_WAIT_MAX, Fetch};
pub use figures::{LastHour, Period, Point, QUEUES_WITH_FIGURES_MAX};
pub use hapax_store::DEFAULT_SETTINGS;
pub use heartbeat::{Heartbeat, Pulse};
pub use job_key::Removal;
pub use job_list::{BULK_MAX, Selection};
pub use key::{RELEASED_MAX, Released};
pub use letters::{LETTERS_KEPT_BYTES, LETTERS_LOOKED_AT_MAX, LetterPlace, LetterStats, Letters};
pub use lineage::{Lineage, RELATIVES_MAX, Relatives};
pub use maintenance::Maintenance;
pub use observer::{NoObserver, Observer};
pub use pool::{Pool, PoolStrategy};
pub use priority::Priorities;
pub use queue::Openness;
pub use queue_deletion::Deleting;
pub use room::ROOM_WAIT_MAX;
pub use webhook::{
    Carrier, DELIVERIES_DEAD_KEPT, DELIVERIES_KEPT, DeliveryFilter, DeliveryPage, Letter, OUTBOX_MAX, Outbox,
    OutboxSettings, Probe, Render, SUBSCRIPTIONS_MAX, SubscriptionDraft, SubscriptionPage, SubscriptionPatch,
    SubscriptionView,
};
pub use worker::{Order, Report, STALE_AFTER, Standing, Worker};
pub use workers::{Deregistered, WORKER_FORGOTTEN_AFTER, WORKER_JOBS_MAX, WORKERS_MAX};
pub use workflow::{STEPS_SHOWN_IN_FULL, WorkflowDraft, WorkflowPage, WorkflowView};
