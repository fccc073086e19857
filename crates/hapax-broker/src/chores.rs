//! The chores: letting happen what is due. The work (`tick`) takes the time; the loop only sleeps.

use std::pin::pin;
use std::time::Duration;

use hapax_core::Timestamp;
use hapax_store::{Store, StoreError};

use crate::setback::Latest;
use crate::settle::Settling;
use crate::{Broker, Error};

/// Most jobs that one look into the store changes, so that requests get their turn in between.
const ADVANCE_MAX: usize = 500;
/// Longest sleep. The clock on the wall may jump, and sleeping follows another clock; and if ever a moment were
/// missed, this bounds how late it is noticed.
const NAP_MAX: Duration = Duration::from_secs(1);

impl Broker {
    /// Does the chores until told to stop, beginning at once with what became due while the server was down. The
    /// caller owns the task: an error or a panic here must stop the server, for without the chores nothing that is
    /// scheduled, retried or lost by its worker would ever run.
    pub async fn run_chores(&self, stop: impl Future<Output = ()>) -> Result<(), Error> {
        tokio::select! {
            biased;
            () = stop => {}
            done = self.look_again_and_again() => done?,
            // Beside the others, for it may wait for a lock that somebody holds, and time goes on.
            () = self.run_deletions() => {}
            () = self.look_around_again_and_again() => {}
            () = self.watch_workers() => {}
        }
        self.shared.orphans.finish().await;
        Ok(())
    }

    async fn look_again_and_again(&self) -> Result<(), Error> {
        let mut latest = Latest::default();
        loop {
            self.endure(self.look(&mut latest).await)?;
            self.nap().await;
        }
    }

    /// A database that is away comes back, and other servers do the chores meanwhile or after. Any other trouble is final.
    fn endure(&self, done: Result<(), Error>) -> Result<(), Error> {
        match done {
            Err(Error::Store(error @ (StoreError::Failed(_) | StoreError::Unknown(_))))
                if self.shared.store.is_shared() =>
            {
                tracing::warn!(error = &error as &dyn std::error::Error, "the chores wait for the store");
                self.shared.alarm.silence();
                Ok(())
            }
            done => done,
        }
    }

    /// One look at the clock, and at what is due.
    pub(crate) async fn look(&self, latest: &mut Latest) -> Result<(), Error> {
        let now = self.now();
        self.shared.events.overtake(now);
        self.watch_clock(latest, now).await?;
        self.tick(now).await
    }

    /// Lets everything happen that is due, and sets the alarm for what comes next.
    pub(crate) async fn tick(&self, now: Timestamp) -> Result<(), Error> {
        loop {
            let shared = &self.shared;
            shared.alarm.silence();
            let chance = shared.entropy.chance();
            let advance =
                Settling::new(shared, now, |store: &dyn Store| store.advance(now, ADVANCE_MAX, chance))
                    .await?;
            let overdue = advance.next_due.is_some_and(|at| at <= now);
            if !overdue {
                return Ok(());
            }
            if advance.changes.is_empty() && advance.entries == 0 && advance.kept == 0 {
                // Asking again would give the same answer: better a late look than a busy loop.
                tracing::error!(next_due = ?advance.next_due, "the store calls something due but lets nothing happen");
                shared.alarm.silence();
                return Ok(());
            }
        }
    }

    /// Looks what other servers may have done without word of it having come here, however much is due meanwhile.
    #[expect(clippy::disallowed_methods, reason = "the chores are what waits for the time")]
    async fn look_around_again_and_again(&self) {
        if !self.shared.store.is_shared() {
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(NAP_MAX).await;
            self.shared.wakeups.call_for_a_look();
            // A store that cannot be reached now is asked again.
            drop(self.learn_settings().await);
        }
    }

    /// Sleeps until something is due.
    #[expect(clippy::disallowed_methods, reason = "the chores are what waits for the time")]
    async fn nap(&self) {
        let mut longest = pin!(tokio::time::sleep(NAP_MAX));
        loop {
            let left = self.shared.alarm.due().map_or(NAP_MAX, |due| due.since(self.now()));
            if left.is_zero() {
                return;
            }
            tokio::select! {
                () = &mut longest => return,
                () = tokio::time::sleep(left.min(NAP_MAX)) => {}
                () = self.shared.alarm.moved() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
