//! `GET /ojs/v1/jobs/{id}/result` and `POST /ojs/v1/jobs/results`: what became of jobs.

use hapax_broker::Error;
use hapax_core::{JobId, Refusal};

use crate::call::Call;
use crate::from_wire;
use crate::limits::PAGE_BYTES_MAX;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::result;

/// One job, which may be waited for.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let patience = from_wire::patience(&call.uri)?;
    let job = call.broker().outcome(call.job_id()?, patience).await?;
    result::of_job(&job)
}

/// Many jobs, as they stand.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let ids = from_wire::result_ids(&from_wire::read(&call.body.bytes)?)?;
    let mut results = result::Results::new(PAGE_BYTES_MAX);
    for id in ids {
        let job = match id.parse::<JobId>() {
            Ok(known) => match call.broker().job(known).await {
                Err(Error::Refused(Refusal::NotFound(_))) => None,
                found => Some(found?).filter(|job| call.tenant().is_none_or(|own| own.owns(&job.spec.meta))),
            },
            // No job can have it.
            Err(_) => None,
        };
        results.add(&id, job.as_ref());
    }
    Ok(Reply::ok(results.finish()))
}
