//! Recurring jobs where the official admin UI looks for them, and as it reads them: under a path of its own, flat, and by an
//! id, which here is the name. Everything else uses `/ojs/v1/cron`.

use super::cron::{named, page, switched};
use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::cron;

/// `GET /ojs/v1/crons`: recurring jobs by name.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (page, listing) = page(&call).await?;
    Ok(Reply::ok(cron::items(&page, listing)))
}

/// `GET /ojs/v1/crons/{id}`: one of them.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    Ok(Reply::ok(cron::item(&named(&call).await?)))
}

/// `PATCH /ojs/v1/crons/{id}`: switches it on or off.
pub(crate) async fn switch(call: Call) -> Result<Reply, Problem> {
    Ok(Reply::ok(cron::item(&switched(&call).await?)))
}

/// `DELETE /ojs/v1/crons/{id}`: removes it.
pub(crate) async fn remove(call: Call) -> Result<Reply, Problem> {
    Ok(Reply::ok(cron::item(&call.broker().remove_cron(&call.parameter).await?)))
}
