//! A recurring job on its way in.

use std::time::Duration;

use hapax_broker::CronDraft;
use hapax_core::cron::{Overlap, Schedule, Template, Zone};
use hapax_core::json::Node;
use hapax_core::{Spec, State, Timestamp};

use super::draft::recurring;
use super::retry::choice;
use super::{Drafted, Fault, Given, Intake, Place};

/// Longest name of a recurring job, in bytes.
const NAME_BYTES_MAX: usize = 255;
const DESCRIPTION_BYTES_MAX: usize = 4096;
/// Members of the body that are not attributes of the job.
const OWN: &[&str] = &[
    "name",
    "expression",
    "cron",
    "schedule",
    "timezone",
    "overlap_policy",
    "overlap",
    "enabled",
    "description",
    "job_template",
];

/// Reads the body of `POST /cron`.
pub(crate) fn cron(body: &Node<'_>, intake: &Intake) -> Result<CronDraft, Fault> {
    let now = intake.now;
    let body = Given::body(body)?;
    let name = read_name(&body.required("name", "a name for the recurring job")?)?;
    let zone = body.member("timezone").map(|given| read_zone(&given)).transpose()?.unwrap_or_default();
    let expression = expression(&body)?;
    let schedule = Schedule::parse(expression.text("a cron expression")?)
        .map_err(|error| Fault::new(expression.place, error))?;
    let overlap = overlap(&body)?;
    let draft = CronDraft {
        name,
        expression: expression.text("a cron expression")?.into(),
        schedule,
        zone,
        overlap,
        enabled: body.member("enabled").map(|given| given.flag()).transpose()?.unwrap_or(true),
        description: body.member("description").map(|given| read_description(&given)).transpose()?,
        template: template(&body, intake)?,
        tenant: intake.tenant().cloned(),
    };
    if draft.first_run(now).is_none() {
        let problem = format_args!("is never due in {}: clocks jump over that time", draft.zone);
        return Err(Fault::new(expression.place, problem));
    }
    Ok(draft)
}

/// Reads the body of `PATCH /cron/{name}`.
pub(crate) fn cron_switch(body: &Node<'_>) -> Result<bool, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["enabled"])?;
    body.required("enabled", "true or false")?.flag()
}

fn read_name(given: &Given<'_, '_>) -> Result<Box<str>, Fault> {
    let text = given.text("a name")?;
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_fine = text.len() <= NAME_BYTES_MAX
        && text.bytes().next().is_some_and(is_plain)
        && text.bytes().all(|byte| is_plain(byte) || b".-_".contains(&byte));
    if is_fine {
        return Ok(text.into());
    }
    let problem = format_args!(
        "must have 1 to {NAME_BYTES_MAX} lower-case letters, digits, dots, hyphens or underscores, and begin with \
         a letter or digit"
    );
    Err(Fault::new(given.place, problem))
}

/// Three documents, three names.
pub(super) fn expression<'m, 'a>(body: &'m Given<'_, 'a>) -> Result<Given<'m, 'a>, Fault> {
    let mut given = ["expression", "cron", "schedule"].into_iter().filter_map(|name| body.member(name));
    let Some(first) = given.next() else {
        let wanted = "a cron expression such as \"0 9 * * MON-FRI\" or \"@hourly\"";
        return Err(Fault::missing(Place::Member(&Place::Body, "expression"), wanted));
    };
    match given.find(|other| other.node.as_str() != first.node.as_str()) {
        Some(other) => {
            Err(Fault::new(other.place, format_args!("contradicts {}; send one of the two", first.place)))
        }
        None => Ok(first),
    }
}

pub(super) fn read_zone(given: &Given<'_, '_>) -> Result<Zone, Fault> {
    Zone::parse(given.text("an IANA time zone such as \"Europe/Berlin\"")?)
        .map_err(|error| Fault::new(given.place, error))
}

/// Two names for the same.
fn overlap(body: &Given<'_, '_>) -> Result<Overlap, Fault> {
    let read = |name| body.member(name).map(read_overlap).transpose();
    match (read("overlap_policy")?, read("overlap")?) {
        (Some(usual), Some(other)) if usual != other => {
            let problem = "contradicts overlap_policy; send one of the two";
            Err(Fault::new(Place::Member(&body.place, "overlap"), problem))
        }
        (usual, other) => Ok(usual.or(other).unwrap_or(Overlap::Skip)),
    }
}

fn read_overlap(given: Given<'_, '_>) -> Result<Overlap, Fault> {
    match given.node.as_str() {
        // Other documents, other words.
        Some("cancel" | "replace") => Ok(Overlap::CancelPrevious),
        Some("queue") => Ok(Overlap::Enqueue),
        _ => choice(given, "overlap policy", &Overlap::ALL, Overlap::name),
    }
}

fn read_description(given: &Given<'_, '_>) -> Result<Box<str>, Fault> {
    let text = given.text("a text for people")?;
    if text.len() > DESCRIPTION_BYTES_MAX {
        return Err(Fault::new(given.place, format_args!("must have at most {DESCRIPTION_BYTES_MAX} bytes")));
    }
    Ok(text.into())
}

fn template(body: &Given<'_, '_>, intake: &Intake) -> Result<Template, Fault> {
    if let Some(given) = body.member("job_template") {
        given.expect_object("the job, as in POST /jobs")?;
        // What stands beside it would be passed over.
        body.expect_only(OWN)?;
        return read_template(given, intake, &[]);
    }
    let options = body.member("options");
    if let Some(given) = OWN.iter().find_map(|name| options.as_ref()?.member(name)) {
        let problem = "is about the recurring job and not about its jobs; send it beside options, not inside";
        return Err(Fault::new(given.place, problem));
    }
    read_template(*body, intake, OWN)
}

fn read_template(given: Given<'_, '_>, intake: &Intake, own: &[&str]) -> Result<Template, Fault> {
    let now = intake.now;
    let Drafted { draft, .. } = recurring(given, intake, own)?;
    if draft.pending {
        let place = Place::Member(&given.place, State::Pending.name());
        let problem = "cannot be true in a recurring job: each run would wait for somebody to activate it";
        return Err(Fault::new(place, problem));
    }
    let spec = draft.spec;
    let starts_after =
        relative(&given, &["scheduled_at", "delay_until"], spec.scheduled_at.as_ref().map(|g| g.at), now)?;
    let expires_after = relative(&given, &["expires_at"], spec.expires_at.as_ref().map(|g| g.at), now)?;
    let spec = Spec { scheduled_at: None, expires_at: None, ..*spec };
    Ok(Template { spec, key: draft.key, starts_after, expires_after, unsaid: draft.unsaid })
}

/// How long after each run a time is. A fixed moment would be the same for all of them.
fn relative(
    job: &Given<'_, '_>,
    names: &[&str],
    at: Option<Timestamp>,
    now: Timestamp,
) -> Result<Option<Duration>, Fault> {
    let Some(at) = at else { return Ok(None) };
    let options = job.member("options");
    for object in [Some(job), options.as_ref()].into_iter().flatten() {
        for given in names.iter().filter_map(|name| object.member(name)) {
            if !given.node.as_str().is_some_and(|text| text.starts_with('+')) {
                let problem = "must be relative to each run in a recurring job, such as \"+PT10M\"";
                return Err(Fault::new(given.place, problem));
            }
        }
    }
    Ok(Some(at.since(now)))
}
