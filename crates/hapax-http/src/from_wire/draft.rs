//! A job on its way in: from an enqueue request to a draft with its key.

use hapax_broker::Draft;
use hapax_core::json::Node;
use hapax_core::{Delivery, JobId, JobType, Json, Priority, QueueName, RetryPolicy, Spec, Timestamp};
use hapax_wire::job::delivery_name;

use super::envelope::Envelope;
use super::payload::{arguments, metadata};
use super::retry::{self, choice};
use super::{Fault, Given, Media, Place, span, uniqueness};

/// A job and the text of which its key is the hash.
#[derive(Debug)]
pub(crate) struct Drafted {
    /// The job.
    pub(crate) draft: Draft,
    /// The text, if the job has a key.
    pub(crate) canonical: Option<String>,
}

/// Reads the body of `POST /jobs` and of `POST /unique/explain`.
pub(crate) fn job(body: &Node<'_>, media: Media, now: Timestamp) -> Result<Drafted, Fault> {
    draft(Given::body(body)?, media, now)
}

/// Reads a job.
pub(super) fn draft(job: Given<'_, '_>, media: Media, now: Timestamp) -> Result<Drafted, Fault> {
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
    let unique = uniqueness::read(&envelope)?;
    let keyed = unique.as_ref().map(|unique| unique.keyed(&kind, &queue, &args, &meta)).transpose()?;
    let pending = envelope.pending.map(|given| given.flag()).transpose()?.unwrap_or(false);
    let scheduled_at = one_of(envelope.scheduled_at, envelope.delay_until)?;
    let scheduled_at = match &unique {
        Some(unique) => unique.start(scheduled_at, envelope.pending.filter(|_| pending))?,
        None => scheduled_at,
    };
    let spec = Spec {
        kind,
        queue,
        priority: envelope.priority.map(read_priority).transpose()?.unwrap_or_default(),
        args: Json::from_trusted(&args.text),
        meta: Json::from_trusted(&meta.text),
        tags: envelope.tags.map(|given| given.texts()).transpose()?.unwrap_or_default(),
        schema: envelope.schema.map(|given| given.text("a URI").map(Box::from)).transpose()?,
        scheduled_at: scheduled_at.map(|given| span::moment(given, now)).transpose()?,
        expires_at: envelope.expires_at.map(|given| span::moment(given, now)).transpose()?,
        timeout: span::timeout(envelope.timeout, envelope.timeout_ms)?,
        visibility_timeout: span::visibility_timeout(
            envelope.visibility_timeout,
            envelope.visibility_timeout_ms,
        )?,
        retry: retry_policy(&envelope)?,
        unique: unique.map(|unique| unique.uniqueness),
        delivery: envelope.delivery.map_or(Ok(Delivery::AtLeastOnce), read_delivery)?,
        extra: envelope.extra(),
    };
    let (key, canonical) = keyed.map(|keyed| (keyed.key, keyed.text)).unzip();
    Ok(Drafted { draft: Draft { id, spec, key, pending }, canonical })
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
