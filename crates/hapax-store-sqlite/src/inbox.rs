//! A bounded queue from many callers to a thread.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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
}

/// Nothing more is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

impl<T> Inbox<T> {
    pub(crate) fn new(capacity: usize) -> Inbox<T> {
        Inbox {
            state: Mutex::new(State { waiting: VecDeque::new(), closed: false }),
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
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Waits for something and takes it, and what follows as long as `fits`. Nothing once the inbox is
    /// closed and empty.
    pub(crate) fn take(&self, mut fits: impl FnMut(&T) -> bool) -> Option<Vec<T>> {
        let mut state = self.lock();
        while state.waiting.is_empty() {
            if state.closed {
                return None;
            }
            state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let mut taken = Vec::with_capacity(state.waiting.len().min(1024));
        while let Some((item, _)) = state.waiting.front()
            && (fits(item) || taken.is_empty())
            && let Some((item, _permit)) = state.waiting.pop_front()
        {
            taken.push(item);
        }
        Some(taken)
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
