//! How a listener hears that there is something to read.

use std::sync::Arc;

use tokio::sync::Notify;

/// Rings when one of the subscriptions that were made with it has something to read. Cheap to clone: all clones are
/// one bell, for one listener.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Notify>);

impl Bell {
    /// Waits until it rings; at once if it rang since the last time. May be dropped half-way without missing a ring.
    pub async fn rung(&self) {
        self.0.notified().await;
    }

    pub(super) fn ring(&self) {
        self.0.notify_one();
    }
}
