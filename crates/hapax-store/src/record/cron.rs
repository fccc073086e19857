//! How a recurring job is written down.

use std::borrow::Cow;
use std::time::Duration;

use hapax_core::cron::{Cron, Overlap, Schedule, Template, Zone};
use hapax_core::json::Limits;
use hapax_core::unique::Key;
use hapax_core::{JobId, JobType, Json, Priority, QueueName, Spec, Timestamp, Unsaid, UnsaidRetry};
use serde::{Deserialize, Serialize};

use super::{Unreadable, json, millis, named, options, policy, span};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'a> {
    expression: Cow<'a, str>,
    zone: Cow<'a, str>,
    overlap: Cow<'a, str>,
    enabled: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<Cow<'a, str>>,
    template: TemplateRecord<'a>,
    created_at: i64,
    anchor: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_run_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_job: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next_run_at: Option<i64>,
    run_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told_until: Option<i64>,
}

/// JSON that came from a client stands here as text, so that it stays as it came.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateRecord<'a> {
    r#type: Cow<'a, str>,
    queue: Cow<'a, str>,
    priority: i64,
    args: Cow<'a, str>,
    meta: Cow<'a, str>,
    extra: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    policy: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    starts_after_ms: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_after_ms: Option<i64>,
    /// What its client left open, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unsaid: Vec<Cow<'a, str>>,
}

/// The text of a recurring job.
pub fn write(cron: &Cron) -> String {
    let Cron {
        name: _,
        expression,
        schedule: _,
        zone,
        overlap,
        enabled,
        description,
        template,
        created_at,
        anchor,
        last_run_at,
        last_job,
        next_run_at,
        run_count,
        told_until,
    } = cron;
    json(&Record {
        expression: Cow::Borrowed(expression),
        zone: Cow::Borrowed(zone.name()),
        overlap: Cow::Borrowed(overlap.name()),
        enabled: *enabled,
        description: description.as_deref().map(Cow::Borrowed),
        template: write_template(template),
        created_at: created_at.millis(),
        anchor: anchor.millis(),
        last_run_at: last_run_at.map(Timestamp::millis),
        last_job: last_job.map(|id| Cow::Owned(id.to_string())),
        next_run_at: next_run_at.map(Timestamp::millis),
        run_count: *run_count,
        told_until: Some(told_until.millis()),
    })
}

fn write_template(template: &Template) -> TemplateRecord<'_> {
    let Template { spec, key, starts_after, expires_after, unsaid } = template;
    TemplateRecord {
        r#type: Cow::Borrowed(spec.kind.as_str()),
        queue: Cow::Borrowed(spec.queue.as_str()),
        priority: spec.priority.get().into(),
        args: Cow::Borrowed(spec.args.as_str()),
        meta: Cow::Borrowed(spec.meta.as_str()),
        extra: Cow::Borrowed(spec.extra.as_str()),
        options: options::write(spec).map(Cow::Owned),
        policy: spec.unique.as_ref().map(|unique| Cow::Owned(policy::write(unique))),
        key: key.map(|key| Cow::Owned(key.to_string())),
        starts_after_ms: starts_after.map(millis),
        expires_after_ms: expires_after.map(millis),
        unsaid: write_unsaid(*unsaid),
    }
}

const TIMEOUT: &str = "timeout";
const VISIBILITY_TIMEOUT: &str = "visibility_timeout";
const RETRY: &str = "retry";
const SHARE: &str = "share";
const EXHAUSTION: &str = "on_exhaustion";

fn write_unsaid(unsaid: Unsaid) -> Vec<Cow<'static, str>> {
    let Unsaid { retry, timeout, visibility_timeout, share } = unsaid;
    let retry = match retry {
        UnsaidRetry::Nothing => None,
        UnsaidRetry::Exhaustion => Some(EXHAUSTION),
        UnsaidRetry::Policy => Some(RETRY),
    };
    let named = [
        timeout.then_some(TIMEOUT),
        visibility_timeout.then_some(VISIBILITY_TIMEOUT),
        share.then_some(SHARE),
        retry,
    ];
    named.into_iter().flatten().map(Cow::Borrowed).collect()
}

fn read_unsaid(names: &[Cow<'_, str>]) -> Result<Unsaid, Unreadable> {
    let mut unsaid = Unsaid::default();
    for name in names {
        match &**name {
            TIMEOUT => unsaid.timeout = true,
            VISIBILITY_TIMEOUT => unsaid.visibility_timeout = true,
            SHARE => unsaid.share = true,
            RETRY => unsaid.retry = UnsaidRetry::Policy,
            EXHAUSTION => unsaid.retry = UnsaidRetry::Exhaustion,
            _ => return Err(Unreadable),
        }
    }
    Ok(unsaid)
}

/// The recurring job of which the text tells.
pub fn read(name: &str, text: &str) -> Result<Cron, Unreadable> {
    let record: Record<'_> = serde_json::from_str(text)?;
    Ok(Cron {
        name: name.into(),
        schedule: Schedule::parse(&record.expression).map_err(|_| Unreadable)?,
        expression: record.expression.into(),
        zone: Zone::parse(&record.zone).map_err(|_| Unreadable)?,
        overlap: named(Some(record.overlap), &Overlap::ALL, Overlap::name)?.ok_or(Unreadable)?,
        enabled: record.enabled,
        description: record.description.map(Into::into),
        template: read_template(record.template)?,
        created_at: Timestamp::from_millis(record.created_at),
        anchor: Timestamp::from_millis(record.anchor),
        last_run_at: record.last_run_at.map(Timestamp::from_millis),
        last_job: record.last_job.map(|id| id.parse::<JobId>().map_err(|_| Unreadable)).transpose()?,
        next_run_at: record.next_run_at.map(Timestamp::from_millis),
        run_count: record.run_count,
        told_until: Timestamp::from_millis(record.told_until.unwrap_or(record.created_at)),
    })
}

fn read_template(record: TemplateRecord<'_>) -> Result<Template, Unreadable> {
    let columns = options::Columns {
        kind: JobType::parse(&record.r#type).map_err(|_| Unreadable)?,
        queue: QueueName::parse(&record.queue).map_err(|_| Unreadable)?,
        priority: Priority::new(record.priority).map_err(|_| Unreadable)?,
        unique: record.policy.map(|text| policy::read(&text)).transpose()?,
        args: read_json(&record.args)?,
        meta: read_json(&record.meta)?,
        extra: read_json(&record.extra)?,
    };
    let spec: Spec = options::read(record.options.as_deref())?.with(columns);
    let key = record.key.map(|text| text.parse::<Key>().map_err(|()| Unreadable)).transpose()?;
    let after =
        |millis: Option<i64>| -> Result<Option<Duration>, Unreadable> { millis.map(span).transpose() };
    Ok(Template {
        spec,
        key,
        starts_after: after(record.starts_after_ms)?,
        expires_after: after(record.expires_after_ms)?,
        unsaid: read_unsaid(&record.unsaid)?,
    })
}

fn read_json(text: &str) -> Result<Json, Unreadable> {
    Json::parse_checked(text, Limits::DEFAULT).map_err(|_| Unreadable)
}
