//! How the settings of a queue are written down.

use std::borrow::Cow;
use std::time::Duration;

use hapax_core::limit::Share;
use hapax_core::{Deletion, KeptFor, Overflow, QueueName, QueueSettings};
use serde::{Deserialize, Serialize};

use super::options::{RetryRecord, read_retry, write_retry};
use super::{Unreadable, json, millis, named, span};

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Record<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_depth: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overflow: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning_permille: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draining: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    visibility_timeout_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry: Option<RetryRecord<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discarded_ms: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_types: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion: Option<DeletionRecord<'a>>,
}

/// Where its jobs go; nowhere if they are discarded.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeletionRecord<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    move_to: Option<Cow<'a, str>>,
}

impl DeletionRecord<'_> {
    fn read(self) -> Result<Deletion, Unreadable> {
        let Some(name) = self.move_to else { return Ok(Deletion::Discard) };
        QueueName::parse(&name).map(Deletion::MoveTo).map_err(|_| Unreadable)
    }
}

/// The text of settings.
pub fn write(settings: &QueueSettings) -> String {
    let QueueSettings {
        max_depth,
        overflow,
        warning_permille,
        draining,
        visibility_timeout,
        timeout,
        retry,
        retention: KeptFor { completed, cancelled, discarded },
        allowed_types,
        share,
        deletion,
    } = settings;
    json(&Record {
        max_depth: *max_depth,
        overflow: overflow.map(|overflow| overflow.name().into()),
        warning_permille: *warning_permille,
        draining: *draining,
        visibility_timeout_ms: visibility_timeout.map(millis),
        timeout_ms: timeout.map(millis),
        retry: retry.as_ref().map(write_retry),
        completed_ms: completed.map(millis),
        cancelled_ms: cancelled.map(millis),
        discarded_ms: discarded.map(millis),
        allowed_types: allowed_types.iter().map(|name| Cow::Borrowed(&**name)).collect(),
        share: share.map(|share| share.name().into()),
        deletion: deletion.as_ref().map(|deletion| DeletionRecord {
            move_to: deletion.target().map(|queue| Cow::Borrowed(queue.as_str())),
        }),
    })
}

/// The settings of which the text tells.
pub fn read(text: &str) -> Result<QueueSettings, Unreadable> {
    let record: Record<'_> = serde_json::from_str(text)?;
    let read = |millis: Option<i64>| -> Result<Option<Duration>, Unreadable> { millis.map(span).transpose() };
    Ok(QueueSettings {
        max_depth: record.max_depth,
        overflow: named(record.overflow, &Overflow::ALL, Overflow::name)?,
        warning_permille: record.warning_permille,
        draining: record.draining,
        visibility_timeout: read(record.visibility_timeout_ms)?,
        timeout: read(record.timeout_ms)?,
        retry: record.retry.map(read_retry).transpose()?,
        retention: KeptFor {
            completed: read(record.completed_ms)?,
            cancelled: read(record.cancelled_ms)?,
            discarded: read(record.discarded_ms)?,
        },
        allowed_types: record.allowed_types.into_iter().map(Into::into).collect(),
        share: named(record.share, &Share::ALL, Share::name)?,
        deletion: record.deletion.map(DeletionRecord::read).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use hapax_core::RetryPolicy;

    use super::*;

    #[test]
    fn settings_read_back() {
        let seconds = |n| Some(Duration::from_secs(n));
        let settings = QueueSettings {
            max_depth: Some(5),
            overflow: Some(Overflow::DropOldest),
            warning_permille: Some(500),
            draining: Some(false),
            visibility_timeout: seconds(1),
            timeout: seconds(2),
            retry: Some(RetryPolicy { max_attempts: 7, ..RetryPolicy::default() }),
            retention: KeptFor { completed: seconds(3), cancelled: seconds(4), discarded: seconds(5) },
            allowed_types: vec!["a.*".into()],
            share: Some(Share::Line),
            deletion: Some(Deletion::MoveTo(QueueName::default_queue())),
        };
        assert_eq!(read(&write(&settings)).unwrap(), settings);
        let discarding = QueueSettings { deletion: Some(Deletion::Discard), ..QueueSettings::default() };
        assert_eq!(read(&write(&discarding)).unwrap(), discarding);
        assert_eq!(
            (write(&QueueSettings::default()), read("{}").unwrap()),
            ("{}".to_owned(), QueueSettings::default())
        );
    }
}
