//! Counts that are kept, never counted.

use hapax_core::{QueueName, Refusal, State, Timestamp};

/// How many jobs stand in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts([u64; 8]);

impl Counts {
    /// The number in this state.
    pub const fn of(&self, state: State) -> u64 {
        self.0[state as usize]
    }

    /// How many wait, for their time or for a worker.
    pub fn waiting(&self) -> u64 {
        State::ALL.into_iter().filter(|state| state.is_waiting()).map(|state| self.of(state)).sum()
    }

    /// How many have not ended.
    pub fn living(&self) -> u64 {
        self.waiting() + self.of(State::Active)
    }

    /// Whether there are none at all.
    pub fn is_empty(&self) -> bool {
        *self == Counts::default()
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

impl QueueFacts {
    /// Why the queue cannot be removed, if it cannot.
    pub fn bars_removal(&self) -> Option<Refusal> {
        let jobs = self.counts.living();
        (jobs > 0).then(|| Refusal::QueueInUse { queue: self.name.clone(), jobs })
    }
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
