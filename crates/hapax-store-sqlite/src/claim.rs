//! Handing out jobs.

use std::collections::BTreeSet;

use hapax_core::Event;
use hapax_store::limit::{self, Room};
use hapax_store::{Claim, Claimed, TENANT_LOOK_MAX, Tray, may_take};

use crate::Fault;
use crate::index::lines::Place;
use crate::tables::Tables;

impl Tables<'_> {
    pub(crate) fn claim(&mut self, claim: &Claim) -> Result<Claimed, Fault> {
        let mut claimed = Claimed::default();
        let mut tray = Tray::default();
        for queue in &claim.queues {
            if !self.index.gives_jobs(queue) {
                continue;
            }
            let mut ahead = match claim.tenant {
                Some(_) => self.index.lines.first_of_all(queue, TENANT_LOOK_MAX),
                None => Vec::new(),
            }
            .into_iter();
            // Limits that have no room for the tenant's first job behind them.
            let mut full = BTreeSet::new();
            while tray.has_room(claim) {
                let next = match claim.tenant {
                    Some(_) => ahead.next(),
                    None => self.index.lines.first(queue),
                };
                let Some(place @ Place(_, seq)) = next else { break };
                let stored = self.rows.load(seq)?;
                if claim.tenant.as_ref().is_some_and(|tenant| !may_take(tenant, &stored.job, &full)) {
                    continue;
                }
                let fence = stored.job.fence;
                let mut event = Event::Claim {
                    worker: claim.worker.clone(),
                    token: claim.token,
                    visibility_timeout: claim.visibility_timeout,
                };
                match limit::room(self, &stored.job, claim.now, &mut claimed.held)? {
                    Room::There => {}
                    Room::NotForIt(key) if claim.tenant.is_some() => {
                        self.index.lines.turn_away(queue, &key, place);
                        full.insert(key);
                        continue;
                    }
                    Room::NotForIt(key) => {
                        self.index.lines.set_aside(queue, &key);
                        continue;
                    }
                    Room::NotForAny => break,
                    Room::Never(instead) => event = *instead,
                }
                let Ok(change) = self.take_step(stored, event, claim.now)? else { break };
                if change.job().fence > fence {
                    limit::started(self, change.job(), claim.now)?;
                }
                tray.count(fence, change.job());
                claimed.changes.push(change);
            }
        }
        self.share()?;
        Ok(claimed)
    }
}
