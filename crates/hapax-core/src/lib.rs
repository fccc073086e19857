//! What a job is: its shape, its life, its key. Pure: nothing here waits, reads a clock, draws a random
//! number or fails for a reason outside its arguments.
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod canonical;
pub mod cron;
pub mod json;
pub mod limit;

mod admission;
mod agent;
mod bound;
mod decide;
mod deletion;
mod due;
mod duration;
mod event;
mod failure;
mod filter;
mod id;
mod job;
mod lease;
mod name;
mod nearest;
mod ordering;
mod phase;
mod progress;
mod queue_settings;
mod refusal;
mod retry;
mod rules;
mod said;
mod spec;
mod state;
mod step;
mod tenant;
#[cfg(test)]
mod testing;
mod time;
mod time_limits;
mod trace;
pub mod unique;
pub mod webhook;
pub mod workflow;

pub use admission::{Admission, Incoming, REPLACED_MAX, Verdict};
pub use agent::{AGENT_BYTES_MAX, AGENT_MEMBER, AgentDeed, MergeStrategy, Merged, TOOL_ATTEMPTS, ToolRetry};
pub use bound::{Bound, Overflow};
pub use decide::decide;
pub use deletion::Deletion;
pub use due::next_due;
pub use duration::{DurationError, format_iso8601, parse_iso8601};
pub use event::{Claimant, Event, ForeignToken, Handback, ParentResults};
pub use failure::{Directive, FAILURES_KEPT, Failure, History, Overrun, WorkerError};
pub use filter::{JobFilter, KindPattern, MetaMember, TimeRange};
pub use id::{IdError, JobId};
pub use job::Job;
pub use json::Json;
pub use lease::{Lease, LeaseToken, WorkerId};
pub use name::{JobType, NameError, Priority, QueueName};
pub use nearest::nearest;
pub use ordering::{NoOrderingKey, ORDERING_KEY_BYTES_MAX, Order, OrderingKey, joins_line, line_up};
pub use phase::{Cause, Phase};
pub use progress::{Checkpoint, Fraction, Progress, Report};
pub use queue_settings::{KeptFor, QueueSettings, Unsaid, UnsaidRetry};
pub use refusal::Refusal;
pub use retry::{Backoff, Chance, Exhaustion, RetryError, RetryPolicy};
pub use rules::{Retention, Rules};
pub use said::Said;
pub use spec::{Delivery, GivenTime, Spec, SpecPatch, Timeout};
pub use state::{State, StateSet, UnknownState};
pub use step::{Parting, Transition, hand_on, kept_on, let_go, parting, record_reentry, reentry_key};
pub use tenant::{TENANT_MEMBER, TenantId};
pub use time::{TimeError, Timestamp};
pub use time_limits::TimeLimits;
pub use trace::{TRACE_PARENT_MEMBER, TRACE_STATE_BYTES_MAX, TRACE_STATE_MEMBER, TraceContext, TraceParent};
