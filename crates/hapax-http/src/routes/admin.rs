//! `POST /ojs/v1/admin/reset`: wipes everything. Only on servers for tests.

use crate::call::Call;
use crate::problem::Problem;
use crate::reply::Reply;

pub(crate) async fn reset(call: Call) -> Result<Reply, Problem> {
    call.broker().reset().await?;
    Ok(Reply::ok(b"{\"reset\":true}".to_vec()))
}
