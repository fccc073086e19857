//! What is to become of a queue that is deleted, on its way in.

use hapax_core::json::Node;
use hapax_core::{Deletion, QueueName};

use super::draft::read_queue;
use super::retry::choice;
use super::{Fault, Given};

/// What is to become of the jobs of a queue that have not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// While there are any, the queue stays.
    Reject,
    /// They are given up.
    Discard,
    /// They go to another queue.
    Move,
}

impl Strategy {
    /// All of them.
    pub(crate) const ALL: [Strategy; 3] = [Strategy::Reject, Strategy::Discard, Strategy::Move];

    /// The name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Strategy::Reject => "reject",
            Strategy::Discard => "discard",
            Strategy::Move => "move",
        }
    }

    /// That of a deletion that is under way.
    pub(crate) const fn of(deletion: &Deletion) -> Strategy {
        match deletion {
            Deletion::Discard => Strategy::Discard,
            Deletion::MoveTo(_) => Strategy::Move,
        }
    }
}

/// Reads the body of `DELETE /queues/{name}`; nothing is to become of jobs if there may be none.
pub(crate) fn queue_deletion(body: &Node<'_>, queue: &QueueName) -> Result<Option<Deletion>, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["strategy", "target_queue"])?;
    let given = body.required("strategy", "reject, discard or move")?;
    let strategy = choice(given, "strategy", &Strategy::ALL, Strategy::name)?;
    let target = body.member("target_queue");
    if let Some(target) = target.filter(|_| strategy != Strategy::Move) {
        let problem = format_args!("is for the strategy move; {} sends no job anywhere", strategy.name());
        return Err(Fault::new(target.place, problem));
    }
    Ok(match strategy {
        Strategy::Reject => None,
        Strategy::Discard => Some(Deletion::Discard),
        Strategy::Move => {
            let given = body.required("target_queue", "the queue to which the jobs go")?;
            let target = read_queue(given)?;
            if target == *queue {
                return Err(Fault::new(given.place, "must be another queue than the one that is deleted"));
            }
            Some(Deletion::MoveTo(target))
        }
    })
}
