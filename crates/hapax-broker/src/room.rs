//! Waiting for room in a full queue.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hapax_core::{Admission, Overflow, Refusal};
use hapax_store::Memo;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::{Broker, Draft, Error, Receipt};

/// Longest time that a client may wait for room.
pub const ROOM_WAIT_MAX: Duration = Duration::from_mins(1);
/// Most clients that wait for room at a time; others are refused at once.
const WAITING_MAX: usize = 1000;
/// How often to look in case that another server made room.
const LOOK: Duration = Duration::from_secs(1);

/// Tells those who wait that something was done, by which there may be room.
#[derive(Debug, Default)]
pub(crate) struct Room {
    waiting: AtomicUsize,
    changed: Notify,
    is_closed: AtomicBool,
}

/// A place among those who wait.
struct Place<'r>(&'r Room);

impl Room {
    /// Something was done.
    pub(crate) fn may_be(&self) {
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.changed.notify_waiters();
        }
    }

    /// From here on nobody waits.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    fn enter(&self) -> Option<Place<'_>> {
        let before = self.waiting.fetch_add(1, Ordering::Relaxed);
        let place = Place(self);
        (before < WAITING_MAX).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Broker {
    /// As [`Broker::enqueue`], but waits for room in a queue that lets its clients wait.
    pub async fn enqueue_when_room(
        &self,
        draft: Draft,
        request_id: &str,
        memo: Option<Memo>,
        patience: Duration,
    ) -> Result<Receipt<Admission>, Error> {
        let kind = draft.spec.kind.clone();
        let answer = self.enqueue_or_wait(draft, request_id, memo, patience).await;
        if let Err(Error::Refused(refusal)) = &answer {
            self.tell_turned_away([(&kind, refusal)]);
        }
        answer
    }

    async fn enqueue_or_wait(
        &self,
        draft: Draft,
        request_id: &str,
        memo: Option<Memo>,
        patience: Duration,
    ) -> Result<Receipt<Admission>, Error> {
        let until = Instant::now() + patience.min(ROOM_WAIT_MAX);
        let mut place = None;
        loop {
            let mut changed = pin!(self.shared.room.changed.notified());
            changed.as_mut().enable();
            let answer = self.try_enqueue(draft.clone(), request_id, memo.clone()).await;
            let Err(Error::Refused(Refusal::QueueFull { queue, .. })) = &answer else { return answer };
            let lets_wait = self.settings_of(queue).overflow == Some(Overflow::Block);
            if place.is_none() && lets_wait && !patience.is_zero() {
                place = self.shared.room.enter();
                // Room may have been made before there was anybody to tell.
                if place.is_some() {
                    continue;
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if place.is_none() || left.is_zero() || self.shared.room.is_closed.load(Ordering::SeqCst) {
                return answer;
            }
            drop(tokio::time::timeout(left.min(LOOK), changed).await);
        }
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::QueueSettings;

    use super::*;
    use crate::testing::{Rig, draft, rig};

    /// A queue that is full and lets its clients wait.
    async fn full(rig: &Rig) {
        let change = |before| QueueSettings { max_depth: Some(1), overflow: Some(Overflow::Block), ..before };
        rig.broker.set_queue("mail", change).await.unwrap();
        rig.enqueue(draft().on("mail")).await;
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_room_in_a_server_that_stops() {
        let rig = rig();
        full(&rig).await;
        let broker = rig.broker.clone();
        let waiting = tokio::spawn(async move {
            broker.enqueue_when_room(draft().on("mail"), "r", None, Duration::from_secs(50)).await
        });
        tokio::task::yield_now().await;
        let before = Instant::now();
        rig.broker.begin_shutdown();
        let refused = waiting.await.unwrap();
        assert!(matches!(refused, Err(Error::Refused(Refusal::QueueFull { .. }))));
        let late = rig.broker.enqueue_when_room(draft().on("mail"), "r", None, Duration::from_secs(50)).await;
        assert!(matches!(late, Err(Error::Refused(Refusal::QueueFull { .. }))));
        assert!(before.elapsed() < LOOK);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_waits_for_room_as_long_as_it_likes() {
        let rig = rig();
        full(&rig).await;
        let impatient =
            rig.broker.enqueue_when_room(draft().on("mail"), "r", None, Duration::from_secs(2)).await;
        assert!(matches!(impatient, Err(Error::Refused(Refusal::QueueFull { .. }))));
        let broker = rig.broker.clone();
        let waiting = tokio::spawn(async move {
            broker.enqueue_when_room(draft().on("mail"), "r", None, Duration::from_secs(50)).await
        });
        tokio::task::yield_now().await;
        assert!(rig.take("mail").await.is_some());
        let before = Instant::now();
        assert!(waiting.await.unwrap().is_ok());
        assert!(before.elapsed() < LOOK, "it was told, and did not have to look");
        assert_eq!(rig.broker.shared.room.waiting.load(Ordering::Relaxed), 0);
    }
}
