//! Rate limits: looking at them, and deciding about them.

use std::sync::{Arc, Mutex, PoisonError};

use hapax_core::QueueName;
use hapax_core::limit::{LimitKey, Memory, Pace, Ruling};
use hapax_store::record::limit as record;
use hapax_store::{Entry, LimitFacts, LimitPage, LimitQuery, limit};

use crate::{Broker, Error};

impl Broker {
    /// A rate limit; nothing if no job has it that has not ended, and nothing is remembered of it.
    pub async fn limit(&self, key: LimitKey) -> Result<Option<LimitFacts>, Error> {
        Ok(self.shared.store.limit(key).await?)
    }

    /// Rate limits by key.
    pub async fn limits(&self, after: Option<LimitKey>, limit: usize) -> Result<LimitPage, Error> {
        Ok(self.shared.store.limits(LimitQuery { after, limit }).await?)
    }

    /// Decides about a rate limit, in the place of what was decided before. Whether anything was.
    pub async fn decide_limit(&self, key: LimitKey, ruling: Option<Ruling>) -> Result<bool, Error> {
        Ok(self.edit_limit(&key, move |memory| memory.rule(ruling)).await?.is_some())
    }

    /// What an operator decided about a queue.
    pub async fn queue_limit(&self, queue: &QueueName) -> Result<Option<Ruling>, Error> {
        let (key, now) = (LimitKey::of_queue(queue), self.now());
        let entry = self.shared.store.entry(limit::key(&key)).await?;
        let Some(Entry { key, written }) = entry else { return Ok(None) };
        let memory: Memory = record::read(&written.body).map_err(|_| key.damaged())?;
        Ok(memory.decided(now))
    }

    /// Says how many jobs of a queue may run at a time, whatever becomes of its other limits.
    pub async fn limit_queue_concurrency(
        &self,
        queue: &QueueName,
        concurrency: Option<u32>,
    ) -> Result<(), Error> {
        let configure = move |memory: &mut Memory| memory.configure(concurrency);
        self.edit_limit(&LimitKey::of_queue(queue), configure).await.map(drop)
    }

    /// Says how many jobs of a queue may start in a while, beside its other limits.
    pub async fn limit_queue_rate(&self, queue: &QueueName, rate: Option<Pace>) -> Result<(), Error> {
        let configure = move |memory: &mut Memory| memory.configure_rate(rate);
        self.edit_limit(&LimitKey::of_queue(queue), configure).await.map(drop)
    }

    /// Decides about a rate limit in one step, so that of two operators none undoes what the other said. What was decided
    /// before.
    async fn edit_limit(
        &self,
        key: &LimitKey,
        change: impl Fn(&mut Memory) + Send + Sync + 'static,
    ) -> Result<Option<Ruling>, Error> {
        let now = self.now();
        let before = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&before);
        let edit = limit::edited(
            move |memory| {
                // A store may decide again on newer facts: the last time counts.
                *seen.lock().unwrap_or_else(PoisonError::into_inner) = memory.decided(now);
                change(memory);
            },
            now,
        );
        self.edit(now, limit::key(key), edit).await?;
        Ok(*before.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hapax_core::limit::{Limits, Pace, Window};

    use super::*;
    use crate::testing::{pass, queue, rig};

    #[tokio::test(start_paused = true)]
    async fn what_the_configuration_of_a_queue_says_stays_when_a_ruling_expires() {
        let rig = rig();
        let mail = queue("mail");
        let key = LimitKey::of_queue(&mail);
        let rate =
            Limits { rate: Pace::new(10, Duration::from_secs(1), Window::Sliding).ok(), ..Limits::default() };
        let for_an_hour = |limits: Limits| {
            let end = rig.broker.now() + Duration::from_hours(1);
            rig.broker.decide_limit(key.clone(), Some(Ruling { limits, expires_at: Some(end) }))
        };
        let figures = async || {
            let limits = rig.broker.queue_limit(&mail).await.unwrap().map(|ruling| ruling.limits);
            limits.map(|limits| (limits.concurrency, limits.rate.is_some()))
        };
        for_an_hour(rate).await.unwrap();
        rig.broker.limit_queue_concurrency(&mail, Some(5)).await.unwrap();
        assert_eq!(figures().await, Some((Some(5), true)));
        pass(Duration::from_hours(1)).await;
        assert_eq!(figures().await, Some((Some(5), false)));
        for_an_hour(Limits { concurrency: Some(2), ..rate }).await.unwrap();
        assert_eq!(figures().await, Some((Some(2), true)));
        pass(Duration::from_hours(1)).await;
        assert_eq!(figures().await, Some((Some(5), false)));
        rig.broker.limit_queue_concurrency(&mail, None).await.unwrap();
        assert_eq!(figures().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn the_rate_of_a_queue_stands_beside_its_other_limits_and_outlasts_what_was_decided_for_a_while() {
        let rig = rig();
        let mail = queue("mail");
        let pace = |limit| Pace::new(limit, Duration::from_secs(1), Window::Sliding).ok();
        let end = Some(rig.broker.now() + Duration::from_hours(1));
        let ruling = Ruling { limits: Limits { rate: pace(1), ..Limits::default() }, expires_at: end };
        let figures = async || rig.broker.queue_limit(&mail).await.unwrap();
        rig.broker.limit_queue_concurrency(&mail, Some(5)).await.unwrap();
        rig.broker.decide_limit(LimitKey::of_queue(&mail), Some(ruling)).await.unwrap();
        rig.broker.limit_queue_rate(&mail, pace(9)).await.unwrap();
        let limits = Limits { concurrency: Some(5), rate: pace(9), throttle: None };
        assert_eq!(figures().await, Some(Ruling { limits, expires_at: None }));
        rig.broker.limit_queue_rate(&mail, None).await.unwrap();
        let limits = Limits { rate: None, ..limits };
        assert_eq!(figures().await, Some(Ruling { limits, expires_at: None }));
        rig.broker.limit_queue_concurrency(&mail, None).await.unwrap();
        assert_eq!(figures().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn of_two_operators_none_undoes_what_the_other_said() {
        let rig = rig();
        let mail = queue("mail");
        let key = LimitKey::of_queue(&mail);
        let rate = Pace::new(10, Duration::from_secs(1), Window::Sliding).ok();
        let limits = Limits { concurrency: Some(9), rate, ..Limits::default() };
        let ruling = Ruling { limits, expires_at: Some(rig.broker.now() + Duration::from_hours(1)) };
        // The second decides after the first has looked and before it has written.
        rig.store.hold();
        let (one, two) = (rig.broker.clone(), rig.broker.clone());
        let (of_one, of_two) = (mail.clone(), key.clone());
        let two = tokio::spawn(async move { two.decide_limit(of_two, Some(ruling)).await.unwrap() });
        tokio::task::yield_now().await;
        let one = tokio::spawn(async move { one.limit_queue_concurrency(&of_one, Some(2)).await.unwrap() });
        tokio::task::yield_now().await;
        rig.store.release();
        assert!(!two.await.unwrap());
        one.await.unwrap();
        let after = rig.broker.queue_limit(&mail).await.unwrap().unwrap();
        assert_eq!(after.limits, Limits { concurrency: Some(2), rate, ..Limits::default() });
        assert_eq!(after.expires_at, ruling.expires_at);
        assert!(rig.broker.decide_limit(key, None).await.unwrap(), "something was decided before");
    }
}
