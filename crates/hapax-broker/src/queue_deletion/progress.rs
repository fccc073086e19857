//! How far this server has come with each queue that is being deleted.

use std::collections::HashMap;
use std::iter;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hapax_core::{JobId, QueueName, Timestamp};
use hapax_store::Counts;
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long nothing is looked for if nobody calls.
const REST: Duration = Duration::from_secs(1);
/// After how long a queue is looked through again in which nothing could be done and nothing has changed: what its jobs wait for
/// may have happened elsewhere.
const REST_OF_A_QUEUE: Duration = Duration::from_secs(15);
/// Most jobs of a pass of which it is known for whom they wait. Beyond them lines move in more than one pass.
const BEHIND_MAX: usize = 10_000;

/// How far this server has come with each queue.
#[derive(Debug, Default)]
pub(crate) struct Deletions {
    queues: Mutex<HashMap<QueueName, Progress>>,
    call: Notify,
}

#[derive(Debug, Default)]
struct Progress {
    pass: Pass,
    resting: Option<Resting>,
}

/// Nothing could be done with the jobs of a queue when there were so many of them.
#[derive(Debug)]
struct Resting {
    counts: Option<Counts>,
    until: Timestamp,
}

/// A pass through all jobs, in the order of their ids.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// The job after which the next look begins.
    pub(super) after: Option<JobId>,
    /// Whether anything happened to one that was seen.
    pub(super) has_treated: bool,
    /// Who came by before the one for whom it waits. Ids say little about the order of a line.
    behind: HashMap<JobId, JobId>,
}

impl Pass {
    /// A job could not move, perhaps because of the one for whom it waits.
    pub(super) fn note_behind(&mut self, id: JobId, waits_for: Option<JobId>) {
        if let Some(other) = waits_for.filter(|_| self.behind.len() < BEHIND_MAX) {
            self.behind.insert(other, id);
        }
    }

    /// Those who wait for a job and for each other, in their order.
    pub(super) fn take_behind(&mut self, id: JobId) -> Vec<JobId> {
        let first = self.behind.remove(&id);
        iter::successors(first, |id| self.behind.remove(id)).collect()
    }
}

impl Deletions {
    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.queues().clear();
    }

    /// The pass that goes on.
    pub(super) fn take(&self, queue: &QueueName) -> Pass {
        self.queues().remove(queue).unwrap_or_default().pass
    }

    pub(super) fn keep(&self, queue: &QueueName, pass: Pass) {
        self.queues().insert(queue.clone(), Progress { pass, resting: None });
    }

    pub(super) fn forget(&self, queue: &QueueName) {
        self.queues().remove(queue);
    }

    /// Whether nothing has changed since nothing could be done.
    pub(super) fn rests(&self, queue: &QueueName, counts: Option<&Counts>, now: Timestamp) -> bool {
        let queues = self.queues();
        let resting = queues.get(queue).and_then(|progress| progress.resting.as_ref());
        // A clock that is set back lets nobody rest for longer.
        let is_time = |until: Timestamp| now >= until || until.since(now) > REST_OF_A_QUEUE;
        resting.is_some_and(|resting| resting.counts.as_ref() == counts && !is_time(resting.until))
    }

    pub(super) fn let_rest(&self, queue: &QueueName, counts: Option<Counts>, now: Timestamp) {
        let resting = Some(Resting { counts, until: now + REST_OF_A_QUEUE });
        self.queues().insert(queue.clone(), Progress { pass: Pass::default(), resting });
    }

    /// There is something to do.
    pub(super) fn wake(&self) {
        self.call.notify_one();
    }

    /// Waits until there may be something to do.
    pub(super) async fn rest(&self) {
        // Whether somebody called or not: it is looked either way.
        let _called = timeout(REST, self.call.notified()).await;
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<QueueName, Progress>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_behind_a_job_come_in_the_order_of_their_line_whatever_order_they_were_seen_in() {
        let id = |number| JobId::new(Timestamp::EPOCH, [number; 10]);
        let mut pass = Pass::default();
        for number in [4, 2, 3, 9] {
            pass.note_behind(id(number), Some(id(number - 1)));
        }
        pass.note_behind(id(7), None);
        assert_eq!(pass.take_behind(id(1)), [id(2), id(3), id(4)]);
        assert_eq!(pass.take_behind(id(1)), []);
    }
}
