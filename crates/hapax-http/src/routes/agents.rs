//! Jobs that are agents.

use hapax_core::json::Node;
use hapax_core::{AgentDeed, Job};
use hapax_wire::{job, writer};

use crate::call::Call;
use crate::from_wire::{self, Fault};
use crate::problem::Problem;
use crate::reply::Reply;

/// `POST /ojs/v1/agents/{id}/pause`: the agent stops until a person has looked.
pub(crate) async fn pause(call: Call) -> Result<Reply, Problem> {
    let (job, _) = done(&call, from_wire::agent_pause).await?;
    Ok(shown("paused", &job))
}

/// `POST /ojs/v1/agents/{id}/resume`: a person has looked.
pub(crate) async fn resume(call: Call) -> Result<Reply, Problem> {
    let (job, deed) = done(&call, from_wire::agent_resume).await?;
    let approved = matches!(deed, AgentDeed::Resume { approved: true, .. });
    Ok(shown(if approved { "running" } else { "stopped" }, &job))
}

/// `POST /ojs/v1/agents/{id}/tool-retry`: a tool failed and is to be tried again.
pub(crate) async fn tool_retry(call: Call) -> Result<Reply, Problem> {
    let (job, deed) = done(&call, from_wire::agent_tool_retry).await?;
    let AgentDeed::RetryTool { call: tool_call, .. } = &deed else { return Ok(shown("running", &job)) };
    let mut out = Vec::with_capacity(256);
    writer::object(&mut out, |o| {
        o.plain("job_id", job.id);
        o.text("tool_call_id", tool_call);
        if let Some(retry) = job.tool_retry(tool_call) {
            o.flag("retried", retry.is_granted());
            o.text_if("provider", retry.provider.as_deref());
            o.number("attempt", retry.attempts);
            o.number("max_attempts", retry.max_attempts);
        }
    });
    Ok(Reply::ok(out))
}

/// `POST /ojs/v1/agents/{id}/fork`: a job that goes on from where this one is.
pub(crate) async fn fork(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let fork = from_wire::agent_fork(&from_wire::read(&call.body.bytes)?)?;
    let branch = call.broker().fork(id, fork, call.id.as_str()).await?;
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.plain("branch_id", branch.job.id);
        o.plain("content_id", format_args!("sha256:{}", branch.content));
        o.object("job", |o| job::members(o, &branch.job));
    });
    Ok(Reply::ok(out))
}

/// `POST /ojs/v1/agents/{id}/merge`: a job that goes on from where two branches of this one are.
pub(crate) async fn merge(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let merge = from_wire::agent_merge(&from_wire::read(&call.body.bytes)?)?;
    let junction = call.broker().merge(id, merge, call.id.as_str()).await?;
    let mut out = Vec::with_capacity(512);
    writer::object(&mut out, |o| {
        o.plain("merged_id", junction.job.id);
        o.texts("conflicts", junction.conflicts.iter().map(String::as_str));
        o.object("job", |o| job::members(o, &junction.job));
    });
    Ok(Reply::ok(out))
}

async fn done(
    call: &Call,
    read: fn(&Node<'_>) -> Result<AgentDeed, Fault>,
) -> Result<(Job, AgentDeed), Problem> {
    let id = call.job_id()?;
    let deed = {
        let bytes = if call.body.bytes.is_empty() { b"{}" } else { &call.body.bytes[..] };
        read(&from_wire::read(bytes)?)?
    };
    let job = call.broker().agent(id, deed.clone()).await?;
    Ok((job, deed))
}

/// The state is that of the agent; the job has its own.
fn shown(state: &str, job: &Job) -> Reply {
    let mut out = Vec::with_capacity(256 + job::length_estimate(job));
    writer::object(&mut out, |o| {
        o.word("state", state);
        o.plain("job_id", job.id);
        o.object("job", |o| job::members(o, job));
    });
    Reply::ok(out)
}
