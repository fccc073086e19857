//! `POST /ojs/v1/dead-letter/{id}/retry`: tries a dead letter again.

use crate::call::{Call, dead_letter_id};
use crate::from_wire::{self, Fault, Place};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let id = dead_letter_id(&call.parameter)?;
    let patch = if call.body.bytes.is_empty() {
        from_wire::revival(None, call.media)?
    } else {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::revival(Some(&body), call.media)?
    };
    if let (Some(tenant), Some(meta)) = (call.tenant(), &patch.meta)
        && !tenant.owns(meta)
    {
        let place = Place::Member(&Place::Member(&Place::Body, "override"), "meta");
        return Err(Fault::new(place, "must keep the tenant_id of the job").into());
    }
    let revived = call.broker().revive(id, patch).await?;
    Ok(Reply::ok(report::revived(&revived)))
}
