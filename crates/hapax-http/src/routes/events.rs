//! `GET /ojs/v1/events`: what happened lately, oldest first.

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::event;

pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let query = from_wire::events(&call.uri)?;
    Ok(Reply::ok(event::page(&call.broker().events(&query))))
}
