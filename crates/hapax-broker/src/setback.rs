//! A clock that was set back: what was put off by the moments that it showed before is looked at again.

use std::sync::Arc;
use std::time::Duration;

use hapax_core::Timestamp;
use hapax_store::record::cron as record;
use hapax_store::{Edit, EntryQuery, Register, Written, cron, limit};

use crate::{Broker, Error};

/// By how much a clock has to be set back before it counts. Clocks are set right by less all the time.
const SET_BACK_MIN: Duration = Duration::from_secs(1);
/// How many entries are read at a time.
const PAGE: usize = 1000;

/// The latest moment that the chores have seen, since the clock was set back the last time.
#[derive(Debug, Default)]
pub(crate) struct Latest(Option<Timestamp>);

impl Latest {
    /// Whether a moment lies before what was seen, or is the first: nobody knows what the clock showed before that.
    fn is_set_back(&self, now: Timestamp) -> bool {
        self.0.is_none_or(|latest| now + SET_BACK_MIN < latest)
    }
}

impl Broker {
    /// Looks whether the clock was set back. If it was, recurring jobs and rate limits wait for moments of today again.
    pub(crate) async fn watch_clock(&self, latest: &mut Latest, now: Timestamp) -> Result<(), Error> {
        if !latest.is_set_back(now) {
            latest.0 = latest.0.max(Some(now));
            return Ok(());
        }
        self.settle(Register::Cron, now, move |name, before| {
            let mut cron = record::read(name, &before.body).ok()?;
            cron.settle(now);
            Some(cron::written(&cron))
        })
        .await?;
        self.settle(Register::Limit, now, move |_, before| limit::settled(before, now)).await?;
        latest.0 = Some(now);
        Ok(())
    }

    /// Changes the entries that say something else by now. What cannot be read stays as it is.
    async fn settle(
        &self,
        register: Register,
        now: Timestamp,
        settled: impl Fn(&str, &Written) -> Option<Written> + Clone + Send + Sync + 'static,
    ) -> Result<(), Error> {
        let mut after: Option<Arc<str>> = None;
        loop {
            let query = EntryQuery { register, prefix: "".into(), after, limit: PAGE };
            let page = self.shared.store.entries(query).await?;
            after = page.entries.last().map(|entry| Arc::clone(&entry.key.name));
            for entry in page.entries {
                let next = settled(&entry.key.name, &entry.written);
                if next.is_none_or(|next| next == entry.written) {
                    continue;
                }
                let (settled, name) = (settled.clone(), Arc::clone(&entry.key.name));
                // Somebody may have changed it meanwhile.
                let edit = Edit::new(move |before: Option<&Written>| {
                    let next = before.and_then(|before| settled(&name, before));
                    Ok(next.or_else(|| before.cloned()))
                });
                self.edit(now, entry.key, edit).await?;
            }
            if !page.has_more {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::limit::{LimitKey, Limits, OnLimit, Pace, RateLimit, Share, Window};

    use super::*;
    use crate::Draft;
    use crate::cron::tests::every_minute;
    use crate::testing::{draft, rig};

    fn limited() -> Draft {
        let pace = Pace::new(1, Duration::from_secs(1), Window::Sliding).unwrap();
        let limits = Limits { rate: Some(pace), ..Limits::default() };
        let key = LimitKey::parse("mail").unwrap();
        let limit = RateLimit { key, limits, on_limit: OnLimit::Wait, share: Share::default() };
        let mut draft = draft();
        draft.spec.rate_limit = Some(Box::new(limit));
        draft
    }

    const MONTH: Duration = Duration::from_hours(24 * 30);

    #[tokio::test(start_paused = true)]
    async fn a_clock_that_was_ahead_for_a_moment_does_not_silence_recurring_jobs() {
        let rig = rig();
        let mut latest = Latest::default();
        rig.broker.register_cron(every_minute()).await.unwrap();
        rig.broker.look(&mut latest).await.unwrap();
        rig.clock.jump(i64::try_from(MONTH.as_millis()).unwrap());
        rig.broker.look(&mut latest).await.unwrap();
        let ahead = rig.broker.cron("nightly").await.unwrap().unwrap();
        assert_eq!(ahead.run_count, 1);
        rig.clock.jump(-i64::try_from(MONTH.as_millis()).unwrap());
        let (again, _) = rig.broker.register_cron(every_minute()).await.unwrap();
        assert!(again.next_run_at <= Some(rig.broker.now() + Duration::from_mins(1)), "registered again");
        rig.broker.look(&mut latest).await.unwrap();
        let settled = rig.broker.cron("nightly").await.unwrap().unwrap();
        assert!(settled.next_run_at <= Some(rig.broker.now() + Duration::from_mins(1)));
        assert!(rig.take("default").await.is_some());
        tokio::time::advance(Duration::from_mins(1)).await;
        rig.broker.look(&mut latest).await.unwrap();
        assert_eq!(rig.broker.cron("nightly").await.unwrap().unwrap().run_count, 1, "the one before runs");
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_of_a_clock_that_was_ahead_keeps_nobody_away() {
        let rig = rig();
        let mut latest = Latest::default();
        rig.broker.look(&mut latest).await.unwrap();
        rig.clock.jump(i64::try_from(MONTH.as_millis()).unwrap());
        rig.broker.look(&mut latest).await.unwrap();
        for _ in 0..2 {
            rig.enqueue(limited()).await;
        }
        assert!(rig.take("default").await.is_some());
        assert!(rig.take("default").await.is_none(), "one in a second");
        rig.clock.jump(-i64::try_from(MONTH.as_millis()).unwrap());
        rig.broker.look(&mut latest).await.unwrap();
        assert!(rig.take("default").await.is_some());
        assert!(rig.broker.limit(LimitKey::parse("mail").unwrap()).await.unwrap().is_some());
    }
}
