//! A job on its way in: from an enqueue request to a draft with its key.

use hapax_broker::Draft;
use hapax_core::json::Node;
use hapax_core::{
    Delivery, GivenTime, JobId, JobType, Json, KeptFor, Priority, QueueName, RetryPolicy, Spec, TimeLimits,
    Timeout, Unsaid, UnsaidRetry,
};
use hapax_wire::error::Code;
use hapax_wire::job::delivery_name;

use super::envelope::Envelope;
use super::ordering;
use super::payload::{arguments, metadata};
use super::retry::{self, choice};
use super::{Fault, Given, Intake, Place, rate_limit, span, uniqueness};

/// A job and the text of which its key is the hash.
#[derive(Debug)]
pub(crate) struct Drafted {
    /// The job.
    pub(crate) draft: Draft,
    /// The text, if the job has a key.
    pub(crate) canonical: Option<String>,
}

/// Reads the body of `POST /jobs` and of `POST /unique/explain`.
pub(crate) fn job(body: &Node<'_>, intake: &Intake) -> Result<Drafted, Fault> {
    draft(Given::body(body)?, intake)
}

/// Reads a job.
pub(super) fn draft(job: Given<'_, '_>, intake: &Intake) -> Result<Drafted, Fault> {
    let options = job.member("options");
    let envelope = Envelope::sort(&job, options.as_ref())?;
    let id = envelope.id.map(read_id).transpose()?;
    warn(&envelope, intake);
    let mut drafted = read(&job, &envelope, intake, None)?;
    expect_time_to_start(&drafted.draft.spec, &envelope, intake)?;
    drafted.draft.id = id;
    Ok(drafted)
}

/// Reads the job of a step of a workflow. It has no id of its own choice: what stands there is the name of the step.
pub(super) fn step(
    job: Given<'_, '_>,
    intake: &Intake,
    defaults: Option<&Given<'_, '_>>,
) -> Result<Drafted, Fault> {
    let options = job.member("options");
    let mut envelope = Envelope::sort(&job, options.as_ref())?;
    if let Some(defaults) = defaults {
        envelope.fill(defaults)?;
    }
    envelope.leave_out(OF_STEPS);
    // A step whose order is misspelt would run at once.
    if let Some(near) = envelope.near_misses(OF_STEPS).next() {
        return Err(near.fault().with_code(Code::InvalidWorkflow));
    }
    read(&job, &envelope, intake, None)
}

/// Members of a step that are not attributes of its job.
pub(super) const OF_STEPS: &[&str] = &["depends_on", "callback_type", "name"];

/// Tells of attributes that are kept, and perhaps were meant to be others.
fn warn(envelope: &Envelope<'_, '_>, intake: &Intake) {
    for near in envelope.near_misses(&[]) {
        intake.warn(format!("{}: is kept, and has no effect; {}", near.place, near.hint()));
    }
}

/// Reads the job of a recurring one. What belongs to the recurring job itself stands among its attributes.
pub(super) fn recurring(
    job: Given<'_, '_>,
    intake: &Intake,
    not_attributes: &[&str],
) -> Result<Drafted, Fault> {
    let options = job.member("options");
    let mut envelope = Envelope::sort(&job, options.as_ref())?;
    envelope.leave_out(not_attributes);
    if let Some(near) = envelope.near_misses(not_attributes).find(|near| not_attributes.contains(&near.meant))
    {
        return Err(near.fault());
    }
    warn(&envelope, intake);
    if let Some(id) = envelope.id {
        return Err(Fault::new(id.place, "cannot be chosen: each run makes a job with an id of its own"));
    }
    // The Rust SDK leaves them out if there are none.
    let drafted = read(&job, &envelope, intake, Some("[]"))?;
    expect_time_to_start(&drafted.draft.spec, &envelope, intake)?;
    Ok(drafted)
}

