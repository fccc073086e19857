//! `DELETE /ojs/v1/job-keys/{key}`: removes the job that has a job key.

use hapax_broker::Removal;
use hapax_wire::writer;

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn remove(call: Call) -> Result<Reply, Problem> {
    let key = from_wire::job_key(&call.parameter)?;
    let Removal { removed, released } = call.broker().remove_by_key(key, call.tenant()).await?;
    let mut out = Vec::with_capacity(128 + 40 * (removed.len() + released.len()));
    writer::object(&mut out, |o| {
        o.text("job_key", &call.parameter);
        o.array("removed", &removed, |id, out| writer::plain(out, id));
        o.array("released", &released, |id, out| writer::plain(out, id));
    });
    Ok(Reply::ok(out))
}
