//! Listening: what one listener has been told of a channel, and what comes next.

use std::sync::Arc;

use hapax_core::Timestamp;

use super::line::Lost;
use super::log::EventLog;
use super::place::Place;
use super::ring::Start;
use super::switchboard::Seat;
use super::{Bell, Channel, EventId, JobEvent, Notice};

/// Most events that one read gives.
const READ_MAX: usize = 256;

/// Most events of the log that one read goes through for what happened before the listener came.
const REPLAY_SCAN_MAX: usize = 1000;

/// Somebody listens to a channel. Dropping it ends that.
#[derive(Debug)]
pub struct Subscription {
    log: Arc<EventLog>,
    channel: Channel,
    seat: Seat,
    known: Place,
    /// When the newest happened that it was told.
    told_at: Option<Timestamp>,
    /// Whether the log may still have something that happened before the listener came. It is read to its end, and what
    /// the line has of that as well is not told twice.
    is_replaying: bool,
    gap: Option<Gap>,
}

/// Who else listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// So few that all can be told everything.
    Few,
    /// So many that each is rather told what is new than what was.
    Crowd,
}

/// What there is to tell a listener, in this order.
#[derive(Debug, Default)]
pub struct Batch {
    /// What it missed before it came back, or since then without anybody knowing how much.
    pub gap: Option<Gap>,
    /// What was dropped because it read too slowly.
    pub dropped: Option<Dropped>,
    /// What happened.
    pub notices: Vec<Notice>,
    /// Whether it should read on at once, without waiting for its bell.
    pub has_more: bool,
}

/// Events that a listener wanted to be told and that nobody remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// When the last one happened that it knows, as far as its cursor says.
    pub since: Option<Timestamp>,
    /// When the first one happened that is remembered; nothing if none is.
    pub until: Option<Timestamp>,
    /// How many there were, in all channels; nothing if the cursor is from before a restart, or is none, or if the listener
    /// was there and wanted those of one job or queue.
    pub missed: Option<u64>,
}

/// Events of a channel that were dropped before a listener read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// How many.
    pub count: u64,
    /// The first, if it is known.
    pub oldest: Option<EventId>,
    /// The last, if it is known.
    pub newest: Option<EventId>,
}

impl Subscription {
    /// Listens from now on, or from a cursor on.
    pub(super) fn new(
        log: &Arc<EventLog>,
        channel: Channel,
        after: Option<&str>,
        bell: &Bell,
    ) -> Subscription {
        let seat = log.switchboard.join(&channel, bell, &log.ring);
        let ring = log.ring();
        let Start { known, gap } = match after {
            Some(cursor) => ring.resume(EventId::parse(cursor)),
            None => Start { known: Place::after(seat.since), gap: None },
        };
        let is_replaying = after.is_some() && known < Place::after(ring.newest());
        drop(ring);
        Subscription { log: Arc::clone(log), channel, seat, known, told_at: None, is_replaying, gap }
    }

    /// What it listens to.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Whether there is something to tell at once, before anything else happens.
    pub fn has_history(&self) -> bool {
        self.is_replaying || self.gap.is_some()
    }

    /// Whether the listener is to be told that it missed events.
    pub fn has_gap(&self) -> bool {
        self.gap.is_some()
    }

    /// What has not been told yet, without waiting. An empty batch means that the bell will ring for the next one.
    pub fn read(&mut self, company: Company) -> Batch {
        let mut batch = Batch { gap: self.gap.take(), ..Batch::default() };
        if self.is_replaying {
            self.replay(&mut batch);
            batch.has_more = true;
        } else {
            let (lost, events) = self.seat.line.read(self.seat.number, READ_MAX, company);
            match lost {
                None => {}
                Some(Lost::Counted(dropped)) => batch.dropped = Some(dropped),
                Some(Lost::Uncounted) => {
                    let gap = self.log.ring().gap(self.told_at, None);
                    batch.gap = batch.gap.or(Some(gap));
                }
            }
            batch.has_more = events.len() == READ_MAX;
            for event in &events {
                self.tell(event, &mut batch.notices);
            }
        }
        batch
    }

    /// The name of the newest thing of which the listener knows that there is nothing before it that it was not told.
    /// `now` is the time of a cursor that is no event's.
    pub fn cursor(&mut self, now: Timestamp) -> EventId {
        if !self.is_replaying
            && let Some(seq) = self.log.switchboard.read_through(&self.seat)
        {
            self.known = self.known.max(Place::after(seq));
        }
        self.log.ring().cursor(self.known, now)
    }

    fn replay(&mut self, batch: &mut Batch) {
        let log = Arc::clone(&self.log);
        let ring = log.ring();
        let oldest = Place::after(ring.before_oldest());
        if self.known < oldest {
            batch.gap = batch.gap.or_else(|| Some(ring.gap_after(self.known, None)));
            self.known = oldest;
        }
        let mut seen = 0;
        for event in ring.after(self.known).take(REPLAY_SCAN_MAX) {
            seen += 1;
            if self.channel.carries(event) {
                self.tell(event, &mut batch.notices);
            }
            self.known = Place::after(event.seq);
            if batch.notices.len() >= READ_MAX {
                return;
            }
        }
        self.is_replaying = seen == REPLAY_SCAN_MAX;
        if !self.is_replaying {
            // While the log is locked, which forgets nothing meanwhile that was not told here.
            self.seat.line.skip_to(self.seat.number, self.known.known_wholly());
        }
    }

    /// Adds what an event tells, as far as the listener does not know it.
    fn tell(&mut self, event: &Arc<JobEvent>, notices: &mut Vec<Notice>) {
        for aspect in event.aspects() {
            if Place::new(event.seq, aspect) > self.known {
                notices.push(Notice { event: Arc::clone(event), aspect });
            }
        }
        self.known = self.known.max(Place::after(event.seq));
        self.told_at = Some(event.at);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.log.switchboard.leave(&self.channel, &self.seat);
    }
}

#[cfg(test)]
mod tests;
