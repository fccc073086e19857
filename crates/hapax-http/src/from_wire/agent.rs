//! What is done to agents, on its way in.

use hapax_broker::{Fork, Merge};
use hapax_core::json::Node;
use hapax_core::{AgentDeed, JobId, MergeStrategy};

use super::draft::read_id;
use super::retry::choice;
use super::{Fault, Given, Place};

/// Longest text that a person or a tool leaves, in bytes.
pub(crate) const SAID_BYTES_MAX: usize = 4096;
/// Longest name of a branch or a call of a tool, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 255;

/// Reads why an agent stops.
pub(crate) fn pause(body: &Node<'_>) -> Result<AgentDeed, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["reason"])?;
    Ok(AgentDeed::Pause { reason: said(&body, "reason")? })
}

/// Reads what a person decided.
pub(crate) fn resume(body: &Node<'_>) -> Result<AgentDeed, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["approved", "comment", "metadata"])?;
    let approved = body.required("approved", "true, or false to call the job off")?.flag()?;
    let metadata = body.member("metadata").map(|given| {
        given.expect_object("an object")?;
        let metadata = given.node.to_json();
        if metadata.as_str().len() > SAID_BYTES_MAX {
            return Err(Fault::new(given.place, format_args!("must have at most {SAID_BYTES_MAX} bytes")));
        }
        Ok(metadata)
    });
    Ok(AgentDeed::Resume { approved, comment: said(&body, "comment")?, metadata: metadata.transpose()? })
}

/// Reads which call of a tool failed.
pub(crate) fn tool_retry(body: &Node<'_>) -> Result<AgentDeed, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["tool_call_id", "error", "use_alternate"])?;
    let call = name(&body.required("tool_call_id", "the call of the tool")?)?;
    let alternate = body.member("use_alternate").map(|given| given.flag()).transpose()?.unwrap_or(false);
    Ok(AgentDeed::RetryTool { call, error: said(&body, "error")?, alternate })
}

/// Reads where an agent branches off.
pub(crate) fn fork(body: &Node<'_>) -> Result<Fork, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["at_turn", "branch_name"])?;
    let at_turn = body.required("at_turn", "the number of a turn")?.integer(0, i64::MAX)?;
    let name = body.member("branch_name").map(|given| name(&given)).transpose()?;
    Ok(Fork { at_turn: at_turn.unsigned_abs(), name })
}

/// Reads which branches become one again.
pub(crate) fn merge(body: &Node<'_>) -> Result<Merge, Fault> {
    let body = Given::body(body)?;
    body.expect_only(&["branch_a", "branch_b", "strategy"])?;
    let (ours, theirs) = (branch(&body, "branch_a")?, branch(&body, "branch_b")?);
    if ours == theirs {
        return Err(Fault::new(Place::Member(&body.place, "branch_b"), "is the same as branch_a"));
    }
    let strategy = body.required("strategy", "ours, theirs or union")?;
    let strategy = choice(strategy, "strategy", &MergeStrategy::ALL, MergeStrategy::name)?;
    Ok(Merge { ours, theirs, strategy })
}

fn branch(body: &Given<'_, '_>, member: &'static str) -> Result<JobId, Fault> {
    read_id(body.required(member, "the id of a branch")?)
}

fn said(body: &Given<'_, '_>, member: &str) -> Result<Option<Box<str>>, Fault> {
    body.member(member).map(|given| bounded(&given, 0, SAID_BYTES_MAX)).transpose()
}

fn name(given: &Given<'_, '_>) -> Result<Box<str>, Fault> {
    bounded(given, 1, NAME_BYTES_MAX)
}

fn bounded(given: &Given<'_, '_>, least: usize, most: usize) -> Result<Box<str>, Fault> {
    let text = given.text("a text")?;
    if (least..=most).contains(&text.len()) {
        return Ok(text.into());
    }
    Err(Fault::new(given.place, format_args!("must have {least} to {most} bytes")))
}
