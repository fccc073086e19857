//! `GET /metrics`: the counters, for Prometheus.

use crate::call::Call;
use crate::metrics::CLASSIC;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let totals = call.broker().totals().await?;
    let text = call.shared.metrics.text(&totals, call.shared.streams.taken());
    Ok(Reply::other(CLASSIC, text.into()))
}
