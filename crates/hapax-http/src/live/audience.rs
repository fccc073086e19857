//! What one WebSocket listens to.

use std::mem;

use hapax_broker::{Bell, Broker, EventFilter, EventId};
use hapax_wire::error::Code;

use super::pace::Turn;
use super::{Feed, Told};
use crate::from_wire::{self, Command, Listening, Subject, Topic};
use crate::limits::SOCKET_CHANNELS_MAX;
use crate::problem::Problem;
use crate::tenancy::Listener;
use crate::to_wire::live;
use crate::to_wire::socket::{self, Subscribed, SubscriptionId};

/// What one WebSocket listens to.
pub(crate) struct Audience {
    broker: Broker,
    /// For whom it listens.
    listener: Listener,
    bell: Bell,
    heard: Vec<Heard>,
    next_number: u64,
    resumed: Option<Resumed>,
}

/// Where a client goes on that was here before and has not said yet what it listened to.
struct Resumed {
    last: String,
    /// What has gone on from there already: who listens to it again wants what happens from then on.
    used: Vec<Topic>,
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
    pub(crate) fn new(broker: Broker, listener: Listener, bell: Bell) -> Audience {
        Audience { broker, listener, bell, heard: Vec::new(), next_number: 1, resumed: None }
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

    /// Adds what is to be told of the channel at that index; whether there is more.
    pub(crate) fn read(&mut self, index: usize, turn: &mut Turn, messages: &mut Vec<String>) -> bool {
        let Some(heard) = self.heard.get_mut(index) else { return false };
        let (all, has_more) = heard.feed.read(turn.company());
        let known = messages.len();
        let now = self.broker.now();
        messages.reserve(all.len());
        for told in &all {
            if let Told::Dropped(dropped) = told {
                turn.dropped();
                messages.push(socket::warning(dropped, heard.subscribed()));
            }
            messages.push(socket::told(told, heard.subscribed(), heard.last, now));
            heard.last = live::id(told).unwrap_or(heard.last);
        }
        turn.told(messages[known..].iter().map(String::len).sum());
        has_more
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
        self.listener.keep(&self.broker, &topic.channel).await?;
        let unused = self.resumed.as_ref().filter(|resumed| !resumed.used.contains(&topic));
        let after = after.or_else(|| unused.map(|resumed| resumed.last.clone()));
        let listening = Listening { channel: topic.channel.clone(), filter, after };
        let mut feed = Feed::open_known(&self.broker, listening, &self.bell).await?;
        self.use_up(&topic);
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

    /// Whoever listens to this from now on does not go on from where the client was before.
    fn use_up(&mut self, topic: &Topic) {
        let Some(resumed) = &mut self.resumed else { return };
        if !resumed.used.contains(topic) {
            resumed.used.push(topic.clone());
        }
        // More than a connection can have listened to.
        self.resumed.take_if(|resumed| resumed.used.len() >= SOCKET_CHANNELS_MAX);
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

    /// Goes on from an event with everything that is listened to, or will be. What is not there any longer is not listened to.
    async fn resume(&mut self, last: String) -> Result<String, Problem> {
        if !self.broker.knows_event(&last) {
            return Ok(socket::unknown_event(&last));
        }
        // All or nothing: one that cannot be opened must not leave the others half told.
        let mut feeds = Vec::with_capacity(self.heard.len());
        for heard in &self.heard {
            let (channel, filter) = (heard.topic.channel.clone(), heard.feed.filter().clone());
            let listening = Listening { channel, filter, after: Some(last.clone()) };
            feeds.push(match Feed::open_known(&self.broker, listening, &self.bell).await {
                Ok(feed) => Some(feed),
                Err(Problem { code: Code::NotFound, .. }) => None,
                Err(problem) => return Err(problem),
            });
        }
        let known = mem::take(&mut self.heard).into_iter().zip(feeds);
        self.heard = known.filter_map(|(heard, feed)| Some(Heard { feed: feed?, ..heard })).collect();
        for heard in &mut self.heard {
            heard.last = heard.feed.cursor();
        }
        let answer = socket::resumed(&last, self.heard.iter().map(|heard| &heard.topic));
        let used = self.heard.iter().map(|heard| heard.topic.clone()).collect();
        self.resumed = Some(Resumed { last, used });
        Ok(answer)
    }
}
