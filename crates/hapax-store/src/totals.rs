//! Counts that are kept, never counted.

use hapax_core::{QueueName, State, Timestamp};

/// How many jobs stand in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u64; 8]);

impl Counts {
    /// The number in this state.
    pub const fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// Says how many are in this state.
    pub const fn set(&mut self, state: State, number: u64) {
        self.0[state as usize] = number;
    }

    /// One more in this state.
    pub const fn add(&mut self, state: State) {
        self.0[state as usize] += 1;
    }

    /// One less in this state.
    pub const fn remove(&mut self, state: State) {
        self.0[state as usize] -= 1;
    }
}

/// What is known of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueFacts {
    /// Its name.
    pub name: QueueName,
    /// Whether it gives out no jobs.
    pub paused: bool,
    /// When it was first used.
    pub created_at: Timestamp,
    /// Its jobs.
    pub counts: Counts,
}

/// Sums over all queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// All jobs.
    pub counts: Counts,
    /// Jobs that carry a key and have not ended.
    pub keys_held: u64,
    /// Dead letters.
    pub dead_letters: u64,
}
