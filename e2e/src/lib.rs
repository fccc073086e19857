//! What the end-to-end tests share: a server under guard, a plain HTTP client, jobs and patience.
//!
//! The server is the built binary. Nothing here knows its insides: these tests see what a user sees, and
//! what the operating system sees.

mod answer;
mod client;
pub mod clock;
pub mod disk;
pub mod fleet;
mod heard;
mod holder;
pub mod ids;
mod job;
mod keeper;
pub mod keys;
mod launch;
mod listener;
mod process;
mod random;
pub mod receiver;
mod server;
mod shift;
mod threads;
pub mod trace;
mod worker;

pub use answer::Answer;
pub use client::{Client, Failure, Request};
pub use heard::Heard;
pub use holder::Holder;
pub use job::{Job, job};
pub use keeper::{crashes, database_lives_on};
pub use launch::{Exit, Launch};
pub use listener::{Listener, Told};
pub use random::Random;
pub use server::Server;
pub use shift::Shift;
pub use threads::together;
pub use worker::Delivery;

/// A start that no test will live to see.
pub const FAR_FUTURE: &str = "2099-01-01T00:00:00Z";

/// The five states in which a job still has something before it.
pub const INCOMPLETE: [&str; 5] = ["scheduled", "available", "pending", "retryable", "active"];

/// The three states in which a job has ended.
pub const TERMINAL: [&str; 3] = ["completed", "cancelled", "discarded"];

/// All eight states.
pub const EVERY_STATE: [&str; 8] =
    ["scheduled", "available", "pending", "retryable", "active", "completed", "cancelled", "discarded"];