fn read(
    job: &Given<'_, '_>,
    envelope: &Envelope<'_, '_>,
    intake: &Intake,
    args_otherwise: Option<&'static str>,
) -> Result<Drafted, Fault> {
    if let Some(given) = envelope.specversion
        && given.text("the string \"1.0\"")? != "1.0"
    {
        return Err(Fault::new(given.place, "must be \"1.0\", the only version this server speaks"));
    }
    let kind = read_kind(job, envelope)?;
    let args = arguments(job, envelope, intake.media, args_otherwise)?;
    let queue = envelope.queue.map_or_else(|| Ok(QueueName::default_queue()), read_queue)?;
    let meta = metadata(job, envelope, intake)?;
    let mut unique = uniqueness::read(envelope)?;
    if let (Some(unique), Some(_)) = (&mut unique, intake.tenant()) {
        unique.keep_to_tenant();
    }
    let keyed = unique.as_ref().map(|unique| unique.keyed(&kind, &queue, &args, &meta)).transpose()?;
    let pending = envelope.pending.map(|given| given.flag()).transpose()?.unwrap_or(false);
    let scheduled_at = one_of(envelope.scheduled_at, envelope.delay_until)?;
    let scheduled_at = match &unique {
        Some(unique) => unique.start(scheduled_at, envelope.pending.filter(|_| pending))?,
        None => scheduled_at,
    };
    let ordering_key = ordering::read(
        envelope,
        unique.as_ref().map(|unique| &unique.uniqueness),
        envelope.pending.filter(|_| pending),
    )?;
    let timeout = span::timeout(envelope.timeout, envelope.timeout_ms)?;
    let unsaid = Unsaid {
        retry: unsaid_retry(envelope),
        timeout: envelope.timeout.is_none() && envelope.timeout_ms.is_none(),
        visibility_timeout: envelope.visibility_timeout.is_none() && envelope.visibility_timeout_ms.is_none(),
        share: envelope.rate_limit.is_some_and(|given| given.member("share").is_none()),
    };
    let (scheduled_at, expires_at) = window(scheduled_at, envelope.expires_at, intake)?;
    let rate_limit = envelope.rate_limit.map(|given| rate_limit::policy(&given, &queue)).transpose()?;
    let spec = Spec {
        kind,
        queue,
        priority: envelope.priority.map(read_priority).transpose()?.unwrap_or_default(),
        args: Json::from_trusted(&args.text),
        meta: Json::from_trusted(&meta.text),
        tags: envelope.tags.map(|given| given.texts()).transpose()?.unwrap_or_default(),
        schema: envelope.schema.map(|given| given.text("a URI").map(Box::from)).transpose()?,
        scheduled_at,
        expires_at,
        timeout,
        visibility_timeout: span::visibility_timeout(
            envelope.visibility_timeout,
            envelope.visibility_timeout_ms,
        )?,
        limits: time_limits(envelope, timeout)?,
        retry: retry_policy(envelope)?,
        unique: unique.map(|unique| unique.uniqueness),
        rate_limit: rate_limit.map(Box::new),
        delivery: envelope.delivery.map_or(Ok(Delivery::AtLeastOnce), read_delivery)?,
        ordering_key,
        kept_for: KeptFor::default(),
        workflow: None,
        extra: envelope.extra(),
    };
    intake.check(job.place, &spec)?;
    let (key, canonical) = keyed.map(|keyed| (keyed.key, keyed.text)).unzip();
    Ok(Drafted { draft: Draft { id: None, spec: Box::new(spec), key, pending, unsaid }, canonical })
}

fn read_kind(job: &Given<'_, '_>, envelope: &Envelope<'_, '_>) -> Result<JobType, Fault> {
    let kind = envelope.kind.ok_or_else(|| {
        Fault::missing(Place::Member(&job.place, "type"), "the kind of work, such as \"email.send\"")
    })?;
    JobType::parse(kind.text("a string")?).map_err(|error| Fault::new(kind.place, error))
}

