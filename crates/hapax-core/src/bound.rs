//! How many jobs may wait in a queue.

/// The most jobs that may wait in a queue, and what happens to one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// So many may wait: scheduled, available, pending or for another attempt.
    pub max: u64,
    /// What happens to one more.
    pub overflow: Overflow,
}

/// What happens to a job that comes to a full queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// It is refused.
    Reject,
    /// It is refused, after its client has waited for room if it wants to.
    Block,
    /// The oldest available job of the lowest priority is given up for it.
    DropOldest,
}

impl Overflow {
    /// All of them.
    pub const ALL: [Overflow; 3] = [Overflow::Reject, Overflow::Block, Overflow::DropOldest];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Overflow::Reject => "reject",
            Overflow::Block => "block",
            Overflow::DropOldest => "drop_oldest",
        }
    }
}
