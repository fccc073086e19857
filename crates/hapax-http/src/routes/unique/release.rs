//! `POST /ojs/v1/unique/keys/{key}/release`: takes a key away from the jobs that carry it.

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::key;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let taken = call.key()?;
    let reason = if call.body.bytes.is_empty() {
        from_wire::release(None)?
    } else {
        from_wire::release(Some(&from_wire::read(&call.body.bytes)?))?
    };
    let released = call.broker().release(taken, reason, call.tenant()).await?;
    Ok(Reply::ok(key::released(taken, &released)))
}
