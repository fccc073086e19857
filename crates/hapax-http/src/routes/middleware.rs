//! `GET /ojs/v1/middleware`: what a job passes on its way in and out. Only the official admin UI asks for it.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::middleware;

pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let schemas = call.shared.schemas.reread(call.broker()).await?.len();
    Ok(Reply::ok(middleware::stations(&call.shared, schemas)))
}
