//! Pools as they are stored, and what fetches took from them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use hapax_broker::{Pool, PoolStrategy};
use hapax_core::json::{self, Limits};
use hapax_core::{Job, QueueName};
use hapax_wire::writer;

/// Most pools whose fetches are counted.
const POOLS_MAX: usize = 1000;

/// The text that is stored of a pool.
pub(crate) fn written(pool: &Pool) -> String {
    let mut out = Vec::new();
    writer::object(&mut out, |o| {
        o.text("strategy", pool.strategy.name());
        o.array("queues", &pool.queues, |(queue, weight), out| {
            writer::object(out, |o| {
                o.text("name", queue.as_str());
                o.number("weight", weight);
            });
        });
    });
    String::from_utf8_lossy(&out).into_owned()
}

/// The pool that was stored like this.
pub(crate) fn read(text: &str) -> Option<Pool> {
    let node = json::read(text, Limits::DEFAULT).ok()?;
    let strategy = node.get("strategy")?.as_str()?;
    let strategy = PoolStrategy::ALL.into_iter().find(|known| known.name() == strategy)?;
    let queues = node.get("queues")?.as_array()?.iter().map(|queue| {
        let name = QueueName::parse(queue.get("name")?.as_str()?).ok()?;
        Some((name, u32::try_from(queue.get("weight")?.as_i64()?).ok()?))
    });
    Some(Pool { strategy, queues: queues.collect::<Option<_>>()? })
}

/// What fetches took from pools, since the server started.
#[derive(Debug, Default)]
pub(crate) struct Dispatches(Mutex<HashMap<Box<str>, Dispatched>>);

/// What was taken from one pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dispatched {
    pub(crate) fetches: u64,
    /// Jobs by queue. There are no more than the pool had queues in all its forms.
    pub(crate) jobs: BTreeMap<QueueName, u64>,
}

impl Dispatches {
    /// Counts what a fetch took.
    pub(crate) fn count(&self, pool: &str, jobs: &[Job]) {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pools.len() >= POOLS_MAX && !pools.contains_key(pool) {
            return;
        }
        let dispatched = pools.entry(pool.into()).or_default();
        dispatched.fetches += 1;
        for job in jobs {
            *dispatched.jobs.entry(job.spec.queue.clone()).or_default() += 1;
        }
    }

    /// Everything, by the name of the pool.
    pub(crate) fn all(&self) -> Vec<(Box<str>, Dispatched)> {
        let pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = pools.iter().map(|(name, counts)| (name.clone(), counts.clone())).collect();
        all.sort_by(|(one, _), (another, _)| one.cmp(another));
        all
    }

    /// Nothing was taken from it: it is no more.
    pub(crate) fn forget(&self, pool: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(pool);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_read_as_it_was_written() {
        let queues = vec![(QueueName::parse("a").unwrap(), 7), (QueueName::parse("b").unwrap(), 1)];
        for strategy in PoolStrategy::ALL {
            let pool = Pool { strategy, queues: queues.clone() };
            assert_eq!(read(&written(&pool)), Some(pool));
        }
    }
}
