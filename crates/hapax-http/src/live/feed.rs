//! What one listener is told of one channel, whatever it is told over.

use std::mem;

use hapax_broker::{
    Batch, Bell, Broker, Channel, Company, Dropped, Error, EventFilter, EventId, EventKind, Gap, Notice,
    Subscription,
};
use hapax_core::{Job, JobId};
use tokio::task::yield_now;

use crate::from_wire::Listening;
use crate::limits::END_TOLD_AGAIN_TIME;
use crate::problem::Problem;
use crate::to_wire::live;

/// What one listener is told of one channel. That of a job ends when the job has ended.
#[derive(Debug)]
pub(crate) struct Feed {
    broker: Broker,
    subscription: Subscription,
    /// Where it began, and whether the listener may come back to there: not before it was told of a gap.
    start: (EventId, bool),
    filter: EventFilter,
    /// Whether the listener says that it knows what was before.
    came_back: bool,
    /// What was read and not told yet.
    ready: Vec<Told>,
    /// The job of the channel, as it was found at its end.
    finale: Option<Box<Job>>,
    /// Whether its end may have been missed.
    is_doubtful: bool,
    has_ended: bool,
}

/// Something to tell.
#[derive(Debug)]
pub(crate) enum Told {
    /// Events that the listener asked for again are forgotten.
    Gap(Gap),
    /// Events were dropped because the listener was slow.
    Dropped(Dropped),
    /// Something happened.
    Notice(Notice),
    /// Where a job stands that had ended before anything could be told of it.
    Stands(Box<Job>),
}

impl Feed {
    /// Listens, if there is such a job. A queue may come to be later.
    pub(crate) async fn open(broker: &Broker, listening: Listening, bell: &Bell) -> Result<Feed, Problem> {
        let Listening { channel, filter, after } = listening;
        // First the ear, then the look: what comes after the look is heard.
        let mut subscription = broker.subscribe(channel.clone(), after.as_deref(), bell);
        let start = (subscription.cursor(broker.now()), !subscription.has_gap());
        let mut feed = Feed {
            broker: broker.clone(),
            subscription,
            start,
            filter,
            came_back: after.is_some(),
            ready: Vec::new(),
            finale: None,
            is_doubtful: false,
            has_ended: false,
        };
        if let Channel::Job(id) = channel {
            feed.finale = ended(broker.job(id).await?);
        }
        Ok(feed)
    }

    /// The same, if there is such a queue as well.
    pub(crate) async fn open_known(
        broker: &Broker,
        listening: Listening,
        bell: &Bell,
    ) -> Result<Feed, Problem> {
        if let Channel::Queue(name) = &listening.channel {
            let facts = broker.queue(name.clone()).await?;
            facts.ok_or_else(|| Problem::no_resource("queue", name.as_str()))?;
        }
        Feed::open(broker, listening, bell).await
    }

    /// Whether this is about a job that has ended, and the listener knows all of it.
    pub(crate) async fn is_exhausted(&mut self) -> bool {
        let may_be = self.came_back && self.broker.hears_everything() && self.has_settled();
        may_be && self.knows_all().await
    }

    /// What it listens to.
    pub(crate) fn channel(&self) -> &Channel {
        self.subscription.channel()
    }

    /// Which events it wants.
    pub(crate) fn filter(&self) -> &EventFilter {
        &self.filter
    }

    /// Wants other events from here on.
    pub(crate) fn set_filter(&mut self, filter: EventFilter) {
        self.filter = filter;
    }

    /// What is to be told, and whether to read on at once without waiting for the bell.
    pub(crate) fn read(&mut self, company: Company) -> (Vec<Told>, bool) {
        if !self.ready.is_empty() {
            return (mem::take(&mut self.ready), true);
        }
        if self.has_ended {
            return (Vec::new(), false);
        }
        let Batch { gap, dropped, notices, has_more } = self.subscription.read(company);
        self.is_doubtful |= dropped.is_some() || gap.is_some();
        let mut told: Vec<Told> = gap.map(Told::Gap).into_iter().chain(dropped.map(Told::Dropped)).collect();
        self.take_up(notices, &mut told);
        if told.is_empty() && !has_more && !self.has_ended {
            told.extend(self.last_word());
        }
        let has_more = has_more || (self.finale.is_some() && !self.has_ended);
        (told, has_more)
    }

