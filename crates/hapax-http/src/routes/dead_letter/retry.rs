//! `POST /ojs/v1/dead-letter/{id}/retry`: tries a dead letter again.

use hapax_wire::{job, writer};

use crate::call::{Call, dead_letter_id};
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = dead_letter_id(&call.parameter)?;
    let patch = if call.body.bytes.is_empty() {
        from_wire::revival(None, call.media)?
    } else {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::revival(Some(&body), call.media)?
    };
    let revived = call.broker().revive(id, patch).await?;
    let mut out = Vec::with_capacity(2 * job::length_estimate(&revived));
    writer::object(&mut out, |o| {
        o.twice("job", |o| {
            job::members(o, &revived);
            o.moment_if("re_enqueued_at", revived.enqueued_at);
        });
    });
    Ok(Reply::ok(out))
}
