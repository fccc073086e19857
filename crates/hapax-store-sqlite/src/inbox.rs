//! A bounded queue from many callers to a thread.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What waits for a thread. Callers wait without a thread when it is full; the thread takes what is there in
/// one go. Not a channel of tokio: closing must neither wait for senders nor need room.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    state: Mutex<State<T>>,
    arrived: Condvar,
    room: Arc<Semaphore>,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<(T, OwnedSemaphorePermit)>,
    closed: bool,
    /// How many threads sleep, and how much must wait before one is woken: a call into the kernel for each of
    /// thousands of requests would cost more than carrying them out.
    sleepers: usize,
    wanted: usize,
}

/// Nothing more is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

impl<T> Inbox<T> {
    pub(crate) fn new(capacity: usize) -> Inbox<T> {
        Inbox {
            state: Mutex::new(State { waiting: VecDeque::new(), closed: false, sleepers: 0, wanted: 1 }),
            arrived: Condvar::new(),
            room: Arc::new(Semaphore::new(capacity)),
        }
    }

    /// Waits for room.
    pub(crate) async fn send(&self, item: T) -> Result<(), Closed> {
        let permit = Arc::clone(&self.room).acquire_owned().await.map_err(|_| Closed)?;
        let mut state = self.lock();
        if state.closed {
            return Err(Closed);
        }
        state.waiting.push_back((item, permit));
        let is_called_for = state.sleepers > 0 && state.waiting.len() >= state.wanted;
        drop(state);
        if is_called_for {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Waits for something and takes it, and what follows as long as `fits`. Nothing once the inbox is
    /// closed and empty.
    pub(crate) fn take(&self, mut fits: impl FnMut(&T) -> bool) -> Option<Vec<T>> {
        let mut state = self.sleep(1, |state| state.closed || !state.waiting.is_empty());
        let (first, _permit) = state.waiting.pop_front()?;
        // The first is taken in any case, but it counts.
        fits(&first);
        let mut taken = Vec::with_capacity(1 + state.waiting.len().min(1024));
        taken.push(first);
        state.drain(&mut fits, &mut taken);
        Some(taken)
    }

    /// Waits until `wanted` items wait or `until` is true, and takes what is there as long as `fits`. The second
    /// value says that there is nothing more to wait for. Whoever makes `until` true calls [`Inbox::nudge`].
    pub(crate) fn gather(
        &self,
        wanted: usize,
        mut fits: impl FnMut(&T) -> bool,
        until: impl Fn() -> bool,
    ) -> (Vec<T>, bool) {
        let mut state = self.sleep(wanted, |state| state.closed || state.waiting.len() >= wanted || until());
        let mut taken = Vec::with_capacity(state.waiting.len().min(1024));
        state.drain(&mut fits, &mut taken);
        let is_over = state.closed || !state.waiting.is_empty() || until();
        (taken, is_over)
    }

    fn sleep(&self, wanted: usize, is_enough: impl Fn(&State<T>) -> bool) -> MutexGuard<'_, State<T>> {
        let mut state = self.lock();
        while !is_enough(&state) {
            state.sleepers += 1;
            state.wanted = wanted;
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.sleepers -= 1;
        }
        state
    }

    /// Waits until `wanted` items wait, but not longer than that.
    pub(crate) fn linger(&self, wanted: usize, time: Duration) {
        let mut state = self.lock();
        if state.closed || state.waiting.len() >= wanted {
            return;
        }
        state.sleepers += 1;
        state.wanted = wanted;
        // Whether it was the time or the items, the caller looks for itself.
        let woken = self.arrived.wait_timeout(state, time);
        woken.unwrap_or_else(PoisonError::into_inner).0.sleepers -= 1;
    }

    /// How many items wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Lets the thread look again.
    pub(crate) fn nudge(&self) {
        // With the lock, so that it cannot fall between a look and the sleep that follows it.
        let is_called_for = self.lock().sleepers > 0;
        if is_called_for {
            self.arrived.notify_all();
        }
    }

    /// Takes nothing more in; what waits is still to be taken out. False if it was closed before.
    pub(crate) fn close(&self) -> bool {
        let first = !std::mem::replace(&mut self.lock().closed, true);
        self.room.close();
        self.arrived.notify_all();
        first
    }

    /// Closes and throws away what waits.
    pub(crate) fn abandon(&self) {
        self.close();
        let waiting = std::mem::take(&mut self.lock().waiting);
        drop(waiting);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// A queue is whole after each of its operations, so a panic elsewhere does not matter here.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn drain(&mut self, mut fits: impl FnMut(&T) -> bool, taken: &mut Vec<T>) {
        while let Some((item, _)) = self.waiting.front()
            && fits(item)
            && let Some((item, _permit)) = self.waiting.pop_front()
        {
            taken.push(item);
        }
    }
}
