//! Calling workers that wait for jobs.
//!
//! Whoever waits stands on the list of each of its queues *before* it looks into the store, so that a job which
//! comes after the look finds it there. A call is for a number of jobs in one queue and takes the called off all
//! lists, so further jobs call others. What holds at all times: as long as somebody stands on a queue's list, each
//! available job of that queue has been called for, and the called one will still look. Hence a call is never
//! dropped: one that its receiver could not use, because it left or took other jobs, goes to the next in line.

mod watching;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use watching::Watching;

use hapax_core::{Job, QueueName};
use tokio::sync::Notify;

/// The lists of those who wait. A std mutex: it is held for a few look-ups and never across an await.
#[derive(Debug, Default)]
pub(crate) struct Wakeups(Mutex<Lists>);

#[derive(Debug, Default)]
struct Lists {
    closed: bool,
    /// Numbers are given in the order of arrival and kept while waiting: who waits longest is called first.
    next_number: u64,
    waiters: HashMap<u64, Waiter>,
    by_queue: HashMap<QueueName, BTreeSet<u64>>,
    /// The bells of those who stand aside.
    watchers: HashMap<QueueName, BTreeMap<u64, Arc<Notify>>>,
}

#[derive(Debug)]
struct Waiter {
    queues: Vec<QueueName>,
    /// How many jobs it can take, at least one.
    count: usize,
    calls: Vec<Call>,
    bell: Arc<Notify>,
}

/// Jobs that became available in a queue.
#[derive(Debug, Clone)]
struct Call {
    queue: QueueName,
    jobs: usize,
}

/// A place on the lists. Dropping it leaves them.
#[derive(Debug)]
pub(crate) struct Waiting<'w> {
    wakeups: &'w Wakeups,
    number: u64,
    bell: Arc<Notify>,
    /// The calls that the look into the store answers which comes next or is under way.
    answering: Vec<Call>,
}

/// Why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Called {
    /// There may be jobs.
    ToWork,
    /// Nobody may wait any longer.
    Off,
}

impl Wakeups {
    /// A place for somebody who takes up to `count` jobs from these queues; nothing if nobody may wait any longer.
    pub(crate) fn register(&self, queues: &[QueueName], count: usize) -> Option<Waiting<'_>> {
        let mut lists = self.lists();
        if lists.closed {
            return None;
        }
        let number = lists.next_number;
        lists.next_number += 1;
        let bell = Arc::new(Notify::new());
        let waiter = Waiter { queues: queues.to_vec(), count, calls: Vec::new(), bell: Arc::clone(&bell) };
        lists.waiters.insert(number, waiter);
        Some(Waiting { wakeups: self, number, bell, answering: Vec::new() })
    }

    /// Says that jobs became available: calls as many as can take them, those who wait longest first.
    pub(crate) fn call(&self, queue: &QueueName, jobs: usize) {
        self.lists().call(queue, jobs);
    }

    /// Has one of each queue look, in case that word of a job got lost.
    pub(crate) fn call_for_a_look(&self) {
        let mut lists = self.lists();
        let queues: BTreeSet<QueueName> =
            lists.by_queue.keys().chain(lists.watchers.keys()).cloned().collect();
        for queue in queues {
            lists.call(&queue, 1);
        }
    }

    /// Sends everybody away, now and from now on.
    pub(crate) fn close(&self) {
        let mut lists = self.lists();
        lists.closed = true;
        lists.waiters.values().for_each(|waiter| waiter.bell.notify_one());
        lists.watchers.values().flat_map(BTreeMap::values).for_each(|bell| bell.notify_one());
    }

    fn lists(&self) -> MutexGuard<'_, Lists> {
        // Nothing under the lock can panic half-way, so a poisoned list is still a whole one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lists {
    fn call(&mut self, queue: &QueueName, mut jobs: usize) {
        if let Some(watchers) = self.watchers.get(queue) {
            for bell in watchers.values() {
                bell.notify_one();
            }
        }
        while jobs > 0
            && let Some(first) = self.by_queue.get(queue).and_then(|numbers| numbers.first().copied())
        {
            self.strike_off(first);
            let Some(waiter) = self.waiters.get_mut(&first) else { return };
            let share = jobs.min(waiter.count);
            waiter.calls.push(Call { queue: queue.clone(), jobs: share });
            waiter.bell.notify_one();
            jobs -= share;
        }
    }

    fn strike_off(&mut self, number: u64) {
        let Some(waiter) = self.waiters.get(&number) else { return };
        for queue in &waiter.queues {
            if let Some(numbers) = self.by_queue.get_mut(queue) {
                numbers.remove(&number);
                if numbers.is_empty() {
                    self.by_queue.remove(queue);
                }
            }
        }
    }
}

impl Waiting<'_> {
    /// Stands on the lists, to be called. The look into the store that follows answers the calls so far.
    pub(crate) fn enlist(&mut self) {
        let Lists { waiters, by_queue, .. } = &mut *self.wakeups.lists();
        let Some(waiter) = waiters.get_mut(&self.number) else { return };
        self.answering.append(&mut waiter.calls);
        for queue in &waiter.queues {
            match by_queue.get_mut(queue) {
                Some(numbers) => numbers.insert(self.number),
                None => by_queue.entry(queue.clone()).or_default().insert(self.number),
            };
        }
    }

    /// Waits for a call.
    pub(crate) async fn called(&mut self) -> Called {
        self.bell.notified().await;
        if self.wakeups.lists().closed { Called::Off } else { Called::ToWork }
    }

    /// The look brought all there was: nothing is left to call others for.
    pub(crate) fn nothing_left(&mut self) {
        self.answering.clear();
    }

    /// The look brought these jobs. They need not be those that the calls were for.
    pub(crate) fn took(&mut self, jobs: &[Job]) {
        for job in jobs {
            if let Some(call) =
                self.answering.iter_mut().find(|call| call.jobs > 0 && call.queue == job.spec.queue)
            {
                call.jobs -= 1;
            }
        }
    }
}

impl Drop for Waiting<'_> {
    /// Calls that were not answered, and those that came after the last look, go to the next in line.
    fn drop(&mut self) {
        let mut lists = self.wakeups.lists();
        lists.strike_off(self.number);
        let late = lists.waiters.remove(&self.number).map_or_else(Vec::new, |waiter| waiter.calls);
        for call in mem::take(&mut self.answering).into_iter().chain(late) {
            lists.call(&call.queue, call.jobs);
        }
    }
}

#[cfg(test)]
mod tests;
