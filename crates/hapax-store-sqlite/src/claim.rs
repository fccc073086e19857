//! Handing out jobs.

use hapax_core::Event;
use hapax_store::{Change, Claim, EXPIRED_PER_CLAIM_MAX};

use crate::Fault;
use crate::tables::Tables;

impl Tables<'_> {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Result<Vec<Change>, Fault> {
        let mut changes = Vec::new();
        let (mut delivered, mut expired) = (0, 0);
        for queue in &claim.queues {
            if !self.index.gives_jobs(queue) {
                continue;
            }
            while delivered < claim.count && expired < EXPIRED_PER_CLAIM_MAX {
                let Some(seq) = self.index.lines.first(queue) else { break };
                let stored = self.rows.load(seq)?;
                let fence = stored.job.fence;
                let event = Event::Claim {
                    worker: claim.worker.clone(),
                    token: claim.token,
                    visibility_timeout: claim.visibility_timeout,
                };
                let Ok(change) = self.take_step(stored, event, claim.now)? else { break };
                // A delivery always raises the fence; anything else that a claim leads to does not.
                if change.job().fence > fence {
                    delivered += 1;
                } else {
                    expired += 1;
                }
                changes.push(change);
            }
        }
        Ok(changes)
    }
}
