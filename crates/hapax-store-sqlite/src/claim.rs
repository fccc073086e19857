//! Handing out jobs.

use hapax_core::Event;
use hapax_store::{Change, Claim, Tray};

use crate::Fault;
use crate::tables::Tables;

impl Tables<'_> {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Result<Vec<Change>, Fault> {
        let mut changes = Vec::new();
        let mut tray = Tray::default();
        for queue in &claim.queues {
            if !self.index.gives_jobs(queue) {
                continue;
            }
            while tray.has_room(claim) {
                let Some(seq) = self.index.lines.first(queue) else { break };
                let stored = self.rows.load(seq)?;
                let fence = stored.job.fence;
                let event = Event::Claim {
                    worker: claim.worker.clone(),
                    token: claim.token,
                    visibility_timeout: claim.visibility_timeout,
                };
                let Ok(change) = self.take_step(stored, event, claim.now)? else { break };
                tray.count(fence, change.job());
                changes.push(change);
            }
        }
        Ok(changes)
    }
}
