//! What one WebSocket listens to.

use hapax_broker::{Bell, Broker, EventFilter, EventId};
use hapax_wire::error::Code;

use super::{Feed, Told};
use crate::from_wire::{self, Command, Listening, Subject, Topic};
use crate::limits::SOCKET_CHANNELS_MAX;
use crate::problem::Problem;
use crate::to_wire::live;
use crate::to_wire::socket::{self, Subscribed, SubscriptionId};

/// What one WebSocket listens to.
pub(crate) struct Audience {
    broker: Broker,
    bell: Bell,
    heard: Vec<Heard>,
    next_number: u64,
    /// Where a client goes on that was here before and has not said yet what it listened to.
    resume_from: Option<String>,
}

/// One channel that is listened to.
struct Heard {
    number: u64,
    topic: Topic,
    feed: Feed,
    /// The newest name that the client knows of this channel.
    last: EventId,
}

impl Heard {
    fn subscribed(&self) -> Subscribed<'_> {
        Subscribed { number: self.number, topic: &self.topic }
    }
}

impl Audience {
    pub(crate) fn new(broker: Broker, bell: Bell) -> Audience {
        Audience { broker, bell, heard: Vec::new(), next_number: 1, resume_from: None }
    }

    /// How many channels there are.
    pub(crate) fn len(&self) -> usize {
        self.heard.len()
    }

    /// Does what a message says; the answer to it.
    pub(crate) async fn obey(&mut self, text: &str) -> String {
        let done = match from_wire::command(text) {
            Ok(Command::Subscribe { topic, filter, after }) => self.subscribe(topic, filter, after).await,
            Ok(Command::Unsubscribe(subject)) => self.unsubscribe(&subject),
            Ok(Command::Resume(last)) => self.resume(last).await,
            Err(problem) => Err(problem),
        };
        done.unwrap_or_else(|problem| socket::refused(&problem))
    }

    /// What is to be told of the channel at that index, and whether there is more.
    pub(crate) fn read(&mut self, index: usize) -> (Vec<String>, bool) {
        let Some(heard) = self.heard.get_mut(index) else { return (Vec::new(), false) };
        let (all, has_more) = heard.feed.read();
        let now = self.broker.now();
        let mut messages = Vec::with_capacity(all.len());
        for told in &all {
            if let Told::Dropped(dropped) = told {
                messages.push(socket::warning(dropped, heard.subscribed()));
            }
            messages.push(socket::told(told, heard.subscribed(), heard.last, now));
            heard.last = live::id(told).unwrap_or(heard.last);
        }
        (messages, has_more)
    }

    /// Whether something was found that is to be told.
    pub(crate) fn is_due(&self) -> bool {
        self.heard.iter().any(|heard| heard.feed.is_due())
    }

    /// Looks at the jobs whose end may have been missed.
    pub(crate) async fn settle_doubts(&mut self) {
        for heard in self.heard.iter_mut().filter(|heard| heard.feed.is_doubtful()) {
            heard.feed.look().await;
        }
    }

    /// Looks at the jobs that may have ended elsewhere.
    pub(crate) async fn look(&mut self) {
        for heard in &mut self.heard {
            heard.feed.look().await;
        }
    }

    /// Listens to a channel; one that is listened to already gets the new filter (Real-Time 5.6.3).
    async fn subscribe(
        &mut self,
        topic: Topic,
        filter: EventFilter,
        after: Option<String>,
    ) -> Result<String, Problem> {
        let known = self.heard.iter().position(|heard| heard.topic == topic);
        if let (Some(index), None) = (known, &after) {
            let heard = &mut self.heard[index];
            heard.feed.set_filter(filter);
            return Ok(socket::subscribed(heard.subscribed(), heard.feed.filter()));
        }
        if known.is_none() && self.heard.len() >= SOCKET_CHANNELS_MAX {
            let message = format!("a connection listens to at most {SOCKET_CHANNELS_MAX} channels");
            return Err(Problem::new(Code::InvalidRequest, message));
        }
        let after = after.or_else(|| self.resume_from.clone());
        let listening = Listening { channel: topic.channel.clone(), filter, after };
        let mut feed = Feed::open_known(&self.broker, listening, &self.bell).await?;
        let last = feed.cursor();
        let number = known.map_or(self.next_number, |index| self.heard[index].number);
        let heard = Heard { number, topic, feed, last };
        let answer = socket::subscribed(heard.subscribed(), heard.feed.filter());
        if let Some(index) = known {
            self.heard[index] = heard;
        } else {
            self.next_number += 1;
            self.heard.push(heard);
        }
        Ok(answer)
    }

    fn unsubscribe(&mut self, subject: &Subject) -> Result<String, Problem> {
        let is_meant = |heard: &Heard| match subject {
            Subject::Topic(topic) => heard.topic == *topic,
            Subject::Subscription(id) => *id == SubscriptionId(heard.number).to_string(),
        };
        let index = self
            .heard
            .iter()
            .position(is_meant)
            .ok_or_else(|| Problem::new(Code::NotFound, "this connection has no such subscription"))?;
        let heard = self.heard.remove(index);
        Ok(socket::unsubscribed(heard.subscribed()))
    }

    /// Goes on from an event with everything that is listened to, or will be.
    async fn resume(&mut self, last: String) -> Result<String, Problem> {
        if !self.broker.knows_event(&last) {
            return Ok(socket::unknown_event(&last));
        }
        for heard in &mut self.heard {
            let (channel, filter) = (heard.topic.channel.clone(), heard.feed.filter().clone());
            let listening = Listening { channel, filter, after: Some(last.clone()) };
            heard.feed = Feed::open_known(&self.broker, listening, &self.bell).await?;
            heard.last = heard.feed.cursor();
        }
        let answer = socket::resumed(&last, self.heard.iter().map(|heard| &heard.topic));
        self.resume_from = Some(last);
        Ok(answer)
    }
}
