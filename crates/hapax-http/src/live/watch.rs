//! A job that somebody watches to its end: where it stands, again whenever that changes.

use std::time::Duration;

use bytes::Bytes;
use hapax_broker::{Bell, Broker, Channel, Company, Error, Subscription};
use hapax_core::{Job, JobId};
use tokio::time::{Instant, timeout_at};

use super::StreamPlace;
use super::ear::{Called, Ear};
use super::event_stream::Tell;
use crate::limits::{STREAM_HEARTBEAT, WATCH_LOOK, WATCH_LOOK_COST};
use crate::to_wire::watch;

pub(crate) use watch::Watched;

/// Who tells of one job. It is read when something has happened to it, and the newest reading counts: whoever is slow hears
/// less, and of the end all the same.
pub(crate) struct Watch {
    broker: Broker,
    id: JobId,
    watched: Watched,
    subscription: Subscription,
    ear: Ear,
    /// As it was told last.
    told: Option<Job>,
    silent_since: Instant,
    /// How long after the last look the next one is due, where others change jobs unheard.
    look_after: Duration,
    is_open: bool,
    is_over: bool,
}

impl Watch {
    /// Watches a job, if there is one.
    pub(crate) async fn open(
        broker: &Broker,
        id: JobId,
        watched: Watched,
        place: StreamPlace,
    ) -> Result<(Watch, Job), Error> {
        let bell = Bell::default();
        // First the ear, then the look: what comes after the look is heard.
        let subscription = broker.subscribe(Channel::Job(id), None, &bell);
        let job = broker.job(id).await?;
        let watch = Watch {
            broker: broker.clone(),
            id,
            watched,
            subscription,
            ear: Ear::new(place, bell),
            told: None,
            silent_since: Instant::now(),
            look_after: WATCH_LOOK,
            is_open: false,
            is_over: false,
        };
        Ok((watch, job))
    }

    /// Writes what there is, or waits until there may be something.
    async fn go_on(&mut self, out: &mut Vec<u8>) {
        if self.ear.is_closing() {
            watch::shutdown(out);
            self.is_over = true;
            return;
        }
        while self.subscription.read(Company::Few).has_more {}
        self.ear.pace().worked(WATCH_LOOK_COST);
        match self.broker.job(self.id).await {
            Ok(job) => self.tell(out, job),
            // It was removed: nothing will happen to it.
            Err(Error::Refused(_)) => self.is_over = true,
            // Next time, then.
            Err(Error::Store(_) | Error::Busy | Error::Maintenance { .. }) => {}
        }
        if out.is_empty() && !self.is_over && !self.wait().await {
            watch::heartbeat(out);
        }
    }

    fn tell(&mut self, out: &mut Vec<u8>, job: Job) {
        self.is_over = job.state().is_terminal();
        if self.is_over {
            watch::end(out, &job, self.watched);
        } else if self.told.as_ref().is_none_or(|told| self.watched.differs(told, &job)) {
            watch::progress(out, &job);
            self.look_after = WATCH_LOOK;
        }
        self.told = Some(job);
    }

    /// Waits until there may be something, or nothing was said for long; whether it is the former. What other servers do is
    /// not heard, only seen.
    async fn wait(&mut self) -> bool {
        let heartbeat = self.silent_since + STREAM_HEARTBEAT;
        let look = if self.broker.hears_everything() { heartbeat } else { Instant::now() + self.look_after };
        // Whoever watches a job to which nothing happens looks more and more rarely.
        self.look_after = (self.look_after * 2).min(STREAM_HEARTBEAT);
        // What is read from the store is not part of the turn: it may take its time.
        let is_called = timeout_at(heartbeat.min(look), self.ear.called()).await.map(drop::<Called>).is_ok();
        is_called || Instant::now() < heartbeat
    }
}

impl Tell for Watch {
    async fn piece(mut self) -> Option<(Bytes, Watch)> {
        let mut out = Vec::new();
        if !self.is_open {
            self.is_open = true;
            watch::opening(&mut out);
        }
        while out.is_empty() && !self.is_over {
            self.go_on(&mut out).await;
        }
        self.ear.pace().told(out.len());
        self.silent_since = Instant::now();
        (!out.is_empty()).then(|| (out.into(), self))
    }
}
