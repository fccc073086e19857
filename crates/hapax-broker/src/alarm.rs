//! When the chores have something to do next.

use std::sync::atomic::{AtomicI64, Ordering};

use hapax_core::Timestamp;
use tokio::sync::Notify;

const NOTHING: i64 = i64::MAX;

/// The next moment at which something is due, as far as it is known.
///
/// It is only ever moved forward, except that the chores silence it before they look into the store: whatever
/// becomes due while they look moves it again, and what was due before, the look finds.
#[derive(Debug)]
pub(crate) struct Alarm {
    due: AtomicI64,
    earlier: Notify,
}

impl Default for Alarm {
    fn default() -> Self {
        Alarm { due: AtomicI64::new(NOTHING), earlier: Notify::new() }
    }
}

impl Alarm {
    /// Says that something is due then.
    pub(crate) fn set(&self, at: Timestamp) {
        if self.due.fetch_min(at.millis(), Ordering::AcqRel) > at.millis() {
            self.earlier.notify_one();
        }
    }

    /// Forgets what is due: the caller looks for itself.
    pub(crate) fn silence(&self) {
        self.due.store(NOTHING, Ordering::Release);
    }

    /// When something is due next.
    pub(crate) fn due(&self) -> Option<Timestamp> {
        let millis = self.due.load(Ordering::Acquire);
        (millis != NOTHING).then(|| Timestamp::from_millis(millis))
    }

    /// Waits until something is due earlier than was known.
    pub(crate) async fn moved(&self) {
        self.earlier.notified().await;
    }
}
