//! Letting time pass.

use hapax_core::{Chance, Event, Timestamp};
use hapax_store::{Advance, fall_due, workflow};

use crate::Fault;
use crate::tables::Tables;

impl Tables<'_> {
    /// Each due job takes one step, so nothing can go round in circles here: a job that is due again at once
    /// waits for the next call.
    pub(crate) fn advance(&mut self, now: Timestamp, limit: usize, chance: Chance) -> Result<Advance, Fault> {
        let (mut changes, mut kept) = (Vec::new(), 0);
        for seq in self.index.timers.due(now, limit) {
            let stored = self.rows.load(seq)?;
            if workflow::keep(self, &stored.job, now)? {
                kept += 1;
                continue;
            }
            changes.extend(self.take_step(stored, Event::TimePassed { chance }, now)?);
        }
        let due = self.index.due_entries.due(now, limit);
        let mut ticks = Vec::new();
        for key in &due {
            ticks.extend(fall_due(self, key, now)?);
        }
        self.share()?;
        // All of them: `next_due` speaks of jobs only, so what is left over would pile up.
        for seq in self.index.memos.forget(now) {
            self.forget_memo(seq);
        }
        let next_due = self.index.timers.next().into_iter().chain(self.index.due_entries.next()).min();
        Ok(Advance { changes, ticks, entries: due.len(), kept, next_due })
    }
}
