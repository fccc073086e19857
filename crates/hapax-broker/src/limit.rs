//! Rate limits: looking at them, and deciding about them.

use std::sync::{Arc, Mutex, PoisonError};

use hapax_core::limit::{LimitKey, Limits, Memory, Ruling};
use hapax_core::{QueueName, Timestamp};
use hapax_store::record::limit as record;
use hapax_store::{LimitFacts, LimitPage, LimitQuery, Written, limit};

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
        Ok(self.rule(&key, move |_| ruling).await?.is_some())
    }

    /// What an operator decided about a queue.
    pub async fn queue_limit(&self, queue: &QueueName) -> Result<Option<Ruling>, Error> {
        self.ruling(&LimitKey::of_queue(queue), self.now()).await
    }

    /// Says how many jobs of a queue may run at a time, and leaves its other limits.
    pub async fn limit_queue_concurrency(
        &self,
        queue: &QueueName,
        concurrency: Option<u32>,
    ) -> Result<(), Error> {
        let decide = move |before: Option<Ruling>| {
            let limits = Limits { concurrency, ..before.map(|ruling| ruling.limits).unwrap_or_default() };
            let expires_at = before.and_then(|ruling| ruling.expires_at);
            (!limits.is_empty()).then_some(Ruling { limits, expires_at })
        };
        self.rule(&LimitKey::of_queue(queue), decide).await.map(drop)
    }

    /// Decides about a rate limit in one step, so that of two operators none undoes what the other said. What was decided
    /// before.
    async fn rule(
        &self,
        key: &LimitKey,
        decide: impl Fn(Option<Ruling>) -> Option<Ruling> + Send + Sync + 'static,
    ) -> Result<Option<Ruling>, Error> {
        let now = self.now();
        let before = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&before);
        let edit = limit::decided(
            move |ruling| {
                // A store may decide again on newer facts: the last time counts.
                *seen.lock().unwrap_or_else(PoisonError::into_inner) = ruling;
                decide(ruling)
            },
            now,
        );
        self.edit(now, limit::key(key), edit).await?;
        Ok(*before.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn ruling(&self, key: &LimitKey, now: Timestamp) -> Result<Option<Ruling>, Error> {
        let entry = self.shared.store.entry(limit::key(key)).await?;
        let read = |Written { body, .. }: Written| record::read(&body).unwrap_or_default();
        let mut memory: Memory = entry.map(|entry| read(entry.written)).unwrap_or_default();
        memory.forget(now);
        Ok(memory.ruling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{queue, rig};

    #[tokio::test(start_paused = true)]
    async fn of_two_operators_none_undoes_what_the_other_said() {
        let rig = rig();
        let mail = queue("mail");
        let key = LimitKey::of_queue(&mail);
        let limits = Limits { concurrency: Some(9), ..Limits::default() };
        let ruling =
            Ruling { limits, expires_at: Some(rig.broker.now() + std::time::Duration::from_hours(1)) };
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
        assert_eq!((after.limits.concurrency, after.expires_at), (Some(2), ruling.expires_at));
        assert!(rig.broker.decide_limit(key, None).await.unwrap(), "something was decided before");
    }
}
