//! `/ojs/v1/admin/workers`: the workers that this server has heard of, and orders for them.

use hapax_broker::{Order, Standing, Worker};
use hapax_core::WorkerId;
use hapax_wire::error::Code;

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::worker;

/// All of them, by name.
pub(crate) async fn list(call: Call) -> Result<Reply, Problem> {
    let (numbered, after) = from_wire::numbered(&call.uri, WorkerId::parse)?;
    let workers = call.broker().workers();
    Ok(Reply::ok(worker::list(&workers, numbered, after.as_ref(), call.broker().now())))
}

/// One of them, with the jobs that it holds.
pub(crate) async fn show(call: Call) -> Result<Reply, Problem> {
    let known = known(&call)?;
    let (jobs, has_more) = call.broker().jobs_of_worker(&known.id).await?;
    Ok(Reply::ok(worker::one(&known, &jobs, has_more, call.broker().now())))
}

/// Tells it to take no new jobs.
pub(crate) async fn quiet(call: Call) -> Result<Reply, Problem> {
    order(&call, Order::Quiet)
}

/// Tells it to stop.
pub(crate) async fn terminate(call: Call) -> Result<Reply, Problem> {
    order(&call, Order::Terminate)
}

fn order(call: &Call, order: Order) -> Result<Reply, Problem> {
    let known = known(call)?;
    let told = call.broker().order_worker(&known.id, order).ok_or_else(|| unknown(&call.parameter))?;
    Ok(Reply::ok(worker::ordered(&told, call.broker().now())))
}

/// Forgets it, if nobody has heard of it for a while, and gives its jobs to others.
pub(crate) async fn remove(call: Call) -> Result<Reply, Problem> {
    let known = known(&call)?;
    let now = call.broker().now();
    if known.standing(now) != Standing::Stale {
        let silent = now.since(known.last_seen_at).as_secs();
        let message =
            format!("worker {:?} was heard of {silent} s ago; only a stale one is removed", &*call.parameter);
        let hint = Some("Tell it to stop first: POST /ojs/v1/admin/workers/{id}/terminate.");
        return Err(Problem { hint, ..Problem::new(Code::Conflict, message) });
    }
    let gone = call.broker().deregister_worker(&known.id).await?;
    Ok(Reply::ok(worker::removed(&known, &gone)))
}

/// The worker that the path names.
pub(crate) fn known(call: &Call) -> Result<Worker, Problem> {
    let id = WorkerId::parse(&call.parameter);
    id.and_then(|id| call.broker().worker(&id)).ok_or_else(|| unknown(&call.parameter))
}

fn unknown(name: &str) -> Problem {
    Problem::no_resource("worker", name)
}