    /// Whether there is nothing to tell ever again.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended && self.ready.is_empty()
    }

    /// Where it began, before anything was read.
    pub(crate) fn start(&self) -> EventId {
        self.start.0
    }

    /// The same, if who comes back to there misses nothing.
    pub(crate) fn safe_start(&self) -> Option<EventId> {
        Some(self.start.0).filter(|_| self.start.1)
    }

    /// The place to come back to: the listener was told everything before it.
    pub(crate) fn cursor(&mut self) -> EventId {
        self.subscription.cursor(self.broker.now())
    }

    /// Whether there is something to tell that no bell has rung for.
    pub(crate) fn is_due(&self) -> bool {
        !self.ready.is_empty() || (self.finale.is_some() && !self.has_ended)
    }

    /// Whether the job's end may have been missed, so that a look is due.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.is_doubtful && self.job().is_some() && !self.has_ended
    }

    /// Looks whether the job has ended elsewhere, or unheard; whether there is something to tell now. Every so often
    /// is enough: on a store of one's own there is nothing to find.
    pub(crate) async fn look(&mut self) -> bool {
        let is_due = self.is_doubtful || !self.broker.hears_everything();
        let Some(id) = self.job().filter(|_| is_due && !self.has_ended && self.finale.is_none()) else {
            return false;
        };
        self.is_doubtful = false;
        match self.broker.job(id).await {
            Ok(job) => self.finale = ended(job),
            // It was removed: nothing will happen to it.
            Err(Error::Refused(_)) => self.has_ended = true,
            // Next time, then.
            Err(Error::Store(_) | Error::Busy | Error::Maintenance { .. }) => {}
        }
        self.finale.is_some() || self.has_ended
    }

    fn job(&self) -> Option<JobId> {
        match self.channel() {
            Channel::Job(id) => Some(*id),
            Channel::Queue(_) | Channel::All => None,
        }
    }

    /// Whether the job has ended, and so long ago that its last event is in the log for sure.
    fn has_settled(&self) -> bool {
        let since = self.finale.as_deref().and_then(live::since);
        since.is_some_and(|since| self.broker.now().since(since) > END_TOLD_AGAIN_TIME)
    }

    /// Whether nothing has happened since the place that the listener came back to.
    async fn knows_all(&mut self) -> bool {
        while self.subscription.has_history() {
            let (told, has_more) = self.read_history();
            if !told.is_empty() {
                self.ready = told;
                return false;
            }
            if !has_more {
                break;
            }
            yield_now().await;
        }
        true
    }

    fn read_history(&mut self) -> (Vec<Told>, bool) {
        let Batch { gap, dropped: _, notices, has_more } = self.subscription.read(Company::Few);
        let mut told: Vec<Told> = gap.map(Told::Gap).into_iter().collect();
        self.take_up(notices, &mut told);
        (told, has_more && !self.has_ended)
    }

    /// Adds what is wanted of these, up to the end of the job.
    fn take_up(&mut self, notices: Vec<Notice>, told: &mut Vec<Told>) {
        let mut last = None;
        for notice in notices {
            let seq = notice.event.seq;
            if last.is_some_and(|last| seq > last) {
                break;
            }
            if self.job().is_some() && notice.event.step().is_some_and(|step| step.to.is_terminal()) {
                last = Some(seq);
            }
            if self.filter.wants(&notice) {
                told.push(Told::Notice(notice));
            }
        }
        self.has_ended |= last.is_some();
    }

    /// Where the job stands that has ended.
    fn last_word(&mut self) -> Option<Told> {
        let job = self.finale.take()?;
        self.has_ended = true;
        self.filter.wants_kind(EventKind::JobStateChanged).then_some(Told::Stands(job))
    }
}

fn ended(job: Job) -> Option<Box<Job>> {
    job.state().is_terminal().then(|| Box::new(job))
}
