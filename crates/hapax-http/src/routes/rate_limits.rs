//! Rate limits: how they stand, and what operators decide about them.

use hapax_core::limit::LimitKey;

use crate::call::Call;
use crate::from_wire::{self, Fault, Place};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::limit;

/// `GET /ojs/v1/rate-limits`: those that matter now, by key.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (after, listing) = from_wire::limits_page(&call.uri)?;
    let wrong = |_| Fault::new(Place::Member(&Place::Body, "cursor"), "is not a cursor of this list");
    let after = after.map(|text| LimitKey::parse_any(&text)).transpose().map_err(wrong)?;
    let is_whole = after.is_none();
    let page = call.broker().limits(after, listing.offset + listing.limit).await?;
    Ok(Reply::ok(limit::list(&page, listing, is_whole, call.broker().now())))
}

/// `GET /ojs/v1/rate-limits/{key}`: one of them.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let key = key(&call)?;
    shown(&call, key).await
}

/// `PUT /ojs/v1/rate-limits/{key}`: decides about it, whatever its jobs say.
pub(crate) async fn decide(call: Call) -> Result<Reply, Problem> {
    let key = key(&call)?;
    let ruling = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::limit_ruling(&body, call.broker().now())?
    };
    call.broker().decide_limit(key.clone(), Some(ruling)).await?;
    shown(&call, key).await
}

/// `DELETE /ojs/v1/rate-limits/{key}`, and with `/override` behind it as the official admin UI has it: what its jobs say
/// counts again.
pub(crate) async fn undo(call: Call) -> Result<Reply, Problem> {
    let key = key(&call)?;
    if !call.broker().decide_limit(key, None).await? {
        return Err(Problem::no_resource("rate_limit_override", &call.parameter));
    }
    Ok(Reply::nothing())
}

/// `GET /ojs/v1/admin/queues/{name}/rate-limit`: what was decided about all jobs of a queue.
pub(crate) async fn show_queue(call: Call) -> Result<Reply, Problem> {
    let queue = call.queue()?;
    let ruling = call.broker().queue_limit(&queue).await?;
    let ruling = ruling.ok_or_else(|| Problem::no_resource("rate_limit", queue.as_str()))?;
    Ok(Reply::ok(limit::of_queue(queue.as_str(), Some(&ruling))))
}

/// `PUT /ojs/v1/admin/queues/{name}/rate-limit`: decides about all jobs of a queue.
pub(crate) async fn decide_queue(call: Call) -> Result<Reply, Problem> {
    let queue = call.queue()?;
    let ruling = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::limit_ruling(&body, call.broker().now())?
    };
    call.broker().decide_limit(LimitKey::of_queue(&queue), Some(ruling)).await?;
    // The configuration of the queue may have something to say besides.
    let ruling = call.broker().queue_limit(&queue).await?;
    Ok(Reply::ok(limit::of_queue(queue.as_str(), ruling.as_ref())))
}

/// `DELETE /ojs/v1/admin/queues/{name}/rate-limit`: the queue has no limit of its own.
pub(crate) async fn undo_queue(call: Call) -> Result<Reply, Problem> {
    let queue = call.queue()?;
    if !call.broker().decide_limit(LimitKey::of_queue(&queue), None).await? {
        return Err(Problem::no_resource("rate_limit", queue.as_str()));
    }
    Ok(Reply::nothing())
}

async fn shown(call: &Call, key: LimitKey) -> Result<Reply, Problem> {
    let facts = call.broker().limit(key).await?;
    let facts = facts.ok_or_else(|| Problem::no_resource("rate_limit", &call.parameter))?;
    Ok(Reply::ok(limit::one(&facts, call.broker().now())))
}

fn key(call: &Call) -> Result<LimitKey, Problem> {
    let wrong = |error| Fault::new(Place::Member(&Place::Body, "path"), error);
    Ok(LimitKey::parse_any(&call.parameter).map_err(wrong)?)
}
