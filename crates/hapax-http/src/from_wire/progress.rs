//! What a worker says on its way: how far it has come, and from where another could go on.

use hapax_core::json::Node;
use hapax_core::{Checkpoint, Claimant, Fraction, Json, Progress, Report};
use hapax_wire::error::Code;
use hapax_wire::writer;

use super::report::{claimant, job_id};
use super::{Fault, Given, Place};

/// A report on a job.
#[derive(Debug)]
pub(crate) struct Reported {
    /// The id as text.
    pub(crate) job_id: Box<str>,
    /// Who speaks.
    pub(crate) claimant: Claimant,
    /// What it says.
    pub(crate) report: Report,
}

/// A checkpoint of a job.
#[derive(Debug)]
pub(crate) struct Saved {
    /// Who speaks.
    pub(crate) claimant: Claimant,
    /// From where another could go on.
    pub(crate) state: Json,
    /// What else was written down, as one object.
    pub(crate) notes: Json,
}

const MEMBERS: &[&str] =
    &["job_id", "worker_id", "lease", "progress", "percentage", "message", "data", "checkpoint"];

/// Members of a checkpoint that are not notes: who speaks, and what the server answers itself.
const NOT_NOTES: &[&str] = &[
    "checkpoint",
    "created_at",
    "has_checkpoint",
    "job_id",
    "lease",
    "saved_at",
    "sequence",
    "state",
    "worker_id",
];

/// Reads a report.
pub(crate) fn progress(body: &Node<'_>, path: Option<&str>) -> Result<Reported, Fault> {
    let body = Given::body(body)?;
    body.refuse_near_misses(MEMBERS)?;
    let message = body.member("message");
    let (data, checkpoint) = (body.member("data"), body.member("checkpoint"));
    let report = Report {
        value: fraction(&body)?,
        message: message.map(|given| given.text("a string").map(Box::from)).transpose()?,
        data: data.map(|given| given.node.to_json()),
        checkpoint: checkpoint.map(|given| given.node.to_json()),
    };
    if report == Report::default() {
        return Err(Fault::missing(
            Place::Member(&Place::Body, "progress"),
            "a number from 0 to 1; or at least message, data or checkpoint",
        ));
    }
    if let Some(given) = message {
        expect_short(
            given.place,
            report.message.as_ref().map_or(0, |text| text.len()),
            Progress::MESSAGE_BYTES_MAX,
        )?;
    }
    for (given, max) in [(data, Progress::DATA_BYTES_MAX), (checkpoint, Checkpoint::BYTES_MAX)] {
        given.map_or(Ok(()), |given| expect_short(given.place, given.node.raw.len(), max))?;
    }
    Ok(Reported { job_id: job_id(Some(&body), path)?, claimant: claimant(Some(&body))?, report })
}

/// `progress` up to 1, or `percentage` up to 100, as the official SDKs send it.
fn fraction(body: &Given<'_, '_>) -> Result<Option<Fraction>, Fault> {
    let number = |given: Given<'_, '_>| given.node.as_f64().ok_or_else(|| given.wrong("a number"));
    let (share, percentage) = (body.member("progress"), body.member("percentage"));
    if let (Some(share), Some(percentage)) = (share, percentage) {
        let problem = format_args!("stands beside {}; send one of the two", share.place);
        return Err(Fault::new(percentage.place, problem));
    }
    let share = share.map(number).transpose()?;
    let percentage = percentage.map(number).transpose()?.map(|percentage| percentage / 100.0);
    Ok(share.or(percentage).map(Fraction::clamped))
}

/// Reads a checkpoint. Its state may be any value, null too.
pub(crate) fn checkpoint(body: &Node<'_>, path: &str) -> Result<Saved, Fault> {
    let given = Given::body(body)?;
    job_id(Some(&given), Some(path))?;
    let place = Place::Member(&Place::Body, "state");
    let state = body
        .get("state")
        .ok_or_else(|| Fault::missing(place, "what the next attempt needs, any JSON value"))?;
    let notes = notes(body);
    expect_short(place, state.raw.len() + notes.len(), Checkpoint::BYTES_MAX)?;
    Ok(Saved { claimant: claimant(Some(&given))?, state: state.to_json(), notes: Json::from_trusted(&notes) })
}

fn notes(body: &Node<'_>) -> String {
    let members = body.as_object().unwrap_or_default().iter();
    let mut out = vec![b'{'];
    for member in members.filter(|member| !NOT_NOTES.contains(&member.name.as_ref())) {
        if out.len() > 1 {
            out.push(b',');
        }
        writer::text(&mut out, &member.name);
        out.push(b':');
        out.extend_from_slice(member.node.raw.as_bytes());
    }
    out.push(b'}');
    String::from_utf8_lossy(&out).into_owned()
}

fn expect_short(place: Place<'_>, bytes: usize, max: usize) -> Result<(), Fault> {
    if bytes <= max {
        return Ok(());
    }
    let problem = format_args!("has {bytes} bytes; the limit is {max}");
    Err(Fault::coded(Code::PayloadTooLarge, place, problem))
}
