//! How rate limits are written down: those of jobs, and what is remembered of a key.

use std::borrow::Cow;

use hapax_core::Timestamp;
use hapax_core::limit::{
    LimitKey, Limits, Memory, OnLimit, Pace, RateLimit, Ruling, Share, Span, Starts, Window,
};
use serde::{Deserialize, Serialize};

use super::{Unreadable, json, millis, named, span};

/// A limit and a period in milliseconds.
type PaceRecord = (u32, i64);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LimitRecord<'a> {
    key: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limits: Option<LimitsRecord>,
    on_limit: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    share: Option<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct LimitsRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    concurrency: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rate: Option<PaceRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    throttle: Option<PaceRecord>,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct MemoryRecord {
    /// The first of each after the first of the one before it, how long it lasts, and how many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    starts: Vec<(i64, i64, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counted_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    apart_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_until: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ruling: Option<LimitsRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ruling_ends: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    configured: Option<u32>,
}

pub(super) fn write_policy(limit: &RateLimit) -> LimitRecord<'_> {
    let RateLimit { key, limits, on_limit, share } = limit;
    LimitRecord {
        key: Cow::Borrowed(key.as_str()),
        limits: Some(*limits).filter(|limits| !limits.is_empty()).map(write_limits),
        on_limit: Cow::Borrowed(on_limit.name()),
        share: Some(*share).filter(|share| *share != Share::default()).map(|share| share.name().into()),
    }
}

pub(super) fn read_policy(record: LimitRecord<'_>) -> Result<RateLimit, Unreadable> {
    Ok(RateLimit {
        key: LimitKey::parse_any(&record.key).map_err(|_| Unreadable)?,
        limits: record.limits.map(|limits| read_limits(&limits)).transpose()?.unwrap_or_default(),
        on_limit: named(Some(record.on_limit), &OnLimit::ALL, OnLimit::name)?.ok_or(Unreadable)?,
        share: named(record.share, &Share::ALL, Share::name)?.unwrap_or_default(),
    })
}

fn write_limits(limits: Limits) -> LimitsRecord {
    let Limits { concurrency, rate, throttle } = limits;
    let pace = |pace: Pace| (pace.limit(), millis(pace.period()));
    LimitsRecord { concurrency, rate: rate.map(pace), throttle: throttle.map(pace) }
}

fn read_limits(record: &LimitsRecord) -> Result<Limits, Unreadable> {
    let pace = |pace: Option<PaceRecord>| -> Result<Option<Pace>, Unreadable> {
        let Some((limit, period)) = pace else { return Ok(None) };
        Pace::new(limit.into(), span(period)?, Window::Sliding).map(Some).map_err(|_| Unreadable)
    };
    let LimitsRecord { concurrency, rate, throttle } = *record;
    Ok(Limits { concurrency, rate: pace(rate)?, throttle: pace(throttle)? })
}

/// The text of what is remembered.
pub fn write(memory: &Memory) -> String {
    let Memory { starts: Starts { spans, counted_for, last, apart }, closed_until, ruling, configured } =
        memory;
    let mut before = 0;
    let mut written = Vec::with_capacity(spans.len());
    for Span { first, last, count } in spans {
        written.push((first.millis() - before, last.millis() - first.millis(), *count));
        before = first.millis();
    }
    json(&MemoryRecord {
        starts: written,
        counted_ms: Some(millis(*counted_for)).filter(|millis| *millis > 0),
        last: last.map(Timestamp::millis),
        apart_ms: Some(millis(*apart)).filter(|millis| *millis > 0),
        closed_until: closed_until.map(Timestamp::millis),
        ruling: ruling.map(|ruling| write_limits(ruling.limits)),
        ruling_ends: ruling.and_then(|ruling| ruling.expires_at).map(Timestamp::millis),
        configured: *configured,
    })
}

/// What the text says.
pub fn read(text: &str) -> Result<Memory, Unreadable> {
    let MemoryRecord { starts, counted_ms, last, apart_ms, closed_until, ruling, ruling_ends, configured } =
        serde_json::from_str(text)?;
    let mut before = 0_i64;
    let mut spans = Vec::with_capacity(starts.len());
    for (after, length, count) in starts {
        before = before.checked_add(after).ok_or(Unreadable)?;
        let last = before.checked_add(length).ok_or(Unreadable)?;
        spans.push(Span { first: Timestamp::from_millis(before), last: Timestamp::from_millis(last), count });
    }
    let moment = |millis: Option<i64>| millis.map(Timestamp::from_millis);
    let limits = ruling.map(|ruling| read_limits(&ruling)).transpose()?;
    Ok(Memory {
        starts: Starts {
            spans,
            counted_for: span(counted_ms.unwrap_or(0))?,
            last: moment(last),
            apart: span(apart_ms.unwrap_or(0))?,
        },
        closed_until: moment(closed_until),
        ruling: limits.map(|limits| Ruling { limits, expires_at: moment(ruling_ends) }),
        configured,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_remembered_reads_back() {
        let pace = Pace::new(3, Duration::from_secs(1), Window::Spaced).unwrap();
        let limits = Limits { concurrency: Some(0), rate: Some(pace), throttle: Some(pace) };
        let mut memory = Memory::default();
        for millis in [5, 9, 700, 800] {
            memory.started(limits, Timestamp::from_millis(millis));
        }
        memory.close(Timestamp::from_millis(900), Timestamp::from_millis(800));
        memory.ruling = Some(Ruling { limits, expires_at: Some(Timestamp::from_millis(1000)) });
        assert_eq!(read(&write(&memory)).unwrap(), memory);
        memory.ruling = Some(Ruling { limits: Limits::default(), expires_at: None });
        memory.configured = Some(0);
        assert_eq!(read(&write(&memory)).unwrap(), memory);
        assert_eq!((write(&Memory::default()), read("{}").unwrap()), ("{}".to_owned(), Memory::default()));
    }

    #[test]
    fn what_nobody_here_wrote_is_not_read() {
        for text in ["", "1", "{\"starts\":[[1]]}", "{\"counted_ms\":-1}", "{\"ruling\":{\"rate\":[0,1]}}"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
