//! `POST /ojs/v1/workers/heartbeat`, also as `/beat`: a worker is still at its jobs.

use hapax_broker::Order;
use hapax_core::Job;
use hapax_core::json::{self, Limits};

use crate::call::Call;
use crate::from_wire;
use crate::problem::Problem;
use crate::reply::Reply;
use crate::to_wire::report;

pub(crate) async fn run(call: Call) -> Result<Reply, Problem> {
    let mut beat = {
        let body = from_wire::read(&call.body.bytes)?;
        from_wire::beat(&body)?
    };
    beat.heartbeat.tenant = call.tenant().cloned();
    let told = beat.heartbeat.worker.as_ref().map(|worker| call.broker().worker_beat(worker, beat.report));
    let pulse = call.broker().heartbeat(beat.heartbeat).await?;
    let wanted = if call.shared.conformance { wanted(&pulse.extended) } else { Order::Running };
    let order = told.unwrap_or_default().max(wanted);
    Ok(Reply::ok(report::beat(&pulse, &beat.foreign, order, call.broker().now())))
}

/// What the suite wants its worker to be told: it writes that into the job (L1-WRK-002, L1-WRK-003).
fn wanted(jobs: &[Job]) -> Order {
    let order = |job: &Job| {
        let meta = json::read(job.spec.meta.as_str(), Limits::DEFAULT).ok()?;
        let wanted = meta.get("test_directive")?.as_str()?;
        [Order::Quiet, Order::Terminate].into_iter().find(|order| order.name() == wanted)
    };
    jobs.iter().find_map(order).unwrap_or(Order::Running)
}
