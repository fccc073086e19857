//! How a subscription is written down.

use std::borrow::Cow;

use hapax_core::json::Limits;
use hapax_core::webhook::{Endpoint, Pattern, Reach, Secret, Subscription, SubscriptionId};
use hapax_core::{JobType, Json, QueueName, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Unreadable, json};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'a> {
    url: Cow<'a, str>,
    events: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    queues: Vec<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    job_types: Vec<Cow<'a, str>>,
    active: bool,
    secret: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous_secret: Option<(Cow<'a, str>, i64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Cow<'a, str>>,
    created_at: i64,
    updated_at: i64,
}

/// The text of a subscription.
pub fn write(subscription: &Subscription) -> String {
    let Subscription {
        id: _,
        endpoint,
        events,
        queues,
        job_types,
        active,
        secret,
        previous_secret,
        metadata,
        created_at,
        updated_at,
    } = subscription;
    let old = |(secret, until): &(Secret, Timestamp)| (Cow::Owned(secret.reveal().into()), until.millis());
    json(&Record {
        url: Cow::Borrowed(endpoint.url()),
        events: events.iter().map(|pattern| Cow::Borrowed(pattern.as_str())).collect(),
        queues: queues.iter().map(|queue| Cow::Borrowed(queue.as_str())).collect(),
        job_types: job_types.iter().map(|kind| Cow::Borrowed(kind.as_str())).collect(),
        active: *active,
        secret: Cow::Borrowed(secret.reveal()),
        previous_secret: previous_secret.as_ref().map(old),
        metadata: metadata.as_ref().map(|json| Cow::Borrowed(json.as_str())),
        created_at: created_at.millis(),
        updated_at: updated_at.millis(),
    })
}

/// The subscription of which the text tells. Where it may lead is decided at each delivery, not here.
pub fn read(name: &str, text: &str) -> Result<Subscription, Unreadable> {
    let record: Record<'_> = serde_json::from_str(text)?;
    let secret = |text: &str| Secret::parse(text).map_err(|_| Unreadable);
    let old = |(text, until): (Cow<'_, str>, i64)| {
        secret(&text).map(|secret| (secret, Timestamp::from_millis(until)))
    };
    Ok(Subscription {
        id: name.parse::<SubscriptionId>().map_err(|_| Unreadable)?,
        endpoint: Endpoint::parse(&record.url, Reach::Everywhere).map_err(|_| Unreadable)?,
        events: all(&record.events, |text| Pattern::parse(text).ok())?,
        queues: all(&record.queues, |text| QueueName::parse(text).ok())?,
        job_types: all(&record.job_types, |text| JobType::parse(text).ok())?,
        active: record.active,
        secret: secret(&record.secret)?,
        previous_secret: record.previous_secret.map(old).transpose()?,
        metadata: record.metadata.map(|text| read_json(&text)).transpose()?,
        created_at: Timestamp::from_millis(record.created_at),
        updated_at: Timestamp::from_millis(record.updated_at),
    })
}

fn all<T>(texts: &[Cow<'_, str>], parse: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Unreadable> {
    texts.iter().map(|text| parse(text).ok_or(Unreadable)).collect()
}

fn read_json(text: &str) -> Result<Json, Unreadable> {
    Json::parse_checked(text, Limits::DEFAULT).map_err(|_| Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_comes_back_as_it_was() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let id = SubscriptionId::new(now, [1; 10]);
        let bare = Subscription {
            id,
            endpoint: Endpoint::parse("https://example.com/hook", Reach::Public).unwrap(),
            events: vec![Pattern::parse("job.*").unwrap()],
            queues: Vec::new(),
            job_types: Vec::new(),
            active: true,
            secret: Secret::new([1; 32]),
            previous_secret: None,
            metadata: None,
            created_at: now,
            updated_at: now,
        };
        let full = Subscription {
            queues: vec![QueueName::parse("mails").unwrap()],
            job_types: vec![JobType::parse("mail.send").unwrap()],
            active: false,
            metadata: Some(Json::from_trusted(r#"{"a": 1.0}"#)),
            ..bare.rotated(Secret::new([2; 32]), now)
        };
        for subscription in [bare, full] {
            assert_eq!(read(&id.to_string(), &write(&subscription)).unwrap(), subscription);
        }
    }
}
