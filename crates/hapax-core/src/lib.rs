//! What a job is: its shape, its life, its key. Pure: nothing here waits, reads a clock, draws a random
//! number or fails for a reason outside its arguments.
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod canonical;
pub mod json;

mod admission;
mod decide;
mod due;
mod duration;
mod event;
mod failure;
mod id;
mod job;
mod lease;
mod name;
mod phase;
mod refusal;
mod retry;
mod rules;
mod spec;
mod state;
mod step;
#[cfg(test)]
mod testing;
mod time;
pub mod unique;

pub use admission::{Admission, Incoming, REPLACED_MAX, Verdict};
pub use decide::decide;
pub use due::next_due;
pub use duration::{DurationError, format_iso8601, parse_iso8601};
pub use event::{Claimant, Event, ForeignToken, Handback};
pub use failure::{Directive, FAILURES_KEPT, Failure, History, WorkerError};
pub use id::{IdError, JobId};
pub use job::Job;
pub use json::Json;
pub use lease::{Lease, LeaseToken, WorkerId};
pub use name::{JobType, NameError, Priority, QueueName};
pub use phase::{Cause, Phase};
pub use refusal::Refusal;
pub use retry::{Backoff, Chance, Exhaustion, RetryError, RetryPolicy};
pub use rules::{Retention, Rules};
pub use spec::{Delivery, GivenTime, Spec, SpecPatch, Timeout};
pub use state::{State, StateSet, UnknownState};
pub use step::{Transition, let_go, lets_successors_go, record_reentry, reentry_key};
pub use time::{TimeError, Timestamp};
