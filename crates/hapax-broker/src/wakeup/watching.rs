//! Those who wait for jobs of one tenant.
//!
//! A call is for somebody who can take whatever comes, and these cannot: one that went to them could be lost on the others.
//! So they stand aside. Every call for their queue rings for all of them, and takes nothing from those on the list.

use std::sync::Arc;

use hapax_core::QueueName;
use tokio::sync::Notify;

use super::{Called, Wakeups};

/// A place beside the lists. Dropping it leaves.
#[derive(Debug)]
pub(crate) struct Watching<'w> {
    wakeups: &'w Wakeups,
    queues: Vec<QueueName>,
    number: u64,
    bell: Arc<Notify>,
}

impl Wakeups {
    /// A place for somebody who looks whenever a job comes to one of these queues; nothing if nobody may wait any longer.
    pub(crate) fn watch(&self, queues: &[QueueName]) -> Option<Watching<'_>> {
        let mut lists = self.lists();
        if lists.closed {
            return None;
        }
        let number = lists.next_number;
        lists.next_number += 1;
        let bell = Arc::new(Notify::new());
        for queue in queues {
            lists.watchers.entry(queue.clone()).or_default().insert(number, Arc::clone(&bell));
        }
        Some(Watching { wakeups: self, queues: queues.to_vec(), number, bell })
    }
}

impl Watching<'_> {
    /// Waits until there is reason to look. One that came since the last wait counts.
    pub(crate) async fn rung(&self) -> Called {
        self.bell.notified().await;
        if self.wakeups.lists().closed { Called::Off } else { Called::ToWork }
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        let mut lists = self.wakeups.lists();
        for queue in &self.queues {
            if let Some(watchers) = lists.watchers.get_mut(queue) {
                watchers.remove(&self.number);
                if watchers.is_empty() {
                    lists.watchers.remove(queue);
                }
            }
        }
    }
}
