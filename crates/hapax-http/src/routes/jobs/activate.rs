//! `POST /ojs/v1/jobs/{id}/activate`: lets a pending job go.

use hapax_core::State;
use hapax_wire::{job, writer};

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = call.job_id()?;
    let activated = call.broker().activate(id).await?;
    let mut out = Vec::with_capacity(2 * job::length_estimate(&activated));
    writer::object(&mut out, |o| {
        o.twice("job", |o| {
            job::members(o, &activated);
            o.text("previous_state", State::Pending.name());
        });
    });
    Ok(Reply::ok(out))
}
