//! Letting time pass.

use hapax_core::{Chance, Event, Timestamp};
use hapax_store::Advance;

use crate::Fault;
use crate::tables::Tables;

impl Tables<'_> {
    /// Each due job takes one step, so nothing can go round in circles here: a job that is due again at once
    /// waits for the next call.
    pub(crate) fn advance(&mut self, now: Timestamp, limit: usize, chance: Chance) -> Result<Advance, Fault> {
        let mut changes = Vec::new();
        for seq in self.index.timers.due(now, limit) {
            let stored = self.rows.load(seq)?;
            changes.extend(self.take_step(stored, Event::TimePassed { chance }, now)?);
        }
        // All of them: `next_due` speaks of jobs only, so what is left over would pile up.
        for seq in self.index.memos.forget(now) {
            self.forget_memo(seq);
        }
        Ok(Advance { changes, next_due: self.index.timers.next() })
    }
}
