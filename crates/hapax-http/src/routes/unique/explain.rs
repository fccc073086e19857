//! `POST /ojs/v1/unique/explain`: what an enqueue would do, and why. Changes nothing.

use crate::call::Call;
use crate::from_wire::{self, Drafted};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::explanation;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let Drafted { draft, canonical } = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::job(&body, call.media, call.broker().now())?
    };
    let explained = call.broker().explain(draft).await?;
    Ok(Reply::ok(explanation::write(&explained, canonical.as_deref(), &call.id)))
}
