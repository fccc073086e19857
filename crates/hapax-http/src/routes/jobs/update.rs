//! `PATCH /ojs/v1/jobs/{id}`: gives a waiting job another priority.

use hapax_wire::{job, writer};

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let priority = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::update(&body)?
    };
    let (changed, before) = call.broker().reprioritize(id, priority).await?;
    let mut out = Vec::with_capacity(2 * job::length_estimate(&changed));
    writer::object(&mut out, |o| {
        o.twice("job", |o| job::members(o, &changed));
        o.number("previous_priority", before);
    });
    Ok(Reply::ok(out))
}
