//! Fair shares of a line: where a job stands that takes turns with those of other keys.

use std::ops::Range;

use hapax_core::QueueName;
use hapax_core::limit::{LimitKey, fair_turn};

use super::{Lines, Place};

impl<P: Place> Lines<P> {
    /// The turn of a job of that key which shares the line of its queue fairly and stands there with the turn that it drew.
    pub fn fair_turn(&self, queue: &QueueName, key: &LimitKey, drawn: P) -> u64 {
        // Whoever came later in the same operation has yet to be asked.
        let before = || drawn.at(0)..drawn.at(drawn.turn());
        let last = self.last_of(queue, key, before()).map(P::turn);
        let front = self.front(queue, before()).map(P::turn);
        let next = |after: u64| {
            let next = self.first_from(queue, drawn.at(after + 1));
            next.filter(|next| before().contains(next)).map(P::turn)
        };
        fair_turn(drawn.turn(), last, front, next)
    }

    /// The first of these places for which there may be room.
    fn front(&self, queue: &QueueName, within: Range<P>) -> Option<P> {
        let line = self.queues.get(queue)?;
        let limited = line.open.range(within.clone()).next().map(|(place, _)| place);
        line.plain.range(within).next().into_iter().chain(limited).min().copied()
    }

    /// The last of these places that one with that limit has, room for it or not.
    fn last_of(&self, queue: &QueueName, key: &LimitKey, within: Range<P>) -> Option<P> {
        self.queues.get(queue)?.by_key.get(key)?.range(within).next_back().copied()
    }
}
