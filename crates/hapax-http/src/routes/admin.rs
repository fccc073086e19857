//! `/ojs/v1/admin/…`: what operators and dashboards ask for.

pub(crate) mod bulk;
pub(crate) mod dead_letter;
pub(crate) mod jobs;
pub(crate) mod queues;
pub(crate) mod stats;
pub(crate) mod system;
pub(crate) mod workers;

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;

/// `POST /ojs/v1/admin/reset`: wipes everything. Only on servers for tests.
pub(crate) async fn reset(call: Call) -> Result<Reply, Problem> {
    call.broker().reset().await?;
    call.shared.schemas.forget();
    Ok(Reply::ok(b"{\"reset\":true}".to_vec()))
}
