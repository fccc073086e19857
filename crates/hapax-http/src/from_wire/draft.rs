//! A job on its way in: from an enqueue request to a draft with its key.

use std::borrow::Cow;
use std::collections::HashSet;

use hapax_broker::Draft;
use hapax_core::json::{self, Limits, Member, Node, Value};
use hapax_core::unique::{Key, UniquePolicy, key_of};
use hapax_core::{Delivery, JobId, JobType, Json, Priority, QueueName, RetryPolicy, Spec, Timestamp};
use hapax_wire::error::Code;
use hapax_wire::job::delivery_name;

use super::envelope::Envelope;
use super::retry::{self, choice};
use super::{Fault, Given, Media, Place, span, unique};

/// Reads the body of `POST /jobs`.
pub(crate) fn job(body: &Node<'_>, media: Media, now: Timestamp) -> Result<Draft, Fault> {
    draft(Given::body(body)?, media, now)
}

/// Reads the body of `POST /jobs/batch`.
pub(crate) fn batch(
    body: &Node<'_>,
    media: Media,
    now: Timestamp,
    job_bytes_max: usize,
) -> Result<Vec<Draft>, Fault> {
    let body = Given::body(body)?;
    let jobs = body.required("jobs", "an array of jobs")?;
    let count = jobs.node.as_array().map_or(0, <[_]>::len);
    if count > hapax_broker::BATCH_MAX {
        return Err(too_many(count));
    }
    let read = |job: Given<'_, '_>| {
        if job.node.raw.len() > job_bytes_max {
            let problem = format_args!("is larger than {job_bytes_max} bytes");
            return Err(Fault::coded(Code::PayloadTooLarge, job.place, problem));
        }
        job.expect_object("an object")?;
        draft(job, media, now)
    };
    let drafts: Vec<Draft> = jobs.items("an array of jobs")?.map(read).collect::<Result<_, _>>()?;
    if drafts.is_empty() { Err(Fault::new(jobs.place, "must hold at least one job")) } else { Ok(drafts) }
}

fn too_many(count: usize) -> Fault {
    let most = hapax_broker::BATCH_MAX;
    let details = format!("{{\"max_batch_size\":{most},\"batch_size\":{count}}}");
    Fault::of_body(
        Code::BatchTooLarge,
        format!("a batch may hold {most} jobs, and this one has {count}"),
        details.into_bytes(),
    )
}

fn draft(job: Given<'_, '_>, media: Media, now: Timestamp) -> Result<Draft, Fault> {
    let options = job.member("options");
    let envelope = Envelope::sort(&job, options.as_ref())?;
    if let Some(given) = envelope.specversion
        && given.text("the string \"1.0\"")? != "1.0"
    {
        return Err(Fault::new(given.place, "must be \"1.0\", the only version this server speaks"));
    }
    let id = envelope.id.map(read_id).transpose()?;
    let kind = envelope.kind.ok_or_else(|| {
        Fault::missing(Place::Member(&job.place, "type"), "the kind of work, such as \"email.send\"")
    })?;
    let kind = JobType::parse(kind.text("a string")?).map_err(|error| Fault::new(kind.place, error))?;
    let args = arguments(&job, &envelope, media)?;
    let queue = envelope.queue.map_or_else(|| Ok(QueueName::default_queue()), read_queue)?;
    let meta = metadata(&envelope)?;
    let unique = envelope.unique.map(unique::policy).transpose()?;
    let key = match (&unique, envelope.unique) {
        (Some(policy), Some(given)) => Some(key(policy, &kind, &queue, &args, &meta, given.place)?),
        _ => None,
    };
    let pending = envelope.pending.map(|given| given.flag()).transpose()?.unwrap_or(false);
    let spec = Spec {
        kind,
        queue,
        priority: envelope.priority.map(read_priority).transpose()?.unwrap_or_default(),
        args: Json::from_trusted(&args.text),
        meta: Json::from_trusted(&meta.text),
        tags: envelope.tags.map(|given| given.texts()).transpose()?.unwrap_or_default(),
        schema: envelope.schema.map(|given| given.text("a URI").map(Box::from)).transpose()?,
        scheduled_at: one_of(envelope.scheduled_at, envelope.delay_until)?
            .map(|given| span::moment(given, now))
            .transpose()?,
        expires_at: envelope.expires_at.map(|given| span::moment(given, now)).transpose()?,
        timeout: span::timeout(envelope.timeout, envelope.timeout_ms)?,
        visibility_timeout: span::visibility_timeout(
            envelope.visibility_timeout,
            envelope.visibility_timeout_ms,
        )?,
        retry: retry_policy(&envelope)?,
        unique,
        delivery: envelope.delivery.map_or(Ok(Delivery::AtLeastOnce), read_delivery)?,
        extra: envelope.extra(),
    };
    Ok(Draft { id, spec, key, pending })
}

fn read_id(given: Given<'_, '_>) -> Result<JobId, Fault> {
    given.text("a UUID of version 7 in lower case")?.parse().map_err(|error| Fault::new(given.place, error))
}

/// A queue's name.
pub(super) fn read_queue(given: Given<'_, '_>) -> Result<QueueName, Fault> {
    QueueName::parse(given.text("the name of a queue")?).map_err(|error| Fault::new(given.place, error))
}

fn read_priority(given: Given<'_, '_>) -> Result<Priority, Fault> {
    let number = given.integer(Priority::MIN.get().into(), Priority::MAX.get().into())?;
    Priority::new(number).map_err(|error| Fault::new(given.place, error))
}

