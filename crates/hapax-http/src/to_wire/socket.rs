//! Words to listeners, over a WebSocket.

use hapax_broker::{Channel, Dropped, EventFilter, EventId};
use hapax_core::Timestamp;
use hapax_wire::writer::{self, Object};

use super::{event, live};
use crate::from_wire::{EventForm, Topic};
use crate::live::Told;
use crate::problem::Problem;

/// A subscription, as clients know it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subscribed<'s> {
    /// Its number on this connection.
    pub(crate) number: u64,
    pub(crate) topic: &'s Topic,
}

/// Says yes to a wish to listen. Real-Time 3.2 says `type`, Events 6.2 says `action`.
pub(crate) fn subscribed(subscribed: Subscribed<'_>, filter: &EventFilter) -> String {
    message(|o| {
        done(o, "subscribed");
        whose(o, subscribed);
        let EventFilter { types, queues, job_types } = filter;
        for (name, values) in [("event_types", types), ("queues", queues), ("job_types", job_types)] {
            if !values.is_empty() {
                o.texts(name, values.iter().map(String::as_str));
            }
        }
    })
}

/// Says yes to a wish to hear nothing more.
pub(crate) fn unsubscribed(subscribed: Subscribed<'_>) -> String {
    message(|o| {
        done(o, "unsubscribed");
        whose(o, subscribed);
    })
}

/// Says yes to a wish to go on from an event.
pub(crate) fn resumed<'t>(last_event_id: &str, topics: impl IntoIterator<Item = &'t Topic>) -> String {
    message(|o| {
        done(o, "resumed");
        o.text("last_event_id", last_event_id);
        o.array("channels", topics, |topic, out| writer::plain(out, name(topic)));
    })
}

/// Says no.
pub(crate) fn refused(problem: &Problem) -> String {
    message(|o| {
        o.text("type", "error");
        o.text("code", problem.code.name());
        o.text("message", &problem.message);
        if let Some(details) =
            problem.details.as_deref().and_then(|details| std::str::from_utf8(details).ok())
        {
            o.raw("details", details);
        }
    })
}

/// Says that an event to go on from is not one that this server knows.
pub(crate) fn unknown_event(last_event_id: &str) -> String {
    message(|o| {
        o.text("type", "error");
        // Real-Time 5.5.2.
        o.text("code", "unknown_event_id");
        let text = "last_event_id: this server knows no such event; look at the jobs themselves, then go on";
        o.text("message", text);
        let shown: String = last_event_id.chars().take(64).collect();
        o.object("details", |o| o.text("last_event_id", &shown));
    })
}

/// Something to tell; its name is `last` if it has none of its own.
pub(crate) fn told(told: &Told, subscribed: Subscribed<'_>, last: EventId, now: Timestamp) -> String {
    message(|o| {
        if let (Told::Notice(notice), EventForm::Envelope) = (told, subscribed.topic.form) {
            event::members(o, notice);
            o.plain("subscription_id", SubscriptionId(subscribed.number));
            return;
        }
        o.text("type", "event");
        o.text("event", live::name(told));
        o.plain("id", live::id(told).unwrap_or(last));
        o.moment("timestamp", live::at(told, now));
        whose(o, subscribed);
        o.object("data", |o| live::data(o, told, &subscribed.topic.channel, now));
    })
}

/// Says beforehand that events were dropped (Real-Time 5.4).
pub(crate) fn warning(dropped: &Dropped, subscribed: Subscribed<'_>) -> String {
    message(|o| {
        o.text("type", "warning");
        o.text("code", "events_dropped");
        o.number("count", dropped.count);
        whose(o, subscribed);
        o.plain_if("oldest_dropped_id", dropped.oldest);
        o.plain_if("newest_dropped_id", dropped.newest);
    })
}

/// The last words.
pub(crate) fn shutdown(now: Timestamp) -> String {
    message(|o| {
        o.text("type", "event");
        o.text("event", live::SHUTDOWN);
        o.moment("timestamp", now);
        o.object("data", live::farewell);
    })
}

/// The id by which a client may name a subscription.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubscriptionId(pub(crate) u64);

impl std::fmt::Display for SubscriptionId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sub_{}", self.0)
    }
}

fn message(fill: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, fill);
    // The writer's input is text, so what it wrote is.
    String::from_utf8(out).unwrap_or_default()
}

fn done(o: &mut Object<'_>, what: &str) {
    o.text("type", what);
    o.text("action", what);
}

fn whose(o: &mut Object<'_>, subscribed: Subscribed<'_>) {
    o.plain("channel", name(subscribed.topic));
    o.plain("subscription_id", SubscriptionId(subscribed.number));
}

/// The channel by the name that the client used.
fn name(topic: &Topic) -> String {
    match topic {
        Topic { channel: Channel::All, form: EventForm::Envelope } => "events".to_owned(),
        Topic { channel, .. } => channel.to_string(),
    }
}
