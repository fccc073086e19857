//! `POST /ojs/v1/workflows`: accepts a workflow and starts it.

use hapax_broker::Receipt;

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::routes::jobs::{memo, reading};
use crate::to_wire::workflow;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let (draft, warnings) = reading::jobs(&call, from_wire::workflow).await?;
    let (id, dialect, told) = (call.id.clone(), call.dialect, warnings.clone());
    let memo =
        memo::memo(&call, None, move |answer| workflow::remembered(answer, &id, dialect).warning(&told))?;
    match call.broker().start_workflow(draft, call.id.as_str(), memo).await? {
        Receipt::Fresh(view) => Ok(workflow::started(&view, dialect).warning(&warnings)),
        Receipt::Remembered(before) => Ok(memo::replay(&before)),
    }
}