fn read_delivery(given: Given<'_, '_>) -> Result<Delivery, Fault> {
    choice(given, "guarantee", &[Delivery::AtLeastOnce, Delivery::AtMostOnce], delivery_name)
}

/// An attribute that has two names: whoever sends both must mean the same.
fn one_of<'n, 'a>(
    usual: Option<Given<'n, 'a>>,
    other: Option<Given<'n, 'a>>,
) -> Result<Option<Given<'n, 'a>>, Fault> {
    match (usual, other) {
        (Some(usual), Some(other)) if usual.node.raw != other.node.raw => {
            Err(Fault::new(other.place, format_args!("contradicts {}; send one of the two", usual.place)))
        }
        (usual, other) => Ok(usual.or(other)),
    }
}

/// `retry` or its other name, and the number of attempts that may stand beside it.
fn retry_policy(envelope: &Envelope<'_, '_>) -> Result<RetryPolicy, Fault> {
    let given = one_of(envelope.retry, envelope.retry_policy)?;
    let mut policy = given.map(retry::policy).transpose()?.unwrap_or_default();
    if let Some(beside) = envelope.max_attempts {
        let number = retry::max_attempts(beside)?;
        let inside = given.is_some_and(|given| given.member("max_attempts").is_some());
        if inside && number != policy.max_attempts {
            return Err(Fault::new(beside.place, "contradicts retry.max_attempts; send one of the two"));
        }
        policy.max_attempts = number;
    }
    Ok(policy)
}

/// JSON text that may have been put together from parts of the body.
struct Text<'n, 'a> {
    text: Cow<'n, str>,
    /// The value, if the text stood in the body like this.
    node: Option<&'n Node<'a>>,
}

/// `args` as sent, or `[payload]`.
fn arguments<'n, 'a>(
    job: &Given<'_, '_>,
    envelope: &Envelope<'n, 'a>,
    media: Media,
) -> Result<Text<'n, 'a>, Fault> {
    match (envelope.args, envelope.payload) {
        (Some(args), Some(payload)) => {
            Err(Fault::new(payload.place, format_args!("stands beside {}; send one of the two", args.place)))
        }
        (Some(args), None) => {
            check_args(args, media)?;
            Ok(Text { text: Cow::Borrowed(args.node.raw), node: Some(args.node) })
        }
        (None, Some(payload)) => Ok(Text { text: Cow::Owned(format!("[{}]", payload.node.raw)), node: None }),
        (None, None) => Err(Fault::missing(Place::Member(&job.place, "args"), "the arguments, an array")),
    }
}

/// An object is taken as plain JSON only: the suite holds the spec's own media type to arrays.
pub(super) fn check_args(args: Given<'_, '_>, media: Media) -> Result<(), Fault> {
    match (&args.node.value, media) {
        (Value::Array(_), _) | (Value::Object(_), Media::Json) => Ok(()),
        (Value::Object(_), Media::OpenJobSpec) => {
            Err(args.wrong("an array (an object is taken with Content-Type: application/json)"))
        }
        (_, Media::OpenJobSpec) => Err(args.wrong("an array")),
        (_, Media::Json) => Err(args.wrong("an array or an object")),
    }
}

/// `meta`, with the members of `options.metadata` that it does not have itself.
fn metadata<'n, 'a>(envelope: &Envelope<'n, 'a>) -> Result<Text<'n, 'a>, Fault> {
    for given in [envelope.meta, envelope.metadata].into_iter().flatten() {
        given.expect_object("an object")?;
    }
    match (envelope.meta, envelope.metadata) {
        (None, None) => Ok(Text { text: Cow::Borrowed("{}"), node: None }),
        (Some(only), None) | (None, Some(only)) => {
            Ok(Text { text: Cow::Borrowed(only.node.raw), node: Some(only.node) })
        }
        (Some(meta), Some(metadata)) => Ok(Text { text: Cow::Owned(merged(meta, metadata)), node: None }),
    }
}

fn merged(meta: Given<'_, '_>, metadata: Given<'_, '_>) -> String {
    let mut out = Vec::new();
    let own = meta.node.as_object().unwrap_or_default();
    let names: HashSet<&str> = own.iter().map(|member| &*member.name).collect();
    let more = metadata.node.as_object().unwrap_or_default().iter();
    let all = own.iter().chain(more.filter(|member| !names.contains(&*member.name)));
    out.push(b'{');
    for (index, Member { name, node }) in all.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        hapax_wire::writer::text(&mut out, name);
        out.push(b':');
        out.extend_from_slice(node.raw.as_bytes());
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

fn key(
    policy: &UniquePolicy,
    kind: &JobType,
    queue: &QueueName,
    args: &Text<'_, '_>,
    meta: &Text<'_, '_>,
    place: Place<'_>,
) -> Result<Key, Fault> {
    let read = |text| json::read(text, Limits::DEFAULT).map_err(|error| Fault::new(place, error));
    let (args_again, meta_again);
    let args = if let Some(node) = args.node {
        node
    } else {
        args_again = read(&args.text)?;
        &args_again
    };
    let meta = if let Some(node) = meta.node {
        node
    } else {
        meta_again = read(&meta.text)?;
        &meta_again
    };
    let keyed = key_of(policy, kind, queue, args, Some(meta)).map_err(|error| Fault::new(place, error))?;
    Ok(keyed.key)
}
