//! Pools: queues with a rule in which order a fetch looks at them.

use hapax_core::{Chance, QueueName};

use crate::Broker;

/// How the queues of a pool take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolStrategy {
    /// Always in the order of the list.
    Strict,
    /// From another place of the list each time.
    RoundRobin,
    /// The heavier a queue, the more often it comes first.
    Weighted,
}

impl PoolStrategy {
    /// All of them.
    pub const ALL: [PoolStrategy; 3] =
        [PoolStrategy::Strict, PoolStrategy::RoundRobin, PoolStrategy::Weighted];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            PoolStrategy::Strict => "strict",
            PoolStrategy::RoundRobin => "round-robin",
            PoolStrategy::Weighted => "weighted",
        }
    }
}

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// How its queues take turns.
    pub strategy: PoolStrategy,
    /// The queues with their weights, each at least 1.
    pub queues: Vec<(QueueName, u32)>,
}

impl Pool {
    /// The order in which one fetch looks at the queues. Each queue is in it, so none waits while others are empty; by
    /// chance none is last for ever either.
    pub fn order(&self, chance: Chance) -> Vec<QueueName> {
        let mut queues = self.queues.clone();
        match self.strategy {
            PoolStrategy::Strict => {}
            PoolStrategy::RoundRobin => {
                let count = u64::try_from(queues.len()).unwrap_or(1).max(1);
                queues.rotate_left(usize::try_from(chance.0 % count).unwrap_or(0));
            }
            PoolStrategy::Weighted => return weighted(queues, chance),
        }
        queues.into_iter().map(|(queue, _)| queue).collect()
    }
}

/// Draws one queue after the other, each by its weight among those that are left.
fn weighted(mut left: Vec<(QueueName, u32)>, chance: Chance) -> Vec<QueueName> {
    let mut order = Vec::with_capacity(left.len());
    let mut seed = chance.0;
    while !left.is_empty() {
        let total: u64 = left.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut mark = mixed(&mut seed) % total.max(1);
        let drawn = left.iter().position(|(_, weight)| {
            let weight = u64::from(*weight);
            let is_drawn = mark < weight;
            mark = mark.saturating_sub(weight);
            is_drawn
        });
        order.push(left.remove(drawn.unwrap_or(0)).0);
    }
    order
}

/// The next number of a sequence that follows from the seed (`SplitMix64`).
fn mixed(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut number = *seed;
    number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Broker {
    /// The order in which a fetch now looks at the queues of a pool.
    pub fn order_of(&self, pool: &Pool) -> Vec<QueueName> {
        pool.order(self.shared.entropy.chance())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::queue;

    fn pool(strategy: PoolStrategy, queues: &[(&str, u32)]) -> Pool {
        Pool { strategy, queues: queues.iter().map(|(name, weight)| (queue(name), *weight)).collect() }
    }

    fn names(order: &[QueueName]) -> Vec<&str> {
        order.iter().map(QueueName::as_str).collect()
    }

    #[test]
    fn a_strict_pool_has_one_order_and_a_round_one_begins_anywhere() {
        let queues = [("a", 1), ("b", 9), ("c", 1)];
        let strict = pool(PoolStrategy::Strict, &queues);
        assert_eq!(names(&strict.order(Chance(7))), ["a", "b", "c"]);
        let round = pool(PoolStrategy::RoundRobin, &queues);
        assert_eq!(names(&round.order(Chance(0))), ["a", "b", "c"]);
        assert_eq!(names(&round.order(Chance(1))), ["b", "c", "a"]);
        assert_eq!(names(&round.order(Chance(u64::MAX))), ["a", "b", "c"]);
    }

    #[test]
    fn queues_of_a_weighted_pool_come_first_by_their_weight() {
        let pool = pool(PoolStrategy::Weighted, &[("heavy", 70), ("light", 30)]);
        let orders: Vec<_> = (0..10_000).map(|chance| pool.order(Chance(chance))).collect();
        let first = orders.iter().filter(|order| order[0].as_str() == "heavy").count();
        assert!((6800..7200).contains(&first), "{first}");
        assert!(orders.iter().all(|order| order.len() == 2 && order[0] != order[1]));
    }
}
