//! How a delivery is written down.

use std::borrow::Cow;

use hapax_core::Timestamp;
use hapax_core::webhook::{Attempt, Delivery, DeliveryId, Step};
use serde::{Deserialize, Serialize};

use super::{Unreadable, json, millis, span};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'a> {
    r#type: Cow<'a, str>,
    /// As text, so that every attempt sends the same bytes.
    event: Cow<'a, str>,
    created_at: i64,
    step: Cow<'a, str>,
    /// When it is to be sent, or ended.
    at: i64,
    attempts: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<AttemptRecord<'a>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AttemptRecord<'a> {
    at: i64,
    took_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<Cow<'a, str>>,
}

/// The text of a delivery.
pub fn write(delivery: &Delivery) -> String {
    let Delivery { id: _, event_type, event, created_at, step, attempts, last } = delivery;
    let (Step::Pending { next_at: at } | Step::Delivered { at } | Step::Dead { at }) = step;
    json(&Record {
        r#type: Cow::Borrowed(event_type),
        event: Cow::Borrowed(event),
        created_at: created_at.millis(),
        step: Cow::Borrowed(step.name()),
        at: at.millis(),
        attempts: *attempts,
        last: last.as_ref().map(|Attempt { at, took, status, error }| AttemptRecord {
            at: at.millis(),
            took_ms: millis(*took),
            status: *status,
            error: error.as_deref().map(Cow::Borrowed),
        }),
    })
}

/// The delivery of which the text tells.
pub fn read(id: DeliveryId, text: &str) -> Result<Delivery, Unreadable> {
    let record: Record<'_> = serde_json::from_str(text)?;
    let at = Timestamp::from_millis(record.at);
    let steps = [Step::Pending { next_at: at }, Step::Delivered { at }, Step::Dead { at }];
    let attempt = |record: AttemptRecord<'_>| {
        Ok::<_, Unreadable>(Attempt {
            at: Timestamp::from_millis(record.at),
            took: span(record.took_ms)?,
            status: record.status,
            error: record.error.map(Into::into),
        })
    };
    Ok(Delivery {
        id,
        event_type: record.r#type.into(),
        event: (&*record.event).into(),
        created_at: Timestamp::from_millis(record.created_at),
        step: steps.into_iter().find(|step| step.name() == record.step).ok_or(Unreadable)?,
        attempts: record.attempts,
        last: record.last.map(attempt).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hapax_core::webhook::{Response, Sequence, SubscriptionId};

    use super::*;

    #[test]
    fn a_delivery_comes_back_as_it_was_at_every_step() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        let id = DeliveryId {
            subscription: SubscriptionId::new(now, [1; 10]),
            sequence: Sequence { number: 5, mark: 6 },
        };
        let fresh = Delivery {
            id,
            event_type: "job.failed".into(),
            event: r#"{"a": "\u00e9" }"#.into(),
            created_at: now,
            step: Step::Pending { next_at: now },
            attempts: 0,
            last: None,
        };
        let after = |response| fresh.after(&response, now, Duration::from_millis(12));
        let answered = |status| Response::Answered { status, retry_after: None };
        let failed = Response::Failed("refused".into());
        for delivery in [fresh.clone(), after(answered(200)), after(answered(410)), after(failed)] {
            assert_eq!(read(id, &write(&delivery)).unwrap(), delivery);
        }
    }
}
