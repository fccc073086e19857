//! The body of a dead letter's retry.

use hapax_core::SpecPatch;
use hapax_core::json::Node;

use super::draft::{check_args, read_queue};
use super::{Fault, Given, Media, Place, retry};

const MEMBERS: &[&str] = &["queue", "meta", "retry", "args"];

/// Reads which attributes the revived job shall have: nothing, `{}` or `{"override": {…}}`.
pub(crate) fn revival(body: Option<&Node<'_>>, media: Media) -> Result<SpecPatch, Fault> {
    let Some(body) = body else { return Ok(SpecPatch::default()) };
    let body = Given::body(body)?;
    expect_only(&body, &["override"])?;
    let Some(given) = body.member("override") else { return Ok(SpecPatch::default()) };
    given.expect_object("an object")?;
    expect_only(&given, MEMBERS)?;
    let args = given.member("args");
    if let Some(args) = args {
        check_args(args, media)?;
    }
    let meta = given.member("meta");
    if let Some(meta) = meta {
        meta.expect_object("an object")?;
    }
    Ok(SpecPatch {
        queue: given.member("queue").map(read_queue).transpose()?,
        args: args.map(|given| given.node.to_json()),
        meta: meta.map(|given| given.node.to_json()),
        retry: given.member("retry").map(retry::policy).transpose()?,
    })
}

/// A misspelt member would run the job with its old values.
fn expect_only(given: &Given<'_, '_>, known: &[&str]) -> Result<(), Fault> {
    let names = given.node.as_object().unwrap_or_default().iter().map(|member| member.name.as_ref());
    match names.into_iter().find(|name| !known.contains(name)) {
        Some(name) => Err(Fault::unknown(Place::Member(&given.place, name), "member", name, known)),
        None => Ok(()),
    }
}
