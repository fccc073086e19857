//! Waiting for what becomes of a job.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hapax_core::{Job, JobId};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::{Broker, Error};

/// Most callers that wait for the ends of jobs at a time; one more is not made to wait.
const OUTCOME_WAITERS_MAX: usize = 4096;

/// How often somebody who waits looks for himself: a job may end by another server, or by a transaction of its user,
/// and of that this server hears nothing.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

impl Broker {
    /// The job once it has ended, or as it stands when the patience is over.
    pub async fn outcome(&self, id: JobId, patience: Duration) -> Result<Job, Error> {
        let job = self.job(id).await?;
        if job.state().is_terminal() || patience.is_zero() {
            return Ok(job);
        }
        let Some(seat) = self.shared.endings.wait_for(id) else { return Ok(job) };
        match timeout(patience, self.ended(id, &seat)).await {
            Ok(ended) => ended,
            Err(_) => self.job(id).await,
        }
    }

    async fn ended(&self, id: JobId, seat: &Seat<'_>) -> Result<Job, Error> {
        loop {
            // Asked for before looking, so that an end in between is not missed.
            let called = seat.bell.notified();
            let job = self.job(id).await?;
            if job.state().is_terminal() || self.shared.endings.is_closed() {
                return Ok(job);
            }
            // Called or not, it looks again.
            let _called_or_late = timeout(LOOK_INTERVAL, called).await;
        }
    }
}

/// Who waits for the end of which job.
#[derive(Debug, Default)]
pub(crate) struct Endings {
    /// How many wait. Every request asks, and takes no lock to see that nobody does. Whoever waits takes a seat before it
    /// looks at the job, so an end that it did not see finds the seat taken.
    seats: AtomicUsize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    bells: HashMap<JobId, (usize, Arc<Notify>)>,
    is_closed: bool,
}

/// A place among those who wait; given back when it is dropped.
#[derive(Debug)]
struct Seat<'e> {
    endings: &'e Endings,
    id: JobId,
    bell: Arc<Notify>,
}

impl Endings {
    fn wait_for(&self, id: JobId) -> Option<Seat<'_>> {
        let mut waiting = self.lock();
        if waiting.is_closed || self.seats.load(Ordering::SeqCst) == OUTCOME_WAITERS_MAX {
            return None;
        }
        self.seats.fetch_add(1, Ordering::SeqCst);
        let (waiters, bell) = waiting.bells.entry(id).or_default();
        *waiters += 1;
        Some(Seat { endings: self, id, bell: Arc::clone(bell) })
    }

    /// These jobs have ended.
    pub(crate) fn call(&self, ended: impl Iterator<Item = JobId>) {
        if self.seats.load(Ordering::SeqCst) == 0 {
            return;
        }
        let waiting = self.lock();
        for (_, bell) in ended.filter_map(|id| waiting.bells.get(&id)) {
            bell.notify_waiters();
        }
    }

    /// Nobody waits any more.
    pub(crate) fn close(&self) {
        let mut waiting = self.lock();
        waiting.is_closed = true;
        waiting.bells.values().for_each(|(_, bell)| bell.notify_waiters());
    }

    fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut waiting = self.endings.lock();
        self.endings.seats.fetch_sub(1, Ordering::SeqCst);
        if let Some((waiters, _)) = waiting.bells.get_mut(&self.id) {
            *waiters -= 1;
            if *waiters == 0 {
                waiting.bells.remove(&self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hapax_core::{Claimant, Event, Json, State};
    use hapax_store::{Action, Op, Store as _};

    use super::*;
    use crate::testing::{draft, rig};

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_hears_of_the_end_at_once() {
        let rig = rig();
        let id = rig.enqueue(draft()).await.id;
        rig.take("default").await.unwrap();
        let broker = rig.broker.clone();
        let waiter = tokio::spawn(async move { broker.outcome(id, LONG).await });
        tokio::task::yield_now().await;
        let before = rig.broker.now();
        let result = Some(Json::from_trusted("1.50"));
        rig.broker.acknowledge(id, Claimant::UNNAMED, result.clone()).await.unwrap();
        let ended = waiter.await.unwrap().unwrap();
        assert_eq!((ended.state(), ended.result()), (State::Completed, result.as_ref()));
        assert_eq!(rig.broker.now(), before, "without waiting for the next look");
        assert!(rig.broker.shared.endings.lock().bells.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let rig = rig();
        let id = rig.enqueue(draft()).await.id;
        let before = rig.broker.now();
        let job = rig.broker.outcome(id, LONG).await.unwrap();
        assert_eq!((job.state(), rig.broker.now().since(before)), (State::Available, LONG));
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_of_which_nobody_told_is_found() {
        let rig = rig();
        let id = rig.enqueue(draft()).await.id;
        let other = rig.broker.clone();
        let waiter = tokio::spawn(async move { other.outcome(id, LONG).await });
        tokio::task::yield_now().await;
        let op = Op { now: rig.broker.now(), action: Action::Step { id, event: Event::Cancel } };
        rig.store.commit(vec![op]).await.unwrap().pop().unwrap().unwrap();
        assert_eq!(waiter.await.unwrap().unwrap().state(), State::Cancelled);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_stops_lets_them_go() {
        let rig = rig();
        let id = rig.enqueue(draft()).await.id;
        let broker = rig.broker.clone();
        let waiter = tokio::spawn(async move { broker.outcome(id, LONG).await });
        tokio::task::yield_now().await;
        let before = rig.broker.now();
        rig.broker.begin_shutdown();
        assert_eq!(waiter.await.unwrap().unwrap().state(), State::Available);
        assert_eq!(rig.broker.now(), before);
    }

    #[test]
    fn seats_are_counted_and_given_back() {
        let endings = Endings::default();
        let id = "019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f".parse().unwrap();
        let seats: Vec<_> = (0..OUTCOME_WAITERS_MAX).map(|_| endings.wait_for(id).unwrap()).collect();
        assert!(endings.wait_for(id).is_none());
        drop(seats);
        assert!(endings.wait_for(id).is_some());
    }
}
