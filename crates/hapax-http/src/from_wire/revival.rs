//! The body of a dead letter's retry.

use hapax_core::SpecPatch;
use hapax_core::json::Node;

use super::draft::read_queue;
use super::payload::{check_args, check_tenant};
use super::{Fault, Given, Media, retry};

const MEMBERS: &[&str] = &["queue", "meta", "retry", "args"];

/// Reads which attributes the revived job shall have: nothing, `{}` or `{"override": {…}}`.
pub(crate) fn revival(body: Option<&Node<'_>>, media: Media) -> Result<SpecPatch, Fault> {
    let Some(body) = body else { return Ok(SpecPatch::default()) };
    let body = Given::body(body)?;
    body.expect_only(&["override"])?;
    let Some(given) = body.member("override") else { return Ok(SpecPatch::default()) };
    given.expect_object("an object")?;
    given.expect_only(MEMBERS)?;
    let args = given.member("args");
    if let Some(args) = args {
        check_args(args, media)?;
    }
    let meta = given.member("meta");
    if let Some(meta) = meta {
        meta.expect_object("an object")?;
        check_tenant(&meta)?;
    }
    Ok(SpecPatch {
        queue: given.member("queue").map(read_queue).transpose()?,
        args: args.map(|given| given.node.to_json()),
        meta: meta.map(|given| given.node.to_json()),
        retry: given.member("retry").map(retry::policy).transpose()?,
    })
}
