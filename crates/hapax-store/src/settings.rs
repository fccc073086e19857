//! The settings by which a queue works, inside the atomic section of an engine.

use hapax_core::{QueueName, QueueSettings};

use crate::record::queue as record;
use crate::{EntryKey, Ground, Register};

/// The name under which the settings of all other queues stand. No queue can have it.
pub const DEFAULT_SETTINGS: &str = "_default";

/// The entry of the settings of a queue, or of all others.
pub fn key(name: &str) -> EntryKey {
    EntryKey::new(Register::Queue, name)
}

/// What holds for a queue: what was decided about it, and where that is open what was decided about all others. Settings
/// that cannot be read decide nothing, as for whoever enqueues.
pub fn in_force<G: Ground>(ground: &mut G, queue: &QueueName) -> Result<QueueSettings, G::Trouble> {
    let own = decided(ground, queue.as_str())?;
    Ok(own.or(&decided(ground, DEFAULT_SETTINGS)?))
}

fn decided<G: Ground>(ground: &mut G, name: &str) -> Result<QueueSettings, G::Trouble> {
    let entry = ground.entry(&key(name))?;
    Ok(entry.and_then(|entry| record::read(&entry.written.body).ok()).unwrap_or_default())
}
