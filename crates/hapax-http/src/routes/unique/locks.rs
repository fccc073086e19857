//! `GET /ojs/v1/unique-jobs`: the keys that are held, as the official admin UI reads them.

use hapax_store::HeldQuery;

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::key;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (numbered, after) = from_wire::numbered(&call.uri, |text| text.parse().ok())?;
    let query = HeldQuery { after, kind: None, queue: None, created_before: None, limit: numbered.end() };
    let page = call.broker().held_keys(query).await?;
    let held = call.broker().totals().await?.keys_held;
    Ok(Reply::ok(key::locks(&page, held, numbered, call.broker().now(), call.broker().rules())))
}
