//! `GET /ojs/v1/unique/keys`: the keys that are held, oldest first.

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::key;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let now = call.broker().now();
    let query = from_wire::held_keys(&call.uri, now)?;
    let limit = query.limit;
    let page = call.broker().held_keys(query).await?;
    let held = call.broker().totals().await?.keys_held;
    Ok(Reply::ok(key::list(&page, held, limit, now)))
}
