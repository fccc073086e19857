//! A schema on its way in.

use hapax_core::json::{Node, Value};
use hapax_core::{JobType, Json, Timestamp};

use super::retry::choice;
use super::{Fault, Given, Place};
use crate::limits::SCHEMA_BYTES_MAX;
use crate::schemas::{Checker, Mode, Schema};

const URI_BYTES_MAX: usize = 1024;
const VERSION_BYTES_MAX: usize = 64;
const VERSION_WANTED: &str = "a version such as 2 or \"2.0.0\"";

/// Reads the body of `POST /schemas`.
pub(crate) fn schema(body: &Node<'_>, now: Timestamp) -> Result<Schema, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["uri", "type", "job_type", "version", "schema", "mode"])?;
    let kind = match (body.member("type"), body.member("job_type")) {
        (Some(one), Some(other)) if one.node.as_str() != other.node.as_str() => {
            return Err(Fault::new(other.place, "contradicts type; send one of the two"));
        }
        (Some(kind), _) | (None, Some(kind)) => read_kind(&kind)?,
        (None, None) => {
            return Err(Fault::missing(Place::Member(&body.place, "type"), "the type of the jobs"));
        }
    };
    let version = read_version(&body.required("version", VERSION_WANTED)?)?;
    let uri = match body.member("uri") {
        Some(given) => read_uri(&given)?.to_owned(),
        None => Schema::uri_of(&kind, version.as_str().trim_matches('"')),
    };
    read(&body, &uri, kind, version, now)
}

/// Reads the body of `PUT /admin/schemas/{type}/{version}`.
pub(crate) fn schema_at(body: &Node<'_>, kind: &str, version: &str, now: Timestamp) -> Result<Schema, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["schema", "mode"])?;
    let kind = JobType::parse(kind).map_err(|error| Fault::new(in_path("type"), error))?;
    if !is_version(version) {
        return Err(wrong_version(in_path("version")));
    }
    let uri = Schema::uri_of(&kind, version);
    // A number in the path is a number; one that JSON writes otherwise is a text.
    let is_number = version.parse::<u64>().is_ok_and(|number| number.to_string() == version);
    let version = if is_number { Json::from_trusted(version) } else { Json::string(version) };
    read(&body, &uri, kind, version, now)
}

fn read(
    body: &Given<'_, '_>,
    uri: &str,
    kind: JobType,
    version: Json,
    now: Timestamp,
) -> Result<Schema, Fault> {
    let mode = body.member("mode").map(|given| choice(given, "mode", &Mode::ALL, Mode::name)).transpose()?;
    let document = body.required("schema", "a JSON Schema for the arguments")?;
    if document.node.raw.len() > SCHEMA_BYTES_MAX {
        return Err(Fault::new(document.place, format_args!("must have at most {SCHEMA_BYTES_MAX} bytes")));
    }
    if let Value::Object(members) = &document.node.value
        && members.is_empty()
    {
        return Err(Fault::new(document.place, "is empty: it would allow everything"));
    }
    Checker::of(document)?;
    Ok(Schema::new(uri, kind, version, mode, document.node.to_json(), now))
}

fn read_kind(given: &Given<'_, '_>) -> Result<JobType, Fault> {
    JobType::parse(given.text("the type of the jobs")?).map_err(|error| Fault::new(given.place, error))
}

fn read_uri<'n>(given: &Given<'n, '_>) -> Result<&'n str, Fault> {
    let uri = given.text("a URI such as \"urn:example:email:1\"")?;
    let is_fine = uri.len() <= URI_BYTES_MAX
        && uri.find(':').is_some_and(|at| at > 0)
        && !uri.chars().any(|c| c.is_control() || c.is_whitespace());
    if is_fine {
        return Ok(uri);
    }
    let problem = format_args!("must be a URI with a scheme and at most {URI_BYTES_MAX} bytes");
    Err(Fault::new(given.place, problem))
}

fn read_version(given: &Given<'_, '_>) -> Result<Json, Fault> {
    let text = match &given.node.value {
        Value::Number(text) => text,
        Value::String(text) => text.as_ref(),
        _ => return Err(given.wrong(VERSION_WANTED)),
    };
    if is_version(text) { Ok(given.node.to_json()) } else { Err(wrong_version(given.place)) }
}

fn is_version(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-+_".contains(&byte);
    (1..=VERSION_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

fn wrong_version(place: Place<'_>) -> Fault {
    let problem = format_args!(
        "must have 1 to {VERSION_BYTES_MAX} letters, digits, dots, hyphens, plus signs or underscores"
    );
    Fault::new(place, problem)
}

fn in_path(name: &str) -> Place<'_> {
    Place::Member(&Place::Member(&Place::Body, "path"), name)
}
