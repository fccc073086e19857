//! What happens to entries by themselves.

use hapax_core::Timestamp;
use hapax_core::workflow::WorkflowId;

use crate::{EntryKey, Ground, Register, Tick, Written, cron, limit, workflow};

/// Lets happen what is due for an entry. Tells of a recurring job what it did.
pub fn fall_due<G: Ground>(
    ground: &mut G,
    key: &EntryKey,
    now: Timestamp,
) -> Result<Option<Tick>, G::Trouble> {
    let Some(entry) = ground.entry(key)? else { return Ok(None) };
    if entry.written.due_at.is_none_or(|at| at > now) {
        return Ok(None);
    }
    match key.register {
        Register::Cron => return cron::tick(ground, key, now),
        Register::Workflow => match key.name.parse::<WorkflowId>() {
            Ok(id) => workflow::forget(ground, id)?,
            Err(_) => return Err(ground.unreadable(key)),
        },
        Register::Limit => limit::fall_due(ground, key, now)?,
        Register::Steps
        | Register::Queue
        | Register::Webhook
        | Register::Courier
        | Register::Delivery
        | Register::Schema
        | Register::Pool => {
            // Nothing happens to it by itself, whatever its writer thought: else it would be due for ever.
            ground.put_entry(key.clone(), Some(Written { due_at: None, ..entry.written }))?;
        }
    }
    Ok(None)
}
