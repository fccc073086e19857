//! `POST /ojs/v1/unique/explain`: what an enqueue would do, and why. Changes nothing.

use crate::call::Call;
use crate::from_wire::{self, Drafted};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::jobs::reading;
use crate::to_wire::explanation;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (Drafted { draft, canonical }, warnings) = reading::one(&call, from_wire::job).await?;
    let explained = call.broker().explain(draft).await?;
    Ok(Reply::ok(explanation::write(&explained, canonical.as_deref(), &call.id)).warning(&warnings))
}