/// When the job may start at the earliest, and until when: the second after the first.
fn window(
    start: Option<Given<'_, '_>>,
    end: Option<Given<'_, '_>>,
    intake: &Intake,
) -> Result<(Option<GivenTime>, Option<GivenTime>), Fault> {
    let starts = start.map(|given| span::moment(given, intake.now)).transpose()?;
    let ends = end.map(|given| span::moment(given, intake.now)).transpose()?;
    if let (Some(start), Some(end), Some(starts), Some(ends)) = (start, end, &starts, &ends)
        && ends.at <= starts.at
    {
        let problem = format_args!("must lie after {}: the job would end before it could start", start.place);
        return Err(Fault::new(end.place, problem));
    }
    Ok((starts, ends))
}

/// A job that is given up before it could start would never run. For a step of a workflow the limits count from later on.
fn expect_time_to_start(spec: &Spec, envelope: &Envelope<'_, '_>, intake: &Intake) -> Result<(), Fault> {
    let Some(start) = &spec.scheduled_at else { return Ok(()) };
    for (given, limit) in
        [(envelope.enqueue_ttl, spec.limits.enqueue), (envelope.total_timeout, spec.limits.total)]
    {
        if let Some((given, limit)) = given.zip(limit)
            && intake.now + limit <= start.at
        {
            return Err(Fault::new(given.place, "would be over before scheduled_at, for it counts from now"));
        }
    }
    Ok(())
}

pub(super) fn read_id(given: Given<'_, '_>) -> Result<JobId, Fault> {
    given.text("a UUID of version 7 in lower case")?.parse().map_err(|error| Fault::new(given.place, error))
}

/// A queue's name.
pub(super) fn read_queue(given: Given<'_, '_>) -> Result<QueueName, Fault> {
    QueueName::parse(given.text("the name of a queue")?).map_err(|error| Fault::new(given.place, error))
}

/// A priority.
pub(super) fn read_priority(given: Given<'_, '_>) -> Result<Priority, Fault> {
    let number = given.integer(Priority::MIN.get().into(), Priority::MAX.get().into())?;
    Priority::new(number).map_err(|error| Fault::new(given.place, error))
}

fn read_delivery(given: Given<'_, '_>) -> Result<Delivery, Fault> {
    choice(given, "guarantee", &[Delivery::AtLeastOnce, Delivery::AtMostOnce], delivery_name)
}

/// Limits on time beside that on one attempt (Timeouts 6).
fn time_limits(envelope: &Envelope<'_, '_>, timeout: Option<Timeout>) -> Result<TimeLimits, Fault> {
    let limit = |given: Option<Given<'_, '_>>| given.map(|given| span::whole_seconds(given, 1)).transpose();
    let total = limit(envelope.total_timeout)?;
    if let (Some(given), Some(total), Some(timeout)) = (envelope.total_timeout, total, timeout)
        && total < timeout.span
    {
        let problem = "must not be shorter than timeout: no attempt could take its full time";
        return Err(Fault::new(given.place, problem));
    }
    Ok(TimeLimits {
        total,
        enqueue: limit(envelope.enqueue_ttl)?,
        heartbeat: limit(envelope.heartbeat_timeout)?,
        grace: envelope.grace_period.map(|given| span::whole_seconds(given, 0)).transpose()?,
    })
}

/// An attribute that has two names: whoever sends both must mean the same.
pub(super) fn one_of<'n, 'a>(
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

fn unsaid_retry(envelope: &Envelope<'_, '_>) -> UnsaidRetry {
    match envelope.retry.or(envelope.retry_policy) {
        Some(given) if !retry::is_open_ended(given) => UnsaidRetry::Nothing,
        None if envelope.max_attempts.is_none() => UnsaidRetry::Policy,
        Some(_) | None => UnsaidRetry::Exhaustion,
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
