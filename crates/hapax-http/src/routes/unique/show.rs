//! `GET /ojs/v1/unique/keys/{key}`: the jobs that carry a key.

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::key;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let shown = call.key()?;
    let limit = from_wire::holders(&call.uri)?;
    let holders = call.broker().holders(shown, limit, call.tenant()).await?;
    Ok(Reply::ok(key::holders(shown, holders, limit, call.broker().now(), call.broker().rules())))
}
