//! `GET /ojs/v1/workers/{id}/health`: whether a worker takes jobs.

use axum::http::StatusCode;
use hapax_broker::Standing;

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::admin::workers::known;
use crate::to_wire::worker;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (known, now) = (known(&call)?, call.broker().now());
    let status = match known.standing(now) {
        Standing::Running => StatusCode::OK,
        Standing::Quiet | Standing::Stale => StatusCode::SERVICE_UNAVAILABLE,
    };
    Ok(Reply::json(status, worker::health(&known, now)))
}
