//! `GET /metrics`: the counters, for Prometheus.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let totals = call.broker().totals().await?;
    Ok(Reply::text(call.shared.metrics.text(&totals)))
}
