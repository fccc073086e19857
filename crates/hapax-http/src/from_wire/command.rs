//! What a client says over a WebSocket.

use hapax_broker::{Channel, EventFilter};

use super::listening::read_channel;
use super::{Fault, Given, read};
use crate::problem::Problem;

/// What a client says over a WebSocket (Real-Time 3, Events 6.2).
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// It wants to hear a channel, or other things of one that it hears.
    Subscribe {
        /// Which.
        topic: Topic,
        /// What of it.
        filter: EventFilter,
        /// From where on.
        after: Option<String>,
    },
    /// It has heard enough.
    Unsubscribe(Subject),
    /// It was here before, and knows everything up to this event.
    Resume(String),
}

/// A channel, and in which form its events come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Topic {
    pub(crate) channel: Channel,
    pub(crate) form: EventForm,
}

/// The two documents disagree about what `type` means in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventForm {
    /// Real-Time 3.4: `type` is `event`, and the payload of the stream is its `data`.
    Message,
    /// Events 6.2: the envelope of the log, as the channel `events` wants it.
    Envelope,
}

/// Which subscription is meant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Topic(Topic),
    Subscription(String),
}

const ACTIONS: &[&str] = &["subscribe", "unsubscribe", "resume"];

/// Reads a message.
pub(crate) fn command(text: &str) -> Result<Command, Problem> {
    let body = read(text.as_bytes())?;
    let body = Given::body(&body)?;
    let action = body.required("action", "subscribe, unsubscribe or resume")?;
    Ok(match action.text("a string")? {
        "subscribe" => {
            body.expect_only(&["action", "channel", "event_types", "filter", "last_event_id"])?;
            let after =
                body.member("last_event_id").map(|given| given.text("the id of an event")).transpose()?;
            Command::Subscribe {
                topic: topic(body.required("channel", CHANNELS)?)?,
                filter: filter(body)?,
                after: after.map(str::to_owned),
            }
        }
        "unsubscribe" => {
            body.expect_only(&["action", "channel", "subscription_id"])?;
            Command::Unsubscribe(match body.member("subscription_id") {
                Some(given) => Subject::Subscription(given.text("the id of a subscription")?.to_owned()),
                None => Subject::Topic(topic(body.required("channel", CHANNELS)?)?),
            })
        }
        "resume" => {
            body.expect_only(&["action", "last_event_id"])?;
            let given = body.required("last_event_id", "the id of the last event that was received")?;
            Command::Resume(given.text("the id of an event")?.to_owned())
        }
        other => return Err(Fault::unknown(action.place, "action", other, ACTIONS).into()),
    })
}

const CHANNELS: &str = "job:{id}, queue:{name}, all or events";

fn topic(given: Given<'_, '_>) -> Result<Topic, Problem> {
    match given.text(CHANNELS)? {
        "events" => Ok(Topic { channel: Channel::All, form: EventForm::Envelope }),
        text => Ok(Topic { channel: read_channel(text, given.place)?, form: EventForm::Message }),
    }
}

/// Real-Time 5.6 has the types of events beside the channel, Events 6.2 has all filters in an object.
fn filter(body: Given<'_, '_>) -> Result<EventFilter, Fault> {
    let names = |given: Option<Given<'_, '_>>| {
        let names = given.map(|given| given.names()).transpose()?;
        Ok::<_, Fault>(names.unwrap_or_default().into_iter().map(String::from).collect())
    };
    let mut filter = EventFilter { types: names(body.member("event_types"))?, ..EventFilter::default() };
    if let Some(given) = body.member("filter") {
        given.expect_object("an object with event_types, queues and job_types")?;
        given.expect_only(&["event_types", "queues", "job_types"])?;
        let types: Vec<String> = names(given.member("event_types"))?;
        filter.types.extend(types);
        filter.queues = names(given.member("queues"))?;
        filter.job_types = names(given.member("job_types"))?;
    }
    Ok(filter)
}
