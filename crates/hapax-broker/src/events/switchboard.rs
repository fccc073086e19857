//! Who listens to what, and the herald that brings events from the log to them.
//!
//! Whoever writes to the log does nothing for listeners but wake the herald, which is the same work for one and for
//! ten thousand of them. The herald puts each event on the lines that carry it and calls their readers, some at a
//! time, so that the tasks of requests get their turn in between. Readers read from their line, each at its pace:
//! they never touch the log that commits write to, except for what happened before they came.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hapax_core::{JobId, QueueName};
use tokio::sync::Notify;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::line::Line;
use super::place::Place;
use super::ring::Ring;
use super::{Bell, Channel, JobEvent};

/// Most events that the herald takes from the log at a time, under the lock that writers need.
const ROUTED_MAX: usize = 256;

/// Most readers that are called in one go.
const CALLED_MAX: usize = 64;

/// How long the herald rests after it has brought something: whoever writes much wakes it once in a while, not each time.
const REST: Duration = Duration::from_millis(1);

/// After how many events the lines are rid of those that the log has forgotten.
const SWEEP_EVERY: u64 = 10_000;

/// Who listens to what.
#[derive(Debug, Default)]
pub(super) struct Switchboard {
    lines: Mutex<Lines>,
    /// How many listen, for writers: they look without the lock.
    listening: AtomicUsize,
    herald: Notify,
}

#[derive(Debug, Default)]
struct Lines {
    /// Up to which event of the log the lines are complete.
    routed: u64,
    /// Up to which event they were when they were swept.
    swept: u64,
    next_number: u64,
    jobs: HashMap<JobId, Arc<Line>>,
    queues: HashMap<QueueName, Arc<Line>>,
    all: Option<Arc<Line>>,
}

/// A reader's place.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) line: Arc<Line>,
    pub(super) number: u64,
    /// The newest event of the log when the reader came. What the herald had still to bring to others of the line by then
    /// is older, and not for this one.
    pub(super) since: u64,
}

impl Switchboard {
    /// Says that something was written: constant work, however many listen.
    pub(super) fn written(&self) {
        if self.listening.load(Ordering::Relaxed) > 0 {
            self.herald.notify_one();
        }
    }

    /// A place on the line of a channel.
    pub(super) fn join(&self, channel: &Channel, bell: &Bell, ring: &Mutex<Ring>) -> Seat {
        let mut lines = self.lines();
        // Counted before the look into the log: whoever writes after the look sees the count, by the log's own lock.
        let is_first = self.listening.fetch_add(1, Ordering::Relaxed) == 0;
        let newest = lock(ring).newest();
        if is_first {
            (lines.routed, lines.swept) = (newest, newest);
        }
        let number = lines.next_number;
        lines.next_number += 1;
        let line = Arc::clone(lines.line(channel));
        line.join(number, bell.clone());
        Seat { line, number, since: newest }
    }

    /// Gives the place up.
    pub(super) fn leave(&self, channel: &Channel, seat: &Seat) {
        let mut lines = self.lines();
        if seat.line.leave(seat.number) {
            lines.end(channel);
        }
        self.listening.fetch_sub(1, Ordering::Relaxed);
    }

    /// Brings events to listeners, for ever.
    pub(super) async fn run(&self, ring: &Mutex<Ring>) {
        loop {
            self.herald.notified().await;
            while let Some(called) = self.route(ring) {
                for line in called {
                    let mut from = Some(0);
                    while let Some(number) = from {
                        from = line.call(number, CALLED_MAX);
                        if from.is_some() {
                            yield_now().await;
                        }
                    }
                }
                yield_now().await;
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "it lets others go first; nobody waits for the time to pass"
            )]
            sleep(REST).await;
        }
    }

    /// Puts some events on their lines; the lines that have something to read, or nothing if all was routed.
    fn route(&self, ring: &Mutex<Ring>) -> Option<Vec<Arc<Line>>> {
        let mut lines = self.lines();
        if self.listening.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let (events, oldest) = {
            let ring = lock(ring);
            let events: Vec<_> = ring.after(Place::after(lines.routed)).take(ROUTED_MAX).cloned().collect();
            (events, ring.before_oldest())
        };
        let mut called = Vec::new();
        let missed = oldest.saturating_sub(lines.routed);
        if missed > 0 {
            // How many of them were of one job or queue nobody knows.
            called.extend(lines.of_some().filter(|line| line.skip(None)).cloned());
            called.extend(lines.all.iter().filter(|line| line.skip(Some(missed))).cloned());
            lines.routed = oldest;
        }
        for event in &events {
            called.extend(lines.carrying(event).filter(|line| line.push(Arc::clone(event))).cloned());
            lines.routed = event.seq;
        }
        if lines.routed - lines.swept >= SWEEP_EVERY {
            lines.every().for_each(|line| line.drop_through(oldest));
            lines.swept = lines.routed;
        }
        (missed > 0 || !events.is_empty()).then_some(called)
    }

    /// The number of the last event of the log of which a reader has read everything, if that is all of its line.
    pub(super) fn read_through(&self, seat: &Seat) -> Option<u64> {
        let lines = self.lines();
        seat.line.is_read(seat.number).then_some(lines.routed)
    }

    #[cfg(test)]
    pub(super) fn routed(&self) -> u64 {
        self.lines().routed
    }

    /// Whether nobody listens and nothing is kept for anybody.
    #[cfg(test)]
    pub(super) fn is_unused(&self) -> bool {
        self.listening.load(Ordering::Relaxed) == 0 && self.lines().every().next().is_none()
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        // Nothing under the lock can panic half-way, so a poisoned board is still a whole one.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn line(&mut self, channel: &Channel) -> &Arc<Line> {
        match channel {
            Channel::Job(id) => self.jobs.entry(*id).or_default(),
            Channel::Queue(name) => self.queues.entry(name.clone()).or_default(),
            Channel::All => self.all.get_or_insert_default(),
        }
    }

    fn end(&mut self, channel: &Channel) {
        match channel {
            Channel::Job(id) => drop(self.jobs.remove(id)),
            Channel::Queue(name) => drop(self.queues.remove(name)),
            Channel::All => self.all = None,
        }
    }

    fn every(&self) -> impl Iterator<Item = &Arc<Line>> {
        self.of_some().chain(&self.all)
    }

    /// The lines that carry a part of the log.
    fn of_some(&self) -> impl Iterator<Item = &Arc<Line>> {
        self.jobs.values().chain(self.queues.values())
    }

    fn carrying(&self, event: &JobEvent) -> impl Iterator<Item = &Arc<Line>> {
        let job = event.job_id().and_then(|id| self.jobs.get(&id));
        let queue = event.queue.as_ref().and_then(|queue| self.queues.get(queue));
        job.into_iter().chain(queue).chain(&self.all)
    }
}

fn lock(ring: &Mutex<Ring>) -> MutexGuard<'_, Ring> {
    ring.lock().unwrap_or_else(PoisonError::into_inner)
}
